/* clone.c - plans that share what solves only read: the matrix or its copy, schedules, panels.  A
 * clone has a workspace of its own, so that it solves at the same time as its origin, the plan that
 * was analysed, which it keeps alive.  Updates would change values under other solves: none is
 * allowed while a plan has clones. */
#include "base/memory.h"
#include "base/timer.h"
#include "plan/plan.h"

#include <stdio.h>

const char *trs_plan_clone_refuses(const trs_plan *plan) {
  if (plan->sweep[0]) {
    const char *why = trs_plan_clone_refuses(plan->sweep[0]);
    return why ? why : trs_plan_clone_refuses(plan->sweep[1]);
  }
  if (plan->options.launch_updates)
    return "with launch_updates, graphs may change its values at any time";
  return plan->method->clone ? NULL : "its method has no clones: analyse once per thread";
}

trs_status trs_plan_check_unshared(const trs_plan *plan) {
  const int clones = atomic_load(&plan->clones);
  if (plan->origin)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "a clone has the values of the plan that it was made from: destroy the clones, "
                    "update that plan, and clone it again");
  if (clones == 0) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1,
                  "the plan shares its values with %d clone%s: destroy the clones, update, and "
                  "clone again",
                  clones, clones > 1 ? "s" : "");
}

/* The fields that a method's clone function may read. */
static void take_fields(trs_plan *made, trs_plan *origin, trs_stream stream) {
  made->origin = origin;
  atomic_fetch_add(&origin->clones, 1);
  made->context = trs_context_retain(origin->context);
  made->method = origin->method;
  made->root = origin->root;
  made->levels = origin->levels;
  made->borrows = origin->levels != NULL;
  made->stream = stream;
  snprintf(made->reason, sizeof made->reason, "%s", origin->reason);
  made->matrix = origin->matrix ? trs_matrix_retain(origin->matrix) : NULL;
  made->cut = origin->cut;
  made->source_nnz = origin->source_nnz;
  made->uplo = origin->uplo;
  made->trans = origin->trans;
  made->diag = origin->diag;
  made->system = origin->system;
  made->options = origin->options;
  made->options.progress = NULL;
  made->spaces = origin->spaces;
}

static trs_status make_state(trs_plan *made) {
  for (int s = 0; s < 2; s++)
    if (made->origin->sweep[s])
      TRS_TRY(trs_plan_create_clone(&made->sweep[s], made->origin->sweep[s], made->stream));
  const int before = trs_plan_enter(made);
  trs_status status = made->method->clone(made);
  trs_plan_leave(made, before);
  return status;
}

trs_status trs_plan_create_clone(trs_plan **clone, trs_plan *origin, trs_stream stream) {
  const double start = trs_seconds();
  trs_plan *made;
  *clone = NULL;
  TRS_TRY(TRS_ALLOC_ZERO(&made, 1));
  take_fields(made, origin, stream);
  trs_status status = make_state(made);
  if (status) {
    trs_plan_destroy(made);
    return status;
  }
  made->analysis_seconds = trs_seconds() - start;
  *clone = made;
  return TRS_SUCCESS;
}
