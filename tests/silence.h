/* silence.h - catches what calls print to the standard output and error. */
#ifndef TRS_TEST_SILENCE_H
#define TRS_TEST_SILENCE_H

#include <unistd.h>

#include "test.h"

typedef struct silence {
  FILE *log;
  int saved[2];
} silence;

static inline silence silence_begin(void) {
  silence s = {tmpfile(), {dup(1), dup(2)}};
  assert_non_null(s.log);
  fflush(stdout);
  dup2(fileno(s.log), 1);
  dup2(fileno(s.log), 2);
  return s;
}

/* Fails if anything was printed since. */
static inline void silence_end(silence s) {
  fflush(stdout);
  for (int k = 0; k < 2; k++) {
    dup2(s.saved[k], k + 1);
    close(s.saved[k]);
  }
  assert_int_equal(lseek(fileno(s.log), 0, SEEK_END), 0);
  fclose(s.log);
}

#endif
