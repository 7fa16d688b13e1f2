/* refactor.c - new block factors on a GPU: its arrays, and the launches of an update.  The host
 * finds the place of each block once for a pattern. */
#include "relax/cuda/refactor.h"

#include "factor/kinds.h"
#include "relax/cuda/backend.h"
#include "relax/kernels.h"
#include "relax/refactor.h"

/* One sweep: L or U. */
typedef struct side {
  trs_relaxation *R;
  trs_arena own;
} side;

struct trs_refactor_gpu {
  const trs_relaxation *L; /* for its device and stream */
  trs_refactor_args args;
  trs_arena own;
  side sides[2];
  int64_t *longest; /* per level: blocks of its longest row */
  bool has_pattern;
  unsigned long long *told; /* pinned */
};

static void free_gpu(trs_refactor *f) {
  trs_refactor_gpu *g = f->gpu;
  if (!g) return;
  int before = trs_device_enter(g->L->gpu->device);
  trs_arena_free(&g->own);
  for (int k = 0; k < 2; k++) trs_arena_free(&g->sides[k].own);
  (void)trs_device_wait(g->L->plan->stream);
  trs_device_free_host(g->L->gpu->device, g->told);
  trs_device_leave(before);
  TRS_FREE_ALL(g->longest, g);
  f->gpu = NULL;
}

/* ---- Arrays ---- */

static trs_status take_factors(trs_refactor_gpu *g, const trs_refactor *f) {
  const trs_bilu0 *w = f->w;
  const int64_t blocks = w->ptr[w->n], size = (int64_t)w->block * w->block;
  trs_refactor_args *a = &g->args;
  *a = (trs_refactor_args){.n = w->n,
                           .block = w->block,
                           .cholesky = w->kind == TRS_FACTOR_BIC0,
                           .threshold = w->threshold};
  TRS_TRY(trs_arena_upload(&g->own, &a->ptr, w->ptr, w->n + 1, sizeof *w->ptr));
  TRS_TRY(trs_arena_upload(&g->own, &a->diagonal, w->diagonal, w->n, sizeof *w->diagonal));
  TRS_TRY(trs_arena_upload(&g->own, &a->from, f->from, w->n * w->block, 1));
  TRS_TRY(trs_arena_alloc(&g->own, &a->val, blocks * size, sizeof(double)));
  TRS_TRY(trs_arena_alloc(&g->own, &a->source, blocks, sizeof *a->source));
  return trs_arena_alloc(&g->own, &a->failed, 1, sizeof *a->failed);
}

/* Slices are packed from arrays that stay here; kernels by rows read theirs. */
static trs_status take_side(trs_refactor_gpu *g, int k, trs_relaxation *R) {
  const int64_t size = (int64_t)R->block * R->block;
  const trs_relax_kernels *K = trs_relax_kernels_of(R->store);
  side *s = &g->sides[k];
  trs_relax_args *a = &g->args.side[k].relax;
  int32_t *position;
  s->R = R;
  *a = R->gpu->args;
  TRS_TRY(TRS_ALLOC(&position, R->nrows));
  for (int64_t p = 0; p < R->nrows; p++) position[R->row[p]] = (int32_t)p;
  TRS_TRY(trs_arena_move(&s->own, &g->args.side[k].position, position, R->nrows, sizeof *position));
  if (!trs_relax_by_slices(R)) return TRS_SUCCESS;
  TRS_TRY(trs_arena_upload(&s->own, &a->ptr, R->ptr, R->nrows + 1, sizeof *R->ptr));
  TRS_TRY(trs_arena_upload(&s->own, &a->idx, R->idx, R->noff, sizeof *R->idx));
  TRS_TRY(trs_arena_alloc(&s->own, &a->off, R->noff * size, K->off_size));
  return K->scaled ? trs_arena_alloc(&s->own, &a->power, R->noff, 1) : TRS_SUCCESS;
}

/* Where the blocks of w go in L and U. */
static trs_status take_targets(trs_refactor_gpu *g, const trs_bilu0 *w) {
  const int64_t blocks = w->ptr[w->n];
  int32_t *target;
  TRS_TRY(TRS_ALLOC(&target, blocks));
  for (int64_t at = 0; at < blocks; at++) target[at] = -1;
  for (int k = 0; k < 2; k++) {
    const trs_relaxation *R = g->sides[k].R;
    for (int64_t p = 0; p < R->nrows; p++) {
      const int64_t i = R->row[p];
      for (int64_t at = R->ptr[p]; at < R->ptr[p + 1]; at++)
        target[trs_factor_seek(w->idx, w->ptr[i], w->ptr[i + 1], R->row[R->idx[at]])] = (int32_t)at;
    }
  }
  return trs_arena_move(&g->own, &g->args.target, target, blocks, sizeof *target);
}

