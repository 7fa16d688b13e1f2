/* superlu.c - SuperLU 5 (Demmel, Eisenstat, Gilbert, Li, Liu 1999) and its BLAS in a worker
 * process: left-looking, supernodal, threshold pivoting that prefers the diagonal ("symmetric
 * mode"), columns in the order of the input.  When malloc fails, SuperLU writes to stderr and, for
 * small blocks, exits; OpenBLAS retries for ever.  The worker therefore checks in advance that
 * memory for their buffers is available.
 *
 * Supernodes are not relaxed.  Every entry of L and U is then an original or a fill-in entry, the
 * pattern does not depend on the values as long as the pivots stay, and solves with U do no work on
 * padding. */
#include <slu_cdefs.h> /* before complex.h, for SuperLU has a type named complex */
#include <slu_ddefs.h>
#include <slu_sdefs.h>
#include <slu_zdefs.h>
#include <stdbool.h>
#include <string.h>

#include "base/scalar.h"
#include "worker/programs/serve.h"

enum {
  RELAX_COLUMNS = 1,
  TUNED_PANEL = 1,
  TUNED_FILL = 6
}; /* TUNED_PANEL, TUNED_FILL: parameters
      of sp_ienv */

static const int64_t BLAS_BUFFERS = 256 << 20;

typedef struct work {
  trs_scalar scalar;
  size_t size; /* of a value */
  int64_t n, entries, fill, most;
  int *ptr, *idx;
  void *val;
  int *perm_c, *perm_r, *etree;
  NCformat store;
  SuperMatrix A, ordered, L, U;
  GlobalLU_t global;
  SuperLUStat_t stat;
} work;

static void (*const gstrf_of[])(superlu_options_t *, SuperMatrix *, int, int, int *, void *, int,
                                int *, int *, SuperMatrix *, SuperMatrix *, GlobalLU_t *,
                                SuperLUStat_t *, int *) = {
    [TRS_FLOAT] = sgstrf, [TRS_DOUBLE] = dgstrf, [TRS_SCOMPLEX] = cgstrf, [TRS_DCOMPLEX] = zgstrf};

/* SuperLU's parameters, in place of its own function: with its 30 times the matrix's entries as the
 * first estimate of the fill, large matrices with little fill would not fit 32 bits. */
static int fill_ratio = 30;

__attribute__((visibility("default"))) int sp_ienv(int which) {
  static const int own[] = {[TUNED_PANEL] = 20, 10, 200, 200, 100, 0, 10};
  return which == TUNED_FILL                                    ? fill_ratio
         : which > 0 && which < (int)(sizeof own / sizeof *own) ? own[which]
                                                                : 0;
}

/* SuperLU counts the entries of L, with the upper triangles of its supernodes, and those of U in 32
 * bits, its estimates of both too. */
static trs_status check_limits(const work *w) {
  if (w->fill + w->fill / 4 > w->most || w->entries > w->most)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "LU: %lld entries, factors of some %.3g: too large for SuperLU's 32-bit "
                    "integers, which count up to %lld in each; use ILU(0), or pass factors from "
                    "another library",
                    (long long)w->entries, 2 * (double)w->fill, (long long)w->most);
  return TRS_SUCCESS;
}

/* Of large matrices, room for half more than the predicted fill: SuperLU extends it if pivots move.
 */
static void choose_ratio(const work *w) {
  if (fill_ratio * w->entries <= w->most / 8) return;
  const int64_t needed = w->fill ? w->fill * 3 / 2 / w->entries + 1 : fill_ratio;
  const int64_t most = w->most / w->entries;
  if (needed < fill_ratio) fill_ratio = (int)needed;
  if (most < fill_ratio) fill_ratio = (int)most;
}

/* Checks for memory: SuperLU's first estimate or the final factors, old and new copy of the largest
 * array at once; its work arrays; the buffers of BLAS. */
static trs_status reserve(const work *w) {
  int64_t guess = (int64_t)sp_ienv(TUNED_FILL) * w->entries, grown = 5 * w->fill / 2;
  int64_t entries = 2 * (guess > grown ? guess : grown) + 2 * sp_ienv(TUNED_PANEL) * w->n;
  return trs_memory_probe(BLAS_BUFFERS + entries * (int64_t)(w->size + sizeof(int)));
}

static trs_status receive_matrix(work *w, const trs_worker_message *m) {
  w->scalar = (trs_scalar)m->number[TRS_LU_SCALAR];
  w->size = trs_scalar_size(w->scalar);
  w->n = m->number[TRS_LU_N];
  w->entries = m->number[TRS_LU_ENTRIES];
  w->fill = m->number[TRS_LU_FILL];
  w->most = m->number[TRS_LU_MOST];
  TRS_TRY(check_limits(w));
  choose_ratio(w);
  TRS_TRY(trs_serve_take(&w->ptr, w->n + 1, sizeof(int)));
  TRS_TRY(trs_serve_take(&w->idx, w->entries, sizeof(int)));
  return trs_serve_take(&w->val, w->entries, w->size);
}

