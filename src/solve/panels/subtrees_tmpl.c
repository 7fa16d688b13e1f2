/* subtrees_tmpl.c - a sweep by several threads: each alone with its subtrees, all together with the
 * top, one supernode after the other.  A member of the team does the shares of several threads if
 * it has fewer members than there are shares.  Sums are formed in the same order in every solve. */
#if IS_COMPLEX
static void NAME(share)(const trs_subtrees_state *s, const trs_rhs *R, int64_t r,
                        const trs_subtrees_part *part) {
  (void)s, (void)R, (void)r, (void)part;
}
#else

/* What a member needs in a sweep. */
typedef struct NAME(sharer) {
  const trs_subtrees_state *s;
  const trs_rhs *R;
  int64_t r;
  const trs_subtrees_part *part;
  REAL *top; /* the top's sums */
} NAME(sharer);

static const trs_panel *NAME(node)(const NAME(sharer) * h, int64_t at) {
  return &h->s->panels->panels.panel[h->s->trees.node[at]];
}

/* The vector of a share; by rows, that of all. */
static REAL *NAME(vector_of)(const trs_subtrees_state *s, int share) {
  const int vector = s->panels->panels.by_rows ? 0 : share;
  return (REAL *)s->work + vector * (s->panels->panels.n + TRS_PANELS_LINES);
}

static void NAME(load_node)(const NAME(sharer) * h, const trs_panel *K, REAL *x) {
  NAME(load_rows)(h->R, h->r, 1, 1, h->s->panels->row, K->first, K->first + K->width, x, 1);
}

static void NAME(store_nodes)(const NAME(sharer) * h, int64_t begin, int64_t end, REAL *x) {
  for (int64_t at = begin; at < end; at++) {
    const trs_panel *K = NAME(node)(h, at);
    NAME(store_rows)(h->R, h->r, 1, h->s->panels->row, K->first, K->first + K->width, x, 1);
  }
}

static void NAME(wait)(const NAME(sharer) * h) {
  if (h->part->members > 1) trs_barrier_wait(h->s->barrier, h->part->members);
}

/* Every member solves with the diagonal block; the first one keeps the solution. */
static void NAME(solve_top_block)(const NAME(sharer) * h, const trs_panel *K, REAL *own) {
  memcpy(own, h->top + K->first, (size_t)K->width * sizeof *own);
  NAME(solve_block)(K->width, (const REAL *)h->s->panels->values + K->values, own);
  if (h->part->begin == 0)
    memcpy(NAME(vector_of)(h->s, 0) + K->first, own, (size_t)K->width * sizeof *own);
}

/* ---- By columns: subtrees add to the top. ---- */

static void NAME(run_subtrees)(const NAME(sharer) * h, int share, bool load) {
  const trs_subtrees *T = &h->s->trees;
  REAL *x = NAME(vector_of)(h->s, share), *spare = x + h->s->panels->panels.n;
  for (int64_t at = T->first[share]; load && at < T->first[share + 1]; at++)
    NAME(load_node)(h, NAME(node)(h, at), x);
  for (int64_t at = T->first[share]; at < T->first[share + 1]; at++)
    NAME(step)(h->s->panels, NAME(node)(h, at), x, spare);
}

/* The right-hand sides of a share of the top, and what all shares have added to it. */
static void NAME(add_up_top)(const NAME(sharer) * h, int share) {
  const int size = h->s->trees.threads;
  int64_t begin, end;
  trs_share(h->s->trees.ntop, share, size, &begin, &end);
  for (int64_t at = begin; at < end; at++) {
    const trs_panel *K = NAME(node)(h, at);
    NAME(load_node)(h, K, h->top);
    for (int t = 0; t < size; t++)
      for (int64_t k = K->first; k < K->first + K->width; k++)
        h->top[k] += NAME(vector_of)(h->s, t)[k];
  }
}

/* own: the solution of K. */
static void NAME(push_share)(const NAME(sharer) * h, const trs_panel *K, const REAL *own,
                             int share) {
  enum { ROWS = 8 }; /* a cache line */
  const trs_panels *P = &h->s->panels->panels;
  int64_t begin, end;
  trs_share((K->length + ROWS - 1) / ROWS, share, h->s->trees.threads, &begin, &end);
  begin *= ROWS, end *= ROWS;
  if (end > K->length) end = K->length;
  const NAME(panel_rows)
      rows = {end - begin, K->length,
              (const REAL *)h->s->panels->values + K->values + (int64_t)K->width * K->width + begin,
              P->list + K->list + begin};
  if (begin < end) NAME(push)(K->width, &rows, own, h->top, NAME(vector_of)(h->s, share) + P->n);
}

