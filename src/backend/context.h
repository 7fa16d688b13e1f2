/* context.h - the place where work runs: a backend, a team of threads, one or several GPUs. */
#ifndef TRS_BACKEND_CONTEXT_H
#define TRS_BACKEND_CONTEXT_H

#include <stdatomic.h>

#include "backend/backend.h"
#include "base/team.h"
#include "comm/group.h"

struct trs_context {
  atomic_int references;
  const trs_backend *backend;
  int threads;
  int cores;                    /* that the process may use */
  unsigned process;             /* that made the context: base/process.h */
  trs_team *team;               /* NULL: one thread */
  _Atomic(trs_device *) device; /* NULL without a GPU, and for "auto" before
                                   trs_context_find_device; of a group, the device of the first
                                   member of this process */
  trs_group *group;             /* several GPUs; else NULL */
  _Atomic int64_t gpu_memory;   /* most bytes that the library holds on each GPU; 0: no limit */
  atomic_bool looked;           /* trs_context_find_device was called */
  char no_device[128];          /* its reason for no device, once looked is set */
};

trs_context *trs_context_retain(trs_context *context);

/* A context of one GPU that is open already. */
trs_status trs_context_of_device(trs_context **context, trs_device *device);

/* The error for a name that no backend has: TRS_ERROR_ARGUMENT. */
trs_status trs_context_unknown(const char *name);

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
