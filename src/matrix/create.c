/* create.c - matrices from the caller's arrays: checked once, put in canonical order if need be,
 * counted by side of the diagonal.  O(n + nnz) when in order, O(nnz log longest) when not. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "matrix/deferred.h"
#include "matrix/values.h"

uint64_t trs_matrix_next_number(void) {
  static _Atomic uint64_t last;
  return ++last;
}

static const char *vector_word(trs_format format) { return format == TRS_CSR ? "row" : "column"; }

trs_status trs_matrix_check_shape(trs_format format, trs_scalar scalar, int64_t nrows,
                                  int64_t ncols) {
  if (format != TRS_CSR && format != TRS_CSC)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "format %d is neither TRS_CSR nor TRS_CSC", format);
  if (!trs_scalar_valid(scalar))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "scalar %d is not one of trs_scalar's", scalar);
  if (nrows < 0 || ncols < 0 || nrows > INT32_MAX || ncols > INT32_MAX)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "a matrix of %lld x %lld: rows and columns must lie in 0 .. 2147483647",
                    (long long)nrows, (long long)ncols);
  return TRS_SUCCESS;
}

trs_status trs_matrix_check_ptr(const trs_matrix *A) {
  if (!A->ptr) return trs_fail(TRS_ERROR_ARGUMENT, -1, "ptr is NULL");
  if (A->ptr[0] != 0)
    return trs_fail(TRS_ERROR_STRUCTURE, 0, "ptr[0] is %lld, not 0", (long long)A->ptr[0]);
  for (int64_t i = 0; i < A->nvectors; i++)
    if (A->ptr[i + 1] < A->ptr[i])
      return trs_fail(TRS_ERROR_STRUCTURE, i, "ptr[%lld] = %lld is less than ptr[%lld] = %lld",
                      (long long)i + 1, (long long)A->ptr[i + 1], (long long)i,
                      (long long)A->ptr[i]);
  return TRS_SUCCESS;
}

static trs_status bad_index(const trs_matrix *A, int64_t i, int64_t p) {
  int64_t other = A->format == TRS_CSR ? A->ncols : A->nrows;
  return trs_fail(TRS_ERROR_STRUCTURE, i, "index %d in %s %lld is outside 0 .. %lld (0-based)",
                  A->idx[p], vector_word(A->format), (long long)i, (long long)other - 1);
}

/* Names the first index out of range. */
static trs_status find_bad_index(const trs_matrix *A) {
  int64_t other = A->format == TRS_CSR ? A->ncols : A->nrows;
  for (int64_t i = 0; i < A->nvectors; i++)
    for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++)
      if (A->idx[p] < 0 || A->idx[p] >= other) return bad_index(A, i, p);
  return trs_fail(TRS_ERROR_INTERNAL, -1, "an index was out of range, then was not");
}

trs_status trs_matrix_name_disorder(const trs_matrix *A) {
  int64_t other = A->format == TRS_CSR ? A->ncols : A->nrows;
  for (int64_t i = 0; i < A->nvectors; i++)
    for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) {
      if (A->idx[p] < 0 || A->idx[p] >= other) return bad_index(A, i, p);
      if (p > A->ptr[i] && A->idx[p] <= A->idx[p - 1])
        return trs_fail(TRS_ERROR_STRUCTURE, i,
                        "%s %lld has index %d behind %d (entry %lld, 0-based): %s indices must "
                        "ascend, none twice; sort and merge them first",
                        vector_word(A->format), (long long)i, A->idx[p], A->idx[p - 1],
                        (long long)p,
                        trs_matrix_is_deferred(A) ? "with deferred values" : "in device memory");
    }
  return trs_fail(TRS_ERROR_INTERNAL, -1, "the arrays were wrong, then were not");
}

/* Is every index in range, and how many are not larger than the one before?  One pass that knows
 * nothing of vectors, for vector instructions. */
