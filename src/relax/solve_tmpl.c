/* solve_tmpl.c - part of sweep_tmpl.c, compiled for WIDTH 2, for blocks of 1 and 2, and 4: rows
 * of a triangle, with a column of a block in one vector, or in two. */

typedef SUM TILE(part) __attribute__((vector_size(WIDTH * sizeof(SUM))));
typedef OFF TILE(stored_part) __attribute__((vector_size(WIDTH * sizeof(OFF))));
#define PART TILE(part)

/* The elements of a row of at most 8: no structure, which compilers keep in memory. */
TRS_INLINE void TILE(take_lanes)(PART *low, PART *high, const SUM *y, int b) {
  const PART zero = {0};
  *low = *high = zero;
  TRS_UNROLL
  for (int i = 0; i < b && i < WIDTH; i++) (*low)[i] = y[i];
  TRS_UNROLL
  for (int i = WIDTH; i < b && i < 2 * WIDTH; i++) (*high)[i - WIDTH] = y[i];
}

#define LANE(low, high, i) ((i) < WIDTH ? (low)[(i) & (WIDTH - 1)] : (high)[(i) & (WIDTH - 1)])

/* sum -= the rows of a column at a, times x. */
TRS_INLINE void TILE(subtract)(PART *sum, const OFF *a, SUM x) {
  TILE(stored_part) stored;
  memcpy(&stored, a, sizeof stored);
  *sum -= __builtin_convertvector(stored, PART) * x;
}

/* y -= O x for blocks of at most 8, in the precision of y; b is a literal.  A row may read the x of
 * the row before it, so that few operations lie between that x and this: the block of the nearest
 * column comes last, in two sums, and y is in registers.  Loads run past a column's end.  step:
 * from row to row, 1 or -1. */
TRS_INLINE void TILE(subtract_row)(const trs_relaxation *R, int64_t p, const X *x, PART *low,
                                   PART *high, int64_t step, int b) {
  enum { AHEAD = 24 };
  const int64_t by = R->upper ? -1 : 1;
  const int32_t *idx = R->idx;
  PART even_low = *low, even_high = *high, odd_low = {0}, odd_high = {0};
  int64_t k = R->upper ? R->ptr[p + 1] - 1 : R->ptr[p];
  for (int64_t left = R->ptr[p + 1] - R->ptr[p]; left > 0; left--, k += by) {
    const OFF *a = (const OFF *)R->off + k * b * b;
    const X *xk = x + (int64_t)idx[k] * b;
    if (b > 2) __builtin_prefetch(x + (int64_t)idx[k + step * AHEAD] * b);
    TRS_CONCAT(NAME(look_ahead), 4)(a, step, b);
    TRS_UNROLL
    for (int c = 0; c < b; c += 2) {
      TILE(subtract)(&even_low, a + c * b, (SUM)xk[c]);
      if (b > WIDTH) TILE(subtract)(&even_high, a + c * b + WIDTH, (SUM)xk[c]);
      if (c + 1 == b) continue;
      TILE(subtract)(&odd_low, a + (c + 1) * b, (SUM)xk[c + 1]);
      if (b > WIDTH) TILE(subtract)(&odd_high, a + (c + 1) * b + WIDTH, (SUM)xk[c + 1]);
    }
  }
  *low = even_low + odd_low;
  *high = even_high + odd_high;
}

/* y = D^-1 y from the inverse, for blocks of at most 8; loads run past a column's end. */
TRS_INLINE void TILE(multiply_inverse)(const trs_relaxation *R, int64_t p, PART *low, PART *high,
                                       int b) {
  const SUM *d = (const SUM *)R->diagonal + p * b * b;
  PART even_low = {0}, even_high = {0}, odd_low = {0}, odd_high = {0}, v;
  TRS_UNROLL
  for (int j = 0; j < b; j++) {
    const SUM y = LANE(*low, *high, j);
    memcpy(&v, d + j * b, sizeof v);
    if (j % 2)
      odd_low += v * y;
    else
      even_low += v * y;
    if (b <= WIDTH) continue;
    memcpy(&v, d + j * b + WIDTH, sizeof v);
    if (j % 2)
      odd_high += v * y;
    else
      even_high += v * y;
  }
  *low = even_low + odd_low;
  *high = even_high + odd_high;
}

/* x of a row of a triangle from its b, in place, for blocks of 16 bits and of more than 8. */
TRS_INLINE void TILE(solve_row)(const trs_relaxation *R, int64_t p, const X *x, SUM *z, int b) {
  SUM y[ROOM];
  y[0] = y[1] = 0; /* gcc 12 takes these for uninitialised */
  NAME(row)(R, p, x, y, b);
  for (int i = 0; i < b; i++) z[i] -= y[i];
  if (R->unit) return;
  if (b > 8 || !(R->pivot[p * b] & TRS_BLOCK_INVERTED)) {
    NAME(solve_by_factors)(R, p, z);
    return;
  }
  PART low, high;
  TILE(take_lanes)(&low, &high, z, b);
  TILE(multiply_inverse)(R, p, &low, &high, b);
  TRS_UNROLL
  for (int i = 0; i < b; i++) z[i] = LANE(low, high, i);
}

/* The rows of a triangle, from the caller's b to its x.  Later rows read x there if it is plain (a
 * literal, see is_plain) and of X, else in R->x, by columns. */
TRS_INLINE void TILE(solve)(const trs_relax_work *w, int64_t begin, int64_t end, bool plain,
                            int b) {
  const trs_relaxation own = *w->R, *R = &own; /* in registers: no store can change it */
  const SUM *from = w->rhs->b;
  SUM *to = w->rhs->x, moved[TRS_RELAX_MOST_BLOCK];
  const bool there = plain && sizeof(X) == sizeof(SUM), back = R->upper && R->factors;
  const int64_t step = back ? -1 : 1;
  const int64_t nrhs = plain ? 1 : w->rhs->nrhs;
  for (int64_t left = end - begin, p = back ? end - 1 : begin; left > 0; left--, p += step)
    for (int64_t c = 0; c < nrhs; c++) {
      X *x = there ? (X *)to : (X *)R->x + c * R->nrows * b;
      const int64_t at = (int64_t)R->row[p] * b;
      if (!plain) NAME(get_row)(w, p, c, moved);
      if (SCALED || b > 8) {
        for (int i = 0; plain && i < b; i++) moved[i] = from[at + i];
        TILE(solve_row)(w->R, p, x, moved, b);
        for (int i = 0; i < b; i++) x[at + i] = (X)moved[i];
        for (int i = 0; plain && !there && i < b; i++) to[at + i] = (SUM)(X)moved[i];
      } else {
        PART low, high;
        TILE(take_lanes)(&low, &high, plain ? from + at : moved, b);
        TILE(subtract_row)(R, p, x, &low, &high, step, b);
        if (!R->unit && R->pivot[p * b] & TRS_BLOCK_INVERTED) {
          TILE(multiply_inverse)(R, p, &low, &high, b);
        } else if (!R->unit) {
          for (int i = 0; i < b; i++) moved[i] = LANE(low, high, i);
          NAME(solve_by_factors)(w->R, p, moved);
          TILE(take_lanes)(&low, &high, moved, b);
        }
        TRS_UNROLL
        for (int i = 0; i < b; i++) x[at + i] = (X)LANE(low, high, i);
        if (plain && !there)
          for (int i = 0; i < b; i++) to[at + i] = (SUM)x[at + i];
      }
      if (!plain) NAME(set_row)(w, p, c, x + at);
    }
}
#undef LANE
#undef PART
