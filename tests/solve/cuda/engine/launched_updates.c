/* launched_updates.c - updates that only launch: the bits of updates that wait, in calls and in ten
 * thousand replays of a graph; unusable diagonal entries, values that would lose digits, and the
 * calls that cannot be served; the same of plans over factors. */
#include <math.h>

#include "gpu.h"
#include "solve/cuda/engine/state.h"
#include "test.h"

enum { N = 2000, RHS = 3 };

/* A system, its plan of either kind, and vectors in device memory.  With factors the plans are over
 * them: U is s, and L is a matrix of its own, or s holds both. */
typedef struct both_plans {
  both_sides s, L; /* L.there NULL: none */
  trs_factors *F;
  trs_trans trans;
  trs_stream stream;
  trs_plan *launches, *waits;
  void *b, *x; /* N x RHS elements */
  size_t bytes;
} both_plans;

static trs_status analyze(trs_plan **plan, const both_sides *s, const char *method, trs_trans trans,
                          trs_stream stream, int launch_updates) {
  trs_options options = {.struct_size = sizeof options,
                         .method = method,
                         .nrhs = RHS,
                         .stream = stream,
                         .launch_updates = launch_updates};
  return trs_analyze(plan, gpu_context, s->there, s->uplo, trans, TRS_NONUNIT, &options);
}

static trs_status analyze_factors(trs_plan **plan, const trs_factors *F, const char *method,
                                  trs_trans trans, trs_stream stream, int launch_updates) {
  trs_options options = {.struct_size = sizeof options,
                         .method = method,
                         .nrhs = RHS,
                         .stream = stream,
                         .launch_updates = launch_updates};
  return trs_analyze_factors(plan, gpu_context, F, trans, &options);
}

static void make_plans(both_plans *p, const char *method) {
  trs_plan **plans[] = {&p->waits, &p->launches};
  p->stream = gpu_stream();
  p->bytes = N * RHS * scalar_bytes(p->s.scalar);
  for (int launches = 0; launches < 2; launches++)
    assert_success(
        p->F ? analyze_factors(plans[launches], p->F, method, p->trans, p->stream, launches)
             : analyze(plans[launches], &p->s, method, p->trans, p->stream, launches));
  void *b = malloc(p->bytes);
  trs_random_fill(b, N * RHS, p->s.scalar, 11);
  p->b = gpu_upload(b, p->bytes);
  p->x = gpu_space(p->bytes);
  free(b);
}

static both_plans both_plans_of(triangle t, trs_format format, trs_scalar scalar,
                                const char *method, trs_trans trans) {
  both_plans p = {.s = both_sides_of(t, format, scalar), .trans = trans};
  make_plans(&p, method);
  return p;
}

static void both_plans_free(both_plans *p) {
  trs_plan_destroy(p->launches);
  trs_plan_destroy(p->waits);
  gpu_free(p->b);
  gpu_free(p->x);
  gpu_stream_free(p->stream);
  trs_factors_destroy(p->F);
  if (p->L.there) both_sides_free(&p->L);
  both_sides_free(&p->s);
}

static trs_status update(const both_plans *p, trs_plan *plan) {
  return p->F ? trs_update_factors(plan, p->F) : trs_update(plan, p->s.there);
}

static void set_side(const both_sides *s, int set) {
  const int64_t nnz = s->t.ptr[s->t.n];
  const size_t size = scalar_bytes(s->scalar);
  const bool narrow = s->scalar == TRS_FLOAT || s->scalar == TRS_SCOMPLEX;
  const int64_t numbers = nnz * (int64_t)size / (narrow ? 4 : 8);
  char *val = malloc((size_t)nnz * size);
  memcpy(val, s->t.val, (size_t)nnz * size);
  for (int64_t k = 0; k < numbers; k++) {
    const double factor = 1 + 0.001 * (double)((k * 7 + set * 13) % 50);
    if (narrow)
      ((float *)(void *)val)[k] *= (float)factor;
    else
      ((double *)(void *)val)[k] *= factor;
  }
  assert_success(trs_device_copy(s->val, val, nnz * (int64_t)size, NULL));
  assert_success(trs_device_wait(NULL));
  free(val);
}

