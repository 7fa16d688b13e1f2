/* means.c - the summary of a run: geometric means over its systems, with the name of the worst; on
 * a GPU, separately for one right-hand side and for several.  Ratios use the fastest solves on a
 * CPU, the medians on a GPU; wrong answers are left out.  Against cuSPARSE, each figure is against
 * the algorithm that is best at it. */
#include <math.h>
#include <stdio.h>

#include "groups.h"
#include "output.h"
#include "row.h"

enum { MOST_NRHS = 16 };
static const double BYTES_RULE = 0.5; /* of the bandwidth that the bound's bytes come near to */

typedef struct line {
  const char *text;
  double (*value)(const bench_group *group);
  enum { MEAN, SMALLEST, LARGEST } take;
  bool bytes_rule; /* only systems whose bound is dominated by bytes */
} line;

/* ---- On a CPU ---- */

enum { WIDE = 500 }; /* rows per level from which threads are expected to pay */

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

/* With the same number of threads; if that is one, the row of one thread. */
static double against_mkl(const bench_group *g, bench_column column) {
  return bench_gain(g, column, g->column[BENCH_MKL_ALL] ? BENCH_MKL_ALL : BENCH_MKL_ONE);
}

static double threads_mkl(const bench_group *g) { return against_mkl(g, BENCH_THREADS); }
static double auto_mkl(const bench_group *g) { return against_mkl(g, BENCH_AUTO); }

static double auto_best_mkl(const bench_group *g) {
  return bench_gain(g, BENCH_AUTO, bench_best(g, BENCH_MKL_ONE, BENCH_MKL_ALL));
}

static double auto_other(const bench_group *g) { return bench_gain(g, BENCH_AUTO, BENCH_OTHER); }

