/* refine.c - iterative refinement. */
#include "solve/grid3d/refine.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "matrix/matrix.h"

#define TRS_TEMPLATE "solve/grid3d/refine_tmpl.c"
#include "base/instantiate.h"

typedef struct refinement {
  trs_grid_solver *s;
  const trs_matrix *A;
  int64_t n, first, rows, nrhs;
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
  int64_t own = w->rows * w->nrhs, all = w->n * w->nrhs;
  const int64_t *first = w->s->moves.first;
  TRS_TRY(TRS_ALLOC(&w->counts, w->s->ranks->size));
  for (int r = 0; r < w->s->ranks->size; r++) w->counts[r] = first[r + 1] - first[r];
  TRS_TRY(trs_alloc((void **)&w->whole, all, w->size));
  TRS_TRY(trs_alloc((void **)&w->packed, all, w->size));
  TRS_TRY(trs_alloc_zero((void **)&w->residual, 2 * own, w->size));
  return trs_alloc((void **)&w->before, own, w->size);
}

static void copy_columns(char *to, int64_t ldto, const char *from, int64_t ldfrom, int64_t rows,
                         int64_t columns, size_t size) {
  for (int64_t j = 0; j < columns && rows; j++)
    memcpy(to + (size_t)(j * ldto) * size, from + (size_t)(j * ldfrom) * size, (size_t)rows * size);
}

/* Sends x to all ranks: by ranks, then reordered by columns. */
static trs_status gather(refinement *w, const void *x, int64_t ldx) {
  trs_ranks *ranks = w->s->ranks;
  const int64_t *first = w->s->moves.first;
  char *mine = w->packed + (size_t)(w->first * w->nrhs) * w->size;
  copy_columns(mine, w->rows, x, ldx, w->rows, w->nrhs, w->size);
  TRS_TRY(trs_ranks_pieces(ranks, mine, w->packed, w->counts, w->nrhs * (int64_t)w->size));
  for (int r = 0; r < ranks->size; r++) {
    int64_t rows = first[r + 1] - first[r];
    copy_columns(w->whole + (size_t)first[r] * w->size, w->n,
                 w->packed + (size_t)(first[r] * w->nrhs) * w->size, rows, rows, w->nrhs, w->size);
  }
  return TRS_SUCCESS;
}

static trs_status measure(refinement *w, const void *x, int64_t ldx, const void *b, int64_t ldb,
                          double *error) {
  static double (*const residual_of[])(const trs_matrix *, int64_t, int64_t, const void *,
                                       const void *, int64_t, void *) = TRS_TABLE(residual);
  *error = 0;
  TRS_TRY(gather(w, x, ldx));
  if (w->rows)
    *error = residual_of[w->s->part.scalar](w->A, w->n, w->nrhs, w->whole, b, ldb, w->residual);
  return trs_ranks_reduce(w->s->ranks, error, 1, sizeof *error, trs_join_largest);
}

static trs_status improve(refinement *w, char *x, int64_t ldx, const void *b, int64_t ldb,
                          int steps, double *error, int *taken) {
  static void (*const add_of[])(int64_t, int64_t, const void *, int64_t, void *, int64_t) =
      TRS_TABLE(add_columns);
  double eps = trs_scalar_is_double(w->s->part.scalar) ? DBL_EPSILON : FLT_EPSILON, now;
  char *correction = w->residual + (size_t)(w->rows * w->nrhs) * w->size;
  TRS_TRY(measure(w, x, ldx, b, ldb, error));
  for (*taken = 0; *taken<steps && * error> eps; ++*taken) {
    TRS_TRY(trs_grid_solver_solve(w->s, correction, w->rows, w->residual, w->rows, w->nrhs));
    copy_columns(w->before, w->rows, x, ldx, w->rows, w->nrhs, w->size);
    add_of[w->s->part.scalar](w->rows, w->nrhs, correction, w->rows, x, ldx);
    TRS_TRY(measure(w, x, ldx, b, ldb, &now));
    if (!(now <= *error)) {
      copy_columns(x, ldx, w->before, w->rows, w->rows, w->nrhs, w->size);
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

trs_status trs_grid_refine(trs_grid_solver *s, const trs_matrix *rows, void *x, int64_t ldx,
                           const void *b, int64_t ldb, int64_t nrhs, int steps, double *error,
                           int *taken) {
  const int64_t *first = s->moves.first + s->ranks->rank;
  refinement w = {.s = s,
                  .A = rows,
                  .n = s->layout.n,
                  .first = first[0],
                  .rows = first[1] - first[0],
                  .nrhs = nrhs,
                  .size = trs_scalar_size(s->part.scalar)};
  *error = 0;
  *taken = 0;
  trs_status status = check(&w, steps);
  if (!status) status = make_room(&w);
  status = trs_ranks_agree(s->ranks, status);
  if (!status) status = improve(&w, x, ldx, b, ldb, steps, error, taken);
  TRS_FREE_ALL(w.counts, w.whole, w.packed, w.residual, w.before);
  return status;
}
