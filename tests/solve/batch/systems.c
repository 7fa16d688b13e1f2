/* systems.c - systems near one triangle, and checks of their batches. */
#include "systems.h"

#include <math.h>

#include "base/random.h"
#include "matrix/values.h"
#include "sparse.h"
#include "test.h"

void *values_near(const triangle *t, trs_scalar scalar, int64_t count, uint64_t seed) {
  const int64_t nnz = t->ptr[t->n], all = count * nnz;
  void *val = malloc((size_t)(all + 1) * scalar_bytes(scalar));
  double *noise = malloc((size_t)(all + 1) * sizeof *noise);
  trs_random_fill(noise, all, TRS_DOUBLE, seed);
  for (int64_t e = 0; e < all; e++)
    trs_value_set(val, e, scalar, trs_value_get(t->val, e % nnz, scalar) * (1 + 0.2 * noise[e]));
  free(noise);
  return val;
}

systems systems_random(int64_t n, double density, int64_t band, system_kind kind, int64_t count) {
  const bool prefix = (kind.uplo == TRS_LOWER) == (kind.format == TRS_CSR);
  systems s = {.t = triangle_random(n, density, band, prefix, kind.scalar, false, 7),
               .kind = kind,
               .count = count};
  s.nnz = s.t.ptr[n];
  s.val = values_near(&s.t, kind.scalar, count, 11);
  return s;
}

void systems_free(systems *s) {
  triangle_free(&s->t);
  free(s->val);
}

void *element(const void *array, int64_t index, trs_scalar scalar) {
  return (char *)array + index * (int64_t)scalar_bytes(scalar);
}

trs_matrix *systems_matrix(const systems *s, int64_t k) {
  const system_kind *kind = &s->kind;
  trs_matrix *T;
  assert_success(trs_matrix_create(&T, kind->format, kind->scalar, s->t.n, s->t.n, TRS_PTR64,
                                   s->t.ptr, s->t.idx, element(s->val, k * s->nnz, kind->scalar),
                                   TRS_COPY));
  return T;
}

trs_plan *systems_batch(trs_context *ctx, const systems *s, int64_t count, int64_t nrhs) {
  trs_batch_options options = {.struct_size = sizeof options, .nrhs = nrhs};
  const system_kind *kind = &s->kind;
  trs_matrix *T = systems_matrix(s, 0);
  trs_plan *B;
  assert_success(
      trs_batch_create(&B, ctx, T, kind->uplo, kind->trans, kind->diag, count, &options));
  trs_matrix_destroy(T);
  return B;
}

static void assert_small_error(const systems *s, int64_t k, const void *x, const void *b,
                               int64_t ld, int64_t nrhs) {
  const system_kind *kind = &s->kind;
  trs_backward_error error = {.struct_size = sizeof error};
  trs_matrix *T = systems_matrix(s, k);
  assert_success(
      trs_check(&error, T, kind->uplo, kind->trans, kind->diag, x, ld, b, ld, nrhs, kind->layout));
  if (!(error.componentwise <= error_limit(kind->scalar, s->t.n)))
    fail_msg("system %lld: error %g", (long long)k, error.componentwise);
  trs_matrix_destroy(T);
}

void assert_bits_of_one(trs_plan *one, const void *x, const void *b, trs_scalar scalar, int64_t n,
                        int64_t ld, int64_t nrhs, trs_layout layout) {
  const size_t bytes = scalar_bytes(scalar);
  const int64_t row = layout == TRS_COL_MAJOR ? 1 : ld, col = layout == TRS_COL_MAJOR ? ld : 1;
  void *own = malloc((size_t)n * bytes + 1), *from = malloc((size_t)n * bytes + 1);
  for (int64_t r = 0; r < nrhs; r++) {
    for (int64_t i = 0; i < n; i++)
      memcpy(element(from, i, scalar), element(b, i * row + r * col, scalar), bytes);
    assert_success(trs_batch_solve(one, own, n, 0, from, n, 0, 1, TRS_COL_MAJOR));
    for (int64_t i = 0; i < n; i++)
      assert_memory_equal(element(own, i, scalar), element(x, i * row + r * col, scalar), bytes);
  }
  free(own);
  free(from);
}

void assert_systems_solved(const systems *s, trs_plan *one, int64_t step, const void *x,
                           const void *b, int64_t ld, int64_t next, int64_t nrhs) {
  const trs_scalar scalar = s->kind.scalar;
  for (int64_t k = 0; k < s->count; k += step) {
    const void *xk = element(x, k * next, scalar), *bk = element(b, k * next, scalar);
    assert_small_error(s, k, xk, bk, ld, nrhs);
    assert_success(trs_batch_update(one, element(s->val, k * s->nnz, scalar), 0));
    assert_bits_of_one(one, xk, bk, scalar, s->t.n, ld, nrhs, s->kind.layout);
  }
}

