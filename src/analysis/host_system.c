/* host_system.c - copies from device memory and transposes where needed.  O(nnz). */
#include "analysis/host_system.h"

trs_status trs_host_system_create(trs_host_system *h, const trs_system *S, const trs_matrix *A,
                                  bool rows, bool values, trs_stream stream) {
  *h = (trs_host_system){.S = *S};
  TRS_TRY(trs_matrix_fill(A));
  if (A->on_device) {
    TRS_TRY(trs_matrix_download(&h->copy, A, values, stream));
    A = h->copy;
  }
  h->S.ptr = A->ptr;
  h->S.idx = A->idx;
  h->S.val = A->val;
  h->S.device = NULL;
  if (S->rows == rows) return TRS_SUCCESS;
  TRS_TRY(trs_transpose_arrays(A, &h->ptr, &h->idx, &h->val));
  h->S.ptr = h->ptr;
  h->S.idx = h->idx;
  h->S.val = h->val;
  h->S.rows = rows;
  return TRS_SUCCESS;
}

void trs_host_system_destroy(trs_host_system *h) {
  trs_matrix_destroy(h->copy);
  TRS_FREE_ALL(h->ptr, h->idx, h->val);
  *h = (trs_host_system){0};
}
