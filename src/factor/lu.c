/* lu.c - complete LU by SuperLU 5 (Demmel, Eisenstat, Gilbert, Li, Liu 1999): left-looking,
 * supernodal, threshold pivoting that stays on the diagonal where it can ("symmetric mode"), the
 * columns in the order they come in.  Cost: that of the factorisation, plus O(entries of L and U).
 *
 * - Supernodes are not relaxed: then every entry of L and U is one that elimination fills in, the
 *   pattern does not depend on the values as long as the pivots stay, and U's solves do no work on
 *   padding.
 * - SuperLU reads and writes past the end of a column that has no row left to pivot on.  A diagonal
 *   entry in every column, zero if need be, makes sure there always is one: a row that an earlier
 *   column took as its pivot passed its pattern on to the row it displaced.
 * - When malloc fails SuperLU writes to stderr, and for small blocks exits; OpenBLAS tries for
 *   ever.  So first the library makes sure that there is room for what they will take. */
#include "base/config.h"

#if TRS_HAVE_SUPERLU
#include <slu_cdefs.h> /* before complex.h, for SuperLU has a type named complex */
#include <slu_ddefs.h>
#include <slu_sdefs.h>
#include <slu_zdefs.h>
#endif

#include "factor/kinds.h"

#if TRS_HAVE_SUPERLU

#include <math.h>
#include <string.h>

#include "matrix/values.h"

enum { RELAX_COLUMNS = 1, TUNED_PANEL = 1, TUNED_FILL = 6 }; /* the latter by sp_ienv's numbers */

static const int64_t BLAS_BUFFERS = 256 << 20;

typedef struct lu_work {
  const trs_factor_input *input;
  int64_t n;
  size_t size;    /* of a value */
  int *ptr, *idx; /* the matrix by columns, as SuperLU wants it */
  void *val;
  bool padded; /* with zeros on the diagonal */
  int *perm_c, *perm_r, *etree;
  NCformat store;
  SuperMatrix A, ordered, L, U;
  GlobalLU_t global;
  SuperLUStat_t stat;
} lu_work;

static void (*const gstrf_of[])(superlu_options_t *, SuperMatrix *, int, int, int *, void *, int,
                                int *, int *, SuperMatrix *, SuperMatrix *, GlobalLU_t *,
                                SuperLUStat_t *, int *) = {
    [TRS_FLOAT] = sgstrf, [TRS_DOUBLE] = dgstrf, [TRS_SCOMPLEX] = cgstrf, [TRS_DCOMPLEX] = zgstrf};

/* SuperLU counts in 32 bits, its first guess at the fill included. */
static trs_status check_limits(const trs_factor_input *input) {
  int64_t entries = input->B->nnz + input->B->nrows;
  if (entries * sp_ienv(TUNED_FILL) > INT32_MAX || 2 * input->fill > INT32_MAX)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "LU: %lld entries, factors of some %.3g: too large for SuperLU's 32-bit "
                    "integers; use ILU(0), or bring factors of your own",
                    (long long)input->B->nnz, 2 * (double)input->fill);
  return TRS_SUCCESS;
}

static trs_status check_finite(const trs_factor_input *input) {
  const trs_matrix *B = input->B;
  for (int64_t i = 0; i < B->nrows; i++)
    for (int64_t p = B->ptr[i]; p < B->ptr[i + 1]; p++)
      if (!isfinite(trs_value_abs(B->val, p, B->scalar))) {
        int64_t row = trs_factor_row(input, i);
        return trs_fail(TRS_ERROR_NOT_FINITE, row,
                        "LU: row %lld (0-based) has an entry that is "
                        "NaN or infinite",
                        (long long)row);
      }
  return TRS_SUCCESS;
}

static bool has_diagonal(const trs_matrix *B, int64_t i) {
  for (int64_t p = B->ptr[i]; p < B->ptr[i + 1]; p++)
    if (B->idx[p] == i) return true;
  return false;
}

