/* substitute.cu - the joint system of analysis/substitute.h, step by step on the GPU.
 *
 * One launch per step of the bands; a warp or eight lanes per row.  A row needs only rows of
 * earlier steps, so none waits.  The lanes merge the sorted columns of the rows that are
 * substituted, one after the other, in shared memory; then it sums the values of each column in the
 * order of the rows, so the same system gives the same bits.  Rows of M are stored where the next
 * free place is, and copied into the joint system in the end.
 *
 * An update repeats the sums for the columns that it reads back from the slices of the joint
 * system.
 *
 * O(nnz of M, times the entries of a row that are substituted, times the logarithm of a row).  The
 * time of small systems is that of the launches. */
#include <cub/block/block_scan.cuh>
#include <cub/device/device_scan.cuh>

#include <cfloat>

#include "device/ready.cuh"
#include "solve/cuda/engine/analysis.cuh"
#include "solve/cuda/engine/slice.cuh"
#include "solve/cuda/engine/substitute.h"

namespace {

using namespace trs;

/* A team of lanes makes a row of up to MOST entries. */
template <int LANES_, int MOST_>
struct team {
  enum {
    LANES = LANES_,
    MOST = MOST_,
    HELD = MOST / LANES, /* entries of a merged row per lane */
    TEAMS = ANALYSIS_THREADS / LANES
  };
};
using small_team = team<8, TRS_SUBSTITUTED_FEW>;
using whole_warp = team<WARP, TRS_SUBSTITUTED_ENTRIES>;

/* The pivot of an x behind its y where entries are stored as floats: the entry that multiplies y is
 * its negative, and both have to cancel. */
template <class S>
__device__ S rounded(S pivot) {
  return widen<S>(narrowed<typename narrower<S>::type>(pivot));
}

/* The first of count ascending numbers that is at least `wanted`. */
__device__ int32_t lower_bound(const int32_t *numbers, int32_t count, int32_t wanted) {
  return first_not(0, count, [&](int32_t k) { return numbers[k] < wanted; });
}

/* ---- Access to rows of M, times their diagonal entries. ---- */

/* While M is made: columns as places of the sweep, ascending. */
template <class S>
struct store {
  static constexpr bool fresh = true;
  int64_t *at;    /* n: of the first entry */
  int32_t *count; /* n */
  int32_t *idx;
  S *val;

  struct row {
    int64_t at;
    int32_t count;
  };
  __device__ row find(int32_t k) const { return {at[k], count[k]}; }
  __device__ int32_t column(const row &r, int32_t e) const { return idx[r.at + e]; }
  __device__ S &value(const row &r, int32_t e) const { return val[r.at + e]; }
};

/* Afterwards, in the rows of x. */
template <class S>
struct packed {
  static constexpr bool fresh = false;
  const int64_t *ptr;
  const int32_t *idx, *of;
  S *val;
  int32_t ny, full; /* full: rows store their diagonal entries */
  bool narrow;      /* as in pass_view */

  struct row {
    int64_t at;
    int32_t count;
  };
  __device__ bool behind_y(int32_t k) const { return of[ny + k] < 0; }
  /* All entries of a row but the diagonal one. */
  __device__ row all(int32_t row_of_joint) const {
    const int64_t at = ptr[row_of_joint];
    return {at, int32_t(ptr[row_of_joint + 1] - at) - full};
  }
  __device__ row find(int32_t k) const {
    row r = all(ny + k);
    const int32_t before = behind_y(k) ? 1 : lower_bound(idx + r.at, r.count, ny);
    return {r.at + before, r.count - before};
  }
  /* The entries of D, in the row of y or in that of x. */
  __device__ row find_D(int32_t k) const {
    row r = all(ny + k);
    if (behind_y(k)) return all(idx[r.at]);
    r.count = lower_bound(idx + r.at, r.count, ny);
    return r;
  }
  __device__ int32_t column(const row &r, int32_t e) const { return idx[r.at + e] - ny; }
  __device__ S &value(const row &r, int32_t e) const { return val[r.at + e]; }
  /* The row of L whose y entry e of D multiplies. */
  __device__ int32_t row_of_y(const row &r, int32_t e) const {
    return trs_row_number(of[idx[r.at + e]]);
  }
  __device__ void set_diagonal(int32_t k, S pivot) const {
    const int64_t at = ptr[ny + k];
    const bool y = behind_y(k);
    const S of_x = y && narrow ? rounded(pivot) : pivot;
    if (y) val[at] = S{} - of_x;
    if (!full) return;
    val[ptr[ny + k + 1] - 1] = of_x;
    if (y) val[ptr[idx[at] + 1] - 1] = pivot;
  }
};

template <class S, class M>
struct pass_view {
  using real = typename element<S>::real;
  pattern_view t;
  const S *val;
  bool unit, narrow; /* narrow: entries will be stored as floats */
  const int32_t *order;
  M rows = {};
  const real *size = nullptr; /* of each x */
  real *largest = nullptr;    /* the sum of the sizes of a row of M */
  trs_substitution_found *found = nullptr;
  /* While M is made: */
  const uint32_t *known = nullptr; /* levels plus one */
  const trs_band_level *level = nullptr;
  unsigned long long *used = nullptr, room = 0; /* entries of the store */
  uint16_t *layer = nullptr;
  int32_t *layers = nullptr;  /* of each band */
  int32_t *in_D = nullptr;    /* by entry of the system: the numbers of the row's entries in D */
  int32_t *d_count = nullptr; /* n: their number */
  int32_t *has_y = nullptr;   /* n: 1 if a row substitutes this one */
  /* In an update: */
  bool poisons = false; /* rows whose growth is too large become NaN */
};

/* Shared memory of a team. */
template <class S, class T>
struct row_memory {
  int32_t column[2][T::MOST]; /* of the row that is made; of the row before a merge */
  int32_t fresh[T::MOST];     /* columns that a merge adds */
  int32_t entry[T::MOST];     /* entries that are substituted */
  S sum[T::MOST];
};

/* True if a product of numbers other than zero has lost digits to underflow. */
template <class S>
__device__ bool underflows(S product, S a, S b) {
  using real = typename element<S>::real;
  constexpr real TINY =
      sizeof(real) == 4 ? real(FLT_MIN / FLT_EPSILON) : real(DBL_MIN / DBL_EPSILON);
  return largest_part(a) != 0 && largest_part(b) != 0 && !(largest_part(product) >= TINY);
}

/* True if a pivot leaves the range of floats. */
template <class S>
__device__ bool leaves_floats(S pivot) {
  return !(largest_part(pivot) >= FLT_MIN && largest_part(pivot) <= FLT_MAX);
}

/* One row, by a team. */
template <class S, class M, class T>
class row_maker {
 public:
  using real = typename element<S>::real;
  enum { LANES = T::LANES, MOST = T::MOST, HELD = T::HELD };

