/* permute.c - B = A(row_perm, col_perm).  O(n + nnz), and a sort within each vector. */
#include "matrix/matrix.h"
#include "matrix/values.h"

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

static trs_status invert(int32_t **inverse, const int32_t *perm, int64_t n) {
  TRS_TRY(TRS_ALLOC(inverse, n));
  for (int64_t i = 0; i < n; i++) (*inverse)[perm ? perm[i] : i] = (int32_t)i;
  return TRS_SUCCESS;
}

trs_status trs_matrix_permute(trs_matrix **B, const trs_matrix *A, const int32_t *row_perm,
                              const int32_t *col_perm) {
  bool rows = A->format == TRS_CSR;
  const int32_t *order = rows ? row_perm : col_perm;
  int64_t nother = rows ? A->ncols : A->nrows, at = 0;
  int32_t *renumber = NULL, *idx = NULL;
  int64_t *ptr = NULL, *source = NULL;
  void *val = NULL;
  *B = NULL;
  trs_status status = invert(&renumber, rows ? col_perm : row_perm, nother);
  if (!status) status = TRS_ALLOC(&ptr, A->nvectors + 1);
  if (!status) status = TRS_ALLOC(&idx, A->nnz);
  if (!status) status = TRS_ALLOC(&source, A->nnz);
  if (!status) status = trs_alloc(&val, A->nnz, trs_scalar_size(A->scalar));
  if (!status) {
    for (int64_t i = 0; i < A->nvectors; i++) {
      int64_t from = order ? order[i] : i;
      ptr[i] = at;
      for (int64_t p = A->ptr[from]; p < A->ptr[from + 1]; p++) {
        idx[at] = renumber[A->idx[p]];
        source[at++] = p;
      }
    }
    ptr[A->nvectors] = at;
    trs_values_gather(val, A->val, source, A->nnz, A->scalar);
  }
  trs_free(renumber);
  trs_free(source);
  if (status) {
    trs_free(ptr);
    trs_free(idx);
    return status;
  }
  return trs_matrix_adopt(B, A->format, A->scalar, A->nrows, A->ncols, ptr, idx, val);
}
