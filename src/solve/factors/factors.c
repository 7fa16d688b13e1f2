/* factors.c - op(A) x = b by two sweeps.  With L U = P_r D_r A D_c P_c^T:
 *
 *     A x = b      y = P_r D_r b,  L w = y,    U z = w,    x = D_c P_c^T z
 *     A^T x = b    y = P_c D_c b,  U^T w = y,  L^T z = w,  x = D_r P_r^T z     (A^H likewise)
 *
 * Here both sweeps run in host memory.  If both run on a GPU, they do so in its memory
 * (solve/cuda/move.c).  O((nnz(L) + nnz(U)) nrhs). */
#include "solve/factors/factors.h"

#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/timer.h"
#include "factor/bilu0.h"
#include "plan/choice.h"
#include "plan/mover.h"

enum { TILE = 8 }; /* right-hand sides in the workspace at a time */

/* ---- Sweeps on the host.  The first sweep reads b in its order, the second one writes x in its
 * order.  Between them the vectors lie in a workspace of n x TILE values, row-major; one right-hand
 * side uses the first n.  Without permutations and scalings they lie in x, unless the plan expects
 * several right-hand sides: these must be adjacent between the sweeps. ---- */

static trs_status create_room(trs_plan *plan) {
  trs_two_sweeps *state = plan->state;
  if (!trs_reorders(&state->in) && !trs_reorders(&state->out) && plan->options.nrhs <= 1)
    return TRS_SUCCESS;
  return trs_alloc(&state->room, plan->system.n * TILE, trs_scalar_size(plan->system.scalar));
}

static trs_status solve_in_x(trs_plan *plan, const trs_rhs *rhs) {
  trs_rhs again = *rhs;
  again.b = rhs->x;
  again.b_row = rhs->x_row;
  again.b_col = rhs->x_col;
  TRS_TRY(trs_plan_solve(plan->sweep[0], rhs));
  return trs_plan_solve(plan->sweep[1], &again);
}

static trs_status solve_tile(trs_plan *plan, const trs_rhs *tile) {
  const trs_two_sweeps *state = plan->state;
  trs_rhs first = *tile, second = *tile;
  first.b_order = state->in;
  second.x_order = state->out;
  first.x = state->room;
  second.b = state->room;
  first.x_row = second.b_row = tile->nrhs;
  first.x_col = second.b_col = 1;
  second.spare_b = true;
  TRS_TRY(trs_plan_solve(plan->sweep[0], &first));
  return trs_plan_solve(plan->sweep[1], &second);
}

static trs_status solve_on_host(trs_plan *plan, const trs_rhs *rhs) {
  const trs_two_sweeps *state = plan->state;
  bool reordered = trs_reorders(&state->in) || trs_reorders(&state->out);
  if (!state->room || (!reordered && (rhs->nrhs == 1 || rhs->x_col == 1)))
    return solve_in_x(plan, rhs);
  for (int64_t r = 0; r < rhs->nrhs; r += TILE) {
    trs_rhs tile = trs_rhs_columns(rhs, plan->system.scalar, r, TILE);
    TRS_TRY(solve_tile(plan, &tile));
  }
  return TRS_SUCCESS;
}

static int64_t room_bytes(const trs_plan *plan) {
  if (!((const trs_two_sweeps *)plan->state)->room) return 0;
  return plan->system.n * TILE * (int64_t)trs_scalar_size(plan->system.scalar);
}

static void free_room(trs_plan *plan) { trs_free(((trs_two_sweeps *)plan->state)->room); }

static const trs_mover host_mover = {
    .create = create_room,
    .solve = solve_on_host,
    .bytes = room_bytes,
    .free = free_room,
};

/* ---- The plan ---- */

static trs_status solve(trs_plan *plan, const trs_rhs *rhs) {
  const trs_two_sweeps *state = plan->state;
  TRS_TRY(trs_factors_check(state->F)); /* the sweeps may read their values in place */
  return state->mover->solve(plan, rhs);
}

/* The sweeps are cloned. */
static trs_status clone(trs_plan *plan) {
  const trs_two_sweeps *origin = plan->origin->state;
  trs_two_sweeps *state;
  TRS_TRY(TRS_ALLOC_ZERO(&state, 1));
  plan->state = state;
  *state = *origin;
  state->room = NULL;
  state->F = trs_factors_retain(origin->F);
  return state->mover->create(plan);
}

