/* group.c - relaxation on the GPUs of one process: a domain a member, with the arrays and kernels
 * of one GPU, and x of boundary rows stored into the members that read it (push.cu).
 *
 * `slices` makes all turns in one launch of each member (slices.cu).  Otherwise, and where members
 * share a GPU, a colour's turn is up to four launches of a member: begin (tells who sends to it,
 * waits for what it needs), boundary rows, push, interior rows, while which others' rows arrive.  A
 * member a GPU, each has a thread of the host that launches.  Where members share a GPU one thread
 * launches, in an order in which no launch waits for a later one, and none begins early. */
#include "relax/cuda/group.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "device/shared.h"
#include "relax/cuda/backend.h"
#include "relax/cuda/push.h"

_Static_assert((int)TRS_RELAX_MEMBERS == (int)TRS_MOST_MEMBERS &&
                   (int)TRS_MOST_DOMAINS_STORING == (int)TRS_MOST_MEMBERS,
               "as many members everywhere");

uint64_t trs_relax_group_wait_limit =
    10000000000u; /* ten seconds, then a sweep is called stalled */

typedef struct member {
  trs_relaxation *R;
  trs_device *device;
  trs_stream stream;
  int32_t *from, *to; /* device memory, as trs_relax_push */
  uint8_t *member;
  void *lists[3]; /* device memory: ptr, to and member of trs_relax_meeting */
  uint64_t *last; /* host, of each colour: its last turn in this call, or 0 */
  uint64_t *told; /* pinned: its signs' told as of the last wait */
  bool fresh;     /* nothing of a turn was launched since other work */
} member;

struct trs_relax_group {
  trs_group *group;
  int members;
  const char *partition;
  member member[TRS_MOST_MEMBERS];
  trs_symmetric signs; /* trs_relax_signs */
  uint64_t turn;
  trs_stream stream; /* the caller's, of the first member's GPU */
  trs_device_event *mark;
  void *staged[2]; /* at the first member: x and b of room right-hand sides; NULL until needed */
  int64_t staged_bytes;
  bool apart;    /* a member a GPU */
  bool together; /* and a thread of the host for each */
};

/* ---- Life ---- */

static trs_status bring_lists(trs_relax_group *G, int which, int32_t *to, uint8_t *at) {
  member *m = &G->member[which];
  const trs_domain *D = m->R->domain;
  int64_t messages = D->send_ptr[m->R->ncolours], count = D->send[messages - 1].end;
  for (int64_t k = 0; k < messages; k++) {
    const trs_domain_message *M = &D->send[k];
    int64_t there = trs_domain_arrival(G->member[M->other].R->domain, which, M);
    for (int64_t e = M->begin; e < M->end; e++) {
      to[e] = (int32_t)(there + e - M->begin);
      at[e] = (uint8_t)M->other;
    }
  }
  TRS_TRY(TRS_DEVICE_ALLOC(m->device, &m->from, count, m->stream));
  TRS_TRY(TRS_DEVICE_ALLOC(m->device, &m->to, count, m->stream));
  TRS_TRY(TRS_DEVICE_ALLOC(m->device, &m->member, count, m->stream));
  TRS_TRY(trs_device_copy(m->from, D->sent, count * 4, m->stream));
  TRS_TRY(trs_device_copy(m->to, to, count * 4, m->stream));
  TRS_TRY(trs_device_copy(m->member, at, count, m->stream));
  return trs_device_wait(m->stream);
}

/* The same by position, from ptr + 1 on: who gets the row that stands there. */
static void sort_lists(const trs_domain *D, int64_t count, const int32_t *to, const uint8_t *at,
                       int32_t *ptr, int32_t *sorted, uint8_t *who, int64_t nrows) {
  for (int64_t e = 0; e < count; e++) ptr[D->sent[e] + 1]++;
  for (int64_t p = 0; p < nrows; p++) ptr[p + 1] += ptr[p];
  for (int64_t e = count; e-- > 0;) {
    int32_t k = --ptr[D->sent[e] + 1];
    sorted[k] = to[e];
    who[k] = at[e];
  }
  ptr[nrows + 1] = (int32_t)count;
}

