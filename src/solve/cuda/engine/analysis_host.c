/* analysis_host.c - analysis.h by the plain version of the analysis (analysis/slice.c), for builds
 * with HIP: the pattern is copied to the host, cut there by one thread, and the slices are copied
 * back.  Only the values are laid out on the device (analysis_fill.cu).  O(nnz) work. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/slice.h"
#include "base/memory.h"
#include "device/device.h"
#include "solve/cuda/engine/analysis.h"

/* A pattern on the host, shared by the cuts of a system. */
typedef struct pattern {
  atomic_int users;
  int64_t *ptr;
  int32_t *idx;
} pattern;

struct trs_gpu_cut {
  trs_device *device;
  trs_stream stream;
  trs_system here, there; /* the system with its pattern on the host; in device memory */
  pattern *own;
  trs_outline *outline;
  trs_slices slices; /* host arrays */
  bool several, dropped;
};

static void leave_pattern(pattern *p) {
  if (!p || atomic_fetch_sub(&p->users, 1) > 1) return;
  TRS_FREE_ALL(p->ptr, p->idx, p);
}

static trs_status fetch_pattern(pattern **result, const trs_system *there, trs_stream stream) {
  const int64_t n = there->n, nnz = there->nnz;
  pattern *p;
  *result = NULL;
  TRS_TRY(TRS_ALLOC_ZERO(&p, 1));
  atomic_init(&p->users, 1);
  trs_status status = TRS_ALLOC_ALL(TRS_ROOM(&p->ptr, n + 1), TRS_ROOM(&p->idx, nnz));
  if (!status) status = trs_device_copy(p->ptr, there->ptr, (n + 1) * 8, stream);
  if (!status) status = trs_device_copy(p->idx, there->idx, nnz * 4, stream);
  if (!status) status = trs_device_wait(stream);
  if (status)
    leave_pattern(p);
  else
    *result = p;
  return status;
}

static trs_system with_pattern(const trs_system *there, const pattern *p) {
  trs_system here = *there;
  here.ptr = p->ptr;
  here.idx = p->idx;
  here.val = NULL;
  return here;
}

/* ---- Features: what is found in the first step waits in host memory for the second. ---- */

trs_status trs_gpu_begin_features(void **stage, trs_device *device, const trs_system *system,
                                  trs_stream stream) {
  trs_pattern_features *found;
  pattern *p;
  (void)device;
  *stage = NULL;
  if (system->n == 0) return TRS_SUCCESS;
  TRS_TRY(fetch_pattern(&p, system, stream));
  trs_status status = TRS_ALLOC_ZERO(&found, 1);
  if (!status) {
    const trs_system here = with_pattern(system, p);
    found->n = system->n;
    trs_slices_sample(&here, &found->row_length, &found->chained, &found->run);
    *stage = found;
  }
  leave_pattern(p);
  return status;
}

trs_status trs_gpu_end_features(trs_pattern_features *features, void *stage, trs_device *device,
                                int64_t n, trs_stream stream) {
  (void)device, (void)n, (void)stream;
  *features = (trs_pattern_features){0};
  if (stage) *features = *(const trs_pattern_features *)stage;
  trs_free(stage);
  return TRS_SUCCESS;
}

/* ---- Cuts. ---- */

static trs_status outline(trs_gpu_cut *c, const uint8_t *block_starts,
                          const trs_slice_rules *rules) {
  const int64_t n = c->here.n, whole[2] = {0, n};
  uint8_t *starts = NULL;
  trs_status status = TRS_SUCCESS;
  if (block_starts) {
    TRS_TRY(TRS_ALLOC(&starts, n));
    status = trs_device_copy(starts, block_starts, n, c->stream);
    if (!status) status = trs_device_wait(c->stream);
  }
  if (!status)
    status =
        trs_outline_create(&c->outline, &c->slices, &c->here, rules, starts, NULL, 1, whole, NULL);
  trs_free(starts);
  return status;
}

