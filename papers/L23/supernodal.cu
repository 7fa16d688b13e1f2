/* supernodal.cu - L23 Algorithm 4: one block of threads per supernode column.
 *
 * Supernode K is ready once every block T(K,J) has been added to its rows of lsum.  L23 counts
 * fmod down; here added counts up, so that one clearing serves lsum and counts.  Then
 *   x(K) = T(K,K)^-1 (b(K) - lsum(K)),   lsum(I) += T(I,K) x(K),   added(I) += 1   for every I.
 *
 * With one right-hand side these are matrix-vector products; with many they are matrix products in
 * tiles, with x(K) in shared memory.  Both sweeps and both kinds of panels run the same code.
 *
 * Blocks of threads take supernodes by ticket in the order of the sweep, not by blockIdx, so a
 * block waits only for blocks that have begun.  Order of memory, writer: sums of a block, its
 * barrier, a fence, added.  Reader: added, a fence, a barrier, the sums.  Rows are added from the
 * next supernode on, and each part of the panel is counted as soon as it is added.
 *
 * A zero in a block multiplies nothing.  Zeros that are stored for the sake of a dense block
 * therefore do not turn an infinite x into NaN. */
#include "L23/supernodal.h"

#include "sums.cuh"

namespace {

using trs::add_to;
using trs::fence_device;
using trs::load_sum;
using trs::multiply_add;
using trs::read_constant;
using trs::zero;

constexpr int LANES = TRS_SUPERNODAL_LANES;
constexpr int EACH = TRS_SUPERNODAL_EACH;
constexpr int DEPTH = TRS_SUPERNODAL_DEPTH;

template <class S>
__device__ inline bool nonzero(S a) {
  if constexpr (trs::element<S>::is_complex)
    return a.re != 0 || a.im != 0;
  else
    return a != 0;
}

template <class S>
__device__ inline S *shared_memory() {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  return reinterpret_cast<S *>(shared_bytes);
}

/* Contains a barrier.  Another barrier is needed between two calls. */
__device__ inline int64_t take_ticket(unsigned long long *counter) {
  __shared__ unsigned long long ticket;
  if (threadIdx.x == 0) ticket = atomicAdd(counter, 1ull);
  __syncthreads();
  return static_cast<int64_t>(ticket);
}

/* Waits until the supernode is ready.  Contains a barrier. */
__device__ inline void wait_for_sources(const trs_supernodal &m, const trs_panel &K,
                                        const int32_t *added) {
  if (threadIdx.x == 0 && K.sources > 0) {
    trs::wait wait(m.fault);
    const long long row = m.backward ? m.n - 1 - K.first : K.first;
    while (trs::load_relaxed(added) < K.sources && wait.goes_on(row)) {
    }
    fence_device();
  }
  __syncthreads();
}

/* A row that K adds to: `count` entries, `step` apart.  A row of a panel by rows has a list of its
 * columns. */
template <class S>
struct line {
  const S *value;
  int64_t step;
  const int32_t *column;
  int32_t count, place;
  int32_t target; /* the supernode whose part is complete after this row, or -1 */
};

template <class S, bool BY_ROWS>
__device__ inline line<S> find_line(const trs_supernodal &m, const trs_panel &K, int32_t r) {
  const S *values = static_cast<const S *>(m.values);
  const int32_t at = read_constant(m.line + K.lines + r);
  if constexpr (BY_ROWS) {
    const trs_panel_block &block = m.block[at];
    const int32_t c = r - static_cast<int32_t>(block.lines);
    return {values + block.values + c, block.width,
            m.list + block.list,       block.count,
            block.first + c,           c + 1 == block.width ? block.target : -1};
  } else {
    const int64_t square = int64_t(K.width) * K.width;
    const int32_t place = read_constant(m.list + K.list + r);
    return {values + K.values + square + r, K.length, nullptr, K.width, place, at};
  }
}

/* ---- One right-hand side. ---- */

/* Threads form groups of `rows` threads, a power of two; the groups share the columns. */
struct shape {
  int rows, groups;
};

/* More groups only while each thread keeps enough entries to hide the latency of memory. */
__device__ inline shape shape_for(int rows, int width) {
  constexpr int KEPT = 8, MOST_GROUPS = 4;
  const int threads = static_cast<int>(blockDim.x);
  int groups = 1;
  while (groups < MOST_GROUPS && groups * 2 * KEPT <= width) groups *= 2;
  int lanes = threads / groups;
  while (lanes > 1 && lanes / 2 >= rows) lanes /= 2;
  groups = threads / lanes;
  return {lanes, groups < width ? groups : width};
}

/* A thread's share of a row times x: every groups-th entry.  AHEAD loads are in flight. */
template <class S>
__device__ inline S dot(const line<S> &row, int32_t origin, const S *x, int group, int groups) {
  constexpr int AHEAD = 8;
  S sum = zero<S>();
  for (int32_t first = group; first < row.count; first += AHEAD * groups) {
    S a[AHEAD];
    int32_t at[AHEAD];
#pragma unroll
    for (int q = 0; q < AHEAD; q++) {
      const int32_t k = first + q * groups;
      a[q] = k < row.count ? read_constant(row.value + k * row.step) : zero<S>();
      at[q] = row.column && k < row.count ? read_constant(row.column + k) - origin : k;
    }
#pragma unroll
    for (int q = 0; q < AHEAD; q++)
      if (nonzero(a[q])) sum = multiply_add(a[q], x[at[q]], sum); /* a[q] is zero past the end */
  }
  return sum;
}

/* Adds the sums of all groups in the threads of the first group.  A barrier must follow. */
template <class S>
__device__ inline S gather(S sum, shape of, S *share) {
  if (of.groups == 1) return sum;
  const int thread = static_cast<int>(threadIdx.x);
  share[thread] = sum;
  __syncthreads();
  if (thread < of.rows)
    for (int g = 1; g < of.groups; g++) sum = sum + share[thread + g * of.rows];
  return sum;
}

/* x(K) = T(K,K)^-1 y */
template <class S>
__device__ inline void solve_diagonal(const trs_supernodal &m, const trs_supernodal_job &job,
                                      const trs_panel &K, const S *y, S *x, S *share) {
  const S *D = static_cast<const S *>(m.values) + K.values;
  const shape of = shape_for(K.width, K.width);
  const int lane = static_cast<int>(threadIdx.x) % of.rows;
  const int group = static_cast<int>(threadIdx.x) / of.rows;
  for (int r0 = 0; r0 < K.width; r0 += of.rows) {
    const int i = r0 + lane;
    S sum = zero<S>();
    if (i < K.width && group < of.groups)
      sum = dot<S>({D + i, K.width, nullptr, i + 1, 0, -1}, 0, y, group, of.groups);
    sum = gather(sum, of, share);
    if (group == 0 && i < K.width) {
      x[i] = sum;
      static_cast<S *>(job.x)[(K.first + i) * job.x_row] = sum;
    }
    __syncthreads();
  }
}

/* lsum(I) += T(I,K) x(K) */
template <class S, bool BY_ROWS>
__device__ inline void add_panel(const trs_supernodal &m, const trs_supernodal_job &job,
                                 const trs_panel &K, const S *x, S *share) {
  const shape of = shape_for(K.height, K.width);
  const int lane = static_cast<int>(threadIdx.x) % of.rows;
  const int group = static_cast<int>(threadIdx.x) / of.rows;
  for (int64_t r0 = 0; r0 < K.height; r0 += of.rows) {
    const bool mine = r0 + lane < K.height && group < of.groups;
    line<S> row = {};
    S sum = zero<S>();
    if (mine) {
      row = find_line<S, BY_ROWS>(m, K, static_cast<int32_t>(r0) + lane);
      sum = dot(row, K.first, x, group, of.groups);
    }
    sum = gather(sum, of, share);
    if (mine && group == 0) add_to(static_cast<S *>(job.lsum) + row.place, sum);
    __syncthreads();
    if (mine && group == 0 && row.target >= 0) {
      fence_device();
      atomicAdd(job.added + row.target, 1);
    }
  }
}

template <class S, bool BY_ROWS>
__global__ void __launch_bounds__(TRS_SUPERNODAL_MOST_THREADS)
    solve_one(const trs_supernodal m, const trs_supernodal_job job) {
  S *y = shared_memory<S>(), *x = y + m.widest, *share = x + m.widest;
  const S *b = static_cast<const S *>(job.b);
  const int threads = static_cast<int>(blockDim.x);
  for (;;) {
    const int64_t s = take_ticket(job.ticket);
    if (s >= m.count) break;
    const trs_panel K = m.panel[s];
    for (int k = static_cast<int>(threadIdx.x); k < K.width; k += threads)
      y[k] = b[(K.first + k) * job.b_row];
    wait_for_sources(m, K, job.added + s);
    for (int k = static_cast<int>(threadIdx.x); k < K.width; k += threads)
      y[k] = y[k] - load_sum(static_cast<const S *>(job.lsum) + K.first + k);
    __syncthreads();
    solve_diagonal(m, job, K, y, x, share);
    add_panel<S, BY_ROWS>(m, job, K, x, share);
  }
}

/* ---- Many right-hand sides. ---- */

/* A thread's part of a product: EACH rows, rows() apart, by right-hand sides LANES apart. */
template <class S, int TILE>
struct part {
  static constexpr int COLUMNS = TILE / LANES;
  S sum[EACH][COLUMNS];

