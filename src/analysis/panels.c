/* panels.c - finds the supernodes of a triangle and lays out their panels.  Described for panels by
 * columns; panels by rows are the panels by columns of the transpose.
 *
 * 1. The pattern by columns in the order of the sweep, without the diagonal.
 * 2. Runs: column k + 1 joins column k if the rows of k are k + 1 and the rows of k + 1 (the
 *    supernodes of Liu, Ng, Peyton 1993, without their condition on other children).  Runs that
 *    are too wide are cut evenly.
 * 3. Joining (relaxed supernodes, Ashcraft, Grimes 1989): in the order of the sweep each run joins
 *    the group before it while that group is its child (its first row below is a column of the run)
 *    and the added zeros are few.  Groups lie on a stack; the rows of all of them lie in one array
 *    beside it, which finally is the panels' list of rows.
 * Linear: a test of two groups costs at most the number of their rows, and a group is joined fewer
 * times than it has columns, so all joins into a supernode cost no more than its panel. */
#include "analysis/panels.h"

#include <math.h>
#include <string.h>

#include "analysis/dependents.h"
#include "analysis/growth.h"
#include "base/memory.h"
#include "base/scalar.h"

#undef I /* complex.h's; in the papers a block is T(I,K) */

/* The place of row or column i; also the row or column at place i. */
static inline int64_t place_of(const trs_panels_source *T, int64_t i) {
  return T->lower ? i : T->n - 1 - i;
}

/* Entry q of vector v in the order of the sweep. */
static inline int64_t entry_at(const trs_panels_source *T, int64_t v, int64_t q) {
  return T->lower ? T->ptr[v] + q : T->ptr[v + 1] - 1 - q;
}

/* ---- 1. Columns. ---- */

typedef struct columns {
  const int64_t *ptr;  /* n + 1 */
  const int32_t *row;  /* ascending within a column */
  int32_t skip;        /* 1: a column begins with its diagonal entry */
  trs_dependents made; /* unless the source's arrays serve */
} columns;

/* Counts the entries in the first pass; stores them in the second. */
static void visit(const trs_panels_source *T, columns *C) {
  for (int32_t k = 0; k < T->n; k++) {
    int64_t v = place_of(T, k), length = T->ptr[v + 1] - T->ptr[v];
    for (int64_t q = 0; q < length; q++) {
      int32_t other = (int32_t)place_of(T, T->idx[entry_at(T, v, q)]);
      int32_t row = T->rows ? k : other, column = T->rows ? other : k;
      if (row == column) continue;
      if (C->made.own_row)
        C->made.own_row[C->made.own_ptr[column + 1]++] = row;
      else
        C->made.own_ptr[column + 2]++;
    }
  }
}

/* Places are numbers of rows in reverse order. */
static trs_status reverse_columns(columns *C, const trs_panels_source *T) {
  trs_dependents *made = &C->made;
  TRS_TRY(TRS_ALLOC_ZERO(&made->own_ptr, T->n + 2));
  visit(T, C);
  for (int64_t j = 0; j < T->n; j++) made->own_ptr[j + 2] += made->own_ptr[j + 1];
  TRS_TRY(TRS_ALLOC(&made->own_row, made->own_ptr[T->n + 1]));
  visit(T, C);
  return TRS_SUCCESS;
}

/* True if the stored vectors are the columns: then either all or none have their diagonal entry. */
static bool take_columns(columns *C, const trs_panels_source *T) {
  int64_t diagonals = 0;
  if (T->rows || !T->lower) return false;
  for (int64_t k = 0; k < T->n; k++)
    diagonals += T->ptr[k] < T->ptr[k + 1] && T->idx[T->ptr[k]] == k;
  C->ptr = T->ptr;
  C->row = T->idx;
  C->skip = diagonals > 0;
  return diagonals == 0 || diagonals == T->n;
}

static trs_status make_columns(columns *C, const trs_panels_source *T) {
  const trs_system S = {
      .n = T->n, .nnz = T->ptr[T->n], .ptr = T->ptr, .idx = T->idx, .rows = true, .lower = true};
  if (take_columns(C, T)) return TRS_SUCCESS;
  TRS_TRY(T->rows && T->lower ? trs_dependents_create(&C->made, &S) : reverse_columns(C, T));
  C->ptr = C->made.own_ptr;
  C->row = C->made.own_row;
  C->skip = 0;
  return TRS_SUCCESS;
}

