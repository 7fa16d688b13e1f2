/* threads_tmpl.c - filling the copy in schedule order, and the sweep. */

TRS_INLINE SCALAR NAME(taken)(const trs_system *S, int64_t p) {
  SCALAR a = ((const SCALAR *)S->val)[p];
  return IS_COMPLEX && S->conj ? CONJ(a) : a;
}

/* The diagonal entry of stored vector i. */
TRS_INLINE SCALAR NAME(reciprocal_of)(const trs_system *S, int64_t i) {
  return 1 / NAME(taken)(S, trs_system_prefix(S) ? S->ptr[i + 1] - 1 : S->ptr[i]);
}

/* Rows in level order lie all over the matrix: their memory is asked for in advance. */
TRS_INLINE void NAME(prefetch_row)(const trs_system *S, const int32_t *row, int64_t k,
                                   int64_t end) {
  const int64_t FAR = 24, NEAR = 12, LINE = 64, MOST = 48;
  if (k + FAR >= end) return;
  __builtin_prefetch(&S->ptr[row[k + FAR]]);
  int64_t p = S->ptr[row[k + NEAR]], last = S->ptr[row[k + NEAR] + 1];
  if (last > p + MOST) last = p + MOST;
  const int64_t lines_apart = LINE / (int64_t)sizeof(SCALAR);
  for (; p < last; p += lines_apart) {
    __builtin_prefetch((const SCALAR *)S->val + p);
    __builtin_prefetch(&S->idx[p]);
  }
}

/* Copies row k's entries; with need, their columns too, as positions, those of other threads noted
 * in need. */
TRS_INLINE void NAME(fill_row)(const job *j, int64_t i, int64_t at, trs_range own, bool prefix,
                               int64_t *need) {
  const threads_state *s = j->state;
  const trs_system *S = &j->plan->system;
  const int32_t *position = s->schedule.position, *from = S->idx;
  int32_t *idx = s->idx;
  SCALAR *val = s->val;
  int64_t begin, end;
  trs_off_diagonal(S, i, prefix, S->has_diagonal, &begin, &end);
  for (int64_t p = begin; p < end; p++, at++) {
    val[at] = NAME(taken)(S, p);
    if (!need) continue;
    int32_t where = position[from[p]];
    idx[at] = where;
    if (where < own.begin || where >= own.end) trs_note_need(&s->schedule, need, where);
  }
}

/* op(T) stored by rows: thread rank copies its own rows, and notes for each of its tasks how far
 * it reads into the other threads' stretches. */
static void NAME(fill_rows)(job *j, int rank) {
  threads_state *s = j->state;
  const trs_system *S = &j->plan->system;
  const trs_schedule *plan = &s->schedule;
  const int64_t *ptr = s->ptr;
  const int32_t *row = plan->row;
  SCALAR *inverse = s->inverse;
  bool prefix = trs_system_prefix(S);
  trs_range own = {plan->first[rank], plan->first[rank + 1]};
  for (int64_t task = plan->task_ptr[rank]; task < plan->task_ptr[rank + 1]; task++) {
    int64_t *need = j->needs ? j->needs + task * plan->threads : NULL;
    int64_t end = plan->tasks[task].end;
    for (int64_t k = plan->tasks[task].begin; k < end; k++) {
      NAME(prefetch_row)(S, row, k, own.end);
      if (need)
        NAME(fill_row)(j, row[k], ptr[k], own, prefix, need);
      else
        NAME(fill_row)(j, row[k], ptr[k], own, prefix, NULL);
      if (inverse) inverse[k] = NAME(reciprocal_of)(S, row[k]);
    }
  }
}

/* op(T) stored by columns: one pass over the columns appends each entry to its row. */
static trs_status NAME(fill_columns)(job *j) {
  threads_state *s = j->state;
  const trs_system *S = &j->plan->system;
  const trs_schedule *plan = &s->schedule;
  SCALAR *val = s->val, *inverse = s->inverse;
  int64_t *next;
  TRS_TRY(TRS_ALLOC(&next, S->n));
  memcpy(next, s->ptr, (size_t)S->n * sizeof *next);
  for (int64_t col = 0; col < S->n; col++) {
    int64_t begin, end;
    trs_off_diagonal(S, col, trs_system_prefix(S), S->has_diagonal, &begin, &end);
    for (int64_t p = begin; p < end; p++) {
      int64_t at = next[plan->position[S->idx[p]]]++;
      val[at] = NAME(taken)(S, p);
      if (j->needs) s->idx[at] = plan->position[col];
    }
    if (inverse) inverse[plan->position[col]] = NAME(reciprocal_of)(S, col);
  }
  trs_free(next);
  if (j->needs) trs_team_run(j->plan->context->team, plan->threads, note_all_needs, j);
  return TRS_SUCCESS;
}

