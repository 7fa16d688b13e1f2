/* deferred.h - values that a function of the caller's supplies. */
#ifndef TRS_MATRIX_DEFERRED_H
#define TRS_MATRIX_DEFERRED_H

#include "matrix/matrix.h"

typedef struct trs_callback {
  trs_values_callback give;
  void *user;
} trs_callback;

/* As trs_deferred.give; user is a trs_callback. */
trs_status trs_callback_give(void *user, const trs_matrix *A, int64_t count, const int32_t *vector,
                             void **val);

#endif
