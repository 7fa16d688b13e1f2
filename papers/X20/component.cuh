/* component.cuh - device functions that the kernels of X20's algorithms share.
 *
 * Memory order.  The paper's code has none; the authors' program has a fence between a sum and its
 * count.  Here too a warp adds a sum, passes a fence, and then counts it.  Who waits polls counts
 * by relaxed loads and loads the complete count once more, to acquire: the sums that it reads then
 * have all that was counted.  A fence after the wait would wait for all earlier stores of the warp.
 *
 * Scopes go by the member that reads, as in the paper's Figure 2: device scope for sums and counts
 * of a member's own components, system scope for counts of those of others.  With one right-hand
 * side each entry has its own fence, so that a column's first components begin before its last are
 * added.  With several, one fence serves a round of entries, and has system scope if any of them is
 * for another member.
 *
 * Tickets assign components to warps in the order of the sweep, and tasks run in order.  A warp
 * therefore waits only for a running warp, or for a task of another member that no wait can block.
 * Launches occupy at most their member's share of a GPU, so that all members on one GPU run. */
#ifndef TRS_X20_COMPONENT_CUH
#define TRS_X20_COMPONENT_CUH

#include "L17/syncfree.cuh"
#include "X20/component.h"

namespace trs::component {

using syncfree::column;
using syncfree::lane_of_thread;
using trs::WARP;

constexpr int WARPS = 8; /* of a block of threads */

/* Entries of a column per fence.  Several rounds let the first components of a long column start
 * early. */
constexpr int64_t ROUND = 256;

/* ---- Waits with a limit, like trs::wait; a wait that exceeds it is reported to every member. ----
 */

__device__ __noinline__ inline unsigned long long look_at_wait(const trs_component_launch &part,
                                                               int64_t i,
                                                               unsigned long long start) {
  trs_component_fault *mine = part.fault[part.me];
  const unsigned long long now = nanoseconds();
  if (load_relaxed<true>(&mine->told)) return 0;
  if (start == 0) return now;
  if (now - start < mine->limit) return start;
  const uint64_t told = uint64_t(part.me + 1) << 32 | uint64_t(i);
  for (int m = 0; m < part.members; m++)
    if (!load_relaxed<true>(&part.fault[m]->told)) store_relaxed<true>(&part.fault[m]->told, told);
  return 0;
}

class group_wait {
 public:
  __device__ explicit group_wait(const trs_component_launch &part) : part_(part) {}
  __device__ bool goes_on(int64_t i) {
    if ((++turns_ & 2047) != 0) return true;
    start_ = look_at_wait(part_, i, start_);
    return start_ != 0;
  }

