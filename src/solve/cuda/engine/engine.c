/* engine.c - the method engine: analysis into slices and launch ranges, update, description. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "solve/cuda/engine/state.h"

typedef trs_engine engine;
typedef trs_engine_candidate candidate;

/* For auto's comparison with the methods of the CPU, whose right-hand sides lie in host memory:
 * transfers, plus a hop per level and the bytes of the system. */
static trs_estimate estimate(const trs_plan *plan) {
  static const double BUS = 10e9, BANDWIDTH = 2e12, LEVEL = 0.6e-6, START = 30e-6;
  const trs_system *S = &plan->system;
  double levels = plan->has_levels ? plan->levels.count : 0;
  double moved = 2.0 * (double)S->n * (double)trs_scalar_size(S->scalar);
  double bytes = (double)trs_plan_solve_bytes(plan);
  return (trs_estimate){.seconds = START + moved / BUS + levels * LEVEL + bytes / BANDWIDTH};
}

/* The rules with the parameters that the caller gave. */
static trs_slice_rules with_parameters(const engine *e, trs_slice_rules rules) {
  const trs_engine_parameters *p = &e->asked;
  if (p->block > 0) rules.most_block = (int32_t)p->block;
  if (p->dense >= 0) rules.dense = (int32_t)p->dense;
  if (p->small_level_rows >= 0) rules.small_level_rows = (int32_t)p->small_level_rows;
  if (p->early_poll >= 0) rules.early_poll = (int32_t)p->early_poll;
  return rules;
}

/* True if a kernel can start before its predecessor ends, and blocks of threads form clusters. */
static bool overlaps(const engine *e) { return trs_device_look(e->gpu.device)->capability >= 9; }

/* Memory for solves.  blank names the parts to fill: all bits set in work and parts, zeros in the
 * counters. */
static trs_status make_work(engine *e, const trs_plan *plan, trs_gpu_blank *blank) {
  const trs_system *S = &plan->system;
  const trs_device_facts *facts = trs_device_look(e->gpu.device);
  int64_t size = (int64_t)trs_scalar_size(S->scalar), n = S->n;
  trs_engine_args *a = &e->args;
  a->fault = e->gpu.fault;
  a->overlaps = overlaps(e);
  a->columns = 1;
  a->buffers = 2 * n * size <= facts->l2_bytes / 4 ? 2 : 1;
  if (e->asked.double_buffer >= 0) a->buffers = 1 + (int32_t)e->asked.double_buffer;
  int64_t parts = (int64_t)e->c.slices.nparts * TRS_SLICE_LANES;
  int64_t work_bytes = a->buffers * n * size, bytes = a->buffers * (n + parts) * size;
  int64_t counters_at = (bytes + (int64_t)sizeof(int64_t) - 1) / 8 * 8;
  int64_t counters = (int64_t)sizeof *e->args.counters + (e->c.nranges + 1) * 4;
  e->bytes = counters_at + counters;
  TRS_TRY(trs_device_alloc(e->gpu.device, &e->memory, e->bytes, 1, plan->stream));
  a->work = e->memory;
  a->parts = (char *)e->memory + work_bytes;
  a->counters = (trs_engine_counters *)((char *)e->memory + counters_at);
  *blank = (trs_gpu_blank){a->work, bytes, a->counters, counters};
  return TRS_SUCCESS;
}

/* After the slices are built. */
static trs_status prepare_solves(engine *e, const trs_plan *plan) {
  e->args.slices = e->c.slices;
  e->args.chains = e->c.rules.most_block > 1 && !e->c.rules.dense;
  e->args.level_slice = e->c.map.level_slice;
  return plan->options.nrhs > 1 ? trs_engine_prepare_rhs(e, plan) : TRS_SUCCESS;
}

static void drop_arrays(engine *e, trs_stream stream) {
  trs_device_free(e->gpu.device, e->memory, stream);
  trs_device_free(e->gpu.device, e->args.many_rhs_work, stream);
  trs_device_free(e->gpu.device, e->args.system_idx, stream);
  trs_device_free(e->gpu.device, e->transposed, stream);
  trs_free(e->many_ranges);
  e->transposed = NULL;
  e->many_ranges = NULL;
  e->many_nranges = 0;
  e->args = (trs_engine_args){.float_values = e->args.float_values};
  e->memory = NULL;
  e->bytes = 0;
}

static void drop_candidate(engine *e, candidate *c, trs_stream stream) {
  trs_gpu_cut_free(c->cut);
  trs_gpu_slices_free(&c->slices, &c->map, e->gpu.device, stream);
  trs_free(c->level);
  trs_free(c->ranges);
  *c = (candidate){0};
}

