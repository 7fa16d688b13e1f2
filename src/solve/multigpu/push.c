/* push.c - `push`: distributes the rows of one system over several GPUs; every solved x is pushed
 * once to each member that needs it (push.cu).
 *
 * The first GPU deals, by any rule but graph, if all members are of one process and it has room for
 * the whole system (first.h): it cuts the slices, and fills those of every member.  In all other
 * cases the analysis runs on the host: slices and levels of the whole system (analysis/slice.h), a
 * rule that deals them (analysis/deal.h), then the upload of every member's share (push_load.c). */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "device/fault.h"
#include "analysis/system.h"
#include "plan/choice.h"
#include "plan/parameters.h"
#include "solve/cuda/engine/choice.h"
#include "solve/multigpu/alone.h"
#include "solve/multigpu/push_state.h"

_Static_assert((int)TRS_PUSH_ROWS == (int)TRS_CLEAR_ROWS, "deal.h and push.h agree");

bool trs_push_on_host;

/* ---- Analysis: rows are dealt. ---- */

static trs_status read_parameters(trs_push_state *p, const trs_plan *plan) {
  const trs_parameter table[] = {{"partition", trs_deal_rules, 0, 0, &p->rule},
                                 {"members", NULL, 1, TRS_MOST_MEMBERS, &p->use},
                                 {"substitute", NULL, 0, TRS_SUBSTITUTION_DEPTH, &p->substitute}};
  p->substitute = -1;
  return trs_parameters_read(plan, table, sizeof table / sizeof table[0]);
}

/* The estimate of the one-GPU engine's cost model for these slices. */
static trs_status expect_of_one(trs_push_state *p, trs_scalar scalar) {
  trs_launch_range *ranges;
  int32_t count;
  const trs_range_rules rules = {.gpu = p->gpu,
                                 .most_rows = TRS_SHARED_X_ROWS(trs_scalar_size(scalar)),
                                 .clusters = trs_device_look(p->member[0].device)->capability >= 9,
                                 .blocks = p->rules.most_block > 1,
                                 .choice = TRS_RANGES_AUTO,
                                 .shares = 1};
  trs_status status = trs_choose_launch_ranges(&ranges, &count, &p->alone, p->slices.level,
                                               p->slices.nlevels, &rules);
  trs_free(ranges);
  return status;
}

/* If auto chose this method, measures the one-GPU engine, and so knows the possible gain: models
 * are sometimes wrong by a factor of two, and the one-GPU analysis is a fraction of this one. */
static trs_status measure_one(trs_push_state *p, trs_plan *plan) {
  trs_device *device = p->member[0].device;
  struct {
    double seconds;
    int64_t levels, joint_levels;
  } found[TRS_MOST_MEMBERS] = {{0, 0, 0}};
  trs_plan *alone = NULL;
  trs_status status = TRS_SUCCESS;
  p->races = p->outcome && p->members > 1 && plan->system.n > 0 &&
             !trs_matrix_is_deferred(plan->matrix) && trs_alone_fits(plan, 1);
  if (!p->races) return TRS_SUCCESS;
  if (p->member[0].number == 0) {
    status = trs_alone_create(&alone, plan, device, p->member[0].stream, 1, true);
    const trs_alone_arrays here = {.device = {device}, .count = 1};
    if (!status) status = trs_alone_time(alone, &here, 1, &found[0].seconds);
    if (!status) found[0].levels = trs_alone_levels(alone);
    if (!status) found[0].joint_levels = trs_alone_joint_levels(alone);
    if (!status) trs_alone_take(alone, &p->loaded);
    if (!status && plan->options.nrhs <= 1 && trs_alone_fits(plan, 1))
      plan->choice->made = alone; /* there is room for both */
    else
      trs_plan_destroy(alone);
  }
  status = trs_group_agree(p->group, status);
  p->races = status != TRS_ERROR_MEMORY; /* one GPU lacks the memory after all */
  if (status) return p->races ? status : TRS_SUCCESS;
  TRS_TRY(trs_group_exchange(p->group, found, sizeof *found));
  p->alone = found[0].seconds;
  p->alone_levels = (int32_t)found[0].levels;
  p->alone_joint_levels = (int32_t)found[0].joint_levels;
  return TRS_SUCCESS;
}

static bool has_declined(const trs_push_state *p) { return p->outcome && p->outcome->declined; }

static bool decline(const trs_push_state *p, int64_t n, const char *how, double seconds) {
  return trs_decline(
      p->outcome,
      "%d GPUs %s %.3g ms a solve, one takes %.3g ms (%d levels, %.2f pushes a row, %d steps "
      "between GPUs on the longest path)",
      p->deal.members, how, 1e3 * seconds, 1e3 * p->alone, (int)p->slices.nlevels,
      n ? (double)p->deal.pushes / (double)n : 0, (int)p->deal.peer_steps);
}

/* Declines if the solve is too short to share.  All processes decline together: they know the same
 * seconds. */
static bool is_short(const trs_push_state *p) {
  static const double SHORT = 20e-6;
  if (!p->races || p->alone > SHORT) return false;
  return trs_decline(p->outcome, "one GPU takes %.3g ms a solve, too short to be shared",
                     1e3 * p->alone);
}

/* The expected time of several GPUs over the time of one from which on they are not measured. */
static const double HOPELESS = 1.2;

/* Declines if the steps from level to level alone would take longer than one GPU does, which
 * substitutes rows and so has fewer. */
static bool has_too_many_levels(const trs_push_state *p, int32_t nlevels) {
  const double seconds = trs_deal_level_seconds(p->gpu, nlevels);
  if (!p->races || seconds < HOPELESS * p->alone) return false;
  return trs_decline(p->outcome,
                     "%d levels would take %d GPUs %.3g ms a solve at least, one takes %.3g ms",
                     (int)nlevels, p->members, 1e3 * seconds, 1e3 * p->alone);
}

