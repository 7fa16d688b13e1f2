/* groups.c - the rows of one system side by side, and how many times as fast one is as another. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "output.h"

static bool same_system(const bench_row *a, const bench_row *b) {
  return a->upper == b->upper && a->nrhs == b->nrhs && !strcmp(a->matrix, b->matrix);
}

static bench_group *find_or_add(bench_groups *groups, const bench_row *row) {
  for (int64_t g = groups->count; g-- > 0;)
    if (same_system(groups->group[g].first, row)) return &groups->group[g];
  bench_group *g = &groups->group[groups->count++];
  *g = (bench_group){.first = row};
  return g;
}

/* -1: no column of tables. */
static int column_of(const bench_row *row, int64_t most) {
  static const struct {
    const char *method;
    int one, all;
  } columns[] = {{"serial", BENCH_SERIAL, -1},
                 {"threads", -1, BENCH_THREADS},
                 {"auto", -1, BENCH_AUTO},
                 {"mkl", BENCH_MKL_ONE, BENCH_MKL_ALL},
                 {"scipy", BENCH_SCIPY, -1}};
  for (int i = 0; i < 5; i++)
    if (!strcmp(row->method, columns[i].method)) {
      bool one = columns[i].all < 0 || (columns[i].one >= 0 && row->threads == 1);
      return one ? columns[i].one : row->threads == most ? columns[i].all : -1;
    }
  return -1;
}

int bench_groups_make(bench_groups *groups, const bench_rows *rows) {
  *groups = (bench_groups){.group = malloc((size_t)rows->count * sizeof *groups->group + 1),
                           .threads = 1};
  if (!groups->group)
    return leave_memory((double)rows->count * sizeof *groups->group, "the results");
  for (int64_t i = 0; i < rows->count; i++)
    if (rows->row[i].threads > groups->threads) groups->threads = rows->row[i].threads;
  for (int64_t i = 0; i < rows->count; i++) {
    bench_group *g = find_or_add(groups, &rows->row[i]);
    int column = column_of(&rows->row[i], groups->threads);
    if (column >= 0) g->column[column] = &rows->row[i];
  }
  return -1;
}

void bench_column_name(char *name, size_t size, bench_column column, int64_t threads) {
  static const char *const names[] = {"serial", "threads", "auto", "mkl:1", "mkl", "scipy"};
  if (column == BENCH_MKL_ALL)
    snprintf(name, size, "mkl:%lld", (long long)threads);
  else
    snprintf(name, size, "%s", names[column]);
}

static double seconds(const bench_group *group, bench_column column) {
  const bench_row *row = group->column[column];
  return row && !row->wrong && row->fastest > 0 ? row->fastest : NAN;
}

double bench_gain(const bench_group *group, bench_column fast, bench_column slow) {
  return seconds(group, slow) / seconds(group, fast);
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
