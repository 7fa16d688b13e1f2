/* order.c - graph, fill-reducing permutation, elimination tree, postorder, fill, separator tree.
 * Postorder, tree and the sort of light columns renumber the columns without changing the fill,
 * because every column stays ahead of its ancestors in the elimination tree. */
#include "order/order.h"

#include <math.h>
#include <string.h>

#include "base/transpose.h"
#include "order/colour.h"
#include "order/etree.h"
#include "order/methods.h"

typedef struct ordering_work {
  trs_graph graph;
  int32_t *perm, *inverse; /* the permutation so far */
  int32_t *etree, *count;
  int32_t *step, *spare; /* a renumbering, and workspace to apply it */
} ordering_work;

static trs_status order_by_colour(int32_t *perm, const trs_graph *graph) {
  trs_block_pattern pattern = {.n = graph->n, .idx = graph->adjacent};
  const trs_block_graph both = {&pattern, &pattern};
  int64_t *colour_ptr = NULL;
  int32_t *colour = NULL, *sorted = NULL, count = 0;
  trs_status status = TRS_ALLOC(&pattern.ptr, graph->n + 1);
  if (!status) status = TRS_ALLOC(&colour, graph->n);
  for (int64_t v = 0; !status && v <= graph->n; v++) pattern.ptr[v] = graph->ptr[v];
  if (!status) status = trs_colour_find(colour, &count, &both, false, NULL);
  if (!status)
    status = trs_transpose_pattern(&colour_ptr, &sorted, NULL, count, graph->n, NULL, colour);
  if (!status) memcpy(perm, sorted, (size_t)graph->n * sizeof *perm);
  TRS_FREE_ALL(pattern.ptr, colour, colour_ptr, sorted);
  return status;
}

static void invert(ordering_work *w) {
  for (int64_t k = 0; k < w->graph.n; k++) w->inverse[w->perm[k]] = (int32_t)k;
}

/* The order of the columns, then the graph of A^T A in that order. */
static trs_status order_columns(ordering_work *w, const trs_matrix *A) {
  TRS_TRY(trs_order_colamd(w->perm, A));
  invert(w);
  return trs_graph_build_columns(&w->graph, A, w->inverse);
}

static trs_status first_permutation(ordering_work *w, const trs_matrix *A, trs_order order) {
  if (order == TRS_ORDER_COLAMD) return order_columns(w, A);
  if (order == TRS_ORDER_ND) return trs_order_metis(w->perm, &w->graph);
  if (order == TRS_ORDER_AMD) return trs_order_amd(w->perm, &w->graph);
  if (order == TRS_ORDER_RCM) return trs_order_rcm(w->perm, &w->graph);
  if (order == TRS_ORDER_COLOUR) return order_by_colour(w->perm, &w->graph);
  for (int64_t k = 0; k < w->graph.n; k++) w->perm[k] = (int32_t)k;
  return TRS_SUCCESS;
}

/* array[k] = array[step[k]] */
static void gather(int32_t *array, const ordering_work *w) {
  for (int64_t k = 0; k < w->graph.n; k++) w->spare[k] = array[w->step[k]];
  for (int64_t k = 0; k < w->graph.n; k++) array[k] = w->spare[k];
}

/* Renumbers the columns and the elimination tree by step: old column step[k] becomes k. */
static void renumber(ordering_work *w) {
  int64_t n = w->graph.n;
  gather(w->perm, w);
  gather(w->etree, w);
  for (int64_t k = 0; k < n; k++) w->spare[w->step[k]] = (int32_t)k;
  for (int64_t k = 0; k < n; k++)
    if (w->etree[k] != -1) w->etree[k] = w->spare[w->etree[k]];
  invert(w);
}

static trs_status hand_over(trs_ordering *o, ordering_work *w) {
  o->perm = w->perm;
  w->perm = NULL;
  return TRS_SUCCESS;
}

