/* backend.h - relaxation in one kind of memory: the CPU (sweep.c), one GPU (cuda/backend.c),
 * several GPUs (cuda/group.c).  Each is a method of plans with a trs_relaxation as their state, and
 * has sweeps beside.  Each rank, and each member of several GPUs, has a domain, which is such a
 * plan. */
#ifndef TRS_RELAX_BACKEND_H
#define TRS_RELAX_BACKEND_H

#include "relax/domains.h"

typedef struct trs_relax_backend {
  /* analyze builds the backend's state from the relaxation's colours and pattern, with its system
   * and options, without values; update takes its source.  solve, of a triangle whose levels are
   * the colours, is one sweep from zero; permutations of b and x are in device memory, without
   * scales. */
  trs_method method;

  /* options: complete.  On the CPU, and if an array is in host memory, returns when x is complete.
   */
  trs_status (*sweep)(trs_relaxation *R, const trs_rhs *rhs, const trs_sweep_options *options);

  /* Prepares R, the domain of a rank, for messages to other ranks: sets R->mover.  Sweeps then take
   * b and x of the domain's rows, and every rank takes part in them.  NULL: no preparation. */
  trs_status (*link)(trs_relaxation *R);
  /* Collective, with R's links.  meet lets domains of one machine store into each other's memory;
   * where they cannot, they keep their messages.  leave precedes free.  NULL: nothing to do. */
  void (*meet)(trs_relaxation *R);
  void (*leave)(trs_relaxation *R);
} trs_relax_backend;

/* Entries of every backend's method; free: of the arrays on the host, and of R. */
#define TRS_RELAX_METHOD \
  .name = "relaxation", .store = trs_relaxation_store, .describe = trs_relaxation_describe
trs_store trs_relaxation_store(const trs_plan *plan);
void trs_relaxation_describe(const trs_plan *plan, char *text, size_t size);
void trs_relaxation_free(trs_plan *plan);
int64_t trs_relaxation_bytes(const trs_plan *plan); /* on the host */

/* The backend's state of a relaxation that is laid out, which a failure destroys. */
trs_status trs_relaxation_build(trs_relaxation **R, trs_block_system *system,
                                const trs_relax_options *options);

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
