/* triangular.c - a matrix that is triangular but for the order of its rows and columns: columns
 * with one entry in the rows that are left are taken one after the other, with that row.  O(n +
 * nnz).
 */
#include "factor/kinds.h"
#include "matrix/values.h"

typedef struct columns {
  int32_t *count; /* entries in the rows that are left */
  int32_t *rows;  /* the exclusive or of these rows: with one entry, its row */
} columns;

static void count(columns *c, const trs_matrix *A) {
  for (int64_t i = 0; i < A->nrows; i++)
    for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) {
      c->count[A->idx[p]]++;
      c->rows[A->idx[p]] ^= (int32_t)i;
    }
}

static bool is_zero(const trs_matrix *A, int32_t i, int32_t j) {
  for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++)
    if (A->idx[p] == j) return trs_value_abs(A->val, p, A->scalar) == 0;
  return true;
}

/* col is the queue of columns with one entry.  Returns how many rows and columns were taken. */
static int64_t take(columns *c, int32_t *row, int32_t *col, const trs_matrix *A) {
  int64_t found = 0, taken = 0;
  for (int32_t j = 0; j < A->nrows; j++)
    if (c->count[j] == 1) col[found++] = j;
  for (; taken < found; taken++) {
    const int32_t i = c->rows[col[taken]];
    if (c->count[col[taken]] != 1 || is_zero(A, i, col[taken])) return taken;
    row[taken] = i;
    for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) {
      const int32_t j = A->idx[p];
      c->rows[j] ^= i;
      if (--c->count[j] == 1) col[found++] = j;
    }
  }
  return taken;
}

trs_status trs_find_triangle(bool *found, int32_t *row, int32_t *col, const trs_matrix *A) {
  columns c = {0};
  *found = false;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ZEROS(&c.count, A->nrows), TRS_ZEROS(&c.rows, A->nrows)));
  count(&c, A);
  *found = take(&c, row, col, A) == A->nrows;
  TRS_FREE_ALL(c.count, c.rows);
  return TRS_SUCCESS;
}
