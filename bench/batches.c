/* batches.c - trireme bench batches: many systems with one pattern, each with values and a
 * right-hand side of its own.  Here on a GPU, beside solves with the block-diagonal matrix of them
 * all: by a plan, and by every algorithm of cuSPARSE.  Values, b and x are in device memory. */
#include "batches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "copy.h"
#include "cuda.h"
#include "cusparse.h"
#include "experiment.h"
#include "leave.h"
#include "progress.h"
#include "repeat.h"
#include "run.h"
#include "spsv_graph.h"

/* MOST_BYTES: of the values of a case.  MOST_IN_GRAPH: systems that a graph solves one by one. */
enum { CHECKED = 3, MOST_BYTES = 1000000000, MOST_IN_GRAPH = 1000 };
#define MOST_SECONDS 100 /* after which no further case begins */
#define TOLERANCE 1e-12  /* of backward errors */

static const struct {
  const char *name, *matrix;
  bool factor; /* L of its LU factors; else its lower triangle */
} cases[] = {{"tridiagonal, 30", "gen:chain:30", false},
             {"tridiagonal, 1000", "gen:chain:1000", false},
             {"2D grid, 15 x 15", "gen:poisson2d5:15", false},
             {"2D grid, 100 x 100", "gen:poisson2d5:100", false},
             {"2D grid, 149 x 149", "gen:poisson2d5:149", false},
             {"L of LU, power law, 1000", "gen:powerlaw:1000", true},
             {"L of LU, Delaunay, 997", "gen:delaunay:997", true}};
const int64_t bench_batch_counts[BATCH_COUNTS] = {10, 100, 1000, 10000};

/* ---- The systems ---- */

static void fill(bench_batch *c, const double *val) {
  uint64_t state = 1;
  for (int64_t s = 0; s < c->count; s++)
    for (int64_t p = 0; p < c->nnz; p++)
      c->val[s * c->nnz + p] = val[p] * (1 + 0.1 * bench_noise(&state));
  for (int64_t k = 0; k < c->count * c->n; k++) c->b[k] = bench_noise(&state);
}

int bench_batch_open(bench_batch *c) {
  const size_t values = (size_t)(c->count * c->nnz) * sizeof(double);
  const size_t rows = (size_t)(c->count * c->n) * sizeof(double);
  const void *val;
  trs_matrix_get_arrays(c->L, NULL, NULL, &val);
  c->val = malloc(values);
  c->b = malloc(rows);
  c->x = malloc(rows);
  if (!c->val || !c->b || !c->x) return leave_memory((double)(values + 2 * rows), "a batch");
  fill(c, val);
  return -1;
}

void bench_batch_close(bench_batch *c) {
  free(c->val);
  free(c->b);
  free(c->x);
}

double bench_batch_error(const bench_batch *c) {
  const int64_t *ptr;
  const int32_t *idx;
  double largest = 0;
  trs_matrix_get_arrays(c->L, &ptr, &idx, NULL);
  for (int k = 0; k < CHECKED; k++) {
    const int64_t s = (c->count - 1) * k / (CHECKED - 1);
    trs_backward_error error = {.struct_size = sizeof error};
    trs_matrix *own = NULL;
    trs_status status = trs_matrix_create(&own, TRS_CSR, TRS_DOUBLE, c->n, c->n, TRS_PTR64, ptr,
                                          idx, c->val + s * c->nnz, TRS_BORROW);
    if (!status)
      status = trs_check(&error, own, TRS_LOWER, TRS_NO_TRANS, c->diag, c->x + s * c->n, c->n,
                         c->b + s * c->n, c->n, 1, TRS_COL_MAJOR);
    trs_matrix_destroy(own);
    if (status) return NAN;
    largest = fmax(largest, error.componentwise);
  }
  return largest;
}

bool bench_batch_is_right(double error) { return error < TOLERANCE; }

int bench_batch_judge(const bench_batch *c, double error) {
  if (bench_batch_is_right(error)) return -1;
  return leave(LEAVE_NUMERICAL, "numerical", -1, "%s: backward error %g", c->name, error);
}

