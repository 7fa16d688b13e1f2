/* runners.c - who is timed: --methods on --threads, then the peers. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "command.h"
#include "output.h"

enum { MOST_COUNTS = 16 };

typedef struct thread_counts {
  int value[MOST_COUNTS], count, most;
} thread_counts;

static bool is_method(const char *name, size_t length) {
  if (length == 4 && !strncmp(name, "auto", 4)) return true;
  for (const char *line = trs_method_list(); *line; line += line[strcspn(line, "\n")] != 0) {
    if (strcspn(line, " \n") == length && !strncmp(line, name, length)) return true;
    line += strcspn(line, "\n");
  }
  return false;
}

/* serial has one thread; auto gets the most, once; the rest every count. */
static int add(bench_runners *all, const char *name, size_t length, int threads, bool peer) {
  if (all->count == BENCH_MOST_RUNNERS)
    return leave_usage("bench", "at most %d methods times thread counts", BENCH_MOST_RUNNERS);
  bench_runner *r = &all->runner[all->count];
  char where[32] = "serial";
  *r = (bench_runner){.threads = threads};
  snprintf(r->method, sizeof r->method, "%.*s", (int)length, name);
  if (threads > 1) snprintf(where, sizeof where, "threads:%d", threads);
  if (!peer && strcmp(r->method, "serial") && strcmp(r->method, "auto"))
    snprintf(where, sizeof where, "threads:%d", threads);
  if (!peer && trs_context_create(&r->ctx, where)) return leave_library("--threads");
  all->count++;
  return -1;
}

static int add_method(bench_runners *all, const char *name, size_t length,
                      const thread_counts *threads) {
  if (!is_method(name, length))
    return leave_usage("bench", "--methods: '%.*s' is neither auto nor in 'trireme methods'",
                       (int)length, name);
  if (length == 6 && !strncmp(name, "serial", 6)) return add(all, name, length, 1, false);
  if (length == 4 && !strncmp(name, "auto", 4)) return add(all, name, length, threads->most, false);
  int code = -1;
  for (int t = 0; code < 0 && t < threads->count; t++)
    code = add(all, name, length, threads->value[t], false);
  return code;
}

static int parse_threads(thread_counts *threads, const char *list) {
  for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',') {
    char *end;
    long value = strtol(at, &end, 10);
    if (end == at || (*end && *end != ',') || value < 1 || value > 1024 ||
        threads->count == MOST_COUNTS)
      return leave_usage("bench",
                         "--threads takes up to %d numbers from 1 to 1024, such as 1,2,4, "
                         "not '%s'",
                         MOST_COUNTS, list);
    threads->value[threads->count++] = (int)value;
  }
  if (!threads->count) threads->value[threads->count++] = bench_machine_look()->cores;
  for (int t = 0; t < threads->count; t++)
    if (threads->value[t] > threads->most) threads->most = threads->value[t];
  return -1;
}

static int add_peers(bench_runners *all, const bench_settings *set, const thread_counts *threads) {
  if (set->peer) return -1;
  const char *missing = bench_mkl_load();
  if (missing) fprintf(stderr, "trireme: bench: without oneMKL: %s\n", missing);
  int code = missing ? -1 : add(all, "mkl", 3, 1, true);
  if (!missing && code < 0 && threads->most > 1) code = add(all, "mkl", 3, threads->most, true);
  return code;
}

int bench_runners_open(bench_runners *all, const bench_settings *set) {
  const char *names = set->methods ? set->methods : "serial,threads,auto";
  thread_counts threads = {0};
  *all = (bench_runners){.runner = calloc(BENCH_MOST_RUNNERS, sizeof *all->runner)};
  if (!all->runner) return leave_memory(BENCH_MOST_RUNNERS * sizeof *all->runner, "the timings");
  int code = parse_threads(&threads, set->threads);
  while (code < 0 && *names) {
    size_t length = strcspn(names, ",");
    code = add_method(all, names, length, &threads);
    names += length + (names[length] == ',');
  }
  return code < 0 ? add_peers(all, set, &threads) : code;
}

void bench_runners_close(bench_runners *all) {
  for (int i = 0; i < all->count; i++) trs_context_destroy(all->runner[i].ctx);
  free(all->runner);
}
