/* refactor_tmpl.c - row i of L U = A by rows (up-looking): x = row i of A; for every k < i in L's
 * pattern, l = x[k] / U[k][k] and x -= l U[k]; the rest of x is row i of U.  Rows of U with one
 * pattern are applied together, which reads and writes x once for all. */

TRS_INLINE double NAME(size2)(SCALAR v) {
#if IS_COMPLEX
  return (double)creal(v) * (double)creal(v) + (double)cimag(v) * (double)cimag(v);
#else
  return (double)v * (double)v;
#endif
}

/* Of a unit L: |l|^2, and the pivot by which it was divided; of this column and later ones. */
typedef struct NAME(largest) {
  double size;
  int64_t at, from;
} NAME(largest);

/* x -= l[0] U[k] + ... + l[width - 1] U[k + width - 1] beyond column k + width - 1.  lead: that of
 * U, or a literal. */
TRS_INLINE void NAME(apply_rest)(const trs_lu *F, int64_t k, int width, int64_t lead,
                                 const SCALAR *l, SCALAR *restrict x) {
  enum { SHORT = 8 };
  const int64_t *begin = F->U.begin + k;
  const int64_t first = begin[width - 1] + lead, count = F->U.end[k + width - 1] - first;
  const int32_t *restrict idx = F->U.idx + first;
  const SCALAR *restrict u[TRS_LU_RUN];
  for (int a = 0; a < width; a++)
    u[a] = (const SCALAR *)F->U.val + begin[a] + lead + (width - 1 - a);
  if (count >= SHORT && idx[count - 1] - idx[0] == count - 1) {
    SCALAR *restrict y = x + idx[0];
    for (int64_t q = 0; q < count; q++) {
      SCALAR s = y[q];
      for (int a = 0; a < width; a++) s -= MUL(l[a], u[a][q]);
      y[q] = s;
    }
    return;
  }
  TRS_ROLLED
  for (int64_t q = 0; q < count; q++) {
    SCALAR s = x[idx[q]];
    for (int a = 0; a < width; a++) s -= MUL(l[a], u[a][q]);
    x[idx[q]] = s;
  }
}

/* Eliminates the columns k .. k + width - 1, which are entries p .. of L's row. */
TRS_INLINE void NAME(apply)(const trs_lu *F, int64_t k, int64_t p, int width, int64_t lead,
                            bool crout, SCALAR *x, SCALAR *odd, NAME(largest) * m) {
  SCALAR l[TRS_LU_RUN];
  const SCALAR *inverse = F->inverse, *u = F->U.val;
  SCALAR *to = (SCALAR *)F->L.val + p;
  for (int a = 0; a < width; a++) {
    const SCALAR y = x[k + a], unit = MUL(y, inverse[k + a]);
    const double size = NAME(size2)(unit);
    x[k + a] = 0;
    l[a] = crout ? y : unit;
    to[a] = l[a];
    *odd += l[a] - l[a];
    if (size >= m->size && (size > m->size || k + a < m->at) && k + a >= m->from) {
      m->size = size;
      m->at = k + a;
    }
    for (int b = a + 1; b < width; b++)
      x[k + b] -= MUL(l[a], u[F->U.begin[k + a] + lead + (b - a - 1)]);
  }
  NAME(apply_rest)(F, k, width, lead, l, x);
}

TRS_INLINE void NAME(take_row)(const trs_lu *F, int64_t i, SCALAR *x) {
  const SCALAR *val = F->val;
  const int64_t end = F->from_ptr[i + 1];
  if (!F->row_scale && !F->col_scale) {
    for (int64_t q = F->from_ptr[i]; q < end; q++) x[F->to[q]] = val[F->from[q]];
    return;
  }
  const double row = F->row_scale ? F->row_scale[i] : 1;
#if !IS_COMPLEX
  if (F->plain) { /* as trs_scaled, whose looks at each product take a fifth of light factors */
    const double *col_scale = F->col_scale;
    const int64_t *from = F->from;
    const int32_t *to = F->to;
    for (int64_t q = F->from_ptr[i]; q < end; q++) {
      const double both = col_scale ? row * col_scale[to[q]] : row;
      x[to[q]] = (SCALAR)((double)val[from[q]] * both);
    }
    return;
  }
#endif
  for (int64_t q = F->from_ptr[i]; q < end; q++) {
    const int32_t j = F->to[q];
    const double column = F->col_scale ? F->col_scale[j] : 1;
#if IS_COMPLEX
    const SCALAR v = val[F->from[q]];
    const double re = trs_scaled((double)creal(v), row, column);
    const double im = trs_scaled((double)cimag(v), row, column);
    x[j] = sizeof(REAL) == sizeof(float) ? (SCALAR)CMPLXF(re, im) : (SCALAR)CMPLX(re, im);
#else
    x[j] = (SCALAR)trs_scaled((double)val[F->from[q]], row, column);
#endif
  }
}

