/* group_steps.c - the steps of the colours in W21's relaxation on several GPUs.
 *
 * `slices` makes all steps in one launch per member (slices.cu).  Otherwise, and if members share a
 * GPU, a colour's step is up to four launches per member: begin (signals the senders, waits for the
 * rows that it needs), boundary rows, push, and interior rows, during which rows of other members
 * arrive.  With one member per GPU, each has a host thread that launches.  If members share a GPU,
 * one thread launches, in an order in which no launch waits for a later one, and no launch starts
 * early. */
#include "relax/cuda/group_state.h"

/* ---- A step ---- */

static trs_relax_step make_step(const trs_relax_group *G, int which, int32_t c, uint64_t step) {
  const trs_domain *D = G->member[which].R->domain;
  trs_domain_step own;
  trs_relax_step t = {.me = which, .members = G->members, .step = step};
  for (int k = 0; k < G->members; k++) t.signs[k] = G->signs.base[k];
  trs_domain_take_step(&own, D, c, G->member[which].last);
  t.senders = own.senders;
  t.receivers = own.receivers;
  for (int k = 0; k < G->members; k++) t.needed[k] = own.needed[k];
  return t;
}

static trs_relax_place place_of(const trs_relax_group *G, int which) {
  const trs_relax_member *m = &G->member[which];
  if (!m->R) return m->place;
  const trs_relax_args *a = &m->R->gpu->args;
  return (trs_relax_place){a->x, a->x_stride, a->pitch};
}

static trs_relax_push make_push(const trs_relax_group *G, int which, int32_t c, int64_t nrhs) {
  const trs_relax_member *m = &G->member[which];
  trs_relax_push p = {.begin = m->R->colour_ptr[c],
                      .end = m->R->domain->boundary[c],
                      .ptr = m->lists[0],
                      .to = m->lists[1],
                      .member = m->lists[2],
                      .block = m->R->block,
                      .nrhs = (int)nrhs,
                      .size = m->R->store == TRS_STORE_DOUBLE ? 8 : 4};
  for (int k = 0; k < G->members; k++) {
    trs_relax_place place = place_of(G, k);
    p.x[k] = place.x;
    p.stride[k] = place.stride;
    p.pitch = place.pitch;
  }
  return p;
}

/* True if a launch may start before the previous launch of a step has ended. */
static bool overlaps(const trs_relax_group *G, trs_relax_member *m) {
  bool early = G->together && !m->fresh;
  m->fresh = false;
  return early;
}

static trs_status begin(trs_relax_group *G, int which, int32_t c, uint64_t step) {
  trs_relax_member *m = &G->member[which];
  if (!m->R->domain) return TRS_SUCCESS;
  trs_relax_step t = make_step(G, which, c, step);
  bool needs = t.senders != 0;
  for (int k = 0; k < G->members; k++) needs |= t.needed[k] != 0;
  return needs ? trs_relax_begin_step(&t, overlaps(G, m), m->stream) : TRS_SUCCESS;
}

static trs_status relax(trs_relax_group *G, int which, int32_t c, bool boundary) {
  trs_relax_member *m = &G->member[which];
  const trs_relaxation *R = m->R;
  int64_t edge = R->domain ? R->domain->boundary[c] : R->colour_ptr[c];
  if (edge == (boundary ? R->colour_ptr[c] : R->colour_ptr[c + 1])) return TRS_SUCCESS;
  m->fresh = true;
  return trs_relax_gpu_run(m->R, c, boundary);
}

static trs_status push(trs_relax_group *G, int which, int32_t c, uint64_t step, int64_t nrhs) {
  trs_relax_member *m = &G->member[which];
  const trs_domain *D = m->R->domain;
  m->last[c] = step;
  if (!D || D->send_ptr[c] == D->send_ptr[c + 1]) return TRS_SUCCESS;
  trs_relax_step t = make_step(G, which, c, step);
  trs_relax_push p = make_push(G, which, c, nrhs);
  return trs_relax_push_rows(&t, &p, overlaps(G, m), m->stream);
}

/* ---- Passes over the colours ---- */

static int64_t count_steps(const trs_relax_passes *P) {
  return trs_relaxation_steps(P->R, P->sweeps, P->direction);
}

static trs_status run_member(const trs_relax_passes *P, int which) {
  trs_relax_group *G = P->R->group;
  for (int64_t k = 0; k < count_steps(P); k++) {
    int32_t c = trs_relaxation_colour(P->R, P->direction, k);
    uint64_t step = G->step + 1 + (uint64_t)k;
    TRS_TRY(begin(G, which, c, step));
    TRS_TRY(relax(G, which, c, true));
    TRS_TRY(push(G, which, c, step, P->nrhs));
    TRS_TRY(relax(G, which, c, false));
  }
  return TRS_SUCCESS;
}

