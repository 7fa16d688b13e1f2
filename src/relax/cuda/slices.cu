/* slices.cu - W21's Algorithm 1 by a kernel of our own, for blocks of 1 to 8.  Every block is read
 * once a pass; 65 % of the memory's peak on an H200 (docs/benchmarks.md).
 *
 * A slice is as many rows of a colour as fit the lanes of a warp, six of 5 x 5, with about as many
 * blocks each.  A lane has one component of a row, and reads that row of every block: its elements
 * lie in vectors of 16 bytes, vector behind vector, lane beside lane.  They pass through shared
 * memory, where each lane has a place for some turns of its own: asynchronous copies keep nearly a
 * whole slice a warp on its way, more than registers would hold, and no lane waits for another.
 * The block row of x comes to its lanes once, an element a lane, and goes from lane to lane by
 * shuffles.  Nothing is added across lanes; sums are in the order of the row's blocks, the same
 * bits every time.
 *
 * A warp takes every so-manieth slice of a colour.  What it has read makes room for the blocks of
 * its next slice, whose other arrays it asks for into L2: nothing waits for memory between slices.
 * A launch relaxes a colour.  It begins while the one before still runs: a warp asks for its first
 * slice before it waits for the colour before, since only x depends on that. */
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
  /* Turns that are on their way: some ten kilobytes a warp. */
  static constexpr int STAGES = VECTORS >= 10 ? 2 : VECTORS <= 2 ? 8 : 20 / VECTORS;
  static constexpr int RING = STAGES * VECTORS; /* vectors of a lane */
  static_assert(TURN * B % EACH == 0, "turns are of whole vectors");
};

