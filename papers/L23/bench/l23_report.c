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

/* The solves, in the order of the tables.  L23's are what the paper describes: its layout, blocks
 * inverted, binary trees and Algorithm 2; its baseline has flat trees and solves a node's diagonal
 * block before it multiplies the blocks below.  Ours have subtrees on one rank each. */
enum { GRID2D, OF_L23, FLAT, BASELINE, L23S, PAIRS, OURS, INVERTED, VARIANTS };
static const char *const variant_names[VARIANTS] = {"2D with trees",
                                                    "baseline, L23",
                                                    "baseline, flat trees",
                                                    "baseline, binary trees",
                                                    "L23",
                                                    "L23, pairwise exchange",
                                                    "ours, blocks inverted",
                                                    "ours, separators inverted"};

static int variant(const l23_row *r) {
  const bool baseline = !strncmp(r->method, "grid3d-baseline", 15),
             flat = !strcmp(r->trees, "flat");
  if (r->inverted) return baseline || !r->homes ? VARIANTS : INVERTED;
  if (strstr(r->method, "lookahead=0")) return flat && !r->homes ? OF_L23 : VARIANTS;
  if (baseline && flat) return r->homes ? VARIANTS : FLAT;
  if (flat) return VARIANTS;
  if (r->pz == 1 && !r->homes) return GRID2D;
  if (baseline) return r->homes ? VARIANTS : BASELINE;
  if (!strcmp(r->method, "grid3d:algorithm=2")) return r->homes ? VARIANTS : L23S;
  return r->homes ? OURS : PAIRS;
}

/* With one grid L23's solve is 2D with trees, and baselines differ in their trees alone. */
static int variant_of_one_grid(int variant) {
  if (variant == FLAT) return OF_L23;
  return variant == BASELINE || variant == L23S || variant == PAIRS ? GRID2D : variant;
}

static bool is_square(const l23_row *r) { return r->px <= r->py && r->py <= 2 * r->px; }

/* Selects rows: of one system, on the given number of ranks (0: any), near-square grids only. */
typedef struct choice {
  const char *kind, *matrix;
  int64_t ranks, nrhs;
  int variant; /* VARIANTS: any */
  bool square;
  int pz; /* 0: any */
} choice;

static bool fits(const l23_row *r, const choice *c) {
  return !strcmp(r->kind, c->kind) && !strcmp(r->matrix, c->matrix) && r->nrhs == c->nrhs &&
         (!c->ranks || r->ranks == c->ranks) && (!c->square || is_square(r)) &&
         (!c->pz || r->pz == c->pz) &&
         (c->variant == VARIANTS || variant(r) == c->variant ||
          (r->pz == 1 && variant(r) == variant_of_one_grid(c->variant)));
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
  choice same = {r->kind, r->matrix, 0, r->nrhs, VARIANTS, false, 0};
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

/* ---- The best grid of each solve. ---- */

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

/* Grids that are not near-square. */
static bool has_other_shapes(const l23_rows *rows, const choice *c) {
  for (int64_t i = 0; i < rows->count; i++)
    if (fits(&rows->row[i], c) && !is_square(&rows->row[i])) return true;
  return false;
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
      if (!any || has_other_shapes(rows, &c)) add_best(&grid, rows, c, ranks, count);
    }
  name_system(text, sizeof text, "Best grids in ms", &c);
  bench_grid_print(&grid, text, markdown);
}

/* ---- Figure 4: near-square grids, a curve per Pz. ---- */

enum { MOST_PZ = 32 };

