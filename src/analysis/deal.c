/* deal.c - deals slices to the members: the cost of a deal, and each member's share. */
#include "analysis/deal.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/wait.h"

const char *const trs_deal_rules[] = {"auto", "bands", "slabs", "graph", NULL};

enum {
  ENTRY_BYTES = 12,     /* read per entry */
  ROW_BYTES = 45,       /* and per row */
  ROW_WEIGHT = 4,       /* of a row, in entries */
  FEW_SLICES = 32,      /* per member; below it a split gains nothing */
  SMALL_GRAPH = 200000, /* auto tries METIS up to this number of slices */
  FEW_NEIGHBOURS = 24,  /* needs per slice, mean, up to which auto tries METIS: beyond, it takes
                           long and gains nothing */
  MOST_THREADS = 256
};

typedef struct dealing {
  const trs_system *S;
  const trs_slices *s;
  const int32_t *position; /* n: of each row */
  const int64_t *slabs;    /* members + 1: those of the outline, or NULL: it has others */
  int32_t members;
  double alone;       /* seconds of one GPU, measured; 0: unknown */
  int64_t most_edges; /* of the graph for METIS */
  const trs_gpu_costs *gpu;
  trs_team *team;
  trs_walk walk;
} dealing;

static int64_t entries_of(const trs_slice *h) { return (int64_t)h->width * trs_slice_stride(h); }

static double seconds_of(const dealing *d, const trs_slice *h) {
  int64_t rows = trs_slice_is_part(h) ? 0 : h->rows;
  return (double)(ENTRY_BYTES * entries_of(h) + ROW_BYTES * rows) / d->gpu->group_bandwidth;
}

/* ---- Partitions: the owner of each slice that is not a part.  A part has the owner of the slice
 * that adds it.  ---- */

/* The end of the slices of one level and class that begin at k.  count: those that are not parts.
 */
static int32_t same_class(const trs_slices *s, int32_t k, int32_t *count) {
  const trs_slice *first = &s->slice[k];
  for (*count = 0;
       k < s->nslices && s->slice[k].level == first->level && s->slice[k].heavy == first->heavy &&
       (first->heavy || s->slice[k].log_lanes == first->log_lanes);
       k++)
    *count += !trs_slice_is_part(&s->slice[k]);
  return k;
}

/* Each member gets the same number of slices of a level, in one stretch. */
static void deal_by_level(const trs_slices *s, int32_t members, int32_t *owner) {
  int32_t count;
  for (int32_t k = 0, end; k < s->nslices; k = end) {
    end = same_class(s, k, &count);
    for (int32_t j = k, at = 0; j < end; j++) {
      owner[j] = (int32_t)((int64_t)at * members / count);
      at += !trs_slice_is_part(&s->slice[j]);
    }
  }
}

/* Of the first k rows of the sweep, in entries. */
static int64_t weight_before(const trs_system *S, int64_t k) {
  return (S->lower ? S->ptr[k] - S->ptr[0] : S->ptr[S->n] - S->ptr[S->n - k]) + ROW_WEIGHT * k;
}

void trs_deal_slabs(int64_t *cut, const trs_system *S, int32_t members) {
  const int64_t total = weight_before(S, S->n);
  cut[0] = 0;
  for (int32_t m = 1; m <= members; m++) {
    int64_t low = cut[m - 1], high = S->n; /* finds the first row with that weight before it */
    while (low < high) {
      int64_t middle = low + (high - low) / 2;
      if (weight_before(S, middle) < total * m / members)
        low = middle + 1;
      else
        high = middle;
    }
    cut[m] = low;
  }
  cut[members] = S->n;
}

/* The outline's slabs, or parts of the sweep of equal weight.  The first row of a slice decides its
 * member. */
static void deal_slabs(const dealing *d, int32_t *owner) {
  int64_t equal[TRS_MOST_MEMBERS + 1];
  const int64_t *cut = d->slabs ? d->slabs : equal;
  if (!d->slabs) trs_deal_slabs(equal, d->S, d->members);
  for (int32_t k = 0; k < d->s->nslices; k++) {
    int64_t at = trs_in_sweep(d->S, d->s->row[d->s->slice[k].first]);
    int32_t member = 0;
    while (member + 1 < d->members && at >= cut[member + 1]) member++;
    owner[k] = member;
  }
}