static int threads(const trs_plan *plan) {
  int first = trs_plan_threads(plan->sweep[0]), second = trs_plan_threads(plan->sweep[1]);
  return first > second ? first : second;
}

static int64_t bytes(const trs_plan *plan) {
  int64_t total = ((const trs_two_sweeps *)plan->state)->mover->bytes(plan);
  for (int s = 0; s < 2; s++) total += trs_plan_bytes(plan->sweep[s]);
  return total;
}

static void describe(const trs_plan *plan, char *text, size_t size) {
  bool plain = plan->trans == TRS_NO_TRANS;
  snprintf(text, size, "two sweeps, %s by %s then %s by %s", plain ? "L" : "op(U)",
           plan->sweep[0]->method->name, plain ? "U" : "op(L)", plan->sweep[1]->method->name);
}

static void free_state(trs_plan *plan) {
  trs_two_sweeps *state = plan->state;
  if (!state) return;
  if (state->mover) state->mover->free(plan);
  trs_factors_destroy(state->F);
  trs_free(state);
}

static const trs_method sweeps = {
    .name = "factors",
    .backend = &trs_backend_serial,
    .solve = solve,
    .threads = threads,
    .bytes = bytes,
    .describe = describe,
    .free = free_state,
    .clone = clone,
};

const trs_factors *trs_plan_factors(const trs_plan *plan) {
  return plan->kind == TRS_OF_FACTORS ? ((const trs_two_sweeps *)plan->state)->F : NULL;
}

/* Another method than auto's. */
static bool is_named(const trs_options *options) {
  return options && options->method && strcmp(options->method, "auto") != 0;
}

/* The plan of the sweep over L or U. */
static trs_status make_sweep(trs_plan *plan, int lower, const trs_options *options) {
  const trs_two_sweeps *state = plan->state;
  const trs_factors *F = state->F;
  int place = lower == (plan->trans == TRS_NO_TRANS) ? 0 : 1;
  return (state->on_cpu ? trs_plan_create_on_cpu : trs_plan_create)(
      &plan->sweep[place], plan->context, lower ? F->L : F->U, lower ? TRS_LOWER : TRS_UPPER,
      plan->trans, lower ? F->diag_L : F->diag_U, options);
}

static bool on_gpu(const trs_plan *sweep) { return sweep->method->backend->gpu; }

/* If auto chose the GPU for only one sweep, the other one moves there too: copying right-hand sides
 * between the sweeps would cost more than the CPU can gain. */
static trs_status join_sweeps(trs_plan *plan, const trs_options *options) {
  bool first = on_gpu(plan->sweep[0]), second = on_gpu(plan->sweep[1]);
  if (first == second) return TRS_SUCCESS;
  trs_options same = options ? *options : (trs_options){0};
  same.method = plan->sweep[first ? 0 : 1]->method->name;
  int other = first ? 1 : 0;
  bool lower = (other == 0) == (plan->trans == TRS_NO_TRANS);
  trs_plan_destroy(plan->sweep[other]);
  plan->sweep[other] = NULL;
  TRS_TRY(make_sweep(plan, lower, &same));
  snprintf(plan->sweep[other]->reason, sizeof plan->sweep[other]->reason,
           "on the GPU because the other sweep is");
  return TRS_SUCCESS;
}

/* If one of the sweeps keeps its values because they do not fit the narrower type, the other one
 * does so too: it would round what lies between both, which is as large or small. */
static trs_status join_stores(trs_plan *plan, const trs_options *options) {
  const bool first = trs_plan_store(plan->sweep[0]), second = trs_plan_store(plan->sweep[1]);
  if (first == second || on_gpu(plan->sweep[0])) return TRS_SUCCESS;
  trs_options same = *options;
  same.store = TRS_STORE_DEFAULT;
  const int other = first ? 0 : 1;
  trs_plan_destroy(plan->sweep[other]);
  plan->sweep[other] = NULL;
  TRS_TRY(make_sweep(plan, (other == 0) == (plan->trans == TRS_NO_TRANS), &same));
  trs_plan *made = plan->sweep[other];
  const size_t used = strlen(made->reason);
  snprintf(made->reason + used, sizeof made->reason - used,
           "; its values keep their type because the other sweep's do");
  return TRS_SUCCESS;
}

