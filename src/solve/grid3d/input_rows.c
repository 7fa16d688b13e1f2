/* input_rows.c - every rank has a range of rows of L and U: rank 0 gathers their pattern and builds
 * the layout for all ranks.  The values stay where they are, and each goes once to the owners of
 * its block. */
#include <string.h>

#include "base/structs.h"
#include "factor/factors.h"
#include "solve/grid3d/input.h"

/* What all ranks know of a rank's rows. */
typedef struct share {
  int64_t first, rows, nnz[2]; /* nnz: of L, U */
  int32_t scalar;              /* trs_scalar; 0: no rows */
} share;

typedef struct rows {
  trs_mpi_rows of;
  const trs_matrix *side[2]; /* L, U */
  share *all;                /* of every rank */
  int64_t first;             /* of this rank's rows: the number of rows before them */
  /* Rank 0, until there is a layout: the patterns of L and U. */
  int64_t *ptr[2];
  int32_t *idx[2];
} rows;

/* ---- Checks. ---- */

static trs_status check_kinds(const trs_mpi_rows *of) {
  if (of->n < 0 || of->n > INT32_MAX)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "rows: n = %lld", (long long)of->n);
  if ((unsigned)of->diag_L > TRS_UNIT || (unsigned)of->diag_U > TRS_UNIT)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "rows: diag_L and diag_U must be TRS_UNIT or TRS_NONUNIT");
  if (!of->L != !of->U)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "rows: %c is NULL, and %c is not", of->L ? 'U' : 'L',
                    of->L ? 'L' : 'U');
  return TRS_SUCCESS;
}

static trs_status check_same(const rows *s, trs_ranks *ranks, trs_status status) {
  static const char *const names[] = {"rows: n", "rows: diag_L", "rows: diag_U"};
  const double own[] = {(double)s->of.n, s->of.diag_L, s->of.diag_U};
  return trs_ranks_same(ranks, status, own, names, sizeof own / sizeof *own);
}

static trs_status check_matrix(const rows *s, bool upper) {
  const trs_matrix *T = s->side[upper], *L = s->side[TRS_L];
  const char name = upper ? 'U' : 'L';
  TRS_TRY(trs_matrix_need_host(T, "trs_mpi_analyze_rows"));
  if (T->format != TRS_CSR)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "rows: %c is in CSC, not in CSR", name);
  if (T->ncols != s->of.n)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "rows: %c has %lld columns: every row has all %lld columns of the factors",
                    name, (long long)T->ncols, (long long)s->of.n);
  if (T->nrows != L->nrows)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "rows: L has %lld rows, U has %lld",
                    (long long)L->nrows, (long long)T->nrows);
  if (T->scalar != L->scalar)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "rows: L has scalar type %c, U has %c",
                    trs_scalar_letter(L->scalar), trs_scalar_letter(T->scalar));
  const int64_t first = s->of.first_row;
  if (T->nrows && (first < 0 || T->nrows > s->of.n || first > s->of.n - T->nrows))
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "rows: first_row = %lld, and %c has %lld of the factors' %lld rows",
                    (long long)first, name, (long long)T->nrows, (long long)s->of.n);
  return TRS_SUCCESS;
}

/* The columns of a row ascend: its last one in L and its first one in U is the nearest to the
 * diagonal. */
static trs_status check_triangle(const rows *s, bool upper) {
  const trs_matrix *T = s->side[upper];
  const bool stored = (upper ? s->of.diag_U : s->of.diag_L) == TRS_NONUNIT;
  const char name = upper ? 'U' : 'L';
  for (int64_t v = 0; v < T->nrows; v++) {
    const int64_t row = s->of.first_row + v, from = T->ptr[v], to = T->ptr[v + 1];
    const int64_t nearest = from == to ? -1 : T->idx[upper ? from : to - 1];
    if (nearest >= 0 && (upper ? nearest < row : nearest > row))
      return trs_fail(TRS_ERROR_STRUCTURE, row,
                      "rows: %c is not %s triangular: row %lld has an entry in column %lld "
                      "(0-based), %s the diagonal",
                      name, upper ? "upper" : "lower", (long long)row, (long long)nearest,
                      upper ? "below" : "above");
    if (stored && nearest != row)
      return trs_fail(TRS_ERROR_STRUCTURE, row,
                      "rows: row %lld (0-based) of %c has no diagonal entry", (long long)row, name);
  }
  return TRS_SUCCESS;
}

static trs_status check_matrices(const rows *s) {
  for (int upper = 0; upper < 2 && s->of.L; upper++) {
    TRS_TRY(check_matrix(s, upper));
    TRS_TRY(check_triangle(s, upper));
  }
  return TRS_SUCCESS;
}

