/* factors.c - trireme bench factors: solves with LU factors on a GPU, of one matrix or of a batch
 * with one pattern, beside the solve phase of cuDSS with its own factors of the same matrices; with
 * a list of GPUs, of one matrix on 1, 2, 4, 8 and 16 of them.  b and x are in device memory, on the
 * first GPU. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"
#include "cudss.h"
#include "experiment.h"
#include "leave.h"
#include "progress.h"
#include "repeat.h"
#include "run.h"

/* CHECKED: systems; MOST_BYTES: of the values of a case. */
enum { CHECKED = 3, MOST_BYTES = 1000000000, MANY = 64, MOST_GROUPS = 5 };
#define MOST_SECONDS 200 /* after which no further case begins */

static const struct {
  const char *matrix;
  bool batch; /* also with 10 to 10,000 sets of values; else with 64 right-hand sides */
} cases[] = {{"gen:poisson2d5:317", false},      {"gen:poisson3d7:37", false},
             {"gen:elasticity3d:9,9,33", false}, {"gen:delaunay:50021", false},
             {"gen:wingmesh:20011", false},      {"gen:powerlaw:20011", false},
             {"gen:chain:1000", true},           {"gen:poisson2d5:15", true},
             {"gen:poisson2d5:37", true},        {"gen:delaunay:997", true},
             {"gen:powerlaw:1009", true}};

/* The places of a run: one GPU, or the first 1, 2, 4 ... of a list. */
typedef struct factors_places {
  trs_context *ctx[MOST_GROUPS];
  bench_gpu_list gpus[MOST_GROUPS];
  int groups;
} factors_places;

typedef struct factors_case {
  trs_context *ctx, *host;
  bench_gpu_list gpus; /* of ctx */
  bool by_host;        /* the host's clock times solves */
  const char *name;
  const trs_matrix *A;
  trs_factors *F;
  int64_t n, nnz, nnz_L, nnz_U, count, nrhs;
  const int64_t *ptr;
  const int32_t *idx;
  double *val, *L, *U, *b, *x;                                 /* host: of all systems */
  void *ptr_there, *idx_there, *val_there, *b_there, *x_there; /* 32-bit */
} factors_case;

typedef struct factors_times {
  double ours, peer, error, peer_error, analysis, peer_analysis, peer_factorization;
  int64_t peer_entries;
  char method[80];
} factors_times;

/* ---- Arrays ---- */

static void close_case(factors_case *c) {
  BENCH_CUDA_FREE(c->ptr_there, c->idx_there, c->val_there, c->b_there, c->x_there);
  free(c->val);
  free(c->L);
  free(c->U);
  free(c->b);
  free(c->x);
}

/* Values of system s: those of A, up to a tenth more or less. */
static trs_status take_values(factors_case *c, const double *val, int64_t s, uint64_t *state) {
  trs_factors_info info = {.struct_size = sizeof info};
  trs_matrix *own = NULL;
  const void *L, *U;
  double *to = c->val + s * c->nnz;
  for (int64_t p = 0; p < c->nnz; p++) to[p] = val[p] * (1 + 0.1 * (s > 0) * bench_noise(state));
  trs_status status = trs_matrix_create(&own, TRS_CSR, TRS_DOUBLE, c->n, c->n, TRS_PTR64, c->ptr,
                                        c->idx, to, TRS_BORROW);
  if (!status) status = trs_factors_refactor(c->F, NULL, c->host, own);
  trs_matrix_destroy(own);
  if (!status) status = trs_factors_get_info(c->F, &info);
  if (status) return status;
  trs_matrix_get_arrays(info.L, NULL, NULL, &L);
  trs_matrix_get_arrays(info.U, NULL, NULL, &U);
  memcpy(c->L + s * c->nnz_L, L, (size_t)c->nnz_L * sizeof *c->L);
  memcpy(c->U + s * c->nnz_U, U, (size_t)c->nnz_U * sizeof *c->U);
  return TRS_SUCCESS;
}

