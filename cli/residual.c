/* residual.c - |b - A x| / |b|, row by row in double precision.  O(entries) for each column. */
#include "residual.h"

#include <math.h>
#include <stdbool.h>

double relative(double left, double right) { return left == 0 ? 0 : left / right; }

double larger(double a, double b) { return isnan(a) || a > b ? a : b; }

typedef struct rows {
  const int64_t *ptr;
  const int32_t *idx;
  const void *val;
  int64_t n;
  bool single;
} rows;

static double value(const rows *A, const void *array, int64_t at) {
  return A->single ? (double)((const float *)array)[at] : ((const double *)array)[at];
}

/* Norms are added as such, for squares have half the range. */
static double column_ratio(const rows *A, const void *x, const void *b, int64_t first) {
  double left = 0, right = 0;
  for (int64_t i = 0; i < A->n; i++) {
    double all = value(A, b, first + i), r = all;
    for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++)
      r -= value(A, A->val, p) * value(A, x, first + A->idx[p]);
    left = hypot(left, r);
    right = hypot(right, all);
  }
  return relative(left, right);
}

trs_status relative_residual(double *ratio, const trs_matrix *A, const void *x, const void *b,
                             int64_t nrhs) {
  trs_matrix *by_rows = NULL;
  trs_matrix_info info = {.struct_size = sizeof info};
  trs_matrix_get_info(A, &info);
  trs_status status = TRS_SUCCESS;
  if (info.format != TRS_CSR) status = trs_matrix_convert(&by_rows, A, TRS_CSR, info.scalar);
  if (status) return status;
  rows R = {.n = info.nrows, .single = info.scalar == TRS_FLOAT};
  trs_matrix_get_arrays(by_rows ? by_rows : A, &R.ptr, &R.idx, &R.val);
  *ratio = 0;
  for (int64_t c = 0; c < nrhs; c++) *ratio = larger(*ratio, column_ratio(&R, x, b, c * R.n));
  trs_matrix_destroy(by_rows);
  return TRS_SUCCESS;
}
