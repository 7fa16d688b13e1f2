/* supernodal.c - L23's method with every parameter: sizes around supernodes, blocks of threads and
 * tiles of right-hand sides, LU and ILU(0) factors, shapes that hang or break a careless kernel,
 * values that are not finite. */
#include <complex.h>
#include <math.h>

#include "base/config.h"
#include "base/random.h"
#include "matrix/values.h"
#include "backend/context.h"
#include "support.h"
#include "gpu.h"
#include "parameters.h"
#include "test.h"

static trs_context *serial;

static int start(void **state) { return trs_context_create(&serial, "serial") ? -1 : 0; }

static int stop(void **state) {
  trs_context_destroy(serial);
  return gpu_stop(state);
}

/* ---- Systems. ---- */

typedef struct system {
  triangle arrays;
  trs_matrix *A;
  trs_scalar scalar;
  trs_uplo uplo;
  trs_trans trans;
  trs_diag diag;
} system_of;

enum { NVARIANTS = 2 * 3 * 2 * 2 * 4 };

/* Variant c of every way to store and use a triangle. */
static system_of draw(int64_t n, double density, int64_t band, int c, uint64_t seed) {
  system_of s = {.diag = (trs_diag)(c % 2), .trans = (trs_trans)(c / 2 % 3)};
  s.uplo = c / 6 % 2 ? TRS_UPPER : TRS_LOWER;
  s.scalar = (trs_scalar)(TRS_FLOAT + c / 24 % 4);
  trs_format format = (trs_format)(c / 12 % 2);
  bool prefix = (s.uplo == TRS_LOWER) == (format == TRS_CSR);
  bool bare = s.diag == TRS_UNIT && seed % 2;
  s.arrays = triangle_random(n, density, band, prefix, s.scalar, bare, seed);
  const triangle *t = &s.arrays;
  assert_success(trs_matrix_create(&s.A, format, s.scalar, n, n, TRS_PTR64, t->ptr, t->idx, t->val,
                                   TRS_BORROW));
  return s;
}

static void forget(system_of *s) {
  trs_matrix_destroy(s->A);
  triangle_free(&s->arrays);
}

static trs_plan *make_plan(const system_of *s, trs_context *where, const char *method,
                           int64_t nrhs) {
  trs_options options = {.struct_size = sizeof(trs_options), .method = method, .nrhs = nrhs};
  trs_plan *plan;
  assert_success(trs_analyze(&plan, where, s->A, s->uplo, s->trans, s->diag, &options));
  return plan;
}

/* ---- Solves. ---- */

/* Inverted diagonal blocks cost accuracy: analysis/panels.h. */
static double limit_for(trs_scalar scalar, int64_t n) { return 8 * error_limit(scalar, n); }

static void judge(const system_of *s, const char *method, const void *x, const void *b, int64_t ld,
                  int64_t nrhs, trs_layout layout) {
  trs_backward_error error = {.struct_size = sizeof error};
  int64_t n = s->arrays.n;
  assert_success(trs_check(&error, s->A, s->uplo, s->trans, s->diag, x, ld, b, ld, nrhs, layout));
  if (!(error.componentwise <= limit_for(s->scalar, n)))
    fail_msg("%s, n %lld, nrhs %lld, type %d, uplo %d, trans %d: error %g, limit %g, row %lld",
             method, (long long)n, (long long)nrhs, s->scalar, s->uplo, s->trans,
             error.componentwise, limit_for(s->scalar, n), (long long)error.worst_row);
}

/* Only elements of the solution are written: the others keep their fill. */
static void solve_and_check(const system_of *s, trs_plan *plan, const char *method, int64_t nrhs,
                            trs_layout layout, bool in_place) {
  int64_t n = s->arrays.n, length = layout == TRS_COL_MAJOR ? n : nrhs, ld = length + 2;
  int64_t vectors = layout == TRS_COL_MAJOR ? nrhs : n, elements = ld * vectors;
  size_t size = scalar_bytes(s->scalar);
  char *x = malloc((size_t)elements * size + 1), *b = malloc((size_t)elements * size + 1);
  trs_random_fill(b, elements, s->scalar, 33);
  memcpy(x, b, (size_t)elements * size);
  assert_success(trs_solve(plan, x, ld, in_place ? x : b, ld, nrhs, layout));
  judge(s, method, x, b, ld, nrhs, layout);
  for (int64_t v = 0; v < vectors; v++) {
    size_t at = (size_t)(v * ld + length) * size;
    assert_memory_equal(x + at, b + at, (size_t)(ld - length) * size);
  }
  free(x);
  free(b);
}

