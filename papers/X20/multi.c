/* multi.c - analysis, solves and failures of X20's methods, on the host. */
#include "X20/multi.h"

#include <math.h>
#include <stdio.h>

#include "device/fault.h"
#include "analysis/system.h"
#include "base/memory.h"
#include "device/shared.h"
#include "matrix/stage.h"
#include "solve/cuda/transpose.h"

_Static_assert((int)TRS_COMPONENT_MEMBERS == (int)TRS_MOST_MEMBERS, "as many members everywhere");

uint64_t trs_multi_wait_limit = TRS_WAIT_LIMIT;

enum {
  MOST_WIDTH = 32,  /* right-hand sides solved together, each with a sum per member */
  MOST_TASKS = 1024 /* per member */
};

static trs_multi *multi_of(const trs_plan *plan) { return plan->state; }

trs_status trs_multi_each(trs_plan *plan, trs_member_step step) {
  trs_group *group = multi_of(plan)->group;
  return trs_group_agree(group, trs_group_each(group, step, plan));
}

trs_status trs_multi_count(trs_plan *plan, int member, int32_t *in_degree) {
  const trs_multi *m = multi_of(plan);
  trs_stream stream = m->portion[member].stream;
  TRS_TRY(trs_device_fill(in_degree, 0, plan->system.n * (int64_t)sizeof *in_degree, stream));
  for (int32_t k = 0; k < m->tasks.count; k++) {
    const trs_component_task *task = &m->tasks.task[k];
    if (task->member != member || task->begin == task->end) continue;
    trs_component_launch part = trs_multi_launch_of(plan, k, 1, false);
    TRS_TRY(trs_component_count(&part, in_degree, stream));
  }
  return trs_device_wait(stream);
}

/* ---- Upload: to every member its own columns, task by task. ---- */

static int64_t place_columns(const trs_tasks *t, int member, const int64_t *ptr, int64_t *local) {
  int64_t nnz = 0, own = 0;
  for (int32_t k = 0; k < t->count; k++) {
    if (t->task[k].member != member) continue;
    for (int64_t i = t->task[k].begin; i < t->task[k].end; i++) {
      local[own++] = nnz;
      nnz += ptr[i + 1] - ptr[i];
    }
  }
  local[own] = nnz;
  return nnz;
}

static trs_status load_owners(trs_portion *s, const trs_tasks *t) {
  int32_t *owner;
  TRS_TRY(TRS_DEVICE_ALLOC(s->device, &s->owner, t->count, s->stream));
  TRS_TRY(TRS_ALLOC(&owner, t->count));
  for (int32_t k = 0; k < t->count; k++) owner[k] = t->task[k].member;
  trs_status status =
      trs_device_copy(s->owner, owner, t->count * (int64_t)sizeof *owner, s->stream);
  if (!status) status = trs_device_wait(s->stream);
  trs_free(owner);
  return status;
}

static trs_status load_pattern(trs_multi *m, trs_portion *s, const trs_tasks *t, int member,
                               const trs_system *c, int64_t *local) {
  s->nnz = place_columns(t, member, c->ptr, local);
  TRS_TRY(TRS_DEVICE_ALLOC(s->device, &s->ptr, t->own[member] + 1, s->stream));
  TRS_TRY(TRS_DEVICE_ALLOC(s->device, &s->idx, s->nnz, s->stream));
  TRS_TRY(TRS_DEVICE_ALLOC(s->device, &s->ticket, t->count, s->stream));
  TRS_TRY(load_owners(s, t));
  TRS_TRY(trs_device_alloc_host(s->device, (void **)&s->told));
  TRS_TRY(trs_device_copy(s->ptr, local, (t->own[member] + 1) * (int64_t)sizeof *local, s->stream));
  *s->told = (trs_component_fault){.limit = trs_multi_wait_limit};
  TRS_TRY(trs_device_copy(m->fault.base[member], s->told, sizeof *s->told, s->stream));
  for (int32_t k = 0; k < t->count; k++) {
    const trs_component_task *task = &t->task[k];
    if (task->member != member) continue;
    int64_t from = c->ptr[task->begin], count = c->ptr[task->end] - from;
    TRS_TRY(trs_device_copy(s->idx + local[task->local], c->idx + from,
                            count * (int64_t)sizeof *s->idx, s->stream));
  }
  return trs_device_wait(s->stream);
}

