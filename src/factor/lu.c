/* lu.c - complete LU: scales the matrix, has it eliminated in this process (lu_columns.c) or by
 * SuperLU (lu_worker.c), and numbers the result as A.  Cost: the factorisation, plus O(entries of L
 * and U). */
#include "factor/lu.h"

#include <math.h>
#include <string.h>

#include "matrix/values.h"

static trs_status check_finite(const trs_factor_input *input) {
  const trs_matrix *B = input->B;
  const int64_t p = trs_values_not_finite(B->val, B->nnz, B->scalar);
  if (p == B->nnz) return TRS_SUCCESS;
  const int64_t row = trs_factor_row(input, trs_matrix_vector_of(B, p));
  return trs_fail(TRS_ERROR_NOT_FINITE, row,
                  "LU: row %lld (0-based) has an entry that is NaN or infinite", (long long)row);
}

/* Column pointers of 32 bits, shifted by one place for the entries that follow. */
static trs_status count_columns(lu_work *w) {
  const trs_matrix *B = w->input->B;
  if (B->nnz > INT32_MAX)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "LU: %lld entries are too many for its 32-bit integers; use ILU(0), or pass "
                    "factors from another library",
                    (long long)B->nnz);
  TRS_TRY(TRS_ALLOC_ZERO(&w->ptr, w->n + 2));
  for (int64_t p = 0; p < B->nnz; p++) w->ptr[B->idx[p] + 2]++;
  for (int64_t j = 0; j < w->n; j++) w->ptr[j + 2] += w->ptr[j + 1];
  return TRS_SUCCESS;
}

static void scale_any(lu_work *w, int64_t p, int64_t at, double row, double column) {
  const trs_matrix *B = w->input->B;
  const double complex value = trs_value_get(B->val, p, B->scalar);
  trs_value_set(
      w->val, at, B->scalar,
      CMPLX(trs_scaled(creal(value), row, column), trs_scaled(cimag(value), row, column)));
}

trs_status trs_lu_make_columns(lu_work *w, const trs_factors *parts, bool values) {
  const trs_matrix *B = w->input->B;
  const double *row_scale = parts->row_scale, *col_scale = parts->col_scale, *from = B->val;
  const bool real = B->scalar == TRS_DOUBLE;
  trs_lu_free_columns(w);
  TRS_TRY(count_columns(w));
  TRS_TRY(TRS_ALLOC(&w->idx, B->nnz));
  if (values) TRS_TRY(trs_alloc(&w->val, B->nnz, w->size));
  for (int64_t i = 0; i < w->n; i++) {
    const double row = row_scale ? row_scale[i] : 1;
    for (int64_t p = B->ptr[i]; p < B->ptr[i + 1]; p++) {
      const int32_t j = B->idx[p], at = w->ptr[j + 1]++;
      const double column = col_scale ? col_scale[j] : 1;
      w->idx[at] = (int32_t)i;
      if (values && real)
        ((double *)w->val)[at] = trs_scaled(from[p], row, column);
      else if (values)
        scale_any(w, p, at, row, column);
    }
  }
  return TRS_SUCCESS;
}

void trs_lu_free_columns(lu_work *w) {
  TRS_FREE_ALL(w->ptr, w->idx, w->val);
  w->ptr = w->idx = NULL;
  w->val = NULL;
}

trs_status trs_lu_adopt(trs_matrix **T, const lu_work *w, bool upper, int64_t *ptr, int32_t *idx,
                        void *val) {
  trs_sides s = TRS_NO_SIDES;
  *(upper ? &s.after : &s.before) = ptr[w->n] - (upper ? w->n : 0);
  s.diagonal = upper ? w->n : 0;
  if (!upper) s.missing = 0;
  for (int64_t i = w->n - 1; i >= 0; i--) {
    const int64_t count = ptr[i + 1] - ptr[i];
    if (count > s.longest) s.longest = count;
    if (count > upper) *(upper ? &s.first_after : &s.first_before) = i;
  }
  return trs_matrix_adopt_ordered(T, TRS_CSR, w->input->B->scalar, w->n, ptr, idx, val, &s);
}

trs_status trs_lu_singular(const lu_work *w, int64_t column) {
  if (column < 0 || column >= w->n)
    return trs_fail(TRS_ERROR_INTERNAL, -1, "LU: there is no column %lld (0-based)",
                    (long long)column);
  int64_t row = trs_factor_row(w->input, column);
  return trs_fail(TRS_ERROR_ZERO_PIVOT, row,
                  "LU: every pivot left in column %lld (0-based) is zero: the matrix is singular",
                  (long long)row);
}

/* ---- Conversion of the result. ---- */

/* Pivot k is row row_perm[k] of A. */
static trs_status set_row_perm(trs_factors *parts, const lu_work *w, bool *diagonal) {
  int32_t *row_perm;
  TRS_TRY(TRS_ALLOC(&row_perm, w->n));
  *diagonal = true;
  for (int64_t i = 0; i < w->n; i++) {
    *diagonal &= w->perm_r[i] == i;
    row_perm[w->perm_r[i]] = (int32_t)trs_factor_row(w->input, i);
  }
  trs_free(parts->row_perm);
  parts->row_perm = row_perm;
  if (!*diagonal || w->input->perm) return TRS_SUCCESS;
  trs_free(row_perm);
  parts->row_perm = NULL;
  return TRS_SUCCESS;
}