static void be_member(void *argument, int rank, int size) {
  trs_relax_passes *P = argument;
  (void)size;
  TRS_ON_DEVICE(P->R->group->member[rank].device);
  if (run_member(P, rank)) trs_failure_get(&P->failure[rank]);
}

/* The order of the launches of a step: each waits only for earlier launches. */
static trs_status run_step(const trs_relax_passes *P, int32_t c, uint64_t step, int phase) {
  trs_relax_group *G = P->R->group;
  for (int which = 0; which < G->members; which++) {
    int before = trs_device_enter(G->member[which].device);
    trs_status status = TRS_SUCCESS;
    if (phase == 0) status = begin(G, which, c, step);
    if (phase == 0 && !status) status = relax(G, which, c, true);
    if (phase == 1) status = push(G, which, c, step, P->nrhs);
    if (phase == 2) status = relax(G, which, c, false);
    trs_device_leave(before);
    TRS_TRY(status);
  }
  return TRS_SUCCESS;
}

/* All steps in one launch per member. */
static trs_relax_peer_sync make_peer_sync(const trs_relax_group *G, int which) {
  const trs_relax_member *m = &G->member[which];
  const trs_domain *D = m->R->domain;
  trs_relax_peer_sync t = {.me = which,
                           .members = G->members,
                           .step = G->step,
                           .ptr = m->lists[0],
                           .to = m->lists[1],
                           .member = m->lists[2]};
  for (int k = 0; k < G->members; k++) {
    trs_relax_place place = place_of(G, k);
    t.signs[k] = (trs_relax_signs *)G->signs.base[k];
    t.x[k] = place.x;
    t.stride[k] = place.stride;
  }
  for (int64_t k = 0; D && k < D->receive_ptr[m->R->ncolours]; k++)
    t.senders |= (uint32_t)1 << D->receive[k].other;
  for (int64_t k = 0; D && k < D->send_ptr[m->R->ncolours]; k++)
    t.receivers |= (uint32_t)1 << D->send[k].other;
  return t;
}

static trs_status launch_once(const trs_relax_passes *P, int which) {
  const trs_relax_member *m = &P->R->group->member[which];
  trs_relax_peer_sync t = make_peer_sync(P->R->group, which);
  TRS_ON_DEVICE(m->device);
  return trs_relax_gpu_run_steps(m->R, P->direction, count_steps(P), &t);
}

static trs_status run_in_one_launch(const trs_relax_passes *P) {
  trs_relax_group *G = P->R->group;
  for (int k = 0; k < G->members; k++) TRS_TRY(launch_once(P, k));
  G->step += (uint64_t)(count_steps(P) * P->nrhs);
  return TRS_SUCCESS;
}

trs_status trs_relax_member_pass(trs_relax_passes *P, int which) {
  trs_relax_group *G = P->R->group;
  bool once = trs_relax_by_slices(G->member[which].R);
  G->member[which].fresh = true;
  trs_status status = once ? launch_once(P, which) : run_member(P, which);
  G->step += (uint64_t)(count_steps(P) * (once ? P->nrhs : 1));
  return status;
}

static bool sync_in_kernel(const trs_relax_group *G) {
  bool all = G->one_gpu_each;
  for (int k = 0; k < G->members; k++) all = all && trs_relax_by_slices(G->member[k].R);
  return all;
}

trs_status trs_relax_group_pass(trs_relax_passes *P) {
  trs_relax_group *G = P->R->group;
  trs_status status = TRS_SUCCESS;
  if (sync_in_kernel(G)) return run_in_one_launch(P);
  for (int m = 0; m < G->members; m++) {
    G->member[m].fresh = true;
    P->failure[m].status = TRS_SUCCESS;
  }
  if (G->together) {
    trs_team_run(P->R->plan->context->team, G->members, be_member, P);
    for (int m = 0; m < G->members && !status; m++)
      if (P->failure[m].status) status = trs_failure_set(&P->failure[m]);
  }
  for (int64_t k = 0; !G->together && !status && k < count_steps(P); k++)
    for (int phase = 0; phase < 3 && !status; phase++)
      status = run_step(P, trs_relaxation_colour(P->R, P->direction, k), G->step + 1 + (uint64_t)k,
                        phase);
  G->step += (uint64_t)count_steps(P);
  return status;
}
