/* threads.c - all cores: rows in supersteps or in level order, renumbered so that each thread
 * streams its part, with point-to-point waits (schedule.h).  Every row is summed in the same order
 * by any thread, so the bits do not depend on the number of threads.  O(nnz nrhs) work; a copy of
 * the matrix in schedule order. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/dependents.h"
#include "base/cores.h"
#include "base/counter.h"
#include "base/machine_model.h"
#include "base/search.h"
#include "base/thread.h"
#include "base/timer.h"
#include "base/wait.h"
#include "plan/choice.h"
#include "solve/threads/grow.h"
#include "solve/threads/kernels.h"

static int thread_at(const trs_schedule *schedule, int32_t position) {
  return (int)trs_search_64(schedule->first, 1, schedule->threads, position + 1LL) - 1;
}

/* Thread rank scans the entries of its tasks for their needs.  Most are its own, or of the thread
 * of the entry before. */
static void note_all_needs(const trs_threads_job *j, int rank) {
  const trs_threads_state *s = j->state;
  const trs_schedule *plan = &s->schedule;
  const int32_t least = (int32_t)plan->first[rank], most = (int32_t)plan->first[rank + 1] - 1;
  int u = rank;
  for (int64_t task = plan->task_ptr[rank]; task < plan->task_ptr[rank + 1]; task++) {
    const bool last = task + 1 == plan->task_ptr[rank + 1];
    const int64_t end = last ? plan->entries[rank + 1] : plan->tasks[task + 1].entry;
    for (int64_t p = plan->tasks[task].entry; p < end; p++) {
      const int32_t at = s->idx[p];
      if (at >= least && at <= most) continue;
      if (at < plan->first[u] || at >= plan->first[u + 1]) u = thread_at(plan, at);
      trs_note_need(j->needs + rank, task, u, at + 1);
    }
  }
}

/* Thread rank marks what it reads of other threads.  Several may mark the same position. */
static void mark_read(const trs_threads_job *j, int rank) {
  const trs_schedule *plan = &j->state->schedule;
  const int32_t least = (int32_t)plan->first[rank], most = (int32_t)plan->first[rank + 1] - 1;
  if (!j->is_read) return;
  for (int64_t p = plan->entries[rank]; p < plan->entries[rank + 1]; p++) {
    const int32_t at = j->state->idx[p];
    if (at >= least && at <= most) continue;
    _Atomic bool *is_read = &j->is_read[at]; /* a store takes the line from the other threads */
    if (!atomic_load_explicit(is_read, memory_order_relaxed))
      atomic_store_explicit(is_read, true, memory_order_relaxed);
  }
}

static const trs_threads_kernels *kernels(void) {
  return TRS_ISA_OF(trs_threads_kernels, trs_isa_now());
}

/* Margins for machines with other load: of an estimate, and of a known schedule.  A unit of work
 * takes the time of an entry. */
static const double MARGIN = 1.28, KNOWN = 1.15;
static const trs_cpu_costs *const cpu = &trs_cpu_generic;

/* Short rows in level order reach into many cache lines of several right-hand sides.  The factor is
 * that of a pass over one right-hand side to the same pass in natural order. */
static double scattering(const trs_plan *plan, bool natural) {
  static const double SCATTERED = 1.75;
  return plan->options.nrhs > 1 && !natural && trs_wide_brief(&plan->system) ? SCATTERED : 1;
}

/* The time of a schedule that meets few obstacles.  Levels bound the schedule from one side only:
 * supersteps need fewer waits, and other threads work during a narrow level. */
static double seconds_in_levels(const trs_levels *levels, int threads) {
  enum { LEAST_PART = 40 };
  double seconds = cpu->start;
  for (int32_t k = 0; k < levels->count; k++) {
    int64_t level = trs_level_work(levels, k), parts = level / LEAST_PART;
    int64_t rows = levels->ptr[k + 1] - levels->ptr[k];
    parts = parts > threads ? threads : parts;
    parts = parts > rows ? rows : parts;
    seconds +=
        cpu->entry * (double)level / (double)(parts > 1 ? parts : 1) + (parts > 1 ? cpu->wait : 0);
  }
  return seconds;
}

static double work_of(const trs_system *S) { return (double)(S->nnz + TRS_ROW_WORK * S->n); }

