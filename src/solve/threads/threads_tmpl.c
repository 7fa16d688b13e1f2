/* threads_tmpl.c - the copy in schedule order, and the sweep. */
#include "analysis/pivot_tmpl.c"

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

/* The reciprocal of position k, behind its row's values, the last of which is at `last`; none if
 * the row is empty. */
TRS_INLINE void NAME(fill_inverse)(trs_threads_state *s, int64_t k, SCALAR inverse, bool empty,
                                   int64_t last) {
  ((SCALAR *)s->inverse)[k] = inverse;
  if (!s->chained) return;
  if (!NAME(scales)(empty ? 0 : ((const SCALAR *)s->val)[last], inverse))
    atomic_store_explicit(&s->unscaled, true, memory_order_relaxed);
}

/* In the order of the sweep, in which every task gets its rows one behind the other: the matrix is
 * read once from begin to end, although the rows of a level are scattered over it. */
static void NAME(copy_rows)(trs_threads_job *j, int64_t begin, int64_t end) {
  trs_threads_state *s = j->state;
  const trs_system *S = &j->plan->system;
  const trs_schedule *plan = &s->schedule;
  const bool prefix = trs_system_prefix(S);
  for (int64_t task = begin; task < end; task++) j->next[task] = plan->tasks[task].entry;
  for (int64_t k = 0; k < S->n; k++) {
    const int64_t i = trs_in_sweep(S, k), task = j->task_of[j->part_of[i]];
    if (task < begin || task >= end) continue;
    const int32_t at = plan->position[i];
    NAME(fill_row)(j, i, j->next[task], 1, prefix, true);
    j->next[task] += j->length[i];
    s->count[at] = j->length[i];
    if (s->inverse)
      NAME(fill_inverse)(s, at, NAME(reciprocal_of)(S, i), j->length[i] == 0, j->next[task] - 1);
  }
}

