/* diagonal_tmpl.c - looks for a diagonal that cannot be divided by. */

static bool NAME(is_zero)(const trs_system *S, int64_t p) {
  return ((const SCALAR *)S->val)[p] == 0;
}

/* The first vector whose diagonal is zero, NaN or infinite, or -1. */
static int64_t NAME(first_bad_diagonal)(const trs_system *S) {
  const SCALAR *val = S->val;
  bool prefix = trs_system_prefix(S);
  for (int64_t i = 0; i < S->n; i++) {
    SCALAR d = val[prefix ? S->ptr[i + 1] - 1 : S->ptr[i]];
    if (d == 0 || !isfinite(ABS(d))) return i;
  }
  return -1;
}
