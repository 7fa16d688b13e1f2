/* engine.c - the method engine: analysis into slices and launch ranges, update, description. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "plan/timing.h"
#include "solve/cuda/engine/state.h"

typedef trs_engine engine;
typedef trs_engine_candidate candidate;
typedef trs_engine_sweep sweep;

/* For auto's comparison with the methods of the CPU, whose right-hand sides lie in host memory:
 * transfers, plus a hop per level and the bytes of the system. */
static trs_estimate estimate(const trs_plan *plan) {
  const trs_gpu_costs *gpu = trs_context_gpu_costs(plan->context);
  const trs_system *S = &plan->system;
  double levels = plan->levels ? plan->levels->count : 0;
  double moved = 2.0 * (double)S->n * (double)trs_scalar_size(S->scalar);
  double bytes = (double)trs_plan_solve_bytes(plan);
  return (trs_estimate){.seconds = gpu->start + moved / gpu->bus_bandwidth + levels * gpu->level +
                                   bytes / gpu->stored_bandwidth};
}

static const trs_gpu_costs *costs_of(const engine *e) {
  return &trs_device_look(e->gpu.device)->costs;
}

/* True if the joint system is that of boxes, or of a substitution. */
static bool is_boxed(const engine *e) { return e->substitution.starts; }
static bool substitutes(const engine *e) { return e->substitution.order && !is_boxed(e); }

/* The rules with the parameters that the caller gave. */
static trs_slice_rules with_parameters(const engine *e, trs_slice_rules rules) {
  const trs_engine_parameters *p = &e->asked;
  rules.wide = trs_device_look(e->gpu.device)->warp > TRS_SLICE_LANES;
  if (p->block > 0) rules.most_block = (int32_t)p->block;
  if (p->dense >= 0) rules.dense = (int32_t)p->dense;
  if (p->small_level_rows >= 0) rules.small_level_rows = (int32_t)p->small_level_rows;
  if (p->early_poll >= 0) rules.early_poll = (int32_t)p->early_poll;
  return rules;
}

/* True if a kernel can start before its predecessor ends, and blocks of threads form clusters. */
static bool overlaps(const engine *e) { return trs_device_look(e->gpu.device)->capability >= 9; }

/* The distance of x in work, if that is for so many bytes without distances: up to half a line for
 * long rows, which poll many x, where rows wait at many levels.  Elsewhere, and in boxes, x is read
 * faster without distances. */
static int32_t work_shift(const engine *e, const sweep *w, int64_t bytes) {
  enum { LONG = 12, LEVELS = 16, MOST = 3, SHARE = 8, JOINT_SHARE = 3 };
  const int64_t most =
      trs_device_look(e->gpu.device)->l2_bytes / (e->substitution.order ? JOINT_SHARE : SHARE);
  const trs_slices *s = &w->c.slices;
  int32_t shift = 0;
  if (e->asked.work_shift >= 0) return (int32_t)e->asked.work_shift;
  if (is_boxed(e) || s->entries < LONG * s->n || s->nlevels < LEVELS) return 0;
  while (shift < MOST && bytes << (shift + 1) <= most) shift++;
  return shift;
}

/* Memory for solves.  blank names the parts to fill: all bits set in work and parts, zeros in the
 * counters. */
static trs_status make_work(const engine *e, sweep *w, const trs_plan *plan, trs_gpu_blank *blank) {
  const trs_device_facts *facts = trs_device_look(e->gpu.device);
  int64_t size = (int64_t)trs_scalar_size(plan->system.scalar), n = w->c.slices.n;
  trs_engine_args *a = &w->args;
  a->float_values = e->float_values;
  a->fault = e->gpu.fault;
  a->overlaps = overlaps(e);
  a->multiprocessors = facts->multiprocessors;
  a->columns = 1;
  a->lanes = facts->warp;
  a->buffers = 2 * n * size <= facts->l2_bytes / 4 ? 2 : 1;
  if (e->asked.double_buffer >= 0) a->buffers = 1 + (int32_t)e->asked.double_buffer;
  a->work_shift = work_shift(e, w, a->buffers * n * size);
  int64_t parts = (int64_t)w->c.slices.nparts * facts->warp, positions = n << a->work_shift;
  int64_t work_bytes = a->buffers * positions * size,
          bytes = a->buffers * (positions + parts) * size;
  int64_t counters_at = (bytes + (int64_t)sizeof(int64_t) - 1) / 8 * 8;
  int64_t counters = (int64_t)sizeof *a->counters + (w->c.nranges + 1) * 4;
  w->bytes = counters_at + counters;
  TRS_TRY(trs_device_alloc(e->gpu.device, &w->memory, w->bytes, 1, plan->stream));
  a->work = w->memory;
  a->parts = (char *)w->memory + work_bytes;
  a->counters = (trs_engine_counters *)((char *)w->memory + counters_at);
  *blank = (trs_gpu_blank){a->work, bytes, a->counters, counters};
  return TRS_SUCCESS;
}

/* After the slices are built.  Rows of a joint system need not be rows of b and x. */
static trs_status prepare_solves(const engine *e, sweep *w, const trs_plan *plan) {
  const int64_t n = w->c.slices.n;
  w->args.n = plan->system.n;
  w->args.slices = w->c.slices;
  if (e->substitution.order) {
    TRS_TRY(trs_device_alloc(e->gpu.device, (void **)&w->row, n, sizeof *w->row, plan->stream));
    w->bytes += n * (int64_t)sizeof *w->row;
    TRS_TRY(trs_gpu_substitution_rows(&e->substitution, w->c.slices.row, w->row, plan->stream));
    w->args.slices.row = w->row;
  }
  w->args.chains = w->c.rules.most_block > 1 && !w->c.rules.dense;
  w->args.boxes = is_boxed(e);
  w->args.level_slice = w->c.map.level_slice;
  return plan->options.nrhs > 1 ? trs_engine_prepare_rhs(e, w, plan) : TRS_SUCCESS;
}

