/* push.h - what the kernel of `push` is told.  C and CUDA C++.
 *
 * Every member holds x by position three times, each for `most` right-hand sides that are solved
 * beside each other: solve k works in third k mod 3 and empties that of the solve before.  A member
 * may write into third k mod 3 of another once that one has finished solve k - 2, in which it
 * emptied it: known of all members of a process where a call begins, else told by a count in
 * everybody's memory. */
#ifndef TRS_SOLVE_MULTIGPU_PUSH_H
#define TRS_SOLVE_MULTIGPU_PUSH_H

#include "analysis/slices.h"
#include "device/device.h"
#include "device/fault.h"

enum {
  TRS_PUSH_MEMBERS = 32, /* at most: bits of a mask */
  TRS_PUSH_THIRDS = 3,
  TRS_PUSH_ROWS = 256, /* positions that are emptied together: TRS_CLEAR_ROWS */
  TRS_PUSH_CLEARS = 8, /* groups of TRS_PUSH_ROWS that a block of threads empties at a time */
  TRS_PUSH_COLUMNS = 8 /* right-hand sides beside each other, at most */
};

/* In a member's own memory, zero at first. */
typedef struct trs_push_counters {
  unsigned long long solve; /* the last one finished */
  uint32_t finished;        /* blocks of threads of a last run that are done: wraps to 0 */
  uint32_t ticket;          /* of a run: likewise */
  int32_t columns;          /* of that solve */
} trs_push_counters;

typedef struct trs_push_args {
  trs_slices slices; /* the member's: slice, chunk, idx, val, inverse; and row, of all positions */
  int32_t float_values, members, member;
  int32_t overlaps;     /* the device can start a kernel before the one before it has ended */
  const uint32_t *mask; /* n: which members need the row at a position */
  const int32_t *clear; /* nclear: what to empty */
  int32_t nclear;
  int32_t columns, most; /* right-hand sides of this launch, and at most */
  void *parts;           /* thirds x most x nparts x TRS_SLICE_LANES */
  trs_push_counters *counters;
  trs_fault *fault; /* one for all members */
  /* Of every member: thirds x most x n values, and at told_at its counts of solves that each member
     has finished. */
  void *peer[TRS_PUSH_MEMBERS];
  int64_t told_at;
  /* spread_at > 0: x goes to that place of every member instead. */
  void *x;
  const void *b;
  int64_t x_row, x_col, b_row, b_col, spread_at;
} trs_push_args;

/* Whom the rows of a run wait for.  Where members share a GPU, runs are of the last two kinds. */
typedef enum trs_push_waits {
  TRS_PUSH_WAITS_NOT,   /* nobody: no entries */
  TRS_PUSH_WAITS_EARLY, /* rows of earlier runs: other members' that are still on their way */
  TRS_PUSH_WAITS_ROWS,  /* each other */
  TRS_PUSH_WAITS_HEAVY  /* the same, heavy slices among them */
} trs_push_waits;

/* A launch: a member's chunks of some levels. */
typedef struct trs_push_run {
  int32_t chunk, chunk_end, slice, slice_end;
  int32_t waits;  /* trs_push_waits */
  int32_t last;   /* of the solve */
  int32_t silent; /* nobody needs its rows: they are of the last level */
  int32_t blocks; /* of threads, at most; 0: one a turn */
} trs_push_run;

#ifdef __cplusplus
extern "C" {
#endif

/* Blocks of threads of a run's kernel that the current device holds at once.  Brings the kernel
 * there: it could not be brought while another member's waits. */
trs_status trs_push_resident(const trs_push_args *args, const trs_push_run *run, trs_scalar scalar,
                             int *blocks);

/* A solve: all its runs; before them open, where it is not known of all members that they have
 * finished the solve before. */
trs_status trs_push_open(const trs_push_args *args, trs_stream stream);
trs_status trs_push_launch(const trs_push_args *args, const trs_push_run *run, trs_scalar scalar,
                           trs_stream stream);

/* Tests: the rows of every member's first slice never become ready, and the limit of waits is
 * short. */
struct trs_plan;
trs_status trs_push_break(struct trs_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
