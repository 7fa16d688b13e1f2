/* analysis_slices.cu - blocks in order of level, slab and class, cut in slices and chunks.
 *
 * One kernel, of as many blocks of threads as run at once and with barriers between its steps:
 *   counts the rows of each level, which give the class of each block;
 *   sorts by level, slab and class: a stable radix sort of only the bits that these need, in which
 *     a warp counts the digits of its share and puts its elements behind those of earlier
 *     warps;
 *   counts slices, and the rows and slices before each block, by scans along the order;
 *   sums the sizes of slices, which give the begins of levels, and counts the chunks of levels.
 *
 * It writes counts and levels for the host.  After the host's allocation a second kernel with the
 * same shares lays out slices and rows: it looks up, or scans again, what the plain version
 * (analysis/slice.c) counts on its way along the order.  O(blocks) besides the sort. */
#include <climits>

#include "solve/cuda/engine/analysis_grid.cuh"

namespace {

using namespace trs;

enum {
  LONGEST = 1 << 30, /* so that lengths shifted by lanes fit, as in slice.c */
  COUNTERS = GRID_WARPS * SORT_DIGITS,
  AHEAD = 8, /* blocks of a slice that are read at once */
  STEPS = 4  /* steps of a warp along its share whose loads are in flight together */
};

struct cut_view {
  pattern_view t;
  blocks_view blocks;
  trs_slice_rules rules;
  trs_gpu_slabs slabs;
  analysis_state *state;
  const uint32_t *known; /* levels plus one */
  const int32_t *length;
  order_arrays o;
  cut_stage *stage; /* host memory */
  bool cluster;     /* the grid is one cluster */
};

/* Shared memory of a block of threads. */
struct cut_memory {
  int32_t counter[GRID_WARPS][SORT_DIGITS];
  uint32_t classes[2];
  uint8_t number[TRS_CLASSES]; /* the classes that occur, in order */
  slices_and_rows warps[GRID_WARPS];
};

/* The work of a block of threads on a cut. */
template <class K>
struct cutter {
  const cut_view &v;
  cut_memory &m;
  int32_t count, nlevels; /* of blocks */
  uint64_t classes = 0;   /* a bit for each that occurs */
  uint32_t nclasses = 1;
  const K *key = nullptr; /* in order */
  const int32_t *order = nullptr;
  int32_t nslices = 0;
  offsets all = {0, 0, 0, 0}; /* of all slices */

  __device__ cutter(const cut_view &view, cut_memory &memory)
      : v(view), m(memory), count(view.state->nblocks), nlevels(view.state->nlevels) {}

  __device__ int32_t level(int64_t k) const {
    return int32_t(key[k] / nclasses / uint32_t(v.slabs.count));
  }
  __device__ int32_t class_number(int64_t k) const { return m.number[key[k] % nclasses]; }

  /* ---- Classes. ---- */

  __device__ bool needs_level_rows() const;
  __device__ void clear_level_rows();
  __device__ void count_level_rows();
  __device__ void find_classes(bool by_level);
  __device__ void take_classes();

  /* ---- The sort. ---- */

  __device__ int passes() const;
  __device__ K key_at(int pass, int64_t k) const;
  __device__ void count_digits(int pass);
  __device__ void place_digits();
  __device__ void move_elements(int pass);
  __device__ void take_order(int passes);

  /* ---- Slices. ---- */

