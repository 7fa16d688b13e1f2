/* grow.c - grows supersteps over the rows in their natural order.  Rows are named by their place in
 * the sweep. */
#include "solve/threads/grow.h"

#include <string.h>

#define TRS_GROW_INLINE static inline __attribute__((always_inline))

/* A set of places; the smallest is found in O(log n / log 64). */
enum { MOST_LAYERS = 6 };
typedef struct place_set {
  uint64_t *layer[MOST_LAYERS]; /* bit k of layer l + 1: word k of layer l is not zero */
  int layers;
  int64_t first; /* no earlier word of layer 0 has a place */
} place_set;

/* Thread t of the superstep has the number base + 1 + t.  A row waits for one of its dependencies
 * that no thread has taken yet, looked for from the nearest on, and looks on once that is taken. */
typedef struct row_state {
  int32_t left;  /* dependencies that it has not looked at */
  uint32_t fill; /* that took the others of this superstep; base if two threads did */
  int32_t next;  /* that waits for the same one, or -1 */
} row_state;

typedef struct grower {
  const trs_system *S; /* by rows */
  const int32_t *length;
  row_state *at;
  uint32_t *owner; /* n: the number of the thread that took a place, or 0 */
  int32_t *waits;  /* n: the first place that waits for a place, or -1 */
  place_set ready; /* all dependencies were taken in earlier supersteps */
  place_set own;   /* ready for the thread that is being filled; all behind its last place */
  int64_t
      follower;  /* the place behind the last one if that belongs to own, kept out of it; or -1 */
  int32_t *next; /* ready in the next superstep */
  int64_t nnext;
  int32_t *last;                    /* threads: the last place that each took, or -1 */
  uint32_t base;                    /* the number of the superstep */
  int64_t work;                     /* of all rows */
  int64_t taken, done;              /* rows, and their work */
  int64_t marked_done, marked_span; /* the last mark: too_long */
  trs_parts *parts;
} grower;

static trs_status create_set(place_set *set, int64_t n) {
  do {
    n = (n + 63) / 64;
    TRS_TRY(TRS_ALLOC_ZERO(&set->layer[set->layers++], n));
  } while (n > 1);
  return TRS_SUCCESS;
}

static void destroy_set(place_set *set) {
  for (int l = 0; l < set->layers; l++) trs_free(set->layer[l]);
}

static void insert(place_set *set, int64_t k) {
  if (k / 64 < set->first) set->first = k / 64;
  for (int l = 0; l < set->layers; l++, k /= 64) {
    uint64_t *word = &set->layer[l][k / 64], before = *word;
    *word |= (uint64_t)1 << k % 64;
    if (before) return;
  }
}

static void erase(place_set *set, int64_t k) {
  for (int l = 0; l < set->layers; l++, k /= 64) {
    uint64_t *word = &set->layer[l][k / 64];
    *word &= ~((uint64_t)1 << k % 64);
    if (*word) return;
  }
}

static bool contains(const place_set *set, int64_t k) {
  return set->layer[0][k / 64] >> k % 64 & 1;
}

/* The smallest place, or -1. */
static int64_t first_of(place_set *set) {
  const uint64_t word = set->layer[0][set->first];
  int64_t k = 0;
  if (word) return 64 * set->first + __builtin_ctzll(word);
  if (!set->layer[set->layers - 1][0]) return -1;
  for (int l = set->layers - 1; l >= 0; l--) k = 64 * k + __builtin_ctzll(set->layer[l][k]);
  set->first = k / 64;
  return k;
}

/* Place `other` has no dependency left.  own: the thread that took k took all those of this
 * superstep. */
static void hand_on(grower *g, int32_t other, int32_t k, bool own) {
  if (!own)
    g->next[g->nnext++] = other;
  else if (other == k + 1)
    g->follower = other;
  else
    insert(&g->own, other);
}

/* Looks on at the dependencies of place `other`.  True if all are taken.  lower is that of the
 * system, as a literal. */
