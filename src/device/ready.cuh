/* ready.cuh - values that carry their own readiness.  Device code of kernels that wait for values
 * of other blocks of threads, or of other GPUs. */
#ifndef TRS_DEVICE_READY_CUH
#define TRS_DEVICE_READY_CUH

#include "device/kernel.cuh"

namespace trs {

/* ---- A word with all bits set is pending: a NaN that arithmetic does not produce.  One store
 * publishes value and readiness together, so no fence stands between rows. ---- */

/* The upper word of a double decides: no published value has all its bits set. */
__device__ inline bool is_pending(float v) { return __float_as_uint(v) == 0xffffffffu; }
__device__ inline bool is_pending(double v) { return __double2hiint(v) == -1; }
template <class R>
__device__ inline bool is_pending(complex_of<R> v) {
  return is_pending(v.re) || is_pending(v.im);
}

/* A user's NaN may have all bits set; it is stored as another NaN. */
__device__ inline float encode(float v) { return is_pending(v) ? __uint_as_float(0x7fffffffu) : v; }
__device__ inline double encode(double v) {
  return is_pending(v) ? __longlong_as_double(0x7fffffffffffffffll) : v;
}
template <class R>
__device__ inline complex_of<R> encode(complex_of<R> v) {
  return {encode(v.re), encode(v.im)};
}

template <class S>
__device__ inline S pending_value() {
  S v;
  memset(&v, 0xff, sizeof v);
  return v;
}

/* A double complex is two words, each with its own readiness.  SYSTEM: other GPUs write it. */
template <bool SYSTEM = false, class S>
__device__ inline S peek(const S *p) {
  if constexpr (sizeof(S) == 16)
    return {load_relaxed<SYSTEM>(&p->re), load_relaxed<SYSTEM>(&p->im)};
  else
    return load_relaxed<SYSTEM>(p);
}
template <bool SYSTEM = false, class S>
__device__ inline void peek_if(bool wanted, const S *p, S &v) {
  if constexpr (sizeof(S) == 16) {
    load_relaxed_if<SYSTEM>(wanted, &p->re, v.re);
    load_relaxed_if<SYSTEM>(wanted, &p->im, v.im);
  } else if constexpr (element<S>::is_complex) {
    load_relaxed_if<SYSTEM>(wanted, reinterpret_cast<const unsigned long long *>(p),
                            reinterpret_cast<unsigned long long &>(v));
  } else {
    load_relaxed_if<SYSTEM>(wanted, p, v);
  }
}
template <bool SYSTEM = false, class S>
__device__ inline void publish(S *p, S v) {
  if constexpr (sizeof(S) == 16) {
    store_relaxed<SYSTEM>(&p->re, v.re);
    store_relaxed<SYSTEM>(&p->im, v.im);
  } else {
    store_relaxed<SYSTEM>(p, v);
  }
}

/* A wait of the lanes of a warp, which go on together: wait::all_go_on. */
class warp_wait {
 public:
  __device__ explicit warp_wait(trs_fault *fault) : wait_(fault) {}
  __device__ bool goes_on(long long row) { return wait_.all_go_on(row); }

 private:
  wait wait_;
};

}  // namespace trs

#endif