  __device__ row_maker(const pass_view<S, M> &view, row_memory<S, T> &memory, int32_t place)
      : v(view),
        m(memory),
        k(place),
        row(view.t.row(place)),
        lane(this_lane() % LANES),
        first(this_lane() - lane),
        mask(~0u >> (WARP - LANES) << first) {}

  __device__ void make();
  __device__ void renew();

 private:
  const pass_view<S, M> &v;
  row_memory<S, T> &m;
  const int32_t k;
  const row_view row;
  const int lane, first; /* in the team; the team's first in the warp */
  const unsigned mask;
  int32_t count = 0;       /* columns of the row of M, in m.column[now] */
  int32_t substituted = 0; /* entries in m.entry */
  int now = 0;

  __device__ unsigned votes(bool vote) const { return __ballot_sync(mask, vote) >> first; }
  __device__ void sync() const { __syncwarp(mask); }
  __device__ real sum_of_team(real value) const {
    for (int step = LANES / 2; step > 0; step /= 2) value += __shfl_xor_sync(mask, value, step);
    return value;
  }

  __device__ S value(int32_t e) const { return v.val[v.t.entry(row.origin, e)]; }
  __device__ S diagonal(const row_view &of) const { return v.unit ? one<S>() : v.val[of.diagonal]; }