static trs_status load_values(trs_portion *s, const trs_tasks *t, int member, const trs_system *c) {
  int64_t size = (int64_t)trs_scalar_size(c->scalar), at = 0;
  if (!s->val) TRS_TRY(trs_device_alloc(s->device, &s->val, s->nnz, (size_t)size, s->stream));
  for (int32_t k = 0; k < t->count; k++) {
    const trs_component_task *task = &t->task[k];
    if (task->member != member) continue;
    int64_t from = c->ptr[task->begin], count = c->ptr[task->end] - from;
    TRS_TRY(trs_device_copy((char *)s->val + at * size, (const char *)c->val + from * size,
                            count * size, s->stream));
    at += count;
  }
  if (c->conj && trs_scalar_is_complex(c->scalar))
    TRS_TRY(trs_gpu_conjugate(s->val, s->nnz, c->scalar, s->stream));
  return trs_device_wait(s->stream);
}

typedef struct load_work {
  trs_plan *plan;
  trs_host_system columns;
  bool pattern;
} load_work;

static trs_status load_member(void *argument, int member) {
  const load_work *work = argument;
  const trs_system *c = &work->columns.S;
  trs_multi *m = multi_of(work->plan);
  trs_portion *s = &m->portion[member];
  int64_t *local = NULL;
  trs_status status = TRS_SUCCESS;
  if (work->pattern) status = TRS_ALLOC(&local, m->tasks.own[member] + 1);
  if (work->pattern && !status) status = load_pattern(m, s, &m->tasks, member, c, local);
  if (!status) status = load_values(s, &m->tasks, member, c);
  trs_free(local);
  return status;
}

static trs_status load(trs_plan *plan, bool pattern) {
  trs_group *group = multi_of(plan)->group;
  load_work work = {.plan = plan, .pattern = pattern};
  trs_status status =
      trs_host_system_create(&work.columns, &plan->system, plan->matrix, false, true, plan->stream);
  if (!status) status = trs_group_each(group, load_member, &work);
  trs_host_system_destroy(&work.columns);
  return trs_group_agree(group, status);
}

/* ---- Opening ---- */

typedef struct room_work {
  const trs_group *group;
  int64_t room[TRS_MOST_MEMBERS];
} room_work;

static trs_status ask_room(void *argument, int member) {
  room_work *work = argument;
  TRS_TRY(trs_device_room(trs_group_device(work->group, member), &work->room[member]));
  work->room[member] /= trs_group_sharers(work->group, member);
  return TRS_SUCCESS;
}

static trs_status deal(trs_plan *plan, trs_multi_tasks tasks) {
  trs_multi *m = multi_of(plan);
  room_work work = {.group = m->group};
  TRS_TRY(trs_group_agree(m->group, trs_group_each(m->group, ask_room, &work)));
  TRS_TRY(trs_group_exchange(m->group, work.room, sizeof *work.room));
  const int members = trs_group_members(m->group);
  const int64_t count = tasks.total ? tasks.total : tasks.each * members;
  return trs_group_agree(m->group, trs_tasks_create(&m->tasks, plan->system.n, plan->system.lower,
                                                    members, count, work.room));
}

static trs_status open_locked(trs_plan *plan, trs_multi_tasks tasks) {
  trs_multi *m = multi_of(plan);
  int64_t most = 0, nrhs = plan->options.nrhs;
  m->width = nrhs < 1 ? 1 : nrhs < MOST_WIDTH ? nrhs : MOST_WIDTH;
  const int first = trs_group_first(m->group), end = first + trs_group_local(m->group);
  for (int k = first; k < end; k++) {
    m->portion[k].device = trs_group_device(m->group, k);
    m->portion[k].stream = trs_group_stream(m->group, k);
  }
  TRS_TRY(deal(plan, tasks));
  for (int k = 0; k < m->tasks.members; k++)
    if (m->tasks.own[k] > most) most = m->tasks.own[k];
  TRS_TRY(trs_group_alloc(m->group, &m->fault, sizeof(trs_component_fault)));
  TRS_TRY(trs_group_alloc(m->group, &m->stage,
                          most * m->width * (int64_t)trs_scalar_size(plan->system.scalar)));
  return load(plan, true);
}

