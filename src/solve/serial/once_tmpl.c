/* once_tmpl.c - one right-hand side, directly from the caller's arrays; each entry is checked
 * before its use.  Vectors in the usual layout are solved as in sweep_tmpl.c; all others, and
 * invalid ones, are solved entry by entry. */
#include "analysis/pivot_tmpl.c"

/* The diagonal entry of a vector in any order, with duplicates added; false: the vector is invalid.
 * ordered: each entry off the diagonal has another place. */
static bool NAME(find_diagonal)(trs_once *o, const vector *v, SCALAR *diagonal, bool *ordered) {
  const SCALAR *val = o->val;
  int64_t before = -1;
  o->missing = !o->unit;
  *diagonal = 0;
  *ordered = true;
  for (int64_t p = v->begin; p < v->end; p++) {
    int64_t index = index_at(o, p);
    if (index == v->i) {
      *diagonal += val[p];
      o->missing = false;
    } else if (!is_inside(v, index)) {
      return o->missing = false;
    } else {
      *ordered &= index > before;
      before = index;
    }
  }
  if (!o->unit && !o->missing) o->pivot = NAME(look_at_pivot)(*diagonal);
  return !o->missing && o->pivot == TRS_PIVOT_GOOD;
}

/* Adds up the entries of a vector that are at one place, before they are multiplied. */
static bool NAME(add_up)(trs_once *o, const vector *v) {
  const SCALAR *val = o->val;
  if (!o->sum) o->lacks = trs_alloc_zero(&o->sum, o->n, sizeof(SCALAR));
  if (!o->lacks && !o->adds) o->lacks = TRS_ALLOC_ZERO(&o->adds, o->n);
  if (o->lacks) return false;
  for (int64_t p = v->begin; p < v->end; p++) {
    const int64_t index = index_at(o, p);
    ((SCALAR *)o->sum)[index] += val[p];
    o->adds[index] = index != v->i;
  }
  ((SCALAR *)o->sum)[v->i] = 0;
  return true;
}

/* The entry at p, which has this index; false: at the diagonal, or added to another one. */
TRS_INLINE bool NAME(take_entry)(trs_once *o, const vector *v, int64_t p, int64_t index,
                                 bool ordered, SCALAR *a) {
  if (ordered) {
    *a = ((const SCALAR *)o->val)[p];
    return index != v->i;
  }
  if (!o->adds[index]) return false;
  *a = ((SCALAR *)o->sum)[index];
  ((SCALAR *)o->sum)[index] = 0;
  o->adds[index] = false;
  return true;
}

static bool NAME(any_row)(trs_once *o, const vector *v, SCALAR *x, const SCALAR *b) {
  SCALAR diagonal, a, sum = b[v->i];
  bool ordered;
  if (!NAME(find_diagonal)(o, v, &diagonal, &ordered)) return false;
  if (!ordered && !NAME(add_up)(o, v)) return false;
  for (int64_t p = v->begin; p < v->end; p++) {
    const int64_t index = index_at(o, p);
    if (NAME(take_entry)(o, v, p, index, ordered, &a)) sum -= MUL(a, x[index]);
  }
  x[v->i] = o->unit ? sum : MUL(sum, 1 / diagonal);
  return true;
}

/* last: the x computed just before, which most rows need, in a register instead of memory. */
TRS_INLINE bool NAME(plain_row)(const trs_once *o, const vector *v, SCALAR *x, const SCALAR *b,
                                bool lower, SCALAR *last) {
  const SCALAR *val = o->val;
  const int32_t *idx = o->idx;
  const int64_t far = lower ? v->begin : v->end - 1, near = lower ? v->end - 1 : v->begin;
  const int64_t count = v->end - v->begin - 1, beside = lower ? near - 1 : near + 1;
  SCALAR sum = b[v->i], inverse = 1;
  if (!is_ordered(idx, v, lower)) return false;
  if (!o->unit) {
    if (NAME(look_at_pivot)(val[near]) != TRS_PIVOT_GOOD) return false;
    inverse = NAME(reciprocal)(val, near, false);
  }
  const bool adjacent = count && idx[beside] == (lower ? v->i - 1 : v->i + 1);
  const bool ahead = adjacent && NAME(scales)(val[beside], inverse);
  sum = NAME(subtract)(sum, val, idx, x, 1, far, count - adjacent, lower ? 1 : -1, false);
  if (adjacent && !ahead) sum -= MUL(val[beside], *last);
  sum = MUL(sum, inverse);
  if (ahead) sum -= MUL(MUL(val[beside], inverse), *last);
  x[v->i] = *last = sum;
  return true;
}

