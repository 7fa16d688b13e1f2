/* gpu_none.c - batches of a build without CUDA: no context has a GPU, so nothing here is called. */
#include "solve/batch/batch.h"

trs_status trs_batch_gpu_make(trs_batch *B, int64_t nrhs) {
  (void)B, (void)nrhs;
  return TRS_SUCCESS;
}
bool trs_batch_gpu_keeps_pattern(const trs_batch *B, int triangle) {
  (void)B, (void)triangle;
  return false;
}
void trs_batch_gpu_drop(trs_batch *B) { (void)B; }
trs_status trs_batch_gpu_fill(trs_batch *B, const trs_batch_given *given) {
  (void)B, (void)given;
  return TRS_SUCCESS;
}
trs_status trs_batch_gpu_run(trs_batch *B, const trs_rhs *rhs, int64_t b_next, int64_t x_next) {
  (void)B, (void)rhs, (void)b_next, (void)x_next;
  return TRS_SUCCESS;
}
trs_status trs_batch_gpu_use_stream(trs_batch *B, trs_stream stream) {
  (void)B, (void)stream;
  return TRS_SUCCESS;
}
void trs_batch_gpu_info(const trs_batch *B, trs_batch_info *info) { (void)B, (void)info; }
