/* arguments.c - impossible arguments: NULL for every pointer of every public function, leading
 * dimensions beyond the address space, and x and b that overlap or only interleave. */
#include "matrix/rhs.h"

#include "bsr.h"
#include "test.h"

enum { N = 3 };

static trs_context *ctx;
static trs_matrix *A;
static trs_factors *F;
static trs_plan *plan, *both;
static trs_plan *R;

static const int64_t ptr[] = {0, 1, 2, 3};
static const int32_t idx[] = {0, 1, 2};
static const double val[] = {2, 2, 2};
static double x[N], b[N];

static trs_status give(void *user, void *values, int64_t count, const int32_t *vector) {
  (void)user, (void)count, (void)vector, (void)values;
  return TRS_SUCCESS;
}

static int set_up(void **state) {
  trs_relax_options relax = {.struct_size = sizeof(trs_relax_options)};
  assert_success(trs_context_create(&ctx, "serial"));
  assert_success(
      trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, N, N, TRS_PTR64, ptr, idx, val, TRS_COPY));
  assert_success(trs_factors_create(&F, A, TRS_NONUNIT, A, TRS_NONUNIT, NULL, NULL, NULL, NULL));
  assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL));
  assert_success(trs_analyze_factors(&both, ctx, F, TRS_NO_TRANS, NULL));
  assert_success(trs_relax_create(&R, ctx, A, 1, &relax));
  return 0;
}

static int tear_down(void **state) {
  trs_plan_destroy(R);
  trs_plan_destroy(both);
  trs_plan_destroy(plan);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
  trs_context_destroy(ctx);
  return 0;
}

/* ---- NULL ---- */

