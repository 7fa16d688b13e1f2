/* group.c - relaxation on the GPUs of one process: one domain per member, with the arrays and
 * kernels of one GPU; x of boundary rows is stored into the members that read it (push.cu). The
 * launches are in group_steps.c, the sweeps in group_sweep.c. */
#include <math.h>
#include <stdio.h>

#include "device/fault.h"
#include "base/counter.h"
#include "relax/cuda/group_state.h"

uint64_t trs_relax_group_wait_limit = TRS_WAIT_LIMIT;

/* The receivers of the row at each position, and the places there, from ptr + 1 on. */
static void sort_lists(const trs_domain *D, int64_t messages, const int64_t *arrival, int64_t nrows,
                       int32_t *ptr, int32_t *to, uint8_t *who) {
  const int64_t count = D->send[messages - 1].end;
  for (int64_t e = 0; e < count; e++) ptr[D->sent[e] + 1]++;
  for (int64_t p = 0; p < nrows; p++) ptr[p + 1] += ptr[p];
  for (int64_t k = messages; k-- > 0;)
    for (int64_t e = D->send[k].end; e-- > D->send[k].begin;) {
      const int32_t at = --ptr[D->sent[e] + 1];
      to[at] = (int32_t)(arrival[k] + e - D->send[k].begin);
      who[at] = (uint8_t)D->send[k].other;
    }
  ptr[nrows + 1] = (int32_t)count;
}

trs_status trs_relax_member_lists(trs_relax_member *m, const int64_t *arrival) {
  const trs_domain *D = m->R->domain;
  const int64_t messages = D ? D->send_ptr[m->R->ncolours] : 0, nrows = m->R->nrows;
  if (messages == 0) return TRS_SUCCESS;
  const int64_t count = D->send[messages - 1].end;
  int32_t *ptr, *to = NULL;
  uint8_t *who = NULL;
  TRS_TRY(TRS_ALLOC_ZERO(&ptr, nrows + 2));
  trs_status status = TRS_ALLOC_ALL(TRS_ROOM(&to, count), TRS_ROOM(&who, count));
  if (!status) sort_lists(D, messages, arrival, nrows, ptr, to, who);
  const void *from[3] = {ptr + 1, to, who};
  const int64_t bytes[3] = {(nrows + 1) * 4, count * 4, count};
  for (int k = 0; k < 3 && !status; k++) {
    status = trs_device_alloc(m->device, &m->lists[k], bytes[k], 1, m->stream);
    if (!status) status = trs_device_copy(m->lists[k], from[k], bytes[k], m->stream);
  }
  if (!status) status = trs_device_wait(m->stream);
  TRS_FREE_ALL(ptr, to, who);
  return status;
}

void trs_relax_member_free_lists(trs_relax_member *m) {
  for (int k = 0; k < 3; k++) trs_device_free(m->device, m->lists[k], m->stream);
}

static trs_status make_lists(const trs_relax_group *G, trs_relax_member *m, int which) {
  const trs_domain *D = m->R->domain;
  int64_t messages = D ? D->send_ptr[m->R->ncolours] : 0, *arrival;
  TRS_TRY(TRS_ALLOC(&arrival, messages));
  for (int64_t k = 0; k < messages; k++)
    arrival[k] = trs_domain_arrival(G->member[D->send[k].other].R->domain, which, &D->send[k]);
  trs_status status = trs_relax_member_lists(m, arrival);
  trs_free(arrival);
  return status;
}

static trs_status make_domain(trs_relax_group *G, int which, const trs_relaxation *R) {
  trs_relax_member *m = &G->member[which];
  m->device = trs_group_device(G->group, which);
  m->stream = trs_group_stream(G->group, which);
  TRS_TRY(trs_relaxation_lay_out_domain(&m->R, R->plan->context, R->scalar, R->block, R->system,
                                        which, R->options));
  m->R->backend = &trs_relax_gpu_backend;
  m->R->plan->method = &trs_relax_gpu_backend.method;
  m->R->plan->stream = m->stream;
  TRS_TRY(TRS_ALLOC(&m->last, R->ncolours));
  return trs_relax_gpu_create(m->R, m->device, R->options->variant);
}

trs_relax_signs trs_relax_first_signs(int members) {
  trs_relax_signs signs = {.fault = {.row = -1, .limit = trs_relax_group_wait_limit}};
  for (int k = 0; k < members; k++) signs.begun[k] = signs.pushed[k] = trs_counters_begin;
  return signs;
}

trs_status trs_relax_check_fault(const trs_fault *fault, const char *what) {
  if (!fault->stalled) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_STALLED, -1,
                  "%s %d waited for another for %.3g s: x is not complete, create the relaxation "
                  "anew",
                  what, (int)fault->row, 1e-9 * (double)fault->limit);
}

static trs_status set_signs(trs_relax_group *G, trs_relax_member *m, int which) {
  const trs_relax_signs signs = trs_relax_first_signs(G->members);
  TRS_TRY(trs_device_alloc_host(m->device, (void **)&m->fault));
  *m->fault = signs.fault;
  TRS_TRY(trs_device_copy(G->signs.base[which], &signs, sizeof signs, m->stream));
  return trs_device_wait(m->stream);
}

