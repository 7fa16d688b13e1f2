/* sweep_tmpl.c - substitution in the diagonal block of each supernode, and products with its panel.
 * A panel by columns adds to the rows of its list after the block is solved; a panel by rows takes
 * from the columns of its list before. */

static void NAME(prepare)(const trs_panels_state *s) {
  const trs_panels *P = &s->panels;
  for (int64_t k = 0; k < P->count; k++) {
    SCALAR *D = (SCALAR *)s->values + P->panel[k].values;
    for (int64_t c = 0; c < P->panel[k].width; c++)
      D[c + c * P->panel[k].width] = 1 / D[c + c * P->panel[k].width];
  }
}

#if IS_COMPLEX
static void NAME(sweep)(const trs_panels_state *s, const trs_rhs *R, int64_t r, int width,
                        int space) {
  (void)s, (void)R, (void)r, (void)width, (void)space;
}
#else

typedef REAL NAME(lanes)
    __attribute__((vector_size(TRS_VECTOR_BYTES), aligned(sizeof(REAL)), __may_alias__));
#define LANES ((int64_t)(TRS_VECTOR_BYTES / sizeof(REAL)))

/* ---- One right-hand side. ---- */

static void NAME(solve_block)(int64_t width, const REAL *D, REAL *x) {
  for (int64_t c = 0; c < width; c++, D += width) {
    REAL xc = x[c] *= D[c];
    for (int64_t i = c + 1; i < width; i++) x[i] -= D[i] * xc;
  }
}

/* y[r] = sum of P[r][c] x[c] for count rows of a panel by columns, columns ld apart; set: the first
 * columns replace y. */
TRS_INLINE void NAME(add_columns)(int columns, bool set, int64_t count, const REAL *P, int64_t ld,
                                  const REAL *x, REAL *restrict y) {
  for (int64_t r = 0; r < count; r++) {
    REAL sum = set ? 0 : y[r];
    for (int c = 0; c < columns; c++) sum += P[r + c * ld] * x[c];
    y[r] = sum;
  }
}

static void NAME(multiply)(int64_t count, int64_t width, const REAL *P, int64_t ld, const REAL *x,
                           REAL *restrict y) {
  int64_t c = 8;
  NAME(add_columns)(8, true, count, P, ld, x, y);
  for (; c + 8 <= width; c += 8) NAME(add_columns)(8, false, count, P + c * ld, ld, x + c, y);
  for (; c + 2 <= width; c += 2) NAME(add_columns)(2, false, count, P + c * ld, ld, x + c, y);
  if (c < width) NAME(add_columns)(1, false, count, P + c * ld, ld, x + c, y);
}

/* Rows of a panel by columns: count rows, ld apart in the next column; row r of them is row list[r]
 * of x.  own: the solution of the panel's columns. */
typedef struct NAME(panel_rows) {
  int64_t count, ld;
  const REAL *P;
  const int32_t *list;
} NAME(panel_rows);

/* Narrow panels: each product is subtracted at once. */
TRS_INLINE void NAME(push_narrow)(int width, const NAME(panel_rows) * p, const REAL *own, REAL *x) {
  REAL value[8];
  for (int c = 0; c < width; c++) value[c] = own[c];
  for (int64_t r = 0; r < p->count; r++) {
    REAL sum = 0;
    for (int c = 0; c < width; c++) sum += p->P[r + c * p->ld] * value[c];
    x[p->list[r]] -= sum;
  }
}

static void NAME(push_wider)(int64_t width, const NAME(panel_rows) * p, const REAL *own, REAL *x,
                             REAL *spare) {
  for (int64_t from = 0; from < p->count; from += TRS_PANELS_LINES) {
    int64_t left = p->count - from, count = left < TRS_PANELS_LINES ? left : TRS_PANELS_LINES;
    NAME(multiply)(count, width, p->P + from, p->ld, own, spare);
    for (int64_t r = 0; r < count; r++) x[p->list[from + r]] -= spare[r];
  }
}

static void NAME(push)(int64_t width, const NAME(panel_rows) * p, const REAL *own, REAL *x,
                       REAL *spare) {
  switch (width) {
    case 1:
      NAME(push_narrow)(1, p, own, x);
      return;
    case 2:
      NAME(push_narrow)(2, p, own, x);
      return;
    case 3:
      NAME(push_narrow)(3, p, own, x);
      return;
    case 4:
      NAME(push_narrow)(4, p, own, x);
      return;
    case 5:
      NAME(push_narrow)(5, p, own, x);
      return;
    case 6:
      NAME(push_narrow)(6, p, own, x);
      return;
    case 7:
      NAME(push_narrow)(7, p, own, x);
      return;
    default:
      NAME(push_wider)(width, p, own, x, spare);
  }
}

