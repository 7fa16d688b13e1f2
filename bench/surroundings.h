/* surroundings.h - what runs beside a measurement: programs that take processors from it, and
 * limits of the processors that it may use. */
#ifndef TRIREME_BENCH_SURROUNDINGS_H
#define TRIREME_BENCH_SURROUNDINGS_H

#include <stdint.h>

typedef struct bench_surrounding {
  const char *name, *text;
} bench_surrounding;

/* The last one has no name. */
extern const bench_surrounding bench_surroundings[];

/* Begins number k: NULL, or why this machine cannot have it.  processors: of the measurement. */
const char *bench_surrounding_begin(int k, int processors);
void bench_surrounding_end(void);

/* What the kernel counted so far: seconds that the host took from all processors, and how often the
 * threads of this process lost theirs. */
typedef struct bench_losses {
  double stolen;
  int64_t switches;
} bench_losses;

bench_losses bench_losses_now(void);

#endif
