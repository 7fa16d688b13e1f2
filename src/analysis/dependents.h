/* dependents.h - the rows that depend on each row: op(T) by columns. */
#ifndef TRS_ANALYSIS_DEPENDENTS_H
#define TRS_ANALYSIS_DEPENDENTS_H

#include "analysis/system.h"

/* The rows that depend on each row, ascending, and the diagonal if op(T) is stored by columns. */
typedef struct trs_dependents {
  const int64_t *ptr; /* n + 1 */
  const int32_t *row;
  int64_t *own_ptr; /* of op(T) stored by rows; else NULL */
  int32_t *own_row;
} trs_dependents;

/* O(n + nnz); O(1) if op(T) is stored by columns. */
trs_status trs_dependents_create(trs_dependents *dependents, const trs_system *S);
void trs_dependents_destroy(trs_dependents *dependents);

#endif
