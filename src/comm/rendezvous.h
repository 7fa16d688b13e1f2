/* rendezvous.h - the processes of one run on one machine exchange small records through shared host
 * memory.  No MPI library is needed; the launcher tells each process its rank. */
#ifndef TRS_COMM_RENDEZVOUS_H
#define TRS_COMM_RENDEZVOUS_H

#include <stdbool.h>

#include "base/status.h"

enum { TRS_RENDEZVOUS_MOST = 32, TRS_RENDEZVOUS_RECORD = 1024 };

typedef struct trs_rendezvous trs_rendezvous;

/* From the environment that mpirun and other launchers set: this process's rank, the number of
 * ranks, and a name that only the processes of this run share.  Rank 0 of 1 if nothing is set. */
trs_status trs_rendezvous_environment(int *rank, int *ranks, char *name, int size);

/* Returns when all processes have called, or fails after a minute.  _close makes other processes
 * fail, with this process's rank, if they wait for it now or later. */
trs_status trs_rendezvous_open(trs_rendezvous **result, const char *name, int rank, int ranks);
void trs_rendezvous_close(trs_rendezvous *r); /* NULL is allowed */

/* Declares that this process is done, and waits up to the limit (in seconds) for the others.  True
 * if all processes are done; all get the same answer.  Only _close may follow. */
bool trs_rendezvous_leave(trs_rendezvous *r);
extern double trs_rendezvous_leave_limit;

/* For tests: the folder that contains the users' folders; NULL: /dev/shm. */
extern const char *trs_rendezvous_base;

/* The first process that has ended, with or without leaving; -1: none.  Takes microseconds. */
int trs_rendezvous_lost(const trs_rendezvous *r);
/* The error that names this process. */
trs_status trs_rendezvous_report_lost(const trs_rendezvous *r, int rank);

/* Collective.  all: `ranks` records of `size` bytes, of which this rank's is filled in on entry and
 * all on return.  Fails if a process has ended.  size 0 is a barrier. */
trs_status trs_rendezvous_exchange(trs_rendezvous *r, void *all, int64_t size);

#endif