static bool upload(factors_case *c) {
  const size_t values = (size_t)(c->count * c->nnz) * sizeof *c->val;
  const size_t rows = (size_t)(c->count * c->n * c->nrhs) * sizeof *c->b;
  int32_t *ptr = malloc((size_t)(c->n + 1) * sizeof *ptr);
  if (!ptr) return false;
  for (int64_t i = 0; i <= c->n; i++) ptr[i] = (int32_t)c->ptr[i];
  const bool good = bench_cuda_upload(&c->ptr_there, ptr, (size_t)(c->n + 1) * sizeof *ptr) &&
                    bench_cuda_upload(&c->idx_there, c->idx, (size_t)c->nnz * sizeof *c->idx) &&
                    bench_cuda_upload(&c->val_there, c->val, values) &&
                    bench_cuda_upload(&c->b_there, c->b, rows) &&
                    bench_cuda_alloc(&c->x_there, rows);
  free(ptr);
  return good;
}

static int leave_cuda(const factors_case *c) {
  const char *why = bench_cuda_error();
  return leave(LEAVE_UNAVAILABLE, "unsupported", -1, "%s: CUDA says %s", c->name,
               why ? why : "nothing, but it failed");
}

static int open_case(factors_case *c) {
  const size_t rows = (size_t)(c->count * c->n * c->nrhs);
  uint64_t state = 1;
  const void *val;
  trs_matrix_get_arrays(c->A, &c->ptr, &c->idx, &val);
  c->val = malloc((size_t)(c->count * c->nnz) * sizeof *c->val);
  c->L = malloc((size_t)(c->count * c->nnz_L) * sizeof *c->L);
  c->U = malloc((size_t)(c->count * c->nnz_U) * sizeof *c->U);
  c->b = malloc(rows * sizeof *c->b);
  c->x = malloc(rows * sizeof *c->x);
  if (!c->val || !c->L || !c->U || !c->b || !c->x)
    return leave_memory((double)(c->count * (c->nnz + c->nnz_L + c->nnz_U)) * 8, "a batch");
  for (int64_t s = 0; s < c->count; s++)
    if (take_values(c, val, s, &state)) return leave_library(c->name);
  for (size_t k = 0; k < rows; k++) c->b[k] = bench_noise(&state);
  return upload(c) ? -1 : leave_cuda(c);
}

/* The largest backward error of A x = b, in the norm of rows, of the first, the middle and the last
 * system; NAN: a failure. */
static double error_of(factors_case *c) {
  const int64_t own = c->n * c->nrhs;
  double largest = 0;
  if (!bench_cuda_get(c->x, c->x_there, (size_t)(c->count * own) * sizeof *c->x)) return NAN;
  for (int k = 0; k < CHECKED && k < c->count; k++) {
    const int64_t s = c->count > 1 ? (c->count - 1) * k / (CHECKED - 1) : 0;
    trs_backward_error error = {.struct_size = sizeof error};
    trs_matrix *A = NULL;
    trs_status status = trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, c->n, c->n, TRS_PTR64, c->ptr,
                                          c->idx, c->val + s * c->nnz, TRS_BORROW);
    if (!status)
      status = trs_check(&error, A, TRS_GENERAL, TRS_NO_TRANS, TRS_NONUNIT, c->x + s * own, c->n,
                         c->b + s * own, c->n, c->nrhs, TRS_COL_MAJOR);
    trs_matrix_destroy(A);
    if (status) return NAN;
    largest = fmax(largest, error.normwise);
  }
  return largest;
}

/* ---- Ours ---- */

typedef struct our_solve {
  factors_case *c;
  trs_plan *plan;
  trs_plan *B;
} our_solve;

static bool solve_ours(void *user) {
  const our_solve *s = user;
  const factors_case *c = s->c;
  const int64_t n = c->n;
  if (s->plan) return !trs_solve(s->plan, c->x_there, n, c->b_there, n, c->nrhs, TRS_COL_MAJOR);
  return !trs_batch_solve(s->B, c->x_there, n, 0, c->b_there, n, 0, c->nrhs, TRS_COL_MAJOR);
}

static trs_status make_batch(our_solve *s, factors_times *t) {
  const factors_case *c = s->c;
  const trs_batch_options options = {.struct_size = sizeof options, .nrhs = c->nrhs};
  trs_batch_info info = {.struct_size = sizeof info};
  trs_status status =
      trs_batch_create_factors(&s->B, c->ctx, c->F, TRS_NO_TRANS, c->count, &options);
  if (!status) status = trs_batch_update_factors(s->B, c->L, 0, c->U, 0);
  if (!status) status = trs_batch_get_info(s->B, &info);
  snprintf(t->method, sizeof t->method, "%s", status ? "" : info.method);
  return status;
}

