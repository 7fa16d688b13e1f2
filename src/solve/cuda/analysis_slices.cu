/* analysis_slices.cu - blocks in order of level and class, cut in slices and chunks.
 *
 * The order is a radix sort of (level, class), stable, of no more bits than there are levels and
 * classes.  What the plain version (analysis/slice.c) counts on its way along the order are scans
 * here: where a run of one class begins, slices before a block, rows before it, entries and
 * inverses before a slice, chunks before a level.  O(blocks) but for the sort. */
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <climits>

extern "C" {
#include "base/memory.h"
}
#include "solve/cuda/analysis.cuh"

namespace {

using namespace trs;

enum {
  LONGEST = 1 << 30,    /* so that lengths shifted by lanes fit, as in slice.c */
  MOST_COUNTED = 12288, /* levels whose rows a block of threads counts in its shared memory */
  COUNTING_BLOCKS = 2   /* a multiprocessor */
};

/* ---- Classes: those that can occur, numbered in their order. ---- */

struct classes {
  uint32_t count;
  uint8_t rank[TRS_CLASSES], number[TRS_CLASSES];
};

/* A class changes only where a length passes one of the steps. */
void use_classes(bool *used, const trs_slice_rules &rules, int32_t rows, int32_t level_rows,
                 int32_t longest) {
  const int32_t most = trs_most_lanes(trs_block_class(rows));
  used[trs_class_of(rules, rows, 0, level_rows)] = true;
  for (int32_t width : {rules.heavy_width, rules.wide_heavy_width})
    if (width << most < longest)
      used[trs_class_of(rules, rows, (width << most) + 1, level_rows)] = true;
  for (int32_t each : {rules.lane_length, rules.wide_lane_length})
    for (int lanes = 0; lanes < most && each << lanes < longest; lanes++)
      used[trs_class_of(rules, rows, (each << lanes) + 1, level_rows)] = true;
}

classes classes_of(const trs_slice_rules &rules, int32_t longest) {
  classes c = {};
  bool used[TRS_CLASSES] = {};
  for (int32_t rows = 1; rows <= rules.most_block; rows++)
    for (int32_t level_rows : {0, rules.narrow_rows, rules.wide_rows})
      use_classes(used, rules, rows, level_rows, longest);
  for (int k = 0; k < TRS_CLASSES; k++) {
    if (!used[k]) continue;
    c.number[c.count] = uint8_t(k);
    c.rank[k] = uint8_t(c.count++);
  }
  return c;
}

/* ---- Rows of each level, where classes depend on them. ---- */

bool needs_level_rows(const analysis &a) {
  const trs_slice_rules &r = a.rules;
  const int32_t rows = r.most_block < TRS_LIGHT_BLOCK ? r.most_block : int32_t(TRS_LIGHT_BLOCK);
  const int32_t most = trs_most_lanes(trs_block_class(rows));
  const bool lanes = r.lane_length != r.wide_lane_length && a.t.n >= r.wide_rows &&
                     (a.longest > r.lane_length || a.longest > r.wide_lane_length);
  const bool heavy = r.heavy_width != r.wide_heavy_width && a.t.n >= r.narrow_rows &&
                     (a.longest > r.heavy_width << most || a.longest > r.wide_heavy_width << most);
  return lanes || heavy;
}

__global__ void __launch_bounds__(ANALYSIS_THREADS)
    count_level_rows(blocks_view blocks, const uint32_t *known, int32_t nlevels,
                     int32_t *level_rows, bool in_shared) {
  extern __shared__ int32_t mine[];
  for (int32_t k = threadIdx.x; in_shared && k < nlevels; k += ANALYSIS_THREADS) mine[k] = 0;
  __syncthreads();
  for (int64_t b = this_thread(); b < blocks.count; b += int64_t(gridDim.x) * ANALYSIS_THREADS)
    atomicAdd((in_shared ? mine : level_rows) + known[b] - 1, blocks.rows(int32_t(b)));
  __syncthreads();
  for (int32_t k = threadIdx.x; in_shared && k < nlevels; k += ANALYSIS_THREADS)
    if (mine[k] > 0) atomicAdd(level_rows + k, mine[k]);
}

trs_status count_rows(analysis &a, int32_t **level_rows) {
  const int32_t nlevels = a.slices->nlevels;
  const bool in_shared = nlevels <= MOST_COUNTED;
  const size_t bytes = size_t(nlevels) * sizeof **level_rows;
  const unsigned most = unsigned(COUNTING_BLOCKS * trs_device_look(a.device)->multiprocessors);
  const unsigned all = blocks_for(a.blocks.count), grid = all < most ? all : most;
  TRS_TRY(a.space.get(level_rows, nlevels));
  TRS_TRY(trs_device_fill(*level_rows, 0, int64_t(bytes), a.stream));
  count_level_rows<<<grid, ANALYSIS_THREADS, in_shared ? bytes : 0, a.stream>>>(
      a.blocks, a.known, nlevels, *level_rows, in_shared);
  return trs_device_check(cudaGetLastError(), "counting rows");
}

/* ---- The order.  A key is level * classes + class. ---- */

template <class K>
__global__ void make_keys(blocks_view blocks, const uint32_t *known, const int32_t *length,
                          const int32_t *level_rows, trs_slice_rules rules,
                          const __grid_constant__ classes c, K *key, int32_t *order,
                          uint8_t *number) {
  int64_t at = this_thread();
  if (at < TRS_CLASSES) number[at] = c.number[at];
  if (at >= blocks.count) return;
  int32_t b = int32_t(at), level = int32_t(known[b] - 1);
  int32_t kind = trs_class_of(rules, blocks.rows(b), min(length[b], int32_t(LONGEST)),
                              level_rows ? level_rows[level] : 0);
  key[b] = K(level) * c.count + c.rank[kind];
  order[b] = b;
}

template <class K>
struct order_view {
  const K *key;
  const int32_t *order; /* blocks */
  const int32_t *run;   /* where the run of equal keys began */
  const int32_t *length;
  const uint8_t *number; /* classes */
  uint32_t nclasses;

