/* input_blocks.c - factors that SuperLU_DIST has distributed over the first px py ranks.
 *
 * Block (I, K) of L and U is on rank (I mod px) py + K mod py.  For each of its block columns of L,
 * a rank has an array of indices, [blocks, rows] and per block [I, rows, the rows], and an array of
 * numbers, all rows by columns; the first block on a diagonal process holds both L and U. For each
 * of its block rows of U: [blocks, numbers, indices] and per block [K, numbers, and for every
 * column of K its first row of I]; the numbers go from there to the last row of I.
 *
 * All ranks get the lists of all supernodes; numbers go to their owners only. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/structs.h"
#include "solve/grid3d/input.h"

enum { L_HEAD = 2, U_HEAD = 3, DESCRIPTOR = 2 };

typedef struct blocks {
  trs_mpi_blocks of; /* of this rank; n, xsup, perm and scale of rank 0 */
  int rank;
  int64_t *first;               /* nsupers + 1 */
  int32_t *row_perm, *col_perm; /* n; on rank 0 */
  double *row_scale, *col_scale;
  trs_grid_lists lists[2];
} blocks;

/* int_t has 4 or 8 bytes. */
static int64_t at(const blocks *b, const void *list, int64_t i) {
  return b->of.index_bytes == 8 ? ((const int64_t *)list)[i] : ((const int32_t *)list)[i];
}
static int64_t width(const blocks *b, int64_t K) { return b->first[K + 1] - b->first[K]; }

/* ---- One rank's blocks. ---- */

/* Callback for each block (I, K), with the indices of its rows or columns and its numbers; ld: for
 * L the rows of the block column, for U the numbers of the block. */
typedef void (*visitor)(void *state, bool upper, int64_t I, int64_t K, const void *index,
                        int64_t count, const char *values, int64_t ld);

static bool on_grid(const blocks *b) { return b->rank < b->of.px * b->of.py; }

static trs_status bad_block(bool upper, int64_t I, int64_t K) {
  return trs_fail(
      TRS_ERROR_ARGUMENT, -1,
      "blocks: supernodes, numbers of rows or indices of %c's block (%lld, %lld) (0-based) are "
      "out of range",
      upper ? 'U' : 'L', (long long)I, (long long)K);
}

static trs_status visit_lower(const blocks *b, visitor visit, void *state) {
  size_t size = trs_scalar_size(b->of.scalar);
  for (int64_t K = b->rank % b->of.py, k = 0; K < b->of.nsupers; K += b->of.py, k++) {
    const char *index = b->of.L_index[k], *values = b->of.L_values[k];
    if (!index) continue;
    int64_t count = at(b, index, 0), ld = at(b, index, 1), p = L_HEAD, left = ld;
    for (int64_t i = 0; i < count; i++) {
      int64_t I = at(b, index, p), rows = at(b, index, p + 1);
      if (I < K || I >= b->of.nsupers || rows < 0 || rows > left || !values)
        return bad_block(TRS_L, I, K);
      visit(state, TRS_L, I, K, index + (p + DESCRIPTOR) * b->of.index_bytes, rows, values, ld);
      p += DESCRIPTOR + rows;
      left -= rows;
      values += (size_t)rows * size;
    }
  }
  return TRS_SUCCESS;
}

static trs_status visit_upper(const blocks *b, visitor visit, void *state) {
  size_t size = trs_scalar_size(b->of.scalar);
  for (int64_t I = b->rank / b->of.py, k = 0; I < b->of.nsupers; I += b->of.px, k++) {
    const char *index = b->of.U_index[k], *values = b->of.U_values[k];
    if (!index) continue;
    int64_t count = at(b, index, 0), left = at(b, index, 1), p = U_HEAD;
    for (int64_t i = 0; i < count; i++) {
      int64_t K = at(b, index, p), numbers = at(b, index, p + 1);
      if (K <= I || K >= b->of.nsupers || numbers < 0 || numbers > left || !values)
        return bad_block(TRS_U, I, K);
      visit(state, TRS_U, I, K, index + (p + DESCRIPTOR) * b->of.index_bytes, width(b, K), values,
            numbers);
      values += (size_t)numbers * size;
      left -= numbers;
      p += DESCRIPTOR + width(b, K);
    }
  }
  return TRS_SUCCESS;
}

static trs_status visit_all(const blocks *b, visitor visit, void *state) {
  if (!on_grid(b)) return TRS_SUCCESS;
  TRS_TRY(visit_lower(b, visit, state));
  return visit_upper(b, visit, state);
}

