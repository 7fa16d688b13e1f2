/* systems.c - systems around the sizes of warps and blocks, and of shapes that hang or break a
 * careless kernel. */
#include "systems.h"

#include <complex.h>
#include <math.h>

#include "base/random.h"
#include "matrix/values.h"
#include "parameters.h"
#include "support.h"
#include "test.h"

enum { RANDOM_PER_ROW = 4 };

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

system_of make_system(shape kind, int64_t n, trs_scalar scalar, bool backward, trs_trans trans,
                      trs_format format, trs_diag diag) {
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

system_of varied_system(shape kind, int64_t n, int c, int scalars) {
  static const trs_trans trans[] = {TRS_NO_TRANS, TRS_TRANS, TRS_CONJ_TRANS};
  return make_system(kind, n, (trs_scalar)(TRS_FLOAT + c / 2 % scalars), c % 2, trans[c % 3],
                     (trs_format)(c / 4 % 2), c % 5 == 4 ? TRS_UNIT : TRS_NONUNIT);
}

/* ---- Solves. ---- */

trs_plan *make_plan(const system_of *s, trs_context *ctx, const char *method, int64_t nrhs) {
  trs_options options = {.struct_size = sizeof(trs_options), .method = method, .nrhs = nrhs};
  trs_plan *plan;
  assert_success(trs_analyze(&plan, ctx, s->A, s->uplo, s->trans, s->diag, &options));
  return plan;
}

void judge(const system_of *s, const char *method, const void *x, const void *b, int64_t ld,
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

void solve_and_check(const system_of *s, trs_plan *plan, const char *method, int64_t nrhs,
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
