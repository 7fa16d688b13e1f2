/* move.c - moves right-hand sides to their owners, and solutions back. */
#include "solve/grid3d/move.h"

#include <string.h>

/* ---- The partition. ---- */

typedef struct share {
  int64_t first, rows;
} share;

/* The first row of a rank without rows is arbitrary.  first[0] < 0: rank -1 - first[0] begins
 * elsewhere. */
static void follow(const share *of, int size, int64_t *first) {
  first[0] = of[0].first;
  for (int r = 0; r < size; r++) {
    if (r && of[r].rows && of[r].first != first[r] && first[0] >= 0) first[0] = -1 - r;
    first[r + 1] = r ? first[r] + of[r].rows : of[r].rows;
  }
}

static trs_status check_partition(const int64_t *first, int size, int64_t n) {
  if (first[0] < 0)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "rows of b: those of rank %lld do not begin where those before it end",
                    -1 - (long long)first[0]);
  if (first[0] || first[size] != n)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "rows of b: ranks have %lld to %lld of 0 to %lld (not included)",
                    (long long)first[0], (long long)first[size], (long long)n);
  return TRS_SUCCESS;
}

/* ---- Lists. ---- */

static int owner_of(const trs_rank_part *p, int64_t K) {
  return p->layout->lo[K] * p->shape.x * p->shape.y + trs_place_of_block(p, TRS_L, K, K);
}

/* Of each row of the application: the rank that owns it, and its number among the rows that this
 * rank owns, or -1. */
typedef struct place {
  int32_t owner, owned;
} place;

static void find_places(place *of, const trs_rank_part *p, int me, const int32_t *perm) {
  const trs_grid_layout *l = p->layout;
  int32_t owned = 0;
  for (int64_t K = 0; K < l->count; K++) {
    const int owner = owner_of(p, K);
    if (trs_half(l, K) == TRS_HALF_ABOVE) continue;
    for (int64_t i = trs_origin(l, K); i < trs_origin(l, K) + trs_width(l, K); i++)
      of[perm ? perm[i] : i] = (place){owner, owner == me ? owned++ : -1};
  }
}

/* Counts both lists (lists is NULL), or fills them. */
static void visit(const place *of, const int64_t *first, int me, int size, const trs_row_move *move,
                  int64_t *outer, int64_t *inner) {
  for (int holder = 0; holder < size; holder++)
    for (int64_t row = first[holder]; row < first[holder + 1]; row++) {
      if (holder == me) {
        const int64_t at = outer[of[row].owner]++;
        if (move->outer) move->outer[at] = (int32_t)(row - first[me]);
      }
      if (of[row].owner != me) continue;
      const int64_t at = inner[holder]++;
      if (move->inner) move->inner[at] = of[row].owned;
    }
}

static trs_status list_places(trs_row_move *move, const place *of, const int64_t *first,
                              const trs_ranks *ranks) {
  int size = ranks->size, me = ranks->rank;
  TRS_TRY(TRS_ALLOC_ZERO(&move->outer_ptr, size + 2));
  TRS_TRY(TRS_ALLOC_ZERO(&move->inner_ptr, size + 2));
  visit(of, first, me, size, move, move->outer_ptr + 2, move->inner_ptr + 2);
  for (int r = 0; r < size; r++) {
    move->outer_ptr[r + 2] += move->outer_ptr[r + 1];
    move->inner_ptr[r + 2] += move->inner_ptr[r + 1];
  }
  TRS_TRY(TRS_ALLOC(&move->outer, move->outer_ptr[size + 1]));
  TRS_TRY(TRS_ALLOC(&move->inner, move->inner_ptr[size + 1]));
  visit(of, first, me, size, move, move->outer_ptr + 1, move->inner_ptr + 1);
  return TRS_SUCCESS;
}

static trs_status list(trs_row_move *move, const trs_rank_part *p, const int64_t *first,
                       const trs_ranks *ranks, const int32_t *perm) {
  place *of;
  TRS_TRY(TRS_ALLOC(&of, p->layout->n));
  find_places(of, p, ranks->rank, perm);
  trs_status status = list_places(move, of, first, ranks);
  trs_free(of);
  return status;
}

