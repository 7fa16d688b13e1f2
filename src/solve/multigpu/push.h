/* push.h - arguments of the kernel of `push`.  C and CUDA C++.
 *
 * Every member holds three copies of x by position ("thirds"), each for `most` right-hand sides
 * that are solved together: solve k uses third k mod 3 and clears that of the previous solve.  A
 * member may write into third k mod 3 of another member once that member has finished solve k - 2,
 * in which it cleared the third.  Members of one process have done so when a call begins; otherwise
 * a count in every member's memory says so. */
#ifndef TRS_SOLVE_MULTIGPU_PUSH_H
#define TRS_SOLVE_MULTIGPU_PUSH_H

#include "analysis/slices.h"
#include "device/device.h"
#include "device/fault.h"

enum {
  TRS_PUSH_THIRDS = 3,
  TRS_PUSH_ROWS = 256, /* positions that are cleared together: TRS_CLEAR_ROWS */
  TRS_PUSH_CLEARS = 8, /* groups of TRS_PUSH_ROWS that a block of threads clears at a time */
  TRS_PUSH_COLUMNS = 8 /* most right-hand sides solved together */
};

/* In a member's own memory, zero initially. */
typedef struct trs_push_counters {
  unsigned long long solve; /* number of the last finished solve */
  uint32_t finished;        /* blocks of threads of a last run that have finished: wraps to 0 */
  uint32_t ticket;          /* of a run: wraps likewise */
  int32_t columns;          /* right-hand sides of that solve */
} trs_push_counters;

typedef struct trs_push_args {
  trs_slices slices; /* the member's slice, chunk, idx, val, inverse; row of all positions */
  int32_t float_values, members, member;
  int32_t overlaps;     /* the device can start a kernel before the previous one ends */
  const uint32_t *mask; /* n: the members that need the row at a position */
  const int32_t *clear; /* nclear: groups to clear */
  int32_t nclear;
  int32_t columns, most; /* right-hand sides of this launch; most of any */
  void *parts;           /* thirds x most x nparts x TRS_SLICE_LANES */
  trs_push_counters *counters;
  trs_fault *fault; /* shared by all members */
  /* Per member: thirds x most x n values, and at finished_at the numbers of solves that each member
   * has finished. */
  void *peer[TRS_MOST_MEMBERS];
  int64_t finished_at;
  /* spread_at > 0: x goes to that offset of every member's memory instead. */
  void *x;
  const void *b;
  int64_t x_row, x_col, b_row, b_col, spread_at;
} trs_push_args;

/* The rows that a run waits for.  If members share a GPU, runs are of the last two kinds. */
typedef enum trs_push_waits {
  TRS_PUSH_WAITS_NOT,   /* none: no entries */
  TRS_PUSH_WAITS_EARLY, /* rows of earlier runs: those of other members that are still in transit */
  TRS_PUSH_WAITS_ROWS,  /* rows of the same run */
  TRS_PUSH_WAITS_HEAVY  /* the same, with heavy slices among them */
} trs_push_waits;

/* A launch: the chunks of a member in some levels. */
typedef struct trs_push_run {
  int32_t chunk, chunk_end, slice, slice_end;
  int32_t waits;  /* trs_push_waits */
  int32_t last;   /* the last run of a solve */
  int32_t silent; /* no other row needs its rows: they are of the last level */
  int32_t blocks; /* most blocks of threads; 0: one per chunk */
} trs_push_run;

#ifdef __cplusplus
extern "C" {
#endif

/* Blocks of threads of a run's kernel that the current device can hold at once.  Loads the kernel:
 * loading is impossible while another member's kernel waits. */
trs_status trs_push_resident(const trs_push_args *args, const trs_push_run *run, trs_scalar scalar,
                             int *blocks);

/* A solve launches all its runs.  trs_push_open precedes them unless all members are known to have
 * finished the previous solve. */
trs_status trs_push_open(const trs_push_args *args, trs_stream stream);
trs_status trs_push_launch(const trs_push_args *args, const trs_push_run *run, trs_scalar scalar,
                           trs_stream stream);

#ifdef __cplusplus
}
#endif
#endif
