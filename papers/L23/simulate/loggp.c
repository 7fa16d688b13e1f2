/* loggp.c - a grid's sweep as events, and the algorithms built from sweeps. */
#include "simulate/loggp.h"

#include <stdlib.h>
#include <string.h>

#include "L23/schemes.h"
#include "simulate/network.h"

/* ---- Events: messages in transit, the earliest first. ---- */

typedef struct event {
  double time;
  int32_t K, from, place; /* the supernode of x or sum; the sender, the receiver */
  bool sum, waits;        /* waits: for its links; otherwise it arrives */
} event;

typedef struct heap {
  event *at;
  int64_t count, room;
} heap;

static trs_status push(heap *h, event e) {
  if (h->count == h->room) {
    TRS_TRY(trs_realloc((void **)&h->at, 2 * h->room + 1024, sizeof *h->at));
    h->room = 2 * h->room + 1024;
  }
  int64_t at = h->count++;
  for (; at > 0 && h->at[(at - 1) / 2].time > e.time; at = (at - 1) / 2)
    h->at[at] = h->at[(at - 1) / 2];
  h->at[at] = e;
  return TRS_SUCCESS;
}

static event pop(heap *h) {
  event first = h->at[0], last = h->at[--h->count];
  int64_t at = 0;
  for (int64_t next; (next = 2 * at + 1) < h->count; at = next) {
    if (next + 1 < h->count && h->at[next + 1].time < h->at[next].time) next++;
    if (h->at[next].time >= last.time) break;
    h->at[at] = h->at[next];
  }
  h->at[at] = last;
  return first;
}

/* ---- A grid's sweep. ---- */

typedef struct world {
  const trs_grid_layout *l;
  const trs_machine *m;
  trs_network net;
  trs_tree_shape trees;
  trs_grid_shape shape;
  int64_t nrhs;
  double *free;         /* of all ranks: the time at which a rank has no work left */
  trs_figures *figures; /* of all ranks */
  trs_status status;
} world;

typedef struct sweep {
  world *w;
  bool upper;
  int z, places; /* per grid */
  trs_roles role;
  int64_t count;                 /* supernodes on the grid without a home: their number, */
  int32_t *list, *index_of;      /* and list; count, the layout's count */
  int64_t *column_ptr, *row_ptr; /* members of their trees, in its order */
  int32_t *column, *row;         /* places */
  int32_t *left;          /* by member of a row: number of contributions that its sum waits for */
  int32_t *stack, *waits; /* count; places */
  int64_t nready, nopen;
  int8_t *homes; /* places */
  int32_t *open; /* count: columns to multiply, */
  int64_t *used; /* count: and their number of finished blocks */
  double *local; /* places: seconds for supernodes at home */
  double *local_flops;
  heap events;
  double now; /* at the current place, */
  int place;  /* which is this one */
  trs_figures *f;
} sweep;

static int role_of(const sweep *s, int64_t K) {
  const trs_grid_layout *l = s->w->l;
  return trs_on_grid(l, K, s->z) ? s->role.here[l->height[K]] : s->role.elsewhere[l->height[K]];
}

static int place_of(const sweep *s, int64_t I, int64_t K) {
  return trs_place_of(s->w->l, s->w->shape, s->upper, I, K);
}

static bool is_home(const sweep *s, int64_t I, int64_t K) {
  return s->w->l->home[s->upper ? I : K] >= 0;
}

static int root_of(const sweep *s, int64_t K) {
  return trs_place_of(s->w->l, s->w->shape, TRS_L, K, K);
}

static int64_t bytes_of(const sweep *s, int64_t K) {
  return TRS_HEAD_BYTES + 8 * trs_width(s->w->l, K) * s->w->nrhs;
}

static int find(const int32_t *member, int64_t count, int place) {
  for (int64_t i = 0; i < count; i++)
    if (member[i] == place) return (int)i;
  return -1;
}

