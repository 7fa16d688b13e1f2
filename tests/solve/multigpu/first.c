/* first.c - slabs and bands by the first GPU are those of the host: owners, masks,
 * slices, the shares of members, their entries; and both solve.  So after updates, also with values
 * whose inverses lose digits, which the host has to cut.  `auto` deals on the first GPU. */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/context.h"
#include "matrix/values.h"
#include "solve/multigpu/push_state.h"
#include "support.h"
#include "test.h"

static const char *const groups[] = {"cuda:0-0", "cuda:0,0", "cuda:0,0,0", "cuda:0,0,0,0",
                                     "cuda:0-1", "cuda:1,0", "cuda:0-2",   "cuda:0-3"};
static const char *const systems[] = {
    "gen:poisson2d5:61,53", "gen:chain:3001",     "gen:poisson3d7:23,19,29",
    "gen:poisson3d27:11",   "gen:powerlaw:20011", "gen:random:30011,7",
    "gen:kkt3d:17",         "gen:delaunay:4999",  "gen:elasticity3d:7,8,9",
    "gen:wingmesh:4001",    "gen:random:60013,2", "gen:poisson3d7:70"};
static const char *const methods[] = {"push:partition=slabs,substitute=0",
                                      "push:partition=slabs,substitute=7", "push:partition=bands"};
enum { RANDOM_STEP = 7 };

typedef struct variant {
  const char *system, *method;
  trs_scalar scalar;
  trs_format format;
  trs_uplo uplo;
  trs_trans trans;
  trs_diag diag;
  trs_store store;
} variant;

typedef struct problem {
  variant is;
  trs_matrix *T;
  int64_t n, longest;
  char *b, *x;
} problem;

static void fail_at(const problem *p, const char *what, int64_t k) {
  fail_msg("%s, %s, type %d, format %d, uplo %d, trans %d, diag %d, store %d: %s %lld",
           p->is.system, p->is.method, p->is.scalar, p->is.format, p->is.uplo, p->is.trans,
           p->is.diag, p->is.store, what, (long long)k);
}

/* ---- Matrices. ---- */

typedef enum change { TURNED, SCALED, WEAKENED } change;

/* diag: unit diagonals have small entries beside them; of a matrix that has them, TRS_NONUNIT.
 * Entries off the diagonal of complex matrices are turned; or all are scaled; or three pivots are
 * tiny, so that inverses of blocks lose digits.  More would let x overflow along a path. */
static trs_matrix *changed(const trs_matrix *A, trs_format format, trs_diag diag, change how) {
  trs_matrix_info info = {.struct_size = sizeof info};
  const int64_t *ptr;
  const int32_t *idx;
  const void *val;
  trs_matrix *B;
  trs_matrix_get_info(A, &info);
  assert_success(trs_matrix_get_arrays(A, &ptr, &idx, &val));
  void *to = malloc((size_t)info.nnz * scalar_bytes(info.scalar) + 1);
  const int64_t apart = info.nrows / 4 + 1;
  const double tiny = trs_scalar_is_double(info.scalar) ? 1e-9 : 1e-5;
  for (int64_t i = 0; i < info.nrows; i++)
    for (int64_t k = ptr[i]; k < ptr[i + 1]; k++) {
      double complex value = trs_value_get(val, k, info.scalar);
      if (diag == TRS_UNIT && idx[k] != i) value *= 0.125; /* else x grows beyond a float */
      if (how == TURNED && idx[k] != i && trs_scalar_is_complex(info.scalar))
        value *= cexp(I * (double)(k % 13));
      if (how == SCALED) value *= idx[k] == i ? 1.5 : 0.75;
      if (how == WEAKENED && idx[k] == i && i > 0 && i % apart == 0) value *= tiny;
      trs_value_set(to, k, info.scalar, value);
    }
  assert_success(trs_matrix_create(&B, format, info.scalar, info.nrows, info.ncols,
                                   TRS_PTR64 | TRS_IDX32 | TRS_BASE0, ptr, idx, to, TRS_COPY));
  free(to);
  return B;
}

