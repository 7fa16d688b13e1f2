/* sweep_tmpl.c - substitution by rows and by columns.
 *
 * lower, conjugate and "packed" (strides of one) are literals at every call of the inlined loops,
 * so each combination compiles to its own tight loop. */

/* A tile, and the rows of a pass: places [from, to) of the sweep. */
typedef struct NAME(pass) {
  SCALAR *x;
  const SCALAR *b;
  int64_t xs, xc, bs, bc, from, to;
  bool bare;
} NAME(pass);

TRS_INLINE SCALAR NAME(entry)(const SCALAR *val, int64_t p, bool conjugate) {
  return conjugate ? CONJ(val[p]) : val[p];
}

/* The reciprocal depends only on the matrix, so the processor computes it before the sum that it
 * scales is known: the division is not on the critical path from one x to the next. */
TRS_INLINE SCALAR NAME(reciprocal)(const SCALAR *val, int64_t p, bool conjugate) {
  return 1 / NAME(entry)(val, p, conjugate);
}

/* sum - T[i][j] x[j] over count entries, from the farthest from the diagonal to the nearest, whose
 * x is the most likely to be incomplete.  Long rows use four independent sums. */
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

/* x[i] = (b[i] - sum of T[i][j] x[j]) / T[i][i].  bare: a literal, as the others. */
TRS_INLINE void NAME(rows_one)(const trs_system *S, const NAME(pass) * P, bool lower, bool full,
                               bool bare, bool conjugate, bool packed) {
  const int64_t n = S->n, to = P->to, *ptr = S->ptr;
  const int32_t *idx = S->idx;
  const SCALAR *val = S->val, *b = P->b;
  const int64_t xs = packed ? 1 : P->xs, bs = packed ? 1 : P->bs;
  const bool unit = bare || S->unit;
  SCALAR *x = P->x;
  for (int64_t k = P->from; k < to; k++) {
    int64_t i = lower ? k : n - 1 - k, begin = ptr[i], end = ptr[i + 1];
    if (!bare) trs_off_diagonal(S, i, lower, full, &begin, &end);
    SCALAR sum = NAME(subtract)(b[i * bs], val, idx, x, xs, lower ? begin : end - 1, end - begin,
                                lower ? 1 : -1, conjugate);
    if (!unit) sum = MUL(sum, NAME(reciprocal)(val, lower ? ptr[i + 1] - 1 : ptr[i], conjugate));
    x[i * xs] = sum;
  }
}

#if !IS_COMPLEX
/* a, or zero: the mask has all bits, or none. */
TRS_INLINE REAL NAME(kept)(REAL a, uint64_t mask) {
  uint64_t wide = 0;
  memcpy(&wide, &a, sizeof a);
  wide &= mask;
  memcpy(&a, &wide, sizeof a);
  return a;
}

/* sum minus at most four entries, of which four are read: those beyond `count` belong to other rows
 * and do not count, whatever their x is.  In the order of subtract. */
TRS_INLINE REAL NAME(subtract_four)(REAL sum, const REAL *val, const int32_t *idx, const REAL *x,
                                    int64_t far, int64_t count, int step) {
  const uint64_t *keep = kept_of[count];
  for (int q = 0; q < 4; q++) {
    const int64_t p = far + step * q;
    sum -= NAME(kept)(val[p], keep[q]) * NAME(kept)(x[idx[p]], keep[q]);
  }
  return sum;
}

/* Rows whose lengths nobody can guess: no branch depends on a length up to four, and one does up to
 * seven.  For strides of one.  stored: every row has its diagonal entry, else none has. */