/* Begins to cut the system by the rules.  The cut is abandoned if it needs more levels than its
 * rival.  The device may still work on it at the return. */
static trs_status begin_candidate(engine *e, trs_plan *plan, trs_slice_rules rules,
                                  const candidate *rival, candidate *c) {
  *c = (candidate){.rules = rules};
  return trs_gpu_cut_begin(&c->cut, e->gpu.device, &e->gpu.system, e->apart, &c->rules,
                           rival ? rival->cut : NULL, plan->stream);
}

/* Levels and expected seconds of a solve; INFINITY for an abandoned cut. */
static trs_status look_at_candidate(const engine *e, const trs_plan *plan, candidate *c) {
  c->seconds = INFINITY;
  TRS_TRY(trs_gpu_cut_finish(c->cut, &c->slices, &c->level));
  if (!c->level) return TRS_SUCCESS;
  const trs_range_rules rules = {
      .most_rows = TRS_SHARED_X_ROWS(trs_scalar_size(plan->system.scalar)),
      .clusters = e->clusters > 0,
      .blocks = c->rules.most_block > 1,
      .choice = (trs_range_choice)e->asked.ranges,
      .shares = 1};
  TRS_TRY(trs_choose_launch_ranges(&c->ranges, &c->nranges, &c->seconds, c->level,
                                   c->slices.nlevels, &rules));
  if (plan->options.nrhs > 1)
    c->seconds = trs_engine_expect_several(e, c, plan->system.scalar, plan->options.nrhs);
  return TRS_SUCCESS;
}

/* Builds e->c and allocates what its solves need. */
static trs_status complete(engine *e, trs_plan *plan) {
  trs_gpu_blank blank;
  TRS_TRY(make_work(e, plan, &blank));
  TRS_TRY(
      trs_gpu_cut_build(e->c.cut, &e->c.slices, &e->c.map, e->args.float_values, &blank, e->found));
  return prepare_solves(e, plan);
}

static void drop_cut(candidate *c) {
  trs_gpu_cut_free(c->cut);
  c->cut = NULL;
}

/* Seconds of a solve of e->c, the best of a few.  The right-hand side is zero, since the time does
 * not depend on values. */
static trs_status time_solve(engine *e, trs_plan *plan, double *seconds) {
  enum { REPEATS = 5 };
  trs_device_timer *timer;
  void *x = NULL;
  trs_engine_args a = e->args;
  int64_t bytes = plan->system.n * (int64_t)trs_scalar_size(plan->system.scalar);
  TRS_TRY(trs_device_timer_create(&timer));
  trs_status status = trs_device_alloc(e->gpu.device, &x, bytes, 1, plan->stream);
  if (!status) status = trs_device_fill(x, 0, bytes, plan->stream);
  a.x = x, a.b = x, a.x_row = a.b_row = 1;
  for (int k = 0; !status && k < REPEATS; k++) {
    trs_device_timer_start(timer, plan->stream);
    status = trs_engine_launch_one(e, &a, plan->system.scalar, plan->stream);
    double took = trs_device_timer_stop(timer, plan->stream);
    if (k == 0 || took < *seconds) *seconds = took;
  }
  trs_device_free(e->gpu.device, x, plan->stream);
  trs_device_timer_destroy(timer);
  return status;
}

/* Keeps the better of e->c and other, and drops the worse. */
static void keep_better(engine *e, candidate *other, bool other_is_better, trs_stream stream) {
  drop_candidate(e, other_is_better ? &e->c : other, stream);
  if (other_is_better) e->c = *other;
}

static int plainest(const trs_slice_rules *rules, int count) {
  int found = 0;
  for (int k = 1; k < count; k++)
    if (rules[k].most_block < rules[found].most_block) found = k;
  return found;
}

/* True if the system is small and has so few levels that another cut could save only a few
 * microseconds per solve.  A wait for that cut would take 50 to 80 microseconds. */
static bool has_few_levels(const engine *e) {
  enum { SMALL = 8192, FEW = 12 };
  return e->gpu.system.n <= SMALL && e->c.slices.nlevels <= FEW;
}

/* The candidate with the lowest cost becomes e->c.  All cuts are begun before the first wait for
 * one: first the plainest, which is the rival of the others. */
