/* lu_columns.c - complete LU in this process, one column after the other (Gilbert and Peierls,
 * Sparse partial pivoting in time proportional to arithmetic operations, SIAM J. Sci. Stat. Comput.
 * 9, 1988), for factors with few operations per entry: these are made before SuperLU's process has
 * started.  A search in the graph of L finds a column's pattern; it skips what later columns
 * reach too (Eisenstat and Liu, Exploiting structural symmetry in a sparse partial pivoting code,
 * 1993).  The pivot is the diagonal entry if it is at least pivot_threshold times the largest.
 * O(operations). */
#include <math.h>
#include <string.h>

#include "base/cancel.h"
#include "factor/lu.h"
#include "matrix/values.h"

/* L or U by columns as far as they are made.  L's rows are those of B. */
typedef struct made {
  int64_t *ptr;
  int32_t *idx;
  void *val;
  int64_t count, room;
} made;

typedef struct lu_columns {
  const lu_work *work;
  made L, U;
  int32_t *pivot_of, *row_of; /* the column whose pivot a row is, -1: none yet; its inverse */
  int64_t *end;               /* searches follow a column of L up to here */
  bool *parted;               /* column k: end is before the column's end, or nothing is left */
  int32_t *mark;              /* the column whose search has seen a row */
  int32_t *stack;             /* rows of the search's path */
  int64_t *place;             /* in L, of each row of the path */
  int32_t *reach;             /* [top, n): columns that update the current one, in that order */
  int64_t top;
  void *x; /* the current column; zero elsewhere */
  double operations;
} lu_columns;

#define TRS_TEMPLATE "factor/lu_columns_tmpl.c"
#include "base/instantiate.h"

static void (*const eliminate_of[])(lu_columns *, int64_t) = TRS_TABLE(eliminate);
static bool (*const divide_of[])(lu_columns *, int64_t) = TRS_TABLE(divide);
static int64_t (*const part_of[])(lu_columns *, int64_t) = TRS_TABLE(part);

/* ---- The pattern of a column. ---- */

/* Follows the path from an eliminated row; adds columns to reach after all that they update. */
static void search(lu_columns *c, int32_t j, int32_t start) {
  int64_t depth = 0;
  c->stack[0] = start;
  c->mark[start] = j;
  c->place[0] = c->L.ptr[c->pivot_of[start]];
  while (depth >= 0) {
    const int32_t k = c->pivot_of[c->stack[depth]];
    int64_t p = c->place[depth];
    int32_t next = -1;
    while (p < c->end[k] && next < 0) {
      const int32_t row = c->L.idx[p++];
      if (c->mark[row] == j) continue;
      c->mark[row] = j;
      if (c->pivot_of[row] >= 0)
        next = row;
      else
        c->L.idx[c->L.count++] = row;
    }
    c->place[depth] = p;
    if (next < 0) {
      c->reach[--c->top] = k;
      depth--;
      continue;
    }
    c->stack[++depth] = next;
    c->place[depth] = c->L.ptr[c->pivot_of[next]];
  }
}

static void find_pattern(lu_columns *c, int32_t j) {
  const lu_work *w = c->work;
  c->top = w->n;
  for (int64_t p = w->ptr[j]; p < w->ptr[j + 1]; p++) {
    const int32_t row = w->idx[p];
    if (c->mark[row] == j) continue;
    if (c->pivot_of[row] >= 0) {
      search(c, j, row);
      continue;
    }
    c->mark[row] = j;
    c->L.idx[c->L.count++] = row;
  }
}

/* Column k of L with column j's pivot, where k updates j, has the rest of its rows in column j too:
 * searches need not follow it beyond the pivots so far. */
static void prune(lu_columns *c, int64_t j) {
  const int32_t row = c->row_of[j];
  for (int64_t t = c->top; t < c->work->n; t++) {
    const int32_t k = c->reach[t];
    if (c->parted[k]) continue;
    for (int64_t p = c->L.ptr[k]; p < c->L.ptr[k + 1]; p++)
      if (c->L.idx[p] == row) {
        c->end[k] = part_of[c->work->input->B->scalar](c, k);
        c->parted[k] = true;
        break;
      }
  }
}

/* ---- Memory. ---- */

/* Room for n more entries; at first for so many as are predicted, which costs no memory until they
 * are written. */
static trs_status grow(made *m, int64_t n, int64_t first, size_t size) {
  if (m->count + n <= m->room) return TRS_SUCCESS;
  m->room = m->room ? m->room + m->room / 2 + n : first + n;
  TRS_TRY(trs_realloc((void **)&m->idx, m->room, sizeof *m->idx));
  return trs_realloc(&m->val, m->room, size);
}

