/* ilu0_tmpl.c - the elimination of ilu0.c, compiled once for each element type. */

/* Subtracts a multiple of row k of U from row i, on the pattern of row i.  The multiplier is entry
 * (i, k), at position own. */
static void NAME(subtract)(const ilu0_work *w, int64_t i, int64_t k, int64_t own) {
  SCALAR *val = w->val, multiplier = val[own];
  int64_t begin = w->diagonal[k] + 1, end = w->ptr[k + 1];
  if ((end - begin) / TRS_FACTOR_LONG > w->ptr[i + 1] - own) {
    for (int64_t at = own + 1; at < w->ptr[i + 1]; at++) {
      begin = trs_factor_seek(w->idx, begin, end, w->idx[at]);
      if (begin < end && w->idx[begin] == w->idx[at]) val[at] -= MUL(multiplier, val[begin]);
    }
    return;
  }
  for (int64_t p = begin; p < end; p++) {
    int64_t at = w->position[w->idx[p]];
    if (at >= w->ptr[i]) val[at] -= MUL(multiplier, val[p]);
  }
}

static bool NAME(eliminate)(ilu0_work *w, ilu0_failure *failure) {
  SCALAR *val = w->val;
  for (int64_t j = 0; j < w->n; j++) w->position[j] = -1;
  for (int64_t i = 0; i < w->n; i++) {
    if (i % TRS_FACTOR_CANCEL == 0 && trs_cancelled()) return false;
    for (int64_t p = w->ptr[i]; p < w->ptr[i + 1]; p++) w->position[w->idx[p]] = p;
    for (int64_t p = w->ptr[i]; p < w->diagonal[i]; p++) {
      int64_t k = w->idx[p];
      val[p] = DIV(val[p], val[w->diagonal[k]]);
      NAME(subtract)(w, i, k, p);
    }
    REAL size = ABS(val[w->diagonal[i]]);
    if (!isfinite(size) || size == 0) {
      *failure = (ilu0_failure){i, size != 0};
      return false;
    }
  }
  return true;
}
