/* sweep.cuh - the kernels of batches: values into groups, and the two sweeps.  tests/ run them on a
 * host, with emulated threads. */
#ifndef TRS_SOLVE_BATCH_SWEEP_CUH
#define TRS_SOLVE_BATCH_SWEEP_CUH

#include <float.h>

#include <type_traits>

#include "device/later.cuh"
#include "matrix/pivot.cuh"
#include "solve/batch/gpu.h"

namespace trs {

constexpr int BATCH_WARP = 32, BATCH_TILE = TRS_BATCH_ROWS * (BATCH_WARP + 1);

template <class S>
__device__ inline S *batch_memory() {
  extern __shared__ __align__(16) unsigned char block_shared[];
  return reinterpret_cast<S *>(block_shared);
}

/* sum - a x.  Here and below the operations are spelt out, so that all kernels round alike. */
template <class S>
__device__ inline S batch_subtract(S a, S x, S sum) {
  if constexpr (element<S>::is_complex)
    return multiply_add(S{-a.re, -a.im}, x, sum);
  else
    return multiply_add(-a, x, sum);
}

template <class S>
__device__ inline S batch_product(S a, S x) {
  if constexpr (element<S>::is_complex)
    return {fma(a.re, x.re, -(a.im * x.im)), fma(a.re, x.im, a.im * x.re)};
  else
    return a * x;
}

template <class S>
__device__ inline S batch_scaled(typename element<S>::real factor, S value) {
  if constexpr (element<S>::is_complex)
    return {factor * value.re, factor * value.im};
  else
    return factor * value;
}
/* A number of row `row` of b or x.  scale: NULL for ones. */
template <class S>
__device__ inline S batch_scaled(const double *scale, int64_t row, S value) {
  using R = typename element<S>::real;
  return scale ? batch_scaled<S>(R(__ldg(scale + row)), value) : value;
}

__device__ inline bool batch_solved(const trs_batch_sweep &a, int64_t system) {
  return __ldg(a.fault + system) == ~uint64_t(0);
}

__device__ inline bool batch_wants(const trs_batch_sweep &a, int64_t system) {
  return !a.plain || bool(a.plain[system]) == a.takes_plain;
}

/* ---- Values: tiles of 32 entries of every system of a group, transposed in shared memory. ---- */

template <class S>
__device__ inline S batch_value(const trs_batch_values &v, const S *val, int64_t source) {
  if (source == TRS_BATCH_ONE) return one<S>();
  if (source == TRS_BATCH_MINUS_ONE) return S{} - one<S>();
  if (source == TRS_BATCH_ZERO) return S{};
  const bool less = source <= TRS_BATCH_LESS;
  if (less) source = TRS_BATCH_LESS - source;
  S sum = S{};
  if (!v.from) {
    sum = val[source];
  } else {
    for (int64_t k = v.from_ptr[source]; k < v.from_ptr[source + 1]; k++)
      sum = sum + val[v.from[k]];
  }
  if constexpr (element<S>::is_complex)
    if (v.conj) sum.im = -sum.im;
  return less ? S{} - sum : sum;
}

/* On the diagonal the reciprocal, or zero. */
template <class S>
__device__ inline S batch_inverse(const trs_batch_values &v, S d, int32_t row, int64_t system) {
  const trs_pivot pivot = pivot_of(d);
  if (pivot == TRS_PIVOT_GOOD) return reciprocal(d);
  atomicMin(reinterpret_cast<unsigned long long *>(v.fault) + system,
            static_cast<unsigned long long>(row) * 4 + pivot);
  return S{};
}

template <class S>
__global__ void __launch_bounds__(256) batch_fill(const __grid_constant__ trs_batch_values v) {
  S *tile = batch_memory<S>();
  const int systems = 1 << v.log_systems, warps = int(blockDim.x) / BATCH_WARP;
  const int lane = int(threadIdx.x) % BATCH_WARP, warp = int(threadIdx.x) / BATCH_WARP;
  const int64_t group = blockIdx.x, from = (v.first + group) << v.log_systems;
  for (int64_t first = int64_t(blockIdx.y) * BATCH_WARP; first < v.entries;
       first += int64_t(gridDim.y) * BATCH_WARP) {
    const int64_t mine = first + lane;
    for (int s = warp; s < systems; s += warps) {
      const S *val = static_cast<const S *>(v.val) + ((group << v.log_systems) + s) * v.stride;
      tile[lane * (BATCH_WARP + 1) + s] =
          mine < v.entries && from + s < v.count ? batch_value(v, val, v.source[mine]) : S{};
    }
    __syncthreads();
    for (int k = int(threadIdx.x); k < systems * BATCH_WARP; k += int(blockDim.x)) {
      const int s = k & (systems - 1), e = k >> v.log_systems;
      const int64_t p = first + e;
      if (p >= v.entries) break;
      S value = tile[e * (BATCH_WARP + 1) + s];
      const int32_t row = v.pivot_row[p];
      if (row >= 0 && from + s < v.count) value = batch_inverse(v, value, row, from + s);
      static_cast<S *>(v.to)[((v.first + group) * v.entries + p) * systems + s] = value;
    }
    __syncthreads();
  }
}

/* ---- The values of the joint system: a block per group, as analysis/substitute_tmpl.c. ---- */

template <class S>
__device__ inline double batch_size(S a) {
  if constexpr (element<S>::is_complex)
    return hypot(double(a.re), double(a.im));
  else
    return fabs(double(a));
}

/* True if a product of numbers other than zero has lost digits to underflow. */
template <class S>
__device__ inline bool batch_underflows(S product, S a, S b) {
  const double tiny = sizeof(typename element<S>::real) == 4 ? double(FLT_MIN) / FLT_EPSILON
                                                             : DBL_MIN / DBL_EPSILON;
  return batch_size(a) != 0 && batch_size(b) != 0 && !(batch_size(product) >= tiny);
}

template <class S>
class batch_joint {
 public:
  __device__ explicit batch_joint(const trs_batch_joint &v)
      : v_(v),
        systems_(1 << v.log_systems),
        slot_(int(threadIdx.x) >> v.log_systems),
        slots_(int(blockDim.x) >> v.log_systems) {
    const int64_t group = v.first + int64_t(blockIdx.x), s = int(threadIdx.x) & (systems_ - 1);
    system_ = (group << v.log_systems) + s;
    val_ = static_cast<S *>(v.val) + group * v.entries * systems_ + s;
    size_ = v.room + group * 3 * v.n * systems_ + s;
    largest_ = size_ + v.n * systems_;
    own_ = largest_ + v.n * systems_;
  }

