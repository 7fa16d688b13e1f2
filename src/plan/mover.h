/* mover.h - what stands around the two sweeps of a plan over factors: right-hand sides go into a
 * workspace, permuted and scaled, both sweeps run there in place, solutions come out of it.  The
 * workspace lies where the sweeps run: one table of functions for each such place. */
#ifndef TRS_PLAN_MOVER_H
#define TRS_PLAN_MOVER_H

#include "plan/plan.h"

/* Row i of the workspace is row in_perm[i] of b times in_scale[in_perm[i]], and becomes row
 * out_perm[i] of x times out_scale[out_perm[i]]. */
typedef struct trs_moves {
  const int32_t *in_perm, *out_perm;  /* n; NULL: identity */
  const double *in_scale, *out_scale; /* n; NULL: ones */
} trs_moves;

typedef struct trs_mover {
  /* state->room for state->moves; on failure free is called. */
  trs_status (*create)(trs_plan *plan);
  /* All right-hand sides through both sweeps; as a method's solve. */
  trs_status (*solve)(trs_plan *plan, const trs_rhs *rhs);
  int64_t (*bytes)(const trs_plan *plan); /* memory of state->room */
  void (*free)(trs_plan *plan);           /* room may be partly built or NULL */
} trs_mover;

/* The state of a plan over factors. */
typedef struct trs_two_sweeps {
  trs_factors *F;
  trs_moves moves; /* arrays of F */
  const trs_mover *mover;
  void *room; /* the mover's own */
} trs_two_sweeps;

/* For sweeps that both run on the context's GPU; in builds with CUDA. */
extern const trs_mover trs_mover_cuda;

#endif
