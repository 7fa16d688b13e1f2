/* columns.cu - L23's Algorithm 5 (section 3.4): a sweep of a grid of Px x 1 GPUs by columns,
 * as published.
 *
 * SOLVE: a block of threads per supernode column K.  Where the diagonal block is, it waits until
 * all products of row K are in lsum(K), multiplies by the inverse, and puts x(K) to the GPUs below
 * in K's tree.  Elsewhere it waits for K's word, L23's flag_y(K), and passes x(K) on.  Then
 *     lsum(I) += T(I,K) x(K),   added(I) += 1   for every I.
 * WAIT: one block of threads, in a stream of its own, that watches the words by which other GPUs
 * announce x until all have come.  NVSHMEM needs it; here no value depends on it.
 *
 * Three things differ from the paper.  L23's fmod, counted down, is added, counted up, so that one
 * clearing serves lsum and counts; it counts units, the pieces of blocks.  Columns are taken by
 * ticket in the order of blockIdx, which no hardware promises.  L23 puts by NVSHMEM; here GPUs
 * store into each other's memory. Sums are added in the order of arrival: the last bits vary from
 * solve to solve.  Cost: as spread.cu, and one atomic addition per product of a unit. */
#include "L23/columns.h"
#include "sums.cuh"
#include "solve/grid3d/spread.cuh"

namespace {

using namespace trs::spread;
using trs::fence_device;
using trs::fence_system;
using trs::multiply_add;
using trs::read_constant;
using trs::zero;

__device__ inline int64_t word_of(const work &w, int32_t K) {
  return int64_t(K) * w.a.chunks + w.chunk;
}

/* By one thread, until a word has a value; a barrier must follow.  SYSTEM: another GPU stores it.
 */
template <bool SYSTEM>
__device__ inline void await(const work &w, const uint32_t *word, uint32_t value) {
  trs::wait wait(w.a.fault);
  while (trs::load_relaxed<SYSTEM>(word) != value && goes_on(w, wait)) {
  }
  if (SYSTEM)
    fence_system();
  else
    fence_device();
}

/* The words of all supernodes on a member. */
__device__ inline uint32_t *arrived(const trs_spread_args &a, char *base) {
  return reinterpret_cast<uint32_t *>(base + a.x_arrived_at);
}

/* y = b(K) + lsum(K) once all is in; blocks are stored negated.  Ends with a barrier. */
template <class S, int R>
__device__ inline void collect(const work &w, const room<S, R> &m) {
  fetch_triangle<S, R>(w, m);
  if (threadIdx.x == 0) await<false>(w, w.a.added + word_of(w, w.t.K), uint32_t(w.t.children));
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < w.t.width * R; i += THREADS<R>) {
    const int64_t at = int64_t(w.t.first + i / R) * w.a.nrhs + w.first + i % R;
    m.y[i] = zero<S>();
    if (i % R >= w.count) continue;
    const S sum = trs::load_sum(static_cast<const S *>(w.a.lsum) + at);
    m.y[i] = w.t.takes ? static_cast<const S *>(w.a.b)[at] + sum : sum;
  }
  __syncthreads();
}

/* y = x(K) of another GPU.  Ends with a barrier. */
template <class S, int R>
__device__ inline void receive(const work &w, const room<S, R> &m) {
  if (threadIdx.x == 0)
    await<true>(w, arrived(w.a, w.a.base[w.a.member]) + word_of(w, w.t.K), w.a.solve);
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < w.t.width * R; i += THREADS<R>)
    m.y[i] = i % R < w.count ? *x_at<S>(w, w.a.base[w.a.member], i / R, i % R) : zero<S>();
  __syncthreads();
}

template <class S, int R>
__device__ inline void put(const work &w, const S *x, char *base) {
  for (int i = static_cast<int>(threadIdx.x); i < w.t.width * R; i += THREADS<R>)
    if (i % R < w.count) *x_at<S>(w, base, i / R, i % R) = x[i];
}

template <class S, int R>
__device__ inline void hand_on(const work &w, const S *x) {
  for (int32_t r = 0; r < w.t.receivers; r++) put<S, R>(w, x, w.to[r]);
  if (w.t.kind == TRS_SPREAD_SOLVE) put<S, R>(w, x, w.a.base[w.a.member]);
  if (w.t.receivers == 0) return;
  __syncthreads();
  if (threadIdx.x != 0) return;
  fence_system();
  for (int32_t r = 0; r < w.t.receivers; r++)
    trs::store_relaxed<true>(arrived(w.a, w.to[r]) + word_of(w, w.t.K), w.a.solve);
}

