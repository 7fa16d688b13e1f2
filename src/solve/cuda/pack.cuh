/* pack.cuh - a pack: 16 bytes of neighbouring right-hand sides, the size of one load; two doubles,
 * four floats. */
#ifndef TRS_SOLVE_CUDA_PACK_CUH
#define TRS_SOLVE_CUDA_PACK_CUH

#include "device/lanes.cuh"
#include "device/ready.cuh"

namespace trs {

template <class S>
struct alignas(16) pack {
  static constexpr int SIZE = 16 / sizeof(S), LOG_SIZE = SIZE == 4 ? 2 : SIZE == 2 ? 1 : 0;
  S of[SIZE];
};

/* Element by element. */
template <class S, class F>
__device__ inline pack<S> each(F f) {
  pack<S> result;
#pragma unroll
  for (int k = 0; k < pack<S>::SIZE; k++) result.of[k] = f(k);
  return result;
}
template <class S>
__device__ inline pack<S> operator+(const pack<S> &a, const pack<S> &b) {
  return each<S>([&](int k) { return a.of[k] + b.of[k]; });
}
template <class S>
__device__ inline pack<S> operator-(const pack<S> &a, const pack<S> &b) {
  return each<S>([&](int k) { return a.of[k] - b.of[k]; });
}
template <class S>
__device__ inline pack<S> multiply_add(S a, const pack<S> &x, const pack<S> &sum) {
  return each<S>([&](int k) { return trs::multiply_add(a, x.of[k], sum.of[k]); });
}
template <class S>
__device__ inline pack<S> encode(const pack<S> &x) {
  return each<S>([&](int k) { return trs::encode(x.of[k]); });
}
template <class S>
__device__ inline pack<S> shuffle_xor(const pack<S> &x, int mask) {
  return each<S>([&](int k) { return trs::shuffle_xor(x.of[k], mask); });
}
template <class S>
__device__ inline bool is_pending(const pack<S> &x) {
  bool any = false;
#pragma unroll
  for (int k = 0; k < pack<S>::SIZE; k++) any |= trs::is_pending(x.of[k]);
  return any;
}

template <class S>
__device__ inline pack<S> pending_pack() {
  return each<S>([](int) { return pending_value<S>(); });
}

/* One load, if wanted, and one store of words that each carry their own readiness. */
#if TRS_GPU_AMD
template <class S>
__device__ inline void peek_if(bool wanted, const pack<S> *p, pack<S> &x) {
  auto *word = reinterpret_cast<unsigned long long *>(&x);
  for (int k = 0; k < 2; k++)
    load_relaxed_if(wanted, reinterpret_cast<const unsigned long long *>(p) + k, word[k]);
}
template <class S>
__device__ inline void publish(pack<S> *p, pack<S> x) {
  const auto *word = reinterpret_cast<const unsigned long long *>(&x);
  for (int k = 0; k < 2; k++) store_relaxed(reinterpret_cast<unsigned long long *>(p) + k, word[k]);
}
#else
#define TRS_LOAD_PACK(name, how)                                                \
  template <class S>                                                            \
  __device__ inline void name(bool wanted, const pack<S> *p, pack<S> &x) {      \
    if constexpr (sizeof(typename element<S>::real) == 8) {                     \
      auto *word = reinterpret_cast<unsigned long long *>(&x);                  \
      asm volatile("{ .reg .pred q; setp.ne.u32 q, %3, 0; @q ld." how           \
                   ".global.v2.u64 {%0, %1}, [%2]; }"                           \
                   : "+l"(word[0]), "+l"(word[1])                               \
                   : "l"(p), "r"(unsigned(wanted))                              \
                   : "memory");                                                 \
    } else {                                                                    \
      auto *word = reinterpret_cast<unsigned *>(&x);                            \
      asm volatile("{ .reg .pred q; setp.ne.u32 q, %5, 0; @q ld." how           \
                   ".global.v4.u32 {%0, %1, %2, %3}, [%4]; }"                   \
                   : "+r"(word[0]), "+r"(word[1]), "+r"(word[2]), "+r"(word[3]) \
                   : "l"(p), "r"(unsigned(wanted))                              \
                   : "memory");                                                 \
    }                                                                           \
  }
TRS_LOAD_PACK(peek_if, "relaxed.gpu")
/* A first look, which the first-level cache may answer.  The load races with stores of words of the
 * same size.  PTX's memory model defines it: each word is either pending or published.  peek_if
 * asks for a pending one again. */
TRS_LOAD_PACK(glance_if, "weak")
#undef TRS_LOAD_PACK

template <class S>
__device__ inline void publish(pack<S> *p, pack<S> x) {
  if constexpr (sizeof(typename element<S>::real) == 8) {
    auto *word = reinterpret_cast<unsigned long long *>(&x);
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(p), "l"(word[0]), "l"(word[1])
                 : "memory");
  } else {
    auto *word = reinterpret_cast<unsigned *>(&x);
    asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(word[0]),
                 "r"(word[1]), "r"(word[2]), "r"(word[3])
                 : "memory");
  }
}
#endif

}  // namespace trs

#endif
