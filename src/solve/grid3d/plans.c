/* plans.c - L^z and U^z of a grid of one process, by plans. */
#include "solve/grid3d/plans.h"

#include <stdio.h>
#include <string.h>

#include "device/shared.h"
#include "plan/plan.h"

/* One triangle, solved in the place of its rows. */
typedef struct step {
  trs_plan *plan; /* NULL: it has no rows */
  int64_t first_row;
} step;

typedef struct plans {
  trs_local_solver base;
  trs_plans_options set;
  trs_device *device; /* NULL: rows stay in the part's, on the host */
  int nsteps;
  step step[2 + TRS_MOST_HEIGHT]; /* L; U from the root of the tree down */
  int64_t shared;                 /* rows that several grids have */
  char *rows, *arrived;           /* of the device; those of another grid */
  char *staged;                   /* pinned: shared rows that go, then those that come */
  trs_failure failed;             /* since the last give */
} plans;

static plans *plans_of(const trs_part *p) { return (plans *)p->solver; }

/* false from the first failure on. */
static bool keep(plans *s, trs_status status) {
  if (status && !s->failed.status) trs_failure_get(&s->failed);
  return !s->failed.status;
}

static char *row_at(const trs_part *p, int64_t row) {
  const plans *s = plans_of(p);
  return (s->device ? s->rows : p->base) + row * trs_row_bytes(p);
}

/* ---- Room. ---- */

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

static trs_status reserve_on_device(plans *s, const trs_part *p) {
  int64_t row = trs_row_bytes(p);
  TRS_TRY(trs_device_alloc(s->device, (void **)&s->rows, p->rows, (size_t)row, NULL));
  TRS_TRY(trs_device_alloc(s->device, (void **)&s->arrived, s->shared, (size_t)row, NULL));
  if (s->set.mpi_reads_device) return TRS_SUCCESS;
  return trs_device_alloc_pinned((void **)&s->staged, 2 * s->shared * row);
}

static trs_status reserve(trs_part *p) {
  plans *s = plans_of(p);
  give_up_room(s);
  if (!s->device)
    return trs_alloc((void **)&s->arrived, s->shared * trs_row_bytes(p) + TRS_SLACK, 1);
  int before = trs_device_enter(s->device);
  trs_status status = reserve_on_device(s, p);
  trs_device_leave(before);
  return status;
}

/* ---- A solve. ---- */

static void take(trs_part *p) {
  plans *s = plans_of(p);
  if (!s->device) return;
  int before = trs_device_enter(s->device);
  (void)keep(s, trs_device_copy(s->rows, p->base, p->row_bytes, NULL));
  (void)keep(s, trs_device_wait(NULL));
  trs_device_leave(before);
}

static void bring_back(trs_part *p) {
  plans *s = plans_of(p);
  if (!s->device) return;
  int before = trs_device_enter(s->device);
  (void)keep(s, trs_device_copy(p->base, s->rows, p->row_bytes, NULL));
  (void)keep(s, trs_device_wait(NULL));
  trs_device_leave(before);
}

static trs_status give(trs_part *p) {
  plans *s = plans_of(p);
  for (int k = 0; k < s->nsteps; k++)
    if (s->step[k].plan) (void)keep(s, trs_plan_wait(s->step[k].plan));
  bring_back(p);
  trs_failure failed = s->failed;
  s->failed = (trs_failure){0};
  return failed.status ? trs_failure_set(&failed) : TRS_SUCCESS;
}

static void sweep(trs_part *p, int which) {
  plans *s = plans_of(p);
  trs_plan *last = NULL;
  for (int k = which; k < (which ? s->nsteps : 1); k++) {
    if (!s->step[k].plan || s->failed.status) continue;
    last = s->step[k].plan;
    void *x = row_at(p, s->step[k].first_row);
    (void)keep(s, trs_solve(last, x, p->nrhs, x, p->nrhs, p->nrhs, TRS_ROW_MAJOR));
  }
  if (last) (void)keep(s, trs_plan_wait(last));
}

static void rehearse(trs_part *p, int which) {
  if (!plans_of(p)->device) return;
  bring_back(p);
  sweep(p, which);
  sweep(p, which);
  take(p);
}

/* The wait is for sums that are under way as well: what another grid sends next takes the place of
 * what it sent before. */
