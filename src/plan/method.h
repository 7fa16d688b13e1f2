/* method.h - what a solution method is: one table of functions, listed once in methods.def. */
#ifndef TRS_PLAN_METHOD_H
#define TRS_PLAN_METHOD_H

#include "analysis/levels.h"
#include "backend/context.h"

/* Right-hand sides and solutions with any layout: element (i, r) of b is b[i * b_row + r * b_col].
 * x and b are the same array or do not overlap. */
typedef struct trs_rhs {
  void *x;
  const void *b;
  int64_t nrhs;
  int64_t x_row, x_col, b_row, b_col; /* in elements */
  /* Spread over a group: arrays of each member that this process runs, in its memory, instead of x
     and b.  Only for methods with a share. */
  void *const *x_of;
  const void *const *b_of;
} trs_rhs;

/* What auto compares.  The highest preference wins, and the lowest seconds among equals. */
typedef enum trs_preference {
  TRS_PREFERENCE_LAST = -1, /* taken only by name, or where no other method is */
  TRS_PREFERENCE_NONE,
  TRS_PREFERENCE_FIRST,
  TRS_PREFERENCE_ONLY /* no other method has room */
} trs_preference;

typedef struct trs_estimate {
  double seconds; /* of one solve on an idle machine, good only for comparing methods */
  trs_preference preference;
  const char *because; /* why the preference is not NONE; NULL: without a reason to tell */
} trs_estimate;

typedef struct trs_method {
  const char *name;
  const trs_backend *backend;
  bool deferred;   /* asks for deferred values of the matrix itself */
  bool parameters; /* takes them: analyze calls trs_parameters_read */

  /* May it solve this plan's system here?  Pure; NULL if so, else why not, as half a sentence. */
  const char *(*refuses)(const trs_plan *plan);

  /* Pure. */
  trs_estimate (*estimate)(const trs_plan *plan);

  /* What analyze costs, in solves by substitution, all but nothing for serial. */
  double analysis_solves;

  /* The functions from here on, but for share and those that only tell, run with the device of the
     plan's context as the calling thread's current one: trs_plan_enter. */

  /* plan->system -> plan->state.  May use plan->levels.  On failure free is called. */
  trs_status (*analyze)(trs_plan *plan);

  /* plan->system has new values.  NULL where the method keeps no copy of them. */
  trs_status (*update)(trs_plan *plan);

  /* What of nrhs right-hand sides is solved at a member; rows NULL, or room for them.  NULL: the
     first member has all. */
  trs_status (*share)(const trs_plan *plan, int member, int64_t nrhs, trs_plan_share *share,
                      int64_t *rows);

  /* Allocates nothing; returns when x is complete. */
  trs_status (*solve)(trs_plan *plan, const trs_rhs *rhs);

  /* GPU methods: waits for what solve launched, and tells of its failure.  NULL: solve waited. */
  trs_status (*wait)(trs_plan *plan);

  int (*threads)(const trs_plan *plan);   /* that a solve uses; NULL: one */
  int64_t (*bytes)(const trs_plan *plan); /* memory of plan->state; NULL: none */
  void (*describe)(const trs_plan *plan, char *text, size_t size); /* one line; NULL: none */
  void (*free)(trs_plan *plan); /* state may be partly built or NULL */
} trs_method;

/* The estimate of published methods, which auto leaves to callers that ask for them. */
trs_estimate trs_only_by_name(const trs_plan *plan);

#endif