  __device__ static int rows() { return static_cast<int>(blockDim.x) / LANES; }
  __device__ static int row(int e) { return static_cast<int>(threadIdx.x) / LANES + e * rows(); }
  __device__ static int column(int c) { return static_cast<int>(threadIdx.x) % LANES + c * LANES; }

  __device__ void clear() {
#pragma unroll
    for (int e = 0; e < EACH; e++)
#pragma unroll
      for (int c = 0; c < COLUMNS; c++) sum[e][c] = zero<S>();
  }
  /* Adds entry a of row e times a row of X. */
  __device__ void add(int e, S a, const S (&x)[COLUMNS]) {
    if (!nonzero(a)) return;
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) sum[e][c] = multiply_add(a, x[c], sum[e][c]);
  }
};

/* A (rows x depth, by columns, `length` apart) times X in shared memory.  A passes through shared
 * memory, DEPTH columns at a time.  Begins with a barrier. */
template <class S, int TILE>
__device__ inline void multiply(part<S, TILE> &p, const S *A, int64_t length, int rows, int depth,
                                const S *X, S *strip) {
  using P = part<S, TILE>;
  const int high = P::rows() * EACH; /* half the threads */
  const int i = static_cast<int>(threadIdx.x) % high, side = static_cast<int>(threadIdx.x) / high;
  const int sides = static_cast<int>(blockDim.x) / high;
  for (int k0 = 0; k0 < depth; k0 += DEPTH) {
    const int deep = depth - k0 < DEPTH ? depth - k0 : DEPTH;
    __syncthreads();
    for (int k = side; k < deep; k += sides)
      strip[k * high + i] = i < rows ? read_constant(A + i + (k0 + k) * length) : zero<S>();
    __syncthreads();
    for (int k = 0; k < deep; k++) {
      S x[P::COLUMNS];
#pragma unroll
      for (int c = 0; c < P::COLUMNS; c++) x[c] = X[(k0 + k) * TILE + P::column(c)];
#pragma unroll
      for (int e = 0; e < EACH; e++) p.add(e, strip[k * high + P::row(e)], x);
    }
  }
}

