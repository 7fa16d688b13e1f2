/* fill.c - the patterns of ILU(k) and IC(k).  An entry of A has level 0, and entry (i, j) that
 * elimination fills the least level of (i, k) and (k, j) together, plus one, over k < i, j; those
 * above `levels` are dropped (Saad 2003, section 10.3.3).  Equivalently a path of at most
 * levels + 1 entries leads from i to j over rows before both (Hysom and Pothen 2002): breadth-first
 * searches find the rows of U, and in the transposed pattern, unless A's is symmetric, the columns
 * of L.  O(n + nnz + sum over rows of the entries of the rows that each search reaches). */
#include <string.h>

#include "base/cancel.h"
#include "factor/kinds.h"

typedef struct rows {
  int64_t *ptr; /* n + 1 */
  int32_t *idx;
} rows;

typedef struct search {
  int64_t n;
  int levels;
  const int64_t *ptr; /* the pattern that is searched */
  const int32_t *idx;
  int64_t *above; /* n: of a row before the present one, i, its first entry behind column i */
  int32_t *seen, *queue; /* n: the last row whose search came there; rows before i, by distance */
  rows found;            /* columns behind the diagonal, in any order */
  int64_t used, room;    /* of found.idx */
} search;

static trs_status reserve(search *s, int64_t more) {
  if (s->room - s->used >= more) return TRS_SUCCESS;
  s->room = 2 * s->room > s->used + more ? 2 * s->room : s->used + more;
  return trs_realloc((void **)&s->found.idx, s->room, sizeof *s->found.idx);
}

/* The last step of paths from row i over row h: columns behind i alone count. */
static void end_paths(search *s, int32_t i, int32_t h) {
  const int32_t *restrict idx = s->idx;
  int32_t *restrict seen = s->seen, *restrict to = s->found.idx;
  const int64_t end = s->ptr[h + 1];
  int64_t p = s->above[h], used = s->used;
  while (p < end && idx[p] <= i) p++;
  s->above[h] = p;
  for (; p < end; p++) {
    const int32_t j = idx[p];
    to[used] = j;
    used += seen[j] != i;
    seen[j] = i;
  }
  s->used = used;
}

/* An earlier step.  Returns the length of the queue. */
static int64_t extend_paths(search *s, int32_t i, int32_t h, int64_t last) {
  for (int64_t p = s->ptr[h]; p < s->ptr[h + 1]; p++) {
    const int32_t j = s->idx[p];
    if (s->seen[j] == i) continue;
    s->seen[j] = i;
    if (j < i)
      s->queue[last++] = j;
    else
      s->found.idx[s->used++] = j;
  }
  return last;
}

static trs_status search_row(search *s, int32_t i) {
  int64_t first = 0, last = 1;
  s->queue[0] = s->seen[i] = i;
  for (int step = 0; step <= s->levels && first < last; step++)
    for (const int64_t end = last; first < end; first++) {
      const int32_t h = s->queue[first];
      TRS_TRY(reserve(s, s->ptr[h + 1] - s->ptr[h]));
      if (step == s->levels)
        end_paths(s, i, h);
      else
        last = extend_paths(s, i, h, last);
    }
  s->found.ptr[i + 1] = s->used;
  return TRS_SUCCESS;
}

static trs_status search_rows(search *s) {
  const int64_t n = s->n;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&s->found.ptr, n + 1), TRS_ROOM(&s->above, n),
                        TRS_ROOM(&s->seen, n), TRS_ROOM(&s->queue, n)));
  TRS_TRY(reserve(s, s->ptr[n]));
  if (n) memcpy(s->above, s->ptr, (size_t)n * sizeof *s->above);
  for (int64_t i = 0; i < n; i++) s->seen[i] = -1;
  s->found.ptr[0] = 0;
  for (int64_t i = 0; i < n; i++) {
    if (i % TRS_FACTOR_CANCEL == 0 && trs_cancelled()) return TRS_ERROR_CANCELLED;
    TRS_TRY(search_row(s, (int32_t)i));
  }
  return TRS_SUCCESS;
}

/* The columns of the pattern as rows, ascending, of a triangle with or without its diagonal.  T
 * keeps what it has, also after a failure. */
