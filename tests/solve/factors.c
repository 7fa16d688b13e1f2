/* factors.c - plans over factors on a CPU and on an OpenCL device: permutations and scalings on
 * both sides, on one or on none, for every number of right-hand sides in both layouts, in place and
 * not. */
#include <stdlib.h>
#include <string.h>

#include "solve/threads/schedule.h"
#include "support.h"
#include "test.h"

enum { N = 900 }; /* more rows than a sweep moves at a time */

typedef struct sides {
  bool row_perm, col_perm, row_scale, col_scale;
} sides;

static trs_matrix *triangle_matrix(bool lower, trs_scalar scalar, trs_format format) {
  trs_matrix *T;
  bool prefix = lower == (format == TRS_CSR);
  triangle t = triangle_random(N, 0.02, 60, prefix, scalar, false, 3 + lower);
  assert_success(
      trs_matrix_create(&T, format, scalar, N, N, TRS_PTR64, t.ptr, t.idx, t.val, TRS_COPY));
  triangle_free(&t);
  return T;
}

static trs_factors *make(trs_scalar scalar, trs_format format, sides s) {
  int32_t row_perm[N], col_perm[N];
  double row_scale[N], col_scale[N];
  trs_factors *F;
  trs_matrix *L = triangle_matrix(true, scalar, format),
             *U = triangle_matrix(false, scalar, format);
  for (int i = 0; i < N; i++) {
    row_perm[i] = 7 * i % N;
    col_perm[i] = (11 * i + 5) % N;
    row_scale[i] = i % 3 ? 0.5 : 2;
    col_scale[i] = i % 5 ? 1 : 4;
  }
  assert_success(trs_factors_create(&F, L, TRS_NONUNIT, U, TRS_NONUNIT,
                                    s.row_perm ? row_perm : NULL, s.col_perm ? col_perm : NULL,
                                    s.row_scale ? row_scale : NULL,
                                    s.col_scale ? col_scale : NULL));
  trs_matrix_destroy(L);
  trs_matrix_destroy(U);
  return F;
}

/* Methods that add atomically give other bits in place. */
static void solve_and_check(trs_plan *plan, const trs_factors *F, trs_trans trans,
                            trs_scalar scalar, int64_t nrhs, trs_layout layout, bool atomic) {
  const int64_t ld = (layout == TRS_COL_MAJOR ? N : nrhs) + 2, count = (N + 2) * (nrhs + 2);
  const size_t bytes = (size_t)count * scalar_bytes(scalar);
  trs_backward_error error = {.struct_size = sizeof error};
  void *b = malloc(bytes), *x = malloc(bytes), *place = malloc(bytes);
  trs_random_fill(b, count, scalar, 5);
  memcpy(x, b, bytes);
  memcpy(place, b, bytes);
  assert_success(trs_solve(plan, place, ld, place, ld, nrhs, layout));
  assert_success(trs_check_factors(&error, F, trans, place, ld, b, ld, nrhs, layout));
  if (!(error.componentwise <= 4 * error_limit(scalar, N)))
    fail_msg("nrhs %d layout %d: error %g", (int)nrhs, layout, error.componentwise);
  assert_success(trs_solve(plan, x, ld, b, ld, nrhs, layout));
  if (!atomic) assert_memory_equal(x, place, bytes);
  free(b);
  free(x);
  free(place);
}

/* False if the method refuses the system. */
static bool check_plan(trs_context *ctx, const char *method, trs_scalar scalar, trs_format format,
                       sides s, int64_t hint) {
  static const trs_trans of_trans[] = {TRS_NO_TRANS, TRS_TRANS};
  trs_options options = {.struct_size = sizeof options, .method = method, .nrhs = hint};
  trs_factors *F = make(scalar, format, s);
  trs_status status = TRS_SUCCESS;
  for (int t = 0; t < 2 && !status; t++) {
    trs_plan *plan;
    status = trs_analyze_factors(&plan, ctx, F, of_trans[t], &options);
    if (status == TRS_ERROR_UNSUPPORTED) break;
    assert_success(status);
    for (int64_t nrhs = 1; nrhs <= 13; nrhs += nrhs < 3 ? 1 : 5)
      for (trs_layout layout = TRS_COL_MAJOR; layout <= TRS_ROW_MAJOR; layout++)
        solve_and_check(plan, F, of_trans[t], scalar, nrhs, layout, !strncmp(method, "sync", 4));
    trs_plan_destroy(plan);
  }
  trs_factors_destroy(F);
  return !status;
}

TEST(permutations_and_scalings_apply_on_either_side) {
  const method_list methods = methods_of("serial threads");
  trs_context *ctx;
  assert_success(trs_context_create(&ctx, "threads:3"));
  for (int c = 0; c < 32 * methods.count; c += SANITIZED ? 3 : 1) {
    const char *method = methods.name[c >> 5];
    const trs_scalar scalar = (trs_scalar)(TRS_FLOAT + c % 4);
    const trs_format format = c & 16 ? TRS_CSC : TRS_CSR;
    sides s = {c & 1, c & 2, c & 4, c & 8};
    if (check_plan(ctx, method, scalar, format, s, 8 * (c >> 1 & 1))) continue;
    assert_true(trs_scalar_is_complex(scalar));
    assert_true(check_plan(ctx, method, (trs_scalar)(scalar - 2), format, s, 8 * (c >> 1 & 1)));
  }
  trs_context_destroy(ctx);
}

TEST(an_opencl_device_applies_them_too) {
  static const char *const methods[] = {"syncfree-csc", "syncfree-csc-rhs"};
  trs_context *ctx;
  if (trs_context_create(&ctx, "opencl")) skip_test("no OpenCL device");
  for (int c = 0; c < 16; c++)
    check_plan(ctx, methods[c & 1], TRS_DOUBLE, TRS_CSR, (sides){c & 2, c & 4, c & 8, !(c & 2)},
               8 * (c & 1));
  trs_plan *plan;
  trs_factors *F = make(TRS_DCOMPLEX, TRS_CSR, (sides){0});
  assert_failure(TRS_ERROR_UNSUPPORTED, "solve real systems",
                 trs_analyze_factors(&plan, ctx, F, TRS_NO_TRANS, NULL));
  trs_factors_destroy(F);
  trs_context_destroy(ctx);
}

static int begin(void **state) {
  trs_schedule_part_work = 40;
  return 0;
}

const test_program program = {.begin = begin};