static void drop_candidate(const engine *e, candidate *c, trs_stream stream) {
  trs_gpu_cut_free(c->cut);
  trs_gpu_substitution_free(&c->boxes, e->gpu.device, stream);
  trs_gpu_slices_free(&c->slices, &c->map, e->gpu.device, stream);
  TRS_FREE_ALL(c->level, c->ranges);
  *c = (candidate){0};
}

static void drop_sweep(const engine *e, sweep *w, trs_stream stream) {
  void *arrays[] = {w->memory, w->args.many_rhs_work, w->args.system_idx, w->transposed, w->row};
  for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
    trs_device_free(e->gpu.device, arrays[k], stream);
  trs_free(w->many_ranges);
  drop_candidate(e, &w->c, stream);
  *w = (sweep){0};
}

/* Drops what solves need.  The triangle and the knowledge of refused inverses stay. */
static void drop_solves(engine *e, trs_stream stream) {
  drop_sweep(e, &e->sweep, stream);
  trs_gpu_substitution_free(&e->substitution, e->gpu.device, stream);
  e->made = false;
}

/* Begins to cut the system, or that of c->boxes, by the rules.  The cut is abandoned if it needs
 * more levels than its rival.  The device may still work on it at the return. */
static trs_status begin_candidate(const engine *e, trs_plan *plan, trs_slice_rules rules,
                                  const candidate *rival, candidate *c) {
  const trs_gpu_substitution boxes = c->boxes;
  *c = (candidate){.rules = rules, .boxes = boxes};
  return trs_gpu_cut_begin(&c->cut, e->gpu.device, boxes.starts ? &boxes.joint : &e->gpu.system,
                           boxes.starts ? boxes.starts : e->block_starts, &c->rules,
                           rival ? rival->cut : NULL, NULL, plan->stream);
}

/* Levels and expected seconds of a solve; INFINITY for an abandoned cut. */
static trs_status finish_candidate(const engine *e, const trs_plan *plan, candidate *c) {
  c->seconds = INFINITY;
  TRS_TRY(trs_gpu_cut_finish(c->cut, &c->slices, &c->level));
  if (!c->level) return TRS_SUCCESS;
  const trs_range_rules rules = {
      .gpu = costs_of(e),
      .most_rows = TRS_SHARED_X_ROWS(trs_scalar_size(plan->system.scalar)),
      .clusters = e->clusters > 0,
      .blocks = c->rules.most_block > 1,
      .boxes = c->boxes.starts != NULL,
      .choice = (trs_range_choice)e->asked.ranges,
      .shares = 1};
  TRS_TRY(trs_choose_launch_ranges(&c->ranges, &c->nranges, &c->seconds, c->level,
                                   c->slices.nlevels, &rules));
  if (plan->options.nrhs > 1)
    c->seconds = trs_engine_expect_several(e, c, plan->system.scalar, plan->options.nrhs);
  return TRS_SUCCESS;
}

static void drop_cut(candidate *c) {
  trs_gpu_cut_free(c->cut);
  c->cut = NULL;
}

/* Updates that only launch need the joint system's arrays again. */
static void drop_joint_arrays(engine *e, const trs_plan *plan) {
  if (!plan->options.launch_updates)
    trs_gpu_substitution_drop_arrays(&e->substitution, e->gpu.device, plan->stream);
}

/* Builds the slices of a cut and allocates what its solves need. */
static trs_status complete(engine *e, trs_plan *plan, candidate *chosen) {
  sweep *w = &e->sweep;
  trs_gpu_blank blank;
  w->c = *chosen;
  *chosen = (candidate){0};
  if (w->c.boxes.starts) e->substitution = w->c.boxes;
  w->c.boxes = (trs_gpu_substitution){0};
  e->made = true;
  TRS_TRY(make_work(e, w, plan, &blank));
  TRS_TRY(trs_gpu_cut_build(w->c.cut, &w->c.slices, &w->c.map, e->float_values, &blank,
                            &e->found->fill));
  TRS_TRY(prepare_solves(e, w, plan));
  drop_cut(&w->c);
  return TRS_SUCCESS;
}

/* ---- Substitution of rows (analysis/substitute.h). ---- */

/* Substitution has to be faster than other cuts by so much: the expectation is not exact. */
static const double MARGIN = 0.92;

/* Levels from which on substitution and boxes may pay; rows of a system whose analysis is short
 * whatever it tries. */
enum { LEAST_LEVELS = 7, SMALL = 8192 };

/* True if there are so many solves of `seconds` that half of their time pays for the analysis,
 * which takes about as long as some launches per level of D. */
static bool pays(const engine *e, const trs_plan *plan, double seconds) {
  const double solves = (double)plan->options.solves;
  return solves <= 0 || solves * seconds / 2 >= costs_of(e)->substitution;
}

/* True if substitution may solve a system in less than `seconds`, and pays for its analysis. */
static bool may_substitute(const engine *e, const trs_plan *plan, const candidate *plain,
                           double seconds) {
  if (e->asked.substitute == 0 || !plain->level || plain->rules.most_block > 1) return false;
  if (e->asked.substitute > 0) return plain->slices.nlevels > 1;
  if (plain->slices.nlevels < LEAST_LEVELS) return false;
  if (!pays(e, plan, seconds)) return false;
  return trs_least_substituted_seconds(plain->level, plain->slices.nlevels, costs_of(e)) <
         MARGIN * seconds;
}

