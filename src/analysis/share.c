/* share.c - lists the rows of a share and gets their values from the matrix. */
#include "analysis/share.h"

#include <string.h>

/* Ascending; *count is share->rows. */
static trs_status list_rows(int32_t **list, const trs_slices *s, const trs_deal_share *share) {
  uint8_t *own;
  int64_t count = 0;
  TRS_TRY(TRS_ALLOC_ZERO(&own, s->n));
  for (int32_t k = 0; k < share->nslices; k++)
    for (int32_t r = 0; r < share->slice[k].rows; r++) own[s->row[share->slice[k].first + r]] = 1;
  trs_status status = TRS_ALLOC(list, share->rows);
  for (int64_t i = 0; i < s->n && !status; i++)
    if (own[i]) (*list)[count++] = (int32_t)i;
  trs_free(own);
  return status;
}

static trs_status copy_pattern(trs_share_rows *rows, const trs_system *S, const int32_t *row,
                               int64_t count) {
  int64_t at = 0, next = 0;
  TRS_TRY(TRS_ALLOC(&rows->ptr, S->n + 1));
  for (int64_t i = 0; i < S->n; i++) {
    rows->ptr[i] = at;
    if (next == count || row[next] != i) continue;
    at += S->ptr[i + 1] - S->ptr[i];
    next++;
  }
  rows->ptr[S->n] = at;
  TRS_TRY(TRS_ALLOC(&rows->idx, at));
  for (int64_t k = 0; k < count; k++)
    memcpy(rows->idx + rows->ptr[row[k]], S->idx + S->ptr[row[k]],
           (size_t)(S->ptr[row[k] + 1] - S->ptr[row[k]]) * sizeof *rows->idx);
  rows->S = *S;
  rows->S.nnz = at;
  rows->S.ptr = rows->ptr;
  rows->S.idx = rows->idx;
  rows->S.val = rows->val;
  return TRS_SUCCESS;
}

static trs_status check_diagonal(const trs_system *S, const int32_t *row, int64_t count) {
  for (int64_t k = 0; k < count && !S->unit; k++) TRS_TRY(trs_system_check_pivot(S, row[k]));
  return TRS_SUCCESS;
}

trs_status trs_share_rows_create(trs_share_rows *rows, const trs_system *S, const trs_matrix *A,
                                 const trs_slices *s, const trs_deal_share *share) {
  int32_t *row;
  *rows = (trs_share_rows){0};
  TRS_TRY(list_rows(&row, s, share));
  trs_status status = trs_matrix_ask(A, share->rows, row, &rows->val);
  if (!status) status = copy_pattern(rows, S, row, share->rows);
  if (!status) status = check_diagonal(&rows->S, row, share->rows);
  trs_free(row);
  if (status) trs_share_rows_destroy(rows);
  return status;
}

void trs_share_rows_destroy(trs_share_rows *rows) {
  TRS_FREE_ALL(rows->ptr, rows->idx, rows->val);
  *rows = (trs_share_rows){0};
}
