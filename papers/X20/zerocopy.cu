/* zerocopy.cu - X20 Algorithm 3: one warp per component; remote memory is only read.
 *
 * Every member keeps the partial sums and counts from its own columns, for all components.  The
 * warp that solves a component reads them from all members, one lane per member.  It stops reading
 * a member whose count is complete (the paper's r.in_degree), and adds the sums by shuffles (its
 * warp reduction).  Updates are atomics on the member's own memory; the scope of a count is that of
 * the member that reads it.
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
  if (member < s.part.members) (void)load_acquire<true>(in_degree);
  __syncwarp(); /* with several right-hand sides other lanes read the member's sums, too */
}

/* x[i] of every right-hand side; returns that of the first, in every lane.  As many lanes as there
 * are members, or up to twice as many, read the sums of one right-hand side and add them by
 * shuffles; a warp has room for several right-hand sides at a time.  b is that of b_of(). */
template <class S>
__device__ S solve_row(const trs_zerocopy &s, int64_t i, S b, S inverse) {
  const int width = int(s.part.width), lane = lane_of_thread();
  const int member = lane % s.lanes, together = WARP / s.lanes;
  S *x = row_of<S>(s.part, i), xi = zero<S>();
  for (int first = 0; first < width; first += together) {
    const int r = first + lane / s.lanes;
    S left_sum = zero<S>();
    if (member < s.part.members && r < width)
      left_sum = load_sum<true>(static_cast<const S *>(s.left_sum[member]) + i * width + r);
    for (int step = s.lanes / 2; step > 0; step /= 2)
      left_sum = left_sum + shuffle_xor(left_sum, step);
    if (member != 0 || r >= width) continue;
    const S value = ((width == 1 ? b : x[r * s.part.col]) - left_sum) * inverse;
    x[r * s.part.col] = value;
    if (r == 0) xi = value;
  }
  __syncwarp();
  return shuffle(xi, 0);
}

template <class S>
__device__ void update_one(const trs_zerocopy &s, const column &c, S xi) {
  S *left_sum = static_cast<S *>(s.left_sum[s.part.me]);
  int32_t *in_degree = s.in_degree[s.part.me];
  products_of_one(s.part, c, xi, [&](int64_t row, S product) {
    add_to(left_sum + row, product);
    if (is_near(s.part, row)) {
      fence_device();
      atomicSub(&in_degree[row], 1);
    } else {
      fence_system();
      atomicSub_system(&in_degree[row], 1);
    }
  });
}

/* Adds the products of x[i] to this member's sums, then updates the counts. */
template <class S>
__device__ void update(const trs_zerocopy &s, const column &c, const S *x, S xi) {
  const trs_component_launch &part = s.part;
  S *left_sum = static_cast<S *>(s.left_sum[part.me]);
  int32_t *in_degree = s.in_degree[part.me];
  if (part.width == 1) return update_one(s, c, xi);
  for (int64_t from = 0; from < c.count; from += ROUND) {
    const int64_t to = min(from + ROUND, c.count);
    bool far = false;
    products(part, c, from, to, xi, x, [&](int64_t row, int r, S product) {
      add_to(left_sum + row * part.width + r, product);
      far |= !is_near(part, row);
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
        atomicSub(&in_degree[row], 1);
      else
        atomicSub_system(&in_degree[row], 1);
    }
  }
}

template <class S>
__global__ void __launch_bounds__(WARPS *WARP) sweep(const __grid_constant__ trs_zerocopy s) {
  for (;;) {
    const int64_t i = take_component(s.part);
    if (i < 0) return;
    const column c = column_of(s.part, i);
    const S inverse = inverse_diagonal<S>(s.part, i), b = b_of<S>(s.part, i);
    await_in_degree(s, i);
    const S xi = solve_row(s, i, b, inverse);
    update<S>(s, c, row_of<S>(s.part, i), xi);
  }
}

constexpr auto kernel_of = [](auto scalar) { return sweep<decltype(scalar)>; };

}  // namespace

extern "C" trs_status trs_zerocopy_sweep(const trs_zerocopy *s, trs_stream stream) {
  return launch_sweep(*s, stream, "zerocopy", kernel_of);
}

extern "C" trs_status trs_zerocopy_load(trs_scalar scalar) {
  return load_sweep(scalar, "zerocopy", kernel_of);
}