TRS_GROW_INLINE bool look_on(grower *g, int32_t other, bool lower) {
  const trs_system *S = g->S;
  const int32_t last = (int32_t)(S->n - 1), i = lower ? other : last - other;
  const uint32_t base = g->base;
  row_state it = g->at[other];
  int64_t begin, end;
  trs_off_diagonal(S, i, lower, S->has_diagonal, &begin, &end);
  for (; it.left > 0; it.left--) {
    const int32_t needed = lower ? S->idx[begin + it.left - 1] : last - S->idx[end - it.left];
    const uint32_t fill = g->owner[needed];
    if (!fill) {
      it.next = g->waits[needed];
      g->waits[needed] = other;
      g->at[other] = it;
      return false;
    }
    if (fill >= base) it.fill = it.fill >= base && it.fill != fill ? base : fill;
  }
  g->at[other].fill = it.fill;
  return true;
}

/* Gives place k to the thread with that fill.  Returns its work. */
TRS_GROW_INLINE int64_t take(grower *g, int32_t k, uint32_t fill, bool lower) {
  const int32_t last = (int32_t)(g->S->n - 1), i = lower ? k : last - k;
  g->parts->of[i] = (int32_t)(g->parts->count - 1);
  g->owner[k] = fill;
  g->follower = -1;
  for (int32_t other = g->waits[k], next; other >= 0; other = next) {
    next = g->at[other].next;
    if (look_on(g, other, lower)) hand_on(g, other, k, g->at[other].fill == fill);
  }
  return g->length[i] + TRS_ROW_WORK;
}

/* Removes the smallest place that the thread may take, or returns -1. */
static int64_t next_place(grower *g) {
  if (g->follower >= 0) return g->follower;
  int64_t k = first_of(&g->own);
  place_set *from = k >= 0 ? &g->own : &g->ready;
  if (k < 0) k = first_of(&g->ready);
  if (k >= 0) erase(from, k);
  return k;
}

static trs_status add_part(trs_parts *parts, int thread) {
  if (parts->count == parts->capacity) {
    parts->capacity *= 2;
    TRS_TRY(trs_realloc((void **)&parts->part, parts->capacity, sizeof *parts->part));
  }
  parts->part[parts->count++] = (trs_step_part){.thread = thread};
  return TRS_SUCCESS;
}

/* Takes places until the goal. */
TRS_GROW_INLINE void take_places(grower *g, int thread, int64_t goal, bool lower) {
  const uint32_t fill = g->base + 1 + (uint32_t)thread;
  trs_step_part *part = &g->parts->part[g->parts->count - 1];
  int64_t rows = 0, work = 0, last = g->last[thread];
  for (int64_t k; work < goal && (k = next_place(g)) >= 0; rows++) {
    work += take(g, (int32_t)k, fill, lower);
    last = k;
  }
  part->rows = rows;
  part->work = work;
  g->taken += rows;
  g->done += work;
  g->last[thread] = (int32_t)last;
}

/* Fills one thread up to the goal.  claimed: the place behind its last one if that is ready, or
 * -1. */
static trs_status fill_thread(grower *g, int thread, int32_t claimed, int64_t goal) {
  TRS_TRY(add_part(g->parts, thread));
  g->follower = claimed;
  if (g->S->lower)
    take_places(g, thread, goal, true);
  else
    take_places(g, thread, goal, false);
  if (g->follower >= 0) g->next[g->nnext++] = (int32_t)g->follower;
  for (int64_t k; (k = first_of(&g->own)) >= 0; erase(&g->own, k)) g->next[g->nnext++] = (int32_t)k;
  if (g->parts->part[g->parts->count - 1].rows == 0) g->parts->count--;
  return TRS_SUCCESS;
}

/* Each thread first continues behind its last row, so that this row is still in its cache. */
static void claim(grower *g, int32_t *claimed, int threads) {
  for (int t = 0; t < threads; t++) {
    int64_t k = (int64_t)g->last[t] + 1;
    claimed[t] = -1;
    if (g->last[t] < 0 || k >= g->S->n || !contains(&g->ready, k)) continue;
    claimed[t] = (int32_t)k;
    erase(&g->ready, k);
  }
}

/* True if the span will exceed a limit: certainly that of `worth`, since the rest of the work takes
 * its time on all threads; or probably that of `most`, at the pace since the last mark.  Marks are
 * an eighth of the work, a quarter and a half; a late one knows more. */
