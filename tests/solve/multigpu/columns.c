/* columns.c - `columns` without GPUs: the right-hand sides of each member, in blocks through two
 * stages and back, from the host, from the first GPU or from every member's own memory.  Plain
 * substitution replaces the engine; launches complete at once. */
#include <math.h>

#include "base/random.h"
#include "comm/group.h"
#include "comm/transport.h"
#include "device_stand_in.h"
#include "matrix/matrix.h"
#include "matrix/rhs.h"
#include "solve/multigpu/alone.h"
#include "support.h"
#include "test.h"

extern const trs_method trs_method_columns;

enum { ROWS = 37, MOST = 41, GUARD = -9 };

/* ---- Replacement of the engine ---- */

static trs_context *serial;
static double seconds_of_a_column; /* with many columns; with few, each takes twice as long */

trs_status trs_nvshmem_open(trs_group *group) {
  (void)group;
  return TRS_ERROR_UNSUPPORTED;
}
trs_status trs_alone_create(trs_plan **alone, trs_plan *plan, trs_device *device, trs_stream stream,
                            int64_t nrhs, bool keeps_system) {
  (void)device, (void)stream, (void)nrhs, (void)keeps_system;
  return trs_plan_create(alone, serial, plan->matrix, plan->uplo, plan->trans, plan->diag,
                         &(trs_options){.struct_size = sizeof(trs_options), .method = "serial"});
}
trs_status trs_alone_update(trs_plan *alone, const trs_plan *of) {
  (void)alone, (void)of;
  return TRS_ERROR_UNSUPPORTED;
}
bool trs_alone_fits(const trs_plan *plan, int members) {
  (void)plan, (void)members;
  return true;
}

trs_status trs_alone_time(trs_plan *plan, const trs_alone_arrays *where, int64_t nrhs,
                          double *seconds) {
  (void)plan, (void)where;
  *seconds = seconds_of_a_column * (double)nrhs * (nrhs < 32 ? 2 : 1);
  return TRS_SUCCESS;
}

/* ---- A plan, and solves checked against the serial method ---- */

typedef struct setting {
  const char *where, *parameters;
  int64_t nrhs;   /* expected right-hand sides */
  double seconds; /* seconds per column */
} setting;

static trs_context *context;
static trs_matrix *T;
static trs_plan plan;

static void open_plan(const setting *s) {
  trs_matrix *A;
  seconds_of_a_column = s->seconds;
  assert_success(trs_context_create(&serial, "serial"));
  assert_success(trs_context_create(&context, s->where));
  assert_success(trs_matrix_read(&A, "gen:random:37,4", NULL));
  assert_success(trs_matrix_triangle(&T, A, TRS_LOWER, 1));
  trs_matrix_destroy(A);
  plan = (trs_plan){.context = context,
                    .method = &trs_method_columns,
                    .parameters = s->parameters,
                    .matrix = T,
                    .uplo = TRS_LOWER,
                    .system = trs_system_of(T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT),
                    .options = {.method = "columns", .nrhs = s->nrhs}};
  assert_success(trs_method_columns.analyze(&plan));
}

static void close_plan(void) {
  stand_in_addresses = false;
  trs_method_columns.free(&plan);
  trs_matrix_destroy(T);
  trs_context_destroy(context);
  trs_context_destroy(serial);
  assert_int_equal(stand_in_held(), 0);
}

typedef struct shape {
  int64_t nrhs, ldx, ldb;
  trs_layout layout;
} shape;

static int64_t at(const shape *s, int64_t ld, int64_t i, int64_t c) {
  return s->layout == TRS_ROW_MAJOR ? i * ld + c : c * ld + i;
}

/* Sums of several columns at a time round in another order. */
static bool near(double x, double y) { return fabs(x - y) <= 1e-12 * (1 + fabs(y)); }

