/* ops_tmpl.c - block operations for one element type. */

static void NAME(multiply)(int64_t m, int64_t n, int64_t k, const void *A, const void *B,
                           int64_t ldb, void *C, int64_t ldc) {
  const SCALAR *a = A, *b = B;
  SCALAR *c = C;
#if TRS_HAVE_BLAS
  if (m * n * k >= BLAS_FROM) {
    NAME(gemm)((int)m, (int)n, (int)k, a, b, (int)ldb, c, (int)ldc);
    return;
  }
#endif
  for (int64_t j = 0; j < n; j++)
    for (int64_t p = 0; p < k; p++) {
      SCALAR factor = b[p + j * ldb];
      for (int64_t i = 0; i < m; i++) c[i + j * ldc] += MUL(a[i + p * m], factor);
    }
}

static void NAME(scatter)(int64_t m, int64_t n, const int32_t *list, const void *from, void *to,
                          int64_t ldto) {
  const SCALAR *in = from;
  SCALAR *out = to;
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < m; i++) out[list[i] + j * ldto] += in[i + j * m];
}

static void NAME(gather)(int64_t m, int64_t n, const int32_t *list, const void *from,
                         int64_t ldfrom, void *to) {
  const SCALAR *in = from;
  SCALAR *out = to;
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < m; i++) out[i + j * m] = in[list[i] + j * ldfrom];
}

static void NAME(add)(int64_t count, const void *from, void *to) {
  const SCALAR *in = from;
  SCALAR *out = to;
  for (int64_t i = 0; i < count; i++) out[i] += in[i];
}

static void NAME(negate)(int64_t count, void *values) {
  SCALAR *v = values;
  for (int64_t i = 0; i < count; i++) v[i] = -v[i];
}

static void NAME(reverse)(int64_t count, const void *from, void *to) {
  const SCALAR *in = from;
  SCALAR *out = to;
  for (int64_t i = 0; i < count; i++) out[i] = in[count - 1 - i];
}

static int64_t NAME(bad_diagonal)(int64_t width, const void *D, bool *zero) {
  const SCALAR *d = D;
  for (int64_t j = 0; j < width; j++) {
    REAL size = ABS(d[j + j * width]);
    *zero = size == 0;
    if (size == 0 || !isfinite(size)) return j;
  }
  return -1;
}

static void NAME(take)(int64_t m, int64_t n, int64_t first, const int32_t *perm,
                       const double *scale, const void *in, int64_t ldin, void *out) {
  const SCALAR *from = in;
  SCALAR *to = out;
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < m; i++) {
      int64_t at = perm ? perm[first + i] : first + i;
      SCALAR value = from[at + j * ldin];
      to[i + j * m] = scale ? (REAL)scale[at] * value : value;
    }
}

static void NAME(put)(int64_t m, int64_t n, int64_t first, const int32_t *perm, const double *scale,
                      const void *in, void *out, int64_t ldout) {
  const SCALAR *from = in;
  SCALAR *to = out;
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < m; i++) {
      int64_t at = perm ? perm[first + i] : first + i;
      SCALAR value = from[i + j * m];
      to[at + j * ldout] = scale ? (REAL)scale[at] * value : value;
    }
}

static const trs_block_ops NAME(ops) = {.multiply = NAME(multiply),
                                        .scatter = NAME(scatter),
                                        .gather = NAME(gather),
                                        .add = NAME(add),
                                        .negate = NAME(negate),
                                        .reverse = NAME(reverse),
                                        .bad_diagonal = NAME(bad_diagonal),
                                        .take = NAME(take),
                                        .put = NAME(put)};
