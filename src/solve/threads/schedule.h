/* schedule.h - who solves which rows when: the pattern part of the threads method.
 *
 * Rows are dealt level by level.  A wide level is cut into one part a thread, equal in work; a
 * narrow one goes whole to one thread.  Each thread's rows are numbered in one stretch of
 * positions, in the order it solves them, so that everything it streams is contiguous; and its
 * list of rows is cut into tasks.  Before a task a thread waits until other threads have passed
 * the tasks it depends on, and only where an earlier wait did not imply it: no barriers.
 * Deadlock-free, for every wait is for rows of lower levels and lists are in level order.
 *
 * Sources: level scheduling, Anderson & Saad 1989; point-to-point waits in place of barriers and
 * without the redundant ones, Park, Smelyanskiy, Sundaram, Dubey 2014. */
#ifndef TRS_SOLVE_THREADS_SCHEDULE_H
#define TRS_SOLVE_THREADS_SCHEDULE_H

#include "analysis/levels.h"

typedef struct trs_wait {
  int32_t thread; /* whose progress */
  int32_t tasks;  /* must have reached this many tasks */
} trs_wait;

typedef struct trs_task {
  int64_t begin, end;     /* positions */
  int64_t wait, wait_end; /* waits[wait .. wait_end) come before it */
} trs_task;

typedef struct trs_schedule {
  int threads;
  int64_t n;
  int32_t *row;      /* n: the row at each position */
  int32_t *position; /* n: the position of each row */
  int64_t *first;    /* threads + 1: thread t owns positions first[t] .. first[t + 1] */
  int64_t *entries;  /* threads + 1: off-diagonal entries before thread t's rows */
  int64_t *task_ptr; /* threads + 1 */
  trs_task *tasks;   /* by thread, in its order */
  trs_wait *waits;
  int64_t nwaits, split_levels;
} trs_schedule;

/* Work of a row in units of one entry: its entries and a constant for the row itself. */
enum { TRS_ROW_WORK = 3 };

/* The least work worth a part of its own: what a thread does while it could have waited for
 * another a few times.  Tests lower it to have small systems split. */
extern int64_t trs_schedule_part_work;

/* The work of level k, and the parts it is cut into. */
int64_t trs_level_work(const trs_levels *levels, int32_t k);
int32_t trs_level_parts(const trs_levels *levels, int32_t k, int threads);

/* Deals rows to threads and positions; tasks are one level each and have no waits yet. */
trs_status trs_schedule_deal(trs_schedule *schedule, const trs_levels *levels,
                             const int32_t *length, int threads);

/* A task reads positions of a thread, of which end - 1 is the last. */
typedef struct trs_need {
  int64_t task;
  int32_t thread, end;
} trs_need;

/* What the tasks of one thread, gone through in order, read of the others': only what lies further
 * than anything before, for the rest is implied.  A chain has none. */
typedef struct trs_needs {
  _Alignas(64) int32_t *furthest; /* threads: end of the last need of each, or 0 */
  int64_t *last;                  /* threads: its place in the list */
  trs_need *list;
  int64_t count, capacity;
  bool failed; /* the list found no memory */
} trs_needs;

trs_status trs_needs_create(trs_needs **needs, int threads); /* one for each thread */
void trs_needs_destroy(trs_needs *needs, int threads);
void trs_need_further(trs_needs *needs, int64_t task, int thread, int32_t end);

/* Notes that a task reads a position of another thread. */
static inline void trs_note_need(const trs_schedule *schedule, trs_needs *needs, int64_t task,
                                 int32_t position) {
  int u = 0;
  while (position >= schedule->first[u + 1]) u++;
  if (needs->furthest[u] <= position) trs_need_further(needs, task, u, position + 1);
}

/* Turns the needs of all threads into waits, drops those implied and joins tasks nobody has to tell
 * apart. */
trs_status trs_schedule_wait(trs_schedule *schedule, const trs_needs *needs);

void trs_schedule_destroy(trs_schedule *schedule);

#endif
