/* triangle.h - the triangular system op(T) x = b as every method sees it: uplo, trans, diag and the
 * storage format reduced to four facts.  The arrays belong to the matrix.  C and CUDA C++. */
#ifndef TRS_ANALYSIS_TRIANGLE_H
#define TRS_ANALYSIS_TRIANGLE_H

#include <stdbool.h>

#include "device/device.h"

typedef struct trs_system {
  int64_t n, nnz;
  trs_scalar scalar;
  const int64_t *ptr; /* n + 1 */
  const int32_t *idx; /* nnz, ascending within a vector */
  const void *val;    /* nnz; NULL if the values of the matrix are deferred */
  trs_device *device; /* that holds the arrays; NULL: host memory */
  bool rows;          /* stored vectors are rows of op(T), else its columns */
  bool lower;         /* op(T) is lower triangular: a forward sweep */
  bool unit;          /* the diagonal is one; stored diagonal entries are ignored */
  bool conj;          /* values enter conjugated */
  bool has_diagonal;  /* every vector stores its diagonal entry (always so unless unit) */
} trs_system;

#endif