static void print_curves(const l23_rows *rows, choice c, bool markdown) {
  int64_t ranks[MOST_RANKS];
  char text[160];
  c.square = true;
  int count = list_ranks(rows, &c, ranks);
  bench_grid grid = {.columns = count + 2};
  bench_grid_add(&grid, "solve");
  bench_grid_add(&grid, "Pz");
  for (int k = 0; k < count; k++) bench_grid_add(&grid, human_count(ranks[k]).s);
  for (c.variant = 0; c.variant < VARIANTS; c.variant++)
    for (c.pz = 1; c.pz <= (c.variant == GRID2D ? 1 : MOST_PZ); c.pz *= 2) {
      c.ranks = 0;
      if (!best(rows, &c) || (c.pz == 1 && variant_of_one_grid(c.variant) != c.variant)) continue;
      bench_grid_add(&grid, variant_names[c.variant]);
      bench_grid_add(&grid, human_count(c.pz).s);
      for (int k = 0; k < count; k++) {
        c.ranks = ranks[k];
        const l23_row *r = best(rows, &c);
        snprintf(text, sizeof text, "%.3g", r ? 1e3 * r->value[L23_SOLVE].max : 0);
        bench_grid_add(&grid, r ? text : "");
      }
    }
  name_system(text, sizeof text, "L23, Figure 4: ms by ranks", &c);
  bench_grid_print(&grid, text, markdown);
}

/* ---- The claims of L23, on near-square grids. ---- */

static double gain(const l23_rows *rows, choice c, int slow, int fast) {
  c.variant = slow;
  const l23_row *a = best(rows, &c);
  c.variant = fast;
  const l23_row *b = best(rows, &c);
  return a && b ? a->value[L23_SOLVE].max / b->value[L23_SOLVE].max : NAN;
}

/* The largest gain with both on the same ranks; over 2D on any Pz, else with the same Pz,
 * from 2. */
static void add_most(bench_grid *grid, const l23_rows *rows, choice c, const int64_t *ranks,
                     int count, int slow, int fast) {
  char text[64] = "";
  double most = 0;
  for (int k = 0; k < count; k++)
    for (int pz = 2; pz <= MOST_PZ; pz *= 2) {
      c.ranks = ranks[k];
      c.pz = slow == GRID2D ? 0 : pz;
      double g = gain(rows, c, slow, fast);
      if (!(g > most)) continue;
      most = g;
      if (c.pz)
        snprintf(text, sizeof text, "%.2f (%lld, %d)", g, (long long)ranks[k], pz);
      else
        snprintf(text, sizeof text, "%.2f (%lld)", g, (long long)ranks[k]);
    }
  bench_grid_add(grid, text);
}

static void print_gains(const l23_rows *rows, choice c, bool markdown) {
  static const int pairs[][2] = {
      {OF_L23, L23S},     {GRID2D, L23S}, {OF_L23, OURS},   {GRID2D, OURS}, {OF_L23, INVERTED},
      {GRID2D, INVERTED}, {FLAT, L23S},   {BASELINE, L23S}, {L23S, PAIRS},  {OF_L23, FLAT}};
  int64_t ranks[MOST_RANKS];
  char text[160];
  c.square = true;
  int count = list_ranks(rows, &c, ranks);
  bench_grid grid = {.columns = count + 2};
  bench_grid_add(&grid, "best grid over best grid");
  for (int k = 0; k < count; k++) bench_grid_add(&grid, human_count(ranks[k]).s);
  bench_grid_add(&grid, "most, same ranks and Pz");
  for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
    const int slow = pairs[p][0], fast = pairs[p][1];
    choice s = c, f = c;
    s.variant = slow;
    f.variant = fast;
    if (!best(rows, &s) || !best(rows, &f)) continue;
    snprintf(text, sizeof text, "%s over %s", variant_names[fast], variant_names[slow]);
    bench_grid_add(&grid, text);
    for (int k = 0; k < count; k++) {
      choice at = c;
      at.ranks = ranks[k];
      bench_grid_add(&grid, bench_ratio(gain(rows, at, slow, fast)).s);
    }
    add_most(&grid, rows, c, ranks, count, slow, fast);
  }
  name_system(text, sizeof text, "Times as fast by ranks, near-square grids", &c);
  if (grid.cells > grid.columns) {
    bench_grid_print(&grid, text, markdown);
    return;
  }
  free(grid.cell);
}

/* ---- Figures 5 to 8: the parts of the time. ---- */

