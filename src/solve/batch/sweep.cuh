/* sweep.cuh - the kernels of batches: values into groups, and the two sweeps.  tests/ run them on a
 * host, with emulated threads. */
#ifndef TRS_SOLVE_BATCH_SWEEP_CUH
#define TRS_SOLVE_BATCH_SWEEP_CUH

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
__device__ inline S batch_nan() {
  using R = typename element<S>::real;
  const R nan = R(NAN);
  if constexpr (element<S>::is_complex)
    return {nan, nan};
  else
    return nan;
}

__device__ inline bool batch_solved(const trs_batch_sweep &a, int64_t system) {
  return __ldg(a.fault + system) == ~uint64_t(0);
}

/* ---- Values: tiles of 32 entries of every system of a group, transposed in shared memory. ---- */

template <class S>
__device__ inline S batch_value(const trs_batch_values &v, const S *val, int64_t source) {
  if (source == TRS_BATCH_ONE) return one<S>();
  if (source < 0) return S{};
  S sum = S{};
  if (!v.from) {
    sum = val[source];
  } else {
    for (int64_t k = v.from_ptr[source]; k < v.from_ptr[source + 1]; k++)
      sum = sum + val[v.from[k]];
  }
  if constexpr (element<S>::is_complex)
    if (v.conj) sum.im = -sum.im;
  return sum;
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

/* ---- Lanes: one warp, a system in each lane, rows in natural order.  No lane waits for another.
 * Values and the pattern come through a ring in shared memory, filled ahead; x of the last rows
 * stays in a window there; b and x of 32 rows at a time are transposed in tiles. ---- */

template <class S>
class batch_lane {
 public:
  __device__ explicit batch_lane(const trs_batch_sweep &a)
      : a_(a),
        ring_(batch_memory<S>()),
        tile_(ring_ + RING * BATCH_WARP),
        window_(tile_ + 2 * BATCH_TILE),
        code_(reinterpret_cast<int32_t *>(window_ + a.window * BATCH_WARP)),
        lane_(int(threadIdx.x)),
        group_(blockIdx.x),
        val_(static_cast<const S *>(a.val) + (a.first + group_) * a.entries * BATCH_WARP + lane_) {}

  __device__ void solve(int64_t r) {
    b_ = static_cast<const S *>(a_.b) + r * a_.b_col + (group_ << 5) * a_.b_next;
    x_ = static_cast<S *>(a_.x) + r * a_.x_col + (group_ << 5) * a_.x_next;
    k_ = 0;
    last_ = S{};
    bring(0);
    bring(1);
    for (uint32_t c = 0; c < TRS_BATCH_CHUNKS; c++) start_copy(c);
    const auto chunks = uint32_t(a_.entries / TRS_BATCH_CHUNK);
    await_groups_of_copies<TRS_BATCH_CHUNKS - 1>();
    __syncwarp();
    sum_ = tile_[lane_];
    chunk now, next;
    take(now, 0);
    for (uint32_t c = 0; c < chunks; c++) {
      /* Of TRS_BATCH_CHUNKS + c groups the first c + 2 are complete. */
      await_groups_of_copies<TRS_BATCH_CHUNKS - 2>();
      __syncwarp();
      take(next, c + 1);
      start_copy(c + TRS_BATCH_CHUNKS);
      work(now);
      now = next;
    }
    await_groups_of_copies<0>();
    if (k_ % TRS_BATCH_ROWS) give(k_ / TRS_BATCH_ROWS);
  }

 private:
  static constexpr int CHUNK = TRS_BATCH_CHUNK, RING = TRS_BATCH_CHUNKS * CHUNK;
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
  __device__ bool exists(int s) const { return ((a_.first + group_) << 5) + s < a_.count; }

  /* The slot's former entries are in registers of all lanes.  Past the end an empty group. */
  __device__ void start_copy(uint32_t c) {
    if (int64_t(c) * CHUNK < a_.entries) {
      const uint32_t slot = c % TRS_BATCH_CHUNKS * CHUNK;
#pragma unroll
      for (int u = 0; u < CHUNK; u++)
        copy_later<int(sizeof(S))>(ring_ + (slot + u) * BATCH_WARP + lane_,
                                   val_ + (int64_t(c) * CHUNK + u) * BATCH_WARP);
      if (lane_ == 0) copy_later<CHUNK * 4>(code_ + slot, a_.distance + int64_t(c) * CHUNK);
    }
    end_group_of_copies();
  }
  /* Past the end what the slot had. */
  __device__ void take(chunk &e, uint32_t c) const {
    const uint32_t slot = c % TRS_BATCH_CHUNKS * CHUNK;
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
    const S *from = b_ + natural(k) * a_.b_row;
#pragma unroll 4
    for (int s = 0; s < BATCH_WARP; s++) {
      if (k < a_.n && exists(s))
        copy_later<int(sizeof(S))>(to + s, from + s * a_.b_next);
      else
        to[s] = S{};
    }
  }
  /* x of tile j to the caller.  Afterwards the tile is free. */
  __device__ void give(uint32_t j) const {
    const S *from = tile_ + (j % 2) * BATCH_TILE + lane_ * (BATCH_WARP + 1);
    const int64_t k = int64_t(j) * TRS_BATCH_ROWS + lane_;
    S *to = x_ + natural(k) * a_.x_row;
    const int64_t system = (a_.first + group_) << 5;
    __syncwarp();
#pragma unroll 4
    for (int s = 0; s < BATCH_WARP; s++)
      if (k < a_.n && exists(s))
        to[s * a_.x_next] = batch_solved(a_, system + s) ? from[s] : batch_nan<S>();
    __syncwarp();
  }

  __device__ S known(uint32_t k) const {
    return window_[(k & unsigned(a_.window - 1)) * BATCH_WARP + lane_];
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
    if (k_ % TRS_BATCH_ROWS == 0) {
      const uint32_t j = k_ / TRS_BATCH_ROWS - 1;
      give(j);
      bring(j + 2);
    }
    sum_ = tile_[(k_ / TRS_BATCH_ROWS % 2) * BATCH_TILE + k_ % TRS_BATCH_ROWS * (BATCH_WARP + 1) +
                 lane_];
  }
};

template <class S>
__global__ void __launch_bounds__(BATCH_WARP, 16)
    batch_lanes(const __grid_constant__ trs_batch_sweep a) {
  batch_lane<S> me(a);
  me.solve(int64_t(blockIdx.y));
}

/* ---- Levels: a block, its threads side by side on the systems of a group and the rows of a level.
 * ---- */

/* A block of one warp needs no barrier of a block. */
__device__ inline void batch_barrier() {
  if (blockDim.x == BATCH_WARP)
    __syncwarp();
  else
    __syncthreads();
}

template <class S, int W>
class batch_thread {
 public:
  __device__ batch_thread(const trs_batch_sweep &a, S *x)
      : a_(a),
        systems_(1 << a.log_systems),
        s_(int(threadIdx.x) & (systems_ - 1)),
        slot_(int(threadIdx.x) >> a.log_systems),
        slots_(int(blockDim.x) >> a.log_systems),
        group_(blockIdx.x),
        x_(x),
        val_(static_cast<const S *>(a.val) + (a.first + group_) * a.entries * systems_ + s_) {}

  __device__ void solve(int64_t r) {
    const int width = a_.nrhs - r < W ? int(a_.nrhs - r) : W;
    take_b(r, width);
    batch_barrier();
    sweep();
    give_x(r, width);
    batch_barrier();
  }

 private:
  /* More rows ahead would not fit the registers. */
  static constexpr int AHEAD = W > 1 ? 2 : 4,
                       DEPTH = sizeof(S) > 8 ? 1
                               : W > 1       ? 2
                                             : 3,
                       TOGETHER = W > 1 ? 1 : 4;
  struct bounds {
    int32_t begin, end;
  };
  struct head {
    int64_t begin, end; /* of a row's entries without the diagonal one */
    int32_t i;          /* -1: no row */
  };
  struct row {
    head at;
    int32_t col[AHEAD];
    S value[AHEAD], inverse;
  };

  const trs_batch_sweep &a_;
  int systems_, s_, slot_, slots_;
  int64_t group_;
  S *x_;
  const S *val_;

  __device__ bool exists(int s) const {
    return ((a_.first + group_) << a_.log_systems) + s < a_.count;
  }
  __device__ S *at(int64_t i, int s) const { return x_ + i * a_.pitch + s; }

  /* Calls move(i, s) for each row and system: lanes along the rows where these lie side by side
   * outside and cost no bank conflicts inside, else along the systems. */
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
  __device__ void take_b(int64_t r, int width) const {
    const S *b =
        static_cast<const S *>(a_.b) + r * a_.b_col + (group_ << a_.log_systems) * a_.b_next;
    each(a_.b_row, [=](int64_t i, int s) {
      const S *from = b + s * a_.b_next + i * a_.b_row;
#pragma unroll
      for (int t = 0; t < W; t++)
        at(i, s)[t * systems_] = t < width && exists(s) ? from[t * a_.b_col] : S{};
    });
  }
  __device__ void give_x(int64_t r, int width) const {
    S *x = static_cast<S *>(a_.x) + r * a_.x_col + (group_ << a_.log_systems) * a_.x_next;
    const int64_t system = (a_.first + group_) << a_.log_systems;
    each(a_.x_row, [=](int64_t i, int s) {
      S *to = x + s * a_.x_next + i * a_.x_row;
      if (!exists(s)) return;
      const bool solved = batch_solved(a_, system + s);
#pragma unroll
      for (int t = 0; t < W; t++)
        if (t < width) to[t * a_.x_col] = solved ? at(i, s)[t * systems_] : batch_nan<S>();
    });
  }

  /* What does not depend on other rows. */
  __device__ void load(row &own, const head &at) const {
    own.at = at;
    if (at.i < 0) return;
    if (a_.ahead && at.begin + a_.ahead < a_.entries)
      fetch_ahead(val_ + (at.begin + a_.ahead) * systems_);
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
      const bool there = at.begin + u < at.end;
      own.col[u] = there ? __ldg(a_.col + at.begin + u) : -1;
      own.value[u] = there ? read_constant(val_ + (at.begin + u) * systems_) : S{};
    }
    own.inverse = a_.unit ? one<S>() : read_constant(val_ + at.end * systems_);
  }
  __device__ void finish(const row &own) const {
    S sum[W];
    S *x = at(own.at.i, s_);
#pragma unroll
    for (int t = 0; t < W; t++) sum[t] = x[t * systems_];
#pragma unroll
    for (int u = 0; u < AHEAD; u++)
      if (own.col[u] >= 0) subtract(sum, own.value[u], own.col[u]);
#pragma unroll(TOGETHER)
    for (int64_t p = own.at.begin + AHEAD; p < own.at.end; p++)
      subtract(sum, read_constant(val_ + p * systems_), __ldg(a_.col + p));
#pragma unroll
    for (int t = 0; t < W; t++) x[t * systems_] = batch_product(sum[t], own.inverse);
  }
  __device__ void subtract(S *sum, S value, int32_t col) const {
    const S *x = at(col, s_);
#pragma unroll
    for (int t = 0; t < W; t++) sum[t] = batch_subtract(value, x[t * systems_], sum[t]);
  }

  /* A thread's first row of a level is loaded in three steps, a level apart: where the level lies,
   * where the row's entries lie, the entries.  The last is DEPTH levels ahead of the row's turn. */
  __device__ bounds look_at_level(int level) const {
    if (level >= a_.levels) return {0, 0};
    return {__ldg(a_.level_ptr + level), __ldg(a_.level_ptr + level + 1)};
  }
  __device__ head look_at_row(int64_t k, int64_t end) const {
    if (k >= end) return {0, 0, -1};
    return {__ldg(a_.ptr + k), __ldg(a_.ptr + k + 1) - 1, __ldg(a_.row + k)};
  }
  __device__ head look_at_first(bounds of) const { return look_at_row(of.begin + slot_, of.end); }

  /* The rows of a level after a thread's first one. */
  __device__ void finish_others(bounds of) const {
    int64_t k = of.begin + slot_ + slots_;
    if (k >= of.end) return;
    row now = {}, next = {};
    load(next, look_at_row(k, of.end));
    for (; k < of.end; k += slots_) {
      now = next;
      load(next, look_at_row(k + slots_, of.end));
      finish(now);
    }
  }

  __device__ void sweep() const {
    row ahead[DEPTH] = {};
#pragma unroll
    for (int d = 0; d < DEPTH; d++) load(ahead[d], look_at_first(look_at_level(d)));
    head far = look_at_first(look_at_level(DEPTH));
    bounds farther = look_at_level(DEPTH + 1), here = look_at_level(0);
    for (int level = 0; level < a_.levels; level++) {
      const bounds next = look_at_level(level + 1);
      if (ahead[0].at.i >= 0) finish(ahead[0]);
      finish_others(here);
      here = next;
#pragma unroll
      for (int d = 0; d + 1 < DEPTH; d++) ahead[d] = ahead[d + 1];
      load(ahead[DEPTH - 1], far);
      far = look_at_first(farther);
      farther = look_at_level(level + DEPTH + 2);
      batch_barrier();
    }
  }
};

template <class S, int W, bool SHARED>
__global__ void __launch_bounds__(TRS_BATCH_MOST_THREADS)
    batch_levels(const __grid_constant__ trs_batch_sweep a) {
  S *x = batch_memory<S>();
  if constexpr (!SHARED)
    x = static_cast<S *>(a.work) + (a.first + int64_t(blockIdx.x)) * a.n * a.pitch;
  batch_thread<S, W> me(a, x);
  for (int64_t r = int64_t(blockIdx.y) * W; r < a.nrhs; r += int64_t(gridDim.y) * W) me.solve(r);
}

}  // namespace trs

#endif
