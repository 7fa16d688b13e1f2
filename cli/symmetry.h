/* symmetry.h - the symmetry of a matrix and of its pattern. */
#ifndef TRIREME_CLI_SYMMETRY_H
#define TRIREME_CLI_SYMMETRY_H

#include <stdbool.h>

#include "trireme.h"

typedef struct symmetry {
  bool pattern;              /* every stored entry has a stored mirror */
  bool symmetric, hermitian; /* up to rounding; an entry without a mirror has zero for one */
  bool exactly_symmetric, exactly_hermitian, skew; /* the same by exact values */
} symmetry;

/* -1, or the exit code after a failure that it has told. */
int symmetry_find(symmetry *s, const trs_matrix *A);

#endif
