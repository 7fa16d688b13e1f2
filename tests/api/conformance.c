/* conformance.c - every method on every combination of precision, format, uplo, trans, diag,
 * layout and number of right-hand sides, in place and not, judged by backward error. */
#include <complex.h>

#include "solve/threads/schedule.h"
#include "support.h"
#include "test.h"

typedef struct variant {
  const char *where, *method;
  trs_scalar scalar;
  trs_format format;
  trs_uplo uplo;
  trs_trans trans;
  trs_diag diag;
} variant;

static const struct {
  const char *where, *method;
} backends[] = {{"serial", "serial"},
                {"threads:2", "threads"},
                {"threads:3", "threads"},
                {"threads:7", "threads"},
                {"auto", NULL}};

/* Sizes around the part size of the schedule, a dense one, a chain, an empty one. */
static const struct {
  int64_t n, band;
  double density;
} shapes[] = {{0, 1, 1},   {1, 1, 1},      {2, 2, 1},        {33, 33, 1},
              {100, 1, 1}, {257, 20, 0.3}, {600, 600, 0.01}, {1500, 1500, 0.001}};

static const int64_t right_hand_sides[] = {1, 2, 3, 8, 11};

typedef struct dense {
  void *x, *b;
  int64_t ld;
} dense;

static dense make_dense(const variant *v, int64_t n, int64_t nrhs, trs_layout layout) {
  dense d = {.ld = (layout == TRS_COL_MAJOR ? n : nrhs) + 3};
  int64_t elements = d.ld * (layout == TRS_COL_MAJOR ? nrhs : n) + 1;
  d.x = malloc((size_t)elements * scalar_bytes(v->scalar));
  d.b = malloc((size_t)elements * scalar_bytes(v->scalar));
  trs_random_fill(d.x, elements, v->scalar, 77);
  trs_random_fill(d.b, elements, v->scalar, 78);
  return d;
}

static void solve_and_check(const variant *v, trs_plan *plan, const trs_matrix *A, int64_t nrhs,
                            trs_layout layout) {
  trs_matrix_info info;
  trs_backward_error error;
  trs_matrix_get_info(A, &info);
  dense d = make_dense(v, info.nrows, nrhs, layout);
  int64_t bytes = d.ld * (layout == TRS_COL_MAJOR ? nrhs : info.nrows);
  bytes *= (int64_t)scalar_bytes(v->scalar);
  assert_success(trs_solve(plan, d.x, d.ld, d.b, d.ld, nrhs, layout));
  assert_success(
      trs_check(A, v->uplo, v->trans, v->diag, d.x, d.ld, d.b, d.ld, nrhs, layout, &error));
  double limit = error_limit(v->scalar, info.nrows);
  if (!(error.componentwise <= limit))
    fail_msg("n %lld nrhs %lld layout %d: error %g, limit %g, row %lld", (long long)info.nrows,
             (long long)nrhs, layout, error.componentwise, limit, (long long)error.worst_row);
  assert_true(error.normwise <= error.componentwise);

  /* in place gives the same bits, and only elements of the solution are written */
  trs_random_fill(d.b, bytes / (int64_t)scalar_bytes(v->scalar), v->scalar, 78);
  assert_success(trs_solve(plan, d.b, d.ld, d.b, d.ld, nrhs, layout));
  int64_t vectors = layout == TRS_COL_MAJOR ? nrhs : info.nrows;
  int64_t length = layout == TRS_COL_MAJOR ? info.nrows : nrhs;
  size_t size = scalar_bytes(v->scalar), pad = 3 * size;
  void *untouched = malloc((size_t)bytes + size);
  trs_random_fill(untouched, bytes / (int64_t)size, v->scalar, 77);
  for (int64_t c = 0; c < vectors; c++) {
    size_t at = (size_t)(c * d.ld) * size, used = (size_t)length * size;
    assert_memory_equal((char *)d.x + at, (char *)d.b + at, used);
    assert_memory_equal((char *)d.x + at + used, (char *)untouched + at + used, pad);
  }
  free(untouched);
  free(d.x);
  free(d.b);
}

