/* bilu0_factor.c - the block kinds of trs_factor.  The exchanges of a diagonal block move rows of L
 * and of row_perm. */
#include "factor/bilu0.h"
#include "factor/kinds.h"

/* ---- Pattern ---- */

/* The numbers of block rows in A: rows of blocks move whole. */
static trs_status take_order(int32_t **own, const trs_factor_input *input, int64_t n) {
  *own = NULL;
  if (!input->perm) return TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC(own, n));
  for (int64_t i = 0; i < n; i++) (*own)[i] = input->perm[i * input->block] / input->block;
  return TRS_SUCCESS;
}

/* Renumbers rows and columns of a pattern: row i becomes row own[i] of the one before. */
static trs_status permute(trs_block_pattern *P, const int32_t *own) {
  trs_block_pattern to = {.n = P->n};
  int32_t *place = NULL;
  trs_status status = TRS_ALLOC_ALL(TRS_ROOM(&to.ptr, P->n + 1), TRS_ROOM(&to.idx, P->ptr[P->n]),
                                    TRS_ROOM(&place, P->n));
  if (status) {
    trs_block_pattern_free(&to);
    return status;
  }
  int64_t at = 0;
  for (int64_t i = 0; i < P->n; i++) place[own[i]] = (int32_t)i;
  for (int64_t i = 0; i < P->n; i++) {
    to.ptr[i] = at;
    for (int64_t p = P->ptr[own[i]]; p < P->ptr[own[i] + 1]; p++) to.idx[at++] = place[P->idx[p]];
  }
  to.ptr[P->n] = at;
  trs_free(place);
  trs_block_pattern_free(P);
  *P = to;
  return TRS_SUCCESS;
}

static trs_status fail_diagonal(trs_factor_kind kind, int block, int64_t row) {
  return trs_fail(TRS_ERROR_STRUCTURE, row * block,
                  "%s: block row %lld (0-based) has no diagonal block", trs_factor_name(kind, 0),
                  (long long)row);
}

/* The blocks of a matrix, which ascend in their rows. */
static trs_status lay_out_blocks(trs_bilu0 **w, const trs_bilu0 *head,
                                 const trs_block_source *source) {
  const trs_block_pattern pattern = {source->nrows, (int64_t *)source->ptr, (int32_t *)source->idx,
                                     .ascends = true};
  TRS_TRY(trs_bilu0_create(w, head, &pattern));
  for (int64_t i = 0; i < source->nrows; i++)
    if ((*w)->ptr[i + 1] - (*w)->ptr[i] > source->ptr[i + 1] - source->ptr[i])
      return fail_diagonal(head->kind, head->block, i);
  return TRS_SUCCESS;
}

static trs_status lay_out(trs_bilu0 **w, const trs_bilu0 *head, const trs_block_source *source,
                          const int32_t *own, trs_team *team) {
  trs_block_pattern pattern;
  if (source->span == 1 && !own) return lay_out_blocks(w, head, source);
  trs_status status = trs_block_pattern_build(&pattern, source, team);
  if (status)
    return status == TRS_ERROR_STRUCTURE
               ? fail_diagonal(head->kind, head->block, trs_last_error()->row)
               : status;
  if (own) status = permute(&pattern, own);
  if (!status) status = trs_bilu0_create(w, head, &pattern);
  trs_block_pattern_free(&pattern);
  return status;
}

/* ---- Faults ---- */

