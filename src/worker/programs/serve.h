/* serve.h - a worker's program: main.c, which takes requests, and one file that knows a library. */
#ifndef TRS_WORKER_PROGRAMS_SERVE_H
#define TRS_WORKER_PROGRAMS_SERVE_H

#include "base/memory.h"
#include "worker/protocol.h"

/* Turns the request into its answer; failures as everywhere, by trs_fail. */
trs_status trs_serve(trs_worker_message *message);

/* The request's next array: a copy of pages that only this process sees. */
trs_status trs_serve_take(void *array, int64_t count, size_t size);

/* Room for the answer's next array. */
trs_status trs_serve_give(void *array, int64_t count, size_t size);

#endif