static void make_reason(trs_plan *plan) {
  if (strcmp(plan->sweep[0]->reason, plan->sweep[1]->reason) == 0)
    snprintf(plan->reason, sizeof plan->reason, "%s", plan->sweep[0]->reason);
  else
    snprintf(plan->reason, sizeof plan->reason, "first sweep %.240s; second %.240s",
             plan->sweep[0]->reason, plan->sweep[1]->reason);
}

static const trs_mover *mover_for(const trs_plan *plan) {
  return on_gpu(plan->sweep[0]) ? TRS_GPU_PART(trs_mover_cuda) : &host_mover;
}

static trs_status make_sweeps(trs_plan *plan, const trs_options *options) {
  trs_two_sweeps *state = plan->state;
  TRS_TRY(make_sweep(plan, 1, options));
  TRS_TRY(make_sweep(plan, 0, options));
  TRS_TRY(join_sweeps(plan, options));
  TRS_TRY(join_stores(plan, options));
  make_reason(plan);
  state->mover = mover_for(plan);
  int before = trs_plan_enter(plan);
  trs_status status = state->mover->create(plan);
  trs_plan_leave(plan, before);
  return status;
}

/* True if auto chose a GPU for at least one sweep. */
static bool chose_gpu(const trs_plan *plan, const trs_options *options) {
  const trs_factors *F = ((const trs_two_sweeps *)plan->state)->F;
  if (is_named(options) || !plan->context->backend->finds_gpu || F->L->on_device) return false;
  return (plan->sweep[0] && on_gpu(plan->sweep[0])) || (plan->sweep[1] && on_gpu(plan->sweep[1]));
}

/* If the GPU has no memory for both sweeps and the workspace, both run on the CPU. */
static trs_status fall_back(trs_plan *plan, const trs_options *options) {
  trs_two_sweeps *state = plan->state;
  char why[128];
  snprintf(why, sizeof why, "%s", trs_last_error()->message);
  int before = trs_plan_enter(plan);
  if (state->mover) state->mover->free(plan);
  trs_plan_leave(plan, before);
  state->mover = NULL;
  state->room = NULL;
  for (int s = 0; s < 2; s++) {
    trs_plan_destroy(plan->sweep[s]);
    plan->sweep[s] = NULL;
  }
  state->on_cpu = true;
  TRS_TRY(make_sweeps(plan, options));
  size_t used = strlen(plan->reason);
  snprintf(plan->reason + used, sizeof plan->reason - used, "; not the GPU: %s", why);
  return TRS_SUCCESS;
}

/* Whether both sweeps may solve with the blocks of block factors, as the method blocks does on a
 * CPU. */
static bool takes_blocks(const trs_plan *plan, const trs_factors *F) {
  const trs_bilu0 *w = trs_bilu0_of(F->L);
  const trs_options *o = &plan->options;
  const bool named = o->method && strcmp(o->method, "auto") != 0;
  if (!w || plan->trans != TRS_NO_TRANS || o->tune || o->launch_updates) return false;
  if (named ? strcmp(o->method, "blocks") != 0 : w->block == 1) return false;
  return !plan->context->backend->gpu && !trs_plan_finds_gpu(plan->context, F->n + F->L->nnz);
}

/* Fails if values do not fit the store. */
static trs_status make_block_sweeps(trs_plan *plan, const trs_factors *F) {
  trs_two_sweeps *state = plan->state;
  trs_status status =
      trs_plan_create_by_blocks(&plan->sweep[0], plan->context, F->L, TRS_LOWER, &plan->options);
  if (!status)
    status =
        trs_plan_create_by_blocks(&plan->sweep[1], plan->context, F->U, TRS_UPPER, &plan->options);
  const trs_row_order before = state->in;
  state->in = state->out; /* D has the exchanges of its rows */
  if (!status) status = host_mover.create(plan);
  if (!status) {
    state->mover = &host_mover;
    make_reason(plan);
    return TRS_SUCCESS;
  }
  state->in = before;
  for (int s = 0; s < 2; s++) {
    trs_plan_destroy(plan->sweep[s]);
    plan->sweep[s] = NULL;
  }
  return status;
}

