/* equilibrate.c - scales rows, then columns, to a largest entry near one if the largest entries
 * differ by more than a factor of ten (LAPACK's xGEEQU and its rule).  The factors are powers of
 * two, so that scaling does not round, and a product of an entry and its row's factor is below two.
 * O(n + nnz). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "factor/kinds.h"
#include "matrix/values.h"

/* Within the limits that the reciprocals of both types have. */
static double power_of_two(int exponent, trs_scalar scalar) {
  const int limit = trs_scalar_is_double(scalar) ? 1020 : 124;
  exponent = exponent > limit ? limit : exponent < -limit ? -limit : exponent;
  const uint64_t bits = (uint64_t)(1023 + exponent) << 52;
  double power;
  memcpy(&power, &bits, sizeof power);
  return power;
}

double trs_power_of_two(double exponent, trs_scalar scalar) {
  const double limit = 2000, near = exponent < limit ? exponent : limit;
  if (near < -limit) return power_of_two((int)-limit, scalar);
  return power_of_two((int)(near < 0 ? near - 0.5 : near + 0.5), scalar);
}

/* The greatest power of two that a positive value reaches is 2^this, in the range of normal
 * numbers. */
static int exponent_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (int)(bits >> 52 & 0x7ff) - 1023;
}

static void largest_of_rows(double *size, const trs_matrix *B) {
  for (int64_t i = 0; i < B->nrows; i++) {
    double most = 0;
    for (int64_t p = B->ptr[i]; p < B->ptr[i + 1]; p++) {
      const double value = trs_value_abs(B->val, p, B->scalar);
      if (value > most) most = value;
    }
    size[i] = most;
  }
}

/* Of the matrix with scaled rows. */
static void largest_of_columns(double *size, const trs_matrix *B, const double *row_scale) {
  memset(size, 0, (size_t)B->nrows * sizeof *size);
  for (int64_t i = 0; i < B->nrows; i++) {
    const double row = row_scale ? row_scale[i] : 1;
    for (int64_t p = B->ptr[i]; p < B->ptr[i + 1]; p++) {
      const double value = trs_value_abs(B->val, p, B->scalar);
      double scaled = value * row, *most = &size[B->idx[p]];
      if (scaled < DBL_MIN && value > 0) scaled = DBL_MIN; /* not zero */
      if (scaled > *most) *most = scaled;
    }
  }
}

static trs_status check(const double *size, const trs_factor_input *input, const char *what) {
  for (int64_t i = 0; i < input->B->nrows; i++)
    if (size[i] == 0) {
      int64_t row = trs_factor_row(input, i);
      return trs_fail(TRS_ERROR_ZERO_PIVOT, row,
                      "LU: %s %lld (0-based) has only zero entries: the matrix is singular", what,
                      (long long)row);
    }
  return TRS_SUCCESS;
}

/* Converts sizes to scale factors; frees them if they are nearly equal. */
static void to_scale(double **size, int64_t n, trs_scalar scalar) {
  double least = INFINITY, most = 0, *scale = *size;
  for (int64_t i = 0; i < n; i++) {
    least = scale[i] < least ? scale[i] : least;
    most = scale[i] > most ? scale[i] : most;
  }
  const double edge = trs_scalar_is_double(scalar) ? 1e200 : 1e20;
  if (n == 0 || (log2(least) >= log2(most) - log2(10) && least > 1 / edge && most < edge)) {
    trs_free(scale);
    *size = NULL;
    return;
  }
  for (int64_t i = 0; i < n; i++) scale[i] = power_of_two(-exponent_of(scale[i]), scalar);
}

trs_status trs_equilibrate(double **row_scale, double **col_scale, const trs_factor_input *input) {
  const trs_matrix *B = input->B;
  *row_scale = *col_scale = NULL;
  TRS_TRY(TRS_ALLOC(row_scale, B->nrows));
  largest_of_rows(*row_scale, B);
  TRS_TRY(check(*row_scale, input, "row"));
  to_scale(row_scale, B->nrows, B->scalar);
  TRS_TRY(TRS_ALLOC(col_scale, B->nrows));
  largest_of_columns(*col_scale, B, *row_scale);
  TRS_TRY(check(*col_scale, input, "column"));
  to_scale(col_scale, B->nrows, B->scalar);
  return TRS_SUCCESS;
}