  __device__ int64_t run_begin(int64_t k) const;
  __device__ void count_slices();
  __device__ void begin_slices();
  __device__ trs_slice slice(int32_t s) const;
  __device__ void sum_sizes();
  template <class F>
  __device__ void for_slices(F f);
  __device__ void find_levels();
  __device__ int32_t chunks_of(int32_t l) const;
  __device__ void count_chunks();
  __device__ void finish_levels();
  __device__ void store_numbers(int32_t nchunks);
};

/* ---- Rows of each level, if classes depend on them. ---- */

template <class K>
__device__ bool cutter<K>::needs_level_rows() const {
  const trs_slice_rules &r = v.rules;
  const int32_t longest = v.state->longest;
  const int32_t rows = min(r.most_block, int32_t(TRS_LIGHT_BLOCK));
  const int32_t most = trs_most_lanes(trs_block_class(rows));
  const bool lanes = r.lane_length != r.large_level_lane_length && v.t.n >= r.large_level_rows &&
                     (longest > r.lane_length || longest > r.large_level_lane_length);
  const bool heavy =
      r.small_level_heavy_width != r.other_heavy_width && v.t.n >= r.small_level_rows &&
      (longest > r.small_level_heavy_width << most || longest > r.other_heavy_width << most);
  return lanes || heavy;
}

template <class K>
__device__ void cutter<K>::clear_level_rows() {
  for (int64_t l = grid_thread(); l < nlevels; l += grid_threads()) v.o.level_rows[l] = 0;
}

/* In shared memory if all levels fit there. */
template <class K>
__device__ void cutter<K>::count_level_rows() {
  int32_t *mine = &m.counter[0][0];
  const bool in_shared = nlevels <= COUNTERS;
  for (int l = threadIdx.x; in_shared && l < nlevels; l += GRID_THREADS) mine[l] = 0;
  __syncthreads();
  int32_t *counts = in_shared ? mine : v.o.level_rows;
  for (int64_t b = grid_thread(); b < count; b += grid_threads())
    atomicAdd(counts + v.known[b] - 1, v.blocks.rows(int32_t(b)));
  __syncthreads();
  for (int l = threadIdx.x; in_shared && l < nlevels; l += GRID_THREADS)
    if (mine[l] > 0) atomicAdd(v.o.level_rows + l, mine[l]);
}

/* ---- Classes: those that occur are numbered in their order. ---- */

template <class K>
__device__ void cutter<K>::find_classes(bool by_level) {
  if (threadIdx.x < 2) m.classes[threadIdx.x] = 0;
  __syncthreads();
  uint64_t found = 0;
  for (int64_t first = grid_thread(); first < count; first += STEPS * grid_threads()) {
    int32_t length[STEPS], rows[STEPS], level_rows[STEPS];
#pragma unroll
    for (int u = 0; u < STEPS; u++) {
      const int32_t b = int32_t(min(first + u * grid_threads(), int64_t(count) - 1));
      length[u] = v.length[b];
      rows[u] = v.blocks.rows(b);
      level_rows[u] = by_level ? v.o.level_rows[v.known[b] - 1] : 0;
    }
#pragma unroll
    for (int u = 0; u < STEPS; u++) {
      const int64_t b = first + u * grid_threads();
      if (b >= count) break;
      int32_t kind =
          trs_class_of(v.rules, rows[u], min(length[u], int32_t(LONGEST)), level_rows[u]);
      v.o.kind[b] = uint8_t(kind);
      found |= uint64_t(1) << kind;
    }
  }
  uint32_t halves[2] = {__reduce_or_sync(~0u, uint32_t(found)),
                        __reduce_or_sync(~0u, uint32_t(found >> 32))};
  if (this_lane() < 2) atomicOr(&m.classes[this_lane()], halves[this_lane()]);
  __syncthreads();
  if (threadIdx.x == 0)
    atomicOr(&v.state->classes, (unsigned long long)(m.classes[1]) << 32 | m.classes[0]);
}

template <class K>
__device__ void cutter<K>::take_classes() {
  classes = v.state->classes;
  nclasses = uint32_t(__popcll(classes));
  const int t = int(threadIdx.x);
  if (t < TRS_CLASSES && (classes >> t & 1))
    m.number[__popcll(classes & ((uint64_t(1) << t) - 1))] = uint8_t(t);
  __syncthreads();
}

/* ---- The sort.  A key is (level * slabs + slab) * classes + class; the first pass computes it.
 * ---- */

template <class K>
__device__ int cutter<K>::passes() const {
  const uint64_t most = uint64_t(nlevels) * uint32_t(v.slabs.count) * nclasses - 1;
  int n = 1;
  while (most >> SORT_BITS * n) n++;
  return n;
}

template <class K>
__device__ K cutter<K>::key_at(int pass, int64_t k) const {
  if (pass > 0) return static_cast<const K *>(v.o.key[(pass - 1) & 1])[k];
  uint64_t below = (uint64_t(1) << v.o.kind[k]) - 1;
  K group = K(v.known[k] - 1);
  if (v.slabs.count > 1) group = group * K(v.slabs.count) + v.slabs.of[v.blocks.first(int32_t(k))];
  return group * nclasses + K(__popcll(classes & below));
}

template <class K>
__device__ unsigned digit(K key, int pass) {
  return unsigned(key >> SORT_BITS * pass) % SORT_DIGITS;
}

/* Counts the digits of each warp's share, and of the block's share for the other blocks. */
template <class K>
__device__ void cutter<K>::count_digits(int pass) {
  int32_t *mine = m.counter[this_warp()];
  for (int d = this_lane(); d < SORT_DIGITS; d += WARP) mine[d] = 0;
  __syncwarp();
  const share s = share_of_warp(count);
  for (int64_t first = s.first + this_lane(); first < s.end; first += STEPS * WARP) {
    K keys[STEPS];
#pragma unroll
    for (int u = 0; u < STEPS; u++) keys[u] = key_at(pass, min(first + u * WARP, s.end - 1));
#pragma unroll
    for (int u = 0; u < STEPS; u++)
      if (first + u * WARP < s.end) atomicAdd(mine + digit(keys[u], pass), 1);
  }
  __syncthreads();
  for (int d = threadIdx.x; d < SORT_DIGITS; d += GRID_THREADS) {
    int32_t all = 0;
    for (int w = 0; w < GRID_WARPS; w++) all += m.counter[w][d];
    v.o.digits[blockIdx.x * SORT_DIGITS + d] = all;
  }
}

/* Turns each counter into the destination of the warp's next element of that digit. */
template <class K>
__device__ void cutter<K>::place_digits() {
  const int d = int(threadIdx.x);
  int32_t before = 0, all = 0;
  if (d < SORT_DIGITS)
#pragma unroll 16 /* loads in flight */
    for (unsigned g = 0; g < gridDim.x; g++) {
      int32_t found = v.o.digits[g * SORT_DIGITS + d];
      before += g < blockIdx.x ? found : 0;
      all += found;
    }
  int32_t to = sum_block(all).before + before;
  for (int w = 0; d < SORT_DIGITS && w < GRID_WARPS; w++) {
    int32_t found = m.counter[w][d];
    m.counter[w][d] = to;
    to += found;
  }
  __syncthreads();
}

template <class K>
__device__ void cutter<K>::move_elements(int pass) {
  int32_t *mine = m.counter[this_warp()];
  K *to_key = static_cast<K *>(v.o.key[pass & 1]);
  int32_t *to_order = v.o.order[pass & 1];
  const int32_t *from_order = v.o.order[(pass + 1) & 1];
  const share s = share_of_warp(count);
  for (int64_t first = s.first; first < s.end; first += STEPS * WARP) {
    K keys[STEPS];
    int32_t blocks[STEPS];
#pragma unroll
    for (int u = 0; u < STEPS; u++) {
      const int64_t k = min(first + u * WARP + this_lane(), s.end - 1);
      keys[u] = key_at(pass, k);
      blocks[u] = pass > 0 ? from_order[k] : int32_t(k);
    }
#pragma unroll
    for (int u = 0; u < STEPS; u++) {
      if (first + u * WARP >= s.end) break;
      const bool there = first + u * WARP + this_lane() < s.end;
      unsigned d = digit(keys[u], pass);
      unsigned alike = __match_any_sync(~0u, there ? d : unsigned(SORT_DIGITS));
      int32_t rank = __popc(alike & ((1u << this_lane()) - 1)), at = there ? mine[d] : 0;
      __syncwarp();
      if (there && rank == 0) mine[d] = at + __popc(alike);
      __syncwarp();
      if (!there) continue;
      to_key[at + rank] = keys[u];
      to_order[at + rank] = blocks[u];
    }
  }
}

template <class K>
__device__ void cutter<K>::take_order(int passes) {
  key = static_cast<const K *>(v.o.key[(passes - 1) & 1]);
  order = v.o.order[(passes - 1) & 1];
}

/* ---- Slices. ---- */

/* The begin of the run of keys equal to that at k.  By a warp. */
template <class K>
__device__ int64_t cutter<K>::run_begin(int64_t k) const {
  const K wanted = key[k];
  int64_t low = 0, high = k;
  while (low < high) {
    int64_t step = (high - low) / WARP + 1, at = low + this_lane() * step;
    int less = __popc(__ballot_sync(~0u, at < high && key[at] < wanted));
    if (less < WARP) high = min(high, low + less * step);
    if (less > 0) low += (less - 1) * step + 1;
  }
  return low;
}

__device__ int32_t width_of(int32_t length, int32_t log_lanes) {
  return int32_t((int64_t(length) + (1 << log_lanes) - 1) >> log_lanes);
}

/* Along the order: width and rows of each block, and the number of slices that begin with it. */
template <class K>
__device__ void cutter<K>::count_slices() {
  const share s = share_of_warp(count);
  int64_t run = s.first < s.end ? run_begin(s.first) : 0;
  slices_and_rows found = {0, 0};
  for (int64_t first = s.first; first < s.end; first += STEPS * WARP) {
    K keys[STEPS], before[STEPS];
    int32_t rows[STEPS], length[STEPS];
#pragma unroll
    for (int u = 0; u < STEPS; u++) {
      const int64_t k = min(first + u * WARP + this_lane(), s.end - 1);
      const int32_t b = order[k];
      keys[u] = key[k];
      before[u] = key[max(k - 1, int64_t(0))];
      rows[u] = v.blocks.rows(b);
      length[u] = v.length[b];
    }
#pragma unroll
    for (int u = 0; u < STEPS; u++) {
      if (first + u * WARP >= s.end) break;
      const int64_t k = first + u * WARP + this_lane();
      const bool there = k < s.end;
      unsigned begins = __ballot_sync(~0u, there && k > 0 && keys[u] != before[u]);
      unsigned upto = begins & (~0u >> (WARP - 1 - this_lane()));
      int64_t my_run = upto ? first + u * WARP + WARP - 1 - __clz(int(upto)) : run;
      run = __shfl_sync(~0u, my_run, WARP - 1);
      if (!there) continue;
      int32_t kind = m.number[keys[u] % nclasses];
      int32_t width = width_of(length[u], trs_class_lanes(kind));
      int32_t slices = trs_class_heavy(kind) ? trs_heavy_slices(width)
                                             : (k - my_run) % trs_class_blocks(kind, 0) == 0;
      v.o.width[k] = width;
      v.o.rows[k] = uint8_t(rows[u]);
      v.o.upto[k] = slices;
      found = found + slices_and_rows{slices, rows[u]};
    }
  }
  found = shuffle(sum_upto(found), WARP - 1);
  if (this_lane() == 0) m.warps[this_warp()] = found;
  __syncthreads();
  sums<slices_and_rows> block = sum_before(m.warps, GRID_WARPS, 0);
  if (threadIdx.x == 0) v.o.counted[blockIdx.x] = block.all;
}

/* first_block, upto, rows_before. */
template <class K>
__device__ void cutter<K>::begin_slices() {
  sums<slices_and_rows> grid = sum_before(v.o.counted, int(gridDim.x), int(blockIdx.x));
  slices_and_rows at = grid.before + sum_before(m.warps, GRID_WARPS, this_warp()).before;
  nslices = grid.all.slices;
  const share s = share_of_warp(count);
  for (int64_t first = s.first; first < s.end; first += STEPS * WARP) {
    slices_and_rows own[STEPS];
#pragma unroll
    for (int u = 0; u < STEPS; u++) {
      const int64_t k = first + u * WARP + this_lane();
      own[u] = {0, 0};
      if (k < s.end) own[u] = {v.o.upto[k], v.o.rows[k]};
    }
#pragma unroll
    for (int u = 0; u < STEPS; u++) {
      if (first + u * WARP >= s.end) break;
      const int64_t k = first + u * WARP + this_lane();
      slices_and_rows upto = at + sum_upto(own[u]);
      at = shuffle(upto, WARP - 1);
      if (k >= s.end) continue;
      for (int32_t p = upto.slices - own[u].slices; p < upto.slices; p++)
        v.o.first_block[p] = int32_t(k);
      v.o.upto[k] = upto.slices;
      v.o.rows_before[k] = upto.rows - own[u].rows;
    }
  }
}

/* Slice s without its offsets, early_poll and part. */
template <class K>
__device__ trs_slice cutter<K>::slice(int32_t s) const {
  const int32_t k = v.o.first_block[s], kind = class_number(k);
  const bool heavy = trs_class_heavy(kind);
  const int32_t end = heavy ? k + 1 : s + 1 < nslices ? v.o.first_block[s + 1] : count;
  trs_slice h = {};
  h.first = v.o.rows_before[k];
  h.early_poll = -1;
  h.level = level(k);
  h.log_lanes = uint8_t(trs_class_lanes(kind));
  h.heavy = heavy;
  h.rows = uint8_t((end < count ? v.o.rows_before[end] : int32_t(v.t.n)) - h.first);
  int32_t block = 0;
  for (int32_t b = k; b < end; b += AHEAD) { /* behind the end it reads the last block again */
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
      const int32_t at = min(b + u, end - 1);
      h.width = max(h.width, v.o.width[at]);
      block = max(block, int32_t(v.o.rows[at]));
    }
  }
  h.block = uint8_t(block);
  if (!heavy) return h;
  const int32_t parts = trs_heavy_slices(h.width) - 1;
  const bool is_part = s + 1 < v.o.upto[k];
  h.width = is_part ? int32_t(TRS_PART_WIDTH) : h.width - parts * TRS_PART_WIDTH;
  h.block = is_part ? 0 : h.block;
  h.parts = is_part ? -1 : parts;
  return h;
}

