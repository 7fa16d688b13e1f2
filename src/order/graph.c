/* graph.c - the pattern of A + A^T: merges each row of A with the same row of A^T, both ascending.
 * O(n + nnz). */
#include "order/graph.h"

typedef struct pattern {
  int64_t *ptr;
  int32_t *idx;
} pattern;

/* The transposed pattern of A by a counting sort.  `to` is allocated with the right size. */
static void transpose_pattern(pattern *to, const trs_matrix *A) {
  for (int64_t p = 0; p < A->nnz; p++) to->ptr[A->idx[p] + 2]++;
  for (int64_t j = 0; j < A->nvectors; j++) to->ptr[j + 2] += to->ptr[j + 1];
  for (int64_t i = 0; i < A->nvectors; i++)
    for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++)
      to->idx[to->ptr[A->idx[p] + 1]++] = (int32_t)i;
}

/* The union of row i of A and row i of B, without i, written to `to` unless it is NULL.  Returns
 * its size. */
static int64_t merge_row(int32_t *to, const trs_matrix *A, const pattern *B, int64_t i) {
  int64_t p = A->ptr[i], q = B->ptr[i], p_end = A->ptr[i + 1], q_end = B->ptr[i + 1], count = 0;
  while (p < p_end || q < q_end) {
    int32_t a = p < p_end ? A->idx[p] : INT32_MAX, b = q < q_end ? B->idx[q] : INT32_MAX;
    int32_t least = a < b ? a : b;
    p += p < p_end && a == least;
    q += q < q_end && b == least;
    if (least == i) continue;
    if (to) to[count] = least;
    count++;
  }
  return count;
}

static trs_status merge(trs_graph *graph, const trs_matrix *A, const pattern *B) {
  int64_t total = 0;
  for (int64_t i = 0; i < graph->n; i++) total += merge_row(NULL, A, B, i);
  if (total > INT32_MAX)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "the graph of A + A^T has %lld entries; orderings take up to 2147483647: use "
                    "the natural order",
                    (long long)total);
  TRS_TRY(TRS_ALLOC(&graph->ptr, graph->n + 1));
  TRS_TRY(TRS_ALLOC(&graph->adjacent, total));
  int32_t at = 0;
  for (int64_t i = 0; i < graph->n; i++) {
    graph->ptr[i] = at;
    at += (int32_t)merge_row(graph->adjacent + at, A, B, i);
  }
  graph->ptr[graph->n] = at;
  return TRS_SUCCESS;
}

trs_status trs_graph_build(trs_graph *graph, const trs_matrix *A) {
  pattern turned = {0};
  *graph = (trs_graph){.n = A->nrows};
  if (A->nrows != A->ncols)
    return trs_fail(TRS_ERROR_STRUCTURE, -1, "the matrix is %lld x %lld, not square",
                    (long long)A->nrows, (long long)A->ncols);
  trs_status status = TRS_ALLOC_ZERO(&turned.ptr, A->nvectors + 2);
  if (!status) status = TRS_ALLOC(&turned.idx, A->nnz);
  if (!status) {
    transpose_pattern(&turned, A);
    status = merge(graph, A, &turned);
  }
  trs_free(turned.ptr);
  trs_free(turned.idx);
  if (status) trs_graph_free(graph);
  return status;
}

void trs_graph_free(trs_graph *graph) {
  trs_free(graph->ptr);
  trs_free(graph->adjacent);
  *graph = (trs_graph){0};
}
