/* w21_gpu.c - trireme bench w21 --backend cuda: W21's case on a GPU, n_iter = 15: W21's six
 * variants and the library's own, every way of storing, block sizes 3 to 8, and cuSPARSE with
 * cuBLAS, beside what a copy moves there.  x and b lie in device memory; each result is held
 * against the sweeps of the CPU. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "leave.h"
#include "output.h"
#include "progress.h"
#include "residual.h"
#include "trireme.h"

enum { SWEEPS = 15, BLOCK = 5, ROUNDS = 7 };
static const char *const stores[] = {"mixed", "f64", "f32", "f16", "bf16"};
static const char ALL_VARIANTS[] =
    "warp-row,warp-row-l2,warp-row-l2-async,warp-six-rows,warp-six-rows-l2,warp-six-rows-l2-async,"
    "auto";

/* A block matrix on the host, column-major blocks in float, and what the CPU makes of it. */
typedef struct block_matrix {
  int64_t n, *ptr;
  int32_t *idx;
  float *val; /* NULL: the matrix is A */
  int block;
} block_matrix;

typedef struct bench_case {
  const bench_settings *set;
  const char *name;
  FILE *out;
  const trs_matrix *A; /* in blocks of BLOCK; or NULL, and */
  block_matrix B;      /* its pattern; values of another size of blocks */
  trs_context *cpu, *gpu;
  trs_scalar scalar; /* of x and b */
  int64_t n;         /* of A in scalars */
  int store;
  trs_relaxation *R, *reference;
  trs_relax_info info;
  void *b, *expected, *x;  /* host */
  void *there_b, *there_x; /* device */
  double copy_gbs, residual;
  bool headed;
} bench_case;

typedef struct outcome {
  double sweep_s, difference; /* of x from the CPU's, relative to the largest */
} outcome;

/* ---- What a case begins with ---- */

static double measure_copy(void) {
  const size_t bytes = (size_t)1 << 31;
  void *from, *to;
  double best = INFINITY;
  bool good = bench_cuda_alloc(&from, bytes);
  good &= bench_cuda_alloc(&to, bytes);
  good = good && bench_cuda_fill(from, 0, bytes) && bench_cuda_fill(to, 0, bytes);
  for (int round = 0; good && round < 2 * ROUNDS; round++) {
    good = bench_cuda_start() && bench_cuda_move(to, from, bytes);
    double took = bench_cuda_stop();
    if (took > 0 && took < best) best = took;
  }
  bench_cuda_free(from);
  bench_cuda_free(to);
  return good ? 2e-9 * (double)bytes / best : NAN;
}

static int64_t bytes_of(const bench_case *c) { return c->n * (c->scalar == TRS_FLOAT ? 4 : 8); }

static trs_status create(const bench_case *c, trs_context *ctx, trs_relaxation **R) {
  trs_relax_options how = {.struct_size = sizeof(trs_relax_options),
                           .store = (trs_relax_store)c->store};
  if (c->A) return trs_relax_create(ctx, R, c->A, BLOCK, &how);
  return trs_relax_create_bsr(ctx, R, TRS_FLOAT, c->B.n, c->B.block, TRS_COL_MAJOR, TRS_PTR64,
                              c->B.ptr, c->B.idx, c->B.val, &how);
}

