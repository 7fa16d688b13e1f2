/* share.c - shares of systems whose values are deferred.  The packed values of a member have the
 * bits of the whole system's; values come part by part and never all at once; errors in them are
 * reported. */
#include "analysis/share.h"

#include <math.h>

#include "analysis/shapes.h"
#include "base/memory.h"
#include "io/scratch.h"
#include "io/window.h"
#include "matrix/matrix.h"
#include "test.h"

enum { MOST = 8 };

static const trs_slice_rules all_rules[] = {
    {1, 1, 4, 16, 16384, 32, 32, 0, 2, 0, 0},
    {4, 0, 4, 16, 16384, 32, 32, 0, 3, 0, 0},
    {32, 1, 1, 64, 20, 4, 32, 100, 3, 0, 0},
};

/* ---- Memory.  First in the program, since the library keeps the peak of its memory. ---- */

/* A lower triangle of rows of up to `most` + 1 entries, as text. */
static char *triangle_text(int64_t n, int64_t most, int64_t *nnz) {
  char *text = malloc((size_t)(n * (most + 1)) * 32 + 200);
  *nnz = 0;
  for (int64_t i = 0; i < n; i++) *nnz += (i < most ? i : most) + 1;
  char *at = text + sprintf(text, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n",
                            (int)n, (int)n, (int)*nnz);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = i > most ? i - most : 0; j <= i; j++)
      at += sprintf(at, "%d %d %d.5\n", (int)i + 1, (int)j + 1, (int)(1 + (i + j) % 9));
  return text;
}

/* The share of every member, without the pieces of push, which take 2 x 16 MB more at most. */
static void make_shares(const trs_matrix *A, int members) {
  trs_system S = trs_system_of(A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT);
  int64_t cut[MOST + 1];
  trs_outline *outline;
  trs_slices s;
  trs_deal deal;
  trs_deal_slabs(cut, &S, members);
  assert_success(
      trs_outline_create(&outline, &s, &S, &all_rules[0], NULL, NULL, members, cut, NULL));
  assert_success(
      trs_deal_create(&deal, &S, &s, outline, members, TRS_DEAL_SLABS, 0, &trs_gpu_measured, NULL));
  for (int m = 0; m < members; m++) {
    trs_deal_share share;
    trs_share_rows rows;
    assert_success(trs_deal_share_create(&share, &deal, &s, m, 0));
    assert_success(trs_share_rows_create(&rows, &S, A, &s, &share));
    trs_share_rows_destroy(&rows);
    trs_deal_share_destroy(&share);
  }
  trs_deal_destroy(&deal);
  trs_slices_destroy(&s);
  trs_outline_destroy(outline);
}

TEST(values_are_never_all_there) {
  enum { ROWS = 1500, LONGEST = 400, MEMBERS = 8 };
  int64_t nnz, current, peak, before;
  char *text = triangle_text(ROWS, LONGEST, &nnz);
  const char *path = scratch_text("large.mtx", text);
  free(text);
  const int64_t window = trs_window_bytes;
  trs_window_bytes = 1 << 16; /* the file is small, and so is its window */
  trs_memory_usage(&before, &peak);
  trs_matrix *A;
  trs_matrix_info info = {.struct_size = sizeof info};
  assert_success(trs_matrix_open(&A, path, TRS_CSR, TRS_LOWER, 0, NULL));
  make_shares(A, MEMBERS);
  trs_matrix_get_info(A, &info);
  trs_memory_usage(&current, &peak);
  const int64_t values = nnz * (int64_t)sizeof(double), pattern = 4 * nnz;
  assert_int_equal(info.nnz, nnz);
  assert_in_range(info.largest_part, values / MEMBERS, values / MEMBERS * 5 / 4);
  /* the values and indices of a share, and some bytes per row */
  assert_true(peak - before - pattern < values / MEMBERS * 2 + 400 * ROWS);
  assert_true(peak - before - pattern < values / 2);
  trs_window_bytes = window;
  trs_matrix_destroy(A);
}

/* ---- Shares have the values of the whole. ---- */

typedef struct lender {
  const trs_system *S;
  int64_t largest;    /* entries requested at once */
  int fails_after;    /* calls; -1: never */
  int64_t zero, wild; /* rows with a zero and an infinite diagonal; -1: none */
} lender;

