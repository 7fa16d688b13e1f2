/* lu.c - complete LU by SuperLU in a worker process (src/worker/programs/superlu.c): the data sent
 * and received.  Cost: the factorisation, plus O(entries of L and U).
 *
 * SuperLU reads and writes past the end of a column that has no row left as a pivot.  A diagonal
 * entry in every column, possibly zero, ensures that there is one: a row that an earlier column
 * took as its pivot passed its pattern on to the row that it displaced.  Such zeros cost fill; rows
 * that a matching has exchanged (match.c) need none. */
#include <math.h>
#include <string.h>

#include "base/config.h"
#include "factor/kinds.h"
#include "matrix/values.h"
#include "worker/worker.h"

typedef struct lu_work {
  const trs_factor_input *input;
  int64_t n;
  size_t size;        /* of a value in bytes */
  int32_t *ptr, *idx; /* the matrix by columns, as SuperLU needs it */
  void *val;
  bool padded;     /* with zeros on the diagonal, whose fill L and U omit */
  int32_t *perm_r; /* row i of B becomes row perm_r[i] */
} lu_work;

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

/* Column pointers of 32 bits, shifted by one place for the fill that follows. */
static trs_status count_columns(lu_work *w) {
  const trs_matrix *B = w->input->B;
  if (B->nnz + w->n > INT32_MAX)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "LU: %lld entries are too many for SuperLU's 32-bit integers; use ILU(0), or "
                    "pass factors from another library",
                    (long long)B->nnz);
  TRS_TRY(TRS_ALLOC_ZERO(&w->ptr, w->n + 2));
  for (int64_t p = 0; p < B->nnz; p++) w->ptr[B->idx[p] + 2]++;
  for (int64_t i = 0; i < w->n; i++)
    if (trs_factor_diagonal(B, i) < 0) {
      w->ptr[i + 2]++;
      w->padded = true;
    }
  for (int64_t j = 0; j < w->n; j++) w->ptr[j + 2] += w->ptr[j + 1];
  return TRS_SUCCESS;
}

/* The scaled matrix by columns, with a full diagonal. */
static trs_status make_columns(lu_work *w, const double *row_scale, const double *col_scale) {
  const trs_matrix *B = w->input->B;
  TRS_TRY(count_columns(w));
  TRS_TRY(TRS_ALLOC(&w->idx, w->ptr[w->n + 1]));
  TRS_TRY(trs_alloc(&w->val, w->ptr[w->n + 1], w->size));
  for (int64_t i = 0; i < w->n; i++) {
    for (int64_t p = B->ptr[i]; p < B->ptr[i + 1]; p++) {
      int32_t j = B->idx[p], at = w->ptr[j + 1]++;
      double complex value = trs_value_get(B->val, p, B->scalar);
      w->idx[at] = (int32_t)i;
      if (row_scale) value *= row_scale[i];
      if (col_scale) value *= col_scale[j];
      trs_value_set(w->val, at, B->scalar, value);
    }
    if (trs_factor_diagonal(B, i) >= 0) continue;
    int32_t at = w->ptr[i + 1]++;
    w->idx[at] = (int32_t)i;
    trs_value_set(w->val, at, B->scalar, 0);
  }
  return TRS_SUCCESS;
}

static void free_columns(lu_work *w) {
  TRS_FREE_ALL(w->ptr, w->idx, w->val);
  w->ptr = w->idx = NULL;
  w->val = NULL;
}

static trs_status singular(const lu_work *w, int64_t pivot) {
  if (pivot < 1 || pivot > w->n)
    return trs_fail(TRS_ERROR_INTERNAL, -1, "SuperLU returned %lld", (long long)pivot);
  int64_t row = trs_factor_row(w->input, pivot - 1);
  return trs_fail(TRS_ERROR_ZERO_PIVOT, row,
                  "LU: every pivot left in column %lld (0-based) is zero: the matrix is singular",
                  (long long)row);
}

/* ---- Exchange with the worker. ---- */

static trs_status send_matrix(trs_worker *worker, const lu_work *w) {
  TRS_TRY(trs_worker_give(worker, w->ptr, w->n + 1, sizeof *w->ptr));
  TRS_TRY(trs_worker_give(worker, w->idx, w->ptr[w->n], sizeof *w->idx));
  return trs_worker_give(worker, w->val, w->ptr[w->n], w->size);
}

static trs_status receive_supernodes(trs_factors *parts, trs_worker *worker, int64_t count) {
  if (count < 1 || count > INT32_MAX)
    return trs_fail(TRS_ERROR_INTERNAL, -1, "SuperLU made %lld supernodes", (long long)count);
  parts->nsupernodes = count;
  TRS_TRY(TRS_ALLOC(&parts->supernode_ptr, count + 1));
  return trs_worker_take(worker, parts->supernode_ptr, count + 1, sizeof *parts->supernode_ptr);
}

