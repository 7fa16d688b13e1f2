/* kernels.c - the copy in schedule order is filled, and swept. */
#include "solve/threads/kernels.h"

#include <string.h>

typedef struct range {
  int64_t begin, end;
} range;

static inline __attribute__((always_inline)) void wait_for_tasks(const trs_threads_state *s,
                                                                 const trs_task *task) {
  for (int64_t w = task->wait; w < task->wait_end; w++) {
    const trs_wait *it = &s->schedule.waits[w];
    int64_t goal = (s->solves << 32) + it->tasks;
    unsigned turns = 0;
    while (atomic_load_explicit(&s->done[it->thread].value, memory_order_acquire) < goal)
      trs_spin(&turns);
  }
}

#define TRS_TEMPLATE "solve/threads/threads_tmpl.c"
#include "base/instantiate.h"

const trs_threads_kernels TRS_ISA_NAME(trs_threads_kernels) = {
    .fill_rows = TRS_TABLE(fill_rows),
    .fill_columns = TRS_TABLE(fill_columns),
    .sweep = TRS_TABLE(sweep),
};