static trs_status deal_by_graph(const dealing *d, int32_t *owner) {
  if (d->s->nslices >= FEW_SLICES * d->members && d->members > 1)
    return trs_deal_graph(owner, d->S, d->s, d->position, d->members, d->most_edges);
  deal_by_level(d->s, d->members, owner);
  return TRS_SUCCESS;
}

static void own_parts(const trs_slices *s, int32_t *owner) {
  for (int32_t k = s->nslices - 2; k >= 0; k--)
    if (trs_slice_is_part(&s->slice[k])) owner[k] = owner[k + 1];
}

void trs_deal_bands(int32_t *owner, const trs_slices *s, int32_t members) {
  deal_by_level(s, members, owner);
  own_parts(s, owner);
}

static trs_status deal_slices(const dealing *d, trs_deal_rule rule, int32_t *owner) {
  if (rule == TRS_DEAL_GRAPH)
    TRS_TRY(deal_by_graph(d, owner));
  else if (rule == TRS_DEAL_SLABS)
    deal_slabs(d, owner);
  else
    deal_by_level(d->s, d->members, owner);
  own_parts(d->s, owner);
  return TRS_SUCCESS;
}

/* ---- The cost of a deal: values to send, and the longest path. ---- */

/* The longest path to a block, and the member that solves the block: from the highest bit on, the
 * time in units (32 bits, at least one step), the steps between members (27), the member (5).  0:
 * unknown.  One comparison finds the longer of two. */
typedef uint64_t path;

enum { MEMBER_BITS = 5, TIME_AT = 32 };
static const path MEMBER = (1 << MEMBER_BITS) - 1;
_Static_assert(TRS_MOST_MEMBERS <= 1 << MEMBER_BITS, "a path names its member");

static int32_t peer_steps_of(path it) { return (int32_t)((uint32_t)it >> MEMBER_BITS); }

/* What a step adds to a path, and a step between members beyond it.  The longest path that there
 * can be has less than 2^31 units. */
typedef struct steps {
  double unit; /* seconds */
  path step, peer;
} steps;

static steps steps_of(const dealing *d) {
  const double most = (d->gpu->group_hop + d->gpu->peer_hop) * (d->s->nlevels + 1);
  const double unit = most / INT32_MAX;
  return (steps){unit, (path)fmax(d->gpu->group_hop / unit, 1) << TIME_AT,
                 ((path)(d->gpu->peer_hop / unit) << TIME_AT) + ((path)1 << MEMBER_BITS)};
}

typedef struct look {
  const dealing *d;
  trs_deal *deal;
  uint8_t *owner;         /* n: of each row */
  _Atomic uint32_t *mask; /* n: of each row */
  steps steps;
  _Atomic path *path; /* n: of the block of each row */
  _Atomic int64_t ticket;
  int64_t pushes[MOST_THREADS];
  path longest[MOST_THREADS];
} look;

/* Copies the owners of slices to their rows. */
static void spread_owners(void *argument, int rank, int size) {
  look *it = argument;
  const trs_slices *s = it->d->s;
  int64_t begin, end;
  trs_share(s->nslices, rank, size, &begin, &end);
  for (int64_t k = begin; k < end; k++)
    for (int32_t r = 0; r < s->slice[k].rows && !trs_slice_is_part(&s->slice[k]); r++)
      it->owner[s->row[s->slice[k].first + r]] = (uint8_t)it->deal->owner[k];
}

/* Marks the row as needed by member.  True if the mark is new. */
static bool need_row(_Atomic uint32_t *mask, int32_t member) {
  const uint32_t bit = 1u << member;
  if (atomic_load_explicit(mask, memory_order_relaxed) & bit) return false;
  return !(atomic_fetch_or_explicit(mask, bit, memory_order_relaxed) & bit);
}

/* Masks by rows: rows need those of other members that they depend on. */
static void mark_needs(void *argument, int rank, int size) {
  look *it = argument;
  const trs_system *S = it->d->S;
  const uint8_t *owner = it->owner;
  int64_t begin, end, pushes = 0;
  trs_share(S->n, rank, size, &begin, &end);
  for (int64_t i = begin; i < end; i++) {
    int64_t p, stop;
    trs_off_diagonal(S, i, S->lower, S->has_diagonal, &p, &stop);
    for (; p < stop; p++)
      if (owner[S->idx[p]] != owner[i]) pushes += need_row(&it->mask[S->idx[p]], owner[i]);
  }
  it->pushes[rank] = pushes;
}

