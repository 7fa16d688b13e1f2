/* spread.cu - one sweep over the supernodes that are distributed over a grid's GPUs, one launch per
 * GPU.
 *
 * A block of threads takes a task by ticket: a row of blocks.  Its warps share the products, each
 * in its own sums; then the block adds the sums that other GPUs have sent for this row.  Every sum
 * has a fixed order, so that all grids that share a supernode compute the same bits of its x.  x
 * goes to the GPUs below in its tree by plain stores into their memory; a word, stored behind a
 * fence, signals its arrival.
 *
 * The task that L23's Algorithm 5 (section 3.4) has, in one kernel instead of WAIT and SOLVE. Cost:
 * the blocks of this rank once per right-hand side, and a wait per supernode on the longest path.
 */
#include "solve/grid3d/spread.h"

#include "device/kernel.cuh"

namespace {

using trs::multiply_add;
using trs::read_constant;
using trs::zero;

constexpr int WARPS = TRS_SPREAD_WARPS;
constexpr int LANES = TRS_SPREAD_LINES;
constexpr int TERMS = TRS_SPREAD_TERMS;
constexpr int THREADS = WARPS * LANES;

template <class S>
__host__ __device__ constexpr int tile_rows() { /* same as ops.h's trs_tile_rows */
  return sizeof(S) == 4 ? 16 : sizeof(S) == 8 ? 8 : 4;
}

__device__ inline void fence_device() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
__device__ inline void fence_system() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }

template <class S>
__device__ inline S *shared_memory() {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  return reinterpret_cast<S *>(shared_bytes);
}

__device__ inline uint32_t load_acquire_system(const uint32_t *word) {
  uint32_t value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}

/* Called by one thread; a barrier of the threads that read the received data must follow. */
__device__ inline void await(const trs_spread_args &a, const uint32_t *word, int32_t name) {
  trs::wait wait(a.fault);
  while (load_acquire_system(word) != a.solve && wait.goes_on(name)) {
  }
}

/* The state of a block of threads. */
struct work {
  const trs_spread_args &a;
  const trs_spread_task &t;
  int32_t chunk, first, count; /* of right-hand sides */
  int warp, lane;
};

template <class S>
__device__ inline S *x_of(const trs_spread_args &a, int32_t member) {
  return reinterpret_cast<S *>(a.base[member] + a.x);
}
__device__ inline uint32_t *x_word(const work &w, int32_t member, int32_t K) {
  return reinterpret_cast<uint32_t *>(w.a.base[member] + w.a.x_told) + int64_t(K) * w.a.chunks +
         w.chunk;
}
template <class S>
__device__ inline S *sum_of(const work &w, int32_t member, int32_t child) {
  return reinterpret_cast<S *>(w.a.base[member] + w.a.sums) +
         (child * w.a.columns + w.t.first) * w.a.nrhs + w.first;
}
__device__ inline uint32_t *sum_word(const work &w, int32_t member, int32_t child) {
  return reinterpret_cast<uint32_t *>(w.a.base[member] + w.a.sums_told) +
         (child * w.a.count + w.t.K) * w.a.chunks + w.chunk;
}

/* ---- Products ---- */

/* A unit, by a warp: the loads of values start before the wait for x.  seen: this warp already
 * knows that its x has arrived. */
template <class S, int R, bool UPPER>
__device__ inline void multiply(const work &w, const trs_spread_unit &u, bool seen, S *sums) {
  constexpr int TILE = tile_rows<S>();
  const S *values = static_cast<const S *>(w.a.values) + u.values;
  const int tile = w.lane / TILE * TILE;
  const int left = u.lines - tile, high = left < TILE ? left : TILE;
  const int64_t step = UPPER ? u.pitch : high;
  const S *at = UPPER ? values + w.lane
                      : values + int64_t(tile) * u.pitch + (w.lane - tile) + int64_t(u.from) * high;
  const bool mine = w.lane < u.lines;
  S a[TERMS];
#pragma unroll
  for (int k = 0; k < TERMS; k++)
    a[k] = mine && k < u.terms ? read_constant(at + k * step) : zero<S>();
  const int32_t *list = w.a.list + u.list;
  const int out = !mine ? 0 : UPPER ? u.out + w.lane : read_constant(list + w.lane);
  if (!seen && w.lane == 0) await(w.a, x_word(w, w.a.member, u.K), w.t.name);
  __syncwarp();
  const S *x = x_of<S>(w.a, w.a.member) + int64_t(u.x) * w.a.nrhs + w.first;
  S sum[R];
#pragma unroll
  for (int j = 0; j < R; j++) sum[j] = zero<S>();
#pragma unroll
  for (int k = 0; k < TERMS; k++) {
    if (k >= u.terms) break;
    const S *row = x + (UPPER ? read_constant(list + k) : u.from + k) * w.a.nrhs;
#pragma unroll
    for (int j = 0; j < R; j++)
      if (j < w.count) sum[j] = multiply_add(a[k], row[j], sum[j]);
  }
  if (!mine) return;
#pragma unroll
  for (int j = 0; j < R; j++) sums[out * R + j] = sums[out * R + j] + sum[j];
}

