/* values.c - the ways of one right-hand side: rows that wait for x itself or for counts of tasks, x
 * written with each row or behind all.  The same bits in any order of solves, and an end of every
 * wait, whatever NaN the system holds. */
#include <math.h>

#include "plan/plan.h"
#include "solve/threads/kernels.h"
#include "plans.h"

static const char *const grids[] = {"gen:poisson3d27:12", "gen:poisson2d5:50",
                                    "gen:poisson3d7:14",  "gen:elasticity3d:6,6,6",
                                    "gen:powerlaw:3000",  "gen:chain:2000"};
enum { NGRIDS = sizeof grids / sizeof grids[0] };

/* From now on by values if the plan can, or by tasks; x behind all rows, or with each. */
static void solve_so(trs_plan *plan, bool by_values, bool x_last) {
  const trs_threads_state *s = plan->state;
  keep_way(plan, TRS_THREADS_DIRECT,
           (by_values && s->schedule.read ? TRS_THREADS_BY_VALUES : 0) +
               (x_last ? TRS_THREADS_X_LAST : 0));
}

static void solve(trs_plan *plan, void *x, const void *b, int64_t nrhs) {
  const int64_t n = plan->system.n;
  assert_success(trs_solve(plan, x, n, b, n, nrhs, TRS_COL_MAJOR));
}

static bool has_values(const trs_plan *plan) {
  return ((const trs_threads_state *)plan->state)->schedule.read;
}

/* Triangles as plans read them, and their threads; each of every grid, in doubles and floats. */
static const struct triangle_case {
  const char *name;
  trs_uplo uplo;
  trs_trans trans;
  trs_diag diag;
  int threads;
} triangles[] = {
    {"L", TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, 4},
    {"U", TRS_UPPER, TRS_NO_TRANS, TRS_NONUNIT, 5},
    {"L, transposed, unit diagonal", TRS_LOWER, TRS_TRANS, TRS_UNIT, 6},
    {"U, transposed", TRS_UPPER, TRS_TRANS, TRS_NONUNIT, 7},
    {"U, unit diagonal", TRS_UPPER, TRS_NO_TRANS, TRS_UNIT, 8},
};
static const trs_scalar scalars[] = {TRS_DOUBLE, TRS_FLOAT};

/* Solves of a plan and of its clone, one behind the other: each finds the workspace as the one
 * before left it. */
typedef struct solve_case {
  const char *name;
  bool by_values, x_last, in_place;
  int64_t nrhs;
  bool clone_by_values, clone_x_last;
} solve_case;

enum { COLUMNS = 9 };
static const solve_case solves[] = {
    {"values, the clone by tasks", true, true, false, 1, false, false},
    {"values again, both", true, true, true, 1, true, true},
    {"tasks between values", false, false, false, 1, true, true},
    {"values behind tasks", true, false, true, 1, true, false},
    {"values, x with each row", true, false, false, 1, false, true},
    {"tasks, x behind all rows", false, true, true, 1, true, true},
    {"values between two of tasks", true, true, false, 1, true, false},
    {"tasks in place", false, false, true, 1, false, true},
    {"several right-hand sides, values allowed", true, false, false, COLUMNS, true, true},
    {"values behind several right-hand sides", true, false, true, 1, true, false},
    {"values once more", true, true, false, 1, false, true},
    {"several right-hand sides by tasks, in place", false, true, true, COLUMNS, true, true},
    {"tasks behind several right-hand sides", false, false, false, 1, true, true},
    {"values again", true, true, true, 1, true, true},
    {"values, x with each row, in place", true, false, true, 1, true, false},
};

/* Both ways of the case against the plan of one thread. */
static void solve_both(const solve_case *c, const char *about, trs_plan *plan, trs_plan *clone,
                       trs_plan *one, uint64_t seed) {
  const trs_scalar scalar = plan->system.scalar;
  const int64_t count = plan->system.n * c->nrhs;
  const size_t size = (size_t)count * trs_scalar_size(scalar);
  char *b = malloc(size), *x = malloc(size), *y = malloc(size);
  trs_random_fill(b, count, scalar, seed);
  solve(one, y, b, c->nrhs);
  solve_so(plan, c->by_values, c->x_last);
  memcpy(x, b, size);
  solve(plan, x, c->in_place ? x : b, c->nrhs);
  if (memcmp(x, y, size)) fail_msg("%s, %s: other bits than one thread's", about, c->name);
  solve_so(clone, c->clone_by_values, c->clone_x_last);
  solve(clone, x, b, c->nrhs);
  if (memcmp(x, y, size)) fail_msg("%s, %s: other bits of the clone", about, c->name);
  free(b), free(x), free(y);
}