static trs_status check_maps(const trs_mpi_rows *of) {
  if (of->row_perm) TRS_TRY(trs_permutation_check(of->row_perm, of->n, "row_perm"));
  if (of->col_perm) TRS_TRY(trs_permutation_check(of->col_perm, of->n, "col_perm"));
  TRS_TRY(trs_scaling_check(of->row_scale, of->n, "row_scale"));
  return trs_scaling_check(of->col_scale, of->n, "col_scale");
}

/* Each rank checks its own range, so that the message names the rank. */
static trs_status check_ranges(const rows *s, const trs_ranks *ranks) {
  const share *own = &s->all[ranks->rank];
  if (own->rows && own->first != s->first)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "rows: first_row = %lld, but the ranks before have rows 0 to %lld (not "
                    "included)",
                    (long long)own->first, (long long)s->first);
  if (ranks->rank == ranks->size - 1 && s->first + own->rows != s->of.n)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "rows: the ranks have %lld rows of the factors' %lld",
                    (long long)(s->first + own->rows), (long long)s->of.n);
  return TRS_SUCCESS;
}

/* ---- What the ranks know of each other. ---- */

static share own_share(const rows *s) {
  share own = {.first = s->of.first_row};
  if (!s->of.L) return own;
  own.rows = s->of.L->nrows;
  own.scalar = (int32_t)s->of.L->scalar;
  own.nnz[TRS_L] = s->of.L->nnz;
  own.nnz[TRS_U] = s->of.U->nnz;
  return own;
}

/* The scalar type is that of the first rank with matrices. */
static trs_status take_scalar(const rows *s, const trs_ranks *ranks, trs_scalar *scalar) {
  const int32_t own = s->all[ranks->rank].scalar;
  int with = 0;
  while (with < ranks->size && !s->all[with].scalar) with++;
  *scalar = with < ranks->size ? (trs_scalar)s->all[with].scalar : TRS_DOUBLE;
  if (!own || own == (int32_t)*scalar) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1, "rows: their scalar type is %c, but %c on rank %d",
                  trs_scalar_letter((trs_scalar)own), trs_scalar_letter(*scalar), with);
}

static trs_status share_sizes(rows *s, trs_ranks *ranks, trs_scalar *scalar) {
  const share own = own_share(s);
  TRS_TRY(trs_ranks_records(ranks, &own, s->all, sizeof own));
  for (int r = 0; r < ranks->rank; r++) s->first += s->all[r].rows;
  trs_status status = take_scalar(s, ranks, scalar);
  if (!status) status = check_ranges(s, ranks);
  return trs_ranks_agree(ranks, status);
}

/* ---- The pattern, on rank 0. ---- */

static trs_status allocate_pattern(rows *s, const trs_ranks *ranks) {
  for (int k = 0; k < 2; k++) {
    int64_t nnz = 0;
    for (int r = 0; r < ranks->size; r++) nnz += s->all[r].nnz[k];
    TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&s->ptr[k], s->of.n + 1), TRS_ROOM(&s->idx[k], nnz)));
    s->ptr[k][0] = 0;
  }
  return TRS_SUCCESS;
}

static trs_status send_pattern(const rows *s, trs_ranks *ranks) {
  for (int k = 0; k < 2 && s->all[ranks->rank].rows; k++) {
    const trs_matrix *T = s->side[k];
    TRS_TRY(trs_ranks_send(ranks, 0, TRS_TAG_MOVE, T->ptr + 1, T->nrows * (int64_t)sizeof *T->ptr));
    TRS_TRY(trs_ranks_send(ranks, 0, TRS_TAG_MOVE, T->idx, T->nnz * (int64_t)sizeof *T->idx));
  }
  return trs_ranks_finish(ranks);
}

static trs_status receive_pattern(rows *s, trs_ranks *ranks) {
  int64_t row = 0, at[2] = {0, 0};
  for (int r = 0; r < ranks->size; row += s->all[r].rows, r++)
    for (int k = 0; k < 2 && s->all[r].rows; k++) {
      int64_t *end = s->ptr[k] + row + 1;
      const int64_t pointers = s->all[r].rows * (int64_t)sizeof *end;
      const int64_t indices = s->all[r].nnz[k] * (int64_t)sizeof **s->idx;
      if (r) {
        TRS_TRY(trs_ranks_receive(ranks, r, TRS_TAG_MOVE, end, pointers));
        TRS_TRY(trs_ranks_receive(ranks, r, TRS_TAG_MOVE, s->idx[k] + at[k], indices));
      } else {
        memcpy(end, s->side[k]->ptr + 1, (size_t)pointers);
        if (indices) memcpy(s->idx[k], s->side[k]->idx, (size_t)indices);
      }
      for (int64_t v = 0; v < s->all[r].rows; v++) end[v] += at[k];
      at[k] += s->all[r].nnz[k];
    }
  return TRS_SUCCESS;
}

