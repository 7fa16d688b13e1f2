/* spread_stand_in_tmpl.c - a task, for one element type. */

enum { NAME(TILE) = TRS_SLACK / sizeof(SCALAR) };

static SCALAR *NAME(x_of)(const block *w, int32_t member) {
  return (SCALAR *)(w->a->base[member] + w->a->x);
}

static void NAME(receive)(const block *w, const SCALAR *from, SCALAR *to) {
  for (int32_t j = 0; j < w->count; j++) await_value(w, from + j, to + j, sizeof *to);
}

/* sums += unit x; x: of the column's terms, or NULL, then it is waited for. */
static void NAME(multiply)(const block *w, const trs_spread_unit *u, const SCALAR *known,
                           SCALAR *sums, int64_t pitch) {
  const trs_spread_args *a = w->a;
  const int32_t *list = a->list + u->list;
  for (int32_t lane = 0; lane < u->lines; lane++) {
    int32_t tile = lane / NAME(TILE) * NAME(TILE), left = u->lines - tile;
    int32_t high = left < NAME(TILE) ? left : NAME(TILE);
    int32_t out = a->upper ? u->out + lane : list[lane];
    const SCALAR *at = (const SCALAR *)a->values + u->values;
    at += a->upper ? lane : (int64_t)tile * u->pitch + (lane - tile) + (int64_t)u->from * high;
    for (int32_t k = 0; k < u->terms; k++) {
      SCALAR x[TRS_SPREAD_TILE], value = at[(int64_t)k * (a->upper ? u->pitch : high)];
      int32_t term = a->upper ? list[k] : u->from + k;
      if (known)
        memcpy(x, known + term * a->tile, (size_t)w->count * sizeof *x);
      else
        NAME(receive)(w, NAME(x_of)(w, a->member) + (u->first + term) * a->nrhs + w->first, x);
      for (int32_t j = 0; j < w->count; j++) sums[out * pitch + j] += MUL(value, x[j]);
    }
  }
}

