/* refactor.c - new values for a plan over block factors: they are eliminated as the factors were
 * (factor/bilu0.c), by the threads of the team, and both sweeps take the result.  Cost: that of the
 * factorisation; blocks in double stay with the plan, and a sweep of one thread reads them there.
 */
#include "base/config.h"
#include "base/timer.h"
#include "factor/kinds.h"
#include "plan/mover.h"
#include "relax/backend.h"
#include "relax/refactor.h"
#include "solve/factors/factors.h"

/* ---- Pattern and places ---- */

static int block_of(const trs_factors *F) { return F->L->block ? F->L->block : 1; }

/* The blocks of L and U, as one row each. */
static trs_status join_patterns(trs_bilu0 **w, const trs_bilu0 *head, const trs_block_pattern *L,
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
  if (!status) status = trs_bilu0_create(w, head, &both);
  trs_block_pattern_free(&both);
  return status;
}

static trs_status take_pattern(trs_refactor *f, const trs_factors *F, trs_team *team) {
  const trs_bilu0 head = {.kind = F->kind, .block = block_of(F), .threshold = TRS_FACTOR_THRESHOLD};
  TRS_TRY(trs_matrix_fill(F->L));
  TRS_TRY(trs_matrix_fill(F->U));
  const trs_block_source lower = trs_block_source_of(F->L, head.block),
                         upper = trs_block_source_of(F->U, head.block);
  trs_block_pattern L, U;
  TRS_TRY(trs_block_pattern_build(&L, &lower, team));
  trs_status status = trs_block_pattern_build(&U, &upper, team);
  if (!status) {
    status = join_patterns(&f->w, &head, &L, &U);
    trs_block_pattern_free(&U);
  }
  trs_block_pattern_free(&L);
  return status;
}

/* Where the sweeps have exchanges of rows, blocks take them over. */
static trs_status take_places(trs_refactor *f, const trs_factors *F, bool by_blocks) {
  const int b = f->w->block;
  const int32_t *row = by_blocks ? F->col_perm : F->row_perm;
  bool exchanges = false;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&f->place, f->w->n), TRS_ROOM(&f->own, f->w->n),
                        TRS_ROOM(&f->from, f->w->n * b)));
  for (int64_t i = 0; i < f->w->n; i++) {
    const int32_t own = F->col_perm ? F->col_perm[i * b] / b : (int32_t)i;
    f->own[i] = own;
    f->place[own] = (int32_t)i;
    for (int r = 0; r < b; r++) {
      f->from[i * b + r] = (uint8_t)(row ? row[i * b + r] - own * b : r);
      exchanges |= f->from[i * b + r] != r;
    }
  }
  f->exchanges = exchanges;
  f->permutes = F->col_perm != NULL;
  return TRS_SUCCESS;
}

/* Factors that the plan alone still has are overwritten; others keep their values. */
static trs_status take_factors(trs_refactor *f, const trs_plan *plan) {
  const trs_factors *F = trs_plan_factors(plan);
  const trs_bilu0 *w = trs_bilu0_of(F->L);
  if (!w) return take_pattern(f, F, plan->context->team);
  if (!plan->sweep[0]->by_blocks || atomic_load(&F->references) > 1)
    return trs_bilu0_create_like(&f->w, w);
  f->w = trs_bilu0_retain(w);
  return TRS_SUCCESS;
}

static trs_status create(trs_refactor **result, const trs_plan *plan) {
  const trs_factors *F = trs_plan_factors(plan);
  trs_refactor *f;
  TRS_TRY(TRS_ALLOC_ZERO(&f, 1));
  trs_status status = take_factors(f, plan);
  if (!status) {
    f->w->narrow = false;
    f->w->threshold = TRS_FACTOR_THRESHOLD;
    status = take_places(f, F, plan->sweep[0]->by_blocks);
  }
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
  trs_bilu0_free(f->w);
  TRS_FREE_ALL(f->place, f->own, f->from, f);
}

int64_t trs_refactor_held(const trs_refactor *f) {
  return f ? TRS_HELD(f, f->place, f->own, f->from) + trs_bilu0_held(f->w) : 0;
}

/* ---- Values ---- */

int64_t trs_refactor_find(const trs_refactor *f, int64_t own, int32_t column) {
  const trs_bilu0 *w = f->w;
  const int64_t i = f->place[own], end = w->ptr[i + 1];
  const int64_t at = trs_factor_seek(w->idx, w->ptr[i], end, f->place[column]);
  return at < end && w->idx[at] == f->place[column] ? at : -1;
}

