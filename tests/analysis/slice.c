/* slice.c - plans of slices: the properties of every plan, and a solve by a small interpreter.
 * Its threads take chunks by ticket and wait for values as the kernels do, so a wrong schedule
 * fails without a GPU.  Damaged plans show that both can fail. */
#include "analysis/slice.h"

#include <math.h>
#include <sched.h>
#include <stdatomic.h>

#include "analysis/levels.h"
#include "analysis/boxed.h"
#include "analysis/carried.h"
#include "analysis/slice_rows.h"
#include "analysis/shapes.h"
#include "base/random.h"
#include "base/team.h"
#include "base/wait.h"
#include "support.h"
#include "test.h"

/* ---- Properties of a plan. ---- */

typedef struct checked {
  const trs_system *S;
  const trs_slices *s;
  trs_slice_rules rules;
  int32_t *position;          /* of each row */
  int32_t *slice_of, *ticket; /* of each position: the slice that solves it, the number of its
                                 chunk */
  char fault[200];            /* the first found, or "" */
} checked;

#define FAULT(c, ...) (snprintf((c)->fault, sizeof(c)->fault, __VA_ARGS__), false)

/* Offsets are consecutive; slices stand in the order of their levels and positions. */
static bool check_slices(checked *c) {
  int64_t entries = 0, inverses = 0;
  int32_t position = 0, parts = 0, level = c->S->n > 0 ? 0 : -1;
  for (int32_t k = 0; k < c->s->nslices; k++) {
    const trs_slice *h = &c->s->slice[k];
    if (h->entries != entries || h->inverse != inverses) return FAULT(c, "offsets of slice %d", k);
    if (h->first != position) return FAULT(c, "slice %d begins at %d", k, h->first);
    if (h->level != level && h->level != ++level) return FAULT(c, "level of slice %d", k);
    if (h->rows < 1 || h->rows << h->log_lanes > TRS_SLICE_LANES << c->rules.wide)
      return FAULT(c, "slice %d has %d rows", k, h->rows);
    if (trs_slice_is_part(h) &&
        (!h->heavy || h->width != TRS_PART_WIDTH || h->block || h->part != parts))
      return FAULT(c, "part %d", k);
    if (!trs_slice_is_part(h) && h->parts > 0 && h->part + h->parts != parts)
      return FAULT(c, "parts of slice %d", k);
    entries += (int64_t)h->width * trs_slice_stride(h);
    inverses += trs_slice_inverses(h);
    parts += trs_slice_is_part(h);
    position += trs_slice_is_part(h) ? 0 : h->rows;
  }
  if (position != c->S->n || parts != c->s->nparts || level != c->s->nlevels - 1)
    return FAULT(c, "rows, parts or levels in all");
  if (entries != c->s->entries || inverses != c->s->inverses) return FAULT(c, "elements in all");
  return true;
}

static bool check_level(checked *c, int32_t l) {
  const trs_slice_level *at = &c->s->level[l], *end = at + 1;
  if (at->slice >= end->slice || at->position >= end->position || at->chunk >= end->chunk)
    return FAULT(c, "level %d is empty", l);
  for (int32_t k = at->slice; k < end->slice; k++) {
    const trs_slice *h = &c->s->slice[k];
    if (h->level != l || h->heavy != (k < at->slice + at->heavy))
      return FAULT(c, "level or weight of slice %d", k);
  }
  const trs_slice *first = &c->s->slice[at->slice];
  if (first->entries != at->entries || first->first != at->position ||
      c->s->chunk[at->chunk] != at->slice)
    return FAULT(c, "where level %d begins", l);
  return true;
}

static bool check_levels(checked *c) {
  const trs_slice_level *end = &c->s->level[c->s->nlevels];
  for (int32_t l = 0; l < c->s->nlevels; l++)
    if (!check_level(c, l)) return false;
  if (end->entries != c->s->entries || end->slice != c->s->nslices || end->chunk != c->s->nchunks ||
      end->position != c->S->n)
    return FAULT(c, "the end of levels");
  return true;
}

