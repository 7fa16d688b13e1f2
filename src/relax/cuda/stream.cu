/* stream.cu - relaxation at the memory's speed, for blocks of 1 to 8 from compute capability 9.0
 * on.
 *
 * Rows come in chunks (trs_relax_chunk): the blocks, indices, diagonal blocks and right-hand sides
 * of a chunk are each one run of memory.  A warp takes every so-manieth chunk of all colours, and
 * has two or more stages in shared memory that bulk copies fill ahead of it: over a hundred
 * kilobytes are on their way to each multiprocessor at any time, whatever the warps are doing.
 *
 *     for each of its chunks:  wait until it has arrived, and until the colour before is relaxed
 *       32 blocks at a time, a lane a block:  gather x, multiply, leave b sums in shared memory
 *                            a lane a component of a row:  add up those of its row
 *       D^-1 with the lanes of the row, store x, ask for a chunk to come in this one's place
 *
 * Only x depends on the colour before.  In the persistent form one launch does all sweeps: chunks
 * of colours to come are on their way while the last rows of this one are relaxed, and a colour
 * ends when every block of threads has counted itself done.  In the other form a launch does a
 * colour, and launches overlap up to that point.
 * Rows of more blocks than a stage holds are summed from global memory.
 * All sums have a fixed order: no matter which warp takes a chunk. */
#include "relax/cuda/row.cuh"

