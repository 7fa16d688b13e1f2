/* ops_tmpl.c - block operations for one element type.  Complex numbers are stored as pairs of
 * reals. Products with the real and with the imaginary part of A have separate sums; only the end
 * of a sum combines them to complex numbers. */
#include "analysis/pivot_tmpl.c"

typedef REAL NAME(vector)
    __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(REAL)), __may_alias__));

/* A vector is LANES real numbers; a tile has TILE rows, which are PARTS vectors of real numbers. */
#define VECTOR NAME(vector)
#define LANES ((int64_t)(VECTOR_BYTES / sizeof(REAL)))
#define TILE ((int64_t)(TRS_SLACK / sizeof(SCALAR)))
#define PARTS (TRS_SLACK / VECTOR_BYTES)
#define PAIR (1 + IS_COMPLEX)
#define MOST_OUTPUTS (REGISTERS / 4 / PAIR)

TRS_INLINE VECTOR NAME(load)(const REAL *from) { return *(const VECTOR *)from; }

/* The first lanes of a, and the remaining lanes of b. */
TRS_INLINE VECTOR NAME(blend)(VECTOR a, VECTOR b, int64_t lanes) {
  static const REAL order[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  VECTOR limit = (VECTOR){0} + (REAL)lanes;
  __typeof__(limit < limit) mask = NAME(load)(order) < limit;
  return (VECTOR)(((__typeof__(mask))a & mask) | ((__typeof__(mask))b & ~mask));
}

/* ---- One right-hand side, real. ---- */

#if !IS_COMPLEX
typedef struct NAME(tile) {
  VECTOR part[PARTS];
} NAME(tile);

/* The products of a tile with x. */
TRS_INLINE NAME(tile) NAME(tile_sum)(int64_t rows, int64_t k, const REAL *a, const REAL *x) {
  NAME(tile) even = {{{0}}}, odd = {{{0}}};
  int64_t c = 0;
  for (; c + 1 < k; c += 2)
    for (int q = 0; q < PARTS; q++) {
      even.part[q] += NAME(load)(a + c * rows + q * LANES) * x[c];
      odd.part[q] += NAME(load)(a + (c + 1) * rows + q * LANES) * x[c + 1];
    }
  for (int q = 0; q < PARTS; q++) {
    if (c < k) even.part[q] += NAME(load)(a + c * rows + q * LANES) * x[c];
    even.part[q] += odd.part[q];
  }
  return even;
}

/* Stores the tile's first rows in y, which has room for the whole tile. */
TRS_INLINE void NAME(put_tile)(const NAME(tile) * sum, int64_t rows, REAL *y) {
  for (int q = 0; q < PARTS; q++) {
    VECTOR old = NAME(load)(y + q * LANES);
    *(VECTOR *)(y + q * LANES) = NAME(blend)(sum->part[q], old, rows - q * LANES);
  }
}

TRS_INLINE bool NAME(in_a_row)(const int32_t *list) { return list[TILE - 1] - list[0] == TILE - 1; }

TRS_INLINE void NAME(push_columns)(int64_t k, int64_t m, const REAL *a, const REAL *x,
                                   const int32_t *list, REAL *y) {
  for (; m >= TILE; m -= TILE, list += TILE, a += TILE * k) {
    NAME(tile) sum = NAME(tile_sum)(TILE, k, a, x);
    if (NAME(in_a_row)(list))
      for (int q = 0; q < PARTS; q++) *(VECTOR *)(y + list[0] + q * LANES) += sum.part[q];
    else
      for (int64_t i = 0; i < TILE; i++) y[list[i]] += sum.part[i / LANES][i % LANES];
  }
  if (m == 0) return;
  NAME(tile) sum = NAME(tile_sum)(m, k, a, x);
  for (int64_t i = 0; i < m; i++) y[list[i]] += sum.part[i / LANES][i % LANES];
}

TRS_INLINE void NAME(push_one)(int64_t m, int64_t k, const REAL *a, const REAL *x,
                               const int32_t *list, REAL *y) {
  const REAL factor = x[0];
  switch (k) {
    case 1:
      for (int64_t i = 0; i < m; i++) y[list[i]] += a[i] * factor;
      return;
    case 2:
      NAME(push_columns)(2, m, a, x, list, y);
      return;
    case 3:
      NAME(push_columns)(3, m, a, x, list, y);
      return;
    case 4:
      NAME(push_columns)(4, m, a, x, list, y);
      return;
    default:
      NAME(push_columns)(k, m, a, x, list, y);
  }
}

/* Columns of a panel by rows, several vectors at once.  Rows alternate between several sums,
 * because each addition waits for the previous one of its sum. */
TRS_INLINE void NAME(pull_columns)(int turns, int vectors, int64_t m, int64_t k, const REAL *a,
                                   const REAL *x, const int32_t *list, VECTOR *out) {
  VECTOR sum[8] = {{0}};
  int64_t i = 0;
  for (; i + turns <= m; i += turns)
    for (int t = 0; t < turns; t++)
      for (int v = 0; v < vectors; v++)
        sum[t * vectors + v] += NAME(load)(a + (i + t) * k + v * LANES) * x[list[i + t]];
  for (; i < m; i++)
    for (int v = 0; v < vectors; v++) sum[v] += NAME(load)(a + i * k + v * LANES) * x[list[i]];
  for (int v = 0; v < vectors; v++) out[v] = sum[v];
  for (int t = 1; t < turns; t++)
    for (int v = 0; v < vectors; v++) out[v] += sum[t * vectors + v];
}

/* Few columns. */
TRS_INLINE void NAME(dots)(int k, int64_t m, const REAL *a, const REAL *x, const int32_t *list,
                           REAL *y) {
  REAL s[4][3] = {{0}};
  int64_t i = 0;
  for (; i + 4 <= m; i += 4)
    for (int t = 0; t < 4; t++)
      for (int c = 0; c < k; c++) s[t][c] += a[(i + t) * k + c] * x[list[i + t]];
  for (; i < m; i++)
    for (int c = 0; c < k; c++) s[0][c] += a[i * k + c] * x[list[i]];
  for (int c = 0; c < k; c++) y[c] += (s[0][c] + s[2][c]) + (s[1][c] + s[3][c]);
}

TRS_INLINE void NAME(pull_one)(int64_t m, int64_t k, const REAL *a, const REAL *x,
                               const int32_t *list, REAL *y) {
  if (k == 1) {
    NAME(dots)(1, m, a, x, list, y);
  } else if (k == 2) {
    NAME(dots)(2, m, a, x, list, y);
  } else if (k == 3) {
    NAME(dots)(3, m, a, x, list, y);
  } else
    for (int64_t c = 0; c < k;) {
      VECTOR sum[8];
      int64_t left = k - c, vectors = left > 4 * LANES   ? 8
                                      : left > 2 * LANES ? 4
                                      : left > LANES     ? 2
                                                         : 1;
      if (vectors == 8) NAME(pull_columns)(1, 8, m, k, a + c, x, list, sum);
      if (vectors == 4) NAME(pull_columns)(2, 4, m, k, a + c, x, list, sum);
      if (vectors == 2) NAME(pull_columns)(2, 2, m, k, a + c, x, list, sum);
      if (vectors == 1) NAME(pull_columns)(4, 1, m, k, a + c, x, list, sum);
      for (int64_t v = 0; v < vectors && c < k; v++, c += LANES) {
        VECTOR old = NAME(load)(y + c);
        *(VECTOR *)(y + c) = NAME(blend)(old + sum[v], old, k - c);
      }
    }
}

/* y has room for whole vectors */
TRS_INLINE void NAME(triangle_one)(int64_t width, bool upper, const REAL *d, const REAL *x,
                                   REAL *y) {
  for (int64_t at = 0; at < width; at += TILE) {
    int64_t rows = width - at < TILE ? width - at : TILE;
    int64_t first = upper ? at : 0, columns = upper ? width - at : at + rows;
    NAME(tile) sum = NAME(tile_sum)(rows, columns, d, x + first);
    NAME(put_tile)(&sum, rows, y + at);
    d += rows * columns;
  }
}
#endif

/* ---- Any number of right-hand sides. ---- */

/* Outputs for a few rows or columns of a panel and a few vectors of right-hand sides. */
typedef struct NAME(sums) {
  VECTOR of[PAIR][MOST_OUTPUTS][MOST_VECTORS]; /* products with real, imaginary parts */
} NAME(sums);

/* Output i from `first` on: number i of a times a row of x. */
TRS_INLINE void NAME(add_products)(NAME(sums) * s, int first, int outputs, int vectors,
                                   const REAL *a, const REAL *x) {
  VECTOR xv[MOST_VECTORS];
  /* Volatile, so that the number is loaded once into a register; compilers otherwise load it again
   * for each product, across cache lines. */
  for (int v = 0; v < vectors; v++) xv[v] = *(const volatile VECTOR *)(x + v * LANES);
  for (int i = 0; i < outputs; i++)
    for (int v = 0; v < vectors; v++) {
      s->of[0][first + i][v] += a[i * PAIR] * xv[v];
#if IS_COMPLEX
      s->of[1][first + i][v] += a[i * PAIR + 1] * xv[v];
#endif
    }
}

/* Adds to a row of y; only some lanes of the last vector belong to the row. */
TRS_INLINE void NAME(add_sums)(const NAME(sums) * s, int i, int vectors, int64_t last, bool set,
                               REAL *y) {
  for (int v = 0; v < vectors; v++) {
    VECTOR old = NAME(load)(y + v * LANES), sum = s->of[0][i][v];
#if IS_COMPLEX
    for (int64_t l = 0; l < LANES; l += 2) {
      sum[l] -= s->of[1][i][v][l + 1];
      sum[l + 1] += s->of[1][i][v][l];
    }
#endif
    if (!set) sum += old;
    *(VECTOR *)(y + v * LANES) = v + 1 < vectors ? sum : NAME(blend)(sum, old, last);
  }
}

/* A part of a panel or triangle: outputs are adjacent, and consecutive terms of a sum are `step`
 * numbers apart.  A list names the rows of x or y, or they are consecutive (NULL). */
typedef struct NAME(strip) {
  int64_t outputs, terms, step, n;
  const REAL *a, *x;
  const int32_t *x_list, *y_list;
  REAL *y;
  bool set;
} NAME(strip);

/* One output in two sums, because each product waits for the previous one of its sum. */
TRS_INLINE void NAME(add_in_turn)(NAME(sums) * s, int vectors, bool listed, int64_t terms,
                                  const REAL *a, int64_t step, const REAL *x, const int32_t *list,
                                  int64_t ld) {
  int64_t c = 0;
  for (; c + 2 <= terms; c += 2)
    for (int t = 0; t < 2; t++) NAME(add_products)
  (s, t, 1, vectors, a + (c + t) * step, x + (listed ? list[c + t] : c + t) * ld);
  if (c < terms)
    NAME(add_products)(s, 0, 1, vectors, a + c * step, x + (listed ? list[c] : c) * ld);
  for (int v = 0; v < vectors; v++)
    for (int p = 0; p < PAIR; p++) s->of[p][0][v] += s->of[p][1][v];
}

TRS_INLINE void NAME(some_outputs)(int outputs, int vectors, bool listed, int64_t last, int64_t at,
                                   int64_t first, const NAME(strip) * s) {
  NAME(sums) sums = {{{{{0}}}}};
  const REAL *a = s->a + first * PAIR, *x = s->x + at;
  int64_t ld = s->n * PAIR, step = s->step * PAIR;
  if (outputs == 1)
    NAME(add_in_turn)(&sums, vectors, listed, s->terms, a, step, x, s->x_list, ld);
  else
    for (int64_t c = 0; c < s->terms; c++) NAME(add_products)
  (&sums, 0, outputs, vectors, a + c * step, x + (listed ? s->x_list[c] : c) * ld);
  for (int i = 0; i < outputs; i++) {
    int64_t row = s->y_list ? s->y_list[first + i] : first + i;
    NAME(add_sums)(&sums, i, vectors, last, s->set, s->y + at + row * ld);
  }
}

TRS_INLINE void NAME(all_outputs)(int vectors, bool listed, int64_t last, int64_t at,
                                  const NAME(strip) * s) {
  int64_t i = 0;
  for (; i + MOST_OUTPUTS <= s->outputs; i += MOST_OUTPUTS)
    NAME(some_outputs)(MOST_OUTPUTS, vectors, listed, last, at, i, s);
  if (MOST_OUTPUTS > 4 && i + 4 <= s->outputs) {
    NAME(some_outputs)(MOST_OUTPUTS > 4 ? 4 : 1, vectors, listed, last, at, i, s);
    i += 4;
  }
  if (i + 2 <= s->outputs) {
    NAME(some_outputs)(2, vectors, listed, last, at, i, s);
    i += 2;
  }
  if (i < s->outputs) NAME(some_outputs)(1, vectors, listed, last, at, i, s);
}

TRS_INLINE void NAME(all_lanes)(bool listed, const NAME(strip) * s) {
  int64_t lanes = s->n * PAIR, at = 0;
  for (; at + MOST_VECTORS * LANES < lanes; at += MOST_VECTORS * LANES)
    NAME(all_outputs)(MOST_VECTORS, listed, LANES, at, s);
  if (MOST_VECTORS > 1 && lanes - at > LANES)
    NAME(all_outputs)(MOST_VECTORS, listed, lanes - at - LANES, at, s);
  else
    NAME(all_outputs)(1, listed, lanes - at, at, s);
}

static void NAME(push_many)(int64_t m, int64_t k, int64_t n, const REAL *a, const REAL *x,
                            const int32_t *list, REAL *y) {
  for (; m > 0; m -= TILE, list += TILE, a += TILE * k * PAIR) {
    int64_t t = m < TILE ? m : TILE;
    NAME(all_lanes)(false, &(NAME(strip)){t, k, t, n, a, x, NULL, list, y, false});
  }
}

/* The number of rows per pass: these rows and their operands stay in the cache. */
static void NAME(pull_many)(int64_t m, int64_t k, int64_t n, const REAL *a, const REAL *x,
                            const int32_t *list, REAL *y) {
  enum { CHUNK = 64 };
  for (; m > 0; m -= CHUNK, list += CHUNK, a += CHUNK * k * PAIR) {
    int64_t t = m < CHUNK ? m : CHUNK;
    NAME(all_lanes)(true, &(NAME(strip)){k, t, k, n, a, x, list, NULL, y, false});
  }
}

static void NAME(triangle_many)(int64_t width, bool upper, int64_t n, const REAL *d, const REAL *x,
                                REAL *y) {
  for (int64_t at = 0; at < width; at += TILE) {
    int64_t rows = width - at < TILE ? width - at : TILE, ld = n * PAIR;
    int64_t first = upper ? at : 0, columns = upper ? width - at : at + rows;
    NAME(all_lanes)
    (false,
     &(NAME(strip)){rows, columns, rows, n, d, x + first * ld, NULL, NULL, y + at * ld, true});
    d += rows * columns * PAIR;
  }
}

static void NAME(push)(int64_t m, int64_t k, int64_t n, const void *A, const void *x,
                       const int32_t *list, void *y) {
#if !IS_COMPLEX
  if (n == 1) {
    NAME(push_one)(m, k, A, x, list, y);
    return;
  }
#endif
  NAME(push_many)(m, k, n, A, x, list, y);
}

static void NAME(pull)(int64_t m, int64_t k, int64_t n, const void *A, const void *x,
                       const int32_t *list, void *y) {
#if !IS_COMPLEX
  if (n == 1) {
    NAME(pull_one)(m, k, A, x, list, y);
    return;
  }
#endif
  NAME(pull_many)(m, k, n, A, x, list, y);
}

static void NAME(triangle)(int64_t width, bool upper, int64_t n, const void *D, const void *x,
                           void *y) {
#if !IS_COMPLEX
  if (n == 1) {
    NAME(triangle_one)(width, upper, D, x, y);
    return;
  }
#endif
  NAME(triangle_many)(width, upper, n, D, x, y);
}

/* ---- Triangles that are not inverted. ---- */

/* x -= d y for a column d and a row y. */
TRS_INLINE void NAME(eliminate)(int64_t rows, int64_t n, const SCALAR *d, const SCALAR *y,
                                SCALAR *x) {
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < n; j++) x[i * n + j] -= MUL(d[i], y[j]);
}

