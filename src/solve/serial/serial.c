/* serial.c - one thread, directly from the stored matrix: L17 and X20 Algorithm 1, forward and
 * backward, by rows (each x[i] gathers its inputs) or by columns (each x[j], once known, is
 * scattered to later components).  Users run it, and tests judge every other method by it.
 * O(nnz nrhs); no memory beyond the matrix, except a workspace if the plan expects several
 * right-hand sides. */
#include <stdio.h>

#include "base/machine_model.h"
#include "base/text.h"
#include "solve/serial/kernels.h"

/* Shortest time of a row and of an entry, with data in cache and no row that waits for another
 * (docs/experiments/cpu.md). */
static trs_estimate estimate(const trs_plan *plan) {
  const trs_cpu_costs *cpu = &trs_cpu_generic;
  return (trs_estimate){.seconds = cpu->row * (double)plan->system.n +
                                   cpu->entry * (double)plan->system.nnz};
}

typedef struct serial_state {
  bool chained;       /* short rows that need the x computed just before */
  bool bare;          /* the diagonal is not stored in any row */
  bool ragged;        /* short rows, whose number of entries changes from row to row */
  bool scales;        /* their values allow the loop for chained rows */
  int spaces;         /* workspaces */
  trs_strips *strips; /* values as floats; a clone's are its origin's.  NULL: as stored */
  void *work; /* spaces x n x TRS_WIDE if the plan expects several right-hand sides; else NULL */
} serial_state;

static trs_status update(trs_plan *plan) {
  serial_state *state = plan->state;
  const trs_system *S = &plan->system;
  if (state->strips) return trs_strips_fill(state->strips, S, plan->context->team);
  state->scales = state->chained && (S->unit || trs_system_scales(S, plan->context->team));
  return TRS_SUCCESS;
}

/* Rows of doubles that one right-hand side at a time is expected for.  Plans within plans keep
 * values: others solve the same system beside them, with the same bits. */
static bool takes_floats(const trs_plan *plan) {
  const trs_system *S = &plan->system;
  return trs_store_mixed(plan) && S->scalar == TRS_DOUBLE && S->rows && S->n > 0 &&
         plan->options.nrhs <= 1 && plan->spaces <= 1 && !plan->root;
}

/* Of fewer rows a processor remembers where each one ends, from sweep to sweep. */
enum { MANY_ROWS = 16000 };

static trs_status analyze(trs_plan *plan) {
  serial_state *state;
  TRS_TRY(TRS_ALLOC_ZERO(&state, 1));
  plan->state = state;
  const trs_system *S = &plan->system;
  state->chained = S->rows && trs_system_chained(S);
  state->bare = S->unit && plan->matrix->ndiagonal == 0;
  state->ragged = S->rows && S->n >= MANY_ROWS && trs_system_ragged(S);
  if (takes_floats(plan)) TRS_TRY(trs_strips_create(&state->strips, S));
  TRS_TRY(update(plan));
  if (trs_wide_next(plan->options.nrhs, trs_wide_brief(S)) == 1) return TRS_SUCCESS;
  state->spaces = plan->spaces > 1 ? plan->spaces : 1;
  return trs_alloc(&state->work, state->spaces * S->n * TRS_WIDE, trs_scalar_size(S->scalar));
}

static trs_status clone(trs_plan *plan) {
  const serial_state *origin = plan->origin->state;
  const trs_system *S = &plan->system;
  serial_state *state;
  TRS_TRY(TRS_ALLOC_ZERO(&state, 1));
  plan->state = state;
  state->chained = origin->chained;
  state->bare = origin->bare;
  state->ragged = origin->ragged;
  state->scales = origin->scales;
  state->strips = origin->strips;
  if (!origin->work) return TRS_SUCCESS;
  state->spaces = origin->spaces;
  return trs_alloc(&state->work, state->spaces * S->n * TRS_WIDE, trs_scalar_size(S->scalar));
}

static int64_t bytes(const trs_plan *plan) {
  const serial_state *state = plan->state;
  const trs_system *S = &plan->system;
  const int64_t strips = state->strips && !plan->origin ? trs_strips_bytes(state->strips) : 0;
  return strips + state->spaces * S->n * TRS_WIDE * (int64_t)trs_scalar_size(S->scalar);
}

static trs_store store(const trs_plan *plan) {
  const serial_state *state = plan->state;
  return state && state->strips ? TRS_STORE_MIXED : TRS_STORE_DEFAULT;
}

