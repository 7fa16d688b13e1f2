/* columns.c - `columns`: distributes the right-hand sides of one system over several GPUs, each of
 * which holds the whole plan of the one-GPU engine.
 *
 * A member solves its columns in place if they are in its own memory.  Other columns come to it and
 * go back in blocks, through two buffers, so that one block is copied while another is solved. If
 * all columns are in the first member's memory, the link limits the speed, and the first member
 * keeps more columns than the others.
 *
 * Arrays in device memory: one thread launches everything without waiting, and the members' blocks
 * are copied one after the other, so that the first are solved while others are copied.  Arrays on
 * the host: one thread per member, because copies from and to pageable memory block their thread.
 * With one process per GPU each has b, solves its own columns into memory that all can read, and
 * copies the other columns from there. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "device/shared.h"
#include "plan/parameters.h"
#include "matrix/stage.h"
#include "solve/multigpu/alone.h"

enum { MOST_BLOCK = 128, MANY = 32 };

typedef struct member {
  trs_device *device; /* NULL: another process runs it */
  trs_stream stream;  /* of solves */
  trs_stage stage;    /* for columns in other memory */
  trs_device_event *done;
  trs_device_event *start; /* of a solve; in one stream all members follow the first one's */
  trs_plan *plan;          /* the engine's plan */
} member;

typedef struct columns_state {
  trs_group *group;
  int members, first; /* first: of the members that this process runs */
  bool one_process;
  int64_t block, remote; /* parameters: columns per block, 0: chosen; remote: enum */
  /* Seconds per column: if many are solved together, if one block is, and for its copy over the
   * link; 0: unknown. */
  double many, few, link;
  member *member;
  trs_symmetric shared; /* several processes: TRS_SLOTS stages of shared_width columns per member */
  int64_t shared_width, turn;
} columns_state;

enum { REMOTE_COPY, REMOTE_DIRECT };

/* Data that the members of a call share. */
typedef struct joint_work {
  trs_plan *plan;
  columns_state *c;
  const trs_rhs *rhs;
  const trs_stream *streams; /* of the caller, one per member; NULL: one for all */
  trs_passage passage[TRS_MOST_MEMBERS];
  trs_device_event *last; /* all members on one thread: the last block copied in */
} joint_work;

/* ---- Analysis. ---- */

static trs_status read_parameters(columns_state *c, const trs_plan *plan) {
  static const char *const ways[] = {"copy", "direct", NULL};
  const trs_parameter table[] = {{"block", NULL, 1, MOST_BLOCK, &c->block},
                                 {"remote", ways, 0, 0, &c->remote}};
  return trs_parameters_read(plan, table, sizeof table / sizeof table[0]);
}