/* Levels that the caller knows are found again. */
trs_status trs_gpu_cut_begin(trs_gpu_cut **result, trs_device *device, const trs_system *system,
                             const uint8_t *block_starts, const trs_slice_rules *rules,
                             const trs_gpu_cut *rival, const trs_known_levels *levels,
                             trs_stream stream) {
  trs_gpu_cut *c;
  trs_status status = TRS_SUCCESS;
  (void)levels;
  *result = NULL;
  TRS_TRY(TRS_ALLOC_ZERO(&c, 1));
  c->device = device;
  c->stream = stream;
  c->there = *system;
  c->several = rules->most_block > 1;
  if (system->n > 0) {
    if (rival) {
      c->own = rival->own;
      atomic_fetch_add(&c->own->users, 1);
    } else {
      status = fetch_pattern(&c->own, system, stream);
    }
    if (!status) {
      c->here = with_pattern(system, c->own);
      status = outline(c, block_starts, rules);
    }
    c->dropped = !status && rival && c->slices.nlevels > rival->slices.nlevels;
  }
  if (status)
    trs_gpu_cut_free(c);
  else
    *result = c;
  return status;
}

trs_status trs_gpu_cut_finish(trs_gpu_cut *c, trs_slices *slices, trs_slice_level **level) {
  const trs_slices *s = &c->slices;
  *slices = (trs_slices){0};
  *level = NULL;
  if (c->there.n == 0) return TRS_ALLOC_ZERO(level, 1);
  *slices = *s;
  slices->slice = NULL;
  slices->chunk = NULL;
  slices->level = NULL;
  slices->row = NULL;
  if (c->dropped) return TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC(level, s->nlevels + 1));
  memcpy(*level, s->level, (size_t)(s->nlevels + 1) * sizeof **level);
  return TRS_SUCCESS;
}

void trs_gpu_cut_free(trs_gpu_cut *c) {
  if (!c) return;
  trs_slices_destroy(&c->slices);
  trs_outline_destroy(c->outline);
  leave_pattern(c->own);
  trs_free(c);
}

/* ---- Building. ---- */

/* Host arrays of a map, and the positions of rows. */
typedef struct map_here {
  int32_t *level_slice, *piece, *heavy, nheavy;
  uint8_t *place;
  const int32_t *position;
} map_here;

static void drop_map(map_here *m) {
  TRS_FREE_ALL(m->level_slice, m->piece, m->heavy, m->place);
  *m = (map_here){0};
}

/* The distance of each row from the first of its block, by position. */
static void find_places(const trs_gpu_cut *c, uint8_t *place, const int32_t *position) {
  const uint8_t *begins = trs_outline_begins(c->outline);
  int64_t first = 0;
  for (int64_t k = 0; k < c->here.n; k++) {
    if (begins[k]) first = k;
    place[position[trs_in_sweep(&c->here, k)]] = (uint8_t)(k - first);
  }
}

static void list_heavy(const trs_slices *s, map_here *m) {
  for (int32_t k = 0; k < s->nslices; k++) {
    const trs_slice *h = &s->slice[k];
    if (!h->heavy || h->parts < 0) continue;
    m->heavy[m->nheavy++] = k;
    for (int32_t j = 0; j < h->parts; j++) m->piece[h->part + j] = j;
  }
}

static trs_status make_map(const trs_gpu_cut *c, map_here *m) {
  const trs_slices *s = &c->slices;
  m->position = trs_outline_positions(c->outline);
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&m->level_slice, s->nlevels + 1), TRS_ROOM(&m->piece, s->nparts),
                        TRS_ROOM(&m->heavy, s->nslices)));
  for (int32_t l = 0; l <= s->nlevels; l++) m->level_slice[l] = s->level[l].slice;
  list_heavy(s, m);
  if (!c->several) return TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC(&m->place, s->n));
  find_places(c, m->place, m->position);
  return TRS_SUCCESS;
}

/* One allocation for all arrays: the same list counts, places and copies them. */
typedef struct layout {
  char *memory; /* NULL: only counts */
  int64_t used;
  trs_stream stream;
  trs_status status;
} layout;

static void *lay(layout *l, const void *from, int64_t count, int64_t size) {
  const int64_t at = l->used, bytes = count * size;
  l->used += (bytes + 255) / 256 * 256;
  if (!l->memory) return NULL;
  if (from && !l->status) l->status = trs_device_copy(l->memory + at, from, bytes, l->stream);
  return l->memory + at;
}

static int64_t size_of_stored(trs_scalar scalar, bool store_float) {
  const bool halved = store_float && (scalar == TRS_DOUBLE || scalar == TRS_DCOMPLEX);
  return (int64_t)trs_scalar_size(scalar) / (halved ? 2 : 1);
}

