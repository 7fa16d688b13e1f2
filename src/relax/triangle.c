/* triangle.c - the method `blocks`: a triangular system as rows of blocks.  Rows of a level of the
 * block graph read blocks of earlier levels alone, so that one sweep of relaxation over the levels
 * as colours solves the system:  x_i = D_i^-1 (b_i - sum T_ij x_j).  A block has one index, and its
 * row applies the factors of its diagonal block.  O(blocks block_size^2 nrhs) and a step per level.
 * Levels: Anderson & Saad 1989. */
#include "base/config.h"
#include "analysis/system.h"
#include "plan/parameters.h"
#include "relax/backend.h"
#include "relax/triangle.h"

/* The block size that the caller names, else that of the matrix. */
static trs_status read_size(const trs_plan *plan, int64_t *size) {
  *size = plan->matrix->block > 1 ? plan->matrix->block : 1;
  const trs_parameter table[] = {
      {.key = "size", .least = 1, .most = TRS_RELAX_MOST_BLOCK, .value = size}};
  TRS_TRY(trs_parameters_read(plan, table, 1));
  if (plan->system.n % *size == 0) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1,
                  "blocks: %lld rows are not a multiple of the block size %lld",
                  (long long)plan->system.n, (long long)*size);
}

static const char *refuses(const trs_plan *plan) {
  if (trs_scalar_is_complex(plan->system.scalar)) return "its blocks are real";
  if (plan->system.unit) return "its diagonal blocks are stored, and this diagonal is not";
  return NULL;
}

static const char *refuses_on_cpu(const trs_plan *plan) {
  const char *why = refuses(plan);
  return why ? why : trs_host_refuses(plan);
}

static const char *refuses_on_gpu(const trs_plan *plan) {
  if (!plan->context->backend->gpu || plan->context->group)
    return "it works on one GPU, of a context such as \"" TRS_GPU_BACKEND "\"";
  return refuses(plan);
}

static trs_estimate estimate(const trs_plan *plan) {
  static const double FEWER_BYTES = 0.6;
  const double seconds = FEWER_BYTES * trs_method_serial.estimate(plan).seconds;
  if (plan->matrix->block <= 1)
    return (trs_estimate){.seconds = seconds, .preference = TRS_PREFERENCE_LAST};
  return (trs_estimate){.seconds = seconds,
                        .preference = TRS_PREFERENCE_FIRST,
                        .because = "the matrix consists of blocks"};
}

static trs_store store_of(const trs_plan *plan) {
  if (plan->options.store != TRS_STORE_DEFAULT) return plan->options.store;
  return plan->system.scalar == TRS_FLOAT ? TRS_STORE_FLOAT : TRS_STORE_DOUBLE;
}

static trs_status create(trs_relaxation **R, const trs_plan *plan, int block,
                         trs_block_system *system, const trs_relax_options *options) {
  TRS_TRY(trs_relaxation_lay_out_domain(R, plan->context, plan->system.scalar, block, system, 0,
                                        options));
  (*R)->triangle = true;
  (*R)->upper = !plan->system.lower;
  return trs_relaxation_build(R, system, options);
}

/* Takes ownership of the pattern. */
static trs_status create_in_levels(trs_relaxation **R, const trs_plan *plan, int block,
                                   trs_block_pattern *pattern, trs_relax_options *options) {
  trs_block_system system;
  int32_t *level;
  trs_status status = TRS_ALLOC(&level, pattern->n);
  if (!status) {
    const trs_system blocks = {.n = pattern->n,
                               .rows = true,
                               .lower = plan->system.lower,
                               .ptr = pattern->ptr,
                               .idx = pattern->idx};
    (void)trs_levels_find(&blocks, level);
    options->colour = level;
    status = trs_block_system_create(&system, pattern, options, plan->context->team);
  }
  trs_block_pattern_free(pattern);
  trs_free(level);
  TRS_TRY(status);
  system.by_columns = !plan->context->backend->gpu; /* as sweeps in the order of the rows do */
  status = create(R, plan, block, &system, options);
  trs_block_system_free(&system);
  return status;
}

/* The blocks of a sweep beside the diagonal, by the rows of the factors. */
static trs_status take_pattern(trs_block_pattern *pattern, const trs_bilu0 *w, bool lower) {
  int64_t at = 0;
  *pattern = (trs_block_pattern){.n = w->n};
  trs_status status = TRS_ALLOC(&pattern->ptr, w->n + 1);
  if (!status) status = TRS_ALLOC(&pattern->idx, w->sweep[!lower].ptr[w->n]);
  for (int64_t i = 0; !status && i < w->n; i++) {
    const int64_t begin = lower ? w->ptr[i] : w->diagonal[i] + 1;
    const int64_t end = lower ? w->diagonal[i] : w->ptr[i + 1];
    pattern->ptr[i] = at;
    for (int64_t p = begin; p < end; p++) pattern->idx[at++] = w->idx[p];
  }
  if (!status)
    pattern->ptr[w->n] = at;
  else
    trs_block_pattern_free(pattern);
  return status;
}

