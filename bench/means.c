/* means.c - what a run comes to: geometric means over its systems, beside what they shall reach.
 * Ratios are of the fastest solves; wrong answers are left out. */
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

/* The references the project measures itself against; 0: none. */
static const struct {
  const char *text;
  double (*value)(const bench_group *group);
  bool least; /* the smallest of all, not the mean */
  double reach, stay_below;
} lines[] = {
    {"serial, times as fast as the best peer on one thread", serial_peer, false, 1, 0},
    {"threads against serial, parallelism of 500 and more", threads_serial_wide, false, 1.6, 0},
    {"threads against serial, all", threads_serial, false, 0, 0},
    {"threads against serial, the least", threads_serial, true, 0, 0},
    {"auto against serial, all", auto_serial, false, 0, 0},
    {"auto against serial, the least", auto_serial, true, 0.95, 0},
    {"threads against MKL on as many threads", threads_mkl, false, 1.2, 0},
    {"auto against MKL on as many threads", auto_mkl, false, 1.2, 0},
    {"auto against the better of MKL's two", auto_best_mkl, false, 1, 0},
    {"analysis of auto, in serial solves", auto_analysis, false, 0, 5},
    {"memory of auto, over that of matrix, b and x", auto_memory, false, 0, 0},
};

static void print_line(const char *text, double value, int64_t count, double reach, double below,
                       bool markdown) {
  char aim[128] = "";
  bool hit = reach > 0 ? value >= reach : value < below;
  if (reach > 0 || below > 0)
    snprintf(aim, sizeof aim, "%s %s: %s", reach > 0 ? "reach" : "stay below",
             human_times(reach > 0 ? reach : below).s, hit ? "reached" : "MISSED");
  if (markdown) {
    printf("| %s | %s | %lld | %s |\n", text, human_times(value).s, (long long)count, aim);
    return;
  }
  printf("  %-42s %7s  %s%s%s\n", text, human_times(value).s,
         style_on(!*aim ? STYLE_PLAIN
                  : hit ? STYLE_GOOD
                        : STYLE_BAD),
         aim, style_off());
}

void bench_means_print(const bench_groups *groups, bool markdown) {
  if (markdown)
    printf("\n| geometric mean of | value | systems | reference |\n| --- | --: | --: | --- |\n");
  else
    printf("\n%sGeometric means%s, %s, %s\n", style_on(STYLE_BOLD), style_off(),
           human_things(groups->count, "system", "systems").s,
           human_things(groups->threads, "thread", "threads").s);
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    bench_mean mean = {0};
    for (int64_t g = 0; g < groups->count; g++)
      bench_mean_add(&mean, lines[i].value(&groups->group[g]), g);
    if (!mean.count) continue;
    print_line(lines[i].text, lines[i].least ? mean.least : bench_mean_value(&mean), mean.count,
               lines[i].reach, lines[i].stay_below, markdown);
  }
}
