/* gpu_table.c - one line per system on a GPU: during a run, and from rows, as Markdown: the solves
 * beside cuSPARSE's and the reference time; then the analyses, and memory. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cusparse.h"
#include "grid.h"
#include "groups.h"
#include "output.h"
#include "row.h"
#include "runner.h"
#include "tables.h"

enum { MOST_OTHERS = 24, LABEL = 26 };

/* Milliseconds of a solve; "!" marks a wrong answer, "failed" a missing one. */
static short_text solve_text(const bench_row *row) {
  if (!row) return (short_text){"-"};
  if (row->wrong && isnan(row->median)) return (short_text){"failed"};
  short_text t = bench_milliseconds(row->median);
  size_t used = strlen(t.s);
  if (row->wrong) snprintf(t.s + used, sizeof t.s - used, "!");
  return t;
}

/* ---- During a run ---- */

static int width_of(const char *method) {
  int length = (int)strlen(method);
  return length < 9 ? 9 : length;
}

static int programs_of(const bench_runners *all) { return all->set ? all->set->programs : 0; }

void bench_gpu_live_head(const bench_runners *all) {
  printf("%s%*s%s%s\n", style_on(STYLE_DIM), LABEL, "", "milliseconds of a solve, the median",
         style_off());
  printf("%s%-*s", style_on(STYLE_BOLD), LABEL, "matrix");
  for (int i = 0; i < all->count; i++)
    printf(" %*s", width_of(all->runner[i].method), all->runner[i].method);
  for (int k = 0; k < programs_of(all); k++)
    printf(" %*s", width_of(all->set->program[k].name), all->set->program[k].name);
  printf(" %8s %8s", "ref.", ":cusp");
  if (programs_of(all)) printf(" %8s", ":prog");
  printf(" %8s%s\n", ":ref.", style_off());
  fflush(stdout);
}

static const bench_row *row_of(const bench_rows *rows, const char *method) {
  for (int64_t i = 0; i < rows->count; i++)
    if (!strcmp(rows->row[i].method, method)) return &rows->row[i];
  return NULL;
}

/* The line of the system whose rows start at first. */
void bench_gpu_live_line(const bench_runners *all, const bench_rows *rows, int64_t first) {
  bench_rows part = {.row = rows->row + first, .count = rows->count - first};
  bench_group g = {.first = part.row};
  char label[LABEL + 1];
  bool wrong = false;
  for (int64_t i = 0; i < part.count; i++) bench_group_put(&g, &part.row[i], 1);
  bench_label(label, sizeof label, g.first);
  printf("%-*s", LABEL, label);
  for (int i = 0; i < all->count; i++)
    printf(" %*s", width_of(all->runner[i].method),
           solve_text(row_of(&part, all->runner[i].method)).s);
  for (int k = 0; k < programs_of(all); k++)
    printf(" %*s", width_of(all->set->program[k].name),
           solve_text(row_of(&part, all->set->program[k].name)).s);
  for (int64_t i = 0; i < part.count; i++) wrong |= part.row[i].wrong;
  printf(" %8s %8s", bench_milliseconds(g.first->bound).s,
         bench_ratio(bench_gain(&g, BENCH_ENGINE, BENCH_CUSPARSE)).s);
  if (programs_of(all)) printf(" %8s", bench_ratio(bench_gain(&g, BENCH_ENGINE, BENCH_OTHER)).s);
  printf(" %8s", bench_ratio(bench_over_reference(&g)).s);
  printf("%s%s%s\n", style_on(STYLE_BAD), wrong ? " WRONG" : "", style_off());
  fflush(stdout);
}

/* ---- From rows ---- */

typedef struct others {
  const char *method[MOST_OTHERS];
  int count;
} others;

static bool has(const bench_rows *rows, const char *method) { return row_of(rows, method) != NULL; }

/* Methods without a column of their own; cuSPARSE's default algorithm if it has others. */
static others find_others(const bench_rows *rows) {
  bool several = has(rows, bench_cusparse_name[1]) || has(rows, bench_cusparse_name[2]);
  const char *own[] = {"auto", "engine", "engine+f32", several ? "" : bench_cusparse_name[0]};
  others o = {0};
  for (int64_t i = 0; i < rows->count && o.count < MOST_OTHERS; i++) {
    bool known = !bench_on_gpu(&rows->row[i]);
    for (int k = 0; k < 4; k++) known |= !strcmp(rows->row[i].method, own[k]);
    for (int k = 0; k < o.count; k++) known |= !strcmp(rows->row[i].method, o.method[k]);
    if (!known) o.method[o.count++] = rows->row[i].method;
  }
  return o;
}

static bool any(const bench_groups *groups, bench_column column) {
  for (int64_t g = 0; g < groups->count; g++)
    if (groups->group[g].column[column]) return true;
  return false;
}

static void add_solve_heads(bench_grid *grid, const others *o, bool narrow, bool programs) {
  static const char *const first[] = {"system",        "n",         "nnz", "levels",
                                      "reference, ms", "engine, ms"};
  static const char *const last[] = {"engine : cuSPARSE", "engine : reference", "chosen"},
                           *const program[] = {"engine : fastest program"};
  static const char *const f32[] = {"engine+f32, ms"}, *const peer[] = {"cuSPARSE, ms"};
  bench_grid_head(grid, first, 6);
  bench_grid_head(grid, f32, narrow);
  bench_grid_head(grid, peer, 1);
  for (int k = 0; k < o->count; k++) bench_grid_put(grid, "%s, ms", o->method[k]);
  grid->columns += o->count;
  bench_grid_head(grid, last, 1);
  bench_grid_head(grid, program, programs);
  bench_grid_head(grid, last + 1, 2);
}

