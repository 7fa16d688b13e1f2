/* factored.c - systems with factors near one pair, and checks of their batches. */
#include "factored.h"

#include <math.h>

#include "base/random.h"
#include "matrix/values.h"
#include "sparse.h"
#include "systems.h"
#include "test.h"

factored_kind factored_case(int c) {
  const int orders = c % 5; /* of the rows and the columns, from none to all */
  return (factored_kind){.scalar = (trs_scalar)(TRS_FLOAT + c % 4),
                         .format_L = (trs_format)(c / 2 % 2),
                         .format_U = (trs_format)(c / 3 % 2),
                         .diag_L = (trs_diag)(c / 4 % 2),
                         .diag_U = (trs_diag)(c / 4 % 2 ? 0 : c / 8 % 2),
                         .trans = (trs_trans)(c % 3),
                         .layout = (trs_layout)(c / 5 % 2),
                         .row_perm = orders == 1 || orders == 4,
                         .col_perm = orders == 2 || orders == 4,
                         .row_scale = orders > 1,
                         .col_scale = orders == 1 || orders == 4,
                         .hermitian = c % 7 == 3,
                         .full_U = c % 11 == 6};
}

static int32_t *permutation(int64_t n, uint64_t seed) {
  int32_t *perm = malloc((size_t)(n + 1) * sizeof *perm);
  for (int64_t i = 0; i < n; i++) {
    const int64_t j = (int64_t)(trs_random_unit(seed, (uint64_t)i) * (double)(i + 1));
    perm[i] = perm[j];
    perm[j] = (int32_t)i;
  }
  return perm;
}

static double *scaling(int64_t n, uint64_t seed) {
  double *scale = malloc((size_t)(n + 1) * sizeof *scale);
  for (int64_t i = 0; i < n; i++) scale[i] = 0.5 + 1.5 * trs_random_unit(seed, (uint64_t)i);
  return scale;
}

factored factored_random(int64_t n, double density, int64_t band, factored_kind kind,
                         int64_t count) {
  factored f = {.kind = kind, .n = n, .count = count};
  f.L = triangle_random(n, density, band, kind.format_L == TRS_CSR, kind.scalar, false, 7);
  f.nnz_L = f.L.ptr[n];
  f.L_val = values_near(&f.L, kind.scalar, count, 11);
  if (!kind.hermitian) {
    f.U = triangle_random(n, kind.full_U ? 1 : density, kind.full_U ? n : band,
                          kind.format_U == TRS_CSC, kind.scalar, false, 8);
    f.nnz_U = f.U.ptr[n];
    f.U_val = values_near(&f.U, kind.scalar, count, 12);
  }
  if (kind.row_perm) f.row_perm = permutation(n, 1);
  if (kind.col_perm) f.col_perm = permutation(n, 2);
  if (kind.row_scale) f.row_scale = scaling(n, 3);
  if (kind.col_scale) f.col_scale = scaling(n, 4);
  return f;
}

void factored_free(factored *f) {
  void *arrays[] = {f->L_val, f->U_val, f->row_perm, f->col_perm, f->row_scale, f->col_scale};
  for (size_t k = 0; k < COUNT(arrays); k++) free(arrays[k]);
  triangle_free(&f->L);
  triangle_free(&f->U);
}

static trs_matrix *matrix(const triangle *t, trs_format format, trs_scalar scalar,
                          const void *val) {
  trs_matrix *T;
  assert_success(
      trs_matrix_create(&T, format, scalar, t->n, t->n, TRS_PTR64, t->ptr, t->idx, val, TRS_COPY));
  return T;
}

/* L by rows is L^T by columns. */
static trs_matrix *adjoint(const factored *f, int64_t k) {
  const trs_scalar scalar = f->kind.scalar;
  void *val = malloc((size_t)(f->nnz_L + 1) * scalar_bytes(scalar));
  for (int64_t e = 0; e < f->nnz_L; e++)
    trs_value_set(val, e, scalar, conj(trs_value_get(f->L_val, k * f->nnz_L + e, scalar)));
  trs_matrix *U = matrix(&f->L, f->kind.format_L == TRS_CSR ? TRS_CSC : TRS_CSR, scalar, val);
  free(val);
  return U;
}

