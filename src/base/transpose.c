/* transpose.c - a counting sort.  column_ptr[j + 1] is where the next entry of column j goes, and
 * in the end the begin of column j + 1. */
#include "base/transpose.h"

static void sort(int64_t *next, int32_t *row, int64_t *from, int64_t columns, int64_t rows,
                 const int64_t *ptr, const int32_t *idx) {
  const int64_t entries = ptr ? ptr[rows] : rows;
  for (int64_t p = 0; p < entries; p++) next[idx[p] + 1]++;
  for (int64_t j = 0; j < columns; j++) next[j + 1] += next[j];
  if (!ptr)
    for (int64_t i = 0; i < rows; i++) row[next[idx[i]]++] = (int32_t)i;
  else if (!from)
    for (int64_t i = 0; i < rows; i++)
      for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) row[next[idx[p]]++] = (int32_t)i;
  else
    for (int64_t i = 0; i < rows; i++)
      for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) {
        const int64_t at = next[idx[p]]++;
        row[at] = (int32_t)i;
        from[at] = p;
      }
}

trs_status trs_transpose_pattern(int64_t **column_ptr, int32_t **row, int64_t **from,
                                 int64_t columns, int64_t rows, const int64_t *ptr,
                                 const int32_t *idx) {
  const int64_t entries = ptr ? ptr[rows] : rows;
  *row = NULL;
  if (from) *from = NULL;
  trs_status status = TRS_ALLOC_ALL(TRS_ZEROS(column_ptr, columns + 2), TRS_ROOM(row, entries));
  if (!status && from) status = TRS_ALLOC(from, entries);
  if (!status) {
    sort(*column_ptr + 1, *row, from ? *from : NULL, columns, rows, ptr, idx);
    return TRS_SUCCESS;
  }
  TRS_FREE_ALL(*column_ptr, *row);
  *column_ptr = NULL;
  *row = NULL;
  return status;
}
