/* metis.c - nested dissection (George 1973) by METIS_NodeND and partitions by METIS_PartGraphKway
 * (Karypis and Kumar 1998), in a worker process (src/worker/).  The separators follow from the
 * elimination tree (tree.c).  The same graph always gets the same order.  O(nnz log n), and some
 * milliseconds for the process. */
#include "base/config.h"
#include "matrix/matrix.h"
#include "order/methods.h"
#include "worker/worker.h"

/* Sends the job's arrays to the worker and receives one integer per vertex. */
static trs_status run(int32_t *result, const trs_graph *graph, const int32_t *weight,
                      trs_worker_message *message) {
  static const trs_worker_job job = {.program = "metis", .library = "METIS", .file = -1};
  trs_worker *worker;
  message->number[0] = graph->n;
  message->number[1] = graph->ptr[graph->n];
  TRS_TRY(trs_worker_start(&worker, &job));
  trs_status status = trs_worker_give(worker, graph->ptr, graph->n + 1, sizeof *graph->ptr);
  if (!status)
    status =
        trs_worker_give(worker, graph->adjacent, graph->ptr[graph->n], sizeof *graph->adjacent);
  if (!status && weight) status = trs_worker_give(worker, weight, graph->n, sizeof *weight);
  if (!status) status = trs_worker_ask(worker, message);
  if (!status) status = trs_worker_take(worker, result, graph->n, sizeof *result);
  trs_worker_end(worker);
  return status;
}

trs_status trs_order_metis(int32_t *perm, const trs_graph *graph) {
  trs_worker_message message = {.job = TRS_METIS_ORDER};
  if (!TRS_HAVE_METIS)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "nested dissection needs METIS, which is not in this build: install "
                    "libmetis-dev and build Trireme from source, or order by AMD");
  if (graph->ptr[graph->n] == 0) {
    for (int64_t k = 0; k < graph->n; k++) perm[k] = (int32_t)k;
    return TRS_SUCCESS;
  }
  TRS_TRY(run(perm, graph, NULL, &message));
  return trs_permutation_check(perm, graph->n, "METIS's order");
}

trs_status trs_graph_split(int32_t *part, const trs_graph *graph, const int32_t *weight,
                           int32_t parts) {
  trs_worker_message message = {.job = TRS_METIS_SPLIT, .number = {[2] = parts}};
  if (!TRS_HAVE_METIS)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "a partition by the graph needs METIS, which is not in this build: install "
                    "libmetis-dev and build Trireme from source, or take another partition");
  TRS_TRY(run(part, graph, weight, &message));
  for (int64_t k = 0; k < graph->n; k++)
    if (part[k] < 0 || part[k] >= parts)
      return trs_fail(TRS_ERROR_INTERNAL, -1, "METIS put vertex %lld into part %d of %d",
                      (long long)k, part[k], parts);
  return TRS_SUCCESS;
}
