/* cores.h - the number of threads for this process. */
#ifndef TRS_BASE_CORES_H
#define TRS_BASE_CORES_H

#include "base/status.h"

enum { TRS_MOST_THREADS = 1024 };

/* The number of cores in the affinity mask, or fewer if a cgroup limits the processor time (rounded
 * up). */
int trs_cores(void);

/* TRIREME_NUM_THREADS if it is set, else trs_cores(), or fewer if OMP_NUM_THREADS (of a list, the
 * first number), LOKY_MAX_CPU_COUNT (joblib) or SLURM_CPUS_PER_TASK is less. */
trs_status trs_default_threads(int *threads);

/* The number of cores that cgroup limits (version 1 or 2) allow; 0: no limit.  root is a prefix of
 * all file names: "" except in tests. */
int trs_quota_cores(const char *root);

#endif
