/* serve.h - the two parts of a worker's program: main.c, which receives requests, and one file that
 * calls the foreign library. */
#ifndef TRS_WORKER_PROGRAMS_SERVE_H
#define TRS_WORKER_PROGRAMS_SERVE_H

#include "base/memory.h"
#include "worker/protocol.h"

/* Replaces the request with its answer.  Failures are reported by trs_fail. */
trs_status trs_serve(trs_worker_message *message);

/* The request's next array: a private copy-on-write mapping. */
trs_status trs_serve_take(void *array, int64_t count, size_t size);

/* Space for the answer's next array. */
trs_status trs_serve_give(void *array, int64_t count, size_t size);

#endif