#define REFUSED(call)                                                    \
  do {                                                                   \
    if ((call) == TRS_SUCCESS) fail_msg("%s succeeds", #call);           \
    assert_true(trs_last_error()->message &&*trs_last_error()->message); \
  } while (0)

/* Calls of many arguments, of which some may be NULL. */

static trs_status matrix(trs_matrix **M, const void *p, const void *i, const void *v) {
  return trs_matrix_create(M, TRS_CSR, TRS_DOUBLE, N, N, TRS_PTR64, p, i, v, TRS_COPY);
}

static trs_status on_device(trs_matrix **M, trs_context *c, const void *p, const void *i,
                            const void *v) {
  return trs_matrix_create_device(M, c, TRS_CSR, TRS_DOUBLE, N, N, N, TRS_PTR64, p, i, v);
}

static trs_status deferred(trs_matrix **M, const void *p, const void *i, trs_values_callback g) {
  return trs_matrix_create_deferred(M, TRS_CSR, TRS_DOUBLE, N, N, TRS_PTR64, p, i, TRS_COPY, g,
                                    NULL);
}

static trs_status once(trs_uplo uplo, int64_t n, const void *p, const void *i, const void *v,
                       void *to, const void *from) {
  return trs_solve_once(to, from, uplo, TRS_NONUNIT, TRS_CSR, TRS_DOUBLE, n, TRS_PTR64, p, i, v);
}

static trs_status blocks(trs_context *c, trs_plan **Q, const void *p, const void *i,
                         const void *v) {
  return trs_relax_create_bsr(Q, c, BSR(TRS_DOUBLE, N, 0, 1, TRS_ROW_MAJOR, TRS_PTR64, p, i, v),
                              NULL);
}

TEST(matrices_refuse_null) {
  trs_matrix *M = NULL;
  REFUSED(matrix(NULL, ptr, idx, val));
  REFUSED(matrix(&M, NULL, idx, val));
  REFUSED(matrix(&M, ptr, NULL, val));
  REFUSED(matrix(&M, ptr, idx, NULL));
  REFUSED(trs_matrix_create_coo(NULL, TRS_DOUBLE, N, N, N, TRS_IDX32, idx, idx, val));
  REFUSED(trs_matrix_create_coo(&M, TRS_DOUBLE, N, N, N, TRS_IDX32, NULL, idx, val));
  REFUSED(trs_matrix_create_coo(&M, TRS_DOUBLE, N, N, N, TRS_IDX32, idx, NULL, val));
  REFUSED(trs_matrix_create_coo(&M, TRS_DOUBLE, N, N, N, TRS_IDX32, idx, idx, NULL));
  REFUSED(on_device(NULL, ctx, ptr, idx, val));
  REFUSED(on_device(&M, NULL, ptr, idx, val));
  REFUSED(on_device(&M, ctx, NULL, NULL, NULL));
  REFUSED(deferred(NULL, ptr, idx, give));
  REFUSED(deferred(&M, NULL, idx, give));
  REFUSED(deferred(&M, ptr, NULL, give));
  REFUSED(deferred(&M, ptr, idx, NULL));
  REFUSED(trs_matrix_set_values(NULL, val));
  REFUSED(trs_matrix_set_values(A, NULL));
  REFUSED(trs_matrix_convert(NULL, A, TRS_CSR, TRS_DOUBLE));
  REFUSED(trs_matrix_convert(&M, NULL, TRS_CSR, TRS_DOUBLE));
  REFUSED(trs_matrix_triangle(NULL, A, TRS_LOWER, 0));
  REFUSED(trs_matrix_triangle(&M, NULL, TRS_LOWER, 0));
}

TEST(analyses_refuse_null) {
  trs_context *c;
  trs_factors *G;
  trs_plan *p;
  REFUSED(trs_context_create(NULL, "serial"));
  assert_success(trs_context_create(&c, NULL));
  trs_context_destroy(c);
  REFUSED(trs_factor(NULL, A, NULL));
  REFUSED(trs_factor(&G, NULL, NULL));
  REFUSED(trs_factors_create(NULL, A, TRS_NONUNIT, A, TRS_NONUNIT, NULL, NULL, NULL, NULL));
  REFUSED(trs_factors_create(&G, NULL, TRS_NONUNIT, A, TRS_NONUNIT, NULL, NULL, NULL, NULL));
  REFUSED(trs_factors_create(&G, A, TRS_NONUNIT, NULL, TRS_NONUNIT, NULL, NULL, NULL, NULL));
  REFUSED(trs_analyze(&p, NULL, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL));
  REFUSED(trs_analyze(NULL, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL));
  REFUSED(trs_analyze(&p, ctx, NULL, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL));
  REFUSED(trs_analyze_factors(&p, NULL, F, TRS_NO_TRANS, NULL));
  REFUSED(trs_analyze_factors(NULL, ctx, F, TRS_NO_TRANS, NULL));
  REFUSED(trs_analyze_factors(&p, ctx, NULL, TRS_NO_TRANS, NULL));
}

TEST(a_single_solve_refuses_null) {
  REFUSED(once(TRS_LOWER, N, NULL, idx, val, x, b));
  REFUSED(once(TRS_LOWER, N, ptr, NULL, val, x, b));
  REFUSED(once(TRS_LOWER, N, ptr, idx, NULL, x, b));
  REFUSED(once(TRS_LOWER, N, ptr, idx, val, NULL, b));
  REFUSED(once(TRS_LOWER, N, ptr, idx, val, x, NULL));
  REFUSED(once(TRS_LOWER, N, ptr, idx, val, x + 1, x));
  REFUSED(once(TRS_GENERAL, N, ptr, idx, val, x, b));
  REFUSED(once(TRS_LOWER, -1, ptr, idx, val, x, b));
}

TEST(relaxations_refuse_null) {
  trs_plan *Q;
  REFUSED(trs_relax_create(&Q, NULL, A, 1, NULL));
  REFUSED(trs_relax_create(NULL, ctx, A, 1, NULL));
  REFUSED(trs_relax_create(&Q, ctx, NULL, 1, NULL));
  REFUSED(blocks(NULL, &Q, ptr, idx, val));
  REFUSED(blocks(ctx, NULL, ptr, idx, val));
  REFUSED(blocks(ctx, &Q, NULL, idx, val));
  REFUSED(blocks(ctx, &Q, ptr, NULL, val));
  REFUSED(blocks(ctx, &Q, ptr, idx, NULL));
}

TEST(files_refuse_null) {
  trs_matrix *M;
  trs_factors *G;
  trs_content content;
  void *values;
  int64_t nrows, ncols;
  REFUSED(trs_matrix_read(NULL, "gen:chain:3", NULL));
  REFUSED(trs_matrix_read(&M, NULL, NULL));
  REFUSED(trs_matrix_open(NULL, "a.mtx", TRS_CSR, TRS_LOWER, 0, NULL));
  REFUSED(trs_matrix_open(&M, NULL, TRS_CSR, TRS_LOWER, 0, NULL));
  REFUSED(trs_matrix_write(NULL, "a.mtx"));
  REFUSED(trs_matrix_write(A, NULL));
  REFUSED(trs_vectors_read(NULL, &nrows, &ncols, TRS_DOUBLE, "a.mtx", NULL));
  REFUSED(trs_vectors_read(&values, NULL, &ncols, TRS_DOUBLE, "a.mtx", NULL));
  REFUSED(trs_vectors_read(&values, &nrows, NULL, TRS_DOUBLE, "a.mtx", NULL));
  REFUSED(trs_vectors_read(&values, &nrows, &ncols, TRS_DOUBLE, NULL, NULL));
  REFUSED(trs_vectors_write(NULL, 1, 1, 1, TRS_COL_MAJOR, TRS_DOUBLE, "a.mtx"));
  REFUSED(trs_vectors_write(x, 1, 1, 1, TRS_COL_MAJOR, TRS_DOUBLE, NULL));
  REFUSED(trs_factors_read(NULL, "a.h5", NULL));
  REFUSED(trs_factors_read(&G, NULL, NULL));
  REFUSED(trs_factors_write(NULL, "a.h5"));
  REFUSED(trs_factors_write(F, NULL));
  REFUSED(trs_file_content(NULL, "a.h5"));
  REFUSED(trs_file_content(&content, NULL));
}

TEST(solves_refuse_null) {
  trs_backward_error error = {.struct_size = sizeof error};
  trs_plan_info info = {.struct_size = sizeof info};
  trs_plan_share share = {.struct_size = sizeof share};
  trs_relax_info relax = {.struct_size = sizeof relax};
  int64_t *rows, levels;
  double seconds;
  REFUSED(trs_update(NULL, A));
  REFUSED(trs_update(plan, NULL));
  REFUSED(trs_update_factors(NULL, F));
  REFUSED(trs_update_factors(both, NULL));
  assert_success(trs_update(plan, A)); /* until then they solve nothing */
  assert_success(trs_update_factors(both, F));
  REFUSED(trs_plan_get_info(NULL, &info));
  REFUSED(trs_plan_get_info(plan, NULL));
  REFUSED(trs_plan_get_levels(NULL, &rows, &levels));
  REFUSED(trs_plan_get_levels(plan, NULL, &levels));
  REFUSED(trs_plan_get_levels(plan, &rows, NULL));
  REFUSED(trs_plan_bound(NULL, &seconds));
  REFUSED(trs_plan_bound(plan, NULL));
  REFUSED(trs_solve(NULL, x, N, b, N, 1, TRS_COL_MAJOR));
  REFUSED(trs_solve(plan, NULL, N, b, N, 1, TRS_COL_MAJOR));
  REFUSED(trs_solve(plan, x, N, NULL, N, 1, TRS_COL_MAJOR));
  REFUSED(trs_plan_get_share(NULL, &share, NULL, 0, 1));
  REFUSED(trs_plan_get_share(plan, NULL, NULL, 0, 1));
  REFUSED(trs_solve_distributed(NULL, (void *[]){x}, N, (const void *[]){b}, N, 1, TRS_COL_MAJOR));
  REFUSED(trs_solve_distributed(plan, NULL, N, (const void *[]){b}, N, 1, TRS_COL_MAJOR));
  REFUSED(trs_solve_distributed(plan, (void *[]){x}, N, NULL, N, 1, TRS_COL_MAJOR));
  REFUSED(trs_solve_distributed(plan, (void *[]){NULL}, N, (const void *[]){b}, N, 1, 0));
  REFUSED(trs_plan_set_stream(NULL, NULL));
  REFUSED(trs_plan_set_streams(NULL, (void *[]){NULL}));
  REFUSED(trs_plan_set_streams(plan, NULL));
  REFUSED(trs_plan_wait(NULL));
  REFUSED(trs_update(NULL, A));
  REFUSED(trs_update(R, NULL));
  REFUSED(
      trs_update_bsr(NULL, BSR((trs_scalar)0, 0, 0, 0, TRS_ROW_MAJOR, TRS_PTR64, ptr, idx, val)));
  REFUSED(trs_update_bsr(R, BSR((trs_scalar)0, 0, 0, 0, TRS_ROW_MAJOR, TRS_PTR64, NULL, idx, val)));
  REFUSED(trs_update_bsr(R, BSR((trs_scalar)0, 0, 0, 0, TRS_ROW_MAJOR, TRS_PTR64, ptr, NULL, val)));
  REFUSED(trs_update_bsr(R, BSR((trs_scalar)0, 0, 0, 0, TRS_ROW_MAJOR, TRS_PTR64, ptr, idx, NULL)));
  REFUSED(trs_relax_sweep(NULL, x, N, b, N, 1, TRS_COL_MAJOR, NULL));
  REFUSED(trs_relax_sweep(R, NULL, N, b, N, 1, TRS_COL_MAJOR, NULL));
  REFUSED(trs_relax_sweep(R, x, N, NULL, N, 1, TRS_COL_MAJOR, NULL));
  REFUSED(trs_plan_set_stream(NULL, NULL));
  REFUSED(trs_plan_wait(NULL));
  REFUSED(trs_relax_get_info(NULL, &relax));
  REFUSED(trs_relax_get_info(R, NULL));
  REFUSED(trs_check(&error, NULL, TRS_LOWER, 0, 0, x, N, b, N, 1, TRS_COL_MAJOR));
  REFUSED(trs_check(&error, A, TRS_LOWER, 0, 0, NULL, N, b, N, 1, TRS_COL_MAJOR));
  REFUSED(trs_check(&error, A, TRS_LOWER, 0, 0, x, N, NULL, N, 1, TRS_COL_MAJOR));
  REFUSED(trs_check(NULL, A, TRS_LOWER, 0, 0, x, N, b, N, 1, TRS_COL_MAJOR));
  REFUSED(trs_check_factors(&error, NULL, 0, x, N, b, N, 1, TRS_COL_MAJOR));
  REFUSED(trs_check_factors(&error, F, 0, NULL, N, b, N, 1, TRS_COL_MAJOR));
  REFUSED(trs_check_factors(&error, F, 0, x, N, NULL, N, 1, TRS_COL_MAJOR));
  REFUSED(trs_check_factors(NULL, F, 0, x, N, b, N, 1, TRS_COL_MAJOR));
}

TEST(accessors_take_null) {
  trs_matrix_info matrix = {.struct_size = sizeof(trs_matrix_info), .nrows = 9};
  trs_factors_info factors = {.struct_size = sizeof(trs_factors_info), .n = 9};
  const int64_t *p = ptr;
  const int32_t *i = idx;
  const void *v = val;
  int64_t bytes = -1;
  int first = 9, local = 9, rank = 9;
  char text[9] = "before";
  assert_int_equal(trs_context_get_kind(NULL, &rank), TRS_KIND_NONE);
  assert_int_equal(rank, 0);
  assert_int_equal(trs_context_threads(NULL), 0);
  assert_int_equal(trs_context_processes(NULL, &rank), 0);
  assert_int_equal(trs_context_members(NULL, &first, &local), 0);
  assert_true(rank == 0 && first == 0 && local == 0);
  assert_int_equal(trs_context_processes(ctx, NULL), 1);
  assert_int_equal(trs_context_members(ctx, NULL, NULL), 1);
  assert_int_equal(trs_context_gpu_memory(NULL), 0);
  assert_int_equal(trs_context_gpu(NULL, 0), -1);
  assert_failure(TRS_ERROR_ARGUMENT, "A is NULL", trs_matrix_get_info(NULL, &matrix));
  assert_failure(TRS_ERROR_ARGUMENT, "info is NULL", trs_matrix_get_info(A, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "A is NULL", trs_matrix_get_arrays(NULL, &p, &i, &v));
  assert_success(trs_matrix_get_arrays(A, NULL, NULL, NULL));
  assert_true(!p && !i && !v);
  assert_failure(TRS_ERROR_ARGUMENT, "F is NULL", trs_factors_get_info(NULL, &factors));
  assert_failure(TRS_ERROR_ARGUMENT, "info is NULL", trs_factors_get_info(F, NULL));
  assert_int_equal(trs_plan_describe(NULL, text, sizeof text), 0);
  assert_string_equal(text, "");
  assert_true(trs_plan_describe(plan, NULL, 0) > 0);
  assert_int_equal(trs_plan_describe(plan, NULL, 9), 0);
  trs_memory_usage(NULL, NULL);
  trs_memory_usage(&bytes, NULL);
  assert_true(bytes > 0);
  trs_random_fill(NULL, 9, TRS_DOUBLE, 1);
  trs_context_destroy(NULL);
  trs_matrix_destroy(NULL);
  trs_factors_destroy(NULL);
  trs_plan_destroy(NULL);
  trs_plan_destroy(NULL);
  trs_free(NULL);
}

/* ---- Sizes ---- */

TEST(leading_dimensions_beyond_all_addresses_are_refused) {
  const int64_t huge[] = {(int64_t)1 << 61, INT64_MAX / 8, INT64_MAX};
  trs_backward_error error = {.struct_size = sizeof error};
  for (int k = 0; k < 3; k++) {
    int64_t ld = huge[k];
    assert_failure(TRS_ERROR_ARGUMENT, "ldx = ", trs_solve(plan, x, ld, b, N, 9, TRS_COL_MAJOR));
    assert_failure(TRS_ERROR_ARGUMENT, "ldb = ", trs_solve(plan, x, N, b, ld, 9, TRS_COL_MAJOR));
    assert_failure(TRS_ERROR_ARGUMENT, "ldx = ", trs_solve(plan, x, ld, b, ld, 2, TRS_ROW_MAJOR));
    assert_failure(TRS_ERROR_ARGUMENT, "ldx = ", trs_solve(plan, b, ld, b, ld, 9, TRS_COL_MAJOR));
    assert_failure(TRS_ERROR_ARGUMENT, "address space",
                   trs_relax_sweep(R, x, ld, b, N, 9, TRS_COL_MAJOR, NULL));
    assert_failure(TRS_ERROR_ARGUMENT, "address space",
                   trs_check(&error, A, TRS_LOWER, 0, 0, x, ld, b, N, 9, TRS_COL_MAJOR));
    assert_failure(TRS_ERROR_ARGUMENT, "address space",
                   trs_check_factors(&error, F, 0, x, ld, b, N, 9, TRS_COL_MAJOR));
    assert_failure(
        TRS_ERROR_ARGUMENT, "address space",
        trs_solve_distributed(plan, (void *[]){x}, ld, (const void *[]){b}, N, 9, TRS_COL_MAJOR));
    assert_failure(TRS_ERROR_ARGUMENT, "address space",
                   trs_vectors_write(x, N, 9, ld, TRS_COL_MAJOR, TRS_DOUBLE, "no.mtx"));
  }
  assert_failure(TRS_ERROR_ARGUMENT, "", trs_solve(plan, x, N, b, N, INT64_MAX / 2, TRS_COL_MAJOR));
  for (int i = 0; i < N; i++) b[i] = 2;
  assert_success(trs_solve(plan, x, INT64_MAX, b, INT64_MAX, 1, TRS_COL_MAJOR)); /* one column */
  assert_true(x[0] == 1 && x[N - 1] == 1);
}

/* ---- Overlap ---- */

enum { ROOM = 160 };

/* Marks the bytes of an array. */
static void mark(char *bytes, int64_t at, int64_t n, int64_t nrhs, int64_t ld, trs_layout layout) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t r = 0; r < nrhs; r++)
      memset(bytes + at + 4 * (layout == TRS_COL_MAJOR ? i + r * ld : i * ld + r), 1, 4);
}

