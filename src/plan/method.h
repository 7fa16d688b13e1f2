/* method.h - the interface of a solution method: one table of functions, listed once in
 * methods.def. */
#ifndef TRS_PLAN_METHOD_H
#define TRS_PLAN_METHOD_H

#include "analysis/levels.h"
#include "backend/context.h"

/* The rows of an array in the order of a sweep: row i is row perm[i] of the array, times
 * scale[perm[i]]. */
typedef struct trs_row_order {
  const int32_t *perm; /* n; NULL: identity */
  const double *scale; /* n; NULL: ones */
} trs_row_order;

static inline bool trs_reorders(const trs_row_order *order) { return order->perm || order->scale; }

/* Right-hand sides and solutions with any layout: element (i, r) of b is b[i * b_row + r * b_col].
 * x and b are the same array or do not overlap. */
typedef struct trs_rhs {
  void *x;
  const void *b;
  int64_t nrhs;
  int64_t x_row, x_col, b_row, b_col; /* in elements */
  /* Sweeps over factors, for methods on a CPU: the orders of b and x, and whether b is a workspace
   * that the sweep may overwrite.  It is one if x is reordered. */
  trs_row_order b_order, x_order;
  bool spare_b;
  /* For vectors distributed over a group: the arrays of each member that this process runs, in that
   * member's memory, instead of x and b.  Only for methods with a share. */
  void *const *x_of;
  const void *const *b_of;
} trs_rhs;

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

typedef struct trs_method {
  const char *name;
  const trs_backend *backend;
  bool deferred;   /* requires deferred values of the matrix itself */
  bool parameters; /* accepts parameters: analyze calls trs_parameters_read */

  /* NULL if the method can solve this plan's system here, else the reason as half a sentence.  Has
   * no side effects. */
  const char *(*refuses)(const trs_plan *plan);

  /* Has no side effects. */
  trs_estimate (*estimate)(const trs_plan *plan);

  /* Cost of analyze in solves by substitution; almost zero for serial. */
  double analysis_solves;

  /* The functions below, except share, threads, bytes and describe, run with the device of the
   * plan's context as the calling thread's current device: trs_plan_enter. */

  /* Builds plan->state from plan->system.  May use plan->levels.  After a failure the caller calls
   * free. */
  trs_status (*analyze)(trs_plan *plan);

  /* plan->system has new values.  NULL if the method keeps no copy of them. */
  trs_status (*update)(trs_plan *plan);

  /* The part of nrhs right-hand sides that a member solves; rows is NULL, or has room for the
   * part's rows.  NULL: the first member has everything. */
  trs_status (*share)(const trs_plan *plan, int member, int64_t nrhs, trs_plan_share *share,
                      int64_t *rows);

  /* Allocates nothing; returns when x is complete. */
  trs_status (*solve)(trs_plan *plan, const trs_rhs *rhs);

  /* GPU methods: waits for the kernels that solve launched, and reports their failure.  NULL: solve
   * waits itself. */
  trs_status (*wait)(trs_plan *plan);

  int (*threads)(const trs_plan *plan);   /* threads of a solve; NULL: one */
  int64_t (*bytes)(const trs_plan *plan); /* bytes of plan->state; NULL: none */
  void (*describe)(const trs_plan *plan, char *text, size_t size); /* one line; NULL: none */
  void (*free)(trs_plan *plan); /* state may be incomplete or NULL */
} trs_method;

/* The method that others are compared with. */
extern const trs_method trs_method_serial;

/* The estimate of published methods, which auto takes only if the caller names them. */
trs_estimate trs_only_by_name(const trs_plan *plan);

#endif
