/* rhs_tmpl.c - right-hand sides into the workspace of a sweep on a CPU, and solutions out of it,
 * permuted and scaled.  A sweep moves a few hundred rows at a time, so that they are in the
 * first-level cache when it computes with them.
 *
 * Row k of the workspace, at work + k * ld, is row row[k] of the sweep (row NULL: row k).  across:
 * the literal 1 where right-hand sides are adjacent. */

TRS_INLINE void NAME(load_any)(const trs_rhs *R, int64_t r, int width, int64_t across,
                               const int32_t *row, int64_t begin, int64_t end, SCALAR *work,
                               int64_t ld) {
  const SCALAR *b = (const SCALAR *)R->b + r * R->b_col;
  const int32_t *perm = R->b_order.perm;
  const double *scale = R->b_order.scale;
  for (int64_t k = begin; k < end; k++) {
    int64_t i = row ? row[k] : k;
    if (perm) i = perm[i];
    const SCALAR *from = b + i * R->b_row;
    if (scale)
      for (int t = 0; t < width; t++) work[k * ld + t] = (REAL)scale[i] * from[t * across];
    else
      for (int t = 0; t < width; t++) work[k * ld + t] = from[t * across];
  }
}

TRS_INLINE void NAME(store_any)(const trs_rhs *R, int64_t r, int width, int64_t across,
                                const int32_t *row, int64_t begin, int64_t end, const SCALAR *work,
                                int64_t ld) {
  SCALAR *x = (SCALAR *)R->x + r * R->x_col;
  const int32_t *perm = R->x_order.perm;
  const double *scale = R->x_order.scale;
  for (int64_t k = begin; k < end; k++) {
    int64_t i = row ? row[k] : k;
    if (perm) i = perm[i];
    SCALAR *to = x + i * R->x_row;
    if (scale)
      for (int t = 0; t < width; t++) to[t * across] = (REAL)scale[i] * work[k * ld + t];
    else
      for (int t = 0; t < width; t++) to[t * across] = work[k * ld + t];
  }
}

/* Right-hand sides r .. r + width - 1 of rows [begin, end) of the workspace, and zeros up to room
 * values per row. */
static inline void NAME(load_rows)(const trs_rhs *R, int64_t r, int width, int room,
                                   const int32_t *row, int64_t begin, int64_t end, SCALAR *work,
                                   int64_t ld) {
  if (width == 1)
    NAME(load_any)(R, r, 1, 1, row, begin, end, work, ld);
  else if (width == TRS_WIDE && R->b_col == 1)
    NAME(load_any)(R, r, TRS_WIDE, 1, row, begin, end, work, ld);
  else if (width == TRS_WIDE)
    NAME(load_any)(R, r, TRS_WIDE, R->b_col, row, begin, end, work, ld);
  else
    NAME(load_any)(R, r, width, R->b_col, row, begin, end, work, ld);
  for (int64_t k = begin; k < end && width < room; k++)
    for (int t = width; t < room; t++) work[k * ld + t] = 0;
}

static inline void NAME(store_rows)(const trs_rhs *R, int64_t r, int width, const int32_t *row,
                                    int64_t begin, int64_t end, const SCALAR *work, int64_t ld) {
  if (width == 1)
    NAME(store_any)(R, r, 1, 1, row, begin, end, work, ld);
  else if (width == TRS_WIDE && R->x_col == 1)
    NAME(store_any)(R, r, TRS_WIDE, 1, row, begin, end, work, ld);
  else if (width == TRS_WIDE)
    NAME(store_any)(R, r, TRS_WIDE, R->x_col, row, begin, end, work, ld);
  else
    NAME(store_any)(R, r, width, R->x_col, row, begin, end, work, ld);
}
