/* permute.c - B = A(row_perm, col_perm).  O(n + nnz). */
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

/* Entries of T, the other format, in the order of its vectors come to A's vectors, which place
 * numbers, in order.  ptr has their lengths, two places behind. */
static void collect(const trs_matrix *A, const int64_t *T_ptr, const int32_t *T_idx,
                    const int32_t *place, const int32_t *other, int64_t *ptr, int32_t *idx,
                    int64_t *source) {
  const int64_t nother = A->format == TRS_CSR ? A->ncols : A->nrows;
  for (int64_t i = 0; i < A->nvectors; i++) ptr[place[i] + 2] = A->ptr[i + 1] - A->ptr[i];
  for (int64_t i = 0; i < A->nvectors; i++) ptr[i + 2] += ptr[i + 1];
  for (int64_t j = 0; j < nother; j++) {
    const int64_t from = other ? other[j] : j;
    for (int64_t q = T_ptr[from]; q < T_ptr[from + 1]; q++) {
      const int64_t at = ptr[place[T_idx[q]] + 1]++;
      idx[at] = (int32_t)j;
      source[at] = q;
    }
  }
}

trs_status trs_matrix_permute(trs_matrix **B, const trs_matrix *A, const int32_t *row_perm,
                              const int32_t *col_perm) {
  const bool rows = A->format == TRS_CSR;
  int64_t *T_ptr, *ptr = NULL, *source = NULL;
  int32_t *T_idx, *place = NULL, *idx = NULL;
  void *T_val, *val = NULL;
  *B = NULL;
  TRS_TRY(trs_transpose_arrays(A, &T_ptr, &T_idx, &T_val));
  trs_status status = invert(&place, rows ? row_perm : col_perm, A->nvectors);
  if (!status) status = TRS_ALLOC_ZERO(&ptr, A->nvectors + 2);
  if (!status) status = TRS_ALLOC(&idx, A->nnz);
  if (!status) status = TRS_ALLOC(&source, A->nnz);
  if (!status) status = trs_alloc(&val, A->nnz, trs_scalar_size(A->scalar));
  if (!status) {
    collect(A, T_ptr, T_idx, place, rows ? col_perm : row_perm, ptr, idx, source);
    trs_values_gather(val, T_val, source, A->nnz, A->scalar);
  }
  TRS_FREE_ALL(T_ptr, T_idx, T_val, place, source);
  if (!status) return trs_matrix_adopt(B, A->format, A->scalar, A->nrows, A->ncols, ptr, idx, val);
  TRS_FREE_ALL(ptr, idx);
  return status;
}
