/* blocks.c - block matrices for the tests of relaxation. */
#include "relax/blocks.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/random.h"
#include "bsr.h"

const char *const blocks_variants[] = {"slices",
                                       "rows",
                                       "thread-row", /* from here on in builds with papers */
                                       "warp-row",
                                       "warp-row-l2",
                                       "warp-row-fused",
                                       "warp-row-fused-l2",
                                       "warp-row-fused-l2-async",
                                       "warp-six-rows",
                                       "warp-six-rows-l2",
                                       "warp-six-rows-l2-async",
                                       "warp-six-rows-prefetch"};

blocks blocks_random(int64_t n, int b, int64_t each, double dominance, uint64_t seed) {
  blocks A = {.n = n, .b = b};
  int64_t size = (int64_t)b * b, at = 0, draw = 0;
  A.ptr = malloc((size_t)(n + 1) * sizeof *A.ptr);
  A.idx = malloc((size_t)(n * (each + 1)) * sizeof *A.idx);
  A.val = malloc((size_t)(n * (each + 1) * size) * sizeof *A.val);
  A.ptr[0] = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t first = at,
            count = (int64_t)trs_random_below(seed + 1, (uint64_t)i, (uint64_t)each + 1);
    for (int64_t k = 0; k <= count; k++) {
      int64_t j =
          k == count / 2 ? i : (int64_t)trs_random_below(seed + 2, (uint64_t)draw++, (uint64_t)n);
      bool there = j == i && k != count / 2;
      for (int64_t p = first; p < at; p++) there |= A.idx[p] == j;
      if (there) continue;
      for (int64_t e = 0; e < size; e++)
        A.val[at * size + e] = trs_random_signed(seed, (uint64_t)(at * size + e));
      A.idx[at++] = (int32_t)j;
    }
    A.ptr[i + 1] = at;
  }
  /* A large off-diagonal element in each row of the diagonal block, so that the block needs
   * pivoting. */
  for (int64_t i = 0; i < n; i++)
    for (int64_t p = A.ptr[i]; p < A.ptr[i + 1]; p++)
      if (A.idx[p] == i)
        for (int r = 0; r < b; r++)
          A.val[p * size + r * b + (r + 1) % b] =
              dominance * b * (double)(A.ptr[i + 1] - A.ptr[i] + 1);
  return A;
}

void blocks_free(blocks *A) {
  free(A->ptr);
  free(A->idx);
  free(A->val);
}

trs_matrix *blocks_matrix(const blocks *A, trs_scalar scalar, trs_format format) {
  int64_t size = (int64_t)A->b * A->b, nnz = A->ptr[A->n] * size, at = 0;
  int32_t *row = malloc((size_t)(nnz + 1) * sizeof *row);
  int32_t *col = malloc((size_t)(nnz + 1) * sizeof *col);
  trs_matrix *M = NULL, *result = NULL;
  for (int64_t i = 0; i < A->n; i++)
    for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++)
      for (int64_t e = 0; e < size; e++, at++) {
        row[at] = (int32_t)(i * A->b + e / A->b);
        col[at] = A->idx[p] * A->b + (int32_t)(e % A->b);
      }
  if (!trs_matrix_create_coo(&M, TRS_DOUBLE, A->n * A->b, A->n * A->b, nnz, TRS_IDX32, row, col,
                             A->val))
    (void)trs_matrix_convert(&result, M, format, scalar);
  trs_matrix_destroy(M);
  free(row);
  free(col);
  return result;
}

trs_relax_options blocks_options(trs_store store, int variant) {
  return (trs_relax_options){.struct_size = sizeof(trs_relax_options),
                             .store = store,
                             .nrhs = variant % 4,
                             .balanced = variant & 1};
}

trs_sweep_options blocks_sweeps(int variant) {
  return (trs_sweep_options){.struct_size = sizeof(trs_sweep_options),
                             .sweeps = 1 + variant % 3,
                             .direction = (trs_sweep_direction)(variant % 3),
                             .omega = variant % 2 ? 0.8 : 0,
                             .keep_x = variant % 5 == 0};
}

void blocks_every_size_and_store(int64_t rows, blocks_check *check) {
  for (int b = 1; b <= TRS_RELAX_MOST_BLOCK; b++)
    for (int store = TRS_STORE_MIXED; store <= TRS_STORE_BFLOAT; store++) {
      blocks A = blocks_random(b < 9 ? rows : 40, b, 9, 2, (uint64_t)b);
      check(&A, (trs_store)store, b + store - TRS_STORE_MIXED);
      blocks_free(&A);
    }
}

void blocks_at_the_edge(blocks_check *check) {
  for (int64_t n = 0; n < 4; n++)
    for (int variant = 0; variant < 6; variant++) {
      blocks A = blocks_random(n, 5, variant, 2, (uint64_t)n);
      check(&A, TRS_STORE_DOUBLE, variant);
      blocks_free(&A);
    }
}

trs_status blocks_sweep_once(trs_context *context, const blocks *A) {
  const int64_t n = A->n * A->b;
  double *x = calloc((size_t)n + 1, sizeof *x), *b = calloc((size_t)n + 1, sizeof *b);
  trs_plan *R;
  trs_status status = trs_relax_create_bsr(
      &R, context, BSR(TRS_DOUBLE, A->n, 0, A->b, TRS_ROW_MAJOR, TRS_PTR64, A->ptr, A->idx, A->val),
      NULL);
  if (!status) {
    status = trs_relax_sweep(R, x, n, b, n, 1, TRS_COL_MAJOR, NULL);
    trs_plan_destroy(R);
  }
  free(x);
  free(b);
  return status;
}
