/* values_tmpl.c - the typed loops of values.c; compiled once for each element type. */

static void NAME(gather)(void *to, const void *from, const int64_t *source, int64_t count) {
  SCALAR *y = to;
  const SCALAR *x = from;
  for (int64_t p = 0; p < count; p++) y[p] = x[source[p]];
}

TRS_INLINE void NAME(spread_any)(int64_t *next, int32_t *idx, SCALAR *to, int64_t vectors,
                                 const int32_t *order, const int32_t *place,
                                 const int64_t *from_ptr, const int32_t *from_idx,
                                 const SCALAR *from) {
  for (int64_t j = 0; j < vectors; j++) {
    const int64_t v = order ? order[j] : j, end = from_ptr[v + 1];
    for (int64_t p = from_ptr[v]; p < end; p++) {
      const int32_t i = from_idx[p];
      const int64_t at = next[place ? place[i] : i]++;
      idx[at] = (int32_t)j;
      to[at] = from[p];
    }
  }
}

static void NAME(spread)(int64_t *next, int32_t *idx, void *to, int64_t vectors,
                         const int32_t *order, const int32_t *place, const int64_t *from_ptr,
                         const int32_t *from_idx, const void *from) {
  if (place)
    NAME(spread_any)(next, idx, to, vectors, order, place, from_ptr, from_idx, from);
  else
    NAME(spread_any)(next, idx, to, vectors, order, NULL, from_ptr, from_idx, from);
}

static void NAME(sum)(void *to, const void *from, const int64_t *source_ptr, const int64_t *source,
                      int64_t count) {
  SCALAR *y = to;
  const SCALAR *x = from;
  for (int64_t p = 0; p < count; p++) {
    const int64_t begin = source_ptr[p], end = source_ptr[p + 1];
    SCALAR total = begin < end ? x[source[begin]] : 0; /* one alone keeps the sign of a zero */
    for (int64_t q = begin + 1; q < end; q++) total += x[source[q]];
    y[p] = total;
  }
}

static int64_t NAME(not_finite)(const void *values, int64_t count) {
  enum { PIECE = 64 };
  const REAL *val = values;
  const int64_t parts = sizeof(SCALAR) / sizeof(REAL), all = count * parts;
  for (int64_t begin = 0; begin < all; begin += PIECE) {
    const int64_t end = begin + PIECE < all ? begin + PIECE : all;
    int64_t finite = 0; /* a sum, which vectorises */
    for (int64_t p = begin; p < end; p++) finite += isfinite(val[p]) != 0;
    for (int64_t p = begin; finite < end - begin && p < end; p++)
      if (!isfinite(val[p])) return p / parts;
  }
  return count;
}

static double complex NAME(get)(const void *val, int64_t p) { return ((const SCALAR *)val)[p]; }

static void NAME(set)(void *val, int64_t p, double complex value) {
#if IS_COMPLEX
  ((SCALAR *)val)[p] = (SCALAR)value;
#else
  ((SCALAR *)val)[p] = (SCALAR)creal(value);
#endif
}
