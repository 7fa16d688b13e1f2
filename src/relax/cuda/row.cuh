/* row.cuh - device functions that the kernels of relaxation share: storage formats, a row's sum,
 * its diagonal block. */
#ifndef TRS_RELAX_CUDA_ROW_CUH
#define TRS_RELAX_CUDA_ROW_CUH

#include <type_traits>

#include "device/half.cuh"
#include "device/lanes.cuh"
#include "relax/cuda/args.h"
#include "relax/exact.h"

namespace trs {

/* ---- Storage formats, as relax/instantiate.h defines them for the CPU. ---- */

/* Sums and the diagonal have type `sum`.  Products, and the sum of one block's products, may have
 * type `product`. */
template <int STORE>
struct stored {
  using off = float;
  using x = float;
  using sum = double;
  using product = float;
  static constexpr bool scaled = false;
};
template <>
struct stored<TRS_STORE_DOUBLE> {
  using off = double;
  using x = double;
  using sum = double;
  using product = double;
  static constexpr bool scaled = false;
};
template <>
struct stored<TRS_STORE_FLOAT> {
  using off = float;
  using x = float;
  using sum = float;
  using product = float;
  static constexpr bool scaled = false;
};
struct narrow {
  using off = uint16_t;
  using x = float;
  using sum = double;
  using product = float;
  static constexpr bool scaled = true;
};
template <>
struct stored<TRS_STORE_HALF> : narrow {};
template <>
struct stored<TRS_STORE_BFLOAT> : narrow {};

template <int STORE>
__device__ inline typename stored<STORE>::product decode(typename stored<STORE>::off a) {
  if constexpr (STORE == TRS_STORE_HALF)
    return __half2float(__ushort_as_half(a));
  else if constexpr (STORE == TRS_STORE_BFLOAT)
    return __uint_as_float(unsigned(a) << 16);
  else
    return a;
}

/* 2^power, power from -126 to 127 */
__device__ inline float two_to(int power) { return __int_as_float((power + 127) << 23); }

/* by_store(store, [&](auto s) { constexpr int STORE = decltype(s)::value; ... }). */
#pragma nv_exec_check_disable
template <class F>
__host__ __device__ inline cudaError_t by_store(int store, F f) {
  switch (store) {
    case TRS_STORE_MIXED:
      return f(std::integral_constant<int, TRS_STORE_MIXED>{});
    case TRS_STORE_DOUBLE:
      return f(std::integral_constant<int, TRS_STORE_DOUBLE>{});
    case TRS_STORE_FLOAT:
      return f(std::integral_constant<int, TRS_STORE_FLOAT>{});
    case TRS_STORE_HALF:
      return f(std::integral_constant<int, TRS_STORE_HALF>{});
    default:
      return f(std::integral_constant<int, TRS_STORE_BFLOAT>{});
  }
}

/* by_size<LEAST, MOST, OTHER>(block, f) calls f(block) with a constant: sizes LEAST to MOST as they
 * are, OTHER for the rest. */
template <int LEAST, int MOST, int OTHER, class F>
cudaError_t by_size(int block, F f) {
  if constexpr (LEAST > MOST)
    return f(std::integral_constant<int, OTHER>{});
  else
    return block == LEAST ? f(std::integral_constant<int, LEAST>{})
                          : by_size<LEAST + 1, MOST, OTHER>(block, f);
}

/* ---- Asynchronous copies to shared memory ---- */

#ifdef TRS_GPU_PLAIN
template <class S>
__device__ inline void copy_async(S *shared, const S *global) {
  *shared = *global;
}
__device__ inline void commit_copies() {}
#else
template <class S>
__device__ inline void copy_async(S *shared, const S *global) {
  auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(global),
               "n"(int(sizeof(S)))
               : "memory");
}
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
#endif
/* Waits for all copies of the warp but the LEFT latest. */
template <int LEFT>
__device__ inline void await_copies() {
#ifndef TRS_GPU_PLAIN
  asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
#endif
  __syncwarp();
}

/* ---- The lanes of a row.  Lane first + i has component i of its block row.  All lanes of the warp
 * call these functions; lanes without a row pass any readable address. ---- */

/* B: the block size if known at compile time, else 0. */
template <int B>
struct lanes {
  int b, i, first, slot; /* slot: index among the groups of b lanes */
  __device__ lanes(int block, int lane)
      : b(B ? B : block), i(lane % b), first(lane - i), slot(lane / b) {}
};

/* D^-1 y, from the factors of D. */
template <int B, class S>
__device__ inline S solve_diagonal(const lanes<B> &l, const S *d, const uint8_t *pivot, S y) {
  const int b = l.b;
  S z = shuffle(y, l.first + pivot[l.i]);
#pragma unroll
  for (int j = 0; j < b - 1; j++) {
    S zj = shuffle(z, l.first + j);
    if (l.i > j) z = fma(-d[j * b + l.i], zj, z);
  }
#pragma unroll
  for (int j = b - 1; j >= 0; j--) {
    if (l.i == j) z *= d[j * b + j];
    S zj = shuffle(z, l.first + j);
    if (l.i < j) z = fma(-d[j * b + l.i], zj, z);
  }
  return z;
}

/* Component pivot[i] of D x in lane i. */
template <int B, class S>
__device__ inline S multiply_diagonal(const lanes<B> &l, const S *d, S x) {
  const int b = l.b;
  S u = x / d[l.i * b + l.i];
  for (int j = 1; j < b; j++) {
    S xj = shuffle(x, l.first + j);
    if (l.i < j) u = fma(d[j * b + l.i], xj, u);
  }
  S sum = u;
  for (int j = 0; j < b - 1; j++) {
    S uj = shuffle(u, l.first + j);
    if (l.i > j) sum = fma(d[j * b + l.i], uj, sum);
  }
  return sum;
}

/* The sum of the squares of a row's components, in every lane of the row: added in component order,
 * and zero only if all components are. */
template <int B>
__device__ inline double add_squares(const lanes<B> &l, double e) {
  double sum = 0;
  for (int j = 0; j < l.b; j++) {
    const double other = shuffle(e, l.first + j);
    sum = fma(other, other, sum);
    if (sum == 0 && other != 0) sum = TRS_EXACT_LEAST;
  }
  return sum;
}

/* words: of an exact sum. */
__device__ inline void add_exactly(uint64_t *words, double number) {
  uint64_t low[3];
  const int at = trs_exact_digits(number, low);
  for (int k = 0; k < 3; k++)
    if (low[k])
      atomicAdd(reinterpret_cast<unsigned long long *>(words + at + k),
                static_cast<unsigned long long>(low[k]));
}
/* Adds the words of a block of threads to the total. */
__device__ inline void join_exactly(uint64_t *all, const uint64_t *words) {
  __syncthreads();
  for (unsigned k = threadIdx.x; k < TRS_EXACT_WORDS; k += blockDim.x)
    if (words[k])
      atomicAdd(reinterpret_cast<unsigned long long *>(all + k),
                static_cast<unsigned long long>(words[k]));
}

/* Moves *x by the fraction omega towards z. */
template <class S, class X>
__device__ inline void relax(X *x, S z, double omega) {
  *x = omega == 1 ? X(z) : X(S(*x) + S(omega) * (z - S(*x)));
}

}  // namespace trs

#endif
