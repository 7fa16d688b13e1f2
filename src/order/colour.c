/* colour.c - greedy colouring in parallel, fullest rows first and in random order among equals.  A
 * row takes the least colour that its neighbours of higher rank do not have, as soon as all of
 * those have colours (M. T. Jones, P. E. Plassmann 1993; ranks by degree, D. J. A. Welsh, M. B.
 * Powell 1967).  The result is that of the serial loop in rank order, for any schedule of threads.
 * O(n + nnz). */
#include "order/colour.h"

#include <stdatomic.h>

#include "base/random.h"

typedef struct colouring {
  const trs_block_graph *graph;
  int32_t *colour;
  _Atomic int32_t *waiting; /* n: neighbours of higher rank without a colour, with multiplicity */
  int32_t *ready, *next;    /* n each: rows ready for a colour, in this round and in the next */
  int64_t nready;
  _Atomic int64_t nnext;
  int32_t *taken; /* per thread: the last row that saw this colour */
  int64_t room;   /* length of taken per thread */
} colouring;

static int64_t degree(const trs_block_graph *G, int64_t v) {
  return G->reads->ptr[v + 1] - G->reads->ptr[v] + G->read_by->ptr[v + 1] - G->read_by->ptr[v];
}

static bool outranks(const trs_block_graph *G, int64_t u, int64_t v) {
  int64_t du = degree(G, u), dv = degree(G, v);
  if (du != dv) return du > dv;
  uint64_t hu = trs_random(1, (uint64_t)u), hv = trs_random(1, (uint64_t)v);
  return hu != hv ? hu > hv : u < v;
}

static void count_waiting(void *argument, int rank, int size) {
  colouring *c = argument;
  int64_t begin, end;
  trs_share(c->graph->reads->n, rank, size, &begin, &end);
  for (int64_t v = begin; v < end; v++) {
    int32_t count = 0;
    for (int side = 0; side < 2; side++) {
      const trs_block_pattern *P = side ? c->graph->read_by : c->graph->reads;
      for (int64_t p = P->ptr[v]; p < P->ptr[v + 1]; p++) count += outranks(c->graph, P->idx[p], v);
    }
    atomic_store_explicit(&c->waiting[v], count, memory_order_relaxed);
    if (!count) c->ready[atomic_fetch_add(&c->nnext, 1)] = (int32_t)v;
  }
}

static int32_t least_free(const colouring *c, int64_t v, int32_t *taken) {
  for (int side = 0; side < 2; side++) {
    const trs_block_pattern *P = side ? c->graph->read_by : c->graph->reads;
    for (int64_t p = P->ptr[v]; p < P->ptr[v + 1]; p++) {
      int32_t u = P->idx[p];
      if (outranks(c->graph, u, v)) taken[c->colour[u]] = (int32_t)v;
    }
  }
  int32_t least = 0;
  while (taken[least] == v) least++;
  return least;
}

static void colour_share(void *argument, int rank, int size) {
  colouring *c = argument;
  int64_t begin, end;
  trs_share(c->nready, rank, size, &begin, &end);
  for (int64_t k = begin; k < end; k++) {
    int32_t v = c->ready[k];
    c->colour[v] = least_free(c, v, c->taken + rank * c->room);
    for (int side = 0; side < 2; side++) {
      const trs_block_pattern *P = side ? c->graph->read_by : c->graph->reads;
      for (int64_t p = P->ptr[v]; p < P->ptr[v + 1]; p++) {
        int32_t u = P->idx[p];
        if (outranks(c->graph, v, u) && atomic_fetch_sub(&c->waiting[u], 1) == 1)
          c->next[atomic_fetch_add(&c->nnext, 1)] = u;
      }
    }
  }
}

static trs_status run(colouring *c, trs_team *team) {
  enum { WORTH_A_TEAM = 512 };
  int64_t n = c->graph->reads->n, most = 0;
  int size = trs_team_size(team);
  for (int64_t v = 0; v < n; v++) most = degree(c->graph, v) > most ? degree(c->graph, v) : most;
  c->room = most + 2;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&c->waiting, n), TRS_ROOM(&c->ready, n), TRS_ROOM(&c->next, n),
                        TRS_ROOM(&c->taken, c->room * size)));
  for (int64_t k = 0; k < c->room * size; k++) c->taken[k] = -1;
  trs_team_run(team, size, count_waiting, c);
  while ((c->nready = atomic_exchange(&c->nnext, 0)) > 0) {
    trs_team_run(team, c->nready < WORTH_A_TEAM ? 1 : size, colour_share, c);
    int32_t *done = c->ready;
    c->ready = c->next;
    c->next = done;
  }
  return TRS_SUCCESS;
}

static int32_t count_colours(const int32_t *colour, int64_t n) {
  int32_t count = 0;
  for (int64_t v = 0; v < n; v++) count = colour[v] >= count ? colour[v] + 1 : count;
  return count;
}

/* Moves rows of the larger colours to the smallest colour that no neighbour has. */
static trs_status balance(int32_t *colour, int32_t count, const trs_block_graph *G) {
  int64_t n = G->reads->n, *rows;
  int32_t *taken;
  TRS_TRY(TRS_ALLOC_ZERO(&rows, count));
  trs_status status = TRS_ALLOC(&taken, count);
  int64_t target = count ? (n + count - 1) / count : 0;
  for (int32_t k = 0; !status && k < count; k++) taken[k] = -1;
  for (int64_t v = 0; !status && v < n; v++) rows[colour[v]]++;
  for (int64_t v = 0; !status && v < n; v++) {
    if (rows[colour[v]] <= target) continue;
    for (int side = 0; side < 2; side++) {
      const trs_block_pattern *P = side ? G->read_by : G->reads;
      for (int64_t p = P->ptr[v]; p < P->ptr[v + 1]; p++) taken[colour[P->idx[p]]] = (int32_t)v;
    }
    int32_t best = colour[v];
    for (int32_t k = 0; k < count; k++)
      if (taken[k] != v && rows[k] < target && rows[k] < rows[best]) best = k;
    rows[colour[v]]--;
    rows[best]++;
    colour[v] = best;
  }
  TRS_FREE_ALL(rows, taken);
  return status;
}

trs_status trs_colour_find(int32_t *colour, int32_t *count, const trs_block_graph *graph,
                           bool balanced, trs_team *team) {
  colouring c = {.graph = graph, .colour = colour};
  trs_status status = run(&c, team);
  TRS_FREE_ALL((void *)c.waiting, c.ready, c.next, c.taken);
  if (status) return status;
  *count = count_colours(colour, graph->reads->n);
  return balanced ? balance(colour, *count, graph) : TRS_SUCCESS;
}

trs_status trs_colour_check(const int32_t *colour, int32_t *count, const trs_block_graph *graph) {
  const trs_block_pattern *P = graph->reads;
  for (int64_t v = 0; v < P->n; v++)
    if (colour[v] < 0 || colour[v] >= P->n)
      return trs_fail(TRS_ERROR_ARGUMENT, v,
                      "block row %lld (0-based) has colour %d, outside 0 .. %lld", (long long)v,
                      colour[v], (long long)P->n - 1);
  for (int64_t v = 0; v < P->n; v++)
    for (int64_t p = P->ptr[v]; p < P->ptr[v + 1]; p++)
      if (colour[P->idx[p]] == colour[v])
        return trs_fail(
            TRS_ERROR_ARGUMENT, v,
            "block rows %lld and %d (0-based) both have colour %d, but the first reads the "
            "second: not a colouring",
            (long long)v, P->idx[p], colour[v]);
  *count = count_colours(colour, P->n);
  return TRS_SUCCESS;
}
