/* gpu.c - batches on a GPU, or on emulated threads in a build without CUDA: every kernel gives
 * every system the bits of a batch of that system alone, small backward errors, for all types,
 * triangles, formats, layouts, memories, numbers of systems and of right-hand sides; faults of
 * single systems; new values; graphs; the same of factors, with permutations and scalings. */
#include "solve/batch/gpu.h"

#include <math.h>

#include "backend/context.h"
#include "base/random.h"
#include "factored.h"
#include "systems.h"
#include "test.h"
#ifdef TRS_EMULATED
#include "device_stand_in.h"
#else
#include "gpu.h"
#endif

static trs_context *ctx;
static trs_device *device;

/* ---- Memory of the device, and of the host where arrays are to lie there ---- */

#ifdef TRS_EMULATED
enum { EMULATED = 1 };
static const char *lacks(void) {
  if (trs_context_create(&ctx, "cuda")) return trs_last_error()->message;
  device = ctx->device;
  trs_device_facts *facts = (trs_device_facts *)trs_device_look(device);
  facts->multiprocessors = 132;
  facts->shared_bytes = 227 << 10;
  facts->l2_bytes = 50 << 20;
  return NULL;
}
static void lie(bool there) { stand_in_addresses = there; }
#else
enum { EMULATED = 0 };
static const char *lacks(void) {
  const char *why = gpu_lacks();
  ctx = gpu_context;
  device = gpu;
  return why;
}
static void lie(bool there) { (void)there; }
#endif

static int stop(void **state) {
  trs_context_destroy(ctx);
  return 0;
}
const test_program program = {.end = stop, .lacks = lacks};

/* A copy of a host array where it is to lie. */
static void *put(const void *from, size_t bytes, bool there) {
  void *array;
  if (there) {
    assert_success(trs_device_alloc(device, &array, (int64_t)bytes + 1, 1, NULL));
    assert_success(trs_device_copy(array, from, (int64_t)bytes, NULL));
    assert_success(trs_device_wait(NULL));
  } else {
    array = malloc(bytes + 1);
    memcpy(array, from, bytes);
  }
  return array;
}
static void get(void *to, const void *from, size_t bytes) {
  assert_success(trs_device_copy(to, from, (int64_t)bytes, NULL));
  assert_success(trs_device_wait(NULL));
}
static void give_back(void *array, bool there) {
  if (there)
    trs_device_free(device, array, NULL);
  else
    free(array);
}

/* ---- Systems near one triangle, and the kernels ---- */

static system_kind kind_of(int c) {
  return (system_kind){.scalar = (trs_scalar)(TRS_FLOAT + c % 4),
                       .format = (trs_format)(c / 4 % 2),
                       .uplo = (trs_uplo)(TRS_LOWER + c / 8 % 2),
                       .trans = (trs_trans)(c / 16 % 3),
                       .diag = (trs_diag)(c / 48 % 2),
                       .layout = (trs_layout)(c / 96 % 2)};
}
enum { KINDS = 192 };
static trs_plan *batch_of(const systems *s, int64_t count, int64_t nrhs, const trs_batch_way *way) {
  trs_batch_prefer(way);
  trs_plan *B = systems_batch(ctx, s, count, nrhs);
  trs_batch_prefer(NULL);
  return B;
}

/* NULL first: as chosen. */
static const trs_batch_way ways[] = {
    {.lanes = true, .log_systems = 5, .threads = 32, .width = 1},
    {.lanes = true, .narrow = -1, .log_systems = 5, .threads = 32, .width = 1},
    {.log_systems = 0, .threads = 32, .shared = true, .width = 1},
    {.log_systems = 0, .threads = 256, .width = 4},
    {.log_systems = 1, .threads = 64, .shared = true, .width = 4},
    {.log_systems = 2, .threads = 32, .width = 1},
    {.log_systems = 3, .threads = 128, .shared = true, .width = 1},
    {.log_systems = 4, .threads = 256, .width = 1},
    {.log_systems = 5, .threads = 32, .shared = true, .width = 4},
    {.log_systems = 5, .threads = 256, .width = 4},
    {.log_systems = 0, .threads = 64, .shared = true, .width = 1, .depth = 2},
    {.log_systems = 3, .threads = 256, .width = 4, .depth = -1},
    {.log_systems = 5, .threads = 128, .shared = true, .width = 1, .depth = 5},
};
enum { WAYS = COUNT(ways) };

