/* syncfree.c - L17's methods with every parameter, on systems around the sizes of warps and blocks
 * and of shapes that hang or break a careless kernel.  Types, formats and layouts in every
 * combination are api/conformance.c's. */
#include <complex.h>
#include <math.h>

#include "base/random.h"
#include "matrix/values.h"
#include "backend/context.h"
#include "support.h"
#include "solve/cuda/parameters.h"
#include "test.h"

/* ---- Systems. ---- */

typedef enum shape { DIAGONAL, CHAIN, DENSE_LAST_ROW, DENSE_FIRST_COLUMN, DENSE, RANDOM } shape;
enum { RANDOM_PER_ROW = 4 };

typedef struct system {
  trs_matrix *A;
  trs_uplo uplo;
  trs_trans trans;
  trs_diag diag;
  trs_scalar scalar;
  int64_t n, longest; /* entries of the fullest row of op(A) */
  bool tame;          /* solutions agree with another method's digit by digit */
} system_of;

typedef struct triplets {
  int64_t count;
  int32_t *row, *col;
  void *val;
  const system_of *s;
  bool backward;
} triplets;

/* An entry of op(A), rows and columns counted in the order of the sweep. */
static void add(triplets *t, int64_t row, int64_t col, double scale) {
  const system_of *s = t->s;
  uint64_t at = 2 * (uint64_t)t->count;
  double complex value = trs_random_signed(31, at) + I * trs_random_signed(31, at + 1);
  int64_t i = t->backward ? s->n - 1 - row : row, j = t->backward ? s->n - 1 - col : col;
  t->row[t->count] = (int32_t)(s->trans ? j : i);
  t->col[t->count] = (int32_t)(s->trans ? i : j);
  trs_value_set(t->val, t->count++, s->scalar, row == col ? 2 + value / 2 : scale * value);
}

static void add_row(triplets *t, shape kind, int64_t k) {
  int64_t n = t->s->n;
  bool full = kind == DENSE || (kind == DENSE_LAST_ROW && k == n - 1);
  if (t->s->diag == TRS_NONUNIT || k % 2) add(t, k, k, 1);
  if (full)
    for (int64_t j = 0; j < k; j++) add(t, k, j, 1.0 / (double)n);
  if (kind == CHAIN && k > 0) add(t, k, k - 1, 0.5);
  if (kind == DENSE_FIRST_COLUMN && k > 0) add(t, k, 0, 0.5);
  for (int e = 0; kind == RANDOM && k > 0 && e < RANDOM_PER_ROW; e++)
    add(t, k, (int64_t)(trs_random_unit(32, (uint64_t)(k * RANDOM_PER_ROW + e)) * (double)k), 0.3);
}

static system_of make_system(shape kind, int64_t n, trs_scalar scalar, bool backward,
                             trs_trans trans, trs_format format, trs_diag diag) {
  system_of s = {.trans = trans, .diag = diag, .scalar = scalar, .n = n};
  s.uplo = backward == (trans != TRS_NO_TRANS) ? TRS_LOWER : TRS_UPPER;
  s.tame = kind == DIAGONAL || kind == CHAIN || kind == DENSE_FIRST_COLUMN;
  s.longest = kind == DENSE || kind == DENSE_LAST_ROW ? n : RANDOM_PER_ROW + 1;
  int64_t most = kind == DENSE ? n * (n + 1) / 2 : (RANDOM_PER_ROW + 1) * n + n;
  triplets t = {.row = malloc((size_t)most * sizeof *t.row),
                .col = malloc((size_t)most * sizeof *t.col),
                .val = malloc((size_t)most * scalar_bytes(scalar)),
                .s = &s,
                .backward = backward};
  for (int64_t k = 0; k < n; k++) add_row(&t, kind, k);
  trs_matrix *rows;
  assert_success(
      trs_matrix_create_coo(&rows, scalar, n, n, t.count, TRS_IDX32, t.row, t.col, t.val));
  assert_success(trs_matrix_convert(&s.A, rows, format, scalar));
  trs_matrix_destroy(rows);
  free(t.row);
  free(t.col);
  free(t.val);
  return s;
}

/* The c-th of many variants of types, storage and diagonals. */
static system_of varied_system(shape kind, int64_t n, int c) {
  static const trs_trans trans[] = {TRS_NO_TRANS, TRS_TRANS, TRS_CONJ_TRANS};
  return make_system(kind, n, (trs_scalar)(TRS_FLOAT + c % 4), c % 2, trans[c % 3],
                     (trs_format)(c / 4 % 2), c % 5 == 4 ? TRS_UNIT : TRS_NONUNIT);
}

/* ---- Solves. ---- */

