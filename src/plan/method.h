/* method.h - the interface of a solution method: one table of functions, listed once in
 * methods.def. */
#ifndef TRS_PLAN_METHOD_H
#define TRS_PLAN_METHOD_H

#include "analysis/levels.h"
#include "backend/context.h"
#include "matrix/rhs.h"

/* The values that auto compares.  The highest preference wins, then the lowest seconds. */
typedef enum trs_preference {
  TRS_PREFERENCE_LAST = -1, /* taken only by name, or if every other method is LAST too */
  TRS_PREFERENCE_NONE,
  TRS_PREFERENCE_FIRST,
  TRS_PREFERENCE_ONLY /* no other method has enough memory */
} trs_preference;

typedef struct trs_estimate {
  double seconds; /* of one solve on an idle machine; only for comparing methods */
  trs_preference preference;
  const char *because; /* why the preference is not NONE; NULL: no reason to report */
} trs_estimate;

/* Of a method that auto takes by its estimate, once it knows the facts of the pattern. */
typedef struct trs_verdict {
  double next;    /* in: the estimated seconds of the next best method */
  bool declined;  /* auto takes another method; plan->state is incomplete */
  bool compares;  /* it declines where another method is better than `seconds` too, and stays a
                     candidate by them */
  double seconds; /* of one solve, as estimates are, with their margin; 0: not known */
  char why[160];  /* half a sentence, if it declines */
} trs_verdict;

typedef struct trs_method {
  const char *name;
  const trs_backend *backend;
  bool deferred;   /* requires deferred values of the matrix itself */
  bool parameters; /* accepts parameters: analyze calls trs_parameters_read */
  bool reorders;   /* a GPU method: solve takes permutations of b and x, arrays in device memory */
  /* analyze and update fail with TRS_ERROR_ZERO_PIVOT, without a row, if a diagonal entry in device
   * memory is unusable; the caller finds the row. */
  bool checks_diagonal;
  bool launches_updates; /* heeds trs_options.launch_updates */

  /* NULL if the method can solve this plan's system here, else the reason as half a sentence.  Has
   * no side effects.  The context offers the method's backend.  NULL: nothing is refused. */
  const char *(*refuses)(const trs_plan *plan);

  /* Has no side effects.  NULL: a published method, which auto takes only if the caller names it.
   */
  trs_estimate (*estimate)(const trs_plan *plan);

  /* Cost of analyze in solves by substitution; almost zero for serial. */
  double analysis_solves;

  /* The functions below, except share and those from threads to describe, run with the device of
   * the plan's context as the calling thread's current device: trs_plan_enter. */

  /* Begins plan->state with the facts that decide whether the method pays, and judges them.  A NULL
   * verdict: the method is taken in any case.  NULL: the estimate decides. */
  trs_status (*look)(trs_plan *plan, trs_verdict *verdict);

  /* Builds plan->state from plan->system, or completes what look began.  May use plan->levels.
   * After a failure, or a verdict that declines, the caller calls free. */
  trs_status (*analyze)(trs_plan *plan);

  /* Builds clone->state: what solves only read is that of clone->origin, which free then leaves
   * alone, and the workspace its own.  NULL: plans by the method are not cloned. */
  trs_status (*clone)(trs_plan *clone);

  /* plan->system has new values.  NULL if the method keeps no copy of them. */
  trs_status (*update)(trs_plan *plan);

  /* The part of nrhs right-hand sides that a member solves; rows is NULL, or has room for the
   * part's rows.  NULL: the first member has everything. */
  trs_status (*share)(const trs_plan *plan, int member, int64_t nrhs, trs_plan_share *share,
                      int64_t *rows);

  /* Allocates nothing; returns when x is complete.  A method of GPUs gets rhs located. */
  trs_status (*solve)(trs_plan *plan, const trs_rhs *rhs);

  /* The same in the plan's workspace number `space` (plan->spaces), side by side with other
   * threads. NULL: one solve at a time. */
  trs_status (*solve_in)(trs_plan *plan, const trs_rhs *rhs, int space);

  /* GPU methods: waits for the kernels that solve launched, and reports their failure.  NULL: solve
   * waits itself. */
  trs_status (*wait)(trs_plan *plan);

  int (*threads)(const trs_plan *plan);           /* threads of a solve; NULL: one */
  int64_t (*bytes)(const trs_plan *plan);         /* bytes of plan->state; NULL: none */
  double (*device_seconds)(const trs_plan *plan); /* as in trs_plan_info; NULL: 0 */
  trs_store (*store)(const trs_plan *plan);       /* the same; NULL: values keep their type */
  void (*describe)(const trs_plan *plan, char *text, size_t size); /* one line; NULL: none */
  void (*free)(trs_plan *plan); /* state may be incomplete or NULL */
} trs_method;

/* The method that others are compared with, and the other one of one thread: "columns" runs either
 * on every thread, or "threads" for all right-hand sides.  Methods of several GPUs run the engine.
 */
extern const trs_method trs_method_serial, trs_method_panels, trs_method_threads, trs_method_engine;

/* Triangles of blocks. */
extern const trs_method trs_method_blocks;

/* Entries of a table whose functions have these names in the method's file: those of every method,
 * and those of a method that keeps a copy of the values. */
#define TRS_METHOD_STATE \
  .analyze = analyze, .bytes = bytes, .describe = describe, .free = free_state
#define TRS_METHOD_STEPS TRS_METHOD_STATE, .update = update

/* Those of a method of the CPU that auto may take. */
#define TRS_CPU_METHOD(NAME, PLACE, ANALYSIS_SOLVES)                                 \
  .name = NAME, .backend = &trs_backend_##PLACE, .analysis_solves = ANALYSIS_SOLVES, \
  .estimate = estimate, .solve = solve, TRS_METHOD_STEPS

#endif