static bool scan_indices(const trs_matrix *A, int64_t *descents) {
  uint32_t other = (uint32_t)(A->format == TRS_CSR ? A->ncols : A->nrows);
  const int32_t *idx = A->idx;
  int64_t count = 0, end = A->ptr[A->nvectors];
  uint32_t outside = end > 0 && (uint32_t)idx[0] >= other;
  for (int64_t p = 1; p < end; p++) {
    outside |= (uint32_t)idx[p] >= other;
    count += idx[p] <= idx[p - 1];
  }
  *descents = count;
  return !outside;
}

/* Position of the first entry of vector i, not empty, whose index is at least i, given that
 * indices ascend. */
static int64_t diagonal_position(const trs_matrix *A, int64_t i) {
  int64_t low = A->ptr[i], high = A->ptr[i + 1];
  if (A->idx[low] >= i) return low;
  if (A->idx[high - 1] <= i) return high - (A->idx[high - 1] == i);
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (A->idx[middle] < i)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void count_vector(const trs_matrix *A, int64_t i, trs_sides *s) {
  int64_t begin = A->ptr[i], end = A->ptr[i + 1];
  if (begin > 0) s->descents += A->idx[begin] <= A->idx[begin - 1];
  int64_t at = diagonal_position(A, i), has = at < end && A->idx[at] == i;
  if (at > begin && i < s->first_before) s->first_before = i;
  if (end > at + has && i < s->first_after) s->first_after = i;
  s->before += at - begin;
  s->after += end - at - has;
  s->diagonal += has;
  if (!has && i < s->missing) s->missing = i;
  if (end - begin > s->longest) s->longest = end - begin;
}

/* Entries before the diagonal of a row lie in the lower triangle, those of a column in the upper.
 */
void trs_matrix_take_sides(trs_matrix *A, const trs_sides *s) {
  bool rows = A->format == TRS_CSR;
  int64_t diagonals = A->nrows < A->ncols ? A->nrows : A->ncols;
  int64_t first_before = s->first_before == INT64_MAX ? -1 : s->first_before;
  int64_t first_after = s->first_after == INT64_MAX ? -1 : s->first_after;
  A->nlower = rows ? s->before : s->after;
  A->nupper = rows ? s->after : s->before;
  A->first_lower = rows ? first_before : first_after;
  A->first_upper = rows ? first_after : first_before;
  A->ndiagonal = s->diagonal;
  A->missing_diagonal = s->missing < diagonals ? s->missing : -1;
  A->longest = s->longest;
}

static void count_sides(trs_matrix *A, int64_t *descents) {
  trs_sides s = TRS_NO_SIDES;
  for (int64_t i = 0; i < A->nvectors; i++)
    if (A->ptr[i] < A->ptr[i + 1])
      count_vector(A, i, &s);
    else if (i < s.missing)
      s.missing = i;
  trs_matrix_take_sides(A, &s);
  *descents = s.descents;
}

typedef struct entry {
  int32_t idx;
  int64_t source;
} entry;

static int compare_entries(const void *left, const void *right) {
  const entry *a = left, *b = right;
  if (a->idx != b->idx) return a->idx < b->idx ? -1 : 1;
  return (a->source > b->source) - (a->source < b->source);
}

/* Sorts and merges vector i into idx from position count on; returns the new count. */
static int64_t order_vector(const trs_matrix *A, int64_t i, entry *work, int32_t *idx,
                            int64_t *source_ptr, int64_t *source, int64_t count) {
  int64_t begin = A->ptr[i], length = A->ptr[i + 1] - begin;
  for (int64_t q = 0; q < length; q++) work[q] = (entry){A->idx[begin + q], begin + q};
  qsort(work, (size_t)length, sizeof *work, compare_entries);
  for (int64_t q = 0; q < length; q++) {
    source[begin + q] = work[q].source;
    if (q > 0 && work[q].idx == work[q - 1].idx) continue;
    idx[count] = work[q].idx;
    source_ptr[count++] = begin + q;
  }
  return count;
}

static void free_arrays(const trs_matrix *A, void *ptr, void *idx, void *val) {
  void (*release)(void *) = A->from_malloc ? free : trs_free;
  if (A->owns_pattern) release(ptr);
  if (A->owns_pattern) release(idx);
  if (A->owns_values) release(val);
}

/* Replaces the caller's arrays by ordered ones and remembers where each entry came from. */
static trs_status put_in_order(trs_matrix *A) {
  int64_t *ptr = NULL;
  int32_t *idx = NULL;
  void *val = NULL;
  entry *work = NULL;
  int64_t longest = 0, nnz = A->ptr[A->nvectors];
  for (int64_t i = 0; i < A->nvectors; i++)
    if (A->ptr[i + 1] - A->ptr[i] > longest) longest = A->ptr[i + 1] - A->ptr[i];
  A->user_nnz = nnz;
  trs_status status = TRS_ALLOC(&ptr, A->nvectors + 1);
  if (!status) status = TRS_ALLOC(&idx, nnz);
  if (!status) status = TRS_ALLOC(&work, longest);
  if (!status) status = TRS_ALLOC(&A->source_ptr, nnz + 1);
  if (!status) status = TRS_ALLOC(&A->source, nnz);
  int64_t count = 0;
  if (!status) {
    for (int64_t i = 0; i < A->nvectors; i++) {
      ptr[i] = count;
      count = order_vector(A, i, work, idx, A->source_ptr, A->source, count);
    }
    ptr[A->nvectors] = count;
    A->source_ptr[count] = nnz;
    status = trs_alloc(&val, count, trs_scalar_size(A->scalar));
  }
  trs_free(work);
  if (status) {
    trs_free(ptr);
    trs_free(idx);
    return status;
  }
  trs_values_sum(val, A->val, A->source_ptr, A->source, count, A->scalar);
  if (!A->owns_values) A->lent = A->val;
  free_arrays(A, A->ptr, A->idx, A->val);
  A->ptr = ptr;
  A->idx = idx;
  A->val = val;
  A->owns_pattern = A->owns_values = true;
  A->from_malloc = false;
  return TRS_SUCCESS;
}

static trs_status check_arrays(trs_matrix *A) {
  TRS_TRY(trs_matrix_check_ptr(A));
  A->nnz = A->ptr[A->nvectors];
  if (A->nnz && (!A->idx || !(A->val || trs_matrix_is_deferred(A))))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", A->idx ? "val" : "idx");
  return TRS_SUCCESS;
}

static trs_status finish(trs_matrix *A) {
  int64_t descents, at_starts;
  if (!scan_indices(A, &descents)) return find_bad_index(A);
  count_sides(A, &at_starts);
  if (descents == at_starts) return TRS_SUCCESS; /* none within a vector: in order */
  if (trs_matrix_is_deferred(A)) return trs_matrix_name_disorder(A);
  TRS_TRY(put_in_order(A));
  A->nnz = A->ptr[A->nvectors];
  count_sides(A, &at_starts);
  return TRS_SUCCESS;
}

static trs_status duplicate(void **copy, const void *from, int64_t count, size_t size) {
  TRS_TRY(trs_alloc(copy, count, size));
  if (count && from) memcpy(*copy, from, (size_t)count * size);
  return TRS_SUCCESS;
}

static trs_status copy_arrays(trs_matrix *A) {
  const int64_t *ptr = A->ptr;
  const int32_t *idx = A->idx;
  const void *val = A->val;
  A->ptr = NULL;
  A->idx = NULL;
  A->val = NULL;
  A->owns_pattern = A->owns_values = true;
  TRS_TRY(duplicate((void **)&A->ptr, ptr, A->nvectors + 1, sizeof *ptr));
  TRS_TRY(duplicate((void **)&A->idx, idx, A->nnz, sizeof *idx));
  if (trs_matrix_is_deferred(A)) return TRS_SUCCESS;
  return duplicate(&A->val, val, A->nnz, trs_scalar_size(A->scalar));
}

/* Forgets where entries came from: for matrices whose arrays no caller will ever refresh. */
static void forget_source(trs_matrix *A) {
  trs_free(A->source_ptr);
  trs_free(A->source);
  A->source_ptr = A->source = NULL;
}

static trs_status check_target(trs_matrix **result, trs_ownership ownership) {
  if (!result) return trs_fail(TRS_ERROR_ARGUMENT, -1, "A is NULL");
  *result = NULL;
  if (ownership < TRS_COPY || ownership > TRS_TAKE)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "ownership %d is not one of trs_ownership's",
                    ownership);
  return TRS_SUCCESS;
}

