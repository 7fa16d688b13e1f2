/* groups.c - the rows of one system side by side, and the relative speed of two of them. */
#include "groups.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leave.h"
#include "runner.h"

static bench_group *find_or_add(bench_groups *groups, const bench_row *row) {
  for (int64_t g = groups->count; g-- > 0;)
    if (bench_same_system(groups->group[g].first, row)) return &groups->group[g];
  bench_group *g = &groups->group[groups->count++];
  *g = (bench_group){.first = row};
  return g;
}

/* -1: not in a column of tables. */
static int column_of(const bench_row *row, int64_t most) {
  static const struct {
    const char *method;
    bool gpu;
    int one, all;
  } columns[] = {{"serial", false, BENCH_SERIAL, -1}, {"threads", false, -1, BENCH_THREADS},
                 {"auto", false, -1, BENCH_AUTO},     {"mkl", false, BENCH_MKL_ONE, BENCH_MKL_ALL},
                 {"scipy", false, BENCH_SCIPY, -1},   {"engine", true, BENCH_ENGINE, -1},
                 {"auto", true, BENCH_ENGINE, -1},    {"engine+f32", true, BENCH_ENGINE_F32, -1}};
  if (*row->program) return BENCH_OTHER;
  if (bench_on_gpu(row) && bench_cusparse_algorithm(row->method) >= 0) return BENCH_CUSPARSE;
  for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
    if (columns[i].gpu == bench_on_gpu(row) && !strcmp(row->method, columns[i].method)) {
      bool one = columns[i].all < 0 || (columns[i].one >= 0 && row->threads == 1);
      return one ? columns[i].one : row->threads == most ? columns[i].all : -1;
    }
  return bench_on_gpu(row) || bench_is_method(row->method) ? -1 : BENCH_OTHER;
}

static bool is_slower(const bench_row *row, const bench_row *than) {
  if (row->wrong || than->wrong) return row->wrong && !than->wrong;
  return !(bench_row_seconds(row) < bench_row_seconds(than));
}

/* If the engine runs under both its names, auto's row counts. */
void bench_group_put(bench_group *g, const bench_row *row, int64_t threads) {
  int column = column_of(row, threads);
  if (column == BENCH_CUSPARSE) g->algorithm[bench_cusparse_algorithm(row->method)] = row;
  const bench_row *there = column < 0 ? NULL : g->column[column];
  if (column < 0 || (column == BENCH_ENGINE && there && !strcmp(there->method, "auto")) ||
      ((column == BENCH_CUSPARSE || column == BENCH_OTHER) && there && is_slower(row, there)))
    return;
  g->column[column] = row;
}

int bench_groups_make(bench_groups *groups, const bench_rows *rows, bool gpu) {
  *groups = (bench_groups){.group = malloc((size_t)rows->count * sizeof *groups->group + 1),
                           .threads = 1};
  if (!groups->group)
    return leave_memory((double)rows->count * sizeof *groups->group, "the results");
  for (int64_t i = 0; i < rows->count; i++)
    if (bench_on_gpu(&rows->row[i]) == gpu && rows->row[i].threads > groups->threads)
      groups->threads = rows->row[i].threads;
  for (int64_t i = 0; i < rows->count; i++) {
    if (bench_on_gpu(&rows->row[i]) != gpu) continue;
    bench_group *g = find_or_add(groups, &rows->row[i]);
    bench_group_put(g, &rows->row[i], groups->threads);
  }
  return -1;
}

int bench_distinct(const bench_rows *rows, const char *suite, int64_t nrhs,
                   bool (*same)(const bench_row *a, const bench_row *b), const bench_row **first,
                   int most) {
  int count = 0;
  for (int64_t i = 0; i < rows->count && count < most; i++) {
    const bench_row *row = &rows->row[i];
    bool known = strcmp(row->suite, suite) != 0 || (nrhs && row->nrhs != nrhs);
    for (int k = 0; k < count && !known; k++) known = same(first[k], row);
    if (!known) first[count++] = row;
  }
  return count;
}

bool bench_same_column(const bench_row *a, const bench_row *b) {
  return a->threads == b->threads && !strcmp(a->method, b->method) && !strcmp(a->place, b->place) &&
         !strcmp(a->backend, b->backend);
}

