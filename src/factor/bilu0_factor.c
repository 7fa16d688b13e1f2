/* bilu0_factor.c - the block kinds of trs_factor: bilu0.c on every row in order, and its blocks as
 * the scalar triangles L and U, whose blocks are stored whole.  The exchanges of a diagonal block
 * move rows of L and of row_perm. */
#include "factor/bilu0.h"
#include "factor/kinds.h"

static const char *name_of(trs_factor_kind kind) {
  return kind == TRS_FACTOR_BIC0   ? "block IC(0)"
         : kind == TRS_FACTOR_DILU ? "DILU"
                                   : "block ILU(0)";
}

static trs_status lay_out(trs_bilu0 *w, const trs_block_source *source,
                          const trs_factor_input *input) {
  trs_failure failure;
  trs_status status = trs_bilu0_lay_out(w, source, NULL);
  if (status != TRS_ERROR_STRUCTURE) return status;
  trs_failure_get(&failure);
  const int64_t row = trs_factor_row(input, failure.row * source->block) / source->block;
  return trs_fail(TRS_ERROR_STRUCTURE, row * source->block,
                  "%s: block row %lld has no diagonal block (0-based)", name_of(w->kind),
                  (long long)row);
}

static trs_status fail_pivot(const trs_bilu0 *w, const trs_factor_input *input, int64_t i,
                             int column) {
  const int64_t row = trs_factor_row(input, i * w->block + (column > 0 ? column : 0));
  if (column < 0)
    return trs_fail(TRS_ERROR_NOT_FINITE, row,
                    "%s: the diagonal block of block row %lld (0-based) is NaN or infinite",
                    name_of(w->kind), (long long)(row / w->block));
  return trs_fail(
      TRS_ERROR_ZERO_PIVOT, row,
      "%s: the diagonal block of block row %lld (0-based) is %s: no pivot in its column "
      "%d; another order, or a larger diagonal, may help",
      name_of(w->kind), (long long)(row / w->block),
      w->kind == TRS_FACTOR_BIC0 ? "not positive definite" : "singular", column);
}

static trs_status eliminate(const trs_bilu0 *w, const trs_block_source *source,
                            const trs_factor_input *input, int32_t *slot, int64_t *position) {
  int column;
  for (int64_t i = 0; i < w->n; i++) {
    slot[i] = -1;
    position[i] = -1;
  }
  for (int64_t i = 0; i < w->n; i++) TRS_TRY(trs_bilu0_read(w, source, i, slot));
  for (int64_t i = 0; i < w->n; i++)
    if (!trs_bilu0_eliminate(w, i, position, &column)) return fail_pivot(w, input, i, column);
  return TRS_SUCCESS;
}

/* ---- L and U ---- */

static void put(void *val, trs_scalar scalar, int64_t at, double value) {
  if (scalar == TRS_FLOAT)
    ((float *)val)[at] = (float)value;
  else
    ((double *)val)[at] = value;
}

/* Element (r, c) of the block at p of row i in L or U. */
static double element(const trs_bilu0 *w, int64_t i, int64_t p, int r, int c, bool lower) {
  const int b = w->block;
  if (p == w->diagonal[i] && lower && r == c && w->kind != TRS_FACTOR_BIC0) return 1;
  if (p != w->diagonal[i] && lower) r = w->pivot[i * b + r];
  return w->val[(p * b + c) * b + r];
}

/* Row r of block row i, from entry `at` on; returns the entry behind it. */
static int64_t write_row(const trs_bilu0 *w, int64_t i, int r, bool lower, trs_scalar scalar,
                         int32_t *idx, void *val, int64_t at) {
  const int b = w->block;
  const int64_t begin = lower ? w->ptr[i] : w->diagonal[i];
  const int64_t end = lower ? w->diagonal[i] + 1 : w->ptr[i + 1];
  for (int64_t p = begin; p < end; p++) {
    const bool own = p == w->diagonal[i];
    for (int c = own && !lower ? r : 0; c < (own && lower ? r + 1 : b); c++, at++) {
      idx[at] = w->idx[p] * b + c;
      put(val, scalar, at, element(w, i, p, r, c, lower));
    }
  }
  return at;
}

static trs_status extract(trs_matrix **T, const trs_bilu0 *w, trs_scalar scalar, bool lower) {
  const int64_t b = w->block, rows = w->n * b;
  int64_t *ptr = NULL, nnz = w->n * b * (b + 1) / 2, at = 0;
  int32_t *idx = NULL;
  void *val = NULL;
  for (int64_t i = 0; i < w->n; i++)
    nnz += (lower ? w->diagonal[i] - w->ptr[i] : w->ptr[i + 1] - w->diagonal[i] - 1) * b * b;
  trs_status status = TRS_ALLOC(&ptr, rows + 1);
  if (!status) status = TRS_ALLOC(&idx, nnz);
  if (!status) status = trs_alloc(&val, nnz, trs_scalar_size(scalar));
  if (status) {
    TRS_FREE_ALL(ptr, idx, val);
    return status;
  }
  for (int64_t i = 0; i < rows; i++) {
    ptr[i] = at;
    at = write_row(w, i / b, (int)(i % b), lower, scalar, idx, val, at);
  }
  ptr[rows] = at;
  status = trs_matrix_adopt(T, TRS_CSR, scalar, rows, rows, ptr, idx, val);
  if (!status) (*T)->block = w->block;
  return status;
}

/* Applies the exchanges to row_perm, which is created if there are any. */
static trs_status exchange_rows(trs_factors *parts, const trs_bilu0 *w) {
  const int64_t b = w->block, rows = w->n * b;
  int32_t *perm;
  bool any = false;
  for (int64_t i = 0; i < rows && !any; i++) any = w->pivot[i] != i % b;
  if (!any) return TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC(&perm, rows));
  for (int64_t i = 0; i < rows; i++) {
    const int64_t from = i / b * b + w->pivot[i];
    perm[i] = parts->row_perm ? parts->row_perm[from] : (int32_t)from;
  }
  trs_free(parts->row_perm);
  parts->row_perm = perm;
  return TRS_SUCCESS;
}

static trs_status factor(trs_factors *parts, trs_bilu0 *w, const trs_factor_input *input) {
  const trs_block_source source = trs_block_source_of(input->B, input->block);
  int64_t *position = NULL;
  int32_t *slot = NULL;
  TRS_TRY(lay_out(w, &source, input));
  trs_status status = TRS_ALLOC(&slot, w->n);
  if (!status) status = TRS_ALLOC(&position, w->n);
  if (!status) status = eliminate(w, &source, input, slot, position);
  trs_free(slot);
  trs_free(position);
  TRS_TRY(status);
  TRS_TRY(exchange_rows(parts, w));
  TRS_TRY(extract(&parts->L, w, input->B->scalar, true));
  return extract(&parts->U, w, input->B->scalar, false);
}

trs_status trs_factor_blocks(trs_factors *parts, const trs_factor_input *input) {
  trs_bilu0 work = {.kind = parts->kind, .threshold = input->pivot_threshold};
  parts->diag_L = parts->diag_U = TRS_NONUNIT;
  if (trs_scalar_is_complex(input->B->scalar))
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "%s: the matrix is complex, and blocks are real",
                    name_of(parts->kind));
  if (parts->kind == TRS_FACTOR_BIC0) TRS_TRY(trs_factor_check_symmetric(input, "block IC(0)"));
  trs_status status = factor(parts, &work, input);
  trs_bilu0_free(&work);
  return status;
}
