/* metis.c - METIS (Karypis and Kumar 1998) in a worker process.  METIS takes over SIGTERM and
 * SIGABRT, jumps out of handlers, seeds rand(), prints, and may end the process; only this process
 * is affected. */
#include <metis.h>

#include "worker/programs/serve.h"

_Static_assert(sizeof(idx_t) == sizeof(int32_t), "METIS with 32-bit indices");

enum { SEED = 1 };

typedef struct work {
  idx_t n, entries, *ptr, *adjacent;
  idx_t options[METIS_NOPTIONS];
} work;

static trs_status receive_graph(work *w, const trs_worker_message *m) {
  w->n = (idx_t)m->number[0];
  w->entries = (idx_t)m->number[1];
  METIS_SetDefaultOptions(w->options);
  w->options[METIS_OPTION_SEED] = SEED;
  TRS_TRY(trs_serve_take(&w->ptr, w->n + 1, sizeof(idx_t)));
  return trs_serve_take(&w->adjacent, w->entries, sizeof(idx_t));
}

static trs_status check_result(const work *w, int result, const char *function) {
  if (result == METIS_OK) return TRS_SUCCESS;
  if (result == METIS_ERROR_MEMORY)
    return trs_fail(TRS_ERROR_MEMORY, -1, "out of memory in METIS, %d vertices, %d edges", w->n,
                    w->entries / 2);
  return trs_fail(TRS_ERROR_INTERNAL, -1, "%s returned %d", function, result);
}

static trs_status order(work *w) {
  idx_t *perm, *inverse;
  TRS_TRY(trs_serve_give(&perm, w->n, sizeof(idx_t)));
  TRS_TRY(TRS_ALLOC(&inverse, w->n));
  int result = METIS_NodeND(&w->n, w->ptr, w->adjacent, NULL, w->options, perm, inverse);
  trs_free(inverse);
  return check_result(w, result, "METIS_NodeND");
}

static trs_status split(work *w, idx_t parts) {
  idx_t *weight, *part, constraints = 1, cut;
  TRS_TRY(trs_serve_take(&weight, w->n, sizeof(idx_t)));
  TRS_TRY(trs_serve_give(&part, w->n, sizeof(idx_t)));
  int result = METIS_PartGraphKway(&w->n, &constraints, w->ptr, w->adjacent, weight, NULL, NULL,
                                   &parts, NULL, NULL, w->options, &cut, part);
  return check_result(w, result, "METIS_PartGraphKway");
}

trs_status trs_serve(trs_worker_message *m) {
  work w;
  TRS_TRY(receive_graph(&w, m));
  return m->job == TRS_METIS_ORDER ? order(&w) : split(&w, (idx_t)m->number[2]);
}
