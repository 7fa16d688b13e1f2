/* gpu.h - what the tests on a GPU share: the context, arrays in its memory, systems on both sides.
 * Their programs begin with gpu_is_absent and end with gpu_stop. */
#ifndef TRS_TEST_GPU_H
#define TRS_TEST_GPU_H

#include "device/device.h"
#include "support.h"

extern trs_context *gpu_context;
extern trs_device *gpu;

/* Makes gpu_context; where there is no GPU, prints that the program is skipped, and why. */
bool gpu_is_absent(const char *program);
int gpu_stop(void **state); /* teardown */

/* Device memory; copies wait. */
void *gpu_space(size_t bytes);
void *gpu_upload(const void *from, size_t bytes);
void gpu_fetch(void *to, const void *from, size_t bytes);
void gpu_free(void *pointer);

/* Bytes that plans and tests hold there, all streams come to rest. */
int64_t gpu_held(void);

/* A triangle as a matrix here and as one on the same arrays in device memory. */
typedef struct both_sides {
  triangle t;
  trs_scalar scalar;
  trs_uplo uplo;
  trs_matrix *here, *there;
  void *ptr, *idx, *val; /* device memory */
} both_sides;

/* Takes t, which holds a lower triangle by rows (TRS_CSR) or an upper one by columns (TRS_CSC). */
both_sides both_sides_of(triangle t, trs_format format, trs_scalar scalar);
void both_sides_free(both_sides *s);

/* Backward error of x, in host memory, against the limit of support.h. */
void gpu_judge(const both_sides *s, trs_trans trans, const void *x, const void *b, int64_t nrhs);

#endif
