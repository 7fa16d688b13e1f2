/* jax_ffi.c - a custom call of XLA that solves where the program runs, on the CPU or on a GPU.
 *   trireme/jax.py compiles this file with the user's compiler against the header of the installed
 * jaxlib, whose version XLA checks.  It links nothing: Python gives it the addresses of the
 * functions of libtrireme and adds the plans, each under a key that the compiled program has as an
 * attribute.  The key is a digest of pattern and options, so that a program which was compiled in
 * another process finds the same plan here or none.
 *   On a GPU the call passes on addresses of device memory and XLA's stream: it needs no CUDA.  The
 * first call on each GPU analyses there, with the values that it brings. */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xla/ffi/api/c_api.h"

#define EXPORT __attribute__((visibility("default")))

/* trs_error of trireme.h. */
typedef struct trs_error {
  int status;
  int64_t row;
  const char *message;
} trs_error;

/* Of trireme.h, with what Python compares statuses with. */
typedef struct trireme_functions {
  int (*update)(void *plan, const void *A);
  int (*solve)(void *plan, void *x, int64_t ldx, const void *b, int64_t ldb, int64_t nrhs,
               int layout);
  int (*batch_update)(void *batch, const void *val, int64_t stride_val);
  int (*batch_solve)(void *batch, void *x, int64_t ldx, int64_t stride_x, const void *b,
                     int64_t ldb, int64_t stride_b, int64_t nrhs, int layout);
  const trs_error *(*last_error)(void);
  int (*context_create)(void **ctx, const char *where);
  int (*matrix_create_device)(void **A, void *ctx, int format, int scalar, int64_t nrows,
                              int64_t ncols, int64_t nnz, int indexing, const void *ptr,
                              const void *idx, const void *val);
  int (*matrix_set_values)(void *A, const void *val);
  void (*matrix_destroy)(void *A);
  int (*analyze)(void **plan, void *ctx, const void *A, int uplo, int trans, int diag,
                 const void *options);
  int (*plan_set_stream)(void *plan, void *stream);
  int (*plan_wait)(void *plan);
  void (*plan_destroy)(void *plan);
  int (*batch_create)(void **batch, void *ctx, const void *A, int uplo, int trans, int diag,
                      int64_t count, const void *options);
  int zero_pivot, not_finite, row_major;
} trireme_functions;

/* What the first call on a GPU makes its plan or batch from, in host memory. */
typedef struct trireme_recipe {
  const void *ptr, *idx;           /* for a plan */
  const void *matrix;              /* for a batch */
  const void *options;             /* trs_options, or trs_batch_options */
  int64_t options_size, stream_at; /* of trs_options, whose stream is XLA's */
  int format, scalar, indexing, uplo, trans, diag;
  int only; /* the GPU to solve on, or -1: where the program runs */
} trireme_recipe;

/* The plan, or the batch, on one GPU. */
typedef struct place {
  int gpu;
  void *plan, *A, *batch; /* NULL before a first call has succeeded */
  void *stream;
  pthread_mutex_t lock;
  struct place *next;
} place;

/* One system, solved by a plan, or `count` systems, solved by a batch. */
typedef struct entry {
  int64_t key;
  void *plan, *A, *batch; /* on the CPU */
  char *val;              /* the values that A borrows */
  int64_t n, nnz, count;
  XLA_FFI_DataType dtype;
  const trireme_recipe *recipe; /* NULL: on the CPU */
  place *places;
  bool current; /* the plan was updated with val */
  int users;    /* calls that have found the entry; guarded by the table's lock */
  pthread_mutex_t lock;
  struct entry *next;
} entry;

enum { BUCKETS = 1024, MOST_GPUS = 64, MOST_OPTIONS = 256 };

static trireme_functions call;
static entry *table[BUCKETS];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static void *contexts[MOST_GPUS]; /* for all entries; they stay */
static pthread_mutex_t contexts_lock = PTHREAD_MUTEX_INITIALIZER;

EXPORT void trireme_jax_bind(const trireme_functions *functions) { call = *functions; }

EXPORT entry *trireme_jax_add(int64_t key, void *plan, void *A, void *batch, void *val, int64_t n,
                              int64_t nnz, int64_t count, int dtype, const trireme_recipe *recipe) {
  entry *e = calloc(1, sizeof *e);
  if (!e) return NULL;
  *e = (entry){.key = key,
               .plan = plan,
               .A = A,
               .batch = batch,
               .val = val,
               .n = n,
               .nnz = nnz,
               .count = count,
               .dtype = (XLA_FFI_DataType)dtype,
               .recipe = recipe};
  pthread_mutex_init(&e->lock, NULL);
  pthread_mutex_lock(&table_lock);
  entry **bucket = &table[(uint64_t)key % BUCKETS];
  e->next = *bucket;
  *bucket = e;
  pthread_mutex_unlock(&table_lock);
  return e;
}