static int64_t groups_of(const trs_slices *s) {
  return (s->n + TRS_CLEAR_ROWS - 1) / TRS_CLEAR_ROWS;
}

/* Copies the masks of rows to their positions. */
static void place_masks(void *argument, int rank, int size) {
  look *it = argument;
  const trs_slices *s = it->d->s;
  int64_t begin, end;
  trs_share(groups_of(s), rank, size, &begin, &end);
  for (int64_t g = begin; g < end; g++) {
    uint32_t all = 0;
    for (int64_t k = g * TRS_CLEAR_ROWS; k < s->n && k < (g + 1) * TRS_CLEAR_ROWS; k++)
      all |= it->deal->mask[k] = atomic_load_explicit(&it->mask[s->row[k]], memory_order_relaxed);
    it->deal->group_mask[g] = all;
  }
}

static path await_path(const _Atomic path *from) {
  path it;
  trs_patience wait = {0};
  while (!(it = atomic_load_explicit(from, memory_order_relaxed))) trs_wait_turn(&wait);
  return it;
}

static path longer(path a, path b) { return a > b ? a : b; }

/* Rows [k, end) of the sweep, which are one block. */
static void look_at_block(look *it, int64_t k, int64_t end, int rank) {
  const trs_system *S = it->d->S;
  const int64_t first = trs_in_sweep(S, k);
  const path own = it->owner[first];
  path latest = 0;
  for (int64_t row = k; row < end; row++) {
    int64_t begin, stop;
    trs_off_diagonal(S, trs_in_sweep(S, row), S->lower, S->has_diagonal, &begin, &stop);
    for (int64_t p = begin; p < stop; p++) {
      if (S->lower ? S->idx[p] >= first : S->idx[p] <= first) continue; /* within the block */
      const path there = await_path(&it->path[S->idx[p]]);
      const path crossing = (there & MEMBER) == own ? 0 : it->steps.peer;
      latest = longer(latest, (there & ~MEMBER) + crossing);
    }
  }
  latest += it->steps.step;
  it->longest[rank] = longer(it->longest[rank], latest);
  for (int64_t row = k; row < end; row++)
    atomic_store_explicit(&it->path[trs_in_sweep(S, row)], latest | own, memory_order_relaxed);
}

static void look_at_rows(void *argument, int rank, int size) {
  look *it = argument;
  const dealing *d = it->d;
  const int64_t n = d->S->n;
  (void)size;
  for (;;) {
    const int64_t part = atomic_fetch_add(&it->ticket, 1);
    int64_t k = trs_walk_begin(&d->walk, part);
    const int64_t stop = trs_walk_begin(&d->walk, part + 1);
    if (k >= n) break;
    for (int64_t end; k < stop; k = end) {
      for (end = k + 1; end < n && !d->walk.begins[end];) end++;
      look_at_block(it, k, end, rank);
    }
  }
}

static int all_threads(const dealing *d) {
  if (d->S->n < trs_slices_alone) return 1;
  return trs_team_size(d->team) < MOST_THREADS ? trs_team_size(d->team) : MOST_THREADS;
}

/* Finds masks and pushes. */
static trs_status count_pushes(look *it) {
  const int all = all_threads(it->d);
  TRS_TRY(trs_alloc_zero((void **)&it->mask, it->d->S->n, sizeof *it->mask));
  trs_team_run(it->d->team, all, mark_needs, it);
  trs_team_run(it->d->team, all, place_masks, it);
  for (int t = 0; t < all; t++) it->deal->pushes += it->pushes[t];
  trs_free((void *)it->mask);
  return TRS_SUCCESS;
}

static trs_status walk_paths(look *it, path *longest) {
  const dealing *d = it->d;
  TRS_TRY(trs_alloc_zero((void **)&it->path, d->S->n, sizeof *it->path));
  trs_team_run(d->team, d->walk.threads, look_at_rows, it);
  for (int t = 0; t < d->walk.threads; t++) *longest = longer(*longest, it->longest[t]);
  trs_free((void *)it->path);
  return TRS_SUCCESS;
}

