/* vectors.c - the caller's b and x: in device memory they pass through copies on the host. */
#include "solve/grid3d/vectors.h"

#include "device/shared.h"
#include "solve/grid3d/refine.h"

/* x and b on the host: the caller's arrays, or copies as columns without gaps. */
typedef struct vectors {
  void *x, *copy_x; /* x: the columns in use; copy_x: the library's copy, or NULL */
  const void *b;
  void *copy_b;
  int64_t rows, ldx, ldb, nrhs, bytes; /* bytes per column */
} vectors;

static bool on_gpu(const trs_grid_solver *s) {
  return s->set.plans.context && s->set.plans.context->device;
}

/* Copies between the caller's column-major array in device memory, whose GPU CUDA determines, and a
 * packed copy on the host. */
static trs_status move_columns(const trs_grid_solver *s, const vectors *v, void *there, int64_t ld,
                               void *copy, bool out) {
  int64_t pitch = v->nrhs > 1 ? ld * (v->bytes / v->rows) : v->bytes;
  if (out)
    TRS_TRY(trs_device_copy_rows(there, pitch, copy, v->bytes, v->bytes, v->nrhs, s->stream));
  else
    TRS_TRY(trs_device_copy_rows(copy, v->bytes, there, pitch, v->bytes, v->nrhs, s->stream));
  return trs_device_wait(s->stream);
}

static trs_status fetch_columns(const trs_grid_solver *s, const vectors *v, const void *there,
                                int64_t ld, void **copy) {
  TRS_TRY(trs_alloc(copy, v->bytes, (size_t)v->nrhs));
  return move_columns(s, v, (void *)(uintptr_t)there, ld, *copy, false);
}

/* keep_x: x is input too. */
static trs_status fetch(const trs_grid_solver *s, vectors *v, bool keep_x) {
  const int64_t *first = s->moves.first + s->ranks->rank;
  v->rows = first[1] - first[0];
  v->bytes = v->rows * (int64_t)trs_scalar_size(s->part.scalar);
  if (!on_gpu(s) || v->bytes <= 0 || v->nrhs <= 0) return TRS_SUCCESS;
  if (trs_device_address(v->b)) {
    TRS_TRY(fetch_columns(s, v, v->b, v->ldb, &v->copy_b));
    v->b = v->copy_b;
    v->ldb = v->rows;
  }
  if (!trs_device_address(v->x)) return TRS_SUCCESS;
  if (keep_x)
    TRS_TRY(fetch_columns(s, v, v->x, v->ldx, &v->copy_x));
  else
    TRS_TRY(trs_alloc(&v->copy_x, v->bytes, (size_t)v->nrhs));
  v->x = v->copy_x;
  v->ldx = v->rows;
  return TRS_SUCCESS;
}

/* Copies x to the caller's array after a success. */
static trs_status put_back(const trs_grid_solver *s, vectors *v, void *x, int64_t ldx,
                           trs_status status) {
  if (!status && v->copy_x) status = move_columns(s, v, x, ldx, v->copy_x, true);
  trs_free(v->copy_x);
  trs_free(v->copy_b);
  return on_gpu(s) ? trs_ranks_agree(s->ranks, status) : status;
}

/* The check of the number of right-hand sides shares a message with the agreement on the status. */
static trs_status agree(const trs_grid_solver *s, trs_status status, int64_t nrhs) {
  return trs_ranks_agree_on(s->ranks, status, nrhs, "the number of right-hand sides");
}

trs_status trs_grid_vectors_solve(trs_grid_solver *s, trs_status status, void *x, int64_t ldx,
                                  const void *b, int64_t ldb, int64_t nrhs) {
  vectors v = {.x = x, .b = b, .ldx = ldx, .ldb = ldb, .nrhs = nrhs};
  if (!status) status = fetch(s, &v, false);
  status = agree(s, status, nrhs);
  if (!status) status = trs_grid_solver_solve(s, v.x, v.ldx, v.b, v.ldb, nrhs);
  return put_back(s, &v, x, ldx, status);
}

trs_status trs_grid_vectors_refine(trs_grid_solver *s, trs_status status, const trs_matrix *rows,
                                   void *x, int64_t ldx, const void *b, int64_t ldb, int64_t nrhs,
                                   int steps, double *error, int *taken) {
  vectors v = {.x = x, .b = b, .ldx = ldx, .ldb = ldb, .nrhs = nrhs};
  if (!status) status = fetch(s, &v, true);
  status = agree(s, status, nrhs);
  if (!status) status = trs_ranks_agree_on(s->ranks, TRS_SUCCESS, steps, "steps");
  if (!status) status = trs_grid_refine(s, rows, v.x, v.ldx, v.b, v.ldb, nrhs, steps, error, taken);
  return put_back(s, &v, x, ldx, status);
}
