/* subtrees.c - panels by several threads (analysis/subtrees.h): for the factors of a complete
 * factorisation in an order with separators.  By columns each thread solves with its subtrees and
 * adds to a vector of its own for the top; then all threads share the top.  By rows the top comes
 * first.  Right-hand sides are solved one after the other; where that takes longer, by panels on
 * one thread, several at a time.
 *
 * Equal numbers of threads give equal bits.  O(nvalues nrhs) work; the memory of panels, and by
 * columns a vector per thread. */
#include <stdio.h>

#include "base/machine_model.h"
#include "base/pace.h"
#include "base/timer.h"
#include "plan/choice.h"
#include "solve/panels/kernels.h"

typedef struct state {
  trs_plan *one; /* by the method panels */
  double ratio;  /* of the estimated time of a solve to that of `one` */
  trs_subtrees_state s;
  trs_pace pace; /* of all threads, half of them, and one */
} state;

static const char *refuses(const trs_plan *plan) { return trs_method_panels.refuses(plan); }

/* The analysis knows the tree, and declines if it does not pay. */
static trs_estimate estimate(const trs_plan *plan) {
  static const double TOP = 0.2;
  enum { SMALL = 100000 };
  const int threads = plan->context->threads;
  trs_estimate e = trs_method_panels.estimate(plan);
  if (threads < 2 || plan->system.nnz < SMALL)
    return (trs_estimate){.preference = TRS_PREFERENCE_LAST,
                          .because = "so few panels are one thread's"};
  e.seconds = trs_cpu_generic.start + e.seconds * (TOP + (1 - TOP) / threads);
  return e;
}

/* ---- By rows: the pieces of the top's blocks. ---- */

typedef struct pieces {
  trs_subtrees_state *s;
  int32_t *place; /* of each supernode among the top's, or -1 */
  int64_t count, columns;
} pieces;

static void add_pieces(pieces *p, const trs_panel_block *B, int32_t first) {
  enum { ROWS = 32 };
  trs_subtrees_state *s = p->s;
  for (int32_t row = 0; row < B->width; row += ROWS, p->count++)
    if (s->piece)
      s->piece[p->count] = (trs_top_piece){.values = B->values + row,
                                           .column = p->columns,
                                           .ld = B->width,
                                           .rows = B->width - row < ROWS ? B->width - row : ROWS,
                                           .count = B->count,
                                           .place = B->first + row};
  for (int32_t c = 0; s->column && c < B->count; c++)
    s->column[p->columns + c] = s->panels->panels.list[B->list + c] - first;
  p->columns += B->count;
}

/* Counts in the first pass, stores in the second. */
static void visit_top(pieces *p) {
  const trs_panels *P = &p->s->panels->panels;
  int64_t at = 0;
  p->count = p->columns = 0;
  for (int64_t b = 0; b < P->nblocks; b++) {
    const trs_panel_block *B = &P->block[b];
    const int32_t K = P->owner[P->list[B->list]];
    if (p->place[K] < 0) continue;
    for (; at <= p->place[K]; at++) p->s->piece_ptr[at] = p->count;
    if (p->place[B->target] >= 0) add_pieces(p, B, P->panel[K].first);
  }
  for (; at <= p->s->trees.ntop; at++) p->s->piece_ptr[at] = p->count;
}

static trs_status make_pieces(trs_subtrees_state *s) {
  const trs_panels *P = &s->panels->panels;
  pieces p = {.s = s};
  TRS_TRY(TRS_ALLOC_ALL(TRS_ZEROS(&s->piece_ptr, s->trees.ntop + 1), TRS_ROOM(&p.place, P->count)));
  for (int64_t k = 0; k < P->count; k++) p.place[k] = -1;
  for (int64_t at = 0; at < s->trees.ntop; at++) p.place[s->trees.node[at]] = (int32_t)at;
  visit_top(&p);
  trs_status status = TRS_ALLOC_ALL(TRS_ROOM(&s->piece, p.count), TRS_ROOM(&s->column, p.columns));
  if (!status) visit_top(&p);
  trs_free(p.place);
  return status;
}

/* ---- The method. ---- */

static int64_t vectors(const trs_subtrees_state *s) {
  return s->panels->panels.by_rows ? 2 : s->trees.threads + 1;
}

static trs_status allocate_work(trs_subtrees_state *s, const trs_system *S) {
  TRS_TRY(TRS_ALLOC_ZERO(&s->barrier, 1));
  return trs_alloc(&s->work, vectors(s) * (S->n + TRS_PANELS_LINES), trs_scalar_size(S->scalar));
}

static void begin_pace(state *own, const trs_plan *plan) {
  const int all = own->s.trees.threads;
  const int members[TRS_PACE_WAYS] = {all, all > 3 ? all / 2 : 0, all > 1};
  trs_pace_begin(&own->pace, members, trs_method_serial.estimate(plan).seconds);
}

static void judge(trs_verdict *verdict, const state *own) {
  static const double WORTH_IT = 0.85; /* of the time of one thread */
  if (own->ratio >= WORTH_IT)
    trs_decline(verdict, "its %lld subtrees would take %.2f times as long as panels on one thread",
                (long long)own->s.trees.nroots, own->ratio);
}

/* Panels that gain nothing on one thread still have subtrees for several, and their tree is judged
 * once it is known.  On two threads `threads` is about as fast. */
