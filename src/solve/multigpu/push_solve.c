/* push_solve.c - solves of `push`: launches at every member, a stage for vectors in host memory,
 * and failures. */
#include "solve/cuda/gpu.h"
#include "solve/multigpu/push_state.h"

enum { MOST_STAGED = 16 }; /* right-hand sides copied from the host at a time */

/* The position of a row's x; -1: there is none. */
static int64_t position_of(trs_push_state *p, int64_t row) {
  if (trs_push_need_rows(p)) return -1;
  for (int64_t k = 0; k < p->n; k++)
    if (trs_row_has_x(p->slices.row[k]) && trs_row_number(p->slices.row[k]) == row) return k;
  return -1;
}

static trs_status check_fault(trs_push_state *p) {
  const trs_fault *found = p->host_fault;
  int32_t owner = -1;
  const int64_t position = found->stalled ? position_of(p, found->row) : -1;
  if (p->broken)
    return trs_fail(TRS_ERROR_STALLED, -1,
                    "a solve or an update before failed on its way, and members no longer agree; "
                    "analyse anew");
  if (!found->stalled) return TRS_SUCCESS;
  for (int32_t k = 0; k < p->slices.nslices && p->slices.slice[k].first <= position; k++)
    owner = p->deal.owner[k];
  if (owner < 0)
    return trs_fail(TRS_ERROR_STALLED, -1,
                    "a member of %d waited more than %.3g s for the others to finish a solve; x is "
                    "not complete, analyse anew",
                    p->members, 1e-9 * (double)found->limit);
  return trs_fail(TRS_ERROR_STALLED, found->row,
                  "member %d of %d: row %lld waited more than %.3g s for the rows it depends on "
                  "(0-based); x is not complete, analyse anew",
                  (int)owner, p->members, (long long)found->row, 1e-9 * (double)found->limit);
}

/* `stream` continues after all members, or each of `streams` after its own. */
static trs_status end(const trs_push_state *p, trs_stream stream, const trs_stream *streams) {
  for (int k = 0; k < p->local; k++) {
    const trs_push_member *m = &p->member[k];
    int before = trs_device_enter(m->device);
    trs_status status = trs_device_event_record(m->done, m->stream);
    if (!status && streams) status = trs_device_event_follow(m->done, streams[k]);
    trs_device_leave(before);
    if (!status && !streams) status = trs_device_event_follow(m->done, stream);
    TRS_TRY(status);
  }
  return TRS_SUCCESS;
}

/* Waits for all members: the plan's stream does so after each solve, or does so now. */
trs_status trs_push_finish(const trs_plan *plan, trs_push_state *p) {
  if (!p->shared.base[0]) return check_fault(p); /* an update has failed before rows were dealt */
  void *fault = trs_push_shared_at(p, 0, p->fault_at);
  if (p->in_own_streams) TRS_TRY(end(p, plan->stream, NULL));
  TRS_TRY(trs_device_copy(p->host_fault, fault, sizeof *p->host_fault, plan->stream));
  TRS_TRY(trs_group_wait(p->group, plan->stream, fault));
  p->in_own_streams = false;
  return check_fault(p);
}

/* All members of one process have finished the previous call, unless it was made in several
 * streams.  If a call has more right-hand sides than are solved together, members check each
 * other's progress between the groups. */
static trs_status launch_member(const trs_plan *plan, const trs_push_member *m, const trs_rhs *rhs,
                                int64_t column) {
  const trs_push_state *p = plan->state;
  const trs_rhs own = trs_rhs_of_member(rhs, (int)(m - p->member));
  const trs_rhs part = trs_rhs_columns(&own, plan->system.scalar, column, p->most);
  trs_push_args a = m->args;
  if (rhs->x_of) a.spread_at = 0;
  a.x = part.x, a.x_row = part.x_row, a.x_col = part.x_col;
  a.b = part.b, a.b_row = part.b_row, a.b_col = part.b_col;
  a.columns = (int32_t)part.nrhs;
  TRS_ON_DEVICE(m->device);
  const bool opens = !p->one_process || p->in_own_streams || rhs->nrhs > a.most;
  trs_status status = opens ? trs_push_open(&a, m->stream) : TRS_SUCCESS;
  for (int32_t r = 0; r < m->nruns && !status; r++) {
    a.overlaps = m->args.overlaps && (r > 0 || opens);
    status = trs_push_launch(&a, &m->run[r], plan->system.scalar, m->stream);
  }
  return status;
}

/* Members start after the work so far in `stream`, or each in its own of `streams`. */
static trs_status begin(const trs_push_state *p, trs_stream stream, const trs_stream *streams) {
  const trs_push_member *first = &p->member[0];
  if (!streams) TRS_TRY(trs_device_event_record(first->start, stream));
  for (int k = 0; k < p->local; k++) {
    const trs_push_member *m = &p->member[k];
    int before = trs_device_enter(m->device);
    trs_status status = streams ? trs_device_event_record(m->start, streams[k]) : TRS_SUCCESS;
    if (!status) status = trs_device_event_follow((streams ? m : first)->start, m->stream);
    trs_device_leave(before);
    TRS_TRY(status);
  }
  return TRS_SUCCESS;
}

