/* tile_tmpl.c - part of sweep_tmpl.c, compiled for WIDTH 4 and, if products are floats, 8: rows of
 * a block, WIDTH at a time, times its block of dq; vectors of at most 32 bytes, which every CPU
 * since 2013 has.  Loads run past a column's end into the data behind it; the corresponding lanes
 * of the sums are meaningless and unused. */

typedef PRODUCT TILE(products) __attribute__((vector_size(WIDTH * sizeof(PRODUCT))));
typedef OFF TILE(stored) __attribute__((vector_size(WIDTH * sizeof(OFF))));

#if SCALED && !(HALF && defined(__F16C__))
typedef uint32_t TILE(bits) __attribute__((vector_size(WIDTH * sizeof(uint32_t))));

/* 16-bit loads; without this, compilers emit five instructions. */
TRS_INLINE void TILE(widen)(TILE(bits) * bits, const OFF *a) {
#if defined(__AVX2__) && WIDTH == 8
  *bits = (TILE(bits))_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)a));
#elif defined(__AVX2__)
  *bits = (TILE(bits))_mm_cvtepu16_epi32(_mm_loadl_epi64((const __m128i *)(const void *)a));
#else
  TILE(stored) narrow;
  memcpy(&narrow, a, sizeof narrow);
  *bits = __builtin_convertvector(narrow, TILE(bits));
#endif
}
#endif

/* s += the rows of a column at a, times x. */
TRS_INLINE void TILE(add)(TILE(products) * s, const OFF *a, PRODUCT x) {
  TILE(products) v;
#if !SCALED
  memcpy(&v, a, sizeof v);
#elif HALF && defined(__F16C__) && WIDTH == 8
  v = (TILE(products))_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)a));
#elif HALF && defined(__F16C__)
  v = (TILE(products))_mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)(const void *)a));
#else
  TILE(bits) bits;
  TILE(widen)(&bits, a);
  bits = HALF ? (bits & 0x7fff) << 13 | (bits & 0x8000) << 16 : bits << 16;
  memcpy(&v, &bits, sizeof v);
  if (HALF) v *= (float)TRS_HALF_FACTOR;
#endif
  *s += v * x;
}

TRS_INLINE void TILE(take)(SUM *y, const TILE(products) * s) {
  PRODUCT part[WIDTH];
  memcpy(part, s, sizeof part);
  for (int i = 0; i < WIDTH; i++) y[i] += (SUM)part[i];
}

/* Prefetches blocks some rows ahead, or back (step -1): they are contiguous from row to row, but
 * hardware stops to prefetch at the end of a page. */
TRS_INLINE void TILE(look_ahead)(const OFF *a, int64_t step, int b) {
  enum { BYTES_AHEAD = 4096, LINE = 64 };
  for (int line = 0; line == 0 || line + LINE / 2 < b * b * (int)sizeof *a; line += LINE)
    __builtin_prefetch((const char *)a + step * BYTES_AHEAD + line);
}

/* y[0 .. WIDTH) += sum over the row's blocks, from row i0 of each on, for blocks of at most 8; b is
 * a literal.  One sum per column, so that additions need not wait for each other, for some blocks;
 * then all are added to y, which has the precision of r.  Written out, because compilers keep an
 * array of sums in a loop in memory. */
TRS_INLINE void TILE(row)(const trs_relaxation *R, int64_t p, const X *x, SUM *y, int b, int i0) {
  enum { BLOCKS_A_SUM = 8, AHEAD = 24 };
  const int64_t end = R->ptr[p + 1];
  const int32_t *idx = R->idx;
  for (int64_t k = R->ptr[p]; k < end;) {
    const int64_t stop = end - k < BLOCKS_A_SUM ? end : k + BLOCKS_A_SUM;
    TILE(products) s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0}, s6 = {0}, s7 = {0};
    for (; k < stop; k++) {
      const OFF *a = (const OFF *)R->off + k * b * b + i0;
      const X *xk = x + (int64_t)idx[k] * b;
      const PRODUCT factor = SCALED ? (PRODUCT)R->scale[k] : 1;
      if (i0 == 0) __builtin_prefetch(x + (int64_t)idx[k + AHEAD] * b);
      if (i0 == 0) TILE(look_ahead)(a, 1, b);
      TILE(add)(&s0, a, factor * xk[0]);
      if (b > 1) TILE(add)(&s1, a + b, factor * xk[1]);
      if (b > 2) TILE(add)(&s2, a + 2 * b, factor * xk[2]);
      if (b > 3) TILE(add)(&s3, a + 3 * b, factor * xk[3]);
      if (b > 4) TILE(add)(&s4, a + 4 * b, factor * xk[4]);
      if (b > 5) TILE(add)(&s5, a + 5 * b, factor * xk[5]);
      if (b > 6) TILE(add)(&s6, a + 6 * b, factor * xk[6]);
      if (b > 7) TILE(add)(&s7, a + 7 * b, factor * xk[7]);
    }
    if (b > 1) s0 += s1;
    if (b > 2) s0 += b > 3 ? s2 + s3 : s2;
    if (b > 5) s4 += s5;
    if (b > 6) s4 += b > 7 ? s6 + s7 : s6;
    if (b > 4) s0 += s4;
    TILE(take)(y, &s0);
  }
}

/* The same for blocks of any size, WIDTH rows at a time. */
TRS_INLINE void TILE(long_row)(const trs_relaxation *R, int64_t p, const X *x, SUM *y, int b) {
  for (int64_t k = R->ptr[p]; k < R->ptr[p + 1]; k++) {
    const OFF *a = (const OFF *)R->off + k * b * b;
    const X *xk = x + (int64_t)R->idx[k] * b;
    const PRODUCT factor = SCALED ? (PRODUCT)R->scale[k] : 1;
    for (int t = 0; t < b; t += WIDTH) {
      TILE(products) even = {0}, odd = {0};
      int j = 0;
      for (; j + 1 < b; j += 2) {
        TILE(add)(&even, a + j * b + t, factor * xk[j]);
        TILE(add)(&odd, a + (j + 1) * b + t, factor * xk[j + 1]);
      }
      if (j < b) TILE(add)(&even, a + j * b + t, factor * xk[j]);
      even += odd;
      TILE(take)(y + t, &even);
    }
  }
}
