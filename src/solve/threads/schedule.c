/* schedule.c - deals rows to threads and places waits.  O(n + steps x threads). */
#include "solve/threads/schedule.h"

#include <string.h>

#include "base/search.h"
#include "base/cancel.h"

int64_t trs_schedule_part_work = 200, trs_schedule_alone = 25000;

int64_t trs_level_work(const trs_levels *levels, int32_t k) {
  return levels->entries[k] + TRS_ROW_WORK * (levels->ptr[k + 1] - levels->ptr[k]);
}

int32_t trs_level_parts(const trs_levels *levels, int32_t k, int threads) {
  int64_t rows = levels->ptr[k + 1] - levels->ptr[k];
  int64_t count = trs_level_work(levels, k) / trs_schedule_part_work;
  if (count > threads) count = threads;
  if (count > rows) count = rows;
  return count > 1 ? (int32_t)count : 1;
}

/* A level during the deal: its rows come in natural order and fill its parts one after the other,
 * each part with its share of the work. */
typedef struct dealt_level {
  int64_t work, done; /* of all its rows; of those already dealt */
  int64_t goal;       /* value of done at which the current part is full */
  int64_t part;       /* the current part */
  int32_t parts;      /* into which the level is cut */
} dealt_level;

typedef struct dealer {
  const trs_levels *levels;
  const int32_t *length;
  dealt_level *level;
  trs_parts *parts;
} dealer;

int64_t trs_step_span(const trs_parts *parts, int64_t first, int threads) {
  int64_t most = 0;
  for (int64_t k = first; k < parts->count; k++)
    if (parts->part[k].work > most) most = parts->part[k].work;
  return most + (parts->count - first > 1 ? trs_wait_work(threads) : 0);
}

int64_t trs_level_span(const trs_levels *levels, int threads, int percent) {
  int64_t span = 0;
  for (int32_t k = 0; k < levels->count; k++) {
    int32_t parts = trs_level_parts(levels, k, threads);
    span += trs_level_work(levels, k) * percent / 100 / parts +
            (parts > 1 ? trs_wait_work(threads) : 0);
  }
  return span;
}

/* Wide levels are cut into parts of equal work.  A narrow level goes whole to thread 0, which then
 * needs no waits along runs of narrow levels. */
static void plan_levels(dealer *d, int threads) {
  trs_parts *parts = d->parts;
  for (int32_t k = 0; k < d->levels->count; k++) {
    dealt_level *it = &d->level[k];
    it->work = trs_level_work(d->levels, k);
    it->parts = trs_level_parts(d->levels, k, threads);
    it->part = parts->count;
    it->goal = it->work / it->parts;
    for (int32_t t = 0; t < it->parts; t++) parts->part[parts->count++].thread = t;
    parts->split_steps += it->parts > 1;
  }
  parts->span = trs_level_span(d->levels, threads, 100);
  parts->steps = d->levels->count;
}

static void deal_rows(dealer *d, int64_t n) {
  trs_step_part *part = d->parts->part;
  for (int64_t i = 0; i < n; i++) {
    dealt_level *it = &d->level[d->levels->level[i]];
    int64_t work = d->length[i] + TRS_ROW_WORK;
    if (it->done + work / 2 > it->goal) { /* at most once per row: parts are larger than rows, */
      int64_t left = it->work - it->done; /* or almost empty */
      const trs_step_part *now = &part[it->part];
      if (now->thread + 1 < it->parts) {
        it->part++;
        it->goal = it->done + left / (it->parts - now->thread - 1);
      }
    }
    it->done += work;
    part[it->part].rows++;
    part[it->part].work += work;
    d->parts->of[i] = (int32_t)it->part;
  }
}

trs_status trs_level_all_parts(trs_parts *parts, const trs_levels *levels, const int32_t *length,
                               int threads) {
  dealer d = {.levels = levels, .length = length, .parts = parts};
  int64_t most_parts = (int64_t)levels->count * threads;
  if (most_parts > levels->n) most_parts = levels->n;
  *parts = (trs_parts){.capacity = most_parts};
  trs_status status = TRS_ALLOC_ZERO(&d.level, levels->count);
  if (!status) status = TRS_ALLOC_ZERO(&parts->part, most_parts);
  if (!status) status = TRS_ALLOC(&parts->of, levels->n);
  if (!status) {
    plan_levels(&d, threads);
    deal_rows(&d, levels->n);
  }
  trs_free(d.level);
  if (status) trs_parts_destroy(parts);
  return status;
}

void trs_parts_destroy(trs_parts *parts) {
  TRS_FREE_ALL(parts->part, parts->of);
  *parts = (trs_parts){0};
}

