/* serial.c - one thread, straight from the stored matrix: L17 and X20 Algorithm 1, forward and
 * backward, by rows (each x[i] gathers what it depends on) or by columns (each x[j], once known,
 * is scattered to what depends on it).  Ships, and judges every other method.
 * O(nnz nrhs); no memory beyond the matrix. */
#include <stdio.h>

#include "plan/plan.h"

#define TRS_TEMPLATE "solve/serial/sweep_tmpl.c"
#include "base/instantiate.h"

static void (*const by_rows_of[])(const trs_system *, const trs_rhs *) = TRS_TABLE(by_rows);
static void (*const by_columns_of[])(const trs_system *, const trs_rhs *) = TRS_TABLE(by_columns);

static const char *refuses(const trs_plan *plan) {
  (void)plan;
  return NULL;
}

/* Nanoseconds measured on a 2024 server core (docs/experiments.md): a row costs a loop exit that
 * is hard to predict, an entry a load, a gather and a multiply-add. */
static double estimate(const trs_plan *plan) {
  const trs_system *S = &plan->system;
  return 1e-9 * (3.0 * (double)S->n + 0.9 * (double)S->nnz);
}

static trs_status analyze(trs_plan *plan) {
  (void)plan;
  return TRS_SUCCESS;
}

static trs_status solve(trs_plan *plan, const trs_rhs *rhs) {
  const trs_system *S = &plan->system;
  (S->rows ? by_rows_of : by_columns_of)[S->scalar](S, rhs);
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

static void free_state(trs_plan *plan) { (void)plan; }

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