  __device__ void take() {
    find_sizes();
    for (int t = 0; t < v_.steps; t++) {
      each(v_.step_entry[t], v_.step_entry[t + 1], [&](int64_t e) { find_entry(e); });
      __syncthreads();
      each(v_.step_row[t], v_.step_row[t + 1], [&](int64_t k) { check_row(v_.row[k]); });
      __syncthreads();
    }
    if (lost_ && system_ < v_.count) v_.plain[system_] = 1;
  }

 private:
  const trs_batch_joint &v_;
  int systems_, slot_, slots_;
  int64_t system_;
  S *val_;
  double *size_, *largest_, *own_; /* of x, of the sum of |M| times sizes, of |L| times sizes */
  bool lost_ = false;

  template <class F>
  __device__ void each(int64_t begin, int64_t end, F work) {
    for (int64_t k = begin + slot_; k < end; k += slots_) work(k);
  }
  __device__ S value(int32_t at) const { return val_[int64_t(at) * systems_]; }
  __device__ double &of(double *numbers, int64_t k) const { return numbers[k * systems_]; }
  __device__ double diagonal(int64_t k) const { return 1 / batch_size(value(v_.diagonal[k])); }

  __device__ void find_sizes() {
    each(0, v_.n, [&](int64_t k) {
      double most = diagonal(k);
      for (int64_t p = v_.l_ptr[k]; p < v_.l_ptr[k + 1]; p++)
        most = fmax(most, batch_size(value(v_.l_at[p])));
      of(own_, k) = most;
    });
    __syncthreads();
    each(0, v_.n, [&](int64_t c) {
      double size = diagonal(c) / of(own_, c);
      for (int64_t p = v_.column_ptr[c]; p < v_.column_ptr[c + 1]; p++)
        size = fmax(size, batch_size(value(v_.column_at[p])) / of(own_, v_.column_row[p]));
      of(size_, c) = 1 / size;
    });
    __syncthreads();
    each(0, v_.n, [&](int64_t k) {
      double own = diagonal(k) * of(size_, k);
      for (int64_t p = v_.l_ptr[k]; p < v_.l_ptr[k + 1]; p++) {
        const int32_t c = v_.l_col[p] < 0 ? ~v_.l_col[p] : v_.l_col[p];
        own += batch_size(value(v_.l_at[p])) * of(size_, c);
      }
      of(own_, k) = own;
    });
    __syncthreads();
  }