  /* The layer of a row of the band, or -1. */
  __device__ int32_t layer_of(int32_t c, int32_t begin) const {
    return int32_t(v.known[c]) - 1 >= begin ? int32_t(v.layer[c]) : -1;
  }
  /* The row of M that lane t of the team has found. */
  __device__ typename M::row row_of(const typename M::row &its, int t) const {
    return {__shfl_sync(mask, its.at, first + t), __shfl_sync(mask, its.count, first + t)};
  }
  __device__ int32_t find_layer(int32_t begin) const;
  __device__ bool take_entries(int32_t begin, int32_t layer, int32_t most);
  __device__ bool merge(const typename M::row &its, int32_t most);
  __device__ bool find_columns(int32_t begin, int32_t layer, int32_t most);
  template <class Kept>
  __device__ bool sum_values(Kept kept);
  __device__ typename M::row reserve(int32_t entries);
  __device__ void copy_values(const typename M::row &to);
  __device__ void keep_all();
  __device__ void store_row();
};

template <class S, class M, class T>
__device__ int32_t row_maker<S, M, T>::find_layer(int32_t begin) const {
  int32_t layer = -1;
  for (int32_t e = lane; e < row.count; e += LANES)
    layer = max(layer, layer_of(v.t.column(row.origin, e), begin));
  return __reduce_max_sync(mask, layer);
}

/* Entries to substitute, into m.entry, and the columns of the others.  False if they are too many.
 */
template <class S, class M, class T>
__device__ bool row_maker<S, M, T>::take_entries(int32_t begin, int32_t layer, int32_t most) {
  for (int32_t from = 0; from < row.count; from += LANES) {
    const int32_t e = from + lane;
    const bool there = e < row.count;
    const int32_t c = there ? v.t.column(row.origin, e) : -1;
    const bool goes = there && layer_of(c, begin) == layer;
    const unsigned going = votes(goes), staying = votes(there && !goes), before = (1u << lane) - 1;
    if (substituted + __popc(going) > MOST || count + __popc(staying) > most) return false;
    if (goes) m.entry[substituted + __popc(going & before)] = e;
    if (there && !goes) m.column[now][count + __popc(staying & before)] = c;
    substituted += __popc(going);
    count += __popc(staying);
  }
  sync();
  return true;
}

/* Adds the columns of a row of M.  False if there are too many. */
template <class S, class M, class T>
__device__ bool row_maker<S, M, T>::merge(const typename M::row &its, int32_t most) {
  if (its.count > most) return false;
  const int32_t *old = m.column[now];
  int32_t column[HELD], at[HELD], fresh = 0;
  unsigned is_fresh = 0;
#pragma unroll
  for (int u = 0; u < HELD; u++) {
    const int32_t e = u * LANES + lane;
    column[u] = e < its.count ? v.rows.column(its, e) : -1;
  }
#pragma unroll
  for (int u = 0; u < HELD; u++) {
    if (u * LANES >= its.count) break;
    at[u] = lower_bound(old, count, column[u]);
    const bool adds = column[u] >= 0 && !(at[u] < count && old[at[u]] == column[u]);
    const unsigned adding = votes(adds);
    const int32_t number = fresh + __popc(adding & ((1u << lane) - 1));
    fresh += __popc(adding);
    if (count + fresh > most) return false;
    if (!adds) continue;
    is_fresh |= 1u << u;
    m.fresh[number] = column[u];
    at[u] += number;
  }
  if (fresh == 0) return true;
  int32_t *merged = m.column[now ^ 1];
#pragma unroll
  for (int u = 0; u < HELD; u++)
    if (is_fresh >> u & 1) merged[at[u]] = column[u];
  sync();
  for (int32_t e = lane; e < count; e += LANES)
    merged[e + lower_bound(m.fresh, fresh, old[e])] = old[e];
  sync();
  count += fresh;
  now ^= 1;
  return true;
}

template <class S, class M, class T>
__device__ bool row_maker<S, M, T>::find_columns(int32_t begin, int32_t layer, int32_t most) {
  if (layer < 0 || !take_entries(begin, layer, most)) return false;
  for (int32_t from = 0; from < substituted; from += LANES) {
    typename M::row mine = {};
    if (from + lane < substituted) mine = v.rows.find(v.t.column(row.origin, m.entry[from + lane]));
    for (int t = 0; t < min(substituted - from, int32_t(LANES)); t++)
      if (!merge(row_of(mine, t), most)) return false;
  }
  return true;
}

/* m.sum, by the columns in m.column[now]: the row of M, times the diagonal entry.  kept(e, c):
 * entry e, in column c, is not substituted.  False if the growth is too large. */
template <class S, class M, class T>
template <class Kept>
__device__ bool row_maker<S, M, T>::sum_values(Kept kept) {
  const int32_t *column = m.column[now];
  const S pivot = diagonal(row), inverse = reciprocal(pivot);
  real own = 0, bound = 0, sum = 0;
  bool lost = false;
  for (int32_t e = lane; e < count; e += LANES) m.sum[e] = S{};
  sync();
  for (int32_t e = lane; e < row.count; e += LANES) {
    const int32_t c = v.t.column(row.origin, e);
    const S a = value(e);
    own += magnitude(a) * v.size[c];
    if (kept(e, c)) m.sum[lower_bound(column, count, c)] = a;
  }
  sync();
  for (int32_t from = 0; from < substituted; from += LANES) {
    typename M::row mine = {};
    S my_factor = {};
    if (from + lane < substituted) {
      const int32_t entry = m.entry[from + lane], c = v.t.column(row.origin, entry);
      const S a = value(entry), its_pivot = diagonal(v.t.row(c)),
              its_inverse = reciprocal(its_pivot);
      my_factor = a * its_inverse;
      mine = v.rows.find(c);
      bound += magnitude(a) * v.largest[c];
      lost |= underflows(my_factor, a, its_inverse) || (v.narrow && leaves_floats(its_pivot));
    }
    for (int t = 0; t < min(substituted - from, int32_t(LANES)); t++) {
      const auto its = row_of(mine, t);
      const S factor =
          by_parts(my_factor, [&](auto part) { return __shfl_sync(mask, part, first + t); });
      for (int32_t e = lane; e < its.count; e += LANES) {
        const S b = v.rows.value(its, e);
        S &to = m.sum[lower_bound(column, count, v.rows.column(its, e))];
        to = multiply_add(S{} - factor, b, to);
        lost |= underflows(factor * b, factor, b);
      }
      sync();
    }
  }
  for (int32_t e = lane; e < count; e += LANES) {
    const S a = m.sum[e], scaled = a * inverse;
    lost |= underflows(scaled, a, inverse);
    sum += magnitude(scaled) * v.size[column[e]];
  }
  const real size = v.size[k];
  sum = size + sum_of_team(sum);
  own = magnitude(pivot) * size + sum_of_team(own);
  bound = magnitude(pivot) * sum + sum_of_team(bound);
  if (lane == 0) v.largest[k] = sum;
  sync();
  return __all_sync(mask,
                    !lost && isfinite(bound) && bound <= real(TRS_SUBSTITUTION_GROWTH) * own) != 0;
}

/* ---- Making M. ---- */

template <class S, class M, class T>
__device__ typename M::row row_maker<S, M, T>::reserve(int32_t entries) {
  unsigned long long at = 0;
  if (lane == 0) at = atomicAdd(v.used, static_cast<unsigned long long>(entries));
  at = __shfl_sync(mask, at, first);
  const bool fits = at + unsigned(entries) <= v.room;
  if (!fits && lane == 0) v.found->overflow = 1;
  const typename M::row r = {int64_t(fits ? at : 0), fits ? entries : 0};
  if (lane == 0) {
    v.rows.at[k] = r.at;
    v.rows.count[k] = r.count;
    v.d_count[k] = substituted;
  }
  return r;
}

/* Takes the values of the row of the system, and sums the sizes of its row of M. */
template <class S, class M, class T>
__device__ void row_maker<S, M, T>::copy_values(const typename M::row &to) {
  const S inverse = reciprocal(diagonal(row));
  real sum = 0;
  for (int32_t e = lane; e < to.count; e += LANES) {
    const S a = value(e);
    v.rows.value(to, e) = a;
    sum += magnitude(a * inverse) * v.size[v.t.column(row.origin, e)];
  }
  sum = v.size[k] + sum_of_team(sum);
  if (lane == 0) v.largest[k] = sum;
}

template <class S, class M, class T>
__device__ void row_maker<S, M, T>::keep_all() {
  substituted = 0;
  const auto to = reserve(row.count);
  for (int32_t e = lane; e < to.count; e += LANES)
    v.rows.idx[to.at + e] = v.t.column(row.origin, e);
  copy_values(to);
}

template <class S, class M, class T>
__device__ void row_maker<S, M, T>::store_row() {
  const auto to = reserve(count);
  for (int32_t e = lane; e < to.count; e += LANES) {
    v.rows.idx[to.at + e] = m.column[now][e];
    v.rows.value(to, e) = m.sum[e];
  }
  for (int32_t d = lane; d < substituted; d += LANES) {
    v.in_D[v.t.ptr[v.t.mirror(k)] + d] = m.entry[d];
    v.has_y[v.t.column(row.origin, m.entry[d])] = 1;
  }
}

template <class S, class M, class T>
__device__ void row_maker<S, M, T>::make() {
  const trs_band_level band = v.level[v.known[k] - 1];
  const int32_t layer = int32_t(v.known[k]) - 1 > band.begin ? find_layer(band.begin) : -1;
  bool substitutes = find_columns(band.begin, layer, band.most);
  if (substitutes) {
    substitutes = sum_values([&](int32_t, int32_t c) { return layer_of(c, band.begin) != layer; });
    if (!substitutes && lane == 0) atomicAdd(&v.found->guarded, 1);
  }
  const int32_t own = substitutes ? layer : layer + 1;
  if (lane == 0) v.layer[k] = uint16_t(own);
  int32_t *layers = v.layers + band.band;
  if (lane == 0 && own >= load_relaxed(layers)) atomicMax(layers, own + 1);
  if (substitutes)
    store_row();
  else
    keep_all();
}

/* ---- New values for the columns of M. ---- */

template <class S, class M, class T>
__device__ void row_maker<S, M, T>::renew() {
  const auto d = v.rows.find_D(k), its = v.rows.find(k);
  for (int32_t e = lane; e < d.count; e += LANES) {
    const int32_t c = v.t.mirror(v.rows.row_of_y(d, e));
    const int32_t at =
        first_not(0, row.count, [&](int32_t k) { return v.t.column(row.origin, k) < c; });
    m.entry[e] = at;
    v.rows.value(d, e) = value(at);
  }
  if (lane == 0) v.rows.set_diagonal(k, diagonal(row));
  substituted = d.count;
  if (substituted == 0) return copy_values(its);
  count = its.count;
  for (int32_t e = lane; e < count; e += LANES) m.column[now][e] = v.rows.column(its, e);
  sync();
  const bool good = sum_values([&](int32_t e, int32_t) {
    const int32_t at = lower_bound(m.entry, substituted, e);
    return at == substituted || m.entry[at] != e;
  });
  if (!good && lane == 0) {
    atomicAdd(&v.found->guarded, 1);
    if (v.poisons) v.rows.value(d, 0) = not_a_number<S>();
  }
  for (int32_t e = lane; e < count; e += LANES) v.rows.value(its, e) = m.sum[e];
}

template <class T, class S, class M>
__global__ void __launch_bounds__(ANALYSIS_THREADS)
    pass_step(const __grid_constant__ pass_view<S, M> v, int64_t first, int64_t end) {
  __shared__ row_memory<S, T> memory[T::TEAMS];
  await_kernel_before();
  const int64_t at = first + this_thread() / T::LANES;
  if (at >= end) return;
  row_maker<S, M, T> maker(v, memory[threadIdx.x / T::LANES], v.order[at]);
  if constexpr (M::fresh)
    maker.make();
  else
    maker.renew();
}

template <class T, class S, class M>
cudaError_t launch_step(const pass_view<S, M> &v, bool overlaps, int64_t first, int64_t end,
                        cudaStream_t stream) {
  if (first >= end) return cudaSuccess;
  return launch_behind(overlaps, pass_step<T, S, M>, blocks_for((end - first) * T::LANES),
                       ANALYSIS_THREADS, 0, stream, v, first, end);
}

template <class T, class S, class M>
cudaError_t launch_steps(const pass_view<S, M> &v, bool overlaps, const trs_gpu_substitution &r,
                         cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  for (int32_t s = 0; s < r.nsteps && !error; s++)
    error = launch_step<T>(v, overlaps, r.step[s], r.step[s + 1], stream);
  return error;
}

template <class S, class M>
cudaError_t launch_pass(const pass_view<S, M> &v, bool overlaps, const trs_gpu_substitution &r,
                        cudaStream_t stream) {
  return r.most <= small_team::MOST ? launch_steps<small_team>(v, overlaps, r, stream)
                                    : launch_steps<whole_warp>(v, overlaps, r, stream);
}

/* ---- Before the first step: the order of steps, and the sizes of x. ---- */

/* size: of each x, not yet inverted. */
template <class R>
__global__ void order_rows(int64_t n, const int32_t *by_level, const uint32_t *known,
                           const trs_band_level *level, int32_t *order, R *size) {
  const int64_t p = this_thread();
  if (p >= n) return;
  const int32_t k = by_level[p];
  const trs_band_level band = level[known[k] - 1];
  order[band.turn + (p - band.position)] = k;
  size[p] = R(1) / size[p];
}

__device__ inline void raise(float *to, float value) {
  if (value > 0) atomicMax(reinterpret_cast<int *>(to), __float_as_int(value));
}
__device__ inline void raise(double *to, double value) {
  if (value > 0)
    atomicMax(reinterpret_cast<unsigned long long *>(to),
              static_cast<unsigned long long>(__double_as_longlong(value)));
}

/* The largest entry of each column, after division of each row by its largest.  LANES per row. */
template <class S, int LANES>
__global__ void __launch_bounds__(ANALYSIS_THREADS)
    find_sizes(pattern_view t, const S *val, bool unit, typename element<S>::real *size) {
  using real = typename element<S>::real;
  const int64_t k = this_thread() / LANES;
  const bool there = k < t.n;
  const row_view row = there ? t.row(k) : row_view{0, 0, 0};
  const int lane = this_lane() % LANES;
  const real own = !there ? real(0) : unit ? real(1) : magnitude(val[row.diagonal]);
  real most = own;
  for (int32_t e = lane; e < row.count; e += LANES)
    most = fmax(most, magnitude(val[t.entry(row.origin, e)]));
  for (int step = LANES / 2; step > 0; step /= 2)
    most = fmax(most, __shfl_xor_sync(~0u, most, step));
  for (int32_t e = lane; e < row.count; e += LANES)
    raise(size + t.column(row.origin, e), magnitude(val[t.entry(row.origin, e)]) / most);
  if (there && lane == 0) raise(size + k, own / most);
}

template <class R>
__global__ void invert_sizes(int64_t n, R *size) {
  const int64_t k = this_thread();
  if (k < n) size[k] = R(1) / size[k];
}

/* The sizes, to be inverted; size is zero. */
template <class S>
void launch_sizes(const trs_system &system, typename element<S>::real *size, cudaStream_t stream) {
  enum { LANES = 8 };
  find_sizes<S, LANES><<<blocks_for(system.n * LANES), ANALYSIS_THREADS, 0, stream>>>(
      pattern_view(system), static_cast<const S *>(system.val), system.unit, size);
}

/* ---- After the last step: the joint system. ---- */

/* Counts by row of the system, and what is summed along them. */
struct row_counts {
  int32_t n, full; /* full: rows store their diagonal entries */
  const int32_t *has_y, *d_count, *m_count;
  int32_t *number; /* n: has_y, summed */
  int64_t *ptr;    /* 2 n + 1: begins of the rows of the joint system */
  int32_t nbands;
  const int32_t *layers;
  int32_t *first; /* nbands + 1: levels before each band, and of all */