/* A look knows the schedule.  If panels have compared, this is the least time of any schedule. */
static trs_estimate estimate(const trs_plan *plan) {
  if (!plan->levels)
    return (trs_estimate){.preference = TRS_PREFERENCE_LAST,
                          .because = "so small a solve ends before several threads have started"};
  const int threads = plan->context->threads;
  if (trs_plan_knows(plan, &trs_method_panels))
    return (trs_estimate){.seconds = KNOWN * scattering(plan, true) *
                                     (cpu->start + cpu->entry * work_of(&plan->system) / threads),
                          .because = "its schedule is faster"};
  return (trs_estimate){.seconds = MARGIN * scattering(plan, false) *
                                   seconds_in_levels(plan->levels, threads)};
}

static trs_status row_lengths(int32_t **length, const trs_system *S) {
  TRS_TRY(TRS_ALLOC(length, S->n));
  trs_in_degrees(S, *length);
  return TRS_SUCCESS;
}

/* What a solve writes. */
static trs_status allocate_work(trs_threads_state *s, const trs_system *S) {
  TRS_TRY(trs_alloc(&s->work, S->n * TRS_WIDE, trs_scalar_size(S->scalar)));
  TRS_TRY(TRS_ALLOC_ZERO(&s->done, s->schedule.threads));
  TRS_TRY(TRS_ALLOC_ZERO(&s->place, s->schedule.threads));
  s->solves = trs_counters_begin;
  for (int t = 0; t < s->schedule.threads; t++) atomic_init(&s->done[t].value, s->solves << 32);
  return TRS_SUCCESS;
}

static trs_status allocate(trs_plan *plan, trs_threads_state *s) {
  const trs_system *S = &plan->system;
  int64_t n = S->n, nnz = s->schedule.entries[s->schedule.threads];
  size_t size = trs_scalar_size(S->scalar);
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&s->count, n), TRS_ROOM(&s->idx, nnz),
                        TRS_ROOM_OF(&s->val, nnz, size)));
  if (!S->unit) TRS_TRY(trs_alloc(&s->inverse, n, size));
  return allocate_work(s, S);
}

/* The ways of all threads wait for values only where rows are solved directly. */
static void begin_paces(trs_threads_state *s, const trs_plan *plan) {
  const int threads = s->schedule.threads, half = threads > 3 ? threads / 2 : 0;
  const double alone = trs_method_serial.estimate(plan).seconds;
  for (int p = 0; p < TRS_THREADS_PACES; p++) {
    int members[TRS_PACE_WAYS] = {[TRS_THREADS_HALF] = half, [TRS_THREADS_ALONE] = 1};
    for (int way = 0; way < TRS_THREADS_HALF; way++)
      if (s->ways >> way & 1 && (p == TRS_THREADS_DIRECT || !(way & TRS_THREADS_BY_VALUES)))
        members[way] = threads;
    trs_pace_begin(&s->pace[p], members, alone * (p == TRS_THREADS_OF_WIDE ? TRS_WIDE : 1));
  }
}

static trs_status clone(trs_plan *plan) {
  const trs_threads_state *origin = plan->origin->state;
  trs_threads_state *s;
  TRS_TRY(TRS_ALLOC_ZERO(&s, 1));
  plan->state = s;
  (void)trs_thread_own(); /* as in analyze */
  s->schedule = origin->schedule;
  s->steps = origin->steps;
  s->split_steps = origin->split_steps;
  s->span = origin->span;
  if (origin->one) TRS_TRY(trs_plan_create_clone(&s->one, origin->one, plan->stream));
  s->chained = origin->chained;
  s->unscaled = origin->unscaled;
  s->sliced = origin->sliced;
  s->ways = origin->ways;
  s->count = origin->count;
  s->idx = origin->idx;
  s->val = origin->val;
  s->inverse = origin->inverse;
  begin_paces(s, plan);
  return allocate_work(s, &plan->system);
}

/* Thread rank is the first to touch its memory. */
static void count_entries(void *argument, int rank, int size) {
  (void)size;
  const trs_threads_job *j = argument;
  trs_threads_state *s = j->state;
  for (int64_t k = s->schedule.first[rank]; k < s->schedule.first[rank + 1]; k++)
    s->count[k] = j->length[s->schedule.row[k]];
}

