/* refactor.cu - incomplete factors of block rows (factor/bilu0.c) on a GPU: a warp takes a row of a
 * level, one launch per level.  The row's blocks come from the caller's into shared memory, are
 * changed there by a list of steps that the host makes once for a pattern, and leave as L and U.
 * Each step reads one block of an earlier row; copies of these blocks run ahead in a ring.  Sums
 * have a fixed order, so that the bits do not vary.  O(steps) reads, mostly from L2. */
#include "relax/cuda/refactor.h"
#include "relax/cuda/row.cuh"

namespace {

using namespace trs;

constexpr int ROWS = 4;                    /* warps per block of threads */
constexpr int64_t MOST_SHARED = 22 * 1024; /* bytes per warp: four fit every GPU */

/* A warp's ring of blocks: STAGES of GROUP steps. */
template <int B>
struct ring_shape {
  static constexpr int GROUP = B ? 4 : 1, STAGES = B ? 3 : 2;
};

__device__ inline void fail(const trs_refactor_args &a, int64_t i, int kind) {
  atomicMin(a.failed, (unsigned long long)i * TRS_REFACTOR_KINDS + unsigned(kind));
}

/* ---- To the formats of relaxation ---- */

template <int STORE>
__device__ inline typename stored<STORE>::off encode(double value) {
  const float narrow = float(value);
  if constexpr (STORE == TRS_STORE_HALF) {
    return __half_as_ushort(__float2half_rn(narrow));
  } else if constexpr (STORE == TRS_STORE_BFLOAT) {
    const unsigned bits = __float_as_uint(narrow);
    return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  } else if constexpr (STORE == TRS_STORE_DOUBLE) {
    return value;
  } else {
    return narrow;
  }
}

/* As factor_of in relax/store_tmpl.c. */
template <int STORE>
__device__ inline int power_of(double most) {
  if (most == 0) return 0;
  const int power =
      int(__double_as_longlong(most) >> 52) - 1022 - (STORE == TRS_STORE_HALF ? 15 : 0);
  return power < -126 ? -126 : power > 127 ? 127 : power;
}

/* Element (row, c) of the diagonal block's factors as relaxation has them: P^T l, or u with
 * reciprocals, as d has them. */
__device__ inline double diagonal_element(const double *d, int b, int row, int c, bool lower,
                                          bool cholesky) {
  if (!lower) return row > c ? 0 : d[c * b + row];
  if (row < c) return 0;
  if (row > c) return cholesky ? d[c * b + row] * d[c * b + c] : d[c * b + row];
  return cholesky ? d[c * b + c] : 1;
}

/* ---- A warp's work on its row i.  HELD: its blocks are in shared memory, else in a.val.  Lane
 * slot * b + r has row r of columns slot, slot + slots... of a block. ---- */

template <int B, bool HELD>
struct row_work {
  using form = ring_shape<B>;
  static constexpr int GROUP = form::GROUP, STAGES = form::STAGES;

  const trs_refactor_args &a;
  const int64_t i, first;    /* the row; the place of its first block */
  const int count, diagonal; /* blocks; the diagonal one */
  const int lane, r, slot;
  const int32_t targets, position[2]; /* of the first 32 blocks; of the row in L and U */
  double *const ring, *const row;     /* shared; see HELD */
  double x[B ? B : 1];                /* row r of L_ik, if the block size is known */
  const double *l = nullptr;          /* else: L_ik */

  __device__ row_work(const trs_refactor_args &args, int64_t row_number, double *shared)
      : a(args),
        i(row_number),
        first(args.ptr[i]),
        count(int(args.ptr[i + 1] - first)),
        diagonal(int(args.diagonal[i] - first)),
        lane(int(threadIdx.x % WARP)),
        r(lane % b()),
        slot(lane / b()),
        targets(target(0)),
        position{args.side[0].position[i], args.side[1].position[i]},
        ring(shared),
        row(HELD ? shared + STAGES * GROUP * size() : args.val + first * size()) {}

  __device__ int b() const { return B ? B : a.block; }
  __device__ int size() const { return b() * b(); }
  __device__ int slots() const { return int(WARP) / b(); }
  __device__ double *block(int at) const { return row + int64_t(at) * size(); }
  /* Blocks from base on that the lanes have one word each of. */
  __device__ int chunk(int base) const {
    return count - base < int(WARP) ? count - base : int(WARP);
  }
  __device__ int32_t target(int base) const {
    return base + lane < count ? a.target[first + base + lane] : 0;
  }

  /* ---- From the caller's blocks ---- */

  template <class T>
  __device__ void bring(double *to, const T *from) const {
    if constexpr (HELD && sizeof(T) == sizeof(double))
      copy_async(to, from);
    else
      *to = *from;
  }