/* Chunks cover the slices; a heavy slice is alone. */
static bool check_chunks(checked *c) {
  if (c->s->chunk[0] != 0 || c->s->chunk[c->s->nchunks] != c->s->nslices)
    return FAULT(c, "the first or last chunk");
  for (int32_t k = 0; k < c->s->nchunks; k++) {
    int32_t begin = c->s->chunk[k], count = c->s->chunk[k + 1] - begin;
    if (count < 1 || count > TRS_CHUNK_SLICES) return FAULT(c, "chunk %d", k);
    for (int32_t j = begin; j < begin + count; j++) {
      const trs_slice *h = &c->s->slice[j];
      if (h->heavy && count > 1) return FAULT(c, "chunk %d is heavy", k);
      if (h->level != c->s->slice[begin].level) return FAULT(c, "levels of chunk %d", k);
      for (int32_t r = 0; r < h->rows && !trs_slice_is_part(h); r++) {
        c->slice_of[h->first + r] = j;
        c->ticket[h->first + r] = k;
      }
    }
  }
  return true;
}

static bool check_rows(checked *c) {
  for (int64_t i = 0; i < c->S->n; i++) c->position[i] = -1;
  for (int32_t k = 0; k < c->S->n; k++) {
    int32_t row = c->s->row[k];
    if (row < 0 || row >= c->S->n || c->position[row] >= 0) return FAULT(c, "row %d", row);
    c->position[row] = k;
  }
  return true;
}

/* An entry: of a lower level, else inside the block. */
static bool check_dependency(checked *c, int32_t position, int32_t other, int64_t distance,
                             bool inside) {
  if (!inside)
    return c->ticket[other] < c->ticket[position] &&
           c->s->slice[c->slice_of[other]].level < c->s->slice[c->slice_of[position]].level;
  return other == position - distance && c->slice_of[other] == c->slice_of[position] &&
         distance < c->s->slice[c->slice_of[position]].block;
}

/* The row's entries in the order of the sweep: first those outside its block, by lane, then those
 * inside, which the slice does not contain. */
static bool check_entries(checked *c, int32_t position) {
  const trs_system *S = c->S;
  const trs_slice *last = &c->s->slice[c->slice_of[position]], *h = last - last->parts;
  size_t size = trs_scalar_size(S->scalar);
  int64_t i = c->s->row[position], begin, end, lanes = (int64_t)1 << h->log_lanes;
  int64_t lane = (int64_t)(position - h->first) * lanes, e = 0, count, slots;
  trs_off_diagonal(S, i, S->lower, S->has_diagonal, &begin, &end);
  count = end - begin;
  slots = (last->parts * (int64_t)TRS_PART_WIDTH + last->width) * lanes;
  for (bool inside = false; e < count || e < slots; e++) {
    int64_t at = h->entries + e / lanes * trs_slice_stride(h) + lane + e % lanes;
    int32_t idx = e < slots ? c->s->idx[at] : -1;
    inside = inside || idx < 0;
    if (e >= count ? idx >= 0 : (inside && idx >= 0)) return FAULT(c, "padding of row %d", (int)i);
    if (e >= count) continue;
    int64_t p = S->lower ? begin + e : end - 1 - e, other = c->position[S->idx[p]];
    if (!inside && (idx != other || memcmp((const char *)c->s->val + at * size,
                                           (const char *)S->val + p * size, size)))
      return FAULT(c, "entry %d of row %d", (int)e, (int)i);
    if (!check_dependency(c, position, (int32_t)other, llabs(i - S->idx[p]), inside))
      return FAULT(c, "row %d cannot wait for row %d", (int)i, S->idx[p]);
  }
  return true;
}

