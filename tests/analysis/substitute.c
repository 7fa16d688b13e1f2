/* substitute.c - D and M: their product is the system, they have few levels and entries, and solves
 * by them lose few digits, whatever the values. */
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

static void make(trs_substitution *s, trs_bands *bands, const trs_system *S, int32_t depth) {
  trs_slices slices;
  assert_success(shape_slices(&slices, S, &shape_rules[0]));
  assert_success(trs_bands_create(bands, slices.level, slices.nlevels, depth));
  trs_slices_destroy(&slices);
  assert_success(trs_substitute(s, S, bands));
}

static void drop(trs_substitution *s, trs_bands *bands) {
  trs_substitution_destroy(s);
  trs_bands_destroy(bands);
}

/* ---- The product. ---- */

static void need_pattern(const trs_system *T, const char *name) {
  for (int64_t i = 0; i < T->n; i++) {
    bool found = false;
    for (int64_t p = T->ptr[i]; p < T->ptr[i + 1]; p++) {
      if (p > T->ptr[i] && T->idx[p] <= T->idx[p - 1]) fail_msg("%s: row %d", name, (int)i);
      if (T->lower ? T->idx[p] > i : T->idx[p] < i) fail_msg("%s: row %d", name, (int)i);
      found |= T->idx[p] == i;
    }
    if (found != T->has_diagonal) fail_msg("%s: diagonal %d", name, (int)i);
  }
  assert_int_equal(T->ptr[T->n], T->nnz);
}

/* Row i of D times M is row i of S, to roundings of the absolute values. */
static void need_row(const trs_substitution *s, const trs_system *S, int64_t i, double complex *sum,
                     double *size) {
  const double limit = 8 * scalar_eps(S->scalar) * TRS_SUBSTITUTED_ENTRIES;
  for (int64_t c = 0; c < S->n; c++) sum[c] = size[c] = 0;
  for (int64_t p = s->D.ptr[i]; p < s->D.ptr[i + 1] || p == s->D.ptr[i]; p++) {
    const bool is_unit = p == s->D.ptr[i + 1]; /* an empty row of a unit D */
    if (is_unit && !S->unit) break;
    const int64_t k = is_unit ? i : s->D.idx[p];
    const double complex d = is_unit ? 1 : value(&s->D, p);
    sum[k] += d, size[k] += cabs(d);
    for (int64_t q = s->M.ptr[k]; q < s->M.ptr[k + 1]; q++) {
      sum[s->M.idx[q]] += d * value(&s->M, q);
      size[s->M.idx[q]] += cabs(d * value(&s->M, q));
    }
    if (is_unit) break;
  }
  if (S->unit && s->D.ptr[i] < s->D.ptr[i + 1]) { /* the diagonal that is not stored */
    sum[i] += 1, size[i] += 1;
    for (int64_t q = s->M.ptr[i]; q < s->M.ptr[i + 1]; q++) {
      sum[s->M.idx[q]] += value(&s->M, q);
      size[s->M.idx[q]] += cabs(value(&s->M, q));
    }
  }
  for (int64_t p = S->ptr[i]; p < S->ptr[i + 1]; p++)
    if (S->idx[p] != i) sum[S->idx[p]] -= S->conj ? conj(value(S, p)) : value(S, p);
  sum[i] -= S->conj ? conj(diagonal(S, i)) : diagonal(S, i);
  for (int64_t c = 0; c < S->n; c++)
    if (!(cabs(sum[c]) <= limit * size[c])) fail_msg("row %d, column %d", (int)i, (int)c);
}

static void need_product(const trs_substitution *s, const trs_system *S) {
  double complex *sum = malloc((size_t)S->n * sizeof *sum + 1);
  double *size = malloc((size_t)S->n * sizeof *size + 1);
  for (int64_t i = 0; i < S->n; i += S->n < 300 ? 1 : 17) need_row(s, S, i, sum, size);
  free(sum);
  free(size);
}

/* ---- Levels and entries. ---- */

static void need_levels(const trs_substitution *s, const trs_system *S, const trs_bands *bands) {
  int32_t all, d = count_levels(&s->D), m = count_levels(&s->M);
  int32_t *level = levels_of(S, &all);
  if (d > bands->nsteps || m > all) fail_msg("D %d levels, M %d of %d", d, m, all);
  for (int64_t i = 0; i < S->n; i++) {
    const int64_t own = S->ptr[i + 1] - S->ptr[i], entries = s->M.ptr[i + 1] - s->M.ptr[i];
    if (entries > own && entries > bands->level[level[i]].most)
      fail_msg("row %d has %d entries", (int)i, (int)entries);
  }
  free(level);
}

