/* spread_stand_in.h - threads of the host in the place of spread.cu's blocks. */
#ifndef TRS_TEST_SPREAD_STAND_IN_H
#define TRS_TEST_SPREAD_STAND_IN_H

#include "solve/grid3d/spread.h"

extern double spread_limit; /* seconds of a wait */
extern int spread_drops;    /* every so many words are not told; 0: all are */

/* As in papers/L23/columns.h, also in builds without the papers. */
trs_status trs_l23_launch_columns(const trs_spread_args *args, trs_stream stream, trs_stream side);

#endif