/* NULL is ignored by the library. */
static void drop(place *p) {
  call.plan_destroy(p->plan);
  call.plan_destroy(p->batch);
  call.matrix_destroy(p->A);
  p->plan = p->batch = p->A = NULL;
}

/* Waits for the calls that have found the entry. */
EXPORT void trireme_jax_remove(entry *e) {
  pthread_mutex_lock(&table_lock);
  entry **at = &table[(uint64_t)e->key % BUCKETS];
  while (*at != e) at = &(*at)->next;
  *at = e->next;
  while (e->users) pthread_cond_wait(&released, &table_lock);
  pthread_mutex_unlock(&table_lock);
  for (place *p = e->places, *next; p; p = next) {
    next = p->next;
    drop(p);
    pthread_mutex_destroy(&p->lock);
    free(p);
  }
  pthread_mutex_destroy(&e->lock);
  free(e);
}

static void leave_stream(place *p) {
  pthread_mutex_lock(&p->lock);
  if (p->plan) call.plan_set_stream(p->plan, NULL);
  if (p->batch) call.plan_set_stream(p->batch, NULL);
  p->stream = NULL;
  pthread_mutex_unlock(&p->lock);
}

/* Before XLA destroys its streams: plans wait for their work in them and use them no more. */
EXPORT void trireme_jax_leave_streams(void) {
  pthread_mutex_lock(&table_lock);
  for (int k = 0; k < BUCKETS; k++)
    for (entry *e = table[k]; e; e = e->next) {
      pthread_mutex_lock(&e->lock);
      for (place *p = e->places; p; p = p->next) leave_stream(p);
      pthread_mutex_unlock(&e->lock);
    }
  pthread_mutex_unlock(&table_lock);
}

static entry *find(int64_t key) {
  pthread_mutex_lock(&table_lock);
  entry *e = table[(uint64_t)key % BUCKETS];
  while (e && e->key != key) e = e->next;
  if (e) e->users++;
  pthread_mutex_unlock(&table_lock);
  return e;
}

static void release(entry *e) {
  pthread_mutex_lock(&table_lock);
  if (!--e->users) pthread_cond_broadcast(&released);
  pthread_mutex_unlock(&table_lock);
}

static XLA_FFI_Error *fail(const XLA_FFI_CallFrame *frame, XLA_FFI_Error_Code code,
                           const char *message) {
  XLA_FFI_Error_Create_Args args = {
      .struct_size = XLA_FFI_Error_Create_Args_STRUCT_SIZE, .message = message, .errc = code};
  return frame->api->XLA_FFI_Error_Create(&args);
}

/* An attribute of 64 bits. */
static int64_t attribute(const XLA_FFI_CallFrame *frame, const char *name) {
  for (int64_t i = 0; i < frame->attrs.size; i++) {
    const XLA_FFI_ByteSpan *its = frame->attrs.names[i];
    if (frame->attrs.types[i] == XLA_FFI_AttrType_SCALAR && its->len == strlen(name) &&
        !memcmp(its->ptr, name, its->len))
      return *(const int64_t *)((const XLA_FFI_Scalar *)frame->attrs.attrs[i])->value;
  }
  return 0;
}

static size_t size_of(XLA_FFI_DataType dtype) {
  return dtype == XLA_FFI_DataType_F32 ? 4 : dtype == XLA_FFI_DataType_C128 ? 16 : 8;
}

static bool is_pivot(int status) {
  return status && (status == call.zero_pivot || status == call.not_finite);
}

/* An update reads and checks all values; a comparison with the ones before costs less. */
static int refresh(entry *e, const void *val) {
  size_t bytes = (size_t)e->nnz * size_of(e->dtype);
  if (e->current && !memcmp(e->val, val, bytes)) return 0;
  memcpy(e->val, val, bytes);
  int status = call.update(e->plan, e->A);
  e->current = !status;
  return status;
}

/* x = op(T)^-1 b in every system, after an update of that status.  Unless `check`, a batch whose
 * update met an unusable pivot gives NaN for x of that system. */
static int run(void *plan, void *batch, int status, void *x, const void *b, int64_t nrhs,
               bool check) {
  if (batch && (!status || (is_pivot(status) && !check)))
    status = call.batch_solve(batch, x, nrhs, 0, b, nrhs, 0, nrhs, call.row_major);
  else if (!status)
    status = call.solve(plan, x, nrhs, b, nrhs, nrhs, call.row_major);
  return batch && is_pivot(status) && !check ? 0 : status;
}

