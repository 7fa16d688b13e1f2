/* progress.h - a progress bar on standard error for operations longer than a second, on terminals
 * only. */
#ifndef TRIREME_CLI_PROGRESS_H
#define TRIREME_CLI_PROGRESS_H

/* A trs_progress: draws the phase and the fraction done.  user is not used. */
void progress_show(void *user, const char *phase, double done);

/* _begin starts the clock of a new operation and removes the last bar. */
void progress_begin(void);
/* Begins an operation that cannot tell how far it is: the phase and its seconds are drawn. */
void progress_begin_clock(const char *phase);
void progress_end(void);

double seconds_now(void);

#endif
