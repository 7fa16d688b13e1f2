/* threads.c - all cores: rows in level order, renumbered so that each thread streams its part, with
 * point-to-point waits (schedule.h).  The arithmetic per row is that of substitution by rows, so
 * the bits do not depend on the number of threads. O(nnz nrhs) work; a copy of the matrix in
 * schedule order. */
#include <math.h>
#include <stdio.h>

#include "base/counter.h"
#include "solve/threads/kernels.h"

/* Thread rank scans the rows of its tasks for their needs. */
static void note_all_needs(void *argument, int rank, int size) {
  (void)size;
  trs_threads_job *j = argument;
  const trs_threads_state *s = j->state;
  const trs_schedule *plan = &s->schedule;
  int64_t begin = plan->first[rank], end = plan->first[rank + 1];
  for (int64_t task = plan->task_ptr[rank]; task < plan->task_ptr[rank + 1]; task++) {
    const trs_task *it = &plan->tasks[task];
    for (int64_t p = s->ptr[it->begin]; p < s->ptr[it->end]; p++)
      if (s->idx[p] < begin || s->idx[p] >= end)
        trs_note_need(plan, j->needs + rank, task, s->idx[p]);
  }
}

static const trs_threads_kernels *kernels(void) {
  static const trs_threads_kernels *const of_isa[] = TRS_ISA_TABLE(trs_threads_kernels);
  return of_isa[trs_isa_now()];
}

/* The rate per entry is that of serial's estimate.  Rows cost more because of two numberings, and
 * most if natural order is a chain, because level order is then far from it.  Every split level
 * costs a wait.  The margin allows for machines with other load. */
static trs_estimate estimate(const trs_plan *plan) {
  static const double ENTRY = 0.35e-9, ROW = 1.4e-9, FAR_ROW = 3e-9, START = 2e-6, WAIT = 75e-9,
                      MARGIN = 1.28;
  if (!plan->has_levels)
    return (trs_estimate){.preference = TRS_PREFERENCE_LAST,
                          .because = "so small a solve ends before several threads have started"};
  const trs_levels *levels = &plan->levels;
  const trs_system *S = &plan->system;
  double row = trs_system_chained(S) ? FAR_ROW : ROW, seconds = START;
  for (int32_t k = 0; k < levels->count; k++) {
    int32_t parts = trs_level_parts(levels, k, plan->context->threads);
    double work =
        row * (double)(levels->ptr[k + 1] - levels->ptr[k]) + ENTRY * (double)levels->entries[k];
    seconds += work / parts + (parts > 1 ? WAIT : 0);
  }
  return (trs_estimate){.seconds = MARGIN * seconds};
}

static trs_status row_lengths(int32_t **length, const trs_system *S) {
  TRS_TRY(TRS_ALLOC(length, S->n));
  trs_in_degrees(S, *length);
  return TRS_SUCCESS;
}

static trs_status allocate(trs_plan *plan, trs_threads_state *s) {
  const trs_system *S = &plan->system;
  int64_t n = S->n, nnz = s->schedule.entries[s->schedule.threads];
  size_t size = trs_scalar_size(S->scalar);
  TRS_TRY(TRS_ALLOC(&s->ptr, n + 1));
  TRS_TRY(TRS_ALLOC(&s->idx, nnz));
  TRS_TRY(trs_alloc(&s->val, nnz, size));
  if (!S->unit) TRS_TRY(trs_alloc(&s->inverse, n, size));
  TRS_TRY(trs_alloc(&s->work, n * TRS_WIDE, size));
  TRS_TRY(TRS_ALLOC_ZERO(&s->done, s->schedule.threads));
  s->solves = trs_counters_begin;
  for (int t = 0; t < s->schedule.threads; t++) atomic_init(&s->done[t].value, s->solves << 32);
  s->bytes = n * (int64_t)(16 + size * (S->unit ? 1 : 2)) + nnz * (int64_t)(4 + size);
  return TRS_SUCCESS;
}

