/* slice_tmpl.c - entries into their lanes, diagonal blocks inverted. */

TRS_INLINE SCALAR NAME(slice_value)(const trs_system *S, int64_t p) {
  SCALAR a = ((const SCALAR *)S->val)[p];
  return IS_COMPLEX && S->conj ? CONJ(a) : a;
}

/* Row r and column c at r + c * rows: the diagonal block and its inverse, zero where they have no
 * number; full: the block has that entry. */
typedef struct NAME(diagonal_block) {
  int32_t rows;
  SCALAR value[TRS_MOST_BLOCK * TRS_MOST_BLOCK], inverse[TRS_MOST_BLOCK * TRS_MOST_BLOCK];
  bool full[TRS_MOST_BLOCK * TRS_MOST_BLOCK];
} NAME(diagonal_block);

static void NAME(set_entry)(NAME(diagonal_block) * D, int32_t r, int64_t c, SCALAR value) {
  D->value[r + c * D->rows] = value;
  D->full[r + c * D->rows] = true;
}

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
      NAME(set_entry)(D, r, before - b->start, NAME(slice_value)(S, p));
      continue;
    }
    int64_t at =
        slice->entries - to->entries + (k >> slice->log_lanes) * stride + lane + (k & last);
    to->idx[at] = w->position[S->idx[p]];
    ((SCALAR *)to->val)[at] = NAME(slice_value)(S, p);
    k++;
  }
  int64_t diagonal = S->lower ? end : begin - 1;
  NAME(set_entry)(D, r, r, S->unit ? 1 : NAME(slice_value)(S, diagonal));
}

/* Column c of the inverse by substitution: y_c = 1 / d_c, y_r = -(sum of D_rk y_k) / d_r.  Where no
 * path leads from c to r the inverse has no coefficient; a zero would turn infinity into NaN. */
static void NAME(invert_column)(NAME(diagonal_block) * D, const block *b, int32_t c,
                                const trs_slice *slice, SCALAR *inverse) {
  SCALAR *y = D->inverse + (int64_t)c * D->rows;
  bool full[TRS_MOST_BLOCK] = {false};
  for (int32_t r = c; r < b->rows; r++) {
    SCALAR sum = r == c ? -1 : 0;
    full[r] = r == c;
    for (int32_t k = c; k < r; k++)
      if (D->full[r + k * D->rows] && full[k]) {
        sum += MUL(D->value[r + k * D->rows], y[k]);
        full[r] = true;
      }
    if (!full[r]) continue;
    y[r] = MUL(-sum, 1 / D->value[r + r * D->rows]);
    inverse[trs_inverse_at(slice, b->place + r, r - c)] = y[r];
  }
}

/* False if the inverse loses too many digits; block_starts (or NULL) then gets the block's cut. */
static bool NAME(fill_block)(const work *w, int32_t number, const trs_slice *slice,
                             const trs_slice_arrays *to, uint8_t *block_starts) {
  NAME(diagonal_block) D; /* up to 34 kB */
  const block *b = &w->block[number];
  const trs_slice *last = slice; /* the slice with the inverse */
  while (last->parts < 0) last++;
  const size_t numbers = (size_t)b->rows * b->rows;
  D.rows = b->rows;
  memset(D.value, 0, numbers * sizeof *D.value);
  memset(D.inverse, 0, numbers * sizeof *D.inverse);
  memset(D.full, 0, numbers * sizeof *D.full);
  for (int32_t r = 0; r < b->rows; r++) NAME(fill_row)(w, b, r, slice, to, &D);
  SCALAR *inverse = (SCALAR *)to->inverse + (last->inverse - to->inverses);
  for (int32_t c = 0; c < b->rows; c++) NAME(invert_column)(&D, b, c, last, inverse);
  return keep_inverse(w, b, D.value, D.inverse, block_starts);
}