/* Positions by thread, then by step, then by row in the order of the sweep. */
static void number_rows(trs_schedule *s, const trs_parts *parts, const trs_system *S,
                        int64_t *next) {
  memset(s->first, 0, (size_t)(s->threads + 1) * sizeof *s->first);
  memset(s->entries, 0, (size_t)(s->threads + 1) * sizeof *s->entries);
  memset(s->task_ptr, 0, (size_t)(s->threads + 1) * sizeof *s->task_ptr);
  for (int64_t k = 0; k < parts->count; k++) {
    const trs_step_part *p = &parts->part[k];
    s->first[p->thread + 1] += p->rows;
    s->entries[p->thread + 1] += p->work - TRS_ROW_WORK * p->rows;
    s->task_ptr[p->thread + 1]++;
  }
  for (int t = 0; t < s->threads; t++) {
    s->entries[t + 1] += s->entries[t];
    s->first[t + 1] += s->first[t];
    s->task_ptr[t + 1] += s->task_ptr[t];
  }
  for (int64_t k = 0; k < parts->count; k++) {
    const trs_step_part *p = &parts->part[k];
    next[k] = s->first[p->thread];
    s->first[p->thread] += p->rows;
    s->tasks[s->task_ptr[p->thread]++] = (trs_task){
        .begin = next[k], .end = next[k] + p->rows, .entry = s->entries[p->thread], .part = k};
    s->entries[p->thread] += p->work - TRS_ROW_WORK * p->rows;
  }
  for (int t = s->threads; t > 0; t--) {
    s->first[t] = s->first[t - 1];
    s->entries[t] = s->entries[t - 1];
    s->task_ptr[t] = s->task_ptr[t - 1];
  }
  s->first[0] = s->entries[0] = s->task_ptr[0] = 0;
  for (int64_t k = 0; k < s->n; k++) {
    int64_t i = trs_in_sweep(S, k), at = next[parts->of[i]]++;
    s->position[i] = (int32_t)at;
    s->row[at] = (int32_t)i;
  }
}

trs_status trs_schedule_create(trs_schedule *s, const trs_parts *parts, const trs_system *S,
                               int threads) {
  int64_t *next = NULL;
  *s = (trs_schedule){.threads = threads, .n = S->n};
  trs_status status = TRS_ALLOC_ALL(
      TRS_ROOM(&s->row, s->n), TRS_ROOM(&s->position, s->n), TRS_ROOM(&s->first, threads + 1),
      TRS_ROOM(&s->entries, threads + 1), TRS_ROOM(&s->task_ptr, threads + 1),
      TRS_ROOM(&s->tasks, parts->count), TRS_ROOM(&next, parts->count));
  if (!status) number_rows(s, parts, S, next);
  trs_free(next);
  if (status) trs_schedule_destroy(s);
  return status;
}

void trs_schedule_destroy(trs_schedule *s) {
  TRS_FREE_ALL(s->row, s->position, s->first, s->entries, s->task_ptr, s->tasks, s->waits, s->read,
               s->read_ptr);
  *s = (trs_schedule){0};
}

trs_status trs_needs_create(trs_needs **needs, int threads) {
  trs_needs *made;
  *needs = NULL;
  TRS_TRY(TRS_ALLOC_ZERO(&made, threads));
  trs_status status = TRS_ALLOC_ZERO(&made->furthest, (int64_t)threads * threads);
  if (status) {
    trs_needs_destroy(made, threads);
    return status;
  }
  for (int t = 1; t < threads; t++) made[t].furthest = made->furthest + (int64_t)t * threads;
  *needs = made;
  return TRS_SUCCESS;
}

void trs_needs_destroy(trs_needs *needs, int threads) {
  if (!needs) return;
  for (int t = 0; t < threads; t++) trs_free(needs[t].list);
  TRS_FREE_ALL(needs->furthest, needs);
}

void trs_note_need(trs_needs *needs, int64_t task, int thread, int32_t end) {
  if (end <= needs->furthest[thread]) return;
  needs->furthest[thread] = end;
  for (int64_t k = needs->count - 1; k >= 0 && needs->list[k].task == task; k--)
    if (needs->list[k].thread == thread) {
      needs->list[k].end = end;
      return;
    }
  if (needs->count == needs->capacity) {
    int64_t more = needs->capacity ? 2 * needs->capacity : 64;
    if (needs->failed || trs_realloc((void **)&needs->list, more, sizeof *needs->list)) {
      needs->failed = true;
      return;
    }
    needs->capacity = more;
  }
  needs->list[needs->count++] = (trs_need){task, thread, end};
}

/* The number of thread u's tasks that must be done before position end - 1 is solved. */
static int32_t tasks_to(const trs_schedule *s, int u, int64_t end) {
  const int64_t first = s->task_ptr[u];
  return (
      int32_t)(trs_search(&s->tasks->end, true, sizeof *s->tasks, first, s->task_ptr[u + 1], end) -
               first + 1);
}

