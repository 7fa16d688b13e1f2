/* slice_shape.cuh - the memory layout of a slice (slices.cu). */
#ifndef TRS_RELAX_CUDA_SLICE_SHAPE_CUH
#define TRS_RELAX_CUDA_SLICE_SHAPE_CUH

#include "relax/cuda/row.cuh"

namespace trs {
namespace slices {

constexpr int round16(int bytes) { return (bytes + 15) / 16 * 16; }

/* A slice of B x B blocks in one storage format: chunks of CHUNK blocks per row.  Each chunk has a
 * head with positions in x (and powers), and vectors of 16 bytes, interleaved by lane; the last
 * chunk has only the nonempty vectors.  A tail with D and its pivots follows. */
template <int STORE, int B>
struct shape {
  using off = typename stored<STORE>::off;
  using sum = typename stored<STORE>::sum;
  static constexpr bool SCALED = stored<STORE>::scaled;
  static constexpr int ROWS = TRS_RELAX_SLICE_ROWS(B), LANES = ROWS * B;
  static constexpr int EACH = 16 / int(sizeof(off));
  static constexpr int CHUNK = TRS_RELAX_SLICE_CHUNK(B, int(sizeof(off)));
  static constexpr int VECTORS = CHUNK * B / EACH;
  static constexpr int POWERS = ROWS * CHUNK * 4; /* offsets of the parts */
  static constexpr int HEAD = round16(POWERS + (SCALED ? ROWS * CHUNK : 0));
  static constexpr int PIVOTS = round16(B * LANES * int(sizeof(sum)));
  static constexpr int TAIL = PIVOTS + round16(LANES);
  static constexpr int FULL = HEAD + VECTORS * LANES * 16;
  static constexpr int STAGE = (FULL > TAIL ? FULL : TAIL) + 16; /* its barrier comes first */
  static_assert(CHUNK * B % EACH == 0, "chunks are of whole vectors");
  static_assert(VECTORS * LANES * 16 >= B * LANES * int(sizeof(sum)), "room to add up");

  __host__ __device__ static int chunks(int width) { return (width + CHUNK - 1) / CHUNK; }
  __host__ __device__ static int vectors(int width) { return (width * B + EACH - 1) / EACH; }
  __device__ static int64_t vector_at(int vector) {
    return int64_t(vector / VECTORS + 1) * HEAD + int64_t(vector) * LANES * 16;
  }
  __host__ __device__ static int64_t tail_at(int width) {
    return int64_t(chunks(width)) * HEAD + int64_t(vectors(width)) * LANES * 16;
  }
  __device__ static int last_chunk(int width) {
    return HEAD + (vectors(width) - (chunks(width) - 1) * VECTORS) * LANES * 16;
  }
};

/* In the bytes of pivots: the tail has the inverse of D instead of its factors. */
constexpr int INVERTED = 0x80;

/* Calls f(block), and f(store, block), with constants. */
template <class F>
cudaError_t by_slice_block(int block, F f) {
  return by_size<1, TRS_RELAX_MOST_SLICED - 1, TRS_RELAX_MOST_SLICED>(block, f);
}
template <class F>
cudaError_t by_shape(const trs_relax_args *a, F f) {
  return by_store(a->store, [&](auto store) {
    return by_slice_block(a->block, [&](auto block) { return f(store, block); });
  });
}

}  // namespace slices
}  // namespace trs

#endif
