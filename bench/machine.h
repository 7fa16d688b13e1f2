/* machine.h - the machine and software of a measurement. */
#ifndef TRIREME_BENCH_MACHINE_H
#define TRIREME_BENCH_MACHINE_H

#include <stdbool.h>

typedef struct bench_machine {
  char cpu[96], os[128], compiler[64], commit[64], date[32], gpu[320];
  int cores;
  double load; /* average number of running programs in the last minute */
  bool dirty;
} bench_machine;

/* The state at the first call. */
const bench_machine *bench_machine_look(void);
/* Describes the GPU of a run. */
void bench_machine_note_gpu(const char *gpu);
/* The peak memory of this process since the last reset (if the system can reset), bytes. */
void bench_peak_reset(void);
double bench_peak_bytes(void);

#endif
