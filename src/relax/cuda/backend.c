/* backend.c - relaxation on one GPU: its device arrays, and the choice of its kernels.  The host
 * computes colours, pattern and values and uploads them. */
#include "relax/cuda/backend.h"

#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/nearest.h"
#include "plan/parameters.h"
#include "relax/kernels.h"

static const trs_relax_variant variants[] = {{.name = "slices"},
                                             {.name = "rows", .run = trs_relax_rows_run}};
static const trs_relax_variants own = {2, variants};
static const trs_relax_variants *const lists[] = {&own, TRS_PAPER_CUDA_PART(trs_w21_variants)};

/* ---- Variants ---- */

static trs_status no_variant(const char *name) {
  char known[512] = "auto", words[512] = "auto", typed[64], near[64];
  size_t used = 4, words_used = 4;
  for (int l = 0; l < 2 && lists[l]; l++)
    for (int k = 0; k < lists[l]->count && used < sizeof known; k++) {
      const char *one = lists[l]->variant[k].name;
      used += (size_t)snprintf(known + used, sizeof known - used, ", %s", one);
      words_used += (size_t)snprintf(words + words_used, sizeof words - words_used, "|%s", one);
    }
  snprintf(typed, sizeof typed, "%.*s", (int)strcspn(name, ":"), name);
  return trs_fail(TRS_ERROR_ARGUMENT, -1, "no variant \"%s\"%s: there are %s%s", name,
                  trs_suggestion(near, sizeof near, typed, words), known,
                  TRS_HAVE_PAPERS ? "" : "; build with -DTRIREME_WITH_PAPERS=ON for a paper's");
}

/* The variant of that name; *parameters: the text behind it. */
static trs_status find_variant(const trs_relaxation *R, const char *name,
                               const trs_relax_variant **found, const char **parameters) {
  bool any = !name || strcmp(name, "auto") == 0;
  bool sliced = R->block <= TRS_RELAX_MOST_SLICED && R->ncolours <= TRS_RELAX_MOST_SLICED_COLOURS;
  if (any) name = sliced ? "slices" : "rows";
  size_t length = strcspn(name, ":");
  *found = NULL;
  for (int l = 0; l < 2 && lists[l]; l++)
    for (int k = 0; k < lists[l]->count; k++) {
      const trs_relax_variant *v = &lists[l]->variant[k];
      if (strlen(v->name) == length && !strncmp(v->name, name, length)) *found = v;
    }
  *parameters = name[length] ? name + length + 1 : NULL;
  return *found ? TRS_SUCCESS : no_variant(name);
}

/* ---- Off-diagonal blocks ---- */

static trs_status bring_powers(trs_relaxation *R) {
  trs_relax_gpu *g = R->gpu;
  int8_t *power;
  TRS_TRY(TRS_ALLOC(&power, R->noff));
  for (int64_t k = 0; k < R->noff; k++) power[k] = (int8_t)ilogbf(R->scale[k]);
  trs_status status =
      trs_device_copy((void *)(uintptr_t)g->args.power, power, R->noff, R->plan->stream);
  if (!status) status = trs_device_wait(R->plan->stream);
  trs_free(power);
  return status;
}

/* Allocates the blocks and their positions. */
static trs_status take_blocks(trs_relaxation *R) {
  trs_relax_gpu *g = R->gpu;
  trs_relax_args *a = &g->args;
  const trs_relax_kernels *K = trs_relax_kernels_of(R->store);
  int64_t block = (int64_t)R->block * R->block;
  if (g->blocks.count) return TRS_SUCCESS;
  trs_status status = trs_arena_upload(&g->blocks, &a->ptr, R->ptr, R->nrows + 1, sizeof *R->ptr);
  if (!status) status = trs_arena_upload(&g->blocks, &a->idx, R->idx, R->noff, sizeof *R->idx);
  if (!status) status = trs_arena_alloc(&g->blocks, &a->off, R->noff * block, K->off_size);
  if (!status && K->scaled) status = trs_arena_alloc(&g->blocks, &a->power, R->noff, 1);
  if (status) trs_arena_free(&g->blocks); /* the next update takes all of them anew */
  return status;
}

