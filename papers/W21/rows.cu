/* rows.cu - W21's kernels, one launch per colour.
 *
 * thread-row: a thread takes a block row; the kernel that W21 starts from (Figure 4).
 * warp-row: a warp takes a block row, 25 lanes one block of 5 x 5 (Figure 5); in a second kernel a
 * warp takes a diagonal block (V).  warp-row-fused: the same kernel solves.
 * warp-six-rows: a warp, which is a block of threads, takes as many rows as fit its lanes, six of
 * 5 x 5; each lane has a register per column of a block (Figures 6 and 7).
 *
 * -async: asynchronous copies bring the diagonal's LU of the warp's rows to shared memory while the
 * product with the off-diagonal blocks runs (Figure 10).
 * -prefetch: the x that a row's next block needs goes to one half of a double buffer in shared
 * memory, while the other half serves the block at hand (Figure 9).
 *
 * Blocks of 5, the paper's, have kernels of their own; others share one for any size. */
#include "relax/cuda/rows.cuh"

namespace {

using namespace trs;
using namespace trs::relax_rows;

constexpr int X = TRS_RELAX_COPY_X;

/* ---- Six rows per warp ---- */

/* The lanes of a row's group.  Groups have rows of different lengths, so each waits for itself. */
__device__ inline unsigned lanes_of(int first, int b) { return (~0u >> (int(WARP) - b)) << first; }

/* The product of a row's off-diagonal blocks with x: component i, by its lane. */
template <int STORE, int B>
class six_sum {
  using T = stored<STORE>;
  using off = typename T::off;
  using sum = typename T::sum;
  using product = typename T::product;
  static constexpr int MOST = B ? B : TRS_RELAX_MOST_BLOCK;

 public:
  __device__ six_sum(const trs_relax_args &a, const lanes<B> &l, const typename T::x *x)
      : a_(a), l_(l), x_(x), off_(static_cast<const off *>(a.off)) {}

  /* Figure 7. */
  __device__ sum of(int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; j++) {
      const typename T::x *x = column(j);
#pragma unroll
      for (int c = 0; c < b(); c++) add(j, c, x[c]);
    }
    return total();
  }
  /* Figure 9.  buffer: two halves for the whole warp; component i of group r at i rows + r. */
  __device__ sum of(int64_t begin, int64_t end, typename T::x *buffer) {
    const int rows = int(WARP) / b();
    const unsigned group = lanes_of(l_.first, b());
    const auto half = [&](int64_t j) { return buffer + ((j - begin) & 1) * rows * b() + l_.slot; };
    if (begin < end) half(begin)[l_.i * rows] = column(begin)[l_.i];
    for (int64_t j = begin; j < end; j++) {
      const typename T::x *now = half(j);
      const bool next = j + 1 < end;
      const typename T::x ahead = next ? column(j + 1)[l_.i] : typename T::x(0);
      __syncwarp(group);
#pragma unroll
      for (int c = 0; c < b(); c++) add(j, c, now[c * rows]);
      if (next) half(j + 1)[l_.i * rows] = ahead;
    }
    return total();
  }

 private:
  const trs_relax_args &a_;
  const lanes<B> l_; /* a copy: a reference would put the sums of all lanes into memory */
  const typename T::x *x_;
  const off *off_;
  sum f_[MOST] = {};

  /* Known to the compiler for the paper's blocks, so that f_ stays in registers. */
  __device__ int b() const { return B ? B : l_.b; }
  __device__ const typename T::x *column(int64_t j) const {
    return x_ + int64_t(a_.idx[j]) * a_.pitch;
  }
  __device__ void add(int64_t j, int c, product x) {
    const auto v = decode<STORE>(off_[(j * b() + c) * b() + l_.i]);
    if constexpr (T::scaled)
      f_[c] = fma(sum(v * x), sum(two_to(a_.power[j])), f_[c]);
    else
      f_[c] = fma(sum(v), sum(x), f_[c]);
  }
  __device__ sum total() const {
    sum total = 0;
#pragma unroll
    for (int c = 0; c < b(); c++) total += f_[c];
    return total;
  }
};

