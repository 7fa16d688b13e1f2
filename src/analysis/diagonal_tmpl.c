/* diagonal_tmpl.c - finds diagonal entries that have no usable reciprocal, and rows whose entries
 * must not be divided before they are multiplied. */

#include "analysis/pivot_tmpl.c"

static trs_pivot NAME(pivot)(const trs_system *S, int64_t p) {
  return NAME(look_at_pivot)(((const SCALAR *)S->val)[p]);
}

/* The first vector from begin to end whose diagonal entry is not good, or -1. */
static int64_t NAME(first_bad_diagonal)(const trs_system *S, int64_t begin, int64_t end) {
  bool prefix = trs_system_prefix(S);
  for (int64_t i = begin; i < end; i++)
    if (NAME(pivot)(S, prefix ? S->ptr[i + 1] - 1 : S->ptr[i]) != TRS_PIVOT_GOOD) return i;
  return -1;
}

/* Well within the bounds of is_moderate: a quotient of two such entries is moderate. */
static bool NAME(is_mild)(SCALAR a) {
  const REAL re = (REAL)fabs((double)creal(a)), im = (REAL)fabs((double)cimag(a));
  const REAL most = sizeof re == sizeof(float) ? (REAL)0x1p30 : (REAL)0x1p254;
  return re + im >= 1 / most && re + im <= most;
}

/* The same for rows whose entry beside the diagonal does not scale. */
static int64_t NAME(first_unscaled)(const trs_system *S, int64_t begin, int64_t end) {
  const SCALAR *val = S->val;
  const bool prefix = trs_system_prefix(S);
  for (int64_t i = begin; i < end; i++) {
    const int64_t diagonal = prefix ? S->ptr[i + 1] - 1 : S->ptr[i];
    const bool alone = S->ptr[i + 1] - S->ptr[i] == 1;
    const SCALAR a = alone ? 0 : val[prefix ? diagonal - 1 : diagonal + 1];
    if (NAME(is_mild)(val[diagonal]) && (a == 0 || NAME(is_mild)(a))) continue; /* nearly all */
    if (!NAME(scales)(a, 1 / val[diagonal])) return i;
  }
  return -1;
}
