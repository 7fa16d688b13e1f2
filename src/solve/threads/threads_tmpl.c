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

/* x[k] = (b[k] - sum of T[k][j] x[j]) / T[k][k] for the rows of one task. */
TRS_INLINE void NAME(task_one)(const trs_threads_job *j, const trs_task *task, bool unit,
                               bool packed) {
  const trs_threads_state *s = j->state;
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

/* The same for four right-hand sides, adjacent in the workspace.  Four scalars, because an array
 * would be stored in memory. */
TRS_INLINE void NAME(task_four)(const trs_threads_job *j, const trs_task *task, bool unit) {
  const trs_threads_state *s = j->state;
  const trs_rhs *R = j->rhs;
  const int64_t *ptr = s->ptr, xc = R->x_col, bc = R->b_col;
  const int32_t *idx = s->idx, *row = s->schedule.row;
  const SCALAR *val = s->val, *inverse = s->inverse;
  SCALAR *work = s->work;
  for (int64_t k = task->begin; k < task->end; k++) {
    const SCALAR *b = (const SCALAR *)R->b + row[k] * R->b_row + j->column * bc;
    SCALAR *x = (SCALAR *)R->x + row[k] * R->x_row + j->column * xc, *own = work + 4 * k;
    SCALAR sum0 = b[0], sum1 = b[bc], sum2 = b[2 * bc], sum3 = b[3 * bc];
    for (int64_t p = ptr[k]; p < ptr[k + 1]; p++) {
      const SCALAR a = val[p], *xj = work + 4 * (int64_t)idx[p];
      sum0 -= MUL(a, xj[0]);
      sum1 -= MUL(a, xj[1]);
      sum2 -= MUL(a, xj[2]);
      sum3 -= MUL(a, xj[3]);
    }
    SCALAR d = unit ? 1 : inverse[k];
    x[0] = own[0] = MUL(sum0, d);
    x[xc] = own[1] = MUL(sum1, d);
    x[2 * xc] = own[2] = MUL(sum2, d);
    x[3 * xc] = own[3] = MUL(sum3, d);
  }
}

static void NAME(run_task)(const trs_threads_job *j, const trs_task *task) {
  bool unit = !j->state->inverse;
  if (j->width == 4)
    NAME(task_four)(j, task, unit);
  else if (j->rhs->x_row != 1 || j->rhs->b_row != 1)
    NAME(task_one)(j, task, unit, false);
  else if (unit)
    NAME(task_one)(j, task, true, true);
  else
    NAME(task_one)(j, task, false, true);
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
