/* substitute.c - bands of levels; the joint system on the host. */
#include "analysis/substitute.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/system.h"
#include "base/memory.h"
#include "base/search.h"
#include "base/team.h"

static int32_t least(double a, double b) { return (int32_t)(a < b ? a : b); }

int32_t trs_substitution_depth(int32_t nlevels) {
  static const double SHARE = 0.75; /* of the root; 1.41 would be the fewest levels: deeper bands
                                      have longer rows */
  static const int32_t MOST = TRS_SUBSTITUTION_DEPTH;
  return least(SHARE * sqrt(nlevels) + 0.5, MOST);
}

int32_t trs_band_count(int32_t nlevels, int32_t depth) {
  int32_t count = 0;
  for (int32_t l = 0; l < nlevels; count++) l += count < depth ? count + 1 : depth;
  return count;
}

/* By how many entries a row of M may exceed the mean of `rows` rows of L: for all levels, and for
 * the width of a level. */
static double more_entries(double mean) { return 5 * mean + 16; }
static double more_in_level(double rows, const trs_gpu_costs *gpu) {
  return gpu->hop_entries / 2 / rows;
}

/* The entries of a row of M in a level. */
static int32_t most_entries(const trs_slice_level *level, const trs_gpu_costs *gpu) {
  const double rows = level[1].position - level->position,
               mean = (double)(level[1].entries - level->entries) / rows;
  return least(ceil(mean) + fmin(more_entries(mean), more_in_level(rows, gpu)),
               TRS_SUBSTITUTED_ENTRIES);
}

bool trs_bands_are_wide(const trs_slice_level *level, int32_t nlevels, const trs_gpu_costs *gpu) {
  const double rows = level[nlevels].position - level->position,
               mean = (double)(level[nlevels].entries - level->entries) / rows;
  return more_in_level(rows / nlevels, gpu) < more_entries(mean);
}

/* Levels between the last y of a band and its x, where there are so many: x should wait for other
 * x alone. */
static int32_t slack(int32_t band, int32_t levels) {
  enum { WANTED = 3 };
  const int32_t most = band + 1 - levels;
  return most < WANTED ? most : WANTED;
}

/* Numbers the rows in the order of steps. */
static void order_steps(trs_bands *b, const trs_slice_level *level) {
  int64_t turn = 0;
  for (int32_t s = 0; s < b->nsteps; s++) {
    b->step[s] = turn;
    for (int32_t l = s; l < b->nlevels; l++) {
      if (l - b->level[l].begin != s) continue;
      b->level[l].turn = (int32_t)turn;
      turn += level[l + 1].position - level[l].position;
    }
  }
  b->step[b->nsteps] = turn;
}

trs_status trs_bands_create(trs_bands *bands, const trs_slice_level *level, int32_t nlevels,
                            int32_t depth, const trs_gpu_costs *gpu) {
  *bands = (trs_bands){.nlevels = nlevels, .nbands = trs_band_count(nlevels, depth)};
  bands->nsteps = depth < bands->nbands ? depth : bands->nbands;
  bands->n = level[nlevels].position - level->position;
  trs_status status = TRS_ALLOC(&bands->level, nlevels);
  if (!status) status = TRS_ALLOC(&bands->step, bands->nsteps + 1);
  if (status) {
    trs_bands_destroy(bands);
    return status;
  }
  for (int32_t l = 0, band = 0, begin = 0; l < nlevels; l++) {
    const int32_t levels = band < depth ? band + 1 : depth;
    const int32_t end = begin + levels < nlevels ? begin + levels : nlevels;
    const int64_t rows = level[l + 1].position - level[l].position;
    bands->level[l] = (trs_band_level){.band = band,
                                       .begin = begin,
                                       .ahead = end - 1 - l + slack(band, end - begin),
                                       .most = most_entries(level + l, gpu),
                                       .position = level[l].position};
    if (l + 1 == end) band++, begin = end;
    if (bands->level[l].most > bands->most) bands->most = bands->level[l].most;
    bands->most_entries += level[l + 1].entries - level[l].entries + rows * bands->level[l].most;
  }
  order_steps(bands, level);
  return TRS_SUCCESS;
}

int64_t trs_band_rows(const trs_bands *bands, int32_t level) {
  const bool last = level + 1 == bands->nlevels;
  return (last ? bands->n : bands->level[level + 1].position) - bands->level[level].position;
}

void trs_bands_destroy(trs_bands *bands) {
  TRS_FREE_ALL(bands->level, bands->step);
  *bands = (trs_bands){0};
}

/* ---- The joint system. ---- */

/* Rows are numbered in the order of the sweep.  Of each: */
typedef struct row {
  int64_t begin, count; /* of its entries in M, in store */
  int64_t substituted;  /* entries of D */
  int32_t level, layer;
  int32_t y; /* number of its y; -1: no row substitutes it */
} row;

