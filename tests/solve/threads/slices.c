/* slices.c - rows side by side in vector registers: the copy of a matrix with slices holds every
 * entry once, slices exist where they should, and they change no bit of a solution. */
#include <math.h>

#include "plan/plan.h"
#include "solve/threads/kernels.h"
#include "solve/threads/schedule.h"
#include "plans.h"

static const char *const grids[] = {"gen:poisson3d27:12",     "gen:poisson3d7:14",
                                    "gen:poisson2d9:40",      "gen:kkt3d:9",
                                    "gen:elasticity3d:6,6,6", "gen:powerlaw:3000"};
enum { NGRIDS = sizeof grids / sizeof grids[0] };

static int lanes_of(trs_scalar scalar) {
  return TRS_ISA_OF(trs_threads_kernels, trs_isa_now())->lanes[scalar];
}

/* Counts the rows in slices.  Checks that no row of a slice needs another one of it, and that every
 * entry of S is at its place. */
static int64_t rows_in_slices(const trs_plan *plan) {
  const trs_threads_state *s = plan->state;
  const trs_system *S = &plan->system;
  const int lanes = lanes_of(S->scalar);
  int64_t at = 0, sliced = 0;
  for (int64_t k = 0; k < S->n;) {
    const int rows = s->count[k] < 0 ? lanes : 1;
    const int64_t slots = s->count[k] < 0 ? ~s->count[k] : s->count[k];
    const int32_t *idx = s->idx + at;
    for (int64_t e = 0; e < slots; e++) {
      const bool consecutive = rows > 1 && *idx < 0;
      for (int r = 0; r < rows; r++) {
        int64_t begin, end, p, j = consecutive ? ~*idx + r : idx[r];
        trs_off_diagonal(S, s->schedule.row[k + r], S->lower, true, &begin, &end);
        assert_int_equal(end - begin, slots);
        p = S->lower ? begin + e : end - 1 - e;
        assert_int_equal(s->schedule.position[S->idx[p]], j);
        assert_true(j < k || j >= k + rows);
        assert_true(((double *)s->val)[at + e * rows + r] == ((const double *)S->val)[p]);
      }
      idx += consecutive ? 1 : rows;
    }
    at += slots * rows;
    sliced += rows > 1 ? rows : 0;
    k += rows;
  }
  assert_int_equal(at, s->schedule.entries[s->schedule.threads]);
  return sliced;
}

TEST(slices_hold_every_entry) {
  (void)state;
  int64_t sliced = 0;
  for (int c = 0; c < 2 * NGRIDS; c++) {
    trs_uplo uplo = c % 2 ? TRS_UPPER : TRS_LOWER;
    trs_matrix *T = read_triangle(grids[c / 2], uplo, TRS_DOUBLE);
    trs_plan *plan = analyse(T, uplo, TRS_NO_TRANS, 1 + c % 4);
    sliced += rows_in_slices(plan);
    trs_plan_destroy(plan);
    trs_matrix_destroy(T);
  }
  assert_int_equal(sliced > 0, lanes_of(TRS_DOUBLE) > 0);
}

/* Most rows of a grid of long rows are in slices. */
TEST(grids_have_slices) {
  (void)state;
  if (!lanes_of(TRS_DOUBLE)) skip_test("this processor's registers are too short");
  trs_matrix *T = read_triangle("gen:poisson3d27:40", TRS_LOWER, TRS_DOUBLE);
  trs_plan *plan = analyse(T, TRS_LOWER, TRS_NO_TRANS, 2);
  assert_true(rows_in_slices(plan) > plan->system.n / 2);
  trs_plan_destroy(plan);
  trs_matrix_destroy(T);
}

static void *solution(trs_plan *plan, trs_scalar scalar, int64_t n, int64_t nrhs) {
  void *x = malloc((size_t)(n * nrhs) * scalar_bytes(scalar));
  trs_random_fill(x, n * nrhs, scalar, 5);
  assert_success(trs_solve(plan, x, n, x, n, nrhs, TRS_COL_MAJOR));
  return x;
}

