/* rows.cu - W21's kernels: a warp takes one block row, or as many as fit its lanes (six of 5 x 5).
 *
 * The blocks of a block row, column-major and contiguous, form a sequence of columns of b elements.
 * A group of b lanes takes a column, one lane per element.  warp-row: the groups of a warp take
 * columns in turn, so that a warp reads consecutive elements; their sums are added at the end.
 * warp-six-rows: each group has its own row, and no addition is needed.
 *
 * With asynchronous copies, a lane's elements pass through a ring in shared memory that only this
 * lane fills and reads: more loads are in flight than registers could hold.  A copy has at least 4
 * bytes, so 16-bit elements use no asynchronous copies.
 *
 * All sums have a fixed order.  O(blocks) work; every block is read once per right-hand side. */
#include "relax/cuda/row.cuh"

namespace {

using namespace trs;

constexpr int THREADS = 256, WARPS = THREADS / int(WARP);
constexpr int BATCH = 4;  /* columns per lane that are loaded together */
constexpr int STAGES = 4; /* batches in the ring */

template <int BYTES>
__device__ inline void copy_async(void *shared, const void *global) {
  auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(global), "n"(BYTES)
               : "memory");
}
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int LEFT>
__device__ inline void await_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}

/* A lane's columns of a row: first, first + step, ... below count. */
struct columns {
  int64_t block; /* the first column of the row */
  int first, step, count;
};

template <int STORE, int B>
class row_sum {
  using T = stored<STORE>;
  using off = typename T::off;
  using sum = typename T::sum;
  using product = typename T::product;

 public:
  __device__ row_sum(const trs_relax_args &a, const lanes<B> &l, const columns &c,
                     const typename T::x *x)
      : idx_(a.idx + c.block), power_(a.power + c.block), x_(x), pitch_(a.pitch), b_(l.b), c_(c) {
    off_ = static_cast<const off *>(a.off) + c.block * b_ * b_ + l.i;
  }

  __device__ sum plain() const {
    sum total = 0;
    for (int t = c_.first; t < c_.count; t += BATCH * c_.step) {
      off v[BATCH];
#pragma unroll
      for (int u = 0; u < BATCH; u++)
        v[u] = t + u * c_.step < c_.count ? off_[int64_t(t + u * c_.step) * b_] : off(0);
      add(total, t, v);
    }
    return total;
  }

  /* ring: STAGES * BATCH elements of this lane, WARP apart. */
  __device__ sum async(off *ring) const {
    sum total = 0;
    int t = c_.first;
    for (int s = 0; s < STAGES - 1; s++) ask(ring, s, t + s * BATCH * c_.step);
    for (int s = 0; t < c_.count; s = (s + 1) % STAGES, t += BATCH * c_.step) {
      ask(ring, (s + STAGES - 1) % STAGES, t + (STAGES - 1) * BATCH * c_.step);
      await_copies<STAGES - 1>();
      off v[BATCH];
#pragma unroll
      for (int u = 0; u < BATCH; u++) v[u] = ring[(s * BATCH + u) * int(WARP)];
      add(total, t, v);
    }
    await_copies<0>();
    return total;
  }

 private:
  const off *off_;
  const int32_t *idx_;
  const int8_t *power_;
  const typename T::x *x_;
  int pitch_, b_;
  columns c_;

  __device__ void ask(off *ring, int stage, int t) const {
    if constexpr (sizeof(off) >= 4) {
#pragma unroll
      for (int u = 0; u < BATCH; u++)
        if (t + u * c_.step < c_.count)
          copy_async<int(sizeof(off))>(ring + (stage * BATCH + u) * int(WARP),
                                       off_ + int64_t(t + u * c_.step) * b_);
    }
    commit_copies();
  }

  /* Columns past the row's end are omitted, because 0 times infinity would be NaN. */
  __device__ void add(sum &total, int t, const off (&v)[BATCH]) const {
    product x[BATCH];
#pragma unroll
    for (int u = 0; u < BATCH; u++) {
      int column = t + u * c_.step;
      x[u] = 0;
      if (column < c_.count) {
        int block = column / b_;
        x[u] = x_[int64_t(idx_[block]) * pitch_ + (column - block * b_)];
      }
    }
#pragma unroll
    for (int u = 0; u < BATCH; u++) {
      int column = t + u * c_.step;
      if (column >= c_.count) continue;
      if constexpr (T::scaled)
        total = fma(sum(decode<STORE>(v[u]) * x[u]), sum(two_to(power_[column / b_])), total);
      else
        total = fma(sum(decode<STORE>(v[u])), sum(x[u]), total);
    }
  }
};

