/* sweep_tmpl.c - substitution by rows and by columns.
 *
 * lower, unit, conj and the strides are literals at every call of the inlined loops, so each
 * combination compiles to its own tight loop. */

enum { NAME(TILE) = 8 }; /* right-hand sides that share one pass over the matrix */

/* sum -= a x for tile right-hand sides, xc apart.  Only neighbours are worth vector instructions.
 */
TRS_INLINE void NAME(tile_subtract)(SCALAR *sum, SCALAR a, const SCALAR *x, int64_t xc, int tile,
                                    bool packed) {
  if (packed) {
    TRS_SIMD
    for (int t = 0; t < tile; t++) sum[t] -= MUL(a, x[t]);
  } else {
    for (int t = 0; t < tile; t++) sum[t] -= MUL(a, x[t * xc]);
  }
}

TRS_INLINE SCALAR NAME(entry)(const SCALAR *val, int64_t p, bool conjugate) {
  return conjugate ? CONJ(val[p]) : val[p];
}

/* The reciprocal depends on nothing but the matrix, so the processor has it ready before the sum
 * it scales: the division is off the path from one x to the next. */
TRS_INLINE SCALAR NAME(reciprocal)(const SCALAR *val, int64_t p, bool conjugate) {
  return 1 / NAME(entry)(val, p, conjugate);
}

/* sum - T[i][j] x[j] over count entries, from the one farthest from the diagonal to the nearest:
 * the nearest is the likeliest to be still on its way.  Long rows run four sums side by side. */
TRS_INLINE SCALAR NAME(subtract)(SCALAR sum, const SCALAR *val, const int32_t *idx, const SCALAR *x,
                                 int64_t xs, int64_t far, int64_t count, int step, bool conjugate) {
  int64_t q = 0;
  if (count >= 8) {
    SCALAR sum1 = 0, sum2 = 0, sum3 = 0;
    for (; q + 4 <= count; q += 4) {
      int64_t p = far + step * q, p1 = p + step, p2 = p1 + step, p3 = p2 + step;
      sum -= MUL(NAME(entry)(val, p, conjugate), x[idx[p] * xs]);
      sum1 -= MUL(NAME(entry)(val, p1, conjugate), x[idx[p1] * xs]);
      sum2 -= MUL(NAME(entry)(val, p2, conjugate), x[idx[p2] * xs]);
      sum3 -= MUL(NAME(entry)(val, p3, conjugate), x[idx[p3] * xs]);
    }
    sum = (sum + sum1) + (sum2 + sum3);
  }
  for (; q < count; q++) {
    int64_t p = far + step * q;
    sum -= MUL(NAME(entry)(val, p, conjugate), x[idx[p] * xs]);
  }
  return sum;
}

/* x[i] = (b[i] - sum of T[i][j] x[j]) / T[i][i] */
TRS_INLINE void NAME(rows_one)(const trs_system *S, const trs_rhs *R, int64_t r, bool lower,
                               bool full, bool conjugate, bool packed) {
  const int64_t n = S->n, *ptr = S->ptr;
  const int32_t *idx = S->idx;
  const SCALAR *val = S->val;
  const int64_t xs = packed ? 1 : R->x_row, bs = packed ? 1 : R->b_row;
  const bool unit = S->unit;
  SCALAR *x = (SCALAR *)R->x + r * R->x_col;
  const SCALAR *b = (const SCALAR *)R->b + r * R->b_col;
  for (int64_t k = 0; k < n; k++) {
    int64_t i = lower ? k : n - 1 - k, begin, end;
    trs_off_diagonal(S, i, lower, full, &begin, &end);
    SCALAR sum = NAME(subtract)(b[i * bs], val, idx, x, xs, lower ? begin : end - 1, end - begin,
                                lower ? 1 : -1, conjugate);
    if (!unit) sum = MUL(sum, NAME(reciprocal)(val, lower ? ptr[i + 1] - 1 : ptr[i], conjugate));
    x[i * xs] = sum;
  }
}

/* The same where nearly every row needs the x just made: it comes from a register rather than
 * back through memory, and its entry is scaled beforehand, so that one multiply-add is all that
 * separates two rows. */