/* The triangle inside a tile, with consecutive columns at d: solves for x of the tile's rows. */
TRS_INLINE void NAME(solve_tile)(int64_t rows, bool upper, int64_t n, const SCALAR *d, SCALAR *x) {
  for (int64_t k = 0; k < rows; k++) {
    int64_t c = upper ? rows - 1 - k : k;
    for (int64_t j = 0; j < n; j++) x[c * n + j] /= d[c * rows + c];
    if (upper)
      NAME(eliminate)(c, n, d + c * rows, x + c * n, x);
    else
      NAME(eliminate)
    (rows - c - 1, n, d + c * rows + c + 1, x + c * n, x + (c + 1) * n);
  }
}

/* A tile has all columns up to the diagonal, or from the diagonal on. */
TRS_INLINE void NAME(solve_tiles)(int64_t width, bool upper, int64_t n, const SCALAR *d,
                                  SCALAR *x) {
  int64_t tiles = (width + TILE - 1) / TILE;
  if (upper) d += trs_triangle_values(width, TILE);
  for (int64_t t = 0; t < tiles; t++) {
    int64_t at = (upper ? tiles - 1 - t : t) * TILE, rows = width - at < TILE ? width - at : TILE;
    int64_t others = upper ? width - at - rows : at, first = upper ? at + rows : 0;
    if (upper) d -= rows * (rows + others);
    const SCALAR *own = upper ? d : d + rows * others, *before = upper ? d + rows * rows : d;
    for (int64_t c = 0; c < others; c++)
      NAME(eliminate)(rows, n, before + c * rows, x + (first + c) * n, x + at * n);
    NAME(solve_tile)(rows, upper, n, own, x + at * n);
    if (!upper) d += rows * (rows + others);
  }
}

