/* shapes.c - builds systems row by row: each shape says which rows row k of the sweep depends on.
 */
#include "analysis/shapes.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"
#include "matrix/values.h"

enum {
  GRID_WIDTH = 37,
  BAND_WIDTH = 7,
  LARGEST_GAP = 512,
  BOX_WIDTH = 7,
  NODE_ROWS = 3,
  NODE_WIDTH = 9,
  MOST_SUPERNODE = 40
};

const char *shape_name(shape kind) {
  static const char *const names[SHAPES] = {
      "diagonal", "chain",      "grid",  "box",          "nodes",     "random",   "band",
      "gaps",     "supernodes", "combs", "first column", "long rows", "last row", "dense"};
  return names[kind];
}

static double chance(shape kind, int64_t k, int64_t j) {
  return trs_random_unit((uint64_t)kind + 11, (uint64_t)(k << 24 | j));
}

static bool grid_needs(int64_t k, int64_t j, int64_t width) {
  return j == k - width || (j == k - 1 && k % width != 0);
}

static bool box_needs(int64_t k, int64_t j) {
  int64_t w = BOX_WIDTH, dx = k % w - j % w, dy = k / w % w - j / w % w, dz = k / w / w - j / w / w;
  return dx * dx <= 1 && dy * dy <= 1 && dz * dz <= 1;
}

static bool nodes_need(int64_t k, int64_t j) {
  int64_t w = NODE_WIDTH, a = k / NODE_ROWS, b = j / NODE_ROWS;
  int64_t dx = a % w - b % w, dy = a / w - b / w;
  return dx * dx <= 1 && dy * dy <= 1;
}

/* Where the supernode of row k begins. */
static int64_t supernode(int64_t k) {
  int64_t first = 0;
  for (uint64_t s = 0;; s++) {
    int64_t rows = 1 + (int64_t)trs_random_below(5, s, MOST_SUPERNODE);
    if (first + rows > k) return first;
    first += rows;
  }
}

static bool needs(shape kind, int64_t n, int64_t k, int64_t j, int64_t begin) {
  double p = chance(kind, k, j), few = 3.0 / (double)(k + 1);
  switch (kind) {
    case SHAPE_CHAIN:
      return j == k - 1;
    case SHAPE_GRID:
      return grid_needs(k, j, GRID_WIDTH);
    case SHAPE_BOX:
      return box_needs(k, j);
    case SHAPE_NODES:
      return nodes_need(k, j);
    case SHAPE_RANDOM:
      return p < 4.0 / (double)(k + 1);
    case SHAPE_BAND:
      return k - j <= BAND_WIDTH && p < 0.8;
    case SHAPE_GAPS:
      return k - j == 2 || k - j == 32 || k - j == LARGEST_GAP;
    case SHAPE_SUPERNODES:
      return j >= begin || p < few;
    case SHAPE_COMBS:
      return (j == k - 1 && k % 11) || p < few;
    case SHAPE_FIRST_COLUMN:
      return j == 0;
    case SHAPE_LONG_ROWS:
      return k % 61 == 60 ? p < 0.5 : p < few;
    case SHAPE_LAST_ROW:
      return k == n - 1 || grid_needs(k, j, GRID_WIDTH);
    case SHAPE_DENSE:
      return true;
    default:
      return false;
  }
}

/* The first place that row k can need. */
static int64_t first_place(shape kind, int64_t k) {
  const int64_t width = kind == SHAPE_CHAIN  ? 1
                        : kind == SHAPE_GRID ? GRID_WIDTH
                        : kind == SHAPE_BAND ? BAND_WIDTH
                        : kind == SHAPE_GAPS ? LARGEST_GAP
                                             : k;
  return width < k ? k - width : 0;
}

typedef struct growing {
  int64_t nnz, space;
  int32_t *idx;
} growing;

static void push(growing *g, int64_t j) {
  if (g->nnz == g->space) {
    g->space = 2 * g->space + 64;
    g->idx = realloc(g->idx, (size_t)g->space * sizeof *g->idx);
  }
  g->idx[g->nnz++] = (int32_t)j;
}

/* The row at place k of the sweep; columns ascend. */
static void push_row(growing *g, shape kind, int64_t n, int64_t k, bool lower, bool diagonal) {
  int64_t begin = kind == SHAPE_SUPERNODES ? supernode(k) : 0;
  bool stored = diagonal || k % 3 == 0;
  if (!lower && stored) push(g, n - 1 - k);
  for (int64_t first = first_place(kind, k), c = first; c < k; c++) {
    int64_t j = lower ? c : first + k - 1 - c;
    if (needs(kind, n, k, j, begin)) push(g, lower ? j : n - 1 - j);
  }
  if (lower && stored) push(g, k);
}

/* Solutions stay as large as the right-hand side. */
static void set_values(trs_system *S, void *val) {
  for (int64_t i = 0; i < S->n; i++)
    for (int64_t p = S->ptr[i]; p < S->ptr[i + 1]; p++) {
      double re = trs_random_signed(3, 2 * (uint64_t)p), im = trs_random_signed(3, 2 * p + 1);
      double scale = S->idx[p] == i ? 0.5 : 1.0 / (double)(S->ptr[i + 1] - S->ptr[i]);
      trs_value_set(val, p, S->scalar, (S->idx[p] == i ? 2 : 0) + scale * (re + I * im));
    }
}

