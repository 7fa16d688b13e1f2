/* array.h - the state of reading a Matrix Market array into a dense column-major array. */
#ifndef TRS_IO_ARRAY_H
#define TRS_IO_ARRAY_H

#include <stdatomic.h>

#include "io/body.h"

typedef struct trs_array {
  const trs_body *body;
  double from, to; /* of this pass: the fractions of the text before and after the current lines */
  void *values;    /* nrows x ncols */
  int64_t *first;  /* size * TRS_PIECES + 1: number of the first value in each piece of the text */
  atomic_bool failed;
} trs_array;

#endif
