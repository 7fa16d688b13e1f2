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
      *failure = (ic0_failure){i, pair.column, false};
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

/* Computes row i up to its diagonal from the finished rows above it.  position[j]: the position of
 * column j in the row; stale if before the row's beginning.  Returns the square of the pivot. */
static SCALAR NAME(row)(trs_matrix *L, int64_t i, int64_t *position) {
  SCALAR *val = L->val;
  int64_t begin = L->ptr[i], last = L->ptr[i + 1] - 1;
  for (int64_t p = begin; p <= last; p++) position[L->idx[p]] = p;
  for (int64_t p = begin; p < last; p++) {
    int64_t k = L->idx[p], from = L->ptr[k], pivot = L->ptr[k + 1] - 1;
    if ((pivot - from) / TRS_FACTOR_LONG > p - begin)
      for (int64_t at = begin; at < p; at++) {
        from = trs_factor_seek(L->idx, from, pivot, L->idx[at]);
        if (from < pivot && L->idx[from] == L->idx[at]) val[p] -= MUL(val[at], CONJ(val[from]));
      }
    else
      for (int64_t q = from; q < pivot; q++) {
        int64_t at = position[L->idx[q]];
        if (at >= begin) val[p] -= MUL(val[at], CONJ(val[q]));
      }
    val[p] /= (REAL)val[pivot];
    val[last] -= MUL(val[p], CONJ(val[p]));
  }
  return val[last];
}

static bool NAME(eliminate)(trs_matrix *L, int64_t *position, ic0_failure *failure) {
  SCALAR *val = L->val;
  for (int64_t j = 0; j < L->nrows; j++) position[j] = -1;
  for (int64_t i = 0; i < L->nrows; i++) {
    if (i % TRS_FACTOR_CANCEL == 0 && trs_cancelled()) return false;
    SCALAR square = NAME(row)(L, i, position);
    REAL size = (REAL)square; /* the real part; a Hermitian diagonal is real */
    if (!isfinite(ABS(square)) || size <= 0) {
      *failure = (ic0_failure){i, i, !isfinite(ABS(square))};
      return false;
    }
    val[L->ptr[i + 1] - 1] = sizeof(REAL) == 4 ? (REAL)sqrtf((float)size) : (REAL)sqrt(size);
  }
  return true;
}

static void NAME(conjugate)(void *values, int64_t count) {
  SCALAR *val = values;
  for (int64_t p = 0; IS_COMPLEX && p < count; p++) val[p] = CONJ(val[p]);
}
