/* levelset_cpu_tmpl.c - a thread's rows of a level, and its share of b and x. */

/* b of rows [begin, end) into the workspace, or x out of it. */
static void NAME(move_tile)(const job *j, bool store, int64_t begin, int64_t end) {
  NAME(move_rows)
  (j->rhs, store, j->column, j->width, NULL, begin, end, j->s->work, j->width);
}

/* x[i] = (b[i] - sum of T[i][j] x[j]) / T[i][i], for every right-hand side of the tile. */
TRS_INLINE void NAME(solve_level)(const levelset *s, int width, bool conjugate, int64_t begin,
                                  int64_t end) {
  const trs_system *S = &s->host.S;
  const SCALAR *val = S->val;
  SCALAR *x = s->work;
  for (int64_t k = begin; k < end; k++) {
    const int64_t i = s->order[k];
    int64_t first, last;
    SCALAR *own = x + i * width;
    trs_off_diagonal(S, i, S->lower, S->has_diagonal, &first, &last);
    for (int64_t p = first; p < last; p++) {
      const SCALAR a = conjugate ? CONJ(val[p]) : val[p];
      for (int r = 0; r < width; r++) own[r] -= MUL(a, x[S->idx[p] * width + r]);
    }
    if (S->unit) continue;
    const SCALAR d = val[S->lower ? S->ptr[i + 1] - 1 : S->ptr[i]];
    const SCALAR inverse = 1 / (conjugate ? CONJ(d) : d);
    for (int r = 0; r < width; r++) own[r] = MUL(own[r], inverse);
  }
}

static void NAME(solve_rows)(const job *j, int64_t begin, int64_t end) {
  const bool conjugate = IS_COMPLEX && j->s->host.S.conj;
  if (j->width == 1)
    conjugate ? NAME(solve_level)(j->s, 1, true, begin, end)
              : NAME(solve_level)(j->s, 1, false, begin, end);
  else
    NAME(solve_level)(j->s, j->width, conjugate, begin, end);
}
