/* ilu0_tmpl.c - the elimination of ilu0.c, compiled once for each element type. */

/* Subtracts a multiple of row k of U, entries begin .. end of it, from row i, of which L's entries
 * from `own` on and U's are searched in row k. */
static void NAME(subtract_long)(const trs_factors *F, int64_t i, int64_t own, int64_t begin,
                                int64_t end, SCALAR multiplier, SCALAR *x) {
  const SCALAR *val = F->U->val;
  for (int upper = 0; upper < 2; upper++) {
    const trs_matrix *T = upper ? F->U : F->L;
    for (int64_t p = upper ? T->ptr[i] : own; p < T->ptr[i + 1]; p++) {
      begin = trs_factor_seek(F->U->idx, begin, end, T->idx[p]);
      if (begin < end && F->U->idx[begin] == T->idx[p]) x[T->idx[p]] -= MUL(multiplier, val[begin]);
    }
  }
}

/* x has row i of B, later of L and U; its other entries are never read.  With levels of fill L and
 * U have entries that B lacks. */
static void NAME(take_row)(const trs_factors *F, const trs_matrix *B, int64_t i,
                           SCALAR *restrict x) {
  const SCALAR *restrict b = B->val;
  if (F->levels) {
    for (int64_t p = F->L->ptr[i]; p < F->L->ptr[i + 1]; p++) x[F->L->idx[p]] = 0;
    for (int64_t p = F->U->ptr[i]; p < F->U->ptr[i + 1]; p++) x[F->U->idx[p]] = 0;
  }
  for (int64_t p = B->ptr[i]; p < B->ptr[i + 1]; p++) x[B->idx[p]] = b[p];
}

/* The entries of L's row.  Zero: all are finite. */
static SCALAR NAME(make_L)(const trs_factors *F, int64_t i, SCALAR *restrict x) {
  const int64_t *restrict ptr = F->U->ptr;
  const int32_t *restrict idx = F->U->idx;
  const SCALAR *restrict u = F->U->val;
  SCALAR *restrict l = F->L->val;
  SCALAR odd = 0;
  for (int64_t p = F->L->ptr[i]; p < F->L->ptr[i + 1]; p++) {
    const int64_t k = F->L->idx[p], begin = ptr[k] + 1, end = ptr[k + 1];
    const SCALAR multiplier = DIV(x[k], u[begin - 1]);
    const int64_t rest = F->L->ptr[i + 1] - p + ptr[i + 1] - ptr[i];
    l[p] = multiplier;
    odd += multiplier - multiplier;
    if ((end - begin) / TRS_FACTOR_LONG > rest)
      NAME(subtract_long)(F, i, p + 1, begin, end, multiplier, x);
    else
      for (int64_t q = begin; q < end; q++) x[idx[q]] -= MUL(multiplier, u[q]);
  }
  return odd;
}

static bool NAME(eliminate)(const trs_factors *F, const trs_matrix *B, void *work,
                            ilu0_outcome *outcome) {
  SCALAR *x = work, *u = F->U->val, odd = 0;
  for (int64_t i = 0; i < F->U->nrows; i++) {
    const int64_t pivot = F->U->ptr[i];
    if (i % TRS_FACTOR_CANCEL == 0 && trs_cancelled()) return false;
    NAME(take_row)(F, B, i, x);
    odd += NAME(make_L)(F, i, x);
    for (int64_t q = pivot; q < F->U->ptr[i + 1]; q++) {
      const SCALAR v = x[F->U->idx[q]];
      u[q] = v;
      odd += v - v;
    }
    const REAL size = ABS(u[pivot]);
    const REAL extremes = 1 / size + 2 * size; /* 2: Smith's sum exceeds a complex pivot */
    odd += extremes - extremes;
    if (isfinite(size) && size != 0) continue;
    *outcome = (ilu0_outcome){i, size != 0, true};
    return false;
  }
  outcome->usable = odd == 0;
  return true;
}
