/* schedule.h - the assignment of rows to threads and their order: the pattern part of the threads
 * method.
 *
 * Rows are dealt step by step; a step is a level, or a superstep of grow.h.  The rows of a step are
 * cut into at most one part per thread, and rows of different parts do not depend on each other.  A
 * wide level is cut into parts of equal work; a narrow level goes whole to one thread.  Each
 * thread's rows have consecutive positions in the order of their solution, so that all streamed
 * data are contiguous.  Its list of rows is cut into tasks. Before a task a thread waits until
 * other threads have completed the tasks that it depends on, unless an earlier wait implies this:
 * no barriers are needed.  Deadlock is impossible, because every wait is for rows of earlier steps
 * and lists are in the order of the steps.
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
  int64_t entry;          /* off-diagonal entries at all positions before begin */
  int64_t part;           /* the first part in it */
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
  int64_t nwaits;
  int32_t *read;     /* the positions that other threads read, ascending; NULL: not asked for */
  int64_t *read_ptr; /* threads + 1: those of each thread */
} trs_schedule;

/* Work of a row in units of one entry: its entries plus a constant per row. */
enum { TRS_ROW_WORK = 3 };

/* The least work of a part: what a thread computes in the time of a few waits for another.  Tests
 * reduce it so that small systems are split. */
extern int64_t trs_schedule_part_work;

/* The schedule of a system with fewer entries is filled by one thread, since the others would wake
 * too late.  Tests set 0. */
extern int64_t trs_schedule_alone;

/* One part of one step: becomes one task of one thread. */
typedef struct trs_step_part {
  int64_t rows, work;
  int32_t thread;
} trs_step_part;

/* All parts, in the order of the steps. */
typedef struct trs_parts {
  trs_step_part *part;
  int64_t count, capacity;
  int32_t *of;                /* n: the part of each row */
  int64_t steps, split_steps; /* split: of several parts */
  int64_t span;               /* the work of the largest parts of all steps, and of the waits */
  bool natural;               /* supersteps: a part's rows are in natural order */
  bool given_up;              /* supersteps: not every row has a part (grow.h) */
} trs_parts;

void trs_parts_destroy(trs_parts *parts);

/* Work that a thread does during the waits of one step, whose last thread decides
 * (docs/experiments/cpu.md). */
static inline int64_t trs_wait_work(int threads) { return 150 + 40 * (int64_t)threads; }

/* The span of the step whose first part is `first`, and whose last one is the last of all. */
int64_t trs_step_span(const trs_parts *parts, int64_t first, int threads);

/* The work of level k, and the number of parts it is cut into. */
int64_t trs_level_work(const trs_levels *levels, int32_t k);
int32_t trs_level_parts(const trs_levels *levels, int32_t k, int threads);

/* The span of the schedule in which every step is a level.  percent: of the usual time of a row. */
int64_t trs_level_span(const trs_levels *levels, int threads, int percent);

/* Every step is a level.  length: off-diagonal entries per row. */
trs_status trs_level_all_parts(trs_parts *parts, const trs_levels *levels, const int32_t *length,
                               int threads);

/* Assigns positions; each task is one part and has no waits yet. */
trs_status trs_schedule_create(trs_schedule *schedule, const trs_parts *parts, const trs_system *S,
                               int threads);

/* A task reads positions of another thread up to end - 1. */
typedef struct trs_need {
  int64_t task;
  int32_t thread, end;
} trs_need;

/* The positions of other threads that the tasks of one thread read, in task order: only those
 * beyond all earlier ones, because these imply the rest.  A chain has none. */
typedef struct trs_needs {
  _Alignas(64) int32_t *furthest; /* threads: largest end of a need so far, or 0 */
  trs_need *list;
  int64_t count, capacity;
  bool failed; /* the list could not grow: no memory */
} trs_needs;

trs_status trs_needs_create(trs_needs **needs, int threads); /* one for each thread */
void trs_needs_destroy(trs_needs *needs, int threads);

/* Records that a task, the last one or a later one, reads positions of another thread up to end
 * - 1.
 */
void trs_note_need(trs_needs *needs, int64_t task, int thread, int32_t end);

/* Converts the needs of all threads to waits, drops redundant ones and merges tasks that no other
 * thread distinguishes. */
trs_status trs_schedule_wait(trs_schedule *schedule, const trs_needs *needs);

/* Finds the positions that other threads read.  is_read: n flags. */
trs_status trs_schedule_find_read(trs_schedule *schedule, const _Atomic bool *is_read);

void trs_schedule_destroy(trs_schedule *schedule);

#endif