/* Column pointers, shifted by one place for the fill that follows. */
static trs_status count_columns(lu_work *w) {
  const trs_matrix *B = w->input->B;
  TRS_TRY(TRS_ALLOC_ZERO(&w->ptr, w->n + 2));
  for (int64_t p = 0; p < B->nnz; p++) w->ptr[B->idx[p] + 2]++;
  for (int64_t i = 0; i < w->n; i++)
    if (!has_diagonal(B, i)) {
      w->ptr[i + 2]++;
      w->padded = true;
    }
  for (int64_t j = 0; j < w->n; j++) w->ptr[j + 2] += w->ptr[j + 1];
  return TRS_SUCCESS;
}

/* The matrix by columns, scaled, with a full diagonal. */
static trs_status make_columns(lu_work *w, const double *row_scale, const double *col_scale) {
  const trs_matrix *B = w->input->B;
  TRS_TRY(count_columns(w));
  TRS_TRY(TRS_ALLOC(&w->idx, w->ptr[w->n + 1]));
  TRS_TRY(trs_alloc(&w->val, w->ptr[w->n + 1], w->size));
  for (int64_t i = 0; i < w->n; i++) {
    for (int64_t p = B->ptr[i]; p < B->ptr[i + 1]; p++) {
      int32_t j = B->idx[p], at = w->ptr[j + 1]++;
      double complex value = trs_value_get(B->val, p, B->scalar);
      w->idx[at] = (int)i;
      if (row_scale) value *= row_scale[i];
      if (col_scale) value *= col_scale[j];
      trs_value_set(w->val, at, B->scalar, value);
    }
    if (has_diagonal(B, i)) continue;
    int at = w->ptr[i + 1]++;
    w->idx[at] = (int)i;
    trs_value_set(w->val, at, B->scalar, 0);
  }
  return TRS_SUCCESS;
}

/* Room for SuperLU's first guess or for the factors it will grow to, old and new copy of the
 * largest array at once; for its work arrays; and for the buffers of BLAS. */
static trs_status reserve(const lu_work *w) {
  int64_t guess = (int64_t)sp_ienv(TUNED_FILL) * w->ptr[w->n], grown = 5 * w->input->fill / 2;
  int64_t entries = 2 * (guess > grown ? guess : grown) + 2 * sp_ienv(TUNED_PANEL) * w->n;
  return trs_memory_probe(BLAS_BUFFERS + entries * (int64_t)(w->size + sizeof(int)));
}

static trs_status prepare(lu_work *w) {
  TRS_TRY(TRS_ALLOC(&w->perm_c, w->n));
  TRS_TRY(TRS_ALLOC(&w->perm_r, w->n));
  TRS_TRY(TRS_ALLOC(&w->etree, w->n));
  for (int j = 0; j < w->n; j++) w->perm_c[j] = j;
  TRS_TRY(reserve(w));
  w->store = (NCformat){.nnz = w->ptr[w->n], .nzval = w->val, .rowind = w->idx, .colptr = w->ptr};
  w->A = (SuperMatrix){.Stype = SLU_NC,
                       .Dtype = (Dtype_t)(SLU_S + w->input->B->scalar - TRS_FLOAT),
                       .Mtype = SLU_GE,
                       .nrow = (int)w->n,
                       .ncol = (int)w->n,
                       .Store = &w->store};
  return TRS_SUCCESS;
}

/* What SuperLU leaves behind when it runs out of memory half way. */
static void free_global(GlobalLU_t *global) {
  void *arrays[] = {global->xsup,   global->supno, global->lsub, global->xlsub, global->lusup,
                    global->xlusup, global->ucol,  global->usub, global->xusub, global->expanders};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
    if (arrays[k]) superlu_free(arrays[k]);
}

static trs_status singular(const lu_work *w, int info) {
  int64_t row = trs_factor_row(w->input, info - 1);
  return trs_fail(TRS_ERROR_ZERO_PIVOT, row,
                  "LU: no pivot but zero is left in column %lld (0-based): the matrix is singular",
                  (long long)row);
}

