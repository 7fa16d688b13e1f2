/* solve.c - complete solves of `push` with a stand-in for GPUs, in which every member is a thread:
 * its analysis, the data it sends, its launches.  A wrong list of pushes, waits or words to empty
 * gives a wrong x or a stall. */
#include <math.h>

#include "counters.h"
#include "analysis/shapes.h"
#include "base/memory.h"
#include "base/random.h"
#include "comm/group.h"
#include "device_stand_in.h"
#include "matrix/matrix.h"
#include "matrix/rhs.h"
#include "solve/multigpu/push_break.h"
#include "solve/multigpu/push_stand_in.h"
#include "solve/multigpu/push_state.h"
#include "support.h"
#include "test.h"

enum { MOST = 8 };

static trs_context *context_of(const char *where) {
  trs_context *context;
  assert_success(trs_context_create(&context, where));
  return context;
}

static trs_matrix *triangle_of(const char *what, trs_uplo uplo) {
  trs_matrix *A, *T;
  assert_success(trs_matrix_read(&A, what, NULL));
  assert_success(trs_matrix_triangle(&T, A, uplo, 1));
  trs_matrix_destroy(A);
  return T;
}

static void make_plan(trs_plan *plan, trs_context *context, trs_matrix *T, trs_uplo uplo,
                      const char *parameters) {
  const trs_options options = {.struct_size = sizeof(trs_options), .method = "push"};
  assert_success(push_plan(plan, context, T, uplo, &options, parameters));
}

static void drop(trs_plan *plan) { trs_method_push.free(plan); }

/* ---- Solves, checked by their results ---- */

typedef struct vectors {
  double *x, *b;
  int64_t n, nrhs, ldx, ldb;
  trs_layout layout;
} vectors;

static vectors make_vectors(int64_t n, int64_t nrhs, int64_t ldx, int64_t ldb, trs_layout layout,
                            uint64_t seed) {
  vectors v = {.n = n, .nrhs = nrhs, .ldx = ldx, .ldb = ldb, .layout = layout};
  const int64_t count = layout == TRS_COL_MAJOR ? nrhs : n;
  v.x = malloc((size_t)(ldx * count) * sizeof *v.x + 1);
  v.b = malloc((size_t)(ldb * count) * sizeof *v.b + 1);
  trs_random_fill(v.b, ldb * count, TRS_DOUBLE, seed);
  for (int64_t k = 0; k < ldx * count; k++) v.x[k] = NAN;
  return v;
}

static void free_vectors(vectors *v) {
  free(v->x);
  free(v->b);
}

static trs_rhs rhs_of(const vectors *v) {
  trs_rhs rhs;
  assert_success(
      trs_rhs_make(&rhs, v->n, TRS_DOUBLE, v->x, v->ldx, v->b, v->ldb, v->nrhs, v->layout));
  return rhs;
}

static double error_of(const trs_plan *plan, const vectors *v) {
  trs_backward_error error = {.struct_size = sizeof error};
  assert_success(trs_check(&error, plan->matrix, plan->uplo, TRS_NO_TRANS, TRS_NONUNIT, v->x,
                           v->ldx, v->b, v->ldb, v->nrhs, v->layout));
  return error.componentwise;
}

/* Several solves in sequence, each with another b. */
static void solve_often(trs_plan *plan, int64_t nrhs, int times, const char *what) {
  for (int turn = 0; turn < times; turn++) {
    const int64_t n = plan->system.n;
    vectors v = make_vectors(n, nrhs, n, n, TRS_COL_MAJOR, 5 + (uint64_t)turn);
    const trs_rhs rhs = rhs_of(&v);
    assert_success(trs_method_push.solve(plan, &rhs));
    const double error = error_of(plan, &v);
    if (!(error <= error_limit(TRS_DOUBLE, n)))
      fail_msg("%s, %d right-hand sides, solve %d: error %g", what, (int)nrhs, turn, error);
    free_vectors(&v);
  }
}

/* ---- Tests ---- */

static const char *const partitions[] = {"", "partition=bands", "partition=slabs",
                                         "partition=slabs,members=2"};

/* partitions, and rows substituted in slabs. */
static const char *const ways[] = {"",
                                   "partition=bands",
                                   "partition=slabs",
                                   "partition=slabs,members=2",
                                   "substitute=2",
                                   "partition=slabs,substitute=12",
                                   "substitute=64,members=2"};