trs_status trs_multi_parameters(const trs_plan *plan, trs_multi_tasks *tasks) {
  const trs_parameter table[] = {
      {.key = "tasks", .most = MOST_TASKS, .value = &tasks->each},
      {.key = "total", .most = MOST_TASKS * TRS_MOST_MEMBERS, .value = &tasks->total}};
  return trs_parameters_read(plan, table, sizeof table / sizeof table[0]);
}

trs_status trs_multi_open(trs_plan *plan, trs_multi_tasks tasks) {
  trs_multi *m = multi_of(plan);
  m->group = trs_group_retain(plan->context->group);
  trs_group_lock(m->group);
  trs_status status = open_locked(plan, tasks);
  trs_group_unlock(m->group);
  return status;
}

trs_status trs_multi_update(trs_plan *plan) {
  trs_multi *m = multi_of(plan);
  trs_group_lock(m->group);
  trs_status status = load(plan, false);
  trs_group_unlock(m->group);
  return status;
}

static trs_status free_portion(void *multi, int member) {
  trs_portion *s = &((trs_multi *)multi)->portion[member];
  if (!s->device) return TRS_SUCCESS;
  trs_device_free(s->device, s->ptr, s->stream);
  trs_device_free(s->device, s->idx, s->stream);
  trs_device_free(s->device, s->val, s->stream);
  trs_device_free(s->device, s->ticket, s->stream);
  trs_device_free(s->device, s->owner, s->stream);
  (void)trs_device_wait(s->stream);
  trs_device_free_host(s->device, s->told);
  return TRS_SUCCESS;
}

void trs_multi_free(trs_multi *m) {
  if (!m->group) return;
  (void)trs_group_each(m->group, free_portion, m);
  trs_group_free(m->group, &m->stage);
  trs_group_free(m->group, &m->fault);
  trs_tasks_destroy(&m->tasks);
  trs_group_close(m->group);
}

/* ---- Solving ---- */

/* Columns of the caller's arrays, and of each member's stage, which holds the member's own
 * components. */
typedef struct tile {
  const trs_rhs *rhs;
  int64_t first, width;
} tile;

static bool by_rows(const tile *T) { return T->rhs->x_row != 1 || T->rhs->b_row != 1; }

/* A task's part of the arrays of `member`, a member of this process. */
static trs_span span_of(const trs_plan *plan, const tile *T, const trs_component_task *task,
                        int member) {
  const trs_multi *m = multi_of(plan);
  const trs_rhs rhs = trs_rhs_of_member(T->rhs, member - trs_group_first(m->group));
  const trs_span s = trs_span_of(&rhs, plan->system.n, plan->system.scalar, T->first, T->width);
  return trs_span_rows(&s, task->begin, task->end, m->tasks.own[task->member]);
}

static char *stage_of(const trs_multi *m, const trs_component_task *task, const trs_span *s) {
  return (char *)m->stage.base[task->member] + trs_span_row_at(s, task->local);
}

static trs_status bring(const trs_plan *plan, const tile *T) {
  const trs_multi *m = multi_of(plan);
  for (int32_t k = 0; k < m->tasks.count; k++) {
    const trs_component_task *task = &m->tasks.task[k];
    const trs_portion *portion = &m->portion[task->member];
    if (!portion->device || task->begin == task->end) continue;
    const trs_span s = span_of(plan, T, task, task->member);
    int before = trs_device_enter(portion->device);
    trs_status status = trs_span_bring(&s, stage_of(m, task, &s), portion->stream);
    trs_device_leave(before);
    TRS_TRY(status);
  }
  return TRS_SUCCESS;
}

/* Every process receives all of x, including that of other processes' members; if x is spread, it
 * receives only its own members' part. */
static trs_status take(const trs_plan *plan, const tile *T) {
  const trs_multi *m = multi_of(plan);
  for (int32_t k = 0; k < m->tasks.count; k++) {
    const trs_component_task *task = &m->tasks.task[k];
    const bool own = m->portion[task->member].device;
    const int member = own ? task->member : trs_group_first(m->group);
    if ((!own && T->rhs->x_of) || task->begin == task->end) continue;
    const trs_span s = span_of(plan, T, task, member);
    int before = trs_device_enter(m->portion[member].device);
    trs_status status = trs_span_take(&s, stage_of(m, task, &s), m->portion[member].stream);
    trs_device_leave(before);
    TRS_TRY(status);
  }
  return TRS_SUCCESS;
}

