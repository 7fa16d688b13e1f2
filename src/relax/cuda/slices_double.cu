/* slices_double.cu - the kernels of slices.cuh for TRS_STORE_DOUBLE. */
#include "relax/cuda/slices.cuh"

const trs::slices::launches trs::slices::in_double =
    trs::slices::launches_of<TRS_STORE_DOUBLE>::all();