static void list_supernodes(sweep *s) {
  const trs_grid_layout *l = s->w->l;
  for (int64_t K = 0; K < l->count; K++) {
    s->index_of[K] = -1;
    if (!trs_on_grid(l, K, s->z) || !role_of(s, K) || l->home[K] >= 0) continue;
    s->index_of[K] = (int32_t)s->count;
    s->list[s->count++] = (int32_t)K;
  }
}

/* Members of a tree under construction: the root, then the others in cyclic order from it; members
 * with only homes come last. */
typedef struct tree {
  int32_t **member;
  int64_t used, room, begin;
  int8_t *homes; /* places: only homes */
} tree;

static trs_status add_member(tree *t, int place, bool home) {
  if (!home) t->homes[place] = 0;
  if (find(*t->member + t->begin, t->used - t->begin, place) >= 0) return TRS_SUCCESS;
  if (t->used == t->room) {
    TRS_TRY(trs_realloc((void **)t->member, 2 * t->room + 1024, sizeof **t->member));
    t->room = 2 * t->room + 1024;
  }
  t->homes[place] = home;
  (*t->member)[t->used++] = place;
  return TRS_SUCCESS;
}

static void sort_members(const tree *t, int places) {
  int32_t *member = *t->member + t->begin;
  int root = member[0];
  for (int64_t i = 1; i < t->used - t->begin; i++) {
    int32_t place = member[i];
    int64_t at = i;
    int far = (place - root + places) % places + t->homes[place] * places;
    for (; at > 1; at--) {
      int other = member[at - 1];
      if ((other - root + places) % places + t->homes[other] * places <= far) break;
      member[at] = other;
    }
    member[at] = place;
  }
}

static trs_status list_columns(sweep *s) {
  const trs_grid_blocks *blocks = &s->w->l->blocks[s->upper];
  tree t = {.member = &s->column, .homes = s->homes};
  TRS_TRY(TRS_ALLOC(&s->column, 0));
  for (int64_t i = 0; i < s->count; i++) {
    int64_t K = s->list[i];
    s->column_ptr[i] = t.begin = t.used;
    if (!(role_of(s, K) & TRS_ROLE_COLUMN)) continue;
    TRS_TRY(add_member(&t, root_of(s, K), false));
    for (int64_t b = blocks->ptr[K]; b < blocks->ptr[K + 1]; b++)
      if (role_of(s, blocks->row[b]) & TRS_ROLE_ROW)
        TRS_TRY(add_member(&t, place_of(s, blocks->row[b], K), is_home(s, blocks->row[b], K)));
    sort_members(&t, s->places);
  }
  s->column_ptr[s->count] = t.used;
  return TRS_SUCCESS;
}

/* The pattern is symmetric: columns of L's row I are rows of U's column I, and the other way. */
static trs_status list_row(sweep *s, tree *t, int64_t I) {
  const trs_grid_blocks *turned = &s->w->l->blocks[!s->upper];
  TRS_TRY(add_member(t, root_of(s, I), false));
  for (int64_t b = turned->ptr[I]; b < turned->ptr[I + 1]; b++) {
    int64_t K = turned->row[b];
    int role = role_of(s, K), place = place_of(s, I, K);
    if (!(role & TRS_ROLE_ADDS)) continue;
    TRS_TRY(add_member(t, place, is_home(s, I, K)));
    s->waits[place] += (role & TRS_ROLE_COLUMN) && s->w->l->home[K] < 0;
  }
  sort_members(t, s->places);
  return TRS_SUCCESS;
}

static trs_status list_rows(sweep *s) {
  tree t = {.member = &s->row, .homes = s->homes};
  int64_t room = 0;
  TRS_TRY(TRS_ALLOC(&s->row, 0));
  TRS_TRY(TRS_ALLOC(&s->left, 0));
  for (int64_t i = 0; i < s->count; i++) {
    s->row_ptr[i] = t.begin = t.used;
    if (!(role_of(s, s->list[i]) & TRS_ROLE_SOLVE)) continue;
    TRS_TRY(list_row(s, &t, s->list[i]));
    if (room < t.room) TRS_TRY(trs_realloc((void **)&s->left, t.room, sizeof *s->left));
    room = t.room;
    for (int64_t m = t.begin; m < t.used; m++) {
      int count = (int)(t.used - t.begin);
      s->left[m] =
          s->waits[s->row[m]] + trs_tree_at(s->w->trees, (int)(m - t.begin), count).nchildren;
      s->waits[s->row[m]] = 0;
    }
  }
  s->row_ptr[s->count] = t.used;
  return TRS_SUCCESS;
}

