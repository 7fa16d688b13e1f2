/* analysis_fill.cu - entries into their lanes; diagonal blocks inverted.
 *
 * One warp per slice: its stores are contiguous, its loads run along rows.  An entry inside a
 * block is at most as far from the diagonal as its row is from the first row of the block, so one
 * byte per position is enough to find the end of a row's other entries.
 *
 * Diagonal blocks are inverted by columns, one lane per column, as in analysis/slice_tmpl.c.
 * Blocks of up to TRS_LIGHT_BLOCK rows are inverted together, slice by slice; each larger block by
 * a warp of its own.  The warp then judges the growth of the inverses (analysis/growth.h), one lane
 * per row. */
#include "analysis/growth.h"

#include <cfloat>

#include "matrix/pivot.cuh"
#include "solve/cuda/engine/analysis.cuh"
#include "solve/cuda/engine/slice.cuh"

namespace {

using namespace trs;

enum { AHEAD = 4 /* entries of a lane that are loaded at once */ };

struct fill_view {
  trs_slices s;
  trs_slices_map map;
  pattern_view t;
  bool unit;
  trs_gpu_verdict verdict;
};

/* A row at a position: first its entries outside its block, then those inside. */
struct placed_row {
  row_view row;
  int32_t outside, place;
};

__device__ placed_row row_at(const fill_view &v, int32_t position) {
  int32_t k = v.t.mirror(v.s.row[position]);
  int32_t place = v.map.place ? v.map.place[position] : 0;
  row_view row = v.t.row(k);
  /* Empty if the row is the first of its block. */
  const int32_t outside = first_not(max(row.count - place, 0), row.count, [&](int32_t e) {
    return v.t.column(row.origin, e) < k - place;
  });
  return {row, outside, place};
}

/* Writes the elements of a slice: get(entry) for each entry, pad behind the last entry of a row. */
template <class T, class F>
__device__ void fill_slice(const fill_view &v, const trs_slice &h, const placed_row &r, bool there,
                           T *all, T pad, F get) {
  const int lanes = 1 << h.log_lanes;
  const int64_t piece = h.parts < 0 ? v.map.piece[h.part] : max(h.parts, 0);
  const int64_t outside = r.outside;
  int64_t e = piece * TRS_PART_WIDTH * lanes + this_lane() % lanes;
  T *to = all + h.entries + this_lane();
  const int32_t stride = trs_slice_stride(&h);
  if (!there) return;
  for (int32_t k = 0; k < h.width; k += AHEAD) {
    T element[AHEAD];
#pragma unroll
    for (int u = 0; u < AHEAD; u++)
      element[u] = e + u * lanes < outside ? get(v.t.entry(r.row.origin, e + u * lanes)) : pad;
#pragma unroll
    for (int u = 0; u < AHEAD; u++)
      if (k + u < h.width) to[int64_t(k + u) * stride] = element[u];
    e += AHEAD * lanes;
  }
}

/* ---- Values. ---- */

template <class S>
__device__ S reciprocal_diagonal(const fill_view &v, const S *val, const row_view &row) {
  if (v.unit) return one<S>();
  const S pivot = val[row.diagonal];
  if (pivot_of(pivot) == TRS_PIVOT_GOOD) return reciprocal(pivot);
  v.verdict.found->bad_pivot = 1;
  return not_a_number<S>();
}

/* For slices whose blocks have one row. */
template <class S>
__device__ void invert_rows(const fill_view &v, const trs_slice &h, const S *val) {
  const int t = this_lane();
  if (t >= h.rows) return;
  row_view row = v.t.row(v.t.mirror(v.s.row[h.first + t]));
  static_cast<S *>(v.s.inverse)[h.inverse + t] = reciprocal_diagonal(v, val, row);
}

/* The diagonal blocks of a slice, of up to ROWS rows, and the columns of their inverses.  Element
 * k of row or column t of the slice is at k * STRIDE + t; k counts within the block.  The
 * diagonal entries are reciprocals. */
template <class S, int ROWS>
struct diagonal_blocks {
  /* Entries of a row, and terms of a sum, that are loaded at once.  Registers are scarce where
   * other warps hide the loads. */
  enum { LOADS = ROWS > TRS_LIGHT_BLOCK ? 8 : 1, TERMS = ROWS > TRS_LIGHT_BLOCK ? 4 : 1 };
  /* A slice of small blocks has a row per lane, a larger block at most that many rows. */
  enum { STRIDE = ROWS > TRS_LIGHT_BLOCK ? int(TRS_MOST_BLOCK) : int(WARP) };
  S value[ROWS * STRIDE], inverse[ROWS * STRIDE];
  unsigned mask[WARP]; /* bit c: row t has entry c */

