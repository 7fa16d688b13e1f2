/* spread.cuh - what the kernels of spread.h share: tasks by ticket, the numbers of a unit, and
 * triangles. */
#ifndef TRS_SOLVE_GRID3D_SPREAD_CUH
#define TRS_SOLVE_GRID3D_SPREAD_CUH

#include "device/lanes.cuh"
#include "device/ready.cuh"
#include "solve/grid3d/spread.h"

namespace trs::spread {

constexpr int LANES = TRS_SPREAD_LINES;
constexpr int TERMS = TRS_SPREAD_TERMS;

/* With one right-hand side a supernode has little work per number, and more warps load numbers. */
template <int R>
constexpr int WARPS = R == 1 ? 16 : 8;
template <int R>
constexpr int THREADS = LANES *WARPS<R>;
/* Units that a warp multiplies at once, as far as registers hold their numbers. */
template <class S, int R>
constexpr int ABREAST = R == 1 && sizeof(S) <= 8 ? 2 : 1;

template <class S>
__host__ __device__ constexpr int tile_rows() { /* same as ops.h's trs_tile_rows */
  return sizeof(S) == 4 ? 16 : sizeof(S) == 8 ? 8 : 4;
}
template <class S>
__host__ __device__ inline int triangle_values(int width) { /* trs_triangle_values */
  constexpr int TILE = tile_rows<S>();
  const int whole = width / TILE;
  return TILE * TILE * whole * (whole + 1) / 2 + width % TILE * width;
}

/* ---- Tasks ---- */

/* In shared memory: the task of a block of threads, and the memory of the receivers of its x. */
struct slot {
  bool stalled; /* a wait of this block has passed its limit, so that later waits end at once */
  uint32_t ticket;
  trs_spread_task task;
  char *to[TRS_MOST_MEMBERS];
};

/* The state of a block of threads. */
struct work {
  const trs_spread_args &a;
  const trs_spread_task &t;
  char *const *to;
  volatile bool &stalled;
  int32_t chunk, first, count; /* of right-hand sides */
  int warp, lane;
};

/* False once this wait, or another of the block, has passed the limit. */
__device__ inline bool goes_on(const work &w, wait &limit) {
  if (w.stalled) return false;
  if (limit.goes_on(w.t.name)) return true;
  w.stalled = true;
  return false;
}

/* False if there are no more.  Begins and ends with a barrier. */
template <int R>
__device__ inline bool take_task(const trs_spread_args &a, slot &s) {
  const uint32_t all = uint32_t(a.ntasks) * uint32_t(a.chunks);
  __syncthreads();
  if (threadIdx.x == 0) {
    s.ticket = atomicAdd(a.ticket, 1u);
    if (s.ticket < all) s.task = a.task[s.ticket / uint32_t(a.chunks)];
  }
  __syncthreads();
  if (s.ticket >= all) return false;
  for (int r = static_cast<int>(threadIdx.x); r < s.task.receivers; r += THREADS<R>)
    s.to[r] = a.base[a.receiver[s.task.receiver + r]];
  __syncthreads();
  return true;
}

template <int R>
__device__ inline work work_of(const trs_spread_args &a, slot &s) {
  const auto chunk = static_cast<int32_t>(s.ticket % uint32_t(a.chunks));
  const int64_t first = int64_t(chunk) * R, left = a.nrhs - first;
  return {a,
          s.task,
          s.to,
          s.stalled,
          chunk,
          static_cast<int32_t>(first),
          static_cast<int32_t>(left < R ? left : R),
          static_cast<int>(threadIdx.x) / LANES,
          static_cast<int>(threadIdx.x) % LANES};
}

/* x of right-hand side j and row i of the task, in the memory at this base. */
template <class S>
__device__ inline S *x_at(const work &w, char *base, int i, int j) {
  return reinterpret_cast<S *>(base + w.a.x) + int64_t(w.t.first + i) * w.a.nrhs + w.first + j;
}

/* ---- Shared memory ---- */

template <class S, int R>
struct room {
  S *y;        /* widest x R: sums, then x */
  S *part;     /* WARPS x widest x R: sums of each warp */
  S *x;        /* WARPS x TERMS_ABREAST: x that a warp multiplies */
  S *triangle; /* a copy of the task's triangle, if the launch makes copies */

