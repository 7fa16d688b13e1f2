/* spread_stand_in_tmpl.c - a task, for one element type. */

enum { NAME(TILE) = TRS_SLACK / sizeof(SCALAR) };

static SCALAR *NAME(x_of)(const block *w, int32_t member) {
  return (SCALAR *)(w->a->base[member] + w->a->x);
}

static void NAME(multiply)(const block *w, const trs_spread_unit *u, SCALAR *sums) {
  const trs_spread_args *a = w->a;
  const int32_t *list = a->list + u->list;
  await(w, x_word(w, a->member, u->K));
  for (int32_t lane = 0; lane < u->lines; lane++) {
    int32_t tile = lane / NAME(TILE) * NAME(TILE), left = u->lines - tile;
    int32_t high = left < NAME(TILE) ? left : NAME(TILE);
    int32_t out = a->upper ? u->out + lane : list[lane];
    const SCALAR *at = (const SCALAR *)a->values + u->values;
    at += a->upper ? lane : (int64_t)tile * u->pitch + (lane - tile) + (int64_t)u->from * high;
    for (int32_t k = 0; k < u->terms; k++) {
      const SCALAR *x = NAME(x_of)(w, a->member) +
                        (u->x + (a->upper ? list[k] : u->from + k)) * a->nrhs + w->first;
      SCALAR value = at[(int64_t)k * (a->upper ? u->pitch : high)];
      for (int32_t j = 0; j < w->count; j++) sums[out * a->tile + j] += MUL(value, x[j]);
    }
  }
}

static void NAME(add_up)(block *w, SCALAR *y) {
  static const SCALAR none = 0;
  const trs_spread_args *a = w->a;
  const trs_spread_task *t = w->t;
  for (int32_t i = 0; i < t->width * a->tile; i++) y[i] = none;
  for (int32_t u = 0; u < t->units; u++) {
    NAME(multiply)(w, &a->unit[t->unit + u], y);
    delay(w);
  }
  for (int32_t c = 0; c < t->children; c++) await(w, sum_word(w, a->member, c));
  for (int32_t i = 0; i < t->width; i++)
    for (int32_t j = 0; j < w->count; j++) {
      SCALAR *sum = &y[i * a->tile + j];
      int64_t at = i * a->nrhs + j;
      if (t->takes) *sum += ((const SCALAR *)a->b)[t->first * a->nrhs + w->first + at];
      if (!a->upper && t->row >= 0)
        *sum += ((const SCALAR *)a->rows)[t->row * a->nrhs + w->first + at];
      for (int32_t c = 0; c < t->children; c++)
        *sum += ((const SCALAR *)sum_at(w, a->member, c, sizeof(SCALAR)))[at];
    }
}

/* Element (i, c) of a triangle in tiles. */
static SCALAR NAME(element)(const block *w, int32_t i, int32_t c) {
  int32_t width = w->t->width, at = i / NAME(TILE) * NAME(TILE), before = 0;
  int32_t high = width - at < NAME(TILE) ? width - at : NAME(TILE);
  bool upper = w->a->upper;
  for (int32_t tile = 0; tile < at; tile += NAME(TILE))
    before += NAME(TILE) * (upper ? width - tile : tile + NAME(TILE));
  return ((const SCALAR *)
              w->a->values)[w->t->diagonal + before + (c - (upper ? at : 0)) * high + i - at];
}

static void NAME(solve)(const block *w, const SCALAR *y, SCALAR *x) {
  int32_t width = w->t->width, tile = w->a->tile;
  bool upper = w->a->upper;
  memcpy(x, y, (size_t)(width * tile) * sizeof *x);
  for (int32_t n = 0; n < width && w->t->diagonal >= 0; n++)
    for (int32_t j = 0; j < w->count; j++) {
      int32_t i = upper ? width - 1 - n : n;
      SCALAR sum = w->t->solved ? y[i * tile + j] : 0;
      for (int32_t c = upper ? i + 1 : 0; c < (upper ? width : i); c++)
        if (w->t->solved)
          sum -= MUL(NAME(element)(w, i, c), x[c * tile + j]);
        else
          sum += MUL(NAME(element)(w, i, c), y[c * tile + j]);
      x[i * tile + j] = w->t->solved ? sum / NAME(element)(w, i, i)
                                     : sum + MUL(NAME(element)(w, i, i), y[i * tile + j]);
    }
}

static void NAME(put)(const block *w, const SCALAR *from, SCALAR *to) {
  for (int32_t i = 0; i < w->t->width; i++)
    for (int32_t j = 0; j < w->count; j++) to[i * w->a->nrhs + j] = from[i * w->a->tile + j];
}

static void NAME(hand_on)(block *w, const SCALAR *x, bool own) {
  const trs_spread_args *a = w->a;
  const trs_spread_task *t = w->t;
  int64_t place = t->first * a->nrhs + w->first;
  if (own) {
    NAME(put)(w, x, NAME(x_of)(w, a->member) + place);
    tell(x_word(w, a->member, t->K), a->solve);
  }
  if (a->upper && t->row >= 0) NAME(put)(w, x, (SCALAR *)a->rows + t->row * a->nrhs + w->first);
  for (int32_t r = 0; r < t->receivers; r++) {
    int32_t to = a->receiver[t->receiver + r];
    NAME(put)(w, x, NAME(x_of)(w, to) + place);
    delay(w);
    tell(x_word(w, to, t->K), a->solve);
  }
}

static void NAME(do_task)(block *w) {
  SCALAR y[TRS_SPREAD_WIDEST * TRS_SPREAD_TILE], x[TRS_SPREAD_WIDEST * TRS_SPREAD_TILE];
  const trs_spread_task *t = w->t;
  if (t->kind == TRS_SPREAD_RECEIVE) {
    await(w, x_word(w, w->a->member, t->K));
    const SCALAR *from = NAME(x_of)(w, w->a->member) + t->first * w->a->nrhs + w->first;
    for (int32_t i = 0; i < t->width; i++)
      for (int32_t j = 0; j < w->count; j++) x[i * w->a->tile + j] = from[i * w->a->nrhs + j];
    NAME(hand_on)(w, x, false);
    return;
  }
  NAME(add_up)(w, y);
  if (t->kind == TRS_SPREAD_SUM) {
    NAME(put)(w, y, (SCALAR *)sum_at(w, t->parent, t->place, sizeof(SCALAR)));
    tell(sum_word(w, t->parent, t->place), w->a->solve);
    return;
  }
  NAME(solve)(w, y, x);
  NAME(hand_on)(w, x, true);
}

static void NAME(move_rows)(const trs_spread_rows *m) {
  for (int64_t i = 0; i < m->rows * m->nrhs; i++) {
    SCALAR *there = (SCALAR *)m->x + m->row[i / m->nrhs] * m->nrhs + i % m->nrhs;
    if (m->add)
      *there += ((const SCALAR *)m->packed)[i];
    else
      ((SCALAR *)m->packed)[i] = *there;
  }
}