static trs_status open_member(member *m, const trs_group *group, int number) {
  m->device = trs_group_device(group, number);
  m->stream = trs_group_stream(group, number);
  m->stage.device = m->device;
  TRS_TRY(trs_stage_overlap(&m->stage));
  TRS_TRY(trs_device_event_create(m->device, &m->start));
  return trs_device_event_create(m->device, &m->done);
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t shared_out(int64_t count, int members) { return (count + members - 1) / members; }

/* Columns per block: the parameter, or a quarter of a member's columns, at least 8 and at most 32.
 */
static int64_t block_width(const columns_state *c, int64_t columns) {
  enum { BLOCKS = 4, FEW = 8 };
  int64_t width = c->block > 0 ? c->block : columns / BLOCKS;
  if (c->block == 0) width = width < FEW ? FEW : least(width, MANY);
  return least(width, columns);
}

static trs_status analyze_member(void *argument, int which) {
  joint_work *work = argument;
  trs_plan *plan = work->plan;
  member *m = &work->c->member[which];
  int64_t nrhs = shared_out(plan->options.nrhs, work->c->members);
  if (nrhs < work->c->block) nrhs = work->c->block;
  TRS_TRY(trs_alone_create(&m->plan, plan, m->device, m->stream, nrhs, false));
  if (plan->options.nrhs <= 1 || m->device == work->c->member[0].device || !work->c->one_process)
    return TRS_SUCCESS;
  const int64_t width = block_width(work->c, nrhs);
  const int64_t row = width * (int64_t)trs_scalar_size(plan->system.scalar);
  return trs_stage_need(&m->stage, plan->system.n * row, m->stream);
}

/* Measures the time per column of a large and of a small number of columns, and estimates its time
 * on the link.  They determine the first member's share if all columns are in its memory.  If
 * memory does not suffice for the measurement, all members get equal shares. */
static trs_status weigh(const trs_plan *plan, columns_state *c) {
  const int64_t n = plan->system.n, most = shared_out(plan->options.nrhs, c->members);
  const int64_t many = least(most, MANY), few = block_width(c, most);
  int64_t room = 0;
  if (n == 0 || c->members == 1 || most < 2 || !c->one_process) return TRS_SUCCESS;
  const int64_t column = n * (int64_t)trs_scalar_size(plan->system.scalar);
  if (trs_device_room(c->member[0].device, &room) || room < 2 * many * column) return TRS_SUCCESS;
  const trs_alone_arrays first = {.device = {c->member[0].device}, .count = 1};
  TRS_TRY(trs_alone_time(c->member[0].plan, &first, many, &c->many));
  TRS_TRY(trs_alone_time(c->member[0].plan, &first, few, &c->few));
  c->many /= (double)many;
  c->few /= (double)few;
  c->link = (double)column / trs_context_gpu_costs(plan->context)->link_bandwidth;
  return TRS_SUCCESS;
}

static trs_status open_members(columns_state *c) {
  const int end = c->first + trs_group_local(c->group);
  TRS_TRY(TRS_ALLOC_ZERO(&c->member, trs_group_members(c->group)));
  c->members = trs_group_members(c->group);
  for (int m = c->first; m < end; m++) TRS_TRY(open_member(&c->member[m], c->group, m));
  return TRS_SUCCESS;
}

static trs_status analyze(trs_plan *plan) {
  columns_state *c;
  TRS_TRY(TRS_ALLOC_ZERO(&c, 1));
  plan->state = c;
  c->group = plan->context->group;
  c->first = trs_group_first(c->group);
  c->one_process = trs_group_one_process(c->group);
  trs_status status = read_parameters(c, plan);
  if (!status) status = open_members(c);
  joint_work work = {.plan = plan, .c = c};
  if (!status)
    status = trs_group_each_by_team(c->group, plan->context->team, analyze_member, &work);
  if (!status) status = weigh(plan, c);
  return trs_group_agree(c->group, status);
}

static trs_status update_member(void *argument, int which) {
  joint_work *work = argument;
  return trs_alone_update(work->c->member[which].plan, work->plan);
}

static trs_status update(trs_plan *plan) {
  columns_state *c = plan->state;
  joint_work work = {.plan = plan, .c = c};
  return trs_group_agree(
      c->group, trs_group_each_by_team(c->group, plan->context->team, update_member, &work));
}

/* ---- Solving. ---- */

static trs_status advance(trs_passage *p, const member *m) {
  TRS_TRY(trs_passage_bring(p));
  TRS_TRY(trs_plan_solve(m->plan, &p->here.rhs));
  return trs_passage_take(p);
}

static trs_status open_passage(joint_work *work, int which, int64_t first, int64_t end) {
  const trs_system *S = &work->plan->system;
  member *m = &work->c->member[which];
  trs_passage *p = &work->passage[which];
  *p = (trs_passage){.all = trs_span_of(work->rhs, S->n, S->scalar, 0, work->rhs->nrhs),
                     .at = first,
                     .end = end,
                     .width = block_width(work->c, end - first),
                     .stage = &m->stage,
                     .stream = m->stream};
  TRS_TRY(trs_stage_need(&m->stage, S->n * p->width * p->all.size, m->stream));
  return trs_device_event_follow(work->c->member[work->c->first].start, m->stage.in);
}

static trs_status solve_in_place(const trs_plan *plan, member *m, const trs_rhs *rhs, int64_t first,
                                 int64_t end) {
  const trs_rhs own = trs_rhs_columns(rhs, plan->system.scalar, first, end - first);
  return trs_plan_solve(m->plan, &own);
}

/* Solves the member's own columns in place. */
static trs_status solve_own(const trs_rhs *rhs, member *m, int first, int which, int64_t columns) {
  trs_rhs own = trs_rhs_of_member(rhs, which - first);
  own.nrhs = columns;
  return trs_plan_solve(m->plan, &own);
}

static bool lies_on(const trs_rhs *rhs, const trs_device *device) {
  const int ordinal = trs_device_look(device)->ordinal;
  return rhs->x_gpu == ordinal && rhs->b_gpu == ordinal;
}

static bool all_with_first(const columns_state *c, const trs_rhs *rhs) {
  return c->one_process && !rhs->x_of && lies_on(rhs, c->member[0].device);
}

/* Estimated seconds if the first member keeps the given number of columns, and all are in its
 * memory.  Blocks for the other members leave it one after the other.  The last block is solved
 * once all blocks have left and the blocks before it are solved; then it is copied back. */
static double seconds_with(const columns_state *c, int64_t nrhs, int64_t kept) {
  const int64_t others = c->members - 1, each = shared_out(nrhs - kept, (int)others);
  const double width = each > 0 ? (double)block_width(c, each) : 0;
  const double left = (double)(nrhs - kept) * c->link;
  const double busy = (double)others * width * c->link + ((double)each - width) * c->few;
  return fmax((double)kept * c->many, fmax(left, busy) + width * (c->few + c->link));
}

static int64_t kept_by_first(const columns_state *c, int64_t nrhs) {
  enum { WHOLE = 8, STEPS = 64 }; /* efficient multiple of columns; number of candidates */
  const int64_t step = nrhs >= MANY ? shared_out(nrhs, STEPS * WHOLE) * WHOLE : 1;
  int64_t best = shared_out(nrhs, c->members);
  for (int64_t kept = best; c->link > 0 && kept < nrhs + step; kept += step)
    if (seconds_with(c, nrhs, least(kept, nrhs)) < seconds_with(c, nrhs, best))
      best = least(kept, nrhs);
  return best;
}

/* The member's first column; for member number `members`, the end of all columns. */
static int64_t begin_of(const columns_state *c, const trs_rhs *rhs, int which) {
  if (!all_with_first(c, rhs) || which == 0 || c->members == 1)
    return shared_out(rhs->nrhs * which, c->members);
  const int64_t kept = kept_by_first(c, rhs->nrhs);
  return kept + shared_out((rhs->nrhs - kept) * (which - 1), c->members - 1);
}

/* Starts a member after the caller's work.  Columns in its own memory, and those it reads remotely,
 * are solved at once; others need a passage of blocks. */
static trs_status begin_member(void *argument, int which) {
  joint_work *work = argument;
  columns_state *c = work->c;
  member *m = &c->member[which];
  const trs_rhs *rhs = work->rhs;
  const int64_t first = begin_of(c, rhs, which), end = begin_of(c, rhs, which + 1);
  if (first >= end) return TRS_SUCCESS;
  if (work->streams) TRS_TRY(trs_device_event_record(m->start, work->streams[which - c->first]));
  TRS_TRY(trs_device_event_follow(c->member[work->streams ? which : c->first].start, m->stream));
  if (rhs->x_of) return solve_own(rhs, m, c->first, which, end - first);
  if (rhs->there && (lies_on(rhs, m->device) || c->remote == REMOTE_DIRECT))
    return solve_in_place(work->plan, m, rhs, first, end);
  return open_passage(work, which, first, end);
}

static bool has_columns(const columns_state *c, const trs_rhs *rhs, int which) {
  return c->member[which].device && begin_of(c, rhs, which) < begin_of(c, rhs, which + 1);
}

static trs_status end_member(void *argument, int which) {
  joint_work *work = argument;
  const columns_state *c = work->c;
  const member *m = &c->member[which];
  if (!has_columns(c, work->rhs, which)) return TRS_SUCCESS;
  TRS_TRY(trs_device_event_record(m->done, m->stream));
  return work->streams ? trs_device_event_follow(m->done, work->streams[which - c->first])
                       : TRS_SUCCESS;
}

static trs_status solve_member(void *argument, int which) {
  joint_work *work = argument;
  TRS_TRY(begin_member(work, which));
  while (!trs_passage_is_over(&work->passage[which]))
    TRS_TRY(advance(&work->passage[which], &work->c->member[which]));
  return end_member(work, which);
}

/* Starts one block per member: blocks are copied in turn, so that the first members work while
 * others still wait for their copies. */
static trs_status take_turn(void *argument, int which) {
  joint_work *work = argument;
  trs_passage *p = &work->passage[which];
  const member *m = &work->c->member[which];
  trs_device_event *brought = p->at < p->end ? m->stage.brought[trs_passage_slot(p)] : NULL;
  if (trs_passage_is_over(p)) return TRS_SUCCESS;
  if (brought && work->last) TRS_TRY(trs_device_event_follow(work->last, m->stage.in));
  TRS_TRY(advance(p, m));
  if (brought) work->last = brought;
  return TRS_SUCCESS;
}

static bool all_over(const joint_work *work) {
  for (int m = 0; m < work->c->members; m++)
    if (!trs_passage_is_over(&work->passage[m])) return false;
  return true;
}

/* Runs all members on one thread. */
static trs_status solve_by_turns(joint_work *work) {
  const trs_group *group = work->c->group;
  TRS_TRY(trs_group_each(group, begin_member, work));
  while (!all_over(work)) TRS_TRY(trs_group_each(group, take_turn, work));
  return trs_group_each(group, end_member, work);
}

/* After a failure of one member, the others still read b and write x. */
static trs_status still_member(void *argument, int which) {
  joint_work *work = argument;
  const member *m = &work->c->member[which];
  (void)trs_device_wait(m->stage.in);
  (void)trs_device_wait(m->stream);
  return trs_device_wait(m->stage.out);
}

static trs_status finish_member(void *argument, int which) {
  joint_work *work = argument;
  return trs_plan_finish(work->c->member[which].plan);
}

static trs_status wait(trs_plan *plan) {
  columns_state *c = plan->state;
  joint_work work = {.plan = plan, .c = c};
  TRS_TRY(trs_device_wait(plan->stream));
  return trs_group_each(c->group, finish_member, &work);
}

/* The plan's stream waits for all members that have columns. */
static trs_status end(trs_plan *plan, const columns_state *c, const trs_rhs *rhs) {
  for (int m = 0; m < c->members; m++)
    if (has_columns(c, rhs, m)) TRS_TRY(trs_device_event_follow(c->member[m].done, plan->stream));
  return TRS_SUCCESS;
}

/* ---- One process per GPU. ---- */

/* The columns of member m in one round. */
static trs_span block_of(const trs_plan *plan, const columns_state *c, const trs_rhs *rhs, int m,
                         int64_t turn) {
  const int64_t end = begin_of(c, rhs, m + 1);
  const int64_t first = least(begin_of(c, rhs, m) + turn * c->shared_width, end);
  return trs_span_of(rhs, plan->system.n, plan->system.scalar, first,
                     least(c->shared_width, end - first));
}

static trs_status need_shared(const trs_plan *plan, columns_state *c, int64_t nrhs) {
  const int64_t column = plan->system.n * (int64_t)trs_scalar_size(plan->system.scalar);
  if (c->shared.bytes) return TRS_SUCCESS;
  if (nrhs < plan->options.nrhs) nrhs = plan->options.nrhs;
  c->shared_width = block_width(c, shared_out(nrhs, c->members));
  return trs_group_alloc(c->group, &c->shared, TRS_SLOTS * c->shared_width * column);
}

static char *stage_of(const columns_state *c, int m, int slot) {
  return (char *)c->shared.base[m] + slot * (c->shared.bytes / TRS_SLOTS);
}

static trs_status solve_block(member *m, const trs_span *k, char *stage) {
  const trs_rhs staged = trs_span_staged(k, stage, stage);
  if (k->rhs.nrhs == 0) return TRS_SUCCESS;
  TRS_TRY(trs_span_bring(k, stage, m->stream));
  TRS_TRY(trs_plan_solve(m->plan, &staged));
  return trs_plan_finish(m->plan);
}

/* All processes take part in the same agreements.  A stage is reused two rounds later; after the
 * agreement in between, all processes have copied its content. */
static trs_status solve_in_turns(trs_plan *plan, columns_state *c, const trs_rhs *rhs,
                                 trs_status status) {
  member *own = &c->member[c->first];
  TRS_TRY(need_shared(plan, c, rhs->nrhs));
  const int64_t most = shared_out(rhs->nrhs, c->members);
  if (!status) status = trs_device_wait(plan->stream);
  for (int64_t turn = 0; turn * c->shared_width < most; turn++) {
    const int slot = (int)(c->turn++ % TRS_SLOTS);
    const trs_span mine = block_of(plan, c, rhs, c->first, turn);
    if (!status) status = solve_block(own, &mine, stage_of(c, c->first, slot));
    TRS_TRY(trs_group_agree(c->group, status));
    for (int m = 0; m < c->members && !status; m++) {
      const trs_span k = block_of(plan, c, rhs, m, turn);
      if (k.rhs.nrhs > 0) status = trs_span_take(&k, stage_of(c, m, slot), own->stream);
    }
    if (!status) status = trs_device_wait(own->stream);
  }
  return status;
}

static trs_status solve_in_processes(trs_plan *plan, columns_state *c, const trs_rhs *rhs,
                                     trs_status status) {
  return trs_group_agree(c->group, solve_in_turns(plan, c, rhs, status));
}

static trs_status solve(trs_plan *plan, const trs_rhs *rhs) {
  columns_state *c = plan->state;
  joint_work work = {
      .plan = plan, .c = c, .rhs = rhs, .streams = rhs->x_of ? plan->member_stream : NULL};
  bool there = rhs->x_of || (c->one_process && rhs->there);
  trs_status status = TRS_SUCCESS;
  if (!there && trs_device_capturing(plan->stream))
    status = trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                      "a solve becomes part of a graph where b and x are in device memory, or "
                      "where they are solved (trs_solve_distributed)");
  if (!c->one_process && !rhs->x_of) return solve_in_processes(plan, c, rhs, status);
  TRS_TRY(status);
  if (!work.streams) TRS_TRY(trs_device_event_record(c->member[c->first].start, plan->stream));
  status = there ? solve_by_turns(&work)
                 : trs_group_each_by_team(c->group, plan->context->team, solve_member, &work);
  if (!status && !work.streams) status = end(plan, c, rhs);
  if (!status) return there ? TRS_SUCCESS : wait(plan);
  trs_failure failure;
  trs_failure_get(&failure);
  if (!trs_device_capturing(plan->stream))
    (void)trs_group_each_by_team(c->group, NULL, still_member, &work); /* all, whatever fails */
  return trs_failure_set(&failure);
}

