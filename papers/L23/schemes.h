/* schemes.h - which grids take part in a step from the leaves of the tree to the root, or back. */
#ifndef TRS_PAPERS_L23_SCHEMES_H
#define TRS_PAPERS_L23_SCHEMES_H

#include <stdbool.h>

/* In step k the upper grid of a pair (lowest set bit k) sends to the lower grid; grids above which
 * a lower bit is set take no part. */
bool trs_crosses(int z, int step);
bool trs_is_upper_grid(int z, int step);

#endif