/* The sum of row p, complete in every lane of group 0 (warp-row) or of its own group. */
template <int STORE, int B, bool SIX, bool ASYNC>
__device__ inline typename stored<STORE>::sum sum_row(const trs_relax_args &a, const lanes<B> &l,
                                                      int64_t p, bool there,
                                                      const typename stored<STORE>::x *x) {
  using T = stored<STORE>;
  const int groups = int(WARP) / l.b;
  const bool works = there && l.slot < groups;
  columns c = {a.ptr[p], SIX ? 0 : l.slot, SIX ? 1 : groups, 0};
  if (works) c.count = int(a.ptr[p + 1] - c.block) * l.b;
  row_sum<STORE, B> row(a, l, c, x);
  typename T::sum mine;
  if constexpr (ASYNC && sizeof(typename T::off) >= 4) {
    __shared__ typename T::off ring[WARPS][STAGES * BATCH][WARP];
    mine = row.async(&ring[threadIdx.x / WARP][0][threadIdx.x % WARP]);
  } else {
    mine = row.plain();
  }
  if constexpr (SIX) {
    return mine;
  } else {
    typename T::sum total = 0;
    for (int g = 0; g < groups; g++) total += __shfl_sync(EVERY_LANE, mine, g * l.b + l.i);
    return total;
  }
}

/* The position of a lane's row, and whether the lane has one. */
template <int B, bool SIX>
struct place {
  lanes<B> l;
  int64_t p;
  bool there, last_step; /* there: the lane adds to sums; last_step: it solves and stores */
  __device__ place(int block, int64_t first, int64_t end) : l(block, int(threadIdx.x % WARP)) {
    const int groups = int(WARP) / l.b;
    p = SIX ? first + l.slot : first;
    there = p < end && l.slot < groups;
    last_step = SIX ? there : p < end && l.slot == 0;
    if (p >= end) p = end - 1;
  }
};

template <int STORE, int B, bool SIX, bool ASYNC>
__global__ void __launch_bounds__(THREADS)
    relax_rows(const __grid_constant__ trs_relax_args a, int64_t begin, int64_t end) {
  using T = stored<STORE>;
  using sum = typename T::sum;
  const int b = B ? B : a.block;
  const int64_t warp = int64_t(blockIdx.x) * WARPS + threadIdx.x / WARP;
  const int64_t first = begin + warp * (SIX ? int(WARP) / b : 1);
  if (first >= end) return;
  const place<B, SIX> at(b, first, end);
  const lanes<B> &l = at.l;
  auto *x = static_cast<typename T::x *>(a.x) + blockIdx.y * a.x_stride;
  auto *r = static_cast<const sum *>(a.r) + blockIdx.y * a.r_stride;
  sum y = r[at.p * b + l.i] - sum_row<STORE, B, SIX, ASYNC>(a, l, at.p, at.there, x);
  const sum *d = static_cast<const sum *>(a.diagonal) + at.p * b * b;
  sum z = solve_diagonal(l, d, a.pivot + at.p * b, y);
  if (at.last_step) relax(x + at.p * a.pitch + l.i, z, a.omega);
}

/* ---- Norms ---- */

/* Adds the squares of the rows of r - A x to a's words; each block of threads takes a part of the
 * rows. */