/* Blocks whose inverses lose digits are cut: after the analysis, and after an update. */
static void cut_weak_blocks(const char *where, const char *partition, bool by_update) {
  trs_system S = shape_system(SHAPE_SUPERNODES, 400, TRS_DOUBLE, true, true);
  trs_context *context = context_of(where);
  const trs_options options = {.struct_size = sizeof(trs_options), .method = "push", .nrhs = 1};
  trs_matrix *T;
  trs_plan plan;
  char text[1024];
  if (!by_update) shape_weaken(&S);
  assert_success(trs_matrix_create(&T, TRS_CSR, TRS_DOUBLE, S.n, S.n, TRS_PTR64, S.ptr, S.idx,
                                   S.val, TRS_BORROW));
  assert_success(push_plan(&plan, context, T, TRS_LOWER, &options, partition));
  trs_method_push.describe(&plan, text, sizeof text);
  assert_true(by_update != (strstr(text, "blocks cut") != NULL));
  if (by_update) {
    shape_weaken(&S);
    assert_success(trs_method_push.update(&plan));
    trs_method_push.describe(&plan, text, sizeof text);
    assert_non_null(strstr(text, "blocks cut"));
  }
  vectors v = make_vectors(S.n, 1, S.n, S.n, TRS_COL_MAJOR, 5);
  memset(v.b, 0, (size_t)S.n * sizeof *v.b); /* of a random solution */
  for (int64_t i = 0; i < S.n; i++)
    for (int64_t p = S.ptr[i]; p < S.ptr[i + 1]; p++)
      v.b[i] += ((const double *)S.val)[p] * trs_random_signed(3, (uint64_t)S.idx[p]);
  const trs_rhs rhs = rhs_of(&v);
  assert_success(trs_method_push.solve(&plan, &rhs));
  assert_true(error_of(&plan, &v) < 1e-12);
  free_vectors(&v);
  drop(&plan);
  trs_matrix_destroy(T);
  trs_context_destroy(context);
  shape_free(&S);
}

TEST(weak_blocks_are_cut) {
  for (size_t p = 0; p < COUNT(partitions); p++)
    for (int k = 0; k < 4; k++)
      cut_weak_blocks(k / 2 ? "cuda:0-3" : "cuda:0-1", partitions[p], k % 2);
  assert_int_equal(stand_in_held(), 0);
}

static void solve_shape(shape kind, const char *where, const char *partition, bool lower,
                        int64_t nrhs) {
  trs_system S = shape_system(kind, 400, TRS_DOUBLE, lower, true);
  trs_context *context = context_of(where);
  const trs_options options = {.struct_size = sizeof(trs_options), .method = "push", .nrhs = nrhs};
  trs_matrix *T;
  trs_plan plan;
  assert_success(trs_matrix_create(&T, TRS_CSR, TRS_DOUBLE, S.n, S.n, TRS_PTR64, S.ptr, S.idx,
                                   S.val, TRS_BORROW));
  assert_success(push_plan(&plan, context, T, lower ? TRS_LOWER : TRS_UPPER, &options, partition));
  solve_often(&plan, nrhs, 4, shape_name(kind)); /* the fourth uses the third of the first again */
  solve_often(&plan, 1, 1, shape_name(kind));
  drop(&plan);
  trs_matrix_destroy(T);
  trs_context_destroy(context);
  shape_free(&S);
}

TEST(every_way_solves) {
  static const char *const contexts[] = {"cuda:0-1", "cuda:0-2", "cuda:0-7", "cuda:0,1,0"};
  static const int64_t columns[] = {1, 3, MOST, MOST + 3};
  int c = 0;
  for (shape kind = 0; kind < SHAPES; kind++)
    for (size_t k = 0; k < COUNT(ways); k++, c++)
      for (int w = SANITIZED ? (c + 3 * (c / 4)) % 4 : c % 2; w < 4; w += SANITIZED ? 4 : 2)
        solve_shape(kind, contexts[w], ways[k], c / 2 % 2, columns[(c + c / 4) % 4]);
  assert_int_equal(stand_in_held(), 0);
}

TEST(counters_pass_32_bits) {
  for (int k = 0; k < COUNTER_BEGINS; k++)
    for (shape kind = 0; kind < SHAPES; kind++) {
      trs_counters_begin = counter_begins[k];
      solve_shape(kind, "cuda:0-2", partitions[kind % COUNT(partitions)], k % 2, 1 + 2 * k);
    }
  trs_counters_begin = 0;
}

