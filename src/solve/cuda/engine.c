/* engine.c - the GPU engine: analysis into slices and regions, solves by their kernels. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plan/parameters.h"
#include "solve/cuda/analysis.h"
#include "solve/cuda/choice.h"
#include "solve/cuda/gpu.h"

enum { MOST_TILE = 32 };

typedef struct engine {
  trs_gpu gpu;
  trs_slice_rules rules;
  int64_t block, dense, lanes, wide_lanes, watch, heavy, regions_choice; /* -1 where not given */
  trs_slices slices;                                                     /* device memory */
  trs_slices_map map;
  trs_slice_level *level; /* host copy */
  trs_region *regions;
  int32_t nregions;
  double seconds; /* what the cost model expects of a solve */
  trs_engine_args args;
  int64_t bytes;
} engine;

static double estimate(const trs_plan *plan) {
  (void)plan;
  return 1e-3;
}

static trs_status read_parameters(engine *e, const trs_plan *plan) {
  static const char *const no_yes[] = {"no", "yes", NULL};
  static const char *const kinds[] = {"auto", "wide", "narrow", NULL};
  e->block = e->dense = e->lanes = e->wide_lanes = e->watch = e->heavy = -1;
  const trs_parameter table[] = {{"block", NULL, 1, TRS_MOST_BLOCK, &e->block},
                                 {"dense", no_yes, 0, 0, &e->dense},
                                 {"lane-length", NULL, 1, 1024, &e->lanes},
                                 {"wide-lane-length", NULL, 1, 1024, &e->wide_lanes},
                                 {"watch", NULL, 0, 64, &e->watch},
                                 {"heavy-width", NULL, 1, 1024, &e->heavy},
                                 {"regions", kinds, 0, 0, &e->regions_choice}};
  return trs_parameters_read(plan, table, sizeof table / sizeof table[0]);
}

static void choose_rules(engine *e, const trs_pattern_features *features) {
  e->rules = trs_choose_rules(features);
  if (e->block > 0) e->rules.most_block = (int32_t)e->block;
  if (e->dense >= 0) e->rules.dense = (int32_t)e->dense;
  if (e->lanes > 0) e->rules.lane_length = (int32_t)e->lanes;
  if (e->wide_lanes > 0) e->rules.wide_lane_length = (int32_t)e->wide_lanes;
  if (e->heavy > 0) e->rules.heavy_width = (int32_t)e->heavy;
  if (e->watch >= 0) e->rules.watch = (int32_t)e->watch;
}

/* A host array into device memory of its own. */
static trs_status put(engine *e, void *array, const void *from, int64_t bytes, trs_stream stream) {
  void *to;
  TRS_TRY(trs_device_alloc(e->gpu.device, &to, bytes, 1, stream));
  memcpy(array, &to, sizeof to);
  e->bytes += bytes;
  return trs_device_copy(to, from, bytes, stream);
}

/* Where levels begin, for the narrow kernel. */
static trs_status put_level_slices(engine *e, trs_stream stream) {
  int32_t *first, count = e->slices.nlevels + 1;
  TRS_TRY(TRS_ALLOC(&first, count));
  for (int32_t l = 0; l < count; l++) first[l] = e->level[l].slice;
  trs_status status = put(e, &e->args.level_slice, first, count * 4LL, stream);
  if (!status) status = trs_device_wait(stream);
  trs_free(first);
  return status;
}

static trs_status prepare_solves(engine *e, trs_plan *plan) {
  const trs_system *S = &plan->system;
  int64_t size = (int64_t)trs_scalar_size(S->scalar), n = S->n;
  int64_t counters = (int64_t)sizeof *e->args.counters + (e->nregions + 1) * 4;
  trs_engine_args *a = &e->args;
  a->slices = e->slices;
  a->fault = e->gpu.fault;
  TRS_TRY(trs_device_alloc(e->gpu.device, &a->work, 2 * n, (size_t)size, plan->stream));
  TRS_TRY(trs_device_fill(a->work, 0xff, 2 * n * size, plan->stream));
  TRS_TRY(trs_device_alloc(e->gpu.device, (void **)&a->counters, counters, 1, plan->stream));
  TRS_TRY(trs_device_fill(a->counters, 0, counters, plan->stream));
  TRS_TRY(put_level_slices(e, plan->stream));
  int64_t parts = 2 * (int64_t)e->slices.nparts * TRS_SLICE_LANES;
  TRS_TRY(trs_device_alloc(e->gpu.device, &a->parts, parts, (size_t)size, plan->stream));
  TRS_TRY(trs_device_fill(a->parts, 0xff, parts * size, plan->stream));
  e->bytes += (2 * n + parts) * size + counters;
  if (plan->options.nrhs <= 1) return TRS_SUCCESS;
  a->tile = plan->options.nrhs < MOST_TILE ? (int32_t)plan->options.nrhs : MOST_TILE;
  e->bytes += a->tile * n * size;
  return trs_device_alloc(e->gpu.device, &a->tile_work, a->tile * n, (size_t)size, plan->stream);
}

