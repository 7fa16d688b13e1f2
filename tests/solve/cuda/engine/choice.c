/* choice.c - which kernel solves which levels, from the cost model alone. */
#include "solve/cuda/engine/choice.h"

#include "analysis/substitute.h"
#include "base/memory.h"
#include "test.h"

enum { LEVELS = 100, MOST_ROWS = TRS_SHARED_X_ROWS(8) };

/* `count` levels of so many slices of 32 rows with one entry per lane. */
static void add_levels(trs_slice_level *level, int32_t *nlevels, int32_t count, int32_t slices) {
  for (int32_t k = 0; k < count; k++) {
    const trs_slice_level *l = level + *nlevels;
    level[++*nlevels] = (trs_slice_level){.entries = l->entries + 32 * slices,
                                          .slice = l->slice + slices,
                                          .chunk = l->chunk + (slices + 7) / 8,
                                          .position = l->position + 32 * slices};
  }
}

/* The only kernel of `count` levels of so many slices. */
static trs_launch_kind kind_of(int32_t slices, bool clusters, trs_range_choice choice) {
  trs_slice_level level[LEVELS + 1] = {{0}};
  trs_launch_range *ranges;
  int32_t nlevels = 0, nranges;
  double seconds;
  add_levels(level, &nlevels, LEVELS, slices);
  const trs_range_rules rules = {.gpu = &trs_gpu_measured,
                                 .most_rows = MOST_ROWS,
                                 .clusters = clusters,
                                 .choice = choice,
                                 .shares = 1};
  assert_success(trs_choose_launch_ranges(&ranges, &nranges, &seconds, level, nlevels, &rules));
  assert_int_equal(nranges, 1);
  assert_true(ranges->level == 0 && ranges->level_end == LEVELS && seconds > 0);
  assert_int_equal(ranges->slice_end, level[LEVELS].slice);
  const trs_launch_kind kind = ranges->kind;
  trs_free(ranges);
  return kind;
}

/* Of plain rows by the warp-per-slice kernel, over that of boxes. */
static double gain_of_boxes(int32_t slices) {
  trs_slice_level level[LEVELS + 1] = {{0}};
  trs_launch_range *ranges;
  int32_t nlevels = 0, nranges;
  double seconds;
  add_levels(level, &nlevels, LEVELS, slices);
  const trs_range_rules rules = {
      .gpu = &trs_gpu_measured, .choice = TRS_RANGES_WARP_SLICE, .shares = 1};
  assert_success(trs_choose_launch_ranges(&ranges, &nranges, &seconds, level, nlevels, &rules));
  trs_free(ranges);
  return seconds / trs_boxed_seconds(level, nlevels, &trs_gpu_measured);
}

TEST(boxes_gain_where_levels_are_narrow) {
  assert_true(gain_of_boxes(2) > 1.7);
  assert_true(gain_of_boxes(20) > 1.7);
  assert_true(gain_of_boxes(2000) < 1.05);
}

/* As narrow as they are, boxes go to the kernel that holds their inverses in registers. */
TEST(boxes_are_solved_by_warps) {
  trs_slice_level level[LEVELS + 1] = {{0}};
  trs_launch_range *ranges;
  int32_t nlevels = 0, nranges;
  double seconds[2];
  add_levels(level, &nlevels, LEVELS, 1);
  for (int boxes = 0; boxes < 2; boxes++) {
    const trs_range_rules rules = {.gpu = &trs_gpu_measured,
                                   .most_rows = MOST_ROWS,
                                   .clusters = true,
                                   .blocks = true,
                                   .boxes = boxes,
                                   .shares = 1};
    assert_success(
        trs_choose_launch_ranges(&ranges, &nranges, &seconds[boxes], level, nlevels, &rules));
    assert_int_equal(ranges->kind, boxes ? TRS_LAUNCH_WARP_SLICE : TRS_LAUNCH_SINGLE_BLOCK);
    trs_free(ranges);
  }
  assert_true(seconds[1] > seconds[0]);
}

TEST(the_width_of_levels_decides) {
  assert_int_equal(kind_of(1, true, TRS_RANGES_AUTO), TRS_LAUNCH_SINGLE_BLOCK);
  assert_int_equal(kind_of(8, true, TRS_RANGES_AUTO), TRS_LAUNCH_CLUSTER);
  assert_int_equal(kind_of(8, false, TRS_RANGES_AUTO), TRS_LAUNCH_WARP_SLICE);
  assert_int_equal(kind_of(60, true, TRS_RANGES_AUTO), TRS_LAUNCH_WARP_SLICE);
}