static trs_status prepare(work *w) {
  TRS_TRY(trs_serve_give(&w->perm_r, w->n, sizeof(int)));
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&w->perm_c, w->n), TRS_ROOM(&w->etree, w->n)));
  for (int j = 0; j < w->n; j++) w->perm_c[j] = j;
  TRS_TRY(reserve(w));
  w->store =
      (NCformat){.nnz = (int)w->entries, .nzval = w->val, .rowind = w->idx, .colptr = w->ptr};
  w->A = (SuperMatrix){.Stype = SLU_NC,
                       .Dtype = (Dtype_t)(SLU_S + w->scalar - TRS_FLOAT),
                       .Mtype = SLU_GE,
                       .nrow = (int)w->n,
                       .ncol = (int)w->n,
                       .Store = &w->store};
  return TRS_SUCCESS;
}

/* *zero_pivot: 1 + the column without a pivot, or 0. */
static trs_status factor(work *w, double threshold, int64_t *zero_pivot) {
  superlu_options_t options;
  int info = 0;
  set_default_options(&options);
  options.ColPerm = MY_PERMC;
  options.SymmetricMode = YES;
  options.DiagPivotThresh = threshold;
  StatInit(&w->stat);
  sp_preorder(&options, &w->A, w->perm_c, w->etree, &w->ordered);
  gstrf_of[w->scalar](&options, &w->ordered, RELAX_COLUMNS, sp_ienv(TUNED_PANEL), w->etree, NULL, 0,
                      w->perm_c, w->perm_r, &w->L, &w->U, &w->global, &w->stat, &info);
  *zero_pivot = info;
  if (info > w->n)
    return trs_fail(TRS_ERROR_MEMORY, -1, "SuperLU ran out of memory after %.3g GB",
                    (double)(info - w->n) / 1e9);
  return info < 0 ? trs_fail(TRS_ERROR_INTERNAL, -1, "SuperLU returned %d", info) : TRS_SUCCESS;
}

/* ---- L and U by rows.  Columns arrive in ascending order, so rows are sorted. ---- */

typedef struct rows {
  int64_t *ptr; /* n + 2: counts, then the next position of each row, shifted by one */
  int32_t *idx;
  char *val;
} rows;

/* Counts an entry in the first pass (idx is NULL); stores it in the second. */
static void add_entry(const work *w, rows *to, int row, int column, const char *value) {
  if (!to->idx) {
    to->ptr[row + 2]++;
    return;
  }
  int64_t at = to->ptr[row + 1]++;
  to->idx[at] = column;
  memcpy(to->val + (size_t)at * w->size, value, w->size);
}

/* Every entry of L and U, column by column.  The columns of a supernode share one list of rows,
 * which begins with its own columns: rows down to the diagonal belong to U, rows below it to L. */
static void visit(const work *w, rows *L, rows *U) {
  const SCformat *super = w->L.Store;
  const NCformat *upper = w->U.Store;
  const char *super_val = super->nzval, *upper_val = upper->nzval;
  for (int j = 0; j < w->n; j++) {
    int first = super->sup_to_col[super->col_to_sup[j]];
    const int *row = super->rowind + super->rowind_colptr[first];
    int count = super->rowind_colptr[first + 1] - super->rowind_colptr[first];
    const char *value = super_val + (size_t)super->nzval_colptr[j] * w->size;
    for (int p = upper->colptr[j]; p < upper->colptr[j + 1]; p++)
      add_entry(w, U, upper->rowind[p], j, upper_val + (size_t)p * w->size);
    for (int r = 0; r < count; r++)
      add_entry(w, r <= j - first ? U : L, row[r], j, value + (size_t)r * w->size);
  }
}

static trs_status make_room(const work *w, rows *of) {
  for (int64_t i = 0; i < w->n; i++) of->ptr[i + 2] += of->ptr[i + 1];
  TRS_TRY(trs_serve_give(&of->idx, of->ptr[w->n + 1], sizeof *of->idx));
  return trs_serve_give(&of->val, of->ptr[w->n + 1], w->size);
}

static trs_status send_supernodes(const work *w, int64_t *count) {
  const SCformat *super = w->L.Store;
  int64_t *ptr;
  *count = super->nsuper + 1;
  TRS_TRY(trs_serve_give(&ptr, *count + 1, sizeof *ptr));
  for (int64_t k = 0; k <= *count; k++) ptr[k] = super->sup_to_col[k];
  return TRS_SUCCESS;
}

static trs_status send_factors(const work *w, trs_worker_message *m) {
  rows L = {0}, U = {0};
  TRS_TRY(send_supernodes(w, &m->number[TRS_LU_SUPERNODES]));
  TRS_TRY(trs_serve_give(&L.ptr, w->n + 2, sizeof *L.ptr));
  TRS_TRY(trs_serve_give(&U.ptr, w->n + 2, sizeof *U.ptr));
  visit(w, &L, &U);
  TRS_TRY(make_room(w, &L));
  TRS_TRY(make_room(w, &U));
  m->number[TRS_LU_NNZ_L] = L.ptr[w->n + 1];
  m->number[TRS_LU_NNZ_U] = U.ptr[w->n + 1];
  visit(w, &L, &U);
  return TRS_SUCCESS;
}

/* Memory is not freed: the process ends with the job. */
trs_status trs_serve(trs_worker_message *m) {
  work w = {0};
  TRS_TRY(receive_matrix(&w, m));
  TRS_TRY(prepare(&w));
  TRS_TRY(factor(&w, m->threshold, &m->number[TRS_LU_ZERO_PIVOT]));
  return m->number[TRS_LU_ZERO_PIVOT] ? TRS_SUCCESS : send_factors(&w, m);
}
