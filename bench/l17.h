/* l17.h - the parts of bench l17. */
#ifndef TRIREME_BENCH_L17_H
#define TRIREME_BENCH_L17_H

typedef enum bench_l17_part {
  BENCH_L17_RATES,      /* SpTRSV by block size, scratchpad on and off */
  BENCH_L17_STRATEGIES, /* SpTRSM by right-hand sides */
  BENCH_L17_P,          /* the sweep over p */
  BENCH_L17_PARTS
} bench_l17_part;

/* The suite that rows of a part name. */
extern const char *const bench_l17_suites[BENCH_L17_PARTS];
/* The k-th method of a part, NULL behind the last. */
const char *bench_l17_method(bench_l17_part part, int k);

#endif
