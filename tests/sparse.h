/* sparse.h - small square matrices, their dense copies, and checks shared by the tests of orderings
 * and factors. */
#ifndef TRS_TEST_SPARSE_H
#define TRS_TEST_SPARSE_H

#include <complex.h>
#include <stdbool.h>

#include "trireme.h"

typedef struct sparse_kind {
  trs_scalar scalar;
  trs_format format;
  bool symmetric;     /* the pattern is symmetric and the values Hermitian */
  bool dominant;      /* diagonal entries are real, positive, larger than the rest of the row */
  bool no_diagonal;   /* no diagonal entries are stored */
  int64_t components; /* 0 or 1: entries anywhere; else no entries between index classes */
} sparse_kind;

/* Each off-diagonal entry is present with probability density; diagonal entries all, or none. */
trs_matrix *sparse_random(int64_t n, double density, sparse_kind kind, uint64_t seed);

/* The Laplacian with 5 or 7 points on an nx x ny x nz grid, slightly dominant and slightly
 * skewed. */
trs_matrix *sparse_grid(int64_t nx, int64_t ny, int64_t nz, double skew, trs_scalar scalar);

/* A symmetric tridiagonal matrix whose row and column long_one are full, real and dominant. */
trs_matrix *sparse_arrow(int64_t n, int64_t long_one);
/* Checks those of 300 rows with the first, the middle and the last row long. */
void sparse_arrows(void (*check)(const trs_matrix *A));

/* Row-major n x n, from malloc. */
double complex *dense_copy(const trs_matrix *A);
bool *dense_pattern(const trs_matrix *A);

/* L U - P D_r A D_c P^T| <= tolerance |L| |U|, entry by entry; only on the pattern of A if
 * on_pattern_only. */
void assert_product(const trs_factors *F, const trs_matrix *A, double tolerance,
                    bool on_pattern_only);

/* Fails unless two matrices are equal, in pattern and bits. */
void assert_same_matrix(const trs_matrix *A, const trs_matrix *B);

/* Types, formats and symmetry in turn. */
sparse_kind sparse_case(int c);

trs_factors_info factors_info(const trs_factors *F);

/* Runs call(argument) with the first, the second, ... allocation failing, until it succeeds.  Until
 * then it must return TRS_ERROR_MEMORY and must not leak memory. */
void assert_survives_failing_allocations(trs_status (*call)(void *argument), void *argument);
/* The same with a random matrix as the argument. */
void assert_survives_with_matrix(trs_status (*call)(void *A), int64_t n, sparse_kind kind);

#endif
