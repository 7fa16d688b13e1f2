/* analysis.cu - the sequence of the analysis on the GPU, its memory and its results. */
extern "C" {
#include "base/memory.h"
}
#include "solve/cuda/engine/analysis_grid.cuh"

namespace {

using namespace trs;

enum {
  SMALL = 1 << 18,        /* systems of up to that many rows get memory for the most blocks, levels
                             and slices; for larger ones the host waits for the counts first */
  BLOCKS_A_SHARE = 1024,  /* blocks of rows per block of threads, if all of these can run at once
                           */
  CLUSTER_ROWS = 1 << 15, /* systems of up to that many rows take one cluster, whose barriers cost
                             a fraction */
  CLUSTER_SHARE = 512,    /* blocks of rows per block of threads of a cluster */
  CLUSTER = 8             /* blocks of threads in a cluster, at most; a power of two */
};

/* ---- Memory. ---- */

/* Up to the levels of blocks. */
struct first_arrays {
  cut &c;
  void operator()(arena &a) const {
    const int64_t n = c.system.n;
    a.take(&c.state, 1);
    if (!c.known_levels) a.take(&c.known, n);
    a.take(&c.length, n);
    if (c.rules.most_block == 1) return;
    a.take(&c.windows, (n + TRS_BLOCK_WINDOW - 1) / TRS_BLOCK_WINDOW);
    a.take(&c.number, n);
    a.take(&c.start, n + 1);
    a.take(&c.near, c.system.nnz);
    a.take(&c.near_count, n);
  }
};

/* For the steps after the levels. */
struct order_memory {
  cut &c;
  int64_t blocks, levels;
  void operator()(arena &a) const {
    order_arrays &o = c.o;
    const int64_t key = long_keys(c) ? sizeof(uint64_t) : sizeof(uint32_t);
    /* Each part of a heavy block but its last has that many entries of one row at least. */
    const int64_t slices = blocks + c.system.nnz / TRS_PART_WIDTH;
    for (int k = 0; k < 2; k++) {
      char *bytes;
      a.take(&bytes, key * blocks);
      o.key[k] = bytes;
      a.take(&o.order[k], blocks);
    }
    a.take(&o.kind, blocks);
    a.take(&o.level_rows, levels);
    a.take(&o.digits, int64_t(c.grid) * SORT_DIGITS);
    a.take(&o.width, blocks);
    a.take(&o.rows, blocks);
    a.take(&o.upto, blocks);
    a.take(&o.rows_before, blocks);
    a.take(&o.first_block, slices);
    a.take(&o.heavies, levels + 1);
    a.take(&o.counted, c.grid);
    a.take(&o.sizes, c.grid);
    a.take(&o.chunks, c.grid);
    a.take(&o.level, levels + 1);
    a.take(&c.position, c.system.n);
  }
};

unsigned cluster_for(int64_t blocks) {
  unsigned found = 1;
  while (found < CLUSTER && int64_t(found) * CLUSTER_SHARE < blocks) found *= 2;
  return found;
}

unsigned grid_for(const cut &c, int64_t blocks) {
  if (c.cluster) return cluster_for(blocks);
  const int64_t most = trs_device_look(c.device)->multiprocessors;
  const int64_t all = (blocks + BLOCKS_A_SHARE - 1) / BLOCKS_A_SHARE;
  return unsigned(all < most ? all : most);
}

/* ---- Beginning. ---- */

__global__ void clear_words(analysis_state *state, analysis_state fresh, uint32_t *words,
                            int64_t count) {
  const int64_t threads = int64_t(gridDim.x) * ANALYSIS_THREADS;
  for (int64_t k = this_thread(); k < count; k += threads) words[k] = 0;
  if (this_thread() == 0) *state = fresh;
}

/* Sets all levels to unknown, unless the caller knows them; if there are blocks, sets all windows
 * to uncounted, and a level becomes unknown where its block begins. */
trs_status clear_state(const cut &c) {
  enum { WORDS_A_THREAD = 8 };
  const int64_t n = c.system.n;
  const int64_t windows = (n + TRS_BLOCK_WINDOW - 1) / TRS_BLOCK_WINDOW;
  if (begins_with_walk(c)) return TRS_SUCCESS;
  uint32_t *words = c.start ? reinterpret_cast<uint32_t *>(c.windows) : c.known;
  const int64_t count = c.start ? 2 * windows : c.known_levels ? 0 : n;
  clear_words<<<blocks_for(count / WORDS_A_THREAD + 1), ANALYSIS_THREADS, 0, c.side>>>(
      c.state, fresh_state(c), words, count);
  return trs_device_check(cudaGetLastError(), "beginning an analysis");
}

trs_status stalled(const cut &c, int64_t row) {
  return trs_fail(TRS_ERROR_STALLED, -1,
                  "GPU %d: the analysis waited more than %.3g s for the levels of what block %lld "
                  "(0-based) depends on",
                  trs_device_look(c.device)->ordinal, 1e-9 * double(TRS_WAIT_LIMIT),
                  (long long)(row));
}

/* The number of blocks and levels of a large system, before the allocation for the next steps. */
trs_status look_at_levels(cut &c, int64_t *blocks, int64_t *levels) {
  auto *found = reinterpret_cast<analysis_state *>(c.stage->level);
  TRS_TRY(trs_device_copy(found, c.state, sizeof *found, c.stream));
  TRS_TRY(trs_device_wait(c.stream));
  if (found->fault.stalled) return stalled(c, found->fault.row);
  c.dropped = found->given_up != 0;
  *blocks = found->nblocks;
  *levels = found->nlevels;
  return TRS_SUCCESS;
}

/* Work of `later` waits for the work of `earlier` so far. */
trs_status order_streams(cudaStream_t earlier, cudaStream_t later) {
  cudaEvent_t known;
  TRS_TRY(
      trs_device_check(cudaEventCreateWithFlags(&known, cudaEventDisableTiming), "ordering cuts"));
  cudaError_t error = cudaEventRecord(known, earlier);
  if (!error) error = cudaStreamWaitEvent(later, known, 0);
  (void)cudaEventDestroy(known);
  return trs_device_check(error, "ordering cuts");
}

/* A second cut of a small system runs beside its rival. */
trs_status choose_stream(cut &c) {
  trs_stream side;
  c.side = c.stream;
  if (!c.rival || c.system.n > SMALL) return TRS_SUCCESS;
  TRS_TRY(trs_device_side_stream(c.device, &side));
  c.side = static_cast<cudaStream_t>(side);
  return TRS_SUCCESS;
}

/* The next step runs on the caller's stream, unless its blocks of threads and those of the rival,
 * which wait for each other, fit on the device together. */
trs_status join_rival(cut &c) {
  const bool fits = c.cluster || 2 * int(c.grid) <= trs_device_look(c.device)->multiprocessors;
  if (c.side == c.stream || fits) return TRS_SUCCESS;
  TRS_TRY(order_streams(c.side, c.stream));
  c.side = c.stream;
  return TRS_SUCCESS;
}

trs_status begin(cut &c) {
  int64_t blocks = c.system.n, levels = c.system.n;
  const bool small = c.system.n <= SMALL;
  void *stage;
  TRS_TRY(trs_device_alloc_stage(c.device, &stage));
  c.stage = static_cast<cut_stage *>(stage);
  c.cluster = overlaps(c) && c.system.n <= CLUSTER_ROWS;
  c.grid = grid_for(c, blocks);
  TRS_TRY(choose_stream(c));
  TRS_TRY(allocate(c.device, &c.memory[0], c.side, [&](arena &a) {
    first_arrays{c}(a);
    if (small) order_memory{c, blocks, levels}(a);
  }));
  TRS_TRY(clear_state(c));
  TRS_TRY(find_blocks(c));
  TRS_TRY(find_levels(c));
  TRS_TRY(join_rival(c));
  if (!small) {
    if (c.known_levels)
      levels = c.known_levels;
    else
      TRS_TRY(look_at_levels(c, &blocks, &levels));
    if (c.dropped) return TRS_SUCCESS;
    c.grid = grid_for(c, blocks);
    TRS_TRY(allocate(c.device, &c.memory[1], c.stream, order_memory{c, blocks, levels}));
  }
  return order_slices(c);
}

/* ---- Finishing. ---- */

void give_stage_back(cut &c) {
  trs_device_free_stage(c.device, c.stage);
  c.stage = nullptr;
}

trs_status take_numbers(cut &c) {
  if (c.dropped) return TRS_SUCCESS;
  TRS_TRY(trs_device_wait(c.side));
  c.numbers = c.stage->numbers;
  if (c.numbers.stalled) return stalled(c, c.numbers.row);
  c.dropped = c.numbers.given_up || (c.rival && c.numbers.nlevels > c.rival->numbers.nlevels);
  return TRS_SUCCESS;
}

trs_status take_levels(const cut &c, trs_slice_level **level) {
  const int64_t count = int64_t(c.numbers.nlevels) + 1, bytes = count * int64_t(sizeof **level);
  TRS_TRY(TRS_ALLOC(level, count));
  if (count <= cut_stage::MOST) {
    memcpy(*level, c.stage->level, size_t(bytes));
    return TRS_SUCCESS;
  }
  trs_status status = trs_device_copy(*level, c.o.level, bytes, c.stream);
  if (!status) status = trs_device_wait(c.stream);
  if (status) {
    trs_free(*level);
    *level = nullptr;
  }
  return status;
}

/* ---- Building. ---- */

struct built_arrays {
  const cut_numbers &found;
  trs_slices &s;
  trs_slices_map &map;
  bool blocks;
  int64_t scalar_size, stored_size; /* 0: without idx, val and inverse */
  void operator()(arena &a) const {
    char *val = nullptr, *inverse = nullptr;
    a.take(&s.slice, found.nslices);
    if (scalar_size > 0) {
      a.take(&s.idx, found.entries);
      a.take(&val, found.entries * stored_size);
      a.take(&inverse, found.inverses * scalar_size);
    }
    a.take(&s.row, s.n);
    a.take(&s.chunk, int64_t(found.nchunks) + 1);
    a.take(&map.level_slice, int64_t(found.nlevels) + 1);
    if (blocks) a.take(&map.place, s.n);
    if (found.nheavy > 0) a.take(&map.piece, found.nparts);
    if (found.nheavy > 0) a.take(&map.heavy, found.nheavy);
    s.val = val;
    s.inverse = inverse;
  }
};

int64_t size_of_stored(trs_scalar scalar, bool store_float) {
  bool halved = store_float && (scalar == TRS_DOUBLE || scalar == TRS_DCOMPLEX);
  return trs::size_of_scalar(scalar) / (halved ? 2 : 1);
}

trs_status lay(const cut &c, trs_slices &s, trs_slices_map &map, int64_t scalar_size,
               int64_t stored_size, const trs_gpu_blank &blank) {
  const built_arrays layout = {c.numbers, s, map, c.start != nullptr, scalar_size, stored_size};
  TRS_TRY(allocate(c.device, &map.memory, c.stream, layout));
  if (s.n == 0) { /* one chunk boundary and one level boundary */
    TRS_TRY(trs_gpu_clear(&blank, c.stream));
    TRS_TRY(trs_device_fill(s.chunk, 0, sizeof *s.chunk, c.stream));
    return trs_device_fill(map.level_slice, 0, sizeof *map.level_slice, c.stream);
  }
  map.nheavy = c.numbers.nheavy;
  map.overlaps = overlaps(c);
  return lay_slices(c, s, map, blank);
}

trs_status build(const cut &c, trs_slices &s, trs_slices_map &map, bool store_float,
                 const trs_gpu_blank &blank, trs_gpu_found *found) {
  TRS_TRY(lay(c, s, map, trs::size_of_scalar(c.system.scalar),
              size_of_stored(c.system.scalar, store_float), blank));
  if (s.n == 0) return TRS_SUCCESS;
  return fill_slices(s, map, c.system, store_float, c.position, {found, nullptr, nullptr, false},
                     c.stream);
}

}  // namespace

