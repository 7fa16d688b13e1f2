/* diagonal.c - adds diagonal entries that are missing or zero, as L17 and X20 do for their test
 * systems. O(n + nnz). */
#include <math.h>

#include "factor/kinds.h"
#include "matrix/values.h"

typedef struct filled {
  const trs_matrix *A;
  int64_t *ptr;
  int32_t *idx;
  void *val;
} filled;

static double dominant(const trs_matrix *A, int64_t i) {
  double sum = 0;
  for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) sum += trs_value_abs(A->val, p, A->scalar);
  return fmax(1, sum);
}

static void copy_row(filled *f, int64_t i) {
  const trs_matrix *A = f->A;
  int64_t at = f->ptr[i], end = A->ptr[i + 1];
  bool done = false;
  for (int64_t p = A->ptr[i]; p <= end; p++) {
    bool past = p == end || A->idx[p] > i;
    if (past && !done) {
      f->idx[at] = (int32_t)i;
      trs_value_set(f->val, at++, A->scalar, dominant(A, i));
      done = true;
    }
    if (p == end) break;
    double complex value = trs_value_get(A->val, p, A->scalar);
    if (A->idx[p] == i) {
      done = true;
      if (value == 0) value = dominant(A, i);
    }
    f->idx[at] = A->idx[p];
    trs_value_set(f->val, at++, A->scalar, value);
  }
}

trs_status trs_add_diagonal(trs_matrix **result, const trs_matrix *A) {
  filled f = {.A = A};
  int64_t n = A->nrows;
  *result = NULL;
  trs_status status = TRS_ALLOC(&f.ptr, n + 1);
  if (!status) {
    f.ptr[0] = 0;
    for (int64_t i = 0; i < n; i++)
      f.ptr[i + 1] = f.ptr[i] + A->ptr[i + 1] - A->ptr[i] + (trs_factor_diagonal(A, i) < 0);
    status = TRS_ALLOC(&f.idx, f.ptr[n]);
  }
  if (!status) status = trs_alloc(&f.val, f.ptr[n], trs_scalar_size(A->scalar));
  if (status) {
    TRS_FREE_ALL(f.ptr, f.idx);
    return status;
  }
  for (int64_t i = 0; i < n; i++) copy_row(&f, i);
  return trs_matrix_adopt(result, TRS_CSR, A->scalar, n, n, f.ptr, f.idx, f.val);
}

trs_status trs_fail_no_diagonal(const trs_factors *parts, const trs_factor_input *input) {
  int64_t row = trs_factor_row(input, input->B->missing_diagonal);
  return trs_fail(TRS_ERROR_STRUCTURE, row,
                  "%s: row %lld (0-based) has no diagonal entry: set add_diagonal, which adds them",
                  trs_factor_name(parts->kind, 0), (long long)row);
}

trs_status trs_fail_pivot(const trs_factor_input *input, const char *kind, int64_t i,
                          bool not_finite, const char *zero) {
  int64_t row = trs_factor_row(input, i);
  return trs_fail(not_finite ? TRS_ERROR_NOT_FINITE : TRS_ERROR_ZERO_PIVOT, row,
                  "%s: the pivot of row %lld (0-based) is %s", kind, (long long)row,
                  not_finite ? "NaN or infinite" : zero);
}
