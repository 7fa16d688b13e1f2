/* deal.c - who solves which slices, and what that means for each member. */
#include "analysis/deal.h"

#include <math.h>
#include <string.h>

#include "order/methods.h"

const char *const trs_partition_names[] = {"auto", "cyclic", "bands", "slabs", "graph", NULL};

/* Seconds: a step from level to level on one GPU, and what one between two costs more; a launch;
 * a value sent.  Bytes per second, and bytes of an entry and of a row. */
static const double HOP = 0.46e-6, CROSS = 0.35e-6, LAUNCH = 4e-6, PUSH = 12e-12,
                    BANDWIDTH = 3.3e12;

enum {
  ENTRY_BYTES = 12,
  ROW_BYTES = 45,
  ROW_WEIGHT = 4,            /* of a row, in entries */
  FEW_SLICES = 32,           /* for each member, below which there is nothing to split */
  SMALL_GRAPH = 200000,      /* slices up to which METIS is tried unasked */
  MOST_GRAPH = INT32_MAX / 4 /* edges of a graph of slices */
};

/* Which slices a slice needs: need[ptr[k] .. ptr[k + 1]), of the last slice of a heavy block for
 * all of them; slices are named by their last. */
typedef struct needs {
  int64_t *ptr;
  int32_t *need;
  int64_t room;
} needs;

typedef struct dealing {
  const trs_system *S;
  const trs_slices *s;
  const int32_t *position;
  int32_t members;
  double alone;      /* measured seconds of one GPU; 0: not known */
  int32_t *slice_of; /* n: the slice that solves the row at each position */
  needs needs;
} dealing;

static bool is_part(const trs_slice *h) { return h->parts < 0; }

static int64_t entries_of(const trs_slice *h) { return (int64_t)h->width * trs_slice_stride(h); }

static double seconds_of(const trs_slice *h) {
  int64_t rows = is_part(h) ? 0 : h->rows;
  return (double)(ENTRY_BYTES * entries_of(h) + ROW_BYTES * rows) / BANDWIDTH;
}

/* Off-diagonal entries of the row at a position. */
static void row_of(const dealing *d, int32_t position, int64_t *begin, int64_t *end) {
  trs_off_diagonal(d->S, d->s->row[position], d->S->lower, d->S->has_diagonal, begin, end);
}

static trs_status find_slices(dealing *d) {
  TRS_TRY(TRS_ALLOC(&d->slice_of, d->s->n));
  for (int32_t k = 0; k < d->s->nslices; k++)
    for (int32_t r = 0; r < d->s->slice[k].rows && !is_part(&d->s->slice[k]); r++)
      d->slice_of[d->s->slice[k].first + r] = k;
  return TRS_SUCCESS;
}

static trs_status need(needs *n, int64_t at, int32_t slice) {
  if (at == n->room) {
    n->room = 2 * n->room + 1024;
    TRS_TRY(trs_realloc((void **)&n->need, n->room, sizeof *n->need));
  }
  n->need[at] = slice;
  return TRS_SUCCESS;
}

static trs_status find_needs(dealing *d) {
  needs *n = &d->needs;
  int32_t *met;
  int64_t count = 0;
  TRS_TRY(TRS_ALLOC(&n->ptr, d->s->nslices + 1));
  TRS_TRY(TRS_ALLOC(&met, d->s->nslices));
  memset(met, 0xff, (size_t)d->s->nslices * sizeof *met);
  trs_status status = TRS_SUCCESS;
  for (int32_t k = 0; k < d->s->nslices; k++) {
    const trs_slice *h = &d->s->slice[k];
    n->ptr[k] = count;
    for (int32_t r = 0; r < h->rows && !is_part(h) && !status; r++) {
      int64_t begin, end;
      row_of(d, h->first + r, &begin, &end);
      for (int64_t p = begin; p < end && !status; p++) {
        int32_t other = d->slice_of[d->position[d->S->idx[p]]];
        if (other == k || met[other] == k) continue;
        met[other] = k;
        status = need(n, count++, other);
      }
    }
  }
  n->ptr[d->s->nslices] = count;
  trs_free(met);
  return status;
}

/* ---- Partitions: owner of every slice that is not a part; parts follow. ---- */

/* Slices of a level that are no parts, and stand in the same class, from k on; gives back the end,
 * which counts parts, and how many there are. */
static int32_t same_class(const trs_slices *s, int32_t k, int32_t *count) {
  const trs_slice *first = &s->slice[k];
  for (*count = 0;
       k < s->nslices && s->slice[k].level == first->level && s->slice[k].heavy == first->heavy &&
       (first->heavy || s->slice[k].log_lanes == first->log_lanes);
       k++)
    *count += !is_part(&s->slice[k]);
  return k;
}

