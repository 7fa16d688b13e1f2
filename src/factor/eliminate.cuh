/* eliminate.cuh - the kernel of gpu.cu.  tests/ run it on a host, with emulated threads.
 *
 * A group of lanes takes a row: entries of A come into shared memory, steps change them there in
 * the order of the CPU, and the row leaves as L and U.  Lanes read the values of as many steps at
 * once, some batches ahead.  Steps of a batch that do not depend on each other are done at once.
 * Operations are those of the CPU, none fused: the bits are the same.
 *
 * IC(0) goes by the rows of U = L^H, that is by columns of L.  An entry takes the same products in
 * the same order as by rows of L.  All products with one multiplier read one earlier row of U, so
 * they do not wait for later rows.  In shared memory a row has the numbers of L.
 *
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
        read(static_cast<const S *>(args.U)),
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
    begin = a.cholesky ? U_begin : L_begin + U_begin;
    diagonal = a.cholesky ? 0 : int(a.L_ptr[row + 1] - L_begin);
    count = diagonal + int(a.U_ptr[row + 1] - U_begin);
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

  __device__ static void note(unsigned long long *word, int kind, int64_t of_row) {
    atomicMin(word, (unsigned long long)of_row * TRS_INCOMPLETE_KINDS + unsigned(kind));
  }
  __device__ void note(unsigned long long *word, int kind) const { note(word, kind, row); }

  /* ---- Steps.  All lanes of the warp go through them together. ---- */

  struct batch {
    trs_incomplete_step step;
    S value;
    bool there;
  };

  /* Values are asked for AHEAD batches before their use, and steps as many before them. */
  static constexpr int AHEAD = 3;

  __device__ batch read_steps(const trs_incomplete_step *steps, int k, int end) const {
    batch b = {{TRS_INCOMPLETE_IDLE, 0}, S{}, false};
    if (k + lane < end) b.step = steps[k + lane];
    b.there = b.step.from != TRS_INCOMPLETE_IDLE;
    return b;
  }

  __device__ void ask(batch &b) const { peek_if(b.there, read + b.step.from, b.value); }

  __device__ void await(batch &b) const {
    warp_wait w(&a.found->fault);
    while (__any_sync(ALL_LANES, b.there && is_pending(b.value)) && w.goes_on(row))
      peek_if(b.there && is_pending(b.value), read + b.step.from, b.value);
  }

  /* The steps of a turn depend on those of earlier turns only.  multiplier: of the last multiplier
   * step so far. */
  __device__ void apply(const batch &b, S &multiplier) const {
    const auto what = unsigned(b.step.what);
    const bool leads = b.there && (what & TRS_INCOMPLETE_LEADS), follows = b.there && !leads;
    const int turn = int(what >> TRS_INCOMPLETE_ENTRY_BITS & (TRS_INCOMPLETE_MOST_LANES - 1)),
              at = int(what & (TRS_INCOMPLETE_MOST_ROW - 1));
    const unsigned mine = ~0u >> (LANES - unsigned(lanes)) << first;
    const unsigned leaders = __ballot_sync(ALL_LANES, leads) & mine,
                   before = leaders & ((1u << (first + lane)) - 1u);
    const int turns = int(__reduce_max_sync(ALL_LANES, unsigned(b.there ? turn : 0)));
    const int leader = before ? last_of(before) : first + lane;
    S own = b.value;
    for (int t = 0; t <= turns; t++) {
      if (leads && turn == t) {
        if (a.cholesky) {
          x[at] = minus(x[at], times(conjugate_of(own), own));
        } else {
          own = over(x[at], b.value);
          x[at] = own;
        }
      }
      const S led = shuffle(own, leader);
      if (follows && turn == t) {
        const S m = before ? led : multiplier;
        x[at] = minus(x[at], a.cholesky ? times(conjugate_of(b.value), m) : times(m, b.value));
      }
      __syncwarp();
    }
    const S last = shuffle(own, leaders ? last_of(leaders) : first);
    if (leaders) multiplier = last;
  }

  __device__ static int last_of(unsigned lanes) { return 31 - __clz(int(lanes)); }

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

  __device__ S over_real(S v, S pivot) const {
    if constexpr (element<S>::is_complex)
      return {over(v.re, pivot.re), over(v.im, pivot.re)};
    else
      return over(v, pivot);
  }

  /* Values that others wait for come first. */
  __device__ void give() const {
    if (count > 0 && lane == 0) judge(x[diagonal]);
    if (a.cholesky)
      give_cholesky();
    else
      give_both();
  }

  __device__ void give_both() const {
    S *L = static_cast<S *>(a.L), *U = static_cast<S *>(a.U);
    for (int e = diagonal + lane; e < count; e += lanes)
      publish(U + U_begin + (e - diagonal), encode(x[e]));
    for (int e = lane; e < count; e += lanes) {
      if (!has_finite_parts(x[e]))
        note(e < diagonal ? &a.found->L : &a.found->U, TRS_INCOMPLETE_NOT_FINITE);
      if (e < diagonal) L[L_begin + e] = x[e];
    }
  }

  __device__ void give_cholesky() const {
    S *L = static_cast<S *>(a.L), *U = static_cast<S *>(a.U);
    const S pivot = count > 0 ? root(x[0]) : S{};
    __syncwarp();
    for (int e = lane; e < count; e += lanes) {
      x[e] = e == 0 ? pivot : over_real(x[e], pivot);
      publish(U + U_begin + e, encode(conjugate_of(x[e])));
    }
    for (int e = lane; e < count; e += lanes) {
      L[a.mirror[U_begin + e]] = x[e];
      if (!has_finite_parts(x[e]))
        note(&a.found->L, TRS_INCOMPLETE_NOT_FINITE, a.U_idx[U_begin + e]);
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