__device__ offsets size_of(const trs_slice &h) {
  return {int64_t(h.width) * trs_slice_stride(&h), trs_slice_inverses(&h), h.parts < 0,
          h.heavy && h.parts >= 0};
}

template <class K>
__device__ void cutter<K>::sum_sizes() {
  const share mine = share_of_block(nslices);
  offsets found = {0, 0, 0, 0};
  for (int64_t s = mine.first + threadIdx.x; s < mine.end; s += GRID_THREADS)
    found = found + size_of(slice(int32_t(s)));
  found = sum_block(found).all;
  if (threadIdx.x == 0) v.o.sizes[blockIdx.x] = found;
}

/* f(s, slice, offsets of the slice) for the block's share. */
template <class K>
template <class F>
__device__ void cutter<K>::for_slices(F f) {
  const share mine = share_of_block(nslices);
  const sums<offsets> grid = sum_before(v.o.sizes, int(gridDim.x), int(blockIdx.x));
  offsets at = grid.before;
  all = grid.all;
  for (int64_t first = mine.first; first < mine.end; first += GRID_THREADS) {
    const int32_t s = int32_t(first + threadIdx.x);
    const bool there = first + threadIdx.x < mine.end;
    trs_slice h = {};
    offsets size = {0, 0, 0, 0};
    if (there) {
      h = slice(s);
      size = size_of(h);
    }
    sums<offsets> sum = sum_block(size);
    if (there) f(s, h, at + sum.before);
    at = at + sum.all;
  }
}