/* The additions of L: each place adds the sums of its supernodes at home to every supernode
 * elsewhere that they touch, once. */
static trs_status weigh_touched(sweep *s) {
  const trs_grid_layout *l = s->w->l;
  const trs_grid_blocks *turned = &l->blocks[1];
  int64_t *mark;
  TRS_TRY(TRS_ALLOC(&mark, s->places));
  for (int p = 0; p < s->places; p++) mark[p] = -1;
  for (int64_t I = 0; I < l->count; I++) {
    if (l->home[I] >= 0 || !trs_on_grid(l, I, s->z)) continue;
    for (int64_t b = turned->ptr[I]; b < turned->ptr[I + 1]; b++) {
      int64_t K = turned->row[b], home = l->home[K];
      if (home < 0 || mark[home] == I || !trs_on_grid(l, K, s->z)) continue;
      mark[home] = I;
      s->local[home] += trs_move_s(s->w->m, trs_width(l, I) * s->w->nrhs);
    }
  }
  trs_free(mark);
  return TRS_SUCCESS;
}

/* The work of each place alone: whole panels, and in L additions to rows elsewhere. */
static trs_status weigh_local(sweep *s) {
  const trs_grid_layout *l = s->w->l;
  int64_t nrhs = s->w->nrhs;
  for (int64_t K = 0; K < l->count; K++) {
    int64_t width = trs_width(l, K), rows = 0;
    if (l->home[K] < 0 || !trs_on_grid(l, K, s->z) || !(role_of(s, K) & TRS_ROLE_SOLVE)) continue;
    for (int64_t b = l->blocks[0].ptr[K]; b < l->blocks[0].ptr[K + 1]; b++)
      rows += l->blocks[0].rows[b];
    s->local[l->home[K]] += trs_product_s(s->w->m, (width + 1) / 2 + rows, nrhs, width);
    s->local_flops[l->home[K]] += (double)(width * (width + 2 * rows) * nrhs);
  }
  return s->upper ? TRS_SUCCESS : weigh_touched(s);
}

static trs_status make(sweep *s) {
  int64_t all = s->w->l->count;
  TRS_TRY(TRS_ALLOC(&s->list, all));
  TRS_TRY(TRS_ALLOC(&s->index_of, all));
  list_supernodes(s);
  TRS_TRY(TRS_ALLOC(&s->column_ptr, s->count + 1));
  TRS_TRY(TRS_ALLOC(&s->row_ptr, s->count + 1));
  TRS_TRY(TRS_ALLOC(&s->stack, s->count));
  TRS_TRY(TRS_ALLOC(&s->open, s->count));
  TRS_TRY(TRS_ALLOC(&s->used, s->count));
  TRS_TRY(TRS_ALLOC_ZERO(&s->waits, s->places));
  TRS_TRY(TRS_ALLOC_ZERO(&s->homes, s->places));
  TRS_TRY(TRS_ALLOC_ZERO(&s->local, s->places));
  TRS_TRY(TRS_ALLOC_ZERO(&s->local_flops, s->places));
  TRS_TRY(weigh_local(s));
  TRS_TRY(list_columns(s));
  return list_rows(s);
}

static void compute(sweep *s, double seconds) {
  s->now += seconds;
  s->f->value[TRS_FIGURE_FLOP + s->upper] += seconds;
}

static int64_t rank_of(const sweep *s, int place) { return (int64_t)s->z * s->places + place; }

