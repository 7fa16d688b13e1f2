/* substitute.c - the joint system: the product of D and M is the system, it has few levels and
 * entries, and solves by it lose few digits, whatever the values. */
#include "analysis/substitute.h"

#include <complex.h>
#include <float.h>
#include <math.h>

#include "analysis/shapes.h"
#include "base/memory.h"
#include "base/random.h"
#include "matrix/values.h"
#include "support.h"
#include "test.h"

/* Numbers of a system in double precision, by row and place in the arrays. */
static double complex value(const trs_system *S, int64_t p) {
  return trs_value_get(S->val, p, S->scalar);
}

static double complex diagonal(const trs_system *S, int64_t i) {
  for (int64_t p = S->ptr[i]; p < S->ptr[i + 1] && !S->unit; p++)
    if (S->idx[p] == i) return value(S, p);
  return 1;
}

static int32_t *levels_of(const trs_system *S, int32_t *count) {
  int32_t *level = calloc((size_t)S->n + 1, sizeof *level);
  *count = 0;
  for (int64_t k = 0; k < S->n; k++) {
    const int64_t i = trs_in_sweep(S, k);
    for (int64_t p = S->ptr[i]; p < S->ptr[i + 1]; p++)
      if (S->idx[p] != i && level[S->idx[p]] >= level[i]) level[i] = level[S->idx[p]] + 1;
    if (level[i] >= *count) *count = level[i] + 1;
  }
  return level;
}

static int32_t count_levels(const trs_system *S) {
  int32_t count;
  free(levels_of(S, &count));
  return count;
}

static void make(trs_joint *s, trs_bands *bands, const trs_system *S, int32_t depth) {
  trs_slices slices;
  assert_success(shape_slices(&slices, S, &shape_rules[0]));
  assert_success(trs_bands_create(bands, slices.level, slices.nlevels, depth, &trs_gpu_measured));
  trs_slices_destroy(&slices);
  assert_success(trs_substitute(s, S, bands));
}

static void drop(trs_joint *s, trs_bands *bands) {
  trs_joint_destroy(s);
  trs_bands_destroy(bands);
}

/* ---- The product. ---- */

static void need_pattern(const trs_joint *j, const trs_system *S, const char *name) {
  const trs_system *T = &j->system;
  int *seen = calloc((size_t)S->n + 1, sizeof *seen);
  assert_true(T->lower && T->n == S->n + j->ny && T->unit == S->unit);
  for (int64_t i = 0; i < T->n; i++) {
    bool found = false;
    for (int64_t p = T->ptr[i]; p < T->ptr[i + 1]; p++) {
      if (p > T->ptr[i] && T->idx[p] <= T->idx[p - 1]) fail_msg("%s: row %d", name, (int)i);
      if (T->idx[p] > i) fail_msg("%s: row %d", name, (int)i);
      found |= T->idx[p] == i;
    }
    if (found != T->has_diagonal) fail_msg("%s: diagonal %d", name, (int)i);
    assert_true(trs_row_has_x(j->of[i]) == (i >= j->ny));
    assert_true(trs_row_has_b(j->of[i]) || trs_row_has_x(j->of[i]));
    assert_in_range(trs_row_number(j->of[i]), 0, S->n - 1);
    seen[trs_row_number(j->of[i])] += trs_row_has_b(j->of[i]);
  }
  for (int64_t i = 0; i < S->n; i++) assert_int_equal(seen[i], 1);
  assert_int_equal(T->ptr[T->n], T->nnz);
  free(seen);
}

/* The row of y of the row of x, or -1. */
static int32_t y_of(const trs_joint *j, int64_t x) {
  return j->of[x] < 0 ? j->system.idx[j->system.ptr[x]] : -1;
}

