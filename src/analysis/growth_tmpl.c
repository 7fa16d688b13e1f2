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

/* True if row r of N, row `of` of T, has lost digits to underflow: each product of which a
 * coefficient is the sum is so small that the product, or what is made of it by a reciprocal of the
 * diagonal, is below the normal numbers.  The x of such a row may need the product with a large
 * right-hand side. */
static bool NAME(underflows)(int64_t width, const SCALAR *t, int64_t ldt, int64_t of,
                             const SCALAR *n, int64_t ldn, int64_t r) {
  const double normal = sizeof(REAL) == sizeof(float) ? FLT_MIN : DBL_MIN;
  const double own = fmax(1, (double)ABS(n[of * ldn + r]));
  for (int64_t c = 0; c < width; c++) {
    const double diagonal = (double)ABS(t[c + c * ldt]), tiny = normal * fmax(own, 1 / diagonal);
    if (c == of || (double)ABS(n[c * ldn + r]) >= tiny) continue;
    double most = 0;
    bool path = false;
    for (int64_t k = 0; k < width; k++) {
      if (k == c || n[k * ldn + r] == 0 || t[k + c * ldt] == 0) continue;
      path = true;
      most = fmax(most, (double)ABS(n[k * ldn + r]) * (double)ABS(t[k + c * ldt]) / diagonal);
    }
    if (path && most < tiny) return true;
  }
  return false;
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
    if (!isfinite(growth) || NAME(underflows)(width, t, ldt, from + r, n, ldn, r)) return INFINITY;
    most = fmax(most, growth);
  }
  return most;
}