static void close_case(bench_case *c) {
  trs_relax_destroy(c->R);
  trs_relax_destroy(c->reference);
  free(c->b);
  free(c->x);
  free(c->expected);
  bench_cuda_free(c->there_b);
  bench_cuda_free(c->there_x);
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

/* The relaxation on both sides, b, what the CPU's sweeps make of it, and what that leaves. */
static int open_case(bench_case *c) {
  trs_sweep_options o = {.struct_size = sizeof(trs_sweep_options), .sweeps = SWEEPS};
  size_t bytes = (size_t)bytes_of(c);
  c->b = malloc(bytes);
  c->x = malloc(bytes);
  c->expected = malloc(bytes);
  if (!c->b || !c->x || !c->expected) return leave_memory(3 * (double)bytes, "b and x");
  trs_random_fill(c->b, c->n, c->scalar, 1);
  if (create(c, c->cpu, &c->reference) ||
      trs_relax_sweep(c->reference, c->expected, c->n, c->b, c->n, 1, TRS_COL_MAJOR, &o))
    return leave_library(NULL);
  trs_relax_destroy(c->reference);
  c->reference = NULL;
  if (!c->A)
    c->residual = residual_of_blocks(&c->B, c->expected, c->b);
  else if (relative_residual(&c->residual, c->A, c->expected, c->b, 1))
    return leave_library(NULL);
  c->info.struct_size = sizeof c->info;
  if (create(c, c->gpu, &c->R) || trs_relax_get_info(c->R, &c->info)) return leave_library(NULL);
  bool good = bench_cuda_alloc(&c->there_b, bytes) && bench_cuda_alloc(&c->there_x, bytes) &&
              bench_cuda_put(c->there_b, c->b, bytes);
  return good ? -1 : leave(LEAVE_BUG, "internal", -1, "%s", bench_cuda_error());
}

static double value(const bench_case *c, const void *array, int64_t i) {
  return c->scalar == TRS_FLOAT ? ((const float *)array)[i] : ((const double *)array)[i];
}

/* Fetches x and holds it against the CPU's. */
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

static trs_status measure(const bench_case *c, outcome *o) {
  trs_sweep_options how = {.struct_size = sizeof(trs_sweep_options), .sweeps = SWEEPS};
  trs_status status = TRS_SUCCESS;
  o->sweep_s = INFINITY;
  for (int round = 0; round < ROUNDS && !status; round++) {
    (void)bench_cuda_start();
    status = trs_relax_sweep(c->R, c->there_x, c->n, c->there_b, c->n, 1, TRS_COL_MAJOR, &how);
    double took = bench_cuda_stop() / SWEEPS;
    if (took > 0 && took < o->sweep_s) o->sweep_s = took;
  }
  if (!status) status = trs_relax_wait(c->R);
  if (!status) o->difference = compare(c);
  return status;
}

/* The CPU sums in another order; 16-bit blocks are the same on both sides. */
static bool is_wrong(const bench_case *c, const outcome *o) {
  return !(o->difference <= (c->store == TRS_RELAX_DOUBLE ? 1e-12 : 2e-5));
}

static void publish(FILE *stream, const bench_case *c, const char *variant, const outcome *o) {
  fprintf(stream,
          "{\"suite\": \"w21\", \"matrix\": \"%s\", \"backend\": \"cuda\", \"gpu\": \"%s\", "
          "\"commit\": \"%s\", \"variant\": \"%s\", \"store\": \"%s\", \"rows\": %lld, "
          "\"blocks\": %lld, \"block_size\": %d, \"colours\": %lld, \"sweeps\": %d, \"sweep_s\": "
          "%.6g, \"bytes\": %lld, \"gbs\": %.5g, \"copy_gbs\": %.5g, \"create_s\": %.4g, "
          "\"update_s\": %.4g, \"rounding\": %.3g, \"residual\": %.4g, \"difference\": %.3g, "
          "\"wrong\": %s}\n",
          c->name, bench_cuda_device(), bench_machine_look()->commit, variant, stores[c->store],
          (long long)c->info.nrows, (long long)c->info.nblocks, c->info.block_size,
          (long long)c->info.colours, SWEEPS, o->sweep_s, (long long)c->info.sweep_bytes,
          (double)c->info.sweep_bytes / o->sweep_s * 1e-9, c->copy_gbs, c->info.create_seconds,
          c->info.update_seconds, c->info.rounding, c->residual, o->difference,
          is_wrong(c, o) ? "true" : "false");
  fflush(stream);
}

static void print_head(const bench_case *c) {
  printf(
      "%s: %s block rows, %s blocks of 5 x 5 off the diagonal, %s colours, %d sweeps\n"
      "%s; a copy moves %.0f GB/s\n\n",
      c->name, human_count(c->info.nrows).s, human_count(c->info.nblocks).s,
      human_count(c->info.colours).s, SWEEPS, bench_cuda_device(), c->copy_gbs);
  printf(
      "| variant | store | block | sweep | GB/s | of a copy | residual | difference |\n"
      "| --- | --- | --: | --: | --: | --: | --: | --: |\n");
}

static void show(bench_case *c, const char *variant, const outcome *o) {
  double gbs = (double)c->info.sweep_bytes / o->sweep_s * 1e-9;
  if (!c->set->json && !c->headed) print_head(c);
  c->headed = true;
  if (!c->set->json)
    printf("| %s | %s | %d | %s | %.0f | %.0f %% | %.1e | %.0e%s |\n", variant, stores[c->store],
           c->info.block_size, human_seconds(o->sweep_s).s, gbs, 100 * gbs / c->copy_gbs,
           c->residual, o->difference, is_wrong(c, o) ? " WRONG" : "");
  fflush(stdout);
  if (c->set->json) publish(stdout, c, variant, o);
  if (c->out) publish(c->out, c, variant, o);
}

static int run_variant(bench_case *c, const char *variant, bool *wrong) {
  outcome o = {0, 0};
  trs_status status = trs_relax_set_variant(c->R, variant);
  if (!status) status = measure(c, &o);
  c->info.struct_size = sizeof c->info;
  if (!status) status = trs_relax_get_info(c->R, &c->info);
  if (status == TRS_ERROR_UNSUPPORTED) {
    bench_notice(variant, trs_last_error()->message);
    return -1;
  }
  if (status) return leave_library(variant);
  show(c, variant, &o);
  *wrong |= is_wrong(c, &o);
  return -1;
}

/* Names with commas between; "name:key=8,other=3" is one. */
static int run_variants(bench_case *c, const char *list, bool *wrong) {
  char name[128];
  int code = -1;
  while (*list && code < 0) {
    size_t length = strcspn(list, ",");
    while (list[length]) {
      size_t next = strcspn(list + length + 1, ","), key = strcspn(list + length + 1, ",=:");
      if (key == next || list[length + 1 + key] != '=') break;
      length += 1 + next;
    }
    snprintf(name, sizeof name, "%.*s", (int)length, list);
    list += length + (list[length] == ',');
    code = run_variant(c, name, wrong);
  }
  return code;
}

/* ---- The peer ---- */

typedef struct peer_host {
  int *ptr, *idx;
  float *val, *diagonal, *b;
  float **pointers;
} peer_host;

/* A block row of A in the order of colours; its blocks stand whole and side by side. */
static void lay_row(const bench_case *c, const int32_t *position, int64_t p, int64_t *blocks,
                    int64_t *ptr64, const peer_host *h) {
  const int64_t *ptr, row = c->info.row[p];
  const int32_t *idx;
  const void *val;
  trs_matrix_get_arrays(c->A, &ptr, &idx, &val);
  int64_t count = (ptr[row * BLOCK + 1] - ptr[row * BLOCK]) / BLOCK;
  for (int64_t k = 0; k < count; k++) {
    int32_t j = idx[ptr[row * BLOCK] + k * BLOCK] / BLOCK;
    float *to = j == row ? h->diagonal + p * BLOCK * BLOCK : h->val + *blocks * BLOCK * BLOCK;
    for (int r = 0; r < BLOCK; r++)
      for (int s = 0; s < BLOCK; s++)
        to[s * BLOCK + r] = (float)((const double *)val)[ptr[row * BLOCK + r] + k * BLOCK + s];
    if (j != row) h->idx[(*blocks)++] = position[j];
  }
  for (int r = 0; r < BLOCK; r++) h->b[p * BLOCK + r] = (float)value(c, c->b, row * BLOCK + r);
  ptr64[p + 1] = *blocks;
  h->ptr[p + 1] = (int)*blocks;
}

static bool upload(void *device, const void *host, size_t bytes) {
  void **to = device;
  return bench_cuda_alloc(to, bytes) && bench_cuda_put(*to, host, bytes);
}

/* Addresses of each row's piece of an array. */
static bool upload_pointers(float ***device, float **host, float *array, int64_t rows,
                            int64_t step) {
  for (int64_t p = 0; p < rows; p++) host[p] = array + p * step;
  return upload(device, host, (size_t)rows * sizeof *host);
}

static bool bring_peer(bench_bsr *m, const peer_host *h, int64_t blocks) {
  size_t rows = (size_t)m->rows, size = BLOCK * BLOCK * sizeof(float);
  return upload(&m->ptr, h->ptr, (rows + 1) * sizeof *h->ptr) &&
         upload(&m->idx, h->idx, (size_t)blocks * sizeof *h->idx) &&
         upload(&m->val, h->val, (size_t)blocks * size) &&
         upload(&m->diagonal, h->diagonal, rows * size) &&
         upload(&m->b, h->b, rows * BLOCK * sizeof(float)) &&
         bench_cuda_alloc(&m->x, rows * BLOCK * sizeof(float)) &&
         bench_cuda_alloc(&m->info, rows * sizeof(int)) &&
         upload_pointers(&m->diagonals, h->pointers, m->diagonal, m->rows, BLOCK * BLOCK) &&
         upload_pointers(&m->xs, h->pointers, m->x, m->rows, BLOCK);
}

static bool sweep_peer(const bench_case *c, const bench_bsr *m, outcome *o) {
  const trs_relax_info *i = &c->info;
  bool good = bench_bsr_factor(m) && bench_cuda_wait();
  o->sweep_s = INFINITY;
  for (int round = 0; round < 3 && good; round++) {
    good = bench_cuda_fill(m->x, 0, (size_t)m->rows * BLOCK * sizeof(float)) && bench_cuda_start();
    for (int s = 0; s < SWEEPS; s++)
      for (int64_t k = 0; k < i->colours && good; k++)
        good = bench_bsr_relax(m, i->colour_ptr[k], i->colour_ptr[k + 1]);
    double took = bench_cuda_stop() / SWEEPS;
    if (took > 0 && took < o->sweep_s) o->sweep_s = took;
  }
  return good && o->sweep_s < INFINITY;
}

/* x by position, back into the caller's order and on the device for compare. */
static bool return_peer(const bench_case *c, const bench_bsr *m, float *x) {
  double *to = c->x;
  if (!bench_cuda_get(x, m->x, (size_t)c->n * sizeof *x)) return false;
  for (int64_t p = 0; p < m->rows; p++)
    for (int r = 0; r < BLOCK; r++) to[c->info.row[p] * BLOCK + r] = x[p * BLOCK + r];
  return bench_cuda_put(c->there_x, to, (size_t)bytes_of(c));
}

static void free_peer(bench_bsr *m, peer_host *h, int32_t *position, int64_t *ptr64) {
  void *const device[] = {m->ptr, m->idx,  m->val,       m->diagonal, m->b,
                          m->x,   m->info, m->diagonals, m->xs};
  for (size_t k = 0; k < sizeof device / sizeof *device; k++) bench_cuda_free(device[k]);
  free(h->ptr);
  free(h->idx);
  free(h->val);
  free(h->diagonal);
  free(h->b);
  free(h->pointers);
  free(position);
  free(ptr64);
}

/* On A as the case c has it; all in float. */
static void run_peer(bench_case *c) {
  const char *missing = bench_bsr_load();
  const size_t rows = (size_t)c->info.nrows, blocks = (size_t)c->info.nblocks;
  outcome o = {0, 0};
  if (missing) {
    bench_notice("cusparse", missing);
    return;
  }
  int32_t *position = malloc((rows + 1) * sizeof *position);
  int64_t *ptr64 = malloc((rows + 1) * sizeof *ptr64), at = 0;
  peer_host h = {malloc((rows + 1) * sizeof *h.ptr),
                 malloc((blocks + 1) * sizeof *h.idx),
                 malloc((blocks + 1) * BLOCK * BLOCK * sizeof *h.val),
                 malloc((rows + 1) * BLOCK * BLOCK * sizeof *h.diagonal),
                 malloc((rows + 1) * BLOCK * sizeof *h.b),
                 malloc((rows + 1) * sizeof *h.pointers)};
  bench_bsr m = {.rows = c->info.nrows, .block = BLOCK, .off_ptr = ptr64};
  bool good = position && ptr64 && h.ptr && h.idx && h.val && h.diagonal && h.b && h.pointers;
  if (good) {
    ptr64[0] = h.ptr[0] = 0;
    for (size_t p = 0; p < rows; p++) position[c->info.row[p]] = (int32_t)p;
    for (size_t p = 0; p < rows; p++) lay_row(c, position, (int64_t)p, &at, ptr64, &h);
    good = (size_t)at == blocks && bring_peer(&m, &h, at) && sweep_peer(c, &m, &o) &&
           return_peer(c, &m, h.b);
  }
  o.difference = good ? compare(c) : NAN;
  if (good)
    show(c, "cusparse-cublas", &o);
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
    for (int64_t p = ptr[i * BLOCK]; p < ptr[i * BLOCK + 1]; p += BLOCK)
      if (idx[p] / BLOCK < n) {
        if (to) to[at] = idx[p] / BLOCK;
        at++;
      }
  }
  if (to_ptr) to_ptr[n] = at;
  return at;
}

