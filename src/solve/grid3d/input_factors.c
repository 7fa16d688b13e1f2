/* input_factors.c - factors that every rank has whole; each rank takes its own entries. */
#include "solve/grid3d/input.h"

void trs_input_transpose(trs_grid_input *in, bool conjugate) {
  const trs_grid_maps m = in->maps;
  const bool unit = in->unit[0];
  in->maps = (trs_grid_maps){m.col_perm, m.row_perm, m.col_scale, m.row_scale};
  in->unit[0] = in->unit[1];
  in->unit[1] = unit;
  in->transposed = true;
  in->conjugated = conjugate;
}

enum { BATCH = 512 };

trs_status trs_input_put(const trs_grid_input *in, trs_filler *f, bool upper, int64_t count,
                         const int32_t *i, const int32_t *j, const void *values) {
  int64_t at[BATCH];
  size_t size = trs_scalar_size(in->scalar);
  bool to = in->transposed != upper;
  for (int64_t from = 0; from < count; from += BATCH) {
    int64_t some = count - from < BATCH ? count - from : BATCH;
    for (int64_t k = 0; k < some; k++) {
      int64_t row = i[from + k], column = j[from + k];
      at[k] = in->transposed ? trs_fill_offset(f, to, column, row)
                             : trs_fill_offset(f, to, row, column);
      if (at[k] == -2)
        return trs_fail(TRS_ERROR_INTERNAL, row,
                        "entry (%lld, %lld) (0-based) of %c is not in its pattern", (long long)row,
                        (long long)column, upper ? 'U' : 'L');
    }
    f->part->ops->scatter(some, at, (const char *)values + (size_t)from * size, in->conjugated,
                          f->dense[to]);
  }
  return TRS_SUCCESS;
}

/* ---- Factors. ---- */

void trs_input_turn(const trs_grid_input *in, trs_grid_pattern *pattern) {
  if (!in->transposed) return;
  trs_panels_source L = pattern->L;
  pattern->L = pattern->U;
  pattern->U = L;
  pattern->L.rows = !pattern->L.rows;
  pattern->U.rows = !pattern->U.rows;
  pattern->L.lower = true;
  pattern->U.lower = false;
}

trs_grid_pattern trs_input_pattern(const trs_grid_input *in, const trs_factors *F) {
  trs_grid_pattern pattern = {.L = {.n = in->n}, .U = {.n = in->n}};
  if (F) pattern = trs_grid_pattern_of(F);
  trs_input_turn(in, &pattern);
  return pattern;
}

static trs_status make_layout(const trs_grid_input *in, trs_ranks *ranks, trs_grid_layout *layout,
                              int pz, const trs_layout_options *options) {
  trs_grid_pattern pattern = trs_input_pattern(in, in->state);
  (void)ranks;
  return trs_grid_layout_create(layout, &pattern, pz, options);
}

/* Vectors are rows or columns. */
static trs_status put_matrix(const trs_grid_input *in, trs_filler *f, bool upper,
                             const trs_matrix *T) {
  int32_t same[BATCH];
  size_t size = trs_scalar_size(T->scalar);
  bool rows = T->format == TRS_CSR;
  for (int64_t v = 0; v < T->nrows; v++)
    for (int64_t p = T->ptr[v]; p < T->ptr[v + 1]; p += BATCH) {
      int64_t count = T->ptr[v + 1] - p < BATCH ? T->ptr[v + 1] - p : BATCH;
      for (int64_t k = 0; k < count; k++) same[k] = (int32_t)v;
      TRS_TRY(trs_input_put(in, f, upper, count, rows ? same : T->idx + p, rows ? T->idx + p : same,
                            (const char *)T->val + (size_t)p * size));
    }
  return TRS_SUCCESS;
}

trs_status trs_input_fill(const trs_grid_input *in, trs_filler *f, trs_ranks *ranks) {
  const trs_factors *F = in->state;
  if (in->produce) return trs_deliver_all(in, f, ranks);
  TRS_TRY(put_matrix(in, f, TRS_L, F->L));
  return put_matrix(in, f, TRS_U, F->U);
}

void trs_input_describe(trs_grid_input *in, const trs_factors *F) {
  in->scalar = F->scalar;
  in->n = F->n;
  in->unit[0] = F->diag_L == TRS_UNIT;
  in->unit[1] = F->diag_U == TRS_UNIT;
  in->leaves = (F->tree_nodes + 1) / 2;
  in->maps = (trs_grid_maps){F->row_perm, F->col_perm, F->row_scale, F->col_scale};
}

trs_status trs_input_factors(trs_grid_input *in, const trs_factors *F) {
  if (!F) return trs_fail(TRS_ERROR_ARGUMENT, -1, "factors are NULL");
  TRS_TRY(trs_factors_need_host(F, "trs_mpi_analyze"));
  *in = (trs_grid_input){0};
  trs_input_describe(in, F);
  in->layout = make_layout;
  in->state = F;
  return TRS_SUCCESS;
}

trs_status trs_input_open(trs_grid_input *in, trs_input_kind kind, const void *source,
                          trs_scalar scalar, trs_trans trans, trs_ranks *ranks) {
  *in = (trs_grid_input){0};
  if (kind == TRS_INPUT_FACTORS)
    TRS_TRY(trs_ranks_agree(ranks, trs_input_factors(in, source)));
  else if (kind == TRS_INPUT_FILE)
    TRS_TRY(trs_input_file(in, source, scalar, ranks));
  else if (kind == TRS_INPUT_BLOCKS)
    TRS_TRY(trs_input_blocks(in, source, ranks));
  else
    TRS_TRY(trs_input_rows(in, source, ranks));
  if (trans != TRS_NO_TRANS) trs_input_transpose(in, trans == TRS_CONJ_TRANS);
  return TRS_SUCCESS;
}