/* Values number `set`, in the arrays that the matrices have. */
static void set_values(const both_plans *p, int set) {
  set_side(&p->s, set);
  if (p->L.there) set_side(&p->L, set + 1);
}

/* x of a solve by a plan; with `graph` by a replay. */
static void *solve(const both_plans *p, trs_plan *plan, int64_t nrhs, gpu_graph graph) {
  void *x = malloc(p->bytes);
  if (graph)
    gpu_replay(graph, p->stream);
  else
    assert_success(trs_solve(plan, p->x, N, p->b, N, nrhs, TRS_COL_MAJOR));
  assert_success(trs_plan_wait(plan));
  gpu_fetch(x, p->x, p->bytes / RHS * (size_t)nrhs);
  return x;
}

static void same_bits(const both_plans *p, int64_t nrhs, gpu_graph graph, const char *what) {
  assert_success(update(p, p->waits));
  void *wanted = solve(p, p->waits, nrhs, NULL);
  if (!graph) assert_success(update(p, p->launches));
  void *x = solve(p, p->launches, nrhs, graph);
  if (memcmp(x, wanted, p->bytes / RHS * (size_t)nrhs)) fail_msg("%s: other bits", what);
  free(wanted);
  free(x);
}

static const char *const methods[] = {"engine",
                                      "engine:substitute=8",
                                      "engine:substitute=0",
                                      "engine:block=4,substitute=0",
                                      "engine:block=32,dense=yes",
                                      "engine:boxes=yes"};

static triangle random_triangle(trs_scalar scalar) {
  return triangle_random(N, 0.06, 60, true, scalar, false, 3);
}

TEST(bits_are_those_of_updates_that_wait) {
  for (int type = TRS_FLOAT; type <= TRS_DCOMPLEX; type++)
    for (size_t m = 0; m < COUNT(methods); m++)
      for (int trans = TRS_NO_TRANS; trans <= TRS_CONJ_TRANS; trans++) {
        both_plans p = both_plans_of(random_triangle((trs_scalar)type), m % 2 ? TRS_CSR : TRS_CSC,
                                     (trs_scalar)type, methods[m], (trs_trans)trans);
        for (int set = 0; set < 3; set++) {
          char what[100];
          snprintf(what, sizeof what, "type %d, %s, trans %d, set %d", type, methods[m], trans,
                   set);
          set_values(&p, set);
          same_bits(&p, set == 1 ? RHS : 1, NULL, what);
        }
        both_plans_free(&p);
      }
}

static gpu_graph capture(const both_plans *p, int64_t nrhs) {
  gpu_capture_begin(p->stream);
  assert_success(update(p, p->launches));
  assert_success(trs_solve(p->launches, p->x, N, p->b, N, nrhs, TRS_COL_MAJOR));
  return gpu_capture_end(p->stream);
}

/* The first update of a plan may be one that is captured. */
TEST(graphs_take_new_values) {
  for (size_t m = 0; m < COUNT(methods); m++)
    for (int trans = TRS_NO_TRANS; trans <= TRS_TRANS; trans++)
      for (int64_t nrhs = 1; nrhs <= RHS; nrhs += RHS - 1) {
        both_plans p = both_plans_of(random_triangle(TRS_DOUBLE), TRS_CSR, TRS_DOUBLE, methods[m],
                                     (trs_trans)trans);
        gpu_graph graph = capture(&p, nrhs);
        for (int set = 0; set < 4; set++) {
          set_values(&p, set);
          same_bits(&p, nrhs, graph, methods[m]);
        }
        gpu_graph_free(graph);
        both_plans_free(&p);
      }
}