/* ---- Lists. ---- */

/* [upper, supernode, count, indices] of each block, one after the other. */
typedef struct record {
  const blocks *b;
  int32_t *data; /* NULL: counting */
  int64_t count;
  trs_status bad;
} record;

static void put(record *r, int64_t value) {
  if (r->data) r->data[r->count] = (int32_t)value;
  r->count++;
}

/* An index of U may be the row behind the last one: then the column has no numbers. */
static bool fits(const blocks *b, bool upper, int64_t I, const void *index, int64_t count,
                 int64_t ld) {
  int64_t end = b->first[I + 1], numbers = 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t row = at(b, index, i);
    if (row < b->first[I] || row >= end + upper) return false;
    numbers += end - row;
  }
  return !upper || numbers == ld;
}

static void note(void *state, bool upper, int64_t I, int64_t K, const void *index, int64_t count,
                 const char *values, int64_t ld) {
  record *r = state;
  const blocks *b = r->b;
  (void)values;
  if (!r->bad && !fits(b, upper, I, index, count, ld)) r->bad = bad_block(upper, I, K);
  if (I == K || r->bad) return;
  int64_t head = r->count;
  put(r, upper);
  put(r, upper ? I : K);
  put(r, 0);
  for (int64_t i = 0; i < count; i++)
    if (!upper)
      put(r, at(b, index, i));
    else if (at(b, index, i) < b->first[I + 1])
      put(r, b->first[K] + i);
  if (r->data) r->data[head + 2] = (int32_t)(r->count - head - 3);
}

/* The records of all ranks: *data, which the caller frees, has *count numbers. */
static trs_status gather(trs_ranks *ranks, const record *own, int32_t **data, int64_t *count) {
  int64_t *from;
  trs_status status = trs_ranks_agree(ranks, TRS_ALLOC(&from, ranks->size));
  if (!status) status = trs_ranks_records(ranks, &own->count, from, sizeof *from);
  *count = 0;
  for (int r = 0; r < ranks->size && !status; r++) *count += from[r];
  if (!status) status = trs_ranks_agree(ranks, TRS_ALLOC(data, *count));
  if (!status) status = trs_ranks_pieces(ranks, own->data, *data, from, sizeof **data);
  trs_free(from);
  return status;
}

/* Counts the lists of both sides, or fills them. */
static void visit_records(const int32_t *data, int64_t count, trs_grid_lists *lists, int shift) {
  for (int64_t r = 0; r < count; r += 3 + data[r + 2]) {
    trs_grid_lists *l = &lists[data[r]];
    int64_t *next = &l->ptr[data[r + 1] + shift];
    if (l->idx) memcpy(l->idx + *next, data + r + 3, (size_t)data[r + 2] * sizeof *l->idx);
    *next += data[r + 2];
  }
}

static trs_status make_lists(blocks *b, const int32_t *data, int64_t count) {
  int64_t nsupers = b->of.nsupers;
  for (int upper = 0; upper < 2; upper++)
    TRS_TRY(TRS_ALLOC_ZERO(&b->lists[upper].ptr, nsupers + 2));
  visit_records(data, count, b->lists, 2);
  for (int upper = 0; upper < 2; upper++) {
    trs_grid_lists *l = &b->lists[upper];
    for (int64_t K = 0; K < nsupers; K++) l->ptr[K + 2] += l->ptr[K + 1];
    TRS_TRY(TRS_ALLOC(&l->idx, l->ptr[nsupers + 1]));
  }
  visit_records(data, count, b->lists, 1);
  for (int upper = 0; upper < 2; upper++)
    for (int64_t K = 0; K < nsupers; K++) {
      const int64_t *ptr = b->lists[upper].ptr + K;
      if (ptr[1] > ptr[0])
        qsort(b->lists[upper].idx + ptr[0], (size_t)(ptr[1] - ptr[0]), sizeof(int32_t),
              trs_compare_int32);
    }
  return TRS_SUCCESS;
}

static trs_status need_arrays(const blocks *b) {
  bool has_L = b->of.L_index && b->of.L_values, has_U = b->of.U_index && b->of.U_values;
  if (!on_grid(b) || (has_L && has_U) || b->of.nsupers == 0) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1, "blocks: %s is NULL",
                  has_L ? "U_index or U_values" : "L_index or L_values");
}

