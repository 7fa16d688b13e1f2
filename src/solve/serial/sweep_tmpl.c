/* sweep_tmpl.c - substitution by rows and by columns.
 *
 * lower, conjugate and "packed" (strides of one) are literals at every call of the inlined loops,
 * so each combination compiles to its own tight loop. */

TRS_INLINE SCALAR NAME(entry)(const SCALAR *val, int64_t p, bool conjugate) {
  return conjugate ? CONJ(val[p]) : val[p];
}

/* The reciprocal depends only on the matrix, so the processor computes it before the sum that it
 * scales is known: the division is not on the critical path from one x to the next. */
TRS_INLINE SCALAR NAME(reciprocal)(const SCALAR *val, int64_t p, bool conjugate) {
  return 1 / NAME(entry)(val, p, conjugate);
}

/* sum - T[i][j] x[j] over count entries, from the farthest from the diagonal to the nearest, whose
 * x is the most likely to be incomplete.  Long rows use four independent sums.  checked: NULL, or
 * the bounds of indices; an index outside of them sets *good to false. */
TRS_INLINE SCALAR NAME(subtract)(SCALAR sum, const SCALAR *val, const int32_t *idx, const SCALAR *x,
                                 int64_t xs, int64_t far, int64_t count, int step, bool conjugate,
                                 const vector *checked, bool *good) {
  int64_t q = 0;
  if (count >= 8) {
    SCALAR sum1 = 0, sum2 = 0, sum3 = 0;
    for (; q + 4 <= count; q += 4) {
      int64_t p = far + step * q, p1 = p + step, p2 = p1 + step, p3 = p2 + step;
      if (checked && !four_inside(checked, idx[p], idx[p1], idx[p2], idx[p3])) {
        *good = false;
        return sum;
      }
      sum -= MUL(NAME(entry)(val, p, conjugate), x[idx[p] * xs]);
      sum1 -= MUL(NAME(entry)(val, p1, conjugate), x[idx[p1] * xs]);
      sum2 -= MUL(NAME(entry)(val, p2, conjugate), x[idx[p2] * xs]);
      sum3 -= MUL(NAME(entry)(val, p3, conjugate), x[idx[p3] * xs]);
    }
    sum = (sum + sum1) + (sum2 + sum3);
  }
  for (; q < count; q++) {
    int64_t p = far + step * q;
    if (checked && !is_inside(checked, idx[p])) {
      *good = false;
      return sum;
    }
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
                                lower ? 1 : -1, conjugate, NULL, NULL);
    if (!unit) sum = MUL(sum, NAME(reciprocal)(val, lower ? ptr[i + 1] - 1 : ptr[i], conjugate));
    x[i * xs] = sum;
  }
}

/* The same for matrices in which nearly every row needs the x computed just before: it stays in a
 * register, and its entry is scaled beforehand, so that only one multiply-add separates two rows.
 */
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
                                end - begin - adjacent, lower ? 1 : -1, conjugate, NULL, NULL);
    sum = MUL(sum, inverse);
    if (adjacent) sum -= MUL(MUL(NAME(entry)(val, near, conjugate), inverse), last);
    x[i] = last = sum;
  }
}

/* Four right-hand sides from r on share one pass over the matrix.  Four scalars, because an array
 * would be stored in memory. */
TRS_INLINE void NAME(rows_four)(const trs_system *S, const trs_rhs *R, int64_t r, bool lower,
                                bool conjugate) {
  const int64_t n = S->n, *ptr = S->ptr, xs = R->x_row, xc = R->x_col, bs = R->b_row, bc = R->b_col;
  const int32_t *idx = S->idx;
  const SCALAR *val = S->val;
  const bool unit = S->unit, full = S->has_diagonal;
  for (int64_t k = 0; k < n; k++) {
    int64_t i = lower ? k : n - 1 - k, begin, end;
    const SCALAR *b = (const SCALAR *)R->b + i * bs + r * bc;
    SCALAR *x = (SCALAR *)R->x + i * xs + r * xc;
    SCALAR sum0 = b[0], sum1 = b[bc], sum2 = b[2 * bc], sum3 = b[3 * bc];
    trs_off_diagonal(S, i, lower, full, &begin, &end);
    for (int64_t p = begin; p < end; p++) {
      SCALAR a = NAME(entry)(val, p, conjugate);
      const SCALAR *xj = (const SCALAR *)R->x + idx[p] * xs + r * xc;
      sum0 -= MUL(a, xj[0]);
      sum1 -= MUL(a, xj[xc]);
      sum2 -= MUL(a, xj[2 * xc]);
      sum3 -= MUL(a, xj[3 * xc]);
    }
    SCALAR inverse = unit ? 1 : NAME(reciprocal)(val, lower ? ptr[i + 1] - 1 : ptr[i], conjugate);
    x[0] = MUL(sum0, inverse);
    x[xc] = MUL(sum1, inverse);
    x[2 * xc] = MUL(sum2, inverse);
    x[3 * xc] = MUL(sum3, inverse);
  }
}