TEST(ten_thousand_replays) {
  enum { REPLAYS = 10000, CHECKS = 20, SETS = 8 };
  both_plans p = both_plans_of(random_triangle(TRS_DOUBLE), TRS_CSR, TRS_DOUBLE,
                               "engine:substitute=8", TRS_NO_TRANS);
  const int64_t bytes = p.s.t.ptr[N] * (int64_t)sizeof(double);
  void *sets[SETS];
  for (int k = 0; k < SETS; k++) {
    char *val = malloc((size_t)bytes);
    set_values(&p, k);
    gpu_fetch(val, p.s.val, (size_t)bytes);
    sets[k] = gpu_upload(val, (size_t)bytes);
    free(val);
  }
  gpu_graph graph = capture(&p, 1);
  for (int k = 0; k < REPLAYS; k++) {
    assert_success(trs_device_copy(p.s.val, sets[k * 5 % SETS], bytes, p.stream));
    if ((k + 1) % (REPLAYS / CHECKS))
      gpu_replay(graph, p.stream);
    else
      same_bits(&p, 1, graph, "replays");
  }
  assert_success(trs_plan_wait(p.launches));
  for (int k = 0; k < SETS; k++) gpu_free(sets[k]);
  gpu_graph_free(graph);
  both_plans_free(&p);
}

/* ---- Values that a plan cannot take. ---- */

static void assert_refuses(both_plans *p, trs_status status, int64_t row) {
  assert_int_equal(trs_plan_wait(p->launches), status);
  assert_int_equal(trs_last_error()->row, row);
  assert_int_equal(trs_solve(p->launches, p->x, N, p->b, N, 1, TRS_COL_MAJOR), status);
}

/* The plan and its graph go on after an update that waits and needs nothing else. */
TEST(an_unusable_pivot_is_told) {
  static const double pivots[] = {0, INFINITY, NAN};
  for (size_t m = 0; m < COUNT(methods); m++)
    for (size_t k = 0; k < COUNT(pivots); k++) {
      const int64_t row = 77;
      both_plans p = both_plans_of(random_triangle(TRS_DOUBLE), k == 1 ? TRS_CSC : TRS_CSR,
                                   TRS_DOUBLE, methods[m], k < 2 ? TRS_NO_TRANS : TRS_TRANS);
      gpu_graph graph = capture(&p, 1);
      const trs_status wanted = pivots[k] == 0 ? TRS_ERROR_ZERO_PIVOT : TRS_ERROR_NOT_FINITE;
      double *there = (double *)p.s.val + p.s.t.ptr[row + 1] - 1, x;
      bool solved = true;
      set_values(&p, 1);
      assert_success(trs_device_copy(there, &pivots[k], sizeof *there, NULL));
      assert_success(trs_device_wait(NULL));
      if (k % 2)
        gpu_replay(graph, p.stream);
      else {
        /* The solve launches too, unless the update has ended and told by then. */
        assert_success(update(&p, p.launches));
        const trs_status told = trs_solve(p.launches, p.x, N, p.b, N, 1, TRS_COL_MAJOR);
        assert_true(told == TRS_SUCCESS || told == wanted);
        solved = told == TRS_SUCCESS;
      }
      assert_refuses(&p, wanted, row);
      gpu_fetch(&x, (double *)p.x + row, sizeof x);
      assert_true(isnan(x) || !solved);
      assert_int_equal(update(&p, p.launches), wanted);
      assert_int_equal(trs_last_error()->row, row);
      set_values(&p, 2);
      assert_success(update(&p, p.launches));
      same_bits(&p, 1, NULL, "after a pivot");
      same_bits(&p, 1, graph, "a graph after a pivot");
      gpu_graph_free(graph);
      both_plans_free(&p);
    }
}

/* Off the diagonal, with a diagonal of ones. */
static void set_entries(both_plans *p, double entry) {
  const triangle *t = &p->s.t;
  double *val = malloc((size_t)t->ptr[N] * sizeof *val);
  for (int64_t i = 0; i < N; i++)
    for (int64_t e = t->ptr[i]; e < t->ptr[i + 1]; e++)
      val[e] = t->idx[e] == i ? 1 : (e % 3 ? entry : -entry) / (double)(t->ptr[i + 1] - t->ptr[i]);
  assert_success(trs_device_copy(p->s.val, val, t->ptr[N] * (int64_t)sizeof *val, NULL));
  assert_success(trs_device_wait(NULL));
  free(val);
}

