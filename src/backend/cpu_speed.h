/* cpu_speed.h - the rates of this machine that the reference time of a solve is made of. */
#ifndef TRS_BACKEND_CPU_SPEED_H
#define TRS_BACKEND_CPU_SPEED_H

#include "base/team.h"

/* Bytes per second that size members read from a working set of so many bytes (some 10 ms). */
trs_status trs_measure_bandwidth(double *bandwidth, trs_team *team, int size, int64_t bytes);

/* Seconds from one x to the next that depends on it, at best, on one core: load, multiply,
 * subtract, scale, store. */
double trs_measure_hop(void);

#endif