static trs_status allocate(ordering_work *w) {
  const int64_t n = w->graph.n;
  return TRS_ALLOC_ALL(TRS_ROOM(&w->perm, n), TRS_ROOM(&w->inverse, n), TRS_ROOM(&w->etree, n),
                       TRS_ROOM(&w->count, n), TRS_ROOM(&w->step, n), TRS_ROOM(&w->spare, n));
}

static trs_status find_counts(trs_ordering *o, ordering_work *w) {
  const int64_t n = w->graph.n;
  invert(w);
  TRS_TRY(trs_etree(w->etree, &w->graph, w->perm, w->inverse));
  TRS_TRY(trs_postorder(w->step, w->etree, n));
  renumber(w);
  TRS_TRY(trs_column_counts(w->count, &w->graph, w->perm, w->inverse, w->etree));
  for (int64_t j = 0; j < n; j++) {
    o->fill += w->count[j];
    o->operations += 2 * (double)w->count[j] * w->count[j];
  }
  return TRS_SUCCESS;
}

/* ---- Columns of light factors. ---- */

/* Factors that the caches hold, with short columns: the time of a sweep or of a refactorisation is
 * that of the branches at the ends of rows. */
enum { FEW_COLUMNS = 8192, FEW_ENTRIES = 8, LENGTHS = 16 };

/* Sorts the columns from[begin .. end) by key, which is below `keys`; stably. */
static void sort_columns(int32_t *to, const int32_t *from, int32_t *place, const int32_t *key,
                         int32_t keys, int64_t begin, int64_t end) {
  memset(place, 0, (size_t)(keys + 1) * sizeof *place);
  for (int64_t k = begin; k < end; k++) place[key[k] + 1]++;
  for (int32_t v = 0; v < keys; v++) place[v + 1] += place[v];
  for (int64_t k = begin; k < end; k++) to[begin + place[key[from[k]]]++] = from[k];
}

static int32_t shorter(int32_t length) { return length < LENGTHS ? length : LENGTHS - 1; }

/* The lengths of column i and of row i of the factor.  The row has a path for each entry of A, up
 * to what has been seen. */
static void measure_lengths(ordering_work *w, int32_t *key) {
  const trs_graph *g = &w->graph;
  int32_t *mark = w->spare;
  memset(mark, 0xff, (size_t)g->n * sizeof *mark);
  for (int32_t i = 0; i < g->n; i++) {
    const int32_t v = w->perm[i];
    int32_t entries = 0;
    mark[i] = i;
    for (int32_t p = g->ptr[v]; p < g->ptr[v + 1]; p++)
      for (int32_t k = w->inverse[g->adjacent[p]]; k < i && mark[k] != i; k = w->etree[k]) {
        mark[k] = i;
        entries++;
      }
    key[i] = shorter(w->count[i]) * LENGTHS + shorter(entries);
  }
}

/* The columns [begin, end) by their height in the elimination tree, and of one height by their
 * length: neighbours do not need each other, and are as long. */
static void sort_light(ordering_work *w, const int32_t *key, int32_t *place, int64_t begin,
                       int64_t end) {
  int32_t *height = w->spare, most = 0;
  for (int64_t j = begin; j < end; j++) height[j] = 0;
  for (int64_t j = begin; j < end; j++) {
    const int32_t above = w->etree[j];
    if (height[j] > most) most = height[j];
    if (above >= 0 && above < end && height[above] <= height[j]) height[above] = height[j] + 1;
    w->step[j] = (int32_t)j;
  }
  if (end - begin < 2) return;
  sort_columns(w->inverse, w->step, place, key, LENGTHS * LENGTHS, begin, end);
  sort_columns(w->step, w->inverse, place, height, most + 1, begin, end);
}