  __device__ int32_t entries_of_y(int32_t k) const { return has_y[k] ? d_count[k] + full : 0; }
  __device__ int32_t entries_of_x(int32_t k) const {
    return (has_y[k] ? 1 : d_count[k]) + m_count[k] + full;
  }
  __device__ void tell(int64_t entries, const trs_substitution_found &there,
                       trs_substitution_found *found) const {
    *found = there;
    found->ny = number[n - 1];
    found->entries = entries;
    found->nlevels = first[nbands];
  }
};

/* Entries of each row, for a sum along them. */
__global__ void count_entries(const __grid_constant__ row_counts v) {
  const int64_t k = this_thread();
  if (k >= v.n) return;
  const int32_t ny = v.number[v.n - 1];
  int64_t *count = v.ptr + 1;
  if (k == 0) v.ptr[0] = 0;
  if (v.has_y[k]) count[v.number[k] - 1] = v.entries_of_y(int32_t(k));
  count[ny + k] = v.entries_of_x(int32_t(k));
  if (k >= ny) count[v.n + k] = 0;
}

/* found: pinned host memory. */
__global__ void store_counts(const __grid_constant__ row_counts v,
                             const trs_substitution_found *there, trs_substitution_found *found) {
  v.tell(v.ptr[2 * int64_t(v.n)], *there, found);
}

enum { SUM_THREADS = 1024, SUM_ROWS = 8 * SUM_THREADS /* one block of threads sums so many */ };

/* put(k, sum of get(0 .. k - 1), get(k)) for k < count, by a block of threads.  Returns the sum of
 * all. */
template <class T, class Get, class Put>
__device__ T sum_along(int32_t count, Get get, Put put) {
  using scan = cub::BlockScan<T, SUM_THREADS>;
  __shared__ typename scan::TempStorage memory;
  const int32_t each = (count + SUM_THREADS - 1) / SUM_THREADS;
  const int32_t begin = min(int32_t(threadIdx.x) * each, count), end = min(begin + each, count);
  T before = 0, all;
  for (int32_t k = begin; k < end; k++) before += get(k);
  scan(memory).ExclusiveSum(before, before, all);
  for (int32_t k = begin; k < end; k++) {
    const T own = get(k);
    put(k, before, own);
    before += own;
  }
  __syncthreads();
  return all;
}

/* All sums of a small system. */
__global__ void __launch_bounds__(SUM_THREADS)
    sum_small(const __grid_constant__ row_counts v, const trs_substitution_found *there,
              trs_substitution_found *found) {
  const int32_t ny = sum_along<int32_t>(
      v.n, [&](int32_t k) { return v.has_y[k]; },
      [&](int32_t k, int32_t before, int32_t own) { v.number[k] = before + own; });
  const int64_t in_y = sum_along<int64_t>(
      v.n, [&](int32_t k) { return int64_t(v.entries_of_y(k)); },
      [&](int32_t k, int64_t before, int64_t) {
        if (v.has_y[k]) v.ptr[v.number[k] - 1] = before;
      });
  const int64_t in_x = sum_along<int64_t>(
      v.n, [&](int32_t k) { return int64_t(v.entries_of_x(k)); },
      [&](int32_t k, int64_t before, int64_t) { v.ptr[ny + k] = in_y + before; });
  const int32_t levels = sum_along<int32_t>(
      v.nbands, [&](int32_t b) { return v.layers[b]; },
      [&](int32_t b, int32_t before, int32_t) { v.first[b] = before; });
  if (threadIdx.x > 0) return;
  v.ptr[ny + v.n] = in_y + in_x;
  v.first[v.nbands] = levels;
  v.tell(in_y + in_x, *there, found);
}

/* Some levels: the turn of the first row of each, and their rows. */
struct sample_levels {
  enum { MOST = 2 * TRS_SUBSTITUTION_DEPTH };
  int32_t first[MOST], rows[MOST], count;
};
/* What a pass made of a level. */
struct level_sample {
  unsigned long long entries; /* of M */
  int32_t layers;             /* up to its rows */
};

__global__ void __launch_bounds__(ANALYSIS_THREADS)
    sum_sample(const __grid_constant__ sample_levels v, const int32_t *order,
               const int32_t *m_count, const uint16_t *layer, level_sample *sample) {
  level_sample *const to = sample + blockIdx.x;
  unsigned long long entries = 0;
  int32_t layers = 0;
  for (int32_t k = int32_t(threadIdx.x); k < v.rows[blockIdx.x]; k += ANALYSIS_THREADS) {
    const int32_t row = order[v.first[blockIdx.x] + k];
    entries += unsigned(m_count[row]);
    layers = max(layers, layer[row] + 1);
  }
  if (layers == 0) return;
  atomicAdd(&to->entries, entries);
  atomicMax(&to->layers, layers);
}

template <class S>
struct gather_view {
  pattern_view t;
  const S *val;
  bool unit, narrow;
  store<S> rows;
  const int32_t *in_D, *d_count, *has_y, *number, *first;
  const uint16_t *layer;
  const uint32_t *known; /* levels of the system, plus one */
  const trs_band_level *level;
  trs_gpu_substitution joint;
};

template <class S, int LANES>
__global__ void __launch_bounds__(ANALYSIS_THREADS)
    gather(const __grid_constant__ gather_view<S> v) {
  const int32_t k = int32_t(this_thread() / LANES), lane = this_lane() % LANES;
  if (k >= v.t.n) return;
  const trs_gpu_substitution &j = v.joint;
  const trs_system &to = j.joint;
  const int32_t i = v.t.mirror(k), y = v.has_y[k] ? v.number[k] - 1 : -1, x = j.ny + k;
  const auto row = v.t.row(k);
  const auto its = v.rows.find(k);
  const int32_t in_D = v.d_count[k];
  auto *idx = const_cast<int32_t *>(to.idx);
  auto *val = static_cast<S *>(const_cast<void *>(to.val));
  const int64_t d = to.ptr[y >= 0 ? y : x], m = to.ptr[x] + (y >= 0 ? 1 : in_D);
  for (int32_t e = lane; e < in_D; e += LANES) {
    const int32_t number = v.in_D[v.t.ptr[i] + e];
    idx[d + e] = v.number[v.t.column(row.origin, number)] - 1;
    val[d + e] = v.val[v.t.entry(row.origin, number)];
  }
  for (int32_t e = lane; e < its.count; e += LANES) {
    idx[m + e] = j.ny + v.rows.column(its, e);
    val[m + e] = v.rows.value(its, e);
  }
  if (lane > 0) return;
  const S pivot = v.unit ? one<S>() : v.val[row.diagonal];
  auto set = [&](int64_t at, int32_t column, S value) {
    idx[at] = column;
    val[at] = value;
  };
  const trs_band_level band = v.level[v.known[k] - 1];
  const uint32_t level = 1 + uint32_t(v.first[band.band]) + v.layer[k];
  const S of_x = y >= 0 && v.narrow ? rounded(pivot) : pivot;
  if (!v.unit) set(m + its.count, x, of_x);
  j.known[x] = level;
  j.of[x] = y < 0 ? i : TRS_ROW_BEHIND_Y + i;
  if (y < 0) return;
  set(to.ptr[x], y, S{} - of_x);
  if (!v.unit) set(d + in_D, y, pivot);
  j.known[y] = level - uint32_t(band.ahead);
  j.of[y] = TRS_ROW_OF_Y + i;
}

/* ---- Memory. ---- */

/* What is needed until the joint system is complete. */
struct work_arrays {
  int64_t n, nnz, room, real_bytes, scalar_bytes, scan_bytes;
  int32_t nlevels, nbands;
  bool narrow;
  trs_band_level *level;
  int64_t *at, *ptr; /* ptr: 2 n + 1 */
  int32_t *m_count, *d_count, *has_y, *number, *idx, *in_D, *order;
  int32_t *layers, *first; /* nbands + 1 */
  char *val, *size, *largest, *scan;
  uint16_t *layer;
  unsigned long long *used;
  level_sample *sample;
  trs_substitution_found *found;