TEST(values_that_would_lose_digits_are_told) {
  int told = 0;
  for (size_t m = 0; m < COUNT(methods); m++) {
    both_plans p =
        both_plans_of(random_triangle(TRS_DOUBLE), TRS_CSR, TRS_DOUBLE, methods[m], TRS_NO_TRANS);
    set_entries(&p, 1e7);
    assert_success(update(&p, p.launches));
    assert_success(trs_solve(p.launches, p.x, N, p.b, N, 1, TRS_COL_MAJOR));
    if (trs_plan_wait(p.launches)) {
      int64_t nans = 0;
      double *x = malloc(p.bytes);
      gpu_fetch(x, p.x, N * sizeof *x);
      for (int64_t i = 0; i < N; i++) nans += isnan(x[i]);
      assert_true(nans > 0);
      free(x);
      assert_refuses(&p, TRS_ERROR_UNSUPPORTED, -1);
      assert_non_null(strstr(trs_last_error()->message, "call trs_update outside graphs"));
      assert_success(update(&p, p.launches));
      told++;
    }
    set_entries(&p, 0.5);
    assert_success(update(&p, p.launches));
    void *x = solve(&p, p.launches, 1, NULL);
    free(x);
    both_plans_free(&p);
  }
  assert_true(told >= 2); /* substituted rows, and inverses of blocks */
}

/* ---- Plans over factors: both sweeps take new values in one graph. ---- */

/* Further entries right of the diagonal: both factors in one matrix.  Those left of it are small,
 * since L's diagonal is one, so that no values lose digits. */
static triangle with_upper(triangle L) {
  const int64_t most = L.ptr[N] + 2 * N;
  triangle both = {.n = N,
                   .ptr = calloc(N + 1, sizeof *both.ptr),
                   .idx = malloc((size_t)most * sizeof *both.idx),
                   .val = malloc((size_t)most * sizeof(double))};
  for (int64_t i = 0, nnz = 0; i < N; i++) {
    for (int64_t e = L.ptr[i]; e < L.ptr[i + 1]; e++, nnz++) {
      both.idx[nnz] = L.idx[e];
      ((double *)both.val)[nnz] = ((const double *)L.val)[e] * (L.idx[e] < i ? 0.3 : 1);
    }
    for (int64_t j = i + 1; j < N && j <= i + 8; j += 7, nnz++) {
      both.idx[nnz] = (int32_t)j;
      ((double *)both.val)[nnz] = 0.1;
    }
    both.ptr[i + 1] = nnz;
  }
  triangle_free(&L);
  return both;
}

static both_plans factor_plans(const char *method, trs_trans trans, bool together, bool permuted) {
  static int32_t backwards[N];
  static double scale[N];
  for (int32_t i = 0; i < N; i++) backwards[i] = N - 1 - i;
  for (int i = 0; i < N; i++) scale[i] = 1 + 0.25 * (i % 3);
  const int32_t *perm = permuted ? backwards : NULL;
  both_plans p = {.trans = trans};
  if (together)
    p.s = both_sides_of(with_upper(random_triangle(TRS_DOUBLE)), TRS_CSR, TRS_DOUBLE);
  else {
    p.L = both_sides_of(random_triangle(TRS_DOUBLE), TRS_CSR, TRS_DOUBLE);
    p.s = both_sides_of(random_triangle(TRS_DOUBLE), TRS_CSC, TRS_DOUBLE);
  }
  assert_success(trs_factors_create(&p.F, together ? p.s.there : p.L.there,
                                    together ? TRS_UNIT : TRS_NONUNIT, p.s.there, TRS_NONUNIT, perm,
                                    perm, permuted ? scale : NULL, NULL));
  make_plans(&p, method);
  return p;
}

TEST(factors_take_new_values) {
  for (size_t m = 0; m < COUNT(methods); m++)
    for (int c = 0; c < 8; c++) {
      both_plans p = factor_plans(methods[m], c & 1 ? TRS_TRANS : TRS_NO_TRANS, c & 2, c & 4);
      const int64_t nrhs = m % 2 ? RHS : 1;
      gpu_graph graph = capture(&p, nrhs);
      for (int set = 0; set < 4; set++) {
        set_values(&p, set);
        same_bits(&p, nrhs, graph, methods[m]);
        set_values(&p, set + 10);
        same_bits(&p, nrhs, NULL, methods[m]);
      }
      gpu_graph_free(graph);
      both_plans_free(&p);
    }
}