/* Levels so large that each has a launch of its own; no row of its own member waits for it. */
TEST(large_levels_have_launches_of_their_own) {
  trs_context *context = context_of("cuda:0-1");
  trs_matrix *T = triangle_of("gen:kkt3d:52", TRS_LOWER);
  const int64_t not_before = push_launches[TRS_PUSH_WAITS_NOT];
  const int64_t early_before = push_launches[TRS_PUSH_WAITS_EARLY];
  trs_plan plan;
  make_plan(&plan, context, T, TRS_LOWER, "");
  solve_often(&plan, 1, 4, "kkt3d");
  assert_true(push_launches[TRS_PUSH_WAITS_NOT] > not_before);
  assert_true(push_launches[TRS_PUSH_WAITS_EARLY] > early_before);
  drop(&plan);
  trs_matrix_destroy(T);
  trs_context_destroy(context);
}

/* Members that do not empty a solve's words: if this passes, the interpreter detects nothing. */
TEST(what_is_not_emptied_is_found_out) {
  trs_context *context = context_of("cuda:0-1");
  trs_matrix *T = triangle_of("gen:random:4000,9", TRS_LOWER);
  trs_plan plan;
  double worst = 0;
  make_plan(&plan, context, T, TRS_LOWER, "partition=bands");
  push_keeps = true;
  for (int turn = 0; turn < 20 && worst < 1e-6; turn++) {
    vectors v = make_vectors(T->nrows, 1, T->nrows, T->nrows, TRS_COL_MAJOR, 3 + (uint64_t)turn);
    const trs_rhs rhs = rhs_of(&v);
    assert_success(trs_method_push.solve(&plan, &rhs));
    worst = error_of(&plan, &v);
    free_vectors(&v);
  }
  push_keeps = false;
  assert_true(worst > 1e-6);
  drop(&plan);
  trs_matrix_destroy(T);
  trs_context_destroy(context);
}

TEST(every_layout_goes_through_the_stage) {
  trs_context *context = context_of("cuda:0-2");
  trs_matrix *T = triangle_of("gen:poisson2d5:20", TRS_LOWER);
  const int64_t n = T->nrows;
  trs_plan plan;
  make_plan(&plan, context, T, TRS_LOWER, "");
  for (int layout = 0; layout < 2; layout++)
    for (int64_t nrhs = 1; nrhs <= 3; nrhs++)
      for (int pad = 0; pad < 4; pad++) {
        const int64_t least = layout ? nrhs : n;
        vectors v = make_vectors(n, nrhs, least + pad % 2, least + pad / 2 * 2,
                                 layout ? TRS_ROW_MAJOR : TRS_COL_MAJOR, 9);
        const trs_rhs rhs = rhs_of(&v);
        assert_success(trs_method_push.solve(&plan, &rhs));
        assert_true(error_of(&plan, &v) <= error_limit(TRS_DOUBLE, n));
        free_vectors(&v);
      }
  drop(&plan);
  trs_matrix_destroy(T);
  trs_context_destroy(context);
}

/* One member has all rows without dependencies, the other all rows that no row depends on; and the
 * reverse. */
TEST(members_of_sources_and_of_sinks) {
  enum { SOURCES = 120, SINKS = 100, ROWS = SOURCES + SINKS }; /* of equal weight */
  int64_t ptr[ROWS + 1];
  int32_t idx[SOURCES + 2 * SINKS];
  double val[SOURCES + 2 * SINKS];
  trs_context *context = context_of("cuda:0-1");
  for (int lower = 0; lower < 2; lower++) {
    int64_t count = 0;
    for (int i = 0; i < ROWS; i++) {
      const bool sink = lower ? i >= SOURCES : i < SINKS;
      ptr[i] = count;
      idx[count] = i;
      if (sink && lower) idx[count++] = i - SOURCES, idx[count] = i;
      if (sink && !lower) idx[++count] = SINKS + i;
      count++;
    }
    ptr[ROWS] = count;
    for (int64_t k = 0; k < count; k++) val[k] = 1 + 0.5 * (double)(k % 3);
    trs_matrix *T;
    trs_plan plan;
    trs_plan_share share = {.struct_size = sizeof share};
    assert_success(
        trs_matrix_create(&T, TRS_CSR, TRS_DOUBLE, ROWS, ROWS, TRS_PTR64, ptr, idx, val, TRS_COPY));
    make_plan(&plan, context, T, lower ? TRS_LOWER : TRS_UPPER, "partition=slabs");
    assert_success(trs_method_push.share(&plan, 0, 1, &share, NULL));
    assert_int_equal(share.nrows, SOURCES);
    solve_often(&plan, 1, 10, lower ? "sources first" : "sources last");
    drop(&plan);
    trs_matrix_destroy(T);
  }
  trs_context_destroy(context);
}

