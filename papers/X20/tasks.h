/* tasks.h - assigns the components of a sweep to the members of a group (X20, section V).
 *
 * Tasks are runs of components of equal size, numbered in the order of the sweep.  Without a task
 * pool each member has one task. */
#ifndef TRS_X20_TASKS_H
#define TRS_X20_TASKS_H

#include <stdbool.h>

#include "base/status.h"
#include "comm/group.h"

typedef struct trs_component_task {
  int64_t begin, end; /* range of components; empty past the last component */
  int64_t local;      /* index of component begin among those of its member */
  int32_t member;
} trs_component_task;

typedef struct trs_tasks {
  int64_t n, size; /* number of components, and of components per task */
  bool lower;      /* a forward sweep: the first task has component 0, else the last component */
  int32_t members, count;
  trs_component_task *task;       /* count */
  int64_t own[TRS_MOST_MEMBERS];  /* components of each member */
  int32_t held[TRS_MOST_MEMBERS]; /* tasks of each member */
} trs_tasks;

/* count: the number of tasks in all, dealt round-robin in proportion to room, the free bytes of
 * each member's GPU (NULL: equal).  0: one contiguous block of components per member. */
trs_status trs_tasks_create(trs_tasks *tasks, int64_t n, bool lower, int members, int64_t count,
                            const int64_t *room);
void trs_tasks_destroy(trs_tasks *tasks);

#endif
