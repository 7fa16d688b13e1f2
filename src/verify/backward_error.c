/* backward_error.c - residuals in long double for every element type: simple, slow and independent
 * of every solver.  O(nnz nrhs). */
#include "verify/backward_error.h"

#include <math.h>
#include <string.h>

#include "matrix/values.h"
#include "verify/range.h"

static long double magnitude(long double re, long double im) {
  return im == 0 ? fabsl(re) : hypotl(re, im);
}

static void add_product(trs_wide *y, double complex a, const trs_wide *x, double smallest) {
  long double re = creal(a), im = cimag(a), size = magnitude(re, im);
  y->re += re * x->re - im * x->im;
  y->im += re * x->im + im * x->re;
  y->magnitude += size * x->magnitude;
  y->underflow += size * x->underflow + smallest;
}

static bool counts(const trs_operand *op, int64_t row, int64_t col) {
  if (row == col) return op->diag == TRS_NONUNIT;
  return op->uplo == TRS_GENERAL || (op->uplo == TRS_LOWER) == (row > col);
}

static void begin_product(const trs_operand *op, const trs_wide *x, trs_wide *y) {
  for (int64_t i = 0; i < op->A->nrows; i++) y[i] = op->diag == TRS_UNIT ? x[i] : (trs_wide){0};
}

/* Multiplies by vectors begin .. end - 1, whose values are val. */
static void apply_vectors(const trs_operand *op, int64_t begin, int64_t end, const void *val,
                          const trs_wide *x, trs_wide *y) {
  const trs_matrix *A = op->A;
  const double smallest = trs_smallest_normal(A->scalar);
  bool turned = op->trans != TRS_NO_TRANS, by_rows = A->format == TRS_CSR;
  for (int64_t v = begin; v < end; v++)
    for (int64_t p = A->ptr[v]; p < A->ptr[v + 1]; p++) {
      int64_t row = by_rows ? v : A->idx[p], col = by_rows ? A->idx[p] : v;
      if (!counts(op, row, col)) continue;
      double complex a = trs_value_get(val, p - A->ptr[begin], A->scalar);
      if (op->trans == TRS_CONJ_TRANS) a = conj(a);
      add_product(&y[turned ? col : row], a, &x[turned ? row : col], smallest);
    }
}

void trs_wide_apply(const trs_operand *op, const trs_wide *x, trs_wide *y) {
  begin_product(op, x, y);
  apply_vectors(op, 0, op->A->nvectors, op->A->val, x, y);
}

void trs_wide_load(trs_wide *wide, const void *x, int64_t x_row, trs_scalar scalar, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    double complex value = trs_value_get(x, i * x_row, scalar);
    wide[i] = (trs_wide){creal(value), cimag(value), magnitude(creal(value), cimag(value)),
                         trs_smallest_normal(scalar)};
  }
}

