/* poisson.c - Laplacians on a rectangle or box by 5, 9, 7 and 27 points, zero at the boundary.
 *
 * A neighbour's coefficient depends on the number of coordinates that differ; 0 means no entry.
 * All matrices are symmetric positive definite and weakly diagonally dominant.  In this order the
 * lower triangles have nx + ny - 1, nx + 2 ny - 2, nx + ny + nz - 2 and nx + 2 ny + 4 nz - 6
 * levels. */
#include "gallery/grid.h"
#include "gallery/rows.h"

typedef struct stencil {
  trs_grid grid;
  double weight[4]; /* of the node itself, and across a face, an edge, a corner */
} stencil;

static int64_t make_row(const void *shape, int64_t i, int32_t *col, double *val) {
  const stencil *s = shape;
  trs_node at = trs_grid_node(&s->grid, i);
  int64_t count = 0;
  for (int64_t dz = -1; dz <= 1; dz++)
    for (int64_t dy = -1; dy <= 1; dy++)
      for (int64_t dx = -1; dx <= 1; dx++) {
        double weight = s->weight[(dx != 0) + (dy != 0) + (dz != 0)];
        if (weight == 0 || !trs_grid_has(&s->grid, at.x + dx, at.y + dy, at.z + dz)) continue;
        col[count] = (int32_t)trs_grid_number(&s->grid, at.x + dx, at.y + dy, at.z + dz);
        val[count++] = weight;
      }
  return count;
}

static trs_status make(trs_matrix **A, const trs_request *request, int64_t nz,
                       const double weight[4]) {
  const int64_t *n = request->value;
  stencil shape = {{n[0], n[1], nz}, {weight[0], weight[1], weight[2], weight[3]}};
  TRS_TRY(trs_request_rows(request, n[0], n[1], nz, 1));
  trs_rows rows = {n[0] * n[1] * nz, 27, &shape, make_row};
  return trs_rows_build(A, &rows, request);
}

static trs_status make_2d5(trs_matrix **A, const trs_request *request) {
  return make(A, request, 1, (const double[4]){4, -1, 0, 0});
}

/* The compact stencil of fourth order. */
static trs_status make_2d9(trs_matrix **A, const trs_request *request) {
  return make(A, request, 1, (const double[4]){20, -4, -1, 0});
}

static trs_status make_3d7(trs_matrix **A, const trs_request *request) {
  return make(A, request, request->value[2], (const double[4]){6, -1, 0, 0});
}

static trs_status make_3d27(trs_matrix **A, const trs_request *request) {
  return make(A, request, request->value[2], (const double[4]){26, -1, -1, -1});
}

const trs_generator trs_generator_poisson2d5 = {
    "poisson2d5", "NX[,NY]", "5-point Laplacian on NX x NY nodes (NY: as NX)", make_2d5};
const trs_generator trs_generator_poisson2d9 = {
    "poisson2d9", "NX[,NY]", "9-point Laplacian; 2048 is s2D9pt2048 of Liu et al. 2023", make_2d9};
const trs_generator trs_generator_poisson3d7 = {
    "poisson3d7", "NX[,NY,NZ]", "7-point Laplacian on NX x NY x NZ nodes", make_3d7};
const trs_generator trs_generator_poisson3d27 = {
    "poisson3d27", "NX[,NY,NZ]", "27-point Laplacian on NX x NY x NZ nodes", make_3d27};
