/* plans.c - solves L^z and U^z of a rank's own supernodes by plans.  If the grid has several ranks,
 * its GPUs (gpus.h) solve the supernodes distributed over them: after the plans in L, before them
 * in U. */
#include "solve/grid3d/plans.h"

#include <stdio.h>
#include <string.h>

#include "base/cancel.h"
#include "base/config.h"
#include "device/shared.h"
#include "plan/timing.h"
#include "solve/grid3d/gpus.h"

/* A plan for one triangle, which solves in place in its rows. */
typedef struct step {
  trs_plan *plan; /* NULL: no rows */
  int64_t first_row;
} step;

typedef struct plans {
  trs_local_solver base;
  trs_plans_options set;
  trs_device *device; /* NULL: the rows stay in the part's memory on the host */
  int nsteps;
  step step[2 + TRS_MOST_HEIGHT]; /* L; then U from the root of the tree down */
  int64_t shared;                 /* rows that several grids share */
  char *rows, *arrived;           /* on the device: rows of another grid */
  char *staged;                   /* pinned: shared rows to send, then those received */
  trs_grid_gpus *gpus;            /* grids of several ranks: their distributed supernodes */
  trs_failure failed;             /* first failure since the last give */
} plans;

static plans *plans_of(const trs_rank_part *p) { return (plans *)p->solver; }

/* false from the first failure on. */
static bool keep(plans *s, trs_status status) {
  if (status && !s->failed.status) trs_failure_get(&s->failed);
  return !s->failed.status;
}

static char *row_at(const trs_rank_part *p, int64_t row) {
  const plans *s = plans_of(p);
  return (s->device ? s->rows : p->base) + row * trs_row_bytes(p);
}

/* ---- Memory. ---- */

static void give_up_room(plans *s) {
  if (s->device) {
    trs_device_free(s->device, s->rows, NULL);
    trs_device_free(s->device, s->arrived, NULL);
    trs_device_free_pinned(s->staged);
  } else {
    trs_free(s->arrived);
  }
  s->rows = s->arrived = s->staged = NULL;
}

static trs_status reserve_on_device(plans *s, const trs_rank_part *p) {
  int64_t row = trs_row_bytes(p);
  TRS_TRY(trs_device_alloc(s->device, (void **)&s->rows, p->rows, (size_t)row, NULL));
  TRS_TRY(trs_device_alloc(s->device, (void **)&s->arrived, s->shared, (size_t)row, NULL));
  if (s->set.mpi_reads_device) return TRS_SUCCESS;
  return trs_device_alloc_pinned((void **)&s->staged, 2 * s->shared * row);
}

static trs_status reserve(trs_rank_part *p) {
  plans *s = plans_of(p);
  give_up_room(s);
  if (!s->device)
    return trs_alloc((void **)&s->arrived, s->shared * trs_row_bytes(p) + TRS_SLACK, 1);
  int before = trs_device_enter(s->device);
  trs_status status = reserve_on_device(s, p);
  trs_device_leave(before);
  if (!status && s->gpus) status = trs_grid_gpus_reserve(s->gpus, p);
  return status;
}

static void leave(trs_rank_part *p, trs_ranks *ranks) {
  if (plans_of(p)->gpus) trs_grid_gpus_leave(plans_of(p)->gpus, ranks);
}

static trs_status meet(trs_rank_part *p, trs_ranks *ranks) {
  plans *s = plans_of(p);
  return s->gpus ? trs_grid_gpus_meet(s->gpus, p, ranks) : TRS_SUCCESS;
}

/* ---- A solve. ---- */

static void copy_rows(plans *s, void *to, const void *from, int64_t bytes) {
  if (!s->device) return;
  TRS_ON_DEVICE(s->device);
  (void)keep(s, trs_device_copy(to, from, bytes, NULL));
  (void)keep(s, trs_device_wait(NULL));
}

static void take(trs_rank_part *p) {
  plans *s = plans_of(p);
  copy_rows(s, s->rows, p->base, p->row_bytes);
  if (s->gpus) (void)keep(s, trs_grid_gpus_take(s->gpus, p));
}

static trs_status give(trs_rank_part *p) {
  plans *s = plans_of(p);
  for (int k = 0; k < s->nsteps; k++)
    if (s->step[k].plan) (void)keep(s, trs_plan_finish(s->step[k].plan));
  if (s->gpus) (void)keep(s, trs_grid_gpus_wait(s->gpus));
  copy_rows(s, p->base, s->rows, p->row_bytes);
  if (s->gpus) (void)keep(s, trs_grid_gpus_give(s->gpus, p));
  trs_failure failed = s->failed;
  s->failed = (trs_failure){0};
  return failed.status ? trs_failure_set(&failed) : TRS_SUCCESS;
}

/* Solves the rank's own supernodes, and those distributed over its grid; on a GPU these calls only
 * launch. */
