/* extremes.c - values near the limits of the range, in every method of the CPU, in trs_solve_once
 * and in batches.  Every value is a power of two, and every product and x is in the range:
 * substitution makes no error at all. */
#include <complex.h>
#include <math.h>

#include "base/random.h"
#include "base/scalar.h"
#include "matrix/values.h"
#include "support.h"
#include "test.h"

enum { N = 96, RHS = 9 };

static uint64_t drawn;

static int draw(int limit) {
  return (int)trs_random_below(test_seed() + 11, drawn++, 2 * (uint64_t)limit + 1) - limit;
}

/* A bidiagonal system in its order of substitution. */
typedef struct drawing {
  int x[N], diagonal[N], beside[N]; /* exponents */
} drawing;

/* mild: values in a range in which quotients keep their digits. */
static void make(drawing *t, trs_scalar scalar, bool mild) {
  const int most = trs_scalar_is_double(scalar) ? 1000 : 120;
  const int limit = mild ? most / 8 : most;
  for (int i = 0; i < N; i++) do {
      t->x[i] = draw(limit * 9 / 10);
      t->diagonal[i] = draw(limit);
      t->beside[i] = i ? t->diagonal[i] + t->x[i] - t->x[i - 1] : 0;
    } while (abs(t->diagonal[i] + t->x[i]) > limit || abs(t->beside[i]) > limit);
}

typedef struct way {
  trs_format format;
  trs_uplo uplo;
  trs_trans trans;
  trs_scalar scalar;
} way;

typedef struct arrays {
  int64_t ptr[N + 1];
  int32_t idx[2 * N];
  char val[2 * N * 16], b[N * RHS * 16];
} arrays;

static double complex power(int exponent, trs_scalar scalar) {
  const double value = ldexp(1, exponent);
  return trs_scalar_is_complex(scalar) ? I * value : value;
}

/* b is zero but for the first x: x_i = -a x_{i-1} / d.  Its sign is i's. */
static void store(const drawing *t, const way *w, arrays *to) {
  const bool lower = (w->uplo == TRS_LOWER) == (w->trans == TRS_NO_TRANS);
  const bool rows = (w->format == TRS_CSR) == (w->trans == TRS_NO_TRANS);
  int64_t p = 0;
  memset(to->b, 0, sizeof to->b);
  for (int v = 0; v < N; v++) { /* vectors as stored; step k of the sweep is row or column v */
    const int k = lower ? v : N - 1 - v;
    const int other = rows ? k - 1 : k + 1, near = rows ? k : other;
    const bool has = other >= 0 && other < N, first = rows == lower;
    to->ptr[v] = p;
    for (int turn = 0; turn < 2; turn++) {
      if ((turn == 0) == first) {
        if (!has) continue;
        to->idx[p] = lower ? other : N - 1 - other;
        trs_value_set(to->val, p++, w->scalar, power(t->beside[near], w->scalar));
      } else {
        to->idx[p] = v;
        trs_value_set(to->val, p++, w->scalar, power(t->diagonal[k], w->scalar));
      }
    }
  }
  to->ptr[N] = p;
  double complex d = power(t->diagonal[0], w->scalar);
  if (w->trans == TRS_CONJ_TRANS) d = conj(d);
  for (int r = 0; r < RHS; r++)
    trs_value_set(to->b, r * N + (lower ? 0 : N - 1), w->scalar, d * ldexp(1, t->x[0]));
}

static void check(const drawing *t, const way *w, const void *x, int64_t nrhs, const char *name) {
  const bool lower = (w->uplo == TRS_LOWER) == (w->trans == TRS_NO_TRANS);
  for (int64_t r = 0; r < nrhs; r++)
    for (int k = 0; k < N; k++) {
      const double right = k % 2 ? -ldexp(1, t->x[k]) : ldexp(1, t->x[k]);
      const double complex is = trs_value_get(x, r * N + (lower ? k : N - 1 - k), w->scalar);
      if (cabs(is - right) <= 8 * scalar_eps(w->scalar) * fabs(right)) continue;
      fail_msg("%s, type %d, %s: x[%d] = %g, right: %g", name, (int)w->scalar,
               lower ? "forward" : "backward", k, creal(is), right);
    }
}

