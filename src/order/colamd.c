/* colamd.c - columns by approximate minimum degree in A^T A without forming it (Davis, Gilbert,
 * Larimore, Ng 2004), by SuiteSparse's COLAMD: few entries in L and U whatever rows the pivots come
 * from.  O(nnz) in practice. */
#include "base/config.h"
#include "order/methods.h"

#if TRS_HAVE_COLAMD

#include <colamd.h>

/* The rows of each column in the workspace that COLAMD orders in, whose integers have 32 bits. */
static void turn(int32_t *ptr, int32_t *idx, const trs_matrix *A) {
  for (int64_t p = 0; p < A->nnz; p++) ptr[A->idx[p] + 2]++;
  for (int64_t j = 0; j < A->ncols; j++) ptr[j + 2] += ptr[j + 1];
  for (int64_t i = 0; i < A->nrows; i++)
    for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) idx[ptr[A->idx[p] + 1]++] = (int32_t)i;
}

static trs_status too_large(const trs_matrix *A) {
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "%lld entries are too many for COLAMD's 32-bit integers: use the natural order",
                  (long long)A->nnz);
}

trs_status trs_order_colamd(int32_t *perm, const trs_matrix *A) {
  int stats[COLAMD_STATS];
  int32_t *ptr = NULL, *idx = NULL;
  if (A->nnz > INT32_MAX) return too_large(A);
  const size_t room = colamd_recommended((int)A->nnz, (int)A->nrows, (int)A->ncols);
  if (!room || room > INT32_MAX) return too_large(A);
  trs_status status = TRS_ALLOC_ALL(TRS_ZEROS(&ptr, A->ncols + 2), TRS_ROOM(&idx, (int64_t)room));
  if (!status) {
    turn(ptr, idx, A);
    if (!colamd((int)A->nrows, (int)A->ncols, (int)room, idx, ptr, NULL, stats))
      status = trs_fail(TRS_ERROR_INTERNAL, -1, "colamd returned %d", stats[COLAMD_STATUS]);
  }
  for (int64_t k = 0; !status && k < A->ncols; k++) perm[k] = ptr[k];
  TRS_FREE_ALL(ptr, idx);
  return status;
}

#else

trs_status trs_order_colamd(int32_t *perm, const trs_matrix *A) {
  (void)perm;
  (void)A;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "this order needs COLAMD, which is not in this build: install "
                  "libsuitesparse-dev and build Trireme from source, or order by nested "
                  "dissection");
}

#endif