  __device__ void find_entry(int64_t e) {
    S sum = value(v_.to[e]);
    for (int64_t q = v_.ptr[e]; q < v_.ptr[e + 1]; q++) {
      const S a = value(v_.a[q]), inverse = value(v_.inverse[q]), m = value(v_.m[q]);
      const S factor = batch_product(a, inverse);
      lost_ |= batch_underflows(factor, a, inverse) ||
               batch_underflows(batch_product(factor, m), factor, m);
      sum = batch_subtract(factor, m, sum);
    }
    val_[int64_t(v_.to[e]) * systems_] = sum;
  }

  __device__ void check_row(int32_t k) {
    const S inverse = value(v_.diagonal[k]);
    double sum = of(size_, k), bound = 0;
    bool substitutes = false;
    for (int64_t p = v_.m_ptr[k]; p < v_.m_ptr[k + 1]; p++) {
      const S m = value(v_.m_at[p]), scaled = batch_product(m, inverse);
      lost_ |= batch_underflows(scaled, m, inverse);
      sum += batch_size(scaled) * of(size_, v_.m_col[p]);
    }
    of(largest_, k) = sum;
    for (int64_t p = v_.l_ptr[k]; p < v_.l_ptr[k + 1]; p++) {
      if (v_.l_col[p] >= 0) continue;
      substitutes = true;
      bound += batch_size(value(v_.l_at[p])) * of(largest_, ~v_.l_col[p]);
    }
    bound += diagonal(k) * sum;
    lost_ |= substitutes && !(bound <= v_.most_growth * of(own_, k));
  }
};

template <class S>
__global__ void __launch_bounds__(256) batch_take_joint(const __grid_constant__ trs_batch_joint v) {
  batch_joint<S> me(v);
  me.take();
}

/* ---- Lanes: one warp, a system in each lane, rows in natural order.  No lane waits for another.
 * Values and the pattern come through a ring in shared memory, filled ahead; x of the last rows
 * stays in a window there; b and x of 32 rows at a time are transposed in tiles.
 * K: entries off the diagonal of every row; 0: rows differ, and each entry tells what it is. ----
 */

template <class S, int K>
class batch_lane {
 public:
  __device__ explicit batch_lane(const trs_batch_sweep &a)
      : a_(a),
        ring_(batch_memory<S>()),
        tile_(ring_ + RING * BATCH_WARP),
        window_(tile_ + 2 * BATCH_TILE),
        code_(reinterpret_cast<int32_t *>(window_ + (a.window + 1) * BATCH_WARP)),
        lane_(int(threadIdx.x)),
        group_(blockIdx.x),
        val_(static_cast<const S *>(a.val) + (a.first + group_) * a.entries * BATCH_WARP + lane_) {}

  __device__ void solve(int64_t r) {
    b_ = static_cast<const S *>(a_.b) + r * a_.b_col + (group_ << 5) * a_.b_next;
    x_ = static_cast<S *>(a_.x) + r * a_.x_col + (group_ << 5) * a_.x_next;
    k_ = 0;
    last_ = S{};
    window_[a_.window * BATCH_WARP + lane_] = S{};
    bring(0);
    bring(1);
    for (uint32_t c = 0; c < CHUNKS; c++) start_copy(c);
    const auto chunks = uint32_t(a_.entries / CHUNK);
    await_groups_of_copies<CHUNKS - 1>();
    __syncwarp();
    scale(0);
    sum_ = tile_[lane_];
    chunk now, next;
    take(now, 0);
    for (uint32_t c = 0; c < chunks; c++) {
      /* Of CHUNKS + c groups the first c + 2 are complete. */
      await_groups_of_copies<CHUNKS - 2>();
      __syncwarp();
      take(next, c + 1);
      start_copy(c + CHUNKS);
      if constexpr (K > 0)
        work_on_rows(now);
      else
        work(now);
      now = next;
    }
    await_groups_of_copies<0>();
    if (k_ % TRS_BATCH_ROWS) give(k_ / TRS_BATCH_ROWS);
  }

