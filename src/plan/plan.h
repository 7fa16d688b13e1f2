/* plan.h - the plan inside the opaque trs_plan. */
#ifndef TRS_PLAN_PLAN_H
#define TRS_PLAN_PLAN_H

#include "analysis/panels.h"
#include "base/single.h"
#include "plan/method.h"

enum { TRS_MOST_METHODS = 32 };

struct trs_plan {
  trs_single user; /* the public call that solves or updates */
  trs_context *context;
  const trs_method *method;
  void *state; /* owned by the method */
  const char
      *parameters;   /* the text behind the method's name, during analysis; or NULL: parameters.h */
  bool no_gpu;       /* auto found too little memory on the GPU: only methods of the CPU */
  double next;       /* auto's estimate, in seconds, of the next best method */
  double seconds;    /* of one solve by the method's schedule, as estimates are; 0: not known */
  bool trial;        /* the analysis must not decline: solves are timed (tune.h) */
  unsigned declined; /* one bit per method: auto chose it, and its analysis declined */
  double known[TRS_MOST_METHODS]; /* seconds of one solve by methods whose analysis knows them */
  bool gives_way; /* such an analysis ends for another method's, but its method stays a candidate */
  trs_stream stream; /* the stream of GPU methods; NULL: the default stream */
  /* Streams of distributed solves, one per member of this process; NULL: they too take stream. */
  trs_stream *member_stream;
  char reason[512];

  trs_matrix
      *matrix; /* the triangle to solve: the caller's matrix, or a triangle extracted from it */
  bool cut;    /* matrix was extracted from a general one: an update extracts it again */
  int64_t source_nnz; /* entries of the caller's matrix */
  uint64_t compared;  /* the number of the last matrix whose pattern was found equal */
  trs_uplo uplo;
  trs_trans trans;
  trs_diag diag;
  trs_system system; /* of matrix */
  trs_options options;

  /* Supernodes that an analysis has found and none has taken yet; only during the analysis.  Plans
   * copied from this one share them. */
  trs_panels *found;

  int spaces; /* workspaces of a method with solve_in; 0: one */

  trs_plan *sweep[2]; /* a plan over factors: the plans of its two sweeps, in order; else NULL */

  bool has_levels;
  trs_levels levels; /* level[] is dropped when analysis ends; count and ptr stay */
  double analysis_seconds, update_seconds;
};

/* Like trs_analyze and trs_update, for arguments that are already checked. */
trs_status trs_plan_create(trs_plan **plan, trs_context *context, const trs_matrix *A,
                           trs_uplo uplo, trs_trans trans, trs_diag diag,
                           const trs_options *options);
trs_status trs_plan_refresh(trs_plan *plan, const trs_matrix *A);

/* The same in an "auto" context whose GPU is known to lack memory. */
trs_status trs_plan_create_on_cpu(trs_plan **plan, trs_context *context, const trs_matrix *A,
                                  trs_uplo uplo, trs_trans trans, trs_diag diag,
                                  const trs_options *options);

/* Takes the method's name, or NULL or "auto" for a choice; sets plan->method and plan->reason. */
trs_status trs_plan_choose(trs_plan *plan, const char *name);

/* Why the method cannot solve the plan's system; NULL if it can. */
const char *trs_plan_refuses(const trs_plan *plan, const trs_method *method);
trs_estimate trs_plan_estimate(const trs_plan *plan, const trs_method *method);

/* True during the analysis if auto chose the method by its estimate.  *next: the estimated seconds
 * of the method that auto takes if the analysis declines. */
bool trs_plan_chosen(const trs_plan *plan, double *next);

/* The analysis of plan->method knows the seconds of a solve, with their margin.  True if another
 * method may be faster: the analysis then ends with TRS_ERROR_UNSUPPORTED, and auto takes that
 * method, or comes back if it declines. */
bool trs_plan_gives_way(trs_plan *plan, double seconds);

/* True if the analysis of that method gave way. */
bool trs_plan_knows(const trs_plan *plan, const trs_method *method);

/* Excludes plan->method from later choices, unless it gives way. */
void trs_plan_decline(trs_plan *plan);

/* Computes plan->levels if they are missing. */
trs_status trs_plan_need_levels(trs_plan *plan);

/* Counts the rows of each level, without levels of rows, if that is not done. */
trs_status trs_plan_count_levels(trs_plan *plan);

/* Memory beyond the matrix: on the GPU for its methods, else on the host. */
int64_t trs_plan_bytes(const trs_plan *plan);

/* Threads of a solve. */
int trs_plan_threads(const trs_plan *plan);

/* Makes the device of the plan's method the calling thread's current device, if the method has one,
 * and restores the previous one. */
int trs_plan_enter(const trs_plan *plan);
void trs_plan_leave(const trs_plan *plan, int before);

/* Bytes that one solve must read or write: matrix, b and x once each. */
int64_t trs_plan_solve_bytes(const trs_plan *plan);

/* Solves with checked, strided arguments. */
trs_status trs_plan_solve(trs_plan *plan, const trs_rhs *rhs);

/* Checks the plan's context (trs_context_check); every call that uses a plan calls it first. */
trs_status trs_plan_check(const trs_plan *plan);

/* NULL if a method that reads the matrix on the host can work here, else the reason.  Serves as the
 * refuses of such methods. */
const char *trs_host_refuses(const trs_plan *plan);

/* trs_plan_finish waits for the kernels that solve launched; trs_plan_use_stream sets the stream of
 * later solves, trs_plan_use_streams those of later distributed solves. */
trs_status trs_plan_finish(trs_plan *plan);
void trs_plan_use_stream(trs_plan *plan, trs_stream stream);
trs_status trs_plan_use_streams(trs_plan *plan, const trs_stream *streams);

#endif