typedef struct work {
  const trs_system *S;
  const trs_bands *bands;
  row *row;
  int32_t *idx; /* the store of M's rows: columns in the order of the sweep, ascending */
  void *val;
  int64_t used, room;
  uint8_t *in_D;          /* of each entry of S */
  double *size, *largest; /* of each x; the sum of |M| times the sizes, by row */
  int32_t *at;            /* n: 1 + place of a column in the row that is made; 0: not there */
  int64_t guarded;
} work;

/* Off-diagonal entry e of row k in the order of the sweep, and its column. */
static int64_t entry_of(const work *w, int32_t k, int64_t e, int32_t *column) {
  const trs_system *S = w->S;
  int64_t begin, end;
  trs_off_diagonal(S, trs_in_sweep(S, k), S->lower, S->has_diagonal, &begin, &end);
  const int64_t p = S->lower ? begin + e : end - 1 - e;
  *column = (int32_t)trs_in_sweep(S, S->idx[p]);
  return p;
}

static int64_t count_of(const work *w, int32_t k) {
  int64_t begin, end;
  trs_off_diagonal(w->S, trs_in_sweep(w->S, k), w->S->lower, w->S->has_diagonal, &begin, &end);
  return end - begin;
}

static int64_t diagonal_of(const work *w, int32_t k) {
  int64_t begin, end;
  trs_off_diagonal(w->S, trs_in_sweep(w->S, k), w->S->lower, w->S->has_diagonal, &begin, &end);
  return w->S->lower ? end : begin - 1;
}

static const trs_band_level *band_of(const work *w, int32_t k) {
  return &w->bands->level[w->row[k].level];
}

/* The layer whose entries row k substitutes; -1: it depends on no row of its band. */
static int32_t find_layer(const work *w, int32_t k, int64_t count) {
  const int32_t begin = band_of(w, k)->begin;
  int32_t layer = -1, c;
  for (int64_t e = 0; e < count; e++) {
    entry_of(w, k, e, &c);
    if (w->row[c].level >= begin && w->row[c].layer > layer) layer = w->row[c].layer;
  }
  return layer;
}

static bool is_substituted(const work *w, int32_t k, int32_t c, int32_t layer) {
  return w->row[c].level >= band_of(w, k)->begin && w->row[c].layer == layer;
}

/* Adds a column to the row that is made.  False if it has enough. */
static bool add_column(work *w, row *r, int32_t c, int64_t most) {
  for (int64_t p = r->begin; p < r->begin + r->count; p++)
    if (w->idx[p] == c) return true;
  if (r->count == most) return false;
  w->idx[r->begin + r->count++] = c;
  return true;
}

/* The columns of row k if it substitutes the entries of `layer`.  False if they are too many. */
static bool find_columns(work *w, int32_t k, int64_t count, int32_t layer) {
  const int64_t most = band_of(w, k)->most;
  const int64_t most_substituted =
      w->bands->most <= TRS_SUBSTITUTED_FEW ? TRS_SUBSTITUTED_FEW : TRS_SUBSTITUTED_ENTRIES;
  row *r = &w->row[k];
  int64_t substituted = 0;
  int32_t c;
  bool fits = layer >= 0;
  for (int64_t e = 0; e < count && fits; e++) {
    entry_of(w, k, e, &c);
    if (is_substituted(w, k, c, layer))
      fits = ++substituted <= most_substituted;
    else
      fits = add_column(w, r, c, most);
  }
  for (int64_t e = 0; e < count && fits; e++) {
    entry_of(w, k, e, &c);
    const row *its = &w->row[c];
    for (int64_t p = 0; is_substituted(w, k, c, layer) && p < its->count && fits; p++)
      fits = add_column(w, r, w->idx[its->begin + p], most);
  }
  qsort(w->idx + r->begin, (size_t)r->count, sizeof *w->idx, trs_compare_int32);
  return fits;
}

/* The columns of S. */
static void keep_columns(work *w, int32_t k, int64_t count) {
  row *r = &w->row[k];
  for (int64_t e = 0; e < count; e++) entry_of(w, k, e, &w->idx[r->begin + e]);
  r->count = count;
}

#define TRS_TEMPLATE "analysis/substitute_tmpl.c"
#include "base/instantiate.h"

typedef void (*sizes_function)(work *);
typedef bool (*values_function)(work *, int32_t, int64_t, int32_t);
typedef void (*copy_function)(const work *, const trs_joint *, int32_t);
static const sizes_function find_sizes[] = TRS_TABLE(find_sizes);
static const values_function find_values[] = TRS_TABLE(find_values);
static const copy_function copy_rows[] = TRS_TABLE(copy_rows);