static trs_status build(trs_plan *plan, const trs_factors *F, const trs_options *options) {
  trs_two_sweeps *state;
  TRS_TRY(TRS_ALLOC_ZERO(&state, 1));
  plan->state = state;
  state->F = trs_factors_retain(F);
  state->named = is_named(options);
  bool plain = plan->trans == TRS_NO_TRANS;
  const trs_row_order of_rows = {F->row_perm, F->row_scale},
                      of_columns = {F->col_perm, F->col_scale};
  state->in = plain ? of_rows : of_columns;
  state->out = plain ? of_columns : of_rows;
  if (takes_blocks(plan, F)) {
    const trs_status by_blocks = make_block_sweeps(plan, F);
    if (by_blocks != TRS_ERROR_UNSUPPORTED && by_blocks != TRS_ERROR_MEMORY) return by_blocks;
  }
  trs_status status = make_sweeps(plan, options);
  return status == TRS_ERROR_MEMORY && chose_gpu(plan, options) ? fall_back(plan, options) : status;
}

trs_status trs_factors_plan_create(trs_plan **result, trs_context *context, const trs_factors *F,
                                   trs_trans trans, const trs_options *options) {
  double start = trs_seconds();
  trs_failure before; /* as in trs_plan_create */
  trs_plan *plan;
  *result = NULL;
  trs_failure_get(&before);
  TRS_TRY(trs_context_check(context));
  TRS_TRY(TRS_ALLOC_ZERO(&plan, 1));
  plan->context = trs_context_retain(context);
  plan->kind = TRS_OF_FACTORS;
  plan->method = &sweeps;
  plan->trans = trans;
  if (options) plan->options = *options;
  plan->stream = plan->options.stream;
  plan->system = (trs_system){.n = F->n, .nnz = F->L->nnz + F->U->nnz, .scalar = F->scalar};
  trs_status status = build(plan, F, options);
  plan->options.method = NULL; /* the caller may free its string after the call */
  if (status) {
    trs_plan_destroy(plan);
    return status;
  }
  trs_failure_set(&before);
  plan->analysis_seconds = trs_seconds() - start;
  *result = plan;
  return TRS_SUCCESS;
}

trs_status trs_factors_plan_use(trs_plan *plan, const char *method) {
  trs_plan *old[] = {plan->sweep[0], plan->sweep[1]};
  trs_options options = plan->options;
  options.method = method;
  if (((const trs_two_sweeps *)plan->state)->named || plan->trans != TRS_NO_TRANS)
    return TRS_SUCCESS;
  plan->sweep[0] = plan->sweep[1] = NULL;
  trs_status status = make_sweep(plan, 1, &options);
  if (!status) status = make_sweep(plan, 0, &options);
  const bool taken = !status && on_gpu(plan->sweep[0]) == on_gpu(old[0]);
  for (int s = 0; s < 2; s++) {
    trs_plan_destroy(taken ? old[s] : plan->sweep[s]);
    if (!taken) plan->sweep[s] = old[s];
  }
  if (taken) make_reason(plan);
  return status;
}

/* The GPU that holds refactored L and U solves with them. */
static trs_status check_place(const trs_plan *plan, const trs_factors *F) {
  const bool there =
      on_gpu(plan->sweep[0]) && !plan->context->group && plan->context->device == F->L->device;
  if (!F->L->on_device || there) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "L and U are in the memory of a GPU, where they were refactored, and this plan "
                  "does not solve there: analyse the factors in a context of that GPU");
}

trs_status trs_factors_plan_refresh(trs_plan *plan, const trs_factors *F) {
  double start = trs_seconds();
  const trs_two_sweeps *state = plan->state;
  int lower = plan->trans == TRS_NO_TRANS ? 0 : 1;
  if (F != state->F)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "the plan was made for other factors: update those, or analyse these");
  TRS_TRY(trs_factors_check(F));
  TRS_TRY(check_place(plan, F));
  TRS_TRY(trs_plan_refresh(plan->sweep[lower], F->L));
  TRS_TRY(trs_plan_refresh(plan->sweep[1 - lower], F->U));
  plan->update_seconds = trs_seconds() - start;
  return TRS_SUCCESS;
}
