/* gpu.cu - launches of the kernels of batches. */
#include "solve/batch/gpu.h"

#include "solve/batch/sweep.cuh"

namespace {

using namespace trs;

constexpr int FILL_THREADS = 256;
constexpr int64_t MOST_Y = 65535; /* blocks of a grid in the second dimension */

unsigned in_y(int64_t blocks) { return unsigned(blocks < MOST_Y ? blocks : MOST_Y); }

template <class K>
cudaError_t allow(K kernel, int64_t bytes) {
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes));
}

template <class S>
cudaError_t allow_all(int64_t bytes) {
  cudaError_t error = cudaSuccess;
  for (int narrow = 0; narrow <= TRS_BATCH_NARROW && !error; narrow++)
    error = allow(batch_lanes_kernel<S>(narrow), bytes);
  if (!error) error = allow(batch_levels<S, 1, true>, bytes);
  if (!error) error = allow(batch_levels<S, 4, true>, bytes);
  if (!error) error = allow(batch_levels<S, 1, false>, bytes);
  return error ? error : allow(batch_levels<S, 4, false>, bytes);
}

template <class S>
void launch_levels(const trs_batch_sweep &a, int width, int64_t bytes, cudaStream_t stream) {
  auto kernel = width == 1 ? a.work ? batch_levels<S, 1, false> : batch_levels<S, 1, true>
                : a.work ? batch_levels<S, 4, false>
                           : batch_levels<S, 4, true>;
  const dim3 blocks(unsigned(a.groups), a.work ? 1 : in_y((a.nrhs + width - 1) / width));
  kernel<<<blocks, a.threads, size_t(bytes), stream>>>(a);
}

}  // namespace

extern "C" trs_status trs_batch_prepare(trs_scalar scalar, int64_t bytes) {
  return trs_device_check(by_scalar(scalar, [&](auto s) { return allow_all<decltype(s)>(bytes); }),
                          "preparing the kernels of batches");
}

extern "C" trs_status trs_batch_take_values(const trs_batch_values *v, trs_scalar scalar,
                                            trs_stream stream) {
  auto to = static_cast<cudaStream_t>(stream);
  const dim3 blocks(unsigned(v->groups), in_y((v->entries + BATCH_WARP - 1) / BATCH_WARP));
  return trs_device_check(
      by_scalar(scalar,
                [&](auto s) {
                  using S = decltype(s);
                  batch_fill<S><<<blocks, FILL_THREADS, BATCH_TILE * sizeof(S), to>>>(*v);
                  return cudaGetLastError();
                }),
      "taking the values of a batch");
}

extern "C" trs_status trs_batch_take_joint(const trs_batch_joint *v, trs_scalar scalar,
                                           trs_stream stream) {
  auto to = static_cast<cudaStream_t>(stream);
  return trs_device_check(by_scalar(scalar,
                                    [&](auto s) {
                                      batch_take_joint<decltype(s)>
                                          <<<unsigned(v->groups), FILL_THREADS, 0, to>>>(*v);
                                      return cudaGetLastError();
                                    }),
                          "substituting in a batch");
}

extern "C" trs_status trs_batch_lanes_sweep(const trs_batch_sweep *a, trs_scalar scalar,
                                            trs_stream stream) {
  auto to = static_cast<cudaStream_t>(stream);
  const int64_t bytes = trs_batch_lanes_bytes(size_of_scalar(scalar), a->window, a->narrow);
  trs_batch_sweep part = *a;
  cudaError_t error = cudaSuccess;
  for (int64_t r = 0; r < a->nrhs && !error; r += MOST_Y) {
    const dim3 blocks(unsigned(a->groups), in_y(a->nrhs - r));
    error = by_scalar(scalar, [&](auto s) {
      using S = decltype(s);
      part.b = static_cast<const S *>(a->b) + r * a->b_col;
      part.x = static_cast<S *>(a->x) + r * a->x_col;
      batch_lanes_kernel<S>(a->narrow)<<<blocks, BATCH_WARP, size_t(bytes), to>>>(part);
      return cudaGetLastError();
    });
  }
  return trs_device_check(error, "launching a batch by lanes");
}

extern "C" trs_status trs_batch_levels_sweep(const trs_batch_sweep *a, int width, int64_t bytes,
                                             trs_scalar scalar, trs_stream stream) {
  auto to = static_cast<cudaStream_t>(stream);
  return trs_device_check(by_scalar(scalar,
                                    [&](auto s) {
                                      launch_levels<decltype(s)>(*a, width, bytes, to);
                                      return cudaGetLastError();
                                    }),
                          "launching a batch by levels");
}
