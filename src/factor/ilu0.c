/* ilu0.c - incomplete LU without fill (Meijerink and van der Vorst 1977; row by row in the IKJ
 * order of Saad 2003, section 10.3): L U agrees with the matrix on its pattern.  L is unit; its
 * diagonal is not stored.  O(n + sum over entries (i, k) below the diagonal of the lesser of the
 * entries in row k of U and, times a logarithm, in row i). */
#include <math.h>
#include <string.h>

#include "base/cancel.h"
#include "factor/kinds.h"

/* The row of a failed elimination. */
typedef struct ilu0_failure {
  int64_t row;     /* -1: the call was cancelled */
  bool not_finite; /* else the pivot is zero */
} ilu0_failure;

/* The matrix's pattern, a copy of its values that becomes L and U, and the positions of the
 * diagonals. */
typedef struct ilu0_work {
  int64_t n;
  const int64_t *ptr;
  const int32_t *idx;
  void *val;
  int64_t *diagonal;
  int64_t *position; /* of the current row's entry in column j; stale if before the row */
} ilu0_work;

#define TRS_TEMPLATE "factor/ilu0_tmpl.c"
#include "base/instantiate.h"

static bool (*const eliminate_of[])(ilu0_work *, ilu0_failure *) = TRS_TABLE(eliminate);

static trs_status find_diagonals(ilu0_work *w, const trs_factor_input *input) {
  for (int64_t i = 0; i < w->n; i++) {
    int64_t p = w->ptr[i];
    while (p < w->ptr[i + 1] && w->idx[p] < i) p++;
    if (p == w->ptr[i + 1] || w->idx[p] != i) return trs_fail_no_diagonal(input, "ILU(0)", i);
    w->diagonal[i] = p;
  }
  return TRS_SUCCESS;
}

static trs_status eliminate(ilu0_work *w, const trs_factor_input *input) {
  ilu0_failure failure = {-1, false};
  if (eliminate_of[input->B->scalar](w, &failure)) return TRS_SUCCESS;
  if (failure.row < 0) return TRS_ERROR_CANCELLED;
  return trs_fail_pivot(input, "ILU(0)", failure.row, failure.not_finite, TRS_ILU0_ADVICE);
}

/* A matrix of the entries of each row strictly below the diagonal (lower), or from the diagonal
 * on. */
static trs_status extract(trs_matrix **T, const ilu0_work *w, trs_scalar scalar, bool lower) {
  int64_t *ptr = NULL, nnz = 0;
  int32_t *idx = NULL;
  char *val = NULL;
  size_t size = trs_scalar_size(scalar);
  for (int64_t i = 0; i < w->n; i++)
    nnz += lower ? w->diagonal[i] - w->ptr[i] : w->ptr[i + 1] - w->diagonal[i];
  trs_status status = TRS_ALLOC(&ptr, w->n + 1);
  if (!status) status = TRS_ALLOC(&idx, nnz);
  if (!status) status = trs_alloc((void **)&val, nnz, size);
  if (status) {
    trs_free(ptr);
    trs_free(idx);
    return status;
  }
  int64_t at = 0;
  for (int64_t i = 0; i < w->n; i++) {
    int64_t begin = lower ? w->ptr[i] : w->diagonal[i];
    int64_t count = (lower ? w->diagonal[i] : w->ptr[i + 1]) - begin;
    ptr[i] = at;
    memcpy(idx + at, w->idx + begin, (size_t)count * sizeof *idx);
    memcpy(val + (size_t)at * size, (char *)w->val + (size_t)begin * size, (size_t)count * size);
    at += count;
  }
  ptr[w->n] = at;
  return trs_matrix_adopt(T, TRS_CSR, scalar, w->n, w->n, ptr, idx, val);
}

static trs_status factor(trs_factors *parts, ilu0_work *w, const trs_factor_input *input) {
  const trs_matrix *B = input->B;
  TRS_TRY(TRS_ALLOC(&w->diagonal, w->n));
  TRS_TRY(TRS_ALLOC(&w->position, w->n));
  TRS_TRY(trs_alloc(&w->val, B->nnz, trs_scalar_size(B->scalar)));
  if (B->nnz) memcpy(w->val, B->val, (size_t)B->nnz * trs_scalar_size(B->scalar));
  TRS_TRY(find_diagonals(w, input));
  TRS_TRY(eliminate(w, input));
  TRS_TRY(extract(&parts->L, w, B->scalar, true));
  return extract(&parts->U, w, B->scalar, false);
}

trs_status trs_factor_ilu0(trs_factors *parts, const trs_factor_input *input) {
  ilu0_work work = {.n = input->B->nrows, .ptr = input->B->ptr, .idx = input->B->idx};
  parts->diag_L = TRS_UNIT;
  parts->diag_U = TRS_NONUNIT;
  trs_status status = factor(parts, &work, input);
  TRS_FREE_ALL(work.diagonal, work.position, work.val);
  return status;
}