/* The pivot, and the row of U.  False: the pivot is of no use; its inverse is then 0, so that later
 * rows do not divide by it. */
TRS_INLINE bool NAME(end_row)(const trs_lu *F, int64_t i, int64_t lead, bool crout, SCALAR *x,
                              SCALAR odd, trs_lu_member *m) {
  const SCALAR pivot = x[i];
  SCALAR *inverse = F->inverse, *u = F->U.val, by = 0;
  x[i] = 0;
  if (pivot != 0) by = 1 / pivot;
  ((SCALAR *)(crout ? F->L.val : F->U.val))[(crout ? F->L.pivot : F->U.pivot)[i]] = pivot;
  odd += (pivot - pivot) + (by - by);
  TRS_ROLLED
  for (int64_t p = F->U.begin[i] + lead; p < F->U.end[i]; p++) {
    const int32_t j = F->U.idx[p];
    const SCALAR v = crout ? MUL(x[j], by) : x[j];
    x[j] = 0;
    u[p] = v;
    odd += v - v;
  }
  inverse[i] = by;
  if (pivot != 0 && odd == 0) return true;
  inverse[i] = 0;
  if (i >= m->fault) return false;
  m->fault = i;
  m->why = odd == 0 ? TRS_ERROR_ZERO_PIVOT : TRS_ERROR_NOT_FINITE;
  return false;
}

TRS_INLINE void NAME(await)(const trs_lu_rows *rows, int64_t k, int width) {
  for (int a = 0; a < width; a++) {
    trs_patience wait = {0};
    while (atomic_load_explicit(&rows->done[k + a], memory_order_acquire) != rows->round)
      trs_wait_turn(&wait);
  }
}

/* Eliminates the next entries, from *p, of row i of L, below column `below`. */
TRS_INLINE void NAME(step)(const trs_lu *F, int64_t below, int64_t *p, SCALAR *x, SCALAR *odd,
                           NAME(largest) * most, const trs_lu_rows *rows) {
  const bool crout = F->crout;
  const int64_t k = F->L.idx[*p], lead = F->U.lead;
  const int width = below - k < F->run[k] ? (int)(below - k) : F->run[k];
  if (rows) NAME(await)(rows, k, width);
  if (width == 1)
    NAME(apply)(F, k, *p, 1, lead, crout, x, odd, most);
  else if (width == 2)
    NAME(apply)(F, k, *p, 2, lead, crout, x, odd, most);
  else if (width == 3)
    NAME(apply)(F, k, *p, 3, lead, crout, x, odd, most);
  else
    NAME(apply)(F, k, *p, TRS_LU_RUN, lead, crout, x, odd, most);
  *p += width;
}

/* Of the rows i .. i + count - 1, the entries of L before column i: rows of U that several need are
 * read by one after the other, while they are near. */
TRS_INLINE void NAME(step_together)(const trs_lu *F, int64_t i, int count, int64_t *p, SCALAR **x,
                                    SCALAR *odd, NAME(largest) * most) {
  for (;;) {
    int64_t first = i;
    for (int t = 0; t < count; t++)
      if (p[t] < F->L.end[i + t] && F->L.idx[p[t]] < first) first = F->L.idx[p[t]];
    if (first == i) return;
    const int64_t past = first + TRS_LU_RUN < i ? first + TRS_LU_RUN : i;
    for (int t = 0; t < count; t++)
      if (p[t] < F->L.end[i + t] && F->L.idx[p[t]] < past) {
        if (F->inside) most->from = F->inside[i + t];
        NAME(step)(F, i, &p[t], x[t], &odd[t], most, NULL);
      }
  }
}

