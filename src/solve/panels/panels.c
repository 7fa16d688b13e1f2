/* panels.c - one thread, supernodes as dense panels: for the factors of a complete factorisation,
 * and other systems whose rows or columns share their patterns.  A panel has one index per row
 * instead of one per entry, and its products run in vector registers.
 *
 * L is cut into panels by columns, U by rows: both have the columns of an L.  Complex systems are
 * left to other methods.  O(nvalues nrhs); a copy of the system with the zeros that complete its
 * panels.  Source of the supernodes: Liu, Ng, Peyton 1993 (analysis/panels.h). */
#include <stdio.h>

#include "base/machine_model.h"
#include "base/text.h"
#include "plan/choice.h"
#include "solve/panels/kernels.h"

/* The choice of supernodes: as many zeros cost less than the supernodes that they save. */
static const trs_panels_options by_columns = {.width = TRS_PANEL_WIDTH, .relax = 20, .few = 4};

static const trs_panels_kernels *kernels(void) {
  return TRS_ISA_OF(trs_panels_kernels, trs_isa_now());
}

static const char *refuses(const trs_plan *plan) {
  if (trs_scalar_is_complex(plan->system.scalar)) return "its panels are real";
  return trs_host_refuses(plan);
}

/* True if vector i + 1 has the pattern of vector i behind the diagonal: one supernode. */
static bool goes_on(const trs_system *S, int64_t i) {
  int64_t begin, end, next, last;
  if (i + 1 >= S->n) return false;
  trs_off_diagonal(S, i, false, S->has_diagonal, &begin, &end);
  trs_off_diagonal(S, i + 1, false, S->has_diagonal, &next, &last);
  return begin < end && S->idx[begin] == i + 1 && last - next == end - begin - 1;
}

/* Of a sample: the share of entries with a neighbour in their vector (a row, or a column if op(T)
 * is stored by them), and that of entries in vectors whose supernode goes on.  Vectors that end
 * with the diagonal lie along supernodes, which the first shows; the others across, and only the
 * second shows it. */
static void dense_shares(const trs_system *S, double *adjacent, double *going_on) {
  enum { SAMPLES = 256 };
  const bool across = !trs_system_prefix(S);
  int64_t entries = 0, beside = 0, along = 0, samples = S->n < SAMPLES ? S->n : SAMPLES;
  for (int64_t k = 0; k < samples; k++) {
    const int64_t i = S->n * k / samples, length = S->ptr[i + 1] - S->ptr[i];
    entries += length;
    for (int64_t p = S->ptr[i] + 1; p < S->ptr[i + 1]; p++)
      beside += S->idx[p] == S->idx[p - 1] + 1;
    if (across && goes_on(S, i)) along += length;
  }
  *adjacent = entries ? (double)beside / (double)entries : 0;
  *going_on = entries ? (double)along / (double)entries : 0;
}

/* Runs of nearly four entries in the mean, or supernodes of three vectors: of systems with fewer,
 * no panels paid. */
static bool is_dense(const trs_system *S) {
  static const double DENSE = 0.73, GOES_ON = 0.67;
  enum { LONG = 10 };
  double adjacent, going_on;
  if (S->nnz < LONG * S->n || S->device) return false;
  dense_shares(S, &adjacent, &going_on);
  return (adjacent >= DENSE || going_on >= GOES_ON) && !trs_system_moved(S, 1);
}

/* Estimates are compared several times in a choice. */
static bool looks_dense(const trs_plan *plan) {
  trs_choice *choice = trs_choice_of(plan);
  if (!choice) return is_dense(&plan->system);
  if (!choice->dense) choice->dense = is_dense(&plan->system) ? 1 : -1;
  return choice->dense > 0;
}

/* Panels take half to two thirds of the time of substitution where they pay; a look finds them, and
 * declines if they do not pay. */
static trs_estimate estimate(const trs_plan *plan) {
  static const double PAYS = 0.7;
  if (looks_dense(plan))
    return (trs_estimate){.seconds = PAYS * trs_method_serial.estimate(plan).seconds};
  return (trs_estimate){.preference = TRS_PREFERENCE_LAST,
                        .because =
                            "adjacent rows seldom have the same pattern, so dense panels "
                            "would not pay"};
}

static trs_panels_source source_of(const trs_system *S) {
  return (trs_panels_source){S->n, S->ptr, S->idx, S->rows, S->lower};
}

static const double FORWARD = 0.8, LARGE = 0.92, BACKWARD = 0.88;

/* A forward sweep over more than the caches hold reads a third fewer bytes in panels. */
static double forward(const trs_plan *plan) {
  const bool large = (double)trs_plan_solve_bytes(plan) > trs_cpu_generic.cache_bytes;
  return large ? LARGE : FORWARD;
}

/* Of the estimated time of substitution; from the last row to the first it takes longer than
 * estimated.  There panels replace it, but no method that auto has not tried yet. */
static double worth_it(const trs_plan *plan, double next, double serial) {
  const bool untried = next < serial && !trs_plan_knows(plan, &trs_method_threads);
  if (untried) return FORWARD;
  return plan->system.lower ? forward(plan) : BACKWARD;
}

static bool are_slow(const trs_panels *P, double bar, const trs_plan *plan, trs_verdict *verdict) {
  const double serial = trs_method_serial.estimate(plan).seconds;
  const double ratio = trs_panels_seconds(P) / serial;
  if (!verdict || ratio < (bar > 0 ? bar : worth_it(plan, verdict->next, serial))) return false;
  return trs_decline(verdict, "its %lld panels would take %.2f times as long", (long long)P->count,
                     ratio);
}

