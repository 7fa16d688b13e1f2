/* condition_tmpl.c - products and solves with one triangle, in place, for vectors of double complex
 * whatever the type of the values.  Entries across the diagonal, of a matrix that holds both
 * factors, are passed over. */

TRS_INLINE double complex NAME(entry)(const trs_triangle_view *T, int64_t p) {
  const double complex value = (double complex)((const SCALAR *)T->val)[p];
  return T->conjugate ? conj(value) : value;
}

/* Row i of op(T) is vector i: x[i] becomes its product with x, or its unknown. */
static void NAME(gather)(const trs_triangle_view *T, bool solve, double complex *x, int64_t i) {
  double complex sum = 0, diagonal = 1;
  for (int64_t p = T->ptr[i]; p < T->ptr[i + 1]; p++) {
    const int32_t j = T->idx[p];
    if (j == i && !T->unit) diagonal = NAME(entry)(T, p);
    if (T->below ? j < i : j > i) sum += NAME(entry)(T, p) * x[j];
  }
  x[i] = solve ? (x[i] - sum) / diagonal : diagonal * x[i] + sum;
}

/* Column j of op(T) is vector j, which adds its part to the other unknowns. */
static void NAME(scatter)(const trs_triangle_view *T, bool solve, double complex *x, int64_t j) {
  double complex diagonal = 1;
  for (int64_t p = T->ptr[j]; !T->unit && p < T->ptr[j + 1]; p++)
    if (T->idx[p] == j) diagonal = NAME(entry)(T, p);
  if (solve) x[j] /= diagonal;
  const double complex factor = solve ? -x[j] : x[j];
  for (int64_t p = T->ptr[j]; p < T->ptr[j + 1]; p++) {
    const int32_t i = T->idx[p];
    if (T->below ? i < j : i > j) x[i] += NAME(entry)(T, p) * factor;
  }
  if (!solve) x[j] *= diagonal;
}

/* A solve begins where op(T) has one entry; a product ends there, so that x is not overwritten
 * before it is read. */
static void NAME(sweep)(const trs_triangle_view *T, bool solve, double complex *x) {
  const bool up = T->forward == solve;
  for (int64_t k = 0; k < T->n; k++) {
    const int64_t i = up ? k : T->n - 1 - k;
    if (T->by_rows)
      NAME(gather)(T, solve, x, i);
    else
      NAME(scatter)(T, solve, x, i);
  }
}
