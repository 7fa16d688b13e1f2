/* blocks.c - trireme bench blocks: block ILU(0) of W21's mesh in the order of colours, or of
 * another matrix in the order that the caller names.  On the CPU: solves by the method `blocks` in
 * every storage format and number of threads, beside `serial` on the same factors as scalars, and
 * beside the bandwidth of a copy. */
#include "blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "copy.h"
#include "cuda.h"
#include "experiment.h"
#include "leave.h"
#include "progress.h"
#include "run.h"
#include "suite.h"

enum { MOST_THREADS = 1024 };
static const char *const cases[] = {"gen:wingmesh:60000", "gen:wingmesh:1100000"};

/* ---- The factors ---- */

/* Appends block row i of A; false: its blocks are not whole. */
static bool take_row(blocks_matrix *B, const trs_matrix *A, int64_t i) {
  const int64_t *ptr;
  const int32_t *idx;
  const void *val;
  trs_matrix_get_arrays(A, &ptr, &idx, &val);
  const int64_t *line = ptr + i * BLOCKS_SIZE, count = (line[1] - line[0]) / BLOCKS_SIZE;
  int64_t at = B->ptr[i];
  for (int64_t k = 0; k < count; k++, at++) {
    B->idx[at] = idx[line[0] + k * BLOCKS_SIZE] / BLOCKS_SIZE;
    for (int r = 0; r < BLOCKS_SIZE; r++) {
      const int64_t from = line[r] + k * BLOCKS_SIZE;
      if (line[r + 1] - line[r] != count * BLOCKS_SIZE || idx[from] != B->idx[at] * BLOCKS_SIZE)
        return false;
      memcpy(B->val + (at * BLOCKS_SIZE + r) * BLOCKS_SIZE, (const double *)val + from,
             BLOCKS_SIZE * sizeof(double));
    }
  }
  B->ptr[i + 1] = at;
  return true;
}

static void free_blocks(blocks_matrix *B) {
  free(B->ptr);
  free(B->idx);
  free(B->val);
  *B = (blocks_matrix){0};
}

/* A by blocks, for updates; without it they are not timed. */
static void take_blocks(blocks_matrix *B, const trs_matrix *A, int64_t n, int64_t nnz) {
  const size_t rows = (size_t)(n / BLOCKS_SIZE), blocks = (size_t)(nnz / BLOCKS_SIZE / BLOCKS_SIZE);
  *B = (blocks_matrix){.n = (int64_t)rows,
                       .ptr = malloc((rows + 1) * sizeof *B->ptr),
                       .idx = malloc((blocks + 1) * sizeof *B->idx),
                       .val = malloc(((size_t)nnz + 1) * sizeof *B->val)};
  bool good = B->ptr && B->idx && B->val && (int64_t)blocks * BLOCKS_SIZE * BLOCKS_SIZE == nnz;
  if (good) B->ptr[0] = 0;
  for (int64_t i = 0; i < B->n && good; i++) good = take_row(B, A, i);
  if (!good) free_blocks(B);
}

static trs_status factor(blocks_run *run) {
  const trs_read_options read = {
      .struct_size = sizeof read, .progress = progress_show, .scalar = TRS_DOUBLE};
  const trs_factor_options how = {.struct_size = sizeof how,
                                  .kind = TRS_FACTOR_BILU0,
                                  .order = run->order,
                                  .block_size = BLOCKS_SIZE};
  trs_matrix_info info = {.struct_size = sizeof info};
  trs_matrix *A;
  progress_begin();
  trs_status status = trs_matrix_read(&A, run->matrix, &read);
  progress_end();
  if (status) return status;
  status = trs_factor(&run->F, A, &how);
  trs_matrix_get_info(A, &info);
  if (!status) take_blocks(&run->A, A, info.nrows, info.nnz);
  trs_matrix_destroy(A);
  run->info = (trs_factors_info){.struct_size = sizeof run->info};
  return status ? status : trs_factors_get_info(run->F, &run->info);
}

static int open_case(blocks_run *run) {
  if (factor(run)) return leave_library(run->name);
  const size_t n = (size_t)run->info.n;
  run->b = malloc(n * sizeof *run->b);
  run->x = malloc(n * sizeof *run->x);
  run->expected = malloc(n * sizeof *run->expected);
  if (!run->b || !run->x || !run->expected) return leave_memory(24 * (double)n, "b and x");
  trs_random_fill(run->b, run->info.n, TRS_DOUBLE, 1);
  run->scalar_s = NAN;
  run->has_expected = run->headed = false;
  return -1;
}

static void close_case(blocks_run *run) {
  trs_factors_destroy(run->F);
  free_blocks(&run->A);
  free(run->b);
  free(run->x);
  free(run->expected);
  run->F = NULL;
  run->b = run->x = run->expected = NULL;
}

/* ---- On the CPU ---- */

static trs_status time_solves(blocks_run *run, trs_plan *plan, bench_row *row) {
  double seconds[BLOCKS_REPEATS], total = 0;
  const int64_t n = run->info.n;
  int64_t repeats = 0;
  trs_status status = trs_solve(plan, run->x, n, run->b, n, 1, TRS_COL_MAJOR);
  for (; repeats < BLOCKS_REPEATS && (total < run->set->seconds || repeats < 3) && !status;
       repeats++) {
    const double start = seconds_now();
    status = trs_solve(plan, run->x, n, run->b, n, 1, TRS_COL_MAJOR);
    seconds[repeats] = seconds_now() - start;
    total += seconds[repeats];
  }
  bench_row_times(row, seconds, repeats, 1);
  return status;
}