/* One thread per row of a system alone, with the substitution of another way. */
static trs_batch_way simple_of(const trs_batch_way *way, const trs_plan *B) {
  trs_batch_info info = {.struct_size = sizeof info};
  assert_success(trs_batch_get_info(B, &info));
  const bool substitutes = strstr(info.method, "substitution") != NULL;
  return (trs_batch_way){.log_systems = 0,
                         .threads = 32,
                         .width = 1,
                         .depth = !substitutes ? 0
                                  : way        ? way->depth
                                               : -1};
}

static const trs_batch_way *way_of(int c) {
  return c % (WAYS + 1) ? &ways[c % (WAYS + 1) - 1] : NULL;
}

/* x against those of batches of one by one kernel.  Of a thousand systems some. */
static void check(const systems *s, const trs_batch_way *simple, const void *x, const void *b,
                  int64_t ld, int64_t next, int64_t nrhs) {
  const int64_t step = s->count > 100 ? 37 : EMULATED && s->count > 7 ? 6 : 1;
  trs_plan *one = batch_of(s, 1, 1, simple);
  assert_systems_solved(s, one, step, x, b, ld, next, nrhs);
  trs_plan_destroy(one);
}

/* With gaps between systems and columns, which stay as they are. */
static void solve_and_check(const systems *s, int64_t nrhs, const trs_batch_way *way, int memory) {
  const bool val_there = memory & 1, b_there = memory & 2, x_there = memory & 4;
  const int64_t n = s->t.n, ld = (s->kind.layout == TRS_COL_MAJOR ? n : nrhs) + 1;
  const int64_t next = ld * (s->kind.layout == TRS_COL_MAJOR ? nrhs : n) + 3;
  const size_t size = scalar_bytes(s->kind.scalar), bytes = (size_t)(next * s->count) * size;
  void *b = malloc(bytes + 1), *x = malloc(bytes + 1), *same = malloc(bytes + 1);
  trs_plan *B = batch_of(s, s->count, nrhs, way);
  trs_random_fill(b, next * s->count, s->kind.scalar, 3);
  void *val_at = put(s->val, (size_t)(s->count * s->nnz) * size, val_there);
  void *b_at = put(b, bytes, b_there), *x_at = put(b, bytes, x_there);
  lie(val_there);
  assert_success(trs_batch_update(B, val_at, s->nnz));
  lie(b_there && x_there);
  assert_success(trs_batch_solve(B, x_at, ld, next, b_at, ld, next, nrhs, s->kind.layout));
  get(x, x_at, bytes);
  get(same, b_at, bytes);
  assert_memory_equal(same, b, bytes);
  lie(b_there);
  assert_success(trs_batch_solve(B, b_at, ld, next, b_at, ld, next, nrhs, s->kind.layout));
  get(same, b_at, bytes);
  assert_memory_equal(same, x, bytes); /* gaps too: x began as b */
  lie(false);
  const trs_batch_way simple = simple_of(way, B);
  check(s, &simple, x, b, ld, next, nrhs);
  trs_plan_destroy(B);
  give_back(val_at, val_there);
  give_back(b_at, b_there);
  give_back(x_at, x_there);
  free(b);
  free(x);
  free(same);
}

TEST(every_kernel_gives_every_system_the_x_of_a_batch_of_its_own) {
  static const int64_t counts[] = {1, 2, 31, 32, 33}, numbers[] = {1, 2, 5}, sizes[] = {23, 1, 70};
  for (int c = 0; c < KINDS; c += EMULATED ? 5 : 1) {
    const int times = EMULATED ? 1 : 4;
    for (int t = 0; t < times; t++) {
      const int v = c + t * 7;
      systems s = systems_random(sizes[v % 3], 0.1, sizes[v % 3], kind_of(c), counts[v % 5]);
      solve_and_check(&s, numbers[v / 3 % 3], way_of(v), (v / 2) % 8);
      systems_free(&s);
    }
  }
}