static void NAME(push_top)(const NAME(sharer) * h) {
  REAL own[TRS_PANEL_WIDTH];
  for (int64_t at = 0; at < h->s->trees.ntop; at++) {
    const trs_panel *K = NAME(node)(h, at);
    NAME(solve_top_block)(h, K, own);
    for (int t = h->part->begin; t < h->part->end; t++) NAME(push_share)(h, K, own, t);
    if (at + 1 < h->s->trees.ntop) NAME(wait)(h);
  }
}

static void NAME(clear_top)(const NAME(sharer) * h, REAL *x) {
  for (int64_t at = 0; at < h->s->trees.ntop; at++) {
    const trs_panel *K = NAME(node)(h, at);
    memset(x + K->first, 0, (size_t)K->width * sizeof *x);
  }
}

static void NAME(share_columns)(const NAME(sharer) * h) {
  for (int t = h->part->begin; t < h->part->end; t++) {
    NAME(clear_top)(h, NAME(vector_of)(h->s, t));
    NAME(run_subtrees)(h, t, true);
  }
  NAME(wait)(h);
  for (int t = h->part->begin; t < h->part->end; t++) NAME(add_up_top)(h, t);
  NAME(wait)(h);
  NAME(push_top)(h);
}

/* ---- By rows: subtrees take from the top. ---- */

static void NAME(pull_share)(const NAME(sharer) * h, int64_t at, const REAL *own, int share) {
  const trs_subtrees_state *s = h->s;
  for (int64_t q = s->piece_ptr[at] + share; q < s->piece_ptr[at + 1]; q += s->trees.threads) {
    const trs_top_piece *p = &s->piece[q];
    NAME(pull_from)
    (p->rows, p->count, (const REAL *)s->panels->values + p->values, p->ld, s->column + p->column,
     own, h->top + p->place);
  }
}

static void NAME(pull_top)(const NAME(sharer) * h) {
  REAL own[TRS_PANEL_WIDTH];
  for (int64_t at = 0; at < h->s->trees.ntop; at++) {
    NAME(solve_top_block)(h, NAME(node)(h, at), own);
    for (int t = h->part->begin; t < h->part->end; t++) NAME(pull_share)(h, at, own, t);
    NAME(wait)(h);
  }
}

static void NAME(load_share)(const NAME(sharer) * h, int share) {
  const trs_subtrees *T = &h->s->trees;
  int64_t begin, end;
  trs_share(T->ntop, share, T->threads, &begin, &end);
  for (int64_t at = begin; at < end; at++) NAME(load_node)(h, NAME(node)(h, at), h->top);
  for (int64_t at = T->first[share]; at < T->first[share + 1]; at++)
    NAME(load_node)(h, NAME(node)(h, at), NAME(vector_of)(h->s, share));
}

static void NAME(share_rows)(const NAME(sharer) * h) {
  for (int t = h->part->begin; t < h->part->end; t++) NAME(load_share)(h, t);
  NAME(wait)(h);
  NAME(pull_top)(h);
  for (int t = h->part->begin; t < h->part->end; t++) NAME(run_subtrees)(h, t, false);
}

static void NAME(share)(const trs_subtrees_state *s, const trs_rhs *R, int64_t r,
                        const trs_subtrees_part *part) {
  const trs_subtrees *T = &s->trees;
  const bool by_rows = s->panels->panels.by_rows;
  const NAME(sharer) h = {.s = s,
                          .R = R,
                          .r = r,
                          .part = part,
                          .top = (REAL *)s->work + (by_rows ? 1 : T->threads) *
                                                       (s->panels->panels.n + TRS_PANELS_LINES)};
  if (by_rows)
    NAME(share_rows)(&h);
  else
    NAME(share_columns)(&h);
  for (int t = part->begin; t < part->end; t++)
    NAME(store_nodes)(&h, T->first[t], T->first[t + 1], NAME(vector_of)(s, t));
  if (part->begin == 0) NAME(store_nodes)(&h, 0, T->ntop, NAME(vector_of)(s, 0));
}
#endif