static void share(trs_part *p, int64_t rows, const void **out, void **in) {
  plans *s = plans_of(p);
  int64_t bytes = rows * trs_row_bytes(p);
  *out = row_at(p, p->rows - rows);
  *in = s->arrived;
  if (!s->device) return;
  int before = trs_device_enter(s->device);
  if (s->staged) {
    (void)keep(s, trs_device_copy(s->staged, *out, bytes, NULL));
    *out = s->staged;
    *in = s->staged + bytes;
  }
  (void)keep(s, trs_device_wait(NULL));
  trs_device_leave(before);
}

static void add(trs_part *p, int64_t rows) {
  plans *s = plans_of(p);
  int64_t bytes = rows * trs_row_bytes(p);
  char *to = row_at(p, p->rows - rows);
  if (!s->device) {
    p->ops->add(rows * p->nrhs, s->arrived, to);
    return;
  }
  bool doubles = trs_scalar_is_double(p->scalar);
  int before = trs_device_enter(s->device);
  if (s->staged) (void)keep(s, trs_device_copy(s->arrived, s->staged + bytes, bytes, NULL));
  (void)keep(s, trs_device_add(doubles, bytes / (doubles ? 8 : 4), s->arrived, to, NULL));
  trs_device_leave(before);
}

/* ---- Life. ---- */

static void destroy(trs_part *p) {
  plans *s = plans_of(p);
  for (int k = 0; k < s->nsteps; k++) trs_plan_destroy(s->step[k].plan);
  int before = s->device ? trs_device_enter(s->device) : 0;
  give_up_room(s);
  if (s->device) trs_device_leave(before);
  trs_free(s);
  p->solver = NULL;
}

static trs_status make_step(plans *s, const trs_filler *f, int which, int height, bool unit) {
  trs_grid_triangle T = trs_grid_triangle_of(f->part, which, height, unit);
  step *made = &s->step[s->nsteps++];
  trs_matrix *A;
  made->first_row = T.first_row;
  if (T.from == T.to) return TRS_SUCCESS;
  TRS_TRY(trs_grid_triangle_take(f, &T, &A));
  trs_options options = {.struct_size = sizeof options, .nrhs = s->set.nrhs};
  if (which == 0 || height == 0) options.method = s->set.method;
  trs_status status = trs_analyze(s->set.context, &made->plan, A, which ? TRS_UPPER : TRS_LOWER,
                                  TRS_NO_TRANS, unit ? TRS_UNIT : TRS_NONUNIT, &options);
  trs_matrix_destroy(A);
  return status;
}

/* "engine", or "supernodal, engine" */
static void describe(plans *s) {
  for (int k = 0; k < s->nsteps; k++) {
    const trs_plan *plan = s->step[k].plan;
    if (!plan) continue;
    const trs_system *T = &plan->system;
    if (!s->device) /* else the plan has it all */
      s->base.bytes += 8 * (T->n + 1) + T->nnz * (4 + (int64_t)trs_scalar_size(T->scalar));
    if (plan->method->bytes) s->base.bytes += plan->method->bytes(plan);
    size_t length = strlen(s->base.methods), room = sizeof s->base.methods - length;
    if (!strstr(s->base.methods, plan->method->name))
      snprintf(s->base.methods + length, room, "%s%s", length ? ", " : "", plan->method->name);
  }
}

static trs_status make(plans *s, const trs_filler *f, const bool unit[2], const int32_t *row_perm) {
  const trs_part *p = f->part;
  TRS_TRY(trs_grid_triangles_check(f, unit, row_perm));
  TRS_TRY(make_step(s, f, 0, 0, unit[0]));
  for (int height = p->layout->levels; height >= 0; height--)
    TRS_TRY(make_step(s, f, 1, height, unit[1]));
  s->shared = p->rows - (p->local_to[0] < p->nlocal ? p->local_row[p->local_to[0]] : p->rows);
  describe(s);
  return TRS_SUCCESS;
}

trs_status trs_grid_plans_create(const trs_filler *f, const bool unit[2], const int32_t *row_perm,
                                 const trs_plans_options *options) {
  plans *s;
  TRS_TRY(TRS_ALLOC_ZERO(&s, 1));
  s->base = (trs_local_solver){.reserve = reserve,
                               .take = take,
                               .give = give,
                               .sweep = sweep,
                               .rehearse = rehearse,
                               .share = share,
                               .add = add,
                               .destroy = destroy};
  s->set = *options;
  s->device = options->context->device;
  f->part->solver = &s->base;
  return make(s, f, unit, row_perm);
}
