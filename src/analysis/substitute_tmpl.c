/* substitute_tmpl.c - the values of the joint system, and the growth of a row, for one element
 * type.
 */

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
  const double largest = fmax(fabs((double)creal(product)), fabs((double)cimag(product)));
  return a != 0 && b != 0 && !(largest >= tiny);
}

/* The values of row k of M, times its diagonal entry, from entries that are kept and rows that are
 * substituted, in the order of the sweep.  layer -1: none.  False if the growth is too large. */
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
    const SCALAR its_inverse = 1 / NAME(diagonal_value)(w, c), factor = MUL(a, its_inverse);
    bound += (double)ABS(a) * w->largest[c];
    lost |= NAME(underflows)(factor, a, its_inverse);
    for (int64_t p = its->begin; p < its->begin + its->count; p++) {
      const SCALAR b = ((const SCALAR *)w->val)[p], product = MUL(factor, b);
      m[w->at[w->idx[p]]] -= product;
      lost |= NAME(underflows)(product, factor, b);
    }
  }
  for (int64_t p = 0; p < r->count; p++) {
    const SCALAR scaled = MUL(m[p], inverse);
    lost |= NAME(underflows)(scaled, m[p], inverse);
    sum += (double)ABS(scaled) * w->size[w->idx[r->begin + p]];
  }
  w->largest[k] = sum;
  bound += (double)ABS(diagonal) * sum;
  return !lost && isfinite(bound) && bound <= TRS_SUBSTITUTION_GROWTH * own;
}

/* The entries of D in row k, from `to` on. */
static int64_t NAME(copy_D)(const work *w, const trs_system *T, int32_t k, int64_t to) {
  const int64_t count = count_of(w, k);
  int32_t c;
  for (int64_t e = 0; e < count; e++) {
    const int64_t p = entry_of(w, k, e, &c);
    if (!w->in_D[p]) continue;
    ((int32_t *)T->idx)[to] = w->row[c].y;
    ((SCALAR *)T->val)[to++] = NAME(value_at)(w, p);
  }
  return to;
}

static void NAME(copy_diagonal)(const work *w, const trs_system *T, int32_t k, int64_t to_row) {
  const int64_t to = T->ptr[to_row + 1] - 1;
  if (w->S->unit) return;
  ((int32_t *)T->idx)[to] = (int32_t)to_row;
  ((SCALAR *)T->val)[to] = NAME(diagonal_value)(w, k);
}

static void NAME(copy_rows)(const work *w, const trs_joint *j, int32_t k) {
  const trs_system *T = &j->system;
  const row *r = &w->row[k];
  const int64_t x = j->ny + k;
  int64_t to = T->ptr[x];
  if (r->y >= 0) {
    NAME(copy_D)(w, T, k, T->ptr[r->y]);
    NAME(copy_diagonal)(w, T, k, r->y);
    ((int32_t *)T->idx)[to] = r->y;
    ((SCALAR *)T->val)[to++] = -NAME(diagonal_value)(w, k);
  } else {
    to = NAME(copy_D)(w, T, k, to);
  }
  for (int64_t p = 0; p < r->count; p++) {
    ((int32_t *)T->idx)[to + p] = j->ny + w->idx[r->begin + p];
    ((SCALAR *)T->val)[to + p] = ((const SCALAR *)w->val)[r->begin + p];
  }
  NAME(copy_diagonal)(w, T, k, x);
}
