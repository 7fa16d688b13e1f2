/* mapped_none.c - mapped.c in builds with HIP, whose ranks do not store into each other's memory:
 * they never meet, so R->group stays NULL, and the other functions are not called. */
#include "relax/cuda/backend.h"

static trs_status none(void) {
  return trs_fail(TRS_ERROR_INTERNAL, -1, "a build with HIP has no groups of GPUs");
}

void trs_relax_gpu_meet(trs_relaxation *R) { (void)R; }
void trs_relax_gpu_leave(trs_relaxation *R) { (void)R; }
void trs_relax_mapped_free(trs_relaxation *R) { (void)R; }
void trs_relax_mapped_start(trs_relaxation *R) { (void)R; }
bool trs_relax_mapped_fence(trs_relaxation *R, bool failed) {
  (void)R;
  return !failed;
}
trs_status trs_relax_mapped_run(trs_relaxation *R, int64_t sweeps, trs_sweep_direction direction) {
  (void)R, (void)sweeps, (void)direction;
  return none();
}
trs_status trs_relax_mapped_check(trs_relaxation *R) {
  (void)R;
  return none();
}
