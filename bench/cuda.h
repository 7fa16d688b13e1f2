/* cuda.h - device memory and time, through the CUDA runtime. */
#ifndef TRIREME_BENCH_CUDA_H
#define TRIREME_BENCH_CUDA_H

#include <stdbool.h>
#include <stddef.h>

/* Makes a GPU the current one and records its description; returns -1, or the exit code.  The other
 * functions return false after a failure; bench_cuda_error explains it. */
int bench_cuda_open(int device);
bool bench_cuda_use(int device);     /* switches to another GPU */
const char *bench_cuda_device(void); /* its name and the versions */
const char *bench_cuda_error(void);  /* the failure since the last call; NULL: none */
/* For its other functions, once it is open: their addresses, and a status of one: true if it is 0,
 * else bench_cuda_error explains it. */
bool bench_cuda_find(void *function, const char *name);
bool bench_cuda_good(int error);
bool bench_cuda_alloc(void *pointer, size_t bytes); /* pointer: address of a pointer */
/* BENCH_CUDA_FREE(a, b): frees each; NULL is fine. */
#define BENCH_CUDA_FREE(...)                    \
  bench_cuda_free((void *const[]){__VA_ARGS__}, \
                  sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))
void bench_cuda_free(void *const *pointers, size_t count);
bool bench_cuda_put(void *device, const void *host, size_t bytes);
bool bench_cuda_get(void *host, const void *device, size_t bytes);
bool bench_cuda_move(void *to, const void *from, size_t bytes);
bool bench_cuda_move_later(void *to, const void *from, size_t bytes); /* in stream order */
bool bench_cuda_fill(void *device, int byte, size_t bytes);
bool bench_cuda_wait(void);
/* Seconds that the default stream takes between start and stop; negative: a failure. */
bool bench_cuda_start(void);
double bench_cuda_stop(void);
/* Device memory with a copy of a host array; device: address of a pointer. */
bool bench_cuda_upload(void *device, const void *host, size_t bytes);

#endif