/* Rows i .. i + count - 1; their operations come in the same order for every count.  rows: of which
 * some may not be done yet, or NULL; count is then 1.  One function for all callers: four inlined
 * ones would add 200 kB to the library. */
static bool NAME(refactor_rows)(const trs_lu *F, int64_t i, int count, const trs_lu_rows *rows,
                                trs_lu_member *m) {
  SCALAR *x[TRS_LU_RUN], odd[TRS_LU_RUN] = {0};
  int64_t p[TRS_LU_RUN];
  NAME(largest) most = {m->most, m->most_at, 0};
  bool good = true;
  for (int t = 0; t < count; t++) {
    x[t] = (SCALAR *)m->x + t * F->n;
    p[t] = trs_lu_begin(&F->L, i + t);
    NAME(take_row)(F, i + t, x[t]);
  }
  if (count > 1) NAME(step_together)(F, i, count, p, x, odd, &most);
  for (int t = 0; t < count; t++) {
    if (F->inside) most.from = F->inside[i + t];
    while (p[t] < F->L.end[i + t]) NAME(step)(F, i + t, &p[t], x[t], &odd[t], &most, rows);
    good = NAME(end_row)(F, i + t, F->U.lead, F->crout, x[t], odd[t], m) && good;
  }
  m->most = most.size;
  m->most_at = most.at;
  return good && most.size <= F->largest;
}

/* Rows of light factors, without a call and a look for rows of U to apply together.  The same
 * operations in the same order. */
static void NAME(refactor_light)(const trs_lu *F, const trs_lu_rows *rows, trs_lu_member *m) {
  SCALAR *x = m->x;
  NAME(largest) most = {m->most, m->most_at, 0};
  for (int64_t r = 0; r < rows->nown; r++) {
    const int64_t i = rows->own ? rows->own[r] : r, end = F->L.end[i];
    SCALAR odd = 0;
    bool good = !trs_cancel_asked(rows->cancel);
    if (good) {
      if (F->inside) most.from = F->inside[i];
      NAME(take_row)(F, i, x);
      for (int64_t p = trs_lu_begin(&F->L, i); p < end; p++)
        NAME(apply)(F, F->L.idx[p], p, 1, 1, false, x, &odd, &most);
      good = NAME(end_row)(F, i, 1, false, x, odd, m) && most.size <= F->largest;
    }
    if (rows->done)
      atomic_store_explicit(&rows->done[i], rows->round, memory_order_release);
    else if (!good)
      break;
  }
  m->most = most.size;
  m->most_at = most.at;
}

static void NAME(refactor_own)(const trs_lu *F, const trs_lu_rows *rows, trs_lu_member *m) {
  if (F->light) {
    NAME(refactor_light)(F, rows, m);
    return;
  }
  for (int64_t r = 0; r < rows->nown;) {
    const int64_t i = rows->own ? rows->own[r] : r;
    int count = 1;
    while (count < F->together[i] && r + count < rows->nown &&
           (!rows->own || rows->own[r + count] == i + count))
      count++;
    const bool good = !trs_cancel_asked(rows->cancel) && NAME(refactor_rows)(F, i, count, NULL, m);
    if (!rows->done && !good) return;
    for (int t = 0; rows->done && t < count; t++) /* after a fault too: other members wait */
      atomic_store_explicit(&rows->done[i + t], rows->round, memory_order_release);
    r += count;
  }
}

static void NAME(refactor_shared)(const trs_lu *F, const trs_lu_rows *rows, trs_lu_member *m,
                                  atomic_llong *ticket) {
  for (;;) {
    const int64_t r = atomic_fetch_add_explicit(ticket, 1, memory_order_relaxed);
    if (r >= rows->nshared) return;
    const int32_t i = rows->shared[r];
    if (!trs_cancel_asked(rows->cancel)) (void)NAME(refactor_rows)(F, i, 1, rows, m);
    atomic_store_explicit(&rows->done[i], rows->round, memory_order_release);
  }
}
