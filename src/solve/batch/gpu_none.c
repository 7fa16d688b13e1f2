/* gpu_none.c - batches of a build without CUDA: no context has a GPU. */
#include "solve/batch/batch.h"

const trs_method trs_method_batch_gpu = {.backend = &trs_backend_cuda};
