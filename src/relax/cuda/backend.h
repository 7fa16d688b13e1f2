/* backend.h - relaxation on one GPU, as the rest of relax/ sees it. */
#ifndef TRS_RELAX_CUDA_BACKEND_H
#define TRS_RELAX_CUDA_BACKEND_H

#include "relax/cuda/args.h"
#include "relax/relaxation.h"

typedef struct trs_relax_gpu trs_relax_gpu;

/* Once colours and pattern are known: makes R->gpu.  variant: NULL is "auto"; TRS_ERROR_ARGUMENT
 * lists what there is. */
trs_status trs_relax_gpu_create(trs_relaxation *R, trs_device *device, trs_stream stream,
                                const char *variant);
/* Another one for the same values; after a failure there is none. */
trs_status trs_relax_gpu_set_variant(trs_relaxation *R, const char *name);
void trs_relax_gpu_free(trs_relaxation *R); /* R->gpu may be NULL */
int64_t trs_relax_gpu_bytes(const trs_relaxation *R);
const char *trs_relax_gpu_variant(const trs_relaxation *R);
trs_status trs_relax_gpu_wait(trs_relaxation *R);
trs_status trs_relax_gpu_link(trs_relaxation *R); /* halo.c: trs_relax_backend's link */

/* ---- A domain's part in a sweep of several GPUs, launched on its stream; its device is entered.
 * Its boundary and its interior rows run apart. ---- */

/* Where x lies: right-hand side c's row p at x + c stride + p pitch elements. */
typedef struct trs_relax_place {
  void *x;
  int64_t stride;
  int pitch;
} trs_relax_place;

trs_relax_place trs_relax_gpu_place(const trs_relaxation *R);
trs_status trs_relax_gpu_load(trs_relaxation *R, const trs_relax_vectors *v, int64_t nrhs,
                              double omega);
trs_status trs_relax_gpu_run(trs_relaxation *R, int32_t colour, bool boundary);
/* Whether the variant makes all turns in one launch, in which members meet; and that launch, for
 * each right-hand side.  meeting: NULL, or its turn counts on. */
bool trs_relax_gpu_meets(const trs_relaxation *R);
trs_status trs_relax_gpu_run_turns(trs_relaxation *R, trs_sweep_direction direction, int64_t turns,
                                   trs_relax_meeting *meeting);
/* Of own rows of r - A x: exact sums (relax/exact.h), one for each right-hand side. */
trs_status trs_relax_gpu_squares(trs_relaxation *R, const uint64_t **words);
double *trs_relax_gpu_stage(const trs_relaxation *R); /* pinned, of TRS_STAGE_BYTES, for norms */
trs_status trs_relax_gpu_unload(trs_relaxation *R, const trs_relax_vectors *v);

#endif