/* A path enters each slab once, so the longest one needs no walk. */
static path along_slabs(const look *it) {
  const trs_deal *deal = it->deal;
  const int32_t nlevels = it->d->s->nlevels;
  int32_t entered = -1;
  for (int32_t m = 0; m < deal->members; m++) entered += deal->rows[m] > 0;
  if (entered > nlevels - 1) entered = nlevels - 1;
  if (deal->pushes == 0) entered = 0;
  return it->steps.step * (path)nlevels + it->steps.peer * (path)entered;
}

/* A step between members from each level to the next: no path has more. */
static path along_levels(const look *it) {
  const path nlevels = (path)it->d->s->nlevels;
  return it->steps.step * nlevels + it->steps.peer * (it->deal->pushes > 0 ? nlevels - 1 : 0);
}

/* Gives the seconds of the longest path's steps. */
static double take_path(const look *it, path longest) {
  it->deal->peer_steps = peer_steps_of(longest);
  return it->steps.unit * (double)(longest >> TIME_AT);
}

static trs_status find_owners(look *it) {
  TRS_TRY(TRS_ALLOC(&it->owner, it->d->S->n));
  trs_team_run(it->d->team, all_threads(it->d), spread_owners, it);
  return TRS_SUCCESS;
}

/* Finds masks, pushes and the longest path, after the rows are counted.  seconds: the steps of that
 * path only. */
static trs_status look_at_deal(const dealing *d, trs_deal *deal, double *seconds) {
  look it = {.d = d, .deal = deal, .steps = steps_of(d)};
  path longest = 0;
  trs_status status = find_owners(&it);
  if (!status) status = count_pushes(&it);
  if (!status && deal->rule == TRS_DEAL_SLABS)
    longest = along_slabs(&it);
  else if (!status)
    status = walk_paths(&it, &longest);
  *seconds = take_path(&it, longest);
  trs_free(it.owner);
  return status;
}

double trs_deal_level_seconds(const trs_gpu_costs *gpu, int32_t nlevels) {
  return gpu->group_launch + gpu->group_hop * nlevels;
}

static double most_of(const double *load, int32_t members) {
  double most = 0;
  for (int32_t m = 0; m < members; m++) most = fmax(most, load[m]);
  return most;
}

/* Sums over the levels: the load of the fullest member, and the mean load. */
static void weigh_levels(const dealing *d, trs_deal *deal, double *fullest, double *mean) {
  double all[TRS_MOST_MEMBERS] = {0}, load[TRS_MOST_MEMBERS] = {0}, total = 0;
  *fullest = 0;
  for (int32_t k = 0; k < d->s->nslices; k++) {
    double own = seconds_of(d, &d->s->slice[k]);
    load[deal->owner[k]] += own;
    deal->rows[deal->owner[k]] += trs_slice_is_part(&d->s->slice[k]) ? 0 : d->s->slice[k].rows;
    all[deal->owner[k]] += own;
    total += own;
    if (k + 1 < d->s->nslices && d->s->slice[k + 1].level == d->s->slice[k].level) continue;
    *fullest += most_of(load, d->members);
    memset(load, 0, sizeof load);
  }
  *mean = total / d->members;
  deal->balance = total > 0 ? most_of(all, d->members) / *mean : 1;
  deal->level_balance = total > 0 ? *fullest / *mean : 1;
}

/* The factor from the modelled time of the bytes to the measured time.  Rows whose x lie far apart
 * cost more. */
static double scale_of(const dealing *d, double expected) {
  static const double LEAST = 0.3, MOST = 4;
  if (d->alone <= 0 || expected <= 0) return 1;
  const double levels = d->gpu->group_hop * d->s->nlevels;
  return fmin(fmax((d->alone - d->gpu->group_launch - levels) / expected, LEAST), MOST);
}

/* The longest path takes `along` seconds. */
static void set_seconds(const dealing *d, trs_deal *deal, double along, double fullest,
                        double mean) {
  const double scale = scale_of(d, mean * d->members);
  deal->seconds = d->gpu->group_launch + along + scale * fullest +
                  d->gpu->push * (double)deal->pushes / d->members;
  deal->alone = trs_deal_level_seconds(d->gpu, d->s->nlevels) + scale * mean * d->members;
}