/* Sizes around warps, chunks of entries, tiles of rows; every kernel on every pattern. */
TEST(patterns_and_sizes) {
  static const int64_t sizes[] = {1, 2, 3, 4, 5, 31, 32, 33, 63, 64, 65, 97, 300, 1000, 3000};
  static const struct {
    double density;
    int64_t band; /* 0: n */
  } patterns[] = {{0, 1}, {1, 1}, {1, 2}, {0.8, 3}, {1, 4}, {1, 5}, {0.6, 40}, {0.02, 0}, {1, 0}};
  int c = 0;
  for (size_t k = 0; k < COUNT(sizes); k++)
    for (size_t p = 0; p < COUNT(patterns); p++)
      for (int w = 0; w <= (int)WAYS; w++, c++) {
        const int64_t n = sizes[k], band = patterns[p].band ? patterns[p].band : n;
        if (band == n && patterns[p].density == 1 && n > 100) continue;
        if (n > (EMULATED ? 100 : 300) && (c % 7 || (EMULATED && n > 300))) continue;
        if (EMULATED && c % 7) continue;
        systems s = systems_random(n, patterns[p].density, band < n ? band : n, kind_of(c * 5),
                                   EMULATED ? 1 + c % 34 : 33);
        solve_and_check(&s, c % 4 ? 1 : 4, way_of(w), c % 8);
        systems_free(&s);
      }
}

TEST(a_thousand_systems) {
  for (int w = 0; w <= (int)WAYS; w += EMULATED ? 4 : 1) {
    systems s = systems_random(30, 1, 1, kind_of(w), EMULATED ? 130 : 1000);
    solve_and_check(&s, 1, way_of(w), w % 2 ? 7 : 0);
    systems_free(&s);
  }
}

/* The host's arrays pass through a stage in parts. */
TEST(values_and_right_hand_sides_beyond_the_stage) {
  if (EMULATED) skip_test("too much for emulated threads");
  systems s = systems_random(3000, 1, 2, kind_of(1), 1500); /* 108 MB of values */
  solve_and_check(&s, 3, NULL, 0);
  solve_and_check(&s, 3, NULL, 7);
  systems_free(&s);
}

TEST(entries_may_stand_in_any_order_and_repeat_and_the_triangle_is_taken_from_a_whole_matrix) {
  for (int w = 0; w <= (int)WAYS; w++) {
    trs_batch_prefer(way_of(w));
    assert_whole_matrix_taken(ctx);
    trs_batch_prefer(NULL);
  }
}

TEST(a_zero_pivot_names_its_system_and_row_and_all_others_are_solved) {
  systems s = systems_random(FAULTY_ROWS, 0.1, FAULTY_ROWS, plain_kind, FAULTY_COUNT);
  for (int w = 0; w <= (int)WAYS; w++) {
    trs_plan *B = batch_of(&s, s.count, 1, way_of(w));
    assert_faults_are_told(&s, B);
    trs_plan_destroy(B);
  }
  systems_free(&s);
}

/* Systems whose values grow in a substitution have the bits of a batch without one, beside others
 * that keep theirs, in every memory and in place; the next values may change that. */
TEST(systems_that_would_lose_digits_are_solved_as_they_are) {
  enum { N = 60, SYSTEMS = 40 };
  static double b[N * SYSTEMS], x[N * SYSTEMS], as_it_is[N * SYSTEMS], all[N * SYSTEMS];
  systems s = systems_random(N, 1, 2, plain_kind, SYSTEMS);
  const trs_batch_way flat = {.log_systems = 2, .threads = 64, .shared = true, .width = 1};
  double *val = malloc((size_t)(SYSTEMS * s.nnz) * sizeof *val);
  trs_random_fill(b, N * SYSTEMS, TRS_DOUBLE, 8);
  for (int w = 0; w < WAYS; w++) {
    if (!ways[w].depth) continue;
    trs_plan *B = batch_of(&s, SYSTEMS, 1, &ways[w]), *F = batch_of(&s, SYSTEMS, 1, &flat);
    for (int round = 0; round < 3; round++) {
      memcpy(val, s.val, (size_t)(SYSTEMS * s.nnz) * sizeof *val);
      assert_success(trs_batch_update(B, val, 0));
      assert_success(trs_batch_solve(B, all, N, 0, b, N, 0, 1, TRS_COL_MAJOR));
      const int step = round == 1 ? 1000 : 7 + round; /* in the second round no system grows */
      for (int k = 3; k < SYSTEMS; k += step)
        for (int64_t e = 0; e < s.nnz && round != 1; e++)
          if (s.t.ptr[s.t.idx[e] + 1] - 1 != e) val[k * s.nnz + e] *= 50;
      assert_success(trs_batch_update(B, val, 0));
      assert_success(trs_batch_update(F, val, 0));
      assert_success(trs_batch_solve(F, as_it_is, N, 0, b, N, 0, 1, TRS_COL_MAJOR));
      memcpy(x, b, sizeof x);
      assert_success(trs_batch_solve(B, x, N, 0, x, N, 0, 1, TRS_COL_MAJOR));
      int grown = 0;
      for (int k = 0; k < SYSTEMS; k++) {
        const bool grows = round != 1 && k >= 3 && (k - 3) % step == 0;
        grown += grows;
        assert_memory_equal(x + N * k, (grows ? as_it_is : all) + N * k, N * sizeof *x);
      }
      assert_true(round == 1 || grown > 3);
    }
    trs_plan_destroy(B);
    trs_plan_destroy(F);
  }
  free(val);
  systems_free(&s);
}

