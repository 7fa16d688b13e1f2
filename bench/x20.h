/* x20.h - the parts of bench x20. */
#ifndef TRIREME_BENCH_X20_H
#define TRIREME_BENCH_X20_H

typedef enum bench_x20_part {
  BENCH_X20_UNIFIED, /* managed memory by the number of GPUs */
  BENCH_X20_DESIGNS,
  BENCH_X20_TASKS,   /* tasks per GPU */
  BENCH_X20_SCALING, /* by the number of GPUs, as many tasks in all */
  BENCH_X20_PARTS
} bench_x20_part;

/* The suite that rows of a part name; their number of GPUs stands as threads. */
extern const char *const bench_x20_suites[BENCH_X20_PARTS];

#endif
