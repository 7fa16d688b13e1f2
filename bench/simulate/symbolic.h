/* symbolic.h - where the entries of L lie, without L: a supernodal symbolic factorisation of a
 * matrix with a symmetric pattern, ordered by nested dissection.  It takes megabytes where the
 * factors take gigabytes, and is all that a simulated solve looks at. */
#ifndef TRS_SIMULATE_SYMBOLIC_H
#define TRS_SIMULATE_SYMBOLIC_H

#include "matrix/matrix.h"

#undef I /* complex.h's; here a block is T(I,K) */

/* Supernode K has the columns first[K] .. first[K + 1] and lies in the node of the separator tree
 * that 2^height grids from lo on share, of as many grids as the tree has leaves.  Below its
 * diagonal block are blocks (row[b], K), ptr[K] <= b < ptr[K + 1], of which `rows[b]` rows have an
 * entry; all of its columns are full there.  U has the transposed pattern. */
typedef struct trs_symbolic {
  int64_t n, count, leaves;
  int64_t *first;      /* count + 1 */
  int32_t *lo;         /* count */
  int8_t *height;      /* count */
  int8_t *half;        /* count: as in layout.h */
  int64_t *ptr;        /* count + 1 */
  int32_t *row, *rows; /* ptr[count] */
  int64_t fill;        /* entries of L before supernodes were relaxed, */
  int64_t stored;      /* and after, diagonal blocks as squares */
} trs_symbolic;

typedef struct trs_symbolic_options {
  int64_t leaves;            /* of the separator tree, a power of two */
  int64_t width, relax, few; /* of supernodes, as in analysis/panels.h */
  int64_t subtrees; /* subtrees of so many columns become one supernode first, as SuperLU_DIST has
                       it; 0: none */
} trs_symbolic_options;

trs_status trs_symbolic_create(trs_symbolic *s, const trs_matrix *A,
                               const trs_symbolic_options *options);
void trs_symbolic_free(trs_symbolic *s);

/* The structure with the diagonal triangle of every separator inverted as a whole: invert.c. */
trs_status trs_symbolic_invert(trs_symbolic *to, const trs_symbolic *s);

/* A file for this machine: the arrays as they are. */
trs_status trs_symbolic_write(const trs_symbolic *s, const char *path);
trs_status trs_symbolic_read(trs_symbolic *s, const char *path);

#endif
