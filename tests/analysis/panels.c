/* panels.c - supernodes against a slow definition, panels against the triangle they were made from,
 * and a solve by panels, block by block as on a GPU, against the right-hand side. */
#include <complex.h>
#include <math.h>

#include "analysis/system.h"
#include "analysis/growth.h"
#include "base/config.h"
#include "analysis/panels.h"
#include "matrix/values.h"
#include "sparse.h"
#include "support.h"
#include "test.h"

#undef I /* complex.h's; in the papers a block is T(I,K) */

/* A triangle, stored and in the order of the sweep. */
typedef struct sample {
  triangle arrays;
  trs_matrix *T;
  trs_uplo uplo;
  trs_trans trans;
  trs_diag diag;
  trs_system S;
  trs_panels_source source;
  bool *there;           /* n x n by rows, in places, with the diagonal */
  double complex *dense; /* the values */
} sample;

/* True if there is an entry at these places.  By rows the transpose has it, and its sweep runs in
 * the opposite direction. */
static bool there(const sample *it, bool by_rows, int64_t i, int64_t k) {
  int64_t n = it->S.n;
  return by_rows ? it->there[(n - 1 - k) * n + n - 1 - i] : it->there[i * n + k];
}

static int64_t place(const sample *it, int64_t i) { return it->S.lower ? i : it->S.n - 1 - i; }

static void look(sample *it) {
  it->S = trs_system_of(it->T, it->uplo, it->trans, it->diag);
  const trs_system *S = &it->S;
  it->source = (trs_panels_source){S->n, S->ptr, S->idx, S->rows, S->lower};
  it->there = calloc((size_t)(S->n * S->n + 1), sizeof *it->there);
  it->dense = calloc((size_t)(S->n * S->n + 1), sizeof *it->dense);
  for (int64_t v = 0; v < S->n; v++) {
    int64_t d = place(it, v) * (S->n + 1);
    for (int64_t p = S->ptr[v]; p < S->ptr[v + 1]; p++) {
      int64_t a = place(it, v), b = place(it, S->idx[p]),
              at = S->rows ? a * S->n + b : b * S->n + a;
      double complex value = trs_value_get(S->val, p, S->scalar);
      it->there[at] = true;
      it->dense[at] = S->conj ? conj(value) : value;
    }
    it->there[d] = true;
    if (S->unit) it->dense[d] = 1;
  }
}

static void forget(sample *it) {
  free(it->there);
  free(it->dense);
  trs_matrix_destroy(it->T);
  if (it->arrays.ptr) triangle_free(&it->arrays);
}

enum { NVARIANTS = 2 * 2 * 3 * 2 * 4 };

/* Variant c of all ways to store and use a random triangle. */
static sample draw(int64_t n, double density, int64_t band, int c, uint64_t seed) {
  sample it = {.diag = (trs_diag)(c % 2)};
  it.trans = (trs_trans)(c / 2 % 3);
  it.uplo = c / 6 % 2 ? TRS_UPPER : TRS_LOWER;
  trs_format format = (trs_format)(c / 12 % 2);
  trs_scalar scalar = (trs_scalar)(TRS_FLOAT + c / 24 % 4);
  bool prefix = (it.uplo == TRS_LOWER) == (format == TRS_CSR);
  bool bare = it.diag == TRS_UNIT && seed % 2;
  it.arrays = triangle_random(n, density, band, prefix, scalar, bare, seed);
  const triangle *t = &it.arrays;
  assert_success(trs_matrix_create(&it.T, format, scalar, n, n, TRS_PTR64, t->ptr, t->idx, t->val,
                                   TRS_BORROW));
  look(&it);
  return it;
}

static const struct {
  int64_t n, band;
  double density;
} shapes[] = {{0, 1, 1},   {1, 1, 1},    {2, 2, 1},      {33, 33, 1},    {70, 1, 1},
              {70, 4, 1},  {90, 9, 0.5}, {80, 80, 0.02}, {80, 80, 0.15}, {60, 60, 0.7},
              {64, 64, 1}, {65, 65, 1},  {40, 40, 0}};