/* Whether rows of the plan can wait for values. */
static bool same_bits(const char *grid, const struct triangle_case *c, trs_scalar scalar) {
  trs_matrix *T = read_triangle(grid, c->uplo, scalar);
  trs_plan *plan = analyse_with(T, c->uplo, c->trans, c->diag, c->threads), *clone;
  trs_plan *one = analyse_with(T, c->uplo, c->trans, c->diag, 1);
  const trs_threads_state *s = plan->state;
  const bool values = has_values(plan);
  char about[128];
  int by_values = 0;
  snprintf(about, sizeof about, "%s, %s, %zu bytes", grid, c->name, trs_scalar_size(scalar));
  assert_success(trs_plan_clone(&clone, plan));
  for (size_t k = 0; k < COUNT(solves); k++) {
    const int before = s->turn;
    solve_both(&solves[k], about, plan, clone, one, k);
    by_values += s->turn != before;
  }
  /* Of nine solves that may all are by values but the first and those behind several columns. */
  if (values && by_values < 5) fail_msg("%s: %d solves by values", about, by_values);
  trs_plan_destroy(clone);
  trs_plan_destroy(plan);
  trs_plan_destroy(one);
  trs_matrix_destroy(T);
  return values;
}

TEST(both_ways_have_the_same_bits) {
  (void)state;
  size_t plans = 0;
  for (size_t g = 0; g < NGRIDS; g++)
    for (size_t t = 0; t < COUNT(triangles); t++)
      for (size_t k = 0; k < COUNT(scalars); k++)
        plans += same_bits(grids[g], &triangles[t], scalars[k]);
  if (plans == 0) skip_test("rows wait for tasks alone in a build for the thread sanitizer");
  assert_true(plans > NGRIDS * COUNT(triangles));
}

/* The first entry below the diagonal in row i or behind it. */
static int64_t entry_from(const trs_matrix *T, int64_t i) {
  const trs_system S = trs_system_of(T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT);
  while (S.ptr[i + 1] - S.ptr[i] < 2) i++;
  return S.ptr[i];
}

/* The bits that mean absence, in b or as an entry, with infinities too: solves end, and their NaN
 * are where those of another sweep are. */
TEST(a_nan_of_the_system_is_no_absence) {
  (void)state;
  for (int c = 0; c < 3 * NGRIDS; c++) {
    trs_matrix *T = read_triangle(grids[c / 3], TRS_LOWER, TRS_DOUBLE);
    trs_matrix_info info = {.struct_size = sizeof info};
    trs_matrix_get_info(T, &info);
    const int64_t n = info.nrows;
    const uint64_t bits = TRS_THREADS_ABSENT;
    double absent, *val = malloc((size_t)info.nnz * sizeof *val);
    double *b = malloc((size_t)n * sizeof *b), *x = malloc((size_t)n * sizeof *x);
    double *y = malloc((size_t)n * sizeof *y);
    memcpy(&absent, &bits, sizeof absent);
    for (int64_t p = 0; p < info.nnz; p++) val[p] = 2 + (double)(p % 7) / 8;
    for (int64_t i = 0; i < n; i++) b[i] = (double)(i % 5);
    if (c % 3 == 0)
      for (int64_t i = n / 3; i < n; i += 1 + n / 40) b[i] = absent;
    else
      val[entry_from(T, c % 3 * n / 4)] = absent;
    if (c % 3 == 2) b[n / 2] = INFINITY, b[n / 4] = -INFINITY;
    assert_success(trs_matrix_set_values(T, val));
    trs_plan *plan = analyse(T, TRS_LOWER, TRS_NO_TRANS, 4);
    trs_plan *one = analyse(T, TRS_LOWER, TRS_NO_TRANS, 1);
    solve(one, y, b, 1);
    for (int turn = 0; turn < 6; turn++) {
      solve_so(plan, turn > 0, turn % 2);
      solve(plan, x, b, 1);
      for (int64_t i = 0; i < n; i++) {
        assert_int_equal(isnan(x[i]), isnan(y[i]));
        if (!isnan(x[i])) assert_true(x[i] == y[i]);
      }
    }
    free(val), free(b), free(x), free(y);
    trs_plan_destroy(plan);
    trs_plan_destroy(one);
    trs_matrix_destroy(T);
  }
}

/* Against the system: what other threads read, ascending, by the thread that solves it. */
TEST(positions_that_others_read) {
  (void)state;
  for (int c = 0; c < 2 * NGRIDS; c++) {
    const trs_uplo uplo = c % 2 ? TRS_UPPER : TRS_LOWER;
    trs_matrix *T = read_triangle(grids[c / 2], uplo, TRS_DOUBLE);
    trs_plan *plan = analyse(T, uplo, TRS_NO_TRANS, 4 + c % 6);
    const trs_schedule *order = &((const trs_threads_state *)plan->state)->schedule;
    const trs_system *S = &plan->system;
    const int64_t n = S->n;
    int *thread_of = malloc((size_t)n * sizeof *thread_of);
    bool *wanted = calloc((size_t)n, 1);
    if (order->read) {
      for (int t = 0; t < order->threads; t++)
        for (int64_t k = order->first[t]; k < order->first[t + 1]; k++) thread_of[k] = t;
      for (int64_t k = 0; k < n; k++) {
        int64_t begin, end;
        trs_off_diagonal(S, order->row[k], S->lower, true, &begin, &end);
        for (int64_t p = begin; p < end; p++) {
          const int32_t at = order->position[S->idx[p]];
          if (thread_of[at] != thread_of[k]) wanted[at] = true;
        }
      }
      int64_t seen = 0;
      for (int t = 0; t < order->threads; t++)
        for (int64_t k = order->first[t]; k < order->first[t + 1]; k++)
          if (wanted[k]) assert_int_equal(order->read[seen++], k);
      assert_int_equal(seen, order->read_ptr[order->threads]);
    }
    free(thread_of), free(wanted);
    trs_plan_destroy(plan);
    trs_matrix_destroy(T);
  }
}

