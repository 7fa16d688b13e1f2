/* batch_tmpl.c - the values, the right-hand sides and the sweeps of a group of systems. */
#include "analysis/pivot_tmpl.c"

#define PARTS (1 + IS_COMPLEX)
#define LANES ((int)(TRS_BATCH_BYTES / sizeof(REAL)))
#define VECTORS ((int)(TRS_BATCH_BYTES / TRS_VECTOR_BYTES))
#define NUMBER ((int64_t)PARTS * LANES)               /* reals of a number of the group */
#define SIDE ((int)(TRS_VECTOR_BYTES / sizeof(REAL))) /* of a square of reals in registers */

typedef REAL NAME(lanes_vector)
    __attribute__((vector_size(TRS_VECTOR_BYTES), aligned(sizeof(REAL)), __may_alias__));

/* The real or the imaginary parts of a number. */
typedef struct NAME(lanes) {
  NAME(lanes_vector) part[VECTORS];
} NAME(lanes);

TRS_INLINE NAME(lanes) NAME(lanes_load)(const REAL *from) {
  NAME(lanes) w = {{{0}}};
  for (int v = 0; v < VECTORS; v++) w.part[v] = ((const NAME(lanes_vector) *)from)[v];
  return w;
}

TRS_INLINE void NAME(lanes_store)(REAL *to, const NAME(lanes) * w) {
  for (int v = 0; v < VECTORS; v++) ((NAME(lanes_vector) *)to)[v] = w->part[v];
}

/* sum -= a x, for a number of PARTS parts each. */
TRS_INLINE void NAME(lanes_subtract)(NAME(lanes) * sum, const NAME(lanes) * a,
                                     const NAME(lanes) * x) {
  for (int v = 0; v < VECTORS; v++) {
    sum[0].part[v] -= a[0].part[v] * x[0].part[v];
#if IS_COMPLEX
    sum[0].part[v] += a[1].part[v] * x[1].part[v];
    sum[1].part[v] -= a[0].part[v] * x[1].part[v];
    sum[1].part[v] -= a[1].part[v] * x[0].part[v];
#endif
  }
}

/* x = a x */
TRS_INLINE void NAME(lanes_scale)(NAME(lanes) * x, const NAME(lanes) * a) {
  for (int v = 0; v < VECTORS; v++) {
#if IS_COMPLEX
    NAME(lanes_vector) re = a[0].part[v] * x[0].part[v], im = a[0].part[v] * x[1].part[v];
    re -= a[1].part[v] * x[1].part[v];
    im += a[1].part[v] * x[0].part[v];
    x[0].part[v] = re;
    x[1].part[v] = im;
#else
    x[0].part[v] *= a[0].part[v];
#endif
  }
}

TRS_INLINE void NAME(lanes_take)(NAME(lanes) * w, const REAL *from) {
  for (int c = 0; c < PARTS; c++) w[c] = NAME(lanes_load)(from + c * LANES);
}

TRS_INLINE void NAME(lanes_put)(REAL *to, const NAME(lanes) * w) {
  for (int c = 0; c < PARTS; c++) NAME(lanes_store)(to + c * LANES, &w[c]);
}

TRS_INLINE void NAME(put_number)(REAL *to, int lane, SCALAR value) {
  const REAL *part = (const REAL *)&value;
  for (int c = 0; c < PARTS; c++) to[c * LANES + lane] = part[c];
}

TRS_INLINE SCALAR NAME(number_at)(const REAL *from, int lane) {
  SCALAR value;
  for (int c = 0; c < PARTS; c++) ((REAL *)&value)[c] = from[c * LANES + lane];
  return value;
}

/* ---- Squares: SIDE reals of SIDE systems, transposed in registers ---- */

TRS_INLINE void NAME(turn_square)(NAME(lanes_vector) * r) {
  _Generic((REAL)0, float : trs_transpose_float, double : trs_transpose_double)((void *)r);
}

/* The row of the sweep that row i of the caller's array is. */
TRS_INLINE int64_t NAME(place_of)(const trs_batch_order *order, int64_t i) {
  return order && order->place ? order->place[i] : i;
}

/* SIDE consecutive reals of each system, the caller's `from` of the group's first system being
 * `next` scalars from that of the second: real m at to[m * LANES], lanes first .. first + SIDE - 1.
 * order: of the numbers, or NULL.
 */
