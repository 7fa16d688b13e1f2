/* stand_in.c - host memory and plain loops in the place of GPUs, for builds without CUDA: what
 * relax/cuda/group.c and backend.c ask of a device, done at once.  Kernels are W21's by rows, in
 * double.  A wait that is not over when it is launched is an error where one thread launches for
 * all: nothing launched later could end it. */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm/transport.h"
#include "relax/cuda/args.h"
#include "relax/cuda/push.h"
#include "relax/exact.h"
#include "relax/stand_in.h"

struct trs_device {
  trs_device_facts facts;
};

static trs_device devices[8];
static _Atomic int64_t allocations;
bool stand_in_one_thread;

int64_t stand_in_held(void) { return allocations; }

/* ---- Memory ---- */

trs_status trs_device_open(trs_device **device, int ordinal) {
  *device = &devices[ordinal];
  (*device)->facts = (trs_device_facts){.ordinal = ordinal, .window_bytes = 1000};
  return TRS_SUCCESS;
}
const char *trs_device_list(void) { return ""; }
trs_device *trs_device_retain(trs_device *device) { return device; }
void trs_device_close(trs_device *device) { (void)device; }
const trs_device_facts *trs_device_look(const trs_device *device) { return &device->facts; }
int trs_device_enter(const trs_device *device) { return device->facts.ordinal; }
void trs_device_leave(int before) { (void)before; }

/* Full of NaN. */
trs_status trs_device_alloc(trs_device *device, void **pointer, int64_t count, size_t size,
                            trs_stream stream) {
  (void)device;
  (void)stream;
  *pointer = malloc((size_t)count * size + 1);
  memset(*pointer, 0xff, (size_t)count * size + 1);
  allocations++;
  return TRS_SUCCESS;
}
void trs_device_free(trs_device *device, void *pointer, trs_stream stream) {
  (void)device;
  (void)stream;
  allocations -= pointer != NULL;
  free(pointer);
}
trs_status trs_device_alloc_plain(trs_device *device, void **pointer, int64_t bytes) {
  return trs_device_alloc(device, pointer, bytes, 1, NULL);
}
void trs_device_free_plain(trs_device *device, void *pointer, int64_t bytes) {
  (void)bytes;
  trs_device_free(device, pointer, NULL);
}
trs_status trs_device_alloc_host(trs_device *device, void **pointer) {
  return trs_device_alloc(device, pointer, TRS_PINNED_BYTES, 1, NULL);
}
void trs_device_free_host(trs_device *device, void *pointer) {
  trs_device_free(device, pointer, NULL);
}
trs_status trs_device_alloc_stage(trs_device *device, void **pointer) {
  return trs_device_alloc(device, pointer, TRS_STAGE_BYTES, 1, NULL);
}
void trs_device_free_stage(trs_device *device, void *pointer) {
  trs_device_free(device, pointer, NULL);
}
trs_status trs_device_copy(void *to, const void *from, int64_t bytes, trs_stream stream) {
  (void)stream;
  memmove(to, from, (size_t)bytes);
  return TRS_SUCCESS;
}
trs_status trs_device_copy_rows(void *to, int64_t to_pitch, const void *from, int64_t from_pitch,
                                int64_t row_bytes, int64_t rows, trs_stream stream) {
  for (int64_t i = 0; i < rows; i++)
    trs_device_copy((char *)to + i * to_pitch, (const char *)from + i * from_pitch, row_bytes,
                    stream);
  return TRS_SUCCESS;
}
trs_status trs_device_fill(void *pointer, int byte, int64_t bytes, trs_stream stream) {
  (void)stream;
  memset(pointer, byte, (size_t)bytes);
  return TRS_SUCCESS;
}
bool trs_device_address(const void *pointer) {
  (void)pointer;
  return false;
}

/* ---- Streams and events: everything is done at once ---- */

trs_status trs_device_wait(trs_stream stream) {
  (void)stream;
  return TRS_SUCCESS;
}
bool trs_device_capturing(trs_stream stream) {
  (void)stream;
  return false;
}
trs_status trs_device_stream_create(const trs_device *device, trs_stream *stream) {
  (void)device;
  *stream = NULL;
  return TRS_SUCCESS;
}
void trs_device_stream_destroy(const trs_device *device, trs_stream stream) {
  (void)device;
  (void)stream;
}
trs_status trs_device_event_create(const trs_device *device, trs_device_event **event) {
  (void)device;
  *event = NULL;
  return TRS_SUCCESS;
}
void trs_device_event_destroy(trs_device_event *event) { (void)event; }
trs_status trs_device_event_record(trs_device_event *event, trs_stream stream) {
  (void)event;
  (void)stream;
  return TRS_SUCCESS;
}
trs_status trs_device_event_follow(trs_device_event *event, trs_stream stream) {
  (void)event;
  (void)stream;
  return TRS_SUCCESS;
}

