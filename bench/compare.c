/* compare.c - compares two files of results: rows that match by matrix, triangle, right-hand sides,
 * method and threads, and the speed of the second relative to the first. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "experiment.h"
#include "groups.h"
#include "leave.h"
#include "output.h"
#include "row.h"

enum { MOST_METHODS = 64 };

typedef struct pair {
  const bench_row *before, *after;
  int method;
} pair;

typedef struct comparison {
  pair *pair;
  int64_t count, lone; /* lone: rows without a match */
  char name[MOST_METHODS][80];
  bench_mean mean[MOST_METHODS];
  int methods;
} comparison;

static bool same_grids(const bench_row *a, const bench_row *b) {
  return a->px == b->px && a->py == b->py && a->pz == b->pz && a->homes == b->homes &&
         a->inverted == b->inverted && !strcmp(a->kind, b->kind) && !strcmp(a->trees, b->trees);
}

/* Of b and x on several GPUs; "" on the first one. */
static const char *place_of(const bench_row *row) {
  return strcmp(row->place, "first") ? row->place : "";
}

static bool match(const bench_row *a, const bench_row *b) {
  return bench_same_system(a, b) && a->threads == b->threads && a->block_size == b->block_size &&
         !strcmp(a->method, b->method) && !strcmp(a->backend, b->backend) &&
         !strcmp(place_of(a), place_of(b)) && !strcmp(a->store, b->store) && same_grids(a, b);
}

static double gain(const pair *p) {
  double before = bench_row_seconds(p->before), after = bench_row_seconds(p->after);
  bool good = !p->before->wrong && !p->after->wrong && before > 0 && after > 0;
  return good ? before / after : NAN;
}

/* "threads:2", "auto:4 spread"; -1 if the limit is reached. */
static int method_of(comparison *c, const bench_row *row) {
  char name[80], many[24] = "";
  if (row->threads > 1) snprintf(many, sizeof many, ":%lld", (long long)row->threads);
  snprintf(name, sizeof name, "%.48s%s%s%s", row->method, many, *place_of(row) ? " " : "",
           place_of(row));
  for (int m = 0; m < c->methods; m++)
    if (!strcmp(c->name[m], name)) return m;
  if (c->methods == MOST_METHODS) return -1;
  memcpy(c->name[c->methods], name, sizeof name);
  return c->methods++;
}

/* The first matching row without a partner so far, of the same suite if one exists. */
static int64_t partner_of(const bench_row *row, const bench_rows *after, const bool *taken) {
  int64_t other = after->count;
  for (int64_t k = after->count; k-- > 0;)
    if (!taken[k] && match(row, &after->row[k])) other = k;
  for (int64_t k = other; k < after->count; k++)
    if (!taken[k] && !strcmp(row->suite, after->row[k].suite) && match(row, &after->row[k]))
      return k;
  return other;
}

static int make_pairs(comparison *c, const bench_rows *before, const bench_rows *after) {
  bool *taken = calloc((size_t)after->count, sizeof *taken);
  c->pair = malloc((size_t)before->count * sizeof *c->pair);
  for (int64_t i = 0; taken && c->pair && i < before->count; i++) {
    int64_t k = partner_of(&before->row[i], after, taken);
    int method = k < after->count ? method_of(c, &before->row[i]) : -1;
    if (method < 0) continue;
    taken[k] = true;
    c->pair[c->count] = (pair){&before->row[i], &after->row[k], method};
    bench_mean_add(&c->mean[method], gain(&c->pair[c->count]), c->count);
    c->count++;
  }
  c->lone = before->count + after->count - 2 * c->count;
  bool room = taken && c->pair;
  free(taken);
  if (!room) return leave_memory((double)before->count * sizeof *c->pair, "the comparison");
  if (c->count) return -1;
  return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FORMAT), -1,
               "the files have no system, method and thread count in common");
}