static void fill_share(void *argument, int rank, int size) {
  (void)size;
  trs_threads_job *j = argument;
  kernels()->fill_rows[j->plan->system.scalar](j, rank);
}

/* Of the copy, in which op(T) stored by columns is filled already. */
static void complete_share(void *argument, int rank, int size) {
  (void)size;
  trs_threads_job *j = argument;
  const trs_system *S = &j->plan->system;
  const int64_t *task = j->state->schedule.task_ptr;
  if (S->rows && !j->alone) kernels()->copy_rows[S->scalar](j, task[rank], task[rank + 1]);
  note_all_needs(j, rank);
  mark_read(j, rank);
  if (j->state->sliced) kernels()->make_slices[S->scalar](j, rank);
}

/* Runs the share of every thread, by one thread if the system is so small that the others would
 * wake too late. */
static void run_shares(trs_threads_job *j, void (*share)(void *, int, int)) {
  const int threads = j->state->schedule.threads;
  if (!j->alone) trs_team_run(j->plan->context->team, threads, share, j);
  for (int rank = 0; j->alone && rank < threads; rank++) share(j, rank, threads);
}

/* The copy of a matrix by rows: each thread copies its own rows. */
static trs_status copy_rows(trs_threads_job *j, int64_t nparts) {
  const trs_schedule *plan = &j->state->schedule;
  const int64_t ntasks = plan->task_ptr[plan->threads];
  int32_t *task_of = NULL;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&task_of, nparts), TRS_ROOM(&j->next, ntasks)));
  for (int64_t k = 0; k < ntasks; k++) task_of[plan->tasks[k].part] = (int32_t)k;
  j->task_of = task_of;
  if (j->alone) kernels()->copy_rows[j->plan->system.scalar](j, 0, ntasks);
  run_shares(j, complete_share);
  TRS_FREE_ALL(task_of, j->next);
  return TRS_SUCCESS;
}

static trs_status copy(trs_threads_job *j, int64_t nparts) {
  const trs_system *S = &j->plan->system;
  if (S->rows) return copy_rows(j, nparts);
  run_shares(j, count_entries);
  TRS_TRY(kernels()->fill_columns[S->scalar](j));
  run_shares(j, complete_share);
  return TRS_SUCCESS;
}

/* Grown with fewer threads if `all` find too few rows at a time.  The first attempt has to end, or
 * the system to be large: fewer threads gain little. */
static trs_status grow_by(trs_parts *parts, int *threads, const trs_system *S,
                          const int32_t *length, const trs_grow_limits *limits) {
  enum { LARGE = 200000 };
  trs_parts fewer;
  TRS_TRY(trs_grow_parts(parts, S, length, *threads, limits));
  int few = parts->steps ? 1 + (int)(parts->count * 5 / (parts->steps * 4)) : 1;
  if (few * 2 >= *threads || (parts->given_up && S->nnz < LARGE)) return TRS_SUCCESS;
  trs_status status = trs_grow_parts(&fewer, S, length, few, limits);
  if (!status && !fewer.given_up && (parts->given_up || fewer.span <= parts->span)) {
    trs_parts worse = *parts;
    *parts = fewer;
    *threads = few;
    fewer = worse;
  }
  trs_parts_destroy(&fewer);
  if (status) trs_parts_destroy(parts);
  return status;
}

static trs_status grow(trs_parts *parts, int *threads, const trs_system *S, const int32_t *length,
                       const trs_grow_limits *limits) {
  trs_dependents turned;
  trs_system by_rows = *S;
  if (S->rows) return grow_by(parts, threads, S, length, limits);
  by_rows.rows = true;
  by_rows.lower = !S->lower; /* columns of op(T) are rows of its transpose */
  TRS_TRY(trs_dependents_create(&turned, &by_rows));
  by_rows.lower = S->lower;
  by_rows.has_diagonal = false;
  by_rows.ptr = turned.ptr;
  by_rows.idx = turned.row;
  trs_status status = grow_by(parts, threads, &by_rows, length, limits);
  trs_dependents_destroy(&turned);
  return status;
}

/* Groups of TRS_WIDE right-hand sides pass over the rows of a slice one by one, and are slower for
 * it. */
