/* run.c - a run over a suite. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "leave.h"
#include "output.h"
#include "progress.h"

#include "run.h"

/* The current system's fraction of the run, and the current part of that fraction. */
static struct {
  double begin, span;
  int part, parts;
} now = {.parts = 1};

void bench_tick(const char *name, double done) {
  progress_show(NULL, name, now.begin + now.span * (now.part + done) / now.parts);
}

void bench_tick_part(int part, int parts) {
  now.part = part;
  now.parts = parts;
}

void bench_notice(const char *entry, const char *text) {
  notify("bench: skipped %s: %s", entry, text);
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

int bench_run_open(bench_run *run, const bench_settings *set, const char *suite, void *own) {
  *run = (bench_run){.set = set, .own = own};
  return bench_suite_read(&run->suite, set->suite ? set->suite : suite);
}

void bench_run_publish(bench_run *run, const char *suite, int64_t first) {
  progress_end();
  for (int64_t i = first; i < run->rows.count; i++) {
    bench_row *row = &run->rows.row[i];
    run->wrong += row->wrong;
    if (suite) snprintf(row->suite, sizeof row->suite, "%s", suite);
    if (run->out) bench_row_write(run->out, row);
    if (run->set->json) bench_row_write(stdout, row);
  }
}

static int take_triangle(bench_run *run, const char *entry, const bench_source *source,
                         trs_uplo uplo, bench_step *step) {
  bench_system system = {.name = entry, .nrhs = 1};
  int code = bench_system_take(&system, source, uplo) ? leave_library(entry) : -1;
  bool diagonal = code < 0 && !system.info.nlower && !system.info.nupper;
  if (diagonal) bench_notice(entry, uplo == TRS_LOWER ? "L is a diagonal" : "U is a diagonal");
  if (code < 0 && !diagonal) code = step(run, &system);
  bench_system_free(&system);
  return code;
}

/* A file that was drawn and is no system, such as a matrix of right-hand sides, is left out. */
static trs_status forgive_drawn(const bench_source *source, trs_status status, char *skipped,
                                size_t size) {
  trs_matrix_info info = {.struct_size = sizeof info};
  if (status) {
    snprintf(skipped, size, "%s", trs_last_error()->message);
  } else if (source->A && !trs_matrix_get_info(source->A, &info) && info.nrows != info.ncols) {
    snprintf(skipped, size, "it has %lld rows and %lld columns", (long long)info.nrows,
             (long long)info.ncols);
  }
  return TRS_SUCCESS;
}

int bench_run_entry(bench_run *run, const char *entry, int uplo, bench_step *step) {
  char skipped[1200];
  bench_source source;
  trs_status status = bench_source_open(&source, entry, skipped, sizeof skipped);
  if (run->suite.drawn && strstr(entry, "file:") && !*skipped && status != TRS_ERROR_MEMORY)
    status = forgive_drawn(&source, status, skipped, sizeof skipped);
  int code = status ? leave_library(entry) : -1;
  if (*skipped) {
    bench_notice(entry, skipped);
    run->skipped++;
  }
  for (int u = 0; u < 2 && code < 0 && !*skipped; u++) {
    if (uplo != BENCH_BOTH && uplo != u) continue;
    code = take_triangle(run, entry, &source, u == 0 ? TRS_LOWER : TRS_UPPER, step);
    now.begin += now.span;
  }
  bench_source_close(&source);
  return code;
}

void bench_run_note(bench_run *run, int code) {
  run->failed += code >= 0;
  if (code > run->worst) run->worst = code;
}

void bench_run_systems(bench_run *run, int uplo, bench_step *step) {
  int triangles = uplo == BENCH_BOTH && !run->suite.drawn ? 2 : 1;
  progress_begin();
  for (int64_t i = 0; i < run->suite.count && !output_lost(); i++) {
    now.span = 1.0 / (double)(run->suite.count * triangles);
    now.begin = (double)i / (double)run->suite.count;
    bench_triangles own = run->suite.triangles[i];
    bench_run_note(
        run, bench_run_entry(run, run->suite.entry[i], uplo == BENCH_BOTH ? (int)own : uplo, step));
  }
  progress_end();
}

static int finish(const bench_run *run) {
  if (run->skipped || run->failed)
    notify("bench: %lld of %lld matrices skipped, %lld failed", (long long)run->skipped,
           (long long)run->suite.count, (long long)run->failed);
  if (run->skipped && run->skipped == run->suite.count)
    return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FILE), -1,
                 "bench: nothing was measured, since every matrix was skipped");
  if (run->wrong && run->worst < LEAVE_NUMERICAL)
    return leave(LEAVE_NUMERICAL, "backward error", -1,
                 "%s: a backward error that is not small, or no answer",
                 human_things(run->wrong, "result is WRONG", "results are WRONG").s);
  return run->worst;
}

int bench_run_close(bench_run *run, int code) {
  if (code < 0) code = finish(run);
  code = bench_out_close(run->out, run->set, code);
  bench_suite_free(&run->suite);
  bench_rows_free(&run->rows);
  return code;
}
