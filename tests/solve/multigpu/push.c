/* push.c - `push` and `columns` on the available GPUs: the same bits in every solve and with every
 * partition, arrays in device memory and on a stream, many solves in sequence, stored floats,
 * little memory, a stall, graphs. api/conformance.c covers types, formats and layouts. */
#include "device/gpu.h"
#include "solve/multigpu/push.h"

#include <stdio.h>
#include <stdlib.h>

#include "counters.h"
#include "io/scratch.h"
#include "backend/context.h"
#include "solve/multigpu/push_break.h"
#include "support.h"
#include "test.h"

static const char *const groups[] = {
    "cuda:0-0", "cuda:0,0", "cuda:0,0,0,0,0,0,0", "cuda:0-1", "cuda:1,0", "cuda:0-3", "cuda:0-7"};
static const char *const partitions[] = {"push:partition=bands", "push:partition=slabs",
                                         "push:partition=graph", "push:substitute=0",
                                         "push:substitute=0,members=2"};
/* Those, and rows that are substituted. */
static const char *const deals[] = {
    "push:partition=bands",        "push:partition=slabs",
    "push:partition=graph",        "push:substitute=0",
    "push:substitute=0,members=2", "push",
    "push:substitute=6",           "push:partition=slabs,substitute=32"};
static const char *const systems[] = {"gen:poisson2d5:60", "gen:chain:3000", "gen:poisson3d7:24",
                                      "gen:powerlaw:20000"};

typedef struct problem {
  trs_matrix *A, *T;
  int64_t n, longest;
  double *b, *x, *first;
} problem;

enum { NRHS = 12 };

static problem make_problem(const char *name, trs_uplo uplo) {
  problem p;
  trs_matrix_info info = {.struct_size = sizeof info};
  assert_success(trs_matrix_read(&p.A, name, NULL));
  assert_success(trs_matrix_triangle(&p.T, p.A, uplo, 1));
  trs_matrix_get_info(p.T, &info);
  p.n = info.nrows;
  p.longest = info.longest_row;
  p.b = malloc((size_t)(p.n * NRHS) * sizeof *p.b);
  p.x = malloc((size_t)(p.n * NRHS) * sizeof *p.x);
  p.first = malloc((size_t)(p.n * NRHS) * sizeof *p.first);
  trs_random_fill(p.b, p.n * NRHS, TRS_DOUBLE, 5);
  return p;
}

static void free_problem(problem *p) {
  trs_matrix_destroy(p->A);
  trs_matrix_destroy(p->T);
  free(p->b), free(p->x), free(p->first);
}

static void judge(const problem *p, trs_uplo uplo, int64_t nrhs) {
  trs_backward_error error = {.struct_size = sizeof error};
  assert_success(trs_check(&error, p->T, uplo, TRS_NO_TRANS, TRS_NONUNIT, p->x, p->n, p->b, p->n,
                           nrhs, TRS_COL_MAJOR));
  assert_true(error.componentwise <= error_limit(TRS_DOUBLE, p->longest));
}

/* Skips the test where the GPUs of the context are not. */
static trs_context *open_context(const char *where) {
  trs_context *ctx;
  if (trs_context_create(&ctx, where)) {
    skip_test(trs_last_error()->message);
  }
  return ctx;
}

/* NULL, after printing the reason, for a partition by the graph in a build without METIS. */
static trs_plan *analyze(trs_context *ctx, const problem *p, trs_uplo uplo, const char *method,
                         int64_t nrhs) {
  trs_plan *plan;
  trs_options options = {.struct_size = sizeof(trs_options), .method = method, .nrhs = nrhs};
  trs_status status = trs_analyze(&plan, ctx, p->T, uplo, TRS_NO_TRANS, TRS_NONUNIT, &options);
  if (status == TRS_ERROR_UNSUPPORTED && strstr(trs_last_error()->message, "METIS")) {
    printf("left out: %s\n", trs_last_error()->message);
    return NULL;
  }
  assert_success(status);
  return plan;
}