static trs_status make_room(work *w, int64_t more) {
  const size_t size = trs_scalar_size(w->S->scalar);
  if (w->used + more <= w->room) return TRS_SUCCESS;
  w->room = 2 * (w->used + more);
  TRS_TRY(trs_realloc((void **)&w->idx, w->room, sizeof *w->idx));
  return trs_realloc(&w->val, w->room, size);
}

static trs_status make_row(work *w, int32_t k) {
  const int64_t count = count_of(w, k);
  row *r = &w->row[k];
  int32_t c;
  TRS_TRY(make_room(w, count + TRS_SUBSTITUTED_ENTRIES));
  *r = (row){.begin = w->used, .y = -1};
  for (int64_t e = 0; e < count; e++) {
    entry_of(w, k, e, &c);
    if (w->row[c].level >= r->level) r->level = w->row[c].level + 1;
  }
  const int32_t layer = find_layer(w, k, count);
  r->layer = layer;
  bool substitutes = find_columns(w, k, count, layer);
  if (substitutes && !find_values[w->S->scalar](w, k, count, layer)) {
    substitutes = false;
    w->guarded++;
  }
  for (int64_t e = 0; e < count && substitutes; e++) {
    const int64_t p = entry_of(w, k, e, &c);
    w->in_D[p] = is_substituted(w, k, c, layer);
    r->substituted += w->in_D[p];
    if (w->in_D[p]) w->row[c].y = 0;
  }
  if (!substitutes) {
    r->layer = layer + 1;
    keep_columns(w, k, count);
    (void)find_values[w->S->scalar](w, k, count, -1);
  }
  w->used += r->count;
  return TRS_SUCCESS;
}

static trs_status allocate(trs_joint *j, const trs_system *S, int64_t n, int64_t nnz) {
  trs_system *T = &j->system;
  int64_t *ptr;
  int32_t *idx;
  void *val;
  *T = *S;
  T->n = n;
  T->nnz = nnz;
  T->lower = true;
  T->conj = false;
  T->has_diagonal = !S->unit;
  T->ptr = NULL, T->idx = NULL, T->val = NULL;
  TRS_TRY(TRS_ALLOC(&ptr, n + 1));
  T->ptr = ptr;
  TRS_TRY(TRS_ALLOC(&idx, nnz));
  T->idx = idx;
  TRS_TRY(trs_alloc(&val, nnz, trs_scalar_size(S->scalar)));
  T->val = val;
  return TRS_ALLOC_ALL(TRS_ROOM(&j->of, n), TRS_ROOM(&j->known, n));
}

/* Entries of the rows of the joint system. */
static int64_t entries_of_y(const work *w, const row *r) { return r->substituted + !w->S->unit; }
static int64_t entries_of_x(const work *w, const row *r) {
  return (r->y >= 0 ? 1 : r->substituted) + r->count + !w->S->unit;
}

/* Numbers the y, and counts the rows and entries of the joint system. */
static int32_t number_rows(work *w, int64_t *entries) {
  int32_t ny = 0;
  *entries = 0;
  for (int64_t k = 0; k < w->S->n; k++) {
    row *r = &w->row[k];
    if (r->y >= 0) r->y = ny++, *entries += entries_of_y(w, r);
    *entries += entries_of_x(w, r);
  }
  return ny;
}

/* The level of the x of each band's first layer.  Returns the number of levels. */
static int32_t find_levels(const work *w, int32_t *first) {
  int32_t nlevels = 0;
  memset(first, 0, (size_t)w->bands->nbands * sizeof *first);
  for (int64_t k = 0; k < w->S->n; k++) {
    int32_t *layers = &first[band_of(w, (int32_t)k)->band];
    if (w->row[k].layer + 1 > *layers) *layers = w->row[k].layer + 1;
  }
  for (int32_t b = 0; b < w->bands->nbands; b++) {
    const int32_t layers = first[b];
    first[b] = nlevels;
    nlevels += layers;
  }
  return nlevels;
}

static void set_begins(const work *w, const trs_joint *j) {
  int64_t *ptr = (int64_t *)j->system.ptr, at = 0;
  for (int64_t k = 0; k < w->S->n; k++) {
    const row *r = &w->row[k];
    if (r->y < 0) continue;
    ptr[r->y] = at;
    at += entries_of_y(w, r);
  }
  for (int64_t k = 0; k < w->S->n; k++) {
    ptr[j->ny + k] = at;
    at += entries_of_x(w, &w->row[k]);
  }
  ptr[j->system.n] = at;
}

static void set_levels(const work *w, const trs_joint *j, const int32_t *first) {
  for (int64_t k = 0; k < w->S->n; k++) {
    const row *r = &w->row[k];
    const trs_band_level *band = band_of(w, (int32_t)k);
    const int32_t i = (int32_t)trs_in_sweep(w->S, k), x = first[band->band] + r->layer;
    j->of[j->ny + k] = r->y < 0 ? i : TRS_ROW_BEHIND_Y + i;
    j->known[j->ny + k] = 1 + (uint32_t)x;
    if (r->y < 0) continue;
    j->of[r->y] = TRS_ROW_OF_Y + i;
    j->known[r->y] = 1 + (uint32_t)(x - band->ahead);
  }
}