static bool has_no_gain(const trs_push_state *p, int64_t n) {
  if (!p->races || p->deal.seconds < HOPELESS * p->alone) return false;
  return decline(p, n, "would take", p->deal.seconds);
}

/* Measures this plan against one GPU, and declines if that is faster; keeps this plan if memory
 * does not suffice for the measurement. */
static trs_status race(trs_push_state *p, trs_plan *plan) {
  static const double WORTH = 0.98;
  double seconds[TRS_MOST_MEMBERS] = {0};
  trs_alone_arrays where = {.spread = !p->one_process || plan->options.distributed};
  if (!p->races) return TRS_SUCCESS;
  where.count = where.spread ? p->local : 1;
  for (int k = 0; k < where.count; k++) where.device[k] = p->member[k].device;
  trs_status status = trs_alone_time(plan, &where, 1, &seconds[p->member[0].number]);
  if (status) seconds[p->member[0].number] = 0;
  if (status == TRS_ERROR_MEMORY && !p->broken) status = TRS_SUCCESS;
  TRS_TRY(trs_group_agree(p->group, status));
  TRS_TRY(trs_group_exchange(p->group, seconds, sizeof *seconds));
  p->together = seconds[0];
  if (p->together > 0 && p->together >= WORTH * p->alone)
    decline(p, plan->system.n, "take", p->together);
  return TRS_SUCCESS;
}

static void drop_deal(trs_push_state *p) {
  trs_deal_destroy(&p->deal);
  trs_outline_destroy(p->outline);
  trs_slices_destroy(&p->slices);
  trs_joint_destroy(&p->joint);
  trs_first_drop(&p->first);
  p->outline = NULL;
}

/* Moves the bounds of slabs, so that no slab begins with an x whose y is in the slab before. */
static void keep_pairs(const trs_push_state *p, int64_t *cut, int32_t members) {
  for (int32_t m = 1; m < members && p->joint.of; m++)
    if (cut[m] > 0 && cut[m] < p->joint.system.n && !trs_row_has_b(p->joint.of[cut[m]])) cut[m]--;
}

/* Slabs have separate slices; other rules use those of the whole system. */
static trs_status try_rule(trs_push_state *p, const trs_system *S, trs_deal_rule rule,
                           int32_t members, const trs_outline *like) {
  int64_t cut[TRS_MOST_MEMBERS + 1] = {0, S->n};
  const bool slabs = rule == TRS_DEAL_SLABS;
  if (slabs) trs_deal_slabs(cut, S, members);
  if (slabs) keep_pairs(p, cut, members);
  p->n = S->n;
  const uint8_t *block_starts = p->joint.of ? NULL : p->verdict->block_starts;
  TRS_TRY(trs_outline_create(&p->outline, &p->slices, S, &p->rules, block_starts, like,
                             slabs ? members : 1, cut, p->team));
  if (!like && has_too_many_levels(p, p->slices.nlevels)) return TRS_SUCCESS;
  return trs_deal_create(&p->deal, S, &p->slices, p->outline, members, rule,
                         p->races ? p->alone : 0, p->gpu, p->team);
}

/* Tries another rule and keeps the better of the two. */
static trs_status try_another(trs_push_state *p, const trs_system *S, trs_deal_rule rule,
                              int32_t members) {
  trs_push_state before = *p;
  p->deal = (trs_deal){0};
  p->outline = NULL;
  p->slices = (trs_slices){0};
  trs_status status = try_rule(p, S, rule, members, before.outline);
  bool better = !status && p->deal.seconds < before.deal.seconds;
  drop_deal(better ? &before : p);
  if (better) return TRS_SUCCESS;
  p->deal = before.deal;
  p->outline = before.outline;
  p->slices = before.slices;
  return status;
}

/* What any deal over so many members takes at least: its levels, and its rows shared evenly. */
static double least_of(const trs_push_state *p, int32_t members) {
  const double levels = trs_deal_level_seconds(p->gpu, p->slices.nlevels);
  return levels + (p->deal.alone - levels) / members;
}

/* True if half of the members could be faster than this deal over all of them. */
static bool half_may_be_faster(const trs_push_state *p, const trs_plan *plan, int32_t members) {
  return p->use == 0 && members >= 4 && p->deal.seconds > least_of(p, members / 2) &&
         trs_alone_fits(plan, 1);
}

/* Auto tries other rules than slabs unless their time is nearly ideal. */
static const double NEARLY_IDEAL = 1.1;

/* Auto: slabs over all members.  If their time is far from ideal, also the other rules, and
 * slabs over half as many members if one GPU could hold the whole system. */
static trs_status find_rule(trs_push_state *p, trs_plan *plan, const trs_system *S) {
  int32_t members = p->use > 0 && p->use < p->members ? (int32_t)p->use : p->members;
  if (p->rule != TRS_DEAL_AUTO || members == 1)
    return try_rule(p, S, (trs_deal_rule)p->rule, members, NULL);
  TRS_TRY(try_rule(p, S, TRS_DEAL_SLABS, members, NULL));
  if (has_declined(p)) return TRS_SUCCESS;
  if (p->deal.seconds < NEARLY_IDEAL * least_of(p, members)) return TRS_SUCCESS;
  TRS_TRY(try_another(p, S, TRS_DEAL_AUTO, members));
  if (half_may_be_faster(p, plan, members)) return try_another(p, S, TRS_DEAL_SLABS, members / 2);
  return TRS_SUCCESS;
}

