/* runs.c - a member's launches: every chunk once and in order, large levels alone, and no wait for
 * a row of the same launch in launches that do not wait. */
#include "analysis/slices.h"
#include "base/random.h"
#include "solve/multigpu/push_state.h"
#include "test.h"

enum { LEVELS = 12, LARGE = 1 << 20, CHUNKS = 40 };

static uint64_t draws;
static int64_t below(uint64_t bound) { return (int64_t)trs_random_below(1, draws++, bound); }

/* Levels of few rows and of many, some without entries, some with heavy slices. */
static void draw_levels(trs_slice_level *level) {
  level[0] = (trs_slice_level){0};
  for (int l = 0; l < LEVELS; l++) {
    const bool large = below(2), bare = l == 0 || below(4) == 0;
    const int32_t rows = large ? LARGE : 100;
    level[l].heavy = l > 0 && below(5) == 0;
    level[l + 1] = level[l];
    level[l + 1].position += rows;
    level[l + 1].slice += rows / 32 + 1;
    level[l + 1].chunk += rows / 256 + 1;
    level[l + 1].entries += bare && !level[l].heavy ? 0 : 8 * (int64_t)rows;
    level[l + 1].heavy = 0;
  }
}

/* Some chunks of each level, with one slice each; none of some levels. */
static void draw_share(trs_deal_share *share, trs_slice *slice, int32_t *chunk) {
  *share = (trs_deal_share){.slice = slice, .chunk = chunk};
  for (int l = 0; l < LEVELS; l++)
    for (int64_t k = below(4); k > 0; k--) {
      chunk[share->nchunks++] = share->nslices;
      slice[share->nslices++] = (trs_slice){.level = l};
    }
  chunk[share->nchunks] = share->nslices;
}

static bool is_large(const trs_slice_level *level, int l, int members) {
  return level[l].heavy == 0 && level[l + 1].position - level[l].position >= 65536 * members &&
         level[l + 1].entries - level[l].entries >= (int64_t)(1 << 20) * members;
}

static void check_run(const trs_push_run *run, const trs_deal_share *share,
                      const trs_slice_level *level, int members) {
  const int first = share->slice[run->chunk].level, last = share->slice[run->chunk_end - 1].level;
  for (int l = first; l <= last; l++) {
    if (is_large(level, l, members)) assert_int_equal(first, last);
    if (level[l].heavy) assert_int_equal(run->waits, TRS_PUSH_WAITS_HEAVY);
  }
  if (run->waits < TRS_PUSH_WAITS_ROWS) assert_int_equal(first, last);
  if (run->silent) assert_int_equal(first, LEVELS - 1);
  if (last == LEVELS - 1 && is_large(level, last, members)) assert_true(run->silent);
  if (run->waits == TRS_PUSH_WAITS_NOT)
    assert_int_equal(level[first].entries, level[first + 1].entries);
}

TEST(runs_take_every_chunk_once) {
  for (int turn = 0; turn < 2000; turn++) {
    trs_slice_level level[LEVELS + 1];
    trs_slice slice[CHUNKS];
    int32_t chunk[CHUNKS + 1], next = 0, nruns, members = 1 + turn % 8;
    trs_deal_share share;
    trs_push_run *run;
    draw_levels(level);
    draw_share(&share, slice, chunk);
    assert_success(trs_push_cut(&run, &nruns, &share, level, LEVELS, members));
    for (int32_t k = 0; k < nruns; k++) {
      assert_int_equal(run[k].chunk, next);
      assert_int_equal(run[k].last, k == nruns - 1);
      assert_true(run[k].chunk_end > next);
      check_run(&run[k], &share, level, members);
      next = run[k].chunk_end;
    }
    assert_int_equal(next, share.nchunks);
    trs_free(run);
  }
}

TEST(small_levels_go_together) {
  trs_slice_level level[LEVELS + 1] = {{0}};
  trs_slice slice[LEVELS];
  int32_t chunk[LEVELS + 1], nruns;
  trs_push_run *run;
  for (int l = 0; l < LEVELS; l++) {
    level[l + 1] = level[l];
    level[l + 1].position += 1000;
    level[l + 1].entries += l > 0 ? 5000 : 0;
    slice[l] = (trs_slice){.level = l};
    chunk[l] = l;
  }
  chunk[LEVELS] = LEVELS;
  const trs_deal_share share = {
      .slice = slice, .chunk = chunk, .nchunks = LEVELS, .nslices = LEVELS};
  assert_success(trs_push_cut(&run, &nruns, &share, level, LEVELS, 2));
  assert_int_equal(nruns, 1);
  assert_int_equal(run->waits, TRS_PUSH_WAITS_ROWS);
  trs_free(run);
}

/* Such a member still has to end its solve. */
TEST(a_member_without_rows_has_a_run) {
  const trs_slice_level none[1] = {{0}};
  int32_t chunk[1] = {0}, nruns;
  trs_push_run *run;
  const trs_deal_share share = {.chunk = chunk};
  assert_success(trs_push_cut(&run, &nruns, &share, none, 0, 2));
  assert_int_equal(nruns, 1);
  assert_true(run->last && run->chunk == run->chunk_end);
  trs_free(run);
}
