/* syncfree_csc.cu - L17 Algorithm 3: one warp per component, one right-hand side.
 *
 * Blocks of warps take neighbouring components in the order of the sweep.  With a scratchpad,
 * products for components of the same block go through its scratchpad (the paper's s_left_sum and
 * s_in_degree, here pad.left_sum and pad.met), the others through global memory.  The paper divides
 * its critical section between the two memories in the same way.  The order of memory is that of
 * syncfree.cuh, and waits have a limit.  Loops are not unrolled: registers bound the number of
 * components in work, and columns are short.
 *
 * O(nnz) work; the time is that of the longest chain of dependencies. */
#include "L17/syncfree.cuh"

namespace {

using namespace trs;
using namespace trs::syncfree;

enum { MOST_WARPS = 32, MOST_THREADS = 1024 }; /* per block */

/* Blocks of MOST_THREADS on a multiprocessor.  Waiting warps need places more than registers: two
 * blocks leave 32 registers, and 64 warps a place.  A complex number would not fit. */
template <class S>
constexpr int resident = element<S>::is_complex ? 1 : 2;

template <class S>
struct scratchpad {
  S left_sum[MOST_WARPS];
  int met[MOST_WARPS];
};

/* The left sum of component i, once the component has met its in-degree.  Run by every lane, each
 * with loads of its own: then no lane has to tell the others, and no fence is needed. */
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
  if (far > 0) (void)load_acquire(&s.met[i]);
  const S sum = far > 0 ? load_sum(static_cast<const S *>(s.left_sum) + i) : zero<S>();
  if (near == 0) return sum;
  fence_block();
  return sum + pad.left_sum[warp];
}

/* Adds the product of one entry, then counts it. */
template <class S, bool SCRATCHPAD>
__device__ void add_product(const trs_syncfree &s, scratchpad<S> &pad, int64_t row,
                            int64_t block_first, S product) {
  const int64_t in_block = in_sweep(s, row) - block_first;
  if (SCRATCHPAD && in_block < warps_of_block()) {
    add_to(&pad.left_sum[in_block], product);
    fence_block();
    atomicAdd(&pad.met[in_block], 1);
  } else {
    add_to(static_cast<S *>(s.left_sum) + row, product);
    fence_device();
    atomicAdd(&s.met[row], 1);
  }
}

/* The warp's component of the sweep; block_first is the first of its block, whose components are
 * neighbours only where the block has a scratchpad. */
template <class S, bool SCRATCHPAD>
__device__ int64_t take_component(const trs_syncfree &s, scratchpad<S> &pad, int64_t &block_first) {
  if constexpr (!SCRATCHPAD) return take_ticket_of_warp(s.ticket);
  if (threadIdx.x < MOST_WARPS) {
    pad.left_sum[threadIdx.x] = zero<S>();
    pad.met[threadIdx.x] = 0;
  }
  block_first = take_ticket(s.ticket) * warps_of_block(); /* a barrier also for pad */
  return block_first + warp_of_thread();
}

template <class S, bool SCRATCHPAD>
__global__ void __launch_bounds__(MOST_THREADS, resident<S>)
    sweep(trs_syncfree s, trs_gpu_columns rhs) {
  __shared__ scratchpad<S> pad;
  int64_t block_first = 0;
  const int64_t k = take_component<S, SCRATCHPAD>(s, pad, block_first);
  if (k >= s.n) return;
  const int64_t i = in_sweep(s, k);
  const column c = column_of(s, i);
  const S b = static_cast<const S *>(rhs.b)[i * rhs.b_row];
  const S inverse = inverse_diagonal<S>(s, i);
  const S xi = (b - await_left_sum<S, SCRATCHPAD>(s, pad, i)) * inverse;
#pragma unroll 1
  for (int64_t q = lane_of_thread(); q < c.count; q += WARP) {
    const S a = read_constant(static_cast<const S *>(s.val) + c.at(q));
    add_product<S, SCRATCHPAD>(s, pad, __ldg(s.idx + c.at(q)), block_first, a * xi);
  }
  if (lane_of_thread() == 0) static_cast<S *>(rhs.x)[i * rhs.x_row] = xi;
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
