/* push_runs.c - the launches of a member in a solve: runs of levels of the whole system, cut at
 * levels so large that the cost of a separate launch is small. */
#include "solve/cuda/engine/choice.h"
#include "solve/multigpu/push_state.h"

static int32_t waits_of(const trs_launch_range *range) {
  if (range->heavy) return TRS_PUSH_WAITS_HEAVY;
  if (range->level_end - range->level > 1) return TRS_PUSH_WAITS_ROWS;
  return range->entries == 0 ? TRS_PUSH_WAITS_NOT : TRS_PUSH_WAITS_EARLY;
}

/* The member's first chunk, from `chunk` on, whose level is at least `level`. */
static int32_t chunk_of_level(const trs_deal_share *share, int32_t chunk, int32_t level) {
  while (chunk < share->nchunks && share->slice[share->chunk[chunk]].level < level) chunk++;
  return chunk;
}

/* Omits runs in which the member has no chunks, except that one remains if it has no others: the
 * last run completes the solve. */
static int32_t cut_share(trs_push_run *run, const trs_deal_share *share,
                         const trs_launch_range *ranges, int32_t nranges, int32_t nlevels) {
  int32_t count = 0, chunk = 0;
  for (int32_t k = 0; k < nranges; k++) {
    int32_t end = chunk_of_level(share, chunk, ranges[k].level_end);
    if (end > chunk)
      run[count++] = (trs_push_run){.chunk = chunk,
                                    .chunk_end = end,
                                    .slice = share->chunk[chunk],
                                    .slice_end = share->chunk[end],
                                    .waits = waits_of(&ranges[k]),
                                    .silent = ranges[k].level == nlevels - 1};
    chunk = end;
  }
  if (count == 0) run[count++] = (trs_push_run){.waits = TRS_PUSH_WAITS_NOT};
  run[count - 1].last = 1;
  return count;
}

trs_status trs_push_cut(trs_push_run **run, int32_t *nruns, const trs_deal_share *share,
                        const trs_slice_level *level, int32_t nlevels, int32_t members) {
  trs_launch_range *ranges;
  int32_t nranges;
  double seconds;
  *run = NULL;
  /* One kernel takes all levels, whatever its cost. */
  const trs_range_rules rules = {
      .gpu = &trs_gpu_measured, .choice = TRS_RANGES_WARP_SLICE, .shares = members};
  TRS_TRY(trs_choose_launch_ranges(&ranges, &nranges, &seconds, level, nlevels, &rules));
  trs_status status = TRS_ALLOC(run, nranges + 1);
  if (!status) *nruns = cut_share(*run, share, ranges, nranges, nlevels);
  trs_free(ranges);
  return status;
}

/* Rows solved by a launch of one level are complete before the member's next launch begins. */
trs_status trs_push_spare(trs_push_member *m, const trs_deal *deal, const trs_slices *s) {
  const trs_deal_share *share = &m->share;
  uint8_t *spared;
  TRS_TRY(TRS_ALLOC_ZERO(&spared, share->nslices));
  for (int32_t r = 0; r < m->nruns; r++)
    for (int32_t k = m->run[r].slice; k < m->run[r].slice_end; k++)
      spared[k] = m->run[r].waits < TRS_PUSH_WAITS_ROWS;
  trs_status status = trs_deal_share_clear(&m->share, deal, s, m->number, spared);
  trs_free(spared);
  return status;
}
