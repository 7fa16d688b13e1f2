/* deal.c - slices dealt to members: the properties of every rule, and solves by an
 * interpreter with one thread per member.  Its threads push, wait, clear and announce as the
 * kernels do, with random delays and several solves in sequence, so a wrong share fails without a
 * GPU. */
#include "analysis/deal.h"

#include <math.h>
#include <sched.h>
#include <stdatomic.h>

#include "analysis/carried.h"
#include "analysis/slice_rows.h"
#include "analysis/shapes.h"
#include "analysis/slice.h"
#include "base/config.h"
#include "base/random.h"
#include "base/team.h"
#include "base/wait.h"
#include "support.h"
#include "test.h"

enum { MOST = 8, THIRDS = 3 };

static const trs_slice_rules all_rules[] = {
    {1, 1, 4, 16, 16384, 32, 32, 0, 2, 0, 0},  {1, 1, 1, 2, 300, 2, 8, 30, 3, 0, 0},
    {4, 0, 4, 16, 16384, 32, 32, 0, 3, 0, 0},  {32, 1, 1, 64, 20, 4, 32, 100, 3, 0, 0},
    {8, 1, 4, 16, 16384, 4, 32, 512, 0, 0, 0},
};

/* A system that is cut and dealt, and the share of every member with its arrays. */
typedef struct dealt {
  trs_system S;
  trs_slices s;
  trs_outline *outline;
  bool cuts; /* no slice has rows of two slabs */
  const int32_t *position;
  trs_deal deal;
  trs_deal_share share[MOST];
  trs_slice_arrays arrays[MOST];
} dealt;

static bool graph_is_there(trs_deal_rule rule) {
#if TRS_HAVE_METIS
  (void)rule;
  return true;
#else
  return rule != TRS_DEAL_GRAPH;
#endif
}

static void fill_share(dealt *d, int m) {
  const trs_deal_share *share = &d->share[m];
  size_t size = trs_scalar_size(d->S.scalar);
  trs_slice_arrays *a = &d->arrays[m];
  a->idx = malloc((size_t)share->entries * sizeof *a->idx + 1);
  a->val = malloc((size_t)share->entries * size + 1);
  a->inverse = malloc((size_t)share->inverses * size + 1);
  trs_outline_fill(d->outline, share->slice, share->number, share->nslices, a, NULL);
}

static void deal_out(dealt *d, const trs_slice_rules *rules, int members, trs_deal_rule how) {
  int64_t cut[MOST + 1] = {0, d->S.n};
  bool slabs = how == TRS_DEAL_SLABS && d->cuts;
  if (slabs) trs_deal_slabs(cut, &d->S, members);
  assert_success(trs_outline_create(&d->outline, &d->s, &d->S, rules, NULL, NULL,
                                    slabs ? members : 1, cut, NULL));
  d->position = trs_outline_positions(d->outline);
  assert_success(trs_deal_create(&d->deal, &d->S, &d->s, d->outline, members, how, 0,
                                 &trs_gpu_measured, NULL));
  for (int m = 0; m < members; m++) {
    assert_success(trs_deal_share_create(&d->share[m], &d->deal, &d->s, m, rules->early_poll));
    fill_share(d, m);
  }
}

static void gather_in(dealt *d) {
  for (int m = 0; m < d->deal.members; m++) {
    free(d->arrays[m].idx);
    free(d->arrays[m].val);
    free(d->arrays[m].inverse);
    d->arrays[m] = (trs_slice_arrays){0};
    trs_deal_share_destroy(&d->share[m]);
  }
  trs_deal_destroy(&d->deal);
  trs_slices_destroy(&d->s);
  trs_outline_destroy(d->outline);
}

/* ---- Properties. ---- */

typedef struct checked {
  const dealt *d;
  int32_t *member; /* n: member that solves each position */
  uint8_t *held;   /* n: for one member */
  char fault[200];
} checked;

#define FAULT(c, ...) (snprintf((c)->fault, sizeof(c)->fault, __VA_ARGS__), false)

