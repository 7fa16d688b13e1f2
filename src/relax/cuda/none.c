/* none.c - a build without CUDA: no context has a GPU, so nothing but free is ever called. */
#include "relax/cuda/backend.h"
#include "relax/cuda/group.h"

static trs_status no_cuda(void) {
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "this build has no CUDA");
}

trs_status trs_relax_gpu_create(trs_relaxation *R, trs_device *device, trs_stream stream,
                                const char *name) {
  (void)R;
  (void)device;
  (void)stream;
  (void)name;
  return no_cuda();
}
trs_status trs_relax_gpu_set_variant(trs_relaxation *R, const char *name) {
  (void)R;
  (void)name;
  return no_cuda();
}
trs_status trs_relax_gpu_fetch(trs_block_source *source, void *copies[3], trs_device *device,
                               trs_stream stream) {
  (void)source;
  (void)device;
  (void)stream;
  copies[0] = copies[1] = copies[2] = NULL;
  return TRS_SUCCESS;
}
trs_status trs_relax_gpu_update(trs_relaxation *R) {
  (void)R;
  return no_cuda();
}
trs_status trs_relax_gpu_sweep(trs_relaxation *R, const trs_rhs *rhs,
                               const trs_sweep_options *options) {
  (void)R;
  (void)rhs;
  (void)options;
  return no_cuda();
}
trs_status trs_relax_gpu_link(trs_relaxation *R) {
  (void)R;
  return no_cuda();
}
trs_status trs_relax_gpu_wait(trs_relaxation *R) {
  (void)R;
  return TRS_SUCCESS;
}
void trs_relax_gpu_set_stream(trs_relaxation *R, void *stream) {
  (void)R;
  (void)stream;
}
trs_stream trs_relax_gpu_stream(const trs_relaxation *R) {
  (void)R;
  return NULL;
}
const char *trs_relax_gpu_variant(const trs_relaxation *R) {
  (void)R;
  return "threads";
}
int64_t trs_relax_gpu_bytes(const trs_relaxation *R) {
  (void)R;
  return 0;
}
void trs_relax_gpu_free(trs_relaxation *R) { (void)R; }

trs_status trs_relax_group_create(trs_relaxation *R, trs_block_system *system,
                                  const trs_relax_options *options) {
  (void)R;
  (void)system;
  (void)options;
  return no_cuda();
}
trs_status trs_relax_group_update(trs_relaxation *R, const trs_block_source *source) {
  (void)R;
  (void)source;
  return no_cuda();
}
trs_status trs_relax_group_set_variant(trs_relaxation *R, const char *name) {
  (void)R;
  (void)name;
  return no_cuda();
}
trs_status trs_relax_group_sweep(trs_relaxation *R, const trs_rhs *rhs,
                                 const trs_sweep_options *options) {
  (void)R;
  (void)rhs;
  (void)options;
  return no_cuda();
}
trs_status trs_relax_group_wait(trs_relaxation *R) {
  (void)R;
  return TRS_SUCCESS;
}
void trs_relax_group_set_stream(trs_relaxation *R, void *stream) {
  (void)R;
  (void)stream;
}
trs_stream trs_relax_group_stream(const trs_relaxation *R) {
  (void)R;
  return NULL;
}
const char *trs_relax_group_variant(const trs_relaxation *R) {
  (void)R;
  return "threads";
}
const char *trs_relax_group_partition(const trs_relaxation *R, int *members) {
  (void)R;
  *members = 1;
  return "one domain";
}
int64_t trs_relax_group_bytes(const trs_relaxation *R) {
  (void)R;
  return 0;
}
void trs_relax_group_free(trs_relaxation *R) { (void)R; }