static trs_status bring_meeting(trs_relax_group *G, int which, const int32_t *to, const uint8_t *at,
                                int64_t count) {
  member *m = &G->member[which];
  const int64_t nrows = m->R->nrows;
  int32_t *ptr, *sorted = NULL;
  uint8_t *who = NULL;
  TRS_TRY(TRS_ALLOC_ZERO(&ptr, nrows + 2));
  trs_status status = TRS_ALLOC(&sorted, count);
  if (!status) status = TRS_ALLOC(&who, count);
  if (!status) sort_lists(m->R->domain, count, to, at, ptr, sorted, who, nrows);
  const void *from[3] = {ptr + 1, sorted, who};
  const int64_t bytes[3] = {(nrows + 1) * 4, count * 4, count};
  for (int k = 0; k < 3 && !status; k++) {
    status = trs_device_alloc(m->device, &m->lists[k], bytes[k], 1, m->stream);
    if (!status) status = trs_device_copy(m->lists[k], from[k], bytes[k], m->stream);
  }
  if (!status) status = trs_device_wait(m->stream);
  trs_free(ptr);
  trs_free(sorted);
  trs_free(who);
  return status;
}

static trs_status make_lists(trs_relax_group *G, int which) {
  const trs_domain *D = G->member[which].R->domain;
  int64_t messages = D ? D->send_ptr[G->member[which].R->ncolours] : 0;
  if (messages == 0) return TRS_SUCCESS;
  int32_t *to;
  uint8_t *at = NULL;
  TRS_TRY(TRS_ALLOC(&to, D->send[messages - 1].end));
  trs_status status = TRS_ALLOC(&at, D->send[messages - 1].end);
  if (!status) status = bring_lists(G, which, to, at);
  if (!status) status = bring_meeting(G, which, to, at, D->send[messages - 1].end);
  trs_free(to);
  trs_free(at);
  return status;
}

static trs_status make_domain(trs_relax_group *G, int which, const trs_relaxation *R,
                              const trs_block_system *system, const trs_relax_options *options) {
  member *m = &G->member[which];
  m->device = trs_group_device(G->group, which);
  m->stream = trs_group_stream(G->group, which);
  TRS_TRY(
      trs_relaxation_create_domain(&m->R, R->context, R->scalar, R->block, system, which, options));
  TRS_TRY(TRS_ALLOC(&m->last, R->ncolours));
  return trs_relax_gpu_create(m->R, m->device, m->stream, options->variant);
}

static trs_status set_signs(trs_relax_group *G, member *m, int which) {
  trs_relax_signs signs = {.limit = trs_relax_group_wait_limit};
  TRS_TRY(trs_device_alloc_host(m->device, (void **)&m->told));
  *m->told = 0;
  TRS_TRY(trs_device_copy(G->signs.base[which], &signs, sizeof signs, m->stream));
  return trs_device_wait(m->stream);
}

static trs_status build(trs_relax_group *G, const trs_relaxation *R, trs_block_system *system,
                        const trs_relax_options *options) {
  TRS_TRY(trs_block_system_split(system, G->members));
  G->partition = system->partition;
  for (int k = 0; k < G->members; k++) TRS_TRY(make_domain(G, k, R, system, options));
  TRS_TRY(trs_group_alloc(G->group, &G->signs, sizeof(trs_relax_signs)));
  TRS_TRY(trs_device_event_create(G->member[0].device, &G->mark));
  G->apart = true;
  for (int k = 0; k < G->members; k++) {
    int before = trs_device_enter(G->member[k].device);
    trs_status status = make_lists(G, k);
    if (!status) status = set_signs(G, &G->member[k], k);
    trs_device_leave(before);
    TRS_TRY(status);
    G->apart &= trs_group_sharers(G->group, k) == 1;
  }
  G->together = G->apart && trs_team_size(R->context->team) >= G->members;
  return TRS_SUCCESS;
}

trs_status trs_relax_group_create(trs_relaxation *R, trs_block_system *system,
                                  const trs_relax_options *options) {
  TRS_TRY(TRS_ALLOC_ZERO(&R->group, 1));
  R->group->group = trs_group_retain(R->context->group);
  R->group->members = trs_group_members(R->group->group);
  return build(R->group, R, system, options);
}

