/* machine.h - what a measurement was made on. */
#ifndef TRIREME_BENCH_MACHINE_H
#define TRIREME_BENCH_MACHINE_H

#include <stdbool.h>

typedef struct bench_machine {
  char cpu[96], os[128], compiler[64], commit[64], date[32], gpu[320];
  int cores;
  double load; /* programs that ran in the last minute, on average */
  bool dirty;
} bench_machine;

/* As things stood at the first call. */
const bench_machine *bench_machine_look(void);
/* A run on a GPU: what it is. */
void bench_machine_note_gpu(const char *gpu);
/* The most memory this process held since the last reset (where the system can reset), bytes. */
void bench_peak_reset(void);
double bench_peak_bytes(void);

#endif