TEST(a_kernel_that_is_asked_for_takes_what_it_can) {
  for (int32_t slices = 1; slices <= 80; slices += slices < 60 ? 59 : 10) {
    const bool fits = 32 * slices <= MOST_ROWS;
    assert_int_equal(kind_of(slices, true, TRS_RANGES_WARP_SLICE), TRS_LAUNCH_WARP_SLICE);
    assert_int_equal(kind_of(slices, true, TRS_RANGES_SINGLE_BLOCK),
                     fits ? TRS_LAUNCH_SINGLE_BLOCK : TRS_LAUNCH_WARP_SLICE);
    assert_int_equal(kind_of(slices, true, TRS_RANGES_CLUSTER),
                     fits ? TRS_LAUNCH_CLUSTER : TRS_LAUNCH_WARP_SLICE);
    assert_int_equal(kind_of(slices, false, TRS_RANGES_CLUSTER), TRS_LAUNCH_WARP_SLICE);
  }
}

/* Long runs of each kind, then a change too short to pay for a launch. */
TEST(a_change_of_kernel_has_to_pay_for_its_launch) {
  trs_slice_level level[5 * LEVELS + 2] = {{0}};
  trs_launch_range *ranges;
  int32_t nlevels = 0, nranges;
  double seconds;
  add_levels(level, &nlevels, 3 * LEVELS, 1);
  add_levels(level, &nlevels, LEVELS, 10);
  add_levels(level, &nlevels, 1, 60);
  add_levels(level, &nlevels, LEVELS, 10);
  const trs_range_rules rules = {
      .gpu = &trs_gpu_measured, .most_rows = MOST_ROWS, .clusters = true, .shares = 1};
  assert_success(trs_choose_launch_ranges(&ranges, &nranges, &seconds, level, nlevels, &rules));
  assert_int_equal(nranges, 2);
  assert_int_equal(ranges[0].kind, TRS_LAUNCH_SINGLE_BLOCK);
  assert_int_equal(ranges[1].kind, TRS_LAUNCH_CLUSTER);
  assert_true(ranges[0].level_end == 3 * LEVELS && ranges[1].level_end == nlevels);
  trs_free(ranges);
}

TEST(heavy_slices_stay_with_the_warps) {
  trs_slice_level level[LEVELS + 1] = {{0}};
  trs_launch_range *ranges;
  int32_t nlevels = 0, nranges;
  double seconds;
  add_levels(level, &nlevels, LEVELS, 1);
  for (int32_t l = 0; l < LEVELS; l++) level[l].heavy = 1;
  const trs_range_rules rules = {
      .gpu = &trs_gpu_measured, .most_rows = MOST_ROWS, .clusters = true, .shares = 1};
  assert_success(trs_choose_launch_ranges(&ranges, &nranges, &seconds, level, nlevels, &rules));
  assert_true(nranges == 1 && ranges->kind == TRS_LAUNCH_WARP_SLICE && ranges->heavy);
  trs_free(ranges);
}

/* Fifteen clusters at once: the sixteenth right-hand side would wait for one. */
TEST(clusters_give_way_to_warps_before_they_take_turns) {
  const trs_launch_range cluster = {.kind = TRS_LAUNCH_CLUSTER},
                         block = {.kind = TRS_LAUNCH_SINGLE_BLOCK};
  assert_int_equal(trs_batched_kind(&cluster, 15, 15), TRS_LAUNCH_CLUSTER);
  assert_int_equal(trs_batched_kind(&cluster, 16, 15), TRS_LAUNCH_WARP_SLICE);
  assert_int_equal(trs_batched_kind(&block, 200, 15), TRS_LAUNCH_SINGLE_BLOCK);
}

TEST(chains_are_compared_with_single_rows) {
  const trs_pattern_features grid = {.n = 100000, .chained = 1, .run = 1, .row_length = 3};
  trs_slice_rules rules[TRS_MOST_CANDIDATES];
  for (int several = 0; several < 2; several++) {
    assert_int_equal(trs_choose_rules(rules, &grid, several), 2);
    assert_true(rules[0].most_block > 1 && rules[1].most_block == 1);
  }
}

TEST(blocks_of_nodes_are_compared_with_single_rows) {
  const trs_pattern_features nodes = {.n = 100000, .chained = 1, .run = 3, .row_length = 40};
  trs_slice_rules rules[TRS_MOST_CANDIDATES];
  assert_int_equal(trs_choose_rules(rules, &nodes, false), 2);
  assert_true(rules[0].most_block == TRS_MOST_BLOCK && rules[1].most_block == 1);
  assert_int_equal(trs_choose_rules(rules, &nodes, true), 3);
  assert_true(rules[0].most_block == TRS_MOST_BLOCK && rules[1].most_block == 1);
  assert_int_equal(rules[2].most_block, TRS_EXACT_BLOCK);
}