/* Each member's rows from its own arrays, into its own arrays. */
static void solve_distributed(const char *way) {
  enum { MEMBERS = 3 };
  trs_context *context = context_of("cuda:0-2");
  trs_matrix *T = triangle_of("gen:poisson2d5:30", TRS_UPPER);
  const int64_t n = T->nrows;
  int64_t *rows = malloc((size_t)n * sizeof *rows), solved = 0;
  trs_plan plan;
  make_plan(&plan, context, T, TRS_UPPER, way);
  for (int turn = 0; turn < 4; turn++) {
    vectors all = make_vectors(n, 1, n, n, TRS_COL_MAJOR, 2 + (uint64_t)turn), of[MEMBERS];
    void *x[MEMBERS];
    const void *b[MEMBERS];
    trs_rhs rhs = rhs_of(&all);
    for (int m = 0; m < MEMBERS; m++) {
      trs_plan_share share = {.struct_size = sizeof share};
      of[m] = make_vectors(n, 1, n, n, TRS_COL_MAJOR, 90); /* other members' rows are never read */
      assert_success(trs_method_push.share(&plan, m, 1, &share, rows));
      for (int64_t k = 0; k < share.nrows; k++) of[m].b[rows[k]] = all.b[rows[k]];
      x[m] = of[m].x;
      b[m] = of[m].b;
    }
    rhs.x_of = x;
    rhs.b_of = b;
    assert_success(trs_method_push.solve(&plan, &rhs));
    assert_success(trs_method_push.wait(&plan));
    for (int m = 0; m < MEMBERS; m++) {
      trs_plan_share share = {.struct_size = sizeof share};
      assert_success(trs_method_push.share(&plan, m, 1, &share, rows));
      for (int64_t k = 0; k < share.nrows; k++) all.x[rows[k]] = of[m].x[rows[k]];
      solved += share.nrows;
      free_vectors(&of[m]);
    }
    assert_true(error_of(&plan, &all) <= error_limit(TRS_DOUBLE, n));
    free_vectors(&all);
  }
  assert_int_equal(solved, 4 * n);
  free(rows);
  drop(&plan);
  trs_matrix_destroy(T);
  trs_context_destroy(context);
}

TEST(vectors_may_lie_with_the_members) {
  for (size_t k = 0; k < COUNT(ways); k++) solve_distributed(ways[k]);
}

static void solve_by_values(trs_plan *plan, const trs_system *S) {
  vectors v = make_vectors(S->n, 1, S->n, S->n, TRS_COL_MAJOR, 5);
  memset(v.b, 0, (size_t)S->n * sizeof *v.b); /* of a random solution */
  for (int64_t i = 0; i < S->n; i++)
    for (int64_t p = S->ptr[i]; p < S->ptr[i + 1]; p++)
      v.b[i] += ((const double *)S->val)[p] * trs_random_signed(3, (uint64_t)S->idx[p]);
  const trs_rhs rhs = rhs_of(&v);
  assert_success(trs_method_push.solve(plan, &rhs));
  assert_true(error_of(plan, &v) < 1e-12);
  free_vectors(&v);
}

/* New values: other ones for the rows that are substituted already, then some with which other rows
 * keep their entries, and back. */