TRS_INLINE void NAME(rows_ragged)(const trs_system *S, const NAME(pass) * P, bool lower,
                                  bool stored) {
  enum { SHORT = 8 };
  const int64_t n = S->n, to = P->to, *ptr = S->ptr, nnz = S->nnz;
  const int32_t *idx = S->idx;
  const REAL *val = S->val, *b = P->b;
  const bool unit = S->unit;
  const int step = lower ? 1 : -1;
  REAL *x = P->x;
  for (int64_t k = P->from; k < to; k++) {
    const int64_t i = lower ? k : n - 1 - k, count = ptr[i + 1] - ptr[i] - stored;
    int64_t far = lower ? ptr[i] : ptr[i + 1] - 1, left = count;
    REAL sum = b[i];
    if (count < SHORT && (lower ? nnz - far : far + 1) >= SHORT) {
      if (count > 4) {
        sum = NAME(subtract)(sum, val, idx, x, 1, far, 4, step, false);
        far += 4 * step;
        left -= 4;
      }
      sum = NAME(subtract_four)(sum, val, idx, x, far, left, step);
    } else {
      sum = NAME(subtract)(sum, val, idx, x, 1, far, count, step, false);
    }
    if (!unit) sum *= NAME(reciprocal)(val, lower ? ptr[i + 1] - 1 : ptr[i], false);
    x[i] = sum;
  }
}
#endif

/* A row of a matrix in which nearly every row needs the x computed just before: that x stays in a
 * register, and the entry of each row nearest to the diagonal is scaled beforehand, so that only
 * one multiply-add separates two rows.  The quotients keep all digits (trs_system_scales). */
TRS_INLINE SCALAR NAME(chained_row)(const trs_system *S, const NAME(pass) * P, int64_t i,
                                    int64_t begin, int64_t count, SCALAR last, bool lower,
                                    bool conjugate, bool packed, bool unit) {
  const int32_t *idx = S->idx;
  const SCALAR *val = S->val;
  const int64_t xs = packed ? 1 : P->xs, bs = packed ? 1 : P->bs;
  const int64_t end = begin + count, near = lower ? end - 1 : begin;
  SCALAR inverse = 1;
  if (!unit) inverse = NAME(reciprocal)(val, lower ? end : begin - 1, conjugate);
  SCALAR sum = NAME(subtract)(P->b[i * bs], val, idx, P->x, xs, lower ? begin : end - 1,
                              count - (count > 0), lower ? 1 : -1, conjugate);
  if (!unit) sum = MUL(sum, inverse);
  if (count > 0) {
    SCALAR a = NAME(entry)(val, near, conjugate);
    if (!unit) a = MUL(a, inverse);
    sum -= MUL(a, idx[near] == (lower ? i - 1 : i + 1) ? last : P->x[idx[near] * xs]);
  }
  return sum;
}

TRS_INLINE void NAME(rows_chained)(const trs_system *S, const NAME(pass) * P, bool lower, bool full,
                                   bool conjugate, bool packed, bool unit) {
  const int64_t n = S->n, to = P->to, xs = packed ? 1 : P->xs;
  SCALAR *x = P->x, last = P->from ? x[(lower ? P->from - 1 : n - P->from) * xs] : 0;
  for (int64_t k = P->from; k < to; k++) {
    int64_t i = lower ? k : n - 1 - k, begin, end;
    trs_off_diagonal(S, i, lower, full, &begin, &end);
    x[i * xs] = last =
        NAME(chained_row)(S, P, i, begin, end - begin, last, lower, conjugate, packed, unit);
  }
}

#if !IS_COMPLEX
/* Rows from place k on that have as many entries beside the diagonal, a literal: their loops are
 * unrolled.  stored: every row has its diagonal entry, else none has.  Returns the place of the
 * next row. */
TRS_INLINE int64_t NAME(chained_run)(const trs_system *S, const NAME(pass) * P, int64_t k,
                                     int64_t count, SCALAR *last, bool lower, bool stored,
                                     bool unit) {
  const int64_t *ptr = S->ptr, n = S->n, to = P->to, length = count + stored;
  SCALAR *x = P->x, now = *last;
  int64_t i = lower ? k : n - 1 - k, begin = ptr[i];
  do {
    x[i] = now = NAME(chained_row)(S, P, i, begin + (stored && !lower), count, now, lower, false,
                                   true, unit);
    if (++k == to) break;
    i = lower ? k : n - 1 - k;
    begin = lower ? begin + length : ptr[i];
  } while (ptr[i + 1] - begin == length);
  *last = now;
  return k;
}