namespace {

using namespace trs;

constexpr int MOST_WARPS = 16;

/* ---- The machine ---- */

__device__ inline uint32_t shared_address(const void *p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

#if __CUDA_ARCH__ >= 900
__device__ inline void barrier_init(uint64_t *barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
}
__device__ inline void barrier_expect(uint64_t *barrier, uint32_t bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}
__device__ inline bool barrier_passed(uint64_t *barrier, uint32_t parity) {
  uint32_t done;
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; "
      "}"
      : "=r"(done)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
  return done;
}
__device__ inline void copy_bulk(void *shared, const void *global, uint32_t bytes,
                                 uint64_t *barrier, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], "
      "[%1], "
      "%2, [%3], %4;" ::"r"(shared_address(shared)),
      "l"(global), "r"(bytes), "r"(shared_address(barrier)), "l"(policy)
      : "memory");
}
#endif
__device__ inline uint64_t policy_first() {
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
__device__ inline uint64_t policy_last() {
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
__device__ inline uint32_t load_acquire(const uint32_t *p) {
  uint32_t value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}

/* ---- A row of x ---- */

/* Bytes of a row of x, so that it is read in words of 4, 8 or 16. */
constexpr int padded(int bytes) { return bytes <= 4 ? 4 : bytes <= 8 ? 8 : (bytes + 15) / 16 * 16; }

template <class X, int B>
union x_row {
  static constexpr int BYTES = padded(B * int(sizeof(X)));
  X at[BYTES / int(sizeof(X))];
  uint32_t words[BYTES / 4];

  /* Words behind the last component are not asked for. */
  __device__ void load(const X *from, uint64_t policy) {
    constexpr int USED = B * int(sizeof(X)) / 4;
#pragma unroll
    for (int w = 0; w < USED; w += 4) {
      const uint32_t *p = reinterpret_cast<const uint32_t *>(from) + w;
      if constexpr (USED == 1) {
        asm volatile("ld.global.L2::cache_hint.b32 %0, [%1], %2;"
                     : "=r"(words[0])
                     : "l"(p), "l"(policy)
                     : "memory");
      } else if (USED - w == 1) {
        asm volatile("ld.global.L2::cache_hint.b32 %0, [%1], %2;"
                     : "=r"(words[w])
                     : "l"(p), "l"(policy)
                     : "memory");
      } else if (USED - w == 2) {
        asm volatile("ld.global.L2::cache_hint.v2.b32 {%0, %1}, [%2], %3;"
                     : "=r"(words[w]), "=r"(words[w + 1])
                     : "l"(p), "l"(policy)
                     : "memory");
      } else {
        asm volatile("ld.global.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%4], %5;"
                     : "=r"(words[w]), "=r"(words[w + 1]), "=r"(words[w + 2]), "=r"(words[w + 3])
                     : "l"(p), "l"(policy)
                     : "memory");
      }
    }
  }
};

/* ---- A block from shared memory times its x, by one lane ---- */

/* Columns of a power of two would meet in the same banks: lanes begin at different ones. */
template <int B>
constexpr bool TURNS = B == 2 || B == 4 || B == 8;

template <int STORE, int B>
__device__ inline void load_column(typename stored<STORE>::product (&v)[B],
                                   const typename stored<STORE>::off *from) {
  using off = typename stored<STORE>::off;
  constexpr int BYTES = B * int(sizeof(off));
  constexpr int WIDTH = BYTES % 16 == 0 ? 16 : BYTES % 8 == 0 ? 8 : BYTES % 4 == 0 ? 4 : 2;
  constexpr int EACH = WIDTH < int(sizeof(off)) ? 1 : WIDTH / int(sizeof(off));
  struct alignas(EACH * sizeof(off)) word {
    off at[EACH];
  };
#pragma unroll
  for (int i = 0; i < B; i += EACH) {
    word w = *reinterpret_cast<const word *>(from + i);
#pragma unroll
    for (int e = 0; e < EACH; e++) v[i + e] = decode<STORE>(w.at[e]);
  }
}

/* Elements of 16 bits that begin at an odd one come as words, shifted. */
template <int STORE, int B>
__device__ inline void multiply_odd(typename stored<STORE>::product (&y)[B], const uint16_t *from,
                                    const x_row<float, B> &x) {
  constexpr int WORDS = (B * B + 1) / 2;
  const uintptr_t odd = reinterpret_cast<uintptr_t>(from) & 2;
  const auto *p = reinterpret_cast<const uint32_t *>(reinterpret_cast<uintptr_t>(from) - odd);
  uint32_t w[WORDS + 1];
#pragma unroll
  for (int q = 0; q < WORDS; q++) w[q] = p[q];
  w[WORDS] = 0; /* an odd number of elements ends in the last word either way */
#pragma unroll
  for (int e = 0; e < B * B; e++) {
    uint32_t pair = __funnelshift_r(w[e / 2], w[e / 2 + 1], 8 * unsigned(odd));
    uint16_t v = uint16_t(e % 2 ? pair >> 16 : pair);
    y[e % B] = fmaf(decode<STORE>(v), x.at[e / B], y[e % B]);
  }
}

template <int STORE, int B>
__device__ inline void multiply(typename stored<STORE>::product (&y)[B],
                                const typename stored<STORE>::off *block,
                                x_row<typename stored<STORE>::x, B> x, int lane) {
  using product = typename stored<STORE>::product;
  using off = typename stored<STORE>::off;
  if constexpr (sizeof(off) == 2 && B % 2 == 1) {
    multiply_odd<STORE, B>(y, block, x);
  } else {
    constexpr int SIZE = B * B * int(sizeof(off)), LANES = SIZE >= 128 ? 1 : 128 / SIZE;
    const int turn = TURNS<B> ? (lane / LANES) % B : 0;
    if constexpr (TURNS<B>) {
#pragma unroll
      for (int s = 1; s < B; s *= 2) {
        x_row<typename stored<STORE>::x, B> t = x;
#pragma unroll
        for (int j = 0; j < B; j++) x.at[j] = turn & s ? t.at[(j + s) % B] : t.at[j];
      }
    }
#pragma unroll
    for (int j = 0; j < B; j++) {
      product v[B];
      load_column<STORE, B>(v, block + (j + turn) % B * B);
#pragma unroll
      for (int i = 0; i < B; i++) y[i] = fma(v[i], product(x.at[j]), y[i]);
    }
  }
}

/* ---- Chunks in the order in which a warp meets them ---- */

/* Chunks of all steps (a colour of a pass) are dealt to warps in turn, without regard to where one
 * step ends and the next begins: over a sweep all have the same number. */
struct walk {
  const int32_t *starts;
  int32_t colours, per_sweep, direction, warps;
  int64_t steps;
  int64_t step = 0;
  int32_t turn = 0;         /* of the step in its sweep */
  int32_t begin, count, at; /* the colour's chunks; this warp's next one in it */
  uint32_t dealt = 0;       /* chunks of the steps before, modulo the blocks of threads */

  __device__ walk(const int32_t *from, const trs_relax_stream &s, int32_t warp, int32_t all)
      : starts(from), colours(s.ncolours), direction(s.direction), warps(all), at(warp) {
    per_sweep = direction == TRS_SWEEP_SYMMETRIC ? 2 * colours : colours;
    steps = s.sweeps * per_sweep;
    if (steps) look();
  }
  __device__ bool over() const { return step >= steps; }
  __device__ int32_t chunk() const { return begin + at; }

 private:
  __device__ void look() {
    int32_t c = direction == TRS_SWEEP_FORWARD    ? turn
                : direction == TRS_SWEEP_BACKWARD ? colours - 1 - turn
                : turn < colours                  ? turn
                                                  : 2 * colours - 1 - turn;
    begin = starts[c];
    count = starts[c + 1] - begin;
  }

 public:
  /* Is the warp's next chunk in this step? */
  __device__ bool here() const { return at < count; }
  __device__ void next_chunk() { at += warps; }
  __device__ void next_step(uint32_t grid) {
    at -= count;
    dealt = (dealt + uint32_t(count)) % grid;
    turn = turn + 1 == per_sweep ? 0 : turn + 1;
    if (++step < steps) look();
  }
};

/* Which chunk a stage holds. */
struct staged_chunk {
  trs_relax_chunk begin, end;
};

/* What blocks of threads know of each other: in shared memory, the steps known to have ended. */
struct colour_end {
  unsigned long long known;
  uint32_t chunks; /* done by this block of threads in the step that runs */
  int32_t polling;
};

template <int STORE, int B>
class worker {
  using T = stored<STORE>;
  using off = typename T::off;
  using X = typename T::x;
  using sum = typename T::sum;
  static constexpr int ROWS = int(WARP) / B, SUMS_PITCH = int(WARP) + 1;

 public:
  __device__ worker(const trs_relax_args &a, const trs_relax_stream &s, char *stages, char *sums,
                    uint64_t *barriers, staged_chunk *staged, colour_end *end,
                    const int32_t *starts)
      : a_(a),
        s_(s),
        stages_(stages),
        sums_(reinterpret_cast<sum *>(sums)),
        barriers_(barriers),
        staged_(staged),
        end_(end),
        lane_(int(threadIdx.x % WARP)),
        l_(B, lane_),
        warp_(int32_t(threadIdx.x / WARP * gridDim.x + blockIdx.x)),
        all_(int32_t(gridDim.x * (blockDim.x / WARP))),
        ahead_(starts, s, warp_, all_),
        now_(starts, s, warp_, all_),
        first_(policy_first()),
        last_(policy_last()) {}

#if __CUDA_ARCH__ >= 900
  template <bool PERSISTENT>
  __device__ void run() {
    find_ahead();
    for (int k = 0; k < s_.stages; k++) ask(k);
    if (!PERSISTENT) {
      await_kernel_before();
      __threadfence();
    }
    int stage = 0;
    uint32_t parity = 0;
    for (;;) {
      while (!now_.over() && !now_.here()) pass_step();
      if (now_.over()) return;
      trs::wait patience(s_.fault);
      while (!barrier_passed(barriers_ + stage, parity) && patience.goes_on(-1)) {
      }
      __syncwarp();
      const trs_relax_chunk begin = staged_[stage].begin, end = staged_[stage].end;
      if (PERSISTENT) await_step(begin.row);
      relax_chunk(stage, begin, end);
      if (PERSISTENT) count_chunk();
      now_.next_chunk();
      stage = stage + 1 == s_.stages ? 0 : stage + 1;
      parity ^= stage == 0;
    }
  }
#endif

 private:
  const trs_relax_args &a_;
  const trs_relax_stream &s_;
  char *stages_;
  sum *sums_;
  uint64_t *barriers_;
  staged_chunk *staged_;
  colour_end *end_;
  int lane_;
  lanes<B> l_;
  int32_t warp_, all_;
  walk ahead_, now_;
  uint64_t first_, last_;
  uint32_t target_ = 0; /* arrivals once all steps before now_'s have ended */
  int64_t known_ = 0;   /* steps that this warp knows to have ended */
  trs_relax_chunk next_begin_, next_end_;

#if __CUDA_ARCH__ >= 900
  /* ---- Asking for chunks ---- */

  /* The chunk that ask will ask for: known before the stage is free. */
  __device__ void find_ahead() {
    while (!ahead_.over() && !ahead_.here()) ahead_.next_step(gridDim.x);
    if (ahead_.over()) return;
    next_begin_ = s_.chunks[ahead_.chunk()];
    next_end_ = s_.chunks[ahead_.chunk() + 1];
  }

  /* This lane's array: bytes [from, to) of it, and where in a stage they go. */
  __device__ void share(const char *&base, int64_t &from, int64_t &to, int &at) const {
    const int64_t k0 = next_begin_.block, k1 = next_end_.block;
    const int64_t p0 = next_begin_.row, p1 = next_end_.row;
    from = to = at = 0;
    base = nullptr;
    const bool fits = k1 - k0 <= s_.blocks;
    auto set = [&](const void *array, int64_t low, int64_t high, int64_t size, int place) {
      base = static_cast<const char *>(array);
      from = low * size;
      to = high * size;
      at = place;
    };
    if (lane_ == 0 && fits) set(a_.off, k0, k1, B * B * int(sizeof(off)), 0);
    if (lane_ == 1 && fits) set(a_.idx, k0, k1, 4, s_.idx_at);
    if (lane_ == 2) set(a_.diagonal, p0, p1, B * B * int(sizeof(sum)), s_.diagonal_at);
    if (lane_ == 3) set(a_.r, p0, p1, B * int(sizeof(sum)), s_.r_at);
    if (lane_ == 4) set(a_.ptr, p0, p1 + 1, 8, s_.ptr_at);
    if (lane_ == 5) set(a_.pivot, p0, p1, B, s_.pivot_at);
    if (T::scaled && lane_ == 6 && fits) set(a_.power, k0, k1, 1, s_.power_at);
  }

  /* Fills a stage with the next chunk: whole words of 16 bytes, a copy a lane. */
  __device__ void ask(int stage) {
    if (ahead_.over()) return;
    const char *base;
    int64_t from, to;
    int at;
    share(base, from, to, at);
    from &= ~int64_t(15);
    to = (to + 15) & ~int64_t(15);
    const uint32_t bytes = base ? uint32_t(to - from) : 0;
    const uint32_t all = __reduce_add_sync(EVERY_LANE, bytes);
    if (lane_ == 0) {
      staged_[stage] = {next_begin_, next_end_};
      barrier_expect(barriers_ + stage, all);
    }
    __syncwarp();
    if (bytes)
      copy_bulk(stages_ + stage * s_.stage_bytes + at, base + from, bytes, barriers_ + stage,
                first_);
    ahead_.next_chunk();
    find_ahead();
  }

  /* ---- The end of a colour ---- */

  /* Chunks below `dealt` that go to this block of threads. */
  __device__ uint32_t mine(uint32_t dealt) const {
    return (dealt + gridDim.x - 1 - blockIdx.x) / gridDim.x;
  }
  __device__ void pass_step() {
    target_ += min(uint32_t(now_.count), gridDim.x);
    now_.next_step(gridDim.x);
  }

  /* One lane of the block of threads looks at the count of all, the others at what it found. */
  __device__ void await_step(int32_t row) {
    if (known_ >= now_.step) return;
    if (lane_ == 0) {
      trs::wait patience(s_.fault);
      volatile unsigned long long *known = &end_->known;
      const auto step = static_cast<unsigned long long>(now_.step);
      while (*known < step && patience.goes_on(row)) {
        if (atomicExch(&end_->polling, 1)) {
          __nanosleep(40);
          continue;
        }
        if (int32_t(load_acquire(s_.arrived) - target_) >= 0) *known = step;
        __threadfence();
        *static_cast<volatile int32_t *>(&end_->polling) = 0;
      }
      __threadfence();
    }
    __syncwarp();
    known_ = now_.step;
  }

  /* After the stores of x by all lanes.  Whoever counts last makes those of the whole block of
   * threads known to all. */
  __device__ void count_chunk() {
    __syncwarp();
    if (lane_ != 0) return;
    __threadfence_block();
    const uint32_t own = mine(now_.dealt + uint32_t(now_.count)) - mine(now_.dealt);
    if (atomicAdd(&end_->chunks, 1) + 1 != own) return;
    end_->chunks = 0;
    __threadfence();
    atomicAdd(s_.arrived, 1);
  }

  /* ---- A chunk ---- */

  /* Where an array's element lies in a stage: bulk copies began at the word of 16 bytes before. */
  template <class V>
  __device__ const V *in_stage(int stage, int at, int64_t element) const {
    return reinterpret_cast<const V *>(stages_ + stage * s_.stage_bytes + at +
                                       (element * int64_t(sizeof(V)) & 15));
  }

  __device__ void relax_chunk(int stage, const trs_relax_chunk &begin, const trs_relax_chunk &end) {
    const int rows = end.row - begin.row, count = int(end.block - begin.block);
    const int64_t p0 = begin.row;
    const bool there = l_.slot < rows && l_.slot < ROWS;
    const int slot = there ? l_.slot : 0;
    const int64_t *ptr = in_stage<int64_t>(stage, s_.ptr_at, p0) + slot;
    const int low = there ? int(ptr[0] - begin.block) : 0;
    const int high = there ? int(ptr[1] - begin.block) : 0;
    const sum *d = in_stage<sum>(stage, s_.diagonal_at, p0 * B * B) + slot * B * B;
    const uint8_t *pivot = in_stage<uint8_t>(stage, s_.pivot_at, p0 * B) + slot * B;
    for (int c = 0; c < a_.nrhs; c++) {
      X *x = static_cast<X *>(a_.x) + c * a_.x_stride;
      sum y = c == 0 ? in_stage<sum>(stage, s_.r_at, p0 * B)[slot * B + l_.i]
                     : static_cast<const sum *>(a_.r)[c * a_.r_stride + (p0 + slot) * B + l_.i];
      if (count <= s_.blocks)
        y -= sum_staged(stage, begin.block, count, low, high, x);
      else
        y -= sum_long(begin.block, count, x);
      sum z = solve_diagonal(l_, d, pivot, y);
      if (c + 1 == a_.nrhs) {
        __syncwarp();
        ask(stage);
      }
      if (there) relax(x + (p0 + slot) * a_.pitch + l_.i, z, a_.omega);
    }
  }

  /* The lane's component of its row's sum: blocks [low, high) of the chunk's count. */
  __device__ sum sum_staged(int stage, int64_t first, int count, int low, int high, const X *x) {
    const off *blocks = in_stage<off>(stage, 0, first * B * B);
    const int32_t *idx = in_stage<int32_t>(stage, s_.idx_at, first);
    const int8_t *power = in_stage<int8_t>(stage, s_.power_at, first);
    sum total = 0;
    x_row<X, B> mine;
    if (lane_ < count) mine.load(x + int64_t(idx[lane_]) * a_.pitch, last_);
    for (int base = 0; base < count; base += int(WARP)) {
      const int k = base + lane_, later = k + int(WARP);
      x_row<X, B> next;
      if (later < count) next.load(x + int64_t(idx[later]) * a_.pitch, last_);
      if (k < count) leave_products(blocks + k * (B * B), T::scaled ? power[k] : 0, mine);
      __syncwarp();
      const int from = max(low, base), to = min(high, base + int(WARP));
#pragma unroll 4
      for (int q = from; q < to; q++) total += sums_[l_.i * SUMS_PITCH + q - base];
      __syncwarp();
      mine = next;
    }
    return total;
  }

  __device__ void leave_products(const off *block, int power, const x_row<X, B> &x) {
    typename T::product y[B] = {};
    multiply<STORE, B>(y, block, x, lane_);
#pragma unroll
    for (int i = 0; i < B; i++)
      sums_[i * SUMS_PITCH + lane_] = T::scaled ? sum(y[i]) * sum(two_to(power)) : sum(y[i]);
  }

  /* A row that is a chunk by itself, from global memory; the first b lanes have its sums. */
  __device__ sum sum_long(int64_t first, int count, const X *x) {
    sum mine = 0, total = 0;
    const auto *blocks = static_cast<const off *>(a_.off) + first * B * B;
    for (int t = l_.slot; l_.slot < ROWS && t < count * B; t += ROWS) {
      const int k = t / B;
      typename T::product v =
          decode<STORE>(blocks[int64_t(t) * B + l_.i]) *
          typename T::product(x[int64_t(a_.idx[first + k]) * a_.pitch + (t - k * B)]);
      mine += T::scaled ? sum(v) * sum(two_to(a_.power[first + k])) : sum(v);
    }
    for (int g = 0; g < ROWS; g++) total += __shfl_sync(EVERY_LANE, mine, g * B + l_.i);
    return total;
  }
#endif
};

/* Shared memory: stages of all warps, sums of all warps. */
template <int STORE, int B, bool PERSISTENT>
__global__ void __launch_bounds__(MOST_WARPS *int(WARP), 1)
    relax_stream(const __grid_constant__ trs_relax_args a,
                 const __grid_constant__ trs_relax_stream s) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) char memory[];
  __shared__ uint64_t barriers[MOST_WARPS * TRS_RELAX_MOST_STAGES];
  __shared__ staged_chunk staged[MOST_WARPS * TRS_RELAX_MOST_STAGES];
  __shared__ int32_t starts[TRS_RELAX_STARTS];
  __shared__ colour_end end;
  const int warp = int(threadIdx.x / WARP);
  if (threadIdx.x == 0) end = {0, 0, 0};
  if (int(threadIdx.x) < s.warps * s.stages) barrier_init(barriers + threadIdx.x);
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  const bool few = s.ncolours < TRS_RELAX_STARTS;
  for (int c = int(threadIdx.x); few && c <= s.ncolours; c += int(blockDim.x))
    starts[c] = s.starts[c];
  __syncthreads();
  worker<STORE, B> w(a, s, memory + warp * s.stages * s.stage_bytes,
                     memory + s.warps * s.stages * s.stage_bytes + warp * s.sums_bytes,
                     barriers + warp * s.stages, staged + warp * s.stages, &end,
                     few ? starts : s.starts);
  w.template run<PERSISTENT>();
#endif
}