static trs_status bring_blocks(trs_relaxation *R) {
  trs_relax_gpu *g = R->gpu;
  const trs_relax_kernels *K = trs_relax_kernels_of(R->store);
  int64_t bytes = R->noff * R->block * R->block * (int64_t)K->off_size;
  TRS_TRY(take_blocks(R));
  TRS_TRY(trs_device_copy((void *)(uintptr_t)g->args.off, R->off, bytes, R->plan->stream));
  return K->scaled ? bring_powers(R) : TRS_SUCCESS;
}

/* The blocks exist only until they are packed. */
static trs_status pack(trs_relaxation *R) {
  trs_relax_gpu *g = R->gpu;
  TRS_TRY(trs_relax_slices_pack(&g->args, &g->slices, R->plan->stream));
  trs_arena_free(&g->blocks);
  return TRS_SUCCESS;
}

/* ---- Creation ---- */

static trs_status read_parameters(trs_relax_gpu *g, const char *parameters) {
  const trs_parameter table[] = {
      {.key = "warps", .least = 1, .most = 20, .value = &g->slices.warps},
      {.key = "stages", .least = 3, .most = 12, .value = &g->slices.stages}};
  g->slices.warps = g->slices.stages = 0;
  return trs_parameters_parse(g->variant->name, parameters, table, g->variant->run ? 0 : 2);
}

/* x, and r of what sweeps.  A triangle in slices has two x, one of them pending, and no r. */
static trs_status take_vectors(trs_relaxation *R) {
  trs_relax_gpu *g = R->gpu;
  trs_relax_args *a = &g->args;
  const trs_relax_kernels *K = trs_relax_kernels_of(R->store);
  const int64_t size = (int64_t)K->x_size, rows = R->nrows + R->nhalo;
  const bool turns = trs_relax_in_turn(R);
  a->pitch = R->block;
  a->x_stride = (rows + 1) * a->pitch; /* includes a row of zeros */
  const int64_t count = a->x_stride * (turns ? 2 : R->room);
  TRS_TRY(trs_arena_alloc(&g->own, &a->x, count, (size_t)size));
  TRS_TRY(trs_device_fill(a->x, 0, count * size, R->plan->stream));
  if (!turns) return trs_arena_alloc(&g->own, &a->r, a->r_stride * R->room, K->r_size);
  for (int64_t k = 0; k < 2; k++)
    TRS_TRY(trs_device_fill((char *)a->x + k * a->x_stride * size, 0xff, rows * a->pitch * size,
                            R->plan->stream));
  return TRS_SUCCESS;
}

static trs_status enter_variant(trs_relaxation *R, const char *name) {
  trs_relax_gpu *g = R->gpu;
  const char *parameters;
  TRS_TRY(find_variant(R, name, &g->variant, &parameters));
  TRS_TRY(read_parameters(g, parameters));
  R->variant = g->variant->name;
  TRS_TRY(take_vectors(R));
  if (trs_relax_by_slices(R)) TRS_TRY(trs_relax_make_slices(R));
  if (g->variant->prepare) TRS_TRY(g->variant->prepare(R));
  return trs_device_wait(R->plan->stream);
}

static trs_status take_arrays(trs_relaxation *R) {
  trs_relax_gpu *g = R->gpu;
  trs_relax_args *a = &g->args;
  const trs_relax_kernels *K = trs_relax_kernels_of(R->store);
  int64_t block = (int64_t)R->block * R->block;
  TRS_TRY(trs_arena_upload(&g->shared, &a->row, R->row, R->nrows + R->nhalo, sizeof *R->row));
  TRS_TRY(trs_arena_alloc(&g->shared, &a->diagonal, R->nrows * block, K->r_size));
  TRS_TRY(trs_arena_alloc(&g->shared, &a->pivot, R->nrows * R->block, 1));
  if (trs_relaxation_is_narrow(R)) {
    TRS_TRY(trs_arena_alloc(&g->shared, &g->most, 2 * R->room, sizeof *g->most));
    TRS_TRY(trs_arena_alloc(&g->shared, &g->lost, 1, sizeof *g->lost));
    TRS_TRY(trs_device_fill(g->most, 0, 2 * R->room * (int64_t)sizeof *g->most, R->plan->stream));
    TRS_TRY(trs_device_fill(g->lost, 0, sizeof *g->lost, R->plan->stream));
  }
  return trs_arena_alloc(&g->shared, &a->words, R->room * TRS_EXACT_WORDS, sizeof *a->words);
}

