/* first.cu - a deal on one GPU: the bounds of slabs, the owners of slices, the members that need
 * each row.  One pass over the pattern, another for its number, and some over the rows. */
#include "solve/cuda/engine/analysis.cuh"
#include "solve/multigpu/first_kernels.h"
#include "solve/multigpu/push.h"

namespace {

using namespace trs;

enum { THREADS = ANALYSIS_THREADS, ROW_WEIGHT = 4 /* as in deal.c */ };

/* The place in the sweep of the caller's system, of so many rows, of a row of b and x. */
__device__ int64_t place_of(const trs_first_joint &j, int64_t rows, int32_t of) {
  const int32_t number = trs_row_number(of);
  return j.lower ? number : rows - 1 - number;
}

/* The rows of y that belong to rows before row i of the sweep of the caller's system. */
__device__ int32_t y_before(const trs_first_joint &j, int64_t rows, int64_t i) {
  return first_not(0, j.ny, [&](int32_t y) { return place_of(j, rows, j.of[y]) < i; });
}

/* The weight of the first k rows of the sweep; of a joint system, of all rows before x of row k,
 * its own y among them. */
__device__ int64_t weight_before(const pattern_view &t, const trs_first_joint &j, int64_t rows,
                                 int64_t k) {
  if (j.of) {
    const int64_t ys = k < rows ? y_before(j, rows, k + 1) : j.ny;
    return t.ptr[j.ny + k] - t.ptr[j.ny] + t.ptr[ys] - t.ptr[0] + ROW_WEIGHT * (k + ys);
  }
  return (t.lower ? t.ptr[k] - t.ptr[0] : t.ptr[t.n] - t.ptr[t.n - k]) + ROW_WEIGHT * k;
}

__global__ void find_bounds(int32_t *bound, pattern_view t, trs_first_joint j, int32_t members) {
  const int32_t m = int32_t(threadIdx.x);
  const int64_t rows = t.n - j.ny, total = weight_before(t, j, rows, rows);
  if (m > members) return;
  bound[m] = int32_t(first_not(m == members ? rows : 0, m == 0 ? 0 : rows, [&](int64_t k) {
    return weight_before(t, j, rows, k) < total * m / members;
  }));
}

__global__ void __launch_bounds__(THREADS)
    name_slabs(uint8_t *slab, const int32_t *bound, int64_t n, trs_first_joint j, int32_t members) {
  __shared__ int32_t limit[TRS_MOST_MEMBERS + 1];
  if (int32_t(threadIdx.x) <= members) limit[threadIdx.x] = bound[threadIdx.x];
  __syncthreads();
  const int64_t k = this_thread();
  if (k >= n) return;
  const int64_t at = j.of ? place_of(j, n - j.ny, j.of[k]) : k;
  int32_t m = 0;
  while (m + 1 < members && at >= limit[m + 1]) m++;
  slab[k] = uint8_t(m);
}

__global__ void __launch_bounds__(THREADS)
    find_owners(int32_t *owner, trs_slices s, pattern_view t, const uint8_t *slab) {
  const int64_t k = this_thread();
  if (k < s.nslices) owner[k] = slab[t.mirror(s.row[s.slice[k].first])];
}

/* A warp per slice. */
__global__ void __launch_bounds__(THREADS)
    spread_owners(uint8_t *member, const int32_t *owner, trs_slices s, pattern_view t) {
  const int64_t k = this_thread() / WARP;
  if (k >= s.nslices || trs_slice_is_part(&s.slice[k])) return;
  const int32_t first = s.slice[k].first, end = first + s.slice[k].rows;
  for (int32_t p = first + this_lane(); p < end; p += WARP)
    member[t.mirror(s.row[p])] = uint8_t(owner[k]);
}

/* LANES threads per row. */
template <int LANES>
__global__ void __launch_bounds__(THREADS)
    mark_needs(uint32_t *mask, pattern_view t, const uint8_t *member, const int32_t *position) {
  const int64_t k = this_thread() / LANES;
  if (k >= t.n) return;
  const row_view row = t.row(k);
  const uint8_t own = member[k];
  for (int32_t e = int32_t(threadIdx.x) % LANES; e < row.count; e += LANES) {
    const int32_t place = t.column(row.origin, e);
    if (member[place] == own) continue;
    uint32_t *to = mask + position[t.mirror(place)];
    if (!(load_relaxed(to) >> own & 1)) atomicOr(to, 1u << own);
  }
}

/* A warp per group. */
__global__ void __launch_bounds__(THREADS)
    sum_needs(uint32_t *group_mask, unsigned long long *pushes, const uint32_t *mask, int64_t n) {
  const int64_t group = this_thread() / WARP, first = group * TRS_PUSH_ROWS;
  if (first >= n) return;
  uint32_t all = 0, count = 0;
  for (int k = this_lane(); k < TRS_PUSH_ROWS && first + k < n; k += WARP) {
    const uint32_t own = mask[first + k];
    all |= own;
    count += uint32_t(__popc(own));
  }
  all = __reduce_or_sync(~0u, all);
  count = __reduce_add_sync(~0u, count);
  if (this_lane() > 0) return;
  group_mask[group] = all;
  if (count > 0) atomicAdd(pushes, (unsigned long long)count);
}

__global__ void __launch_bounds__(THREADS)
    find_rows(int32_t *row, const int32_t *named, int64_t n, trs_first_joint j) {
  const int64_t p = this_thread();
  if (p >= n) return;
  const int64_t place = place_of(j, n - j.ny, named[p]);
  row[p] = int32_t(trs_row_has_x(named[p]) ? j.ny + place : y_before(j, n - j.ny, place));
}

/* Mixes all bits (Steele, Lea and Flood 2014: SplitMix). */
__device__ uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

template <class T>
__global__ void __launch_bounds__(THREADS)
    add_hash(unsigned long long *hash, const T *element, int64_t count, uint64_t salt) {
  const int64_t threads = int64_t(gridDim.x) * THREADS;
  uint64_t sum = 0;
  for (int64_t k = this_thread(); k < count; k += threads)
    sum += mixed(mixed(uint64_t(k) ^ salt) + uint64_t(element[k]));
  for (int d = WARP / 2; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (this_lane() == 0) atomicAdd(hash, (unsigned long long)sum);
}

template <class T>
void launch_hash(uint64_t *hash, const T *element, int64_t count, uint64_t salt, cudaStream_t s) {
  const int64_t all = blocks_for(count);
  const unsigned blocks = unsigned(all < 1 ? 1 : all < 1024 ? all : 1024);
  add_hash<<<blocks, THREADS, 0, s>>>(reinterpret_cast<unsigned long long *>(hash), element, count,
                                      salt);
}

trs_status launched() { return trs_device_check(cudaGetLastError(), "dealing slices"); }

}  // namespace

extern "C" trs_status trs_first_find_slabs(int32_t *bound, uint8_t *slab, const trs_system *system,
                                           trs_first_joint joint, int32_t members,
                                           trs_stream stream) {
  auto s = static_cast<cudaStream_t>(stream);
  find_bounds<<<1, TRS_MOST_MEMBERS + 1, 0, s>>>(bound, pattern_view(*system), joint, members);
  name_slabs<<<blocks_for(system->n), THREADS, 0, s>>>(slab, bound, system->n, joint, members);
  return launched();
}

extern "C" trs_status trs_first_mark_needs(uint32_t *mask, const trs_system *system,
                                           const uint8_t *member, const int32_t *position,
                                           trs_stream stream) {
  const pattern_view t(*system);
  const int lanes = lanes_for(entries_a_row(*system));
  const unsigned blocks = blocks_for(system->n * lanes);
  auto s = static_cast<cudaStream_t>(stream);
  if (lanes == 1) mark_needs<1><<<blocks, THREADS, 0, s>>>(mask, t, member, position);
  if (lanes == 4) mark_needs<4><<<blocks, THREADS, 0, s>>>(mask, t, member, position);
  if (lanes == 8) mark_needs<8><<<blocks, THREADS, 0, s>>>(mask, t, member, position);
  if (lanes == WARP) mark_needs<WARP><<<blocks, THREADS, 0, s>>>(mask, t, member, position);
  return launched();
}

extern "C" trs_status trs_first_sum_needs(uint32_t *group_mask, uint64_t *pushes,
                                          const uint32_t *mask, int64_t n, trs_stream stream) {
  const int64_t groups = (n + TRS_PUSH_ROWS - 1) / TRS_PUSH_ROWS;
  sum_needs<<<blocks_for(groups * WARP), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
      group_mask, reinterpret_cast<unsigned long long *>(pushes), mask, n);
  return launched();
}