template <class S, int R>
__device__ inline void clear(const work &w, S *sums) {
  for (int i = w.lane; i < w.t.width * R; i += LANES) sums[i] = zero<S>();
  __syncwarp();
}

/* Adds all of the row's products to y, after its right-hand side; ends with a barrier. */
template <class S, int R, bool UPPER>
__device__ inline void add_up(const work &w, S *part, S *y) {
  const trs_spread_task &t = w.t;
  const int32_t wide = w.a.widest * R;
  clear<S, R>(w, part + w.warp * wide);
  for (int32_t u = w.warp, seen = -1; u < t.units; u += WARPS) {
    const trs_spread_unit unit = w.a.unit[t.unit + u];
    multiply<S, R, UPPER>(w, unit, unit.K == seen, part + w.warp * wide);
    seen = unit.K;
  }
  if (threadIdx.x < t.children)
    await(w.a, sum_word(w, w.a.member, static_cast<int32_t>(threadIdx.x)), t.name);
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < t.width * R; i += THREADS) {
    const int row = i / R, j = i % R;
    if (j >= w.count) continue;
    S sum = zero<S>();
    if (t.takes)
      sum = static_cast<const S *>(w.a.b)[int64_t(t.first + row) * w.a.nrhs + w.first + j];
    if (!UPPER && t.row >= 0)
      sum = sum + static_cast<const S *>(w.a.rows)[int64_t(t.row + row) * w.a.nrhs + w.first + j];
    for (int k = 0; k < WARPS; k++) sum = sum + part[k * wide + i];
    for (int32_t c = 0; c < t.children; c++)
      sum = sum + sum_of<S>(w, w.a.member, c)[int64_t(row) * w.a.nrhs + j];
    y[i] = sum;
  }
  __syncthreads();
}

/* ---- Triangles ---- */

/* The offset of the first number, in column `from`, of row i of a triangle, and the distance to the
 * next. */
template <class S, bool UPPER>
struct triangle_row {
  int64_t first;
  int32_t from, to, step;

  __device__ triangle_row(int32_t width, int32_t i) {
    constexpr int TILE = tile_rows<S>();
    const int32_t t = i / TILE, at = t * TILE;
    step = width - at < TILE ? width - at : TILE;
    from = UPPER ? at : 0;
    to = UPPER ? width : at + step;
    first = (UPPER ? int64_t(TILE) * (int64_t(t) * width - int64_t(TILE) * t * (t - 1) / 2)
                   : int64_t(TILE) * TILE * t * (t + 1) / 2) +
            (i - at);
  }
};

/* x = D y for the inverse D: warps share the columns.  Ends with a barrier. */
template <class S, int R, bool UPPER>
__device__ inline void multiply_triangle(const work &w, S *part, const S *y, S *x) {
  const int32_t width = w.t.width, wide = w.a.widest * R;
  const S *D = static_cast<const S *>(w.a.values) + w.t.diagonal;
  S *sums = part + w.warp * wide;
  for (int32_t i = w.lane; i < width; i += LANES) {
    const triangle_row<S, UPPER> row(width, i);
    S sum[R];
#pragma unroll
    for (int j = 0; j < R; j++) sum[j] = zero<S>();
      /* columns in turn, the same for every lane of a warp */
#pragma unroll 4
    for (int32_t c = w.warp; c < width; c += WARPS) {
      if (c < row.from || c >= row.to) continue;
      const S d = read_constant(D + row.first + int64_t(c - row.from) * row.step);
#pragma unroll
      for (int j = 0; j < R; j++) sum[j] = multiply_add(d, y[c * R + j], sum[j]);
    }
#pragma unroll
    for (int j = 0; j < R; j++) sums[i * R + j] = sum[j];
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < width * R; i += THREADS) {
    S sum = part[i];
    for (int k = 1; k < WARPS; k++) sum = sum + part[k * wide + i];
    x[i] = sum;
  }
  __syncthreads();
}

