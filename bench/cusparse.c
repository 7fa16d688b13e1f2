/* cusparse.c - cuSPARSE's SpSV and SpSM as peers, opened at run time: the build does not need it.
 * The names and numbers below are those of its documented generic interface, version 12.  The
 * matrix is stored by rows with 32-bit row pointers and 32-bit columns. */
#include "cusparse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"
#include "library.h"
#include "progress.h"

enum { BASE_ZERO = 0, OP_NONE = 0, INDEX_32 = 2, ORDER_COLUMNS = 1, ORDER_ROWS = 2 };
enum { FILL_MODE = 0, DIAG_TYPE = 1, FILL_LOWER = 0, FILL_UPPER = 1, DIAG_NONUNIT = 0, DIAG_UNIT };
enum { REAL_32 = 0, REAL_64 = 1, MANY_DEFAULT = 0, UPDATE_GENERAL = 0 };

typedef int solver_buffer_size(void *, int, const void *, void *, void *, void *, int, int, void *,
                               size_t *);
typedef int solver_analysis(void *, int, const void *, void *, void *, void *, int, int, void *,
                            void *);
typedef int solver_solve(void *, int, const void *, void *, void *, void *, int, int, void *);
typedef int many_buffer_size(void *, int, int, const void *, void *, void *, void *, int, int,
                             void *, size_t *);
typedef int many_analysis(void *, int, int, const void *, void *, void *, void *, int, int, void *,
                          void *);
typedef int many_solve(void *, int, int, const void *, void *, void *, void *, int, int, void *);

static struct {
  void *library, *handle;
  int (*create)(void **);
  int (*property)(int, int *);
  const char *(*error_text)(int);
  int (*create_csr)(void **, int64_t, int64_t, int64_t, void *, void *, void *, int, int, int, int);
  int (*set_attribute)(void *, int, void *, size_t);
  int (*destroy_csr)(void *);
  int (*create_vector)(void **, int64_t, void *, int);
  int (*destroy_vector)(void *);
  int (*create_dense)(void **, int64_t, int64_t, int64_t, void *, int, int);
  int (*destroy_dense)(void *);
  int (*open_one)(void **);
  int (*close_one)(void *);
  solver_buffer_size *buffer_size;
  solver_analysis *analysis;
  solver_solve *solve;
  int (*update_one)(void *, void *, void *, int); /* absent before 12.1 */
  int (*open_many)(void **);
  int (*close_many)(void *);
  many_buffer_size *buffer_size_many;
  many_analysis *analysis_many;
  many_solve *solve_many;
  int (*update_many)(void *, void *, void *, int); /* absent before 12.4 */
  int error; /* the last code other than 0; reading it clears it */
} sparse;

static bool find(void *function, const char *name) {
  return bench_library_find(sparse.library, function, name);
}

static bool find_all(void) {
  (void)find(&sparse.update_one, "cusparseSpSV_updateMatrix");
  (void)find(&sparse.update_many, "cusparseSpSM_updateMatrix");
  return find(&sparse.create, "cusparseCreate") && find(&sparse.property, "cusparseGetProperty") &&
         find(&sparse.error_text, "cusparseGetErrorString") &&
         find(&sparse.create_csr, "cusparseCreateCsr") &&
         find(&sparse.set_attribute, "cusparseSpMatSetAttribute") &&
         find(&sparse.destroy_csr, "cusparseDestroySpMat") &&
         find(&sparse.create_vector, "cusparseCreateDnVec") &&
         find(&sparse.destroy_vector, "cusparseDestroyDnVec") &&
         find(&sparse.create_dense, "cusparseCreateDnMat") &&
         find(&sparse.destroy_dense, "cusparseDestroyDnMat") &&
         find(&sparse.open_one, "cusparseSpSV_createDescr") &&
         find(&sparse.close_one, "cusparseSpSV_destroyDescr") &&
         find(&sparse.buffer_size, "cusparseSpSV_bufferSize") &&
         find(&sparse.analysis, "cusparseSpSV_analysis") &&
         find(&sparse.solve, "cusparseSpSV_solve") &&
         find(&sparse.open_many, "cusparseSpSM_createDescr") &&
         find(&sparse.close_many, "cusparseSpSM_destroyDescr") &&
         find(&sparse.buffer_size_many, "cusparseSpSM_bufferSize") &&
         find(&sparse.analysis_many, "cusparseSpSM_analysis") &&
         find(&sparse.solve_many, "cusparseSpSM_solve");
}

