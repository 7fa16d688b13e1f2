/* slices_half.cu - the kernels of slices.cuh for TRS_STORE_HALF. */
#include "relax/cuda/slices.cuh"

const trs::slices::launches trs::slices::in_half = trs::slices::launches_of<TRS_STORE_HALF>::all();