/* What was taken is freed. */
static trs_status refuse(const trs_matrix *head, trs_status status) {
  free_arrays(head, head->ptr, head->idx, head->val);
  if (head->deferred.free) head->deferred.free(head->deferred.user);
  return status;
}

static trs_status make(trs_matrix **result, trs_matrix head, trs_ownership ownership) {
  trs_matrix *A;
  trs_status status = check_target(result, ownership);
  if (!status) status = trs_matrix_check_shape(head.format, head.scalar, head.nrows, head.ncols);
  if (!status) status = TRS_ALLOC_ZERO(&A, 1);
  if (status) return refuse(&head, status);
  *A = head;
  atomic_init(&A->references, 1);
  A->number = trs_matrix_next_number();
  A->nvectors = A->format == TRS_CSR ? A->nrows : A->ncols;
  status = check_arrays(A);
  if (!status && ownership == TRS_COPY) status = copy_arrays(A);
  if (!status) status = finish(A);
  if (status) {
    trs_matrix_destroy(A);
    return status;
  }
  *result = A;
  return TRS_SUCCESS;
}

trs_status trs_matrix_create(trs_matrix **A, trs_format format, trs_scalar scalar, int64_t nrows,
                             int64_t ncols, const int64_t *ptr, const int32_t *idx, const void *val,
                             trs_ownership ownership) {
  bool take = ownership == TRS_TAKE;
  return make(A,
              (trs_matrix){.format = format,
                           .scalar = scalar,
                           .nrows = nrows,
                           .ncols = ncols,
                           .ptr = (int64_t *)ptr,
                           .idx = (int32_t *)idx,
                           .val = (void *)val,
                           .owns_pattern = take,
                           .owns_values = take,
                           .from_malloc = take,
                           .takes_values = take},
              ownership);
}