static void run_shape(const variant *v, trs_context *ctx, size_t shape) {
  bool prefix = (v->uplo == TRS_LOWER) == (v->format == TRS_CSR);
  bool bare = v->diag == TRS_UNIT && shape % 2; /* a unit diagonal may be stored or not */
  triangle t = triangle_random(shapes[shape].n, shapes[shape].density, shapes[shape].band, prefix,
                               v->scalar, bare, 5 + shape);
  trs_matrix *A;
  trs_plan *plan;
  trs_options options = {.method = v->method};
  assert_success(
      trs_matrix_create(&A, v->format, v->scalar, t.n, t.n, t.ptr, t.idx, t.val, TRS_BORROW));
  assert_success(trs_analyze(ctx, &plan, A, v->uplo, v->trans, v->diag, &options));
  for (size_t k = 0; k < sizeof right_hand_sides / sizeof right_hand_sides[0]; k++)
    for (trs_layout layout = TRS_COL_MAJOR; layout <= TRS_ROW_MAJOR; layout++)
      solve_and_check(v, plan, A, right_hand_sides[k], layout);

  /* new values through the arrays that were lent */
  for (int64_t p = 0; p < t.ptr[t.n]; p++) {
    double *value = (double *)t.val;
    float *single = (float *)t.val;
    bool wide = v->scalar == TRS_DOUBLE || v->scalar == TRS_DCOMPLEX;
    for (int part = 0; part < (v->scalar >= TRS_SCOMPLEX ? 2 : 1); part++) {
      int64_t at = v->scalar >= TRS_SCOMPLEX ? 2 * p + part : p;
      if (wide)
        value[at] *= 1 + 1.0 / (double)(p + 2);
      else
        single[at] *= 1 + 1.0f / (float)(p + 2);
    }
  }
  assert_success(trs_update(plan, A));
  solve_and_check(v, plan, A, 1, TRS_COL_MAJOR);
  trs_plan_destroy(plan);
  trs_matrix_destroy(A);
  triangle_free(&t);
}

static void conforms(void **state) {
  const variant *v = *state;
  trs_context *ctx;
  assert_success(trs_context_create(&ctx, v->where));
  for (size_t shape = 0; shape < sizeof shapes / sizeof shapes[0]; shape++)
    run_shape(v, ctx, shape);
  trs_context_destroy(ctx);
}

enum { NBACKENDS = sizeof backends / sizeof backends[0], NCASES = NBACKENDS * 4 * 2 * 2 * 3 * 2 };

int main(void) {
  trs_schedule_part_work = 40;
  static variant variants[NCASES];
  static char names[NCASES][96];
  static struct CMUnitTest tests[NCASES];
  for (int c = 0; c < NCASES; c++) {
    int k = c;
    variant *v = &variants[c];
    v->diag = (trs_diag)(k % 2), k /= 2;
    v->trans = (trs_trans)(k % 3), k /= 3;
    v->uplo = k % 2 ? TRS_UPPER : TRS_LOWER, k /= 2;
    v->format = (trs_format)(k % 2), k /= 2;
    v->scalar = (trs_scalar)(k % 4), k /= 4;
    v->where = backends[k].where;
    v->method = backends[k].method;
    snprintf(names[c], sizeof names[c], "%s %s %c %s %s %c %s", v->where,
             v->method ? v->method : "auto", "sdcz"[v->scalar], v -> format ? "csc" : "csr",
             v->uplo == TRS_LOWER ? "lower" : "upper", "ntc"[v->trans],
             v -> diag ? "unit" : "nonunit");
    tests[c] = (struct CMUnitTest){names[c], conforms, NULL, NULL, v};
  }
  return _cmocka_run_group_tests("conformance", tests, NCASES, NULL, NULL);
}