static void NAME(fill_rows)(trs_threads_job *j, int rank) {
  trs_threads_state *s = j->state;
  const trs_system *S = &j->plan->system;
  const trs_schedule *plan = &s->schedule;
  const int32_t *row = plan->row;
  const bool prefix = trs_system_prefix(S);
  const int64_t end = plan->first[rank + 1];
  for (int64_t k = plan->first[rank], at = plan->entries[rank], next; k < end; k = next) {
    const int step = NAME(rows_at)(s, k);
    const int64_t slots = NAME(slots_at)(s, k);
    for (next = k + step; k < next; k++) {
      NAME(prefetch_row)(S, row, k, end);
      NAME(fill_row)(j, row[k], at + step - (next - k), step, prefix, false);
      const int64_t last = at + slots * step - (next - k);
      const SCALAR by = s->inverse ? NAME(reciprocal_of)(S, row[k]) : 1;
      if (s->inverse) NAME(fill_inverse)(s, k, by, slots == 0, last);
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
  SCALAR *val = s->val;
  int64_t *next = NULL;
  uint8_t *step = NULL;
  trs_status status = TRS_ALLOC_ALL(TRS_ROOM(&next, S->n), TRS_ROOM(&step, S->n));
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
    if (s->inverse) { /* the entries of its row are filled */
      const int32_t own = plan->position[col];
      NAME(fill_inverse)
      (s, own, NAME(reciprocal_of)(S, col), NAME(slots_at)(s, own) == 0, next[own] - step[own]);
    }
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

TRS_INLINE void NAME(put)(const NAME(column) * c, const int32_t *row, int64_t k, int way,
                          SCALAR value) {
  c->work[k] = value;
  if (NAME(writes_x)(c, way)) c->x[row[k]] = value;
}

/* b[k] minus the sum of T[k][j] x[j], divided by T[k][k]. */
TRS_INLINE SCALAR NAME(row_one)(const trs_threads_state *s, const NAME(column) * c, int64_t k,
                                int64_t at, bool unit, int way) {
  const SCALAR *inverse = s->inverse;
  SCALAR sum = way == NEITHER ? c->work[k] : c->b[s->schedule.row[k]];
  sum = NAME(subtract)(sum, s->val, s->idx, c->work, at, at + s->count[k]);
  return unit ? sum : MUL(sum, inverse[k]);
}

/* x[k] = (b[k] - sum of T[k][j] x[j]) / T[k][k] for the rows [begin, end); at: their first entry.
 * Returns the entry behind their last one. */
TRS_INLINE int64_t NAME(rows_one)(const trs_threads_state *s, const NAME(column) * c, int64_t begin,
                                  int64_t end, int64_t at, bool unit, int way, bool sliced) {
  const int32_t *count = s->count;
  for (int64_t k = begin; k < end; k++) {
    if (sliced && count[k] < 0) {
      if (!NAME(solve_slice)(s, c, k, at, unit, way, false) && way == AWAITED)
        return NAME(stop)(c, k, at);
      at += ~count[k] * (int64_t)LANES;
      k += LANES - 1;
      continue;
    }
    SCALAR x = NAME(row_one)(s, c, k, at, unit, way);
    if (way == AWAITED && NAME(is_nan)(x)) {
      if (!NAME(wait_for_row)(c, s->idx + at, count[k])) return NAME(stop)(c, k, at);
      x = NAME(solved)(NAME(row_one)(s, c, k, at, unit, way));
    }
    NAME(put)(c, s->schedule.row, k, way, x);
    at += count[k];
  }
  return at;
}

/* The same for systems in which nearly every row needs the x of the row before it.  The last
 * product of a row has its entry scaled beforehand, and is taken from a register if it is with the
 * x computed just before: one multiply-add then separates two rows.  Where that may lose digits
 * (`unscaled`), rows_one solves.  before: the position of that x, `last`. */
TRS_INLINE SCALAR NAME(row_chained)(const trs_threads_state *s, const NAME(column) * c, int64_t k,
                                    int64_t at, bool unit, int way, int64_t before, SCALAR last) {
  const int32_t *idx = s->idx;
  const SCALAR *val = s->val, *inverse = s->inverse;
  const int64_t near = at + s->count[k] - 1;
  const SCALAR scale = unit ? 1 : inverse[k];
  SCALAR sum = way == NEITHER ? c->work[k] : c->b[s->schedule.row[k]];
  sum = NAME(subtract)(sum, val, idx, c->work, at, near);
  if (!unit) sum = MUL(sum, scale);
  if (at > near) return sum;
  const SCALAR a = unit ? val[near] : MUL(val[near], scale);
  return sum - MUL(a, idx[near] == before ? last : c->work[idx[near]]);
}

TRS_INLINE int64_t NAME(rows_chained)(const trs_threads_state *s, const NAME(column) * c,
                                      int64_t begin, int64_t end, int64_t at, bool unit, int way,
                                      bool sliced) {
  const int32_t *count = s->count;
  SCALAR last = 0;
  int64_t before = -1;
  for (int64_t k = begin; k < end; k++) {
    if (sliced && count[k] < 0) {
      if (!NAME(solve_slice)(s, c, k, at, unit, way, true) && way == AWAITED)
        return NAME(stop)(c, k, at);
      at += ~count[k] * (int64_t)LANES;
      k += LANES - 1;
      continue;
    }
    SCALAR x = NAME(row_chained)(s, c, k, at, unit, way, before, last);
    if (way == AWAITED && NAME(is_nan)(x)) {
      if (!NAME(wait_for_row)(c, s->idx + at, count[k])) return NAME(stop)(c, k, at);
      x = NAME(solved)(NAME(row_chained)(s, c, k, at, unit, way, before, last));
    }
    last = x;
    before = k;
    NAME(put)(c, s->schedule.row, k, way, x);
    at += count[k];
  }
  return at;
}

/* Each loop is a function of its own.  Inlined into one function the loops run out of registers,
 * and chained rows take up to 1.4 times as long.  A loop without slices does not test for them. */
typedef int64_t NAME(rows)(const trs_threads_state *s, const NAME(column) * c, int64_t begin,
                           int64_t end, int64_t at);

#define ROWS(loop, unit, way, sliced)                                                 \
  static __attribute__((noinline)) int64_t NAME(loop##_##unit##way##sliced)(          \
      const trs_threads_state *s, const NAME(column) * c, int64_t begin, int64_t end, \
      int64_t at) {                                                                   \
    return NAME(loop)(s, c, begin, end, at, unit, way, sliced);                       \
  }
/* Complex rows never wait for values. */
#if IS_COMPLEX
#define AWAITED_ROWS(loop, unit, sliced)
#define AWAITED_LAST(name) \
  { NULL, NULL }
#else
#define AWAITED_ROWS(loop, unit, sliced) ROWS(loop, unit, 3, sliced)
#define AWAITED_LAST(name) LAST(name##3)
#endif
#define ALL_WAYS(loop, unit, sliced) \
  ROWS(loop, unit, 0, sliced)        \
  ROWS(loop, unit, 1, sliced)        \
  ROWS(loop, unit, 2, sliced)        \
  AWAITED_ROWS(loop, unit, sliced)
#define ALL_ROWS(loop) \
  ALL_WAYS(loop, 0, 0) \
  ALL_WAYS(loop, 0, 1) \
  ALL_WAYS(loop, 1, 0) \
  ALL_WAYS(loop, 1, 1)
ALL_ROWS(rows_one)
ALL_ROWS(rows_chained)
#undef ALL_ROWS
#undef ALL_WAYS
#undef AWAITED_ROWS
#undef ROWS

TRS_INLINE int64_t NAME(rows_any)(const trs_threads_state *s, const NAME(column) * c, int64_t begin,
                                  int64_t end, int64_t at, int way) {
#define LAST(name) \
  { NAME(name##0), NAME(name##1) }
#define WAYS(name) \
  { LAST(name##0), LAST(name##1), LAST(name##2), AWAITED_LAST(name) }
#define ALL(loop) \
  { WAYS(loop##_0), WAYS(loop##_1) }
  static NAME(rows) *const rows[2][2][4][2] = {ALL(rows_one), ALL(rows_chained)};
#undef ALL
#undef WAYS
#undef LAST
#undef AWAITED_LAST
  return rows[s->chained && !s->unscaled][!s->inverse][way][s->sliced](s, c, begin, end, at);
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

/* The part of the workspace that a solve with one right-hand side uses. */
TRS_INLINE SCALAR *NAME(part)(const trs_threads_state *s, int part) {
  return (SCALAR *)s->work + part * s->schedule.n;
}

TRS_INLINE SCALAR *NAME(workspace)(const trs_threads_job *j) {
  return NAME(part)(j->state, j->width > 1   ? 0
                              : j->by_values ? j->state->turn
                                             : TRS_THREADS_BY_TASKS);
}

TRS_INLINE NAME(column) NAME(column_of)(const trs_threads_job *j) {
  const trs_rhs *R = j->rhs;
  return (NAME(column)){.b = (const SCALAR *)R->b + j->column * R->b_col,
                        .x = (SCALAR *)R->x + j->column * R->x_col,
                        .work = NAME(workspace)(j)};
}

/* Right-hand sides column .. column + width - 1. */
static void NAME(run_task)(const trs_threads_job *j, const trs_task *task) {
  const trs_threads_state *s = j->state;
  const trs_rhs *R = j->rhs;
  const int32_t *row = s->schedule.row;
  const int64_t r = j->column;
  const int width = j->width, ld = width == 1 ? 1 : TRS_WIDE;
  const NAME(column) c = NAME(column_of)(j);
  if (trs_threads_direct(j)) {
    NAME(rows_any)(s, &c, task->begin, task->end, task->entry, j->x_last ? B_ALONE : BOTH);
    return;
  }
  for (int64_t begin = task->begin, at = task->entry, end; begin < task->end; begin = end) {
    end = begin - begin % BLOCK + BLOCK;
    if (end > task->end) end = task->end;
    NAME(load_rows)(R, r, width, ld, row, begin, end, c.work, ld);
    at = width > 1 ? NAME(rows_wide)(s, c.work, begin, end, at)
                   : NAME(rows_any)(s, &c, begin, end, at, NEITHER);
    NAME(store_rows)(R, r, width, row, begin, end, c.work, ld);
  }
}

/* Each line of x is written once, whole, by one thread. */
static void NAME(write_x)(const trs_threads_job *j, int rank) {
  enum { LINE = 64 / sizeof(SCALAR) };
  const trs_threads_state *s = j->state;
  const int32_t *position = s->schedule.position;
  const SCALAR *work = NAME(workspace)(j);
  SCALAR *x = (SCALAR *)j->rhs->x + j->column * j->rhs->x_col;
  int64_t first, last;
  trs_share((s->schedule.n + LINE - 1) / LINE, rank, s->schedule.threads, &first, &last);
  first *= LINE, last *= LINE;
  if (last > s->schedule.n) last = s->schedule.n;
  for (int64_t i = first; i < last; i++) x[i] = work[position[i]];
}

static void NAME(begin)(const trs_threads_job *j, int rank) {
  const trs_schedule *plan = &j->state->schedule;
  j->state->place[rank] =
      (trs_threads_place){.task = plan->task_ptr[rank],
                          .position = plan->first[rank],
                          .entry = plan->entries[rank],
                          .erase = j->erases ? plan->read + plan->read_ptr[rank] : NULL};
}

TRS_INLINE void NAME(note_done)(trs_threads_state *s, int rank, int64_t tasks) {
  atomic_store_explicit(&s->done[rank].value, (s->solves << 32) + (uint64_t)tasks,
                        memory_order_release);
}

TRS_INLINE void NAME(advance_by_values)(const trs_threads_job *j, int rank, int steps,
                                        NAME(erasing) * erasing) {
  trs_threads_state *s = j->state;
  const trs_schedule *plan = &s->schedule;
  trs_threads_place *place = &s->place[rank];
  const int64_t begin = place->position, entry = place->entry, end = plan->first[rank + 1];
  NAME(column) c = NAME(column_of)(j);
  c.erasing = erasing;
  c.place = place;
  c.steps = steps;
  if (j->x_last) c.x = NULL;
  place->position = end; /* unless a row stops */
  NAME(rows_any)(s, &c, begin, end, entry, AWAITED);
  if (place->position < end) return;
  place->task = plan->task_ptr[rank + 1];
  NAME(note_done)(s, rank, place->task - plan->task_ptr[rank]);
}

TRS_INLINE void NAME(advance_by_tasks)(const trs_threads_job *j, int rank, int steps) {
  trs_threads_state *s = j->state;
  const trs_schedule *plan = &s->schedule;
  const int64_t first = plan->task_ptr[rank], end = plan->task_ptr[rank + 1];
  int64_t task = s->place[rank].task;
  for (; task < end && is_ready(s, &plan->tasks[task], steps); task++) {
    NAME(run_task)(j, &plan->tasks[task]);
    NAME(note_done)(s, rank, task + 1 - first);
  }
  s->place[rank].task = task;
}

static trs_threads_advance NAME(advance)(const trs_threads_job *j, int rank, int steps) {
  const trs_threads_state *s = j->state;
  const trs_schedule *plan = &s->schedule;
  trs_threads_place *place = &s->place[rank];
  const int64_t task = place->task, position = place->position, end = plan->task_ptr[rank + 1];
  NAME(erasing)
  erasing = {NAME(part)(s, j->by_values ? !s->turn : s->turn), place->erase,
             j->erases ? plan->read + plan->read_ptr[rank + 1] : NULL};
  if (task == end) return TRS_THREADS_COMPLETE;
  if (j->by_values)
    NAME(advance_by_values)(j, rank, steps, &erasing);
  else
    NAME(advance_by_tasks)(j, rank, steps);
  if (j->erases && place->task == end) NAME(erase)(&erasing, INT64_MAX);
  place->erase = erasing.at;
  if (place->task == end) return TRS_THREADS_COMPLETE;
  return place->task > task || place->position > position ? TRS_THREADS_ADVANCED
                                                          : TRS_THREADS_BLOCKED;
}
