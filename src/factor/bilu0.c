/* bilu0.c - block incomplete factors: their pattern, the rows of each level of L at once (the rows
 * are those of bilu0_tmpl.c), and the scalar triangles. */
#include "factor/bilu0.h"

#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/search.h"
#include "base/cores.h"
#include "base/transpose.h"
#include "factor/bilu0_block.h"
#include "factor/kinds.h"

/* ---- Pattern ---- */

/* True if the columns of all rows ascend. */
static bool ascend(const trs_block_pattern *P) {
  for (int64_t i = 0; i < P->n && !P->ascends; i++)
    for (int64_t k = P->ptr[i] + 1; k < P->ptr[i + 1]; k++)
      if (P->idx[k - 1] >= P->idx[k]) return false;
  return true;
}

/* Counts the blocks of each row, and those before its diagonal block. */
static void count_blocks(trs_bilu0 *w, const trs_block_pattern *P, bool ascends) {
  trs_bilu0_sweep *L = &w->sweep[0], *U = &w->sweep[1];
  w->ptr[0] = L->ptr[0] = U->ptr[0] = 0;
  for (int64_t i = 0; i < w->n; i++) {
    const int32_t *from = P->idx + P->ptr[i];
    const int64_t count = P->ptr[i + 1] - P->ptr[i];
    int64_t below = 0, own = 0;
    if (ascends) {
      while (below < count && from[below] < i) below++;
      own = below < count && from[below] == i;
    } else {
      for (int64_t k = 0; k < count; k++) {
        below += from[k] < i;
        own += from[k] == i;
      }
    }
    w->row[i] = (int32_t)i;
    w->diagonal[i] = w->ptr[i] + below;
    w->ptr[i + 1] = w->ptr[i] + count - own + 1;
    L->ptr[i + 1] = L->ptr[i] + below;
    U->ptr[i + 1] = U->ptr[i] + count - own - below;
  }
}

/* The columns of row i, ascending, with its own among them, and those of L and U. */
static void take_row(const trs_bilu0 *w, const trs_block_pattern *P, int64_t i, bool ascends) {
  const int32_t *from = P->idx + P->ptr[i];
  int32_t *restrict to = w->idx + w->ptr[i];
  int32_t *restrict L = w->sweep[0].idx + w->sweep[0].ptr[i];
  int32_t *restrict U = w->sweep[1].idx + w->sweep[1].ptr[i];
  const int64_t given = P->ptr[i + 1] - P->ptr[i], count = w->ptr[i + 1] - w->ptr[i];
  const int64_t below = w->diagonal[i] - w->ptr[i], above = count - below - 1;
  int64_t at = 0;
  if (!ascends) {
    for (int64_t k = 0; k < given; k++)
      if (from[k] != i) to[at++] = from[k];
    to[at] = (int32_t)i;
    qsort(to, (size_t)count, sizeof *to, trs_compare_int32);
    from = to;
  }
  for (int64_t k = 0; k < below; k++) L[k] = to[k] = from[k];
  from += ascends ? given - above : below + 1;
  to += below;
  *to++ = (int32_t)i;
  for (int64_t k = 0; k < above; k++) U[k] = to[k] = from[k];
}

/* The columns of U lie behind those of L, so that zeros are before them. */
static trs_status take_pattern(trs_bilu0 *w, const trs_block_pattern *P) {
  trs_bilu0_sweep *L = &w->sweep[0], *U = &w->sweep[1];
  const int64_t n = P->n;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&w->ptr, n + 1), TRS_ROOM(&w->diagonal, n), TRS_ROOM(&w->row, n),
                        TRS_ROOM(&L->ptr, n + 1), TRS_ROOM(&U->ptr, n + 1)));
  const bool ascends = ascend(P);
  count_blocks(w, P, ascends);
  TRS_TRY(TRS_ALLOC(&w->idx, w->ptr[n]));
  TRS_TRY(TRS_ALLOC(&L->idx, w->ptr[n] - n + 2 * TRS_BLOCKS_PAST));
  U->idx = L->idx + L->ptr[n] + TRS_BLOCKS_PAST;
  memset(L->idx + L->ptr[n], 0, TRS_BLOCKS_PAST * sizeof *L->idx);
  memset(U->idx + U->ptr[n], 0, TRS_BLOCKS_PAST * sizeof *U->idx);
  for (int64_t i = 0; i < n; i++) take_row(w, P, i, ascends);
  return TRS_SUCCESS;
}

