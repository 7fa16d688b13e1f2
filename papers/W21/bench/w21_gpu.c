/* w21_gpu.c - trireme bench w21 --backend cuda: W21's case on a GPU: W21's variants and the
 * library's own, all storage formats, block sizes 3 to 8, and cuSPARSE with cuBLAS, beside the
 * bandwidth of a copy on the same GPU.  x and b are in device memory; each result is compared with
 * the sweeps of the CPU. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "copy.h"
#include "cublas.h"
#include "cuda.h"
#include "leave.h"
#include "residual.h"
#include "row.h"
#include "run.h"
#include "runner.h"
#include "w21.h"

enum { PEER_ROUNDS = 3 };
static const char ALL_VARIANTS[] =
    "thread-row,warp-row,warp-row-l2,warp-row-fused,warp-row-fused-l2,warp-row-fused-l2-async,"
    "warp-six-rows,warp-six-rows-l2,warp-six-rows-l2-async,warp-six-rows-prefetch,auto";

/* A block matrix on the host, with column-major blocks in float, and the CPU's result. */
typedef struct block_matrix {
  int64_t n, *ptr;
  int32_t *idx;
  float *val; /* NULL: the matrix is A */
  int block;
} block_matrix;

typedef struct bench_case {
  w21_run *run;
  const trs_matrix *A; /* in blocks of W21_BLOCK; or NULL, and */
  block_matrix B;      /* its pattern; values of another size of blocks */
  trs_context *cpu, *gpu;
  trs_scalar scalar; /* of x and b */
  int64_t n;         /* of A in scalars */
  trs_store store;
  trs_plan *R, *reference;
  trs_relax_info info;
  void *b, *expected, *x;  /* host */
  void *there_b, *there_x; /* device */
  double copy_gbs, residual;
} bench_case;

/* ---- Setup of a case ---- */

static int64_t bytes_of(const bench_case *c) { return c->n * (c->scalar == TRS_FLOAT ? 4 : 8); }

/* variant: NULL on the CPU. */
static trs_status create(const bench_case *c, trs_context *ctx, trs_plan **R, const char *variant) {
  trs_relax_options how = {
      .struct_size = sizeof(trs_relax_options), .store = c->store, .variant = variant};
  if (c->A) return trs_relax_create(R, ctx, c->A, W21_BLOCK, &how);
  return trs_relax_create_bsr(R, ctx,
                              &(trs_blocks){.struct_size = sizeof(trs_blocks),
                                            .scalar = TRS_FLOAT,
                                            .nrows = c->B.n,
                                            .block_size = c->B.block,
                                            .layout = TRS_COL_MAJOR,
                                            .indexing = TRS_PTR64,
                                            .ptr = c->B.ptr,
                                            .idx = c->B.idx,
                                            .val = c->B.val},
                              &how);
}

static void close_case(bench_case *c) {
  trs_plan_destroy(c->R);
  trs_plan_destroy(c->reference);
  free(c->b);
  free(c->x);
  free(c->expected);
  BENCH_CUDA_FREE(c->there_b, c->there_x);
  c->R = c->reference = NULL;
  c->b = c->x = c->expected = c->there_b = c->there_x = NULL;
}

/* |b - A x| / |b| */
static double residual_of_blocks(const block_matrix *B, const float *x, const float *b) {
  const int64_t size = B->block;
  double left = 0, right = 0;
  for (int64_t i = 0; i < B->n; i++)
    for (int64_t r = 0; r < size; r++) {
      double y = b[i * size + r];
      for (int64_t p = B->ptr[i]; p < B->ptr[i + 1]; p++)
        for (int64_t s = 0; s < size; s++)
          y -= (double)B->val[(p * size + s) * size + r] * x[B->idx[p] * size + s];
      left = hypot(left, y);
      right = hypot(right, b[i * size + r]);
    }
  return relative(left, right);
}

/* b, the result of the CPU's sweeps, and its residual. */
static int open_case(bench_case *c) {
  trs_sweep_options o = {.struct_size = sizeof(trs_sweep_options), .sweeps = W21_SWEEPS};
  size_t bytes = (size_t)bytes_of(c);
  c->b = malloc(bytes);
  c->x = malloc(bytes);
  c->expected = malloc(bytes);
  if (!c->b || !c->x || !c->expected) return leave_memory(3 * (double)bytes, "b and x");
  trs_random_fill(c->b, c->n, c->scalar, 1);
  if (create(c, c->cpu, &c->reference, NULL) ||
      trs_relax_sweep(c->reference, c->expected, c->n, c->b, c->n, 1, TRS_COL_MAJOR, &o))
    return leave_library(NULL);
  trs_plan_destroy(c->reference);
  c->reference = NULL;
  if (!c->A)
    c->residual = residual_of_blocks(&c->B, c->expected, c->b);
  else if (relative_residual(&c->residual, c->A, c->expected, c->b, 1))
    return leave_library(NULL);
  bool good = bench_cuda_upload(&c->there_b, c->b, bytes) && bench_cuda_alloc(&c->there_x, bytes);
  return good ? -1 : leave(LEAVE_BUG, "internal", -1, "%s", bench_cuda_error());
}

