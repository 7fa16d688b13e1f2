/* exchange.c - exchanges lists of slots between grids. */
#include "solve/grid3d/exchange.h"

#include <string.h>

#include "base/timer.h"

void trs_slot_list_append(trs_slot_list *list, const trs_rank_part *part, int64_t K) {
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
      trs_slot_list_append(list, part, K);
  return trs_realloc((void **)&list->K, list->count, sizeof *list->K);
}

void trs_slot_list_free(trs_slot_list *list) {
  trs_free(list->K);
  *list = (trs_slot_list){0};
}

int64_t trs_slots_bytes(const trs_slot_list *list, const trs_rank_part *part) {
  return list->columns * part->nrhs * (int64_t)trs_scalar_size(part->scalar);
}

void trs_slots_pack(const trs_slot_list *list, const trs_rank_part *part, bool sums, void *packed) {
  char *to = packed;
  for (int64_t i = 0; i < list->count; i++) {
    int64_t K = list->K[i], bytes = trs_slot_bytes(part, K);
    memcpy(to, sums ? trs_sum(part, K) : trs_x(part, K), (size_t)bytes);
    to += bytes;
  }
}

void trs_slots_unpack(const trs_slot_list *list, const trs_rank_part *part, bool sums, bool add,
                      const void *packed) {
  const char *from = packed;
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
      trs_slots_pack(list, part, false, buffer);
    TRS_TRY(
        trs_ranks_exchange(ranks, rank_on(part, trs_pair_partner(part->z, step)), out, in, bytes));
    if (part->solver)
      part->solver->add(part, list->columns);
    else
      trs_slots_unpack(list, part, false, true, in);
    times->messages++;
    times->bytes += bytes;
  }
  times->seconds += trs_seconds() - begin;
  return TRS_SUCCESS;
}
