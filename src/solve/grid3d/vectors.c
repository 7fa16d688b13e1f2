/* vectors.c - the caller's b and x: in device memory, and by rows, they pass through copies that
 * lie on the host as columns without gaps. */
#include "solve/grid3d/vectors.h"

#include <string.h>

#include "device/shared.h"
#include "solve/grid3d/refine.h"

/* x and b as columns on the host: the caller's arrays, or copies. */
typedef struct columns {
  void *x, *copy_x; /* x: the columns in use; copy_x: the library's copy, or NULL */
  const void *b;
  void *copy_b;
  int64_t ldx, ldb;
  int64_t rows, nrhs;
  size_t size; /* of an element */
  bool by_rows;
} columns;

static bool on_gpu(const trs_grid_solver *s) {
  return s->set.plans.context && s->set.plans.context->device;
}

/* to[i + j rows] = from[i ld + j], or the reverse. */
static inline void turn(const columns *v, char *by_rows, int64_t ld, char *by_columns, bool out,
                        size_t size) {
  enum { ROWS_AT_ONCE = 8 }; /* of each column a line of memory */
  for (int64_t from = 0; from < v->rows; from += ROWS_AT_ONCE)
    for (int64_t j = 0; j < v->nrhs; j++)
      for (int64_t i = from; i < v->rows && i < from + ROWS_AT_ONCE; i++) {
        char *row = by_rows + (size_t)(i * ld + j) * size;
        char *column = by_columns + (size_t)(i + j * v->rows) * size;
        memcpy(out ? row : column, out ? column : row, size);
      }
}

static void turn_any(const columns *v, void *by_rows, int64_t ld, void *by_columns, bool out) {
  if (v->size == 4)
    turn(v, by_rows, ld, by_columns, out, 4);
  else if (v->size == 8)
    turn(v, by_rows, ld, by_columns, out, 8);
  else
    turn(v, by_rows, ld, by_columns, out, 16);
}

/* Copies between the caller's array in device memory, whose GPU CUDA determines, and a packed copy
 * of the same layout on the host. */
static trs_status move_lines(const trs_grid_solver *s, const columns *v, void *there, int64_t ld,
                             void *copy, bool out) {
  const int64_t lines = v->by_rows ? v->rows : v->nrhs;
  const int64_t bytes = (v->by_rows ? v->nrhs : v->rows) * (int64_t)v->size;
  const int64_t pitch = lines > 1 ? ld * (int64_t)v->size : bytes;
  if (out)
    TRS_TRY(trs_device_copy_rows(there, pitch, copy, bytes, bytes, lines, s->stream));
  else
    TRS_TRY(trs_device_copy_rows(copy, bytes, there, pitch, bytes, lines, s->stream));
  return trs_device_wait(s->stream);
}

/* Copies between the caller's array and columns on the host. */
static trs_status move(const trs_grid_solver *s, const columns *v, void *there, int64_t ld,
                       void *copy, bool out) {
  const bool device = on_gpu(s) && trs_device_address(there);
  if (device && !v->by_rows) return move_lines(s, v, there, ld, copy, out);
  if (!device) {
    turn_any(v, there, ld, copy, out);
    return TRS_SUCCESS;
  }
  void *packed; /* rows without gaps */
  TRS_TRY(trs_alloc(&packed, v->rows * v->nrhs, v->size));
  trs_status status = TRS_SUCCESS;
  if (out) turn_any(v, packed, v->nrhs, copy, true);
  status = move_lines(s, v, there, ld, packed, out);
  if (!out) turn_any(v, packed, v->nrhs, copy, false);
  trs_free(packed);
  return status;
}

/* Whether an array needs a copy. */
static bool is_apart(const trs_grid_solver *s, const columns *v, const void *array) {
  return v->by_rows || (on_gpu(s) && trs_device_address(array));
}

/* keep_x: x is input too. */
static trs_status fetch(const trs_grid_solver *s, columns *v, bool keep_x) {
  const int64_t *first = s->moves.first + s->ranks->rank;
  void *x = v->x;
  v->rows = first[1] - first[0];
  v->size = trs_scalar_size(s->part.scalar);
  if (v->rows <= 0 || v->nrhs <= 0) return TRS_SUCCESS;
  if (is_apart(s, v, v->b)) {
    TRS_TRY(trs_alloc(&v->copy_b, v->rows * v->nrhs, v->size));
    TRS_TRY(move(s, v, (void *)(uintptr_t)v->b, v->ldb, v->copy_b, false));
    v->b = v->copy_b;
    v->ldb = v->rows;
  }
  if (!is_apart(s, v, x)) return TRS_SUCCESS;
  TRS_TRY(trs_alloc(&v->copy_x, v->rows * v->nrhs, v->size));
  if (keep_x) TRS_TRY(move(s, v, x, v->ldx, v->copy_x, false));
  v->x = v->copy_x;
  v->ldx = v->rows;
  return TRS_SUCCESS;
}

/* Copies x to the caller's array after a success. */
static trs_status put_back(const trs_grid_solver *s, columns *v, const trs_grid_vectors *given,
                           trs_status status) {
  if (!status && v->copy_x) status = move(s, v, given->x, given->ldx, v->copy_x, true);
  trs_free(v->copy_x);
  trs_free(v->copy_b);
  return on_gpu(s) ? trs_ranks_agree(s->ranks, status) : status;
}

static columns columns_of(const trs_grid_vectors *given) {
  return (columns){.x = given->x,
                   .b = given->b,
                   .ldx = given->ldx,
                   .ldb = given->ldb,
                   .nrhs = given->nrhs,
                   .by_rows = given->layout == TRS_ROW_MAJOR};
}

/* The check of the number of right-hand sides shares a message with the agreement on the status. */
static trs_status agree(const trs_grid_solver *s, trs_status status, int64_t nrhs) {
  return trs_ranks_agree_on(s->ranks, status, nrhs, "the number of right-hand sides");
}

trs_status trs_grid_vectors_solve(trs_grid_solver *s, trs_status status,
                                  const trs_grid_vectors *given) {
  columns v = columns_of(given);
  if (!status) status = fetch(s, &v, false);
  status = agree(s, status, v.nrhs);
  if (!status) status = trs_grid_solver_solve(s, v.x, v.ldx, v.b, v.ldb, v.nrhs);
  return put_back(s, &v, given, status);
}

trs_status trs_grid_vectors_refine(trs_grid_solver *s, trs_status status,
                                   const trs_grid_vectors *given, const trs_matrix *rows, int steps,
                                   double *error, int *taken) {
  columns v = columns_of(given);
  if (!status) status = fetch(s, &v, true);
  status = agree(s, status, v.nrhs);
  if (!status) status = trs_ranks_agree_on(s->ranks, TRS_SUCCESS, steps, "steps");
  if (!status)
    status = trs_grid_refine(s, rows, v.x, v.ldx, v.b, v.ldb, v.nrhs, steps, error, taken);
  return put_back(s, &v, given, status);
}