static trs_status make_plan(our_solve *s, factors_times *t) {
  const factors_case *c = s->c;
  const trs_options options = {.struct_size = sizeof options, .nrhs = c->nrhs};
  trs_plan_info info = {.struct_size = sizeof info};
  trs_status status = trs_analyze_factors(&s->plan, c->ctx, c->F, TRS_NO_TRANS, &options);
  if (!status) status = trs_plan_get_info(s->plan, &info);
  snprintf(t->method, sizeof t->method, "%s", status ? "" : info.method);
  return status;
}

static double repeat(const factors_case *c, bench_launch *solve, void *user) {
  return c->by_host ? bench_repeat_on(&c->gpus, solve, user) : bench_repeat(solve, user);
}

static int run_ours(factors_case *c, factors_times *t) {
  our_solve s = {.c = c};
  const double start = seconds_now();
  trs_status status = c->count > 1 ? make_batch(&s, t) : make_plan(&s, t);
  t->analysis = seconds_now() - start;
  t->ours = status ? NAN : repeat(c, solve_ours, &s);
  if (!status && s.plan) status = trs_plan_wait(s.plan);
  if (!status) t->error = error_of(c);
  trs_plan_destroy(s.plan);
  trs_plan_destroy(s.B);
  if (status) return leave_library(c->name);
  return isnan(t->ours) ? leave_cuda(c) : -1;
}

/* ---- The peer ---- */

static bool solve_peer(void *user) { return bench_cudss_solve(user); }

static void run_peer(factors_case *c, factors_times *t) {
  const bench_cudss_systems systems = {.n = c->n,
                                       .nnz = c->nnz,
                                       .count = c->count,
                                       .nrhs = c->nrhs,
                                       .ptr = c->ptr_there,
                                       .idx = c->idx_there,
                                       .val = c->val_there,
                                       .b = c->b_there,
                                       .x = c->x_there};
  bench_cudss s = {0};
  if (bench_cudss_take_gpus(&c->gpus) &&
      bench_cuda_fill(c->x_there, 0xff, (size_t)(c->count * c->n * c->nrhs) * sizeof(double)) &&
      bench_cudss_factor(&s, &systems)) {
    t->peer = repeat(c, solve_peer, &s);
    t->peer_entries = s.entries;
    t->peer_analysis = s.analysis;
    t->peer_factorization = s.factorization;
    t->peer_error = error_of(c);
  } else {
    bench_notice("cudss", bench_cudss_error());
  }
  bench_cudss_free(&s);
}

/* ---- All cases ---- */

static void show(const factors_case *c, const factors_times *t) {
  printf(
      "%-24s %4d %6lld %4lld  %9.4f  %9.4f  %6.2f  %9.3g  %9.3g  %8.1e  %8.1e  %9.2f  %9.2f  %9.2f "
      " %s\n",
      c->name, c->gpus.count, (long long)c->count, (long long)c->nrhs, 1e3 * t->ours, 1e3 * t->peer,
      t->peer / t->ours, (double)(c->nnz_L + c->nnz_U), (double)t->peer_entries, t->error,
      t->peer_error, 1e3 * t->analysis, 1e3 * t->peer_analysis, 1e3 * t->peer_factorization,
      t->method);
  fflush(stdout);
}

static int run_one(factors_case *c, int64_t count, int64_t nrhs, bool has_peer) {
  factors_case one = *c;
  factors_times t = {.peer = NAN, .peer_error = NAN};
  one.count = count;
  one.nrhs = nrhs;
  if (count * (c->nnz_L + c->nnz_U) * 8 > MOST_BYTES) return -1;
  int code = open_case(&one);
  if (code < 0) code = run_ours(&one, &t);
  if (code < 0 && has_peer) run_peer(&one, &t);
  if (code < 0) show(&one, &t);
  close_case(&one);
  if (code < 0 && !(t.error < 1e-9))
    code = leave(LEAVE_NUMERICAL, "numerical", -1, "%s: backward error %g", c->name, t.error);
  return code;
}

/* One matrix, in each place. */
static int run_places(factors_case *c, const factors_places *p, int64_t nrhs, bool has_peer) {
  int code = -1;
  for (int k = 0; k < p->groups && code < 0; k++) {
    c->ctx = p->ctx[k];
    c->gpus = p->gpus[k];
    code = run_one(c, 1, nrhs, has_peer);
  }
  return code;
}