/* x = T^-1 x by substitution, column by column. */
template <class S, int R, bool UPPER>
__device__ inline void substitute(const work &w, S *x) {
  const int32_t width = w.t.width;
  const S *T = static_cast<const S *>(w.a.values) + w.t.diagonal;
  for (int32_t k = 0; k < width; k++) {
    const int32_t c = UPPER ? width - 1 - k : k;
    const triangle_row<S, UPPER> own(width, c);
    const S inverse =
        trs::reciprocal(read_constant(T + own.first + int64_t(c - own.from) * own.step));
    if (threadIdx.x < R) x[c * R + threadIdx.x] = x[c * R + threadIdx.x] * inverse;
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < width * R; i += THREADS) {
      const int32_t r = i / R;
      if (UPPER ? r >= c : r <= c) continue;
      const triangle_row<S, UPPER> row(width, r);
      const S d = read_constant(T + row.first + int64_t(c - row.from) * row.step);
      x[i] = x[i] - d * x[c * R + i % R];
    }
    __syncthreads();
  }
}

/* ---- Sending ---- */

/* Copies rows in shared memory to a position of by-rows memory. */
template <class S, int R>
__device__ inline void put(const work &w, const S *from, S *to) {
  for (int i = static_cast<int>(threadIdx.x); i < w.t.width * R; i += THREADS)
    if (i % R < w.count) to[int64_t(i / R) * w.a.nrhs + i % R] = from[i];
}

/* x is in shared memory: stores it for this GPU's own tasks first, then for other GPUs. */
template <class S, int R, bool UPPER>
__device__ inline void hand_on(const work &w, const S *x, bool own) {
  const trs_spread_task &t = w.t;
  const int64_t place = int64_t(t.first) * w.a.nrhs + w.first;
  if (own) {
    put<S, R>(w, x, x_of<S>(w.a, w.a.member) + place);
    __syncthreads();
    if (threadIdx.x == 0) {
      fence_device();
      trs::store_relaxed<true>(x_word(w, w.a.member, t.K), w.a.solve);
    }
  }
  if (UPPER && t.row >= 0)
    put<S, R>(w, x, static_cast<S *>(w.a.rows) + int64_t(t.row) * w.a.nrhs + w.first);
  if (t.receivers == 0) return;
  for (int32_t r = 0; r < t.receivers; r++)
    put<S, R>(w, x, x_of<S>(w.a, w.a.receiver[t.receiver + r]) + place);
  __syncthreads();
  if (threadIdx.x != 0) return;
  fence_system();
  for (int32_t r = 0; r < t.receivers; r++)
    trs::store_relaxed<true>(x_word(w, w.a.receiver[t.receiver + r], t.K), w.a.solve);
}

template <class S, int R>
__device__ inline void send_sum(const work &w, const S *y) {
  put<S, R>(w, y, sum_of<S>(w, w.t.parent, w.t.place));
  __syncthreads();
  if (threadIdx.x != 0) return;
  fence_system();
  trs::store_relaxed<true>(sum_word(w, w.t.parent, w.t.place), w.a.solve);
}

/* Receives x from another GPU; ends with a barrier. */
template <class S, int R>
__device__ inline void receive(const work &w, S *x) {
  if (threadIdx.x == 0) await(w.a, x_word(w, w.a.member, w.t.K), w.t.name);
  __syncthreads();
  const S *from = x_of<S>(w.a, w.a.member) + int64_t(w.t.first) * w.a.nrhs + w.first;
  for (int i = static_cast<int>(threadIdx.x); i < w.t.width * R; i += THREADS)
    x[i] = i % R < w.count ? from[int64_t(i / R) * w.a.nrhs + i % R] : zero<S>();
  __syncthreads();
}

template <class S, int R, bool UPPER>
__device__ inline void do_task(const work &w, S *part, S *y, S *x) {
  if (w.t.kind == TRS_SPREAD_RECEIVE) {
    receive<S, R>(w, x);
    hand_on<S, R, UPPER>(w, x, false);
    return;
  }
  add_up<S, R, UPPER>(w, part, y);
  if (w.t.kind == TRS_SPREAD_SUM) {
    send_sum<S, R>(w, y);
    return;
  }
  if (w.t.diagonal < 0) {
    hand_on<S, R, UPPER>(w, y, true);
  } else if (w.t.solved) {
    substitute<S, R, UPPER>(w, y);
    hand_on<S, R, UPPER>(w, y, true);
  } else {
    multiply_triangle<S, R, UPPER>(w, part, y, x);
    hand_on<S, R, UPPER>(w, x, true);
  }
}

