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

/* Copies row i's values, that nearest to the diagonal last, to every step-th place from `at` on,
 * and the positions of their columns too if wanted. */
TRS_INLINE void NAME(fill_row)(const trs_threads_job *j, int64_t i, int64_t at, int step,
                               bool prefix, bool positions) {
  const trs_threads_state *s = j->state;
  const trs_system *S = &j->plan->system;
  const int32_t *position = s->schedule.position, *from = S->idx;
  int32_t *idx = s->idx;
  SCALAR *val = s->val;
  int64_t begin, end;
  trs_off_diagonal(S, i, prefix, S->has_diagonal, &begin, &end);
  for (int64_t q = begin; q < end; q++, at += step) {
    int64_t p = prefix ? q : begin + end - 1 - q;
    val[at] = NAME(taken)(S, p);
    if (positions) idx[at] = position[from[p]];
  }
}

/* In the order of the sweep, in which every task gets its rows one behind the other: the matrix is
 * read once from begin to end, although the rows of a level are scattered over it. */
static void NAME(copy_rows)(trs_threads_job *j, int64_t begin, int64_t end) {
  trs_threads_state *s = j->state;
  const trs_system *S = &j->plan->system;
  const trs_schedule *plan = &s->schedule;
  const bool prefix = trs_system_prefix(S);
  SCALAR *inverse = s->inverse;
  for (int64_t task = begin; task < end; task++) j->next[task] = plan->tasks[task].entry;
  for (int64_t k = 0; k < S->n; k++) {
    const int64_t i = trs_in_sweep(S, k), task = j->task_of[j->part_of[i]];
    if (task < begin || task >= end) continue;
    const int32_t at = plan->position[i];
    NAME(fill_row)(j, i, j->next[task], 1, prefix, true);
    j->next[task] += j->length[i];
    s->count[at] = j->length[i];
    if (inverse) inverse[at] = NAME(reciprocal_of)(S, i);
  }
}

static void NAME(fill_rows)(trs_threads_job *j, int rank) {
  trs_threads_state *s = j->state;
  const trs_system *S = &j->plan->system;
  const trs_schedule *plan = &s->schedule;
  const int32_t *row = plan->row;
  const bool prefix = trs_system_prefix(S);
  const int64_t end = plan->first[rank + 1];
  SCALAR *inverse = s->inverse;
  for (int64_t k = plan->first[rank], at = plan->entries[rank], next; k < end; k = next) {
    const int step = NAME(rows_at)(s, k);
    const int64_t slots = NAME(slots_at)(s, k);
    for (next = k + step; k < next; k++) {
      NAME(prefetch_row)(S, row, k, end);
      NAME(fill_row)(j, row[k], at + step - (next - k), step, prefix, false);
      if (inverse) inverse[k] = NAME(reciprocal_of)(S, row[k]);
    }
    at += slots * step;
  }
}

/* next: the place of the first entry of each row; step: of a row's entries from one to the next. */
static void NAME(find_rows)(const trs_threads_state *s, int64_t *next, uint8_t *step) {
  for (int64_t k = 0, at = 0, end; k < s->schedule.n;) {
    const int rows = NAME(rows_at)(s, k);
    const int64_t slots = NAME(slots_at)(s, k);
    for (end = k + rows; k < end; k++) {
      next[k] = at + rows - (end - k);
      step[k] = (uint8_t)rows;
    }
    at += slots * rows;
  }
}

/* op(T) stored by columns: one pass over the columns appends each entry to its row. */
static trs_status NAME(fill_columns)(trs_threads_job *j) {
  trs_threads_state *s = j->state;
  const trs_system *S = &j->plan->system;
  const trs_schedule *plan = &s->schedule;
  SCALAR *val = s->val, *inverse = s->inverse;
  int64_t *next = NULL;
  uint8_t *step = NULL;
  trs_status status = TRS_ALLOC(&next, S->n);
  if (!status) status = TRS_ALLOC(&step, S->n);
  if (!status) NAME(find_rows)(s, next, step);
  for (int64_t k = 0; k < S->n && !status; k++) {
    int64_t col = trs_in_sweep(S, k), begin, end;
    trs_off_diagonal(S, col, trs_system_prefix(S), S->has_diagonal, &begin, &end);
    for (int64_t p = begin; p < end; p++) {
      const int32_t at = plan->position[S->idx[p]];
      const int64_t to = next[at];
      next[at] += step[at];
      val[to] = NAME(taken)(S, p);
      if (j->needs) s->idx[to] = plan->position[col];
    }
    if (inverse) inverse[plan->position[col]] = NAME(reciprocal_of)(S, col);
  }
  TRS_FREE_ALL(next, step);
  return status;
}