/* Every pair of small arrays of floats, also at odd addresses, checked byte by byte. */
TEST(arrays_overlap_where_they_share_a_byte) {
  static char room[4 * ROOM];
  int64_t accepted = 0;
  for (int c = 0; c < 2 * 3 * 4 * 4; c++) {
    trs_layout layout = (trs_layout)(c & 1);
    int64_t n = 1 + c / 2 % 3, nrhs = 1 + c / 6 % 4, least = layout ? nrhs : n, ld = least + c / 24;
    for (int64_t at = -40; at <= 40; at++) {
      char first[4 * ROOM] = {0}, second[4 * ROOM] = {0};
      trs_rhs rhs;
      int64_t shared = 0;
      mark(first, 80, n, nrhs, ld, layout);
      mark(second, 80 + at, n, nrhs, ld, layout);
      for (int i = 0; i < 4 * ROOM; i++) shared += first[i] && second[i];
      trs_status status =
          trs_rhs_make(&rhs, n, TRS_FLOAT, room + 80, ld, room + 80 + at, ld, nrhs, layout);
      if ((status == TRS_SUCCESS) != (!shared || at == 0))
        fail_msg("%d x %d, ld %d, layout %d, %d bytes apart: %s", (int)n, (int)nrhs, (int)ld,
                 layout, (int)at, status ? trs_last_error()->message : "accepted");
      accepted += at && !status;
      if (shared && at)
        assert_int_equal(
            trs_rhs_make(&rhs, n, TRS_FLOAT, room + 80, ld, room + 80 + at, ld + 1, nrhs, layout),
            TRS_ERROR_ARGUMENT);
    }
  }
  assert_true(accepted > 1000);
}