static trs_plan *make_plan(const system_of *s, const char *method, int64_t nrhs) {
  trs_options options = {.struct_size = sizeof(trs_options), .method = method, .nrhs = nrhs};
  trs_plan *plan;
  assert_success(trs_analyze(&plan, gpu_context, s->A, s->uplo, s->trans, s->diag, &options));
  return plan;
}

static void judge(const system_of *s, const char *method, const void *x, const void *b, int64_t ld,
                  int64_t nrhs, trs_layout layout) {
  trs_backward_error error = {.struct_size = sizeof error};
  assert_success(trs_check(&error, s->A, s->uplo, s->trans, s->diag, x, ld, b, ld, nrhs, layout));
  double limit = error_limit(s->scalar, s->longest);
  if (!(error.componentwise <= limit))
    fail_msg("%s, n %lld, nrhs %lld, type %d, uplo %d, trans %d: error %g, limit %g, row %lld",
             method, (long long)s->n, (long long)nrhs, s->scalar, s->uplo, s->trans,
             error.componentwise, limit, (long long)error.worst_row);
}

static void compare_with_serial(const system_of *s, const char *method, const void *x,
                                const void *b, int64_t elements, int64_t ld, int64_t nrhs,
                                trs_layout layout) {
  static const double ROUNDINGS = 256;
  trs_context *serial;
  trs_plan *plan;
  void *y = malloc((size_t)elements * scalar_bytes(s->scalar));
  memcpy(y, x, (size_t)elements * scalar_bytes(s->scalar)); /* so that elements that no solve writes
                                                               are equal */
  assert_success(trs_context_create(&serial, "serial"));
  assert_success(trs_analyze(&plan, serial, s->A, s->uplo, s->trans, s->diag, NULL));
  assert_success(trs_solve(plan, y, ld, b, ld, nrhs, layout));
  assert_close(x, y, elements, s->scalar, ROUNDINGS, method);
  trs_plan_destroy(plan);
  trs_context_destroy(serial);
  free(y);
}

static void solve_and_check(const system_of *s, trs_plan *plan, const char *method, int64_t nrhs,
                            trs_layout layout, bool in_place) {
  int64_t ld = (layout == TRS_COL_MAJOR ? s->n : nrhs) + 1;
  int64_t elements = ld * (layout == TRS_COL_MAJOR ? nrhs : s->n);
  size_t bytes = (size_t)elements * scalar_bytes(s->scalar);
  void *x = malloc(bytes), *b = malloc(bytes);
  trs_random_fill(b, elements, s->scalar, 33);
  memcpy(x, b, bytes);
  assert_success(trs_solve(plan, x, ld, in_place ? x : b, ld, nrhs, layout));
  judge(s, method, x, b, ld, nrhs, layout);
  if (s->tame) compare_with_serial(s, method, x, b, elements, ld, nrhs, layout);
  free(x);
  free(b);
}

static const char *const all_methods[] = {
    "syncfree-csc",
    "syncfree-csc:warps=4",
    "syncfree-csc:warps=8",
    "syncfree-csc:warps=16",
    "syncfree-csc:warps=32",
    "syncfree-csc:warps=4,scratchpad=no",
    "syncfree-csc:warps=8,scratchpad=no",
    "syncfree-csc:scratchpad=no,warps=16",
    "syncfree-csc:scratchpad=no,warps=32",
    "syncfree-csc-rhs",
    "syncfree-csc-rhs:strategy=rhs",
    "syncfree-csc-rhs:strategy=nnz",
    "syncfree-csc-rhs:p=2,q=3",
};

TEST(sizes_around_warps_and_blocks) {
  static const int64_t sizes[] = {1, 2, 31, 32, 33, 63, 64, 65, 255, 257, 511, 512, 513};
  int c = 0;
  for (size_t k = 0; k < COUNT(sizes); k++)
    for (shape kind = DIAGONAL; kind <= RANDOM; kind++)
      for (int way = 0; way < 2; way++, c++) {
        system_of s = varied_system(kind, sizes[k], c);
        for (size_t m = 0; m < COUNT(all_methods); m++) {
          trs_plan *plan = make_plan(&s, all_methods[m], 3);
          solve_and_check(&s, plan, all_methods[m], 1, TRS_COL_MAJOR, c % 2);
          solve_and_check(&s, plan, all_methods[m], 3, TRS_ROW_MAJOR, c % 2);
          trs_plan_destroy(plan);
        }
        trs_matrix_destroy(s.A);
      }
}