/* The same for rows of a panel by rows, each with columns of its own, directly from memory. */
template <class S, int TILE>
__device__ inline void multiply_lines(part<S, TILE> &p, const trs_supernodal &m, const trs_panel &K,
                                      int r0, int rows, const S *X) {
  using P = part<S, TILE>;
#pragma unroll
  for (int e = 0; e < EACH; e++) {
    if (P::row(e) >= rows) continue;
    const line<S> row = find_line<S, true>(m, K, r0 + P::row(e));
    for (int32_t k = 0; k < row.count; k++) {
      const S a = read_constant(row.value + k * row.step);
      const int32_t place = read_constant(row.column + k) - K.first;
      S x[P::COLUMNS];
#pragma unroll
      for (int c = 0; c < P::COLUMNS; c++) x[c] = X[place * TILE + P::column(c)];
      p.add(e, a, x);
    }
  }
}

/* One tile: `count` right-hand sides of the job from `first` on. */
struct span {
  int64_t tile, first;
  int count;
};

/* X = b(K), zero in the tile's unused columns.  Reads in the order of the array. */
template <class S, int TILE>
__device__ inline void read_b(const trs_supernodal_job &job, const trs_panel &K, span t, S *X) {
  const S *b = static_cast<const S *>(job.b) + t.first * job.b_col;
  const int64_t row = job.b_row < 0 ? -job.b_row : job.b_row;
  const bool down = row < job.b_col;
  for (int at = static_cast<int>(threadIdx.x); at < K.width * TILE;
       at += static_cast<int>(blockDim.x)) {
    const int k = down ? at % K.width : at / TILE, c = down ? at / K.width : at % TILE;
    X[k * TILE + c] = c < t.count ? b[(K.first + k) * job.b_row + c * job.b_col] : zero<S>();
  }
}

