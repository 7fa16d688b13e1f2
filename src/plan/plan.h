/* plan.h - the plan inside the opaque trs_plan. */
#ifndef TRS_PLAN_PLAN_H
#define TRS_PLAN_PLAN_H

#include "plan/method.h"

struct trs_plan {
  trs_context *context;
  const trs_method *method;
  void *state;            /* the method's own */
  const char *parameters; /* behind the method's name, during analysis; or NULL: parameters.h */
  bool no_gpu;            /* "auto" found the GPU short of memory: methods of the CPU only */
  unsigned declined;      /* methods, a bit each, that auto took and whose analysis declined */
  trs_stream stream;      /* where GPU methods work; NULL: the default stream */
  char reason[256];

  trs_matrix *matrix; /* the triangle solved with: the caller's matrix or a triangle cut from it */
  bool cut;           /* matrix was cut from a general one: an update cuts again */
  int64_t source_nnz; /* entries of the caller's matrix */
  uint64_t compared;  /* the number of the matrix last seen to have its pattern */
  trs_uplo uplo;
  trs_trans trans;
  trs_diag diag;
  trs_system system; /* of matrix */
  trs_options options;

  trs_plan *sweep[2]; /* a plan over factors: the plans of its two sweeps, in order; else NULL */

  bool has_levels;
  trs_levels levels; /* level[] is dropped when analysis ends; count and ptr stay */
  double analysis_seconds, update_seconds;
};

/* With checked arguments: trs_analyze and trs_update without the argument checks. */
trs_status trs_plan_create(trs_plan **plan, trs_context *context, const trs_matrix *A,
                           trs_uplo uplo, trs_trans trans, trs_diag diag,
                           const trs_options *options);
trs_status trs_plan_refresh(trs_plan *plan, const trs_matrix *A);

/* The same in an "auto" context whose GPU is known to have no room. */
trs_status trs_plan_create_on_cpu(trs_plan **plan, trs_context *context, const trs_matrix *A,
                                  trs_uplo uplo, trs_trans trans, trs_diag diag,
                                  const trs_options *options);

/* The method's name or NULL/"auto" for a choice; fills plan->method and plan->reason. */
trs_status trs_plan_choose(trs_plan *plan, const char *name);

/* Why the method cannot solve the plan's system; NULL if it can. */
const char *trs_plan_refuses(const trs_plan *plan, const trs_method *method);

/* plan->method is not to be chosen again. */
void trs_plan_decline(trs_plan *plan);

/* Makes plan->levels if it is not there. */
trs_status trs_plan_need_levels(trs_plan *plan);

/* Threads that a solve uses. */
int trs_plan_threads(const trs_plan *plan);

/* Makes the device of the plan's methods the calling thread's current one, if they have one, and
 * the one before again. */
int trs_plan_enter(const trs_plan *plan);
void trs_plan_leave(const trs_plan *plan, int before);

/* Bytes one solve must touch: matrix, b and x once each. */
int64_t trs_plan_solve_bytes(const trs_plan *plan);

/* Solves with checked, strided arguments. */
trs_status trs_plan_solve(trs_plan *plan, const trs_rhs *rhs);

/* Every call that uses a plan makes sure of its context first: trs_context_check. */
trs_status trs_plan_check(const trs_plan *plan);

/* NULL if a method that reads the matrix on the host can work here, else why not.  For a method's
 * refuses. */
const char *trs_host_refuses(const trs_plan *plan);

/* Waits for what solve launched; the stream of solves to come. */
trs_status trs_plan_finish(trs_plan *plan);
void trs_plan_use_stream(trs_plan *plan, trs_stream stream);

#endif