TEST(empty_systems_and_batches) {
  const int64_t ptr[] = {0, 0, 0, 0};
  const int32_t idx[] = {0};
  double b[] = {1, 2, 3, 4, 5, 6}, x[6], val[1];
  for (int64_t n = 0; n <= 3; n += 3)
    for (int64_t count = 0; count <= 2; count += 2) {
      trs_matrix *A;
      trs_plan *B;
      assert_success(
          trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, n, n, TRS_PTR64, ptr, idx, val, TRS_COPY));
      assert_success(trs_batch_create(&B, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_UNIT, count, NULL));
      assert_success(trs_batch_update(B, NULL, 0));
      assert_success(trs_batch_solve(B, x, n, 0, b, n, 0, 1, TRS_COL_MAJOR));
      assert_memory_equal(x, b, (size_t)(n * count) * sizeof *x);
      trs_batch_info info = {.struct_size = sizeof info};
      assert_success(trs_batch_get_info(B, &info));
      assert_int_equal(info.count, count);
      trs_plan_destroy(B);
      trs_matrix_destroy(A);
    }
}

/* Patterns whose x fits no shared memory, many short systems, long chains: the kernels that suit.
 */
TEST(the_kernel_is_chosen_by_shape) {
  static const struct {
    int64_t n, band, count;
    double density;
    const char *method;
  } cases[] = {{30, 1, 10000, 1, "lanes"},
               {1000, 1, 10000, 1, "lanes"},
               {200, 200, 4, 0.01, "levels"},
               {20000, 20000, 2, 1e-4, "levels"}};
  for (size_t k = 0; k < COUNT(cases); k++) {
    systems s = systems_random(cases[k].n, cases[k].density, cases[k].band, plain_kind, 1);
    trs_plan *B = batch_of(&s, cases[k].count, 1, NULL);
    trs_batch_info info = {.struct_size = sizeof info};
    assert_success(trs_batch_get_info(B, &info));
    if (strncmp(info.method, cases[k].method, strlen(cases[k].method)) != 0)
      fail_msg("n %lld, %lld systems: %s", (long long)cases[k].n, (long long)cases[k].count,
               info.method);
    assert_true(info.bytes > cases[k].count * s.nnz * 8);
    trs_plan_destroy(B);
    systems_free(&s);
  }
}

TEST(every_allocation_may_fail) { assert_batch_survives(ctx); }

/* ---- Factors ---- */

static trs_plan *factored_of(const factored *f, int64_t count, int64_t nrhs,
                             const trs_batch_way *way) {
  trs_batch_prefer(way);
  trs_plan *B = factored_batch(ctx, f, count, nrhs);
  trs_batch_prefer(NULL);
  return B;
}

/* Without a preference L may be solved with substitution, and U without. */
static bool one_is_alike(const trs_batch_way *way, const trs_plan *B) {
  trs_batch_info info = {.struct_size = sizeof info};
  assert_success(trs_batch_get_info(B, &info));
  const char *of_U = strstr(info.method, ", U by ");
  assert_non_null(of_U);
  const bool first =
      strstr(info.method, "substitution") && strstr(info.method, "substitution") < of_U;
  return way || first == (strstr(of_U, "substitution") != NULL);
}