static int solve_on_cpu(entry *e, void *x, const void *val, const void *b, int64_t nrhs,
                        bool check) {
  int status = e->batch ? call.batch_update(e->batch, val, 0) : refresh(e, val);
  status = run(e->plan, e->batch, status, x, b, nrhs, check);
  if (!is_pivot(status) || check) return status;
  memset(x, 0xff, (size_t)(e->n * nrhs) * size_of(e->dtype));
  return 0;
}

static XLA_FFI_Error *execute_on_cpu(const XLA_FFI_CallFrame *frame, entry *e, void *x,
                                     const void *val, const void *b, int64_t nrhs) {
  XLA_FFI_Error *error = NULL;
  pthread_mutex_lock(&e->lock);
  if (solve_on_cpu(e, x, val, b, nrhs, attribute(frame, "check") != 0))
    error = fail(frame, XLA_FFI_Error_Code_INTERNAL, call.last_error()->message);
  pthread_mutex_unlock(&e->lock);
  return error;
}

/* ---- On a GPU ---- */

/* The GPU and the stream that the program runs on. */
static XLA_FFI_Error *where(const XLA_FFI_CallFrame *frame, int *gpu, void **stream) {
#ifdef TRIREME_DEVICE_ORDINAL
  XLA_FFI_DeviceOrdinal_Get_Args device = {
      .struct_size = XLA_FFI_DeviceOrdinal_Get_Args_STRUCT_SIZE, .ctx = frame->ctx};
  XLA_FFI_Stream_Get_Args own = {.struct_size = XLA_FFI_Stream_Get_Args_STRUCT_SIZE,
                                 .ctx = frame->ctx};
  XLA_FFI_Error *error = frame->api->XLA_FFI_DeviceOrdinal_Get(&device);
  if (!error) error = frame->api->XLA_FFI_Stream_Get(&own);
  *gpu = device.device_ordinal;
  *stream = own.stream;
  return error;
#else
  *gpu = 0;
  *stream = NULL;
  return fail(frame, XLA_FFI_Error_Code_UNIMPLEMENTED, "this jaxlib does not name the GPU");
#endif
}

static int context_of(void **ctx, int gpu) {
  char name[16];
  int status = 0;
  snprintf(name, sizeof name, "cuda:%d", gpu);
  pthread_mutex_lock(&contexts_lock);
  if (!contexts[gpu]) status = call.context_create(&contexts[gpu], name);
  *ctx = contexts[gpu];
  pthread_mutex_unlock(&contexts_lock);
  return status;
}

/* The entry's place on that GPU; NULL: no memory. */
static place *place_on(entry *e, int gpu) {
  pthread_mutex_lock(&e->lock);
  place *p = e->places;
  while (p && p->gpu != gpu) p = p->next;
  if (!p && (p = calloc(1, sizeof *p))) {
    p->gpu = gpu;
    pthread_mutex_init(&p->lock, NULL);
    p->next = e->places;
    e->places = p;
  }
  pthread_mutex_unlock(&e->lock);
  return p;
}

static int make_plan(place *p, const entry *e, const void *val, void *stream) {
  const trireme_recipe *r = e->recipe;
  _Alignas(max_align_t) char options[MOST_OPTIONS];
  void *ctx;
  memcpy(options, r->options, (size_t)r->options_size);
  memcpy(options + r->stream_at, &stream, sizeof stream);
  int status = context_of(&ctx, p->gpu);
  if (!status)
    status = call.matrix_create_device(&p->A, ctx, r->format, r->scalar, e->n, e->n, e->nnz,
                                       r->indexing, r->ptr, r->idx, val);
  if (!status) status = call.analyze(&p->plan, ctx, p->A, r->uplo, r->trans, r->diag, options);
  p->stream = stream;
  return status;
}

static int make_batch(place *p, const entry *e) {
  const trireme_recipe *r = e->recipe;
  void *ctx;
  int status = context_of(&ctx, p->gpu);
  if (status) return status;
  p->stream = NULL;
  return call.batch_create(&p->batch, ctx, r->matrix, r->uplo, r->trans, r->diag, e->count,
                           r->options);
}

/* The values may have been written since the call before, in the same buffer: every call updates.
 * The wait reports what failed in the solve before. */
static int renew_plan(place *p, const entry *e, const void *val, void *stream) {
  if (!p->plan) return make_plan(p, e, val, stream);
  int status =
      p->stream == stream ? call.plan_wait(p->plan) : call.plan_set_stream(p->plan, stream);
  p->stream = stream;
  if (!status) status = call.matrix_set_values(p->A, val);
  return status ? status : call.update(p->plan, p->A);
}

