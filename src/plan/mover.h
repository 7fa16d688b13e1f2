/* mover.h - the steps before and after the two sweeps of a plan over factors: right-hand sides are
 * copied into a workspace, permuted and scaled; both sweeps run there in place; solutions are
 * copied out.  The workspace lies in the memory of the sweeps: one table of functions per kind of
 * memory. */
#ifndef TRS_PLAN_MOVER_H
#define TRS_PLAN_MOVER_H

#include "plan/plan.h"

/* Row i of the workspace is row in_perm[i] of b times in_scale[in_perm[i]].  It becomes row
 * out_perm[i] of x times out_scale[out_perm[i]]. */
typedef struct trs_moves {
  const int32_t *in_perm, *out_perm;  /* n; NULL: identity */
  const double *in_scale, *out_scale; /* n; NULL: ones */
} trs_moves;

typedef struct trs_mover {
  /* Builds state->room for state->moves; after a failure the caller calls free. */
  trs_status (*create)(trs_plan *plan);
  /* Solves all right-hand sides by both sweeps, as a method's solve does. */
  trs_status (*solve)(trs_plan *plan, const trs_rhs *rhs);
  int64_t (*bytes)(const trs_plan *plan); /* bytes of state->room */
  void (*free)(trs_plan *plan);           /* room may be incomplete or NULL */
} trs_mover;

/* The state of a plan over factors. */
typedef struct trs_two_sweeps {
  trs_factors *F;
  trs_moves moves; /* arrays of F */
  const trs_mover *mover;
  void *room; /* owned by the mover */
} trs_two_sweeps;

/* For two sweeps on the context's GPU; in builds with CUDA. */
extern const trs_mover trs_mover_cuda;

#endif
