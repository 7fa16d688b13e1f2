/* refactor.c - new values for a plan over block factors: the blocks of A go to their places in the
 * factors' order, the rows of each level of L are eliminated (factor/bilu0.c) by the threads of the
 * team, and both sweeps store the result.  Cost: that of the factorisation, divided by the threads;
 * a copy of the blocks in double stays with the plan. */
#include <string.h>

#include "base/config.h"
#include "base/timer.h"
#include "factor/kinds.h"
#include "relax/backend.h"
#include "relax/refactor.h"
#include "solve/factors/factors.h"

/* ---- Pattern and places ---- */

static int block_of(const trs_factors *F) { return F->L->block ? F->L->block : 1; }

/* The blocks of L and U, as one row each. */
static trs_status join_patterns(trs_bilu0 *w, const trs_block_pattern *L,
                                const trs_block_pattern *U) {
  trs_block_pattern both = {.n = L->n};
  trs_status status = TRS_ALLOC(&both.ptr, L->n + 1);
  if (!status) status = TRS_ALLOC(&both.idx, L->ptr[L->n] + U->ptr[U->n]);
  for (int64_t i = 0; !status && i <= L->n; i++) both.ptr[i] = L->ptr[i] + U->ptr[i];
  for (int64_t i = 0; !status && i < L->n; i++) {
    int32_t *to = both.idx + both.ptr[i];
    for (int64_t p = L->ptr[i]; p < L->ptr[i + 1]; p++) *to++ = L->idx[p];
    for (int64_t p = U->ptr[i]; p < U->ptr[i + 1]; p++) *to++ = U->idx[p];
  }
  if (!status) status = trs_bilu0_take_pattern(w, &both);
  trs_block_pattern_free(&both);
  return status;
}

static trs_status take_pattern(trs_bilu0 *w, const trs_factors *F, trs_team *team) {
  const trs_block_source lower = trs_block_source_of(F->L, w->block),
                         upper = trs_block_source_of(F->U, w->block);
  trs_block_pattern L, U;
  TRS_TRY(trs_block_pattern_build(&L, &lower, team));
  trs_status status = trs_block_pattern_build(&U, &upper, team);
  if (!status) {
    status = join_patterns(w, &L, &U);
    trs_block_pattern_free(&U);
  }
  trs_block_pattern_free(&L);
  return status;
}

static trs_status take_places(trs_refactor *f, const trs_factors *F) {
  const int b = f->w.block;
  TRS_TRY(TRS_ALLOC(&f->place, f->w.n));
  TRS_TRY(TRS_ALLOC(&f->from, f->w.n * b));
  for (int64_t i = 0; i < f->w.n; i++) {
    const int32_t own = F->col_perm ? F->col_perm[i * b] / b : (int32_t)i;
    f->place[own] = (int32_t)i;
    for (int r = 0; r < b; r++)
      f->from[i * b + r] = (uint8_t)(F->row_perm ? F->row_perm[i * b + r] - own * b : r);
  }
  return TRS_SUCCESS;
}

static trs_status create(trs_refactor **result, const trs_factors *F, trs_context *context) {
  trs_refactor *f;
  TRS_TRY(TRS_ALLOC_ZERO(&f, 1));
  f->w = (trs_bilu0){.kind = F->kind, .block = block_of(F), .threshold = TRS_FACTOR_THRESHOLD};
  trs_status status = take_pattern(&f->w, F, context->team);
  if (!status) status = take_places(f, F);
  if (status)
    trs_refactor_free(f);
  else
    *result = f;
  return status;
}

void trs_refactor_free(trs_refactor *f) {
  const trs_refactor_device *device = TRS_CUDA_PART(trs_refactor_cuda);
  if (!f) return;
  if (device) device->free(f);
  trs_bilu0_free(&f->w);
  TRS_FREE_ALL(f->place, f->from, f->position, f);
}

int64_t trs_refactor_held(const trs_refactor *f) {
  if (!f) return 0;
  const trs_bilu0 *w = &f->w;
  return TRS_HELD(f, f->place, f->from, f->position, w->ptr, w->idx, w->diagonal, w->val, w->pivot);
}

/* ---- Values ---- */

typedef struct job {
  trs_refactor *f;
  int threads;
  const trs_block_source *source;
  const int32_t *row; /* a level's rows */
  int64_t rows;
  _Atomic int64_t failed; /* the first block row of A with a failure, or n */
  _Atomic int column;
} job;