 private:
  static constexpr int ROWS = TRS_BATCH_NARROW_ROWS, CHUNK = K ? ROWS * (K + 1) : TRS_BATCH_CHUNK,
                       CHUNKS = K > 2 ? TRS_BATCH_CHUNKS / 2 : TRS_BATCH_CHUNKS,
                       RING = CHUNKS * CHUNK;
  struct chunk {
    int32_t distance[CHUNK];
    S value[CHUNK];
  };

  const trs_batch_sweep &a_;
  S *ring_, *tile_, *window_;
  int32_t *code_;
  int lane_;
  int64_t group_;
  const S *val_;
  const S *b_;
  S *x_;
  uint32_t k_; /* rows solved */
  S sum_, last_;

  __device__ int64_t natural(int64_t k) const { return a_.lower ? k : a_.n - 1 - k; }
  /* The caller's row of row k of the sweep. */
  __device__ int64_t row_of(const int32_t *at, int64_t k) const {
    if (k >= a_.n) return 0; /* of a lane that moves nothing */
    return at ? __ldg(at + k) : natural(k);
  }
  __device__ bool exists(int s) const { return ((a_.first + group_) << 5) + s < a_.count; }

  /* The slot's former entries are in registers of all lanes.  Past the end an empty group. */
  __device__ void start_copy(uint32_t c) {
    if (int64_t(c) * CHUNK < a_.entries) {
      const uint32_t slot = c % CHUNKS * CHUNK;
#pragma unroll
      for (int u = 0; u < CHUNK; u++)
        copy_later<int(sizeof(S))>(ring_ + (slot + u) * BATCH_WARP + lane_,
                                   val_ + (int64_t(c) * CHUNK + u) * BATCH_WARP);
      if (lane_ < CHUNK)
        copy_later<4>(code_ + slot + lane_, a_.distance + int64_t(c) * CHUNK + lane_);
    }
    end_group_of_copies();
  }
  /* Past the end what the slot had. */
  __device__ void take(chunk &e, uint32_t c) const {
    const uint32_t slot = c % CHUNKS * CHUNK;
#pragma unroll
    for (int u = 0; u < CHUNK; u++) {
      e.distance[u] = code_[slot + u];
      e.value[u] = ring_[(slot + u) * BATCH_WARP + lane_];
    }
  }

  /* Starts to bring b of tile j, a row per lane.  The copies end with the group of the next chunk
   * but one that is started: at least 32 entries, or eight chunks, before the tile is read. */
  __device__ void bring(uint32_t j) {
    S *to = tile_ + (j % 2) * BATCH_TILE + lane_ * (BATCH_WARP + 1);
    const int64_t k = int64_t(j) * TRS_BATCH_ROWS + lane_;
    const S *from = b_ + row_of(a_.b_at, k) * a_.b_row;
#pragma unroll 4
    for (int s = 0; s < BATCH_WARP; s++) {
      if (k < a_.n && exists(s))
        copy_later<int(sizeof(S))>(to + s, from + s * a_.b_next);
      else
        to[s] = S{};
    }
  }
  /* Scales b of tile j, which is there: a row per lane, as it was brought. */
  __device__ void scale(uint32_t j) const {
    if (!a_.b_scale) return;
    S *at = tile_ + (j % 2) * BATCH_TILE + lane_ * (BATCH_WARP + 1);
    const int64_t row = row_of(a_.b_at, int64_t(j) * TRS_BATCH_ROWS + lane_);
#pragma unroll 4
    for (int s = 0; s < BATCH_WARP; s++) at[s] = batch_scaled(a_.b_scale, row, at[s]);
    __syncwarp();
  }
  /* x of tile j to the caller.  Afterwards the tile is free. */
  __device__ void give(uint32_t j) const {
    const S *from = tile_ + (j % 2) * BATCH_TILE + lane_ * (BATCH_WARP + 1);
    const int64_t k = int64_t(j) * TRS_BATCH_ROWS + lane_;
    const int64_t row = row_of(a_.x_at, k), system = (a_.first + group_) << 5;
    S *to = x_ + row * a_.x_row;
    __syncwarp();
#pragma unroll 4
    for (int s = 0; s < BATCH_WARP; s++)
      if (k < a_.n && exists(s))
        to[s * a_.x_next] = batch_solved(a_, system + s) ? batch_scaled(a_.x_scale, row, from[s])
                                                         : not_a_number<S>();
    __syncwarp();
  }

