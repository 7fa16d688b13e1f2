/* position.cuh - the position of a vector's diagonal, by bisection: O(log of its length). */
#ifndef TRS_MATRIX_POSITION_CUH
#define TRS_MATRIX_POSITION_CUH

#include "matrix/look.h"

namespace trs {

/* The first position in low .. high whose index is at least i, if indices ascend there; high if
 * there is none. */
__device__ inline int64_t diagonal_position(const trs_device_arrays &A, int64_t i, int64_t low,
                                            int64_t high) {
  if (low == high || A.idx[high - 1] < i) return high;
  if (A.idx[low] >= i) return low;
  return first_not(low, high, [&](int64_t p) { return A.idx[p] < i; });
}

}  // namespace trs

#endif