/* L and U exist after success, and after a zero pivot too. */
static trs_status factor(lu_work *w, bool *exist) {
  superlu_options_t options;
  int info = 0;
  set_default_options(&options);
  options.ColPerm = MY_PERMC;
  options.SymmetricMode = YES;
  options.DiagPivotThresh = w->input->pivot_threshold;
  StatInit(&w->stat);
  sp_preorder(&options, &w->A, w->perm_c, w->etree, &w->ordered);
  gstrf_of[w->input->B->scalar](&options, &w->ordered, RELAX_COLUMNS, sp_ienv(TUNED_PANEL),
                                w->etree, NULL, 0, w->perm_c, w->perm_r, &w->L, &w->U, &w->global,
                                &w->stat, &info);
  Destroy_CompCol_Permuted(&w->ordered);
  StatFree(&w->stat);
  *exist = info >= 0 && info <= w->n;
  if (info > w->n) {
    free_global(&w->global);
    return trs_fail(TRS_ERROR_MEMORY, -1, "out of memory in SuperLU after %.1f MB",
                    (double)(info - w->n) / 1e6);
  }
  if (info < 0) return trs_fail(TRS_ERROR_INTERNAL, -1, "SuperLU returned %d", info);
  return info ? singular(w, info) : TRS_SUCCESS;
}

/* A matrix in the making, by rows; columns arrive in ascending order, so rows come out sorted. */
typedef struct lu_rows {
  int64_t *ptr; /* n + 2: counts, then each row's next place, shifted by one */
  int32_t *idx;
  char *val;
} lu_rows;

/* Counts an entry while there is no room for it yet, then puts it in its place. */
static void put(const lu_work *w, lu_rows *rows, int row, int column, const char *value) {
  if (w->padded && trs_value_abs(value, 0, w->input->B->scalar) == 0) return;
  if (!rows->idx) {
    rows->ptr[row + 2]++;
    return;
  }
  int64_t at = rows->ptr[row + 1]++;
  rows->idx[at] = column;
  memcpy(rows->val + (size_t)at * w->size, value, w->size);
}

/* Every entry of L and U, column by column.  A supernode's columns share one list of rows, its own
 * columns first: down to the diagonal they belong to U, below it to L. */
static void visit(const lu_work *w, lu_rows *L, lu_rows *U) {
  const SCformat *super = w->L.Store;
  const NCformat *upper = w->U.Store;
  const char *super_val = super->nzval, *upper_val = upper->nzval;
  for (int j = 0; j < w->n; j++) {
    int first = super->sup_to_col[super->col_to_sup[j]];
    const int *row = super->rowind + super->rowind_colptr[first];
    int count = super->rowind_colptr[first + 1] - super->rowind_colptr[first];
    const char *value = super_val + (size_t)super->nzval_colptr[j] * w->size;
    for (int p = upper->colptr[j]; p < upper->colptr[j + 1]; p++)
      put(w, U, upper->rowind[p], j, upper_val + (size_t)p * w->size);
    for (int r = 0; r < count; r++)
      put(w, r <= j - first ? U : L, row[r], j, value + (size_t)r * w->size);
  }
}

static trs_status make_room(const lu_work *w, lu_rows *rows) {
  for (int64_t i = 0; i < w->n; i++) rows->ptr[i + 2] += rows->ptr[i + 1];
  TRS_TRY(TRS_ALLOC(&rows->idx, rows->ptr[w->n + 1]));
  return trs_alloc((void **)&rows->val, rows->ptr[w->n + 1], w->size);
}

static trs_status finish(trs_matrix **T, const lu_work *w, lu_rows *rows) {
  lu_rows r = *rows;
  *rows = (lu_rows){0};
  return trs_matrix_adopt(T, TRS_CSR, w->input->B->scalar, w->n, w->n, r.ptr, r.idx, r.val);
}

static void free_rows(lu_rows *rows) {
  trs_free(rows->ptr);
  trs_free(rows->idx);
  trs_free(rows->val);
}

static trs_status extract(trs_factors *parts, const lu_work *w) {
  lu_rows L = {0}, U = {0};
  trs_status status = TRS_ALLOC_ZERO(&L.ptr, w->n + 2);
  if (!status) status = TRS_ALLOC_ZERO(&U.ptr, w->n + 2);
  if (!status) {
    visit(w, &L, &U);
    status = make_room(w, &L);
  }
  if (!status) status = make_room(w, &U);
  if (!status) {
    visit(w, &L, &U);
    status = finish(&parts->L, w, &L);
  }
  if (!status) status = finish(&parts->U, w, &U);
  free_rows(&L);
  free_rows(&U);
  return status;
}