/* Offsets and parts are consecutive; slices stand in the order of the whole system. */
static bool check_slices(checked *c, int m) {
  const dealt *d = c->d;
  const trs_deal_share *share = &d->share[m];
  int64_t entries = 0, inverses = 0, rows = 0;
  int32_t parts = 0;
  for (int32_t k = 0; k < share->nslices; k++) {
    const trs_slice *h = &share->slice[k], *whole = &d->s.slice[share->number[k]];
    if (k > 0 && share->number[k] <= share->number[k - 1]) return FAULT(c, "order of slice %d", k);
    if (d->deal.owner[share->number[k]] != m) return FAULT(c, "slice %d is not of %d", k, m);
    if (h->entries != entries || h->inverse != inverses) return FAULT(c, "offsets of slice %d", k);
    if (h->first != whole->first || h->width != whole->width || h->parts != whole->parts ||
        h->rows != whole->rows || h->level != whole->level)
      return FAULT(c, "slice %d differs", k);
    if (trs_slice_is_part(h) && h->part != parts) return FAULT(c, "part of slice %d", k);
    if (h->parts > 0 && h->part + h->parts != parts) return FAULT(c, "parts of slice %d", k);
    for (int32_t r = 0; r < h->rows && !trs_slice_is_part(h); r++) {
      if (c->member[h->first + r] >= 0) return FAULT(c, "position %d twice", h->first + r);
      c->member[h->first + r] = m;
    }
    entries += (int64_t)h->width * trs_slice_stride(h);
    inverses += trs_slice_inverses(h);
    parts += trs_slice_is_part(h);
    rows += trs_slice_is_part(h) ? 0 : h->rows;
  }
  if (entries != share->entries || inverses != share->inverses || rows != share->rows ||
      parts != share->nparts)
    return FAULT(c, "sums of member %d", m);
  return true;
}

static bool check_chunks(checked *c, int m) {
  const trs_deal_share *share = &c->d->share[m];
  if (share->chunk[0] != 0 || share->chunk[share->nchunks] != share->nslices)
    return FAULT(c, "ends of chunks of %d", m);
  for (int32_t k = 0; k < share->nchunks; k++) {
    int32_t begin = share->chunk[k], count = share->chunk[k + 1] - begin;
    if (count < 1 || count > TRS_CHUNK_SLICES) return FAULT(c, "chunk %d of %d", k, m);
    for (int32_t j = begin; j < begin + count; j++)
      if (share->slice[j].level != share->slice[begin].level ||
          (share->slice[j].heavy && count > 1))
        return FAULT(c, "chunk %d of %d mixes", k, m);
  }
  return true;
}

/* A member reads positions that it solves or gets, of lower levels, and that it clears. */
static bool check_entries(checked *c, int m) {
  const dealt *d = c->d;
  const trs_deal_share *share = &d->share[m];
  uint8_t *cleared = c->held;
  memset(cleared, 0, (size_t)d->s.n + 1);
  for (int32_t k = 0; k < share->nclear; k++)
    for (int32_t p = share->clear[k] * TRS_CLEAR_ROWS; p < d->s.n; p++)
      cleared[p] |= p < (share->clear[k] + 1) * TRS_CLEAR_ROWS;
  for (int32_t p = 0; p < d->s.n; p++)
    if (!cleared[p] && (c->member[p] == m || d->deal.mask[p] >> m & 1))
      return FAULT(c, "position %d is not emptied at %d", p, m);
  for (int32_t k = 0; k < share->nslices; k++) {
    const trs_slice *h = &share->slice[k];
    int64_t count = (int64_t)h->width * trs_slice_stride(h);
    if (h->early_poll >= 0 &&
        (c->member[h->early_poll] != m || h->early_poll >= d->s.level[h->level].position))
      return FAULT(c, "the early poll of slice %d of %d", k, m);
    for (int64_t e = 0; e < count; e++) {
      int32_t p = d->arrays[m].idx[h->entries + e];
      if (p < 0) continue;
      if (p >= d->s.level[h->level].position) return FAULT(c, "level of entry of slice %d", k);
      if (c->member[p] != m && !(d->deal.mask[p] >> m & 1))
        return FAULT(c, "position %d is not sent to %d", p, m);
      c->held[p] |= 2;
    }
  }
  for (int32_t p = 0; p < d->s.n; p++)
    if ((d->deal.mask[p] >> m & 1) && (!(c->held[p] & 2) || c->member[p] == m))
      return FAULT(c, "position %d is sent to %d for nothing", p, m);
  return true;
}