/* The same for strides of one: rows that follow each other often have as many entries. */
TRS_INLINE void NAME(runs_chained)(const trs_system *S, const NAME(pass) * P, bool lower,
                                   bool stored, bool unit) {
  const int64_t *ptr = S->ptr, n = S->n, to = P->to;
  SCALAR *x = P->x, last = P->from ? x[lower ? P->from - 1 : n - P->from] : 0;
  for (int64_t k = P->from; k < to;) {
    const int64_t i = lower ? k : n - 1 - k, count = ptr[i + 1] - ptr[i] - stored;
#define RUN(COUNT)                                                     \
  case COUNT:                                                          \
    k = NAME(chained_run)(S, P, k, COUNT, &last, lower, stored, unit); \
    break
    switch (count) {
      RUN(1);
      RUN(2);
      RUN(3);
      RUN(4);
      RUN(5);
      RUN(6);
      RUN(7);
      RUN(8);
      RUN(9);
      RUN(10);
      RUN(11);
      RUN(12);
      default:
        k = NAME(chained_run)(S, P, k, count, &last, lower, stored, unit);
    }
#undef RUN
  }
}
#endif

/* Four right-hand sides that are not adjacent.  Four scalars, because an array would be stored in
 * memory. */
TRS_INLINE void NAME(rows_four)(const trs_system *S, const NAME(pass) * P, bool lower,
                                bool conjugate) {
  const int64_t n = S->n, to = P->to, *ptr = S->ptr, xs = P->xs, xc = P->xc, bc = P->bc;
  const int32_t *idx = S->idx;
  const SCALAR *val = S->val;
  const bool unit = S->unit, full = S->has_diagonal;
  SCALAR *x = P->x;
  for (int64_t k = P->from; k < to; k++) {
    int64_t i = lower ? k : n - 1 - k, begin, end;
    const SCALAR *b = P->b + i * P->bs;
    SCALAR *own = x + i * xs;
    SCALAR sum0 = b[0], sum1 = b[bc], sum2 = b[2 * bc], sum3 = b[3 * bc];
    trs_off_diagonal(S, i, lower, full, &begin, &end);
    for (int64_t p = begin; p < end; p++) {
      SCALAR a = NAME(entry)(val, p, conjugate);
      const SCALAR *xj = x + idx[p] * xs;
      sum0 -= MUL(a, xj[0]);
      sum1 -= MUL(a, xj[xc]);
      sum2 -= MUL(a, xj[2 * xc]);
      sum3 -= MUL(a, xj[3 * xc]);
    }
    SCALAR inverse = unit ? 1 : NAME(reciprocal)(val, lower ? ptr[i + 1] - 1 : ptr[i], conjugate);
    own[0] = MUL(sum0, inverse);
    own[xc] = MUL(sum1, inverse);
    own[2 * xc] = MUL(sum2, inverse);
    own[3 * xc] = MUL(sum3, inverse);
  }
}

/* TRS_WIDE adjacent right-hand sides.  S is copied: vectors may alias it, so that a compiler would
 * read it again after each store. */
TRS_INLINE void NAME(rows_wide)(const trs_system *S, const NAME(pass) * P, bool lower,
                                bool conjugate) {
  const trs_system own = *S;
  const int64_t n = own.n, to = P->to, *ptr = own.ptr, ld = P->xs;
  const SCALAR *val = own.val;
  const bool unit = own.unit, full = own.has_diagonal;
  SCALAR *x = P->x;
  for (int64_t k = P->from; k < to; k++) {
    int64_t i = lower ? k : n - 1 - k, begin, end;
    trs_off_diagonal(&own, i, lower, full, &begin, &end);
    NAME(wide) sum = NAME(wide_load)(x + i * ld);
    sum = NAME(wide_row)(sum, val, own.idx, begin, end, x, ld, conjugate);
    if (!unit)
      sum = NAME(wide_scaled)(&sum,
                              NAME(reciprocal)(val, lower ? ptr[i + 1] - 1 : ptr[i], conjugate));
    NAME(wide_store)(x + i * ld, &sum);
  }
}

