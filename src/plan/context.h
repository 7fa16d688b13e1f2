/* context.h - where work runs: a backend's name and the team of threads. */
#ifndef TRS_PLAN_CONTEXT_H
#define TRS_PLAN_CONTEXT_H

#include <stdatomic.h>

#include "base/team.h"

struct trs_context {
  atomic_int references;
  char backend[16]; /* "auto", "serial" or "threads": methods of other backends do not apply */
  int threads;
  trs_team *team; /* NULL for one thread */
};

trs_context *trs_context_retain(trs_context *context);

#endif
