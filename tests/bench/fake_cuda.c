/* fake_cuda.c - the functions of the CUDA runtime and of cuSPARSE that trireme bench calls, with
 * host memory for device memory and plain substitution for solves, so that the peer is tested where
 * no GPU is.  FAKE_CUDA=wrong spoils every answer, refuse fails to analyse, lost fails to solve,
 * small has no more than a megabyte for each array, newer is version 12.9. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SUCCESS = 0, NOT_SUPPORTED = 10, BUFFER = 1000, VERSION = 13000, SMALL = 1 << 20 };
enum { BASE_ZERO = 0, OP_NONE = 0, INDEX_32 = 2, ORDER_COLUMNS = 1, ORDER_ROWS = 2 };
enum { REAL_32 = 0, REAL_64 = 1, FILL_MODE = 0, FILL_UPPER = 1, DIAG_UNIT = 1 };

typedef struct matrix {
  int64_t n;
  const int32_t *ptr, *idx;
  const void *val;
  int type, upper, unit;
} matrix;

typedef struct dense {
  int64_t rows, columns, ld;
  void *values;
  int type, order; /* order 0: a vector */
} dense;

typedef struct solver {
  int many, asked, analysed;
  void *buffer;
} solver;

int cudaSetDevice(int device);
int cudaMalloc(void **pointer, size_t bytes);
int cudaFree(void *pointer);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream);
int cudaMemset(void *to, int byte, size_t bytes);
int cudaDeviceSynchronize(void);
int cudaEventCreate(void **event);
int cudaEventRecord(void *event, void *stream);
int cudaEventSynchronize(void *event);
int cudaEventElapsedTime(float *milliseconds, void *start, void *stop);
int cudaDriverGetVersion(int *version);
int cudaRuntimeGetVersion(int *version);
int cudaGetDeviceProperties(void *properties, int device);
const char *cudaGetErrorString(int error);
int cusparseCreate(void **handle);
int cusparseGetProperty(int which, int *value);
const char *cusparseGetErrorString(int error);
int cusparseCreateCsr(void **A, int64_t rows, int64_t cols, int64_t nnz, void *ptr, void *idx,
                      void *val, int ptr_type, int idx_type, int base, int type);
int cusparseSpMatSetAttribute(void *A, int attribute, void *data, size_t size);
int cusparseDestroySpMat(void *A);
int cusparseCreateDnVec(void **v, int64_t size, void *values, int type);
int cusparseDestroyDnVec(void *v);
int cusparseCreateDnMat(void **m, int64_t rows, int64_t cols, int64_t ld, void *values, int type,
                        int order);
int cusparseDestroyDnMat(void *m);
int cusparseSpSV_createDescr(void **s);
int cusparseSpSV_destroyDescr(void *s);
int cusparseSpSV_bufferSize(void *handle, int op, const void *alpha, void *A, void *b, void *x,
                            int type, int algorithm, void *s, size_t *bytes);
int cusparseSpSV_analysis(void *handle, int op, const void *alpha, void *A, void *b, void *x,
                          int type, int algorithm, void *s, void *buffer);
int cusparseSpSV_solve(void *handle, int op, const void *alpha, void *A, void *b, void *x, int type,
                       int algorithm, void *s);
int cusparseSpSV_updateMatrix(void *handle, void *s, void *val, int part);
int cusparseSpSM_createDescr(void **s);
int cusparseSpSM_destroyDescr(void *s);
int cusparseSpSM_bufferSize(void *handle, int op, int op_b, const void *alpha, void *A, void *b,
                            void *x, int type, int algorithm, void *s, size_t *bytes);
int cusparseSpSM_analysis(void *handle, int op, int op_b, const void *alpha, void *A, void *b,
                          void *x, int type, int algorithm, void *s, void *buffer);
int cusparseSpSM_solve(void *handle, int op, int op_b, const void *alpha, void *A, void *b, void *x,
                       int type, int algorithm, void *s);
int cusparseSpSM_updateMatrix(void *handle, void *s, void *val, int part);

static int asked(const char *what) {
  const char *how = getenv("FAKE_CUDA");
  return how && !strcmp(how, what);
}

/* ---- The runtime ---- */

int cudaSetDevice(int device) { return device < 0 || device > 15; }

int cudaMalloc(void **pointer, size_t bytes) {
  *pointer = NULL;
  if (asked("small") && bytes > SMALL) return 2;
  *pointer = malloc(bytes);
  return !*pointer;
}

int cudaFree(void *pointer) {
  free(pointer);
  return SUCCESS;
}