TRS_INLINE void NAME(take_square)(REAL *to, int64_t step, const SCALAR *from, int64_t next,
                                  int64_t m, int first, const trs_batch_order *order) {
  NAME(lanes_vector) r[SIDE];
  for (int l = 0; l < SIDE; l++)
    r[l] = *(const NAME(lanes_vector) *)((const REAL *)(from + (first + l) * next) + m);
  NAME(turn_square)(r);
  for (int k = 0; k < SIDE; k++) {
    const int64_t i = (m + k) / PARTS, c = (m + k) % PARTS;
    if (order && order->scale) r[k] *= (REAL)order->scale[i];
    *(NAME(lanes_vector) *)(to + NAME(place_of)(order, i) * step + c * LANES + first) = r[k];
  }
}

TRS_INLINE void NAME(give_square)(SCALAR *to, int64_t next, const REAL *from, int64_t step,
                                  int64_t m, int first, const trs_batch_order *order) {
  NAME(lanes_vector) r[SIDE];
  for (int k = 0; k < SIDE; k++) {
    const int64_t i = (m + k) / PARTS, c = (m + k) % PARTS;
    r[k] =
        *(const NAME(lanes_vector) *)(from + NAME(place_of)(order, i) * step + c * LANES + first);
    if (order && order->scale) r[k] *= (REAL)order->scale[i];
  }
  NAME(turn_square)(r);
  for (int l = 0; l < SIDE; l++)
    *(NAME(lanes_vector) *)((REAL *)(to + (first + l) * next) + m) = r[l];
}

/* The numbers of `count` that whole squares have, of a full group. */
TRS_INLINE int64_t NAME(in_squares)(const trs_batch_group *G, int64_t count) {
  if (!TRS_TRANSPOSES || G->count < LANES) return 0;
  return count * PARTS / SIDE * SIDE / PARTS;
}

/* ---- Values ---- */

TRS_INLINE SCALAR NAME(value_of)(const trs_batch_source *source, const SCALAR *val, int64_t p) {
  if (!source->from) return val[p];
  SCALAR sum = 0;
  for (int64_t k = source->from_ptr[p]; k < source->from_ptr[p + 1]; k++)
    sum += val[source->from[k]];
  return sum;
}

/* Entries in pieces, so that a piece of every system is in cache before the next. */
static void NAME(batch_fill)(const trs_batch_group *G, const trs_batch_source *source) {
  enum { PIECE = 64 };
  const trs_system *S = G->S;
  const bool prefix = trs_system_prefix(S);
  REAL *to = G->val;
  const int64_t squares = source->from || S->conj ? 0 : NAME(in_squares)(G, S->nnz);
  for (int64_t m = 0; m < squares * PARTS; m += SIDE)
    for (int l = 0; l < LANES; l += SIDE)
      NAME(take_square)(to, NUMBER, source->val, source->stride, m, l, NULL);
  for (int64_t first = squares; first < S->nnz; first += PIECE) {
    const int64_t end = first + PIECE < S->nnz ? first + PIECE : S->nnz;
    for (int l = 0; l < LANES; l++) {
      const SCALAR *val = (const SCALAR *)source->val + l * source->stride;
      for (int64_t p = first; p < end; p++) {
        SCALAR value = l < G->count ? NAME(value_of)(source, val, p) : 0;
        NAME(put_number)(to + p * NUMBER, l, S->conj ? CONJ(value) : value);
      }
    }
  }
  for (int l = 0; l < G->count; l++) G->row[l] = -1;
  if (S->unit) return;
  for (int64_t i = 0; i < S->n; i++) {
    REAL *at = to + (prefix ? S->ptr[i + 1] - 1 : S->ptr[i]) * NUMBER;
    for (int l = 0; l < G->count; l++) {
      const SCALAR d = NAME(number_at)(at, l);
      const trs_pivot pivot = NAME(look_at_pivot)(d);
      if (pivot != TRS_PIVOT_GOOD && G->row[l] < 0) {
        G->row[l] = i;
        G->pivot[l] = pivot;
      }
      NAME(put_number)(at, l, pivot == TRS_PIVOT_GOOD ? 1 / d : 0);
    }
  }
}

