/* slice.h - the slices of slices.h built on the host: the reference for the GPU's analysis, and
 * the analysis of systems that no single GPU holds. */
#ifndef TRS_ANALYSIS_SLICE_H
#define TRS_ANALYSIS_SLICE_H

#include "analysis/slices.h"
#include "analysis/system.h"
#include "base/team.h"

void trs_slices_destroy(trs_slices *slices);

/* The slices of a system stored by rows, in two steps: trs_outline_create makes all arrays but idx,
 * val and inverse (NULL in slices), trs_outline_fill these for some slices at a time.
 *
 * block_starts[k] is 1 where row k of the sweep must begin a block; NULL: the rules alone decide.
 *
 * like: NULL, or an outline of the same system, rules and block_starts, whatever its slabs, whose
 * blocks and levels are taken over.
 *
 * The sweep is cut in slabs, rows [cut[k], cut[k + 1]) each; cut[0] is 0 and cut[nslabs] is n.  The
 * blocks of a level stand by slab.  No slice has blocks of two slabs.  Heavy blocks come first in
 * each slab of a level.  The result does not depend on the team (NULL: one thread).
 * O(nnz + n most_block^2) with the values. */
typedef struct trs_outline trs_outline;
trs_status trs_outline_create(trs_outline **outline, trs_slices *slices, const trs_system *S,
                              const trs_slice_rules *rules, const uint8_t *block_starts,
                              const trs_outline *like, int32_t nslabs, const int64_t *cut,
                              trs_team *team);
/* For `like`: single rows with these levels, plus one, of which there are nlevels.  A level may be
 * later than what a row depends on asks for. */
trs_status trs_outline_of_levels(trs_outline **outline, const trs_system *S, const uint32_t *known,
                                 int32_t nlevels, trs_team *team);
void trs_outline_destroy(trs_outline *outline); /* NULL is fine */
/* Replaces the system: the same pattern with new values, or with arrays elsewhere. */
void trs_outline_renew(trs_outline *outline, const trs_system *S);
const int32_t *trs_outline_positions(const trs_outline *outline); /* n: of each row */
const uint8_t *trs_outline_begins(const trs_outline *outline);    /* n: 1 where a row of the sweep
                                                                     begins    a block */
const int64_t *trs_outline_slabs(const trs_outline *outline, int32_t *nslabs); /* nslabs + 1 */

/* Destination of entries and inverses.  entries and inverses: offsets of element 0. */
typedef struct trs_slice_arrays {
  int32_t *idx;
  void *val, *inverse; /* the system's scalar */
  int64_t entries, inverses;
} trs_slice_arrays;

/* Fills in `count` slices with consecutive offsets.  number[k] is the outline's number of slice k;
 * NULL: k.  The slices of a heavy block are filled together, by its first.  Several threads may
 * fill disjoint slices at once.
 *
 * Returns the number of blocks whose inverse loses too many digits (growth.h).  Sets block_starts
 * (n, zeros where no other fill has set it; or NULL) so that an outline made with it cuts these
 * blocks and has all others unchanged. */
int64_t trs_outline_fill(const trs_outline *outline, const trs_slice *slice, const int32_t *number,
                         int32_t count, const trs_slice_arrays *to, uint8_t *block_starts);

/* Systems of fewer rows are cut by one thread.  The tests set 0, so that all threads work. */
extern int64_t trs_slices_alone;

/* A walk along dependencies by several threads.  They take parts of the sweep by ticket, in its
 * order, so that a thread waits only for rows that another thread has taken.  Part t is rows
 * [trs_walk_begin(w, t), trs_walk_begin(w, t + 1)), about `grain` of them.  Parts are small,
 * because rows of a large part would wait for those of other large parts.  A chain of rows that
 * each depend on the one before is in one part, so threads walk along the lines of a grid side by
 * side.  Where chains have thousands of rows, one thread walks.  Of more than eight threads half
 * walk. */
typedef struct trs_walk {
  const trs_system *S;
  const uint8_t *begins; /* n: parts begin where it is 1 */
  int64_t grain;
  int threads;
} trs_walk;
trs_walk trs_walk_of(const trs_system *S, const uint8_t *begins, const trs_team *team);
int64_t trs_walk_begin(const trs_walk *w, int64_t part); /* n: there is none from here on */

/* Means over rows spread over the triangle: entries off the diagonal, share of rows that depend on
 * the row just before them, length of the run of rows just before a row that it depends on. */
void trs_slices_sample(const trs_system *S, double *row_length, double *chained, double *run);

#endif
