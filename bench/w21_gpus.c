/* w21_gpus.c - trireme bench w21 --backend cuda:0-3: W21's case on the first, the first two, four,
 * ... of several GPUs, n_iter = 15, stored as mixed and f16: seconds a sweep, and whether x has the
 * bits of one GPU.  x and b lie in the first GPU's memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "leave.h"
#include "output.h"
#include "progress.h"
#include "trireme.h"

enum { SWEEPS = 15, BLOCK = 5, ROUNDS = 7 };

typedef struct bench_case {
  const bench_settings *set;
  const char *name;
  FILE *out;
  bench_gpu_list gpus;
  const trs_matrix *A;
  int64_t n;
  double *b, *x, *first;   /* host; first: x of one GPU */
  void *there_b, *there_x; /* device */
  double one_s;            /* a sweep on one GPU */
  bool headed, wrong;
} bench_case;

typedef struct outcome {
  int gpus;
  const char *store;
  double sweep_s;
  bool same;
  trs_relax_info info;
} outcome;

static void publish(FILE *stream, const bench_case *c, const outcome *o) {
  fprintf(stream,
          "{\"suite\": \"w21\", \"matrix\": \"%s\", \"backend\": \"cuda\", \"gpu\": \"%s\", "
          "\"gpus\": %d, \"commit\": \"%s\", \"variant\": \"%s\", \"store\": \"%s\", \"rows\": "
          "%lld, \"blocks\": %lld, \"block_size\": %d, \"colours\": %lld, \"sweeps\": %d, "
          "\"sweep_s\": %.6g, \"bytes\": %lld, \"gbs\": %.5g, \"speedup\": %.4g, \"create_s\": "
          "%.4g, \"update_s\": %.4g, \"same_bits\": %s}\n",
          c->name, bench_cuda_device(), o->gpus, bench_machine_look()->commit, o->info.variant,
          o->store, (long long)o->info.nrows, (long long)o->info.nblocks, o->info.block_size,
          (long long)o->info.colours, SWEEPS, o->sweep_s, (long long)o->info.sweep_bytes,
          (double)o->info.sweep_bytes / o->sweep_s * 1e-9, c->one_s / o->sweep_s,
          o->info.create_seconds, o->info.update_seconds, o->same ? "true" : "false");
  fflush(stream);
}

static void show(bench_case *c, const outcome *o) {
  double gain = c->one_s / o->sweep_s;
  if (!c->set->json && !c->headed)
    printf(
        "%s: %s block rows, %s blocks of 5 x 5 off the diagonal, %s colours, %d sweeps\n%s\n\n"
        "| GPUs | store | variant | sweep | GB/s | times one GPU | share of ideal | bits of one "
        "GPU |\n| --: | --- | --- | --: | --: | --: | --: | --- |\n",
        c->name, human_count(o->info.nrows).s, human_count(o->info.nblocks).s,
        human_count(o->info.colours).s, SWEEPS, bench_cuda_device());
  c->headed = true;
  if (!c->set->json)
    printf("| %d | %s | %s | %s | %.0f | %.2f | %.0f %% | %s |\n", o->gpus, o->store,
           o->info.variant, human_seconds(o->sweep_s).s,
           (double)o->info.sweep_bytes / o->sweep_s * 1e-9, gain, 100 * gain / o->gpus,
           o->same ? "yes" : "NO");
  fflush(stdout);
  if (c->set->json) publish(stdout, c, o);
  if (c->out) publish(c->out, c, o);
  c->wrong |= !o->same;
}

/* The fastest of several runs, and x of the last. */
static trs_status measure(const bench_case *c, trs_relaxation *R, outcome *o) {
  trs_sweep_options how = {.struct_size = sizeof(trs_sweep_options), .sweeps = SWEEPS};
  trs_status status = TRS_SUCCESS;
  o->sweep_s = INFINITY;
  for (int round = 0; round < ROUNDS && !status; round++) {
    (void)bench_cuda_start();
    status = trs_relax_sweep(R, c->there_x, c->n, c->there_b, c->n, 1, TRS_COL_MAJOR, &how);
    double took = bench_cuda_stop() / SWEEPS;
    if (took > 0 && took < o->sweep_s) o->sweep_s = took;
  }
  return status ? status : trs_relax_wait(R);
}

