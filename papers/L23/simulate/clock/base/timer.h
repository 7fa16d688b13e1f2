/* timer.h - seconds on the simulated clock: precedes base/timer.h in the include path of code
 * compiled for SMPI. */
#ifndef TRS_BASE_TIMER_H
#define TRS_BASE_TIMER_H

double trs_seconds(void);

#endif
