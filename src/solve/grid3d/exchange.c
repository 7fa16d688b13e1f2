/* exchange.c - exchanges lists of slots between grids. */
#include "solve/grid3d/exchange.h"

#include <string.h>

#include "base/timer.h"

static void append(trs_slot_list *list, const trs_rank_part *part, int64_t K) {
  list->K[list->count++] = (int32_t)K;
  list->columns += trs_width(part->layout, K);
}

trs_status trs_list_shared(trs_slot_list *list, const trs_rank_part *part, int height,
                           int without) {
  const trs_grid_layout *l = part->layout;
  *list = (trs_slot_list){0};
  TRS_TRY(TRS_ALLOC(&list->K, l->count));
  for (int64_t K = 0; K < l->count; K++)
    if (l->height[K] >= height && trs_has_diagonal(part, K) &&
        (!trs_half(l, K) || trs_half(l, K) != without))
      append(list, part, K);
  return trs_realloc((void **)&list->K, list->count, sizeof *list->K);
}

static void mark_sums(int8_t *marked, const trs_rank_part *part, int from, int step) {
  const trs_grid_layout *l = part->layout;
  const trs_grid_blocks *blocks = &l->blocks[0];
  for (int64_t K = 0; K < l->count; K++) {
    bool there = l->lo[K] >= from && l->lo[K] < from + (1 << step) && l->height[K] <= step;
    if (!there) continue;
    for (int64_t b = blocks->ptr[K]; b < blocks->ptr[K + 1]; b++) {
      int64_t I = blocks->row[b];
      if (l->height[I] > step && trs_place_of_block(part, TRS_L, I, K) == trs_place(part))
        marked[I] = 1;
    }
  }
}

trs_status trs_list_sums(trs_slot_list *list, const trs_rank_part *part, int from, int step) {
  const trs_grid_layout *l = part->layout;
  int8_t *marked;
  *list = (trs_slot_list){0};
  TRS_TRY(TRS_ALLOC(&list->K, l->count));
  TRS_TRY(TRS_ALLOC_ZERO(&marked, l->count));
  mark_sums(marked, part, from, step);
  for (int64_t I = 0; I < l->count; I++)
    if (marked[I]) append(list, part, I);
  trs_free(marked);
  return trs_realloc((void **)&list->K, list->count, sizeof *list->K);
}

void trs_slot_list_free(trs_slot_list *list) {
  trs_free(list->K);
  *list = (trs_slot_list){0};
}

int64_t trs_slots_bytes(const trs_slot_list *list, const trs_rank_part *part) {
  return list->columns * part->nrhs * (int64_t)trs_scalar_size(part->scalar);
}

static void pack(const trs_slot_list *list, const trs_rank_part *part, bool sums, char *to) {
  for (int64_t i = 0; i < list->count; i++) {
    int64_t K = list->K[i], bytes = trs_slot_bytes(part, K);
    memcpy(to, sums ? trs_sum(part, K) : trs_x(part, K), (size_t)bytes);
    to += bytes;
  }
}

static void unpack(const trs_slot_list *list, const trs_rank_part *part, bool sums, bool add,
                   const char *from) {
  for (int64_t i = 0; i < list->count; i++) {
    int64_t K = list->K[i], bytes = trs_slot_bytes(part, K);
    void *to = sums ? trs_sum(part, K) : trs_x(part, K);
    if (add)
      part->ops->add(trs_width(part->layout, K) * part->nrhs, from, to);
    else
      memcpy(to, from, (size_t)bytes);
    from += bytes;
  }
}

static int rank_on(const trs_rank_part *part, int grid) {
  return trs_rank_at(part->shape, part->x, part->y, grid);
}

static void note_message(trs_exchange_times *times, int64_t bytes) {
  times->messages++;
  times->bytes += bytes;
}

trs_status trs_sparse_allreduce(const trs_slot_list *lists, trs_rank_part *part, trs_ranks *ranks,
                                void *buffer, trs_exchange_times *times) {
  double begin = trs_seconds();
  for (int step = 0; step < trs_pair_steps(part->shape.z); step++) {
    const trs_slot_list *list = &lists[step];
    int64_t bytes = trs_slots_bytes(list, part);
    if (list->count == 0) continue; /* the same count at the partner */
    const void *out = buffer;
    void *in = (char *)buffer + bytes;
    if (part->solver)
      part->solver->share(part, list->columns, &out, &in);
    else
      pack(list, part, false, buffer);
    TRS_TRY(
        trs_ranks_exchange(ranks, rank_on(part, trs_pair_partner(part->z, step)), out, in, bytes));
    if (part->solver)
      part->solver->add(part, list->columns);
    else
      unpack(list, part, false, true, in);
    note_message(times, bytes);
  }
  times->seconds += trs_seconds() - begin;
  return TRS_SUCCESS;
}

trs_status trs_slots_send(const trs_slot_list *list, const trs_rank_part *part, bool sums,
                          trs_ranks *ranks, int grid, void *buffer, trs_exchange_times *times) {
  double begin = trs_seconds();
  int64_t bytes = trs_slots_bytes(list, part);
  if (list->count == 0) return TRS_SUCCESS;
  pack(list, part, sums, buffer);
  TRS_TRY(trs_ranks_send(ranks, rank_on(part, grid), TRS_TAG_PAIR, buffer, bytes));
  TRS_TRY(trs_ranks_finish(ranks));
  note_message(times, bytes);
  times->seconds += trs_seconds() - begin;
  return TRS_SUCCESS;
}

trs_status trs_slots_receive(const trs_slot_list *list, const trs_rank_part *part, bool sums,
                             bool add, trs_ranks *ranks, int grid, void *buffer,
                             trs_exchange_times *times) {
  double begin = trs_seconds();
  if (list->count == 0) return TRS_SUCCESS;
  TRS_TRY(trs_ranks_receive(ranks, rank_on(part, grid), TRS_TAG_PAIR, buffer,
                            trs_slots_bytes(list, part)));
  unpack(list, part, sums, add, buffer);
  times->seconds += trs_seconds() - begin;
  return TRS_SUCCESS;
}

bool trs_crosses(int z, int step) { return z % (1 << step) == 0; }
bool trs_is_upper_grid(int z, int step) { return z >> step & 1; }

trs_status trs_reduce_broadcast(const trs_slot_list *lists, trs_rank_part *part, trs_ranks *ranks,
                                void *buffer, trs_exchange_times *times) {
  const int z = part->z, steps = trs_pair_steps(part->shape.z);
  for (int k = 0; k < 2 * steps; k++) {
    const bool back = k >= steps;
    const int step = back ? 2 * steps - 1 - k : k, grid = trs_pair_partner(z, step);
    if (!trs_crosses(z, step)) continue;
    TRS_TRY(trs_is_upper_grid(z, step) != back
                ? trs_slots_send(&lists[step], part, false, ranks, grid, buffer, times)
                : trs_slots_receive(&lists[step], part, false, !back, ranks, grid, buffer, times));
  }
  return TRS_SUCCESS;
}