static void add_ms(bench_grid *grid, double seconds) {
  char text[48];
  snprintf(text, sizeof text, "%.3g", 1e3 * seconds);
  bench_grid_add(grid, text);
}

static void add_spread(bench_grid *grid, const l23_spread *s) {
  char text[48];
  snprintf(text, sizeof text, "%.3g/%.3g/%.3g", 1e3 * s->min, 1e3 * s->mean, 1e3 * s->max);
  bench_grid_add(grid, s->max > 0 ? text : "0");
}

/* Real ranks report no time of a sweep: its parts' means. */
static void add_sweep(bench_grid *grid, const l23_row *r, int upper) {
  if (r->value[L23_SWEEP + upper].max > 0)
    add_spread(grid, &r->value[L23_SWEEP + upper]);
  else
    add_ms(grid, r->value[L23_INTRA + upper].mean + r->value[L23_FLOP + upper].mean);
}

static void add_parts(bench_grid *grid, const l23_row *r) {
  static const l23_value shown[] = {L23_INTER, L23_INTRA, L23_FLOP};
  char text[64];
  bench_grid_add(grid, human_count(r->ranks).s);
  snprintf(text, sizeof text, "%dx%dx%d", r->px, r->py, r->pz);
  bench_grid_add(grid, text);
  add_ms(grid, r->value[L23_SOLVE].max);
  for (int k = 0; k < 3; k++) add_ms(grid, r->value[shown[k]].mean + r->value[shown[k] + 1].mean);
  for (int upper = 0; upper < 2; upper++) add_sweep(grid, r, upper);
  const l23_spread *messages = &r->value[L23_INTRA_MESSAGES], *bytes = &r->value[L23_INTRA_BYTES];
  snprintf(text, sizeof text, "%.0f/%.0f", messages->mean, messages->max);
  bench_grid_add(grid, text);
  snprintf(text, sizeof text, "%.3g/%.3g", bytes->mean / 1e3, bytes->max / 1e3);
  bench_grid_add(grid, text);
  snprintf(text, sizeof text, "%.3g", r->volume_bound / 1e3);
  bench_grid_add(grid, text);
}

static void print_parts(const l23_rows *rows, choice c, bool markdown) {
  static const int shown[] = {OF_L23, L23S, OURS, INVERTED};
  static const char *const heads[] = {"ranks", "grids", "total",    "Z-Comm", "XY-Comm", "products",
                                      "L",     "U",     "messages", "kB",     "L23's kB"};
  int64_t ranks[MOST_RANKS];
  char text[280], about[160];
  c.square = true;
  int count = list_ranks(rows, &c, ranks);
  for (size_t v = 0; v < sizeof shown / sizeof *shown; v++) {
    bench_grid grid = {.columns = 11};
    for (int h = 0; h < 11; h++) bench_grid_add(&grid, heads[h]);
    bool several = false; /* grids: one alone shows nothing of Z-Comm */
    c.variant = shown[v];
    for (int k = 0; k < count; k++)
      for (c.pz = 1; c.pz <= MOST_PZ; c.pz *= 2) {
        c.ranks = ranks[k];
        if (!best(rows, &c)) continue;
        add_parts(&grid, best(rows, &c));
        several |= c.pz > 1;
      }
    name_system(about, sizeof about, "L23, Figures 5 to 8", &c);
    snprintf(text, sizeof text,
             "%s: %s, ms (means over ranks; L and U without Z-Comm: least/mean/most); what a rank "
             "sends inside its grid in L, mean/most",
             about, variant_names[shown[v]]);
    if (several)
      bench_grid_print(&grid, text, markdown);
    else
      free(grid.cell);
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
      if (!fits(r, &c) || r->pz != pz || variant(r) != OURS) continue;
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
    choice c = {r->kind, r->matrix, 0, r->nrhs, VARIANTS, false, 0};
    if (!is_first(rows, i)) continue;
    print_curves(rows, c, markdown);
    print_best(rows, c, markdown);
    print_gains(rows, c, markdown);
    print_parts(rows, c, markdown);
    print_replication(rows, c, markdown);
  }
  print_validation(rows);
}

