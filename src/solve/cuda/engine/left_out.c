/* left_out.c - the parts of the engine that builds with HIP leave out: the single-block and the
 * cluster kernel, the kernels of several right-hand sides together, and substitution.  engine.c
 * never calls them there (TRS_ENGINE_WARP_SLICE_ALONE); they exist for the linker, and fail. */
#include "solve/cuda/engine/state.h"

static trs_status none(void) {
  return trs_fail(TRS_ERROR_INTERNAL, -1, "a build with HIP has no such kernel of the engine");
}

trs_status trs_engine_prepare_shared_x(trs_scalar scalar, int32_t float_values, int32_t overlaps,
                                       int32_t *clusters) {
  (void)scalar, (void)float_values, (void)overlaps;
  *clusters = 0;
  return TRS_SUCCESS;
}

trs_status trs_engine_shared_x(const trs_engine_args *args, trs_scalar scalar,
                               const trs_launch_range *range, int32_t last, trs_stream stream) {
  (void)args, (void)scalar, (void)range, (void)last, (void)stream;
  return none();
}

trs_status trs_engine_many_rhs(const trs_engine_args *args, trs_scalar scalar,
                               const trs_launch_range *range, int32_t width, trs_stream stream) {
  (void)args, (void)scalar, (void)range, (void)width, (void)stream;
  return none();
}

trs_status trs_engine_row_groups(const trs_engine_args *args, trs_scalar scalar,
                                 const trs_launch_range *range, int32_t width, int64_t shared_bytes,
                                 trs_stream stream) {
  (void)args, (void)scalar, (void)range, (void)width, (void)shared_bytes, (void)stream;
  return none();
}

trs_status trs_engine_map_idx(int32_t *system_idx, const trs_slices *slices, trs_stream stream) {
  (void)system_idx, (void)slices, (void)stream;
  return none();
}

trs_status trs_gpu_substitute(trs_gpu_substitution *result, bool *made, const trs_gpu_cut *cut,
                              const trs_bands *bands, int64_t most_entries, bool store_float,
                              trs_substitution_judge worth, void *argument,
                              trs_substitution_found *found) {
  (void)result, (void)cut, (void)bands, (void)most_entries, (void)store_float, (void)worth;
  (void)argument, (void)found;
  *made = false;
  return TRS_SUCCESS;
}

trs_status trs_gpu_box(trs_gpu_substitution *result, const trs_gpu_cut *cut,
                       const trs_box_classes *classes) {
  (void)result, (void)cut, (void)classes;
  return none();
}

trs_status trs_gpu_box_again(trs_gpu_substitution *s, trs_device *device, const trs_system *system,
                             trs_stream stream) {
  (void)s, (void)device, (void)system, (void)stream;
  return none();
}

trs_status trs_gpu_substitution_rows(const trs_gpu_substitution *s, const int32_t *row, int32_t *to,
                                     trs_stream stream) {
  (void)s, (void)row, (void)to, (void)stream;
  return none();
}

void trs_gpu_substitution_drop_arrays(trs_gpu_substitution *s, trs_device *device,
                                      trs_stream stream) {
  (void)s, (void)device, (void)stream;
}

trs_status trs_gpu_substitution_restore(trs_gpu_substitution *s, trs_device *device,
                                        const trs_slices *slices, const trs_slices_map *map,
                                        const int32_t *of_position, trs_stream stream) {
  (void)s, (void)device, (void)slices, (void)map, (void)of_position, (void)stream;
  return none();
}

trs_status trs_gpu_substitute_again(const trs_gpu_substitution *s, trs_device *device,
                                    const trs_system *system, trs_substitution_found *found,
                                    trs_stream stream) {
  (void)s, (void)device, (void)system, (void)found, (void)stream;
  return none();
}

trs_status trs_gpu_substitution_keep(trs_gpu_substitution *s, trs_device *device,
                                     const trs_system *system, trs_stream stream) {
  (void)s, (void)device, (void)system, (void)stream;
  return none();
}

trs_status trs_gpu_substitution_launch(const trs_gpu_substitution *s, trs_device *device,
                                       const trs_system *system, trs_substitution_found *found,
                                       trs_stream stream) {
  (void)s, (void)device, (void)system, (void)found, (void)stream;
  return none();
}

void trs_gpu_substitution_free(trs_gpu_substitution *s, trs_device *device, trs_stream stream) {
  (void)device, (void)stream;
  *s = (trs_gpu_substitution){0};
}

int64_t trs_gpu_substitution_bytes(const trs_gpu_substitution *s, int64_t n) {
  (void)s, (void)n;
  return 0;
}