static void lay_all(layout *l, const trs_gpu_cut *c, const map_here *m, bool store_float,
                    trs_slices *to, trs_slices_map *map, int32_t **position) {
  const trs_slices *s = &c->slices;
  const int64_t scalar = (int64_t)trs_scalar_size(c->there.scalar);
  to->slice = lay(l, s->slice, s->nslices, sizeof *s->slice);
  to->idx = lay(l, NULL, s->entries, sizeof *s->idx);
  to->val = lay(l, NULL, s->entries, size_of_stored(c->there.scalar, store_float));
  to->inverse = lay(l, NULL, s->inverses, scalar);
  to->row = lay(l, s->row, s->n, sizeof *s->row);
  to->chunk = lay(l, s->chunk, s->nchunks + 1, sizeof *s->chunk);
  map->level_slice = lay(l, m->level_slice, s->nlevels + 1, sizeof *m->level_slice);
  if (m->place) map->place = lay(l, m->place, s->n, sizeof *m->place);
  if (m->nheavy) map->piece = lay(l, m->piece, s->nparts, sizeof *m->piece);
  if (m->nheavy) map->heavy = lay(l, m->heavy, m->nheavy, sizeof *m->heavy);
  *position = lay(l, m->position, s->n, sizeof *m->position);
  map->memory = l->memory;
  map->nheavy = m->nheavy;
}

static trs_status build(trs_gpu_cut *c, const map_here *m, trs_slices *slices, trs_slices_map *map,
                        bool store_float, trs_gpu_found *found) {
  const trs_gpu_verdict verdict = {.found = found};
  layout l = {.stream = c->stream};
  int32_t *position;
  lay_all(&l, c, m, store_float, slices, map, &position);
  TRS_TRY(trs_device_alloc(c->device, (void **)&l.memory, l.used, 1, c->stream));
  l.used = 0;
  lay_all(&l, c, m, store_float, slices, map, &position);
  TRS_TRY(l.status);
  TRS_TRY(trs_gpu_slices_enter(slices, map, &c->there, store_float, position, &verdict, c->stream));
  return trs_device_wait(c->stream); /* the host's arrays have been read */
}

/* A system without rows: one chunk boundary and one level boundary. */
static trs_status build_empty(trs_gpu_cut *c, trs_slices *slices, trs_slices_map *map) {
  enum { APART = 256 };
  TRS_TRY(trs_device_alloc(c->device, &map->memory, 2 * APART, 1, c->stream));
  slices->chunk = map->memory;
  map->level_slice = (int32_t *)(void *)((char *)map->memory + APART);
  return trs_device_fill(map->memory, 0, 2 * APART, c->stream);
}

trs_status trs_gpu_cut_build(trs_gpu_cut *c, trs_slices *slices, trs_slices_map *map,
                             int store_float, const trs_gpu_blank *blank, trs_gpu_found *found) {
  trs_status status = TRS_SUCCESS;
  *map = (trs_slices_map){0};
  if (blank) status = trs_gpu_clear(blank, c->stream);
  if (!status && c->there.n == 0) {
    status = build_empty(c, slices, map);
  } else if (!status) {
    map_here m = {0};
    status = make_map(c, &m);
    if (!status) status = build(c, &m, slices, map, store_float != 0, found);
    drop_map(&m);
  }
  if (status) trs_gpu_slices_free(slices, map, c->device, c->stream);
  return status;
}

void trs_gpu_slices_free(trs_slices *slices, trs_slices_map *map, trs_device *device,
                         trs_stream stream) {
  trs_device_free(device, map->memory, stream);
  *slices = (trs_slices){0};
  *map = (trs_slices_map){0};
}

int64_t trs_gpu_slices_bytes(const trs_slices *slices, const trs_slices_map *map, trs_scalar scalar,
                             int store_float) {
  const int64_t int_size = sizeof(int32_t);
  return slices->nslices * (int64_t)sizeof(trs_slice) +
         (2 * slices->n + slices->nchunks + slices->nlevels) * int_size +
         slices->entries * (int_size + size_of_stored(scalar, store_float != 0)) +
         slices->inverses * (int64_t)trs_scalar_size(scalar) + (map->place ? slices->n : 0) +
         ((int64_t)slices->nparts + map->nheavy) * int_size;
}
