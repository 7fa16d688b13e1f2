/* backend.h - the interface of relaxation in one kind of memory, as a table of functions: the CPU
 * (sweep.c), one GPU (cuda/backend.c), several GPUs (cuda/group.c).  Each rank has a domain in one
 * of these. */
#ifndef TRS_RELAX_BACKEND_H
#define TRS_RELAX_BACKEND_H

#include "relax/domains.h"

typedef struct trs_relax_backend {
  /* Builds the backend's state from R's colours and pattern, without values.  options: complete. */
  trs_status (*create)(trs_relaxation *R, trs_block_system *system,
                       const trs_relax_options *options);
  trs_status (*update)(trs_relaxation *R, const trs_block_source *source);

  /* options: complete.  On the CPU, and if an array is in host memory, returns when x is complete.
   */
  trs_status (*sweep)(trs_relaxation *R, const trs_rhs *rhs, const trs_sweep_options *options);

  /* Solves a triangle, whose levels are the colours, by one sweep from zero.  Permutations of b and
   * x are in device memory, without scales.  NULL: by sweep. */
  trs_status (*solve)(trs_relaxation *R, const trs_rhs *rhs);

  /* The functions from here to stream are NULL on the CPU. */
  trs_status (*wait)(trs_relaxation *R);    /* waits for launched sweeps; reports their failure */
  trs_stream *(*stream)(trs_relaxation *R); /* the caller's, which launches follow */
  /* Prepares R, the domain of a rank, for messages to other ranks: sets R->mover.  Sweeps then take
   * b and x of the domain's rows, and every rank takes part in them.  NULL: no preparation. */
  trs_status (*link)(trs_relaxation *R);
  /* Collective, with R's links.  meet lets domains of one machine store into each other's memory;
   * where they cannot, they keep their messages.  leave precedes free.  NULL: nothing to do. */
  void (*meet)(trs_relaxation *R);
  void (*leave)(trs_relaxation *R);

  void (*describe)(const trs_relaxation *R, trs_relax_info *info); /* variant, memory, domains */
  void (*free)(trs_relaxation *R); /* the state may be incomplete or NULL */
} trs_relax_backend;

/* Builds R's arrays of values on the host from the source; trs_relaxation_drop_values frees them.
 */
trs_status trs_relaxation_put_values(trs_relaxation *R, const trs_block_source *source);
void trs_relaxation_drop_values(trs_relaxation *R);

/* The table for a context. */
const trs_relax_backend *trs_relax_backend_for(const trs_context *context);

extern const trs_relax_backend trs_relax_cpu;
extern const trs_relax_backend trs_relax_gpu_backend,
    trs_relax_group_backend; /* with CUDA; the first with HIP, too */

#endif