/* Where other libraries than MKL were measured: else the line of MKL's two says it. */
static double auto_all(const bench_group *g) {
  if (!g->column[BENCH_OTHER]) return NAN;
  return bench_gain(g, BENCH_AUTO, bench_best(g, BENCH_MKL_ONE, BENCH_OTHER));
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

static const line on_cpu[] = {
    {"serial, times as fast as the best peer on one thread", serial_peer, MEAN, false},
    {"threads against serial, parallelism of 500 and more", threads_serial_wide, MEAN, false},
    {"threads against serial, all", threads_serial, MEAN, false},
    {"threads against serial, the least", threads_serial, SMALLEST, false},
    {"auto against serial, all", auto_serial, MEAN, false},
    {"auto against serial, the least", auto_serial, SMALLEST, false},
    {"threads against MKL on as many threads", threads_mkl, MEAN, false},
    {"auto against MKL on as many threads", auto_mkl, MEAN, false},
    {"auto against the better of MKL's two", auto_best_mkl, MEAN, false},
    {"auto against the fastest library but MKL", auto_other, MEAN, false},
    {"auto against the fastest library but MKL, the least", auto_other, SMALLEST, false},
    {"auto against the fastest library, MKL among them", auto_all, MEAN, false},
    {"auto against the fastest library, MKL among them, the least", auto_all, SMALLEST, false},
    {"analysis of auto, in serial solves", auto_analysis, MEAN, false},
    {"memory of auto, over that of matrix, b and x", auto_memory, MEAN, false},
    {NULL, NULL, MEAN, false}};

/* ---- On a GPU ---- */

static double solve_gain(const bench_group *g) {
  return bench_gain(g, BENCH_ENGINE, BENCH_CUSPARSE);
}

static double program_gain(const bench_group *g) {
  return bench_gain(g, BENCH_ENGINE, BENCH_OTHER);
}

static double analysis_gain(const bench_group *g) {
  const bench_row *engine = g->column[BENCH_ENGINE], *peer = bench_fastest_analysis(g);
  return engine && !engine->wrong && peer ? peer->analysis / engine->analysis : NAN;
}

static double update_gain(const bench_group *g) {
  const bench_row *engine = g->column[BENCH_ENGINE], *peer = bench_fastest_update(g);
  return engine && !engine->wrong && peer ? peer->update / engine->update : NAN;
}

static double memory(const bench_group *g) {
  const bench_row *e = g->column[BENCH_ENGINE];
  return e ? e->plan_bytes / e->matrix_bytes : NAN;
}

static double buffer(const bench_group *g) {
  const bench_row *c = g->column[BENCH_CUSPARSE];
  return c ? c->plan_bytes / c->matrix_bytes : NAN;
}

static double narrow_gain(const bench_group *g) {
  return bench_gain(g, BENCH_ENGINE_F32, BENCH_ENGINE);
}

static const line of_one[] = {
    {"engine against cuSPARSE SpSV, a solve", solve_gain, MEAN, false},
    {"engine against cuSPARSE SpSV, the least", solve_gain, SMALLEST, false},
    {"engine against the fastest program, a solve", program_gain, MEAN, false},
    {"engine against the fastest program, the least", program_gain, SMALLEST, false},
    {"engine : reference time", bench_over_reference, MEAN, false},
    {"engine : reference time, the most", bench_over_reference, LARGEST, false},
    {"analysis, times as fast as cuSPARSE's", analysis_gain, MEAN, false},
    {"analysis, the least", analysis_gain, SMALLEST, false},
    {"solves until ahead, analyses included, the most", bench_ahead_of_cusparse, LARGEST, false},
    {"update, times as fast as cuSPARSE's", update_gain, MEAN, false},
    {"memory beyond the matrix, over the matrix", memory, MEAN, false},
    {"memory beyond the matrix, the most", memory, LARGEST, false},
    {"cuSPARSE's buffer, over the matrix", buffer, MEAN, false},
    {"cuSPARSE's buffer, the most", buffer, LARGEST, false},
    {"values as f32 against f64, where bytes rule", narrow_gain, MEAN, true},
    {"values as f32 against f64, all", narrow_gain, MEAN, false},
    {NULL, NULL, MEAN, false}};

static const line of_many[] = {
    {"engine against cuSPARSE SpSM, a solve", solve_gain, MEAN, false},
    {"engine against cuSPARSE SpSM, the least", solve_gain, SMALLEST, false},
    {"analysis, times as fast as cuSPARSE's", analysis_gain, MEAN, false},
    {"memory beyond the matrix, the most", memory, LARGEST, false},
    {"values as f32 against f64, all", narrow_gain, MEAN, false},
    {NULL, NULL, MEAN, false}};

/* ---- Means ---- */

/* Bytes per second that the bound of a system implies; the largest over all systems is the
 * memory's. */
static double bound_speed(const bench_group *g) {
  return (double)g->first->bytes / g->first->bound;
}

static double most_speed(const bench_groups *groups) {
  double most = 0;
  for (int64_t g = 0; g < groups->count; g++)
    if (bound_speed(&groups->group[g]) > most) most = bound_speed(&groups->group[g]);
  return most;
}

/* Only systems with nrhs right-hand sides, or all (0).  INFINITY (never faster) is kept as the
 * largest. */
static bench_mean mean_of(const line *l, const bench_groups *groups, int64_t nrhs) {
  bench_mean mean = {0};
  double enough = BYTES_RULE * most_speed(groups);
  for (int64_t i = 0; i < groups->count; i++) {
    const bench_group *g = &groups->group[i];
    if ((nrhs && g->first->nrhs != nrhs) || (l->bytes_rule && !(bound_speed(g) >= enough)))
      continue;
    double value = l->value(g);
    if (isinf(value)) mean.most = value, mean.most_at = i, mean.count++;
    if (!isinf(mean.most)) bench_mean_add(&mean, value, i);
  }
  return mean;
}

static double taken(const line *l, const bench_mean *mean) {
  if (l->take == SMALLEST) return mean->least;
  return l->take == LARGEST ? mean->most : bench_mean_value(mean);
}

void bench_means_print(const bench_groups *groups, bool markdown) {
  if (markdown)
    printf("\n| geometric mean of | value | systems |\n| --- | --: | --: |\n");
  else
    printf("\n%sGeometric means%s, %s, %s\n", style_on(STYLE_BOLD), style_off(),
           human_things(groups->count, "system", "systems").s,
           human_things(groups->threads, "thread", "threads").s);
  for (const line *l = on_cpu; l->text; l++) {
    bench_mean mean = mean_of(l, groups, 0);
    if (!mean.count) continue;
    short_text value = human_times(taken(l, &mean));
    if (markdown)
      printf("| %s | %s | %lld |\n", l->text, value.s, (long long)mean.count);
    else
      printf("  %-54s %7s\n", l->text, value.s);
  }
}

/* Names the systems with the smallest and the largest value. */
static void print_line(const line *l, const bench_mean *mean, const bench_groups *groups,
                       bool markdown) {
  char where[48] = "";
  double value = taken(l, mean);
  int64_t at = l->take == SMALLEST ? mean->least_at : mean->most_at;
  if (l->take != MEAN) bench_label(where, sizeof where, groups->group[at].first);
  short_text text = isinf(value) ? (short_text){"never"} : human_times(value);
  if (markdown)
    printf("| %s | %s | %lld | %s |\n", l->text, text.s, (long long)mean->count, where);
  else
    printf("  %-48s %7s  %s\n", l->text, text.s, where);
}

static void print_head(int64_t nrhs, int64_t systems, bool markdown) {
  short_text sides = human_things(nrhs, "right-hand side", "right-hand sides");
  if (markdown)
    printf(
        "\n| geometric mean of, %s | value | systems | where |\n"
        "| --- | --: | --: | --- |\n",
        sides.s);
  else
    printf("\n%sGeometric means%s, %s, %s\n", style_on(STYLE_BOLD), style_off(), sides.s,
           human_things(systems, "system", "systems").s);
}

static void print_nrhs(const bench_groups *groups, int64_t nrhs, bool markdown) {
  int64_t systems = 0, wrong = 0;
  bool headed = false;
  for (int64_t i = 0; i < groups->count; i++) {
    const bench_group *g = &groups->group[i];
    systems += g->first->nrhs == nrhs;
    wrong += g->first->nrhs == nrhs && g->column[BENCH_ENGINE] && g->column[BENCH_ENGINE]->wrong;
  }
  for (const line *l = nrhs == 1 ? of_one : of_many; l->text; l++) {
    bench_mean mean = mean_of(l, groups, nrhs);
    if (!mean.count) continue;
    if (!headed) print_head(nrhs, systems, markdown);
    headed = true;
    print_line(l, &mean, groups, markdown);
  }
  if (wrong)
    printf("%sNot in the means: %s of the engine, wrong or missing.\n", markdown ? "\n" : "  ",
           human_things(wrong, "answer", "answers").s);
}

void bench_gpu_means(const bench_groups *groups, bool markdown) {
  int64_t done[MOST_NRHS];
  int count = 0;
  for (int64_t i = 0; i < groups->count; i++) {
    int64_t nrhs = groups->group[i].first->nrhs;
    bool known = count == MOST_NRHS;
    for (int k = 0; k < count; k++) known |= done[k] == nrhs;
    if (known) continue;
    done[count++] = nrhs;
    print_nrhs(groups, nrhs, markdown);
  }
}