static trs_status build(trs_relaxation *R, const char *name) {
  trs_relax_gpu *g = R->gpu;
  g->args = (trs_relax_args){.nrows = R->nrows,
                             .block = R->block,
                             .store = R->store,
                             .r_stride = (R->nrows + R->nhalo) * R->block};
  TRS_TRY(trs_device_alloc_stage(g->device, (void **)&g->norms));
  TRS_TRY(trs_device_alloc_host(g->device, (void **)&g->told));
  TRS_TRY(trs_device_alloc_host(g->device, (void **)&g->told_lost));
  TRS_TRY(take_arrays(R));
  return enter_variant(R, name);
}

trs_status trs_relax_gpu_create(trs_relaxation *R, trs_device *device, const char *name) {
  TRS_TRY(TRS_ALLOC_ZERO(&R->gpu, 1));
  R->gpu->device = device;
  R->gpu->shared = R->gpu->blocks = R->gpu->own = trs_relax_arena(R);
  R->gpu->stage = (trs_stage){.device = device, .slots = TRS_SLOTS};
  TRS_ON_DEVICE(R->gpu->device);
  return build(R, name);
}

/* ---- Values ---- */

static trs_status bring_on_device(trs_relaxation *R) {
  TRS_ON_DEVICE(R->gpu->device);
  trs_relax_gpu *g = R->gpu;
  const trs_relax_args *a = &g->args;
  const trs_relax_kernels *K = trs_relax_kernels_of(R->store);
  int64_t block = (int64_t)R->block * R->block;
  TRS_TRY(trs_device_copy((void *)(uintptr_t)a->diagonal, R->diagonal,
                          R->nrows * block * (int64_t)K->r_size, R->plan->stream));
  TRS_TRY(
      trs_device_copy((void *)(uintptr_t)a->pivot, R->pivot, R->nrows * R->block, R->plan->stream));
  TRS_TRY(bring_blocks(R));
  if (trs_relax_by_slices(R)) TRS_TRY(pack(R));
  return trs_device_wait(R->plan->stream);
}

static trs_status update(trs_plan *plan) {
  trs_relaxation *R = plan->state;
  trs_status status = trs_relaxation_put_values(R, R->source);
  if (!status) status = bring_on_device(R);
  trs_relaxation_drop_values(R);
  return status;
}

static void free_gpu(trs_relaxation *R) {
  trs_relax_gpu *g = R->gpu;
  if (!g) return;
  int before = trs_device_enter(g->device);
  trs_relax_halo_free(R);
  trs_relax_mapped_free(R);
  if (g->variant && g->variant->leave) g->variant->leave(R);
  trs_arena_free(&g->own);
  trs_arena_free(&g->shared);
  trs_arena_free(&g->blocks);
  trs_stage_close(&g->stage, R->plan->stream);
  (void)trs_device_wait(R->plan->stream); /* kernels may still write norms */
  trs_device_free_stage(g->device, g->norms);
  trs_device_free_host(g->device, g->told);
  trs_device_free_host(g->device, g->told_lost);
  trs_device_leave(before);
  trs_free(g);
  R->gpu = NULL;
}

static void free_state(trs_plan *plan) {
  free_gpu(plan->state);
  trs_relaxation_free(plan);
}

int64_t trs_relax_gpu_bytes(const trs_plan *plan) {
  const trs_relax_gpu *g = ((const trs_relaxation *)plan->state)->gpu;
  return g->shared.bytes + g->blocks.bytes + g->own.bytes + TRS_SLOTS * g->stage.bytes;
}

static trs_status analyze(trs_plan *plan) {
  trs_relaxation *R = plan->state;
  return trs_relax_gpu_create(R, plan->context->device, R->options->variant);
}

const trs_relax_backend trs_relax_gpu_backend = {
    .method = {TRS_RELAX_METHOD, .backend = &trs_backend_cuda, .analyze = analyze, .update = update,
               .solve = trs_relax_gpu_solve, .wait = trs_relax_gpu_wait,
               .bytes = trs_relax_gpu_bytes, .free = free_state},
    .sweep = trs_relax_gpu_sweep,
    .link = trs_relax_gpu_link,
    .meet = trs_relax_gpu_meet,
    .leave = trs_relax_gpu_leave};
