/* gpu_list.h - the GPUs of a run on several. */
#ifndef TRIREME_BENCH_GPU_LIST_H
#define TRIREME_BENCH_GPU_LIST_H

#include "trireme.h"

enum { BENCH_MOST_GPUS = 16 };

/* Numbered as CUDA does. */
typedef struct bench_gpu_list {
  int number[BENCH_MOST_GPUS], count;
} bench_gpu_list;

/* The GPUs of --backend; NULL: all.  These functions return -1, or the exit code. */
int bench_gpu_list_find(bench_gpu_list *gpus, const char *backend);
/* A context of the first count GPUs; with one, not a group. */
int bench_gpu_list_open(const bench_gpu_list *gpus, int count, trs_context **ctx);
int bench_gpu_list_distinct(const bench_gpu_list *gpus);

#endif
