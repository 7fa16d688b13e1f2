/* gpu_system.h - a system in device memory. */
#ifndef TRIREME_BENCH_GPU_SYSTEM_H
#define TRIREME_BENCH_GPU_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

#include "settings.h"
#include "system.h"
#include "trireme.h"

typedef struct bench_gpu {
  const bench_system *system;
  trs_scalar scalar;
  size_t size; /* bytes of one value */
  int64_t n, nnz, nrhs;
  bool row_major;
  trs_matrix *converted;  /* the host's matrix if its type had to change, or NULL */
  const trs_matrix *host; /* the matrix that checks use */
  trs_matrix *T;          /* over the device arrays; NULL: only the peer runs */
  void *ptr, *idx, *val;  /* device memory */
  trs_matrix *columns;    /* the same system as CSC over the next three; NULL: not asked for */
  void *column_ptr, *column_idx, *column_val;
  void *short_ptr;      /* 32-bit row pointers for cuSPARSE; NULL: too many entries */
  void *b, *x;          /* device memory, n x nrhs */
  double create, bound; /* seconds */
  trs_plan_info info;   /* levels, from a plan on the host */
} bench_gpu;

/* Uploads a system.  ctx NULL: without a matrix of the library.  Returns -1, or the exit code. */
int bench_gpu_open(bench_gpu *gpu, trs_context *ctx, const bench_system *system,
                   const bench_settings *set);
/* Uploads the system by columns too. */
int bench_gpu_add_columns(bench_gpu *gpu, trs_context *ctx);
void bench_gpu_close(bench_gpu *gpu);
/* Random right-hand sides, and memory for the solutions. */
int bench_gpu_rhs(bench_gpu *gpu, int64_t nrhs);
/* The number of checked columns of an answer; and those columns of b or x, packed. */
int64_t bench_gpu_checked(const bench_gpu *gpu);
bool bench_gpu_columns(const bench_gpu *gpu, const void *device, void *host);

#endif
