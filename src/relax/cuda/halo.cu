/* halo.cu - packs and unpacks rows of x that are sent between ranks. */
#include "device/gpu.cuh"
#include "relax/cuda/halo.h"

namespace {

constexpr int THREADS = 256;

/* Packed row k has its right-hand sides in sequence. */
template <class X, bool OUT>
__global__ void __launch_bounds__(THREADS)
    move_rows(const __grid_constant__ trs_relax_rows_moved m) {
  const int64_t each = int64_t(m.nrhs) * m.block, step = int64_t(gridDim.x) * THREADS;
  X *x = static_cast<X *>(m.x), *packed = static_cast<X *>(m.packed);
  for (int64_t e = int64_t(blockIdx.x) * THREADS + threadIdx.x; e < m.count * each; e += step) {
    const int64_t k = e / each, rest = e - k * each, c = rest / m.block;
    const int64_t p = m.list ? m.list[k] : m.first + k;
    X &there = x[c * m.stride + p * m.pitch + (rest - c * m.block)];
    if constexpr (OUT)
      packed[e] = there;
    else
      there = packed[e];
  }
}

template <class X>
void launch(const trs_relax_rows_moved &m, cudaStream_t stream) {
  constexpr int64_t MOST_BLOCKS = 256;
  const int64_t need = (m.count * m.nrhs * m.block + THREADS - 1) / THREADS;
  const auto blocks = unsigned(need < MOST_BLOCKS ? need : MOST_BLOCKS);
  if (m.out)
    move_rows<X, true><<<blocks, THREADS, 0, stream>>>(m);
  else
    move_rows<X, false><<<blocks, THREADS, 0, stream>>>(m);
}

}  // namespace

extern "C" trs_status trs_relax_move_rows(const trs_relax_rows_moved *m, trs_stream stream) {
  if (m->count == 0) return TRS_SUCCESS;
  if (m->size == 8)
    launch<double>(*m, static_cast<cudaStream_t>(stream));
  else
    launch<float>(*m, static_cast<cudaStream_t>(stream));
  return trs_device_check(cudaGetLastError(), "packing rows for other ranks");
}
