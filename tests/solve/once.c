/* trs_solve_once, plans and batches have the same x: every type, triangle, format, width and base,
 * in order and not, with repeated entries; and what is refused, with the row. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/scalar.h"
#include "matrix/values.h"
#include "test.h"

enum { N = 60, MOST = 12 * N };

/* A triangle by rows or columns, 0-based; some vectors out of order, some with repeats. */
typedef struct drawing {
  int64_t ptr[N + 1];
  int64_t idx[MOST];
  double val[2 * MOST];
} drawing;

static uint64_t drawn;

static int64_t draw(int64_t below) {
  return (int64_t)trs_random_below(7, drawn++, (uint64_t)below);
}

/* prefix: entries before the diagonal one. */
static void make(drawing *t, bool prefix, bool sorted) {
  int64_t p = 0;
  for (int64_t i = 0; i < N; i++) {
    int64_t low = prefix ? 0 : i + 1, span = prefix ? i : N - 1 - i, count = span ? draw(10) : 0;
    int64_t begin = p;
    t->ptr[i] = p;
    if (count > span) count = span;
    for (int64_t k = 0; k < count; k++) t->idx[p++] = low + k * span / count;
    t->idx[p++] = i;
    if (!prefix) { /* the diagonal first */
      memmove(t->idx + begin + 1, t->idx + begin, (size_t)(p - 1 - begin) * sizeof *t->idx);
      t->idx[begin] = i;
    }
    if (!sorted && count) { /* the first entry last, and once more */
      int64_t first = t->idx[begin];
      memmove(t->idx + begin, t->idx + begin + 1, (size_t)(p - 1 - begin) * sizeof *t->idx);
      t->idx[p - 1] = first;
      t->idx[p++] = first;
    }
  }
  t->ptr[N] = p;
  for (int64_t k = 0; k < 2 * p; k++) t->val[k] = 0.01 * (double)(1 + draw(50));
  for (int64_t i = 0; i < N; i++)
    for (int64_t q = t->ptr[i]; q < t->ptr[i + 1]; q++)
      if (t->idx[q] == i) t->val[q] = 2 + (double)draw(3);
  for (int64_t i = 0; i < N && !sorted; i++) { /* repeats that are nothing together */
    const int64_t end = t->ptr[i + 1];
    if (end - t->ptr[i] < 2 || t->idx[end - 1] != t->idx[end - 2] || t->idx[end - 1] == i) continue;
    t->val[end - 1] = 0x1p40;
    t->val[end - 2] = -0x1p40;
  }
}

/* The arrays in the widths and base of indexing. */
static void cast(const drawing *t, int indexing, void *ptr, void *idx) {
  int64_t base = indexing & TRS_BASE1 ? 1 : 0;
  for (int64_t i = 0; i <= N; i++)
    if (indexing & TRS_PTR32)
      ((int32_t *)ptr)[i] = (int32_t)(t->ptr[i] + base);
    else
      ((int64_t *)ptr)[i] = t->ptr[i] + base;
  for (int64_t p = 0; p < t->ptr[N]; p++)
    if (indexing & TRS_IDX64)
      ((int64_t *)idx)[p] = t->idx[p] + base;
    else
      ((int32_t *)idx)[p] = (int32_t)(t->idx[p] + base);
}

/* Values of the type; complex ones have an imaginary part off the diagonal. */
static void cast_values(const drawing *t, trs_scalar scalar, void *val) {
  for (int64_t p = 0; p < t->ptr[N]; p++) {
    double re = t->val[p], im = t->val[MOST + p / 2] - 0.25;
    if (scalar == TRS_FLOAT) ((float *)val)[p] = (float)re;
    if (scalar == TRS_DOUBLE) ((double *)val)[p] = re;
    if (scalar == TRS_SCOMPLEX) ((float complex *)val)[p] = (float complex)CMPLX(re, im);
    if (scalar == TRS_DCOMPLEX) ((double complex *)val)[p] = CMPLX(re, im);
  }
}

static trs_context *ctx;

static int set_up(void **state) { return trs_context_create(&ctx, "serial") != TRS_SUCCESS; }

static int tear_down(void **state) {
  trs_context_destroy(ctx);
  return 0;
}

typedef struct way {
  trs_format format;
  trs_uplo uplo;
  trs_diag diag;
  trs_scalar scalar;
  int indexing;
  bool sorted;
} way;

