/* triplets.c - a matrix from triplets in any order: sorted by row, then created from compressed
 * arrays. O(n + nnz). */
#include "matrix/create.h"
#include "matrix/indexing.h"
#include "matrix/values.h"

/* The matrix of triplets sorted by row.  order[p] is the triplet of entry p; with repeats merged it
 * becomes the matrix's source. */
static trs_status adopt_triplets(trs_matrix **result, trs_matrix head, int64_t *order) {
  trs_status status = trs_matrix_make(result, head, TRS_BORROW, TRS_NATIVE);
  if (status) {
    trs_free(order);
    return status;
  }
  trs_matrix *A = *result;
  if (!A->source) {
    A->source = order;
    return TRS_SUCCESS;
  }
  for (int64_t q = 0; q < A->user_nnz; q++) A->source[q] = order[A->source[q]];
  trs_free(order);
  return TRS_SUCCESS;
}

typedef struct triplets {
  int64_t nrows, ncols, nnz;
  int indexing;
  const void *row, *col;
} triplets;

static int64_t row_of(const triplets *t, int64_t p) {
  return trs_idx_at(t->indexing, t->row, p) - trs_index_base(t->indexing);
}

static int64_t col_of(const triplets *t, int64_t p) {
  return trs_idx_at(t->indexing, t->col, p) - trs_index_base(t->indexing);
}

static trs_status check_triplets(const triplets *t) {
  const int64_t base = trs_index_base(t->indexing);
  for (int64_t p = 0; p < t->nnz; p++) {
    int64_t row = row_of(t, p), col = col_of(t, p);
    if (row < 0 || row >= t->nrows || col < 0 || col >= t->ncols)
      return trs_fail(TRS_ERROR_STRUCTURE, row,
                      "triplet %lld lies at row %lld, column %lld of a %lld x %lld matrix (%s)",
                      (long long)p, (long long)(row + base), (long long)(col + base),
                      (long long)t->nrows, (long long)t->ncols, base ? "1-based" : "0-based");
  }
  return TRS_SUCCESS;
}

/* Sorts by rows, each in the order of the triplets.  ptr has one zero more than rows and is
 * shifted. */
static void sort_triplets(const triplets *t, int64_t *ptr, int32_t *idx, int64_t *order) {
  for (int64_t p = 0; p < t->nnz; p++) ptr[row_of(t, p) + 2]++;
  for (int64_t i = 0; i < t->nrows; i++) ptr[i + 2] += ptr[i + 1];
  for (int64_t p = 0; p < t->nnz; p++) {
    int64_t at = ptr[row_of(t, p) + 1]++;
    idx[at] = (int32_t)col_of(t, p);
    order[at] = p;
  }
}

trs_status trs_matrix_create_coo(trs_matrix **A, trs_scalar scalar, int64_t nrows, int64_t ncols,
                                 int64_t nnz, int indexing, const void *row, const void *col,
                                 const void *val) {
  const triplets t = {nrows, ncols, nnz, indexing, row, col};
  TRS_TRY(trs_matrix_check_target(A, TRS_COPY, indexing));
  TRS_TRY(trs_matrix_check_shape(TRS_CSR, scalar, nrows, ncols));
  if (nnz < 0 || (nnz && (!row || !col || !val)))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s",
                    nnz < 0 ? "nnz is negative" : "row, col or val is NULL");
  TRS_TRY(check_triplets(&t));
  int64_t *order = NULL;
  trs_matrix head = {.scalar = scalar,
                     .nrows = nrows,
                     .ncols = ncols,
                     .hold_ptr = TRS_OWNED,
                     .hold_idx = TRS_OWNED,
                     .hold_val = TRS_OWNED};
  trs_status status = TRS_ALLOC_ZERO(&head.ptr, nrows + 2);
  if (!status) status = TRS_ALLOC(&head.idx, nnz);
  if (!status) status = TRS_ALLOC(&order, nnz);
  if (!status) status = trs_alloc(&head.val, nnz, trs_scalar_size(scalar));
  if (status) {
    trs_free(order);
    return trs_matrix_refuse(&head, status);
  }
  sort_triplets(&t, head.ptr, head.idx, order);
  trs_values_gather(head.val, val, order, nnz, scalar);
  return adopt_triplets(A, head, order);
}