static void note(job *j, int64_t row, int column) {
  int64_t first = atomic_load(&j->failed);
  while (row < first && !atomic_compare_exchange_weak(&j->failed, &first, row)) continue;
  if (atomic_load(&j->failed) == row) atomic_store(&j->column, column);
}

static double element(const trs_block_source *S, int64_t p, int r, int c) {
  const int b = S->block;
  const int64_t at = p * b * b + (S->layout == TRS_ROW_MAJOR ? r * b + c : c * b + r);
  return S->scalar == TRS_DOUBLE ? ((const double *)S->val)[at] : ((const float *)S->val)[at];
}

int64_t trs_refactor_find(const trs_refactor *f, int64_t own, int32_t column) {
  const trs_bilu0 *w = &f->w;
  const int64_t i = f->place[own], end = w->ptr[i + 1];
  const int64_t at = trs_factor_seek(w->idx, w->ptr[i], end, f->place[column]);
  return at < end && w->idx[at] == f->place[column] ? at : -1;
}

/* Adds up the blocks of A's row own; false: one has no place in the pattern. */
static bool read_row(const job *j, int64_t own) {
  const trs_bilu0 *w = &j->f->w;
  const trs_block_source *S = j->source;
  const int b = w->block;
  const int64_t i = j->f->place[own], size = (int64_t)b * b;
  const uint8_t *from = j->f->from + i * b;
  memset(w->val + w->ptr[i] * size, 0,
         (size_t)((w->ptr[i + 1] - w->ptr[i]) * size) * sizeof *w->val);
  for (int64_t p = S->ptr[own]; p < S->ptr[own + 1]; p++) {
    const int64_t at = trs_refactor_find(j->f, own, S->idx[p]);
    if (at < 0) return false;
    for (int c = 0; c < b; c++)
      for (int r = 0; r < b; r++) w->val[at * size + c * b + r] += element(S, p, from[r], c);
  }
  return true;
}

static void read_share(void *argument, int rank, int size) {
  job *j = argument;
  int64_t begin, end;
  trs_share(j->f->w.n, rank, size, &begin, &end);
  for (int64_t own = begin; own < end; own++)
    if (!read_row(j, own)) note(j, own, 0);
}

trs_status trs_refactor_new_block(int64_t own) {
  return trs_fail(
      TRS_ERROR_STRUCTURE, own,
      "block row %lld (0-based) has a block that was not there when the matrix was factored: new "
      "values must keep the pattern",
      (long long)own);
}

static trs_status read_values(job *j, trs_team *team) {
  trs_team_run(team, j->threads, read_share, j);
  const int64_t row = atomic_load(&j->failed);
  return row == j->f->w.n ? TRS_SUCCESS : trs_refactor_new_block(row);
}

static void eliminate_share(void *argument, int rank, int size) {
  job *j = argument;
  int64_t begin, end;
  int column;
  trs_share(j->rows, rank, size, &begin, &end);
  for (int64_t k = begin; k < end; k++)
    if (!trs_bilu0_eliminate(&j->f->w, j->row[k], j->f->position + rank * j->f->w.n, &column))
      note(j, j->row[k], column);
}

trs_status trs_refactor_fail(const trs_refactor *f, int64_t i, int column) {
  int64_t row = 0;
  while (f->place[row] != i) row++;
  return trs_fail(
      column < 0 ? TRS_ERROR_NOT_FINITE : TRS_ERROR_ZERO_PIVOT, row * f->w.block,
      "the diagonal block of block row %lld (0-based) is %s: the plan needs other values",
      (long long)row, column < 0 ? "NaN or infinite" : "singular");
}

/* L's levels are those of the elimination. */
static trs_status eliminate(job *j, const trs_relaxation *L) {
  const trs_bilu0 *w = &j->f->w;
  if (!j->f->position) TRS_TRY(TRS_ALLOC(&j->f->position, w->n * j->threads));
  for (int64_t e = 0; e < w->n * j->threads; e++) j->f->position[e] = -1;
  for (int32_t c = 0; c < L->ncolours && atomic_load(&j->failed) == w->n; c++) {
    j->row = L->row + L->colour_ptr[c];
    j->rows = L->colour_ptr[c + 1] - L->colour_ptr[c];
    trs_team_run(L->context->team, j->rows < j->threads ? 1 : j->threads, eliminate_share, j);
  }
  const int64_t i = atomic_load(&j->failed);
  return i == w->n ? TRS_SUCCESS : trs_refactor_fail(j->f, i, atomic_load(&j->column));
}

/* ---- Both sweeps ---- */

