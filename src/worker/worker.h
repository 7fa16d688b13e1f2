/* worker.h - a foreign library in a process of its own, asked from here. */
#ifndef TRS_WORKER_WORKER_H
#define TRS_WORKER_WORKER_H

#include "base/memory.h"
#include "worker/protocol.h"

typedef struct trs_worker trs_worker;

typedef struct trs_worker_job {
  const char *program; /* "metis": of the file trireme-worker-metis */
  const char *library; /* "METIS": as messages name it */
  const char *path;    /* of the file that the worker reads, or NULL */
  int file;            /* the same, open; or -1 */
} trs_worker_job;

/* Starts the process.  From here to trs_worker_end the calling thread cannot be cancelled. */
trs_status trs_worker_start(trs_worker **worker, const trs_worker_job *job);

/* What requests from now on may take: seconds each, bytes of memory in all; 0: no limit of time,
 * the machine's memory.  TRIREME_WORKER_SECONDS and TRIREME_WORKER_MB lower both. */
void trs_worker_limit(trs_worker *worker, double seconds, int64_t bytes);

/* An array for the next request. */
trs_status trs_worker_give(trs_worker *worker, const void *array, int64_t count, size_t size);

/* The request becomes its answer.  A process that ends or takes too long is an error that says
 * so; no further request succeeds then. */
trs_status trs_worker_ask(trs_worker *worker, trs_worker_message *message);

/* The next array of the answer. */
trs_status trs_worker_take(trs_worker *worker, void *array, int64_t count, size_t size);

/* Ends the process and waits for that; NULL is fine. */
void trs_worker_end(trs_worker *worker);

/* locate.c: the path of a worker's program, to be released with trs_free. */
trs_status trs_worker_locate(char **path, const char *program);

/* launch.c: the process that runs the program, with these files as its 0, 1, ...; -1: none. */
typedef struct trs_worker_process trs_worker_process;

trs_status trs_worker_launch(trs_worker_process **process, const char *path, const int *files,
                             int count);

/* Kills it unless it has ended, waits, and returns how it ended, as waitpid has it. */
int trs_worker_finish(trs_worker_process *process);

#endif