/* ---- Levels and their chunks: heavy slices alone, the others TRS_CHUNK_SLICES at a time. ---- */

template <class K>
__device__ void cutter<K>::find_levels() {
  for_slices([&](int32_t s, const trs_slice &h, const offsets &at) {
    if (s > 0 && level(v.o.first_block[s - 1]) == h.level) return;
    v.o.level[h.level] = {at.entries, s, 0, h.first, 0};
    v.o.heavies[h.level] = at.parts + at.heavy;
  });
  if (grid_thread() > 0) return;
  v.o.level[nlevels] = {all.entries, nslices, 0, int32_t(v.t.n), 0};
  v.o.heavies[nlevels] = all.parts + all.heavy;
}

template <class K>
__device__ int32_t cutter<K>::chunks_of(int32_t l) const {
  int32_t alone = v.o.heavies[l + 1] - v.o.heavies[l];
  int32_t others = v.o.level[l + 1].slice - v.o.level[l].slice - alone;
  return alone + (others + TRS_CHUNK_SLICES - 1) / TRS_CHUNK_SLICES;
}

template <class K>
__device__ void cutter<K>::count_chunks() {
  const share mine = share_of_block(nlevels);
  int32_t found = 0;
  for (int64_t l = mine.first + threadIdx.x; l < mine.end; l += GRID_THREADS)
    found += chunks_of(int32_t(l));
  found = sum_block(found).all;
  if (threadIdx.x == 0) v.o.chunks[blockIdx.x] = found;
}

