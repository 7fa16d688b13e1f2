/* vectors.c - the caller's b and x: in device memory, and by rows, they pass through copies that
 * lie on the host as columns without gaps. */
#include "solve/grid3d/vectors.h"

#include <string.h>

#include "base/memory.h"
#include "matrix/stage.h"
#include "solve/grid3d/refine.h"

/* x and b as columns on the host: the caller's arrays, or copies. */
typedef struct columns {
  trs_span given;
  bool x_there, b_there; /* the caller's arrays lie in device memory */
  void *x;               /* the columns in use */
  const void *b;
  void *copy_x, *copy_b; /* the library's copies, or NULL */
  int64_t ldx, ldb;
} columns;

static bool on_gpu(const trs_grid_solver *s) {
  return s->set.plans.context && s->set.plans.context->device;
}

/* to[i + j n] = from[i ld + j], or the reverse. */
static inline void turn(const trs_span *s, char *by_rows, int64_t ld, char *by_columns, bool out,
                        size_t size) {
  enum { ROWS_AT_ONCE = 8 }; /* of each column a line of memory */
  for (int64_t from = 0; from < s->n; from += ROWS_AT_ONCE)
    for (int64_t j = 0; j < s->rhs.nrhs; j++)
      for (int64_t i = from; i < s->n && i < from + ROWS_AT_ONCE; i++) {
        char *row = by_rows + (size_t)(i * ld + j) * size;
        char *column = by_columns + (size_t)(i + j * s->n) * size;
        memcpy(out ? row : column, out ? column : row, size);
      }
}

static void turn_any(const trs_span *s, const void *by_rows, int64_t ld, void *by_columns,
                     bool out) {
  char *rows = (char *)(uintptr_t)by_rows;
  if (s->size == 4)
    turn(s, rows, ld, by_columns, out, 4);
  else if (s->size == 8)
    turn(s, rows, ld, by_columns, out, 8);
  else
    turn(s, rows, ld, by_columns, out, 16);
}

/* Copies of x and b to columns on the host, and of columns to x. */
typedef enum transfer { BRING_B, BRING_X, TAKE_X } transfer;

static trs_status move_there(const trs_grid_solver *s, const trs_span *k, void *stage,
                             transfer way) {
  TRS_TRY(way == BRING_B   ? trs_span_bring(k, stage, s->stream)
          : way == BRING_X ? trs_span_bring_x(k, stage, s->stream)
                           : trs_span_take(k, stage, s->stream));
  return trs_device_wait(s->stream);
}

static trs_status move(const trs_grid_solver *s, const columns *v, void *copy, transfer way) {
  const trs_span *k = &v->given;
  const bool of_b = way == BRING_B;
  void *packed; /* rows without gaps */
  if (!(of_b ? v->b_there : v->x_there)) {
    turn_any(k, of_b ? k->rhs.b : k->rhs.x, of_b ? k->rhs.b_row : k->rhs.x_row, copy,
             way == TAKE_X);
    return TRS_SUCCESS;
  }
  if (!k->row_major) return move_there(s, k, copy, way);
  TRS_TRY(trs_alloc(&packed, k->n * k->rhs.nrhs, (size_t)k->size));
  if (way == TAKE_X) turn_any(k, packed, k->rhs.nrhs, copy, true);
  trs_status status = move_there(s, k, packed, way);
  if (way != TAKE_X) turn_any(k, packed, k->rhs.nrhs, copy, false);
  trs_free(packed);
  return status;
}

/* keep_x: x is input too. */
static trs_status fetch(const trs_grid_solver *s, columns *v, bool keep_x) {
  const trs_span *k = &v->given;
  const int64_t count = k->n * k->rhs.nrhs;
  if (count <= 0) return TRS_SUCCESS;
  v->x_there = on_gpu(s) && trs_device_address(k->rhs.x);
  v->b_there = on_gpu(s) && trs_device_address(k->rhs.b);
  if (k->row_major || v->b_there) {
    TRS_TRY(trs_alloc(&v->copy_b, count, (size_t)k->size));
    TRS_TRY(move(s, v, v->copy_b, BRING_B));
    v->b = v->copy_b;
    v->ldb = k->n;
  }
  if (!k->row_major && !v->x_there) return TRS_SUCCESS;
  TRS_TRY(trs_alloc(&v->copy_x, count, (size_t)k->size));
  if (keep_x) TRS_TRY(move(s, v, v->copy_x, BRING_X));
  v->x = v->copy_x;
  v->ldx = k->n;
  return TRS_SUCCESS;
}

/* Copies x to the caller's array after a success. */
static trs_status put_back(const trs_grid_solver *s, const columns *v, trs_status status) {
  if (!status && v->copy_x) status = move(s, v, v->copy_x, TAKE_X);
  TRS_FREE_ALL(v->copy_x, v->copy_b);
  return on_gpu(s) ? trs_ranks_agree(s->ranks, status) : status;
}

static columns columns_of(const trs_grid_solver *s, const trs_rhs *rhs) {
  const int64_t *first = s->moves.first + s->ranks->rank;
  const int64_t rows = first[1] - first[0];
  return (columns){.given = trs_span_of(rhs, rows, s->part.scalar, 0, rhs->nrhs),
                   .x = rhs->x,
                   .b = rhs->b,
                   .ldx = rhs->nrhs > 1 ? rhs->x_col : rows,
                   .ldb = rhs->nrhs > 1 ? rhs->b_col : rows};
}

/* The check of the number of right-hand sides shares a message with the agreement on the status. */
static trs_status agree(const trs_grid_solver *s, trs_status status, int64_t nrhs) {
  return trs_ranks_agree_on(s->ranks, status, nrhs, "the number of right-hand sides");
}

trs_status trs_grid_vectors_solve(trs_grid_solver *s, trs_status status, const trs_rhs *rhs) {
  columns v = columns_of(s, rhs);
  if (!status) status = fetch(s, &v, false);
  status = agree(s, status, rhs->nrhs);
  if (!status) status = trs_grid_solver_solve(s, v.x, v.ldx, v.b, v.ldb, rhs->nrhs);
  return put_back(s, &v, status);
}

trs_status trs_grid_vectors_refine(trs_grid_solver *s, trs_status status, const trs_rhs *rhs,
                                   const trs_matrix *rows, int steps, double *error, int *taken) {
  columns v = columns_of(s, rhs);
  if (!status) status = fetch(s, &v, true);
  status = agree(s, status, rhs->nrhs);
  if (!status) status = trs_ranks_agree_on(s->ranks, TRS_SUCCESS, steps, "steps");
  if (!status)
    status = trs_grid_refine(s, rows, v.x, v.ldx, v.b, v.ldb, rhs->nrhs, steps, error, taken);
  return put_back(s, &v, status);
}