/* y[i] -= sum of P[i][r] x[list[r]] for `vectors` vectors of rows i of a panel by rows.  Lanes
 * beyond `rows` belong to other numbers. */
TRS_INLINE void NAME(pull_rows)(int vectors, int64_t rows, int64_t length, const REAL *P,
                                int64_t ld, const int32_t *list, const REAL *x, REAL *y) {
  NAME(lanes) even[4] = {{0}}, odd[4] = {{0}};
  int64_t r = 0;
  for (; r + 2 <= length; r += 2)
    for (int v = 0; v < vectors; v++) {
      even[v] += *(const NAME(lanes) *)(P + r * ld + v * LANES) * x[list[r]];
      odd[v] += *(const NAME(lanes) *)(P + (r + 1) * ld + v * LANES) * x[list[r + 1]];
    }
  for (int v = 0; v < vectors; v++) {
    if (r < length) even[v] += *(const NAME(lanes) *)(P + r * ld + v * LANES) * x[list[r]];
    even[v] += odd[v];
  }
  for (int64_t i = 0; i < rows; i++) y[i] -= even[i / LANES][i % LANES];
}

/* Narrow panels: four sums per row, because each addition waits for the previous one of its sum. */
TRS_INLINE void NAME(pull_narrow)(int width, int64_t length, const REAL *P, const int32_t *list,
                                  const REAL *x, REAL *y) {
  REAL sum[4][3] = {{0}};
  int64_t r = 0;
  for (; r + 4 <= length; r += 4)
    for (int t = 0; t < 4; t++)
      for (int i = 0; i < width; i++) sum[t][i] += P[(r + t) * width + i] * x[list[r + t]];
  for (; r < length; r++)
    for (int i = 0; i < width; i++) sum[0][i] += P[r * width + i] * x[list[r]];
  for (int i = 0; i < width; i++) y[i] -= (sum[0][i] + sum[1][i]) + (sum[2][i] + sum[3][i]);
}

/* Rows [0, width) of a panel by rows whose columns are ld apart, times x, subtracted from y. */
static void NAME(pull_from)(int64_t width, int64_t length, const REAL *P, int64_t ld,
                            const int32_t *list, const REAL *x, REAL *y) {
  for (int64_t at = 0; at < width;) {
    int64_t left = width - at;
    int vectors = left > 2 * LANES ? 4 : left > LANES ? 2 : 1;
    int64_t rows = left < vectors * LANES ? left : vectors * LANES;
    if (vectors == 4) NAME(pull_rows)(4, rows, length, P + at, ld, list, x, y + at);
    if (vectors == 2) NAME(pull_rows)(2, rows, length, P + at, ld, list, x, y + at);
    if (vectors == 1) NAME(pull_rows)(1, rows, length, P + at, ld, list, x, y + at);
    at += rows;
  }
}

static void NAME(pull)(const trs_panel *K, const int32_t *list, const REAL *P, REAL *x) {
  switch (K->width) {
    case 1:
      NAME(pull_narrow)(1, K->length, P, list, x, x + K->first);
      return;
    case 2:
      NAME(pull_narrow)(2, K->length, P, list, x, x + K->first);
      return;
    case 3:
      NAME(pull_narrow)(3, K->length, P, list, x, x + K->first);
      return;
    default:
      NAME(pull_from)(K->width, K->length, P, K->width, list, x, x + K->first);
  }
}

/* ---- TRS_WIDE right-hand sides. ---- */

static void NAME(solve_block_wide)(int64_t width, const REAL *D, REAL *x) {
  for (int64_t c = 0; c < width; c++, D += width) {
    NAME(wide) xc = NAME(wide_load)(x + c * TRS_WIDE);
    xc = NAME(wide_scaled)(&xc, D[c]);
    NAME(wide_store)(x + c * TRS_WIDE, &xc);
    for (int64_t i = c + 1; i < width; i++) {
      NAME(wide) xi = NAME(wide_load)(x + i * TRS_WIDE), product = NAME(wide_scaled)(&xc, D[i]);
      for (size_t v = 0; v < sizeof xi.part / sizeof *xi.part; v++) xi.part[v] -= product.part[v];
      NAME(wide_store)(x + i * TRS_WIDE, &xi);
    }
  }
}

