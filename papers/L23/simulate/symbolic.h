/* symbolic.h - the pattern of L without L: a supernodal symbolic factorisation of a matrix with a
 * symmetric pattern, ordered by nested dissection.  It needs megabytes where the factors need
 * gigabytes, and contains all data that a simulated solve uses. */
#ifndef TRS_SIMULATE_SYMBOLIC_H
#define TRS_SIMULATE_SYMBOLIC_H

#include "matrix/matrix.h"

#undef I /* complex.h defines I; here a block is T(I,K) */

/* Supernode K has the columns first[K] .. first[K + 1].  It belongs to the node of the separator
 * tree that the 2^height grids from lo on share; there are as many grids as the tree has leaves.
 * Below its diagonal block are blocks (row[b], K), ptr[K] <= b < ptr[K + 1]; `rows[b]` rows of a
 * block have an entry, and are full in all columns.  U has the transposed pattern. */
typedef struct trs_symbolic {
  int64_t n, count, leaves;
  int64_t *first;      /* count + 1 */
  int32_t *lo;         /* count */
  int8_t *height;      /* count */
  int8_t *half;        /* count: as in layout.h */
  int64_t *ptr;        /* count + 1 */
  int32_t *row, *rows; /* ptr[count] */
  int64_t fill;        /* entries of L before the relaxation of supernodes, */
  int64_t stored;      /* and after, diagonal blocks as squares */
} trs_symbolic;

typedef struct trs_symbolic_options {
  int64_t leaves;            /* of the separator tree, a power of two */
  int64_t width, relax, few; /* of supernodes, as in analysis/panels.h */
  int64_t subtrees; /* subtrees of up to this many columns first become one supernode, as in
                       SuperLU_DIST; 0: none */
} trs_symbolic_options;

trs_status trs_symbolic_create(trs_symbolic *s, const trs_matrix *A,
                               const trs_symbolic_options *options);
void trs_symbolic_free(trs_symbolic *s);

/* The structure with the diagonal triangle of every separator inverted as a whole: invert.c. */
trs_status trs_symbolic_invert(trs_symbolic *to, const trs_symbolic *s);

/* A file for this machine: the arrays in their memory representation. */
trs_status trs_symbolic_write(const trs_symbolic *s, const char *path);
trs_status trs_symbolic_read(trs_symbolic *s, const char *path);

#endif
