/* gpu_list.h - which GPUs a run of several has. */
#ifndef TRIREME_BENCH_GPU_LIST_H
#define TRIREME_BENCH_GPU_LIST_H

#include "trireme.h"

enum { BENCH_MOST_GPUS = 8 };

/* As CUDA numbers them. */
typedef struct bench_gpu_list {
  int number[BENCH_MOST_GPUS], count;
} bench_gpu_list;

/* What --backend lists; NULL: all that there are.  They return -1, or how to leave. */
int bench_gpu_list_find(bench_gpu_list *gpus, const char *backend);
/* A context of the first count of them; of one it is no group. */
int bench_gpu_list_open(const bench_gpu_list *gpus, int count, trs_context **ctx);
int bench_gpu_list_distinct(const bench_gpu_list *gpus);

#endif
