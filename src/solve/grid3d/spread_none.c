/* spread_none.c - stubs for builds without CUDA, never called because no GPU can be opened. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#include "solve/grid3d/spread.h"

static trs_status none(void) {
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "this build has no CUDA");
}

trs_status trs_spread_launch(const trs_spread_args *args, trs_stream stream) { return none(); }

trs_status trs_spread_move(const trs_spread_rows *rows, trs_stream stream) { return none(); }
