/* kernels.h - the functions that depend on the storage format: one table per trs_store, for
 * each level of instructions (base/cpu.h). */
#ifndef TRS_RELAX_KERNELS_H
#define TRS_RELAX_KERNELS_H

#include "base/cpu.h"
#include "relax/relaxation.h"

/* One call of trs_relaxation_sweep for a group of right-hand sides. */
typedef struct trs_relax_work {
  const trs_relaxation *R;
  const trs_rhs *rhs; /* the group's */
  const trs_sweep_options *options;
  double *norms;       /* nrhs of the group, starting at the first check; or NULL */
  int64_t norm_stride; /* distance from one check to the next */
  _Alignas(64) _Atomic int arrived;
  _Alignas(64) _Atomic unsigned phase;
} trs_relax_work;

typedef void trs_relax_rows(const trs_relax_work *work, int64_t begin, int64_t end);

/* Magnitudes of rows' elements [0] and of what storing them loses [1].  Rows whose squares neither
 * overflow nor underflow, nearly all, go to squares, because the scaling of a norm costs as much as
 * a small row; all others go to norms. */
typedef struct trs_relax_lengths {
  double squares[2], norms[2];
  double least; /* the least sum of squares of a row with blocks off the diagonal; 0: none */
} trs_relax_lengths;

typedef struct trs_relax_kernels {
  size_t off_size, x_size, r_size; /* bytes per element; the diagonal has r's */
  bool scaled;
  /* Stores the row at position p from its blocks, the diagonal block last, and factors that block.
   * Adds the magnitudes of the elements and of their rounding to lengths.  Calls trs_fail. */
  trs_status (*put)(trs_relaxation *R, int64_t p, double *values, trs_relax_lengths *lengths);
  trs_relax_rows *load, *unload; /* from the caller's b and x to r and x, and back */
  trs_relax_rows *relax;
  trs_relax_rows *solve; /* of a triangle, from the caller's b to its x; no load, no unload */
  /* Notes the largest |b| of some rows of a triangle, or of their x, in most. */
  void (*note_range)(const trs_relax_work *work, int64_t begin, int64_t end, bool of_x);
  /* The sum of squares of r - A x over positions, for right-hand side c: zero only if all of r - A
   * x is zero. */
  double (*residual)(const trs_relax_work *work, int64_t c, int64_t begin, int64_t end);
} trs_relax_kernels;

typedef const trs_relax_kernels *trs_relax_stores[TRS_STORE_BFLOAT + 1];
extern const trs_relax_stores trs_relax_stores_baseline, trs_relax_stores_avx2,
    trs_relax_stores_avx512;

/* The table of the level in use. */
const trs_relax_kernels *trs_relax_kernels_of(trs_store store);

#endif