/* ---- Substitution of rows (analysis/substitute.h). ---- */

/* Of one GPU's time: what several that share its bytes, and not its levels, may take at most.  Of
 * five systems on two and four H100 those with up to 0.56 gained, of three with 0.65 to 0.71 one.
 * Of the expected time: what levels take, without a measurement. */
static const double SUBSTITUTED = 0.75, LEVELS = 0.75;

/* Slabs keep the y and the x of a row together, so that its member reads b and stores x.  Without a
 * measurement rows are substituted if levels take most of the expected time, and if one GPU has
 * room for the work. */
static bool may_substitute(const trs_push_state *p, const trs_plan *plan) {
  const bool slabs = p->rule == TRS_DEAL_AUTO || p->rule == TRS_DEAL_SLABS;
  if (p->substitute == 0 || !slabs || trs_matrix_is_deferred(plan->matrix) ||
      plan->system.n > TRS_MOST_JOINT_ROWS)
    return false;
  if (p->substitute > 0 || p->rejoins) return true;
  if (!p->one_process) return false; /* processes would have to agree on want of memory first */
  if (!p->races)
    return p->rule == TRS_DEAL_AUTO && trs_alone_fits(plan, 1) &&
           trs_deal_level_seconds(p->gpu, p->slices.nlevels) > LEVELS * p->deal.seconds;
  const double levels = trs_deal_level_seconds(p->gpu, p->alone_joint_levels);
  return p->alone_joint_levels > 0 &&
         levels + (p->alone - levels) / p->members < SUBSTITUTED * p->alone;
}

/* With every y just before its x. */
static trs_status make_joint(const trs_push_state *p, trs_joint *joint, bool *made,
                             const trs_system *S) {
  const trs_joint_way way = trs_push_joint_way(p, S);
  TRS_TRY(trs_joint_create(joint, made, S, &way));
  return *made ? trs_joint_pair(joint, p->team) : TRS_SUCCESS;
}

typedef struct naming {
  int32_t *row;
  const int32_t *of;
  int64_t n;
} naming;

static void name_rows(void *argument, int rank, int size) {
  const naming *it = argument;
  int64_t begin, end;
  trs_share(it->n, rank, size, &begin, &end);
  for (int64_t k = begin; k < end; k++) it->row[k] = it->of[it->row[k]];
}

/* Rows of y are no rows of b and x. */
static void count_rows(trs_push_state *p) {
  int32_t nslabs;
  const int64_t *cut = trs_outline_slabs(p->outline, &nslabs);
  for (int32_t m = 0; m < nslabs; m++)
    for (int64_t k = cut[m]; k < cut[m + 1]; k++) p->deal.rows[m] -= !trs_row_has_x(p->joint.of[k]);
}

static trs_status deal_joint(trs_push_state *p, const trs_system *S, bool *made) {
  const trs_system *J = &p->joint.system;
  const int32_t members = p->use > 0 && p->use < p->members ? (int32_t)p->use : p->members;
  TRS_TRY(make_joint(p, &p->joint, made, S));
  if (!*made) return TRS_SUCCESS;
  trs_outline *levels;
  p->rules = trs_rows_rules((double)J->nnz / (double)J->n - J->has_diagonal, true);
  p->rules.most_block = 1;
  TRS_TRY(trs_outline_of_levels(&levels, J, p->joint.known, p->joint.nlevels, p->team));
  trs_status status = try_rule(p, J, TRS_DEAL_SLABS, members, levels);
  trs_outline_destroy(levels);
  if (status) return status;
  count_rows(p);
  naming names = {p->slices.row, p->joint.of, J->n};
  trs_team_run(p->team, trs_team_size(p->team), name_rows, &names);
  return TRS_SUCCESS;
}

/* ---- The same by the first GPU. ---- */

static bool may_deal_first(const trs_push_state *p, const trs_plan *plan) {
  const trs_system *S = &plan->system;
  if (!p->one_process || p->on_host || trs_push_on_host || S->n == 0) return false;
  if (p->rule == TRS_DEAL_GRAPH) return false; /* METIS runs on the host */
  if (trs_matrix_is_deferred(plan->matrix) || !trs_alone_fits(plan, 1)) return false;
  const trs_device *device = p->member[0].device;
  return !plan->matrix->on_device ||
         (trs_device_owns(device, S->ptr) && trs_device_owns(device, S->idx) &&
          trs_device_owns(device, S->val));
}

/* A deal of p->first.system, which is set. */
static trs_status try_rule_first(trs_push_state *p, trs_deal_rule rule, int32_t members) {
  trs_first *f = &p->first;
  f->device = p->member[0].device;
  f->stream = p->member[0].stream;
  f->members = members;
  f->rule = rule;
  f->lower = p->loaded.system.lower;
  p->n = f->system.n;
  TRS_TRY(trs_first_cut(f, &p->slices, &p->rules));
  if (!f->joins && has_too_many_levels(p, p->slices.nlevels)) return TRS_SUCCESS;
  TRS_TRY(trs_first_deal(f, &p->deal, &p->slices));
  int64_t rows[TRS_MOST_MEMBERS];
  memcpy(rows, p->deal.rows, sizeof rows);
  memset(p->deal.rows, 0, sizeof rows);
  trs_deal_judge(&p->deal, &p->slices, p->races ? p->alone : 0, p->gpu);
  if (f->joins) memcpy(p->deal.rows, rows, sizeof rows); /* without rows of y */
  return TRS_SUCCESS;
}