/* One array, which takes fewer pages than four, with some numbers to read behind each part. */
static trs_status allocate_values(trs_bilu0 *w) {
  enum { LINE = 8 };
  const int64_t size = (int64_t)w->block * w->block;
  int64_t count;
  if (__builtin_mul_overflow(w->ptr[w->n], size, &count))
    return trs_fail(TRS_ERROR_MEMORY, -1,
                    "out of memory: %lld blocks of %d x %d values exceed 2^63 bytes",
                    (long long)w->ptr[w->n], w->block, w->block);
  double **const part[] = {&w->sweep[0].val, &w->sweep[1].val, &w->inverse, &w->own};
  const int64_t blocks[] = {w->sweep[0].ptr[w->n], w->sweep[1].ptr[w->n], w->n, w->n};
  int64_t begin[5] = {0};
  double *all;
  for (int k = 0; k < 4; k++) begin[k + 1] = begin[k] + (blocks[k] * size / LINE + 2) * LINE;
  TRS_TRY(TRS_ALLOC(&all, begin[4]));
  for (int k = 0; k < 4; k++) {
    *part[k] = all + begin[k];
    memset(all + begin[k] + blocks[k] * size, 0,
           (size_t)(begin[k + 1] - begin[k] - blocks[k] * size) * sizeof *all);
  }
  return TRS_ALLOC_ZERO(&w->pivot, w->n * w->block); /* places, where a row has a fault, too */
}

trs_status trs_bilu0_create(trs_bilu0 **result, const trs_bilu0 *head,
                            const trs_block_pattern *pattern) {
  trs_bilu0 *w;
  *result = NULL;
  TRS_TRY(TRS_ALLOC_ZERO(&w, 1));
  *w = *head;
  w->n = pattern->n;
  atomic_init(&w->references, 1);
  trs_status status = take_pattern(w, pattern);
  if (!status) status = allocate_values(w);
  if (status)
    trs_bilu0_free(w);
  else
    *result = w;
  return status;
}

trs_status trs_bilu0_create_like(trs_bilu0 **result, const trs_bilu0 *origin) {
  trs_bilu0 *w;
  *result = NULL;
  TRS_TRY(TRS_ALLOC_ZERO(&w, 1));
  *w = *origin;
  atomic_init(&w->references, 1);
  w->origin = trs_bilu0_retain(origin);
  w->sweep[0].val = w->sweep[1].val = w->own = w->inverse = NULL;
  w->pivot = NULL;
  trs_status status = allocate_values(w);
  if (status)
    trs_bilu0_free(w);
  else
    *result = w;
  return status;
}

trs_bilu0 *trs_bilu0_retain(const trs_bilu0 *w) {
  trs_bilu0 *shared = (trs_bilu0 *)w;
  atomic_fetch_add(&shared->references, 1);
  return shared;
}

static void free_pattern(trs_bilu0 *w) {
  TRS_FREE_ALL(w->ptr, w->idx, w->diagonal, w->row, w->sweep[0].ptr, w->sweep[0].idx,
               w->sweep[1].ptr);
}

void trs_bilu0_free(trs_bilu0 *w) {
  if (!w || atomic_fetch_sub(&w->references, 1) > 1) return;
  if (w->origin)
    trs_bilu0_free((trs_bilu0 *)w->origin);
  else
    free_pattern(w);
  TRS_FREE_ALL(w->sweep[0].val, w->pivot, w);
}

int64_t trs_bilu0_held(const trs_bilu0 *w) {
  const trs_bilu0_sweep *L = &w->sweep[0], *U = &w->sweep[1];
  const int64_t values = TRS_HELD(w, L->val, w->pivot);
  if (w->origin) return values;
  return values + TRS_HELD(w->ptr, w->idx, w->diagonal, w->row, L->ptr, L->idx, U->ptr);
}

/* ---- Elimination: rows of a level of L at once.  Level by level, the first row with a fault is
 * that of one thread: rows before it read no row that has one. ---- */

typedef struct elimination {
  trs_bilu0 *w;
  const trs_bilu0_input *input;
  const trs_bilu0_kernels *kernels;
  int32_t *order;     /* rows by levels; NULL: all in their order, by one thread */
  int64_t begin, end; /* of a level */
  int threads;
  struct member {
    trs_bilu0_row row;
    trs_bilu0_outcome outcome;
  } * member;
} elimination;

