/* syncfree_csc.cu - L17 Algorithm 3: one warp per component, one right-hand side.
 *
 * Blocks of warps take neighbouring components in the order of the sweep.  Products for components
 * of the same block go through its scratchpad (the paper's s_left_sum and s_in_degree, here
 * pad.left_sum and pad.met), the others through global memory.  The paper divides its critical
 * section between the two memories in the same way.  The order of memory is that of syncfree.cuh,
 * and waits have a limit.  Loops are not unrolled: registers bound the number of components in
 * work, and columns are short.
 *
 * O(nnz) work; the time is that of the longest chain of dependencies. */
#include "L17/syncfree.cuh"

namespace {

using namespace trs;
using namespace trs::syncfree;

enum { MOST_WARPS = 32, MOST_THREADS = 1024 }; /* per block */

template <class S>
struct scratchpad {
  S left_sum[MOST_WARPS];
  int met[MOST_WARPS];
};

/* The left sum of component i, once the component has met its in-degree.  Run by one lane. */
template <class S, bool SCRATCHPAD>
__device__ S await_left_sum(const trs_syncfree &s, const scratchpad<S> &pad, int64_t i) {
  const int warp = warp_of_thread();
  const int in_degree = __ldg(s.in_degree + i);
  const volatile int *pad_met = &pad.met[warp];
  int near = 0, far = 0;
  wait patience(s.fault);
  do {
    if (SCRATCHPAD) near = *pad_met;
    far = load_relaxed(&s.met[i]);
  } while (near + far != in_degree && patience.goes_on(i));
  S sum = zero<S>();
  if (far > 0) {
    fence_device();
    sum = load_sum(static_cast<const S *>(s.left_sum) + i);
  } else if (near > 0) {
    fence_block();
  }
  return near > 0 ? sum + pad.left_sum[warp] : sum;
}

/* x[i], in every lane.  The first lane stores it. */
template <class S, bool SCRATCHPAD>
__device__ S solve_component(const trs_syncfree &s, const trs_gpu_columns &rhs,
                             const scratchpad<S> &pad, int64_t i) {
  S xi = zero<S>();
  if (lane_of_thread() == 0) {
    const S b = static_cast<const S *>(rhs.b)[i * rhs.b_row];
    const S inverse = inverse_diagonal<S>(s, i);
    xi = (b - await_left_sum<S, SCRATCHPAD>(s, pad, i)) * inverse;
    static_cast<S *>(rhs.x)[i * rhs.x_row] = xi;
  }
  return shuffle(xi, 0);
}

/* Adds the products of a round of entries.  True if some went to global memory. */
template <class S, bool SCRATCHPAD>
__device__ bool add_products(const trs_syncfree &s, scratchpad<S> &pad, const column &c,
                             int64_t from, int64_t to, int64_t block_first, S xi) {
  const S *val = static_cast<const S *>(s.val);
  S *left_sum = static_cast<S *>(s.left_sum);
  bool far = false;
#pragma unroll 1
  for (int64_t q = from + lane_of_thread(); q < to; q += WARP) {
    const int64_t row = __ldg(s.idx + c.at(q)), in_block = in_sweep(s, row) - block_first;
    const S product = read_constant(val + c.at(q)) * xi;
    if (SCRATCHPAD && in_block < warps_of_block()) {
      add_to(&pad.left_sum[in_block], product);
    } else {
      add_to(&left_sum[row], product);
      far = true;
    }
  }
  return far;
}

template <class S, bool SCRATCHPAD>
__device__ void count_met(const trs_syncfree &s, scratchpad<S> &pad, const column &c, int64_t from,
                          int64_t to, int64_t block_first) {
#pragma unroll 1
  for (int64_t q = from + lane_of_thread(); q < to; q += WARP) {
    const int64_t row = __ldg(s.idx + c.at(q)), in_block = in_sweep(s, row) - block_first;
    if (SCRATCHPAD && in_block < warps_of_block())
      atomicAdd(&pad.met[in_block], 1);
    else
      atomicAdd(&s.met[row], 1);
  }
}

template <class S, bool SCRATCHPAD>
__global__ void __launch_bounds__(MOST_THREADS) sweep(trs_syncfree s, trs_gpu_columns rhs) {
  __shared__ scratchpad<S> pad;
  if (threadIdx.x < MOST_WARPS) {
    pad.left_sum[threadIdx.x] = zero<S>();
    pad.met[threadIdx.x] = 0;
  }
  const int64_t block_first = take_ticket(s.ticket) * warps_of_block(); /* a barrier also for pad */
  const int64_t k = block_first + warp_of_thread();
  if (k >= s.n) return;
  const int64_t i = in_sweep(s, k);
  const column c = column_of(s, i);
  const S xi = solve_component<S, SCRATCHPAD>(s, rhs, pad, i);
  for (int64_t from = 0; from < c.count; from += ROUND) {
    const int64_t to = min(from + ROUND, c.count);
    const bool far = add_products<S, SCRATCHPAD>(s, pad, c, from, to, block_first, xi);
    if (any_lane(far))
      fence_device();
    else
      fence_block();
    count_met<S, SCRATCHPAD>(s, pad, c, from, to, block_first);
  }
}

}  // namespace

extern "C" trs_status trs_syncfree_sweep(const trs_syncfree *s, const trs_gpu_columns *rhs,
                                         int warps, bool use_scratchpad, trs_stream stream) {
  const auto warp = static_cast<int>(warp_of_device());
  if (warps > MOST_THREADS / warp) warps = MOST_THREADS / warp;
  const auto blocks = static_cast<unsigned>((s->n + warps - 1) / warps);
  const auto threads = static_cast<unsigned>(warps * warp);
  const auto to = static_cast<cudaStream_t>(stream);
  const auto launch = [&](auto scalar) {
    using S = decltype(scalar);
    const auto kernel = use_scratchpad ? sweep<S, true> : sweep<S, false>;
    kernel<<<blocks, threads, 0, to>>>(*s, *rhs);
    return cudaGetLastError();
  };
  return trs_device_check(by_scalar(s->scalar, launch), "syncfree-csc");
}