/* A plan and a batch of the same arrays. */
static void compare(const way *w, const trs_matrix *A, const void *val, const void *b,
                    const void *x) {
  static double complex y[N];
  const double limit = w->scalar == TRS_FLOAT || w->scalar == TRS_SCOMPLEX ? 1e-5 : 1e-13;
  trs_plan *plan;
  trs_plan *batch;
  for (int by_batch = 0; by_batch < 2; by_batch++) {
    if (by_batch) {
      assert_success(trs_batch_create(&batch, ctx, A, w->uplo, TRS_NO_TRANS, w->diag, 1, NULL));
      assert_success(trs_batch_update(batch, val, 0));
      assert_success(trs_batch_solve(batch, y, N, 0, b, N, 0, 1, TRS_COL_MAJOR));
      trs_plan_destroy(batch);
    } else {
      assert_success(trs_analyze(&plan, ctx, A, w->uplo, TRS_NO_TRANS, w->diag, NULL));
      assert_success(trs_solve(plan, y, N, b, N, 1, TRS_COL_MAJOR));
      trs_plan_destroy(plan);
    }
    double most = 0, apart = 0;
    for (int64_t i = 0; i < N; i++) {
      most = fmax(most, cabs(trs_value_get(x, i, w->scalar)));
      apart = fmax(apart, cabs(trs_value_get(x, i, w->scalar) - trs_value_get(y, i, w->scalar)));
    }
    assert_true(apart <= limit * most);
  }
}

static void check(const way *w) {
  static drawing t;
  static int64_t ptr[N + 1], idx[MOST];
  static double complex val[MOST], b[N], x[N];
  trs_backward_error error = {.struct_size = sizeof error};
  trs_matrix *A;
  make(&t, (w->format == TRS_CSR) == (w->uplo == TRS_LOWER), w->sorted);
  cast(&t, w->indexing, ptr, idx);
  cast_values(&t, w->scalar, val);
  trs_random_fill(b, N, w->scalar, 3);
  assert_success(
      trs_solve_once(x, b, w->uplo, w->diag, w->format, w->scalar, N, w->indexing, ptr, idx, val));
  assert_success(
      trs_matrix_create(&A, w->format, w->scalar, N, N, w->indexing, ptr, idx, val, TRS_COPY));
  assert_success(
      trs_check(&error, A, w->uplo, TRS_NO_TRANS, w->diag, x, N, b, N, 1, TRS_COL_MAJOR));
  assert_true(error.componentwise <
              (w->scalar == TRS_FLOAT || w->scalar == TRS_SCOMPLEX ? 2e-6 : 4e-15));
  compare(w, A, val, b, x);
  assert_success(trs_solve_once(b, b, w->uplo, w->diag, w->format, w->scalar, N, w->indexing, ptr,
                                idx, val)); /* in place */
  assert_memory_equal(x, b, N * trs_scalar_size(w->scalar));
  trs_matrix_destroy(A);
}

TEST(every_way_is_solved) {
  for (int k = 0; k < 2 * 2 * 2 * 8 * 2; k++)
    for (trs_scalar scalar = TRS_FLOAT; scalar <= TRS_DCOMPLEX; scalar++) {
      way w = {k & 1 ? TRS_CSC : TRS_CSR,
               k & 2 ? TRS_UPPER : TRS_LOWER,
               k & 4 ? TRS_UNIT : TRS_NONUNIT,
               scalar,
               0,
               k >> 6 & 1};
      w.indexing = (k >> 3 & 1 ? TRS_PTR32 : 0) | (k >> 4 & 1 ? TRS_IDX64 : 0) |
                   (k >> 5 & 1 ? TRS_BASE1 : 0);
      check(&w);
    }
}

/* As a plan solves it, to the last bit, where columns are in order. */
TEST(bits_of_columns_are_those_of_a_plan) {
  static drawing t;
  static int32_t idx[MOST];
  double b[N], x[N], y[N];
  trs_matrix *A;
  trs_plan *plan;
  for (trs_uplo uplo = TRS_LOWER; uplo <= TRS_UPPER; uplo++) {
    const trs_format format = TRS_CSC;
    make(&t, uplo == TRS_UPPER, true);
    cast(&t, TRS_PTR64, t.ptr, idx);
    trs_random_fill(b, N, TRS_DOUBLE, 5);
    assert_success(
        trs_matrix_create(&A, format, TRS_DOUBLE, N, N, TRS_PTR64, t.ptr, idx, t.val, TRS_COPY));
    assert_success(trs_analyze(&plan, ctx, A, uplo, TRS_NO_TRANS, TRS_NONUNIT, NULL));
    assert_success(trs_solve(plan, x, N, b, N, 1, TRS_COL_MAJOR));
    assert_success(trs_solve_once(y, b, uplo, TRS_NONUNIT, format, TRS_DOUBLE, N, TRS_PTR64, t.ptr,
                                  idx, t.val));
    assert_memory_equal(x, y, sizeof x);
    trs_plan_destroy(plan);
    trs_matrix_destroy(A);
  }
}

/* ---- Errors. ---- */

typedef struct small {
  int64_t ptr[4];
  int32_t idx[4];
  double val[4];
} small;

static const small good = {{0, 1, 3, 4}, {0, 0, 1, 2}, {2, 1, 2, 2}};

static void refuses(const small *s, trs_diag diag, trs_status status, int64_t row,
                    const char *words) {
  double x[3], b[3] = {1, 2, 3};
  assert_int_equal(trs_solve_once(x, b, TRS_LOWER, diag, TRS_CSR, TRS_DOUBLE, 3, TRS_PTR64, s->ptr,
                                  s->idx, s->val),
                   status);
  assert_int_equal(trs_last_error()->row, row);
  if (!strstr(trs_last_error()->message, words)) fail_msg("%s", trs_last_error()->message);
}