/* Rows of the blocks in values, of A, in the order of the factors. */
static void exchange_rows(const trs_bilu0 *w, int64_t i, const uint8_t *from, double *values) {
  const int b = w->block;
  double column[TRS_RELAX_MOST_BLOCK];
  for (int64_t c = 0; c < (w->ptr[i + 1] - w->ptr[i]) * b; c++) {
    memcpy(column, values + c * b, (size_t)b * sizeof *column);
    for (int r = 0; r < b; r++) values[c * b + r] = column[from[i * b + r]];
  }
}

static void set_slots(const trs_bilu0 *w, int64_t i, const int32_t *own, int32_t *slot, bool set) {
  const int32_t *idx = w->idx + w->ptr[i];
  const int32_t count = (int32_t)(w->ptr[i + 1] - w->ptr[i]);
  if (own)
    for (int32_t k = 0; k < count; k++) slot[own[idx[k]]] = set ? k : -1;
  else if (set)
    for (int32_t k = 0; k < count; k++) slot[idx[k]] = k;
  else
    for (int32_t k = 0; k < count; k++) slot[idx[k]] = -1;
}

/* The blocks of row i if they are doubles in the order of the factors, or NULL. */
static const double *find_row(const elimination *e, int64_t i) {
  const trs_bilu0 *w = e->w;
  const trs_block_source *S = e->input->source;
  const int64_t count = w->ptr[i + 1] - w->ptr[i], from = S->ptr ? S->ptr[i] : 0;
  if (S->give || S->scalar != TRS_DOUBLE || S->span != 1 || e->input->own || e->input->from)
    return NULL;
  if (S->ptr[i + 1] - from != count) return NULL;
  for (int64_t k = 0; k < count; k++)
    if (S->idx[from + k] != w->idx[w->ptr[i] + k]) return NULL;
  return (const double *)S->val + from * w->block * w->block;
}

/* Leaves the slots of the row's columns. */
static trs_status read_row(const elimination *e, int64_t i, trs_bilu0_row *row) {
  const trs_bilu0 *w = e->w;
  const trs_bilu0_input *in = e->input;
  row->from = find_row(e, i);
  row->by_rows = row->from && in->source->layout == TRS_ROW_MAJOR;
  if (row->from) {
    set_slots(w, i, NULL, row->slot, true);
    return TRS_SUCCESS;
  }
  row->from = row->read;
  const int64_t size = (int64_t)w->block * w->block, next = i + 1 < w->n ? i + 1 : i;
  memset(row->read, 0, (size_t)((w->ptr[i + 1] - w->ptr[i]) * size) * sizeof *row->read);
  set_slots(w, i, in->own, row->slot, true);
  trs_block_source_ahead(in->source, in->own ? in->own[next] : next);
  const trs_status status =
      trs_block_source_row(in->source, in->own ? in->own[i] : i, row->slot, row->read);
  if (in->own) {
    set_slots(w, i, in->own, row->slot, false);
    set_slots(w, i, NULL, row->slot, true);
  }
  if (in->from) exchange_rows(w, i, in->from, row->read);
  return status;
}

static bool eliminate_row(const elimination *e, int64_t i, struct member *m) {
  trs_bilu0_outcome now; /* its message is long, and seldom used */
  now.fault = TRS_BILU0_READ;
  now.row = i;
  now.column = 0;
  now.pivot = 0;
  if (read_row(e, i, &m->row))
    trs_failure_get(&now.read);
  else
    now.fault = e->kernels->eliminate(e->w, i, &m->row, &now);
  set_slots(e->w, i, NULL, m->row.slot, false);
  if (now.fault && (!m->outcome.fault || i < m->outcome.row)) m->outcome = now;
  return !now.fault;
}

static void eliminate_share(void *argument, int rank, int size) {
  const elimination *e = argument;
  struct member *m = &e->member[rank];
  int64_t begin, end;
  trs_share(e->end - e->begin, rank, size, &begin, &end);
  for (int64_t k = e->begin + begin; k < e->begin + end; k++)
    if (!eliminate_row(e, e->order ? e->order[k] : k, m) && !e->order) return;
}

static void clear_slots(void *argument, int rank, int size) {
  const elimination *e = argument;
  (void)size;
  for (int64_t j = 0; j < e->w->n; j++) e->member[rank].row.slot[j] = -1;
}

