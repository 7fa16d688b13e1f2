/* slices_float.cu - the kernels of slices.cuh for TRS_STORE_FLOAT. */
#include "relax/cuda/slices.cuh"

const trs::slices::launches trs::slices::in_float =
    trs::slices::launches_of<TRS_STORE_FLOAT>::all();
