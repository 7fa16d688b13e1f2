/* refactor.c - new block factors on a GPU: its arrays, and the launches of an update.  The host
 * finds the place of each block once for a pattern. */
#include "relax/cuda/refactor.h"

#include "factor/kinds.h"
#include "relax/cuda/backend_state.h"
#include "relax/kernels.h"
#include "relax/refactor.h"

/* One sweep: L or U. */
typedef struct side {
  trs_relaxation *R;
  const int32_t *place; /* of each off-diagonal block of R */
  trs_relax_args args;  /* W21's format; from it, slices are packed */
  trs_relax_owned own;
} side;

struct trs_refactor_gpu {
  trs_relax_gpu *state; /* of L: for its device and stream */
  trs_refactor_args args;
  trs_relax_owned own;
  side sides[2];
  bool has_pattern;
  unsigned long long *told; /* pinned */
};

static void free_gpu(trs_refactor *f) {
  trs_refactor_gpu *g = f->gpu;
  if (!g) return;
  int before = trs_device_enter(g->state->device);
  trs_relax_drop(g->state, &g->own);
  for (int k = 0; k < 2; k++) trs_relax_drop(g->state, &g->sides[k].own);
  (void)trs_device_wait(g->state->stream);
  trs_device_free_host(g->state->device, g->told);
  trs_device_leave(before);
  trs_free(g);
  f->gpu = NULL;
}

/* ---- Arrays ---- */

static trs_status take_factors(trs_refactor_gpu *g, const trs_refactor *f) {
  const trs_bilu0 *w = &f->w;
  const int64_t blocks = w->ptr[w->n], size = (int64_t)w->block * w->block;
  trs_refactor_args *a = &g->args;
  *a = (trs_refactor_args){.n = w->n,
                           .block = w->block,
                           .dilu = w->kind == TRS_FACTOR_DILU,
                           .cholesky = w->kind == TRS_FACTOR_BIC0,
                           .threshold = w->threshold};
  TRS_TRY(trs_relax_bring(g->state, &g->own, &a->ptr, w->ptr, w->n + 1, sizeof *w->ptr));
  TRS_TRY(trs_relax_bring(g->state, &g->own, &a->idx, w->idx, blocks, sizeof *w->idx));
  TRS_TRY(trs_relax_bring(g->state, &g->own, &a->diagonal, w->diagonal, w->n, sizeof *w->diagonal));
  TRS_TRY(trs_relax_bring(g->state, &g->own, &a->from, f->from, w->n * w->block, 1));
  TRS_TRY(trs_relax_take(g->state, &g->own, &a->val, blocks * size, sizeof *w->val));
  TRS_TRY(trs_relax_take(g->state, &g->own, &a->pivot, w->n * w->block, 1));
  TRS_TRY(trs_relax_take(g->state, &g->own, &a->source, blocks, sizeof *a->source));
  return trs_relax_take(g->state, &g->own, &a->failed, 1, sizeof *a->failed);
}

/* The places of R's off-diagonal blocks in w. */
static trs_status take_places(trs_refactor_gpu *g, side *s, const trs_bilu0 *w) {
  const trs_relaxation *R = s->R;
  int32_t *place;
  TRS_TRY(TRS_ALLOC(&place, R->noff));
  for (int64_t p = 0; p < R->nrows; p++) {
    const int64_t i = R->row[p];
    for (int64_t k = R->ptr[p]; k < R->ptr[p + 1]; k++)
      place[k] = (int32_t)trs_factor_seek(w->idx, w->ptr[i], w->ptr[i + 1], R->row[R->idx[k]]);
  }
  trs_status status = trs_relax_bring(g->state, &s->own, &s->place, place, R->noff, sizeof *place);
  if (!status) status = trs_device_wait(g->state->stream);
  trs_free(place);
  return status;
}

/* Slices are packed from arrays that stay here; W21's kernels read theirs. */
static trs_status take_side(trs_refactor_gpu *g, side *s, trs_relaxation *R, const trs_bilu0 *w) {
  const int64_t size = (int64_t)R->block * R->block;
  const trs_relax_kernels *K = trs_relax_kernels_of(R->store);
  trs_relax_args *a = &s->args;
  s->R = R;
  *a = R->gpu->args;
  TRS_TRY(take_places(g, s, w));
  if (R->gpu->variant->kind != TRS_RELAX_BY_SLICES) return TRS_SUCCESS;
  TRS_TRY(trs_relax_bring(g->state, &s->own, &a->ptr, R->ptr, R->nrows + 1, sizeof *R->ptr));
  TRS_TRY(trs_relax_bring(g->state, &s->own, &a->idx, R->idx, R->noff, sizeof *R->idx));
  TRS_TRY(trs_relax_take(g->state, &s->own, &a->off, R->noff * size, K->off_size));
  return K->scaled ? trs_relax_take(g->state, &s->own, &a->power, R->noff, 1) : TRS_SUCCESS;
}

