/* slices_in.cuh - the launches of slices.cuh for each storage format. */
#ifndef TRS_RELAX_CUDA_SLICES_IN_CUH
#define TRS_RELAX_CUDA_SLICES_IN_CUH

#include "relax/cuda/slice_iterator.cuh"

namespace trs {
namespace slices {

struct launches {
  cudaError_t (*prepare)(const trs_relax_args *a, trs_relax_slices *s);
  cudaError_t (*relax)(const trs_relax_args *a, const trs_relax_slices *s, trs_relax_peer_sync *m,
                       const sweep_range &t, cudaStream_t stream); /* m: or NULL */
  cudaError_t (*solve)(const trs_relax_args *a, const trs_relax_slices *s,
                       const trs_relax_vectors &v, const sweep_range &t, cudaStream_t stream);
  cudaError_t (*square)(const trs_relax_args *a, const trs_relax_slices *s, const sweep_range &t,
                        cudaStream_t stream);
};

extern const launches in_mixed, in_double, in_float, in_half, in_bfloat;

}  // namespace slices
}  // namespace trs

#endif
