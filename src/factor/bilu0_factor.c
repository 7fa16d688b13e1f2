/* bilu0_factor.c - the block kinds of trs_factor: bilu0.c on the rows of each level, and its blocks
 * as the scalar triangles L and U, whose blocks are stored whole.  The exchanges of a diagonal
 * block move rows of L and of row_perm. */
#include "base/cancel.h"
#include "base/cores.h"
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
  trs_status status = TRS_ALLOC(&to.ptr, P->n + 1);
  if (!status) status = TRS_ALLOC(&to.idx, P->ptr[P->n]);
  if (!status) status = TRS_ALLOC(&place, P->n);
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

static trs_status fail_diagonal(const trs_bilu0 *w) {
  trs_failure failure;
  trs_failure_get(&failure);
  return trs_fail(TRS_ERROR_STRUCTURE, failure.row * w->block,
                  "%s: block row %lld (0-based) has no diagonal block", trs_factor_name(w->kind, 0),
                  (long long)failure.row);
}

static trs_status lay_out(trs_bilu0 *w, const trs_block_source *source, const int32_t *own,
                          trs_team *team) {
  trs_block_pattern pattern;
  w->block = source->block;
  trs_status status = trs_block_pattern_build(&pattern, source, team);
  if (status) return status == TRS_ERROR_STRUCTURE ? fail_diagonal(w) : status;
  if (own) status = permute(&pattern, own);
  if (!status) status = trs_bilu0_take_pattern(w, &pattern);
  trs_block_pattern_free(&pattern);
  return status;
}

/* ---- Elimination: rows of a level of L at once.  Level by level, the first row without a pivot is
 * that of one thread: rows before it read no row that fails. ---- */

static trs_status fail_pivot(const trs_bilu0 *w, const trs_factor_input *input, int64_t i,
                             int column) {
  const int64_t row = trs_factor_row(input, i * w->block + (column > 0 ? column : 0));
  if (column < 0)
    return trs_fail(TRS_ERROR_NOT_FINITE, row,
                    "%s: the diagonal block of block row %lld (0-based) is NaN or infinite",
                    trs_factor_name(w->kind, 0), (long long)(row / w->block));
  if (w->kind == TRS_FACTOR_BIC0)
    return trs_fail(TRS_ERROR_ZERO_PIVOT, row,
                    "%s: the diagonal block of block row %lld (0-based) is not positive definite: "
                    "no pivot in its column %d; use a shift or a larger diagonal",
                    trs_factor_name(w->kind, 0), (long long)(row / w->block), column);
  return trs_fail(TRS_ERROR_ZERO_PIVOT, row,
                  "%s: the diagonal block of block row %lld (0-based) is singular: no pivot in its "
                  "column %d; another order, or a larger diagonal, may help",
                  trs_factor_name(w->kind, 0), (long long)(row / w->block), column);
}

typedef struct elimination {
  const trs_bilu0 *w;
  const trs_block_source *source;
  const int32_t *own;
  int32_t *order;     /* rows by levels */
  int64_t begin, end; /* of a level, in order */
  struct member {
    int32_t *slot;
    int64_t *position, failed; /* failed: this member's first row without a pivot, or n */
    int column;
  } * member;
  int threads;
} elimination;

static void read_share(void *argument, int rank, int size) {
  const elimination *e = argument;
  struct member *m = &e->member[rank];
  int64_t begin, end;
  for (int64_t i = 0; i < e->w->n; i++) {
    m->slot[i] = -1;
    m->position[i] = -1;
  }
  trs_share(e->w->n, rank, size, &begin, &end);
  for (int64_t i = begin; i < end; i++)
    (void)trs_bilu0_read(e->w, e->source, e->own, i, m->slot); /* all blocks have places */
}

static void eliminate_share(void *argument, int rank, int size) {
  const elimination *e = argument;
  struct member *m = &e->member[rank];
  int64_t begin, end;
  int column;
  trs_share(e->end - e->begin, rank, size, &begin, &end);
  for (int64_t k = e->begin + begin; k < e->begin + end; k++) {
    const int64_t i = e->order[k];
    if (trs_bilu0_eliminate(e->w, i, m->position, &column) || i >= m->failed) continue;
    m->failed = i;
    m->column = column;
  }
}

/* Rows by levels; *ends: of levels in order, which the caller frees. */
static trs_status sort_by_levels(elimination *e, int64_t **ends, int64_t *levels) {
  const trs_bilu0 *w = e->w;
  int32_t *level;
  TRS_TRY(TRS_ALLOC(&level, w->n));
  *levels = 0;
  for (int64_t i = 0; i < w->n; i++) {
    level[i] = 0;
    for (int64_t p = w->ptr[i]; p < w->diagonal[i]; p++)
      if (level[w->idx[p]] >= level[i]) level[i] = level[w->idx[p]] + 1;
    if (level[i] >= *levels) *levels = level[i] + 1;
  }
  trs_status status = TRS_ALLOC_ZERO(ends, *levels + 1);
  if (!status) {
    int64_t *next = *ends;
    for (int64_t i = 0; i < w->n; i++) next[level[i] + 1]++;
    for (int64_t c = 0; c < *levels; c++) next[c + 1] += next[c];
    for (int64_t i = 0; i < w->n; i++) e->order[next[level[i]]++] = (int32_t)i;
  }
  trs_free(level);
  return status;
}

