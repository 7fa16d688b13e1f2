/* kernel.cuh - shared by all kernel files: element types, dispatch by trs_scalar, waits with a
 * limit. */
#ifndef TRS_DEVICE_KERNEL_CUH
#define TRS_DEVICE_KERNEL_CUH

#include "device/fault.h"
#include "device/gpu.cuh"
#include "trireme.h"

namespace trs {

/* ---- Elements: float, double and these types. ---- */

template <class R>
struct alignas(2 * sizeof(R)) complex_of {
  R re, im;
};

template <class S>
struct element {
  using real = S;
  static constexpr bool is_complex = false;
};
template <class R>
struct element<complex_of<R>> {
  using real = R;
  static constexpr bool is_complex = true;
};

template <class S>
__host__ __device__ inline S zero() {
  return S{};
}
template <class S>
__host__ __device__ inline S one() {
  S s{};
  if constexpr (element<S>::is_complex)
    s.re = 1;
  else
    s = 1;
  return s;
}
template <class S>
__device__ inline S not_a_number() {
  const auto nan = typename element<S>::real(NAN);
  if constexpr (element<S>::is_complex)
    return {nan, nan};
  else
    return nan;
}

template <class R>
__host__ __device__ inline complex_of<R> operator+(complex_of<R> a, complex_of<R> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class R>
__host__ __device__ inline complex_of<R> operator-(complex_of<R> a, complex_of<R> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class R>
__host__ __device__ inline complex_of<R> operator*(complex_of<R> a, complex_of<R> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* sum + a x */
template <class S>
__device__ inline S multiply_add(S a, S x, S sum) {
  if constexpr (element<S>::is_complex) {
    sum.re = fma(a.re, x.re, fma(-a.im, x.im, sum.re));
    sum.im = fma(a.re, x.im, fma(a.im, x.re, sum.im));
    return sum;
  } else {
    return fma(a, x, sum);
  }
}

template <class R>
__device__ inline R reciprocal(R a) {
  return R(1) / a;
}
/* Scaled against overflow (Smith 1962). */
template <class R>
__device__ inline complex_of<R> reciprocal(complex_of<R> a) {
  if (fabs(a.re) >= fabs(a.im)) {
    R ratio = a.im / a.re, scale = R(1) / (a.re + a.im * ratio);
    return {scale, -ratio * scale};
  }
  R ratio = a.re / a.im, scale = R(1) / (a.im + a.re * ratio);
  return {ratio * scale, -scale};
}

template <class R>
__device__ inline R magnitude(R a) {
  return fabs(a);
}
template <class R>
__device__ inline R magnitude(complex_of<R> a) {
  return hypot(a.re, a.im);
}

template <class R>
__device__ inline R largest_part(R a) {
  return fabs(a);
}
template <class R>
__device__ inline R largest_part(complex_of<R> a) {
  return fmax(fabs(a.re), fabs(a.im));
}

/* ---- One source for the four types: by_scalar(scalar, [&](auto s) { using S = decltype(s); ...
 * return cudaGetLastError(); }). ---- */

template <class F>
inline cudaError_t by_scalar(trs_scalar scalar, F f) {
  switch (scalar) {
    case TRS_FLOAT:
      return f(float{});
    case TRS_DOUBLE:
      return f(double{});
    case TRS_SCOMPLEX:
      return f(complex_of<float>{});
    default:
      return f(complex_of<double>{});
  }
}

inline int64_t size_of_scalar(trs_scalar scalar) {
  int64_t size = 0;
  (void)by_scalar(scalar, [&](auto s) {
    size = sizeof s;
    return cudaSuccess;
  });
  return size;
}

/* For arrays that no kernel of the solve writes. */
template <class S>
__device__ inline S read_constant(const S *p) {
  if constexpr (!element<S>::is_complex) {
    return __ldg(p);
  } else if constexpr (sizeof(S) == sizeof(float2)) {
    const float2 parts = __ldg(reinterpret_cast<const float2 *>(p));
    return {parts.x, parts.y};
  } else {
    const double2 parts = __ldg(reinterpret_cast<const double2 *>(p));
    return {parts.x, parts.y};
  }
}

/* ---- Waits.  wait w(fault); while (!ready() && w.goes_on(row)) {}  goes_on returns false once the
 * limit has passed in this or in any other wait.  The caller then continues with its current
 * values, so that every kernel ends. ---- */

/* start: the time when this thread's wait began (0: not yet).  Returns the start, or 0 if the wait
 * has passed the limit. */
__device__ TRS_APART unsigned long long look_at_wait(trs_fault *fault, long long row,
                                                     unsigned long long start) {
  const unsigned long long now = nanoseconds();
  volatile trs_fault *record = fault;
  if (record->stalled) return 0;
  if (start == 0) return now;
  if (now - start < record->limit) return start;
  if (atomicExch(&fault->stalled, 1) == 0) record->row = row;
  return 0;
}

class wait {
 public:
  __device__ explicit wait(trs_fault *fault) : fault_(fault) {}
  __device__ bool goes_on(long long row) {
    rest_between_looks();
    if ((++turns_ & 8191) != 0) return true;
    start_ = look_at_wait(fault_, row, start_);
    return start_ != 0;
  }
  /* The same for the lanes of a warp, which all wait until one of them gives up. */
  __device__ bool all_go_on(long long row) {
    rest_between_looks();
    if ((++turns_ & 8191) != 0) return true;
    start_ = look_at_wait(fault_, row, start_);
    return all_lanes(start_ != 0);
  }

 private:
  trs_fault *fault_;
  unsigned turns_ = 0;
  unsigned long long start_ = 0;
};

}  // namespace trs

#endif