/* Entries of the fullest row or column. */
static int64_t longest_of(const trs_matrix *A, int64_t n) {
  const int64_t *ptr;
  const int32_t *idx;
  int64_t *count = calloc((size_t)n + 1, sizeof *count), longest = 0;
  assert_success(trs_matrix_get_arrays(A, &ptr, &idx, NULL));
  for (int64_t k = 0; k < ptr[n]; k++) count[idx[k]]++;
  for (int64_t i = 0; i < n; i++) {
    if (count[i] > longest) longest = count[i];
    if (ptr[i + 1] - ptr[i] > longest) longest = ptr[i + 1] - ptr[i];
  }
  free(count);
  return longest;
}

static problem make_problem(const variant *v) {
  problem p = {.is = *v};
  trs_matrix *A, *T, *U;
  trs_matrix_info info = {.struct_size = sizeof info};
  assert_success(trs_matrix_read(&A, v->system, NULL));
  assert_success(trs_matrix_triangle(&T, A, v->uplo, 1));
  assert_success(trs_matrix_convert(&U, T, v->format, v->scalar));
  p.T = changed(U, v->format, v->diag, TURNED);
  trs_matrix_destroy(A);
  trs_matrix_destroy(T);
  trs_matrix_destroy(U);
  trs_matrix_get_info(p.T, &info);
  p.n = info.nrows;
  p.longest = longest_of(p.T, p.n);
  p.b = malloc((size_t)p.n * scalar_bytes(v->scalar));
  p.x = malloc((size_t)p.n * scalar_bytes(v->scalar));
  trs_random_fill(p.b, p.n, v->scalar, 5);
  return p;
}

static void free_problem(problem *p) {
  trs_matrix_destroy(p->T);
  free(p->b), free(p->x);
}

static trs_plan *analyze(trs_context *ctx, const problem *p, bool on_host) {
  trs_plan *plan;
  const trs_options options = {
      .struct_size = sizeof(trs_options), .method = p->is.method, .store = p->is.store};
  trs_push_on_host = on_host;
  assert_success(trs_analyze(&plan, ctx, p->T, p->is.uplo, p->is.trans, p->is.diag, &options));
  trs_push_on_host = false;
  ((trs_push_state *)plan->state)->on_host = on_host; /* updates too */
  return plan;
}

static void solve(trs_plan *plan, const problem *p, const trs_matrix *T) {
  trs_backward_error error = {.struct_size = sizeof error};
  assert_success(trs_solve(plan, p->x, p->n, p->b, p->n, 1, TRS_COL_MAJOR));
  assert_success(trs_check(&error, T, p->is.uplo, p->is.trans, p->is.diag, p->x, p->n, p->b, p->n,
                           1, TRS_COL_MAJOR));
  const trs_scalar stored = p->is.store != TRS_STORE_MIXED        ? p->is.scalar
                            : trs_scalar_is_complex(p->is.scalar) ? TRS_SCOMPLEX
                                                                  : TRS_FLOAT;
  if (error.componentwise <= 2 * error_limit(stored, p->longest)) return;
  printf("backward error %g on the %s\n", error.componentwise,
         ((trs_push_state *)plan->state)->first.device ? "GPU's deal" : "host's deal");
  fail_at(p, "backward error", -1);
}

/* ---- Comparisons. ---- */

static void *fetch(const trs_push_member *m, const void *from, int64_t bytes) {
  void *to = malloc((size_t)bytes + 1);
  const int before = trs_device_enter(m->device);
  assert_success(trs_device_copy(to, from, bytes, m->stream));
  assert_success(trs_device_wait(m->stream));
  trs_device_leave(before);
  return to;
}

static void same_number(const problem *p, const char *what, int64_t a, int64_t b) {
  if (a != b) printf("%lld on the host, %lld on the GPU\n", (long long)a, (long long)b);
  if (a != b) fail_at(p, what, -1);
}

