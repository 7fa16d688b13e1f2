/* columns.c - right-hand sides distributed over the threads: each thread solves its own ones alone,
 * by serial or by panels, in the natural order of the rows.  No thread waits for another.  For
 * about as many right-hand sides as threads, and more.  O(nnz nrhs) work; the memory of the other
 * method, and a workspace per thread.
 *
 * Of a row-major array fewer threads can have a part.  If auto took this method, the plan therefore
 * also has a schedule of the method threads where that is better, and each call takes one of the
 * two by its layout and its number of right-hand sides. */
#include <stdio.h>
#include <string.h>

#include "base/machine_model.h"
#include "plan/choice.h"
#include "plan/wide.h"

typedef struct columns_state {
  trs_plan *one;      /* by the method that each thread runs */
  double seconds;     /* its estimate */
  trs_plan *all;      /* by threads together; NULL if columns is always better */
  double all_seconds; /* of a solve by it */
} columns_state;

/* The time of the passes over `count` right-hand sides, in passes over one right-hand side
 * (docs/experiments/cpu.md). */
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

/* True if the right-hand sides of a row are adjacent.  One of them has no layout. */
static bool row_major(const trs_rhs *rhs) { return rhs->nrhs > 1 && rhs->x_col < rhs->x_row; }

/* The right-hand sides of a thread in a call. */
static int64_t part_in(const trs_system *S, int threads, int64_t nrhs, bool by_rows) {
  const int64_t part = part_of(S, threads, nrhs);
  return by_rows ? whole_passes(part) : part;
}

/* As the other estimates, that of one right-hand side: only the ratios matter.  one: of the method
 * that each thread runs. */
static double seconds_of(const trs_system *S, double one, int threads, int64_t nrhs, bool by_rows) {
  static const double MARGIN = 1.2;
  const int64_t part = part_in(S, threads, nrhs, by_rows);
  if (by_rows && part >= nrhs) return one; /* one thread, which waits for no team */
  return trs_cpu_generic.start +
         MARGIN * one * passes(S, part < nrhs ? part : nrhs) / passes(S, nrhs);
}

/* The layout of a call is not known yet: column-major, the usual one. */
static trs_estimate estimate(const trs_plan *plan) {
  const int64_t nrhs = plan->options.nrhs;
  const int threads = plan->context->threads;
  double one;
  if (nrhs < 2 || threads < 2) return (trs_estimate){.preference = TRS_PREFERENCE_LAST};
  (void)method_of_one(plan, &one);
  return (trs_estimate){.seconds = seconds_of(&plan->system, one, threads, nrhs, false)};
}

/* The threads that a call may use, each with its workspace. */
static int most_threads(const trs_plan *plan) {
  const int spaces = ((const columns_state *)plan->state)->one->spaces;
  return spaces > 1 ? spaces : 1;
}

/* In a trial the method that looks faster is taken. */
static trs_status analyze_by(trs_plan *plan, const trs_method *method, trs_verdict *verdict) {
  const int64_t nrhs = plan->options.nrhs > 1 ? plan->options.nrhs : 1;
  const int64_t part = part_of(&plan->system, plan->context->threads, nrhs);
  columns_state *s = plan->state;
  /* a thread that solves four where they lie needs no workspace */
  TRS_TRY(trs_plan_child(&s->one, plan, method, part));
  s->one->spaces = parts_of(nrhs, part);
  return trs_plan_analyze_child(s->one, trs_choice_of(plan)->trial ? NULL : verdict);
}

static void drop(trs_plan **child) {
  trs_plan_destroy(*child);
  *child = NULL;
}

static trs_status analyze_one(trs_plan *plan) {
  columns_state *s = plan->state;
  trs_verdict verdict = {.next = trs_method_serial.estimate(plan).seconds};
  TRS_TRY(analyze_by(plan, method_of_one(plan, &s->seconds), &verdict));
  if (!verdict.declined) return TRS_SUCCESS;
  drop(&s->one);
  return analyze_by(plan, &trs_method_serial, NULL);
}

