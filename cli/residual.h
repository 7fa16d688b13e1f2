/* residual.h - what is left of A x = b, with A as it was given. */
#ifndef TRIREME_CLI_RESIDUAL_H
#define TRIREME_CLI_RESIDUAL_H

#include "trireme.h"

/* left / right, where nothing of nothing is nothing. */
double relative(double left, double right);
/* The larger one; NaN is larger than all. */
double larger(double a, double b);

/* |b - A x| / |b| in the 2-norm, the largest of all columns of the n x nrhs arrays, which are of
 * A's type and column-major. */
trs_status relative_residual(double *ratio, const trs_matrix *A, const void *x, const void *b,
                             int64_t nrhs);

#endif
