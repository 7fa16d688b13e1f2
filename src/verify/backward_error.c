/* backward_error.c - residuals in long double, whatever the element type: slow, obvious and
 * independent of every solver.  O(nnz nrhs). */
#include "verify/backward_error.h"

#include <math.h>
#include <string.h>

#include "matrix/values.h"

static long double magnitude(long double re, long double im) {
  return im == 0 ? fabsl(re) : hypotl(re, im);
}

static void add_product(trs_wide *y, double complex a, const trs_wide *x) {
  long double re = creal(a), im = cimag(a);
  y->re += re * x->re - im * x->im;
  y->im += re * x->im + im * x->re;
  y->magnitude += magnitude(re, im) * x->magnitude;
}

static bool counts(const trs_operand *op, int64_t row, int64_t col) {
  if (row == col) return op->diag == TRS_NONUNIT;
  return op->uplo == TRS_GENERAL || (op->uplo == TRS_LOWER) == (row > col);
}

void trs_wide_apply(const trs_operand *op, const trs_wide *x, trs_wide *y) {
  const trs_matrix *A = op->A;
  bool turned = op->trans != TRS_NO_TRANS, by_rows = A->format == TRS_CSR;
  for (int64_t i = 0; i < A->nrows; i++) y[i] = op->diag == TRS_UNIT ? x[i] : (trs_wide){0};
  for (int64_t v = 0; v < A->nvectors; v++)
    for (int64_t p = A->ptr[v]; p < A->ptr[v + 1]; p++) {
      int64_t row = by_rows ? v : A->idx[p], col = by_rows ? A->idx[p] : v;
      if (!counts(op, row, col)) continue;
      double complex a = trs_value_get(A->val, p, A->scalar);
      if (op->trans == TRS_CONJ_TRANS) a = conj(a);
      add_product(&y[turned ? col : row], a, &x[turned ? row : col]);
    }
}

void trs_wide_load(trs_wide *wide, const void *x, int64_t x_row, trs_scalar scalar, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    double complex value = trs_value_get(x, i * x_row, scalar);
    wide[i] = (trs_wide){creal(value), cimag(value), magnitude(creal(value), cimag(value))};
  }
}

void trs_wide_compare(const trs_wide *y, const void *b, int64_t b_row, trs_scalar scalar, int64_t n,
                      trs_backward_error *error) {
  long double worst_residual = 0, worst_scale = 0;
  for (int64_t i = 0; i < n; i++) {
    double complex bi = trs_value_get(b, i * b_row, scalar);
    long double residual = magnitude(creal(bi) - y[i].re, cimag(bi) - y[i].im);
    long double scale = y[i].magnitude + magnitude(creal(bi), cimag(bi));
    /* 0 / 0 is a row that is exactly right; a NaN anywhere must not pass for small */
    double ratio = residual == 0 ? 0 : (double)(residual / scale);
    if (!(ratio <= error->componentwise)) {
      error->componentwise = isnan(ratio) ? INFINITY : ratio;
      error->worst_row = i;
    }
    if (!(residual <= worst_residual)) worst_residual = isnan(residual) ? INFINITY : residual;
    worst_scale = fmaxl(worst_scale, scale);
  }
  double ratio = worst_residual == 0 ? 0 : (double)(worst_residual / worst_scale);
  if (!(ratio <= error->normwise)) error->normwise = isnan(ratio) ? INFINITY : ratio;
}

trs_status trs_backward_error_of(const trs_operand *op, const trs_rhs *rhs,
                                 trs_backward_error *error) {
  int64_t n = op->A->nrows;
  size_t size = trs_scalar_size(op->A->scalar);
  trs_wide *x, *y = NULL;
  *error = (trs_backward_error){0};
  trs_status status = TRS_ALLOC(&x, n);
  if (!status) status = TRS_ALLOC(&y, n);
  for (int64_t r = 0; !status && r < rhs->nrhs; r++) {
    const char *b = (const char *)rhs->b + (size_t)(r * rhs->b_col) * size;
    trs_wide_load(x, (const char *)rhs->x + (size_t)(r * rhs->x_col) * size, rhs->x_row,
                  op->A->scalar, n);
    trs_wide_apply(op, x, y);
    trs_wide_compare(y, b, rhs->b_row, op->A->scalar, n, error);
  }
  trs_free(x);
  trs_free(y);
  return status;
}