trs_factors *factored_factors(const factored *f, int64_t k) {
  const factored_kind *kind = &f->kind;
  trs_factors *F;
  trs_matrix *L =
      matrix(&f->L, kind->format_L, kind->scalar, element(f->L_val, k * f->nnz_L, kind->scalar));
  trs_matrix *U = kind->hermitian ? adjoint(f, k)
                                  : matrix(&f->U, kind->format_U, kind->scalar,
                                           element(f->U_val, k * f->nnz_U, kind->scalar));
  assert_success(trs_factors_create(&F, L, kind->diag_L, U,
                                    kind->hermitian ? kind->diag_L : kind->diag_U, f->row_perm,
                                    f->col_perm, f->row_scale, f->col_scale));
  trs_matrix_destroy(L);
  trs_matrix_destroy(U);
  return F;
}

trs_plan *factored_batch(trs_context *ctx, const factored *f, int64_t count, int64_t nrhs) {
  trs_batch_options options = {
      .struct_size = sizeof options, .nrhs = nrhs, .hermitian = f->kind.hermitian};
  trs_factors *F = factored_factors(f, 0);
  trs_plan *B;
  assert_success(trs_batch_create_factors(&B, ctx, F, f->kind.trans, count, &options));
  trs_factors_destroy(F);
  return B;
}

trs_status factored_update(trs_plan *B, const factored *f, int64_t k) {
  const trs_scalar scalar = f->kind.scalar;
  return trs_batch_update_factors(
      B, element(f->L_val, k * f->nnz_L, scalar), 0,
      f->kind.hermitian ? NULL : element(f->U_val, k * f->nnz_U, scalar), 0);
}

static void assert_small_error(const trs_factors *F, trs_trans trans, const void *x, const void *b,
                               int64_t ld, int64_t nrhs, trs_layout layout, int64_t k) {
  const trs_factors_info info = factors_info(F);
  trs_backward_error error = {.struct_size = sizeof error};
  assert_success(trs_check_factors(&error, F, trans, x, ld, b, ld, nrhs, layout));
  if (!(error.componentwise <= 2 * error_limit(info.scalar, info.n)))
    fail_msg("system %lld: error %g", (long long)k, error.componentwise);
}

void assert_factored_solved(const factored *f, trs_plan *one, int64_t step, const void *x,
                            const void *b, int64_t ld, int64_t next, int64_t nrhs) {
  const trs_scalar scalar = f->kind.scalar;
  for (int64_t k = 0; k < f->count; k += step) {
    const void *xk = element(x, k * next, scalar), *bk = element(b, k * next, scalar);
    trs_factors *F = factored_factors(f, k);
    assert_small_error(F, f->kind.trans, xk, bk, ld, nrhs, f->kind.layout, k);
    trs_factors_destroy(F);
    if (!one) continue;
    assert_success(factored_update(one, f, k));
    assert_bits_of_one(one, xk, bk, scalar, f->n, ld, nrhs, f->kind.layout);
  }
}

void assert_common_matrix_taken(trs_context *ctx) {
  enum { SYSTEMS = 10, NNZ = 7 };
  const int64_t ptr[] = {0, 2, 4, 7}; /* (0,1) (0,0); (1,1) (1,0); (2,0) (2,2) (2,0) */
  const int32_t idx[] = {1, 0, 1, 0, 0, 2, 0};
  double val[SYSTEMS * NNZ], b[SYSTEMS * 3], x[SYSTEMS * 3];
  trs_matrix *A;
  trs_factors *F;
  trs_plan *B;
  trs_batch_info info = {.struct_size = sizeof info};
  trs_random_fill(val, SYSTEMS * NNZ, TRS_DOUBLE, 5);
  trs_random_fill(b, SYSTEMS * 3, TRS_DOUBLE, 6);
  for (int s = 0; s < SYSTEMS; s++)
    val[s * NNZ + 1] += 3, val[s * NNZ + 2] += 3, val[s * NNZ + 5] += 3;
  assert_success(
      trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, 3, 3, TRS_PTR64, ptr, idx, val, TRS_COPY));
  for (int crout = 0; crout < 2; crout++) { /* the diagonal is U's, or L's */
    assert_success(trs_factors_create(&F, A, crout ? TRS_NONUNIT : TRS_UNIT, A,
                                      crout ? TRS_UNIT : TRS_NONUNIT, NULL, NULL, NULL, NULL));
    assert_success(trs_batch_create_factors(&B, ctx, F, TRS_NO_TRANS, SYSTEMS, NULL));
    trs_factors_destroy(F);
    assert_success(trs_batch_update_factors(B, val, 0, val, 0));
    assert_success(trs_batch_solve(B, x, 3, 0, b, 3, 0, 1, TRS_COL_MAJOR));
    assert_success(trs_batch_get_info(B, &info));
    assert_int_equal(info.n, 3);
    for (int s = 0; s < SYSTEMS; s++) {
      const double *v = val + s * NNZ, *y = x + 3 * s, *c = b + 3 * s;
      const double d[] = {v[1], v[2], v[5]}, u = v[0] * (crout ? d[0] : 1);
      const double w[] = {d[0] * y[0] + u * y[1], d[1] * y[1], d[2] * y[2]}; /* D U x */
      const double e[] = {crout ? 1 / d[0] : 1};
      assert_true(fabs(w[0] - c[0]) < 1e-14);
      assert_true(fabs(v[3] * e[0] * w[0] + w[1] - c[1]) < 1e-14);
      assert_true(fabs((v[4] + v[6]) * e[0] * w[0] + w[2] - c[2]) < 1e-14);
    }
    trs_plan_destroy(B);
  }
  trs_matrix_destroy(A);
}

