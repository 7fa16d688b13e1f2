/* triangle.c - the lower or upper triangle of a general matrix, on request with a dense diagonal.
 * O(n + nnz). */
#include <math.h>

#include "matrix/device.h"
#include "matrix/values.h"

/* Entries of vector i that are kept: [*begin, *end); *diagonal is the position of the diagonal
 * entry, if present. */
static void kept_range(const trs_matrix *A, bool prefix, int64_t i, int64_t *begin, int64_t *end,
                       int64_t *diagonal) {
  int64_t at = A->ptr[i];
  while (at < A->ptr[i + 1] && A->idx[at] < i) at++;
  bool has = at < A->ptr[i + 1] && A->idx[at] == i;
  *diagonal = has ? at : -1;
  *begin = prefix ? A->ptr[i] : at;
  *end = prefix ? at + has : A->ptr[i + 1];
}

typedef struct cut {
  const trs_matrix *A;
  bool prefix, add_diagonal;
  double *sums; /* of the absolute values kept in each row, if diagonal entries are added */
  int64_t *ptr;
  int32_t *idx;
  void *val;
} cut;

static bool makes_diagonals(const cut *c) {
  const trs_matrix *A = c->A;
  for (int64_t i = 0; c->add_diagonal && i < A->nvectors; i++) {
    int64_t begin, end, diagonal;
    kept_range(A, c->prefix, i, &begin, &end, &diagonal);
    if (diagonal < 0 || trs_value_abs(A->val, diagonal, A->scalar) == 0) return true;
  }
  return false;
}

static trs_status sum_rows(cut *c) {
  const trs_matrix *A = c->A;
  TRS_TRY(TRS_ALLOC_ZERO(&c->sums, A->nrows));
  for (int64_t i = 0; i < A->nvectors; i++) {
    int64_t begin, end, diagonal;
    kept_range(A, c->prefix, i, &begin, &end, &diagonal);
    for (int64_t p = begin; p < end; p++)
      c->sums[A->format == TRS_CSR ? i : A->idx[p]] += trs_value_abs(A->val, p, A->scalar);
  }
  return TRS_SUCCESS;
}

static double dominant(const cut *c, int64_t i) { return fmax(1, c->sums[i]); }

static void put(cut *c, int64_t at, int32_t index, double complex value) {
  c->idx[at] = index;
  trs_value_set(c->val, at, c->A->scalar, value);
}

static void fill(cut *c) {
  const trs_matrix *A = c->A;
  for (int64_t i = 0; i < A->nvectors; i++) {
    int64_t begin, end, diagonal, at = c->ptr[i];
    kept_range(A, c->prefix, i, &begin, &end, &diagonal);
    bool absent = c->add_diagonal && diagonal < 0;
    if (absent && !c->prefix) put(c, at++, (int32_t)i, dominant(c, i));
    for (int64_t p = begin; p < end; p++) {
      double complex value = trs_value_get(A->val, p, A->scalar);
      if (p == diagonal && c->add_diagonal && value == 0) value = dominant(c, i);
      put(c, at++, A->idx[p], value);
    }
    if (absent && c->prefix) put(c, at, (int32_t)i, dominant(c, i));
  }
}

/* ---- A triangle that follows the values of its matrix. ---- */

static trs_status count_kept(const trs_matrix *A, bool prefix, int64_t **ptr) {
  TRS_TRY(TRS_ALLOC(ptr, A->nvectors + 1));
  (*ptr)[0] = 0;
  for (int64_t i = 0; i < A->nvectors; i++) {
    int64_t begin, end, diagonal;
    kept_range(A, prefix, i, &begin, &end, &diagonal);
    (*ptr)[i + 1] = (*ptr)[i] + end - begin;
  }
  return TRS_SUCCESS;
}

static void copy_kept(const trs_matrix *A, bool prefix, const int64_t *ptr, int32_t *idx,
                      int64_t *source) {
  for (int64_t i = 0; i < A->nvectors; i++) {
    int64_t begin, end, diagonal;
    kept_range(A, prefix, i, &begin, &end, &diagonal);
    for (int64_t p = begin; p < end; p++) {
      idx[ptr[i] + p - begin] = A->idx[p];
      source[ptr[i] + p - begin] = p;
    }
  }
}

