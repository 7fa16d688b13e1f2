/* rows.h - builds a matrix from a function that makes any one row. */
#ifndef TRS_GALLERY_ROWS_H
#define TRS_GALLERY_ROWS_H

#include "gallery/request.h"

typedef struct trs_rows {
  int64_t n;       /* the matrix is n x n */
  int64_t longest; /* upper bound on the entries of a row */
  const void *shape;
  /* Writes row i of the matrix to col[longest], ascending, and val[longest]; returns the number of
   * entries.  Called by any thread, twice per row, with the same result each time. */
  int64_t (*make)(const void *shape, int64_t i, int32_t *col, double *val);
} trs_rows;

/* Counts the entries, sums the counts and fills the rows; each row belongs to one thread. */
trs_status trs_rows_build(trs_matrix **A, const trs_rows *rows, const trs_request *request);

/* Makes the n x n CSR matrix of these arrays, unless an earlier step failed: then frees them. */
trs_status trs_rows_adopt(trs_matrix **A, const trs_request *request, int64_t n, int64_t *ptr,
                          int32_t *idx, double *val, trs_status status);

void trs_columns_sort(int32_t *col, int64_t count);

#endif
