/* symmetry.h - the symmetry of a matrix and of its pattern. */
#ifndef TRIREME_CLI_SYMMETRY_H
#define TRIREME_CLI_SYMMETRY_H

#include <stdbool.h>

#include "trireme.h"

typedef struct symmetry {
  bool pattern, symmetric, hermitian, skew; /* the last three by exact values */
} symmetry;

symmetry symmetry_of(const trs_matrix *A);

#endif
