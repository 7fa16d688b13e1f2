/* halo.c - W21's exchange of a colour if a domain is on a GPU and its neighbours are other ranks.
 * The host processes one colour after the other.  It copies received rows into x when they have
 * arrived; boundary rows are relaxed, packed and copied to the host; interior rows run while MPI
 * sends the boundary rows.  All launches are on one stream, so that the host waits for packed rows
 * only. */
#include <string.h>

#include "device/shared.h"
#include "relax/cuda/backend.h"
#include "relax/cuda/halo.h"
#include "relax/kernels.h"

struct trs_relax_halo {
  trs_relax_mover base;
  int64_t row;                /* bytes per row of x */
  int64_t sent;               /* rows of all messages */
  int32_t *list;              /* device: positions of the rows to send */
  char *packed, *arrived;     /* device: like base.out, base.in */
  trs_device_event *gone;     /* the last colour's rows have arrived in base.out */
  trs_device_event **settled; /* per colour: its received rows are in x */
  int32_t begun;              /* the colour of event gone, or -1 */
  trs_failure failed;         /* reported at the sweep's end, because others wait for messages */
  bool halted; /* mapped.c: a rank has failed, so that none launches what waits for it */
};

static void keep(trs_relax_halo *h, trs_status status) {
  if (status && !h->failed.status) trs_failure_get(&h->failed);
}

static trs_relax_rows_moved rows_moved(const trs_relaxation *R, int64_t nrhs) {
  const trs_relax_args *a = &R->gpu->args;
  return (trs_relax_rows_moved){.x = a->x,
                                .stride = a->x_stride,
                                .block = a->block,
                                .pitch = a->pitch,
                                .nrhs = (int)nrhs,
                                .size = (int)(R->gpu->halo->row / a->block)};
}

/* ---- Messages ---- */

/* Copies the colour's boundary rows to the host. */
static trs_status begin_pack(trs_relaxation *R, int32_t c, int64_t nrhs) {
  trs_relax_halo *h = R->gpu->halo;
  const trs_domain *D = R->domain;
  if (D->send_ptr[c] == D->send_ptr[c + 1]) return TRS_SUCCESS;
  int64_t begin = D->send[D->send_ptr[c]].begin, end = D->send[D->send_ptr[c + 1] - 1].end;
  int64_t at = begin * nrhs * h->row;
  trs_relax_rows_moved m = rows_moved(R, nrhs);
  m.packed = h->packed + at;
  m.list = h->list + begin;
  m.count = end - begin;
  m.out = 1;
  TRS_TRY(trs_relax_move_rows(&m, R->plan->stream));
  TRS_TRY(trs_device_copy(h->base.out + at, m.packed, m.count * nrhs * h->row, R->plan->stream));
  h->begun = c;
  return trs_device_event_record(h->gone, R->plan->stream);
}

static void pack(trs_relaxation *R, int32_t c, int64_t nrhs) {
  trs_relax_halo *h = R->gpu->halo;
  TRS_ON_DEVICE(R->gpu->device);
  if (h->begun != c && !h->failed.status) keep(h, begin_pack(R, c, nrhs));
  if (h->begun == c) keep(h, trs_device_event_wait(h->gone));
  h->begun = -1;
}

static trs_status put(trs_relaxation *R, const trs_domain_message *M, int64_t nrhs) {
  trs_relax_halo *h = R->gpu->halo;
  int64_t at = (M->begin - R->nrows) * nrhs * h->row;
  trs_relax_rows_moved m = rows_moved(R, nrhs);
  m.packed = h->arrived + at;
  m.first = M->begin;
  m.count = M->end - M->begin;
  TRS_TRY(trs_device_copy(m.packed, h->base.in + at, m.count * nrhs * h->row, R->plan->stream));
  TRS_TRY(trs_relax_move_rows(&m, R->plan->stream));
  return trs_device_event_record(h->settled[M->colour], R->plan->stream);
}

static void unpack(trs_relaxation *R, const trs_domain_message *M, int64_t nrhs) {
  trs_relax_halo *h = R->gpu->halo;
  TRS_ON_DEVICE(R->gpu->device);
  if (!h->failed.status) keep(h, put(R, M, nrhs));
}

static void settle(trs_relaxation *R, int32_t c) {
  trs_relax_halo *h = R->gpu->halo;
  TRS_ON_DEVICE(R->gpu->device);
  keep(h, trs_device_event_wait(h->settled[c]));
}

/* ---- Sweeps ---- */

static void relax_colour(trs_relaxation *R, int32_t c) {
  trs_relax_halo *h = R->gpu->halo;
  int64_t edge = R->domain->boundary[c], nrhs = R->gpu->args.nrhs;
  R->links->arrive(R->links, c);
  if (!h->failed.status && edge > R->colour_ptr[c]) keep(h, trs_relax_gpu_run(R, c, true));
  if (!h->failed.status) keep(h, begin_pack(R, c, nrhs));
  if (!h->failed.status && edge < R->colour_ptr[c + 1]) keep(h, trs_relax_gpu_run(R, c, false));
  R->links->give(R->links, c);
}

void trs_relax_halo_fence(trs_relaxation *R) {
  trs_relax_halo *h = R->gpu->halo;
  if (R->group) h->halted = !trs_relax_mapped_fence(R, h->failed.status || h->halted);
}