static bool good(int error) {
  if (error) sparse.error = error;
  return !error;
}

bool bench_cusparse_good(int error) { return good(error); }
bool bench_cusparse_find(void *function, const char *name) { return find(function, name); }
void *bench_cusparse_handle(void) { return sparse.handle; }

const char *bench_cusparse_error(void) {
  int error = sparse.error;
  const char *why = bench_cuda_error();
  sparse.error = 0;
  return error ? sparse.error_text(error) : why ? why : "an unknown error";
}

const char *bench_cusparse_load(void) {
  static const char *const names[] = {"libcusparse.so.12", "libcusparse.so", NULL};
  static const char *const linker[] = {"libnvJitLink.so.13", "libnvJitLink.so.12", NULL};
  const char *missing, *unused;
  if (sparse.handle) return NULL;
  sparse.library = bench_library_open("TRIREME_CUSPARSE", names, &missing);
  /* It needs one more library, which its own search path does not always find. */
  if (!sparse.library && bench_library_open("TRIREME_NVJITLINK", linker, &unused))
    sparse.library = bench_library_open("TRIREME_CUSPARSE", names, &missing);
  if (missing) return missing;
  if (!find_all()) return "libcusparse lacks SpSV and SpSM as of version 12";
  return good(sparse.create(&sparse.handle)) ? NULL : bench_cusparse_error();
}

const char *bench_cusparse_version(void) {
  static char text[48];
  int part[3] = {0};
  for (int k = 0; k < 3; k++) (void)good(sparse.property(k, &part[k]));
  snprintf(text, sizeof text, "cuSPARSE %d.%d.%d", part[0], part[1], part[2]);
  return text;
}

/* ALG1 and ALG2 came with 12.9; an older library accepts the numbers without implementing them. */
const char *const bench_cusparse_name[] = {"cusparse", "cusparse:alg1", "cusparse:alg2"};

int bench_cusparse_known(void) {
  enum { MAJOR, MINOR };
  int major = 0, minor = 0;
  (void)good(sparse.property(MAJOR, &major));
  (void)good(sparse.property(MINOR, &minor));
  return major > 12 || (major == 12 && minor >= 9) ? BENCH_CUSPARSE_MOST : 1;
}

int bench_cusparse_algorithm(const char *name) {
  for (int k = 0; k < BENCH_CUSPARSE_MOST; k++)
    if (!strcmp(name, bench_cusparse_name[k])) return k;
  return -1;
}

/* ---- One system ---- */

static const void *one(const bench_gpu *gpu) {
  static const double in_double = 1;
  static const float in_float = 1;
  return gpu->scalar == TRS_DOUBLE ? (const void *)&in_double : (const void *)&in_float;
}

static int type_of(const bench_gpu *gpu) { return gpu->scalar == TRS_DOUBLE ? REAL_64 : REAL_32; }

static bool create_matrix(bench_cusparse *s) {
  const bench_gpu *g = s->gpu;
  int fill = g->system->uplo == TRS_LOWER ? FILL_LOWER : FILL_UPPER;
  int diag = g->system->diag == TRS_UNIT ? DIAG_UNIT : DIAG_NONUNIT;
  int64_t n = g->n, nnz = g->nnz;
  return good(sparse.create_csr(&s->matrix, n, n, nnz, g->short_ptr, g->idx, g->val, INDEX_32,
                                INDEX_32, BASE_ZERO, type_of(g))) &&
         good(sparse.set_attribute(s->matrix, FILL_MODE, &fill, sizeof fill)) &&
         good(sparse.set_attribute(s->matrix, DIAG_TYPE, &diag, sizeof diag));
}

