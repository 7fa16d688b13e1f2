/* copy.h - bandwidth of a copy, counted as one read and one write, in GB/s; NAN after a failure. */
#ifndef TRIREME_BENCH_COPY_H
#define TRIREME_BENCH_COPY_H

double bench_copy_cpu(int threads);
double bench_copy_gpu(void); /* the current GPU */

#endif
