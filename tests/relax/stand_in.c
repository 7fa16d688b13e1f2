/* stand_in.c - plain loops in place of relaxation's kernels, for builds without CUDA: W21's by
 * rows, in double.  If one thread launches for all members, a wait that is not met at its launch is
 * an error, because no later launch could meet it. */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm/transport.h"
#include "relax/backend.h"
#include "relax/cuda/args.h"
#include "relax/cuda/halo.h"
#include "relax/cuda/push.h"
#include "relax/exact.h"
#include "relax/stand_in.h"

bool stand_in_one_thread;
int stand_in_pushes;

const trs_relax_backend *trs_relax_backend_for(const trs_context *context) {
  if (context->group) return &trs_relax_group_backend;
  return context->backend->gpu ? &trs_relax_gpu_backend : &trs_relax_cpu;
}

trs_status trs_nvshmem_open(trs_group *group) {
  (void)group;
  return TRS_ERROR_UNSUPPORTED;
}

static double product(const trs_relax_args *a, int64_t p, int i, const double *x) {
  const double *off = a->off;
  const int b = a->block;
  double sum = 0;
  for (int64_t k = a->ptr[p]; k < a->ptr[p + 1]; k++)
    for (int j = 0; j < b; j++)
      sum += off[(k * b + j) * b + i] * x[(int64_t)a->idx[k] * a->pitch + j];
  return sum;
}

/* y = r - O x of a row. */
static void multiply_row(const trs_relax_args *a, int64_t p, int64_t c, double *y) {
  const double *r = (const double *)a->r + c * a->r_stride + p * a->block;
  const double *x = (const double *)a->x + c * a->x_stride;
  for (int i = 0; i < a->block; i++) y[i] = r[i] - product(a, p, i, x);
}

static void solve_row(const trs_relax_args *a, int64_t p, int64_t c, const double *y) {
  const int b = a->block;
  const double *d = (const double *)a->diagonal + p * b * b;
  double *x = (double *)a->x + c * a->x_stride, z[32];
  for (int i = 0; i < b; i++) z[i] = y[a->pivot[p * b + i]];
  for (int j = 0; j < b; j++)
    for (int i = j + 1; i < b; i++) z[i] -= d[j * b + i] * z[j];
  for (int j = b - 1; j >= 0; j--) {
    z[j] *= d[j * b + j];
    for (int i = 0; i < j; i++) z[i] -= d[j * b + i] * z[j];
  }
  x += p * a->pitch;
  for (int i = 0; i < b; i++) x[i] += a->omega * (z[i] - x[i]);
}

trs_status trs_relax_rows_run(const trs_relax_args *a, const void *paper, int64_t begin,
                              int64_t end, trs_stream stream) {
  double y[32];
  (void)paper, (void)stream;
  for (int c = 0; c < a->nrhs; c++)
    for (int64_t p = begin; p < end; p++) {
      multiply_row(a, p, c, y);
      solve_row(a, p, c, y);
    }
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

/* x is of doubles here, which lose nothing. */
trs_status trs_relax_find_loss(const trs_relax_args *a, double needed, trs_relax_lost *lost,
                               trs_stream stream) {
  (void)a, (void)needed, (void)lost, (void)stream;
  return trs_fail(TRS_ERROR_INTERNAL, -1, "nothing asks the stand-in what x has lost");
}

/* Computes O x, which reads everything that a residual reads. */
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

/* The tests name the variant rows. */
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
trs_status trs_relax_slices_run(const trs_relax_args *a, const trs_relax_slices *s, int32_t colour,
                                int part, trs_stream stream) {
  (void)colour;
  (void)part;
  return trs_relax_slices_pack(a, s, stream);
}
trs_status trs_relax_slices_sweep(const trs_relax_args *a, const trs_relax_slices *s, int direction,
                                  int64_t steps, trs_relax_peer_sync *peers, trs_stream stream) {
  (void)direction;
  (void)steps;
  (void)peers;
  return trs_relax_slices_pack(a, s, stream);
}
trs_status trs_relax_slices_solve(const trs_relax_args *a, const trs_relax_slices *s,
                                  const trs_relax_vectors *v, trs_stream stream) {
  (void)v;
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

/* ---- Rows for other ranks ---- */

trs_status trs_relax_move_rows(const trs_relax_rows_moved *m, trs_stream stream) {
  (void)stream;
  for (int64_t k = 0; k < m->count; k++)
    for (int64_t c = 0; c < m->nrhs; c++) {
      int64_t p = m->list ? m->list[k] : m->first + k;
      double *x = (double *)m->x + c * m->stride + p * m->pitch;
      double *packed = (double *)m->packed + (k * m->nrhs + c) * m->block;
      memcpy(m->out ? packed : x, m->out ? x : packed, (size_t)m->block * sizeof *x);
    }
  return TRS_SUCCESS;
}

/* ---- Steps ---- */

static void tell(uint64_t *word, uint64_t step) { __atomic_store_n(word, step, __ATOMIC_RELEASE); }

static void wait_for(uint64_t *word, uint64_t step) {
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < step)
    if (stand_in_one_thread) {
      fprintf(stderr, "a launch waits for a later one\n");
      abort();
    }
}

trs_status trs_relax_begin_step(const trs_relax_step *t, int overlaps, trs_stream stream) {
  (void)stream;
  if (overlaps && stand_in_one_thread) abort(); /* members share a GPU */
  for (int m = 0; m < t->members; m++)
    if (t->senders >> m & 1) tell(&t->signs[m]->begun[t->me], t->step);
  for (int m = 0; m < t->members; m++)
    if (t->needed[m]) wait_for(&t->signs[t->me]->pushed[m], t->needed[m]);
  return TRS_SUCCESS;
}

trs_status trs_relax_push_rows(const trs_relax_step *t, const trs_relax_push *p, int overlaps,
                               trs_stream stream) {
  (void)overlaps;
  (void)stream;
  __atomic_fetch_add(&stand_in_pushes, 1, __ATOMIC_RELAXED);
  for (int m = 0; m < t->members; m++)
    if (t->receivers >> m & 1) wait_for(&t->signs[t->me]->begun[m], t->step);
  for (int64_t c = 0; c < p->nrhs; c++)
    for (int64_t row = p->begin; row < p->end; row++) {
      const double *from = (const double *)p->x[t->me] + c * p->stride[t->me] + row * p->pitch;
      for (int32_t k = p->ptr[row]; k < p->ptr[row + 1]; k++) {
        const int to = p->member[k];
        memcpy((double *)p->x[to] + c * p->stride[to] + (int64_t)p->to[k] * p->pitch, from,
               (size_t)p->block * sizeof *from);
      }
    }
  for (int m = 0; m < t->members; m++)
    if (t->receivers >> m & 1) tell(&t->signs[m]->pushed[t->me], t->step);
  return TRS_SUCCESS;
}