enum { NSHAPES = COUNT(shapes) };

static const trs_panels_options limits[] = {{.width = 64},
                                            {.width = 64, .relax = 20},
                                            {.width = 64, .relax = 100},
                                            {.width = 7, .relax = 40},
                                            {.width = 1, .relax = 20},
                                            {.width = 128, .relax = 60}};
enum { NLIMITS = COUNT(limits) };

/* ---- Supernodes by definition. ---- */

static int64_t entries_of(const sample *it, bool by_rows, int64_t from, int64_t to) {
  int64_t count = 0;
  for (int64_t k = from; k < to; k++)
    for (int64_t i = k; i < it->S.n; i++) count += there(it, by_rows, i, k);
  return count;
}

static bool row_of(const sample *it, bool by_rows, int64_t i, int64_t from, int64_t to) {
  for (int64_t k = from; k < to; k++)
    if (there(it, by_rows, i, k)) return true;
  return false;
}

static int64_t height_below(const sample *it, bool by_rows, int64_t from, int64_t to) {
  int64_t count = 0;
  for (int64_t i = to; i < it->S.n; i++) count += row_of(it, by_rows, i, from, to);
  return count;
}

static int64_t room_of(const sample *it, bool by_rows, int64_t from, int64_t to) {
  int64_t width = to - from;
  return width * (width + 1) / 2 + width * height_below(it, by_rows, from, to);
}

static bool same_rows(const sample *it, bool by_rows, int64_t k) {
  if (!there(it, by_rows, k + 1, k)) return false;
  for (int64_t i = k + 2; i < it->S.n; i++)
    if (there(it, by_rows, i, k) != there(it, by_rows, i, k + 1)) return false;
  return true;
}

static bool may_join(const sample *it, const trs_panels_options *o, int64_t first, int64_t from,
                     int64_t to) {
  int64_t parent = from;
  while (parent < to && !row_of(it, o->by_rows, parent, first, from)) parent++;
  if (parent == to || to - first > o->width) return false;
  int64_t room = room_of(it, o->by_rows, first, to);
  return (room - entries_of(it, o->by_rows, first, to)) * 100 <= o->relax * room;
}

/* first[] receives the first columns, and n at the end. */
static int64_t define_supernodes(const sample *it, const trs_panels_options *o, int64_t *first) {
  int64_t n = it->S.n, count = 0, end;
  for (int64_t from = 0; from < n; from = end) {
    for (end = from + 1; end < n && same_rows(it, o->by_rows, end - 1);) end++;
    int64_t pieces = (end - from + o->width - 1) / o->width;
    for (int64_t i = 0; i < pieces; i++) {
      int64_t a = from + (end - from) * i / pieces, b = from + (end - from) * (i + 1) / pieces;
      first[count++] = a;
      while (count > 1 && may_join(it, o, first[count - 2], first[count - 1], b)) count--;
    }
  }
  first[count] = n;
  return count;
}

TEST(supernodes_are_those_of_the_definition) {
  for (int c = 0; c < 24 * NSHAPES * NLIMITS; c++) {
    int shape = c / 24 % NSHAPES, limit = c / 24 / NSHAPES;
    sample it = draw(shapes[shape].n, shapes[shape].density, shapes[shape].band, c % 24,
                     (uint64_t)(3 + shape + limit));
    int64_t *first = malloc((size_t)(it.S.n + 2) * sizeof *first);
    for (int by_rows = 0; by_rows < 2; by_rows++) {
      trs_panels P;
      trs_panels_options o = limits[limit];
      o.by_rows = by_rows;
      int64_t count = define_supernodes(&it, &o, first);
      assert_success(trs_panels_create(&P, &it.source, &o));
      assert_int_equal(P.count, count);
      for (int64_t s = 0; s < count; s++) {
        const trs_panel *p = &P.panel[by_rows ? count - 1 - s : s];
        assert_int_equal(p->first, by_rows ? it.S.n - first[s + 1] : first[s]);
        assert_int_equal(p->width, first[s + 1] - first[s]);
      }
      trs_panels_destroy(&P);
    }
    free(first);
    forget(&it);
  }
}

