/* solve.h - the data of one run of trireme solve, in the order in which it is filled. */
#ifndef TRIREME_CLI_SOLVE_H
#define TRIREME_CLI_SOLVE_H

#include "files.h"
#include "trireme.h"
#include "widths.h"

/* The words of --store, and what they mean. */
#define SOLVE_STORES "same|mixed|f16|bf16"
extern const trs_store solve_stores[4];

typedef struct solve_settings {
  int uplo, trans, diag, precision; /* positions in the option's words; uplo, diag, precision: -1 if
                                       not given */
  int store;                        /* position in the words */
  double gpu_memory;                /* GB; 0: all */
  double max_memory;                /* GB; 0: the default */
  bool add_diagonal, tune, json;
  const char *rhs_file, *rhs, *output, *backend, *method, *grid, *matrix;
  int factor; /* position in the words, which is the trs_factor_kind; -1: M is solved as it is */
  int64_t levels; /* of fill */
  int trees;      /* position in the option's words */
  bool scattered;
  int invert;           /* position in the option's words */
  int64_t width;        /* of supernodes; 0: the library's default */
  int64_t nrhs, repeat; /* 0: not given */
} solve_settings;

typedef struct solve_job {
  solve_settings set;
  input in;               /* in.A is the triangle of the solve */
  input factored;         /* the matrix, with set.factor or set.matrix */
  double factor_s;        /* with set.factor */
  int64_t entries_before; /* of the matrix that it was cut from; 0 if nothing was left out */
  trs_uplo uplo;
  trs_trans trans;
  trs_diag diag;
  trs_scalar scalar;
  int64_t n, longest_row; /* of op(T); for factors, the sum of those of op(L) and op(U) */
  trs_factor_kind kind;   /* of in.F */
  double condition;       /* of A, with --factor lu; negative: not suspect, or not known */
  int64_t nrhs;
  uint64_t seed;
  void *b, *x; /* n x nrhs, column-major */
  trs_context *ctx;
  bool together; /* several processes solve together */
  trs_plan *plan;
  trs_plan_info info;
  int64_t *widths, nlevels; /* rows in each level; NULL if not shown */
  double bound;
  int64_t repeats;
  double fastest, median;
  int64_t bytes; /* bytes that one solve of all right-hand sides must touch */
  trs_backward_error error;
  trs_backward_error of_matrix; /* of factored instead of the product of the factors */
  double limit;
  double rounding; /* of values stored in a smaller type, for which the limit allows; or 0 */
  bool good;       /* the backward error is below the limit */
} solve_job;

/* Each returns -1, or the exit code. */
int solve_check_settings(solve_settings *s, const char *name);
/* Before the matrix is read: the memory of several GPUs determines how. */
int solve_open(solve_job *job);
int solve_take_matrix(solve_job *job, const char *name);
int solve_take_factors(solve_job *job);
int solve_make_rhs(solve_job *job);
int solve_measure(solve_job *job);
int solve_judge(solve_job *job);
/* Sets job->condition; after solve_measure. */
int solve_find_condition(solve_job *job);

/* True if the plan solves by the method blocks, which stores values in any type of --store. */
bool solve_is_by_blocks(const solve_job *job);
void solve_free(solve_job *job);

/* Writes x if it was asked for; returns how to leave. */
int solve_leave(const solve_job *job);

/* All of a solve with --grid, on every rank; only rank 0 says anything. */
int solve_on_ranks(solve_job *job, const char *name);

void solve_print(const solve_job *job);
void solve_report(const solve_job *job);
/* "A x = b", or what else is solved. */
const char *solve_system(const solve_job *job);
void solve_print_error(const solve_job *job);
void solve_report_error(const solve_job *job);

int64_t scalar_bytes(trs_scalar scalar);
double scalar_eps(trs_scalar scalar);

#endif
