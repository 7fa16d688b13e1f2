/* get_update_put.c - X20's Get-Update-Put (IV-B) as a method: contiguous blocks, or the task pool.
 */
#include "X20/get_update_put.h"

#include "X20/multi.h"
#include "base/memory.h"

typedef struct gup_state {
  trs_multi multi;
  trs_symmetric s_in_degree, s_left_sum, lock;
  trs_symmetric counted;             /* in-degrees from each member's own columns */
  int32_t *others[TRS_MOST_MEMBERS]; /* device memory: in-degrees from the columns of the others */
  int32_t *d_in_degree[TRS_MOST_MEMBERS];
  void *d_left_sum[TRS_MOST_MEMBERS];
  uint32_t *turn[TRS_MOST_MEMBERS];
} gup_state;

static trs_status make_room(trs_plan *plan) {
  gup_state *g = plan->state;
  trs_group *group = g->multi.group;
  int64_t n = plan->system.n, counts = n * (int64_t)sizeof(int32_t);
  TRS_TRY(trs_group_alloc(group, &g->s_in_degree, counts));
  TRS_TRY(trs_group_alloc(group, &g->counted, counts));
  TRS_TRY(trs_group_alloc(group, &g->lock, sizeof(uint32_t)));
  return trs_group_alloc(group, &g->s_left_sum,
                         n * g->multi.width * (int64_t)trs_scalar_size(plan->system.scalar));
}

static trs_status count_member(void *work, int member) {
  trs_plan *plan = work;
  gup_state *g = plan->state;
  const trs_portion *s = &g->multi.portion[member];
  int64_t n = plan->system.n;
  TRS_TRY(trs_get_update_put_load(plan->system.scalar));
  TRS_TRY(TRS_DEVICE_ALLOC(s->device, &g->others[member], n, s->stream));
  TRS_TRY(TRS_DEVICE_ALLOC(s->device, &g->d_in_degree[member], n, s->stream));
  TRS_TRY(trs_device_alloc(s->device, &g->d_left_sum[member], n * g->multi.width,
                           trs_scalar_size(plan->system.scalar), s->stream));
  TRS_TRY(TRS_DEVICE_ALLOC(s->device, &g->turn[member], TRS_MOST_MEMBERS, s->stream));
  return trs_multi_count(plan, member, g->counted.base[member]);
}

static trs_status gather_member(void *work, int member) {
  trs_plan *plan = work;
  gup_state *g = plan->state;
  const trs_portion *s = &g->multi.portion[member];
  for (int32_t k = 0; k < g->multi.tasks.count; k++) {
    const trs_component_task *task = &g->multi.tasks.task[k];
    if (task->member != member || task->begin == task->end) continue;
    trs_get_update_put_counts c = {.part = trs_multi_launch_of(plan, k, 1, false),
                                   .others = g->others[member]};
    for (int m = 0; m < c.part.members; m++) c.counted[m] = g->counted.base[m];
    TRS_TRY(trs_get_update_put_gather(&c, s->stream));
  }
  return trs_device_wait(s->stream);
}

static trs_status analyze(trs_plan *plan) {
  gup_state *g;
  trs_multi_tasks tasks = {0};
  TRS_TRY(TRS_ALLOC_ZERO(&g, 1));
  plan->state = g;
  TRS_TRY(trs_multi_parameters(plan, &tasks));
  TRS_TRY(trs_multi_open(plan, tasks));
  TRS_TRY(make_room(plan));
  TRS_TRY(trs_multi_each(plan, count_member));
  return trs_multi_each(plan, gather_member);
}

static trs_status restore(trs_plan *plan, int member, int64_t width) {
  gup_state *g = plan->state;
  trs_stream stream = g->multi.portion[member].stream;
  int64_t n = plan->system.n, counts = n * (int64_t)sizeof(int32_t);
  int64_t sums = n * width * (int64_t)trs_scalar_size(plan->system.scalar);
  TRS_TRY(trs_device_copy(g->s_in_degree.base[member], g->others[member], counts, stream));
  TRS_TRY(trs_device_copy(g->d_in_degree[member], g->counted.base[member], counts, stream));
  TRS_TRY(trs_device_fill(g->s_left_sum.base[member], 0, sums, stream));
  TRS_TRY(trs_device_fill(g->d_left_sum[member], 0, sums, stream));
  TRS_TRY(trs_device_fill(g->lock.base[member], 0, sizeof(uint32_t), stream));
  return trs_device_fill(g->turn[member], 0, TRS_MOST_MEMBERS * (int64_t)sizeof(uint32_t), stream);
}

static trs_status launch(trs_plan *plan, const trs_component_launch *part, trs_stream stream) {
  const gup_state *g = plan->state;
  trs_get_update_put s = {.part = *part,
                          .d_in_degree = g->d_in_degree[part->me],
                          .d_left_sum = g->d_left_sum[part->me],
                          .turn = g->turn[part->me]};
  for (int m = 0; m < part->members; m++) {
    s.s_in_degree[m] = g->s_in_degree.base[m];
    s.s_left_sum[m] = g->s_left_sum.base[m];
    s.lock[m] = g->lock.base[m];
  }
  return trs_get_update_put_sweep(&s, stream);
}

static trs_status solve(trs_plan *plan, const trs_rhs *rhs) {
  static const trs_multi_solver solver = {restore, launch};
  return trs_multi_solve(plan, rhs, &solver);
}

static int64_t bytes(const trs_plan *plan) {
  const gup_state *g = plan->state;
  const trs_system *S = &plan->system;
  int64_t each = g->s_in_degree.bytes + g->counted.bytes + 2 * g->s_left_sum.bytes + S->n * 8;
  return trs_multi_bytes(&g->multi, S) + trs_group_local(g->multi.group) * each;
}

static void describe(const trs_plan *plan, char *text, size_t size) {
  trs_multi_describe(&((const gup_state *)plan->state)->multi, text, size);
}

static trs_status free_member(void *state, int m) {
  gup_state *g = state;
  const trs_portion *s = &g->multi.portion[m];
  if (!s->device) return TRS_SUCCESS;
  trs_device_free(s->device, g->others[m], s->stream);
  trs_device_free(s->device, g->d_in_degree[m], s->stream);
  trs_device_free(s->device, g->d_left_sum[m], s->stream);
  trs_device_free(s->device, g->turn[m], s->stream);
  return trs_device_wait(s->stream);
}

static void free_state(trs_plan *plan) {
  gup_state *g = plan->state;
  if (!g) return;
  trs_group *group = g->multi.group;
  if (group) {
    (void)trs_group_each(group, free_member, g);
    trs_group_free(group, &g->s_left_sum);
    trs_group_free(group, &g->lock);
    trs_group_free(group, &g->counted);
    trs_group_free(group, &g->s_in_degree);
  }
  trs_multi_free(&g->multi);
  trs_free(g);
}

const trs_method trs_method_get_update_put = {
    .name = "get-update-put",
    TRS_MULTI_METHOD,
    .parameters = true,
    .solve = solve,
    TRS_METHOD_STATE,
};
