/* once.h - a triangle in the caller's arrays that is solved only once. */
#ifndef TRS_SOLVE_SERIAL_ONCE_H
#define TRS_SOLVE_SERIAL_ONCE_H

#include "matrix/indexing.h"
#include "matrix/look.h"

/* With the first invalid vector: ptr decreases there, an index is outside the triangle, or the
 * diagonal entry is missing or is the pivot given here; or memory is lacking. */
typedef struct trs_once {
  int64_t n;
  int indexing;
  bool lower, unit;
  const void *ptr, *idx, *val;
  int64_t end;    /* of the entries */
  int64_t vector; /* -1: none */
  bool missing;
  trs_pivot pivot;
  trs_status lacks;
  void *sum;  /* n values of zero, once a vector is out of order or repeats entries */
  bool *adds; /* n: the vector has entries with that index that are still to be added up */
} trs_once;

/* One right-hand side; x may be b.  rows: the arrays are those of CSR. */
trs_status trs_once_solve(trs_once *o, bool rows, trs_scalar scalar, void *x, const void *b);

#endif
