/* handler.c - a custom call of XLA that solves where the program runs, on the CPU or on a GPU.
 *   The Python package registers it (trireme/_jax_ffi.py) and adds the plans, each under a key that
 * the compiled program has as an attribute.  The key is a digest of pattern and options, so that a
 * program which was compiled in another process finds the same plan here or none.
 *   On a GPU the call passes on addresses of device memory and XLA's stream: it needs no CUDA.  The
 * first call on each GPU analyses there, with the values that it brings. */
#include "handler.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The plan, or the batch, on one GPU. */
typedef struct place {
  int gpu;
  trs_plan *plan, *batch; /* NULL before a first call has succeeded */
  trs_matrix *A;
  void *stream;
  pthread_mutex_t lock;
  struct place *next;
} place;

/* One system, solved by a plan, or `count` systems, solved by a batch. */
struct trs_jax_entry {
  int64_t key;
  trs_plan *plan, *batch; /* on the CPU */
  trs_matrix *A;
  void *val; /* the values that A borrows */
  int64_t n, nnz, count;
  XLA_FFI_DataType dtype;
  const trs_jax_recipe *recipe; /* NULL: on the CPU */
  place *places;
  bool current; /* the plan was updated with val */
  int users;    /* calls that have found the entry; guarded by the table's lock */
  pthread_mutex_t lock;
  struct trs_jax_entry *next;
};

enum { BUCKETS = 1024, MOST_GPUS = 64 };

static int announced = XLA_FFI_API_MINOR;
static trs_jax_entry *table[BUCKETS];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static trs_context *contexts[MOST_GPUS]; /* for all entries; they stay */
static pthread_mutex_t contexts_lock = PTHREAD_MUTEX_INITIALIZER;

