/* triangle.h - plans by the method `blocks`, and new factors in them. */
#ifndef TRS_RELAX_TRIANGLE_H
#define TRS_RELAX_TRIANGLE_H

#include "relax/relaxation.h"

/* The state of such a plan, which is that of its sweep, a plan of relaxation.  NULL: another
 * method's plan, or none. */
trs_relaxation *trs_triangle_of(const trs_plan *plan);

/* Fails unless both sweeps of a plan over block factors take new values of the matrix, or will
 * after trs_refactor_begin: blocks of 1, for which auto has other methods, go to this one. */
trs_status trs_refactor_check(const trs_plan *plan);
trs_status trs_refactor_begin(trs_plan *plan);
/* Of such a plan: trs_refactor_blocks reads these values where they are, in device memory. */
bool trs_refactor_takes(const trs_plan *plan, const void *val);
/* Factors new values of the matrix, the caller's blocks, into both sweeps of such a plan.  The
 * source's arrays lie on the host, but for values that it takes; they are checked. */
trs_status trs_refactor_blocks(trs_plan *plan, const trs_block_source *source);
void trs_refactor_free(trs_refactor *refactor);
int64_t trs_refactor_held(const trs_refactor *f); /* bytes on the host; NULL has none */

#endif