/* A unit of the column, by a warp: x is in shared memory. */
template <class S, int R, bool UPPER>
__device__ inline void add_unit(const work &w, const trs_spread_unit &u, const S *x) {
  const unit_line<S, UPPER> line(w, u);
  S sum[R];
#pragma unroll
  for (int j = 0; j < R; j++) sum[j] = zero<S>();
#pragma unroll 4
  for (int k = 0; k < u.terms; k++) {
    const S a = line.mine ? read_constant(line.at + k * line.step) : zero<S>();
    const S *row = x + (UPPER ? read_constant(line.list + k) : u.from + k) * R;
#pragma unroll
    for (int j = 0; j < R; j++) sum[j] = multiply_add(a, row[j], sum[j]);
  }
  S *to = static_cast<S *>(w.a.lsum) + int64_t(u.first + line.row(w, u)) * w.a.nrhs + w.first;
#pragma unroll
  for (int j = 0; j < R; j++)
    if (line.mine && j < w.count) trs::add_to(to + j, sum[j]);
  __syncwarp();
  if (w.lane != 0) return;
  fence_device();
  atomicAdd(w.a.added + word_of(w, u.K), 1u);
}

template <class S, int R, bool UPPER>
__device__ inline void do_column(const work &w, const room<S, R> &m) {
  if (w.t.kind == TRS_SPREAD_RECEIVE) {
    receive<S, R>(w, m);
  } else {
    collect<S, R>(w, m);
    solve_triangle<S, R, UPPER>(w, m);
    __syncthreads();
  }
  hand_on<S, R>(w, m.y);
  for (int32_t u = w.warp; u < w.t.units; u += WARPS<R>)
    add_unit<S, R, UPPER>(w, w.a.unit[w.t.unit + u], m.y);
}

template <class S, int R, bool UPPER>
__global__ void __launch_bounds__(THREADS<R>) solve(const __grid_constant__ trs_spread_args a) {
  __shared__ slot taken;
  const room<S, R> m(a);
  taken.stalled = false;
  while (take_task<R>(a, taken)) do_column<S, R, UPPER>(work_of<R>(a, taken), m);
}

constexpr int WATCHERS = 256;

/* Each thread watches some of the words of columns that come, until all have come. */
__global__ void __launch_bounds__(WATCHERS) wait(const __grid_constant__ trs_spread_args a) {
  const uint32_t *words_here = arrived(a, a.base[a.member]);
  const int64_t words = int64_t(a.ntasks) * a.chunks;
  trs::wait limit(a.fault);
  for (bool waits = true; waits;) {
    waits = false;
    for (int64_t i = threadIdx.x; i < words; i += WATCHERS) {
      const trs_spread_task &t = a.task[i / a.chunks];
      const int64_t word = int64_t(t.K) * a.chunks + i % a.chunks;
      if (t.kind == TRS_SPREAD_RECEIVE && trs::load_relaxed<true>(words_here + word) != a.solve)
        waits |= limit.goes_on(t.name);
    }
  }
}

/* WAIT first, as published.  Both kernels are loaded before
 * either runs, since loading a kernel may wait for those that run; and SOLVE leaves WAIT a
 * multiprocessor. */
template <class S, int R, bool UPPER>
cudaError_t launch(trs_spread_args a, cudaStream_t stream, cudaStream_t side) {
  unsigned blocks;
  size_t shared;
  auto *kernel = solve<S, R, UPPER>;
  cudaFuncAttributes of;
  cudaError_t error = size_launch<S, R>(a, kernel, 1, &blocks, &shared);
  if (!error) error = cudaFuncGetAttributes(&of, wait);
  if (error) return error;
  wait<<<1, unsigned(WATCHERS), 0, side>>>(a);
  error = cudaGetLastError();
  if (error) return error;
  kernel<<<blocks, unsigned(THREADS<R>), shared, stream>>>(a);
  return cudaGetLastError();
}

template <class S, int R>
cudaError_t launch_side(const trs_spread_args &a, cudaStream_t stream, cudaStream_t side) {
  return a.upper ? launch<S, R, true>(a, stream, side) : launch<S, R, false>(a, stream, side);
}

cudaError_t launch_both(const trs_spread_args &a, cudaStream_t stream, cudaStream_t side) {
  const int64_t rows = a.columns * a.nrhs, words = a.count * a.chunks;
  cudaError_t error =
      cudaMemsetAsync(a.lsum, 0, size_t(rows * trs::size_of_scalar(a.scalar)), stream);
  if (!error) error = cudaMemsetAsync(a.added, 0, size_t(words) * sizeof *a.added, stream);
  if (error) return error;
  return trs::by_scalar(a.scalar, [&](auto s) {
    using S = decltype(s);
    return a.tile == 1 ? launch_side<S, 1>(a, stream, side)
                       : launch_side<S, TRS_SPREAD_TILE>(a, stream, side);
  });
}

}  // namespace

extern "C" trs_status trs_l23_launch_columns(const trs_spread_args *args, trs_stream stream,
                                             trs_stream side) {
  if (args->ntasks == 0) return TRS_SUCCESS;
  return trs_device_check(
      launch_both(*args, static_cast<cudaStream_t>(stream), static_cast<cudaStream_t>(side)),
      "launching Algorithm 5");
}