static inline int64_t height_of(const columns *C, int64_t k) {
  return C->ptr[k + 1] - C->ptr[k] - C->skip;
}

static inline const int32_t *rows_of(const columns *C, int64_t k) {
  return C->row + C->ptr[k] + C->skip;
}

/* ---- 2. Runs. ---- */

typedef struct group {
  int64_t entries, rows; /* entries with the diagonal; the start of the rows in the array of rows */
  int32_t first, width, height;
} group;

typedef struct builder {
  int64_t n;
  columns C;
  int32_t *part;             /* n: the part of a given partition that contains a place; NULL without
                                one */
  int64_t width, relax, few; /* the limits */
  int32_t *run;              /* first columns of the runs, and n */
  int64_t nruns;
  group *stack; /* at most nruns */
  int64_t depth;
  int32_t *row;      /* of the groups on the stack, one after the other */
  int32_t *spare[2]; /* n each: the rows of two joined groups */
} builder;

static bool nested(const builder *B, int64_t k) {
  const columns *C = &B->C;
  int64_t height = height_of(C, k + 1);
  const int32_t *row = rows_of(C, k);
  if (height_of(C, k) != height + 1 || row[0] != k + 1) return false;
  if (B->part && B->part[k] != B->part[k + 1]) return false;
  return !memcmp(row + 1, rows_of(C, k + 1), (size_t)height * sizeof *row);
}

static void cut_run(builder *B, int64_t from, int64_t to) {
  int64_t pieces = (to - from + B->width - 1) / B->width;
  for (int64_t i = 0; i < pieces; i++)
    B->run[B->nruns++] = (int32_t)(from + (to - from) * i / pieces);
}

static trs_status find_runs(builder *B) {
  TRS_TRY(TRS_ALLOC(&B->run, B->n + 1));
  int64_t from = 0;
  for (int64_t k = 0; k < B->n; k++)
    if (k + 1 == B->n || !nested(B, k)) {
      cut_run(B, from, k + 1);
      from = k + 1;
    }
  B->run[B->nruns] = (int32_t)B->n;
  return TRS_SUCCESS;
}

/* ---- 3. Joining. ---- */

/* The capacity of a diagonal triangle and a panel, in entries. */
static int64_t room(int64_t width, int64_t height) {
  return width * (width + 1) / 2 + width * height;
}

/* The most rows below the diagonal block with which a group is full enough. */
static int64_t most_rows(const builder *B, int64_t entries, int64_t width) {
  int64_t few = entries + B->few * width, relax = INT64_MAX;
  if (B->part) return B->n;
  if (B->relax < 100) relax = 100 * entries / (100 - B->relax);
  const int64_t size = few > relax ? few : relax, square = room(width, 0);
  return size < square ? -1 : (size - square) / width;
}

static bool related(const builder *B, const group *child, const group *run) {
  int32_t end = run->first + run->width;
  if (B->part) return B->part[child->first] == B->part[run->first];
  return child->height > 0 && B->row[child->rows] < end && end - child->first <= B->width;
}

/* Merges two ascending lists; returns the length of the result, or -1 if that exceeds `most`. */
static int32_t merge_lists(int32_t *out, const int32_t *a, int32_t na, const int32_t *b, int32_t nb,
                           int64_t most) {
  int32_t i = 0, j = 0, count = 0;
  while (i < na && j < nb) {
    const int32_t x = a[i], y = b[j], left = na - i > nb - j ? na - i : nb - j;
    if (count + left > most) return -1;
    out[count++] = x < y ? x : y;
    i += x <= y;
    j += y <= x;
  }
  if (count + (na - i) + (nb - j) > most) return -1;
  while (i < na) out[count++] = a[i++];
  while (j < nb) out[count++] = b[j++];
  return count;
}

/* Joins the group on top of the stack to *G, whose rows are given, if possible.  Then *G becomes
 * the joined group, and `out` its rows. */
static bool join(builder *B, group *G, const int32_t *rows, int32_t *out) {
  const group *top = &B->stack[B->depth - 1];
  const int32_t *above = B->row + top->rows;
  int32_t left = top->height, end = G->first + G->width;
  if (!related(B, top, G)) return false;
  for (; left > 0 && *above < end; above++) left--;
  group both = {
      .entries = top->entries + G->entries, .first = top->first, .width = end - top->first};
  both.height =
      merge_lists(out, above, left, rows, G->height, most_rows(B, both.entries, both.width));
  if (both.height < 0) return false;
  *G = both;
  return true;
}

