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
#include <mutex>

#include "W21/rows.h"
#include "relax/cuda/row_sum.cuh"

namespace {

using namespace trs;

constexpr int THREADS = 256, WARPS = THREADS / int(WARP);
constexpr int NONE = TRS_W21_COPY_NOTHING, DIAGONAL = TRS_W21_COPY_DIAGONAL, X = TRS_W21_COPY_X;

__host__ __device__ inline int rows_of_warp(bool six, int b) { return six ? int(WARP) / b : 1; }
/* Elements of shared memory that a warp needs. */
__host__ __device__ inline int room_of_warp(int copies, int rows, int b) {
  return copies == DIAGONAL ? rows * b * b : 0;
}

/* The arrays of a kernel's right-hand side. */
template <int STORE>
struct columns {
  using T = stored<STORE>;
  typename T::x *x;
  const typename T::sum *r;
  __device__ explicit columns(const trs_relax_args &a)
      : x(static_cast<typename T::x *>(a.x) + blockIdx.y * a.x_stride),
        r(static_cast<const typename T::sum *>(a.r) + blockIdx.y * a.r_stride) {}
};

template <class S>
__device__ inline S *shared_room(int elements) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  return reinterpret_cast<S *>(shared_bytes) + int(threadIdx.x / WARP) * elements;
}

/* Begins a warp's copy of count elements; empty copies count as one too. */
template <class S>
__device__ inline void begin_copy(S *shared, const S *global, int count) {
  for (int e = int(threadIdx.x % WARP); e < count; e += int(WARP))
    copy_async(shared + e, global + e);
  commit_copies();
}

/* D's LU of the rows of a warp, on its way to shared memory during the product. */
template <class S, int COPIES>
class diagonals {
 public:
  __device__ diagonals(const trs_relax_args &a, int64_t first, int count, int rows)
      : from_(static_cast<const S *>(a.diagonal)), first_(first), elements_(a.block * a.block) {
    if constexpr (COPIES == DIAGONAL) {
      room_ = shared_room<S>(room_of_warp(COPIES, rows, a.block));
      begin_copy(room_, from_ + first * elements_, count * elements_);
    }
  }
  /* After the product. */
  __device__ const S *await(int64_t p) const {
    if constexpr (COPIES != DIAGONAL) return from_ + p * elements_;
    await_copies<0>();
    return room_ + (p - first_) * elements_;
  }

 private:
  const S *from_;
  int64_t first_;
  int elements_;
  S *room_ = nullptr;
};

/* ---- A warp takes a row: its groups take the columns of one block, 25 lanes for 5 x 5, then those
 * of the next block; their sums are added at the end ---- */

__device__ inline int groups_of(int b) {
  const int fit = int(WARP) / b;
  return fit < b ? fit : b;
}

/* The sum of row p, complete in every lane of group 0. */
template <int STORE, int B>
__device__ inline typename stored<STORE>::sum sum_one_row(const trs_relax_args &a,
                                                          const lanes<B> &l, int64_t p, bool works,
                                                          const typename stored<STORE>::x *x) {
  using sum = typename stored<STORE>::sum;
  const int groups = groups_of(l.b);
  turns t = {a.ptr[p], 0, (l.b + groups - 1) / groups, l.slot, groups};
  if (works) t.count = int(a.ptr[p + 1] - t.block) * t.a_block;
  const sum mine = row_sum<STORE, B>(a, l, t, x).total();
  sum total = 0;
  for (int g = 0; g < groups; g++) total += shuffle(mine, g * l.b + l.i);
  return total;
}

/* Row first, and whether the lane adds to a sum of it, and has a component of x. */
template <int B>
struct one_row {
  lanes<B> l;
  int64_t p;
  bool works, stores;
  __device__ one_row(int block, int64_t first, int64_t end)
      : l(block, int(threadIdx.x % WARP)),
        p(first),
        works(p < end && l.slot < groups_of(l.b)),
        stores(p < end && l.slot == 0) {
    if (p >= end) p = end - 1;
  }
};

