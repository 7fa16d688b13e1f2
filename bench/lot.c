/* lot.c - the draw of trireme bench lot and tail: a seed chooses generators, sizes, shapes, orders,
 * kinds of factors, triangles, and files of the folder TRIREME_MATRICES. Classes are dealt from a
 * shuffled deck, so that every twenty systems have the same share of each. All arithmetic is of
 * integers: a seed and the names of the files determine the list on every machine, and a shorter
 * lot is the beginning of a longer one. */
#include "lot.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/random.h"
#include "leave.h"

enum { DEFAULT_SYSTEMS = 60, LONGEST_NAME = 120 };

/* Entries of a matrix, so that a run takes minutes; complete factors have more. */
typedef struct sizes {
  int64_t least, most, most_factored, least_lu, most_lu;
} sizes;

static const sizes of_lot = {1 << 15, 1 << 23, 1 << 21, 1 << 13, 1 << 18},
                   of_tail = {1 << 12, 1 << 21, 1 << 20, 1 << 11, 1 << 16};
enum { MOST_CHAIN = 1 << 17 };

/* Bytes of a file: the larger ones would take most of the time of a run. */
enum { MOST_PACKED = 16 << 20, MOST_PLAIN = 64 << 20 };

typedef struct draw {
  uint64_t seed, at;
  const sizes *sizes;
  char **file;
  int64_t files, used;
} draw;

/* ---- Numbers ---- */

static int64_t below(draw *d, int64_t bound) {
  return (int64_t)trs_random_below(d->seed, d->at++, (uint64_t)bound);
}

static int64_t between(draw *d, int64_t least, int64_t most) {
  return least + below(d, most - least + 1);
}

/* Every doubling between the limits is as likely as the others. */
static int64_t size_between(draw *d, int64_t least, int64_t most) {
  int doublings = 0;
  while (least << (doublings + 1) <= most) doublings++;
  const int64_t begin = least << below(d, doublings);
  return begin + below(d, begin);
}

static int64_t power(int64_t base, int exponent) {
  return exponent ? base * power(base, exponent - 1) : 1;
}

static int64_t root(int64_t value, int degree) {
  int64_t r = 1;
  while (power(r + 1, degree) <= value) r++;
  return r;
}

/* A side between a quarter and twice the root: from a plate to a beam. */
static int64_t side(draw *d, int64_t nodes, int degree) {
  const int64_t length = root(nodes, degree) * between(d, 4, 32) / 16;
  return length < 3 ? 3 : length;
}

static int64_t rest(int64_t nodes, int64_t area) { return nodes / area < 3 ? 3 : nodes / area; }

/* ---- Generators ---- */

typedef enum shape { PLANE, BOX, CUBE, COUNT, SEEDED, SEEDED_ROWS } shape;

typedef struct generator {
  const char *name;
  shape shape;
  int entries;              /* per node, about */
  bool factored, symmetric; /* ILU(0) and LU exist; IC(0) exists */
} generator;

static const generator planes[] = {{"poisson2d5", PLANE, 5, true, true},
                                   {"poisson2d9", PLANE, 9, true, true},
                                   {"delaunay", SEEDED, 7, true, true}};
static const generator spaces[] = {{"poisson3d7", BOX, 7, true, true},
                                   {"poisson3d27", BOX, 27, true, true},
                                   {"elasticity3d", BOX, 220, true, true},
                                   {"kkt3d", CUBE, 56, false, false},
                                   {"wingmesh", COUNT, 425, true, false}};
static const generator graphs[] = {{"powerlaw", SEEDED, 5, false, false},
                                   {"random", SEEDED_ROWS, 1, false, false},
                                   {"chain", COUNT, 3, false, false}};

enum { PLANES = sizeof planes / sizeof *planes, SPACES = sizeof spaces / sizeof *spaces };
enum { GRAPHS = sizeof graphs / sizeof *graphs };

static void name_generator(draw *d, char *text, size_t size, const generator *g, int64_t least,
                           int64_t most) {
  enum { SEEDS = 1000, LEAST_ROW = 2, MOST_ROW = 16 };
  if (!strcmp(g->name, "chain") && most > MOST_CHAIN) most = MOST_CHAIN;
  const int64_t nodes = size_between(d, least, most) / g->entries;
  size_t used = (size_t)snprintf(text, size, "gen:%s:", g->name);
  int64_t x, y, k;
  text += used;
  size -= used;
  switch (g->shape) {
    case PLANE:
      x = side(d, nodes, 2);
      snprintf(text, size, "%lld,%lld", (long long)x, (long long)rest(nodes, x));
      return;
    case BOX:
      x = side(d, nodes, 3);
      y = side(d, nodes, 3);
      snprintf(text, size, "%lld,%lld,%lld", (long long)x, (long long)y,
               (long long)rest(nodes, x * y));
      return;
    case CUBE:
      x = root(nodes, 3);
      snprintf(text, size, "%lld", (long long)(x < 3 ? 3 : x));
      return;
    case COUNT:
      snprintf(text, size, "%lld", (long long)nodes);
      return;
    case SEEDED:
      snprintf(text, size, "%lld,seed=%lld", (long long)nodes, (long long)below(d, SEEDS));
      return;
    case SEEDED_ROWS:
      k = between(d, LEAST_ROW, MOST_ROW);
      snprintf(text, size, "%lld,%lld,seed=%lld", (long long)(nodes / (2 * k + 1)), (long long)k,
               (long long)below(d, SEEDS));
      return;
  }
}

