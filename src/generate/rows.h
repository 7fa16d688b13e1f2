/* rows.h - builds a matrix from a function that makes any one row. */
#ifndef TRS_GENERATE_ROWS_H
#define TRS_GENERATE_ROWS_H

#include "generate/request.h"

typedef struct trs_rows {
  int64_t n;       /* the matrix is n x n */
  int64_t longest; /* no row has more entries */
  const void *shape;
  /* Row i of the matrix into col[longest], ascending, and val[longest]; returns its entries.
   * Called from any thread, twice a row, and must give the same each time. */
  int64_t (*make)(const void *shape, int64_t i, int32_t *col, double *val);
} trs_rows;

/* Counts, sums up and fills, each row by whichever thread owns it. */
trs_status trs_rows_build(trs_matrix **A, const trs_rows *rows, const trs_request *request);

void trs_columns_sort(int32_t *col, int64_t count);

#endif
