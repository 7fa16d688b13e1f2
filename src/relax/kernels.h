/* kernels.h - what depends on how values are stored: one table for each trs_relax_store, and of
 * these for each level of instructions (base/cpu.h). */
#ifndef TRS_RELAX_KERNELS_H
#define TRS_RELAX_KERNELS_H

#include "base/cpu.h"
#include "relax/relaxation.h"

/* One call of trs_relaxation_sweep for a group of right-hand sides. */
typedef struct trs_relax_work {
  const trs_relaxation *R;
  const trs_rhs *rhs; /* the group's */
  const trs_sweep_options *options;
  double *norms;       /* nrhs of the group, of the first check; or NULL */
  int64_t norm_stride; /* from a check to the next */
  _Alignas(64) _Atomic int arrived;
  _Alignas(64) _Atomic unsigned phase;
} trs_relax_work;

typedef void trs_relax_rows(const trs_relax_work *work, int64_t begin, int64_t end);

/* Of rows' elements, and of what storing them loses: squares where these have all their digits, as
 * nearly always, for a norm's scaling costs as much as a small row; the norm of all other rows. */
typedef struct trs_relax_lengths {
  double squares[2], norms[2];
} trs_relax_lengths;

typedef struct trs_relax_kernels {
  size_t off_size, x_size, r_size; /* of an element; that of the diagonal is r's */
  bool scaled;
  /* Stores the row at position p from its blocks, the diagonal last, and factors that; adds the
   * elements and their rounding to those of rows before.  Calls trs_fail. */
  trs_status (*put)(trs_relaxation *R, int64_t p, double *values, trs_relax_lengths *lengths);
  trs_relax_rows *load, *unload; /* the caller's b and x to r and x, and back */
  trs_relax_rows *relax[9];      /* by block size, 0 for all others */
  /* The sum of squares of r - A x over positions, for right-hand side c: zero only where all of r -
   * A x is. */
  double (*residual)(const trs_relax_work *work, int64_t c, int64_t begin, int64_t end);
} trs_relax_kernels;

typedef const trs_relax_kernels *trs_relax_stores[TRS_RELAX_BFLOAT + 1];
extern const trs_relax_stores trs_relax_stores_baseline, trs_relax_stores_avx2,
    trs_relax_stores_avx512;

/* Of the level that runs. */
TRS_API const trs_relax_kernels *trs_relax_kernels_of(trs_relax_store store);

#endif