  template <class T>
  __device__ void read(const T *given) const {
    const int there = a.from[i * b() + r];
    const int along = a.by_rows ? 1 : b(), first_element = there * (a.by_rows ? b() : 1);
    for (int base = 0; base < count; base += int(WARP)) {
      const int32_t sources = base + lane < count ? a.source[first + base + lane] : -1;
#pragma unroll 2
      for (int k = 0; k < chunk(base); k++) {
        const int64_t from = shuffle(sources, k);
        double *to = block(base + k);
        for (int c = slot; c < b() && slot < slots(); c += slots())
          if (from < 0)
            to[c * b() + r] = 0;
          else
            bring(to + c * b() + r, given + from * size() + first_element + c * along);
      }
    }
  }

  /* ---- Steps ---- */

  /* L_ik = A_ik u_k^-1, from the factors of row k's diagonal block. */
  __device__ void divide(double *own, const double *d) {
    __syncwarp();
    if constexpr (B > 0) {
#pragma unroll
      for (int m = 0; m < B; m++) x[m] = own[m * B + r];
#pragma unroll
      for (int c = 0; c < B; c++) {
        x[c] *= d[c * B + c];
#pragma unroll
        for (int m = c + 1; m < B; m++) x[m] = fma(-x[c], d[m * B + c], x[m]);
      }
      __syncwarp();
#pragma unroll
      for (int m = 0; m < B; m++)
        if (m % (int(WARP) / B) == slot) own[m * B + r] = x[m];
    } else {
      for (int c = 0; c < b() && slot == 0; c++) {
        double sum = own[c * b() + r];
        for (int m = 0; m < c; m++) sum = fma(-own[m * b() + r], d[c * b() + m], sum);
        own[c * b() + r] = sum * d[c * b() + c];
      }
      __syncwarp();
      l = own;
    }
  }

  /* A_ij -= L_ik U_kj */
  __device__ void subtract(double *own, const double *u) const {
    if (slot >= slots()) return;
    for (int c = slot; c < b(); c += slots()) {
      double sum = own[c * b() + r];
#pragma unroll
      for (int m = 0; m < b(); m++)
        sum = fma(B ? -x[B ? m : 0] : -l[m * b() + r], u[c * b() + m], sum);
      own[c * b() + r] = sum;
    }
  }

  /* Begins the copies of a stage: steps n to n + GROUP - 1 of end, whose blocks are in lanes n % 32
   * and up. */
  __device__ void fetch(int n, int end, int32_t blocks) const {
    double *stage = ring + n / GROUP % STAGES * (GROUP * size());
#pragma unroll
    for (int g = 0; g < GROUP; g++) {
      const int64_t from = shuffle(blocks, n + g);
      if (n + g < end)
        for (int e = lane; e < size(); e += int(WARP))
          copy_async(stage + g * size() + e, a.val + from * size() + e);
    }
    commit_copies();
  }

  __device__ trs_refactor_step step(const trs_refactor_step *steps, int n, int end) const {
    return n + lane < end ? steps[n + lane] : trs_refactor_step{0, 0};
  }

  __device__ void eliminate() {
    constexpr int AHEAD = (STAGES - 1) * GROUP;
    const trs_refactor_step *steps = a.step + a.step_ptr[i];
    const int end = int(a.step_ptr[i + 1] - a.step_ptr[i]);
    trs_refactor_step here = step(steps, 0, end), next = step(steps, int(WARP), end);
    await_kernel_before();
    for (int n = 0; n < AHEAD; n += GROUP) fetch(n, end, here.block);
    for (int n = 0; n < end; n += GROUP) {
      await_copies<STAGES - 2>();
      const int far = n + AHEAD;
      fetch(far, end, far / int(WARP) == n / int(WARP) ? here.block : next.block);
      const double *stage = ring + n / GROUP % STAGES * (GROUP * size());
#pragma unroll
      for (int g = 0; g < GROUP; g++) {
        const int at = shuffle(here.at, n + g);
        if (n + g >= end) break;
        if (at < 0)
          divide(block(~at), stage + g * size());
        else
          subtract(block(at), stage + g * size());
      }
      if ((n + GROUP) % int(WARP) != 0) continue;
      here = next;
      next = step(steps, n + GROUP + int(WARP), end);
    }
    await_copies<0>();
  }

  /* ---- The diagonal block, as d in shared memory ---- */

