/* range.c - finds the first row of x that is not finite, and the reason. */
#include "verify/range.h"

#include <float.h>
#include <math.h>

#include "matrix/values.h"

void trs_range_begin(trs_backward_error *error) {
  *error = (trs_backward_error){.range_row = -1, .range_column = -1};
}

static bool is_finite(double complex value) {
  return isfinite(creal(value)) && isfinite(cimag(value));
}

static double complex element(const void *array, const trs_rhs *rhs, bool of_x, int64_t i,
                              int64_t r, trs_scalar scalar) {
  int64_t at = of_x ? i * rhs->x_row + r * rhs->x_col : i * rhs->b_row + r * rhs->b_col;
  return trs_value_get(array, at, scalar);
}

/* Finds the first such row of the first such column, in the order of the sweep.  False: x is
 * finite. */
static bool find(const trs_rhs *rhs, int64_t n, trs_scalar scalar, bool backward,
                 trs_backward_error *error) {
  for (int64_t r = 0; r < rhs->nrhs; r++)
    for (int64_t k = 0; k < n; k++) {
      int64_t i = backward ? n - 1 - k : k;
      if (is_finite(element(rhs->x, rhs, true, i, r, scalar))) continue;
      error->range_row = i;
      error->range_column = r;
      return true;
    }
  return false;
}

/* ---- A triangle: the row's equation gives the reason. ---- */

typedef struct row_equation {
  double complex b;
  trs_wide known, diagonal; /* sum of t_ij x_j over the earlier x_j; t_ii */
} row_equation;

static bool wide_is_finite(const trs_wide *v) { return isfinite(v->re) && isfinite(v->im); }

static trs_range name_range(const row_equation *e, trs_scalar scalar) {
  long double most = trs_scalar_is_double(scalar) ? DBL_MAX : FLT_MAX;
  long double sum = hypotl(creal(e->b) - e->known.re, cimag(e->b) - e->known.im);
  long double terms = e->known.magnitude + hypotl(creal(e->b), cimag(e->b));
  if (!is_finite(e->b)) return TRS_RANGE_RHS;
  if (!wide_is_finite(&e->known) || !wide_is_finite(&e->diagonal)) return TRS_RANGE_MATRIX;
  if (terms > most) return TRS_RANGE_OVERFLOW;
  return sum > most * e->diagonal.magnitude ? TRS_RANGE_PIVOT : TRS_RANGE_UNEXPLAINED;
}

/* Sets x to a unit vector. */
static void set_unit(trs_wide *x, int64_t n, int64_t i) {
  for (int64_t k = 0; k < n; k++) x[k] = (trs_wide){0};
  x[i] = (trs_wide){.re = 1, .magnitude = 1};
}

static trs_status explain_row(const trs_operand *op, const trs_rhs *rhs, trs_wide *x, trs_wide *y,
                              trs_backward_error *error) {
  const trs_scalar scalar = op->A->scalar;
  int64_t i = error->range_row, r = error->range_column, n = op->A->nrows;
  row_equation e = {.b = element(rhs->b, rhs, false, i, r, scalar)};
  trs_wide_load(x, trs_rhs_columns(rhs, scalar, r, 1).x, rhs->x_row, scalar, n);
  for (int64_t k = 0; k < n; k++)
    if (k == i || !wide_is_finite(&x[k])) x[k] = (trs_wide){0};
  TRS_TRY(trs_wide_apply_any(op, x, y));
  e.known = y[i];
  set_unit(x, n, i);
  TRS_TRY(trs_wide_apply_any(op, x, y));
  e.diagonal = y[i];
  error->range = name_range(&e, scalar);
  return TRS_SUCCESS;
}

trs_status trs_range_explain(const trs_operand *op, const trs_rhs *rhs, trs_wide *x, trs_wide *y,
                             trs_backward_error *error) {
  bool backward = (op->uplo == TRS_UPPER) != (op->trans != TRS_NO_TRANS && op->uplo != TRS_GENERAL);
  if (!find(rhs, op->A->nrows, op->A->scalar, backward, error)) return TRS_SUCCESS;
  return explain_row(op, rhs, x, y, error);
}

/* ---- Factors: x results from two sweeps, so that only faults of the input can be identified.
 * ---- */

static bool matrix_is_finite(const trs_matrix *A) {
  for (int64_t p = 0; p < A->nnz; p++)
    if (!is_finite(trs_value_get(A->val, p, A->scalar))) return false;
  return true;
}

static bool column_is_finite(const trs_rhs *rhs, int64_t n, int64_t r, trs_scalar scalar) {
  for (int64_t i = 0; i < n; i++)
    if (!is_finite(element(rhs->b, rhs, false, i, r, scalar))) return false;
  return true;
}

void trs_range_explain_factors(const trs_factors *F, const trs_rhs *rhs,
                               trs_backward_error *error) {
  if (!find(rhs, F->n, F->scalar, false, error)) return;
  error->range = !column_is_finite(rhs, F->n, error->range_column, F->scalar) ? TRS_RANGE_RHS
                 : !matrix_is_finite(F->L) || !matrix_is_finite(F->U)         ? TRS_RANGE_MATRIX
                                                                              : TRS_RANGE_OVERFLOW;
}
