/* triangulate.c - the Delaunay triangulation against its definition, by brute force, on random
 * points and on difficult ones: lattices, lines with one point beside them, corners of the
 * range. */
#include "gallery/triangulate.h"

#include <stdbool.h>

#include "base/memory.h"
#include "base/random.h"
#include "test.h"

__extension__ typedef __int128 wide;

static wide orient(trs_point a, trs_point b, trs_point c) {
  return (wide)(b.x - a.x) * (c.y - a.y) - (wide)(b.y - a.y) * (c.x - a.x);
}

static wide in_circle(trs_point a, trs_point b, trs_point c, trs_point p) {
  int64_t ax = a.x - p.x, ay = a.y - p.y, bx = b.x - p.x, by = b.y - p.y, cx = c.x - p.x,
          cy = c.y - p.y;
  return (wide)(ax * ax + ay * ay) * (bx * cy - by * cx) -
         (wide)(bx * bx + by * by) * (ax * cy - ay * cx) +
         (wide)(cx * cx + cy * cy) * (ax * by - ay * bx);
}

/* Neighbours refer to each other and share the edge. */
static void check_adjacency(const trs_triangulation *T) {
  for (int64_t t = 0; t < T->ntriangles; t++)
    for (int e = 0; e < 3; e++) {
      int64_t other = T->across[3 * t + e];
      int back = 0;
      while (back < 3 && T->across[3 * other + back] != t) back++;
      assert_true(back < 3);
      assert_int_equal(T->vertex[3 * t + (e + 1) % 3], T->vertex[3 * other + (back + 2) % 3]);
      assert_int_equal(T->vertex[3 * t + (e + 2) % 3], T->vertex[3 * other + (back + 1) % 3]);
    }
}

/* No point inside a circle, none beyond a hull edge, every triangle counter-clockwise, and the
 * sphere's number of triangles: together these determine the triangulation. */
static void check(int64_t n, const trs_point *points) {
  static const trs_request request;
  trs_triangulation T;
  assert_success(trs_triangulate(&T, n, points, &request));
  assert_int_equal(T.ntriangles, 2 * n - 2);
  check_adjacency(&T);
  for (int64_t t = 0; t < T.ntriangles; t++) {
    const int32_t *v = T.vertex + 3 * t;
    int e = 0;
    while (e < 3 && v[e] != n) e++;
    if (e < 3) {
      trs_point a = points[v[(e + 1) % 3]], b = points[v[(e + 2) % 3]];
      for (int64_t p = 0; p < n; p++) assert_true(orient(a, b, points[p]) <= 0);
      continue;
    }
    trs_point a = points[v[0]], b = points[v[1]], c = points[v[2]];
    assert_true(orient(a, b, c) > 0);
    for (int64_t p = 0; p < n; p++) assert_true(in_circle(a, b, c, points[p]) <= 0);
  }
  trs_triangulation_clear(&T);
}

TEST(random_points) {
  for (uint64_t seed = 0; seed < 200; seed++) {
    trs_point points[60];
    int64_t n = 3 + (int64_t)trs_random_below(seed, 1000, 58);
    for (int64_t i = 0; i < n; i++)
      points[i] = (trs_point){(int32_t)trs_random_below(seed, (uint64_t)(2 * i), 1u << 30),
                              (int32_t)trs_random_below(seed, (uint64_t)(2 * i + 1), 1u << 30)};
    check(n, points);
  }
}

static void shuffle(trs_point *points, int64_t n, uint64_t seed) {
  for (int64_t i = n - 1; i > 0; i--) {
    int64_t j = (int64_t)trs_random_below(seed, (uint64_t)i, (uint64_t)i + 1);
    trs_point swap = points[i];
    points[i] = points[j];
    points[j] = swap;
  }
}

/* The four corners of every unit square lie on a circle, and whole rows on a line. */
TEST(lattices) {
  const int32_t top = (1 << 30) - 1;
  for (uint64_t seed = 0; seed < 40; seed++) {
    trs_point points[64];
    int32_t nx = 2 + (int32_t)trs_random_below(seed, 7000, 7), ny = 64 / nx < 9 ? 64 / nx : 9;
    for (int32_t i = 0; i < nx * ny; i++)
      points[i] = seed % 2 ? (trs_point){i % nx, i / nx}
                           : (trs_point){top / (nx - 1) * (i % nx), top / (ny - 1) * (i / nx)};
    if (seed >= 2) shuffle(points, nx * ny, seed);
    check(nx * ny, points);
  }
}

TEST(nearly_a_line) {
  trs_point points[20];
  for (int32_t i = 0; i < 19; i++) points[i] = (trs_point){50000000 * i, 50000000 * i};
  points[19] = (trs_point){(1 << 30) - 1, 0};
  for (uint64_t seed = 0; seed < 20; seed++) {
    if (seed) shuffle(points, 20, seed);
    check(20, points);
  }
}

TEST(a_line_is_refused) {
  static const trs_request request;
  trs_point points[7];
  for (int32_t i = 0; i < 7; i++) points[i] = (trs_point){3 * i, 1000 - 5 * i};
  trs_triangulation T;
  assert_failure(TRS_ERROR_ARGUMENT, "on a line", trs_triangulate(&T, 7, points, &request));
}
