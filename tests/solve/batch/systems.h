/* systems.h - systems near one triangle, and checks of their batches that hold wherever a batch
 * runs: for the tests of the CPU (batch.c) and of a GPU (gpu.c). */
#ifndef TRS_TEST_BATCH_SYSTEMS_H
#define TRS_TEST_BATCH_SYSTEMS_H

#include "support.h"
#include "trireme.h"

typedef struct system_kind {
  trs_scalar scalar;
  trs_format format;
  trs_uplo uplo;
  trs_trans trans;
  trs_diag diag;
  trs_layout layout; /* of right-hand sides */
} system_kind;

static const system_kind plain_kind = {.scalar = TRS_DOUBLE, .format = TRS_CSR, .uplo = TRS_LOWER};

typedef struct systems {
  triangle t;
  system_kind kind;
  int64_t count, nnz;
  void *val; /* count x nnz */
} systems;

/* Values of `count` systems that differ from the triangle's by up to a fifth.  Freed by free. */
void *values_near(const triangle *t, trs_scalar scalar, int64_t count, uint64_t seed);

/* Systems whose values differ by up to a fifth; density and band as in triangle_random.  Freed by
 * systems_free. */
systems systems_random(int64_t n, double density, int64_t band, system_kind kind, int64_t count);
void systems_free(systems *s);

/* An element of an array of the type. */
void *element(const void *array, int64_t index, trs_scalar scalar);

/* The matrix of system k. */
trs_matrix *systems_matrix(const systems *s, int64_t k);

/* A batch of `count` systems of their kind. */
trs_plan *systems_batch(trs_context *ctx, const systems *s, int64_t count, int64_t nrhs);

/* x, nrhs columns of n rows, has the bits that `one`, a batch of one system with its values, gives.
 */
void assert_bits_of_one(trs_plan *one, const void *x, const void *b, trs_scalar scalar, int64_t n,
                        int64_t ld, int64_t nrhs, trs_layout layout);

/* The x of every step-th system, `next` elements apart, has a small backward error, and the bits
 * that `one`, a batch of one system, gives.  Arrays are in host memory. */
void assert_systems_solved(const systems *s, trs_plan *one, int64_t step, const void *x,
                           const void *b, int64_t ld, int64_t next, int64_t nrhs);

/* Entries that repeat, in any order, on both sides of the diagonal. */
void assert_whole_matrix_taken(trs_context *ctx);

/* What trs_batch_info says of faults. */
void assert_batch_faults(const trs_plan *B, int64_t faults, int64_t first_fault);

/* Faults of single systems: of B, FAULTY_COUNT real lower systems of FAULTY_ROWS rows (CSR). */
enum { FAULTY_COUNT = 40, FAULTY_ROWS = 23 };
void assert_faults_are_told(const systems *s, trs_plan *B);

/* Creating a batch survives failing allocations. */
void assert_batch_survives(trs_context *ctx);

#endif