/* Groups of right-hand sides in sequence, each launched at every member before the next. */
static trs_status launch_all(const trs_plan *plan, const trs_push_state *p, const trs_rhs *rhs) {
  for (int64_t column = 0; column < rhs->nrhs; column += p->most)
    for (int k = 0; k < p->local; k++) TRS_TRY(launch_member(plan, &p->member[k], rhs, column));
  return TRS_SUCCESS;
}

/* If a solve was launched at only some members, their counts differ and no further solve is
 * possible.  A failed capture of a graph launches nothing and changes no count. */
static trs_status launch(trs_plan *plan, const trs_rhs *rhs, trs_stream stream) {
  trs_push_state *p = plan->state;
  const trs_stream *streams = rhs->x_of ? plan->member_stream : NULL;
  p->in_own_streams |= streams && p->local > 1;
  TRS_TRY(begin(p, stream, streams));
  trs_status status = launch_all(plan, p, rhs);
  p->broken |= status && !trs_device_capturing(stream);
  trs_status ended = end(p, stream, streams); /* launched kernels still write x */
  return status ? status : ended;
}

static trs_status need_stage(trs_push_state *p, const trs_plan *plan, int64_t nrhs) {
  const int64_t bytes = plan->system.n * (int64_t)trs_scalar_size(plan->system.scalar);
  if (p->stage) return TRS_SUCCESS;
  int64_t width = trs_stage_width(plan, nrhs, MOST_STAGED);
  TRS_TRY(trs_device_alloc_plain(p->member[0].device, &p->stage, width * bytes));
  p->stage_width = width;
  return TRS_SUCCESS;
}

static trs_status solve_staged(trs_plan *plan, trs_push_state *p, const trs_rhs *rhs) {
  TRS_TRY(need_stage(p, plan, rhs->nrhs));
  trs_stage stage = {.slot = {p->stage}};
  trs_passage all = {.all = trs_span_of(rhs, plan->system.n, plan->system.scalar, 0, rhs->nrhs),
                     .end = rhs->nrhs,
                     .width = p->stage_width,
                     .stage = &stage,
                     .stream = plan->stream};
  TRS_TRY(trs_gpu_pass(plan, &all, launch));
  return trs_push_finish(plan, p);
}

/* ---- Several processes: each copies b to its own stage, and all members store x into every
 * member's stage.  Two stages for x alternate: a member that begins solve k has agreed with all
 * others after solve k - 1, and by then they had copied x out of solve k - 2. ---- */

/* x is complete everywhere once all processes have finished. */
static trs_status wait_members(const trs_push_state *p, trs_status status) {
  void *fault = trs_push_shared_at(p, 0, p->fault_at);
  if (!status) status = trs_group_wait(p->group, p->member[0].stream, fault);
  return trs_group_agree(p->group, status);
}

/* All processes take part in the same agreements, also after a local failure. */
static trs_status solve_in_processes(trs_plan *plan, trs_push_state *p, const trs_rhs *rhs) {
  const int64_t values = plan->system.n * (int64_t)trs_scalar_size(plan->system.scalar);
  const int own = p->member[0].number;
  void *b = trs_push_shared_at(p, own, p->b_at);
  trs_status status = TRS_SUCCESS;
  for (int64_t column = 0; column < rhs->nrhs; column += p->most) {
    const int64_t x_at = p->stage_at + (p->turn++ % TRS_PUSH_STAGES) * p->most * values;
    const trs_span s = trs_span_of(rhs, plan->system.n, plan->system.scalar, column, p->most);
    const trs_rhs staged = trs_span_staged(&s, NULL, b);
    p->member[0].args.spread_at = x_at;
    if (!status) status = trs_span_bring(&s, b, plan->stream);
    if (!status) status = launch(plan, &staged, plan->stream);
    status = wait_members(p, status);
    p->broken |= status != TRS_SUCCESS;
    if (status) return status;
    status = end(p, plan->stream, NULL);
    if (!status) status = trs_span_take(&s, trs_push_shared_at(p, own, x_at), plan->stream);
  }
  return status ? status : trs_push_finish(plan, p);
}

/* The branches of a graph on one GPU may run one after the other: members of such a GPU would wait
 * for each other forever. */
static trs_status check_capture(const trs_plan *plan, const trs_push_state *p, bool there) {
  if (!trs_device_capturing(plan->stream)) return TRS_SUCCESS;
  if (!there)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "a solve becomes part of a graph where b and x are in device memory, or where "
                    "they are solved (trs_solve_distributed)");
  for (int m = 0; m < p->members && p->one_process; m++)
    if (trs_group_sharers(p->group, m) > 1)
      return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                      "several members have the same GPU: their solves cannot become part of a "
                      "graph");
  return TRS_SUCCESS;
}

trs_status trs_push_solve(trs_plan *plan, const trs_rhs *rhs) {
  trs_push_state *p = plan->state;
  const bool there = rhs->x_of || (p->one_process && rhs->there);
  trs_status refused = check_fault(p); /* possibly in some processes only */
  if (!refused) refused = check_capture(plan, p, there);
  TRS_TRY(there ? refused : trs_group_agree(p->group, refused));
  trs_group_lock(p->group);
  if (trs_device_capturing(plan->stream)) trs_group_mark(p->group);
  trs_status status = there            ? launch(plan, rhs, plan->stream)
                      : p->one_process ? solve_staged(plan, p, rhs)
                                       : solve_in_processes(plan, p, rhs);
  trs_group_unlock(p->group);
  return there ? status : trs_group_agree(p->group, status);
}
