/* expand.c - converts entries to a matrix: entries by row or column directly; index pairs, and
 * triangles of a symmetric matrix, by a counting sort.  O(n + entries). */
#include "io/expand.h"

#include <math.h>
#include <string.h>

#include "matrix/matrix.h"
#include "matrix/values.h"

#define TRS_TEMPLATE "io/expand_tmpl.c"
#include "base/instantiate.h"

static void (*const scatter[])(const trs_entries *, int64_t *, int32_t *,
                               void *) = TRS_TABLE(scatter);

void trs_entries_release(trs_entries *e) {
  TRS_FREE_ALL(e->ptr, e->major, e->minor, e->val);
  e->ptr = NULL;
  e->major = e->minor = NULL;
  e->val = NULL;
}

static bool by_columns(const trs_entries *e) {
  return e->kind == TRS_COLUMNS || e->kind == TRS_SWAPPED_PAIRS;
}

trs_status trs_entries_check_pointers(const trs_entries *e) {
  int64_t n = by_columns(e) ? e->ncols : e->nrows;
  if (!e->ptr) return TRS_SUCCESS;
  if (e->ptr[0] != 0 || e->ptr[n] != e->count)
    return trs_fail(TRS_ERROR_STRUCTURE, -1,
                    "pointers_to_1 runs from %lld to %lld, not from 0 to %lld",
                    (long long)e->ptr[0], (long long)e->ptr[n], (long long)e->count);
  for (int64_t k = 0; k < n; k++)
    if (e->ptr[k + 1] < e->ptr[k])
      return trs_fail(TRS_ERROR_STRUCTURE, -1,
                      "pointers_to_1[%lld] = %lld is less than the one before it", (long long)k + 1,
                      (long long)e->ptr[k + 1]);
  return TRS_SUCCESS;
}

static trs_status check_indices(const int32_t *indices, int64_t count, int64_t limit,
                                const char *name) {
  bool outside = false;
  for (int64_t k = 0; indices && k < count; k++) outside |= (uint32_t)indices[k] >= (uint64_t)limit;
  for (int64_t k = 0; outside && k < count; k++)
    if ((uint32_t)indices[k] >= (uint64_t)limit)
      return trs_fail(TRS_ERROR_STRUCTURE, -1, "%s[%lld] = %d is outside 0 .. %lld", name,
                      (long long)k, indices[k], (long long)limit - 1);
  return TRS_SUCCESS;
}

static trs_status check_entries(const trs_entries *e) {
  TRS_TRY(trs_entries_check_pointers(e));
  int64_t majors = by_columns(e) ? e->ncols : e->nrows;
  int64_t minors = by_columns(e) ? e->nrows : e->ncols;
  TRS_TRY(check_indices(e->major, e->count, majors, "indices_0"));
  return check_indices(e->minor, e->count, minors, "indices_1");
}

/* Converts pointers to one index per entry; then makes the major indices rows. */
static trs_status make_pairs(trs_entries *e) {
  if (e->ptr) {
    TRS_TRY(TRS_ALLOC(&e->major, e->count));
    for (int64_t i = 0, k = 0; k < e->count; i++)
      for (; k < e->ptr[i + 1]; k++) e->major[k] = (int32_t)i;
  }
  if (by_columns(e)) {
    int32_t *columns = e->major;
    e->major = e->minor;
    e->minor = columns;
  }
  return TRS_SUCCESS;
}

/* As in a text file, the diagonal is zero (skew-symmetric) or real (Hermitian). */
static trs_status check_diagonal(const trs_entries *e) {
  bool skew = e->symmetry == TRS_SKEW_SYMMETRIC;
  if (!skew && e->symmetry != TRS_HERMITIAN) return TRS_SUCCESS;
  for (int64_t k = 0; k < e->count; k++) {
    if (e->major[k] != e->minor[k]) continue;
    double complex value = trs_value_get(e->val, k, e->scalar);
    if (skew ? value != 0 : cimag(value) != 0 && !isnan(cimag(value)))
      return trs_fail(TRS_ERROR_STRUCTURE, e->major[k],
                      "entry (%d, %d) (0-based) on the diagonal of a %s matrix is not %s",
                      e->major[k], e->minor[k], skew ? "skew-symmetric" : "hermitian",
                      skew ? "zero" : "real");
  }
  return TRS_SUCCESS;
}

