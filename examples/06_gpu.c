/* 06_gpu.c - L x = b with all arrays in a GPU's memory: the program's own arrays and stream, solves
 * captured into a CUDA graph and replayed, new values.
 *
 * With arrays in device memory trs_solve only launches kernels and returns at once.  x is complete
 * after trs_plan_wait, or any other wait for the stream. */
#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime_api.h>
#include <trireme.h>

enum { SIDE = 200, N = SIDE * SIDE, REPLAYS = 100, NO_GPU = 77 };

static int64_t ptr[N + 1];
static int32_t idx[3 * N];
static double val[3 * N], b[N], x[N];

/* The lower triangle of the five-point Laplacian: 4 on the diagonal, -1 for the neighbours to the
 * left and above. */
static int64_t make_matrix(void) {
  int64_t nnz = 0;
  for (int32_t i = 0; i < N; i++) {
    if (i >= SIDE) idx[nnz] = i - SIDE, val[nnz++] = -1;
    if (i % SIDE > 0) idx[nnz] = i - 1, val[nnz++] = -1;
    idx[nnz] = i, val[nnz++] = 4;
    ptr[i + 1] = nnz;
  }
  return nnz;
}

static _Noreturn void stop(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(EXIT_FAILURE);
}

static void cuda(cudaError_t error) {
  if (error) stop(cudaGetErrorString(error));
}

static void trireme(trs_status status) {
  if (status) stop(trs_last_error()->message);
}

static void *upload(const void *from, size_t bytes, cudaStream_t stream) {
  void *to;
  cuda(cudaMalloc(&to, bytes));
  cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
  return to;
}

/* The host checks the answer. */
static void check(const char *what, const void *device_x, int solves) {
  trs_matrix *L;
  trs_backward_error error = {.struct_size = sizeof error};
  cuda(cudaMemcpy(x, device_x, sizeof x, cudaMemcpyDeviceToHost));
  trireme(trs_matrix_create(&L, TRS_CSR, TRS_DOUBLE, N, N, TRS_PTR64, ptr, idx, val, TRS_BORROW));
  trireme(trs_check(&error, L, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, x, N, b, N, 1, TRS_COL_MAJOR));
  printf("%-12s %3d solves, backward error %.1e\n", what, solves, error.componentwise);
  if (!(error.componentwise < 1e-14)) stop("that is too much");
  trs_matrix_destroy(L);
}

typedef struct device_arrays {
  int64_t *ptr;
  int32_t *idx;
  double *val, *b, *x;
} device_arrays;

static device_arrays upload_all(int64_t nnz, cudaStream_t stream) {
  device_arrays d = {.ptr = upload(ptr, sizeof ptr, stream),
                     .idx = upload(idx, (size_t)nnz * sizeof *idx, stream),
                     .val = upload(val, (size_t)nnz * sizeof *val, stream),
                     .b = upload(b, sizeof b, stream),
                     .x = upload(x, sizeof x, stream)};
  cuda(cudaStreamSynchronize(stream));
  return d;
}

static void solve(trs_plan *plan, const device_arrays *d) {
  trireme(trs_solve(plan, d->x, N, d->b, N, 1, TRS_COL_MAJOR));
}

/* The same solve as a graph: recorded once, replayed without the library. */
static void replay_solves(trs_plan *plan, const device_arrays *d, cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  solve(plan, d);
  cuda(cudaStreamEndCapture(stream, &graph));
  cuda(cudaGraphInstantiate(&replay, graph, 0));
  for (int k = 0; k < REPLAYS; k++) cuda(cudaGraphLaunch(replay, stream));
  trireme(trs_plan_wait(plan));
  cuda(cudaGraphExecDestroy(replay));
  cuda(cudaGraphDestroy(graph));
}

/* New values in the borrowed arrays.  After that a graph has to be recorded anew. */
static void change_values(trs_plan *plan, const trs_matrix *L, const device_arrays *d, int64_t nnz,
                          cudaStream_t stream) {
  for (int64_t p = 0; p < nnz; p++) val[p] *= 1 + 0.5 / (double)(p + 1);
  cuda(cudaMemcpyAsync(d->val, val, (size_t)nnz * sizeof *val, cudaMemcpyHostToDevice, stream));
  trireme(trs_update(plan, L));
}

int main(void) {
  trs_context *ctx;
  if (trs_context_create(&ctx, "cuda")) { /* no GPU, no driver, or a build without CUDA */
    printf("%s\n", trs_last_error()->message);
    return NO_GPU;
  }
  cudaStream_t stream;
  cuda(cudaStreamCreate(&stream));
  int64_t nnz = make_matrix();
  trs_random_fill(b, N, TRS_DOUBLE, 1);
  device_arrays d = upload_all(nnz, stream);

  /* A matrix on the arrays in place, and a plan whose solves use our stream. */
  trs_matrix *L;
  trs_plan *plan;
  trs_options options = {.struct_size = sizeof(trs_options), .stream = stream};
  trireme(trs_matrix_create_device(&L, ctx, TRS_CSR, TRS_DOUBLE, N, N, nnz, TRS_PTR64, d.ptr, d.idx,
                                   d.val));
  trireme(trs_analyze(&plan, ctx, L, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));

  solve(plan, &d);
  trireme(trs_plan_wait(plan));
  check("direct", d.x, 1);
  replay_solves(plan, &d, stream);
  check("as a graph", d.x, REPLAYS);
  change_values(plan, L, &d, nnz, stream);
  solve(plan, &d);
  trireme(trs_plan_wait(plan));
  check("new values", d.x, 1);

  trs_plan_destroy(plan);
  trs_matrix_destroy(L);
  trs_context_destroy(ctx);
  void *arrays[] = {d.ptr, d.idx, d.val, d.b, d.x};
  for (int k = 0; k < 5; k++) cuda(cudaFree(arrays[k]));
  cuda(cudaStreamDestroy(stream));
  return EXIT_SUCCESS;
}