/* Cuts a joint system. */
static trs_status cut_joint(const engine *e, trs_plan *plan, candidate *c) {
  const trs_gpu_substitution *s = &e->substitution;
  const trs_system *system = &s->joint;
  const trs_known_levels levels = {s->known, s->nlevels};
  const double row = (double)system->nnz / (double)system->n - system->has_diagonal;
  *c = (candidate){.rules = with_parameters(e, trs_rows_rules(row, plan->options.nrhs > 1))};
  c->rules.most_block = 1;
  TRS_TRY(trs_gpu_cut_begin(&c->cut, e->gpu.device, system, NULL, &c->rules, NULL, &levels,
                            plan->stream));
  return finish_candidate(e, plan, c);
}

/* A depth, and what a sample of it is compared with. */
typedef struct attempt {
  const trs_gpu_costs *gpu;
  const candidate *plain;
  int32_t depth, fitting; /* fitting: the depth that a sample advises */
  bool doubtful;          /* a good rival is at hand */
  double seconds;
  int64_t most; /* entries of M */
} attempt;

/* Entries of M per row in the sample's bands, and the layers of these, if they had so many levels.
 */
static double sampled_entries(const trs_substitution_sample *sample, int32_t depth) {
  double rows = 0, entries = 0;
  for (int32_t k = 0; k < depth; k++) {
    rows += (double)sample->rows[k];
    entries += (double)sample->entries[k];
  }
  return rows > 0 ? entries / rows : 0;
}

static int32_t sampled_layers(const trs_substitution_sample *sample, int32_t depth) {
  int32_t layers = 1;
  for (int32_t k = 0; k < depth; k++)
    if (sample->layers[k] > layers) layers = sample->layers[k];
  return layers;
}

/* Expected seconds of a solve with bands of so many levels. */
static double sampled_seconds(const attempt *a, const trs_substitution_sample *sample,
                              int32_t depth) {
  return trs_substituted_seconds(a->plain->level, a->plain->slices.nlevels, depth,
                                 sampled_layers(sample, depth), sampled_entries(sample, depth),
                                 a->gpu);
}

/* Advises the largest depth with which M has room, or 0 if that does not pay.  Goes on with the
 * bands at hand if it is theirs. */
static bool is_worth(void *argument, const trs_substitution_sample *sample) {
  attempt *a = argument;
  const double n = (double)a->plain->slices.n;
  a->fitting = a->depth;
  while (a->fitting > 1 && n * sampled_entries(sample, a->fitting) > (double)a->most) a->fitting--;
  if (!(sampled_seconds(a, sample, a->fitting) < a->seconds)) a->fitting = 0;
  return a->fitting == a->depth;
}

/* The joint system by bands of the attempt's depth, or of fewer levels if M had too many entries.
 * Large systems look at a sample first, and so do smaller ones that may gain little: their levels
 * are wide, or the attempt is doubtful. */
static trs_status make_joint(engine *e, attempt *a, bool *made) {
  enum { LARGE = 1 << 17 };
  const candidate *plain = a->plain;
  const bool little =
      a->doubtful || trs_bands_are_wide(plain->level, plain->slices.nlevels, costs_of(e));
  bool looks = a->seconds < INFINITY && plain->slices.n >= (little ? SMALL : LARGE);
  trs_status status = TRS_SUCCESS;
  *made = false;
  while (a->depth > 1 && !status && !*made) {
    trs_bands bands;
    status = trs_bands_create(&bands, plain->level, plain->slices.nlevels, a->depth, costs_of(e));
    if (!status)
      status =
          trs_gpu_substitute(&e->substitution, made, plain->cut, &bands, a->most, e->float_values,
                             looks ? is_worth : NULL, a, &e->found->substitution);
    trs_bands_destroy(&bands);
    if (looks && !*made && a->fitting < a->depth)
      a->depth = a->fitting;
    else if (e->found->substitution.overflow)
      a->depth = a->depth * 3 / 4;
    else
      break;
    looks = false;
  }
  return status;
}

/* The joint system has at most about four times the entries of the system. */
static int64_t most_entries(const engine *e) {
  enum { MOST_FILL = 3 };
  const trs_system *S = &e->gpu.system;
  return e->asked.substitute > 0 ? INT64_MAX : MOST_FILL * (S->nnz + (S->has_diagonal ? 0 : S->n));
}

/* Substitutes rows at that depth, by the cut into single rows, if the solve is then expected to
 * take less than `seconds`; or in any case, if that is INFINITY.  Sets e->made if it does.  Lack of
 * memory is no failure. */
static trs_status substitute(engine *e, trs_plan *plan, const candidate *plain, int32_t depth,
                             double seconds, bool doubtful) {
  attempt a = {costs_of(e), plain, depth, depth, doubtful, MARGIN * seconds, most_entries(e)};
  candidate joint = {.seconds = INFINITY};
  bool made;
  trs_status status = make_joint(e, &a, &made);
  if (!status && made) {
    status = cut_joint(e, plan, &joint);
    e->substituted_seconds = joint.seconds;
  }
  if (!status && made && joint.seconds < a.seconds) {
    e->levels = plain->slices.nlevels;
    status = complete(e, plan, &joint);
    if (!status && plan->options.launch_updates) {
      status =
          trs_gpu_substitution_keep(&e->substitution, e->gpu.device, &e->gpu.system, plan->stream);
      e->found->substitution.guarded = 0; /* from now on: found by updates */
    }
  }
  drop_candidate(e, &joint, plan->stream);
  if (status || !e->made) drop_solves(e, plan->stream);
  return status == TRS_ERROR_MEMORY ? TRS_SUCCESS : status;
}