  void operator()(arena &a) {
    a.take(&level, nlevels);
    /* From found on to the end of has_y: zeros before each pass.  size: before its sizes. */
    a.take(&found, 1);
    a.take(&used, 1);
    a.take(&sample, sample_levels::MOST);
    a.take(&layers, nbands + 1);
    a.take(&has_y, n);
    a.take(&size, n * real_bytes);
    a.take(&largest, n * real_bytes);
    a.take(&first, nbands + 1);
    a.take(&at, n);
    a.take(&m_count, n);
    a.take(&d_count, n);
    a.take(&number, n);
    a.take(&ptr, 2 * n + 1);
    a.take(&order, n);
    a.take(&layer, n);
    a.take(&in_D, nnz);
    a.take(&idx, room);
    a.take(&val, room * scalar_bytes);
    a.take(&scan, scan_bytes);
  }
};

/* Clears what a pass counts in, and with `sizes` also these. */
trs_status clear_counts(const cut &c, const work_arrays &w, bool sizes) {
  const char *const begin = reinterpret_cast<const char *>(w.found);
  const char *const end =
      sizes ? w.size + w.n * w.real_bytes : reinterpret_cast<const char *>(w.has_y + w.n);
  return trs_device_fill(w.found, 0, end - begin, c.stream);
}

enum class sum { numbers, begins, levels };

/* With NULL for w.scan only finds the bytes that the sum needs. */
cudaError_t sum_counts(const work_arrays &w, sum wanted, size_t *bytes, cudaStream_t stream) {
  using scan = cub::DeviceScan;
  switch (wanted) {
    case sum::numbers:
      return scan::InclusiveSum(w.scan, *bytes, w.has_y, w.number, w.n, stream);
    case sum::begins:
      return scan::InclusiveSum(w.scan, *bytes, w.ptr + 1, w.ptr + 1, 2 * w.n, stream);
    default:
      return scan::ExclusiveSum(w.scan, *bytes, w.layers, w.first, w.nbands + 1, stream);
  }
}

cudaError_t find_scan_bytes(work_arrays &w, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  w.scan = nullptr;
  for (sum each : {sum::numbers, sum::begins, sum::levels}) {
    size_t bytes = 0;
    if (!error) error = sum_counts(w, each, &bytes, stream);
    if (int64_t(bytes) > w.scan_bytes) w.scan_bytes = int64_t(bytes);
  }
  return error;
}

int64_t bytes_of_real(trs_scalar scalar) {
  return scalar == TRS_FLOAT || scalar == TRS_SCOMPLEX ? sizeof(float) : sizeof(double);
}

/* The arrays of the joint system; known only for its first slices. */
trs_status allocate_arrays(trs_gpu_substitution &r, bool first, trs_device *device,
                           trs_stream stream) {
  trs_system &to = r.joint;
  const int64_t size = size_of_scalar(to.scalar);
  int64_t *ptr;
  int32_t *idx;
  char *val;
  TRS_TRY(allocate(device, &r.memory, stream, [&](arena &a) {
    a.take(&ptr, to.n + 1);
    a.take(&idx, to.nnz);
    a.take(&val, to.nnz * size);
    a.take(&r.of, to.n);
    if (first) a.take(&r.known, to.n);
  }));
  to.ptr = ptr, to.idx = idx, to.val = val;
  return TRS_SUCCESS;
}

template <class S>
pass_view<S, store<S>> view_of(const cut &c, const work_arrays &w) {
  using real = typename element<S>::real;
  const trs_system &s = c.system;
  return {pattern_view(s),
          static_cast<const S *>(s.val),
          s.unit,
          w.narrow,
          w.order,
          {w.at, w.m_count, w.idx, reinterpret_cast<S *>(w.val)},
          reinterpret_cast<const real *>(w.size),
          reinterpret_cast<real *>(w.largest),
          w.found,
          c.known,
          w.level,
          w.used,
          static_cast<unsigned long long>(w.room),
          w.layer,
          w.layers,
          w.in_D,
          w.d_count,
          w.has_y};
}

template <class S>
cudaError_t prepare_pass(const cut &c, const work_arrays &w) {
  const trs_system &s = c.system;
  auto *size = reinterpret_cast<typename element<S>::real *>(w.size);
  launch_sizes<S>(s, size, c.stream);
  order_rows<<<blocks_for(s.n), ANALYSIS_THREADS, 0, c.stream>>>(s.n, c.o.order[c.numbers.order],
                                                                 c.known, w.level, w.order, size);
  return cudaGetLastError();
}

/* f(level) for the levels of the bands at a third and at two thirds of the levels. */
template <class F>
void for_sample(const trs_bands &bands, F f) {
  for (int part = 1; part < 3; part++) {
    const int32_t band = bands.level[int64_t(bands.nlevels) * part / 3].band;
    for (int32_t l = bands.level[int64_t(bands.nlevels) * part / 3].begin;
         l < bands.nlevels && bands.level[l].band == band; l++)
      f(l);
  }
}

template <class S>
cudaError_t pass_sample(const cut &c, const work_arrays &w, const trs_bands &bands, int32_t most) {
  const pass_view<S, store<S>> v = view_of<S>(c, w);
  cudaError_t error = cudaSuccess;
  for_sample(bands, [&](int32_t l) {
    const int64_t first = bands.level[l].turn, end = first + trs_band_rows(&bands, l);
    if (!error)
      error = most <= small_team::MOST
                  ? launch_step<small_team>(v, overlaps(c), first, end, c.stream)
                  : launch_step<whole_warp>(v, overlaps(c), first, end, c.stream);
  });
  return error;
}

cudaError_t end_counts(const cut &c, const work_arrays &w, trs_substitution_found *found) {
  const trs_system &s = c.system;
  const row_counts v = {int32_t(s.n), !s.unit, w.has_y,  w.d_count, w.m_count,
                        w.number,     w.ptr,   w.nbands, w.layers,  w.first};
  if (s.n <= SUM_ROWS) {
    sum_small<<<1, SUM_THREADS, 0, c.stream>>>(v, w.found, found);
    return cudaGetLastError();
  }
  size_t bytes = size_t(w.scan_bytes);
  cudaError_t error = sum_counts(w, sum::numbers, &bytes, c.stream);
  if (error) return error;
  count_entries<<<blocks_for(s.n), ANALYSIS_THREADS, 0, c.stream>>>(v);
  error = sum_counts(w, sum::begins, &bytes, c.stream);
  if (!error) error = sum_counts(w, sum::levels, &bytes, c.stream);
  if (error) return error;
  store_counts<<<1, 1, 0, c.stream>>>(v, w.found, found);
  return cudaGetLastError();
}

template <class S>
cudaError_t begin_pass(const cut &c, const work_arrays &w, const trs_gpu_substitution &r,
                       trs_substitution_found *found) {
  const cudaError_t error = launch_pass(view_of<S>(c, w), overlaps(c), r, c.stream);
  return error ? error : end_counts(c, w, found);
}

template <class S>
cudaError_t end_pass(const cut &c, const work_arrays &w, const trs_gpu_substitution &r) {
  enum { LANES = 8 };
  const trs_system &s = c.system;
  cudaError_t error =
      cudaMemcpyAsync(const_cast<int64_t *>(r.joint.ptr), w.ptr,
                      size_t(r.joint.n + 1) * sizeof(int64_t), cudaMemcpyDeviceToDevice, c.stream);
  if (!error)
    error = cudaMemcpyAsync(r.order, w.order, size_t(s.n) * sizeof *r.order,
                            cudaMemcpyDeviceToDevice, c.stream);
  if (error) return error;
  const gather_view<S> v = {pattern_view(s),
                            static_cast<const S *>(s.val),
                            s.unit,
                            w.narrow,
                            {w.at, w.m_count, w.idx, reinterpret_cast<S *>(w.val)},
                            w.in_D,
                            w.d_count,
                            w.has_y,
                            w.number,
                            w.first,
                            w.layer,
                            c.known,
                            w.level,
                            r};
  gather<S, LANES><<<blocks_for(s.n * LANES), ANALYSIS_THREADS, 0, c.stream>>>(v);
  return cudaGetLastError();
}

/* Runs f(element) for the system's type. */
template <class F>
trs_status by_type(const cut &c, F f) {
  return trs_device_check(by_scalar(c.system.scalar, f), "substituting rows");
}

trs_status take_sample(const cut &c, const trs_bands &bands, const work_arrays &w, int32_t most,
                       trs_substitution_sample *sample) {
  level_sample found[sample_levels::MOST];
  int32_t step[sample_levels::MOST];
  sample_levels v = {};
  *sample = trs_substitution_sample{};
  for_sample(bands, [&](int32_t l) {
    step[v.count] = l - bands.level[l].begin;
    v.first[v.count] = bands.level[l].turn;
    v.rows[v.count++] = int32_t(trs_band_rows(&bands, l));
  });
  TRS_TRY(
      by_type(c, [&](auto element) { return pass_sample<decltype(element)>(c, w, bands, most); }));
  sum_sample<<<v.count, ANALYSIS_THREADS, 0, c.stream>>>(v, w.order, w.m_count, w.layer, w.sample);
  TRS_TRY(trs_device_check(cudaGetLastError(), "substituting rows"));
  TRS_TRY(trs_device_copy(found, w.sample, v.count * int64_t(sizeof *found), c.stream));
  TRS_TRY(trs_device_wait(c.stream));
  for (int32_t l = 0; l < v.count; l++) {
    sample->rows[step[l]] += v.rows[l];
    sample->entries[step[l]] += int64_t(found[l].entries);
    if (found[l].layers > sample->layers[step[l]]) sample->layers[step[l]] = found[l].layers;
  }
  return clear_counts(c, w, false);
}

/* *worth: false if `judge` refuses the sample; nothing is made then. */
trs_status make(const cut &c, const trs_bands &bands, const work_arrays &w, trs_gpu_substitution &r,
                trs_substitution_judge judge, void *argument, bool *worth,
                trs_substitution_found *found) {
  TRS_TRY(
      trs_device_copy(w.level, bands.level, bands.nlevels * int64_t(sizeof *w.level), c.stream));
  TRS_TRY(clear_counts(c, w, true));
  TRS_TRY(by_type(c, [&](auto element) { return prepare_pass<decltype(element)>(c, w); }));
  if (judge) {
    trs_substitution_sample sample;
    TRS_TRY(take_sample(c, bands, w, r.most, &sample));
    *worth = judge(argument, &sample);
    if (!*worth) return TRS_SUCCESS;
  }
  TRS_TRY(by_type(c, [&](auto element) { return begin_pass<decltype(element)>(c, w, r, found); }));
  TRS_TRY(trs_device_wait(c.stream));
  if (found->overflow) return TRS_SUCCESS;
  r.ny = found->ny;
  r.nlevels = found->nlevels;
  r.joint.n = c.system.n + r.ny;
  r.joint.nnz = found->entries;
  r.guarded = found->guarded;
  TRS_TRY(trs_device_alloc(c.device, reinterpret_cast<void **>(&r.order), c.system.n,
                           int64_t(sizeof *r.order), c.stream));
  TRS_TRY(allocate_arrays(r, true, c.device, c.stream));
  return by_type(c, [&](auto element) { return end_pass<decltype(element)>(c, w, r); });
}

/* What an update needs; found: zero at first. */
struct renewal_arrays {
  int64_t n, real_bytes;
  char *size, *largest;
  trs_substitution_found *found;