/* ---- Panels. ---- */

/* True if the block of rows of I and columns of K has an entry in this column, or in this row. */
static bool in_block(const sample *it, const trs_panels *P, int64_t I, int64_t K, int64_t at) {
  const trs_panel *i = &P->panel[I], *k = &P->panel[K];
  for (int64_t c = 0; c < (P->by_rows ? i->width : k->width); c++) {
    int64_t row = P->by_rows ? i->first + c : at, column = P->by_rows ? at : k->first + c;
    if (it->there[row * P->n + column]) return true;
  }
  return false;
}

/* The list contains every place with an entry of one of the supernode's rows or columns. */
static void check_list(const sample *it, const trs_panels *P, int64_t s) {
  const trs_panel *p = &P->panel[s];
  int64_t r = p->list;
  int64_t from = P->by_rows ? 0 : p->first + p->width, to = P->by_rows ? p->first : P->n;
  for (int64_t at = from; at < to; at++) {
    int64_t other = P->owner[at];
    if (in_block(it, P, P->by_rows ? s : other, P->by_rows ? other : s, at))
      assert_int_equal(P->list[r++], at);
  }
  assert_int_equal(r, p->list + p->length);
}

/* The rows that K adds to, for panels by columns. */
static void check_lines(const trs_panels *P, int64_t K) {
  const trs_panel *p = &P->panel[K];
  assert_true(p->lines == p->list && p->height == p->length && !P->block);
  for (int64_t r = p->list; r < p->list + p->length; r++) {
    int32_t target = P->owner[P->list[r]];
    bool last = r + 1 == p->list + p->length || P->owner[P->list[r + 1]] != target;
    assert_int_equal(P->line[r], last ? target : -1);
  }
}

/* The same for panels by rows: the next block of K, after the rows of the blocks before it. */
static void check_block(const trs_panels *P, int64_t I, int64_t K, int64_t *b, int64_t *lines) {
  const trs_panel *i = &P->panel[I];
  int64_t from = i->list, end = i->list + i->length, to;
  while (from < end && P->owner[P->list[from]] < K) from++;
  for (to = from; to < end && P->owner[P->list[to]] == K;) to++;
  if (from == to) return;
  const trs_panel_block *block = &P->block[*b];
  assert_true(block->target == I && block->first == i->first && block->width == i->width);
  assert_true(block->list == from && block->count == to - from);
  assert_int_equal(block->values,
                   i->values + (int64_t)i->width * i->width + (from - i->list) * i->width);
  assert_int_equal(block->lines, *lines);
  for (int32_t c = 0; c < i->width; c++)
    assert_int_equal(P->line[P->panel[K].lines + (*lines)++], *b);
  ++*b;
}

static void check_blocks(const trs_panels *P) {
  int64_t b = 0, at = 0;
  for (int64_t K = 0; K < P->count; K++) {
    int64_t lines = 0;
    assert_int_equal(P->panel[K].lines, at);
    for (int64_t I = K + 1; I < P->count; I++) check_block(P, I, K, &b, &lines);
    assert_int_equal(P->panel[K].height, lines);
    at += lines;
  }
  assert_true(b == P->nblocks && at == P->nlines);
}

