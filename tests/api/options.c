/* options.c - every number, flag and enumerator of the public option structures, below its domain,
 * above it, at the ends of its type and at both ends of the domain.  tests/mpi/arguments.c does so
 * for trs_mpi_options. */
#include <float.h>
#include <math.h>

#include "api/domains.h"
#include "test.h"

static trs_context *ctx;
static trs_matrix *A; /* 9 x 9 */
static trs_plan *R;

static int start(void **state) {
  return trs_context_create(&ctx, "serial") || trs_matrix_read(&A, "gen:poisson2d5:3", NULL) ||
         trs_relax_create(&R, ctx, A, 1, NULL);
}

static int stop(void **state) {
  trs_plan_destroy(R);
  trs_matrix_destroy(A);
  trs_context_destroy(ctx);
  return 0;
}

/* ---- A call for each structure. ---- */

static trs_status analyze(const void *options) {
  trs_plan *plan;
  trs_status status = trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, options);
  if (!status) trs_plan_destroy(plan);
  return status;
}

static trs_status analyze_factors(const void *options) {
  static const trs_factor_options ilu0 = {.struct_size = sizeof ilu0, .kind = TRS_FACTOR_ILU0};
  trs_factors *F;
  trs_plan *plan;
  assert_success(trs_factor(&F, A, &ilu0));
  trs_status status = trs_analyze_factors(&plan, ctx, F, TRS_NO_TRANS, options);
  if (!status) trs_plan_destroy(plan);
  trs_factors_destroy(F);
  return status;
}

static trs_status factor(const void *options) {
  trs_factors *F;
  trs_status status = trs_factor(&F, A, options);
  if (!status) trs_factors_destroy(F);
  return status;
}

static trs_status relax(const void *options) {
  trs_plan *made;
  trs_status status = trs_relax_create(&made, ctx, A, 1, options);
  if (!status) trs_plan_destroy(made);
  return status;
}

/* As many sweeps as the domain allows would take hours. */
static trs_status sweep(const void *options) {
  const trs_sweep_options *o = options;
  double x[9] = {0}, b[9] = {0};
  if (o->sweeps == INT32_MAX) return TRS_SUCCESS;
  return trs_relax_sweep(R, x, 9, b, 9, 1, TRS_COL_MAJOR, o);
}

static trs_status read_matrix(const void *options) {
  trs_matrix *made;
  trs_status status = trs_matrix_read(&made, "gen:poisson2d5:3", options);
  if (!status) trs_matrix_destroy(made);
  return status;
}

static trs_status open_matrix(const void *options) {
  trs_matrix *made;
  return trs_matrix_open(&made, "/nowhere", TRS_CSR, TRS_LOWER, 0, options);
}

static trs_status read_vectors(const void *options) {
  void *values;
  int64_t nrows, ncols;
  return trs_vectors_read(&values, &nrows, &ncols, TRS_DOUBLE, "/nowhere", options);
}

static trs_status read_factors(const void *options) {
  trs_factors *F;
  return trs_factors_read(&F, "/nowhere", options);
}

/* ---- The fields. ---- */

#define FIELDS(type, ...) static const domain type##_fields[] = {__VA_ARGS__}

FIELDS(trs_options, WHOLE(trs_options, take_triangle, 0, 1), WHOLE(trs_options, nrhs, 0, INT64_MAX),
       WHOLE(trs_options, solves, 0, INT64_MAX), WHOLE(trs_options, store, 0, TRS_STORE_BFLOAT),
       WHOLE(trs_options, tune, 0, 1), WHOLE(trs_options, distributed, 0, 1));
FIELDS(trs_factor_options, WHOLE(trs_factor_options, kind, 0, TRS_FACTOR_DILU),
       WHOLE(trs_factor_options, order, 0, TRS_ORDER_COLAMD),
       WHOLE(trs_factor_options, tree_leaves, 0, 65536),
       REAL(trs_factor_options, pivot_threshold, 0, 1),
       WHOLE(trs_factor_options, no_equilibration, 0, 1),
       WHOLE(trs_factor_options, add_diagonal, 0, 1),
       WHOLE(trs_factor_options, block_size, 0, TRS_RELAX_MOST_BLOCK),
       WHOLE(trs_factor_options, uplo, 0, TRS_UPPER), REAL(trs_factor_options, shift, 0, 1));