  __device__ void load(const fill_view &v, const S *val, const placed_row &r, int32_t first,
                       int t) {
    unsigned found = 0;
    for (int64_t e = r.outside; e < r.row.count; e += LOADS) {
      int32_t c[LOADS];
      S loaded[LOADS];
#pragma unroll
      for (int u = 0; u < LOADS; u++)
        if (e + u < r.row.count) {
          c[u] = v.t.column(r.row.origin, e + u) - first;
          loaded[u] = val[v.t.entry(r.row.origin, e + u)];
        }
#pragma unroll
      for (int u = 0; u < LOADS; u++)
        if (e + u < r.row.count) {
          value[c[u] * STRIDE + t] = loaded[u];
          found |= 1u << c[u];
        }
    }
    value[r.place * STRIDE + t] = reciprocal_diagonal(v, val, r.row);
    mask[t] = found;
  }

  using real = typename element<S>::real;

  /* True if row r of column t has lost digits to underflow, as in analysis/growth_tmpl.c. */
  __device__ bool underflows(int t, int base, int c, int r, unsigned terms) const {
    constexpr real NORMAL = sizeof(real) == 4 ? real(FLT_MIN) : real(DBL_MIN);
    const real by = magnitude(value[r * STRIDE + base + r]);
    const real tiny = NORMAL * fmax(real(1), fmax(by, magnitude(inverse[c * STRIDE + t])));
    if (magnitude(inverse[r * STRIDE + t]) >= tiny) return false;
    real most = 0;
    bool path = false;
    for (; terms; terms &= terms - 1) {
      const int k = lowest_lane(terms);
      const real a = magnitude(value[k * STRIDE + base + r]),
                 y = magnitude(inverse[k * STRIDE + t]);
      path |= a != 0 && y != 0;
      most = fmax(most, a * y * by);
    }
    return path && most < tiny;
  }

  /* Column c of the inverse of the block whose first row is `base`, stored as column t, by
   * substitution: y_c = 1 / d_c, y_r = -(sum of d_rk y_k) / d_r.  Where no path leads from c to r
   * there is no coefficient.
   * Returns a bit for each coefficient; those that lose digits to underflow become NaN here, so
   * that they are refused, but not in `out`. */
  __device__ unsigned invert(S *out, const trs_slice &h, int t, int c, int rows) {
    const int base = t - c;
    unsigned known = 0, lost = 0;
    for (int r = c; r < rows; r++) {
      const unsigned terms = mask[base + r] & known;
      if (r > c && terms == 0) continue;
      S sum = r == c ? S{} - one<S>() : S{};
      for (int k = c; k < r; k += TERMS) {
        S row[TERMS], column[TERMS];
#pragma unroll
        for (int u = 0; u < TERMS; u++)
          if (k + u < r && (terms >> (k + u) & 1)) {
            row[u] = value[(k + u) * STRIDE + base + r];
            column[u] = inverse[(k + u) * STRIDE + t];
          }
#pragma unroll
        for (int u = 0; u < TERMS; u++)
          if (k + u < r && (terms >> (k + u) & 1)) sum = multiply_add(row[u], column[u], sum);
      }
      S y = (S{} - sum) * value[r * STRIDE + base + r];
      inverse[r * STRIDE + t] = y;
      out[trs_inverse_at(&h, base + r, r - c)] = y;
      known |= 1u << r;
      if (r > c && underflows(t, base, c, r, terms)) lost |= 1u << r;
    }
    for (; lost; lost &= lost - 1) inverse[lowest_lane(lost) * STRIDE + t] = not_a_number<S>();
    return known;
  }

  /* The magnitude of entry c of row t, off the diagonal. */
  __device__ real size(int t, int c) const {
    return mask[t] >> c & 1 ? magnitude(value[c * STRIDE + t]) : real(0);
  }