/* Row pointers of L and U.  nnz: the number of entries in the worker's message. */
static trs_status receive_pointers(int64_t **ptr, const lu_work *w, trs_worker *worker,
                                   int64_t nnz) {
  TRS_TRY(TRS_ALLOC(ptr, w->n + 2));
  TRS_TRY(trs_worker_take(worker, *ptr, w->n + 2, sizeof **ptr));
  if ((*ptr)[w->n] == nnz) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_INTERNAL, -1, "SuperLU's factors are inconsistent");
}

/* Takes ownership of the pointers. */
static trs_status receive_matrix(trs_matrix **T, const lu_work *w, trs_worker *worker,
                                 int64_t **ptr) {
  const trs_scalar scalar = w->input->B->scalar;
  int64_t nnz = (*ptr)[w->n], *own = *ptr;
  int32_t *idx = NULL;
  void *val = NULL;
  trs_status status = TRS_ALLOC(&idx, nnz);
  if (!status) status = trs_alloc(&val, nnz, w->size);
  if (!status) status = trs_worker_take(worker, idx, nnz, sizeof *idx);
  if (!status) status = trs_worker_take(worker, val, nnz, w->size);
  *ptr = NULL;
  if (!status) return trs_matrix_adopt(T, TRS_CSR, scalar, w->n, w->n, own, idx, val);
  TRS_FREE_ALL(own, idx, val);
  return status;
}

static trs_status receive_factors(trs_factors *parts, lu_work *w, trs_worker *worker,
                                  const trs_worker_message *m) {
  int64_t *L = NULL, *U = NULL;
  TRS_TRY(TRS_ALLOC(&w->perm_r, w->n));
  TRS_TRY(trs_worker_take(worker, w->perm_r, w->n, sizeof *w->perm_r));
  TRS_TRY(trs_permutation_check(w->perm_r, w->n, "SuperLU's row order"));
  TRS_TRY(receive_supernodes(parts, worker, m->number[TRS_LU_SUPERNODES]));
  trs_status status = receive_pointers(&L, w, worker, m->number[TRS_LU_NNZ_L]);
  if (!status) status = receive_pointers(&U, w, worker, m->number[TRS_LU_NNZ_U]);
  if (!status) status = receive_matrix(&parts->L, w, worker, &L);
  if (!status) status = receive_matrix(&parts->U, w, worker, &U);
  trs_free(L);
  trs_free(U);
  return status;
}

