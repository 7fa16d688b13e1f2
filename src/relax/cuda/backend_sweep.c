/* backend_sweep.c - sweeps of relaxation on one GPU: vectors there and back, launches, norms on the
 * way; and a domain's part in those of several. */
#include <math.h>
#include <string.h>

#include "relax/cuda/backend_state.h"

static trs_status check_variant(const trs_relax_gpu *g) {
  if (g->variant) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1, "no variant is set: the last one could not be");
}

static trs_status finish(trs_relax_gpu *g) {
  const bool slices = g->variant && g->variant->kind == TRS_RELAX_BY_SLICES;
  if (slices) TRS_TRY(trs_device_copy(g->told, g->slices.fault, sizeof *g->told, g->stream));
  TRS_TRY(trs_device_wait(g->stream));
  if (slices && g->told->stalled)
    return trs_fail(TRS_ERROR_STALLED, -1,
                    "blocks of threads waited for each other for %.3g s behind turn %lld of a "
                    "sweep: x is not complete, create the relaxation anew",
                    1e-9 * (double)TRS_RELAX_WAIT_LIMIT, (long long)g->told->row);
  return check_variant(g);
}

trs_status trs_relax_gpu_wait(trs_relaxation *R) {
  int before = trs_device_enter(R->gpu->device);
  trs_status status = finish(R->gpu);
  trs_device_leave(before);
  return status;
}

trs_status trs_relax_gpu_run_turns(trs_relaxation *R, trs_sweep_direction direction, int64_t turns,
                                   trs_relax_meeting *meeting) {
  trs_relax_gpu *g = R->gpu;
  return trs_relax_slices_sweep(&g->args, &g->slices, (int)direction, turns, meeting, g->stream);
}

static trs_status run_sweeps(trs_relaxation *R, int64_t sweeps, trs_sweep_direction direction) {
  trs_relax_gpu *g = R->gpu;
  if (R->links) {
    trs_relax_halo_sweep(R, sweeps, direction);
    return TRS_SUCCESS;
  }
  const int64_t passes = direction == TRS_SWEEP_SYMMETRIC ? 2 : 1;
  if (g->variant->kind == TRS_RELAX_BY_SLICES)
    return trs_relax_gpu_run_turns(R, direction, passes * sweeps * R->ncolours, NULL);
  for (int64_t pass = 0; pass < passes * sweeps; pass++) {
    bool back = direction == TRS_SWEEP_BACKWARD || pass % passes == 1;
    for (int32_t k = 0; k < R->ncolours; k++) {
      int32_t c = back ? R->ncolours - 1 - k : k;
      TRS_TRY(trs_relax_rows_run(&g->args, &g->rows, R->colour_ptr[c], R->colour_ptr[c + 1],
                                 g->stream));
    }
  }
  return TRS_SUCCESS;
}

static trs_status add_squares(const trs_relax_gpu *g) {
  TRS_TRY(trs_device_fill(g->args.words, 0, g->args.nrhs * TRS_EXACT_WORDS * 8, g->stream));
  return g->variant->kind == TRS_RELAX_BY_ROWS
             ? trs_relax_squares(&g->args, g->stream)
             : trs_relax_slices_squares(&g->args, &g->slices, g->stream);
}

static trs_status find_norms(const trs_relax_gpu *g, double *norms) {
  const trs_relax_words words = {1, {g->args.words}};
  TRS_TRY(add_squares(g));
  return trs_relax_roots(&words, g->args.nrhs, norms, g->stream);
}

/* Where norms go: straight to the caller's device memory, or by way of pinned memory to the host,
 * as many checks as that holds before the host waits for them. */
typedef struct norms {
  double *to; /* of this group's first right-hand side, or NULL */
  int64_t stride, width;
  bool there;          /* in device memory */
  int64_t check, held; /* checks made, and of them in pinned memory */
} norms;

static trs_status hand_over(trs_relax_gpu *g, norms *m) {
  if (!m->held) return TRS_SUCCESS;
  TRS_TRY(trs_device_wait(g->stream));
  for (int64_t k = 0; k < m->held; k++)
    memcpy(m->to + (m->check - m->held + k) * m->stride, g->norms + k * m->width,
           (size_t)m->width * sizeof *g->norms);
  m->held = 0;
  return TRS_SUCCESS;
}

/* Of all ranks' domains, on each of them. */
static trs_status check_ranks(trs_relaxation *R, norms *m) {
  trs_relax_gpu *g = R->gpu;
  double *to = m->to + m->check++ * m->stride;
  R->links->drain(R->links);
  trs_status status = R->nrows ? add_squares(g) : TRS_SUCCESS;
  const uint64_t *words = R->nrows && !status ? g->args.words : NULL;
  TRS_TRY(trs_relax_halo_norms(R, words, m->there ? g->norms : to));
  TRS_TRY(status);
  if (!m->there) return TRS_SUCCESS;
  TRS_TRY(trs_device_copy(to, g->norms, m->width * (int64_t)sizeof *to, g->stream));
  return trs_device_wait(g->stream);
}