static trs_status share(const trs_plan *plan, int which, int64_t nrhs, trs_plan_share *share,
                        int64_t *rows) {
  const columns_state *c = plan->state;
  const int64_t first = shared_out(nrhs * which, c->members);
  const int64_t columns = shared_out(nrhs * (which + 1), c->members) - first;
  *share = (trs_plan_share){.first_column = first, .ncolumns = columns};
  if (columns > 0) share->nrows = plan->system.n;
  for (int64_t i = 0; rows && i < share->nrows; i++) rows[i] = i;
  return TRS_SUCCESS;
}

/* ---- Queries. ---- */

/* The first choice if each member gets at least two right-hand sides and memory suffices: it scales
 * best. */
static trs_estimate estimate(const trs_plan *plan) {
  const int members = trs_group_members(plan->context->group);
  if (members == 1 || plan->options.nrhs < 2 * members || !trs_alone_fits(plan, members))
    return (trs_estimate){.preference = TRS_PREFERENCE_LAST};
  return (trs_estimate){.preference = TRS_PREFERENCE_FIRST,
                        .because = "there are right-hand sides for every GPU"};
}

static int64_t bytes(const trs_plan *plan) {
  const columns_state *c = plan->state;
  int64_t total = c->shared.bytes;
  for (int m = 0; m < c->members; m++)
    if (c->member[m].device)
      total += c->member[m].plan->method->bytes(c->member[m].plan) +
               TRS_SLOTS * c->member[m].stage.bytes;
  return total;
}

