/* push.cu - stores x of boundary rows directly into the memory of the members that read it.
 *
 * Memory order.  A block of threads stores to other members, passes a fence of system scope, and
 * then counts itself as arrived; the last block passes a fence and raises the word of each
 * receiver.  The thread that sees the word passes a fence, and later kernels in the stream read x.
 * To avoid overwriting data still in use, a member is sent x of a step only when it has begun that
 * step: its earlier rows are then done, and no row of a colour reads another of that colour.
 *
 * A member waits only for launches that precede its own in the order of steps, so a circular wait
 * is impossible.  Waits have a limit; the member that exceeds it signals all others. */
#include "relax/cuda/push.cuh"

namespace {

using namespace trs;

constexpr int THREADS = 256, MOST_BLOCKS = 64;

/* One thread per member. */
__global__ void begin_step(const __grid_constant__ trs_relax_step t) {
  const unsigned m = threadIdx.x;
  await_kernel_before();
  if (int(m) >= t.members) return;
  fence_system();
  if (t.senders >> m & 1) store_relaxed<true>(&t.signs[m]->begun[t.me], t.step);
  if (t.needed[m]) wait_until(t.signs, t.me, t.members, &t.signs[t.me]->pushed[m], t.needed[m]);
  fence_system();
}

template <class X>
__global__ void __launch_bounds__(THREADS)
    push_rows(const __grid_constant__ trs_relax_step t, const __grid_constant__ trs_relax_push p) {
  const unsigned m = threadIdx.x;
  await_kernel_before();
  if (int(m) < t.members && (t.receivers >> m & 1))
    wait_until(t.signs, t.me, t.members, &t.signs[t.me]->begun[m], t.step);
  fence_system();
  __syncthreads();
  const int64_t each = (p.end - p.begin) * p.block, step = int64_t(gridDim.x) * THREADS;
  const X *own = static_cast<const X *>(p.x[t.me]);
  for (int64_t e = int64_t(blockIdx.x) * THREADS + m; e < each * p.nrhs; e += step) {
    const int64_t c = p.nrhs == 1 ? 0 : e / each, rest = e - c * each, row = rest / p.block;
    const int64_t from = p.begin + row, i = rest - row * p.block;
    const X x = own[c * p.stride[t.me] + from * p.pitch + i];
    for (int32_t k = p.ptr[from]; k < p.ptr[from + 1]; k++) {
      const int to = p.member[k];
      static_cast<X *>(p.x[to])[c * p.stride[to] + int64_t(p.to[k]) * p.pitch + i] = x;
    }
  }
  __shared__ bool last;
  fence_system();
  __syncthreads();
  trs_relax_signs *mine = t.signs[t.me];
  if (m == 0) {
    last = atomicAdd(&mine->arrived, 1u) == gridDim.x - 1;
    if (last) mine->arrived = 0;
    fence_system();
  }
  __syncthreads();
  if (last && int(m) < t.members && (t.receivers >> m & 1))
    store_relaxed<true>(&t.signs[m]->pushed[t.me], t.step);
}

}  // namespace

extern "C" trs_status trs_relax_begin_step(const trs_relax_step *step, int overlaps,
                                           trs_stream stream) {
  return trs_device_check(launch_behind(overlaps != 0, begin_step, 1, TRS_MOST_MEMBERS, 0,
                                        static_cast<cudaStream_t>(stream), *step),
                          "launching the step of a colour");
}

extern "C" trs_status trs_relax_push_rows(const trs_relax_step *step, const trs_relax_push *push,
                                          int overlaps, trs_stream stream) {
  const int64_t elements = (push->end - push->begin) * push->block * push->nrhs;
  const int64_t need = (elements + THREADS - 1) / THREADS;
  const auto blocks = unsigned(need < MOST_BLOCKS ? need : MOST_BLOCKS);
  auto to = static_cast<cudaStream_t>(stream);
  cudaError_t error =
      push->size == 8
          ? launch_behind(overlaps != 0, push_rows<double>, blocks, THREADS, 0, to, *step, *push)
          : launch_behind(overlaps != 0, push_rows<float>, blocks, THREADS, 0, to, *step, *push);
  return trs_device_check(error, "launching the exchange of a colour");
}
