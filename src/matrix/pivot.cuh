/* pivot.cuh - a diagonal entry as a divisor, judged on the device. */
#ifndef TRS_MATRIX_PIVOT_CUH
#define TRS_MATRIX_PIVOT_CUH

#include "device/kernel.cuh"
#include "matrix/look.h"

namespace trs {

/* By the denominator of the reciprocal (Smith 1962), as in analysis/diagonal_tmpl.c. */
template <class R>
__device__ inline trs_pivot pivot_of(R re, R im) {
  re = fabs(re);
  im = fabs(im);
  const R large = re > im ? re : im, small = re > im ? im : re;
  if (!isfinite(re) || !isfinite(im)) return TRS_PIVOT_NOT_FINITE;
  if (large == 0) return TRS_PIVOT_ZERO;
  const R denominator = large + small * (small / large);
  return isfinite(denominator) && isfinite(1 / denominator) ? TRS_PIVOT_GOOD : TRS_PIVOT_EXTREME;
}

template <class S>
__device__ inline trs_pivot pivot_of(S value) {
  if constexpr (element<S>::is_complex)
    return pivot_of(value.re, value.im);
  else
    return pivot_of(value, S(0));
}

}  // namespace trs

#endif
