/* system.c - the whole block graph: both directions, colours, and the domain of each row. */
#include "base/config.h"
#include "order/methods.h"
#include "order/colour.h"
#include "relax/domains.h"

/* ---- Colours ---- */

static trs_status take_colours(trs_block_system *S, const trs_relax_options *options,
                               trs_team *team) {
  trs_block_graph graph = {&S->reads, &S->read_by};
  TRS_TRY(TRS_ALLOC(&S->colour, S->reads.n));
  if (!options->colour)
    return trs_colour_find(S->colour, &S->ncolours, &graph, options->balanced, team);
  TRS_TRY(trs_colour_check(options->colour, &S->ncolours, &graph));
  for (int64_t i = 0; i < S->reads.n; i++) S->colour[i] = options->colour[i];
  return TRS_SUCCESS;
}

trs_status trs_block_system_create(trs_block_system *S, trs_block_pattern *pattern,
                                   const trs_relax_options *options, trs_team *team) {
  *S = (trs_block_system){.reads = *pattern, .domains = 1, .partition = "one domain"};
  *pattern = (trs_block_pattern){0};
  trs_status status = trs_block_pattern_transpose(&S->read_by, &S->reads);
  if (!status) status = take_colours(S, options, team);
  if (status) trs_block_system_free(S);
  return status;
}

void trs_block_system_free(trs_block_system *S) {
  trs_block_pattern_free(&S->reads);
  trs_block_pattern_free(&S->read_by);
  TRS_FREE_ALL(S->colour, S->owner);
  *S = (trs_block_system){0};
}

/* ---- Domains ---- */

/* A row's work in a sweep, as relax_colour counts it. */
static int64_t work_of(const trs_block_system *S, int64_t i) {
  return S->reads.ptr[i + 1] - S->reads.ptr[i] + 2;
}

static void split_in_runs(trs_block_system *S) {
  int64_t n = S->reads.n, done = 0, all = S->reads.ptr[n] + 2 * n;
  S->partition = "contiguous";
  for (int64_t i = 0; i < n; i++) {
    S->owner[i] = (int32_t)((double)done / (double)all * S->domains);
    done += work_of(S, i);
  }
}

#if TRS_HAVE_METIS

static int64_t count_neighbours(const trs_block_system *S, int64_t i, int32_t *seen, int32_t *to) {
  int64_t count = 0;
  for (int side = 0; side < 2; side++) {
    const trs_block_pattern *P = side ? &S->read_by : &S->reads;
    for (int64_t p = P->ptr[i]; p < P->ptr[i + 1]; p++) {
      int32_t j = P->idx[p];
      if (seen[j] == i) continue;
      seen[j] = (int32_t)i;
      if (to) to[count] = j;
      count++;
    }
  }
  return count;
}

static trs_status lay_graph(trs_graph *graph, const trs_block_system *S, int32_t *seen) {
  int64_t n = S->reads.n, count = 0;
  TRS_TRY(TRS_ALLOC(&graph->ptr, n + 1));
  for (int64_t j = 0; j < n; j++) seen[j] = -1;
  for (int64_t i = 0; i < n; i++) count += count_neighbours(S, i, seen, NULL);
  if (count > INT32_MAX)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "the block graph has %lld edges; METIS takes up to 1073741823",
                    (long long)count / 2);
  TRS_TRY(TRS_ALLOC(&graph->adjacent, count));
  for (int64_t j = 0; j < n; j++) seen[j] = -1;
  graph->ptr[0] = 0;
  for (int64_t i = 0; i < n; i++)
    graph->ptr[i + 1] =
        graph->ptr[i] + (int32_t)count_neighbours(S, i, seen, graph->adjacent + graph->ptr[i]);
  return TRS_SUCCESS;
}

static trs_status split_by_graph(trs_block_system *S) {
  int64_t n = S->reads.n;
  trs_graph graph = {.n = n};
  int32_t *weight = NULL;
  trs_status status = TRS_ALLOC(&weight, n);
  if (!status) status = lay_graph(&graph, S, weight);
  for (int64_t i = 0; !status && i < n; i++) weight[i] = (int32_t)work_of(S, i);
  if (!status) status = trs_graph_split(S->owner, &graph, weight, S->domains);
  S->partition = "METIS";
  trs_graph_free(&graph);
  trs_free(weight);
  return status;
}

/* METIS is unsuitable for a few rows per domain, and for graphs without edges. */
static bool is_for_metis(const trs_block_system *S) {
  enum { LEAST = 8 };
  return S->domains > 1 && S->reads.n >= LEAST * (int64_t)S->domains &&
         S->reads.ptr[S->reads.n] > 0;
}

#else

static bool is_for_metis(const trs_block_system *S) {
  (void)S;
  return false;
}
static trs_status split_by_graph(trs_block_system *S) {
  (void)S;
  return TRS_SUCCESS;
}

#endif

trs_status trs_block_system_split(trs_block_system *S, int32_t domains) {
  S->domains = domains;
  if (domains == 1) return TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC(&S->owner, S->reads.n));
  if (is_for_metis(S)) return split_by_graph(S);
  split_in_runs(S);
  return TRS_SUCCESS;
}