TEST(every_number_of_right_hand_sides) {
  static const int64_t numbers[] = {1, 2, 7, 8, 9, 32, 33, 256}, hints[] = {0, 9, 300};
  static const char *const methods[] = {
      "syncfree-csc", "syncfree-csc-rhs", "syncfree-csc-rhs:strategy=rhs",
      "syncfree-csc-rhs:strategy=nnz", "syncfree-csc-rhs:p=0,q=4"};
  for (int c = 0; c < 8; c++) {
    system_of s = varied_system(c < 4 ? RANDOM : DENSE_FIRST_COLUMN, 400 + c, c);
    for (size_t h = 0; h < COUNT(hints); h++)
      for (size_t m = 0; m < COUNT(methods); m++) {
        trs_plan *plan = make_plan(&s, methods[m], hints[h]);
        for (size_t k = 0; k < COUNT(numbers); k++)
          solve_and_check(&s, plan, methods[m], numbers[k], (trs_layout)((c + k) % 2), k % 3 == 0);
        trs_plan_destroy(plan);
      }
    trs_matrix_destroy(s.A);
  }
}

static void solve_by(const system_of *s, const char *const *methods, size_t count) {
  for (size_t m = 0; m < count; m++) {
    trs_plan *plan = make_plan(s, methods[m], 2);
    solve_and_check(s, plan, methods[m], 2, TRS_COL_MAJOR, false);
    trs_plan_destroy(plan);
  }
}

/* More blocks than 65,535 with 16 and with 4 warps each, forward and backward. */
TEST(more_blocks_than_sixteen_bits_count) {
  static const char *const methods[] = {"syncfree-csc", "syncfree-csc:scratchpad=no,warps=4",
                                        "syncfree-csc-rhs", "syncfree-csc-rhs:strategy=nnz"};
  for (int c = 0; c < 2; c++) {
    system_of s =
        make_system(RANDOM, 70000 * 17, TRS_DOUBLE, c, TRS_NO_TRANS, (trs_format)c, TRS_NONUNIT);
    solve_by(&s, methods, COUNT(methods));
    trs_matrix_destroy(s.A);
  }
}

TEST(long_chains) {
  for (int c = 0; c < 2; c++) {
    system_of s = varied_system(CHAIN, 20011, c);
    solve_by(&s, all_methods, COUNT(all_methods));
    trs_matrix_destroy(s.A);
  }
}

/* Launches in sequence without a wait: each clears what the launch before it used. */
TEST(solves_in_device_memory) {
  static const char *const methods[] = {"syncfree-csc", "syncfree-csc-rhs"};
  enum { NRHS = 5, REPEATS = 4 };
  system_of s = make_system(RANDOM, 3001, TRS_DOUBLE, false, TRS_NO_TRANS, TRS_CSR, TRS_NONUNIT);
  const int64_t elements = s.n * NRHS;
  double *b = malloc((size_t)elements * sizeof *b), *x = malloc((size_t)elements * sizeof *x);
  trs_random_fill(b, elements, TRS_DOUBLE, 34);
  for (size_t m = 0; m < COUNT(methods); m++) {
    trs_plan *plan = make_plan(&s, methods[m], 2);
    solve_repeatedly(plan, x, b, s.n, NRHS, REPEATS);
    judge(&s, methods[m], x, b, NRHS, NRHS, TRS_ROW_MAJOR);
    trs_plan_destroy(plan);
  }
  trs_matrix_destroy(s.A);
  free(b);
  free(x);
}

TEST(plans_say_what_they_were_told) {
  static const method_words cases[] = {
      {"syncfree-csc", "16 per block, sums within a block in scratchpad"},
      {"syncfree-csc:warps=4,scratchpad=no", "4 per block, no scratchpad"},
      {"syncfree-csc-rhs", "up to 6 right-hand sides at once, lanes: adaptive, p 8, q 8192"},
      {"syncfree-csc-rhs:strategy=nnz", "lanes: nnz"},
      {"syncfree-csc-rhs:q=7,p=3", "p 3, q 7"}};
  system_of s = varied_system(RANDOM, 50, 0);
  assert_described(s.A, s.uplo, s.trans, s.diag, cases, COUNT(cases), 1);
  trs_matrix_destroy(s.A);
}

TEST(wrong_parameters_are_refused) {
  static const method_words wrong[] = {
      {"syncfree-csc:warps=5", "it takes 4, 8, 16, 32"},
      {"syncfree-csc:warps=64", "it takes 4, 8, 16, 32"},
      {"syncfree-csc:scratchpad=maybe", "it takes no, yes"},
      {"syncfree-csc:p=8", "it has warps, scratchpad"},
      {"syncfree-csc-rhs:strategy=both", "it takes adaptive, rhs, nnz"},
      {"syncfree-csc-rhs:p=-1", "a number from 0"},
      {"syncfree-csc-rhs:q=1x", "a number from 0"},
      {"syncfree-csc-rhs:warps=8", "it has strategy, p, q"}};
  system_of s = varied_system(RANDOM, 50, 0);
  assert_refused(s.A, s.uplo, s.trans, s.diag, wrong, COUNT(wrong));
  trs_matrix_destroy(s.A);
}

const test_program program = {.end = gpu_stop, .lacks = gpu_lacks};