static trs_status ask(trs_factors *parts, lu_work *w) {
  static const trs_worker_job job = {.program = "superlu", .library = "SuperLU", .file = -1};
  trs_worker_message m = {.threshold = w->input->pivot_threshold,
                          .number = {[TRS_LU_SCALAR] = w->input->B->scalar,
                                     [TRS_LU_N] = w->n,
                                     [TRS_LU_ENTRIES] = w->ptr[w->n],
                                     [TRS_LU_FILL] = w->input->fill}};
  trs_worker *worker;
  TRS_TRY(trs_worker_start(&worker, &job));
  trs_status status = send_matrix(worker, w);
  free_columns(w);
  if (!status) status = trs_worker_ask(worker, &m);
  int64_t pivot = m.number[TRS_LU_ZERO_PIVOT];
  if (!status && pivot) status = singular(w, pivot);
  if (!status) status = receive_factors(parts, w, worker, &m);
  trs_worker_end(worker);
  return status;
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

/* ---- L and U without the fill of the padding: the entries that elimination of B's own pattern
 * fills, whatever their values, so that other values find their places. ---- */

typedef struct trimming {
  const lu_work *w;
  int32_t *mark, *row; /* mark[j] == i: row i has column j; row i is row row[i] of B */
  int64_t *ptr[2];     /* of L and U as trimmed */
} trimming;

static void mark_all(int32_t *mark, int64_t i, const int32_t *idx, int64_t begin, int64_t end) {
  for (int64_t p = begin; p < end; p++) mark[idx[p]] = (int32_t)i;
}

/* Moves the marked entries of row i to the end of those kept before. */
static void keep(trs_matrix *T, int64_t *ptr, const int32_t *mark, int64_t i, size_t size) {
  int64_t at = ptr[i];
  char *val = T->val;
  for (int64_t p = T->ptr[i]; p < T->ptr[i + 1]; p++) {
    if (mark[T->idx[p]] != i) continue;
    T->idx[at] = T->idx[p];
    memmove(val + (size_t)at++ * size, val + (size_t)p * size, size);
  }
  ptr[i + 1] = at;
}

static void trim_rows(const trimming *t, trs_matrix *L, trs_matrix *U) {
  const trs_matrix *B = t->w->input->B;
  t->ptr[0][0] = t->ptr[1][0] = 0;
  for (int64_t i = 0; i < t->w->n; i++) {
    mark_all(t->mark, i, B->idx, B->ptr[t->row[i]], B->ptr[t->row[i] + 1]);
    for (int64_t p = L->ptr[i]; p < L->ptr[i + 1]; p++) {
      const int32_t k = L->idx[p];
      if (t->mark[k] == i) mark_all(t->mark, i, U->idx, t->ptr[1][k], t->ptr[1][k + 1]);
    }
    keep(L, t->ptr[0], t->mark, i, t->w->size);
    keep(U, t->ptr[1], t->mark, i, t->w->size);
  }
}

/* The matrix of T's first entries, with these pointers. */
static trs_status cut(trs_matrix **T, int64_t **ptr, const lu_work *w) {
  const int64_t nnz = (*ptr)[w->n];
  int64_t *own = *ptr;
  int32_t *idx = NULL;
  void *val = NULL;
  trs_status status = TRS_ALLOC(&idx, nnz);
  if (!status) status = trs_alloc(&val, nnz, w->size);
  if (status) {
    trs_free(idx);
    return status;
  }
  memcpy(idx, (*T)->idx, (size_t)nnz * sizeof *idx);
  memcpy(val, (*T)->val, (size_t)nnz * w->size);
  *ptr = NULL;
  trs_matrix_destroy(*T);
  *T = NULL;
  return trs_matrix_adopt(T, TRS_CSR, w->input->B->scalar, w->n, w->n, own, idx, val);
}

static trs_status trim(trs_factors *parts, const lu_work *w) {
  trimming t = {.w = w};
  if (!w->padded) return TRS_SUCCESS;
  trs_status status = TRS_ALLOC(&t.mark, w->n);
  if (!status) status = TRS_ALLOC(&t.row, w->n);
  for (int s = 0; s < 2; s++)
    if (!status) status = TRS_ALLOC(&t.ptr[s], w->n + 2);
  if (!status) {
    memset(t.mark, 0xff, (size_t)w->n * sizeof *t.mark);
    for (int64_t i = 0; i < w->n; i++) t.row[w->perm_r[i]] = (int32_t)i;
    trim_rows(&t, parts->L, parts->U);
    status = cut(&parts->L, &t.ptr[0], w);
  }
  if (!status) status = cut(&parts->U, &t.ptr[1], w);
  TRS_FREE_ALL(t.mark, t.row, t.ptr[0], t.ptr[1]);
  return status;
}

static trs_status finish(trs_factors *parts, const lu_work *w) {
  bool diagonal;
  TRS_TRY(trim(parts, w));
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
  TRS_TRY(TRS_ALLOC(&parts->row_scale, input->B->nrows));
  TRS_TRY(TRS_ALLOC(&parts->col_scale, input->B->nrows));
  for (int64_t i = 0; i < input->B->nrows; i++) {
    parts->row_scale[i] = m->row_scale[trs_factor_row(input, i)];
    parts->col_scale[i] = m->col_scale[trs_factor_row(input, i)];
  }
  return TRS_SUCCESS;
}

static trs_status run(trs_factors *parts, lu_work *w) {
  const trs_factor_input *input = w->input;
  TRS_TRY(check_finite(input));
  if (input->equilibrate) TRS_TRY(find_scales(parts, input));
  TRS_TRY(make_columns(w, parts->row_scale, parts->col_scale));
  TRS_TRY(renumber_scale(&parts->row_scale, input));
  TRS_TRY(renumber_scale(&parts->col_scale, input));
  TRS_TRY(ask(parts, w));
  return finish(parts, w);
}

trs_status trs_factor_lu(trs_factors *parts, const trs_factor_input *input) {
  lu_work work = {.input = input, .n = input->B->nrows, .size = trs_scalar_size(input->B->scalar)};
  if (!TRS_HAVE_SUPERLU)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "complete LU needs SuperLU, which is not in this build: install "
                    "libsuperlu-dev and build Trireme from source, or use ILU(0)");
  parts->diag_L = TRS_UNIT;
  parts->diag_U = TRS_NONUNIT;
  if (work.n == 0) { /* SuperLU does not accept an empty matrix */
    TRS_TRY(trs_matrix_triangle(&parts->L, input->B, TRS_LOWER, 0));
    return trs_matrix_triangle(&parts->U, input->B, TRS_UPPER, 0);
  }
  trs_status status = run(parts, &work);
  free_columns(&work);
  trs_free(work.perm_r);
  return status;
}