/* ---- Launching ---- */

int size_of_off(int store) {
  return store == TRS_RELAX_DOUBLE                              ? 8
         : store == TRS_RELAX_HALF || store == TRS_RELAX_BFLOAT ? 2
                                                                : 4;
}
int size_of_sum(int store) { return store == TRS_RELAX_FLOAT ? 4 : 8; }

/* A place for so many bytes, which may begin and end within a word of 16. */
int32_t place(int32_t *used, int64_t bytes) {
  int32_t at = *used;
  *used += int32_t((bytes + 15 + 15) / 16 * 16);
  return at;
}

void lay_out_stage(trs_relax_stream *s, const trs_relax_args *a) {
  const int b = a->block, rows = int(WARP) / b, sum = size_of_sum(a->store);
  int32_t used = 0;
  (void)place(&used, int64_t(s->blocks) * b * b * size_of_off(a->store));
  s->idx_at = place(&used, int64_t(s->blocks) * 4);
  s->power_at = used;
  if (a->power) s->power_at = place(&used, s->blocks);
  s->diagonal_at = place(&used, int64_t(rows) * b * b * sum);
  s->r_at = place(&used, int64_t(rows) * b * sum);
  s->ptr_at = place(&used, int64_t(rows + 1) * 8);
  s->pivot_at = place(&used, int64_t(rows) * b);
  s->stage_bytes = used;
  s->sums_bytes = (b * (int(WARP) + 1) * sum + 15) / 16 * 16;
}