bool bench_same_nrhs(const bench_row *a, const bench_row *b) { return a->nrhs == b->nrhs; }

const bench_row *bench_at(const bench_rows *rows, const char *suite, const bench_row *system,
                          const bench_row *column) {
  for (int64_t i = 0; i < rows->count; i++) {
    const bench_row *row = &rows->row[i];
    if (!strcmp(row->suite, suite) && bench_same_system(row, system) &&
        bench_same_column(row, column))
      return row;
  }
  return NULL;
}

double bench_median(const bench_row *row) { return row && !row->wrong ? row->median : NAN; }

const bench_row *bench_find(const bench_rows *rows, const bench_row *system, const char *method) {
  for (int64_t i = 0; i < rows->count; i++)
    if (!strcmp(rows->row[i].method, method) && bench_same_system(&rows->row[i], system) &&
        bench_on_gpu(&rows->row[i]) == bench_on_gpu(system))
      return &rows->row[i];
  return NULL;
}

void bench_column_name(char *name, size_t size, bench_column column, int64_t threads) {
  static const char *const names[] = {"serial", "threads", "auto",   "mkl:1",      "mkl",
                                      "scipy",  "other",   "engine", "engine+f32", "cusparse"};
  if (column == BENCH_MKL_ALL)
    snprintf(name, size, "mkl:%lld", (long long)threads);
  else
    snprintf(name, size, "%s", names[column]);
}

static double seconds(const bench_group *group, bench_column column) {
  const bench_row *row = group->column[column];
  return row && !row->wrong && bench_row_seconds(row) > 0 ? bench_row_seconds(row) : NAN;
}

double bench_gain(const bench_group *group, bench_column fast, bench_column slow) {
  return seconds(group, slow) / seconds(group, fast);
}

double bench_break_even(const bench_row *fast, const bench_row *slow) {
  double later = fast->analysis - slow->analysis;
  double gain = bench_row_seconds(slow) - bench_row_seconds(fast);
  if (isnan(later) || isnan(gain)) return NAN;
  if (later < gain) return 1; /* faster after the first solve */
  return gain > 0 ? floor(later / gain) + 1 : INFINITY;
}

double bench_ahead_of_cusparse(const bench_group *g) {
  const bench_row *engine = g->column[BENCH_ENGINE];
  double most = NAN;
  for (int k = 0; k < BENCH_CUSPARSE_MOST && engine && !engine->wrong; k++)
    if (g->algorithm[k] && !g->algorithm[k]->wrong)
      most = fmax(most, bench_break_even(engine, g->algorithm[k]));
  return most;
}

static const bench_row *least(const bench_group *g, double (*value)(const bench_row *)) {
  const bench_row *best = NULL;
  for (int k = 0; k < BENCH_CUSPARSE_MOST; k++) {
    const bench_row *row = g->algorithm[k];
    if (!row || row->wrong) continue;
    if (!best || isnan(value(best)) || value(row) < value(best)) best = row;
  }
  return best;
}

static double analysis_of(const bench_row *row) { return row->analysis; }
static double update_of(const bench_row *row) { return row->update; }

const bench_row *bench_fastest_analysis(const bench_group *g) { return least(g, analysis_of); }
const bench_row *bench_fastest_update(const bench_group *g) { return least(g, update_of); }

double bench_over_reference(const bench_group *g) {
  const bench_row *e = g->column[BENCH_ENGINE];
  return e && !e->wrong ? e->median / e->bound : NAN;
}

bench_column bench_best(const bench_group *group, bench_column first, bench_column last) {
  bench_column best = first;
  for (int c = first; c <= (int)last; c++) {
    double s = seconds(group, (bench_column)c), least = seconds(group, best);
    if (s < least || (isnan(least) && !isnan(s))) best = (bench_column)c;
  }
  return best;
}

void bench_mean_add(bench_mean *mean, double value, int64_t at) {
  if (!(value > 0) || isinf(value)) return;
  if (!mean->count || value < mean->least) mean->least = value, mean->least_at = at;
  if (!mean->count || value > mean->most) mean->most = value, mean->most_at = at;
  mean->log_sum += log(value);
  mean->count++;
}

double bench_mean_value(const bench_mean *mean) {
  return mean->count ? exp(mean->log_sum / (double)mean->count) : NAN;
}