static bool check_all(checked *c) {
  const dealt *d = c->d;
  int64_t pushes = 0;
  memset(c->member, 0xff, (size_t)d->s.n * sizeof *c->member);
  for (int m = 0; m < d->deal.members; m++)
    if (!check_slices(c, m) || !check_chunks(c, m)) return false;
  for (int32_t p = 0; p < d->s.n; p++) {
    if (c->member[p] < 0) return FAULT(c, "position %d has no member", p);
    pushes += __builtin_popcount(d->deal.mask[p]);
  }
  if (pushes != d->deal.pushes) return FAULT(c, "pushes");
  for (int m = 0; m < d->deal.members; m++)
    if (!check_entries(c, m)) return false;
  return true;
}

static void need_sound(const dealt *d, const char *name) {
  checked c = {.d = d};
  c.member = malloc((size_t)(d->s.n + 1) * sizeof *c.member);
  c.held = malloc((size_t)d->s.n + 1);
  if (!check_all(&c))
    fail_msg("%s, n %d, %d members, %s: %s", name, (int)d->s.n, d->deal.members,
             trs_deal_rules[d->deal.rule], c.fault);
  free(c.member);
  free(c.held);
}

/* ---- The interpreter: doubles; all bits set: pending. ---- */

enum { MOST_TURNS = 20000000, SOLVES = 7 };

typedef struct member {
  carried *work;               /* THIRDS x n */
  carried *parts;              /* THIRDS x nparts x TRS_SLICE_LANES */
  atomic_llong finished[MOST]; /* the last solve that each member has finished */
} member;

typedef struct interpreter {
  const dealt *d;
  member member[MOST];
  const double *b; /* SOLVES x n */
  double *x;
  atomic_bool stalled;
  bool delays, keeps; /* keeps: does not clear, which a test has to notice */
} interpreter;

typedef struct worker {
  interpreter *in;
  const trs_deal_share *share;
  const trs_slice_arrays *a;
  int m;
  int64_t solve;
  carried *work, *parts, *old_work, *old_parts;
  uint64_t random;
} worker;

static double value_of(interpreter *in, const carried *from) {
  return await(from, MOST_TURNS, &in->stalled);
}

static void delay(worker *t) {
  t->random = t->random * 6364136223846793005u + 1442695040888963407u;
  if (t->in->delays && t->random >> 60 == 0)
    for (unsigned k = 0; k < (t->random >> 40 & 15); k++) (void)sched_yield();
}

static double lane_sum(worker *t, const trs_slice *h, int lane) {
  double sum = 0;
  for (int32_t k = 0; k < h->width && lane < trs_slice_stride(h); k++) {
    int64_t at = h->entries + (int64_t)k * trs_slice_stride(h) + lane;
    if (t->a->idx[at] >= 0)
      sum += ((const double *)t->a->val)[at] * value_of(t->in, &t->work[t->a->idx[at]]);
  }
  for (int32_t p = 0; p < h->parts; p++)
    sum += value_of(t->in, &t->parts[(int64_t)(h->part + p) * TRS_SLICE_LANES + lane]);
  return sum;
}

static void finish(worker *t, int32_t position, double x) {
  const dealt *d = t->in->d;
  t->in->x[(t->solve - 1) * d->s.n + d->s.row[position]] = x;
  publish(&t->work[position], x);
  for (int o = 0; o < d->deal.members; o++)
    if (d->deal.mask[position] >> o & 1)
      publish(&t->in->member[o].work[t->solve % THIRDS * d->s.n + position], x);
}

