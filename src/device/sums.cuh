/* sums.cuh - sums in device memory that many blocks of threads add to, in the order of arrival. */
#ifndef TRS_DEVICE_SUMS_CUH
#define TRS_DEVICE_SUMS_CUH

#include "device/kernel.cuh"

namespace trs {

/* Read where atomics act, past the cache of this multiprocessor. */
template <class S>
__device__ inline S load_sum(const S *sum) {
  if constexpr (element<S>::is_complex)
    return {load_relaxed(&sum->re), load_relaxed(&sum->im)};
  else
    return load_relaxed(sum);
}

template <class S>
__device__ inline void add_to(S *sum, S term) {
  if constexpr (element<S>::is_complex) {
    atomicAdd(&sum->re, term.re);
    atomicAdd(&sum->im, term.im);
  } else {
    atomicAdd(sum, term);
  }
}

}  // namespace trs

#endif