/* Scans the blocks and allocates memory for their description. */
static trs_status count_blocks(const blocks *b, record *own) {
  TRS_TRY(need_arrays(b));
  TRS_TRY(visit_all(b, note, own));
  return own->bad ? own->bad : TRS_ALLOC(&own->data, own->count);
}

static trs_status share_lists(blocks *b, trs_ranks *ranks) {
  record own = {.b = b};
  int32_t *data = NULL;
  int64_t count;
  trs_status status = trs_ranks_agree(ranks, count_blocks(b, &own));
  own.count = 0;
  if (!status) status = visit_all(b, note, &own);
  if (!status) status = gather(ranks, &own, &data, &count);
  if (!status) status = trs_ranks_agree(ranks, make_lists(b, data, count));
  TRS_FREE_ALL(own.data, data);
  return status;
}

/* ---- Permutations and scalings of rank 0. ---- */

static trs_status take_supernodes(blocks *b) {
  bool right = true;
  for (int64_t K = 0; K <= b->of.nsupers; K++) {
    b->first[K] = at(b, b->of.xsup, K);
    right = right && (K ? b->first[K] > b->first[K - 1] : b->first[K] == 0);
  }
  if (right && b->first[b->of.nsupers] == b->of.n) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1,
                  "blocks: xsup does not ascend from 0 to the %lld columns there are",
                  (long long)b->of.n);
}

/* Row i of A is row perm_c[perm_r[i]] of L, column j is column perm_c[j] of U. */
static trs_status turn_perms(blocks *b) {
  int64_t n = b->of.n;
  for (int64_t i = 0; i < n; i++) b->row_perm[i] = b->col_perm[i] = -1;
  for (int64_t i = 0; i < n; i++) {
    int64_t to = at(b, b->of.perm_c, i);
    if (to < 0 || to >= n || b->col_perm[to] >= 0)
      return trs_fail(TRS_ERROR_ARGUMENT, i, "blocks: perm_c is no permutation");
    b->col_perm[to] = (int32_t)i;
  }
  for (int64_t i = 0; i < n; i++) {
    int64_t to = at(b, b->of.perm_r, i);
    if (to >= 0 && to < n) to = at(b, b->of.perm_c, to);
    if (to < 0 || to >= n || b->row_perm[to] >= 0)
      return trs_fail(TRS_ERROR_ARGUMENT, i, "blocks: perm_r is no permutation");
    b->row_perm[to] = (int32_t)i;
  }
  return TRS_SUCCESS;
}

static void copy_scale(double *to, const void *from, int bytes, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    to[i] = !from ? 1 : bytes == 8 ? ((const double *)from)[i] : ((const float *)from)[i];
}

/* Rank 0 has the maps. */
static trs_status allocate(blocks *b) {
  TRS_TRY(TRS_ALLOC(&b->first, b->of.nsupers + 1));
  if (b->rank) return TRS_SUCCESS;
  return TRS_ALLOC_ALL(TRS_ROOM(&b->row_perm, b->of.n), TRS_ROOM(&b->col_perm, b->of.n),
                       TRS_ROOM(&b->row_scale, b->of.n), TRS_ROOM(&b->col_scale, b->of.n));
}

static trs_status check(const trs_mpi_blocks *of, int size) {
  bool right = of->n >= 0 && of->n <= INT32_MAX && of->nsupers >= 0 && of->px > 0 && of->py > 0 &&
               (of->index_bytes == 4 || of->index_bytes == 8) && of->scalar >= TRS_FLOAT &&
               of->scalar <= TRS_DCOMPLEX && of->nsupers <= of->n;
  if (!right || !of->xsup || !of->perm_r || !of->perm_c)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "blocks: something is missing or out of range");
  if ((int64_t)of->px * of->py > size)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "blocks of a grid of %d x %d processes, but there are %d ranks", of->px, of->py,
                    size);
  return TRS_SUCCESS;
}

static trs_status take_maps(blocks *b) {
  TRS_TRY(take_supernodes(b));
  TRS_TRY(turn_perms(b));
  copy_scale(b->row_scale, b->of.R, b->of.scale_bytes, b->of.n);
  copy_scale(b->col_scale, b->of.C, b->of.scale_bytes, b->of.n);
  return TRS_SUCCESS;
}

/* ---- The input. ---- */

