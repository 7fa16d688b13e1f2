/* mapped.c - domains of several ranks of one machine, each on a GPU of its own, whose kernels store
 * x of boundary rows into each other's memory, as those of a group do (group_steps.c).
 *
 * A rank's x and signs lie in memory that the other ranks map (CUDA's inter-process handles).  A
 * call of sweeps then needs MPI before its first launch and for norms alone.  The ranks agree on
 * every step of the way there; if one of them cannot take it, all keep their messages (halo.c). */
#include <stddef.h>
#include <string.h>

#include "base/counter.h"
#include "comm/mapped.h"
#include "relax/cuda/backend.h"
#include "relax/cuda/group_state.h"
#include "relax/kernels.h"

enum { MOST_RANKS = 16 };    /* their positions fit a record of the links */
enum { SIGNS_BYTES = 4096 }; /* in front of x */

_Static_assert(sizeof(trs_relax_signs) <= SIGNS_BYTES, "room for the signs");

/* R->group of a rank's domain. */
typedef struct mapped {
  trs_relax_group group; /* with no trs_group; R of this rank alone */
  trs_mapped memory;     /* the signs, then x */
} mapped;

static char *own_memory(const mapped *m) { return m->memory.base[m->memory.me]; }

static mapped *mapped_of(const trs_relaxation *R) { return (mapped *)R->group; }

/* True if it is true on all ranks. */
static bool on_all(trs_relaxation *R, bool good) {
  const int64_t mine = good, *all = R->links->gather(R->links, &mine, sizeof mine);
  for (int k = 0; all && k < R->domain->count; k++) good = good && all[k];
  return all && good;
}

/* ---- Whether the ranks can ---- */

typedef struct facts {
  int64_t can, gpu, stride, slices;
} facts;

static facts find_facts(const trs_relaxation *R) {
  const trs_relax_gpu *g = R->gpu;
  facts own = {.stride = g->args.x_stride, .slices = trs_relax_by_slices(R)};
  own.can = R->links->beside_first && R->nrows > 0 && R->domain->count <= MOST_RANKS &&
            trs_device_identity(g->device, &own.gpu) == TRS_SUCCESS;
  return own;
}

/* Each rank has a GPU of its own, and all launch the same kernels. */
static bool gather_facts(trs_relaxation *R, facts *all) {
  const int count = R->domain->count;
  const facts own = find_facts(R), *gathered = R->links->gather(R->links, &own, sizeof own);
  if (!gathered || count > MOST_RANKS) return false;
  memcpy(all, gathered, (size_t)count * sizeof *all);
  bool can = true;
  for (int k = 0; k < count; k++) {
    can = can && all[k].can && all[k].slices == all[0].slices;
    for (int j = 0; j < k; j++) can = can && all[j].gpu != all[k].gpu;
  }
  return can;
}

/* ---- Memory ---- */

static int64_t x_bytes(const trs_relaxation *R) {
  return R->gpu->args.x_stride * R->room * (int64_t)trs_relax_kernels_of(R->store)->x_size;
}

static trs_status reserve(trs_relaxation *R, mapped *m) {
  const trs_relax_gpu *g = R->gpu;
  const trs_relax_signs signs = trs_relax_first_signs(m->group.members);
  trs_relax_member *own = &m->group.member[m->memory.me];
  own->R = R;
  own->device = g->device;
  own->stream = R->plan->stream;
  TRS_TRY(TRS_ALLOC_ZERO(&own->last, R->ncolours));
  TRS_TRY(trs_mapped_alloc(&m->memory, SIGNS_BYTES + x_bytes(R) + TRS_RELAX_READ_PAST));
  TRS_TRY(trs_device_fill(own_memory(m), 0, m->memory.bytes, R->plan->stream));
  TRS_TRY(trs_device_copy(own_memory(m), &signs, sizeof signs, R->plan->stream));
  return trs_device_wait(R->plan->stream);
}

static trs_status open_others(const trs_relaxation *R, mapped *m, const facts *all) {
  trs_relax_group *G = &m->group;
  trs_device_handle handles[MOST_RANKS];
  const void *gathered = R->links->gather(R->links, &m->memory.handle, sizeof m->memory.handle);
  if (!gathered) return TRS_ERROR_STALLED; /* the links keep the failure */
  memcpy(handles, gathered, (size_t)G->members * sizeof *handles);
  for (int k = 0; k < G->members; k++) {
    if (k != m->memory.me) TRS_TRY(trs_mapped_open(&m->memory, k, &handles[k]));
    G->signs.base[k] = m->memory.base[k];
    G->member[k].place = (trs_relax_place){
        .x = m->memory.base[k] + SIGNS_BYTES, .stride = all[k].stride, .pitch = R->gpu->args.pitch};
  }
  return TRS_SUCCESS;
}

