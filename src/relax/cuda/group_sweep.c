/* group_sweep.c - sweeps of relaxation on several GPUs: vectors there and back, passes over the
 * colours, norms on the way. */
#include <stddef.h>
#include <string.h>

#include "relax/cuda/group_state.h"

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
    trs_relax_member *m = &G->member[k];
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
    trs_relax_member *m = &G->member[k];
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
  trs_relax_passes P = {.R = R, .nrhs = nrhs, .direction = o->direction};
  TRS_TRY(load_all(G, v, nrhs, o->omega));
  if (n->to) TRS_TRY(check(G, n));
  for (int64_t done = 0; done < o->sweeps; done += P.sweeps) {
    int64_t left = o->sweeps - done;
    P.sweeps = n->to && o->residual_every < left ? o->residual_every : left;
    TRS_TRY(trs_relax_group_pass(&P));
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
  TRS_TRY(need_stages(R));
  const trs_relax_staging staging = trs_relax_stage(&v, R, rhs, G->staged);
  TRS_TRY(trs_relax_stage_columns(R, &staging.b, false, stream));
  if (v.keep) TRS_TRY(trs_relax_stage_columns(R, &staging.x, false, stream));
  TRS_TRY(trs_group_fence(G->group));
  TRS_TRY(sweep_group(R, &v, rhs->nrhs, o, n));
  return trs_relax_stage_columns(R, &staging.x, true, stream);
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

trs_status trs_relax_group_wait(trs_relaxation *R) { return wait_for_members(R->group); }