static bool too_long(grower *g, int threads, const trs_grow_limits *limits) {
  const double span = (double)g->parts->span, left = (double)(g->work - g->done);
  const double part = (double)g->done / (double)g->work;
  const double sure = part < 0.25 ? 1.6 : part < 0.5 ? 1.4 : 1.15;
  if (span + left / threads > (double)limits->worth) return true;
  if (g->done * 16 < g->work || g->done < 2 * g->marked_done) return false;
  const double pace = (span - (double)g->marked_span) / (double)(g->done - g->marked_done);
  const bool first = g->marked_done == 0;
  g->marked_done = g->done;
  g->marked_span = g->parts->span;
  return !first && span + left * pace > sure * (double)limits->most;
}

/* Supersteps are short at first, because they end the work of threads that find few rows.  They
 * grow while every thread reaches its goal. */
static trs_status grow(grower *g, int32_t *claimed, int threads, const trs_grow_limits *limits) {
  const int64_t least = (trs_schedule_part_work + 1) / 2;
  int64_t goal = least, work = g->S->nnz + TRS_ROW_WORK * g->S->n, most = work / threads / 16;
  const uint32_t numbers = (uint32_t)threads + 1;
  for (g->base = numbers; g->taken < g->S->n && !g->parts->given_up; g->base += numbers) {
    int64_t first = g->parts->count;
    claim(g, claimed, threads);
    for (int t = 0; t < threads; t++) TRS_TRY(fill_thread(g, t, claimed[t], goal));
    for (int64_t k = 0; k < g->nnext; k++) insert(&g->ready, g->next[k]);
    g->nnext = 0;
    int64_t count = g->parts->count - first;
    bool full = count == threads && g->parts->part[g->parts->count - 1].work >= goal;
    if (full && 3 * goal / 2 < most) goal = 3 * goal / 2;
    if (!full && 2 * goal / 3 > least) goal = 2 * goal / 3;
    g->parts->split_steps += count > 1;
    g->parts->span += trs_step_span(g->parts, first, threads);
    g->parts->steps++;
    g->parts->given_up =
        g->taken < g->S->n && (too_long(g, threads, limits) || g->base > UINT32_MAX - 2 * numbers);
  }
  return TRS_SUCCESS;
}

static trs_status prepare(grower *g, int threads) {
  const trs_system *S = g->S;
  TRS_TRY(
      TRS_ALLOC_ALL(TRS_ROOM(&g->at, S->n), TRS_ZEROS(&g->owner, S->n), TRS_ROOM(&g->waits, S->n)));
  TRS_TRY(create_set(&g->ready, S->n));
  TRS_TRY(create_set(&g->own, S->n));
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&g->next, S->n), TRS_ROOM(&g->last, threads)));
  for (int t = 0; t < threads; t++) g->last[t] = -1;
  for (int64_t k = 0; k < S->n; k++) g->waits[k] = -1;
  for (int64_t k = 0; k < S->n; k++) {
    const int32_t count = g->length[trs_in_sweep(S, k)];
    g->at[k] = (row_state){.left = count};
    g->work += count + TRS_ROW_WORK;
    if (S->lower ? look_on(g, (int32_t)k, true) : look_on(g, (int32_t)k, false))
      insert(&g->ready, k);
  }
  return TRS_SUCCESS;
}

trs_status trs_grow_parts(trs_parts *parts, const trs_system *S, const int32_t *length, int threads,
                          const trs_grow_limits *limits) {
  grower g = {.S = S, .length = length, .parts = parts};
  int32_t *claimed = NULL;
  *parts = (trs_parts){.capacity = 1024, .natural = true};
  trs_status status = TRS_ALLOC_ALL(TRS_ROOM(&parts->part, parts->capacity),
                                    TRS_ROOM(&parts->of, S->n), TRS_ROOM(&claimed, threads));
  if (!status) status = prepare(&g, threads);
  if (!status) status = grow(&g, claimed, threads, limits);
  TRS_FREE_ALL(claimed, g.at, g.owner, g.waits, g.next, g.last);
  destroy_set(&g.ready);
  destroy_set(&g.own);
  if (status) trs_parts_destroy(parts);
  return status;
}