TRS_INLINE void NAME(once_rows)(trs_once *o, SCALAR *x, const SCALAR *b, bool lower, bool narrow) {
  int64_t at = lower ? 0 : o->end;
  SCALAR last = 0;
  vector v;
  for (int64_t k = 0; k < o->n; k++) {
    bool good = take_vector(o, k, lower, lower, narrow, at, &v);
    if (!(good && is_plain(o, &v, lower) && NAME(plain_row)(o, &v, x, b, lower, &last))) {
      if (!good || !NAME(any_row)(o, &v, x, b)) {
        o->vector = v.i;
        return;
      }
      last = x[v.i];
    }
    at = lower ? v.end : v.begin;
  }
}

static bool NAME(any_column)(trs_once *o, const vector *v, SCALAR *x) {
  SCALAR diagonal, a;
  bool ordered;
  if (!NAME(find_diagonal)(o, v, &diagonal, &ordered)) return false;
  if (!ordered && !NAME(add_up)(o, v)) return false;
  SCALAR xj = o->unit ? x[v->i] : MUL(x[v->i], 1 / diagonal);
  x[v->i] = xj;
  for (int64_t p = v->begin; p < v->end; p++) {
    const int64_t index = index_at(o, p);
    if (NAME(take_entry)(o, v, p, index, ordered, &a)) x[index] -= MUL(a, xj);
  }
  return true;
}

TRS_INLINE bool NAME(plain_column)(const trs_once *o, const vector *v, SCALAR *x, bool lower) {
  const SCALAR *val = o->val;
  const int32_t *idx = o->idx;
  const int64_t near = lower ? v->begin : v->end - 1;
  if (!o->unit && NAME(look_at_pivot)(val[near]) != TRS_PIVOT_GOOD) return false;
  if (!is_ordered(idx, v, !lower)) return false;
  SCALAR xj = o->unit ? x[v->i] : MUL(x[v->i], NAME(reciprocal)(val, near, false));
  x[v->i] = xj;
  for (int64_t p = v->begin + lower; p < v->end - !lower; p++) x[idx[p]] -= MUL(val[p], xj);
  return true;
}

TRS_INLINE void NAME(once_columns)(trs_once *o, SCALAR *x, bool lower, bool narrow) {
  int64_t at = lower ? 0 : o->end;
  vector v;
  for (int64_t k = 0; k < o->n; k++) {
    bool good = take_vector(o, k, lower, !lower, narrow, at, &v);
    if (!(good && is_plain(o, &v, !lower) && NAME(plain_column)(o, &v, x, lower)) &&
        !(good && NAME(any_column)(o, &v, x))) {
      o->vector = v.i;
      return;
    }
    at = lower ? v.end : v.begin;
  }
}

static void NAME(once_by_rows)(trs_once *o, void *x, const void *b) {
  if (o->indexing & TRS_PTR32)
    o->lower ? NAME(once_rows)(o, x, b, true, true) : NAME(once_rows)(o, x, b, false, true);
  else
    o->lower ? NAME(once_rows)(o, x, b, true, false) : NAME(once_rows)(o, x, b, false, false);
}

static void NAME(once_by_columns)(trs_once *o, void *x, const void *b) {
  if (x != b && o->n) memcpy(x, b, (size_t)o->n * sizeof(SCALAR));
  if (o->indexing & TRS_PTR32)
    o->lower ? NAME(once_columns)(o, x, true, true) : NAME(once_columns)(o, x, false, true);
  else
    o->lower ? NAME(once_columns)(o, x, true, false) : NAME(once_columns)(o, x, false, false);
}
