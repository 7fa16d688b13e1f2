/* refactor.c - trireme bench refactor: ILU(0) and IC(0) of new values in device memory, beside
 * csrilu02 and csric02 of cuSPARSE and the factorisation on the CPU.  All times are those of a
 * caller who waits until he knows that no pivot is zero, by the host's clock. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"
#include "cusparse.h"
#include "experiment.h"
#include "incomplete.h"
#include "leave.h"
#include "progress.h"
#include "repeat.h"
#include "run.h"

enum { ROUNDS = 9 };
#define TOLERANCE 1e-9 /* of the largest entry: sums of the peer have another order */

static const struct {
  const char *matrix;
  bool definite; /* and symmetric */
} cases[] = {{"gen:poisson2d5:317", true},
             {"gen:poisson2d5:1021", true},
             {"gen:poisson2d9:517", true},
             {"gen:poisson3d7:53", true},
             {"gen:poisson3d7:117", true},
             {"gen:poisson3d27:43", true},
             {"gen:elasticity3d:13,11,67", true},
             {"gen:random:300007,6", true},
             {"gen:delaunay:100003", true},
             {"gen:powerlaw:50021", false},
             {"gen:wingmesh:5003", false},
             {"gen:kkt3d:37", false},
             {"gen:chain:10007", true}};

typedef struct refactor_case {
  trs_context *ctx;
  const char *name;
  bool cholesky;
  const trs_matrix *A;
  int64_t n, nnz;
  const int64_t *ptr;
  const int32_t *idx;
  const double *val;
  double *ours, *peers;                    /* host: nnz, L and U in the places of A */
  void *ptr_there, *idx_there, *val_there; /* 32-bit */
} refactor_case;

typedef struct refactor_times {
  double first, ours, update, cpu, peer, peer_analysis, off;
  bool by_levels; /* the peer's faster policy */
  double shift;
} refactor_times;

/* Of all cases. */
typedef struct refactor_total {
  double product; /* logarithms of the ratios */
  int count;
  double off; /* the largest difference, and its matrix */
  const char *worst;
} refactor_total;

static int leave_cuda(const refactor_case *c) {
  const char *why = bench_cuda_error();
  return leave(LEAVE_UNAVAILABLE, "unsupported", -1, "%s: CUDA says %s", c->name,
               why ? why : "nothing, but it failed");
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}
static double median(double *seconds) {
  qsort(seconds, ROUNDS, sizeof *seconds, compare);
  return seconds[ROUNDS / 2];
}

static void close_case(refactor_case *c) {
  BENCH_CUDA_FREE(c->ptr_there, c->idx_there, c->val_there);
  free(c->ours);
  free(c->peers);
}

static int open_case(refactor_case *c) {
  const void *val;
  int32_t *ptr = malloc((size_t)(c->n + 1) * sizeof *ptr);
  trs_matrix_get_arrays(c->A, &c->ptr, &c->idx, &val);
  c->val = val;
  c->ours = calloc((size_t)c->nnz, sizeof(double));
  c->peers = calloc((size_t)c->nnz, sizeof(double));
  if (!ptr || !c->ours || !c->peers) {
    free(ptr);
    return leave_memory(16. * (double)c->nnz, "factors");
  }
  for (int64_t i = 0; i <= c->n; i++) ptr[i] = (int32_t)c->ptr[i];
  const bool good = bench_cuda_upload(&c->ptr_there, ptr, (size_t)(c->n + 1) * sizeof *ptr) &&
                    bench_cuda_upload(&c->idx_there, c->idx, (size_t)c->nnz * sizeof *c->idx) &&
                    bench_cuda_upload(&c->val_there, c->val, (size_t)c->nnz * sizeof *c->val);
  free(ptr);
  return good ? -1 : leave_cuda(c);
}

/* ---- Ours ---- */

/* L, and of ILU(0) U, in the places of A: a row's entries of L come before those of U. */
static bool fetch_factors(const refactor_case *c, const trs_factors *F) {
  trs_factors_info f = {.struct_size = sizeof f};
  const void *L, *U;
  trs_factors_get_info(F, &f);
  if (trs_matrix_get_arrays(f.L, NULL, NULL, &L) || trs_matrix_get_arrays(f.U, NULL, NULL, &U))
    return false;
  double *l = malloc((size_t)(f.nnz_L + 1) * sizeof *l);
  double *u = malloc((size_t)(f.nnz_U + 1) * sizeof *u);
  const bool good = l && u && bench_cuda_get(l, L, (size_t)f.nnz_L * sizeof *l) &&
                    bench_cuda_get(u, U, (size_t)f.nnz_U * sizeof *u);
  for (int64_t i = 0, p = 0, below = 0, above = 0; good && i < c->n; i++)
    for (; p < c->ptr[i + 1]; p++) {
      if (c->idx[p] < i || (c->cholesky && c->idx[p] == i))
        c->ours[p] = l[below++];
      else if (!c->cholesky)
        c->ours[p] = u[above++];
    }
  free(l);
  free(u);
  return good;
}

