/* blocks.h - block matrices for the tests of relaxation. */
#ifndef TRS_TEST_BLOCKS_H
#define TRS_TEST_BLOCKS_H

#include <stdint.h>

#include "trireme.h"

/* Blocks by row in the caller's order, row-major; the diagonal block is anywhere in its row. */
typedef struct blocks {
  int64_t n, *ptr;
  int b;
  int32_t *idx;
  double *val;
} blocks;

/* About `each` blocks per row besides the diagonal block, which dominates its row by the factor. */
blocks blocks_random(int64_t n, int b, int64_t each, double dominance, uint64_t seed);
void blocks_free(blocks *A);

/* The same matrix by entries; NULL: the message says why not. */
trs_matrix *blocks_matrix(const blocks *A, trs_scalar scalar, trs_format format);

#endif