/* Adds `factor` times the row of M that belongs to a row of x, by row of the system. */
static void add_row(const trs_joint *j, int64_t x, double complex factor, double complex *sum,
                    double *size) {
  const trs_system *T = &j->system;
  const int32_t own = trs_row_number(j->of[x]);
  const double complex d = T->unit ? 1 : value(T, T->ptr[x + 1] - 1);
  sum[own] += factor;
  size[own] += cabs(factor);
  for (int64_t p = T->ptr[x]; p < T->ptr[x + 1]; p++) {
    if (T->idx[p] < j->ny || T->idx[p] == x) continue;
    const int32_t c = trs_row_number(j->of[T->idx[p]]);
    sum[c] += factor * (value(T, p) / d);
    size[c] += cabs(factor * (value(T, p) / d));
  }
}

/* Row k of the sweep of D times M is that of S, to roundings of the absolute values. */
static void need_row(const trs_joint *j, const trs_system *S, int64_t k, double complex *sum,
                     double *size) {
  const trs_system *T = &j->system;
  const double limit = 8 * scalar_eps(S->scalar) * TRS_SUBSTITUTED_ENTRIES;
  const int64_t i = trs_in_sweep(S, k), x = j->ny + k, d = y_of(j, x) >= 0 ? y_of(j, x) : x;
  for (int64_t c = 0; c < S->n; c++) sum[c] = size[c] = 0;
  for (int64_t p = T->ptr[d]; p < T->ptr[d + 1]; p++)
    if (T->idx[p] < j->ny && T->idx[p] != d)
      add_row(j, j->ny + trs_in_sweep(S, trs_row_number(j->of[T->idx[p]])), value(T, p), sum, size);
  add_row(j, x, S->unit ? 1 : value(T, T->ptr[x + 1] - 1), sum, size);
  for (int64_t p = S->ptr[i]; p < S->ptr[i + 1]; p++)
    if (S->idx[p] != i) sum[S->idx[p]] -= S->conj ? conj(value(S, p)) : value(S, p);
  sum[i] -= S->conj ? conj(diagonal(S, i)) : diagonal(S, i);
  for (int64_t c = 0; c < S->n; c++)
    if (!(cabs(sum[c]) <= limit * size[c])) fail_msg("row %d, column %d", (int)i, (int)c);
}

static void need_product(const trs_joint *s, const trs_system *S) {
  double complex *sum = malloc((size_t)S->n * sizeof *sum + 1);
  double *size = malloc((size_t)S->n * sizeof *size + 1);
  for (int64_t k = 0; k < S->n; k += S->n < 300 ? 1 : 17) need_row(s, S, k, sum, size);
  free(sum);
  free(size);
}

/* ---- Levels and entries. ---- */

static void need_levels(const trs_joint *j, const trs_system *S, const trs_bands *bands) {
  const trs_system *T = &j->system;
  int32_t all;
  int32_t *level = levels_of(S, &all);
  if (j->nlevels > all) fail_msg("%d levels of %d", j->nlevels, all);
  for (int64_t r = 0; r < T->n; r++) {
    assert_in_range(j->known[r], 1, j->nlevels);
    for (int64_t p = T->ptr[r]; p < T->ptr[r + 1]; p++)
      if (T->idx[p] != r && j->known[T->idx[p]] >= j->known[r])
        fail_msg("row %d is as early as its column %d", (int)r, (int)T->idx[p]);
  }
  for (int64_t k = 0; k < S->n; k++) {
    const int64_t i = trs_in_sweep(S, k), own = S->ptr[i + 1] - S->ptr[i];
    int64_t entries = 0;
    for (int64_t p = T->ptr[j->ny + k]; p < T->ptr[j->ny + k + 1]; p++)
      entries += T->idx[p] >= j->ny && T->idx[p] != j->ny + k;
    if (entries > own && entries > bands->level[level[i]].most)
      fail_msg("row %d has %d entries", (int)i, (int)entries);
  }
  free(level);
}