static void free_member(member *m) {
  if (!m->device) return;
  int before = trs_device_enter(m->device);
  (void)trs_device_wait(m->stream);
  trs_device_free(m->device, m->from, m->stream);
  trs_device_free(m->device, m->to, m->stream);
  trs_device_free(m->device, m->member, m->stream);
  for (int k = 0; k < 3; k++) trs_device_free(m->device, m->lists[k], m->stream);
  trs_device_free_host(m->device, m->told);
  trs_device_leave(before);
  trs_relax_destroy(m->R);
  trs_free(m->last);
}

void trs_relax_group_free(trs_relaxation *R) {
  trs_relax_group *G = R->group;
  if (!G) return;
  for (int k = 0; k < G->members && G->member[k].device; k++) { /* all kernels are done */
    int before = trs_device_enter(G->member[k].device);
    (void)trs_device_wait(G->member[k].stream);
    trs_device_leave(before);
  }
  for (int k = 0; k < 2 && G->staged[k]; k++)
    trs_device_free_plain(G->member[0].device, G->staged[k], G->staged_bytes);
  for (int k = 0; k < G->members; k++) free_member(&G->member[k]);
  trs_device_event_destroy(G->mark);
  trs_group_free(G->group, &G->signs);
  trs_group_close(G->group);
  trs_free(G);
  R->group = NULL;
}

/* All domains, so that the failure is that of the first row. */
trs_status trs_relax_group_update(trs_relaxation *R, const trs_block_source *source) {
  trs_relax_group *G = R->group;
  trs_failure first = {.status = TRS_SUCCESS}, now;
  R->frobenius[0] = R->frobenius[1] = 0;
  for (int k = 0; k < G->members; k++) {
    trs_relaxation *D = G->member[k].R;
    if (trs_relaxation_update(D, source)) {
      trs_failure_get(&now);
      if (!first.status || now.row < first.row) first = now;
    }
    for (int e = 0; e < 2; e++) R->frobenius[e] += D->frobenius[e];
  }
  R->rounding = R->frobenius[0] > 0 ? sqrt(R->frobenius[1] / R->frobenius[0]) : 0;
  return first.status ? trs_failure_set(&first) : TRS_SUCCESS;
}

trs_status trs_relax_group_set_variant(trs_relaxation *R, const char *name) {
  TRS_TRY(trs_relax_group_wait(R)); /* others store into x */
  for (int k = 0; k < R->group->members; k++)
    TRS_TRY(trs_relax_gpu_set_variant(R->group->member[k].R, name));
  return TRS_SUCCESS;
}

void trs_relax_group_set_stream(trs_relaxation *R, void *stream) { R->group->stream = stream; }
const char *trs_relax_group_variant(const trs_relaxation *R) {
  return trs_relax_gpu_variant(R->group->member[R->group->members - 1].R);
}
const char *trs_relax_group_partition(const trs_relaxation *R, int *members) {
  *members = R->group->members;
  return R->group->partition;
}
int64_t trs_relax_group_bytes(const trs_relaxation *R) {
  const trs_relax_group *G = R->group;
  int64_t bytes = 2 * G->staged_bytes;
  for (int k = 0; k < G->members; k++) {
    const trs_relaxation *D = G->member[k].R;
    int64_t messages = D->domain ? D->domain->send_ptr[D->ncolours] : 0;
    bytes += trs_relax_gpu_bytes(D) + (int64_t)sizeof(trs_relax_signs);
    if (messages) bytes += 14 * D->domain->send[messages - 1].end + 4 * (D->nrows + 1);
  }
  return bytes;
}

/* ---- A turn ---- */

static trs_relax_turn make_turn(const trs_relax_group *G, int which, int32_t c, uint64_t turn) {
  const trs_domain *D = G->member[which].R->domain;
  trs_domain_turn own;
  trs_relax_turn t = {.me = which, .members = G->members, .turn = turn};
  for (int k = 0; k < G->members; k++) t.signs[k] = G->signs.base[k];
  trs_domain_take_turn(&own, D, c, G->member[which].last);
  t.senders = own.senders;
  t.receivers = own.receivers;
  for (int k = 0; k < G->members; k++) t.needed[k] = own.needed[k];
  return t;
}

