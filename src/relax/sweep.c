/* sweep.c - W21, Algorithm 1: passes over the colours; the threads share a colour's rows by their
 * blocks, and a barrier separates it from the next.
 *
 *     for n_iter sweeps, for each colour c:  dq_c = D_c^-1 (r_c - O_c dq)
 *
 * The order of a row's sum is fixed: the bits depend neither on the threads nor on the domains.
 * With several domains, each relaxes first the rows of a colour that others read, and sends them
 * while it relaxes the rest. */
#include <math.h>
#include <string.h>

#include "base/counter.h"
#include "base/timer.h"
#include "base/wait.h"
#include "relax/backend.h"
#include "relax/exact.h"
#include "relax/kernels.h"

/* A barrier: all earlier work of every thread is visible to all threads afterwards. */
static void wait_for_all(trs_relax_work *w, int size) {
  if (size == 1) return;
  unsigned phase = atomic_load_explicit(&w->phase, memory_order_relaxed);
  trs_patience wait = {0};
  if (atomic_fetch_add_explicit(&w->arrived, 1, memory_order_acq_rel) == size - 1) {
    atomic_store_explicit(&w->arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&w->phase, phase + 1, memory_order_release);
    return;
  }
  while (atomic_load_explicit(&w->phase, memory_order_acquire) == phase) trs_wait_turn(&wait);
}

/* The first position of [begin, end) with at least the work of the parts before it; a row counts as
 * two blocks more. */
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

/* Relaxes the thread's share of positions; all threads call, and return together.  travels:
 * messages with x are in transit, and progress only when a thread calls look. */
static void relax_rows(trs_relax_work *w, int64_t begin, int64_t end, int rank, int size,
                       bool travels) {
  enum { ROWS_A_LOOK = 512 };
  const trs_relaxation *R = w->R;
  const trs_relax_kernels *K = trs_relax_kernels_of(R->store);
  trs_relax_rows *relax = R->triangle ? K->solve : K->relax;
  int64_t from = rank ? cut(R, begin, end, rank, size) : begin;
  int64_t to = rank + 1 < size ? cut(R, begin, end, rank + 1, size) : end;
  for (; travels && rank == 0 && to - from > ROWS_A_LOOK; from += ROWS_A_LOOK) {
    relax(w, from, from + ROWS_A_LOOK);
    R->links->look(R->links);
  }
  relax(w, from, to);
  wait_for_all(w, size);
}

static void relax_colour(trs_relax_work *w, int32_t c, int rank, int size) {
  const trs_relaxation *R = w->R;
  int64_t begin = R->colour_ptr[c], end = R->colour_ptr[c + 1];
  if (R->links) {
    if (rank == 0) R->links->arrive(R->links, c);
    wait_for_all(w, size);
    relax_rows(w, begin, R->domain->boundary[c], rank, size, false);
    begin = R->domain->boundary[c];
    if (rank == 0) R->links->give(R->links, c);
  }
  relax_rows(w, begin, end, rank, size, R->links != NULL);
}

static void sweep_once(trs_relax_work *w, int rank, int size) {
  const trs_sweep_direction direction = w->options->direction;
  const int64_t steps = trs_relaxation_steps(w->R, 1, direction);
  for (int64_t k = 0; k < steps; k++)
    relax_colour(w, trs_relaxation_colour(w->R, direction, k), rank, size);
}

/* ---- Norms.  Squares of the rows' residuals are added as integers, scaled so that the sum of all
 * just fits 127 bits: exact, for any order of addition. ---- */

/* The larger one; NaN is larger than all. */
static double larger(double a, double b) { return isnan(a) || a > b ? a : b; }

static int64_t count_parts(const trs_relaxation *R) {
  return (R->nrows + TRS_RELAX_PART - 1) / TRS_RELAX_PART;
}

static int64_t end_of_part(const trs_relaxation *R, int64_t k) {
  return (k + 1) * TRS_RELAX_PART < R->nrows ? (k + 1) * TRS_RELAX_PART : R->nrows;
}