static void compare_with_serial(const system_of *s, const char *method) {
  static const double ROUNDINGS = 1024;
  int64_t n = s->arrays.n;
  size_t bytes = (size_t)n * scalar_bytes(s->scalar);
  void *x = malloc(bytes), *y = malloc(bytes), *b = malloc(bytes);
  trs_plan *plan = make_plan(s, gpu_context, method, 1), *other = make_plan(s, serial, "serial", 1);
  trs_random_fill(b, n, s->scalar, 34);
  assert_success(trs_solve(plan, x, n, b, n, 1, TRS_COL_MAJOR));
  assert_success(trs_solve(other, y, n, b, n, 1, TRS_COL_MAJOR));
  assert_close(x, y, n, s->scalar, ROUNDINGS, method);
  trs_plan_destroy(plan);
  trs_plan_destroy(other);
  free(x);
  free(y);
  free(b);
}

/* ---- Tests. ---- */

TEST(every_kind_of_system) {
  static const struct {
    int64_t n, band;
    double density;
  } shapes[] = {{1, 1, 1}, {70, 70, 1}, {150, 1, 1}, {300, 9, 0.6}, {400, 400, 0.02}};
  static const int64_t numbers[] = {1, 2, 8, 33, 64};
  static const char *const methods[] = {"supernodal", "supernodal:panels=columns",
                                        "supernodal:panels=rows,relax=60"};
  for (int c = 0; c < NVARIANTS; c++)
    for (size_t k = 0; k < COUNT(shapes); k++) {
      system_of s = draw(shapes[k].n, shapes[k].density, shapes[k].band, c, (uint64_t)(9 + k));
      const char *method = methods[(c + (int)k) % (int)COUNT(methods)];
      trs_plan *plan = make_plan(&s, gpu_context, method, c % 3 ? 64 : 0);
      for (size_t r = 0; r < COUNT(numbers); r++)
        solve_and_check(&s, plan, method, numbers[r], (trs_layout)((c + (int)r) % 2), r % 2);
      trs_plan_destroy(plan);
      if (shapes[k].band == 1) compare_with_serial(&s, method);
      forget(&s);
    }
}

TEST(sizes_around_supernodes_and_blocks) {
  static const int64_t sizes[] = {1,  2,  3,  7,  8,   15,  16,  17,  31,  32,
                                  33, 63, 64, 65, 127, 128, 129, 255, 256, 257};
  static const char *const methods[] = {
      "supernodal:width=1,threads=32",
      "supernodal:width=31,threads=32,panels=rows",
      "supernodal:width=32,threads=64,relax=0",
      "supernodal:width=33,threads=64,panels=rows,relax=100",
      "supernodal:width=64,threads=128",
      "supernodal:width=65,threads=256,panels=rows",
      "supernodal:width=128,threads=32",
      "supernodal:width=128,threads=256",
      "supernodal:threads=256,relax=100,width=7",
      "supernodal:width=128,threads=32,panels=rows",
  };
  int c = 0;
  for (size_t k = 0; k < COUNT(sizes); k++)
    for (int shape = 0; shape < 3; shape++, c += 5) {
      double density = shape == 0 ? 1 : shape == 1 ? 0.3 : 3.0 / (double)sizes[k];
      system_of s = draw(sizes[k], density, sizes[k], c, (uint64_t)c);
      for (size_t m = 0; m < COUNT(methods); m++) {
        trs_plan *plan = make_plan(&s, gpu_context, methods[m], 40);
        solve_and_check(&s, plan, methods[m], 1, TRS_COL_MAJOR, c % 2);
        solve_and_check(&s, plan, methods[m], 3, TRS_COL_MAJOR, c % 2);
        solve_and_check(&s, plan, methods[m], 37, TRS_ROW_MAJOR, c % 2);
        trs_plan_destroy(plan);
      }
      forget(&s);
    }
}

