/* values.h - value arrays of any element type: copy, convert, gather, add. */
#ifndef TRS_MATRIX_VALUES_H
#define TRS_MATRIX_VALUES_H

#include <math.h>

#include "base/scalar.h"

/* to[p] = from[p] in another type; complex to real keeps the real part. */
void trs_values_convert(void *to, trs_scalar to_scalar, const void *from, trs_scalar from_scalar,
                        int64_t count);

/* to[p] = from[source[p]]. */
void trs_values_gather(void *to, const void *from, const int64_t *source, int64_t count,
                       trs_scalar scalar);

/* Sorts the entries of a compressed pattern by their indices, whose places in the result are
 * place[] (NULL: as they are): of vector order[0], order[1], .. (NULL: in turn), which are 0, 1, ..
 * there. next[i]: the next free entry of vector i; it moves on. */
void trs_values_spread(int64_t *next, int32_t *idx, void *to, int64_t vectors, const int32_t *order,
                       const int32_t *place, const int64_t *from_ptr, const int32_t *from_idx,
                       const void *from, trs_scalar scalar);

/* to[p] = sum of from[source[q]] for q in [source_ptr[p], source_ptr[p + 1]), in that order. */
void trs_values_sum(void *to, const void *from, const int64_t *source_ptr, const int64_t *source,
                    int64_t count, trs_scalar scalar);

/* The first p with a value that is NaN or infinite, or count. */
int64_t trs_values_not_finite(const void *val, int64_t count, trs_scalar scalar);

/* |val[p]| and val[p] as double complex, for code whose speed matters for doubles at most. */
double trs_value_abs_of(const void *val, int64_t p, trs_scalar scalar);
static inline double trs_value_abs(const void *val, int64_t p, trs_scalar scalar) {
  return scalar == TRS_DOUBLE ? fabs(((const double *)val)[p]) : trs_value_abs_of(val, p, scalar);
}
double complex trs_value_get_of(const void *val, int64_t p, trs_scalar scalar);
static inline double complex trs_value_get(const void *val, int64_t p, trs_scalar scalar) {
  return scalar == TRS_DOUBLE ? ((const double *)val)[p] : trs_value_get_of(val, p, scalar);
}
void trs_value_set(void *val, int64_t p, trs_scalar scalar, double complex value);

#endif