/* ---- Right-hand sides ---- */

enum { NAME(rows_at_once) = 16 };

TRS_INLINE SCALAR NAME(scaled)(const trs_batch_order *order, int64_t i, SCALAR value) {
  return order && order->scale ? (REAL)order->scale[i] * value : value;
}

/* b to work: row i of the sweep, right-hand side t, at work[(i * width + t) * NUMBER].  order: NULL
 * as a literal for rows as they are. */
TRS_INLINE void NAME(take_b)(const trs_batch_group *G, const trs_batch_vectors *V, int64_t r,
                             int width, const trs_batch_order *order) {
  const trs_rhs *R = &V->rhs;
  const int64_t n = G->S->n, squares = R->b_row == 1 ? NAME(in_squares)(G, n) : 0;
  REAL *work = G->work;
  for (int t = 0; t < width; t++) {
    const SCALAR *b = (const SCALAR *)R->b + (r + t) * R->b_col;
    for (int64_t m = 0; m < squares * PARTS; m += SIDE)
      for (int l = 0; l < LANES; l += SIDE) {
        REAL *to = work + t * NUMBER;
        NAME(take_square)(to, width * NUMBER, b, V->rhs.b_next, m, l, order);
      }
  }
  for (int64_t first = squares; first < n; first += NAME(rows_at_once)) {
    const int64_t end = first + NAME(rows_at_once) < n ? first + NAME(rows_at_once) : n;
    for (int t = 0; t < width; t++)
      for (int l = 0; l < LANES; l++) {
        const SCALAR *b = (const SCALAR *)R->b + l * V->rhs.b_next + (r + t) * R->b_col;
        for (int64_t i = first; i < end; i++) {
          const int64_t at = NAME(place_of)(order, i) * width + t;
          NAME(put_number)
          (work + at * NUMBER, l, l < G->count ? NAME(scaled)(order, i, b[i * R->b_row]) : 0);
        }
      }
  }
}

/* Of a system without a solution x is NaN. */
TRS_INLINE bool NAME(is_solved)(const trs_batch_group *G, int sweeps, int lane) {
  bool solved = true;
  for (int k = 0; k < sweeps; k++) solved = solved && G[k].row[lane] < 0;
  return solved;
}

TRS_INLINE void NAME(put_x)(const trs_batch_group *G, int sweeps, const trs_batch_vectors *V,
                            int64_t r, int width, const trs_batch_order *order) {
  const trs_rhs *R = &V->rhs;
  const int64_t n = G->S->n;
  const REAL *work = G->work;
  bool all = R->x_row == 1;
  for (int l = 0; l < G->count; l++) all = all && NAME(is_solved)(G, sweeps, l);
  const int64_t squares = all ? NAME(in_squares)(G, n) : 0;
  for (int t = 0; t < width; t++) {
    SCALAR *x = (SCALAR *)R->x + (r + t) * R->x_col;
    for (int64_t m = 0; m < squares * PARTS; m += SIDE)
      for (int l = 0; l < LANES; l += SIDE) {
        const REAL *from = work + t * NUMBER;
        NAME(give_square)(x, V->rhs.x_next, from, width * NUMBER, m, l, order);
      }
  }
  for (int64_t first = squares; first < n; first += NAME(rows_at_once)) {
    const int64_t end = first + NAME(rows_at_once) < n ? first + NAME(rows_at_once) : n;
    for (int t = 0; t < width; t++)
      for (int l = 0; l < G->count; l++) {
        SCALAR *x = (SCALAR *)R->x + l * V->rhs.x_next + (r + t) * R->x_col;
        const bool solved = NAME(is_solved)(G, sweeps, l);
        for (int64_t i = first; i < end; i++) {
          const int64_t at = NAME(place_of)(order, i) * width + t;
          x[i * R->x_row] =
              solved ? NAME(scaled)(order, i, NAME(number_at)(work + at * NUMBER, l)) : (SCALAR)NAN;
        }
      }
  }
}

/* ---- Sweeps; lower and width are literals ---- */

