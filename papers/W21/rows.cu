/* rows.cu - W21's kernels, one launch per colour.
 *
 * thread-row: a thread takes a block row; the kernel that W21 starts from (Figure 4).
 * warp-row: a warp takes a block row, 25 lanes one block of 5 x 5; a second kernel solves by the
 * diagonal's LU.  warp-row-fused: the same kernel solves.
 * warp-six-rows: a warp takes as many rows as fit its lanes, six of 5 x 5, and solves them.
 *
 * -async: asynchronous copies bring the diagonal's LU of the warp's rows to shared memory while the
 * product with the off-diagonal blocks runs.  -prefetch (W21, VI-B): a warp takes several groups of
 * rows in turn, and the right-hand side of the next group is copied to the other half of a double
 * buffer meanwhile.
 *
 * Blocks of 5, the paper's, have kernels of their own; others share one for any size. */
#include "relax/cuda/rows.cuh"

namespace {

using namespace trs;
using namespace trs::relax_rows;

constexpr int GROUPS = 4; /* groups of rows that a warp takes with -prefetch */

/* relax_by_warps with a double buffer of right-hand sides behind the diagonal's LU. */
template <int STORE, int B, bool SIX>
__global__ void __launch_bounds__(THREADS)
    relax_rows_ahead(const __grid_constant__ trs_relax_args a, int64_t begin, int64_t end) {
  using sum = typename stored<STORE>::sum;
  const int b = B ? B : a.block, rows = rows_of_warp(SIX, b);
  const int64_t all = int64_t(rows) * GROUPS;
  int64_t first = begin + (int64_t(blockIdx.x) * WARPS + threadIdx.x / WARP) * all;
  const int64_t last = min(first + all, end);
  if (first >= last) return;
  const columns<STORE> c(a);
  const auto count = [&](int64_t p) { return p < last ? int(min(int64_t(rows), last - p)) : 0; };
  sum *room = shared_room<sum>(room_of_warp(DIAGONAL_AND_NEXT, rows, b));
  sum *now = room + rows * b * b, *next = now + rows * b;
  begin_copy(now, c.r + first * b, count(first) * b);
  for (; first < last; first += rows) {
    begin_copy(room, static_cast<const sum *>(a.diagonal) + first * b * b, count(first) * b * b);
    begin_copy(next, c.r + (first + rows) * b, count(first + rows) * b);
    relax_group<STORE, B, SIX, DIAGONAL_AND_NEXT>(a, first, last, room, now, c.x);
    __syncwarp(); /* the next copies overwrite room and now */
    sum *const other = now;
    now = next;
    next = other;
  }
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

/* Solves D z = y, as many rows per warp as fit. */
template <int STORE, int B>
__global__ void __launch_bounds__(THREADS)
    solve_rows(const __grid_constant__ trs_relax_args a, int64_t begin, int64_t end) {
  using sum = typename stored<STORE>::sum;
  const int b = B ? B : a.block;
  const int64_t warp = int64_t(blockIdx.x) * WARPS + threadIdx.x / WARP;
  const int64_t first = begin + warp * rows_of_warp(true, b);
  if (first >= end) return;
  const columns<STORE> c(a);
  const place<B, true> at(b, first, end);
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

template <int STORE, int B, bool SIX>
cudaError_t launch_warps(const launcher &launch) {
  using sum = typename stored<STORE>::sum;
  const int b = launch.a.block, rows = rows_of_warp(SIX, b), copies = launch.how.copies;
  const int64_t each = int64_t(WARPS) * rows;
  const size_t shared = size_t(WARPS) * size_t(room_of_warp(copies, rows, b)) * sizeof(sum);
  if (copies == DIAGONAL_AND_NEXT)
    return launch(relax_rows_ahead<STORE, B, SIX>, each * GROUPS, shared);
  if (copies == DIAGONAL) return launch(relax_by_warps<STORE, B, SIX, DIAGONAL>, each, shared);
  return launch(relax_by_warps<STORE, B, SIX, NONE>, each);
}

template <int STORE, int B>
cudaError_t launch_rows(const launcher &launch) {
  switch (launch.how.by) {
    case TRS_RELAX_BY_THREAD:
      return launch(relax_by_threads<STORE, B>, THREADS);
    case TRS_RELAX_BY_TWO_KERNELS: {
      cudaError_t error = launch(multiply_rows<STORE, B>, WARPS);
      const int64_t each = int64_t(WARPS) * rows_of_warp(true, launch.a.block);
      return error != cudaSuccess ? error : launch(solve_rows<STORE, B>, each);
    }
    case TRS_RELAX_BY_WARP:
      return launch_warps<STORE, B, false>(launch);
    default:
      return launch_warps<STORE, B, true>(launch);
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