trs_component_launch trs_multi_launch_of(const trs_plan *plan, int index, int64_t width,
                                         bool row_major) {
  const trs_multi *m = multi_of(plan);
  const trs_component_task *task = &m->tasks.task[index];
  const trs_portion *portion = &m->portion[task->member];
  int64_t own = m->tasks.own[task->member];
  int blocks = trs_device_look(portion->device)->multiprocessors;
  blocks /= trs_group_sharers(m->group, task->member);
  trs_component_launch part = {.n = plan->system.n,
                               .scalar = plan->system.scalar,
                               .lower = plan->system.lower,
                               .unit = plan->system.unit,
                               .has_diagonal = plan->system.has_diagonal,
                               .members = m->tasks.members,
                               .me = task->member,
                               .ptr = portion->ptr,
                               .idx = portion->idx,
                               .val = portion->val,
                               .begin = task->begin,
                               .end = task->end,
                               .local = task->local,
                               .owner = portion->owner,
                               .task_size = m->tasks.size,
                               .ticket = portion->ticket + index,
                               .x = m->stage.base[task->member],
                               .row = row_major ? width : 1,
                               .col = row_major ? 1 : own,
                               .width = width,
                               .blocks = blocks < 1 ? 1 : blocks};
  for (int k = 0; k < part.members; k++) part.fault[k] = m->fault.base[k];
  return part;
}

typedef struct restore_work {
  trs_plan *plan;
  const trs_multi_solver *solver;
  int64_t width;
} restore_work;

static trs_status restore(void *argument, int member) {
  const restore_work *work = argument;
  const trs_multi *m = multi_of(work->plan);
  const trs_portion *portion = &m->portion[member];
  TRS_TRY(trs_device_fill(portion->ticket, 0, m->tasks.count * (int64_t)sizeof *portion->ticket,
                          portion->stream));
  return work->solver->restore(work->plan, member, work->width);
}

/* In task order: a launch may wait in a queue for earlier launches, and these include everything
 * that it depends on. */
static trs_status launch_all(trs_plan *plan, const trs_multi_solver *solver, const tile *T) {
  trs_multi *m = multi_of(plan);
  for (int32_t k = 0; k < m->tasks.count; k++) {
    trs_portion *portion = &m->portion[m->tasks.task[k].member];
    if (!portion->device || m->tasks.task[k].begin == m->tasks.task[k].end) continue;
    trs_component_launch part = trs_multi_launch_of(plan, k, T->width, by_rows(T));
    int before = trs_device_enter(portion->device);
    trs_status status = solver->launch(plan, &part, portion->stream);
    trs_device_leave(before);
    TRS_TRY(status);
  }
  return TRS_SUCCESS;
}

/* A failure that any local member reports. */
static trs_status tell(void *plan, int member) {
  const trs_multi *m = multi_of(plan);
  const trs_portion *portion = &m->portion[member];
  uint64_t told = portion->told->told;
  if (!told) return TRS_SUCCESS;
  int64_t row = (int64_t)(told & UINT32_MAX);
  int who = (int)(told >> 32) - 1;
  char gpu[32] = "";
  if (who >= 0 && who < m->tasks.members && m->portion[who].device)
    snprintf(gpu, sizeof gpu, " (GPU %d)", trs_device_look(m->portion[who].device)->ordinal);
  return trs_fail(TRS_ERROR_STALLED, row,
                  "member %d%s: row %lld waited more than %.3g s for the rows it depends on "
                  "(0-based); x is not complete, analyse anew",
                  who, gpu, (long long)row, 1e-9 * (double)portion->told->limit);
}

/* The same in stream order, after the member's earlier work. */
static trs_status finish_member(void *plan, int member) {
  trs_multi *m = multi_of(plan);
  trs_portion *portion = &m->portion[member];
  TRS_TRY(trs_device_copy(portion->told, m->fault.base[member], sizeof *portion->told,
                          portion->stream));
  TRS_TRY(trs_group_wait(m->group, portion->stream, m->fault.base[member]));
  return tell(plan, member);
}

static trs_status await_member(void *plan, int member) {
  trs_multi *m = multi_of(plan);
  return trs_group_wait(m->group, m->portion[member].stream, m->fault.base[member]);
}

/* All members synchronise before counts are restored, because some may still read those of the
 * previous solve. */