/* sum - T[k][j] x[j] over the entries [at, end).  Long rows use four independent sums. */
TRS_INLINE SCALAR NAME(subtract)(SCALAR sum, const SCALAR *val, const int32_t *idx, const SCALAR *x,
                                 int64_t at, int64_t end) {
  if (end - at >= 8) {
    SCALAR sum1 = 0, sum2 = 0, sum3 = 0;
    for (; at + 4 <= end; at += 4) {
      sum -= MUL(val[at], x[idx[at]]);
      sum1 -= MUL(val[at + 1], x[idx[at + 1]]);
      sum2 -= MUL(val[at + 2], x[idx[at + 2]]);
      sum3 -= MUL(val[at + 3], x[idx[at + 3]]);
    }
    sum = (sum + sum1) + (sum2 + sum3);
  }
  for (; at < end; at++) sum -= MUL(val[at], x[idx[at]]);
  return sum;
}

TRS_INLINE void NAME(put)(const NAME(column) * c, const int32_t *row, int64_t k, int direct,
                          SCALAR value) {
  c->work[k] = value;
  if (direct == BOTH) c->x[row[k]] = value;
}

/* x[k] = (b[k] - sum of T[k][j] x[j]) / T[k][k] for the rows [begin, end); at: their first entry.
 * Returns the entry behind their last one. */
TRS_INLINE int64_t NAME(rows_one)(const trs_threads_state *s, const NAME(column) * c, int64_t begin,
                                  int64_t end, int64_t at, bool unit, int direct, bool sliced) {
  const int32_t *idx = s->idx, *count = s->count, *row = s->schedule.row;
  const SCALAR *val = s->val, *inverse = s->inverse;
  for (int64_t k = begin; k < end; k++) {
    if (sliced && count[k] < 0) {
      NAME(solve_slice)(s, c, k, at, unit, direct, false);
      at += ~count[k] * (int64_t)LANES;
      k += LANES - 1;
      continue;
    }
    SCALAR sum = direct ? c->b[row[k]] : c->work[k];
    sum = NAME(subtract)(sum, val, idx, c->work, at, at + count[k]);
    NAME(put)(c, row, k, direct, unit ? sum : MUL(sum, inverse[k]));
    at += count[k];
  }
  return at;
}

/* The same for systems in which nearly every row needs the x of the row before it.  The last
 * product of a row has its entry scaled beforehand, and is taken from a register if it is with the
 * x computed just before: one multiply-add then separates two rows. */
TRS_INLINE int64_t NAME(rows_chained)(const trs_threads_state *s, const NAME(column) * c,
                                      int64_t begin, int64_t end, int64_t at, bool unit, int direct,
                                      bool sliced) {
  const int32_t *idx = s->idx, *count = s->count, *row = s->schedule.row;
  const SCALAR *val = s->val, *inverse = s->inverse;
  SCALAR last = 0;
  int64_t before = -1; /* the position of last */
  for (int64_t k = begin; k < end; k++) {
    if (sliced && count[k] < 0) {
      NAME(solve_slice)(s, c, k, at, unit, direct, true);
      at += ~count[k] * (int64_t)LANES;
      k += LANES - 1;
      continue;
    }
    const int64_t near = at + count[k] - 1;
    SCALAR sum = direct ? c->b[row[k]] : c->work[k], scale = unit ? 1 : inverse[k];
    sum = NAME(subtract)(sum, val, idx, c->work, at, near);
    if (!unit) sum = MUL(sum, scale);
    if (at <= near) {
      SCALAR a = unit ? val[near] : MUL(val[near], scale);
      if (idx[near] == before)
        sum -= MUL(a, last);
      else
        sum -= MUL(a, c->work[idx[near]]);
    }
    last = sum;
    NAME(put)(c, row, k, direct, sum);
    before = k;
    at = near + 1;
  }
  return at;
}

