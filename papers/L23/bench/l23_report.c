/* l23_report.c - tables and a chart of trireme bench l23, from its rows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "grid.h"
#include "l23.h"
#include "leave.h"
#include "output.h"
#include "row.h"

/* Figure 4's lines.  FLAT: with flat trees, as L23's baseline has them. */
enum { GRID2D, FLAT, BASELINE, SCATTERED, NEW, INVERTED, VARIANTS };
/* The chart's lines; SCATTERED is in the tables. */
enum { DRAWN = VARIANTS - 1 };
static const char *const variant_names[VARIANTS] = {"2D with trees", "baseline, flat trees",
                                                    "baseline",      "new, without homes",
                                                    "new",           "new, separators inverted"};

static int variant(const l23_row *r) {
  if (r->inverted) return strcmp(r->method, "grid3d-baseline") ? INVERTED : VARIANTS;
  const bool baseline = !strcmp(r->method, "grid3d-baseline");
  if (baseline && !strcmp(r->trees, "flat")) return FLAT;
  if (r->pz == 1 && !r->homes) return GRID2D;
  if (baseline) return BASELINE;
  return r->homes ? NEW : SCATTERED;
}

static bool is_square(const l23_row *r) { return r->px <= r->py && r->py <= 2 * r->px; }

/* Selects rows: of one system, on the given number of ranks (0: any), near-square grids only. */
typedef struct choice {
  const char *kind, *matrix;
  int64_t ranks, nrhs;
  int variant; /* VARIANTS: any */
  bool square;
} choice;

static bool fits(const l23_row *r, const choice *c) {
  return !strcmp(r->kind, c->kind) && !strcmp(r->matrix, c->matrix) && r->nrhs == c->nrhs &&
         (!c->ranks || r->ranks == c->ranks) && (!c->square || is_square(r)) &&
         (c->variant == VARIANTS || variant(r) == c->variant);
}

static const l23_row *best(const l23_rows *rows, const choice *c) {
  const l23_row *found = NULL;
  for (int64_t i = 0; i < rows->count; i++) {
    const l23_row *r = &rows->row[i];
    if (fits(r, c) && (!found || r->value[L23_SOLVE].max < found->value[L23_SOLVE].max)) found = r;
  }
  return found;
}

/* The first row of each system. */
static bool is_first(const l23_rows *rows, int64_t at) {
  const l23_row *r = &rows->row[at];
  choice same = {r->kind, r->matrix, 0, r->nrhs, VARIANTS, false};
  for (int64_t i = 0; i < at; i++)
    if (fits(&rows->row[i], &same)) return false;
  return true;
}

enum { MOST_RANKS = 16 };

static int list_ranks(const l23_rows *rows, const choice *c, int64_t *ranks) {
  int count = 0;
  for (int64_t i = 0; i < rows->count; i++) {
    if (!fits(&rows->row[i], c)) continue;
    int at = 0;
    while (at < count && ranks[at] < rows->row[i].ranks) at++;
    if ((at < count && ranks[at] == rows->row[i].ranks) || count == MOST_RANKS) continue;
    memmove(ranks + at + 1, ranks + at, (size_t)(count++ - at) * sizeof *ranks);
    ranks[at] = rows->row[i].ranks;
  }
  return count;
}

static void name_system(char *text, size_t size, const char *what, const choice *c) {
  snprintf(text, size, "%s: %.64s, %s, %lld right-hand side%s", what, c->matrix, c->kind,
           (long long)c->nrhs, c->nrhs == 1 ? "" : "s");
}

/* ---- Figure 4: the best grid of each method. ---- */

