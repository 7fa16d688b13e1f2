/* gpu.c - the context of the GPU tests, and systems in both memories. */
#include "gpu.h"

#include "backend/context.h"
#include "device/gpu.h"
#include "solve/cuda/gpu.h"
#include "test.h"

trs_context *gpu_context;
trs_device *gpu;

const char *gpu_lacks(void) {
  if (trs_context_create(&gpu_context, TRS_GPU_BACKEND)) return trs_last_error()->message;
  gpu = gpu_context->device;
  return NULL;
}

int gpu_stop(void **state) {
  trs_context_destroy(gpu_context);
  gpu_context = NULL;
  return 0;
}

int gpu_enter(void **pinned) {
  if (trs_device_enter(gpu) < -1) return -1;
  return trs_device_alloc_host(gpu, pinned);
}

int gpu_leave(void *pinned) {
  trs_device_free_host(gpu, pinned);
  return gpu_stop(NULL);
}

void *gpu_space(size_t bytes) {
  void *pointer;
  assert_success(trs_device_alloc(gpu, &pointer, (int64_t)bytes, 1, NULL));
  assert_success(trs_device_wait(NULL));
  return pointer;
}

void *gpu_upload(const void *from, size_t bytes) {
  void *pointer = gpu_space(bytes);
  assert_success(trs_device_copy(pointer, from, (int64_t)bytes, NULL));
  assert_success(trs_device_wait(NULL));
  return pointer;
}

void gpu_fetch(void *to, const void *from, size_t bytes) {
  assert_success(trs_device_copy(to, from, (int64_t)bytes, NULL));
  assert_success(trs_device_wait(NULL));
}

void gpu_free(void *pointer) { trs_device_free(gpu, pointer, NULL); }

trs_system gpu_upload_system(const trs_system *S) {
  trs_system there = *S;
  there.ptr = gpu_upload(S->ptr, (size_t)(S->n + 1) * sizeof *S->ptr);
  there.idx = gpu_upload(S->idx, (size_t)S->nnz * sizeof *S->idx);
  there.val = gpu_upload(S->val, (size_t)S->nnz * scalar_bytes(S->scalar));
  return there;
}

void gpu_free_system(trs_system *there) {
  gpu_free((void *)there->ptr);
  gpu_free((void *)there->idx);
  gpu_free((void *)there->val);
}

void gpu_solve(trs_plan *plan, void *x, void *to, const void *b, int64_t n, int64_t nrhs,
               size_t bytes) {
  assert_success(trs_solve(plan, to, n, b, n, nrhs, TRS_COL_MAJOR));
  assert_success(trs_plan_wait(plan));
  gpu_fetch(x, to, bytes);
}

void gpu_solve_repeatedly(trs_plan *plan, double *x, const double *b, int64_t n, int64_t nrhs,
                          int repeats) {
  const int64_t bytes = n * nrhs * (int64_t)sizeof *b;
  double *there = gpu_space((size_t)bytes);
  for (int k = 0; k < repeats; k++) {
    assert_success(trs_device_copy(there, b, bytes, NULL));
    assert_success(trs_solve(plan, there, nrhs, there, nrhs, nrhs, TRS_ROW_MAJOR));
  }
  assert_success(trs_plan_wait(plan));
  gpu_fetch(x, there, (size_t)bytes);
  gpu_free(there);
}

void gpu_wait_less(trs_plan *plan) {
  static const uint64_t SOON = 200000000; /* nanoseconds */
  trs_gpu *state = plan->state;
  trs_fault *fault = state->host_fault;
  fault->limit = SOON;
  assert_success(trs_device_copy(state->fault, fault, sizeof *fault, plan->stream));
  assert_success(trs_device_wait(plan->stream));
}

trs_stream gpu_stream(void) {
  cudaStream_t stream;
  assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  return stream;
}

void gpu_stream_free(trs_stream stream) {
  assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
}

void gpu_capture_begin(trs_stream stream) {
  assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
}

gpu_graph gpu_capture_end(trs_stream stream) {
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  assert_int_equal(cudaGraphInstantiate(&replay, graph, 0), cudaSuccess);
  assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
  return replay;
}

gpu_graph gpu_capture_solve(trs_plan *plan, void *x, int64_t n, int64_t nrhs, trs_stream stream) {
  gpu_capture_begin(stream);
  assert_success(trs_solve(plan, x, n, x, n, nrhs, TRS_COL_MAJOR));
  return gpu_capture_end(stream);
}

void gpu_replay(gpu_graph graph, trs_stream stream) {
  assert_int_equal(cudaGraphLaunch(graph, stream), cudaSuccess);
}

void gpu_graph_free(gpu_graph graph) { assert_int_equal(cudaGraphExecDestroy(graph), cudaSuccess); }

int64_t gpu_held(void) {
  assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
  return trs_device_held(gpu);
}

void gpu_assert_survives_limits(trs_status (*call)(void *argument), void *argument, int64_t step) {
  int64_t held = gpu_held(), limit = held + 1000;
  for (trs_status status = TRS_ERROR_MEMORY; status; limit += step) {
    trs_device_limit(gpu, limit);
    status = call(argument);
    if (status) assert_int_equal(status, TRS_ERROR_MEMORY);
    assert_int_equal(gpu_held(), held);
  }
  trs_device_limit(gpu, 0);
}

both_sides both_sides_of(triangle t, trs_format format, trs_scalar scalar) {
  both_sides s = {.t = t, .scalar = scalar, .uplo = format == TRS_CSR ? TRS_LOWER : TRS_UPPER};
  int64_t nnz = t.ptr[t.n];
  s.ptr = gpu_upload(t.ptr, (size_t)(t.n + 1) * sizeof *t.ptr);
  s.idx = gpu_upload(t.idx, (size_t)nnz * sizeof *t.idx);
  s.val = gpu_upload(t.val, (size_t)nnz * scalar_bytes(scalar));
  assert_success(trs_matrix_create(&s.here, format, scalar, t.n, t.n, TRS_PTR64, t.ptr, t.idx,
                                   t.val, TRS_BORROW));
  if (TRS_HAVE_HIP) /* which takes matrices from host memory alone */
    assert_success(trs_matrix_create(&s.there, format, scalar, t.n, t.n, TRS_PTR64, t.ptr, t.idx,
                                     t.val, TRS_BORROW));
  else
    assert_success(trs_matrix_create_device(&s.there, gpu_context, format, scalar, t.n, t.n, nnz,
                                            TRS_PTR64, s.ptr, s.idx, s.val));
  return s;
}

void both_sides_free(both_sides *s) {
  trs_matrix_destroy(s->here);
  trs_matrix_destroy(s->there);
  gpu_free(s->ptr);
  gpu_free(s->idx);
  gpu_free(s->val);
  triangle_free(&s->t);
}

void gpu_judge(const both_sides *s, trs_trans trans, const void *x, const void *b, int64_t nrhs) {
  trs_backward_error error = {.struct_size = sizeof error};
  trs_matrix_info info = {.struct_size = sizeof info};
  trs_matrix_get_info(s->here, &info);
  assert_success(trs_check(&error, s->here, s->uplo, trans, TRS_NONUNIT, x, s->t.n, b, s->t.n, nrhs,
                           TRS_COL_MAJOR));
  double limit = error_limit(s->scalar, trans ? info.nnz : info.longest_row);
  if (!(error.componentwise <= limit))
    fail_msg("n %lld: error %g, limit %g, row %lld", (long long)s->t.n, error.componentwise, limit,
             (long long)error.worst_row);
}
