/* rendezvous.h - the processes of one run on one machine meet: small records are exchanged through
 * shared host memory.  Needs no MPI library; whatever starts the processes tells each its rank. */
#ifndef TRS_COMM_RENDEZVOUS_H
#define TRS_COMM_RENDEZVOUS_H

#include <stdbool.h>

#include "base/status.h"

enum { TRS_RENDEZVOUS_MOST = 32, TRS_RENDEZVOUS_RECORD = 1024 };

typedef struct trs_rendezvous trs_rendezvous;

/* As mpirun and its like say in the environment: this process's rank of so many, and a name that
 * the processes of this run share and others do not.  Rank 0 of 1 where nothing is said. */
trs_status trs_rendezvous_environment(int *rank, int *ranks, char *name, int size);

/* Returns when all have come, or fails after a minute.  close: others that wait for this process,
 * or will, fail with its rank. */
trs_status trs_rendezvous_open(trs_rendezvous **result, const char *name, int rank, int ranks);
void trs_rendezvous_close(trs_rendezvous *r); /* NULL is fine */

/* Says that this process is done, and waits a while (the limit, in seconds) for the others to say
 * so: whether all did, the same answer in all.  Only close may follow. */
bool trs_rendezvous_leave(trs_rendezvous *r);
extern double trs_rendezvous_leave_limit;

/* For the tests: the folder in which users' own lie, or NULL for /dev/shm. */
extern const char *trs_rendezvous_base;

/* The first process that has ended without a word, or by leaving, or -1.  Microseconds. */
int trs_rendezvous_lost(const trs_rendezvous *r);
/* The error that says so. */
trs_status trs_rendezvous_tell_lost(const trs_rendezvous *r, int rank);

/* Every rank calls; all has ranks records of size bytes, this rank's filled in.  Fails where a
 * process has ended.  size 0 is a barrier. */
trs_status trs_rendezvous_exchange(trs_rendezvous *r, void *all, int64_t size);

#endif
