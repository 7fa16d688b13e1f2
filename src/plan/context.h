/* context.h - where work runs: a backend's name and the team of threads. */
#ifndef TRS_PLAN_CONTEXT_H
#define TRS_PLAN_CONTEXT_H

#include <stdatomic.h>

#include "base/team.h"
#include "comm/group.h"

struct trs_context {
  atomic_int references;
  char backend[16]; /* "auto", "serial", "threads", "cuda" or "cuda-group": methods of others do not
                       apply */
  int threads;
  int cores;                    /* that the process may use */
  unsigned process;             /* that made it: base/process.h */
  trs_team *team;               /* NULL for one thread */
  _Atomic(trs_device *) device; /* NULL but for "cuda", for "auto" until trs_context_find_device,
                                   and for a group, of whose members in this process it is the
                                   first one's */
  trs_group *group;             /* NULL but for "cuda-group" */
  _Atomic int64_t gpu_memory; /* bytes that the library may hold on each of its GPUs; 0: no limit */
  atomic_bool looked;         /* "auto": for a device, found or not */
  char no_device[128];        /* why it was not found, once looked is set */
};

trs_context *trs_context_retain(trs_context *context);

/* Puts the context's limit into force on its GPUs: at the beginning of calls that allocate. */
void trs_context_limit_gpus(const trs_context *context);

/* Whether the context was made before this process was forked from its parent: threads can be
 * started anew, but CUDA is lost. */
bool trs_context_is_inherited(const trs_context *context);
extern const char trs_context_inherited[]; /* what is wrong with a GPU then */

/* Every call that uses a context makes sure of it first. */
trs_status trs_context_check(const trs_context *context);

/* For "auto": opens the first GPU if there is one.  NULL, or why there is none. */
const char *trs_context_find_device(trs_context *context);

#endif