static trs_status compare_candidates(engine *e, trs_plan *plan, const trs_slice_rules *rules,
                                     int count) {
  candidate other[TRS_MOST_CANDIDATES];
  int first = plainest(rules, count), begun = 0;
  TRS_TRY(begin_candidate(e, plan, with_parameters(e, rules[first]), NULL, &e->c));
  for (int k = 0; k < count; k++)
    if (k != first && !begin_candidate(e, plan, with_parameters(e, rules[k]), &e->c, &other[begun]))
      begun++;
  trs_status status = look_at_candidate(e, plan, &e->c);
  const bool enough = status || has_few_levels(e);
  for (int k = 0; k < begun && !enough; k++)
    if (look_at_candidate(e, plan, &other[k])) other[k].seconds = INFINITY;
  for (int k = 0; k < begun && !enough; k++)
    keep_better(e, &other[k], other[k].seconds < e->c.seconds, plan->stream);
  if (!status) status = complete(e, plan);
  /* The device has meanwhile come to the end of cuts that are not needed. */
  for (int k = 0; k < begun && enough; k++) drop_candidate(e, &other[k], plan->stream);
  drop_cut(&e->c);
  return status;
}

/* Builds and times all. */
static trs_status time_candidates(engine *e, trs_plan *plan, const trs_slice_rules *rules,
                                  int count) {
  for (int k = 0; k < count; k++) {
    candidate best = e->c;
    trs_status status = begin_candidate(e, plan, with_parameters(e, rules[k]), NULL, &e->c);
    if (!status) status = look_at_candidate(e, plan, &e->c);
    if (!status) status = complete(e, plan);
    drop_cut(&e->c);
    if (!status) status = time_solve(e, plan, &e->c.seconds);
    drop_arrays(e, plan->stream);
    candidate fresh = e->c;
    e->c = best;
    keep_better(e, &fresh, !status && (k == 0 || fresh.seconds < best.seconds), plan->stream);
    if (status && k == 0) return status;
  }
  trs_gpu_blank blank;
  e->tuned = true;
  TRS_TRY(make_work(e, plan, &blank));
  TRS_TRY(trs_gpu_clear(&blank, plan->stream));
  return prepare_solves(e, plan);
}

/* ---- Inverses that lose too many digits (analysis/growth.h). ---- */

/* Fills again, and this time says where the blocks are cut.  e->found->refused: their number. */
static trs_status mark_blocks(engine *e, trs_plan *plan) {
  const int64_t n = plan->system.n, bytes = (n + 3) / 4 * 4, word = (int64_t)sizeof(int32_t);
  if (!e->apart) {
    TRS_TRY(trs_device_alloc(e->gpu.device, (void **)&e->apart, bytes + word, 1, plan->stream));
    TRS_TRY(trs_device_fill(e->apart, 0, bytes, plan->stream));
  }
  const trs_gpu_verdict verdict = {e->found, e->apart, (int32_t *)(void *)(e->apart + bytes)};
  TRS_TRY(trs_device_fill(verdict.count, 0, word, plan->stream));
  TRS_TRY(trs_gpu_slices_fill(&e->c.slices, &e->c.map, &e->gpu.system, e->args.float_values,
                              &verdict, plan->stream));
  TRS_TRY(trs_device_copy(&e->found->refused, verdict.count, word, plan->stream));
  return trs_device_wait(plan->stream);
}

/* Builds the system with these blocks cut.  After a failure e is as before. */
static trs_status cut_blocks(engine *e, trs_plan *plan) {
  engine fresh = *e;
  fresh.c = (candidate){0};
  fresh.args = (trs_engine_args){.float_values = e->args.float_values};
  fresh.memory = fresh.transposed = NULL;
  fresh.many_ranges = NULL;
  fresh.many_nranges = 0;
  fresh.tuned = false;
  fresh.refused += e->found->refused;
  trs_status status = begin_candidate(&fresh, plan, e->c.rules, NULL, &fresh.c);
  if (!status) status = look_at_candidate(&fresh, plan, &fresh.c);
  if (!status) status = complete(&fresh, plan);
  drop_cut(&fresh.c);
  if (!status) status = trs_device_wait(plan->stream);
  engine *unused = status ? &fresh : e;
  drop_arrays(unused, plan->stream);
  drop_candidate(unused, &unused->c, plan->stream);
  if (!status) *e = fresh;
  return status;
}

/* Waits for a fill.  Blocks whose inverses it refuses are cut, the others stay as they are. */
static trs_status heed_verdict(engine *e, trs_plan *plan) {
  TRS_TRY(trs_device_wait(plan->stream));
  if (e->found->bad_pivot)
    return trs_fail(TRS_ERROR_ZERO_PIVOT, -1, "a diagonal entry is unusable");
  if (e->found->refused) TRS_TRY(mark_blocks(e, plan));
  return e->found->refused ? cut_blocks(e, plan) : TRS_SUCCESS;
}

/* ---- The method. ---- */

