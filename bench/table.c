/* table.c - a line a system: while a run goes on, and from a file, as Markdown and as a chart. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "l23.h"
#include "leave.h"
#include "output.h"

short_text bench_milliseconds(double seconds) {
  short_text t = {"-"};
  double ms = 1e3 * seconds;
  int digits = ms < 1 ? 4 : ms < 10 ? 3 : ms < 100 ? 2 : 1;
  if (isfinite(ms)) snprintf(t.s, sizeof t.s, "%.*f", digits, ms);
  return t;
}

/* Of the fastest solve; "!" marks a wrong answer. */
static short_text milliseconds(const bench_row *row) {
  short_text t = bench_milliseconds(row ? row->fastest : NAN);
  size_t used = strlen(t.s);
  if (row && row->wrong) snprintf(t.s + used, sizeof t.s - used, "!");
  return t;
}

short_text bench_ratio(double value) {
  return isnan(value) ? (short_text){"-"} : human_times(value);
}

static short_text ratio(double value) { return bench_ratio(value); }

/* ---- While a run goes on ---- */

static const bench_column live[] = {BENCH_SERIAL, BENCH_THREADS, BENCH_AUTO, BENCH_MKL_ONE,
                                    BENCH_MKL_ALL};

/* Gains need more than 80 columns; "WRONG" has room behind them. */
enum { GAINS_FROM = 100 };
static bool shows_gains(void) { return output_columns() >= GAINS_FROM; }

static void print_gains(const bench_group *g) {
  printf(" %7s %6s", ratio(bench_gain(g, BENCH_THREADS, BENCH_SERIAL)).s,
         ratio(bench_gain(g, BENCH_AUTO, BENCH_SERIAL)).s);
  printf(" %6s", ratio(bench_gain(g, BENCH_AUTO, bench_best(g, BENCH_MKL_ONE, BENCH_MKL_ALL))).s);
}

void bench_live_head(const bench_runners *all) {
  int64_t most = 1;
  char name[24];
  for (int i = 0; i < all->count; i++)
    if (all->runner[i].threads > most) most = all->runner[i].threads;
  printf("%s%-33s%s%s%s\n", style_on(STYLE_DIM), "", "milliseconds of the fastest solve",
         shows_gains() ? "        times as fast" : "", style_off());
  printf("%s%-25s%7s", style_on(STYLE_BOLD), "matrix", "par");
  for (int c = 0; c < 5; c++) {
    bench_column_name(name, sizeof name, live[c], most);
    printf(" %7s", name);
  }
  if (shows_gains()) printf(" %7s %6s %6s", "thr/ser", "au/ser", "au/mkl");
  printf("%s\n", style_off());
  if (!shows_gains())
    printf("%s(COLUMNS=%d shows ratios in each line too)%s\n", style_on(STYLE_DIM), GAINS_FROM,
           style_off());
  fflush(stdout);
}

/* The line of the system whose rows begin at first. */
void bench_live_line(const bench_rows *rows, int64_t first) {
  bench_groups groups;
  char label[25];
  bool wrong = false;
  bench_rows part = {.row = rows->row + first, .count = rows->count - first};
  if (bench_groups_make(&groups, &part, false) >= 0) return;
  const bench_group *g = groups.group;
  bench_label(label, sizeof label, g->first);
  printf("%-25s%7s", label, human_real(g->first->parallelism).s);
  for (int c = 0; c < 5; c++) printf(" %7s", milliseconds(g->column[live[c]]).s);
  for (int64_t i = 0; i < part.count; i++) wrong |= part.row[i].wrong;
  if (shows_gains()) print_gains(g);
  printf("%s%s%s\n", style_on(STYLE_BAD), wrong ? " WRONG" : "", style_off());
  fflush(stdout);
  free(groups.group);
}

/* ---- From a file ---- */