/* The first solves try all ways of all threads.  The plan tells the way it takes. */
static void try_all_ways(const char *system, int threads, unsigned ways) {
  trs_matrix *T = read_triangle(system, TRS_LOWER, TRS_DOUBLE);
  trs_plan *plan = analyse(T, TRS_LOWER, TRS_NO_TRANS, threads);
  trs_threads_state *s = plan->state;
  trs_pace *pace = &s->pace[TRS_THREADS_DIRECT];
  const int64_t n = plan->system.n;
  double *b = calloc((size_t)n, sizeof *b), *x = malloc((size_t)n * sizeof *x);
  char text[256];
  assert_int_equal(s->ways, ways);
  for (int way = 0; way < TRS_THREADS_HALF; way++)
    assert_int_equal(pace->way[way].members, ways >> way & 1 ? threads : 0);
  assert_int_equal(pace->way[TRS_THREADS_ALONE].members, 1);
  for (int k = 0; k < 400; k++) {
    pace->credit = 1;
    pace->knows_alone = false; /* nothing is late */
    solve(plan, x, b, 1);
  }
  for (int way = 0; way < TRS_PACE_WAYS; way++) /* that of a way on trial begins anew */
    if (pace->way[way].members && pace->trying != way + 1) assert_true(pace->way[way].cost > 0);
  for (int way = 0; way < TRS_THREADS_HALF; way++) {
    const int turn = s->turn;
    if (!(ways >> way & 1)) continue;
    keep_way(plan, TRS_THREADS_DIRECT, way);
    for (int k = 0; k < 3; k++) solve(plan, x, b, 1);
    assert_int_equal(s->turn != turn, (way & TRS_THREADS_BY_VALUES) != 0);
    plan->method->describe(plan, text, sizeof text);
    assert_int_equal(strstr(text, "wait for x itself") != NULL, (way & TRS_THREADS_BY_VALUES) != 0);
    assert_int_equal(strstr(text, "behind all rows") != NULL, (way & TRS_THREADS_X_LAST) != 0);
  }
  keep_way(plan, TRS_THREADS_DIRECT, TRS_THREADS_ALONE);
  plan->method->describe(plan, text, sizeof text);
  assert_non_null(strstr(text, "the latest solves ran on 1 thread"));
  free(b), free(x);
  trs_plan_destroy(plan);
  trs_matrix_destroy(T);
}

/* Solves of several right-hand sides in between use the workspace: the plan does without values. */
TEST(values_are_given_up_between_wide_solves) {
  (void)state;
  enum { WIDE = 8, TURNS = 80 };
  trs_matrix *T = read_triangle("gen:poisson3d27:12", TRS_LOWER, TRS_DOUBLE);
  trs_plan *plan = analyse(T, TRS_LOWER, TRS_NO_TRANS, 4);
  trs_threads_state *s = plan->state;
  trs_pace *pace = &s->pace[TRS_THREADS_DIRECT];
  const int64_t count = plan->system.n * WIDE;
  double *b = calloc((size_t)count, sizeof *b), *x = malloc((size_t)count * sizeof *x);
  const bool values = has_values(plan);
  pace->best = TRS_THREADS_BY_VALUES;
  for (int k = 0; k < TURNS && values; k++) solve(plan, x, b, k % 2 ? WIDE : 1);
  for (int way = 0; way < TRS_THREADS_HALF && values; way++)
    assert_int_equal(pace->way[way].members > 0, way == 0 || way == TRS_THREADS_X_LAST);
  free(b), free(x);
  trs_plan_destroy(plan);
  trs_matrix_destroy(T);
  if (!values) skip_test("rows wait for tasks alone in a build for the thread sanitizer");
}

/* Rows of a thread beside each other; levels of short rows; levels of long rows. */
TEST(all_ways_are_tried_and_told) {
  (void)state;
  trs_matrix *T = read_triangle(grids[0], TRS_LOWER, TRS_DOUBLE);
  trs_plan *plan = analyse(T, TRS_LOWER, TRS_NO_TRANS, 4);
  const bool values = has_values(plan);
  trs_plan_destroy(plan);
  trs_matrix_destroy(T);
  if (!values) skip_test("rows wait for tasks alone in a build for the thread sanitizer");
  try_all_ways("gen:kkt3d:12", 4, 1 + 2);
  try_all_ways("gen:poisson3d7:14", 4, 4 + 8);
  try_all_ways("gen:poisson3d27:12", 4, 1 + 2 + 4 + 8);
}

static int begin(void **state) {
  trs_schedule_part_work = 20;
  trs_schedule_alone = 0;
  return 0;
}

const test_program program = {.begin = begin};
