/* refactor.c - the host's part of factoring new values on a GPU, with a stand-in for its kernels:
 * lists, launches in level order, both sweeps; against factors of the host. */
#include "relax/blocks.h"
#include "bsr.h"
#include "device_stand_in.h"
#include "factor/factors.h"
#include "matrix/blocks.h"
#include "relax/refactor.h"
#include "test.h"

enum { N = 40, B = 3, ROWS = N * B };

static trs_factors *factor(const blocks *A, trs_factor_kind kind) {
  trs_matrix *M;
  trs_factors *F;
  const trs_factor_options how = {.struct_size = sizeof how, .kind = kind, .pivot_threshold = 0.5};
  assert_success(trs_matrix_create_bsr(
      &M, BSR(TRS_DOUBLE, N, N, B, TRS_ROW_MAJOR, TRS_PTR64, A->ptr, A->idx, A->val)));
  assert_success(trs_factor(&F, M, &how));
  trs_matrix_destroy(M);
  return F;
}

/* T relaxed in the order of its levels. */
static trs_relaxation *relax(trs_context *ctx, const trs_matrix *T, bool lower) {
  int32_t level[N] = {0};
  assert_success(trs_matrix_fill(T));
  for (int k = 0; k < N; k++) {
    const int i = lower ? k : N - 1 - k;
    for (int64_t p = T->ptr[i * B]; p < T->ptr[(i + 1) * B]; p++) {
      const int j = T->idx[p] / B;
      if (j != i && level[j] >= level[i]) level[i] = level[j] + 1;
    }
  }
  trs_plan *plan;
  const trs_relax_options options = {
      .struct_size = sizeof options, .store = TRS_STORE_DOUBLE, .variant = "rows", .colour = level};
  assert_success(trs_relax_create(&plan, ctx, T, B, &options));
  return plan->state;
}

static void sweep(trs_relaxation *L, trs_relaxation *U, double *x, const double *b) {
  const trs_sweep_options once = {.struct_size = sizeof once};
  assert_success(trs_relax_sweep(L->plan, x, ROWS, b, ROWS, 1, TRS_COL_MAJOR, &once));
  assert_success(trs_relax_sweep(U->plan, x, ROWS, x, ROWS, 1, TRS_COL_MAJOR, &once));
}

/* With turn 0 the diagonal is pivot, so that no row moves; else rows of diagonal blocks move. */
static blocks diagonal_blocks(double scale, int turn) {
  blocks A = blocks_random(N, B, 6, 2, 3);
  for (int64_t i = 0; i < N; i++)
    for (int64_t p = A.ptr[i]; p < A.ptr[i + 1]; p++)
      for (int e = 0; e < B * B; e++) {
        double *value = &A.val[p * B * B + e];
        if (A.idx[p] == i) *value = (e / B + turn) % B == e % B ? 50 + e : 0.1 * (e + 1);
        *value *= scale;
      }
  return A;
}

static void lay_out(trs_refactor *f, const blocks *A, trs_factor_kind kind) {
  const trs_block_source source = {.scalar = TRS_DOUBLE,
                                   .block = B,
                                   .span = 1,
                                   .nrows = N,
                                   .ncols = N,
                                   .layout = TRS_ROW_MAJOR,
                                   .ptr = A->ptr,
                                   .idx = A->idx,
                                   .val = A->val};
  const trs_bilu0 head = {.kind = kind, .block = B, .threshold = 0.5};
  trs_block_pattern pattern;
  *f = (trs_refactor){0};
  assert_success(trs_block_pattern_build(&pattern, &source, NULL));
  assert_success(trs_bilu0_create(&f->w, &head, &pattern));
  trs_block_pattern_free(&pattern);
  assert_success(TRS_ALLOC(&f->place, N));
  assert_success(TRS_ALLOC(&f->from, ROWS));
  for (int i = 0; i < N; i++) f->place[i] = i;
  for (int r = 0; r < ROWS; r++) f->from[r] = (uint8_t)(r % B);
}

static void check_kind(trs_factor_kind kind, int turn) {
  trs_context *ctx;
  trs_refactor f;
  double b[ROWS], x[ROWS];
  trs_backward_error error = {.struct_size = sizeof error};
  blocks old = diagonal_blocks(1, 0), fresh = diagonal_blocks(3, turn);
  trs_factors *F = factor(&old, kind), *G = factor(&fresh, kind);
  assert_null(F->row_perm);
  trs_random_fill(b, ROWS, TRS_DOUBLE, 5);
  assert_success(trs_context_create(&ctx, "cuda:7"));
  trs_relaxation *L = relax(ctx, F->L, true), *U = relax(ctx, F->U, false);
  lay_out(&f, &old, kind);
  trs_block_source source = {.scalar = TRS_DOUBLE,
                             .block = B,
                             .span = 1,
                             .nrows = N,
                             .ncols = N,
                             .layout = TRS_ROW_MAJOR,
                             .ptr = fresh.ptr,
                             .idx = fresh.idx,
                             .val = fresh.val};
  const trs_block_source bare = {
      .scalar = TRS_DOUBLE, .block = B, .span = 1, .nrows = N, .ncols = N};
  assert_failure(TRS_ERROR_ARGUMENT, "NULL", trs_refactor_cuda.run(&f, L, U, &bare));
  for (int time = 0; time < 2; time++) {
    assert_success(trs_refactor_cuda.run(&f, L, U, &source));
    source.ptr = NULL; /* the second knows the pattern */
    sweep(L, U, x, b);
    assert_success(trs_check_factors(&error, G, TRS_NO_TRANS, x, ROWS, b, ROWS, 1, TRS_COL_MAJOR));
    assert_true(error.componentwise < 1e-14);
  }
  for (int64_t e = 0; e < fresh.ptr[N] * B * B; e++) fresh.val[e] = 0;
  assert_failure(TRS_ERROR_ZERO_PIVOT, "block row 0", trs_refactor_cuda.run(&f, L, U, &source));
  source.val = old.val;
  assert_success(trs_refactor_cuda.run(&f, L, U, &source)); /* after a failure */
  trs_refactor_cuda.free(&f);
  trs_bilu0_free(f.w);
  TRS_FREE_ALL(f.place, f.from);
  trs_relaxation_destroy(L);
  trs_relaxation_destroy(U);
  trs_context_destroy(ctx);
  trs_factors_destroy(F);
  trs_factors_destroy(G);
  blocks_free(&old);
  blocks_free(&fresh);
  assert_int_equal(stand_in_held(), 0);
}

TEST(new_values_reach_both_sweeps) {
  for (int turn = 0; turn < B; turn++) {
    check_kind(TRS_FACTOR_BILU0, turn);
    check_kind(TRS_FACTOR_DILU, turn);
  }
}