static void NAME(solve)(int64_t width, bool upper, int64_t n, const void *D, void *x) {
  if (n == 1)
    NAME(solve_tiles)(width, upper, 1, D, x);
  else
    NAME(solve_tiles)(width, upper, n, D, x);
}

/* ---- Sweeps. ---- */

/* Computes x of a node, with spare as workspace. */
TRS_INLINE void NAME(solve_node)(const trs_local_node *node, bool upper, int64_t n, const SCALAR *D,
                                 SCALAR *x, SCALAR *spare) {
  if (node->solved) {
    NAME(solve)(node->width, upper, n, D, x);
    return;
  }
  if (node->width == 1) {
    for (int64_t j = 0; j < n; j++) x[j] = MUL(D[0], x[j]);
    return;
  }
#if !IS_COMPLEX
  if (n == 1 && node->width <= TILE) { /* one tile */
    NAME(tile) sum = NAME(tile_sum)(node->width, node->width, D, x);
    NAME(put_tile)(&sum, node->width, x);
    return;
  }
#endif
  NAME(triangle)(node->width, upper, n, D, x, spare);
  memcpy(x, spare, (size_t)(node->width * n) * sizeof *x);
}

TRS_INLINE void NAME(sweep_nodes)(const trs_local_node *node, int64_t from, int64_t to, bool upper,
                                  int64_t n, const SCALAR *values, const int32_t *list, SCALAR *x,
                                  SCALAR *spare) {
  for (int64_t i = 0; i < to - from; i++) {
    const trs_local_node *at = &node[upper ? to - 1 - i : from + i];
    const SCALAR *D = values + at->values;
    const SCALAR *panel = D + trs_triangle_values(at->width, TILE);
    SCALAR *own = x + at->row * n;
    if (upper && at->length) NAME(pull)(at->length, at->width, n, panel, x, list + at->list, own);
    NAME(solve_node)(at, upper, n, D, own, spare);
    if (!upper && at->length) NAME(push)(at->length, at->width, n, panel, own, list + at->list, x);
  }
}