static trs_status judge(const dealing *d, trs_deal *deal) {
  double fullest, mean, along;
  weigh_levels(d, deal, &fullest, &mean);
  TRS_TRY(look_at_deal(d, deal, &along));
  set_seconds(d, deal, along, fullest, mean);
  return TRS_SUCCESS;
}

void trs_deal_judge(trs_deal *deal, const trs_slices *s, double alone, const trs_gpu_costs *gpu) {
  const dealing d = {.s = s, .members = deal->members, .alone = alone, .gpu = gpu};
  const look it = {.d = &d, .deal = deal, .steps = steps_of(&d)};
  double fullest, mean;
  weigh_levels(&d, deal, &fullest, &mean);
  const path longest = deal->rule == TRS_DEAL_SLABS ? along_slabs(&it) : along_levels(&it);
  set_seconds(&d, deal, take_path(&it, longest), fullest, mean);
}

static trs_status try_rule(const dealing *d, trs_deal_rule rule, trs_deal *deal) {
  *deal = (trs_deal){.members = d->members, .rule = rule};
  trs_status status = TRS_ALLOC(&deal->owner, d->s->nslices);
  if (!status) status = TRS_ALLOC(&deal->mask, d->s->n);
  if (!status) status = TRS_ALLOC(&deal->group_mask, groups_of(d->s));
  if (!status) status = deal_slices(d, rule, deal->owner);
  if (!status) status = judge(d, deal);
  if (status) trs_deal_destroy(deal);
  return status;
}

static void keep_faster(trs_deal *best, trs_deal *other) {
  const bool better = other->seconds < best->seconds;
  trs_deal_destroy(better ? best : other);
  if (better) *best = *other;
}

/* METIS only where it is fast and neighbours matter. */
static trs_status try_graph(const dealing *d, trs_deal *best) {
  static const double NEARLY_IDEAL = 1.1;
  trs_deal other;
  const double ideal = trs_deal_level_seconds(d->gpu, d->s->nlevels) +
                       (best->alone - d->gpu->group_launch) / d->members;
  if (best->seconds < NEARLY_IDEAL * ideal || d->s->nslices > SMALL_GRAPH) return TRS_SUCCESS;
  trs_status status = try_rule(d, TRS_DEAL_GRAPH, &other);
  if (!status) keep_faster(best, &other);
  return status == TRS_ERROR_UNSUPPORTED ? TRS_SUCCESS : status;
}

/* The better of bands and graph. */
static trs_status try_all(const dealing *d, trs_deal *best) {
  TRS_TRY(try_rule(d, TRS_DEAL_BANDS, best));
  if (d->members == 1) return TRS_SUCCESS;
  trs_status status = try_graph(d, best);
  if (status) trs_deal_destroy(best);
  return status;
}

trs_status trs_deal_create(trs_deal *deal, const trs_system *S, const trs_slices *s,
                           const trs_outline *outline, int32_t members, trs_deal_rule rule,
                           double alone, const trs_gpu_costs *gpu, trs_team *team) {
  dealing d = {.S = S,
               .s = s,
               .position = trs_outline_positions(outline),
               .members = members,
               .alone = alone,
               .gpu = gpu,
               .most_edges = INT64_MAX,
               .team = team};
  int32_t nslabs;
  d.slabs = trs_outline_slabs(outline, &nslabs);
  if (nslabs != members) d.slabs = NULL;
  d.walk = trs_walk_of(S, trs_outline_begins(outline), team);
  if (d.walk.threads > MOST_THREADS) d.walk.threads = MOST_THREADS;
  *deal = (trs_deal){0};
  if (members < 1 || members > TRS_MOST_MEMBERS)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "%d members: 1 to %d can solve together", members,
                    (int)TRS_MOST_MEMBERS);
  if (rule != TRS_DEAL_AUTO) return try_rule(&d, rule, deal);
  d.most_edges = FEW_NEIGHBOURS * (int64_t)s->nslices;
  return try_all(&d, deal);
}

void trs_deal_destroy(trs_deal *deal) {
  TRS_FREE_ALL(deal->owner, deal->mask, deal->group_mask);
  *deal = (trs_deal){0};
}

/* ---- The share of one member.  ---- */

