/* emulated_warps.c - the kernels of pull and of the engine, and their launches, on emulated warps
 * of TRS_EMULATED_WIDTH lanes that run in step (tests/emulated/warps): all types, blocks, lanes per
 * row, heavy slices and their parts, two buffers, several columns.  A build has one program for
 * warps of 32 and one for warps of 64, as AMD's CDNA has. */
#include <stdlib.h>
#include <string.h>

#include "analysis/slice.h"
#include "base/scalar.h"
#include "solve/cuda/engine/engine.h"
#include "solve/cuda/pull.h"
#include "support.h"
#include "test.h"

enum { COLUMNS = 2 };

trs_status trs_device_check(int error, const char *what) {
  return error ? trs_fail(TRS_ERROR_INTERNAL, -1, "%s", what) : TRS_SUCCESS;
}

typedef struct problem {
  triangle t;
  trs_system S;
  trs_matrix *matrix;
  char *x, *b; /* COLUMNS columns */
  trs_fault fault;
} problem;

static problem make_problem(int64_t n, double density, int64_t band, bool lower,
                            trs_scalar scalar) {
  problem p = {.t = triangle_random(n, density, band, lower, scalar, false, 11 + (uint64_t)n)};
  const size_t bytes = COLUMNS * (size_t)n * scalar_bytes(scalar);
  p.S = (trs_system){.n = n,
                     .nnz = p.t.ptr[n],
                     .scalar = scalar,
                     .rows = true,
                     .lower = lower,
                     .has_diagonal = true,
                     .ptr = p.t.ptr,
                     .idx = p.t.idx,
                     .val = p.t.val};
  p.fault = (trs_fault){.row = -1, .limit = 1000000000};
  p.x = malloc(bytes);
  p.b = malloc(bytes);
  trs_random_fill(p.b, COLUMNS * n, scalar, 5);
  assert_success(trs_matrix_create(&p.matrix, TRS_CSR, scalar, n, n, TRS_PTR64, p.t.ptr, p.t.idx,
                                   p.t.val, TRS_BORROW));
  return p;
}

static void free_problem(problem *p) {
  trs_matrix_destroy(p->matrix);
  triangle_free(&p->t);
  free(p->x);
  free(p->b);
}

static void judge(const problem *p, int columns, const char *what) {
  trs_backward_error error = {.struct_size = sizeof error};
  trs_matrix_info info = {.struct_size = sizeof info};
  trs_matrix_get_info(p->matrix, &info);
  if (p->fault.stalled)
    fail_msg("%s: n %d, row %d waits for ever", what, (int)p->S.n, (int)p->fault.row);
  assert_success(trs_check(&error, p->matrix, p->S.lower ? TRS_LOWER : TRS_UPPER, TRS_NO_TRANS,
                           TRS_NONUNIT, p->x, p->S.n, p->b, p->S.n, columns, TRS_COL_MAJOR));
  const double limit = error_limit(p->S.scalar, info.longest_row);
  if (!(error.componentwise <= limit))
    fail_msg("%s: n %d, scalar %d: error %g, limit %g, row %d", what, (int)p->S.n, (int)p->S.scalar,
             error.componentwise, limit, (int)error.worst_row);
}

/* ---- pull ---- */

static void solve_by_pull(problem *p, int lanes) {
  const size_t size = scalar_bytes(p->S.scalar), known = (size_t)p->S.n * size;
  char *work = malloc(known + sizeof(uint32_t));
  memset(work, 0xff, known + sizeof(uint32_t));
  const trs_pull sweep = {.system = p->S,
                          .known = work,
                          .ticket = (uint32_t *)(void *)(work + known),
                          .fault = &p->fault,
                          .x = p->x,
                          .b = p->b,
                          .x_row = 1,
                          .b_row = 1};
  memset(p->x, 0xff, known);
  assert_success(trs_pull_sweep(&sweep, lanes, NULL));
  judge(p, 1, "pull");
  free(work);
}

TEST(pull_solves_with_all_lanes) {
  static const int lanes[] = {1, 4, 8, 32};
  for (int c = 0; c < 32; c += 1 + c % 2) {
    problem p = make_problem(c % 3 ? 90 : 300, c % 2 ? 0.05 : 0.9, c % 2 ? 200 : 9, c / 4 % 2,
                             (trs_scalar)(TRS_FLOAT + c % 4));
    solve_by_pull(&p, lanes[c / 8]);
    free_problem(&p);
  }
}

