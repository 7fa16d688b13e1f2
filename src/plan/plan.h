/* plan.h - the plan inside the opaque trs_plan. */
#ifndef TRS_PLAN_PLAN_H
#define TRS_PLAN_PLAN_H

#include "base/guard.h"
#include "plan/method.h"

typedef struct trs_choice trs_choice; /* choice.h */

/* What a plan is of, which decides the calls that it serves. */
typedef enum trs_plan_kind {
  TRS_OF_TRIANGLE = 0,
  TRS_OF_FACTORS,
  TRS_OF_BATCH,
  TRS_OF_FACTORS_BATCH,
  TRS_OF_RELAXATION
} trs_plan_kind;

struct trs_plan {
  trs_guard guard; /* of public calls */
  trs_plan_kind kind;
  trs_context *context;
  const trs_method *method;
  void *state; /* owned by the method */
  const char
      *parameters; /* the text behind the method's name, during analysis; or NULL: parameters.h */
  trs_choice *choice; /* during analysis; or NULL */
  trs_plan *root;     /* of a child: the plan that its system is from; it has the levels */
  trs_plan *origin;   /* of a clone: the plan that was analysed, which it keeps alive; else NULL */
  bool borrows;       /* a clone whose levels are those of its origin */
  atomic_int clones;  /* plans that have this one as their origin */
  trs_stream stream;  /* the stream of GPU methods; NULL: the default stream */
  /* Streams of distributed solves, one per member of this process; NULL: they too take stream. */
  trs_stream *member_stream;
  char reason[512];

  trs_matrix
      *matrix;    /* the triangle to solve: the caller's matrix, or a triangle extracted from it */
  bool by_blocks; /* of a sweep over block factors: method blocks solves with their blocks, in place
                     of the matrix, which is not written for it */
  bool cut;       /* matrix was extracted from a general one: an update extracts it again */
  int64_t source_nnz; /* entries of the caller's matrix */
  uint64_t compared;  /* the number of the last matrix whose pattern was found equal */
  trs_uplo uplo;
  trs_trans trans;
  trs_diag diag;
  trs_system system; /* of matrix */
  trs_options options;

  int spaces; /* workspaces of a method with solve_in; 0: one */

  trs_plan *sweep[2]; /* a plan over factors: the plans of its two sweeps, in order; else NULL */

  /* NULL: not computed.  level[] is dropped when analysis ends; count and ptr stay. */
  trs_levels *levels;
  double analysis_seconds, update_seconds;
};

/* Of the arguments of public calls. */
trs_status trs_plan_check_words(trs_uplo uplo, trs_trans trans, trs_diag diag);

/* Like trs_analyze and trs_update, for arguments that are already checked. */
trs_status trs_plan_create(trs_plan **plan, trs_context *context, const trs_matrix *A,
                           trs_uplo uplo, trs_trans trans, trs_diag diag,
                           const trs_options *options);
trs_status trs_plan_refresh(trs_plan *plan, const trs_matrix *A);

/* The plan of a sweep by the method blocks, with the blocks of the factors that A was made of: D is
 * the second sweep's. */
trs_status trs_plan_create_by_blocks(trs_plan **plan, trs_context *context, const trs_matrix *A,
                                     trs_uplo uplo, const trs_options *options);

/* The same in an "auto" context whose GPU is known to lack memory. */
trs_status trs_plan_create_on_cpu(trs_plan **plan, trs_context *context, const trs_matrix *A,
                                  trs_uplo uplo, trs_trans trans, trs_diag diag,
                                  const trs_options *options);

/* A plan by that method for the same system and nrhs right-hand sides: it shares the matrix, and
 * the levels of plan, which outlives it.  The caller owns it, and analyses it. */
trs_status trs_plan_child(trs_plan **child, trs_plan *plan, const trs_method *method, int64_t nrhs);

/* The look, and the analysis unless that declines.  verdict: NULL, or with its `next`. */
trs_status trs_plan_analyze_child(trs_plan *child, trs_verdict *verdict);

/* Gives the child the new values of its plan. */
trs_status trs_plan_update_child(trs_plan *child, const trs_plan *plan);

/* A plan that solves with what the other one, which no call uses, has analysed, in a workspace of
 * its own (clone.c). */
trs_status trs_plan_create_clone(trs_plan **clone, trs_plan *origin, trs_stream stream);

/* NULL if a plan can be cloned, else the reason as half a sentence. */
const char *trs_plan_clone_refuses(const trs_plan *plan);

/* Fails if the plan shares its values with clones. */
trs_status trs_plan_check_unshared(const trs_plan *plan);

/* What leaves a plan as it was, whatever new values are: it is of another kind (trs_plan_takes), it
 * has clones, or its stream is being captured. */
trs_status trs_plan_check_update(const trs_plan *plan, unsigned kinds);

/* Computes plan->levels if they are missing. */
trs_status trs_plan_need_levels(trs_plan *plan);

/* Counts the rows of each level, without levels of rows, if that is not done. */
trs_status trs_plan_count_levels(trs_plan *plan);

/* level[] is as large as a right-hand side: statistics need only the levels' sizes.  Plans that
 * clones share have none: clones ask for facts at the same time, and write nothing. */
void trs_plan_drop_level_of_rows(trs_plan *plan);

/* Memory beyond the matrix: on the GPU for its methods, else on the host. */
int64_t trs_plan_bytes(const trs_plan *plan);

/* Threads of a solve. */
int trs_plan_threads(const trs_plan *plan);

/* Makes the device of the plan's method the calling thread's current device, if the method has one,
 * and restores the previous one. */
int trs_plan_enter(const trs_plan *plan);
void trs_plan_leave(const trs_plan *plan, int before);

/* The step of the method with that device current; the end of its state likewise. */
trs_status trs_plan_run(trs_plan *plan, trs_status (*step)(trs_plan *plan));
void trs_plan_free_state(trs_plan *plan);

/* Waits for solves that still read the matrix's arrays in device memory before it destroys them. */
void trs_plan_drop_matrix(const trs_plan *plan, trs_matrix *A);

/* Bytes that one solve must read or write: matrix, b and x once each. */
int64_t trs_plan_solve_bytes(const trs_plan *plan);

/* How a plan keeps values; of factors, the sweep that follows options.store. */
trs_store trs_plan_store(const trs_plan *plan);

/* The store of methods that keep the values of double systems as floats, and nothing else. */
trs_store trs_store_mixed(const trs_plan *plan);

/* Solves with checked, strided arguments. */
trs_status trs_plan_solve(trs_plan *plan, const trs_rhs *rhs);

/* What a call does with a plan, and the kinds that it takes, as bits. */
typedef enum trs_plan_use {
  TRS_USE_SOLVE,
  TRS_USE_UPDATE,
  TRS_USE_FACTS,
  TRS_USE_STREAM
} trs_plan_use;
enum {
  TRS_TAKE_TRIANGLE = 1 << TRS_OF_TRIANGLE,
  TRS_TAKE_FACTORS = 1 << TRS_OF_FACTORS,
  TRS_TAKE_SYSTEM = TRS_TAKE_TRIANGLE | TRS_TAKE_FACTORS,
  TRS_TAKE_BATCH = 1 << TRS_OF_BATCH | 1 << TRS_OF_FACTORS_BATCH,
  TRS_TAKE_RELAXATION = 1 << TRS_OF_RELAXATION
};
/* Fails unless the plan's kind is one of `kinds`, as bits, with the call that serves its own. */
trs_status trs_plan_takes(const trs_plan *plan, unsigned kinds, trs_plan_use use);

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
