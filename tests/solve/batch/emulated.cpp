/* emulated.cpp - the launches of solve/batch/gpu.cu on emulated threads (tests/emulated). */
#include "solve/batch/sweep.cuh"

namespace {

using namespace trs;

template <class S>
void launch_levels(const trs_batch_sweep &a, int width, int64_t bytes) {
  auto kernel = width == 1 ? a.work ? batch_levels<S, 1, false> : batch_levels<S, 1, true>
                : a.work ? batch_levels<S, 4, false>
                           : batch_levels<S, 4, true>;
  const dim3 blocks = {unsigned(a.groups), a.work ? 1 : unsigned((a.nrhs + width - 1) / width)};
  if (bytes > SHARED_BYTES) abort();
  launch_emulated(blocks, unsigned(a.threads), [&] { kernel(a); });
}

}  // namespace

extern "C" trs_status trs_batch_prepare(trs_scalar, int64_t) { return TRS_SUCCESS; }

extern "C" trs_status trs_batch_take_values(const trs_batch_values *v, trs_scalar scalar,
                                            trs_stream) {
  by_scalar(scalar, [&](auto s) {
    launch_emulated({unsigned(v->groups), 2}, 64, [&] { batch_fill<decltype(s)>(*v); });
    return cudaSuccess;
  });
  return TRS_SUCCESS;
}

extern "C" trs_status trs_batch_take_joint(const trs_batch_joint *v, trs_scalar scalar,
                                           trs_stream) {
  by_scalar(scalar, [&](auto s) {
    launch_emulated({unsigned(v->groups)}, 64, [&] { batch_take_joint<decltype(s)>(*v); });
    return cudaSuccess;
  });
  return TRS_SUCCESS;
}

extern "C" trs_status trs_batch_lanes_sweep(const trs_batch_sweep *a, trs_scalar scalar,
                                            trs_stream) {
  if (trs_batch_lanes_bytes(size_of_scalar(scalar), a->window, a->narrow) > SHARED_BYTES) abort();
  by_scalar(scalar, [&](auto s) {
    launch_emulated({unsigned(a->groups), unsigned(a->nrhs)}, 32,
                    [&] { batch_lanes_kernel<decltype(s)>(a->narrow)(*a); });
    return cudaSuccess;
  });
  return TRS_SUCCESS;
}

extern "C" trs_status trs_batch_levels_sweep(const trs_batch_sweep *a, int width, int64_t bytes,
                                             trs_scalar scalar, trs_stream) {
  by_scalar(scalar, [&](auto s) {
    launch_levels<decltype(s)>(*a, width, bytes);
    return cudaSuccess;
  });
  return TRS_SUCCESS;
}
