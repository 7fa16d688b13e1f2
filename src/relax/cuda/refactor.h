/* refactor.h - block factors of new values on a GPU: refactor.c in place of the host's threads. */
#ifndef TRS_RELAX_CUDA_REFACTOR_H
#define TRS_RELAX_CUDA_REFACTOR_H

#include "relax/cuda/args.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Why a row failed, from the word `failed`: row * TRS_REFACTOR_KINDS + kind; all ones: none did. */
enum { TRS_REFACTOR_NO_PIVOT, TRS_REFACTOR_NOT_FINITE, TRS_REFACTOR_TOO_LARGE, TRS_REFACTOR_KINDS };

/* A step of a row's elimination.  at < 0: block ~at of the row is divided by the upper factor of
 * the diagonal block at place `block`, and is L_ik of the steps that follow.  Else the product of
 * L_ik and the block at place `block`, of row k of U, is subtracted from block at of the row. */
typedef struct trs_refactor_step {
  int32_t block, at;
} trs_refactor_step;

/* L or U, in the format of W21's kernels. */
typedef struct trs_refactor_side {
  trs_relax_args relax;
  const int32_t *position; /* n: of the factors' rows */
} trs_refactor_side;

/* Block rows of the factors, and how A's blocks come there.  Blocks are column-major. */
typedef struct trs_refactor_args {
  int64_t n;
  int block, cholesky;
  double threshold;
  const int64_t *ptr, *diagonal; /* as of a trs_bilu0 */
  const int64_t *step_ptr;       /* n + 1 */
  const trs_refactor_step *step;
  double *val; /* of eliminated rows: diagonal blocks, with reciprocals on u's diagonal, and U */
  const int32_t *source; /* the caller's block at each place; -1: none is given */
  const int32_t *target; /* each place's block of L, or of U; -1: a diagonal block */
  const uint8_t
      *from;         /* n x block: row r of the factors' block row is row from[r] of the caller's */
  const void *given; /* the caller's blocks */
  int wide, by_rows; /* given: double; blocks row-major */
  trs_refactor_side side[2]; /* L, U */
  unsigned long long *failed;
} trs_refactor_args;

/* The rows of a level. */
typedef struct trs_refactor_level {
  const int32_t *row;
  int64_t count, longest; /* rows; blocks of the longest one */
  int overlaps; /* the launch before is a level, and the device can begin this one early */
} trs_refactor_level;

/* Reads the caller's blocks of a level's rows, eliminates them and stores L and U.  Only launches.
 */
trs_status trs_refactor_eliminate(const trs_refactor_args *a, const trs_refactor_level *level,
                                  trs_stream stream);

#ifdef __cplusplus
}
#endif
#endif