static void solve_slice(worker *t, const trs_slice *h) {
  const dealt *d = t->in->d;
  const double *b = t->in->b + (t->solve - 1) * d->s.n;
  double sum[TRS_SLICE_LANES], residual[TRS_SLICE_LANES];
  if (h->early_poll >= 0) (void)value_of(t->in, &t->work[h->early_poll]);
  for (int lane = 0; lane < TRS_SLICE_LANES; lane++) sum[lane] = lane_sum(t, h, lane);
  for (int lane = 0; lane < TRS_SLICE_LANES && trs_slice_is_part(h); lane++) {
    publish(&t->parts[(int64_t)h->part * TRS_SLICE_LANES + lane], sum[lane]);
    atomic_store(&t->old_parts[(int64_t)h->part * TRS_SLICE_LANES + lane], EMPTY);
  }
  if (trs_slice_is_part(h)) return;
  for (int r = 0; r < h->rows; r++) residual[r] = b[d->s.row[h->first + r]];
  subtract_lanes(residual, h, sum);
  for (int r = 0; r < h->rows; r++)
    finish(t, h->first + r, apply_inverse(t->a->inverse, h, residual, r));
}

/* Announces to all that the solve before is finished.  Waits until every reader has finished the
 * solve before that. */
static void open_solve(worker *t) {
  for (int o = 0; o < t->in->d->deal.members; o++)
    atomic_store_explicit(&t->in->member[o].finished[t->m], t->solve - 1, memory_order_release);
  for (int o = 0; o < t->in->d->deal.members; o++) {
    trs_patience wait = {0};
    while (atomic_load_explicit(&t->in->member[t->m].finished[o], memory_order_acquire) <
           t->solve - 2)
      if (!go_on(&wait, MOST_TURNS, &t->in->stalled)) return;
  }
}

static void solve_once(interpreter *in, int m, int64_t solve, uint64_t *random) {
  const dealt *d = in->d;
  int64_t n = d->s.n, parts = (int64_t)d->share[m].nparts * TRS_SLICE_LANES;
  member *own = &in->member[m];
  int64_t old = (solve + THIRDS - 1) % THIRDS;
  worker t = {.in = in,
              .share = &d->share[m],
              .a = &d->arrays[m],
              .m = m,
              .solve = solve,
              .random = *random};
  t.work = own->work + solve % THIRDS * n;
  t.old_work = own->work + old * n;
  t.parts = own->parts + solve % THIRDS * parts;
  t.old_parts = own->parts + old * parts;
  open_solve(&t);
  for (int k = 0; in->keeps && m == 0 && k < 2000; k++)
    (void)sched_yield(); /* the others are ahead */
  for (int32_t chunk = 0; chunk < t.share->nchunks; chunk++) {
    delay(&t);
    for (int32_t k = t.share->chunk[chunk]; k < t.share->chunk[chunk + 1]; k++)
      solve_slice(&t, &t.share->slice[k]);
  }
  for (int32_t k = 0; k < t.share->nclear && !in->keeps; k++)
    for (int64_t p = (int64_t)t.share->clear[k] * TRS_CLEAR_ROWS, r = 0;
         r < TRS_CLEAR_ROWS && p + r < n; r++)
      atomic_store_explicit(&t.old_work[p + r], EMPTY, memory_order_relaxed);
  delay(&t);
  *random = t.random;
}

static void be_member(void *argument, int rank, int size) {
  interpreter *in = argument;
  uint64_t random = (uint64_t)rank + 17;
  (void)size;
  for (int64_t solve = 1; solve <= SOLVES; solve++) solve_once(in, rank, solve, &random);
}

static bool interpret(interpreter *in, trs_team *team) {
  const dealt *d = in->d;
  for (int m = 0; m < d->deal.members; m++) {
    int64_t parts = (int64_t)d->share[m].nparts * TRS_SLICE_LANES;
    in->member[m].work = malloc((size_t)(THIRDS * d->s.n + 1) * sizeof(carried));
    in->member[m].parts = malloc((size_t)(THIRDS * parts + 1) * sizeof(carried));
    for (int64_t k = 0; k < THIRDS * d->s.n; k++) atomic_init(&in->member[m].work[k], EMPTY);
    for (int64_t k = 0; k < THIRDS * parts; k++) atomic_init(&in->member[m].parts[k], EMPTY);
  }
  trs_team_run(team, d->deal.members, be_member, in);
  for (int m = 0; m < d->deal.members; m++) {
    free(in->member[m].work);
    free(in->member[m].parts);
  }
  return !atomic_load(&in->stalled);
}