template <class S, int R, bool UPPER>
__global__ void __launch_bounds__(THREADS) sweep(const __grid_constant__ trs_spread_args a) {
  __shared__ uint32_t ticket;
  __shared__ trs_spread_task task;
  S *part = shared_memory<S>(), *y = part + WARPS * a.widest * R, *x = y + a.widest * R;
  const uint32_t all = uint32_t(a.ntasks) * uint32_t(a.chunks);
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) {
      ticket = atomicAdd(a.ticket, 1u);
      if (ticket < all) task = a.task[ticket / uint32_t(a.chunks)];
    }
    __syncthreads();
    if (ticket >= all) return;
    const int32_t chunk = static_cast<int32_t>(ticket % uint32_t(a.chunks)), first = chunk * R;
    const int64_t left = a.nrhs - first;
    const work w = {a,
                    task,
                    chunk,
                    first,
                    static_cast<int32_t>(left < R ? left : R),
                    static_cast<int>(threadIdx.x) / LANES,
                    static_cast<int>(threadIdx.x) % LANES};
    do_task<S, R, UPPER>(w, part, y, x);
  }
}

template <class S, int R, bool UPPER>
cudaError_t launch(const trs_spread_args &a, cudaStream_t stream) {
  constexpr int MOST_RESIDENT = 2; /* most of them wait rather than compute */
  const auto shared = static_cast<size_t>((WARPS + 2) * a.widest * R) * sizeof(S);
  int device = 0, multiprocessors = 0, resident = 0;
  auto *kernel = sweep<S, R, UPPER>;
  cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(shared));
  if (!error) error = cudaGetDevice(&device);
  if (!error)
    error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (!error)
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, THREADS, shared);
  if (error) return error;
  const int64_t tasks = int64_t(a.ntasks) * a.chunks;
  const int64_t room =
      int64_t(multiprocessors) * (resident < MOST_RESIDENT ? resident : MOST_RESIDENT);
  kernel<<<unsigned(tasks < room ? tasks : room), unsigned(THREADS), shared, stream>>>(a);
  return cudaGetLastError();
}

template <class S, int R>
cudaError_t launch_side(const trs_spread_args &a, cudaStream_t stream) {
  return a.upper ? launch<S, R, true>(a, stream) : launch<S, R, false>(a, stream);
}

/* ---- Rows that grids share ---- */

template <class S>
__global__ void __launch_bounds__(THREADS) move_rows(const trs_spread_rows m) {
  S *x = static_cast<S *>(m.x), *packed = static_cast<S *>(m.packed);
  const int64_t step = int64_t(gridDim.x) * THREADS;
  for (int64_t i = int64_t(blockIdx.x) * THREADS + threadIdx.x; i < m.rows * m.nrhs; i += step) {
    S &there = x[m.row[i / m.nrhs] * m.nrhs + i % m.nrhs];
    if (m.add)
      there = there + packed[i];
    else
      packed[i] = there;
  }
}

}  // namespace

extern "C" trs_status trs_spread_launch(const trs_spread_args *args, trs_stream stream) {
  auto on = static_cast<cudaStream_t>(stream);
  if (args->ntasks == 0) return TRS_SUCCESS;
  cudaError_t error = cudaMemsetAsync(args->ticket, 0, sizeof *args->ticket, on);
  if (!error)
    error = trs::by_scalar(args->scalar, [&](auto s) {
      using S = decltype(s);
      return args->tile == 1 ? launch_side<S, 1>(*args, on)
                             : launch_side<S, TRS_SPREAD_TILE>(*args, on);
    });
  return trs_device_check(error, "launching the sweep of a grid of several GPUs");
}

extern "C" trs_status trs_spread_move(const trs_spread_rows *rows, trs_stream stream) {
  constexpr int64_t MOST_BLOCKS = 1024;
  const int64_t need = (rows->rows * rows->nrhs + THREADS - 1) / THREADS;
  if (need == 0) return TRS_SUCCESS;
  const auto blocks = unsigned(need < MOST_BLOCKS ? need : MOST_BLOCKS);
  cudaError_t error = trs::by_scalar(rows->scalar, [&](auto s) {
    move_rows<decltype(s)>
        <<<blocks, unsigned(THREADS), 0, static_cast<cudaStream_t>(stream)>>>(*rows);
    return cudaGetLastError();
  });
  return trs_device_check(error, "packing rows for other grids");
}