static trs_status solve_tile(trs_plan *plan, const trs_multi_solver *solver, const tile *T) {
  trs_multi *m = multi_of(plan);
  trs_group *group = m->group;
  TRS_TRY(trs_group_fence(group));
  restore_work work = {plan, solver, T->width};
  trs_status status = trs_group_each(group, restore, &work);
  if (!status) status = bring(plan, T);
  TRS_TRY(trs_group_agree(group, status));
  TRS_TRY(trs_group_fence(group));
  status = launch_all(plan, solver, T);
  if (!trs_group_one_process(group)) TRS_TRY(trs_group_agree(group, status));
  if (!trs_group_one_process(group)) status = trs_multi_each(plan, await_member);
  if (!status) status = take(plan, T);
  trs_status finished = trs_multi_each(plan, finish_member);
  return trs_group_agree(group, status ? status : finished);
}

static trs_status await_caller(void *of, int member) {
  const trs_plan *plan = of;
  return trs_device_wait(plan->member_stream[member - trs_group_first(multi_of(plan)->group)]);
}

/* Waits for the work that makes b, and that reads x of a solve before. */
static trs_status await_arrays(trs_plan *plan, const trs_rhs *rhs) {
  if (rhs->x_of && plan->member_stream) return trs_multi_each(plan, await_caller);
  if (rhs->x_of || trs_device_address(rhs->b) || trs_device_address(rhs->x))
    return trs_device_wait(plan->stream);
  return TRS_SUCCESS;
}

static trs_status solve_locked(trs_plan *plan, const trs_rhs *rhs, const trs_multi_solver *solver) {
  trs_multi *m = multi_of(plan);
  TRS_TRY(trs_group_agree(m->group, await_arrays(plan, rhs)));
  for (int64_t first = 0; first < rhs->nrhs; first += m->width) {
    const int64_t left = rhs->nrhs - first;
    const tile T = {rhs, first, left < m->width ? left : m->width};
    TRS_TRY(solve_tile(plan, solver, &T));
  }
  return TRS_SUCCESS;
}

trs_status trs_multi_solve(trs_plan *plan, const trs_rhs *rhs, const trs_multi_solver *solver) {
  trs_multi *m = multi_of(plan);
  if (trs_device_capturing(plan->stream))
    return trs_fail(
        TRS_ERROR_UNSUPPORTED, -1,
        "%s waits for its launches, so that a solve cannot become part of a graph: push "
        "and columns can",
        plan->method->name);
  trs_group_lock(m->group);
  trs_status status = trs_multi_each(plan, tell); /* after a stall the plan stays unusable */
  if (!status) status = solve_locked(plan, rhs, solver);
  trs_group_unlock(m->group);
  return status;
}

/* ---- Functions that the methods' tables share. ---- */

/* Tasks are ascending in a forward sweep, descending in a backward one. */
trs_status trs_multi_share(const trs_plan *plan, int member, int64_t nrhs, trs_plan_share *share,
                           int64_t *rows) {
  const trs_tasks *t = &multi_of(plan)->tasks;
  *share = (trs_plan_share){.nrows = t->own[member], .ncolumns = t->own[member] ? nrhs : 0};
  int64_t count = 0;
  for (int32_t turn = 0; rows && turn < t->count; turn++) {
    const trs_component_task *task = &t->task[plan->system.lower ? turn : t->count - 1 - turn];
    for (int64_t i = task->begin; task->member == member && i < task->end; i++) rows[count++] = i;
  }
  return TRS_SUCCESS;
}

int64_t trs_multi_bytes(const trs_multi *m, const trs_system *S) {
  int64_t total = 0;
  for (int k = 0; k < m->tasks.members; k++)
    if (m->portion[k].device)
      total += (m->tasks.own[k] + 1) * 8 +
               m->portion[k].nnz * (4 + (int64_t)trs_scalar_size(S->scalar)) + m->tasks.count * 8 +
               m->stage.bytes + m->fault.bytes;
  return total;
}

void trs_multi_describe(const trs_multi *m, char *text, size_t size) {
  const trs_tasks *t = &m->tasks;
  const char *how = trs_group_one_process(m->group) ? "peer memory" : "NVSHMEM";
  if (t->count == t->members)
    snprintf(text, size, "%d members (%s), a block of %lld components each, a warp per component",
             t->members, how, (long long)t->size);
  else
    snprintf(text, size,
             "%d members (%s), %d tasks of %lld components in turn, a warp per component",
             t->members, how, t->count, (long long)t->size);
}