static trs_status make_layout(const trs_grid_input *in, trs_ranks *ranks, trs_grid_layout *layout,
                              int pz, const trs_layout_options *options) {
  blocks *b = (blocks *)in->state;
  (void)ranks;
  trs_grid_lists lists[2] = {b->lists[in->transposed], b->lists[!in->transposed]};
  int64_t *first;
  TRS_TRY(TRS_ALLOC(&first, b->of.nsupers + 1));
  memcpy(first, b->first, (size_t)(b->of.nsupers + 1) * sizeof *first);
  b->lists[0] = b->lists[1] = (trs_grid_lists){0};
  return trs_grid_layout_adopt(layout, b->of.nsupers, first, lists, NULL, pz, options);
}

typedef struct handing_out {
  const blocks *b;
  trs_delivery *d;
} handing_out;

static void hand_out_lower(const handing_out *h, int64_t K, const void *index, int64_t count,
                           const char *values, int64_t ld) {
  const blocks *b = h->b;
  size_t size = trs_scalar_size(b->of.scalar);
  for (int64_t c = 0; c < width(b, K); c++)
    for (int64_t r = 0; r < count; r++) {
      int64_t i = at(b, index, r), j = b->first[K] + c;
      trs_deliver(h->d, i <= j, i, j, values + (size_t)(r + c * ld) * size);
    }
}

static void hand_out(void *state, bool upper, int64_t I, int64_t K, const void *index,
                     int64_t count, const char *values, int64_t ld) {
  const handing_out *h = state;
  const blocks *b = h->b;
  size_t size = trs_scalar_size(b->of.scalar);
  if (!upper) {
    hand_out_lower(h, K, index, count, values, ld);
    return;
  }
  for (int64_t c = 0; c < count; c++)
    for (int64_t i = at(b, index, c); i < b->first[I + 1]; i++, values += size)
      trs_deliver(h->d, TRS_U, i, b->first[K] + c, values);
}

/* All of them have been scanned. */
static void produce(const void *state, trs_delivery *d) {
  handing_out h = {.b = state, .d = d};
  (void)visit_all(state, hand_out, &h);
}

static void close(trs_grid_input *in) {
  blocks *b = (blocks *)in->state;
  if (!b) return;
  TRS_FREE_ALL(b->first, b->row_perm, b->col_perm, b->row_scale, b->col_scale, b->lists[0].ptr,
               b->lists[0].idx, b->lists[1].ptr, b->lists[1].idx);
  trs_free(b);
  in->state = NULL;
}

static trs_status open(blocks *b, trs_ranks *ranks) {
  /* Data that do not depend on the rank are rank 0's, because the layers of a 3D grid may lack
   * them. */
  trs_mpi_blocks head = b->of;
  TRS_TRY(trs_ranks_agree(ranks, ranks->rank ? TRS_SUCCESS : check(&head, ranks->size)));
  TRS_TRY(trs_ranks_broadcast(ranks, &head, sizeof head));
  b->of.n = head.n;
  b->of.nsupers = head.nsupers;
  b->of.px = head.px;
  b->of.py = head.py;
  b->of.scalar = head.scalar;
  b->of.index_bytes = head.index_bytes;
  TRS_TRY(trs_ranks_agree(ranks, allocate(b)));
  TRS_TRY(trs_ranks_agree(ranks, ranks->rank ? TRS_SUCCESS : take_maps(b)));
  TRS_TRY(trs_ranks_broadcast(ranks, b->first, (b->of.nsupers + 1) * (int64_t)sizeof *b->first));
  return share_lists(b, ranks);
}

trs_status trs_input_blocks(trs_grid_input *in, const trs_mpi_blocks *of, trs_ranks *ranks) {
  blocks *b = NULL;
  *in = (trs_grid_input){0};
  trs_status status =
      of ? TRS_ALLOC_ZERO(&b, 1) : trs_fail(TRS_ERROR_ARGUMENT, -1, "blocks is NULL");
  if (!status) status = TRS_STRUCT_TAKE(trs_mpi_blocks, &b->of, of);
  if (!status) b->rank = ranks->rank;
  in->state = b;
  in->close = close;
  TRS_TRY(trs_ranks_agree(ranks, status));
  TRS_TRY(open(b, ranks));
  *in = (trs_grid_input){.scalar = b->of.scalar,
                         .n = b->of.n,
                         .unit = {true, false},
                         .leaves = b->of.nsupers,
                         .maps = {b->row_perm, b->col_perm, b->row_scale, b->col_scale},
                         .first_maps = true,
                         .layout = make_layout,
                         .produce = produce,
                         .close = close,
                         .state = b};
  return TRS_SUCCESS;
}