/* Sources and levels, by a search for blocks with an entry. */
static void check_graph(const sample *it, const trs_panels *P) {
  int64_t *level = calloc((size_t)P->count + 1, sizeof *level), levels = 0;
  for (int64_t I = 0; I < P->count; I++) {
    int64_t sources = 0;
    for (int64_t K = 0; K < I; K++) {
      const trs_panel *across = &P->panel[P->by_rows ? K : I];
      bool any = false;
      for (int64_t c = 0; c < across->width && !any; c++)
        any = in_block(it, P, I, K, across->first + c);
      sources += any;
      if (any && level[I] <= level[K]) level[I] = level[K] + 1;
    }
    assert_int_equal(P->panel[I].sources, sources);
    levels = level[I] + 1 > levels ? level[I] + 1 : levels;
  }
  assert_int_equal(P->levels, levels);
  free(level);
}

static void check_layout(const sample *it, const trs_panels *P, const trs_panels_options *o) {
  int64_t next = 0, list = 0, values = 0, entries = 0, room = 0;
  for (int64_t s = 0; s < P->count; s++) {
    const trs_panel *p = &P->panel[s];
    int64_t end = p->first + p->width, from = P->by_rows ? P->n - end : p->first;
    int64_t mine = entries_of(it, P->by_rows, from, from + p->width);
    int64_t size = room_of(it, P->by_rows, from, from + p->width);
    assert_true(p->first == next && p->list == list && p->values == values);
    assert_true(p->width >= 1 && p->width <= P->widest);
    assert_true(o->partition || p->width <= o->width);
    assert_true(o->partition || (size - mine) * 100 <= o->relax * size);
    check_list(it, P, s);
    if (!P->by_rows) check_lines(P, s);
    for (; next < end; next++) assert_int_equal(P->owner[next], s);
    list += p->length;
    values += (int64_t)p->width * (p->width + p->length);
    entries += mine;
    room += size;
  }
  assert_true(next == P->n && list == P->nlist && values == P->nvalues);
  assert_true(entries == P->entries && room - entries == P->zeros);
  if (P->by_rows) check_blocks(P);
  check_graph(it, P);
}

/* An element of the diagonal block. */
static double complex square(const trs_panels *P, const void *values, trs_scalar scalar, int64_t s,
                             int64_t r, int64_t c) {
  return trs_value_get(values, P->panel[s].values + r + c * P->panel[s].width, scalar);
}

/* An element of the panel: line l, across the list, and entry r along it. */
static double complex entry(const trs_panels *P, const void *values, trs_scalar scalar, int64_t s,
                            int64_t l, int64_t r) {
  const trs_panel *p = &P->panel[s];
  int64_t at = P->by_rows ? l + r * p->width : r + l * p->length;
  return trs_value_get(values, p->values + (int64_t)p->width * p->width + at, scalar);
}

/* Every entry is stored bit for bit, and everything else is zero. */
static void check_values(const sample *it, const trs_panels *P, const void *values) {
  int64_t n = it->S.n;
  double complex *left = malloc((size_t)(n * n + 1) * sizeof *left);
  memcpy(left, it->dense, (size_t)(n * n) * sizeof *left);
  for (int64_t s = 0; s < P->count; s++) {
    const trs_panel *p = &P->panel[s];
    for (int64_t c = 0; c < p->width; c++) {
      for (int64_t r = 0; r < p->width; r++) {
        double complex *expected = &left[(p->first + r) * n + p->first + c];
        assert_true(square(P, values, it->S.scalar, s, r, c) == *expected);
        *expected = 0;
      }
      for (int64_t r = 0; r < p->length; r++) {
        int64_t mine = p->first + c, other = P->list[p->list + r];
        double complex *expected = &left[P->by_rows ? mine * n + other : other * n + mine];
        assert_true(entry(P, values, it->S.scalar, s, c, r) == *expected);
        *expected = 0;
      }
    }
  }
  for (int64_t at = 0; at < n * n; at++) assert_true(left[at] == 0);
  free(left);
}

