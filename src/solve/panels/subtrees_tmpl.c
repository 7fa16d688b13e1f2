/* subtrees_tmpl.c - a sweep by several threads: each alone with its subtrees, all together with the
 * top, one supernode after the other.  Sums are formed in the same order in every solve. */
#if IS_COMPLEX
static void NAME(share)(const trs_subtrees_state *s, const trs_rhs *R, int64_t r, int rank) {
  (void)s, (void)R, (void)r, (void)rank;
}
#else

/* What a thread needs in a sweep. */
typedef struct NAME(sharer) {
  const trs_subtrees_state *s;
  const trs_rhs *R;
  int64_t r;
  int rank, size;
  REAL *x, *top; /* of this thread, or of all by rows; the top's sums */
} NAME(sharer);

static const trs_panel *NAME(node)(const NAME(sharer) * h, int64_t at) {
  return &h->s->panels->panels.panel[h->s->trees.node[at]];
}

static void NAME(load_node)(const NAME(sharer) * h, const trs_panel *K, REAL *x) {
  NAME(load_rows)(h->R, h->r, 1, 1, h->s->panels->row, K->first, K->first + K->width, x, 1);
}

static void NAME(store_nodes)(const NAME(sharer) * h, int64_t begin, int64_t end) {
  for (int64_t at = begin; at < end; at++) {
    const trs_panel *K = NAME(node)(h, at);
    NAME(store_rows)(h->R, h->r, 1, h->s->panels->row, K->first, K->first + K->width, h->x, 1);
  }
}

static void NAME(wait)(const NAME(sharer) * h) { trs_barrier_wait(h->s->barrier, h->size); }

/* Every thread solves with the diagonal block; the first one keeps the solution. */
static void NAME(solve_top_block)(const NAME(sharer) * h, const trs_panel *K, REAL *own) {
  memcpy(own, h->top + K->first, (size_t)K->width * sizeof *own);
  NAME(solve_block)(K->width, (const REAL *)h->s->panels->values + K->values, own);
  if (h->rank == 0) memcpy(h->x + K->first, own, (size_t)K->width * sizeof *own);
}

/* ---- By columns: subtrees add to the top. ---- */

static void NAME(run_subtrees)(const NAME(sharer) * h, bool load) {
  const trs_subtrees *T = &h->s->trees;
  REAL *spare = h->x + h->s->panels->panels.n;
  for (int64_t at = T->first[h->rank]; load && at < T->first[h->rank + 1]; at++)
    NAME(load_node)(h, NAME(node)(h, at), h->x);
  for (int64_t at = T->first[h->rank]; at < T->first[h->rank + 1]; at++)
    NAME(step)(h->s->panels, NAME(node)(h, at), h->x, spare);
}

static REAL *NAME(vector_of)(const trs_subtrees_state *s, int rank) {
  return (REAL *)s->work + rank * (s->panels->panels.n + TRS_PANELS_LINES);
}

/* The right-hand sides of a share of the top, and what all threads have added to it. */
static void NAME(add_up_top)(const NAME(sharer) * h) {
  int64_t begin, end;
  trs_share(h->s->trees.ntop, h->rank, h->size, &begin, &end);
  for (int64_t at = begin; at < end; at++) {
    const trs_panel *K = NAME(node)(h, at);
    NAME(load_node)(h, K, h->top);
    for (int t = 0; t < h->size; t++)
      for (int64_t k = K->first; k < K->first + K->width; k++)
        h->top[k] += NAME(vector_of)(h->s, t)[k];
  }
}

static void NAME(push_top)(const NAME(sharer) * h) {
  enum { ROWS = 8 }; /* a cache line */
  const trs_panels *P = &h->s->panels->panels;
  REAL own[TRS_PANEL_WIDTH];
  for (int64_t at = 0; at < h->s->trees.ntop; at++) {
    const trs_panel *K = NAME(node)(h, at);
    int64_t begin, end;
    NAME(solve_top_block)(h, K, own);
    trs_share((K->length + ROWS - 1) / ROWS, h->rank, h->size, &begin, &end);
    begin *= ROWS, end *= ROWS;
    if (end > K->length) end = K->length;
    const NAME(panel_rows) rows = {
        end - begin, K->length,
        (const REAL *)h->s->panels->values + K->values + (int64_t)K->width * K->width + begin,
        P->list + K->list + begin};
    if (begin < end) NAME(push)(K->width, &rows, own, h->top, h->x + P->n);
    if (at + 1 < h->s->trees.ntop) NAME(wait)(h);
  }
}

static void NAME(share_columns)(const NAME(sharer) * h) {
  const int64_t ntop = h->s->trees.ntop;
  for (int64_t at = 0; at < ntop; at++) {
    const trs_panel *K = NAME(node)(h, at);
    memset(h->x + K->first, 0, (size_t)K->width * sizeof *h->x);
  }
  NAME(run_subtrees)(h, true);
  NAME(wait)(h);
  NAME(add_up_top)(h);
  NAME(wait)(h);
  NAME(push_top)(h);
}

/* ---- By rows: subtrees take from the top. ---- */

static void NAME(pull_top)(const NAME(sharer) * h) {
  const trs_subtrees_state *s = h->s;
  REAL own[TRS_PANEL_WIDTH];
  for (int64_t at = 0; at < s->trees.ntop; at++) {
    NAME(solve_top_block)(h, NAME(node)(h, at), own);
    for (int64_t q = s->piece_ptr[at] + h->rank; q < s->piece_ptr[at + 1]; q += h->size) {
      const trs_top_piece *p = &s->piece[q];
      NAME(pull_from)
      (p->rows, p->count, (const REAL *)s->panels->values + p->values, p->ld, s->column + p->column,
       own, h->top + p->place);
    }
    NAME(wait)(h);
  }
}

static void NAME(share_rows)(const NAME(sharer) * h) {
  const trs_subtrees *T = &h->s->trees;
  int64_t begin, end;
  trs_share(T->ntop, h->rank, h->size, &begin, &end);
  for (int64_t at = begin; at < end; at++) NAME(load_node)(h, NAME(node)(h, at), h->top);
  for (int64_t at = T->first[h->rank]; at < T->first[h->rank + 1]; at++)
    NAME(load_node)(h, NAME(node)(h, at), h->x);
  NAME(wait)(h);
  NAME(pull_top)(h);
  NAME(run_subtrees)(h, false);
}

static void NAME(share)(const trs_subtrees_state *s, const trs_rhs *R, int64_t r, int rank) {
  const trs_panels *P = &s->panels->panels;
  const int size = s->trees.threads;
  NAME(sharer) h = {.s = s, .R = R, .r = r, .rank = rank, .size = size};
  h.x = NAME(vector_of)(s, P->by_rows ? 0 : rank);
  h.top = NAME(vector_of)(s, P->by_rows ? 1 : size);
  if (P->by_rows)
    NAME(share_rows)(&h);
  else
    NAME(share_columns)(&h);
  NAME(store_nodes)(&h, s->trees.first[rank], s->trees.first[rank + 1]);
  if (rank == 0) NAME(store_nodes)(&h, 0, s->trees.ntop);
}
#endif