template <int STORE, int B, int COPIES>
__global__ void __launch_bounds__(WARP)
    relax_six_rows(const __grid_constant__ trs_relax_args a, int64_t begin, int64_t end) {
  using sum = typename stored<STORE>::sum;
  const int b = B ? B : a.block, rows = rows_of_warp(true, b);
  const int64_t first = begin + int64_t(blockIdx.x) * rows;
  const columns<STORE> c(a);
  const diagonals<sum, COPIES> d(a, first, int(min(int64_t(rows), end - first)), rows);
  const place<B, true> at(b, first, end);
  const lanes<B> &l = at.l;
  six_sum<STORE, B> product(a, l, c.x);
  const int64_t from = a.ptr[at.p], to = at.works ? a.ptr[at.p + 1] : from;
  sum y = c.r[at.p * b + l.i];
  if constexpr (COPIES == X) {
    __shared__ typename stored<STORE>::x buffer[2 * WARP];
    y -= product.of(from, to, buffer);
  } else {
    y -= product.of(from, to);
  }
  __syncwarp();
  const sum z = solve_diagonal(l, d.await(at.p), a.pivot + at.p * b, y);
  if (at.stores) relax(c.x + at.p * a.pitch + l.i, z, a.omega);
}

/* ---- Product and solve as two kernels ---- */

/* y = r - O x, a row per warp. */
template <int STORE, int B>
__global__ void __launch_bounds__(THREADS)
    multiply_rows(const __grid_constant__ trs_relax_args a, int64_t begin, int64_t end) {
  using sum = typename stored<STORE>::sum;
  const int b = B ? B : a.block;
  const int64_t first = begin + int64_t(blockIdx.x) * WARPS + threadIdx.x / WARP;
  if (first >= end) return;
  const columns<STORE> c(a);
  const place<B, false> at(b, first, end);
  const sum y = sum_row<STORE, B, false>(a, at.l, at.p, at.works, c.x);
  const int64_t e = at.p * b + at.l.i;
  if (at.stores) static_cast<sum *>(a.y)[blockIdx.y * a.r_stride + e] = c.r[e] - y;
}

/* Solves D z = y, a row per warp. */
template <int STORE, int B>
__global__ void __launch_bounds__(THREADS)
    solve_rows(const __grid_constant__ trs_relax_args a, int64_t begin, int64_t end) {
  using sum = typename stored<STORE>::sum;
  const int b = B ? B : a.block;
  const int64_t first = begin + int64_t(blockIdx.x) * WARPS + threadIdx.x / WARP;
  if (first >= end) return;
  const columns<STORE> c(a);
  const place<B, false> at(b, first, end);
  const sum y = static_cast<const sum *>(a.y)[blockIdx.y * a.r_stride + at.p * b + at.l.i];
  const sum *d = static_cast<const sum *>(a.diagonal) + at.p * b * b;
  const sum z = solve_diagonal(at.l, d, a.pivot + at.p * b, y);
  if (at.stores) relax(c.x + at.p * a.pitch + at.l.i, z, a.omega);
}

/* ---- A thread takes a row ---- */

/* y -= O x of row p. */
template <int STORE, int B>
__device__ inline void subtract_row(const trs_relax_args &a, int64_t p,
                                    const typename stored<STORE>::x *x,
                                    typename stored<STORE>::sum *y) {
  using T = stored<STORE>;
  using sum = typename T::sum;
  const int b = B ? B : a.block;
  for (int64_t k = a.ptr[p]; k < a.ptr[p + 1]; k++) {
    const auto *off = static_cast<const typename T::off *>(a.off) + k * b * b;
    for (int j = 0; j < b; j++) {
      const typename T::product xj = x[int64_t(a.idx[k]) * a.pitch + j];
      for (int i = 0; i < b; i++) {
        const auto v = decode<STORE>(off[j * b + i]);
        if constexpr (T::scaled)
          y[i] -= sum(v * xj) * sum(two_to(a.power[k]));
        else
          y[i] -= sum(v) * sum(xj);
      }
    }
  }
}