static trs_status make_factors(trs_factors **F, const refactor_case *c) {
  const trs_factor_options how = {.struct_size = sizeof how,
                                  .kind = c->cholesky ? TRS_FACTOR_IC0 : TRS_FACTOR_ILU0};
  return trs_factor(F, c->A, &how);
}

static int run_ours(const refactor_case *c, refactor_times *t) {
  double seconds[ROUNDS], updates[ROUNDS];
  trs_factors *F = NULL;
  trs_plan *plan = NULL;
  trs_matrix *A = NULL;
  trs_status status = make_factors(&F, c);
  if (!status)
    status = trs_matrix_create_device(&A, c->ctx, TRS_CSR, TRS_DOUBLE, c->n, c->n, c->nnz,
                                      TRS_PTR32, c->ptr_there, c->idx_there, c->val_there);
  if (!status) status = trs_analyze_factors(&plan, c->ctx, F, TRS_NO_TRANS, NULL);
  const double start = seconds_now();
  if (!status) status = trs_factors_refactor(F, NULL, c->ctx, A);
  t->first = seconds_now() - start;
  for (int k = 0; k < ROUNDS && !status; k++) {
    const double before = seconds_now();
    status = trs_factors_refactor(F, NULL, c->ctx, A);
    const double between = seconds_now();
    if (!status) status = trs_update_factors(plan, F);
    if (!status && !bench_cuda_wait()) break;
    seconds[k] = between - before;
    updates[k] = seconds_now() - between;
  }
  int code = status ? leave_library(c->name) : -1;
  if (code < 0) {
    t->ours = median(seconds);
    t->update = median(updates);
    if (!fetch_factors(c, F)) code = leave_cuda(c);
  }
  trs_plan_destroy(plan);
  trs_matrix_destroy(A);
  trs_factors_destroy(F);
  return code;
}

/* On the CPU, with the update of a plan on the GPU, which brings L and U there. */
static int run_cpu(const refactor_case *c, refactor_times *t) {
  double seconds[ROUNDS];
  trs_factors *F = NULL;
  trs_plan *plan = NULL;
  trs_status status = make_factors(&F, c);
  if (!status) status = trs_analyze_factors(&plan, c->ctx, F, TRS_NO_TRANS, NULL);
  for (int k = 0; k < ROUNDS && !status; k++) {
    const double before = seconds_now();
    status = trs_factors_refactor(F, NULL, c->ctx, c->A);
    if (!status) status = trs_update_factors(plan, F);
    if (!status && !bench_cuda_wait()) break;
    seconds[k] = seconds_now() - before;
  }
  if (!status) t->cpu = median(seconds);
  trs_plan_destroy(plan);
  trs_factors_destroy(F);
  return status ? leave_library(c->name) : -1;
}

/* ---- cuSPARSE, by both of its policies ---- */

static bool run_policy(const refactor_case *c, refactor_times *t, bool by_levels, double *copy) {
  bench_incomplete s = {.cholesky = c->cholesky,
                        .by_levels = by_levels,
                        .n = (int)c->n,
                        .nnz = (int)c->nnz,
                        .ptr = c->ptr_there,
                        .idx = c->idx_there,
                        .val = copy};
  double analysis = 0, seconds[ROUNDS];
  const size_t bytes = (size_t)c->nnz * sizeof *copy;
  bool good = bench_cuda_move(copy, c->val_there, bytes) && bench_incomplete_analyze(&s, &analysis);
  for (int k = -1; k < ROUNDS && good; k++) {
    double one;
    good = bench_cuda_move(copy, c->val_there, bytes) && bench_cuda_wait() &&
           bench_incomplete_factor(&s, &one);
    if (good && k >= 0) seconds[k] = one;
  }
  good = good && bench_cuda_get(c->peers, copy, bytes);
  bench_incomplete_free(&s);
  if (!good) return false;
  const double found = median(seconds);
  if (found < t->peer || isnan(t->peer)) {
    t->peer = found;
    t->peer_analysis = analysis;
    t->by_levels = by_levels;
  }
  return true;
}

/* The largest difference over the largest value. */
static double difference(const refactor_case *c) {
  double off = 0, size = 0;
  for (int64_t i = 0; i < c->n; i++)
    for (int64_t p = c->ptr[i]; p < c->ptr[i + 1]; p++) {
      if (c->cholesky && c->idx[p] > i) continue;
      const double d = fabs(c->ours[p] - c->peers[p]);
      if (!(d <= off)) off = d;
      size = fmax(size, fabs(c->peers[p]));
    }
  return off / size;
}

