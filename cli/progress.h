/* progress.h - a bar on standard error for what takes longer than a second, on terminals only. */
#ifndef TRIREME_CLI_PROGRESS_H
#define TRIREME_CLI_PROGRESS_H

/* A trs_progress: draws phase and share done.  user is not used. */
void progress_show(void *user, const char *phase, double done);

/* Starts the clock of a new operation, and wipes the bar of the last. */
void progress_begin(void);
void progress_end(void);

double seconds_now(void);

#endif
