/* stream.c - by fopencookie of Linux's C libraries, or funopen of macOS's. */
#define _GNU_SOURCE /* fopencookie */
#include "stream.h"

#ifdef __APPLE__
#include <stdlib.h>

typedef struct writer {
  void *cookie;
  ssize_t (*write)(void *cookie, const char *bytes, size_t count);
} writer;

static int write_on(void *made, const char *bytes, int count) {
  const writer *w = made;
  return (int)w->write(w->cookie, bytes, (size_t)count);
}

static int drop(void *made) {
  free(made);
  return 0;
}

FILE *stream_open(void *cookie, ssize_t (*write)(void *cookie, const char *bytes, size_t count)) {
  writer *w = malloc(sizeof *w);
  if (!w) return NULL;
  *w = (writer){.cookie = cookie, .write = write};
  FILE *stream = funopen(w, NULL, write_on, NULL, drop);
  if (!stream) free(w);
  return stream;
}
#else
FILE *stream_open(void *cookie, ssize_t (*write)(void *cookie, const char *bytes, size_t count)) {
  return fopencookie(cookie, "w", (cookie_io_functions_t){.write = write});
}
#endif