static void *fill(const sample *it, const trs_panels *P) {
  void *values = malloc((size_t)(P->nvalues + 1) * scalar_bytes(it->S.scalar));
  assert_success(
      trs_panels_fill(P, values, it->S.scalar, &it->source, it->S.val, it->S.unit, it->S.conj));
  return values;
}

static void check_panels(const sample *it, const trs_panels_options *o) {
  trs_panels P;
  assert_success(trs_panels_create(&P, &it->source, o));
  assert_int_equal(P.n, it->S.n);
  assert_true(P.backward == !it->S.lower && P.by_rows == o->by_rows);
  check_layout(it, &P, o);
  void *values = fill(it, &P);
  check_values(it, &P, values);
  free(values);
  trs_panels_destroy(&P);
}

static void check_panels_both(const sample *it, const trs_panels_options *options) {
  trs_panels_options o = *options;
  for (int by_rows = 0; by_rows < 2; by_rows++) {
    o.by_rows = by_rows;
    check_panels(it, &o);
  }
}

TEST(panels_hold_the_triangle) {
  for (int c = 0; c < NVARIANTS; c++)
    for (int shape = 0; shape < NSHAPES; shape++) {
      sample it = draw(shapes[shape].n, shapes[shape].density, shapes[shape].band, c,
                       (uint64_t)(7 * shape + 1));
      for (int limit = c % 2; limit < NLIMITS; limit += 2) check_panels_both(&it, &limits[limit]);
      forget(&it);
    }
}

TEST(partitions_given_are_kept) {
  static const int64_t first[] = {0, 1, 2, 12, 13, 40, 41, 59, 60};
  for (int c = 0; c < 48; c++)
    for (int shape = 0; shape < 4; shape++) {
      trs_panels_options o = {.partition = first, .nparts = 8, .by_rows = c >= 24};
      sample it = draw(60, 0.3 * shape, 60, c % 24, (uint64_t)(shape + 1));
      trs_panels P;
      assert_success(trs_panels_create(&P, &it.source, &o));
      assert_int_equal(P.count, 8);
      for (int64_t s = 0; s < 8; s++)
        assert_int_equal(P.panel[s].first, it.S.lower ? first[s] : 60 - first[8 - s]);
      trs_panels_destroy(&P);
      check_panels(&it, &o);
      forget(&it);
    }
}

/* ---- Solves. ---- */

/* Row l of those that K adds to: its place, T(I,K) x there, and I if it is the last row of I. */
static int64_t line_of(const trs_panels *P, const void *values, trs_scalar scalar, int64_t K,
                       int64_t l, const double complex *x, double complex *sum, int32_t *tell) {
  const trs_panel *p = &P->panel[K];
  int64_t at = p->lines + l;
  *sum = 0;
  if (!P->by_rows) {
    for (int64_t k = 0; k < p->width; k++)
      *sum += entry(P, values, scalar, K, k, l) * x[p->first + k];
    *tell = P->line[at];
    return P->list[at];
  }
  const trs_panel_block *b = &P->block[P->line[at]];
  int64_t c = l - b->lines;
  for (int64_t k = 0; k < b->count; k++)
    *sum += trs_value_get(values, b->values + c + k * b->width, scalar) * x[P->list[b->list + k]];
  *tell = c == b->width - 1 ? b->target : -1;
  return b->first + c;
}

/* The work of one GPU block for supernode K.  Supernodes whose sources are all complete become
 * ready. */
static void solve_panel(const trs_panels *P, const void *values, trs_scalar scalar, int64_t K,
                        double complex *x, double complex *lsum, int32_t *waits, int64_t *ready,
                        int64_t *nready) {
  const trs_panel *p = &P->panel[K];
  double complex y[128], sum;
  int32_t tell;
  for (int64_t k = 0; k < p->width; k++) y[k] = x[p->first + k] - lsum[p->first + k];
  for (int64_t i = 0; i < p->width; i++) {
    sum = 0;
    for (int64_t k = 0; k <= i; k++) sum += square(P, values, scalar, K, i, k) * y[k];
    x[p->first + i] = sum;
  }
  for (int64_t l = 0; l < p->height; l++) {
    int64_t row = line_of(P, values, scalar, K, l, x, &sum, &tell);
    lsum[row] += sum;
    if (tell >= 0 && --waits[tell] == 0) ready[(*nready)++] = tell;
  }
}