static void print_head(const bool used[BENCH_CPU_COLUMNS], int64_t threads) {
  char name[24];
  printf("| system | n | nnz | levels | parallelism |");
  for (int c = 0; c < BENCH_CPU_COLUMNS; c++) {
    bench_column_name(name, sizeof name, (bench_column)c, threads);
    if (used[c]) printf(" %s, ms |", name);
  }
  printf(
      " threads : serial | auto : serial | serial : mkl:1 | auto : best mkl | analysis of auto, "
      "solves |\n| --- | --: | --: | --: | --: |");
  for (int c = 0; c < BENCH_CPU_COLUMNS; c++)
    if (used[c]) printf(" --: |");
  printf(" --: | --: | --: | --: | --: |\n");
}

static void print_group(const bench_group *g, const bool used[BENCH_CPU_COLUMNS]) {
  char label[64];
  const bench_row *a = g->column[BENCH_AUTO], *s = g->column[BENCH_SERIAL];
  bench_label(label, sizeof label, g->first);
  printf("| %s | %s |", label, human_count(g->first->n).s);
  printf(" %s |", human_count(g->first->nnz).s);
  printf(" %s | %s |", human_count(g->first->levels).s, human_real(g->first->parallelism).s);
  for (int c = 0; c < BENCH_CPU_COLUMNS; c++)
    if (used[c]) printf(" %s |", milliseconds(g->column[c]).s);
  printf(" %s | %s |", ratio(bench_gain(g, BENCH_THREADS, BENCH_SERIAL)).s,
         ratio(bench_gain(g, BENCH_AUTO, BENCH_SERIAL)).s);
  printf(" %s | %s |", ratio(bench_gain(g, BENCH_SERIAL, BENCH_MKL_ONE)).s,
         ratio(bench_gain(g, BENCH_AUTO, bench_best(g, BENCH_MKL_ONE, BENCH_MKL_ALL))).s);
  printf(" %s |\n", ratio(a && s ? a->analysis / s->fastest : NAN).s);
}

static void print_markdown(const bench_groups *groups) {
  bool used[BENCH_CPU_COLUMNS] = {0};
  for (int64_t g = 0; g < groups->count; g++)
    for (int c = 0; c < BENCH_CPU_COLUMNS; c++) used[c] |= groups->group[g].column[c] != NULL;
  print_head(used, groups->threads);
  for (int64_t g = 0; g < groups->count; g++) print_group(&groups->group[g], used);
  printf(
      "\nMilliseconds of the fastest solve, ! marks a wrong answer; a : b says how many times as "
      "fast a is as b.\n");
  bench_means_print(groups, true);
}

/* A panel for each number of right-hand sides and type of values. */
static int panel_of(bench_profile *profile, const bench_row *row) {
  char label[96];
  snprintf(label, sizeof label, "%s%s",
           human_things(row->nrhs, "right-hand side", "right-hand sides").s,
           strcmp(row->scalar, "double") != 0 ? ", single precision" : "");
  return bench_profile_panel(profile, label);
}

static int draw_profile(bench_profile *profile, const bench_groups *groups,
                        const bench_column *columns, const char *path) {
  int code = bench_profile_open(profile, groups->count);
  if (code >= 0) return code;
  for (int64_t g = 0; g < groups->count; g++) {
    profile->panel[g] = panel_of(profile, groups->group[g].first);
    for (int c = 0; c < profile->series; c++) {
      const bench_row *row = groups->group[g].column[columns[c]];
      if (row && !row->wrong) profile->seconds[g * profile->series + c] = bench_row_seconds(row);
    }
  }
  code = bench_profile_write(profile, path);
  bench_profile_close(profile);
  return code;
}

/* Columns that no system has are left out. */
static int used_columns(const bench_groups *groups, const bench_column *from, int count,
                        bench_column *used) {
  int kept = 0;
  for (int c = 0; c < count; c++)
    for (int64_t g = 0; g < groups->count; g++)
      if (groups->group[g].column[from[c]]) {
        used[kept++] = from[c];
        break;
      }
  return kept;
}

static int draw_cpu(const bench_groups *groups, const char *path) {
  static const bench_column all[] = {BENCH_AUTO, BENCH_THREADS, BENCH_SERIAL, BENCH_MKL_ONE,
                                     BENCH_MKL_ALL};
  bench_profile profile = {.title = "Triangular solves on a CPU: performance profiles"};
  bench_column columns[5];
  profile.series = used_columns(groups, all, 5, columns);
  snprintf(
      profile.subtitle, sizeof profile.subtitle,
      "Share of the systems that a method solves within a factor of the fastest method's time, "
      "%s; further left and higher is better",
      human_things(groups->threads, "thread", "threads").s);
  for (int c = 0; c < profile.series; c++)
    bench_column_name(profile.name[c], sizeof profile.name[c], columns[c], groups->threads);
  return draw_profile(&profile, groups, columns, path);
}

