/* triplets.c - a matrix from triplets in any order, or from blocks: sorted by row, then created
 * from compressed arrays. O(n + nnz). */
#include <string.h>

#include "matrix/blocks.h"
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
  return trs_from_base(trs_idx_at(t->indexing, t->row, p), trs_index_base(t->indexing));
}

static int64_t col_of(const triplets *t, int64_t p) {
  return trs_from_base(trs_idx_at(t->indexing, t->col, p), trs_index_base(t->indexing));
}

static trs_status check_triplets(const triplets *t) {
  const int64_t base = trs_index_base(t->indexing);
  for (int64_t p = 0; p < t->nnz; p++) {
    int64_t row = row_of(t, p), col = col_of(t, p);
    if (row < 0 || row >= t->nrows || col < 0 || col >= t->ncols)
      return trs_fail(TRS_ERROR_STRUCTURE, row,
                      "triplet %lld lies at row %lld, column %lld of a %lld x %lld matrix (%s)",
                      (long long)p, (long long)trs_idx_at(t->indexing, t->row, p),
                      (long long)trs_idx_at(t->indexing, t->col, p), (long long)t->nrows,
                      (long long)t->ncols, base ? "1-based" : "0-based");
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
  trs_status status =
      TRS_ALLOC_ALL(TRS_ZEROS(&head.ptr, nrows + 2), TRS_ROOM(&head.idx, nnz),
                    TRS_ROOM(&order, nnz), TRS_ROOM_OF(&head.val, nnz, trs_scalar_size(scalar)));
  if (status) {
    trs_free(order);
    return trs_matrix_refuse(&head, status);
  }
  sort_triplets(&t, head.ptr, head.idx, order);
  trs_values_gather(head.val, val, order, nnz, scalar);
  return adopt_triplets(A, head, order);
}

/* ---- Blocks: the triplets of their elements, in the order of the values ---- */

static trs_status check_blocks(const trs_blocks *B) {
  const int size = B->block_size;
  if (size < 1 || size > TRS_RELAX_MOST_BLOCK)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "block_size %d is outside 1 .. %d", size,
                    TRS_RELAX_MOST_BLOCK);
  if ((unsigned)B->ownership > TRS_BORROW)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "ownership is %d: in a trs_blocks it must be TRS_COPY or TRS_BORROW",
                    (int)B->ownership);
  if (B->nrows < 0 || B->ncols < 0 || B->nrows > INT32_MAX / size || B->ncols > INT32_MAX / size)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%lld x %lld blocks: 0 .. %d are wanted",
                    (long long)B->nrows, (long long)B->ncols, INT32_MAX / size);
  TRS_TRY(trs_indexing_check_ptr(B->indexing, B->ptr, B->nrows));
  if (trs_ptr_at(B->indexing, B->ptr, B->nrows) > trs_index_base(B->indexing) &&
      (!B->idx || !B->val))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", B->idx ? "val" : "idx");
  return TRS_SUCCESS;
}

static void expand_blocks(const trs_blocks *S, int32_t *row, int32_t *col) {
  const int64_t *ptr = S->ptr;
  const int32_t *idx = S->idx;
  const int size = S->block_size;
  int64_t at = 0;
  for (int64_t i = 0; i < S->nrows; i++)
    for (int64_t p = ptr[i]; p < ptr[i + 1]; p++)
      for (int e = 0; e < size * size; e++, at++) {
        const int slow = e / size, fast = e % size;
        row[at] = (int32_t)(i * size + (S->layout == TRS_ROW_MAJOR ? slow : fast));
        col[at] = (int32_t)(idx[p] * size + (S->layout == TRS_ROW_MAJOR ? fast : slow));
      }
}

static trs_status create_entries(trs_matrix **A, const trs_blocks *S) {
  const int64_t count = ((const int64_t *)S->ptr)[S->nrows] * S->block_size * S->block_size;
  int32_t *row, *col = NULL;
  TRS_TRY(TRS_ALLOC(&row, count));
  trs_status status = TRS_ALLOC(&col, count);
  if (!status) {
    expand_blocks(S, row, col);
    status = trs_matrix_create_coo(A, S->scalar, S->nrows * S->block_size, S->ncols * S->block_size,
                                   count, TRS_IDX32, row, col, S->val);
  }
  TRS_FREE_ALL(row, col);
  if (!status) (*A)->block = S->block_size;
  return status;
}

/* ---- Blocks that ascend in each row stay as they are until entries are needed. ---- */

static void free_blocks(void *user) {
  trs_blocks *S = user;
  if (S && S->ownership == TRS_COPY) trs_free((void *)S->val);
  if (S) TRS_FREE_ALL((void *)S->ptr, (void *)S->idx, S);
}

