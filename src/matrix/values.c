/* values.c - value arrays of any element type. */
#include "matrix/values.h"

#include <string.h>

#define TRS_TEMPLATE "matrix/values_tmpl.c"
#include "base/instantiate.h"

static void (*const gather_of[])(void *, const void *, const int64_t *,
                                 int64_t) = TRS_TABLE(gather);
static void (*const spread_of[])(int64_t *, int32_t *, void *, int64_t, const int32_t *,
                                 const int32_t *, const int64_t *, const int32_t *,
                                 const void *) = TRS_TABLE(spread);
static void (*const sum_of[])(void *, const void *, const int64_t *, const int64_t *,
                              int64_t) = TRS_TABLE(sum);
static int64_t (*const not_finite_of[])(const void *, int64_t) = TRS_TABLE(not_finite);
static double complex (*const get_of[])(const void *, int64_t) = TRS_TABLE(get);
static void (*const set_of[])(void *, int64_t, double complex) = TRS_TABLE(set);

void trs_values_gather(void *to, const void *from, const int64_t *source, int64_t count,
                       trs_scalar scalar) {
  gather_of[scalar](to, from, source, count);
}

void trs_values_spread(int64_t *next, int32_t *idx, void *to, int64_t vectors, const int32_t *order,
                       const int32_t *place, const int64_t *from_ptr, const int32_t *from_idx,
                       const void *from, trs_scalar scalar) {
  spread_of[scalar](next, idx, to, vectors, order, place, from_ptr, from_idx, from);
}

void trs_values_sum(void *to, const void *from, const int64_t *source_ptr, const int64_t *source,
                    int64_t count, trs_scalar scalar) {
  sum_of[scalar](to, from, source_ptr, source, count);
}

int64_t trs_values_not_finite(const void *val, int64_t count, trs_scalar scalar) {
  return not_finite_of[scalar](val, count);
}

double complex trs_value_get_of(const void *val, int64_t p, trs_scalar scalar) {
  return get_of[scalar](val, p);
}

void trs_value_set(void *val, int64_t p, trs_scalar scalar, double complex value) {
  set_of[scalar](val, p, value);
}

double trs_value_abs_of(const void *val, int64_t p, trs_scalar scalar) {
  const double complex value = trs_value_get(val, p, scalar);
  return trs_scalar_is_complex(scalar) ? cabs(value) : fabs(creal(value));
}

void trs_values_convert(void *to, trs_scalar to_scalar, const void *from, trs_scalar from_scalar,
                        int64_t count) {
  if (to_scalar == from_scalar) {
    if (count) memcpy(to, from, (size_t)count * trs_scalar_size(to_scalar));
    return;
  }
  for (int64_t p = 0; p < count; p++)
    trs_value_set(to, p, to_scalar, trs_value_get(from, p, from_scalar));
}