trs_status trs_matrix_adopt(trs_matrix **A, trs_format format, trs_scalar scalar, int64_t nrows,
                            int64_t ncols, int64_t *ptr, int32_t *idx, void *val) {
  TRS_TRY(make(A,
               (trs_matrix){.format = format,
                            .scalar = scalar,
                            .nrows = nrows,
                            .ncols = ncols,
                            .ptr = ptr,
                            .idx = idx,
                            .val = val,
                            .owns_pattern = true,
                            .owns_values = true},
               TRS_BORROW));
  forget_source(*A);
  return TRS_SUCCESS;
}

trs_status trs_matrix_adopt_pattern(trs_matrix **A, trs_format format, trs_scalar scalar,
                                    int64_t nrows, int64_t ncols, int64_t *ptr, int32_t *idx,
                                    trs_deferred deferred) {
  return make(A,
              (trs_matrix){.format = format,
                           .scalar = scalar,
                           .nrows = nrows,
                           .ncols = ncols,
                           .ptr = ptr,
                           .idx = idx,
                           .owns_pattern = true,
                           .deferred = deferred},
              TRS_BORROW);
}

trs_status trs_matrix_create_deferred(trs_matrix **A, trs_format format, trs_scalar scalar,
                                      int64_t nrows, int64_t ncols, const int64_t *ptr,
                                      const int32_t *idx, trs_ownership ownership,
                                      trs_values_callback give, void *user) {
  bool take = ownership == TRS_TAKE;
  trs_callback *callback = NULL;
  trs_matrix head = {.format = format,
                     .scalar = scalar,
                     .nrows = nrows,
                     .ncols = ncols,
                     .ptr = (int64_t *)ptr,
                     .idx = (int32_t *)idx,
                     .owns_pattern = take,
                     .from_malloc = take};
  trs_status status = check_target(A, ownership);
  if (!status && !give) status = trs_fail(TRS_ERROR_ARGUMENT, -1, "give is NULL");
  if (!status) status = TRS_ALLOC(&callback, 1);
  if (status) return refuse(&head, status);
  *callback = (trs_callback){give, user};
  head.deferred = (trs_deferred){trs_callback_give, trs_free, callback};
  return make(A, head, ownership);
}

