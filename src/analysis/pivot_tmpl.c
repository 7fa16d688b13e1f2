/* pivot_tmpl.c - can this diagonal entry be divided by?  Included by templates
 * (base/instantiate.h). */

/* By the denominator of its reciprocal (Smith 1962), as in matrix/device.cu. */
TRS_INLINE trs_pivot NAME(look_at_pivot)(SCALAR d) {
  REAL re = (REAL)fabs((double)creal(d)), im = (REAL)fabs((double)cimag(d));
  REAL large = re > im ? re : im, small = re > im ? im : re;
  const REAL least = sizeof re == sizeof(float) ? (REAL)FLT_MIN : (REAL)DBL_MIN;
  if (re + im >= least && re + im <= 1 / least) return TRS_PIVOT_GOOD; /* nearly all */
  if (!isfinite(re) || !isfinite(im)) return TRS_PIVOT_NOT_FINITE;
  if (large == 0) return TRS_PIVOT_ZERO;
  REAL denominator = large + small * (small / large);
  return isfinite(denominator) && isfinite(1 / denominator) ? TRS_PIVOT_GOOD : TRS_PIVOT_EXTREME;
}
