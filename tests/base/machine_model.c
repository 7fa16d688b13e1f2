/* machine_model.c - the rows of the machine model, and what choices make of another device. */
#include "base/machine_model.h"

#include <string.h>

#include "analysis/substitute.h"
#include "base/memory.h"
#include "solve/cuda/engine/choice.h"
#include "test.h"

static bool within(double value, double least, double most) {
  return value >= least && value <= most;
}

/* Every number of a row is positive: a row has nothing but doubles. */
static void all_are_positive(const void *row, size_t bytes) {
  const double *value = row;
  for (size_t k = 0; k < bytes / sizeof *value; k++) assert_true(value[k] > 0);
}

TEST(a_gpu_has_plausible_rates) {
  const trs_gpu_costs *m = &trs_gpu_measured;
  all_are_positive(m, sizeof *m);
  assert_true(within(m->memory_bandwidth, 1e12, 10e12));
  assert_true(within(m->waiting_bandwidth, 0.2 * m->memory_bandwidth, m->memory_bandwidth));
  assert_true(within(m->stored_bandwidth, 0.2 * m->memory_bandwidth, m->memory_bandwidth));
  assert_true(within(m->group_bandwidth, 0.2 * m->memory_bandwidth, m->memory_bandwidth));
  assert_true(within(m->multiprocessor_bandwidth, 0.5 * m->memory_bandwidth / m->multiprocessors,
                     10 * m->memory_bandwidth / m->multiprocessors));
  assert_true(within(m->settled_bandwidth, m->many_bandwidth, 10 * m->memory_bandwidth));
  assert_true(within(m->link_bandwidth, m->bus_bandwidth, m->memory_bandwidth));
}

TEST(a_gpu_has_plausible_times) {
  const trs_gpu_costs *m = &trs_gpu_measured;
  const double hops[] = {m->hop, m->level, m->group_hop, m->groups_level};
  for (size_t k = 0; k < sizeof hops / sizeof hops[0]; k++)
    assert_true(within(hops[k], 0.1e-6, 3e-6));
  assert_true(m->block_level < m->cluster_level && m->cluster_level < m->hop);
  assert_true(m->launch <= m->change && m->cluster_launch <= m->cluster_change);
  assert_true(m->change < m->start && m->start <= m->group_start);
  assert_true(m->slice < m->hop && m->place < m->scattered_place);
  /* 12 bytes per entry: the number of entries is that of the hop and the bandwidth. */
  assert_true(within(m->hop_entries, 0.9 * m->hop * m->waiting_bandwidth / 12,
                     1.1 * m->hop * m->waiting_bandwidth / 12));
}

TEST(a_cpu_has_plausible_times) {
  const trs_cpu_costs *m = &trs_cpu_generic;
  all_are_positive(m, sizeof *m);
  assert_true(within(m->entry, 0.05e-9, 2e-9));
  assert_true(m->entry < m->row && m->row < m->wait && m->wait < m->start);
  assert_true(m->panel_value < m->panel_line && m->panel_line < m->panel);
  assert_true(m->barrier < m->start);
  assert_true(within(m->cache_bytes, 1e6, 1e9));
}

TEST(measured_devices_have_their_row_whatever_their_facts) {
  static const char *const names[] = {"NVIDIA H100 80GB HBM3", "NVIDIA H100 PCIe", "NVIDIA H200",
                                      "NVIDIA GH200 480GB"};
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
    const trs_gpu_costs m = trs_gpu_costs_of(names[k], 2e12, 114);
    assert_memory_equal(&m, &trs_gpu_measured, sizeof m);
  }
}

TEST(a_device_without_facts_has_the_measured_constants) {
  const trs_gpu_costs m = trs_gpu_costs_of("another", 0, 0);
  assert_memory_equal(&m, &trs_gpu_measured, sizeof m);
}

static trs_gpu_costs half_the_bandwidth(void) {
  return trs_gpu_costs_of("another", trs_gpu_measured.memory_bandwidth / 2,
                          (int)trs_gpu_measured.multiprocessors);
}

static bool is_near(double a, double b) { return a > 0.999999 * b && a < 1.000001 * b; }