/* ---- What groups and contexts ask besides ---- */

int64_t trs_device_persist(trs_device *device) {
  (void)device;
  return 500;
}
void trs_device_unpersist(trs_device *device) { (void)device; }
trs_status trs_device_reach(const trs_device *device, const trs_device *other) {
  (void)device;
  (void)other;
  return TRS_SUCCESS;
}
trs_status trs_device_check_managed(const trs_device *device, int64_t bytes) {
  (void)device;
  (void)bytes;
  return TRS_SUCCESS;
}
trs_status trs_device_alloc_managed(const trs_device *device, void **pointer, int64_t bytes) {
  (void)device;
  (void)bytes;
  *pointer = NULL;
  return TRS_ERROR_UNSUPPORTED;
}
void trs_device_free_managed(void *pointer) { (void)pointer; }
trs_status trs_nvshmem_open(trs_group *group) {
  (void)group;
  return TRS_ERROR_UNSUPPORTED;
}

/* ---- Kernels ---- */

static double product(const trs_relax_args *a, int64_t p, int i, const double *x) {
  const double *off = a->off;
  const int b = a->block;
  double sum = 0;
  for (int64_t k = a->ptr[p]; k < a->ptr[p + 1]; k++)
    for (int j = 0; j < b; j++)
      sum += off[(k * b + j) * b + i] * x[(int64_t)a->idx[k] * a->pitch + j];
  return sum;
}

static void relax_row(const trs_relax_args *a, int64_t p, int64_t c) {
  const int b = a->block;
  const double *d = (const double *)a->diagonal + p * b * b;
  const double *r = (const double *)a->r + c * a->r_stride + p * b;
  double *x = (double *)a->x + c * a->x_stride, z[32];
  for (int i = 0; i < b; i++) {
    int from = a->pivot[p * b + i];
    z[i] = r[from] - product(a, p, from, x);
  }
  for (int j = 0; j < b; j++)
    for (int i = j + 1; i < b; i++) z[i] -= d[j * b + i] * z[j];
  for (int j = b - 1; j >= 0; j--) {
    z[j] *= d[j * b + j];
    for (int i = 0; i < j; i++) z[i] -= d[j * b + i] * z[j];
  }
  x += p * a->pitch;
  for (int i = 0; i < b; i++) x[i] += a->omega * (z[i] - x[i]);
}

trs_status trs_relax_rows_run(const trs_relax_args *a, const trs_relax_rows_how *how, int64_t begin,
                              int64_t end, trs_stream stream) {
  (void)how;
  (void)stream;
  for (int c = 0; c < a->nrhs; c++)
    for (int64_t p = begin; p < end; p++) relax_row(a, p, c);
  return TRS_SUCCESS;
}

trs_status trs_relax_load(const trs_relax_args *a, const trs_relax_vectors *v, trs_stream stream) {
  (void)stream;
  for (int64_t c = 0; c < a->nrhs; c++)
    for (int64_t e = 0; e < a->nrows * a->block; e++) {
      int64_t from = (int64_t)a->row[e / a->block] * a->block + e % a->block;
      ((double *)a->r)[c * a->r_stride + e] =
          ((const double *)v->b)[from * v->b_row + c * v->b_col];
      ((double *)a->x)[c * a->x_stride + e] =
          v->keep ? ((const double *)v->x)[from * v->x_row + c * v->x_col] : 0;
    }
  return TRS_SUCCESS;
}

trs_status trs_relax_unload(const trs_relax_args *a, const trs_relax_vectors *v,
                            trs_stream stream) {
  (void)stream;
  for (int64_t c = 0; c < a->nrhs; c++)
    for (int64_t e = 0; e < a->nrows * a->block; e++) {
      int64_t to = (int64_t)a->row[e / a->block] * a->block + e % a->block;
      ((double *)v->x)[to * v->x_row + c * v->x_col] = ((double *)a->x)[c * a->x_stride + e];
    }
  return TRS_SUCCESS;
}