/* Milliseconds; "-": a program gave no answer. */
static void print_milliseconds(const bench_row *row) {
  const double seconds = bench_row_seconds(row);
  if (isnan(seconds))
    printf(" %10s", "-");
  else
    printf(" %10.4f", 1e3 * seconds);
}

static void print_pairs(const comparison *c) {
  char label[37];
  printf("%s%-36s %-12s %10s %10s %8s%s\n", style_on(STYLE_BOLD), "system", "method", "before, ms",
         "after, ms", "gain", style_off());
  for (int64_t i = 0; i < c->count; i++) {
    const pair *p = &c->pair[i];
    bench_label(label, sizeof label, p->before);
    printf("%-36s %-12s", label, c->name[p->method]);
    print_milliseconds(p->before);
    print_milliseconds(p->after);
    printf(" %8s\n", isnan(gain(p)) ? "WRONG" : human_times(gain(p)).s);
  }
}

static void print_extreme(const comparison *c, const char *word, double value, int64_t at) {
  char label[40];
  bench_label(label, sizeof label, c->pair[at].before);
  printf("  %s %s (%s)", word, human_times(value).s, label);
}

static void print_means(const comparison *c) {
  printf("\n%sGeometric means%s of before/after, above 1 is faster\n", style_on(STYLE_BOLD),
         style_off());
  for (int m = 0; m < c->methods; m++) {
    const bench_mean *mean = &c->mean[m];
    if (!mean->count) continue;
    printf("  %-12s %6s over %lld", c->name[m], human_times(bench_mean_value(mean)).s,
           (long long)mean->count);
    print_extreme(c, "worst", mean->least, mean->least_at);
    print_extreme(c, "best", mean->most, mean->most_at);
    printf("\n");
  }
  if (c->lone) printf("  %s without a partner\n", human_things(c->lone, "row", "rows").s);
}

/* One row of the chart per system, one series per method. */
static void fill_chart(bench_chart *chart, const comparison *c) {
  chart->rows = 0;
  for (int64_t i = 0; i < c->count; i++) {
    char label[64];
    int64_t at = 0;
    bench_label(label, sizeof label, c->pair[i].before);
    while (at < chart->rows && strcmp(chart->label[at], label) != 0) at++;
    if (at == chart->rows) memcpy(chart->label[chart->rows++], label, sizeof label);
    if (c->pair[i].method < chart->series)
      chart->value[at * chart->series + c->pair[i].method] = gain(&c->pair[i]);
  }
}

static int draw(const comparison *c, const char *before, const char *after, const char *path) {
  bench_chart chart = {.title = "Triangular solves, before and after",
                       .axis = "before / after, logarithmic: right of 1 is faster",
                       .series = c->methods < BENCH_MOST_SERIES ? c->methods : BENCH_MOST_SERIES};
  int code = bench_chart_open(&chart, c->count);
  if (code >= 0) return code;
  snprintf(chart.subtitle, sizeof chart.subtitle, "%.100s against %.100s, fastest solves", after,
           before);
  memcpy(chart.name, c->name, sizeof chart.name);
  fill_chart(&chart, c);
  return bench_chart_write(&chart, path);
}

int bench_compare(const char *before, const char *after, const char *svg) {
  bench_rows old = {0}, new = {0};
  comparison c = {0};
  int code = bench_rows_read(&old, before);
  if (code < 0) code = bench_rows_read(&new, after);
  if (code < 0) code = make_pairs(&c, &old, &new);
  if (code < 0) {
    print_pairs(&c);
    print_means(&c);
    const bench_experiment *e = bench_experiment_of(&old);
    if (e->compare && e == bench_experiment_of(&new)) e->compare(&old, &new);
  }
  if (code < 0 && svg) code = draw(&c, before, after, svg);
  free(c.pair);
  bench_rows_free(&old);
  bench_rows_free(&new);
  return code < 0 ? LEAVE_SOLVED : code;
}
