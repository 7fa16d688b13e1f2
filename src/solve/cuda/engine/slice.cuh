/* slice.cuh - device code for the parts of a slice (analysis/slices.h), shared by the engine's
 * kernels. */
#ifndef TRS_SOLVE_CUDA_ENGINE_SLICE_CUH
#define TRS_SOLVE_CUDA_ENGINE_SLICE_CUH

#include "solve/cuda/engine/engine.h"
#include "solve/cuda/ready.cuh"

namespace trs {

/* ---- Stored values: the system's scalar, or float for double. ---- */

template <class S>
__device__ inline S widen(S v) {
  return v;
}
template <class S>
__device__ inline S widen(float v) {
  return v;
}
template <class S>
__device__ inline S widen(complex_of<float> v) {
  return {v.re, v.im};
}

template <class S>
struct narrower {
  using type = S;
};
template <>
struct narrower<double> {
  using type = float;
};
template <>
struct narrower<complex_of<double>> {
  using type = complex_of<float>;
};

template <class V, class S>
__device__ inline V narrowed(S value) {
  if constexpr (element<S>::is_complex)
    return {typename element<V>::real(value.re), typename element<V>::real(value.im)};
  else
    return V(value);
}

/* by_scalar, with the type of the stored values as second argument. */
template <class F>
inline cudaError_t by_values(trs_scalar scalar, bool float_values, F f) {
  return by_scalar(scalar, [&](auto element) {
    if (float_values) return f(element, typename narrower<decltype(element)>::type{});
    return f(element, element);
  });
}

/* Elements 2^shift apart: x by position.  Where many rows poll the same few x, those that share a
 * line of memory are served one after the other by one part of the second-level cache. */
template <class S>
struct spaced {
  S *first;
  int32_t shift;

  __device__ S *operator+(int32_t position) const { return first + (int64_t(position) << shift); }
  __device__ S &operator[](int32_t position) const { return *(*this + position); }
};

/* The element that lies `position` steps of `bytes` behind p.  The product of two 32-bit numbers
 * and its addition to p are one instruction; a 64-bit product takes four. */
template <class T>
__device__ inline const T *ahead(const T *p, int32_t position, int32_t bytes) {
  return reinterpret_cast<const T *>(reinterpret_cast<const char *>(p) + int64_t(position) * bytes);
}

/* Some entries of a lane. */
template <class S, class V, int U>
struct batch {
  int32_t idx[U];
  V val[U];

  /* Entries k, k + stride, ... below width.  Neighbouring entries are `distance` elements apart. */
  __device__ void load(const int32_t *all_idx, const V *all_val, int k, int stride, int width,
                       int distance) {
#pragma unroll
    for (int u = 0; u < U; u++) {
      int at = k + u * stride;
      idx[u] = -1;
      val[u] = V{};
      if (at < width) {
        idx[u] = __ldg(all_idx + int64_t(at) * distance);
        val[u] = all_val[int64_t(at) * distance];
      }
    }
    await_loads(idx);
  }

  /* The entries at all_idx and all_val and every `step` elements behind them: the u-th if
   * u * stride is below `left`. */
  __device__ void load_next(const int32_t *all_idx, const V *all_val, int left, int stride,
                            int step) {
#pragma unroll
    for (int u = 0; u < U; u++) {
      idx[u] = -1;
      val[u] = V{};
      if (u * stride < left) {
        idx[u] = __ldg(all_idx + u * step);
        val[u] = all_val[u * step];
      }
    }
    await_loads(idx);
  }

  /* sum + entries times x.  Waits for each x; adds in the order of the entries, whatever arrives
   * first. */
  template <bool SYSTEM = false, class X>
  __device__ S add(S sum, const X &x, wait &w, long long row) const {
    S value[U];
    bool missing = expect(value);
    while (missing) {
      request<SYSTEM>(value, x);
      missing = lacks(value);
      if (missing && !w.goes_on(row)) break;
    }
    return sum + products(value);
  }

  /* Marks the x that the entries multiply as pending.  True if there are any. */
  __device__ bool expect(S *value) const {
    bool missing = false;
#pragma unroll
    for (int u = 0; u < U; u++) {
      value[u] = idx[u] >= 0 ? pending_value<S>() : S{};
      missing |= idx[u] >= 0;
    }
    return missing;
  }
  /* Requests all x that are pending, in one round trip. */
  template <bool SYSTEM = false, class X>
  __device__ void request(S *value, const X &x) const {
#pragma unroll
    for (int u = 0; u < U; u++) peek_if<SYSTEM>(is_pending(value[u]), x + idx[u], value[u]);
  }
  __device__ static bool lacks(const S *value) {
    bool missing = false;
#pragma unroll
    for (int u = 0; u < U; u++) missing |= is_pending(value[u]);
    return missing;
  }