/* Every row has a turn of its own, and steps hold the rows of their distance. */
static void need_steps(const trs_bands *b) {
  for (int32_t l = 0; l < b->nlevels; l++) {
    const int32_t s = l - b->level[l].begin;
    const bool last = l + 1 == b->nlevels || b->level[l + 1].begin == l + 1;
    assert_in_range(b->level[l].ahead, last ? 0 : 1 + b->level[l + 1].ahead, b->level[l].band);
    if (!last) assert_int_equal(b->level[l + 1].band, b->level[l].band);
    if (last && l + 1 < b->nlevels) assert_int_equal(b->level[l + 1].band, b->level[l].band + 1);
    assert_in_range(s, 0, b->nsteps - 1);
    assert_true(b->level[l].turn >= b->step[s] && b->level[l].turn < b->step[s + 1]);
    assert_true(b->level[l].most >= 1 && b->level[l].most <= TRS_SUBSTITUTED_ENTRIES);
  }
}

/* ---- Solves. ---- */

static void solve(const trs_system *T, double complex *x, const double complex *b) {
  for (int64_t k = 0; k < T->n; k++) {
    const int64_t i = trs_in_sweep(T, k);
    double complex sum = b[i];
    for (int64_t p = T->ptr[i]; p < T->ptr[i + 1]; p++)
      if (T->idx[p] != i) sum -= value(T, p) * x[T->idx[p]];
    x[i] = sum / diagonal(T, i);
  }
}

static void solve_joint(const trs_joint *j, double complex *x, const double complex *b) {
  const trs_system *T = &j->system;
  double complex *in = calloc((size_t)T->n + 1, sizeof *in),
                 *out = calloc((size_t)T->n + 1, sizeof *out);
  for (int64_t r = 0; r < T->n; r++)
    if (trs_row_has_b(j->of[r])) in[r] = b[trs_row_number(j->of[r])];
  solve(T, out, in);
  for (int64_t r = 0; r < T->n; r++)
    if (trs_row_has_x(j->of[r])) x[trs_row_number(j->of[r])] = out[r];
  free(in);
  free(out);
}