/* As try_another; keeps the first deal for lack of memory too. */
static trs_status try_another_first(trs_push_state *p, trs_deal_rule rule, int32_t members) {
  trs_push_state before = *p;
  p->deal = (trs_deal){0};
  p->slices = (trs_slices){0};
  p->first = (trs_first){.system = before.first.system};
  const trs_status status = try_rule_first(p, rule, members);
  const bool better = !status && p->deal.seconds < before.deal.seconds;
  drop_deal(better ? &before : p);
  if (better) return TRS_SUCCESS;
  p->deal = before.deal;
  p->slices = before.slices;
  p->first = before.first;
  return status == TRS_ERROR_MEMORY ? TRS_SUCCESS : status;
}

/* Up to that many levels auto tries bands on the first GPU.  No walk counts their steps between
 * members: every level may add one, 37 us in all here.  With more levels slabs were the faster
 * (2D and 3D grids, elasticity, delaunay); kkt3d:136 has 2, random:4000000,8 some 20. */
enum { FEW_LEVELS = 64 };

/* As find_rule, with bands as the only other rule. */
static trs_status find_rule_first(trs_push_state *p, trs_plan *plan) {
  const int32_t members = p->use > 0 && p->use < p->members ? (int32_t)p->use : p->members;
  const bool chooses = p->rule == TRS_DEAL_AUTO && members > 1;
  p->first.system = p->loaded.system;
  if (!chooses)
    return try_rule_first(p, p->rule ? (trs_deal_rule)p->rule : TRS_DEAL_BANDS, members);
  TRS_TRY(try_rule_first(p, TRS_DEAL_SLABS, members));
  if (has_declined(p) || p->deal.seconds < NEARLY_IDEAL * least_of(p, members)) return TRS_SUCCESS;
  if (p->slices.nlevels <= FEW_LEVELS) TRS_TRY(try_another_first(p, TRS_DEAL_BANDS, members));
  if (half_may_be_faster(p, plan, members))
    return try_another_first(p, TRS_DEAL_SLABS, members / 2);
  return TRS_SUCCESS;
}

static trs_status deal_joint_first(trs_push_state *p, bool *made) {
  const int32_t members = p->use > 0 && p->use < p->members ? (int32_t)p->use : p->members;
  trs_first *f = &p->first;
  TRS_TRY(trs_push_join(p, f, made));
  if (!*made) return TRS_SUCCESS;
  f->joins = true;
  f->system = f->joint.joint;
  f->device = p->member[0].device; /* so that it is dropped after failures */
  f->stream = p->member[0].stream;
  p->joint.system = f->system;
  p->joint.system.ptr = NULL, p->joint.system.idx = NULL, p->joint.system.val = NULL;
  p->joint.ny = f->joint.ny;
  p->rules =
      trs_rows_rules((double)f->system.nnz / (double)f->system.n - f->system.has_diagonal, true);
  p->rules.most_block = 1;
  return try_rule_first(p, TRS_DEAL_SLABS, members);
}

/* Deals the system with substituted rows, and keeps the better of this deal and the one before, if
 * there is one that has not declined.  For lack of memory it keeps that one.  S: NULL if the first
 * GPU makes the deal. */
static trs_status try_substitution(trs_push_state *p, const trs_system *S) {
  const trs_verdict none = {0}, verdict = p->outcome ? *p->outcome : none;
  if (verdict.declined) drop_deal(p);
  if (verdict.declined) p->outcome->declined = false;
  trs_push_state before = *p;
  bool made = false;
  p->deal = (trs_deal){0};
  p->outline = NULL;
  p->slices = (trs_slices){0};
  p->joint = (trs_joint){0};
  p->first = (trs_first){0};
  const trs_status status = S ? deal_joint(p, S, &made) : deal_joint_first(p, &made);
  const bool better = !status && made && !has_declined(p) &&
                      (!trs_push_is_dealt(&before) || p->deal.seconds < before.deal.seconds);
  drop_deal(better ? &before : p);
  if (!better) {
    *p = before;
    if (p->outcome) *p->outcome = verdict;
  }
  return status == TRS_ERROR_MEMORY && p->one_process ? TRS_SUCCESS : status;
}

static trs_status make_share(void *plan, int number) {
  trs_push_state *p = ((const trs_plan *)plan)->state;
  trs_push_member *m = trs_push_member_of(p, number);
  TRS_TRY(trs_deal_share_create(&m->share, &p->deal, &p->slices, number, p->rules.early_poll));
  TRS_TRY(trs_push_cut(&m->run, &m->nruns, &m->share, p->slices.level, p->slices.nlevels,
                       p->deal.members));
  return trs_push_spare(m, &p->deal, &p->slices);
}

/* As deal_rows. */
static trs_status deal_rows_first(trs_push_state *p, trs_plan *plan) {
  trs_pattern_features features = {0};
  trs_slice_rules rules[TRS_MOST_CANDIDATES];
  TRS_TRY(trs_push_load(p, plan));
  TRS_TRY(trs_push_features(p, &features));
  (void)trs_choose_rules(rules, &features, true);
  p->rules = rules[0];
  const bool hopeless = p->rules.most_block == 1 && has_too_many_levels(p, p->alone_levels);
  if (!hopeless && p->substitute <= 0 && !p->rejoins) TRS_TRY(find_rule_first(p, plan));
  if (may_substitute(p, plan)) TRS_TRY(try_substitution(p, NULL));
  if (!trs_push_is_dealt(p) && !has_declined(p)) return find_rule_first(p, plan);
  return TRS_SUCCESS;
}

static trs_status make_shares(trs_push_state *p, trs_plan *plan) {
  if (!p->races) TRS_TRY(expect_of_one(p, plan->system.scalar));
  if (has_no_gain(p, plan->system.n)) return TRS_SUCCESS;
  return trs_group_each_by_team(p->group, p->team, make_share, plan);
}