  explicit renewal_arrays(const trs_system &s) : n(s.n), real_bytes(bytes_of_real(s.scalar)) {}
  void operator()(arena &a) {
    a.take(&size, n * real_bytes);
    a.take(&largest, n * real_bytes);
    a.take(&found, 1);
  }
  void place(void *memory) {
    arena a(memory);
    (*this)(a);
  }
};

template <class S>
cudaError_t renew(const trs_gpu_substitution &r, const trs_system &s, bool overlaps,
                  const renewal_arrays &w, bool poisons, cudaStream_t stream) {
  using real = typename element<S>::real;
  auto *size = reinterpret_cast<real *>(w.size);
  cudaError_t error = cudaMemsetAsync(size, 0, size_t(s.n) * sizeof(real), stream);
  if (error) return error;
  launch_sizes<S>(s, size, stream);
  invert_sizes<<<blocks_for(s.n), ANALYSIS_THREADS, 0, stream>>>(s.n, size);
  error = cudaGetLastError();
  if (error) return error;
  pass_view<S, packed<S>> v = {
      pattern_view(s),
      static_cast<const S *>(s.val),
      s.unit,
      r.narrow,
      r.order,
      {r.joint.ptr, r.joint.idx, r.of, static_cast<S *>(const_cast<void *>(r.joint.val)), r.ny,
       !s.unit, r.narrow},
      size,
      reinterpret_cast<real *>(w.largest),
      w.found};
  v.poisons = poisons;
  return launch_pass(v, overlaps, r, stream);
}

trs_status launch_renewal(const trs_gpu_substitution &r, trs_device *device,
                          const trs_system &system, const renewal_arrays &w, bool poisons,
                          trs_substitution_found *found, trs_stream stream) {
  const bool overlaps = trs_device_look(device)->capability >= 9;
  TRS_TRY(trs_device_check(by_scalar(system.scalar,
                                     [&](auto element) {
                                       return renew<decltype(element)>(
                                           r, system, overlaps, w, poisons,
                                           static_cast<cudaStream_t>(stream));
                                     }),
                           "substituting rows"));
  return trs_device_copy(found, w.found, sizeof *found, stream);
}

trs_status clear_found(const renewal_arrays &w, trs_stream stream) {
  return trs_device_fill(w.found, 0, sizeof *w.found, stream);
}

__global__ void take_rows(int64_t n, const int32_t *row, const int32_t *of, int32_t *to) {
  const int64_t p = this_thread();
  if (p < n) to[p] = of[row[p]];
}

__global__ void give_rows(int64_t n, const int32_t *row, const int32_t *of_position, int32_t *of) {
  const int64_t p = this_thread();
  if (p < n) of[row[p]] = of_position[p];
}

}  // namespace

