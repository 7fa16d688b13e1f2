/* runners.c - the methods of --methods, on --threads or on the GPU, and the peers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"
#include "cusparse.h"
#include "leave.h"
#include "machine.h"
#include "mkl.h"
#include "runner.h"
#include "settings.h"

bool bench_is_method(const char *name) {
  size_t length = strcspn(name, ":");
  if (length == 4 && !strncmp(name, "auto", 4)) return true;
  for (const char *line = trs_method_list(); *line; line += line[strcspn(line, "\n")] != 0) {
    const char *absent = strstr(line, "[not in this build");
    bool same = strcspn(line, " \n") == length && !strncmp(line, name, length);
    line += strcspn(line, "\n");
    if (same && (!absent || absent > line)) return true; /* another backend may have the name */
  }
  return false;
}

int bench_leave_unknown(const char *name) {
  return leave_usage(
      "bench",
      "--methods: '%s' is neither auto nor a method of this build ('trireme methods' lists them)",
      name);
}

bench_runner *bench_runners_add(bench_runners *all, const char *name, int threads) {
  if (all->count == BENCH_MOST_RUNNERS) {
    (void)leave_usage("bench", "at most %d methods times thread counts", BENCH_MOST_RUNNERS);
    return NULL;
  }
  bench_runner *r = &all->runner[all->count++];
  *r = (bench_runner){.threads = threads};
  snprintf(r->method, sizeof r->method, "%s", name);
  snprintf(r->asked, sizeof r->asked, "%s", name);
  return r;
}

/* A comma before "key=value" belongs to the method's parameters. */
bool bench_next_method(const char **list, char *name, size_t size) {
  size_t used = 0;
  *name = 0;
  while (**list) {
    size_t length = strcspn(*list, ",");
    bool value = memchr(*list, '=', length) && !memchr(*list, ':', length);
    if (used && !value) break;
    used += (size_t)snprintf(name + used, size - used, used ? ",%.*s" : "%.*s", (int)length, *list);
    if (used >= size) used = size - 1; /* cut, which bench_check_methods reports */
    *list += strcspn(*list, ",");
    *list += **list == ',';
  }
  return used > 0;
}

int bench_check_methods(const char *list) {
  char name[64];
  int count = 0;
  for (; bench_next_method(&list, name, sizeof name); count++)
    if (strlen(name) == sizeof name - 1)
      return leave_usage("bench", "--methods: '%s...' is longer than the %d characters of a result",
                         name, (int)sizeof name - 2);
  return count ? -1 : leave_usage("bench", "--methods names no method");
}

/* ---- On the CPU ---- */

/* serial has one thread; auto gets the largest number, once; the others every number. */
static int add_on_threads(bench_runners *all, const bench_settings *set, const char *name,
                          int threads) {
  char where[32] = "serial";
  bool alone = !strcmp(name, "serial") || (!strcmp(name, "auto") && threads == 1);
  if (!alone) snprintf(where, sizeof where, "threads:%d", threads);
  bench_runner *r = bench_runners_add(all, name, threads);
  if (!r) return LEAVE_USAGE;
  r->tune = set->tune;
  return trs_context_create(&r->ctx, where) ? leave_library("--threads") : -1;
}

static int add_method(bench_runners *all, const bench_settings *set, const char *name,
                      const bench_counts *threads) {
  int code = -1;
  if (!bench_is_method(name)) return bench_leave_unknown(name);
  if (!strcmp(name, "serial")) return add_on_threads(all, set, name, 1);
  if (!strcmp(name, "auto")) return add_on_threads(all, set, name, (int)threads->most);
  for (int t = 0; code < 0 && t < threads->count; t++)
    code = add_on_threads(all, set, name, (int)threads->value[t]);
  return code;
}

static int add_mkl(bench_runners *all, const bench_counts *threads) {
  const char *missing = bench_mkl_load();
  if (missing) {
    notify("bench: without oneMKL: %s", missing);
    return -1;
  }
  if (!bench_runners_add(all, "mkl", 1)) return LEAVE_USAGE;
  return threads->most == 1 || bench_runners_add(all, "mkl", (int)threads->most) ? -1 : LEAVE_USAGE;
}

static int open_on_cpu(bench_runners *all, const bench_settings *set) {
  enum { MOST_THREADS = 1024 };
  const char *names = set->methods ? set->methods : "serial,threads,auto";
  char name[64];
  bench_counts threads;
  int code = bench_counts_parse(&threads, "threads", set->threads, MOST_THREADS);
  if (code < 0 && !threads.count)
    threads = (bench_counts){{bench_machine_look()->cores}, bench_machine_look()->cores, 1};
  all->threads = (int)threads.most;
  while (code < 0 && bench_next_method(&names, name, sizeof name))
    code = add_method(all, set, name, &threads);
  return code < 0 && !set->peer ? add_mkl(all, &threads) : code;
}

/* ---- On a GPU ---- */

