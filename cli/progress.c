/* progress.c - the progress bar: hidden during the first second, then drawn at most ten times a
 * second. */
#include "progress.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "output.h"

static struct {
  double started, drawn;
  bool visible;
} bar;

double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void draw(const char *phase, double done) {
  enum { CELLS = 30 };
  char cells[3 * CELLS + 1] = "";
  int full = (int)(done * CELLS + 0.5);
  const char *on = output_unicode() ? "█" : "#", *off = output_unicode() ? "░" : ".";
  for (int i = 0; i < CELLS; i++) strcat(cells, i < full ? on : off);
  if (done > 0)
    fprintf(stderr, "\r%-20.20s %s %3.0f%%\033[K", phase ? phase : "", cells, 100 * done);
  else /* the share may be unknown: the phase alone moves */
    fprintf(stderr, "\r%.40s\033[K", phase ? phase : "");
  fflush(stderr);
}

void progress_show(void *user, const char *phase, double done) {
  (void)user;
  double now = seconds_now();
  if (!output_draws() || now - bar.started < 1 || now - bar.drawn < 0.1) return;
  bar.drawn = now;
  bar.visible = true;
  draw(phase, done < 0 ? 0 : done > 1 ? 1 : done);
}

/* ---- A clock for operations that cannot tell. ---- */

static struct {
  const char *phase;
  bool runs, ends;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t ended;
} ticker = {.lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};

static void *tick(void *unused) {
  (void)unused;
  pthread_mutex_lock(&ticker.lock);
  while (!ticker.ends) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    pthread_cond_timedwait(&ticker.ended, &ticker.lock, &until);
    char text[64];
    snprintf(text, sizeof text, "%s, %.0f s", ticker.phase, seconds_now() - bar.started);
    if (!ticker.ends) progress_show(NULL, text, 0);
  }
  pthread_mutex_unlock(&ticker.lock);
  return NULL;
}

/* The thread gets no signal: the command's handlers run where they always do. */
void progress_begin_clock(const char *phase) {
  progress_begin();
  if (!output_draws()) return;
  sigset_t all, before;
  sigfillset(&all);
  ticker.phase = phase;
  ticker.ends = false;
  pthread_sigmask(SIG_SETMASK, &all, &before);
  ticker.runs = !pthread_create(&ticker.thread, NULL, tick, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void end_clock(void) {
  if (!ticker.runs) return;
  pthread_mutex_lock(&ticker.lock);
  ticker.ends = true;
  pthread_cond_signal(&ticker.ended);
  pthread_mutex_unlock(&ticker.lock);
  pthread_join(ticker.thread, NULL);
  ticker.runs = false;
}

void progress_begin(void) {
  progress_end();
  bar.started = seconds_now();
}

void progress_end(void) {
  end_clock();
  if (bar.visible) fprintf(stderr, "\r\033[K");
  bar.visible = false;
}
