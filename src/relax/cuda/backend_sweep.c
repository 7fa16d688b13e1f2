/* backend_sweep.c - sweeps of relaxation on one GPU: copies of vectors, launches and norms; and a
 * domain's part in the sweeps of several GPUs. */
#include "relax/cuda/driver.h"

static trs_status run_rows(const trs_relaxation *R, int64_t begin, int64_t end) {
  const trs_relax_gpu *g = R->gpu;
  if (begin >= end) return TRS_SUCCESS;
  return g->variant->run(&g->args, g->paper, begin, end, R->plan->stream);
}

/* Fails if a sweep since the last call has lost x that floats cannot hold. */
static trs_status check_loss(const trs_relaxation *R) {
  trs_relax_gpu *g = R->gpu;
  if (!g->most || !g->told_lost->loss) return TRS_SUCCESS;
  TRS_TRY(trs_device_fill(g->lost, 0, sizeof *g->lost, R->plan->stream));
  return trs_relaxation_lost(R, (trs_relax_loss)g->told_lost->loss, g->told_lost->b);
}

static trs_status finish(const trs_relaxation *R) {
  trs_relax_gpu *g = R->gpu;
  const bool slices = trs_relax_by_slices(R);
  if (g->most) TRS_TRY(trs_device_copy(g->told_lost, g->lost, sizeof *g->lost, R->plan->stream));
  if (slices) TRS_TRY(trs_device_copy(g->told, g->slices.fault, sizeof *g->told, R->plan->stream));
  TRS_TRY(trs_device_wait(R->plan->stream));
  if (slices && g->told->stalled && R->triangle)
    return trs_fail(
        TRS_ERROR_STALLED, -1,
        "block row %lld (0-based) waited %.3g s for x of other block rows: x is not complete, "
        "make the plan anew",
        (long long)g->told->row, 1e-9 * (double)TRS_WAIT_LIMIT);
  if (slices && g->told->stalled)
    return trs_fail(TRS_ERROR_STALLED, -1,
                    "blocks of threads waited for each other for %.3g s behind step %lld of a "
                    "sweep: x is not complete, create the relaxation anew",
                    1e-9 * (double)TRS_WAIT_LIMIT, (long long)g->told->row);
  return check_loss(R);
}

trs_status trs_relax_gpu_wait(trs_plan *plan) {
  const trs_relaxation *R = plan->state;
  TRS_ON_DEVICE(R->gpu->device);
  return finish(R);
}

trs_status trs_relax_gpu_run_steps(trs_relaxation *R, trs_sweep_direction direction, int64_t steps,
                                   trs_relax_peer_sync *peers) {
  trs_relax_gpu *g = R->gpu;
  return trs_relax_slices_sweep(&g->args, &g->slices, (int)direction, steps, peers,
                                R->plan->stream);
}

static trs_status run_sweeps(trs_relaxation *R, int64_t sweeps, trs_sweep_direction direction) {
  if (R->links) return trs_relax_halo_sweep(R, sweeps, direction);
  const int64_t steps = trs_relaxation_steps(R, sweeps, direction);
  if (trs_relax_by_slices(R)) return trs_relax_gpu_run_steps(R, direction, steps, NULL);
  for (int64_t k = 0; k < steps; k++) {
    const int32_t c = trs_relaxation_colour(R, direction, k);
    TRS_TRY(run_rows(R, R->colour_ptr[c], R->colour_ptr[c + 1]));
  }
  return TRS_SUCCESS;
}

trs_status trs_relax_gpu_add_squares(trs_relaxation *R) {
  const trs_relax_gpu *g = R->gpu;
  TRS_TRY(trs_device_fill(g->args.words, 0, g->args.nrhs * TRS_EXACT_WORDS * 8, R->plan->stream));
  return g->variant->run ? trs_relax_squares(&g->args, R->plan->stream)
                         : trs_relax_slices_squares(&g->args, &g->slices, R->plan->stream);
}

/* ---- Steps of the driver ---- */

/* Ranks get the rows of other domains by messages. */
trs_status trs_relax_gpu_load(trs_relaxation *R, const trs_relax_vectors *v, int64_t nrhs,
                              double omega) {
  trs_relax_args *a = &R->gpu->args;
  a->nrhs = (int)nrhs;
  a->omega = omega;
  trs_relax_args with_halo = *a;
  if (!R->links) with_halo.nrows += R->nhalo;
  return trs_relax_load(&with_halo, v, R->plan->stream);
}

static trs_status find_norms(trs_relaxation *R, int64_t nrhs, double *norms) {
  const trs_relax_gpu *g = R->gpu;
  const trs_relax_words words = {1, {g->args.words}};
  TRS_TRY(trs_relax_gpu_add_squares(R));
  return trs_relax_roots(&words, (int)nrhs, norms, R->plan->stream);
}

