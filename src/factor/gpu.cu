/* gpu.cu - the launch of ILU(0) and IC(0) of new values (eliminate.cuh). */
#include "factor/eliminate.cuh"

extern "C" trs_status trs_incomplete_launch(const trs_incomplete_args *a, trs_scalar scalar,
                                            trs_stream stream) {
  using namespace trs;
  const int64_t blocks = (a->slices + TRS_INCOMPLETE_WARPS - 1) / TRS_INCOMPLETE_WARPS;
  if (blocks == 0) return TRS_SUCCESS;
  const cudaError_t error = by_scalar(scalar, [&](auto s) {
    using S = decltype(s);
    incomplete<S>
        <<<unsigned(blocks), 32 * TRS_INCOMPLETE_WARPS, size_t(trs_incomplete_shared(a, sizeof(S))),
           static_cast<cudaStream_t>(stream)>>>(*a);
    return cudaGetLastError();
  });
  return trs_device_check(error, "launching an incomplete factorisation");
}