/* The fewest lanes that the rules allow; an early poll of an earlier row. */
static bool check_choices(checked *c, int32_t k) {
  const trs_slice *h = &c->s->slice[k];
  const trs_slice_level *at = &c->s->level[h->level];
  int32_t rows = at[1].position - at->position;
  int32_t each =
      rows >= c->rules.large_level_rows ? c->rules.large_level_lane_length : c->rules.lane_length;
  int32_t most = h->block ? trs_most_lanes(trs_block_class(h->block)) : 0;
  if (h->block > c->rules.most_block) return FAULT(c, "the block of slice %d", k);
  if (!h->heavy && h->width > each && h->log_lanes < most) return FAULT(c, "lanes of slice %d", k);
  if (!h->heavy && h->log_lanes > 0 && h->width << 1 <= each >> 1)
    return FAULT(c, "too many lanes in slice %d", k);
  if ((h->early_poll < 0) != (c->rules.early_poll == 0 || h->level < c->rules.early_poll))
    return FAULT(c, "whether slice %d polls early", k);
  if (h->early_poll >= 0 &&
      c->s->slice[c->slice_of[h->early_poll]].level != h->level - c->rules.early_poll)
    return FAULT(c, "the early poll of slice %d", k);
  return true;
}

static bool check_all(checked *c) {
  if (!check_slices(c) || !check_levels(c) || !check_chunks(c) || !check_rows(c)) return false;
  for (int32_t k = 0; k < c->S->n; k++)
    if (!check_entries(c, k)) return false;
  for (int32_t k = 0; k < c->s->nslices; k++)
    if (!check_choices(c, k)) return false;
  return true;
}

/* The first fault of a plan, or "". */
static const char *fault_of(const trs_slices *s, const trs_system *S,
                            const trs_slice_rules *rules) {
  static char fault[200];
  checked c = {.S = S, .s = s, .rules = *rules};
  size_t bytes = (size_t)(S->n + 1) * sizeof *c.position;
  c.position = malloc(bytes);
  c.slice_of = malloc(bytes);
  c.ticket = malloc(bytes);
  check_all(&c);
  memcpy(fault, c.fault, sizeof fault);
  free(c.position);
  free(c.slice_of);
  free(c.ticket);
  return fault;
}

/* ---- The interpreter: doubles; all bits set: pending. ---- */

enum { MOST_TURNS = 4000000 /* per wait; more is a stall */, MOST_LANES = 2 * TRS_SLICE_LANES };

typedef struct interpreter {
  const trs_slices *s;
  const double *b;
  double *x;
  carried *work, *parts;
  atomic_int ticket;
  atomic_bool stalled;
  int most_turns;
} interpreter;

static double value_of(interpreter *in, const carried *from) {
  return await(from, in->most_turns, &in->stalled);
}

static double lane_sum(interpreter *in, const trs_slice *h, int lane) {
  double sum = 0;
  for (int32_t k = 0; k < h->width && lane < trs_slice_stride(h); k++) {
    int64_t at = h->entries + (int64_t)k * trs_slice_stride(h) + lane;
    if (in->s->idx[at] >= 0)
      sum += ((const double *)in->s->val)[at] * value_of(in, &in->work[in->s->idx[at]]);
  }
  for (int32_t p = 0; p < h->parts; p++)
    sum += value_of(in, &in->parts[(int64_t)(h->part + p) * MOST_LANES + lane]);
  return sum;
}

static void solve_slice(interpreter *in, const trs_slice *h) {
  double sum[MOST_LANES], residual[MOST_LANES];
  if (h->early_poll >= 0) (void)value_of(in, &in->work[h->early_poll]);
  for (int lane = 0; lane < MOST_LANES; lane++) sum[lane] = lane_sum(in, h, lane);
  for (int lane = 0; lane < MOST_LANES && trs_slice_is_part(h); lane++)
    publish(&in->parts[(int64_t)h->part * MOST_LANES + lane], sum[lane]);
  if (trs_slice_is_part(h)) return;
  for (int r = 0; r < h->rows; r++) residual[r] = in->b[in->s->row[h->first + r]];
  subtract_lanes(residual, h, sum);
  for (int r = 0; r < h->rows; r++) {
    const double x = apply_inverse(in->s->inverse, h, residual, r);
    in->x[in->s->row[h->first + r]] = x;
    publish(&in->work[h->first + r], x);
  }
}

