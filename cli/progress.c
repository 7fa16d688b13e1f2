/* progress.c - the progress bar: hidden during the first second, then drawn at most ten times a
 * second. */
#include "progress.h"

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

void progress_begin(void) {
  progress_end();
  bar.started = seconds_now();
}

void progress_end(void) {
  if (bar.visible) fprintf(stderr, "\r\033[K");
  bar.visible = false;
}
