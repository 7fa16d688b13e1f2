/* sides.h - facts gathered in one pass over the vectors of a matrix.  C and CUDA C++. */
#ifndef TRS_MATRIX_SIDES_H
#define TRS_MATRIX_SIDES_H

#include <stdint.h>

/* Before and after are the two sides of the diagonal within a vector. */
typedef struct trs_sides {
  int64_t before, after, diagonal;            /* entries */
  int64_t first_before, first_after, missing; /* the first vector that has an entry there, or lacks
                                                 its diagonal entry; INT64_MAX: none */
  int64_t longest;                            /* entries in the fullest vector */
  int64_t descents;                           /* at boundaries between consecutive vectors */
} trs_sides;

#define TRS_NO_SIDES \
  { .first_before = INT64_MAX, .first_after = INT64_MAX, .missing = INT64_MAX }

#endif
