/* residual.h - the relative residual of A x = b, with A as given. */
#ifndef TRIREME_CLI_RESIDUAL_H
#define TRIREME_CLI_RESIDUAL_H

#include "trireme.h"

/* left / right; 0 if left is 0. */
double relative(double left, double right);
/* The larger one; NaN counts as the largest. */
double larger(double a, double b);

/* b - A x| / |b| in the 2-norm: the maximum over the columns of the n x nrhs arrays, which have A's
 * type and are column-major. */
trs_status relative_residual(double *ratio, const trs_matrix *A, const void *x, const void *b,
                             int64_t nrhs);

#endif