static void work_on_chunks(void *argument, int rank, int size) {
  interpreter *in = argument;
  (void)rank;
  (void)size;
  for (int chunk; (chunk = atomic_fetch_add(&in->ticket, 1)) < in->s->nchunks;)
    for (int32_t k = in->s->chunk[chunk]; k < in->s->chunk[chunk + 1]; k++)
      solve_slice(in, &in->s->slice[k]);
}

/* false: a wait passed its limit. */
static bool interpret(const trs_slices *s, double *x, const double *b, trs_team *team, int threads,
                      int most_turns) {
  interpreter in = {.s = s, .b = b, .x = x, .most_turns = most_turns};
  int64_t parts = (int64_t)s->nparts * MOST_LANES;
  in.work = malloc((size_t)(s->n + 1) * sizeof *in.work);
  in.parts = malloc((size_t)(parts + 1) * sizeof *in.parts);
  for (int64_t k = 0; k < s->n; k++) atomic_init(&in.work[k], EMPTY);
  for (int64_t k = 0; k < parts; k++) atomic_init(&in.parts[k], EMPTY);
  trs_team_run(team, threads, work_on_chunks, &in);
  free(in.work);
  free(in.parts);
  return !atomic_load(&in.stalled);
}

/* ---- Tests. ---- */

enum { TEAM = 4, ROWS = 700, FEW_ROWS = 97 };

static void need_sound(const trs_slices *s, const trs_system *S, const trs_slice_rules *rules,
                       const char *name) {
  const char *fault = fault_of(s, S, rules);
  if (*fault)
    fail_msg("%s, n %d, lower %d, block %d, dense %d: %s", name, (int)S->n, S->lower,
             rules->most_block, rules->dense, fault);
}

static void plan_is_sound(shape kind, const trs_system *S, int number) {
  (void)number;
  for (size_t r = 0; r < 2 * SHAPE_RULES; r++) {
    trs_slices s;
    trs_slice_rules rules = shape_rules[r / 2];
    rules.wide = r % 2;
    assert_success(shape_slices(&s, S, &rules));
    need_sound(&s, S, &rules, shape_name(kind));
    trs_slices_destroy(&s);
  }
}

TEST(plans_are_sound) {
  static const int64_t sizes[] = {0, 1, 2, 33, FEW_ROWS, ROWS};
  shapes_of_sizes(sizes, COUNT(sizes), plan_is_sound);
}

/* Blocks that begin where the caller says, whose rows need not depend on each other. */
static void boxes_are_sound_too(shape kind, const trs_system *S, int number) {
  const trs_box_classes classes[] = {{2, 8}, {8, 37}, {32, 200}};
  boxed b = boxed_of(S, classes[number % 3]);
  for (int most = 2; most <= TRS_LIGHT_BLOCK; most += 3) {
    trs_slice_rules rules = shape_rules[8];
    trs_slices s;
    int64_t refused;
    rules.most_block = most;
    rules.loose = 1;
    assert_success(shape_slices_cut(&s, &b.joint, &rules, b.starts, NULL, &refused));
    need_sound(&s, &b.joint, &rules, shape_name(kind));
    trs_slices_destroy(&s);
  }
  boxed_free(&b);
}

TEST(boxes_are_sound) {
  static const int64_t sizes[] = {0, 1, 2, 33, FEW_ROWS, ROWS};
  shapes_of_sizes(sizes, COUNT(sizes), boxes_are_sound_too);
}

/* Without blocks a row's level is its level set. */
TEST(levels_are_level_sets) {
  for (shape kind = 0; kind < SHAPES; kind++) {
    trs_system S = shape_system(kind, ROWS, TRS_DOUBLE, kind % 2, true);
    trs_slices s;
    trs_levels levels;
    assert_success(shape_slices(&s, &S, &shape_rules[0]));
    assert_success(trs_levels_create(&levels, &S));
    assert_int_equal(s.nlevels, levels.count);
    for (int32_t k = 0; k < s.nslices; k++)
      for (int32_t r = 0; r < s.slice[k].rows; r++)
        assert_int_equal(s.slice[k].level, levels.level[s.row[s.slice[k].first + r]]);
    trs_levels_destroy(&levels);
    trs_slices_destroy(&s);
    shape_free(&S);
  }
}