static void push_run(builder *B, int32_t from, int32_t to) {
  const columns *C = &B->C;
  const int32_t *rows = rows_of(C, to - 1);
  group G = {.entries = C->ptr[to] - C->ptr[from] + (to - from) * (1 - C->skip),
             .first = from,
             .width = to - from,
             .height = (int32_t)height_of(C, to - 1)};
  for (int which = 0; B->depth > 0 && join(B, &G, rows, B->spare[which]); which ^= 1) {
    rows = B->spare[which];
    B->depth--;
  }
  if (B->depth) G.rows = B->stack[B->depth - 1].rows + B->stack[B->depth - 1].height;
  memcpy(B->row + G.rows, rows, (size_t)G.height * sizeof *rows);
  B->stack[B->depth++] = G;
}

static trs_status join_runs(builder *B) {
  int64_t nrows = 0;
  for (int64_t r = 0; r < B->nruns; r++) nrows += height_of(&B->C, B->run[r + 1] - 1);
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&B->stack, B->nruns), TRS_ROOM(&B->row, nrows)));
  for (int k = 0; k < 2; k++) TRS_TRY(TRS_ALLOC(&B->spare[k], B->n));
  for (int64_t r = 0; r < B->nruns; r++) push_run(B, B->run[r], B->run[r + 1]);
  return TRS_SUCCESS;
}

/* ---- The panels. ---- */

/* Rows of op(T) were treated as columns of its transpose, whose sweep runs in the opposite
 * direction: reverses the order of places and of all data. */
static void reverse_places(builder *B, int64_t nlist) {
  for (int64_t s = 0; s < B->depth; s++) {
    group *G = &B->stack[s];
    G->first = (int32_t)(B->n - G->first - G->width);
    G->rows = nlist - G->rows - G->height;
  }
  for (int64_t s = 0, t = B->depth - 1; s < t; s++, t--) {
    group kept = B->stack[s];
    B->stack[s] = B->stack[t];
    B->stack[t] = kept;
  }
  for (int64_t r = 0; r < nlist; r++) B->row[r] = (int32_t)(B->n - 1 - B->row[r]);
  for (int64_t r = 0, q = nlist - 1; r < q; r++, q--) {
    int32_t kept = B->row[r];
    B->row[r] = B->row[q];
    B->row[q] = kept;
  }
}

static void lay_out(trs_panels *P, const builder *B) {
  for (int64_t s = 0; s < P->count; s++) {
    const group *G = &B->stack[s];
    P->panel[s] = (trs_panel){.values = P->nvalues,
                              .list = G->rows,
                              .first = G->first,
                              .width = G->width,
                              .length = G->height};
    P->nvalues += (int64_t)G->width * (G->width + G->height);
    P->entries += G->entries;
    P->zeros += room(G->width, G->height) - G->entries;
    P->widest = G->width > P->widest ? G->width : P->widest;
    for (int32_t c = 0; c < G->width; c++) P->owner[G->first + c] = (int32_t)s;
  }
}

/* Records that supernode K adds to supernode I. */
static void link_panels(trs_panels *P, int32_t *level, int32_t K, int32_t I) {
  P->panel[I].sources++;
  if (level[I] <= level[K]) level[I] = level[K] + 1;
  if (P->levels <= level[I]) P->levels = level[I] + 1;
}

static trs_status list_lines(trs_panels *P, int32_t *level) {
  P->nlines = P->nlist;
  TRS_TRY(TRS_ALLOC(&P->line, P->nlines));
  for (int64_t s = 0; s < P->count; s++) {
    trs_panel *panel = &P->panel[s];
    int64_t end = panel->list + panel->length;
    panel->lines = panel->list;
    panel->height = panel->length;
    for (int64_t r = panel->list; r < end; r++) {
      int32_t target = P->owner[P->list[r]];
      bool last = r + 1 == end || P->owner[P->list[r + 1]] != target;
      P->line[r] = last ? target : -1;
      if (last) link_panels(P, level, (int32_t)s, target);
    }
  }
  return TRS_SUCCESS;
}

/* Visits the blocks in the order of the panels: by I, then K.  With a NULL list, counts the blocks
 * of each K and its rows. */