TEST(substituted_rows_get_new_values) {
  for (int distributed = 0; distributed < 2; distributed++) {
    trs_system S = shape_system(SHAPE_SUPERNODES, 600, TRS_DOUBLE, true, true);
    const size_t bytes = (size_t)S.nnz * sizeof(double);
    const trs_options options = {
        .struct_size = sizeof(trs_options), .method = "push", .distributed = distributed};
    double *val = (double *)S.val, *first = malloc(bytes);
    trs_context *context = context_of("cuda:0-3");
    trs_matrix *T;
    trs_plan plan;
    memcpy(first, val, bytes);
    assert_success(trs_matrix_create(&T, TRS_CSR, TRS_DOUBLE, S.n, S.n, TRS_PTR64, S.ptr, S.idx,
                                     S.val, TRS_BORROW));
    assert_success(push_plan(&plan, context, T, TRS_LOWER, &options, "substitute=6"));
    const trs_push_state *p = plan.state;
    assert_true(p->joint.ny > 0);
    assert_null(p->joint.system.val);
    solve_by_values(&plan, &S);
    for (int64_t k = 0; k < S.nnz; k++) val[k] *= 1 + 1e-3 * (double)(k % 7);
    assert_success(trs_method_push.update(&plan));
    solve_by_values(&plan, &S);
    const int64_t guarded = p->joint.guarded;
    shape_weaken(&S);
    if (distributed) {
      assert_failure(TRS_ERROR_UNSUPPORTED, "analyse the matrix again",
                     trs_method_push.update(&plan));
    } else {
      assert_success(trs_method_push.update(&plan));
      assert_true(p->joint.guarded > guarded);
      solve_by_values(&plan, &S);
    }
    memcpy(val, first, bytes);
    assert_success(trs_method_push.update(&plan));
    assert_int_equal(p->joint.guarded, guarded);
    solve_by_values(&plan, &S);
    drop(&plan);
    trs_matrix_destroy(T);
    trs_context_destroy(context);
    free(first);
    shape_free(&S);
  }
  assert_int_equal(stand_in_held(), 0);
}

/* The first, the second, ... launch of a solve fails: the solve returns an error, and so does every
 * later one of the plan, because some members have started work that others have not. */
TEST(a_launch_that_fails_ends_the_plan) {
  enum { MEMBERS = 3 };
  trs_context *context = context_of("cuda:0-2");
  trs_matrix *T = triangle_of("gen:chain:100", TRS_LOWER);
  const int64_t n = T->nrows;
  vectors v = make_vectors(n, 1, n, n, TRS_COL_MAJOR, 4);
  const trs_rhs rhs = rhs_of(&v);
  for (int failing = 0; failing < MEMBERS; failing++) {
    trs_plan plan;
    make_plan(&plan, context, T, TRS_LOWER, "partition=slabs");
    ((trs_push_state *)plan.state)->host_fault->limit = 200000000;
    *(trs_fault *)((trs_push_state *)plan.state)->member[0].args.fault =
        *((trs_push_state *)plan.state)->host_fault;
    push_fails_after = failing;
    assert_failure(TRS_ERROR_INTERNAL, "as it was told to", trs_method_push.solve(&plan, &rhs));
    push_fails_after = -1;
    for (int turn = 0; turn < 2; turn++)
      assert_failure(TRS_ERROR_STALLED, "analyse anew", trs_method_push.solve(&plan, &rhs));
    drop(&plan);
  }
  free_vectors(&v);
  trs_matrix_destroy(T);
  trs_context_destroy(context);
}

TEST(a_stall_names_the_row_and_the_member) {
  trs_context *context = context_of("cuda:0-2");
  trs_matrix *T = triangle_of("gen:chain:100", TRS_LOWER);
  const int64_t n = T->nrows;
  vectors v = make_vectors(n, 1, n, n, TRS_COL_MAJOR, 4);
  const trs_rhs rhs = rhs_of(&v);
  trs_plan plan;
  make_plan(&plan, context, T, TRS_LOWER, "partition=bands");
  assert_success(push_break(&plan));
  for (int turn = 0; turn < 2; turn++) {
    assert_failure(TRS_ERROR_STALLED, "waited more than 0.2 s", trs_method_push.solve(&plan, &rhs));
    assert_non_null(strstr(trs_last_error()->message, "of 3: row"));
  }
  drop(&plan);
  free_vectors(&v);
  trs_matrix_destroy(T);
  trs_context_destroy(context);
}

/* ---- auto: comparison with one GPU ---- */

typedef struct race {
  const char *what;
  double seconds[4];   /* of one GPU, of all four, of two */
  int members;         /* members with rows; 0: the method declines */
  const char *verdict; /* a part of its reason */
} race;