/* Sets chunk and heavy of each level.  The host gets a copy if the stage has room. */
template <class K>
__device__ void cutter<K>::finish_levels() {
  const share mine = share_of_block(nlevels);
  const bool fits = nlevels < int32_t(cut_stage::MOST);
  sums<int32_t> grid = sum_before(v.o.chunks, int(gridDim.x), int(blockIdx.x));
  int32_t at = grid.before;
  for (int64_t first = mine.first; first < mine.end; first += GRID_THREADS) {
    const int32_t l = int32_t(first + threadIdx.x);
    const bool there = first + threadIdx.x < mine.end;
    sums<int32_t> sum = sum_block(there ? chunks_of(l) : 0);
    if (there) {
      v.o.level[l].chunk = at + sum.before;
      v.o.level[l].heavy = v.o.heavies[l + 1] - v.o.heavies[l];
      if (fits) v.stage->level[l] = v.o.level[l];
    }
    at += sum.all;
  }
  if (grid_thread() > 0) return;
  v.o.level[nlevels].chunk = grid.all;
  if (fits) v.stage->level[nlevels] = v.o.level[nlevels];
  store_numbers(grid.all);
}

template <class K>
__device__ void cutter<K>::store_numbers(int32_t nchunks) {
  cut_numbers &to = v.stage->numbers;
  to.nblocks = count;
  to.nlevels = nlevels;
  to.nslices = nslices;
  to.nchunks = nchunks;
  to.nparts = all.parts;
  to.nheavy = all.heavy;
  to.longest = v.state->longest;
  to.entries = all.entries;
  to.inverses = all.inverses;
  to.order = (passes() - 1) & 1;
}