static int32_t depth_of(const engine *e, const candidate *plain) {
  return e->asked.substitute > 0 ? (int32_t)e->asked.substitute
                                 : trs_substitution_depth(plain->slices.nlevels);
}

/* ---- Boxes (analysis/boxes.h). ---- */

/* True if boxes may solve a grid in less than `seconds`, and pay for their analysis. */
static bool may_box(const engine *e, const trs_plan *plan, const candidate *plain, double seconds) {
  const trs_engine_parameters *p = &e->asked;
  const trs_slices *s = &plain->slices;
  if (p->boxes == 0 || !plain->level || plain->rules.most_block > 1) return false;
  if (s->longest > TRS_BOXED_ROW || s->n == 0) return false;
  if (p->boxes > 0) return true;
  if (plan->options.nrhs > 1 || s->nlevels < LEAST_LEVELS || !pays(e, plan, seconds)) return false;
  return e->classes.line > 0 &&
         trs_boxed_seconds(plain->level, s->nlevels, costs_of(e)) < MARGIN * seconds;
}

/* Cuts the system in boxes, by its cut into single rows.  Lack of memory is no failure. */
static trs_status cut_boxes(const engine *e, trs_plan *plan, const candidate *plain, candidate *c) {
  static const trs_box_classes some = {.line = 2, .plane = 64};
  const trs_system *S = &e->gpu.system;
  const double row = (double)S->nnz / (double)S->n - S->has_diagonal;
  const trs_slice_rules rules = with_parameters(e, trs_boxes_rules(row, plan->options.nrhs > 1));
  trs_status status = trs_gpu_box(&c->boxes, plain->cut, e->classes.line > 0 ? &e->classes : &some);
  if (!status) status = begin_candidate(e, plan, rules, NULL, c);
  if (!status) status = finish_candidate(e, plan, c);
  if (status) drop_candidate(e, c, plan->stream);
  return status == TRS_ERROR_MEMORY ? TRS_SUCCESS : status;
}

/* ---- The choice. ---- */

static int plainest(const trs_slice_rules *rules, int count) {
  int found = 0;
  for (int k = 1; k < count; k++)
    if (rules[k].most_block < rules[found].most_block) found = k;
  return found;
}

/* True if the system is small and has so few levels that another cut could save only a few
 * microseconds per solve.  A wait for that cut would take 50 to 80 microseconds. */
static bool has_few_levels(const engine *e, const candidate *c) {
  enum { FEW = 12 };
  return e->gpu.system.n <= SMALL && c->slices.nlevels <= FEW;
}

/* Substitutes rows if that is expected to take less than `seconds`. */
static trs_status try_substitution(engine *e, trs_plan *plan, const candidate *plain,
                                   double seconds, bool doubtful) {
  const bool in_vain = e->substituted_seconds >= MARGIN * seconds; /* known from the last time */
  if (in_vain || !may_substitute(e, plan, plain, seconds)) return TRS_SUCCESS;
  return substitute(e, plan, plain, depth_of(e, plain),
                    e->asked.substitute > 0 ? INFINITY : seconds, doubtful);
}

/* The cuts of a system, of which `first` is the plainest. */
typedef struct cuts {
  candidate all[TRS_MOST_CANDIDATES], boxed, *first, *best;
  int count;
} cuts;

static void begin_others(cuts *c, const engine *e, trs_plan *plan, const trs_slice_rules *rules) {
  for (int k = 0; k < c->count; k++)
    if (c->all + k != c->first)
      (void)begin_candidate(e, plan, with_parameters(e, rules[k]), c->first, &c->all[k]);
}

/* Of two cuts that take about the same time, that of fewer levels is the best. */
static void look_at_others(cuts *c, const engine *e, const trs_plan *plan) {
  static const double CLOSE = 1.05;
  double least = c->first->seconds;
  for (int k = 0; k < c->count; k++) {
    if (c->all + k == c->first || !c->all[k].cut || finish_candidate(e, plan, &c->all[k])) continue;
    const double bar = c->best == c->first ? CLOSE * least : least;
    if (c->all[k].seconds < bar) c->best = &c->all[k], least = c->all[k].seconds;
  }
}

/* Boxes are the best if they gain enough, or if the caller wants them. */
static trs_status try_boxes(cuts *c, engine *e, trs_plan *plan) {
  if (!may_box(e, plan, c->first, c->best->seconds)) return TRS_SUCCESS;
  TRS_TRY(cut_boxes(e, plan, c->first, &c->boxed));
  e->levels = c->first->slices.nlevels;
  if (c->boxed.level && (e->asked.boxes > 0 || c->boxed.seconds < MARGIN * c->best->seconds))
    c->best = &c->boxed;
  return TRS_SUCCESS;
}

/* True if rows of the system are so long that substitution in grids takes 1.3 times what the model
 * expects. */
static bool are_long(const trs_system *S) {
  static const double LONG = 8;
  return (double)S->nnz >= LONG * (double)S->n;
}

/* True if the caller wants boxes and has them, or if substitution would be looked at in vain: it
 * takes as long to find out as boxes take to make. */
