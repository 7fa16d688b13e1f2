/* tail.c - trireme bench tail: how slow the slowest plans are.  Many systems that a seed draws,
 * each with plans made anew, on a few numbers of threads, in surroundings that take processors
 * away. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "experiment.h"
#include "grid.h"
#include "leave.h"
#include "lot.h"
#include "machine.h"
#include "output.h"
#include "row.h"
#include "run.h"
#include "runner.h"
#include "settings.h"
#include "surroundings.h"
#include "system.h"

/* Many short rounds: a disturbance of milliseconds falls on all runners. */
enum { MOST_SURROUNDINGS = 16, ROUNDS = 15 };

typedef struct tail {
  bench_runners runners;
  bool wanted[MOST_SURROUNDINGS];
  bench_losses losses[MOST_SURROUNDINGS];
  int threads;
} tail;

static const char *name_of(int k) { return bench_surroundings[k].name; }

/* The surroundings of --parts, or all. */
static int choose_surroundings(tail *t, const char *list) {
  int chosen = 0;
  for (int k = 0; name_of(k); k++) t->wanted[k] = !list;
  for (size_t length; list && *list; list += length + (list[length] == ',')) {
    length = strcspn(list, ",");
    int k = 0;
    while (name_of(k) && !(strlen(name_of(k)) == length && !strncmp(name_of(k), list, length))) k++;
    if (!name_of(k))
      return leave_usage("bench", "--parts: '%.*s' is no surrounding of tail (see --help)",
                         (int)length, list);
    t->wanted[k] = true;
    chosen++;
  }
  return list && !chosen ? leave_usage("bench", "--parts names no surrounding") : -1;
}

static int add_runner(bench_runners *all, const char *method, int threads) {
  char where[32] = "serial";
  if (threads > 1) snprintf(where, sizeof where, "threads:%d", threads);
  bench_runner *r = bench_runners_add(all, method, threads);
  if (!r) return LEAVE_USAGE;
  return trs_context_create(&r->ctx, where) ? leave_library("--threads") : -1;
}

/* serial, auto on one thread, and threads and auto on each number of threads. */
static int open_runners(tail *t, const bench_settings *set) {
  enum { MOST_THREADS = 1024 };
  bench_runners *all = &t->runners;
  bench_counts threads;
  int code = bench_counts_parse(&threads, "threads", set->threads, MOST_THREADS);
  if (code < 0 && !threads.count)
    threads = (bench_counts){{bench_machine_look()->cores}, bench_machine_look()->cores, 1};
  if (code < 0) code = bench_runners_reserve(all);
  all->fresh = 1;
  all->rounds = ROUNDS;
  t->threads = (int)threads.most;
  if (code < 0) code = add_runner(all, "serial", 1);
  if (code < 0) code = add_runner(all, "auto", 1);
  for (int k = 0; k < threads.count && code < 0; k++) {
    if (threads.value[k] == 1) continue;
    code = add_runner(all, "threads", (int)threads.value[k]);
    if (code < 0) code = add_runner(all, "auto", (int)threads.value[k]);
  }
  return code;
}

static int run_in(bench_run *run, bench_system *system, int k) {
  tail *t = run->own;
  char suite[64];
  const int64_t first = run->rows.count;
  const char *why = bench_surrounding_begin(k, bench_machine_look()->cores);
  const bench_losses before = bench_losses_now();
  int code = why ? -1 : bench_measure(&run->rows, &t->runners, system, run->set->seconds);
  const bench_losses after = bench_losses_now();
  bench_surrounding_end();
  t->losses[k].stolen += after.stolen - before.stolen;
  t->losses[k].switches += after.switches - before.switches;
  snprintf(suite, sizeof suite, "tail %s", name_of(k));
  bench_run_publish(run, suite, first);
  if (why) {
    notify("bench: without '%s': this machine has %s", name_of(k), why);
    t->wanted[k] = false;
  }
  return code;
}

