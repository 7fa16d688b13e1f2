/* parameters.c - the engine's parameters: what is read, and what is refused. */
#include "solve/cuda/engine/parameters.h"

#include "solve/cuda/engine/choice.h"
#include "test.h"

static trs_status read(trs_engine_parameters *p, const char *text) {
  static const trs_method method = {.name = "engine", .parameters = true};
  const trs_plan plan = {.method = &method, .parameters = text};
  return trs_engine_parameters_read(p, &plan);
}

TEST(all_are_read) {
  trs_engine_parameters p;
  assert_success(read(&p, NULL));
  assert_true(p.block == -1 && p.dense == -1 && p.early_poll == -1 && p.small_level_rows == -1);
  assert_true(p.double_buffer == -1 && p.ranges == TRS_RANGES_AUTO && p.rhs == TRS_RHS_AUTO);
  assert_true(p.boxes == -1);
  assert_success(read(&p,
                      "block=2,dense=yes,early-poll=0,small-level-rows=9,double-buffer=no,"
                      "launch-ranges=single-block,rhs=many-rhs"));
  assert_true(p.block == 2 && p.dense == 1 && p.early_poll == 0 && p.small_level_rows == 9);
  assert_true(p.double_buffer == 0 && p.ranges == TRS_RANGES_SINGLE_BLOCK && p.rhs == TRS_RHS_MANY);
  assert_success(read(&p, "launch-ranges=warp-per-slice,rhs=batched,boxes=yes,"));
  assert_true(p.ranges == TRS_RANGES_WARP_SLICE && p.rhs == TRS_RHS_BATCHED);
  assert_int_equal(p.boxes, 1);
}

TEST(others_are_refused) {
  static const struct {
    const char *text, *words;
  } wrong[] = {{"regions=all",
                "method engine has no parameter \"regions\": it has block, dense, "
                "early-poll, small-level-rows, double-buffer, work-shift, substitute, boxes, "
                "launch-ranges, rhs"},
               {"lane-length=4", "no parameter \"lane-length\""},
               {"early-poll=65", "early-poll=65: it takes a number from 0 to 64"},
               {"rhs=tiles", "rhs=tiles: it takes auto, batched, many-rhs, row-groups"},
               {"launch-ranges=wide", "it takes auto, warp-per-slice, single-block, cluster"}};
  trs_engine_parameters p;
  for (size_t k = 0; k < COUNT(wrong); k++)
    assert_failure(TRS_ERROR_ARGUMENT, wrong[k].words, read(&p, wrong[k].text));
}