static bool create_array(const bench_cusparse *s, void **array, void *values) {
  const bench_gpu *g = s->gpu;
  int order = g->row_major ? ORDER_ROWS : ORDER_COLUMNS;
  if (!s->many) return good(sparse.create_vector(array, g->n, values, type_of(g)));
  return good(sparse.create_dense(array, g->n, g->nrhs, g->row_major ? g->nrhs : g->n, values,
                                  type_of(g), order));
}

bool bench_cusparse_prepare(bench_cusparse *s, const bench_gpu *gpu, int algorithm) {
  *s = (bench_cusparse){.gpu = gpu, .many = gpu->nrhs > 1, .algorithm = algorithm};
  return create_matrix(s) && create_array(s, &s->b, gpu->b) && create_array(s, &s->x, gpu->x);
}

static void drop_analysis(bench_cusparse *s) {
  if (s->state) (void)good(s->many ? sparse.close_many(s->state) : sparse.close_one(s->state));
  BENCH_CUDA_FREE(s->buffer);
  s->state = s->buffer = NULL;
}

static bool ask_buffer(bench_cusparse *s) {
  const bench_gpu *g = s->gpu;
  if (s->many)
    return good(sparse.buffer_size_many(sparse.handle, OP_NONE, OP_NONE, one(g), s->matrix, s->b,
                                        s->x, type_of(g), MANY_DEFAULT, s->state,
                                        &s->buffer_bytes));
  return good(sparse.buffer_size(sparse.handle, OP_NONE, one(g), s->matrix, s->b, s->x, type_of(g),
                                 s->algorithm, s->state, &s->buffer_bytes));
}

static bool analyze(bench_cusparse *s) {
  const bench_gpu *g = s->gpu;
  if (s->many)
    return good(sparse.analysis_many(sparse.handle, OP_NONE, OP_NONE, one(g), s->matrix, s->b, s->x,
                                     type_of(g), MANY_DEFAULT, s->state, s->buffer));
  return good(sparse.analysis(sparse.handle, OP_NONE, one(g), s->matrix, s->b, s->x, type_of(g),
                              s->algorithm, s->state, s->buffer));
}

bool bench_cusparse_analyze(bench_cusparse *s, double *ask_seconds, double *seconds) {
  drop_analysis(s);
  bool done =
      good(s->many ? sparse.open_many(&s->state) : sparse.open_one(&s->state)) && bench_cuda_wait();
  double start = seconds_now();
  done = done && ask_buffer(s) && bench_cuda_wait();
  *ask_seconds = seconds_now() - start;
  done = done && bench_cuda_alloc(&s->buffer, s->buffer_bytes) && bench_cuda_wait();
  start = seconds_now();
  done = done && analyze(s) && bench_cuda_wait();
  *seconds = seconds_now() - start;
  return done;
}

bool bench_cusparse_update(bench_cusparse *s, double *seconds) {
  int (*update)(void *, void *, void *, int) = s->many ? sparse.update_many : sparse.update_one;
  if (!update || !bench_cuda_wait()) return false;
  double start = seconds_now();
  bool done =
      good(update(sparse.handle, s->state, s->gpu->val, UPDATE_GENERAL)) && bench_cuda_wait();
  *seconds = seconds_now() - start;
  return done;
}

bool bench_cusparse_solve(const bench_cusparse *s) {
  const bench_gpu *g = s->gpu;
  if (s->many)
    return good(sparse.solve_many(sparse.handle, OP_NONE, OP_NONE, one(g), s->matrix, s->b, s->x,
                                  type_of(g), MANY_DEFAULT, s->state));
  return good(sparse.solve(sparse.handle, OP_NONE, one(g), s->matrix, s->b, s->x, type_of(g),
                           s->algorithm, s->state));
}

void bench_cusparse_free(bench_cusparse *s) {
  drop_analysis(s);
  if (s->matrix) (void)good(sparse.destroy_csr(s->matrix));
  if (s->b) (void)good(s->many ? sparse.destroy_dense(s->b) : sparse.destroy_vector(s->b));
  if (s->x) (void)good(s->many ? sparse.destroy_dense(s->x) : sparse.destroy_vector(s->x));
  *s = (bench_cusparse){0};
}
