/* refactor.cu - incomplete factors of block rows (factor/bilu0.c) on a GPU: a warp takes a row of a
 * level, one launch per level.  The products of a block L_ik with row k of U have L_ik in shared
 * memory, and a lane per element of the block that changes.  Sums have a fixed order, so that the
 * bits do not vary.  O(blocks in row k of U, per block L_ik) reads, mostly from L2. */
#include "relax/cuda/refactor.h"
#include "relax/cuda/row.cuh"

namespace {

using namespace trs;

constexpr int ROWS = 4; /* warps per block of threads */

__device__ inline void fail(const trs_refactor_args &a, int64_t i, int kind) {
  atomicMin(a.failed, (unsigned long long)i * TRS_REFACTOR_KINDS + unsigned(kind));
}

/* The row of a warp, or -1. */
__device__ inline int64_t row_of_warp(int64_t count) {
  const int64_t k = int64_t(blockIdx.x) * ROWS + threadIdx.x / WARP;
  return k < count ? k : -1;
}

__global__ void __launch_bounds__(ROWS *int(WARP))
    gather(const __grid_constant__ trs_refactor_args a) {
  const int64_t i = row_of_warp(a.n), b = a.block, size = b * b;
  if (i < 0) return;
  const uint8_t *from = a.from + i * b;
  const int64_t end = (a.ptr[i + 1] - a.ptr[i]) * size;
  for (int64_t t = threadIdx.x % WARP; t < end; t += WARP) {
    const int64_t p = a.ptr[i] + t / size, c = t % size / b, r = t % b, block = a.source[p];
    const int64_t at = block * size + (a.by_rows ? from[r] * b + c : c * b + from[r]);
    a.val[a.ptr[i] * size + t] = block < 0 ? 0
                                 : a.wide  ? static_cast<const double *>(a.given)[at]
                                           : double(static_cast<const float *>(a.given)[at]);
  }
}

/* A warp's work on its row i. */
template <int B>
struct row_work {
  const trs_refactor_args &a;
  int64_t i;
  int b, size, lane;
  double *l, *d; /* shared: L_ik; a diagonal block */

  __device__ row_work(const trs_refactor_args &args, int64_t row, double *shared)
      : a(args), i(row), b(B ? B : args.block), size(b * b), lane(int(threadIdx.x % WARP)) {
    l = shared + int(threadIdx.x / WARP) * 2 * size;
    d = l + size;
  }

  __device__ void load(double *to, int64_t p) const {
    for (int e = lane; e < size; e += int(WARP)) to[e] = a.val[p * size + e];
  }
  __device__ void save(int64_t p, const double *from) const {
    for (int e = lane; e < size; e += int(WARP)) a.val[p * size + e] = from[e];
  }

  /* The place of column j in row i, or -1. */
  __device__ int64_t find(int32_t j) const {
    int64_t low = a.ptr[i], high = a.ptr[i + 1];
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (a.idx[middle] < j)
        low = middle + 1;
      else
        high = middle;
    }
    return low < a.ptr[i + 1] && a.idx[low] == j ? low : -1;
  }

  /* l = l u^-1, a lane per row. */
  __device__ void divide() const {
    if (lane < b)
      for (int c = 0; c < b; c++) {
        double x = l[c * b + lane];
        for (int m = 0; m < c; m++) x -= l[m * b + lane] * d[c * b + m];
        l[c * b + lane] = x / d[c * b + c];
      }
    __syncwarp();
  }

  /* A_ij -= L_ik U_kj */
  __device__ void subtract(int64_t at, int64_t q) const {
    for (int e = lane; e < size; e += int(WARP)) {
      const int c = e / b, r = e - c * b;
      double sum = a.val[at * size + e];
      for (int m = 0; m < b; m++) sum -= l[m * b + r] * a.val[q * size + c * b + m];
      a.val[at * size + e] = sum;
    }
  }

  __device__ void update(int32_t k) const {
    const int64_t end = a.ptr[k + 1];
    for (int64_t first = a.diagonal[k] + 1; first < end; first += WARP) {
      const int32_t j = first + lane < end ? a.idx[first + lane] : -1;
      const bool wanted = j >= 0 && (!a.dilu || j == i);
      const int64_t mine = wanted ? find(j) : -1;
      for (unsigned left = __ballot_sync(EVERY_LANE, mine >= 0); left; left &= left - 1) {
        const int u = __ffs(int(left)) - 1;
        subtract(__shfl_sync(EVERY_LANE, mine, u), first + u);
      }
    }
    __syncwarp();
  }