static void send(sweep *s, int to, int64_t K, bool sum) {
  const trs_machine *m = s->w->m;
  int64_t bytes = bytes_of(s, K);
  s->now += m->send_s + (double)bytes * m->copy_s;
  s->f->value[TRS_FIGURE_INTRA_MESSAGES + s->upper]++;
  s->f->value[TRS_FIGURE_INTRA_BYTES + s->upper] += (double)bytes;
  event e = {.time = s->now, .K = (int32_t)K, .from = s->place, .place = to, .sum = sum};
  e.waits = trs_network_shares(&s->w->net, rank_of(s, e.from), rank_of(s, to));
  if (!e.waits) e.time += trs_wire_s(m, rank_of(s, e.from), rank_of(s, to), bytes);
  if (!s->w->status) s->w->status = push(&s->events, e);
}

/* Messages take their links in the order in which they were sent, which is not the order in which
 * the ranks' work is played. */
static void carry(sweep *s, event e) {
  e.time = trs_network_carry(&s->w->net, rank_of(s, e.from), rank_of(s, e.place), bytes_of(s, e.K),
                             e.time);
  e.waits = false;
  if (!s->w->status) s->w->status = push(&s->events, e);
}

static void product(sweep *s, int64_t I, int64_t K, int64_t rows) {
  int64_t width = trs_width(s->w->l, s->upper ? I : K), nrhs = s->w->nrhs;
  compute(s, trs_product_s(s->w->m, rows, nrhs, width));
  s->f->value[TRS_FIGURE_FLOPS + s->upper] += 2.0 * (double)(rows * width * nrhs);
}

static void one_less(sweep *s, int64_t i) {
  int64_t begin = s->row_ptr[i];
  int member = find(s->row + begin, s->row_ptr[i + 1] - begin, s->place);
  if (--s->left[begin + member] == 0) s->stack[s->nready++] = (int32_t)i;
}

static void use_column(sweep *s, int64_t K) {
  int64_t i = s->index_of[K], begin = s->column_ptr[i], count = s->column_ptr[i + 1] - begin;
  int member = find(s->column + begin, count, s->place);
  trs_tree_place at = trs_tree_at(s->w->trees, member, (int)count);
  for (int c = 0; c < at.nchildren; c++) send(s, s->column[begin + at.first_child + c], K, false);
  s->open[s->nopen] = (int32_t)i;
  s->used[s->nopen++] = 0;
}

/* Like multiply_some in sweep.c. */
static void multiply_open(sweep *s) {
  const trs_grid_blocks *blocks = &s->w->l->blocks[s->upper];
  while (s->nopen > 0 && s->nready == 0) {
    int64_t K = s->list[s->open[s->nopen - 1]], *used = &s->used[s->nopen - 1];
    int64_t begin = blocks->ptr[K], count = blocks->ptr[K + 1] - begin;
    if (*used == count) {
      s->nopen--;
      continue;
    }
    int64_t k = (*used)++, b = begin + (s->upper ? count - 1 - k : k), I = blocks->row[b];
    if (s->index_of[I] < 0 || place_of(s, I, K) != s->place) continue;
    int role = role_of(s, I);
    if (!(role & TRS_ROLE_ROW)) continue;
    product(s, I, K, blocks->rows[b]);
    if (role & TRS_ROLE_SOLVE) one_less(s, s->index_of[I]);
  }
}

static void finish_row(sweep *s, int64_t i) {
  int64_t I = s->list[i], begin = s->row_ptr[i], count = s->row_ptr[i + 1] - begin;
  int64_t width = trs_width(s->w->l, I);
  int member = find(s->row + begin, count, s->place);
  if (member > 0) {
    trs_tree_place at = trs_tree_at(s->w->trees, member, (int)count);
    send(s, s->row[begin + at.parent], I, true);
    return;
  }
  if (!trs_half(s->w->l, I)) {
    compute(s, trs_product_s(s->w->m, width, s->w->nrhs, (width + 1) / 2));
    s->f->value[TRS_FIGURE_FLOPS + s->upper] += (double)(width * width * s->w->nrhs);
  }
  if (s->column_ptr[i + 1] > s->column_ptr[i]) use_column(s, I);
}

static void look_at(sweep *s, int place) {
  s->place = place;
  s->f = &s->w->figures[rank_of(s, place)];
  s->now = s->w->free[rank_of(s, place)];
}

