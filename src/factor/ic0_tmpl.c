/* ic0_tmpl.c - the typed loops of ic0.c, compiled once for each element type. */

/* mean: the geometric mean of the diagonal entries of both rows. */
static bool NAME(alike)(SCALAR a, SCALAR b, double mean) {
  const double roundoff = sizeof(REAL) == 4 ? 0x1p-24 : 0x1p-53;
  double size = ABS(a) > ABS(b) ? ABS(a) : ABS(b);
  if (mean > size) size = mean;
  return !(ABS(a - CONJ(b)) > ROUNDING * roundoff * size); /* the elimination reports NaN */
}

static void NAME(measure)(const trs_matrix *B, double *size) {
  const SCALAR *val = B->val;
  for (int64_t i = 0; i < B->nrows; i++) {
    size[i] = 0;
    for (int64_t p = B->ptr[i]; p < B->ptr[i + 1]; p++)
      if (B->idx[p] == i) size[i] = sqrt((double)ABS(val[p]));
  }
}

/* An entry without a mirror has zero for one. */
static bool NAME(mirrored)(const trs_matrix *B, const ic0_mirror *mirror, ic0_failure *failure) {
  const SCALAR *val = B->val, *other = mirror->val;
  ic0_pair pair;
  NAME(measure)(B, mirror->size);
  for (int64_t i = 0; i < B->nrows; i++)
    for (int64_t p = B->ptr[i], q = mirror->ptr[i]; next_pair(B, mirror, i, &p, &q, &pair);) {
      const SCALAR a = pair.p < 0 ? 0 : val[pair.p], b = pair.q < 0 ? 0 : other[pair.q];
      if (NAME(alike)(a, b, mirror->size[i] * mirror->size[pair.column])) continue;
      *failure = (ic0_failure){.row = i, .column = pair.column};
      return false;
    }
  return true;
}

/* triangle: B is one; then only its diagonal, which is real, has entries on both sides. */
static void NAME(join)(const trs_matrix *B, const ic0_mirror *mirror, bool triangle, int64_t *ptr,
                       int32_t *idx, void *values) {
  const SCALAR *val = B->val, *other = mirror->val;
  SCALAR *joined = values;
  ic0_pair pair;
  int64_t at = 0;
  for (int64_t i = 0; i < B->nrows; i++) {
    ptr[i] = at;
    for (int64_t p = B->ptr[i], q = mirror->ptr[i]; next_pair(B, mirror, i, &p, &q, &pair); at++) {
      const SCALAR a = pair.p < 0 ? 0 : val[pair.p], b = pair.q < 0 ? 0 : CONJ(other[pair.q]);
      idx[at] = pair.column;
      joined[at] = !triangle ? (a + b) / 2 : pair.column == i ? (REAL)a : pair.p < 0 ? b : a;
    }
  }
  ptr[B->nrows] = at;
}

static double NAME(root_of)(const trs_matrix *B, int64_t i) {
  const int64_t p = trs_factor_diagonal(B, i);
  return p < 0 ? 0 : sqrt((double)ABS(((const SCALAR *)B->val)[p]));
}

/* Of entries (i, j) and (j, i) whose values differ. */
static bool NAME(nearly)(const trs_matrix *B, int64_t i, int64_t j, SCALAR a, SCALAR b) {
  return NAME(alike)(a, b, 0) || NAME(alike)(a, b, NAME(root_of)(B, i) * NAME(root_of)(B, j));
}

/* Whether each entry above the diagonal has its mirror, at next[j] of row j: the rows' entries
 * below the diagonal come in the order of their columns. */
static bool NAME(same)(const trs_matrix *B, int64_t *next) {
  const SCALAR *val = B->val;
  for (int64_t i = 0; i < B->nrows; i++) {
    int64_t p = next[i];
    const int64_t end = B->ptr[i + 1];
    if (p == end || B->idx[p] < i) return false; /* this one has none above */
    if (B->idx[p] == i) {
      if (val[p] != CONJ(val[p]) && !NAME(nearly)(B, i, i, val[p], val[p])) return false;
      p++;
    }
    for (; p < end; p++) {
      const int32_t j = B->idx[p];
      const int64_t q = next[j]++;
      if (q == B->ptr[j + 1] || B->idx[q] != i) return false;
      if (val[p] != CONJ(val[q]) && !NAME(nearly)(B, i, j, val[p], val[q])) return false;
    }
  }
  return true;
}

/* The symmetric B, L and U, and what the elimination needs beside them: work of n values, the next
 * entries of the rows of U. */
