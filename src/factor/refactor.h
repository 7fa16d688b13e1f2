/* refactor.h - what a refactorisation keeps between calls: L and U by rows, where the entries of A
 * go, the schedule of threads; and its kernels. */
#ifndef TRS_FACTOR_REFACTOR_H
#define TRS_FACTOR_REFACTOR_H

#include <stdatomic.h>

#include "base/cancel.h"
#include "base/cpu.h"
#include "base/wait.h"
#include "factor/factors.h"

/* Rows of U that are applied together, at most. */
enum { TRS_LU_RUN = 4 };

/* L or U without its diagonal: entries begin[i] + lead .. end[i] of row i, columns ascending. */
typedef struct trs_lu_side {
  int64_t *begin, *end; /* n */
  int64_t *pivot;       /* n: the places of the diagonal, unless it is ones */
  int64_t lead;         /* 1: the diagonal comes first in every row */
  bool apart;           /* these arrays are not the row pointers, which sweeps read too */
  int32_t *idx;
  void *val;
  int64_t *place; /* of a factor stored by columns: entry p of it is entry place[p] of val, which is
                     then a copy; else NULL */
  int64_t *ptr;   /* of the copy */
} trs_lu_side;

static inline int64_t trs_lu_begin(const trs_lu_side *side, int64_t i) {
  return side->begin[i] + side->lead;
}

/* Values of parts' L and U, whose patterns are those of a complete factorisation of B, unit L and U
 * by rows.  parts keeps what later refactorisations need.  *stopped: a pivot is zero, or an entry
 * of L is not finite or larger than `largest`, and the values are not set. */
trs_status trs_refactoring_first(trs_factors *parts, const trs_matrix *B, double largest,
                                 bool *stopped);

/* What the kernels read and write.  L has a unit diagonal, or U has (crout). */
typedef struct trs_lu {
  int64_t n;
  bool crout;
  bool light; /* few operations per row, and not crout */
  trs_lu_side L, U;
  uint8_t *run; /* n: rows k .. k + run[k] - 1 of U have one pattern, except in their own columns */
  uint8_t *together; /* n: rows of L from this one that are taken together, at most TRS_LU_RUN */
  void *inverse;     /* n: of the pivots */
  int64_t *from_ptr, *from;            /* row i has the entries from[from_ptr[i]] .. of A */
  int32_t *to;                         /* their columns in L U */
  const double *row_scale, *col_scale; /* in the order of L U, or NULL */
  bool plain;                          /* the product of any two is a normal number */
  const void *val;                     /* of A */
  const int32_t *inside;               /* of factors */
  double largest;                      /* rows end at an entry of a unit L with a larger square */
} trs_lu;

/* A member's part, and what it found. */
typedef struct trs_lu_member {
  _Alignas(64) void *x; /* TRS_LU_RUN * n zeros */
  double most;          /* the largest |l|^2 of a unit L, in the diagonal blocks */
  int64_t most_at;      /* the pivot by which it was divided */
  int64_t fault;        /* the first row without a usable pivot, or n */
  trs_status why;
} trs_lu_member;

/* Rows that a member eliminates: first those of its list, which depend on no other list; then some
 * of those that all members share, in ascending order. */
typedef struct trs_lu_rows {
  int64_t nown, nshared;
  const int32_t *own, *shared; /* own NULL: rows 0 .. nown - 1 */
  atomic_uint *done; /* n: equal to round once the row is done; NULL: nobody waits for rows */
  unsigned round;
  const int *cancel; /* the caller's flag: rows then count as done, because members wait for them */
} trs_lu_rows;

typedef struct trs_lu_kernels {
  void (*own[TRS_NSCALARS])(const trs_lu *F, const trs_lu_rows *rows, trs_lu_member *m);
  /* The shared rows; ticket gives the next one. */
  void (*shared[TRS_NSCALARS])(const trs_lu *F, const trs_lu_rows *rows, trs_lu_member *m,
                               atomic_llong *ticket);
} trs_lu_kernels;

extern const trs_lu_kernels trs_lu_kernels_baseline, trs_lu_kernels_avx2, trs_lu_kernels_avx512;

#endif
