/* l17.c - trireme bench l17: the measurements of L17's Figures 7 to 12 and Tables I, IV and V on
 * this project's systems or the paper's, beside cuSPARSE, oneMKL and the engine: rates of SpTRSV by
 * warps per block with and without scratchpad, single and double; SpTRSM by both strategies and the
 * adaptive choice over right-hand sides; the sweeps over p and q; the costs of preprocessing; level
 * sets with barriers on the CPU and with launches on the GPU; all of them forward and backward.
 *
 * The synchronization-free methods get the system as CSC and the others as CSR, as in the paper
 * (Table II), so that their preprocessing is in-degrees and nothing else.  What a system as CSR
 * would cost, and the allocations, are in rows of their own.  Every method runs L17_SOLVES times,
 * or fewer if --seconds are over; the paper's time is the mean.  With --backend opencl the same
 * methods run from host memory in double, without cuSPARSE; their time is the device's own. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment.h"
#include "gpu_system.h"
#include "groups.h"
#include "l17.h"
#include "run.h"
#include "runner.h"
#include "settings.h"
#include "system.h"

const char *const l17_suite[L17_PARTS] = {"l17 rates", "l17 strategies", "l17 p", "l17 q",
                                          "l17 host"};

const char *l17_method(l17_part part, int k) {
  static const char *const methods[L17_PARTS][12] = {
      {L17_CUSPARSE, L17_ENGINE, "levelset", "syncfree-csc:warps=4,scratchpad=yes",
       "syncfree-csc:warps=8,scratchpad=yes", L17_SYNCFREE, "syncfree-csc:warps=32,scratchpad=yes",
       "syncfree-csc:warps=4,scratchpad=no", "syncfree-csc:warps=8,scratchpad=no",
       "syncfree-csc:warps=16,scratchpad=no", "syncfree-csc:warps=32,scratchpad=no"},
      {L17_CUSPARSE, L17_ENGINE, L17_ADAPTIVE, "syncfree-csc-rhs:strategy=rhs",
       "syncfree-csc-rhs:strategy=nnz"},
      {"syncfree-csc-rhs:p=4", "syncfree-csc-rhs:p=8", "syncfree-csc-rhs:p=16",
       "syncfree-csc-rhs:p=32", "syncfree-csc-rhs:p=64"},
      {"syncfree-csc-rhs:q=16", "syncfree-csc-rhs:q=32", "syncfree-csc-rhs:q=64",
       "syncfree-csc-rhs:q=128", "syncfree-csc-rhs:q=256", "syncfree-csc-rhs:q=512",
       "syncfree-csc-rhs:q=1024", "syncfree-csc-rhs:q=2048", "syncfree-csc-rhs:q=4096",
       "syncfree-csc-rhs:q=8192", "syncfree-csc-rhs:q=16384"},
      {"serial", L17_BARRIERS}}; /* and oneMKL: bench/runners.c */
  return methods[part][k];
}

static const bench_counts counts[L17_PARTS] = {{{1}, 1, 1},
                                               {{1, 2, 4, 8, 16, 32, 64, 128, 256}, 256, 9},
                                               {{2, 4, 8, 16, 32, 64}, 64, 6},
                                               {{4, 16, 64}, 64, 3},
                                               {{1, 32}, 32, 2}};

/* ==== Rows ==== */

const bench_row *l17_find(const bench_rows *rows, const bench_row *like, l17_part part,
                          const char *method, int64_t nrhs) {
  const bench_row *found = NULL;
  for (int64_t i = 0; i < rows->count; i++) {
    const bench_row *r = &rows->row[i];
    if (r->nrhs == nrhs && !strcmp(r->method, method) && !strcmp(r->suite, l17_suite[part]) &&
        bench_same_matrix(r, like) && (!found || r->threads > found->threads))
      found = r;
  }
  return found;
}

const bench_row *l17_syncfree(const bench_rows *rows, const bench_row *like) {
  static const char *const methods[] = {L17_SYNCFREE, "syncfree-csc:warps=8,scratchpad=yes",
                                        "syncfree-csc:warps=4,scratchpad=yes"};
  const bench_row *found = NULL;
  for (int k = 0; k < 3 && !found; k++) found = l17_find(rows, like, L17_RATES, methods[k], 1);
  return found;
}

int l17_systems(const bench_rows *rows, l17_part part, const bench_row **system) {
  return bench_distinct(rows, l17_suite[part], 0, bench_same_matrix, system, L17_MOST_SYSTEMS);
}

int l17_points(const bench_rows *rows, l17_part part, const bench_row **point) {
  return bench_distinct(rows, l17_suite[part], 0, bench_same_nrhs, point, L17_MOST_POINTS);
}

void l17_label(char *label, size_t size, const bench_row *row, int64_t nrhs) {
  bench_row like = *row;
  like.nrhs = nrhs;
  bench_label(label, size, &like);
}

double l17_seconds(const bench_row *r) {
  if (!r || r->wrong) return NAN;
  return isnan(r->mean) ? r->median : r->mean;
}

double l17_rate(const bench_row *r) {
  return r ? 2e-9 * (double)r->nnz * (double)r->nrhs / l17_seconds(r) : NAN;
}