static trs_status deal_rows(trs_push_state *p, trs_plan *plan, const trs_system *S) {
  trs_pattern_features features = {.n = S->n};
  trs_slice_rules rules[TRS_MOST_CANDIDATES];
  trs_slices_sample(S, &features.row_length, &features.chained, &features.run);
  (void)trs_choose_rules(rules, &features, true); /* a plan is for any number of right-hand sides */
  p->rules = rules[0];
  const bool hopeless = p->rules.most_block == 1 && has_too_many_levels(p, p->alone_levels);
  if (!hopeless && p->substitute <= 0 && !p->rejoins) TRS_TRY(find_rule(p, plan, S));
  if (may_substitute(p, plan)) TRS_TRY(try_substitution(p, S));
  if (!p->outline && !has_declined(p)) TRS_TRY(find_rule(p, plan, S));
  return has_declined(p) ? TRS_SUCCESS : make_shares(p, plan);
}

static trs_status open_members(trs_push_state *p, trs_plan *plan) {
  const trs_group *group = plan->context->group;
  p->group = plan->context->group;
  p->team = plan->context->team;
  p->gpu = trs_context_gpu_costs(plan->context);
  p->members = trs_group_members(group);
  p->one_process = trs_group_one_process(group);
  TRS_TRY(TRS_ALLOC_ZERO(&p->member, trs_group_local(group)));
  p->local = trs_group_local(group);
  for (int k = 0; k < p->local; k++) {
    trs_push_member *m = &p->member[k];
    m->number = trs_group_first(group) + k;
    m->device = trs_group_device(group, m->number);
    m->stream = trs_group_stream(group, m->number);
  }
  for (int k = 0; k < p->local; k++) {
    TRS_TRY(trs_device_event_create(p->member[k].device, &p->member[k].start));
    TRS_TRY(trs_device_event_create(p->member[k].device, &p->member[k].done));
  }
  TRS_TRY(trs_device_alloc_host(p->member[0].device, (void **)&p->host_fault));
  *p->host_fault = (trs_fault){.row = -1, .limit = TRS_WAIT_LIMIT};
  return TRS_SUCCESS;
}

/* A solve of zero rows makes the driver load all kernels before kernels wait for each other. */
static trs_status solve_nothing(const trs_plan *plan, const trs_push_member *m) {
  trs_push_args none = m->args;
  none.nclear = none.slices.nparts = 0;
  TRS_TRY(trs_push_open(&none, m->stream));
  for (int32_t k = 0; k < m->nruns; k++) {
    trs_push_run run = m->run[k];
    run.chunk_end = run.chunk;
    run.slice_end = run.slice;
    TRS_TRY(trs_push_launch(&none, &run, plan->system.scalar, m->stream));
  }
  return trs_device_wait(m->stream);
}

static trs_status warm_member(void *plan, int number) {
  const trs_push_state *p = ((const trs_plan *)plan)->state;
  return solve_nothing(plan, trs_push_member_of(p, number));
}

/* The number of right-hand sides solved together: as many as expected, limited by the memory that
 * the share of the matrix leaves.  The same in all processes. */
static void choose_columns(trs_push_state *p, const trs_plan *plan) {
  const int64_t limit = plan->context->gpu_memory;
  const int64_t size = (int64_t)trs_scalar_size(plan->system.scalar), n = plan->system.n;
  const int64_t column =
      (TRS_PUSH_THIRDS * p->n + (p->one_process ? 0 : 1 + TRS_PUSH_STAGES) * n) * size;
  const int64_t share = p->slices.entries * (size + (int64_t)sizeof(int32_t)) / p->deal.members;
  int64_t room = trs_device_look(p->member[0].device)->memory_bytes / 2;
  if (limit > 0 && limit < room) room = limit;
  int64_t most = column > 0 ? (room - share / 10 * 13 - 3 * p->n * 4) / column : 1;
  if (most > plan->options.nrhs) most = plan->options.nrhs;
  if (most > TRS_PUSH_COLUMNS) most = TRS_PUSH_COLUMNS;
  p->most = most > 1 ? (int32_t)most : 1;
}

static trs_status undo_share(void *state, int number) {
  trs_push_member *m = trs_push_member_of(state, number);
  (void)trs_device_wait(m->stream);
  trs_device_free(m->device, m->memory, m->stream);
  trs_deal_share_destroy(&m->share);
  trs_free(m->run);
  m->memory = NULL;
  m->run = NULL;
  m->nruns = 0;
  return TRS_SUCCESS;
}

static void undo_deal(trs_push_state *p) {
  if (p->local) (void)trs_group_each(p->group, undo_share, p);
  if (p->group) trs_group_free(p->group, &p->shared);
  drop_deal(p);
  p->together = 0;
}

static void drop_values(trs_joint *joint) {
  trs_free((void *)joint->system.val);
  joint->system.val = NULL;
}

/* The system by rows on the host, if it is not there yet. */
static trs_status need_host(const trs_push_state *p, trs_host_system *h, const trs_plan *plan) {
  trs_status status = TRS_SUCCESS;
  if (!h->S.ptr)
    status = trs_host_system_create(h, &plan->system, plan->matrix, true, true, plan->stream);
  return trs_group_agree(p->group, status);
}

/* By the first GPU, if it can; else *done is false.  Lack of memory is no failure. */
static trs_status try_first(trs_push_state *p, trs_plan *plan, bool *done) {
  *done = may_deal_first(p, plan);
  if (!*done) trs_push_unload(p, plan);
  if (!*done) return TRS_SUCCESS;
  trs_status status = deal_rows_first(p, plan);
  if (!status && !has_declined(p)) status = make_shares(p, plan);
  if (status != TRS_ERROR_MEMORY) return status;
  p->on_host = true;
  *done = false;
  if (p->outcome) p->outcome->declined = false;
  undo_deal(p);
  trs_push_unload(p, plan);
  return TRS_SUCCESS;
}

