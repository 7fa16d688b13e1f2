/* rhs_tmpl.c - right-hand sides into the workspace of a sweep on a CPU, and solutions out of it,
 * permuted and scaled.  A sweep moves a few hundred rows at a time, so that they are in the
 * first-level cache when it computes with them.
 *
 * Row k of the workspace, at work + k * ld, is row row[k] of the sweep (row NULL: row k).  across:
 * the literal 1 where right-hand sides are adjacent. */

/* From b into the workspace, or out of it into x. */
TRS_INLINE void NAME(move_any)(const trs_rhs *R, bool store, int64_t r, int width, int64_t across,
                               const int32_t *row, int64_t begin, int64_t end, SCALAR *work,
                               int64_t ld) {
  const SCALAR *b = (const SCALAR *)R->b + r * R->b_col;
  SCALAR *x = (SCALAR *)R->x + r * R->x_col;
  const int32_t *perm = store ? R->x_order.perm : R->b_order.perm;
  const double *scale = store ? R->x_order.scale : R->b_order.scale;
  const int64_t in = store ? 1 : across, out = store ? across : 1;
  for (int64_t k = begin; k < end; k++) {
    int64_t i = row ? row[k] : k;
    if (perm) i = perm[i];
    const SCALAR *from = store ? work + k * ld : b + i * R->b_row;
    SCALAR *to = store ? x + i * R->x_row : work + k * ld;
    if (scale)
      for (int t = 0; t < width; t++) to[t * out] = (REAL)scale[i] * from[t * in];
    else
      for (int t = 0; t < width; t++) to[t * out] = from[t * in];
  }
}

TRS_INLINE void NAME(move_rows)(const trs_rhs *R, bool store, int64_t r, int width,
                                const int32_t *row, int64_t begin, int64_t end, SCALAR *work,
                                int64_t ld) {
  const int64_t across = store ? R->x_col : R->b_col;
  if (width == 1)
    NAME(move_any)(R, store, r, 1, 1, row, begin, end, work, ld);
  else if (width == TRS_WIDE && across == 1)
    NAME(move_any)(R, store, r, TRS_WIDE, 1, row, begin, end, work, ld);
  else if (width == TRS_WIDE)
    NAME(move_any)(R, store, r, TRS_WIDE, across, row, begin, end, work, ld);
  else
    NAME(move_any)(R, store, r, width, across, row, begin, end, work, ld);
}

/* Right-hand sides r .. r + width - 1 of rows [begin, end) of the workspace, and zeros up to room
 * values per row. */
static inline void NAME(load_rows)(const trs_rhs *R, int64_t r, int width, int room,
                                   const int32_t *row, int64_t begin, int64_t end, SCALAR *work,
                                   int64_t ld) {
  NAME(move_rows)(R, false, r, width, row, begin, end, work, ld);
  for (int64_t k = begin; k < end && width < room; k++)
    for (int t = width; t < room; t++) work[k * ld + t] = 0;
}

static inline void NAME(store_rows)(const trs_rhs *R, int64_t r, int width, const int32_t *row,
                                    int64_t begin, int64_t end, SCALAR *work, int64_t ld) {
  NAME(move_rows)(R, true, r, width, row, begin, end, work, ld);
}