FIELDS(trs_relax_options, WHOLE(trs_relax_options, store, 0, TRS_STORE_BFLOAT),
       WHOLE(trs_relax_options, balanced, 0, 1), WHOLE(trs_relax_options, nrhs, 0, INT32_MAX));
FIELDS(trs_sweep_options, WHOLE(trs_sweep_options, sweeps, 0, INT32_MAX),
       WHOLE(trs_sweep_options, direction, 0, TRS_SWEEP_SYMMETRIC),
       REAL(trs_sweep_options, omega, -DBL_MAX, DBL_MAX), WHOLE(trs_sweep_options, keep_x, 0, 1),
       WHOLE(trs_sweep_options, residual_every, 0, INT64_MAX));
FIELDS(trs_read_options, WHOLE(trs_read_options, allow_nonfinite, 0, 1),
       WHOLE(trs_read_options, scalar, 0, TRS_DCOMPLEX),
       WHOLE(trs_read_options, max_bytes, -1, INT64_MAX));

static const struct {
  const char *type;
  trs_status (*call)(const void *options);
  const domain *fields;
  int count;
  size_t size;
} structures[] = {
#define STRUCTURE(type, call) \
  { #type, call, type##_fields, COUNT(type##_fields), sizeof(type) }
    STRUCTURE(trs_options, analyze),          STRUCTURE(trs_options, analyze_factors),
    STRUCTURE(trs_factor_options, factor),    STRUCTURE(trs_relax_options, relax),
    STRUCTURE(trs_sweep_options, sweep),      STRUCTURE(trs_read_options, read_matrix),
    STRUCTURE(trs_read_options, open_matrix), STRUCTURE(trs_read_options, read_vectors),
    STRUCTURE(trs_read_options, read_factors)};

TEST(values_outside_the_domain_of_a_field_are_errors_that_name_it) {
  for (size_t s = 0; s < COUNT(structures); s++)
    for (int k = 0; k < structures[s].count; k++) {
      const domain *d = &structures[s].fields[k];
      union {
        size_t struct_size;
        double align;
        char bytes[512];
      } options;
      for (int v = 0; v < TRIED; v++) {
        char shown[32];
        memset(&options, 0, sizeof options);
        options.struct_size = structures[s].size;
        if (!put_tried(options.bytes, d, v, shown, sizeof shown)) continue;
        const trs_status status = structures[s].call(&options);
        const char *said = trs_last_error()->message;
        if (status != TRS_ERROR_ARGUMENT || !names(said, d->name, shown) ||
            !strstr(said, structures[s].type))
          fail_msg("%s.%s = %s: status %d, \"%s\"", structures[s].type, d->name, shown, status,
                   said);
      }
      for (int end = 0; end < 2; end++) {
        char shown[32];
        memset(&options, 0, sizeof options);
        options.struct_size = structures[s].size;
        put_end(options.bytes, d, end, shown, sizeof shown);
        if (structures[s].call(&options) == TRS_ERROR_ARGUMENT &&
            names(trs_last_error()->message, d->name, shown) &&
            strstr(trs_last_error()->message, "must be"))
          fail_msg("%s.%s = %s is refused: %s", structures[s].type, d->name, shown,
                   trs_last_error()->message);
      }
    }
}

TEST(leaves_of_a_tree_are_a_power_of_two) {
  for (trs_factor_kind kind = TRS_FACTOR_LU; kind <= TRS_FACTOR_DILU; kind++) {
    const trs_factor_options o = {.struct_size = sizeof o, .kind = kind, .tree_leaves = 3};
    assert_int_equal(factor(&o), TRS_ERROR_ARGUMENT);
    assert_non_null(strstr(trs_last_error()->message, "tree_leaves is 3"));
  }
}

TEST(flags_that_are_arguments_are_0_or_1) {
  static const int wrong[] = {-1, 2, INT32_MAX, INT32_MIN};
  trs_matrix *made;
  for (size_t k = 0; k < COUNT(wrong); k++) {
    assert_failure(TRS_ERROR_ARGUMENT, "add_diagonal is",
                   trs_matrix_triangle(&made, A, TRS_LOWER, wrong[k]));
    assert_failure(TRS_ERROR_ARGUMENT, "add_diagonal is",
                   trs_matrix_open(&made, "/nowhere", TRS_CSR, TRS_LOWER, wrong[k], NULL));
  }
}

const test_program program = {.begin = start, .end = stop};