static bool wants_slices(const trs_plan *plan) {
  return kernels()->lanes[plan->system.scalar] && plan->options.nrhs < TRS_WIDE_LEAST;
}

/* True if the copy, b and x exceed the caches of a few cores. */
static bool exceeds_caches(const trs_system *S) {
  const double value = (double)trs_scalar_size(S->scalar);
  return (4 + value) * (double)S->nnz + (8 + 4 * value) * (double)S->n > cpu->cache_bytes;
}

/* The time of a row in levels, in percent of its time in natural order.  In a level of a grid most
 * rows are in slices.  Few threads are faster in natural order if rows are short and chained, most
 * of all if b and x come from memory.  In the levels of other systems whose rows need neighbours, b
 * and x are scattered and the lengths of rows vary. */
static int level_percent(const trs_plan *plan, bool chained, bool local) {
  enum { SLICED = 60, SCATTERED = 150, MANY_THREADS = 8 };
  const trs_system *S = &plan->system;
  const bool few = chained && plan->context->threads < MANY_THREADS;
  if (few && exceeds_caches(S)) return SCATTERED;
  if (trs_system_regular(S)) return wants_slices(plan) && !few ? SLICED : 100;
  return local ? SCATTERED : 100;
}

/* Rows may wait for values where right-hand sides are solved one by one.  Two threads seldom wait
 * for each other, and lose more by a second x than they gain (docs/experiments/cpu.md). */
static bool may_await(const trs_plan *plan, int threads) {
  enum { LEAST_THREADS = 4 };
  return kernels()->by_values[plan->system.scalar] && threads >= LEAST_THREADS &&
         plan->options.nrhs < TRS_WIDE_LEAST;
}

/* Work that a thread could do during the waits of one step, at most: rows that wait for values take
 * no longer with more threads. */
static double wait_work(const trs_plan *plan, int threads) {
  static const double BY_VALUES = 550;
  const double by_tasks = (double)trs_wait_work(threads);
  return may_await(plan, threads) ? fmin(by_tasks, BY_VALUES) : by_tasks;
}

/* The span of levels, as a multiple of the work of a thread, above which supersteps may be taken:
 * growing them costs several solves, and dozens if rows need distant ones. */
static double least_to_grow(bool local, bool chained, int percent) {
  static const double CHAINED = 0.93, OTHER = 1.25, SLICED = 2, DISTANT = 2;
  if (!local) return DISTANT;
  return chained ? CHAINED : percent < 100 ? SLICED : OTHER;
}

/* The span of supersteps from which on the next best method is faster whatever the share of waits
 * in it; no limit if the caller names this one. */
static int64_t most_span(const trs_plan *plan, int threads, const trs_verdict *verdict) {
  if (!verdict) return INT64_MAX;
  const double most = (verdict->next / (KNOWN * scattering(plan, true)) - cpu->start) / cpu->entry;
  return (int64_t)(most * (double)trs_wait_work(threads) / wait_work(plan, threads));
}

/* Supersteps, or levels if these are as good.  Neighbours stay together in supersteps, which is
 * worth most where short rows need the x of the row before and levels have no slices.  In other
 * systems a level's rows have the advantage that the processor can overlap them, most of all in
 * slices. */
static trs_status choose_parts(trs_parts *parts, int *threads, const trs_plan *plan,
                               const int32_t *length, const trs_verdict *verdict) {
  enum { SHORT = 8 }; /* entries of a row in the mean */
  static const double CHAINED = 1.1, OTHER = 0.8;
  const trs_system *S = &plan->system;
  const bool brief = S->nnz <= SHORT * S->n;
  const bool chains = brief && ((const trs_threads_state *)plan->state)->chained;
  const bool local = trs_system_local(S);
  const int percent = level_percent(plan, chains, local);
  const bool chained = chains && percent >= 100;
  const int all = plan->context->threads;
  const double least = work_of(S) / all;
  const int64_t span = trs_level_span(plan->levels, all, percent);
  const trs_grow_limits limits = {.worth = (int64_t)((chained ? CHAINED : OTHER) * (double)span),
                                  .most = most_span(plan, all, verdict)};
  *threads = all;
  if ((double)span > least_to_grow(local, chained, percent) * least) {
    TRS_TRY(grow(parts, threads, S, length, &limits));
    if (!parts->given_up && parts->span < limits.worth) return TRS_SUCCESS;
    trs_parts_destroy(parts);
  }
  *threads = all;
  TRS_TRY(trs_level_all_parts(parts, plan->levels, length, all));
  parts->span = span;
  return TRS_SUCCESS;
}

