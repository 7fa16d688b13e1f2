/* triangle.h - the state of plans by the method `blocks`, and new factors in them. */
#ifndef TRS_RELAX_TRIANGLE_H
#define TRS_RELAX_TRIANGLE_H

#include "plan/plan.h"
#include "relax/relaxation.h"

typedef struct trs_refactor trs_refactor;

typedef struct trs_triangle {
  trs_relaxation *R;
  trs_refactor *refactor; /* in the plan of L: kept between new values; or NULL */
} trs_triangle;

/* NULL: another method's plan, or none. */
trs_triangle *trs_triangle_of(const trs_plan *plan);

/* Fails unless both sweeps of a plan over block factors take new values of the matrix.  Blocks of
 * 1, for which auto has other methods, go to this one. */
trs_status trs_refactor_check(trs_plan *plan);
/* Of such a plan: trs_refactor_blocks reads these values where they are, in device memory. */
bool trs_refactor_takes(const trs_plan *plan, const void *val);
/* Factors new values of the matrix, the caller's blocks, into both sweeps of such a plan.  The
 * source's arrays lie on the host, but for values that it takes; they are checked. */
trs_status trs_refactor_blocks(trs_plan *plan, const trs_block_source *source);
void trs_refactor_free(trs_refactor *refactor);
int64_t trs_refactor_held(const trs_refactor *f); /* bytes on the host; NULL has none */

#endif