static bool is_settled(const cuts *c, const engine *e) {
  const trs_system *S = &e->gpu.system;
  if (c->best != &c->boxed) return false;
  return e->asked.boxes > 0 || (e->asked.substitute <= 0 && S->n >= SMALL && are_long(S));
}

/* The part of the seconds of the best cut that substitution is compared with.  Boxes are no more
 * certain than it. */
static double rivalry(const cuts *c, const engine *e) {
  static const double OF_LONG = 0.8;
  return c->best != &c->boxed ? 1 : (are_long(&e->gpu.system) ? OF_LONG : 1) / MARGIN;
}

/* The cuts of a small system are all begun before the first wait for one: first the plainest, which
 * is the rival of the others.  Those of a large system come in turn, and none follows a
 * substitution that gains so much that it would not help. */
static trs_status compare_cuts(cuts *c, engine *e, trs_plan *plan, const trs_slice_rules *rules) {
  enum { LARGE = 1 << 18 };
  static const double MUCH = 0.8;
  const bool full_blocks = rules[0].dense && rules[0].most_block > 1;
  const bool in_turn = e->gpu.system.n > LARGE && !full_blocks;
  TRS_TRY(begin_candidate(e, plan, with_parameters(e, rules[c->first - c->all]), NULL, c->first));
  if (!in_turn) begin_others(c, e, plan, rules);
  TRS_TRY(finish_candidate(e, plan, c->first));
  if (has_few_levels(e, c->first) && e->asked.substitute <= 0 && e->asked.boxes <= 0)
    return TRS_SUCCESS;
  if (in_turn) {
    TRS_TRY(try_boxes(c, e, plan));
    if (!is_settled(c, e))
      TRS_TRY(try_substitution(e, plan, c->first, MUCH * c->best->seconds, c->best == &c->boxed));
    if (e->made || c->best == &c->boxed) return TRS_SUCCESS;
    begin_others(c, e, plan, rules);
  }
  look_at_others(c, e, plan);
  if (!in_turn) TRS_TRY(try_boxes(c, e, plan));
  if (is_settled(c, e)) return TRS_SUCCESS;
  return try_substitution(e, plan, c->first, rivalry(c, e) * c->best->seconds,
                          c->best == &c->boxed);
}

/* Makes the solves by the cut with the lowest cost, or by substitution. */
static trs_status compare_candidates(engine *e, trs_plan *plan, const trs_slice_rules *rules,
                                     int count) {
  cuts c = {.count = count};
  c.first = c.best = &c.all[plainest(rules, count)];
  trs_status status = compare_cuts(&c, e, plan, rules);
  if (!status && !e->made) status = complete(e, plan, c.best);
  /* The device has meanwhile come to the end of cuts that are not needed. */
  for (int k = 0; k < count; k++) drop_candidate(e, &c.all[k], plan->stream);
  drop_candidate(e, &c.boxed, plan->stream);
  return status;
}

/* Builds one way to solve: rules as they are, with substitution at that depth, or boxes. */
enum { IN_BOXES = -1 };
static trs_status build_way(engine *e, trs_plan *plan, trs_slice_rules rules, int32_t depth) {
  candidate c = {0}, boxed = {0};
  trs_status status = begin_candidate(e, plan, rules, NULL, &c);
  if (!status) status = finish_candidate(e, plan, &c);
  if (!status && depth > 0 && c.rules.most_block == 1 && c.slices.nlevels > depth)
    status = substitute(e, plan, &c, depth, INFINITY, false);
  if (!status && depth == IN_BOXES && e->classes.line > 0 && may_box(e, plan, &c, INFINITY)) {
    e->levels = c.slices.nlevels;
    status = cut_boxes(e, plan, &c, &boxed);
    if (!status && boxed.level) status = complete(e, plan, &boxed);
  }
  if (!status && depth == 0) status = complete(e, plan, &c);
  drop_candidate(e, &c, plan->stream);
  drop_candidate(e, &boxed, plan->stream);
  return status;
}

/* Builds the same system again, or that of the same boxes, which stay the caller's. */
static trs_status build_again(engine *e, trs_plan *plan, trs_slice_rules rules,
                              const trs_gpu_substitution *boxes) {
  candidate c = {.boxes = *boxes};
  trs_status status = begin_candidate(e, plan, rules, NULL, &c);
  if (!status) status = finish_candidate(e, plan, &c);
  if (!status) status = complete(e, plan, &c);
  c.boxes = (trs_gpu_substitution){0};
  drop_candidate(e, &c, plan->stream);
  return status;
}

/* Builds and times all ways, and keeps the fastest. */
static trs_status time_candidates(engine *e, trs_plan *plan, const trs_slice_rules *rules,
                                  int count, double row_length) {
  static const int32_t depths[] = {IN_BOXES, 4, 8, 16, 32};
  /* Of short solves so many that launches and the wait at the end of a round hardly count. */
  static const trs_timing of_short = {.rounds = 5, .solves = 20},
                          of_long = {.rounds = 5, .solves = 1};
  static const double SHORT = 200e-6;
  enum { DEPTHS = sizeof depths / sizeof depths[0] };
  const int ways = count + (e->asked.substitute == 0 ? 1 : DEPTHS);
  const trs_slice_rules single = trs_rows_rules(row_length, plan->options.nrhs > 1);
  engine best = *e;
  double least = INFINITY;
  trs_status status = TRS_SUCCESS;
  for (int k = 0; k < ways && !(status && k == 1); k++) {
    const int32_t depth = k < count ? 0 : depths[k - count];
    const trs_slice_rules way = k < count ? rules[k] : single;
    double seconds = INFINITY;
    const trs_status failed = build_way(e, plan, with_parameters(e, way), depth);
    const trs_timing *how = e->sweep.c.seconds < SHORT ? &of_short : &of_long;
    if (!failed && e->made) (void)trs_plan_time(plan, 1, TRS_COL_MAJOR, how, &seconds);
    if (k == 0) status = failed;
    engine *worse = seconds < least ? &best : e;
    drop_solves(worse, plan->stream);
    if (seconds < least) {
      least = seconds;
      best = *e;
      e->sweep = (sweep){0};
      e->substitution = (trs_gpu_substitution){0};
      e->made = false;
    }
  }
  *e = best;
  e->tuned = true;
  e->sweep.c.seconds = least;
  return status;
}