static trs_status lend(void *user, void *val, int64_t count, const int32_t *vector) {
  lender *l = user;
  const trs_system *S = l->S;
  const size_t size = trs_scalar_size(S->scalar);
  int64_t at = 0;
  if (l->fails_after >= 0 && l->fails_after-- == 0) return TRS_ERROR_FILE;
  for (int64_t k = 0; k < count; k++) {
    int64_t i = vector[k], length = S->ptr[i + 1] - S->ptr[i];
    int64_t diagonal = at + (S->lower ? length - 1 : 0);
    memcpy((char *)val + (size_t)at * size, (const char *)S->val + (size_t)S->ptr[i] * size,
           (size_t)length * size);
    if (i == l->zero) memset((char *)val + (size_t)diagonal * size, 0, size);
    if (i == l->wild) ((double *)val)[diagonal] = INFINITY;
    at += length;
  }
  if (at > l->largest) l->largest = at;
  return TRS_SUCCESS;
}

static trs_matrix *lent(lender *l) {
  const trs_system *S = l->S;
  trs_matrix *A;
  assert_success(trs_matrix_create_deferred(&A, TRS_CSR, S->scalar, S->n, S->n, TRS_PTR64, S->ptr,
                                            S->idx, TRS_BORROW, lend, l));
  return A;
}

/* Pieces of a share as push packs them. */
static void pack(trs_slice_arrays *a, const trs_outline *outline, const trs_deal_share *share,
                 size_t size) {
  *a = (trs_slice_arrays){.idx = malloc((size_t)share->entries * 4 + 1),
                          .val = malloc((size_t)share->entries * size + 1),
                          .inverse = malloc((size_t)share->inverses * size + 1)};
  trs_outline_fill(outline, share->slice, share->number, share->nslices, a, NULL);
}

static void unpack(trs_slice_arrays *a) {
  free(a->idx);
  free(a->val);
  free(a->inverse);
}

static void compare_share(const trs_system *S, const trs_matrix *A, trs_outline *outline,
                          const trs_slices *s, const trs_deal_share *share) {
  const size_t size = trs_scalar_size(S->scalar);
  trs_system empty = *S;
  trs_share_rows rows;
  trs_slice_arrays whole, part;
  empty.val = NULL;
  pack(&whole, outline, share, size);
  assert_success(trs_share_rows_create(&rows, &empty, A, s, share));
  trs_outline_renew(outline, &rows.S);
  pack(&part, outline, share, size);
  trs_outline_renew(outline, S);
  if (share->entries) {
    assert_memory_equal(whole.idx, part.idx, (size_t)share->entries * 4);
    assert_memory_equal(whole.val, part.val, (size_t)share->entries * size);
  }
  if (share->inverses)
    assert_memory_equal(whole.inverse, part.inverse, (size_t)share->inverses * size);
  trs_share_rows_destroy(&rows);
  unpack(&whole);
  unpack(&part);
}

static void compare_system(const trs_system *S, const trs_slice_rules *rules, int members,
                           trs_deal_rule how) {
  lender l = {.S = S, .fails_after = -1, .zero = -1, .wild = -1};
  const int64_t whole[] = {0, S->n};
  int64_t cut[MOST + 1];
  trs_matrix *A = lent(&l);
  trs_outline *outline;
  trs_slices s;
  trs_deal deal;
  bool slabs = how == TRS_DEAL_SLABS;
  if (slabs) trs_deal_slabs(cut, S, members);
  assert_success(trs_outline_create(&outline, &s, S, rules, NULL, NULL, slabs ? members : 1,
                                    slabs ? cut : whole, NULL));
  assert_success(trs_deal_create(&deal, S, &s, outline, members, how, 0, &trs_gpu_measured, NULL));
  for (int m = 0; m < members; m++) {
    trs_deal_share share;
    assert_success(trs_deal_share_create(&share, &deal, &s, m, rules->early_poll));
    compare_share(S, A, outline, &s, &share);
    trs_deal_share_destroy(&share);
  }
  trs_deal_destroy(&deal);
  trs_slices_destroy(&s);
  trs_outline_destroy(outline);
  trs_matrix_destroy(A);
}

TEST(shares_have_the_bits_of_the_whole) {
  static const int64_t sizes[] = {1, 70, 700};
  static const trs_deal_rule hows[] = {TRS_DEAL_BANDS, TRS_DEAL_SLABS};
  for (int kind = 0; kind < SHAPES; kind++)
    for (int k = 0; k < 3 * 2 * 2; k++) {
      trs_system S =
          shape_system((shape)kind, sizes[k % 3], (trs_scalar)(TRS_FLOAT + (kind + k) % 4),
                       k / 3 % 2, (kind + k) % 5 != 0);
      compare_system(&S, &all_rules[(k + kind) % 3], 1 + (kind + k) % MOST, hows[k / 6]);
      shape_free(&S);
    }
}

