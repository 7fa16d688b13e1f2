/* incomplete.h - ILU(0) and IC(0) of new values of A within the patterns of L and U, on the host
 * or, of values in a GPU's memory, there. */
#ifndef TRS_FACTOR_INCOMPLETE_H
#define TRS_FACTOR_INCOMPLETE_H

#include "factor/factors.h"

/* trs_factors_refactor for these kinds.  L and U then lie where A does. */
trs_status trs_incomplete_refactor(trs_factors *F, const trs_matrix *A);

/* The patterns of factors of these kinds in host memory, wherever their values lie. */
const trs_matrix *trs_incomplete_pattern(const trs_factors *F, bool lower);

/* ---- gpu.c, or gpu_none.c in a build without CUDA ---- */

/* L and U of A, which is in a GPU's memory; *shift: that of the last call or try, or of the next.
 * A zero pivot is TRS_ERROR_ZERO_PIVOT without a message of its own: *row, in the order of L U. */
typedef struct trs_incomplete_run {
  double shift;
  enum { TRS_RUN_DONE, TRS_RUN_ZERO, TRS_RUN_NOT_FINITE, TRS_RUN_OVERFLOW } outcome;
  int64_t row;   /* of L U, of an outcome that is no success */
  int64_t start; /* the first row whose diagonal entry of A is not positive, or -1 */
} trs_incomplete_run;

/* Prepares the GPU of A for factors of this pattern, and takes A's pattern. */
trs_status trs_incomplete_gpu_take(trs_factors *F, const trs_matrix *A);
/* Factors A + shift diag(A), and waits. */
trs_status trs_incomplete_gpu_run(const trs_factors *F, const trs_matrix *A,
                                  trs_incomplete_run *run);
/* L and U in device memory. */
const trs_matrix *trs_incomplete_gpu_factor(const trs_factors *F, bool lower);
/* Bytes of device memory without L and U. */
int64_t trs_incomplete_gpu_bytes(const trs_factors *F);
void trs_incomplete_gpu_destroy(trs_incomplete_gpu *g);

#endif
