/* wide_tmpl.c - a row or a column of a triangle times TRS_WIDE adjacent right-hand sides, in vector
 * registers.  Complex numbers are pairs of reals: the products with the real and with the imaginary
 * part of an entry have sums of their own, and only the end of a row combines them. */

#define WIDE_BYTES \
  (TRS_WIDE * sizeof(SCALAR) < TRS_VECTOR_BYTES ? TRS_WIDE * sizeof(SCALAR) : TRS_VECTOR_BYTES)
#define VECTORS ((int)(TRS_WIDE * sizeof(SCALAR) / WIDE_BYTES))
#define LANES ((int)(WIDE_BYTES / sizeof(REAL)))

typedef REAL NAME(vector)
    __attribute__((vector_size(WIDE_BYTES), aligned(sizeof(REAL)), __may_alias__));

/* TRS_WIDE values. */
typedef struct NAME(wide) {
  NAME(vector) part[VECTORS];
} NAME(wide);

TRS_INLINE NAME(wide) NAME(wide_load)(const SCALAR *from) {
  NAME(wide) w = {{{0}}};
  for (int v = 0; v < VECTORS; v++) w.part[v] = ((const NAME(vector) *)from)[v];
  return w;
}

TRS_INLINE void NAME(wide_store)(SCALAR *to, const NAME(wide) * w) {
  for (int v = 0; v < VECTORS; v++) ((NAME(vector) *)to)[v] = w->part[v];
}

/* i times w, for complex numbers. */
TRS_INLINE NAME(wide) NAME(wide_turn)(const NAME(wide) * w) {
  NAME(wide) turned = *w;
  for (int v = 0; v < VECTORS; v++) {
    const NAME(vector) part = w->part[v];
    NAME(vector) swapped = part;
    for (int l = 0; l < LANES; l += 2) {
      swapped[l] = -part[l + 1];
      swapped[l + 1] = part[l];
    }
    turned.part[v] = swapped;
  }
  return turned;
}

/* w times a, where turned is i times w. */
TRS_INLINE NAME(wide) NAME(wide_times)(const NAME(wide) * w, const NAME(wide) * turned, SCALAR a) {
  NAME(wide) product = {{{0}}};
  for (int v = 0; v < VECTORS; v++) {
    product.part[v] = w->part[v] * ((const REAL *)&a)[0];
#if IS_COMPLEX
    product.part[v] += turned->part[v] * ((const REAL *)&a)[1];
#else
    (void)turned;
#endif
  }
  return product;
}

TRS_INLINE NAME(wide) NAME(wide_scaled)(const NAME(wide) * w, SCALAR a) {
#if IS_COMPLEX
  NAME(wide) turned = NAME(wide_turn)(w);
  return NAME(wide_times)(w, &turned, a);
#else
  return NAME(wide_times)(w, w, a);
#endif
}

/* sum - T[i][j] x[j] over the entries [begin, end) of a row; row j of x begins at x + j * ld. */
TRS_INLINE NAME(wide)
    NAME(wide_row)(NAME(wide) sum, const SCALAR *val, const int32_t *idx, int64_t begin,
                   int64_t end, const SCALAR *x, int64_t ld, bool conjugate) {
#if IS_COMPLEX
  NAME(wide) turned = {{{0}}};
#endif
  TRS_ROLLED for (int64_t p = begin; p < end; p++) {
    const NAME(vector) *xj = (const NAME(vector) *)(x + idx[p] * ld);
    const REAL *a = (const REAL *)&val[p];
    for (int v = 0; v < VECTORS; v++) {
      sum.part[v] -= a[0] * xj[v];
#if IS_COMPLEX
      turned.part[v] -= a[1] * xj[v];
#endif
    }
  }
#if IS_COMPLEX
  turned = NAME(wide_turn)(&turned);
  for (int v = 0; v < VECTORS; v++)
    sum.part[v] = conjugate ? sum.part[v] - turned.part[v] : sum.part[v] + turned.part[v];
#else
  (void)conjugate;
#endif
  return sum;
}

/* x[i] - T[i][j] x[j] for the entries [begin, end) of a column. */
TRS_INLINE void NAME(wide_column)(NAME(wide) xj, const SCALAR *val, const int32_t *idx,
                                  int64_t begin, int64_t end, SCALAR *x, int64_t ld,
                                  bool conjugate) {
#if IS_COMPLEX
  NAME(wide) turned = NAME(wide_turn)(&xj);
#endif
  for (int64_t p = begin; p < end; p++) {
    NAME(vector) *xi = (NAME(vector) *)(x + idx[p] * ld);
    const REAL *a = (const REAL *)&val[p];
    for (int v = 0; v < VECTORS; v++) {
      NAME(vector) now = xi[v] - a[0] * xj.part[v];
#if IS_COMPLEX
      now = conjugate ? now + a[1] * turned.part[v] : now - a[1] * turned.part[v];
#else
      (void)conjugate;
#endif
      xi[v] = now;
    }
  }
}

#undef WIDE_BYTES
#undef VECTORS
#undef LANES