static void work_off(sweep *s) {
  while (s->nready > 0 || s->nopen > 0) {
    if (s->nready > 0)
      finish_row(s, s->stack[--s->nready]);
    else
      multiply_open(s);
  }
}

static void leave(sweep *s) { s->w->free[rank_of(s, s->place)] = s->now; }

static void sweep_local(sweep *s, int place) {
  if (s->local[place] == 0) return;
  compute(s, s->local[place]);
  s->f->value[TRS_FIGURE_FLOPS + s->upper] += s->local_flops[place];
}

/* The initial work, by place, as lists through next: rows without dependencies, the last first, in
 * the order of the sweep; and columns that were solved before. */
typedef struct beginnings {
  int64_t *row, *column;           /* places: the first, or -1 */
  int64_t *next_row, *next_column; /* by member of a row; by column */
  int32_t *row_of;                 /* by member */
} beginnings;

static void list_beginnings(const sweep *s, beginnings *g) {
  for (int p = 0; p < s->places; p++) g->row[p] = g->column[p] = -1;
  for (int64_t i = 0; i < s->count; i++) {
    int64_t K = s->list[i], root = root_of(s, K);
    for (int64_t m = s->row_ptr[i]; m < s->row_ptr[i + 1]; m++) {
      g->row_of[m] = (int32_t)i;
      if (s->left[m]) continue;
      g->next_row[m] = g->row[s->row[m]];
      g->row[s->row[m]] = m;
    }
    if ((role_of(s, K) & (TRS_ROLE_SOLVE | TRS_ROLE_COLUMN)) != TRS_ROLE_COLUMN) continue;
    g->next_column[i] = g->column[root];
    g->column[root] = i;
  }
}

static void begin(sweep *s, const beginnings *g, int place) {
  look_at(s, place);
  if (!s->upper) sweep_local(s, place);
  for (int64_t i = g->column[place]; i >= 0; i = g->next_column[i]) use_column(s, s->list[i]);
  work_off(s);
  for (int64_t m = g->row[place]; m >= 0; m = g->next_row[m]) {
    finish_row(s, g->row_of[m]);
    work_off(s);
  }
  leave(s);
}

static trs_status start(sweep *s) {
  beginnings g = {0};
  int64_t members = s->row_ptr[s->count];
  trs_status status = TRS_ALLOC(&g.row, s->places);
  if (!status) status = TRS_ALLOC(&g.column, s->places);
  if (!status) status = TRS_ALLOC(&g.next_row, members);
  if (!status) status = TRS_ALLOC(&g.next_column, s->count);
  if (!status) status = TRS_ALLOC(&g.row_of, members);
  if (!status) list_beginnings(s, &g);
  for (int p = 0; p < s->places && !status; p++) begin(s, &g, p);
  TRS_FREE_ALL(g.row, g.column, g.next_row, g.next_column, g.row_of);
  return status;
}

static void take_message(sweep *s, event e) {
  const trs_machine *m = s->w->m;
  look_at(s, e.place);
  if (e.time > s->now) s->now = e.time;
  s->now += m->receive_s + (double)bytes_of(s, e.K) * m->copy_s;
  if (e.sum) {
    compute(s, trs_move_s(m, trs_width(s->w->l, e.K) * s->w->nrhs));
    one_less(s, s->index_of[e.K]);
  } else {
    use_column(s, e.K);
  }
  work_off(s);
  leave(s);
}

static void release(sweep *s) {
  void *arrays[] = {s->list,  s->index_of, s->column_ptr, s->row_ptr,     s->column,
                    s->row,   s->left,     s->homes,      s->open,        s->used,
                    s->stack, s->waits,    s->local,      s->local_flops, s->events.at};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) trs_free(arrays[k]);
}

static void finish_local(sweep *s) {
  for (int p = 0; p < s->places; p++) {
    look_at(s, p);
    sweep_local(s, p);
    leave(s);
  }
}

static void play_messages(sweep *s) {
  trs_network_clear(&s->w->net);
  while (!s->w->status && s->events.count > 0) {
    event e = pop(&s->events);
    if (e.waits)
      carry(s, e);
    else
      take_message(s, e);
  }
}

