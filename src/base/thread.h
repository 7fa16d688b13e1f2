/* thread.h - what the library keeps for each thread, the start of its own threads, and the signals
 * of the program. */
#ifndef TRS_BASE_THREAD_H
#define TRS_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>

#include "base/status.h"

struct trs_memory_limit;

typedef struct trs_thread {
  trs_failure last; /* for trs_last_error */
  trs_error shown;  /* what trs_last_error has returned */
  struct trs_memory_limit *limit;
  const int *cancel; /* cancel.h; NULL: no flag */
  double busy_until; /* wait.c */
} trs_thread;

/* The calling thread's.  NULL if there is no memory for it. */
trs_thread *trs_thread_own(void);
/* As trs_thread_own, but NULL if the thread has none yet.  Allocates nothing. */
trs_thread *trs_thread_look(void);

/* What trs_last_error gives of a failure in a thread without memory for a trs_thread. */
void trs_thread_note(trs_status status);
trs_status trs_thread_noted(void);

/* As pthread_create.  The new thread blocks all signals, which are the program's, except those that
 * report a fault of the thread itself. */
TRS_API int trs_thread_start(pthread_t *thread, void *(*body)(void *), void *argument);

/* Blocks these signals in the calling thread, for calls of libraries that start threads, which
 * inherit the mask. */
TRS_API void trs_signals_block(sigset_t *before);
TRS_API void trs_signals_restore(const sigset_t *before);

#endif