static void visit_blocks(trs_panels *P, int64_t *next, int32_t *level) {
  for (int64_t s = 0; s < P->count; s++) {
    const trs_panel *I = &P->panel[s];
    for (int64_t r = I->list, end = r + I->length, to; r < end; r = to) {
      int32_t K = P->owner[P->list[r]];
      for (to = r + 1; to < end && P->owner[P->list[to]] == K;) to++;
      if (!P->block) {
        P->panel[K].height += I->width;
        next[K + 1]++;
        link_panels(P, level, K, (int32_t)s);
        continue;
      }
      int64_t square = (int64_t)I->width * I->width;
      P->block[next[K]++] =
          (trs_panel_block){.values = I->values + square + (r - I->list) * I->width,
                            .list = r,
                            .count = (int32_t)(to - r),
                            .target = (int32_t)s,
                            .first = I->first,
                            .width = I->width};
    }
  }
}

/* The rows of a supernode's blocks, one block after the other. */
static void number_lines(trs_panels *P, const int64_t *end) {
  int64_t at = 0, b = 0;
  for (int64_t s = 0; s < P->count; s++) {
    P->panel[s].lines = at;
    for (; b < end[s]; b++) {
      P->block[b].lines = at - P->panel[s].lines;
      for (int32_t c = 0; c < P->block[b].width; c++) P->line[at++] = (int32_t)b;
    }
  }
}

static trs_status list_blocks(trs_panels *P, int32_t *level) {
  int64_t *next;
  TRS_TRY(TRS_ALLOC_ZERO(&next, P->count + 1));
  visit_blocks(P, next, level);
  for (int64_t s = 0; s < P->count; s++) {
    next[s + 1] += next[s];
    P->nlines += P->panel[s].height;
  }
  P->nblocks = next[P->count];
  trs_status status = TRS_ALLOC_ALL(TRS_ROOM(&P->block, P->nblocks), TRS_ROOM(&P->line, P->nlines));
  if (!status) {
    visit_blocks(P, next, level);
    number_lines(P, next);
  }
  trs_free(next);
  return status;
}

static trs_status finish(trs_panels *P, builder *B) {
  int32_t *level;
  P->count = B->depth;
  if (B->depth) P->nlist = B->stack[B->depth - 1].rows + B->stack[B->depth - 1].height;
  TRS_TRY(trs_realloc((void **)&B->row, P->nlist, sizeof *B->row));
  if (P->by_rows) reverse_places(B, P->nlist);
  P->list = B->row;
  B->row = NULL;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&P->panel, P->count), TRS_ROOM(&P->owner, P->n),
                        TRS_ZEROS(&level, P->count)));
  lay_out(P, B);
  if (P->count) P->levels = 1;
  trs_status status = P->by_rows ? list_blocks(P, level) : list_lines(P, level);
  trs_free(level);
  return status;
}

static trs_status take_partition(builder *B, const trs_panels_source *T,
                                 const trs_panels_options *options) {
  const int64_t *first = options->partition;
  B->width = first ? B->n : options->width;
  B->relax = options->relax;
  B->few = options->few;
  if (!first) return TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC(&B->part, B->n));
  for (int64_t s = 0; s < options->nparts; s++)
    for (int64_t j = first[s]; j < first[s + 1]; j++) B->part[place_of(T, j)] = (int32_t)s;
  return TRS_SUCCESS;
}

static trs_status build(trs_panels *P, builder *B, const trs_panels_source *T,
                        const trs_panels_options *options) {
  TRS_TRY(take_partition(B, T, options));
  TRS_TRY(make_columns(&B->C, T));
  TRS_TRY(find_runs(B));
  TRS_TRY(join_runs(B));
  return finish(P, B);
}

trs_status trs_panels_create(trs_panels *panels, const trs_panels_source *T,
                             const trs_panels_options *options) {
  builder B = {.n = T->n};
  trs_panels_source seen = *T;
  *panels = (trs_panels){.n = T->n, .backward = !T->lower, .by_rows = options->by_rows};
  if (options->by_rows) { /* of the transpose */
    seen.rows = !T->rows;
    seen.lower = !T->lower;
  }
  trs_status status = build(panels, &B, &seen, options);
  trs_dependents_destroy(&B.C.made);
  TRS_FREE_ALL(B.part, B.run, B.stack, B.row, B.spare[0], B.spare[1]);
  if (status) trs_panels_destroy(panels);
  return status;
}

void trs_panels_destroy(trs_panels *panels) {
  TRS_FREE_ALL(panels->panel, panels->owner, panels->list, panels->line, panels->block);
  *panels = (trs_panels){0};
}

/* ---- Values. ---- */

/* The supernode whose panel contains the entry at (row, column). */
static inline int32_t supernode_of(const trs_panels *P, int32_t row, int32_t column) {
  return P->owner[P->by_rows ? row : column];
}