/* ---- The kernels. ---- */

/* True if some levels are unknown or a wait passed its limit. */
__device__ bool store_failure(const cut_view &v) {
  const analysis_state &s = *v.state;
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    v.stage->numbers.given_up = int32_t(s.given_up);
    v.stage->numbers.stalled = s.fault.stalled;
    v.stage->numbers.row = s.fault.row;
  }
  return s.given_up != 0 || s.fault.stalled != 0;
}

template <class K>
__device__ bool sort_blocks(cutter<K> &c, grid_barrier &all) {
  const bool by_level = c.needs_level_rows();
  if (by_level) {
    c.clear_level_rows();
    if (!all.wait_for_all()) return false;
    c.count_level_rows();
    if (!all.wait_for_all()) return false;
  }
  c.find_classes(by_level);
  if (!all.wait_for_all()) return false;
  c.take_classes();
  const int passes = c.passes();
  for (int pass = 0; pass < passes; pass++) {
    c.count_digits(pass);
    if (!all.wait_for_all()) return false;
    c.place_digits();
    c.move_elements(pass);
    if (!all.wait_for_all()) return false;
  }
  c.take_order(passes);
  return true;
}

template <class K>
__device__ bool cut_order(cutter<K> &c, grid_barrier &all) {
  c.count_slices();
  if (!all.wait_for_all()) return false;
  c.begin_slices();
  if (!all.wait_for_all()) return false;
  c.sum_sizes();
  if (!all.wait_for_all()) return false;
  c.find_levels();
  if (!all.wait_for_all()) return false;
  c.count_chunks();
  if (!all.wait_for_all()) return false;
  c.finish_levels();
  return true;
}

template <class K>
__global__ void __launch_bounds__(GRID_THREADS, 1)
    order_kernel(const __grid_constant__ cut_view v) {
  __shared__ cut_memory m;
  await_kernel_before();
  if (store_failure(v)) return;
  cutter<K> c(v, m);
  grid_barrier all(v.state, v.cluster);
  if (!sort_blocks(c, all) || !cut_order(c, all)) store_failure(v);
}

struct lay_view {
  trs_slices s;
  trs_slices_map map;
  int32_t *position;
  trs_gpu_blank blank;
};

/* Positions of the rows of each block, along the order. */
template <class K>
__device__ void lay_rows(const cutter<K> &c, const lay_view &to) {
  for (int64_t begin = grid_thread(); begin < c.count; begin += STEPS * grid_threads()) {
    int32_t first[STEPS], at[STEPS], rows[STEPS];
#pragma unroll
    for (int u = 0; u < STEPS; u++) {
      const int64_t k = min(begin + u * grid_threads(), int64_t(c.count) - 1);
      first[u] = c.v.blocks.first(c.order[k]);
      at[u] = c.v.o.rows_before[k];
      rows[u] = c.v.o.rows[k];
    }
#pragma unroll
    for (int u = 0; u < STEPS; u++) {
      if (begin + u * grid_threads() >= c.count) break;
      for (int32_t r = 0; r < rows[u]; r++) {
        int32_t row = c.v.t.mirror(first[u] + r);
        to.s.row[at[u] + r] = row;
        to.position[row] = at[u] + r;
        if (to.map.place) to.map.place[at[u] + r] = uint8_t(r);
      }
    }
  }
}

