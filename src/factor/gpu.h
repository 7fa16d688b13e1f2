/* gpu.h - ILU(0) and IC(0) of new values on a GPU: what the host part gives the kernel of gpu.cu.
 * C and CUDA C++.
 *
 * A row of L U has its entries in ascending order: of ILU(0) those of L and then those of U, of
 * IC(0) those of L.  Later rows read U, of IC(0) L, whose values carry their own readiness
 * (device/ready.cuh). */
#ifndef TRS_FACTOR_GPU_H
#define TRS_FACTOR_GPU_H

#include "device/device.h"
#include "device/fault.h"

/* A step of a row's elimination, in the order of factor/ilu0.c and factor/ic0.c: reads value `from`
 * of U or L.  at >= 0: subtracts its product with the multiplier of the last division from entry
 * `at` of the row.  at < 0: divides an entry of the row by it, which gives the next multiplier: ~at
 * is the entry, plus TRS_INCOMPLETE_CHANGED if a step before changes it. */
enum { TRS_INCOMPLETE_CHANGED = 1 << 30 };
typedef struct trs_incomplete_step {
  int32_t from, at;
} trs_incomplete_step;

/* What a launch finds.  Words of a row: row * TRS_INCOMPLETE_KINDS + kind, the least one; all bits
 * set: none. */
enum {
  TRS_INCOMPLETE_KINDS = 4,
  TRS_INCOMPLETE_ZERO = 0,
  TRS_INCOMPLETE_NOT_FINITE = 1,
};
typedef struct trs_incomplete_found {
  unsigned long long pivot; /* zero, of IC(0) not positive; or not finite */
  unsigned long long L, U;  /* rows with a value that is not finite */
  unsigned long long start; /* rows of A whose diagonal entry is not positive */
  unsigned ticket;
  unsigned reserved;
  trs_fault fault;
} trs_incomplete_found;

enum {
  TRS_INCOMPLETE_WARPS = 4,           /* of a block of threads */
  TRS_INCOMPLETE_ROW_BYTES = 8 << 10, /* of a warp's rows in shared memory, at most */
  TRS_INCOMPLETE_HEAD = 16            /* bytes of shared memory before them */
};

/* Entries of A that a row is made of: their places, or one of these. */
enum { TRS_INCOMPLETE_NONE = -1, TRS_INCOMPLETE_MIRRORED = -2 }; /* MIRRORED - p: conjugated */

typedef struct trs_incomplete_args {
  int64_t n;
  bool cholesky, real_diagonal; /* imaginary parts on the diagonal of A are ignored */
  double scale;                 /* of the diagonal of A: 1 + shift */
  const int64_t *L_ptr, *U_ptr; /* n + 1 */
  void *L, *U;
  const int32_t *mirror; /* IC(0): the place in U of each entry of L */
  const int32_t *row;    /* rows of slices, a level after the other; -1: none */
  int64_t slices;        /* a warp's rows, 32 >> log_lanes each, which do not wait for each other */
  int log_lanes;         /* lanes of a row */
  const int64_t *step_ptr; /* n + 1 */
  const trs_incomplete_step *step;
  const int32_t *from; /* of each entry of the rows; NULL: entry p is entry p of A */
  const void *A;
  int room;      /* entries of a row that shared memory holds */
  void *scratch; /* of longer rows: all entries; NULL: none is longer */
  trs_incomplete_found *found;
} trs_incomplete_args;

static inline int64_t trs_incomplete_shared(const trs_incomplete_args *a, int64_t size) {
  return TRS_INCOMPLETE_HEAD +
         ((int64_t)TRS_INCOMPLETE_WARPS * a->room * size << (5 - a->log_lanes));
}

#ifdef __cplusplus
extern "C" {
#endif

/* One launch.  The values that rows read of each other, and the words of rows in found, have all
 * bits set; ticket is zero. */
trs_status trs_incomplete_launch(const trs_incomplete_args *a, trs_scalar scalar,
                                 trs_stream stream);

#ifdef __cplusplus
}
#endif
#endif