trs::analysis_state trs::fresh_state(const cut &c) {
  analysis_state fresh = {};
  fresh.nblocks = int32_t(c.system.n);
  fresh.nlevels = c.known_levels;
  fresh.fault.row = -1;
  fresh.fault.limit = TRS_WAIT_LIMIT;
  return fresh;
}

static trs_status begin_cut(trs_gpu_cut **result, trs_device *device, const trs_system *system,
                            const uint8_t *block_starts, const trs_slice_rules *rules,
                            const trs_gpu_cut *rival, const trs_gpu_slabs &slabs,
                            const trs_known_levels *levels, trs_stream stream) {
  cut *c;
  *result = nullptr;
  TRS_TRY(TRS_ALLOC_ZERO(&c, 1));
  c->device = device;
  c->stream = static_cast<cudaStream_t>(stream);
  c->system = *system;
  c->block_starts = block_starts;
  c->rules = *rules;
  c->rival = rival;
  c->slabs = slabs;
  if (levels) {
    c->known = levels->level;
    c->known_levels = levels->count;
  }
  trs_status status = c->system.n > 0 ? begin(*c) : TRS_SUCCESS;
  if (status)
    trs_gpu_cut_free(c);
  else
    *result = c;
  return status;
}

extern "C" trs_status trs_gpu_cut_begin(trs_gpu_cut **result, trs_device *device,
                                        const trs_system *system, const uint8_t *block_starts,
                                        const trs_slice_rules *rules, const trs_gpu_cut *rival,
                                        const trs_known_levels *levels, trs_stream stream) {
  const trs_gpu_slabs whole = {1, nullptr};
  return begin_cut(result, device, system, block_starts, rules, rival, whole, levels, stream);
}

