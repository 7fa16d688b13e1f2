/* columns_none.c - the stub of columns.cu for builds without CUDA, never called because no GPU can
 * be opened. */
#include "L23/columns.h"

trs_status trs_l23_launch_columns(const trs_spread_args *args, trs_stream stream, trs_stream side) {
  (void)args, (void)stream, (void)side;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "this build has no CUDA");
}