  /* True if row t, at place p of its block, has too large a growth (analysis/growth.h) in the
   * inverse of rows from .. to of the block.  known: of column t.  By a warp; `rows`: the most of a
   * block.  Each step takes one distance, so that the lanes read different banks. */
  __device__ bool loses_digits(int t, int p, int from, int to, int rows, unsigned known) const {
    const real own = real(1) / magnitude(value[p * STRIDE + t]);
    real largest = own;
    for (int c = from; c < p; c++) largest = fmax(largest, size(t, c));
    const real scale = real(1) / largest;
    real x = own * scale;
    for (int d = 1; d < rows; d++) {
      const real other = shuffle_down(scale, unsigned(d));
      if (p + d < to) x = fmax(x, size(t + d, p) * other);
    }
    x = real(1) / x;
    real sum = own * x;
    for (int d = 1; d < rows; d++) {
      const real other = shuffle_up(x, unsigned(d));
      if (p - d >= from) sum += size(t, p - d) * other;
    }
    real growth = 0;
    for (int d = 0; d < rows; d++) {
      const real other = shuffle_up(sum, unsigned(d));
      const bool there = shuffle_up(known, unsigned(d)) >> p & 1;
      if (p - d >= from && there) growth += magnitude(inverse[p * STRIDE + t - d]) * other;
    }
    return !(growth <= TRS_MOST_GROWTH * x);
  }
};

/* A lane's row in its block: lane t, place p of `rows`. */
struct row_place {
  int t, p, rows;
  bool there;

  __device__ int base() const { return t - p; }
  __device__ lane_mask lanes(int from, int to) const {
    return there ? (ALL_LANES >> (WARP - (to - from))) << (base() + from) : 0;
  }
};

/* The lanes with too large a growth in the row's block, if each block is cut every `size` rows. */
template <class S, int ROWS>
__device__ lane_mask bad_rows(const diagonal_blocks<S, ROWS> &blocks, const row_place &r, int size,
                              int most, unsigned known) {
  const int from = r.p & ~(size - 1), to = min(from + size, r.rows);
  const bool bad = blocks.loses_digits(r.t, r.p, from, to, most, known);
  return lanes_where(r.there && bad) & r.lanes(from, to);
}

/* Reports inverses that lose too many digits, and cuts their blocks as trs_growth_cut does.  first:
 * place in the sweep of the block's first row.  True for the rows of a refused inverse. */
template <class S, int ROWS>
__device__ bool judge(const fill_view &v, const diagonal_blocks<S, ROWS> &blocks,
                      const row_place &r, int most, unsigned known, int64_t first) {
  const bool refused = bad_rows(blocks, r, TRS_MOST_BLOCK, most, known) != 0;
  if (!any_lane(refused)) return false;
  if (r.t == 0) v.verdict.found->refused = 1;
  if (!v.verdict.block_starts) return refused;
  int size = 1;
  for (int s = TRS_MOST_BLOCK / 2; s > 1; s /= 2)
    if (bad_rows(blocks, r, s, most, known) == 0 && size == 1) size = s;
  if (!refused) return false;
  if (r.p > 0 && r.p % size == 0) v.verdict.block_starts[first + r.p] = 1;
  if (r.p > 0) return true;
  if (first + r.rows < v.s.n) v.verdict.block_starts[first + r.rows] = 1;
  atomicAdd(v.verdict.count, 1);
  return true;
}

/* By a warp: one lane per row, then one lane per column. */
template <class S, int ROWS>
__device__ void invert_blocks(const fill_view &v, const trs_slice &h, const S *val,
                              diagonal_blocks<S, ROWS> &blocks) {
  const int t = this_lane();
  const bool there = t < h.rows;
  S *out = static_cast<S *>(v.s.inverse) + h.inverse;
  for (int k = t; k < trs_slice_inverses(&h); k += WARP) out[k] = pending_value<S>();
  int32_t position = h.first + (there ? t : 0);
  placed_row r = row_at(v, position);
  const int32_t first = v.t.mirror(v.s.row[position]) - r.place;
  if (there) blocks.load(v, val, r, first, t);
  lane_mask begins = lanes_where(there && r.place == 0), behind = begins & ~lane_mask(1) << t;
  int end = behind ? lowest_lane(behind) : h.rows, rows = end - (t - r.place);
  unsigned known = 0;
  __syncwarp();
  if (there) known = blocks.invert(out, h, t, r.place, rows);
  __syncwarp();
  const row_place mine = {t, there ? r.place : 0, there ? rows : 1, there};
  const bool refused = judge(v, blocks, mine, h.block, known, first);
  if (v.verdict.poisons && refused && there) out[trs_inverse_at(&h, t, 0)] = not_a_number<S>();
}

enum { THREADS = 128, WARPS = THREADS / WARP };

/* BLOCKS: some blocks have several rows.  position: of each row, to fill idx; NULL: only values. */
template <class S, class V, bool BLOCKS>
__global__ void __launch_bounds__(THREADS)
    fill_entries(const __grid_constant__ fill_view v, const S *val, const int32_t *position) {
  __shared__ diagonal_blocks<S, BLOCKS ? int(TRS_LIGHT_BLOCK) : 1> blocks[BLOCKS ? WARPS : 1];
  if (BLOCKS) let_next_kernel_start();
  int64_t s = (int64_t(blockIdx.x) * THREADS + threadIdx.x) / WARP;
  if (s >= v.s.nslices) return;
  const trs_slice h = v.s.slice[s];
  const int t = this_lane() >> h.log_lanes;
  const bool there = t < h.rows;
  placed_row r = row_at(v, h.first + (there ? t : 0));
  if (position)
    fill_slice(v, h, r, there, v.s.idx, int32_t(-1),
               [&](int64_t p) { return position[v.t.idx[p]]; });
  fill_slice(v, h, r, there, static_cast<V *>(v.s.val), V{},
             [&](int64_t p) { return narrowed<V>(val[p]); });
  if (h.block == 1) invert_rows(v, h, val);
  if constexpr (BLOCKS)
    if (h.block > 1 && !h.heavy) invert_blocks(v, h, val, blocks[threadIdx.x / WARP]);
}

/* Runs beside fill_entries, and ends behind it. */
template <class S>
__global__ void __launch_bounds__(WARP)
    invert_heavy(const __grid_constant__ fill_view v, const S *val) {
  __shared__ diagonal_blocks<S, TRS_MOST_BLOCK> blocks;
  const trs_slice h = v.s.slice[v.map.heavy[blockIdx.x]];
  if (h.block > 1) invert_blocks(v, h, val, blocks);
  await_kernel_before();
}

template <class S, class V>
cudaError_t launch_fill(const fill_view &v, const S *val, const int32_t *position,
                        cudaStream_t stream) {
  const unsigned warp = warp_of_device(), warps = THREADS / warp;
  const unsigned grid = unsigned((int64_t(v.s.nslices) + warps - 1) / warps);
  const bool blocks = v.map.place != nullptr;
  if (blocks)
    fill_entries<S, V, true><<<grid, THREADS, 0, stream>>>(v, val, position);
  else
    fill_entries<S, V, false><<<grid, THREADS, 0, stream>>>(v, val, position);
  if (!blocks || v.map.nheavy == 0) return cudaGetLastError();
  return launch_behind(v.map.overlaps, invert_heavy<S>, unsigned(v.map.nheavy), warp, 0, stream, v,
                       val);
}

__global__ void __launch_bounds__(THREADS) clear_blank(trs_gpu_blank blank) {
  clear_share(blank, int64_t(blockIdx.x) * THREADS + threadIdx.x, int64_t(gridDim.x) * THREADS);
}

}  // namespace

