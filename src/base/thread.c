/* thread.c - a thread's own data by a key of POSIX threads, not by thread-local variables: in a
 * library that is loaded later (dlopen, Python), the first access to a thread-local variable
 * allocates, and the C library ends the process if that fails. */
#define _GNU_SOURCE
#include "base/thread.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool made;

/* Stand for a trs_thread for which there was no memory. */
static char noted[TRS_STATUS_LAST + 1];

static bool is_note(const void *kept) {
  return (const char *)kept >= noted && (const char *)kept < noted + sizeof noted;
}

static void drop(void *kept) {
  if (!is_note(kept)) free(kept);
}

static void make_key(void) { atomic_store(&made, !pthread_key_create(&key, drop)); }

static void *kept(void) {
  pthread_once(&once, make_key);
  return atomic_load(&made) ? pthread_getspecific(key) : NULL;
}

/* If the library is unloaded, threads that end later must not call drop. */
__attribute__((destructor)) static void delete_key(void) {
  if (!atomic_load(&made)) return;
  void *own = pthread_getspecific(key);
  (void)pthread_setspecific(key, NULL);
  drop(own);
  atomic_store(&made, false);
  (void)pthread_key_delete(key);
}

trs_thread *trs_thread_look(void) {
  void *own = kept();
  return is_note(own) ? NULL : own;
}

trs_thread *trs_thread_own(void) {
  trs_thread *own = trs_thread_look();
  if (own || !atomic_load(&made)) return own;
  own = calloc(1, sizeof *own);
  if (own) own->last.row = -1;
  if (own && pthread_setspecific(key, own)) {
    free(own);
    own = NULL;
  }
  return own;
}

void trs_thread_note(trs_status status) {
  if (atomic_load(&made)) (void)pthread_setspecific(key, &noted[status]);
}

trs_status trs_thread_noted(void) {
  void *own = kept();
  return own && is_note(own) ? (trs_status)((char *)own - noted) : TRS_SUCCESS;
}

void trs_signals_block(sigset_t *before) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
  sigset_t all;
  sigfillset(&all);
  for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) sigdelset(&all, faults[k]);
  (void)pthread_sigmask(SIG_BLOCK, &all, before);
}

void trs_signals_restore(const sigset_t *before) {
  (void)pthread_sigmask(SIG_SETMASK, before, NULL);
}

int trs_thread_start(pthread_t *thread, void *(*body)(void *), void *argument) {
  sigset_t before;
  trs_signals_block(&before);
  int error = pthread_create(thread, NULL, body, argument);
  trs_signals_restore(&before);
  return error;
}