/* ---- Errors in values. ---- */

static trs_status share_first(lender *l) {
  const int64_t whole[] = {0, l->S->n};
  trs_matrix *A = lent(l);
  trs_outline *outline;
  trs_slices s;
  trs_deal deal;
  trs_deal_share share;
  trs_share_rows rows;
  assert_success(trs_outline_create(&outline, &s, l->S, &all_rules[0], NULL, NULL, 1, whole, NULL));
  assert_success(
      trs_deal_create(&deal, l->S, &s, outline, 1, TRS_DEAL_BANDS, 0, &trs_gpu_measured, NULL));
  assert_success(trs_deal_share_create(&share, &deal, &s, 0, 0));
  trs_status status = trs_share_rows_create(&rows, l->S, A, &s, &share);
  trs_share_rows_destroy(&rows);
  trs_deal_share_destroy(&share);
  trs_deal_destroy(&deal);
  trs_slices_destroy(&s);
  trs_outline_destroy(outline);
  trs_matrix_destroy(A);
  return status;
}

TEST(bad_values_are_told) {
  trs_system S = shape_system(SHAPE_GRID, 90, TRS_DOUBLE, true, true);
  lender l = {.S = &S, .fails_after = 0, .zero = -1, .wild = -1};
  assert_failure(TRS_ERROR_FILE, "function that gives", share_first(&l));
  l = (lender){.S = &S, .fails_after = -1, .zero = 41, .wild = -1};
  assert_failure(TRS_ERROR_ZERO_PIVOT, "row 41", share_first(&l));
  l = (lender){.S = &S, .fails_after = -1, .zero = -1, .wild = 17};
  assert_failure(TRS_ERROR_NOT_FINITE, "row 17", share_first(&l));
  assert_int_equal(trs_last_error()->row, 17);
  shape_free(&S);
}

static trs_status share_with_failures(const trs_system *S, const trs_matrix *A, const trs_slices *s,
                                      const trs_deal_share *share) {
  trs_share_rows rows;
  trs_status status = trs_share_rows_create(&rows, S, A, s, share);
  trs_share_rows_destroy(&rows);
  return status;
}

TEST(every_allocation_may_fail) {
  trs_system S = shape_system(SHAPE_NODES, 97, TRS_DOUBLE, true, true);
  lender l = {.S = &S, .fails_after = -1, .zero = -1, .wild = -1};
  const int64_t whole[] = {0, S.n};
  trs_matrix *A = lent(&l);
  trs_outline *outline;
  trs_slices s;
  trs_deal deal;
  trs_deal_share share;
  assert_success(trs_outline_create(&outline, &s, &S, &all_rules[0], NULL, NULL, 1, whole, NULL));
  assert_success(
      trs_deal_create(&deal, &S, &s, outline, 2, TRS_DEAL_BANDS, 0, &trs_gpu_measured, NULL));
  assert_success(trs_deal_share_create(&share, &deal, &s, 1, 0));
  assert_survives_failing_allocations(share_with_failures(&S, A, &s, &share), (void)0);
  trs_deal_share_destroy(&share);
  trs_deal_destroy(&deal);
  trs_slices_destroy(&s);
  trs_outline_destroy(outline);
  trs_matrix_destroy(A);
  shape_free(&S);
}

/* ---- Other functions on such a matrix: they check in parts, or refuse. ---- */

