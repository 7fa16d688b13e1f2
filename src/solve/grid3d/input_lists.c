/* input_lists.c - the layout of inputs whose pattern rank 0 alone has: rank 0 makes supernodes and
 * lists for all ranks. */
#include "solve/grid3d/input.h"

static trs_status share_lists(trs_ranks *ranks, int64_t **first, trs_grid_lists lists[2],
                              int64_t count) {
  int64_t length[2] = {0, 0};
  for (int k = 0; k < 2; k++)
    if (!ranks->rank) length[k] = lists[k].ptr[count];
  TRS_TRY(trs_ranks_broadcast(ranks, length, sizeof length));
  trs_status status = TRS_SUCCESS;
  if (ranks->rank) {
    status = TRS_ALLOC(first, count + 1);
    for (int k = 0; k < 2 && !status; k++) {
      status = TRS_ALLOC(&lists[k].ptr, count + 1);
      if (!status) status = TRS_ALLOC(&lists[k].idx, length[k]);
    }
  }
  TRS_TRY(trs_ranks_agree(ranks, status));
  int64_t pointers = (count + 1) * (int64_t)sizeof **first;
  TRS_TRY(trs_ranks_broadcast(ranks, *first, pointers));
  for (int k = 0; k < 2; k++) {
    TRS_TRY(trs_ranks_broadcast(ranks, lists[k].ptr, pointers));
    TRS_TRY(trs_ranks_broadcast(ranks, lists[k].idx, length[k] * (int64_t)sizeof *lists[k].idx));
  }
  return TRS_SUCCESS;
}

trs_status trs_input_share_layout(trs_ranks *ranks, trs_grid_layout *layout,
                                  const trs_grid_pattern *pattern, int pz,
                                  const trs_layout_options *options) {
  trs_grid_lists lists[2] = {{0}};
  int64_t *first = NULL, count = 0;
  trs_status status = TRS_SUCCESS;
  if (!ranks->rank) status = trs_grid_layout_lists(pattern, pz, options, &count, &first, lists);
  status = trs_ranks_agree(ranks, status);
  if (!status) status = trs_ranks_broadcast(ranks, &count, sizeof count);
  if (!status) status = share_lists(ranks, &first, lists, count);
  if (!status) return trs_grid_layout_adopt(layout, count, first, lists, pattern, pz, options);
  trs_free(first);
  for (int k = 0; k < 2; k++) {
    TRS_FREE_ALL(lists[k].ptr, lists[k].idx);
  }
  return status;
}