static trs_gpu_pattern pattern_of(const trs_system *S) {
  return (trs_gpu_pattern){.n = S->n,
                           .nnz = S->nnz,
                           .ptr = S->ptr,
                           .idx = S->idx,
                           .val = S->val,
                           .scalar = S->scalar,
                           .lower = S->lower,
                           .unit = S->unit,
                           .has_diagonal = S->has_diagonal};
}

/* Entries and inverses, from values that are on the device. */
static trs_status fill_values(engine *e, trs_plan *plan) {
  trs_gpu_pattern pattern = pattern_of(&e->gpu.system);
  return trs_gpu_slices_fill(&e->slices, &e->map, &pattern, e->args.float_values, plan->stream);
}

static trs_status allocate_values(engine *e, trs_plan *plan) {
  size_t size = trs_scalar_size(plan->system.scalar),
         stored = e->args.float_values ? size / 2 : size;
  trs_slices *s = &e->slices;
  TRS_TRY(trs_device_alloc(e->gpu.device, &s->val, s->entries, stored, plan->stream));
  return trs_device_alloc(e->gpu.device, &s->inverse, s->inverses, size, plan->stream);
}

static trs_status analyze_on_device(engine *e, trs_plan *plan) {
  trs_pattern_features features;
  TRS_TRY(trs_gpu_load(&e->gpu, plan, true, TRS_GPU_PATTERN | TRS_GPU_VALUES));
  trs_gpu_pattern pattern = pattern_of(&e->gpu.system);
  TRS_TRY(trs_gpu_features(&features, e->gpu.device, &pattern, plan->stream));
  choose_rules(e, &features);
  e->args.float_values =
      plan->options.store == TRS_STORE_FLOAT && trs_scalar_is_double(plan->system.scalar);
  TRS_TRY(trs_gpu_slices_create(&e->slices, &e->level, &e->map, e->gpu.device, &pattern, &e->rules,
                                plan->stream));
  TRS_TRY(allocate_values(e, plan));
  TRS_TRY(fill_values(e, plan));
  TRS_TRY(trs_choose_regions(&e->regions, &e->nregions, &e->seconds, e->level, e->slices.nlevels,
                             TRS_NARROW_ROWS(trs_scalar_size(plan->system.scalar)),
                             (trs_region_choice)e->regions_choice));
  TRS_TRY(prepare_solves(e, plan));
  TRS_TRY(trs_device_wait(plan->stream));
  trs_gpu_unload(&e->gpu, plan);
  return TRS_SUCCESS;
}

static trs_status analyze(trs_plan *plan) {
  engine *e;
  TRS_TRY(TRS_ALLOC_ZERO(&e, 1));
  plan->state = e;
  TRS_TRY(read_parameters(e, plan));
  TRS_TRY(trs_gpu_open(&e->gpu, plan));
  int before = trs_device_enter(e->gpu.device);
  trs_status status = analyze_on_device(e, plan);
  trs_device_leave(before);
  return status;
}

static trs_status update_on_device(engine *e, trs_plan *plan) {
  TRS_TRY(trs_gpu_load(&e->gpu, plan, true, TRS_GPU_PATTERN | TRS_GPU_VALUES));
  TRS_TRY(fill_values(e, plan));
  TRS_TRY(trs_device_wait(plan->stream));
  trs_gpu_unload(&e->gpu, plan);
  return TRS_SUCCESS;
}

static trs_status update(trs_plan *plan) {
  engine *e = plan->state;
  int before = trs_device_enter(e->gpu.device);
  trs_status status = update_on_device(e, plan);
  trs_device_leave(before);
  return status;
}

