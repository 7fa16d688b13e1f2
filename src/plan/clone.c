/* clone.c - plans made from plans.
 *
 * A clone shares what solves only read: the matrix or its copy, schedules, panels.  It has a
 * workspace of its own, so that it solves at the same time as its origin, the plan that was
 * analysed, which it keeps alive.  Updates would change values under other solves: none is allowed
 * while a plan has clones.
 *
 * A child is made by a method or a trial for the system of its plan.  Its functions run with the
 * device that this plan has entered. */
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
  return plan->method->clone ? NULL
                             : "its method has no clones: each thread needs a plan of its own";
}

/* Both have the same system. */
static void take_system(trs_plan *made, const trs_plan *plan, trs_stream stream) {
  made->context = trs_context_retain(plan->context);
  made->root = plan->root;
  made->levels = plan->levels;
  made->matrix = plan->matrix ? trs_matrix_retain(plan->matrix) : NULL;
  made->system = plan->system;
  made->uplo = plan->uplo;
  made->trans = plan->trans;
  made->diag = plan->diag;
  made->stream = stream;
  made->options = plan->options;
}

/* The fields that a method's clone function may read. */
static void take_fields(trs_plan *made, trs_plan *origin, trs_stream stream) {
  take_system(made, origin, stream);
  made->origin = origin;
  atomic_fetch_add(&origin->clones, 1);
  made->kind = origin->kind;
  made->method = origin->method;
  made->borrows = origin->levels != NULL;
  snprintf(made->reason, sizeof made->reason, "%s", origin->reason);
  made->cut = origin->cut;
  made->source_nnz = origin->source_nnz;
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

/* ---- Children ---- */

trs_status trs_plan_child(trs_plan **child, trs_plan *plan, const trs_method *method,
                          int64_t nrhs) {
  TRS_TRY(TRS_ALLOC_ZERO(child, 1));
  trs_plan *made = *child;
  take_system(made, plan, plan->stream);
  made->method = method;
  if (!made->root) made->root = plan;
  made->options.method = NULL;
  made->options.nrhs = nrhs;
  return TRS_SUCCESS;
}

trs_status trs_plan_analyze_child(trs_plan *child, trs_verdict *verdict) {
  if (child->method->look) TRS_TRY(child->method->look(child, verdict));
  return verdict && verdict->declined ? TRS_SUCCESS : child->method->analyze(child);
}

trs_status trs_plan_update_child(trs_plan *child, const trs_plan *plan) {
  trs_matrix_destroy(child->matrix);
  child->matrix = trs_matrix_retain(plan->matrix);
  child->system = plan->system;
  return child->method->update ? child->method->update(child) : TRS_SUCCESS;
}
