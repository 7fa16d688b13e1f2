/* backend.h - relaxation on one GPU, as the rest of relax/ sees it. */
#ifndef TRS_RELAX_CUDA_BACKEND_H
#define TRS_RELAX_CUDA_BACKEND_H

#include "relax/relaxation.h"

typedef struct trs_relax_gpu trs_relax_gpu;

/* Once colours and pattern are known: makes R->gpu, on the context's device.  variant: NULL is
 * "auto"; TRS_ERROR_ARGUMENT lists what there is. */
trs_status trs_relax_gpu_create(trs_relaxation *R, const char *variant);
/* Another one for the same values; after a failure there is none. */
trs_status trs_relax_gpu_set_variant(trs_relaxation *R, const char *name);
/* Brings those of the source's arrays to the host that lie in device memory: copies[3] are those
 * made, to be freed by the caller also after a failure. */
trs_status trs_relax_gpu_fetch(trs_block_source *source, void *copies[3]);
/* The values that stand in R's arrays. */
trs_status trs_relax_gpu_update(trs_relaxation *R);
trs_status trs_relax_gpu_sweep(trs_relaxation *R, const trs_rhs *rhs,
                               const trs_sweep_options *options);
trs_status trs_relax_gpu_wait(trs_relaxation *R);
void trs_relax_gpu_set_stream(trs_relaxation *R, void *stream);
const char *trs_relax_gpu_variant(const trs_relaxation *R);
int64_t trs_relax_gpu_bytes(const trs_relaxation *R);
void trs_relax_gpu_free(trs_relaxation *R); /* R->gpu may be NULL */

#endif