/* Each row waits for the row before it, which is in the same warp but once per warp. */
TEST(pull_solves_chains) {
  problem p = make_problem(400, 1, 1, true, TRS_DOUBLE);
  solve_by_pull(&p, 1);
  solve_by_pull(&p, 4);
  free_problem(&p);
}

/* ---- The engine ---- */

typedef struct sliced {
  trs_slices s;
  trs_outline *outline;
  trs_engine_args args;
  void *memory, *counters;
  int32_t *level_slice;
  size_t bytes; /* of memory */
} sliced;

static void make_arrays(sliced *c, const problem *p) {
  trs_slices *s = &c->s;
  const size_t size = scalar_bytes(p->S.scalar);
  s->idx = malloc((size_t)(s->entries + 1) * sizeof *s->idx);
  s->val = malloc((size_t)(s->entries + 1) * size);
  s->inverse = malloc((size_t)(s->inverses + 1) * size);
  const trs_slice_arrays to = {.idx = s->idx, .val = s->val, .inverse = s->inverse};
  trs_outline_fill(c->outline, s->slice, NULL, s->nslices, &to, NULL);
}

/* Multiprocessors of a device on which no level is wide. */
enum { MANY = 1 << 16 };

/* buffers and columns: one of both is 1. */
static sliced cut(const problem *p, trs_slice_rules rules, int buffers, int columns, int shift) {
  const int64_t n = p->S.n, whole[2] = {0, n};
  sliced c = {.args = {.n = n}};
  rules.wide = TRS_EMULATED_WIDTH == 64;
  assert_success(trs_outline_create(&c.outline, &c.s, &p->S, &rules, NULL, NULL, 1, whole, NULL));
  make_arrays(&c, p);
  const size_t size = scalar_bytes(p->S.scalar), copies = (size_t)(buffers * columns);
  const size_t work = copies * ((size_t)n << shift) * size;
  const size_t parts = copies * (size_t)c.s.nparts * TRS_EMULATED_WIDTH * size;
  c.bytes = work + parts;
  c.memory = malloc(c.bytes + 1);
  c.counters = calloc(1, sizeof(trs_engine_counters) + 64 * sizeof(uint32_t));
  memset(c.memory, 0xff, c.bytes);
  c.args = (trs_engine_args){.slices = c.s,
                             .n = n,
                             .chains = rules.most_block > 1 && !rules.dense,
                             .boxes = rules.loose,
                             .buffers = buffers,
                             .work_shift = shift,
                             .work = c.memory,
                             .parts = (char *)c.memory + work,
                             .lanes = TRS_EMULATED_WIDTH,
                             .multiprocessors = MANY,
                             .counters = c.counters,
                             .fault = (trs_fault *)(uintptr_t)&p->fault,
                             .columns = columns,
                             .x = p->x,
                             .b = p->b,
                             .x_row = 1,
                             .b_row = 1,
                             .x_col = n,
                             .b_col = n};
  return c;
}

static void drop(sliced *c) {
  trs_outline_destroy(c->outline);
  trs_slices_destroy(&(trs_slices){
      .slice = c->s.slice, .chunk = c->s.chunk, .level = c->s.level, .row = c->s.row});
  free(c->s.idx);
  free(c->s.val);
  free(c->s.inverse);
  free(c->memory);
  free(c->counters);
}

static trs_launch_range range_of(const trs_slices *s, int32_t level, int32_t end) {
  const trs_slice_level *a = &s->level[level], *z = &s->level[end];
  trs_launch_range r = {.kind = TRS_LAUNCH_WARP_SLICE,
                        .level = level,
                        .level_end = end,
                        .slice = a->slice,
                        .slice_end = z->slice,
                        .chunk = a->chunk,
                        .chunk_end = z->chunk,
                        .entries = z->entries - a->entries,
                        .rows = z->position - a->position};
  for (int32_t l = level; l < end; l++) r.heavy |= s->level[l].heavy > 0;
  return r;
}

/* The first level alone, whose rows wait for nothing; levels one by one up to `single`; all others
 * in one launch. */
