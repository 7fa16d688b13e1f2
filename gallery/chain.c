/* chain.c - the tridiagonal Laplacian.  Its lower triangle is one chain of N dependent rows,
 * without any parallelism. */
#include "gallery/rows.h"

static int64_t make_row(const void *shape, int64_t i, int32_t *col, double *val) {
  int64_t n = *(const int64_t *)shape, count = 0;
  for (int64_t j = i - 1; j <= i + 1; j++) {
    if (j < 0 || j >= n) continue;
    col[count] = (int32_t)j;
    val[count++] = j == i ? 2 : -1;
  }
  return count;
}

static trs_status make(trs_matrix **A, const trs_request *request) {
  trs_rows rows = {request->value[0], 3, &request->value[0], make_row};
  return trs_rows_build(A, &rows, request);
}

const trs_generator trs_generator_chain = {
    "chain", "N", "tridiagonal: either triangle is one chain of N rows", make};