static int take_pattern(trs_matrix **rows, trs_diag *diag, const char *matrix, bool factor) {
  const trs_factor_options how = {.struct_size = sizeof how, .add_diagonal = 1};
  trs_factors_info info = {.struct_size = sizeof info};
  trs_matrix *A = NULL, *T = NULL;
  trs_factors *F = NULL;
  *rows = NULL;
  *diag = TRS_NONUNIT;
  trs_status status = trs_matrix_read(&A, matrix, NULL);
  if (!status && factor) status = trs_factor(&F, A, &how);
  if (!status && factor) status = trs_factors_get_info(F, &info);
  if (!status && !factor) status = trs_matrix_triangle(&T, A, TRS_LOWER, 1);
  if (!status) status = trs_matrix_convert(rows, factor ? info.L : T, TRS_CSR, TRS_DOUBLE);
  if (!status && factor) *diag = info.diag_L;
  trs_matrix_destroy(T);
  trs_matrix_destroy(A);
  trs_factors_destroy(F);
  return status ? leave_library(matrix) : -1;
}

int bench_batch_each(int (*run)(const bench_batch *pattern, void *user), void *user) {
  int code = -1;
  for (size_t k = 0; k < sizeof cases / sizeof *cases && code < 0; k++) {
    trs_matrix_info info = {.struct_size = sizeof info};
    bench_batch pattern = {.name = cases[k].name};
    trs_matrix *rows;
    code = take_pattern(&rows, &pattern.diag, cases[k].matrix, cases[k].factor);
    if (code < 0) {
      trs_matrix_get_info(rows, &info);
      pattern.L = rows;
      pattern.n = info.nrows;
      pattern.nnz = info.nnz;
      code = run(&pattern, user);
    }
    trs_matrix_destroy(rows);
  }
  return code;
}

/* ---- The same in device memory ---- */

typedef struct batch_case {
  const bench_settings *set;
  trs_context *ctx;
  bench_batch here;
  void *val, *b, *x, *ptr, *idx; /* ptr and idx: of the block-diagonal matrix, 32 bits */
  double copy_gbs, end;
  bool has_peer;
} batch_case;

static int leave_cuda(const batch_case *c) {
  const char *why = bench_cuda_error();
  return leave(LEAVE_UNAVAILABLE, "unsupported", -1, "%s: CUDA says %s", c->here.name,
               why ? why : "nothing, but it failed");
}

static bool upload_pattern(batch_case *c) {
  const bench_batch *h = &c->here;
  const int64_t *ptr;
  const int32_t *idx;
  trs_matrix_get_arrays(h->L, &ptr, &idx, NULL);
  int32_t *all_ptr = malloc((size_t)(h->count * h->n + 1) * sizeof *all_ptr);
  int32_t *all_idx = malloc((size_t)(h->count * h->nnz) * sizeof *all_idx);
  bool good = all_ptr && all_idx;
  for (int64_t s = 0; s < h->count && good; s++) {
    for (int64_t i = 0; i <= h->n; i++) all_ptr[s * h->n + i] = (int32_t)(s * h->nnz + ptr[i]);
    for (int64_t p = 0; p < h->nnz; p++) all_idx[s * h->nnz + p] = (int32_t)(s * h->n + idx[p]);
  }
  good = good &&
         bench_cuda_upload(&c->ptr, all_ptr, (size_t)(h->count * h->n + 1) * sizeof *all_ptr) &&
         bench_cuda_upload(&c->idx, all_idx, (size_t)(h->count * h->nnz) * sizeof *all_idx);
  free(all_ptr);
  free(all_idx);
  return good;
}

static void close_case(batch_case *c) {
  BENCH_CUDA_FREE(c->val, c->b, c->x, c->ptr, c->idx);
  bench_batch_close(&c->here);
}

static int open_case(batch_case *c) {
  bench_batch *h = &c->here;
  const size_t values = (size_t)(h->count * h->nnz) * sizeof(double);
  const size_t rows = (size_t)(h->count * h->n) * sizeof(double);
  const int code = bench_batch_open(h);
  if (code >= 0) return code;
  const bool good = bench_cuda_upload(&c->val, h->val, values) &&
                    bench_cuda_upload(&c->b, h->b, rows) && bench_cuda_alloc(&c->x, rows) &&
                    upload_pattern(c);
  return good ? -1 : leave_cuda(c);
}

