/* backends.c - chooses among the tables of relaxation, by the context.  Tests of builds without
 * CUDA replace this file and choose among tables with stand-ins for kernels. */
#include "base/config.h"
#include "relax/backend.h"

const trs_relax_backend *trs_relax_backend_for(const trs_context *context) {
  if (context->group) return TRS_CUDA_PART(trs_relax_group_backend);
  if (context->backend->gpu) return TRS_GPU_PART(trs_relax_gpu_backend);
  return &trs_relax_cpu;
}
