/* jax_ffi_gpu.c - calls the custom call of trireme.jax as XLA does on GPUs, without one.
 *   test_jax.py compiles this file with jax_ffi.c in it and makes the calls.  The interface of XLA
 * is this one: it names a GPU and a stream, and makes errors.  The functions of the library that
 * need a GPU are stood in for here: contexts are serial, matrices in device memory lie in the
 * host's, and streams are only counted. */
#include "jax_ffi.c"

typedef int create_matrix(void **A, int format, int scalar, int64_t nrows, int64_t ncols,
                          int indexing, const void *ptr, const void *idx, const void *val,
                          int ownership);
typedef int create_context(void **ctx, const char *where);

static create_matrix *host_matrix;
static create_context *host_context;
static int fails; /* a later wait for a solve fails */

/* What happened, in order. */
static char told[4096];
static pthread_mutex_t told_lock = PTHREAD_MUTEX_INITIALIZER;

static void tell(const char *word, const char *what) {
  pthread_mutex_lock(&told_lock);
  size_t used = strlen(told);
  snprintf(told + used, sizeof told - used, "%s%s%s ", word, *what ? ":" : "", what);
  pthread_mutex_unlock(&told_lock);
}

static void tell_stream(const char *word, void *stream) {
  char text[32];
  snprintf(text, sizeof text, "%d", (int)(intptr_t)stream);
  tell(word, text);
}

static int stand_in_context(void **ctx, const char *where) {
  tell("context", where);
  return host_context(ctx, "serial");
}

static int stand_in_matrix(void **A, void *ctx, int format, int scalar, int64_t nrows,
                           int64_t ncols, int64_t nnz, int indexing, const void *ptr,
                           const void *idx, const void *val) {
  enum { BORROW = 1 };
  (void)ctx, (void)nnz;
  tell("matrix", "");
  return host_matrix(A, format, scalar, nrows, ncols, indexing, ptr, idx, val, BORROW);
}

static int stand_in_stream(void *plan, void *stream) {
  (void)plan;
  tell_stream("stream", stream);
  return 0;
}

static int (*analyze_there)(void **plan, void *ctx, const void *A, int uplo, int trans, int diag,
                            const void *options);
static int64_t stream_at;

static int stand_in_analyze(void **plan, void *ctx, const void *A, int uplo, int trans, int diag,
                            const void *options) {
  char own[MOST_OPTIONS];
  void *stream;
  memcpy(own, options, sizeof own);
  memcpy(&stream, own + stream_at, sizeof stream);
  tell_stream("analyze", stream);
  memset(own + stream_at, 0, sizeof stream);
  return analyze_there(plan, ctx, A, uplo, trans, diag, own);
}

static int stand_in_wait(void *plan) {
  (void)plan;
  tell("wait", "");
  if (!fails) return 0;
  fails = 0;
  return -1;
}

EXPORT void stand_in_begin(void *context, void *matrix, int64_t at) {
  host_context = (create_context *)context;
  host_matrix = (create_matrix *)matrix;
  stream_at = at;
  analyze_there = call.analyze;
  call.context_create = stand_in_context;
  call.matrix_create_device = stand_in_matrix;
  call.analyze = stand_in_analyze;
  call.plan_set_stream = stand_in_stream;
  call.plan_wait = stand_in_wait;
}

EXPORT void stand_in_fail(void) { fails = 1; }

EXPORT const char *stand_in_told(void) {
  static char copy[sizeof told];
  pthread_mutex_lock(&told_lock);
  memcpy(copy, told, sizeof told);
  *told = '\0';
  pthread_mutex_unlock(&told_lock);
  return copy;
}

/* ---- XLA ---- */

typedef struct place_of_call {
  int gpu;
  void *stream;
} place_of_call;

struct XLA_FFI_Error {
  char text[512];
};

static XLA_FFI_Error *make_error(XLA_FFI_Error_Create_Args *args) {
  XLA_FFI_Error *made = calloc(1, sizeof *made);
  if (made) snprintf(made->text, sizeof made->text, "%s", args->message);
  return made;
}

static XLA_FFI_Error *name_gpu(XLA_FFI_DeviceOrdinal_Get_Args *args) {
  args->device_ordinal = ((place_of_call *)(void *)args->ctx)->gpu;
  return NULL;
}

static XLA_FFI_Error *name_stream(XLA_FFI_Stream_Get_Args *args) {
  args->stream = ((place_of_call *)(void *)args->ctx)->stream;
  return NULL;
}

static XLA_FFI_Buffer buffer(int dtype, void *data, int64_t rank, int64_t *dims) {
  return (XLA_FFI_Buffer){.struct_size = XLA_FFI_Buffer_STRUCT_SIZE,
                          .dtype = (XLA_FFI_DataType)dtype,
                          .data = data,
                          .rank = rank,
                          .dims = dims};
}

/* One call for b (count, n, nrhs); text: the message of its error, or "". */
EXPORT void stand_in_call(char *text, int64_t key, int64_t check, int gpu, int64_t stream,
                          int dtype, int64_t count, int64_t nnz, int64_t n, int64_t nrhs, void *x,
                          void *val, void *b) {
  const XLA_FFI_Api api = {.struct_size = XLA_FFI_Api_STRUCT_SIZE,
                           .XLA_FFI_Error_Create = make_error,
                           .XLA_FFI_Stream_Get = name_stream,
                           .XLA_FFI_DeviceOrdinal_Get = name_gpu};
  place_of_call where_it_runs = {gpu, (void *)(intptr_t)stream};
  int64_t of_values[] = {count, nnz}, of_b[] = {count, n, nrhs};
  XLA_FFI_Buffer buffers[] = {buffer(dtype, val, 2, of_values), buffer(dtype, b, 3, of_b),
                              buffer(dtype, x, 3, of_b)};
  void *arguments[] = {&buffers[0], &buffers[1]}, *results[] = {&buffers[2]};
  XLA_FFI_Scalar scalars[] = {{.value = &check}, {.value = &key}};
  void *attributes[] = {&scalars[0], &scalars[1]};
  XLA_FFI_ByteSpan names[] = {{.ptr = "check", .len = 5}, {.ptr = "key", .len = 3}};
  XLA_FFI_ByteSpan *name[] = {&names[0], &names[1]};
  XLA_FFI_AttrType types[] = {XLA_FFI_AttrType_SCALAR, XLA_FFI_AttrType_SCALAR};
  XLA_FFI_CallFrame frame = {
      .struct_size = XLA_FFI_CallFrame_STRUCT_SIZE,
      .api = &api,
      .ctx = (XLA_FFI_ExecutionContext *)(void *)&where_it_runs,
      .stage = XLA_FFI_ExecutionStage_EXECUTE,
      .args = {.size = 2, .args = arguments},
      .rets = {.size = 1, .rets = results},
      .attrs = {.size = 2, .types = types, .names = name, .attrs = attributes}};
  XLA_FFI_Error *error = trireme_jax_solve(&frame);
  snprintf(text, 512, "%s", error ? error->text : "");
  free(error);
}