TRS_INLINE void NAME(rows_chained)(const trs_system *S, const trs_rhs *R, int64_t r, bool lower,
                                   bool conjugate) {
  const int64_t n = S->n, *ptr = S->ptr;
  const int32_t *idx = S->idx;
  const SCALAR *val = S->val;
  SCALAR *x = (SCALAR *)R->x + r * R->x_col, last = 0;
  const SCALAR *b = (const SCALAR *)R->b + r * R->b_col;
  for (int64_t k = 0; k < n; k++) {
    int64_t i = lower ? k : n - 1 - k;
    int64_t begin = ptr[i] + !lower, end = ptr[i + 1] - lower, near = lower ? end - 1 : begin;
    SCALAR inverse = NAME(reciprocal)(val, lower ? end : begin - 1, conjugate);
    bool adjacent = begin < end && idx[near] == (lower ? i - 1 : i + 1);
    SCALAR sum = NAME(subtract)(b[i], val, idx, x, 1, lower ? begin : end - 1,
                                end - begin - adjacent, lower ? 1 : -1, conjugate);
    sum = MUL(sum, inverse);
    if (adjacent) sum -= MUL(MUL(NAME(entry)(val, near, conjugate), inverse), last);
    x[i] = last = sum;
  }
}

/* The same for tile right-hand sides from r on; tile is a literal. */
TRS_INLINE void NAME(rows_tile)(const trs_system *S, const trs_rhs *R, int64_t r, int tile,
                                bool lower, bool conjugate, bool packed) {
  const int64_t n = S->n, *ptr = S->ptr;
  const int32_t *idx = S->idx;
  const SCALAR *val = S->val;
  const bool unit = S->unit, full = S->has_diagonal;
  const int64_t xs = R->x_row, bs = R->b_row, xc = packed ? 1 : R->x_col,
                bc = packed ? 1 : R->b_col;
  SCALAR *x = (SCALAR *)R->x + r * R->x_col;
  const SCALAR *b = (const SCALAR *)R->b + r * R->b_col;
  for (int64_t k = 0; k < n; k++) {
    int64_t i = lower ? k : n - 1 - k, begin, end;
    SCALAR sum[NAME(TILE)];
    trs_off_diagonal(S, i, lower, full, &begin, &end);
    for (int t = 0; t < tile; t++) sum[t] = b[i * bs + t * bc];
    for (int64_t p = begin; p < end; p++)
      NAME(tile_subtract)(sum, NAME(entry)(val, p, conjugate), x + idx[p] * xs, xc, tile, packed);
    SCALAR inverse = unit ? 1 : NAME(reciprocal)(val, lower ? ptr[i + 1] - 1 : ptr[i], conjugate);
    for (int t = 0; t < tile; t++) x[i * xs + t * xc] = MUL(sum[t], inverse);
  }
}

TRS_INLINE void NAME(rows_either)(const trs_system *S, const trs_rhs *R, bool lower, bool conjugate,
                                  bool chained) {
  int64_t r = 0;
  bool packed = R->x_col == 1 && R->b_col == 1;
  for (; r + NAME(TILE) <= R->nrhs; r += NAME(TILE)) {
    if (packed)
      NAME(rows_tile)(S, R, r, NAME(TILE), lower, conjugate, true);
    else
      NAME(rows_tile)(S, R, r, NAME(TILE), lower, conjugate, false);
  }
  for (; r + 4 <= R->nrhs; r += 4) NAME(rows_tile)(S, R, r, 4, lower, conjugate, false);
  for (; r + 2 <= R->nrhs; r += 2) NAME(rows_tile)(S, R, r, 2, lower, conjugate, false);
  for (; r < R->nrhs; r++) {
    bool contiguous = R->x_row == 1 && R->b_row == 1;
    if (contiguous && chained)
      NAME(rows_chained)(S, R, r, lower, conjugate);
    else if (contiguous && S->has_diagonal)
      NAME(rows_one)(S, R, r, lower, true, conjugate, true);
    else
      NAME(rows_one)(S, R, r, lower, S->has_diagonal, conjugate, false);
  }
}

static void NAME(by_rows)(const trs_system *S, const trs_rhs *R, bool chained) {
  if (IS_COMPLEX && S->conj)
    S->lower ? NAME(rows_either)(S, R, true, true, chained)
             : NAME(rows_either)(S, R, false, true, chained);
  else
    S->lower ? NAME(rows_either)(S, R, true, false, chained)
             : NAME(rows_either)(S, R, false, false, chained);
}

