/* tune.c - trs_options.tune on a CPU: the methods that auto would take next solve beside its first
 * choice, and the fastest stays.  Estimates know neither the caches of a machine nor its memory.
 * Right-hand sides are zero, by columns: the time does not depend on values. */
#include "plan/tune.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/timer.h"

enum { TEXT = 160 };

typedef struct trial {
  const trs_method *method;
  void *state;
  double seconds;
} trial;

typedef struct tuning {
  trs_plan *plan;
  trs_rhs rhs;
  trial best;
  char times[TEXT]; /* of all trials */
} tuning;

/* The least of several solves. */
static double time_solves(const tuning *t) {
  static const double LONG = 0.01; /* seconds for one method */
  enum { LEAST = 3, MOST = 30 };
  double least = INFINITY, end = trs_seconds() + LONG;
  for (int k = 0; k < LEAST || (k < MOST && trs_seconds() < end); k++) {
    const double start = trs_seconds();
    if (t->plan->method->solve(t->plan, &t->rhs)) return INFINITY;
    const double took = trs_seconds() - start;
    if (took < least) least = took;
  }
  return least;
}

static void note(tuning *t, const trial *of) {
  const size_t used = strlen(t->times);
  snprintf(t->times + used, sizeof t->times - used, "%s%s %.3g us", used ? ", " : "",
           of->method->name, 1e6 * of->seconds);
}

static void drop(trs_plan *plan, const trial *of) {
  plan->method = of->method;
  plan->state = of->state;
  plan->method->free(plan);
}

/* False if auto has no other method of the CPU. */
static bool take_next(trs_plan *plan) {
  trs_plan_decline(plan);
  return !trs_plan_choose(plan, NULL) && !plan->method->backend->gpu &&
         trs_plan_estimate(plan, plan->method).preference != TRS_PREFERENCE_LAST;
}

static void try_next(tuning *t) {
  trs_plan *plan = t->plan;
  plan->state = NULL;
  trial next = {.method = plan->method, .seconds = INFINITY};
  trs_status status = plan->method->analyze(plan);
  next.state = plan->state;
  if (!status) next.seconds = time_solves(t);
  if (!status) note(t, &next);
  if (next.seconds < t->best.seconds) {
    drop(plan, &t->best);
    t->best = next;
  } else {
    drop(plan, &next);
  }
}

static trs_status make_vectors(tuning *t, double **memory) {
  enum { MOST = 64 };
  const trs_system *S = &t->plan->system;
  const int64_t asked = t->plan->options.nrhs, nrhs = asked < 1 ? 1 : asked < MOST ? asked : MOST;
  const int64_t words = (int64_t)trs_scalar_size(S->scalar) / 4;
  TRS_TRY(TRS_ALLOC_ZERO(memory, S->n * nrhs * words + 1));
  char *x = (char *)*memory + S->n * nrhs * words * 4;
  const int64_t ld = S->n > 0 ? S->n : 1;
  return trs_rhs_make(&t->rhs, S->n, S->scalar, x, ld, *memory, ld, nrhs, TRS_COL_MAJOR);
}

trs_status trs_plan_tune(trs_plan *plan) {
  double unused, *memory = NULL;
  tuning t = {.plan = plan};
  if (!plan->options.tune || plan->method->backend->gpu || !trs_plan_chosen(plan, &unused))
    return TRS_SUCCESS;
  TRS_TRY(make_vectors(&t, &memory));
  trs_failure before; /* a method that declines is no error of the caller's */
  trs_failure_get(&before);
  t.best = (trial){plan->method, plan->state, time_solves(&t)};
  note(&t, &t.best);
  plan->trial = true;
  while (take_next(plan)) try_next(&t);
  plan->trial = false;
  plan->method = t.best.method;
  plan->state = t.best.state;
  snprintf(plan->reason, sizeof plan->reason, "the fastest of a trial: %s", t.times);
  trs_failure_set(&before);
  trs_free(memory);
  return TRS_SUCCESS;
}
