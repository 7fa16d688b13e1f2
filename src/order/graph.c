/* graph.c - the pattern of A + A^T: merges each row of A with the same row of A^T, both ascending.
 * The graph of columns for A^T A.  O(n + nnz). */
#include "order/graph.h"

#include "base/transpose.h"
#include "matrix/blocks.h"

/* Row i of A without i, if row i of B is the same; else -1.  Without a branch per entry. */
static int64_t copy_row(int32_t *to, const trs_matrix *A, const trs_block_pattern *B, int64_t i) {
  const int32_t *a = A->idx + A->ptr[i], *b = B->idx + B->ptr[i];
  const int64_t length = A->ptr[i + 1] - A->ptr[i];
  int64_t count = 0;
  int32_t other = 0;
  if (B->ptr[i + 1] - B->ptr[i] != length) return -1;
  for (int64_t q = 0; q < length; q++) other |= a[q] ^ b[q];
  for (int64_t q = 0; !other && q < length; q++) {
    to[count] = a[q];
    count += a[q] != i;
  }
  return other ? -1 : count;
}

/* The union of row i of A and row i of B, without i, written to `to`.  Returns its size. */
static int64_t merge_row(int32_t *to, const trs_matrix *A, const trs_block_pattern *B, int64_t i) {
  int64_t p = A->ptr[i], q = B->ptr[i], p_end = A->ptr[i + 1], q_end = B->ptr[i + 1];
  int64_t count = copy_row(to, A, B, i);
  if (count >= 0) return count;
  count = 0;
  while (p < p_end || q < q_end) {
    int32_t a = p < p_end ? A->idx[p] : INT32_MAX, b = q < q_end ? B->idx[q] : INT32_MAX;
    int32_t least = a < b ? a : b;
    p += p < p_end && a == least;
    q += q < q_end && b == least;
    if (least == i) continue;
    to[count++] = least;
  }
  return count;
}

static trs_status too_many(const char *of, int64_t entries) {
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "the graph of %s has %lld entries; orderings take up to 2147483647: use "
                  "the natural order",
                  of, (long long)entries);
}

static trs_status merge(trs_graph *graph, const trs_matrix *A, const trs_block_pattern *B) {
  int64_t at = 0;
  TRS_TRY(TRS_ALLOC(&graph->ptr, graph->n + 1));
  TRS_TRY(TRS_ALLOC(&graph->adjacent, 2 * A->nnz + 1));
  for (int64_t i = 0; i < graph->n; i++) {
    graph->ptr[i] = (int32_t)at;
    at += merge_row(graph->adjacent + at, A, B, i);
  }
  if (at > INT32_MAX) return too_many("A + A^T", at);
  graph->ptr[graph->n] = (int32_t)at;
  return trs_realloc((void **)&graph->adjacent, at, sizeof *graph->adjacent);
}

trs_status trs_graph_build(trs_graph *graph, const trs_matrix *A) {
  trs_block_pattern turned = {0};
  *graph = (trs_graph){.n = A->nrows};
  if (A->nrows != A->ncols)
    return trs_fail(TRS_ERROR_STRUCTURE, -1, "the matrix is %lld x %lld, not square",
                    (long long)A->nrows, (long long)A->ncols);
  if (A->turned) {
    turned = (trs_block_pattern){.ptr = A->turned->ptr, .idx = A->turned->idx};
  } else {
    TRS_TRY(
        trs_transpose_pattern(&turned.ptr, &turned.idx, NULL, A->nrows, A->nrows, A->ptr, A->idx));
  }
  trs_status status = merge(graph, A, &turned);
  if (!A->turned) trs_block_pattern_free(&turned);
  if (status) trs_graph_free(graph);
  return status;
}

/* ---- Columns. ---- */

static int32_t first_column(const trs_matrix *A, int64_t i, const int32_t *inverse) {
  int32_t first = A->idx[A->ptr[i]];
  for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++)
    if (inverse[A->idx[p]] < inverse[first]) first = A->idx[p];
  return first;
}

/* Counts edges in ptr, shifted by two places; with adjacent, stores them and shifts ptr back by
 * one. */
static void join_columns(trs_graph *graph, const trs_matrix *A, const int32_t *inverse) {
  for (int64_t i = 0; i < A->nrows; i++) {
    if (A->ptr[i] == A->ptr[i + 1]) continue;
    const int32_t first = first_column(A, i, inverse);
    for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) {
      const int32_t j = A->idx[p];
      if (j == first) continue;
      if (graph->adjacent) {
        graph->adjacent[graph->ptr[first + 1]++] = j;
        graph->adjacent[graph->ptr[j + 1]++] = first;
      } else {
        graph->ptr[first + 2]++;
        graph->ptr[j + 2]++;
      }
    }
  }
}

trs_status trs_graph_build_columns(trs_graph *graph, const trs_matrix *A, const int32_t *inverse) {
  *graph = (trs_graph){.n = A->ncols};
  if (2 * A->nnz > INT32_MAX) return too_many("A^T A", 2 * A->nnz);
  TRS_TRY(TRS_ALLOC_ZERO(&graph->ptr, graph->n + 2));
  join_columns(graph, A, inverse);
  for (int64_t j = 0; j < graph->n; j++) graph->ptr[j + 2] += graph->ptr[j + 1];
  trs_status status = TRS_ALLOC(&graph->adjacent, graph->ptr[graph->n + 1] + 1);
  if (status)
    trs_graph_free(graph);
  else
    join_columns(graph, A, inverse);
  return status;
}

void trs_graph_free(trs_graph *graph) {
  TRS_FREE_ALL(graph->ptr, graph->adjacent);
  *graph = (trs_graph){0};
}
