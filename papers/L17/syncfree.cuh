/* syncfree.cuh - what the kernels of both synchronization-free methods share.
 *
 * Order of memory: the paper's listings have none, its authors' program has a fence between an
 * entry's sum and its count.  Here too a sum comes before a fence, and the fence before the count
 * in met.  Every lane of a waiting warp polls met with relaxed loads and loads it once more, to
 * acquire, when it is complete: this load sees the last count, and the sums read after it have all
 * that was counted.  Polls that acquire take longer, and a fence would wait for the warp's stores.
 * Each entry has its own fence: a column's first components begin before its last are added. */
#ifndef TRS_L17_SYNCFREE_CUH
#define TRS_L17_SYNCFREE_CUH

#include "device/lanes.cuh"
#include "sums.cuh"
#include "L17/syncfree.h"

namespace trs::syncfree {

__device__ inline int lane_of_thread() { return static_cast<int>(threadIdx.x % WARP); }
__device__ inline int warp_of_thread() { return static_cast<int>(threadIdx.x / WARP); }
__device__ inline int warps_of_block() { return static_cast<int>(blockDim.x / WARP); }

/* The next number in the order in which blocks begin.  Also a barrier of the block.  Components
 * are dealt by ticket, not by blockIdx, since blocks may begin in any order.  With blockIdx a
 * block could wait for one that never gets a place on the device; by ticket it waits only for
 * blocks that have begun. */
__device__ inline int64_t take_ticket(uint32_t *counter) {
  __shared__ uint32_t ticket;
  if (threadIdx.x == 0) ticket = atomicAdd(counter, 1u);
  __syncthreads();
  return ticket;
}

/* The same in the order in which warps begin, without a barrier. */
__device__ inline int64_t take_ticket_of_warp(uint32_t *counter) {
  uint32_t ticket = 0;
  if (lane_of_thread() == 0) ticket = atomicAdd(counter, 1u);
  return part_of_lane(ticket, 0);
}

/* The k-th component of the sweep, or the place of component k in the sweep. */
__device__ inline int64_t in_sweep(const trs_syncfree &s, int64_t k) {
  return s.lower ? k : s.n - 1 - k;
}

__device__ inline bool stores_diagonal(const trs_syncfree &s, int64_t j) {
  if (s.has_diagonal) return true;
  const int64_t begin = __ldg(s.ptr + j), end = __ldg(s.ptr + j + 1);
  return begin < end && __ldg(s.idx + (s.lower ? begin : end - 1)) == j;
}

/* Off-diagonal entries of a column, from the diagonal outwards.  Entry q is at first + q step. */
struct column {
  int64_t first, count;
  int step;
  __device__ int64_t at(int64_t q) const { return first + q * step; }
};

__device__ inline column column_of(const trs_syncfree &s, int64_t j) {
  const int64_t begin = __ldg(s.ptr + j), end = __ldg(s.ptr + j + 1);
  const int64_t stored = stores_diagonal(s, j);
  return {s.lower ? begin + stored : end - 1 - stored, end - begin - stored, s.lower ? 1 : -1};
}

template <class S>
__device__ inline S inverse_diagonal(const trs_syncfree &s, int64_t j) {
  if (s.unit) return one<S>();
  const S *val = static_cast<const S *>(s.val);
  return reciprocal(read_constant(val + (s.lower ? __ldg(s.ptr + j) : __ldg(s.ptr + j + 1) - 1)));
}

}  // namespace trs::syncfree

#endif
