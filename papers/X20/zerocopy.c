/* zerocopy.c - X20 Algorithm 3 as two methods: with the task pool, and with contiguous blocks. */
#include "base/memory.h"
#include "X20/multi.h"
#include "X20/zerocopy.h"

typedef struct zerocopy_state {
  trs_multi multi;
  int32_t *initial[TRS_MOST_MEMBERS]; /* n each: initial in_degree of a solve; device memory */
  trs_symmetric in_degree, left_sum;
} zerocopy_state;

enum { DEFAULT_TASKS = 8 };

static trs_status count_member(void *work, int member) {
  trs_plan *plan = work;
  zerocopy_state *z = plan->state;
  trs_portion *portion = &z->multi.portion[member];
  int64_t n = plan->system.n;
  TRS_TRY(trs_zerocopy_load(plan->system.scalar));
  TRS_TRY(TRS_DEVICE_ALLOC(portion->device, &z->initial[member], n, portion->stream));
  return trs_multi_count(plan, member, z->initial[member]);
}

static trs_status build(trs_plan *plan, trs_multi_tasks tasks) {
  zerocopy_state *z = plan->state;
  const trs_system *S = &plan->system;
  TRS_TRY(trs_multi_open(plan, tasks));
  TRS_TRY(trs_group_alloc(z->multi.group, &z->in_degree, S->n * (int64_t)sizeof(int32_t)));
  TRS_TRY(trs_group_alloc(z->multi.group, &z->left_sum,
                          S->n * z->multi.width * (int64_t)trs_scalar_size(S->scalar)));
  return trs_multi_each(plan, count_member);
}

static trs_status analyze_pool(trs_plan *plan) {
  zerocopy_state *z;
  TRS_TRY(TRS_ALLOC_ZERO(&z, 1));
  plan->state = z;
  trs_multi_tasks tasks = {.each = DEFAULT_TASKS};
  TRS_TRY(trs_multi_parameters(plan, &tasks));
  return build(plan, tasks);
}

static trs_status analyze_block(trs_plan *plan) {
  zerocopy_state *z;
  TRS_TRY(TRS_ALLOC_ZERO(&z, 1));
  plan->state = z;
  return build(plan, (trs_multi_tasks){0});
}

static trs_status restore(trs_plan *plan, int member, int64_t width) {
  zerocopy_state *z = plan->state;
  trs_portion *portion = &z->multi.portion[member];
  int64_t n = plan->system.n, size = (int64_t)trs_scalar_size(plan->system.scalar);
  TRS_TRY(trs_device_copy(z->in_degree.base[member], z->initial[member],
                          n * (int64_t)sizeof(int32_t), portion->stream));
  return trs_device_fill(z->left_sum.base[member], 0, n * width * size, portion->stream);
}

static trs_status launch(trs_plan *plan, const trs_component_launch *part, trs_stream stream) {
  const zerocopy_state *z = plan->state;
  trs_zerocopy s = {.part = *part, .lanes = 1};
  while (s.lanes < part->members) s.lanes *= 2;
  for (int m = 0; m < part->members; m++) {
    s.in_degree[m] = z->in_degree.base[m];
    s.left_sum[m] = z->left_sum.base[m];
  }
  return trs_zerocopy_sweep(&s, stream);
}

static trs_status solve(trs_plan *plan, const trs_rhs *rhs) {
  static const trs_multi_solver solver = {restore, launch};
  return trs_multi_solve(plan, rhs, &solver);
}

static int64_t bytes(const trs_plan *plan) {
  const zerocopy_state *z = plan->state;
  int64_t each = z->in_degree.bytes + z->left_sum.bytes + plan->system.n * 4;
  return trs_multi_bytes(&z->multi, &plan->system) + trs_group_local(z->multi.group) * each;
}

static void describe(const trs_plan *plan, char *text, size_t size) {
  trs_multi_describe(&((const zerocopy_state *)plan->state)->multi, text, size);
}

static void free_state(trs_plan *plan) {
  zerocopy_state *z = plan->state;
  if (!z) return;
  trs_group *group = z->multi.group;
  for (int m = 0; m < TRS_MOST_MEMBERS; m++)
    if (z->initial[m])
      trs_device_free(z->multi.portion[m].device, z->initial[m], z->multi.portion[m].stream);
  if (group) {
    trs_group_free(group, &z->left_sum);
    trs_group_free(group, &z->in_degree);
  }
  trs_multi_free(&z->multi);
  trs_free(z);
}

#define ZEROCOPY \
  TRS_MULTI_METHOD, .solve = solve, .bytes = bytes, .describe = describe, .free = free_state

const trs_method trs_method_zerocopy = {
    .name = "zerocopy", ZEROCOPY, .parameters = true, .analyze = analyze_pool};

const trs_method trs_method_zerocopy_block = {
    .name = "zerocopy-block", ZEROCOPY, .analyze = analyze_block};