static void check_factored(const factored *f, const trs_batch_way *way, const trs_plan *B,
                           const void *x, const void *b, int64_t ld, int64_t next, int64_t nrhs) {
  const int64_t step = f->count > 100 ? 37 : EMULATED && f->count > 7 ? 6 : 1;
  const trs_batch_way simple = simple_of(way, B);
  trs_plan *one = one_is_alike(way, B) ? factored_of(f, 1, 1, &simple) : NULL;
  assert_factored_solved(f, one, step, x, b, ld, next, nrhs);
  trs_plan_destroy(one);
}

/* As solve_and_check. */
static void solve_and_check_factored(const factored *f, int64_t nrhs, const trs_batch_way *way,
                                     int memory) {
  const bool val_there = memory & 1, b_there = memory & 2, x_there = memory & 4;
  const trs_layout layout = f->kind.layout;
  const int64_t n = f->n, ld = (layout == TRS_COL_MAJOR ? n : nrhs) + 1;
  const int64_t next = ld * (layout == TRS_COL_MAJOR ? nrhs : n) + 3;
  const size_t size = scalar_bytes(f->kind.scalar), bytes = (size_t)(next * f->count) * size;
  void *b = malloc(bytes + 1), *x = malloc(bytes + 1), *same = malloc(bytes + 1);
  factored there = *f;
  trs_plan *B = factored_of(f, f->count, nrhs, way);
  trs_random_fill(b, next * f->count, f->kind.scalar, 3);
  there.L_val = put(f->L_val, (size_t)(f->count * f->nnz_L) * size, val_there);
  there.U_val =
      f->kind.hermitian ? NULL : put(f->U_val, (size_t)(f->count * f->nnz_U) * size, val_there);
  void *b_at = put(b, bytes, b_there), *x_at = put(b, bytes, x_there);
  lie(val_there);
  assert_success(factored_update(B, &there, 0));
  lie(b_there && x_there);
  assert_success(trs_batch_solve(B, x_at, ld, next, b_at, ld, next, nrhs, layout));
  get(x, x_at, bytes);
  get(same, b_at, bytes);
  assert_memory_equal(same, b, bytes);
  lie(b_there);
  assert_success(trs_batch_solve(B, b_at, ld, next, b_at, ld, next, nrhs, layout));
  get(same, b_at, bytes);
  assert_memory_equal(same, x, bytes);
  lie(false);
  check_factored(f, way, B, x, b, ld, next, nrhs);
  trs_plan_destroy(B);
  give_back(there.L_val, val_there);
  if (there.U_val) give_back(there.U_val, val_there);
  give_back(b_at, b_there);
  give_back(x_at, x_there);
  free(b);
  free(x);
  free(same);
}

TEST(every_kernel_gives_every_system_of_factors_the_x_of_a_batch_of_its_own) {
  static const int64_t counts[] = {1, 2, 31, 32, 33}, numbers[] = {1, 2, 5}, sizes[] = {23, 1, 70};
  for (int c = 0; c < 240; c += EMULATED ? 3 : 1) {
    const int64_t n = sizes[c / 2 % 3];
    factored f = factored_random(n, 0.1, n, factored_case(c), counts[c % 5]);
    solve_and_check_factored(&f, numbers[c / 3 % 3], way_of(c), (c / 2) % 8);
    factored_free(&f);
  }
}

/* Lanes, whose vectors between the sweeps have a workspace if rows are permuted, with groups of all
 * sizes, and beside levels where U has long rows. */
