/* run.c - a run: every entry of the suite, its triangles, all runners on each; then the means. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "command.h"
#include "output.h"
#include "progress.h"

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

/* A line beside the results, which may be going to standard output. */
static void notice(const char *entry, const char *text) {
  progress_end();
  fflush(stdout);
  fprintf(stderr, "trireme: bench: skipped %s: %s\n", entry, text);
}

/* Threads that share their cores wait for one another much longer than they work. */
static void warn_of_load(void) {
  double load = bench_machine_look()->load;
  if (load > 0.5)
    fprintf(stderr, "trireme: bench: the load is %.1f before the run: times will be off\n", load);
}

/* The rows from first on, to the file, to standard output, and as a line of the table. */
static void publish(run_state *run, int64_t first) {
  progress_end();
  for (int64_t i = first; i < run->rows.count; i++) {
    run->wrong += run->rows.row[i].wrong;
    if (run->out) bench_row_write(run->out, run->suite.name, &run->rows.row[i]);
    if (run->set->json) bench_row_write(stdout, run->suite.name, &run->rows.row[i]);
  }
  if (!run->set->json && run->rows.count > first) bench_live_line(&run->rows, first);
}

static int run_triangle(run_state *run, const char *entry, const bench_source *source,
                        trs_uplo uplo) {
  bench_system system = {.name = entry, .nrhs = run->set->nrhs ? run->set->nrhs : 1};
  int64_t first = run->rows.count;
  int code = bench_system_take(&system, source, uplo) ? leave_library(entry) : -1;
  bool diagonal = code < 0 && !system.info.nlower && !system.info.nupper;
  if (diagonal) notice(entry, uplo == TRS_LOWER ? "L is a diagonal" : "U is a diagonal");
  if (code < 0 && !diagonal)
    code = bench_measure(&run->rows, &run->runners, &system, run->set->seconds, tick);
  bench_system_free(&system);
  publish(run, first);
  return code;
}

/* An entry that fails is said and counted; the run goes on. */
static void run_entry(run_state *run, int64_t at) {
  const char *entry = run->suite.entry[at];
  char skipped[1200];
  bench_source source;
  int code = bench_source_open(&source, entry, skipped, sizeof skipped) ? leave_library(entry) : -1;
  if (*skipped) {
    notice(entry, skipped);
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

static int finish(run_state *run) {
  bench_groups groups = {0};
  int code = bench_groups_make(&groups, &run->rows);
  if (code < 0 && !run->set->json && groups.count) bench_means_print(&groups, false);
  free(groups.group);
  if (run->skipped || run->failed)
    fprintf(stderr, "trireme: bench: %lld of %lld matrices skipped, %lld failed\n",
            (long long)run->skipped, (long long)run->suite.count, (long long)run->failed);
  if (code >= 0) return code;
  if (run->wrong)
    return leave(LEAVE_NUMERICAL, "backward error", -1,
                 "%s with a backward error that is not small",
                 human_things(run->wrong, "result is WRONG,", "results are WRONG,").s);
  return run->worst;
}

static int open_out(run_state *run) {
  if (!run->set->out) return -1;
  run->out = fopen(run->set->out, "w");
  if (run->out) return -1;
  return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FILE), -1, "%s: cannot be written: %s",
               run->set->out, strerror(errno));
}

static int close_out(run_state *run, int code) {
  if (!run->out) return code;
  bool failed = ferror(run->out);
  failed |= fclose(run->out) != 0;
  if (!failed || code > LEAVE_NUMERICAL) return code;
  return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FILE), -1, "%s: could not be written whole",
               run->set->out);
}

int bench_run(const bench_settings *set) {
  run_state run = {.set = set};
  int code = bench_suite_read(&run.suite, set->suite ? set->suite : "cpu");
  if (code < 0) code = bench_runners_open(&run.runners, set);
  if (code < 0) code = open_out(&run);
  if (code < 0) {
    warn_of_load();
    progress_begin();
    if (!set->json) bench_live_head(&run.runners);
    for (int64_t i = 0; i < run.suite.count; i++) run_entry(&run, i);
    progress_end();
    code = close_out(&run, finish(&run));
  }
  bench_runners_close(&run.runners);
  bench_suite_free(&run.suite);
  bench_rows_free(&run.rows);
  return code;
}
