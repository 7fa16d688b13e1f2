/* alone.c - the engine on one GPU of a group, and the time of solves. */
#include "solve/multigpu/alone.h"

#include <stdatomic.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/timer.h"
#include "device/shared.h"

/* A context of that GPU alone. */
static trs_status make_context(trs_context **context, trs_device *device) {
  TRS_TRY(TRS_ALLOC_ZERO(context, 1));
  atomic_init(&(*context)->references, 1);
  snprintf((*context)->backend, sizeof(*context)->backend, "cuda");
  (*context)->threads = 1;
  (*context)->device = trs_device_retain(device);
  return TRS_SUCCESS;
}

/* A matrix in device memory is looked at on its own GPU, where the stream is a stranger: the
 * default stream serves both. */
trs_status trs_alone_create(trs_plan **alone, const trs_plan *plan, trs_device *device,
                            trs_stream stream, int64_t nrhs) {
  trs_context *context;
  trs_options options = {.method = "engine",
                         .nrhs = nrhs,
                         .solves = plan->options.solves,
                         .store = plan->options.store,
                         .tune = plan->options.tune,
                         .stream = plan->matrix->on_device ? NULL : stream};
  *alone = NULL;
  TRS_TRY(make_context(&context, device));
  trs_status status =
      trs_plan_create(alone, context, plan->matrix, plan->uplo, plan->trans, plan->diag, &options);
  trs_context_destroy(context); /* the plan keeps it */
  if (!status) trs_plan_use_stream(*alone, stream);
  return status;
}

/* Of many right-hand sides less often: they take longer, and vary less. */
static trs_status time_rounds(trs_plan *plan, const trs_rhs *rhs, double *seconds) {
  const int rounds = rhs->nrhs > 1 ? 1 : 3, solves = rhs->nrhs > 1 ? 2 : 5;
  TRS_TRY(trs_plan_solve(plan, rhs));
  *seconds = 1e30;
  for (int round = 0; round < rounds; round++) {
    TRS_TRY(trs_plan_finish(plan));
    double start = trs_seconds();
    for (int k = 0; k < solves; k++) TRS_TRY(trs_plan_solve(plan, rhs));
    TRS_TRY(trs_plan_finish(plan));
    double took = (trs_seconds() - start) / solves;
    if (took < *seconds) *seconds = took;
  }
  return TRS_SUCCESS;
}

/* The same array for b and x: of zeros, which stay zeros. */
trs_status trs_alone_time(trs_plan *plan, trs_device *device, int64_t nrhs, bool spread,
                          double *seconds) {
  const int64_t n = plan->system.n, size = (int64_t)trs_scalar_size(plan->system.scalar);
  void *zeros = NULL;
  int before = trs_device_enter(device);
  trs_status status = trs_device_alloc_plain(device, &zeros, n * nrhs * size);
  if (!status) status = trs_device_fill(zeros, 0, n * nrhs * size, plan->stream);
  if (!status) {
    void *const x_of[1] = {zeros};
    const void *const b_of[1] = {zeros};
    trs_rhs rhs = {
        .x = zeros, .b = zeros, .nrhs = nrhs, .x_row = 1, .x_col = n, .b_row = 1, .b_col = n};
    if (spread) rhs.x_of = x_of;
    if (spread) rhs.b_of = b_of;
    status = time_rounds(plan, &rhs, seconds);
    (void)trs_plan_finish(plan);
  }
  trs_device_free_plain(device, zeros, n * nrhs * size);
  trs_device_leave(before);
  return status;
}