short_text l17_short_name(const char *method) {
  short_text t;
  int warps = 0, p = 0, q = 0;
  const char *pad = strstr(method, "scratchpad="), *strategy = strstr(method, "strategy=");
  const char *at = strstr(method, "warps=");
  if (at) warps = atoi(at + strlen("warps="));
  at = strstr(method, ":p=");
  if (at) p = atoi(at + strlen(":p="));
  at = strstr(method, ":q=");
  if (at) q = atoi(at + strlen(":q="));
  if (warps && pad)
    snprintf(t.s, sizeof t.s, "%d %s", warps, pad + strlen("scratchpad="));
  else if (strategy)
    snprintf(t.s, sizeof t.s, "%s", strategy + strlen("strategy="));
  else if (p)
    snprintf(t.s, sizeof t.s, "p %d", p);
  else if (q)
    snprintf(t.s, sizeof t.s, "q %d", q);
  else
    snprintf(t.s, sizeof t.s, "%s", strcmp(method, L17_ENGINE) != 0 ? method : "engine");
  return t;
}

/* ==== The run ==== */

static bool is_syncfree(const char *method) { return !strncmp(method, "syncfree-csc", 12); }

/* True if the part runs a method there: an OpenCL device has the synchronization-free ones. */
static bool is_wanted(const bench_settings *set, l17_part part, const char *name) {
  if (part != L17_HOST && bench_on_opencl(set) && !is_syncfree(name)) return false;
  return strcmp(name, L17_CUSPARSE) ? bench_is_method(name) : set->peer == 0;
}

/* The methods that this build has. */
static int open_runners(bench_runners *all, const bench_settings *set, l17_part part) {
  char methods[1024] = "";
  size_t used = 0;
  for (int k = 0; l17_method(part, k); k++) {
    const char *name = l17_method(part, k);
    if (!is_wanted(set, part, name)) continue;
    used += (size_t)snprintf(methods + used, sizeof methods - used, used ? ",%s" : "%s", name);
  }
  bench_settings own = *set;
  own.methods = methods;
  if (part == L17_HOST) {
    own.device = -1;
    own.backend = NULL;
  } else {
    own.peer = 1; /* named above */
  }
  if (!used) return -1;
  int code = bench_runners_open(all, &own);
  all->solves = L17_SOLVES;
  for (int i = 0; code < 0 && i < all->count; i++) {
    bench_runner *r = &all->runner[i];
    r->terse = part != L17_HOST && strcmp(r->method, L17_ENGINE) != 0;
    r->by_columns = is_syncfree(r->method);
    r->steps = r->by_columns || !strcmp(r->method, L17_BARRIERS);
  }
  return code;
}

static const bench_counts *counts_of(const bench_run *run, l17_part part) {
  bool chosen = part == L17_STRATEGIES && run->set->nrhs_list;
  return chosen ? &run->set->nrhs : &counts[part];
}

/* gpu NULL: from host memory, in double. */
static int run_part(bench_run *run, l17_part part, const bench_system *system, bench_gpu *gpu) {
  bench_runners *all = (bench_runners *)run->own + part;
  const bench_counts *nrhs = counts_of(run, part);
  int code = -1;
  for (int k = 0; k < nrhs->count && code < 0 && all->count; k++) {
    int64_t first = run->rows.count;
    bench_system many = *system;
    many.nrhs = nrhs->value[k];
    many.by_rows = run->set->layout == 1 && many.nrhs > 1;
    code = gpu ? bench_measure_gpu(&run->rows, all, gpu, nrhs->value[k], run->set->seconds)
               : bench_measure(&run->rows, all, &many, run->set->seconds);
    bench_run_publish(run, l17_suite[part], first);
  }
  return code;
}

static int run_on_gpu(bench_run *run, const bench_system *system, int scalar) {
  const bench_runners *rates = run->own;
  const int parts = scalar ? 1 : L17_HOST; /* many right-hand sides in double, as in the paper */
  bench_settings set = *run->set;
  bench_gpu gpu;
  set.scalar = scalar;
  int code = bench_gpu_open(&gpu, rates->gpu, system, &set);
  if (code < 0 && rates->gpu) code = bench_gpu_add_columns(&gpu, rates->gpu);
  for (int p = 0; p < parts && code < 0; p++) code = run_part(run, (l17_part)p, system, &gpu);
  bench_gpu_close(&gpu);
  return code;
}

static int run_system(bench_run *run, bench_system *system) {
  const bool opencl = bench_on_opencl(run->set);
  int code = -1;
  bench_tick_part(0, 3);
  code = run_part(run, L17_HOST, system, NULL);
  for (int scalar = 0; scalar < 2 && code < 0 && !opencl; scalar++) {
    bench_tick_part(1 + scalar, 3);
    code = run_on_gpu(run, system, scalar);
  }
  for (int p = 0; p < L17_HOST && code < 0 && opencl; p++)
    code = run_part(run, (l17_part)p, system, NULL);
  return code;
}

int bench_l17(const bench_settings *set) {
  bench_run run;
  bench_runners runners[L17_PARTS] = {0};
  int code = bench_run_open(&run, set, "l17-stand-ins", runners);
  for (int p = 0; p < L17_PARTS && code < 0; p++)
    code = open_runners(&runners[p], set, (l17_part)p);
  if (code < 0) code = bench_out_open(&run.out, set);
  if (code < 0) {
    bench_run_systems(&run, set->uplo, run_system);
    if (!set->json) bench_l17_report(&run.rows, set->markdown);
    if (set->svg) code = bench_l17_draw(&run.rows, set->svg);
  }
  for (int p = 0; p < L17_PARTS; p++) bench_runners_close(&runners[p]);
  return bench_run_close(&run, code);
}