/* The way to solve, from the triangle that is loaded. */
static trs_status choose(engine *e, trs_plan *plan, const trs_pattern_features *features) {
  trs_slice_rules rules[TRS_MOST_CANDIDATES];
  const int count = trs_choose_rules(rules, features, plan->options.nrhs > 1);
  return plan->options.tune
             ? time_candidates(e, plan, rules, TRS_MOST_CANDIDATES, features->row_length)
             : compare_candidates(e, plan, rules, count);
}

/* ---- Inverses that lose too many digits (analysis/growth.h). ---- */

/* Fills again, and this time says where the blocks are cut.  e->found->fill.refused: their number.
 */
static trs_status mark_blocks(engine *e, trs_plan *plan) {
  const int64_t word = (int64_t)sizeof(int32_t), bytes = trs_starts_bytes(plan->system.n) - word;
  uint8_t **const starts = is_boxed(e) ? &e->substitution.starts : &e->block_starts;
  if (!*starts) {
    TRS_TRY(trs_device_alloc(e->gpu.device, (void **)starts, bytes + word, 1, plan->stream));
    TRS_TRY(trs_device_fill(*starts, 0, bytes, plan->stream));
  }
  const trs_gpu_verdict verdict = {&e->found->fill, *starts, (int32_t *)(void *)(*starts + bytes),
                                   false};
  TRS_TRY(trs_device_fill(verdict.count, 0, word, plan->stream));
  TRS_TRY(trs_gpu_slices_fill(&e->sweep.c.slices, &e->sweep.c.map,
                              is_boxed(e) ? &e->substitution.joint : &e->gpu.system,
                              e->float_values, &verdict, plan->stream));
  TRS_TRY(trs_device_copy(&e->found->fill.refused, verdict.count, word, plan->stream));
  return trs_device_wait(plan->stream);
}

static trs_status check_pivots(const engine *e) {
  if (!e->found->fill.bad_pivot) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ZERO_PIVOT, -1, "a diagonal entry is unusable");
}

/* A copy of e without solves. */
static engine without_solves(const engine *e) {
  engine fresh = *e;
  fresh.sweep = (sweep){0};
  fresh.substitution = (trs_gpu_substitution){0};
  fresh.made = false;
  fresh.substituted_seconds = 0;
  fresh.tuned = false;
  return fresh;
}

/* Keeps fresh in place of e, or drops it after a failure.  Both may have the same boxes. */
static trs_status replace(engine *e, engine *fresh, trs_status status, trs_stream stream) {
  if (!status) status = trs_device_wait(stream);
  if (!status) status = check_pivots(e);
  if (fresh->substitution.order == e->substitution.order)
    (status ? fresh : e)->substitution = (trs_gpu_substitution){0};
  drop_solves(status ? fresh : e, stream);
  if (!status) *e = *fresh;
  return status;
}

/* Builds the system with these blocks cut.  After a failure e is as before. */
static trs_status cut_blocks(engine *e, trs_plan *plan) {
  engine fresh = without_solves(e);
  fresh.refused += e->found->fill.refused;
  e->found->fill = (trs_gpu_found){0};
  return replace(e, &fresh, build_again(&fresh, plan, e->sweep.c.rules, &e->substitution),
                 plan->stream);
}

/* Waits for a fill.  Blocks whose inverses it refuses are cut, until none is refused: a cut within
 * a long chain can move the blocks behind it.  With substitution all blocks are single rows. */
static trs_status recut_unstable_blocks(engine *e, trs_plan *plan) {
  const trs_gpu_found *found = &e->found->fill;
  TRS_TRY(trs_device_wait(plan->stream));
  TRS_TRY(check_pivots(e));
  while (found->refused && !substitutes(e)) {
    TRS_TRY(mark_blocks(e, plan));
    if (!found->refused) break;
    TRS_TRY(cut_blocks(e, plan));
  }
  return TRS_SUCCESS;
}

/* ---- The method. ---- */

static trs_status prepare_while_device_works(engine *e, trs_plan *plan) {
  const trs_scalar scalar = plan->system.scalar;
  e->float_values = trs_store_mixed(plan) == TRS_STORE_MIXED;
  TRS_TRY(trs_engine_prepare_shared_x(scalar, e->float_values, overlaps(e), &e->clusters));
  TRS_TRY(trs_device_alloc_host(e->gpu.device, (void **)&e->found));
  *e->found = (trs_engine_found){0};
  return trs_gpu_arm(&e->gpu, plan);
}

