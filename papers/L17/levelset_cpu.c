/* levelset_cpu.c - level sets on the threads of a CPU, a barrier after each level: the method whose
 * costs L17 breaks down in Table I (2.1.2; Anderson & Saad 1989; Saltz 1990).
 *
 * A level's rows are shared equally among the threads.  Every row is summed in the same order by
 * any thread, so the bits do not depend on the number of threads.  The plan takes the time of its
 * preprocessing (levels, and rows in their order) and, in every solve, of each thread between
 * barriers, its computation; the rest of the solve is synchronisation, the start and end of the
 * threads included.  describe prints those of the last solve.  O(nnz nrhs) work, a barrier per
 * level and tile of right-hand sides. */
#include <complex.h>
#include <stdio.h>

#include "analysis/system.h"
#include "base/barrier.h"
#include "base/timer.h"
#include "plan/plan.h"
#include "plan/wide.h"

/* Seconds that one thread computed in the last solve, in a cache line of its own. */
typedef struct member {
  _Alignas(64) double compute;
} member;

typedef struct levelset {
  trs_host_system host; /* by rows */
  int32_t *order;       /* n: rows, level after level */
  int64_t *begin;       /* levels + 1: the place of each level's first row in order */
  int32_t levels;
  int threads;
  void *work; /* n x width: x of a tile of right-hand sides, in the order of rows */
  int width;
  trs_barrier *barrier;
  member *member;              /* threads */
  double preprocessing, solve; /* seconds; of the last solve, 0: none yet */
} levelset;

typedef struct job {
  levelset *s;
  const trs_rhs *rhs;
  int64_t column; /* the tile's first right-hand side, and their number */
  int width;
} job;

#define TRS_TEMPLATE "plan/rhs_tmpl.c"
#include "base/instantiate.h"
#define TRS_TEMPLATE "L17/levelset_cpu_tmpl.c"
#include "base/instantiate.h"
#include "base/text.h"

typedef void move(const job *j, bool store, int64_t begin, int64_t end);
typedef void solve_rows(const job *j, int64_t begin, int64_t end);

/* ---- Analysis ---- */

/* next: a place per level. */
static void sort_rows(const trs_levels *L, int32_t *order, int64_t *next) {
  for (int32_t l = 0; l < L->count; l++) next[l] = L->ptr[l];
  for (int64_t i = 0; i < L->n; i++) order[next[L->level[i]]++] = (int32_t)i;
}

static trs_status find_levels(levelset *s, trs_plan *plan) {
  int64_t *next = NULL;
  const double start = trs_seconds();
  TRS_TRY(trs_plan_need_levels(plan));
  const trs_levels *L = plan->levels;
  s->levels = L->count;
  TRS_TRY(TRS_ALLOC(&s->begin, L->count + 1));
  for (int32_t l = 0; l <= L->count; l++) s->begin[l] = L->ptr[l];
  TRS_TRY(TRS_ALLOC(&s->order, L->n));
  TRS_TRY(TRS_ALLOC(&next, L->count));
  sort_rows(L, s->order, next);
  trs_free(next);
  s->preprocessing = trs_seconds() - start;
  return TRS_SUCCESS;
}

static trs_status analyze(trs_plan *plan) {
  levelset *s;
  TRS_TRY(TRS_ALLOC_ZERO(&s, 1));
  plan->state = s;
  s->threads = trs_team_size(plan->context->team);
  s->width = plan->options.nrhs > 1 ? TRS_WIDE : 1;
  TRS_TRY(find_levels(s, plan));
  TRS_TRY(TRS_ALLOC_ZERO(&s->barrier, 1));
  TRS_TRY(TRS_ALLOC_ZERO(&s->member, s->threads));
  TRS_TRY(trs_alloc(&s->work, plan->system.n * s->width, trs_scalar_size(plan->system.scalar)));
  return trs_host_system_create(&s->host, &plan->system, plan->matrix, true, true, plan->stream);
}

static trs_status update(trs_plan *plan) {
  levelset *s = plan->state;
  trs_host_system_destroy(&s->host);
  return trs_host_system_create(&s->host, &plan->system, plan->matrix, true, true, plan->stream);
}

/* ---- Solve ---- */

/* *last: when the thread began to compute; set anew behind the barrier. */
static void wait_for_all(levelset *s, member *own, double *last, int size) {
  own->compute += trs_seconds() - *last;
  trs_barrier_wait(s->barrier, size);
  *last = trs_seconds();
}

static void sweep(void *argument, int rank, int size) {
  static move *const moves[] = TRS_TABLE(move_tile);
  static solve_rows *const solves[] = TRS_TABLE(solve_rows);
  double last = trs_seconds();
  const job *j = argument;
  levelset *s = j->s;
  member *own = &s->member[rank];
  const trs_scalar scalar = s->host.S.scalar;
  int64_t begin, end, share, share_end;
  trs_share(s->host.S.n, rank, size, &share, &share_end);
  moves[scalar](j, false, share, share_end);
  for (int32_t l = 0; l < s->levels; l++) {
    wait_for_all(s, own, &last, size);
    trs_share(s->begin[l + 1] - s->begin[l], rank, size, &begin, &end);
    solves[scalar](j, s->begin[l] + begin, s->begin[l] + end);
  }
  wait_for_all(s, own, &last, size);
  moves[scalar](j, true, share, share_end);
  own->compute += trs_seconds() - last;
}

static trs_status solve(trs_plan *plan, const trs_rhs *rhs) {
  levelset *s = plan->state;
  const double start = trs_seconds();
  for (int t = 0; t < s->threads; t++) s->member[t] = (member){0};
  for (job j = {.s = s, .rhs = rhs}; j.column < rhs->nrhs; j.column += j.width) {
    const int64_t left = rhs->nrhs - j.column;
    j.width = left < s->width ? (int)left : s->width;
    trs_team_run(plan->context->team, s->threads, sweep, &j);
  }
  s->solve = trs_seconds() - start;
  return TRS_SUCCESS;
}

/* ---- The method ---- */

static int threads_of(const trs_plan *plan) { return ((const levelset *)plan->state)->threads; }

static int64_t bytes(const trs_plan *plan) {
  const levelset *s = plan->state;
  return TRS_HELD(s, s->order, s->begin, s->work, s->barrier, s->member, s->host.ptr, s->host.idx,
                  s->host.val);
}

/* Means over the threads. */
static void describe(const trs_plan *plan, char *text, size_t size) {
  const levelset *s = plan->state;
  double compute = 0;
  int used = trs_print(
      text, size, "%d level%s, a barrier after each, %d thread%s; preprocessing %.6g ms", s->levels,
      s->levels == 1 ? "" : "s", s->threads, s->threads == 1 ? "" : "s", 1e3 * s->preprocessing);
  for (int t = 0; t < s->threads; t++) compute += s->member[t].compute / s->threads;
  if (s->solve > 0 && used > 0 && (size_t)used < size)
    trs_print(text + used, size - (size_t)used,
              "; last solve: synchronisation %.6g ms, compute %.6g ms", 1e3 * (s->solve - compute),
              1e3 * compute);
}

static void free_state(trs_plan *plan) {
  levelset *s = plan->state;
  if (!s) return;
  trs_host_system_destroy(&s->host);
  TRS_FREE_ALL(s->order, s->begin, s->work, s->barrier, s->member, s);
}

const trs_method trs_method_levelset_cpu = {
    .name = "levelset-cpu",
    .backend = &trs_backend_threads,
    .refuses = trs_host_refuses,
    .analysis_solves = 10,
    .solve = solve,
    .threads = threads_of,
    TRS_METHOD_STEPS,
};
