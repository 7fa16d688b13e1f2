/* gpu_system.c - one system in device memory for the library and for cuSPARSE: the same columns and
 * values, 64-bit row pointers for the library and 32-bit ones for cuSPARSE, and right-hand sides
 * and solutions, of which samples are copied back for a check. */
#include "gpu_system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"
#include "leave.h"
#include "progress.h"

/* Host memory for making copies; and the limit on the entries of the matrix that the check of one
 * answer reads, because it works in long double. */
enum { CHUNK = 64 << 20, MOST_RANDOM = 1 << 24, MOST_CHECKED = 16 << 20, LEAST_COLUMNS = 2 };

static int leave_cuda(const bench_gpu *gpu) {
  const char *why = bench_cuda_error();
  return leave(LEAVE_UNAVAILABLE, "unsupported", -1, "%s: CUDA says %s", gpu->system->name,
               why ? why : "nothing, but it failed");
}

/* ---- The matrix ---- */

static int take_scalar(bench_gpu *gpu, const bench_system *system, const bench_settings *set) {
  gpu->scalar = set->scalar ? TRS_FLOAT : TRS_DOUBLE;
  gpu->size = gpu->scalar == TRS_DOUBLE ? sizeof(double) : sizeof(float);
  gpu->host = system->T;
  if (gpu->scalar == system->info.scalar) return -1;
  if (trs_matrix_convert(&gpu->converted, system->T, TRS_CSR, gpu->scalar))
    return leave_library(system->name);
  gpu->host = gpu->converted;
  return -1;
}

static int upload_array(const bench_gpu *gpu, void **array, const void *host, size_t bytes) {
  return bench_cuda_upload(array, host, bytes) ? -1 : leave_cuda(gpu);
}

static int upload_short_ptr(bench_gpu *gpu, const int64_t *ptr) {
  if (gpu->nnz > INT32_MAX) return -1;
  size_t count = (size_t)gpu->n + 1;
  int32_t *copy = malloc(count * sizeof *copy);
  if (!copy) return leave_memory((double)count * sizeof *copy, "the row pointers");
  for (size_t i = 0; i < count; i++) copy[i] = (int32_t)ptr[i];
  int code = upload_array(gpu, &gpu->short_ptr, copy, count * sizeof *copy);
  free(copy);
  return code;
}

static int upload(bench_gpu *gpu) {
  const int64_t *ptr;
  const int32_t *idx;
  const void *val;
  trs_matrix_get_arrays(gpu->host, &ptr, &idx, &val);
  int code = upload_array(gpu, &gpu->ptr, ptr, (size_t)(gpu->n + 1) * sizeof *ptr);
  if (code < 0) code = upload_array(gpu, &gpu->idx, idx, (size_t)gpu->nnz * sizeof *idx);
  if (code < 0) code = upload_array(gpu, &gpu->val, val, (size_t)gpu->nnz * gpu->size);
  return code < 0 ? upload_short_ptr(gpu, ptr) : code;
}

static int create(bench_gpu *gpu, trs_context *ctx) {
  double start = seconds_now();
  if (trs_matrix_create_device(&gpu->T, ctx, TRS_CSR, gpu->scalar, gpu->n, gpu->n, gpu->nnz,
                               TRS_PTR64, gpu->ptr, gpu->idx, gpu->val))
    return leave_library(gpu->system->name);
  gpu->create = seconds_now() - start;
  return -1;
}

int bench_gpu_open(bench_gpu *gpu, trs_context *ctx, const bench_system *system,
                   const bench_settings *set) {
  *gpu = (bench_gpu){.system = system,
                     .n = system->info.nrows,
                     .nnz = system->info.nnz,
                     .nrhs = 1,
                     .row_major = set->layout == 1,
                     .create = NAN,
                     .bound = NAN};
  int code = take_scalar(gpu, system, set);
  if (code < 0) code = bench_system_survey(system, gpu->host, &gpu->info);
  if (code < 0) code = upload(gpu);
  return code < 0 && ctx ? create(gpu, ctx) : code;
}

static int upload_columns(bench_gpu *gpu, const trs_matrix *by_columns) {
  const int64_t *ptr;
  const int32_t *idx;
  const void *val;
  trs_matrix_get_arrays(by_columns, &ptr, &idx, &val);
  int code = upload_array(gpu, &gpu->column_ptr, ptr, (size_t)(gpu->n + 1) * sizeof *ptr);
  if (code < 0) code = upload_array(gpu, &gpu->column_idx, idx, (size_t)gpu->nnz * sizeof *idx);
  return code < 0 ? upload_array(gpu, &gpu->column_val, val, (size_t)gpu->nnz * gpu->size) : code;
}

