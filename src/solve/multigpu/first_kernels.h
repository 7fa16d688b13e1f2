/* first_kernels.h - kernels of first.c.  All launch only; arrays are in device memory. */
#ifndef TRS_SOLVE_MULTIGPU_FIRST_KERNELS_H
#define TRS_SOLVE_MULTIGPU_FIRST_KERNELS_H

#include <stdbool.h>

#include "analysis/slices.h"
#include "analysis/triangle.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The rows of a joint system: those of y stand first. */
typedef struct trs_first_joint {
  const int32_t *of; /* as in trs_joint; NULL: the system is no joint system */
  int32_t ny;
  bool lower; /* the caller's system */
} trs_first_joint;

/* bound[members + 1]: bounds of slabs of equal weight (trs_deal_slabs), in the sweep of the
 * caller's system; the y of a row is in the slab of its x.  slab[n]: of each row of the sweep. */
trs_status trs_first_find_slabs(int32_t *bound, uint8_t *slab, const trs_system *system,
                                trs_first_joint joint, int32_t members, trs_stream stream);
/* owner[nslices]: the slab of each slice. */
trs_status trs_first_find_owners(int32_t *owner, const trs_slices *slices, const trs_system *system,
                                 const uint8_t *slab, trs_stream stream);
/* member[n], of each row of the sweep: the owner of its slice. */
trs_status trs_first_spread_owners(uint8_t *member, const int32_t *owner, const trs_slices *slices,
                                   const trs_system *system, trs_stream stream);
/* mask[position of a row]: the members that need it, beside its own; zeros before. */
trs_status trs_first_mark_needs(uint32_t *mask, const trs_system *system, const uint8_t *member,
                                const int32_t *position, trs_stream stream);
/* group_mask of trs_deal; *pushes: the sum of all bits, zero before. */
trs_status trs_first_sum_needs(uint32_t *group_mask, uint64_t *pushes, const uint32_t *mask,
                               int64_t n, trs_stream stream);
/* row[p]: the row of the joint system whose row of b and x is named[p]. */
trs_status trs_first_find_rows(int32_t *row, const int32_t *named, int64_t n, trs_first_joint joint,
                               trs_stream stream);
/* Adds to *hash numbers of the pattern and of joint.of; zero before. */
trs_status trs_first_hash(uint64_t *hash, const trs_system *system, trs_first_joint joint,
                          trs_stream stream);

#ifdef __cplusplus
}
#endif
#endif
