/* columns.c - right-hand sides distributed over the threads: each thread solves its own ones alone,
 * by serial or by panels, in the natural order of the rows.  No thread waits for another.  For
 * about as many right-hand sides as threads, and more.  O(nnz nrhs) work; the memory of the other
 * method, and a workspace per thread. */
#include <stdio.h>

#include "plan/plan.h"
#include "plan/wide.h"

typedef struct columns_state {
  trs_plan one; /* of the method that each thread runs */
} columns_state;

/* The time of the passes over `count` right-hand sides, in passes over one right-hand side
 * (docs/experiments.md). */
static double passes(const trs_system *S, int64_t count) {
  static const double FOUR = 2.5, WIDE = 4.5, WIDE_LONG = 2.5;
  const bool brief = trs_wide_brief(S);
  const int64_t wide = count / TRS_WIDE, left = count % TRS_WIDE;
  const double all = (double)wide * (brief ? WIDE : WIDE_LONG);
  if (left < TRS_WIDE_LEAST) return all + (double)left;
  if (!brief) return all + WIDE_LONG;
  return all + (left < 4 ? (double)left : FOUR + (double)(left - 4));
}

/* The right-hand sides of a thread: its part, or that rounded up to a full pass if this takes less
 * time. */
static int64_t part_of(const trs_system *S, int threads, int64_t nrhs) {
  int64_t part = (nrhs + threads - 1) / threads, best = part;
  for (int64_t pass = 4; pass <= TRS_WIDE; pass *= 2) {
    const int64_t more = (part + pass - 1) / pass * pass;
    if (passes(S, more) < passes(S, best)) best = more;
  }
  return best;
}

/* Where rows are adjacent, threads that share a cache line would take it from each other. */
static int64_t whole_passes(int64_t part) { return (part + TRS_WIDE - 1) / TRS_WIDE * TRS_WIDE; }

static int parts_of(int64_t nrhs, int64_t part) { return (int)((nrhs + part - 1) / part); }

/* The faster of the methods of one thread. */
static const trs_method *method_of_one(const trs_plan *plan, double *seconds) {
  const trs_estimate serial = trs_method_serial.estimate(plan);
  trs_estimate panels = {.preference = TRS_PREFERENCE_LAST};
  if (!trs_method_panels.refuses(plan)) panels = trs_method_panels.estimate(plan);
  const bool dense = panels.preference == TRS_PREFERENCE_NONE && panels.seconds < serial.seconds;
  *seconds = dense ? panels.seconds : serial.seconds;
  return dense ? &trs_method_panels : &trs_method_serial;
}

/* As the other estimates, those of one right-hand side: only the ratios matter.  The layout is not
 * known yet: column-major arrays, the usual ones, have twice the weight of row-major arrays, of
 * which fewer threads can have a part. */
static trs_estimate estimate(const trs_plan *plan) {
  static const double START = 2e-6, MARGIN = 1.2;
  const int64_t nrhs = plan->options.nrhs;
  const trs_system *S = &plan->system;
  double seconds;
  if (nrhs < 2 || plan->context->threads < 2)
    return (trs_estimate){.preference = TRS_PREFERENCE_LAST};
  (void)method_of_one(plan, &seconds);
  const int64_t part = part_of(S, plan->context->threads, nrhs), wide = whole_passes(part);
  const double mean = (2 * passes(S, part) + passes(S, wide < nrhs ? wide : nrhs)) / 3;
  return (trs_estimate){.seconds = START + MARGIN * seconds * mean / passes(S, nrhs)};
}

static trs_status analyze_by(trs_plan *plan, const trs_method *method) {
  const int64_t nrhs = plan->options.nrhs > 1 ? plan->options.nrhs : 1;
  const int64_t part = part_of(&plan->system, plan->context->threads, nrhs);
  columns_state *s = plan->state;
  s->one = *plan;
  s->one.state = NULL;
  s->one.method = method;
  s->one.options.method = NULL;
  s->one.options.nrhs = part; /* a thread that solves four where they lie needs no workspace */
  s->one.spaces = parts_of(nrhs, part);
  s->one.next = trs_method_serial.estimate(plan).seconds;
  return method->analyze(&s->one);
}

static trs_status analyze(trs_plan *plan) {
  double seconds;
  columns_state *s;
  TRS_TRY(TRS_ALLOC_ZERO(&s, 1));
  plan->state = s;
  const trs_method *method = method_of_one(plan, &seconds);
  trs_status status = analyze_by(plan, method);
  if (status != TRS_ERROR_UNSUPPORTED || method == &trs_method_serial) return status;
  method->free(&s->one);
  return analyze_by(plan, &trs_method_serial);
}

static trs_status update(trs_plan *plan) {
  trs_plan *one = &((columns_state *)plan->state)->one;
  one->matrix = plan->matrix;
  one->system = plan->system;
  return one->method->update ? one->method->update(one) : TRS_SUCCESS;
}

typedef struct columns_job {
  trs_plan *one;
  const trs_rhs *rhs;
  int64_t part;
} columns_job;

static void solve_part(void *argument, int rank, int size) {
  (void)size;
  const columns_job *j = argument;
  const trs_rhs part = trs_rhs_columns(j->rhs, j->one->system.scalar, rank * j->part, j->part);
  (void)j->one->method->solve_in(j->one, &part, rank); /* never fails */
}

static trs_status solve(trs_plan *plan, const trs_rhs *rhs) {
  columns_job j = {.one = &((columns_state *)plan->state)->one, .rhs = rhs};
  const int most = j.one->spaces > 1 ? j.one->spaces : 1;
  j.part = part_of(&plan->system, most, rhs->nrhs);
  if (rhs->x_col < rhs->x_row) j.part = whole_passes(j.part);
  trs_team_run(plan->context->team, parts_of(rhs->nrhs, j.part), solve_part, &j);
  return TRS_SUCCESS;
}

static int most_threads(const trs_plan *plan) {
  const int spaces = ((const columns_state *)plan->state)->one.spaces;
  return spaces > 1 ? spaces : 1;
}

static int64_t bytes(const trs_plan *plan) {
  const trs_plan *one = &((const columns_state *)plan->state)->one;
  return one->method->bytes(one);
}

static void describe(const trs_plan *plan, char *text, size_t size) {
  const trs_plan *one = &((const columns_state *)plan->state)->one;
  int used =
      snprintf(text, size, "right-hand sides over %d threads, each by %s: ", most_threads(plan),
               one->method->name);
  if (used > 0 && (size_t)used < size) one->method->describe(one, text + used, size - (size_t)used);
}

static void free_state(trs_plan *plan) {
  columns_state *s = plan->state;
  if (!s) return;
  if (s->one.method) s->one.method->free(&s->one);
  trs_free(s);
}

const trs_method trs_method_columns_cpu = {
    TRS_CPU_METHOD("columns", threads, 1),
    .refuses = trs_host_refuses,
    .threads = most_threads,
};