static int add_on_gpu(bench_runners *all, const bench_settings *set, const char *name) {
  char where[32];
  bench_runner *r = bench_runners_add(all, name, 1);
  if (!r) return LEAVE_USAGE;
  if (bench_cusparse_algorithm(name) >= 0) return -1;
  if (!bench_is_method(name)) return bench_leave_unknown(name);
  snprintf(where, sizeof where, "cuda:%d", set->device);
  if (!all->gpu && trs_context_create(&all->gpu, where)) return leave_library("--backend");
  r->ctx = all->gpu;
  r->tune = set->tune;
  return -1;
}

/* The engine with values stored as floats. */
static int add_narrow(bench_runners *all, const bench_settings *set) {
  int code = add_on_gpu(all, set, bench_is_method("engine") ? "engine" : "auto");
  if (code >= 0) return code;
  bench_runner *r = &all->runner[all->count - 1];
  snprintf(r->method, sizeof r->method, "engine+f32");
  r->store = TRS_STORE_MIXED;
  return -1;
}

/* Adds cuSPARSE if requested; if it is unavailable, the run continues if other runners exist. */
static int load_peer(bench_runners *all) {
  int kept = 0;
  const char *missing = bench_cusparse_load();
  if (!missing) return -1;
  for (int i = 0; i < all->count; i++)
    if (all->runner[i].ctx) all->runner[kept++] = all->runner[i];
  all->count = kept;
  if (!kept)
    return leave(LEAVE_UNAVAILABLE, trs_status_name(TRS_ERROR_UNSUPPORTED), -1, "cuSPARSE: %s",
                 missing);
  notify("bench: without cuSPARSE: %s", missing);
  return -1;
}

static bool has_peer(const bench_runners *all) {
  for (int i = 0; i < all->count; i++)
    if (!all->runner[i].ctx) return true;
  return false;
}

/* Newer algorithms of cuSPARSE that the loaded library has. */
static int add_newer(bench_runners *all, const bench_settings *set) {
  int code = -1;
  for (int k = 1; k < bench_cusparse_known() && code < 0; k++)
    code = add_on_gpu(all, set, bench_cusparse_name[k]);
  return code;
}

static int check_known(const bench_runners *all) {
  for (int i = 0; i < all->count; i++)
    if (!all->runner[i].ctx &&
        bench_cusparse_algorithm(all->runner[i].method) >= bench_cusparse_known())
      return leave(LEAVE_UNAVAILABLE, trs_status_name(TRS_ERROR_UNSUPPORTED), -1,
                   "%s: it came with cuSPARSE 12.9, and this is %s: name a newer one by "
                   "TRIREME_CUSPARSE",
                   all->runner[i].method, bench_cusparse_version());
  return -1;
}

static int open_on_gpu(bench_runners *all, const bench_settings *set) {
  const char *names = set->methods ? set->methods : "auto";
  char name[64];
  int code = -1;
  while (code < 0 && bench_next_method(&names, name, sizeof name))
    code = add_on_gpu(all, set, name);
  if (code < 0 && set->store) code = add_narrow(all, set);
  bool best = code < 0 && !set->peer && !has_peer(all);
  if (best) code = add_on_gpu(all, set, bench_cusparse_name[0]);
  if (code < 0) code = bench_cuda_open(set->device);
  if (code < 0 && has_peer(all)) code = load_peer(all);
  if (code < 0 && best && has_peer(all)) code = add_newer(all, set);
  return code < 0 ? check_known(all) : code;
}

/* ---- On an OpenCL device, from host memory ---- */

static int open_on_opencl(bench_runners *all, const bench_settings *set) {
  const char *names = set->methods;
  char name[64];
  if (trs_context_create(&all->gpu, set->backend)) return leave_library("--backend");
  while (bench_next_method(&names, name, sizeof name)) {
    bench_runner *r = bench_runners_add(all, name, 1);
    if (!r) return LEAVE_USAGE;
    if (!bench_is_method(name)) return bench_leave_unknown(name);
    r->ctx = all->gpu;
  }
  return -1;
}

bool bench_on_opencl(const bench_settings *set) {
  static const char name[] = "opencl";
  const size_t length = sizeof name - 1;
  return set->backend && !strncmp(set->backend, name, length) &&
         (!set->backend[length] || set->backend[length] == ':');
}

int bench_runners_reserve(bench_runners *all) {
  *all = (bench_runners){.runner = calloc(BENCH_MOST_RUNNERS, sizeof *all->runner)};
  return all->runner ? -1 : leave_memory(BENCH_MOST_RUNNERS * sizeof *all->runner, "the timings");
}

int bench_runners_open(bench_runners *all, const bench_settings *set) {
  int code = set->methods ? bench_check_methods(set->methods) : -1;
  if (code < 0) code = bench_runners_reserve(all);
  if (code >= 0) return code;
  all->set = set;
  if (bench_on_opencl(set)) return open_on_opencl(all, set);
  return set->device < 0 ? open_on_cpu(all, set) : open_on_gpu(all, set);
}

void bench_runners_close(bench_runners *all) {
  for (int i = 0; i < all->count; i++)
    if (all->runner[i].ctx != all->gpu) trs_context_destroy(all->runner[i].ctx);
  trs_context_destroy(all->gpu);
  free(all->runner);
}