/* Inside the nodes of the tree, or the blocks. */
static trs_status order_light(const trs_ordering *o, ordering_work *w) {
  const int64_t n = w->graph.n;
  int32_t *key, *place;
  if (n > FEW_COLUMNS || o->fill > FEW_ENTRIES * n) return TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&key, n), TRS_ROOM(&place, n + LENGTHS * LENGTHS + 1)));
  measure_lengths(w, key);
  for (int64_t t = 0; t < o->tree.nodes; t++)
    sort_light(w, key, place, o->tree.ptr[t], o->tree.ptr[t + 1]);
  for (int64_t k = 0; o->block_end && k < n; k = o->block_end[k])
    sort_light(w, key, place, k, o->block_end[k]);
  TRS_FREE_ALL(key, place);
  renumber(w);
  return TRS_SUCCESS;
}

static trs_status compute(trs_ordering *o, ordering_work *w, const trs_matrix *A, trs_order order,
                          int64_t leaves) {
  int64_t n = w->graph.n;
  TRS_TRY(allocate(w));
  TRS_TRY(first_permutation(w, A, order));
  if (order == TRS_ORDER_RCM || order == TRS_ORDER_COLOUR) return hand_over(o, w);
  TRS_TRY(find_counts(o, w));
  if (order == TRS_ORDER_NATURAL) return TRS_SUCCESS;
  TRS_TRY(trs_tree_cut(&o->tree, w->step, w->etree, w->count, n, leaves));
  gather(w->count, w);
  renumber(w);
  TRS_TRY(order_light(o, w));
  return hand_over(o, w);
}

/* ---- By blocks. ---- */

/* Below this share of entries between blocks their form gains nothing, and a nearly symmetric
 * pattern, whose pivots may all stay on the diagonal, has no larger one. */
static const double BETWEEN = 0.1;

static trs_status keep_inside(trs_graph *inside, const trs_graph *whole, const int32_t *block) {
  int32_t at = 0;
  inside->n = whole->n;
  TRS_TRY(TRS_ALLOC(&inside->ptr, whole->n + 1));
  TRS_TRY(TRS_ALLOC(&inside->adjacent, whole->ptr[whole->n]));
  for (int64_t v = 0; v < whole->n; v++) {
    inside->ptr[v] = at;
    for (int32_t p = whole->ptr[v]; p < whole->ptr[v + 1]; p++)
      if (block[whole->adjacent[p]] == block[v]) inside->adjacent[at++] = whole->adjacent[p];
  }
  inside->ptr[whole->n] = at;
  return TRS_SUCCESS;
}

/* Sorts the order by blocks, stably, and finds their ends. */
static trs_status sort_by_block(trs_ordering *o, ordering_work *w, const int32_t *block) {
  const int64_t n = w->graph.n;
  int64_t *ptr;
  int32_t *sorted;
  for (int64_t k = 0; k < n; k++) w->spare[k] = block[w->perm[k]];
  TRS_TRY(trs_transpose_pattern(&ptr, &sorted, NULL, o->blocks, n, NULL, w->spare));
  memcpy(w->step, sorted, (size_t)n * sizeof *sorted);
  gather(w->perm, w);
  for (int64_t b = 0; b < o->blocks; b++)
    for (int64_t k = ptr[b]; k < ptr[b + 1]; k++) o->block_end[k] = (int32_t)ptr[b + 1];
  TRS_FREE_ALL(ptr, sorted);
  return TRS_SUCCESS;
}

/* Entries between blocks: those of a later row or column, and what elimination inside the earlier
 * block adds, up its tree. */
static int64_t count_between(trs_ordering *o, ordering_work *w, const trs_graph *whole,
                             const int32_t *block) {
  int64_t between = 0;
  int32_t *mark = w->spare;
  memset(mark, 0xff, (size_t)whole->n * sizeof *mark);
  for (int32_t k = 0; k < whole->n; k++)
    for (int32_t p = whole->ptr[w->perm[k]]; p < whole->ptr[w->perm[k] + 1]; p++) {
      const int32_t u = whole->adjacent[p];
      if (block[u] >= block[w->perm[k]]) continue;
      for (int32_t c = w->inverse[u]; c >= 0 && mark[c] != k; c = w->etree[c]) {
        mark[c] = k;
        between++;
        o->operations += 2 * (double)(w->count[c] - 1);
      }
    }
  return between;
}