static trs_matrix *matrix_of(const trs_system *S) {
  trs_matrix *A;
  assert_success(trs_matrix_create(&A, TRS_CSR, S->scalar, S->n, S->n, TRS_PTR64, S->ptr, S->idx,
                                   S->val, TRS_BORROW));
  return A;
}

static void solve_serially(const trs_system *S, const trs_matrix *A, double *x, const double *b) {
  trs_context *ctx;
  trs_plan *plan;
  assert_success(trs_context_create(&ctx, "serial"));
  assert_success(trs_analyze(&plan, ctx, A, S->lower ? TRS_LOWER : TRS_UPPER, TRS_NO_TRANS,
                             S->unit ? TRS_UNIT : TRS_NONUNIT, NULL));
  assert_success(trs_solve(plan, x, S->n, b, S->n, 1, TRS_COL_MAJOR));
  trs_plan_destroy(plan);
  trs_context_destroy(ctx);
}

static void need_solution(const trs_slices *s, const trs_system *S, trs_team *team, int threads,
                          const char *name) {
  double *b = malloc((size_t)S->n * sizeof *b), *x = calloc((size_t)S->n, sizeof *x);
  double *y = malloc((size_t)S->n * sizeof *y), largest = 0, off = 0;
  trs_matrix *A = matrix_of(S);
  trs_random_fill(b, S->n, TRS_DOUBLE, 7);
  solve_serially(S, A, y, b);
  if (!interpret(s, x, b, team, threads, MOST_TURNS)) fail_msg("%s: stalled", name);
  for (int64_t i = 0; i < S->n; i++) {
    largest = fmax(largest, fabs(y[i]));
    off = fmax(off, fabs(x[i] - y[i]));
  }
  if (!(off <= (double)S->n * scalar_eps(TRS_DOUBLE) * largest))
    fail_msg("%s: %g of %g from the serial method's solution", name, off, largest);
  trs_matrix_destroy(A);
  free(b);
  free(x);
  free(y);
}

TEST(threads_solve_by_the_plan) {
  trs_team *team;
  assert_success(trs_team_create(&team, TEAM));
  for (shape kind = 0; kind < SHAPES; kind++)
    for (int way = 0; way < 4; way++) {
      trs_system S = shape_system(kind, ROWS, TRS_DOUBLE, way & 1, way & 2);
      for (size_t r = 0; r < SHAPE_RULES; r++) {
        trs_slices s;
        trs_slice_rules rules = shape_rules[r];
        rules.wide = (r + (size_t)way) % 2;
        assert_success(shape_slices(&s, &S, &rules));
        need_solution(&s, &S, team, r % 3 == 0 ? 1 : TEAM, shape_name(kind));
        trs_slices_destroy(&s);
      }
      shape_free(&S);
    }
  trs_team_destroy(team);
}

/* Rows long enough for parts: whether these exist is checked too. */
TEST(long_rows_have_parts) {
  enum { MANY_ROWS = 6000 };
  trs_system S = shape_system(SHAPE_LAST_ROW, MANY_ROWS, TRS_DOUBLE, true, true);
  trs_team *team;
  assert_success(trs_team_create(&team, TEAM));
  for (size_t r = 0; r < 2; r++) {
    trs_slices s;
    assert_success(shape_slices(&s, &S, &shape_rules[r]));
    assert_int_equal(s.nparts, (MANY_ROWS - 2) / (TRS_PART_WIDTH * TRS_SLICE_LANES));
    need_sound(&s, &S, &shape_rules[r], "last row");
    need_solution(&s, &S, team, TEAM, "last row");
    trs_slices_destroy(&s);
  }
  trs_team_destroy(team);
  shape_free(&S);
}

/* ---- Chains: the lines of grids. ---- */

