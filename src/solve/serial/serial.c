/* serial.c - one thread, straight from the stored matrix: L17 and X20 Algorithm 1, forward and
 * backward, by rows (each x[i] gathers what it depends on) or by columns (each x[j], once known,
 * is scattered to what depends on it).  Ships, and judges every other method.
 * O(nnz nrhs); no memory beyond the matrix. */
#include <stdio.h>

#include "plan/plan.h"

#define TRS_TEMPLATE "solve/serial/sweep_tmpl.c"
#include "base/instantiate.h"

static void (*const by_rows_of[])(const trs_system *, const trs_rhs *, bool) = TRS_TABLE(by_rows);
static void (*const by_columns_of[])(const trs_system *, const trs_rhs *) = TRS_TABLE(by_columns);

static const char *refuses(const trs_plan *plan) {
  (void)plan;
  return NULL;
}

/* What a row and an entry take at best, data in cache and no row waiting for another
 * (docs/experiments.md). */
static double estimate(const trs_plan *plan) {
  static const double ENTRY = 0.35e-9, ROW = 0.9e-9;
  return ROW * (double)plan->system.n + ENTRY * (double)plan->system.nnz;
}

typedef struct serial_state {
  bool chained; /* rows depend on the row just before them */
} serial_state;

/* Looks at rows spread over the matrix: do nearly all need the x made just before theirs?  In long
 * rows that is not what takes the time. */
static bool is_chained(const trs_system *S) {
  enum { SAMPLES = 1024, LONG = 8 };
  if (!S->rows || S->unit || S->n < 2 || S->nnz > LONG * S->n) return false;
  int64_t adjacent = 0, samples = S->n < SAMPLES ? S->n : SAMPLES;
  for (int64_t k = 0; k < samples; k++) {
    int64_t i = S->n * k / samples, begin, end;
    trs_off_diagonal(S, i, S->lower, true, &begin, &end);
    adjacent += begin < end && S->idx[S->lower ? end - 1 : begin] == (S->lower ? i - 1 : i + 1);
  }
  return adjacent * 100 >= samples * 95;
}

static trs_status analyze(trs_plan *plan) {
  serial_state *state;
  TRS_TRY(TRS_ALLOC(&state, 1));
  state->chained = is_chained(&plan->system);
  plan->state = state;
  return TRS_SUCCESS;
}

static trs_status solve(trs_plan *plan, const trs_rhs *rhs) {
  const trs_system *S = &plan->system;
  if (S->rows)
    by_rows_of[S->scalar](S, rhs, ((const serial_state *)plan->state)->chained);
  else
    by_columns_of[S->scalar](S, rhs);
  return TRS_SUCCESS;
}

static int threads(const trs_plan *plan) {
  (void)plan;
  return 1;
}

static void describe(const trs_plan *plan, char *text, size_t size) {
  snprintf(text, size, "%s substitution by %s of op(A), as stored",
           plan->system.lower ? "forward" : "backward", plan->system.rows ? "rows" : "columns");
}

static void free_state(trs_plan *plan) { trs_free(plan->state); }

const trs_method trs_method_serial = {
    .name = "serial",
    .backend = "serial",
    .summary = "one thread, the matrix as stored (L17, X20: Algorithm 1)",
    .refuses = refuses,
    .estimate = estimate,
    .analyze = analyze,
    .solve = solve,
    .threads = threads,
    .describe = describe,
    .free = free_state,
};
