/* worker_none.c - systems other than Linux, whose builds have no worker programs: those of METIS,
 * SuperLU and HDF5 are left out there (cmake/TriremeFeatures.cmake), so nothing calls this. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#include "worker/worker.h"

static trs_status none(void) {
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "worker processes need Linux, which this system is not");
}

trs_status trs_worker_start(trs_worker **worker, const trs_worker_job *job) {
  *worker = NULL;
  return none();
}

void trs_worker_limit(trs_worker *worker, double seconds, int64_t bytes) {}

trs_status trs_worker_give(trs_worker *worker, const void *array, int64_t count, size_t size) {
  return none();
}

trs_status trs_worker_ask(trs_worker *worker, trs_worker_message *message) { return none(); }

trs_status trs_worker_take(trs_worker *worker, void *array, int64_t count, size_t size) {
  return none();
}

void trs_worker_end(trs_worker *worker) {}
