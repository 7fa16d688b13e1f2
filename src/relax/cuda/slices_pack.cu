/* slices_pack.cu - packs the blocks and factors of slices (slices.cu) from the blocks by rows. */
#include "relax/cuda/slice_shape.cuh"

namespace {

using namespace trs;
using namespace trs::slices;

constexpr int PACK_WARPS = 4;

/* The factors of D are kept where the inverse has a larger condition number (analysis/growth.h). */
constexpr double MOST_GROWTH = 1000;

/* Row i of D^-1, from the factors of D: v[k] is the coefficient of component pivot[k].  Result: the
 * sum of magnitudes over j, m of D^-1_ij D_jm. */
template <int B, class S>
__device__ double invert_row(const S *d, int i, S (&v)[B]) {
#pragma unroll
  for (int j = 0; j < B; j++) {
    S sum = i == j ? S(1) : S(0);
#pragma unroll
    for (int m = 0; m < j; m++) sum = fma(-v[m], d[j * B + m], sum);
    v[j] = sum * d[j * B + j];
  }
#pragma unroll
  for (int j = B - 1; j >= 0; j--)
#pragma unroll
    for (int m = j + 1; m < B; m++) v[j] = fma(-v[m], d[j * B + m], v[j]);
  double growth = 0;
#pragma unroll
  for (int j = 0; j < B; j++) { /* rows of P D = L U, at most */
    double row = 0;
#pragma unroll
    for (int m = 0; m < B; m++) {
      double sum = 0;
#pragma unroll
      for (int k = 0; k <= (j < m ? j : m); k++) {
        const double l = k == j ? 1 : double(d[k * B + j]);
        const double u = k == m ? 1 / double(d[m * B + m]) : double(d[m * B + k]);
        sum = fma(l, u, sum);
      }
      row += fabs(sum);
    }
    growth = fma(fabs(double(v[j])), row, growth);
  }
  return growth;
}

/* Writes the tail of a slice: the inverses of its rows' D, if all of them have a small growth, else
 * their factors.  By all lanes of the slice. */
template <class FORM, int B>
__device__ void pack_tail(const trs_relax_args &a, int32_t position, bool inverts, int lane, int i,
                          char *tail) {
  using sum = typename FORM::sum;
  const sum *d = static_cast<const sum *>(a.diagonal) + int64_t(position) * B * B;
  const uint8_t *pivot = a.pivot + int64_t(position) * B;
  auto *to = reinterpret_cast<sum *>(tail) + lane;
  const lane_mask lanes =
      FORM::LANES == WARP ? ALL_LANES : (lane_mask(1) << FORM::LANES % WARP) - 1;
  sum v[B];
  if (inverts) inverts = all_of_lanes(lanes, invert_row<B>(d, i, v) < MOST_GROWTH);
#pragma unroll
  for (int j = 0; j < B; j++)
    to[(inverts ? pivot[j] : j) * FORM::LANES] = inverts ? v[j] : d[j * B + i];
  tail[FORM::PIVOTS + lane] = char(pivot[i] | (inverts ? INVERTED : 0));
}

/* Copies a lane's columns of count blocks to the vectors of a slice.  Blocks by rows do not change
 * meanwhile, so that loads of several vectors are in flight. */
template <class FORM, int B, class OFF>
__device__ void pack_blocks(const OFF *blocks, int count, int nvectors, int lane, char *slice) {
#pragma unroll 4
  for (int vector = 0; vector < nvectors; vector++) {
    alignas(16) OFF part[FORM::EACH];
#pragma unroll
    for (int k = 0; k < FORM::EACH; k++) {
      const int e = vector * FORM::EACH + k;
      part[k] = e < count * B ? load_constant(blocks + int64_t(e / B) * B * B + e % B) : OFF(0);
    }
    *reinterpret_cast<uint4 *>(slice + FORM::vector_at(vector) + lane * 16) =
        *reinterpret_cast<const uint4 *>(part);
  }
}
template <int STORE, int B>
__global__ void __launch_bounds__(PACK_WARPS *int(WARP))
    pack_slices(const __grid_constant__ trs_relax_args a,
                const __grid_constant__ trs_relax_slices s) {
  using form = shape<STORE, B>;
  using off = typename form::off;
  const int32_t number = int32_t(blockIdx.x) * PACK_WARPS + int32_t(threadIdx.x / WARP);
  const int lane = int(threadIdx.x % WARP);
  if (number >= s.nslices || lane >= form::LANES) return;
  const trs_relax_slice h = s.slice[number];
  const int slot = lane / B, i = lane % B;
  const trs_relax_slice_row row = s.row[number * form::ROWS + slot];
  const int count = row.count > 0 ? row.count : 0;
  const int64_t first = a.ptr[row.position];
  char *slice = static_cast<char *>(const_cast<void *>(s.val)) + h.vector * 16;
  auto *blocks = static_cast<const off *>(a.off) + first * B * B + i * B;
  pack_blocks<form, B>(blocks, count, form::vectors(h.width), lane, slice);
  pack_tail<form, B>(a, row.position, s.triangle, lane, i, slice + form::tail_at(h.width));
  for (int k = i; k < form::chunks(h.width) * form::CHUNK; k += B) {
    char *head = slice + int64_t(k / form::CHUNK) * form::FULL;
    const int at = slot * form::CHUNK + k % form::CHUNK;
    reinterpret_cast<uint32_t *>(head)[at] =
        uint32_t(a.pitch) * uint32_t(k < count ? a.idx[first + k] : int32_t(s.zero));
    if (form::SCALED)
      reinterpret_cast<int8_t *>(head + form::POWERS)[at] = k < count ? a.power[first + k] : 0;
  }
}

}  // namespace

extern "C" trs_status trs_relax_slices_pack(const trs_relax_args *a, const trs_relax_slices *s,
                                            trs_stream stream) {
  auto to = static_cast<cudaStream_t>(stream);
  if (s->nslices == 0) return TRS_SUCCESS;
  cudaError_t error = by_shape(a, [&](auto store, auto block) {
    pack_slices<decltype(store)::value, decltype(block)::value>
        <<<unsigned((s->nslices + PACK_WARPS - 1) / PACK_WARPS), PACK_WARPS * warp_of_device(), 0,
           to>>>(*a, *s);
    return cudaGetLastError();
  });
  return trs_device_check(error, "packing the blocks of a relaxation");
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