static double value(const bench_case *c, const void *array, int64_t i) {
  return c->scalar == TRS_FLOAT ? ((const float *)array)[i] : ((const double *)array)[i];
}

/* Fetches x and compares it with the CPU's. */
static double compare(const bench_case *c) {
  double most = 0, worst = 0;
  if (!bench_cuda_get(c->x, c->there_x, (size_t)bytes_of(c))) return NAN;
  for (int64_t i = 0; i < c->n; i++) {
    double e = value(c, c->expected, i), off = fabs(value(c, c->x, i) - e);
    most = fmax(most, fabs(e));
    if (!(off <= worst)) worst = off;
  }
  return worst / most;
}

/* ---- Sweeps ---- */

/* The CPU sums in another order; 16-bit blocks are the same on both sides. */
static void show(bench_case *c, const char *variant, double sweep, double difference) {
  bench_row row = w21_row(c->run, c->store, &c->info);
  snprintf(row.method, sizeof row.method, "%s", variant);
  row.sweep = sweep;
  row.copy_gbs = c->copy_gbs;
  row.residual = c->residual;
  row.difference = difference;
  row.wrong = !(difference <= (c->store == TRS_STORE_DOUBLE ? 1e-12 : 2e-5));
  w21_show(c->run, &row);
}

static int run_variant(bench_case *c, const char *variant) {
  double sweep = NAN;
  trs_plan_destroy(c->R);
  trs_status status = create(c, c->gpu, &c->R, variant);
  if (!status) status = w21_time(c->R, c->there_x, c->there_b, c->n, &sweep);
  c->info.struct_size = sizeof c->info;
  if (!status) status = trs_relax_get_info(c->R, &c->info);
  if (status == TRS_ERROR_UNSUPPORTED) {
    bench_notice(variant, trs_last_error()->message);
    return -1;
  }
  if (status) return leave_library(variant);
  show(c, variant, sweep, compare(c));
  return -1;
}

static int run_variants(bench_case *c, const char *list) {
  char name[128];
  int code = -1;
  while (code < 0 && bench_next_method(&list, name, sizeof name)) code = run_variant(c, name);
  return code;
}

/* ---- The peer ---- */

typedef struct peer_host {
  int *ptr, *idx;
  float *val, *diagonal, *b;
  float **pointers;
} peer_host;

/* A block row of A in the order of colours; its blocks are complete and contiguous. */
static void lay_row(const bench_case *c, const int32_t *position, int64_t p, int64_t *blocks,
                    int64_t *ptr64, const peer_host *h) {
  const int64_t *ptr, row = c->info.row[p];
  const int32_t *idx;
  const void *val;
  trs_matrix_get_arrays(c->A, &ptr, &idx, &val);
  int64_t count = (ptr[row * W21_BLOCK + 1] - ptr[row * W21_BLOCK]) / W21_BLOCK;
  for (int64_t k = 0; k < count; k++) {
    int32_t j = idx[ptr[row * W21_BLOCK] + k * W21_BLOCK] / W21_BLOCK;
    float *to = j == row ? h->diagonal + p * W21_BLOCK * W21_BLOCK
                         : h->val + *blocks * W21_BLOCK * W21_BLOCK;
    for (int r = 0; r < W21_BLOCK; r++)
      for (int s = 0; s < W21_BLOCK; s++)
        to[s * W21_BLOCK + r] =
            (float)((const double *)val)[ptr[row * W21_BLOCK + r] + k * W21_BLOCK + s];
    if (j != row) h->idx[(*blocks)++] = position[j];
  }
  for (int r = 0; r < W21_BLOCK; r++)
    h->b[p * W21_BLOCK + r] = (float)value(c, c->b, row * W21_BLOCK + r);
  ptr64[p + 1] = *blocks;
  h->ptr[p + 1] = (int)*blocks;
}

/* Addresses of each row's part of an array. */
static bool upload_pointers(float ***device, float **host, float *array, int64_t rows,
                            int64_t step) {
  for (int64_t p = 0; p < rows; p++) host[p] = array + p * step;
  return bench_cuda_upload(device, host, (size_t)rows * sizeof *host);
}

