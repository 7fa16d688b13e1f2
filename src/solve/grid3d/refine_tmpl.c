/* refine_tmpl.c - residuals of some rows, for one element type. */

/* r = b - A x for rows of A with all columns.  Returns the largest componentwise backward error,
 * with an allowance for underflow (verify/backward_error.h).  x is whole, by columns. */
static double NAME(residual)(const trs_matrix *A, int64_t n, int64_t nrhs, const void *X,
                             const trs_rhs *rhs, void *R) {
  const WIDE_REAL smallest = sizeof(REAL) == sizeof(double) ? DBL_MIN : FLT_MIN;
  double worst = 0;
  for (int64_t j = 0; j < nrhs; j++)
    for (int64_t i = 0; i < A->nrows; i++) {
      const SCALAR *x = (const SCALAR *)X + j * n;
      SCALAR b = ((const SCALAR *)rhs->b)[i * rhs->b_row + j * rhs->b_col];
      WIDE sum = b;
      WIDE_REAL size = ABS(b);
      for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) {
        SCALAR a = ((const SCALAR *)A->val)[p], v = x[A->idx[p]];
        sum -= (WIDE)a * (WIDE)v;
        size += (WIDE_REAL)ABS(a) * ((WIDE_REAL)ABS(v) + smallest) + smallest;
      }
      SCALAR r = (SCALAR)sum;
      ((SCALAR *)R)[i + j * A->nrows] = r;
      double error = size > 0 ? (double)(ABS(r) / size) : 0;
      if (!(error <= worst)) worst = error;
    }
  return worst;
}

/* x += from, by columns. */
static void NAME(add)(int64_t m, const void *from, const trs_rhs *rhs) {
  for (int64_t j = 0; j < rhs->nrhs; j++)
    for (int64_t i = 0; i < m; i++)
      ((SCALAR *)rhs->x)[i * rhs->x_row + j * rhs->x_col] += ((const SCALAR *)from)[i + j * m];
}

/* Copies m x n values; element (i, j) of each array is [i * row + j * col]. */
static void NAME(copy)(int64_t m, int64_t n, void *to, int64_t to_row, int64_t to_col,
                       const void *from, int64_t row, int64_t col) {
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < m; i++)
      ((SCALAR *)to)[i * to_row + j * to_col] = ((const SCALAR *)from)[i * row + j * col];
}
