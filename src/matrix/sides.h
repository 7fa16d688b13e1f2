/* sides.h - what one pass over the vectors of a matrix gathers.  C and CUDA C++. */
#ifndef TRS_MATRIX_SIDES_H
#define TRS_MATRIX_SIDES_H

#include <stdint.h>

/* Before and after are the sides of the diagonal within a vector. */
typedef struct trs_sides {
  int64_t before, after, diagonal;            /* entries */
  int64_t first_before, first_after, missing; /* the first vector that has one, or lacks its
                                                 diagonal entry; INT64_MAX: none */
  int64_t longest;                            /* entries in the fullest vector */
  int64_t descents; /* from the end of one vector to the start of the next */
} trs_sides;

#define TRS_NO_SIDES \
  { .first_before = INT64_MAX, .first_after = INT64_MAX, .missing = INT64_MAX }

#endif