/* The canonical values of a matrix of factors. */
static const void *values_of(const trs_matrix *T) {
  const void *val;
  assert_success(trs_matrix_get_arrays(T, NULL, NULL, &val));
  return val;
}

static void assert_kind_is_solved(trs_context *ctx, const trs_factors *F, trs_trans trans) {
  enum { SYSTEMS = 9, N = 24 };
  const trs_factors_info info = factors_info(F);
  const bool hermitian = info.kind == TRS_FACTOR_IC0 || info.kind == TRS_FACTOR_BIC0;
  const size_t size = scalar_bytes(info.scalar);
  char b[N * SYSTEMS * 16], x[N * SYSTEMS * 16];
  char *L_val = malloc((size_t)(SYSTEMS * info.nnz_L) * size);
  char *U_val = malloc((size_t)(SYSTEMS * info.nnz_U) * size);
  trs_plan *B;
  trs_batch_info facts = {.struct_size = sizeof facts};
  assert_int_equal(info.n, N);
  trs_random_fill(b, N * SYSTEMS, info.scalar, 9);
  for (int s = 0; s < SYSTEMS; s++) {
    memcpy(L_val + s * info.nnz_L * (int64_t)size, values_of(info.L), (size_t)info.nnz_L * size);
    memcpy(U_val + s * info.nnz_U * (int64_t)size, values_of(info.U), (size_t)info.nnz_U * size);
  }
  assert_success(trs_batch_create_factors(&B, ctx, F, trans, SYSTEMS, NULL));
  if (hermitian)
    assert_failure(TRS_ERROR_ARGUMENT, "pass NULL as U_val",
                   trs_batch_update_factors(B, L_val, 0, U_val, 0));
  assert_success(trs_batch_update_factors(B, L_val, 0, hermitian ? NULL : U_val, 0));
  assert_success(trs_batch_solve(B, x, N, 0, b, N, 0, 1, TRS_COL_MAJOR));
  assert_success(trs_batch_get_info(B, &facts));
  assert_int_equal(facts.nnz, info.nnz_L + info.nnz_U);
  for (int s = 0; s < SYSTEMS; s++)
    assert_small_error(F, trans, element(x, s * N, info.scalar), element(b, s * N, info.scalar), N,
                       1, TRS_COL_MAJOR, s);
  trs_plan_destroy(B);
  free(L_val);
  free(U_val);
}

void assert_kinds_are_solved(trs_context *ctx) {
  for (int scalar = TRS_DOUBLE; scalar <= TRS_DCOMPLEX; scalar += TRS_DCOMPLEX - TRS_DOUBLE)
    for (int kind = TRS_FACTOR_LU; kind <= TRS_FACTOR_DILU; kind++)
      for (int trans = 0; trans < 3; trans++) {
        const bool blocks = kind >= TRS_FACTOR_BILU0;
        if (blocks && scalar == TRS_DCOMPLEX) continue;
        const sparse_kind of_A = {
            .scalar = (trs_scalar)scalar, .symmetric = true, .dominant = true};
        trs_factor_options options = {
            .struct_size = sizeof options,
            .kind = (trs_factor_kind)kind,
            .block_size = blocks ? 3 : 0,
            .order = kind % 2 || kind == TRS_FACTOR_LU ? TRS_ORDER_RCM : TRS_ORDER_DEFAULT};
        trs_matrix *A = sparse_random(24, 0.15, of_A, 5);
        trs_factors *F;
        assert_success(trs_factor(&F, A, &options));
        assert_kind_is_solved(ctx, F, (trs_trans)trans);
        trs_factors_destroy(F);
        trs_matrix_destroy(A);
      }
}