static void take_squares(const trs_relax_work *w, int64_t c, int64_t k) {
  const trs_relaxation *R = w->R;
  const trs_relax_kernels *K = trs_relax_kernels_of(R->store);
  double *squares = R->squares + c * R->nrows, most = 0;
  for (int64_t p = k * TRS_RELAX_PART; p < end_of_part(R, k); p++) {
    squares[p] = K->residual(w, c, p, p + 1);
    most = larger(squares[p], most);
  }
  R->partial[c * count_parts(R) + k].most = most;
}

static void add_squares(const trs_relax_work *w, int64_t c, int64_t k) {
  const trs_relaxation *R = w->R;
  const double *squares = R->squares + c * R->nrows;
  trs_relax_wide sum = 0;
  if (isfinite(R->total[c].most))
    for (int64_t p = k * TRS_RELAX_PART; p < end_of_part(R, k); p++)
      sum += (trs_relax_wide)ldexp(squares[p], R->total[c].shift);
  R->partial[c * count_parts(R) + k].sum = sum;
}

/* Combines the parts of this domain, then of all domains: the largest square, or the sum. */
static void join_parts(const trs_relax_work *w, int64_t c, bool sums) {
  const trs_relaxation *R = w->R;
  const trs_square_sum *part = R->partial + c * count_parts(R);
  trs_square_sum own = {0};
  for (int64_t k = 0; k < count_parts(R); k++) {
    own.most = larger(part[k].most, own.most);
    if (sums) own.sum += part[k].sum;
  }
  const trs_square_sum *all = &own;
  int32_t count = 1;
  if (R->links) {
    all = R->links->gather(R->links, &own, sizeof own);
    count = all ? R->domain->count : 0;
  }
  R->total[c].most = 0;
  R->total[c].sum = 0;
  for (int32_t d = 0; d < count; d++) {
    R->total[c].most = larger(all[d].most, R->total[c].most);
    if (sums) R->total[c].sum += all[d].sum;
  }
}

/* Squares below 2^e become integers below 2^(126 - bits of the number of rows). */
static int shift_for(const trs_relaxation *R, double most) {
  int e, digits = 0;
  frexp(most, &e);
  while (R->ncols >> digits) digits++;
  return isfinite(most) ? 126 - digits - e : 0;
}

/* Visits this thread's parts of every right-hand side, and waits for the other threads. */
static void each_part(trs_relax_work *w, int rank, int size,
                      void (*visit)(const trs_relax_work *w, int64_t c, int64_t k)) {
  int64_t begin, end;
  trs_share(count_parts(w->R), rank, size, &begin, &end);
  for (int64_t c = 0; c < w->rhs->nrhs; c++)
    for (int64_t k = begin; k < end; k++) visit(w, c, k);
  wait_for_all(w, size);
}

static void take_norms(trs_relax_work *w, int64_t check, int rank, int size) {
  const trs_relaxation *R = w->R;
  int64_t nrhs = w->rhs->nrhs;
  if (R->links) {
    if (rank == 0) R->links->drain(R->links);
    wait_for_all(w, size);
  }
  each_part(w, rank, size, take_squares);
  for (int64_t c = 0; rank == 0 && c < nrhs; c++) {
    join_parts(w, c, false);
    R->total[c].shift = shift_for(R, R->total[c].most);
  }
  wait_for_all(w, size);
  each_part(w, rank, size, add_squares);
  for (int64_t c = 0; rank == 0 && c < nrhs; c++) {
    join_parts(w, c, true);
    double square = isfinite(R->total[c].most) ? ldexp((double)R->total[c].sum, -R->total[c].shift)
                                               : R->total[c].most;
    w->norms[check * w->norm_stride + c] = trs_exact_norm(square);
  }
  wait_for_all(w, size);
}

/* ---- A call ---- */