static void add_solve(bench_grid *grid, const bench_group *g, const bench_rows *rows,
                      const others *o, bool narrow, bool programs) {
  const bench_row *first = g->first, *engine = g->column[BENCH_ENGINE];
  const double cusparse = bench_gain(g, BENCH_ENGINE, BENCH_CUSPARSE),
               program = bench_gain(g, BENCH_ENGINE, BENCH_OTHER),
               reference = bench_over_reference(g);
  char label[64];
  bench_label(label, sizeof label, first);
  bench_grid_add(grid, label);
  bench_grid_add(grid, human_count(first->n).s);
  bench_grid_add(grid, human_count(first->nnz).s);
  bench_grid_add(grid, human_count(first->levels).s);
  bench_grid_milliseconds(grid, &first->bound, 1);
  bench_grid_add(grid, solve_text(engine).s);
  if (narrow) bench_grid_add(grid, solve_text(g->column[BENCH_ENGINE_F32]).s);
  bench_grid_add(grid, solve_text(g->column[BENCH_CUSPARSE]).s);
  for (int k = 0; k < o->count; k++)
    bench_grid_add(grid, solve_text(bench_find(rows, first, o->method[k])).s);
  bench_grid_ratios(grid, &cusparse, 1);
  bench_grid_ratios(grid, &program, programs);
  bench_grid_ratios(grid, &reference, 1);
  bench_grid_add(grid, engine ? engine->chosen : "-");
}

static void print_solves(const bench_groups *groups, const bench_rows *rows) {
  others o = find_others(rows);
  bool narrow = any(groups, BENCH_ENGINE_F32), programs = any(groups, BENCH_OTHER);
  bench_grid grid = {.text_last = true};
  add_solve_heads(&grid, &o, narrow, programs);
  for (int64_t i = 0; i < groups->count; i++)
    add_solve(&grid, &groups->group[i], rows, &o, narrow, programs);
  bench_grid_print(&grid, NULL, true);
}

static short_text whole(double value) {
  short_text t = {"-"};
  if (isinf(value)) return (short_text){"never"};
  if (isfinite(value)) snprintf(t.s, sizeof t.s, "%.0f", value);
  return t;
}

static void add_before(bench_grid *grid, const bench_group *g) {
  const bench_row *e = g->column[BENCH_ENGINE], *c = g->column[BENCH_CUSPARSE],
                  *analysis = bench_fastest_analysis(g), *update = bench_fastest_update(g);
  bench_row empty = bench_row_empty();
  char label[64];
  if (!e) e = &empty;
  if (!c) c = &empty;
  if (!analysis) analysis = c;
  if (!update) update = c;
  const double analyses[] = {e->analysis, e->first_analysis, analysis->ask, analysis->analysis,
                             analysis->first_analysis},
               gain = e->wrong || analysis->wrong ? NAN : analysis->analysis / e->analysis,
               updates[] = {e->update, update->update},
               memory[] = {e->plan_bytes / g->first->matrix_bytes,
                           c->plan_bytes / g->first->matrix_bytes},
               awaited[] = {e->latency, c->latency};
  bench_label(label, sizeof label, g->first);
  bench_grid_add(grid, label);
  bench_grid_milliseconds(grid, analyses, 5);
  bench_grid_ratios(grid, &gain, 1);
  bench_grid_add(grid, whole(bench_ahead_of_cusparse(g)).s);
  bench_grid_milliseconds(grid, updates, 2);
  bench_grid_ratios(grid, memory, 2);
  bench_grid_milliseconds(grid, awaited, 2);
}

static void print_before(const bench_groups *groups) {
  static const char *const heads[] = {"system",
                                      "analysis, ms",
                                      "first of its kind",
                                      "cuSPARSE: buffer size, ms",
                                      "analysis, ms",
                                      "first",
                                      "engine : cuSPARSE",
                                      "ahead after solves",
                                      "update, ms",
                                      "cuSPARSE, ms",
                                      "memory / matrix",
                                      "buffer / matrix",
                                      "one solve awaited, ms",
                                      "cuSPARSE, ms"};
  bench_grid grid = {0};
  bench_grid_head(&grid, heads, sizeof heads / sizeof *heads);
  for (int64_t i = 0; i < groups->count; i++) add_before(&grid, &groups->group[i]);
  bench_grid_print(&grid, NULL, true);
}

/* The versions of cuSPARSE in rows, in sequence. */
static void print_versions(const bench_groups *groups) {
  const char *last = NULL;
  for (int64_t i = 0; i < groups->count; i++) {
    const bench_row *row = groups->group[i].column[BENCH_CUSPARSE];
    if (!row || (last && !strcmp(last, row->reason))) continue;
    printf("%s %s", last ? "," : " The peer is the fastest algorithm of", row->reason);
    last = row->reason;
  }
  if (last) printf(".");
}

void bench_gpu_tables(const bench_groups *groups, const bench_rows *rows) {
  print_solves(groups, rows);
  printf(
      "\nMilliseconds of a solve, the median of batches between two events; ! marks a wrong "
      "answer; a : b says how many times as fast a is as b.");
  print_versions(groups);
  printf("\n\n");
  print_before(groups);
  printf(
      "\nAnalyses from device arrays; the first of a system also loads kernels and takes memory "
      "from the driver. cuSPARSE's analysis and update are those of the algorithm that is fastest "
      "at each. Ahead after: solves until engine and analysis together are faster than every "
      "algorithm with its analysis.\n");
  bench_gpu_means(groups, true);
  bench_peer_tables(groups, rows, true);
}