TEST(lanes_solve_permuted_factors) {
  const trs_batch_way *lanes = &ways[0];
  for (int c = 0; c < 48; c++) {
    factored_kind kind = factored_case(c);
    kind.full_U = c % 3 == 1;
    kind.hermitian = kind.hermitian && !kind.full_U;
    const bool narrow = c % 3 == 2; /* rows of two entries each */
    factored f =
        factored_random(c % 2 ? 100 : 33, narrow ? 1 : 0.1, narrow ? 2 : 10, kind, c % 4 ? 33 : 70);
    trs_batch_info info = {.struct_size = sizeof info};
    trs_plan *B = factored_of(&f, f.count, 1, lanes);
    assert_success(trs_batch_get_info(B, &info));
    assert_non_null(strstr(info.method, "L by lanes, U by"));
    assert_true((strcmp(info.method, "L by lanes, U by lanes") == 0) == !kind.full_U);
    trs_plan_destroy(B);
    if (!EMULATED || c % 7 == 1) solve_and_check_factored(&f, c % 3 ? 1 : 6, lanes, c / 2 % 8);
    factored_free(&f);
  }
}

TEST(one_matrix_may_hold_both_factors) {
  for (int w = 0; w <= (int)WAYS; w++) {
    trs_batch_prefer(way_of(w));
    assert_common_matrix_taken(ctx);
    trs_batch_prefer(NULL);
  }
}

TEST(every_kind_of_factors_is_solved) {
  for (int w = 0; w <= (int)WAYS; w += EMULATED ? 5 : 1) {
    trs_batch_prefer(way_of(w));
    assert_kinds_are_solved(ctx);
    trs_batch_prefer(NULL);
  }
}

TEST(a_zero_pivot_of_factors_names_its_system_factor_and_row) {
  for (int w = 0; w <= (int)WAYS; w += EMULATED ? 3 : 1) {
    trs_batch_prefer(way_of(w));
    assert_faults_of_factors_are_told(ctx);
    trs_batch_prefer(NULL);
  }
}

/* Systems of which L alone, U alone, or both grow in a substitution have small errors beside others
 * that keep their bits. */
TEST(factors_that_would_lose_digits_are_solved_as_they_are) {
  enum { N = 60, SYSTEMS = 24 };
  static double b[N * SYSTEMS], x[N * SYSTEMS], all[N * SYSTEMS];
  const factored_kind kind = {.scalar = TRS_DOUBLE,
                              .format_L = TRS_CSR,
                              .format_U = TRS_CSR,
                              .row_perm = true,
                              .col_perm = true,
                              .row_scale = true,
                              .col_scale = true};
  trs_random_fill(b, N * SYSTEMS, TRS_DOUBLE, 8);
  for (int w = 0; w < WAYS; w++) {
    if (!ways[w].depth) continue;
    factored f = factored_random(N, 1, 2, kind, SYSTEMS);
    trs_plan *B = factored_of(&f, SYSTEMS, 1, &ways[w]);
    assert_success(factored_update(B, &f, 0));
    assert_success(trs_batch_solve(B, all, N, 0, b, N, 0, 1, TRS_COL_MAJOR));
    for (int k = 0; k < SYSTEMS; k++) {
      double *L = (double *)f.L_val + k * f.nnz_L, *U = (double *)f.U_val + k * f.nnz_U;
      for (int64_t i = 0; i < N; i++) {
        for (int64_t e = f.L.ptr[i]; e < f.L.ptr[i + 1] - 1 && (k % 5 == 1 || k % 5 == 3); e++)
          L[e] *= 50;
        for (int64_t e = f.U.ptr[i] + 1; e < f.U.ptr[i + 1] && (k % 5 == 2 || k % 5 == 3); e++)
          U[e] *= 50;
      }
    }
    assert_success(factored_update(B, &f, 0));
    memcpy(x, b, sizeof x);
    assert_success(trs_batch_solve(B, x, N, 0, x, N, 0, 1, TRS_COL_MAJOR));
    assert_factored_solved(&f, NULL, 1, x, b, N, N, 1);
    for (int k = 0; k < SYSTEMS; k++)
      if (k % 5 == 0 || k % 5 == 4) assert_memory_equal(x + N * k, all + N * k, N * sizeof *x);
    trs_plan_destroy(B);
    factored_free(&f);
  }
}

TEST(factors_without_rows_or_systems) {
  for (int64_t n = 0; n <= 3; n += 3) {
    factored f = factored_random(n, 0.1, n, factored_case(4), 3);
    trs_plan *B = factored_batch(ctx, &f, n ? 0 : 3, 1);
    double x[1];
    assert_success(factored_update(B, &f, 0));
    assert_success(trs_batch_solve(B, x, n, 0, x, n, 0, 1, TRS_COL_MAJOR));
    trs_plan_destroy(B);
    factored_free(&f);
  }
}

