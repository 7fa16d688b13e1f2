/* analysis_grid.cuh - steps of a whole grid in one kernel: a barrier over all blocks of threads,
 * shares of lists, and sums along lists.  All blocks run at once, by a cooperative launch or as
 * one cluster.
 *
 * A scan of a list is two steps: each block sums its share, and behind the barrier adds the sums
 * of the blocks before it.  Blocks keep the same shares throughout. */
#ifndef TRS_SOLVE_CUDA_ENGINE_ANALYSIS_GRID_CUH
#define TRS_SOLVE_CUDA_ENGINE_ANALYSIS_GRID_CUH

#include "device/lanes.cuh"
#include "solve/cuda/engine/analysis.cuh"

namespace trs {

enum { GRID_THREADS = 512, GRID_WARPS = GRID_THREADS / WARP };

__device__ inline int this_warp() { return int(threadIdx.x) / WARP; }
__device__ inline int64_t grid_thread() { return int64_t(blockIdx.x) * GRID_THREADS + threadIdx.x; }
__device__ inline int64_t grid_threads() { return int64_t(gridDim.x) * GRID_THREADS; }

/* ---- The barrier.  False: a wait passed its limit, and the kernel has to end. ---- */

/* Over one cluster.  Writes before the barrier are visible behind it. */
__device__ inline void wait_for_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
#endif
}

class grid_barrier {
 public:
  __device__ grid_barrier(analysis_state *state, bool cluster) : state_(state), cluster_(cluster) {}
  __device__ bool wait_for_all() {
    bool goes_on = true;
    if (cluster_ && gridDim.x > 1) {
      wait_for_cluster();
      return true;
    }
    __syncthreads();
    if (threadIdx.x == 0 && gridDim.x > 1) {
      wait w(&state_->fault);
      all_ += gridDim.x;
      __threadfence();
      atomicAdd(&state_->arrived, 1u);
      while (load_relaxed(&state_->arrived) < all_ && (goes_on = w.goes_on(-1))) {
      }
      __threadfence();
    }
    return __syncthreads_and(goes_on) != 0;
  }

 private:
  analysis_state *state_;
  bool cluster_;
  uint32_t all_ = 0; /* arrivals, this step's included */
};

/* ---- Shares. ---- */

struct share {
  int64_t first, end;
};

/* Share number `part` of `parts`: whole warps of elements, but for the last. */
__device__ inline share share_of(int64_t count, int64_t part, int64_t parts) {
  int64_t each = (count + parts - 1) / parts;
  each = (each + WARP - 1) / WARP * WARP;
  int64_t first = min(count, each * part);
  return {first, min(count, first + each)};
}
/* The share of a warp.  The shares of a block's warps are neighbours. */
__device__ inline share share_of_warp(int64_t count) {
  return share_of(count, int64_t(blockIdx.x) * GRID_WARPS + this_warp(),
                  int64_t(gridDim.x) * GRID_WARPS);
}
__device__ inline share share_of_block(int64_t count) {
  return share_of(count, blockIdx.x, gridDim.x);
}

/* ---- Sums of numbers, or of structs with an operator +. ---- */

/* Sum of the lanes up to this one. */
template <class T>
__device__ inline T sum_upto(T value) {
#pragma unroll
  for (int d = 1; d < WARP; d *= 2) {
    T other = shuffle_up(value, d);
    if (this_lane() >= d) value = other + value;
  }
  return value;
}

template <class T>
struct sums {
  T before, all;
};

/* By each warp: the sum of the elements before `at` and of all `count` elements. */
template <class T>
__device__ inline sums<T> sum_before(const T *element, int count, int at) {
  sums<T> s = {};
  for (int k = this_lane(); k < count; k += WARP) {
    T value = element[k];
    s.all = s.all + value;
    if (k < at) s.before = s.before + value;
  }
  return {shuffle(sum_upto(s.before), WARP - 1), shuffle(sum_upto(s.all), WARP - 1)};
}

/* Over the threads of a block: the sum before this thread, and of all.  All threads call. */
template <class T>
__device__ inline sums<T> sum_block(T value) {
  __shared__ T warps[GRID_WARPS];
  T upto = sum_upto(value), before = shuffle_up(upto, 1);
  __syncthreads(); /* so that the former contents have been read */
  if (this_lane() == WARP - 1) warps[this_warp()] = upto;
  __syncthreads();
  sums<T> s = sum_before(warps, GRID_WARPS, this_warp());
  if (this_lane() > 0) s.before = s.before + before;
  return s;
}

}  // namespace trs

#endif
