/* slice.h - slices.h built on the host: what the GPU's analysis is held against, and for systems
 * that no single GPU holds. */
#ifndef TRS_ANALYSIS_SLICE_H
#define TRS_ANALYSIS_SLICE_H

#include "analysis/slices.h"
#include "analysis/system.h"
#include "base/team.h"

/* Slices of a system stored by rows, values included.  O(nnz + n most_block^2). */
trs_status trs_slices_create(trs_slices *slices, const trs_system *S, const trs_slice_rules *rules);
void trs_slices_destroy(trs_slices *slices);

/* The same in two steps, where slices are wanted piece by piece: first all but idx, val and inverse
 * (NULL in slices), then these for some slices at a time. */
typedef struct trs_outline trs_outline;
trs_status trs_outline_create(trs_outline **outline, trs_slices *slices, const trs_system *S,
                              const trs_slice_rules *rules);
/* With the sweep cut in slabs, rows [cut[k], cut[k + 1]) of it each (cut[0] is 0, cut[nslabs] is
 * n): blocks of a level stand by slab, and no slice has blocks that begin in two of them.  Heavy
 * ones come first in each slab of a level.  The team (NULL: one thread) makes no difference to what
 * comes out. */
trs_status trs_outline_create_slabs(trs_outline **outline, trs_slices *slices, const trs_system *S,
                                    const trs_slice_rules *rules, int32_t nslabs,
                                    const int64_t *cut, trs_team *team);
void trs_outline_destroy(trs_outline *outline); /* NULL is fine */
/* The same system with new values, or with its arrays elsewhere. */
void trs_outline_renew(trs_outline *outline, const trs_system *S);
const int32_t *trs_outline_positions(const trs_outline *outline); /* n: of each row */
const uint8_t *trs_outline_begins(const trs_outline *outline); /* n: is a row of the sweep the first
                                                                  of a block? */

/* Where entries and inverses go: element 0 of the arrays has these offsets. */
typedef struct trs_slice_arrays {
  int32_t *idx;
  void *val, *inverse; /* the system's scalar */
  int64_t entries, inverses;
} trs_slice_arrays;

/* Fills in `count` slices whose offsets follow one another, number[k] being the outline's slice
 * k (NULL: the first ones).  The slices of a heavy block are filled together, by its first.  Slices
 * that do not overlap can be filled by several threads at once. */
void trs_outline_fill(const trs_outline *outline, const trs_slice *slice, const int32_t *number,
                      int32_t count, const trs_slice_arrays *to);

/* Rows that one thread does before others have begun; 0 has all of them work on anything, for the
 * tests. */
extern int64_t trs_slices_alone;

/* Threads for a walk along dependencies, parts of the sweep by ticket: one where rows need those
 * just before them, since others would only wait. */
int trs_sweepers(const trs_system *S, const trs_team *team);

/* Of rows spread over the triangle: mean entries off the diagonal, share of rows that need the one
 * just before them, mean number of rows just before a row that it needs without a gap. */
void trs_slices_sample(const trs_system *S, double *row_length, double *chained, double *run);

#endif