static void add_best(bench_grid *grid, const l23_rows *rows, choice c, const int64_t *ranks,
                     int count) {
  char text[48];
  bool any = false;
  for (int k = 0; k < count; k++) {
    c.ranks = ranks[k];
    any |= best(rows, &c) != NULL;
  }
  if (!any) return;
  bench_grid_add(grid, variant_names[c.variant]);
  bench_grid_add(grid, c.square ? "near-square" : "any");
  for (int k = 0; k < count; k++) {
    c.ranks = ranks[k];
    const l23_row *r = best(rows, &c);
    if (r)
      snprintf(text, sizeof text, "%.3g (%dx%dx%d)", 1e3 * r->value[L23_SOLVE].max, r->px, r->py,
               r->pz);
    bench_grid_add(grid, r ? text : "");
  }
}

static void print_best(const l23_rows *rows, choice c, bool markdown) {
  int64_t ranks[MOST_RANKS];
  char text[160];
  int count = list_ranks(rows, &c, ranks);
  bench_grid grid = {.columns = count + 2};
  bench_grid_add(&grid, "solve");
  bench_grid_add(&grid, "grids");
  for (int k = 0; k < count; k++) {
    snprintf(text, sizeof text, "%lld rank%s", (long long)ranks[k], ranks[k] == 1 ? "" : "s");
    bench_grid_add(&grid, text);
  }
  for (c.variant = 0; c.variant < VARIANTS; c.variant++)
    for (int any = 0; any < 2; any++) {
      c.square = !any;
      add_best(&grid, rows, c, ranks, count);
    }
  name_system(text, sizeof text, "L23, Figure 4: best grids in ms", &c);
  bench_grid_print(&grid, text, markdown);
}

/* ---- The claims of L23. ---- */

static void add_gain(bench_grid *grid, const l23_rows *rows, const choice *slow, choice fast) {
  for (int inverted = 0; inverted < 2; inverted++)
    for (int any = 0; any < 2; any++) {
      choice s = *slow, f = fast;
      if (f.variant == NEW && inverted) f.variant = INVERTED;
      if (s.variant == NEW && inverted) s.variant = INVERTED;
      s.square = f.square = !any;
      const l23_row *a = best(rows, &s), *b = best(rows, &f);
      double gain = a && b ? a->value[L23_SOLVE].max / b->value[L23_SOLVE].max : NAN;
      bench_grid_add(grid, bench_ratio(gain).s);
    }
}

static void print_gains(const l23_rows *rows, choice c, bool markdown) {
  static const char *const heads[] = {"new over", "near-square", "any grid",
                                      "inverted, near-square", "inverted, any grid"};
  int64_t ranks[MOST_RANKS];
  char text[160];
  bench_grid grid = {.columns = 5};
  int count = list_ranks(rows, &c, ranks);
  if (!count) return;
  for (int k = 0; k < 5; k++) bench_grid_add(&grid, heads[k]);
  for (int k = 0; k < count; k++)
    for (int which = BASELINE; which >= GRID2D; which--) {
      choice slow = c, fast = c;
      slow.ranks = fast.ranks = ranks[k];
      slow.variant = which;
      fast.variant = NEW;
      if (!best(rows, &slow)) continue;
      snprintf(text, sizeof text, "%s, %lld ranks", variant_names[which], (long long)ranks[k]);
      bench_grid_add(&grid, text);
      add_gain(&grid, rows, &slow, fast);
    }
  for (int k = 1; k < count; k++) {
    choice slow = c, fast = c;
    slow.variant = fast.variant = NEW;
    slow.ranks = ranks[0];
    fast.ranks = ranks[k];
    snprintf(text, sizeof text, "itself, %lld to %lld ranks", (long long)ranks[0],
             (long long)ranks[k]);
    bench_grid_add(&grid, text);
    add_gain(&grid, rows, &slow, fast);
  }
  name_system(text, sizeof text, "Times as fast, best grids", &c);
  bench_grid_print(&grid, text, markdown);
}

/* ---- Figures 5 to 8: the parts of the time; of the model on 1024 ranks alone (Figures 7, 8),
 * since it has many more numbers of ranks than a page can show. ---- */

enum { MODELLED_PARTS = 1024 };