  /* d = l u with row exchanges and reciprocals on the diagonal; result: this lane's pivot, or -1 in
   * all lanes. */
  __device__ int factor_lu(double *d) const {
    int pivot = lane;
#pragma unroll 1
    for (int k = 0; k < b(); k++) {
      int best = k;
      for (int m = k + 1; m < b(); m++)
        if (fabs(d[k * b() + m]) > fabs(d[k * b() + best])) best = m;
      if (fabs(d[k * b() + k]) >= a.threshold * fabs(d[k * b() + best]) && d[k * b() + k] != 0)
        best = k;
      if (!(fabs(d[k * b() + best]) > 0)) return -1;
      __syncwarp();
      if (lane < b() && best != k) {
        const double kept = d[lane * b() + k];
        d[lane * b() + k] = d[lane * b() + best];
        d[lane * b() + best] = kept;
      }
      const int of_k = shuffle(pivot, k), of_best = shuffle(pivot, best);
      pivot = lane == k ? of_best : lane == best ? of_k : pivot;
      __syncwarp();
      const double inverse = 1 / d[k * b() + k];
      if (lane > k && lane < b()) d[k * b() + lane] *= inverse;
      __syncwarp();
      if (lane == k) d[k * b() + k] = inverse;
      eliminate_column(d, k);
    }
    return pivot;
  }

  /* d = c c^T, whole, with reciprocals on the diagonal. */
  __device__ int factor_cholesky(double *d) const {
#pragma unroll 1
    for (int k = 0; k < b(); k++) {
      const double square = d[k * b() + k], root = sqrt(square);
      if (!(square > 0)) return -1;
      __syncwarp();
      if (lane == k) d[k * b() + k] = 1 / root;
      if (lane > k && lane < b()) d[lane * b() + k] = d[k * b() + lane] /= root;
      __syncwarp();
      eliminate_column(d, k);
    }
    return lane;
  }

  /* d_rc -= d_rk d_kc for r, c > k */
  __device__ void eliminate_column(double *d, int k) const {
    for (int c = slot; c < b() && slot < slots(); c += slots())
      if (c > k && r > k) d[c * b() + r] = fma(-d[k * b() + r], d[c * b() + k], d[c * b() + r]);
    __syncwarp();
  }

  __device__ bool is_finite(const double *d) const {
    bool finite = true;
    for (int e = lane; e < size(); e += int(WARP)) finite = finite && isfinite(d[e]);
    return __all_sync(ALL_LANES, finite);
  }

  /* U_ij = l^-1 P A_ij, a lane per column. */
  __device__ void substitute(const double *d, int pivot) const {
    const int columns = (count - diagonal - 1) * b();
    double *u = block(diagonal + 1);
    double y[B ? B : int(WARP)];
    for (int base = 0; base < columns; base += int(WARP)) {
      double *column = u + int64_t(base + lane) * b();
      const bool mine = base + lane < columns;
#pragma unroll
      for (int m = 0; m < b(); m++) {
        const int from = shuffle(pivot, m);
        if (mine) y[m] = column[from];
      }
      if (!mine) continue;
#pragma unroll
      for (int m = 0; m < b(); m++) {
        if (a.cholesky) y[m] *= d[m * b() + m];
#pragma unroll
        for (int n = m + 1; n < b(); n++) y[n] = fma(-d[m * b() + n], y[m], y[n]);
      }
#pragma unroll
      for (int m = 0; m < b(); m++) column[m] = y[m];
    }
    __syncwarp();
  }

  /* Later rows read the diagonal block and U. */
  __device__ void show(const double *d) const {
    double *to = a.val + (first + diagonal) * size();
    for (int e = lane; e < size(); e += int(WARP)) to[e] = d[e];
    if constexpr (HELD)
      for (int e = size() + lane; e < (count - diagonal) * size(); e += int(WARP))
        to[e] = block(diagonal)[e];
  }

  /* ---- To L and U ---- */

  /* The factor of a block in a 16-bit format, of which the warp has the largest element. */
  template <int STORE>
  __device__ double scale(double most, int8_t *power) const {
    for (int step = int(WARP) / 2; step; step /= 2) most = fmax(most, shuffle_xor(most, step));
    const int exponent = power_of<STORE>(most);
    if (lane == 0) *power = int8_t(exponent);
    return 1 / double(two_to(exponent));
  }

  /* Stores a block; result: the largest element that this lane stored. */
  template <int STORE>
  __device__ double store_block(int at, int64_t target) const {
    const trs_relax_args &side = a.side[at > diagonal].relax;
    auto *to =
        static_cast<typename stored<STORE>::off *>(const_cast<void *>(side.off)) + target * size();
    const double *value = block(at);
    double most = 0, factor = 1;
    if constexpr (stored<STORE>::scaled) {
      for (int e = lane; e < size(); e += int(WARP)) most = fmax(most, fabs(value[e]));
      factor = scale<STORE>(most, const_cast<int8_t *>(side.power) + target);
    }
    for (int e = lane; e < size(); e += int(WARP)) {
      if constexpr (!stored<STORE>::scaled) most = fmax(most, fabs(value[e]));
      to[e] = encode<STORE>(stored<STORE>::scaled ? value[e] * factor : value[e]);
    }
    return most;
  }