static trs_matrix *matrix_of(const arrays *a, const way *w) {
  trs_matrix *T;
  assert_success(trs_matrix_create(&T, w->format, w->scalar, N, N, TRS_PTR64, a->ptr, a->idx,
                                   a->val, TRS_COPY));
  return T;
}

static void solve(trs_plan *plan, const drawing *t, const way *w, const arrays *a,
                  const char *name) {
  static const int64_t counts[] = {1, 4, RHS};
  static char x[N * RHS * 16];
  for (size_t c = 0; c < COUNT(counts); c++) {
    assert_success(trs_solve(plan, x, N, a->b, N, counts[c], TRS_COL_MAJOR));
    check(t, w, x, counts[c], name);
  }
}

/* Mild values, then extreme ones by an update, and mild ones again. */
static void check_plan(const way *w, const char *method, const char *backend) {
  static arrays a;
  drawing t;
  trs_context *ctx;
  trs_plan *plan;
  trs_options options = {.struct_size = sizeof options, .method = method};
  assert_success(trs_context_create(&ctx, strcmp(backend, "serial") ? "threads:3" : "serial"));
  for (int first = 0; first < 2; first++) {
    make(&t, w->scalar, first == 0);
    store(&t, w, &a);
    trs_matrix *T = matrix_of(&a, w);
    if (trs_analyze(&plan, ctx, T, w->uplo, w->trans, TRS_NONUNIT, &options)) {
      assert_int_equal(trs_last_error()->status, TRS_ERROR_UNSUPPORTED);
      trs_matrix_destroy(T);
      break;
    }
    trs_matrix_destroy(T);
    solve(plan, &t, w, &a, method);
    for (int turn = 0; turn < 3; turn++) {
      make(&t, w->scalar, turn == 1);
      store(&t, w, &a);
      T = matrix_of(&a, w);
      assert_success(trs_update(plan, T));
      trs_matrix_destroy(T);
      solve(plan, &t, w, &a, method);
    }
    trs_plan_destroy(plan);
  }
  trs_context_destroy(ctx);
}

static void check_all_ways(void (*with)(const way *w, const char *method, const char *backend),
                           const char *method, const char *backend) {
  for (int k = 0; k < 2 * 2 * 3 * 4; k++) {
    const way w = {k & 1 ? TRS_CSC : TRS_CSR, k & 2 ? TRS_UPPER : TRS_LOWER,
                   (trs_trans[]){TRS_NO_TRANS, TRS_TRANS, TRS_CONJ_TRANS}[k / 4 % 3],
                   (trs_scalar)(TRS_FLOAT + k / 12)};
    with(&w, method, backend);
  }
}

TEST(plans) {
  const method_list built = methods_of("serial threads");
  assert_true(built.count > 4);
  for (int m = 0; m < built.count; m++) check_all_ways(check_plan, built.name[m], built.backend[m]);
  check_all_ways(check_plan, "auto", "threads");
}

static void check_once(const way *w, const char *method, const char *backend) {
  static arrays a;
  static char x[N * 16];
  drawing t;
  if (w->trans != TRS_NO_TRANS) return;
  make(&t, w->scalar, false);
  store(&t, w, &a);
  assert_success(trs_solve_once(x, a.b, w->uplo, TRS_NONUNIT, w->format, w->scalar, N, TRS_PTR64,
                                a.ptr, a.idx, a.val));
  check(&t, w, x, 1, "once");
}

TEST(once) { check_all_ways(check_once, NULL, NULL); }

static void check_batch(const way *w, const char *method, const char *backend) {
  static arrays a;
  static char x[N * 16];
  drawing t;
  trs_plan *batch;
  trs_context *ctx;
  make(&t, w->scalar, false);
  store(&t, w, &a);
  trs_matrix *T = matrix_of(&a, w);
  assert_success(trs_context_create(&ctx, "serial"));
  assert_success(trs_batch_create(&batch, ctx, T, w->uplo, w->trans, TRS_NONUNIT, 1, NULL));
  assert_success(trs_batch_update(batch, a.val, 2 * N - 1));
  assert_success(trs_batch_solve(batch, x, N, N, a.b, N, N, 1, TRS_COL_MAJOR));
  check(&t, w, x, 1, "batch");
  trs_plan_destroy(batch);
  trs_context_destroy(ctx);
  trs_matrix_destroy(T);
}

TEST(batches) { check_all_ways(check_batch, NULL, NULL); }

const test_program program = {0};