  static constexpr int TERMS_ABREAST = TERMS * R * ABREAST<S, R>;
  static __host__ __device__ int without_triangle(int widest) {
    constexpr int warps = WARPS<R>;
    return (1 + warps) * widest * R + warps * TERMS_ABREAST;
  }
  __device__ explicit room(const trs_spread_args &a) {
    extern __shared__ __align__(16) unsigned char shared_bytes[];
    y = reinterpret_cast<S *>(shared_bytes);
    part = y + a.widest * R;
    x = part + WARPS<R> * a.widest * R;
    triangle = y + without_triangle(a.widest);
  }
};

/* The blocks of a launch, the bytes of shared memory of each, and whether they copy triangles: with
 * one right-hand side, where that fits.  spare: multiprocessors that the launch does not fill. */
template <class S, int R>
inline cudaError_t size_launch(trs_spread_args &a, void (*kernel)(trs_spread_args), int spare,
                               unsigned *blocks, size_t *shared) {
  constexpr int MOST_RESIDENT = 2; /* most of them wait rather than compute */
  int device = 0, multiprocessors = 0, resident = 0, most = 0;
  cudaFuncAttributes of; /* also loads the kernel */
  cudaError_t error = cudaGetDevice(&device);
  if (!error) error = cudaFuncGetAttributes(&of, kernel);
  if (!error)
    error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (!error)
    error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (error) return error;
  const size_t least = size_t(room<S, R>::without_triangle(a.widest)) * sizeof(S);
  const size_t with = least + size_t(triangle_values<S>(a.widest)) * sizeof(S);
  a.copies = R == 1 && with + of.sharedSizeBytes <= size_t(most);
  *shared = a.copies ? with : least;
  error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(*shared));
  if (!error)
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, THREADS<R>, *shared);
  const int64_t tasks = int64_t(a.ntasks) * a.chunks;
  const int64_t room = int64_t(multiprocessors > spare ? multiprocessors - spare : 1) *
                       (resident < MOST_RESIDENT ? resident : MOST_RESIDENT);
  *blocks = static_cast<unsigned>(tasks < room ? tasks : room);
  return error;
}

/* ---- Units ---- */

/* A lane's line of a unit: its numbers, every `step` numbers. */
template <class S, bool UPPER>
struct unit_line {
  const S *at;
  int64_t step;
  const int32_t *list;
  bool mine;

  __device__ unit_line(const work &w, const trs_spread_unit &u) {
    constexpr int TILE = tile_rows<S>();
    const S *values = static_cast<const S *>(w.a.values) + u.values;
    const int tile = w.lane / TILE * TILE, left = u.lines - tile, high = left < TILE ? left : TILE;
    mine = w.lane < u.lines;
    list = w.a.list + u.list;
    step = UPPER ? u.pitch : high;
    at = UPPER ? values + w.lane
               : values + int64_t(tile) * u.pitch + (w.lane - tile) + int64_t(u.from) * high;
  }
  __device__ int row(const work &w, const trs_spread_unit &u) const {
    return !mine ? 0 : UPPER ? u.out + w.lane : read_constant(list + w.lane);
  }
};

template <class S, bool UPPER>
__device__ inline void prefetch_unit(const work &w, const trs_spread_unit &u) {
  const unit_line<S, UPPER> line(w, u);
  if (line.mine)
    for (int k = 0; k < u.terms; k++) prefetch(line.at + k * line.step);
  prefetch(line.list + (UPPER ? w.lane % u.terms : w.lane % u.lines));
}

/* ---- Triangles ---- */

/* The offset of the first number, in column `from`, of row i of a triangle, and the distance to the
 * next. */