#if !IS_COMPLEX
/* One right-hand side: most nodes are small, so one loop contains all steps. */
TRS_INLINE void NAME(sweep_one)(const trs_local_node *node, int64_t from, int64_t to, bool upper,
                                const REAL *values, const int32_t *list, REAL *x, REAL *spare) {
  for (int64_t i = 0; i < to - from; i++) {
    const trs_local_node *at = &node[upper ? to - 1 - i : from + i];
    const REAL *D = values + at->values, *panel = D + trs_triangle_values(at->width, TILE);
    const int32_t *rows = list + at->list;
    REAL *own = x + at->row;
    if (upper) NAME(pull_one)(at->length, at->width, panel, x, rows, own);
    NAME(solve_node)(at, upper, 1, D, own, spare);
    if (!upper) NAME(push_one)(at->length, at->width, panel, own, rows, x);
  }
}
#endif

static void NAME(sweep)(const trs_local_node *node, int64_t from, int64_t to, bool upper, int64_t n,
                        const void *values, const int32_t *list, void *x, void *spare) {
#if !IS_COMPLEX
  if (n == 1 && upper) {
    NAME(sweep_one)(node, from, to, true, values, list, x, spare);
    return;
  }
  if (n == 1) {
    NAME(sweep_one)(node, from, to, false, values, list, x, spare);
    return;
  }
#endif
  NAME(sweep_nodes)(node, from, to, upper, n, values, list, x, spare);
}