static trs_status analyze_on_device(engine *e, trs_plan *plan) {
  void *stage;
  trs_pattern_features features;
  TRS_TRY(trs_gpu_load(&e->gpu, plan, true, TRS_GPU_PATTERN | TRS_GPU_VALUES));
  TRS_TRY(trs_gpu_begin_features(&stage, e->gpu.device, &e->gpu.system, plan->stream));
  trs_status status = prepare_while_device_works(e, plan);
  TRS_TRY(trs_gpu_end_features(&features, stage, e->gpu.device, e->gpu.system.n, plan->stream));
  TRS_TRY(status);
  trs_box_classes classes;
  const bool nodes = features.run >= 2; /* of several unknowns, which have blocks of their own */
  if (!nodes && trs_box_classes_of(&classes, features.octaves)) e->classes = classes;
  TRS_TRY(choose(e, plan, &features));
  TRS_TRY(recut_unstable_blocks(e, plan));
  drop_joint_arrays(e, plan);
  if (!plan->context->keeps_systems) trs_gpu_unload(&e->gpu, plan);
  return TRS_SUCCESS;
}

static trs_status analyze(trs_plan *plan) {
  engine *e;
  TRS_TRY(TRS_ALLOC_ZERO(&e, 1));
  plan->state = e;
  TRS_TRY(trs_engine_parameters_read(&e->asked, plan));
  if (TRS_ENGINE_WARP_SLICE_ALONE) {
    e->asked.ranges = TRS_RANGES_WARP_SLICE;
    e->asked.rhs = TRS_RHS_BATCHED;
    e->asked.substitute = e->asked.boxes = 0;
  }
  trs_gpu_begin(&e->gpu, plan, trs_engine_launch);
  return analyze_on_device(e, plan);
}

/* Slices, ranges and maps are the origin's. */
static trs_status clone(trs_plan *plan) {
  engine *e;
  trs_gpu_blank blank;
  TRS_TRY(TRS_ALLOC_ZERO(&e, 1));
  plan->state = e;
  const engine *origin = plan->origin->state;
  *e = *origin;
  e->sweep.memory = e->sweep.args.many_rhs_work = e->sweep.transposed = NULL;
  TRS_TRY(trs_gpu_separate(&e->gpu, plan));
  TRS_TRY(make_work(e, &e->sweep, plan, &blank));
  TRS_TRY(trs_engine_prepare_rhs_again(e, &e->sweep, &origin->sweep, plan));
  TRS_TRY(trs_gpu_clear(&blank, plan->stream));
  return trs_device_wait(plan->stream);
}

static void free_clone(engine *e, trs_plan *plan) {
  void *arrays[] = {e->sweep.memory, e->sweep.args.many_rhs_work, e->sweep.transposed};
  for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
    trs_device_free(e->gpu.device, arrays[k], plan->stream);
  trs_gpu_free(&e->gpu, plan);
  trs_free(e);
}

/* The new values lose too many digits in some rows: others are substituted.  After a failure e is
 * as before. */
static trs_status substitute_others(engine *e, trs_plan *plan) {
  drop_joint_arrays(e, plan);
  engine fresh = without_solves(e);
  const trs_slice_rules rules =
      trs_rows_rules((double)plan->system.nnz / (double)plan->system.n, plan->options.nrhs > 1);
  return replace(e, &fresh, compare_candidates(&fresh, plan, &rules, 1), plan->stream);
}

static trs_status refill(engine *e, trs_plan *plan) {
  const trs_gpu_verdict verdict = {.found = &e->found->fill};
  const candidate *c = &e->sweep.c;
  const trs_system *system = &e->gpu.system;
  if (is_boxed(e)) {
    TRS_TRY(trs_gpu_box_again(&e->substitution, e->gpu.device, system, plan->stream));
    system = &e->substitution.joint;
  } else if (substitutes(e)) {
    if (!e->substitution.memory)
      TRS_TRY(trs_gpu_substitution_restore(&e->substitution, e->gpu.device, &c->slices, &c->map,
                                           e->sweep.row, plan->stream));
    TRS_TRY(trs_gpu_substitute_again(&e->substitution, e->gpu.device, system,
                                     &e->found->substitution, plan->stream));
    if (e->found->substitution.guarded) return substitute_others(e, plan);
    system = &e->substitution.joint;
  }
  return trs_gpu_slices_fill(&c->slices, &c->map, system, e->float_values, &verdict, plan->stream);
}

/* ---- Updates that only launch (trs_options.launch_updates).  What they find stays until an update
 * that waits. ---- */

static bool has_lost_digits(const engine *e) {
  return e->found->fill.refused || (substitutes(e) && e->found->substitution.guarded);
}

/* With the row, if its diagonal entry is unusable now. */
static trs_status name_pivot(const trs_plan *plan) {
  trs_diagonal_look look;
  if (!trs_device_capturing(plan->stream)) {
    TRS_TRY(trs_system_begin_diagonal(&look, &plan->system, NULL, plan->stream));
    TRS_TRY(trs_system_end_diagonal(&look));
  }
  return trs_fail(TRS_ERROR_ZERO_PIVOT, -1,
                  "a diagonal entry was unusable in an update that has only launched");
}

/* What updates have found so far. */
static trs_status look_at_updates(const trs_plan *plan) {
  const engine *e = plan->state;
  if (!plan->options.launch_updates) return TRS_SUCCESS;
  if (e->found->fill.bad_pivot) return name_pivot(plan);
  if (!has_lost_digits(e)) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "with the values of an update the plan would lose too many digits, so x has NaN: "
                  "call trs_update outside graphs, which makes the plan anew, and capture again");
}

