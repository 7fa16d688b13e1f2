/* means.c - what a run comes to: geometric means over its systems.  Ratios are of the fastest
 * solves; wrong answers are left out. */
#include <math.h>

#include "bench.h"
#include "output.h"

enum { WIDE = 500 }; /* rows a level from which threads are meant to pay */

static double serial_peer(const bench_group *g) {
  bench_column peer = BENCH_MKL_ONE;
  if (!(bench_gain(g, BENCH_SERIAL, peer) < bench_gain(g, BENCH_SERIAL, BENCH_SCIPY)))
    peer = isnan(bench_gain(g, BENCH_SERIAL, BENCH_SCIPY)) ? peer : BENCH_SCIPY;
  return bench_gain(g, BENCH_SERIAL, peer);
}

static double threads_serial(const bench_group *g) {
  return bench_gain(g, BENCH_THREADS, BENCH_SERIAL);
}

static double threads_serial_wide(const bench_group *g) {
  return g->first->parallelism >= WIDE ? threads_serial(g) : NAN;
}

static double auto_serial(const bench_group *g) { return bench_gain(g, BENCH_AUTO, BENCH_SERIAL); }

/* On as many threads; where that is one, the one-thread row is it. */
static double against_mkl(const bench_group *g, bench_column column) {
  return bench_gain(g, column, g->column[BENCH_MKL_ALL] ? BENCH_MKL_ALL : BENCH_MKL_ONE);
}

static double threads_mkl(const bench_group *g) { return against_mkl(g, BENCH_THREADS); }
static double auto_mkl(const bench_group *g) { return against_mkl(g, BENCH_AUTO); }

static double auto_best_mkl(const bench_group *g) {
  return bench_gain(g, BENCH_AUTO, bench_best(g, BENCH_MKL_ONE, BENCH_MKL_ALL));
}

static double auto_analysis(const bench_group *g) {
  const bench_row *a = g->column[BENCH_AUTO], *s = g->column[BENCH_SERIAL];
  return a && s && !a->wrong && !s->wrong ? a->analysis / s->fastest : NAN;
}

static double auto_memory(const bench_group *g) {
  const bench_row *a = g->column[BENCH_AUTO];
  if (!a) return NAN;
  double least = a->matrix_bytes + a->vector_bytes;
  return (least + a->plan_bytes) / least;
}

static const struct {
  const char *text;
  double (*value)(const bench_group *group);
  bool least; /* the smallest of all, not the mean */
} lines[] = {
    {"serial, times as fast as the best peer on one thread", serial_peer, false},
    {"threads against serial, parallelism of 500 and more", threads_serial_wide, false},
    {"threads against serial, all", threads_serial, false},
    {"threads against serial, the least", threads_serial, true},
    {"auto against serial, all", auto_serial, false},
    {"auto against serial, the least", auto_serial, true},
    {"threads against MKL on as many threads", threads_mkl, false},
    {"auto against MKL on as many threads", auto_mkl, false},
    {"auto against the better of MKL's two", auto_best_mkl, false},
    {"analysis of auto, in serial solves", auto_analysis, false},
    {"memory of auto, over that of matrix, b and x", auto_memory, false},
};

void bench_means_print(const bench_groups *groups, bool markdown) {
  if (markdown)
    printf("\n| geometric mean of | value | systems |\n| --- | --: | --: |\n");
  else
    printf("\n%sGeometric means%s, %s, %s\n", style_on(STYLE_BOLD), style_off(),
           human_things(groups->count, "system", "systems").s,
           human_things(groups->threads, "thread", "threads").s);
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    bench_mean mean = {0};
    for (int64_t g = 0; g < groups->count; g++)
      bench_mean_add(&mean, lines[i].value(&groups->group[g]), g);
    if (!mean.count) continue;
    short_text value = human_times(lines[i].least ? mean.least : bench_mean_value(&mean));
    if (markdown)
      printf("| %s | %s | %lld |\n", lines[i].text, value.s, (long long)mean.count);
    else
      printf("  %-54s %7s\n", lines[i].text, value.s);
  }
}