static int run_system(bench_run *run, bench_system *system) {
  tail *t = run->own;
  int code = -1;
  for (int k = 0; name_of(k) && code < 0; k++)
    if (t->wanted[k]) code = run_in(run, system, k);
  return code;
}

/* ---- The report ---- */

typedef struct ratio {
  double value;
  const bench_row *row;
} ratio;

static int compare_ratios(const void *a, const void *b) {
  const double x = ((const ratio *)a)->value, y = ((const ratio *)b)->value;
  return (x > y) - (x < y);
}

static const bench_row *beside(const bench_rows *rows, const bench_row *row, const char *method,
                               int64_t threads) {
  for (int64_t i = 0; i < rows->count; i++) {
    const bench_row *other = &rows->row[i];
    if (!strcmp(other->suite, row->suite) && !strcmp(other->method, method) &&
        other->threads == threads && bench_same_system(other, row))
      return other;
  }
  return NULL;
}

static double median_of(const bench_row *row) { return row ? bench_median(row) : INFINITY; }

/* Where auto on one thread takes serial, two plans do the same: the larger time over the smaller is
 * the noise of a ratio. */
typedef enum kind { OVER_ONE_THREAD, OF_SEVERAL_THREADS, OVER_THREADS, NOISE } kind;

static bool has_several_threads(const bench_row *row) {
  return strcmp(row->chosen, "serial") != 0 && strcmp(row->chosen, "panels") != 0;
}

static double ratio_of(const bench_rows *rows, const bench_row *row, kind what) {
  const bench_row *alone = beside(rows, row, "auto", 1);
  const double serial = median_of(beside(rows, row, "serial", 1)), one = median_of(alone);
  if (what == OVER_THREADS)
    return row->median / median_of(beside(rows, row, "threads", row->threads));
  if (what == NOISE)
    return alone && !strcmp(alone->chosen, "serial") ? fmax(serial, one) / fmin(serial, one) : NAN;
  if (what == OF_SEVERAL_THREADS && !has_several_threads(row)) return NAN;
  return row->median / fmin(serial, one);
}

static int64_t collect(ratio *ratios, const bench_rows *rows, const char *suite, int64_t threads,
                       kind what) {
  int64_t count = 0;
  for (int64_t i = 0; i < rows->count; i++) {
    const bench_row *row = &rows->row[i];
    if (strcmp(row->suite, suite) || strcmp(row->method, "auto") || row->threads != threads ||
        row->wrong)
      continue;
    const double value = ratio_of(rows, row, what);
    if (isfinite(value)) ratios[count++] = (ratio){value, row};
  }
  if (count) qsort(ratios, (size_t)count, sizeof *ratios, compare_ratios);
  return count;
}

static double at(const ratio *ratios, int64_t count, double share) {
  return ratios[(int64_t)(share * (double)(count - 1) + 0.5)].value;
}

/* Of the systems above 0.1 ms by serial, the geometric mean of the speed over serial. */
static double gain_of(const bench_rows *rows, const ratio *ratios, int64_t count) {
  static const double LARGE = 1e-4;
  double sum = 0;
  int64_t terms = 0;
  for (int64_t i = 0; i < count; i++) {
    const double serial = median_of(beside(rows, ratios[i].row, "serial", 1));
    if (serial < LARGE || !isfinite(serial)) continue;
    sum += log(serial / ratios[i].row->median);
    terms++;
  }
  return terms ? exp(sum / (double)terms) : NAN;
}

static void add_shares(bench_grid *grid, const ratio *ratios, int64_t count, const double *shares,
                       int nshares) {
  double cells[4];
  for (int k = 0; k < nshares; k++) cells[k] = count ? at(ratios, count, shares[k]) : NAN;
  bench_grid_ratios(grid, cells, nshares);
}