/* Columns 0 and 1 of four are b, the others x. */
TEST(interleaved_columns_are_solved) {
  double both_of[N][4];
  for (int i = 0; i < N; i++)
    for (int r = 0; r < 4; r++) both_of[i][r] = 2 * (r + 1);
  assert_success(trs_solve(plan, &both_of[0][2], 4, both_of, 4, 2, TRS_ROW_MAJOR));
  for (int i = 0; i < N; i++) {
    assert_true(both_of[i][0] == 2 && both_of[i][1] == 4);
    assert_true(both_of[i][2] == 1 && both_of[i][3] == 2);
  }
  assert_failure(TRS_ERROR_ARGUMENT, "overlap",
                 trs_solve(plan, &both_of[0][1], 4, both_of, 4, 2, TRS_ROW_MAJOR));
}

/* The call fails and its output, which was not NULL, is. */
#define MAKES_NOTHING(type, call)              \
  do {                                         \
    type *made = (type *)(void *)x;            \
    assert_int_not_equal((call), TRS_SUCCESS); \
    assert_null(made);                         \
  } while (0)

TEST(failures_make_nothing) {
  MAKES_NOTHING(trs_context, trs_context_create(&made, "nowhere"));
  MAKES_NOTHING(trs_matrix, trs_matrix_create(&made, TRS_CSR, TRS_DOUBLE, N, N, TRS_PTR64, NULL,
                                              idx, val, TRS_COPY));
  MAKES_NOTHING(trs_matrix, trs_matrix_create_coo(&made, TRS_DOUBLE, N, N, -1, 0, idx, idx, val));
  MAKES_NOTHING(trs_matrix, trs_matrix_create_device(&made, ctx, TRS_CSR, TRS_DOUBLE, N, N, N, 0,
                                                     ptr, idx, val));
  MAKES_NOTHING(trs_matrix, trs_matrix_convert(&made, NULL, TRS_CSR, TRS_DOUBLE));
  MAKES_NOTHING(trs_matrix, trs_matrix_triangle(&made, NULL, TRS_LOWER, 0));
  MAKES_NOTHING(trs_matrix, trs_matrix_read(&made, NULL, NULL));
  MAKES_NOTHING(trs_factors, trs_factor(&made, NULL, NULL));
  MAKES_NOTHING(trs_factors,
                trs_factors_create(&made, NULL, TRS_UNIT, A, TRS_NONUNIT, NULL, NULL, NULL, NULL));
  MAKES_NOTHING(trs_plan, trs_analyze(&made, NULL, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL));
  MAKES_NOTHING(trs_plan, trs_analyze_factors(&made, ctx, NULL, TRS_NO_TRANS, NULL));
  MAKES_NOTHING(trs_plan, trs_plan_clone(&made, NULL));
}

const test_program program = {.begin = set_up, .end = tear_down};
