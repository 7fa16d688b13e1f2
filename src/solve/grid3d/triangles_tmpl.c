/* triangles_tmpl.c - entries of a panel, for one element type. */

/* The nonzero entries of a vector, and the diagonal entry unless the diagonal is unit; NULL to
 * count. */
static int64_t NAME(take_vector)(const panel_vector *w, int32_t *idx, void *val) {
  const SCALAR *square = w->numbers, *list = square + w->width * w->width;
  SCALAR *out = val;
  int64_t count = 0;
  for (int64_t q = w->v + w->unit; q < w->width; q++) {
    SCALAR a = square[w->turned ? w->v + q * w->width : q + w->v * w->width];
    if (a == 0 && q != w->v) continue;
    if (idx) {
      idx[count] = (int32_t)(w->row + q);
      out[count] = a;
    }
    count++;
  }
  for (int64_t r = 0; r < w->length; r++) {
    SCALAR a = list[r * w->width + w->v];
    if (a == 0) continue;
    if (idx) {
      idx[count] = w->below[r];
      out[count] = a;
    }
    count++;
  }
  return count;
}

static void NAME(set_one)(void *to) { *(SCALAR *)to = 1; }
