/* refactor.h - block factors of new values on a GPU: refactor.c in place of the host's threads. */
#ifndef TRS_RELAX_CUDA_REFACTOR_H
#define TRS_RELAX_CUDA_REFACTOR_H

#include "relax/cuda/args.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Why a row failed, from the word `failed`: row * TRS_REFACTOR_KINDS + kind; all ones: none did. */
enum { TRS_REFACTOR_NO_PIVOT, TRS_REFACTOR_NOT_FINITE, TRS_REFACTOR_TOO_LARGE, TRS_REFACTOR_KINDS };

/* The arrays of a trs_bilu0 in device memory, and how A's blocks come there. */
typedef struct trs_refactor_args {
  int64_t n;
  int block, dilu, cholesky;
  double threshold;
  const int64_t *ptr, *diagonal;
  const int32_t *idx;
  double *val;
  uint8_t *pivot;
  const int32_t *source; /* the caller's block at each place; -1: none is given */
  const uint8_t
      *from;         /* n x block: row r of the factors' block row is row from[r] of the caller's */
  const void *given; /* the caller's blocks */
  int wide, by_rows; /* given: double; blocks row-major */
  unsigned long long *failed;
} trs_refactor_args;

/* Each only launches.  rows: the rows of a level. */
trs_status trs_refactor_gather(const trs_refactor_args *a, trs_stream stream);
trs_status trs_refactor_eliminate(const trs_refactor_args *a, const int32_t *rows, int64_t count,
                                  trs_stream stream);
/* Stores L (lower) or U in the format of W21's kernels: off, power, diagonal and pivot of r. place:
 * the place of each of r's off-diagonal blocks. */
trs_status trs_refactor_store(const trs_refactor_args *a, const trs_relax_args *r,
                              const int32_t *place, int lower, trs_stream stream);

#ifdef __cplusplus
}
#endif
#endif