static const char *at(const trs_system *S, const void *values, int64_t offset) {
  return (const char *)values + offset * (int64_t)trs_scalar_size(S->scalar);
}

/* The right-hand sides from r on are solved in the caller's x, or in b if it may be overwritten. */
static trs_serial_tile in_place(const trs_system *S, const trs_rhs *R, int64_t r) {
  const char *b = at(S, R->b, r * R->b_col), *x = at(S, R->x, r * R->x_col);
  const bool in_b = R->spare_b, load = !in_b && trs_reorders(&R->b_order);
  return (trs_serial_tile){.r = r,
                           .store = in_b,
                           .load = load,
                           .x = (void *)(in_b ? b : x),
                           .b = load ? x : b,
                           .xs = in_b ? R->b_row : R->x_row,
                           .xc = in_b ? R->b_col : R->x_col,
                           .bs = load ? R->x_row : R->b_row,
                           .bc = load ? R->x_col : R->b_col};
}

/* Adjacent right-hand sides are solved in place, others in the plan's workspace.  Without one, four
 * at a time are. */
static trs_serial_tile next_tile(const trs_plan *plan, const trs_rhs *R, int64_t r, int space) {
  const serial_state *state = plan->state;
  const trs_system *S = &plan->system;
  const int width = trs_wide_next(R->nrhs - r, trs_wide_brief(S));
  trs_serial_tile t = in_place(S, R, r);
  if (width == TRS_WIDE && t.xc == 1 && t.xs >= TRS_WIDE) {
    t.load = t.load || t.x != t.b;
    t.b = t.x;
    t.kind = TRS_SERIAL_WIDE;
  } else if (width > 1 && space < state->spaces) {
    void *work = (char *)at(S, state->work, space * S->n * TRS_WIDE);
    t = (trs_serial_tile){.kind = TRS_SERIAL_WIDE,
                          .r = r,
                          .load = true,
                          .store = true,
                          .x = work,
                          .b = work,
                          .xs = TRS_WIDE,
                          .xc = 1};
  } else if (R->nrhs - r >= 4) {
    t.kind = TRS_SERIAL_FOUR;
    t.width = 4;
    return t;
  } else {
    t.kind = state->scales   ? TRS_SERIAL_CHAINED /* the same for every stride */
             : state->ragged ? TRS_SERIAL_RAGGED
                             : TRS_SERIAL_ONE;
    t.bare = state->bare;
    t.width = 1;
    return t;
  }
  t.width = width;
  return t;
}

static trs_status solve_in(trs_plan *plan, const trs_rhs *rhs, int space) {
  const trs_serial_kernels *kernels = TRS_ISA_OF(trs_serial_kernels, trs_isa_now());
  const trs_system *S = &plan->system;
  const trs_strips *strips = ((const serial_state *)plan->state)->strips;
  for (int64_t r = 0; strips && r < rhs->nrhs; r++) {
    trs_serial_tile tile = in_place(S, rhs, r);
    kernels->strips(strips, rhs, &tile);
  }
  for (int64_t r = 0; !strips && r < rhs->nrhs;) {
    trs_serial_tile tile = next_tile(plan, rhs, r, space);
    kernels->sweep[S->scalar](S, rhs, &tile);
    r += tile.width;
  }
  return TRS_SUCCESS;
}

static trs_status solve(trs_plan *plan, const trs_rhs *rhs) { return solve_in(plan, rhs, 0); }

static void describe(const trs_plan *plan, char *text, size_t size) {
  const trs_system *S = &plan->system;
  const trs_strips *strips = ((const serial_state *)plan->state)->strips;
  char stored[64] = "as stored";
  if (strips)
    trs_print(stored, sizeof stored, "values as floats, %.0f %% of the rows in strips of four",
              100.0 * (double)strips->in_strips / (double)S->n);
  snprintf(text, size, "%s substitution by %s of op(A), %s", S->lower ? "forward" : "backward",
           S->rows ? "rows" : "columns", stored);
}

static void free_state(trs_plan *plan) {
  serial_state *state = plan->state;
  if (!state) return;
  if (!plan->origin) trs_strips_destroy(state->strips);
  TRS_FREE_ALL(state->work, state);
}

const trs_method trs_method_serial = {
    .name = "serial",
    .backend = &trs_backend_serial,
    .refuses = trs_host_refuses,
    .estimate = estimate,
    .solve = solve,
    .solve_in = solve_in,
    .clone = clone,
    .store = store,
    TRS_METHOD_STEPS,
};