  /* d = l u with row exchanges; result: this lane's pivot, or -1 in all lanes. */
  __device__ int factor_lu() const {
    int pivot = lane;
    for (int k = 0; k < b; k++) {
      int best = k;
      for (int r = k + 1; r < b; r++)
        if (fabs(d[k * b + r]) > fabs(d[k * b + best])) best = r;
      if (fabs(d[k * b + k]) >= a.threshold * fabs(d[k * b + best]) && d[k * b + k] != 0) best = k;
      if (!(fabs(d[k * b + best]) > 0)) return -1;
      __syncwarp();
      if (lane < b && best != k) {
        const double kept = d[lane * b + k];
        d[lane * b + k] = d[lane * b + best];
        d[lane * b + best] = kept;
      }
      const int of_k = __shfl_sync(EVERY_LANE, pivot, k),
                of_best = __shfl_sync(EVERY_LANE, pivot, best);
      pivot = lane == k ? of_best : lane == best ? of_k : pivot;
      __syncwarp();
      const double inverse = 1 / d[k * b + k];
      if (lane > k && lane < b) d[k * b + lane] *= inverse;
      __syncwarp();
      for (int e = lane; e < size; e += int(WARP)) {
        const int c = e / b, r = e - c * b;
        if (c > k && r > k) d[e] -= d[k * b + r] * d[c * b + k];
      }
      __syncwarp();
    }
    return pivot;
  }

  __device__ int factor_cholesky() const {
    for (int k = 0; k < b; k++) {
      const double square = d[k * b + k];
      if (!(square > 0)) return -1;
      __syncwarp();
      if (lane == k) d[k * b + k] = sqrt(square);
      if (lane > k && lane < b) d[lane * b + k] = d[k * b + lane] /= sqrt(square);
      __syncwarp();
      for (int e = lane; e < size; e += int(WARP)) {
        const int c = e / b, r = e - c * b;
        if (c > k && r > k) d[e] -= d[k * b + r] * d[k * b + c];
      }
      __syncwarp();
    }
    return lane;
  }

  __device__ bool is_finite() const {
    bool finite = true;
    for (int e = lane; e < size; e += int(WARP)) finite = finite && isfinite(d[e]);
    return __all_sync(EVERY_LANE, finite);
  }

  /* U_ij = l^-1 P A_ij, a lane per column. */
  __device__ void substitute() const {
    const uint8_t *pivot = a.pivot + i * b;
    const int64_t columns = (a.ptr[i + 1] - a.diagonal[i] - 1) * b;
    double x[B ? B : int(WARP)];
    for (int64_t t = lane; t < columns; t += WARP) {
      double *column = a.val + (a.diagonal[i] + 1) * size + t * b;
      for (int r = 0; r < b; r++) x[r] = column[pivot[r]];
      for (int m = 0; m < b; m++) {
        if (a.cholesky) x[m] /= d[m * b + m];
        for (int r = m + 1; r < b; r++) x[r] -= d[m * b + r] * x[m];
      }
      for (int r = 0; r < b; r++) column[r] = x[r];
    }
  }
};

template <int B>
__global__ void __launch_bounds__(ROWS *int(WARP))
    eliminate(const __grid_constant__ trs_refactor_args a, const int32_t *rows, int64_t count) {
  extern __shared__ double shared[];
  const int64_t k = row_of_warp(count);
  if (k < 0) return;
  const row_work<B> w(a, rows[k], shared);
  for (int64_t p = a.ptr[w.i]; p < a.diagonal[w.i]; p++) {
    w.load(w.l, p);
    w.load(w.d, a.diagonal[a.idx[p]]);
    __syncwarp();
    w.divide();
    w.save(p, w.l);
    w.update(a.idx[p]);
  }
  w.load(w.d, a.diagonal[w.i]);
  __syncwarp();
  const bool finite = w.is_finite();
  const int pivot = !finite ? -1 : a.cholesky ? w.factor_cholesky() : w.factor_lu();
  if (pivot < 0) { /* in every lane */
    if (w.lane == 0) fail(a, w.i, finite ? TRS_REFACTOR_NO_PIVOT : TRS_REFACTOR_NOT_FINITE);
    return;
  }
  w.save(a.diagonal[w.i], w.d);
  if (w.lane < w.b) a.pivot[w.i * w.b + w.lane] = uint8_t(pivot);
  __syncwarp();
  w.substitute();
}

/* ---- To the formats of relaxation ---- */

template <int STORE>
__device__ inline typename stored<STORE>::off encode(double value) {
  const float narrow = float(value);
  if constexpr (STORE == TRS_RELAX_HALF) {
    return __half_as_ushort(__float2half_rn(narrow));
  } else if constexpr (STORE == TRS_RELAX_BFLOAT) {
    const unsigned bits = __float_as_uint(narrow);
    return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  } else if constexpr (STORE == TRS_RELAX_DOUBLE) {
    return value;
  } else {
    return narrow;
  }
}

/* As factor_of in relax/store_tmpl.c. */
template <int STORE>
__device__ inline int power_of(double most) {
  if (most == 0) return 0;
  const int power =
      int(__double_as_longlong(most) >> 52) - 1022 - (STORE == TRS_RELAX_HALF ? 15 : 0);
  return power < -126 ? -126 : power > 127 ? 127 : power;
}