/* Levels of the lower triangle of a grid with lines of `line` rows. */
static int32_t levels_of_grid(const char *grid, int line, const trs_slice_rules *rules) {
  char name[40];
  trs_matrix *A, *T;
  trs_slices s;
  snprintf(name, sizeof name, "gen:%s:%d", grid, line);
  assert_success(trs_matrix_read(&A, name, NULL));
  assert_success(trs_matrix_triangle(&T, A, TRS_LOWER, 1));
  trs_system S = trs_system_of(T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT);
  assert_success(shape_slices(&s, &S, rules));
  need_sound(&s, &S, rules, name);
  int32_t levels = s.nlevels;
  trs_slices_destroy(&s);
  trs_matrix_destroy(T);
  trs_matrix_destroy(A);
  return levels;
}

/* The blocks of a line begin with its first row, not with a window's.  Lengths that four divides
 * have no fewer levels for their length than others, also where a line is longer than a window. */
TEST(no_length_of_lines_is_favoured) {
  enum { MOST_LENGTHS = 8, NEXT = 3 };
  static const trs_slice_rules chains = {4, 0, 4, 16, 16384, 32, 32, 0, 2, 0, 0};
  static const struct {
    const char *grid;
    int line, lengths;
  } cases[] = {{"poisson3d7", 20, 8}, {"poisson2d5", 60, 8}, {"poisson2d5", 300, 4}};
  assert_true(cases[2].line > TRS_BLOCK_WINDOW);
  for (size_t c = 0; c < COUNT(cases); c++) {
    double per_row[MOST_LENGTHS];
    for (int k = 0; k < cases[c].lengths; k++) {
      int line = cases[c].line + k;
      int32_t levels = levels_of_grid(cases[c].grid, line, &chains);
      if (levels > levels_of_grid(cases[c].grid, line, &shape_rules[0]))
        fail_msg("%s:%d: %d levels, more than of single rows", cases[c].grid, line, levels);
      per_row[k] = (double)levels / line;
      for (int j = k > NEXT ? k - NEXT : 0; j < k; j++)
        if (fabs(per_row[k] / per_row[j] - 1) > 0.1)
          fail_msg("%s: %g levels per row of a line of %d, %g of %d", cases[c].grid, per_row[k],
                   line, per_row[j], line - k + j);
    }
  }
}

/* ---- Blocks whose inverses lose digits. ---- */

/* Componentwise. */
static double backward_error(const trs_system *S, const double *x, const double *b) {
  const double *val = S->val;
  double most = 0;
  for (int64_t i = 0; i < S->n; i++) {
    long double left = b[i], scale = fabs(b[i]);
    for (int64_t p = S->ptr[i]; p < S->ptr[i + 1]; p++) {
      left -= (long double)val[p] * x[S->idx[p]];
      scale += fabsl((long double)val[p] * x[S->idx[p]]);
    }
    const double error = scale > 0 ? (double)(fabsl(left) / scale) : 0;
    if (!(error <= most)) most = error;
  }
  return most;
}

/* Of a solve by these slices, for the right-hand side of a random solution. */
static double error_of(const trs_slices *s, const trs_system *S) {
  double *b = calloc((size_t)S->n, sizeof *b), *x = malloc((size_t)S->n * sizeof *x);
  trs_random_fill(x, S->n, TRS_DOUBLE, 7);
  for (int64_t i = 0; i < S->n; i++)
    for (int64_t p = S->ptr[i]; p < S->ptr[i + 1]; p++)
      b[i] += ((const double *)S->val)[p] * x[S->idx[p]];
  assert_true(interpret(s, x, b, NULL, 1, MOST_TURNS));
  const double error = backward_error(S, x, b);
  free(b);
  free(x);
  return error;
}

