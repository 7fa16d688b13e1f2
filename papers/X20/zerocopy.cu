/* zerocopy.cu - X20 Algorithm 3: one warp per component; remote memory is only read.
 *
 * Every member keeps the partial sums and counts from its own columns, for all components.  The
 * warp that solves a component reads them from all members, one lane per member.  It stops reading
 * a member whose count is complete, and adds the sums by shuffles.  Updates are atomics on the
 * member's own memory.
 *
 * O(entries) work, n (4 + width scalars) bytes of symmetric memory per member; a component waits
 * for the longest chain before it, and its warp polls each other member's memory until nothing more
 * can come from it. */
#include "X20/zerocopy.h"

#include "X20/component.cuh"

namespace {

using namespace trs;
using namespace trs::component;

/* Waits until no member has anything left to add to component i.  One lane per member. */
__device__ void await_in_degree(const trs_zerocopy &s, int64_t i) {
  const int member = lane_of_thread();
  bool done = member >= s.part.members;
  const int32_t *in_degree = done ? nullptr : s.in_degree[member] + i;
  group_wait patience(s.part);
  for (;;) {
    if (!done) done = load_relaxed<true>(in_degree) == 0;
    if (__all_sync(ALL_LANES, done)) break;
    const bool goes_on = member != 0 || patience.goes_on(i);
    if (!__all_sync(ALL_LANES, goes_on)) break;
  }
  if (s.part.members > 1)
    fence_system();
  else
    fence_device();
  __syncwarp();
}

/* One right-hand side: each lane has the sum of one member.  Returns x[i], in every lane. */
template <class S>
__device__ S solve_one(const trs_zerocopy &s, int64_t i, S inverse) {
  const int member = lane_of_thread();
  S left_sum = zero<S>(), xi = zero<S>();
  if (member < s.part.members)
    left_sum = load_sum<true>(static_cast<const S *>(s.left_sum[member]) + i);
  left_sum = sum_of_lanes(left_sum);
  if (member == 0) {
    S *x = row_of<S>(s.part, i);
    xi = (*x - left_sum) * inverse;
    *x = xi;
  }
  return shuffle(xi, 0);
}

/* Several: one lane per right-hand side. */
template <class S>
__device__ void solve_row(const trs_zerocopy &s, int64_t i, S inverse) {
  S *x = row_of<S>(s.part, i);
  for (int64_t r = lane_of_thread(); r < s.part.width; r += WARP) {
    S left_sum = zero<S>();
    for (int m = 0; m < s.part.members; m++)
      left_sum =
          left_sum + load_sum<true>(static_cast<const S *>(s.left_sum[m]) + i * s.part.width + r);
    x[r * s.part.col] = (x[r * s.part.col] - left_sum) * inverse;
  }
  __syncwarp();
}

/* Adds the products of x[i] to this member's sums, then updates the counts. */
template <class S>
__device__ void update(const trs_zerocopy &s, const column &c, const S *x, S xi) {
  const trs_component_launch &part = s.part;
  S *left_sum = static_cast<S *>(s.left_sum[part.me]);
  int32_t *in_degree = s.in_degree[part.me];
  for (int64_t from = 0; from < c.count; from += ROUND) {
    const int64_t to = min(from + ROUND, c.count);
    bool far = false;
    products(part, c, from, to, xi, x, [&](int64_t row, int r, S product) {
      add_to(left_sum + row * part.width + r, product);
      far |= !in_task(part, row);
    });
    far = __any_sync(ALL_LANES, far);
    __syncwarp(); /* several lanes add an entry's sums, one lane counts it */
    if (far && part.members > 1)
      fence_system();
    else
      fence_device();
    for (int64_t q = from + lane_of_thread(); q < to; q += WARP)
      atomicSub_system(&in_degree[__ldg(part.idx + c.at(q))], 1);
  }
}

template <class S>
__global__ void __launch_bounds__(WARPS *WARP) sweep(const __grid_constant__ trs_zerocopy s) {
  for (;;) {
    const int64_t i = take_component(s.part);
    if (i < 0) return;
    const column c = column_of(s.part, i);
    const S inverse = inverse_diagonal<S>(s.part, i);
    S xi = zero<S>();
    await_in_degree(s, i);
    if (s.part.width == 1)
      xi = solve_one(s, i, inverse);
    else
      solve_row(s, i, inverse);
    update<S>(s, c, row_of<S>(s.part, i), xi);
  }
}

}  // namespace

extern "C" trs_status trs_zerocopy_sweep(const trs_zerocopy *s, trs_stream stream) {
  const auto to = static_cast<cudaStream_t>(stream);
  const auto launch = [&](auto scalar) {
    const auto kernel = sweep<decltype(scalar)>;
    kernel<<<blocks_for(kernel, s->part), WARPS * WARP, 0, to>>>(*s);
    return cudaGetLastError();
  };
  return trs_device_check(by_scalar(s->part.scalar, launch), "zerocopy");
}

extern "C" trs_status trs_zerocopy_load(trs_scalar scalar) {
  const auto load = [](auto s) { return load_kernel(sweep<decltype(s)>); };
  return trs_device_check(by_scalar(scalar, load), "zerocopy");
}