/* The position of the entry among the values of its supernode, or -1.  The cursor advances along
 * the panel's list for entries that arrive in its order. */
static inline int64_t slot(const trs_panels *P, const trs_panel *panel, int32_t row, int32_t column,
                           int32_t *cursor) {
  int64_t width = panel->width, square = panel->values + width * width;
  int64_t across = row - panel->first, along = column - panel->first;
  int32_t key = P->by_rows ? column : row;
  const int32_t *list = P->list + panel->list;
  if (row < column) return -1;
  if (along >= 0 && across < width) return panel->values + across + along * width;
  while (*cursor < panel->length && list[*cursor] < key) ++*cursor;
  if (*cursor == panel->length || list[*cursor] != key) return -1;
  return square + (P->by_rows ? across + *cursor * width : *cursor + along * panel->length);
}

#define TRS_TEMPLATE "analysis/panels_tmpl.c"
#include "base/instantiate.h"

trs_status trs_panels_fill(const trs_panels *panels, void *values, trs_scalar scalar,
                           const trs_panels_source *T, const void *val, bool unit, bool conjugate) {
  static int64_t (*const scatter_of[])(const trs_panels *, void *, const trs_panels_source *,
                                       const void *, bool, bool, int32_t *) = TRS_TABLE(scatter);
  static void (*const set_unit_of[])(const trs_panels *, void *) = TRS_TABLE(set_unit);
  int32_t *cursor = NULL;
  if (T->rows != panels->by_rows) TRS_TRY(TRS_ALLOC_ZERO(&cursor, panels->count));
  memset(values, 0, (size_t)panels->nvalues * trs_scalar_size(scalar));
  int64_t bad = scatter_of[scalar](panels, values, T, val, unit, conjugate, cursor);
  trs_free(cursor);
  if (bad >= 0)
    return trs_fail(TRS_ERROR_ARGUMENT, bad,
                    "row or column %lld (0-based) has an entry that was absent at analysis: "
                    "analyse the matrix again",
                    (long long)bad);
  if (unit) set_unit_of[scalar](panels, values);
  return TRS_SUCCESS;
}

/* T, room: for a block of the widest. */
static int64_t invert_all(const trs_panels *P, char *values, trs_scalar scalar, void *T,
                          double *room, uint8_t *cuts) {
  static void (*const invert_of[])(void *, int64_t) = TRS_TABLE(invert);
  const size_t size = trs_scalar_size(scalar);
  int64_t refused = 0;
  for (int64_t s = 0; s < P->count; s++) {
    const int64_t width = P->panel[s].width;
    void *D = values + (size_t)P->panel[s].values * size;
    memcpy(T, D, (size_t)(width * width) * size);
    invert_of[scalar](D, width);
    refused += trs_growth_cut(scalar, width, T, D, room, cuts + P->panel[s].first);
  }
  return refused;
}

trs_status trs_panels_invert(const trs_panels *panels, void *values, trs_scalar scalar,
                             uint8_t *cuts, int64_t *refused) {
  const int64_t widest = panels->widest;
  uint8_t *unused = NULL;
  void *T = NULL;
  double *room = NULL;
  trs_status status = trs_alloc(&T, widest * widest, trs_scalar_size(scalar));
  if (!status) status = TRS_ALLOC(&room, 2 * widest);
  if (!status && !cuts) status = TRS_ALLOC(&unused, panels->n);
  if (!status) *refused = invert_all(panels, values, scalar, T, room, cuts ? cuts : unused);
  TRS_FREE_ALL(T, room, unused);
  return status;
}

trs_status trs_panels_cut(trs_panels *cut, const trs_panels *panels, const trs_panels_source *T,
                          const uint8_t *cuts) {
  const int64_t n = panels->n;
  trs_panels_options options = {.by_rows = panels->by_rows};
  int64_t *first;
  TRS_TRY(TRS_ALLOC(&first, n + 1));
  for (int64_t j = 0; j < n; j++) { /* columns: in a backward sweep a later place begins one */
    const int64_t k = panels->backward ? n - j : j;
    const bool begins = j == 0 || cuts[k] || panels->owner[k] != panels->owner[k - 1];
    if (begins) first[options.nparts++] = j;
  }
  first[options.nparts] = n;
  options.partition = first;
  trs_status status = trs_panels_create(cut, T, &options);
  trs_free(first);
  return status;
}
