/* teller.c - one thread works and hands over what it tells, the calling thread calls back. */
#include "base/teller.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cancel.h"
#include "base/thread.h"

enum { TICK_MS = 500 };

typedef struct told {
  const char *phase; /* NULL: nothing */
  double done;
} told;

struct trs_teller {
  trs_progress progress;
  void *user;
  trs_status (*work)(void *argument, trs_teller *teller);
  void *argument;
  const int *cancel;    /* the calling thread's flag */
  bool apart;           /* work runs in a thread of its own */
  pthread_mutex_t lock; /* guards the rest */
  pthread_cond_t told, taken;
  told next; /* which the calling thread has not taken yet */
  bool finished;
  trs_status status;
  trs_failure failure;
};

/* The clock of waits with a limit: macOS has none but that of the time of day. */
#ifdef __APPLE__
static const clockid_t TICKS = CLOCK_REALTIME;
static void wait_by_ticks(pthread_condattr_t *how) { (void)how; }
#else
static const clockid_t TICKS = CLOCK_MONOTONIC;
static void wait_by_ticks(pthread_condattr_t *how) { (void)pthread_condattr_setclock(how, TICKS); }
#endif

static struct timespec now(void) {
  struct timespec t;
  clock_gettime(TICKS, &t);
  return t;
}

static struct timespec in_a_tick(void) {
  struct timespec t = now();
  t.tv_nsec += TICK_MS * 1000000L;
  t.tv_sec += t.tv_nsec / 1000000000;
  t.tv_nsec %= 1000000000;
  return t;
}

/* ---- The thread that works. ---- */

void trs_teller_phase(trs_teller *t, const char *phase, double done) {
  if (!t->progress) return;
  if (!t->apart) {
    t->progress(t->user, phase, done);
    return;
  }
  pthread_mutex_lock(&t->lock);
  while (t->next.phase) pthread_cond_wait(&t->taken, &t->lock);
  t->next = (told){phase, done};
  pthread_cond_signal(&t->told);
  pthread_mutex_unlock(&t->lock);
}

static void *work_apart(void *teller) {
  trs_teller *t = teller;
  (void)trs_cancel_defer();
  trs_status status = trs_set_cancel_flag(t->cancel);
  if (!status) status = t->work(t->argument, t);
  if (status) trs_failure_get(&t->failure);
  pthread_mutex_lock(&t->lock);
  t->status = status;
  t->finished = true;
  pthread_cond_signal(&t->told);
  pthread_mutex_unlock(&t->lock);
  return NULL;
}

/* ---- The calling thread. ---- */

static void tell_time(const trs_teller *t, told last, struct timespec begin) {
  char text[64];
  const struct timespec end = now();
  const long seconds = (long)(end.tv_sec - begin.tv_sec) - (end.tv_nsec < begin.tv_nsec);
  if (!last.phase || last.done >= 1 || seconds < 1) return;
  snprintf(text, sizeof text, "%.40s, %ld s", last.phase, seconds);
  t->progress(t->user, text, last.done);
}

/* Until work has finished and all that it told has been passed on.  Holds the lock, except in calls
 * of progress. */
static void listen(trs_teller *t) {
  told last = {0};
  struct timespec begin = now(), tick = in_a_tick();
  while (!t->finished || t->next.phase) {
    int waited = 0;
    if (!t->next.phase) waited = pthread_cond_timedwait(&t->told, &t->lock, &tick);
    const bool news = t->next.phase;
    if (!news && waited != ETIMEDOUT) continue;
    if (news) {
      if (!last.phase || strcmp(last.phase, t->next.phase)) begin = now();
      last = t->next;
      t->next.phase = NULL;
      pthread_cond_signal(&t->taken);
    }
    pthread_mutex_unlock(&t->lock);
    if (news)
      t->progress(t->user, last.phase, last.done);
    else
      tell_time(t, last, begin);
    tick = in_a_tick();
    pthread_mutex_lock(&t->lock);
  }
}

static trs_status tell_apart(trs_teller *t, pthread_t thread) {
  pthread_mutex_lock(&t->lock);
  listen(t);
  pthread_mutex_unlock(&t->lock);
  pthread_join(thread, NULL);
  if (t->status) (void)trs_failure_set(&t->failure);
  return t->status;
}

static void make_locks(trs_teller *t) {
  pthread_condattr_t by_ticks;
  pthread_condattr_init(&by_ticks);
  wait_by_ticks(&by_ticks);
  pthread_mutex_init(&t->lock, NULL);
  pthread_cond_init(&t->told, &by_ticks);
  pthread_cond_init(&t->taken, NULL);
  pthread_condattr_destroy(&by_ticks);
}

static void destroy_locks(trs_teller *t) {
  pthread_cond_destroy(&t->taken);
  pthread_cond_destroy(&t->told);
  pthread_mutex_destroy(&t->lock);
}

trs_status trs_tell(trs_progress progress, void *user,
                    trs_status (*work)(void *argument, trs_teller *teller), void *argument) {
  trs_teller t = {.progress = progress,
                  .user = user,
                  .work = work,
                  .argument = argument,
                  .cancel = trs_cancel_flag()};
  pthread_t thread;
  if (!progress) return work(argument, &t);
  const int cancel = trs_cancel_defer(); /* the thread uses this one's stack */
  make_locks(&t);
  t.apart = true;
  trs_status status;
  if (trs_thread_start(&thread, work_apart, &t)) {
    t.apart = false;
    status = work(argument, &t);
  } else {
    status = tell_apart(&t, thread);
  }
  destroy_locks(&t);
  trs_cancel_restore(cancel);
  return status;
}
