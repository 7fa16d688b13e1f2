/* slice_rows.h - the last steps of a slice in interpreters of schedules: from sums of lanes to x.
 */
#ifndef TRS_TEST_SLICE_ROWS_H
#define TRS_TEST_SLICE_ROWS_H

#include <string.h>

#include "analysis/slice.h"

/* Subtracts the sums of a slice's lanes from the right-hand sides of its rows. */
static inline void subtract_lanes(double *residual, const trs_slice *h, const double *sum) {
  for (int r = 0; r < h->rows; r++)
    for (int k = 0; k < 1 << h->log_lanes; k++) residual[r] -= sum[(r << h->log_lanes) + k];
}

/* x of row r of a slice: the inverse of its block times the residuals. */
static inline double apply_inverse(const void *inverses, const trs_slice *h, const double *residual,
                                   int r) {
  static const uint64_t NONE = UINT64_MAX; /* an inverse has no such entry */
  const double *inverse = (const double *)inverses + h->inverse;
  double x = inverse[r] * residual[r];
  for (int k = 1; k < h->block && k <= r; k++) {
    const int32_t at = trs_inverse_at(h, r, k);
    if (at >= 0 && memcmp(&inverse[at], &NONE, sizeof NONE)) x += inverse[at] * residual[r - k];
  }
  return x;
}

#endif