extern "C" trs_status trs_gpu_cut_begin_slabs(trs_gpu_cut **result, trs_device *device,
                                              const trs_system *system, const uint8_t *block_starts,
                                              const trs_slice_rules *rules,
                                              const trs_gpu_slabs *slabs,
                                              const trs_known_levels *levels, trs_stream stream) {
  return begin_cut(result, device, system, block_starts, rules, nullptr, *slabs, levels, stream);
}

extern "C" trs_status trs_gpu_cut_finish(trs_gpu_cut *c, trs_slices *slices,
                                         trs_slice_level **level) {
  *slices = trs_slices{};
  *level = nullptr;
  if (c->system.n == 0) return TRS_ALLOC_ZERO(level, 1);
  TRS_TRY(take_numbers(*c));
  if (!c->dropped) TRS_TRY(take_levels(*c, level));
  give_stage_back(*c);
  const cut_numbers &found = c->numbers;
  slices->n = c->system.n;
  slices->nblocks = found.nblocks;
  slices->nlevels = found.nlevels;
  slices->nslices = found.nslices;
  slices->nchunks = found.nchunks;
  slices->nparts = found.nparts;
  slices->longest = found.longest;
  slices->entries = found.entries;
  slices->inverses = found.inverses;
  return TRS_SUCCESS;
}

