/* timer.h - seconds on the simulated clock: stands before base/timer.h on the path of headers of
 * what is compiled for SMPI. */
#ifndef TRS_BASE_TIMER_H
#define TRS_BASE_TIMER_H

double trs_seconds(void);

#endif