TEST(faults_are_named) {
  static const struct {
    trs_status status;
    int64_t row;
    const char *words;
    small system;
  } wrong[] = {
      {TRS_ERROR_STRUCTURE, 1, "outside 0 .. 2", {{0, 1, 3, 4}, {0, -1, 1, 2}, {2, 1, 2, 2}}},
      {TRS_ERROR_STRUCTURE, 1, "outside 0 .. 2", {{0, 1, 3, 4}, {0, 3, 1, 2}, {2, 1, 2, 2}}},
      {TRS_ERROR_STRUCTURE, 1, "above the diagonal", {{0, 1, 3, 4}, {0, 2, 1, 2}, {2, 1, 2, 2}}},
      {TRS_ERROR_STRUCTURE, 1, "no diagonal entry", {{0, 1, 3, 4}, {0, 0, 0, 2}, {2, 1, 2, 2}}},
      {TRS_ERROR_ZERO_PIVOT, 1, "is zero", {{0, 1, 3, 4}, {0, 0, 1, 2}, {2, 1, 0, 2}}},
      {TRS_ERROR_NOT_FINITE, 1, "not finite", {{0, 1, 3, 4}, {0, 0, 1, 2}, {2, 1, NAN, 2}}},
      {TRS_ERROR_STRUCTURE, 0, "ptr[0] is 1", {{1, 1, 3, 4}, {0, 0, 1, 2}, {2, 1, 2, 2}}},
      {TRS_ERROR_STRUCTURE, 1, "less than ptr[1]", {{0, 1, 0, 4}, {0, 0, 1, 2}, {2, 1, 2, 2}}},
      {TRS_ERROR_STRUCTURE, 1, "ptr", {{0, 1, INT64_MAX, 4}, {0, 0, 1, 2}, {2, 1, 2, 2}}},
      {TRS_ERROR_STRUCTURE, 2, "less than ptr[2]", {{0, 1, 3, -1}, {0, 0, 1, 2}, {2, 1, 2, 2}}}};
  for (size_t k = 0; k < COUNT(wrong); k++)
    refuses(&wrong[k].system, TRS_NONUNIT, wrong[k].status, wrong[k].row, wrong[k].words);
  small s = good;
  s.idx[1] = INT32_MIN;
  refuses(&s, TRS_UNIT, TRS_ERROR_STRUCTURE, 1, "outside 0 .. 2");
}

TEST(bad_pointers_of_an_upper_triangle_are_refused) {
  small s = {{0, 2, 3, 4}, {0, 1, 1, 2}, {2, 1, 2, 2}};
  double x[3], b[3] = {1, 2, 3};
  for (int k = 0; k < 4; k++)
    for (int64_t wrong = -1; wrong <= 9; wrong += 5) {
      small t = s;
      t.ptr[k] =
          wrong == 9 && k == 3 ? -7 : wrong; /* more entries than there are: not ours to see */
      if (k == 3 && wrong == 4) continue;
      assert_int_not_equal(trs_solve_once(x, b, TRS_UPPER, TRS_NONUNIT, TRS_CSR, TRS_DOUBLE, 3,
                                          TRS_PTR64, t.ptr, t.idx, t.val),
                           TRS_SUCCESS);
    }
  assert_success(trs_solve_once(x, b, TRS_UPPER, TRS_NONUNIT, TRS_CSR, TRS_DOUBLE, 3, TRS_PTR64,
                                s.ptr, s.idx, s.val));
}

TEST(memory_that_is_lacking) {
  const int64_t ptr[] = {0, 1, 4};
  const int32_t idx[] = {0, 0, 1, 0};
  const double val[] = {1, 1e20, 1, -1e20}, b[] = {1, 1};
  double x[2];
  for (int fails = 0; fails < 3; fails++) {
    trs_memory_fail_after(fails);
    const trs_status status = trs_solve_once(x, b, TRS_LOWER, TRS_NONUNIT, TRS_CSR, TRS_DOUBLE, 2,
                                             TRS_PTR64, ptr, idx, val);
    trs_memory_fail_after(-1);
    assert_int_equal(status, fails < 2 ? TRS_ERROR_MEMORY : TRS_SUCCESS);
  }
  assert_true(x[0] == 1 && x[1] == 1);
}

TEST(nothing_is_solved) {
  const int64_t none[] = {0}, some[] = {1};
  assert_success(trs_solve_once(NULL, NULL, TRS_UPPER, TRS_UNIT, TRS_CSC, TRS_FLOAT, 0, TRS_PTR64,
                                none, NULL, NULL));
  assert_int_not_equal(trs_solve_once(NULL, NULL, TRS_LOWER, TRS_UNIT, TRS_CSC, TRS_FLOAT, 0,
                                      TRS_PTR64, some, none, none),
                       TRS_SUCCESS);
}

const test_program program = {.begin = set_up, .end = tear_down};