int bench_gpu_add_columns(bench_gpu *gpu, trs_context *ctx) {
  trs_matrix *by_columns;
  if (trs_matrix_convert(&by_columns, gpu->host, TRS_CSC, gpu->scalar))
    return leave_library(gpu->system->name);
  int code = upload_columns(gpu, by_columns);
  trs_matrix_destroy(by_columns);
  if (code < 0 &&
      trs_matrix_create_device(&gpu->columns, ctx, TRS_CSC, gpu->scalar, gpu->n, gpu->n, gpu->nnz,
                               TRS_PTR64, gpu->column_ptr, gpu->column_idx, gpu->column_val))
    return leave_library(gpu->system->name);
  return code;
}

static void drop_rhs(bench_gpu *gpu) {
  BENCH_CUDA_FREE(gpu->b, gpu->x);
  gpu->b = gpu->x = NULL;
}

void bench_gpu_close(bench_gpu *gpu) {
  drop_rhs(gpu);
  trs_matrix_destroy(gpu->T);
  trs_matrix_destroy(gpu->columns);
  trs_matrix_destroy(gpu->converted);
  BENCH_CUDA_FREE(gpu->ptr, gpu->short_ptr, gpu->idx, gpu->val);
  BENCH_CUDA_FREE(gpu->column_ptr, gpu->column_idx, gpu->column_val);
}

/* ---- Right-hand sides and solutions ---- */

/* The first values, then repeated copies of them. */
static bool repeat(const bench_gpu *gpu, size_t first, size_t count) {
  for (size_t at = first; at < count; at += first) {
    size_t more = count - at < first ? count - at : first;
    if (!bench_cuda_move((char *)gpu->b + at * gpu->size, gpu->b, more * gpu->size)) return false;
  }
  return true;
}

int bench_gpu_rhs(bench_gpu *gpu, int64_t nrhs) {
  size_t count = (size_t)(gpu->n * nrhs), first = count < MOST_RANDOM ? count : MOST_RANDOM;
  drop_rhs(gpu);
  gpu->nrhs = nrhs;
  if (!bench_cuda_alloc(&gpu->b, count * gpu->size) ||
      !bench_cuda_alloc(&gpu->x, count * gpu->size))
    return leave_cuda(gpu);
  void *values = malloc(first * gpu->size + 1);
  if (!values) return leave_memory((double)(first * gpu->size), "the right-hand sides");
  trs_random_fill(values, (int64_t)first, gpu->scalar, 1);
  bool good = bench_cuda_put(gpu->b, values, first * gpu->size) && repeat(gpu, first, count);
  free(values);
  return good ? -1 : leave_cuda(gpu);
}

int64_t bench_gpu_checked(const bench_gpu *gpu) {
  int64_t count = MOST_CHECKED / (gpu->nnz + 1);
  if (count < LEAST_COLUMNS) count = LEAST_COLUMNS;
  return count < gpu->nrhs ? count : gpu->nrhs;
}

/* The k-th of count columns, evenly distributed from the first to the last. */
static int64_t column_of(const bench_gpu *gpu, int64_t k, int64_t count) {
  return count > 1 ? k * (gpu->nrhs - 1) / (count - 1) : 0;
}

/* Copies rows of a row-major array, the first of them row first, into columns of n. */
static void pick(const bench_gpu *gpu, const char *from, int64_t first, int64_t rows, char *to) {
  int64_t count = bench_gpu_checked(gpu);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t k = 0; k < count; k++)
      memcpy(to + (size_t)(k * gpu->n + first + i) * gpu->size,
             from + (size_t)(i * gpu->nrhs + column_of(gpu, k, count)) * gpu->size, gpu->size);
}

static bool pick_columns(const bench_gpu *gpu, const char *device, char *host) {
  size_t row_bytes = (size_t)gpu->nrhs * gpu->size;
  int64_t most = (int64_t)(CHUNK / row_bytes) + 1;
  char *chunk = malloc((size_t)most * row_bytes);
  bool good = chunk != NULL;
  for (int64_t first = 0; good && first < gpu->n; first += most) {
    int64_t rows = gpu->n - first < most ? gpu->n - first : most;
    good = bench_cuda_get(chunk, device + (size_t)first * row_bytes, (size_t)rows * row_bytes);
    if (good) pick(gpu, chunk, first, rows, host);
  }
  free(chunk);
  return good;
}

bool bench_gpu_columns(const bench_gpu *gpu, const void *device, void *host) {
  size_t column_bytes = (size_t)gpu->n * gpu->size;
  int64_t count = bench_gpu_checked(gpu);
  if (gpu->row_major && gpu->nrhs > 1) return pick_columns(gpu, device, host);
  for (int64_t k = 0; k < count; k++)
    if (!bench_cuda_get((char *)host + (size_t)k * column_bytes,
                        (const char *)device + (size_t)column_of(gpu, k, count) * column_bytes,
                        column_bytes))
      return false;
  return true;
}