static bool same_slice(const trs_slice *a, const trs_slice *b, bool polls) {
  return a->entries == b->entries && a->inverse == b->inverse && a->first == b->first &&
         a->width == b->width && (!polls || a->early_poll == b->early_poll) &&
         (!a->heavy || a->part == b->part) && a->parts == b->parts && a->level == b->level &&
         a->rows == b->rows && a->log_lanes == b->log_lanes && a->block == b->block &&
         a->heavy == b->heavy;
}

static void same_slices(const problem *p, const trs_slice *a, const trs_slice *b, int32_t count,
                        bool polls) {
  for (int32_t k = 0; k < count; k++)
    if (!same_slice(&a[k], &b[k], polls)) fail_at(p, "slice", k);
}

static void same_bytes(const problem *p, const char *what, const void *a, const void *b,
                       int64_t count, size_t size) {
  for (int64_t k = 0; k < count; k++)
    if (memcmp((const char *)a + k * size, (const char *)b + k * size, size)) fail_at(p, what, k);
}

static void same_numbers(const problem *p, const trs_push_state *a, const trs_push_state *b) {
  same_number(p, "positions", a->n, b->n);
  same_number(p, "slices", a->slices.nslices, b->slices.nslices);
  same_number(p, "levels", a->slices.nlevels, b->slices.nlevels);
  same_number(p, "blocks", a->slices.nblocks, b->slices.nblocks);
  same_number(p, "longest", a->slices.longest, b->slices.longest);
  same_number(p, "pushes", a->deal.pushes, b->deal.pushes);
  if (a->deal.rule == TRS_DEAL_SLABS)
    same_number(p, "steps", a->deal.peer_steps, b->deal.peer_steps);
  else if (a->deal.peer_steps > b->deal.peer_steps) /* the host has walked, the GPU knows a bound */
    fail_at(p, "more steps than the bound on the GPU", a->deal.peer_steps);
  same_number(p, "rule", a->deal.rule, b->deal.rule);
  for (int m = 0; m < a->members; m++)
    same_number(p, "rows of a member", a->deal.rows[m], b->deal.rows[m]);
}

static void same_share(const problem *p, const trs_deal_share *a, const trs_deal_share *b) {
  same_number(p, "share: slices", a->nslices, b->nslices);
  same_number(p, "share: chunks", a->nchunks, b->nchunks);
  same_number(p, "share: parts", a->nparts, b->nparts);
  same_number(p, "share: groups to clear", a->nclear, b->nclear);
  same_number(p, "share: entries", a->entries, b->entries);
  same_number(p, "share: inverses", a->inverses, b->inverses);
  same_slices(p, a->slice, b->slice, a->nslices, true);
  same_bytes(p, "share: chunk", a->chunk, b->chunk, a->nchunks + 1, sizeof *a->chunk);
  same_bytes(p, "share: clear", a->clear, b->clear, a->nclear, sizeof *a->clear);
}

static void same_array(const problem *p, const char *what, const trs_push_member *m, const void *a,
                       const trs_push_member *o, const void *b, int64_t count, size_t size) {
  void *here = fetch(m, a, count * (int64_t)size), *there = fetch(o, b, count * (int64_t)size);
  same_bytes(p, what, here, there, count, size);
  free(here), free(there);
}

static bool none(const void *value, size_t size) {
  for (size_t k = 0; k < size; k++)
    if (((const unsigned char *)value)[k] != 0xff) return false;
  return true;
}

/* But for roundings. */
static void same_inverses(const problem *p, const trs_push_member *a, const trs_push_member *b) {
  const size_t size = scalar_bytes(p->is.scalar);
  const int64_t count = a->share.inverses;
  const double limit = error_limit(p->is.scalar, 4 * TRS_MOST_BLOCK);
  char *here = fetch(a, a->args.slices.inverse, count * (int64_t)size),
       *there = fetch(b, b->args.slices.inverse, count * (int64_t)size);
  for (int64_t k = 0; k < count; k++) {
    const char *x = here + k * size, *y = there + k * size;
    if (none(x, size) != none(y, size)) fail_at(p, "whether inverse", k);
    if (none(x, size)) continue;
    const double complex v = trs_value_get(here, k, p->is.scalar),
                         w = trs_value_get(there, k, p->is.scalar);
    if (!(cabs(v - w) <= limit * (1 + cabs(v)))) fail_at(p, "inverse", k);
  }
  free(here), free(there);
}