/* For each message, the first position at the receiver. */
static trs_status find_arrivals(const trs_relaxation *R, const mapped *m, int64_t *arrival) {
  const trs_domain *D = R->domain;
  for (int32_t c = 0; c < R->ncolours; c++) {
    int32_t from[MOST_RANKS] = {0};
    for (int64_t k = D->receive_ptr[c]; k < D->receive_ptr[c + 1]; k++)
      from[D->receive[k].other] = (int32_t)D->receive[k].begin;
    const int32_t *all = R->links->gather(R->links, from, sizeof from);
    if (!all) return TRS_ERROR_STALLED;
    for (int64_t k = D->send_ptr[c]; k < D->send_ptr[c + 1]; k++)
      arrival[k] = all[D->send[k].other * MOST_RANKS + m->memory.me];
  }
  return TRS_SUCCESS;
}

static void free_mapped(mapped *m) {
  if (!m) return;
  trs_relax_member *own = &m->group.member[m->memory.me];
  if (own->device) trs_relax_member_free_lists(own);
  trs_mapped_free(&m->memory);
  TRS_FREE_ALL(own->last, m);
}

/* ---- The way there ---- */

/* Every step ends with on_all, so all ranks leave at the same one. */
static bool map_all(trs_relaxation *R, mapped *m, const facts *all) {
  int64_t *arrival = NULL, messages = R->domain->send_ptr[R->ncolours];
  trs_status status = reserve(R, m);
  if (!status) status = TRS_ALLOC(&arrival, messages);
  bool good = on_all(R, !status) && on_all(R, !open_others(R, m, all)) &&
              on_all(R, !find_arrivals(R, m, arrival)) &&
              on_all(R, !trs_relax_member_lists(&m->group.member[m->memory.me], arrival));
  trs_free(arrival);
  return good;
}

void trs_relax_gpu_meet(trs_relaxation *R) {
  facts all[MOST_RANKS];
  mapped *m = NULL;
  if (!gather_facts(R, all) || !on_all(R, !TRS_ALLOC_ZERO(&m, 1))) {
    trs_free(m);
    return;
  }
  *m = (mapped){
      .group = {.members = R->domain->count,
                .one_gpu_each = true,
                .together = true,
                .step = trs_counters_begin},
      .memory = {.device = R->gpu->device, .members = R->domain->count, .me = R->domain->me}};
  int before = trs_device_enter(R->gpu->device);
  if (map_all(R, m, all)) {
    R->group = &m->group;
    trs_arena_drop(&R->gpu->own, R->gpu->args.x);
    R->gpu->args.x = own_memory(m) + SIGNS_BYTES;
  } else {
    trs_mapped_close(&m->memory);
    (void)on_all(R, true); /* before memory is freed that others have mapped */
    free_mapped(m);
  }
  trs_device_leave(before);
}

void trs_relax_gpu_leave(trs_relaxation *R) {
  if (!R->group) return;
  TRS_ON_DEVICE(R->gpu->device);
  (void)trs_device_wait(R->plan->stream);
  trs_mapped_close(&mapped_of(R)->memory);
  (void)on_all(R, true);
}

void trs_relax_mapped_free(trs_relaxation *R) {
  free_mapped(mapped_of(R));
  R->group = NULL;
}

/* ---- Sweeps ---- */

/* Returns once all ranks have ended what they launched.  False: one of them has failed, and nobody
 * must launch what waits for it. */
bool trs_relax_mapped_fence(trs_relaxation *R, bool failed) {
  return on_all(R, !trs_device_wait(R->plan->stream) && !failed);
}

trs_status trs_relax_mapped_run(trs_relaxation *R, int64_t sweeps, trs_sweep_direction direction) {
  trs_relax_passes P = {
      .R = R, .sweeps = sweeps, .nrhs = R->gpu->args.nrhs, .direction = direction};
  return trs_relax_member_pass(&P, mapped_of(R)->memory.me);
}

/* Before the first step: no row of any colour has been relaxed. */
void trs_relax_mapped_start(trs_relaxation *R) {
  uint64_t *last = R->group->member[mapped_of(R)->memory.me].last;
  memset(last, 0, (size_t)R->ncolours * sizeof *last);
}

trs_status trs_relax_mapped_check(trs_relaxation *R) {
  trs_fault fault;
  const char *signs = own_memory(mapped_of(R));
  TRS_TRY(trs_device_copy(&fault, signs + offsetof(trs_relax_signs, fault), sizeof fault,
                          R->plan->stream));
  TRS_TRY(trs_device_wait(R->plan->stream));
  return trs_relax_check_fault(&fault, "the GPU of rank");
}
