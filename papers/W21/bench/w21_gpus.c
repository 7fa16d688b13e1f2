/* w21_gpus.c - trireme bench w21 --backend cuda:0-3: W21's case on the first one, two, four, ... of
 * several GPUs, stored as mixed and f16: seconds per sweep, and whether x has the same bits as on
 * one GPU.  x and b are in the first GPU's memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"
#include "gpu_list.h"
#include "leave.h"
#include "row.h"
#include "w21.h"

typedef struct several {
  w21_run *run;
  bench_gpu_list gpus;
  double *b, *x, *first;   /* host; first: x of one GPU */
  void *there_b, *there_x; /* device */
  double one_s;            /* of a sweep on one GPU */
} several;

static void show(several *s, int count, trs_store store, const trs_relax_info *info, double sweep) {
  bench_row row = w21_row(s->run, store, info);
  size_t bytes = (size_t)s->run->n * sizeof *s->x;
  bool one = count == 1, fetched = bench_cuda_get(one ? s->first : s->x, s->there_x, bytes);
  if (one) s->one_s = sweep;
  row.sweep = sweep;
  row.speedup = s->one_s / sweep;
  row.same_bits = fetched && (one || memcmp(s->x, s->first, bytes) == 0);
  w21_show(s->run, &row);
}

static int run_count(several *s, int count, trs_store store) {
  trs_relax_options how = {
      .struct_size = sizeof(trs_relax_options), .store = store, .variant = s->run->set->methods};
  trs_relax_info info = {.struct_size = sizeof info};
  trs_context *ctx = NULL;
  trs_plan *R = NULL;
  double sweep;
  int code = bench_gpu_list_open(&s->gpus, count, &ctx);
  if (code >= 0) return code;
  trs_status status = trs_relax_create(&R, ctx, s->run->A, W21_BLOCK, &how);
  if (!status) status = w21_time(R, s->there_x, s->there_b, s->run->n, &sweep);
  if (!status) status = trs_relax_get_info(R, &info);
  if (status)
    code = leave_library(NULL);
  else
    show(s, count, store, &info, sweep);
  trs_plan_destroy(R);
  trs_context_destroy(ctx);
  return code;
}

/* 1, 2, 4, ... and all. */
static int run_store(several *s, trs_store store) {
  int code = -1;
  for (int count = 1; count <= s->gpus.count && code < 0;) {
    code = run_count(s, count, store);
    int next = 2 * count;
    count = next > s->gpus.count && count < s->gpus.count ? s->gpus.count : next;
  }
  return code;
}

static int run_stores(several *s) {
  size_t bytes = (size_t)s->run->n * sizeof *s->b;
  s->b = malloc(bytes);
  s->x = malloc(bytes);
  s->first = malloc(bytes);
  if (!s->b || !s->x || !s->first) return leave_memory(3 * (double)bytes, "b and x");
  trs_random_fill(s->b, s->run->n, TRS_DOUBLE, 1);
  if (!bench_cuda_upload(&s->there_b, s->b, bytes) || !bench_cuda_alloc(&s->there_x, bytes))
    return leave(LEAVE_BUG, "internal", -1, "%s", bench_cuda_error());
  int code = run_store(s, TRS_STORE_MIXED);
  return code < 0 ? run_store(s, TRS_STORE_HALF) : code;
}

int w21_on_gpus(w21_run *run) {
  several s = {.run = run};
  trs_context *all = NULL; /* before minutes of reading: checks that enough GPUs exist */
  int code = bench_gpu_list_find(&s.gpus, run->set->backend);
  if (code < 0) code = bench_gpu_list_open(&s.gpus, s.gpus.count, &all);
  trs_context_destroy(all);
  if (code < 0) code = bench_cuda_open(s.gpus.number[0]);
  if (code < 0) code = w21_read(run);
  if (code < 0) code = run_stores(&s);
  free(s.b);
  free(s.x);
  free(s.first);
  BENCH_CUDA_FREE(s.there_b, s.there_x);
  return code;
}