  template <int STORE>
  __device__ void store(const double *d, int pivot) const {
    using sum = typename stored<STORE>::sum;
    double most = 0;
    for (int base = 0; base < count; base += int(WARP)) {
      const int32_t to = base == 0 ? targets : target(base);
#pragma unroll 2
      for (int k = 0; k < chunk(base); k++) {
        const int64_t target = shuffle(to, k);
        if (base + k != diagonal) most = fmax(most, store_block<STORE>(base + k, target));
      }
    }
    if (sizeof(typename stored<STORE>::x) < sizeof(double) && most >= 3.4028235677973366e38)
      fail(a, i, TRS_REFACTOR_TOO_LARGE);
#pragma unroll
    for (int k = 0; k < 2; k++) {
      const trs_relax_args &side = a.side[k].relax;
      auto *to =
          static_cast<sum *>(const_cast<void *>(side.diagonal)) + int64_t(position[k]) * size();
      for (int e = lane; e < size(); e += int(WARP))
        to[e] = sum(diagonal_element(d, b(), e % b(), e / b(), k == 0, a.cholesky));
      if (lane < b())
        const_cast<uint8_t *>(side.pivot)[int64_t(position[k]) * b() + lane] =
            uint8_t(k == 0 ? pivot : lane);
    }
  }

  __device__ void run() {
    double *d = ring;
    if (a.wide)
      read(static_cast<const double *>(a.given));
    else
      read(static_cast<const float *>(a.given));
    eliminate();
    for (int e = lane; e < size(); e += int(WARP)) d[e] = block(diagonal)[e];
    __syncwarp();
    const bool finite = is_finite(d);
    const int pivot = !finite ? -1 : a.cholesky ? factor_cholesky(d) : factor_lu(d);
    if (pivot < 0) { /* in every lane */
      if (lane == 0) fail(a, i, finite ? TRS_REFACTOR_NO_PIVOT : TRS_REFACTOR_NOT_FINITE);
      return show(d);
    }
    substitute(d, pivot);
    show(d);
    (void)by_store(a.side[0].relax.store, [&](auto kind) {
      store<decltype(kind)::value>(d, pivot);
      return cudaSuccess;
    });
  }
};

template <int B, bool HELD>
__global__ void __launch_bounds__(ROWS *int(WARP), B &&B <= 5 ? 8 : 6)
    eliminate(const __grid_constant__ trs_refactor_args a,
              const __grid_constant__ trs_refactor_level level, int room) {
  extern __shared__ double shared[];
  const int warp = int(threadIdx.x / WARP);
  const int64_t k = int64_t(blockIdx.x) * ROWS + warp;
  let_next_kernel_start();
  if (k >= level.count) return;
  row_work<B, HELD> w(a, level.row[k], shared + warp * room);
  w.run();
}

template <int B, bool HELD>
cudaError_t launch(const trs_refactor_args &a, const trs_refactor_level &level, int room,
                   cudaStream_t stream) {
  const auto blocks = unsigned((level.count + ROWS - 1) / ROWS);
  const size_t shared = size_t(ROWS * room) * sizeof(double);
  const auto kernel = eliminate<B, HELD>;
  const cudaError_t ready =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared));
  if (ready != cudaSuccess) return ready;
  return launch_behind(level.overlaps != 0, kernel, blocks, ROWS * WARP, shared, stream, a, level,
                       room);
}

}  // namespace

extern "C" trs_status trs_refactor_eliminate(const trs_refactor_args *a,
                                             const trs_refactor_level *level, trs_stream stream) {
  if (level->count == 0) return TRS_SUCCESS;
  const cudaError_t error = by_size<3, 8, 0>(a->block, [&](auto block) {
    constexpr int B = decltype(block)::value;
    const int64_t size = int64_t(a->block) * a->block,
                  ring = size * ring_shape<B>::GROUP * ring_shape<B>::STAGES,
                  whole = ring + size * level->longest;
    const auto s = static_cast<cudaStream_t>(stream);
    return whole * int64_t(sizeof(double)) <= MOST_SHARED
               ? launch<B, true>(*a, *level, int(whole), s)
               : launch<B, false>(*a, *level, int(ring), s);
  });
  return trs_device_check(error, "launching the factorisation of a level");
}