template <class S, int TILE>
__device__ inline void subtract_sums(const trs_supernodal_job &job, const trs_panel &K, span t,
                                     S *X) {
  const S *lsum = static_cast<const S *>(job.lsum) + K.first * job.nrhs + t.first;
  for (int at = static_cast<int>(threadIdx.x); at < K.width * TILE;
       at += static_cast<int>(blockDim.x)) {
    const int k = at / TILE, c = at % TILE;
    if (c < t.count) X[at] = X[at] - load_sum(lsum + k * job.nrhs + c);
  }
}

/* X = T(K,K)^-1 X from the last rows to the first: a row needs only rows before it. */
template <class S, int TILE>
__device__ inline void solve_diagonals(const trs_supernodal &m, const trs_supernodal_job &job,
                                       const trs_panel &K, span t, S *X, S *strip) {
  using P = part<S, TILE>;
  const S *D = static_cast<const S *>(m.values) + K.values;
  S *x = static_cast<S *>(job.x) + K.first * job.x_row + t.first * job.x_col;
  const int high = P::rows() * EACH;
  for (int r0 = (K.width - 1) / high * high; r0 >= 0; r0 -= high) {
    const int rows = K.width - r0 < high ? K.width - r0 : high;
    P p;
    p.clear();
    multiply(p, D + r0, K.width, rows, r0 + rows, X, strip);
    __syncthreads();
#pragma unroll
    for (int e = 0; e < EACH; e++)
#pragma unroll
      for (int c = 0; c < P::COLUMNS; c++) {
        if (P::row(e) >= rows) continue;
        X[(r0 + P::row(e)) * TILE + P::column(c)] = p.sum[e][c];
        if (P::column(c) < t.count)
          x[(r0 + P::row(e)) * job.x_row + P::column(c) * job.x_col] = p.sum[e][c];
      }
  }
  __syncthreads();
}

/* Adds the sums of a strip of the panel, then counts them. */
template <class S, int TILE, bool BY_ROWS>
__device__ inline void add_strip(const trs_supernodal &m, const trs_supernodal_job &job,
                                 const trs_panel &K, span t, int r0, int rows,
                                 const part<S, TILE> &p) {
  using P = part<S, TILE>;
  S *lsum = static_cast<S *>(job.lsum) + t.first;
#pragma unroll
  for (int e = 0; e < EACH; e++) {
    if (P::row(e) >= rows) continue;
    const int64_t place = find_line<S, BY_ROWS>(m, K, r0 + P::row(e)).place;
#pragma unroll
    for (int c = 0; c < P::COLUMNS; c++)
      if (P::column(c) < t.count) add_to(lsum + place * job.nrhs + P::column(c), p.sum[e][c]);
  }
  __syncthreads();
  if (static_cast<int>(threadIdx.x) >= rows) return; /* no barrier follows in here */
  const int32_t target = find_line<S, BY_ROWS>(m, K, r0 + static_cast<int>(threadIdx.x)).target;
  if (target < 0) return;
  fence_device();
  atomicAdd(job.added + target * job.tiles + t.tile, 1);
}