/* The schedule of threads, if auto took this method and if row-major arrays are solved faster by
 * it. */
static trs_status analyze_all(trs_plan *plan) {
  columns_state *s = plan->state;
  const int64_t nrhs = plan->options.nrhs;
  trs_verdict verdict = {
      .next = seconds_of(&plan->system, s->seconds, most_threads(plan), nrhs > 1 ? nrhs : 1, true)};
  if (trs_choice_of(plan)->named || !plan->levels) return TRS_SUCCESS;
  if (trs_method_threads.estimate(plan).seconds >= verdict.next) return TRS_SUCCESS;
  TRS_TRY(trs_plan_child(&s->all, plan, &trs_method_threads, nrhs));
  TRS_TRY(trs_plan_analyze_child(s->all, &verdict));
  if (verdict.declined) drop(&s->all);
  s->all_seconds = verdict.seconds;
  return TRS_SUCCESS;
}

static trs_status analyze(trs_plan *plan) {
  columns_state *s;
  TRS_TRY(TRS_ALLOC_ZERO(&s, 1));
  plan->state = s;
  TRS_TRY(analyze_one(plan));
  return analyze_all(plan);
}

static trs_status clone(trs_plan *plan) {
  const columns_state *origin = plan->origin->state;
  columns_state *s;
  TRS_TRY(TRS_ALLOC_ZERO(&s, 1));
  plan->state = s;
  s->seconds = origin->seconds;
  s->all_seconds = origin->all_seconds;
  TRS_TRY(trs_plan_create_clone(&s->one, origin->one, plan->stream));
  if (!origin->all) return TRS_SUCCESS;
  return trs_plan_create_clone(&s->all, origin->all, plan->stream);
}

/* Neither part keeps arrays of the matrix before, even if the update of one fails. */
static trs_status update(trs_plan *plan) {
  const columns_state *s = plan->state;
  trs_status one = trs_plan_update_child(s->one, plan);
  trs_status all = s->all ? trs_plan_update_child(s->all, plan) : TRS_SUCCESS;
  return one ? one : all;
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

static bool prefers_all(const trs_plan *plan, const trs_rhs *rhs) {
  const columns_state *s = plan->state;
  return s->all && s->all_seconds < seconds_of(&plan->system, s->seconds, most_threads(plan),
                                               rhs->nrhs, row_major(rhs));
}

static trs_status solve(trs_plan *plan, const trs_rhs *rhs) {
  const columns_state *s = plan->state;
  columns_job j = {.one = s->one, .rhs = rhs};
  if (prefers_all(plan, rhs)) return s->all->method->solve(s->all, rhs);
  j.part = part_in(&plan->system, most_threads(plan), rhs->nrhs, row_major(rhs));
  trs_team_run(plan->context->team, parts_of(rhs->nrhs, j.part), solve_part, &j);
  return TRS_SUCCESS;
}

static int64_t bytes(const trs_plan *plan) {
  const columns_state *s = plan->state;
  return s->one->method->bytes(s->one) + (s->all ? s->all->method->bytes(s->all) : 0);
}

static void describe(const trs_plan *plan, char *text, size_t size) {
  const columns_state *s = plan->state;
  size_t used = (size_t)snprintf(text, size, "right-hand sides over %d threads, each by %s: ",
                                 most_threads(plan), s->one->method->name);
  if (used < size) s->one->method->describe(s->one, text + used, size - used);
  used = strlen(text);
  if (!s->all) return;
  used += (size_t)snprintf(text + used, size - used, "; or by threads: ");
  if (used < size) s->all->method->describe(s->all, text + used, size - used);
}

static void free_state(trs_plan *plan) {
  columns_state *s = plan->state;
  if (!s) return;
  trs_plan_destroy(s->one);
  trs_plan_destroy(s->all);
  trs_free(s);
}

const trs_method trs_method_columns_cpu = {
    TRS_CPU_METHOD("columns", threads, 1),
    .refuses = trs_host_refuses,
    .threads = most_threads,
    .clone = clone,
};
