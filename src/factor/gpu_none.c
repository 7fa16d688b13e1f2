/* gpu_none.c - refactorisation on a GPU in a build without CUDA: no matrix lies in device memory,
 * so nothing here is called. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#include "factor/incomplete.h"

trs_status trs_incomplete_gpu_take(trs_factors *F, const trs_matrix *A) { return TRS_SUCCESS; }
trs_status trs_incomplete_gpu_run(const trs_factors *F, const trs_matrix *A,
                                  trs_incomplete_run *run) {
  return TRS_SUCCESS;
}
const trs_matrix *trs_incomplete_gpu_factor(const trs_factors *F, bool lower) {
  return lower ? F->L : F->U;
}
int64_t trs_incomplete_gpu_bytes(const trs_factors *F) { return 0; }
void trs_incomplete_gpu_destroy(trs_incomplete_gpu *g) {}
