/* kernels.h - substitution for groups of systems with one pattern: kernels.c, compiled for each
 * level of instructions (base/cpu.h).
 *
 * A group has TRS_BATCH_BYTES of each number: its real parts, one per system, then the imaginary
 * ones of a complex type.  One instruction thus works on a number of every system of the group, and
 * the bits of a system do not depend on the others. */
#ifndef TRS_SOLVE_BATCH_KERNELS_H
#define TRS_SOLVE_BATCH_KERNELS_H

#include "analysis/system.h"
#include "base/cpu.h"
#include "matrix/rhs.h"

enum {
  TRS_BATCH_BYTES = 64,
  TRS_BATCH_WIDTH = 4 /* right-hand sides of a system that share one pass over the values */
};

/* Systems per group. */
static inline int trs_batch_lanes(trs_scalar scalar) {
  const int parts = trs_scalar_is_complex(scalar) ? 2 : 1;
  return TRS_BATCH_BYTES * parts / (int)trs_scalar_size(scalar);
}

/* The caller's values of an entry: those numbered from[from_ptr[p]] .. from[from_ptr[p + 1] - 1],
 * whose sum it is; from NULL: number p. */
typedef struct trs_batch_source {
  const int64_t *from_ptr, *from;
  const void *val; /* of the group's first system */
  int64_t stride;  /* elements from one system to the next */
} trs_batch_source;

/* The systems of one group, and its arrays. */
typedef struct trs_batch_group {
  const trs_system *S; /* without values */
  int count;           /* systems; the other lanes are zeros */
  void *val;           /* nnz numbers, on the diagonal reciprocals */
  int64_t *row;        /* count: the first row without a usable pivot, or -1 */
  trs_pivot *pivot;    /* count: why not */
  void *work;          /* n x TRS_BATCH_WIDTH numbers */
} trs_batch_group;

/* Row i of an array, times scale[i], is row place[i] of a sweep.  NULL: the same row, ones. */
typedef struct trs_batch_order {
  const int32_t *place;
  const double *scale;
} trs_batch_order;

/* b and x of the group's first system. */
typedef struct trs_batch_vectors {
  trs_rhs rhs;
  trs_batch_order b_order, x_order; /* of b for the first sweep, of x for the last one */
} trs_batch_vectors;

typedef struct trs_batch_kernels {
  /* Takes the values of the group's systems, and looks at their diagonals. */
  void (*fill[TRS_NSCALARS])(const trs_batch_group *G, const trs_batch_source *source);

  /* Solves for right-hand sides r .. r + width - 1 of each system, by sweeps over G[0] ..
   * G[sweeps - 1], the same systems with one workspace; width is 1 or TRS_BATCH_WIDTH. */
  void (*solve[TRS_NSCALARS])(const trs_batch_group *G, int sweeps, const trs_batch_vectors *V,
                              int64_t r, int width);
} trs_batch_kernels;

extern const trs_batch_kernels trs_batch_kernels_baseline, trs_batch_kernels_avx2,
    trs_batch_kernels_avx512;

#endif
