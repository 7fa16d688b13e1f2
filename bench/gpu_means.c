/* gpu_means.c - what a run on a GPU comes to, beside what it shall reach: geometric means over its
 * systems with the worst of them named, solves with one right-hand side and with more apart.
 * Wrong answers are left out of the means and counted. */
#include <math.h>

#include "bench.h"
#include "output.h"

enum { MOST_NRHS = 16 };
static const double BYTES_RULE = 0.5; /* of the bandwidth that the bound's bytes come near to */

typedef struct figure {
  bench_mean mean;
  int64_t short_of; /* values on the wrong side of one */
} figure;

static bool both(const bench_group *g, bench_column a, bench_column b) {
  return g->column[a] && g->column[b] && !g->column[a]->wrong && !g->column[b]->wrong;
}

static double solve_gain(const bench_group *g) {
  return bench_gain(g, BENCH_ENGINE, BENCH_CUSPARSE);
}

static double over_reference(const bench_group *g) {
  const bench_row *e = g->column[BENCH_ENGINE];
  return e && !e->wrong ? e->median / e->bound : NAN;
}

static double analysis_gain(const bench_group *g) {
  if (!both(g, BENCH_ENGINE, BENCH_CUSPARSE)) return NAN;
  return g->column[BENCH_CUSPARSE]->analysis / g->column[BENCH_ENGINE]->analysis;
}

static double break_even(const bench_group *g) {
  if (!both(g, BENCH_ENGINE, BENCH_CUSPARSE)) return NAN;
  return bench_break_even(g->column[BENCH_ENGINE], g->column[BENCH_CUSPARSE]);
}