static trs_status find_longest(trs_refactor_gpu *g, const trs_bilu0 *w) {
  const trs_relaxation *L = g->sides[0].R;
  TRS_TRY(TRS_ALLOC_ZERO(&g->longest, L->ncolours));
  for (int32_t c = 0; c < L->ncolours; c++)
    for (int64_t p = L->colour_ptr[c]; p < L->colour_ptr[c + 1]; p++) {
      const int64_t count = w->ptr[L->row[p] + 1] - w->ptr[L->row[p]];
      if (count > g->longest[c]) g->longest[c] = count;
    }
  return TRS_SUCCESS;
}

/* ---- The steps of each row ---- */

typedef struct step_list {
  const trs_bilu0 *w;
  int64_t *position; /* n: the place in the current row of each column, or one outside that row */
  trs_refactor_step *step; /* NULL: steps are only counted */
  int64_t count;
} step_list;

static void add(step_list *s, int64_t block, int64_t at) {
  if (s->step) s->step[s->count] = (trs_refactor_step){(int32_t)block, (int32_t)at};
  s->count++;
}

/* The products of the block at place own and row k of U that change row i: as update_row in
 * factor/bilu0.c. */
static void add_products(step_list *s, int64_t i, int64_t own) {
  const trs_bilu0 *w = s->w;
  const int64_t k = w->idx[own], first = w->ptr[i], last = w->ptr[i + 1], end = w->ptr[k + 1];
  const bool dilu = w->kind == TRS_FACTOR_DILU;
  int64_t q = w->diagonal[k] + 1;
  if (dilu || (end - q) / TRS_FACTOR_LONG > last - own) {
    for (int64_t at = dilu ? w->diagonal[i] : own + 1; at < last; at++) {
      q = trs_factor_seek(w->idx, q, end, w->idx[at]);
      if (q < end && w->idx[q] == w->idx[at]) add(s, q, at - first);
      if (dilu) break;
    }
    return;
  }
  for (; q < end; q++) {
    const int64_t at = s->position[w->idx[q]];
    if (at >= first && at < last) add(s, q, at - first);
  }
}

/* ptr: n + 1, the steps before each row. */
static void list_steps(step_list *s, int64_t *ptr) {
  const trs_bilu0 *w = s->w;
  for (int64_t j = 0; j < w->n; j++) s->position[j] = -1;
  s->count = ptr[0] = 0;
  for (int64_t i = 0; i < w->n; i++) {
    for (int64_t p = w->ptr[i]; p < w->ptr[i + 1]; p++) s->position[w->idx[p]] = p;
    for (int64_t p = w->ptr[i]; p < w->diagonal[i]; p++) {
      add(s, w->diagonal[w->idx[p]], ~(p - w->ptr[i]));
      add_products(s, i, p);
    }
    ptr[i + 1] = s->count;
  }
}

static trs_status take_steps(trs_refactor_gpu *g, const trs_bilu0 *w) {
  step_list s = {.w = w};
  int64_t *ptr;
  TRS_TRY(TRS_ALLOC(&ptr, w->n + 1));
  trs_status status = TRS_ALLOC(&s.position, w->n);
  if (!status) {
    list_steps(&s, ptr);
    status = TRS_ALLOC(&s.step, s.count);
  }
  if (!status) list_steps(&s, ptr);
  trs_free(s.position);
  if (status) {
    trs_free(ptr);
    return status;
  }
  status = trs_arena_move(&g->own, &g->args.step, s.step, s.count, sizeof *s.step);
  const trs_status moved = trs_arena_move(&g->own, &g->args.step_ptr, ptr, w->n + 1, sizeof *ptr);
  return status ? status : moved;
}