static void solve_serially(const trs_system *S, double *x, const double *b, int64_t nrhs) {
  trs_context *ctx;
  trs_plan *plan;
  trs_matrix *A;
  assert_success(trs_matrix_create(&A, TRS_CSR, S->scalar, S->n, S->n, TRS_PTR64, S->ptr, S->idx,
                                   S->val, TRS_BORROW));
  assert_success(trs_context_create(&ctx, "serial"));
  assert_success(trs_analyze(&plan, ctx, A, S->lower ? TRS_LOWER : TRS_UPPER, TRS_NO_TRANS,
                             S->unit ? TRS_UNIT : TRS_NONUNIT, NULL));
  assert_success(trs_solve(plan, x, S->n, b, S->n, nrhs, TRS_COL_MAJOR));
  trs_plan_destroy(plan);
  trs_context_destroy(ctx);
  trs_matrix_destroy(A);
}

/* The largest relative difference from the serial method's solutions; infinite after a stall. */
static double error_of(const dealt *d, trs_team *team, bool delays, bool keeps) {
  int64_t count = SOLVES * d->s.n;
  double *b = malloc((size_t)count * sizeof *b), *x = calloc((size_t)count, sizeof *x);
  double *y = malloc((size_t)count * sizeof *y), largest = 0, off = 0;
  interpreter in = {.d = d, .b = b, .x = x, .delays = delays, .keeps = keeps};
  trs_random_fill(b, count, TRS_DOUBLE, 7);
  solve_serially(&d->S, y, b, SOLVES);
  bool ends = interpret(&in, team);
  for (int64_t i = 0; i < count; i++) {
    largest = fmax(largest, fabs(y[i]));
    off = fmax(off, fabs(x[i] - y[i]));
  }
  free(b);
  free(x);
  free(y);
  return ends ? off / largest : INFINITY;
}

/* ---- Tests. ---- */

TEST(deals_are_sound) {
  static const int64_t sizes[] = {1, 2, 33, 97, 700};
  static const int members[] = {1, 2, 3, 4, 7, 8};
  dealt d = {0};
  int c = 0;
  for (shape kind = 0; kind < SHAPES; kind++)
    for (size_t z = 0; z < COUNT(sizes); z++) {
      d.S = shape_system(kind, sizes[z], (trs_scalar)(TRS_FLOAT + c % 4), c & 1, c & 2);
      for (trs_deal_rule how = 0; how <= TRS_DEAL_GRAPH; how++)
        for (size_t m = 0; m < COUNT(members) && graph_is_there(how); m++) {
          d.cuts = c % 2;
          deal_out(&d, &all_rules[c++ % COUNT(all_rules)], members[m], how);
          need_sound(&d, shape_name(kind));
          gather_in(&d);
        }
      shape_free(&d.S);
    }
}

TEST(members_solve_by_their_shares) {
  enum { ROWS = 700 };
  static const int members[] = {2, 3, 8};
  trs_team *team;
  dealt d = {0};
  int c = 0;
  assert_success(trs_team_create(&team, MOST));
  for (shape kind = 0; kind < SHAPES; kind++) {
    d.S = shape_system(kind, ROWS, TRS_DOUBLE, kind & 1, true);
    for (trs_deal_rule how = TRS_DEAL_BANDS; how <= TRS_DEAL_GRAPH; how++)
      for (size_t m = 0; m < COUNT(members) && graph_is_there(how); m++) {
        d.cuts = c % 2;
        deal_out(&d, &all_rules[c++ % COUNT(all_rules)], members[m], how);
        double off = error_of(&d, team, c % 2, false);
        if (!(off <= ROWS * scalar_eps(TRS_DOUBLE)))
          fail_msg("%s, %d members, %s: off by %g", shape_name(kind), members[m],
                   trs_deal_rules[how], off);
        gather_in(&d);
      }
    shape_free(&d.S);
  }
  trs_team_destroy(team);
}

/* Damaged shares, and members that do not clear. */
TEST(damage_is_found_out) {
  trs_team *team;
  dealt d = {.S = shape_system(SHAPE_RANDOM, 4000, TRS_DOUBLE, true, true)};
  assert_success(trs_team_create(&team, MOST));
  deal_out(&d, &all_rules[0], 2, TRS_DEAL_BANDS);
  assert_true(error_of(&d, team, true, false) < 1e-10);
  assert_true(error_of(&d, team, true, true) > 1e-10);
  gather_in(&d);
  shape_free(&d.S);
  trs_team_destroy(team);
}

