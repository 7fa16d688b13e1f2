/* eliminate.cuh - the kernel of gpu.cu.  tests/ run it on a host, with emulated threads.
 *
 * A group of lanes takes a row: entries of A come into shared memory, steps change them there in
 * the order of the CPU, and the row leaves as L and U.  Lanes read the values of as many steps at
 * once, some batches ahead.  Operations are those of the CPU, none fused: the bits are the same.
 * Blocks take slices by ticket in the order of the levels, and rows wait for single values, so that
 * one launch does all.  O(steps) reads, mostly from L2. */
#ifndef TRS_FACTOR_ELIMINATE_CUH
#define TRS_FACTOR_ELIMINATE_CUH

#include "device/lanes.cuh"
#include "device/ready.cuh"
#include "factor/gpu.h"

namespace trs {

/* ---- The arithmetic of ilu0_tmpl.c and ic0_tmpl.c ---- */

__device__ inline float times(float a, float b) { return __fmul_rn(a, b); }
__device__ inline double times(double a, double b) { return __dmul_rn(a, b); }
__device__ inline float plus(float a, float b) { return __fadd_rn(a, b); }
__device__ inline double plus(double a, double b) { return __dadd_rn(a, b); }
__device__ inline float minus(float a, float b) { return __fsub_rn(a, b); }
__device__ inline double minus(double a, double b) { return __dsub_rn(a, b); }
__device__ inline float over(float a, float b) { return __fdiv_rn(a, b); }
__device__ inline double over(double a, double b) { return __ddiv_rn(a, b); }
__device__ inline float root_of(float a) { return __fsqrt_rn(a); }
__device__ inline double root_of(double a) { return __dsqrt_rn(a); }

template <class R>
__device__ inline complex_of<R> times(complex_of<R> a, complex_of<R> b) {
  return {minus(times(a.re, b.re), times(a.im, b.im)), plus(times(a.re, b.im), times(a.im, b.re))};
}
template <class R>
__device__ inline complex_of<R> minus(complex_of<R> a, complex_of<R> b) {
  return {minus(a.re, b.re), minus(a.im, b.im)};
}
/* As trs_div_z in base/scalar.h. */
template <class R>
__device__ inline complex_of<R> over(complex_of<R> a, complex_of<R> b) {
  if (fabs(b.re) >= fabs(b.im)) {
    const R ratio = over(b.im, b.re), scale = plus(b.re, times(b.im, ratio));
    return {over(plus(a.re, times(a.im, ratio)), scale),
            over(minus(a.im, times(a.re, ratio)), scale)};
  }
  const R ratio = over(b.re, b.im), scale = plus(times(b.re, ratio), b.im);
  return {over(plus(times(a.re, ratio), a.im), scale),
          over(minus(times(a.im, ratio), a.re), scale)};
}

template <class S>
__device__ inline S conjugate_of(S v) {
  if constexpr (element<S>::is_complex) v.im = -v.im;
  return v;
}
template <class S>
__device__ inline typename element<S>::real real_of(S v) {
  if constexpr (element<S>::is_complex)
    return v.re;
  else
    return v;
}
template <class S>
__device__ inline bool is_zero(S v) {
  if constexpr (element<S>::is_complex)
    return v.re == 0 && v.im == 0;
  else
    return v == 0;
}
/* Its absolute value is finite. */
template <class S>
__device__ inline bool is_finite(S v) {
  return isfinite(magnitude(v));
}
template <class S>
__device__ inline bool has_finite_parts(S v) {
  if constexpr (element<S>::is_complex)
    return isfinite(v.re) && isfinite(v.im);
  else
    return isfinite(v);
}

/* A diagonal entry of the shifted matrix, rounded once as in factor/shift.c. */
template <class S>
__device__ inline S scaled(S v, double scale) {
  using R = typename element<S>::real;
  if constexpr (element<S>::is_complex)
    return {R(__dmul_rn(scale, double(v.re))), R(__dmul_rn(scale, double(v.im)))};
  else
    return R(__dmul_rn(scale, double(v)));
}

/* ---- A group's row ---- */

template <class S>
__device__ inline unsigned char *block_memory() {
  extern __shared__ __align__(16) unsigned char block_shared[];
  return block_shared;
}

template <class S>
struct incomplete_row {
  static constexpr unsigned LANES = 32;

