/* deal.c - deals slices to the members: the cost of a deal, and each member's share. */
#include "analysis/deal.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/wait.h"

const char *const trs_deal_rules[] = {"auto", "cyclic", "bands", "slabs", "graph", NULL};

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

/* Each member gets the same number of slices: round-robin by a few neighbours, or in one stretch.
 */
static void deal_by_level(const dealing *d, int32_t *owner, bool stretches) {
  const trs_slices *s = d->s;
  int32_t count;
  for (int32_t k = 0, end; k < s->nslices; k = end) {
    end = same_class(s, k, &count);
    int32_t grain = count / (4 * d->members), at = 0;
    grain = grain < 1 ? 1 : grain < TRS_CHUNK_SLICES ? grain : TRS_CHUNK_SLICES;
    for (int32_t j = k; j < end; j++) {
      owner[j] = stretches ? (int32_t)((int64_t)at * d->members / count) : at / grain % d->members;
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

/* Parts of the sweep of equal weight.  The first row of a slice decides its member. */
static void deal_slabs(const dealing *d, int32_t *owner) {
  int64_t cut[TRS_MOST_MEMBERS + 1];
  trs_deal_slabs(cut, d->S, d->members);
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
  deal_by_level(d, owner, true);
  return TRS_SUCCESS;
}

static trs_status deal_slices(const dealing *d, trs_deal_rule rule, int32_t *owner) {
  if (rule == TRS_DEAL_GRAPH)
    TRS_TRY(deal_by_graph(d, owner));
  else if (rule == TRS_DEAL_SLABS)
    deal_slabs(d, owner);
  else
    deal_by_level(d, owner, rule == TRS_DEAL_BANDS);
  for (int32_t k = d->s->nslices - 2; k >= 0; k--)
    if (trs_slice_is_part(&d->s->slice[k])) owner[k] = owner[k + 1];
  return TRS_SUCCESS;
}

/* ---- The cost of a deal. ---- */

/* The longest path to a block.  steps is at least 1 once the path is known. */
typedef struct path {
  int32_t steps, peer_steps;
} path;

/* Per row, contiguous, since each entry reads all of it. */
typedef struct seen {
  _Atomic uint64_t path; /* of its block; 0: unknown */
  _Atomic uint32_t mask;
  int32_t owner;
} seen;

/* A walk over all rows. */
typedef struct look {
  const dealing *d;
  trs_deal *deal;
  seen *row; /* n */
  _Atomic int64_t ticket;
  int64_t pushes[MOST_THREADS];
  path longest[MOST_THREADS];
} look;

static path load_path(const seen *row) {
  uint64_t bits;
  path it;
  trs_patience wait = {0};
  while (!(bits = atomic_load_explicit(&row->path, memory_order_relaxed))) trs_wait_turn(&wait);
  memcpy(&it, &bits, sizeof it);
  return it;
}
static void store_path(seen *row, path it) {
  uint64_t bits;
  memcpy(&bits, &it, sizeof bits);
  atomic_store_explicit(&row->path, bits, memory_order_relaxed);
}
static double seconds_along(const dealing *d, path it) {
  return d->gpu->group_hop * it.steps + d->gpu->peer_hop * it.peer_steps;
}

/* Copies the owners of slices to their rows. */
static void spread_owners(void *argument, int rank, int size) {
  look *it = argument;
  const trs_slices *s = it->d->s;
  int64_t begin, end;
  trs_share(s->nslices, rank, size, &begin, &end);
  for (int64_t k = begin; k < end; k++)
    for (int32_t r = 0; r < s->slice[k].rows && !trs_slice_is_part(&s->slice[k]); r++) {
      seen *row = &it->row[s->row[s->slice[k].first + r]];
      atomic_init(&row->path, 0);
      atomic_init(&row->mask, 0);
      row->owner = it->deal->owner[k];
    }
}

/* Copies the masks of rows to their positions. */
static void place_masks(void *argument, int rank, int size) {
  look *it = argument;
  int64_t begin, end;
  trs_share(it->d->s->n, rank, size, &begin, &end);
  for (int64_t k = begin; k < end; k++)
    it->deal->mask[k] = atomic_load_explicit(&it->row[it->d->s->row[k]].mask, memory_order_relaxed);
}

/* Marks the row as needed by member.  True if the mark is new. */
static bool need_row(seen *row, int32_t member) {
  const uint32_t bit = 1u << member;
  if (atomic_load_explicit(&row->mask, memory_order_relaxed) & bit) return false;
  return !(atomic_fetch_or_explicit(&row->mask, bit, memory_order_relaxed) & bit);
}

/* Rows [k, end) of the sweep, which are one block.  Returns the number of values to send. */
static int64_t look_at_block(look *it, int64_t k, int64_t end, path *longest) {
  const trs_system *S = it->d->S;
  const int64_t first = trs_in_sweep(S, k);
  const int32_t own = it->row[first].owner;
  path latest = {0, 0};
  int64_t pushes = 0;
  for (int64_t row = k; row < end; row++) {
    int64_t begin, stop;
    trs_off_diagonal(S, trs_in_sweep(S, row), S->lower, S->has_diagonal, &begin, &stop);
    for (int64_t p = begin; p < stop; p++) {
      if (S->lower ? S->idx[p] >= first : S->idx[p] <= first) continue; /* within the block */
      seen *other = &it->row[S->idx[p]];
      path there = load_path(other);
      if (other->owner != own) {
        there.peer_steps++;
        pushes += need_row(other, own);
      }
      if (seconds_along(it->d, there) > seconds_along(it->d, latest)) latest = there;
    }
  }
  latest.steps++;
  for (int64_t row = k; row < end; row++) store_path(&it->row[trs_in_sweep(S, row)], latest);
  if (seconds_along(it->d, latest) > seconds_along(it->d, *longest)) *longest = latest;
  return pushes;
}

static void look_at_rows(void *argument, int rank, int size) {
  look *it = argument;
  const dealing *d = it->d;
  const int64_t n = d->S->n;
  int64_t pushes = 0;
  path longest = {0, 0};
  (void)size;
  for (;;) {
    const int64_t part = atomic_fetch_add(&it->ticket, 1);
    int64_t k = trs_walk_begin(&d->walk, part);
    const int64_t stop = trs_walk_begin(&d->walk, part + 1);
    if (k >= n) break;
    for (int64_t end; k < stop; k = end) {
      for (end = k + 1; end < n && !d->walk.begins[end];) end++;
      pushes += look_at_block(it, k, end, &longest);
    }
  }
  it->pushes[rank] = pushes;
  it->longest[rank] = longest;
}

/* Finds masks, pushes and the longest path.  seconds: the steps of that path only. */
static trs_status look_at_all(const dealing *d, trs_deal *deal, double *seconds) {
  const int64_t n = d->S->n;
  const int all = n < trs_slices_alone ? 1 : trs_team_size(d->team);
  look it = {.d = d, .deal = deal};
  path longest = {0, 0};
  TRS_TRY(TRS_ALLOC(&it.row, n));
  trs_team_run(d->team, all, spread_owners, &it);
  trs_team_run(d->team, d->walk.threads, look_at_rows, &it);
  trs_team_run(d->team, all, place_masks, &it);
  for (int t = 0; t < d->walk.threads; t++) {
    deal->pushes += it.pushes[t];
    if (seconds_along(d, it.longest[t]) > seconds_along(d, longest)) longest = it.longest[t];
  }
  deal->peer_steps = longest.peer_steps;
  *seconds = seconds_along(d, longest);
  trs_free(it.row);
  return TRS_SUCCESS;
}

/* The launch and the steps from level to level of one GPU. */
static double seconds_of_levels(const dealing *d) {
  return d->gpu->group_launch + d->gpu->group_hop * d->s->nlevels;
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

static trs_status judge(const dealing *d, trs_deal *deal) {
  double fullest, mean, along;
  TRS_TRY(look_at_all(d, deal, &along));
  weigh_levels(d, deal, &fullest, &mean);
  double scale = scale_of(d, mean * d->members);
  deal->seconds = d->gpu->group_launch + along + scale * fullest +
                  d->gpu->push * (double)deal->pushes / d->members;
  deal->alone = seconds_of_levels(d) + scale * mean * d->members;
  return TRS_SUCCESS;
}

static trs_status try_rule(const dealing *d, trs_deal_rule rule, trs_deal *deal) {
  *deal = (trs_deal){.members = d->members, .rule = rule};
  trs_status status = TRS_ALLOC(&deal->owner, d->s->nslices);
  if (!status) status = TRS_ALLOC(&deal->mask, d->s->n);
  if (!status) status = deal_slices(d, rule, deal->owner);
  if (!status) status = judge(d, deal);
  if (status) trs_deal_destroy(deal);
  return status;
}

/* The rule with the lowest expected time.  METIS only where it is fast and neighbours matter.
 */
static trs_status try_all(const dealing *d, trs_deal *best) {
  static const trs_deal_rule all[] = {TRS_DEAL_BANDS, TRS_DEAL_SLABS, TRS_DEAL_CYCLIC,
                                      TRS_DEAL_GRAPH};
  static const double NEARLY_IDEAL = 1.1;
  TRS_TRY(try_rule(d, all[0], best));
  for (size_t k = 1; k < sizeof all / sizeof *all && d->members > 1; k++) {
    trs_deal other;
    double ideal = seconds_of_levels(d) + (best->alone - d->gpu->group_launch) / d->members;
    if (best->seconds < NEARLY_IDEAL * ideal && k >= 2) break;
    if (all[k] == TRS_DEAL_GRAPH && d->s->nslices > SMALL_GRAPH) break;
    trs_status status = try_rule(d, all[k], &other);
    if (status == TRS_ERROR_UNSUPPORTED) continue;
    if (status) {
      trs_deal_destroy(best);
      return status;
    }
    bool better = other.seconds < best->seconds;
    trs_deal_destroy(better ? best : &other);
    if (better) *best = other;
  }
  return TRS_SUCCESS;
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
  trs_free(deal->owner);
  trs_free(deal->mask);
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
  int64_t groups = (s->n + TRS_CLEAR_ROWS - 1) / TRS_CLEAR_ROWS;
  for (int32_t k = 0; k < s->nslices; k++) count += deal->owner[k] == member;
  TRS_TRY(TRS_ALLOC(&share->slice, count));
  TRS_TRY(TRS_ALLOC(&share->number, count));
  TRS_TRY(TRS_ALLOC(&share->chunk, count + 1));
  TRS_TRY(TRS_ALLOC(&share->clear, groups));
  take_slices(share, deal, s, member);
  take_chunks(share);
  take_early_polls(share, early_poll);
  return trs_deal_share_clear(share, deal, s, member, NULL);
}

trs_status trs_deal_share_clear(trs_deal_share *share, const trs_deal *deal, const trs_slices *s,
                                int32_t member, const uint8_t *spared) {
  const int64_t groups = (s->n + TRS_CLEAR_ROWS - 1) / TRS_CLEAR_ROWS;
  uint8_t *held;
  TRS_TRY(TRS_ALLOC_ZERO(&held, groups));
  for (int32_t k = 0; k < share->nslices; k++) {
    if (spared && spared[k]) continue;
    int32_t first = share->slice[k].first, last = first + share->slice[k].rows - 1;
    held[first / TRS_CLEAR_ROWS] = held[last / TRS_CLEAR_ROWS] = 1;
  }
  for (int64_t k = 0; k < s->n; k++)
    if (deal->mask[k] >> member & 1) held[k / TRS_CLEAR_ROWS] = 1;
  share->nclear = 0;
  for (int32_t k = 0; k < groups; k++)
    if (held[k]) share->clear[share->nclear++] = k;
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