static trs_status check_triangle(const trs_entries *e) {
  if (e->symmetry == TRS_UNSYMMETRIC) return TRS_SUCCESS;
  TRS_TRY(check_diagonal(e));
  for (int64_t k = 0; k < e->count; k++)
    if (e->upper ? e->major[k] > e->minor[k] : e->major[k] < e->minor[k])
      return trs_fail(
          TRS_ERROR_STRUCTURE, e->major[k],
          "entry (%d, %d) (0-based) of a symmetric structure lies outside its %s triangle",
          e->major[k], e->minor[k], e->upper ? "upper" : "lower");
  return TRS_SUCCESS;
}

/* ptr[i + 1] is the start of row i; scattering advances it to the start of the next row. */
static trs_status count_rows(const trs_entries *e, int64_t **ptr) {
  TRS_TRY(TRS_ALLOC_ZERO(ptr, e->nrows + 2));
  for (int64_t k = 0; k < e->count; k++) {
    (*ptr)[e->major[k] + 2]++;
    if (e->symmetry != TRS_UNSYMMETRIC && e->major[k] != e->minor[k]) (*ptr)[e->minor[k] + 2]++;
  }
  for (int64_t i = 1; i <= e->nrows; i++) (*ptr)[i + 1] += (*ptr)[i];
  return TRS_SUCCESS;
}

/* Takes ownership of the arrays.  Files of this kind contain each entry once. */
static trs_status adopt(trs_matrix **A, trs_format format, trs_scalar scalar, int64_t nrows,
                        int64_t ncols, int64_t *ptr, int32_t *idx, void *val) {
  int64_t entries = ptr[format == TRS_CSR ? nrows : ncols];
  TRS_TRY(trs_matrix_adopt(A, format, scalar, nrows, ncols, ptr, idx, val));
  int64_t repeated = entries - (*A)->nnz;
  if (!repeated) return TRS_SUCCESS;
  trs_matrix_destroy(*A);
  *A = NULL;
  return trs_fail(TRS_ERROR_STRUCTURE, -1,
                  "%lld of %lld entries repeat others: each position may be given once",
                  (long long)repeated, (long long)entries);
}

static trs_status expand(trs_matrix **A, trs_entries *e) {
  int64_t *ptr = NULL;
  int32_t *idx = NULL;
  void *val = NULL;
  TRS_TRY(make_pairs(e));
  TRS_TRY(check_triangle(e));
  trs_status status = count_rows(e, &ptr);
  if (!status) status = TRS_ALLOC(&idx, ptr[e->nrows + 1]);
  if (!status) status = trs_alloc(&val, ptr[e->nrows + 1], trs_scalar_size(e->scalar));
  if (!status) scatter[e->scalar](e, ptr + 1, idx, val);
  if (!status) return adopt(A, TRS_CSR, e->scalar, e->nrows, e->ncols, ptr, idx, val);
  TRS_FREE_ALL(ptr, idx, val);
  return status;
}

trs_status trs_entries_adopt(trs_matrix **A, trs_entries *e) {
  trs_status status = check_entries(e);
  if (status || !e->ptr || e->symmetry != TRS_UNSYMMETRIC) {
    if (!status) status = expand(A, e);
    trs_entries_release(e);
    return status;
  }
  trs_format format = e->kind == TRS_ROWS ? TRS_CSR : TRS_CSC;
  return adopt(A, format, e->scalar, e->nrows, e->ncols, e->ptr, e->minor, e->val);
}
