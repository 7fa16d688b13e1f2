/* rows.cu - the variant warp-six-rows, for blocks of any size: the kernel of rows.cuh. */
#include "relax/cuda/rows.cuh"

using namespace trs;
using namespace trs::relax_rows;

extern "C" trs_status trs_relax_rows_run(const trs_relax_args *a, const trs_relax_rows_how *how,
                                         int64_t begin, int64_t end, trs_stream stream) {
  if (begin == end) return TRS_SUCCESS;
  const launcher launch = {*a, *how, begin, end, static_cast<cudaStream_t>(stream)};
  const cudaError_t error = by_store(a->store, [&](auto store) {
    return launch(relax_by_warps<decltype(store)::value, 0, true, NONE>,
                  rows_of_block(true, a->block));
  });
  return trs_device_check(error, "launching a relaxation kernel");
}
