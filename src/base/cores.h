/* cores.h - how many threads this process should have. */
#ifndef TRS_BASE_CORES_H
#define TRS_BASE_CORES_H

#include "base/status.h"

enum { TRS_MOST_THREADS = 1024 };

/* Cores that this process may use: those of its affinity mask, or fewer where a cgroup limits its
 * share of processor time, rounded up. */
int trs_cores(void);

/* TRIREME_NUM_THREADS where it is set, else trs_cores(). */
trs_status trs_default_threads(int *threads);

/* The cores that the limits of cgroups (version 1 or 2) leave, 0: no limit.  root is put before the
 * names of all files: "" but for tests. */
int trs_quota_cores(const char *root);

#endif
