/* kernel.cuh - shared by all kernel files: element types, dispatch by trs_scalar, loads and stores
 * that other blocks see, waits with a limit. */
#ifndef TRS_DEVICE_KERNEL_CUH
#define TRS_DEVICE_KERNEL_CUH

#include <cuda_runtime.h>

#include "device/fault.h"
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

/* ---- Memory that other blocks write or read during the kernel.  Relaxed: a word is never torn, a
 * store becomes visible eventually, and nothing else is ordered.  SYSTEM: visible to other GPUs.
 * ---- */

template <bool SYSTEM = false, class W>
__device__ inline W load_relaxed(const W *p) {
  static_assert(sizeof(W) == 4 || sizeof(W) == 8, "one machine word");
  if constexpr (sizeof(W) == 4) {
    unsigned bits;
    if constexpr (SYSTEM)
      asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(bits) : "l"(p) : "memory");
    else
      asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(bits) : "l"(p) : "memory");
    return *reinterpret_cast<W *>(&bits);
  } else {
    unsigned long long bits;
    if constexpr (SYSTEM)
      asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(bits) : "l"(p) : "memory");
    else
      asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(bits) : "l"(p) : "memory");
    return *reinterpret_cast<W *>(&bits);
  }
}
template <bool SYSTEM = false, class W>
__device__ inline void store_relaxed(W *p, W value) {
  static_assert(sizeof(W) == 4 || sizeof(W) == 8, "one machine word");
  if constexpr (sizeof(W) == 4) {
    unsigned bits = *reinterpret_cast<unsigned *>(&value);
    if constexpr (SYSTEM)
      asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(p), "r"(bits) : "memory");
    else
      asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(bits) : "memory");
  } else {
    unsigned long long bits = *reinterpret_cast<unsigned long long *>(&value);
    if constexpr (SYSTEM)
      asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(p), "l"(bits) : "memory");
    else
      asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(bits) : "memory");
  }
}
/* value = *p if wanted.  The load is predicated, so that several can be in flight. */
template <bool SYSTEM = false, class W>
__device__ inline void load_relaxed_if(bool wanted, const W *p, W &value) {
  static_assert(sizeof(W) == 4 || sizeof(W) == 8, "one machine word");
  if constexpr (sizeof(W) == 4) {
    unsigned &bits = reinterpret_cast<unsigned &>(value);
    if constexpr (SYSTEM)
      asm volatile("{ .reg .pred q; setp.ne.u32 q, %2, 0; @q ld.relaxed.sys.global.u32 %0, [%1]; }"
                   : "+r"(bits)
                   : "l"(p), "r"(unsigned(wanted))
                   : "memory");
    else
      asm volatile("{ .reg .pred q; setp.ne.u32 q, %2, 0; @q ld.relaxed.gpu.global.u32 %0, [%1]; }"
                   : "+r"(bits)
                   : "l"(p), "r"(unsigned(wanted))
                   : "memory");
  } else {
    unsigned long long &bits = reinterpret_cast<unsigned long long &>(value);
    if constexpr (SYSTEM)
      asm volatile("{ .reg .pred q; setp.ne.u32 q, %2, 0; @q ld.relaxed.sys.global.u64 %0, [%1]; }"
                   : "+l"(bits)
                   : "l"(p), "r"(unsigned(wanted))
                   : "memory");
    else
      asm volatile("{ .reg .pred q; setp.ne.u32 q, %2, 0; @q ld.relaxed.gpu.global.u64 %0, [%1]; }"
                   : "+l"(bits)
                   : "l"(p), "r"(unsigned(wanted))
                   : "memory");
  }
}
/* Fences of acquire and release: for a block of threads, for the GPU, for all GPUs and the host. */
__device__ inline void fence_block() { asm volatile("fence.acq_rel.cta;" ::: "memory"); }
__device__ inline void fence_device() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
__device__ inline void fence_system() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }

template <class W>
__device__ inline W load_acquire(const W *p) {
  W value = load_relaxed(p);
  fence_device();
  return value;
}

/* ---- Overlapping launches.  launch_behind lets a kernel start while the previous kernel in the
 * stream still runs (from sm_90 on; an ordinary launch elsewhere).  The kernel calls
 * await_kernel_before before it touches anything that earlier work of the stream may change.
 * ---- */

__device__ inline void let_next_kernel_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
__device__ inline void await_kernel_before() {
  let_next_kernel_start();
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
template <class... P, class... A>
inline cudaError_t launch_behind(bool overlaps, void (*kernel)(P...), dim3 blocks, unsigned threads,
                                 size_t shared_bytes, cudaStream_t stream, const A &...arguments) {
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = overlaps ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, P(arguments)...);
}

/* The GPU's clock. */
__device__ inline unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/* Fetches data that is read once into the second-level cache, and not into the first. */
__device__ inline void prefetch(const void *p) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}

/* ---- Waits.  wait w(fault); while (!ready() && w.goes_on(row)) {}  goes_on returns false once the
 * limit has passed in this or in any other wait.  The caller then continues with its current
 * values, so that every kernel ends. ---- */

/* start: the time when this thread's wait began (0: not yet).  Returns the start, or 0 if the wait
 * has passed the limit. */
__device__ __noinline__ inline unsigned long long look_at_wait(trs_fault *fault, long long row,
                                                               unsigned long long start) {
  const unsigned long long now = nanoseconds();
  volatile trs_fault *record = fault;
  if (record->stalled) return 0;
  if (start == 0) return now;
  if (now - start < record->limit) return start;
  if (atomicExch(&fault->stalled, 1) == 0) record->row = row;
  return 0;
}

/* racecheck records each look at shared memory and falls behind: in a build for it
 * (TRIREME_RACECHECK) waits look rarely. */
__device__ inline void rest_between_looks() {
#ifdef TRS_RACECHECK
  __nanosleep(20000);
#endif
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
    return __all_sync(~0u, start_ != 0);
  }

 private:
  trs_fault *fault_;
  unsigned turns_ = 0;
  unsigned long long start_ = 0;
};

}  // namespace trs

#endif