int cudaMemcpy(void *to, const void *from, size_t bytes, int kind) {
  memcpy(to, from, bytes);
  return kind < 1 || kind > 3;
}

int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream) {
  (void)stream;
  return cudaMemcpy(to, from, bytes, kind);
}

int cudaMemset(void *to, int byte, size_t bytes) {
  memset(to, byte, bytes);
  return SUCCESS;
}

int cudaDeviceSynchronize(void) { return SUCCESS; }

int cudaEventCreate(void **event) {
  static struct timespec events[8];
  static int used;
  *event = &events[used++];
  return used > 8;
}

int cudaEventRecord(void *event, void *stream) {
  clock_gettime(CLOCK_MONOTONIC, event);
  return stream != NULL;
}

int cudaEventSynchronize(void *event) { return !event; }

int cudaEventElapsedTime(float *milliseconds, void *start, void *stop) {
  const struct timespec *a = start, *b = stop;
  *milliseconds =
      (float)(1e3 * (double)(b->tv_sec - a->tv_sec) + 1e-6 * (double)(b->tv_nsec - a->tv_nsec));
  return SUCCESS;
}

int cudaDriverGetVersion(int *version) {
  *version = VERSION;
  return SUCCESS;
}

int cudaRuntimeGetVersion(int *version) {
  *version = VERSION;
  return SUCCESS;
}

int cudaGetDeviceProperties(void *properties, int device) {
  strcpy(properties, "Fake");
  return device;
}

const char *cudaGetErrorString(int error) { return error ? "fake error" : "no error"; }

/* ---- cuSPARSE ---- */

int cusparseCreate(void **handle) {
  static int any;
  *handle = &any;
  return SUCCESS;
}

int cusparseGetProperty(int which, int *value) {
  *value = which == 0 ? 12 : which == 1 && asked("newer") ? 9 : which;
  return SUCCESS;
}

const char *cusparseGetErrorString(int error) {
  return error == NOT_SUPPORTED ? "operation not supported" : "fake failure";
}

int cusparseCreateCsr(void **A, int64_t rows, int64_t cols, int64_t nnz, void *ptr, void *idx,
                      void *val, int ptr_type, int idx_type, int base, int type) {
  matrix *m = malloc(sizeof *m);
  if (!m) return 2;
  *m = (matrix){.n = rows, .ptr = ptr, .idx = idx, .val = val, .type = type};
  *A = m;
  return rows != cols || ptr_type != INDEX_32 || idx_type != INDEX_32 || base != BASE_ZERO ||
         ((const int32_t *)ptr)[rows] != nnz;
}

int cusparseSpMatSetAttribute(void *A, int attribute, void *data, size_t size) {
  matrix *m = A;
  int value = *(const int *)data;
  if (size != sizeof value) return 3;
  if (attribute == FILL_MODE)
    m->upper = value == FILL_UPPER;
  else
    m->unit = value == DIAG_UNIT;
  return SUCCESS;
}

int cusparseDestroySpMat(void *A) {
  free(A);
  return SUCCESS;
}

static int make_dense(void **result, dense made) {
  dense *d = malloc(sizeof *d);
  if (!d) return 2;
  *d = made;
  *result = d;
  return SUCCESS;
}

int cusparseCreateDnVec(void **v, int64_t size, void *values, int type) {
  return make_dense(v, (dense){size, 1, size, values, type, 0});
}

int cusparseDestroyDnVec(void *v) {
  free(v);
  return SUCCESS;
}

int cusparseCreateDnMat(void **m, int64_t rows, int64_t cols, int64_t ld, void *values, int type,
                        int order) {
  if (order != ORDER_COLUMNS && order != ORDER_ROWS) return 3;
  return make_dense(m, (dense){rows, cols, ld, values, type, order});
}

int cusparseDestroyDnMat(void *m) { return cusparseDestroyDnVec(m); }

static double get(const void *values, int64_t at, int type) {
  return type == REAL_64 ? ((const double *)values)[at] : (double)((const float *)values)[at];
}

static void set(const dense *d, int64_t at, double value) {
  if (d->type == REAL_64)
    ((double *)d->values)[at] = value;
  else
    ((float *)d->values)[at] = (float)value;
}

static int64_t place(const dense *d, int64_t row, int64_t column) {
  return d->order == ORDER_ROWS ? row * d->ld + column : column * d->ld + row;
}

