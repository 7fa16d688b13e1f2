/* sparse.h - small square matrices, their dense copies, and checks that orderings and factors
 * share. */
#ifndef TRS_TEST_SPARSE_H
#define TRS_TEST_SPARSE_H

#include <complex.h>
#include <stdbool.h>

#include "trireme.h"

typedef struct sparse_kind {
  trs_scalar scalar;
  trs_format format;
  bool symmetric;     /* the pattern, and the values hermitian */
  bool dominant;      /* diagonal entries larger than the rest of their rows; real, positive */
  bool no_diagonal;   /* none stored */
  int64_t components; /* 0 or 1: entries anywhere; else no entry between index classes */
} sparse_kind;

/* Each entry off the diagonal is there with probability density; diagonals all, or none. */
trs_matrix *sparse_random(int64_t n, double density, sparse_kind kind, uint64_t seed);

/* Laplacian with 5 or 7 points on an nx x ny x nz grid, a little dominant, slightly skewed. */
trs_matrix *sparse_grid(int64_t nx, int64_t ny, int64_t nz, double skew, trs_scalar scalar);

/* Row-major n x n, from malloc. */
double complex *dense_copy(const trs_matrix *A);
bool *dense_pattern(const trs_matrix *A);

/* |L U - P D_r A D_c P^T| <= tolerance |L| |U|, entry by entry; on the pattern of A alone if so
 * asked. */
void assert_product(const trs_factors *F, const trs_matrix *A, double tolerance,
                    bool on_pattern_only);

/* Two matrices are equal, patterns and bits. */
void assert_same_matrix(const trs_matrix *A, const trs_matrix *B);

/* call(argument) with the first, the second, ... allocation failing, until it succeeds: it reports
 * TRS_ERROR_MEMORY until then and never loses memory. */
void assert_survives_failing_allocations(trs_status (*call)(void *argument), void *argument);

#endif
