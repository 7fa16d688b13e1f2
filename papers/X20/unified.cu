/* unified.cu - X20 Algorithm 2: one warp per component, sums and counts in managed memory.
 *
 * Products for components of other members go to s.left_sum and s.in_degree, which all members
 * share as managed memory, by atomics of system scope: a page migrates to the member that accesses
 * it.  Products for the member's own components go to d.left_sum and d.in_degree in its own memory.
 *
 * O(entries) work, n (4 + width scalars) bytes of managed memory, and as many per member; the wait
 * of a component includes the page faults of its counts. */
#include "X20/unified.h"

#include "X20/component.cuh"

namespace {

using namespace trs;
using namespace trs::component;

/* Run by every lane: then no lane has to tell the others. */
__device__ void await_in_degree(const trs_unified &s, int64_t i) {
  group_wait patience(s.part);
  while (load_relaxed<true>(&s.s_in_degree[i]) != load_relaxed(&s.d_in_degree[i]) &&
         patience.goes_on(i)) {
  }
  (void)load_acquire<true>(&s.s_in_degree[i]);
  (void)load_acquire(&s.d_in_degree[i]);
}

template <class S>
__device__ void update_one(const trs_unified &s, const column &c, S xi) {
  products_of_one(s.part, c, xi, [&](int64_t row, S product) {
    if (is_near(s.part, row)) {
      add_to(static_cast<S *>(s.d_left_sum) + row, product);
      fence_device();
      atomicAdd(&s.d_in_degree[row], 1);
    } else {
      add_to<true>(static_cast<S *>(s.s_left_sum) + row, product);
      fence_system();
      atomicSub_system(&s.s_in_degree[row], 1);
    }
  });
}

template <class S>
__device__ void update(const trs_unified &s, const column &c, const S *x, S xi) {
  const trs_component_launch &part = s.part;
  S *shared = static_cast<S *>(s.s_left_sum), *near = static_cast<S *>(s.d_left_sum);
  if (part.width == 1) return update_one(s, c, xi);
  for (int64_t from = 0; from < c.count; from += ROUND) {
    const int64_t to = min(from + ROUND, c.count);
    bool far = false;
    products(part, c, from, to, xi, x, [&](int64_t row, int r, S product) {
      if (is_near(part, row)) {
        add_to(near + row * part.width + r, product);
      } else {
        add_to<true>(shared + row * part.width + r, product);
        far = true;
      }
    });
    far = __any_sync(ALL_LANES, far);
    __syncwarp(); /* several lanes add an entry's sums, one lane counts it */
    if (far)
      fence_system();
    else
      fence_device();
    for (int64_t q = from + lane_of_thread(); q < to; q += WARP) {
      const int64_t row = __ldg(part.idx + c.at(q));
      if (is_near(part, row))
        atomicAdd(&s.d_in_degree[row], 1);
      else
        atomicSub_system(&s.s_in_degree[row], 1);
    }
  }
}

template <class S>
__global__ void __launch_bounds__(WARPS *WARP) sweep(const __grid_constant__ trs_unified s) {
  for (;;) {
    const int64_t i = take_component(s.part);
    if (i < 0) return;
    const column c = column_of(s.part, i);
    const S inverse = inverse_diagonal<S>(s.part, i), b = b_of<S>(s.part, i);
    await_in_degree(s, i);
    const S xi = solve_from(s.part, i, b, inverse, s.s_left_sum, s.d_left_sum);
    update<S>(s, c, row_of<S>(s.part, i), xi);
  }
}

constexpr auto kernel_of = [](auto scalar) { return sweep<decltype(scalar)>; };

}  // namespace

extern "C" trs_status trs_unified_sweep(const trs_unified *s, trs_stream stream) {
  return launch_sweep(*s, stream, "unified", kernel_of);
}

extern "C" trs_status trs_unified_load(trs_scalar scalar) {
  return load_sweep(scalar, "unified", kernel_of);
}
