/* vectors.c - the caller's b and x: those in device memory pass through copies on the host. */
#include "solve/grid3d/vectors.h"

#include "base/memory.h"
#include "matrix/stage.h"

/* x and b on the host: the caller's arrays, or copies. */
typedef struct vectors {
  trs_span given;
  void *copy_x, *copy_b; /* NULL: the caller's array is on the host */
  trs_rhs rhs;           /* the arrays in use */
} vectors;

static bool on_gpu(const trs_grid_solver *s) {
  return s->set.plans.context && s->set.plans.context->device;
}

static trs_status allocate(const vectors *v, void **copy) {
  return trs_alloc(copy, v->given.n * v->given.rhs.nrhs, (size_t)v->given.size);
}

/* keep_x: x is input too. */
static trs_status fetch(const trs_grid_solver *s, vectors *v, bool keep_x) {
  const trs_span *k = &v->given;
  if (k->n * k->rhs.nrhs <= 0 || !on_gpu(s)) return TRS_SUCCESS;
  if (trs_device_address(k->rhs.b)) {
    TRS_TRY(allocate(v, &v->copy_b));
    TRS_TRY(trs_span_bring(k, v->copy_b, s->stream));
  }
  if (trs_device_address(k->rhs.x)) {
    TRS_TRY(allocate(v, &v->copy_x));
    if (keep_x) TRS_TRY(trs_span_bring_x(k, v->copy_x, s->stream));
  }
  const trs_rhs copies = trs_span_staged(k, v->copy_x, v->copy_b);
  if (v->copy_b) v->rhs.b = copies.b, v->rhs.b_row = copies.b_row, v->rhs.b_col = copies.b_col;
  if (v->copy_x) v->rhs.x = copies.x, v->rhs.x_row = copies.x_row, v->rhs.x_col = copies.x_col;
  return v->copy_b || v->copy_x ? trs_device_wait(s->stream) : TRS_SUCCESS;
}

/* Copies x to the caller's array after a success. */
static trs_status put_back(const trs_grid_solver *s, const vectors *v, trs_status status) {
  if (!status && v->copy_x) status = trs_span_take(&v->given, v->copy_x, s->stream);
  if (!status && v->copy_x) status = trs_device_wait(s->stream);
  TRS_FREE_ALL(v->copy_x, v->copy_b);
  return on_gpu(s) ? trs_ranks_agree(s->ranks, status) : status;
}

static vectors vectors_of(const trs_grid_solver *s, const trs_rhs *rhs) {
  const int64_t *first = s->moves.first + s->ranks->rank;
  return (vectors){.given = trs_span_of(rhs, first[1] - first[0], s->part.scalar, 0, rhs->nrhs),
                   .rhs = *rhs};
}

/* The check of the number of right-hand sides shares a message with the agreement on the status. */
static trs_status agree(const trs_grid_solver *s, trs_status status, int64_t nrhs) {
  return trs_ranks_agree_on(s->ranks, status, nrhs, "the number of right-hand sides");
}

trs_status trs_grid_vectors_solve(trs_grid_solver *s, trs_status status, const trs_rhs *rhs) {
  vectors v = vectors_of(s, rhs);
  if (!status) status = fetch(s, &v, false);
  status = agree(s, status, rhs->nrhs);
  if (!status) status = trs_grid_solver_solve(s, &v.rhs);
  return put_back(s, &v, status);
}

trs_status trs_grid_vectors_refine(trs_grid_solver *s, trs_status status, const trs_rhs *rhs,
                                   const trs_matrix *rows, int steps, double *error, int *taken) {
  vectors v = vectors_of(s, rhs);
  if (!status) status = fetch(s, &v, true);
  status = agree(s, status, rhs->nrhs);
  if (!status) status = trs_ranks_agree_on(s->ranks, TRS_SUCCESS, steps, "steps");
  if (!status) status = trs_grid_refine(s, rows, &v.rhs, steps, error, taken);
  return put_back(s, &v, status);
}
