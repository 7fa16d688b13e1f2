/* teller.h - tells a caller how long work goes on, also while the work is inside another library
 * and cannot say. */
#ifndef TRS_BASE_TELLER_H
#define TRS_BASE_TELLER_H

#include "base/status.h"

typedef struct trs_teller trs_teller;

/* Calls work(argument, teller) and returns its status.  If progress is not NULL, work runs in a
 * thread of its own, and the calling thread calls progress: with what work tells, and twice a
 * second, from the first second of a phase that is not done, with "PHASE, 12 s" and the share that
 * was last told.  If no thread can be started, progress hears what work tells and no more. */
trs_status trs_tell(trs_progress progress, void *user,
                    trs_status (*work)(void *argument, trs_teller *teller), void *argument);

/* Tells the caller of a phase, a text that lasts. */
void trs_teller_phase(trs_teller *teller, const char *phase, double done);

#endif