static trs_status eliminate_levels(elimination *e, trs_team *team) {
  enum { ROWS_WORTH = 16 }; /* a level with fewer per thread has one thread */
  int64_t *ends, levels;
  TRS_TRY(sort_by_levels(e, &ends, &levels));
  trs_status status = TRS_SUCCESS;
  for (int64_t c = 0; c < levels && !status; c++) {
    e->begin = c ? ends[c - 1] : 0;
    e->end = ends[c];
    const bool one = e->end - e->begin < (int64_t)ROWS_WORTH * e->threads;
    trs_team_run(team, one ? 1 : e->threads, eliminate_share, e);
    status = trs_cancelled();
  }
  trs_free(ends);
  return status;
}

static trs_status report(const elimination *e, const trs_factor_input *input) {
  const struct member *first = e->member;
  for (int k = 1; k < e->threads; k++)
    if (e->member[k].failed < first->failed) first = &e->member[k];
  return first->failed < e->w->n ? fail_pivot(e->w, input, first->failed, first->column)
                                 : TRS_SUCCESS;
}

static trs_status take_members(elimination *e) {
  const int64_t n = e->w->n;
  TRS_TRY(TRS_ALLOC(&e->order, n));
  TRS_TRY(TRS_ALLOC_ZERO(&e->member, e->threads));
  for (int k = 0; k < e->threads; k++) {
    e->member[k].failed = n;
    TRS_TRY(TRS_ALLOC(&e->member[k].slot, n));
    TRS_TRY(TRS_ALLOC(&e->member[k].position, n));
  }
  return TRS_SUCCESS;
}

static trs_status eliminate(const trs_bilu0 *w, const trs_block_source *source, const int32_t *own,
                            const trs_factor_input *input, trs_team *team) {
  elimination e = {.w = w, .source = source, .own = own, .threads = trs_team_size(team)};
  trs_status status = take_members(&e);
  if (!status) {
    trs_team_run(team, e.threads, read_share, &e);
    status = eliminate_levels(&e, team);
  }
  if (!status) status = report(&e, input);
  for (int k = 0; e.member && k < e.threads; k++)
    TRS_FREE_ALL(e.member[k].slot, e.member[k].position);
  TRS_FREE_ALL(e.order, e.member);
  return status;
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

typedef struct triangle {
  const trs_bilu0 *w;
  trs_scalar scalar;
  bool lower;
  int64_t *ptr;
  int32_t *idx;
  void *val;
} triangle;

static void write_share(void *argument, int rank, int size) {
  const triangle *t = argument;
  const int b = t->w->block;
  int64_t begin, end;
  trs_share(t->w->n, rank, size, &begin, &end);
  for (int64_t i = begin; i < end; i++) {
    int64_t at = t->ptr[i * b];
    for (int r = 0; r < b; r++) {
      t->ptr[i * b + r] = at;
      at = write_row(t->w, i, r, t->lower, t->scalar, t->idx, t->val, at);
    }
  }
}

static trs_status extract(trs_matrix **T, const trs_bilu0 *w, trs_scalar scalar, bool lower,
                          trs_team *team) {
  triangle t = {.w = w, .scalar = scalar, .lower = lower};
  const int64_t b = w->block, rows = w->n * b;
  int64_t nnz = 0;
  trs_status status = TRS_ALLOC(&t.ptr, rows + 1);
  for (int64_t i = 0; i < w->n && !status; i++) {
    t.ptr[i * b] = nnz;
    nnz += b * (b + 1) / 2;
    nnz += (lower ? w->diagonal[i] - w->ptr[i] : w->ptr[i + 1] - w->diagonal[i] - 1) * b * b;
  }
  if (!status) status = TRS_ALLOC(&t.idx, nnz);
  if (!status) status = trs_alloc(&t.val, nnz, trs_scalar_size(scalar));
  if (status) {
    TRS_FREE_ALL(t.ptr, t.idx, t.val);
    return status;
  }
  t.ptr[rows] = nnz;
  trs_team_run(team, trs_team_size(team), write_share, &t);
  status = trs_matrix_adopt(T, TRS_CSR, scalar, rows, rows, t.ptr, t.idx, t.val);
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

static trs_status factor(trs_factors *parts, trs_bilu0 *w, const trs_factor_input *input,
                         trs_team *team) {
  const trs_block_source source = trs_block_source_of(input->B, input->block);
  int32_t *own;
  TRS_TRY(take_order(&own, input, source.nrows));
  trs_status status = lay_out(w, &source, own, team);
  if (!status) status = eliminate(w, &source, own, input, team);
  trs_free(own);
  TRS_TRY(status);
  TRS_TRY(exchange_rows(parts, w));
  TRS_TRY(extract(&parts->L, w, input->B->scalar, true, team));
  return extract(&parts->U, w, input->B->scalar, false, team);
}

/* All cores, for matrices that are worth starting threads. */
static trs_status start_team(trs_team **team, const trs_matrix *B) {
  enum { ENTRIES_WORTH = 1 << 20 };
  const int64_t most = B->nnz / ENTRIES_WORTH;
  int threads;
  *team = NULL;
  TRS_TRY(trs_default_threads(&threads));
  if (threads > most) threads = (int)most;
  return threads > 1 ? trs_team_create_any(team, threads) : TRS_SUCCESS;
}

trs_status trs_factor_blocks(trs_factors *parts, const trs_factor_input *input) {
  trs_bilu0 work = {.kind = parts->kind, .threshold = input->pivot_threshold};
  trs_team *team;
  parts->diag_L = parts->diag_U = TRS_NONUNIT;
  TRS_TRY(start_team(&team, input->B));
  trs_status status = factor(parts, &work, input, team);
  trs_team_destroy(team);
  trs_bilu0_free(&work);
  return status;
}