template <int STORE, int B>
__global__ void __launch_bounds__(THREADS)
    relax_by_threads(const __grid_constant__ trs_relax_args a, int64_t begin, int64_t end) {
  using sum = typename stored<STORE>::sum;
  constexpr int MOST = B ? B : TRS_RELAX_MOST_BLOCK;
  const int b = B ? B : a.block;
  const int64_t p = begin + int64_t(blockIdx.x) * THREADS + threadIdx.x;
  if (p >= end) return;
  const columns<STORE> c(a);
  const sum *d = static_cast<const sum *>(a.diagonal) + p * b * b;
  const uint8_t *pivot = a.pivot + p * b;
  sum y[MOST], z[MOST];
  for (int i = 0; i < b; i++) y[i] = c.r[p * b + i];
  subtract_row<STORE, B>(a, p, c.x, y);
  for (int i = 0; i < b; i++) z[i] = y[pivot[i]];
  for (int j = 0; j < b; j++)
    for (int i = j + 1; i < b; i++) z[i] = fma(-d[j * b + i], z[j], z[i]);
  for (int j = b - 1; j >= 0; j--) {
    z[j] *= d[j * b + j];
    for (int i = 0; i < j; i++) z[i] = fma(-d[j * b + i], z[j], z[i]);
  }
  for (int i = 0; i < b; i++) relax(c.x + p * a.pitch + i, z[i], a.omega);
}

/* ---- Launches ---- */

template <int STORE, int B, bool SIX, int COPIES>
cudaError_t launch_warps(const launcher &launch) {
  using sum = typename stored<STORE>::sum;
  const int b = launch.a.block, rows = rows_of_warp(SIX, b);
  const size_t shared = size_t(room_of_warp(COPIES, rows, b)) * sizeof(sum);
  if constexpr (SIX && (B > 0 || COPIES == X))
    return launch(relax_six_rows<STORE, B, COPIES>, rows, shared, int(WARP));
  else
    return launch(relax_by_warps<STORE, B, SIX, COPIES>, int64_t(WARPS) * rows, WARPS * shared);
}

template <int STORE, int B>
cudaError_t launch_rows(const launcher &launch) {
  const int copies = launch.how.copies;
  switch (launch.how.by) {
    case TRS_RELAX_BY_THREAD:
      return launch(relax_by_threads<STORE, B>, THREADS);
    case TRS_RELAX_BY_TWO_KERNELS: {
      cudaError_t error = launch(multiply_rows<STORE, B>, WARPS);
      return error != cudaSuccess ? error : launch(solve_rows<STORE, B>, WARPS);
    }
    case TRS_RELAX_BY_WARP:
      return copies == DIAGONAL ? launch_warps<STORE, B, false, DIAGONAL>(launch)
                                : launch_warps<STORE, B, false, NONE>(launch);
    default:
      return copies == X          ? launch_warps<STORE, B, true, X>(launch)
             : copies == DIAGONAL ? launch_warps<STORE, B, true, DIAGONAL>(launch)
                                  : launch_warps<STORE, B, true, NONE>(launch);
  }
}

}  // namespace

extern "C" trs_status trs_w21_rows_run(const trs_relax_args *a, const trs_relax_rows_how *how,
                                       int64_t begin, int64_t end, trs_stream stream) {
  if (begin == end) return TRS_SUCCESS;
  const launcher launch = {*a, *how, begin, end, static_cast<cudaStream_t>(stream)};
  const cudaError_t error = by_store(a->store, [&](auto store) {
    constexpr int STORE = decltype(store)::value;
    return a->block == 5 ? launch_rows<STORE, 5>(launch) : launch_rows<STORE, 0>(launch);
  });
  return trs_device_check(error, "launching a relaxation kernel");
}