static void put_block(const trs_bilu0 *w, int64_t p, const int32_t *slot, double *values) {
  const size_t size = (size_t)w->block * (size_t)w->block;
  memcpy(values + (size_t)slot[w->idx[p]] * size, w->val + (size_t)p * size, size * sizeof *values);
}

static void give_lower(const void *user, int64_t i, const int32_t *slot, double *values) {
  const trs_bilu0 *w = user;
  const int b = w->block;
  const double *d = w->val + w->diagonal[i] * b * b;
  double *to = values + (int64_t)slot[i] * b * b;
  for (int64_t p = w->ptr[i]; p < w->diagonal[i]; p++) put_block(w, p, slot, values);
  for (int c = 0; c < b; c++)
    for (int r = c; r < b; r++)
      to[c * b + w->pivot[i * b + r]] = r == c && w->kind != TRS_FACTOR_BIC0 ? 1 : d[c * b + r];
}

static void give_upper(const void *user, int64_t i, const int32_t *slot, double *values) {
  const trs_bilu0 *w = user;
  const int b = w->block;
  const double *d = w->val + w->diagonal[i] * b * b;
  double *to = values + (int64_t)slot[i] * b * b;
  for (int64_t p = w->diagonal[i] + 1; p < w->ptr[i + 1]; p++) put_block(w, p, slot, values);
  for (int c = 0; c < b; c++)
    for (int r = 0; r <= c; r++) to[c * b + r] = d[c * b + r];
}

static trs_status store(trs_relaxation *R, const trs_bilu0 *w, bool lower) {
  const trs_block_source source = {.scalar = TRS_DOUBLE,
                                   .block = w->block,
                                   .nrows = w->n,
                                   .ncols = w->n,
                                   .give = lower ? give_lower : give_upper,
                                   .user = w};
  return trs_relaxation_update(R, &source);
}

trs_status trs_refactor_check(trs_plan *plan) {
  const trs_factors *F = trs_plan_factors(plan);
  const bool single = F && F->kind >= TRS_FACTOR_BILU0 && block_of(F) == 1; /* auto has others */
  if (single && !trs_triangle_of(plan->sweep[0])) TRS_TRY(trs_factors_plan_use(plan, "blocks"));
  const trs_triangle *L = trs_triangle_of(plan->sweep[0]);
  if (!F || F->kind < TRS_FACTOR_BILU0 || !L || !trs_triangle_of(plan->sweep[1]) ||
      L->R->block != block_of(F) || plan->trans != TRS_NO_TRANS)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "new values by blocks are for plans over BILU0, BIC0 or DILU by the method "
                    "blocks with the factors' block size, not transposed: factor anew");
  return TRS_SUCCESS;
}

static trs_status on_host(trs_refactor *f, trs_relaxation *L, trs_relaxation *U,
                          const trs_block_source *source) {
  job j = {.f = f, .threads = L->context->threads, .source = source};
  if (!source->ptr)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "ptr is NULL, which is for new values in device memory of an NVIDIA GPU alone");
  atomic_init(&j.failed, f->w.n);
  TRS_TRY(read_values(&j, L->context->team));
  TRS_TRY(eliminate(&j, L));
  TRS_TRY(store(L, &f->w, true));
  return store(U, &f->w, false);
}

bool trs_refactor_takes(const trs_plan *plan, const void *val) {
  const trs_refactor_device *device = TRS_CUDA_PART(trs_refactor_cuda);
  return device && trs_triangle_of(plan->sweep[0])->R->gpu &&
         trs_triangle_of(plan->sweep[1])->R->gpu && trs_device_address(val);
}

trs_status trs_refactor_blocks(trs_plan *plan, const trs_block_source *source) {
  const trs_refactor_device *device = TRS_CUDA_PART(trs_refactor_cuda);
  const double start = trs_seconds();
  if (source->ptr) TRS_TRY(trs_block_source_check(source));
  trs_triangle *L = trs_triangle_of(plan->sweep[0]);
  trs_relaxation *U = trs_triangle_of(plan->sweep[1])->R;
  if (!L->refactor) TRS_TRY(create(&L->refactor, trs_plan_factors(plan), plan->context));
  if (U->backend->stream) {
    *U->backend->stream(U) = plan->stream;
    *L->R->backend->stream(L->R) = plan->stream;
  }
  const bool there = trs_refactor_takes(plan, source->val);
  TRS_TRY((there ? device->run : on_host)(L->refactor, L->R, U, source));
  plan->update_seconds = trs_seconds() - start;
  return TRS_SUCCESS;
}