/* Every solved column equals the serial method's, and nothing else is written. */
static void solve(const shape *s) {
  enum { ROOM = (ROWS + 3) * (MOST + 3) };
  static double b[ROOM], x[ROOM], y[ROWS];
  trs_plan *judge;
  trs_rhs rhs;
  trs_random_fill(b, ROOM, TRS_DOUBLE, 3);
  for (int k = 0; k < ROOM; k++) x[k] = GUARD;
  assert_success(trs_rhs_make(&rhs, ROWS, TRS_DOUBLE, x, s->ldx, b, s->ldb, s->nrhs, s->layout));
  trs_rhs_locate(&rhs);
  assert_success(trs_method_columns.solve(&plan, &rhs));
  assert_success(trs_method_columns.wait(&plan));
  assert_success(trs_alone_create(&judge, &plan, NULL, NULL, 1, false));
  for (int64_t c = 0; c < s->nrhs; c++) {
    for (int64_t i = 0; i < ROWS; i++) y[i] = b[at(s, s->ldb, i, c)];
    assert_success(trs_solve(judge, y, ROWS, y, ROWS, 1, TRS_COL_MAJOR));
    for (int64_t i = 0; i < ROWS; i++) {
      assert_true(near(x[at(s, s->ldx, i, c)], y[i]));
      x[at(s, s->ldx, i, c)] = GUARD;
    }
  }
  trs_plan_destroy(judge);
  for (int k = 0; k < ROOM; k++) assert_true(x[k] == GUARD);
}

static void solve_all_shapes(void) {
  for (int layout = 0; layout < 2; layout++)
    for (int64_t nrhs = 1; nrhs <= MOST; nrhs += nrhs < 6 ? 1 : 7)
      for (int pad = 0; pad < 4; pad++) {
        const int64_t least = layout ? nrhs : ROWS;
        solve(&(shape){nrhs, least + pad % 2, least + pad / 2 * 3,
                       layout ? TRS_ROW_MAJOR : TRS_COL_MAJOR});
      }
}

/* ---- Tests ---- */

static const setting settings[] = {
    {"cuda:0-0", "", 1, 0},         {"cuda:0-1", "", 1, 0},
    {"cuda:0-1", "", 41, 1e-6},     {"cuda:0-2", "block=1", 20, 1e-6},
    {"cuda:0-2", "block=3", 41, 0}, {"cuda:0,0,0", "", 41, 1e-9},
    {"cuda:0-7", "", 41, 1e-6},     {"cuda:0-3", "remote=direct", 41, 1e-6},
};
enum { SETTINGS = COUNT(settings) };

TEST(columns_of_the_host) {
  for (int k = 0; k < SETTINGS; k++) {
    open_plan(&settings[k]);
    solve_all_shapes();
    close_plan();
  }
}

/* All columns lie with the first GPU, which keeps more of them the slower the link is. */
TEST(columns_of_the_first_gpu) {
  static const double seconds[] = {0, 1e-12, 1e-9, 1e-3};
  for (int k = 0; k < SETTINGS; k++)
    for (size_t w = 0; w < COUNT(seconds); w++) {
      setting s = settings[k];
      s.seconds = seconds[w];
      open_plan(&s);
      stand_in_addresses = true;
      solve_all_shapes();
      close_plan();
    }
}

/* A member's columns are the first in its own arrays. */
TEST(columns_of_the_members) {
  enum { MEMBERS = 3 };
  static double b[MEMBERS][ROWS * MOST], x[MEMBERS][ROWS * MOST], y[ROWS];
  void *x_of[MEMBERS];
  const void *b_of[MEMBERS];
  trs_plan *judge;
  open_plan(&(setting){"cuda:0-2", "", 7, 0});
  assert_success(trs_alone_create(&judge, &plan, NULL, NULL, 1, false));
  for (int64_t nrhs = 1; nrhs <= MOST; nrhs += 5) {
    int64_t next = 0;
    for (int m = 0; m < MEMBERS; m++) {
      trs_random_fill(b[m], ROWS * MOST, TRS_DOUBLE, 20 + (uint64_t)m);
      x_of[m] = x[m];
      b_of[m] = b[m];
    }
    const trs_rhs rhs = {.nrhs = nrhs,
                         .x_row = 1,
                         .x_col = ROWS,
                         .b_row = 1,
                         .b_col = ROWS,
                         .x_of = x_of,
                         .b_of = b_of};
    assert_success(trs_method_columns.solve(&plan, &rhs));
    assert_success(trs_method_columns.wait(&plan));
    for (int m = 0; m < MEMBERS; m++) {
      trs_plan_share share = {.struct_size = sizeof share};
      assert_success(trs_method_columns.share(&plan, m, nrhs, &share, NULL));
      assert_int_equal(share.first_column, next);
      next += share.ncolumns;
      for (int64_t c = 0; c < share.ncolumns; c++) {
        assert_success(trs_solve(judge, y, ROWS, b[m] + c * ROWS, ROWS, 1, TRS_COL_MAJOR));
        for (int i = 0; i < ROWS; i++) assert_true(near(x[m][c * ROWS + i], y[i]));
      }
    }
    assert_int_equal(next, nrhs);
  }
  trs_plan_destroy(judge);
  close_plan();
}