static int draw_gpu(const bench_groups *groups, const char *path) {
  static const bench_column columns[] = {BENCH_ENGINE, BENCH_CUSPARSE};
  bench_profile profile = {.title = "Triangular solves on a GPU: performance profiles",
                           .series = 2,
                           .name = {"Trireme, engine", "cuSPARSE"}};
  for (int64_t i = groups->count; i-- > 0;) /* the first one's version */
    if (groups->group[i].column[BENCH_CUSPARSE])
      snprintf(profile.name[1], sizeof profile.name[1], "%.79s",
               groups->group[i].column[BENCH_CUSPARSE]->reason);
  snprintf(profile.subtitle, sizeof profile.subtitle,
           "Share of the systems that a library solves within a factor of the faster library's "
           "time; further left and higher is better");
  return draw_profile(&profile, groups, columns, path);
}

int bench_draw(const bench_groups *groups, bool gpu, const char *path) {
  return gpu ? draw_gpu(groups, path) : draw_cpu(groups, path);
}

/* Rows of measurements that have tables of their own. */
static bool report_own(const bench_rows *rows, const char *svg, int *code) {
  static const struct {
    bool (*has)(const bench_rows *);
    void (*report)(const bench_rows *, bool);
    int (*draw)(const bench_rows *, const char *);
  } kinds[] = {{bench_l17_has, bench_l17_report, bench_l17_draw},
               {bench_x20_has, bench_x20_report, bench_x20_draw},
               {bench_gpus_has, bench_gpus_report, bench_gpus_draw}};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    if (!kinds[k].has(rows)) continue;
    kinds[k].report(rows, true);
    if (svg) *code = kinds[k].draw(rows, svg);
    return true;
  }
  return false;
}

/* Lines of l23 and of w21 are of other kinds. */
static bool begins_with(const char *path, bool (*is_line)(const char *)) {
  FILE *file = fopen(path, "r");
  char *line = NULL;
  size_t room = 0;
  bool is = file && getline(&line, &room, file) > 0 && is_line(line);
  free(line);
  if (file) fclose(file);
  return is;
}

static int table_l23(const char *path, const char *svg) {
  l23_rows rows = {0};
  int code = l23_rows_read(&rows, path);
  if (code < 0) l23_report(&rows, true);
  if (code < 0 && svg) code = l23_draw(&rows, svg);
  l23_rows_free(&rows);
  return code < 0 ? LEAVE_SOLVED : code;
}

/* Where a file holds rows of both, they come one behind the other, and the GPU's are drawn. */
int bench_table(const char *path, const char *svg) {
  bench_rows rows;
  bench_groups groups[2] = {0};
  if (begins_with(path, l23_is_line)) return table_l23(path, svg);
  if (begins_with(path, bench_w21_is_line))
    return svg ? leave_usage("bench", "there is no chart of w21's results: leave out --svg")
               : bench_w21_table(path);
  int code = bench_rows_read(&rows, path);
  if (code < 0 && report_own(&rows, svg, &code)) {
    bench_rows_free(&rows);
    return code < 0 ? LEAVE_SOLVED : code;
  }
  for (int gpu = 0; gpu < 2 && code < 0; gpu++)
    code = bench_groups_make(&groups[gpu], &rows, gpu == 1);
  if (code < 0 && groups[0].count) print_markdown(&groups[0]);
  if (code < 0 && groups[1].count) bench_gpu_tables(&groups[1], &rows);
  bool gpu = groups[1].count > 0;
  if (code < 0 && svg) code = bench_draw(&groups[gpu], gpu, svg);
  for (int k = 0; k < 2; k++) free(groups[k].group);
  bench_rows_free(&rows);
  return code < 0 ? LEAVE_SOLVED : code;
}