static void add_spread(bench_grid *grid, const l23_spread *s) {
  char text[48];
  snprintf(text, sizeof text, "%.3g/%.3g/%.3g", 1e3 * s->min, 1e3 * s->mean, 1e3 * s->max);
  bench_grid_add(grid, s->max > 0 ? text : "0");
}

static void add_phases(bench_grid *grid, const l23_row *r) {
  char text[64];
  snprintf(text, sizeof text, "%s %dx%dx%d", variant_names[variant(r)], r->px, r->py, r->pz);
  bench_grid_add(grid, text);
  snprintf(text, sizeof text, "%.3g", 1e3 * r->value[L23_SOLVE].max);
  bench_grid_add(grid, text);
  static const l23_value shown[] = {L23_INTER, L23_INTRA, L23_FLOP};
  for (int k = 0; k < 3; k++)
    for (int side = 0; side < 2; side++) add_spread(grid, &r->value[shown[k] + side]);
  const l23_spread *messages = &r->value[L23_INTRA_MESSAGES], *bytes = &r->value[L23_INTRA_BYTES];
  snprintf(text, sizeof text, "%.0f/%.0f", messages->mean, messages->max);
  bench_grid_add(grid, text);
  snprintf(text, sizeof text, "%.3g/%.3g", bytes->mean / 1e3, bytes->max / 1e3);
  bench_grid_add(grid, text);
  snprintf(text, sizeof text, "%.3g", r->volume_bound / 1e3);
  bench_grid_add(grid, text);
}

static void print_phases(const l23_rows *rows, choice c, bool markdown) {
  static const char *const heads[] = {
      "",           "total", "between grids L", "U",  "inside grids L", "U",
      "products L", "U",     "messages",        "kB", "L23's kB"};
  int64_t ranks[MOST_RANKS];
  char text[280], about[160];
  int count = list_ranks(rows, &c, ranks);
  for (int k = 0; k < count; k++) {
    if (!strcmp(c.kind, "loggp") && ranks[k] != MODELLED_PARTS) continue;
    bench_grid grid = {.columns = 11};
    for (int h = 0; h < 11; h++) bench_grid_add(&grid, heads[h]);
    c.ranks = ranks[k];
    for (c.variant = 0; c.variant < VARIANTS; c.variant++)
      if (best(rows, &c)) add_phases(&grid, best(rows, &c));
    c.variant = VARIANTS;
    name_system(about, sizeof about, "L23, Figures 5 to 8: ms as least/mean/most", &c);
    snprintf(text, sizeof text, "%s, %lld ranks; what a rank sends in L as mean/most", about,
             (long long)ranks[k]);
    bench_grid_print(&grid, text, markdown);
  }
}

/* ---- The cost of replication, and the accuracy of the model. ---- */

static void print_replication(const l23_rows *rows, choice c, bool markdown) {
  static const char *const heads[] = {"Pz", "memory", "work", "heaviest leaf over mean"};
  bench_grid grid = {.columns = 4};
  char text[160];
  for (int k = 0; k < 4; k++) bench_grid_add(&grid, heads[k]);
  for (int pz = 1; pz <= 1 << 16; pz *= 2)
    for (int64_t i = 0; i < rows->count; i++) {
      const l23_row *r = &rows->row[i];
      if (!fits(r, &c) || r->pz != pz || variant(r) != NEW) continue;
      const double cells[] = {r->replicated, r->replicated_work,
                              r->value[L23_LEAF].max / r->value[L23_LEAF].mean};
      bench_grid_add(&grid, human_count(pz).s);
      for (int k = 0; k < 3; k++) {
        snprintf(text, sizeof text, "%.2f", cells[k]);
        bench_grid_add(&grid, text);
      }
      break;
    }
  name_system(text, sizeof text, "What Pz grids replicate, over one rank", &c);
  if (grid.cells > 4) {
    bench_grid_print(&grid, text, markdown);
    return;
  }
  free(grid.cell);
}