TEST(every_number_of_right_hand_sides) {
  static const int64_t numbers[] = {1, 2, 7, 8, 9, 15, 16, 17, 32, 33, 64, 100},
                       hints[] = {0, 9, 300};
  for (int c = 0; c < 8; c++) {
    system_of s = draw(200 + c, 0.2, 30, 13 * c, (uint64_t)c);
    const char *method = c < 4 ? "supernodal:panels=columns" : "supernodal:panels=rows";
    for (size_t h = 0; h < COUNT(hints); h++) {
      trs_plan *plan = make_plan(&s, gpu_context, method, hints[h]);
      for (size_t k = 0; k < COUNT(numbers); k++)
        solve_and_check(&s, plan, method, numbers[k], (trs_layout)((c + (int)k) % 2), k % 3 == 0);
      trs_plan_destroy(plan);
    }
    forget(&s);
  }
}

static void solve_factors(const trs_factors *F, trs_trans trans, int64_t n, trs_scalar scalar) {
  static const int64_t numbers[] = {1, 8, 33};
  trs_options options = {.struct_size = sizeof(trs_options), .method = "supernodal", .nrhs = 33};
  trs_plan *plan;
  assert_success(trs_analyze_factors(&plan, gpu_context, F, trans, &options));
  for (size_t k = 0; k < COUNT(numbers); k++) {
    int64_t nrhs = numbers[k], elements = n * nrhs;
    trs_backward_error error = {.struct_size = sizeof error};
    void *x = malloc((size_t)elements * scalar_bytes(scalar));
    void *b = malloc((size_t)elements * scalar_bytes(scalar));
    trs_random_fill(b, elements, scalar, 35);
    assert_success(trs_solve(plan, x, n, b, n, nrhs, TRS_COL_MAJOR));
    assert_success(trs_check_factors(&error, F, trans, x, n, b, n, nrhs, TRS_COL_MAJOR));
    if (!(error.normwise <= limit_for(scalar, n)))
      fail_msg("trans %d, nrhs %lld: error %g", trans, (long long)nrhs, error.normwise);
    free(x);
    free(b);
  }
  trs_plan_destroy(plan);
}

TEST(factors_are_solved_with) {
  static const char *const names[] = {"gen:poisson2d5:40", "gen:poisson3d7:11",
                                      "gen:elasticity3d:5,6,4"};
  for (int c = 0; c < 2 * 4 * (int)COUNT(names); c++) {
    trs_scalar scalar = (trs_scalar)(TRS_FLOAT + c / 2 % 4);
    trs_factor_options options = {.struct_size = sizeof(trs_factor_options),
                                  .kind = c % 2 ? TRS_FACTOR_ILU0 : TRS_FACTOR_LU};
    trs_matrix *A;
    trs_factors *F;
    trs_matrix_info info = {.struct_size = sizeof info};
    if (c % 2 == 0 && !(TRS_HAVE_SUPERLU && TRS_HAVE_METIS)) continue;
    assert_success(trs_matrix_read(
        &A, names[c / 8],
        &(trs_read_options){.struct_size = sizeof(trs_read_options), .scalar = scalar}));
    trs_matrix_get_info(A, &info);
    assert_success(trs_factor(&F, A, &options));
    for (trs_trans trans = TRS_NO_TRANS; trans <= TRS_CONJ_TRANS; trans++)
      solve_factors(F, trans, info.nrows, scalar);
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
  }
}

TEST(new_values_are_taken) {
  for (int c = 0; c < NVARIANTS; c += 7) {
    system_of s = draw(150, 0.1, 150, c, 41);
    const char *method = c % 2 ? "supernodal:panels=rows" : "supernodal:panels=columns";
    trs_plan *plan = make_plan(&s, gpu_context, method, 4);
    for (int64_t p = 0; p < s.arrays.ptr[150]; p++)
      trs_value_set(s.arrays.val, p, s.scalar, trs_value_get(s.arrays.val, p, s.scalar) * 1.25);
    assert_success(trs_update(plan, s.A));
    solve_and_check(&s, plan, method, 1, TRS_COL_MAJOR, false);
    solve_and_check(&s, plan, method, 4, TRS_ROW_MAJOR, true);
    trs_plan_destroy(plan);
    forget(&s);
  }
}