trs_status trs_relax_need_stages(trs_relaxation *R) {
  trs_relax_gpu *g = R->gpu;
  int64_t bytes = R->nrows * R->block * R->room * (int64_t)trs_scalar_size(R->scalar);
  return trs_stage_need(&g->stage, bytes, R->plan->stream);
}

/* Among ranks, the messages of a sweep start and complete also after a failure. */
static trs_status load_among_ranks(trs_relaxation *R, const trs_relax_vectors *v, int64_t nrhs,
                                   double omega) {
  trs_relax_halo_fence(R); /* other ranks may still store x of the call before */
  trs_status status = trs_relax_gpu_load(R, v, nrhs, omega);
  trs_status started = trs_relax_halo_start(R, v->keep);
  return status ? status : started;
}

/* Sums over the domains of all ranks, available on each rank. */
static trs_status find_norms_of_ranks(trs_relaxation *R, double *norms) {
  R->links->drain(R->links);
  trs_relax_halo_fence(R);
  trs_status status = R->nrows ? trs_relax_gpu_add_squares(R) : TRS_SUCCESS;
  const uint64_t *words = R->nrows && !status ? R->gpu->args.words : NULL;
  TRS_TRY(trs_relax_halo_norms(R, words, norms));
  return status;
}

trs_status trs_relax_gpu_unload(trs_relaxation *R, const trs_relax_vectors *v) {
  trs_relax_gpu *g = R->gpu;
  TRS_TRY(trs_relax_unload(&g->args, v, R->plan->stream));
  if (!g->args.most) return TRS_SUCCESS;
  return trs_relax_find_loss(&g->args, trs_relaxation_needed(R), g->lost, R->plan->stream);
}

static const trs_relax_steps alone = {.load = trs_relax_gpu_load,
                                      .run = run_sweeps,
                                      .norms = find_norms,
                                      .unload = trs_relax_gpu_unload};

static const trs_relax_steps among_ranks = {.load = load_among_ranks,
                                            .run = run_sweeps,
                                            .host_norms = find_norms_of_ranks,
                                            .end = trs_relax_halo_end,
                                            .unload = trs_relax_gpu_unload};

/* A triangle by slices: the kernel reads b and writes x in the caller's order. */
static trs_status load_nothing(trs_relaxation *R, const trs_relax_vectors *v, int64_t nrhs,
                               double omega) {
  (void)omega;
  R->gpu->args.nrhs = (int)nrhs;
  R->gpu->vectors = *v;
  return TRS_SUCCESS;
}

static trs_status run_triangle(trs_relaxation *R, int64_t sweeps, trs_sweep_direction direction) {
  const trs_relax_gpu *g = R->gpu;
  (void)sweeps;
  (void)direction;
  return trs_relax_slices_solve(&g->args, &g->slices, &g->vectors, R->plan->stream);
}

static const trs_relax_steps triangle = {.load = load_nothing, .run = run_triangle};

static trs_status sweep_by(trs_relaxation *R, const trs_rhs *rhs, const trs_sweep_options *options,
                           const trs_relax_steps *steps) {
  TRS_ON_DEVICE(R->gpu->device);
  trs_relax_gpu *g = R->gpu;
  const bool there = trs_rhs_is_there(rhs);
  const bool waits = !there || (options->residuals && !trs_device_address(options->residuals));
  const trs_relax_driver driver = {R, steps, g->stage.slot, g->norms, R->plan->stream};
  g->args.most = steps == &alone && options->sweeps ? g->most : NULL;
  if (waits && trs_device_capturing(R->plan->stream))
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "a stream that is being captured takes x, b and residuals in device memory "
                    "only");
  if (rhs->nrhs > 0 && (R->nrows > 0 || R->links)) {
    if (!there) TRS_TRY(trs_relax_need_stages(R));
    TRS_TRY(trs_relax_drive(&driver, rhs, options, there));
  }
  return waits ? finish(R) : TRS_SUCCESS;
}

trs_status trs_relax_gpu_sweep(trs_relaxation *R, const trs_rhs *rhs,
                               const trs_sweep_options *options) {
  return sweep_by(R, rhs, options, R->links ? &among_ranks : &alone);
}

trs_status trs_relax_gpu_solve(trs_plan *plan, const trs_rhs *rhs) {
  trs_relaxation *R = plan->state;
  static const trs_sweep_options once = {.sweeps = 1, .omega = 1};
  return sweep_by(R, rhs, &once, trs_relax_by_slices(R) ? &triangle : &alone);
}

/* ---- A domain's part in a sweep of several GPUs (group.c): these functions only launch ---- */

trs_status trs_relax_gpu_run(trs_relaxation *R, int32_t c, bool boundary) {
  trs_relax_gpu *g = R->gpu;
  if (trs_relax_by_slices(R))
    return trs_relax_slices_run(&g->args, &g->slices, c, !boundary, R->plan->stream);
  int64_t edge = trs_relax_interior(R, c);
  return run_rows(R, boundary ? R->colour_ptr[c] : edge, boundary ? edge : R->colour_ptr[c + 1]);
}