static bool same_solve(const l23_row *a, const l23_row *b) {
  return !strcmp(a->matrix, b->matrix) && !strcmp(a->method, b->method) &&
         !strcmp(a->trees, b->trees) && a->homes == b->homes && a->inverted == b->inverted &&
         a->px == b->px && a->py == b->py && a->pz == b->pz && a->nrhs == b->nrhs;
}

static void print_validation(const l23_rows *rows) {
  double least = INFINITY, most = 0, sum = 0;
  int64_t count = 0;
  for (int64_t i = 0; i < rows->count; i++)
    for (int64_t k = 0; k < rows->count; k++) {
      const l23_row *smpi = &rows->row[i], *model = &rows->row[k];
      if (strcmp(smpi->kind, "smpi") || strcmp(model->kind, "loggp") || !same_solve(smpi, model))
        continue;
      double ratio = model->value[L23_SOLVE].max / smpi->value[L23_SOLVE].max;
      least = fmin(least, ratio);
      most = fmax(most, ratio);
      sum += log(ratio);
      count++;
      break;
    }
  if (count)
    printf(
        "\nThe model over the simulation, %lld solves: %.2f to %.2f, %.2f in the geometric mean\n",
        (long long)count, least, most, exp(sum / (double)count));
}

/* ---- Figures 9 to 11: grids on GPUs. ---- */

static const char *gpu_kind(const l23_row *r) {
  if (!strcmp(r->kind, "gpu")) return "measured";
  bool other =
      strcmp(r->kind, "shared") && strcmp(r->kind, "composed") && strcmp(r->kind, "modelled");
  return other ? NULL : r->kind;
}

static bool same_gpu_system(const l23_row *a, const l23_row *b) {
  return gpu_kind(a) && gpu_kind(b) && !strcmp(a->matrix, b->matrix) && a->nrhs == b->nrhs;
}

/* All rows of the system of row `at`, if it is the first of them. */
static void print_gpus(const l23_rows *rows, int64_t at, bool markdown) {
  static const char *const heads[] = {"grids", "method", "", "total", "L", "U", "between grids"};
  static const l23_value shown[] = {L23_FLOP, L23_FLOP + 1, L23_INTER};
  const l23_row *first = &rows->row[at];
  bench_grid grid = {.columns = 7};
  char text[200];
  for (int64_t i = 0; i < at; i++)
    if (same_gpu_system(&rows->row[i], first)) return;
  for (int k = 0; k < 7; k++) bench_grid_add(&grid, heads[k]);
  for (int64_t i = at; i < rows->count; i++) {
    const l23_row *r = &rows->row[i];
    if (!same_gpu_system(r, first)) continue;
    snprintf(text, sizeof text, "%d x %d x %d", r->px, r->py, r->pz);
    bench_grid_add(&grid, text);
    snprintf(text, sizeof text, "%s%s%s", r->method, r->inverted ? ", inverted" : "",
             r->homes ? "" : ", scattered");
    bench_grid_add(&grid, text);
    bench_grid_add(&grid, gpu_kind(r));
    snprintf(text, sizeof text, "%.4g", 1e3 * r->value[L23_SOLVE].max);
    bench_grid_add(&grid, text);
    for (int k = 0; k < 3; k++) add_spread(&grid, &r->value[shown[k]]);
  }
  snprintf(text, sizeof text, "L23, Figures 9 to 11: GPUs, ms as least/mean/most: %.64s, %lld rhs",
           first->matrix, (long long)first->nrhs);
  bench_grid_print(&grid, text, markdown);
}

void l23_report(const l23_rows *rows, bool markdown) {
  for (int64_t i = 0; i < rows->count; i++) {
    const l23_row *r = &rows->row[i];
    if (gpu_kind(r)) {
      print_gpus(rows, i, markdown);
      continue;
    }
    choice c = {r->kind, r->matrix, 0, r->nrhs, VARIANTS, false};
    if (!is_first(rows, i)) continue;
    print_best(rows, c, markdown);
    print_gains(rows, c, markdown);
    print_phases(rows, c, markdown);
    print_replication(rows, c, markdown);
  }
  print_validation(rows);
}

