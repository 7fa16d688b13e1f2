/* triangle.c - the method `blocks`: a triangular system as rows of blocks.  Rows of a level of the
 * block graph read blocks of earlier levels alone, so that one sweep of relaxation over the levels
 * as colours solves the system:  x_i = D_i^-1 (b_i - sum T_ij x_j).  A block has one index, and its
 * row applies the factors of its diagonal block.  O(blocks block_size^2 nrhs) and a step per level.
 * Levels: Anderson & Saad 1989. */
#include <stdio.h>

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

/* Level 0: rows that read no other; else one more than the highest level that a row reads. */
static void find_levels(int32_t *level, const trs_block_pattern *P, bool lower) {
  for (int64_t k = 0; k < P->n; k++) {
    const int64_t i = lower ? k : P->n - 1 - k;
    level[i] = 0;
    for (int64_t p = P->ptr[i]; p < P->ptr[i + 1]; p++)
      if (level[P->idx[p]] >= level[i]) level[i] = level[P->idx[p]] + 1;
  }
}

static trs_status create(trs_relaxation **R, const trs_plan *plan, int block,
                         trs_block_system *system, const trs_relax_options *options) {
  TRS_TRY(trs_relaxation_lay_out_domain(R, plan->context, plan->system.scalar, block, system, 0,
                                        options));
  (*R)->triangle = true;
  (*R)->upper = !plan->system.lower;
  trs_status status = (*R)->backend->create(*R, system, options);
  if (!status) return TRS_SUCCESS;
  trs_relax_destroy(*R);
  *R = NULL;
  return status;
}

/* Takes ownership of the pattern. */
static trs_status create_in_levels(trs_relaxation **R, const trs_plan *plan, int block,
                                   trs_block_pattern *pattern, trs_relax_options *options) {
  trs_block_system system;
  int32_t *level;
  trs_status status = TRS_ALLOC(&level, pattern->n);
  if (!status) {
    find_levels(level, pattern, plan->system.lower);
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
  trs_triangle *t;
  int64_t size;
  TRS_TRY(read_size(plan, &size));
  TRS_TRY(TRS_ALLOC_ZERO(&t, 1));
  plan->state = t;
  trs_relax_options options = {.store = store_of(plan), .nrhs = group_of(plan)};
  if (plan->by_blocks) return create_by_blocks(&t->R, plan, &options);
  return create_by_entries(&t->R, plan, (int)size, &options);
}

/* On a CPU, where create makes the vectors alone. */
static trs_status clone_on_cpu(trs_plan *plan) {
  const trs_triangle *origin = plan->origin->state;
  trs_triangle *t;
  TRS_TRY(TRS_ALLOC_ZERO(&t, 1));
  plan->state = t;
  TRS_TRY(TRS_ALLOC_ZERO(&t->R, 1));
  *t->R = *origin->R;
  trs_relaxation_leave_vectors(t->R);
  return t->R->backend->create(t->R, NULL, NULL);
}

static trs_relaxation *relaxation_of(const trs_plan *plan) {
  return ((const trs_triangle *)plan->state)->R;
}

static trs_status update(trs_plan *plan) {
  trs_host_system h = {0};
  trs_relaxation *R = relaxation_of(plan);
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
  static const trs_sweep_options once = {.sweeps = 1, .omega = 1};
  trs_relaxation *R = relaxation_of(plan);
  if (R->backend->stream) *R->backend->stream(R) = plan->stream;
  return R->backend->solve ? R->backend->solve(R, rhs) : trs_relaxation_sweep(R, rhs, &once);
}

static trs_status wait(trs_plan *plan) {
  trs_relaxation *R = relaxation_of(plan);
  return R->backend->wait(R);
}

static int threads(const trs_plan *plan) { return relaxation_of(plan)->threads; }

static int64_t bytes(const trs_plan *plan) {
  const trs_triangle *t = plan->state;
  trs_relax_info info = {0};
  t->R->backend->describe(t->R, &info);
  if (info.device_bytes) return info.device_bytes;
  if (plan->origin)
    return TRS_HELD(t, t->R, t->R->x, t->R->r, t->R->squares, t->R->partial, t->R->total,
                    (const void *)t->R->most);
  return TRS_HELD(t) + trs_relaxation_held(t->R) + trs_refactor_held(t->refactor);
}

/* Steps of several threads; a sweep in the order of its rows has none. */
static int32_t count_levels(const trs_relaxation *R) {
  int32_t *level, most = 0;
  if (!R->factors) return R->ncolours;
  if (TRS_ALLOC(&level, R->nrows)) return 0;
  for (int64_t j = 0; j < R->nrows; j++) {
    const int64_t p = R->upper ? R->nrows - 1 - j : j;
    int32_t *own = level + p;
    *own = 1;
    for (int64_t k = R->ptr[p]; k < R->ptr[p + 1]; k++)
      if (level[R->idx[k]] >= *own) *own = level[R->idx[k]] + 1;
    if (*own > most) most = *own;
  }
  trs_free(level);
  return most;
}

static void describe(const trs_plan *plan, char *text, size_t size) {
  const trs_relaxation *R = relaxation_of(plan);
  static const char *const words[] = {[TRS_STORE_MIXED] = "floats",
                                      [TRS_STORE_DOUBLE] = "doubles",
                                      [TRS_STORE_FLOAT] = "floats",
                                      [TRS_STORE_HALF] = "halfs",
                                      [TRS_STORE_BFLOAT] = "bfloats"};
  snprintf(text, size, "%lld rows of blocks of %d, %lld blocks of %s, %d levels",
           (long long)R->nrows, R->block, (long long)(R->noff + R->nrows), words[R->store],
           count_levels(R));
}

static void free_state(trs_plan *plan) {
  trs_triangle *t = plan->state;
  if (!t) return;
  trs_refactor_free(t->refactor);
  if (plan->origin && t->R)
    trs_relaxation_free_vectors(t->R);
  else
    trs_relax_destroy(t->R);
  trs_free(t);
  plan->state = NULL;
}

static trs_store asked_for(const trs_plan *plan) { return plan->options.store; }

#define BLOCKS                                                                       \
  .name = "blocks", .parameters = true, .estimate = estimate, .analysis_solves = 20, \
  .store = asked_for, TRS_METHOD_STEPS, .solve = solve

const trs_method trs_method_blocks = {BLOCKS, .backend = &trs_backend_serial,
                                      .refuses = refuses_on_cpu, .threads = threads,
                                      .clone = clone_on_cpu};

const trs_method trs_method_blocks_cuda = {BLOCKS, .backend = &trs_backend_cuda, .reorders = true,
                                           .refuses = refuses_on_gpu, .wait = wait};

trs_triangle *trs_triangle_of(const trs_plan *plan) {
  return plan && plan->method->analyze == analyze ? plan->state : NULL;
}
