/* factored.h - systems with factors near one pair, and checks of their batches that hold wherever a
 * batch runs: for the tests of the CPU (batch.c) and of a GPU (gpu.c). */
#ifndef TRS_TEST_BATCH_FACTORED_H
#define TRS_TEST_BATCH_FACTORED_H

#include "support.h"
#include "trireme.h"

typedef struct factored_kind {
  trs_scalar scalar;
  trs_format format_L, format_U;
  trs_diag diag_L, diag_U;
  trs_trans trans;
  trs_layout layout; /* of right-hand sides */
  bool row_perm, col_perm, row_scale, col_scale;
  bool hermitian; /* U = L^H */
  bool full_U;    /* every entry: its rows are long */
} factored_kind;

/* The c-th of kinds in which every pair of properties occurs. */
factored_kind factored_case(int c);

typedef struct factored {
  factored_kind kind;
  triangle L, U; /* U: not if hermitian */
  int64_t n, count, nnz_L, nnz_U;
  void *L_val, *U_val; /* count x nnz_L, count x nnz_U */
  int32_t *row_perm, *col_perm;
  double *row_scale, *col_scale;
} factored;

/* Systems whose values differ by up to a fifth; density and band as in triangle_random.  Freed by
 * factored_free. */
factored factored_random(int64_t n, double density, int64_t band, factored_kind kind,
                         int64_t count);
void factored_free(factored *f);

/* The factors of system k, with its values. */
trs_factors *factored_factors(const factored *f, int64_t k);

/* A batch of `count` systems of their kind, and the values of systems from k on as it takes them.
 */
trs_plan *factored_batch(trs_context *ctx, const factored *f, int64_t count, int64_t nrhs);
trs_status factored_update(trs_plan *B, const factored *f, int64_t k);

/* The x of every step-th system, `next` elements apart, has a small backward error, and the bits
 * that `one`, a batch of one system, gives; NULL: any bits.  Arrays are in host memory. */
void assert_factored_solved(const factored *f, trs_plan *one, int64_t step, const void *x,
                            const void *b, int64_t ld, int64_t next, int64_t nrhs);

/* One matrix that holds both factors, with entries in any order. */
void assert_common_matrix_taken(trs_context *ctx);

/* Every kind of factors that trs_factor makes. */
void assert_kinds_are_solved(trs_context *ctx);

/* Faults of single systems name the factor and keep no other one back. */
void assert_faults_of_factors_are_told(trs_context *ctx);

/* Creating a batch of factors survives failing allocations. */
void assert_factored_survives(trs_context *ctx);

#endif
