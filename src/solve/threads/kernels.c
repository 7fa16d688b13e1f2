/* kernels.c - fills the copy in schedule order, and sweeps over it. */
#include "solve/threads/kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "base/counter.h"
#include "base/team.h"
#include "base/wait.h"

/* Which of b and x a row reads and writes itself: adjacent rows, not reordered, are read and
 * written as they are solved (BOTH) or read so (B_ALONE); the others are loaded into the workspace
 * before, and stored after.  AWAITED: rows wait for values (values_tmpl.c), and read b; they write
 * x unless the column has none. */
enum { NEITHER = 0, BOTH = 1, B_ALONE = 2, AWAITED = 3 };

/* Rows that are moved at a time; the longest rows in slices; bytes of a register, 0 if they are too
 * few for slices to be faster than rows. */
enum {
  BLOCK = 256,
  MOST_SLOTS = 128,
  REGISTER = (int)TRS_VECTOR_BYTES < 32 ? 0 : TRS_VECTOR_BYTES
};

/* The thread sanitizer sees a race where rows wait for values. */
#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define BY_VALUES false
#endif
#endif
#ifdef __SANITIZE_THREAD__
#define BY_VALUES false
#endif
#ifndef BY_VALUES
#define BY_VALUES true
#endif

/* True once thread has completed so many tasks; false if it has not after so many steps. */
static inline __attribute__((always_inline)) bool has_done(const trs_threads_state *s, int thread,
                                                           int64_t tasks, int steps) {
  const uint64_t goal = (s->solves << 32) + (uint64_t)tasks;
  trs_patience wait = {0};
  while (!trs_counter_reached(atomic_load_explicit(&s->done[thread].value, memory_order_acquire),
                              goal)) {
    if (--steps < 0) return false;
    trs_wait_turn(&wait);
  }
  return true;
}

/* The same of all that a task needs. */
static inline __attribute__((always_inline)) bool is_ready(const trs_threads_state *s,
                                                           const trs_task *task, int steps) {
  for (int64_t w = task->wait; w < task->wait_end; w++)
    if (!has_done(s, s->schedule.waits[w].thread, s->schedule.waits[w].tasks, steps)) return false;
  return true;
}

#define TRS_TEMPLATE "plan/rhs_tmpl.c"
#include "base/instantiate.h"
#define TRS_TEMPLATE "plan/wide_tmpl.c"
#include "base/instantiate.h"
#define TRS_TEMPLATE "solve/threads/values_tmpl.c"
#include "base/instantiate.h"
#define TRS_TEMPLATE "solve/threads/slices_tmpl.c"
#include "base/instantiate.h"
#define TRS_TEMPLATE "solve/threads/threads_tmpl.c"
#include "base/instantiate.h"

const trs_threads_kernels TRS_ISA_NAME(trs_threads_kernels) = {
    .copy_rows = TRS_TABLE(copy_rows),
    .fill_rows = TRS_TABLE(fill_rows),
    .fill_columns = TRS_TABLE(fill_columns),
    .lanes = {[TRS_FLOAT] = REGISTER / (int)sizeof(float),
              [TRS_DOUBLE] = REGISTER / (int)sizeof(double)},
    .make_slices = TRS_TABLE(make_slices),
    .begin = TRS_TABLE(begin),
    .advance = TRS_TABLE(advance),
    .write_x = TRS_TABLE(write_x),
    .by_values = {[TRS_FLOAT] = BY_VALUES, [TRS_DOUBLE] = BY_VALUES},
};