/* Rows to[0 .. outputs) of x minus the sum over k < count of a[k * down + row * across] times row
 * from[k] of x; NULL: row k and row `row` itself. */
TRS_INLINE void NAME(subtract_wide)(int outputs, int64_t count, const REAL *a, int64_t down,
                                    int64_t across, const int32_t *from, const REAL *source,
                                    const int32_t *to, REAL *x) {
  NAME(wide) sum[4];
  for (int o = 0; o < outputs; o++)
    sum[o] = NAME(wide_load)(x + (to ? to[o] : o) * (int64_t)TRS_WIDE);
  for (int64_t k = 0; k < count; k++) {
    NAME(wide) xk = NAME(wide_load)(source + (from ? from[k] : k) * (int64_t)TRS_WIDE);
    for (int o = 0; o < outputs; o++)
      for (size_t v = 0; v < sizeof xk.part / sizeof *xk.part; v++)
        sum[o].part[v] -= a[k * down + o * across] * xk.part[v];
  }
  for (int o = 0; o < outputs; o++)
    NAME(wide_store)(x + (to ? to[o] : o) * (int64_t)TRS_WIDE, &sum[o]);
}

static void NAME(push_wide)(const trs_panel *K, const int32_t *list, const REAL *P, REAL *x) {
  const REAL *own = x + (int64_t)K->first * TRS_WIDE;
  int64_t r = 0;
  for (; r + 4 <= K->length; r += 4)
    NAME(subtract_wide)(4, K->width, P + r, K->length, 1, NULL, own, list + r, x);
  for (; r < K->length; r++)
    NAME(subtract_wide)(1, K->width, P + r, K->length, 1, NULL, own, list + r, x);
}

static void NAME(pull_wide)(const trs_panel *K, const int32_t *list, const REAL *P, REAL *x) {
  REAL *own = x + (int64_t)K->first * TRS_WIDE;
  int64_t i = 0;
  for (; i + 4 <= K->width; i += 4)
    NAME(subtract_wide)(4, K->length, P + i, K->width, 1, list, x, NULL, own + i * TRS_WIDE);
  for (; i < K->width; i++)
    NAME(subtract_wide)(1, K->length, P + i, K->width, 1, list, x, NULL, own + i * TRS_WIDE);
}

/* ---- All supernodes. ---- */

static void NAME(step)(const trs_panels_state *s, const trs_panel *K, REAL *x, REAL *spare) {
  const int32_t *list = s->panels.list + K->list;
  const REAL *D = (const REAL *)s->values + K->values, *panel = D + (int64_t)K->width * K->width;
  REAL *own = x + K->first;
  const NAME(panel_rows) rows = {K->length, K->length, panel, list};
  if (s->panels.by_rows) NAME(pull)(K, list, panel, x);
  NAME(solve_block)(K->width, D, own);
  if (!s->panels.by_rows) NAME(push)(K->width, &rows, own, x, spare);
}

static void NAME(step_wide)(const trs_panels_state *s, const trs_panel *K, REAL *x) {
  const int32_t *list = s->panels.list + K->list;
  const REAL *D = (const REAL *)s->values + K->values, *panel = D + (int64_t)K->width * K->width;
  if (s->panels.by_rows) NAME(pull_wide)(K, list, panel, x);
  NAME(solve_block_wide)(K->width, D, x + (int64_t)K->first * TRS_WIDE);
  if (!s->panels.by_rows) NAME(push_wide)(K, list, panel, x);
}

static void NAME(sweep)(const trs_panels_state *s, const trs_rhs *R, int64_t r, int width,
                        int space) {
  REAL *work = (REAL *)s->work + space * (s->panels.n * TRS_WIDE + TRS_PANELS_LINES);
  const int ld = width == 1 ? 1 : TRS_WIDE;
  NAME(load_rows)(R, r, width, ld, s->row, 0, s->panels.n, work, ld);
  for (int64_t k = 0; k < s->panels.count; k++)
    if (width > 1)
      NAME(step_wide)(s, &s->panels.panel[k], work);
    else
      NAME(step)(s, &s->panels.panel[k], work, work + s->panels.n * TRS_WIDE);
  NAME(store_rows)(R, r, width, s->row, 0, s->panels.n, work, ld);
}
#undef LANES
#endif