static trs_status gather_pattern(rows *s, trs_ranks *ranks) {
  TRS_TRY(trs_ranks_agree(ranks, ranks->rank ? TRS_SUCCESS : allocate_pattern(s, ranks)));
  return ranks->rank ? send_pattern(s, ranks) : receive_pattern(s, ranks);
}

static void drop_pattern(rows *s) {
  for (int k = 0; k < 2; k++) {
    TRS_FREE_ALL(s->ptr[k], s->idx[k]);
    s->ptr[k] = NULL;
    s->idx[k] = NULL;
  }
}

/* ---- The input. ---- */

static trs_panels_source source_of(const rows *s, bool upper) {
  return (trs_panels_source){
      .n = s->of.n, .ptr = s->ptr[upper], .idx = s->idx[upper], .rows = true, .lower = !upper};
}

static trs_status make_layout(const trs_grid_input *in, trs_ranks *ranks, trs_grid_layout *layout,
                              int pz, const trs_layout_options *options) {
  rows *s = (rows *)in->state;
  trs_grid_pattern pattern = {.L = source_of(s, TRS_L), .U = source_of(s, TRS_U)};
  trs_input_turn(in, &pattern);
  trs_status status = trs_input_share_layout(ranks, layout, &pattern, pz, options);
  drop_pattern(s);
  return status;
}

static void hand_out(const rows *s, bool upper, trs_delivery *d) {
  const trs_matrix *T = s->side[upper];
  const size_t size = trs_scalar_size(T->scalar);
  for (int64_t v = 0; v < T->nrows; v++)
    for (int64_t p = T->ptr[v]; p < T->ptr[v + 1]; p++)
      trs_deliver(d, upper, s->first + v, T->idx[p], (const char *)T->val + (size_t)p * size);
}

static void produce(const void *state, trs_delivery *d) {
  const rows *s = state;
  for (int upper = 0; upper < 2 && s->of.L; upper++) hand_out(s, upper, d);
}

static void close(trs_grid_input *in) {
  rows *s = (rows *)in->state;
  if (!s) return;
  drop_pattern(s);
  TRS_FREE_ALL(s->all, s);
  in->state = NULL;
}

static trs_status take(rows *s, const trs_mpi_rows *of) {
  TRS_TRY(TRS_STRUCT_TAKE(trs_mpi_rows, &s->of, of));
  s->side[TRS_L] = s->of.L;
  s->side[TRS_U] = s->of.U;
  return check_kinds(&s->of);
}

static trs_status open(rows *s, trs_ranks *ranks, trs_scalar *scalar) {
  trs_status status = check_matrices(s);
  if (!status && !ranks->rank) status = check_maps(&s->of);
  if (!status) status = TRS_ALLOC(&s->all, ranks->size);
  TRS_TRY(trs_ranks_agree(ranks, status));
  TRS_TRY(share_sizes(s, ranks, scalar));
  return trs_ranks_agree(ranks, gather_pattern(s, ranks));
}

trs_status trs_input_rows(trs_grid_input *in, const trs_mpi_rows *of, trs_ranks *ranks) {
  rows *s = NULL;
  trs_scalar scalar;
  *in = (trs_grid_input){.close = close};
  trs_status status = of ? TRS_ALLOC_ZERO(&s, 1) : trs_fail(TRS_ERROR_ARGUMENT, -1, "rows is NULL");
  in->state = s;
  TRS_TRY(trs_ranks_agree(ranks, status));
  TRS_TRY(check_same(s, ranks, take(s, of)));
  TRS_TRY(open(s, ranks, &scalar));
  *in = (trs_grid_input){.scalar = scalar,
                         .n = s->of.n,
                         .unit = {s->of.diag_L == TRS_UNIT, s->of.diag_U == TRS_UNIT},
                         .maps = {s->of.row_perm, s->of.col_perm, s->of.row_scale, s->of.col_scale},
                         .first_maps = true,
                         .distributed = true,
                         .first_row = s->first,
                         .rows = s->all[ranks->rank].rows,
                         .layout = make_layout,
                         .produce = produce,
                         .close = close,
                         .state = s};
  return TRS_SUCCESS;
}