static trs_deal dealt_as(dealt *d, int members, trs_deal_rule how) {
  deal_out(d, &all_rules[0], members, how);
  trs_deal deal = d->deal;
  gather_in(d);
  return deal; /* its numbers remain */
}

/* On grids slabs push little. */
TEST(numbers_are_as_expected) {
  dealt d = {.S = shape_system(SHAPE_GRID, 40000, TRS_DOUBLE, true, true)};
  trs_deal bands = dealt_as(&d, 4, TRS_DEAL_BANDS);
  trs_deal slabs = dealt_as(&d, 4, TRS_DEAL_SLABS);
  trs_deal one = dealt_as(&d, 1, TRS_DEAL_AUTO), best = dealt_as(&d, 4, TRS_DEAL_AUTO);
  assert_true(best.seconds <= slabs.seconds && best.seconds <= bands.seconds);
  assert_true(bands.pushes > slabs.pushes);
  assert_true(slabs.balance < 1.2);
  d.cuts = true;
  slabs = dealt_as(&d, 4, TRS_DEAL_SLABS);
  assert_true(slabs.peer_steps <= 3); /* a path enters each slab once */
  assert_int_equal(one.pushes, 0);
  assert_int_equal(one.peer_steps, 0);
  assert_true(one.balance == 1);
  shape_free(&d.S);
  d.S = shape_system(SHAPE_RANDOM, 40000, TRS_DOUBLE, false, true);
  bands = dealt_as(&d, 4, TRS_DEAL_BANDS);
  assert_true(bands.balance < 1.2 && bands.level_balance < 2);
  shape_free(&d.S);
}

/* Judged without a walk: the same, but with as many steps between members as levels allow. */
static void judge_again(const trs_system *S) {
  enum { MEMBERS = 4 };
  dealt d = {.S = *S};
  deal_out(&d, &all_rules[3], MEMBERS, TRS_DEAL_BANDS);
  int32_t *owner = malloc((size_t)d.s.nslices * sizeof *owner + 1);
  trs_deal other = {
      .members = MEMBERS, .rule = d.deal.rule, .owner = owner, .pushes = d.deal.pushes};
  trs_deal_bands(owner, &d.s, MEMBERS);
  assert_memory_equal(owner, d.deal.owner, (size_t)d.s.nslices * sizeof *owner);
  trs_deal_judge(&other, &d.s, 0, &trs_gpu_measured);
  for (int m = 0; m < MEMBERS; m++) assert_int_equal(other.rows[m], d.deal.rows[m]);
  assert_true(other.balance == d.deal.balance && other.level_balance == d.deal.level_balance);
  assert_int_equal(other.peer_steps, d.deal.pushes > 0 ? d.s.nlevels - 1 : 0);
  assert_true(other.peer_steps >= d.deal.peer_steps && other.seconds >= d.deal.seconds);
  free(owner);
  gather_in(&d);
}

TEST(owners_are_judged_without_a_walk) {
  static const shape shapes[] = {SHAPE_GRID, SHAPE_RANDOM, SHAPE_LONG_ROWS};
  for (size_t k = 0; k < COUNT(shapes); k++) {
    trs_system S = shape_system(shapes[k], 3001, TRS_DOUBLE, k % 2 == 0, true);
    judge_again(&S);
    shape_free(&S);
  }
}

TEST(large_graphs_are_split_by_metis) {
  if (!graph_is_there(TRS_DEAL_GRAPH)) skip_test("this build has no METIS");
  dealt d = {.S = shape_system(SHAPE_BOX, 20000, TRS_DOUBLE, true, true)};
  deal_out(&d, &all_rules[0], 3, TRS_DEAL_GRAPH);
  need_sound(&d, "box");
  assert_int_equal(d.deal.rule, TRS_DEAL_GRAPH);
  assert_true(d.deal.balance < 1.3);
  gather_in(&d);
  shape_free(&d.S);
}