  __device__ S known(uint32_t k) const {
    return window_[(k & unsigned(a_.window - 1)) * BATCH_WARP + lane_];
  }

  /* Rows of K entries each; those of a chunk are in one tile. */
  __device__ void work_on_rows(const chunk &e) {
    S *row = tile_ + (k_ / TRS_BATCH_ROWS % 2) * BATCH_TILE +
             k_ % TRS_BATCH_ROWS * (BATCH_WARP + 1) + lane_;
    S sum[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) sum[r] = row[r * (BATCH_WARP + 1)];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
#pragma unroll
      for (int u = r * (K + 1); u < r * (K + 1) + K; u++)
        sum[r] = batch_subtract(e.value[u], window_[e.distance[u] * BATCH_WARP + lane_], sum[r]);
      const S x = batch_product(sum[r], e.value[r * (K + 1) + K]);
      window_[((k_ + r) & unsigned(a_.window - 1)) * BATCH_WARP + lane_] = x;
      row[r * (BATCH_WARP + 1)] = x;
    }
    k_ += ROWS;
    if (k_ % TRS_BATCH_ROWS == 0) go_on();
  }
  /* The tile of the last 32 rows goes, another comes in its place, and the next one is ready. */
  __device__ void go_on() {
    const uint32_t j = k_ / TRS_BATCH_ROWS - 1;
    give(j);
    bring(j + 2);
    scale(j + 1);
  }

  /* x of rows before the chunk is loaded first, all at once. */
  __device__ void work(const chunk &e) {
    S before[CHUNK];
    int rows = 0;
#pragma unroll
    for (int u = 0; u < CHUNK; u++) {
      before[u] =
          e.distance[u] > rows && e.distance[u] > 1 ? known(k_ + rows - e.distance[u]) : S{};
      rows += e.distance[u] == 0;
    }
    rows = 0;
#pragma unroll
    for (int u = 0; u < CHUNK; u++) {
      const int distance = e.distance[u];
      if (distance > 0) {
        S x = before[u];
        if (distance == 1)
          x = last_;
        else if (distance <= rows)
          x = known(k_ - distance);
        sum_ = batch_subtract(e.value[u], x, sum_);
      } else if (distance == 0) {
        finish_row(e.value[u]);
        rows++;
      }
    }
  }
  __device__ void finish_row(S inverse) {
    const uint32_t at = k_ % TRS_BATCH_ROWS * (BATCH_WARP + 1) + lane_;
    last_ = batch_product(sum_, inverse);
    window_[(k_ & unsigned(a_.window - 1)) * BATCH_WARP + lane_] = last_;
    tile_[(k_ / TRS_BATCH_ROWS % 2) * BATCH_TILE + at] = last_;
    k_++;
    if (k_ % TRS_BATCH_ROWS == 0) go_on();
    sum_ = tile_[(k_ / TRS_BATCH_ROWS % 2) * BATCH_TILE + k_ % TRS_BATCH_ROWS * (BATCH_WARP + 1) +
                 lane_];
  }
};

template <class S, int K>
__global__ void __launch_bounds__(BATCH_WARP, 16)
    batch_lanes(const __grid_constant__ trs_batch_sweep a) {
  batch_lane<S, K> me(a);
  me.solve(int64_t(blockIdx.y));
}

/* The kernel for rows of so many entries, or of any. */
template <class S>
auto batch_lanes_kernel(int narrow) {
  switch (narrow) {
    case 1:
      return batch_lanes<S, 1>;
    case 2:
      return batch_lanes<S, 2>;
    case 3:
      return batch_lanes<S, 3>;
    case 4:
      return batch_lanes<S, 4>;
    default:
      return batch_lanes<S, 0>;
  }
}

/* ---- Levels: a block, its threads side by side on the systems of a group and the rows of a piece.
 * Packets of pieces with their values and columns come into shared memory meanwhile. ---- */

/* A block of one warp needs no barrier of a block. */
__device__ inline void batch_barrier() {
  if (blockDim.x == BATCH_WARP)
    __syncwarp();
  else
    __syncthreads();
}

/* What a stage holds beside values and columns: its packet, the one that takes its place when it is
 * done, and its pieces. */