static trs_status allocate_work(trs_panels_state *s, const trs_system *S) {
  return trs_alloc(&s->work, s->spaces * (S->n * TRS_WIDE + TRS_PANELS_LINES),
                   trs_scalar_size(S->scalar));
}

static trs_status allocate(trs_panels_state *s, const trs_system *S) {
  const size_t size = trs_scalar_size(S->scalar);
  const int64_t vector = 4 * TRS_VECTOR_MOST / (int64_t)size; /* read past the last panel */
  TRS_TRY(trs_alloc(&s->values, s->panels.nvalues + vector, size));
  TRS_TRY(allocate_work(s, S));
  for (size_t k = 0; k < (size_t)vector * size; k++)
    ((char *)s->values)[(size_t)s->panels.nvalues * size + k] = 0;
  if (S->lower) return TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC(&s->row, S->n));
  for (int64_t k = 0; k < S->n; k++) s->row[k] = (int32_t)(S->n - 1 - k);
  return TRS_SUCCESS;
}

static trs_status update(trs_plan *plan) {
  trs_panels_state *s = plan->state;
  const trs_system *S = &plan->system;
  trs_panels_source T = source_of(S);
  TRS_TRY(trs_panels_fill(&s->panels, s->values, S->scalar, &T, S->val, S->unit, S->conj));
  kernels()->prepare[S->scalar](s);
  return TRS_SUCCESS;
}

static trs_panels *panels_of(const trs_plan *plan) { return &trs_choice_of(plan)->panels; }

trs_status trs_panels_look(const trs_panels **found, const trs_plan *plan, double bar,
                           trs_verdict *verdict) {
  const trs_system *S = &plan->system;
  trs_panels *P = panels_of(plan);
  trs_panels_source T = source_of(S);
  trs_panels_options options = by_columns;
  options.by_rows = !S->lower;
  if (!P->panel) TRS_TRY(trs_panels_create(P, &T, &options));
  *found = are_slow(P, bar, plan, verdict) ? NULL : P;
  return TRS_SUCCESS;
}

static trs_status analyze(trs_plan *plan) {
  trs_panels_state *s;
  TRS_TRY(TRS_ALLOC_ZERO(&s, 1));
  plan->state = s;
  s->spaces = plan->spaces > 1 ? plan->spaces : 1;
  trs_panels *found = panels_of(plan);
  s->panels = *found;
  *found = (trs_panels){0};
  TRS_TRY(allocate(s, &plan->system));
  return update(plan);
}

/* Supersteps can be faster than the estimate of several threads, which counts levels.  A plan with
 * several workspaces has one thread for each. */
static trs_status look(trs_plan *plan, trs_verdict *verdict) {
  const trs_panels *P;
  TRS_TRY(trs_panels_look(&P, plan, 0, verdict));
  if (!P || !verdict || plan->spaces) return TRS_SUCCESS;
  verdict->compares = true;
  verdict->seconds = trs_panels_seconds(P) / (plan->system.lower ? forward(plan) : BACKWARD);
  snprintf(verdict->why, sizeof verdict->why, "its %lld panels are one thread's",
           (long long)P->count);
  return TRS_SUCCESS;
}

static trs_status clone(trs_plan *plan) {
  trs_panels_state *s;
  TRS_TRY(TRS_ALLOC_ZERO(&s, 1));
  plan->state = s;
  *s = *(const trs_panels_state *)plan->origin->state;
  s->work = NULL;
  return allocate_work(s, &plan->system);
}

static trs_status solve_in(trs_plan *plan, const trs_rhs *rhs, int space) {
  for (int64_t r = 0; r < rhs->nrhs;) {
    int width = trs_wide_next(rhs->nrhs - r, false);
    kernels()->sweep[plan->system.scalar](plan->state, rhs, r, width, space);
    r += width;
  }
  return TRS_SUCCESS;
}

static trs_status solve(trs_plan *plan, const trs_rhs *rhs) { return solve_in(plan, rhs, 0); }

static int64_t bytes(const trs_plan *plan) {
  const trs_panels_state *s = plan->state;
  const trs_panels *P = &s->panels;
  const int64_t size = (int64_t)trs_scalar_size(plan->system.scalar);
  const int64_t work = size * s->spaces * P->n * TRS_WIDE;
  if (plan->origin) return work;
  return work + size * P->nvalues + 4 * (P->nlist + P->nlines + 2 * P->n) +
         P->count * (int64_t)sizeof *P->panel + P->nblocks * (int64_t)sizeof *P->block;
}

static void describe(const trs_plan *plan, char *text, size_t size) {
  const trs_panels *P = &((const trs_panels_state *)plan->state)->panels;
  trs_print(text, size, "%lld panels by %s, up to %d wide, %.0f %% zeros", (long long)P->count,
            P->by_rows ? "rows" : "columns", P->widest,
            P->entries ? 100.0 * (double)P->zeros / (double)(P->entries + P->zeros) : 0);
}

static void free_state(trs_plan *plan) {
  trs_panels_state *s = plan->state;
  if (!s) return;
  if (!plan->origin) {
    trs_panels_destroy(&s->panels);
    TRS_FREE_ALL(s->values, s->row);
  }
  TRS_FREE_ALL(s->work, s);
}

const trs_method trs_method_panels = {
    TRS_CPU_METHOD("panels", serial, 12),
    .refuses = refuses,
    .look = look,
    .solve_in = solve_in,
    .clone = clone,
};
