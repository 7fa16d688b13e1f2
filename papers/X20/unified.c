/* unified.c - X20 Algorithm 2 as a method: contiguous blocks, or the task pool. */
#include "base/memory.h"
#include "device/shared.h"
#include "X20/multi.h"
#include "X20/unified.h"

typedef struct unified_state {
  trs_multi multi;
  int32_t *s_in_degree; /* managed memory, both */
  void *s_left_sum;
  int32_t *initial; /* initial s_in_degree of a solve; memory of member 0 */
  int32_t *d_in_degree[TRS_MOST_MEMBERS];
  void *d_left_sum[TRS_MOST_MEMBERS];
} unified_state;

static const char *refuses(const trs_plan *plan) {
  if (trs_group_one_process(plan->context->group)) return NULL;
  return "managed memory is shared within one process only: take a context such as \"cuda:0-3\"";
}

static trs_status make_room(void *work, int member) {
  trs_plan *plan = work;
  unified_state *u = plan->state;
  trs_portion *s = &u->multi.portion[member];
  int64_t n = plan->system.n;
  size_t size = trs_scalar_size(plan->system.scalar);
  TRS_TRY(trs_unified_load(plan->system.scalar));
  TRS_TRY(TRS_DEVICE_ALLOC(s->device, &u->d_in_degree[member], n, s->stream));
  TRS_TRY(trs_device_alloc(s->device, &u->d_left_sum[member], n * u->multi.width, size, s->stream));
  if (member > 0) return TRS_SUCCESS;
  TRS_TRY(TRS_DEVICE_ALLOC(s->device, &u->initial, n, s->stream));
  return trs_device_fill(u->s_in_degree, 0, n * (int64_t)sizeof *u->s_in_degree, s->stream);
}

static trs_status count_member(void *work, int member) {
  trs_plan *plan = work;
  unified_state *u = plan->state;
  for (int32_t k = 0; k < u->multi.tasks.count; k++) {
    const trs_component_task *task = &u->multi.tasks.task[k];
    if (task->member != member || task->begin == task->end) continue;
    trs_component_launch part = trs_multi_launch_of(plan, k, 1, false);
    TRS_TRY(trs_component_count(&part, u->s_in_degree, u->multi.portion[member].stream));
  }
  return trs_device_wait(u->multi.portion[member].stream);
}

static trs_status keep_counts(void *work, int member) {
  trs_plan *plan = work;
  unified_state *u = plan->state;
  trs_stream stream = u->multi.portion[member].stream;
  if (member > 0) return TRS_SUCCESS;
  TRS_TRY(trs_device_copy(u->initial, u->s_in_degree, plan->system.n * (int64_t)sizeof *u->initial,
                          stream));
  return trs_device_wait(stream);
}

/* Memory that the GPUs of all members, which are in this process, reach. */
static trs_status allocate_managed(const trs_group *group, void **pointer, int64_t bytes) {
  *pointer = NULL;
  for (int m = 0; m < trs_group_members(group); m++)
    TRS_TRY(trs_device_check_managed(trs_group_device(group, m), bytes));
  return trs_device_alloc_managed(trs_group_device(group, 0), pointer, bytes);
}

static trs_status analyze(trs_plan *plan) {
  unified_state *u;
  const trs_system *S = &plan->system;
  TRS_TRY(TRS_ALLOC_ZERO(&u, 1));
  plan->state = u;
  trs_multi_tasks tasks = {0};
  TRS_TRY(trs_multi_parameters(plan, &tasks));
  TRS_TRY(trs_multi_open(plan, tasks));
  trs_group *group = u->multi.group;
  TRS_TRY(
      allocate_managed(group, (void **)&u->s_in_degree, S->n * (int64_t)sizeof *u->s_in_degree));
  TRS_TRY(allocate_managed(group, &u->s_left_sum,
                           S->n * u->multi.width * (int64_t)trs_scalar_size(S->scalar)));
  TRS_TRY(trs_multi_each(plan, make_room));
  TRS_TRY(trs_group_fence(group));
  TRS_TRY(trs_multi_each(plan, count_member));
  return trs_multi_each(plan, keep_counts);
}

/* Member 0 restores the shared arrays. */
static trs_status restore(trs_plan *plan, int member, int64_t width) {
  unified_state *u = plan->state;
  trs_stream stream = u->multi.portion[member].stream;
  int64_t n = plan->system.n, counts = n * (int64_t)sizeof(int32_t);
  int64_t sums = n * width * (int64_t)trs_scalar_size(plan->system.scalar);
  TRS_TRY(trs_device_fill(u->d_in_degree[member], 0, counts, stream));
  TRS_TRY(trs_device_fill(u->d_left_sum[member], 0, sums, stream));
  if (member > 0) return TRS_SUCCESS;
  TRS_TRY(trs_device_copy(u->s_in_degree, u->initial, counts, stream));
  return trs_device_fill(u->s_left_sum, 0, sums, stream);
}

static trs_status launch(trs_plan *plan, const trs_component_launch *part, trs_stream stream) {
  const unified_state *u = plan->state;
  const trs_unified s = {.part = *part,
                         .s_in_degree = u->s_in_degree,
                         .s_left_sum = u->s_left_sum,
                         .d_in_degree = u->d_in_degree[part->me],
                         .d_left_sum = u->d_left_sum[part->me]};
  return trs_unified_sweep(&s, stream);
}

static trs_status solve(trs_plan *plan, const trs_rhs *rhs) {
  static const trs_multi_solver solver = {restore, launch};
  return trs_multi_solve(plan, rhs, &solver);
}

static int64_t bytes(const trs_plan *plan) {
  const unified_state *u = plan->state;
  const trs_system *S = &plan->system;
  int64_t each = S->n * (4 + u->multi.width * (int64_t)trs_scalar_size(S->scalar));
  return trs_multi_bytes(&u->multi, S) + (u->multi.tasks.members + 1) * each;
}

static void describe(const trs_plan *plan, char *text, size_t size) {
  trs_multi_describe(&((const unified_state *)plan->state)->multi, text, size);
}

static trs_status free_member(void *state, int m) {
  unified_state *u = state;
  const trs_portion *s = &u->multi.portion[m];
  if (!s->device) return TRS_SUCCESS;
  trs_device_free(s->device, u->d_in_degree[m], s->stream);
  trs_device_free(s->device, u->d_left_sum[m], s->stream);
  if (m == 0) trs_device_free(s->device, u->initial, s->stream);
  return trs_device_wait(s->stream);
}

static void free_state(trs_plan *plan) {
  unified_state *u = plan->state;
  if (!u) return;
  if (u->multi.group) {
    (void)trs_group_each(u->multi.group, free_member, u);
    trs_device_free_managed(u->s_left_sum);
    trs_device_free_managed(u->s_in_degree);
  }
  trs_multi_free(&u->multi);
  trs_free(u);
}

const trs_method trs_method_unified = {
    .name = "unified",
    TRS_MULTI_METHOD,
    .parameters = true,
    .refuses = refuses,
    .solve = solve,
    TRS_METHOD_STATE,
};