/* x[j] = x[j] / T[j][j];  x[i] = x[i] - T[i][j] x[j] for the rows below (above) */
TRS_INLINE void NAME(columns_one)(const trs_system *S, const NAME(pass) * P, bool lower, bool full,
                                  bool conjugate, bool packed) {
  const int64_t n = S->n, to = P->to, *ptr = S->ptr, xs = packed ? 1 : P->xs;
  const int32_t *idx = S->idx;
  const SCALAR *val = S->val;
  const bool unit = S->unit;
  SCALAR *x = P->x;
  for (int64_t k = P->from; k < to; k++) {
    int64_t j = lower ? k : n - 1 - k, begin, end;
    trs_off_diagonal(S, j, !lower, full, &begin, &end);
    SCALAR xj = x[j * xs];
    if (!unit) xj = MUL(xj, NAME(reciprocal)(val, lower ? ptr[j] : ptr[j + 1] - 1, conjugate));
    x[j * xs] = xj;
    for (int64_t p = begin; p < end; p++) x[idx[p] * xs] -= MUL(NAME(entry)(val, p, conjugate), xj);
  }
}

/* The same for four right-hand sides. */
TRS_INLINE void NAME(columns_four)(const trs_system *S, const NAME(pass) * P, bool lower,
                                   bool conjugate) {
  const int64_t n = S->n, to = P->to, *ptr = S->ptr, xs = P->xs, xc = P->xc;
  const int32_t *idx = S->idx;
  const SCALAR *val = S->val;
  const bool unit = S->unit, full = S->has_diagonal;
  SCALAR *x = P->x;
  for (int64_t k = P->from; k < to; k++) {
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

TRS_INLINE void NAME(columns_wide)(const trs_system *S, const NAME(pass) * P, bool lower,
                                   bool conjugate) {
  const trs_system own = *S;
  const int64_t n = own.n, to = P->to, *ptr = own.ptr, ld = P->xs;
  const SCALAR *val = own.val;
  const bool unit = own.unit, full = own.has_diagonal;
  SCALAR *x = P->x;
  for (int64_t k = P->from; k < to; k++) {
    int64_t j = lower ? k : n - 1 - k, begin, end;
    trs_off_diagonal(&own, j, !lower, full, &begin, &end);
    NAME(wide) xj = NAME(wide_load)(x + j * ld);
    if (!unit)
      xj =
          NAME(wide_scaled)(&xj, NAME(reciprocal)(val, lower ? ptr[j] : ptr[j + 1] - 1, conjugate));
    NAME(wide_store)(x + j * ld, &xj);
    NAME(wide_column)(xj, val, own.idx, begin, end, x, ld, conjugate);
  }
}

/* Strides of one have loops of their own, with the same operations in the same order. */
TRS_INLINE void NAME(run_chained)(const trs_system *S, const NAME(pass) * P, bool lower,
                                  bool conjugate) {
  const bool strides = P->xs == 1 && P->bs == 1;
#if !IS_COMPLEX
  if (strides && (P->bare || S->has_diagonal))
    P->bare   ? NAME(runs_chained)(S, P, lower, false, true)
    : S->unit ? NAME(runs_chained)(S, P, lower, true, true)
              : NAME(runs_chained)(S, P, lower, true, false);
  else
#endif
      if (S->unit)
    NAME(rows_chained)(S, P, lower, S->has_diagonal, conjugate, false, true);
  else
    strides ? NAME(rows_chained)(S, P, lower, true, conjugate, true, false)
            : NAME(rows_chained)(S, P, lower, true, conjugate, false, false);
}

TRS_INLINE void NAME(run_any)(const trs_system *S, const NAME(pass) * P, trs_serial_kind kind,
                              bool rows, bool lower, bool conjugate) {
  const bool packed = P->xs == 1 && (P->bs == 1 || !rows) && S->has_diagonal;
  if (kind == TRS_SERIAL_WIDE)
    rows ? NAME(rows_wide)(S, P, lower, conjugate) : NAME(columns_wide)(S, P, lower, conjugate);
  else if (kind == TRS_SERIAL_FOUR)
    rows ? NAME(rows_four)(S, P, lower, conjugate) : NAME(columns_four)(S, P, lower, conjugate);
  else if (kind == TRS_SERIAL_CHAINED && rows)
    NAME(run_chained)(S, P, lower, conjugate);
#if !IS_COMPLEX
  else if (kind == TRS_SERIAL_RAGGED && rows && P->xs == 1 && P->bs == 1 &&
           (P->bare || S->has_diagonal))
    P->bare ? NAME(rows_ragged)(S, P, lower, false) : NAME(rows_ragged)(S, P, lower, true);
#endif
  else if (packed)
    rows ? NAME(rows_one)(S, P, lower, true, false, conjugate, true)
         : NAME(columns_one)(S, P, lower, true, conjugate, true);
  else if (rows && P->bare && P->xs == 1 && P->bs == 1)
    NAME(rows_one)(S, P, lower, false, true, conjugate, true);
  else
    rows ? NAME(rows_one)(S, P, lower, S->has_diagonal, false, conjugate, false)
         : NAME(columns_one)(S, P, lower, S->has_diagonal, conjugate, false);
}

TRS_INLINE void NAME(run_towards)(const trs_system *S, const NAME(pass) * P, trs_serial_kind kind,
                                  bool rows) {
  const bool conjugate = IS_COMPLEX && S->conj;
  if (conjugate)
    S->lower ? NAME(run_any)(S, P, kind, rows, true, true)
             : NAME(run_any)(S, P, kind, rows, false, true);
  else
    S->lower ? NAME(run_any)(S, P, kind, rows, true, false)
             : NAME(run_any)(S, P, kind, rows, false, false);
}

static void NAME(run_rows)(const trs_system *S, const NAME(pass) * P, trs_serial_kind kind) {
  NAME(run_towards)(S, P, kind, true);
}
static void NAME(run_columns)(const trs_system *S, const NAME(pass) * P, trs_serial_kind kind) {
  NAME(run_towards)(S, P, kind, false);
}

static void NAME(copy_tile)(const NAME(pass) * P, int width) {
  bool down = P->xs <= P->xc; /* the inner loop follows the contiguous direction */
  int64_t inner = down ? P->to : width, outer = down ? width : P->to;
  int64_t xi = down ? P->xs : P->xc, xo = down ? P->xc : P->xs;
  int64_t bi = down ? P->bs : P->bc, bo = down ? P->bc : P->bs;
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < inner; i++) P->x[o * xo + i * xi] = P->b[o * bo + i * bi];
}

/* By rows, each row of b is needed only when its turn comes, so a few hundred rows at a time are
 * loaded, solved and stored.  By columns, all of b is needed first. */
static void NAME(sweep)(const trs_system *S, const trs_rhs *R, const trs_serial_tile *t) {
  NAME(pass)
  P = {.x = t->x,
       .b = t->b,
       .xs = t->xs,
       .xc = t->xc,
       .bs = t->bs,
       .bc = t->bc,
       .to = S->n,
       .bare = t->bare};
  const int room = t->kind == TRS_SERIAL_WIDE ? TRS_WIDE : t->width;
  if (!S->rows) {
    if (t->load) NAME(load_rows)(R, t->r, t->width, room, NULL, 0, S->n, P.x, P.xs);
    if (P.x != P.b) NAME(copy_tile)(&P, t->width);
    NAME(run_columns)(S, &P, t->kind);
    if (t->store) NAME(store_rows)(R, t->r, t->width, NULL, 0, S->n, P.x, P.xs);
    return;
  }
  int64_t block = t->load || t->store ? TRS_SERIAL_BLOCK : S->n;
  for (P.from = 0; P.from < S->n; P.from = P.to) {
    P.to = S->n - P.from < block ? S->n : P.from + block;
    int64_t low = S->lower ? P.from : S->n - P.to, high = S->lower ? P.to : S->n - P.from;
    if (t->load) NAME(load_rows)(R, t->r, t->width, room, NULL, low, high, P.x, P.xs);
    NAME(run_rows)(S, &P, t->kind);
    if (t->store) NAME(store_rows)(R, t->r, t->width, NULL, low, high, P.x, P.xs);
  }
}
