/* ilu0_tmpl.c - the elimination of ilu0.c, compiled once for each element type. */

/* Subtracts multiplier times row k of U from row i, on the pattern of row i. */
static void NAME(subtract)(const ilu0_work *w, int64_t i, int64_t k, SCALAR multiplier) {
  SCALAR *val = w->val;
  for (int64_t p = w->diagonal[k] + 1; p < w->ptr[k + 1]; p++) {
    int64_t at = w->position[w->idx[p]];
    if (at >= w->ptr[i]) val[at] -= MUL(multiplier, val[p]);
  }
}

static bool NAME(eliminate)(ilu0_work *w, ilu0_failure *failure) {
  SCALAR *val = w->val;
  for (int64_t j = 0; j < w->n; j++) w->position[j] = -1;
  for (int64_t i = 0; i < w->n; i++) {
    for (int64_t p = w->ptr[i]; p < w->ptr[i + 1]; p++) w->position[w->idx[p]] = p;
    for (int64_t p = w->ptr[i]; p < w->diagonal[i]; p++) {
      int64_t k = w->idx[p];
      val[p] /= val[w->diagonal[k]];
      NAME(subtract)(w, i, k, val[p]);
    }
    REAL size = ABS(val[w->diagonal[i]]);
    if (!isfinite(size) || size == 0) {
      *failure = (ilu0_failure){i, size != 0};
      return false;
    }
  }
  return true;
}
