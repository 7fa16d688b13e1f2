/* serial.c - the loops of the method serial that only strides of one have: rows that vary in
 * length, and runs of rows with as many entries.  They give the bits of the loop for any stride,
 * whatever x holds before. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "test.h"

enum { MANY = 20000, SPACE = 3 };

static void set(void *values, trs_scalar scalar, int64_t at, double value) {
  if (scalar == TRS_FLOAT)
    ((float *)values)[at] = (float)value;
  else
    ((double *)values)[at] = value;
}

static void check_bits(const triangle *t, trs_scalar scalar, bool lower, trs_diag diag) {
  const size_t size = scalar_bytes(scalar);
  const int64_t n = t->n;
  trs_matrix *A;
  trs_context *ctx;
  trs_plan *plan;
  trs_options options = {.struct_size = sizeof options, .method = "serial"};
  char *b = calloc((size_t)n, size), *x = malloc((size_t)n * size);
  char *wide_b = calloc((size_t)(n * SPACE), size), *wide = calloc((size_t)(n * SPACE), size);
  for (int64_t i = 0; i < n; i++) {
    const double value = i % 5 ? 1 + (double)(i % 11) : -0.0;
    set(b, scalar, i, value);
    set(wide_b, scalar, i * SPACE, value);
    set(x, scalar, i, NAN);
  }
  assert_success(trs_context_create(&ctx, "serial"));
  assert_success(
      trs_matrix_create(&A, TRS_CSR, scalar, n, n, TRS_PTR64, t->ptr, t->idx, t->val, TRS_COPY));
  assert_success(
      trs_analyze(&plan, ctx, A, lower ? TRS_LOWER : TRS_UPPER, TRS_NO_TRANS, diag, &options));
  assert_success(trs_solve(plan, x, n, b, n, 1, TRS_COL_MAJOR));
  assert_success(trs_solve(plan, wide, SPACE, wide_b, SPACE, 1, TRS_ROW_MAJOR));
  for (int64_t i = 0; i < n; i++)
    if (memcmp(x + i * (int64_t)size, wide + i * SPACE * (int64_t)size, size) != 0)
      fail_msg("row %lld of %lld differs", (long long)i, (long long)n);
  free(b);
  free(x);
  free(wide_b);
  free(wide);
  trs_plan_destroy(plan);
  trs_context_destroy(ctx);
  trs_matrix_destroy(A);
}

/* Each kind of diagonal: stored, stored and one, not stored. */
TEST(rows_that_vary_in_length) {
  (void)state;
  const trs_scalar types[] = {TRS_FLOAT, TRS_DOUBLE};
  for (int c = 0; c < 24; c++) {
    const bool lower = c % 2, bare = c / 2 % 3 == 2;
    const trs_scalar scalar = types[c / 6 % 2];
    triangle t =
        triangle_random(MANY, c / 12 ? 0.02 : 0.035, 200, lower, scalar, bare, (uint64_t)c);
    check_bits(&t, scalar, lower, c / 2 % 3 ? TRS_UNIT : TRS_NONUNIT);
    triangle_free(&t);
  }
}

/* Rows of 1 to 14 entries with the one beside the diagonal, in runs of some rows. */
static triangle runs(bool lower, bool bare) {
  enum { N = 900, MOST = 15 };
  triangle t = {.n = N, .ptr = malloc((N + 1) * sizeof *t.ptr), .idx = malloc(N * MOST * 4)};
  double *val = malloc(N * MOST * sizeof *val);
  int64_t nnz = 0;
  for (int64_t i = 0; i < N; i++) {
    const int64_t room = lower ? i : N - 1 - i, want = i / 5 % 3 ? 1 + i / 9 % 14 : 3;
    const int64_t count = want < room ? want : room;
    t.ptr[i] = nnz;
    for (int64_t q = 0; q < count + !bare; q++) {
      const int64_t j = lower ? i - count + q : i + q + bare;
      val[nnz] = j == i ? 2 + (double)(i % 3) : -0.3 / (double)(1 + (i + 7 * q) % 9);
      t.idx[nnz++] = (int32_t)j;
    }
  }
  t.ptr[N] = nnz;
  t.val = val;
  return t;
}

TEST(runs_of_rows_with_as_many_entries) {
  (void)state;
  for (int c = 0; c < 6; c++) {
    const bool lower = c % 2, bare = c / 2 == 2;
    triangle t = runs(lower, bare);
    check_bits(&t, TRS_DOUBLE, lower, c / 2 ? TRS_UNIT : TRS_NONUNIT);
    triangle_free(&t);
  }
}
