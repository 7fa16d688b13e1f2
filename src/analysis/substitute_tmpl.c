/* substitute_tmpl.c - the values of D and M, and the growth of a row, for one element type. */

TRS_INLINE SCALAR NAME(value_at)(const work *w, int64_t p) {
  const SCALAR a = ((const SCALAR *)w->S->val)[p];
  return IS_COMPLEX && w->S->conj ? CONJ(a) : a;
}

static SCALAR NAME(diagonal_value)(const work *w, int32_t k) {
  return w->S->unit ? 1 : NAME(value_at)(w, diagonal_of(w, k));
}

/* The sizes of x. */
static void NAME(find_sizes)(work *w) {
  for (int64_t k = 0; k < w->S->n; k++) {
    const int64_t count = count_of(w, (int32_t)k);
    const double own = (double)ABS(NAME(diagonal_value)(w, (int32_t)k));
    double most = own;
    int32_t c;
    for (int64_t e = 0; e < count; e++)
      most = fmax(most, (double)ABS(NAME(value_at)(w, entry_of(w, (int32_t)k, e, &c))));
    for (int64_t e = 0; e < count; e++) {
      const int64_t p = entry_of(w, (int32_t)k, e, &c);
      w->size[c] = fmax(w->size[c], (double)ABS(NAME(value_at)(w, p)) / most);
    }
    w->size[k] = fmax(w->size[k], own / most);
  }
  for (int64_t k = 0; k < w->S->n; k++) w->size[k] = 1 / w->size[k];
}

/* True if a product of numbers other than zero has lost digits to underflow. */
static bool NAME(underflows)(SCALAR product, SCALAR a, SCALAR b) {
  const double tiny = sizeof(REAL) == 4 ? (double)FLT_MIN / FLT_EPSILON : DBL_MIN / DBL_EPSILON;
  return a != 0 && b != 0 && !((double)ABS(product) >= tiny);
}

/* The values of row k of M, from entries that are kept and rows that are substituted, in the order
 * of the sweep.  layer -1: none.  False if the growth is too large. */
static bool NAME(find_values)(work *w, int32_t k, int64_t count, int32_t layer) {
  const row *r = &w->row[k];
  SCALAR *m = (SCALAR *)w->val + r->begin;
  const SCALAR diagonal = NAME(diagonal_value)(w, k), inverse = 1 / diagonal;
  double own = (double)ABS(diagonal) * w->size[k], sum = w->size[k], bound = 0;
  bool lost = false;
  int32_t c;
  for (int64_t p = 0; p < r->count; p++) {
    w->at[w->idx[r->begin + p]] = (int32_t)p;
    m[p] = 0;
  }
  for (int64_t e = 0; e < count; e++) {
    const SCALAR a = NAME(value_at)(w, entry_of(w, k, e, &c));
    own += (double)ABS(a) * w->size[c];
    if (layer < 0 || !is_substituted(w, k, c, layer)) m[w->at[c]] = a;
  }
  for (int64_t e = 0; e < count && layer >= 0; e++) {
    const SCALAR a = NAME(value_at)(w, entry_of(w, k, e, &c));
    if (!is_substituted(w, k, c, layer)) continue;
    const row *its = &w->row[c];
    bound += (double)ABS(a) * w->largest[c];
    for (int64_t p = its->begin; p < its->begin + its->count; p++) {
      const SCALAR b = ((const SCALAR *)w->val)[p], product = MUL(a, b);
      m[w->at[w->idx[p]]] -= product;
      lost |= NAME(underflows)(product, a, b);
    }
  }
  for (int64_t p = 0; p < r->count; p++) {
    const SCALAR a = m[p];
    m[p] = MUL(a, inverse);
    lost |= NAME(underflows)(m[p], a, inverse);
    sum += (double)ABS(m[p]) * w->size[w->idx[r->begin + p]];
  }
  w->largest[k] = sum;
  bound += (double)ABS(diagonal) * sum;
  return !lost && isfinite(bound) && bound <= TRS_SUBSTITUTION_GROWTH * own;
}

static void NAME(copy_row)(const work *w, const trs_substitution *result, int32_t k) {
  const trs_system *S = w->S;
  const row *r = &w->row[k];
  const int64_t i = trs_in_sweep(S, k), count = count_of(w, k);
  const int64_t m = result->M.ptr[i], d = result->D.ptr[i];
  const int64_t more = !S->unit;
  int64_t to = S->lower ? 0 : r->substituted - 1 + more;
  int32_t c;
  for (int64_t p = 0; p < r->count; p++) {
    const int64_t at = m + (S->lower ? p : r->count - 1 - p);
    ((int32_t *)result->M.idx)[at] = (int32_t)trs_in_sweep(S, w->idx[r->begin + p]);
    ((SCALAR *)result->M.val)[at] = ((const SCALAR *)w->val)[r->begin + p];
  }
  for (int64_t e = 0; e < count; e++) {
    const int64_t p = entry_of(w, k, e, &c);
    if (!w->in_D[p]) continue;
    ((int32_t *)result->D.idx)[d + to] = S->idx[p];
    ((SCALAR *)result->D.val)[d + to] = NAME(value_at)(w, p);
    to += S->lower ? 1 : -1;
  }
  if (S->unit) return;
  ((int32_t *)result->D.idx)[d + to] = (int32_t)i;
  ((SCALAR *)result->D.val)[d + to] = NAME(diagonal_value)(w, k);
}