trs_system shape_system(shape kind, int64_t n, trs_scalar scalar, bool lower, bool diagonal) {
  trs_system S = {.n = n, .scalar = scalar, .rows = true, .lower = lower};
  S.unit = !diagonal;
  S.has_diagonal = diagonal;
  growing g = {0};
  push(&g, 0);
  g.nnz = 0; /* never NULL */
  int64_t *ptr = malloc((size_t)(n + 1) * sizeof *ptr);
  ptr[0] = 0;
  for (int64_t i = 0; i < n; i++) {
    push_row(&g, kind, n, lower ? i : n - 1 - i, lower, diagonal);
    ptr[i + 1] = g.nnz;
  }
  void *val = malloc((size_t)(g.nnz + 1) * trs_scalar_size(scalar));
  S.ptr = ptr;
  S.idx = g.idx;
  S.val = val;
  S.nnz = g.nnz;
  set_values(&S, val);
  return S;
}

void shape_free(trs_system *S) {
  free((void *)S->ptr);
  free((void *)S->idx);
  free((void *)S->val);
}

const trs_slice_rules shape_rules[SHAPE_RULES] = {
    {1, 1, 4, 16, 16384, 32, 32, 0, 2, 0, 0},  {1, 1, 4, 16, 100, 32, 32, 0, 1, 0, 0},
    {1, 1, 1, 2, 300, 2, 8, 30, 3, 0, 0},      {2, 1, 4, 16, 16384, 4, 32, 1000, 0, 0, 0},
    {3, 1, 2, 8, 50, 4, 16, 20, 1, 0, 0},      {8, 1, 4, 16, 16384, 32, 32, 0, 2, 0, 0},
    {32, 1, 1, 64, 20, 32, 32, 0, 3, 0, 0},    {2, 0, 4, 4, 100, 32, 1, 4, 2, 0, 0},
    {8, 0, 4, 16, 16384, 1, 32, 12, 2, 0, 0},  {32, 0, 3, 16, 10, 32, 32, 0, 2, 0, 0},
    {6, 1, 1024, 1024, 0, 32, 32, 0, 2, 0, 0}, {32, 1, 16, 16, 1000000, 8, 32, 100, 1, 0, 0},
};

void shape_weaken(trs_system *S) {
  enum { EVERY = 29 };
  for (int64_t i = 0; i < S->n && S->has_diagonal; i++)
    for (int64_t p = S->ptr[i]; p < S->ptr[i + 1]; p++)
      if (S->idx[p] == i && trs_in_sweep(S, i) % EVERY == EVERY / 2)
        trs_value_set(
            (void *)S->val, p, S->scalar,
            trs_value_get(S->val, p, S->scalar) * (trs_scalar_is_double(S->scalar) ? 1e-9 : 1e-6));
}

static trs_status fill(trs_slices *s, const trs_outline *outline, trs_scalar scalar, uint8_t *cut,
                       int64_t *refused) {
  size_t size = trs_scalar_size(scalar);
  TRS_TRY(TRS_ALLOC(&s->idx, s->entries));
  TRS_TRY(trs_alloc(&s->val, s->entries, size));
  TRS_TRY(trs_alloc(&s->inverse, s->inverses, size));
  trs_slice_arrays all = {.idx = s->idx, .val = s->val, .inverse = s->inverse};
  *refused = trs_outline_fill(outline, s->slice, NULL, s->nslices, &all, cut);
  return TRS_SUCCESS;
}

trs_status shape_slices_cut(trs_slices *slices, const trs_system *S, const trs_slice_rules *rules,
                            const uint8_t *block_starts, uint8_t *cut, int64_t *refused) {
  const int64_t whole[] = {0, S->n};
  trs_outline *outline;
  TRS_TRY(trs_outline_create(&outline, slices, S, rules, block_starts, NULL, 1, whole, NULL));
  trs_status status = fill(slices, outline, S->scalar, cut, refused);
  trs_outline_destroy(outline);
  if (status) trs_slices_destroy(slices);
  return status;
}

trs_status shape_slices(trs_slices *slices, const trs_system *S, const trs_slice_rules *rules) {
  int64_t refused;
  return shape_slices_cut(slices, S, rules, NULL, NULL, &refused);
}

void shapes_of_sizes(const int64_t *sizes, size_t count,
                     void (*visit)(shape kind, const trs_system *S, int number)) {
  int number = 0;
  for (shape kind = 0; kind < SHAPES; kind++)
    for (size_t z = 0; z < count; z++)
      for (int way = 0; way < 4; way++) {
        trs_scalar scalar = (trs_scalar)(TRS_FLOAT + number++ % 4);
        trs_system S = shape_system(kind, sizes[z], scalar, way & 1, way & 2);
        visit(kind, &S, number);
        shape_free(&S);
      }
}
