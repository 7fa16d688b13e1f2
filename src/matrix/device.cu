/* device.cu - checks a matrix in device memory: the order of its entries, and the number on each
 * side of the diagonal.  All threads together read the entries once; then one thread per vector
 * finds the diagonal by bisection.  O(nnz + n log longest) work, 12 bytes read per pattern
 * entry. */
#include "device/lanes.cuh"
#include "matrix/look.h"
#include "matrix/pivot.cuh"
#include "matrix/position.cuh"

namespace {

constexpr int BLOCK = 256;
constexpr int64_t MOST_BLOCKS = 2048;
static_assert(MOST_BLOCKS * sizeof(int64_t) <= TRS_STAGE_BYTES, "a number of each block fits");

int blocks_for(int64_t count) {
  int64_t blocks = (count + BLOCK - 1) / BLOCK;
  return static_cast<int>(blocks < 1 ? 1 : blocks > MOST_BLOCKS ? MOST_BLOCKS : blocks);
}

__device__ int64_t first_item() { return int64_t(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ int64_t stride() { return int64_t(gridDim.x) * blockDim.x; }

/* ---- One atomic per warp; every lane of the warp calls. ---- */

__device__ int64_t sum_of_warp(int64_t value) {
  for (int step = 16; step > 0; step /= 2) value += trs::shuffle_down(value, step);
  return value;
}

__device__ void add(int64_t *total, int64_t value) {
  value = sum_of_warp(value);
  if (threadIdx.x % 32 == 0 && value)
    atomicAdd(reinterpret_cast<unsigned long long *>(total),
              static_cast<unsigned long long>(value));
}

__device__ void lower(int64_t *least, int64_t value) {
  for (int step = 16; step > 0; step /= 2) {
    int64_t other = trs::shuffle_down(value, step);
    value = other < value ? other : value;
  }
  if (threadIdx.x % 32 == 0 && value != INT64_MAX)
    atomicMin(reinterpret_cast<long long *>(least), static_cast<long long>(value));
}

__device__ void raise(int64_t *most, int64_t value) {
  for (int step = 16; step > 0; step /= 2) {
    int64_t other = trs::shuffle_down(value, step);
    value = other > value ? other : value;
  }
  if (threadIdx.x % 32 == 0 && value)
    atomicMax(reinterpret_cast<long long *>(most), static_cast<long long>(value));
}

/* ---- Kernels.  Blocks consist of whole warps, and all threads reach the end. ---- */

__global__ void look_at_ptr(trs_look *found, trs_device_arrays A) {
  int64_t falls = 0, longest = 0;
  for (int64_t i = first_item(); i < A.n; i += stride()) {
    int64_t length = A.ptr[i + 1] - A.ptr[i];
    falls += length < 0;
    longest = length > longest ? length : longest;
  }
  if (first_item() == 0) {
    found->first = A.ptr[0];
    found->last = A.ptr[A.n];
  }
  add(&found->falls, falls);
  raise(&found->sides.longest, longest);
}

__global__ void look_at_indices(trs_look *found, trs_device_arrays A) {
  int64_t outside = 0, descents = 0;
  for (int64_t p = first_item(); p < A.nnz; p += stride()) {
    int32_t index = A.idx[p];
    outside += index < 0 || index >= A.other;
    if (p > 0) descents += index <= A.idx[p - 1];
  }
  add(&found->outside, outside);
  add(&found->descents, descents);
}

__device__ void count_vector(const trs_device_arrays &A, int64_t i, trs_sides *s) {
  int64_t begin = A.ptr[i], end = A.ptr[i + 1], at = end;
  if (begin < end) {
    at = trs::diagonal_position(A, i, begin, end);
    if (begin > 0) s->descents += A.idx[begin] <= A.idx[begin - 1];
  }
  int64_t has = at < end && A.idx[at] == i;
  s->before += at - begin;
  s->after += end - at - has;
  s->diagonal += has;
  if (at > begin && i < s->first_before) s->first_before = i;
  if (end > at + has && i < s->first_after) s->first_after = i;
  if (!has && i < s->missing) s->missing = i;
}

/* Requires that the previous kernel found ptr to stay within idx. */
__global__ void look_at_vectors(trs_look *found, trs_device_arrays A) {
  if (found->falls || found->first != 0 || found->last != A.nnz)
    return; /* the same in all threads */
  trs_sides s = {};
  s.first_before = s.first_after = s.missing = INT64_MAX;
  for (int64_t i = first_item(); i < A.n; i += stride()) count_vector(A, i, &s);
  add(&found->sides.before, s.before);
  add(&found->sides.after, s.after);
  add(&found->sides.diagonal, s.diagonal);
  add(&found->sides.descents, s.descents);
  lower(&found->sides.first_before, s.first_before);
  lower(&found->sides.first_after, s.first_after);
  lower(&found->sides.missing, s.missing);
}

/* worst: one value per block, in host memory. */
template <class R, int PARTS>
__global__ void look_at_diagonal(int64_t *worst, int64_t n, bool prefix, const int64_t *ptr,
                                 const R *val) {
  __shared__ int64_t worst_here;
  int64_t least = INT64_MAX;
  if (threadIdx.x == 0) worst_here = INT64_MAX;
  __syncthreads();
  for (int64_t i = first_item(); i < n; i += stride()) {
    if (ptr[i] == ptr[i + 1]) continue;
    int64_t at = prefix ? ptr[i + 1] - 1 : ptr[i];
    trs_pivot pivot =
        trs::pivot_of(val[PARTS * at], PARTS == 2 ? val[PARTS * at + PARTS - 1] : R(0));
    int64_t key = TRS_PIVOT_GOOD * i + pivot;
    if (pivot != TRS_PIVOT_GOOD && key < least) least = key;
  }
  lower(&worst_here, least);
  __syncthreads();
  if (threadIdx.x == 0) worst[blockIdx.x] = worst_here;
}

template <class R>
void launch_diagonal(int64_t *worst, int blocks, int64_t n, bool prefix, int parts,
                     const int64_t *ptr, const void *val, cudaStream_t stream) {
  auto *values = static_cast<const R *>(val);
  if (parts == 1)
    look_at_diagonal<R, 1><<<blocks, BLOCK, 0, stream>>>(worst, n, prefix, ptr, values);
  else
    look_at_diagonal<R, 2><<<blocks, BLOCK, 0, stream>>>(worst, n, prefix, ptr, values);
}

}  // namespace

extern "C" trs_status trs_launch_look(trs_look *found, const trs_device_arrays *arrays,
                                      trs_stream stream) {
  auto s = static_cast<cudaStream_t>(stream);
  look_at_ptr<<<blocks_for(arrays->n), BLOCK, 0, s>>>(found, *arrays);
  look_at_indices<<<blocks_for(arrays->nnz), BLOCK, 0, s>>>(found, *arrays);
  look_at_vectors<<<blocks_for(arrays->n), BLOCK, 0, s>>>(found, *arrays);
  return trs_device_check(cudaGetLastError(), "checking a matrix");
}

extern "C" trs_status trs_launch_diagonal(int64_t *worst, int *count, int64_t n, int prefix,
                                          int wide, int parts, const int64_t *ptr, const void *val,
                                          trs_stream stream) {
  auto s = static_cast<cudaStream_t>(stream);
  *count = blocks_for(n);
  if (wide)
    launch_diagonal<double>(worst, *count, n, prefix, parts, ptr, val, s);
  else
    launch_diagonal<float>(worst, *count, n, prefix, parts, ptr, val, s);
  return trs_device_check(cudaGetLastError(), "checking a diagonal");
}
