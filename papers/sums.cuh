/* sums.cuh - sums in device memory that many blocks of threads add to, in the order of arrival.
 * SYSTEM: other GPUs add and read too. */
#ifndef TRS_PAPERS_SUMS_CUH
#define TRS_PAPERS_SUMS_CUH

#include "device/kernel.cuh"

namespace trs {

/* Read where atomics act, past the cache of this multiprocessor. */
template <bool SYSTEM = false, class S>
__device__ inline S load_sum(const S *sum) {
  if constexpr (element<S>::is_complex)
    return {load_relaxed<SYSTEM>(&sum->re), load_relaxed<SYSTEM>(&sum->im)};
  else
    return load_relaxed<SYSTEM>(sum);
}

template <bool SYSTEM = false, class S>
__device__ inline void add_to(S *sum, S term) {
  if constexpr (element<S>::is_complex) {
    add_to<SYSTEM>(&sum->re, term.re);
    add_to<SYSTEM>(&sum->im, term.im);
  } else if constexpr (SYSTEM) {
    atomicAdd_system(sum, term);
  } else {
    atomicAdd(sum, term);
  }
}

}  // namespace trs

#endif