static int renew_batch(place *p, const entry *e, const void *val, void *stream) {
  int status = p->batch ? 0 : make_batch(p, e);
  if (!status && p->stream != stream) status = call.plan_set_stream(p->batch, stream);
  if (status) return status;
  p->stream = stream;
  return call.batch_update(p->batch, val, 0);
}

/* After other failures than those of values the next call analyses anew. */
static XLA_FFI_Error *solve_on_gpu(const XLA_FFI_CallFrame *frame, const entry *e, place *p,
                                   void *stream, void *x, const void *val, const void *b,
                                   int64_t nrhs) {
  int status = e->count > 1 ? renew_batch(p, e, val, stream) : renew_plan(p, e, val, stream);
  status = run(p->plan, p->batch, status, x, b, nrhs, attribute(frame, "check") != 0);
  if (!status) return NULL;
  XLA_FFI_Error *error = fail(frame, XLA_FFI_Error_Code_INTERNAL, call.last_error()->message);
  if (!is_pivot(status) || !(p->plan || p->batch)) drop(p);
  return error;
}

static XLA_FFI_Error *execute_on_gpu(const XLA_FFI_CallFrame *frame, entry *e, void *x,
                                     const void *val, const void *b, int64_t nrhs) {
  char text[160];
  int gpu;
  void *stream;
  XLA_FFI_Error *error = where(frame, &gpu, &stream);
  if (error) return error;
  if (gpu < 0 || gpu >= MOST_GPUS || (e->recipe->only >= 0 && gpu != e->recipe->only)) {
    snprintf(text, sizeof text,
             "the program runs on GPU %d, the pattern's device is cuda:%d: leave device out, then "
             "the pattern solves where the program runs",
             gpu, e->recipe->only);
    return fail(frame, XLA_FFI_Error_Code_INVALID_ARGUMENT, text);
  }
  place *p = place_on(e, gpu);
  if (!p) return fail(frame, XLA_FFI_Error_Code_RESOURCE_EXHAUSTED, "no memory for a plan");
  pthread_mutex_lock(&p->lock);
  error = solve_on_gpu(frame, e, p, stream, x, val, b, nrhs);
  pthread_mutex_unlock(&p->lock);
  return error;
}

/* ---- Both ---- */

/* Whether the buffers are those that the program was traced with. */
static bool fits(const entry *e, const XLA_FFI_Buffer *val, const XLA_FFI_Buffer *b,
                 const XLA_FFI_Buffer *x) {
  return val->dtype == e->dtype && b->dtype == e->dtype && x->dtype == e->dtype && val->rank == 2 &&
         b->rank == 3 && x->rank == 3 && val->dims[0] == e->count && val->dims[1] == e->nnz &&
         b->dims[0] == e->count && b->dims[1] == e->n &&
         !memcmp(b->dims, x->dims, 3 * sizeof(int64_t));
}

static XLA_FFI_Error *execute(XLA_FFI_CallFrame *frame) {
  entry *e = find(attribute(frame, "key"));
  if (!e)
    return fail(frame, XLA_FFI_Error_Code_INTERNAL,
                "the program was compiled in another process and its pattern is not in this one: "
                "trace and compile it here");
  const XLA_FFI_Buffer *val = frame->args.args[0], *b = frame->args.args[1];
  const XLA_FFI_Buffer *x = frame->rets.rets[0];
  XLA_FFI_Error *error = NULL;
  if (!fits(e, val, b, x))
    error = fail(frame, XLA_FFI_Error_Code_INTERNAL,
                 "values and b have other shapes or types than the pattern");
  else if (e->recipe)
    error = execute_on_gpu(frame, e, x->data, val->data, b->data, b->dims[2]);
  else
    error = execute_on_cpu(frame, e, x->data, val->data, b->data, b->dims[2]);
  release(e);
  return error;
}

/* XLA asks once for the version that the handler was compiled with.  The type of the list's
 * elements has another name from version 0.4 of its interface on. */
EXPORT XLA_FFI_Error *trireme_jax_solve(XLA_FFI_CallFrame *frame) {
  for (__typeof__(frame->extension_start) at = frame->extension_start; at; at = at->next) {
    if (at->type != XLA_FFI_Extension_Metadata) continue;
    XLA_FFI_Metadata *its = ((XLA_FFI_Metadata_Extension *)at)->metadata;
    its->api_version.major_version = XLA_FFI_API_MAJOR;
    its->api_version.minor_version = XLA_FFI_API_MINOR;
    its->traits = 0;
    return NULL;
  }
  return execute(frame);
}