static int run_counts(factors_case *c, const factors_places *p, bool batch, bool has_peer,
                      double end) {
  int code = -1;
  if (!batch) {
    code = run_places(c, p, 1, has_peer);
    return code < 0 ? run_places(c, p, MANY, has_peer) : code;
  }
  c->ctx = p->ctx[0];
  c->gpus = p->gpus[0];
  for (int64_t count = 10; count <= 10000 && code < 0 && seconds_now() < end; count *= 10)
    code = run_one(c, count, 1, has_peer);
  return code;
}

static int run_case(factors_case *c, const factors_places *p, const char *matrix, bool batch,
                    bool has_peer, double end) {
  trs_matrix *read = NULL, *A = NULL;
  trs_factors_info info = {.struct_size = sizeof info};
  /* Nested dissection gives the fewest levels, and cuDSS orders by it, too. */
  const trs_factor_options how = {
      .struct_size = sizeof how, .add_diagonal = 1, .order = TRS_ORDER_ND};
  c->name = matrix;
  c->F = NULL;
  trs_status status = trs_matrix_read(&read, matrix, NULL);
  if (!status) status = trs_matrix_convert(&A, read, TRS_CSR, TRS_DOUBLE);
  if (!status) status = trs_factor(&c->F, A, &how);
  if (!status) status = trs_factors_get_info(c->F, &info);
  int code = status ? leave_library(matrix) : -1;
  if (code < 0) {
    trs_matrix_info of = {.struct_size = sizeof of};
    trs_matrix_get_info(A, &of);
    c->A = A;
    c->n = of.nrows;
    c->nnz = of.nnz;
    c->nnz_L = info.nnz_L;
    c->nnz_U = info.nnz_U;
    code = run_counts(c, p, batch, has_peer, end);
  }
  trs_factors_destroy(c->F);
  trs_matrix_destroy(A);
  trs_matrix_destroy(read);
  return code;
}

static bool is_list(const bench_settings *set) {
  return set->backend && strpbrk(set->backend, "-,") != NULL;
}

static int open_list(factors_places *p, const char *backend) {
  bench_gpu_list all;
  int code = bench_gpu_list_find(&all, backend);
  for (int size = 1; code < 0 && size <= all.count && p->groups < MOST_GROUPS; size *= 2) {
    p->gpus[p->groups] = all;
    p->gpus[p->groups].count = size;
    code = bench_gpu_list_open(&all, size, &p->ctx[p->groups++]);
  }
  return code < 0 ? bench_cuda_open(all.number[0]) : code;
}

static int open_places(factors_places *p, const bench_settings *set) {
  if (is_list(set)) return open_list(p, set->backend);
  p->gpus[0] = (bench_gpu_list){.number = {set->device}, .count = 1};
  p->groups = 1;
  return bench_context_open(&p->ctx[0], set, "factors");
}

static int run_all(const factors_places *p, const bench_settings *set) {
  factors_case c = {.by_host = is_list(set)};
  int code = trs_context_create(&c.host, "threads") ? leave_library("--backend") : -1;
  const char *missing = set->peer ? "left out" : bench_cudss_load();
  const double end = seconds_now() + MOST_SECONDS;
  if (missing && !set->peer) bench_notice("cudss", missing);
  printf("%s%s%s\n", bench_cuda_device(), missing ? "" : ", ",
         missing ? "" : bench_cudss_version());
  printf("%-24s %4s %6s %4s  %9s  %9s  %6s  %9s  %9s  %8s  %8s  %9s  %9s  %9s  by\n", "A", "GPUs",
         "count", "nrhs", "solve, ms", "cuDSS", "/cuDSS", "L + U", "its", "error", "its",
         "analysis", "its", "factors");
  if (set->suite && code < 0) code = run_case(&c, p, set->suite, false, !missing, end);
  for (size_t k = 0; k < sizeof cases / sizeof *cases && code < 0 && !set->suite; k++)
    if (seconds_now() < end && !(c.by_host && cases[k].batch))
      code = run_case(&c, p, cases[k].matrix, cases[k].batch, !missing, end);
  bench_cudss_unload();
  trs_context_destroy(c.host);
  return code;
}

int bench_factors(const bench_settings *set) {
  factors_places p = {0};
  int code = open_places(&p, set);
  if (code < 0) code = run_all(&p, set);
  while (p.groups) trs_context_destroy(p.ctx[--p.groups]);
  return code < 0 ? LEAVE_SOLVED : code;
}

int bench_factors_list(const char *suite) {
  (void)suite;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    printf("factor:lu:%s\n", cases[k].matrix);
  return LEAVE_SOLVED;
}