template <class S, bool UPPER>
struct triangle_row {
  int first, from, to, step;

  __device__ triangle_row(int width, int i) {
    constexpr int TILE = tile_rows<S>();
    const int t = i / TILE, at = t * TILE;
    step = width - at < TILE ? width - at : TILE;
    from = UPPER ? at : 0;
    to = UPPER ? width : at + step;
    first = (UPPER ? TILE * (t * width - TILE * t * (t - 1) / 2) : TILE * TILE * t * (t + 1) / 2) +
            (i - at);
  }
  __device__ int at(int c) const { return first + (c - from) * step; }
};

/* Begins to bring the triangle closer, before the task waits. */
template <class S, int R>
__device__ inline void fetch_triangle(const work &w, const room<S, R> &m) {
  constexpr int LINE = 128 / sizeof(S);
  if (w.t.kind != TRS_SPREAD_SOLVE || w.t.diagonal < 0) return;
  const S *D = static_cast<const S *>(w.a.values) + w.t.diagonal;
  const int count = triangle_values<S>(w.t.width), thread = static_cast<int>(threadIdx.x);
  if (!w.a.copies)
    for (int i = thread * LINE; i < count; i += THREADS<R> * LINE) prefetch(D + i);
  else
    for (int i = thread; i < count; i += THREADS<R>)
      __pipeline_memcpy_async(m.triangle + i, D + i, sizeof(S));
  __pipeline_commit();
}

/* What all warps have added to number i: neighbours first, since that chain of sums is shorter. */
template <class S, int R>
__device__ inline S sum_parts(const room<S, R> &m, int wide, int i) {
  S part[WARPS<R>];
#pragma unroll
  for (int k = 0; k < WARPS<R>; k++) part[k] = m.part[k * wide + i];
#pragma unroll
  for (int step = 1; step < WARPS<R>; step *= 2)
#pragma unroll
    for (int k = 0; k < WARPS<R>; k += 2 * step) part[k] = part[k] + part[k + step];
  return part[0];
}

/* y = D y for the inverse D: warps share the columns. */
template <class S, int R, bool UPPER>
__device__ inline void multiply_triangle(const work &w, const room<S, R> &m, const S *D) {
  const int width = w.t.width, wide = w.a.widest * R;
  S *sums = m.part + w.warp * wide;
  for (int i = w.lane; i < width; i += LANES) {
    const triangle_row<S, UPPER> row(width, i);
    S sum[R];
#pragma unroll
    for (int j = 0; j < R; j++) sum[j] = zero<S>();
      /* columns in turn, the same for every lane of a warp */
#pragma unroll 4
    for (int c = w.warp; c < width; c += WARPS<R>) {
      if (c < row.from || c >= row.to) continue;
      const S d = D[row.at(c)];
#pragma unroll
      for (int j = 0; j < R; j++) sum[j] = multiply_add(d, m.y[c * R + j], sum[j]);
    }
#pragma unroll
    for (int j = 0; j < R; j++) sums[i * R + j] = sum[j];
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < width * R; i += THREADS<R>)
    m.y[i] = sum_parts<S, R>(m, wide, i);
}

/* As analysis/pivot_tmpl.c. */
template <class S>
__device__ inline bool is_moderate(S a) {
  using real = typename element<S>::real;
  constexpr real MOST = sizeof(real) == 4 ? real(0x1p63) : real(0x1p511);
  return largest_part(a) >= 1 / MOST && largest_part(a) <= MOST;
}

/* Solves with `high` rows from `top` on, for right-hand side j: a row per lane.  Rows are divided
 * by their diagonal before the first step, which leaves one product per step.  Where quotients
 * leave the range in which they keep their digits, the strip is solved again, and rows are divided
 * behind their last product. */
