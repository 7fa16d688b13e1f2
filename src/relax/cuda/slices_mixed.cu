/* slices_mixed.cu - the kernels of slices.cuh for TRS_STORE_MIXED. */
#include "relax/cuda/slices.cuh"

const trs::slices::launches trs::slices::in_mixed =
    trs::slices::launches_of<TRS_STORE_MIXED>::all();