struct batch_packet {
  trs_batch_packet now, then;
  trs_batch_piece piece[TRS_BATCH_PIECES];
};

/* SHARED: x is in shared memory, where 32 bits count its bytes. */
template <class S, int W, bool SHARED>
class batch_thread {
 public:
  /* x: the group's; stage: shared memory. */
  __device__ batch_thread(const trs_batch_sweep &a, S *x, S *stage)
      : a_(a),
        systems_(in_register(1 << a.log_systems)),
        s_(int(threadIdx.x) & (systems_ - 1)),
        slot_(int(threadIdx.x) >> a.log_systems),
        slots_(int(blockDim.x) >> a.log_systems),
        room_(in_register(a.room)),
        packets_(in_register(int(a.packets))),
        group_(blockIdx.x),
        pitch_(SHARED ? place(in_register(int(a.pitch))) : place(a.pitch)),
        x_(x + s_),
        value_(stage),
        val_(static_cast<const S *>(a.val) + (a.first + group_) * a.entries * systems_),
        col_(reinterpret_cast<int32_t *>(stage + STAGES * a.room * systems_)),
        packet_(reinterpret_cast<batch_packet *>(col_ + STAGES * a.room)) {}

  /* True if the group has a system to solve. */
  __device__ bool is_wanted() const {
    bool any = !a_.takes_plain;
    for (int s = 0; s < systems_ && !any; s++)
      any = exists(s) && batch_wants(a_, ((a_.first + group_) << a_.log_systems) + s);
    return any;
  }
  __device__ void solve(int64_t r) {
    const int width = a_.nrhs - r < W ? int(a_.nrhs - r) : W;
    for (int q = 0; q < STAGES - 1; q++) start_first(q);
    if (a_.b_scale)
      take_b<true>(r, width);
    else
      take_b<false>(r, width);
    finish_all();
    await_groups_of_copies<0>();
    batch_barrier();
    if (a_.x_scale)
      give_x<true>(r, width);
    else
      give_x<false>(r, width);
    batch_barrier();
  }

 private:
  static constexpr int TOGETHER = W > 1 ? 1 : 4, STAGES = TRS_BATCH_STAGES,
                       AHEAD = (W > 1 ? 2 : 4) / (sizeof(S) > 8 ? 2 : 1);

  using place = std::conditional_t<SHARED, int, int64_t>;

  /* A thread's first row of a piece: what does not depend on x. */
  struct row {
    int width, rows, first; /* number of its first entry in the stages */
    place x;                /* where its x is, from x_ on */
    int32_t col[AHEAD];
    S value[AHEAD], inverse;
  };

  /* x that a row needs, and its b. */
  struct needs {
    S sum[W], x[AHEAD][W];
  };

  const trs_batch_sweep &a_;
  int systems_, s_, slot_, slots_, room_, packets_;
  int64_t group_;
  place pitch_;
  S *x_, *value_; /* x_: of this thread's system */
  const S *val_;
  int32_t *col_;
  batch_packet *packet_;
  int q_, k_, pieces_; /* the packet, the piece in it, and its number of pieces */

  __device__ bool exists(int s) const {
    return ((a_.first + group_) << a_.log_systems) + s < a_.count;
  }
  __device__ S *at(int32_t i, int s) const { return x_ + i * pitch_ + (s - s_); }

  /* ---- b and x ---- */

