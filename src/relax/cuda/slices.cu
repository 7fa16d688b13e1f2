/* slices.cu - relaxation at the memory's speed, for blocks of 1 to 8.
 *
 * A slice is as many rows of a colour as fit the lanes of a warp, six of 5 x 5, with about as many
 * blocks each.  A lane has one component of a row, and reads that row of every block: its elements
 * lie in vectors of 16 bytes, vector behind vector, lane beside lane, so that a warp's loads are
 * whole and many are on their way.  The block row of x comes to its lanes once, an element a lane,
 * and goes from lane to lane by shuffles.  Nothing is added across lanes; sums are in the order of
 * the row's blocks, the same bits every time.
 *
 * A launch relaxes a colour.  It begins while the one before still runs: a warp asks for its first
 * blocks, its right-hand side and its diagonal block, and for more into L2, before it waits for the
 * colour before, since all of that only x depends on. */
#include "relax/cuda/row.cuh"

namespace {

using namespace trs;

constexpr int SLICE_WARPS = 4, SLICE_THREADS = SLICE_WARPS * int(WARP);

/* How a store's blocks of B x B come: elements of a vector, blocks of a turn, vectors of a turn. */
template <int STORE, int B>
struct shape {
  using off = typename stored<STORE>::off;
  static constexpr int ROWS = TRS_RELAX_SLICE_ROWS(B), LANES = ROWS * B;
  static constexpr int EACH = 16 / int(sizeof(off));
  static constexpr int TURN = TRS_RELAX_SLICE_TURN(B, int(sizeof(off)));
  static constexpr int VECTORS = TURN * B / EACH;
  static_assert(TURN * B % EACH == 0, "turns are of whole vectors");
};

/* Read once: past L1, and first to leave L2. */
__device__ inline uint4 load_once(const uint4 *p, uint64_t policy) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p), "l"(policy));
  return v;
}
__device__ inline void ask_for(const void *p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }
__device__ inline void let_next_begin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* Element e of words that hold elements of a store one behind the other. */
template <int STORE>
__device__ inline typename stored<STORE>::product element_of(const uint32_t *word, int e) {
  if constexpr (sizeof(typename stored<STORE>::off) == 8)
    return __hiloint2double(int(word[2 * e + 1]), int(word[2 * e]));
  else if constexpr (sizeof(typename stored<STORE>::off) == 4)
    return __uint_as_float(word[e]);
  else
    return decode<STORE>(uint16_t(e % 2 ? word[e / 2] >> 16 : word[e / 2] & 0xffff));
}

template <int STORE, int B>
class slice {
  using T = stored<STORE>;
  using off = typename T::off;
  using X = typename T::x;
  using sum = typename T::sum;
  using product = typename T::product;
  using form = shape<STORE, B>;
  static constexpr int TURN = form::TURN, VECTORS = form::VECTORS;

