/* panels_tmpl.c - stores values in panels and inverts their diagonal blocks. */

/* Returns the vector with an entry that has no place, or -1.  cursor[count] serves vectors that
 * cross the panels: the sweep then visits each panel's list in order. */
static int64_t NAME(scatter)(const trs_panels *P, void *values, const trs_panels_source *T,
                             const void *val, bool unit, bool conjugate, int32_t *cursor) {
  SCALAR *out = values;
  const SCALAR *in = val;
  for (int32_t k = 0; k < T->n; k++) {
    int64_t v = place_of(T, k), length = T->ptr[v + 1] - T->ptr[v];
    int32_t own = 0;
    for (int64_t q = 0; q < length; q++) {
      int64_t p = entry_at(T, v, q);
      int32_t other = (int32_t)place_of(T, T->idx[p]);
      int32_t row = T->rows ? k : other, column = T->rows ? other : k;
      if (unit && row == column) continue;
      int32_t s = supernode_of(P, row, column);
      int64_t at = slot(P, &P->panel[s], row, column, cursor ? &cursor[s] : &own);
      if (at < 0) return v;
      out[at] = conjugate ? CONJ(in[p]) : in[p];
    }
  }
  return -1;
}

static void NAME(set_unit)(const trs_panels *P, void *values) {
  for (int64_t s = 0; s < P->count; s++) {
    SCALAR *D = (SCALAR *)values + P->panel[s].values;
    for (int64_t c = 0; c < P->panel[s].width; c++) D[c + c * P->panel[s].width] = 1;
  }
}

/* Inverts in place, from the last column to the first: column j of the inverse is -1/D[j][j] times
 * the inverse of the block below and to the right, times column j of D.  A zero multiplies nothing,
 * so that an infinite entry only affects the entries that depend on it. */
static void NAME(invert)(void *block, int64_t width) {
  SCALAR *D = block;
  for (int64_t j = width - 1; j >= 0; j--) {
    SCALAR *d = D + j * width, pivot = 1 / d[j];
    for (int64_t k = width - 1; k > j; k--) {
      const SCALAR *inverse = D + k * width;
      SCALAR factor = d[k];
      if (factor == 0) continue;
      for (int64_t i = k + 1; i < width; i++)
        if (inverse[i] != 0) d[i] += MUL(inverse[i], factor);
      d[k] = MUL(inverse[k], factor);
    }
    for (int64_t i = j + 1; i < width; i++)
      if (d[i] != 0) d[i] = -MUL(d[i], pivot);
    d[j] = pivot;
  }
}