static trs_status launch_update(engine *e, trs_plan *plan) {
  const trs_gpu_verdict verdict = {.found = &e->found->fill, .poisons = true};
  const candidate *c = &e->sweep.c;
  const trs_system *system = &e->gpu.system;
  TRS_TRY(trs_gpu_load_values(&e->gpu, plan));
  if (is_boxed(e)) {
    TRS_TRY(trs_gpu_box_again(&e->substitution, e->gpu.device, system, plan->stream));
    system = &e->substitution.joint;
  } else if (substitutes(e)) {
    TRS_TRY(trs_gpu_substitution_launch(&e->substitution, e->gpu.device, system,
                                        &e->found->substitution, plan->stream));
    system = &e->substitution.joint;
  }
  return trs_gpu_slices_fill(&c->slices, &c->map, system, e->float_values, &verdict, plan->stream);
}

static trs_status wait(trs_plan *plan) {
  TRS_TRY(trs_gpu_wait(plan));
  return look_at_updates(plan);
}

static trs_status solve(trs_plan *plan, const trs_rhs *rhs) {
  TRS_TRY(look_at_updates(plan));
  TRS_TRY(trs_gpu_solve(plan, rhs));
  return rhs->there ? TRS_SUCCESS : look_at_updates(plan);
}

/* Graphs hold the addresses of arrays that an update that launches fills, so these arrays stay. */
static trs_status load_again(engine *e, trs_plan *plan) {
  if (plan->options.launch_updates) return trs_gpu_load_values(&e->gpu, plan);
  return trs_gpu_load(&e->gpu, plan, true, TRS_GPU_PATTERN | TRS_GPU_VALUES);
}

static trs_status update(trs_plan *plan) {
  engine *e = plan->state;
  if (plan->options.launch_updates) {
    const bool finds = e->found->fill.bad_pivot || has_lost_digits(e);
    if (!finds) return launch_update(e, plan);
    if (trs_device_capturing(plan->stream)) return look_at_updates(plan);
  }
  TRS_TRY(load_again(e, plan));
  e->found->fill = (trs_gpu_found){0};
  trs_status status = refill(e, plan);
  if (!status) status = recut_unstable_blocks(e, plan);
  drop_joint_arrays(e, plan);
  trs_gpu_unload(&e->gpu, plan);
  return status;
}

static int64_t bytes(const trs_plan *plan) {
  const engine *e = plan->state;
  const trs_scalar scalar = plan->system.scalar;
  const sweep *w = &e->sweep;
  if (plan->origin) return trs_gpu_bytes(&e->gpu) + w->bytes;
  return trs_gpu_bytes(&e->gpu) + trs_gpu_substitution_bytes(&e->substitution, plan->system.n) +
         (e->block_starts ? plan->system.n : 0) + w->bytes +
         trs_gpu_slices_bytes(&w->c.slices, &w->c.map, scalar, e->float_values);
}

/* What substitution or boxes did, or "". */
static void describe_substitution(const engine *e, char *text, size_t size) {
  const trs_gpu_substitution *s = &e->substitution;
  const trs_system *S = &e->gpu.system;
  *text = '\0';
  if (!s->order) return;
  if (is_boxed(e)) {
    trs_print(text, size, "%d levels, of which boxes of near rows make ", e->levels);
    return;
  }
  int used =
      trs_print(text, size, "%d levels, of which substitution with %.2g times the entries makes ",
                e->levels, (double)s->joint.nnz / (double)(S->nnz + (S->has_diagonal ? 0 : S->n)));
  if (s->guarded && used > 0 && (size_t)used < size)
    snprintf(text + used, size - (size_t)used, "(%lld rows kept for their digits) ",
             (long long)s->guarded);
}

static void describe(const trs_plan *plan, char *text, size_t size) {
  const engine *e = plan->state;
  const candidate *c = &e->sweep.c;
  int32_t levels[TRS_LAUNCH_KINDS] = {0};
  char cut[96] = "", substituted[192];
  for (int32_t k = 0; k < c->nranges; k++)
    levels[c->ranges[k].kind] += c->ranges[k].level_end - c->ranges[k].level;
  if (e->refused)
    snprintf(cut, sizeof cut, "; %lld blocks cut, whose inverses would lose digits",
             (long long)e->refused);
  describe_substitution(e, substituted, sizeof substituted);
  trs_print(text, size,
            "%s%d levels of %d blocks of up to %d rows, %d slices, %d launches, %d levels in one "
            "block of threads and %d in a cluster, %s %.3g ms%s",
            substituted, c->slices.nlevels, c->slices.nblocks, c->rules.most_block,
            c->slices.nslices, c->nranges, levels[TRS_LAUNCH_SINGLE_BLOCK],
            levels[TRS_LAUNCH_CLUSTER], e->tuned ? "timed at" : "expects", 1e3 * c->seconds, cut);
}

static void free_state(trs_plan *plan) {
  engine *e = plan->state;
  if (!e) return;
  if (plan->origin) {
    free_clone(e, plan);
    return;
  }
  if (e->gpu.device) {
    drop_solves(e, plan->stream);
    trs_device_free(e->gpu.device, e->block_starts, plan->stream);
    trs_device_free_host(e->gpu.device, e->found);
    trs_gpu_free(&e->gpu, plan);
  }
  trs_free(e);
}

const trs_method trs_method_engine = {
    .name = "engine",
    .backend = &trs_backend_cuda,
    .parameters = true,
    .checks_diagonal = true,
    .launches_updates = true,
    .refuses = trs_gpu_refuses,
    .solve = solve,
    .wait = wait,
    .estimate = estimate,
    .analysis_solves = 2,
    .store = trs_store_mixed,
    .clone = clone,
    TRS_METHOD_STEPS,
};
