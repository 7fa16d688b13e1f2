/* sweep.c - W21, Algorithm 1: passes over the colours; a colour's rows are shared among the
 * threads by their blocks, and a barrier parts it from the next.
 *
 *     for n_iter sweeps, for each colour c:  dq_c = D_c^-1 (r_c - O_c dq)
 *
 * A row is summed in one order whoever does it: the bits do not depend on the threads. */
#include <math.h>

#include "relax/cuda/backend.h"
#include "relax/kernels.h"

/* Everyone's work before is visible to everyone after. */
static void wait_for_all(trs_relax_work *w, int size) {
  if (size == 1) return;
  unsigned phase = atomic_load_explicit(&w->phase, memory_order_relaxed), turns = 0;
  if (atomic_fetch_add_explicit(&w->arrived, 1, memory_order_acq_rel) == size - 1) {
    atomic_store_explicit(&w->arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&w->phase, phase + 1, memory_order_release);
    return;
  }
  while (atomic_load_explicit(&w->phase, memory_order_acquire) == phase) trs_spin(&turns);
}

/* The first position of [begin, end) with at least so much work before it, a row counting as two
 * blocks. */
static int64_t cut(const trs_relaxation *R, int64_t begin, int64_t end, int part, int parts) {
  int64_t first = begin, all = R->ptr[end] - R->ptr[begin] + 2 * (end - begin);
  int64_t wanted = all / parts * part + all % parts * part / parts;
  while (begin < end) {
    int64_t middle = begin + (end - begin) / 2;
    if (R->ptr[middle] - R->ptr[first] + 2 * (middle - first) < wanted)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

static void relax_colour(trs_relax_work *w, int32_t c, int rank, int size) {
  const trs_relaxation *R = w->R;
  int64_t begin = R->colour_ptr[c], end = R->colour_ptr[c + 1];
  int64_t from = rank ? cut(R, begin, end, rank, size) : begin;
  int64_t to = rank + 1 < size ? cut(R, begin, end, rank + 1, size) : end;
  const trs_relax_kernels *K = trs_relax_kernels_of(R->store);
  K->relax[R->block <= 8 ? R->block : 0](w, from, to);
  wait_for_all(w, size);
}

static void sweep_once(trs_relax_work *w, int rank, int size) {
  int32_t count = w->R->ncolours;
  if (w->options->direction != TRS_SWEEP_BACKWARD)
    for (int32_t c = 0; c < count; c++) relax_colour(w, c, rank, size);
  if (w->options->direction != TRS_SWEEP_FORWARD)
    for (int32_t c = count - 1; c >= 0; c--) relax_colour(w, c, rank, size);
}

/* Norms of this check; the parts are added in their order. */
static void take_norms(trs_relax_work *w, int64_t check, int rank, int size) {
  const trs_relaxation *R = w->R;
  const trs_relax_kernels *K = trs_relax_kernels_of(R->store);
  int64_t parts = (R->nrows + TRS_RELAX_PART - 1) / TRS_RELAX_PART, begin, end;
  trs_share(parts, rank, size, &begin, &end);
  for (int64_t c = 0; c < w->rhs->nrhs; c++)
    for (int64_t k = begin; k < end; k++) {
      int64_t last = (k + 1) * TRS_RELAX_PART < R->nrows ? (k + 1) * TRS_RELAX_PART : R->nrows;
      R->partial[c * parts + k] = K->residual(w, c, k * TRS_RELAX_PART, last);
    }
  wait_for_all(w, size);
  for (int64_t c = 0; rank == 0 && c < w->rhs->nrhs; c++) {
    double sum = 0;
    for (int64_t k = 0; k < parts; k++) sum += R->partial[c * parts + k];
    w->norms[check * w->norm_stride + c] = sqrt(sum);
  }
  wait_for_all(w, size);
}

static void sweep_share(void *argument, int rank, int size) {
  trs_relax_work *w = argument;
  const trs_relax_kernels *K = trs_relax_kernels_of(w->R->store);
  int64_t begin, end, every = w->norms ? w->options->residual_every : 0;
  trs_share(w->R->nrows, rank, size, &begin, &end);
  K->load(w, begin, end);
  wait_for_all(w, size);
  if (every) take_norms(w, 0, rank, size);
  for (int64_t s = 1; s <= w->options->sweeps; s++) {
    sweep_once(w, rank, size);
    if (every && s % every == 0) take_norms(w, s / every, rank, size);
  }
  K->unload(w, begin, end);
}

trs_status trs_relaxation_sweep(trs_relaxation *R, const trs_rhs *rhs,
                                const trs_sweep_options *options) {
  int64_t size = (int64_t)trs_scalar_size(R->scalar);
  if (R->gpu) return trs_relax_gpu_sweep(R, rhs, options);
  for (int64_t first = 0; first < rhs->nrhs; first += R->room) {
    trs_rhs group = *rhs;
    group.nrhs = rhs->nrhs - first < R->room ? rhs->nrhs - first : R->room;
    group.x = (char *)rhs->x + first * rhs->x_col * size;
    group.b = (const char *)rhs->b + first * rhs->b_col * size;
    trs_relax_work work = {.R = R,
                           .rhs = &group,
                           .options = options,
                           .norms = options->residuals ? options->residuals + first : NULL,
                           .norm_stride = rhs->nrhs};
    trs_team_run(R->context->team, R->threads, sweep_share, &work);
  }
  return TRS_SUCCESS;
}