static trs_status check(trs_relaxation *R, norms *m) {
  trs_relax_gpu *g = R->gpu;
  if (R->links) return check_ranks(R, m);
  if (m->there) return find_norms(g, m->to + m->check++ * m->stride);
  TRS_TRY(find_norms(g, g->norms + m->held * m->width));
  m->check++;
  m->held++;
  int64_t room = TRS_STAGE_BYTES / (int64_t)sizeof *g->norms;
  return (m->held + 1) * m->width > room ? hand_over(g, m) : TRS_SUCCESS;
}

/* The first failure; among ranks all go on to the end, for others wait for what these send. */
static bool goes_on(const trs_relaxation *R, trs_status *first, trs_status now) {
  if (!*first) *first = now;
  return !*first || R->links;
}

/* All sweeps of one group, whose x and b lie in device memory; status: so far. */
static trs_status sweep_group(trs_relaxation *R, const trs_relax_vectors *v,
                              const trs_sweep_options *o, norms *m, trs_status status) {
  trs_relax_gpu *g = R->gpu;
  if (!status) status = trs_relax_load(&g->args, v, g->stream);
  if (R->links) (void)goes_on(R, &status, trs_relax_halo_start(R, v->keep));
  bool on = goes_on(R, &status, TRS_SUCCESS);
  if (on && m->to) on = goes_on(R, &status, check(R, m));
  for (int64_t done = 0; on && done < o->sweeps;) {
    int64_t left = o->sweeps - done,
            now = m->to && o->residual_every < left ? o->residual_every : left;
    on = goes_on(R, &status, run_sweeps(R, now, o->direction));
    done += now;
    if (on && m->to && done % o->residual_every == 0) on = goes_on(R, &status, check(R, m));
  }
  if (R->links) (void)goes_on(R, &status, trs_relax_halo_end(R));
  TRS_TRY(status);
  TRS_TRY(trs_relax_unload(&g->args, v, g->stream));
  return hand_over(g, m);
}

trs_status trs_relax_stage_columns(const trs_relaxation *R, const trs_relax_columns *k, bool out,
                                   trs_stream stream) {
  int64_t size = (int64_t)trs_scalar_size(R->scalar), n = R->nrows * R->block;
  bool by_rows = k->col == 1 && k->row != 1;
  int64_t pitch = (by_rows ? k->row : k->col) * size, own = (by_rows ? k->width : n) * size;
  int64_t lines = by_rows ? n : k->width;
  if (n == 0) return TRS_SUCCESS;
  void *caller = (void *)(uintptr_t)k->array, *stage = (void *)(uintptr_t)k->stage;
  if (lines == 1) pitch = own;
  return out ? trs_device_copy_rows(caller, pitch, stage, own, own, lines, stream)
             : trs_device_copy_rows(stage, own, caller, pitch, own, lines, stream);
}

trs_relax_staging trs_relax_stage(trs_relax_vectors *v, const trs_relaxation *R, const trs_rhs *rhs,
                                  void *const stage[2]) {
  const int64_t n = R->nrows * R->block;
  const bool x_by_rows = rhs->x_col == 1 && rhs->x_row != 1;
  const bool b_by_rows = rhs->b_col == 1 && rhs->b_row != 1;
  v->x = stage[0];
  v->b = stage[1];
  v->x_row = x_by_rows ? rhs->nrhs : 1;
  v->x_col = x_by_rows ? 1 : n;
  v->b_row = b_by_rows ? rhs->nrhs : 1;
  v->b_col = b_by_rows ? 1 : n;
  return (trs_relax_staging){.x = {v->x, rhs->x, rhs->x_row, rhs->x_col, rhs->nrhs},
                             .b = {v->b, rhs->b, rhs->b_row, rhs->b_col, rhs->nrhs}};
}

trs_status trs_relax_need_stages(trs_relaxation *R) {
  trs_relax_gpu *g = R->gpu;
  int64_t bytes = R->nrows * R->block * R->room * (int64_t)trs_scalar_size(R->scalar);
  for (int k = 0; k < 2; k++)
    if (!g->staged[k]) {
      TRS_TRY(trs_device_alloc(g->device, &g->staged[k], bytes, 1, g->stream));
      g->staged_bytes += bytes;
    }
  return TRS_SUCCESS;
}

/* x or b on the host: through device memory. */
static trs_status sweep_staged(trs_relaxation *R, const trs_rhs *rhs,
                               const trs_relax_vectors *there, const trs_sweep_options *o,
                               norms *m) {
  trs_relax_gpu *g = R->gpu;
  trs_relax_vectors v = *there;
  TRS_TRY(trs_relax_need_stages(R));
  const trs_relax_staging staging = trs_relax_stage(&v, R, rhs, g->staged);
  trs_status status = trs_relax_stage_columns(R, &staging.b, false, g->stream);
  if (!status && v.keep) status = trs_relax_stage_columns(R, &staging.x, false, g->stream);
  if (status && !R->links) return status;
  TRS_TRY(sweep_group(R, &v, o, m, status));
  return trs_relax_stage_columns(R, &staging.x, true, g->stream);
}