  __host__ __device__ int32_t level(int32_t k) const { return int32_t(key[k] / nclasses); }
  __host__ __device__ int32_t class_number(int32_t k) const { return number[key[k] % nclasses]; }
  __host__ __device__ int32_t width(int32_t k, int32_t log_lanes) const {
    return int32_t((int64_t(length[order[k]]) + (1 << log_lanes) - 1) >> log_lanes);
  }
  /* Slices that begin with the block at place k. */
  __host__ __device__ int32_t slices(int32_t k) const {
    int32_t kind = class_number(k);
    if (trs_class_heavy(kind)) return trs_heavy_slices(width(k, trs_class_lanes(kind)));
    return (k - run[k]) % trs_class_blocks(kind) == 0;
  }
};

/* What is scanned, by place in the order. */
template <class K>
struct run_begin {
  const K *key;
  __host__ __device__ int32_t operator()(int32_t k) const {
    return k > 0 && key[k] == key[k - 1] ? 0 : k;
  }
};
template <class K>
struct slices_begun {
  order_view<K> o;
  __host__ __device__ int32_t operator()(int32_t k) const { return o.slices(k); }
};
struct rows_of {
  const int32_t *order;
  blocks_view blocks;
  __host__ __device__ int32_t operator()(int32_t k) const { return blocks.rows(order[k]); }
};
struct maximum {
  __host__ __device__ int32_t operator()(int32_t a, int32_t b) const { return a > b ? a : b; }
};

template <class F>
auto by_place(F f) {
  return thrust::make_transform_iterator(thrust::counting_iterator<int32_t>(0), f);
}

int bits_of(uint64_t kinds) {
  int bits = 1;
  while (bits < 64 && (kinds - 1) >> bits) bits++;
  return bits;
}

template <class K>
trs_status sort_blocks(analysis &a, order_view<K> *o) {
  const int32_t count = a.blocks.count;
  const classes c = classes_of(a.rules, a.longest);
  int32_t *order[2], *level_rows = nullptr;
  K *key[2];
  uint8_t *number;
  for (int k = 0; k < 2; k++) TRS_TRY(a.space.get(&key[k], count));
  for (int k = 0; k < 2; k++) TRS_TRY(a.space.get(&order[k], count));
  TRS_TRY(a.space.get(&number, TRS_CLASSES));
  if (needs_level_rows(a)) TRS_TRY(count_rows(a, &level_rows));
  make_keys<<<blocks_for(count > TRS_CLASSES ? count : int32_t(TRS_CLASSES)), ANALYSIS_THREADS, 0,
              a.stream>>>(a.blocks, a.known, a.length, level_rows, a.rules, c, key[0], order[0],
                          number);
  TRS_TRY(trs_device_check(cudaGetLastError(), "classing blocks"));
  cub::DoubleBuffer<K> keys(key[0], key[1]);
  cub::DoubleBuffer<int32_t> values(order[0], order[1]);
  const int bits = bits_of(uint64_t(a.slices->nlevels) * c.count);
  TRS_TRY(with_space(a, "sorting blocks", [&](void *space, size_t &bytes) {
    return cub::DeviceRadixSort::SortPairs(space, bytes, keys, values, count, 0, bits, a.stream);
  }));
  *o = {keys.Current(), values.Current(), nullptr, a.length, number, c.count};
  return TRS_SUCCESS;
}

/* ---- Slices, as far as they do not depend on each other. ---- */

/* first_block[s]: place in the order of the first block of slice s. */
template <class K>
__global__ void begin_slices(order_view<K> o, int32_t count, const int32_t *upto,
                             int32_t *first_block) {
  int64_t k = this_thread();
  if (k >= count) return;
  int32_t before = k > 0 ? upto[k - 1] : 0;
  for (int32_t s = before; s < upto[k]; s++) first_block[s] = int32_t(k);
}

struct laying {
  pattern_view t;
  blocks_view blocks;
  int32_t nslices;
  const int32_t *upto, *first_block;
  const int32_t *rows_before; /* NULL where rows are blocks */
  trs_slice *slice;
  int32_t *row, *position;
  uint8_t *place;
};

/* Rows of a slice to their positions, a lane a row; blocks have one lane each, their rows begin at
 * the bits of starts. */
__device__ void lay_rows(const laying &v, const trs_slice &h, int32_t block_first,
                         unsigned starts) {
  int32_t t = this_lane();
  unsigned upto = starts & (~0u >> (WARP - 1 - t));
  int32_t first = __shfl_sync(~0u, block_first, __popc(upto) - 1);
  int32_t place = t - (WARP - 1 - __clz(int(upto)));
  if (t >= h.rows) return;
  int32_t row = v.t.mirror(first + place);
  v.row[h.first + t] = row;
  v.position[row] = h.first + t;
  if (v.place) v.place[h.first + t] = uint8_t(place);
}

/* A warp a slice. */
template <class K>
__global__ void __launch_bounds__(ANALYSIS_THREADS) lay_slices(order_view<K> o, laying v) {
  int64_t s = this_thread() / WARP;
  if (s >= v.nslices) return;
  int32_t k = v.first_block[s], kind = o.class_number(k), lane = this_lane();
  bool heavy = trs_class_heavy(kind);
  int32_t end = s + 1 < v.nslices ? v.first_block[s + 1] : v.blocks.count;
  bool there = lane < (heavy ? 1 : end - k);
  int32_t b = there ? o.order[k + lane] : 0, rows = there ? v.blocks.rows(b) : 0;
  trs_slice h = {};
  h.first = v.rows_before ? v.rows_before[k] : k;
  h.watch = -1;
  h.level = o.level(k);
  h.log_lanes = uint8_t(trs_class_lanes(kind));
  h.heavy = heavy;
  h.rows = uint8_t(__reduce_add_sync(~0u, unsigned(rows)));
  h.width = __reduce_max_sync(~0u, there ? o.width(k + lane, h.log_lanes) : 0);
  h.block = uint8_t(__reduce_max_sync(~0u, unsigned(rows)));
  int32_t offset = there && v.rows_before ? v.rows_before[k + lane] - h.first : lane;
  unsigned starts = __reduce_or_sync(~0u, there ? 1u << offset : 0);
  int32_t slices = heavy ? trs_heavy_slices(h.width) : 1;
  int32_t piece = int32_t(s) - (v.upto[k] - slices); /* of slices that are one */
  bool is_part = heavy && piece < slices - 1;
  if (!is_part) lay_rows(v, h, v.blocks.first(b), starts);
  if (lane > 0) return;
  h.width =
      is_part ? int32_t(TRS_PART_WIDTH) : h.width - (heavy ? (slices - 1) * TRS_PART_WIDTH : 0);
  h.block = is_part ? 0 : h.block;
  h.parts = is_part ? -1 : heavy ? slices - 1 : 0;
  v.slice[s] = h;
}

/* ---- Offsets, and where levels begin. ---- */

struct offsets {
  int64_t entries, inverses;
  int32_t parts, heavy; /* slices of heavy blocks that are and that are not parts */
};

struct add_offsets {
  __host__ __device__ offsets operator()(const offsets &a, const offsets &b) const {
    return {a.entries + b.entries, a.inverses + b.inverses, a.parts + b.parts, a.heavy + b.heavy};
  }
};

struct size_of_slice {
  const trs_slice *slice;
  int32_t nslices;
  __host__ __device__ offsets operator()(int32_t s) const {
    if (s == nslices) return {0, 0, 0, 0};
    const trs_slice &h = slice[s];
    return {int64_t(h.width) * TRS_SLICE_LANES, int64_t(h.block) * (TRS_SLICE_LANES >> h.log_lanes),
            h.parts < 0, h.heavy && h.parts >= 0};
  }
};

/* heavy_end[level]: the first slice behind the level's heavy ones, or 0. */
__global__ void number_slices(trs_slices s, const offsets *before, trs_slice_level *level,
                              int32_t *heavy_end) {
  int64_t k = this_thread();
  if (k >= s.nslices) return;
  trs_slice *h = s.slice + k;
  bool first = k == 0 || h[-1].level != h->level;
  bool last_heavy = h->heavy && (k + 1 == s.nslices || h[1].level != h->level || !h[1].heavy);
  h->entries = before[k].entries;
  h->inverse = before[k].inverses;
  if (h->heavy) h->part = before[k].parts - (h->parts > 0 ? h->parts : 0);
  if (first) level[h->level] = {h->entries, int32_t(k), 0, h->first, 0};
  if (last_heavy) heavy_end[h->level] = int32_t(k + 1);
  if (k + 1 == s.nslices) level[s.nlevels] = {before[k + 1].entries, s.nslices, 0, int32_t(s.n), 0};
}

struct heavy_slices {
  const trs_slice_level *level;
  const int32_t *end;
  __host__ __device__ int32_t operator()(int32_t l) const {
    return end[l] > 0 ? end[l] - level[l].slice : 0;
  }
};
struct chunks_of_level {
  heavy_slices heavy;
  int32_t nlevels;
  __host__ __device__ int32_t operator()(int32_t l) const {
    if (l == nlevels) return 0;
    int32_t alone = heavy(l), others = heavy.level[l + 1].slice - heavy.level[l].slice - alone;
    return alone + (others + TRS_CHUNK_SLICES - 1) / TRS_CHUNK_SLICES;
  }
};

/* As slice.c's cut_chunks and choose_watches. */
__global__ void finish_slices(trs_slices s, trs_slice_level *level, heavy_slices heavy,
                              const int32_t *chunks_before, int32_t watch) {
  int64_t k = this_thread();
  if (k >= s.nslices) return;
  int32_t l = s.slice[k].level, alone = heavy(l);
  int64_t first = level[l].slice, in_level = k - first, behind = in_level - alone;
  if (behind < 0)
    s.chunk[chunks_before[l] + in_level] = int32_t(k);
  else if (behind % TRS_CHUNK_SLICES == 0)
    s.chunk[chunks_before[l] + alone + behind / TRS_CHUNK_SLICES] = int32_t(k);
  if (watch > 0 && l >= watch) {
    int64_t at = level[l - watch].position, rows = level[l - watch + 1].position - at;
    s.slice[k].watch = int32_t(at + in_level * rows / (level[l + 1].slice - first));
  }
  if (in_level == 0) {
    level[l].chunk = chunks_before[l];
    level[l].heavy = alone;
  }
  if (k + 1 < s.nslices) return;
  level[l + 1].chunk = chunks_before[l + 1];
  s.chunk[chunks_before[l + 1]] = s.nslices;
}

/* piece and heavy of the map. */
__global__ void list_heavy(trs_slices s, const offsets *before, trs_slices_map map) {
  int64_t k = this_thread();
  if (k >= s.nslices) return;
  const trs_slice &h = s.slice[k];
  if (!h.heavy || h.parts < 0) return;
  map.heavy[before[k].heavy] = int32_t(k);
  for (int32_t p = 0; p < h.parts; p++) map.piece[h.part + p] = p;
}

/* ---- The steps. ---- */

template <class K>
trs_status lay(analysis &a, order_view<K> o) {
  const int32_t count = a.blocks.count;
  trs_slices *s = a.slices;
  int32_t *run, *upto, *rows_before = nullptr, *first_block;
  TRS_TRY(a.space.get(&run, count));
  TRS_TRY(a.space.get(&upto, count));
  TRS_TRY(with_space(a, "finding runs of a class", [&](void *space, size_t &bytes) {
    return cub::DeviceScan::InclusiveScan(space, bytes, by_place(run_begin<K>{o.key}), run,
                                          maximum{}, count, a.stream);
  }));
  o.run = run;
  TRS_TRY(with_space(a, "counting slices", [&](void *space, size_t &bytes) {
    return cub::DeviceScan::InclusiveSum(space, bytes, by_place(slices_begun<K>{o}), upto, count,
                                         a.stream);
  }));
  TRS_TRY(fetch(a, &s->nslices, upto + count - 1));
  if (a.blocks.start) {
    TRS_TRY(a.space.get(&rows_before, count));
    TRS_TRY(with_space(a, "counting rows", [&](void *space, size_t &bytes) {
      return cub::DeviceScan::ExclusiveSum(space, bytes, by_place(rows_of{o.order, a.blocks}),
                                           rows_before, count, a.stream);
    }));
    TRS_TRY(TRS_DEVICE_ALLOC(a.device, &a.map->place, s->n, a.stream));
  }
  TRS_TRY(a.space.get(&first_block, s->nslices));
  TRS_TRY(a.space.get(&a.position, s->n));
  TRS_TRY(TRS_DEVICE_ALLOC(a.device, &s->slice, s->nslices, a.stream));
  TRS_TRY(TRS_DEVICE_ALLOC(a.device, &s->row, s->n, a.stream));
  begin_slices<<<blocks_for(count), ANALYSIS_THREADS, 0, a.stream>>>(o, count, upto, first_block);
  laying v = {a.t,         a.blocks, s->nslices, upto,       first_block,
              rows_before, s->slice, s->row,     a.position, a.map->place};
  lay_slices<<<blocks_for(int64_t(s->nslices) * WARP), ANALYSIS_THREADS, 0, a.stream>>>(o, v);
  return trs_device_check(cudaGetLastError(), "cutting slices");
}

template <class K>
trs_status order_and_lay(analysis &a) {
  order_view<K> o;
  TRS_TRY(sort_blocks(a, &o));
  return lay(a, o);
}

struct numbering {
  offsets *before;        /* nslices + 1 */
  trs_slice_level *level; /* nlevels + 1 */
  int32_t *heavy_end, *chunks_before;
};

trs_status number(analysis &a, numbering *v) {
  trs_slices *s = a.slices;
  TRS_TRY(a.space.get(&v->before, s->nslices + 1));
  TRS_TRY(a.space.get(&v->level, s->nlevels + 1));
  TRS_TRY(a.space.get(&v->heavy_end, s->nlevels));
  TRS_TRY(a.space.get(&v->chunks_before, s->nlevels + 1));
  TRS_TRY(TRS_DEVICE_ALLOC(a.device, &s->chunk, s->nslices + 1, a.stream));
  TRS_TRY(trs_device_fill(v->heavy_end, 0, s->nlevels * int64_t(sizeof *v->heavy_end), a.stream));
  TRS_TRY(with_space(a, "adding up slices", [&](void *space, size_t &bytes) {
    return cub::DeviceScan::ExclusiveScan(
        space, bytes, by_place(size_of_slice{s->slice, s->nslices}), v->before, add_offsets{},
        offsets{0, 0, 0, 0}, s->nslices + 1, a.stream);
  }));
  const unsigned grid = blocks_for(s->nslices);
  number_slices<<<grid, ANALYSIS_THREADS, 0, a.stream>>>(*s, v->before, v->level, v->heavy_end);
  const heavy_slices heavy = {v->level, v->heavy_end};
  TRS_TRY(with_space(a, "counting chunks", [&](void *space, size_t &bytes) {
    return cub::DeviceScan::ExclusiveSum(space, bytes, by_place(chunks_of_level{heavy, s->nlevels}),
                                         v->chunks_before, s->nlevels + 1, a.stream);
  }));
  finish_slices<<<grid, ANALYSIS_THREADS, 0, a.stream>>>(*s, v->level, heavy, v->chunks_before,
                                                         a.rules.watch);
  return trs_device_check(cudaGetLastError(), "numbering slices");
}

trs_status list(analysis &a, const numbering &v, const offsets &all) {
  trs_slices *s = a.slices;
  s->nparts = all.parts;
  a.map->nheavy = all.heavy;
  if (all.heavy == 0) return TRS_SUCCESS;
  TRS_TRY(TRS_DEVICE_ALLOC(a.device, &a.map->piece, all.parts, a.stream));
  TRS_TRY(TRS_DEVICE_ALLOC(a.device, &a.map->heavy, all.heavy, a.stream));
  list_heavy<<<blocks_for(s->nslices), ANALYSIS_THREADS, 0, a.stream>>>(*s, v.before, *a.map);
  return trs_device_check(cudaGetLastError(), "listing heavy slices");
}

}  // namespace

trs_status trs::cut_slices(analysis &a) {
  trs_slices *s = a.slices;
  const bool short_keys = uint64_t(s->nlevels) * TRS_CLASSES <= UINT32_MAX;
  TRS_TRY(short_keys ? order_and_lay<uint32_t>(a) : order_and_lay<uint64_t>(a));
  numbering v;
  offsets all;
  TRS_TRY(number(a, &v));
  const int64_t bytes = (int64_t(s->nlevels) + 1) * int64_t(sizeof **a.level);
  TRS_TRY(TRS_ALLOC(a.level, int64_t(s->nlevels) + 1));
  TRS_TRY(trs_device_copy(*a.level, v.level, bytes, a.stream));
  TRS_TRY(fetch(a, &all, v.before + s->nslices));
  s->entries = all.entries;
  s->inverses = all.inverses;
  s->nchunks = (*a.level)[s->nlevels].chunk;
  return list(a, v, all);
}
