/* vectors.cu - relaxation's norms of r - A x for blocks by rows, and the caller's vectors: loading
 * b and x in the order of positions, and storing x. */
#include "relax/cuda/row_sum.cuh"

namespace {

using namespace trs;

constexpr int THREADS = 256, WARPS = THREADS / int(WARP);

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
    const place<0> at(b, first, end);
    const lanes<0> &l = at.l;
    sum y = sum_row<STORE>(a, l, at.p, at.works, x);
    const sum *d = static_cast<const sum *>(a.diagonal) + at.p * b * b;
    sum z = multiply_diagonal(l, d, sum(x[at.p * a.pitch + l.i]));
    const int i = a.pivot[at.p * b + l.i];
    const double square =
        add_squares(l, double(r[at.p * b + i]) - double(shuffle(y, l.first + i)) - z);
    if (at.works && l.i == 0) add_exactly(words, square);
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

__device__ inline int64_t place_of(const int32_t *perm, int64_t row) {
  return perm ? perm[row] : row;
}

/* Notes the largest |value| of a warp, all of whose lanes call: NaN as the largest of all. */
__device__ inline void note(uint64_t *most, double value) {
  uint64_t bits = uint64_t(__double_as_longlong(fabs(value)));
  for (int k = int(WARP) / 2; k > 0; k /= 2) {
    const uint64_t other = shuffle_xor(bits, k);
    bits = other > bits ? other : bits;
  }
  if (threadIdx.x % WARP == 0 && bits > *static_cast<volatile uint64_t *>(most))
    atomicMax(reinterpret_cast<unsigned long long *>(most), static_cast<unsigned long long>(bits));
}

template <class X, class S, class V>
__global__ void __launch_bounds__(THREADS)
    load(const __grid_constant__ trs_relax_args a, const __grid_constant__ trs_relax_vectors v) {
  const int64_t e = int64_t(blockIdx.x) * THREADS + threadIdx.x, c = blockIdx.y;
  const bool there = e < a.nrows * a.block;
  const int64_t p = e / a.block, i = e - p * a.block;
  const int64_t from = there ? int64_t(a.row[p]) * a.block + i : 0;
  const V b =
      there ? static_cast<const V *>(v.b)[place_of(v.b_perm, from) * v.b_row + c * v.b_col] : V(0);
  if (a.most) note(a.most + 2 * c, double(b));
  if (!there) return;
  static_cast<S *>(a.r)[c * a.r_stride + e] = S(b);
  X &x = static_cast<X *>(a.x)[c * a.x_stride + p * a.pitch + i];
  x = v.keep ? X(static_cast<const V *>(v.x)[place_of(v.x_perm, from) * v.x_row + c * v.x_col])
             : X(0);
}

template <class X, class V>
__global__ void __launch_bounds__(THREADS)
    unload(const __grid_constant__ trs_relax_args a, const __grid_constant__ trs_relax_vectors v) {
  const int64_t e = int64_t(blockIdx.x) * THREADS + threadIdx.x, c = blockIdx.y;
  const bool there = e < a.nrows * a.block;
  const int64_t p = e / a.block, i = e - p * a.block;
  const X x = there ? static_cast<const X *>(a.x)[c * a.x_stride + p * a.pitch + i] : X(0);
  if (a.most) note(a.most + 2 * c + 1, double(x));
  if (!there) return;
  const int64_t to = int64_t(a.row[p]) * a.block + i;
  static_cast<V *>(v.x)[place_of(v.x_perm, to) * v.x_row + c * v.x_col] = V(x);
}

__global__ void __launch_bounds__(THREADS)
    find_loss(uint64_t *most, int nrhs, double needed, trs_relax_lost *lost) {
  for (int c = int(threadIdx.x); c < nrhs; c += THREADS) {
    const trs_relax_range r = {__longlong_as_double(int64_t(most[2 * c])),
                               __longlong_as_double(int64_t(most[2 * c + 1])), 0, needed};
    const int loss = trs_relax_judge(&r);
    most[2 * c] = most[2 * c + 1] = 0;
    if (loss && atomicCAS(&lost->loss, 0, loss) == 0) lost->b = r.b;
  }
}

unsigned blocks_for(int64_t count, int64_t each) {
  return static_cast<unsigned>((count + each - 1) / each);
}

}  // namespace

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
  if (a->store == TRS_STORE_DOUBLE)
    v->wide ? load<double, double, double><<<grid, THREADS, 0, s>>>(*a, *v)
            : load<double, double, float><<<grid, THREADS, 0, s>>>(*a, *v);
  else if (a->store == TRS_STORE_FLOAT)
    v->wide ? load<float, float, double><<<grid, THREADS, 0, s>>>(*a, *v)
            : load<float, float, float><<<grid, THREADS, 0, s>>>(*a, *v);
  else
    v->wide ? load<float, double, double><<<grid, THREADS, 0, s>>>(*a, *v)
            : load<float, double, float><<<grid, THREADS, 0, s>>>(*a, *v);
  return trs_device_check(cudaGetLastError(), "loading right-hand sides");
}

extern "C" trs_status trs_relax_find_loss(const trs_relax_args *a, double needed,
                                          trs_relax_lost *lost, trs_stream stream) {
  find_loss<<<1, THREADS, 0, static_cast<cudaStream_t>(stream)>>>(a->most, a->nrhs, needed, lost);
  return trs_device_check(cudaGetLastError(), "checking the range of x");
}

extern "C" trs_status trs_relax_unload(const trs_relax_args *a, const trs_relax_vectors *v,
                                       trs_stream stream) {
  auto s = static_cast<cudaStream_t>(stream);
  if (a->nrows == 0) return TRS_SUCCESS;
  dim3 grid(blocks_for(a->nrows * a->block, THREADS), unsigned(a->nrhs));
  if (a->store == TRS_STORE_DOUBLE)
    v->wide ? unload<double, double><<<grid, THREADS, 0, s>>>(*a, *v)
            : unload<double, float><<<grid, THREADS, 0, s>>>(*a, *v);
  else
    v->wide ? unload<float, double><<<grid, THREADS, 0, s>>>(*a, *v)
            : unload<float, float><<<grid, THREADS, 0, s>>>(*a, *v);
  return trs_device_check(cudaGetLastError(), "storing solutions");
}