  const trs_incomplete_args &a;
  const S *read;                   /* what rows read of each other */
  int lanes, lane, first;          /* of the group; within it; the group's first lane in the warp */
  int64_t row;                     /* -1: none */
  int64_t begin, L_begin, U_begin; /* the row's first entry in from, L and U */
  int count, diagonal;
  S *x;

  __device__ incomplete_row(const trs_incomplete_args &args, int64_t slice)
      : a(args),
        read(static_cast<const S *>(args.cholesky ? args.L : args.U)),
        lanes(1 << a.log_lanes),
        lane(int(threadIdx.x) & (lanes - 1)),
        first(int(threadIdx.x % LANES) - lane),
        row(-1),
        begin(0),
        L_begin(0),
        U_begin(0),
        count(0),
        diagonal(0),
        x(nullptr) {
    const int groups = int(LANES) >> a.log_lanes, group = first >> a.log_lanes;
    if (slice < a.slices) row = a.row[slice * groups + group];
    if (row < 0) return;
    L_begin = a.L_ptr[row];
    U_begin = a.U_ptr[row];
    begin = a.cholesky ? L_begin : L_begin + U_begin;
    const int below = int(a.L_ptr[row + 1] - L_begin);
    count = a.cholesky ? below : below + int(a.U_ptr[row + 1] - U_begin);
    diagonal = a.cholesky ? below - 1 : below;
    const int warp = int(threadIdx.x / LANES);
    if (count <= a.room)
      x = reinterpret_cast<S *>(block_memory<S>() + TRS_INCOMPLETE_HEAD) +
          (int64_t(warp) * groups + group) * a.room;
    else
      x = static_cast<S *>(a.scratch) + begin;
  }

  /* ---- From A ---- */

  __device__ S given(int e) const {
    const S *A = static_cast<const S *>(a.A);
    if (!a.from) return A[begin + e];
    const int64_t from = a.from[begin + e];
    if (from >= 0) return A[from];
    return from == TRS_INCOMPLETE_NONE ? S{} : conjugate_of(A[TRS_INCOMPLETE_MIRRORED - from]);
  }

  __device__ void take() const {
    for (int e = lane; e < count; e += lanes) {
      S v = given(e);
      if (e == diagonal) {
        if constexpr (element<S>::is_complex)
          if (a.real_diagonal) v.im = 0;
        if (!(real_of(v) > 0)) note(&a.found->start, TRS_INCOMPLETE_ZERO);
        if (a.scale != 1) v = scaled(v, a.scale);
      }
      x[e] = v;
    }
    __syncwarp();
  }

  __device__ void note(unsigned long long *word, int kind) const {
    atomicMin(word, (unsigned long long)row * TRS_INCOMPLETE_KINDS + unsigned(kind));
  }

  /* ---- Steps.  All lanes of the warp go through them together. ---- */

  struct batch {
    trs_incomplete_step step;
    S value;
    bool there;
  };

  /* Values are asked for AHEAD batches before their use, and steps as many before them. */
  static constexpr int AHEAD = 3;

  __device__ batch read_steps(const trs_incomplete_step *steps, int k, int end) const {
    batch b = {{0, 0}, S{}, k + lane < end};
    if (b.there) b.step = steps[k + lane];
    return b;
  }

  __device__ void ask(batch &b) const { peek_if(b.there, read + b.step.from, b.value); }

  __device__ void await(batch &b) const {
    warp_wait w(&a.found->fault);
    while (__any_sync(ALL_LANES, b.there && is_pending(b.value)) && w.goes_on(row))
      peek_if(b.there && is_pending(b.value), read + b.step.from, b.value);
  }

  /* Divisions of a batch take turns, each before the products with its quotient.  Quotients of
   * entries as they came from A are known at once. */
  __device__ void apply(const batch &b, S &multiplier) const {
    const bool divides = b.there && b.step.at < 0;
    const bool changed = divides && (~b.step.at & TRS_INCOMPLETE_CHANGED);
    const int at = b.step.at < 0 ? ~b.step.at & ~TRS_INCOMPLETE_CHANGED : b.step.at;
    const unsigned mine = ~0u >> (LANES - unsigned(lanes)) << first;
    unsigned divisions = __ballot_sync(ALL_LANES, divides) & mine;
    const int turn = __popc(divisions >> first & ((2u << lane) - 1u));
    const int turns = int(__reduce_max_sync(ALL_LANES, unsigned(__popc(divisions))));
    S own = S{};
    if (divides && !changed) own = quotient(x[at], b.value);
    for (int t = 0; t <= turns; t++) {
      if (t > 0) {
        if (divides && turn == t) {
          if (changed) own = quotient(x[at], b.value);
          x[at] = own;
          if (a.cholesky) x[diagonal] = minus(x[diagonal], times(own, conjugate_of(own)));
        }
        const int from = divisions ? __ffs(int(divisions)) - 1 : 0;
        const S next = shuffle(own, from);
        if (divisions) multiplier = next;
        divisions &= divisions - 1;
      }
      if (b.there && !divides && turn == t)
        x[at] = minus(x[at], times(multiplier, a.cholesky ? conjugate_of(b.value) : b.value));
      __syncwarp();
    }
  }