trs_jax_entry *trs_jax_add(int64_t key, trs_plan *plan, trs_matrix *A, trs_plan *batch, void *val,
                           int64_t n, int64_t nnz, int64_t count, int dtype,
                           const trs_jax_recipe *recipe) {
  trs_jax_entry *e = calloc(1, sizeof *e);
  if (!e) return NULL;
  *e = (trs_jax_entry){.key = key,
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
  trs_jax_entry **bucket = &table[(uint64_t)key % BUCKETS];
  e->next = *bucket;
  *bucket = e;
  pthread_mutex_unlock(&table_lock);
  return e;
}

/* NULL is ignored by the library. */
static void drop(place *p) {
  trs_plan_destroy(p->plan);
  trs_plan_destroy(p->batch);
  trs_matrix_destroy(p->A);
  p->plan = p->batch = NULL;
  p->A = NULL;
}

void trs_jax_remove(trs_jax_entry *e) {
  pthread_mutex_lock(&table_lock);
  trs_jax_entry **at = &table[(uint64_t)e->key % BUCKETS];
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
  if (p->plan) trs_plan_set_stream(p->plan, NULL);
  if (p->batch) trs_plan_set_stream(p->batch, NULL);
  p->stream = NULL;
  pthread_mutex_unlock(&p->lock);
}

void trs_jax_leave_streams(void) {
  pthread_mutex_lock(&table_lock);
  for (int k = 0; k < BUCKETS; k++)
    for (trs_jax_entry *e = table[k]; e; e = e->next) {
      pthread_mutex_lock(&e->lock);
      for (place *p = e->places; p; p = p->next) leave_stream(p);
      pthread_mutex_unlock(&e->lock);
    }
  pthread_mutex_unlock(&table_lock);
}

static trs_jax_entry *find(int64_t key) {
  pthread_mutex_lock(&table_lock);
  trs_jax_entry *e = table[(uint64_t)key % BUCKETS];
  while (e && e->key != key) e = e->next;
  if (e) e->users++;
  pthread_mutex_unlock(&table_lock);
  return e;
}

static void release(trs_jax_entry *e) {
  pthread_mutex_lock(&table_lock);
  if (!--e->users) pthread_cond_broadcast(&released);
  pthread_mutex_unlock(&table_lock);
}

static XLA_FFI_Error *fail(const XLA_FFI_CallFrame *frame, XLA_FFI_Error_Code code,
                           const char *message) {
  XLA_FFI_Error_Create_Args args = {.struct_size = sizeof args, .message = message, .errc = code};
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

static bool is_pivot(trs_status status) {
  return status && (status == TRS_ERROR_ZERO_PIVOT || status == TRS_ERROR_NOT_FINITE);
}

/* An update reads and checks all values; a comparison with the ones before costs less. */
static trs_status refresh(trs_jax_entry *e, const void *val) {
  size_t bytes = (size_t)e->nnz * size_of(e->dtype);
  if (e->current && !memcmp(e->val, val, bytes)) return 0;
  memcpy(e->val, val, bytes);
  trs_status status = trs_update(e->plan, e->A);
  e->current = !status;
  return status;
}

/* x = op(T)^-1 b in every system, after an update of that status.  Unless `check`, a batch whose
 * update met an unusable pivot gives NaN for x of that system. */
static trs_status run(trs_plan *plan, trs_plan *batch, trs_status status, void *x, const void *b,
                      int64_t nrhs, bool check) {
  if (batch && (!status || (is_pivot(status) && !check)))
    status = trs_batch_solve(batch, x, nrhs, 0, b, nrhs, 0, nrhs, TRS_ROW_MAJOR);
  else if (!status)
    status = trs_solve(plan, x, nrhs, b, nrhs, nrhs, TRS_ROW_MAJOR);
  return batch && is_pivot(status) && !check ? 0 : status;
}

static trs_status solve_on_cpu(trs_jax_entry *e, void *x, const void *val, const void *b,
                               int64_t nrhs, bool check) {
  trs_status status = e->batch ? trs_batch_update(e->batch, val, 0) : refresh(e, val);
  status = run(e->plan, e->batch, status, x, b, nrhs, check);
  if (!is_pivot(status) || check) return status;
  memset(x, 0xff, (size_t)(e->n * nrhs) * size_of(e->dtype));
  return 0;
}

static XLA_FFI_Error *execute_on_cpu(const XLA_FFI_CallFrame *frame, trs_jax_entry *e, void *x,
                                     const void *val, const void *b, int64_t nrhs) {
  XLA_FFI_Error *error = NULL;
  pthread_mutex_lock(&e->lock);
  if (solve_on_cpu(e, x, val, b, nrhs, attribute(frame, "check") != 0))
    error = fail(frame, XLA_FFI_Error_Code_INTERNAL, trs_last_error()->message);
  pthread_mutex_unlock(&e->lock);
  return error;
}

/* ---- On a GPU ---- */

/* The GPU and the stream that the program runs on. */
static XLA_FFI_Error *where(const XLA_FFI_CallFrame *frame, int *gpu, void **stream) {
  const XLA_FFI_Api *api = frame->api;
  if (api->struct_size <= offsetof(XLA_FFI_Api, XLA_FFI_DeviceOrdinal_Get))
    return fail(frame, XLA_FFI_Error_Code_UNIMPLEMENTED, "this jaxlib does not name the GPU");
  XLA_FFI_DeviceOrdinal_Get_Args device = {.struct_size = sizeof device, .ctx = frame->ctx};
  XLA_FFI_Stream_Get_Args own = {.struct_size = sizeof own, .ctx = frame->ctx};
  XLA_FFI_Error *error = api->XLA_FFI_DeviceOrdinal_Get(&device);
  if (!error) error = api->XLA_FFI_Stream_Get(&own);
  *gpu = device.device_ordinal;
  *stream = own.stream;
  return error;
}

static trs_status context_of(trs_context **ctx, int gpu) {
  char name[16];
  trs_status status = TRS_SUCCESS;
  snprintf(name, sizeof name, "cuda:%d", gpu);
  pthread_mutex_lock(&contexts_lock);
  if (!contexts[gpu]) status = trs_context_create(&contexts[gpu], name);
  *ctx = contexts[gpu];
  pthread_mutex_unlock(&contexts_lock);
  return status;
}

/* The entry's place on that GPU; NULL: no memory. */
static place *place_on(trs_jax_entry *e, int gpu) {
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

static trs_status make_plan(place *p, const trs_jax_entry *e, const void *val, void *stream) {
  const trs_jax_recipe *r = e->recipe;
  trs_options options = *(const trs_options *)r->options;
  trs_context *ctx;
  options.stream = stream;
  trs_status status = context_of(&ctx, p->gpu);
  if (!status)
    status = trs_matrix_create_device(&p->A, ctx, r->format, r->scalar, e->n, e->n, e->nnz,
                                      r->indexing, r->ptr, r->idx, val);
  if (!status) status = trs_analyze(&p->plan, ctx, p->A, r->uplo, r->trans, r->diag, &options);
  p->stream = stream;
  return status;
}

static trs_status make_batch(place *p, const trs_jax_entry *e) {
  const trs_jax_recipe *r = e->recipe;
  trs_context *ctx;
  trs_status status = context_of(&ctx, p->gpu);
  if (status) return status;
  p->stream = NULL;
  return trs_batch_create(&p->batch, ctx, r->matrix, r->uplo, r->trans, r->diag, e->count,
                          r->options);
}

/* The values may have been written since the call before, in the same buffer: every call updates.
 * The wait reports what failed in the solve before. */
static trs_status renew_plan(place *p, const trs_jax_entry *e, const void *val, void *stream) {
  if (!p->plan) return make_plan(p, e, val, stream);
  trs_status status =
      p->stream == stream ? trs_plan_wait(p->plan) : trs_plan_set_stream(p->plan, stream);
  p->stream = stream;
  if (!status) status = trs_matrix_set_values(p->A, val);
  return status ? status : trs_update(p->plan, p->A);
}

static trs_status renew_batch(place *p, const trs_jax_entry *e, const void *val, void *stream) {
  trs_status status = p->batch ? 0 : make_batch(p, e);
  if (!status && p->stream != stream) status = trs_plan_set_stream(p->batch, stream);
  if (status) return status;
  p->stream = stream;
  return trs_batch_update(p->batch, val, 0);
}

/* After other failures than those of values the next call analyses anew. */
static XLA_FFI_Error *solve_on_gpu(const XLA_FFI_CallFrame *frame, const trs_jax_entry *e, place *p,
                                   void *stream, void *x, const void *val, const void *b,
                                   int64_t nrhs) {
  trs_status status = e->count > 1 ? renew_batch(p, e, val, stream) : renew_plan(p, e, val, stream);
  status = run(p->plan, p->batch, status, x, b, nrhs, attribute(frame, "check") != 0);
  if (!status) return NULL;
  XLA_FFI_Error *error = fail(frame, XLA_FFI_Error_Code_INTERNAL, trs_last_error()->message);
  if (!is_pivot(status) || !(p->plan || p->batch)) drop(p);
  return error;
}

static XLA_FFI_Error *execute_on_gpu(const XLA_FFI_CallFrame *frame, trs_jax_entry *e, void *x,
                                     const void *val, const void *b, int64_t nrhs) {
  char text[160];
  int gpu = 0;
  void *stream = NULL;
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
static bool fits(const trs_jax_entry *e, const XLA_FFI_Buffer *val, const XLA_FFI_Buffer *b,
                 const XLA_FFI_Buffer *x) {
  return val->dtype == e->dtype && b->dtype == e->dtype && x->dtype == e->dtype && val->rank == 2 &&
         b->rank == 3 && x->rank == 3 && val->dims[0] == e->count && val->dims[1] == e->nnz &&
         b->dims[0] == e->count && b->dims[1] == e->n &&
         !memcmp(b->dims, x->dims, 3 * sizeof(int64_t));
}

static XLA_FFI_Error *execute(XLA_FFI_CallFrame *frame) {
  trs_jax_entry *e = find(attribute(frame, "key"));
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

void trs_jax_announce(int minor_version) {
  announced = minor_version < XLA_FFI_API_MINOR ? minor_version : XLA_FFI_API_MINOR;
}

XLA_FFI_Error *trs_jax_solve(XLA_FFI_CallFrame *frame) {
  for (XLA_FFI_Extension_Base *at = frame->extension_start; at; at = at->next) {
    if (at->type != XLA_FFI_Extension_Metadata) continue;
    XLA_FFI_Metadata *its = ((XLA_FFI_Metadata_Extension *)(void *)at)->metadata;
    its->api_version.major_version = XLA_FFI_API_MAJOR;
    its->api_version.minor_version = announced;
    its->traits = 0;
    return NULL;
  }
  return execute(frame);
}
