/* deal_graph.c - slices dealt by METIS.  Two slices are neighbours in the graph if one needs the
 * other.  One thread. */
#include <string.h>

#include "analysis/deal.h"
#include "order/methods.h"

enum { MOST_EDGES = INT32_MAX / 4 };

/* The slices that slice k needs: need[ptr[k] .. ptr[k + 1]).  The last slice of a heavy block
 * stands for all of them, as the needing and as the needed one. */
typedef struct needs {
  const trs_system *S;
  const trs_slices *s;
  const int32_t *position;
  int32_t *slice_of; /* n: slice that solves the row at each position */
  int64_t *ptr;
  int32_t *need;
  int64_t room, most; /* of need; at most */
} needs;

static void find_slices(needs *n) {
  for (int32_t k = 0; k < n->s->nslices; k++)
    for (int32_t r = 0; r < n->s->slice[k].rows && !trs_slice_is_part(&n->s->slice[k]); r++)
      n->slice_of[n->s->slice[k].first + r] = k;
}

static trs_status need(needs *n, int64_t at, int32_t slice) {
  if (at == n->most)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "the graph of slices is too large for METIS: take another partition");
  if (at == n->room) {
    n->room = 2 * n->room + 1024;
    TRS_TRY(trs_realloc((void **)&n->need, n->room, sizeof *n->need));
  }
  n->need[at] = slice;
  return TRS_SUCCESS;
}

/* met: nslices, the last slice found to need each slice. */
static trs_status needs_of(needs *n, int32_t k, int32_t *met, int64_t *count) {
  const trs_slice *h = &n->s->slice[k];
  for (int32_t r = 0; r < h->rows && !trs_slice_is_part(h); r++) {
    int64_t begin, end;
    trs_off_diagonal(n->S, n->s->row[h->first + r], n->S->lower, n->S->has_diagonal, &begin, &end);
    for (int64_t p = begin; p < end; p++) {
      int32_t other = n->slice_of[n->position[n->S->idx[p]]];
      if (other == k || met[other] == k) continue;
      met[other] = k;
      TRS_TRY(need(n, (*count)++, other));
    }
  }
  return TRS_SUCCESS;
}

static trs_status find_needs(needs *n) {
  const int32_t nslices = n->s->nslices;
  int32_t *met;
  int64_t count = 0;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&n->slice_of, n->s->n), TRS_ROOM(&n->ptr, nslices + 1),
                        TRS_ROOM(&met, nslices)));
  memset(met, 0xff, (size_t)nslices * sizeof *met);
  find_slices(n);
  trs_status status = TRS_SUCCESS;
  for (int32_t k = 0; k < nslices && !status; k++) {
    n->ptr[k] = count;
    status = needs_of(n, k, met, &count);
  }
  n->ptr[nslices] = count;
  trs_free(met);
  return status;
}

/* Each edge in both directions.  Parts are vertices without edges. */
static trs_status build_graph(const needs *n, trs_graph *graph, int32_t **weight) {
  const int32_t nslices = n->s->nslices;
  TRS_TRY(TRS_ALLOC_ZERO(&graph->ptr, nslices + 2));
  TRS_TRY(TRS_ALLOC(&graph->adjacent, 2 * n->ptr[nslices]));
  TRS_TRY(TRS_ALLOC(weight, nslices));
  graph->n = nslices;
  int32_t *at = graph->ptr + 1; /* starts, shifted by one: after filling, the starts proper */
  for (int32_t k = 0; k < nslices; k++)
    for (int64_t p = n->ptr[k]; p < n->ptr[k + 1]; p++) at[k + 1]++, at[n->need[p] + 1]++;
  for (int32_t k = 0; k < nslices; k++) at[k + 1] += at[k];
  for (int32_t k = 0; k < nslices; k++)
    for (int64_t p = n->ptr[k]; p < n->ptr[k + 1]; p++) {
      graph->adjacent[at[k]++] = n->need[p];
      graph->adjacent[at[n->need[p]]++] = k;
    }
  for (int32_t k = 0; k < nslices; k++) {
    const trs_slice *h = &n->s->slice[k];
    int64_t width = h->width + h->parts * (int64_t)TRS_PART_WIDTH;
    (*weight)[k] =
        trs_slice_is_part(h) ? 1 : (int32_t)(width * trs_slice_stride(h) / 8 % INT32_MAX) + h->rows;
  }
  return TRS_SUCCESS;
}

trs_status trs_deal_graph(int32_t *owner, const trs_system *S, const trs_slices *s,
                          const int32_t *position, int32_t members, int64_t most) {
  needs n = {.S = S, .s = s, .position = position, .most = most < MOST_EDGES ? most : MOST_EDGES};
  trs_graph graph = {0};
  int32_t *weight = NULL;
  trs_status status = find_needs(&n);
  if (!status) status = build_graph(&n, &graph, &weight);
  if (!status) status = trs_graph_split(owner, &graph, weight, members);
  TRS_FREE_ALL(graph.ptr, graph.adjacent, weight, n.slice_of, n.ptr, n.need);
  return status;
}