/* Of U, in the second sweep. */
TEST(an_unusable_pivot_of_factors_is_told) {
  const int64_t row = 77;
  const double zero = 0;
  both_plans p = factor_plans("engine", TRS_NO_TRANS, false, true);
  gpu_graph graph = capture(&p, 1);
  set_values(&p, 1);
  double *there = (double *)p.s.val + p.s.t.ptr[row + 1] - 1;
  assert_success(trs_device_copy(there, &zero, sizeof zero, NULL));
  assert_success(trs_device_wait(NULL));
  gpu_replay(graph, p.stream);
  assert_refuses(&p, TRS_ERROR_ZERO_PIVOT, row);
  assert_int_equal(update(&p, p.launches), TRS_ERROR_ZERO_PIVOT);
  set_values(&p, 2);
  assert_success(update(&p, p.launches));
  same_bits(&p, 1, NULL, "after a pivot of factors");
  same_bits(&p, 1, graph, "a graph after a pivot of factors");
  gpu_graph_free(graph);
  both_plans_free(&p);
}

/* ---- Calls that cannot be served. ---- */

static void assert_unsupported(trs_status status, const char *text) {
  assert_int_equal(status, TRS_ERROR_UNSUPPORTED);
  if (!strstr(trs_last_error()->message, text)) fail_msg("it says: %s", trs_last_error()->message);
}

TEST(what_cannot_be_is_refused) {
  both_sides s = both_sides_of(random_triangle(TRS_DOUBLE), TRS_CSR, TRS_DOUBLE);
  trs_options options = {.struct_size = sizeof options, .launch_updates = 1};
  trs_plan *plan;
  assert_unsupported(
      trs_analyze(&plan, gpu_context, s.here, s.uplo, TRS_NO_TRANS, TRS_NONUNIT, &options),
      "launch_updates is for a matrix in device memory");
  assert_unsupported(analyze(&plan, &s, "pull", TRS_NO_TRANS, NULL, 1), "its updates wait");
  options.launch_updates = 2;
  assert_int_equal(
      trs_analyze(&plan, gpu_context, s.there, s.uplo, TRS_NO_TRANS, TRS_NONUNIT, &options),
      TRS_ERROR_ARGUMENT);
  trs_factors *F;
  assert_success(
      trs_factors_create(&F, s.here, TRS_UNIT, s.here, TRS_NONUNIT, NULL, NULL, NULL, NULL));
  assert_unsupported(analyze_factors(&plan, F, NULL, TRS_NO_TRANS, NULL, 1),
                     "launch_updates is for a matrix in device memory");
  trs_factors_destroy(F);
  both_sides_free(&s);
}

/* The capture goes on. */
TEST(an_update_that_waits_is_not_captured) {
  both_plans p =
      both_plans_of(random_triangle(TRS_DOUBLE), TRS_CSR, TRS_DOUBLE, "engine", TRS_NO_TRANS);
  gpu_capture_begin(p.stream);
  assert_unsupported(update(&p, p.waits), "launch_updates");
  assert_success(trs_solve(p.waits, p.x, N, p.b, N, 1, TRS_COL_MAJOR));
  gpu_graph graph = gpu_capture_end(p.stream);
  void *x = solve(&p, p.waits, 1, graph);
  void *wanted = solve(&p, p.waits, 1, NULL);
  assert_memory_equal(x, wanted, p.bytes / RHS);
  free(x);
  free(wanted);
  gpu_graph_free(graph);
  both_plans_free(&p);
}

static trs_status try_analysis(void *argument) {
  trs_plan *plan;
  TRS_TRY(analyze(&plan, argument, "engine:substitute=8", TRS_TRANS, NULL, 1));
  trs_status status = trs_update(plan, ((const both_sides *)argument)->there);
  if (!status) status = trs_plan_wait(plan);
  trs_plan_destroy(plan);
  return status;
}

TEST(too_little_memory_is_given_back) {
  both_sides s = both_sides_of(random_triangle(TRS_DOUBLE), TRS_CSR, TRS_DOUBLE);
  gpu_assert_survives_limits(try_analysis, &s, 32768);
  both_sides_free(&s);
}

const test_program program = {.lacks = gpu_lacks, .end = gpu_stop};
