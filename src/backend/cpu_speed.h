/* cpu_speed.h - the rates of this machine from which the reference time of a solve is computed. */
#ifndef TRS_BACKEND_CPU_SPEED_H
#define TRS_BACKEND_CPU_SPEED_H

#include "base/team.h"

/* Bytes per second that size members read from a working set of the given bytes (the measurement
 * takes some 10 ms). */
trs_status trs_measure_bandwidth(double *bandwidth, trs_team *team, int size, int64_t bytes);

/* Shortest time in seconds from one x to the next x that depends on it, on one core: load,
 * multiply, subtract, scale, store. */
double trs_measure_hop(void);

#endif