/* ---- Entries ---- */

/* The shares of the classes: twenty cards.  FILES without a file is one of the others. */
typedef enum card { PLANAR, SPATIAL, GRAPH, REORDERED, INCOMPLETE, COMPLETE, FILES } card;
static const card deck[] = {PLANAR,    PLANAR,     PLANAR,     SPATIAL,    SPATIAL,
                            SPATIAL,   GRAPH,      GRAPH,      REORDERED,  REORDERED,
                            REORDERED, INCOMPLETE, INCOMPLETE, INCOMPLETE, COMPLETE,
                            COMPLETE,  FILES,      FILES,      FILES,      FILES};
enum { CARDS = sizeof deck / sizeof *deck };

static const char *const orders[] = {"natural", "rcm", "colour", "amd", "nd"};
enum { ORDERS = sizeof orders / sizeof *orders, FILLING = 3 }; /* for LU: amd and nd */

static const generator *any_mesh(draw *d) {
  const int64_t k = below(d, PLANES + SPACES);
  return k < PLANES ? &planes[k] : &spaces[k - PLANES];
}

static const generator *any(draw *d) {
  const int64_t k = below(d, PLANES + SPACES + GRAPHS - 1); /* a chain has one order */
  if (k >= PLANES + SPACES) return &graphs[k - PLANES - SPACES];
  return k < PLANES ? &planes[k] : &spaces[k - PLANES];
}

static void name_reordered(draw *d, char *text, size_t size) {
  const char *order = orders[below(d, ORDERS)];
  const size_t used = (size_t)snprintf(text, size, "factor:triangle:%s:", order);
  name_generator(d, text + used, size - used, any(d), d->sizes->least, d->sizes->most_factored);
}

static void name_incomplete(draw *d, char *text, size_t size) {
  const char *order = orders[below(d, ORDERS)];
  const generator *g = any_mesh(d);
  while (!g->factored) g = any_mesh(d);
  const char *kind = g->symmetric && below(d, 2) ? "ic0" : "ilu0";
  const size_t used = (size_t)snprintf(text, size, "factor:%s:%s:", kind, order);
  name_generator(d, text + used, size - used, g, d->sizes->least, d->sizes->most_factored);
}

static void name_complete(draw *d, char *text, size_t size) {
  const char *order = orders[between(d, FILLING, ORDERS - 1)];
  const generator *g = any_mesh(d);
  while (!g->factored) g = any_mesh(d);
  const size_t used = (size_t)snprintf(text, size, "factor:lu:%s:", order);
  name_generator(d, text + used, size - used, g, d->sizes->least_lu, d->sizes->most_lu);
}

/* Every third file in another order. */
static void name_file(draw *d, char *text, size_t size) {
  const char *file = d->file[d->used++];
  if (below(d, 3))
    snprintf(text, size, "file:%s", file);
  else
    snprintf(text, size, "factor:triangle:%s:file:%s", orders[below(d, ORDERS)], file);
}

static void name_entry(draw *d, char *text, size_t size, card class) {
  if (class == FILES && d->used == d->files) class = (card)below(d, FILES);
  switch (class) {
    case PLANAR:
      name_generator(d, text, size, &planes[below(d, PLANES)], d->sizes->least, d->sizes->most);
      return;
    case SPATIAL:
      name_generator(d, text, size, &spaces[below(d, SPACES)], d->sizes->least, d->sizes->most);
      return;
    case GRAPH:
      name_generator(d, text, size, &graphs[below(d, GRAPHS)], d->sizes->least, d->sizes->most);
      return;
    case REORDERED:
      name_reordered(d, text, size);
      return;
    case INCOMPLETE:
      name_incomplete(d, text, size);
      return;
    case COMPLETE:
      name_complete(d, text, size);
      return;
    case FILES:
      name_file(d, text, size);
      return;
  }
}

/* ---- Files ---- */

