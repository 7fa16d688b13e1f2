/* columns.h - the kernels of L23's Algorithm 5.  C and CUDA C++. */
#ifndef TRS_PAPERS_L23_COLUMNS_H
#define TRS_PAPERS_L23_COLUMNS_H

#include "solve/grid3d/spread.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Launches and does not wait.  WAIT, in `side`, a stream that does not wait for others, runs beside
 * SOLVE in `stream`. */
trs_status trs_l23_launch_columns(const trs_spread_args *args, trs_stream stream, trs_stream side);

#ifdef __cplusplus
}
#endif
#endif