/* Slices with many needs have no neighbours to keep together, and METIS takes long. */
TEST(graphs_with_many_edges_are_refused) {
  if (!graph_is_there(TRS_DEAL_GRAPH)) skip_test("this build has no METIS");
  enum { MEMBERS = 3 };
  dealt d = {.S = shape_system(SHAPE_RANDOM, 20000, TRS_DOUBLE, true, true)};
  deal_out(&d, &all_rules[0], MEMBERS, TRS_DEAL_AUTO);
  assert_int_not_equal(d.deal.rule, TRS_DEAL_GRAPH);
  assert_int_equal(
      trs_deal_graph(d.deal.owner, &d.S, &d.s, d.position, MEMBERS, 24 * (int64_t)d.s.nslices),
      TRS_ERROR_UNSUPPORTED);
  assert_success(trs_deal_graph(d.deal.owner, &d.S, &d.s, d.position, MEMBERS, INT64_MAX));
  gather_in(&d);
  shape_free(&d.S);
}

static bool same_slice(const trs_slice *a, const trs_slice *b) {
  return a->entries == b->entries && a->inverse == b->inverse && a->first == b->first &&
         a->width == b->width && a->early_poll == b->early_poll && a->part == b->part &&
         a->parts == b->parts && a->level == b->level && a->rows == b->rows &&
         a->log_lanes == b->log_lanes && a->block == b->block && a->heavy == b->heavy;
}

/* Slices and shares do not depend on the number of threads, nor on whether the team takes the
 * blocks and levels of another outline (or NULL). */
static void same_as_like(const trs_system *S, const trs_slice_rules *rules, trs_deal_rule how,
                         trs_team *team, const trs_outline *like) {
  enum { MEMBERS = 3 };
  trs_slices s[2];
  trs_outline *outline[2];
  trs_deal deal[2];
  int64_t cut[MEMBERS + 1];
  trs_deal_slabs(cut, S, MEMBERS);
  for (int k = 0; k < 2; k++) {
    trs_team *by = k == 0 ? NULL : team;
    assert_success(trs_outline_create(&outline[k], &s[k], S, rules, NULL, k == 0 ? NULL : like,
                                      MEMBERS, cut, by));
    assert_success(
        trs_deal_create(&deal[k], S, &s[k], outline[k], MEMBERS, how, 0, &trs_gpu_measured, by));
  }
  const size_t n = (size_t)S->n, nslices = (size_t)s[0].nslices;
  assert_int_equal(s[0].nslices, s[1].nslices);
  assert_int_equal(s[0].nlevels, s[1].nlevels);
  assert_int_equal(s[0].nparts, s[1].nparts);
  assert_int_equal(s[0].nblocks, s[1].nblocks);
  for (size_t k = 0; k < nslices; k++) assert_true(same_slice(&s[0].slice[k], &s[1].slice[k]));
  assert_memory_equal(s[0].row, s[1].row, n * sizeof *s[0].row);
  assert_memory_equal(trs_outline_positions(outline[0]), trs_outline_positions(outline[1]), 4 * n);
  assert_memory_equal(trs_outline_begins(outline[0]), trs_outline_begins(outline[1]), n);
  assert_memory_equal(deal[0].owner, deal[1].owner, nslices * sizeof *deal[0].owner);
  assert_memory_equal(deal[0].mask, deal[1].mask, n * sizeof *deal[0].mask);
  assert_true(deal[0].pushes == deal[1].pushes && deal[0].seconds == deal[1].seconds);
  for (int k = 0; k < 2; k++) {
    trs_deal_destroy(&deal[k]);
    trs_slices_destroy(&s[k]);
    trs_outline_destroy(outline[k]);
  }
}

static void same_by_a_team(const trs_system *S, const trs_slice_rules *rules, trs_deal_rule how,
                           trs_team *team) {
  const int64_t whole[] = {0, S->n};
  trs_outline *like;
  trs_slices s;
  same_as_like(S, rules, how, team, NULL);
  assert_success(trs_outline_create(&like, &s, S, rules, NULL, NULL, 1, whole, team));
  same_as_like(S, rules, how, team, like);
  trs_slices_destroy(&s);
  trs_outline_destroy(like);
}

