/* first.h - a deal by the first GPU of a group: the system of rows, or the joint system, is in its
 * memory, and so are the slices that members are equipped from.  Slabs or bands; the result
 * is that of analysis/slice.h and analysis/deal.h on the host, but for the order of y and x within
 * a level of a joint system, and but for the longest path (trs_deal_judge).  For one process. */
#ifndef TRS_SOLVE_MULTIGPU_FIRST_H
#define TRS_SOLVE_MULTIGPU_FIRST_H

#include "analysis/deal.h"
#include "solve/cuda/engine/analysis.h"
#include "solve/cuda/engine/substitute.h"

/* Positions of the heavy slices of a member's share, on the first GPU, as in trs_slices_map. */
typedef struct trs_first_heavy {
  int32_t *heavy, nheavy, *piece; /* piece: in the memory of heavy */
} trs_first_heavy;

typedef struct trs_first {
  trs_device *device; /* NULL: there is no such deal */
  trs_stream stream;
  int32_t members;
  trs_deal_rule rule;         /* slabs, if rows are substituted */
  bool joins;                 /* rows are substituted */
  trs_gpu_substitution joint; /* if they are; its arrays until the members are equipped */
  trs_system system;          /* that is dealt: the caller's, or joint's; device arrays */
  bool lower;                 /* the caller's */
  /* Until the members are equipped: */
  trs_gpu_cut *cut;
  trs_slices slices; /* device arrays, without idx, val and inverse */
  trs_slices_map map;
  const int32_t *position; /* n: of each row */
  void *memory;            /* of the arrays below */
  int32_t *bound;  /* members + 1: bounds of the slabs in the sweep of the caller's system */
  uint8_t *member; /* n: of each row of the sweep of `system`; before the deal, its slab */
  uint32_t *mask;  /* n, as in trs_deal */
  uint32_t *group_mask;
  uint64_t *pushes, *hash; /* 1 each */
  /* For updates: */
  uint64_t
      pattern;    /* of a joint system: a hash, which another pattern has by chance once in 2^64 */
  uint8_t *place; /* as in trs_slices_map */
  trs_first_heavy heavy[TRS_MOST_MEMBERS];
  trs_gpu_found *found; /* pinned */
} trs_first;

/* Cuts the system into slices, and slabs.  `first` is zero but for device, stream, members, rule,
 * joint and system.  s: counts and levels, on the host.  After a failure too, trs_first_drop is
 * due. */
trs_status trs_first_cut(trs_first *first, trs_slices *s, const trs_slice_rules *rules);
/* Deals them: owner, group_mask and pushes of the deal, and the rows of a joint system; the slices
 * of s, on the host.  Waits. */
trs_status trs_first_deal(trs_first *first, trs_deal *deal, trs_slices *s);
/* The rows of b and x of all positions, in device memory; *named is theirs to free, or NULL. */
trs_status trs_first_rows(trs_first *first, const int32_t **row, int32_t **named);

/* What fills of this member's slices need. */
trs_status trs_first_keep_heavy(trs_first *first, int32_t member, const trs_deal_share *share);
trs_status trs_first_keep_place(trs_first *first);
/* Launches the fill of a member's slices: device arrays, also of another GPU, but for row, which
 * has the rows of `system` by position.  position: of each row, to fill idx; or NULL. */
trs_status trs_first_fill(trs_first *first, int32_t member, const trs_slices *slices,
                          bool store_float, const int32_t *position);

/* After an update: the rows of the joint system by position, to free with trs_device_free, from
 * those of b and x. */
trs_status trs_first_joint_rows(const trs_first *first, int32_t **row, const int32_t *named);
/* The hash of a joint system's pattern.  Waits. */
trs_status trs_first_pattern(const trs_first *first, uint64_t *pattern);

/* Frees what only the equipment of members needs; all work that uses it has ended. */
void trs_first_settle(trs_first *first);
void trs_first_drop(trs_first *first);

#endif
