/* canonical.c - puts the caller's arrays in canonical order if needed, and counts the entries on
 * each side of the diagonal.  O(n + nnz) if they are in order, O(nnz log longest) if not. */
#include <stdlib.h>

#include "base/search.h"
#include "matrix/create.h"
#include "matrix/indexing.h"
#include "matrix/values.h"

/* False if an index is out of range.  *descents: the number of indices not larger than the one
 * before. One pass that ignores vector boundaries, so that it vectorises. */
static bool scan_indices(const trs_matrix *A, int64_t *descents) {
  uint32_t other = (uint32_t)trs_matrix_other(A);
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

/* Position of the first entry of vector i whose index is at least i.  The vector is not empty and
 * its indices ascend.  likely: where the vector before has its diagonal entry, from its begin. */
static int64_t diagonal_position(const trs_matrix *A, int64_t i, int64_t likely) {
  int64_t low = A->ptr[i], high = A->ptr[i + 1];
  if (likely < high - low && A->idx[low + likely] == i) return low + likely;
  if (A->idx[low] >= i) return low;
  if (A->idx[high - 1] <= i) return high - (A->idx[high - 1] == i);
  return trs_search_32(A->idx, low, high, i);
}

static void count_vector(const trs_matrix *A, int64_t i, int64_t *likely, trs_sides *s) {
  int64_t begin = A->ptr[i], end = A->ptr[i + 1];
  if (begin > 0) s->descents += A->idx[begin] <= A->idx[begin - 1];
  int64_t at = diagonal_position(A, i, *likely), has = at < end && A->idx[at] == i;
  *likely = at - begin;
  if (at > begin && i < s->first_before) s->first_before = i;
  if (end > at + has && i < s->first_after) s->first_after = i;
  s->before += at - begin;
  s->after += end - at - has;
  s->diagonal += has;
  if (!has && i < s->missing) s->missing = i;
  if (end - begin > s->longest) s->longest = end - begin;
}

/* Entries before the diagonal lie in the lower triangle of a CSR matrix, in the upper one of a CSC
 * matrix. */
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
  int64_t likely = 0;
  for (int64_t i = 0; i < A->nvectors; i++)
    if (A->ptr[i] < A->ptr[i + 1])
      count_vector(A, i, &likely, &s);
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

/* Replaces the caller's arrays by ordered ones and records the source of each entry. */
static trs_status put_in_order(trs_matrix *A) {
  int64_t *ptr = NULL;
  int32_t *idx = NULL;
  void *val = NULL;
  entry *work = NULL;
  int64_t longest = 0, nnz = A->ptr[A->nvectors];
  for (int64_t i = 0; i < A->nvectors; i++)
    if (A->ptr[i + 1] - A->ptr[i] > longest) longest = A->ptr[i + 1] - A->ptr[i];
  A->user_nnz = nnz;
  trs_status status =
      TRS_ALLOC_ALL(TRS_ROOM(&ptr, A->nvectors + 1), TRS_ROOM(&idx, nnz), TRS_ROOM(&work, longest),
                    TRS_ROOM(&A->source_ptr, nnz + 1), TRS_ROOM(&A->source, nnz));
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
    TRS_FREE_ALL(ptr, idx);
    return status;
  }
  trs_values_sum(val, A->val, A->source_ptr, A->source, count, A->scalar);
  if (A->hold_val == TRS_LENT) A->lent = A->val;
  trs_matrix_free_arrays(A);
  A->ptr = ptr;
  A->idx = idx;
  A->val = val;
  A->hold_ptr = A->hold_idx = A->hold_val = TRS_OWNED;
  return TRS_SUCCESS;
}

/* Deferred values come in the order of the indices, which the library therefore cannot change. */
static trs_status name_disorder(const trs_matrix *A) {
  for (int64_t i = 0; i < A->nvectors; i++)
    for (int64_t p = A->ptr[i] + 1; p < A->ptr[i + 1]; p++)
      if (A->idx[p] <= A->idx[p - 1])
        return trs_fail(
            TRS_ERROR_STRUCTURE, i,
            "%s %lld has index %d after %d (entry %lld; all 0-based): with deferred values "
            "%s indices must ascend without repeats; sort and merge them first",
            trs_vector_word(A), (long long)i, A->idx[p], A->idx[p - 1], (long long)p,
            trs_vector_word(A));
  return trs_fail(TRS_ERROR_INTERNAL, -1, "the indices changed during the check");
}

trs_status trs_matrix_put_in_order(trs_matrix *A) {
  int64_t descents, at_starts;
  if (!scan_indices(A, &descents)) return trs_matrix_check_indices(A, TRS_NATIVE, A->idx);
  count_sides(A, &at_starts);
  if (descents == at_starts) return TRS_SUCCESS; /* no descent within a vector: in order */
  if (trs_matrix_is_deferred(A)) return name_disorder(A);
  TRS_TRY(put_in_order(A));
  A->nnz = A->ptr[A->nvectors];
  count_sides(A, &at_starts);
  return TRS_SUCCESS;
}
