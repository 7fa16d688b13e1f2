/* diagonal_tmpl.c - finds diagonal entries that have no usable reciprocal. */

/* By the denominator of its reciprocal (Smith 1962), as in matrix/device.cu. */
static trs_pivot NAME(pivot)(const trs_system *S, int64_t p) {
  SCALAR d = ((const SCALAR *)S->val)[p];
  REAL re = (REAL)fabs((double)creal(d)), im = (REAL)fabs((double)cimag(d));
  REAL large = re > im ? re : im, small = re > im ? im : re;
  const REAL least = sizeof re == sizeof(float) ? (REAL)FLT_MIN : (REAL)DBL_MIN;
  if (re + im >= least && re + im <= 1 / least) return TRS_PIVOT_GOOD; /* nearly all entries */
  if (!isfinite(re) || !isfinite(im)) return TRS_PIVOT_NOT_FINITE;
  if (large == 0) return TRS_PIVOT_ZERO;
  REAL denominator = large + small * (small / large);
  return isfinite(denominator) && isfinite(1 / denominator) ? TRS_PIVOT_GOOD : TRS_PIVOT_EXTREME;
}

/* The first vector whose diagonal entry is not good, or -1. */
static int64_t NAME(first_bad_diagonal)(const trs_system *S) {
  bool prefix = trs_system_prefix(S);
  for (int64_t i = 0; i < S->n; i++)
    if (NAME(pivot)(S, prefix ? S->ptr[i + 1] - 1 : S->ptr[i]) != TRS_PIVOT_GOOD) return i;
  return -1;
}