static trs_status allocate(lu_columns *c) {
  const lu_work *w = c->work;
  TRS_TRY(TRS_ALLOC_ALL(
      TRS_ROOM(&c->L.ptr, w->n + 1), TRS_ROOM(&c->U.ptr, w->n + 1), TRS_ROOM(&c->pivot_of, w->n),
      TRS_ROOM(&c->row_of, w->n), TRS_ROOM(&c->end, w->n), TRS_ZEROS(&c->parted, w->n),
      TRS_ROOM(&c->mark, w->n), TRS_ROOM(&c->stack, w->n), TRS_ROOM(&c->place, w->n),
      TRS_ROOM(&c->reach, w->n), TRS_ROOM_OF(&c->x, w->n, w->size)));
  memset(c->x, 0, (size_t)w->n * w->size);
  memset(c->pivot_of, 0xff, (size_t)w->n * sizeof *c->pivot_of);
  memset(c->mark, 0xff, (size_t)w->n * sizeof *c->mark);
  return TRS_SUCCESS;
}

static void free_made(made *m) {
  TRS_FREE_ALL(m->ptr, m->idx, m->val);
  *m = (made){0};
}

static void release(lu_columns *c) {
  free_made(&c->L);
  free_made(&c->U);
  TRS_FREE_ALL(c->pivot_of, c->row_of, c->end, c->parted, c->mark, c->stack, c->place, c->reach,
               c->x);
}

/* ---- The factors. ---- */

static trs_status factor(lu_columns *c, lu_limits limits, bool *stopped) {
  const lu_work *w = c->work;
  const trs_scalar scalar = w->input->B->scalar;
  for (int32_t j = 0; j < w->n; j++) {
    TRS_TRY(trs_cancelled());
    c->L.ptr[j] = c->L.count;
    c->U.ptr[j] = c->U.count;
    TRS_TRY(grow(&c->L, w->n - j, w->input->fill, w->size)); /* a column has no more rows left */
    TRS_TRY(grow(&c->U, (int64_t)j + 1, w->input->fill, w->size));
    find_pattern(c, j);
    eliminate_of[scalar](c, j);
    if (!divide_of[scalar](c, j)) return trs_lu_singular(w, j);
    c->L.ptr[j + 1] = c->end[j] = c->L.count;
    prune(c, j);
    *stopped =
        (double)(c->L.count + c->U.count) > limits.entries || c->operations > limits.operations;
    if (*stopped) return TRS_SUCCESS;
  }
  c->L.ptr[w->n] = c->L.count;
  c->U.ptr[w->n] = c->U.count;
  return TRS_SUCCESS;
}

/* By rows, which come out in order; renumber (NULL: none) gives the rows their numbers. */
static trs_status turn(trs_matrix **T, const lu_work *w, const made *m, const int32_t *renumber) {
  int64_t *ptr = NULL;
  int32_t *idx = NULL;
  void *val = NULL;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ZEROS(&ptr, w->n + 2), TRS_ROOM(&idx, m->count),
                        TRS_ROOM_OF(&val, m->count, w->size)));
  for (int64_t p = 0; p < m->count; p++) ptr[(renumber ? renumber[m->idx[p]] : m->idx[p]) + 2]++;
  for (int64_t i = 0; i < w->n; i++) ptr[i + 2] += ptr[i + 1];
  trs_values_spread(ptr + 1, idx, val, w->n, NULL, renumber, m->ptr, m->idx, m->val,
                    w->input->B->scalar);
  return trs_lu_adopt(T, w, !renumber, ptr, idx, val);
}

/* Whether column j of L has the rows of column j - 1 but for its own pivot. */
static bool is_like_the_last(const lu_columns *c, int64_t j) {
  const int64_t *ptr = c->L.ptr;
  if (ptr[j + 1] - ptr[j] + 1 != ptr[j] - ptr[j - 1]) return false;
  for (int64_t p = ptr[j - 1]; p < ptr[j]; p++) c->mark[c->L.idx[p]] = (int32_t)j;
  if (c->mark[c->row_of[j]] != j) return false;
  for (int64_t p = ptr[j]; p < ptr[j + 1]; p++)
    if (c->mark[c->L.idx[p]] != j) return false;
  return true;
}

static trs_status find_supernodes(trs_factors *parts, lu_columns *c) {
  int64_t count = 0;
  TRS_TRY(TRS_ALLOC(&parts->supernode_ptr, c->work->n + 1));
  memset(c->mark, 0xff, (size_t)c->work->n * sizeof *c->mark);
  for (int64_t j = 0; j < c->work->n; j++)
    if (!j || j - parts->supernode_ptr[count - 1] == TRS_LU_WIDEST || !is_like_the_last(c, j))
      parts->supernode_ptr[count++] = j;
  parts->supernode_ptr[count] = c->work->n;
  parts->nsupernodes = count;
  return TRS_SUCCESS;
}

trs_status trs_lu_columns(trs_factors *parts, lu_work *w, lu_limits limits, bool *stopped) {
  lu_columns c = {.work = w};
  *stopped = false;
  trs_status status = allocate(&c);
  if (!status) status = factor(&c, limits, stopped);
  if (!status && !*stopped) {
    status = find_supernodes(parts, &c);
    trs_lu_free_columns(w);
    if (!status) status = turn(&parts->L, w, &c.L, c.pivot_of);
    free_made(&c.L);
    if (!status) status = turn(&parts->U, w, &c.U, NULL);
    w->perm_r = c.pivot_of;
    c.pivot_of = NULL;
  }
  release(&c);
  return status;
}
