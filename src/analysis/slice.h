/* slice.h - slices.h built on the host: slow, obvious, and what the GPU's analysis is held against.
 */
#ifndef TRS_ANALYSIS_SLICE_H
#define TRS_ANALYSIS_SLICE_H

#include "analysis/slices.h"
#include "analysis/system.h"

/* Slices of a system stored by rows, values included.  O(nnz + n most_block^2). */
trs_status trs_slices_create(trs_slices *slices, const trs_system *S, const trs_slice_rules *rules);
void trs_slices_destroy(trs_slices *slices);

#endif