/* Takes the last of the ready supernodes first, to test an order other than the sweep's. */
static void solve_panels(const trs_panels *P, const void *values, trs_scalar scalar,
                         double complex *x) {
  double complex *lsum = calloc((size_t)P->n + 1, sizeof *lsum);
  int32_t *waits = malloc((size_t)(P->count + 1) * sizeof *waits);
  int64_t *ready = malloc((size_t)(P->count + 1) * sizeof *ready), nready = 0, done = 0;
  for (int64_t s = 0; s < P->count; s++) {
    waits[s] = P->panel[s].sources;
    if (!waits[s]) ready[nready++] = s;
  }
  for (; nready; done++) {
    int64_t K = ready[--nready];
    solve_panel(P, values, scalar, K, x, lsum, waits, ready, &nready);
  }
  assert_int_equal(done, P->count);
  free(lsum);
  free(waits);
  free(ready);
}

/* Solves for a random right-hand side; values: with inverses.  The limit is componentwise. */
static void judge(const sample *it, const trs_panels *P, const void *values, double limit) {
  const trs_scalar scalar = it->S.scalar;
  const int64_t n = it->S.n;
  void *b = malloc((size_t)(n + 1) * scalar_bytes(scalar));
  double complex *x = malloc((size_t)(n + 1) * sizeof *x);
  trs_random_fill(b, n, scalar, 11);
  for (int64_t k = 0; k < n; k++) x[k] = trs_value_get(b, place(it, k), scalar);
  solve_panels(P, values, scalar, x);
  for (int64_t i = 0; i < n; i++) {
    double complex residual = -trs_value_get(b, place(it, i), scalar);
    double scale = cabs(residual);
    for (int64_t k = 0; k <= i; k++) {
      residual += it->dense[i * n + k] * x[k];
      scale += cabs(it->dense[i * n + k] * x[k]);
    }
    assert_true(cabs(residual) <= limit * scale);
  }
  free(x);
  free(b);
}

static void check_solve(const sample *it, const trs_panels_options *o) {
  trs_panels P;
  int64_t refused;
  assert_success(trs_panels_create(&P, &it->source, o));
  void *values = fill(it, &P);
  assert_success(trs_panels_invert(&P, values, it->S.scalar, NULL, &refused));
  judge(it, &P, values, 4 * error_limit(it->S.scalar, P.widest));
  free(values);
  trs_panels_destroy(&P);
}

TEST(panels_solve) {
  for (int c = 0; c < NVARIANTS; c++)
    for (int shape = 0; shape < NSHAPES; shape++) {
      sample it = draw(shapes[shape].n, shapes[shape].density, shapes[shape].band, c,
                       (uint64_t)(7 * shape + 1));
      for (int limit = c % 2; limit < NLIMITS; limit += 2) {
        trs_panels_options o = limits[limit];
        check_solve(&it, &o);
        o.by_rows = true;
        check_solve(&it, &o);
      }
      forget(&it);
    }
}

/* ---- Supernodes whose inverses lose digits. ---- */

/* Multiplies every 11th pivot. */
static void weaken(sample *it) {
  enum { EVERY = 11 };
  const trs_system *S = &it->S;
  for (int64_t v = EVERY / 2; v < S->n; v += EVERY)
    for (int64_t p = S->ptr[v]; p < S->ptr[v + 1]; p++)
      if (S->idx[p] == v)
        trs_value_set(it->arrays.val, p, S->scalar, 0x1p-30 * trs_value_get(S->val, p, S->scalar));
  free(it->there);
  free(it->dense);
  look(it);
}

