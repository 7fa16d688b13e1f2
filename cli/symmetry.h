/* symmetry.h - the symmetry of a matrix and of its pattern. */
#ifndef TRIREME_CLI_SYMMETRY_H
#define TRIREME_CLI_SYMMETRY_H

#include <stdbool.h>

#include "trireme.h"

typedef struct symmetry {
  bool pattern, symmetric, hermitian, skew; /* the last three by exact values */
} symmetry;

/* -1, or the exit code after a failure that it has told. */
int symmetry_find(symmetry *s, const trs_matrix *A);

#endif