 private:
  const trs_component_launch &part_;
  unsigned turns_ = 0;
  unsigned long long start_ = 0;
};

/* ---- Components and their columns. ---- */

/* The warp's next component of the sweep, or -1. */
__device__ inline int64_t take_component(const trs_component_launch &part) {
  uint32_t k = 0;
  if (lane_of_thread() == 0) k = atomicAdd(part.ticket, 1u);
  k = shuffle(k, 0);
  if (k >= part.end - part.begin) return -1;
  return part.lower ? part.begin + k : part.end - 1 - k;
}

__device__ inline int64_t local_of(const trs_component_launch &part, int64_t i) {
  return part.local + (i - part.begin);
}

__device__ inline bool in_task(const trs_component_launch &part, int64_t i) {
  return i >= part.begin && i < part.end;
}

/* The member that solves a component. */
__device__ inline int owner_of(const trs_component_launch &part, int64_t i) {
  if (part.members == 1 || in_task(part, i)) return part.me;
  const auto turn = static_cast<uint32_t>(part.lower ? i : part.n - 1 - i);
  return __ldg(part.owner + turn / static_cast<uint32_t>(part.task_size));
}

__device__ inline bool is_near(const trs_component_launch &part, int64_t i) {
  return owner_of(part, i) == part.me;
}

/* Off-diagonal entries of component i's column, from the diagonal outwards. */
__device__ inline column column_of(const trs_component_launch &part, int64_t i) {
  const int64_t own = local_of(part, i);
  const int64_t begin = __ldg(part.ptr + own), end = __ldg(part.ptr + own + 1);
  const int64_t stored =
      part.has_diagonal ||
      (begin < end && __ldg(part.idx + (part.lower ? begin : end - 1)) == int32_t(i));
  return {part.lower ? begin + stored : end - 1 - stored, end - begin - stored,
          part.lower ? 1 : -1};
}

template <class S>
__device__ inline S inverse_diagonal(const trs_component_launch &part, int64_t i) {
  if (part.unit) return one<S>();
  const int64_t own = local_of(part, i);
  const S *val = static_cast<const S *>(part.val);
  return reciprocal(
      read_constant(val + (part.lower ? __ldg(part.ptr + own) : __ldg(part.ptr + own + 1) - 1)));
}

template <class S>
__device__ inline S *row_of(const trs_component_launch &part, int64_t i) {
  return static_cast<S *>(part.x) + local_of(part, i) * part.row;
}

/* b[i] of one right-hand side, loaded before the wait; of several it is read after it. */
template <class S>
__device__ inline S b_of(const trs_component_launch &part, int64_t i) {
  return part.width == 1 ? *row_of<S>(part, i) : zero<S>();
}

/* x[i] of every right-hand side from two sums, one that other members add to and the member's own;
 * returns that of the first, in every lane.  b is that of b_of(). */
template <class S>
__device__ inline S solve_from(const trs_component_launch &part, int64_t i, S b, S inverse,
                               const void *shared, const void *own) {
  const S *s = static_cast<const S *>(shared) + i * part.width;
  const S *d = static_cast<const S *>(own) + i * part.width;
  S *x = row_of<S>(part, i), xi = zero<S>();
  if (part.width == 1) {
    xi = (b - (load_sum<true>(s) + load_sum(d))) * inverse;
    if (lane_of_thread() == 0) *x = xi;
    return xi;
  }
  for (int64_t r = lane_of_thread(); r < part.width; r += WARP) {
    const S left_sum = load_sum<true>(s + r) + load_sum(d + r);
    xi = (x[r * part.col] - left_sum) * inverse;
    x[r * part.col] = xi;
  }
  __syncwarp();
  return shuffle(xi, 0);
}

/* Calls use(row, product) for the entries of a column and one right-hand side. */
template <class S, class F>
__device__ inline void products_of_one(const trs_component_launch &part, const column &c, S xi,
                                       F use) {
  const S *val = static_cast<const S *>(part.val);
#pragma unroll 1
  for (int64_t q = lane_of_thread(); q < c.count; q += WARP)
    use(int64_t(__ldg(part.idx + c.at(q))), read_constant(val + c.at(q)) * xi);
}

/* Calls use(row, r, product) for the entries from .. to - 1 of a column and every right-hand side.
 * The right-hand sides of an entry go to adjacent lanes.  xi is x of the only right-hand side; x of
 * several is read from memory, where this warp has just stored it. */
template <class S, class F>
__device__ inline void products(const trs_component_launch &part, const column &c, int64_t from,
                                int64_t to, S xi, const S *x, F use) {
  const S *val = static_cast<const S *>(part.val);
  const int width = int(part.width), count = int(to - from) * width;
#pragma unroll 1
  for (int t = lane_of_thread(); t < count; t += WARP) {
    const int q = width == 1 ? t : t / width, r = width == 1 ? 0 : t % width;
    const int64_t at = c.at(from + q);
    const S factor = width == 1 ? xi : x[r * part.col];
    use(int64_t(__ldg(part.idx + at)), r, read_constant(val + at) * factor);
  }
}

/* ---- Launches. ---- */

/* As many blocks as the components need, but at most as many as run concurrently. */
template <class K>
inline unsigned blocks_for(K kernel, const trs_component_launch &part) {
  int each = 1;
  if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, WARPS * WARP, 0) != cudaSuccess)
    (void)cudaGetLastError();
  const int64_t need = (part.end - part.begin + WARPS - 1) / WARPS;
  const int64_t room = int64_t(each < 1 ? 1 : each) * part.blocks;
  return static_cast<unsigned>(need < room ? need : room);
}

/* A member's sweep; kernel_of(S()) is its kernel for scalars S. */
template <class A, class F>
inline trs_status launch_sweep(const A &args, trs_stream stream, const char *name, F kernel_of) {
  const auto launch = [&](auto scalar) {
    const auto kernel = kernel_of(scalar);
    kernel<<<blocks_for(kernel, args.part), WARPS * WARP, 0, static_cast<cudaStream_t>(stream)>>>(
        args);
    return cudaGetLastError();
  };
  return trs_device_check(by_scalar(args.part.scalar, launch), name);
}

/* Loads the kernel, since loading it may wait for those of other members that run. */
template <class F>
inline trs_status load_sweep(trs_scalar scalar, const char *name, F kernel_of) {
  const auto load = [&](auto s) {
    cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, kernel_of(s));
  };
  return trs_device_check(by_scalar(scalar, load), name);
}

}  // namespace trs::component

#endif