/* Each loop is a function of its own.  Inlined into one function the loops run out of registers,
 * and chained rows take up to 1.4 times as long.  A loop without slices does not test for them. */
typedef int64_t NAME(rows)(const trs_threads_state *s, const NAME(column) * c, int64_t begin,
                           int64_t end, int64_t at);

#define ROWS(loop, unit, direct, sliced)                                              \
  static __attribute__((noinline)) int64_t NAME(loop##_##unit##direct##sliced)(       \
      const trs_threads_state *s, const NAME(column) * c, int64_t begin, int64_t end, \
      int64_t at) {                                                                   \
    return NAME(loop)(s, c, begin, end, at, unit, direct, sliced);                    \
  }
#define ALL_ROWS(loop) \
  ROWS(loop, 0, 0, 0)  \
  ROWS(loop, 0, 0, 1)  \
  ROWS(loop, 0, 1, 0)  \
  ROWS(loop, 0, 1, 1)  \
  ROWS(loop, 0, 2, 0)  \
  ROWS(loop, 0, 2, 1)  \
  ROWS(loop, 1, 0, 0)  \
  ROWS(loop, 1, 0, 1)  \
  ROWS(loop, 1, 1, 0)  \
  ROWS(loop, 1, 1, 1)  \
  ROWS(loop, 1, 2, 0)  \
  ROWS(loop, 1, 2, 1)
ALL_ROWS(rows_one)
ALL_ROWS(rows_chained)
#undef ALL_ROWS
#undef ROWS

