/* backend.h - relaxation at one kind of place as a table of functions: the CPU (sweep.c), one GPU
 * (cuda/backend.c), several GPUs (cuda/group.c).  Ranks have a domain each at one of these. */
#ifndef TRS_RELAX_BACKEND_H
#define TRS_RELAX_BACKEND_H

#include "relax/domains.h"

typedef struct trs_relax_backend {
  /* Colours and pattern of R -> its state at that place, without values.  options: complete. */
  trs_status (*create)(trs_relaxation *R, trs_block_system *system,
                       const trs_relax_options *options);
  trs_status (*update)(trs_relaxation *R, const trs_block_source *source);

  /* options: complete.  On the CPU, and where an array lies on the host, returns when x is there.
   */
  trs_status (*sweep)(trs_relaxation *R, const trs_rhs *rhs, const trs_sweep_options *options);

  /* The functions from here to stream are NULL on the CPU. */
  trs_status (*wait)(trs_relaxation *R); /* for launched sweeps; tells of their failure */
  trs_status (*set_variant)(trs_relaxation *R, const char *name);
  void (*set_stream)(trs_relaxation *R, trs_stream stream);
  trs_stream (*stream)(const trs_relaxation *R);
  /* Prepares R, the domain of a rank, for messages to others: sets R->mover.  Sweeps then take b
     and x of the domain's rows, and every rank takes part in them.  NULL: no preparation. */
  trs_status (*link)(trs_relaxation *R);

  void (*describe)(const trs_relaxation *R, trs_relax_info *info); /* variant, memory, domains */
  void (*free)(trs_relaxation *R); /* the state may be partly built or NULL */
} trs_relax_backend;

/* Makes R's arrays of values on the host from the source; trs_relaxation_drop_values frees them. */
trs_status trs_relaxation_put_values(trs_relaxation *R, const trs_block_source *source);
void trs_relaxation_drop_values(trs_relaxation *R);

/* Columns of rhs from the first on, as many as R has room for. */
trs_rhs trs_relaxation_columns(const trs_relaxation *R, const trs_rhs *rhs, int64_t first);

/* The table for a context. */
const trs_relax_backend *trs_relax_backend_for(const trs_context *context);

extern const trs_relax_backend trs_relax_cpu;
extern const trs_relax_backend trs_relax_gpu_backend, trs_relax_group_backend; /* with CUDA */

#endif