/* Rows by levels; *ptr: of levels in order, which the caller frees. */
static trs_status sort_by_levels(elimination *e, int64_t **ptr, int64_t *levels) {
  const trs_bilu0 *w = e->w;
  int32_t *level;
  TRS_TRY(TRS_ALLOC(&level, w->n));
  *levels = 0;
  for (int64_t i = 0; i < w->n; i++) {
    level[i] = 0;
    for (int64_t p = w->ptr[i]; p < w->diagonal[i]; p++)
      if (level[w->idx[p]] >= level[i]) level[i] = level[w->idx[p]] + 1;
    if (level[i] >= *levels) *levels = level[i] + 1;
  }
  trs_status status = trs_transpose_pattern(ptr, &e->order, NULL, *levels, w->n, NULL, level);
  trs_free(level);
  return status;
}

static trs_status eliminate_levels(elimination *e, trs_team *team) {
  enum { ROWS_WORTH = 16 }; /* a level with fewer per thread has one thread */
  int64_t *ptr, levels;
  TRS_TRY(sort_by_levels(e, &ptr, &levels));
  trs_status status = TRS_SUCCESS;
  for (int64_t c = 0; c < levels && !status; c++) {
    e->begin = ptr[c];
    e->end = ptr[c + 1];
    const bool one = e->end - e->begin < (int64_t)ROWS_WORTH * e->threads;
    trs_team_run(team, one ? 1 : e->threads, eliminate_share, e);
    status = trs_cancelled();
  }
  trs_free(ptr);
  return status;
}

static trs_status eliminate_in_order(elimination *e) {
  const int64_t n = e->w->n;
  for (; e->begin < n && !e->member->outcome.fault; e->begin = e->end) {
    e->end = n - e->begin > TRS_FACTOR_CANCEL ? e->begin + TRS_FACTOR_CANCEL : n;
    eliminate_share(e, 0, 1);
    TRS_TRY(trs_cancelled());
  }
  return TRS_SUCCESS;
}

static trs_status take_members(elimination *e) {
  const trs_bilu0 *w = e->w;
  int64_t longest = 0;
  for (int64_t i = 0; i < w->n; i++)
    if (w->ptr[i + 1] - w->ptr[i] > longest) longest = w->ptr[i + 1] - w->ptr[i];
  const int64_t size = (int64_t)w->block * (w->block + 3);
  TRS_TRY(TRS_ALLOC_ZERO(&e->member, e->threads));
  for (int k = 0; k < e->threads; k++) {
    TRS_TRY(TRS_ALLOC(&e->member[k].row.slot, w->n));
    TRS_TRY(TRS_ALLOC(&e->member[k].row.values, (longest + 1) * size));
    e->member[k].row.left = e->member[k].row.values + longest * size;
    TRS_TRY(TRS_ALLOC(&e->member[k].row.read, longest * w->block * w->block));
  }
  return TRS_SUCCESS;
}

trs_status trs_bilu0_run(trs_bilu0 *w, const trs_bilu0_input *input, trs_team *team,
                         trs_bilu0_outcome *outcome) {
  elimination e = {.w = w,
                   .input = input,
                   .kernels = TRS_ISA_OF(trs_bilu0_kernels, trs_isa_now()),
                   .threads = trs_team_size(team)};
  *outcome = (trs_bilu0_outcome){0};
  trs_status status = take_members(&e);
  if (!status) {
    trs_team_run(team, e.threads, clear_slots, &e);
    status = e.threads > 1 ? eliminate_levels(&e, team) : eliminate_in_order(&e);
  }
  for (int k = 0; e.member && k < e.threads; k++) {
    const trs_bilu0_outcome *own = &e.member[k].outcome;
    if (own->fault && (!outcome->fault || own->row < outcome->row)) *outcome = *own;
    TRS_FREE_ALL(e.member[k].row.slot, e.member[k].row.values, e.member[k].row.read);
  }
  TRS_FREE_ALL(e.order, e.member);
  return status;
}

/* ---- The scalar triangles.  With P D = l u of a diagonal block, L has the blocks
 * P_i L_ik P_k^T l_k and l_i, and U the blocks l_i^-1 P_i U_ij and u_i; block IC(0) has D = l l^T
 * and no P. ---- */

typedef struct triangle {
  const trs_bilu0 *w;
  trs_scalar scalar;
  bool lower;
  double *diagonal; /* n: l and u */
  int64_t *ptr;
  int32_t *idx;
  void *val;
} triangle;

static void put(const triangle *t, int64_t at, double value) {
  if (t->scalar == TRS_FLOAT)
    ((float *)t->val)[at] = (float)value;
  else
    ((double *)t->val)[at] = value;
}

static int pivot_of(const trs_bilu0 *w, int64_t i, int r) {
  if (w->kind == TRS_FACTOR_BIC0) return r;
  return w->pivot[i * w->block + r] & ~TRS_BLOCK_INVERTED;
}