TRS_INLINE void NAME(batch_rows)(const trs_batch_group *G, bool lower, int width) {
  const trs_system S = *G->S; /* vectors may alias it */
  const REAL *val = G->val;
  REAL *x = G->work;
  for (int64_t k = 0; k < S.n; k++) {
    const int64_t i = lower ? k : S.n - 1 - k;
    int64_t begin, end;
    NAME(lanes) sum[TRS_BATCH_WIDTH * PARTS], a[PARTS], xj[PARTS];
    trs_off_diagonal(&S, i, lower, S.has_diagonal, &begin, &end);
    for (int t = 0; t < width; t++) NAME(lanes_take)(sum + t * PARTS, x + (i * width + t) * NUMBER);
    for (int64_t p = begin; p < end; p++) {
      NAME(lanes_take)(a, val + p * NUMBER);
      for (int t = 0; t < width; t++) {
        NAME(lanes_take)(xj, x + (S.idx[p] * width + t) * NUMBER);
        NAME(lanes_subtract)(sum + t * PARTS, a, xj);
      }
    }
    if (!S.unit) NAME(lanes_take)(a, val + (lower ? S.ptr[i + 1] - 1 : S.ptr[i]) * NUMBER);
    for (int t = 0; t < width; t++) {
      if (!S.unit) NAME(lanes_scale)(sum + t * PARTS, a);
      NAME(lanes_put)(x + (i * width + t) * NUMBER, sum + t * PARTS);
    }
  }
}

TRS_INLINE void NAME(batch_columns)(const trs_batch_group *G, bool lower, int width) {
  const trs_system S = *G->S;
  const REAL *val = G->val;
  REAL *x = G->work;
  for (int64_t k = 0; k < S.n; k++) {
    const int64_t j = lower ? k : S.n - 1 - k;
    int64_t begin, end;
    NAME(lanes) xj[TRS_BATCH_WIDTH * PARTS], a[PARTS], xi[PARTS];
    trs_off_diagonal(&S, j, !lower, S.has_diagonal, &begin, &end);
    if (!S.unit) NAME(lanes_take)(a, val + (lower ? S.ptr[j] : S.ptr[j + 1] - 1) * NUMBER);
    for (int t = 0; t < width; t++) {
      NAME(lanes_take)(xj + t * PARTS, x + (j * width + t) * NUMBER);
      if (!S.unit) NAME(lanes_scale)(xj + t * PARTS, a);
      NAME(lanes_put)(x + (j * width + t) * NUMBER, xj + t * PARTS);
    }
    for (int64_t p = begin; p < end; p++) {
      NAME(lanes_take)(a, val + p * NUMBER);
      for (int t = 0; t < width; t++) {
        REAL *at = x + (S.idx[p] * width + t) * NUMBER;
        NAME(lanes_take)(xi, at);
        NAME(lanes_subtract)(xi, a, xj + t * PARTS);
        NAME(lanes_put)(at, xi);
      }
    }
  }
}

TRS_INLINE void NAME(batch_sweep)(const trs_batch_group *G, int width) {
  const bool rows = G->S->rows, lower = G->S->lower;
  if (rows && lower)
    NAME(batch_rows)(G, true, width);
  else if (rows)
    NAME(batch_rows)(G, false, width);
  else if (lower)
    NAME(batch_columns)(G, true, width);
  else
    NAME(batch_columns)(G, false, width);
}

TRS_INLINE void NAME(batch_solve_width)(const trs_batch_group *G, int sweeps,
                                        const trs_batch_vectors *V, int64_t r, int width) {
  if (V->b_order.place || V->b_order.scale)
    NAME(take_b)(G, V, r, width, &V->b_order);
  else
    NAME(take_b)(G, V, r, width, NULL);
  for (int k = 0; k < sweeps; k++) NAME(batch_sweep)(&G[k], width);
  if (V->x_order.place || V->x_order.scale)
    NAME(put_x)(G, sweeps, V, r, width, &V->x_order);
  else
    NAME(put_x)(G, sweeps, V, r, width, NULL);
}

static void NAME(batch_solve)(const trs_batch_group *G, int sweeps, const trs_batch_vectors *V,
                              int64_t r, int width) {
  if (width == 1)
    NAME(batch_solve_width)(G, sweeps, V, r, 1);
  else
    NAME(batch_solve_width)(G, sweeps, V, r, TRS_BATCH_WIDTH);
}

#undef PARTS
#undef LANES
#undef VECTORS
#undef NUMBER
#undef SIDE