trs_status trs_relax_halo_sweep(trs_relaxation *R, int64_t sweeps, trs_sweep_direction direction) {
  if (R->group) {
    trs_relax_halo_fence(R); /* x is loaded, and norms of it are taken */
    return R->gpu->halo->halted ? TRS_SUCCESS : trs_relax_mapped_run(R, sweeps, direction);
  }
  for (int64_t k = 0; k < trs_relaxation_steps(R, sweeps, direction); k++)
    relax_colour(R, trs_relaxation_colour(R, direction, k));
  return TRS_SUCCESS;
}

/* Rows of other ranks start from zero, or from their values on those ranks. */
trs_status trs_relax_halo_start(trs_relaxation *R, bool keep_x) {
  trs_relax_halo *h = R->gpu->halo;
  const trs_relax_args *a = &R->gpu->args;
  int64_t element = h->row / R->block;
  for (int64_t c = 0; c < a->nrhs; c++)
    keep(h, trs_device_fill((char *)a->x + (c * a->x_stride + R->nrows * a->pitch) * element, 0,
                            R->nhalo * a->pitch * element, R->plan->stream));
  if (R->group) trs_relax_mapped_start(R);
  R->links->start(R->links, a->nrhs, keep_x);
  return TRS_SUCCESS;
}

trs_status trs_relax_halo_end(trs_relaxation *R) {
  trs_relax_halo *h = R->gpu->halo;
  R->links->drain(R->links);
  if (R->group) keep(h, trs_relax_mapped_check(R));
  trs_failure failed = h->failed;
  h->failed = (trs_failure){0};
  h->halted = false;
  return failed.status ? trs_failure_set(&failed) : TRS_SUCCESS;
}

/* words: of this domain, in device memory. */
trs_status trs_relax_halo_norms(trs_relaxation *R, const uint64_t *words, double *norms) {
  trs_relax_gpu *g = R->gpu;
  uint64_t own[TRS_EXACT_WORDS];
  for (int64_t c = 0; c < g->args.nrhs; c++) {
    memset(own, 0, sizeof own);
    if (words && !g->halo->failed.status)
      keep(g->halo, trs_device_copy(own, words + c * TRS_EXACT_WORDS, sizeof own, R->plan->stream));
    keep(g->halo, trs_device_wait(R->plan->stream));
    R->links->sum(R->links, (int64_t *)own, TRS_EXACT_WORDS);
    norms[c] = trs_exact_root(own);
  }
  return TRS_SUCCESS;
}

/* ---- Life ---- */

static trs_status make_room(trs_relaxation *R, trs_relax_halo *h) {
  trs_relax_gpu *g = R->gpu;
  const trs_domain *D = R->domain;
  int64_t each = R->room * h->row;
  TRS_TRY(TRS_ALLOC_ZERO(&h->settled, R->ncolours));
  TRS_TRY(trs_device_event_create(g->device, &h->gone));
  for (int32_t c = 0; c < R->ncolours; c++)
    TRS_TRY(trs_device_event_create(g->device, &h->settled[c]));
  TRS_TRY(
      trs_device_alloc(g->device, (void **)&h->list, h->sent, sizeof *h->list, R->plan->stream));
  TRS_TRY(trs_device_alloc(g->device, (void **)&h->packed, h->sent, (size_t)each, R->plan->stream));
  TRS_TRY(
      trs_device_alloc(g->device, (void **)&h->arrived, R->nhalo, (size_t)each, R->plan->stream));
  TRS_TRY(trs_relax_need_stages(R)); /* outside of a sweep: all ranks agree on the status here */
  TRS_TRY(trs_device_alloc_pinned((void **)&h->base.out, h->sent * each));
  TRS_TRY(trs_device_alloc_pinned((void **)&h->base.in, R->nhalo * each));
  TRS_TRY(trs_device_copy(h->list, D->sent, h->sent * (int64_t)sizeof *h->list, R->plan->stream));
  /* b and x have the domain's rows only */
  TRS_TRY(trs_device_copy((void *)(uintptr_t)g->args.row, R->place,
                          R->nrows * (int64_t)sizeof *R->place, R->plan->stream));
  return trs_device_wait(R->plan->stream);
}

trs_status trs_relax_gpu_link(trs_relaxation *R) {
  const trs_domain *D = R->domain;
  trs_relax_halo *h;
  TRS_TRY(TRS_ALLOC_ZERO(&h, 1));
  h->base = (trs_relax_mover){.pack = pack, .unpack = unpack, .settle = settle};
  h->row = R->block * (int64_t)trs_relax_kernels_of(R->store)->x_size;
  h->sent = D->send_ptr[R->ncolours] ? D->send[D->send_ptr[R->ncolours] - 1].end : 0;
  h->begun = -1;
  R->gpu->halo = h;
  R->mover = &h->base;
  TRS_ON_DEVICE(R->gpu->device);
  return make_room(R, h);
}

void trs_relax_halo_free(trs_relaxation *R) {
  trs_relax_gpu *g = R->gpu;
  trs_relax_halo *h = g->halo;
  if (!h) return;
  trs_device_event_destroy(h->gone);
  for (int32_t c = 0; h->settled && c < R->ncolours; c++) trs_device_event_destroy(h->settled[c]);
  trs_free(h->settled);
  trs_device_free(g->device, h->list, R->plan->stream);
  trs_device_free(g->device, h->packed, R->plan->stream);
  trs_device_free(g->device, h->arrived, R->plan->stream);
  (void)trs_device_wait(R->plan->stream);
  trs_device_free_pinned(h->base.out);
  trs_device_free_pinned(h->base.in);
  trs_free(h);
  g->halo = NULL;
  R->mover = NULL;
}