/* ---- The chart: Figure 4. ---- */

enum { CURVES = 6 }; /* Pz = 1 to 32 */

/* Lines and dots of a panel. */
static const struct {
  int line, dots;
  const char *label;
} panels[] = {{L23S, OF_L23, "L23, and its baseline"}, {OURS, L23S, "ours, and L23"}};
enum { PANELS = sizeof panels / sizeof *panels };

static void fill_panel(bench_lines *lines, int64_t at, int systems, const l23_rows *rows,
                       choice c) {
  c.square = true;
  for (int series = 0; series < 2 * CURVES; series++) {
    c.variant = series < CURVES ? panels[at / systems].line : panels[at / systems].dots;
    c.pz = 1 << series % CURVES;
    for (int k = 0; k < lines->points; k++) {
      c.ranks = (int64_t)lines->x[k];
      const l23_row *r = best(rows, &c);
      double *value = &lines->value[(at * lines->series + series) * lines->points + k];
      if (r) *value = 1e3 * r->value[L23_SOLVE].max;
    }
  }
}

/* The systems that were modelled. */
static int pick_systems(const l23_rows *rows, int64_t *system, int most) {
  int systems = 0;
  for (int64_t i = 0; i < rows->count && systems < most; i++)
    if (!strcmp(rows->row[i].kind, "loggp") && is_first(rows, i)) system[systems++] = i;
  return systems;
}

static choice choice_of(const l23_row *r) {
  return (choice){"loggp", r->matrix, 0, r->nrhs, VARIANTS, true, 0};
}

/* The rank counts of the system with the most of them. */
static void fill_ranks(bench_lines *lines, const l23_rows *rows, const int64_t *system,
                       int systems) {
  int64_t ranks[MOST_RANKS];
  for (int p = 0; p < systems; p++) {
    choice c = choice_of(&rows->row[system[p]]);
    int count = list_ranks(rows, &c, ranks);
    if (count <= lines->points) continue;
    lines->points = count;
    for (int k = 0; k < count; k++) lines->x[k] = (double)ranks[k];
  }
}

int l23_draw(const l23_rows *rows, const char *path) {
  enum { MOST_SYSTEMS = BENCH_MOST_PANELS / PANELS };
  bench_lines lines = {.title = "L23, Figure 4: milliseconds of a solve by ranks, a curve per Pz",
                       .subtitle =
                           "The LogGP model of Cori, near-square grids. Lines: what a panel "
                           "names first, ours with blocks inverted. Large dots: what it "
                           "names second. Nothing here was measured on a cluster.",
                       .x_axis = "ranks",
                       .series = 2 * CURVES};
  int64_t system[MOST_SYSTEMS];
  int systems = pick_systems(rows, system, MOST_SYSTEMS);
  if (!systems) return leave_usage("bench", "--svg draws what was modelled: --parts model");
  fill_ranks(&lines, rows, system, systems);
  if (!lines.points) return leave_usage("bench", "--svg draws near-square grids, Px <= Py <= 2 Px");
  for (int s = 0; s < CURVES; s++) {
    snprintf(lines.name[s], sizeof lines.name[s], "Pz = %d", 1 << s);
    lines.dots[CURVES + s] = CURVES;
  }
  int code = bench_lines_open(&lines, (int64_t)systems * PANELS);
  if (code >= 0) return code;
  for (int p = 0; p < systems * PANELS; p++) {
    const l23_row *r = &rows->row[system[p % systems]];
    snprintf(lines.label[p], sizeof *lines.label, "%.*s: %s",
             (int)strcspn(r->matrix, "-") < 32 ? (int)strcspn(r->matrix, "-") : 32, r->matrix,
             panels[p / systems].label);
    fill_panel(&lines, p, systems, rows, choice_of(r));
  }
  code = bench_lines_write(&lines, path);
  bench_lines_close(&lines);
  return code;
}