/* As choose_early_polls of slice.c. */
__device__ int32_t early_poll_of(const trs_slice_level *l, int32_t early_poll, int32_t in_level) {
  int64_t at = l[-early_poll].position, rows = l[1 - early_poll].position - at;
  return int32_t(at + in_level * rows / (l[1].slice - l->slice));
}

template <class K>
__device__ void lay_slice(const cutter<K> &c, const lay_view &to, int32_t s, trs_slice h,
                          const offsets &at) {
  const trs_slice_level *l = c.v.o.level + h.level;
  const int32_t in_level = s - l->slice, behind = in_level - l->heavy,
                early_poll = c.v.rules.early_poll;
  h.entries = at.entries;
  h.inverse = at.inverses;
  if (h.heavy) h.part = at.parts - max(h.parts, 0);
  if (early_poll > 0 && h.level >= early_poll)
    h.early_poll = early_poll_of(l, early_poll, in_level);
  to.s.slice[s] = h;
  if (h.heavy && h.parts >= 0) to.map.heavy[at.heavy] = s;
  if (h.parts < 0) {
    const int32_t k = c.v.o.first_block[s], whole = c.v.o.width[k];
    to.map.piece[at.parts] = s - (c.v.o.upto[k] - trs_heavy_slices(whole));
  }
  if (behind < 0)
    to.s.chunk[l->chunk + in_level] = s;
  else if (behind % TRS_CHUNK_SLICES == 0)
    to.s.chunk[l->chunk + l->heavy + behind / TRS_CHUNK_SLICES] = s;
}

template <class K>
__global__ void __launch_bounds__(GRID_THREADS, 1)
    lay_kernel(const __grid_constant__ cut_view v, const __grid_constant__ lay_view to) {
  __shared__ cut_memory m;
  clear_share(to.blank, grid_thread(), grid_threads());
  cutter<K> c(v, m);
  c.nslices = to.s.nslices;
  c.take_classes();
  c.take_order(c.passes());
  lay_rows(c, to);
  c.for_slices(
      [&](int32_t s, const trs_slice &h, const offsets &at) { lay_slice(c, to, s, h, at); });
  for (int64_t l = grid_thread(); l <= c.nlevels; l += grid_threads())
    to.map.level_slice[l] = v.o.level[l].slice;
  if (grid_thread() == 0) to.s.chunk[to.s.nchunks] = to.s.nslices;
}

cut_view view_of(const cut &c) {
  return {pattern_view(c.system),
          {c.start},
          c.rules,
          c.slabs,
          c.state,
          c.known,
          c.length,
          c.o,
          c.stage,
          c.cluster};
}

/* All blocks of threads run at once. */
cudaError_t launch_together(const cut &c, const cut_view &v) {
  const auto kernel = long_keys(c) ? order_kernel<uint64_t> : order_kernel<uint32_t>;
  cudaLaunchAttribute how[2] = {};
  cudaLaunchConfig_t config = {};
  config.gridDim = c.grid;
  config.blockDim = GRID_THREADS;
  config.stream = c.side;
  config.attrs = how;
  config.numAttrs = 1;
  how[0].id = cudaLaunchAttributeCooperative;
  how[0].val.cooperative = 1;
  if (c.cluster) {
    how[0].id = cudaLaunchAttributeClusterDimension;
    how[0].val.clusterDim = {c.grid, 1, 1};
    how[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    how[1].val.programmaticStreamSerializationAllowed = 1;
    config.numAttrs = 2;
  }
  return cudaLaunchKernelEx(&config, kernel, v);
}

}  // namespace

trs_status trs::order_slices(const cut &c) {
  return trs_device_check(launch_together(c, view_of(c)), "cutting slices");
}

trs_status trs::lay_slices(const cut &c, const trs_slices &slices, const trs_slices_map &map,
                           const trs_gpu_blank &blank) {
  const cut_view v = view_of(c);
  const lay_view to = {slices, map, c.position, blank};
  if (long_keys(c))
    lay_kernel<uint64_t><<<c.grid, GRID_THREADS, 0, c.stream>>>(v, to);
  else
    lay_kernel<uint32_t><<<c.grid, GRID_THREADS, 0, c.stream>>>(v, to);
  return trs_device_check(cudaGetLastError(), "laying slices");
}
