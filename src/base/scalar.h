/* scalar.h - the four element types.  Only template files touch values; base/instantiate.h compiles
 * them once for each type.  All other code passes void * and a trs_scalar. */
#ifndef TRS_BASE_SCALAR_H
#define TRS_BASE_SCALAR_H

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "trireme.h"

/* glibc does not define these for clang. */
#ifndef CMPLX
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#define CMPLXF(re, im) __builtin_complex((float)(re), (float)(im))
#endif

enum { TRS_NSCALARS = TRS_DCOMPLEX + 1 }; /* size of a table indexed by trs_scalar */

static inline bool trs_scalar_valid(trs_scalar scalar) {
  return scalar >= TRS_FLOAT && scalar <= TRS_DCOMPLEX;
}

static inline bool trs_scalar_is_complex(trs_scalar scalar) { return scalar >= TRS_SCOMPLEX; }

static inline bool trs_scalar_is_double(trs_scalar scalar) {
  return scalar == TRS_DOUBLE || scalar == TRS_DCOMPLEX;
}

static inline size_t trs_scalar_size(trs_scalar scalar) {
  return (size_t)4 << (trs_scalar_is_double(scalar) + trs_scalar_is_complex(scalar));
}

static inline trs_scalar trs_scalar_of(bool wide, bool complex_values) {
  if (complex_values) return wide ? TRS_DCOMPLEX : TRS_SCOMPLEX;
  return wide ? TRS_DOUBLE : TRS_FLOAT;
}

static inline double trs_smallest_normal(trs_scalar scalar) {
  return trs_scalar_is_double(scalar) ? DBL_MIN : FLT_MIN;
}

/* value row column, by powers of two: exact unless the result itself leaves the range.  Either
 * factor alone may take it out of it. */
static inline double trs_scaled(double value, double row, double column) {
  const double both = row * column;
  int of_row, of_column;
  if (both >= DBL_MIN && both <= DBL_MAX) return value * both;
  value *= frexp(row, &of_row) * frexp(column, &of_column);
  return ldexp(value, of_row + of_column);
}

/* "s", "d", "c", "z": the letters of BLAS. */
static inline char trs_scalar_letter(trs_scalar scalar) {
  return "?sdcz"[trs_scalar_valid(scalar) ? scalar : 0];
}

/* C's own complex product calls a library routine that corrects NaN results.  These are the plain
 * four-product forms, which vectorise. */
static inline float complex trs_mul_c(float complex a, float complex b) {
  return CMPLXF(crealf(a) * crealf(b) - cimagf(a) * cimagf(b),
                crealf(a) * cimagf(b) + cimagf(a) * crealf(b));
}

static inline double complex trs_mul_z(double complex a, double complex b) {
  return CMPLX(creal(a) * creal(b) - cimag(a) * cimag(b),
               creal(a) * cimag(b) + cimag(a) * creal(b));
}

/* The quotient, scaled against overflow (Smith 1962), without the library routine's corrections. */
static inline float complex trs_div_c(float complex a, float complex b) {
  const float re = crealf(b), im = cimagf(b);
  if ((re < 0 ? -re : re) >= (im < 0 ? -im : im)) {
    const float ratio = im / re, scale = re + im * ratio;
    return CMPLXF((crealf(a) + cimagf(a) * ratio) / scale, (cimagf(a) - crealf(a) * ratio) / scale);
  }
  const float ratio = re / im, scale = re * ratio + im;
  return CMPLXF((crealf(a) * ratio + cimagf(a)) / scale, (cimagf(a) * ratio - crealf(a)) / scale);
}

static inline double complex trs_div_z(double complex a, double complex b) {
  const double re = creal(b), im = cimag(b);
  if ((re < 0 ? -re : re) >= (im < 0 ? -im : im)) {
    const double ratio = im / re, scale = re + im * ratio;
    return CMPLX((creal(a) + cimag(a) * ratio) / scale, (cimag(a) - creal(a) * ratio) / scale);
  }
  const double ratio = re / im, scale = re * ratio + im;
  return CMPLX((creal(a) * ratio + cimag(a)) / scale, (cimag(a) * ratio - creal(a)) / scale);
}

#endif