static double update_gain(const bench_group *g) {
  if (!both(g, BENCH_ENGINE, BENCH_CUSPARSE)) return NAN;
  return g->column[BENCH_CUSPARSE]->update / g->column[BENCH_ENGINE]->update;
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

/* ---- Lines ---- */

typedef enum want { NOTHING, LEAST, MOST } want; /* a value of at least or at most the reach */

typedef struct line {
  const char *text;
  double (*value)(const bench_group *group);
  enum { MEAN, SMALLEST, LARGEST } take;
  want want;
  double reach;
  bool bytes_rule; /* only systems where bytes rule the bound */
} line;

static const line of_one[] = {
    {"engine against cuSPARSE SpSV, a solve", solve_gain, MEAN, LEAST, 4, false},
    {"engine against cuSPARSE SpSV, the least", solve_gain, SMALLEST, LEAST, 1, false},
    {"engine : reference time", over_reference, MEAN, MOST, 2.5, false},
    {"engine : reference time, the most", over_reference, LARGEST, NOTHING, 0, false},
    {"analysis, times as fast as cuSPARSE's", analysis_gain, MEAN, LEAST, 5, false},
    {"analysis, the least", analysis_gain, SMALLEST, NOTHING, 0, false},
    {"solves until ahead, analyses included, the most", break_even, LARGEST, MOST, 3, false},
    {"update, times as fast as cuSPARSE's", update_gain, MEAN, NOTHING, 0, false},
    {"memory beyond the matrix, over the matrix", memory, MEAN, NOTHING, 0, false},
    {"memory beyond the matrix, the most", memory, LARGEST, MOST, 1.5, false},
    {"cuSPARSE's buffer, over the matrix", buffer, MEAN, NOTHING, 0, false},
    {"cuSPARSE's buffer, the most", buffer, LARGEST, NOTHING, 0, false},
    {"values as f32 against f64, where bytes rule", narrow_gain, MEAN, LEAST, 1.3, true},
    {"values as f32 against f64, all", narrow_gain, MEAN, NOTHING, 0, false},
    {NULL, NULL, MEAN, NOTHING, 0, false}};

static const line of_many[] = {
    {"engine against cuSPARSE SpSM, a solve", solve_gain, MEAN, LEAST, 4, false},
    {"engine against cuSPARSE SpSM, the least", solve_gain, SMALLEST, LEAST, 1, false},
    {"analysis, times as fast as cuSPARSE's", analysis_gain, MEAN, NOTHING, 0, false},
    {"memory beyond the matrix, the most", memory, LARGEST, NOTHING, 0, false},
    {"values as f32 against f64, all", narrow_gain, MEAN, NOTHING, 0, false},
    {NULL, NULL, MEAN, NOTHING, 0, false}};

/* Bytes a second that the bound of a system stands for; the most of all is the memory's. */
static double bound_speed(const bench_group *g) {
  return (double)g->first->bytes / g->first->bound;
}

static double most_speed(const bench_groups *groups) {
  double most = 0;
  for (int64_t g = 0; g < groups->count; g++)
    if (bound_speed(&groups->group[g]) > most) most = bound_speed(&groups->group[g]);
  return most;
}

/* Systems with nrhs right-hand sides only.  INFINITY (never ahead) is kept as the most. */
static figure figure_of(const line *l, const bench_groups *groups, int64_t nrhs) {
  figure f = {0};
  double enough = BYTES_RULE * most_speed(groups);
  for (int64_t i = 0; i < groups->count; i++) {
    const bench_group *g = &groups->group[i];
    if (g->first->nrhs != nrhs || (l->bytes_rule && !(bound_speed(g) >= enough))) continue;
    double value = l->value(g);
    if (isinf(value)) f.mean.most = value, f.mean.most_at = i, f.mean.count++;
    if (!isinf(f.mean.most)) bench_mean_add(&f.mean, value, i);
    if (l->want == LEAST) f.short_of += value < l->reach;
    if (l->want == MOST) f.short_of += value > l->reach;
  }
  return f;
}

static double taken(const line *l, const figure *f) {
  if (l->take == SMALLEST) return f->mean.least;
  return l->take == LARGEST ? f->mean.most : bench_mean_value(&f->mean);
}

static void print_line(const line *l, const figure *f, const bench_groups *groups, bool markdown) {
  char aim[96] = "", where[96] = "", label[48];
  double value = taken(l, f);
  bool hit = l->want == LEAST ? value >= l->reach : value <= l->reach;
  int64_t at = l->take == SMALLEST || l->want == LEAST ? f->mean.least_at : f->mean.most_at;
  bench_label(label, sizeof label, groups->group[at].first);
  if (l->want)
    snprintf(aim, sizeof aim, "%s %s: %s", l->want == LEAST ? "reach" : "at most",
             human_times(l->reach).s, hit ? "reached" : "MISSED");
  if (l->take != MEAN && f->short_of && l->want)
    snprintf(where, sizeof where, "%s; %lld of %lld short of it", label, (long long)f->short_of,
             (long long)f->mean.count);
  else if (l->take != MEAN)
    snprintf(where, sizeof where, "%s", label);
  short_text text = isinf(value) ? (short_text){"never"} : human_times(value);
  if (markdown)
    printf("| %s | %s | %lld | %s | %s |\n", l->text, text.s, (long long)f->mean.count, where, aim);
  else
    printf("  %-44s %7s  %s%s%s%s%s\n", l->text, text.s,
           style_on(!l->want ? STYLE_PLAIN
                    : hit    ? STYLE_GOOD
                             : STYLE_BAD),
           aim, style_off(), *aim && *where ? "  " : "", where);
}

static void print_head(int64_t nrhs, int64_t systems, bool markdown) {
  short_text sides = human_things(nrhs, "right-hand side", "right-hand sides");
  if (markdown)
    printf(
        "\n| geometric mean of, %s | value | systems | where | reach |\n"
        "| --- | --: | --: | --- | --- |\n",
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
    figure f = figure_of(l, groups, nrhs);
    if (!f.mean.count) continue;
    if (!headed) print_head(nrhs, systems, markdown);
    headed = true;
    print_line(l, &f, groups, markdown);
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