/* If the schedule is slower than the next best method, auto takes that, or comes back if that
 * declines. */
static void judge(trs_verdict *verdict, const trs_plan *plan, const trs_parts *parts, int threads) {
  const double saved = (double)trs_wait_work(threads) - wait_work(plan, threads);
  verdict->seconds =
      KNOWN * scattering(plan, parts->natural) *
      (cpu->start + cpu->entry * ((double)parts->span - saved * (double)parts->split_steps));
  verdict->compares = parts->split_steps > 0 && verdict->seconds > verdict->next;
  if (parts->split_steps == 0)
    trs_decline(verdict, "no step has rows for more than one thread");
  else if (verdict->compares)
    trs_decline(verdict, "its %lld steps would take %.2f times as long", (long long)parts->steps,
                verdict->seconds / verdict->next);
}

/* When x may be written, as sets of ways that wait for tasks.  Where rows next to each other are of
 * different steps or threads, x written with each row shares lines that go from thread to thread,
 * and to memory, several times.  In levels of short rows that costs more than one more pass over x;
 * otherwise a trial decides.  One line in APART is looked at. */
static unsigned ways_of_x(const trs_threads_state *s, const trs_system *S, const trs_parts *parts) {
  enum { SHORT = 8, LINE = 8, APART = 16, SCATTERED = 2, SHARED = 1 };
  enum { AT_ONCE = 1 << 0, LAST = 1 << TRS_THREADS_X_LAST };
  const int32_t *position = s->schedule.position;
  int64_t lines = 0, steps = 0, threads = 0;
  for (int64_t i = 0; i + LINE <= S->n; i += APART * LINE, lines++) {
    int thread = thread_at(&s->schedule, position[i]);
    for (int64_t k = i + 1; k < i + LINE; k++) {
      const int before = thread;
      const int64_t apart = (int64_t)position[k] - position[k - 1];
      if (apart == 1 || apart == -1) continue;
      steps++;
      thread = thread_at(&s->schedule, position[k]);
      threads += thread != before;
    }
  }
  if (!parts->natural && S->nnz < SHORT * S->n && steps >= SCATTERED * lines) return LAST;
  return threads >= SHARED * lines && threads > 0 ? AT_ONCE | LAST : AT_ONCE;
}

/* The schedule and the copy of the matrix. */
static trs_status build(trs_plan *plan, trs_parts *parts, int threads, const int32_t *length) {
  trs_threads_state *s = plan->state;
  trs_needs *needs = NULL;
  _Atomic bool *is_read = NULL;
  s->steps = parts->steps;
  s->split_steps = parts->split_steps;
  s->span = parts->span;
  /* In natural order short chained rows find hardly any slice. */
  s->sliced = wants_slices(plan) && !(parts->natural && s->chained);
  trs_status status = trs_schedule_create(&s->schedule, parts, &plan->system, threads);
  if (!status) s->ways = ways_of_x(s, &plan->system, parts);
  trs_free(parts->part); /* the copy needs the part of each row only */
  parts->part = NULL;
  if (!status) status = allocate(plan, s);
  if (!status) status = trs_needs_create(&needs, s->schedule.threads);
  if (!status && may_await(plan, s->schedule.threads))
    status = TRS_ALLOC_ZERO(&is_read, plan->system.n);
  if (!status) {
    trs_threads_job j = {.plan = plan,
                         .state = s,
                         .length = length,
                         .part_of = parts->of,
                         .needs = needs,
                         .is_read = is_read,
                         .alone = plan->system.nnz < trs_schedule_alone};
    status = copy(&j, parts->count);
  }
  trs_parts_destroy(parts);
  if (!status) status = trs_schedule_wait(&s->schedule, needs);
  if (!status && is_read) status = trs_schedule_find_read(&s->schedule, is_read);
  if (!status && s->schedule.read) s->ways |= s->ways << TRS_THREADS_BY_VALUES;
  if (!status) begin_paces(s, plan);
  trs_needs_destroy(needs, s->schedule.threads);
  trs_free(is_read);
  return status;
}