trs_status trs_refactor_new_block(int64_t own) {
  return trs_fail(
      TRS_ERROR_STRUCTURE, own,
      "block row %lld (0-based) has a block that was not there when the matrix was factored: new "
      "values must keep the pattern",
      (long long)own);
}

trs_status trs_refactor_fail(const trs_refactor *f, int64_t i, int column) {
  int64_t row = 0;
  while (f->place[row] != i) row++;
  return trs_fail(
      column < 0 ? TRS_ERROR_NOT_FINITE : TRS_ERROR_ZERO_PIVOT, row * f->w->block,
      "the diagonal block of block row %lld (0-based) is %s: the plan needs other values",
      (long long)row, column < 0 ? "NaN or infinite" : "singular");
}

static bool has_blocks(const trs_plan *plan) {
  const trs_relaxation *L = trs_triangle_of(plan->sweep[0]);
  return L && trs_triangle_of(plan->sweep[1]) && L->block == block_of(trs_plan_factors(plan));
}

static trs_status refuse(void) {
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "new values by blocks are for plans over BILU0, BIC0 or DILU by the method "
                  "blocks with the factors' block size, not transposed: factor anew");
}

trs_status trs_refactor_check(const trs_plan *plan) {
  const trs_factors *F = trs_plan_factors(plan);
  const bool by_auto = !((const trs_two_sweeps *)plan->state)->named;
  if (F->kind < TRS_FACTOR_BILU0 || plan->trans != TRS_NO_TRANS) return refuse();
  return has_blocks(plan) || (block_of(F) == 1 && by_auto) ? TRS_SUCCESS : refuse();
}

trs_status trs_refactor_begin(trs_plan *plan) {
  if (has_blocks(plan)) return TRS_SUCCESS;
  TRS_TRY(trs_factors_plan_use(plan, "blocks"));
  return has_blocks(plan) ? TRS_SUCCESS : refuse();
}

static trs_status fail(const trs_refactor *f, const trs_bilu0_outcome *o) {
  const bool column = o->fault == TRS_BILU0_SINGULAR || o->fault == TRS_BILU0_SMALL;
  if (!o->fault) return TRS_SUCCESS;
  if (o->fault == TRS_BILU0_READ) return trs_failure_set(&o->read);
  return trs_refactor_fail(f, o->row, column ? o->column : -1);
}

static trs_status on_host(trs_refactor *f, trs_relaxation *L, trs_relaxation *U,
                          const trs_block_source *source) {
  const trs_bilu0_input input = {source, f->permutes ? f->own : NULL,
                                 f->exchanges ? f->from : NULL};
  trs_bilu0_outcome outcome;
  if (!source->ptr)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "ptr is NULL, which is for new values in device memory of an NVIDIA GPU alone");
  TRS_TRY(trs_bilu0_run(f->w, &input, L->plan->context->team, &outcome));
  TRS_TRY(fail(f, &outcome));
  TRS_TRY(trs_relaxation_take(L, f->w, true));
  return trs_relaxation_take(U, f->w, false);
}

bool trs_refactor_takes(const trs_plan *plan, const void *val) {
  const trs_refactor_device *device = TRS_CUDA_PART(trs_refactor_cuda);
  return device && trs_triangle_of(plan->sweep[0])->gpu && trs_triangle_of(plan->sweep[1])->gpu &&
         trs_device_address(val);
}

trs_status trs_refactor_blocks(trs_plan *plan, const trs_block_source *source) {
  const trs_refactor_device *device = TRS_CUDA_PART(trs_refactor_cuda);
  const double start = trs_seconds();
  if (source->ptr) TRS_TRY(trs_block_source_check(source));
  trs_relaxation *L = trs_triangle_of(plan->sweep[0]), *U = trs_triangle_of(plan->sweep[1]);
  if (!L->refactor) TRS_TRY(create(&L->refactor, plan));
  L->plan->stream = U->plan->stream = plan->stream;
  const bool there = trs_refactor_takes(plan, source->val);
  TRS_TRY((there ? device->run : on_host)(L->refactor, L, U, source));
  plan->update_seconds = trs_seconds() - start;
  return TRS_SUCCESS;
}