template <class S, int R, bool UPPER>
__device__ inline void substitute_strip(const work &w, const S *T, int top, int high, int j, S *y) {
  const int row = top + (w.lane < high ? w.lane : 0);
  const triangle_row<S, UPPER> own(w.t.width, row);
  const S inverse = reciprocal(T[own.at(row)]);
  S x = y[row * R + j] * inverse;
  bool scales = is_moderate(inverse);
#pragma unroll 8
  for (int k = 0; k < high; k++) {
    const int c = UPPER ? high - 1 - k : k;
    const bool waits = w.lane < high && (UPPER ? w.lane < c : w.lane > c);
    const S a = waits ? T[own.at(top + c)] : zero<S>(), scaled = a * inverse;
    x = x - scaled * shuffle(x, c);
    scales = scales && (largest_part(a) == 0 || is_moderate(scaled));
  }
  if (!all_lanes(scales)) {
    S sum = y[row * R + j];
    for (int k = 0; k < high; k++) {
      const int c = UPPER ? high - 1 - k : k;
      const bool waits = w.lane < high && (UPPER ? w.lane < c : w.lane > c);
      const S known = shuffle(sum * inverse, c);
      if (waits) sum = sum - T[own.at(top + c)] * known;
    }
    x = sum * inverse;
  }
  if (w.lane < high) y[row * R + j] = x;
}

/* Subtracts the products with the strip's x from the rows that are left.  Neighbouring threads
 * share a row. */
template <class S, int R, bool UPPER>
__device__ inline void subtract_strip(const work &w, const S *T, int top, int high, int left,
                                      S *y) {
  constexpr int SHARERS = R == 1 ? 4 : 1;
  const int from = UPPER ? 0 : top + high, thread = static_cast<int>(threadIdx.x);
  const int share = thread % SHARERS, all = left * R * SHARERS;
  for (int i = thread; i < (all + LANES - 1) / LANES * LANES; i += THREADS<R>) {
    const bool mine = i < all;
    const int at = mine ? i / SHARERS : 0, row = from + at / R, j = at % R;
    const triangle_row<S, UPPER> own(w.t.width, row);
    S sum = zero<S>();
#pragma unroll 8
    for (int c = top + share; c < top + high; c += SHARERS)
      sum = multiply_add(T[own.at(c)], y[c * R + j], sum);
    for (int step = 1; step < SHARERS; step *= 2) sum = sum + shuffle_xor(sum, step);
    if (mine && share == 0) y[row * R + j] = y[row * R + j] - sum;
  }
}

/* y = T^-1 y, in strips of as many rows as a warp has lanes. */
template <class S, int R, bool UPPER>
__device__ inline void substitute(const work &w, const room<S, R> &m, const S *T) {
  const int width = w.t.width;
  for (int done = 0; done < width; done += LANES) {
    const int high = width - done < LANES ? width - done : LANES;
    const int top = UPPER ? width - done - high : done, left = width - done - high;
    for (int j = w.warp; j < R; j += WARPS<R>)
      substitute_strip<S, R, UPPER>(w, T, top, high, j, m.y);
    __syncthreads();
    if (left == 0) return;
    subtract_strip<S, R, UPPER>(w, T, top, high, left, m.y);
    __syncthreads();
  }
}

template <class S, int R, bool UPPER>
__device__ inline void solve_with(const work &w, const room<S, R> &m, const S *D) {
  if (w.t.solved)
    substitute<S, R, UPPER>(w, m, D);
  else
    multiply_triangle<S, R, UPPER>(w, m, D);
}

/* x(K) in the place of its sums.  Begins with a barrier; afterwards thread t has numbers t,
 * t + THREADS, ..., and others need a barrier. */
template <class S, int R, bool UPPER>
__device__ inline void solve_triangle(const work &w, const room<S, R> &m) {
  __pipeline_wait_prior(0);
  __syncthreads();
  if (w.t.diagonal < 0) return;
  if (R == 1 && w.a.copies) /* a branch of its own, for the compiler to see which memory this is */
    solve_with<S, R, UPPER>(w, m, m.triangle);
  else
    solve_with<S, R, UPPER>(w, m, static_cast<const S *>(w.a.values) + w.t.diagonal);
}

}  // namespace trs::spread

#endif