static void sweep_own(trs_rank_part *p, bool upper) {
  plans *s = plans_of(p);
  for (int k = upper; k < (upper ? s->nsteps : 1); k++) {
    if (!s->step[k].plan || s->failed.status) continue;
    void *x = row_at(p, s->step[k].first_row);
    const trs_rhs rhs = {.x = x,
                         .b = x,
                         .nrhs = p->nrhs,
                         .x_row = p->nrhs,
                         .x_col = 1,
                         .b_row = p->nrhs,
                         .b_col = 1};
    (void)keep(s, trs_plan_solve(s->step[k].plan, &rhs));
  }
}

static void sweep_spread(trs_rank_part *p, bool upper) {
  plans *s = plans_of(p);
  if (s->gpus && !s->failed.status) (void)keep(s, trs_grid_gpus_sweep(s->gpus, p, upper, s->rows));
}

/* Kernels run in order in one stream; give asks for their failures. */
static void sweep_all(trs_rank_part *p, bool upper) {
  plans *s = plans_of(p);
  if (upper) sweep_spread(p, upper);
  sweep_own(p, upper);
  if (!upper) sweep_spread(p, upper);
  if (!s->device) return;
  TRS_ON_DEVICE(s->device);
  (void)keep(s, trs_device_wait(NULL));
}

static void rehearse(trs_rank_part *p, bool upper) {
  plans *s = plans_of(p);
  if (!s->device) return;
  copy_rows(s, p->base, s->rows, p->row_bytes);
  sweep_all(p, upper);
  sweep_all(p, upper);
  take(p);
}

/* Waits for sums that are being sent as well, because the next message of another grid overwrites
 * the previous one. */
static void share(trs_rank_part *p, int64_t rows, const void **out, void **in) {
  plans *s = plans_of(p);
  int64_t bytes = rows * trs_row_bytes(p);
  if (s->gpus) {
    (void)keep(s, trs_grid_gpus_share(s->gpus, p, rows, out, in));
    return;
  }
  *out = row_at(p, p->rows - rows);
  *in = s->arrived;
  if (!s->device) return;
  TRS_ON_DEVICE(s->device);
  if (s->staged) {
    (void)keep(s, trs_device_copy(s->staged, *out, bytes, NULL));
    *out = s->staged;
    *in = s->staged + bytes;
  }
  (void)keep(s, trs_device_wait(NULL));
}

static void add(trs_rank_part *p, int64_t rows) {
  plans *s = plans_of(p);
  int64_t bytes = rows * trs_row_bytes(p);
  if (s->gpus) {
    (void)keep(s, trs_grid_gpus_add(s->gpus, p, rows));
    return;
  }
  char *to = row_at(p, p->rows - rows);
  if (!s->device) {
    p->ops->add(rows * p->nrhs, s->arrived, to);
    return;
  }
  bool doubles = trs_scalar_is_double(p->scalar);
  TRS_ON_DEVICE(s->device);
  if (s->staged) (void)keep(s, trs_device_copy(s->arrived, s->staged + bytes, bytes, NULL));
  (void)keep(s, trs_device_add(doubles, bytes / (doubles ? 8 : 4), s->arrived, to, NULL));
}

/* ---- Life. ---- */

static void destroy(trs_rank_part *p) {
  plans *s = plans_of(p);
  for (int k = 0; k < s->nsteps; k++) trs_plan_destroy(s->step[k].plan);
  int before = s->device ? trs_device_enter(s->device) : 0;
  give_up_room(s);
  if (s->device) trs_device_leave(before);
  trs_grid_gpus_destroy(s->gpus);
  trs_free(s);
  p->solver = NULL;
}

/* Number of right-hand sides from which panels may be faster than the engine's slices
 * (docs/experiments/grids-of-gpus.md). */
enum { MANY = 16 };

static trs_status analyze(const plans *s, const trs_grid_triangle *T, trs_matrix *A,
                          const char *method, trs_plan **plan) {
  const trs_options options = {
      .struct_size = sizeof options, .nrhs = s->set.nrhs, .method = method};
  const int cancel = trs_cancel_defer();
  const trs_status status =
      trs_plan_create(plan, s->set.context, A, T->upper ? TRS_UPPER : TRS_LOWER, TRS_NO_TRANS,
                      T->unit ? TRS_UNIT : TRS_NONUNIT, &options);
  trs_cancel_restore(cancel);
  return status;
}

static trs_status is_faster(const plans *s, trs_plan *one, trs_plan *other, bool *faster) {
  static const trs_timing how = {.rounds = 4, .solves = 1};
  double seconds, than;
  TRS_TRY(trs_plan_time(one, s->set.nrhs, TRS_ROW_MAJOR, &how, &seconds));
  TRS_TRY(trs_plan_time(other, s->set.nrhs, TRS_ROW_MAJOR, &how, &than));
  *faster = seconds < than;
  return TRS_SUCCESS;
}

/* For many right-hand sides: uses the panels of Algorithm 4 if they are faster.  If memory does not
 * suffice for both, or the build leaves papers out, the existing plan stays. */