static trs_status build(trs_refactor *f, trs_relaxation *L, trs_relaxation *U) {
  trs_refactor_gpu *g = f->gpu;
  if (f->w.ptr[f->w.n] > INT32_MAX)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "more than 2147483647 blocks: give new values in host memory");
  TRS_TRY(trs_device_alloc_host(g->state->device, (void **)&g->told));
  TRS_TRY(take_factors(g, f));
  TRS_TRY(take_side(g, &g->sides[0], L, &f->w));
  TRS_TRY(take_side(g, &g->sides[1], U, &f->w));
  return trs_device_wait(g->state->stream);
}

/* ---- The pattern of new blocks ---- */

/* source[at]: the caller's block at place at of the factors, or -1. */
static trs_status find_sources(const trs_refactor *f, const trs_block_source *S, int32_t *source) {
  const trs_bilu0 *w = &f->w;
  for (int64_t at = 0; at < w->ptr[w->n]; at++) source[at] = -1;
  for (int64_t own = 0; own < w->n; own++)
    for (int64_t p = S->ptr[own]; p < S->ptr[own + 1]; p++) {
      const int64_t at = trs_refactor_find(f, own, S->idx[p]);
      if (at < 0) return trs_refactor_new_block(own);
      if (source[at] >= 0)
        return trs_fail(TRS_ERROR_UNSUPPORTED, own,
                        "block row %lld has the block of column %d twice: give new values in host "
                        "memory",
                        (long long)own, S->idx[p]);
      source[at] = (int32_t)p;
    }
  return TRS_SUCCESS;
}

static trs_status take_pattern(trs_refactor *f, const trs_block_source *S) {
  trs_refactor_gpu *g = f->gpu;
  const int64_t blocks = f->w.ptr[f->w.n];
  int32_t *source;
  g->has_pattern = false;
  TRS_TRY(TRS_ALLOC(&source, blocks));
  trs_status status = find_sources(f, S, source);
  if (!status)
    status = trs_device_copy((void *)(uintptr_t)g->args.source, source,
                             blocks * (int64_t)sizeof *source, g->state->stream);
  if (!status) status = trs_device_wait(g->state->stream);
  trs_free(source);
  g->has_pattern = !status;
  return status;
}

/* ---- An update ---- */

static trs_status store_side(const trs_refactor_gpu *g, int k) {
  const side *s = &g->sides[k];
  trs_relax_gpu *state = s->R->gpu;
  const trs_stream stream = g->state->stream;
  TRS_TRY(trs_refactor_store(&g->args, &s->args, s->place, k == 0, stream));
  if (state->variant->kind != TRS_RELAX_BY_SLICES) return TRS_SUCCESS;
  return trs_relax_slices_pack(&s->args, &state->slices, stream);
}

static trs_status launch(const trs_refactor_gpu *g) {
  const trs_stream stream = g->state->stream;
  const trs_relaxation *L = g->sides[0].R;
  TRS_TRY(trs_device_fill(g->args.failed, 0xff, sizeof *g->args.failed, stream));
  TRS_TRY(trs_refactor_gather(&g->args, stream));
  for (int32_t c = 0; c < L->ncolours; c++)
    TRS_TRY(trs_refactor_eliminate(&g->args, L->gpu->args.row + L->colour_ptr[c],
                                   L->colour_ptr[c + 1] - L->colour_ptr[c], stream));
  TRS_TRY(store_side(g, 0));
  TRS_TRY(store_side(g, 1));
  return trs_device_copy(g->told, g->args.failed, sizeof *g->told, stream);
}

static trs_status report(const trs_refactor *f) {
  const unsigned long long word = *f->gpu->told;
  if (word == ~0ull) return TRS_SUCCESS;
  const int64_t i = (int64_t)(word / TRS_REFACTOR_KINDS);
  if (word % TRS_REFACTOR_KINDS == TRS_REFACTOR_TOO_LARGE)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "new factors have a value too large to be stored as a float: store as double");
  return trs_refactor_fail(f, i, word % TRS_REFACTOR_KINDS == TRS_REFACTOR_NO_PIVOT ? 0 : -1);
}

static trs_status run_there(trs_refactor *f, const trs_block_source *source) {
  trs_refactor_gpu *g = f->gpu;
  if (source->ptr) TRS_TRY(take_pattern(f, source));
  if (!g->has_pattern)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "ptr and idx are NULL, but no call before gave a pattern to device memory");
  g->args.given = source->val;
  g->args.wide = source->scalar == TRS_DOUBLE;
  g->args.by_rows = source->layout == TRS_ROW_MAJOR;
  TRS_TRY(launch(g));
  TRS_TRY(trs_device_wait(g->state->stream));
  return report(f);
}

static trs_status create(trs_refactor *f, trs_relaxation *L, trs_relaxation *U) {
  TRS_TRY(TRS_ALLOC_ZERO(&f->gpu, 1));
  f->gpu->state = L->gpu;
  trs_status status = build(f, L, U);
  if (status) free_gpu(f);
  return status;
}

static trs_status run(trs_refactor *f, trs_relaxation *L, trs_relaxation *U,
                      const trs_block_source *source) {
  int before = trs_device_enter(L->gpu->device);
  trs_status status = f->gpu ? TRS_SUCCESS : create(f, L, U);
  if (!status) status = run_there(f, source);
  trs_device_leave(before);
  return status;
}

const trs_refactor_device trs_refactor_cuda = {.run = run, .free = free_gpu};