/* Processes agree after each step that can fail in only one of them. */
static trs_status deal_once(trs_push_state *p, trs_plan *plan, trs_host_system *h) {
  bool first;
  TRS_TRY(trs_group_agree(p->group, try_first(p, plan, &first)));
  if (!first) {
    TRS_TRY(need_host(p, h, plan));
    TRS_TRY(trs_group_agree(p->group, deal_rows(p, plan, &h->S)));
  }
  if (has_declined(p)) return TRS_SUCCESS;
  choose_columns(p, plan);
  TRS_TRY(trs_push_share_memory(p, plan));
  p->verdict->refused = 0;
  TRS_TRY(trs_group_agree(p->group, trs_push_equip(p, plan)));
  drop_values(&p->joint);
  return TRS_SUCCESS;
}

/* Frees what the first GPU holds besides its share: the system, and the plan of one GPU that was
 * timed.  False if it holds neither. */
static bool make_room(trs_push_state *p, trs_plan *plan) {
  trs_plan **made = plan->choice ? &plan->choice->made : NULL;
  const bool timed = made && *made;
  if (!timed && !p->loaded.device && !p->first.device) return false;
  if (timed) {
    trs_plan_destroy(*made);
    *made = NULL;
  }
  p->on_host = true;
  undo_deal(p);
  trs_push_unload(p, plan);
  return true;
}

static trs_status deal(trs_push_state *p, trs_plan *plan, trs_host_system *h) {
  const trs_status status = deal_once(p, plan, h);
  if (status != TRS_ERROR_MEMORY || !p->one_process || !make_room(p, plan)) return status;
  return deal_once(p, plan, h);
}

/* ---- Inverses that lose too many digits (analysis/growth.h). ---- */

/* Blocks that the last fill refused, in all processes. */
static trs_status count_refused(const trs_push_state *p, int64_t *count) {
  int64_t all[TRS_MOST_MEMBERS] = {0};
  all[p->member[0].number] = p->verdict->refused;
  TRS_TRY(trs_group_exchange(p->group, all, sizeof *all));
  *count = 0;
  for (int m = 0; m < p->members; m++) *count += all[m];
  return TRS_SUCCESS;
}

/* Every process cuts the blocks that any of them refused. */
static trs_status unite_verdicts(const trs_push_state *p, int64_t n) {
  enum { RECORD = TRS_GROUP_RECORD };
  uint8_t all[TRS_MOST_MEMBERS * RECORD], *block_starts = p->verdict->block_starts;
  for (int64_t at = 0; at < n && !p->one_process; at += RECORD) {
    const int64_t size = n - at < RECORD ? n - at : RECORD;
    memset(all, 0, sizeof all);
    memcpy(all + p->member[0].number * size, block_starts + at, (size_t)size);
    TRS_TRY(trs_group_exchange(p->group, all, size));
    for (int64_t k = 0; k < p->members * size; k++) block_starts[at + k % size] |= all[k];
  }
  return TRS_SUCCESS;
}

/* Deals again, with these blocks cut, if the values that were loaded need it.  Until it succeeds
 * the plan cannot solve. */
static trs_status recut_unstable_blocks(trs_push_state *p, trs_plan *plan, trs_host_system *h) {
  int64_t count;
  TRS_TRY(count_refused(p, &count));
  if (count == 0) return TRS_SUCCESS;
  if (p->first.device) { /* the host finds out where to cut */
    p->on_host = true;
    undo_deal(p);
    TRS_TRY(deal(p, plan, h));
    return has_declined(p) ? TRS_SUCCESS : recut_unstable_blocks(p, plan, h);
  }
  TRS_TRY(unite_verdicts(p, plan->system.n));
  p->refused += count;
  undo_deal(p);
  return deal(p, plan, h);
}

static trs_status deal_and_race(trs_push_state *p, trs_plan *plan, trs_host_system *h) {
  TRS_TRY(deal(p, plan, h));
  if (has_declined(p)) return TRS_SUCCESS;
  TRS_TRY(recut_unstable_blocks(p, plan, h));
  if (has_declined(p)) return TRS_SUCCESS;
  TRS_TRY(trs_group_agree(p->group, trs_group_each(p->group, warm_member, plan)));
  const trs_status status = race(p, plan);
  return status;
}

/* If all members together are a little slower than one GPU, half as many may be faster. */
static bool half_may_gain(const trs_push_state *p) {
  static const double NEAR = 1.5;
  const double seconds = p->together > 0 ? p->together : p->deal.seconds;
  return p->races && p->deal.members >= 4 && seconds < NEAR * p->alone;
}

static trs_status build(trs_push_state *p, trs_plan *plan, trs_host_system *h) {
  trs_status status = open_members(p, plan);
  TRS_TRY(trs_group_agree(p->group, status));
  TRS_TRY(measure_one(p, plan));
  if (is_short(p)) return TRS_SUCCESS;
  status = trs_alloc_zero((void **)&p->verdict, 1, sizeof *p->verdict + (size_t)plan->system.n);
  TRS_TRY(trs_group_agree(p->group, status));
  status = deal_and_race(p, plan, h);
  while (!status && has_declined(p) && half_may_gain(p)) {
    p->outcome->declined = false;
    p->use = p->deal.members / 2;
    undo_deal(p);
    status = deal_and_race(p, plan, h);
  }
  return status;
}