 public:
  __device__ slice(const trs_relax_args &a, const trs_relax_slices &s, int32_t number, int c)
      : a_(a), lane_(int(threadIdx.x % WARP)), l_(B, lane_ < form::LANES ? lane_ : 0) {
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(once_));
    const trs_relax_slice h = s.slice[number];
    const trs_relax_slice_row row = s.row[number * form::ROWS + l_.slot];
    there_ = lane_ < form::LANES && row.count >= 0;
    position_ = row.position;
    count_ = there_ ? row.count : 0;
    width_ = h.width;
    nvectors_ = (h.width * B + form::EACH - 1) / form::EACH;
    val_ = static_cast<const uint4 *>(s.val) + h.vector + lane_;
    idx_ = s.idx + (h.turn * form::ROWS + l_.slot) * TURN;
    power_ = T::scaled ? s.power + (h.turn * form::ROWS + l_.slot) * TURN : nullptr;
    x_ = static_cast<X *>(a.x) + c * a.x_stride;
    r_ = static_cast<const sum *>(a.r) + c * a.r_stride + int64_t(position_) * B + l_.i;
  }

  /* What x does not change. */
  __device__ void begin() {
    load_turn(0);
    load_idx(0);
    const char *more = reinterpret_cast<const char *>(val_ - lane_ + VECTORS * form::LANES);
    if (lane_ * 128 < (nvectors_ - VECTORS) * form::LANES * 16) ask_for(more + lane_ * 128);
    known_ = *r_;
    const sum *d = static_cast<const sum *>(a_.diagonal) + int64_t(position_) * B * B;
#pragma unroll
    for (int j = 0; j < B; j++) d_[j] = d[j * B + l_.i];
    pivot_ = a_.pivot[int64_t(position_) * B + l_.i];
  }

  __device__ sum off_diagonal() {
    sum total = 0;
    for (int first = 0; first < width_; first += TURN) {
      X x[TURN];
#pragma unroll
      for (int u = 0; u < TURN; u++)
        x[u] = first + u < count_ ? x_[int64_t(now_[u]) * a_.pitch + l_.i] : X(0);
      int power[TURN];
      if (T::scaled) load_power(power, first);
      if (first + TURN < width_) load_idx(first + TURN);
      multiply(total, x, power);
      if (first + TURN < width_) load_turn(first + TURN);
    }
    return total;
  }

  __device__ void relax() {
    sum y = known_ - off_diagonal();
    sum z = solve(y);
    if (there_) trs::relax(x_ + int64_t(position_) * a_.pitch + l_.i, z, a_.omega);
  }

  /* The square of this lane's component of r - A x. */
  __device__ double square() {
    sum y = off_diagonal(), z = multiply_diagonal(sum(x_[int64_t(position_) * a_.pitch + l_.i]));
    const sum known = __shfl_sync(EVERY_LANE, known_, l_.first + pivot_);
    const double e =
        double(known) - double(__shfl_sync(EVERY_LANE, y, l_.first + pivot_)) - double(z);
    return there_ ? e * e : 0;
  }

 private:
  const trs_relax_args &a_;
  int lane_;
  lanes<B> l_;
  uint64_t once_;
  bool there_;
  int32_t position_;
  int count_, width_, nvectors_, pivot_;
  const uint4 *val_;
  const int32_t *idx_;
  const int8_t *power_;
  X *x_;
  const sum *r_;
  sum known_, d_[B];
  uint32_t word_[4 * VECTORS];
  int32_t now_[TURN]; /* block columns of the turn */

  __device__ void load_turn(int first) {
    const int vector = first / TURN * VECTORS;
#pragma unroll
    for (int q = 0; q < VECTORS; q++) {
      uint4 v = {};
      if (vector + q < nvectors_ && lane_ < form::LANES)
        v = load_once(val_ + (vector + q) * form::LANES, once_);
      word_[4 * q] = v.x;
      word_[4 * q + 1] = v.y;
      word_[4 * q + 2] = v.z;
      word_[4 * q + 3] = v.w;
    }
  }

  __device__ void load_idx(int first) {
    struct alignas((TURN < 4 ? TURN : 4) * sizeof(int32_t)) few {
      int32_t at[TURN < 4 ? TURN : 4];
    };
    constexpr int FEW = TURN < 4 ? TURN : 4;
    const int32_t *from = idx_ + first * form::ROWS;
#pragma unroll
    for (int u = 0; u < TURN; u += FEW) {
      const few f = *reinterpret_cast<const few *>(from + u);
#pragma unroll
      for (int e = 0; e < FEW; e++) now_[u + e] = f.at[e];
    }
  }

  __device__ void load_power(int (&power)[TURN], int first) const {
#pragma unroll
    for (int u = 0; u < TURN; u++) power[u] = power_[first * form::ROWS + u];
  }

  __device__ void multiply(sum &total, const X (&x)[TURN], const int (&power)[TURN]) const {
#pragma unroll
    for (int u = 0; u < TURN; u++) {
      product y = 0;
#pragma unroll
      for (int j = 0; j < B; j++) {
        const X xj = __shfl_sync(EVERY_LANE, x[u], l_.first + j);
        y = fma(element_of<STORE>(word_, u * B + j), product(xj), y);
      }
      total += T::scaled ? sum(y) * sum(two_to(power[u])) : sum(y);
    }
  }

  /* D^-1 y, from the factors of D. */
  __device__ sum solve(sum y) const {
    sum z = __shfl_sync(EVERY_LANE, y, l_.first + pivot_);
#pragma unroll
    for (int j = 0; j < B - 1; j++) {
      sum zj = __shfl_sync(EVERY_LANE, z, l_.first + j);
      if (l_.i > j) z = fma(-d_[j], zj, z);
    }
#pragma unroll
    for (int j = B - 1; j >= 0; j--) {
      const sum own = d_[j]; /* by a branch on i == j it would be d_[i], from memory */
      z *= l_.i == j ? own : sum(1);
      sum zj = __shfl_sync(EVERY_LANE, z, l_.first + j);
      if (l_.i < j) z = fma(-d_[j], zj, z);
    }
    return z;
  }

  /* Component pivot[i] of D x in lane i: U's diagonal is stored inverted. */
  __device__ sum multiply_diagonal(sum x) const {
    sum own = d_[0];
#pragma unroll
    for (int j = 1; j < B; j++) {
      const sum other = d_[j];
      own = l_.i == j ? other : own;
    }
    sum u = x / own;
#pragma unroll
    for (int j = 1; j < B; j++) {
      sum xj = __shfl_sync(EVERY_LANE, x, l_.first + j);
      if (l_.i < j) u = fma(d_[j], xj, u);
    }
    sum total = u;
#pragma unroll
    for (int j = 0; j < B - 1; j++) {
      sum uj = __shfl_sync(EVERY_LANE, u, l_.first + j);
      if (l_.i > j) total = fma(d_[j], uj, total);
    }
    return total;
  }
};