TEST(every_allocation_of_factors_may_fail) { assert_factored_survives(ctx); }

#ifndef TRS_EMULATED
static trs_status update_and_solve(void *S) {
  const systems *s = S;
  trs_batch_options options = {.struct_size = sizeof options, .nrhs = 1};
  trs_matrix *T = systems_matrix(s, 0);
  trs_plan *B;
  trs_status status =
      trs_batch_create(&B, ctx, T, s->kind.uplo, s->kind.trans, s->kind.diag, s->count, &options);
  trs_matrix_destroy(T);
  if (status) return status;
  double *b = calloc((size_t)(s->count * s->t.n), sizeof *b);
  status = trs_batch_update(B, s->val, 0);
  if (!status) status = trs_batch_solve(B, b, s->t.n, 0, b, s->t.n, 0, 1, TRS_COL_MAJOR);
  free(b);
  trs_plan_destroy(B);
  return status;
}

TEST(the_memory_of_the_gpu_may_end_anywhere) {
  systems s = systems_random(100, 0.1, 100, plain_kind, 100);
  gpu_assert_survives_limits(update_and_solve, &s, 50000);
  systems_free(&s);
}

/* A captured solve of b in place, in device memory. */
static gpu_graph captured(trs_plan *B, double *there, int64_t n, trs_stream stream) {
  gpu_capture_begin(stream);
  assert_success(trs_batch_solve(B, there, n, 0, there, n, 0, 1, TRS_COL_MAJOR));
  return gpu_capture_end(stream);
}

/* x by a replay. */
static void replay(gpu_graph graph, double *x, const double *b, double *there, int64_t numbers,
                   trs_stream stream) {
  const int64_t bytes = numbers * (int64_t)sizeof *b;
  assert_success(trs_device_copy(there, b, bytes, stream));
  gpu_replay(graph, stream);
  assert_success(trs_device_copy(x, there, bytes, stream));
  assert_success(trs_device_wait(stream));
}

enum { GRAPH_ROWS = 100, GRAPH_SYSTEMS = 50 };

/* Of a batch of GRAPH_SYSTEMS systems of GRAPH_ROWS rows in double.  `update` is called once the
 * batch has its stream. */
static void assert_solves_become_a_graph(trs_plan *B,
                                         trs_status (*update)(trs_plan *, const void *),
                                         const void *from) {
  enum { ALL = GRAPH_ROWS * GRAPH_SYSTEMS };
  static double b[ALL], x[ALL], again[ALL];
  trs_stream stream = gpu_stream();
  double *there = gpu_space(sizeof b);
  assert_success(trs_plan_set_stream(B, stream));
  assert_success(update(B, from));
  gpu_graph graph = captured(B, there, GRAPH_ROWS, stream);
  for (uint64_t seed = 0; seed < 3; seed++) {
    trs_random_fill(b, ALL, TRS_DOUBLE, seed);
    assert_success(trs_batch_solve(B, x, GRAPH_ROWS, 0, b, GRAPH_ROWS, 0, 1, TRS_COL_MAJOR));
    replay(graph, again, b, there, ALL, stream);
    assert_memory_equal(again, x, sizeof x);
  }
  gpu_graph_free(graph);
  trs_plan_destroy(B);
  gpu_free(there);
  gpu_stream_free(stream);
}

static trs_status update_systems(trs_plan *B, const void *S) {
  return trs_batch_update(B, ((const systems *)S)->val, 0);
}

TEST(solves_become_a_graph_in_a_stream_of_the_caller) {
  systems s = systems_random(GRAPH_ROWS, 0.1, GRAPH_ROWS, plain_kind, GRAPH_SYSTEMS);
  assert_solves_become_a_graph(batch_of(&s, GRAPH_SYSTEMS, 1, NULL), update_systems, &s);
  systems_free(&s);
}

