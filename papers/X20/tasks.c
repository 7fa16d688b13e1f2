/* tasks.c - assigns components to members: contiguous blocks, or X20's task pool.  O(tasks). */
#include "X20/tasks.h"

#include <string.h>

#include "base/memory.h"

/* Free memory is rounded to sixteenths of the largest, so that GPUs with nearly equal memory
 * alternate. */
enum { PARTS = 16 };

static void weigh(int32_t *weight, int members, const int64_t *room) {
  int64_t most = 1;
  for (int m = 0; room && m < members; m++)
    if (room[m] > most) most = room[m];
  for (int m = 0; m < members; m++)
    weight[m] = room ? (int32_t)((double)room[m] / (double)most * PARTS + 0.5) : PARTS;
}

/* The member that gets the next task: the one whose share, relative to its memory, would be the
 * smallest with one more. */
static int32_t next_member(const trs_tasks *t, const int32_t *weight) {
  int32_t best = -1;
  for (int32_t m = 0; m < t->members; m++) {
    if (weight[m] == 0) continue;
    if (best < 0 ||
        (int64_t)(t->held[m] + 1) * weight[best] < (int64_t)(t->held[best] + 1) * weight[m])
      best = m;
  }
  return best < 0 ? 0 : best;
}

static void fill(trs_tasks *t, int32_t k, int32_t member) {
  int64_t first = k * t->size, last = first + t->size;
  if (first > t->n) first = t->n;
  if (last > t->n) last = t->n;
  t->task[k] = (trs_component_task){.begin = t->lower ? first : t->n - last,
                                    .end = t->lower ? last : t->n - first,
                                    .local = t->own[member],
                                    .member = member};
  t->own[member] += last - first;
  t->held[member]++;
}

trs_status trs_tasks_create(trs_tasks *t, int64_t n, bool lower, int members, int64_t count,
                            const int64_t *room) {
  int32_t weight[TRS_MOST_MEMBERS];
  const bool pool = count > 0;
  if (!pool) count = members;
  memset(t, 0, sizeof *t);
  t->n = n;
  t->lower = lower;
  t->members = members;
  t->count = (int32_t)count;
  t->size = (n + count - 1) / count;
  if (t->size == 0) t->size = 1;
  TRS_TRY(TRS_ALLOC(&t->task, count));
  weigh(weight, members, room);
  for (int32_t k = 0; k < t->count; k++) fill(t, k, pool ? next_member(t, weight) : k);
  return TRS_SUCCESS;
}

void trs_tasks_destroy(trs_tasks *t) {
  trs_free(t->task);
  t->task = NULL;
}
