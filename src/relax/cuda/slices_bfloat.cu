/* slices_bfloat.cu - the kernels of slices.cuh for TRS_STORE_BFLOAT. */
#include "relax/cuda/slices.cuh"

const trs::slices::launches trs::slices::in_bfloat =
    trs::slices::launches_of<TRS_STORE_BFLOAT>::all();
