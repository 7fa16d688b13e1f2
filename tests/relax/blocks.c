/* blocks.c - block matrices for the tests of relaxation. */
#include "relax/blocks.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/random.h"

blocks blocks_random(int64_t n, int b, int64_t each, double dominance, uint64_t seed) {
  blocks A = {.n = n, .b = b};
  int64_t size = (int64_t)b * b, at = 0, draw = 0;
  A.ptr = malloc((size_t)(n + 1) * sizeof *A.ptr);
  A.idx = malloc((size_t)(n * (each + 1)) * sizeof *A.idx);
  A.val = malloc((size_t)(n * (each + 1) * size) * sizeof *A.val);
  A.ptr[0] = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t first = at,
            count = (int64_t)trs_random_below(seed + 1, (uint64_t)i, (uint64_t)each + 1);
    for (int64_t k = 0; k <= count; k++) {
      int64_t j =
          k == count / 2 ? i : (int64_t)trs_random_below(seed + 2, (uint64_t)draw++, (uint64_t)n);
      bool there = j == i && k != count / 2;
      for (int64_t p = first; p < at; p++) there |= A.idx[p] == j;
      if (there) continue;
      for (int64_t e = 0; e < size; e++)
        A.val[at * size + e] = trs_random_signed(seed, (uint64_t)(at * size + e));
      A.idx[at++] = (int32_t)j;
    }
    A.ptr[i + 1] = at;
  }
  /* A large off-diagonal element in each row of the diagonal block, so that the block needs
   * pivoting. */
  for (int64_t i = 0; i < n; i++)
    for (int64_t p = A.ptr[i]; p < A.ptr[i + 1]; p++)
      if (A.idx[p] == i)
        for (int r = 0; r < b; r++)
          A.val[p * size + r * b + (r + 1) % b] =
              dominance * b * (double)(A.ptr[i + 1] - A.ptr[i] + 1);
  return A;
}

void blocks_free(blocks *A) {
  free(A->ptr);
  free(A->idx);
  free(A->val);
}