/* Grids of which none shares a node or a router with another during a sweep are alone on their
 * links: those of a power of two of ranks. */
static trs_status run_sweep(world *w, bool upper, int z, const trs_roles *role) {
  sweep s = {.w = w, .upper = upper, .z = z, .role = *role, .places = w->shape.x * w->shape.y};
  double *begun, *free = w->free + (int64_t)z * s.places;
  trs_figures *figures = w->figures + (int64_t)z * s.places;
  TRS_TRY(TRS_ALLOC(&begun, s.places));
  memcpy(begun, free, (size_t)s.places * sizeof *begun);
  trs_status status = make(&s);
  if (!status) status = start(&s);
  if (!status) play_messages(&s);
  if (!status && upper) finish_local(&s);
  for (int p = 0; p < s.places; p++)
    figures[p].value[TRS_FIGURE_INTRA + upper] += free[p] - begun[p];
  release(&s);
  trs_free(begun);
  return status ? status : w->status;
}

/* ---- Between grids. ---- */

/* Columns of supernodes of at least this height on grid z whose diagonal block a place has,
 * excluding some halves. */
static void add_shared(const world *w, int z, int height, int without, int64_t *columns) {
  const trs_grid_layout *l = w->l;
  for (int64_t K = 0; K < l->count; K++)
    if (l->height[K] >= height && trs_on_grid(l, K, z) &&
        (!trs_half(l, K) || trs_half(l, K) != without))
      columns[trs_place_of(l, w->shape, TRS_L, K, K)] += trs_width(l, K);
}

/* Sums to which supernodes of the 2^step grids from z on add, in rows that more grids share; a
 * row's columns are those of U's column.  mark[place] is the last row counted for that place. */
static trs_status add_sums(const world *w, int z, int step, int64_t *columns) {
  const trs_grid_layout *l = w->l;
  const trs_grid_blocks *turned = &l->blocks[1];
  int64_t *mark, places = (int64_t)w->shape.x * w->shape.y;
  TRS_TRY(TRS_ALLOC(&mark, places));
  for (int64_t p = 0; p < places; p++) mark[p] = -1;
  for (int64_t I = 0; I < l->count; I++) {
    if (l->height[I] <= step || !trs_on_grid(l, I, z)) continue;
    for (int64_t b = turned->ptr[I]; b < turned->ptr[I + 1]; b++) {
      int64_t K = turned->row[b];
      int place = trs_place_of(l, w->shape, TRS_L, I, K);
      bool below = l->lo[K] >= z && l->lo[K] < z + (1 << step) && l->height[K] <= step;
      if (!below || mark[place] == I) continue;
      mark[place] = I;
      columns[place] += trs_width(l, I);
    }
  }
  trs_free(mark);
  return TRS_SUCCESS;
}

/* Messages between grids of one step, which leave at the given times. */
typedef struct transfer {
  double time;
  int64_t from, to, columns;
} transfer;

typedef struct transfers {
  transfer *at;
  int64_t count;
} transfers;

/* The cost of a message for its sender. */
static void send_off(world *w, transfers *t, int64_t from, int64_t to, int64_t columns,
                     bool in_upper) {
  const trs_machine *m = w->m;
  int64_t bytes = 8 * columns * w->nrhs;
  double *v = w->figures[from].value, cost = m->send_s + (double)bytes * m->copy_s;
  if (columns == 0) return;
  w->free[from] += cost;
  v[TRS_FIGURE_INTER_MESSAGES + in_upper]++;
  v[TRS_FIGURE_INTER_BYTES + in_upper] += (double)bytes;
  v[TRS_FIGURE_INTER + in_upper] += cost;
  t->at[t->count++] = (transfer){w->free[from], from, to, columns};
}

/* And for its receiver. */
static void take_in(world *w, int64_t to, double arrival, int64_t columns, bool in_upper,
                    bool add) {
  const trs_machine *m = w->m;
  int64_t numbers = columns * w->nrhs;
  double begin = w->free[to], start = begin > arrival ? begin : arrival;
  w->free[to] =
      start + m->receive_s + 8.0 * (double)numbers * m->copy_s + (add ? trs_move_s(m, numbers) : 0);
  w->figures[to].value[TRS_FIGURE_INTER + in_upper] += w->free[to] - begin;
}