static double error_of(const batch_case *c) {
  const bench_batch *h = &c->here;
  if (!bench_cuda_get(h->x, c->x, (size_t)(h->count * h->n) * sizeof(double))) return NAN;
  return bench_batch_error(h);
}

/* ---- The batch ---- */

typedef struct by_batch {
  batch_case *c;
  trs_plan *B;
} by_batch;

static bool solve_batch(void *user) {
  const by_batch *s = user;
  const batch_case *c = s->c;
  return !trs_batch_solve(s->B, c->x, c->here.n, c->here.n, c->b, c->here.n, c->here.n, 1,
                          TRS_COL_MAJOR);
}

/* How a batch was solved. */
typedef struct batch_times {
  double solve, update, error;
  trs_batch_info info;
  char method[96]; /* info.method, which goes with the batch */
} batch_times;

static int run_batch(batch_case *c, batch_times *t) {
  by_batch s = {.c = c};
  t->info.struct_size = sizeof t->info;
  trs_status status = trs_batch_create(&s.B, c->ctx, c->here.L, TRS_LOWER, TRS_NO_TRANS,
                                       c->here.diag, c->here.count, NULL);
  if (!status) status = trs_batch_update(s.B, c->val, 0);
  const double start = seconds_now();
  if (!status) status = trs_batch_update(s.B, c->val, 0);
  t->update = seconds_now() - start;
  if (!status) status = trs_batch_get_info(s.B, &t->info);
  if (!status) snprintf(t->method, sizeof t->method, "%s", t->info.method);
  if (!status) t->solve = bench_repeat(solve_batch, &s);
  if (!status) t->error = error_of(c);
  trs_plan_destroy(s.B);
  if (status) return leave_library(c->here.name);
  return isnan(t->solve) ? leave_cuda(c) : -1;
}

/* ---- The block-diagonal matrix ---- */

typedef struct by_plan {
  batch_case *c;
  trs_plan *plan;
} by_plan;

static bool solve_plan(void *user) {
  const by_plan *s = user;
  const int64_t n = s->c->here.n * s->c->here.count;
  return !trs_solve(s->plan, s->c->x, n, s->c->b, n, 1, TRS_COL_MAJOR);
}

static int run_plan(batch_case *c, double *seconds) {
  by_plan s = {.c = c};
  const int64_t n = c->here.n * c->here.count;
  trs_matrix *A = NULL;
  trs_status status =
      trs_matrix_create_device(&A, c->ctx, TRS_CSR, TRS_DOUBLE, n, n, c->here.nnz * c->here.count,
                               TRS_PTR32, c->ptr, c->idx, c->val);
  if (!status)
    status = trs_analyze(&s.plan, c->ctx, A, TRS_LOWER, TRS_NO_TRANS, c->here.diag, NULL);
  if (!status) *seconds = bench_repeat(solve_plan, &s);
  if (!status) status = trs_plan_wait(s.plan);
  trs_plan_destroy(s.plan);
  trs_matrix_destroy(A);
  return status ? leave_library(c->here.name) : -1;
}

static bool solve_peer(void *user) { return bench_cusparse_solve(user); }

/* The first `count` systems as one, for cuSPARSE. */
static bench_gpu gpu_of(const batch_case *c, const bench_system *system, int64_t count) {
  return (bench_gpu){.system = system,
                     .scalar = TRS_DOUBLE,
                     .size = sizeof(double),
                     .n = c->here.n * count,
                     .nnz = c->here.nnz * count,
                     .nrhs = 1,
                     .short_ptr = c->ptr,
                     .idx = c->idx,
                     .val = c->val,
                     .b = c->b,
                     .x = c->x};
}

static bool solve_graph(void *user) { return bench_spsv_graph_launch(user); }

/* A graph of solves of each system by the fastest algorithm; NAN: there is none. */
static void run_graph(batch_case *c, double *least) {
  const bench_system system = {
      .name = c->here.name, .uplo = TRS_LOWER, .diag = c->here.diag, .nrhs = 1};
  const bench_gpu first = gpu_of(c, &system, 1);
  *least = NAN;
  if (c->here.count > MOST_IN_GRAPH || bench_spsv_graph_load()) return;
  for (int k = 0; k < bench_cusparse_known(); k++) {
    bench_spsv_graph g;
    if (bench_spsv_graph_make(&g, &first, c->here.count, k))
      *least = fmin(*least, bench_repeat(solve_graph, &g));
    else
      bench_notice("a graph", bench_cusparse_error());
    bench_spsv_graph_free(&g);
  }
}