extern "C" trs_status trs_first_find_owners(int32_t *owner, const trs_slices *slices,
                                            const trs_system *system, const uint8_t *slab,
                                            trs_stream stream) {
  find_owners<<<blocks_for(slices->nslices), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
      owner, *slices, pattern_view(*system), slab);
  return launched();
}

extern "C" trs_status trs_first_spread_owners(uint8_t *member, const int32_t *owner,
                                              const trs_slices *slices, const trs_system *system,
                                              trs_stream stream) {
  spread_owners<<<blocks_for(int64_t(slices->nslices) * WARP), THREADS, 0,
                  static_cast<cudaStream_t>(stream)>>>(member, owner, *slices,
                                                       pattern_view(*system));
  return launched();
}

extern "C" trs_status trs_first_find_rows(int32_t *row, const int32_t *named, int64_t n,
                                          trs_first_joint joint, trs_stream stream) {
  find_rows<<<blocks_for(n), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(row, named, n, joint);
  return launched();
}

extern "C" trs_status trs_first_hash(uint64_t *hash, const trs_system *system,
                                     trs_first_joint joint, trs_stream stream) {
  auto s = static_cast<cudaStream_t>(stream);
  launch_hash(hash, system->ptr, system->n + 1, 0, s);
  launch_hash(hash, system->idx, system->nnz, uint64_t(1) << 62, s);
  launch_hash(hash, joint.of, system->n, uint64_t(1) << 63, s);
  return launched();
}