/* The waits of every task, without those that an earlier wait of the same thread implies. */
static trs_status place_waits(trs_schedule *s, const trs_needs *needs, int32_t *reached) {
  int64_t capacity = 1024;
  TRS_TRY(TRS_ALLOC(&s->waits, capacity));
  for (int t = 0; t < s->threads; t++) {
    int64_t next = 0; /* of the thread's needs; its list is NULL if it has none */
    memset(reached, 0, (size_t)s->threads * sizeof *reached);
    for (int64_t k = s->task_ptr[t]; k < s->task_ptr[t + 1]; k++) {
      s->tasks[k].wait = s->nwaits;
      for (; next < needs[t].count && needs[t].list[next].task == k; next++) {
        const trs_need *need = &needs[t].list[next];
        int32_t tasks = tasks_to(s, need->thread, need->end);
        if (tasks <= reached[need->thread]) continue;
        reached[need->thread] = tasks;
        if (s->nwaits == capacity) {
          capacity *= 2;
          TRS_TRY(trs_realloc((void **)&s->waits, capacity, sizeof *s->waits));
        }
        s->waits[s->nwaits++] = (trs_wait){need->thread, tasks};
      }
      s->tasks[k].wait_end = s->nwaits;
    }
  }
  return TRS_SUCCESS;
}

/* Merges a task with the one before it, unless it has a wait or another thread waits for the
 * boundary between them. */
static void join_tasks(trs_schedule *s, const bool *awaited, int32_t *renumber) {
  int64_t out = 0;
  for (int t = 0; t < s->threads; t++) {
    int64_t begin = s->task_ptr[t], end = s->task_ptr[t + 1], first = out;
    s->task_ptr[t] = out;
    for (int64_t k = begin; k < end; k++) {
      trs_task task = s->tasks[k];
      if (out > first && task.wait == task.wait_end && !awaited[k - 1])
        s->tasks[out - 1].end = task.end;
      else
        s->tasks[out++] = task;
      renumber[k] = (int32_t)(out - first);
    }
  }
  s->task_ptr[s->threads] = out;
}

trs_status trs_schedule_wait(trs_schedule *s, const trs_needs *needs) {
  for (int t = 0; t < s->threads; t++)
    if (needs[t].failed) {
      TRS_TRY(trs_cancelled());
      return trs_fail(TRS_ERROR_MEMORY, -1, "out of memory for what threads need of each other");
    }
  int64_t ntasks = s->task_ptr[s->threads];
  int32_t *reached = NULL, *renumber = NULL;
  int64_t *old_ptr = NULL;
  bool *awaited = NULL;
  trs_status status =
      TRS_ALLOC_ALL(TRS_ROOM(&reached, s->threads), TRS_ROOM(&renumber, ntasks),
                    TRS_ROOM(&old_ptr, s->threads + 1), TRS_ZEROS(&awaited, ntasks));
  if (!status) status = place_waits(s, needs, reached);
  if (!status) {
    memcpy(old_ptr, s->task_ptr, (size_t)(s->threads + 1) * sizeof *old_ptr);
    for (int64_t w = 0; w < s->nwaits; w++)
      awaited[old_ptr[s->waits[w].thread] + s->waits[w].tasks - 1] = true;
    join_tasks(s, awaited, renumber);
    for (int64_t w = 0; w < s->nwaits; w++)
      s->waits[w].tasks = renumber[old_ptr[s->waits[w].thread] + s->waits[w].tasks - 1];
  }
  TRS_FREE_ALL(reached, renumber, old_ptr, awaited);
  return status;
}

/* The flags k to k + 7 below n, which no thread writes any more: a byte of 1 for each that is set.
 */
static uint64_t flags_at(const _Atomic bool *flag, int64_t k, int64_t n) {
  uint64_t flags = 0;
  memcpy(&flags, (const void *)(flag + k), n - k < 8 ? (size_t)(n - k) : 8);
  return flags;
}

trs_status trs_schedule_find_read(trs_schedule *s, const _Atomic bool *is_read) {
  int64_t count = 0;
  for (int64_t k = 0; k < s->n; k += 8) count += __builtin_popcountll(flags_at(is_read, k, s->n));
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&s->read, count), TRS_ROOM(&s->read_ptr, s->threads + 1)));
  count = 0;
  for (int t = 0; t < s->threads; t++) {
    s->read_ptr[t] = count;
    for (int64_t k = s->first[t]; k < s->first[t + 1]; k += 8)
      if (flags_at(is_read, k, s->first[t + 1]))
        for (int64_t e = k; e < k + 8 && e < s->first[t + 1]; e++)
          if (atomic_load_explicit(&is_read[e], memory_order_relaxed))
            s->read[count++] = (int32_t)e;
  }
  s->read_ptr[s->threads] = count;
  return TRS_SUCCESS;
}
