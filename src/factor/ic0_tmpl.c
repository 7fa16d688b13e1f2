/* ic0_tmpl.c - the typed loops of ic0.c, compiled once for each element type. */

static bool NAME(alike)(SCALAR a, SCALAR b) {
  REAL size = ABS(a) > ABS(b) ? ABS(a) : ABS(b), roundoff = sizeof(REAL) == 4 ? 0x1p-24f : 0x1p-53;
  return !(ABS(a - CONJ(b)) > ROUNDING * roundoff * size); /* the elimination reports NaN */
}

static bool NAME(mirrored)(const trs_matrix *B, const ic0_mirror *mirror, ic0_failure *failure) {
  const SCALAR *val = B->val, *other = mirror->val;
  for (int64_t i = 0; i < B->nrows; i++) {
    int64_t p = B->ptr[i], q = mirror->ptr[i];
    for (; p < B->ptr[i + 1] || q < mirror->ptr[i + 1]; p++, q++) {
      int64_t a = p < B->ptr[i + 1] ? B->idx[p] : B->nrows;
      int64_t b = q < mirror->ptr[i + 1] ? mirror->idx[q] : B->nrows;
      if (a == b && NAME(alike)(val[p], other[q])) continue;
      *failure = (ic0_failure){i, a < b ? a : b, false};
      return false;
    }
  }
  return true;
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
    val[p] /= val[pivot];
    val[last] -= MUL(val[p], CONJ(val[p]));
  }
  return val[last];
}

static bool NAME(eliminate)(trs_matrix *L, int64_t *position, ic0_failure *failure) {
  SCALAR *val = L->val;
  for (int64_t j = 0; j < L->nrows; j++) position[j] = -1;
  for (int64_t i = 0; i < L->nrows; i++) {
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