static trs_status compute_by_blocks(trs_ordering *o, ordering_work *w, const trs_graph *whole,
                                    const int32_t *block) {
  const int64_t n = whole->n;
  TRS_TRY(keep_inside(&w->graph, whole, block));
  TRS_TRY(allocate(w));
  TRS_TRY(TRS_ALLOC(&o->block_end, n));
  TRS_TRY(trs_order_amd(w->perm, &w->graph));
  TRS_TRY(sort_by_block(o, w, block));
  TRS_TRY(find_counts(o, w));
  o->fill += (count_between(o, w, whole, block) + 1) / 2;
  TRS_TRY(order_light(o, w));
  return hand_over(o, w);
}

static void release(ordering_work *w) {
  trs_graph_free(&w->graph);
  TRS_FREE_ALL(w->perm, w->inverse, w->etree, w->count, w->step, w->spare);
}

static trs_status check(trs_order order, int64_t leaves) {
  if (order <= TRS_ORDER_DEFAULT || order > TRS_ORDER_COLAMD)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "order %d is not one of trs_order's", order);
  if (leaves < 1 || leaves > TRS_MAX_LEAVES || (leaves & (leaves - 1)))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%lld tree leaves: expected a power of two up to %d",
                    (long long)leaves, TRS_MAX_LEAVES);
  return TRS_SUCCESS;
}

static trs_status build_graph(trs_ordering *o, ordering_work *w, const trs_matrix *A) {
  TRS_TRY(trs_graph_build(&w->graph, A));
  o->unmirrored = w->graph.ptr[w->graph.n] - (A->nnz - A->ndiagonal);
  return TRS_SUCCESS;
}

trs_status trs_ordering_compute(trs_ordering *ordering, const trs_matrix *A, trs_order order,
                                int64_t leaves) {
  ordering_work work = {0};
  *ordering = (trs_ordering){0};
  if (leaves == 0) leaves = TRS_DEFAULT_LEAVES;
  TRS_TRY(check(order, leaves));
  trs_status status = TRS_SUCCESS;
  if (order == TRS_ORDER_COLAMD)
    work.graph.n = A->ncols;
  else
    status = build_graph(ordering, &work, A);
  if (!status) status = compute(ordering, &work, A, order, leaves);
  release(&work);
  if (status) trs_ordering_free(ordering);
  return status;
}

/* *block: NULL where their form gains nothing. */
static trs_status find_blocks(int32_t **block, trs_ordering *o, const trs_matrix *A) {
  const double least = fmax(1, BETWEEN * (double)A->nnz);
  int64_t between; /* of which none has a mirror */
  *block = NULL;
  if ((double)o->unmirrored < least) return TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC(block, A->nrows));
  trs_status status = trs_order_blocks(*block, &o->blocks, &between, A);
  if (!status && (double)between >= least) return TRS_SUCCESS;
  trs_free(*block);
  *block = NULL;
  return status;
}

trs_status trs_ordering_by_blocks(trs_ordering *ordering, const trs_matrix *A) {
  ordering_work work = {0};
  trs_graph whole = {0};
  int32_t *block = NULL;
  *ordering = (trs_ordering){0};
  trs_status status = build_graph(ordering, &work, A);
  if (!status) status = find_blocks(&block, ordering, A);
  if (!status && block) {
    whole = work.graph;
    work.graph = (trs_graph){0};
    status = compute_by_blocks(ordering, &work, &whole, block);
  } else if (!status) {
    status = compute(ordering, &work, A, TRS_ORDER_AMD, TRS_DEFAULT_LEAVES);
  }
  trs_graph_free(&whole);
  release(&work);
  trs_free(block);
  if (status) trs_ordering_free(ordering);
  return status;
}

void trs_ordering_free(trs_ordering *ordering) {
  TRS_FREE_ALL(ordering->perm, ordering->block_end);
  trs_tree_free(&ordering->tree);
  *ordering = (trs_ordering){0};
}