typedef struct NAME(ic0) {
  const trs_matrix *B, *L, *U;
  SCALAR *x;
  int64_t *next_U;
  bool filled; /* U has entries that B lacks */
  bool compare;
} NAME(ic0);

/* Column k of L from B's row, whose mirror it is: x has it, and the pivot, where row k of U has
 * entries. */
static void NAME(take_row)(const NAME(ic0) * w, int64_t k) {
  const SCALAR *restrict val = w->B->val;
  const int32_t *restrict idx = w->B->idx;
  SCALAR *restrict x = w->x;
  if (w->filled)
    for (int64_t q = w->U->ptr[k]; q < w->U->ptr[k + 1]; q++) x[w->U->idx[q]] = 0;
  for (int64_t p = w->B->ptr[k + 1]; p-- > w->B->ptr[k] && idx[p] >= k;) x[idx[p]] = CONJ(val[p]);
}

/* Subtracts the rows of U that have column k, and makes row k of L from that column.  Returns what
 * is left of the pivot. */
static SCALAR NAME(subtract_rows)(const NAME(ic0) * w, int64_t k, SCALAR pivot) {
  const int64_t last = w->L->ptr[k + 1] - 1, begin = w->U->ptr[k] + 1, end = w->U->ptr[k + 1];
  const int32_t *restrict idx = w->U->idx;
  const SCALAR *restrict u = w->U->val;
  const int64_t *restrict B = w->B->ptr;
  const SCALAR *restrict val = w->B->val, *own = val + (B[k] - w->L->ptr[k]); /* by L's places */
  SCALAR *restrict l = w->L->val, *restrict x = w->x;
  for (int64_t p = w->L->ptr[k]; p < last; p++) {
    const int64_t i = w->L->idx[p], stop = w->U->ptr[i + 1];
    int64_t from = w->next_U[i]++;
    if (w->compare) {
      if (from == stop || idx[from] != k) return NAN;
      const SCALAR a = own[p], b = val[B[i + 1] - (stop - from)]; /* rows end alike in U and B */
      if (a != CONJ(b) && !NAME(nearly)(w->B, k, i, a, b)) return NAN;
    }
    const SCALAR m = CONJ(u[from++]);
    l[p] = m;
    pivot -= MUL(m, CONJ(m));
    if ((stop - from) / TRS_FACTOR_LONG > end - begin)
      for (int64_t q = begin; q < end; q++) {
        from = trs_factor_seek(idx, from, stop, idx[q]);
        if (from < stop && idx[from] == idx[q]) x[idx[q]] -= MUL(CONJ(u[from]), CONJ(m));
      }
    else
      for (int64_t q = from; q < stop; q++) x[idx[q]] -= MUL(CONJ(u[q]), CONJ(m));
  }
  return pivot;
}

/* By rows of U: L's rows are its columns, so that neither is transposed. */
static bool NAME(eliminate)(const ic0_work *work, ic0_failure *failure) {
  const NAME(ic0) w = {work->B,      work->F->L,          work->F->U,   work->x,
                       work->next_U, work->F->levels > 0, work->compare};
  SCALAR *u = w.U->val, *l = w.L->val, odd = 0;
  for (int64_t k = 0; k < w.U->nrows; k++) {
    const int64_t last = w.L->ptr[k + 1] - 1;
    if (k % TRS_FACTOR_CANCEL == 0 && trs_cancelled()) {
      failure->why = IC0_CANCELLED;
      return false;
    }
    NAME(take_row)(&w, k);
    const SCALAR own = w.x[k];
    const bool real = !w.compare || own == CONJ(own) || NAME(nearly)(w.B, k, k, own, own);
    const SCALAR square = real ? NAME(subtract_rows)(&w, k, own) : NAN;
    const REAL size = (REAL)square; /* the real part; a Hermitian diagonal is real */
    if (!isfinite(ABS(square)) || size <= 0) {
      *failure = (ic0_failure){k, k, isfinite(ABS(square)) ? IC0_PIVOT : IC0_NOT_FINITE};
      return false;
    }
    const REAL root = sizeof(REAL) == 4 ? (REAL)sqrtf((float)size) : (REAL)sqrt(size);
    l[last] = root;
    u[w.U->ptr[k]] = CONJ(l[last]);
    for (int64_t q = w.U->ptr[k] + 1; q < w.U->ptr[k + 1]; q++) {
      const SCALAR v = w.x[w.U->idx[q]] / root;
      u[q] = CONJ(v);
      odd += v - v;
    }
  }
  failure->why = odd == 0 ? IC0_DONE : IC0_OVERFLOW;
  return true;
}