static trs_status fail(const trs_bilu0 *w, const trs_factors *parts, const trs_factor_input *input,
                       const trs_bilu0_outcome *o) {
  if (o->fault == TRS_BILU0_FINE) return TRS_SUCCESS;
  const char *name = trs_factor_name(w->kind, 0);
  const int64_t i = o->row * w->block;
  const bool column = o->fault == TRS_BILU0_SINGULAR || o->fault == TRS_BILU0_SMALL;
  const int64_t row = trs_factor_row(input, i + (column ? o->column : 0));
  const long long block = (long long)(row / w->block);
  switch (o->fault) {
    case TRS_BILU0_FINE:
    case TRS_BILU0_READ:
      return trs_failure_set(&o->read);
    case TRS_BILU0_OVERFLOW:
      return trs_fail_not_finite(parts, i + o->column);
    case TRS_BILU0_NOT_FINITE:
      return trs_fail(TRS_ERROR_NOT_FINITE, row,
                      "%s: the diagonal block of block row %lld (0-based) is NaN or infinite", name,
                      block);
    case TRS_BILU0_SMALL:
      return trs_fail(TRS_ERROR_NOT_FINITE, row,
                      "the pivot of row %lld (0-based), %.3g, is too small, or too large, for its "
                      "reciprocal: scale rows and columns",
                      (long long)row, o->pivot);
    case TRS_BILU0_SINGULAR:
      break;
  }
  if (w->kind == TRS_FACTOR_BIC0)
    return trs_fail(TRS_ERROR_ZERO_PIVOT, row,
                    "%s: the diagonal block of block row %lld (0-based) is not positive definite: "
                    "no pivot in its column %d; use a shift or a larger diagonal",
                    name, block, o->column);
  return trs_fail(TRS_ERROR_ZERO_PIVOT, row,
                  "%s: the diagonal block of block row %lld (0-based) is singular: no pivot in its "
                  "column %d; another order, or a larger diagonal, may help",
                  name, block, o->column);
}

/* ---- L and U ---- */

/* Applies the exchanges to row_perm, which is created if there are any. */
static trs_status exchange_rows(trs_factors *parts, const trs_bilu0 *w) {
  const int64_t b = w->block, rows = w->n * b;
  int32_t *perm;
  int any = 0;
  if (w->kind == TRS_FACTOR_BIC0) return TRS_SUCCESS;
  for (int64_t i = 0; i < w->n; i++)
    for (int64_t r = 0; r < b; r++) any |= (w->pivot[i * b + r] & ~TRS_BLOCK_INVERTED) ^ (int)r;
  if (!any) return TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC(&perm, rows));
  for (int64_t i = 0; i < w->n; i++)
    for (int64_t r = 0; r < b; r++) {
      const int64_t from = i * b + (w->pivot[i * b + r] & ~TRS_BLOCK_INVERTED);
      perm[i * b + r] = parts->row_perm ? parts->row_perm[from] : (int32_t)from;
    }
  trs_free(parts->row_perm);
  parts->row_perm = perm;
  return TRS_SUCCESS;
}

static trs_status factor(trs_factors *parts, trs_bilu0 **w, const trs_factor_input *input,
                         trs_team *team) {
  const trs_block_source source = trs_block_source_of(input->B, input->block);
  const trs_bilu0 head = {.kind = parts->kind,
                          .block = input->block,
                          .threshold = input->pivot_threshold,
                          .narrow = input->B->scalar == TRS_FLOAT};
  trs_bilu0_outcome outcome;
  int32_t *own;
  TRS_TRY(take_order(&own, input, source.nrows));
  trs_status status = lay_out(w, &head, &source, own, team);
  const trs_bilu0_input values = {.source = &source, .own = own};
  if (!status) status = trs_bilu0_run(*w, &values, team, &outcome);
  trs_free(own);
  TRS_TRY(status);
  TRS_TRY(fail(*w, parts, input, &outcome));
  TRS_TRY(exchange_rows(parts, *w));
  TRS_TRY(trs_bilu0_matrix(&parts->L, *w, input->B->scalar, true));
  return trs_bilu0_matrix(&parts->U, *w, input->B->scalar, false);
}

trs_status trs_factor_blocks(trs_factors *parts, const trs_factor_input *input) {
  trs_bilu0 *w = NULL;
  trs_team *team;
  parts->diag_L = parts->diag_U = TRS_NONUNIT;
  TRS_TRY(trs_bilu0_start_team(&team, input->B->nnz));
  trs_status status = factor(parts, &w, input, team);
  trs_team_destroy(team);
  trs_bilu0_free(w);
  return status;
}