static void run_peer(const refactor_case *c, refactor_times *t) {
  double *copy = NULL;
  t->peer = t->off = NAN;
  if (!bench_cuda_alloc(&copy, (size_t)c->nnz * sizeof *copy)) return;
  for (int by_levels = 0; by_levels < 2; by_levels++)
    if (run_policy(c, t, by_levels, copy))
      t->off = fmax(isnan(t->off) ? 0 : t->off, difference(c));
    else
      bench_notice(c->cholesky ? "csric02" : "csrilu02", bench_cusparse_error());
  BENCH_CUDA_FREE(copy);
}

/* ---- All cases ---- */

static void show(const refactor_case *c, const refactor_times *t) {
  printf(
      "%-26s %-4s %8lld %9lld  %9.4f  %8.4f %-6s  %6.2f  %8.2f  %6.1f  %9.4f  %8.2f  %8.2f  "
      "%8.1e\n",
      c->name, c->cholesky ? "IC" : "ILU", (long long)c->n, (long long)c->nnz, 1e3 * t->ours,
      1e3 * t->peer,
      isnan(t->peer) ? ""
      : t->by_levels ? "levels"
                     : "free",
      t->peer / t->ours, 1e3 * t->cpu, t->cpu / (t->ours + t->update), 1e3 * t->update,
      1e3 * t->first, 1e3 * t->peer_analysis, t->off);
  fflush(stdout);
}

static int run_kind(refactor_case *c, bool has_peer, refactor_total *total) {
  refactor_times t = {.peer = NAN, .off = NAN, .peer_analysis = NAN};
  int code = open_case(c);
  if (code < 0) code = run_ours(c, &t);
  if (code < 0) code = run_cpu(c, &t);
  if (code < 0 && has_peer) run_peer(c, &t);
  if (code < 0) show(c, &t);
  close_case(c);
  if (code >= 0 || isnan(t.peer)) return code;
  total->product += log(t.peer / t.ours);
  total->count++;
  if (!isnan(total->off) && !(t.off <= total->off)) {
    total->off = t.off;
    total->worst = c->name;
  }
  return code;
}

static int run_case(refactor_case *c, bool definite, bool has_peer, refactor_total *total) {
  trs_matrix *A = NULL, *rows = NULL;
  trs_matrix_info info = {.struct_size = sizeof info};
  trs_status status = trs_matrix_read(&A, c->name, NULL);
  if (!status) status = trs_matrix_convert(&rows, A, TRS_CSR, TRS_DOUBLE);
  if (!status) status = trs_matrix_get_info(rows, &info);
  int code = status ? leave_library(c->name) : -1;
  c->A = rows;
  c->n = info.nrows;
  c->nnz = info.nnz;
  for (int kind = 0; kind <= definite && code < 0; kind++) {
    refactor_case one = *c;
    one.cholesky = kind;
    code = run_kind(&one, has_peer, total);
  }
  trs_matrix_destroy(rows);
  trs_matrix_destroy(A);
  return code;
}

static int run_all(refactor_case *c, const char *only, bool has_peer) {
  refactor_total total = {0};
  const size_t count = only ? 1 : sizeof cases / sizeof *cases;
  int code = -1;
  printf("%-26s %-4s %8s %9s  %9s  %15s  %6s  %8s  %6s  %9s  %8s  %8s  %8s\n", "matrix", "kind",
         "rows", "entries", "ours, ms", "cuSPARSE, ms", "ratio", "CPU, ms", "ratio", "update, ms",
         "first", "analysis", "off");
  for (size_t k = 0; k < count && code < 0; k++) {
    c->name = only ? only : cases[k].matrix;
    code = run_case(c, !only && cases[k].definite, has_peer, &total);
  }
  if (code >= 0 || !total.count) return code;
  printf("geometric mean of cuSPARSE / ours: %.2f\n", exp(total.product / total.count));
  if (!(total.off < TOLERANCE))
    code = leave(LEAVE_NUMERICAL, "numerical", -1, "%s: factors differ from cuSPARSE's by %g",
                 total.worst, total.off);
  return code;
}

int bench_refactor(const bench_settings *set) {
  refactor_case c = {0};
  int code = bench_context_open(&c.ctx, set, "refactor");
  if (code >= 0) return code;
  const char *missing = set->peer ? "left out" : bench_cusparse_load();
  if (!missing) missing = bench_incomplete_load();
  if (missing && !set->peer) bench_notice("cusparse", missing);
  printf("%s%s%s\n", bench_cuda_device(), missing ? "" : ", ",
         missing ? "" : bench_cusparse_version());
  code = run_all(&c, set->suite, !missing);
  trs_context_destroy(c.ctx);
  return code < 0 ? LEAVE_SOLVED : code;
}

int bench_refactor_list(const char *suite) {
  (void)suite;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) printf("%s\n", cases[k].matrix);
  return LEAVE_SOLVED;
}
