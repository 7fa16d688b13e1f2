/* progress.c - the progress bar: hidden during the first second, then drawn at most ten times a
 * second, from the second second on with the seconds.  A clock draws it once a second where the
 * library counts nothing, as in a factorisation by a worker. */
#include "progress.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "output.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
  double started, drawn, done;
  bool active, visible;
  char phase[64];
} bar;

double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void draw(double now) {
  enum { CELLS = 30 };
  char cells[3 * CELLS + 1] = "", seconds[32] = "";
  int full = (int)(bar.done * CELLS + 0.5);
  const char *on = output_unicode() ? "█" : "#", *off = output_unicode() ? "░" : ".";
  for (int i = 0; i < CELLS; i++) strcat(cells, i < full ? on : off);
  if (now - bar.started >= 2) snprintf(seconds, sizeof seconds, "  %.0f s", now - bar.started);
  bar.drawn = now;
  bar.visible = true;
  fprintf(stderr, "\r%-20.20s %s %3.0f%%%s\033[K", bar.phase, cells, 100 * bar.done, seconds);
  fflush(stderr);
}

static void *tick(void *none) {
  const struct timespec pause = {.tv_nsec = 250000000};
  for (;;) {
    nanosleep(&pause, NULL);
    pthread_mutex_lock(&lock);
    double now = seconds_now();
    if (bar.active && now - bar.started >= 1 && now - bar.drawn >= 1) draw(now);
    pthread_mutex_unlock(&lock);
  }
  return none;
}

/* Without a clock the bar is drawn where the library counts. */
static void start_clock(void) {
  pthread_t clock;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  if (!pthread_create(&clock, NULL, tick, NULL)) pthread_detach(clock);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void progress_show(void *user, const char *phase, double done) {
  (void)user;
  if (!output_draws()) return;
  pthread_mutex_lock(&lock);
  double now = seconds_now();
  snprintf(bar.phase, sizeof bar.phase, "%s", phase ? phase : "");
  bar.done = done < 0 ? 0 : done > 1 ? 1 : done;
  if (now - bar.started >= 1 && now - bar.drawn >= 0.1) draw(now);
  pthread_mutex_unlock(&lock);
}

void progress_begin(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  progress_end();
  if (!output_draws()) return;
  pthread_once(&once, start_clock);
  pthread_mutex_lock(&lock);
  bar.started = seconds_now();
  bar.done = 0;
  bar.phase[0] = '\0';
  bar.active = true;
  pthread_mutex_unlock(&lock);
}

void progress_end(void) {
  pthread_mutex_lock(&lock);
  if (bar.visible) fprintf(stderr, "\r\033[K");
  bar.active = bar.visible = false;
  pthread_mutex_unlock(&lock);
}