/* The same number of slices for each: in turn, some neighbours at a time, or in one stretch each.
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
      at += !is_part(&s->slice[j]);
    }
  }
}

static int64_t sweep_of(const trs_system *S, int64_t row) {
  return S->lower ? row : S->n - 1 - row;
}

void trs_deal_slabs(int64_t *cut, const trs_system *S, int32_t members) {
  int64_t total = S->nnz + ROW_WEIGHT * S->n, before = 0;
  int32_t member = 0;
  for (int64_t k = 0; k < S->n; k++) {
    int64_t row = sweep_of(S, k); /* its own inverse */
    while (member < members && before >= total * member / members) cut[member++] = k;
    before += S->ptr[row + 1] - S->ptr[row] + ROW_WEIGHT;
  }
  while (member <= members) cut[member++] = S->n;
  cut[0] = 0;
}

/* Parts of the sweep that weigh the same; a slice goes where its first row is. */
static void deal_slabs(const dealing *d, int32_t *owner) {
  int64_t cut[TRS_DEAL_MEMBERS + 1];
  trs_deal_slabs(cut, d->S, d->members);
  for (int32_t k = 0; k < d->s->nslices; k++) {
    int64_t at = sweep_of(d->S, d->s->row[d->s->slice[k].first]);
    int32_t member = 0;
    while (member + 1 < d->members && at >= cut[member + 1]) member++;
    owner[k] = member;
  }
}

/* The graph of slices, both ways, for METIS: parts are vertices without edges. */
static trs_status build_graph(const dealing *d, trs_graph *graph, int32_t **weight) {
  const needs *n = &d->needs;
  int32_t nslices = d->s->nslices;
  TRS_TRY(TRS_ALLOC_ZERO(&graph->ptr, nslices + 2));
  TRS_TRY(TRS_ALLOC(&graph->adjacent, 2 * n->ptr[nslices]));
  TRS_TRY(TRS_ALLOC(weight, nslices));
  graph->n = nslices;
  int32_t *at = graph->ptr + 1; /* ends where the next begins */
  for (int32_t k = 0; k < nslices; k++)
    for (int64_t p = n->ptr[k]; p < n->ptr[k + 1]; p++) at[k + 1]++, at[n->need[p] + 1]++;
  for (int32_t k = 0; k < nslices; k++) at[k + 1] += at[k];
  for (int32_t k = 0; k < nslices; k++)
    for (int64_t p = n->ptr[k]; p < n->ptr[k + 1]; p++) {
      graph->adjacent[at[k]++] = n->need[p];
      graph->adjacent[at[n->need[p]]++] = k;
    }
  for (int32_t k = 0; k < nslices; k++) {
    const trs_slice *h = &d->s->slice[k];
    int64_t entries = entries_of(h) + h->parts * (int64_t)TRS_PART_WIDTH * trs_slice_stride(h);
    (*weight)[k] = is_part(h) ? 1 : (int32_t)(entries / 8 % INT32_MAX) + h->rows;
  }
  return TRS_SUCCESS;
}

static trs_status deal_by_graph(const dealing *d, int32_t *owner) {
  trs_graph graph = {0};
  int32_t *weight = NULL;
  if (d->s->nslices < FEW_SLICES * d->members || d->members == 1) {
    deal_by_level(d, owner, true);
    return TRS_SUCCESS;
  }
  if (d->needs.ptr[d->s->nslices] > MOST_GRAPH)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "the graph of slices is too large for METIS: take another partition");
  trs_status status = build_graph(d, &graph, &weight);
  if (!status) status = trs_graph_split(owner, &graph, weight, d->members);
  trs_free(graph.ptr);
  trs_free(graph.adjacent);
  trs_free(weight);
  return status;
}

static trs_status deal_slices(const dealing *d, trs_partition partition, int32_t *owner) {
  if (partition == TRS_PARTITION_GRAPH)
    TRS_TRY(deal_by_graph(d, owner));
  else if (partition == TRS_PARTITION_SLABS)
    deal_slabs(d, owner);
  else
    deal_by_level(d, owner, partition == TRS_PARTITION_BANDS);
  for (int32_t k = d->s->nslices - 2; k >= 0; k--)
    if (is_part(&d->s->slice[k])) owner[k] = owner[k + 1];
  return TRS_SUCCESS;
}

/* ---- What a partition means. ---- */

static void find_masks(const dealing *d, trs_deal *deal) {
  memset(deal->mask, 0, (size_t)d->s->n * sizeof *deal->mask);
  deal->pushes = 0;
  for (int32_t at = 0; at < d->s->n; at++) {
    int32_t own = deal->owner[d->slice_of[at]];
    int64_t begin, end;
    row_of(d, at, &begin, &end);
    for (int64_t p = begin; p < end; p++) {
      int32_t other = d->position[d->S->idx[p]];
      uint32_t bit = 1u << own;
      if (deal->owner[d->slice_of[other]] == own || deal->mask[other] & bit) continue;
      deal->mask[other] |= bit;
      deal->pushes++;
    }
  }
}

