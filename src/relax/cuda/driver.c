/* driver.c - the sequence of a call: for each group of right-hand sides, bring b and x, load, check
 * norms, sweep, check, unload, copy x back. */
#include "relax/cuda/driver.h"

#include <string.h>

#include "matrix/stage.h"
#include "relax/backend.h"

/* ---- Norms go directly to the caller's device memory, or through pinned memory to the host.  The
 * host waits when pinned memory is full, and at the end. ---- */

typedef struct norms {
  double *to; /* for the group's first right-hand side; NULL: no norms */
  int64_t stride, width;
  bool there;          /* in device memory */
  int64_t check, held; /* checks done; those whose norms are still in pinned memory */
} norms;

static trs_status hand_over(const trs_relax_driver *d, norms *m) {
  if (!m->held) return TRS_SUCCESS;
  TRS_TRY(d->R->backend->method.wait(d->R->plan));
  for (int64_t k = 0; k < m->held; k++)
    memcpy(m->to + (m->check - m->held + k) * m->stride, d->pinned + k * m->width,
           (size_t)m->width * sizeof *d->pinned);
  m->held = 0;
  return TRS_SUCCESS;
}

static trs_status check_on_host(const trs_relax_driver *d, norms *m) {
  double *to = m->to + m->check++ * m->stride;
  TRS_TRY(d->steps->host_norms(d->R, m->there ? d->pinned : to));
  if (!m->there) return TRS_SUCCESS;
  TRS_TRY(trs_device_copy(to, d->pinned, m->width * (int64_t)sizeof *to, d->stream));
  return trs_device_wait(d->stream);
}

static trs_status check(const trs_relax_driver *d, norms *m) {
  const int64_t room = TRS_STAGE_BYTES / (int64_t)sizeof *d->pinned;
  if (d->steps->host_norms) return check_on_host(d, m);
  if (m->there) return d->steps->norms(d->R, m->width, m->to + m->check++ * m->stride);
  TRS_TRY(d->steps->norms(d->R, m->width, d->pinned + m->held * m->width));
  m->check++;
  m->held++;
  return (m->held + 1) * m->width > room ? hand_over(d, m) : TRS_SUCCESS;
}

/* ---- One group of right-hand sides ---- */

/* Keeps the first failure.  False: the call ends. */
static bool goes_on(const trs_relax_driver *d, trs_status *first, trs_status now) {
  if (!*first) *first = now;
  return !*first || d->R->links;
}

/* x and b are in device memory; status: result of bringing them there. */
static trs_status sweep_group(const trs_relax_driver *d, const trs_relax_vectors *v,
                              const trs_sweep_options *o, norms *m, trs_status status) {
  trs_relaxation *R = d->R;
  bool on = goes_on(d, &status, TRS_SUCCESS);
  if (on) on = goes_on(d, &status, d->steps->load(R, v, m->width, o->omega));
  if (on && m->to) on = goes_on(d, &status, check(d, m));
  for (int64_t done = 0, now; on && done < o->sweeps; done += now) {
    now = o->sweeps - done;
    if (m->to && o->residual_every < now) now = o->residual_every;
    on = goes_on(d, &status, d->steps->run(R, now, o->direction));
    if (on && m->to && (done + now) % o->residual_every == 0) on = goes_on(d, &status, check(d, m));
  }
  if (on && d->steps->end) (void)goes_on(d, &status, d->steps->end(R));
  TRS_TRY(status);
  if (d->steps->unload) TRS_TRY(d->steps->unload(R, v));
  return hand_over(d, m);
}

/* ---- Arrays on the host ---- */

static void use_arrays(trs_relax_vectors *v, const trs_rhs *rhs) {
  v->x = rhs->x;
  v->b = rhs->b;
  v->x_row = rhs->x_row;
  v->x_col = rhs->x_col;
  v->b_row = rhs->b_row;
  v->b_col = rhs->b_col;
}

static trs_status sweep_staged(const trs_relax_driver *d, const trs_rhs *rhs, trs_relax_vectors *v,
                               const trs_sweep_options *o, norms *m) {
  const trs_relaxation *R = d->R;
  const trs_span s = trs_span_of(rhs, R->nrows * R->block, R->scalar, 0, rhs->nrhs);
  const trs_rhs staged = trs_span_staged(&s, d->stage[0], d->stage[1]);
  use_arrays(v, &staged);
  trs_status status = trs_span_bring(&s, d->stage[1], d->stream);
  if (!status && v->keep) status = trs_span_bring_x(&s, d->stage[0], d->stream);
  if (!status && d->steps->staged) status = d->steps->staged(d->R);
  TRS_TRY(sweep_group(d, v, o, m, status));
  return trs_span_take(&s, d->stage[0], d->stream);
}

trs_status trs_relax_drive(const trs_relax_driver *d, const trs_rhs *rhs,
                           const trs_sweep_options *o, bool there) {
  const trs_relaxation *R = d->R;
  for (int64_t first = 0; first < rhs->nrhs; first += R->room) {
    trs_rhs group = trs_rhs_columns(rhs, R->scalar, first, R->room);
    trs_relax_vectors v = {.b_perm = group.b_order.perm,
                           .x_perm = group.x_order.perm,
                           .wide = R->scalar == TRS_DOUBLE,
                           .keep = o->keep_x};
    use_arrays(&v, &group);
    norms m = {.to = o->residuals ? o->residuals + first : NULL,
               .stride = rhs->nrhs,
               .width = group.nrhs,
               .there = o->residuals && trs_device_address(o->residuals)};
    TRS_TRY(there ? sweep_group(d, &v, o, &m, TRS_SUCCESS) : sweep_staged(d, &group, &v, o, &m));
  }
  return TRS_SUCCESS;
}
