/* blocks.c - the diagonal blocks of a matrix that is block triangular but for the order of its rows
 * and columns: the strongly connected components of its graph (Tarjan, Depth-first search and
 * linear graph algorithms, SIAM J. Comput. 1, 1972), without recursion.  O(n + nnz). */
#include "base/transpose.h"
#include "order/methods.h"

typedef struct search {
  const trs_matrix *A;
  int32_t *met;   /* the turn in which the search met a row, from 1 on; 0: not yet */
  int32_t *least; /* the earliest such turn among the rows without a block that the row reaches */
  int32_t *open;  /* rows without a block */
  int32_t *path;  /* from the first row of the search to the current one */
  int64_t *next;  /* of each row of the path, the entry to follow */
  int32_t *block; /* -1: not known */
  int64_t nopen, depth;
  int32_t turns, count;
} search;

static void enter(search *s, int32_t i) {
  s->met[i] = s->least[i] = ++s->turns;
  s->next[i] = s->A->ptr[i];
  s->open[s->nopen++] = i;
  s->path[++s->depth] = i;
}

/* A row that row i names and that was not met; -1: none. */
static int32_t follow(search *s, int32_t i) {
  const int64_t end = s->A->ptr[i + 1];
  for (int64_t p = s->next[i]; p < end; p++) {
    const int32_t j = s->A->idx[p];
    if (!s->met[j]) {
      s->next[i] = p + 1;
      return j;
    }
    if (s->block[j] < 0 && s->met[j] < s->least[i]) s->least[i] = s->met[j];
  }
  return -1;
}

static void leave(search *s, int32_t i) {
  if (s->least[i] == s->met[i]) {
    int32_t j;
    do {
      j = s->open[--s->nopen];
      s->block[j] = s->count;
    } while (j != i);
    s->count++;
  }
  if (--s->depth < 0) return;
  const int32_t before = s->path[s->depth];
  if (s->least[i] < s->least[before]) s->least[before] = s->least[i];
}

static void search_from(search *s, int32_t i) {
  s->depth = -1;
  enter(s, i);
  while (s->depth >= 0) {
    const int32_t last = s->path[s->depth], j = follow(s, last);
    if (j < 0)
      leave(s, last);
    else
      enter(s, j);
  }
}

/* Rows of a block have entries in columns of this block and of blocks before it. */
static trs_status find(int32_t *block, int32_t *count, const trs_matrix *A) {
  search s = {.A = A, .block = block};
  trs_status status = TRS_ALLOC_ZERO(&s.met, A->nrows);
  if (!status) status = TRS_ALLOC(&s.least, A->nrows);
  if (!status) status = TRS_ALLOC(&s.open, A->nrows);
  if (!status) status = TRS_ALLOC(&s.path, A->nrows);
  if (!status) status = TRS_ALLOC(&s.next, A->nrows);
  if (!status) {
    for (int64_t i = 0; i < A->nrows; i++) block[i] = -1;
    for (int32_t i = 0; i < A->nrows; i++)
      if (!s.met[i]) search_from(&s, i);
  }
  *count = s.count;
  TRS_FREE_ALL(s.met, s.least, s.open, s.path, s.next);
  return status;
}

static int32_t largest(const int64_t *ptr, int32_t count) {
  int32_t most = 0;
  for (int32_t b = 1; b < count; b++)
    if (ptr[b + 1] - ptr[b] > ptr[most + 1] - ptr[most]) most = b;
  return most;
}

/* Blocks whose rows need the largest one, directly or not. */
static void mark_needing(bool *needs, const trs_matrix *A, const int32_t *block, const int64_t *ptr,
                         const int32_t *row, int32_t count, int32_t most) {
  needs[most] = true;
  for (int32_t b = most + 1; b < count; b++)
    for (int64_t r = ptr[b]; r < ptr[b + 1] && !needs[b]; r++)
      for (int64_t p = A->ptr[row[r]]; p < A->ptr[row[r] + 1]; p++)
        if (needs[block[A->idx[p]]]) needs[b] = true;
}

/* A block needs no other that is left, or no other that is left needs it: only entries beside it
 * are filled.  The largest block is the last one, and fills nothing beside itself. */
static void take_turns(int32_t *turn, const bool *needs, int32_t count, int32_t most) {
  int32_t turns = 0;
  for (int32_t b = 0; b < count; b++)
    if (!needs[b]) turn[b] = turns++;
  for (int32_t b = count - 1; b > most; b--)
    if (needs[b]) turn[b] = turns++;
  turn[most] = turns;
}

static int64_t count_between(const int32_t *block, const trs_matrix *A) {
  int64_t between = 0;
  for (int64_t i = 0; i < A->nrows; i++)
    for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) between += block[A->idx[p]] != block[i];
  return between;
}

trs_status trs_order_blocks(int32_t *block, int32_t *count, int64_t *between, const trs_matrix *A) {
  int64_t *ptr = NULL;
  int32_t *row = NULL, *turn = NULL;
  bool *needs = NULL;
  *between = 0;
  TRS_TRY(find(block, count, A));
  if (*count < 2) return TRS_SUCCESS;
  trs_status status = trs_transpose_pattern(&ptr, &row, NULL, *count, A->nrows, NULL, block);
  if (!status) status = TRS_ALLOC_ZERO(&needs, *count);
  if (!status) status = TRS_ALLOC(&turn, *count);
  if (!status) {
    const int32_t most = largest(ptr, *count);
    mark_needing(needs, A, block, ptr, row, *count, most);
    take_turns(turn, needs, *count, most);
    for (int64_t i = 0; i < A->nrows; i++) block[i] = turn[block[i]];
    *between = count_between(block, A);
  }
  TRS_FREE_ALL(ptr, row, turn, needs);
  return status;
}