static void same_member(const problem *p, const trs_push_state *a, const trs_push_state *b,
                        int which) {
  const trs_push_member *m = &a->member[which], *o = &b->member[which];
  const trs_slices *s = &m->args.slices, *t = &o->args.slices;
  const size_t value = scalar_bytes(p->is.scalar) / (a->float_values ? 2 : 1);
  same_share(p, &m->share, &o->share);
  same_number(p, "runs", m->nruns, o->nruns);
  same_array(p, "member: row", m, s->row, o, t->row, a->n, sizeof *s->row);
  same_array(p, "member: mask", m, m->args.mask, o, o->args.mask, a->n, sizeof *m->args.mask);
  same_array(p, "member: idx", m, s->idx, o, t->idx, m->share.entries, sizeof *s->idx);
  same_array(p, "member: val", m, s->val, o, t->val, m->share.entries, value);
  same_inverses(p, m, o);
}

/* The y and x of a level stand in another order on the GPU. */
static void compare(const problem *p, trs_plan *host, trs_plan *gpu) {
  const trs_push_state *a = host->state, *b = gpu->state;
  if (a->first.device) fail_at(p, "not dealt by the host", 0);
  if (!b->first.device) fail_at(p, "not dealt by the first GPU", 0);
  same_number(p, "substituted", a->joint.system.nnz, b->joint.system.nnz);
  same_numbers(p, a, b);
  if (a->joint.of) return;
  same_number(p, "entries", a->slices.entries, b->slices.entries);
  same_bytes(p, "owner", a->deal.owner, b->deal.owner, a->slices.nslices, sizeof *a->deal.owner);
  same_slices(p, a->slices.slice, b->slices.slice, a->slices.nslices, false);
  for (int m = 0; m < a->members; m++) same_member(p, a, b, m);
}

static void same_shares(const problem *p, trs_plan *host, trs_plan *gpu, int members) {
  int64_t *row = malloc((size_t)(2 * p->n + 1) * sizeof *row);
  for (int m = 0; m < members; m++) {
    trs_plan_share a = {.struct_size = sizeof a}, b = {.struct_size = sizeof b};
    assert_success(trs_plan_get_share(host, &a, row, m, 1));
    assert_success(trs_plan_get_share(gpu, &b, row + p->n, m, 1));
    same_number(p, "rows of a share", a.nrows, b.nrows);
    same_bytes(p, "row of a share", row, row + p->n, a.nrows, sizeof *row);
  }
  free(row);
}

/* ---- Tests. ---- */

static void update_both(const problem *p, trs_plan *host, trs_plan *gpu, change how, bool same) {
  trs_matrix *T = changed(p->T, p->is.format, TRS_NONUNIT, how);
  assert_success(trs_update(host, T));
  assert_success(trs_update(gpu, T));
  solve(host, p, T);
  solve(gpu, p, T);
  if (same) compare(p, host, gpu);
  trs_matrix_destroy(T);
}

static void try_variant(trs_context *ctx, const variant *v) {
  problem p = make_problem(v);
  trs_plan *host = analyze(ctx, &p, true), *gpu = analyze(ctx, &p, false);
  compare(&p, host, gpu);
  solve(host, &p, p.T);
  solve(gpu, &p, p.T);
  same_shares(&p, host, gpu, trs_context_members(ctx, NULL, NULL));
  update_both(&p, host, gpu, SCALED, true);
  update_both(&p, host, gpu, TURNED, true);
  if (v->diag == TRS_NONUNIT && v->store != TRS_STORE_MIXED) {
    update_both(&p, host, gpu, WEAKENED, false);
    update_both(&p, host, gpu, SCALED, false);
  }
  trs_plan_destroy(host);
  trs_plan_destroy(gpu);
  free_problem(&p);
}