static bool bring_peer(bench_bsr *m, const peer_host *h, int64_t blocks) {
  size_t rows = (size_t)m->rows, size = W21_BLOCK * W21_BLOCK * sizeof(float);
  return bench_cuda_upload(&m->ptr, h->ptr, (rows + 1) * sizeof *h->ptr) &&
         bench_cuda_upload(&m->idx, h->idx, (size_t)blocks * sizeof *h->idx) &&
         bench_cuda_upload(&m->val, h->val, (size_t)blocks * size) &&
         bench_cuda_upload(&m->diagonal, h->diagonal, rows * size) &&
         bench_cuda_upload(&m->b, h->b, rows * W21_BLOCK * sizeof(float)) &&
         bench_cuda_alloc(&m->x, rows * W21_BLOCK * sizeof(float)) &&
         bench_cuda_alloc(&m->info, rows * sizeof(int)) &&
         upload_pointers(&m->diagonals, h->pointers, m->diagonal, m->rows, W21_BLOCK * W21_BLOCK) &&
         upload_pointers(&m->xs, h->pointers, m->x, m->rows, W21_BLOCK);
}

/* Seconds of a sweep; INFINITY: a failure. */
static double sweep_peer(const bench_case *c, const bench_bsr *m) {
  const trs_relax_info *i = &c->info;
  bool good = bench_bsr_factor(m) && bench_cuda_wait();
  double least = INFINITY;
  for (int round = 0; round < PEER_ROUNDS && good; round++) {
    good =
        bench_cuda_fill(m->x, 0, (size_t)m->rows * W21_BLOCK * sizeof(float)) && bench_cuda_start();
    for (int s = 0; s < W21_SWEEPS; s++)
      for (int64_t k = 0; k < i->colours && good; k++)
        good = bench_bsr_relax(m, i->colour_ptr[k], i->colour_ptr[k + 1]);
    double took = bench_cuda_stop() / W21_SWEEPS;
    if (took > 0 && took < least) least = took;
  }
  return good ? least : INFINITY;
}

/* Copies x from positions to the caller's order, and to the device for the comparison. */
static bool return_peer(const bench_case *c, const bench_bsr *m, float *x) {
  double *to = c->x;
  if (!bench_cuda_get(x, m->x, (size_t)c->n * sizeof *x)) return false;
  for (int64_t p = 0; p < m->rows; p++)
    for (int r = 0; r < W21_BLOCK; r++) to[c->info.row[p] * W21_BLOCK + r] = x[p * W21_BLOCK + r];
  return bench_cuda_put(c->there_x, to, (size_t)bytes_of(c));
}

static void free_peer(bench_bsr *m, peer_host *h, int32_t *position, int64_t *ptr64) {
  BENCH_CUDA_FREE(m->ptr, m->idx, m->val, m->diagonal, m->b, m->x, m->info, m->diagonals, m->xs);
  free(h->ptr);
  free(h->idx);
  free(h->val);
  free(h->diagonal);
  free(h->b);
  free(h->pointers);
  free(position);
  free(ptr64);
}

/* On A in the storage of case c; everything is in float. */
static void run_peer(bench_case *c) {
  const char *missing = bench_bsr_load();
  if (!missing && !c->R && create(c, c->gpu, &c->R, NULL)) missing = trs_last_error()->message;
  if (!missing && trs_relax_get_info(c->R, &c->info)) missing = trs_last_error()->message;
  const size_t rows = (size_t)c->info.nrows, blocks = (size_t)c->info.nblocks;
  double sweep = INFINITY;
  if (missing) {
    bench_notice("cusparse", missing);
    return;
  }
  int32_t *position = malloc((rows + 1) * sizeof *position);
  int64_t *ptr64 = malloc((rows + 1) * sizeof *ptr64), at = 0;
  peer_host h = {malloc((rows + 1) * sizeof *h.ptr),
                 malloc((blocks + 1) * sizeof *h.idx),
                 malloc((blocks + 1) * W21_BLOCK * W21_BLOCK * sizeof *h.val),
                 malloc((rows + 1) * W21_BLOCK * W21_BLOCK * sizeof *h.diagonal),
                 malloc((rows + 1) * W21_BLOCK * sizeof *h.b),
                 malloc((rows + 1) * sizeof *h.pointers)};
  bench_bsr m = {.rows = c->info.nrows, .block = W21_BLOCK, .off_ptr = ptr64};
  bool good = position && ptr64 && h.ptr && h.idx && h.val && h.diagonal && h.b && h.pointers;
  if (good) {
    ptr64[0] = h.ptr[0] = 0;
    for (size_t p = 0; p < rows; p++) position[c->info.row[p]] = (int32_t)p;
    for (size_t p = 0; p < rows; p++) lay_row(c, position, (int64_t)p, &at, ptr64, &h);
    good = (size_t)at == blocks && bring_peer(&m, &h, at);
    if (good) sweep = sweep_peer(c, &m);
    good = good && sweep < INFINITY && return_peer(c, &m, h.b);
  }
  if (good)
    show(c, "cusparse-cublas", sweep, compare(c));
  else
    bench_notice("cusparse", "it failed, or memory ran out");
  free_peer(&m, &h, position, ptr64);
}