static void factor_diagonals(void *argument, int rank, int size) {
  const triangle *t = argument;
  const trs_bilu0 *w = t->w;
  const int64_t square = (int64_t)w->block * w->block;
  int64_t begin, end;
  trs_share(w->n, rank, size, &begin, &end);
  for (int64_t i = begin; i < end; i++) {
    double *d = t->diagonal + i * square;
    const double *own = w->own + i * square;
    uint8_t same[TRS_RELAX_MOST_BLOCK];
    for (int64_t e = 0; e < square; e++)
      d[e] = own[e / w->block * w->block + pivot_of(w, i, (int)(e % w->block))];
    if (w->kind == TRS_FACTOR_BIC0)
      (void)trs_block_cholesky(d, w->block);
    else
      (void)trs_block_lu(d, same, 0, w->block);
  }
}

/* to = P_i L_ik P_k^T l_k */
static void lower_block(const triangle *t, int64_t i, int64_t k, const double *l, double *to) {
  const trs_bilu0 *w = t->w;
  const int b = w->block;
  const double *d = t->diagonal + k * b * b;
  const bool unit = w->kind != TRS_FACTOR_BIC0;
  for (int c = 0; c < b; c++)
    for (int r = 0; r < b; r++) {
      const double *from = l + pivot_of(w, i, r);
      double sum = from[pivot_of(w, k, c) * b] * (unit ? 1 : d[c * b + c]);
      for (int m = c + 1; m < b; m++) sum += from[pivot_of(w, k, m) * b] * d[c * b + m];
      to[c * b + r] = sum;
    }
}

/* to = l_i^-1 P_i U_ij */
static void upper_block(const triangle *t, int64_t i, const double *u, double *to) {
  const trs_bilu0 *w = t->w;
  const int b = w->block;
  const double *d = t->diagonal + i * b * b;
  const bool unit = w->kind != TRS_FACTOR_BIC0;
  for (int c = 0; c < b; c++)
    for (int r = 0; r < b; r++) {
      double sum = u[c * b + pivot_of(w, i, r)];
      for (int m = 0; m < r; m++) sum -= d[m * b + r] * to[c * b + m];
      to[c * b + r] = unit ? sum : sum / d[r * b + r];
    }
}

/* Block p of block row i; `first` is its place in the row of the triangle's first scalar row, and
 * each next row begins `length` entries behind, and is one entry shorter or longer. */
static void write_block(const triangle *t, int64_t i, int64_t p, const double *block,
                        int64_t offset) {
  const trs_bilu0 *w = t->w;
  const int b = w->block;
  for (int r = 0; r < b; r++) {
    const int64_t at = t->ptr[i * b + r] + offset - (t->lower ? 0 : r);
    for (int c = 0; c < b; c++) {
      t->idx[at + c] = w->idx[p] * b + c;
      put(t, at + c, block[c * b + r]);
    }
  }
}

static void write_diagonal(const triangle *t, int64_t i, int64_t offset) {
  const trs_bilu0 *w = t->w;
  const int b = w->block;
  const double *d = t->diagonal + i * b * b;
  const bool unit = t->lower && w->kind != TRS_FACTOR_BIC0;
  for (int r = 0; r < b; r++) {
    int64_t at = t->ptr[i * b + r] + offset;
    for (int c = t->lower ? 0 : r; c < (t->lower ? r + 1 : b); c++, at++) {
      t->idx[at] = (int32_t)(i * b + c);
      put(t, at, unit && r == c ? 1 : d[c * b + r]);
    }
  }
}

static void write_share(void *argument, int rank, int size) {
  const triangle *t = argument;
  const trs_bilu0 *w = t->w;
  const int b = w->block;
  double block[TRS_RELAX_MOST_BLOCK * TRS_RELAX_MOST_BLOCK];
  int64_t begin, end;
  trs_share(w->n, rank, size, &begin, &end);
  for (int64_t i = begin; i < end; i++) {
    const trs_bilu0_sweep *s = &w->sweep[!t->lower];
    const int64_t at = s->ptr[i], count = s->ptr[i + 1] - at;
    const int64_t first = t->lower ? w->ptr[i] : w->diagonal[i] + 1;
    write_diagonal(t, i, t->lower ? count * b : 0);
    for (int64_t k = 0; k < count; k++) {
      const double *from = s->val + (at + k) * b * b;
      if (t->lower)
        lower_block(t, i, w->idx[first + k], from, block);
      else
        upper_block(t, i, from, block);
      write_block(t, i, first + k, block, t->lower ? k * b : (k + 1) * b);
    }
  }
}

