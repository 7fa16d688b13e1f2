/* growth_tmpl.c - the growth of some rows of an inverse, for one element type. */

/* The relative size of each x: 1 over the largest entry of its column of T, after division of each
 * row by its largest entry. */
static void NAME(scale_columns)(int64_t width, const SCALAR *t, int64_t ld, double *row,
                                double *x) {
  for (int64_t k = 0; k < width; k++) row[k] = x[k] = 0;
  for (int64_t c = 0; c < width; c++)
    for (int64_t k = 0; k < width; k++) row[k] = fmax(row[k], (double)ABS(t[k + c * ld]));
  for (int64_t c = 0; c < width; c++) {
    for (int64_t k = 0; k < width; k++) x[c] = fmax(x[c], (double)ABS(t[k + c * ld]) / row[k]);
    x[c] = 1 / x[c];
  }
}

/* at: the diagonal entry of T and of N at which the block begins, in T's row and column. */
static double NAME(growth)(int64_t width, const void *T, int64_t ldt, int64_t at, int64_t from,
                           int64_t rows, const void *N, int64_t ldn, double *room) {
  const SCALAR *t = (const SCALAR *)T + at * (ldt + 1), *n = (const SCALAR *)N + at * (ldn + 1);
  double *sum = room, *x = room + width, most = 0;
  NAME(scale_columns)(width, t, ldt, sum, x);
  for (int64_t k = 0; k < width; k++) sum[k] = 0;
  for (int64_t c = 0; c < width; c++)
    for (int64_t k = 0; k < width; k++) sum[k] += (double)ABS(t[k + c * ldt]) * x[c];
  for (int64_t r = 0; r < rows; r++) {
    double growth = 0;
    for (int64_t k = 0; k < width; k++) growth += (double)ABS(n[k * ldn + r]) * sum[k];
    growth /= x[from + r];
    if (!isfinite(growth)) return INFINITY;
    most = fmax(most, growth);
  }
  return most;
}