TEST(half_the_bandwidth_halves_rates_and_leaves_latencies) {
  const trs_gpu_costs m = half_the_bandwidth(), *full = &trs_gpu_measured;
  assert_true(is_near(m.waiting_bandwidth, full->waiting_bandwidth / 2));
  assert_true(is_near(m.settled_bandwidth, full->settled_bandwidth / 2));
  assert_true(is_near(m.hop_entries, full->hop_entries / 2));
  assert_true(m.hop == full->hop && m.launch == full->launch && m.slice == full->slice);
  assert_true(m.bus_bandwidth == full->bus_bandwidth && m.link_bandwidth == full->link_bandwidth);
}

TEST(half_the_multiprocessors_double_the_time_of_a_place) {
  const trs_gpu_costs *full = &trs_gpu_measured;
  const trs_gpu_costs m =
      trs_gpu_costs_of("another", full->memory_bandwidth, (int)full->multiprocessors / 2);
  assert_true(is_near(m.slice, 2 * full->slice) && is_near(m.place, 2 * full->place));
  assert_true(m.hop == full->hop && is_near(m.waiting_bandwidth, full->waiting_bandwidth));
}

enum { LEVELS = 20 };

/* Levels of so many slices of 32 rows with 16 entries per lane. */
static void make_levels(trs_slice_level *level, int32_t slices) {
  for (int k = 0; k < LEVELS; k++)
    level[k + 1] = (trs_slice_level){.entries = level[k].entries + 16 * 32 * slices,
                                     .slice = level[k].slice + slices,
                                     .chunk = level[k].chunk + (slices + 7) / 8,
                                     .position = level[k].position + 32 * slices};
}

static double seconds_by(const trs_gpu_costs *gpu, const trs_slice_level *level) {
  trs_launch_range *ranges;
  int32_t nranges;
  double seconds;
  const trs_range_rules rules = {
      .gpu = gpu, .most_rows = TRS_SHARED_X_ROWS(8), .clusters = true, .shares = 1};
  assert_success(trs_choose_launch_ranges(&ranges, &nranges, &seconds, level, LEVELS, &rules));
  trs_free(ranges);
  return seconds;
}

TEST(with_half_the_bandwidth_large_levels_take_longer_and_small_ones_do_not) {
  const trs_gpu_costs half = half_the_bandwidth();
  trs_slice_level large[LEVELS + 1] = {{0}}, small[LEVELS + 1] = {{0}};
  make_levels(large, 20000);
  make_levels(small, 1);
  assert_true(within(seconds_by(&half, large) / seconds_by(&trs_gpu_measured, large), 1.5, 2));
  assert_true(within(seconds_by(&half, small) / seconds_by(&trs_gpu_measured, small), 1, 1.01));
  assert_true(trs_least_substituted_seconds(large, LEVELS, &half) >
              trs_least_substituted_seconds(large, LEVELS, &trs_gpu_measured));
}

TEST(with_half_the_bandwidth_many_right_hand_sides_take_longer) {
  const trs_gpu_costs half = half_the_bandwidth();
  trs_slice_level level[LEVELS + 1] = {{0}};
  trs_rhs_rules rules = {
      .gpu = &half, .width = 64, .scalar_bytes = 8, .most_block = 1, .multiprocessors = 132};
  make_levels(level, 5000);
  const double seconds = trs_together_seconds(level, LEVELS, 0, &rules);
  rules.gpu = &trs_gpu_measured;
  assert_true(within(seconds / trs_together_seconds(level, LEVELS, 0, &rules), 1.5, 2));
}

TEST(with_half_the_bandwidth_rows_of_wide_levels_substitute_less) {
  const trs_gpu_costs half = half_the_bandwidth();
  trs_slice_level level[LEVELS + 1] = {{0}};
  trs_bands few, many;
  make_levels(level, 50);
  assert_success(trs_bands_create(&few, level, LEVELS, 3, &half));
  assert_success(trs_bands_create(&many, level, LEVELS, 3, &trs_gpu_measured));
  assert_true(few.most_entries < many.most_entries);
  trs_bands_destroy(&few);
  trs_bands_destroy(&many);
}
