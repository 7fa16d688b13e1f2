/* values_tmpl.c - the typed loops of values.c; compiled once for each element type. */

static void NAME(gather)(void *to, const void *from, const int64_t *source, int64_t count) {
  SCALAR *y = to;
  const SCALAR *x = from;
  for (int64_t p = 0; p < count; p++) y[p] = x[source[p]];
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
  const REAL *val = values;
  const int64_t parts = sizeof(SCALAR) / sizeof(REAL);
  for (int64_t p = 0; p < count * parts; p++)
    if (!isfinite(val[p])) return p / parts;
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