static trs_status make(trs_row_moves *m, const trs_rank_part *p, const trs_grid_maps *maps,
                       const trs_ranks *ranks) {
  TRS_TRY(check_partition(m->first, ranks->size, p->layout->n));
  TRS_TRY(list(&m->b, p, m->first, ranks, maps->row_perm));
  TRS_TRY(list(&m->x, p, m->first, ranks, maps->col_perm));
  m->nowned = m->b.inner_ptr[ranks->size];
  return TRS_ALLOC_ALL(TRS_ROOM(&m->at_sum, m->nowned), TRS_ROOM(&m->at_x, m->nowned));
}

trs_status trs_row_moves_create(trs_row_moves *m, const trs_rank_part *part,
                                const trs_grid_maps *maps, trs_ranks *ranks, int64_t first,
                                int64_t rows) {
  share *of = NULL;
  *m = (trs_row_moves){0};
  trs_status status = TRS_ALLOC(&m->first, ranks->size + 1);
  if (!status) status = TRS_ALLOC(&of, ranks->size);
  status = trs_ranks_agree(ranks, status);
  if (!status) status = trs_ranks_records(ranks, &(share){first, rows}, of, sizeof *of);
  if (!status) follow(of, ranks->size, m->first);
  trs_free(of);
  if (!status) status = trs_ranks_agree(ranks, make(m, part, maps, ranks));
  if (status) trs_row_moves_destroy(m);
  return status;
}

void trs_row_moves_destroy(trs_row_moves *m) {
  TRS_FREE_ALL(m->first, m->b.outer_ptr, m->b.inner_ptr, m->b.outer, m->b.inner, m->x.outer_ptr,
               m->x.inner_ptr, m->x.outer, m->x.inner, m->at_sum, m->at_x, m->outer, m->inner);
  *m = (trs_row_moves){0};
}

/* ---- Moving. ---- */

static void find_rows(const trs_row_moves *m, const trs_rank_part *p, int me) {
  const trs_grid_layout *l = p->layout;
  int64_t owned = 0;
  for (int64_t K = 0; K < l->count; K++) {
    if (owner_of(p, K) != me || trs_half(l, K) == TRS_HALF_ABOVE) continue;
    int64_t sum = (char *)trs_sum(p, K) - p->base, x = (char *)trs_x(p, K) - p->base;
    for (int64_t i = 0; i < trs_width(l, K); i++, owned++) {
      m->at_sum[owned] = sum + i * trs_row_bytes(p);
      m->at_x[owned] = x + i * trs_row_bytes(p);
    }
  }
}

static trs_status make_room(char **buffer, int64_t *have, int64_t bytes) {
  if (bytes <= *have) return TRS_SUCCESS;
  trs_free(*buffer);
  *buffer = NULL;
  *have = 0;
  TRS_TRY(trs_alloc((void **)buffer, bytes, 1));
  *have = bytes;
  return TRS_SUCCESS;
}

/* Most rows per message.  If a process cannot read another's memory, MPI moves a long message
 * in parts, and only while both processes call it.  A rank that waits for long sleeps for longer
 * between two calls (base/wait.h), so that one long message takes many times as long as short
 * ones. */
