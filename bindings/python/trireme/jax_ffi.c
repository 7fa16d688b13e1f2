/* jax_ffi.c - a custom call of XLA that solves on the CPU.
 *   trireme/jax.py compiles this file with the user's compiler against the header of the installed
 * jaxlib, whose version XLA checks.  It links nothing: Python gives it the addresses of the
 * functions of libtrireme and adds the plans, each under a key that the compiled program has as an
 * attribute.  The key is a digest of pattern and options, so that a program which was compiled in
 * another process finds the same plan here or none. */
#include <pthread.h>
#include <stdbool.h>
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
  int zero_pivot, not_finite, row_major;
} trireme_functions;

/* One system, solved by a plan, or `count` systems, solved by a batch. */
typedef struct entry {
  int64_t key;
  void *plan, *A, *batch;
  char *val; /* the values that A borrows */
  int64_t n, nnz, count;
  XLA_FFI_DataType dtype;
  bool current; /* the plan was updated with val */
  int users;    /* calls that have found the entry; guarded by the table's lock */
  pthread_mutex_t lock;
  struct entry *next;
} entry;

enum { BUCKETS = 1024 };

static trireme_functions call;
static entry *table[BUCKETS];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;

EXPORT void trireme_jax_bind(const trireme_functions *functions) { call = *functions; }

EXPORT entry *trireme_jax_add(int64_t key, void *plan, void *A, void *batch, void *val, int64_t n,
                              int64_t nnz, int64_t count, int dtype) {
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
               .dtype = (XLA_FFI_DataType)dtype};
  pthread_mutex_init(&e->lock, NULL);
  pthread_mutex_lock(&table_lock);
  entry **bucket = &table[(uint64_t)key % BUCKETS];
  e->next = *bucket;
  *bucket = e;
  pthread_mutex_unlock(&table_lock);
  return e;
}

/* Waits for the calls that have found the entry. */
EXPORT void trireme_jax_remove(entry *e) {
  pthread_mutex_lock(&table_lock);
  entry **at = &table[(uint64_t)e->key % BUCKETS];
  while (*at != e) at = &(*at)->next;
  *at = e->next;
  while (e->users) pthread_cond_wait(&released, &table_lock);
  pthread_mutex_unlock(&table_lock);
  pthread_mutex_destroy(&e->lock);
  free(e);
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

/* x = op(T)^-1 b in every system.  Unless `check`, x of a system with an unusable pivot is NaN and
 * no error. */
static int solve(entry *e, void *x, const void *val, const void *b, int64_t nrhs, bool check) {
  int status = e->batch ? call.batch_update(e->batch, val, 0) : refresh(e, val);
  if (e->batch && (!status || (is_pivot(status) && !check)))
    status = call.batch_solve(e->batch, x, nrhs, 0, b, nrhs, 0, nrhs, call.row_major);
  else if (!status)
    status = call.solve(e->plan, x, nrhs, b, nrhs, nrhs, call.row_major);
  else if (is_pivot(status) && !check)
    memset(x, 0xff, (size_t)(e->n * nrhs) * size_of(e->dtype));
  return is_pivot(status) && !check ? 0 : status;
}

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
  if (!fits(e, val, b, x)) {
    error = fail(frame, XLA_FFI_Error_Code_INTERNAL,
                 "values and b have other shapes or types than the pattern");
  } else {
    pthread_mutex_lock(&e->lock);
    if (solve(e, x->data, val->data, b->data, b->dims[2], attribute(frame, "check") != 0))
      error = fail(frame, XLA_FFI_Error_Code_INTERNAL, call.last_error()->message);
    pthread_mutex_unlock(&e->lock);
  }
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