static void NAME(add_up)(block *w, SCALAR *y) {
  static const SCALAR none = 0;
  const trs_spread_args *a = w->a;
  const trs_spread_task *t = w->t;
  for (int32_t i = 0; i < t->width * a->tile; i++) y[i] = none;
  for (int32_t u = 0; u < t->units; u++) {
    NAME(multiply)(w, &a->unit[t->unit + u], NULL, y, a->tile);
    delay(w);
  }
  for (int32_t i = 0; i < t->width; i++)
    for (int32_t j = 0; j < w->count; j++) {
      SCALAR *sum = &y[i * a->tile + j];
      int64_t at = i * a->nrhs + j;
      if (t->takes) *sum += ((const SCALAR *)a->b)[t->first * a->nrhs + w->first + at];
      if (!a->upper && t->row >= 0)
        *sum += ((const SCALAR *)a->rows)[t->row * a->nrhs + w->first + at];
      for (int32_t c = 0; c < t->children; c++) {
        SCALAR other;
        await_value(w, (const SCALAR *)sum_at(w, a->member, c, sizeof(SCALAR)) + at, &other,
                    sizeof other);
        *sum += other;
      }
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
    for (int32_t j = 0; j < w->count; j++)
      publish(to + i * w->a->nrhs + j, &from[i * w->a->tile + j], sizeof *to);
}

static void NAME(hand_on)(block *w, const SCALAR *x, bool own) {
  const trs_spread_args *a = w->a;
  const trs_spread_task *t = w->t;
  int64_t place = t->first * a->nrhs + w->first;
  if (own) NAME(put)(w, x, NAME(x_of)(w, a->member) + place);
  for (int32_t i = 0; a->upper && t->row >= 0 && i < t->width; i++)
    memcpy((SCALAR *)a->rows + (t->row + i) * a->nrhs + w->first, x + i * a->tile,
           (size_t)w->count * sizeof *x);
  for (int32_t r = 0; r < t->receivers; r++) {
    delay(w);
    NAME(put)(w, x, NAME(x_of)(w, a->receiver[t->receiver + r]) + place);
  }
}

static void NAME(do_task)(block *w) {
  SCALAR y[TRS_SPREAD_WIDEST * TRS_SPREAD_TILE], x[TRS_SPREAD_WIDEST * TRS_SPREAD_TILE];
  const trs_spread_task *t = w->t;
  if (t->kind == TRS_SPREAD_RECEIVE) {
    const SCALAR *from = NAME(x_of)(w, w->a->member) + t->first * w->a->nrhs + w->first;
    for (int32_t i = 0; i < t->width; i++)
      NAME(receive)(w, from + i * w->a->nrhs, x + i * w->a->tile);
    NAME(hand_on)(w, x, false);
    return;
  }
  NAME(add_up)(w, y);
  if (t->kind == TRS_SPREAD_SUM) {
    NAME(put)(w, y, (SCALAR *)sum_at(w, t->parent, t->child, sizeof(SCALAR)));
    return;
  }
  NAME(solve)(w, y, x);
  NAME(hand_on)(w, x, true);
}

/* ---- Algorithm 5 ---- */

/* Plain stores, then the word. */
static void NAME(put_column)(block *w, const SCALAR *x, int32_t to, bool tells) {
  SCALAR *at = NAME(x_of)(w, to) + w->t->first * w->a->nrhs + w->first;
  for (int32_t i = 0; i < w->t->width; i++)
    memcpy(at + i * w->a->nrhs, x + i * w->a->tile, (size_t)w->count * sizeof *x);
  delay(w);
  if (tells)
    tell((uint32_t *)(w->a->base[to] + w->a->x_arrived_at) + word_of(w, w->t->K), w->a->solve);
}

static void NAME(find_column)(const block *w, SCALAR *x) {
  const trs_spread_args *a = w->a;
  const trs_spread_task *t = w->t;
  const int64_t place = t->first * a->nrhs + w->first;
  const SCALAR *lsum = (const SCALAR *)a->lsum + place, *b = (const SCALAR *)a->b + place;
  SCALAR y[TRS_SPREAD_WIDEST * TRS_SPREAD_TILE];
  bool comes = t->kind == TRS_SPREAD_RECEIVE;
  if (comes)
    await_word(w, (const uint32_t *)(a->base[a->member] + a->x_arrived_at) + word_of(w, t->K),
               a->solve);
  else
    await_word(w, a->added + word_of(w, t->K), (uint32_t)t->children);
  for (int32_t i = 0; i < t->width; i++)
    for (int32_t j = 0; j < w->count; j++) {
      int64_t at = i * a->nrhs + j;
      if (comes)
        x[i * a->tile + j] = NAME(x_of)(w, a->member)[place + at];
      else
        y[i * a->tile + j] = t->takes ? b[at] + lsum[at] : lsum[at];
    }
  if (!comes) NAME(solve)(w, y, x);
}

static void NAME(do_column)(block *w) {
  const trs_spread_args *a = w->a;
  const trs_spread_task *t = w->t;
  SCALAR x[TRS_SPREAD_WIDEST * TRS_SPREAD_TILE];
  NAME(find_column)(w, x);
  if (t->kind == TRS_SPREAD_SOLVE) NAME(put_column)(w, x, a->member, false);
  for (int32_t r = 0; r < t->receivers; r++)
    NAME(put_column)(w, x, a->receiver[t->receiver + r], true);
  for (int32_t u = 0; u < t->units; u++) {
    const trs_spread_unit *unit = &a->unit[t->unit + u];
    (void)pthread_mutex_lock(&adding);
    NAME(multiply)(w, unit, x, (SCALAR *)a->lsum + unit->first * a->nrhs + w->first, a->nrhs);
    (void)pthread_mutex_unlock(&adding);
    (void)__atomic_fetch_add(a->added + word_of(w, unit->K), 1, __ATOMIC_RELEASE);
    delay(w);
  }
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