/* x -= a xj for tile right-hand sides. */
TRS_INLINE void NAME(tile_scatter)(SCALAR *x, int64_t xc, SCALAR a, const SCALAR *xj, int tile,
                                   bool packed) {
  if (packed) {
    TRS_SIMD
    for (int t = 0; t < tile; t++) x[t] -= MUL(a, xj[t]);
  } else {
    for (int t = 0; t < tile; t++) x[t * xc] -= MUL(a, xj[t]);
  }
}

/* x[j] = x[j] / T[j][j];  x[i] = x[i] - T[i][j] x[j] for the rows below (above) */
TRS_INLINE void NAME(columns_tile)(const trs_system *S, const trs_rhs *R, int64_t r, int tile,
                                   bool lower, bool full, bool conjugate, bool packed) {
  const int64_t n = S->n, *ptr = S->ptr;
  const int32_t *idx = S->idx;
  const SCALAR *val = S->val;
  const bool unit = S->unit;
  const int64_t xs = packed && tile == 1 ? 1 : R->x_row, xc = packed ? 1 : R->x_col;
  SCALAR *x = (SCALAR *)R->x + r * R->x_col;
  for (int64_t k = 0; k < n; k++) {
    int64_t j = lower ? k : n - 1 - k, begin, end;
    SCALAR xj[NAME(TILE)];
    trs_off_diagonal(S, j, !lower, full, &begin, &end);
    SCALAR inverse = unit ? 1 : NAME(reciprocal)(val, lower ? ptr[j] : ptr[j + 1] - 1, conjugate);
    for (int t = 0; t < tile; t++) {
      xj[t] = x[j * xs + t * xc];
      if (!unit) xj[t] = MUL(xj[t], inverse);
      x[j * xs + t * xc] = xj[t];
    }
    for (int64_t p = begin; p < end; p++)
      NAME(tile_scatter)(x + idx[p] * xs, xc, NAME(entry)(val, p, conjugate), xj, tile, packed);
  }
}

TRS_INLINE void NAME(columns_either)(const trs_system *S, const trs_rhs *R, bool lower,
                                     bool conjugate) {
  int64_t r = 0;
  for (; r + NAME(TILE) <= R->nrhs; r += NAME(TILE)) {
    if (R->x_col == 1)
      NAME(columns_tile)(S, R, r, NAME(TILE), lower, S->has_diagonal, conjugate, true);
    else
      NAME(columns_tile)(S, R, r, NAME(TILE), lower, S->has_diagonal, conjugate, false);
  }
  for (; r + 4 <= R->nrhs; r += 4)
    NAME(columns_tile)(S, R, r, 4, lower, S->has_diagonal, conjugate, false);
  for (; r + 2 <= R->nrhs; r += 2)
    NAME(columns_tile)(S, R, r, 2, lower, S->has_diagonal, conjugate, false);
  for (; r < R->nrhs; r++) {
    if (R->x_row == 1 && S->has_diagonal)
      NAME(columns_tile)(S, R, r, 1, lower, true, conjugate, true);
    else
      NAME(columns_tile)(S, R, r, 1, lower, S->has_diagonal, conjugate, false);
  }
}

static void NAME(copy_rhs)(const trs_system *S, const trs_rhs *R) {
  SCALAR *x = R->x;
  const SCALAR *b = R->b;
  if (R->x == R->b) return;
  bool down = R->x_row <= R->x_col; /* walk the contiguous direction innermost */
  int64_t inner = down ? S->n : R->nrhs, outer = down ? R->nrhs : S->n;
  int64_t xi = down ? R->x_row : R->x_col, xo = down ? R->x_col : R->x_row;
  int64_t bi = down ? R->b_row : R->b_col, bo = down ? R->b_col : R->b_row;
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < inner; i++) x[o * xo + i * xi] = b[o * bo + i * bi];
}

static void NAME(by_columns)(const trs_system *S, const trs_rhs *R) {
  NAME(copy_rhs)(S, R);
  if (IS_COMPLEX && S->conj)
    S->lower ? NAME(columns_either)(S, R, true, true) : NAME(columns_either)(S, R, false, true);
  else
    S->lower ? NAME(columns_either)(S, R, true, false) : NAME(columns_either)(S, R, false, false);
}