/* Random blocks; each element of a block's diagonal exceeds all of its row together. */
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
  B->n = b <= BLOCK ? rows : rows * BLOCK * BLOCK / (b * b);
  B->ptr = malloc((size_t)(B->n + 1) * sizeof *B->ptr);
  if (!B->ptr) return leave_memory((double)B->n * 8, "a block matrix");
  int64_t count = pattern_of(A, B->n, B->ptr, NULL);
  B->idx = malloc((size_t)(count + 1) * sizeof *B->idx);
  if (!B->idx) return leave_memory((double)count * 4, "a block matrix");
  (void)pattern_of(A, B->n, NULL, B->idx);
  return fill_blocks(B);
}

static int run_size(bench_case *c, const trs_matrix *A, int64_t rows, int b, bool *wrong) {
  int code = open_blocks(&c->B, A, rows, b);
  c->A = NULL;
  c->scalar = TRS_FLOAT;
  c->n = c->B.n * b;
  c->store = TRS_RELAX_MIXED;
  if (code < 0) code = open_case(c);
  if (code < 0) code = run_variants(c, c->set->methods ? c->set->methods : "auto", wrong);
  close_case(c);
  free(c->B.ptr);
  free(c->B.idx);
  free(c->B.val);
  c->B = (block_matrix){.n = 0};
  return code;
}