/* ---- Tiles. ---- */

static void NAME(tile_panel)(int64_t m, int64_t k, const void *values, int64_t first, int64_t down,
                             int64_t across, void *to) {
  const SCALAR *from = (const SCALAR *)values + first;
  SCALAR *out = to;
  for (int64_t at = 0; at < m; at += TILE)
    for (int64_t c = 0; c < k; c++)
      for (int64_t i = at; i < m && i < at + TILE; i++) *out++ = -from[i * down + c * across];
}

static void NAME(turn_panel)(int64_t m, int64_t k, const void *values, int64_t first, int64_t down,
                             int64_t across, void *to) {
  const SCALAR *from = (const SCALAR *)values + first;
  SCALAR *out = to;
  for (int64_t i = 0; i < m; i++)
    for (int64_t c = 0; c < k; c++) *out++ = -from[i * down + c * across];
}

static void NAME(negate)(int64_t m, int64_t k, const void *values, int64_t first, int64_t down,
                         int64_t across, void *to, int64_t at) {
  NAME(turn_panel)(m, k, values, first, down, across, (SCALAR *)to + at);
}

static void NAME(tile_triangle)(int64_t width, bool upper, const void *values, int64_t first,
                                int64_t down, int64_t across, void *to) {
  const SCALAR *from = (const SCALAR *)values + first;
  SCALAR *out = to;
  for (int64_t at = 0; at < width; at += TILE) {
    int64_t end = at + TILE < width ? at + TILE : width;
    for (int64_t c = upper ? at : 0; c < (upper ? width : end); c++)
      for (int64_t i = at; i < end; i++) *out++ = from[i * down + c * across];
  }
}