/* 16 bytes past L1, and first to leave L2; or zeros. */
__device__ inline void copy_once(uint4 *shared, const uint4 *from, bool there, uint64_t policy) {
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2, %3;" ::"r"(to),
               "l"(from), "r"(there ? 16 : 0), "l"(policy)
               : "memory");
}
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int LEFT>
__device__ inline void await_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
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
  static constexpr int TURN = form::TURN, VECTORS = form::VECTORS, STAGES = form::STAGES;

  /* Where a slice is, and this lane's row of it. */
  struct place {
    int64_t vector, turn;
    int32_t width, position, count; /* width 0: no slice */
  };

 public:
  /* ring: this lane's, STAGES * VECTORS of them, WARP apart. */
  __device__ slice(const trs_relax_args &a, const trs_relax_slices &s, int c, uint4 *ring)
      : a_(a),
        s_(s),
        ring_(ring),
        lane_(int(threadIdx.x % WARP)),
        l_(B, lane_ < form::LANES ? lane_ : 0) {
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(once_));
    x_ = static_cast<X *>(a.x) + c * a.x_stride;
    r_ = static_cast<const sum *>(a.r) + c * a.r_stride;
  }

  /* The first slice, as far as x does not matter, and the one after it; none from end on. */
  __device__ void begin(int32_t number, int32_t after, int32_t end) {
    now_ = look(number, end);
    next_ = look(end, end);
    top_up();
    load_others();
    next_ = look(after, end);
  }
  __device__ void go_on(int32_t after, int32_t end) {
    now_ = next_;
    if (!of_next_) first_ = 0;
    of_next_ = false;
    load_others();
    next_ = look(after, end);
    top_up();
  }

  /* The x of a turn is on its way while the turn before it is multiplied. */
  __device__ sum off_diagonal() {
    sum total = 0;
    load_x(even_, 0);
    for (int first = 0; first < now_.width; first += 2 * TURN) {
      load_x(odd_, first + TURN);
      take_turn(total, even_, first);
      if (first == 0) ask_for_others();
      if (first + TURN >= now_.width) break;
      load_x(even_, first + 2 * TURN);
      take_turn(total, odd_, first + TURN);
    }
    return total;
  }

  __device__ void relax() {
    sum y = known_ - off_diagonal();
    sum z = solve(y);
    if (there()) trs::relax(x_ + int64_t(now_.position) * a_.pitch + l_.i, z, a_.omega);
  }

  /* Adds the squares of the rows of r - A x. */
  __device__ void square(uint64_t *words) {
    sum y = off_diagonal();
    sum z = multiply_diagonal(sum(x_[int64_t(now_.position) * a_.pitch + l_.i]));
    const sum known = __shfl_sync(EVERY_LANE, known_, l_.first + pivot_);
    const double e =
        double(known) - double(__shfl_sync(EVERY_LANE, y, l_.first + pivot_)) - double(z);
    const double squares = add_squares(l_, e);
    if (there() && l_.i == 0) add_exactly(words, squares);
  }

 private:
  const trs_relax_args &a_;
  const trs_relax_slices &s_;
  uint4 *ring_;
  int lane_;
  lanes<B> l_;
  uint64_t once_;
  place now_, next_;
  /* Turns in the ring, the first of them at stage_; the next to be asked for: of which slice, and
     its first block. */
  int stage_ = 0, filled_ = 0, first_ = 0;
  bool of_next_ = false;
  int pivot_;
  X *x_;
  const sum *r_;
  sum known_, d_[B];

  struct turn { /* block columns, and their x */
    int32_t idx[TURN];
    X x[TURN];
  };
  turn even_, odd_;

  __device__ bool there() const { return lane_ < form::LANES && now_.count >= 0; }

  __device__ place look(int32_t number, int32_t end) const {
    place p = {0, 0, 0, 0, -1};
    if (number >= end) return p;
    const trs_relax_slice h = s_.slice[number];
    const trs_relax_slice_row row = s_.row[number * form::ROWS + l_.slot];
    return {h.vector, h.turn, h.width, row.position, row.count};
  }

  /* What a slice needs beside its blocks. */
  __device__ void load_others() {
    load_idx(even_, 0);
    load_idx(odd_, TURN);
    known_ = r_[int64_t(now_.position) * B + l_.i];
    const sum *d = static_cast<const sum *>(a_.diagonal) + int64_t(now_.position) * B * B;
#pragma unroll
    for (int j = 0; j < B; j++) d_[j] = d[j * B + l_.i];
    pivot_ = a_.pivot[int64_t(now_.position) * B + l_.i];
  }
  /* The same of the next slice, into L2. */
  __device__ void ask_for_others() const {
    if (next_.width == 0) return;
    const char *idx = reinterpret_cast<const char *>(idx_of(next_) - l_.slot * TURN);
    const int bytes = (next_.width + TURN - 1) / TURN * TURN * form::ROWS * 4;
    if (lane_ * 128 < bytes) ask_for(idx + lane_ * 128);
    ask_for(static_cast<const sum *>(a_.diagonal) + (int64_t(next_.position) * B + l_.i) * B);
    if (l_.i == 0) ask_for(r_ + int64_t(next_.position) * B);
  }

  __device__ const int8_t *power_of(const place &p) const {
    return s_.power + (p.turn * form::ROWS + l_.slot) * TURN;
  }
  __device__ const int32_t *idx_of(const place &p) const {
    return s_.idx + (p.turn * form::ROWS + l_.slot) * TURN;
  }

  __device__ void ask(int stage, const place &p, int first) const {
    const int vector = first / TURN * VECTORS;
    const int nvectors = (p.width * B + form::EACH - 1) / form::EACH;
    const uint4 *val = static_cast<const uint4 *>(s_.val) + p.vector + lane_;
    if (lane_ < form::LANES) {
#pragma unroll
      for (int q = 0; q < VECTORS; q++)
        copy_once(ring_ + (stage * VECTORS + q) * int(WARP), val + (vector + q) * form::LANES,
                  vector + q < nvectors, once_);
    }
    commit_copies();
  }

  /* Fills the ring with what this slice has left and with what the next one begins with. */
  __device__ void top_up() {
    while (filled_ < STAGES) {
      if (!of_next_ && first_ >= now_.width) {
        of_next_ = true;
        first_ = 0;
      }
      if (first_ >= (of_next_ ? next_.width : now_.width)) return;
      const int stage = stage_ + filled_ < STAGES ? stage_ + filled_ : stage_ + filled_ - STAGES;
      ask(stage, of_next_ ? next_ : now_, first_);
      first_ += TURN;
      filled_++;
    }
  }

  __device__ void load_idx(turn &t, int first) const {
    constexpr int FEW = TURN < 4 ? TURN : 4;
    struct alignas(FEW * sizeof(int32_t)) few {
      int32_t at[FEW];
    };
    if (first >= now_.width) return;
    const int32_t *from = idx_of(now_) + first * form::ROWS;
#pragma unroll
    for (int u = 0; u < TURN; u += FEW) {
      const few f = *reinterpret_cast<const few *>(from + u);
#pragma unroll
      for (int e = 0; e < FEW; e++) t.idx[u + e] = f.at[e];
    }
  }

  __device__ void load_x(turn &t, int first) const {
#pragma unroll
    for (int u = 0; u < TURN; u++)
      t.x[u] = lane_ < form::LANES && first + u < now_.count
                   ? x_[int64_t(t.idx[u]) * a_.pitch + l_.i]
                   : X(0);
  }

  /* Then its places are for turns to come. */
  __device__ void take_turn(sum &total, turn &t, int first) {
    uint32_t word[4 * VECTORS];
    int power[TURN];
    if (T::scaled) {
#pragma unroll
      for (int u = 0; u < TURN; u++) power[u] = power_of(now_)[first * form::ROWS + u];
    }
    load_idx(t, first + 2 * TURN);
    if (filled_ == STAGES)
      await_copies<STAGES - 1>();
    else
      await_copies<0>();
#pragma unroll
    for (int q = 0; q < VECTORS; q++) {
      const uint4 v = ring_[(stage_ * VECTORS + q) * int(WARP)];
      word[4 * q] = v.x;
      word[4 * q + 1] = v.y;
      word[4 * q + 2] = v.z;
      word[4 * q + 3] = v.w;
    }
#pragma unroll
    for (int u = 0; u < TURN; u++) {
      product y = 0;
#pragma unroll
      for (int j = 0; j < B; j++) {
        const X xj = __shfl_sync(EVERY_LANE, t.x[u], l_.first + j);
        y = fma(element_of<STORE>(word, u * B + j), product(xj), y);
      }
      total += T::scaled ? sum(y) * sum(two_to(power[u])) : sum(y);
    }
    filled_--;
    stage_ = stage_ + 1 == STAGES ? 0 : stage_ + 1;
    top_up();
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

/* This lane's places of its warp's. */
template <int STORE, int B>
__device__ inline uint4 *ring_of(uint4 *rings) {
  return rings + threadIdx.x / WARP * (shape<STORE, B>::RING * WARP) + threadIdx.x % WARP;
}

template <int STORE, int B>
__global__ void __launch_bounds__(SLICE_THREADS,
                                  B == 7 || sizeof(typename stored<STORE>::off) == 2 ? 4 : 5)
    relax_slices(const __grid_constant__ trs_relax_args a,
                 const __grid_constant__ trs_relax_slices s, int32_t begin, int32_t end) {
  extern __shared__ uint4 rings[];
  const int32_t apart = int32_t(gridDim.x) * SLICE_WARPS;
  int32_t number = begin + int32_t(blockIdx.x) * SLICE_WARPS + int32_t(threadIdx.x / WARP);
  let_next_begin();
  if (number >= end) return;
  slice<STORE, B> own(a, s, int(blockIdx.y), ring_of<STORE, B>(rings));
  own.begin(number, number + apart, end);
  await_kernel_before();
  for (;;) {
    own.relax();
    number += apart;
    if (number >= end) return;
    own.go_on(number + apart, end);
  }
}

template <int STORE, int B>
__global__ void __launch_bounds__(SLICE_THREADS)
    square_slices(const __grid_constant__ trs_relax_args a,
                  const __grid_constant__ trs_relax_slices s) {
  extern __shared__ uint4 rings[];
  __shared__ uint64_t words[TRS_EXACT_WORDS];
  const int32_t number = int32_t(blockIdx.x) * SLICE_WARPS + int32_t(threadIdx.x / WARP);
  for (unsigned k = threadIdx.x; k < TRS_EXACT_WORDS; k += SLICE_THREADS) words[k] = 0;
  __syncthreads();
  if (number < s.nslices) {
    slice<STORE, B> own(a, s, int(blockIdx.y), ring_of<STORE, B>(rings));
    own.begin(number, s.nslices, s.nslices);
    own.square(words);
  }
  join_exactly(a.words + blockIdx.y * TRS_EXACT_WORDS, words);
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

/* Blocks of threads that the GPU holds at once. */
template <int STORE, int B>
unsigned resident(size_t shared_bytes, int64_t most) {
  static thread_local int looked_at = -1, count = 0, each = 1;
  int device = 0;
  (void)cudaGetDevice(&device);
  if (device != looked_at) {
    (void)cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, relax_slices<STORE, B>,
                                                        SLICE_THREADS, shared_bytes);
    (void)cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
    looked_at = device;
  }
  return static_cast<unsigned>(count * (most > 0 && most < each ? int(most) : each < 1 ? 1 : each));
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
    constexpr int STORE = decltype(store)::value, B = decltype(block)::value;
    const size_t bytes = shape<STORE, B>::RING * SLICE_THREADS * sizeof(uint4);
    const unsigned most = resident<STORE, B>(bytes, s->blocks);
    const unsigned blocks = blocks_of(end - begin);
    return launch_behind(overlaps != 0, relax_slices<STORE, B>,
                         dim3(blocks < most ? blocks : most, unsigned(a->nrhs)), SLICE_THREADS,
                         bytes, static_cast<cudaStream_t>(stream), *a, *s, begin, end);
  });
  return trs_device_check(error, "launching a relaxation kernel");
}

extern "C" trs_status trs_relax_slices_squares(const trs_relax_args *a, const trs_relax_slices *s,
                                               trs_stream stream) {
  auto to = static_cast<cudaStream_t>(stream);
  if (s->nslices == 0) return TRS_SUCCESS;
  cudaError_t error = by_shape(a, [&](auto store, auto block) {
    constexpr int STORE = decltype(store)::value, B = decltype(block)::value;
    square_slices<STORE, B><<<dim3(blocks_of(s->nslices), unsigned(a->nrhs)), SLICE_THREADS,
                              shape<STORE, B>::RING * SLICE_THREADS * sizeof(uint4), to>>>(*a, *s);
    return cudaGetLastError();
  });
  return trs_device_check(error, "launching the residual of a relaxation");
}
