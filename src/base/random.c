/* random.c - reproducible right-hand sides. */
#include "base/random.h"

#include "base/scalar.h"

void trs_random_fill(void *x, int64_t count, trs_scalar scalar, uint64_t seed) {
  int64_t parts = trs_scalar_is_complex(scalar) ? 2 * count : count;
  for (int64_t i = 0; x && i < parts; i++) {
    double value = trs_random_signed(seed, (uint64_t)i);
    if (trs_scalar_is_double(scalar))
      ((double *)x)[i] = value;
    else
      ((float *)x)[i] = (float)value;
  }
}