/* ---- Inverses. ---- */

/* Column c of some rows of N, from the entries between it and the diagonal: N T = I. */
TRS_INLINE void NAME(invert_column)(int64_t width, const SCALAR *t, int64_t c, int64_t k,
                                    int64_t end, int64_t from, int64_t rows, SCALAR *n) {
  SCALAR *out = n + c * rows;
  for (int64_t r = 0; r < rows; r++) out[r] = c == from + r;
  for (; k < end; k++) {
    const SCALAR factor = t[k + c * width], *in = n + k * rows;
    if (factor == 0) continue;
    for (int64_t r = 0; r < rows; r++) out[r] -= MUL(factor, in[r]);
  }
  const SCALAR inverse = 1 / t[c + c * width];
  for (int64_t r = 0; r < rows; r++) out[r] = MUL(inverse, out[r]);
}

static void NAME(invert_rows)(int64_t width, bool upper, const void *T, int64_t from, int64_t rows,
                              void *N) {
  int64_t end = from + rows;
  memset(N, 0, (size_t)(width * rows) * sizeof(SCALAR));
  if (upper)
    for (int64_t c = from; c < width; c++) NAME(invert_column)(width, T, c, from, c, from, rows, N);
  else
    for (int64_t c = end - 1; c >= 0; c--)
      NAME(invert_column)(width, T, c, c + 1, end, from, rows, N);
}

