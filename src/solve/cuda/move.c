/* move.c - both sweeps over a pair of factors on one GPU.  Permutations, scalings and the
 * workspace stay in device memory; only b and x cross the bus. */
#include "device/arena.h"
#include "plan/mover.h"
#include "solve/cuda/gpu.h"
#include "solve/cuda/move.h"

/* Bounds of the right-hand sides in the workspace.  Between them: as many as the plan expects. */
enum { LEAST_TOGETHER = 8, MOST_TOGETHER = 64 };

typedef struct room {
  trs_gpu gpu;
  trs_arena memory;            /* of a clone: `work` alone */
  int32_t *in_perm, *out_perm; /* device memory; NULL: identity */
  double *in_scale, *out_scale;
  void *work; /* n x together, row-major; fewer right-hand sides use the first n x width */
  int64_t together;
} room;

static room *room_of(const trs_plan *plan) { return ((trs_two_sweeps *)plan->state)->room; }

static trs_status upload(room *r, const trs_plan *plan, const void *to, const void *from,
                         size_t size) {
  return from ? trs_arena_upload(&r->memory, to, from, plan->system.n, size) : TRS_SUCCESS;
}

static trs_status upload_orders(room *r, const trs_plan *plan) {
  const trs_two_sweeps *m = plan->state;
  TRS_TRY(upload(r, plan, &r->in_perm, m->in.perm, sizeof *m->in.perm));
  TRS_TRY(upload(r, plan, &r->out_perm, m->out.perm, sizeof *m->out.perm));
  TRS_TRY(upload(r, plan, &r->in_scale, m->in.scale, sizeof *m->in.scale));
  return upload(r, plan, &r->out_scale, m->out.scale, sizeof *m->out.scale);
}

/* Those of a clone are its origin's. */
static trs_status share_orders(room *r, const trs_plan *plan) {
  const room *origin = room_of(plan->origin);
  r->in_perm = origin->in_perm;
  r->out_perm = origin->out_perm;
  r->in_scale = origin->in_scale;
  r->out_scale = origin->out_scale;
  return TRS_SUCCESS;
}

static trs_status fill(room *r, trs_plan *plan) {
  int64_t hint = plan->options.nrhs;
  r->together = hint < LEAST_TOGETHER  ? LEAST_TOGETHER
                : hint > MOST_TOGETHER ? MOST_TOGETHER
                                       : hint;
  TRS_TRY(plan->origin ? share_orders(r, plan) : upload_orders(r, plan));
  return trs_arena_alloc(&r->memory, &r->work, plan->system.n * r->together,
                         trs_scalar_size(plan->system.scalar));
}

/* True if the sweeps read b and write x in the caller's order.  Many right-hand sides are faster
 * row-major. */
static bool sweeps_reorder(const trs_plan *plan, int64_t nrhs) {
  const room *r = room_of(plan);
  return nrhs < LEAST_TOGETHER && plan->sweep[0]->method->reorders &&
         plan->sweep[1]->method->reorders && !r->in_scale && !r->out_scale;
}

static trs_status launch_reordering(trs_plan *plan, const trs_rhs *rhs) {
  const room *r = room_of(plan);
  trs_rhs first = *rhs, second = *rhs;
  first.b_order.perm = r->in_perm;
  second.x_order.perm = r->out_perm;
  first.x = r->work;
  second.b = r->work;
  first.x_row = second.b_row = 1;
  first.x_col = second.b_col = plan->system.n;
  TRS_TRY(trs_plan_solve(plan->sweep[0], &first));
  return trs_plan_solve(plan->sweep[1], &second);
}

static trs_status launch_together(trs_plan *plan, const trs_rhs *rhs, trs_stream stream) {
  const room *r = room_of(plan);
  trs_scalar scalar = plan->system.scalar;
  const int64_t width = rhs->nrhs;
  trs_row_map in = {plan->system.n, width, rhs->b_row, rhs->b_col, r->in_perm, r->in_scale};
  trs_row_map out = {plan->system.n, width, rhs->x_row, rhs->x_col, r->out_perm, r->out_scale};
  trs_rhs inner = {.x = r->work, .b = r->work, .nrhs = width, .located = true, .there = true};
  inner.x_gpu = inner.b_gpu = trs_device_look(r->gpu.device)->ordinal;
  inner.x_row = inner.b_row = width;
  inner.x_col = inner.b_col = 1;
  TRS_TRY(trs_launch_gather(r->work, rhs->b, &in, scalar, stream));
  TRS_TRY(trs_plan_solve(plan->sweep[0], &inner));
  TRS_TRY(trs_plan_solve(plan->sweep[1], &inner));
  return trs_launch_scatter(rhs->x, r->work, &out, scalar, stream);
}

/* Both sweeps use this stream: trs_plan_use_stream sets it in them. */
static trs_status launch(trs_plan *plan, const trs_rhs *rhs, trs_stream stream) {
  int64_t together = room_of(plan)->together;
  for (int64_t first = 0; first < rhs->nrhs; first += together) {
    const trs_rhs columns = trs_rhs_columns(rhs, plan->system.scalar, first, together);
    TRS_TRY(sweeps_reorder(plan, columns.nrhs) ? launch_reordering(plan, &columns)
                                               : launch_together(plan, &columns, stream));
  }
  return TRS_SUCCESS;
}

static trs_status create(trs_plan *plan) {
  room *r;
  TRS_TRY(TRS_ALLOC_ZERO(&r, 1));
  ((trs_two_sweeps *)plan->state)->room = r;
  trs_status status = trs_gpu_open(&r->gpu, plan, launch);
  r->gpu.system = plan->system;
  r->memory = (trs_arena){.device = r->gpu.device, .stream = &plan->stream};
  if (!status) status = fill(r, plan);
  return status;
}

/* If x or b lie in host memory, solve returns after the sweeps, and reports a stall now. */
static trs_status solve(trs_plan *plan, const trs_rhs *rhs) {
  TRS_TRY(trs_gpu_solve_by(plan, &room_of(plan)->gpu, rhs));
  if (rhs->there) return TRS_SUCCESS;
  TRS_TRY(trs_plan_finish(plan->sweep[0]));
  return trs_plan_finish(plan->sweep[1]);
}

static int64_t bytes(const trs_plan *plan) {
  const room *r = room_of(plan);
  return r->memory.bytes + trs_gpu_bytes(&r->gpu);
}

static void free_room(trs_plan *plan) {
  room *r = room_of(plan);
  if (!r) return;
  if (r->gpu.device) {
    trs_arena_free(&r->memory);
    trs_gpu_free(&r->gpu, plan);
  }
  trs_free(r);
}

const trs_mover trs_mover_cuda = {
    .create = create,
    .solve = solve,
    .bytes = bytes,
    .free = free_room,
};
