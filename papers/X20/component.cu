/* component.cu - in-degrees from one member's columns, the only preprocessing.  O(entries). */
#include "X20/component.cuh"

namespace {

using namespace trs::component;

__global__ void __launch_bounds__(WARPS *WARP)
    count(trs_component_launch part, int32_t *in_degree) {
  const int64_t step = int64_t(gridDim.x) * WARPS;
  for (int64_t i = part.begin + int64_t(blockIdx.x) * WARPS + threadIdx.x / WARP; i < part.end;
       i += step) {
    const column c = trs::component::column_of(part, i);
    for (int64_t q = lane_of_thread(); q < c.count; q += WARP)
      atomicAdd_system(&in_degree[__ldg(part.idx + c.at(q))], 1);
  }
}

}  // namespace

extern "C" trs_status trs_component_count(const trs_component_launch *part, int32_t *in_degree,
                                          trs_stream stream) {
  count<<<blocks_for(count, *part), WARPS * WARP, 0, static_cast<cudaStream_t>(stream)>>>(
      *part, in_degree);
  return trs_device_check(cudaGetLastError(), "counting in-degrees");
}