/* By columns serial adds in another order. */
static trs_status analyze_one(trs_plan *plan) {
  trs_threads_state *s = plan->state;
  if (!plan->system.rows) return TRS_SUCCESS;
  TRS_TRY(trs_plan_child(&s->one, plan, &trs_method_serial, 1));
  return trs_plan_analyze_child(s->one, NULL);
}

static trs_status look(trs_plan *plan, trs_verdict *verdict) {
  trs_threads_state *s;
  TRS_TRY(TRS_ALLOC_ZERO(&s, 1));
  plan->state = s;
  (void)trs_thread_own(); /* a solve allocates nothing, not even in a wait */
  TRS_TRY(trs_plan_need_levels(plan));
  s->chained = trs_system_chained(&plan->system);
  TRS_TRY(row_lengths(&s->length, &plan->system));
  TRS_TRY(choose_parts(&s->parts, &s->parts_threads, plan, s->length, verdict));
  if (verdict) judge(verdict, plan, &s->parts, s->parts_threads);
  return TRS_SUCCESS;
}

static void free_look(trs_threads_state *s) {
  trs_parts_destroy(&s->parts);
  trs_free(s->length);
  s->length = NULL;
}

static trs_status analyze(trs_plan *plan) {
  trs_threads_state *s = plan->state;
  TRS_TRY(build(plan, &s->parts, s->parts_threads, s->length));
  free_look(s);
  return analyze_one(plan);
}

static trs_status update(trs_plan *plan) {
  const trs_system *S = &plan->system;
  trs_threads_state *s = plan->state;
  trs_threads_job j = {.plan = plan, .state = s};
  s->unscaled = false;
  if (s->one) TRS_TRY(trs_plan_update_child(s->one, plan));
  if (!S->rows) return kernels()->fill_columns[S->scalar](&j);
  trs_team_run(plan->context->team, s->schedule.threads, fill_share, &j);
  return TRS_SUCCESS;
}

/* ---- A sweep ---- */

/* The shares of the schedule that a share of the team's run has. */
static void shares_of(const trs_threads_job *j, int rank, int *begin, int *end) {
  int64_t first, last;
  trs_share(j->state->schedule.threads, rank, j->members, &first, &last);
  *begin = (int)first;
  *end = (int)last;
}

/* A thread without tasks counts nothing. */
static bool is_complete(const trs_threads_state *s) {
  for (int t = 0; t < s->schedule.threads; t++) {
    const int64_t tasks = s->schedule.task_ptr[t + 1] - s->schedule.task_ptr[t];
    const uint64_t goal = (s->solves << 32) + (uint64_t)tasks;
    const uint64_t done = atomic_load_explicit(&s->done[t].value, memory_order_acquire);
    if (tasks > 0 && !trs_counter_reached(done, goal)) return false;
  }
  return true;
}

/* Goes on with all shares that a thread holds: COMPLETE if all are. */
static trs_threads_advance advance_all(const trs_threads_job *j, const short *held, int count,
                                       int steps) {
  const trs_scalar scalar = j->plan->system.scalar;
  bool advanced = false, complete = true;
  int begin, end;
  for (int h = 0; h < count; h++) {
    shares_of(j, held[h], &begin, &end);
    for (int rank = begin; rank < end; rank++) {
      const trs_threads_advance how = kernels()->advance[scalar](j, rank, steps);
      advanced |= how == TRS_THREADS_ADVANCED;
      complete &= how == TRS_THREADS_COMPLETE;
    }
  }
  return complete ? TRS_THREADS_COMPLETE : advanced ? TRS_THREADS_ADVANCED : TRS_THREADS_BLOCKED;
}

static void begin_share(const trs_threads_job *j, int share) {
  int begin, end;
  shares_of(j, share, &begin, &end);
  for (int rank = begin; rank < end; rank++) kernels()->begin[j->plan->system.scalar](j, rank);
}

/* A share that nobody has begun is worth taking once it is as late as it takes: its member may be
 * about to begin, and a thread that holds several shares does them one after the other.  Members
 * wake before a long share is worth it. */