template <int STORE, int B>
__global__ void __launch_bounds__(SLICE_THREADS)
    relax_slices(const __grid_constant__ trs_relax_args a,
                 const __grid_constant__ trs_relax_slices s, int32_t begin, int32_t end) {
  const int32_t number = begin + int32_t(blockIdx.x) * SLICE_WARPS + int32_t(threadIdx.x / WARP);
  let_next_begin();
  if (number >= end) return;
  slice<STORE, B> own(a, s, number, int(blockIdx.y));
  own.begin();
  await_kernel_before();
  own.relax();
}

/* A part for each block of threads. */
template <int STORE, int B>
__global__ void __launch_bounds__(SLICE_THREADS)
    square_slices(const __grid_constant__ trs_relax_args a,
                  const __grid_constant__ trs_relax_slices s) {
  __shared__ double of_warp[SLICE_WARPS];
  const int warp = int(threadIdx.x / WARP);
  const int32_t number = int32_t(blockIdx.x) * SLICE_WARPS + warp;
  double squares = 0;
  if (number < s.nslices) {
    slice<STORE, B> own(a, s, number, int(blockIdx.y));
    own.begin();
    squares = own.square();
    for (int step = int(WARP) / 2; step > 0; step /= 2)
      squares += __shfl_xor_sync(EVERY_LANE, squares, step);
  }
  if (threadIdx.x % WARP == 0) of_warp[warp] = squares;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < SLICE_WARPS; w++) squares += of_warp[w];
  s.partial[int64_t(blockIdx.y) * gridDim.x + blockIdx.x] = squares;
}

/* ---- Packing, a warp a slice, and the way back. ---- */

template <int STORE, int B>
__global__ void __launch_bounds__(SLICE_THREADS)
    pack_slices(const __grid_constant__ trs_relax_args a,
                const __grid_constant__ trs_relax_slices s, bool back) {
  using form = shape<STORE, B>;
  using off = typename form::off;
  const int32_t number = int32_t(blockIdx.x) * SLICE_WARPS + int32_t(threadIdx.x / WARP);
  const int lane = int(threadIdx.x % WARP);
  if (number >= s.nslices || lane >= form::LANES) return;
  const trs_relax_slice h = s.slice[number];
  const int slot = lane / B, i = lane % B;
  const trs_relax_slice_row row = s.row[number * form::ROWS + slot];
  const int count = row.count > 0 ? row.count : 0;
  const int nvectors = (h.width * B + form::EACH - 1) / form::EACH;
  const int64_t first = a.ptr[row.position];
  auto *blocks = static_cast<off *>(const_cast<void *>(a.off)) + first * B * B + i;
  auto *val = static_cast<off *>(const_cast<void *>(s.val)) + (h.vector + lane) * form::EACH;
  for (int e = 0; e < nvectors * form::EACH; e++) {
    off &packed = val[int64_t(e / form::EACH) * form::LANES * form::EACH + e % form::EACH];
    const bool there = e < count * B;
    if (back && there) blocks[int64_t(e) * B] = packed;
    if (!back) packed = there ? blocks[int64_t(e) * B] : off(0);
  }
  if (i != 0) return;
  const int64_t to = (h.turn * form::ROWS + slot) * int64_t(form::TURN);
  for (int k = 0; k < (h.width + form::TURN - 1) / form::TURN * form::TURN; k++) {
    const int64_t at = to + k / form::TURN * form::TURN * form::ROWS + k % form::TURN;
    int8_t *power = const_cast<int8_t *>(s.power) + at, *of_block = const_cast<int8_t *>(a.power);
    if (back && stored<STORE>::scaled && k < count) of_block[first + k] = *power;
    if (back) continue;
    const_cast<int32_t *>(s.idx)[at] = k < count ? a.idx[first + k] : 0;
    if (stored<STORE>::scaled) *power = k < count ? of_block[first + k] : 0;
  }
}