/* ---- The rest. ---- */

static void NAME(add)(int64_t count, const void *from, void *to) {
  const SCALAR *in = from;
  SCALAR *out = to;
  for (int64_t i = 0; i < count; i++) out[i] += in[i];
}

static void NAME(set_unit)(int64_t width, void *D) {
  for (int64_t j = 0; j < width; j++) ((SCALAR *)D)[j + j * width] = 1;
}

static void NAME(scatter)(int64_t count, const int64_t *at, const void *in, bool conjugate,
                          void *out) {
  const SCALAR *from = in;
  SCALAR *to = out;
  for (int64_t i = 0; i < count; i++)
    if (at[i] >= 0) to[at[i]] = conjugate ? CONJ(from[i]) : from[i];
}

static int64_t NAME(bad_diagonal)(int64_t width, const void *D, trs_pivot *pivot) {
  const SCALAR *d = D;
  for (int64_t j = 0; j < width; j++) {
    *pivot = NAME(look_at_pivot)(d[j + j * width]);
    if (*pivot != TRS_PIVOT_GOOD) return j;
  }
  return -1;
}

/* A packed row, or a row at its own position. */
TRS_INLINE int64_t NAME(row_at)(int64_t i, int64_t n, const int32_t *position, const int64_t *at) {
  return position ? at[position[i]] : i * n * (int64_t)sizeof(SCALAR);
}

/* Some rows at a time, so that a line of memory of each column is met once: rows ascend, and are
 * mostly neighbours.  Lines of columns are fetched some groups ahead, and the next group's by rows:
 * the processor foresees neither. */
typedef struct NAME(group) {
  int64_t count;
  int64_t column[ROWS_AT_ONCE]; /* the rows in columns */
  int64_t row[ROWS_AT_ONCE];    /* where they are by rows, in bytes */
  int64_t next[ROWS_AT_ONCE];   /* the same of the next group */
  int64_t ahead;                /* the first row of a later group, in columns */
  int64_t lines;                /* of memory, by rows */
  REAL factor[ROWS_AT_ONCE];
} NAME(group);

TRS_INLINE int64_t NAME(least)(int64_t a, int64_t b) { return a < b ? a : b; }

TRS_INLINE NAME(group)
    NAME(group_of)(int64_t from, int64_t count, int64_t n, const int32_t *rows, const double *scale,
                   const int32_t *position, const int64_t *at) {
  enum { LINE = 64 };
  const int64_t left = count - from, last = count - 1;
  NAME(group)
  g = {.count = NAME(least)(left, ROWS_AT_ONCE),
       .ahead = rows[NAME(least)(from + GROUPS_AHEAD * ROWS_AT_ONCE, last)],
       .lines = (n * (int64_t)sizeof(SCALAR) + 2 * LINE - 1) / LINE};
  for (int64_t k = 0; k < g.count; k++) {
    g.column[k] = rows[from + k];
    g.row[k] = NAME(row_at)(from + k, n, position, at);
    g.next[k] = NAME(row_at)(NAME(least)(from + k + ROWS_AT_ONCE, last), n, position, at);
    g.factor[k] = scale ? (REAL)scale[rows[from + k]] : 1;
  }
  return g;
}

/* Line j of the next group's rows.  store: a literal, 1 if they are written. */
TRS_INLINE void NAME(fetch_rows)(const NAME(group) * g, int64_t j, int64_t rows, const char *base,
                                 bool store) {
  if (j >= g->lines) return;
  for (int64_t k = 0; k < rows; k++) {
    if (store)
      __builtin_prefetch(base + g->next[k] + 64 * j, 1);
    else
      __builtin_prefetch(base + g->next[k] + 64 * j, 0);
  }
}

