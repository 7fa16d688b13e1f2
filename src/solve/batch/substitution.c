/* substitution.c - the joint system of a batch, and where its values come from. */
#include "solve/batch/substitution.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/substitute.h"
#include "base/memory.h"
#include "base/search.h"
#include "base/transpose.h"

void trs_batch_substitution_drop(trs_batch_substitution *s) {
  TRS_FREE_ALL(s->step_entry, s->step_row, s->row, s->to, s->ptr, s->a, s->inverse, s->m, s->l_ptr,
               s->column_ptr, s->m_ptr, s->l_at, s->l_col, s->column_at, s->column_row, s->m_at,
               s->m_col, s->diagonal);
  *s = (trs_batch_substitution){0};
}

/* ---- The joint system, by values for which no row is guarded: no growth, and products of up to
 * TRS_SUBSTITUTION_DEPTH of them do not underflow. ---- */

#define SMALL 0x1p-10

typedef struct lower {
  int64_t *ptr;
  int32_t *idx;
  double *val;
  trs_slice_level *level;
} lower;

static trs_status make_lower(lower *l, const trs_batch_rows *r) {
  const int64_t nnz = r->entries + r->count;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&l->ptr, r->count + 1), TRS_ROOM(&l->idx, nnz),
                        TRS_ROOM(&l->val, nnz), TRS_ZEROS(&l->level, r->levels + 1)));
  int64_t at = 0;
  for (int64_t k = 0; k < r->count; k++) {
    l->ptr[k] = at;
    for (int64_t p = r->ptr[k]; p < r->ptr[k + 1]; p++, at++) {
      l->idx[at] = r->to[p];
      l->val[at] = SMALL;
    }
    l->idx[at] = (int32_t)k;
    l->val[at++] = 1;
    l->level[r->level[k] + 1].position++;
    l->level[r->level[k] + 1].entries += at - l->ptr[k];
  }
  l->ptr[r->count] = at;
  for (int32_t v = 0; v < r->levels; v++) {
    l->level[v + 1].position += l->level[v].position;
    l->level[v + 1].entries += l->level[v].entries;
  }
  return TRS_SUCCESS;
}

static trs_status make_joint(trs_joint *joint, const trs_batch_rows *r, int32_t depth,
                             const trs_gpu_costs *gpu) {
  lower l = {0};
  trs_bands bands = {0};
  trs_status status = make_lower(&l, r);
  if (!status) status = trs_bands_create(&bands, l.level, r->levels, depth, gpu);
  if (!status) {
    const trs_system L = {.n = r->count,
                          .nnz = r->entries + r->count,
                          .scalar = TRS_DOUBLE,
                          .ptr = l.ptr,
                          .idx = l.idx,
                          .val = l.val,
                          .rows = true,
                          .lower = true,
                          .has_diagonal = true};
    status = trs_substitute(joint, &L, &bands);
  }
  trs_bands_destroy(&bands);
  TRS_FREE_ALL(l.ptr, l.idx, l.val, l.level);
  return status;
}

/* ---- Rows of the joint system.  Of row k of op(T): ---- */

typedef struct parts {
  int64_t d, d_end; /* its entries of D in the joint system: columns are numbers of y */
  int64_t m, m_end; /* those of M: columns are ny + rows */
  int32_t y;        /* -1: nobody substitutes it */
} parts;

typedef struct work {
  const trs_batch_rows *rows; /* of op(T) */
  const trs_joint *joint;
  parts *part;
  int32_t *row_of_y;
  int32_t *step; /* of each row */
} work;

static trs_status begin(work *w) {
  const trs_joint *j = w->joint;
  const int64_t n = w->rows->count, *ptr = j->system.ptr;
  TRS_TRY(
      TRS_ALLOC_ALL(TRS_ZEROS(&w->part, n), TRS_ROOM(&w->row_of_y, j->ny), TRS_ZEROS(&w->step, n)));
  for (int64_t k = 0; k < n; k++) w->part[k].y = -1;
  for (int32_t y = 0; y < j->ny; y++) {
    w->row_of_y[y] = trs_row_number(j->of[y]);
    w->part[w->row_of_y[y]].y = y;
  }
  for (int64_t k = 0; k < n; k++) {
    parts *p = &w->part[k];
    int64_t at = ptr[j->ny + k], end = ptr[j->ny + k + 1] - 1;
    if (p->y >= 0) {
      p->d = ptr[p->y], p->d_end = ptr[p->y + 1] - 1;
      at++; /* that of y */
    } else {
      p->d = at;
      while (at < end && j->system.idx[at] < j->ny) at++;
      p->d_end = at;
    }
    p->m = at, p->m_end = end;
    for (int64_t e = p->d; e < p->d_end; e++) {
      const int32_t c = w->row_of_y[j->system.idx[e]];
      if (w->step[c] >= w->step[k]) w->step[k] = w->step[c] + 1;
    }
  }
  return TRS_SUCCESS;
}

