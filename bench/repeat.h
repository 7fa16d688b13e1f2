/* repeat.h - the time of solves that only launch. */
#ifndef TRIREME_BENCH_REPEAT_H
#define TRIREME_BENCH_REPEAT_H

#include <stdbool.h>

#include "gpu_list.h"
#include "settings.h"
#include "trireme.h"

/* Launches a solve; false: a failure. */
typedef bool bench_launch(void *user);

/* The median over some rounds of a solve's time on the GPU; NAN: a failure. */
double bench_repeat(bench_launch *solve, void *user);

/* The same by the host's clock, from idle GPUs to idle GPUs, for solves on several.  Leaves the
 * first of them as the current one. */
double bench_repeat_on(const bench_gpu_list *gpus, bench_launch *solve, void *user);

/* A number from -1 to 1. */
double bench_noise(uint64_t *state);

/* A context of the GPU that the settings name, which becomes that of the benchmark's own calls.
 * Returns -1, or the exit code.  experiment: for messages. */
int bench_context_open(trs_context **ctx, const bench_settings *set, const char *experiment);

#endif