template <class F>
cudaError_t by_small_block(int block, F f) {
  switch (block) {
    case 1:
      return f(std::integral_constant<int, 1>{});
    case 2:
      return f(std::integral_constant<int, 2>{});
    case 3:
      return f(std::integral_constant<int, 3>{});
    case 4:
      return f(std::integral_constant<int, 4>{});
    case 5:
      return f(std::integral_constant<int, 5>{});
    case 6:
      return f(std::integral_constant<int, 6>{});
    case 7:
      return f(std::integral_constant<int, 7>{});
    default:
      return f(std::integral_constant<int, 8>{});
  }
}

/* f(kernel) with the kernel for the store, the block size and the form. */
template <class F>
cudaError_t with_kernel(const trs_relax_args *a, bool persistent, F f) {
  return by_store(a->store, [&](auto store) {
    return by_small_block(a->block, [&](auto block) {
      constexpr int STORE = decltype(store)::value, B = decltype(block)::value;
      return f(persistent ? relax_stream<STORE, B, true> : relax_stream<STORE, B, false>);
    });
  });
}

template <class K>
cudaError_t launch_all(K kernel, const trs_relax_args &a, const trs_relax_stream &s,
                       cudaStream_t stream) {
  cudaLaunchAttribute together = {};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = unsigned(s.grid);
  config.blockDim = unsigned(s.warps) * WARP;
  config.dynamicSmemBytes = size_t(s.shared_bytes);
  config.stream = stream;
  config.attrs = &together;
  config.numAttrs = 1;
  cudaError_t error = cudaMemsetAsync(s.arrived, 0, sizeof *s.arrived, stream);
  return error ? error : cudaLaunchKernelEx(&config, kernel, a, s);
}