static void add_line(bench_grid *grid, const bench_rows *rows, const char *suite, int64_t threads,
                     ratio *ratios) {
  static const double SHARES[] = {0.5, 0.9, 0.99, 1};
  char label[64];
  int64_t count = collect(ratios, rows, suite, threads, OVER_ONE_THREAD);
  if (!count) return;
  const double gain = gain_of(rows, ratios, count);
  bench_label(label, sizeof label, ratios[count - 1].row);
  bench_grid_add(grid, suite + strlen("tail "));
  bench_grid_put(grid, "%lld", (long long)threads);
  bench_grid_put(grid, "%lld", (long long)count);
  add_shares(grid, ratios, count, SHARES, 4);
  count = collect(ratios, rows, suite, threads, OF_SEVERAL_THREADS);
  bench_grid_put(grid, "%lld", (long long)count);
  add_shares(grid, ratios, count, SHARES + 2, 2);
  count = collect(ratios, rows, suite, threads, NOISE);
  add_shares(grid, ratios, count, SHARES + 2, 2);
  count = collect(ratios, rows, suite, threads, OVER_THREADS);
  add_shares(grid, ratios, count, SHARES, 1);
  add_shares(grid, ratios, count, SHARES + 2, 1);
  bench_grid_ratios(grid, &gain, 1);
  bench_grid_add(grid, label);
}

static bool same_kind(const bench_row *a, const bench_row *b) {
  return a->threads == b->threads && !strcmp(a->method, "auto") && !strcmp(b->method, "auto");
}

void bench_tail_report(const bench_rows *rows, bool markdown) {
  static const char *const heads[] = {"beside",       "threads",   "plans",    "median",
                                      "p90",          "p99",       "worst",    "of several",
                                      "p99",          "worst",     "noise",    "worst noise",
                                      "over threads", "their p99", "speed-up", "the worst"};
  enum { MOST_KINDS = 16 };
  bench_grid grid = {.text_last = true};
  ratio *ratios = malloc((size_t)rows->count * sizeof *ratios + 1);
  bench_grid_head(&grid, heads, sizeof heads / sizeof *heads);
  for (int k = 0; name_of(k) && ratios; k++) {
    char suite[64];
    const bench_row *kinds[MOST_KINDS];
    snprintf(suite, sizeof suite, "tail %s", name_of(k));
    const int count = bench_distinct(rows, suite, 1, same_kind, kinds, MOST_KINDS);
    for (int i = 0; i < count; i++)
      if (!strcmp(kinds[i]->method, "auto") && kinds[i]->threads > 1)
        add_line(&grid, rows, suite, kinds[i]->threads, ratios);
  }
  bench_grid_print(
      &grid,
      "The time of auto over that of the better plan of one thread (serial, or auto on "
      "one thread), medians of solves; of several: where auto took several threads; noise: the "
      "larger over the smaller time of both plans of one thread where both are serial, p99; "
      "speed-up: over serial, above 0.1 ms",
      markdown);
  free(ratios);
}

static void print_losses(const tail *t) {
  for (int k = 0; name_of(k); k++)
    if (t->wanted[k] && !output_json())
      printf("%-9s %s; the threads lost their processors %s times, the host took %s\n", name_of(k),
             bench_surroundings[k].text, human_count(t->losses[k].switches).s,
             human_seconds(t->losses[k].stolen).s);
}

int bench_tail(const bench_settings *set) {
  tail t = {.threads = 0};
  bench_run run = {.set = set, .own = &t};
  int code =
      set->suite ? bench_suite_read(&run.suite, set->suite) : bench_tail_draw(&run.suite, set);
  if (code < 0) code = choose_surroundings(&t, set->parts);
  if (code < 0) code = open_runners(&t, set);
  if (code < 0) code = bench_out_open(&run.out, set);
  if (code < 0) {
    bench_run_systems(&run, set->uplo, run_system);
    if (!set->json) bench_tail_report(&run.rows, false);
    print_losses(&t);
  }
  bench_runners_close(&t.runners);
  return bench_run_close(&run, code);
}