static int64_t minus(int64_t source) {
  return source == TRS_BATCH_ONE ? TRS_BATCH_MINUS_ONE : TRS_BATCH_MINUS(source);
}

static void put(trs_batch_rows *to, int32_t column, int64_t source, int64_t id) {
  to->to[to->entries] = column;
  to->source[to->entries] = source;
  to->id[to->entries++] = id;
}

/* Entries of D, from number d of the joint system on. */
static void put_D(trs_batch_rows *to, const work *w, int64_t k) {
  for (int64_t e = w->part[k].d; e < w->part[k].d_end; e++) {
    const int32_t y = w->joint->system.idx[e];
    const int64_t own = trs_find(w->rows->to, w->rows->ptr[k], w->rows->ptr[k + 1], w->row_of_y[y]);
    put(to, y, w->rows->source[own], e);
  }
}

static void end_row(trs_batch_rows *to, const work *w, int64_t k, bool has_b, bool has_x) {
  const int64_t own = to->count++;
  to->ptr[own + 1] = to->entries;
  to->diagonal[own] = w->rows->diagonal[k];
  to->own_id[own] = w->joint->system.ptr[own + 1] - 1;
  to->b[own] = has_b ? (int32_t)k : -1;
  to->x[own] = has_x ? (int32_t)k : -1;
  to->level[own] = (int32_t)w->joint->known[own] - 1;
}

static trs_status make_rows(trs_batch_rows *to, const work *w) {
  const trs_joint *j = w->joint;
  TRS_TRY(trs_batch_rows_allocate(to, j->system.n, j->system.nnz - j->system.n));
  to->count = to->entries = 0;
  to->ids = j->system.nnz;
  to->levels = j->nlevels;
  for (int32_t y = 0; y < j->ny; y++) {
    put_D(to, w, w->row_of_y[y]);
    end_row(to, w, w->row_of_y[y], true, false);
  }
  for (int64_t k = 0; k < w->rows->count; k++) {
    const parts *p = &w->part[k];
    if (p->y >= 0)
      put(to, p->y, minus(w->rows->diagonal[k]), -1);
    else
      put_D(to, w, k);
    for (int64_t e = p->m; e < p->m_end; e++) {
      const int32_t c = j->system.idx[e] - j->ny;
      const int64_t own = trs_find(w->rows->to, w->rows->ptr[k], w->rows->ptr[k + 1], c);
      bool in_D = false;
      for (int64_t d = p->d; d < p->d_end && own >= 0; d++)
        in_D |= w->row_of_y[j->system.idx[d]] == c;
      put(to, j->ny + c, own < 0 || in_D ? TRS_BATCH_ZERO : w->rows->source[own], e);
    }
    end_row(to, w, k, p->y < 0, true);
  }
  return TRS_SUCCESS;
}

/* ---- Operations ---- */

static int32_t column_of(const work *w, int64_t e) {
  return w->joint->system.idx[e] - w->joint->ny;
}

/* The number of the entry (k, c) of M, or -1. */
static int64_t find_M(const work *w, int64_t k, int32_t c) {
  const parts *p = &w->part[k];
  return trs_find(w->joint->system.idx, p->m, p->m_end, (int64_t)w->joint->ny + c);
}

/* Products of row k, in the order of its entries of M; without s->to they are counted. */
static void list_row(trs_batch_substitution *s, const work *w, int64_t k) {
  const parts *p = &w->part[k];
  if (p->d == p->d_end) return;
  for (int64_t e = p->m; e < p->m_end; e++) {
    const int32_t c = column_of(w, e);
    for (int64_t d = p->d; d < p->d_end; d++) {
      const int32_t other = w->row_of_y[w->joint->system.idx[d]];
      const int64_t m = find_M(w, other, c);
      if (m < 0) continue;
      if (s->to) {
        s->a[s->products] = (int32_t)d;
        s->inverse[s->products] = (int32_t)(w->joint->system.ptr[w->joint->ny + other + 1] - 1);
        s->m[s->products] = (int32_t)m;
      }
      s->products++;
    }
    if (s->to) {
      s->to[s->entries] = (int32_t)e;
      s->ptr[s->entries + 1] = s->products;
    }
    s->entries++;
  }
}

static trs_status order_steps(trs_batch_substitution *s, const work *w) {
  const int64_t n = w->rows->count;
  for (int64_t k = 0; k < n; k++)
    if (w->step[k] >= s->steps) s->steps = w->step[k] + 1;
  TRS_TRY(TRS_ALLOC_ZERO(&s->step_entry, s->steps + 1));
  return trs_transpose_pattern(&s->step_row, &s->row, NULL, s->steps, n, NULL, w->step);
}

