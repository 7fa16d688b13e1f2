/* dense.h - checks of the caller's right-hand sides and solutions. */
#ifndef TRS_API_DENSE_H
#define TRS_API_DENSE_H

#include "plan/method.h"

/* Checks that the array named x or b ends within the address space, for an ld that is large enough.
 */
TRS_API trs_status trs_dense_check(const char *name, const void *array, int64_t n, int64_t nrhs,
                                   int64_t ld, trs_layout layout, trs_scalar scalar);

/* Checks the dense arguments and turns leading dimensions into strides. */
TRS_API trs_status trs_rhs_make(trs_rhs *rhs, int64_t n, trs_scalar scalar, void *x, int64_t ldx,
                                const void *b, int64_t ldb, int64_t nrhs, trs_layout layout);

#endif
