/* gpu.h - ILU(0) and IC(0) of new values on a GPU: what the host part gives the kernel of gpu.cu.
 * C and CUDA C++.
 *
 * A row has its entries in ascending order: of ILU(0) those of L and then those of U, of IC(0)
 * those of U = L^H.  Later rows read U, whose values carry their own readiness (device/ready.cuh).
 */
#ifndef TRS_FACTOR_GPU_H
#define TRS_FACTOR_GPU_H

#include "device/device.h"
#include "device/fault.h"

/* A step of a row's elimination, in the order of factor/ilu0.c and factor/ic0.c: reads value `from`
 * of U, and changes an entry of the row.
 * what, from bit 0 on: the entry, 26 bits; the turn among the steps of its batch, 5 bits: the steps
 * on which it depends have earlier ones; and whether it leads, in the sign.
 * A step that leads gives the multiplier of the steps after it: ILU(0) divides the entry by the
 * value; IC(0) takes the value, and subtracts its squared size from the entry, which is the
 * diagonal one.  The others subtract the product of multiplier and value. */
enum {
  TRS_INCOMPLETE_IDLE = -1, /* from: of a step that does nothing */
  TRS_INCOMPLETE_ENTRY_BITS = 26,
  TRS_INCOMPLETE_MOST_ROW = 1 << TRS_INCOMPLETE_ENTRY_BITS,
  TRS_INCOMPLETE_MOST_LANES = 32
};
#define TRS_INCOMPLETE_LEADS 0x80000000u
typedef struct trs_incomplete_step {
  int32_t from;
  uint32_t what;
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
  const int32_t *mirror; /* IC(0): the place in L of each entry of U */
  const int32_t *U_idx;  /* IC(0) */
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