TEST(large_factors_are_not_compared_with_single_rows) {
  trs_pattern_features factor = {.n = 100000, .chained = 1, .run = 12, .row_length = 40};
  trs_slice_rules rules[TRS_MOST_CANDIDATES];
  assert_int_equal(trs_choose_rules(rules, &factor, false), 1);
  assert_int_equal(trs_choose_rules(rules, &factor, true), 2);
  assert_true(rules[0].most_block == TRS_MOST_BLOCK && rules[1].most_block == TRS_EXACT_BLOCK);
  factor.n = 1000;
  assert_int_equal(trs_choose_rules(rules, &factor, false), 2);
  assert_int_equal(rules[1].most_block, 1);
}

/* Rows of 10 entries may be substituted, rows of 200 keep their levels. */
TEST(long_rows_gain_nothing_from_substitution) {
  trs_slice_level level[LEVELS + 1] = {{0}};
  for (int length = 10; length <= 200; length += 190) {
    for (int32_t l = 0; l < LEVELS; l++)
      level[l + 1] = (trs_slice_level){.entries = level[l].entries + 50 * length,
                                       .position = level[l].position + 50};
    const double least = trs_least_substituted_seconds(level, LEVELS, &trs_gpu_measured);
    assert_true(length < TRS_SUBSTITUTED_ENTRIES ? least < 20e-6 : least > 50e-6);
  }
}

/* Of 10 levels with 32 rows each but one with 320,000. */
TEST(large_levels_of_many_right_hand_sides_have_launches_of_their_own) {
  trs_slice_level level[LEVELS + 2] = {{0}};
  trs_launch_range *ranges;
  int32_t nlevels = 0, nranges;
  add_levels(level, &nlevels, 4, 1);
  add_levels(level, &nlevels, 1, 10000);
  add_levels(level, &nlevels, 5, 1);
  assert_success(trs_many_rhs_ranges(&ranges, &nranges, level, nlevels, 512));
  assert_int_equal(nranges, 3);
  assert_true(ranges[0].level == 0 && ranges[0].level_end == 4);
  assert_true(ranges[1].level == 4 && ranges[1].level_end == 5);
  assert_true(ranges[2].level == 5 && ranges[2].level_end == nlevels);
  assert_int_equal(ranges[1].rows, 320000);
  trs_free(ranges);
  assert_success(trs_many_rhs_ranges(&ranges, &nranges, level, nlevels, 8));
  assert_int_equal(nranges, 1);
  trs_free(ranges);
}

/* 64 doubles per row pay, 32 and 16 where rows are short, 8 do not. */
TEST(row_groups_take_rows_of_many_right_hand_sides) {
  assert_true(trs_row_groups_pay(512, 1000));
  assert_true(trs_row_groups_pay(256, 27));
  assert_false(trs_row_groups_pay(256, 100));
  assert_true(trs_row_groups_pay(128, 8));
  assert_false(trs_row_groups_pay(128, 13));
  assert_false(trs_row_groups_pay(64, 1));
}

/* 64 right-hand sides of levels that are passed in a few waits, and of two levels of many rows:
 * there the transposition takes longer than the solve by either kernel. */
TEST(columns_are_transposed_for_row_groups_where_levels_decide) {
  trs_slice_level level[LEVELS + 1] = {{0}};
  int32_t nlevels = 0;
  trs_rhs_rules rules = {.gpu = &trs_gpu_measured,
                         .width = 64,
                         .scalar_bytes = 8,
                         .most_block = 4,
                         .multiprocessors = 132};
  add_levels(level, &nlevels, LEVELS, 10);
  assert_true(trs_transposing_pays(level, nlevels, 0, &rules));
  rules.most_block = TRS_MOST_BLOCK; /* many-rhs solves them */
  assert_false(trs_transposing_pays(level, nlevels, 0, &rules));
  rules.most_block = 1, rules.width = 16;
  assert_true(trs_transposing_pays(level, nlevels, 0, &rules));
  rules.longest = 100;
  assert_false(trs_transposing_pays(level, nlevels, 0, &rules));
  rules.longest = 0;
  nlevels = 0;
  add_levels(level, &nlevels, 2, 20000);
  rules.width = 64;
  assert_false(trs_transposing_pays(level, nlevels, 0, &rules));
}
