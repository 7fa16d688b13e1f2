/* kernels.h - the data of the sweeps of all threads, and the functions that depend on the element
 * type: kernels.c, compiled for each level of instructions (base/cpu.h). */
#ifndef TRS_SOLVE_THREADS_KERNELS_H
#define TRS_SOLVE_THREADS_KERNELS_H

#include <stdatomic.h>

#include "base/cpu.h"
#include "base/pace.h"
#include "plan/plan.h"
#include "plan/wide.h"
#include "solve/threads/schedule.h"

typedef struct trs_threads_progress {
  _Alignas(64) _Atomic uint64_t value; /* number of the solve << 32 | tasks done in it; wraps */
} trs_threads_progress;

/* The bits of an x that is not solved yet (values_tmpl.c): a quiet NaN that no computation makes
 * from numbers.  The upper half is one of floats. */
#define TRS_THREADS_ABSENT UINT64_C(0x7ff8747273616273)

/* The parts of the workspace that one right-hand side uses: in solves by values two in turn. */
enum { TRS_THREADS_BY_TASKS = 2 };

/* The ways to solve one right-hand side, whose bits are the same.  All threads have the sum of two
 * choices.  BY_VALUES: rows wait for x itself (values_tmpl.c), not for counts of finished tasks.
 * X_LAST: x is written behind all rows, each line of it by one thread, not with each row.  Fewer
 * threads do the shares of several; one alone solves by serial where it can. */
enum { TRS_THREADS_BY_VALUES = 1, TRS_THREADS_X_LAST = 2, TRS_THREADS_HALF = 4, TRS_THREADS_ALONE };
_Static_assert((int)TRS_THREADS_ALONE < (int)TRS_PACE_WAYS, "a pace has every way");

/* Right-hand sides differ in the ways that they have, and in what these cost: one that rows read
 * and write themselves, another single one, and TRS_WIDE. */
enum { TRS_THREADS_DIRECT, TRS_THREADS_MOVED, TRS_THREADS_OF_WIDE, TRS_THREADS_PACES };

/* Where a sweep goes on in the share of a thread: the task, or the row if rows wait for values. */
typedef struct trs_threads_place {
  _Alignas(64) int64_t task;
  int64_t position, entry;
  const int32_t *erase; /* the next place to erase in the vector of the next solve */
} trs_threads_place;

typedef struct trs_threads_state {
  trs_schedule schedule;
  int64_t steps, split_steps, span; /* of the parts that it was made from */
  trs_plan *one; /* by serial, whose sums are the same, if op(T) is stored by rows; or NULL */
  bool chained;  /* nearly every row needs the x of the row before it */
  atomic_bool unscaled; /* the last entry of some row must not be divided beforehand */
  bool sliced;          /* there may be slices */
  unsigned ways;        /* bit w: one right-hand side may be solved in way w by all threads */
  int32_t *count; /* n: off-diagonal entries of the row at each position; slices: slices_tmpl.c */
  int32_t *idx;   /* positions */
  void *val;      /* already conjugated if op conjugates */
  void *inverse;  /* n reciprocal diagonals; NULL for a unit diagonal */
  void *work;     /* n x TRS_WIDE: x by position; one right-hand side uses a part of n */
  trs_threads_progress *done; /* one per thread */
  trs_threads_place *place;   /* the same */
  int turn;                   /* of the two parts, the one for the next solve by values */
  bool erased;                /* it is ready for that */
  int missed; /* solves in a row that could not go by values as they should, since it was not */
  uint64_t solves;
  trs_pace pace[TRS_THREADS_PACES];
  trs_parts parts; /* of the look, and the lengths of rows, until the analysis has taken them */
  int parts_threads;
  int32_t *length;
} trs_threads_state;

/* One team run: the analysis fills the copy, a solve sweeps one tile. */
typedef struct trs_threads_job {
  trs_plan *plan;
  trs_threads_state *state;
  const int32_t *length; /* n: off-diagonal entries per row */
  /* The analysis alone: the task of each part, the part of each row, the needs of each thread, and
   * per task the entry behind those that were copied. */
  const int32_t *task_of, *part_of;
  trs_needs *needs;
  _Atomic bool *is_read; /* n: by other threads; or NULL */
  int64_t *next;
  bool alone; /* the calling thread does the work of all */
  const trs_rhs *rhs;
  int64_t column;
  int width, kind; /* kind: of these right-hand sides, which has a pace */
  int members;     /* of the team's run */
  double start;    /* of the run */
  double share;    /* about the seconds of one share of it */
  bool by_values;  /* rows wait for values */
  bool erases;     /* the part for the next solve by values */
  bool x_last;     /* x is written behind all rows */
} trs_threads_job;

/* True if rows read b themselves, and x is written with each row or behind all. */
static inline __attribute__((always_inline)) bool trs_threads_direct(const trs_threads_job *j) {
  const trs_rhs *R = j->rhs;
  return j->width == 1 && R->x_row == 1 && R->b_row == 1 && !trs_reorders(&R->b_order) &&
         !trs_reorders(&R->x_order);
}

typedef enum trs_threads_advance {
  TRS_THREADS_BLOCKED,  /* at once */
  TRS_THREADS_ADVANCED, /* and blocked then */
  TRS_THREADS_COMPLETE
} trs_threads_advance;

typedef struct trs_threads_kernels {
  /* The analysis, for op(T) stored by rows: copies the rows of tasks begin .. end - 1. */
  void (*copy_rows[TRS_NSCALARS])(trs_threads_job *job, int64_t begin, int64_t end);
  /* Fills new values into the copy: of the rows of thread rank, for op(T) stored by rows; of all
   * rows, and in the analysis positions too, for op(T) stored by columns. */
  void (*fill_rows[TRS_NSCALARS])(trs_threads_job *job, int rank);
  trs_status (*fill_columns[TRS_NSCALARS])(trs_threads_job *job);
  int lanes[TRS_NSCALARS]; /* rows of a slice; 0: make_slices is not called */
  /* Turns rows of thread rank into slices, once columns are filled and needs are recorded. */
  void (*make_slices[TRS_NSCALARS])(trs_threads_job *job, int rank);
  /* Goes on with the share of thread rank of the schedule, for the job's right-hand sides, up to a
   * row that waits for another share longer than so many steps of a wait. */
  void (*begin[TRS_NSCALARS])(const trs_threads_job *job, int rank);
  trs_threads_advance (*advance[TRS_NSCALARS])(const trs_threads_job *job, int rank, int steps);
  /* Writes thread rank's lines of x, once all rows are solved. */
  void (*write_x[TRS_NSCALARS])(const trs_threads_job *job, int rank);
  bool by_values[TRS_NSCALARS]; /* rows can wait for values */
} trs_threads_kernels;

extern const trs_threads_kernels trs_threads_kernels_baseline, trs_threads_kernels_avx2,
    trs_threads_kernels_avx512;

#endif
