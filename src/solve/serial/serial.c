/* serial.c - one thread, directly from the stored matrix: L17 and X20 Algorithm 1, forward and
 * backward, by rows (each x[i] gathers its inputs) or by columns (each x[j], once known, is
 * scattered to later components).  Users run it, and tests judge every other method by it. O(nnz
 * nrhs); no memory beyond the matrix. */
#include <stdio.h>

#include "solve/serial/kernels.h"

/* Shortest time of a row and of an entry, with data in cache and no row that waits for another
 * (docs/experiments.md). */
static trs_estimate estimate(const trs_plan *plan) {
  static const double ENTRY = 0.35e-9, ROW = 0.9e-9;
  return (trs_estimate){.seconds = ROW * (double)plan->system.n + ENTRY * (double)plan->system.nnz};
}

enum { LONG = 8 }; /* entries per row from which the wait for the previous x no longer matters */

typedef struct serial_state {
  bool chained; /* short rows that need the x computed just before */
} serial_state;

static trs_status analyze(trs_plan *plan) {
  serial_state *state;
  TRS_TRY(TRS_ALLOC(&state, 1));
  const trs_system *S = &plan->system;
  state->chained = S->rows && !S->unit && S->nnz <= LONG * S->n && trs_system_chained(S);
  plan->state = state;
  return TRS_SUCCESS;
}

static trs_status solve(trs_plan *plan, const trs_rhs *rhs) {
  static const trs_serial_kernels *const of_isa[] = TRS_ISA_TABLE(trs_serial_kernels);
  const trs_serial_kernels *kernels = of_isa[trs_isa_now()];
  const trs_system *S = &plan->system;
  if (S->rows)
    kernels->by_rows[S->scalar](S, rhs, ((const serial_state *)plan->state)->chained);
  else
    kernels->by_columns[S->scalar](S, rhs);
  return TRS_SUCCESS;
}

static void describe(const trs_plan *plan, char *text, size_t size) {
  snprintf(text, size, "%s substitution by %s of op(A), as stored",
           plan->system.lower ? "forward" : "backward", plan->system.rows ? "rows" : "columns");
}

static void free_state(trs_plan *plan) { trs_free(plan->state); }

const trs_method trs_method_serial = {
    .name = "serial",
    .backend = &trs_backend_serial,
    .refuses = trs_host_refuses,
    .estimate = estimate,
    .analyze = analyze,
    .solve = solve,
    .describe = describe,
    .free = free_state,
};