TEST(members_race_against_one) {
  static const race races[] = {
      {"all are faster", {1e-3, 0.4e-3}, 4, ""},
      {"half as many are", {1e-3, 1.2e-3, 0.7e-3}, 2, ""},
      {"neither is", {1e-3, 1.2e-3, 1.1e-3}, 0, "2 GPUs take 1.1 ms a solve, one takes 1 ms"},
      {"half as many are not tried where all are far behind",
       {1e-3, 2e-3},
       0,
       "4 GPUs take 2 ms a solve, one takes 1 ms"},
      {"too short to be shared", {10e-6}, 0, "one GPU takes 0.01 ms a solve"},
      {"one has no room for its analysis", {-1}, 4, ""},
      {"there is no room to measure all", {1e-3, -1}, 4, ""},
  };
  trs_context *context = context_of("cuda:0-3");
  trs_matrix *T = triangle_of("gen:kkt3d:16", TRS_LOWER);
  for (size_t k = 0; k < COUNT(races); k++) {
    trs_plan plan;
    push_seconds = races[k].seconds;
    assert_success(push_plan(&plan, context, T, TRS_LOWER,
                             &(trs_options){.struct_size = sizeof(trs_options)}, ""));
    if (push_verdict.declined != !races[k].members || !strstr(push_verdict.why, races[k].verdict))
      fail_msg("%s: %s", races[k].what, push_verdict.why);
    if (!push_verdict.declined) {
      assert_int_equal(((trs_push_state *)plan.state)->deal.members, races[k].members);
      solve_often(&plan, 1, 3, races[k].what);
    }
    drop(&plan);
    assert_int_equal(stand_in_held(), 0);
  }
  push_seconds = NULL;
  trs_matrix_destroy(T);
  trs_context_destroy(context);
}

/* 119 levels of rows: 0.06 ms by the modelled hop.  Slabs are dealt only if one GPU takes longer.
 */
TEST(levels_decide_before_rows_are_dealt) {
  static const double fast[] = {40e-6}, slow[] = {1e-3, 0.5e-3};
  trs_context *context = context_of("cuda:0-3");
  trs_matrix *T = triangle_of("gen:poisson2d5:60", TRS_LOWER);
  const trs_options options = {.struct_size = sizeof(trs_options)};
  trs_plan plan;
  push_seconds = fast;
  assert_success(push_plan(&plan, context, T, TRS_LOWER, &options, ""));
  assert_true(push_verdict.declined);
  assert_non_null(strstr(push_verdict.why, "levels would take 4 GPUs 0.0"));
  assert_null(((trs_push_state *)plan.state)->deal.owner);
  drop(&plan);
  push_seconds = slow;
  assert_success(push_plan(&plan, context, T, TRS_LOWER, &options, ""));
  assert_false(push_verdict.declined);
  solve_often(&plan, 1, 3, "few levels beside one GPU's time");
  drop(&plan);
  push_seconds = NULL;
  trs_matrix_destroy(T);
  trs_context_destroy(context);
}

/* Where one GPU substitutes rows, so do several, if their levels leave something to gain. */
TEST(several_substitute_where_one_does) {
  static const double gain[] = {1e-3, 0.5e-3}, no_gain[] = {100e-6, 90e-6};
  trs_context *context = context_of("cuda:0-3");
  trs_matrix *T = triangle_of("gen:poisson2d5:60", TRS_LOWER);
  const trs_options options = {.struct_size = sizeof(trs_options)};
  trs_plan plan;
  char text[1024];
  push_joint_levels = 20;
  push_seconds = gain;
  assert_success(push_plan(&plan, context, T, TRS_LOWER, &options, ""));
  assert_false(push_verdict.declined);
  trs_method_push.describe(&plan, text, sizeof text);
  assert_non_null(strstr(text, "have substituted rows"));
  solve_often(&plan, 1, 3, "substituted");
  drop(&plan);
  push_joint_levels = 10000;
  push_seconds = no_gain;
  assert_success(push_plan(&plan, context, T, TRS_LOWER, &options, ""));
  assert_null(((trs_push_state *)plan.state)->joint.of);
  drop(&plan);
  push_joint_levels = 0;
  push_seconds = NULL;
  trs_matrix_destroy(T);
  trs_context_destroy(context);
}

TEST(every_kind_of_launch_was_met) {
  for (int k = 0; k < 4; k++) assert_true(push_launches[k] > 0);
}

const test_program program = {.begin = push_stand_in_begin};