static trs_status finish(trs_factors *parts, const lu_work *w) {
  bool diagonal;
  TRS_TRY(set_row_perm(parts, w, &diagonal));
  return diagonal ? TRS_SUCCESS : trs_collapse_tree(parts);
}

/* Converts scale factors to A's numbering. */
static trs_status renumber_scale(double **scale, const trs_factor_input *input) {
  double *moved;
  if (!*scale || !input->perm) return TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC(&moved, input->B->nrows));
  for (int64_t i = 0; i < input->B->nrows; i++) moved[input->perm[i]] = (*scale)[i];
  trs_free(*scale);
  *scale = moved;
  return TRS_SUCCESS;
}

/* A matching's scales make its entries the largest, so that pivots stay on them. */
static trs_status find_scales(trs_factors *parts, const trs_factor_input *input) {
  const trs_matching *m = input->matching;
  if (!m) return trs_equilibrate(&parts->row_scale, &parts->col_scale, input);
  for (int side = 0; side < 2; side++) {
    const double *from = side ? m->col_scale : m->row_scale;
    double **to = side ? &parts->col_scale : &parts->row_scale;
    if (from) TRS_TRY(TRS_ALLOC(to, input->B->nrows));
    for (int64_t i = 0; from && i < input->B->nrows; i++) (*to)[i] = from[trs_factor_row(input, i)];
  }
  return TRS_SUCCESS;
}

/* SuperLU takes some milliseconds to start, and gains by its blocks what these cost only where
 * entries have many operations each, a multiplication and a subtraction. */
bool trs_lu_by_superlu;

double trs_lu_light(int64_t fill) {
  static const double FEW = 4e6, FEW_PER_ENTRY = 60;
  return trs_lu_by_superlu ? -1 : fmax(FEW, FEW_PER_ENTRY * 2 * (double)fill);
}

/* Rows with pivots on the diagonal have no search, and are taken by four. */
static double most_on_diagonal(int64_t fill) {
  static const double FEW_PER_ENTRY = 2000;
  return trs_lu_by_superlu ? -1 : FEW_PER_ENTRY * (double)fill;
}

/* The prediction, of A + A^T, over what may be needed: up to so much an attempt with a limit, which
 * takes no longer than SuperLU would, is worth it. */
static double unsure(const trs_factor_input *input) {
  static const double SHARE = 0.1, MORE = 8;
  return (double)input->unmirrored > SHARE * (double)input->B->nnz ? MORE : 1;
}

static trs_status eliminate(trs_factors *parts, lu_work *w) {
  const trs_factor_input *input = w->input;
  lu_limits limits = {INFINITY, trs_lu_light(input->fill)};
  bool stopped = true;
  if (!input->block_end && input->operations <= most_on_diagonal(input->fill))
    TRS_TRY(trs_lu_diagonal(parts, w, &stopped));
  parts->is_checked = true;
  if (!stopped) return TRS_SUCCESS;
  TRS_TRY(trs_lu_make_columns(w, parts, true));
  if (input->stopped) {
    limits = (lu_limits){input->most_entries, input->most_operations};
    return trs_lu_columns(parts, w, limits, input->stopped);
  }
  if (input->operations / 2 <= unsure(input) * limits.operations)
    TRS_TRY(trs_lu_columns(parts, w, limits, &stopped));
  parts->is_checked = !stopped;
  return stopped ? trs_lu_worker(parts, w) : TRS_SUCCESS;
}

static trs_status run(trs_factors *parts, lu_work *w) {
  const trs_factor_input *input = w->input;
  if (!input->matching) TRS_TRY(check_finite(input)); /* one of finite values alone */
  if (input->equilibrate) TRS_TRY(find_scales(parts, input));
  TRS_TRY(eliminate(parts, w));
  TRS_TRY(renumber_scale(&parts->row_scale, input));
  TRS_TRY(renumber_scale(&parts->col_scale, input));
  return input->stopped && *input->stopped ? TRS_SUCCESS : finish(parts, w);
}

trs_status trs_factor_lu(trs_factors *parts, const trs_factor_input *input) {
  lu_work work = {.input = input, .n = input->B->nrows, .size = trs_scalar_size(input->B->scalar)};
  parts->diag_L = TRS_UNIT;
  parts->diag_U = TRS_NONUNIT;
  if (work.n == 0) {
    TRS_TRY(trs_matrix_triangle(&parts->L, input->B, TRS_LOWER, 0));
    return trs_matrix_triangle(&parts->U, input->B, TRS_UPPER, 0);
  }
  trs_status status = run(parts, &work);
  trs_lu_free_columns(&work);
  trs_free(work.perm_r);
  return status;
}
