/* group_sweep.c - sweeps of relaxation on several GPUs: copies of vectors, passes over the colours,
 * norms. */
#include <stddef.h>
#include <string.h>

#include "relax/cuda/driver.h"
#include "relax/cuda/group_state.h"

/* ---- Norms: the first member adds the members' exact sums ---- */

static trs_status wait_for_member(void *group, int k) {
  trs_relax_group *G = group;
  const trs_relax_member *m = &G->member[k];
  const char *signs = G->signs.base[k];
  TRS_TRY(trs_device_copy(m->fault, signs + offsetof(trs_relax_signs, fault), sizeof *m->fault,
                          m->stream));
  return trs_relax_gpu_wait(m->R->plan);
}

static trs_status wait_for_members(trs_relax_group *G) {
  TRS_TRY(trs_group_each(G->group, wait_for_member, G));
  for (int k = 0; k < G->members; k++) TRS_TRY(trs_relax_check_fault(G->member[k].fault, "member"));
  return TRS_SUCCESS;
}

static trs_status add_squares(void *group, int k) {
  trs_relax_group *G = group;
  trs_relaxation *R = G->member[k].R;
  G->words.words[k] = R->gpu->args.words;
  return trs_relax_gpu_add_squares(R);
}

static trs_status find_norms(trs_relaxation *R, int64_t nrhs, double *norms) {
  trs_relax_group *G = R->group;
  G->words.members = G->members;
  TRS_TRY(trs_group_fence(G->group)); /* x and words are final */
  TRS_TRY(trs_group_each(G->group, add_squares, G));
  TRS_TRY(trs_group_fence(G->group));
  return trs_relax_roots(&G->words, (int)nrhs, norms, G->member[0].stream);
}

/* ---- Sweeps ---- */

typedef struct vectors_work {
  trs_relax_group *G;
  const trs_relax_vectors *v;
  double omega;
} vectors_work;

static trs_status load_member(void *argument, int k) {
  const vectors_work *work = argument;
  const trs_relax_member *m = &work->G->member[k];
  memset(m->last, 0, (size_t)m->R->ncolours * sizeof *m->last);
  return trs_relax_gpu_load(m->R, work->v, work->G->nrhs, work->omega);
}

static trs_status load(trs_relaxation *R, const trs_relax_vectors *v, int64_t nrhs, double omega) {
  vectors_work work = {R->group, v, omega};
  R->group->nrhs = nrhs;
  TRS_TRY(trs_group_each(R->group->group, load_member, &work));
  return trs_group_fence(R->group->group);
}

static trs_status unload_member(void *argument, int k) {
  const vectors_work *work = argument;
  return trs_relax_gpu_unload(work->G->member[k].R, work->v);
}

static trs_status unload(trs_relaxation *R, const trs_relax_vectors *v) {
  vectors_work work = {.G = R->group, .v = v};
  TRS_TRY(trs_group_fence(R->group->group)); /* x is final */
  TRS_TRY(trs_group_each(R->group->group, unload_member, &work));
  return trs_group_fence(R->group->group);
}

static trs_status run(trs_relaxation *R, int64_t sweeps, trs_sweep_direction direction) {
  trs_relax_passes P = {.R = R, .sweeps = sweeps, .nrhs = R->group->nrhs, .direction = direction};
  return trs_relax_group_pass(&P);
}

/* Synchronises the members' streams: earlier launches of all members complete before later ones. */
static trs_status fence(trs_relaxation *R) { return trs_group_fence(R->group->group); }

/* In memory of the first member, which all members can reach. */
static trs_status need_stages(trs_relaxation *R) {
  trs_relax_group *G = R->group;
  int64_t bytes = R->nrows * R->block * R->room * (int64_t)trs_scalar_size(R->scalar);
  G->staged_bytes = bytes;
  for (int k = 0; k < 2; k++)
    if (!G->staged[k])
      TRS_TRY(trs_device_alloc_plain(G->member[0].device, &G->staged[k], bytes > 0 ? bytes : 1));
  return TRS_SUCCESS;
}

static const trs_relax_steps steps = {
    .load = load, .run = run, .norms = find_norms, .unload = unload, .staged = fence};

/* The members start after the work in the caller's stream; the caller's stream continues after
 * them. */
static trs_status take_over(const trs_relaxation *R, bool back) {
  const trs_relax_group *G = R->group;
  trs_stream from = back ? G->member[0].stream : R->plan->stream;
  TRS_TRY(trs_device_event_record(G->mark, from));
  for (int k = 0; k < (back ? 1 : G->members); k++)
    TRS_TRY(trs_device_event_follow(G->mark, back ? R->plan->stream : G->member[k].stream));
  return TRS_SUCCESS;
}

trs_status trs_relax_group_sweep(trs_relaxation *R, const trs_rhs *rhs,
                                 const trs_sweep_options *options) {
  trs_relax_group *G = R->group;
  if (rhs->nrhs == 0 || R->nrows == 0) return TRS_SUCCESS;
  TRS_ON_DEVICE(G->member[0].device);
  bool there = trs_device_address(rhs->x) && trs_device_address(rhs->b);
  const trs_relax_driver driver = {R, &steps, G->staged, G->member[0].R->gpu->norms,
                                   G->member[0].stream};
  trs_status status = TRS_SUCCESS;
  if (trs_device_capturing(R->plan->stream))
    status = trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                      "sweeps on several GPUs cannot be captured into a graph");
  trs_group_lock(G->group);
  if (!status) status = take_over(R, false);
  if (!status && !there) status = need_stages(R);
  if (!status) status = trs_relax_drive(&driver, rhs, options, there);
  if (!status) status = take_over(R, true);
  if (!status && !there) status = wait_for_members(G);
  trs_group_unlock(G->group);
  return status;
}

trs_status trs_relax_group_wait(trs_plan *plan) {
  return wait_for_members(((trs_relaxation *)plan->state)->group);
}
