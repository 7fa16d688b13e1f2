/* rearrange.cu - converts the caller's arrays in device memory to the library's widths and base,
 * sorts and merges them, or copies one triangle of them. */
#include "matrix/rearrange.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "device/gpu.cuh"
#include "matrix/position.cuh"

namespace {

constexpr int BLOCK = 256;

int blocks_for(int64_t count) {
  int64_t blocks = (count + BLOCK - 1) / BLOCK;
  return static_cast<int>(blocks < 1 ? 1 : blocks > 65536 ? 65536 : blocks);
}

__device__ int64_t first_item() { return int64_t(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ int64_t stride() { return int64_t(gridDim.x) * blockDim.x; }

/* ---- Widths and base. ---- */

template <class From>
__global__ void take_ptr(int64_t *own, const From *ptr, int64_t count, int64_t base) {
  for (int64_t i = first_item(); i < count; i += stride()) own[i] = int64_t(ptr[i]) - base;
}

template <class From>
__global__ void take_idx(int32_t *own, const From *idx, int64_t count, int64_t base) {
  for (int64_t p = first_item(); p < count; p += stride()) {
    int64_t index = int64_t(idx[p]) - base;
    own[p] = index < 0 || index > INT32_MAX ? -1 : int32_t(index);
  }
}

/* ---- Order: entries sorted by (vector, index); entries of equal keys are merged. ---- */

using key_type = unsigned long long;

/* A warp per vector. */
__global__ void make_keys(trs_device_arrays a, key_type *key, int64_t *entry) {
  for (int64_t i = first_item() / 32; i < a.n; i += stride() / 32)
    for (int64_t p = a.ptr[i] + threadIdx.x % 32; p < a.ptr[i + 1]; p += 32) {
      key[p] = key_type(i) * key_type(a.other) + key_type(a.idx[p]);
      entry[p] = p;
    }
}

/* place[p] = 1 if entry p is the first of its key; place[nnz] = 0. */
__global__ void mark_firsts(int64_t nnz, const key_type *key, int64_t *place) {
  for (int64_t p = first_item(); p <= nnz; p += stride())
    place[p] = p < nnz && (p == 0 || key[p] != key[p - 1]);
}

/* place: after the scan, the number of first entries before each entry. */
__global__ void put_firsts(trs_device_arrays a, const key_type *key, const int64_t *place,
                           trs_rearranged made) {
  for (int64_t p = first_item(); p < a.nnz; p += stride())
    if (place[p + 1] > place[p]) {
      made.idx[place[p]] = int32_t(key[p] % key_type(a.other));
      made.source_ptr[place[p]] = p;
    }
  for (int64_t i = first_item(); i <= a.n; i += stride()) made.ptr[i] = place[a.ptr[i]];
  if (first_item() == 0) made.source_ptr[place[a.nnz]] = a.nnz;
}

int bits_of(key_type most) {
  int bits = 1;
  while (bits < 64 && most >> bits) bits++;
  return bits;
}

struct order_work {
  key_type *key, *sorted;
  int64_t *entry, *place;
  void *memory;
  size_t sort_bytes, scan_bytes;
};

trs_status allocate(order_work *w, trs_rearranged *made, trs_device *device,
                    const trs_device_arrays &a, int bits) {
  TRS_TRY(trs_device_check(cub::DeviceRadixSort::SortPairs(nullptr, w->sort_bytes, w->key, w->key,
                                                           w->entry, w->entry, a.nnz, 0, bits),
                           "sorting"));
  TRS_TRY(trs_device_check(
      cub::DeviceScan::ExclusiveSum(nullptr, w->scan_bytes, w->place, w->place, a.nnz + 1),
      "adding up"));
  size_t bytes = w->sort_bytes > w->scan_bytes ? w->sort_bytes : w->scan_bytes;
  TRS_TRY(trs_device_alloc(device, &w->memory, static_cast<int64_t>(bytes), 1, nullptr));
  TRS_TRY(TRS_DEVICE_ALLOC(device, &w->key, a.nnz, nullptr));
  TRS_TRY(TRS_DEVICE_ALLOC(device, &w->sorted, a.nnz, nullptr));
  TRS_TRY(TRS_DEVICE_ALLOC(device, &w->entry, a.nnz, nullptr));
  TRS_TRY(TRS_DEVICE_ALLOC(device, &w->place, a.nnz + 1, nullptr));
  TRS_TRY(TRS_DEVICE_ALLOC(device, &made->ptr, a.n + 1, nullptr));
  TRS_TRY(TRS_DEVICE_ALLOC(device, &made->idx, a.nnz, nullptr));
  TRS_TRY(TRS_DEVICE_ALLOC(device, &made->source_ptr, a.nnz + 1, nullptr));
  return TRS_DEVICE_ALLOC(device, &made->source, a.nnz, nullptr);
}

trs_status order(order_work *w, trs_rearranged *made, const trs_device_arrays &a, int bits) {
  make_keys<<<blocks_for(a.n * 32), BLOCK>>>(a, w->key, w->entry);
  TRS_TRY(
      trs_device_check(cub::DeviceRadixSort::SortPairs(w->memory, w->sort_bytes, w->key, w->sorted,
                                                       w->entry, made->source, a.nnz, 0, bits),
                       "sorting"));
  mark_firsts<<<blocks_for(a.nnz + 1), BLOCK>>>(a.nnz, w->sorted, w->place);
  TRS_TRY(trs_device_check(
      cub::DeviceScan::ExclusiveSum(w->memory, w->scan_bytes, w->place, w->place, a.nnz + 1),
      "adding up"));
  put_firsts<<<blocks_for(a.nnz > a.n ? a.nnz : a.n + 1), BLOCK>>>(a, w->sorted, w->place, *made);
  TRS_TRY(trs_device_check(cudaGetLastError(), "putting a matrix in order"));
  TRS_TRY(trs_device_copy(&made->nnz, w->place + a.nnz, sizeof made->nnz, nullptr));
  return trs_device_wait(nullptr);
}

/* ---- Cut. ---- */

struct range {
  int64_t begin, end;
};

__device__ range kept(const trs_device_arrays &a, bool prefix, int64_t i) {
  int64_t at = trs::diagonal_position(a, i, a.ptr[i], a.ptr[i + 1]);
  if (!prefix) return {at, a.ptr[i + 1]};
  return {a.ptr[i], at + (at < a.ptr[i + 1] && a.idx[at] == i)};
}

__global__ void count_kept(trs_device_arrays a, bool prefix, int64_t *count) {
  for (int64_t i = first_item(); i <= a.n; i += stride()) {
    range r = i < a.n ? kept(a, prefix, i) : range{0, 0};
    count[i] = r.end - r.begin;
  }
}

/* A warp per vector. */
__global__ void copy_kept(trs_device_arrays a, bool prefix, trs_rearranged made) {
  for (int64_t i = first_item() / 32; i < a.n; i += stride() / 32) {
    range r = kept(a, prefix, i);
    for (int64_t p = r.begin + threadIdx.x % 32; p < r.end; p += 32) {
      int64_t at = made.ptr[i] + p - r.begin;
      made.idx[at] = a.idx[p];
      made.source[at] = p;
    }
  }
}

trs_status find_ptr(trs_rearranged *made, trs_device *device, const trs_device_arrays &a,
                    bool prefix) {
  void *memory = nullptr;
  size_t bytes = 0;
  TRS_TRY(TRS_DEVICE_ALLOC(device, &made->ptr, a.n + 1, nullptr));
  count_kept<<<blocks_for(a.n + 1), BLOCK>>>(a, prefix, made->ptr);
  TRS_TRY(trs_device_check(
      cub::DeviceScan::ExclusiveSum(nullptr, bytes, made->ptr, made->ptr, a.n + 1), "adding up"));
  TRS_TRY(trs_device_alloc(device, &memory, static_cast<int64_t>(bytes), 1, nullptr));
  trs_status status = trs_device_check(
      cub::DeviceScan::ExclusiveSum(memory, bytes, made->ptr, made->ptr, a.n + 1), "adding up");
  trs_device_free(device, memory, nullptr);
  if (!status) status = trs_device_copy(&made->nnz, made->ptr + a.n, sizeof made->nnz, nullptr);
  return status ? status : trs_device_wait(nullptr);
}

/* ---- Values: one thread per entry; an element is one or two numbers. ---- */

template <class R, int PARTS>
__global__ void collect(R *val, int64_t nnz, const int64_t *source_ptr, const int64_t *source,
                        const R *from) {
  for (int64_t p = first_item(); p < nnz; p += stride()) {
    int64_t begin = source_ptr ? source_ptr[p] : p, end = source_ptr ? source_ptr[p + 1] : p + 1;
    R sum[PARTS] = {};
    for (int64_t q = begin; q < end; q++)
      for (int k = 0; k < PARTS; k++) sum[k] += from[PARTS * source[q] + k];
    for (int k = 0; k < PARTS; k++) val[PARTS * p + k] = sum[k];
  }
}

template <class R, int PARTS>
void launch_collect(void *val, int64_t nnz, const int64_t *source_ptr, const int64_t *source,
                    const void *from, cudaStream_t stream) {
  collect<R, PARTS><<<blocks_for(nnz), BLOCK, 0, stream>>>(static_cast<R *>(val), nnz, source_ptr,
                                                           source, static_cast<const R *>(from));
}

}  // namespace

extern "C" trs_status trs_launch_take_ptr(int64_t *own, int indexing, const void *ptr, int64_t n) {
  int64_t base = indexing & TRS_BASE1 ? 1 : 0;
  if (indexing & TRS_PTR32)
    take_ptr<<<blocks_for(n + 1), BLOCK>>>(own, static_cast<const int32_t *>(ptr), n + 1, base);
  else
    take_ptr<<<blocks_for(n + 1), BLOCK>>>(own, static_cast<const int64_t *>(ptr), n + 1, base);
  return trs_device_check(cudaGetLastError(), "converting ptr");
}

extern "C" trs_status trs_launch_take_idx(int32_t *own, int indexing, const void *idx,
                                          int64_t nnz) {
  int64_t base = indexing & TRS_BASE1 ? 1 : 0;
  if (indexing & TRS_IDX64)
    take_idx<<<blocks_for(nnz), BLOCK>>>(own, static_cast<const int64_t *>(idx), nnz, base);
  else
    take_idx<<<blocks_for(nnz), BLOCK>>>(own, static_cast<const int32_t *>(idx), nnz, base);
  return trs_device_check(cudaGetLastError(), "converting idx");
}

extern "C" trs_status trs_device_order(trs_rearranged *made, trs_device *device,
                                       const trs_device_arrays *arrays) {
  order_work w = {};
  *made = trs_rearranged{};
  int bits = bits_of(key_type(arrays->n) * key_type(arrays->other));
  trs_status status = allocate(&w, made, device, *arrays, bits);
  if (!status) status = order(&w, made, *arrays, bits);
  void *done[] = {w.memory, w.key, w.sorted, w.entry, w.place};
  for (void *pointer : done) trs_device_free(device, pointer, nullptr);
  return status;
}

extern "C" trs_status trs_device_cut(trs_rearranged *made, trs_device *device,
                                     const trs_device_arrays *arrays, int prefix) {
  *made = trs_rearranged{};
  TRS_TRY(find_ptr(made, device, *arrays, prefix));
  TRS_TRY(TRS_DEVICE_ALLOC(device, &made->idx, made->nnz, nullptr));
  TRS_TRY(TRS_DEVICE_ALLOC(device, &made->source, made->nnz, nullptr));
  copy_kept<<<blocks_for(arrays->n * 32), BLOCK>>>(*arrays, prefix, *made);
  return trs_device_check(cudaGetLastError(), "cutting a triangle");
}

extern "C" trs_status trs_launch_collect(void *val, trs_scalar scalar, int64_t nnz,
                                         const int64_t *source_ptr, const int64_t *source,
                                         const void *from, trs_stream stream) {
  auto s = static_cast<cudaStream_t>(stream);
  switch (scalar) {
    case TRS_FLOAT:
      launch_collect<float, 1>(val, nnz, source_ptr, source, from, s);
      break;
    case TRS_DOUBLE:
      launch_collect<double, 1>(val, nnz, source_ptr, source, from, s);
      break;
    case TRS_SCOMPLEX:
      launch_collect<float, 2>(val, nnz, source_ptr, source, from, s);
      break;
    default:
      launch_collect<double, 2>(val, nnz, source_ptr, source, from, s);
  }
  return trs_device_check(cudaGetLastError(), "collecting values");
}