  __device__ S quotient(S v, S pivot) const {
    if constexpr (element<S>::is_complex) {
      if (a.cholesky) return {over(v.re, pivot.re), over(v.im, pivot.re)};
    }
    return over(v, pivot);
  }

  __device__ void eliminate() const {
    const int64_t start = row < 0 ? 0 : a.step_ptr[row];
    const int end = row < 0 ? 0 : int(a.step_ptr[row + 1] - start);
    const int most = int(__reduce_max_sync(ALL_LANES, unsigned(end)));
    const trs_incomplete_step *steps = a.step + start;
    S multiplier = S{};
    batch near[AHEAD], far[AHEAD];
#pragma unroll
    for (int r = 0; r < AHEAD; r++) near[r] = read_steps(steps, r * lanes, end);
#pragma unroll
    for (int r = 0; r < AHEAD; r++) {
      ask(near[r]);
      far[r] = read_steps(steps, (AHEAD + r) * lanes, end);
    }
    for (int k = 0; k < most;) {
#pragma unroll
      for (int r = 0; r < AHEAD; r++, k += lanes) {
        if (k >= most) break;
        await(near[r]);
        const batch now = near[r];
        near[r] = far[r];
        ask(near[r]);
        far[r] = read_steps(steps, k + 2 * AHEAD * lanes, end);
        apply(now, multiplier);
      }
    }
  }

  /* ---- To L and U ---- */

  __device__ void judge(S pivot) const {
    if (!is_finite(pivot))
      note(&a.found->pivot, TRS_INCOMPLETE_NOT_FINITE);
    else if (a.cholesky ? !(real_of(pivot) > 0) : is_zero(pivot))
      note(&a.found->pivot, TRS_INCOMPLETE_ZERO);
  }

  __device__ S root(S square) const {
    S made = S{};
    if constexpr (element<S>::is_complex)
      made.re = root_of(square.re);
    else
      made = root_of(square);
    return made;
  }

  /* Values that others wait for come first. */
  __device__ void give() const {
    S *L = static_cast<S *>(a.L), *U = static_cast<S *>(a.U);
    for (int e = lane; e < count; e += lanes)
      if (a.cholesky)
        publish(L + L_begin + e, encode(e == diagonal ? root(x[e]) : x[e]));
      else if (e >= diagonal)
        publish(U + U_begin + (e - diagonal), encode(x[e]));
    for (int e = lane; e < count; e += lanes) {
      const bool pivot = e == diagonal, below = a.cholesky || e < diagonal;
      const S v = a.cholesky && pivot ? root(x[e]) : x[e];
      if (pivot) judge(x[e]);
      if (!has_finite_parts(v)) note(below ? &a.found->L : &a.found->U, TRS_INCOMPLETE_NOT_FINITE);
      if (a.cholesky)
        U[a.mirror[L_begin + e]] = conjugate_of(v);
      else if (below)
        L[L_begin + e] = v;
    }
  }
};

__device__ inline int64_t take_slices(trs_incomplete_found *found) {
  auto *ticket = reinterpret_cast<unsigned *>(block_memory<float>());
  if (threadIdx.x == 0) *ticket = atomicAdd(&found->ticket, 1u);
  __syncthreads();
  return int64_t(*ticket) * TRS_INCOMPLETE_WARPS;
}

template <class S>
__global__ void __launch_bounds__(32 * TRS_INCOMPLETE_WARPS)
    incomplete(const __grid_constant__ trs_incomplete_args a) {
  const int64_t slice = take_slices(a.found) + threadIdx.x / 32;
  const incomplete_row<S> r(a, slice);
  r.take();
  r.eliminate();
  r.give();
}

}  // namespace trs

#endif
