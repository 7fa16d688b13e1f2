/* lu_diagonal.c - complete LU whose pivots stay on the diagonal.  L and U have the patterns of
 * Cholesky's factor of A + A^T, which row subtrees of the elimination tree give (Davis, Algorithm
 * 849: a concise sparse Cholesky factorization package, ACM Trans. Math. Softw. 31, 2005); their
 * values are computed as those of a refactorisation are.  Threshold pivoting would choose the same
 * pivots unless an entry of L is above 1 / diagonal_threshold: the attempt then stops.  Cost: the
 * operations, and O(entries of L). */
#include <string.h>

#include "base/cancel.h"
#include "factor/lu.h"
#include "factor/refactor.h"

/* Above this share of entries without a mirror the patterns of A + A^T hold too much. */
static const double UNMIRRORED = 0.1;

typedef struct symbolic {
  const lu_work *w;
  int32_t *parent, *mark;
  int64_t *L_ptr, *U_ptr; /* n + 1 */
  int32_t *L_idx, *U_idx;
  int64_t *next; /* of each row, its next free place */
} symbolic;

/* Entries k < i of row i of L: the way from k0 up to i, or up to what has been seen.  Each is an
 * entry i of row k of U. */
static void climb(symbolic *s, int32_t k, int32_t i, bool fill) {
  for (; s->mark[k] != i; k = s->parent[k]) {
    s->mark[k] = i;
    if (fill) {
      s->U_idx[s->next[k]++] = i;
      continue;
    }
    if (s->parent[k] < 0) s->parent[k] = i;
    s->L_ptr[i + 1]++;
    s->U_ptr[k + 1]++;
  }
}

static trs_status walk_rows(symbolic *s, bool fill) {
  const lu_work *w = s->w;
  const trs_matrix *B = w->input->B;
  memset(s->mark, 0xff, (size_t)w->n * sizeof *s->mark);
  for (int32_t i = 0; i < w->n; i++) {
    if (i % TRS_FACTOR_CANCEL == 0) TRS_TRY(trs_cancelled());
    s->mark[i] = i;
    for (int64_t p = B->ptr[i]; p < B->ptr[i + 1] && B->idx[p] < i; p++)
      climb(s, B->idx[p], i, fill);
    for (int32_t p = w->ptr[i]; p < w->ptr[i + 1] && w->idx[p] < i; p++)
      climb(s, w->idx[p], i, fill);
  }
  return TRS_SUCCESS;
}

static trs_status find_patterns(symbolic *s) {
  const int64_t n = s->w->n;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&s->parent, n), TRS_ROOM(&s->mark, n), TRS_ROOM(&s->next, n),
                        TRS_ZEROS(&s->L_ptr, n + 1), TRS_ZEROS(&s->U_ptr, n + 1)));
  memset(s->parent, 0xff, (size_t)n * sizeof *s->parent);
  TRS_TRY(walk_rows(s, false));
  for (int64_t i = 0; i < n; i++) {
    s->L_ptr[i + 1] += s->L_ptr[i];
    s->U_ptr[i + 1] += s->U_ptr[i] + 1;
  }
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&s->L_idx, s->L_ptr[n]), TRS_ROOM(&s->U_idx, s->U_ptr[n])));
  for (int64_t i = 0; i < n; i++) {
    s->U_idx[s->U_ptr[i]] = (int32_t)i;
    s->next[i] = s->U_ptr[i] + 1;
  }
  TRS_TRY(walk_rows(s, true));
  memcpy(s->next, s->L_ptr, (size_t)n * sizeof *s->next);
  for (int64_t k = 0; k < n; k++)
    for (int64_t p = s->U_ptr[k] + 1; p < s->U_ptr[k + 1]; p++)
      s->L_idx[s->next[s->U_idx[p]]++] = (int32_t)k;
  return TRS_SUCCESS;
}

/* Takes ownership of the pattern. */
static trs_status make_side(trs_matrix **T, const lu_work *w, bool upper, int64_t **ptr,
                            int32_t **idx) {
  void *val;
  TRS_TRY(trs_alloc(&val, (*ptr)[w->n], w->size));
  const trs_status status = trs_lu_adopt(T, w, upper, *ptr, *idx, val);
  *ptr = NULL;
  *idx = NULL;
  return status;
}

/* As wide as SuperLU's (worker/programs/superlu.c): columns of L with one pattern. */
static trs_status find_supernodes(trs_factors *parts, const symbolic *s) {
  const int64_t n = s->w->n, *ptr = s->U_ptr;
  int64_t count = 0, *first;
  TRS_TRY(TRS_ALLOC(&first, n + 1));
  parts->supernode_ptr = first;
  for (int64_t j = 0; j < n; j++)
    if (!j || j - first[count - 1] == TRS_LU_WIDEST || s->parent[j - 1] != j ||
        ptr[j] - ptr[j - 1] != ptr[j + 1] - ptr[j] + 1)
      first[count++] = j;
  first[count] = n;
  parts->nsupernodes = count;
  return TRS_SUCCESS;
}

static trs_status make_parts(trs_factors *parts, lu_work *w) {
  symbolic s = {.w = w};
  trs_status status = find_patterns(&s);
  if (!status) status = find_supernodes(parts, &s);
  if (!status) status = make_side(&parts->L, w, false, &s.L_ptr, &s.L_idx);
  if (!status) status = make_side(&parts->U, w, true, &s.U_ptr, &s.U_idx);
  TRS_FREE_ALL(s.parent, s.mark, s.next, s.L_ptr, s.U_ptr, s.L_idx, s.U_idx);
  return status;
}

static void forget(trs_factors *parts) {
  trs_matrix_destroy(parts->L);
  trs_matrix_destroy(parts->U);
  trs_free(parts->supernode_ptr);
  parts->L = parts->U = NULL;
  parts->supernode_ptr = NULL;
  parts->nsupernodes = 0;
}

trs_status trs_lu_diagonal(trs_factors *parts, lu_work *w, bool *stopped) {
  const trs_factor_input *input = w->input;
  *stopped = true;
  if (input->fill == 0 || input->diagonal_threshold == 0 ||
      (double)input->unmirrored > UNMIRRORED * (double)input->B->nnz)
    return TRS_SUCCESS;
  TRS_TRY(trs_lu_make_columns(w, parts, false));
  TRS_TRY(make_parts(parts, w));
  TRS_TRY(trs_refactoring_first(parts, input->B, 1 / input->diagonal_threshold, stopped));
  if (*stopped) {
    forget(parts);
    return TRS_SUCCESS;
  }
  TRS_TRY(TRS_ALLOC(&w->perm_r, w->n));
  for (int64_t i = 0; i < w->n; i++) w->perm_r[i] = (int32_t)i;
  return TRS_SUCCESS;
}