  /* Calls move(i, s) for each row and system: lanes along the rows where these lie side by side
   * outside, else along the systems. */
  template <class F>
  __device__ void each(int64_t step, F move) const {
    if (!a_.work && step == 1 && systems_ >= 8) {
      const int lane = int(threadIdx.x) % BATCH_WARP, warps = int(blockDim.x) / BATCH_WARP;
      for (int s = int(threadIdx.x) / BATCH_WARP; s < systems_; s += warps)
#pragma unroll(TOGETHER)
        for (int64_t i = lane; i < a_.n; i += BATCH_WARP) move(i, s);
    } else {
#pragma unroll(TOGETHER)
      for (int64_t i = slot_; i < a_.n; i += slots_) move(i, s_);
    }
  }
  /* Without a branch in the loop the loads of several rows are in flight. */
  template <bool SCALED>
  __device__ S scaled(const double *scale, int64_t row, S value) const {
    if constexpr (SCALED)
      return batch_scaled(scale, row, value);
    else
      return value;
  }
  template <bool SCALED>
  __device__ void take_b(int64_t r, int width) const {
    const S *b =
        static_cast<const S *>(a_.b) + r * a_.b_col + (group_ << a_.log_systems) * a_.b_next;
    each(a_.b_row, [=](int64_t i, int s) {
      const S *from = b + s * a_.b_next + i * a_.b_row;
      const int32_t to = __ldg(a_.b_to + i);
#pragma unroll
      for (int t = 0; t < W; t++)
        at(to, s)[t * systems_] =
            t < width && exists(s) ? scaled<SCALED>(a_.b_scale, i, from[t * a_.b_col]) : S{};
    });
    for (int64_t k = slot_; k < a_.zeros; k += slots_)
#pragma unroll
      for (int t = 0; t < W; t++) at(__ldg(a_.zero + k), s_)[t * systems_] = S{};
  }
  template <bool SCALED>
  __device__ void give_x(int64_t r, int width) const {
    S *x = static_cast<S *>(a_.x) + r * a_.x_col + (group_ << a_.log_systems) * a_.x_next;
    const int64_t system = (a_.first + group_) << a_.log_systems;
    each(a_.x_row, [=](int64_t i, int s) {
      S *to = x + s * a_.x_next + i * a_.x_row;
      const bool wanted = batch_wants(a_, system + s);
      if (!exists(s) || (!wanted && a_.has_rest)) return;
      const bool solved = wanted && batch_solved(a_, system + s);
      const int32_t from = __ldg(a_.x_from + i);
#pragma unroll
      for (int t = 0; t < W; t++)
        if (t < width)
          to[t * a_.x_col] =
              solved ? scaled<SCALED>(a_.x_scale, i, at(from, s)[t * systems_]) : not_a_number<S>();
    });
  }

  /* ---- Packets ---- */

  template <int BYTES>
  __device__ void copy_all(void *to, const void *from, int bytes) const {
    for (int k = int(threadIdx.x) * BYTES; k < bytes; k += int(blockDim.x) * BYTES)
      copy_later<BYTES>(static_cast<char *>(to) + k, static_cast<const char *>(from) + k);
  }
  /* Starts to copy packet q.  Past the last one an empty group. */
  __device__ void start_copy(const trs_batch_packet &packet, int q) const {
    if (q < packets_) {
      const int stage = int(unsigned(q) % STAGES);
      S *value = value_ + stage * room_ * systems_;
      const S *from = val_ + int64_t(packet.entry) * systems_;
      const int bytes = packet.entries * systems_ * int(sizeof(S));
      if (sizeof(S) >= 8 || systems_ > 1)
        copy_all<16>(value, from, bytes);
      else
        copy_all<8>(value, from, bytes);
      copy_all<8>(col_ + stage * room_, a_.col + packet.entry, packet.entries * 4);
      copy_all<16>(packet_[stage].piece, a_.piece + packet.piece,
                   packet.pieces * int(sizeof(trs_batch_piece)));
      if (threadIdx.x == 0) {
        copy_later<16>(&packet_[stage].now, a_.packet + q);
        copy_later<16>(&packet_[stage].then, a_.packet + q + STAGES - 1);
      }
    }
    end_group_of_copies();
  }
  __device__ void start_first(int q) const {
    const trs_batch_packet *p = a_.packet + q;
    start_copy({__ldg(&p->entry), __ldg(&p->entries), __ldg(&p->piece), __ldg(&p->pieces)}, q);
  }

  /* ---- Rows ---- */

  /* Packets q and q + 1 are there when q begins, so that the row after the one that is finished
   * can be looked at.  The barrier before a piece makes x of the former one visible; that before a
   * packet also frees the stage of the former one. */
  __device__ void finish_all() {
    row even, odd;
    q_ = k_ = pieces_ = 0;
    await_groups_of_copies<STAGES - 3>();
    batch_barrier();
    even = look(0, 0);
    for (int left = in_register(int(a_.pieces)); left > 0; left -= 2) {
      finish_piece(even, odd);
      if (left > 1) finish_piece(odd, even);
    }
  }
  __device__ void finish_piece(const row &now, row &next) {
    const int stage = int(unsigned(q_) % STAGES), stage_then = int(unsigned(q_ + 1) % STAGES);
    if (k_ == 0) {
      await_groups_of_copies<STAGES - 3>();
      batch_barrier();
      start_copy(packet_[stage].then, q_ + STAGES - 1);
      pieces_ = packet_[stage].now.pieces;
    } else {
      batch_barrier();
    }
    needs there;
    fetch(there, now); /* while these come, the next row is looked at */
    const bool last = ++k_ == pieces_;
    if (last) {
      k_ = 0;
      q_++;
    }
    if (!last || q_ < packets_) next = look(last ? stage_then : stage, k_);
    finish(now, there);
  }