static trs_status update_and_solve_factored(void *F) {
  const factored *f = F;
  trs_batch_options options = {.struct_size = sizeof options, .nrhs = 1};
  trs_factors *first = factored_factors(f, 0);
  trs_plan *B;
  trs_status status = trs_batch_create_factors(&B, ctx, first, f->kind.trans, f->count, &options);
  trs_factors_destroy(first);
  if (status) return status;
  double *b = calloc((size_t)(f->count * f->n), sizeof *b);
  status = factored_update(B, f, 0);
  if (!status) status = trs_batch_solve(B, b, f->n, 0, b, f->n, 0, 1, TRS_COL_MAJOR);
  free(b);
  trs_plan_destroy(B);
  return status;
}

TEST(the_memory_of_the_gpu_may_end_anywhere_for_factors) {
  factored_kind kind = {.scalar = TRS_DOUBLE, .row_perm = true, .col_scale = true};
  factored f = factored_random(100, 0.1, 100, kind, 100);
  gpu_assert_survives_limits(update_and_solve_factored, &f, 50000);
  factored_free(&f);
}

static trs_status update_factored(trs_plan *B, const void *F) { return factored_update(B, F, 0); }

/* Of lanes, with a workspace, and of levels. */
TEST(solves_with_factors_become_a_graph) {
  const factored_kind kind = {.scalar = TRS_DOUBLE,
                              .row_perm = true,
                              .col_perm = true,
                              .row_scale = true,
                              .col_scale = true};
  for (int w = 0; w < 6; w++) {
    factored f = factored_random(GRAPH_ROWS, 0.05, 30, kind, GRAPH_SYSTEMS);
    assert_solves_become_a_graph(factored_of(&f, GRAPH_SYSTEMS, 1, way_of(w)), update_factored, &f);
    factored_free(&f);
  }
}

/* A graph knows the systems that are solved without substitution when it is captured. */
TEST(a_graph_gives_nan_for_systems_that_came_to_need_another_kernel) {
  enum { N = 60, SYSTEMS = 20, GROWN = 7 };
  systems s = systems_random(N, 1, 2, plain_kind, SYSTEMS);
  static double b[N * SYSTEMS], x[N * SYSTEMS], again[N * SYSTEMS];
  const trs_batch_way way = {
      .log_systems = 1, .threads = 64, .shared = true, .width = 1, .depth = -1};
  trs_stream stream = gpu_stream();
  double *there = gpu_space(sizeof b);
  trs_plan *B = batch_of(&s, SYSTEMS, 1, &way);
  trs_random_fill(b, N * SYSTEMS, TRS_DOUBLE, 5);
  assert_success(trs_plan_set_stream(B, stream));
  assert_success(trs_batch_update(B, s.val, 0));
  gpu_graph graph = captured(B, there, N, stream);
  for (int64_t e = 0; e < s.nnz; e++)
    if (s.t.ptr[s.t.idx[e] + 1] - 1 != e) ((double *)s.val)[GROWN * s.nnz + e] *= 50;
  assert_success(trs_batch_update(B, s.val, 0));
  assert_success(trs_batch_solve(B, x, N, 0, b, N, 0, 1, TRS_COL_MAJOR));
  replay(graph, again, b, there, N * SYSTEMS, stream);
  for (int k = 0; k < SYSTEMS; k++) {
    for (int i = 0; i < N && k == GROWN; i++) assert_true(isnan(again[N * k + i]));
    if (k != GROWN) assert_memory_equal(again + N * k, x + N * k, N * sizeof *x);
  }
  gpu_graph_free(graph);
  trs_plan_destroy(B);
  gpu_free(there);
  gpu_stream_free(stream);
  systems_free(&s);
}

TEST(arrays_that_are_not_aligned_are_refused) {
  systems s = systems_random(
      4, 1, 1, (system_kind){.scalar = TRS_DCOMPLEX, .format = TRS_CSR, .uplo = TRS_LOWER}, 1);
  char *there = gpu_space(1000);
  trs_plan *B = batch_of(&s, 1, 1, NULL);
  assert_failure(TRS_ERROR_ARGUMENT, "val in device memory is not aligned",
                 trs_batch_update(B, there + 8, 0));
  assert_success(trs_batch_update(B, s.val, 0));
  assert_failure(TRS_ERROR_ARGUMENT, "b in device memory is not aligned",
                 trs_batch_solve(B, there + 512, 4, 0, there + 8, 4, 0, 1, TRS_COL_MAJOR));
  trs_plan_destroy(B);
  gpu_free(there);
  systems_free(&s);
}
#endif