static double bar_of_panels(const trs_plan *plan) {
  enum { MANY = 4 };
  return plan->context->threads >= MANY ? 1 : 0;
}

static trs_status look(trs_plan *plan, trs_verdict *verdict) {
  const trs_panels *P;
  state *own;
  TRS_TRY(TRS_ALLOC_ZERO(&own, 1));
  plan->state = own;
  TRS_TRY(trs_panels_look(&P, plan, bar_of_panels(plan), verdict));
  if (!P) return TRS_SUCCESS;
  TRS_TRY(trs_subtrees_create(&own->s.trees, P, plan->context->threads));
  own->ratio = (trs_cpu_generic.start + own->s.trees.seconds) / trs_panels_seconds(P);
  judge(verdict, own);
  return TRS_SUCCESS;
}

static trs_status analyze(trs_plan *plan) {
  state *own = plan->state;
  trs_subtrees_state *s = &own->s;
  TRS_TRY(trs_plan_child(&own->one, plan, &trs_method_panels, 1));
  TRS_TRY(own->one->method->analyze(own->one));
  s->panels = own->one->state;
  if (s->panels->panels.by_rows) TRS_TRY(make_pieces(s));
  begin_pace(own, plan);
  return allocate_work(s, &plan->system);
}

/* Its panels are those of the child of its origin; its own child has a workspace. */
static trs_status clone(trs_plan *plan) {
  const state *origin = plan->origin->state;
  state *own;
  TRS_TRY(TRS_ALLOC_ZERO(&own, 1));
  plan->state = own;
  own->s = origin->s;
  own->s.work = NULL;
  own->s.barrier = NULL;
  own->ratio = origin->ratio;
  TRS_TRY(trs_plan_create_clone(&own->one, origin->one, plan->stream));
  begin_pace(own, plan);
  return allocate_work(&own->s, &plan->system);
}

static trs_status update(trs_plan *plan) {
  return trs_plan_update_child(((state *)plan->state)->one, plan);
}

static int threads(const trs_plan *plan) { return ((const state *)plan->state)->s.trees.threads; }

typedef struct job {
  const trs_plan *plan;
  const trs_rhs *rhs;
} job;

static void solve_share(void *argument, int rank, int size) {
  const job *j = argument;
  const trs_subtrees_state *s = &((const state *)j->plan->state)->s;
  const trs_scalar scalar = j->plan->system.scalar;
  int64_t begin, end;
  trs_share(s->trees.threads, rank, size, &begin, &end);
  const trs_subtrees_part part = {(int)begin, (int)end, size};
  for (int64_t r = 0; r < j->rhs->nrhs; r++)
    TRS_ISA_OF(trs_panels_kernels, trs_isa_now())->share[scalar](s, j->rhs, r, &part);
}

/* A pass of panels over several right-hand sides takes as long as two over one. */
static bool prefers_one(const state *own, int64_t nrhs) {
  return (double)(2 * ((nrhs + TRS_WIDE - 1) / TRS_WIDE)) < own->ratio * (double)nrhs;
}

static trs_status solve(trs_plan *plan, const trs_rhs *rhs) {
  state *own = plan->state;
  job j = {plan, rhs};
  if (prefers_one(own, rhs->nrhs)) return own->one->method->solve(own->one, rhs);
  const int way = trs_pace_next(&own->pace);
  const double start = trs_seconds();
  trs_team_run(plan->context->team, own->pace.way[way].members, solve_share, &j);
  const double end = trs_seconds();
  if (rhs->nrhs > 0) trs_pace_ran(&own->pace, way, (end - start) / (double)rhs->nrhs, end);
  return TRS_SUCCESS;
}

static int64_t bytes(const trs_plan *plan) {
  const state *own = plan->state;
  const trs_subtrees_state *s = &own->s;
  const int64_t size = (int64_t)trs_scalar_size(plan->system.scalar);
  const int64_t ntop = s->trees.ntop, npieces = s->piece_ptr ? s->piece_ptr[ntop] : 0;
  const int64_t work = size * vectors(s) * plan->system.n + trs_method_panels.bytes(own->one);
  if (plan->origin) return work;
  return work + 4 * s->panels->panels.count + npieces * (int64_t)sizeof *s->piece;
}

static void describe(const trs_plan *plan, char *text, size_t size) {
  const state *own = plan->state;
  const trs_subtrees *T = &own->s.trees;
  int used = snprintf(text, size, "%lld subtrees on %d threads, %lld panels shared; ",
                      (long long)T->nroots, T->threads, (long long)T->ntop);
  if (used > 0 && (size_t)used < size)
    trs_method_panels.describe(own->one, text + used, size - (size_t)used);
  trs_pace_describe(&own->pace, text, size);
}

static void free_state(trs_plan *plan) {
  state *own = plan->state;
  if (!own) return;
  trs_plan_destroy(own->one);
  if (!plan->origin) {
    trs_subtrees_destroy(&own->s.trees);
    TRS_FREE_ALL(own->s.piece, own->s.piece_ptr, own->s.column);
  }
  TRS_FREE_ALL(own->s.work, own->s.barrier, own);
}

const trs_method trs_method_subtrees = {
    TRS_CPU_METHOD("subtrees", threads, 13),
    .look = look,
    .refuses = refuses,
    .threads = threads,
    .clone = clone,
};
