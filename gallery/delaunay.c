/* delaunay.c - the graph Laplacian, plus one, of a random planar mesh: N points, uniform in the
 * unit square, joined by their Delaunay triangulation.  Symmetric, strictly diagonally dominant.
 *
 * Points are numbered as mesh generators insert them, in rounds: a random quarter of the points
 * precedes the other three quarters, recursively, and each round follows a Hilbert curve (Amenta,
 * Choi, Rote 2003).  The pattern of delaunay_n15 in the SuiteSparse collection suggests the same
 * numbering: in both, half of the edges join points less than 28 numbers apart.  Expected O(N log
 * N), for the sort. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"
#include "gallery/rows.h"
#include "gallery/triangulate.h"

enum { CURVE_BITS = 2 * TRS_POINT_BITS, ROUNDS = 16 };

typedef struct mesh {
  int64_t n, longest;
  trs_point *points;
  trs_triangulation T; /* empty below three points */
  int32_t *corner;     /* per point: 3 t + e if the point is corner e of triangle t */
} mesh;

/* The point at a position along the Hilbert curve, from the innermost square outwards: digit d of
 * the position selects the quarter of the next larger square, and its orientation. */
static trs_point curve_point(uint64_t position) {
  int64_t x = 0, y = 0, s = 1;
  for (int level = 0; level < TRS_POINT_BITS; level++, s *= 2, position >>= 2) {
    int64_t turned = x;
    switch (position & 3) {
      case 0: /* lower left, mirrored at the diagonal */
        x = y;
        y = turned;
        break;
      case 1: /* upper left */
        y += s;
        break;
      case 2: /* upper right */
        x += s;
        y += s;
        break;
      default: /* lower right, mirrored at the other diagonal */
        x = 2 * s - 1 - y;
        y = s - 1 - turned;
    }
  }
  return (trs_point){(int32_t)x, (int32_t)y};
}

static int compare_positions(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

/* position[n], ascending and distinct.  A uniform position along the curve is a uniform point of
 * the square.  Repeated positions are drawn again. */
static void draw_positions(uint64_t *position, int64_t n, uint64_t seed) {
  uint64_t draws = 0;
  for (int64_t i = 0; i < n; i++) position[i] = trs_random(seed, draws++) >> (64 - CURVE_BITS);
  for (uint64_t before = 0; before < draws;) {
    before = draws;
    qsort(position, (size_t)n, sizeof *position, compare_positions);
    for (int64_t i = 1; i < n; i++)
      if (position[i] == position[i - 1])
        position[i - 1] = trs_random(seed, draws++) >> (64 - CURVE_BITS);
  }
}

/* 0, the last round, for three quarters of the points; 1 for three quarters of the rest; and so
 * on. */
static int round_of(uint64_t seed, int64_t i) {
  return __builtin_ctzll(trs_random(seed, (uint64_t)i) | (uint64_t)1 << (2 * ROUNDS - 2)) / 2;
}

static trs_status draw_points(mesh *m, uint64_t seed) {
  uint64_t *position, round_seed = trs_random(seed, 1);
  TRS_TRY(TRS_ALLOC(&position, m->n));
  draw_positions(position, m->n, trs_random(seed, 0));
  int64_t count = 0;
  for (int round = ROUNDS - 1; round >= 0; round--)
    for (int64_t i = 0; i < m->n; i++)
      if (round_of(round_seed, i) == round) m->points[count++] = curve_point(position[i]);
  trs_free(position);
  return TRS_SUCCESS;
}

/* Finds a corner at each point, and the longest row: a point has as many neighbours as
 * triangles. */
static trs_status find_corners(mesh *m) {
  int32_t *degree;
  TRS_TRY(TRS_ALLOC_ZERO(&degree, m->n + 1));
  for (int64_t q = 0; q < 3 * m->T.ntriangles; q++) {
    int32_t v = m->T.vertex[q];
    m->corner[v] = (int32_t)q;
    if (++degree[v] >= m->longest && v < m->n) m->longest = degree[v] + 1;
  }
  trs_free(degree);
  return TRS_SUCCESS;
}

/* Goes once around point i, from triangle to triangle; returns the number of its neighbours. */
static int64_t find_neighbours(const mesh *m, int64_t i, int32_t *col) {
  const trs_triangulation *T = &m->T;
  int64_t count = 0, q = m->corner[i], first = q / 3;
  do {
    int64_t t = q / 3, e = q % 3;
    int32_t other = T->vertex[3 * t + (e + 1) % 3];
    if (other < m->n) col[count++] = other;
    t = T->across[3 * t + (e + 1) % 3];
    for (q = 3 * t; T->vertex[q] != i;) q++;
  } while (q / 3 != first);
  return count;
}

static int64_t make_row(const void *shape, int64_t i, int32_t *col, double *val) {
  const mesh *m = shape;
  int64_t count = 0;
  if (m->T.ntriangles)
    count = find_neighbours(m, i, col);
  else if (m->n == 2)
    col[count++] = (int32_t)(1 - i);
  col[count++] = (int32_t)i;
  trs_columns_sort(col, count);
  for (int64_t q = 0; q < count; q++) val[q] = col[q] == i ? (double)count : -1;
  return count;
}

static trs_status make_mesh(mesh *m, const trs_request *request) {
  TRS_TRY(TRS_ALLOC(&m->points, m->n));
  TRS_TRY(TRS_ALLOC(&m->corner, m->n + 1));
  TRS_TRY(draw_points(m, request->seed));
  if (m->n < 3) return TRS_SUCCESS;
  TRS_TRY(trs_triangulate(&m->T, m->n, m->points, request));
  return find_corners(m);
}

static trs_status make(trs_matrix **A, const trs_request *request) {
  mesh m = {.n = request->value[0], .longest = 2};
  if (m.n > INT32_MAX / 6)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s: too large, N is at most %d", request->name,
                    INT32_MAX / 6);
  trs_status status = make_mesh(&m, request);
  trs_rows rows = {m.n, m.longest, &m, make_row};
  if (!status) status = trs_rows_build(A, &rows, request);
  trs_triangulation_clear(&m.T);
  trs_free(m.points);
  trs_free(m.corner);
  return status;
}

const trs_generator trs_generator_delaunay = {
    "delaunay", "N[,seed=S]", "Laplacian + 1 of the Delaunay mesh of N random points", make};
