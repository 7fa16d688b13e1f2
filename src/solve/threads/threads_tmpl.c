/* threads_tmpl.c - the copy in schedule order, and the sweep. */

TRS_INLINE SCALAR NAME(taken)(const trs_system *S, int64_t p) {
  SCALAR a = ((const SCALAR *)S->val)[p];
  return IS_COMPLEX && S->conj ? CONJ(a) : a;
}

/* The diagonal entry of stored vector i. */
TRS_INLINE SCALAR NAME(reciprocal_of)(const trs_system *S, int64_t i) {
  return 1 / NAME(taken)(S, trs_system_prefix(S) ? S->ptr[i + 1] - 1 : S->ptr[i]);
}

/* Rows in level order are scattered over the matrix, so their memory is prefetched. */
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

/* Copies row k's entries.  With needs, also copies their columns as positions, and records those of
 * other threads. */
TRS_INLINE void NAME(fill_row)(const trs_threads_job *j, int64_t i, int64_t at, range own,
                               bool prefix, trs_needs *needs, int64_t task) {
  const trs_threads_state *s = j->state;
  const trs_system *S = &j->plan->system;
  const int32_t *position = s->schedule.position, *from = S->idx;
  int32_t *idx = s->idx;
  SCALAR *val = s->val;
  int64_t begin, end;
  trs_off_diagonal(S, i, prefix, S->has_diagonal, &begin, &end);
  for (int64_t p = begin; p < end; p++, at++) {
    val[at] = NAME(taken)(S, p);
    if (!needs) continue;
    int32_t where = position[from[p]];
    idx[at] = where;
    if (where < own.begin || where >= own.end) trs_note_need(&s->schedule, needs, task, where);
  }
}

/* op(T) stored by rows: thread rank copies its own rows, and records per task the farthest position
 * that it reads of each other thread. */
static void NAME(fill_rows)(trs_threads_job *j, int rank) {
  trs_threads_state *s = j->state;
  const trs_system *S = &j->plan->system;
  const trs_schedule *plan = &s->schedule;
  const int64_t *ptr = s->ptr;
  const int32_t *row = plan->row;
  SCALAR *inverse = s->inverse;
  bool prefix = trs_system_prefix(S);
  range own = {plan->first[rank], plan->first[rank + 1]};
  trs_needs *needs = j->needs ? j->needs + rank : NULL;
  for (int64_t task = plan->task_ptr[rank]; task < plan->task_ptr[rank + 1]; task++) {
    int64_t end = plan->tasks[task].end;
    for (int64_t k = plan->tasks[task].begin; k < end; k++) {
      NAME(prefetch_row)(S, row, k, own.end);
      if (needs)
        NAME(fill_row)(j, row[k], ptr[k], own, prefix, needs, task);
      else
        NAME(fill_row)(j, row[k], ptr[k], own, prefix, NULL, task);
      if (inverse) inverse[k] = NAME(reciprocal_of)(S, row[k]);
    }
  }
}

/* op(T) stored by columns: one pass over the columns appends each entry to its row. */
static trs_status NAME(fill_columns)(trs_threads_job *j) {
  trs_threads_state *s = j->state;
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
  return TRS_SUCCESS;
}

/* x[k] = (b[k] - sum of T[k][j] x[j]) / T[k][k] for the rows [begin, end), in place. */
TRS_INLINE void NAME(rows_one)(const trs_threads_state *s, int64_t begin, int64_t end, bool unit) {
  const int64_t *ptr = s->ptr;
  const int32_t *idx = s->idx;
  const SCALAR *val = s->val, *inverse = s->inverse;
  SCALAR *work = s->work;
  for (int64_t k = begin; k < end; k++) {
    SCALAR sum = work[k];
    for (int64_t p = ptr[k]; p < ptr[k + 1]; p++) sum -= MUL(val[p], work[idx[p]]);
    work[k] = unit ? sum : MUL(sum, inverse[k]);
  }
}

/* The same for TRS_WIDE right-hand sides. */
TRS_INLINE void NAME(rows_wide)(const trs_threads_state *s, int64_t begin, int64_t end) {
  const int64_t *ptr = s->ptr;
  const SCALAR *inverse = s->inverse;
  SCALAR *work = s->work;
  for (int64_t k = begin; k < end; k++) {
    NAME(wide) sum = NAME(wide_load)(work + k * TRS_WIDE);
    sum = NAME(wide_row)(sum, s->val, s->idx, ptr[k], ptr[k + 1], work, TRS_WIDE, false);
    if (inverse) sum = NAME(wide_scaled)(&sum, inverse[k]);
    NAME(wide_store)(work + k * TRS_WIDE, &sum);
  }
}

static void NAME(run_task)(const trs_threads_job *j, const trs_task *task) {
  const trs_threads_state *s = j->state;
  const int32_t *row = s->schedule.row;
  const int64_t BLOCK = 256;
  const int ld = j->width == 1 ? 1 : TRS_WIDE;
  for (int64_t begin = task->begin, end; begin < task->end; begin = end) {
    end = task->end - begin < BLOCK ? task->end : begin + BLOCK;
    NAME(load_rows)(j->rhs, j->column, j->width, ld, row, begin, end, s->work, ld);
    if (j->width > 1)
      NAME(rows_wide)(s, begin, end);
    else if (s->inverse)
      NAME(rows_one)(s, begin, end, false);
    else
      NAME(rows_one)(s, begin, end, true);
    NAME(store_rows)(j->rhs, j->column, j->width, row, begin, end, s->work, ld);
  }
}

static void NAME(sweep)(const trs_threads_job *j, int rank) {
  trs_threads_state *s = j->state;
  const int64_t *task_ptr = s->schedule.task_ptr;
  for (int64_t k = task_ptr[rank]; k < task_ptr[rank + 1]; k++) {
    wait_for_tasks(s, &s->schedule.tasks[k]);
    NAME(run_task)(j, &s->schedule.tasks[k]);
    atomic_store_explicit(&s->done[rank].value,
                          (s->solves << 32) + (uint64_t)(k + 1 - task_ptr[rank]),
                          memory_order_release);
  }
}
