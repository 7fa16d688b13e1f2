/* small_universe.c - every strictly lower pattern up to n = 5, all 1 + 2 + 8 + 64 + 1024 of them,
 * with integer values whose solutions are exact: results must be equal, not close.  On a GPU, whose
 * analyses take longer, the patterns of n = 5 cover the sixteen choices of the system in turn. */
#include "solve/threads/schedule.h"
#include "support.h"
#include "test.h"

enum { MOST = 5 };

enum { NBACKENDS = 5, GPU = 3 /* GPU: the index of the first GPU backend */, CHOICES = 16 };

static const char *const contexts[NBACKENDS] = {"serial", "threads:2", "threads:4", "cuda", "cuda"};
static const char *const methods[NBACKENDS] = {"serial", "threads", "threads", "engine", "pull"};

typedef struct dense_lower {
  int n;
  double a[MOST][MOST];
} dense_lower;

/* Bit k of the pattern is set if place k below the diagonal has an entry. */
static dense_lower from_bits(int n, unsigned bits, bool unit) {
  dense_lower L = {.n = n};
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++, bits >>= 1)
      if (bits & 1) L.a[i][j] = (i * 7 + j * 3) % 5 - 2;
    L.a[i][i] = unit ? 1 : (i % 2 ? -2 : 4); /* powers of two: quotients are exact */
  }
  return L;
}

/* Compressed rows of L or of its transpose; explicit zeros are kept where the pattern has
 * entries. */
static trs_matrix *compress(const dense_lower *L, unsigned bits, bool turned, bool store_diagonal,
                            trs_format format) {
  bool in[MOST][MOST] = {{false}};
  int64_t ptr[MOST + 1] = {0}, nnz = 0;
  int32_t idx[MOST * MOST];
  double val[MOST * MOST];
  for (int i = 0; i < L->n; i++) {
    in[i][i] = store_diagonal;
    for (int j = 0; j < i; j++, bits >>= 1) in[i][j] = bits & 1;
  }
  for (int i = 0; i < L->n; i++) {
    for (int j = 0; j < L->n; j++) {
      bool swap = turned != (format == TRS_CSC);
      if (!(swap ? in[j][i] : in[i][j])) continue;
      idx[nnz] = j;
      val[nnz++] = swap ? L->a[j][i] : L->a[i][j];
    }
    ptr[i + 1] = nnz;
  }
  trs_matrix *A;
  assert_success(
      trs_matrix_create(&A, format, TRS_DOUBLE, L->n, L->n, TRS_PTR64, ptr, idx, val, TRS_COPY));
  return A;
}

static void check_one(trs_context *ctx, const char *method, const dense_lower *L, unsigned bits,
                      int choice) {
  bool turned = choice & 1, transposed = choice & 2, unit = choice & 4;
  trs_format format = choice & 8 ? TRS_CSC : TRS_CSR;
  trs_matrix *A = compress(L, bits, turned, !unit || bits % 2, format);
  trs_plan *plan;
  trs_options options = {.struct_size = sizeof(trs_options), .method = method};
  double expected[MOST], b[MOST] = {0}, x[MOST];
  for (int i = 0; i < L->n; i++) expected[i] = (i * 5) % 7 - 3;
  /* op(A) = L when turned and transposed agree, else L^T */
  for (int i = 0; i < L->n; i++)
    for (int j = 0; j < L->n; j++)
      b[i] += (turned == transposed ? L->a[i][j] : L->a[j][i]) * expected[j];
  assert_success(trs_analyze(&plan, ctx, A, turned ? TRS_UPPER : TRS_LOWER,
                             transposed ? TRS_TRANS : TRS_NO_TRANS, unit ? TRS_UNIT : TRS_NONUNIT,
                             &options));
  assert_success(trs_solve(plan, x, L->n, b, L->n, 1, TRS_COL_MAJOR));
  for (int i = 0; i < L->n; i++)
    if (x[i] != expected[i])
      fail_msg("n %d pattern %u choice %d: x[%d] = %g, not %g", L->n, bits, choice, i, x[i],
               expected[i]);
  trs_plan_destroy(plan);
  trs_matrix_destroy(A);
}

static void every_pattern(void **state) {
  int backend = *(const int *)*state, patterns = 0;
  trs_context *ctx;
  trs_status status = trs_context_create(&ctx, contexts[backend]);
  if (backend >= GPU && status == TRS_ERROR_UNSUPPORTED) {
    skip_test(trs_last_error()->message);
  }
  assert_success(status);
  for (int n = 1; n <= MOST; n++)
    for (unsigned bits = 0; bits < 1u << (n * (n - 1) / 2); bits++, patterns++)
      for (int choice = 0; choice < CHOICES; choice++) {
        unsigned share = (bits ^ bits >> 3 ^ bits >> 6 ^ bits >> 9) % 8;
        if (backend >= GPU && n == MOST && choice % 8 != (int)share) continue;
        dense_lower L = from_bits(n, bits, choice & 4);
        check_one(ctx, methods[backend], &L, bits, choice);
      }
  assert_int_equal(patterns, 1 + 2 + 8 + 64 + 1024);
  trs_context_destroy(ctx);
}

static int begin(void **state) {
  trs_schedule_part_work = 1;
  return 0;
}

static void add_cases(void) {
  static const int number[] = {0, 1, 2, GPU, GPU + 1};
  static const char *const names[] = {"every pattern, serial", "every pattern, 2 threads",
                                      "every pattern, 4 threads", "every pattern, GPU, engine",
                                      "every pattern, GPU, pull"};
  for (size_t k = 0; k < COUNT(names); k++) add_test(__LINE__, names[k], every_pattern, &number[k]);
}

const test_program program = {.begin = begin, .add_cases = add_cases};