/* The largest componentwise backward error of x. */
static double error_of(const trs_system *S, const double complex *x, const double complex *b) {
  double worst = 0;
  for (int64_t i = 0; i < S->n; i++) {
    double complex d = diagonal(S, i), residual = b[i] - d * x[i];
    double size = cabs(b[i]) + cabs(d * x[i]);
    for (int64_t p = S->ptr[i]; p < S->ptr[i + 1]; p++) {
      if (S->idx[p] == i) continue;
      residual -= value(S, p) * x[S->idx[p]];
      size += cabs(value(S, p) * x[S->idx[p]]);
    }
    const double error = size > 0 ? cabs(residual) / size : 0;
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

/* The error of a solve by the joint system.  ones: the solution is one everywhere; else b is
 * random. */
static double error_of_joint(const trs_joint *s, const trs_system *S, bool ones) {
  double complex *b = calloc((size_t)S->n + 1, sizeof *b), *x = calloc((size_t)S->n + 1, sizeof *x);
  for (int64_t i = 0; i < S->n; i++) {
    b[i] = ones ? diagonal(S, i) : trs_random_signed(5, (uint64_t)i);
    for (int64_t p = S->ptr[i]; p < S->ptr[i + 1] && ones; p++)
      if (S->idx[p] != i) b[i] += value(S, p);
  }
  solve_joint(s, x, b);
  const double error = error_of(S, x, b);
  free(b);
  free(x);
  return error;
}

static double limit_of(const trs_system *S) {
  return TRS_SUBSTITUTION_GROWTH * error_limit(S->scalar, TRS_SUBSTITUTED_ENTRIES);
}

static void visit(shape kind, const trs_system *S, int number) {
  static const int32_t depths[] = {2, 3, 7, 16, TRS_SUBSTITUTION_DEPTH};
  trs_system conjugated = *S;
  trs_joint s;
  trs_bands bands;
  conjugated.conj = number % 5 == 0;
  make(&s, &bands, &conjugated, depths[number % 5]);
  need_steps(&bands);
  need_pattern(&s, &conjugated, shape_name(kind));
  need_product(&s, &conjugated);
  need_levels(&s, S, &bands);
  if (!conjugated.conj)
    for (int ones = 0; ones < 2; ones++)
      if (!(error_of_joint(&s, S, ones) <= limit_of(S)))
        fail_msg("%s: error %g", shape_name(kind), error_of_joint(&s, S, ones));
  drop(&s, &bands);
}

/* ---- Tests. ---- */

TEST(the_product_is_the_system) {
  static const int64_t sizes[] = {0, 1, 2, 33, 257, 1000};
  shapes_of_sizes(sizes, COUNT(sizes), visit);
}

TEST(a_chain_has_few_levels) {
  trs_system S = shape_system(SHAPE_CHAIN, 1000, TRS_DOUBLE, true, true);
  trs_joint s;
  trs_bands bands;
  make(&s, &bands, &S, 32);
  assert_int_equal(count_levels(&S), 1000);
  assert_int_equal(s.nlevels, 32 + 15);   /* 1 + 2 + ... + 32 levels, and 15 bands for the others */
  assert_int_equal(s.ny, 1000 - 32 - 15); /* no row substitutes the last row of a band */
  /* Each row has its diagonal entry.  Those of y and the last ones of bands depend on the row
   * before them in their band; all x but the first depend on the last x of the band before, and on
   * their own y where there is one. */
  assert_int_equal(s.system.nnz, s.system.n + (1000 - 32 - 15) + 999 + s.ny);
  drop(&s, &bands);
  shape_free(&S);
}

/* -1 below a unit diagonal: x grows by a factor of 2 per row, and so would the rows of M. */
TEST(growth_keeps_entries) {
  for (trs_scalar scalar = TRS_FLOAT; scalar <= TRS_DOUBLE; scalar++) {
    trs_system S = shape_system(SHAPE_BAND, 600, scalar, scalar == TRS_DOUBLE, false);
    for (int64_t p = 0; p < S.nnz; p++) trs_value_set((void *)S.val, p, scalar, -1);
    trs_joint s;
    trs_bands bands;
    make(&s, &bands, &S, 16);
    assert_true(s.guarded > 0);
    assert_true(error_of_joint(&s, &S, true) <= limit_of(&S));
    need_product(&s, &S);
    drop(&s, &bands);
    shape_free(&S);
  }
}

/* Rows multiplied by powers of two have the same growth.  Columns, by powers of ten, may have a
 * larger one: entries are then kept. */
TEST(scaling_loses_no_digits) {
  trs_system S = shape_system(SHAPE_GRID, 700, TRS_DOUBLE, true, true);
  trs_joint plain, scaled;
  trs_bands bands;
  make(&plain, &bands, &S, 16);
  trs_bands_destroy(&bands);
  for (int columns = 0; columns < 2; columns++) {
    for (int64_t i = 0; i < S.n; i++)
      for (int64_t p = S.ptr[i]; p < S.ptr[i + 1]; p++)
        ((double *)S.val)[p] *=
            columns ? pow(10, S.idx[p] * 11 % 31 - 15) : ldexp(1, (int)(i * 7 % 129) - 64);
    make(&scaled, &bands, &S, 16);
    if (!columns) assert_int_equal(plain.system.nnz, scaled.system.nnz);
    assert_true(scaled.ny > 0);
    assert_true(error_of_joint(&scaled, &S, false) <= limit_of(&S));
    assert_true(error_of_joint(&scaled, &S, true) <= limit_of(&S));
    drop(&scaled, &bands);
  }
  trs_joint_destroy(&plain);
  shape_free(&S);
}

/* Rows from 1e-150 to 1e150, and columns as well, so that products leave the range of numbers. */
TEST(rows_and_columns_of_any_size_keep_their_digits) {
  for (int way = 0; way < 4; way++) {
    trs_system S = shape_system(way % 2 ? SHAPE_GRID : SHAPE_NODES, 600, TRS_DOUBLE, way % 2, true);
    trs_joint s;
    trs_bands bands;
    for (int64_t i = 0; i < S.n; i++)
      for (int64_t p = S.ptr[i]; p < S.ptr[i + 1]; p++)
        ((double *)S.val)[p] *= pow(10, (double)(i * 37 % 301) - 150) *
                                (way < 2 ? 1 : pow(10, (double)(S.idx[p] * 53 % 21) - 10));
    make(&s, &bands, &S, 8);
    for (int ones = 0; ones < 2; ones++)
      if (!(error_of_joint(&s, &S, ones) <= limit_of(&S)))
        fail_msg("way %d: error %g", way, error_of_joint(&s, &S, ones));
    for (int64_t p = 0; p < s.system.nnz; p++) assert_true(isfinite(((double *)s.system.val)[p]));
    drop(&s, &bands);
    shape_free(&S);
  }
}

/* A NaN in b reaches the same rows of x by the joint system as by L, in every shape. */
static void spread_nan(shape kind, const trs_system *S, int number) {
  double complex *b = calloc((size_t)S->n + 1, sizeof *b);
  double complex *x = calloc((size_t)S->n + 1, sizeof *x), *z = calloc((size_t)S->n + 1, sizeof *z);
  trs_joint s;
  trs_bands bands;
  make(&s, &bands, S, 2 + number % 9);
  for (int64_t k = 0; k < S->n; k += 1 + S->n / 7) {
    for (int64_t i = 0; i < S->n; i++) b[i] = trs_random_signed(9, (uint64_t)i);
    b[k] = NAN;
    solve(S, z, b);
    solve_joint(&s, x, b);
    for (int64_t i = 0; i < S->n; i++)
      if (isnan(creal(x[i])) != isnan(creal(z[i])))
        fail_msg("%s: NaN in row %d of b, row %d of x", shape_name(kind), (int)k, (int)i);
  }
  drop(&s, &bands);
  free(b);
  free(x);
  free(z);
}

TEST(nan_reaches_the_rows_that_it_reaches_in_the_system) {
  static const int64_t sizes[] = {1, 33, 400};
  shapes_of_sizes(sizes, COUNT(sizes), spread_nan);
}

/* Products of substituted entries that leave the range of numbers. */
TEST(underflow_and_overflow_keep_entries) {
  static const double sizes[] = {1e-160, 1e160, 1e-300};
  for (size_t k = 0; k < COUNT(sizes); k++) {
    trs_system S = shape_system(SHAPE_CHAIN, 300, TRS_DOUBLE, k % 2 == 0, true);
    for (int64_t i = 0; i < S.n; i++)
      for (int64_t p = S.ptr[i]; p < S.ptr[i + 1]; p++)
        if (S.idx[p] != i) ((double *)S.val)[p] = sizes[k];
    trs_joint s;
    trs_bands bands;
    make(&s, &bands, &S, 8);
    assert_true(s.guarded > 0);
    for (int64_t p = 0; p < s.system.nnz; p++) assert_true(isfinite(((double *)s.system.val)[p]));
    if (sizes[k] < 1) assert_true(error_of_joint(&s, &S, false) <= limit_of(&S));
    drop(&s, &bands);
    shape_free(&S);
  }
}

/* Sums of a row's absolute values that leave the range of numbers: L's own bound is then infinite,
 * and would excuse any growth. */
TEST(a_row_of_infinite_size_keeps_its_entries) {
  trs_system S = shape_system(SHAPE_BAND, 300, TRS_DOUBLE, true, true);
  for (int64_t p = 0; p < S.nnz; p++) ((double *)S.val)[p] = 1.5e308;
  trs_joint s;
  trs_bands bands;
  make(&s, &bands, &S, 8);
  assert_true(s.guarded > 0);
  assert_int_equal(count_levels(&s.system), count_levels(&S));
  drop(&s, &bands);
  shape_free(&S);
}

/* ---- ILU(0) of convection and diffusion, by central differences, in a velocity field that turns.
 * At high Peclet numbers pivots are small and entries large. ---- */

enum { SIDE = 40 };

/* The entry of point k and its neighbour in direction d: down, left, none, right, up; 0: outside.
 */
static double convection(int k, int d, double peclet) {
  static const int dx[] = {0, -1, 0, 1, 0}, dy[] = {-1, 0, 0, 0, 1};
  const double h = 1.0 / (SIDE + 1), pi = 3.14159265358979;
  const int i = k % SIDE + dx[d], j = k / SIDE + dy[d];
  const double u = sin(pi * h * (k % SIDE + 1)) * cos(pi * h * (k / SIDE + 1)),
               v = -cos(pi * h * (k % SIDE + 1)) * sin(pi * h * (k / SIDE + 1));
  if (i < 0 || i >= SIDE || j < 0 || j >= SIDE) return 0;
  return d == 2 ? 4 : -1 + peclet * h / 2 * (dx[d] * u + dy[d] * v);
}

/* a[k][d]: L's entries, the pivot, U's entries of row k. */
static void factor(double (*a)[5], double peclet) {
  static const int step[] = {-SIDE, -1, 0, 1, SIDE};
  for (int k = 0; k < SIDE * SIDE; k++) {
    for (int d = 0; d < 5; d++) a[k][d] = convection(k, d, peclet);
    for (int d = 0; d < 2; d++) {
      if (a[k][d] == 0) continue;
      const int c = k + step[d];
      a[k][d] /= a[c][2];
      a[k][2] -= a[k][d] * a[c][4 - d]; /* of five points, only the pivot is in the pattern */
    }
  }
}

static trs_system factor_of(double (*a)[5], bool lower, int64_t *ptr, int32_t *idx, double *val) {
  static const int step[] = {-SIDE, -1, 0, 1, SIDE};
  int64_t at = 0;
  for (int k = 0; k < SIDE * SIDE; k++) {
    ptr[k] = at;
    for (int d = lower ? 0 : 2; d < (lower ? 2 : 5); d++)
      if (a[k][d] != 0) idx[at] = k + step[d], val[at++] = a[k][d];
  }
  ptr[SIDE * SIDE] = at;
  return (trs_system){.n = SIDE * SIDE,
                      .nnz = at,
                      .scalar = TRS_DOUBLE,
                      .ptr = ptr,
                      .idx = idx,
                      .val = val,
                      .rows = true,
                      .lower = lower,
                      .unit = lower,
                      .has_diagonal = !lower};
}

TEST(factors_of_convection_keep_their_digits) {
  static const double peclets[] = {0, 1e2, 1e4, 1e6};
  static double a[SIDE * SIDE][5], val[3 * SIDE * SIDE];
  static int64_t ptr[SIDE * SIDE + 1];
  static int32_t idx[3 * SIDE * SIDE];
  for (size_t k = 0; k < COUNT(peclets); k++)
    for (int lower = 0; lower < 2; lower++) {
      trs_joint s;
      trs_bands bands;
      factor(a, peclets[k]);
      const trs_system S = factor_of(a, lower, ptr, idx, val);
      make(&s, &bands, &S, 12);
      for (int ones = 0; ones < 2; ones++)
        if (!(error_of_joint(&s, &S, ones) <= limit_of(&S)))
          fail_msg("Peclet number %g, lower %d: error %g", peclets[k], lower,
                   error_of_joint(&s, &S, ones));
      need_product(&s, &S);
      drop(&s, &bands);
    }
}

static trs_status substitute(void *argument) {
  const trs_system *S = argument;
  trs_joint s;
  trs_bands bands = {0};
  trs_slices slices;
  TRS_TRY(shape_slices(&slices, S, &shape_rules[0]));
  trs_status status = trs_bands_create(&bands, slices.level, slices.nlevels, 8, &trs_gpu_measured);
  if (!status) status = trs_substitute(&s, S, &bands);
  if (!status) {
    status = trs_joint_pair(&s, NULL);
    trs_joint_destroy(&s);
  }
  trs_bands_destroy(&bands);
  trs_slices_destroy(&slices);
  return status;
}

/* Every row of the paired system is the row of the joint system with other numbers. */
static void pair(const trs_system *S, const char *name) {
  trs_joint j, paired;
  trs_bands bands;
  if (S->n == 0) return;
  make(&j, &bands, S, 5);
  assert_success(trs_substitute(&paired, S, &bands));
  assert_success(trs_joint_pair(&paired, NULL));
  assert_int_equal(paired.system.nnz, j.system.nnz);
  int32_t *place = malloc((size_t)j.system.n * sizeof *place), ny = 0, x = 0;
  for (int64_t k = 0; k < j.system.n; k++) {
    const int32_t of = paired.of[k];
    place[trs_row_has_x(of) ? j.ny + x++ : ny++] = (int32_t)k;
    if (trs_row_has_x(of) || k + 1 == j.system.n) continue;
    assert_int_equal(trs_row_number(paired.of[k + 1]), trs_row_number(of));
    assert_true(trs_row_has_x(paired.of[k + 1]) && !trs_row_has_b(paired.of[k + 1]));
  }
  assert_int_equal(ny, j.ny);
  for (int64_t r = 0; r < j.system.n; r++) {
    const trs_system *A = &j.system, *B = &paired.system;
    const int64_t from = A->ptr[r], to = B->ptr[place[r]];
    assert_int_equal(A->ptr[r + 1] - from, B->ptr[place[r] + 1] - to);
    assert_int_equal(j.of[r], paired.of[place[r]]);
    assert_int_equal(j.known[r], paired.known[place[r]]);
    for (int64_t e = 0; e < A->ptr[r + 1] - from; e++) {
      if (B->idx[to + e] != place[A->idx[from + e]] || B->idx[to + e] > place[r])
        fail_msg("%s: row %d", name, (int)r);
      assert_true(value(A, from + e) == value(B, to + e));
    }
  }
  free(place);
  trs_joint_destroy(&paired);
  drop(&j, &bands);
}

TEST(pairs_keep_the_system) {
  static const int64_t sizes[] = {1, 2, 33, 400};
  for (shape kind = 0; kind < SHAPES; kind++)
    for (size_t k = 0; k < COUNT(sizes); k++) {
      trs_system S =
          shape_system(kind, sizes[k], (trs_scalar)(TRS_FLOAT + (kind + k) % 4), k % 2, true);
      pair(&S, shape_name(kind));
      shape_free(&S);
    }
}

TEST(failing_allocations_leave_nothing) {
  trs_system S = shape_system(SHAPE_NODES, 200, TRS_DCOMPLEX, true, true);
  trs_status status = TRS_ERROR_MEMORY;
  for (int64_t n = 0; status; n++) {
    trs_memory_fail_after(n);
    status = substitute(&S);
    trs_memory_fail_after(-1);
    if (status) assert_int_equal(status, TRS_ERROR_MEMORY);
  }
  shape_free(&S);
}

TEST(the_depth_grows_with_the_levels) {
  int32_t last = 0;
  for (int32_t levels = 24; levels < 100000; levels += 1 + levels / 3) {
    const int32_t depth = trs_substitution_depth(levels);
    assert_true(depth >= 2 && depth >= last && depth < levels && depth <= TRS_SUBSTITUTION_DEPTH);
    last = depth;
  }
}

const test_program program = {0};