template <int STORE>
__device__ inline void store_block(const trs_refactor_args &a, const trs_relax_args &r, int64_t k,
                                   int64_t from, int64_t i) {
  using off = typename stored<STORE>::off;
  const int size = a.block * a.block, lane = int(threadIdx.x % WARP);
  const double *value = a.val + from * size;
  auto *to = static_cast<off *>(const_cast<void *>(r.off)) + k * size;
  double most = 0;
  for (int e = lane; e < size; e += int(WARP)) most = fmax(most, fabs(value[e]));
  for (int step = int(WARP) / 2; step; step /= 2)
    most = fmax(most, __shfl_xor_sync(EVERY_LANE, most, step));
  if (sizeof(typename stored<STORE>::x) < sizeof(double) && !(most < 3.4028235677973366e38) &&
      lane == 0)
    fail(a, i, TRS_REFACTOR_TOO_LARGE);
  const int power = stored<STORE>::scaled ? power_of<STORE>(most) : 0;
  for (int e = lane; e < size; e += int(WARP))
    to[e] = encode<STORE>(stored<STORE>::scaled ? value[e] / double(two_to(power)) : value[e]);
  if (stored<STORE>::scaled && lane == 0) const_cast<int8_t *>(r.power)[k] = int8_t(power);
}

/* Element (row, c) of the diagonal block's factors as relaxation has them: P^T l, or u. */
__device__ inline double diagonal_element(const trs_refactor_args &a, const double *d, int row,
                                          int c, bool lower) {
  const int b = a.block;
  if (!lower) return row > c ? 0 : row == c ? 1 / d[c * b + c] : d[c * b + row];
  if (row < c) return 0;
  if (row > c) return a.cholesky ? d[c * b + row] / d[c * b + c] : d[c * b + row];
  return a.cholesky ? 1 / d[c * b + c] : 1;
}

template <int STORE>
__global__ void __launch_bounds__(ROWS *int(WARP))
    store(const __grid_constant__ trs_refactor_args a, const __grid_constant__ trs_relax_args r,
          const int32_t *place, bool lower) {
  using sum = typename stored<STORE>::sum;
  const int64_t p = row_of_warp(a.n);
  if (p < 0) return;
  const int b = a.block, size = b * b, lane = int(threadIdx.x % WARP);
  const int64_t i = r.row[p];
  for (int64_t k = r.ptr[p]; k < r.ptr[p + 1]; k++) store_block<STORE>(a, r, k, place[k], i);
  const double *d = a.val + a.diagonal[i] * size;
  auto *to = static_cast<sum *>(const_cast<void *>(r.diagonal)) + p * size;
  for (int e = lane; e < size; e += int(WARP))
    to[e] = sum(diagonal_element(a, d, e % b, e / b, lower));
  if (lane < b)
    const_cast<uint8_t *>(r.pivot)[p * b + lane] =
        lower && !a.cholesky ? a.pivot[i * b + lane] : uint8_t(lane);
}

unsigned blocks_for(int64_t rows) { return static_cast<unsigned>((rows + ROWS - 1) / ROWS); }

}  // namespace

extern "C" trs_status trs_refactor_gather(const trs_refactor_args *a, trs_stream stream) {
  if (a->n == 0) return TRS_SUCCESS;
  gather<<<blocks_for(a->n), ROWS * WARP, 0, static_cast<cudaStream_t>(stream)>>>(*a);
  return trs_device_check(cudaGetLastError(), "bringing new blocks to their places");
}

extern "C" trs_status trs_refactor_eliminate(const trs_refactor_args *a, const int32_t *rows,
                                             int64_t count, trs_stream stream) {
  auto s = static_cast<cudaStream_t>(stream);
  if (count == 0) return TRS_SUCCESS;
  const size_t shared = size_t(ROWS) * 2 * size_t(a->block * a->block) * sizeof(double);
  cudaError_t error = by_block(a->block, [&](auto block) {
    auto kernel = eliminate<decltype(block)::value>;
    cudaError_t ready =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared));
    if (ready != cudaSuccess) return ready;
    kernel<<<blocks_for(count), ROWS * WARP, shared, s>>>(*a, rows, count);
    return cudaGetLastError();
  });
  return trs_device_check(error, "launching the factorisation of a level");
}

extern "C" trs_status trs_refactor_store(const trs_refactor_args *a, const trs_relax_args *r,
                                         const int32_t *place, int lower, trs_stream stream) {
  auto s = static_cast<cudaStream_t>(stream);
  if (a->n == 0) return TRS_SUCCESS;
  cudaError_t error = by_store(r->store, [&](auto kind) {
    store<decltype(kind)::value>
        <<<blocks_for(a->n), ROWS * WARP, 0, s>>>(*a, *r, place, lower != 0);
    return cudaGetLastError();
  });
  return trs_device_check(error, "storing new factors");
}