static trs_status take_supernodes(trs_factors *parts, const lu_work *w) {
  const SCformat *super = w->L.Store;
  int64_t count = super->nsuper + 1;
  TRS_TRY(TRS_ALLOC(&parts->supernode_ptr, count + 1));
  for (int64_t k = 0; k <= count; k++) parts->supernode_ptr[k] = super->sup_to_col[k];
  parts->nsupernodes = count;
  return TRS_SUCCESS;
}

/* Pivot k is row row_perm[k] of A. */
static trs_status take_pivots(trs_factors *parts, const lu_work *w, bool *diagonal) {
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

static trs_status check_factor(const trs_matrix *T, const trs_factors *parts) {
  for (int64_t i = 0; i < T->nrows; i++)
    for (int64_t p = T->ptr[i]; p < T->ptr[i + 1]; p++)
      if (!isfinite(trs_value_abs(T->val, p, T->scalar))) {
        int64_t row = parts->row_perm ? parts->row_perm[i] : i;
        return trs_fail(TRS_ERROR_NOT_FINITE, row,
                        "LU: the elimination of row %lld (0-based) overflowed: the matrix is near "
                        "singular or badly scaled",
                        (long long)row);
      }
  return TRS_SUCCESS;
}

static trs_status take(trs_factors *parts, const lu_work *w) {
  bool diagonal;
  TRS_TRY(extract(parts, w));
  TRS_TRY(take_supernodes(parts, w));
  TRS_TRY(take_pivots(parts, w, &diagonal));
  TRS_TRY(check_factor(parts->L, parts));
  TRS_TRY(check_factor(parts->U, parts));
  return diagonal ? TRS_SUCCESS : trs_collapse_tree(parts);
}

static trs_status factor_and_take(trs_factors *parts, lu_work *w) {
  bool exist;
  trs_status status = factor(w, &exist);
  if (!status) status = take(parts, w);
  if (exist) {
    Destroy_SuperNode_Matrix(&w->L);
    Destroy_CompCol_Matrix(&w->U);
  }
  return status;
}

/* Scale factors in A's numbering. */
static trs_status hand_over(double **scale, const trs_factor_input *input) {
  double *moved;
  if (!*scale || !input->perm) return TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC(&moved, input->B->nrows));
  for (int64_t i = 0; i < input->B->nrows; i++) moved[input->perm[i]] = (*scale)[i];
  trs_free(*scale);
  *scale = moved;
  return TRS_SUCCESS;
}

static trs_status run(trs_factors *parts, lu_work *w) {
  const trs_factor_input *input = w->input;
  TRS_TRY(check_limits(input));
  TRS_TRY(check_finite(input));
  if (input->equilibrate) TRS_TRY(trs_equilibrate(&parts->row_scale, &parts->col_scale, input));
  TRS_TRY(make_columns(w, parts->row_scale, parts->col_scale));
  TRS_TRY(hand_over(&parts->row_scale, input));
  TRS_TRY(hand_over(&parts->col_scale, input));
  TRS_TRY(prepare(w));
  return factor_and_take(parts, w);
}

trs_status trs_factor_lu(trs_factors *parts, const trs_factor_input *input) {
  lu_work work = {.input = input, .n = input->B->nrows, .size = trs_scalar_size(input->B->scalar)};
  parts->diag_L = TRS_UNIT;
  parts->diag_U = TRS_NONUNIT;
  if (work.n == 0) { /* SuperLU has no such matrices */
    TRS_TRY(trs_matrix_triangle(&parts->L, input->B, TRS_LOWER, 0));
    return trs_matrix_triangle(&parts->U, input->B, TRS_UPPER, 0);
  }
  trs_status status = run(parts, &work);
  trs_free(work.ptr);
  trs_free(work.idx);
  trs_free(work.val);
  trs_free(work.perm_c);
  trs_free(work.perm_r);
  trs_free(work.etree);
  return status;
}

#else

trs_status trs_factor_lu(trs_factors *parts, const trs_factor_input *input) {
  (void)parts;
  (void)input;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "complete LU needs SuperLU, which is not in this build: install libsuperlu-dev "
                  "and build again, or use ILU(0)");
}

#endif