static trs_relax_push make_push(const trs_relax_group *G, int which, int32_t c, int64_t nrhs) {
  const member *m = &G->member[which];
  const trs_domain *D = m->R->domain;
  int64_t begin = D->send[D->send_ptr[c]].begin, end = D->send[D->send_ptr[c + 1] - 1].end;
  trs_relax_push p = {.count = end - begin,
                      .from = m->from + begin,
                      .to = m->to + begin,
                      .member = m->member + begin,
                      .block = m->R->block,
                      .nrhs = (int)nrhs,
                      .size = m->R->store == TRS_RELAX_DOUBLE ? 8 : 4};
  for (int k = 0; k < G->members; k++) {
    trs_relax_place place = trs_relax_gpu_place(G->member[k].R);
    p.x[k] = place.x;
    p.stride[k] = place.stride;
    p.pitch = place.pitch;
  }
  return p;
}

/* A launch may begin early behind another of a turn. */
static bool overlaps(const trs_relax_group *G, member *m) {
  bool early = G->together && !m->fresh;
  m->fresh = false;
  return early;
}

static trs_status begin(trs_relax_group *G, int which, int32_t c, uint64_t turn) {
  member *m = &G->member[which];
  if (!m->R->domain) return TRS_SUCCESS;
  trs_relax_turn t = make_turn(G, which, c, turn);
  bool needs = t.senders != 0;
  for (int k = 0; k < G->members; k++) needs |= t.needed[k] != 0;
  return needs ? trs_relax_begin_turn(&t, overlaps(G, m), m->stream) : TRS_SUCCESS;
}

static trs_status relax(trs_relax_group *G, int which, int32_t c, bool boundary) {
  member *m = &G->member[which];
  const trs_relaxation *R = m->R;
  int64_t edge = R->domain ? R->domain->boundary[c] : R->colour_ptr[c];
  if (edge == (boundary ? R->colour_ptr[c] : R->colour_ptr[c + 1])) return TRS_SUCCESS;
  m->fresh = true;
  return trs_relax_gpu_run(m->R, c, boundary);
}

static trs_status push(trs_relax_group *G, int which, int32_t c, uint64_t turn, int64_t nrhs) {
  member *m = &G->member[which];
  const trs_domain *D = m->R->domain;
  m->last[c] = turn;
  if (!D || D->send_ptr[c] == D->send_ptr[c + 1]) return TRS_SUCCESS;
  trs_relax_turn t = make_turn(G, which, c, turn);
  trs_relax_push p = make_push(G, which, c, nrhs);
  return trs_relax_push_rows(&t, &p, overlaps(G, m), m->stream);
}

/* ---- Passes over the colours ---- */

typedef struct passes {
  const trs_relaxation *R;
  int64_t sweeps, nrhs;
  trs_sweep_direction direction;
  trs_failure failure[TRS_MOST_MEMBERS];
} passes;

static int64_t count_turns(const passes *P) {
  return P->sweeps * P->R->ncolours * (P->direction == TRS_SWEEP_SYMMETRIC ? 2 : 1);
}

static int32_t colour_of(const passes *P, int64_t turn) {
  int32_t n = P->R->ncolours, c = (int32_t)(turn % n);
  bool back = P->direction == TRS_SWEEP_BACKWARD ||
              (P->direction == TRS_SWEEP_SYMMETRIC && turn / n % 2 == 1);
  return back ? n - 1 - c : c;
}

static trs_status run_member(const passes *P, int which) {
  trs_relax_group *G = P->R->group;
  for (int64_t k = 0; k < count_turns(P); k++) {
    int32_t c = colour_of(P, k);
    uint64_t turn = G->turn + 1 + (uint64_t)k;
    TRS_TRY(begin(G, which, c, turn));
    TRS_TRY(relax(G, which, c, true));
    TRS_TRY(push(G, which, c, turn, P->nrhs));
    TRS_TRY(relax(G, which, c, false));
  }
  return TRS_SUCCESS;
}

static void be_member(void *argument, int rank, int size) {
  passes *P = argument;
  (void)size;
  int before = trs_device_enter(P->R->group->member[rank].device);
  if (run_member(P, rank)) trs_failure_get(&P->failure[rank]);
  trs_device_leave(before);
}