/* ---- All ---- */

static int run_stores(bench_case *c, bool *wrong) {
  const char *methods = c->set->methods;
  int code = -1;
  for (int store = 0; store <= TRS_RELAX_BFLOAT && code < 0; store++) {
    c->store = store;
    code = open_case(c);
    if (code < 0)
      code = run_variants(c, methods ? methods : store == 0 ? ALL_VARIANTS : "auto", wrong);
    if (code < 0 && store == TRS_RELAX_FLOAT && c->set->peer == 0) run_peer(c);
    close_case(c);
  }
  return code;
}

static int run_all(bench_case *c, const trs_matrix *A) {
  trs_matrix_info m = {.struct_size = sizeof m};
  bool wrong = false;
  trs_matrix_get_info(A, &m);
  c->A = A;
  c->n = m.nrows;
  c->scalar = TRS_DOUBLE;
  c->copy_gbs = measure_copy();
  int code = run_stores(c, &wrong);
  for (int b = 3; b <= 8 && code < 0; b++)
    if (b != BLOCK) code = run_size(c, A, m.nrows / BLOCK, b, &wrong);
  return code < 0 && wrong ? LEAVE_NUMERICAL : code;
}

int bench_w21_gpu(const bench_settings *set) {
  bench_case c = {.set = set, .name = set->suite ? set->suite : BENCH_W21_CASE};
  trs_matrix *A = NULL;
  trs_read_options reading = {.struct_size = sizeof(trs_read_options), .progress = progress_show};
  char where[32];
  int code = bench_out_open(&c.out, set);
  if (code >= 0) return code;
  snprintf(where, sizeof where, "cuda:%d", set->device);
  code = bench_cuda_open(set->device);
  if (code < 0 && (trs_context_create(&c.gpu, where) || trs_context_create(&c.cpu, "threads")))
    code = leave_library(NULL);
  progress_begin();
  if (code < 0 && trs_matrix_read(&A, c.name, &reading)) code = leave_library(NULL);
  progress_end();
  if (code < 0) code = run_all(&c, A);
  trs_matrix_destroy(A);
  trs_context_destroy(c.cpu);
  trs_context_destroy(c.gpu);
  return bench_out_close(c.out, set, code < 0 ? LEAVE_SOLVED : code);
}
