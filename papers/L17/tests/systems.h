/* systems.h - what the tests of the synchronization-free methods solve, with CUDA and with OpenCL.
 */
#ifndef TRS_L17_TEST_SYSTEMS_H
#define TRS_L17_TEST_SYSTEMS_H

#include <stdbool.h>

#include "trireme.h"

typedef enum shape { DIAGONAL, CHAIN, DENSE_LAST_ROW, DENSE_FIRST_COLUMN, DENSE, RANDOM } shape;

typedef struct system {
  trs_matrix *A;
  trs_uplo uplo;
  trs_trans trans;
  trs_diag diag;
  trs_scalar scalar;
  int64_t n, longest; /* entries of the fullest row of op(A) */
  bool tame;          /* solutions agree with another method's digit by digit */
} system_of;

system_of make_system(shape kind, int64_t n, trs_scalar scalar, bool backward, trs_trans trans,
                      trs_format format, trs_diag diag);
/* The c-th of many variants of types, storage and diagonals; scalars: 2 for the real types, 4. */
system_of varied_system(shape kind, int64_t n, int c, int scalars);

trs_plan *make_plan(const system_of *s, trs_context *ctx, const char *method, int64_t nrhs);
/* Fails unless the backward error is small. */
void judge(const system_of *s, const char *method, const void *x, const void *b, int64_t ld,
           int64_t nrhs, trs_layout layout);
/* Solves for random right-hand sides, and judges the solution; compares that of a tame system with
 * serial's. */
void solve_and_check(const system_of *s, trs_plan *plan, const char *method, int64_t nrhs,
                     trs_layout layout, bool in_place);

#endif