  /* The thread's first row of piece k of the packet in a stage. */
  __device__ row look(int stage, int k) const {
    const trs_batch_piece piece = packet_[stage].piece[k];
    row own;
    own.width = piece.width;
    own.rows = piece.rows;
    own.first = stage * room_ + piece.entry + slot_;
    own.x = (piece.row + slot_) * pitch_;
    if (slot_ < piece.rows) {
      const int32_t *col = col_ + own.first;
      const S *value = value_ + own.first * systems_ + s_;
      const int step = piece.rows * systems_;
#pragma unroll
      for (int u = 0; u < AHEAD; u++) {
        if (u == piece.width) break;
        own.col[u] = col[u * piece.rows];
        own.value[u] = value[u * step];
      }
      own.inverse = value[piece.width * step];
    }
    return own;
  }

  __device__ void subtract(S *sum, S a, place other) const {
#pragma unroll
    for (int t = 0; t < W; t++) sum[t] = batch_subtract(a, x_[other + t * systems_], sum[t]);
  }
  /* The entries of a row from number u on, r rows after `own`. */
  __device__ void subtract_others(S *sum, int u, const row &own, int r) const {
    int e = own.first + u * own.rows + r;
#pragma unroll(TOGETHER)
    for (; u < own.width; u++, e += own.rows)
      subtract(sum, value_[e * systems_ + s_], col_[e] * pitch_);
  }

  __device__ void fetch(needs &there, const row &own) const {
    if (slot_ >= own.rows) return;
#pragma unroll
    for (int t = 0; t < W; t++) there.sum[t] = x_[own.x + t * systems_];
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
      if (u == own.width) break;
#pragma unroll
      for (int t = 0; t < W; t++) there.x[u][t] = x_[own.col[u] * pitch_ + t * systems_];
    }
  }

  /* The rows of a piece, of which `own` is the first of this thread. */
  __device__ void finish(const row &own, needs &there) const {
    if (slot_ >= own.rows) return;
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
      if (u == own.width) break;
#pragma unroll
      for (int t = 0; t < W; t++)
        there.sum[t] = batch_subtract(own.value[u], there.x[u][t], there.sum[t]);
    }
    if (own.width > AHEAD) subtract_others(there.sum, AHEAD, own, 0);
#pragma unroll
    for (int t = 0; t < W; t++) x_[own.x + t * systems_] = batch_product(there.sum[t], own.inverse);
    if (slot_ + slots_ < own.rows) finish_others(own);
  }
  __device__ void finish_others(const row &own) const {
    for (int r = slots_; slot_ + r < own.rows; r += slots_) {
      S sum[W], *x = x_ + (own.x + r * pitch_);
#pragma unroll
      for (int t = 0; t < W; t++) sum[t] = x[t * systems_];
      subtract_others(sum, 0, own, r);
      const S inverse = value_[(own.first + own.width * own.rows + r) * systems_ + s_];
#pragma unroll
      for (int t = 0; t < W; t++) x[t * systems_] = batch_product(sum[t], inverse);
    }
  }
};

/* Shared memory: the stages, and then x. */
template <class S, int W, bool SHARED>
__global__ void __launch_bounds__(TRS_BATCH_MOST_THREADS, 1)
    batch_levels(const __grid_constant__ trs_batch_sweep a) {
  S *stage = batch_memory<S>(), *x;
  if constexpr (SHARED)
    x = stage + a.stage_bytes / int64_t(sizeof(S));
  else
    x = static_cast<S *>(a.work) + (a.first + int64_t(blockIdx.x)) * (a.rows + 1) * a.pitch;
  batch_thread<S, W, SHARED> me(a, x, stage);
  if (!me.is_wanted()) return;
  for (int64_t r = int64_t(blockIdx.y) * W; r < a.nrhs; r += int64_t(gridDim.y) * W) me.solve(r);
}

}  // namespace trs

#endif