static bool is_worth_taking(const trs_threads_job *j, int held) {
  static const double LONG = 200e-6;
  return j->share < LONG && trs_seconds() - j->start > held * j->share;
}

/* A thread completes its share of the run.  Where rows have to wait for long it also takes shares
 * that nobody has begun, since it may wait for these, and goes on with all of them in turn. */
static void sweep_share(void *argument, int rank, int size) {
  const trs_threads_job *j = argument;
  const trs_scalar scalar = j->plan->system.scalar;
  trs_team *team = j->plan->context->team;
  enum { SOON = 16 }; /* steps of a wait before the next one, once a share was not begun */
  short held[TRS_MOST_THREADS];
  const int patient = j->members > 1 ? TRS_WAIT_SPINS : 0;
  int count = 1, steps = patient, begin, end;
  trs_patience wait = {0};
  (void)size;
  held[0] = (short)rank;
  begin_share(j, rank);
  for (;;) {
    const trs_threads_advance how = advance_all(j, held, count, steps);
    if (how == TRS_THREADS_COMPLETE && (!j->x_last || is_complete(j->state))) break;
    if (how == TRS_THREADS_ADVANCED) wait = (trs_patience){0};
    if (how != TRS_THREADS_COMPLETE && steps) wait.turns = TRS_WAIT_SPINS;
    const bool long_enough = wait.turns >= (count > 1 ? SOON : TRS_WAIT_SPINS);
    const int taken = long_enough && is_worth_taking(j, count) ? trs_team_take(team) : -1;
    if (taken >= 0) {
      begin_share(j, taken);
      held[count++] = (short)taken;
    } else if (how != TRS_THREADS_ADVANCED) {
      trs_wait_turn(&wait);
    }
    steps = count == 1 && how == TRS_THREADS_ADVANCED ? patient : 0;
  }
  for (int h = 0; h < count && j->x_last; h++) {
    shares_of(j, held[h], &begin, &end);
    for (int t = begin; t < end; t++) kernels()->write_x[scalar](j, t);
  }
  for (int h = 1; h < count; h++) trs_team_end(team, held[h]);
}

/* ---- Ways ---- */

static bool waits_for_values(int way) {
  return way < TRS_THREADS_HALF && way & TRS_THREADS_BY_VALUES;
}

/* Solves of several right-hand sides use the workspace, too.  Where they come in between, no solve
 * finds a part that is erased, and erases one in vain: the plan then does without values. */
static void note_missed(trs_threads_state *s, bool missed) {
  enum { MOST_MISSED = 8 };
  s->missed = missed ? s->missed + 1 : 0;
  for (int way = 0; way < TRS_THREADS_HALF && s->missed >= MOST_MISSED; way++)
    if (waits_for_values(way)) trs_pace_drop(&s->pace[TRS_THREADS_DIRECT], way);
}

/* A solve by values needs a part of the workspace that is erased: each such solve erases the part
 * of the next one.  If none is, a solve by tasks erases it.  False if that is not what the way
 * asks. */
static bool prepare(trs_threads_job *j, int way) {
  const trs_threads_state *s = j->state;
  const bool all = way < TRS_THREADS_HALF, values = waits_for_values(way);
  j->members = s->pace[j->kind].way[way].members;
  j->x_last = j->kind == TRS_THREADS_DIRECT && way != TRS_THREADS_ALONE &&
              (all ? way : __builtin_ctz(s->ways)) & TRS_THREADS_X_LAST;
  j->by_values = values && s->erased;
  j->erases = values;
  return values == j->by_values;
}

/* Of TRS_WIDE right-hand sides serial has sums of its own. */
static bool is_serial(const trs_threads_job *j, int way) {
  return way == TRS_THREADS_ALONE && j->kind != TRS_THREADS_OF_WIDE && j->state->one;
}

static void solve_serially(const trs_threads_job *j) {
  const trs_rhs column = trs_rhs_columns(j->rhs, j->plan->system.scalar, j->column, 1);
  (void)trs_method_serial.solve(j->state->one, &column); /* never fails */
}

/* Members end together as a rule, so that a share takes about the time of the run. */
static double seconds_of_share(const trs_threads_job *j, const trs_pace_way *way) {
  static const double FROM_MEMORY = 3; /* times as long as with data in cache */
  const double least = cpu->entry * work_of(&j->plan->system) * j->width / j->members;
  return fmax(FROM_MEMORY * least, way->cost);
}

