/* get_update_put.cu - X20's Get-Update-Put (IV-B), the approach that the paper names naive: one
 * warp per component; a member reads what another member holds, updates it, and writes it back.
 *
 * Counts and sums lie at the member that solves the component.  Others add to them by gets and puts
 * instead of atomics, which lose updates where two do so at once.  The paper names what makes it
 * right: a fence per get, quiet after puts, and that one PE operates on shared data while others
 * wait.  Here the warp that updates takes a lock: of the shared data of that member, and before it
 * of the attempts of its own member, so that at most one warp per member asks the other GPU.  It
 * keeps the lock for all entries of a round that belong to the member.
 *
 * O(entries) work; updates of one member's data follow one another, each with two times a get, a
 * put and a fence across the link. */
#include "X20/get_update_put.h"

#include "X20/component.cuh"
#include "device/ready.cuh"

namespace {

using namespace trs;
using namespace trs::component;

__device__ void await_in_degree(const trs_get_update_put &s, int64_t i) {
  if (lane_of_thread() == 0) {
    const int32_t *shared = s.s_in_degree[s.part.me] + i, *own = s.d_in_degree + i;
    group_wait patience(s.part);
    while ((load_relaxed<true>(shared) != 0 || load_relaxed(own) != 0) && patience.goes_on(i)) {
    }
    fence_system();
  }
  __syncwarp();
}

/* ---- The lock.  Only lane 0 waits; the warp's other lanes follow it. ---- */

template <bool SYSTEM>
__device__ bool take(uint32_t *lock, group_wait &patience, int64_t i) {
  constexpr unsigned PAUSE = 200; /* nanoseconds */
  for (;;) {
    const uint32_t taken = SYSTEM ? atomicCAS_system(lock, 0u, 1u) : atomicCAS(lock, 0u, 1u);
    if (!taken) return true;
    if (!patience.goes_on(i)) return false;
    __nanosleep(PAUSE);
  }
}

/* False: a wait passed its limit, and the solve has failed. */
__device__ bool take_data(const trs_get_update_put &s, int member, int64_t i) {
  bool taken = true;
  if (lane_of_thread() == 0) {
    group_wait patience(s.part);
    taken = take<false>(&s.turn[member], patience, i) && take<true>(s.lock[member], patience, i);
    fence_system(); /* before the gets */
  }
  __syncwarp();
  return __shfl_sync(ALL_LANES, taken, 0);
}

__device__ void give_data(const trs_get_update_put &s, int member) {
  __syncwarp();
  if (lane_of_thread() != 0) return;
  fence_system(); /* quiet: the puts are complete */
  store_relaxed<true>(s.lock[member], 0u);
  fence_device();
  store_relaxed(&s.turn[member], 0u);
}

/* ---- Updates ---- */

/* Entries from .. to - 1 of a column that belong to another member. */
template <class S>
__device__ bool put(const trs_get_update_put &s, const column &c, int64_t from, int64_t to, S xi,
                    const S *x, int member, int64_t i) {
  const trs_component_launch &part = s.part;
  S *left_sum = static_cast<S *>(s.s_left_sum[member]);
  int32_t *in_degree = s.s_in_degree[member];
  if (!take_data(s, member, i)) return false;
  products(part, c, from, to, xi, x, [&](int64_t row, int r, S product) {
    if (owner_of(part, row) != member) return;
    S *sum = left_sum + row * part.width + r;
    publish<true>(sum, load_sum<true>(sum) + product);
  });
  __syncwarp(); /* several lanes put an entry's sums, one lane counts it */
  fence_system();
  for (int64_t q = from + lane_of_thread(); q < to; q += WARP) {
    const int64_t row = __ldg(part.idx + c.at(q));
    if (owner_of(part, row) != member) continue;
    store_relaxed<true>(&in_degree[row], load_relaxed<true>(&in_degree[row]) - 1);
  }
  give_data(s, member);
  return true;
}

/* Adds the products for the member's own components; returns, to each lane, a bit for every other
 * member that its products are for. */
template <class S>
__device__ uint32_t add_own(const trs_get_update_put &s, const column &c, int64_t from, int64_t to,
                            S xi, const S *x) {
  const trs_component_launch &part = s.part;
  S *left_sum = static_cast<S *>(s.d_left_sum);
  uint32_t others = 0;
  products(part, c, from, to, xi, x, [&](int64_t row, int r, S product) {
    const int member = owner_of(part, row);
    if (member == part.me)
      add_to(left_sum + row * part.width + r, product);
    else
      others |= 1u << member;
  });
  __syncwarp();
  fence_device();
  for (int64_t q = from + lane_of_thread(); q < to; q += WARP) {
    const int64_t row = __ldg(part.idx + c.at(q));
    if (is_near(part, row)) atomicSub(&s.d_in_degree[row], 1);
  }
  return others;
}

template <class S>
__device__ void update(const trs_get_update_put &s, const column &c, const S *x, S xi, int64_t i) {
  for (int64_t from = 0; from < c.count; from += ROUND) {
    const int64_t to = min(from + ROUND, c.count);
    const uint32_t others = add_own(s, c, from, to, xi, x);
    for (int member = 0; member < s.part.members; member++) {
      const bool wanted = (others >> member & 1) != 0;
      if (!__any_sync(ALL_LANES, wanted)) continue;
      if (!put(s, c, from, to, xi, x, member, i)) return;
    }
  }
}

template <class S>
__global__ void __launch_bounds__(WARPS *WARP) sweep(const __grid_constant__ trs_get_update_put s) {
  for (;;) {
    const int64_t i = take_component(s.part);
    if (i < 0) return;
    const column c = column_of(s.part, i);
    const S inverse = inverse_diagonal<S>(s.part, i), b = b_of<S>(s.part, i);
    await_in_degree(s, i);
    const S xi = solve_from(s.part, i, b, inverse, s.s_left_sum[s.part.me], s.d_left_sum);
    update<S>(s, c, row_of<S>(s.part, i), xi, i);
  }
}

__global__ void __launch_bounds__(WARPS *WARP)
    gather(const __grid_constant__ trs_get_update_put_counts c) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = c.part.begin + int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < c.part.end;
       i += step) {
    int32_t count = 0;
    for (int m = 0; m < c.part.members; m++)
      if (m != c.part.me) count += load_relaxed<true>(c.counted[m] + i);
    c.others[i] = count;
  }
}

constexpr auto kernel_of = [](auto scalar) { return sweep<decltype(scalar)>; };

}  // namespace

extern "C" trs_status trs_get_update_put_gather(const trs_get_update_put_counts *c,
                                                trs_stream stream) {
  gather<<<blocks_for(gather, c->part), WARPS * WARP, 0, static_cast<cudaStream_t>(stream)>>>(*c);
  return trs_device_check(cudaGetLastError(), "gathering in-degrees");
}

extern "C" trs_status trs_get_update_put_sweep(const trs_get_update_put *s, trs_stream stream) {
  return launch_sweep(*s, stream, "get-update-put", kernel_of);
}

extern "C" trs_status trs_get_update_put_load(trs_scalar scalar) {
  return load_sweep(scalar, "get-update-put", kernel_of);
}
