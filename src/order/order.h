/* order.h - a symmetric permutation of a matrix, its fill, and its separator tree. */
#ifndef TRS_ORDER_ORDER_H
#define TRS_ORDER_ORDER_H

#include "matrix/matrix.h"
#include "order/tree.h"

typedef struct trs_ordering {
  int32_t *perm; /* new row and column k is old row and column perm[k]; NULL: the natural order */
  int64_t fill;  /* entries of the Cholesky factor of the pattern of A + A^T in this order, of that
                    of A^T A for COLAMD; 0: not known (RCM, colours) */
  int64_t unmirrored; /* entries (i, j) of A without (j, i); not known for COLAMD */
  double operations;  /* of LU in this order while pivots stay on the diagonal; 0: as fill */
  trs_tree tree;      /* empty for the natural order, RCM, colours and blocks */
  int32_t *block_end; /* of each column, the end of its diagonal block, in which its pivot is; NULL:
                         there is one block */
  int32_t blocks;     /* with block_end */
} trs_ordering;

enum { TRS_DEFAULT_LEAVES = 8, TRS_MAX_LEAVES = 65536 };

/* The same matrix always gets the same order.  leaves: a power of two; 0: TRS_DEFAULT_LEAVES. */
trs_status trs_ordering_compute(trs_ordering *ordering, const trs_matrix *A, trs_order order,
                                int64_t leaves);

/* AMD inside the diagonal blocks of A's block triangular form, one block after the other: fill is
 * half the entries of L and U.  By AMD alone where few entries are between blocks. */
trs_status trs_ordering_by_blocks(trs_ordering *ordering, const trs_matrix *A);
void trs_ordering_free(trs_ordering *ordering);

#endif
