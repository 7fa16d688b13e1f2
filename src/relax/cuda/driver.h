/* driver.h - a call of sweeps on GPUs: groups of right-hand sides, staging of arrays in host
 * memory, norms.  One GPU, several GPUs and ranks provide the steps. */
#ifndef TRS_RELAX_CUDA_DRIVER_H
#define TRS_RELAX_CUDA_DRIVER_H

#include "relax/cuda/backend.h"

typedef struct trs_relax_steps {
  /* Copies b and x into the relaxation's own order. */
  trs_status (*load)(trs_relaxation *R, const trs_relax_vectors *v, int64_t nrhs, double omega);
  trs_status (*run)(trs_relaxation *R, int64_t sweeps, trs_sweep_direction direction);
  /* Writes norms of the residuals to an array that kernels can reach, in stream order. */
  trs_status (*norms)(trs_relaxation *R, int64_t nrhs, double *to);
  /* Or writes them to an array on the host, at once.  One of the two is NULL. */
  trs_status (*host_norms)(trs_relaxation *R, double *to);
  trs_status (*end)(trs_relaxation *R); /* after the last sweep; NULL: nothing */
  trs_status (*unload)(trs_relaxation *R, const trs_relax_vectors *v); /* NULL: nothing */
  trs_status (*staged)(trs_relaxation *R); /* after copies to the stages; NULL: nothing */
} trs_relax_steps;

typedef struct trs_relax_driver {
  trs_relaxation *R;
  const trs_relax_steps *steps;
  void *const *stage; /* x and b of room right-hand sides; needed unless they are there */
  double *pinned;     /* TRS_STAGE_BYTES */
  trs_stream stream;  /* for copies */
} trs_relax_driver;

/* there: x and b are in device memory.  Among ranks, later steps run after a failure too, because
 * other ranks wait for their messages. */
trs_status trs_relax_drive(const trs_relax_driver *d, const trs_rhs *rhs,
                           const trs_sweep_options *options, bool there);

#endif
