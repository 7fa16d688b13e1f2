/* lot_tables.c - the end of trireme bench lot: by class of system, the geometric mean and the least
 * of the speed against the best peer; and the systems where it is least. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grid.h"
#include "leave.h"
#include "lot.h"

enum { WORST = 10, MOST_NRHS = 16 };

/* The class of an entry: the first whose word it has. */
static const struct {
  const char *word, *name;
} classes[] = {{"file:", "files"},
               {"factor:triangle:", "generated, reordered"},
               {"factor:lu:", "L and U, complete"},
               {"factor:", "L and U, incomplete"},
               {"gen:poisson2d", "meshes of a plane"},
               {"gen:delaunay:", "meshes of a plane"},
               {"gen:powerlaw:", "graphs and chains"},
               {"gen:random:", "graphs and chains"},
               {"gen:chain:", "graphs and chains"},
               {"", "meshes of space"}};
enum { CLASSES = sizeof classes / sizeof *classes };

const char *bench_class(int64_t k) {
  int at = 0;
  for (; at < CLASSES; at++) {
    if (at && classes[at].name == classes[at - 1].name) continue;
    if (!k--) return classes[at].name;
  }
  return NULL;
}

const char *bench_class_of(const bench_group *g) {
  int k = 0;
  while (!strstr(g->first->matrix, classes[k].word)) k++;
  return classes[k].name;
}

/* The columns that are compared: what solves, and the best of the peers that the run has. */
typedef struct contest {
  bench_column own, first, last;
  const char *title;
} contest;

static contest contest_of(const bench_groups *groups, bool gpu) {
  if (gpu)
    return (contest){BENCH_ENGINE, BENCH_CUSPARSE, BENCH_CUSPARSE, "the engine against cuSPARSE"};
  for (int64_t i = 0; i < groups->count; i++)
    for (int c = BENCH_MKL_ONE; c <= BENCH_OTHER; c++)
      if (groups->group[i].column[c])
        return (contest){BENCH_AUTO, BENCH_MKL_ONE, BENCH_OTHER, "auto against the best peer"};
  return (contest){BENCH_AUTO, BENCH_SERIAL, BENCH_THREADS,
                   "auto against the faster of serial and threads"};
}

static bench_column peer_of(const bench_group *g, const contest *c) {
  return bench_best(g, c->first, c->last);
}

static double gain_of(const bench_group *g, const contest *c) {
  return bench_gain(g, c->own, peer_of(g, c));
}

/* ---- By class ---- */

static bench_mean mean_of(const bench_groups *groups, const contest *c, int64_t nrhs,
                          const char *class) {
  bench_mean mean = {0};
  for (int64_t i = 0; i < groups->count; i++) {
    const bench_group *g = &groups->group[i];
    if (g->first->nrhs == nrhs && (!class || class == bench_class_of(g)))
      bench_mean_add(&mean, gain_of(g, c), i);
  }
  return mean;
}

static void add_class(bench_grid *grid, const char *name, const bench_mean *mean,
                      const bench_groups *groups) {
  char label[64];
  if (!mean->count) return;
  const double ratios[] = {bench_mean_value(mean), mean->least};
  bench_label(label, sizeof label, groups->group[mean->least_at].first);
  bench_grid_add(grid, name);
  bench_grid_put(grid, "%lld", (long long)mean->count);
  bench_grid_ratios(grid, ratios, 2);
  bench_grid_add(grid, label);
}

static void print_classes(const bench_groups *groups, const contest *c, int64_t nrhs,
                          const char *title, bool markdown) {
  static const char *const heads[] = {"class", "systems", "mean", "least", "where"};
  bench_grid grid = {.text_last = true};
  bench_grid_head(&grid, heads, sizeof heads / sizeof *heads);
  const char *class;
  for (int k = 0; (class = bench_class(k)); k++) {
    bench_mean mean = mean_of(groups, c, nrhs, class);
    add_class(&grid, class, &mean, groups);
  }
  bench_mean all = mean_of(groups, c, nrhs, NULL);
  add_class(&grid, "all", &all, groups);
  bench_grid_print(&grid, title, markdown);
}

/* ---- The worst ---- */

typedef struct place {
  const bench_group *group;
  double gain;
} place;

static int compare_places(const void *a, const void *b) {
  const double x = ((const place *)a)->gain, y = ((const place *)b)->gain;
  return (x > y) - (x < y);
}

static void add_place(bench_grid *grid, const place *p, const contest *c) {
  const bench_row *own = p->group->column[c->own], *peer = p->group->column[peer_of(p->group, c)];
  const double seconds[] = {bench_row_seconds(own), bench_row_seconds(peer)};
  char label[64];
  bench_label(label, sizeof label, own);
  bench_grid_add(grid, label);
  bench_grid_ratios(grid, &p->gain, 1);
  bench_grid_milliseconds(grid, seconds, 2);
  if (peer->threads > 1)
    bench_grid_put(grid, "%s:%lld", peer->method, (long long)peer->threads);
  else
    bench_grid_add(grid, peer->method);
  bench_grid_add(grid, human_count(own->n).s);
  bench_grid_add(grid, human_count(own->nnz).s);
  bench_grid_add(grid, human_count(own->levels).s);
}

static void print_worst(const bench_groups *groups, const contest *c, int64_t nrhs, bool markdown) {
  static const char *const heads[] = {"system", "times as fast", "ms",    "peer, ms", "peer",
                                      "n",      "nnz",           "levels"};
  bench_grid grid = {0};
  place *places = malloc((size_t)groups->count * sizeof *places + 1);
  int64_t count = 0;
  for (int64_t i = 0; i < groups->count && places; i++) {
    const double gain = gain_of(&groups->group[i], c);
    if (groups->group[i].first->nrhs == nrhs && gain > 0)
      places[count++] = (place){&groups->group[i], gain};
  }
  if (count) qsort(places, (size_t)count, sizeof *places, compare_places);
  bench_grid_head(&grid, heads, sizeof heads / sizeof *heads);
  for (int64_t i = 0; i < count && i < WORST; i++) add_place(&grid, &places[i], c);
  bench_grid_print(&grid, "The worst", markdown);
  free(places);
}

void bench_lot_tables(const bench_groups *groups, bool gpu, bool markdown) {
  const contest c = contest_of(groups, gpu);
  int64_t done[MOST_NRHS];
  int count = 0;
  for (int64_t i = 0; i < groups->count && count < MOST_NRHS; i++) {
    const int64_t nrhs = groups->group[i].first->nrhs;
    bool known = false;
    for (int k = 0; k < count; k++) known |= done[k] == nrhs;
    if (known) continue;
    done[count++] = nrhs;
    char title[128];
    snprintf(title, sizeof title, "By class: %s, %s", c.title,
             human_things(nrhs, "right-hand side", "right-hand sides").s);
    print_classes(groups, &c, nrhs, title, markdown);
    print_worst(groups, &c, nrhs, markdown);
  }
}
