/* mover.h - the permutations and scalings around the two sweeps of a plan over factors.  The
 * solution of the first sweep lies in a workspace in the memory of the sweeps: one table of
 * functions per kind of memory. */
#ifndef TRS_PLAN_MOVER_H
#define TRS_PLAN_MOVER_H

#include "plan/plan.h"

typedef struct trs_mover {
  /* Builds state->room; after a failure the caller calls free. */
  trs_status (*create)(trs_plan *plan);
  /* Solves all right-hand sides by both sweeps, as a method's solve does. */
  trs_status (*solve)(trs_plan *plan, const trs_rhs *rhs);
  int64_t (*bytes)(const trs_plan *plan); /* bytes of state->room */
  void (*free)(trs_plan *plan);           /* room may be incomplete or NULL */
} trs_mover;

/* The state of a plan over factors. */
typedef struct trs_two_sweeps {
  trs_factors *F;
  trs_row_order in, out; /* of b and of x; arrays of F */
  const trs_mover *mover;
  void *room;  /* owned by the mover */
  bool on_cpu; /* the GPU of an "auto" context lacks the memory */
  bool named;  /* the caller chose the method */
} trs_two_sweeps;

/* For two sweeps on the context's GPU; in builds with CUDA. */
extern const trs_mover trs_mover_cuda;

#endif