static trs_status prepare_member(void *group, int which) {
  trs_relax_group *G = group;
  TRS_TRY(make_lists(G, &G->member[which], which));
  return set_signs(G, &G->member[which], which);
}

static trs_status build(trs_relax_group *G, trs_relaxation *R) {
  TRS_TRY(trs_block_system_split(R->system, G->members));
  R->domains = G->members;
  R->partition = R->system->partition;
  for (int k = 0; k < G->members; k++) TRS_TRY(make_domain(G, k, R));
  R->variant = G->member[G->members - 1].R->variant;
  TRS_TRY(trs_group_alloc(G->group, &G->signs, sizeof(trs_relax_signs)));
  TRS_TRY(trs_device_event_create(G->member[0].device, &G->mark));
  G->one_gpu_each = true;
  TRS_TRY(trs_group_each(G->group, prepare_member, G));
  for (int k = 0; k < G->members; k++) G->one_gpu_each &= trs_group_sharers(G->group, k) == 1;
  G->step = trs_counters_begin;
  G->together = G->one_gpu_each && trs_team_size(R->plan->context->team) >= G->members;
  return TRS_SUCCESS;
}

/* R keeps only the colours. */
static trs_status analyze(trs_plan *plan) {
  trs_relaxation *R = plan->state;
  TRS_FREE_ALL(R->ptr, R->idx);
  R->ptr = NULL;
  R->idx = NULL;
  TRS_TRY(TRS_ALLOC_ZERO(&R->group, 1));
  R->group->group = trs_group_retain(plan->context->group);
  R->group->members = trs_group_members(R->group->group);
  return build(R->group, R);
}

static trs_status wait_for_kernels(void *group, int which) {
  const trs_relax_member *m = &((trs_relax_group *)group)->member[which];
  if (m->device) (void)trs_device_wait(m->stream);
  return TRS_SUCCESS;
}

static trs_status free_member(void *group, int which) {
  trs_relax_member *m = &((trs_relax_group *)group)->member[which];
  if (!m->device) return TRS_SUCCESS;
  (void)trs_device_wait(m->stream);
  trs_relax_member_free_lists(m);
  trs_device_free_host(m->device, m->fault);
  trs_relaxation_destroy(m->R);
  trs_free(m->last);
  return TRS_SUCCESS;
}

static void free_group(trs_relaxation *R) {
  trs_relax_group *G = R->group;
  if (!G) return;
  (void)trs_group_each(G->group, wait_for_kernels, G);
  for (int k = 0; k < 2 && G->staged[k]; k++)
    trs_device_free_plain(G->member[0].device, G->staged[k], G->staged_bytes);
  (void)trs_group_each(G->group, free_member, G);
  trs_device_event_destroy(G->mark);
  trs_group_free(G->group, &G->signs);
  trs_group_close(G->group);
  trs_free(G);
  R->group = NULL;
}

/* Updates all domains, so that the reported failure is that of the first row. */
static trs_status update(trs_plan *plan) {
  trs_relaxation *R = plan->state;
  trs_relax_group *G = R->group;
  trs_failure first = {.status = TRS_SUCCESS}, now;
  R->frobenius[0] = R->frobenius[1] = 0;
  for (int k = 0; k < G->members; k++) {
    trs_relaxation *D = G->member[k].R;
    if (trs_relaxation_update(D, R->source)) {
      trs_failure_get(&now);
      if (!first.status || now.row < first.row) first = now;
    }
    for (int e = 0; e < 2; e++) R->frobenius[e] = hypot(R->frobenius[e], D->frobenius[e]);
  }
  R->rounding = R->frobenius[0] > 0 ? R->frobenius[1] / R->frobenius[0] : 0;
  return first.status ? trs_failure_set(&first) : TRS_SUCCESS;
}

static int64_t bytes(const trs_plan *plan) {
  const trs_relax_group *G = ((const trs_relaxation *)plan->state)->group;
  int64_t bytes = 2 * G->staged_bytes;
  for (int k = 0; k < G->members; k++) {
    const trs_relaxation *D = G->member[k].R;
    int64_t messages = D->domain ? D->domain->send_ptr[D->ncolours] : 0;
    bytes += trs_relax_gpu_bytes(D->plan) + (int64_t)sizeof(trs_relax_signs);
    if (messages) bytes += 5 * D->domain->send[messages - 1].end + 4 * (D->nrows + 1);
  }
  return bytes;
}

static void free_state(trs_plan *plan) {
  free_group(plan->state);
  trs_relaxation_free(plan);
}

const trs_relax_backend trs_relax_group_backend = {
    .method = {TRS_RELAX_METHOD, .backend = &trs_backend_cuda_group, .analyze = analyze,
               .update = update, .wait = trs_relax_group_wait, .bytes = bytes, .free = free_state},
    .sweep = trs_relax_group_sweep};