template <int STORE>
__global__ void __launch_bounds__(THREADS) residual(const __grid_constant__ trs_relax_args a) {
  using T = stored<STORE>;
  using sum = typename T::sum;
  __shared__ uint64_t words[TRS_EXACT_WORDS];
  for (unsigned k = threadIdx.x; k < TRS_EXACT_WORDS; k += THREADS) words[k] = 0;
  __syncthreads();
  const int b = a.block, rows = int(WARP) / b, warp = int(threadIdx.x / WARP);
  const int64_t begin = int64_t(blockIdx.x) * TRS_RELAX_PART;
  const int64_t end = begin + TRS_RELAX_PART < a.nrows ? begin + TRS_RELAX_PART : a.nrows;
  auto *x = static_cast<const typename T::x *>(a.x) + blockIdx.y * a.x_stride;
  auto *r = static_cast<const sum *>(a.r) + blockIdx.y * a.r_stride;
  for (int64_t first = begin + warp * rows; first < end; first += WARPS * rows) {
    const place<0, true> at(b, first, end);
    const lanes<0> &l = at.l;
    sum y = sum_row<STORE, 0, true, false>(a, l, at.p, at.there, x);
    const sum *d = static_cast<const sum *>(a.diagonal) + at.p * b * b;
    sum z = multiply_diagonal(l, d, sum(x[at.p * a.pitch + l.i]));
    const int i = a.pivot[at.p * b + l.i];
    const double square = add_squares(
        l, double(r[at.p * b + i]) - double(__shfl_sync(EVERY_LANE, y, l.first + i)) - z);
    if (at.there && l.i == 0) add_exactly(words, square);
  }
  join_exactly(a.words + blockIdx.y * TRS_EXACT_WORDS, words);
}

__global__ void __launch_bounds__(THREADS)
    take_roots(const __grid_constant__ trs_relax_words w, double *norms) {
  __shared__ uint64_t words[TRS_EXACT_WORDS];
  const unsigned k = threadIdx.x;
  if (k < TRS_EXACT_WORDS) {
    words[k] = 0;
    for (int m = 0; m < w.members; m++) words[k] += w.words[m][blockIdx.x * TRS_EXACT_WORDS + k];
  }
  __syncthreads();
  if (k == 0) norms[blockIdx.x] = trs_exact_root(words);
}

/* ---- The caller's vectors ---- */

template <class X, class S, class V>
__global__ void __launch_bounds__(THREADS)
    load(const __grid_constant__ trs_relax_args a, const __grid_constant__ trs_relax_vectors v) {
  const int64_t e = int64_t(blockIdx.x) * THREADS + threadIdx.x, c = blockIdx.y;
  if (e >= a.nrows * a.block) return;
  const int64_t p = e / a.block, i = e - p * a.block, from = int64_t(a.row[p]) * a.block + i;
  static_cast<S *>(a.r)[c * a.r_stride + e] =
      S(static_cast<const V *>(v.b)[from * v.b_row + c * v.b_col]);
  X &x = static_cast<X *>(a.x)[c * a.x_stride + p * a.pitch + i];
  x = v.keep ? X(static_cast<const V *>(v.x)[from * v.x_row + c * v.x_col]) : X(0);
}

template <class X, class V>
__global__ void __launch_bounds__(THREADS)
    unload(const __grid_constant__ trs_relax_args a, const __grid_constant__ trs_relax_vectors v) {
  const int64_t e = int64_t(blockIdx.x) * THREADS + threadIdx.x, c = blockIdx.y;
  if (e >= a.nrows * a.block) return;
  const int64_t p = e / a.block, i = e - p * a.block, to = int64_t(a.row[p]) * a.block + i;
  static_cast<V *>(v.x)[to * v.x_row + c * v.x_col] =
      V(static_cast<const X *>(a.x)[c * a.x_stride + p * a.pitch + i]);
}

unsigned blocks_for(int64_t count, int64_t each) {
  return static_cast<unsigned>((count + each - 1) / each);
}

/* A launch that keeps its reads of x in L2 as far as possible. */
template <class K>
cudaError_t launch_rows(K kernel, const trs_relax_args &a, const trs_relax_rows_how &how,
                        int64_t begin, int64_t end, cudaStream_t stream) {
  cudaLaunchAttribute keep = {};
  keep.id = cudaLaunchAttributeAccessPolicyWindow;
  keep.val.accessPolicyWindow.base_ptr = a.x;
  keep.val.accessPolicyWindow.num_bytes = size_t(how.window);
  keep.val.accessPolicyWindow.hitRatio = float(how.window_share);
  keep.val.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  keep.val.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  cudaLaunchConfig_t config = {};
  int64_t each = int64_t(WARPS) * (how.six ? int(WARP) / a.block : 1);
  config.gridDim = dim3(blocks_for(end - begin, each), unsigned(a.nrhs));
  config.blockDim = THREADS;
  config.stream = stream;
  config.attrs = &keep;
  config.numAttrs = how.window ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, a, begin, end);
}

}  // namespace