static int by_time(const void *a, const void *b) {
  const transfer *s = a, *t = b;
  if (s->time != t->time) return s->time < t->time ? -1 : 1;
  return (s->from > t->from) - (s->from < t->from);
}

static void deliver(world *w, transfers *t, bool in_upper, bool add) {
  trs_network_clear(&w->net);
  qsort(t->at, (size_t)t->count, sizeof *t->at, by_time);
  for (int64_t k = 0; k < t->count; k++) {
    const transfer *one = &t->at[k];
    double arrival =
        trs_network_carry(&w->net, one->from, one->to, 8 * one->columns * w->nrhs, one->time);
    take_in(w, one->to, arrival, one->columns, in_upper, add);
  }
  t->count = 0;
}

/* A step's messages, each rank's at most one, and a place's columns. */
static trs_status open_step(const world *w, transfers *t, int64_t **columns) {
  int64_t places = (int64_t)w->shape.x * w->shape.y;
  *t = (transfers){0};
  TRS_TRY(TRS_ALLOC(columns, places));
  trs_status status = TRS_ALLOC(&t->at, places * w->shape.z);
  if (status) trs_free(*columns);
  return status;
}

/* Pairs exchange; or (one_root) upper grids send in the first half of the steps, lower ones in the
 * second. */
static trs_status allreduce(world *w, bool one_root) {
  int64_t ranks = (int64_t)w->shape.x * w->shape.y, *columns;
  const int levels = w->l->levels;
  transfers t;
  TRS_TRY(open_step(w, &t, &columns));
  for (int k = 0; k < (one_root ? 2 : 1) * levels; k++) {
    const bool back = k >= levels;
    const int step = back ? 2 * levels - 1 - k : k;
    for (int z = 0; z < w->shape.z; z++) {
      int partner = trs_pair_partner(z, step);
      if (one_root && (!trs_crosses(z, step) || trs_is_upper_grid(z, step) == back)) continue;
      memset(columns, 0, (size_t)ranks * sizeof *columns);
      add_shared(w, z, step + 1, TRS_HALF_BELOW, columns);
      for (int64_t r = 0; r < ranks; r++)
        send_off(w, &t, z * ranks + r, partner * ranks + r, columns[r], 0);
    }
    deliver(w, &t, 0, !back);
  }
  TRS_FREE_ALL(t.at, columns);
  return TRS_SUCCESS;
}

/* Level `step` of the baseline: from the upper grids of all pairs to the lower, or back. */
static trs_status cross(world *w, int step, bool sums) {
  int64_t ranks = (int64_t)w->shape.x * w->shape.y, *columns;
  transfers t;
  TRS_TRY(open_step(w, &t, &columns));
  trs_status status = TRS_SUCCESS;
  for (int z = 0; z < w->shape.z && !status; z += 2 << step) {
    int from = z + (1 << step);
    memset(columns, 0, (size_t)ranks * sizeof *columns);
    if (sums)
      status = add_sums(w, from, step, columns);
    else
      add_shared(w, z, step + 1, TRS_HALF_ABOVE, columns);
    for (int64_t r = 0; r < ranks && !status; r++)
      send_off(w, &t, (sums ? from : z) * ranks + r, (sums ? z : from) * ranks + r, columns[r],
               !sums);
  }
  if (!status) deliver(w, &t, !sums, sums);
  TRS_FREE_ALL(t.at, columns);
  return status;
}

/* ---- The algorithms. ---- */

static trs_status run_part(world *w, const trs_grid_scheme *scheme, bool upper, int height,
                           int phase) {
  for (int z = 0; z < w->shape.z; z += 1 << height) {
    trs_roles role = trs_grid_scheme_roles(scheme, z, upper, phase);
    TRS_TRY(run_sweep(w, upper, z, &role));
  }
  return TRS_SUCCESS;
}