/* The second of two updates: the first one takes memory. */
static trs_status time_update(const blocks_run *run, trs_plan *plan, bench_row *row) {
  const blocks_matrix *A = &run->A;
  trs_status status = TRS_SUCCESS;
  for (int round = 0; round < 2 && A->val && !status; round++) {
    const double start = seconds_now();
    status = trs_update_bsr(plan, &(trs_blocks){.struct_size = sizeof(trs_blocks),
                                                .layout = TRS_ROW_MAJOR,
                                                .indexing = TRS_PTR64,
                                                .ptr = A->ptr,
                                                .idx = A->idx,
                                                .val = A->val});
    row->update = seconds_now() - start;
  }
  return status;
}

static int run_method(blocks_run *run, trs_context *ctx, const char *method, trs_store store) {
  const bool by_scalars = strcmp(method, "blocks") != 0;
  const trs_options how = {.struct_size = sizeof how, .method = method, .store = store};
  trs_plan *plan;
  bench_row row = blocks_row(run, method, store, by_scalars);
  double start = seconds_now();
  if (trs_analyze_factors(&plan, ctx, run->F, TRS_NO_TRANS, &how)) return leave_library(method);
  row.analysis = seconds_now() - start;
  row.threads = trs_context_threads(ctx);
  trs_status status = by_scalars ? TRS_SUCCESS : time_update(run, plan, &row);
  if (!status) status = time_solves(run, plan, &row);
  trs_plan_destroy(plan);
  if (status) return leave_library(method);
  blocks_show(run, &row, by_scalars);
  return -1;
}

/* threads 0: `serial` by scalars. */
static int run_threads(blocks_run *run, int64_t threads) {
  char where[32];
  trs_context *ctx;
  int code = -1;
  snprintf(where, sizeof where, threads ? "threads:%d" : "serial", (int)threads);
  if (trs_context_create(&ctx, where)) return leave_library(NULL);
  run->copy_gbs = bench_copy_cpu(trs_context_threads(ctx));
  if (!threads) code = run_method(run, ctx, "serial", TRS_STORE_DEFAULT);
  for (int k = 0; k < BLOCKS_STORES && threads && code < 0; k++)
    code = run_method(run, ctx, "blocks", blocks_stores[k]);
  trs_context_destroy(ctx);
  return code;
}

static int run_on_cpu(blocks_run *run) {
  bench_counts threads;
  int code = bench_counts_parse(&threads, "threads", run->set->threads, MOST_THREADS);
  if (!threads.count) threads = (bench_counts){{1}, 1, 1};
  if (code < 0) code = run_threads(run, 0);
  for (int k = 0; k < threads.count && code < 0; k++) code = run_threads(run, threads.value[k]);
  return code;
}

/* ---- All ---- */

/* The order in front of a matrix, as in natural:gen:wingmesh:60000; none: by colours. */
static void find_order(blocks_run *run) {
  static const char *const names[] = {"natural:", "rcm:", "colour:"};
  static const trs_order orders[] = {TRS_ORDER_NATURAL, TRS_ORDER_RCM, TRS_ORDER_COLOUR};
  run->order = TRS_ORDER_COLOUR;
  run->matrix = run->name;
  for (int k = 0; k < 3; k++)
    if (strncmp(run->name, names[k], strlen(names[k])) == 0) {
      run->order = orders[k];
      run->matrix += strlen(names[k]);
    }
}

int bench_blocks_list(const char *suite) {
  blocks_run run = {.name = suite ? suite : cases[0]};
  find_order(&run);
  int code = bench_list(run.matrix);
  return suite || code != LEAVE_SOLVED ? code : bench_list(cases[1]);
}

static int run_case(blocks_run *run, const char *name) {
  run->name = name;
  find_order(run);
  int code = open_case(run);
  if (code < 0) code = run->set->device < 0 ? run_on_cpu(run) : blocks_on_gpu(run);
  close_case(run);
  return code;
}

/* Before minutes of factoring; the library first, as a build without CUDA needs no runtime. */
static int check_gpu(int device) {
  trs_context *ctx;
  char where[32];
  snprintf(where, sizeof where, "cuda:%d", device);
  if (trs_context_create(&ctx, where)) return leave_library("--backend");
  trs_context_destroy(ctx);
  return bench_cuda_open(device);
}

int bench_blocks(const bench_settings *set) {
  blocks_run run = {.set = set};
  int code = bench_out_open(&run.out, set);
  if (code >= 0) return code;
  if (set->device >= 0) code = check_gpu(set->device);
  if (code < 0 && set->suite) code = run_case(&run, set->suite);
  for (int k = 0; k < 2 && code < 0 && !set->suite; k++) code = run_case(&run, cases[k]);
  if (code < 0) code = run.wrong ? LEAVE_NUMERICAL : LEAVE_SOLVED;
  return bench_out_close(run.out, set, code);
}