  /* The highest x of the lane, the last to be solved; -1: none. */
  __device__ int32_t latest() const {
    int32_t found = idx[0];
#pragma unroll
    for (int u = 1; u < U; u++) found = max(found, idx[u]);
    return found;
  }
  /* Takes the x at this position, and the product with it, out of the sum.  *missing: another x is
   * pending. */
  __device__ S take_out(int32_t position, const S *value, S *others, S *coefficient,
                        bool *missing) const {
    S taken = S{};
    *coefficient = S{};
    *missing = false;
#pragma unroll
    for (int u = 0; u < U; u++) {
      const bool it = position >= 0 && idx[u] == position;
      if (it) taken = value[u], *coefficient = widen<S>(val[u]);
      *missing |= !it && is_pending(value[u]);
      others[u] = it ? S{} : value[u];
    }
    return taken;
  }

  /* The same without waits.  *missing: an x was pending. */
  template <class X>
  __device__ S add_settled(S sum, const X &x, bool *missing) const {
    S value[U];
#pragma unroll
    for (int u = 0; u < U; u++) {
      value[u] = idx[u] >= 0 ? x[idx[u]] : S{};
      *missing |= is_pending(value[u]);
    }
    return sum + products(value);
  }

  /* Two chains of additions.  Unused entries are zero times zero. */
  __device__ S products(const S *value) const {
    static_assert(U % 2 == 0, "entries come in pairs");
    S even = widen<S>(val[0]) * value[0], odd = widen<S>(val[1]) * value[1];
#pragma unroll
    for (int u = 2; u < U; u += 2) {
      even = multiply_add(widen<S>(val[u]), value[u], even);
      odd = multiply_add(widen<S>(val[u + 1]), value[u + 1], odd);
    }
    return even + odd;
  }
};

/* The coefficients of the inverse of row r, one lane's.  The first FIRST are loaded into registers
 * early; those of larger blocks are prefetched into the first-level cache. */
template <class S, int FIRST>
struct coefficients {
  S c[FIRST];

  __device__ void load(const S *inverse, const trs_slice &h, int r) {
    c[0] = inverse[r];
#pragma unroll
    for (int d = 1; d < FIRST; d++) c[d] = pending_value<S>();
    if (h.block == 1) return;
#pragma unroll
    for (int d = 1; d < FIRST; d++) c[d] = one(inverse, h, r, d);
    for (int d = FIRST; d < h.block; d++) {
      int32_t at = trs_inverse_at(&h, r, d);
      if (at >= 0) prefetch_near(inverse + at);
    }
  }

  __device__ static S one(const S *inverse, const trs_slice &h, int r, int d) {
    int32_t at = trs_inverse_at(&h, r, d);
    return at >= 0 ? inverse[at] : pending_value<S>();
  }

  /* c[d], d < FIRST, without a run-time index into registers. */
  __device__ S at(int d) const {
    S found = c[0];
#pragma unroll
    for (int k = 1; k < FIRST; k++)
      if (d == k) found = c[k];
    return found;
  }

  /* x of the lane's row from the residuals of its slice. */
  __device__ S apply(S residual, const S *inverse, const trs_slice &h, int r) const {
    S x = c[0] * residual;
    if (h.block == 1) return x;
    if constexpr (FIRST == TRS_LIGHT_BLOCK) { /* boxes: none is larger; two chains of additions */
      S odd = S{};
#pragma unroll
      for (int d = 1; d < FIRST; d += 2) add(odd, c[d], residual, d << h.log_lanes);
#pragma unroll
      for (int d = 2; d < FIRST; d += 2) add(x, c[d], residual, d << h.log_lanes);
      return x + odd;
    } else {
#pragma unroll
      for (int d = 1; d < FIRST; d++) add(x, c[d], residual, d << h.log_lanes);
      for (int d = FIRST; d < h.block; d += FIRST) {
        S next[FIRST];
#pragma unroll
        for (int e = 0; e < FIRST; e++) next[e] = one(inverse, h, r, d + e);
#pragma unroll
        for (int e = 0; e < FIRST; e++) add(x, next[e], residual, (d + e) << h.log_lanes);
      }
      return x;
    }
  }

 private:
  __device__ static void add(S &x, S coefficient, S residual, int distance) {
    S other = shuffle_up(residual, distance & (WARP - 1));
    if (!is_pending(coefficient)) x = multiply_add(coefficient, other, x);
  }
};

}  // namespace trs

#endif