static trs_status cut_on_host(trs_matrix **T, const trs_matrix *A, bool prefix) {
  int64_t *ptr = NULL, *source = NULL;
  int32_t *idx = NULL;
  void *val = NULL;
  trs_matrix_renew(A);
  trs_status status = count_kept(A, prefix, &ptr);
  int64_t nnz = status ? 0 : ptr[A->nvectors];
  if (!status) status = TRS_ALLOC(&idx, nnz);
  if (!status) status = TRS_ALLOC(&source, nnz);
  if (!status) status = trs_alloc(&val, nnz, trs_scalar_size(A->scalar));
  if (status) {
    TRS_FREE_ALL(ptr, idx, source);
    return status;
  }
  copy_kept(A, prefix, ptr, idx, source);
  trs_values_gather(val, A->val, source, nnz, A->scalar);
  status = trs_matrix_adopt(T, A->format, A->scalar, A->nrows, A->ncols, ptr, idx, val);
  if (status) {
    trs_free(source);
    return status;
  }
  (*T)->source = source;
  (*T)->parent = trs_matrix_retain(A);
  return TRS_SUCCESS;
}

trs_status trs_matrix_cut(trs_matrix **T, const trs_matrix *A, trs_uplo uplo) {
  *T = NULL;
  if (A->nrows != A->ncols)
    return trs_fail(TRS_ERROR_STRUCTURE, -1, "the matrix is %lld x %lld, not square",
                    (long long)A->nrows, (long long)A->ncols);
  if (A->on_device) return trs_matrix_cut_on_device(T, A, uplo);
  TRS_TRY(trs_matrix_need_host(A, "cutting a triangle"));
  return cut_on_host(T, A, (uplo == TRS_LOWER) == (A->format == TRS_CSR));
}

/* ---- An independent triangle, with a diagonal on request. ---- */

trs_status trs_matrix_triangle(trs_matrix **T, const trs_matrix *A, trs_uplo uplo,
                               int add_diagonal) {
  if (T) *T = NULL;
  if (!T || !A) return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", A ? "T" : "A");
  if (uplo != TRS_LOWER && uplo != TRS_UPPER)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "uplo must be TRS_LOWER or TRS_UPPER");
  if (add_diagonal != 0 && add_diagonal != 1)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "add_diagonal is %d: it must be 0 or 1", add_diagonal);
  TRS_TRY(trs_matrix_need_host(A, "trs_matrix_triangle"));
  if (A->nrows != A->ncols)
    return trs_fail(TRS_ERROR_STRUCTURE, -1, "the matrix is %lld x %lld, not square",
                    (long long)A->nrows, (long long)A->ncols);
  cut c = {.A = A,
           .prefix = (uplo == TRS_LOWER) == (A->format == TRS_CSR),
           .add_diagonal = add_diagonal};
  TRS_TRY(TRS_ALLOC(&c.ptr, A->nvectors + 1));
  c.ptr[0] = 0;
  for (int64_t i = 0; i < A->nvectors; i++) {
    int64_t begin, end, diagonal;
    kept_range(A, c.prefix, i, &begin, &end, &diagonal);
    c.ptr[i + 1] = c.ptr[i] + end - begin + (add_diagonal && diagonal < 0);
  }
  trs_status status = TRS_ALLOC(&c.idx, c.ptr[A->nvectors]);
  if (!status) status = trs_alloc(&c.val, c.ptr[A->nvectors], trs_scalar_size(A->scalar));
  if (!status && makes_diagonals(&c)) status = sum_rows(&c);
  if (!status) fill(&c);
  trs_free(c.sums);
  if (status) {
    TRS_FREE_ALL(c.ptr, c.idx, c.val);
    return status;
  }
  return trs_matrix_adopt(T, A->format, A->scalar, A->nrows, A->ncols, c.ptr, c.idx, c.val);
}
