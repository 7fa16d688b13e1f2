/* blocks.h - block matrices that the tests of relaxation share. */
#ifndef TRS_TEST_BLOCKS_H
#define TRS_TEST_BLOCKS_H

#include <stdint.h>

/* Blocks by row in the caller's order, row-major; the diagonal block anywhere in its row. */
typedef struct blocks {
  int64_t n, *ptr;
  int b;
  int32_t *idx;
  double *val;
} blocks;

/* About `each` blocks a row besides the diagonal one, whose rows dominate by the factor. */
blocks blocks_random(int64_t n, int b, int64_t each, double dominance, uint64_t seed);
void blocks_free(blocks *A);

#endif