static void sweep_share(void *argument, int rank, int size) {
  trs_relax_work *w = argument;
  const trs_relax_kernels *K = trs_relax_kernels_of(w->R->store);
  int64_t begin, end, every = w->norms ? w->options->residual_every : 0;
  trs_share(w->R->nrows, rank, size, &begin, &end);
  K->load(w, begin, end);
  wait_for_all(w, size);
  if (w->R->links) {
    if (rank == 0) w->R->links->start(w->R->links, w->rhs->nrhs, w->options->keep_x);
    wait_for_all(w, size);
  }
  if (every) take_norms(w, 0, rank, size);
  for (int64_t s = 1; s <= w->options->sweeps; s++) {
    sweep_once(w, rank, size);
    if (every && s % every == 0) take_norms(w, s / every, rank, size);
  }
  if (w->R->links && rank == 0) w->R->links->drain(w->R->links);
  K->unload(w, begin, end);
}

/* A triangle: one sweep over the levels, which one thread needs not tell apart.  x may be b, which
 * is looked at before any of it is lost. */
static void solve_share(void *argument, int rank, int size) {
  trs_relax_work *w = argument;
  const trs_relax_kernels *K = trs_relax_kernels_of(w->R->store);
  int64_t begin, end;
  trs_share(w->R->nrows, rank, size, &begin, &end);
  if (trs_relaxation_is_narrow(w->R)) {
    K->note_range(w, begin, end, false);
    wait_for_all(w, size);
  }
  if (size == 1)
    relax_rows(w, 0, w->R->nrows, rank, size, false);
  else
    sweep_once(w, rank, size);
  if (trs_relaxation_is_narrow(w->R)) K->note_range(w, begin, end, true);
}

static double most_of(const trs_relaxation *R, int64_t k) {
  const uint64_t bits = atomic_load_explicit(&R->most[k], memory_order_relaxed);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Blocks of 1 and 2 multiply in the precision of their sums. */
double trs_relaxation_needed(const trs_relaxation *R) {
  const double least = R->scale ? 0x1p-111 : 0x1p-126; /* 16 bits: factors are 2^15 times smaller */
  return R->block > 2 || R->store == TRS_STORE_FLOAT ? least / R->least_row : 0;
}

/* Of all domains. */
static trs_relax_range range_of(const trs_relaxation *R, int64_t c) {
  const trs_relax_range own = {most_of(R, 3 * c), most_of(R, 3 * c + 1), most_of(R, 3 * c + 2),
                               trs_relaxation_needed(R)};
  const trs_relax_range *of = R->links ? R->links->gather(R->links, &own, sizeof own) : NULL;
  trs_relax_range all = own;
  for (int32_t d = 0; of && d < R->domain->count; d++) {
    all.b = larger(of[d].b, all.b);
    all.x = larger(of[d].x, all.x);
    all.part = larger(of[d].part, all.part);
    all.needed = fmax(of[d].needed, all.needed);
  }
  return all;
}

trs_status trs_relaxation_lost(const trs_relaxation *R, trs_relax_loss loss, double b) {
  static const char *const what[] = {[TRS_RELAX_BELOW] = "is below",
                                     [TRS_RELAX_BEYOND] = "is beyond",
                                     [TRS_RELAX_PRODUCTS] = "has products with A below",
                                     [TRS_RELAX_PARTS] = "has parts below"};
  if (loss == TRS_RELAX_NO_LOSS) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "x, which is stored in floats, %s their range, for a largest |b| of %g: "
                  "scale b, or store as double%s",
                  what[loss], b,
                  loss != TRS_RELAX_BEYOND || R->triangle ? "" : ", unless the sweeps diverge");
}

/* x that was rounded to floats although the caller's is of doubles. */
static trs_status check_range(const trs_relaxation *R, const trs_relax_work *w) {
  for (int64_t c = 0; trs_relaxation_is_narrow(R) && w->options->sweeps && c < w->rhs->nrhs; c++) {
    const trs_relax_range r = range_of(R, c);
    TRS_TRY(trs_relaxation_lost(R, trs_relax_judge(&r), r.b));
  }
  return TRS_SUCCESS;
}

