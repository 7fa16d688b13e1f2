/* gpu.h - shared by the GPU tests: the context, arrays in device memory, systems in both memories.
 * A program of such tests has .lacks = gpu_lacks and ends with gpu_stop. */
#ifndef TRS_TEST_GPU_H
#define TRS_TEST_GPU_H

#include "analysis/triangle.h"
#include "device/device.h"
#include "support.h"

extern trs_context *gpu_context;
extern trs_device *gpu;

/* Creates gpu_context.  NULL, or without a GPU the reason. */
const char *gpu_lacks(void);
int gpu_stop(void **state); /* teardown */

/* For tests that call the engine's parts: makes gpu the thread's device, and pinned memory for what
 * kernels find.  The second is a teardown too. */
int gpu_enter(void **pinned);
int gpu_leave(void *pinned);

/* Device memory.  Copies wait until they are complete. */
void *gpu_space(size_t bytes);
void *gpu_upload(const void *from, size_t bytes);
void gpu_fetch(void *to, const void *from, size_t bytes);
void gpu_free(void *pointer);

/* S with its arrays in device memory. */
trs_system gpu_upload_system(const trs_system *S);
void gpu_free_system(trs_system *there);

/* Solves from b to to, in device memory and by columns, waits, and copies the bytes of the solution
 * to x in host memory. */
void gpu_solve(trs_plan *plan, void *x, void *to, const void *b, int64_t n, int64_t nrhs,
               size_t bytes);

/* Solves b by rows in place in device memory, repeatedly without a wait; x: the last solution. */
void gpu_solve_repeatedly(trs_plan *plan, double *x, const double *b, int64_t n, int64_t nrhs,
                          int repeats);

/* Kernels of the plan wait 0.2 s at most.  Its state must begin with a trs_gpu. */
void gpu_wait_less(trs_plan *plan);

/* A stream of its own. */
trs_stream gpu_stream(void);
void gpu_stream_free(trs_stream stream);

/* A graph of the calls between begin and end, on a stream that they use. */
typedef void *gpu_graph; /* a cudaGraphExec_t or hipGraphExec_t */
void gpu_capture_begin(trs_stream stream);
gpu_graph gpu_capture_end(trs_stream stream);
/* A solve of x in place. */
gpu_graph gpu_capture_solve(trs_plan *plan, void *x, int64_t n, int64_t nrhs, trs_stream stream);
void gpu_replay(gpu_graph graph, trs_stream stream);
void gpu_graph_free(gpu_graph graph);

/* Bytes that plans and tests hold in device memory after all streams are idle. */
int64_t gpu_held(void);

/* Makes the call with more and more device memory, a step at a time, until it succeeds.  Each
 * failure must be TRS_ERROR_MEMORY, and no memory may stay allocated. */
void gpu_assert_survives_limits(trs_status (*call)(void *argument), void *argument, int64_t step);

/* A triangle as a matrix in host memory and as one in device memory, which builds with HIP have in
 * host memory too. */
typedef struct both_sides {
  triangle t;
  trs_scalar scalar;
  trs_uplo uplo;
  trs_matrix *here, *there;
  void *ptr, *idx, *val; /* device memory */
} both_sides;

/* Takes ownership of t, which holds a lower triangle by rows (TRS_CSR) or an upper one by columns
 * (TRS_CSC). */
both_sides both_sides_of(triangle t, trs_format format, trs_scalar scalar);
void both_sides_free(both_sides *s);

/* Fails unless the backward error of x, in host memory, is below the limit of support.h. */
void gpu_judge(const both_sides *s, trs_trans trans, const void *x, const void *b, int64_t nrhs);

#endif
