/* permute.c - B = A(row_perm, col_perm).  O(n + nnz). */
#include <string.h>

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

typedef struct arrays {
  int64_t *ptr; /* one place more than vectors need */
  int32_t *idx;
  void *val;
} arrays;

/* Begins of B's vectors, one place behind. */
static void place_vectors(arrays *b, const trs_matrix *A, const int32_t *place) {
  for (int64_t i = 0; i < A->nvectors; i++) b->ptr[place[i] + 2] = A->ptr[i + 1] - A->ptr[i];
  for (int64_t i = 0; i < A->nvectors; i++) b->ptr[i + 2] += b->ptr[i + 1];
}

/* Vectors change places alone. */
static void move_vectors(arrays *b, const trs_matrix *A, const int32_t *order) {
  const size_t size = trs_scalar_size(A->scalar);
  int64_t at = 0;
  for (int64_t k = 0; k < A->nvectors; k++) {
    const int64_t begin = A->ptr[order[k]], count = A->ptr[order[k] + 1] - begin;
    if (count) {
      memcpy(b->idx + at, A->idx + begin, (size_t)count * sizeof *b->idx);
      memcpy((char *)b->val + (size_t)at * size, (const char *)A->val + (size_t)begin * size,
             (size_t)count * size);
    }
    b->ptr[k + 1] = at += count;
  }
}

/* Entries in the order of T's vectors, A's in the other format, come to those of B in order. */
static trs_status spread(arrays *b, const trs_matrix *A, const int32_t *order,
                         const int32_t *other) {
  const int64_t nother = A->format == TRS_CSR ? A->ncols : A->nrows;
  arrays t = {0};
  int32_t *place;
  TRS_TRY(invert(&place, order, A->nvectors));
  const trs_status status =
      A->turned ? TRS_SUCCESS : trs_transpose_arrays(A, &t.ptr, &t.idx, &t.val);
  const arrays from = A->turned ? (arrays){A->turned->ptr, A->turned->idx, A->turned->val} : t;
  if (!status) {
    place_vectors(b, A, place);
    trs_values_spread(b->ptr + 1, b->idx, b->val, nother, other, place, from.ptr, from.idx,
                      from.val, A->scalar);
  }
  TRS_FREE_ALL(t.ptr, t.idx, t.val, place);
  return status;
}

trs_status trs_matrix_permute(trs_matrix **B, const trs_matrix *A, const int32_t *row_perm,
                              const int32_t *col_perm) {
  const bool rows = A->format == TRS_CSR;
  const int32_t *order = rows ? row_perm : col_perm, *other = rows ? col_perm : row_perm;
  arrays b;
  *B = NULL;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ZEROS(&b.ptr, A->nvectors + 2), TRS_ROOM(&b.idx, A->nnz),
                        TRS_ROOM_OF(&b.val, A->nnz, trs_scalar_size(A->scalar))));
  trs_status status = TRS_SUCCESS;
  if (order && !other)
    move_vectors(&b, A, order);
  else
    status = spread(&b, A, order, other);
  if (!status)
    return trs_matrix_adopt(B, A->format, A->scalar, A->nrows, A->ncols, b.ptr, b.idx, b.val);
  TRS_FREE_ALL(b.ptr, b.idx, b.val);
  return status;
}
