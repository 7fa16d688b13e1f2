/* elasticity.c - a clamped elastic beam of NX x NY x NZ nodes in unit cubes: trilinear hexahedra,
 * three unknowns per node in consecutive rows, each node coupled with its 27 neighbours.
 *
 *   K[a i][b j] = integral of  lambda d_i N_a d_j N_b + mu (d_j N_a d_i N_b + [i = j] dN_a . dN_b)
 *
 * for nodes a, b and directions i, j of an element, by 2 x 2 x 2 Gauss points (exact here).  Stiff
 * springs hold the face z = 0, so the matrix is symmetric positive definite.  Entries that cancel
 * stay entries, as in any assembled matrix: the lower triangle has 3 (NX + 2 NY + 4 NZ - 6) levels.
 * 9,9,257 has the shape of FEM/Cantilever, 62451 rows. */
#include <math.h>

#include "gallery/grid.h"
#include "gallery/rows.h"

enum { CORNERS = 8, UNKNOWNS = 24 };

typedef struct beam {
  trs_grid grid;
  double element[UNKNOWNS][UNKNOWNS];
  double spring;
} beam;

/* The gradient of corner a's shape function at a point of the unit cube. */
static void shape_gradient(int a, const double point[3], double gradient[3]) {
  for (int i = 0; i < 3; i++) {
    gradient[i] = 1;
    for (int k = 0; k < 3; k++) {
      int side = (a >> k) & 1;
      gradient[i] *= k == i ? (side ? 1 : -1) : (side ? point[k] : 1 - point[k]);
    }
  }
}

/* Adds the contribution of a Gauss point to the lower triangle of the element matrix. */
static void add_point(beam *b, const double point[3], double weight) {
  const double young = 1, poisson = 0.3;
  const double lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
  const double mu = young / (2 * (1 + poisson));
  double g[CORNERS][3];
  for (int a = 0; a < CORNERS; a++) shape_gradient(a, point, g[a]);
  for (int row = 0; row < UNKNOWNS; row++)
    for (int col = 0; col <= row; col++) {
      const double *ga = g[row / 3], *gb = g[col / 3];
      int i = row % 3, j = col % 3;
      double shear = ga[j] * gb[i];
      if (i == j) shear += ga[0] * gb[0] + ga[1] * gb[1] + ga[2] * gb[2];
      b->element[row][col] += weight * (lambda * ga[i] * gb[j] + mu * shear);
    }
}

static void make_element(beam *b) {
  const double offset = 0.5 / sqrt(3);
  for (int q = 0; q < 8; q++) {
    double point[3];
    for (int k = 0; k < 3; k++) point[k] = (q >> k) & 1 ? 0.5 + offset : 0.5 - offset;
    add_point(b, point, 1.0 / 8);
  }
  for (int row = 0; row < UNKNOWNS; row++)
    for (int col = 0; col < row; col++) b->element[col][row] = b->element[row][col];
  b->spring = 10 * CORNERS * b->element[0][0];
}

/* block[27][3]: the coefficients of unknown c of a node with the three unknowns of each
 * neighbour. */
static void assemble(const beam *b, trs_node at, int c, double block[27][3]) {
  const trs_grid *grid = &b->grid;
  trs_grid elements = {grid->nx - 1, grid->ny - 1, grid->nz - 1};
  for (int k = 0; k < 27; k++) block[k][0] = block[k][1] = block[k][2] = 0;
  for (int corner = 0; corner < CORNERS; corner++) {
    int x = corner & 1, y = corner >> 1 & 1, z = corner >> 2;
    if (!trs_grid_has(&elements, at.x - x, at.y - y, at.z - z)) continue;
    for (int other = 0; other < CORNERS; other++) {
      int dx = (other & 1) - x, dy = (other >> 1 & 1) - y, dz = (other >> 2) - z;
      double *to = block[13 + dx + 3 * dy + 9 * dz];
      for (int d = 0; d < 3; d++) to[d] += b->element[3 * corner + c][3 * other + d];
    }
  }
}

static int64_t make_row(const void *shape, int64_t i, int32_t *col, double *val) {
  const beam *b = shape;
  trs_node at = trs_grid_node(&b->grid, i / 3);
  int c = (int)(i % 3);
  double block[27][3];
  int64_t count = 0;
  assemble(b, at, c, block);
  if (at.z == 0) block[13][c] += b->spring;
  for (int k = 0; k < 27; k++) {
    int64_t x = at.x + k % 3 - 1, y = at.y + k / 3 % 3 - 1, z = at.z + k / 9 - 1;
    if (!trs_grid_has(&b->grid, x, y, z)) continue;
    for (int d = 0; d < 3; d++) {
      col[count] = (int32_t)(3 * trs_grid_number(&b->grid, x, y, z) + d);
      val[count++] = block[k][d];
    }
  }
  return count;
}

static trs_status make(trs_matrix **A, const trs_request *request) {
  const int64_t *n = request->value;
  for (int k = 0; k < 3; k++)
    if (n[k] < 2)
      return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s: N%c is 1; an element has 2 nodes each way",
                      request->name, "XYZ"[k]);
  TRS_TRY(trs_request_rows(request, n[0], n[1], n[2], 3));
  beam shape = {.grid = {n[0], n[1], n[2]}};
  make_element(&shape);
  trs_rows rows = {3 * n[0] * n[1] * n[2], 81, &shape, make_row};
  return trs_rows_build(A, &rows, request);
}

const trs_generator trs_generator_elasticity3d = {
    "elasticity3d", "NX,NY,NZ", "elastic beam, 3 rows per node; 9,9,257 is as FEM/Cantilever",
    make};