/* Supernodes begin where they did, and where the verdict cuts them. */
static void check_begins(const trs_panels *before, const trs_panels *after, const uint8_t *cuts) {
  int64_t s = 0, t = 0;
  for (int64_t k = 0; k < before->n; k++) {
    const bool began = s < before->count && before->panel[s].first == k;
    const bool begins = t < after->count && after->panel[t].first == k;
    assert_int_equal(begins, began || cuts[k]);
    s += began;
    t += begins;
  }
}

static int64_t check_cut(const sample *it, const trs_panels_options *o) {
  const trs_scalar scalar = it->S.scalar;
  trs_panels P, cut;
  uint8_t *cuts = calloc((size_t)it->S.n + 1, 1);
  int64_t refused, again;
  assert_success(trs_panels_create(&P, &it->source, o));
  void *values = fill(it, &P);
  assert_success(trs_panels_invert(&P, values, scalar, cuts, &refused));
  free(values);
  assert_success(trs_panels_cut(&cut, &P, &it->source, cuts));
  check_begins(&P, &cut, cuts);
  values = fill(it, &cut);
  assert_success(trs_panels_invert(&cut, values, scalar, NULL, &again));
  assert_int_equal(again, 0);
  judge(it, &cut, values, 8 * TRS_MOST_GROWTH * scalar_eps(scalar));
  free(values);
  free(cuts);
  trs_panels_destroy(&P);
  trs_panels_destroy(&cut);
  return refused;
}

TEST(weak_supernodes_are_cut) {
  int64_t refused = 0;
  for (int c = 0; c < NVARIANTS; c += 2) /* their diagonal is stored */
    for (int shape = 2; shape < NSHAPES; shape++) {
      sample it = draw(shapes[shape].n, shapes[shape].density, shapes[shape].band, c, 3);
      weaken(&it);
      trs_panels_options o = limits[shape % NLIMITS];
      refused += check_cut(&it, &o);
      o.by_rows = true;
      refused += check_cut(&it, &o);
      forget(&it);
    }
  assert_true(refused > 500);
}

TEST(zeros_of_an_inverse_stop_what_is_not_finite) {
  /* 0 -> 1 -> 3 and 2 -> 3 in one block; the entry (1, 0) is infinite */
  int64_t ptr[] = {0, 1, 3, 4, 7};
  int32_t idx[] = {0, 0, 1, 2, 1, 2, 3};
  double val[] = {2, INFINITY, 4, 5, 1, 1, 8};
  trs_panels_source T = {4, ptr, idx, true, true};
  trs_panels_options o = {.width = 4, .partition = (int64_t[]){0, 4}, .nparts = 1};
  trs_panels P;
  double D[16];
  assert_success(trs_panels_create(&P, &T, &o));
  assert_int_equal(P.nvalues, 16);
  assert_success(trs_panels_fill(&P, D, TRS_DOUBLE, &T, val, false, false));
  int64_t refused;
  assert_success(trs_panels_invert(&P, D, TRS_DOUBLE, NULL, &refused));
  assert_int_equal(refused, 1);
  assert_true(!isfinite(D[1]) && !isfinite(D[3]));
  assert_true(D[0] == 0.5 && D[2] == 0 && D[5] == 0.25 && D[6] == 0 && D[7] == -0.25 / 8);
  assert_true(D[10] == 0.2 && D[11] == -0.2 / 8 && D[15] == 0.125);
  trs_panels_destroy(&P);
}

/* ---- Factors. ---- */

/* SuperLU's own supernodes add no zeros to L. */
static void check_zeros(const sample *it, const trs_panels_options *o) {
  trs_panels P;
  assert_success(trs_panels_create(&P, &it->source, o));
  assert_int_equal(P.count, o->nparts);
  assert_int_equal(P.zeros, 0);
  trs_panels_destroy(&P);
}