/* One supernode per row and more of them than 65,535; and a chain of as many. */
TEST(many_supernodes) {
  enum { N = 70001 };
  for (int c = 0; c < 4; c++) {
    system_of s = draw(N, c < 2 ? 0 : 1, 1, c % 2 ? 6 : 0, 3);
    const char *method = c % 2 ? "supernodal:relax=0,panels=rows" : "supernodal:width=1";
    trs_plan *plan = make_plan(&s, gpu_context, method, 2);
    solve_and_check(&s, plan, method, 1, TRS_COL_MAJOR, false);
    solve_and_check(&s, plan, method, 2, TRS_ROW_MAJOR, false);
    trs_plan_destroy(plan);
    forget(&s);
  }
}

/* Launches in sequence without a wait: each clears what the launch before it used. */
TEST(solves_in_device_memory) {
  enum { N = 300, NRHS = 5, REPEATS = 4 };
  double b[N * NRHS], x[N * NRHS];
  system_of s = draw(N, 0.1, N, 24, 5);
  trs_plan *plan = make_plan(&s, gpu_context, "supernodal", 2);
  trs_random_fill(b, N * NRHS, TRS_DOUBLE, 36);
  gpu_solve_repeatedly(plan, x, b, N, NRHS, REPEATS);
  judge(&s, "supernodal", x, b, NRHS, NRHS, TRS_ROW_MAJOR);
  trs_plan_destroy(plan);
  forget(&s);
}

/* Infinity and NaN spread as in substitution, in spite of the zeros kept. */
TEST(infinite_values_spread_as_they_should) {
  enum { N = 200, NRHS = 3 };
  static const char *const methods[] = {"supernodal:relax=90", "supernodal:relax=90,panels=rows"};
  for (int c = 0; c < 96; c += 5)
    for (int64_t nrhs = 1; nrhs <= NRHS; nrhs += 2) {
      system_of s = draw(N, 0.02, N, c, 51);
      size_t bytes = (size_t)(N * nrhs) * scalar_bytes(s.scalar);
      void *x = malloc(bytes), *y = malloc(bytes), *b = malloc(bytes);
      trs_random_fill(b, N * nrhs, s.scalar, 37);
      trs_value_set(b, N / 2, s.scalar, c % 2 ? NAN : INFINITY);
      trs_plan *plan = make_plan(&s, gpu_context, methods[c % 2], nrhs);
      trs_plan *other = make_plan(&s, serial, "serial", nrhs);
      assert_success(trs_solve(plan, x, N, b, N, nrhs, TRS_COL_MAJOR));
      assert_success(trs_solve(other, y, N, b, N, nrhs, TRS_COL_MAJOR));
      for (int64_t i = 0; i < N * nrhs; i++)
        assert_int_equal(isfinite(trs_value_abs(x, i, s.scalar)) != 0,
                         isfinite(trs_value_abs(y, i, s.scalar)) != 0);
      trs_plan_destroy(plan);
      trs_plan_destroy(other);
      free(x);
      free(y);
      free(b);
      forget(&s);
    }
}

TEST(plans_say_what_they_found) {
  static const method_words cases[] = {
      {"supernodal:width=10,threads=64", "10 supernodes by columns in 10 levels, the widest of 10"},
      {"supernodal:width=10,threads=64", "0 % explicit zeros, 64 threads each"},
      {"supernodal:panels=rows,width=128", "1 supernodes by rows in 1 levels, the widest of 100"}};
  system_of s = draw(100, 1, 100, 0, 0);
  assert_described(gpu_context, s.A, s.uplo, s.trans, s.diag, cases, COUNT(cases),
                   100 * 101 / 2 * 4);
  forget(&s);
}

TEST(wrong_parameters_are_refused) {
  static const method_words wrong[] = {
      {"supernodal:width=0", "a number from 1 to 128"},
      {"supernodal:width=129", "a number from 1 to 128"},
      {"supernodal:relax=101", "a number from 0 to 100"},
      {"supernodal:threads=48", "it takes auto, 32, 64, 128, 256"},
      {"supernodal:panels=both", "it takes auto, columns, rows"},
      {"supernodal:warps=8", "it has relax, width, threads, panels"}};
  system_of s = draw(50, 0.1, 50, 0, 1);
  assert_refused(gpu_context, s.A, s.uplo, s.trans, s.diag, wrong, COUNT(wrong));
  forget(&s);
}

const test_program program = {.begin = start, .end = stop, .lacks = gpu_lacks};
