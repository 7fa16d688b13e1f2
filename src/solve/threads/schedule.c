/* schedule.c - dealing rows and placing waits.  O(n + levels x threads). */
#include "solve/threads/schedule.h"

#include <string.h>

int64_t trs_schedule_part_work = 256;

/* One part of one level: rows order[begin .. end) for a thread. */
typedef struct part {
  int64_t begin, end;
  int32_t thread;
} part;

typedef struct dealer {
  const int32_t *order, *length;
  int threads;
  part *parts;
  int64_t nparts;
  int32_t home; /* the thread that takes narrow levels: it had the last one, so waits for nobody */
} dealer;

static int64_t work_of(const dealer *d, int64_t at) {
  return d->length[d->order[at]] + TRS_ROW_WORK;
}

/* Cuts rows order[begin .. end) into count parts of about equal work. */
static void cut_level(dealer *d, int64_t begin, int64_t end, int64_t total, int count) {
  int64_t at = begin, done = 0;
  for (int t = 0; t < count; t++) {
    part *p = &d->parts[d->nparts++];
    p->begin = at;
    p->thread = t;
    int64_t goal = total * (t + 1) / count;
    while (at < end && (t == count - 1 || done + work_of(d, at) / 2 < goal))
      done += work_of(d, at++);
    p->end = at;
  }
}

static void deal_level(dealer *d, int64_t begin, int64_t end) {
  int64_t total = 0;
  for (int64_t at = begin; at < end; at++) total += work_of(d, at);
  int64_t count = total / trs_schedule_part_work;
  if (count > d->threads) count = d->threads;
  if (count > end - begin) count = end - begin;
  if (count > 1)
    cut_level(d, begin, end, total, (int)count);
  else
    d->parts[d->nparts++] = (part){begin, end, d->home};
}

/* Positions by thread, then by level: a counting sort of the parts. */
static void number(trs_schedule *s, const dealer *d) {
  memset(s->first, 0, (size_t)(s->threads + 1) * sizeof *s->first);
  memset(s->task_ptr, 0, (size_t)(s->threads + 1) * sizeof *s->task_ptr);
  for (int64_t k = 0; k < d->nparts; k++) {
    s->first[d->parts[k].thread + 1] += d->parts[k].end - d->parts[k].begin;
    s->task_ptr[d->parts[k].thread + 1]++;
  }
  for (int t = 0; t < s->threads; t++) {
    s->first[t + 1] += s->first[t];
    s->task_ptr[t + 1] += s->task_ptr[t];
  }
  for (int64_t k = 0; k < d->nparts; k++) {
    const part *p = &d->parts[k];
    int64_t at = s->first[p->thread];
    s->tasks[s->task_ptr[p->thread]++] = (trs_task){.begin = at, .end = at + p->end - p->begin};
    for (int64_t q = p->begin; q < p->end; q++) {
      s->position[d->order[q]] = (int32_t)at;
      s->row[at++] = d->order[q];
    }
    s->first[p->thread] = at;
  }
  for (int t = s->threads; t > 0; t--) {
    s->first[t] = s->first[t - 1];
    s->task_ptr[t] = s->task_ptr[t - 1];
  }
  s->first[0] = s->task_ptr[0] = 0;
}

trs_status trs_schedule_deal(trs_schedule *s, const trs_levels *levels, const int32_t *length,
                             int threads) {
  dealer d = {.length = length, .threads = threads};
  int32_t *order = NULL;
  int64_t most_parts = (int64_t)levels->count * threads;
  if (most_parts > levels->n) most_parts = levels->n;
  *s = (trs_schedule){.threads = threads, .n = levels->n};
  trs_status status = TRS_ALLOC(&s->row, s->n);
  if (!status) status = TRS_ALLOC(&s->position, s->n);
  if (!status) status = TRS_ALLOC(&s->first, threads + 1);
  if (!status) status = TRS_ALLOC(&s->task_ptr, threads + 1);
  if (!status) status = TRS_ALLOC(&order, s->n);
  if (!status) status = TRS_ALLOC(&d.parts, most_parts);
  if (!status) {
    trs_levels_order(levels, order);
    d.order = order;
    for (int32_t k = 0; k < levels->count; k++) {
      int64_t before = d.nparts;
      deal_level(&d, levels->ptr[k], levels->ptr[k + 1]);
      s->split_levels += d.nparts > before + 1;
    }
    status = TRS_ALLOC(&s->tasks, d.nparts);
  }
  if (!status) number(s, &d);
  trs_free(order);
  trs_free(d.parts);
  if (status) trs_schedule_destroy(s);
  return status;
}

