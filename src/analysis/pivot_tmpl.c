/* pivot_tmpl.c - can this diagonal entry be divided by, and another entry beforehand?  Included by
 * templates (base/instantiate.h). */

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

/* The larger part is within the square roots of the range of its type. */
TRS_INLINE bool NAME(is_moderate)(SCALAR a) {
  const REAL re = (REAL)fabs((double)creal(a)), im = (REAL)fabs((double)cimag(a));
  const REAL large = re > im ? re : im;
  const REAL most = sizeof re == sizeof(float) ? (REAL)0x1p63 : (REAL)0x1p511;
  return large >= 1 / most && large <= most;
}

/* True if sum inverse - (a inverse) x has the digits of (sum - a x) inverse for every sum and x but
 * those near the limits of the range: neither the quotient nor a product with it may underflow or
 * overflow where the x of the row does not. */
TRS_INLINE bool NAME(scales)(SCALAR a, SCALAR inverse) {
  return NAME(is_moderate)(inverse) && (a == 0 || NAME(is_moderate)(MUL(a, inverse)));
}
