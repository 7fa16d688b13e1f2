/* tune.c - trs_options.tune on a CPU: the methods that auto would take next solve beside its first
 * choice, and the fastest stays.  Estimates know neither the caches of a machine nor its memory. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "plan/choice.h"
#include "plan/timing.h"

typedef struct tuning {
  trs_plan *plan;  /* by the fastest method so far */
  double seconds;  /* of its solves */
  char times[160]; /* of all trials */
} tuning;

static trs_status time_solves(tuning *t, trs_plan *plan, double *seconds) {
  enum { MOST = 64 };
  static const trs_timing how = {.rounds = 3, .more = 27, .solves = 1, .seconds = 0.01};
  const int64_t asked = t->plan->options.nrhs, nrhs = asked < 1 ? 1 : asked < MOST ? asked : MOST;
  const size_t used = strlen(t->times);
  TRS_TRY(trs_plan_time(plan, nrhs, TRS_COL_MAJOR, &how, seconds));
  trs_print(t->times + used, sizeof t->times - used, "%s%s %.3g us", used ? ", " : "",
            plan->method->name, 1e6 * *seconds);
  return TRS_SUCCESS;
}

/* The plan solves by the child's method from now on, and the child by the plan's. */
static void swap(trs_plan *plan, trs_plan *child) {
  const trs_method *method = plan->method;
  void *state = plan->state;
  plan->method = child->method;
  plan->state = child->state;
  child->method = method;
  child->state = state;
}

static void try_method(tuning *t, const trs_method *method) {
  trs_plan *child;
  double seconds;
  trs_status status = trs_plan_child(&child, t->plan, method, t->plan->options.nrhs);
  if (!status) status = trs_plan_analyze_child(child, NULL);
  if (!status) status = time_solves(t, child, &seconds);
  if (!status && seconds < t->seconds) {
    t->seconds = seconds;
    swap(t->plan, child);
  }
  trs_plan_destroy(child);
}

static trs_status try_all(tuning *t) {
  trs_plan *plan = t->plan;
  const trs_method *method = plan->method;
  TRS_TRY(time_solves(t, plan, &t->seconds));
  plan->choice->trial = true;
  while ((method = trs_plan_choose_next(plan, method)) && !method->backend->gpu)
    try_method(t, method);
  snprintf(plan->reason, sizeof plan->reason, "the fastest of a trial: %s", t->times);
  return TRS_SUCCESS;
}

trs_status trs_plan_tune(trs_plan *plan) {
  tuning t = {.plan = plan};
  trs_failure before; /* a trial that fails is no error of the caller's */
  if (!plan->options.tune || plan->choice->named || plan->method->backend->gpu) return TRS_SUCCESS;
  trs_failure_get(&before);
  TRS_TRY(try_all(&t));
  trs_failure_set(&before);
  return TRS_SUCCESS;
}