/* The fastest algorithm of cuSPARSE on the block-diagonal matrix; NAN: none worked. */
static void run_peer(batch_case *c, double *least) {
  const bench_system system = {
      .name = c->here.name, .uplo = TRS_LOWER, .diag = c->here.diag, .nrhs = 1};
  const bench_gpu gpu = gpu_of(c, &system, c->here.count);
  *least = NAN;
  for (int k = 0; k < bench_cusparse_known(); k++) {
    bench_cusparse peer;
    double ask, analysis;
    if (bench_cusparse_prepare(&peer, &gpu, k) && bench_cusparse_analyze(&peer, &ask, &analysis))
      *least = fmin(*least, bench_repeat(solve_peer, &peer));
    else
      bench_notice(bench_cusparse_name[k], bench_cusparse_error());
    bench_cusparse_free(&peer);
  }
}

/* ---- All cases ---- */

static void show(const batch_case *c, const batch_times *t, double plan, double peer,
                 double graph) {
  const double bytes = (double)c->here.count * 8 * (double)(c->here.nnz + 2 * c->here.n);
  printf(
      "%-26s %6lld  %9.4f  %6.2f  %6.2f  %6.1f  %5.1f  %9.4f  %8.1e  %s, %d systems, %d threads\n",
      c->here.name, (long long)c->here.count, 1e3 * t->solve, plan / t->solve, peer / t->solve,
      graph / t->solve, 100e-9 * bytes / t->solve / c->copy_gbs, 1e3 * t->update, t->error,
      t->method, t->info.systems_at_once, t->info.threads);
  fflush(stdout);
}

static int run_count(batch_case *c) {
  batch_times t = {0};
  double plan = NAN, peer = NAN, graph = NAN;
  int code = open_case(c);
  if (code < 0) code = run_batch(c, &t);
  if (code < 0) code = run_plan(c, &plan);
  if (code < 0 && c->has_peer) run_peer(c, &peer);
  if (code < 0 && c->has_peer) run_graph(c, &graph);
  if (code < 0) show(c, &t, plan, peer, graph);
  close_case(c);
  return code < 0 ? bench_batch_judge(&c->here, t.error) : code;
}

static int run_counts(const bench_batch *pattern, void *user) {
  const batch_case *all = user;
  int code = -1;
  for (int k = 0; k < BATCH_COUNTS && code < 0; k++) {
    batch_case one = *all;
    one.here = *pattern;
    one.here.count = bench_batch_counts[k];
    if (one.here.count * one.here.nnz * 8 > MOST_BYTES || seconds_now() > one.end) continue;
    code = run_count(&one);
  }
  return code;
}

int bench_batches(const bench_settings *set) {
  batch_case c = {.set = set};
  if (set->device < 0) return bench_batches_cpu(set);
  int code = bench_context_open(&c.ctx, set, "batches");
  if (code >= 0) return code;
  const char *missing = set->peer ? "left out" : bench_cusparse_load();
  c.has_peer = !missing;
  c.end = seconds_now() + MOST_SECONDS;
  if (missing && !set->peer) bench_notice("cusparse", missing);
  c.copy_gbs = bench_copy_gpu();
  printf("%s%s%s, a copy: %.0f GB/s\n", bench_cuda_device(), missing ? "" : ", ",
         missing ? "" : bench_cusparse_version(), c.copy_gbs);
  printf("%-26s %6s  %9s  %6s  %6s  %6s  %5s  %9s  %8s  by\n", "pattern", "count", "solve, ms",
         "/plan", "/SpSV", "/graph", "copy%", "update", "error");
  code = bench_batch_each(run_counts, &c);
  trs_context_destroy(c.ctx);
  return code < 0 ? LEAVE_SOLVED : code;
}

int bench_batches_list(const char *suite) {
  (void)suite;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    printf("%s%s\n", cases[k].factor ? "factor:lu:" : "", cases[k].matrix);
  return LEAVE_SOLVED;
}
