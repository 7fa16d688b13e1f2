/* context.h - the place of a computation: a backend, a team of threads, one or several GPUs. */
#ifndef TRS_BACKEND_CONTEXT_H
#define TRS_BACKEND_CONTEXT_H

#include <stdatomic.h>

#include "backend/backend.h"
#include "base/single.h"
#include "base/team.h"
#include "comm/group.h"

struct trs_context {
  atomic_int references;
  const trs_backend *backend;
  int threads;
  int cores;                    /* CPUs that the process may use */
  unsigned process;             /* the process that created the context: base/process.h */
  trs_team *team;               /* NULL: one thread */
  _Atomic(trs_device *) device; /* NULL without a GPU, and for "auto" before
                                   trs_context_find_device; of a group, the device of the first
                                   member of this process */
  trs_group *group;             /* several GPUs; else NULL */
  void *paper;                  /* what a backend of papers/ has open, which no fork survives */
  bool keeps_systems;           /* an analysis of the engine leaves the system in device memory for
                                   who made the plan (solve/multigpu/alone.h) */
  _Atomic int64_t gpu_memory;   /* limit on the bytes that the library holds per GPU; 0: no limit */
  trs_single looking;           /* the thread that looks for a device */
  atomic_bool looked;           /* trs_context_find_device has run */
  char no_device[128];          /* why no device was found; valid once looked is set */
};

trs_context *trs_context_retain(trs_context *context);

/* A context of one GPU that is already open, with the memory limit of another context. */
trs_status trs_context_of_device(trs_context **context, trs_device *device,
                                 const trs_context *like);

/* The error for a name that no backend has: TRS_ERROR_ARGUMENT. */
trs_status trs_context_unknown(const char *name);

/* Applies the context's limit to its GPUs; called at the beginning of calls that allocate. */
void trs_context_limit_gpus(const trs_context *context);

/* True if the context was created before this process was forked from its parent: threads can be
 * restarted, but CUDA is lost. */
bool trs_context_is_inherited(const trs_context *context);
extern const char trs_context_inherited[]; /* the error message for a GPU in a forked process */

/* Every call that uses a context calls this first. */
trs_status trs_context_check(const trs_context *context);

/* The row of the machine model for the context's GPUs.  Processes of a group choose alike, whatever
 * GPU each has, so theirs is the measured row. */
const trs_gpu_costs *trs_context_gpu_costs(const trs_context *context);

/* For "auto": opens the first GPU if one exists.  Returns NULL, or why no GPU is available. */
const char *trs_context_find_device(trs_context *context);

#endif