static trs_status gather(work *w, trs_joint *j) {
  int64_t entries;
  int32_t *first = NULL;
  j->ny = number_rows(w, &entries);
  j->guarded = w->guarded;
  TRS_TRY(allocate(j, w->S, j->ny + w->S->n, entries));
  TRS_TRY(TRS_ALLOC(&first, w->bands->nbands));
  j->nlevels = find_levels(w, first);
  set_begins(w, j);
  set_levels(w, j, first);
  trs_free(first);
  for (int64_t k = 0; k < w->S->n; k++) copy_rows[w->S->scalar](w, j, (int32_t)k);
  return TRS_SUCCESS;
}

static trs_status begin(work *w, const trs_system *S) {
  return TRS_ALLOC_ALL(TRS_ZEROS(&w->row, S->n), TRS_ZEROS(&w->in_D, S->nnz),
                       TRS_ZEROS(&w->size, S->n), TRS_ZEROS(&w->largest, S->n),
                       TRS_ZEROS(&w->at, S->n));
}

trs_status trs_substitute(trs_joint *result, const trs_system *S, const trs_bands *bands) {
  work w = {.S = S, .bands = bands};
  *result = (trs_joint){0};
  trs_status status = begin(&w, S);
  if (!status) find_sizes[S->scalar](&w);
  for (int64_t k = 0; k < S->n && !status; k++) status = make_row(&w, (int32_t)k);
  if (!status) status = gather(&w, result);
  TRS_FREE_ALL(w.row, w.idx, w.val, w.in_D, w.size, w.largest, w.at);
  if (status) trs_joint_destroy(result);
  return status;
}

/* ---- Each y beside its x. ---- */

typedef struct pairing {
  const trs_joint *from;
  trs_joint *to;
  int32_t *place; /* the new number of each row */
  size_t size;
} pairing;

static void number_pairs(const pairing *it) {
  const trs_joint *j = it->from;
  const int64_t n = j->system.n - j->ny;
  for (int64_t k = 0, ny = 0; k < n; k++) {
    if (!trs_row_has_b(j->of[j->ny + k])) it->place[ny] = (int32_t)(k + ny), ny++;
    it->place[j->ny + k] = (int32_t)(k + ny);
  }
}

static void count_entries(const pairing *it) {
  const trs_system *S = &it->from->system;
  int64_t *ptr = (int64_t *)it->to->system.ptr;
  ptr[0] = 0;
  for (int64_t r = 0; r < S->n; r++) ptr[it->place[r] + 1] = S->ptr[r + 1] - S->ptr[r];
  for (int64_t r = 0; r < S->n; r++) ptr[r + 1] += ptr[r];
}

static void move_rows(void *argument, int rank, int size) {
  const pairing *it = argument;
  const trs_system *S = &it->from->system, *T = &it->to->system;
  int64_t begin, end;
  trs_share(S->n, rank, size, &begin, &end);
  for (int64_t r = begin; r < end; r++) {
    const int64_t from = S->ptr[r], count = S->ptr[r + 1] - from, to = T->ptr[it->place[r]];
    for (int64_t e = 0; e < count; e++) ((int32_t *)T->idx)[to + e] = it->place[S->idx[from + e]];
    memcpy((char *)T->val + to * (int64_t)it->size, (const char *)S->val + from * (int64_t)it->size,
           (size_t)count * it->size);
    it->to->of[it->place[r]] = it->from->of[r];
    it->to->known[it->place[r]] = it->from->known[r];
  }
}

trs_status trs_joint_pair(trs_joint *joint, trs_team *team) {
  trs_joint paired = {.ny = joint->ny, .nlevels = joint->nlevels, .guarded = joint->guarded};
  pairing it = {joint, &paired, NULL, trs_scalar_size(joint->system.scalar)};
  trs_status status = TRS_ALLOC(&it.place, joint->system.n);
  if (!status) status = allocate(&paired, &joint->system, joint->system.n, joint->system.nnz);
  if (!status) {
    number_pairs(&it);
    count_entries(&it);
    trs_team_run(team, trs_team_size(team), move_rows, &it);
    trs_joint_destroy(joint);
    *joint = paired;
  } else {
    trs_joint_destroy(&paired);
  }
  trs_free(it.place);
  return status;
}

void trs_joint_destroy(trs_joint *j) {
  TRS_FREE_ALL((void *)j->system.ptr, (void *)j->system.idx, (void *)j->system.val, j->of,
               j->known);
  *j = (trs_joint){0};
}
