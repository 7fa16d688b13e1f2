/* analysis_pattern.cu - the pattern of a system, read back from its slices.
 *
 * One warp per slice, as in analysis_fill.cu: the lanes of a row hold its entries in turn. */
#include <cub/device/device_scan.cuh>

#include "solve/cuda/engine/analysis.cuh"
#include "solve/cuda/engine/slice.cuh"

namespace {

using namespace trs;

struct pattern_reader {
  trs_slices s;
  const int32_t *piece; /* as in trs_slices_map */
  int32_t full;         /* each row ends with its diagonal entry */
  int64_t *ptr;
  int32_t *idx;
};

/* A lane's row in a slice, and its first entry. */
struct lane_row {
  int32_t row; /* -1: none */
  int32_t lanes;
  int64_t entry;
};

__device__ lane_row row_of_lane(const pattern_reader &v, const trs_slice &h) {
  const int t = this_lane() >> h.log_lanes;
  const int32_t lanes = 1 << h.log_lanes;
  const int64_t piece = h.parts < 0 ? v.piece[h.part] : max(h.parts, 0);
  return {t < h.rows ? v.s.row[h.first + t] : -1, lanes,
          piece * TRS_PART_WIDTH * lanes + this_lane() % lanes};
}

/* f(slice, row) in the warp of each slice. */
template <class F>
__device__ void for_slice(const pattern_reader &v, F f) {
  const int64_t s = this_thread() / WARP;
  if (s >= v.s.nslices) return;
  const trs_slice h = v.s.slice[s];
  f(h, row_of_lane(v, h));
}

/* Adds the entries of row r to ptr[r + 1]. */
__global__ void __launch_bounds__(ANALYSIS_THREADS)
    count_row_entries(const __grid_constant__ pattern_reader v) {
  for_slice(v, [&](const trs_slice &h, const lane_row &r) {
    if (r.row < 0) return;
    const int32_t *from = v.s.idx + h.entries + this_lane();
    unsigned long long count = 0;
    for (int32_t k = 0; k < h.width; k++) count += from[int64_t(k) * trs_slice_stride(&h)] >= 0;
    if (v.full && !trs_slice_is_part(&h) && this_lane() % r.lanes == 0) count++;
    if (count > 0) atomicAdd(reinterpret_cast<unsigned long long *>(v.ptr + r.row + 1), count);
  });
}

__global__ void __launch_bounds__(ANALYSIS_THREADS)
    read_columns(const __grid_constant__ pattern_reader v) {
  for_slice(v, [&](const trs_slice &h, const lane_row &r) {
    if (r.row < 0) return;
    const int32_t *from = v.s.idx + h.entries + this_lane();
    int32_t *to = v.idx + v.ptr[r.row] + r.entry;
    for (int32_t k = 0; k < h.width; k++) {
      const int32_t position = from[int64_t(k) * trs_slice_stride(&h)];
      if (position >= 0) to[int64_t(k) * r.lanes] = v.s.row[position];
    }
    if (v.full && !trs_slice_is_part(&h) && this_lane() % r.lanes == 0)
      v.idx[v.ptr[r.row + 1] - 1] = r.row;
  });
}

cudaError_t launch(const pattern_reader &v, void *scan, size_t bytes, cudaStream_t stream) {
  const unsigned grid = blocks_for(int64_t(v.s.nslices) * WARP);
  cudaError_t error = cudaMemsetAsync(v.ptr, 0, size_t(v.s.n + 1) * sizeof *v.ptr, stream);
  if (error || v.s.nslices == 0) return error;
  count_row_entries<<<grid, ANALYSIS_THREADS, 0, stream>>>(v);
  error = cub::DeviceScan::InclusiveSum(scan, bytes, v.ptr + 1, v.ptr + 1, v.s.n, stream);
  if (error) return error;
  read_columns<<<grid, ANALYSIS_THREADS, 0, stream>>>(v);
  return cudaGetLastError();
}

}  // namespace

extern "C" trs_status trs_gpu_slices_pattern(const trs_slices *slices, const trs_slices_map *map,
                                             int full, int64_t *ptr, int32_t *idx,
                                             trs_device *device, trs_stream stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  void *scan = nullptr;
  size_t bytes = 0;
  TRS_TRY(trs_device_check(cub::DeviceScan::InclusiveSum(scan, bytes, ptr, ptr, slices->n, on),
                           "summing"));
  TRS_TRY(trs_device_alloc(device, &scan, int64_t(bytes), 1, stream));
  const cudaError_t error = launch({*slices, map->piece, full, ptr, idx}, scan, bytes, on);
  trs_device_free(device, scan, stream);
  return trs_device_check(error, "reading a pattern back");
}