/* From host memory: the first solve is checked, and the others have its bits. */
static void solve_often(trs_plan *plan, problem *p, trs_uplo uplo, int64_t nrhs, int turns) {
  size_t bytes = (size_t)(p->n * nrhs) * sizeof *p->x;
  for (int turn = 0; turn < turns; turn++) {
    assert_success(trs_solve(plan, p->x, p->n, p->b, p->n, nrhs, TRS_COL_MAJOR));
    if (turn == 0) judge(p, uplo, nrhs);
    if (turn == 0) memcpy(p->first, p->x, bytes);
    assert_memory_equal(p->x, p->first, bytes);
  }
}

static void solve_from_host(trs_plan *plan, problem *p, trs_uplo uplo, int64_t nrhs) {
  solve_often(plan, p, uplo, nrhs, 20);
}

/* In device memory of the group's first GPU, with many solves launched before the first wait. */
static void solve_on_device(const trs_context *ctx, trs_plan *plan, problem *p, int64_t nrhs) {
  enum { TURNS = 50 };
  size_t bytes = (size_t)(p->n * nrhs) * sizeof *p->x;
  void *b, *x;
  int before = trs_device_enter(ctx->device);
  assert_int_equal(cudaMalloc(&b, bytes), cudaSuccess);
  assert_int_equal(cudaMalloc(&x, bytes), cudaSuccess);
  assert_int_equal(cudaMemcpy(b, p->b, bytes, cudaMemcpyHostToDevice), cudaSuccess);
  for (int turn = 0; turn < TURNS; turn++)
    assert_success(trs_solve(plan, x, p->n, b, p->n, nrhs, TRS_COL_MAJOR));
  assert_success(trs_solve(plan, b, p->n, b, p->n, nrhs, TRS_COL_MAJOR)); /* in place */
  assert_success(trs_plan_wait(plan));
  assert_int_equal(cudaMemcpy(p->x, x, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
  assert_memory_equal(p->x, p->first, bytes);
  assert_int_equal(cudaMemcpy(p->x, b, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
  assert_memory_equal(p->x, p->first, bytes);
  cudaFree(b);
  cudaFree(x);
  trs_device_leave(before);
}

static void solves_have_the_same_bits(void **state) {
  trs_context *ctx = open_context(*state);
  for (size_t s = 0; s < COUNT(systems); s++)
    for (size_t m = 0; m < COUNT(deals); m++) {
      trs_uplo uplo = m % 2 ? TRS_UPPER : TRS_LOWER;
      problem p = make_problem(systems[s], uplo);
      const int64_t nrhs = 5 * (m % 3) + 1; /* 11: eight together, then three */
      trs_plan *plan = analyze(ctx, &p, uplo, deals[m], m < 3 ? nrhs : 1);
      if (plan) {
        solve_from_host(plan, &p, uplo, nrhs);
        solve_on_device(ctx, plan, &p, nrhs);
        assert_success(trs_update(plan, p.T));
        solve_from_host(plan, &p, uplo, nrhs);
      }
      trs_plan_destroy(plan);
      free_problem(&p);
    }
  trs_context_destroy(ctx);
}

static void a_thousand_solves_have_the_same_bits(void **state) {
  trs_context *ctx = open_context(*state);
  problem p = make_problem("gen:poisson3d7:40", TRS_UPPER);
  trs_plan *plan = analyze(ctx, &p, TRS_UPPER, "auto", 1);
  solve_often(plan, &p, TRS_UPPER, 1, 1000);
  trs_plan_destroy(plan);
  free_problem(&p);
  trs_context_destroy(ctx);
}

static void counters_pass_32_bits(void **state) {
  trs_context *ctx = open_context(*state);
  for (int k = 0; k < COUNTER_BEGINS; k++) {
    problem p = make_problem("gen:poisson2d5:60", TRS_LOWER);
    trs_counters_begin = counter_begins[k];
    trs_plan *plan = analyze(ctx, &p, TRS_LOWER, deals[k], 1);
    trs_counters_begin = 0;
    if (plan) solve_often(plan, &p, TRS_LOWER, 1, 12);
    trs_plan_destroy(plan);
    free_problem(&p);
  }
  trs_context_destroy(ctx);
}

/* Solves of two contexts on the same GPUs, launched alternately, many at a time: members of one
 * context wait for each other, not for those of the other. */
static void contexts_share_their_gpus(void **state) {
  enum { TURNS = 50 };
  trs_context *ctx[2] = {open_context(*state)};
  ctx[1] = open_context(*state);
  problem p = make_problem("gen:poisson3d7:30", TRS_LOWER);
  const size_t bytes = (size_t)p.n * sizeof *p.x;
  trs_plan *plan[2];
  void *b, *x[2];
  int before = trs_device_enter(ctx[0]->device);
  assert_int_equal(cudaMalloc(&b, bytes), cudaSuccess);
  assert_int_equal(cudaMemcpy(b, p.b, bytes, cudaMemcpyHostToDevice), cudaSuccess);
  for (int k = 0; k < 2; k++) {
    plan[k] = analyze(ctx[k], &p, TRS_LOWER, "push:partition=bands", 1);
    solve_from_host(plan[k], &p, TRS_LOWER, 1);
    assert_int_equal(cudaMalloc(&x[k], bytes), cudaSuccess);
  }
  for (int turn = 0; turn < 2 * TURNS; turn++)
    assert_success(trs_solve(plan[turn % 2], x[turn % 2], p.n, b, p.n, 1, TRS_COL_MAJOR));
  for (int k = 0; k < 2; k++) {
    assert_success(trs_plan_wait(plan[k]));
    assert_int_equal(cudaMemcpy(p.x, x[k], bytes, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_memory_equal(p.x, p.first, bytes);
    cudaFree(x[k]);
    trs_plan_destroy(plan[k]);
  }
  cudaFree(b);
  trs_device_leave(before);
  free_problem(&p);
  for (int k = 0; k < 2; k++) trs_context_destroy(ctx[k]);
}

/* Two levels, each with its own launch if no GPU is shared. */
static void large_levels_have_the_same_bits(void **state) {
  trs_context *ctx = open_context(*state);
  for (size_t m = 0; m < 3; m++) {
    const trs_uplo uplo = m % 2 ? TRS_UPPER : TRS_LOWER;
    problem p = make_problem("gen:kkt3d:60", uplo);
    const int64_t nrhs = 10 * (m % 2) + 1;
    trs_plan *plan = analyze(ctx, &p, uplo, deals[m], nrhs);
    solve_from_host(plan, &p, uplo, nrhs);
    solve_on_device(ctx, plan, &p, nrhs);
    trs_plan_destroy(plan);
    free_problem(&p);
  }
  trs_context_destroy(ctx);
}

static void columns_are_dealt(void **state) {
  static const char *const ways[] = {"columns", "columns:block=1", "columns:block=3",
                                     "columns:remote=direct"};
  trs_context *ctx = open_context(*state);
  for (size_t k = 0; k < COUNT(ways); k++)
    for (int64_t nrhs = 1; nrhs <= NRHS; nrhs += k % 2 ? 11 : 4) {
      problem p = make_problem(systems[k], TRS_LOWER);
      trs_plan *plan = analyze(ctx, &p, TRS_LOWER, ways[k], k < 2 ? nrhs : 1);
      solve_from_host(plan, &p, TRS_LOWER, nrhs);
      solve_from_host(plan, &p, TRS_LOWER, 1);
      trs_plan_destroy(plan);
      free_problem(&p);
    }
  trs_context_destroy(ctx);
}

/* A solve in a graph, replayed several times with other right-hand sides.  Methods that wait for
 * their launches, and members that share a GPU, return an error. */
static void replay(trs_plan *plan, problem *p, int64_t nrhs, cudaStream_t stream, bool refused) {
  const size_t bytes = (size_t)(p->n * nrhs) * sizeof(double);
  cudaGraph_t graph;
  cudaGraphExec_t played;
  void *b, *x;
  assert_int_equal(cudaMalloc(&b, bytes), cudaSuccess);
  assert_int_equal(cudaMalloc(&x, bytes), cudaSuccess);
  assert_success(trs_solve(plan, x, p->n, b, p->n, nrhs, TRS_COL_MAJOR));
  assert_success(trs_plan_wait(plan));
  assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), 0);
  trs_status status = trs_solve(plan, x, p->n, b, p->n, nrhs, TRS_COL_MAJOR);
  assert_int_equal(cudaStreamEndCapture(stream, &graph), 0);
  assert_int_equal(status, refused ? TRS_ERROR_UNSUPPORTED : TRS_SUCCESS);
  if (!refused) assert_int_equal(cudaGraphInstantiate(&played, graph, 0), 0);
  for (int turn = 0; turn < 4 && !refused; turn++) {
    trs_random_fill(p->b, p->n * nrhs, TRS_DOUBLE, (uint64_t)turn);
    assert_int_equal(cudaMemcpyAsync(b, p->b, bytes, cudaMemcpyHostToDevice, stream), 0);
    assert_int_equal(cudaGraphLaunch(played, stream), 0);
    assert_success(trs_plan_wait(plan));
    assert_int_equal(cudaMemcpy(p->x, x, bytes, cudaMemcpyDeviceToHost), 0);
    judge(p, TRS_LOWER, nrhs);
  }
  if (!refused) cudaGraphExecDestroy(played);
  cudaGraphDestroy(graph);
  cudaFree(b);
  cudaFree(x);
}

static void solves_become_graphs(void **state) {
  static const char *const ways[] = {"push", "columns", "zerocopy"};
  trs_context *ctx = open_context(*state);
  const bool shared = trs_group_sharers(ctx->group, 0) > 1;
  for (size_t k = 0; k < COUNT(ways); k++) {
    problem p = make_problem("gen:poisson3d7:24", TRS_LOWER);
    cudaStream_t stream;
    trs_plan *plan;
    int before = trs_device_enter(ctx->device);
    assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), 0);
    trs_options options = {
        .struct_size = sizeof(trs_options), .method = ways[k], .nrhs = 6, .stream = stream};
    assert_success(trs_analyze(&plan, ctx, p.T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
    replay(plan, &p, 6, stream, k == 2 || (k == 0 && shared));
    trs_plan_destroy(plan);
    cudaStreamDestroy(stream);
    trs_device_leave(before);
    free_problem(&p);
  }
  trs_context_destroy(ctx);
}

/* b and x on the members that solve them: the same bits, and only the share's elements are
 * written. */
static void solve_distributed(trs_context *ctx, trs_plan *plan, problem *p, int64_t nrhs,
                              bool sums_vary) {
  void *x[TRS_MOST_MEMBERS] = {NULL}, *b[TRS_MOST_MEMBERS] = {NULL};
  const size_t bytes = (size_t)(p->n * nrhs) * sizeof(double);
  double *got = malloc(bytes);
  int64_t *row = malloc((size_t)p->n * sizeof *row), seen = 0;
  const int members = trs_context_members(ctx, NULL, NULL);
  trs_plan_share s[TRS_MOST_MEMBERS];
  for (int m = 0; m < members; m++) {
    int before = trs_device_enter(trs_group_device(ctx->group, m));
    s[m] = (trs_plan_share){.struct_size = sizeof s[m]};
    assert_success(trs_plan_get_share(plan, &s[m], NULL, m, nrhs));
    const size_t own = (size_t)(p->n * s[m].ncolumns) * sizeof(double);
    assert_int_equal(cudaMalloc(&x[m], own + 8), cudaSuccess);
    assert_int_equal(cudaMalloc(&b[m], own + 8), cudaSuccess);
    cudaMemset(x[m], 0xff, own);
    cudaMemcpy(b[m], p->b + s[m].first_column * p->n, own, cudaMemcpyHostToDevice);
    trs_device_leave(before);
  }
  for (int turn = 0; turn < 5; turn++)
    assert_success(
        trs_solve_distributed(plan, x, p->n, (const void *const *)b, p->n, nrhs, TRS_COL_MAJOR));
  assert_success(trs_plan_wait(plan));
  for (int m = 0; m < members; m++) {
    cudaMemcpy(got, x[m], (size_t)(p->n * s[m].ncolumns) * sizeof(double), cudaMemcpyDeviceToHost);
    assert_success(trs_plan_get_share(plan, &s[m], row, m, nrhs));
    for (int64_t c = 0; c < s[m].ncolumns; c++)
      for (int64_t k = 0, at = 0; k < p->n; k++) {
        const bool own = at < s[m].nrows && row[at] == k;
        uint64_t bits;
        memcpy(&bits, got + c * p->n + k, sizeof bits);
        if (own) p->x[(s[m].first_column + c) * p->n + k] = got[c * p->n + k];
        if (!own) assert_true(bits == UINT64_MAX);
        at += own;
        seen += own;
      }
    cudaFree(x[m]);
    cudaFree(b[m]);
  }
  assert_int_equal(seen, p->n * nrhs);
  if (sums_vary)
    judge(p, TRS_LOWER, nrhs);
  else
    assert_memory_equal(p->x, p->first, bytes);
  free(got);
  free(row);
}

/* A stream per member, which no other waits for. */
static void use_streams(trs_context *ctx, trs_plan *plan, cudaStream_t *stream) {
  const int members = trs_context_members(ctx, NULL, NULL);
  for (int m = 0; m < members; m++) {
    int before = trs_device_enter(trs_group_device(ctx->group, m));
    assert_int_equal(cudaStreamCreateWithFlags(&stream[m], cudaStreamNonBlocking), cudaSuccess);
    trs_device_leave(before);
  }
  assert_success(trs_plan_set_streams(plan, (void *const *)stream));
}

static void drop_streams(trs_context *ctx, trs_plan *plan, cudaStream_t *stream) {
  assert_success(trs_plan_set_stream(plan, NULL));
  for (int m = 0; m < trs_context_members(ctx, NULL, NULL); m++) cudaStreamDestroy(stream[m]);
}

/* Solves in several streams have the bits of solves in one, and may take turns with them. */
static void solve_in_streams(trs_context *ctx, trs_plan *plan, problem *p, int64_t nrhs,
                             bool sums_vary) {
  cudaStream_t stream[TRS_MOST_MEMBERS];
  void *const x[TRS_MOST_MEMBERS] = {p->x};
  const void *const b[TRS_MOST_MEMBERS] = {p->b};
  use_streams(ctx, plan, stream);
  for (int turn = 0; turn < 2; turn++) {
    solve_distributed(ctx, plan, p, nrhs, sums_vary);
    assert_success(trs_solve(plan, p->x, p->n, p->b, p->n, nrhs, TRS_COL_MAJOR));
    judge(p, TRS_LOWER, nrhs);
  }
  assert_int_equal(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeThreadLocal),
                   cudaSuccess);
  assert_failure(TRS_ERROR_UNSUPPORTED, "several streams",
                 trs_solve_distributed(plan, x, p->n, b, p->n, nrhs, TRS_COL_MAJOR));
  cudaGraph_t graph;
  assert_int_equal(cudaStreamEndCapture(stream[0], &graph), cudaSuccess);
  cudaGraphDestroy(graph);
  drop_streams(ctx, plan, stream);
  solve_distributed(ctx, plan, p, nrhs, sums_vary);
}

static void vectors_lie_where_they_are_solved(void **state) {
  static const char *const ways[] = {"push:partition=slabs", "push:partition=bands", "columns",
                                     "zerocopy", "zerocopy-block"};
  trs_context *ctx = open_context(*state);
  for (size_t k = 0; k < COUNT(ways); k++) {
    const int64_t nrhs = k < 2 ? 2 : 7;
    problem p = make_problem(systems[k % COUNT(systems)], TRS_LOWER);
    trs_plan *plan = analyze(ctx, &p, TRS_LOWER, ways[k], nrhs);
    assert_success(trs_solve(plan, p.first, p.n, p.b, p.n, nrhs, TRS_COL_MAJOR));
    solve_distributed(ctx, plan, &p, nrhs, k >= 3);
    solve_in_streams(ctx, plan, &p, nrhs, k >= 3);
    const void *const none[TRS_MOST_MEMBERS] = {p.b};
    void *const there[TRS_MOST_MEMBERS] = {p.x};
    if (p.n > 0)
      assert_int_equal(trs_solve_distributed(plan, there, p.n, none, p.n, 1, TRS_COL_MAJOR),
                       TRS_ERROR_ARGUMENT); /* host memory, or NULL */
    trs_plan_destroy(plan);
    free_problem(&p);
  }
  trs_context_destroy(ctx);
}

/* Solutions do not depend on the members: every sum has the order of the slices. */
TEST(partitions_have_the_same_bits) {
  problem p = make_problem("gen:poisson3d7:24", TRS_LOWER);
  bool begun = false;
  for (size_t g = 0; g < COUNT(groups); g++) {
    trs_context *ctx = open_context(groups[g]);
    for (size_t m = 0; ctx && m < COUNT(partitions); m++) {
      trs_plan *plan = analyze(ctx, &p, TRS_LOWER, partitions[m], 1);
      if (!plan) continue;
      assert_success(trs_solve(plan, p.x, p.n, p.b, p.n, 1, TRS_COL_MAJOR));
      if (!begun) memcpy(p.first, p.x, (size_t)p.n * sizeof *p.x);
      begun = true;
      assert_memory_equal(p.x, p.first, (size_t)p.n * sizeof *p.x);
      trs_plan_destroy(plan);
    }
    trs_context_destroy(ctx);
  }
  free_problem(&p);
  if (!begun) skip_test(trs_last_error()->message);
}

/* With a limit below the need of one GPU auto deals the rows.  quarters: the limit of each GPU in
 * quarters of the matrix's bytes. */
static void solve_within(int64_t quarters) {
  trs_context *ctx = open_context("cuda:0-1");
  problem p = make_problem("gen:poisson3d7:60", TRS_LOWER);
  trs_matrix_info info = {.struct_size = sizeof info};
  trs_plan_info facts = {.struct_size = sizeof facts};
  trs_plan *plan;
  trs_matrix_get_info(p.T, &info);
  assert_success(trs_context_set_gpu_memory(ctx, info.bytes / 4 * quarters + p.n * 8));
  assert_success(trs_analyze(&plan, ctx, p.T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL));
  assert_success(trs_plan_get_info(plan, &facts));
  if (quarters <= 8) assert_string_equal(facts.method, "push");
  assert_success(trs_solve(plan, p.x, p.n, p.b, p.n, 1, TRS_COL_MAJOR));
  judge(&p, TRS_LOWER, 1);
  trs_plan_destroy(plan);
  trs_context_destroy(ctx);
  free_problem(&p);
}

/* Also if one GPU seems to have enough memory for the analysis of all rows, but has not. */
TEST(what_does_not_fit_one_is_dealt) {
  trs_context *ctx = open_context("cuda:0-1");
  trs_context_destroy(ctx);
  for (int64_t quarters = 8; quarters <= 18; quarters++) solve_within(quarters);
}

/* Solves with values in a file have the bits of those with values in memory. */
static void compare_deferred(trs_context *ctx, problem *p, const char *method, trs_trans trans) {
  const size_t bytes = (size_t)p->n * sizeof *p->x;
  trs_matrix *D;
  trs_matrix_info info = {.struct_size = sizeof info};
  trs_plan *plan;
  trs_backward_error error = {.struct_size = sizeof error};
  const trs_options options = {.struct_size = sizeof(trs_options), .method = method};
  assert_success(trs_analyze(&plan, ctx, p->T, TRS_LOWER, trans, TRS_NONUNIT, &options));
  assert_success(trs_solve(plan, p->first, p->n, p->b, p->n, 1, TRS_COL_MAJOR));
  trs_plan_destroy(plan);
  assert_success(
      trs_matrix_open(&D, scratch("t.mtx"), trans ? TRS_CSC : TRS_CSR, TRS_LOWER, 0, NULL));
  assert_success(trs_analyze(&plan, ctx, D, TRS_LOWER, trans, TRS_NONUNIT, &options));
  for (int turn = 0; turn < 2; turn++) {
    memset(p->x, 0, bytes);
    assert_success(trs_solve(plan, p->x, p->n, p->b, p->n, 1, TRS_COL_MAJOR));
    assert_memory_equal(p->x, p->first, bytes);
    assert_success(trs_update(plan, D));
  }
  trs_matrix_get_info(D, &info);
  assert_in_range(info.largest_part, 1, info.nnz * (int64_t)sizeof(double));
  assert_success(trs_check(&error, D, TRS_LOWER, trans, TRS_NONUNIT, p->x, p->n, p->b, p->n, 1,
                           TRS_COL_MAJOR));
  assert_true(error.componentwise <= error_limit(TRS_DOUBLE, info.longest_row));
  trs_plan_destroy(plan);
  assert_failure(TRS_ERROR_UNSUPPORTED, "by rows",
                 trs_analyze(&plan, ctx, D, TRS_LOWER, trans ? TRS_NO_TRANS : TRS_TRANS,
                             TRS_NONUNIT, &options));
  assert_failure(
      TRS_ERROR_UNSUPPORTED, "deferred",
      trs_analyze(&plan, ctx, D, TRS_LOWER, trans, TRS_NONUNIT,
                  &(trs_options){.struct_size = sizeof(trs_options), .method = "zerocopy"}));
  trs_matrix_destroy(D);
}

static void deferred_values_have_the_same_bits(void **state) {
  trs_context *ctx = open_context(*state);
  for (size_t s = 0; s < COUNT(systems); s++) {
    problem p = make_problem(systems[s], TRS_LOWER);
    assert_success(trs_matrix_write(p.T, scratch("t.mtx")));
    compare_deferred(ctx, &p, "push:partition=bands", TRS_NO_TRANS);
    compare_deferred(ctx, &p, "push:partition=slabs", TRS_TRANS);
    free_problem(&p);
  }
  trs_context_destroy(ctx);
}

/* A zero on the diagonal is found when the values are read. */
TEST(deferred_zeros_are_told) {
  trs_context *ctx = open_context("cuda:0,0");
  trs_matrix *D;
  trs_plan *plan;
  const char *path = scratch_text("z.mtx",
                                  "%%MatrixMarket matrix coordinate real general\n"
                                  "3 3 4\n1 1 1\n2 2 0\n3 3 1\n3 1 5\n");
  assert_success(trs_matrix_open(&D, path, TRS_CSR, TRS_LOWER, 0, NULL));
  assert_failure(TRS_ERROR_ZERO_PIVOT, "row 1",
                 trs_analyze(&plan, ctx, D, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL));
  trs_matrix_destroy(D);
  trs_context_destroy(ctx);
}

TEST(a_stall_ends_all_members) {
  trs_context *ctx = open_context("cuda:0,0,0");
  problem p = make_problem("gen:poisson3d7:24", TRS_LOWER);
  trs_plan *plan = analyze(ctx, &p, TRS_LOWER, "push:partition=bands", 1);
  assert_success(trs_solve(plan, p.x, p.n, p.b, p.n, 1, TRS_COL_MAJOR));
  assert_success(push_break(plan));
  for (int turn = 0; turn < 2; turn++) {
    assert_int_equal(trs_solve(plan, p.x, p.n, p.b, p.n, 1, TRS_COL_MAJOR), TRS_ERROR_STALLED);
    assert_non_null(strstr(trs_last_error()->message, "member"));
  }
  trs_plan_destroy(plan);
  free_problem(&p);
  trs_context_destroy(ctx);
}

static void add_cases(void) {
  enum { GROUPS = COUNT(groups) };
  static const struct {
    const char *name;
    void (*test)(void **state);
  } each[] = {{"push", solves_have_the_same_bits},
              {"a thousand", a_thousand_solves_have_the_same_bits},
              {"counters", counters_pass_32_bits},
              {"two contexts", contexts_share_their_gpus},
              {"large levels", large_levels_have_the_same_bits},
              {"columns", columns_are_dealt},
              {"graphs", solves_become_graphs},
              {"deferred", deferred_values_have_the_same_bits},
              {"distributed", vectors_lie_where_they_are_solved}};
  enum { EACH = COUNT(each) * GROUPS };
  static char names[EACH][64];
  for (int k = 0; k < EACH; k++) {
    snprintf(names[k], sizeof names[k], "%s %s", each[k / GROUPS].name, groups[k % GROUPS]);
    add_test(__LINE__, names[k], each[k / GROUPS].test, groups[k % GROUPS]);
  }
}

const test_program program = {.end = scratch_remove, .add_cases = add_cases};
