/* equilibrate.c - scales rows, then columns, to a largest entry near one if the largest entries
 * differ by more than a factor of ten (LAPACK's xGEEQU and its rule).  The factors are powers of
 * two, so that scaling does not round.  Sizes are logarithms: a product of an entry and a factor
 * may be out of range.  O(n + nnz). */
#include <math.h>

#include "factor/kinds.h"
#include "matrix/values.h"

double trs_power_of_two(double exponent, trs_scalar scalar) {
  const double limit = trs_scalar_is_double(scalar) ? 1020 : 124;
  return ldexp(1, (int)lround(fmax(-limit, fmin(exponent, limit))));
}

/* Largest log2 of the absolute values of each row, or of each column of the row-scaled matrix;
 * -INFINITY: only zeros. */
static void largest(double *size, const trs_matrix *B, const double *row_scale, bool columns) {
  for (int64_t i = 0; i < B->nrows; i++) size[i] = row_scale ? -INFINITY : 0;
  for (int64_t i = 0; i < B->nrows; i++) {
    const double row = row_scale ? log2(row_scale[i]) : 0;
    for (int64_t p = B->ptr[i]; p < B->ptr[i + 1]; p++) {
      const double value = trs_value_abs(B->val, p, B->scalar);
      const double scaled = row_scale ? log2(value) + row : value;
      double *at = &size[columns ? B->idx[p] : i];
      if (scaled > *at) *at = scaled;
    }
  }
  for (int64_t i = 0; !row_scale && i < B->nrows; i++) size[i] = log2(size[i]);
}

static trs_status check(const double *size, const trs_factor_input *input, const char *what) {
  for (int64_t i = 0; i < input->B->nrows; i++)
    if (size[i] == -INFINITY) {
      int64_t row = trs_factor_row(input, i);
      return trs_fail(TRS_ERROR_ZERO_PIVOT, row,
                      "LU: %s %lld (0-based) has only zero entries: the matrix is singular", what,
                      (long long)row);
    }
  return TRS_SUCCESS;
}

/* Converts sizes to scale factors; frees them if they are nearly equal. */
static void to_scale(double **size, int64_t n, trs_scalar scalar) {
  double least = INFINITY, most = -INFINITY;
  for (int64_t i = 0; i < n; i++) {
    least = fmin(least, (*size)[i]);
    most = fmax(most, (*size)[i]);
  }
  const double edge = log2(trs_scalar_is_double(scalar) ? 1e200 : 1e20);
  if (n == 0 || (least >= most - log2(10) && least > -edge && most < edge)) {
    trs_free(*size);
    *size = NULL;
    return;
  }
  for (int64_t i = 0; i < n; i++) (*size)[i] = trs_power_of_two(-floor((*size)[i]), scalar);
}

trs_status trs_equilibrate(double **row_scale, double **col_scale, const trs_factor_input *input) {
  const trs_matrix *B = input->B;
  *row_scale = *col_scale = NULL;
  TRS_TRY(TRS_ALLOC(row_scale, B->nrows));
  largest(*row_scale, B, NULL, false);
  TRS_TRY(check(*row_scale, input, "row"));
  to_scale(row_scale, B->nrows, B->scalar);
  TRS_TRY(TRS_ALLOC(col_scale, B->nrows));
  largest(*col_scale, B, *row_scale, true);
  TRS_TRY(check(*col_scale, input, "column"));
  to_scale(col_scale, B->nrows, B->scalar);
  return TRS_SUCCESS;
}