/* The verdict is on times: all is built for it. */
static trs_status look(trs_plan *plan, trs_verdict *verdict) {
  trs_push_state *p;
  trs_host_system h = {0};
  TRS_TRY(TRS_ALLOC_ZERO(&p, 1));
  plan->state = p;
  p->outcome = verdict;
  p->float_values = trs_store_mixed(plan) == TRS_STORE_MIXED;
  TRS_TRY(read_parameters(p, plan));
  trs_status status = build(p, plan, &h);
  p->outcome = NULL;
  trs_push_unload(p, plan);
  trs_host_system_destroy(&h);
  return status;
}

static trs_status analyze(trs_plan *plan) {
  (void)plan;
  return TRS_SUCCESS;
}

/* Deals the system of new values again.  After a failure the plan cannot solve. */
static trs_status deal_again(trs_push_state *p, trs_plan *plan, trs_status status) {
  if (!status) status = trs_group_agree(p->group, trs_group_each(p->group, warm_member, plan));
  p->broken |= status != TRS_SUCCESS;
  return status;
}

static bool same_pattern(const trs_joint *a, const trs_joint *b) {
  const trs_system *A = &a->system, *B = &b->system;
  return A->n == B->n && A->nnz == B->nnz &&
         memcmp(a->of, b->of, (size_t)A->n * sizeof *a->of) == 0 &&
         memcmp(A->ptr, B->ptr, (size_t)(A->n + 1) * sizeof *A->ptr) == 0 &&
         memcmp(A->idx, B->idx, (size_t)A->nnz * sizeof *A->idx) == 0;
}

/* The joint system of new values.  *same: it has the pattern of before, in all processes. */
static trs_status renew_joint(trs_push_state *p, const trs_host_system *h, bool *same) {
  trs_joint joint = {0};
  bool made = false;
  int64_t others[TRS_MOST_MEMBERS] = {0};
  trs_status status = make_joint(p, &joint, &made, &h->S);
  others[p->member[0].number] = status || !made || !same_pattern(&joint, &p->joint);
  status = trs_group_agree(p->group, status);
  if (!status) status = trs_group_exchange(p->group, others, sizeof *others);
  *same = true;
  for (int m = 0; m < p->members; m++) *same = *same && !others[m];
  if (status || !*same) {
    trs_joint_destroy(&joint);
    return status;
  }
  trs_joint_destroy(&p->joint);
  p->joint = joint;
  trs_outline_renew(p->outline, &p->joint.system);
  return TRS_SUCCESS;
}

/* New values whose joint system has another pattern, since other rows keep their entries. */
static trs_status rejoin(trs_push_state *p, trs_plan *plan, trs_host_system *h) {
  if (plan->options.distributed)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "with the new values, substitution would lose digits in other rows than "
                    "before: analyse the matrix again");
  p->races = false;
  p->rejoins = true;
  undo_deal(p);
  return deal_again(p, plan, deal(p, plan, h));
}

/* The values of a deal by the first GPU. */
static trs_status load_again(trs_push_state *p, const trs_plan *plan, bool *same) {
  trs_first *f = &p->first;
  uint64_t pattern;
  TRS_TRY(trs_push_load(p, plan));
  f->system = p->loaded.system;
  if (!f->joins) return TRS_SUCCESS;
  trs_first joined = *f;
  TRS_TRY(trs_push_join(p, &joined, same));
  if (!*same) return TRS_SUCCESS;
  f->joint = joined.joint;
  f->system = f->joint.joint;
  *same = f->system.n == p->joint.system.n && f->system.nnz == p->joint.system.nnz;
  if (!*same) return TRS_SUCCESS;
  TRS_TRY(trs_first_pattern(f, &pattern));
  *same = pattern == f->pattern;
  return TRS_SUCCESS;
}

/* The first GPU lacks the memory now. */
static trs_status leave_first(trs_push_state *p, trs_plan *plan, trs_host_system *h) {
  p->on_host = true;
  p->rejoins = p->first.joins;
  p->races = false;
  undo_deal(p);
  trs_push_unload(p, plan);
  return deal_again(p, plan, deal(p, plan, h));
}

/* Rows of a distributed plan stay where they are, so it is not dealt again. */
static trs_status renew(trs_push_state *p, trs_plan *plan, trs_host_system *h) {
  int64_t count;
  bool same = true;
  const trs_status loaded = p->first.device ? load_again(p, plan, &same) : TRS_SUCCESS;
  if (loaded == TRS_ERROR_MEMORY && !plan->options.distributed) return leave_first(p, plan, h);
  TRS_TRY(loaded);
  if (p->joint.of)
    TRS_TRY(renew_joint(p, h, &same));
  else if (p->outline)
    trs_outline_renew(p->outline, &h->S);
  if (!same) return rejoin(p, plan, h);
  p->verdict->refused = 0;
  TRS_TRY(trs_group_agree(p->group, trs_push_renew(p, plan)));
  drop_values(&p->joint);
  TRS_TRY(count_refused(p, &count));
  if (count == 0) return TRS_SUCCESS;
  if (plan->options.distributed)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "%lld of the inverted blocks lose digits with the new values: analyse the "
                    "matrix again",
                    (long long)count);
  p->races = false;
  return deal_again(p, plan, recut_unstable_blocks(p, plan, h));
}

static trs_status update(trs_plan *plan) {
  trs_push_state *p = plan->state;
  trs_host_system h = {0};
  trs_status status = trs_group_agree(p->group, trs_push_finish(plan, p));
  if (!status && !p->first.device) status = need_host(p, &h, plan);
  if (!status) status = renew(p, plan, &h);
  trs_push_unload(p, plan);
  trs_host_system_destroy(&h);
  return status;
}

