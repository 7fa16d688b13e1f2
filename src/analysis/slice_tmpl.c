/* slice_tmpl.c - entries into their lanes, diagonal blocks inverted. */

TRS_INLINE SCALAR NAME(slice_value)(const trs_system *S, int64_t p) {
  SCALAR a = ((const SCALAR *)S->val)[p];
  return IS_COMPLEX && S->conj ? CONJ(a) : a;
}

/* full[r][c], c <= r: the diagonal block has that entry. */
typedef struct NAME(diagonal_block) {
  SCALAR value[TRS_MOST_BLOCK][TRS_MOST_BLOCK];
  bool full[TRS_MOST_BLOCK][TRS_MOST_BLOCK];
} NAME(diagonal_block);

/* Row r of block b: entries outside the block go to the slice, those inside to D. */
static void NAME(fill_row)(const work *w, const block *b, int32_t r, const trs_slice *slice,
                           const trs_slice_arrays *to, NAME(diagonal_block) * D) {
  const trs_system *S = &w->S;
  const int64_t stride = trs_slice_stride(slice), last = ((int64_t)1 << slice->log_lanes) - 1;
  int64_t i = trs_in_sweep(S, b->start + r), begin, end, k = 0;
  trs_off_diagonal(S, i, S->lower, S->has_diagonal, &begin, &end);
  int64_t lane = (int64_t)(b->place + r) << slice->log_lanes;
  for (int64_t e = 0; e < end - begin; e++) {
    int64_t p = entry_at(S, begin, end, e);
    int64_t before = trs_in_sweep(S, S->idx[p]);
    if (before >= b->start) {
      D->value[r][before - b->start] = NAME(slice_value)(S, p);
      D->full[r][before - b->start] = true;
      continue;
    }
    int64_t at =
        slice->entries - to->entries + (k >> slice->log_lanes) * stride + lane + (k & last);
    to->idx[at] = w->position[S->idx[p]];
    ((SCALAR *)to->val)[at] = NAME(slice_value)(S, p);
    k++;
  }
  int64_t diagonal = S->lower ? end : begin - 1;
  D->value[r][r] = S->unit ? 1 : NAME(slice_value)(S, diagonal);
  D->full[r][r] = true;
}

/* Column c of the inverse of b by substitution: y_c = 1 / d_c, y_r = -(sum of D_rk y_k) / d_r.
 * Where no path leads from c to r the inverse has no coefficient; a zero would turn infinity into
 * NaN. */
static void NAME(invert_column)(const NAME(diagonal_block) * D, const block *b, int32_t c,
                                const trs_slice *slice, SCALAR *inverse) {
  SCALAR y[TRS_MOST_BLOCK];
  bool full[TRS_MOST_BLOCK] = {false};
  for (int32_t r = c; r < b->rows; r++) {
    SCALAR sum = r == c ? -1 : 0;
    full[r] = r == c;
    for (int32_t k = c; k < r; k++)
      if (D->full[r][k] && full[k]) {
        sum += MUL(D->value[r][k], y[k]);
        full[r] = true;
      }
    y[r] = MUL(-sum, 1 / D->value[r][r]);
    if (full[r]) inverse[trs_inverse_at(slice, b->place + r, r - c)] = y[r];
  }
}

static void NAME(fill_block)(const work *w, int32_t number, const trs_slice *slice,
                             const trs_slice_arrays *to) {
  static _Thread_local NAME(diagonal_block) D;
  const block *b = &w->block[number];
  const trs_slice *last = slice; /* the slice with the inverse */
  while (last->parts < 0) last++;
  for (int32_t r = 0; r < b->rows; r++) memset(D.full[r], 0, sizeof D.full[r]);
  for (int32_t r = 0; r < b->rows; r++) NAME(fill_row)(w, b, r, slice, to, &D);
  SCALAR *inverse = (SCALAR *)to->inverse + (last->inverse - to->inverses);
  for (int32_t c = 0; c < b->rows; c++) NAME(invert_column)(&D, b, c, last, inverse);
}
