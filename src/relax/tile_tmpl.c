/* tile_tmpl.c - part of sweep_tmpl.c, compiled for WIDTH 4 and 8: rows of a block, WIDTH at a
 * time, times its block of dq.  Loads run past a column's end into what lies behind it; those lanes
 * of the sums mean nothing and are not looked at. */

typedef SUM TILE(vector) __attribute__((vector_size(WIDTH * sizeof(SUM))));
typedef OFF TILE(stored) __attribute__((vector_size(WIDTH * sizeof(OFF))));
#if BY_BLOCK
typedef float TILE(floats) __attribute__((vector_size(WIDTH * sizeof(float))));
#endif
#if SCALED
typedef uint32_t TILE(bits) __attribute__((vector_size(WIDTH * sizeof(uint32_t))));
#endif

TRS_INLINE void TILE(load)(TILE(vector) * v, const OFF *a) {
  TILE(stored) s;
  memcpy(&s, a, sizeof s);
#if SCALED
  TILE(bits) bits = __builtin_convertvector(s, TILE(bits));
  TILE(floats) f;
  bits = HALF ? (bits & 0x7fff) << 13 | (bits & 0x8000) << 16 : bits << 16;
  memcpy(&f, &bits, sizeof f);
  *v = __builtin_convertvector(f, TILE(vector));
#else
  *v = __builtin_convertvector(s, TILE(vector));
#endif
}

#if BY_BLOCK
/* t += the column at a, times x, in single precision: a and x have no more digits. */
TRS_INLINE void TILE(add)(TILE(floats) * t, const OFF *a, float x) {
  TILE(floats) f;
#if !SCALED
  memcpy(&f, a, sizeof f);
#elif HALF && defined(__F16C__) && WIDTH == 8
  f = (TILE(floats))_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)a));
#else
  TILE(stored) s;
  memcpy(&s, a, sizeof s);
  TILE(bits) bits = __builtin_convertvector(s, TILE(bits));
  bits = HALF ? (bits & 0x7fff) << 13 | (bits & 0x8000) << 16 : bits << 16;
  memcpy(&f, &bits, sizeof f);
  if (HALF) f *= (float)TRS_HALF_FACTOR;
#endif
  *t += f * x;
}
#else
/* t += the column at a, times x. */
TRS_INLINE void TILE(add)(TILE(vector) * t, const OFF *a, SUM x) {
  TILE(vector) v;
  TILE(load)(&v, a);
  *t += v * x;
}
#endif

/* y[0 .. WIDTH) = sum over the row's blocks, for blocks of at most WIDTH; b is a literal.  A sum a
 * column: additions need not wait for each other.  Written out, since compilers leave a loop over
 * an array of sums in memory. */
TRS_INLINE void TILE(row)(const trs_relaxation *R, int64_t p, const X *x, SUM *y, int b) {
#if BY_BLOCK
  typedef TILE(floats) part;
  TILE(vector) sum = {0};
#else
  typedef TILE(vector) part;
#endif
  part s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0}, s6 = {0}, s7 = {0};
  const int64_t end = R->ptr[p + 1];
  const int32_t *idx = R->idx;
  for (int64_t k = R->ptr[p]; k < end; k++) {
    const OFF *a = (const OFF *)R->off + k * b * b;
    const X *xk = x + (int64_t)idx[k] * b;
    TILE(add)(&s0, a, xk[0]);
    if (b > 1) TILE(add)(&s1, a + b, xk[1]);
    if (b > 2) TILE(add)(&s2, a + 2 * b, xk[2]);
    if (b > 3) TILE(add)(&s3, a + 3 * b, xk[3]);
    if (b > 4) TILE(add)(&s4, a + 4 * b, xk[4]);
    if (b > 5) TILE(add)(&s5, a + 5 * b, xk[5]);
    if (b > 6) TILE(add)(&s6, a + 6 * b, xk[6]);
    if (b > 7) TILE(add)(&s7, a + 7 * b, xk[7]);
#if BY_BLOCK
    s0 = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7));
    sum += __builtin_convertvector(s0, TILE(vector)) * (SUM)(SCALED ? R->scale[k] : 1);
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = (part){0};
#endif
  }
#if BY_BLOCK
  memcpy(y, &sum, sizeof sum);
#else
  s0 = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7));
  memcpy(y, &s0, sizeof s0);
#endif
}

/* The same for blocks of any size, WIDTH rows at a time. */
TRS_INLINE void TILE(long_row)(const trs_relaxation *R, int64_t p, const X *x, SUM *y, int b) {
  TILE(vector) sum[(TRS_RELAX_MOST_BLOCK + WIDTH - 1) / WIDTH] = {{0}}, v;
  for (int64_t k = R->ptr[p]; k < R->ptr[p + 1]; k++) {
    const OFF *a = (const OFF *)R->off + k * b * b;
    const X *xk = x + (int64_t)R->idx[k] * b;
    const SUM factor = NAME(factor_at)(R, k);
    for (int t = 0; t * WIDTH < b; t++) {
      TILE(vector) even = {0}, odd = {0};
      int j = 0;
      for (; j + 1 < b; j += 2) {
        TILE(load)(&v, a + j * b + t * WIDTH);
        even += v * (factor * (SUM)xk[j]);
        TILE(load)(&v, a + (j + 1) * b + t * WIDTH);
        odd += v * (factor * (SUM)xk[j + 1]);
      }
      if (j < b) {
        TILE(load)(&v, a + j * b + t * WIDTH);
        even += v * (factor * (SUM)xk[j]);
      }
      sum[t] += even + odd;
    }
  }
  for (int t = 0; t * WIDTH < b; t++) memcpy(y + t * WIDTH, &sum[t], sizeof sum[t]);
}