static void try_panels(const plans *s, const trs_grid_triangle *T, trs_matrix *A, trs_plan **plan) {
  trs_plan *panels = NULL;
  bool faster = false;
  trs_status status = analyze(s, T, A, "supernodal", &panels);
  if (!status) status = is_faster(s, panels, *plan, &faster);
  trs_plan *loser = !status && faster ? *plan : panels;
  if (!status && faster) *plan = panels;
  trs_plan_destroy(loser);
}

/* The engine always solves the part of U that grids share: x must have the same bits on all of
 * them. */
static trs_status make_step(plans *s, const trs_filler *f, bool upper, int height, bool unit) {
  trs_grid_triangle T = trs_grid_triangle_of(f->part, upper, height, unit);
  step *made = &s->step[s->nsteps++];
  bool own = !upper || height == 0;
  trs_matrix *A;
  made->first_row = T.first_row;
  if (T.from == T.to) return TRS_SUCCESS;
  TRS_TRY(trs_grid_triangle_take(f, &T, &A));
  trs_status status = analyze(s, &T, A, own ? s->set.method : NULL, &made->plan);
  if (!status && own && !s->set.method && s->device && s->set.nrhs >= MANY)
    try_panels(s, &T, A, &made->plan);
  trs_matrix_destroy(A);
  return status;
}

/* "engine", or "supernodal, engine" */
static void describe(plans *s) {
  for (int k = 0; k < s->nsteps; k++) {
    const trs_plan *plan = s->step[k].plan;
    if (!plan) continue;
    const trs_system *T = &plan->system;
    if (!s->device) /* otherwise the plan holds all numbers */
      s->base.bytes += 8 * (T->n + 1) + T->nnz * (4 + (int64_t)trs_scalar_size(T->scalar));
    if (plan->method->bytes) s->base.bytes += plan->method->bytes(plan);
    size_t length = strlen(s->base.methods), room = sizeof s->base.methods - length;
    if (!strstr(s->base.methods, plan->method->name))
      snprintf(s->base.methods + length, room, "%s%s", length ? ", " : "", plan->method->name);
  }
}

static trs_status make_steps(plans *s, const trs_filler *f, const bool unit[2],
                             const int32_t *row_perm) {
  const trs_rank_part *p = f->part;
  TRS_TRY(trs_grid_triangles_check(f, unit, row_perm));
  TRS_TRY(make_step(s, f, TRS_L, 0, unit[TRS_L]));
  for (int height = p->layout->levels; height >= 0; height--)
    TRS_TRY(make_step(s, f, TRS_U, height, unit[TRS_U]));
  s->shared = trs_local_end(p, p->layout->levels) - trs_local_end(p, 0);
  return TRS_SUCCESS;
}

/* The part that is distributed over the grid: blocks as on a CPU, and the trees of the sweeps. */
static trs_status make_gpus(plans *s, trs_filler *f, const bool unit[2], const int32_t *row_perm,
                            const trs_sweep *const sweep[2]) {
  const trs_rank_part *p = f->part;
  const trs_spread_way *way =
      s->set.by_columns ? TRS_PAPER_PART(trs_l23_by_columns) : &trs_spread_by_rows;
  if (!way)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "Algorithm 5 repeats a paper, and this build leaves papers out: build with "
                    "-DTRIREME_WITH_PAPERS=ON, or take grid3d");
  const trs_grid_gpus_options how = {.device = s->device,
                                     .machine = s->set.machine,
                                     .trees = s->set.trees,
                                     .mpi_reads_device = s->set.mpi_reads_device,
                                     .way = {way, p->shape.z == 1 ? way : &trs_spread_by_rows}};
  TRS_TRY(trs_fill_end(f, unit, row_perm));
  TRS_TRY(trs_grid_gpus_create(&s->gpus, p, sweep, &how));
  s->base.bytes += trs_grid_gpus_bytes(s->gpus);
  size_t length = strlen(s->base.methods);
  snprintf(s->base.methods + length, sizeof s->base.methods - length, "%s%s%s%s",
           length ? ", " : "", way->name, how.way[1] == way ? "" : ", ",
           how.way[1] == way ? "" : how.way[1]->name);
  return TRS_SUCCESS;
}

trs_status trs_grid_plans_create(trs_filler *f, const bool unit[2], const int32_t *row_perm,
                                 const trs_sweep *const sweep[2],
                                 const trs_plans_options *options) {
  plans *s;
  TRS_TRY(TRS_ALLOC_ZERO(&s, 1));
  s->base = (trs_local_solver){.leave = leave,
                               .reserve = reserve,
                               .meet = meet,
                               .take = take,
                               .give = give,
                               .sweep = sweep_all,
                               .rehearse = rehearse,
                               .share = share,
                               .add = add,
                               .destroy = destroy};
  s->set = *options;
  s->device = options->context->device;
  trs_rank_part *p = f->part;
  p->solver = &s->base;
  TRS_TRY(make_steps(s, f, unit, row_perm));
  describe(s);
  return p->shape.x * p->shape.y > 1 ? make_gpus(s, f, unit, row_perm, sweep) : TRS_SUCCESS;
}
