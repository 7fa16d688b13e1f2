/* run.c - a run: every entry of the suite, its triangles, all runners on each; then the means. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "leave.h"
#include "output.h"
#include "progress.h"
#include "trireme.h"

typedef struct run_state {
  const bench_settings *set;
  bench_suite suite;
  bench_runners runners;
  bench_rows rows;
  FILE *out;
  int64_t skipped, failed, wrong;
  int worst; /* how to leave because of an entry that failed */
} run_state;

static struct { double begin, span; /* the share of the run that the system in work is */ } now;

static void tick(const char *name, double done) {
  progress_show(NULL, name, now.begin + now.span * done);
}

void bench_notice(const char *entry, const char *text) {
  notify("bench: skipped %s: %s", entry, text);
}

/* Threads that share their cores wait for one another much longer than they work. */
static void warn_of_load(void) {
  double load = bench_machine_look()->load;
  if (load > 0.5) notify("bench: the load is %.1f before the run: times will be off", load);
}

static bool on_gpu(const run_state *run) { return run->set->device >= 0; }

/* The rows from first on, to the file, to standard output, and as a line of the table. */
static void publish(run_state *run, int64_t first) {
  progress_end();
  for (int64_t i = first; i < run->rows.count; i++) {
    bench_row *row = &run->rows.row[i];
    run->wrong += row->wrong;
    snprintf(row->suite, sizeof row->suite, "%s", run->suite.name);
    if (run->out) bench_row_write(run->out, row);
    if (run->set->json) bench_row_write(stdout, row);
  }
  if (run->set->json || run->rows.count == first) return;
  if (on_gpu(run))
    bench_gpu_live_line(&run->runners, &run->rows, first);
  else
    bench_live_line(&run->rows, first);
}

static int run_on_gpu(run_state *run, const bench_system *system) {
  const bench_settings *set = run->set;
  bench_gpu gpu;
  int code = bench_gpu_open(&gpu, run->runners.gpu, system, set);
  for (int k = 0; k < set->nrhs.count && code < 0; k++) {
    int64_t first = run->rows.count;
    code =
        bench_measure_gpu(&run->rows, &run->runners, &gpu, set->nrhs.value[k], set->seconds, tick);
    publish(run, first);
  }
  bench_gpu_close(&gpu);
  return code;
}

static int run_on_cpu(run_state *run, bench_system *system) {
  const bench_settings *set = run->set;
  int code = -1;
  for (int k = 0; k < set->nrhs.count && code < 0; k++) {
    int64_t first = run->rows.count;
    system->nrhs = set->nrhs.value[k];
    code = bench_measure(&run->rows, &run->runners, system, set->seconds, tick);
    publish(run, first);
  }
  return code;
}

static int run_triangle(run_state *run, const char *entry, const bench_source *source,
                        trs_uplo uplo) {
  bench_system system = {.name = entry, .nrhs = 1};
  int code = bench_system_take(&system, source, uplo) ? leave_library(entry) : -1;
  bool diagonal = code < 0 && !system.info.nlower && !system.info.nupper;
  if (diagonal) bench_notice(entry, uplo == TRS_LOWER ? "L is a diagonal" : "U is a diagonal");
  if (code < 0 && !diagonal)
    code = on_gpu(run) ? run_on_gpu(run, &system) : run_on_cpu(run, &system);
  bench_system_free(&system);
  return code;
}

/* An entry that fails is said and counted; the run goes on. */
static void run_entry(run_state *run, int64_t at) {
  const char *entry = run->suite.entry[at];
  char skipped[1200];
  bench_source source;
  int code = bench_source_open(&source, entry, skipped, sizeof skipped) ? leave_library(entry) : -1;
  if (*skipped) {
    bench_notice(entry, skipped);
    run->skipped++;
  }
  for (int u = 0; u < 2 && code < 0 && !*skipped; u++) {
    now.span = 0.5 / (double)run->suite.count;
    now.begin = (2.0 * (double)at + u) * now.span;
    if (run->set->uplo == 2 || run->set->uplo == u)
      code = run_triangle(run, entry, &source, u == 0 ? TRS_LOWER : TRS_UPPER);
  }
  bench_source_close(&source);
  run->failed += code >= 0;
  if (code > run->worst) run->worst = code;
}

static int sum_up(run_state *run) {
  bench_groups groups = {0};
  bool gpu = on_gpu(run);
  int code = bench_groups_make(&groups, &run->rows, gpu);
  if (code < 0 && !run->set->json && groups.count) {
    if (gpu)
      bench_gpu_means(&groups, false);
    else
      bench_means_print(&groups, false);
  }
  if (code < 0 && run->set->svg && groups.count) code = bench_draw(&groups, gpu, run->set->svg);
  if (code < 0 && run->set->svg && !groups.count)
    notify("bench: there is nothing to draw: %s is not written", human_name(run->set->svg).s);
  free(groups.group);
  return code;
}

static int finish(run_state *run) {
  int code = sum_up(run);
  if (run->skipped || run->failed)
    notify("bench: %lld of %lld matrices skipped, %lld failed", (long long)run->skipped,
           (long long)run->suite.count, (long long)run->failed);
  if (code >= 0) return code;
  if (run->wrong)
    return leave(LEAVE_NUMERICAL, "backward error", -1,
                 "%s with a backward error that is not small",
                 human_things(run->wrong, "result is WRONG,", "results are WRONG,").s);
  return run->worst;
}

void bench_svg_path(char *path, size_t size, const char *prefix, const char *name) {
  size_t length = strlen(prefix);
  if (length > 4 && !strcmp(prefix + length - 4, ".svg")) length -= 4;
  snprintf(path, size, "%.*s-%s.svg", (int)length, prefix, name);
}

int bench_out_open(FILE **out, const bench_settings *set) {
  *out = set->out ? fopen(set->out, "w") : NULL;
  if (*out || !set->out) return -1;
  return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FILE), -1, "%s: cannot be written: %s",
               set->out, strerror(errno));
}

int bench_out_close(FILE *out, const bench_settings *set, int code) {
  if (!out) return code;
  bool failed = ferror(out);
  failed |= fclose(out) != 0;
  if (!failed || code > LEAVE_NUMERICAL) return code;
  return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FILE), -1, "%s: could not be written whole",
               set->out);
}

int bench_run(const bench_settings *set) {
  run_state run = {.set = set};
  const char *usual = set->device < 0 ? "cpu" : "gpu";
  int code = bench_suite_read(&run.suite, set->suite ? set->suite : usual);
  if (code < 0) code = bench_runners_open(&run.runners, set);
  if (code < 0) code = bench_out_open(&run.out, set);
  if (code < 0) {
    if (set->device < 0) warn_of_load();
    progress_begin();
    if (!set->json && set->device < 0) bench_live_head(&run.runners);
    if (!set->json && set->device >= 0) bench_gpu_live_head(&run.runners);
    for (int64_t i = 0; i < run.suite.count && !output_lost(); i++) run_entry(&run, i);
    progress_end();
    code = bench_out_close(run.out, set, finish(&run));
  }
  bench_runners_close(&run.runners);
  bench_suite_free(&run.suite);
  bench_rows_free(&run.rows);
  return code;
}