/* The member's slices in their order, with offsets and parts counted from 0. */
static void take_slices(trs_deal_share *share, const trs_deal *deal, const trs_slices *s,
                        int32_t member) {
  int32_t parts = 0; /* since the last slice that adds parts */
  for (int32_t k = 0; k < s->nslices; k++) {
    if (deal->owner[k] != member) continue;
    trs_slice *h = &share->slice[share->nslices];
    *h = s->slice[k];
    share->number[share->nslices++] = k;
    h->entries = share->entries;
    h->inverse = share->inverses;
    share->entries += entries_of(h);
    share->inverses += trs_slice_inverses(h);
    h->part = trs_slice_is_part(h) ? share->nparts : share->nparts - parts;
    share->nparts += trs_slice_is_part(h);
    share->rows += trs_slice_is_part(h) ? 0 : h->rows;
    parts = trs_slice_is_part(h) ? parts + 1 : 0;
  }
}

/* As in slice.c: heavy slices alone, the others of a level TRS_CHUNK_SLICES at a time. */
static void take_chunks(trs_deal_share *share) {
  for (int32_t k = 0; k < share->nslices;) {
    int32_t end = k + 1;
    while (end < share->nslices && end < k + TRS_CHUNK_SLICES && !share->slice[k].heavy &&
           !share->slice[end].heavy && share->slice[end].level == share->slice[k].level)
      end++;
    share->chunk[share->nchunks++] = k;
    k = end;
  }
  share->chunk[share->nchunks] = share->nslices;
}

/* The position to poll is the member's own: `early_poll` levels up, at the same relative place in
 * the member's slices of that level.  -1 if the member has no slices there. */
static void take_early_polls(trs_deal_share *share, int32_t early_poll) {
  int32_t up = 0, up_end = 0; /* slices of the level to poll */
  for (int32_t k = 0, end; k < share->nslices; k = end) {
    int32_t level = share->slice[k].level;
    for (end = k; end < share->nslices && share->slice[end].level == level;) end++;
    while (up < k && share->slice[up].level < level - early_poll) up++;
    for (up_end = up; up_end < k && share->slice[up_end].level == level - early_poll;) up_end++;
    for (int32_t j = k; j < end; j++) {
      int32_t it = up + (int32_t)((int64_t)(j - k) * (up_end - up) / (end - k));
      share->slice[j].early_poll = early_poll > 0 && up_end > up ? share->slice[it].first : -1;
    }
  }
}

static trs_status take(trs_deal_share *share, const trs_deal *deal, const trs_slices *s,
                       int32_t member, int32_t early_poll) {
  int32_t count = 0;
  for (int32_t k = 0; k < s->nslices; k++) count += deal->owner[k] == member;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&share->slice, count), TRS_ROOM(&share->number, count),
                        TRS_ROOM(&share->chunk, count + 1), TRS_ROOM(&share->clear, groups_of(s))));
  take_slices(share, deal, s, member);
  take_chunks(share);
  take_early_polls(share, early_poll);
  return trs_deal_share_clear(share, deal, s, member, NULL);
}

trs_status trs_deal_share_clear(trs_deal_share *share, const trs_deal *deal, const trs_slices *s,
                                int32_t member, const uint8_t *spared) {
  const int64_t groups = groups_of(s);
  uint8_t *held;
  TRS_TRY(TRS_ALLOC_ZERO(&held, groups));
  for (int32_t k = 0; k < share->nslices; k++) {
    if (spared && spared[k]) continue;
    int32_t first = share->slice[k].first, last = first + share->slice[k].rows - 1;
    held[first / TRS_CLEAR_ROWS] = held[last / TRS_CLEAR_ROWS] = 1;
  }
  share->nclear = 0;
  for (int32_t k = 0; k < groups; k++)
    if (held[k] || deal->group_mask[k] >> member & 1) share->clear[share->nclear++] = k;
  trs_free(held);
  return TRS_SUCCESS;
}

trs_status trs_deal_share_create(trs_deal_share *share, const trs_deal *deal, const trs_slices *s,
                                 int32_t member, int32_t early_poll) {
  *share = (trs_deal_share){0};
  trs_status status = take(share, deal, s, member, early_poll);
  if (status) trs_deal_share_destroy(share);
  return status;
}

void trs_deal_share_destroy(trs_deal_share *share) {
  TRS_FREE_ALL(share->slice, share->number, share->chunk, share->clear);
  *share = (trs_deal_share){0};
}