static trs_context *open_context(const char *where) {
  trs_context *ctx;
  if (trs_context_create(&ctx, where)) skip_test(trs_last_error()->message);
  return ctx;
}

/* Types, formats, triangles, transposes, diagonals and stores in turn, every system with every
 * method. */
static void deals_are_the_hosts(void **state) {
  static const trs_trans transposes[] = {TRS_NO_TRANS, TRS_TRANS, TRS_CONJ_TRANS};
  static const trs_scalar scalars[] = {TRS_DOUBLE, TRS_FLOAT, TRS_DCOMPLEX, TRS_SCOMPLEX};
  trs_context *ctx = open_context(*state);
  unsigned turn = (unsigned)trs_context_members(ctx, NULL, NULL);
  for (size_t s = 0; s < COUNT(systems); s++)
    for (size_t m = 0; m < COUNT(methods); m++, turn += RANDOM_STEP) {
      const variant v = {.system = systems[s],
                         .method = methods[m],
                         .scalar = scalars[turn % 4],
                         .format = turn / 2 % 2 ? TRS_CSC : TRS_CSR,
                         .uplo = turn / 3 % 2 ? TRS_UPPER : TRS_LOWER,
                         .trans = transposes[turn / 4 % 3],
                         .diag = turn % 5 == 4 ? TRS_UNIT : TRS_NONUNIT,
                         .store = trs_scalar_is_double(scalars[turn % 4]) && turn % 6 >= 4
                                      ? TRS_STORE_MIXED
                                      : TRS_STORE_DEFAULT};
      try_variant(ctx, &v);
    }
  trs_context_destroy(ctx);
}

/* All types, transposes, formats and triangles of one small system. */
static void all_variants_are_dealt(void **state) {
  static const trs_trans transposes[] = {TRS_NO_TRANS, TRS_TRANS, TRS_CONJ_TRANS};
  trs_context *ctx = open_context(*state);
  for (unsigned k = 0; k < 3 * 4 * 3 * 2 * 2; k++) {
    const variant v = {
        .system = "gen:poisson2d5:37,31",
        .method = methods[k / 48],
        .scalar = (trs_scalar[]){TRS_DOUBLE, TRS_FLOAT, TRS_DCOMPLEX, TRS_SCOMPLEX}[k % 4],
        .format = k / 4 % 2 ? TRS_CSC : TRS_CSR,
        .uplo = k / 8 % 2 ? TRS_UPPER : TRS_LOWER,
        .trans = transposes[k / 16 % 3]};
    try_variant(ctx, &v);
  }
  trs_context_destroy(ctx);
}

/* Few levels and many; with four members half of them too. */
static void auto_deals_there(void **state) {
  trs_context *ctx = open_context(*state);
  for (size_t s = 0; s < COUNT(systems); s++) {
    const variant v = {.system = systems[s],
                       .method = s % 2 ? "push" : "push:substitute=0",
                       .scalar = TRS_DOUBLE,
                       .format = TRS_CSR,
                       .uplo = TRS_LOWER,
                       .trans = TRS_NO_TRANS};
    problem p = make_problem(&v);
    trs_plan *plan = analyze(ctx, &p, false);
    if (!((trs_push_state *)plan->state)->first.device) fail_at(&p, "dealt by the host", -1);
    solve(plan, &p, p.T);
    trs_plan_destroy(plan);
    free_problem(&p);
  }
  trs_context_destroy(ctx);
}

static void add_cases(void) {
  static const struct {
    const char *name;
    void (*test)(void **state);
  } tests[] = {{"systems", deals_are_the_hosts},
               {"variants", all_variants_are_dealt},
               {"auto", auto_deals_there}};
  enum { EACH = COUNT(tests) * COUNT(groups) };
  static char names[EACH][64];
  for (int k = 0; k < EACH; k++) {
    const size_t which = (size_t)k / COUNT(groups);
    const char *where = groups[k % COUNT(groups)];
    snprintf(names[k], sizeof names[k], "%s %s", tests[which].name, where);
    add_test(__LINE__, names[k], tests[which].test, where);
  }
}

const test_program program = {.add_cases = add_cases};
