/* metis.c - nested dissection (George 1973) by METIS_NodeND (Karypis and Kumar 1998).
 *
 * METIS_NodeND rather than METIS_NodeNDP or METIS_ComputeVertexSeparator, for it alone catches its
 * own allocation failures, where the others end the process.  The separators are read off the
 * elimination tree afterwards (tree.c).  METIS seeds and uses rand(), which the process shares:
 * calls take turns, so that the same graph always gets the same order.
 * O(nnz log n). */
#include "base/config.h"
#include "order/methods.h"

#if TRS_HAVE_METIS

#include <pthread.h>

#include <metis.h>

_Static_assert(sizeof(idx_t) == sizeof(int32_t), "METIS with 32-bit indices");

enum { SEED = 1 };
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

/* METIS reports a lack of memory on stderr, so make sure of what it will take: two copies of the
 * graph with weights, and some forty words a vertex. */
static trs_status reserve(const trs_graph *graph) {
  return trs_memory_probe((40 * graph->n + 4 * (int64_t)graph->ptr[graph->n]) * 4);
}

static trs_status dissect(int32_t *perm, int32_t *inverse, const trs_graph *graph) {
  idx_t n = (idx_t)graph->n, options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = SEED;
  pthread_mutex_lock(&turn);
  int result = METIS_NodeND(&n, graph->ptr, graph->adjacent, NULL, options, perm, inverse);
  pthread_mutex_unlock(&turn);
  if (result == METIS_ERROR_MEMORY)
    return trs_fail(TRS_ERROR_MEMORY, -1, "out of memory in METIS, %lld vertices, %d edges",
                    (long long)graph->n, graph->ptr[graph->n] / 2);
  if (result != METIS_OK)
    return trs_fail(TRS_ERROR_INTERNAL, -1, "METIS_NodeND returned %d", result);
  return TRS_SUCCESS;
}

trs_status trs_order_metis(int32_t *perm, const trs_graph *graph) {
  if (graph->ptr[graph->n] == 0) {
    for (int64_t k = 0; k < graph->n; k++) perm[k] = (int32_t)k;
    return TRS_SUCCESS;
  }
  int32_t *inverse;
  TRS_TRY(TRS_ALLOC(&inverse, graph->n));
  trs_status status = reserve(graph);
  if (!status) status = dissect(perm, inverse, graph);
  trs_free(inverse);
  return status;
}

trs_status trs_graph_split(int32_t *part, const trs_graph *graph, int32_t *weight, int32_t parts) {
  idx_t n = (idx_t)graph->n, constraints = 1, count = parts, cut, options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = SEED;
  TRS_TRY(reserve(graph));
  pthread_mutex_lock(&turn);
  int result = METIS_PartGraphKway(&n, &constraints, graph->ptr, graph->adjacent, weight, NULL,
                                   NULL, &count, NULL, NULL, options, &cut, part);
  pthread_mutex_unlock(&turn);
  if (result == METIS_ERROR_MEMORY)
    return trs_fail(TRS_ERROR_MEMORY, -1, "out of memory in METIS, %lld vertices, %d edges",
                    (long long)graph->n, graph->ptr[graph->n] / 2);
  if (result != METIS_OK)
    return trs_fail(TRS_ERROR_INTERNAL, -1, "METIS_PartGraphKway returned %d", result);
  return TRS_SUCCESS;
}

#else

trs_status trs_graph_split(int32_t *part, const trs_graph *graph, int32_t *weight, int32_t parts) {
  (void)part;
  (void)graph;
  (void)weight;
  (void)parts;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "a partition by the graph needs METIS, which is not in this build: install "
                  "libmetis-dev and build again, or take another partition");
}

trs_status trs_order_metis(int32_t *perm, const trs_graph *graph) {
  (void)perm;
  (void)graph;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "nested dissection needs METIS, which is not in this build: install "
                  "libmetis-dev and build again, or order by AMD");
}

#endif
