/* analysis.cu - the sequence of the analysis on the GPU, and what it leaves. */
extern "C" {
#include "base/memory.h"
}
#include "solve/cuda/analysis.cuh"

namespace {

using namespace trs;

const uint64_t WAIT_LIMIT = 10000000000u; /* ten seconds */

trs_status build(analysis &a) {
  analysis_state none = {};
  none.fault.row = -1;
  none.fault.limit = WAIT_LIMIT;
  TRS_TRY(a.space.get(&a.state, 1));
  TRS_TRY(trs_device_copy(a.state, &none, sizeof none, a.stream));
  TRS_TRY(find_blocks(a));
  TRS_TRY(find_levels(a));
  TRS_TRY(cut_slices(a));
  return fill_positions(a);
}

/* A system without rows has one chunk boundary and one level boundary. */
trs_status build_empty(analysis &a) {
  TRS_TRY(TRS_ALLOC_ZERO(a.level, 1));
  TRS_TRY(TRS_DEVICE_ALLOC(a.device, &a.slices->chunk, 1, a.stream));
  return trs_device_fill(a.slices->chunk, 0, sizeof *a.slices->chunk, a.stream);
}

}  // namespace

extern "C" trs_status trs_gpu_slices_create(trs_slices *slices, trs_slice_level **level,
                                            trs_slices_map *map, trs_device *device,
                                            const trs_gpu_pattern *pattern,
                                            const trs_slice_rules *rules, trs_stream stream) {
  *slices = trs_slices{};
  *map = trs_slices_map{};
  *level = nullptr;
  slices->n = pattern->n;
  analysis a(device, *pattern, *rules, static_cast<cudaStream_t>(stream));
  a.slices = slices;
  a.level = level;
  a.map = map;
  trs_status status = pattern->n > 0 ? build(a) : build_empty(a);
  if (!status) return TRS_SUCCESS;
  trs_gpu_slices_free(slices, map, device, stream);
  trs_free(*level);
  *level = nullptr;
  return status;
}

extern "C" void trs_gpu_slices_free(trs_slices *slices, trs_slices_map *map, trs_device *device,
                                    trs_stream stream) {
  void *arrays[] = {slices->slice,   slices->chunk, slices->row, slices->idx, slices->val,
                    slices->inverse, map->place,    map->piece,  map->heavy};
  for (void *array : arrays) trs_device_free(device, array, stream);
  *slices = trs_slices{};
  *map = trs_slices_map{};
}

extern "C" int64_t trs_gpu_slices_bytes(const trs_slices *slices, const trs_slices_map *map,
                                        trs_scalar scalar, int store_float) {
  const int64_t int_size = sizeof(int32_t);
  const int64_t size = int64_t(4) << ((scalar & 1) + (scalar >> 1));
  const int64_t value_size = store_float && (scalar & 1) ? size / 2 : size;
  return slices->nslices * (int64_t(sizeof(trs_slice)) + int_size) + slices->n * int_size +
         slices->entries * (int_size + value_size) + slices->inverses * size +
         (map->place ? slices->n : 0) + (int64_t(slices->nparts) + map->nheavy) * int_size;
}