template <int STORE, int B, int COPIES>
__global__ void __launch_bounds__(THREADS)
    relax_by_warps(const __grid_constant__ trs_relax_args a, int64_t begin, int64_t end) {
  using sum = typename stored<STORE>::sum;
  const int b = B ? B : a.block;
  const int64_t first = begin + int64_t(blockIdx.x) * WARPS + threadIdx.x / WARP;
  if (first >= end) return;
  const columns<STORE> c(a);
  const diagonals<sum, COPIES> d(a, first, 1, 1);
  const one_row<B> at(b, first, end);
  sum y = -sum_one_row<STORE, B>(a, at.l, at.p, at.works, c.x);
  const sum *own = d.await(at.p);
  y += c.r[at.p * b + at.l.i];
  const sum z = solve_diagonal(at.l, own, a.pivot + at.p * b, y);
  if (at.stores) relax(c.x + at.p * a.pitch + at.l.i, z, a.omega);
}

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
  const place<B> at(b, first, end);
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
  if (at.works) relax(c.x + at.p * a.pitch + l.i, z, a.omega);
}

/* ---- Product and solve as two kernels ---- */

/* y = r - O x, a row per warp. */
template <int STORE, int B>
__global__ void __launch_bounds__(THREADS)
    multiply_rows(const __grid_constant__ trs_relax_args a, int64_t begin, int64_t end, void *y) {
  using sum = typename stored<STORE>::sum;
  const int b = B ? B : a.block;
  const int64_t first = begin + int64_t(blockIdx.x) * WARPS + threadIdx.x / WARP;
  if (first >= end) return;
  const columns<STORE> c(a);
  const one_row<B> at(b, first, end);
  const sum total = sum_one_row<STORE, B>(a, at.l, at.p, at.works, c.x);
  const int64_t e = at.p * b + at.l.i;
  if (at.stores) static_cast<sum *>(y)[blockIdx.y * a.r_stride + e] = c.r[e] - total;
}

/* Solves D z = y, a row per warp. */
template <int STORE, int B>
__global__ void __launch_bounds__(THREADS)
    solve_rows(const __grid_constant__ trs_relax_args a, int64_t begin, int64_t end,
               const void *product) {
  using sum = typename stored<STORE>::sum;
  const int b = B ? B : a.block;
  const int64_t first = begin + int64_t(blockIdx.x) * WARPS + threadIdx.x / WARP;
  if (first >= end) return;
  const columns<STORE> c(a);
  const one_row<B> at(b, first, end);
  const sum y = static_cast<const sum *>(product)[blockIdx.y * a.r_stride + at.p * b + at.l.i];
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

/* Rows begin to end - 1 of every right-hand side, `each` per block of threads; reads of x are kept
 * in L2 as far as possible. */
struct launcher {
  const trs_relax_args &a;
  const trs_w21_how &how;
  int64_t begin, end;
  cudaStream_t stream;

  template <class K, class... MORE>
  cudaError_t operator()(K kernel, int64_t each, size_t shared, int threads, MORE... more) const {
    cudaLaunchAttribute keep = {};
    keep.id = cudaLaunchAttributeAccessPolicyWindow;
    keep.val.accessPolicyWindow.base_ptr = a.x;
    keep.val.accessPolicyWindow.num_bytes = size_t(how.window);
    keep.val.accessPolicyWindow.hitRatio = float(how.window_share);
    keep.val.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    keep.val.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(unsigned((end - begin + each - 1) / each), unsigned(a.nrhs));
    config.blockDim = unsigned(threads);
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = &keep;
    config.numAttrs = how.window ? 1 : 0;
    if (shared > 48 << 10) {
      cudaError_t error =
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared));
      if (error != cudaSuccess) return error;
    }
    return cudaLaunchKernelEx(&config, kernel, a, begin, end, more...);
  }
};