/* The longest path in seconds, hops alone, and how often it crosses between members; time and
 * crossed: nslices each. */
static double longest_path(const dealing *d, trs_deal *deal, double *time, int32_t *crossed) {
  double longest = 0;
  deal->crossings = 0;
  for (int32_t k = 0; k < d->s->nslices; k++) {
    double latest = 0;
    int32_t crossings = 0;
    for (int64_t p = d->needs.ptr[k]; p < d->needs.ptr[k + 1]; p++) {
      int32_t other = d->needs.need[p];
      bool crosses = deal->owner[other] != deal->owner[k];
      double there = time[other] + (crosses ? CROSS : 0);
      if (there <= latest) continue;
      latest = there;
      crossings = crossed[other] + crosses;
    }
    time[k] = latest + HOP;
    crossed[k] = crossings;
    if (time[k] <= longest) continue;
    longest = time[k];
    deal->crossings = crossings;
  }
  return longest;
}

static double most_of(const double *load, int32_t members) {
  double most = 0;
  for (int32_t m = 0; m < members; m++) most = fmax(most, load[m]);
  return most;
}

/* The fullest member of each level: their sum, and that of the means. */
static void weigh_levels(const dealing *d, trs_deal *deal, double *fullest, double *mean) {
  double all[TRS_DEAL_MEMBERS] = {0}, load[TRS_DEAL_MEMBERS] = {0}, total = 0;
  *fullest = 0;
  for (int32_t k = 0; k < d->s->nslices; k++) {
    double own = seconds_of(&d->s->slice[k]);
    load[deal->owner[k]] += own;
    deal->rows[deal->owner[k]] += is_part(&d->s->slice[k]) ? 0 : d->s->slice[k].rows;
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

/* How far bytes alone are from what was measured: rows whose x lie far apart cost more. */
static double scale_of(const dealing *d, double expected) {
  static const double LEAST = 0.3, MOST = 4;
  if (d->alone <= 0 || expected <= 0) return 1;
  return fmin(fmax((d->alone - LAUNCH - HOP * d->s->nlevels) / expected, LEAST), MOST);
}

static trs_status judge(const dealing *d, trs_deal *deal) {
  double *time, fullest, mean;
  int32_t *crossed = NULL;
  trs_status status = TRS_ALLOC(&time, d->s->nslices);
  if (!status) status = TRS_ALLOC(&crossed, d->s->nslices);
  if (!status) {
    find_masks(d, deal);
    weigh_levels(d, deal, &fullest, &mean);
    double scale = scale_of(d, mean * d->members);
    deal->seconds = LAUNCH + longest_path(d, deal, time, crossed) + scale * fullest +
                    PUSH * (double)deal->pushes / d->members;
    deal->alone = LAUNCH + HOP * d->s->nlevels + scale * mean * d->members;
  }
  trs_free(time);
  trs_free(crossed);
  return status;
}

static trs_status try_partition(const dealing *d, trs_partition partition, trs_deal *deal) {
  *deal = (trs_deal){.members = d->members, .partition = partition};
  trs_status status = TRS_ALLOC(&deal->owner, d->s->nslices);
  if (!status) status = TRS_ALLOC(&deal->mask, d->s->n);
  if (!status) status = deal_slices(d, partition, deal->owner);
  if (!status) status = judge(d, deal);
  if (status) trs_deal_destroy(deal);
  return status;
}

/* The one that is expected to be fastest; METIS only where it is quick and neighbours matter. */
static trs_status try_all(const dealing *d, trs_deal *best) {
  static const trs_partition all[] = {TRS_PARTITION_BANDS, TRS_PARTITION_SLABS,
                                      TRS_PARTITION_CYCLIC, TRS_PARTITION_GRAPH};
  static const double NEARLY_IDEAL = 1.1;
  TRS_TRY(try_partition(d, all[0], best));
  for (size_t k = 1; k < sizeof all / sizeof *all && d->members > 1; k++) {
    trs_deal other;
    double ideal = LAUNCH + HOP * d->s->nlevels + (best->alone - LAUNCH) / d->members;
    if (best->seconds < NEARLY_IDEAL * ideal && k >= 2) break;
    if (all[k] == TRS_PARTITION_GRAPH && d->s->nslices > SMALL_GRAPH) break;
    trs_status status = try_partition(d, all[k], &other);
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
                           const int32_t *position, int32_t members, trs_partition partition,
                           double alone) {
  dealing d = {.S = S, .s = s, .position = position, .members = members, .alone = alone};
  *deal = (trs_deal){0};
  if (members < 1 || members > TRS_DEAL_MEMBERS)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "%d members: 1 to %d can solve together", members,
                    (int)TRS_DEAL_MEMBERS);
  trs_status status = find_slices(&d);
  if (!status) status = find_needs(&d);
  if (!status)
    status =
        partition == TRS_PARTITION_AUTO ? try_all(&d, deal) : try_partition(&d, partition, deal);
  trs_free(d.slice_of);
  trs_free(d.needs.ptr);
  trs_free(d.needs.need);
  return status;
}

void trs_deal_destroy(trs_deal *deal) {
  trs_free(deal->owner);
  trs_free(deal->mask);
  *deal = (trs_deal){0};
}

/* ---- A member's share. ---- */

/* Its slices in their order, offsets and parts counted anew. */
static void take_slices(trs_deal_share *share, const trs_deal *deal, const trs_slices *s,
                        int32_t member) {
  int32_t parts = 0; /* met since the last slice that adds them */
  for (int32_t k = 0; k < s->nslices; k++) {
    if (deal->owner[k] != member) continue;
    trs_slice *h = &share->slice[share->nslices];
    *h = s->slice[k];
    share->number[share->nslices++] = k;
    h->entries = share->entries;
    h->inverse = share->inverses;
    share->entries += entries_of(h);
    share->inverses += trs_slice_inverses(h);
    share->heavy |= h->heavy;
    h->part = is_part(h) ? share->nparts : share->nparts - parts;
    share->nparts += is_part(h);
    share->rows += is_part(h) ? 0 : h->rows;
    parts = is_part(h) ? parts + 1 : 0;
  }
}

/* As in slice.c: heavy slices alone, others of a level TRS_CHUNK_SLICES at a time. */
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

/* Something of its own, some levels up and as far into its level; a member without rows there
 * watches nothing. */
static void take_watches(trs_deal_share *share, int32_t watch) {
  int32_t up = 0, up_end = 0; /* slices of the level watched */
  for (int32_t k = 0, end; k < share->nslices; k = end) {
    int32_t level = share->slice[k].level;
    for (end = k; end < share->nslices && share->slice[end].level == level;) end++;
    while (up < k && share->slice[up].level < level - watch) up++;
    for (up_end = up; up_end < k && share->slice[up_end].level == level - watch;) up_end++;
    for (int32_t j = k; j < end; j++) {
      int32_t it = up + (int32_t)((int64_t)(j - k) * (up_end - up) / (end - k));
      share->slice[j].watch = watch > 0 && up_end > up ? share->slice[it].first : -1;
    }
  }
}

static void take_clears(trs_deal_share *share, const trs_deal *deal, const trs_slices *s,
                        uint8_t *held, int32_t member) {
  for (int32_t k = 0; k < share->nslices; k++) {
    int32_t first = share->slice[k].first, last = first + share->slice[k].rows - 1;
    held[first / TRS_CLEAR_ROWS] = held[last / TRS_CLEAR_ROWS] = 1;
  }
  for (int32_t k = 0; k < s->n; k++)
    if (deal->mask[k] >> member & 1) held[k / TRS_CLEAR_ROWS] = 1;
  for (int32_t k = 0; (int64_t)k * TRS_CLEAR_ROWS < s->n; k++)
    if (held[k]) share->clear[share->nclear++] = k;
}

static trs_status take(trs_deal_share *share, const trs_deal *deal, const trs_slices *s,
                       int32_t member, int32_t watch) {
  int32_t count = 0;
  int64_t groups = (s->n + TRS_CLEAR_ROWS - 1) / TRS_CLEAR_ROWS;
  uint8_t *held;
  for (int32_t k = 0; k < s->nslices; k++) count += deal->owner[k] == member;
  TRS_TRY(TRS_ALLOC(&share->slice, count));
  TRS_TRY(TRS_ALLOC(&share->number, count));
  TRS_TRY(TRS_ALLOC(&share->chunk, count + 1));
  TRS_TRY(TRS_ALLOC(&share->clear, groups));
  take_slices(share, deal, s, member);
  take_chunks(share);
  take_watches(share, watch);
  TRS_TRY(TRS_ALLOC_ZERO(&held, groups));
  take_clears(share, deal, s, held, member);
  trs_free(held);
  return TRS_SUCCESS;
}

trs_status trs_deal_share_create(trs_deal_share *share, const trs_deal *deal, const trs_slices *s,
                                 int32_t member, int32_t watch) {
  *share = (trs_deal_share){0};
  trs_status status = take(share, deal, s, member, watch);
  if (status) trs_deal_share_destroy(share);
  return status;
}

void trs_deal_share_destroy(trs_deal_share *share) {
  trs_free(share->slice);
  trs_free(share->number);
  trs_free(share->chunk);
  trs_free(share->clear);
  *share = (trs_deal_share){0};
}