/* x[k] = (b[k] - sum of T[k][j] x[j]) / T[k][k] for the rows of one task. */
TRS_INLINE void NAME(task_one)(const job *j, const trs_task *task, bool unit, bool packed) {
  const threads_state *s = j->state;
  const trs_rhs *R = j->rhs;
  const int64_t *ptr = s->ptr;
  const int32_t *idx = s->idx, *row = s->schedule.row;
  const SCALAR *val = s->val, *inverse = s->inverse;
  SCALAR *work = s->work;
  int64_t xs = packed ? 1 : R->x_row, bs = packed ? 1 : R->b_row;
  SCALAR *x = (SCALAR *)R->x + j->column * R->x_col;
  const SCALAR *b = (const SCALAR *)R->b + j->column * R->b_col;
  for (int64_t k = task->begin; k < task->end; k++) {
    SCALAR sum = b[row[k] * bs];
    for (int64_t p = ptr[k]; p < ptr[k + 1]; p++) sum -= MUL(val[p], work[idx[p]]);
    if (!unit) sum = MUL(sum, inverse[k]);
    work[k] = sum;
    x[row[k] * xs] = sum;
  }
}

/* The same for width right-hand sides; width is a literal, the workspace row-major. */
TRS_INLINE void NAME(task_tile)(const job *j, const trs_task *task, int width) {
  const threads_state *s = j->state;
  const trs_rhs *R = j->rhs;
  const SCALAR *val = s->val, *inverse = s->inverse;
  SCALAR *work = s->work;
  SCALAR *x = (SCALAR *)R->x + j->column * R->x_col;
  const SCALAR *b = (const SCALAR *)R->b + j->column * R->b_col;
  SCALAR sum[TILE];
  for (int64_t k = task->begin; k < task->end; k++) {
    int64_t i = s->schedule.row[k];
    for (int t = 0; t < width; t++) sum[t] = b[i * R->b_row + t * R->b_col];
    for (int64_t p = s->ptr[k]; p < s->ptr[k + 1]; p++) {
      const SCALAR *xj = work + (int64_t)s->idx[p] * width;
      TRS_SIMD
      for (int t = 0; t < width; t++) sum[t] -= MUL(val[p], xj[t]);
    }
    for (int t = 0; t < width; t++) {
      if (inverse) sum[t] = MUL(sum[t], inverse[k]);
      work[k * width + t] = sum[t];
      x[i * R->x_row + t * R->x_col] = sum[t];
    }
  }
}

static void NAME(run_task)(const job *j, const trs_task *task) {
  if (j->width == 8) {
    NAME(task_tile)(j, task, 8);
  } else if (j->width == 4) {
    NAME(task_tile)(j, task, 4);
  } else if (j->width == 2) {
    NAME(task_tile)(j, task, 2);
  } else if (j->rhs->x_row == 1 && j->rhs->b_row == 1) {
    j->state->inverse ? NAME(task_one)(j, task, false, true) : NAME(task_one)(j, task, true, true);
  } else {
    NAME(task_one)(j, task, !j->state->inverse, false);
  }
}

static void NAME(sweep)(const job *j, int rank) {
  threads_state *s = j->state;
  const int64_t *task_ptr = s->schedule.task_ptr;
  for (int64_t k = task_ptr[rank]; k < task_ptr[rank + 1]; k++) {
    wait_for_tasks(s, &s->schedule.tasks[k]);
    NAME(run_task)(j, &s->schedule.tasks[k]);
    atomic_store_explicit(&s->done[rank].value, (s->solves << 32) + (k + 1 - task_ptr[rank]),
                          memory_order_release);
  }
}