TRS_INLINE void NAME(take_group)(const NAME(group) * g, int64_t rows, int64_t n, const SCALAR *in,
                                 int64_t ldin, char *out) {
  for (int64_t j = 0; j < n; j++, in += ldin) {
    __builtin_prefetch(in + g->ahead, 0);
    NAME(fetch_rows)(g, j, rows, out, true);
    for (int64_t k = 0; k < rows; k++)
      ((SCALAR *)(out + g->row[k]))[j] = g->factor[k] * in[g->column[k]];
  }
}

static void NAME(take)(int64_t count, int64_t n, const int32_t *rows, const double *scale,
                       const void *in, int64_t row, int64_t col, const int32_t *position,
                       const int64_t *at, void *out) {
  const bool grouped = n >= FEW_COLUMNS && row == 1;
  for (int64_t i = 0; i < count && !grouped; i++) {
    const SCALAR *from = (const SCALAR *)in + rows[i] * row;
    SCALAR *to = (SCALAR *)((char *)out + NAME(row_at)(i, n, position, at));
    const REAL factor = scale ? (REAL)scale[rows[i]] : 1;
    for (int64_t j = 0; j < n; j++) to[j] = factor * from[j * col];
  }
  for (int64_t i = 0; i < count && grouped; i += ROWS_AT_ONCE) {
    const NAME(group) g = NAME(group_of)(i, count, n, rows, scale, position, at);
    if (g.count == ROWS_AT_ONCE)
      NAME(take_group)(&g, ROWS_AT_ONCE, n, in, col, out);
    else
      NAME(take_group)(&g, g.count, n, in, col, out);
  }
}

TRS_INLINE void NAME(put_group)(const NAME(group) * g, int64_t rows, int64_t n, const char *in,
                                SCALAR *out, int64_t ldout) {
  for (int64_t j = 0; j < n; j++, out += ldout) {
    __builtin_prefetch(out + g->ahead, 1);
    NAME(fetch_rows)(g, j, rows, in, false);
    for (int64_t k = 0; k < rows; k++)
      out[g->column[k]] = g->factor[k] * ((const SCALAR *)(in + g->row[k]))[j];
  }
}

static void NAME(put)(int64_t count, int64_t n, const int32_t *rows, const double *scale,
                      const int32_t *position, const int64_t *at, const void *in, void *out,
                      int64_t row, int64_t col) {
  const bool grouped = n >= FEW_COLUMNS && row == 1;
  for (int64_t i = 0; i < count && !grouped; i++) {
    const SCALAR *from = (const SCALAR *)((const char *)in + NAME(row_at)(i, n, position, at));
    SCALAR *to = (SCALAR *)out + rows[i] * row;
    const REAL factor = scale ? (REAL)scale[rows[i]] : 1;
    for (int64_t j = 0; j < n; j++) to[j * col] = factor * from[j];
  }
  for (int64_t i = 0; i < count && grouped; i += ROWS_AT_ONCE) {
    const NAME(group) g = NAME(group_of)(i, count, n, rows, scale, position, at);
    if (g.count == ROWS_AT_ONCE)
      NAME(put_group)(&g, ROWS_AT_ONCE, n, in, out, col);
    else
      NAME(put_group)(&g, g.count, n, in, out, col);
  }
}

static const trs_block_ops NAME(ops) = {.push = NAME(push),
                                        .pull = NAME(pull),
                                        .triangle = NAME(triangle),
                                        .solve = NAME(solve),
                                        .sweep = NAME(sweep),
                                        .tile_panel = NAME(tile_panel),
                                        .turn_panel = NAME(turn_panel),
                                        .negate = NAME(negate),
                                        .tile_triangle = NAME(tile_triangle),
                                        .invert_rows = NAME(invert_rows),
                                        .add = NAME(add),
                                        .set_unit = NAME(set_unit),
                                        .scatter = NAME(scatter),
                                        .bad_diagonal = NAME(bad_diagonal),
                                        .take = NAME(take),
                                        .put = NAME(put)};

#undef VECTOR
#undef LANES
#undef TILE
#undef PARTS
#undef PAIR
#undef MOST_OUTPUTS