TEST(good_inverses_are_kept) {
  for (shape kind = 0; kind < SHAPES; kind++)
    for (size_t r = 0; r < SHAPE_RULES; r++) {
      trs_system S = shape_system(kind, FEW_ROWS, (trs_scalar)(TRS_FLOAT + r % 4), kind % 2, true);
      uint8_t cut[FEW_ROWS] = {0};
      trs_slices s;
      int64_t refused;
      assert_success(shape_slices_cut(&s, &S, &shape_rules[r], NULL, cut, &refused));
      assert_int_equal(refused, 0);
      for (int k = 0; k < FEW_ROWS; k++) assert_int_equal(cut[k], 0);
      trs_slices_destroy(&s);
      shape_free(&S);
    }
}

/* Boxes whose inverses lose digits are cut as other blocks are. */
TEST(boxes_are_accurate) {
  const trs_box_classes classes = {8, 200};
  trs_slice_rules rules = shape_rules[8];
  int cuts = 0;
  rules.loose = 1;
  for (shape kind = 0; kind < SHAPES; kind++)
    for (int weak = 0; weak < 2; weak++) {
      trs_system S = shape_system(kind, ROWS, TRS_DOUBLE, kind % 2, true);
      if (weak) shape_weaken(&S);
      boxed b = boxed_of(&S, classes);
      trs_slices s;
      int64_t refused, again;
      assert_success(shape_slices_cut(&s, &b.joint, &rules, b.starts, b.starts, &refused));
      if (refused) {
        trs_slices_destroy(&s);
        assert_success(shape_slices_cut(&s, &b.joint, &rules, b.starts, NULL, &again));
        assert_int_equal(again, 0);
      }
      assert_true(error_of(&s, &b.joint) < 1e-12);
      cuts += refused > 0;
      trs_slices_destroy(&s);
      boxed_free(&b);
      shape_free(&S);
    }
  assert_true(cuts > 4);
}

/* The second cut is sound, keeps every block that was good, refuses none, and is accurate. */
static void cut_and_check(const trs_system *S, const trs_slice_rules *rules, const char *name,
                          int *cuts, double *worst) {
  uint8_t cut[ROWS] = {0};
  trs_slices before, after;
  int64_t refused, again;
  assert_success(shape_slices_cut(&before, S, rules, NULL, cut, &refused));
  assert_success(shape_slices_cut(&after, S, rules, cut, NULL, &again));
  need_sound(&after, S, rules, name);
  assert_int_equal(again, 0);
  assert_true(refused ? after.nblocks > before.nblocks : after.nblocks == before.nblocks);
  if (S->scalar == TRS_DOUBLE) {
    *worst = fmax(*worst, error_of(&before, S));
    assert_true(error_of(&after, S) < 1e-12);
  }
  *cuts += refused > 0;
  trs_slices_destroy(&before);
  trs_slices_destroy(&after);
}

TEST(other_inverses_are_cut) {
  double worst = 0;
  int cuts = 0;
  for (shape kind = 0; kind < SHAPES; kind++)
    for (int c = 0; c < 8; c++) {
      trs_system S = shape_system(kind, ROWS, (trs_scalar)(TRS_FLOAT + c % 4), c / 4, true);
      shape_weaken(&S);
      for (size_t r = 0; r < SHAPE_RULES; r++)
        cut_and_check(&S, &shape_rules[r], shape_name(kind), &cuts, &worst);
      shape_free(&S);
    }
  assert_true(cuts > 200);
  assert_true(worst > 1e-9); /* of slices that keep all inverses */
}

/* ---- Damaged plans. ---- */

/* The first slice from the middle on whose level ends with it, but not the last level. */
static int32_t last_of_a_level(const trs_slices *s) {
  int32_t k = s->nslices / 2;
  while (s->slice[k].level == s->slice[k + 1].level) k++;
  return k;
}

/* An entry of a slice from the middle on; its index. */
static int32_t *some_entry(const trs_slices *s) {
  int64_t at = s->slice[s->nslices / 2].entries;
  while (s->idx[at] < 0) at++;
  return &s->idx[at];
}