TRS_INLINE void NAME(rows_either)(const trs_system *S, const trs_rhs *R, bool lower, bool conjugate,
                                  bool chained) {
  int64_t r = 0;
  bool contiguous = R->x_row == 1 && R->b_row == 1;
  for (; r + 4 <= R->nrhs; r += 4) NAME(rows_four)(S, R, r, lower, conjugate);
  for (; r < R->nrhs; r++) {
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

/* x[j] = x[j] / T[j][j];  x[i] = x[i] - T[i][j] x[j] for the rows below (above) */
TRS_INLINE void NAME(columns_one)(const trs_system *S, const trs_rhs *R, int64_t r, bool lower,
                                  bool full, bool conjugate, bool packed) {
  const int64_t n = S->n, *ptr = S->ptr, xs = packed ? 1 : R->x_row;
  const int32_t *idx = S->idx;
  const SCALAR *val = S->val;
  const bool unit = S->unit;
  SCALAR *x = (SCALAR *)R->x + r * R->x_col;
  for (int64_t k = 0; k < n; k++) {
    int64_t j = lower ? k : n - 1 - k, begin, end;
    trs_off_diagonal(S, j, !lower, full, &begin, &end);
    SCALAR xj = x[j * xs];
    if (!unit) xj = MUL(xj, NAME(reciprocal)(val, lower ? ptr[j] : ptr[j + 1] - 1, conjugate));
    x[j * xs] = xj;
    for (int64_t p = begin; p < end; p++) x[idx[p] * xs] -= MUL(NAME(entry)(val, p, conjugate), xj);
  }
}

/* The same for four right-hand sides. */
TRS_INLINE void NAME(columns_four)(const trs_system *S, const trs_rhs *R, int64_t r, bool lower,
                                   bool conjugate) {
  const int64_t n = S->n, *ptr = S->ptr, xs = R->x_row, xc = R->x_col;
  const int32_t *idx = S->idx;
  const SCALAR *val = S->val;
  const bool unit = S->unit, full = S->has_diagonal;
  SCALAR *x = (SCALAR *)R->x + r * xc;
  for (int64_t k = 0; k < n; k++) {
    int64_t j = lower ? k : n - 1 - k, begin, end;
    trs_off_diagonal(S, j, !lower, full, &begin, &end);
    SCALAR inverse = unit ? 1 : NAME(reciprocal)(val, lower ? ptr[j] : ptr[j + 1] - 1, conjugate);
    SCALAR *at = x + j * xs;
    SCALAR x0 = at[0] = MUL(at[0], inverse), x1 = at[xc] = MUL(at[xc], inverse);
    SCALAR x2 = at[2 * xc] = MUL(at[2 * xc], inverse), x3 = at[3 * xc] = MUL(at[3 * xc], inverse);
    for (int64_t p = begin; p < end; p++) {
      SCALAR a = NAME(entry)(val, p, conjugate), *xi = x + idx[p] * xs;
      xi[0] -= MUL(a, x0);
      xi[xc] -= MUL(a, x1);
      xi[2 * xc] -= MUL(a, x2);
      xi[3 * xc] -= MUL(a, x3);
    }
  }
}

TRS_INLINE void NAME(columns_either)(const trs_system *S, const trs_rhs *R, bool lower,
                                     bool conjugate) {
  int64_t r = 0;
  for (; r + 4 <= R->nrhs; r += 4) NAME(columns_four)(S, R, r, lower, conjugate);
  for (; r < R->nrhs; r++) {
    if (R->x_row == 1 && S->has_diagonal)
      NAME(columns_one)(S, R, r, lower, true, conjugate, true);
    else
      NAME(columns_one)(S, R, r, lower, S->has_diagonal, conjugate, false);
  }
}

static void NAME(copy_rhs)(const trs_system *S, const trs_rhs *R) {
  SCALAR *x = R->x;
  const SCALAR *b = R->b;
  if (R->x == R->b) return;
  bool down = R->x_row <= R->x_col; /* the inner loop follows the contiguous direction */
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