static trs_status run_new(world *w, trs_grid_algorithm algorithm) {
  const trs_grid_scheme *scheme = trs_grid_scheme_of(algorithm);
  TRS_TRY(run_part(w, scheme, TRS_L, 0, 0));
  TRS_TRY(allreduce(w, algorithm == TRS_GRID3D_ALGORITHM_2));
  return run_part(w, scheme, TRS_U, 0, 0);
}

/* As in schemes.c. */
static trs_status run_level(world *w, const trs_grid_scheme *scheme, bool upper, int height) {
  int levels = w->l->levels, each = scheme->phases(levels) / (levels + 1);
  for (int k = 0; k < each; k++)
    TRS_TRY(run_part(w, scheme, upper, height, height * each + (upper ? each - 1 - k : k)));
  return TRS_SUCCESS;
}

static trs_status run_baseline(world *w, trs_grid_algorithm algorithm) {
  const trs_grid_scheme *scheme = trs_grid_scheme_of(algorithm);
  int levels = w->l->levels;
  for (int h = 0; h <= levels; h++) {
    TRS_TRY(run_level(w, scheme, TRS_L, h));
    if (h < levels) TRS_TRY(cross(w, h, true));
  }
  for (int h = levels; h >= 0; h--) {
    if (h < levels) TRS_TRY(cross(w, h, false));
    TRS_TRY(run_level(w, scheme, TRS_U, h));
  }
  return TRS_SUCCESS;
}

/* Blocks, on all grids that have them. */
static void weigh(world *w) {
  const trs_grid_layout *l = w->l;
  int64_t places = (int64_t)w->shape.x * w->shape.y;
  for (int upper = 0; upper < 2; upper++)
    for (int64_t K = 0; K < l->count; K++) {
      int64_t half = trs_triangle_values(trs_width(l, K), trs_tile_rows(TRS_DOUBLE));
      if (trs_half(l, K)) half = 0;
      for (int z = l->lo[K]; z < l->lo[K] + (1 << l->height[K]); z++)
        w->figures[z * places + trs_place_of(l, w->shape, TRS_L, K, K)].value[TRS_FIGURE_BYTES] +=
            8 * (double)half;
      for (int64_t b = l->blocks[upper].ptr[K]; b < l->blocks[upper].ptr[K + 1]; b++) {
        int64_t I = l->blocks[upper].row[b], low = upper ? I : K;
        double numbers = (double)(l->blocks[upper].rows[b] * trs_width(l, low));
        for (int z = l->lo[low]; z < l->lo[low] + (1 << l->height[low]); z++)
          w->figures[z * places + trs_place_of(l, w->shape, upper, I, K)].value[TRS_FIGURE_BYTES] +=
              8 * numbers;
      }
    }
}

trs_status trs_loggp(const trs_grid_layout *layout, const trs_machine *machine,
                     const trs_simulated *run, trs_figures *figures) {
  int64_t ranks = (int64_t)run->shape.x * run->shape.y * run->shape.z;
  world w = {.l = layout,
             .m = machine,
             .trees = run->trees,
             .shape = run->shape,
             .nrhs = run->nrhs,
             .figures = figures};
  if (run->shape.z != layout->pz)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "the model has no such solve");
  TRS_TRY(trs_network_create(&w.net, machine, ranks));
  trs_status status = TRS_ALLOC_ZERO(&w.free, ranks);
  memset(figures, 0, (size_t)ranks * sizeof *figures);
  if (!status)
    status = trs_grid_scheme_of(run->algorithm)->by_levels ? run_baseline(&w, run->algorithm)
                                                           : run_new(&w, run->algorithm);
  for (int64_t r = 0; r < ranks && !status; r++) {
    double *v = figures[r].value;
    v[TRS_FIGURE_SOLVE] = w.free[r];
    for (int upper = 0; upper < 2; upper++) {
      v[TRS_FIGURE_SWEEP + upper] = v[TRS_FIGURE_INTRA + upper];
      v[TRS_FIGURE_INTRA + upper] -= v[TRS_FIGURE_FLOP + upper];
    }
  }
  if (!status) weigh(&w);
  trs_network_free(&w.net);
  trs_free(w.free);
  return status;
}
