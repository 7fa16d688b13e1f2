/* rows.c - a compressed matrix from a function that makes one row, in two passes over the rows:
 * count the entries, then fill at the offsets of the prefix sums.  Each thread owns a range of
 * rows, so that the pages of its part lie near it.  O(nnz / threads), plus O(n) for the sums. */
#include "gallery/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/search.h"
#include "matrix/matrix.h"

typedef struct build {
  const trs_rows *rows;
  const trs_request *request;
  int64_t *ptr; /* n + 1: lengths after the first pass, offsets in the second */
  int32_t *idx; /* NULL in the first pass */
  double *val;
  int32_t *col_work; /* one row per thread */
  double *val_work;
} build;

static void make_share(void *argument, int rank, int size) {
  const build *b = argument;
  const trs_rows *rows = b->rows;
  int32_t *col = b->col_work + rank * rows->longest;
  double *val = b->val_work + rank * rows->longest;
  int64_t begin, end;
  trs_share(rows->n, rank, size, &begin, &end);
  for (int64_t i = begin; i < end; i++) {
    int64_t count = rows->make(rows->shape, i, col, val);
    if (b->idx) {
      memcpy(b->idx + b->ptr[i], col, (size_t)count * sizeof *col);
      memcpy(b->val + b->ptr[i], val, (size_t)count * sizeof *val);
    } else {
      b->ptr[i + 1] = count;
    }
    if ((i & 0xffff) == 0 && trs_cancel_asked(trs_cancel_flag())) return;
    if (rank == 0 && (i & 0xffff) == 0)
      trs_request_progress(b->request, "generating",
                           0.5 * (b->idx != NULL) + 0.5 * (double)i / (double)(end - begin));
  }
}

static trs_status fill(build *b) {
  int64_t n = b->rows->n;
  int size = trs_team_size(b->request->team);
  TRS_TRY(TRS_ALLOC(&b->ptr, n + 1));
  TRS_TRY(TRS_ALLOC(&b->col_work, size * b->rows->longest));
  TRS_TRY(TRS_ALLOC(&b->val_work, size * b->rows->longest));
  trs_team_run(b->request->team, size, make_share, b);
  TRS_TRY(trs_cancelled());
  b->ptr[0] = 0;
  for (int64_t i = 0; i < n; i++) b->ptr[i + 1] += b->ptr[i];
  TRS_TRY(TRS_ALLOC(&b->val, b->ptr[n]));
  TRS_TRY(TRS_ALLOC(&b->idx, b->ptr[n]));
  trs_team_run(b->request->team, size, make_share, b);
  return trs_cancelled();
}

trs_status trs_rows_adopt(trs_matrix **A, const trs_request *request, int64_t n, int64_t *ptr,
                          int32_t *idx, double *val, trs_status status) {
  if (status) {
    TRS_FREE_ALL(ptr, idx, val);
    return status;
  }
  TRS_TRY(trs_matrix_adopt(A, TRS_CSR, TRS_DOUBLE, n, n, ptr, idx, val));
  trs_request_progress(request, "generating", 1);
  return TRS_SUCCESS;
}

trs_status trs_rows_build(trs_matrix **A, const trs_rows *rows, const trs_request *request) {
  build b = {.rows = rows, .request = request};
  trs_status status = fill(&b);
  trs_free(b.col_work);
  trs_free(b.val_work);
  return trs_rows_adopt(A, request, rows->n, b.ptr, b.idx, b.val, status);
}

/* Most rows have a handful of entries, for which insertion sort is the fastest. */
static void insertion_sort(int32_t *col, int64_t count) {
  for (int64_t q = 1; q < count; q++) {
    int32_t j = col[q];
    int64_t at = q;
    for (; at > 0 && col[at - 1] > j; at--) col[at] = col[at - 1];
    col[at] = j;
  }
}

void trs_columns_sort(int32_t *col, int64_t count) {
  if (count < 24)
    insertion_sort(col, count);
  else
    qsort(col, (size_t)count, sizeof *col, trs_compare_int32);
}