/* Columns from the first on, as many as there is room for. */
static trs_rhs group_of(const trs_relaxation *R, const trs_rhs *rhs, int64_t first) {
  int64_t size = (int64_t)trs_scalar_size(R->scalar);
  trs_rhs group = *rhs;
  group.nrhs = rhs->nrhs - first < R->room ? rhs->nrhs - first : R->room;
  group.x = (char *)rhs->x + first * rhs->x_col * size;
  group.b = (const char *)rhs->b + first * rhs->b_col * size;
  return group;
}

static trs_status sweep_all(trs_relaxation *R, const trs_rhs *rhs, const trs_sweep_options *o,
                            bool there) {
  trs_relax_gpu *g = R->gpu;
  for (int64_t first = 0; first < rhs->nrhs; first += R->room) {
    trs_rhs group = group_of(R, rhs, first);
    trs_relax_vectors v = {.x = group.x,
                           .b = group.b,
                           .x_row = group.x_row,
                           .x_col = group.x_col,
                           .b_row = group.b_row,
                           .b_col = group.b_col,
                           .wide = R->scalar == TRS_DOUBLE,
                           .keep = o->keep_x};
    norms m = {.to = o->residuals ? o->residuals + first : NULL,
               .stride = rhs->nrhs,
               .width = group.nrhs,
               .there = o->residuals && trs_device_address(o->residuals)};
    g->args.nrhs = (int)group.nrhs;
    g->args.omega = o->omega;
    TRS_TRY(there ? sweep_group(R, &v, o, &m, TRS_SUCCESS) : sweep_staged(R, &group, &v, o, &m));
  }
  return TRS_SUCCESS;
}

trs_status trs_relax_gpu_sweep(trs_relaxation *R, const trs_rhs *rhs,
                               const trs_sweep_options *options) {
  trs_relax_gpu *g = R->gpu;
  TRS_TRY(check_variant(g));
  int before = trs_device_enter(g->device);
  bool there = trs_device_address(rhs->x) && trs_device_address(rhs->b);
  bool waits = !there || (options->residuals && !trs_device_address(options->residuals));
  trs_status status = TRS_SUCCESS;
  if (waits && trs_device_capturing(g->stream))
    status = trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                      "a stream that is being captured takes x, b and residuals in device memory "
                      "only");
  if (!status && rhs->nrhs > 0 && (R->nrows > 0 || R->links))
    status = sweep_all(R, rhs, options, there);
  if (!status && waits) status = finish(g);
  trs_device_leave(before);
  return status;
}

/* ---- A domain's part in a sweep of several GPUs (group.c): each call launches, no more ---- */

trs_relax_place trs_relax_gpu_place(const trs_relaxation *R) {
  const trs_relax_args *a = &R->gpu->args;
  return (trs_relax_place){a->x, a->x_stride, a->pitch};
}

trs_status trs_relax_gpu_load(trs_relaxation *R, const trs_relax_vectors *v, int64_t nrhs,
                              double omega) {
  trs_relax_gpu *g = R->gpu;
  TRS_TRY(check_variant(g));
  g->args.nrhs = (int)nrhs;
  g->args.omega = omega;
  trs_relax_args with_halo = g->args;
  with_halo.nrows = R->nrows + R->nhalo;
  return trs_relax_load(&with_halo, v, g->stream);
}

bool trs_relax_gpu_meets(const trs_relaxation *R) {
  return R->gpu->variant && R->gpu->variant->kind == TRS_RELAX_BY_SLICES;
}

trs_status trs_relax_gpu_run(trs_relaxation *R, int32_t c, bool boundary) {
  trs_relax_gpu *g = R->gpu;
  if (g->variant->kind == TRS_RELAX_BY_SLICES)
    return trs_relax_slices_run(&g->args, &g->slices, c, !boundary, g->stream);
  int64_t edge = trs_relax_interior(R, c);
  return trs_relax_rows_run(&g->args, &g->rows, boundary ? R->colour_ptr[c] : edge,
                            boundary ? edge : R->colour_ptr[c + 1], g->stream);
}

trs_status trs_relax_gpu_squares(trs_relaxation *R, const uint64_t **words) {
  *words = R->gpu->args.words;
  return add_squares(R->gpu);
}

double *trs_relax_gpu_stage(const trs_relaxation *R) { return R->gpu->norms; }

trs_status trs_relax_gpu_unload(trs_relaxation *R, const trs_relax_vectors *v) {
  return trs_relax_unload(&R->gpu->args, v, R->gpu->stream);
}