/* Slices begin at other rows for other numbers of threads. */
TEST(bits_do_not_depend_on_threads) {
  (void)state;
  for (int c = 0; c < 4 * NGRIDS; c++) {
    trs_scalar scalar = (trs_scalar)(TRS_FLOAT + c % 4);
    trs_matrix *T = read_triangle(grids[c / 4], TRS_LOWER, scalar);
    trs_trans trans = c / 4 % 2 ? TRS_TRANS : TRS_NO_TRANS;
    void *first[2] = {0};
    for (int threads = 1; threads < 6; threads++) {
      trs_plan *plan = analyse(T, TRS_LOWER, trans, threads);
      for (int w = 0; w < 2; w++) {
        int64_t nrhs = w ? 9 : 1, n = plan->system.n;
        void *x = solution(plan, scalar, n, nrhs);
        if (!first[w])
          first[w] = memcpy(malloc((size_t)(n * nrhs) * scalar_bytes(scalar)), x,
                            (size_t)(n * nrhs) * scalar_bytes(scalar));
        assert_memory_equal(x, first[w], (size_t)(n * nrhs) * scalar_bytes(scalar));
        free(x);
      }
      trs_plan_destroy(plan);
    }
    free(first[0]);
    free(first[1]);
    trs_matrix_destroy(T);
  }
}

/* x of a plan of which so many members do the work of all threads; of one alone, from the stored
 * matrix if it is stored by rows. */
static void solve_by(trs_plan *plan, void *x, const void *b, int64_t n, int64_t nrhs, int members) {
  trs_threads_state *s = plan->state;
  const int way = members == s->schedule.threads ? __builtin_ctz(s->ways)
                  : members == 1                 ? TRS_THREADS_ALONE
                                                 : TRS_THREADS_HALF;
  for (int kind = 0; kind < TRS_THREADS_PACES; kind++) {
    keep_way(plan, kind, way);
    s->pace[kind].way[way].members = members;
  }
  assert_success(trs_solve(plan, x, n, b, n, nrhs, TRS_COL_MAJOR));
}

TEST(fewer_members_do_the_work_of_all_with_the_same_bits) {
  (void)state;
  enum { NRHS = 9 };
  const int64_t before = trs_schedule_part_work;
  trs_schedule_part_work = 40;
  for (int c = 0; c < 4 * NGRIDS; c++) {
    const trs_uplo uplo = c % 2 ? TRS_UPPER : TRS_LOWER;
    const trs_scalar scalar = c % 4 < 2 ? TRS_DOUBLE : TRS_DCOMPLEX;
    trs_matrix *T = read_triangle(grids[c / 4], uplo, scalar);
    trs_plan *plan = analyse(T, uplo, c % 3 ? TRS_TRANS : TRS_NO_TRANS, 2 + c % 5);
    const int64_t n = plan->system.n;
    const int threads = ((const trs_threads_state *)plan->state)->schedule.threads;
    const size_t size = (size_t)n * NRHS * trs_scalar_size(scalar);
    char *b = malloc(size), *x = malloc(size), *y = malloc(size);
    trs_random_fill(b, n * NRHS, scalar, 5);
    for (int turn = 0; turn < 8; turn++) { /* each after the other */
      const int64_t nrhs = turn % 2 ? NRHS : 1;
      solve_by(plan, x, b, n, nrhs, threads);
      solve_by(plan, y, b, n, nrhs, 1 + turn / 2 % threads);
      assert_memory_equal(x, y, (size_t)(n * nrhs) * trs_scalar_size(scalar));
    }
    free(b), free(x), free(y);
    trs_plan_destroy(plan);
    trs_matrix_destroy(T);
  }
  trs_schedule_part_work = before;
}

static void write_x(trs_plan *plan, bool last) {
  const int way = last ? TRS_THREADS_X_LAST : 0;
  trs_threads_state *s = plan->state;
  s->ways = 1u << way;
}

/* In levels of short rows whose neighbours lie elsewhere; in place and for each of several columns,
 * with the bits of rows that write their own x. */
