/* timing.c - the time of a plan's solves, by the clock of the host. */
#include "plan/timing.h"

#include <math.h>

#include "base/memory.h"
#include "base/timer.h"
#include "device/device.h"

static trs_status time_round(trs_plan *plan, const trs_rhs *rhs, int solves, double *seconds) {
  const double start = trs_seconds();
  for (int k = 0; k < solves; k++) TRS_TRY(trs_plan_solve(plan, rhs));
  TRS_TRY(trs_plan_finish(plan));
  *seconds = (trs_seconds() - start) / solves;
  return TRS_SUCCESS;
}

trs_status trs_plan_time_rhs(trs_plan *plan, const trs_rhs *rhs, const trs_timing *how,
                             double *seconds) {
  double took;
  TRS_TRY(time_round(plan, rhs, 1, seconds));
  *seconds = INFINITY;
  const double end = trs_seconds() + how->seconds;
  for (int k = 0; k < how->rounds || (k < how->rounds + how->more && trs_seconds() < end); k++) {
    TRS_TRY(time_round(plan, rhs, how->solves, &took));
    *seconds = fmin(*seconds, took);
  }
  return TRS_SUCCESS;
}

/* x and b are different arrays on the host, as those of most callers are, and the same array on a
 * GPU, which may lack memory. */
static trs_status time_on_host(trs_plan *plan, trs_rhs *rhs, const trs_timing *how,
                               double *seconds) {
  char *zeros;
  const size_t size = trs_scalar_size(plan->system.scalar);
  const int64_t count = plan->system.n * rhs->nrhs;
  TRS_TRY(trs_alloc_zero((void **)&zeros, 2 * count + 1, size));
  rhs->b = zeros;
  rhs->x = zeros + (size_t)count * size;
  trs_status status = trs_plan_time_rhs(plan, rhs, how, seconds);
  trs_free(zeros);
  return status;
}

static trs_status time_on_device(trs_plan *plan, trs_rhs *rhs, const trs_timing *how,
                                 double *seconds) {
  trs_device *device = plan->context->device;
  const int64_t row = rhs->nrhs * (int64_t)trs_scalar_size(plan->system.scalar);
  const int before = trs_plan_enter(plan);
  trs_status status = trs_device_alloc(device, &rhs->x, plan->system.n, (size_t)row, plan->stream);
  if (!status) status = trs_device_fill(rhs->x, 0, plan->system.n * row, plan->stream);
  rhs->b = rhs->x;
  if (!status) status = trs_plan_time_rhs(plan, rhs, how, seconds);
  trs_device_free(device, rhs->x, plan->stream);
  trs_plan_leave(plan, before);
  return status;
}

trs_status trs_plan_time(trs_plan *plan, int64_t nrhs, trs_layout layout, const trs_timing *how,
                         double *seconds) {
  trs_rhs rhs = {.nrhs = nrhs};
  const bool by_rows = layout == TRS_ROW_MAJOR;
  rhs.x_row = rhs.b_row = by_rows ? nrhs : 1;
  rhs.x_col = rhs.b_col = by_rows ? 1 : plan->system.n;
  return (plan->method->backend->gpu ? time_on_device : time_on_host)(plan, &rhs, how, seconds);
}
