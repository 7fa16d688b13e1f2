/* mapped.c - domains of several ranks of one machine, each on a GPU of its own, whose kernels store
 * x of boundary rows into each other's memory, as those of a group do (group_steps.c).
 *
 * A rank's x and signs lie in memory that the other ranks map (CUDA's inter-process handles).  A
 * call of sweeps then needs MPI before its first launch and for norms alone.  The ranks agree on
 * every step of the way there; if one of them cannot take it, all keep their messages (halo.c). */
#include <stddef.h>
#include <string.h>

#include "base/counter.h"
#include "relax/cuda/backend_state.h"
#include "relax/cuda/group_state.h"
#include "relax/kernels.h"

enum { MOST_RANKS = 16 };    /* their positions fit a record of the links */
enum { SIGNS_BYTES = 4096 }; /* in front of x */

_Static_assert(sizeof(trs_relax_signs) <= SIGNS_BYTES, "room for the signs");

/* R->group of a rank's domain. */
typedef struct mapped {
  trs_relax_group group; /* with no trs_group; R of this rank alone */
  int me;
  char *own;
  int64_t bytes;
  trs_device_handle handle;
} mapped;

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
  facts own = {.stride = g->args.x_stride, .slices = trs_relax_gpu_syncs_peers(R)};
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
  trs_relax_member *own = &m->group.member[m->me];
  own->R = R;
  own->device = g->device;
  own->stream = g->stream;
  TRS_TRY(TRS_ALLOC_ZERO(&own->last, R->ncolours));
  m->bytes = SIGNS_BYTES + x_bytes(R) + TRS_RELAX_READ_PAST;
  TRS_TRY(trs_device_alloc_open(g->device, (void **)&m->own, m->bytes, &m->handle));
  TRS_TRY(trs_device_fill(m->own, 0, m->bytes, g->stream));
  TRS_TRY(trs_device_copy(m->own, &signs, sizeof signs, g->stream));
  return trs_device_wait(g->stream);
}

static trs_status open_others(const trs_relaxation *R, mapped *m, const facts *all) {
  trs_relax_group *G = &m->group;
  trs_device_handle handles[MOST_RANKS];
  const void *gathered = R->links->gather(R->links, &m->handle, sizeof m->handle);
  if (!gathered) return TRS_ERROR_STALLED; /* the links keep the failure */
  memcpy(handles, gathered, (size_t)G->members * sizeof *handles);
  for (int k = 0; k < G->members; k++) {
    void *base = m->own;
    if (k != m->me) TRS_TRY(trs_device_open_handle(R->gpu->device, &base, &handles[k]));
    G->signs.base[k] = base;
    G->member[k].place = (trs_relax_place){
        .x = (char *)base + SIGNS_BYTES, .stride = all[k].stride, .pitch = R->gpu->args.pitch};
  }
  return TRS_SUCCESS;
}

static void close_others(const trs_relaxation *R, mapped *m) {
  for (int k = 0; k < m->group.members; k++)
    if (k != m->me) trs_device_close_handle(R->gpu->device, m->group.signs.base[k]);
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
      arrival[k] = all[D->send[k].other * MOST_RANKS + m->me];
  }
  return TRS_SUCCESS;
}

static void free_mapped(const trs_relaxation *R, mapped *m) {
  if (!m) return;
  trs_relax_member *own = &m->group.member[m->me];
  if (own->device) trs_relax_member_free_lists(own);
  if (m->own) trs_device_free_open(R->gpu->device, m->own, m->bytes);
  trs_free(own->last);
  trs_free(m);
}

/* ---- The way there ---- */

/* Every step ends with on_all, so all ranks leave at the same one. */
static bool map_all(trs_relaxation *R, mapped *m, const facts *all) {
  int64_t *arrival = NULL, messages = R->domain->send_ptr[R->ncolours];
  trs_status status = reserve(R, m);
  if (!status) status = TRS_ALLOC(&arrival, messages);
  bool good = on_all(R, !status) && on_all(R, !open_others(R, m, all)) &&
              on_all(R, !find_arrivals(R, m, arrival)) &&
              on_all(R, !trs_relax_member_lists(&m->group.member[m->me], arrival));
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
  *m = (mapped){.group = {.members = R->domain->count,
                          .apart = true,
                          .together = true,
                          .step = trs_counters_begin},
                .me = R->domain->me};
  int before = trs_device_enter(R->gpu->device);
  if (map_all(R, m, all)) {
    R->group = &m->group;
    trs_relax_gpu_put_x(R, m->own + SIGNS_BYTES);
  } else {
    close_others(R, m);
    (void)on_all(R, true); /* before memory is freed that others have mapped */
    free_mapped(R, m);
  }
  trs_device_leave(before);
}

void trs_relax_gpu_leave(trs_relaxation *R) {
  if (!R->group) return;
  int before = trs_device_enter(R->gpu->device);
  (void)trs_device_wait(R->gpu->stream);
  close_others(R, mapped_of(R));
  (void)on_all(R, true);
  trs_device_leave(before);
}

void trs_relax_mapped_free(trs_relaxation *R) {
  free_mapped(R, mapped_of(R));
  R->group = NULL;
}

/* ---- Sweeps ---- */

/* Returns once all ranks have ended what they launched.  False: one of them has failed, and nobody
 * must launch what waits for it. */
bool trs_relax_mapped_fence(trs_relaxation *R, bool failed) {
  return on_all(R, !trs_device_wait(R->gpu->stream) && !failed);
}

trs_status trs_relax_mapped_run(trs_relaxation *R, int64_t sweeps, trs_sweep_direction direction) {
  trs_relax_passes P = {
      .R = R, .sweeps = sweeps, .nrhs = R->gpu->args.nrhs, .direction = direction};
  return trs_relax_member_pass(&P, mapped_of(R)->me);
}

/* Before the first step: no row of any colour has been relaxed. */
void trs_relax_mapped_start(trs_relaxation *R) {
  uint64_t *last = R->group->member[mapped_of(R)->me].last;
  memset(last, 0, (size_t)R->ncolours * sizeof *last);
}

trs_status trs_relax_mapped_check(trs_relaxation *R) {
  uint64_t told = 0;
  const char *signs = mapped_of(R)->own;
  TRS_TRY(
      trs_device_copy(&told, signs + offsetof(trs_relax_signs, told), sizeof told, R->gpu->stream));
  TRS_TRY(trs_device_wait(R->gpu->stream));
  if (!told) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_STALLED, -1,
                  "the GPU of rank %d waited for another for %.3g s: x is not complete, create the "
                  "relaxation anew",
                  (int)told - 1, 1e-9 * (double)trs_relax_group_wait_limit);
}
