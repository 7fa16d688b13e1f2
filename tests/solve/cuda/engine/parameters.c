/* parameters.c - the engine's parameters: new names are read, old names mean the same and warn. */
#include "solve/cuda/engine/parameters.h"

#include "solve/cuda/engine/choice.h"
#include "test.h"

static trs_status read(trs_engine_parameters *p, const char *text) {
  static const trs_method method = {.name = "engine", .parameters = true};
  const trs_plan plan = {.method = &method, .parameters = text};
  return trs_engine_parameters_read(p, &plan);
}

static bool same(const trs_engine_parameters *a, const trs_engine_parameters *b) {
  return a->block == b->block && a->dense == b->dense && a->early_poll == b->early_poll &&
         a->small_level_rows == b->small_level_rows && a->double_buffer == b->double_buffer &&
         a->ranges == b->ranges && a->rhs == b->rhs;
}

TEST(new_names_are_read) {
  trs_engine_parameters p;
  assert_success(read(&p, NULL));
  assert_true(p.block == -1 && p.dense == -1 && p.early_poll == -1 && p.small_level_rows == -1);
  assert_true(p.double_buffer == -1 && p.ranges == TRS_RANGES_AUTO && p.rhs == TRS_RHS_AUTO);
  assert_success(read(&p,
                      "block=2,dense=yes,early-poll=0,small-level-rows=9,double-buffer=no,"
                      "launch-ranges=single-block,rhs=many-rhs"));
  assert_true(p.block == 2 && p.dense == 1 && p.early_poll == 0 && p.small_level_rows == 9);
  assert_true(p.double_buffer == 0 && p.ranges == TRS_RANGES_SINGLE_BLOCK && p.rhs == TRS_RHS_MANY);
  assert_string_equal(p.warning, "");
  assert_success(read(&p, "launch-ranges=warp-per-slice,rhs=batched,"));
  assert_true(p.ranges == TRS_RANGES_WARP_SLICE && p.rhs == TRS_RHS_BATCHED);
}

TEST(old_names_mean_the_same_and_warn) {
  static const struct {
    const char *old, *now, *warning;
  } cases[] = {
      {"regions=auto", "launch-ranges=auto", "\"regions=auto\" is now \"launch-ranges=auto\""},
      {"regions=wide", "launch-ranges=warp-per-slice", "\"launch-ranges=warp-per-slice\""},
      {"regions=narrow", "launch-ranges=single-block", "\"launch-ranges=single-block\""},
      {"rhs=beside", "rhs=batched", "\"rhs=beside\" is now \"rhs=batched\""},
      {"rhs=tile", "rhs=many-rhs", "\"rhs=many-rhs\""},
      {"halves=1", "double-buffer=no", "\"double-buffer=no\""},
      {"halves=2", "double-buffer=yes", "\"double-buffer=yes\""},
      {"watch=5", "early-poll=5", "warning: \"watch=\" is now \"early-poll=\""},
      {"narrow-rows=77", "small-level-rows=77", "\"small-level-rows=\""},
      {"block=3,regions=wide,halves=1,watch=2,dense=no,",
       "block=3,launch-ranges=warp-per-slice,double-buffer=no,early-poll=2,dense=no,",
       "\"halves=1\" is now \"double-buffer=no\""}};
  for (size_t k = 0; k < COUNT(cases); k++) {
    trs_engine_parameters old, now;
    assert_success(read(&old, cases[k].old));
    assert_success(read(&now, cases[k].now));
    if (!same(&old, &now)) fail_msg("\"%s\" is not \"%s\"", cases[k].old, cases[k].now);
    if (!strstr(old.warning, cases[k].warning))
      fail_msg("\"%s\" lacks \"%s\"", old.warning, cases[k].warning);
    assert_string_equal(now.warning, "");
  }
}

TEST(many_old_names_end_the_warning_early) {
  trs_engine_parameters p;
  assert_success(
      read(&p, "regions=wide,regions=wide,regions=wide,regions=wide,regions=wide,rhs=tile"));
  assert_int_equal(strlen(p.warning), sizeof p.warning - 1);
  assert_int_equal(p.rhs, TRS_RHS_MANY);
}

TEST(others_are_refused) {
  static const struct {
    const char *text, *words;
  } wrong[] = {
      {"regions=all",
       "method engine has no parameter \"regions\": it has block, dense, "
       "early-poll, small-level-rows, double-buffer, work-shift, substitute, launch-ranges, rhs"},
      {"halves=3", "no parameter \"halves\""},
      {"halves", "no parameter \"halves\""},
      {"lane-length=4", "no parameter \"lane-length\""},
      {"watch=65", "early-poll=65: it takes a number from 0 to 64"},
      {"rhs=tiles", "rhs=tiles: it takes auto, batched, many-rhs, row-groups"},
      {"launch-ranges=wide", "it takes auto, warp-per-slice, single-block, cluster"}};
  trs_engine_parameters p;
  for (size_t k = 0; k < COUNT(wrong); k++)
    assert_failure(TRS_ERROR_ARGUMENT, wrong[k].words, read(&p, wrong[k].text));
}

TEST(memory_can_be_short) {
  trs_engine_parameters p;
  trs_memory_fail_after(0);
  const trs_status status = read(&p, "regions=wide");
  trs_memory_fail_after(-1);
  assert_int_equal(status, TRS_ERROR_MEMORY);
}
