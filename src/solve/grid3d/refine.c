/* refine.c - iterative refinement. */
#include "solve/grid3d/vectors.h"

#include <float.h>
#include <math.h>

#include "matrix/matrix.h"

#define TRS_TEMPLATE "solve/grid3d/refine_tmpl.c"
#include "base/instantiate.h"

typedef struct refinement {
  trs_grid_solver *s;
  const trs_matrix *A;
  trs_rhs rhs;
  int64_t n, first, rows;
  size_t size;
  int64_t *counts;      /* rows of every rank */
  char *whole, *packed; /* x of all ranks, by columns; the same by ranks */
  char *residual;       /* rows x nrhs, then the correction */
  char *before;         /* x before the last correction */
} refinement;

static trs_status check(const refinement *w, int steps) {
  if (steps < 0)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "steps is %d: it must be 0 or more", steps);
  if (w->rows == 0) return TRS_SUCCESS;
  if (!w->A) return trs_fail(TRS_ERROR_ARGUMENT, -1, "the rows of A are NULL");
  TRS_TRY(trs_matrix_need_host(w->A, "trs_mpi_refine"));
  if (w->A->format != TRS_CSR || w->A->nrows != w->rows || w->A->ncols != w->n ||
      w->A->scalar != w->s->part.scalar)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "the rows of A must be %lld x %lld in CSR, of the factors' element type",
                    (long long)w->rows, (long long)w->n);
  return TRS_SUCCESS;
}

static trs_status make_room(refinement *w) {
  int64_t own = w->rows * w->rhs.nrhs, all = w->n * w->rhs.nrhs;
  const int64_t *first = w->s->moves.first;
  TRS_TRY(TRS_ALLOC(&w->counts, w->s->ranks->size));
  for (int r = 0; r < w->s->ranks->size; r++) w->counts[r] = first[r + 1] - first[r];
  return TRS_ALLOC_ALL(TRS_ROOM_OF(&w->whole, all, w->size), TRS_ROOM_OF(&w->packed, all, w->size),
                       TRS_ZEROS_OF(&w->residual, 2 * own, w->size),
                       TRS_ROOM_OF(&w->before, own, w->size));
}

static void copy(const refinement *w, int64_t rows, void *to, int64_t to_row, int64_t to_col,
                 const void *from, int64_t row, int64_t col) {
  static void (*const copy_of[])(int64_t, int64_t, void *, int64_t, int64_t, const void *, int64_t,
                                 int64_t) = TRS_TABLE(copy);
  copy_of[w->s->part.scalar](rows, w->rhs.nrhs, to, to_row, to_col, from, row, col);
}

/* Sends x to all ranks: by ranks, then reordered by columns. */
static trs_status gather(const refinement *w) {
  trs_ranks *ranks = w->s->ranks;
  const int64_t *first = w->s->moves.first, nrhs = w->rhs.nrhs;
  char *mine = w->packed + (size_t)(w->first * nrhs) * w->size;
  copy(w, w->rows, mine, 1, w->rows, w->rhs.x, w->rhs.x_row, w->rhs.x_col);
  TRS_TRY(trs_ranks_pieces(ranks, mine, w->packed, w->counts, nrhs * (int64_t)w->size));
  for (int r = 0; r < ranks->size; r++) {
    const int64_t rows = first[r + 1] - first[r];
    copy(w, rows, w->whole + (size_t)first[r] * w->size, 1, w->n,
         w->packed + (size_t)(first[r] * nrhs) * w->size, 1, rows);
  }
  return TRS_SUCCESS;
}

static trs_status measure(const refinement *w, double *error) {
  static double (*const residual_of[])(const trs_matrix *, int64_t, int64_t, const void *,
                                       const trs_rhs *, void *) = TRS_TABLE(residual);
  *error = 0;
  TRS_TRY(gather(w));
  if (w->rows)
    *error =
        residual_of[w->s->part.scalar](w->A, w->n, w->rhs.nrhs, w->whole, &w->rhs, w->residual);
  return trs_ranks_reduce(w->s->ranks, error, 1, sizeof *error, trs_join_largest);
}

static trs_status improve(const refinement *w, int steps, double *error, int *taken) {
  static void (*const add_of[])(int64_t, const void *, const trs_rhs *) = TRS_TABLE(add);
  double eps = trs_scalar_is_double(w->s->part.scalar) ? DBL_EPSILON : FLT_EPSILON, now;
  char *correction = w->residual + (size_t)(w->rows * w->rhs.nrhs) * w->size;
  const trs_rhs step = trs_rhs_by_columns(correction, w->residual, w->rows, w->rhs.nrhs);
  TRS_TRY(measure(w, error));
  for (*taken = 0; *taken<steps && * error> eps; ++*taken) {
    TRS_TRY(trs_grid_solver_solve(w->s, &step));
    copy(w, w->rows, w->before, 1, w->rows, w->rhs.x, w->rhs.x_row, w->rhs.x_col);
    add_of[w->s->part.scalar](w->rows, correction, &w->rhs);
    TRS_TRY(measure(w, &now));
    if (!(now <= *error)) {
      copy(w, w->rows, w->rhs.x, w->rhs.x_row, w->rhs.x_col, w->before, 1, w->rows);
      break;
    }
    bool enough = now > *error / 2;
    *error = now;
    if (enough) {
      ++*taken;
      break;
    }
  }
  return TRS_SUCCESS;
}

trs_status trs_grid_refine(trs_grid_solver *s, const trs_matrix *rows, const trs_rhs *rhs,
                           int steps, double *error, int *taken) {
  const int64_t *first = s->moves.first + s->ranks->rank;
  refinement w = {.s = s,
                  .A = rows,
                  .rhs = *rhs,
                  .n = s->layout.n,
                  .first = first[0],
                  .rows = first[1] - first[0],
                  .size = trs_scalar_size(s->part.scalar)};
  *error = 0;
  *taken = 0;
  trs_status status = check(&w, steps);
  if (!status) status = make_room(&w);
  status = trs_ranks_agree(s->ranks, status);
  if (!status) status = improve(&w, steps, error, taken);
  TRS_FREE_ALL(w.counts, w.whole, w.packed, w.residual, w.before);
  return status;
}