/* ---- The chart. ---- */

static int fill_panel(bench_lines *lines, int64_t at, const l23_rows *rows, choice c) {
  int series = 0;
  for (int dots = 0; dots < 2; dots++)
    for (int v = 0; v < VARIANTS; v++) {
      if (v == SCATTERED) continue;
      c.kind = dots ? "smpi" : "loggp";
      c.variant = v;
      for (int k = 0; k < lines->points; k++) {
        c.ranks = (int64_t)lines->x[k];
        const l23_row *r = best(rows, &c);
        double *value = &lines->value[(at * lines->series + series) * lines->points + k];
        if (r) *value = 1e3 * r->value[L23_SOLVE].max;
      }
      series++;
    }
  return series;
}

/* The systems that were modelled on at least the given number of rank counts, at most most of them.
 */
static int pick_panels(const l23_rows *rows, int least, int64_t *panel, int most) {
  int64_t ranks[MOST_RANKS];
  int panels = 0;
  for (int64_t i = 0; i < rows->count && panels < most; i++) {
    const l23_row *r = &rows->row[i];
    choice c = {"loggp", r->matrix, 0, r->nrhs, VARIANTS, false};
    if (!strcmp(r->kind, "loggp") && is_first(rows, i) && list_ranks(rows, &c, ranks) >= least)
      panel[panels++] = i;
  }
  return panels;
}

/* The rank counts of the system with the most of them. */
static void fill_ranks(bench_lines *lines, const l23_rows *rows, const int64_t *panel, int panels) {
  int64_t ranks[MOST_RANKS];
  for (int p = 0; p < panels; p++) {
    const l23_row *r = &rows->row[panel[p]];
    choice c = {"loggp", r->matrix, 0, r->nrhs, VARIANTS, false};
    int count = list_ranks(rows, &c, ranks);
    if (count <= lines->points) continue;
    lines->points = count;
    for (int k = 0; k < count; k++) lines->x[k] = (double)ranks[k];
  }
}

static void name_series(bench_lines *lines) {
  for (int v = 0, s = 0; v < VARIANTS; v++) {
    if (v == SCATTERED) continue;
    snprintf(lines->name[s], sizeof lines->name[s], "%s", variant_names[v]);
    lines->dots[DRAWN + s++] = DRAWN;
  }
}

int l23_draw(const l23_rows *rows, const char *path) {
  enum { MOST_PANELS = 12 };
  bench_lines lines = {.title = "Milliseconds of a solve by the number of ranks, best grid of each",
                       .subtitle =
                           "Lines: the LogGP model. Large dots: simulated ranks (SimGrid "
                           "SMPI). Nothing here was measured on a cluster. One right-hand "
                           "side where no number is named.",
                       .x_axis = "ranks",
                       .series = 2 * DRAWN};
  int64_t panel[MOST_PANELS];
  int panels = pick_panels(rows, 3, panel, MOST_PANELS); /* one or two points: in the tables */
  if (!panels) panels = pick_panels(rows, 1, panel, MOST_PANELS);
  if (!panels) return leave_usage("bench", "--svg draws what was modelled: --parts model");
  fill_ranks(&lines, rows, panel, panels);
  name_series(&lines);
  int code = bench_lines_open(&lines, panels);
  if (code >= 0) return code;
  for (int p = 0; p < panels; p++) {
    const l23_row *r = &rows->row[panel[p]];
    choice c = {"loggp", r->matrix, 0, r->nrhs, VARIANTS, false};
    if (r->nrhs == 1)
      snprintf(lines.label[p], sizeof *lines.label, "%.40s", r->matrix);
    else
      snprintf(lines.label[p], sizeof *lines.label, "%.40s, %lld right-hand sides", r->matrix,
               (long long)r->nrhs);
    fill_panel(&lines, p, rows, c);
  }
  code = bench_lines_write(&lines, path);
  bench_lines_close(&lines);
  return code;
}
