/* tasks.h - the components of a sweep, dealt to the members of a group (X20, section V).
 *
 * Tasks are runs of components of equal size, numbered in the order of the sweep.  Without a task
 * pool there is one for each member. */
#ifndef TRS_SOLVE_MULTIGPU_TASKS_H
#define TRS_SOLVE_MULTIGPU_TASKS_H

#include <stdbool.h>

#include "base/status.h"
#include "comm/group.h"

typedef struct trs_task {
  int64_t begin, end; /* components, by their own numbers; empty where the components run out */
  int64_t local;      /* place of component begin among those of its member */
  int32_t member;
} trs_task;

typedef struct trs_tasks {
  int64_t n, size; /* components, and those of a task */
  bool lower;      /* a forward sweep: the first task has component 0, else the last component */
  int32_t members, count;
  trs_task *task;                 /* count */
  int64_t own[TRS_MOST_MEMBERS];  /* components of each member */
  int32_t held[TRS_MOST_MEMBERS]; /* tasks of each member */
} trs_tasks;

/* each: tasks for each member on average, dealt round-robin in proportion to room, the bytes that
 * each member's GPU has free (NULL: equal).  0: one contiguous block of components for each. */
trs_status trs_tasks_create(trs_tasks *tasks, int64_t n, bool lower, int members, int64_t each,
                            const int64_t *room);
void trs_tasks_destroy(trs_tasks *tasks);

/* The task that has a component. */
static inline int64_t trs_task_of(int64_t component, int64_t n, int64_t size, bool lower) {
  return (lower ? component : n - 1 - component) / size;
}

#endif