/* One thread needs no levels: it has the rows in their order, and doubles where they are. */
static trs_status create_by_blocks(trs_relaxation **R, const trs_plan *plan,
                                   trs_relax_options *options) {
  const trs_bilu0 *w = trs_bilu0_of(plan->matrix);
  const bool lower = plan->system.lower;
  trs_block_pattern pattern;
  if (plan->context->threads == 1) {
    TRS_TRY(trs_relaxation_create_sweep(R, plan->context, plan->system.scalar, options, w, lower));
  } else {
    TRS_TRY(take_pattern(&pattern, w, lower));
    TRS_TRY(create_in_levels(R, plan, w->block, &pattern, options));
  }
  return trs_relaxation_take(*R, w, lower);
}

static trs_status create_by_entries(trs_relaxation **R, trs_plan *plan, int block,
                                    trs_relax_options *options) {
  trs_host_system h;
  trs_block_pattern pattern;
  trs_status status =
      trs_host_system_create(&h, &plan->system, plan->matrix, true, true, plan->stream);
  const trs_system *S = &h.S;
  const trs_block_source source =
      trs_block_source_by_entries(S->scalar, S->n, S->n, S->ptr, S->idx, S->val, block);
  if (!status) status = trs_block_pattern_build(&pattern, &source, plan->context->team);
  if (!status) status = create_in_levels(R, plan, block, &pattern, options);
  if (!status) status = trs_relaxation_update(*R, &source);
  trs_host_system_destroy(&h);
  return status;
}

/* The right-hand sides of a sweep, each with workspace.  On a CPU larger groups take no less time.
 */
static int64_t group_of(const trs_plan *plan) {
  static const int64_t MOST_ON_CPU = 256;
  const int64_t nrhs = plan->options.nrhs;
  return plan->context->backend->gpu || nrhs < MOST_ON_CPU ? nrhs : MOST_ON_CPU;
}

static trs_status analyze(trs_plan *plan) {
  trs_relaxation *R = NULL;
  int64_t size;
  TRS_TRY(read_size(plan, &size));
  trs_relax_options options = {.store = store_of(plan), .nrhs = group_of(plan)};
  trs_status status = plan->by_blocks ? create_by_blocks(&R, plan, &options)
                                      : create_by_entries(&R, plan, (int)size, &options);
  plan->state = R;
  return status;
}

/* The state is that of the sweep's plan. */
static trs_status clone_on_cpu(trs_plan *plan) {
  trs_plan *sweep;
  TRS_TRY(
      trs_plan_create_clone(&sweep, ((trs_relaxation *)plan->origin->state)->plan, plan->stream));
  plan->state = sweep->state;
  return TRS_SUCCESS;
}

static trs_status update(trs_plan *plan) {
  trs_host_system h = {0};
  trs_relaxation *R = plan->state;
  if (plan->by_blocks)
    return trs_relaxation_take(R, trs_bilu0_of(plan->matrix), plan->system.lower);
  trs_status status =
      trs_host_system_create(&h, &plan->system, plan->matrix, true, true, plan->stream);
  const trs_system *S = &h.S;
  const trs_block_source source =
      trs_block_source_by_entries(S->scalar, S->n, S->n, S->ptr, S->idx, S->val, R->block);
  R->unit = false;
  if (!status) status = trs_relaxation_update(R, &source);
  trs_host_system_destroy(&h);
  return status;
}

static trs_status solve(trs_plan *plan, const trs_rhs *rhs) {
  const trs_relaxation *R = plan->state;
  R->plan->stream = plan->stream;
  return R->backend->method.solve(R->plan, rhs);
}

static trs_status wait(trs_plan *plan) {
  const trs_relaxation *R = plan->state;
  return R->backend->method.wait(R->plan);
}

static int threads(const trs_plan *plan) { return ((const trs_relaxation *)plan->state)->threads; }

static int64_t bytes(const trs_plan *plan) {
  const trs_relaxation *R = plan->state;
  return R->backend->method.bytes(R->plan) + (R->gpu ? 0 : trs_refactor_held(R->refactor));
}

static void free_state(trs_plan *plan) {
  trs_relaxation *R = plan->state;
  if (!R) return;
  trs_refactor_free(R->refactor);
  trs_relaxation_destroy(R);
}

#define BLOCKS                                                                            \
  .name = "blocks", .parameters = true, .estimate = estimate, .analysis_solves = 20,      \
  .store = trs_relaxation_store, .describe = trs_relaxation_describe, .analyze = analyze, \
  .update = update, .solve = solve, .bytes = bytes, .free = free_state

const trs_method trs_method_blocks = {BLOCKS, .backend = &trs_backend_serial,
                                      .refuses = refuses_on_cpu, .threads = threads,
                                      .clone = clone_on_cpu};

const trs_method trs_method_blocks_cuda = {BLOCKS, .backend = &trs_backend_cuda, .reorders = true,
                                           .refuses = refuses_on_gpu, .wait = wait};

trs_relaxation *trs_triangle_of(const trs_plan *plan) {
  return plan && plan->method->analyze == analyze ? plan->state : NULL;
}