/* ---- Other block sizes: on the leading part of the same mesh, as many bytes of blocks ---- */

static int64_t pattern_of(const trs_matrix *A, int64_t n, int64_t *to_ptr, int32_t *to) {
  const int64_t *ptr;
  const int32_t *idx;
  const void *val;
  int64_t at = 0;
  trs_matrix_get_arrays(A, &ptr, &idx, &val);
  for (int64_t i = 0; i < n; i++) {
    if (to_ptr) to_ptr[i] = at;
    for (int64_t p = ptr[i * W21_BLOCK]; p < ptr[i * W21_BLOCK + 1]; p += W21_BLOCK)
      if (idx[p] / W21_BLOCK < n) {
        if (to) to[at] = idx[p] / W21_BLOCK;
        at++;
      }
  }
  if (to_ptr) to_ptr[n] = at;
  return at;
}

/* Random blocks; each element of a block on its diagonal exceeds the sum of all other elements in
 * its row of the matrix. */
static int fill_blocks(block_matrix *B) {
  int b = B->block;
  int64_t size = (int64_t)b * b, count = B->ptr[B->n] * size;
  B->val = malloc((size_t)count * sizeof *B->val);
  if (!B->val) return leave_memory((double)count * sizeof *B->val, "a block matrix");
  trs_random_fill(B->val, count, TRS_FLOAT, (uint64_t)b);
  for (int64_t i = 0; i < B->n; i++)
    for (int64_t p = B->ptr[i]; p < B->ptr[i + 1]; p++)
      for (int r = 0; r < b && B->idx[p] == i; r++)
        B->val[p * size + r * b + r] = (float)(b * (B->ptr[i + 1] - B->ptr[i]));
  return -1;
}

static int open_blocks(block_matrix *B, const trs_matrix *A, int64_t rows, int b) {
  B->block = b;
  B->n = b <= W21_BLOCK ? rows : rows * W21_BLOCK * W21_BLOCK / (b * b);
  B->ptr = malloc((size_t)(B->n + 1) * sizeof *B->ptr);
  if (!B->ptr) return leave_memory((double)B->n * 8, "a block matrix");
  int64_t count = pattern_of(A, B->n, B->ptr, NULL);
  B->idx = malloc((size_t)(count + 1) * sizeof *B->idx);
  if (!B->idx) return leave_memory((double)count * 4, "a block matrix");
  (void)pattern_of(A, B->n, NULL, B->idx);
  return fill_blocks(B);
}

static int run_size(bench_case *c, const trs_matrix *A, int64_t rows, int b) {
  const char *methods = c->run->set->methods;
  int code = open_blocks(&c->B, A, rows, b);
  c->A = NULL;
  c->scalar = TRS_FLOAT;
  c->n = c->B.n * b;
  c->store = TRS_STORE_MIXED;
  if (code < 0) code = open_case(c);
  if (code < 0) code = run_variants(c, methods ? methods : "auto");
  close_case(c);
  free(c->B.ptr);
  free(c->B.idx);
  free(c->B.val);
  c->B = (block_matrix){.n = 0};
  return code;
}

/* ---- All ---- */

static int run_stores(bench_case *c) {
  const char *methods = c->run->set->methods;
  int code = -1;
  for (int store = TRS_STORE_MIXED; store <= TRS_STORE_BFLOAT && code < 0; store++) {
    c->store = (trs_store)store;
    code = open_case(c);
    if (code < 0)
      code = run_variants(c, methods ? methods : store <= TRS_STORE_DOUBLE ? ALL_VARIANTS : "auto");
    if (code < 0 && store == TRS_STORE_FLOAT && c->run->set->peer == 0) run_peer(c);
    close_case(c);
  }
  return code;
}

static int run_all(bench_case *c) {
  const w21_run *run = c->run;
  c->A = run->A;
  c->n = run->n;
  c->scalar = TRS_DOUBLE;
  c->copy_gbs = bench_copy_gpu();
  int code = run_stores(c);
  for (int b = 3; b <= 8 && code < 0; b++)
    if (b != W21_BLOCK) code = run_size(c, run->A, run->n / W21_BLOCK, b);
  return code;
}

int w21_on_gpu(w21_run *run) {
  bench_case c = {.run = run};
  char where[32];
  snprintf(where, sizeof where, "cuda:%d", run->set->device);
  int code = -1; /* the library first: a build without CUDA needs no runtime */
  if (trs_context_create(&c.gpu, where) || trs_context_create(&c.cpu, "threads"))
    code = leave_library("--backend");
  if (code < 0) code = bench_cuda_open(run->set->device);
  if (code < 0) code = w21_read(run);
  if (code < 0) code = run_all(&c);
  trs_context_destroy(c.cpu);
  trs_context_destroy(c.gpu);
  return code;
}