/* Moves the arrays and what is known of them. */
static trs_status write_entries(trs_matrix *A, const void *user) {
  trs_matrix *made;
  TRS_TRY(create_entries(&made, user));
  A->ptr = made->ptr;
  A->idx = made->idx;
  A->val = made->val;
  A->hold_ptr = made->hold_ptr;
  A->hold_idx = made->hold_idx;
  A->hold_val = made->hold_val;
  A->source_ptr = made->source_ptr;
  A->source = made->source;
  A->user_nnz = made->user_nnz;
  A->nlower = made->nlower;
  A->nupper = made->nupper;
  A->ndiagonal = made->ndiagonal;
  A->first_lower = made->first_lower;
  A->first_upper = made->first_upper;
  A->missing_diagonal = made->missing_diagonal;
  A->longest = made->longest;
  trs_free(made);
  return TRS_SUCCESS;
}

/* The caller's blocks with an own pattern, which is checked, in the library's indexing. */
static trs_status take_blocks(trs_blocks **result, const trs_blocks *S) {
  const int64_t count = trs_ptr_at(S->indexing, S->ptr, S->nrows) - trs_index_base(S->indexing);
  int64_t *ptr = NULL, i = 0;
  int32_t *idx = NULL;
  trs_blocks *own;
  TRS_TRY(TRS_ALLOC(&own, 1));
  trs_status status = TRS_ALLOC_ALL(TRS_ROOM(&ptr, S->nrows + 1), TRS_ROOM(&idx, count));
  *own = *S;
  own->indexing = TRS_NATIVE;
  own->ownership = TRS_BORROW;
  own->ptr = ptr;
  own->idx = idx;
  *result = own;
  if (!status) {
    trs_indexing_take_ptr(ptr, S->indexing, S->ptr, S->nrows);
    const int64_t bad = trs_indexing_take_idx(idx, S->indexing, S->idx, count, S->ncols);
    if (bad == count) return TRS_SUCCESS;
    while (ptr[i + 1] <= bad) i++;
    const int64_t j =
        trs_from_base(trs_idx_at(S->indexing, S->idx, bad), trs_index_base(S->indexing));
    status = trs_fail(TRS_ERROR_STRUCTURE, i,
                      "block column %lld in block row %lld is outside 0 .. %lld (0-based)",
                      (long long)j, (long long)i, (long long)S->ncols - 1);
  }
  free_blocks(own);
  return status;
}

static trs_status copy_values(trs_blocks *own, trs_ownership ownership) {
  const int64_t count = ((const int64_t *)own->ptr)[own->nrows] * own->block_size * own->block_size;
  const size_t bytes = trs_scalar_size(own->scalar);
  void *val;
  if (ownership == TRS_BORROW) return TRS_SUCCESS;
  TRS_TRY(trs_alloc(&val, count, bytes));
  if (count) memcpy(val, own->val, (size_t)count * bytes);
  own->val = val;
  own->ownership = TRS_COPY;
  return TRS_SUCCESS;
}

/* own becomes the matrix's. */
static trs_status keep_blocks(trs_matrix **A, trs_blocks *own) {
  const trs_sides sides = TRS_NO_SIDES;
  const int size = own->block_size;
  TRS_TRY(trs_matrix_adopt_ordered(A, TRS_CSR, own->scalar, own->nrows * size, NULL, NULL, NULL,
                                   &sides));
  (*A)->ncols = own->ncols * size;
  (*A)->block = size;
  (*A)->nnz = ((const int64_t *)own->ptr)[own->nrows] * size * size;
  (*A)->late = (trs_late){write_entries, free_blocks, own};
  return TRS_SUCCESS;
}

bool trs_matrix_has_blocks(const trs_matrix *A, int block) {
  const trs_blocks *S = A->late.user;
  return A->late.write == write_entries && S->block_size == block;
}

trs_block_source trs_block_source_of(const trs_matrix *A, int block) {
  const trs_blocks *S = A->late.user;
  trs_block_source source =
      trs_block_source_by_entries(A->scalar, A->nrows, A->ncols, A->ptr, A->idx, A->val, block);
  if (!trs_matrix_has_blocks(A, block)) return source;
  source.span = 1;
  source.layout = S->layout;
  source.ptr = S->ptr;
  source.idx = S->idx;
  source.val = S->val;
  return source;
}

static bool ascend(const trs_blocks *S) {
  const int64_t *ptr = S->ptr;
  const int32_t *idx = S->idx;
  int falls = 0;
  for (int64_t i = 0; i < S->nrows; i++)
    for (int64_t p = ptr[i] + 1; p < ptr[i + 1]; p++) falls |= idx[p - 1] >= idx[p];
  return !falls;
}

trs_status trs_matrix_create_bsr(trs_matrix **A, const trs_blocks *given) {
  trs_blocks S, *own;
  TRS_TRY(trs_matrix_check_target(A, TRS_COPY, given ? given->indexing : 0));
  TRS_TRY(trs_blocks_take(&S, given));
  TRS_TRY(check_blocks(&S));
  TRS_TRY(
      trs_matrix_check_shape(TRS_CSR, S.scalar, S.nrows * S.block_size, S.ncols * S.block_size));
  TRS_TRY(take_blocks(&own, &S));
  const bool keep = S.block_size > 1 && ascend(own);
  trs_status status = keep ? copy_values(own, S.ownership) : create_entries(A, own);
  if (!status && keep) status = keep_blocks(A, own);
  if (status || !keep) free_blocks(own);
  return status;
}
