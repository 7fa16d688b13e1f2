/* expand_tmpl.c - stores entries and their mirror images in their rows, for one element type. */

/* next[row] is the position of the row's next entry. */
static void NAME(scatter)(const trs_entries *e, int64_t *next, int32_t *idx, void *values) {
  const SCALAR *from = e->val;
  SCALAR *to = values;
  for (int64_t k = 0; k < e->count; k++) {
    int32_t i = e->major[k], j = e->minor[k];
    SCALAR value = from[k];
    int64_t at = next[i]++;
    idx[at] = j;
    to[at] = value;
    if (e->symmetry == TRS_UNSYMMETRIC || i == j) continue;
    if (e->symmetry == TRS_SKEW_SYMMETRIC) value = -value;
    if (e->symmetry == TRS_HERMITIAN) value = CONJ(value);
    at = next[j]++;
    idx[at] = i;
    to[at] = value;
  }
}
