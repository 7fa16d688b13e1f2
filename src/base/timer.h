/* timer.h - seconds of a monotonic clock. */
#ifndef TRS_BASE_TIMER_H
#define TRS_BASE_TIMER_H

#include <time.h>

static inline double trs_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