static trs_status transpose(rows *T, int64_t n, const int64_t *ptr, const int32_t *idx,
                            bool diagonal) {
  TRS_TRY(TRS_ALLOC_ZERO(&T->ptr, n + 2));
  int64_t *next = T->ptr + 1; /* becomes ptr, moved on by one row */
  for (int64_t i = 0; i < n; i++)
    for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) next[idx[p] + 1] += idx[p] != i;
  for (int64_t i = 0; i < n; i++) next[i + 1] += next[i] + diagonal;
  TRS_TRY(TRS_ALLOC(&T->idx, next[n]));
  for (int64_t i = 0; i < n; i++) {
    if (diagonal) T->idx[next[i]++] = (int32_t)i;
    for (int64_t p = ptr[i]; p < ptr[i + 1]; p++)
      if (idx[p] != i) T->idx[next[idx[p]]++] = (int32_t)i;
  }
  return TRS_SUCCESS;
}

/* next: n. */
static bool is_symmetric(const trs_matrix *A, int64_t *next) {
  memcpy(next, A->ptr, (size_t)A->nrows * sizeof *next);
  for (int64_t i = 0; i < A->nrows; i++) {
    int64_t p = next[i];
    if (p < A->ptr[i + 1] && A->idx[p] < i) return false; /* it has no mirror */
    p += p < A->ptr[i + 1] && A->idx[p] == i;
    for (; p < A->ptr[i + 1]; p++) {
      const int64_t q = next[A->idx[p]]++;
      if (q == A->ptr[A->idx[p] + 1] || A->idx[q] != i) return false;
    }
  }
  return true;
}

/* Both triangles have the same pattern, as those that IC is given do. */
static trs_status find_symmetry(bool *symmetric, const trs_factors *parts, const trs_matrix *A) {
  int64_t *next;
  *symmetric = parts->kind == TRS_FACTOR_IC0;
  if (*symmetric || A->nlower != A->nupper) return TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC(&next, A->nrows));
  *symmetric = A->nrows == 0 || is_symmetric(A, next);
  trs_free(next);
  return TRS_SUCCESS;
}

/* The triangle behind the diagonal, in the pattern, as columns by rows: its transpose. */
static trs_status find_transposed(rows *T, const trs_factors *parts, int64_t n, const int64_t *ptr,
                                  const int32_t *idx, bool diagonal) {
  search s = {.n = n, .levels = parts->levels, .ptr = ptr, .idx = idx};
  trs_status status = search_rows(&s);
  if (!status) status = transpose(T, n, s.found.ptr, s.found.idx, diagonal);
  TRS_FREE_ALL(s.found.ptr, s.found.idx, s.above, s.seen, s.queue);
  return status;
}

/* L by rows; U, whose columns the search in A finds, from its transpose, which is L where A's
 * pattern is symmetric. */
static trs_status find_both(rows *L, rows *U, const trs_factors *parts, const trs_matrix *A) {
  const bool diagonal = parts->diag_L == TRS_NONUNIT;
  rows other = {0};
  bool symmetric;
  TRS_TRY(find_symmetry(&symmetric, parts, A));
  trs_status status = TRS_SUCCESS;
  if (!symmetric) status = transpose(&other, A->nrows, A->ptr, A->idx, false);
  if (!status)
    status = find_transposed(L, parts, A->nrows, symmetric ? A->ptr : other.ptr,
                             symmetric ? A->idx : other.idx, diagonal);
  TRS_FREE_ALL(other.ptr, other.idx);
  other = (rows){0};
  if (!status && !symmetric)
    status = find_transposed(&other, parts, A->nrows, A->ptr, A->idx, false);
  if (!status)
    status = transpose(U, A->nrows, symmetric ? L->ptr : other.ptr, symmetric ? L->idx : other.idx,
                       true);
  TRS_FREE_ALL(other.ptr, other.idx);
  return status;
}

trs_status trs_factor_fill(trs_factors *parts, const trs_matrix *A) {
  rows L = {0}, U = {0};
  const trs_status status = find_both(&L, &U, parts, A);
  if (!status)
    return trs_factor_take_patterns(parts, A, (int64_t *[]){L.ptr, U.ptr},
                                    (int32_t *[]){L.idx, U.idx});
  TRS_FREE_ALL(L.ptr, L.idx, U.ptr, U.idx);
  return status;
}
