/* backend.h - relaxation on one GPU: its state, its kernels by name, and a domain's part in sweeps
 * of several. */
#ifndef TRS_RELAX_CUDA_BACKEND_H
#define TRS_RELAX_CUDA_BACKEND_H

#include "device/arena.h"
#include "matrix/stage.h"
#include "relax/backend.h"
#include "relax/cuda/args.h"
#include "relax/exact.h"

typedef struct trs_relax_gpu trs_relax_gpu;

/* Kernels by name.  run: as trs_relax_rows_run; NULL: slices.  A variant of papers/ may have a
 * state, R->gpu->paper: prepare makes it and leave, which is called in any case, frees it. */
typedef struct trs_relax_variant {
  const char *name;
  trs_status (*run)(const trs_relax_args *a, const void *paper, int64_t begin, int64_t end,
                    trs_stream stream);
  trs_status (*prepare)(trs_relaxation *R);
  void (*leave)(trs_relaxation *R);
  int number; /* of papers/ */
} trs_relax_variant;

typedef struct trs_relax_variants {
  int count;
  const trs_relax_variant *variant;
} trs_relax_variants;
extern const trs_relax_variants trs_w21_variants; /* papers/W21/variants.c */

/* halo.c: links of a domain to other ranks. */
typedef struct trs_relax_halo trs_relax_halo;
trs_status trs_relax_halo_start(trs_relaxation *R, bool keep_x);
trs_status trs_relax_halo_sweep(trs_relaxation *R, int64_t sweeps, trs_sweep_direction direction);
/* Where ranks store into each other's memory: returns once all have ended what they launched. */
void trs_relax_halo_fence(trs_relaxation *R);
/* words: exact sums of this domain in device memory, per right-hand side, or NULL. */
trs_status trs_relax_halo_norms(trs_relaxation *R, const uint64_t *words, double *norms);
trs_status trs_relax_halo_end(trs_relaxation *R);
void trs_relax_halo_free(trs_relaxation *R);

/* mapped.c: R->group of a domain whose ranks store into each other's memory. */
void trs_relax_mapped_start(trs_relaxation *R);
bool trs_relax_mapped_fence(trs_relaxation *R, bool failed);
trs_status trs_relax_mapped_run(trs_relaxation *R, int64_t sweeps, trs_sweep_direction direction);
trs_status trs_relax_mapped_check(trs_relaxation *R);
void trs_relax_mapped_free(trs_relaxation *R);

struct trs_relax_gpu {
  trs_device *device;
  const trs_relax_variant *variant;
  trs_relax_args args; /* nrhs and omega are those of a sweep */
  trs_relax_slices slices;
  trs_relax_vectors vectors;        /* of a solve that reads b and writes x in the caller's order */
  trs_arena shared;                 /* memory that all variants have */
  trs_arena blocks;                 /* off-diagonal blocks by rows, from which slices are packed */
  trs_arena own;                    /* memory of the variant: x, slices */
  void *paper;                      /* state of a variant of papers/ */
  trs_stage stage;                  /* of x and b, if on the host, of room right-hand sides each */
  double *norms;                    /* pinned, TRS_STAGE_BYTES */
  trs_fault *told;                  /* pinned: copy of the slices' fault as of the last wait */
  uint64_t *most;                   /* args.most of sweeps with a narrow x; NULL: x is not narrow */
  trs_relax_lost *lost, *told_lost; /* then: in device memory; pinned, as of the last wait */
  trs_relax_halo *halo;             /* NULL: not distributed over ranks */
};

/* The first position of a colour's rows that no other domain reads. */
static inline int64_t trs_relax_interior(const trs_relaxation *R, int32_t c) {
  return R->domain ? R->domain->boundary[c] : R->colour_ptr[c];
}

static inline bool trs_relax_by_slices(const trs_relaxation *R) { return !R->gpu->variant->run; }

/* True for a triangle in slices, whose rows wait for x instead of levels. */
static inline bool trs_relax_in_turn(const trs_relaxation *R) {
  return R->triangle && trs_relax_by_slices(R);
}

/* Its kernels read past the ends of arrays. */
static inline trs_arena trs_relax_arena(const trs_relaxation *R) {
  return (trs_arena){
      .device = R->gpu->device, .stream = &R->plan->stream, .beyond = TRS_RELAX_READ_PAST};
}

/* Memory on the GPU for x and b that are on the host. */
trs_status trs_relax_need_stages(trs_relaxation *R);

/* Builds R->gpu once colours and pattern are known.  variant: NULL is "auto"; TRS_ERROR_ARGUMENT
 * lists the variants. */
trs_status trs_relax_gpu_create(trs_relaxation *R, trs_device *device, const char *variant);
/* Divides R's rows into slices and uploads their data, except values. */
trs_status trs_relax_make_slices(trs_relaxation *R);

/* Entries of trs_relax_backend. */
trs_status trs_relax_gpu_sweep(trs_relaxation *R, const trs_rhs *rhs,
                               const trs_sweep_options *options);
trs_status trs_relax_gpu_solve(trs_plan *plan, const trs_rhs *rhs);
int64_t trs_relax_gpu_bytes(const trs_plan *plan);
trs_status trs_relax_gpu_wait(trs_plan *plan);
trs_status trs_relax_gpu_link(trs_relaxation *R); /* halo.c */
void trs_relax_gpu_meet(trs_relaxation *R);       /* mapped.c */
void trs_relax_gpu_leave(trs_relaxation *R);

/* ---- A domain's part in a sweep of several GPUs, launched on its stream; its device must be
 * current.  Boundary rows and interior rows are separate launches. ---- */

trs_status trs_relax_gpu_load(trs_relaxation *R, const trs_relax_vectors *v, int64_t nrhs,
                              double omega);
trs_status trs_relax_gpu_run(trs_relaxation *R, int32_t colour, bool boundary);
/* Of slices, which make all steps in one launch, in which members synchronise: that launch, for
 * each right-hand side.  peers: NULL, or its step advances. */
trs_status trs_relax_gpu_run_steps(trs_relaxation *R, trs_sweep_direction direction, int64_t steps,
                                   trs_relax_peer_sync *peers);
/* Exact sums of the domain's own rows of r - A x (relax/exact.h), one per right-hand side, in
 * R->gpu->args.words. */
trs_status trs_relax_gpu_add_squares(trs_relaxation *R);
trs_status trs_relax_gpu_unload(trs_relaxation *R, const trs_relax_vectors *v);

#endif
