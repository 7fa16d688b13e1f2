/* worker.h - a foreign library in a process of its own: the library's side. */
#ifndef TRS_WORKER_WORKER_H
#define TRS_WORKER_WORKER_H

#include "base/memory.h"
#include "worker/protocol.h"

typedef struct trs_worker trs_worker;

typedef struct trs_worker_job {
  const char *program; /* "metis": the file trireme-worker-metis */
  const char *library; /* "METIS": the name in messages */
  const char *path;    /* the file that the worker reads, or NULL */
  int file;            /* that file, open; or -1 */
} trs_worker_job;

/* Starts the process.  Until trs_worker_end the calling thread cannot be cancelled. */
trs_status trs_worker_start(trs_worker **worker, const trs_worker_job *job);

/* Limits of later requests: seconds for each, bytes of memory for the process.  0: no time limit;
 * the machine's memory.  TRIREME_WORKER_SECONDS and TRIREME_WORKER_MB lower both. */
void trs_worker_limit(trs_worker *worker, double seconds, int64_t bytes);

/* Adds an array to the next request. */
trs_status trs_worker_give(trs_worker *worker, const void *array, int64_t count, size_t size);

/* Sends the request and replaces it with its answer.  If the process ends or exceeds its time, the
 * call and all later ones fail with the reason. */
trs_status trs_worker_ask(trs_worker *worker, trs_worker_message *message);

/* Copies the next array of the answer. */
trs_status trs_worker_take(trs_worker *worker, void *array, int64_t count, size_t size);

/* Ends the process and waits for its end.  NULL is allowed. */
void trs_worker_end(trs_worker *worker);

/* locate.c: the path of a worker's program.  Release it with trs_free. */
trs_status trs_worker_locate(char **path, const char *program);

/* launch.c: a process that runs the program with `files` as its descriptors 0, 1, ...; -1:
 * closed. */
typedef struct trs_worker_process trs_worker_process;

trs_status trs_worker_launch(trs_worker_process **process, const char *path, const int *files,
                             int count);

/* Processor time that it has taken; infinite: it has ended. */
double trs_worker_seconds(trs_worker_process *process);

/* Kills the process unless it has ended, waits, and returns its status as waitpid does. */
int trs_worker_finish(trs_worker_process *process);

#endif