/* Of O x, which reads all that a residual reads. */
trs_status trs_relax_squares(const trs_relax_args *a, trs_stream stream) {
  (void)stream;
  for (int64_t c = 0; c < a->nrhs; c++)
    for (int64_t p = 0; p < a->nrows; p++) {
      uint64_t low[3];
      double square = 0;
      for (int i = 0; i < a->block; i++) {
        double own = product(a, p, i, (const double *)a->x + c * a->x_stride);
        square += own * own;
      }
      int at = trs_exact_digits(square, low);
      for (int k = 0; k < 3; k++) a->words[c * TRS_EXACT_WORDS + at + k] += low[k];
    }
  return TRS_SUCCESS;
}

trs_status trs_relax_roots(const trs_relax_words *w, int nrhs, double *norms, trs_stream stream) {
  (void)stream;
  for (int c = 0; c < nrhs; c++) {
    uint64_t words[TRS_EXACT_WORDS] = {0};
    for (int m = 0; m < w->members; m++)
      for (int k = 0; k < TRS_EXACT_WORDS; k++) words[k] += w->words[m][c * TRS_EXACT_WORDS + k];
    norms[c] = trs_exact_root(words);
  }
  return TRS_SUCCESS;
}

/* The test names W21's variants. */
static trs_status no_slices(void) {
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "no slices in a stand-in");
}
trs_status trs_relax_slices_pack(const trs_relax_args *a, const trs_relax_slices *s,
                                 trs_stream stream) {
  (void)a;
  (void)s;
  (void)stream;
  return no_slices();
}
trs_status trs_relax_slices_unpack(const trs_relax_args *a, const trs_relax_slices *s,
                                   trs_stream stream) {
  return trs_relax_slices_pack(a, s, stream);
}
trs_status trs_relax_slices_run(const trs_relax_args *a, const trs_relax_slices *s, int32_t colour,
                                int part, trs_stream stream) {
  (void)colour;
  (void)part;
  return trs_relax_slices_pack(a, s, stream);
}
trs_status trs_relax_slices_sweep(const trs_relax_args *a, const trs_relax_slices *s, int direction,
                                  int64_t turns, trs_relax_meeting *meeting, trs_stream stream) {
  (void)direction;
  (void)turns;
  (void)meeting;
  return trs_relax_slices_pack(a, s, stream);
}
trs_status trs_relax_slices_prepare(const trs_relax_args *a, trs_relax_slices *s) {
  return trs_relax_slices_pack(a, s, NULL);
}
int64_t trs_relax_slice_vectors(const trs_relax_args *a, int32_t width) {
  (void)a;
  return width;
}
trs_status trs_relax_slices_squares(const trs_relax_args *a, const trs_relax_slices *s,
                                    trs_stream stream) {
  return trs_relax_slices_pack(a, s, stream);
}

/* ---- Turns ---- */

static void tell(uint64_t *word, uint64_t turn) { __atomic_store_n(word, turn, __ATOMIC_RELEASE); }

static void wait_for(uint64_t *word, uint64_t turn) {
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < turn)
    if (stand_in_one_thread) {
      fprintf(stderr, "a launch waits for a later one\n");
      abort();
    }
}

trs_status trs_relax_begin_turn(const trs_relax_turn *t, int overlaps, trs_stream stream) {
  (void)stream;
  if (overlaps && stand_in_one_thread) abort(); /* members share a GPU */
  for (int m = 0; m < t->members; m++)
    if (t->senders >> m & 1) tell(&t->signs[m]->begun[t->me], t->turn);
  for (int m = 0; m < t->members; m++)
    if (t->needed[m]) wait_for(&t->signs[t->me]->pushed[m], t->needed[m]);
  return TRS_SUCCESS;
}

trs_status trs_relax_push_rows(const trs_relax_turn *t, const trs_relax_push *p, int overlaps,
                               trs_stream stream) {
  (void)overlaps;
  (void)stream;
  for (int m = 0; m < t->members; m++)
    if (t->receivers >> m & 1) wait_for(&t->signs[t->me]->begun[m], t->turn);
  for (int64_t c = 0; c < p->nrhs; c++)
    for (int64_t k = 0; k < p->count; k++) {
      const int to = p->member[k];
      const double *from =
          (const double *)p->x[t->me] + c * p->stride[t->me] + (int64_t)p->from[k] * p->pitch;
      memcpy((double *)p->x[to] + c * p->stride[to] + (int64_t)p->to[k] * p->pitch, from,
             (size_t)p->block * sizeof *from);
    }
  for (int m = 0; m < t->members; m++)
    if (t->receivers >> m & 1) tell(&t->signs[m]->pushed[t->me], t->turn);
  return TRS_SUCCESS;
}