/* The matrix of triplets sorted by row; order[p] is the triplet behind entry p and becomes, with
 * repeats merged, the matrix's memory of its source. */
static trs_status adopt_triplets(trs_matrix **result, trs_matrix head, int64_t *order) {
  trs_status status = make(result, head, TRS_BORROW);
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

trs_status trs_matrix_create_coo(trs_matrix **A, trs_scalar scalar, int64_t nrows, int64_t ncols,
                                 int64_t nnz, const int32_t *row, const int32_t *col,
                                 const void *val) {
  if (!A) return trs_fail(TRS_ERROR_ARGUMENT, -1, "A is NULL");
  *A = NULL;
  TRS_TRY(trs_matrix_check_shape(TRS_CSR, scalar, nrows, ncols));
  if (nnz < 0 || (nnz && (!row || !col || !val)))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s",
                    nnz < 0 ? "nnz is negative" : "row, col or val is NULL");
  for (int64_t p = 0; p < nnz; p++)
    if (row[p] < 0 || row[p] >= nrows || col[p] < 0 || col[p] >= ncols)
      return trs_fail(TRS_ERROR_STRUCTURE, row[p],
                      "triplet %lld lies at row %d, column %d of a %lld x %lld matrix (0-based)",
                      (long long)p, row[p], col[p], (long long)nrows, (long long)ncols);
  int64_t *ptr = NULL, *order = NULL;
  int32_t *idx = NULL;
  void *values = NULL;
  trs_status status = TRS_ALLOC_ZERO(&ptr, nrows + 2);
  if (!status) status = TRS_ALLOC(&idx, nnz);
  if (!status) status = TRS_ALLOC(&order, nnz);
  if (!status) status = trs_alloc(&values, nnz, trs_scalar_size(scalar));
  if (status) {
    trs_free(ptr);
    trs_free(idx);
    trs_free(order);
    return status;
  }
  for (int64_t p = 0; p < nnz; p++) ptr[row[p] + 2]++;
  for (int64_t i = 0; i < nrows; i++) ptr[i + 2] += ptr[i + 1];
  for (int64_t p = 0; p < nnz; p++) {
    int64_t at = ptr[row[p] + 1]++;
    idx[at] = col[p];
    order[at] = p;
  }
  trs_values_gather(values, val, order, nnz, scalar);
  return adopt_triplets(A,
                        (trs_matrix){.scalar = scalar,
                                     .nrows = nrows,
                                     .ncols = ncols,
                                     .ptr = ptr,
                                     .idx = idx,
                                     .val = values,
                                     .owns_pattern = true,
                                     .owns_values = true},
                        order);
}