unsigned blocks_of(int32_t slices) {
  return static_cast<unsigned>((slices + SLICE_WARPS - 1) / SLICE_WARPS);
}

/* f(store, block) as constants. */
template <class F>
cudaError_t by_shape(const trs_relax_args *a, F f) {
  return by_store(a->store, [&](auto store) {
    switch (a->block) {
      case 1:
        return f(store, std::integral_constant<int, 1>{});
      case 2:
        return f(store, std::integral_constant<int, 2>{});
      case 3:
        return f(store, std::integral_constant<int, 3>{});
      case 4:
        return f(store, std::integral_constant<int, 4>{});
      case 5:
        return f(store, std::integral_constant<int, 5>{});
      case 6:
        return f(store, std::integral_constant<int, 6>{});
      case 7:
        return f(store, std::integral_constant<int, 7>{});
      default:
        return f(store, std::integral_constant<int, 8>{});
    }
  });
}

trs_status move_blocks(const trs_relax_args *a, const trs_relax_slices *s, bool back,
                       trs_stream stream) {
  auto to = static_cast<cudaStream_t>(stream);
  if (s->nslices == 0) return TRS_SUCCESS;
  cudaError_t error = by_shape(a, [&](auto store, auto block) {
    pack_slices<decltype(store)::value, decltype(block)::value>
        <<<blocks_of(s->nslices), SLICE_THREADS, 0, to>>>(*a, *s, back);
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

extern "C" trs_status trs_relax_slices_run(const trs_relax_args *a, const trs_relax_slices *s,
                                           int32_t begin, int32_t end, int overlaps,
                                           trs_stream stream) {
  if (begin == end) return TRS_SUCCESS;
  cudaError_t error = by_shape(a, [&](auto store, auto block) {
    return launch_behind(overlaps != 0,
                         relax_slices<decltype(store)::value, decltype(block)::value>,
                         dim3(blocks_of(end - begin), unsigned(a->nrhs)), SLICE_THREADS, 0,
                         static_cast<cudaStream_t>(stream), *a, *s, begin, end);
  });
  return trs_device_check(error, "launching a relaxation kernel");
}

extern "C" int64_t trs_relax_slices_parts(int32_t slices) { return int64_t(blocks_of(slices)); }

extern "C" trs_status trs_relax_slices_norms(const trs_relax_args *a, const trs_relax_slices *s,
                                             double *norms, trs_stream stream) {
  auto to = static_cast<cudaStream_t>(stream);
  if (s->nslices == 0) return trs_device_fill(norms, 0, a->nrhs * 8, stream);
  cudaError_t error = by_shape(a, [&](auto store, auto block) {
    square_slices<decltype(store)::value, decltype(block)::value>
        <<<dim3(blocks_of(s->nslices), unsigned(a->nrhs)), SLICE_THREADS, 0, to>>>(*a, *s);
    return cudaGetLastError();
  });
  TRS_TRY(trs_device_check(error, "launching the residual of a relaxation"));
  return trs_relax_add_parts(s->partial, trs_relax_slices_parts(s->nslices), a->nrhs, norms,
                             stream);
}