static void solve_too_early(trs_slices *s) {
  int32_t k = last_of_a_level(s);
  trs_slice first = s->slice[k];
  s->slice[k] = s->slice[k + 1];
  s->slice[k + 1] = first;
}
static void read_what_comes_later(trs_slices *s) { *some_entry(s) = (int32_t)s->n - 1; }
static void read_another(trs_slices *s) { (*some_entry(s))--; }
static void change_a_value(trs_slices *s) { ((double *)s->val)[some_entry(s) - s->idx] *= 2; }
static void poll_itself(trs_slices *s) {
  s->slice[s->nslices / 2].early_poll = s->slice[s->nslices / 2].first;
}
static void mix_levels(trs_slices *s) {
  int32_t next = last_of_a_level(s) + 1, chunk = 0;
  while (s->chunk[chunk] < next) chunk++;
  s->chunk[chunk]++;
}
static void solve_a_row_twice(trs_slices *s) { s->row[s->n / 2] = s->row[s->n / 2 - 1]; }

TEST(damaged_plans_are_found_out) {
  enum { FEW_TURNS = 1000 };
  static const struct {
    const char *name;
    void (*damage)(trs_slices *s);
    bool stalls, solves; /* solves: the solution is right all the same */
  } cases[] = {{"solve too early", solve_too_early, true, false},
               {"read what comes later", read_what_comes_later, true, false},
               {"poll itself", poll_itself, true, false},
               {"read another", read_another, false, false},
               {"change a value", change_a_value, false, false},
               {"solve a row twice", solve_a_row_twice, false, false},
               {"mix levels", mix_levels, false, true}};
  trs_system S = shape_system(SHAPE_GRID, ROWS, TRS_DOUBLE, true, true);
  double *b = malloc((size_t)S.n * sizeof *b), *x = calloc((size_t)S.n, sizeof *x);
  double *y = malloc((size_t)S.n * sizeof *y);
  trs_random_fill(b, S.n, TRS_DOUBLE, 7);
  for (size_t c = 0; c < COUNT(cases); c++) {
    trs_slices s;
    assert_success(shape_slices(&s, &S, &shape_rules[0]));
    assert_true(interpret(&s, y, b, NULL, 1, FEW_TURNS));
    assert_string_equal(fault_of(&s, &S, &shape_rules[0]), "");
    cases[c].damage(&s);
    if (!*fault_of(&s, &S, &shape_rules[0])) fail_msg("%s: not found", cases[c].name);
    bool ends = interpret(&s, x, b, NULL, 1, FEW_TURNS);
    bool solves = ends && memcmp(x, y, (size_t)S.n * sizeof *x) == 0;
    if (ends == cases[c].stalls || solves != cases[c].solves)
      fail_msg("%s: ends %d, solves %d", cases[c].name, ends, solves);
    trs_slices_destroy(&s);
  }
  free(b);
  free(x);
  free(y);
  shape_free(&S);
}

TEST(lost_parts_are_found_out) {
  enum { MANY_ROWS = 4500 };
  trs_system S = shape_system(SHAPE_LAST_ROW, MANY_ROWS, TRS_FLOAT, false, true);
  trs_slices s;
  assert_success(shape_slices(&s, &S, &shape_rules[0]));
  assert_string_equal(fault_of(&s, &S, &shape_rules[0]), "");
  s.slice[s.nslices - 1].parts--;
  assert_string_not_equal(fault_of(&s, &S, &shape_rules[0]), "");
  trs_slices_destroy(&s);
  shape_free(&S);
}

/* ---- Memory. ---- */

TEST(every_allocation_may_fail) {
  trs_system S = shape_system(SHAPE_NODES, FEW_ROWS, TRS_DOUBLE, true, true);
  trs_slices s;
  int64_t before, after, peak, n = 0;
  trs_memory_usage(&before, &peak);
  for (trs_status status = TRS_ERROR_MEMORY; status; n++) {
    trs_memory_fail_after(n);
    status = shape_slices(&s, &S, &shape_rules[4]);
    trs_memory_fail_after(-1);
    if (status) assert_int_equal(status, TRS_ERROR_MEMORY);
    if (!status) trs_slices_destroy(&s);
    trs_memory_usage(&after, &peak);
    assert_int_equal(before, after);
  }
  assert_true(n > 8);
  shape_free(&S);
}