void assert_whole_matrix_taken(trs_context *ctx) {
  enum { SYSTEMS = 10, NNZ = 8 };
  const int64_t ptr[] = {0, 3, 6, 8}; /* (0,2) (0,0) (0,1); (1,1) (1,0) (1,0); (2,2) (2,0) */
  const int32_t idx[] = {2, 0, 1, 1, 0, 0, 2, 0};
  double val[SYSTEMS * NNZ], b[SYSTEMS * 3], x[SYSTEMS * 3];
  trs_random_fill(val, SYSTEMS * NNZ, TRS_DOUBLE, 5);
  trs_random_fill(b, SYSTEMS * 3, TRS_DOUBLE, 6);
  trs_matrix *A;
  trs_plan *B;
  assert_success(
      trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, 3, 3, TRS_PTR64, ptr, idx, val, TRS_COPY));
  trs_batch_options options = {.struct_size = sizeof options, .take_triangle = 1};
  assert_failure(TRS_ERROR_STRUCTURE, "above the diagonal",
                 trs_batch_create(&B, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, SYSTEMS, NULL));
  assert_success(
      trs_batch_create(&B, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, SYSTEMS, &options));
  for (int s = 0; s < SYSTEMS; s++)
    val[s * NNZ + 1] += 3, val[s * NNZ + 3] += 3, val[s * NNZ + 6] += 3;
  assert_success(trs_batch_update(B, val, 0));
  assert_success(trs_batch_solve(B, x, 3, 0, b, 3, 0, 1, TRS_COL_MAJOR));
  for (int s = 0; s < SYSTEMS; s++) {
    const double *v = val + s * NNZ, *y = x + 3 * s, *c = b + 3 * s;
    assert_true(fabs(v[1] * y[0] - c[0]) < 1e-14);
    assert_true(fabs((v[4] + v[5]) * y[0] + v[3] * y[1] - c[1]) < 1e-14);
    assert_true(fabs(v[7] * y[0] + v[6] * y[2] - c[2]) < 1e-14);
  }
  trs_plan_destroy(B);
  trs_matrix_destroy(A);
}

void assert_batch_faults(const trs_plan *B, int64_t faults, int64_t first_fault) {
  trs_batch_info info = {.struct_size = sizeof info};
  assert_success(trs_batch_get_info(B, &info));
  assert_int_equal(info.faults, faults);
  assert_int_equal(info.first_fault, first_fault);
}

void assert_faults_are_told(const systems *s, trs_plan *B) {
  enum { COUNT_OF = FAULTY_COUNT, N = FAULTY_ROWS, ALL = COUNT_OF * N };
  double b[ALL], good[ALL], x[ALL];
  double *val = malloc((size_t)(COUNT_OF * s->nnz) * sizeof *val);
  double *zero = &val[3 * s->nnz + s->t.ptr[6] - 1], *late = &val[3 * s->nnz + s->t.ptr[9] - 1];
  double *nan = &val[33 * s->nnz + s->t.ptr[1] - 1], *third = &val[34 * s->nnz + s->t.ptr[1] - 1];
  trs_random_fill(b, ALL, TRS_DOUBLE, 4);
  memcpy(val, s->val, (size_t)(COUNT_OF * s->nnz) * sizeof *val);
  assert_success(trs_batch_update(B, val, 0));
  assert_success(trs_batch_solve(B, good, N, 0, b, N, 0, 1, TRS_COL_MAJOR));
  assert_batch_faults(B, 0, -1);
  *zero = 0;
  *late = INFINITY;
  *nan = NAN;
  assert_failure(TRS_ERROR_ZERO_PIVOT, "row 5 of system 3 (0-based) is zero; 1 more system has",
                 trs_batch_update(B, val, 0));
  assert_int_equal(trs_last_error()->row, 5);
  assert_batch_faults(B, 2, 3);
  assert_failure(TRS_ERROR_ZERO_PIVOT, "row 5 of system 3",
                 trs_batch_solve(B, x, N, 0, b, N, 0, 1, TRS_COL_MAJOR));
  for (int e = 0; e < ALL; e++) {
    if (e / N == 3 || e / N == 33)
      assert_true(isnan(x[e]));
    else
      assert_memory_equal(&x[e], &good[e], sizeof *x);
  }
  *third = 0;
  assert_failure(TRS_ERROR_ZERO_PIVOT, "is zero; 2 more systems have", trs_batch_update(B, val, 0));
  *zero = *late = *third = 1;
  assert_failure(TRS_ERROR_NOT_FINITE, "row 0 of system 33 (0-based) is not finite; the others",
                 trs_batch_update(B, val, 0));
  assert_batch_faults(B, 1, 33);
  *nan = 2;
  assert_success(trs_batch_update(B, val, 0));
  assert_success(trs_batch_solve(B, x, N, 0, b, N, 0, 1, TRS_COL_MAJOR));
  assert_batch_faults(B, 0, -1);
  free(val);
}

typedef struct creation {
  trs_context *ctx;
  const trs_matrix *A;
} creation;

static trs_status create(void *given) {
  const creation *c = given;
  trs_plan *B;
  trs_batch_options options = {.struct_size = sizeof options, .take_triangle = 1, .nrhs = 4};
  trs_status status =
      trs_batch_create(&B, c->ctx, c->A, TRS_LOWER, TRS_NO_TRANS, TRS_UNIT, 20, &options);
  if (!status) trs_plan_destroy(B);
  return status;
}

void assert_batch_survives(trs_context *ctx) {
  trs_matrix *A = sparse_random(30, 0.2, (sparse_kind){.scalar = TRS_DOUBLE}, 3);
  assert_survives_failing_allocations(create, &(creation){.ctx = ctx, .A = A});
  trs_matrix_destroy(A);
}