void trs_schedule_destroy(trs_schedule *s) {
  trs_free(s->row);
  trs_free(s->position);
  trs_free(s->first);
  trs_free(s->task_ptr);
  trs_free(s->tasks);
  trs_free(s->waits);
  *s = (trs_schedule){0};
}

/* How many of thread u's tasks must be done before position end - 1 is. */
static int32_t tasks_to(const trs_schedule *s, int u, int64_t end) {
  int64_t low = s->task_ptr[u], high = s->task_ptr[u + 1];
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (s->tasks[middle].end >= end)
      high = middle;
    else
      low = middle + 1;
  }
  return (int32_t)(low - s->task_ptr[u] + 1);
}

/* The waits of every task that an earlier wait of the same thread does not imply. */
static trs_status place_waits(trs_schedule *s, const int64_t *needs, int32_t *reached) {
  int64_t capacity = 1024;
  TRS_TRY(TRS_ALLOC(&s->waits, capacity));
  for (int t = 0; t < s->threads; t++) {
    memset(reached, 0, (size_t)s->threads * sizeof *reached);
    for (int64_t k = s->task_ptr[t]; k < s->task_ptr[t + 1]; k++) {
      s->tasks[k].wait = s->nwaits;
      for (int u = 0; u < s->threads; u++) {
        int64_t end = needs[k * s->threads + u];
        if (u == t || end == 0) continue;
        int32_t tasks = tasks_to(s, u, end);
        if (tasks <= reached[u]) continue;
        reached[u] = tasks;
        if (s->nwaits == capacity) {
          capacity *= 2;
          TRS_TRY(trs_realloc((void **)&s->waits, capacity, sizeof *s->waits));
        }
        s->waits[s->nwaits++] = (trs_wait){u, tasks};
      }
      s->tasks[k].wait_end = s->nwaits;
    }
  }
  return TRS_SUCCESS;
}

/* Joins a task to the one before it unless it waits or somebody waits for the border between. */
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

trs_status trs_schedule_wait(trs_schedule *s, const int64_t *needs) {
  int64_t ntasks = s->task_ptr[s->threads];
  int32_t *reached = NULL, *renumber = NULL;
  int64_t *old_ptr = NULL;
  bool *awaited = NULL;
  trs_status status = TRS_ALLOC(&reached, s->threads);
  if (!status) status = TRS_ALLOC(&renumber, ntasks);
  if (!status) status = TRS_ALLOC(&old_ptr, s->threads + 1);
  if (!status) status = TRS_ALLOC_ZERO(&awaited, ntasks);
  if (!status) status = place_waits(s, needs, reached);
  if (!status) {
    memcpy(old_ptr, s->task_ptr, (size_t)(s->threads + 1) * sizeof *old_ptr);
    for (int64_t w = 0; w < s->nwaits; w++)
      awaited[old_ptr[s->waits[w].thread] + s->waits[w].tasks - 1] = true;
    join_tasks(s, awaited, renumber);
    for (int64_t w = 0; w < s->nwaits; w++)
      s->waits[w].tasks = renumber[old_ptr[s->waits[w].thread] + s->waits[w].tasks - 1];
  }
  trs_free(reached);
  trs_free(renumber);
  trs_free(old_ptr);
  trs_free(awaited);
  return status;
}