template <int STORE, int B, int COPIES>
cudaError_t launch_warps(const launcher &launch) {
  using sum = typename stored<STORE>::sum;
  const size_t shared = size_t(room_of_warp(COPIES, 1, launch.a.block)) * sizeof(sum);
  return launch(relax_by_warps<STORE, B, COPIES>, WARPS, WARPS * shared, THREADS);
}
template <int STORE, int B, int COPIES>
cudaError_t launch_six(const launcher &launch) {
  using sum = typename stored<STORE>::sum;
  const int b = launch.a.block, rows = rows_of_warp(true, b);
  const size_t shared = size_t(room_of_warp(COPIES, rows, b)) * sizeof(sum);
  return launch(relax_six_rows<STORE, B, COPIES>, rows, shared, int(WARP));
}

template <int STORE, int B>
cudaError_t launch_rows(const launcher &launch) {
  const int copies = launch.how.copies;
  switch (launch.how.by) {
    case TRS_W21_BY_THREAD:
      return launch(relax_by_threads<STORE, B>, THREADS, 0, THREADS);
    case TRS_W21_BY_TWO_KERNELS: {
      cudaError_t error = launch(multiply_rows<STORE, B>, WARPS, 0, THREADS, launch.how.y);
      return error != cudaSuccess ? error
                                  : launch(solve_rows<STORE, B>, WARPS, 0, THREADS, launch.how.y);
    }
    case TRS_W21_BY_WARP:
      return copies == DIAGONAL ? launch_warps<STORE, B, DIAGONAL>(launch)
                                : launch_warps<STORE, B, NONE>(launch);
    default:
      return copies == X          ? launch_six<STORE, B, X>(launch)
             : copies == DIAGONAL ? launch_six<STORE, B, DIAGONAL>(launch)
                                  : launch_six<STORE, B, NONE>(launch);
  }
}

/* ---- L2 ---- */

std::mutex lock;
constexpr int MOST_GPUS = 1024; /* as contexts count them */
struct {
  int users;
  size_t before;
} set_aside[MOST_GPUS + 1]; /* by ordinal; under the lock */

int64_t attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, which, ordinal) == cudaSuccess ? value : 0;
}

}  // namespace

extern "C" void trs_w21_take_l2(trs_w21_how *how, int64_t bytes, int ordinal) {
  const std::lock_guard<std::mutex> guard(lock);
  size_t aside = 0;
  how->aside = 1 + ordinal;
  if (set_aside[ordinal].users++ == 0) {
    if (cudaDeviceGetLimit(&set_aside[ordinal].before, cudaLimitPersistingL2CacheSize))
      set_aside[ordinal].before = 0;
    (void)cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize,
                             size_t(attribute(cudaDevAttrMaxPersistingL2CacheSize, ordinal)));
  }
  if (cudaDeviceGetLimit(&aside, cudaLimitPersistingL2CacheSize)) aside = 0;
  (void)cudaGetLastError(); /* a GPU without this feature sets nothing aside */
  const int64_t most = attribute(cudaDevAttrMaxAccessPolicyWindowSize, ordinal);
  how->window = aside == 0 ? 0 : bytes < most ? bytes : most;
  how->window_share = how->window > int64_t(aside) ? double(aside) / double(how->window) : 1;
}

extern "C" void trs_w21_give_l2_back(trs_w21_how *how) {
  const std::lock_guard<std::mutex> guard(lock);
  const int ordinal = how->aside - 1;
  if (ordinal < 0 || --set_aside[ordinal].users > 0) return;
  (void)cudaCtxResetPersistingL2Cache();
  (void)cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, set_aside[ordinal].before);
  (void)cudaGetLastError();
}

extern "C" trs_status trs_w21_rows_run(const trs_relax_args *a, const void *paper, int64_t begin,
                                       int64_t end, trs_stream stream) {
  const auto &how = *static_cast<const trs_w21_how *>(paper);
  const launcher launch = {*a, how, begin, end, static_cast<cudaStream_t>(stream)};
  const cudaError_t error = by_store(a->store, [&](auto store) {
    constexpr int STORE = decltype(store)::value;
    return a->block == 5 ? launch_rows<STORE, 5>(launch) : launch_rows<STORE, 0>(launch);
  });
  return trs_device_check(error, "launching a relaxation kernel");
}