extern "C" trs_status trs_relax_rows_run(const trs_relax_args *a, const trs_relax_rows_how *how,
                                         int64_t begin, int64_t end, trs_stream stream) {
  auto s = static_cast<cudaStream_t>(stream);
  if (begin == end) return TRS_SUCCESS;
  cudaError_t error = by_store(a->store, [&](auto store) {
    return by_block(a->block, [&](auto block) {
      constexpr int STORE = decltype(store)::value, B = decltype(block)::value;
      auto kernel = how->six     ? how->async ? relax_rows<STORE, B, true, true>
                                              : relax_rows<STORE, B, true, false>
                        : how->async ? relax_rows<STORE, B, false, true>
                                 : relax_rows<STORE, B, false, false>;
      return launch_rows(kernel, *a, *how, begin, end, s);
    });
  });
  return trs_device_check(error, "launching a relaxation kernel");
}

extern "C" trs_status trs_relax_squares(const trs_relax_args *a, trs_stream stream) {
  auto s = static_cast<cudaStream_t>(stream);
  if (a->nrows == 0) return TRS_SUCCESS;
  cudaError_t error = by_store(a->store, [&](auto store) {
    dim3 grid(unsigned((a->nrows + TRS_RELAX_PART - 1) / TRS_RELAX_PART), unsigned(a->nrhs));
    residual<decltype(store)::value><<<grid, THREADS, 0, s>>>(*a);
    return cudaGetLastError();
  });
  return trs_device_check(error, "launching the residual of a relaxation");
}

extern "C" trs_status trs_relax_roots(const trs_relax_words *words, int nrhs, double *norms,
                                      trs_stream stream) {
  take_roots<<<unsigned(nrhs), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(*words, norms);
  return trs_device_check(cudaGetLastError(), "adding up the residual of a relaxation");
}

extern "C" trs_status trs_relax_load(const trs_relax_args *a, const trs_relax_vectors *v,
                                     trs_stream stream) {
  auto s = static_cast<cudaStream_t>(stream);
  if (a->nrows == 0) return TRS_SUCCESS;
  dim3 grid(blocks_for(a->nrows * a->block, THREADS), unsigned(a->nrhs));
  if (a->store == TRS_RELAX_DOUBLE)
    v->wide ? load<double, double, double><<<grid, THREADS, 0, s>>>(*a, *v)
            : load<double, double, float><<<grid, THREADS, 0, s>>>(*a, *v);
  else if (a->store == TRS_RELAX_FLOAT)
    v->wide ? load<float, float, double><<<grid, THREADS, 0, s>>>(*a, *v)
            : load<float, float, float><<<grid, THREADS, 0, s>>>(*a, *v);
  else
    v->wide ? load<float, double, double><<<grid, THREADS, 0, s>>>(*a, *v)
            : load<float, double, float><<<grid, THREADS, 0, s>>>(*a, *v);
  return trs_device_check(cudaGetLastError(), "loading right-hand sides");
}

extern "C" trs_status trs_relax_unload(const trs_relax_args *a, const trs_relax_vectors *v,
                                       trs_stream stream) {
  auto s = static_cast<cudaStream_t>(stream);
  if (a->nrows == 0) return TRS_SUCCESS;
  dim3 grid(blocks_for(a->nrows * a->block, THREADS), unsigned(a->nrhs));
  if (a->store == TRS_RELAX_DOUBLE)
    v->wide ? unload<double, double><<<grid, THREADS, 0, s>>>(*a, *v)
            : unload<double, float><<<grid, THREADS, 0, s>>>(*a, *v);
  else
    v->wide ? unload<float, double><<<grid, THREADS, 0, s>>>(*a, *v)
            : unload<float, float><<<grid, THREADS, 0, s>>>(*a, *v);
  return trs_device_check(cudaGetLastError(), "storing solutions");
}