static void substitute(const matrix *m, const dense *b, const dense *x, int64_t column) {
  for (int64_t k = 0; k < m->n; k++) {
    int64_t i = m->upper ? m->n - 1 - k : k;
    double sum = get(b->values, place(b, i, column), b->type), diagonal = 1;
    for (int32_t p = m->ptr[i]; p < m->ptr[i + 1]; p++) {
      double value = get(m->val, p, m->type);
      if (m->idx[p] == i)
        diagonal = m->unit ? 1 : value;
      else
        sum -= value * get(x->values, place(x, m->idx[p], column), x->type);
    }
    set(x, place(x, i, column), sum / diagonal);
  }
  if (asked("wrong"))
    set(x, place(x, m->n / 2, column), 1 + get(x->values, place(x, m->n / 2, column), x->type));
}

static int create_solver(void **result, int many) {
  solver *s = calloc(1, sizeof *s);
  if (!s) return 2;
  s->many = many;
  *result = s;
  return SUCCESS;
}

static int ask(void *state, int op, const matrix *A, int type, size_t *bytes) {
  solver *s = state;
  *bytes = BUFFER;
  s->asked = 1;
  return op != OP_NONE || A->type != type;
}

static int analyse(void *state, void *buffer) {
  solver *s = state;
  if (asked("refuse")) return NOT_SUPPORTED;
  if (!s->asked || !buffer) return 3;
  memset(buffer, 1, BUFFER);
  s->analysed = 1;
  s->buffer = buffer;
  return SUCCESS;
}

static int solve(void *state, const void *alpha, const matrix *A, const dense *b, const dense *x,
                 int many) {
  const solver *s = state;
  if (!s->analysed || s->many != many || get(alpha, 0, A->type) != 1) return 3;
  if (asked("lost")) return 6;
  if (*(const char *)s->buffer != 1 || b->columns != x->columns || b->rows != A->n) return 3;
  for (int64_t r = 0; r < b->columns; r++) substitute(A, b, x, r);
  return SUCCESS;
}

static int update(void *state, const void *val, int part) {
  const solver *s = state;
  return !s->analysed || !val || part != 0;
}

static int known(int algorithm) { return algorithm >= 0 && algorithm < (asked("newer") ? 3 : 1); }

int cusparseSpSV_createDescr(void **s) { return create_solver(s, 0); }

int cusparseSpSV_destroyDescr(void *s) {
  free(s);
  return SUCCESS;
}

int cusparseSpSV_bufferSize(void *handle, int op, const void *alpha, void *A, void *b, void *x,
                            int type, int algorithm, void *s, size_t *bytes) {
  return !handle || !alpha || !b || !x || !known(algorithm) || ask(s, op, A, type, bytes);
}

int cusparseSpSV_analysis(void *handle, int op, const void *alpha, void *A, void *b, void *x,
                          int type, int algorithm, void *s, void *buffer) {
  if (!handle || op || !alpha || !A || !b || !x || type > 1 || !known(algorithm)) return 3;
  return analyse(s, buffer);
}

int cusparseSpSV_solve(void *handle, int op, const void *alpha, void *A, void *b, void *x, int type,
                       int algorithm, void *s) {
  if (!handle || op || type > 1 || !known(algorithm)) return 3;
  return solve(s, alpha, A, b, x, 0);
}

int cusparseSpSV_updateMatrix(void *handle, void *s, void *val, int part) {
  return !handle || update(s, val, part);
}

int cusparseSpSM_createDescr(void **s) { return create_solver(s, 1); }
int cusparseSpSM_destroyDescr(void *s) { return cusparseSpSV_destroyDescr(s); }

int cusparseSpSM_bufferSize(void *handle, int op, int op_b, const void *alpha, void *A, void *b,
                            void *x, int type, int algorithm, void *s, size_t *bytes) {
  return op_b || cusparseSpSV_bufferSize(handle, op, alpha, A, b, x, type, algorithm, s, bytes);
}

int cusparseSpSM_analysis(void *handle, int op, int op_b, const void *alpha, void *A, void *b,
                          void *x, int type, int algorithm, void *s, void *buffer) {
  return op_b ? 3 : cusparseSpSV_analysis(handle, op, alpha, A, b, x, type, algorithm, s, buffer);
}

int cusparseSpSM_solve(void *handle, int op, int op_b, const void *alpha, void *A, void *b, void *x,
                       int type, int algorithm, void *s) {
  if (!handle || op || op_b || type > 1 || algorithm) return 3;
  return solve(s, alpha, A, b, x, 1);
}

int cusparseSpSM_updateMatrix(void *handle, void *s, void *val, int part) {
  return !handle || update(s, val, part);
}
