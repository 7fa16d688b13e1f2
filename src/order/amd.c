/* amd.c - approximate minimum degree (Amestoy, Davis, Duff 1996) by SuiteSparse's AMD.  O(n nnz) in
 * the worst case, near O(nnz) in practice. */
#include "base/config.h"
#include "order/methods.h"

#if TRS_HAVE_AMD

#include <amd.h>

/* AMD needs 2.4 nnz + 8 n integers. */
static trs_status reserve(const trs_graph *graph) {
  return trs_memory_probe((8 * graph->n + 5 * (int64_t)graph->ptr[graph->n] / 2 + 1) * 4);
}

trs_status trs_order_amd(int32_t *perm, const trs_graph *graph) {
  TRS_TRY(reserve(graph));
  int result = amd_order((int)graph->n, graph->ptr, graph->adjacent, perm, NULL, NULL);
  if (result == AMD_OUT_OF_MEMORY)
    return trs_fail(TRS_ERROR_MEMORY, -1,
                    "out of memory in AMD, %lld vertices, %d edges: use another order",
                    (long long)graph->n, graph->ptr[graph->n] / 2);
  if (result != AMD_OK) return trs_fail(TRS_ERROR_INTERNAL, -1, "amd_order returned %d", result);
  return TRS_SUCCESS;
}

#else

trs_status trs_order_amd(int32_t *perm, const trs_graph *graph) {
  (void)perm;
  (void)graph;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "this order needs AMD, which is not in this build: install libsuitesparse-dev "
                  "and build Trireme from source, or order by nested dissection");
}

#endif