template <class S, int TILE, bool BY_ROWS>
__device__ inline void add_panels(const trs_supernodal &m, const trs_supernodal_job &job,
                                  const trs_panel &K, span t, const S *X, S *strip) {
  using P = part<S, TILE>;
  const int high = P::rows() * EACH;
  const S *A = static_cast<const S *>(m.values) + K.values + int64_t(K.width) * K.width;
  for (int64_t r0 = 0; r0 < K.height; r0 += high) {
    const int rows = K.height - r0 < high ? static_cast<int>(K.height - r0) : high;
    P p;
    p.clear();
    if constexpr (BY_ROWS)
      multiply_lines(p, m, K, static_cast<int>(r0), rows, X);
    else
      multiply(p, A + r0, K.length, rows, K.width, X, strip);
    add_strip<S, TILE, BY_ROWS>(m, job, K, t, static_cast<int>(r0), rows, p);
  }
}

template <class S, int TILE, bool BY_ROWS>
__global__ void __launch_bounds__(TRS_SUPERNODAL_MOST_THREADS)
    solve_many(const trs_supernodal m, const trs_supernodal_job job) {
  S *X = shared_memory<S>(), *strip = X + m.widest * TILE;
  for (;;) {
    const int64_t ticket = take_ticket(job.ticket), s = ticket / job.tiles;
    if (s >= m.count) break;
    const trs_panel K = m.panel[s];
    span t = {ticket % job.tiles, 0, TILE};
    t.first = t.tile * TILE;
    if (job.nrhs - t.first < TILE) t.count = static_cast<int>(job.nrhs - t.first);
    read_b<S, TILE>(job, K, t, X);
    wait_for_sources(m, K, job.added + ticket);
    subtract_sums<S, TILE>(job, K, t, X);
    solve_diagonals<S, TILE>(m, job, K, t, X, strip);
    add_panels<S, TILE, BY_ROWS>(m, job, K, t, X, strip);
  }
}

/* ---- Launches. ---- */

template <class S, bool BY_ROWS>
cudaError_t launch(const trs_supernodal &m, const trs_supernodal_job &job, cudaStream_t stream) {
  const int64_t pairs = m.count * job.tiles;
  const auto blocks = static_cast<unsigned>(pairs < m.most_blocks ? pairs : m.most_blocks);
  const auto threads = static_cast<unsigned>(m.threads);
  const auto shared =
      static_cast<size_t>(trs_supernodal_shared(m.widest, m.threads, job.tile, sizeof(S)));
  switch (job.tile) {
    case 1:
      solve_one<S, BY_ROWS><<<blocks, threads, shared, stream>>>(m, job);
      break;
    case 8:
      solve_many<S, 8, BY_ROWS><<<blocks, threads, shared, stream>>>(m, job);
      break;
    case 16:
      solve_many<S, 16, BY_ROWS><<<blocks, threads, shared, stream>>>(m, job);
      break;
    default:
      solve_many<S, 32, BY_ROWS><<<blocks, threads, shared, stream>>>(m, job);
  }
  return cudaGetLastError();
}

}  // namespace

extern "C" trs_status trs_supernodal_launch(const trs_supernodal *panels,
                                            const trs_supernodal_job *job, trs_stream stream) {
  auto on = static_cast<cudaStream_t>(stream);
  cudaError_t error = trs::by_scalar(panels->scalar, [&](auto s) {
    using S = decltype(s);
    return panels->by_rows ? launch<S, true>(*panels, *job, on)
                           : launch<S, false>(*panels, *job, on);
  });
  return trs_device_check(error, "launching the supernodal solve");
}