static int run_count(bench_case *c, int count, trs_relax_store store, const char *name) {
  outcome o = {.gpus = count, .store = name};
  const char *methods = c->set->methods;
  trs_relax_options how = {
      .struct_size = sizeof(trs_relax_options), .store = store, .variant = methods};
  trs_context *ctx = NULL;
  trs_relaxation *R = NULL;
  int code = bench_gpu_list_open(&c->gpus, count, &ctx);
  if (code >= 0) return code;
  trs_status status = trs_relax_create(ctx, &R, c->A, BLOCK, &how);
  if (!status) status = measure(c, R, &o);
  o.info.struct_size = sizeof o.info;
  if (!status) status = trs_relax_get_info(R, &o.info);
  if (status) {
    code = leave_library(NULL);
  } else {
    size_t bytes = (size_t)c->n * sizeof *c->x;
    if (count == 1) c->one_s = o.sweep_s;
    o.same = bench_cuda_get(count == 1 ? c->first : c->x, c->there_x, bytes) &&
             (count == 1 || memcmp(c->x, c->first, bytes) == 0);
    show(c, &o);
  }
  trs_relax_destroy(R);
  trs_context_destroy(ctx);
  return code;
}

/* 1, 2, 4, ... and all. */
static int run_store(bench_case *c, trs_relax_store store, const char *name) {
  int code = -1;
  for (int count = 1; count <= c->gpus.count && code < 0;) {
    code = run_count(c, count, store, name);
    int next = 2 * count;
    count = next > c->gpus.count && count < c->gpus.count ? c->gpus.count : next;
  }
  return code;
}

static int run_all(bench_case *c) {
  trs_matrix_info m = {.struct_size = sizeof m};
  trs_matrix_get_info(c->A, &m);
  c->n = m.nrows;
  size_t bytes = (size_t)c->n * sizeof *c->b;
  c->b = malloc(bytes);
  c->x = malloc(bytes);
  c->first = malloc(bytes);
  if (!c->b || !c->x || !c->first) return leave_memory(3 * (double)bytes, "b and x");
  trs_random_fill(c->b, c->n, TRS_DOUBLE, 1);
  if (!bench_cuda_alloc(&c->there_b, bytes) || !bench_cuda_alloc(&c->there_x, bytes) ||
      !bench_cuda_put(c->there_b, c->b, bytes))
    return leave(LEAVE_BUG, "internal", -1, "%s", bench_cuda_error());
  int code = run_store(c, TRS_RELAX_MIXED, "mixed");
  return code < 0 ? run_store(c, TRS_RELAX_HALF, "f16") : code;
}

int bench_w21_gpus(const bench_settings *set) {
  bench_case c = {.set = set, .name = set->suite ? set->suite : BENCH_W21_CASE};
  trs_matrix *A = NULL;
  trs_read_options reading = {.struct_size = sizeof(trs_read_options), .progress = progress_show};
  int code = bench_gpu_list_find(&c.gpus, set->backend);
  if (code < 0) code = bench_out_open(&c.out, set);
  if (code >= 0) return code;
  trs_context *all = NULL; /* before minutes of reading: whether there are so many */
  code = bench_gpu_list_open(&c.gpus, c.gpus.count, &all);
  trs_context_destroy(all);
  if (code < 0) code = bench_cuda_open(c.gpus.number[0]);
  progress_begin();
  if (code < 0 && trs_matrix_read(&A, c.name, &reading)) code = leave_library(NULL);
  progress_end();
  c.A = A;
  if (code < 0) code = run_all(&c);
  free(c.b);
  free(c.x);
  free(c.first);
  bench_cuda_free(c.there_b);
  bench_cuda_free(c.there_x);
  trs_matrix_destroy(A);
  return bench_out_close(c.out, set, code < 0 ? c.wrong ? LEAVE_NUMERICAL : LEAVE_SOLVED : code);
}