TEST(x_is_written_behind_all_rows_where_levels_scatter_it) {
  (void)state;
  const int64_t before = trs_schedule_part_work;
  trs_schedule_part_work = 40;
  for (int c = 0; c < NGRIDS; c++) {
    enum { THREADS = 9, NRHS = 2 };
    trs_matrix *T = read_triangle(grids[c], TRS_LOWER, TRS_DOUBLE);
    trs_plan *plan = analyse(T, TRS_LOWER, TRS_NO_TRANS, THREADS);
    trs_threads_state *s = plan->state;
    const int64_t n = plan->system.n, count = n * NRHS;
    if (c < 2) assert_int_equal(s->ways & 1, c == 0); /* 13 entries per row, and 4 */
    double *b = malloc((size_t)count * sizeof *b), *x = malloc((size_t)count * sizeof *x);
    double *y = malloc((size_t)count * sizeof *y);
    trs_random_fill(b, count, TRS_DOUBLE, 5);
    for (int members = 1; members <= THREADS; members += 4) {
      write_x(plan, false);
      solve_by(plan, x, b, n, NRHS, members);
      write_x(plan, true);
      memcpy(y, b, (size_t)count * sizeof *y);
      solve_by(plan, y, y, n, NRHS, members);
      assert_memory_equal(x, y, (size_t)count * sizeof *x);
    }
    free(b), free(x), free(y);
    trs_plan_destroy(plan);
    trs_matrix_destroy(T);
  }
  trs_schedule_part_work = before;
}

TEST(updates_reach_slices) {
  (void)state;
  for (int c = 0; c < 2 * NGRIDS; c++) {
    trs_trans trans = c % 2 ? TRS_TRANS : TRS_NO_TRANS;
    trs_matrix *T = read_triangle(grids[c / 2], TRS_UPPER, TRS_DOUBLE);
    trs_matrix_info info = {.struct_size = sizeof info};
    trs_matrix_get_info(T, &info);
    trs_plan *before = analyse(T, TRS_UPPER, trans, 3);
    double *val = malloc((size_t)info.nnz * sizeof *val);
    for (int64_t p = 0; p < info.nnz; p++) val[p] = 2 + (double)(p % 7) / 8;
    assert_success(trs_matrix_set_values(T, val));
    assert_success(trs_update(before, T));
    trs_plan *after = analyse(T, TRS_UPPER, trans, 3);
    double *x = solution(before, TRS_DOUBLE, info.nrows, 1);
    double *y = solution(after, TRS_DOUBLE, info.nrows, 1);
    assert_memory_equal(x, y, (size_t)info.nrows * sizeof *x);
    free(val);
    free(x);
    free(y);
    trs_plan_destroy(before);
    trs_plan_destroy(after);
    trs_matrix_destroy(T);
  }
}

/* An infinite x reaches only the rows that depend on it. */
TEST(infinity_stays_in_its_rows) {
  (void)state;
  for (int c = 0; c < NGRIDS; c++) {
    trs_matrix *T = read_triangle(grids[c], TRS_LOWER, TRS_DOUBLE);
    trs_plan *plan = analyse(T, TRS_LOWER, TRS_NO_TRANS, 2);
    const trs_system *S = &plan->system;
    const int64_t n = S->n;
    double *x = malloc((size_t)n * sizeof *x);
    bool *reached = calloc((size_t)n, 1);
    for (int64_t i = 0; i < n; i++) x[i] = 1;
    x[n / 3] = INFINITY;
    reached[n / 3] = true;
    for (int64_t i = 0; i < n; i++)
      for (int64_t p = S->ptr[i]; p < S->ptr[i + 1] - 1; p++) reached[i] |= reached[S->idx[p]];
    assert_success(trs_solve(plan, x, n, x, n, 1, TRS_COL_MAJOR));
    for (int64_t i = 0; i < n; i++)
      if (!reached[i]) assert_true(isfinite(x[i]));
    free(x);
    free(reached);
    trs_plan_destroy(plan);
    trs_matrix_destroy(T);
  }
}

static int begin(void **state) {
  trs_schedule_part_work = 20;
  trs_schedule_alone = 0;
  return 0;
}

const test_program program = {.begin = begin};
