/* transpose_host.c - transpose.h for builds with HIP: a counting sort of the columns on the host.
 * The entries of a column keep the order of their rows.  O(n + nnz), and copies there and back. */
#include "base/scalar.h"
#include "base/transpose.h"
#include "solve/cuda/transpose.h"

typedef struct pattern {
  int64_t *ptr, *new_ptr, *entry;
  int32_t *idx, *new_idx;
} pattern;

static trs_status upload(trs_transposed *to, const pattern *p, trs_device *device, int64_t n,
                         int64_t nnz, size_t size, trs_stream stream) {
  TRS_TRY(TRS_DEVICE_ALLOC(device, &to->ptr, n + 1, stream));
  TRS_TRY(TRS_DEVICE_ALLOC(device, &to->idx, nnz, stream));
  TRS_TRY(TRS_DEVICE_ALLOC(device, &to->entry, nnz, stream));
  if (size) TRS_TRY(trs_device_alloc(device, &to->val, nnz, size, stream));
  TRS_TRY(trs_device_copy(to->ptr, p->new_ptr, (n + 1) * 8, stream));
  TRS_TRY(trs_device_copy(to->idx, p->new_idx, nnz * 4, stream));
  return trs_device_copy(to->entry, p->entry, nnz * 8, stream);
}

static trs_status transpose(trs_transposed *to, pattern *p, trs_device *device, int64_t n,
                            int64_t nnz, trs_scalar scalar, const int64_t *ptr, const int32_t *idx,
                            const void *val, trs_stream stream) {
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&p->ptr, n + 1), TRS_ROOM(&p->idx, nnz)));
  TRS_TRY(trs_device_copy(p->ptr, ptr, (n + 1) * 8, stream));
  TRS_TRY(trs_device_copy(p->idx, idx, nnz * 4, stream));
  TRS_TRY(trs_device_wait(stream));
  TRS_TRY(trs_transpose_pattern(&p->new_ptr, &p->new_idx, &p->entry, n, n, p->ptr, p->idx));
  TRS_TRY(upload(to, p, device, n, nnz, val ? trs_scalar_size(scalar) : 0, stream));
  if (val) TRS_TRY(trs_gpu_transpose_values(to->val, val, to->entry, nnz, scalar, stream));
  return trs_device_wait(stream); /* the host's arrays have been read */
}

trs_status trs_gpu_transpose(trs_transposed *result, trs_device *device, int64_t n, int64_t nnz,
                             trs_scalar scalar, const int64_t *ptr, const int32_t *idx,
                             const void *val, bool keep_entry, trs_stream stream) {
  pattern p = {0};
  *result = (trs_transposed){0};
  trs_status status = transpose(result, &p, device, n, nnz, scalar, ptr, idx, val, stream);
  TRS_FREE_ALL(p.ptr, p.new_ptr, p.entry, p.idx, p.new_idx);
  if (status || !keep_entry) {
    trs_device_free(device, result->entry, stream);
    result->entry = NULL;
  }
  if (status) {
    trs_device_free(device, result->ptr, stream);
    trs_device_free(device, result->idx, stream);
    trs_device_free(device, result->val, stream);
    *result = (trs_transposed){0};
  }
  return status;
}