extern "C" trs_status trs_gpu_substitute(trs_gpu_substitution *result, bool *made,
                                         const trs_gpu_cut *c, const trs_bands *bands,
                                         int64_t most_entries, bool store_float,
                                         trs_substitution_judge worth, void *argument,
                                         trs_substitution_found *found) {
  const trs_system &s = c->system;
  work_arrays w = {};
  void *memory = nullptr;
  bool is_worth = s.n <= TRS_MOST_JOINT_ROWS;
  *result = trs_gpu_substitution{};
  *found = trs_substitution_found{};
  *made = false;
  if (!is_worth) return TRS_SUCCESS;
  result->joint = s;
  result->joint.lower = true;
  result->joint.conj = false;
  result->joint.has_diagonal = !s.unit;
  result->nsteps = bands->nsteps;
  result->most = bands->most;
  for (int32_t k = 0; k <= bands->nsteps; k++) result->step[k] = bands->step[k];
  w.room = bands->most_entries < most_entries ? bands->most_entries : most_entries;
  w.n = s.n;
  w.nnz = s.nnz;
  w.nlevels = bands->nlevels;
  w.nbands = bands->nbands;
  w.narrow = result->narrow = store_float;
  w.real_bytes = bytes_of_real(s.scalar);
  w.scalar_bytes = size_of_scalar(s.scalar);
  TRS_TRY(trs_device_check(find_scan_bytes(w, c->stream), "summing"));
  trs_status status = allocate(c->device, &memory, c->stream, [&](arena &a) { w(a); });
  if (!status) status = make(*c, *bands, w, *result, worth, argument, &is_worth, found);
  trs_device_free(c->device, memory, c->stream);
  *made = !status && is_worth && !found->overflow;
  if (!*made) trs_gpu_substitution_free(result, c->device, c->stream);
  return status;
}