static trs_status sweep(trs_relaxation *R, const trs_rhs *rhs, const trs_sweep_options *options) {
  for (int64_t first = 0; first < rhs->nrhs; first += R->room) {
    trs_rhs group = trs_rhs_columns(rhs, R->scalar, first, R->room);
    trs_relax_work work = {.R = R,
                           .rhs = &group,
                           .options = options,
                           .norms = options->residuals ? options->residuals + first : NULL,
                           .norm_stride = rhs->nrhs,
                           .phase = (unsigned)trs_counters_begin};
    for (int64_t k = 0; k < 3 * group.nrhs; k++) atomic_store(&R->most[k], 0);
    const int way = trs_pace_next(&R->pace);
    const double start = trs_seconds();
    trs_team_run(R->plan->context->team, R->pace.way[way].members,
                 R->triangle ? solve_share : sweep_share, &work);
    const double end = trs_seconds(), sweeps = (double)(options->sweeps * group.nrhs);
    if (sweeps > 0) trs_pace_ran(&R->pace, way, (end - start) / sweeps, end);
    TRS_TRY(check_range(R, &work));
  }
  return TRS_SUCCESS;
}

trs_status trs_relaxation_sweep(trs_relaxation *R, const trs_rhs *rhs,
                                const trs_sweep_options *options) {
  TRS_TRY(trs_context_check(R->plan->context));
  return R->backend->sweep(R, rhs, options);
}

/* ---- The CPU's table ---- */

static trs_status analyze(trs_plan *plan) {
  trs_relaxation *R = plan->state;
  const trs_relax_kernels *K = trs_relax_kernels_of(R->store);
  int64_t n;
  R->variant = "threads";
  if (__builtin_mul_overflow((R->nrows + R->nhalo) * R->block, R->room, &n))
    return trs_fail(
        TRS_ERROR_MEMORY, -1,
        "out of memory: %lld block rows of %d with %lld right-hand sides exceed 2^63 bytes",
        (long long)R->nrows, R->block, (long long)R->room);
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM_OF(&R->x, n, K->x_size), TRS_ROOM(&R->most, 3 * R->room)));
  if (R->triangle) return TRS_SUCCESS;
  TRS_TRY(trs_alloc(&R->r, R->nrows * R->block * R->room, K->r_size));
  TRS_TRY(TRS_ALLOC(&R->squares, R->nrows * R->room));
  TRS_TRY(TRS_ALLOC(&R->total, R->room));
  return TRS_ALLOC(&R->partial, (R->nrows + TRS_RELAX_PART - 1) / TRS_RELAX_PART * R->room);
}

/* All else is the origin's. */
static trs_status clone(trs_plan *plan) {
  trs_relaxation *R;
  TRS_TRY(TRS_ALLOC(&R, 1));
  *R = *(const trs_relaxation *)plan->origin->state;
  R->plan = plan;
  R->x = R->r = NULL;
  R->squares = NULL;
  R->partial = R->total = NULL;
  R->most = NULL;
  plan->state = R;
  return analyze(plan);
}

static trs_status update(trs_plan *plan) {
  trs_relaxation *R = plan->state;
  return trs_relaxation_put_values(R, R->source);
}

static trs_status solve(trs_plan *plan, const trs_rhs *rhs) {
  static const trs_sweep_options once = {.sweeps = 1, .omega = 1};
  return sweep(plan->state, rhs, &once);
}

static int threads(const trs_plan *plan) { return ((const trs_relaxation *)plan->state)->threads; }

const trs_relax_backend trs_relax_cpu = {
    .method = {TRS_RELAX_METHOD, .backend = &trs_backend_threads, .analyze = analyze,
               .clone = clone, .update = update, .solve = solve, .threads = threads,
               .bytes = trs_relaxation_bytes, .free = trs_relaxation_free},
    .sweep = sweep};
