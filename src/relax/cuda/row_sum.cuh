/* row_sum.cuh - the product of a block row's off-diagonal blocks with x, by the lanes of a warp.
 *
 * The blocks of a block row are column-major and contiguous.  A group of b lanes takes a column of
 * a block, one lane per element.  One row per warp (W21): the groups take the columns of one block,
 * 25 lanes for 5 x 5, then those of the next block; their sums are added at the end.  Six rows per
 * warp (W21): each group has its own row and takes all its columns in turn. */
#ifndef TRS_RELAX_CUDA_ROW_SUM_CUH
#define TRS_RELAX_CUDA_ROW_SUM_CUH

#include "relax/cuda/row.cuh"

namespace trs {

/* Groups of a warp that work: on the columns of one block, or on a row each. */
template <bool SIX>
__device__ inline int groups_of(int b) {
  const int fit = int(WARP) / b;
  return SIX || fit < b ? fit : b;
}

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

/* The sum of row p: complete in every lane of group 0 (one row per warp), or of its own group. */
template <int STORE, int B, bool SIX>
__device__ inline typename stored<STORE>::sum sum_row(const trs_relax_args &a, const lanes<B> &l,
                                                      int64_t p, bool works,
                                                      const typename stored<STORE>::x *x) {
  using sum = typename stored<STORE>::sum;
  const int groups = groups_of<SIX>(l.b);
  turns t = {a.ptr[p], 0, SIX ? l.b : (l.b + groups - 1) / groups, SIX ? 0 : l.slot,
             SIX ? 1 : groups};
  if (works) t.count = int(a.ptr[p + 1] - t.block) * t.a_block;
  const sum mine = row_sum<STORE, B>(a, l, t, x).total();
  if constexpr (SIX) {
    return mine;
  } else {
    sum total = 0;
    for (int g = 0; g < groups; g++) total += shuffle(mine, g * l.b + l.i);
    return total;
  }
}

/* The position of a lane's row, and whether the lane has one. */
template <int B, bool SIX>
struct place {
  lanes<B> l;
  int64_t p;
  bool works, stores; /* works: the lane adds to a sum; stores: it has a component of x */
  __device__ place(int block, int64_t first, int64_t end) : l(block, int(threadIdx.x % WARP)) {
    const int groups = groups_of<SIX>(l.b), slot = l.slot < groups ? l.slot : groups - 1;
    p = SIX ? first + slot : first;
    works = p < end && l.slot < groups;
    stores = SIX ? works : p < end && l.slot == 0;
    if (p >= end) p = end - 1;
  }
};

}  // namespace trs

#endif