extern "C" trs_status trs_gpu_substitute_again(const trs_gpu_substitution *r, trs_device *device,
                                               const trs_system *system,
                                               trs_substitution_found *found, trs_stream stream) {
  renewal_arrays w(*system);
  void *memory = r->kept;
  if (memory)
    w.place(memory);
  else
    TRS_TRY(allocate(device, &memory, stream, [&](arena &a) { w(a); }));
  trs_status status = clear_found(w, stream);
  if (!status) status = launch_renewal(*r, device, *system, w, false, found, stream);
  if (!status) status = trs_device_wait(stream);
  if (!r->kept) trs_device_free(device, memory, stream);
  return status;
}

extern "C" trs_status trs_gpu_substitution_keep(trs_gpu_substitution *r, trs_device *device,
                                                const trs_system *system, trs_stream stream) {
  renewal_arrays w(*system);
  TRS_TRY(allocate(device, &r->kept, stream, [&](arena &a) { w(a); }));
  return clear_found(w, stream);
}

extern "C" trs_status trs_gpu_substitution_launch(const trs_gpu_substitution *r, trs_device *device,
                                                  const trs_system *system,
                                                  trs_substitution_found *found,
                                                  trs_stream stream) {
  renewal_arrays w(*system);
  w.place(r->kept);
  return launch_renewal(*r, device, *system, w, true, found, stream);
}

extern "C" trs_status trs_gpu_substitution_rows(const trs_gpu_substitution *s, const int32_t *row,
                                                int32_t *to, trs_stream stream) {
  take_rows<<<blocks_for(s->joint.n), ANALYSIS_THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
      s->joint.n, row, s->of, to);
  return trs_device_check(cudaGetLastError(), "substituting rows");
}

extern "C" trs_status trs_gpu_substitution_restore(trs_gpu_substitution *s, trs_device *device,
                                                   const trs_slices *slices,
                                                   const trs_slices_map *map,
                                                   const int32_t *of_position, trs_stream stream) {
  const trs_system &to = s->joint;
  TRS_TRY(allocate_arrays(*s, false, device, stream));
  trs_status status =
      trs_gpu_slices_pattern(slices, map, to.has_diagonal, const_cast<int64_t *>(to.ptr),
                             const_cast<int32_t *>(to.idx), device, stream);
  if (!status) {
    give_rows<<<blocks_for(to.n), ANALYSIS_THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
        to.n, slices->row, of_position, s->of);
    status = trs_device_check(cudaGetLastError(), "substituting rows");
  }
  if (status) trs_gpu_substitution_drop_arrays(s, device, stream);
  return status;
}

extern "C" void trs_gpu_substitution_drop_arrays(trs_gpu_substitution *s, trs_device *device,
                                                 trs_stream stream) {
  trs_device_free(device, s->memory, stream);
  s->memory = nullptr;
  s->of = nullptr;
  s->known = nullptr;
  s->place = nullptr;
  s->joint.ptr = nullptr, s->joint.idx = nullptr, s->joint.val = nullptr;
}

extern "C" void trs_gpu_substitution_free(trs_gpu_substitution *s, trs_device *device,
                                          trs_stream stream) {
  trs_gpu_substitution_drop_arrays(s, device, stream);
  trs_device_free(device, s->order, stream);
  trs_device_free(device, s->kept, stream);
  trs_device_free(device, s->starts, stream);
  *s = trs_gpu_substitution{};
}

extern "C" int64_t trs_gpu_substitution_bytes(const trs_gpu_substitution *s, int64_t n) {
  if (!s->order) return 0;
  int64_t bytes = n * int64_t(sizeof *s->order);
  const trs_system &to = s->joint;
  if (s->memory) bytes += (to.n + 1) * 8 + to.nnz * (4 + size_of_scalar(to.scalar)) + to.n * 4;
  if (s->starts) bytes += n;
  if (s->kept) bytes += 2 * n * bytes_of_real(to.scalar);
  return bytes;
}