static trs_status wait(trs_plan *plan) { return trs_push_finish(plan, plan->state); }

/* ---- Shares. ---- */

static trs_status list_rows(trs_push_state *p, int which, int64_t n, int64_t *rows) {
  const trs_slices *s = &p->slices;
  char *own;
  TRS_TRY(trs_push_need_rows(p));
  TRS_TRY(TRS_ALLOC_ZERO(&own, n));
  for (int32_t k = 0; k < s->nslices; k++)
    for (int32_t r = 0; p->deal.owner[k] == which && r < s->slice[k].rows; r++) {
      const int32_t of = s->row[s->slice[k].first + r];
      if (trs_row_has_x(of)) own[trs_row_number(of)] = 1;
    }
  for (int64_t i = 0, count = 0; i < n; i++)
    if (own[i]) rows[count++] = i;
  trs_free(own);
  return TRS_SUCCESS;
}

static trs_status share(const trs_plan *plan, int which, int64_t nrhs, trs_plan_share *share,
                        int64_t *rows) {
  trs_push_state *p = plan->state;
  *share = (trs_plan_share){.nrows = p->deal.rows[which], .ncolumns = nrhs};
  if (share->nrows == 0) share->ncolumns = 0;
  return rows ? list_rows(p, which, plan->system.n, rows) : TRS_SUCCESS;
}

/* ---- Queries. ---- */

static const char *refuses(const trs_plan *plan) {
  if (trs_matrix_is_deferred(plan->matrix) && !plan->system.rows)
    return "deferred values are asked for by rows of op(T): make the matrix in CSR for "
           "TRS_NO_TRANS, in CSC for its transposes";
  return NULL;
}

/* The one-GPU engine's estimate divided by the members: the analysis declines soon if levels rule
 * the solve.  A matrix that does not fit one GPU has no alternative to compare. */
static trs_estimate estimate(const trs_plan *plan) {
  const trs_gpu_costs *gpu = trs_context_gpu_costs(plan->context);
  const trs_system *S = &plan->system;
  const int members = trs_group_members(plan->context->group);
  double moved = 2.0 * (double)S->n * (double)trs_scalar_size(S->scalar);
  if (!trs_alone_fits(plan, 1))
    return (trs_estimate){.preference = TRS_PREFERENCE_ONLY,
                          .because = "one GPU has no room for it"};
  if (members == 1) /* the engine does as well */
    return (trs_estimate){.preference = TRS_PREFERENCE_LAST};
  double bytes = (double)trs_plan_solve_bytes(plan) / members;
  return (trs_estimate){.seconds = gpu->group_start + moved / gpu->bus_bandwidth +
                                   bytes / gpu->stored_bandwidth};
}

static int64_t bytes(const trs_plan *plan) {
  const trs_push_state *p = plan->state;
  int64_t total = p->stage_width * plan->system.n * (int64_t)trs_scalar_size(plan->system.scalar);
  for (int k = 0; k < p->local; k++) total += p->member[k].bytes + p->shared.bytes;
  if (p->first.place) total += p->n;
  return total;
}

static void describe(const trs_plan *plan, char *text, size_t size) {
  const trs_push_state *p = plan->state;
  const double n = plan->system.n > 0 ? (double)plan->system.n : 1;
  int length = trs_print(
      text, size,
      "%d of %d members, partition %s: %.3g pushes a row, balance %.2f (%.2f by levels), %d steps "
      "between members on the longest path; %d levels of %d blocks of up to %d rows, %s "
      "%.3g ms (one GPU %.3g)",
      p->deal.members, p->members, trs_deal_rules[p->deal.rule], (double)p->deal.pushes / n,
      p->deal.balance, p->deal.level_balance, (int)p->deal.peer_steps, p->slices.nlevels,
      p->slices.nblocks, p->rules.most_block, p->together > 0 ? "took" : "expects",
      1e3 * (p->together > 0 ? p->together : p->deal.seconds), 1e3 * p->alone);
  if (p->joint.system.n > 0 && length > 0 && (size_t)length < size)
    length +=
        trs_print(text + length, size - (size_t)length,
                  "; these levels have substituted rows, with %.2g times the entries",
                  (double)p->joint.system.nnz / (double)(plan->system.nnz ? plan->system.nnz : 1));
  if (p->refused && length > 0 && (size_t)length < size)
    length +=
        snprintf(text + length, size - (size_t)length,
                 "; %lld blocks cut, whose inverses would lose digits", (long long)p->refused);
  if (trs_matrix_is_deferred(plan->matrix) && length > 0 && (size_t)length < size)
    trs_print(text + length, size - (size_t)length,
              "; values came member by member, %.3g MB at once at most",
              (double)plan->matrix->largest_part * 1e-6);
}

static void free_state(trs_plan *plan) {
  trs_push_state *p = plan->state;
  if (!p) return;
  undo_deal(p);
  for (int k = 0; k < p->local; k++) {
    trs_device_event_destroy(p->member[k].start);
    trs_device_event_destroy(p->member[k].done);
  }
  if (p->stage)
    trs_device_free_plain(
        p->member[0].device, p->stage,
        p->stage_width * plan->system.n * (int64_t)trs_scalar_size(plan->system.scalar));
  if (p->host_fault) trs_device_free_host(p->member[0].device, p->host_fault);
  TRS_FREE_ALL(p->member, p->verdict, p);
}

const trs_method trs_method_push = {
    .name = "push",
    TRS_GROUP_METHOD,
    .deferred = true,
    .refuses = refuses,
    .estimate = estimate,
    .analysis_solves = 10,
    .look = look,
    .solve = trs_push_solve,
    .store = trs_store_mixed,
    TRS_METHOD_STEPS,
};