/* Every row has a turn of its own, and steps hold the rows of their distance. */
static void need_steps(const trs_bands *b) {
  for (int32_t l = 0; l < b->nlevels; l++) {
    const int32_t s = l - b->level[l].begin;
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

/* The error of a solve by D and M.  ones: the solution is one everywhere; else b is random. */
static double error_by_both(const trs_substitution *s, const trs_system *S, bool ones) {
  double complex *b = calloc((size_t)S->n + 1, sizeof *b), *y = calloc((size_t)S->n + 1, sizeof *y),
                 *x = calloc((size_t)S->n + 1, sizeof *x);
  for (int64_t i = 0; i < S->n; i++) {
    b[i] = ones ? diagonal(S, i) : trs_random_signed(5, (uint64_t)i);
    for (int64_t p = S->ptr[i]; p < S->ptr[i + 1] && ones; p++)
      if (S->idx[p] != i) b[i] += value(S, p);
  }
  solve(&s->D, y, b);
  solve(&s->M, x, y);
  const double error = error_of(S, x, b);
  free(b);
  free(y);
  free(x);
  return error;
}

static double limit_of(const trs_system *S) {
  return TRS_SUBSTITUTION_GROWTH * error_limit(S->scalar, TRS_SUBSTITUTED_ENTRIES);
}

static void visit(shape kind, const trs_system *S, int number) {
  static const int32_t depths[] = {2, 3, 7, 16, TRS_SUBSTITUTION_DEPTH};
  trs_system conjugated = *S;
  trs_substitution s;
  trs_bands bands;
  conjugated.conj = number % 5 == 0;
  make(&s, &bands, &conjugated, depths[number % 5]);
  need_steps(&bands);
  need_pattern(&s.D, shape_name(kind));
  need_pattern(&s.M, shape_name(kind));
  need_product(&s, &conjugated);
  need_levels(&s, S, &bands);
  if (!conjugated.conj)
    for (int ones = 0; ones < 2; ones++)
      if (!(error_by_both(&s, S, ones) <= limit_of(S)))
        fail_msg("%s: error %g", shape_name(kind), error_by_both(&s, S, ones));
  drop(&s, &bands);
}

/* ---- Tests. ---- */

TEST(the_product_of_both_is_the_system) {
  static const int64_t sizes[] = {0, 1, 2, 33, 257, 1000};
  shapes_of_sizes(sizes, COUNT(sizes), visit);
}

TEST(a_chain_has_few_levels_in_both) {
  trs_system S = shape_system(SHAPE_CHAIN, 1000, TRS_DOUBLE, true, true);
  trs_substitution s;
  trs_bands bands;
  make(&s, &bands, &S, 32);
  assert_int_equal(count_levels(&S), 1000);
  assert_int_equal(count_levels(&s.D), 32);
  assert_int_equal(count_levels(&s.M), 32); /* 1000 / 32, and the rest */
  assert_int_equal(s.M.nnz, 1000 - 32);     /* the first band needs nothing */
  drop(&s, &bands);
  shape_free(&S);
}

/* -1 below a unit diagonal: x grows by a factor of 2 per row, and so would the rows of M. */
TEST(growth_keeps_entries) {
  for (trs_scalar scalar = TRS_FLOAT; scalar <= TRS_DOUBLE; scalar++) {
    trs_system S = shape_system(SHAPE_BAND, 600, scalar, scalar == TRS_DOUBLE, false);
    for (int64_t p = 0; p < S.nnz; p++) trs_value_set((void *)S.val, p, scalar, -1);
    trs_substitution s;
    trs_bands bands;
    make(&s, &bands, &S, 16);
    assert_true(s.guarded > 0);
    assert_true(error_by_both(&s, &S, true) <= limit_of(&S));
    need_product(&s, &S);
    drop(&s, &bands);
    shape_free(&S);
  }
}

/* Rows multiplied by powers of two have the same growth.  Columns, by powers of ten, may have a
 * larger one: entries are then kept. */
TEST(scaling_loses_no_digits) {
  trs_system S = shape_system(SHAPE_GRID, 700, TRS_DOUBLE, true, true);
  trs_substitution plain, scaled;
  trs_bands bands;
  make(&plain, &bands, &S, 16);
  trs_bands_destroy(&bands);
  for (int columns = 0; columns < 2; columns++) {
    for (int64_t i = 0; i < S.n; i++)
      for (int64_t p = S.ptr[i]; p < S.ptr[i + 1]; p++)
        ((double *)S.val)[p] *=
            columns ? pow(10, S.idx[p] * 11 % 31 - 15) : ldexp(1, (int)(i * 7 % 129) - 64);
    make(&scaled, &bands, &S, 16);
    if (!columns) assert_int_equal(plain.D.nnz, scaled.D.nnz);
    if (!columns) assert_int_equal(plain.M.nnz, scaled.M.nnz);
    assert_true(scaled.D.nnz > S.n);
    assert_true(error_by_both(&scaled, &S, false) <= limit_of(&S));
    assert_true(error_by_both(&scaled, &S, true) <= limit_of(&S));
    drop(&scaled, &bands);
  }
  trs_substitution_destroy(&plain);
  shape_free(&S);
}

/* Rows from 1e-150 to 1e150, and columns as well, so that products leave the range of numbers. */
TEST(rows_and_columns_of_any_size_keep_their_digits) {
  for (int way = 0; way < 4; way++) {
    trs_system S = shape_system(way % 2 ? SHAPE_GRID : SHAPE_NODES, 600, TRS_DOUBLE, way % 2, true);
    trs_substitution s;
    trs_bands bands;
    for (int64_t i = 0; i < S.n; i++)
      for (int64_t p = S.ptr[i]; p < S.ptr[i + 1]; p++)
        ((double *)S.val)[p] *= pow(10, (double)(i * 37 % 301) - 150) *
                                (way < 2 ? 1 : pow(10, (double)(S.idx[p] * 53 % 21) - 10));
    make(&s, &bands, &S, 8);
    for (int ones = 0; ones < 2; ones++)
      if (!(error_by_both(&s, &S, ones) <= limit_of(&S)))
        fail_msg("way %d: error %g", way, error_by_both(&s, &S, ones));
    for (int64_t p = 0; p < s.M.nnz; p++) assert_true(isfinite(((double *)s.M.val)[p]));
    drop(&s, &bands);
    shape_free(&S);
  }
}

/* A NaN in b reaches the same rows of x by D and M as by L, in every shape. */
static void spread_nan(shape kind, const trs_system *S, int number) {
  double complex *b = calloc((size_t)S->n + 1, sizeof *b), *y = calloc((size_t)S->n + 1, sizeof *y);
  double complex *x = calloc((size_t)S->n + 1, sizeof *x), *z = calloc((size_t)S->n + 1, sizeof *z);
  trs_substitution s;
  trs_bands bands;
  make(&s, &bands, S, 2 + number % 9);
  for (int64_t k = 0; k < S->n; k += 1 + S->n / 7) {
    for (int64_t i = 0; i < S->n; i++) b[i] = trs_random_signed(9, (uint64_t)i);
    b[k] = NAN;
    solve(S, z, b);
    solve(&s.D, y, b);
    solve(&s.M, x, y);
    for (int64_t i = 0; i < S->n; i++)
      if (isnan(creal(x[i])) != isnan(creal(z[i])))
        fail_msg("%s: NaN in row %d of b, row %d of x", shape_name(kind), (int)k, (int)i);
  }
  drop(&s, &bands);
  free(b);
  free(y);
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
    trs_substitution s;
    trs_bands bands;
    make(&s, &bands, &S, 8);
    assert_true(s.guarded > 0);
    for (int64_t p = 0; p < s.M.nnz; p++) assert_true(isfinite(((double *)s.M.val)[p]));
    if (sizes[k] < 1) assert_true(error_by_both(&s, &S, false) <= limit_of(&S));
    drop(&s, &bands);
    shape_free(&S);
  }
}

/* Sums of a row's absolute values that leave the range of numbers: L's own bound is then infinite,
 * and would excuse any growth. */
TEST(a_row_of_infinite_size_keeps_its_entries) {
  trs_system S = shape_system(SHAPE_BAND, 300, TRS_DOUBLE, true, true);
  for (int64_t p = 0; p < S.nnz; p++) ((double *)S.val)[p] = 1.5e308;
  trs_substitution s;
  trs_bands bands;
  make(&s, &bands, &S, 8);
  assert_true(s.guarded > 0);
  assert_int_equal(count_levels(&s.M), count_levels(&S));
  drop(&s, &bands);
  shape_free(&S);
}

static trs_status substitute(void *argument) {
  const trs_system *S = argument;
  trs_substitution s;
  trs_bands bands = {0};
  trs_slices slices;
  TRS_TRY(shape_slices(&slices, S, &shape_rules[0]));
  trs_status status = trs_bands_create(&bands, slices.level, slices.nlevels, 8);
  if (!status) status = trs_substitute(&s, S, &bands);
  if (!status) trs_substitution_destroy(&s);
  trs_bands_destroy(&bands);
  trs_slices_destroy(&slices);
  return status;
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