/* The diagonal entry of row i of system s: of L by rows the last one, of U the first one. */
static double *diagonal_of(const factored *f, bool of_L, int64_t s, int64_t i) {
  if (of_L) return (double *)f->L_val + s * f->nnz_L + f->L.ptr[i + 1] - 1;
  return (double *)f->U_val + s * f->nnz_U + f->U.ptr[i];
}

void assert_faults_of_factors_are_told(trs_context *ctx) {
  enum { SYSTEMS = 20, N = 23, ALL = SYSTEMS * N };
  for (int trans = 0; trans < 3; trans++) {
    const factored_kind kind = {.scalar = TRS_DOUBLE,
                                .format_L = TRS_CSR,
                                .format_U = TRS_CSR,
                                .trans = (trs_trans)trans,
                                .row_perm = true,
                                .col_perm = true};
    factored f = factored_random(N, 0.1, N, kind, SYSTEMS);
    double b[ALL], good[ALL], x[ALL];
    trs_plan *B = factored_batch(ctx, &f, SYSTEMS, 1);
    trs_random_fill(b, ALL, TRS_DOUBLE, 4);
    assert_success(factored_update(B, &f, 0));
    assert_success(trs_batch_solve(B, good, N, 0, b, N, 0, 1, TRS_COL_MAJOR));
    const double kept = *diagonal_of(&f, true, 3, 5);
    *diagonal_of(&f, false, 3, 4) = 0;
    *diagonal_of(&f, true, 3, 5) = INFINITY;
    *diagonal_of(&f, false, 12, 7) = NAN;
    assert_failure(TRS_ERROR_NOT_FINITE,
                   "row 5 of L of system 3 (0-based) is not finite; 1 more system has",
                   factored_update(B, &f, 0));
    assert_int_equal(trs_last_error()->row, 5);
    assert_batch_faults(B, 2, 3);
    *diagonal_of(&f, true, 3, 5) = kept;
    assert_failure(TRS_ERROR_ZERO_PIVOT,
                   "row 4 of U of system 3 (0-based) is zero; 1 more system has",
                   factored_update(B, &f, 0));
    assert_failure(TRS_ERROR_ZERO_PIVOT, "row 4 of U of system 3",
                   trs_batch_solve(B, x, N, 0, b, N, 0, 1, TRS_COL_MAJOR));
    for (int e = 0; e < ALL; e++) {
      if (e / N == 3 || e / N == 12)
        assert_true(isnan(x[e]));
      else
        assert_memory_equal(&x[e], &good[e], sizeof *x);
    }
    *diagonal_of(&f, false, 3, 4) = *diagonal_of(&f, false, 12, 7) = 2;
    *diagonal_of(&f, true, 12, 0) = 0;
    assert_failure(TRS_ERROR_ZERO_PIVOT, "row 0 of L of system 12 (0-based) is zero; the others",
                   factored_update(B, &f, 0));
    assert_failure(TRS_ERROR_ZERO_PIVOT, "row 0 of L of system 12",
                   trs_batch_solve(B, x, N, 0, b, N, 0, 1, TRS_COL_MAJOR));
    for (int i = 0; i < N; i++) assert_true(isnan(x[12 * N + i]) && !isnan(x[3 * N + i]));
    assert_batch_faults(B, 1, 12);
    trs_plan_destroy(B);
    factored_free(&f);
  }
}

typedef struct creation {
  trs_context *ctx;
  const trs_factors *F;
} creation;

static trs_status create(void *given) {
  const creation *c = given;
  trs_plan *B;
  trs_batch_options options = {.struct_size = sizeof options, .nrhs = 4};
  trs_status status = trs_batch_create_factors(&B, c->ctx, c->F, TRS_NO_TRANS, 20, &options);
  if (!status) trs_plan_destroy(B);
  return status;
}

void assert_factored_survives(trs_context *ctx) {
  factored f = factored_random(30, 0.1, 30, factored_case(4), 1);
  trs_factors *F = factored_factors(&f, 0);
  assert_survives_failing_allocations(create, &(creation){.ctx = ctx, .F = F});
  trs_factors_destroy(F);
  factored_free(&f);
}
