/* 21_graph_of_updates.c - a CUDA graph that takes new values and solves with them: captured once,
 * replayed for every set of values.
 *
 * Without trs_options.launch_updates an update waits for the GPU, and a graph cannot contain it.
 * With it, trs_update launches work that reads the matrix's array, as it then is, in each replay.
 */
#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime_api.h>
#include <trireme.h>

enum { SIDE = 200, N = SIDE * SIDE, MOST = 3 * N, STEPS = 20, NO_GPU = 77 };

static int32_t ptr[N + 1], idx[MOST];
static double val[MOST], b[N], x[N];

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

/* The pattern of a square grid's lower triangle. */
static void make_pattern(void) {
  int32_t nnz = 0;
  for (int32_t i = 0; i < N; i++) {
    if (i >= SIDE) idx[nnz++] = i - SIDE;
    if (i % SIDE > 0) idx[nnz++] = i - 1;
    idx[nnz++] = i;
    ptr[i + 1] = nnz;
  }
}

/* The values of a time step. */
static void make_values(int step) {
  for (int32_t i = 0; i < N; i++)
    for (int32_t p = ptr[i]; p < ptr[i + 1]; p++)
      val[p] = idx[p] == i ? 4 : -1 - 0.01 * ((step * 7 + p) % 50);
}

static void *upload(const void *from, size_t bytes) {
  void *to;
  cuda(cudaMalloc(&to, bytes));
  cuda(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
  return to;
}

static double backward_error(void) {
  trs_matrix *L;
  trs_backward_error error = {.struct_size = sizeof error};
  trireme(trs_matrix_create(&L, TRS_CSR, TRS_DOUBLE, N, N, TRS_PTR32, ptr, idx, val, TRS_BORROW));
  trireme(trs_check(&error, L, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, x, N, b, N, 1, TRS_COL_MAJOR));
  trs_matrix_destroy(L);
  return error.componentwise;
}

int main(void) {
  trs_context *ctx;
  if (trs_context_create(&ctx, "cuda")) { /* no GPU, no driver, or a build without CUDA */
    printf("%s\n", trs_last_error()->message);
    return NO_GPU;
  }
  make_pattern();
  make_values(0);
  trs_random_fill(b, N, TRS_DOUBLE, 1);
  const size_t bytes = (size_t)ptr[N] * sizeof *val;
  void *d_ptr = upload(ptr, sizeof ptr), *d_idx = upload(idx, (size_t)ptr[N] * sizeof *idx);
  void *d_val = upload(val, bytes), *d_b = upload(b, sizeof b), *d_x = upload(x, sizeof x);
  cudaStream_t stream;
  cuda(cudaStreamCreate(&stream));

  trs_matrix *L;
  trs_plan *plan;
  trs_options options = {.struct_size = sizeof(trs_options), .stream = stream, .launch_updates = 1};
  trireme(trs_matrix_create_device(&L, ctx, TRS_CSR, TRS_DOUBLE, N, N, ptr[N], TRS_PTR32, d_ptr,
                                   d_idx, d_val));
  trireme(trs_analyze(&plan, ctx, L, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));

  cudaGraph_t graph;
  cudaGraphExec_t step_graph;
  cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  trireme(trs_update(plan, L));
  trireme(trs_solve(plan, d_x, N, d_b, N, 1, TRS_COL_MAJOR));
  cuda(cudaStreamEndCapture(stream, &graph));
  cuda(cudaGraphInstantiate(&step_graph, graph, 0));

  double worst = 0;
  for (int step = 0; step < STEPS; step++) {
    make_values(step); /* a program's own kernel may write d_val instead, also inside the graph */
    cuda(cudaMemcpyAsync(d_val, val, bytes, cudaMemcpyHostToDevice, stream));
    cuda(cudaGraphLaunch(step_graph, stream));
    trireme(trs_plan_wait(plan)); /* names the row of an unusable pivot */
    cuda(cudaMemcpy(x, d_x, sizeof x, cudaMemcpyDeviceToHost));
    const double error = backward_error();
    if (!(error <= worst)) worst = error;
  }
  printf("%d sets of values by one graph, largest backward error %.1e\n", STEPS, worst);

  cuda(cudaGraphExecDestroy(step_graph));
  cuda(cudaGraphDestroy(graph));
  trs_plan_destroy(plan);
  trs_matrix_destroy(L);
  trs_context_destroy(ctx);
  void *arrays[] = {d_ptr, d_idx, d_val, d_b, d_x};
  for (int k = 0; k < 5; k++) cuda(cudaFree(arrays[k]));
  cuda(cudaStreamDestroy(stream));
  return worst < 1e-14 ? EXIT_SUCCESS : EXIT_FAILURE;
}
