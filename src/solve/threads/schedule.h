/* schedule.h - the assignment of rows to threads and their order: the pattern part of the threads
 * method.
 *
 * Rows are dealt level by level.  A wide level is cut into one part per thread, equal in work; a
 * narrow level goes whole to one thread.  Each thread's rows have consecutive positions in the
 * order of their solution, so that all streamed data are contiguous.  Its list of rows is cut into
 * tasks. Before a task a thread waits until other threads have completed the tasks that it depends
 * on, unless an earlier wait implies this: no barriers are needed.  Deadlock is impossible, because
 * every wait is for rows of lower levels and lists are in level order.
 *
 * Sources: level scheduling, Anderson & Saad 1989; point-to-point waits instead of barriers,
 * without the redundant ones, Park, Smelyanskiy, Sundaram, Dubey 2014. */
#ifndef TRS_SOLVE_THREADS_SCHEDULE_H
#define TRS_SOLVE_THREADS_SCHEDULE_H

#include "analysis/levels.h"

typedef struct trs_wait {
  int32_t thread; /* the thread to wait for */
  int32_t tasks;  /* the number of tasks it must have completed */
} trs_wait;

typedef struct trs_task {
  int64_t begin, end;     /* positions */
  int64_t wait, wait_end; /* waits[wait .. wait_end) precede it */
} trs_task;

typedef struct trs_schedule {
  int threads;
  int64_t n;
  int32_t *row;      /* n: the row at each position */
  int32_t *position; /* n: the position of each row */
  int64_t *first;    /* threads + 1: thread t owns positions first[t] .. first[t + 1] */
  int64_t *entries;  /* threads + 1: off-diagonal entries before the rows of each thread */
  int64_t *task_ptr; /* threads + 1 */
  trs_task *tasks;   /* by thread, in its order */
  trs_wait *waits;
  int64_t nwaits, split_levels;
} trs_schedule;

/* Work of a row in units of one entry: its entries plus a constant per row. */
enum { TRS_ROW_WORK = 3 };

/* The least work of a part: what a thread computes in the time of a few waits for another.  Tests
 * reduce it so that small systems are split. */
extern int64_t trs_schedule_part_work;

/* The work of level k, and the number of parts it is cut into. */
int64_t trs_level_work(const trs_levels *levels, int32_t k);
int32_t trs_level_parts(const trs_levels *levels, int32_t k, int threads);

/* Deals rows to threads and assigns positions; each task is one level and has no waits yet. */
trs_status trs_schedule_deal(trs_schedule *schedule, const trs_levels *levels,
                             const int32_t *length, int threads);

/* A task reads positions of another thread up to end - 1. */
typedef struct trs_need {
  int64_t task;
  int32_t thread, end;
} trs_need;

/* The positions of other threads that the tasks of one thread read, in task order: only those
 * beyond all earlier ones, because these imply the rest.  A chain has none. */
typedef struct trs_needs {
  _Alignas(64) int32_t *furthest; /* threads: largest end of a need so far, or 0 */
  int64_t *last;                  /* threads: index of that need in the list */
  trs_need *list;
  int64_t count, capacity;
  bool failed; /* the list could not grow: no memory */
} trs_needs;

trs_status trs_needs_create(trs_needs **needs, int threads); /* one for each thread */
void trs_needs_destroy(trs_needs *needs, int threads);
void trs_need_further(trs_needs *needs, int64_t task, int thread, int32_t end);

/* Records that a task reads a position of another thread. */
static inline void trs_note_need(const trs_schedule *schedule, trs_needs *needs, int64_t task,
                                 int32_t position) {
  int u = 0;
  while (position >= schedule->first[u + 1]) u++;
  if (needs->furthest[u] <= position) trs_need_further(needs, task, u, position + 1);
}

/* Converts the needs of all threads to waits, drops redundant ones and merges tasks that no other
 * thread distinguishes. */
trs_status trs_schedule_wait(trs_schedule *schedule, const trs_needs *needs);

void trs_schedule_destroy(trs_schedule *schedule);

#endif
