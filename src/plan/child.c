/* child.c - plans that a method or a trial makes for the system of another plan.  Their functions
 * run with the device that this plan has entered. */
#include "base/memory.h"
#include "plan/plan.h"

trs_status trs_plan_child(trs_plan **child, trs_plan *plan, const trs_method *method,
                          int64_t nrhs) {
  TRS_TRY(TRS_ALLOC_ZERO(child, 1));
  trs_plan *made = *child;
  made->context = trs_context_retain(plan->context);
  made->method = method;
  made->root = plan->root ? plan->root : plan;
  made->levels = plan->levels;
  made->matrix = trs_matrix_retain(plan->matrix);
  made->system = plan->system;
  made->uplo = plan->uplo;
  made->trans = plan->trans;
  made->diag = plan->diag;
  made->stream = plan->stream;
  made->options = plan->options;
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