/* Thread rank numbers the entries of its rows, and so is the first to touch its memory. */
static void number_entries(void *argument, int rank, int size) {
  (void)size;
  const trs_threads_job *j = argument;
  trs_threads_state *s = j->state;
  int64_t at = s->schedule.entries[rank];
  for (int64_t k = s->schedule.first[rank]; k < s->schedule.first[rank + 1]; k++) {
    s->ptr[k] = at;
    at += j->length[s->schedule.row[k]];
  }
  if (rank == s->schedule.threads - 1) s->ptr[s->schedule.n] = at;
}

static void fill_share(void *argument, int rank, int size) {
  (void)size;
  trs_threads_job *j = argument;
  kernels()->fill_rows[j->plan->system.scalar](j, rank);
}

static trs_status fill(trs_threads_job *j) {
  const trs_system *S = &j->plan->system;
  trs_team *team = j->plan->context->team;
  int threads = j->state->schedule.threads;
  if (S->rows) {
    trs_team_run(team, threads, fill_share, j);
    return TRS_SUCCESS;
  }
  TRS_TRY(kernels()->fill_columns[S->scalar](j));
  if (j->needs) trs_team_run(team, threads, note_all_needs, j);
  return TRS_SUCCESS;
}

static trs_status analyze(trs_plan *plan) {
  trs_threads_state *s;
  int32_t *length = NULL;
  trs_needs *needs = NULL;
  TRS_TRY(TRS_ALLOC_ZERO(&s, 1));
  plan->state = s;
  TRS_TRY(trs_plan_need_levels(plan));
  trs_status status = row_lengths(&length, &plan->system);
  if (!status)
    status = trs_schedule_deal(&s->schedule, &plan->levels, length, plan->context->threads);
  if (!status) status = allocate(plan, s);
  if (!status) status = trs_needs_create(&needs, s->schedule.threads);
  if (!status) {
    trs_threads_job j = {.plan = plan, .state = s, .needs = needs, .length = length};
    trs_team_run(plan->context->team, s->schedule.threads, number_entries, &j);
    status = fill(&j);
  }
  if (!status) status = trs_schedule_wait(&s->schedule, needs);
  trs_free(length);
  trs_needs_destroy(needs, s->schedule.threads);
  return status;
}

static trs_status update(trs_plan *plan) {
  return fill(&(trs_threads_job){.plan = plan, .state = plan->state});
}

static void sweep_share(void *argument, int rank, int size) {
  (void)size;
  const trs_threads_job *j = argument;
  kernels()->sweep[j->plan->system.scalar](j, rank);
}

static trs_status solve(trs_plan *plan, const trs_rhs *rhs) {
  trs_threads_state *s = plan->state;
  for (int64_t column = 0; column < rhs->nrhs;) {
    int width = trs_wide_next(rhs->nrhs - column);
    trs_threads_job j = {.plan = plan, .state = s, .rhs = rhs, .column = column, .width = width};
    s->solves++;
    trs_team_run(plan->context->team, s->schedule.threads, sweep_share, &j);
    column += width;
  }
  return TRS_SUCCESS;
}

static int threads(const trs_plan *plan) {
  return ((const trs_threads_state *)plan->state)->schedule.threads;
}

static int64_t bytes(const trs_plan *plan) {
  return ((const trs_threads_state *)plan->state)->bytes;
}

static void describe(const trs_plan *plan, char *text, size_t size) {
  const trs_threads_state *s = plan->state;
  snprintf(text, size, "%d levels, %lld split over %d threads, %lld tasks, %lld waits",
           plan->levels.count, (long long)s->schedule.split_levels, s->schedule.threads,
           (long long)s->schedule.task_ptr[s->schedule.threads], (long long)s->schedule.nwaits);
}

static void free_state(trs_plan *plan) {
  trs_threads_state *s = plan->state;
  if (!s) return;
  trs_schedule_destroy(&s->schedule);
  trs_free(s->ptr);
  trs_free(s->idx);
  trs_free(s->val);
  trs_free(s->inverse);
  trs_free(s->work);
  trs_free(s->done);
  trs_free(s);
}

const trs_method trs_method_threads = {
    .name = "threads",
    .backend = &trs_backend_threads,
    .refuses = trs_host_refuses,
    .estimate = estimate,
    .analysis_solves = 8,
    .analyze = analyze,
    .update = update,
    .solve = solve,
    .threads = threads,
    .bytes = bytes,
    .describe = describe,
    .free = free_state,
};
