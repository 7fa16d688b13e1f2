/* spread_stand_in.h - threads of the host in the place of spread.cu's blocks. */
#ifndef TRS_TEST_SPREAD_STAND_IN_H
#define TRS_TEST_SPREAD_STAND_IN_H

#include "solve/grid3d/spread.h"

extern double spread_limit; /* seconds of a wait */
extern int spread_drops;    /* every so many words are not told; 0: all are */

#endif