/* A launch a colour.  The first waits for all work before it, for r must be there. */
template <class K>
cudaError_t launch_each(K kernel, const trs_relax_args &a, const trs_relax_stream &s,
                        const int32_t *starts, cudaStream_t stream) {
  trs_relax_stream one = s;
  const int32_t count = s.ncolours;
  const int64_t passes = s.direction == TRS_SWEEP_SYMMETRIC ? 2 : 1;
  bool first = true;
  one.ncolours = 1;
  one.sweeps = 1;
  one.direction = TRS_SWEEP_FORWARD;
  for (int64_t pass = 0; pass < s.sweeps * passes; pass++) {
    bool back = s.direction == TRS_SWEEP_BACKWARD || pass % passes == 1;
    for (int32_t k = 0; k < count; k++) {
      int32_t c = back ? count - 1 - k : k, chunks = starts[c + 1] - starts[c];
      if (!chunks) continue;
      one.starts = s.starts + c;
      int32_t needed = (chunks + s.warps - 1) / s.warps;
      cudaError_t error =
          launch_behind(!first, kernel, unsigned(needed < s.grid ? needed : s.grid),
                        unsigned(s.warps) * WARP, size_t(s.shared_bytes), stream, a, one);
      if (error) return error;
      first = false;
    }
  }
  return cudaSuccess;
}

}  // namespace