static bool ends_with(const char *name, const char *ending) {
  const size_t length = strlen(name), tail = strlen(ending);
  return length > tail && !strcmp(name + length - tail, ending);
}

/* Names that a suite can have, of formats that are read. */
static int is_matrix(const struct dirent *file) {
  static const char *const endings[] = {".mtx",   ".mtx.gz", ".mtx.zst", ".rb",
                                        ".rb.gz", ".rua",    ".hb"};
  const char *name = file->d_name;
  if (strlen(name) > LONGEST_NAME) return 0;
  for (const char *c = name; *c; c++)
    if (*c <= ' ' || *c > '~' || *c == '#') return 0;
  for (size_t k = 0; k < sizeof endings / sizeof *endings; k++)
    if (ends_with(name, endings[k])) return 1;
  return 0;
}

static bool is_small(const char *folder, const char *name) {
  char path[1400];
  struct stat info;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  const bool packed = ends_with(name, ".gz") || ends_with(name, ".zst");
  return !stat(path, &info) && S_ISREG(info.st_mode) &&
         info.st_size <= (packed ? MOST_PACKED : MOST_PLAIN);
}

/* Of X.mtx and X.mtx.gz the first stands for both. */
static bool is_packed_twin(const char *name, const char *former) {
  const size_t length = former ? strlen(former) : 0;
  return length && !strncmp(name, former, length) && !strcmp(name + length, ".gz");
}

static int compare_names(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

static int find_files(draw *d) {
  const char *folder = getenv("TRIREME_MATRICES"), *former = NULL;
  struct dirent **found = NULL;
  const int count = folder && *folder ? scandir(folder, &found, is_matrix, compare_names) : 0;
  int code = -1;
  d->file = calloc((size_t)(count > 0 ? count : 1), sizeof *d->file);
  for (int i = 0; i < count && d->file; i++) {
    if (is_packed_twin(found[i]->d_name, former) || !is_small(folder, found[i]->d_name)) continue;
    char *copy = strdup(found[i]->d_name);
    if (!copy) break;
    former = d->file[d->files++] = copy;
  }
  if (!d->file) code = leave_memory((double)count * sizeof *d->file, "the names of files");
  for (int i = 0; i < count; i++) free(found[i]);
  free(found);
  return code;
}

static void free_files(draw *d) {
  for (int64_t i = 0; i < d->files; i++) free(d->file[i]);
  free(d->file);
}

/* ---- The lot ---- */

static void shuffle_files(draw *d) {
  for (int64_t i = d->files; i > 1; i--) {
    const int64_t k = below(d, i);
    char *last = d->file[i - 1];
    d->file[i - 1] = d->file[k];
    d->file[k] = last;
  }
}

static void shuffle_cards(draw *d, card *cards) {
  memcpy(cards, deck, sizeof deck);
  for (int64_t i = CARDS; i > 1; i--) {
    const int64_t k = below(d, i);
    const card last = cards[i - 1];
    cards[i - 1] = cards[k];
    cards[k] = last;
  }
}

/* Streams of their own for the files and the cards: neither moves the other draws. */
static int draw_all(bench_suite *suite, draw *d, int64_t count) {
  enum { STREAMS = 3 };
  draw files = *d, dealer = {.seed = STREAMS * d->seed + 1};
  card cards[CARDS];
  char text[192];
  int code = -1;
  files.seed = STREAMS * d->seed + 2;
  shuffle_files(&files);
  d->seed *= STREAMS;
  for (int64_t i = 0; i < count && code < 0; i++) {
    if (i % CARDS == 0) shuffle_cards(&dealer, cards);
    name_entry(d, text, sizeof text, cards[i % CARDS]);
    code = bench_suite_add(suite, text, below(d, 2) ? BENCH_UPPER : BENCH_LOWER);
  }
  return code;
}

static int draw_suite(bench_suite *suite, const bench_settings *set, const char *name,
                      const sizes *of) {
  *suite = (bench_suite){.drawn = true};
  if (set->seed < 0)
    return leave_usage("bench",
                       "%s needs --seed N, any whole number: the same number and the same files "
                       "give the same systems",
                       name);
  snprintf(suite->name, sizeof suite->name, "%s %lld", name, (long long)set->seed);
  draw d = {.seed = (uint64_t)set->seed, .sizes = of};
  int code = find_files(&d);
  if (code < 0) code = draw_all(suite, &d, set->systems < 0 ? DEFAULT_SYSTEMS : set->systems);
  free_files(&d);
  return code;
}

int bench_lot_draw(bench_suite *suite, const bench_settings *set) {
  return draw_suite(suite, set, "lot", &of_lot);
}

int bench_tail_draw(bench_suite *suite, const bench_settings *set) {
  return draw_suite(suite, set, "tail", &of_tail);
}