void trs_wide_compare(const trs_wide *y, const void *b, int64_t b_row, trs_scalar scalar, int64_t n,
                      trs_backward_error *error) {
  long double worst_residual = 0, worst_scale = 0;
  for (int64_t i = 0; i < n; i++) {
    double complex bi = trs_value_get(b, i * b_row, scalar);
    long double residual = magnitude(creal(bi) - y[i].re, cimag(bi) - y[i].im);
    long double scale = y[i].magnitude + magnitude(creal(bi), cimag(bi));
    if (residual > 0 && y[i].underflow > scale) error->underflow_rows++;
    scale += y[i].underflow;
    /* 0 / 0 is an exact row; a NaN must not count as small */
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

/* ---- Deferred values, requested in parts for several columns at once. ---- */

/* Entries per part.  Few parts, because each may be a pass over a file. */
static int64_t part_entries(const trs_matrix *A) {
  static const int64_t LEAST = 1 << 20;
  enum { PARTS = 8 };
  return A->nnz / PARTS > LEAST ? A->nnz / PARTS : LEAST;
}

static int64_t part_end(const trs_matrix *A, int64_t begin) {
  int64_t end = begin + 1;
  while (end < A->nvectors && A->ptr[end + 1] - A->ptr[begin] <= part_entries(A)) end++;
  return end;
}

static trs_status request_part(const trs_matrix *A, int64_t begin, int64_t end, void **val) {
  int32_t *vector;
  TRS_TRY(TRS_ALLOC(&vector, end - begin));
  for (int64_t v = begin; v < end; v++) vector[v - begin] = (int32_t)v;
  trs_status status = trs_matrix_ask(A, end - begin, vector, val);
  trs_free(vector);
  return status;
}

static trs_status apply_parts(const trs_operand *op, const trs_wide *x, trs_wide *y,
                              int64_t columns) {
  const trs_matrix *A = op->A;
  for (int64_t begin = 0, end; begin < A->nvectors; begin = end) {
    void *val;
    end = part_end(A, begin);
    TRS_TRY(request_part(A, begin, end, &val));
    for (int64_t r = 0; r < columns; r++)
      apply_vectors(op, begin, end, val, x + r * A->nrows, y + r * A->nrows);
    trs_free(val);
  }
  return TRS_SUCCESS;
}

/* The number of columns whose workspace takes no more memory than a part. */
static int64_t columns_together(const trs_matrix *A, int64_t nrhs) {
  if (!trs_matrix_is_deferred(A)) return 1;
  int64_t part = part_entries(A) * (int64_t)trs_scalar_size(A->scalar);
  int64_t most = part / (2 * (int64_t)sizeof(trs_wide) * (A->nrows + 1));
  return most < 1 ? 1 : most < nrhs ? most : nrhs;
}

static trs_status measure_columns(const trs_operand *op, const trs_rhs *rhs, int64_t first,
                                  int64_t columns, trs_wide *x, trs_wide *y,
                                  trs_backward_error *error) {
  const trs_scalar scalar = op->A->scalar;
  const int64_t n = op->A->nrows;
  for (int64_t r = 0; r < columns; r++) {
    const trs_rhs column = trs_rhs_columns(rhs, scalar, first + r, 1);
    trs_wide_load(x + r * n, column.x, rhs->x_row, scalar, n);
    begin_product(op, x + r * n, y + r * n);
  }
  if (trs_matrix_is_deferred(op->A))
    TRS_TRY(apply_parts(op, x, y, columns));
  else
    apply_vectors(op, 0, op->A->nvectors, op->A->val, x, y);
  for (int64_t r = 0; r < columns; r++) {
    const trs_rhs column = trs_rhs_columns(rhs, scalar, first + r, 1);
    trs_wide_compare(y + r * n, column.b, rhs->b_row, scalar, n, error);
  }
  return TRS_SUCCESS;
}

trs_status trs_wide_apply_any(const trs_operand *op, const trs_wide *x, trs_wide *y) {
  begin_product(op, x, y);
  if (trs_matrix_is_deferred(op->A)) return apply_parts(op, x, y, 1);
  apply_vectors(op, 0, op->A->nvectors, op->A->val, x, y);
  return TRS_SUCCESS;
}

trs_status trs_backward_error_of(const trs_operand *op, const trs_rhs *rhs,
                                 trs_backward_error *error) {
  const int64_t n = op->A->nrows, together = columns_together(op->A, rhs->nrhs);
  trs_wide *x, *y = NULL;
  trs_range_begin(error);
  trs_status status = TRS_ALLOC_ALL(TRS_ROOM(&x, n * together), TRS_ROOM(&y, n * together));
  for (int64_t r = 0; !status && r < rhs->nrhs; r += together) {
    int64_t columns = rhs->nrhs - r < together ? rhs->nrhs - r : together;
    status = measure_columns(op, rhs, r, columns, x, y, error);
  }
  if (!status && !isfinite(error->componentwise)) status = trs_range_explain(op, rhs, x, y, error);
  TRS_FREE_ALL(x, y);
  return status;
}