/* Launches of a turn in this order: what one waits for has been launched. */
static trs_status run_turn(const passes *P, int32_t c, uint64_t turn, int step) {
  trs_relax_group *G = P->R->group;
  for (int which = 0; which < G->members; which++) {
    int before = trs_device_enter(G->member[which].device);
    trs_status status = TRS_SUCCESS;
    if (step == 0) status = begin(G, which, c, turn);
    if (step == 0 && !status) status = relax(G, which, c, true);
    if (step == 1) status = push(G, which, c, turn, P->nrhs);
    if (step == 2) status = relax(G, which, c, false);
    trs_device_leave(before);
    TRS_TRY(status);
  }
  return TRS_SUCCESS;
}

/* All turns in one launch of each member. */
static trs_relax_meeting make_meeting(const trs_relax_group *G, int which) {
  const member *m = &G->member[which];
  const trs_domain *D = m->R->domain;
  trs_relax_meeting t = {.me = which,
                         .members = G->members,
                         .turn = G->turn,
                         .ptr = m->lists[0],
                         .to = m->lists[1],
                         .member = m->lists[2]};
  for (int k = 0; k < G->members; k++) {
    trs_relax_place place = trs_relax_gpu_place(G->member[k].R);
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

static trs_status run_meeting(const passes *P) {
  trs_relax_group *G = P->R->group;
  for (int k = 0; k < G->members; k++) {
    trs_relax_meeting t = make_meeting(G, k);
    int before = trs_device_enter(G->member[k].device);
    trs_status status = trs_relax_gpu_run_turns(G->member[k].R, P->direction, count_turns(P), &t);
    trs_device_leave(before);
    TRS_TRY(status);
  }
  G->turn += (uint64_t)(count_turns(P) * P->nrhs);
  return TRS_SUCCESS;
}

static bool meets(const trs_relax_group *G) {
  bool all = G->apart;
  for (int k = 0; k < G->members; k++) all = all && trs_relax_gpu_meets(G->member[k].R);
  return all;
}

static trs_status run_passes(passes *P) {
  trs_relax_group *G = P->R->group;
  trs_status status = TRS_SUCCESS;
  if (meets(G)) return run_meeting(P);
  for (int m = 0; m < G->members; m++) {
    G->member[m].fresh = true;
    P->failure[m].status = TRS_SUCCESS;
  }
  if (G->together) {
    trs_team_run(P->R->context->team, G->members, be_member, P);
    for (int m = 0; m < G->members && !status; m++)
      if (P->failure[m].status) status = trs_failure_set(&P->failure[m]);
  }
  for (int64_t k = 0; !G->together && !status && k < count_turns(P); k++)
    for (int step = 0; step < 3 && !status; step++)
      status = run_turn(P, colour_of(P, k), G->turn + 1 + (uint64_t)k, step);
  G->turn += (uint64_t)count_turns(P);
  return status;
}

/* ---- Norms: the members' exact sums are added by the first one ---- */

/* Straight to the caller's device memory, or by way of pinned memory. */
typedef struct norms {
  double *to; /* of this group's first right-hand side, or NULL */
  int64_t stride, width;
  bool there;
  int64_t check, held; /* checks made, and of them in pinned memory */
} norms;

static trs_status wait_for_members(trs_relax_group *G) {
  for (int k = 0; k < G->members; k++) {
    member *m = &G->member[k];
    int before = trs_device_enter(m->device);
    const char *signs = G->signs.base[k];
    trs_status status = trs_device_copy(m->told, signs + offsetof(trs_relax_signs, told),
                                        sizeof *m->told, m->stream);
    if (!status) status = trs_relax_gpu_wait(m->R);
    trs_device_leave(before);
    TRS_TRY(status);
  }
  for (int k = 0; k < G->members; k++)
    if (*G->member[k].told)
      return trs_fail(TRS_ERROR_STALLED, -1,
                      "member %d waited for another for %.3g s: x is not complete, create the "
                      "relaxation anew",
                      (int)*G->member[k].told - 1, 1e-9 * (double)trs_relax_group_wait_limit);
  return TRS_SUCCESS;
}

static trs_status hand_over(trs_relax_group *G, norms *n) {
  if (!n->held) return TRS_SUCCESS;
  TRS_TRY(wait_for_members(G));
  const double *held = trs_relax_gpu_stage(G->member[0].R);
  for (int64_t k = 0; k < n->held; k++)
    memcpy(n->to + (n->check - n->held + k) * n->stride, held + k * n->width,
           (size_t)n->width * sizeof *held);
  n->held = 0;
  return TRS_SUCCESS;
}

static trs_status add_squares(trs_relax_group *G, trs_relax_words *w) {
  for (int k = 0; k < G->members; k++) {
    int before = trs_device_enter(G->member[k].device);
    trs_status status = trs_relax_gpu_squares(G->member[k].R, &w->words[k]);
    trs_device_leave(before);
    TRS_TRY(status);
  }
  w->members = G->members;
  return TRS_SUCCESS;
}

static trs_status check(trs_relax_group *G, norms *n) {
  trs_relax_words words;
  double *to = n->there ? n->to + n->check * n->stride
                        : trs_relax_gpu_stage(G->member[0].R) + n->held * n->width;
  TRS_TRY(trs_group_fence(G->group)); /* nobody stores into x, or reads words, any more */
  TRS_TRY(add_squares(G, &words));
  TRS_TRY(trs_group_fence(G->group));
  int before = trs_device_enter(G->member[0].device);
  trs_status status = trs_relax_roots(&words, (int)n->width, to, G->member[0].stream);
  trs_device_leave(before);
  TRS_TRY(status);
  n->check++;
  if (n->there) return TRS_SUCCESS;
  n->held++;
  int64_t room = TRS_STAGE_BYTES / (int64_t)sizeof(double);
  return (n->held + 1) * n->width > room ? hand_over(G, n) : TRS_SUCCESS;
}

/* ---- Sweeps ---- */

static trs_status load_all(trs_relax_group *G, const trs_relax_vectors *v, int64_t nrhs,
                           double omega) {
  for (int k = 0; k < G->members; k++) {
    member *m = &G->member[k];
    int before = trs_device_enter(m->device);
    trs_status status = trs_relax_gpu_load(m->R, v, nrhs, omega);
    trs_device_leave(before);
    TRS_TRY(status);
    memset(m->last, 0, (size_t)m->R->ncolours * sizeof *m->last);
  }
  return trs_group_fence(G->group);
}

static trs_status unload_all(trs_relax_group *G, const trs_relax_vectors *v) {
  for (int k = 0; k < G->members; k++) {
    int before = trs_device_enter(G->member[k].device);
    trs_status status = trs_relax_gpu_unload(G->member[k].R, v);
    trs_device_leave(before);
    TRS_TRY(status);
  }
  return trs_group_fence(G->group);
}

/* All sweeps of as many right-hand sides as there is room for; x and b in device memory. */
static trs_status sweep_group(trs_relaxation *R, const trs_relax_vectors *v, int64_t nrhs,
                              const trs_sweep_options *o, norms *n) {
  trs_relax_group *G = R->group;
  passes P = {.R = R, .nrhs = nrhs, .direction = o->direction};
  TRS_TRY(load_all(G, v, nrhs, o->omega));
  if (n->to) TRS_TRY(check(G, n));
  for (int64_t done = 0; done < o->sweeps; done += P.sweeps) {
    int64_t left = o->sweeps - done;
    P.sweeps = n->to && o->residual_every < left ? o->residual_every : left;
    TRS_TRY(run_passes(&P));
    if (n->to && (done + P.sweeps) % o->residual_every == 0) TRS_TRY(check(G, n));
  }
  TRS_TRY(trs_group_fence(G->group)); /* nobody stores into x any more */
  TRS_TRY(unload_all(G, v));
  return hand_over(G, n);
}

static trs_status need_stages(trs_relaxation *R) {
  trs_relax_group *G = R->group;
  int64_t bytes = R->nrows * R->block * R->room * (int64_t)trs_scalar_size(R->scalar);
  G->staged_bytes = bytes;
  for (int k = 0; k < 2; k++)
    if (!G->staged[k])
      TRS_TRY(trs_device_alloc_plain(G->member[0].device, &G->staged[k], bytes > 0 ? bytes : 1));
  return TRS_SUCCESS;
}

/* x or b on the host: through memory of the first member, which all reach. */
static trs_status sweep_staged(trs_relaxation *R, const trs_rhs *rhs,
                               const trs_relax_vectors *given, const trs_sweep_options *o,
                               norms *n) {
  trs_relax_group *G = R->group;
  trs_stream stream = G->member[0].stream;
  trs_relax_vectors v = *given;
  int64_t rows = R->nrows * R->block;
  bool x_by_rows = rhs->x_col == 1 && rhs->x_row != 1;
  bool b_by_rows = rhs->b_col == 1 && rhs->b_row != 1;
  TRS_TRY(need_stages(R));
  v.x = G->staged[0];
  v.b = G->staged[1];
  v.x_row = x_by_rows ? rhs->nrhs : 1;
  v.x_col = x_by_rows ? 1 : rows;
  v.b_row = b_by_rows ? rhs->nrhs : 1;
  v.b_col = b_by_rows ? 1 : rows;
  trs_relax_columns b = {v.b, rhs->b, rhs->b_row, rhs->b_col, rhs->nrhs};
  trs_relax_columns x = {v.x, rhs->x, rhs->x_row, rhs->x_col, rhs->nrhs};
  TRS_TRY(trs_relax_stage_columns(R, &b, false, stream));
  if (v.keep) TRS_TRY(trs_relax_stage_columns(R, &x, false, stream));
  TRS_TRY(trs_group_fence(G->group));
  TRS_TRY(sweep_group(R, &v, rhs->nrhs, o, n));
  return trs_relax_stage_columns(R, &x, true, stream);
}

static trs_status sweep_all(trs_relaxation *R, const trs_rhs *rhs, const trs_sweep_options *o,
                            bool there) {
  for (int64_t first = 0; first < rhs->nrhs; first += R->room) {
    int64_t size = (int64_t)trs_scalar_size(R->scalar);
    trs_rhs part = *rhs;
    part.nrhs = rhs->nrhs - first < R->room ? rhs->nrhs - first : R->room;
    part.x = (char *)rhs->x + first * rhs->x_col * size;
    part.b = (const char *)rhs->b + first * rhs->b_col * size;
    trs_relax_vectors v = {.x = part.x,
                           .b = part.b,
                           .x_row = part.x_row,
                           .x_col = part.x_col,
                           .b_row = part.b_row,
                           .b_col = part.b_col,
                           .wide = R->scalar == TRS_DOUBLE,
                           .keep = o->keep_x};
    norms n = {.to = o->residuals ? o->residuals + first : NULL,
               .stride = rhs->nrhs,
               .width = part.nrhs,
               .there = o->residuals && trs_device_address(o->residuals)};
    TRS_TRY(there ? sweep_group(R, &v, part.nrhs, o, &n) : sweep_staged(R, &part, &v, o, &n));
  }
  return TRS_SUCCESS;
}

/* The members begin behind what the caller's stream holds; the caller's stream goes on behind them.
 */
static trs_status take_over(const trs_relax_group *G, bool back) {
  trs_stream from = back ? G->member[0].stream : G->stream;
  TRS_TRY(trs_device_event_record(G->mark, from));
  for (int k = 0; k < (back ? 1 : G->members); k++)
    TRS_TRY(trs_device_event_follow(G->mark, back ? G->stream : G->member[k].stream));
  return TRS_SUCCESS;
}

trs_status trs_relax_group_sweep(trs_relaxation *R, const trs_rhs *rhs,
                                 const trs_sweep_options *options) {
  trs_relax_group *G = R->group;
  if (rhs->nrhs == 0 || R->nrows == 0) return TRS_SUCCESS;
  int before = trs_device_enter(G->member[0].device);
  bool there = trs_device_address(rhs->x) && trs_device_address(rhs->b);
  trs_status status = TRS_SUCCESS;
  if (trs_device_capturing(G->stream))
    status = trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                      "sweeps on several GPUs cannot be captured into a graph");
  trs_group_lock(G->group);
  if (!status) status = take_over(G, false);
  if (!status) status = sweep_all(R, rhs, options, there);
  if (!status) status = take_over(G, true);
  if (!status && !there) status = wait_for_members(G);
  trs_group_unlock(G->group);
  trs_device_leave(before);
  return status;
}

trs_status trs_relax_group_wait(trs_relaxation *R) {
  trs_relax_group *G = R->group;
  trs_group_lock(G->group);
  trs_status status = wait_for_members(G);
  trs_group_unlock(G->group);
  return status;
}