/* Only what has changed is written, and by one thread at a time: others may solve with A. */
void trs_matrix_renew(const trs_matrix *A) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  enum { PIECE = 256 };
  double complex sums[PIECE];
  size_t size = trs_scalar_size(A->scalar);
  if (!A->lent) return;
  pthread_mutex_lock(&lock);
  for (int64_t p = 0; p < A->nnz; p += PIECE) {
    int64_t count = A->nnz - p < PIECE ? A->nnz - p : PIECE;
    char *val = (char *)A->val + (size_t)p * size;
    trs_values_sum(sums, A->lent, A->source_ptr + p, A->source, count, A->scalar);
    if (memcmp(val, sums, (size_t)count * size)) memcpy(val, sums, (size_t)count * size);
  }
  pthread_mutex_unlock(&lock);
}

trs_status trs_matrix_need_host(const trs_matrix *A, const char *what) {
  if (A->on_device)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "%s reads the matrix on the host, but this one is in device memory", what);
  if (trs_matrix_is_deferred(A))
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "%s needs all values of the matrix, but these are deferred: read it whole "
                    "(trs_matrix_read)",
                    what);
  trs_matrix_renew(A);
  return TRS_SUCCESS;
}

trs_status trs_matrix_set_values(trs_matrix *A, const void *val) {
  if (!A || (!val && A->nnz))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", A ? "val" : "A");
  if (trs_matrix_is_deferred(A))
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "the values of this matrix are deferred: they are asked for in trs_update");
  if (A->on_device && A->nnz && !trs_device_address(val))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "val is not device memory, as the matrix is");
  if (A->lent) A->lent = val;
  if (A->source_ptr)
    trs_values_sum(A->val, val, A->source_ptr, A->source, A->nnz, A->scalar);
  else if (A->source)
    trs_values_gather(A->val, val, A->source, A->nnz, A->scalar);
  else if (!A->owns_values)
    A->val = (void *)val;
  else if (A->nnz)
    memmove(A->val, val, (size_t)A->nnz * trs_scalar_size(A->scalar));
  if (A->takes_values && val != A->val) free((void *)val); /* plans may still read from A->val */
  return TRS_SUCCESS;
}

trs_matrix *trs_matrix_retain(const trs_matrix *A) {
  trs_matrix *shared = (trs_matrix *)A;
  atomic_fetch_add(&shared->references, 1);
  return shared;
}

void trs_matrix_destroy(trs_matrix *A) {
  if (!A || atomic_fetch_sub(&A->references, 1) > 1) return;
  free_arrays(A, A->ptr, A->idx, A->val);
  if (A->deferred.free) A->deferred.free(A->deferred.user);
  trs_free(A->source_ptr);
  trs_free(A->source);
  trs_device_close(A->device);
  trs_free(A);
}

void trs_matrix_get_info(const trs_matrix *A, trs_matrix_info *info) {
  if (info) *info = (trs_matrix_info){.missing_diagonal = -1, .largest_part = -1};
  if (!A || !info) return;
  *info =
      (trs_matrix_info){.format = A->format,
                        .scalar = A->scalar,
                        .nrows = A->nrows,
                        .ncols = A->ncols,
                        .nnz = A->nnz,
                        .nlower = A->nlower,
                        .nupper = A->nupper,
                        .ndiagonal = A->ndiagonal,
                        .missing_diagonal = A->missing_diagonal,
                        .longest_row = A->longest,
                        .largest_part = trs_matrix_is_deferred(A) ? A->largest_part : -1,
                        .bytes = (A->nvectors + 1) * (int64_t)sizeof *A->ptr +
                                 A->nnz * (int64_t)(sizeof *A->idx + trs_scalar_size(A->scalar))};
}

void trs_matrix_get_arrays(const trs_matrix *A, const int64_t **ptr, const int32_t **idx,
                           const void **val) {
  if (ptr) *ptr = A ? A->ptr : NULL;
  if (idx) *idx = A ? A->idx : NULL;
  if (val && A) trs_matrix_renew(A);
  if (val) *val = A ? A->val : NULL;
}