static int64_t rows_at_once(const trs_rank_part *p) {
  enum { BYTES = 1 << 18 };
  int64_t rows = BYTES / trs_row_bytes(p);
  return rows > 0 ? rows : 1;
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

trs_status trs_row_moves_reserve(trs_row_moves *m, const trs_rank_part *p, trs_ranks *ranks) {
  int me = ranks->rank;
  if (m->nrhs == p->nrhs) return TRS_SUCCESS;
  m->nrhs = 0;
  int64_t rows = m->first[me + 1] - m->first[me], most = rows > m->nowned ? rows : m->nowned;
  TRS_TRY(make_room(&m->outer, &m->outer_bytes, rows * trs_row_bytes(p)));
  TRS_TRY(make_room(&m->inner, &m->inner_bytes, m->nowned * trs_row_bytes(p)));
  TRS_TRY(trs_ranks_reserve(ranks, most / rows_at_once(p) + ranks->size));
  find_rows(m, p, me);
  m->nrhs = p->nrhs;
  return TRS_SUCCESS;
}

trs_status trs_row_moves_take(trs_row_moves *m, const trs_rank_part *p, const trs_grid_maps *maps,
                              trs_ranks *ranks, const trs_rhs *rhs) {
  const trs_row_move *move = &m->b;
  int me = ranks->rank;
  int64_t row = trs_row_bytes(p), most = rows_at_once(p);
  const double *scale = maps->row_scale ? maps->row_scale + m->first[me] : NULL;
  for (int r = 0; r < ranks->size; r++) {
    int64_t end = move->outer_ptr[r + 1];
    for (int64_t from = move->outer_ptr[r], count; r != me && from < end; from += count) {
      count = smaller(end - from, most);
      p->ops->take(count, p->nrhs, move->outer + from, scale, rhs->b, rhs->b_row, rhs->b_col, NULL,
                   NULL, m->outer + from * row);
      TRS_TRY(trs_ranks_send(ranks, r, TRS_TAG_MOVE, m->outer + from * row, count * row));
    }
  }
  p->ops->take(move->outer_ptr[me + 1] - move->outer_ptr[me], p->nrhs,
               move->outer + move->outer_ptr[me], scale, rhs->b, rhs->b_row, rhs->b_col,
               move->inner + move->inner_ptr[me], m->at_sum, p->base);
  for (int r = 0; r < ranks->size; r++) {
    int64_t end = move->inner_ptr[r + 1];
    for (int64_t from = move->inner_ptr[r], count; r != me && from < end; from += count) {
      count = smaller(end - from, most);
      TRS_TRY(trs_ranks_receive(ranks, r, TRS_TAG_MOVE, m->inner, count * row));
      for (int64_t i = 0; i < count; i++)
        memcpy(p->base + m->at_sum[move->inner[from + i]], m->inner + i * row, (size_t)row);
    }
  }
  return trs_ranks_finish(ranks);
}

trs_status trs_row_moves_put(trs_row_moves *m, const trs_rank_part *p, const trs_grid_maps *maps,
                             trs_ranks *ranks, const trs_rhs *rhs) {
  const trs_row_move *move = &m->x;
  int me = ranks->rank;
  int64_t row = trs_row_bytes(p), most = rows_at_once(p);
  const double *scale = maps->col_scale ? maps->col_scale + m->first[me] : NULL;
  for (int r = 0; r < ranks->size; r++) {
    int64_t end = move->inner_ptr[r + 1];
    for (int64_t from = move->inner_ptr[r], count; r != me && from < end; from += count) {
      count = smaller(end - from, most);
      for (int64_t i = 0; i < count; i++)
        memcpy(m->inner + (from + i) * row, p->base + m->at_x[move->inner[from + i]], (size_t)row);
      TRS_TRY(trs_ranks_send(ranks, r, TRS_TAG_MOVE, m->inner + from * row, count * row));
    }
  }
  p->ops->put(move->outer_ptr[me + 1] - move->outer_ptr[me], p->nrhs,
              move->outer + move->outer_ptr[me], scale, move->inner + move->inner_ptr[me], m->at_x,
              p->base, rhs->x, rhs->x_row, rhs->x_col);
  for (int r = 0; r < ranks->size; r++) {
    int64_t end = move->outer_ptr[r + 1];
    for (int64_t from = move->outer_ptr[r], count; r != me && from < end; from += count) {
      count = smaller(end - from, most);
      TRS_TRY(trs_ranks_receive(ranks, r, TRS_TAG_MOVE, m->outer, count * row));
      p->ops->put(count, p->nrhs, move->outer + from, scale, NULL, NULL, m->outer, rhs->x,
                  rhs->x_row, rhs->x_col);
    }
  }
  return trs_ranks_finish(ranks);
}