static void launch(const sliced *c, trs_scalar scalar, int32_t single) {
  const int32_t nlevels = c->s.nlevels;
  int32_t number = 0;
  for (int32_t l = 0; l < nlevels; number++) {
    const int32_t end = l < single ? l + 1 : nlevels;
    const trs_launch_range range = range_of(&c->s, l, end);
    const int32_t last = end == nlevels && c->args.buffers == 2;
    assert_success(trs_engine_warp_slice(&c->args, scalar, &range, number, last, NULL));
    l = end;
  }
}

static const trs_slice_rules plain = {.most_block = 1,
                                      .dense = 1,
                                      .lane_length = 4,
                                      .large_level_lane_length = 8,
                                      .large_level_rows = 100,
                                      .small_level_heavy_width = 8,
                                      .other_heavy_width = 8,
                                      .small_level_rows = 512,
                                      .early_poll = 2};

static trs_slice_rules rules_of(int kind) {
  trs_slice_rules rules = plain;
  if (kind == 1) rules.most_block = 4, rules.dense = 0;
  if (kind == 2) rules.most_block = 32;
  if (kind == 3) rules.most_block = 3, rules.dense = 0;
  if (kind == 4) rules.small_level_heavy_width = rules.other_heavy_width = 1;
  if (kind == 5) { /* boxes, none of which is heavy */
    rules.most_block = TRS_LIGHT_BLOCK, rules.dense = 0, rules.loose = 1;
    rules.small_level_heavy_width = rules.other_heavy_width = TRS_PART_WIDTH;
  }
  return rules;
}
enum { KINDS = 6 };

static void solve_on(int32_t multiprocessors, problem *p, const trs_slice_rules *rules, int buffers,
                     int columns, int shift, int32_t single) {
  sliced c = cut(p, *rules, buffers, columns, shift);
  c.args.multiprocessors = multiprocessors;
  const size_t bytes = (size_t)columns * (size_t)p->S.n * scalar_bytes(p->S.scalar);
  char *first = malloc(bytes);
  for (int turn = 0; turn < 1 + buffers; turn++) {
    if (buffers == 1) memset(c.memory, 0xff, c.bytes);
    memset(p->x, 0xff, bytes);
    launch(&c, p->S.scalar, single < c.s.nlevels ? single : c.s.nlevels);
    judge(p, columns, "engine");
    if (turn == 0) memcpy(first, p->x, bytes);
    assert_memory_equal(first, p->x, bytes);
  }
  free(first);
  drop(&c);
}

static void solve_by_slices(problem *p, const trs_slice_rules *rules, int buffers, int columns,
                            int shift, int32_t single) {
  solve_on(MANY, p, rules, buffers, columns, shift, single);
}

TEST(slices_solve_all_shapes) {
  static const struct {
    int64_t n, band;
    double density;
  } shapes[] = {{1, 1, 1}, {70, 70, 1}, {160, 6, 0.9}, {250, 250, 0.03}, {100, 100, 1}};
  int turn = 0;
  for (size_t s = 0; s < COUNT(shapes); s++)
    for (int kind = 0; kind < KINDS; kind++, turn++) {
      problem p = make_problem(shapes[s].n, shapes[s].density, shapes[s].band, turn % 2,
                               (trs_scalar)(TRS_FLOAT + (turn + turn / KINDS) % 4));
      const trs_slice_rules rules = rules_of(kind);
      solve_by_slices(&p, &rules, 1 + turn % 2, 1, turn % 3, 1 + turn % 4);
      free_problem(&p);
    }
}

TEST(slices_solve_several_columns) {
  for (int kind = 0; kind < KINDS; kind++) {
    problem p = make_problem(260, 0.1, 120, kind % 2, (trs_scalar)(TRS_FLOAT + kind % 4));
    const trs_slice_rules rules = rules_of(kind);
    solve_by_slices(&p, &rules, 1, COLUMNS, 0, 2);
    free_problem(&p);
  }
}

/* Levels of thousands of rows on one multiprocessor. */
TEST(wide_levels_solve_in_turns) {
  for (int kind = 0; kind < KINDS; kind++) {
    problem p = make_problem(6000, 0.0001, 6000, kind % 2, (trs_scalar)(TRS_FLOAT + kind % 4));
    const trs_slice_rules rules = rules_of(kind);
    solve_on(1, &p, &rules, 1 + kind % 2, 1, kind % 3, kind % 2);
    free_problem(&p);
  }
}

const test_program program;