extern "C" trs_status trs_relax_stream_lay_out(trs_relax_stream *s, const trs_relax_args *a,
                                               const trs_device_facts *facts) {
  if (facts->capability < 9 || a->block > TRS_RELAX_MOST_STREAMED)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "the streaming kernel takes blocks of 1 to %d, on GPUs of compute capability "
                    "9.0 or newer",
                    TRS_RELAX_MOST_STREAMED);
  const int64_t fixed = 4096; /* what the kernel has besides, and the system's part */
  const int64_t each_block = s->persistent ? 1 : 2; /* blocks of threads on a multiprocessor */
  int64_t room = (facts->shared_bytes + 1024) / each_block - fixed;
  lay_out_stage(s, a);
  int64_t of_warp = int64_t(s->stages) * s->stage_bytes + s->sums_bytes;
  int64_t fit = room / of_warp, most = MOST_WARPS / each_block;
  if (s->warps > 0 && s->warps < most) most = s->warps;
  s->warps = int32_t(fit < most ? fit : most);
  if (s->warps < 1)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "a chunk of %d blocks of %d x %d does not fit shared memory", s->blocks,
                    a->block, a->block);
  s->shared_bytes = int32_t(s->warps * of_warp);
  s->grid = int32_t(facts->multiprocessors * each_block);
  cudaError_t error = with_kernel(a, s->persistent, [&](auto kernel) {
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                s->shared_bytes);
  });
  return trs_device_check(error, "preparing the streaming kernel");
}

extern "C" trs_status trs_relax_stream_run(const trs_relax_args *a, const trs_relax_stream *s,
                                           const int32_t *starts_on_host, trs_stream stream) {
  auto to = static_cast<cudaStream_t>(stream);
  if (s->sweeps == 0 || a->nrows == 0) return TRS_SUCCESS;
  cudaError_t error = with_kernel(a, s->persistent, [&](auto kernel) {
    return s->persistent ? launch_all(kernel, *a, *s, to)
                         : launch_each(kernel, *a, *s, starts_on_host, to);
  });
  return trs_device_check(error, "launching the streaming kernel");
}