static trs_status build(trs_refactor *f, trs_relaxation *L, trs_relaxation *U) {
  trs_refactor_gpu *g = f->gpu;
  if (f->w->ptr[f->w->n] > INT32_MAX)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "more than 2147483647 blocks: give new values in host memory");
  TRS_TRY(trs_device_alloc_host(g->L->gpu->device, (void **)&g->told));
  TRS_TRY(take_factors(g, f));
  TRS_TRY(take_side(g, 0, L));
  TRS_TRY(take_side(g, 1, U));
  TRS_TRY(take_targets(g, f->w));
  TRS_TRY(find_longest(g, f->w));
  TRS_TRY(take_steps(g, f->w));
  return trs_device_wait(g->L->plan->stream);
}

/* ---- The pattern of new blocks ---- */

/* source[at]: the caller's block at place at of the factors, or -1. */
static trs_status find_sources(const trs_refactor *f, const trs_block_source *S, int32_t *source) {
  const trs_bilu0 *w = f->w;
  for (int64_t at = 0; at < w->ptr[w->n]; at++) source[at] = -1;
  for (int64_t own = 0; own < w->n; own++)
    for (int64_t p = S->ptr[own]; p < S->ptr[own + 1]; p++) {
      const int64_t at = trs_refactor_find(f, own, S->idx[p]);
      if (at < 0) return trs_refactor_new_block(own);
      if (source[at] >= 0)
        return trs_fail(
            TRS_ERROR_UNSUPPORTED, own,
            "block row %lld has the block of column %d (0-based) twice: give new values in host "
            "memory",
            (long long)own, S->idx[p]);
      source[at] = (int32_t)p;
    }
  return TRS_SUCCESS;
}

static trs_status take_pattern(trs_refactor *f, const trs_block_source *S) {
  trs_refactor_gpu *g = f->gpu;
  const int64_t blocks = f->w->ptr[f->w->n];
  int32_t *source;
  g->has_pattern = false;
  TRS_TRY(TRS_ALLOC(&source, blocks));
  trs_status status = find_sources(f, S, source);
  if (!status)
    status = trs_device_copy((void *)(uintptr_t)g->args.source, source,
                             blocks * (int64_t)sizeof *source, g->L->plan->stream);
  if (!status) status = trs_device_wait(g->L->plan->stream);
  trs_free(source);
  g->has_pattern = !status;
  return status;
}

/* ---- An update ---- */

static trs_status pack(const trs_refactor_gpu *g, int k) {
  const trs_relax_gpu *state = g->sides[k].R->gpu;
  if (!trs_relax_by_slices(g->sides[k].R)) return TRS_SUCCESS;
  return trs_relax_slices_pack(&g->args.side[k].relax, &state->slices, g->L->plan->stream);
}

static trs_status launch(const trs_refactor_gpu *g) {
  const trs_stream stream = g->L->plan->stream;
  const trs_relaxation *L = g->sides[0].R;
  const bool overlaps = trs_device_look(g->L->gpu->device)->capability >= 9;
  TRS_TRY(trs_device_fill(g->args.failed, 0xff, sizeof *g->args.failed, stream));
  for (int32_t c = 0; c < L->ncolours; c++) {
    const trs_refactor_level level = {.row = L->gpu->args.row + L->colour_ptr[c],
                                      .count = L->colour_ptr[c + 1] - L->colour_ptr[c],
                                      .longest = g->longest[c],
                                      .overlaps = overlaps && c > 0};
    TRS_TRY(trs_refactor_eliminate(&g->args, &level, stream));
  }
  TRS_TRY(pack(g, 0));
  TRS_TRY(pack(g, 1));
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
  TRS_TRY(trs_device_wait(g->L->plan->stream));
  return report(f);
}

static trs_status create(trs_refactor *f, trs_relaxation *L, trs_relaxation *U) {
  TRS_TRY(TRS_ALLOC_ZERO(&f->gpu, 1));
  f->gpu->L = L;
  f->gpu->own = f->gpu->sides[0].own = f->gpu->sides[1].own = trs_relax_arena(L);
  trs_status status = build(f, L, U);
  if (status) free_gpu(f);
  return status;
}

static trs_status run(trs_refactor *f, trs_relaxation *L, trs_relaxation *U,
                      const trs_block_source *source) {
  TRS_ON_DEVICE(L->gpu->device);
  trs_status status = f->gpu ? TRS_SUCCESS : create(f, L, U);
  if (!status) status = run_there(f, source);
  return status;
}

const trs_refactor_device trs_refactor_cuda = {.run = run, .free = free_gpu};
