/* row_sum.cuh - the product of a block row's off-diagonal blocks with x, by the lanes of a warp.
 *
 * The blocks of a block row are column-major and contiguous.  A group of b lanes takes a column of
 * a block, one lane per element.  Each group has a row, six of 5 x 5 in a warp of 32, and takes all
 * its columns in turn (W21). */
#ifndef TRS_RELAX_CUDA_ROW_SUM_CUH
#define TRS_RELAX_CUDA_ROW_SUM_CUH

#include "relax/cuda/row.cuh"

namespace trs {

/* Turn t of a lane is column first + (t % a_block) * step of block t / a_block. */
struct turns {
  int64_t block; /* the first of the row */
  int count, a_block, first, step;
};

template <int STORE, int B>
class row_sum {
  using T = stored<STORE>;
  using off = typename T::off;
  using sum = typename T::sum;
  using product = typename T::product;
  static constexpr int BATCH = 4; /* turns whose elements are loaded together */

 public:
  __device__ row_sum(const trs_relax_args &a, const lanes<B> &l, const turns &t,
                     const typename T::x *x)
      : idx_(a.idx + t.block), power_(a.power + t.block), x_(x), pitch_(a.pitch), b_(l.b), t_(t) {
    off_ = static_cast<const off *>(a.off) + t.block * b_ * b_ + l.i;
  }

  __device__ sum total() const {
    sum total = 0;
    for (int t = 0; t < t_.count; t += BATCH) {
      off v[BATCH];
      product x[BATCH];
#pragma unroll
      for (int u = 0; u < BATCH; u++)
        v[u] = there(t + u) ? off_[int64_t(block(t + u) * b_ + column(t + u)) * b_] : off(0);
#pragma unroll
      for (int u = 0; u < BATCH; u++)
        x[u] = there(t + u) ? x_[int64_t(idx_[block(t + u)]) * pitch_ + column(t + u)] : 0;
#pragma unroll
      for (int u = 0; u < BATCH; u++) add(total, t + u, v[u], x[u]);
    }
    return total;
  }

 private:
  const off *off_;
  const int32_t *idx_;
  const int8_t *power_;
  const typename T::x *x_;
  int pitch_, b_;
  turns t_;

  __device__ int block(int t) const { return t / t_.a_block; }
  __device__ int column(int t) const { return t_.first + t % t_.a_block * t_.step; }
  __device__ bool there(int t) const { return t < t_.count && column(t) < b_; }

  /* Columns past the row's end are omitted, because 0 times infinity would be NaN. */
  __device__ void add(sum &total, int t, off v, product x) const {
    if (!there(t)) return;
    if constexpr (T::scaled)
      total = fma(sum(decode<STORE>(v) * x), sum(two_to(power_[block(t)])), total);
    else
      total = fma(sum(decode<STORE>(v)), sum(x), total);
  }
};

/* The sum of row p, in every lane of its group. */
template <int STORE, int B>
__device__ inline typename stored<STORE>::sum sum_row(const trs_relax_args &a, const lanes<B> &l,
                                                      int64_t p, bool works,
                                                      const typename stored<STORE>::x *x) {
  turns t = {a.ptr[p], 0, l.b, 0, 1};
  if (works) t.count = int(a.ptr[p + 1] - t.block) * l.b;
  return row_sum<STORE, B>(a, l, t, x).total();
}

/* The position of a lane's row, and whether the lane has one. */
template <int B>
struct place {
  lanes<B> l;
  int64_t p;
  bool works; /* the lane has a component of x */
  __device__ place(int block, int64_t first, int64_t end) : l(block, int(threadIdx.x % WARP)) {
    const int groups = int(WARP) / l.b;
    p = first + (l.slot < groups ? l.slot : groups - 1);
    works = p < end && l.slot < groups;
    if (p >= end) p = end - 1;
  }
};

}  // namespace trs

#endif