static trs_status launch_one(const engine *e, const trs_engine_args *a, trs_scalar scalar,
                             trs_stream stream) {
  for (int32_t k = 0; k < e->nregions; k++) {
    int32_t last = k + 1 == e->nregions;
    if (e->regions[k].kind == TRS_REGION_WIDE)
      TRS_TRY(trs_engine_wide(a, scalar, &e->regions[k], k, last, stream));
    else
      TRS_TRY(trs_engine_narrow(a, scalar, &e->regions[k], last, stream));
  }
  return TRS_SUCCESS;
}

static trs_status launch(trs_plan *plan, const trs_rhs *rhs, trs_stream stream) {
  const engine *e = plan->state;
  trs_engine_args a = e->args;
  trs_scalar scalar = plan->system.scalar;
  int64_t size = (int64_t)trs_scalar_size(scalar), width;
  a.x_row = rhs->x_row, a.x_col = rhs->x_col, a.b_row = rhs->b_row, a.b_col = rhs->b_col;
  for (int64_t column = 0; column < rhs->nrhs; column += width) {
    int64_t left = rhs->nrhs - column;
    width = a.tile > 0 && left > 1 ? (left < a.tile ? left : a.tile) : 1;
    bool one = width == 1;
    a.x = (char *)rhs->x + (one ? column * a.x_col * size : 0);
    a.b = (const char *)rhs->b + (one ? column * a.b_col * size : 0);
    TRS_TRY(one ? launch_one(e, &a, scalar, stream)
                : trs_engine_tile(&a, scalar, column, (int32_t)width, e->nregions, stream));
  }
  return TRS_SUCCESS;
}

static trs_status solve(trs_plan *plan, const trs_rhs *rhs) {
  return trs_gpu_solve(plan, &((engine *)plan->state)->gpu, rhs, launch);
}

static trs_status wait(trs_plan *plan) { return trs_gpu_wait(plan, &((engine *)plan->state)->gpu); }

static int threads(const trs_plan *plan) {
  (void)plan;
  return 1;
}

static int64_t bytes(const trs_plan *plan) {
  const engine *e = plan->state;
  return e->bytes + trs_gpu_bytes(&e->gpu) +
         trs_gpu_slices_bytes(&e->slices, &e->map, plan->system.scalar, e->args.float_values);
}

static void describe(const trs_plan *plan, char *text, size_t size) {
  const engine *e = plan->state;
  int32_t narrow = 0;
  for (int32_t k = 0; k < e->nregions; k++)
    if (e->regions[k].kind == TRS_REGION_NARROW)
      narrow += e->regions[k].level_end - e->regions[k].level;
  snprintf(text, size,
           "%d levels of %d blocks of up to %d rows, %d slices, %d regions, %d levels in one "
           "block of threads, expects %.3g ms",
           e->slices.nlevels, e->slices.nblocks, e->rules.most_block, e->slices.nslices,
           e->nregions, narrow, 1e3 * e->seconds);
}

static void free_arrays(engine *e, trs_stream stream) {
  void *arrays[] = {e->args.work, e->args.parts, e->args.counters, e->args.tile_work,
                    (void *)e->args.level_slice};
  for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
    trs_device_free(e->gpu.device, arrays[k], stream);
  trs_gpu_slices_free(&e->slices, &e->map, e->gpu.device, stream);
}

static void free_state(trs_plan *plan) {
  engine *e = plan->state;
  if (!e) return;
  if (e->gpu.device) {
    int before = trs_device_enter(e->gpu.device);
    free_arrays(e, plan->stream);
    trs_gpu_free(&e->gpu, plan);
    trs_device_leave(before);
  }
  trs_free(e->level);
  trs_free(e->regions);
  trs_free(e);
}

const trs_method trs_method_engine = {
    .name = "engine",
    .backend = "cuda",
    .summary = "level-order slices, wide and narrow regions, inverted diagonal blocks",
    .parameters = true,
    .refuses = trs_gpu_refuses,
    .estimate = estimate,
    .analysis_solves = 2,
    .analyze = analyze,
    .update = update,
    .solve = solve,
    .wait = wait,
    .threads = threads,
    .bytes = bytes,
    .describe = describe,
    .free = free_state,
};