TRS_INLINE int64_t NAME(rows_any)(const trs_threads_state *s, const NAME(column) * c, int64_t begin,
                                  int64_t end, int64_t at, int direct) {
#define LAST(name) \
  { NAME(name##0), NAME(name##1) }
#define ALL(loop)                                          \
  {                                                        \
    {LAST(loop##_00), LAST(loop##_01), LAST(loop##_02)}, { \
      LAST(loop##_10), LAST(loop##_11), LAST(loop##_12)    \
    }                                                      \
  }
  static NAME(rows) *const rows[2][2][3][2] = {ALL(rows_one), ALL(rows_chained)};
#undef ALL
#undef LAST
  return rows[s->chained][!s->inverse][direct][s->sliced](s, c, begin, end, at);
}

/* The same for TRS_WIDE right-hand sides. */
TRS_INLINE int64_t NAME(rows_wide)(const trs_threads_state *s, SCALAR *work, int64_t begin,
                                   int64_t end, int64_t at) {
  const SCALAR *inverse = s->inverse;
  for (int64_t k = begin; k < end; k++) {
    if (s->count[k] < 0) {
      NAME(solve_slice_wide)(s, work, k, at);
      at += ~s->count[k] * (int64_t)LANES;
      k += LANES - 1;
      continue;
    }
    NAME(wide) sum = NAME(wide_load)(work + k * TRS_WIDE);
    sum = NAME(wide_row)(sum, s->val, s->idx, at, at + s->count[k], work, TRS_WIDE, false);
    if (inverse) sum = NAME(wide_scaled)(&sum, inverse[k]);
    NAME(wide_store)(work + k * TRS_WIDE, &sum);
    at += s->count[k];
  }
  return at;
}

/* True if a row reads its b, and perhaps writes its x, itself. */
TRS_INLINE bool NAME(is_direct)(const trs_threads_job *j) {
  const trs_rhs *R = j->rhs;
  return j->width == 1 && R->x_row == 1 && R->b_row == 1 && !trs_reorders(&R->b_order) &&
         !trs_reorders(&R->x_order);
}

/* Right-hand sides r .. r + width - 1. */
static void NAME(run_task)(const trs_threads_job *j, const trs_task *task, int64_t r, int width,
                           SCALAR *work) {
  const trs_threads_state *s = j->state;
  const trs_rhs *R = j->rhs;
  const int32_t *row = s->schedule.row;
  const int ld = width == 1 ? 1 : TRS_WIDE;
  NAME(column)
  c = {(const SCALAR *)R->b + r * R->b_col, (SCALAR *)R->x + r * R->x_col, work};
  if (NAME(is_direct)(j)) {
    NAME(rows_any)(s, &c, task->begin, task->end, task->entry, s->x_last ? B_ALONE : BOTH);
    return;
  }
  for (int64_t begin = task->begin, at = task->entry, end; begin < task->end; begin = end) {
    end = begin - begin % BLOCK + BLOCK;
    if (end > task->end) end = task->end;
    NAME(load_rows)(R, r, width, ld, row, begin, end, work, ld);
    at = width > 1 ? NAME(rows_wide)(s, work, begin, end, at)
                   : NAME(rows_any)(s, &c, begin, end, at, NEITHER);
    NAME(store_rows)(R, r, width, row, begin, end, work, ld);
  }
}

/* The shares of x of the threads begin .. end - 1: each line of x is written once, whole, by one
 * thread. */
static void NAME(write_x)(const trs_threads_job *j, int begin, int end) {
  enum { LINE = 64 / sizeof(SCALAR) };
  const trs_threads_state *s = j->state;
  const int32_t *position = s->schedule.position;
  const SCALAR *work = s->work;
  SCALAR *x = (SCALAR *)j->rhs->x + j->column * j->rhs->x_col;
  int64_t first, last, unused;
  if (!s->x_last || !NAME(is_direct)(j)) return;
  trs_share((s->schedule.n + LINE - 1) / LINE, begin, s->schedule.threads, &first, &unused);
  trs_share((s->schedule.n + LINE - 1) / LINE, end - 1, s->schedule.threads, &unused, &last);
  first *= LINE, last *= LINE;
  if (last > s->schedule.n) last = s->schedule.n;
  wait_for_all(s);
  for (int64_t i = first; i < last; i++) x[i] = work[position[i]];
}

static void NAME(sweep)(const trs_threads_job *j, int rank) {
  trs_threads_state *s = j->state;
  const int64_t *task_ptr = s->schedule.task_ptr;
  for (int64_t k = task_ptr[rank]; k < task_ptr[rank + 1]; k++) {
    wait_for_tasks(s, &s->schedule.tasks[k]);
    NAME(run_task)(j, &s->schedule.tasks[k], j->column, j->width, s->work);
    atomic_store_explicit(&s->done[rank].value,
                          (s->solves << 32) + (uint64_t)(k + 1 - task_ptr[rank]),
                          memory_order_release);
  }
  NAME(write_x)(j, rank, rank + 1);
}

/* The tasks of one thread, from the first that is not done, up to one that another thread holds up.
 * Returns 2 if some remain, plus 1 if some were done. */
static int NAME(run_ready)(const trs_threads_job *j, int rank) {
  trs_threads_state *s = j->state;
  const trs_schedule *order = &s->schedule;
  const int64_t first = order->task_ptr[rank], end = order->task_ptr[rank + 1];
  const uint64_t begin = s->solves << 32;
  uint64_t done = atomic_load_explicit(&s->done[rank].value, memory_order_relaxed);
  if (!trs_counter_reached(done, begin)) done = begin;
  int64_t k = first + (int64_t)(done - begin);
  const int64_t before = k;
  for (; k < end && is_ready(s, &order->tasks[k]); k++) {
    NAME(run_task)(j, &order->tasks[k], j->column, j->width, s->work);
    atomic_store_explicit(&s->done[rank].value, ++done, memory_order_release);
  }
  return (k > before) + 2 * (k < end);
}

/* Each thread's tasks in turn. */
static void NAME(sweep_several)(const trs_threads_job *j, int begin, int end) {
  trs_patience wait = {0};
  for (int left = 2; left & 2;) {
    left = 0;
    for (int rank = begin; rank < end; rank++) left |= NAME(run_ready)(j, rank);
    if (left & 1)
      wait = (trs_patience){0};
    else if (left)
      trs_wait_turn(&wait);
  }
  NAME(write_x)(j, begin, end);
}