static trs_status list_products(trs_batch_substitution *s, const work *w) {
  for (int64_t k = 0; k < w->rows->count; k++) list_row(s, w, k);
  const int64_t entries = s->entries, products = s->products;
  s->entries = s->products = 0;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ZEROS(&s->ptr, entries + 1), TRS_ROOM(&s->a, products),
                        TRS_ROOM(&s->inverse, products), TRS_ROOM(&s->m, products),
                        TRS_ROOM(&s->to, entries)));
  for (int32_t t = 0; t < s->steps; t++) {
    s->step_entry[t] = s->entries;
    for (int64_t q = s->step_row[t]; q < s->step_row[t + 1]; q++) list_row(s, w, s->row[q]);
  }
  s->step_entry[s->steps] = s->entries;
  return TRS_SUCCESS;
}

/* The number of the joint entry that holds entry (k, c) of op(T), and whether it is in D. */
static int64_t number_of(const work *w, int64_t k, int32_t c, bool *in_D) {
  const parts *p = &w->part[k];
  for (int64_t d = p->d; d < p->d_end; d++)
    if (w->row_of_y[w->joint->system.idx[d]] == c) {
      *in_D = true;
      return d;
    }
  *in_D = false;
  return find_M(w, k, c);
}

static trs_status list_entries(trs_batch_substitution *s, const work *w) {
  const trs_batch_rows *r = w->rows;
  const int64_t n = r->count;
  int64_t m_entries = 0;
  for (int64_t k = 0; k < n; k++) m_entries += w->part[k].m_end - w->part[k].m;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&s->l_ptr, n + 1), TRS_ROOM(&s->l_at, r->entries),
                        TRS_ROOM(&s->l_col, r->entries), TRS_ZEROS(&s->column_ptr, n + 2),
                        TRS_ROOM(&s->column_at, r->entries), TRS_ROOM(&s->column_row, r->entries),
                        TRS_ROOM(&s->m_ptr, n + 1), TRS_ROOM(&s->m_at, m_entries),
                        TRS_ROOM(&s->m_col, m_entries), TRS_ROOM(&s->diagonal, n)));
  memcpy(s->l_ptr, r->ptr, (size_t)(n + 1) * sizeof *s->l_ptr);
  for (int64_t p = 0; p < r->entries; p++) s->column_ptr[r->to[p] + 2]++;
  for (int64_t c = 0; c < n; c++) s->column_ptr[c + 2] += s->column_ptr[c + 1];
  m_entries = 0;
  for (int64_t k = 0; k < n; k++) {
    for (int64_t p = r->ptr[k]; p < r->ptr[k + 1]; p++) {
      bool in_D;
      s->l_at[p] = (int32_t)number_of(w, k, r->to[p], &in_D);
      s->l_col[p] = in_D ? ~r->to[p] : r->to[p];
      const int64_t at = s->column_ptr[r->to[p] + 1]++;
      s->column_at[at] = s->l_at[p];
      s->column_row[at] = (int32_t)k;
    }
    s->m_ptr[k] = m_entries;
    for (int64_t e = w->part[k].m; e < w->part[k].m_end; e++) {
      s->m_at[m_entries] = (int32_t)e;
      s->m_col[m_entries++] = column_of(w, e);
    }
    s->diagonal[k] = (int32_t)(w->joint->system.ptr[w->joint->ny + k + 1] - 1);
  }
  s->m_ptr[n] = m_entries;
  return TRS_SUCCESS;
}

trs_status trs_batch_substitute(trs_batch_rows *rows, trs_batch_substitution *s, int32_t depth,
                                const trs_gpu_costs *gpu) {
  trs_joint joint = {0};
  trs_batch_rows to = {0};
  work w = {.rows = rows, .joint = &joint};
  *s = (trs_batch_substitution){.n = rows->count};
  trs_status status = make_joint(&joint, rows, depth, gpu);
  if (!status && joint.system.nnz >= INT32_MAX)
    status =
        trs_fail(TRS_ERROR_UNSUPPORTED, -1, "the joint system has more than %d entries", INT32_MAX);
  if (!status) status = begin(&w);
  if (!status) status = make_rows(&to, &w);
  if (!status) status = order_steps(s, &w);
  if (!status) status = list_products(s, &w);
  if (!status) status = list_entries(s, &w);
  TRS_FREE_ALL(w.part, w.row_of_y, w.step);
  trs_joint_destroy(&joint);
  trs_batch_rows_drop(status ? &to : rows);
  if (status)
    trs_batch_substitution_drop(s);
  else
    *rows = to;
  return status;
}

void trs_batch_substitution_place(trs_batch_substitution *s, const trs_batch_program *program) {
  const struct {
    int32_t *at;
    int64_t count;
  } lists[] = {{s->to, s->entries},       {s->a, s->products},       {s->inverse, s->products},
               {s->m, s->products},       {s->l_at, s->l_ptr[s->n]}, {s->column_at, s->l_ptr[s->n]},
               {s->m_at, s->m_ptr[s->n]}, {s->diagonal, s->n}};
  for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
    for (int64_t k = 0; k < lists[l].count; k++) lists[l].at[k] = program->at[lists[l].at[k]];
}
