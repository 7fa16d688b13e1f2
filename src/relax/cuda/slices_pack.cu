/* slices_pack.cu - packs the blocks and factors of slices (slices.cu) from the format of W21's
 * kernels, and unpacks them. */
#include "relax/cuda/slice_shape.cuh"

namespace {

using namespace trs;
using namespace trs::slices;

constexpr int PACK_WARPS = 4;

template <int STORE, int B>
__global__ void __launch_bounds__(PACK_WARPS *int(WARP))
    pack_slices(const __grid_constant__ trs_relax_args a,
                const __grid_constant__ trs_relax_slices s, bool back) {
  using form = shape<STORE, B>;
  using off = typename form::off;
  using sum = typename form::sum;
  const int32_t number = int32_t(blockIdx.x) * PACK_WARPS + int32_t(threadIdx.x / WARP);
  const int lane = int(threadIdx.x % WARP);
  if (number >= s.nslices || lane >= form::LANES) return;
  const trs_relax_slice h = s.slice[number];
  const int slot = lane / B, i = lane % B;
  const trs_relax_slice_row row = s.row[number * form::ROWS + slot];
  const int count = row.count > 0 ? row.count : 0;
  const int nvectors = form::vectors(h.width);
  const int64_t first = a.ptr[row.position];
  char *slice = static_cast<char *>(const_cast<void *>(s.val)) + h.vector * 16;
  auto *blocks = static_cast<off *>(const_cast<void *>(a.off)) + first * B * B + i * B;
  for (int e = 0; e < nvectors * form::EACH; e++) {
    const int64_t vector = e / form::EACH, chunk = vector / form::VECTORS;
    auto *packed = reinterpret_cast<off *>(slice + (chunk + 1) * form::HEAD +
                                           (vector * form::LANES + lane) * 16) +
                   e % form::EACH;
    off &block = blocks[int64_t(e / B) * B * B + e % B];
    const bool there = e < count * B;
    if (back && there) block = *packed;
    if (!back) *packed = there ? block : off(0);
  }
  char *tail = slice + form::tail_at(h.width);
  if (!back) {
    const sum *d = static_cast<const sum *>(a.diagonal) + int64_t(row.position) * B * B;
    for (int j = 0; j < B; j++)
      reinterpret_cast<sum *>(tail)[j * form::LANES + lane] = d[j * B + i];
    tail[form::PIVOTS + lane] = char(a.pivot[int64_t(row.position) * B + i]);
  }
  if (i != 0) return;
  for (int k = 0; k < form::chunks(h.width) * form::CHUNK; k++) {
    char *head = slice + int64_t(k / form::CHUNK) * form::FULL;
    const int at = slot * form::CHUNK + k % form::CHUNK;
    auto *power = reinterpret_cast<int8_t *>(head + form::POWERS) + at;
    auto *of_block = const_cast<int8_t *>(a.power);
    if (back && form::SCALED && k < count) of_block[first + k] = *power;
    if (back) continue;
    reinterpret_cast<uint32_t *>(head)[at] =
        uint32_t(a.pitch) * uint32_t(k < count ? a.idx[first + k] : int32_t(s.zero));
    if (form::SCALED) *power = k < count ? of_block[first + k] : 0;
  }
}

trs_status move_blocks(const trs_relax_args *a, const trs_relax_slices *s, bool back,
                       trs_stream stream) {
  auto to = static_cast<cudaStream_t>(stream);
  if (s->nslices == 0) return TRS_SUCCESS;
  cudaError_t error = by_shape(a, [&](auto store, auto block) {
    pack_slices<decltype(store)::value, decltype(block)::value>
        <<<unsigned((s->nslices + PACK_WARPS - 1) / PACK_WARPS), PACK_WARPS * WARP, 0, to>>>(*a, *s,
                                                                                             back);
    return cudaGetLastError();
  });
  return trs_device_check(error, "packing the blocks of a relaxation");
}

}  // namespace

extern "C" trs_status trs_relax_slices_pack(const trs_relax_args *a, const trs_relax_slices *s,
                                            trs_stream stream) {
  return move_blocks(a, s, false, stream);
}

extern "C" trs_status trs_relax_slices_unpack(const trs_relax_args *a, const trs_relax_slices *s,
                                              trs_stream stream) {
  return move_blocks(a, s, true, stream);
}

extern "C" int64_t trs_relax_slice_vectors(const trs_relax_args *a, int32_t width) {
  int64_t bytes = 0;
  (void)by_shape(a, [&](auto store, auto block) {
    using form = shape<decltype(store)::value, decltype(block)::value>;
    bytes = form::tail_at(width) + form::TAIL;
    return cudaSuccess;
  });
  return bytes / 16;
}