/* One tile.  The bits are those of any way. */
static void sweep_tile(trs_threads_job *j) {
  trs_threads_state *s = j->state;
  trs_pace *pace = &s->pace[j->kind];
  const int way = trs_pace_next(pace);
  const bool as_asked = prepare(j, way);
  const bool erased = j->erases || (s->erased && j->width == 1);
  j->start = trs_seconds();
  j->share = seconds_of_share(j, &pace->way[way]);
  s->solves++;
  s->erased = false; /* in a child that is forked meanwhile */
  if (is_serial(j, way))
    solve_serially(j);
  else
    trs_team_run(j->plan->context->team, j->members, sweep_share, j);
  s->erased = erased;
  s->turn ^= j->by_values;
  if (s->schedule.threads == 1) return;
  const double end = trs_seconds();
  if (as_asked) trs_pace_ran(pace, way, end - j->start, end);
  if (waits_for_values(way)) note_missed(s, !as_asked);
}

static int kind_of(const trs_threads_job *j) {
  return j->width > 1            ? TRS_THREADS_OF_WIDE
         : trs_threads_direct(j) ? TRS_THREADS_DIRECT
                                 : TRS_THREADS_MOVED;
}

static trs_status solve(trs_plan *plan, const trs_rhs *rhs) {
  trs_threads_state *s = plan->state;
  trs_threads_job j = {.plan = plan, .state = s, .rhs = rhs};
  const bool brief = trs_wide_brief(&plan->system);
  for (; j.column < rhs->nrhs; j.column += j.width) {
    j.width = trs_wide_next(rhs->nrhs - j.column, brief);
    j.kind = kind_of(&j);
    sweep_tile(&j);
  }
  return TRS_SUCCESS;
}

static int most_threads(const trs_plan *plan) {
  return ((const trs_threads_state *)plan->state)->schedule.threads;
}

static int64_t bytes(const trs_plan *plan) {
  const trs_threads_state *s = plan->state;
  const trs_schedule *order = &s->schedule;
  if (plan->origin) return TRS_HELD(s, s->work, s->done, s->place);
  return TRS_HELD(s, s->count, s->idx, s->val, s->inverse, s->work, s->done, s->place) +
         TRS_HELD(order->row, order->position, order->first, order->entries, order->task_ptr,
                  order->tasks, order->waits, order->read, order->read_ptr);
}

static void describe(const trs_plan *plan, char *text, size_t size) {
  const trs_threads_state *s = plan->state;
  const long long tasks = s->schedule.task_ptr[s->schedule.threads];
  snprintf(text, size, "%d levels, %lld steps, %lld split over %d threads, %lld task%s, %lld waits",
           plan->levels->count, (long long)s->steps, (long long)s->split_steps, s->schedule.threads,
           tasks, tasks == 1 ? "" : "s", (long long)s->schedule.nwaits);
  const int way = s->pace[TRS_THREADS_DIRECT].best;
  const size_t used = strlen(text);
  if (used < size && way < TRS_THREADS_HALF)
    snprintf(text + used, size - used, "%s%s",
             waits_for_values(way) ? "; rows wait for x itself, not for tasks" : "",
             way & TRS_THREADS_X_LAST ? "; x is written behind all rows" : "");
  for (int kind = 0; kind < TRS_THREADS_PACES; kind++)
    if (kind == TRS_THREADS_DIRECT || s->pace[kind].fewer)
      trs_pace_describe(&s->pace[kind], text, size);
}

static void free_state(trs_plan *plan) {
  trs_threads_state *s = plan->state;
  if (!s) return;
  free_look(s);
  trs_plan_destroy(s->one);
  if (!plan->origin) {
    trs_schedule_destroy(&s->schedule);
    TRS_FREE_ALL(s->count, s->idx, s->val, s->inverse);
  }
  TRS_FREE_ALL(s->work, s->done, s->place, s);
}

const trs_method trs_method_threads = {
    TRS_CPU_METHOD("threads", threads, 8),
    .refuses = trs_host_refuses,
    .look = look,
    .threads = most_threads,
    .clone = clone,
};
