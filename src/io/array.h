/* array.h - a Matrix Market array on its way into a dense column-major one. */
#ifndef TRS_IO_ARRAY_H
#define TRS_IO_ARRAY_H

#include <stdatomic.h>

#include "io/body.h"

typedef struct trs_array {
  const trs_body *body;
  double from, to; /* of this pass, the share that lies before and behind the lines at hand */
  void *values;    /* nrows x ncols */
  int64_t *first;  /* size * TRS_PIECES + 1: number of the first value in each piece of the text */
  atomic_bool failed;
} trs_array;

#endif