TEST(checks_are_those_of_the_whole) {
  enum { ROWS = 2200, COLUMNS = 3 };
  trs_system S = shape_system(SHAPE_DENSE, ROWS, TRS_DOUBLE, true, true); /* three parts */
  lender l = {.S = &S, .fails_after = -1, .zero = -1, .wild = -1};
  trs_matrix *D = lent(&l), *A;
  static double x[ROWS * COLUMNS], b[ROWS * COLUMNS];
  trs_random_fill(x, ROWS * COLUMNS, TRS_DOUBLE, 3);
  trs_random_fill(b, ROWS * COLUMNS, TRS_DOUBLE, 4);
  assert_success(trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, ROWS, ROWS, TRS_PTR64, S.ptr, S.idx,
                                   S.val, TRS_BORROW));
  for (int trans = 0; trans < 2; trans++)
    for (int diag = 0; diag < 2; diag++) {
      trs_backward_error one = {.struct_size = sizeof one}, other = {.struct_size = sizeof other};
      assert_success(trs_check(&one, A, TRS_LOWER, (trs_trans)trans, (trs_diag)diag, x, ROWS, b,
                               ROWS, COLUMNS, TRS_COL_MAJOR));
      assert_success(trs_check(&other, D, TRS_LOWER, (trs_trans)trans, (trs_diag)diag, x, ROWS, b,
                               ROWS, COLUMNS, TRS_COL_MAJOR));
      assert_memory_equal(&one, &other, sizeof one);
    }
  assert_true(l.largest < S.nnz / 2);
  l.fails_after = 1;
  trs_backward_error error = {.struct_size = sizeof error};
  assert_failure(TRS_ERROR_FILE, "function that gives",
                 trs_check(&error, D, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, x, ROWS, b, ROWS, 1,
                           TRS_COL_MAJOR));
  trs_matrix_destroy(A);
  trs_matrix_destroy(D);
  shape_free(&S);
}

TEST(others_refuse) {
  trs_system S = shape_system(SHAPE_GRID, 90, TRS_DOUBLE, true, true);
  lender l = {.S = &S, .fails_after = -1, .zero = -1, .wild = -1};
  trs_matrix *D = lent(&l), *B, *whole;
  trs_factors *F;
  trs_context *ctx;
  trs_plan *plan;
  trs_plan *R;
  assert_success(trs_context_create(&ctx, "threads"));
#define ANALYZE(method_name)                                       \
  trs_analyze(&plan, ctx, D, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, \
              &(trs_options){.struct_size = sizeof(trs_options), .method = method_name})
  assert_failure(TRS_ERROR_UNSUPPORTED, "deferred", ANALYZE(NULL));
  assert_failure(TRS_ERROR_UNSUPPORTED, "deferred", ANALYZE("serial"));
  assert_failure(TRS_ERROR_UNSUPPORTED, "deferred", trs_matrix_write(D, scratch("w.mtx")));
  assert_failure(TRS_ERROR_UNSUPPORTED, "deferred", trs_matrix_triangle(&B, D, TRS_LOWER, 0));
  assert_failure(TRS_ERROR_UNSUPPORTED, "deferred", trs_matrix_convert(&B, D, TRS_CSC, TRS_DOUBLE));
  assert_failure(TRS_ERROR_UNSUPPORTED, "deferred", trs_factor(&F, D, NULL));
  assert_failure(TRS_ERROR_UNSUPPORTED, "deferred", trs_relax_create(&R, ctx, D, 1, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "deferred", trs_matrix_set_values(D, S.val));
  assert_success(trs_matrix_create(&whole, TRS_CSR, TRS_DOUBLE, S.n, S.n, TRS_PTR64, S.ptr, S.idx,
                                   S.val, TRS_BORROW));
  assert_success(trs_analyze(&plan, ctx, whole, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL));
  assert_failure(TRS_ERROR_UNSUPPORTED, "deferred", trs_update(plan, D));
  trs_plan_destroy(plan);
  trs_matrix_destroy(whole);
  trs_context_destroy(ctx);
  trs_matrix_destroy(D);
  shape_free(&S);
}

TEST(patterns_are_checked) {
  static const int64_t ptr[] = {0, 1, 3};
  static const int32_t descending[] = {0, 1, 0}, outside[] = {0, 1, 2}, good[] = {0, 0, 1};
  lender l = {.fails_after = -1};
  trs_matrix *A;
#define CREATE(idx, how) \
  trs_matrix_create_deferred(&A, TRS_CSR, TRS_DOUBLE, 2, 2, TRS_PTR64, ptr, idx, how, lend, &l)
  assert_failure(TRS_ERROR_STRUCTURE, "ascend", CREATE(descending, TRS_BORROW));
  assert_failure(TRS_ERROR_STRUCTURE, "outside", CREATE(outside, TRS_COPY));
  assert_failure(TRS_ERROR_ARGUMENT, "ownership", CREATE(good, (trs_ownership)7));
  assert_failure(TRS_ERROR_ARGUMENT, "give",
                 trs_matrix_create_deferred(&A, TRS_CSR, TRS_DOUBLE, 2, 2, TRS_PTR64, ptr, good,
                                            TRS_COPY, NULL, NULL));
  assert_survives_failing_allocations(CREATE(good, TRS_COPY), trs_matrix_destroy(A));
}

const test_program program = {.end = scratch_remove};