static void check_factors(const char *name, const trs_factor_options *options) {
  trs_matrix *A;
  trs_factors *F;
  trs_factors_info f = {.struct_size = sizeof f};
  assert_success(trs_matrix_read(&A, name, NULL));
  assert_success(trs_factor(&F, A, options));
  trs_factors_get_info(F, &f);
  for (int c = 0; c < 4; c++) {
    sample it = {.T = trs_matrix_retain(c % 2 ? f.U : f.L),
                 .uplo = c % 2 ? TRS_UPPER : TRS_LOWER,
                 .trans = c / 2 ? TRS_TRANS : TRS_NO_TRANS,
                 .diag = c % 2 ? f.diag_U : f.diag_L};
    trs_panels_options found = limits[1];
    trs_panels_options given = {.partition = f.supernode_ptr, .nparts = f.nsupernodes};
    look(&it);
    check_panels_both(&it, &found);
    if (f.nsupernodes) check_panels_both(&it, &given);
    found.by_rows = given.by_rows = c == 1 || c == 2; /* rows of U, columns of L */
    check_solve(&it, &found);
    if (f.nsupernodes && c % 2 == 0) check_zeros(&it, &given);
    forget(&it);
  }
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
}

TEST(factors_become_panels) {
  static const char *const names[] = {"gen:poisson2d5:19", "gen:poisson3d7:7",
                                      "gen:elasticity3d:3,4,3"};
  for (size_t k = 0; k < COUNT(names); k++) {
    check_factors(names[k], &(trs_factor_options){.struct_size = sizeof(trs_factor_options),
                                                  .kind = TRS_FACTOR_ILU0});
    if (TRS_HAVE_SUPERLU && TRS_HAVE_METIS)
      check_factors(names[k], &(trs_factor_options){.struct_size = sizeof(trs_factor_options)});
  }
}

/* ---- Errors. ---- */

TEST(entries_without_a_place_are_refused) {
  sample it = draw(60, 0.1, 60, 0, 5), other = draw(60, 0.1, 60, 0, 7);
  sample turned = draw(60, 0.1, 60, 12, 7);
  trs_panels P;
  assert_success(trs_panels_create(&P, &it.source, &limits[1]));
  double *values = malloc((size_t)P.nvalues * sizeof *values);
  assert_failure(TRS_ERROR_ARGUMENT, "analyse the matrix again",
                 trs_panels_fill(&P, values, TRS_FLOAT, &other.source, other.S.val, false, false));
  assert_failure(
      TRS_ERROR_ARGUMENT, "analyse the matrix again",
      trs_panels_fill(&P, values, TRS_FLOAT, &turned.source, turned.S.val, false, false));
  free(values);
  trs_panels_destroy(&P);
  forget(&it);
  forget(&other);
  forget(&turned);
}

static trs_status make_and_fill(void *argument) {
  const sample *it = argument;
  const trs_system *S = &it->S;
  static const int64_t half[] = {0, 30, 60};
  for (int given = 0; given < 2; given++) {
    trs_panels_options o = {.width = 8, .relax = 20, .by_rows = given};
    trs_panels P;
    if (given) {
      o.partition = half;
      o.nparts = 2;
    }
    TRS_TRY(trs_panels_create(&P, &it->source, &o));
    void *values = malloc((size_t)P.nvalues * scalar_bytes(S->scalar));
    trs_status status =
        trs_panels_fill(&P, values, S->scalar, &it->source, S->val, S->unit, S->conj);
    free(values);
    trs_panels_destroy(&P);
    if (status) return status;
  }
  return TRS_SUCCESS;
}

TEST(failing_allocations_are_reported) {
  sample it = draw(60, 0.1, 60, 0, 5);
  assert_survives_failing_allocations(make_and_fill, &it);
  forget(&it);
}