trs_status trs::fill_slices(const trs_slices &slices, const trs_slices_map &map,
                            const trs_system &system, bool store_float, const int32_t *position,
                            const trs_gpu_verdict &verdict, cudaStream_t stream) {
  if (slices.nslices == 0) return TRS_SUCCESS;
  const fill_view v = {slices, map, pattern_view(system), system.unit != 0, verdict};
  cudaError_t error = by_values(system.scalar, store_float, [&](auto element, auto value) {
    using S = decltype(element);
    return launch_fill<S, decltype(value)>(v, static_cast<const S *>(system.val), position, stream);
  });
  return trs_device_check(error, "filling in entries");
}

extern "C" trs_status trs_gpu_clear(const trs_gpu_blank *blank, trs_stream stream) {
  const int64_t bytes_a_block = 16 * THREADS * sizeof(uint64_t), most = 1024;
  const int64_t all = (blank->ones_bytes + blank->zeros_bytes) / bytes_a_block + 1;
  clear_blank<<<unsigned(all < most ? all : most), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
      *blank);
  return trs_device_check(cudaGetLastError(), "clearing device memory");
}

extern "C" trs_status trs_gpu_slices_fill(const trs_slices *slices, const trs_slices_map *map,
                                          const trs_system *system, int store_float,
                                          const trs_gpu_verdict *verdict, trs_stream stream) {
  return fill_slices(*slices, *map, *system, store_float != 0, nullptr, *verdict,
                     static_cast<cudaStream_t>(stream));
}

extern "C" trs_status trs_gpu_slices_enter(const trs_slices *slices, const trs_slices_map *map,
                                           const trs_system *system, int store_float,
                                           const int32_t *position, const trs_gpu_verdict *verdict,
                                           trs_stream stream) {
  return fill_slices(*slices, *map, *system, store_float != 0, position, *verdict,
                     static_cast<cudaStream_t>(stream));
}