static void describe(const trs_plan *plan, char *text, size_t size) {
  const columns_state *c = plan->state;
  const trs_plan *first = c->member[c->first].plan;
  int used = snprintf(text, size, "right-hand sides dealt to %d members, each: ", c->members);
  if (used > 0 && (size_t)used < size)
    first->method->describe(first, text + used, size - (size_t)used);
}

static void free_member(member *m) {
  if (!m->device) return;
  int before = trs_device_enter(m->device);
  (void)trs_device_wait(m->stream);
  trs_stage_close(&m->stage, m->stream);
  trs_device_leave(before);
  trs_device_event_destroy(m->start);
  trs_device_event_destroy(m->done);
  trs_plan_destroy(m->plan);
}

static void free_state(trs_plan *plan) {
  columns_state *c = plan->state;
  if (!c) return;
  for (int m = 0; m < c->members; m++) free_member(&c->member[m]);
  if (c->group) trs_group_free(c->group, &c->shared);
  TRS_FREE_ALL(c->member, c);
}

const trs_method trs_method_columns = {
    .name = "columns",
    TRS_GROUP_METHOD,
    .estimate = estimate,
    .analysis_solves = 2,
    .solve = solve,
    .store = trs_store_mixed,
    TRS_METHOD_STEPS,
};