/* Rows that need the row before them, in lines of a grid: the team walks along several lines. */
TEST(a_team_walks_along_lines_as_one_thread_does) {
  trs_matrix *A, *T;
  trs_matrix_info info = {.struct_size = sizeof info};
  trs_team *team;
  trs_system S = {.scalar = TRS_DOUBLE, .lower = true, .rows = true, .has_diagonal = true};
  assert_success(trs_matrix_read(&A, "gen:poisson3d7:48", NULL));
  assert_success(trs_matrix_triangle(&T, A, TRS_LOWER, 1));
  assert_success(trs_matrix_get_info(T, &info));
  assert_success(trs_matrix_get_arrays(T, &S.ptr, &S.idx, &S.val));
  assert_success(trs_team_create(&team, 8));
  S.n = info.nrows;
  S.nnz = info.nnz;
  assert_int_equal(trs_walk_of(&S, NULL, team).threads, 8);
  assert_in_range(trs_walk_of(&S, NULL, team).grain, 40, 56);
  same_as_like(&S, &all_rules[0], TRS_DEAL_SLABS, team, NULL);
  same_as_like(&S, &all_rules[0], TRS_DEAL_BANDS, team, NULL);
  trs_team_destroy(team);
  trs_matrix_destroy(T);
  trs_matrix_destroy(A);
}

TEST(a_team_deals_as_one_thread_does) {
  trs_team *team;
  const int64_t alone = trs_slices_alone;
  assert_success(trs_team_create(&team, 5));
  trs_slices_alone = 0;
  for (shape kind = 0; kind < SHAPES; kind++) {
    trs_system S = shape_system(kind, 1500, TRS_DOUBLE, kind % 2 == 0, true);
    for (size_t r = 0; r < COUNT(all_rules); r++) {
      same_by_a_team(&S, &all_rules[r], TRS_DEAL_SLABS, team);
      same_by_a_team(&S, &all_rules[r], TRS_DEAL_BANDS, team);
    }
    shape_free(&S);
  }
  trs_slices_alone = alone;
  trs_team_destroy(team);
}

TEST(members_beyond_the_limit_are_refused) {
  dealt d = {.S = shape_system(SHAPE_GRID, 33, TRS_DOUBLE, true, true)};
  const int64_t whole[] = {0, d.S.n};
  assert_success(
      trs_outline_create(&d.outline, &d.s, &d.S, &all_rules[0], NULL, NULL, 1, whole, NULL));
  assert_int_equal(trs_deal_create(&d.deal, &d.S, &d.s, d.outline, TRS_MOST_MEMBERS + 1,
                                   TRS_DEAL_AUTO, 0, &trs_gpu_measured, NULL),
                   TRS_ERROR_UNSUPPORTED);
  trs_slices_destroy(&d.s);
  trs_outline_destroy(d.outline);
  shape_free(&d.S);
}

static trs_status deal_and_share(dealt *d) {
  trs_status status = trs_deal_create(&d->deal, &d->S, &d->s, d->outline, 3, TRS_DEAL_AUTO, 0,
                                      &trs_gpu_measured, NULL);
  if (status) return status;
  status = trs_deal_share_create(&d->share[0], &d->deal, &d->s, 0, 3);
  trs_deal_share_destroy(&d->share[0]);
  trs_deal_destroy(&d->deal);
  return status;
}

TEST(every_allocation_may_fail) {
  dealt d = {.S = shape_system(SHAPE_NODES, 97, TRS_DOUBLE, true, true)};
  int64_t before, after, peak, n = 0;
  const int64_t whole[] = {0, d.S.n};
  assert_success(
      trs_outline_create(&d.outline, &d.s, &d.S, &all_rules[3], NULL, NULL, 1, whole, NULL));
  d.position = trs_outline_positions(d.outline);
  trs_memory_usage(&before, &peak);
  for (trs_status status = TRS_ERROR_MEMORY; status; n++) {
    trs_memory_fail_after(n);
    status = deal_and_share(&d);
    trs_memory_fail_after(-1);
    if (status) assert_int_equal(status, TRS_ERROR_MEMORY);
    trs_memory_usage(&after, &peak);
    assert_int_equal(before, after);
  }
  assert_true(n > 8);
  trs_slices_destroy(&d.s);
  trs_outline_destroy(d.outline);
  shape_free(&d.S);
}
