/* permute.c - B = A(row_perm, col_perm).  O(n + nnz). */
#include "matrix/matrix.h"

trs_status trs_permutation_check(const int32_t *perm, int64_t n, const char *name) {
  bool *seen;
  trs_status status = TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC_ZERO(&seen, n));
  for (int64_t i = 0; i < n && !status; i++) {
    if (perm[i] < 0 || perm[i] >= n || seen[perm[i]])
      status = trs_fail(TRS_ERROR_ARGUMENT, i, "%s[%lld] = %d is %s", name, (long long)i, perm[i],
                        perm[i] < 0 || perm[i] >= n ? "out of range" : "there twice");
    else
      seen[perm[i]] = true;
  }
  trs_free(seen);
  return status;
}

/* Two transpositions, each with the vectors in their new order, leave entries in order. */
trs_status trs_matrix_permute(trs_matrix **B, const trs_matrix *A, const int32_t *row_perm,
                              const int32_t *col_perm) {
  const bool rows = A->format == TRS_CSR;
  trs_matrix T = {.format = rows ? TRS_CSC : TRS_CSR,
                  .scalar = A->scalar,
                  .nrows = A->nrows,
                  .ncols = A->ncols,
                  .nnz = A->nnz,
                  .nvectors = rows ? A->ncols : A->nrows};
  int64_t *ptr;
  int32_t *idx;
  void *val;
  *B = NULL;
  TRS_TRY(trs_transpose_arrays(A, rows ? row_perm : col_perm, &T.ptr, &T.idx, &T.val));
  const trs_status status = trs_transpose_arrays(&T, rows ? col_perm : row_perm, &ptr, &idx, &val);
  TRS_FREE_ALL(T.ptr, T.idx, T.val);
  TRS_TRY(status);
  return trs_matrix_adopt(B, A->format, A->scalar, A->nrows, A->ncols, ptr, idx, val);
}
