/* backend.h - relaxation on one GPU: its interface to the rest of relax/. */
#ifndef TRS_RELAX_CUDA_BACKEND_H
#define TRS_RELAX_CUDA_BACKEND_H

#include "relax/cuda/args.h"
#include "relax/relaxation.h"

typedef struct trs_relax_gpu trs_relax_gpu;

/* Builds R->gpu once colours and pattern are known.  variant: NULL is "auto"; TRS_ERROR_ARGUMENT
 * lists the variants. */
trs_status trs_relax_gpu_create(trs_relaxation *R, trs_device *device, trs_stream stream,
                                const char *variant);
void trs_relax_gpu_free(trs_relaxation *R); /* R->gpu may be NULL */
int64_t trs_relax_gpu_bytes(const trs_relaxation *R);
const char *trs_relax_gpu_variant(const trs_relaxation *R);
trs_status trs_relax_gpu_wait(trs_relaxation *R);
trs_status trs_relax_gpu_link(trs_relaxation *R); /* halo.c: the link of trs_relax_backend */
void trs_relax_gpu_meet(trs_relaxation *R);       /* mapped.c: its meet and leave */
void trs_relax_gpu_leave(trs_relaxation *R);
/* x lies in the caller's memory, of the same layout, from now on. */
void trs_relax_gpu_put_x(trs_relaxation *R, void *x);

/* ---- A domain's part in a sweep of several GPUs, launched on its stream; its device must be
 * current. Boundary rows and interior rows are separate launches. ---- */

/* Location of x: right-hand side c's row p at x + c stride + p pitch elements. */
typedef struct trs_relax_place {
  void *x;
  int64_t stride;
  int pitch;
} trs_relax_place;

trs_relax_place trs_relax_gpu_place(const trs_relaxation *R);
trs_status trs_relax_gpu_load(trs_relaxation *R, const trs_relax_vectors *v, int64_t nrhs,
                              double omega);
trs_status trs_relax_gpu_run(trs_relaxation *R, int32_t colour, bool boundary);
/* True if the variant makes all steps in one launch, in which members synchronise; and that launch,
 * for each right-hand side.  peers: NULL, or its step advances. */
bool trs_relax_gpu_syncs_peers(const trs_relaxation *R);
trs_status trs_relax_gpu_run_steps(trs_relaxation *R, trs_sweep_direction direction, int64_t steps,
                                   trs_relax_peer_sync *peers);
/* Exact sums of the domain's own rows of r - A x (relax/exact.h), one per right-hand side. */
trs_status trs_relax_gpu_squares(trs_relaxation *R, const uint64_t **words);
double *trs_relax_gpu_stage(const trs_relaxation *R); /* pinned, of TRS_STAGE_BYTES, for norms */
trs_status trs_relax_gpu_unload(trs_relaxation *R, const trs_relax_vectors *v);

#endif