static trs_status prepare_while_device_works(engine *e, trs_plan *plan) {
  const trs_scalar scalar = plan->system.scalar;
  e->args.float_values = plan->options.store == TRS_STORE_FLOAT && trs_scalar_is_double(scalar);
  TRS_TRY(trs_engine_prepare_shared_x(scalar, e->args.float_values, overlaps(e), &e->clusters));
  TRS_TRY(trs_device_alloc_host(e->gpu.device, (void **)&e->found));
  *e->found = (trs_gpu_found){0};
  return trs_gpu_arm(&e->gpu, plan);
}

static trs_status analyze_on_device(engine *e, trs_plan *plan) {
  void *stage;
  trs_pattern_features features;
  trs_slice_rules rules[TRS_MOST_CANDIDATES];
  TRS_TRY(trs_gpu_load(&e->gpu, plan, true, TRS_GPU_PATTERN | TRS_GPU_VALUES));
  TRS_TRY(trs_gpu_begin_features(&stage, e->gpu.device, &e->gpu.system, plan->stream));
  trs_status status = prepare_while_device_works(e, plan);
  TRS_TRY(trs_gpu_end_features(&features, stage, e->gpu.device, e->gpu.system.n, plan->stream));
  TRS_TRY(status);
  int count = trs_choose_rules(rules, &features, plan->options.nrhs > 1);
  TRS_TRY(plan->options.tune ? time_candidates(e, plan, rules, TRS_MOST_CANDIDATES)
                             : compare_candidates(e, plan, rules, count));
  TRS_TRY(heed_verdict(e, plan));
  trs_gpu_unload(&e->gpu, plan);
  return TRS_SUCCESS;
}

static trs_status analyze(trs_plan *plan) {
  engine *e;
  TRS_TRY(TRS_ALLOC_ZERO(&e, 1));
  plan->state = e;
  TRS_TRY(trs_engine_parameters_read(&e->asked, plan));
  trs_gpu_begin(&e->gpu, plan, trs_engine_launch);
  return analyze_on_device(e, plan);
}

static trs_status update(trs_plan *plan) {
  engine *e = plan->state;
  TRS_TRY(trs_gpu_load(&e->gpu, plan, true, TRS_GPU_PATTERN | TRS_GPU_VALUES));
  const trs_gpu_verdict verdict = {.found = e->found};
  *e->found = (trs_gpu_found){0};
  TRS_TRY(trs_gpu_slices_fill(&e->c.slices, &e->c.map, &e->gpu.system, e->args.float_values,
                              &verdict, plan->stream));
  TRS_TRY(heed_verdict(e, plan));
  trs_gpu_unload(&e->gpu, plan);
  return TRS_SUCCESS;
}

static int64_t bytes(const trs_plan *plan) {
  const engine *e = plan->state;
  return e->bytes + trs_gpu_bytes(&e->gpu) + (e->apart ? plan->system.n : 0) +
         trs_gpu_slices_bytes(&e->c.slices, &e->c.map, plan->system.scalar, e->args.float_values);
}

static void describe(const trs_plan *plan, char *text, size_t size) {
  const engine *e = plan->state;
  int32_t levels[TRS_LAUNCH_KINDS] = {0};
  char cut[96] = "";
  for (int32_t k = 0; k < e->c.nranges; k++)
    levels[e->c.ranges[k].kind] += e->c.ranges[k].level_end - e->c.ranges[k].level;
  if (e->refused)
    snprintf(cut, sizeof cut, "; %lld blocks cut, whose inverses would lose digits",
             (long long)e->refused);
  snprintf(text, size,
           "%d levels of %d blocks of up to %d rows, %d slices, %d launches, %d levels in one "
           "block of threads and %d in a cluster, %s %.3g ms%s%s",
           e->c.slices.nlevels, e->c.slices.nblocks, e->c.rules.most_block, e->c.slices.nslices,
           e->c.nranges, levels[TRS_LAUNCH_SINGLE_BLOCK], levels[TRS_LAUNCH_CLUSTER],
           e->tuned ? "timed at" : "expects", 1e3 * e->c.seconds, cut, e->asked.warning);
}

static void free_state(trs_plan *plan) {
  engine *e = plan->state;
  if (!e) return;
  if (e->gpu.device) {
    drop_arrays(e, plan->stream);
    drop_candidate(e, &e->c, plan->stream);
    trs_device_free(e->gpu.device, e->apart, plan->stream);
    trs_device_free_host(e->gpu.device, e->found);
    trs_gpu_free(&e->gpu, plan);
  }
  trs_free(e);
}

const trs_method trs_method_engine = {
    .name = "engine",
    TRS_GPU_METHOD,
    .checks_diagonal = true,
    .estimate = estimate,
    .analysis_solves = 2,
    TRS_METHOD_STEPS,
};