/* The entries of the rows before each. */
static void count_rows(const triangle *t) {
  const trs_bilu0 *w = t->w;
  const int b = w->block;
  t->ptr[0] = 0;
  for (int64_t i = 0; i < w->n; i++) {
    const int64_t beside =
        t->lower ? w->diagonal[i] - w->ptr[i] : w->ptr[i + 1] - w->diagonal[i] - 1;
    for (int r = 0; r < b; r++)
      t->ptr[i * b + r + 1] = t->ptr[i * b + r] + beside * b + (t->lower ? r + 1 : b - r);
  }
}

static trs_status allocate(triangle *t) {
  const int64_t rows = t->w->n * t->w->block;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&t->diagonal, rows * t->w->block), TRS_ROOM(&t->ptr, rows + 1)));
  count_rows(t);
  TRS_TRY(TRS_ALLOC(&t->idx, t->ptr[rows]));
  return trs_alloc(&t->val, t->ptr[rows], trs_scalar_size(t->scalar));
}

static trs_status write_triangle(trs_matrix *T, const trs_bilu0 *w, bool lower) {
  triangle t = {.w = w, .scalar = T->scalar, .lower = lower};
  trs_team *team = NULL;
  trs_status status = allocate(&t);
  if (!status) status = trs_bilu0_start_team(&team, T->nnz);
  if (!status) {
    trs_team_run(team, trs_team_size(team), factor_diagonals, &t);
    trs_team_run(team, trs_team_size(team), write_share, &t);
  }
  trs_team_destroy(team);
  trs_free(t.diagonal);
  if (status) {
    TRS_FREE_ALL(t.ptr, t.idx, t.val);
    return status;
  }
  T->ptr = t.ptr;
  T->idx = t.idx;
  T->val = t.val;
  return TRS_SUCCESS;
}

static trs_status write_lower(trs_matrix *T, const void *w) { return write_triangle(T, w, true); }
static trs_status write_upper(trs_matrix *T, const void *w) { return write_triangle(T, w, false); }
static void let_go(void *w) { trs_bilu0_free(w); }

const trs_bilu0 *trs_bilu0_of(const trs_matrix *T) {
  const bool ours = T->late.write == write_lower || T->late.write == write_upper;
  return ours ? T->late.user : NULL;
}

/* What is known of the pattern before it is written. */
static trs_sides sides_of(const trs_bilu0 *w, bool lower) {
  const trs_bilu0_sweep *s = &w->sweep[!lower];
  const int64_t b = w->block, beside = s->ptr[w->n] * b * b + w->n * b * (b - 1) / 2;
  trs_sides sides = TRS_NO_SIDES;
  int64_t first = INT64_MAX;
  for (int64_t i = 0; i < w->n; i++) {
    const int64_t count = s->ptr[i + 1] - s->ptr[i];
    if ((count || b > 1) && i * b + (lower && !count) < first) first = i * b + (lower && !count);
    if ((count + 1) * b > sides.longest) sides.longest = (count + 1) * b;
  }
  sides.diagonal = w->n * b;
  *(lower ? &sides.before : &sides.after) = beside;
  *(lower ? &sides.first_before : &sides.first_after) = first;
  return sides;
}

trs_status trs_bilu0_matrix(trs_matrix **T, trs_bilu0 *w, trs_scalar scalar, bool lower) {
  const trs_sides sides = sides_of(w, lower);
  TRS_TRY(trs_matrix_adopt_ordered(T, TRS_CSR, scalar, w->n * w->block, NULL, NULL, NULL, &sides));
  (*T)->block = w->block;
  (*T)->nnz = sides.before + sides.diagonal + sides.after;
  (*T)->late = (trs_late){lower ? write_lower : write_upper, let_go, trs_bilu0_retain(w)};
  return TRS_SUCCESS;
}

/* All cores, for factors that are worth starting threads. */
trs_status trs_bilu0_start_team(trs_team **team, int64_t entries) {
  enum { ENTRIES_WORTH = 1 << 20 };
  const int64_t most = entries / ENTRIES_WORTH;
  int threads;
  *team = NULL;
  TRS_TRY(trs_default_threads(&threads));
  if (threads > most) threads = (int)most;
  return threads > 1 ? trs_team_create_any(team, threads) : TRS_SUCCESS;
}
