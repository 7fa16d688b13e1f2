/* jax_stand_in.c - calls the custom call of trireme.jax as XLA does on GPUs, without one.
 *   test_jax.py compiles this file with handler.c in it and makes the calls.  The interface of XLA
 * is this one: it names a GPU and a stream, and makes errors.  The functions of the library that
 * need a GPU are stood in for here: contexts are serial, matrices in device memory lie in the
 * host's, and streams are only counted. */
#include "handler.h"

static trs_status stand_in_context(trs_context **ctx, const char *where);
static trs_status stand_in_matrix(trs_matrix **A, trs_context *ctx, trs_format format,
                                  trs_scalar scalar, int64_t nrows, int64_t ncols, int64_t nnz,
                                  int indexing, const void *ptr, const void *idx, const void *val);
static trs_status stand_in_stream(trs_plan *plan, void *stream);
static trs_status stand_in_analyze(trs_plan **plan, trs_context *ctx, const trs_matrix *A,
                                   trs_uplo uplo, trs_trans trans, trs_diag diag,
                                   const trs_options *options);
static trs_status stand_in_wait(trs_plan *plan);

#define trs_context_create stand_in_context
#define trs_matrix_create_device stand_in_matrix
#define trs_plan_set_stream stand_in_stream
#define trs_analyze stand_in_analyze
#define trs_plan_wait stand_in_wait
#include "handler.c"
#undef trs_context_create
#undef trs_analyze

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

static trs_status stand_in_context(trs_context **ctx, const char *where) {
  tell("context", where);
  return trs_context_create(ctx, "serial");
}

static trs_status stand_in_matrix(trs_matrix **A, trs_context *ctx, trs_format format,
                                  trs_scalar scalar, int64_t nrows, int64_t ncols, int64_t nnz,
                                  int indexing, const void *ptr, const void *idx, const void *val) {
  (void)ctx, (void)nnz;
  tell("matrix", "");
  return trs_matrix_create(A, format, scalar, nrows, ncols, indexing, ptr, idx, val, TRS_BORROW);
}

static trs_status stand_in_stream(trs_plan *plan, void *stream) {
  (void)plan;
  tell_stream("stream", stream);
  return TRS_SUCCESS;
}

static trs_status stand_in_analyze(trs_plan **plan, trs_context *ctx, const trs_matrix *A,
                                   trs_uplo uplo, trs_trans trans, trs_diag diag,
                                   const trs_options *options) {
  trs_options own = *options;
  tell_stream("analyze", own.stream);
  own.stream = NULL;
  return trs_analyze(plan, ctx, A, uplo, trans, diag, &own);
}

static trs_status stand_in_wait(trs_plan *plan) {
  (void)plan;
  tell("wait", "");
  trs_status status = fails ? TRS_ERROR_INTERNAL : TRS_SUCCESS;
  fails = 0;
  return status;
}

TRS_API void stand_in_fail(void) { fails = 1; }

TRS_API const char *stand_in_told(void) {
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
  return (XLA_FFI_Buffer){.struct_size = sizeof(XLA_FFI_Buffer),
                          .dtype = (XLA_FFI_DataType)dtype,
                          .data = data,
                          .rank = rank,
                          .dims = dims};
}

/* One call for b (count, n, nrhs); text: the message of its error, or "". */
TRS_API void stand_in_call(char *text, int64_t key, int64_t check, int gpu, int64_t stream,
                           int dtype, int64_t count, int64_t nnz, int64_t n, int64_t nrhs, void *x,
                           void *val, void *b) {
  const XLA_FFI_Api api = {.struct_size = sizeof(XLA_FFI_Api),
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
      .struct_size = sizeof(XLA_FFI_CallFrame),
      .api = &api,
      .ctx = (XLA_FFI_ExecutionContext *)(void *)&where_it_runs,
      .stage = XLA_FFI_ExecutionStage_EXECUTE,
      .args = {.size = 2, .args = arguments},
      .rets = {.size = 1, .rets = results},
      .attrs = {.size = 2, .types = types, .names = name, .attrs = attributes}};
  XLA_FFI_Error *error = trs_jax_solve(&frame);
  snprintf(text, 512, "%s", error ? error->text : "");
  free(error);
}
