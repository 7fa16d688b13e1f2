/* transpose.cu - rows to columns by a stable radix sort of the column indices (CUB).  The entries
 * of a column keep the order of their rows, so the result is sorted and always the same. */
#include "solve/cuda/transpose.h"

#include <cub/device/device_radix_sort.cuh>

#include "device/kernel.cuh"

namespace {

enum { BLOCK = 256 };

int blocks_for(int64_t count) {
  int64_t blocks = (count + BLOCK - 1) / BLOCK;
  return static_cast<int>(blocks < 1 ? 1 : blocks > 65536 ? 65536 : blocks);
}

/* One warp per row. */
__global__ void number_entries(int64_t n, const int64_t *ptr, int32_t *row, int64_t *entry) {
  int64_t warp = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  for (int64_t i = warp; i < n; i += int64_t(gridDim.x) * blockDim.x / 32)
    for (int64_t p = ptr[i] + threadIdx.x % 32; p < ptr[i + 1]; p += 32) {
      row[p] = static_cast<int32_t>(i);
      entry[p] = p;
    }
}

/* new_ptr[j] is the first position whose key is at least j. */
__global__ void find_vectors(int64_t n, int64_t nnz, const int32_t *key, int64_t *new_ptr) {
  for (int64_t p = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; p <= nnz;
       p += int64_t(gridDim.x) * blockDim.x) {
    int64_t from = p == 0 ? 0 : int64_t(key[p - 1]) + 1, to = p == nnz ? n : key[p];
    for (int64_t j = from; j <= to; j++) new_ptr[j] = p;
  }
}

__global__ void gather_indices(int64_t nnz, const int64_t *entry, const int32_t *row,
                               int32_t *new_idx) {
  for (int64_t p = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; p < nnz;
       p += int64_t(gridDim.x) * blockDim.x)
    new_idx[p] = row[entry[p]];
}

int bits_of(int64_t n) {
  int bits = 1;
  while ((int64_t(1) << bits) < n) bits++;
  return bits;
}

struct workspace {
  int32_t *row, *key;
  int64_t *entry, *sorted;
  void *sort;
  size_t sort_bytes;
};

trs_status allocate(workspace *w, trs_transposed *result, trs_device *device, int64_t n,
                    int64_t nnz, size_t value_size, trs_stream stream) {
  TRS_TRY(trs_device_check(
      cub::DeviceRadixSort::SortPairs(nullptr, w->sort_bytes, w->key, w->key, w->entry, w->sorted,
                                      nnz, 0, bits_of(n), static_cast<cudaStream_t>(stream)),
      "sorting"));
  TRS_TRY(TRS_DEVICE_ALLOC(device, &w->row, nnz, stream));
  TRS_TRY(TRS_DEVICE_ALLOC(device, &w->key, nnz, stream));
  TRS_TRY(TRS_DEVICE_ALLOC(device, &w->entry, nnz, stream));
  TRS_TRY(TRS_DEVICE_ALLOC(device, &w->sorted, nnz, stream));
  TRS_TRY(trs_device_alloc(device, &w->sort, static_cast<int64_t>(w->sort_bytes), 1, stream));
  TRS_TRY(TRS_DEVICE_ALLOC(device, &result->ptr, n + 1, stream));
  TRS_TRY(TRS_DEVICE_ALLOC(device, &result->idx, nnz, stream));
  if (value_size) TRS_TRY(trs_device_alloc(device, &result->val, nnz, value_size, stream));
  return TRS_SUCCESS;
}

trs_status fill(workspace *w, trs_transposed *result, int64_t n, int64_t nnz, trs_scalar scalar,
                const int64_t *ptr, const int32_t *idx, const void *val, cudaStream_t stream) {
  number_entries<<<blocks_for(n * 32), BLOCK, 0, stream>>>(n, ptr, w->row, w->entry);
  TRS_TRY(trs_device_check(
      cub::DeviceRadixSort::SortPairs(w->sort, w->sort_bytes, idx, w->key, w->entry, w->sorted, nnz,
                                      0, bits_of(n), stream),
      "sorting"));
  find_vectors<<<blocks_for(nnz + 1), BLOCK, 0, stream>>>(n, nnz, w->key, result->ptr);
  gather_indices<<<blocks_for(nnz), BLOCK, 0, stream>>>(nnz, w->sorted, w->row, result->idx);
  TRS_TRY(trs_device_check(cudaGetLastError(), "transposing"));
  if (!val) return TRS_SUCCESS;
  return trs_gpu_transpose_values(result->val, val, w->sorted, nnz, scalar, stream);
}

}  // namespace

extern "C" trs_status trs_gpu_transpose(trs_transposed *result, trs_device *device, int64_t n,
                                        int64_t nnz, trs_scalar scalar, const int64_t *ptr,
                                        const int32_t *idx, const void *val, bool keep_entry,
                                        trs_stream stream) {
  workspace w = {};
  *result = trs_transposed{};
  size_t size = val ? size_t(trs::size_of_scalar(scalar)) : 0;
  trs_status status = allocate(&w, result, device, n, nnz, size, stream);
  if (!status)
    status = fill(&w, result, n, nnz, scalar, ptr, idx, val, static_cast<cudaStream_t>(stream));
  if (keep_entry && !status) {
    result->entry = w.sorted;
    w.sorted = nullptr;
  }
  void *done[] = {w.row, w.key, w.entry, w.sorted, w.sort};
  for (void *pointer : done) trs_device_free(device, pointer, stream);
  if (status) {
    trs_device_free(device, result->ptr, stream);
    trs_device_free(device, result->idx, stream);
    trs_device_free(device, result->val, stream);
    *result = trs_transposed{};
  }
  return status;
}