extern "C" trs_status trs_gpu_cut_build(trs_gpu_cut *c, trs_slices *slices, trs_slices_map *map,
                                        int store_float, const trs_gpu_blank *blank,
                                        trs_gpu_found *found) {
  *map = trs_slices_map{};
  const trs_gpu_blank none = {};
  trs_status status = build(*c, *slices, *map, store_float != 0, blank ? *blank : none, found);
  if (status) trs_gpu_slices_free(slices, map, c->device, c->stream);
  return status;
}

extern "C" trs_status trs_gpu_cut_lay(trs_gpu_cut *c, trs_slices *slices, trs_slices_map *map,
                                      const int32_t **position) {
  *map = trs_slices_map{};
  *position = c->position;
  trs_status status = lay(*c, *slices, *map, 0, 0, trs_gpu_blank{});
  if (status) trs_gpu_slices_free(slices, map, c->device, c->stream);
  return status;
}

extern "C" void trs_gpu_cut_free(trs_gpu_cut *c) {
  if (!c) return;
  if (c->stage) {
    (void)trs_device_wait(c->side); /* kernels may still write to the stage */
    give_stage_back(*c);
  }
  for (void *memory : c->memory) trs_device_free(c->device, memory, c->stream);
  trs_free(c);
}

extern "C" void trs_gpu_slices_free(trs_slices *slices, trs_slices_map *map, trs_device *device,
                                    trs_stream stream) {
  trs_device_free(device, map->memory, stream);
  *slices = trs_slices{};
  *map = trs_slices_map{};
}

extern "C" int64_t trs_gpu_slices_bytes(const trs_slices *slices, const trs_slices_map *map,
                                        trs_scalar scalar, int store_float) {
  const int64_t int_size = sizeof(int32_t);
  return slices->nslices * int64_t(sizeof(trs_slice)) +
         (slices->n + slices->nchunks + slices->nlevels) * int_size +
         slices->entries * (int_size + size_of_stored(scalar, store_float != 0)) +
         slices->inverses * trs::size_of_scalar(scalar) + (map->place ? slices->n : 0) +
         (int64_t(slices->nparts) + map->nheavy) * int_size;
}
