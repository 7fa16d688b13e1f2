/* relaxation.c - the life of a plan of relaxation: pattern, colours, renumbering, values. */
#include "relax/relaxation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/machine_model.h"
#include "base/timer.h"
#include "relax/backend.h"
#include "relax/cuda/args.h"
#include "relax/kernels.h"

const trs_relax_kernels *trs_relax_kernels_of(trs_store store) {
  return (*TRS_ISA_OF(trs_relax_stores, trs_isa_now()))[store];
}

/* ---- Values ---- */

typedef struct put_job {
  trs_relaxation *R;
  const trs_block_source *source;
  int32_t *slot;              /* ncols per thread */
  double *values;             /* one row per thread */
  trs_relax_lengths *lengths; /* per part of the rows */
  trs_failure *failed;        /* per thread, the failure of the first row in the caller's order */
} put_job;

/* The row's number in the source, for position p. */
static int64_t source_row(const put_job *job, int64_t p) {
  return job->source->row && job->R->place ? job->R->place[p] : job->R->row[p];
}

static trs_status put_row(const put_job *job, int64_t p, int32_t *slot, double *values,
                          trs_relax_lengths *lengths) {
  trs_relaxation *R = job->R;
  int64_t from = R->ptr[p], count = R->ptr[p + 1] - from;
  size_t size = (size_t)R->block * (size_t)R->block;
  for (int64_t k = 0; k < count; k++) slot[trs_relaxation_column(R, from + k)] = (int32_t)k;
  slot[R->row[p]] = (int32_t)count;
  memset(values, 0, (size_t)(count + 1) * size * sizeof *values);
  if (p + 1 < R->nrows) trs_block_source_ahead(job->source, source_row(job, p + 1));
  trs_status status = trs_block_source_row(job->source, source_row(job, p), slot, values);
  for (int64_t k = 0; k < count; k++) slot[trs_relaxation_column(R, from + k)] = -1;
  slot[R->row[p]] = -1;
  return status ? status : trs_relax_kernels_of(R->store)->put(R, p, values, lengths);
}

static void put_share(void *argument, int rank, int size) {
  const put_job *job = argument;
  const trs_relaxation *R = job->R;
  int64_t parts = (R->nrows + TRS_RELAX_PART - 1) / TRS_RELAX_PART, begin, end;
  int32_t *slot = job->slot + rank * R->ncols;
  double *values = job->values + rank * (R->longest + 1) * R->block * R->block;
  trs_failure *failed = &job->failed[rank], now;
  for (int64_t j = 0; j < R->ncols; j++) slot[j] = -1;
  failed->status = TRS_SUCCESS;
  trs_share(parts, rank, size, &begin, &end);
  for (int64_t part = begin; part < end; part++) {
    int64_t last = (part + 1) * TRS_RELAX_PART;
    trs_relax_lengths lengths = {0};
    for (int64_t p = part * TRS_RELAX_PART; p < last && p < R->nrows; p++) {
      if (!put_row(job, p, slot, values, &lengths)) continue;
      trs_failure_get(&now);
      if (!failed->status || now.row < failed->row) *failed = now;
    }
    job->lengths[part] = lengths;
  }
}

/* The failure of the first row, for any schedule of threads. */
static trs_status first_failure(const put_job *job, int size) {
  const trs_failure *first = NULL;
  for (int rank = 0; rank < size; rank++)
    if (job->failed[rank].status && (!first || job->failed[rank].row < first->row))
      first = &job->failed[rank];
  return first ? trs_failure_set(first) : TRS_SUCCESS;
}

static trs_status put_rows(put_job *job, int64_t parts) {
  trs_relaxation *R = job->R;
  int size = R->plan->context->threads;
  int64_t block = (int64_t)R->block * R->block;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&job->slot, R->ncols * size),
                        TRS_ROOM(&job->values, (R->longest + 1) * block * size),
                        TRS_ROOM(&job->lengths, parts), TRS_ROOM(&job->failed, size)));
  trs_team_run(R->plan->context->team, size, put_share, job);
  TRS_TRY(first_failure(job, size));
  R->frobenius[0] = R->frobenius[1] = 0;
  R->least_row = INFINITY;
  for (int64_t part = 0; part < parts; part++) {
    const trs_relax_lengths *l = &job->lengths[part];
    if (l->least > 0) R->least_row = fmin(R->least_row, sqrt(l->least));
    for (int k = 0; k < 2; k++)
      R->frobenius[k] = hypot(R->frobenius[k], hypot(sqrt(l->squares[k]), l->norms[k]));
  }
  R->rounding = R->frobenius[0] > 0 ? R->frobenius[1] / R->frobenius[0] : 0;
  return TRS_SUCCESS;
}

/* Allocates the values. */
static trs_status allocate_values(trs_relaxation *R) {
  enum { READ_PAST = 64 };
  const trs_relax_kernels *K = trs_relax_kernels_of(R->store);
  int64_t block = (int64_t)R->block * R->block, bytes;
  if (__builtin_mul_overflow(R->noff, block * (int64_t)K->off_size, &bytes))
    return trs_fail(TRS_ERROR_MEMORY, -1,
                    "out of memory: %lld blocks of %d x %d values exceed 2^63 bytes",
                    (long long)R->noff, R->block, R->block);
  TRS_TRY(trs_alloc(&R->off, bytes + READ_PAST, 1));
  memset((char *)R->off + bytes, 0, READ_PAST);
  if (K->scaled) TRS_TRY(TRS_ALLOC(&R->scale, R->noff));
  TRS_TRY(trs_alloc(&R->diagonal, R->nrows * block + READ_PAST / (int64_t)K->r_size, K->r_size));
  return TRS_ALLOC(&R->pivot, R->nrows * R->block);
}

void trs_relaxation_drop_values(trs_relaxation *R) {
  TRS_FREE_ALL(R->off, R->scale, R->diagonal, R->pivot);
  R->off = R->diagonal = NULL;
  R->scale = NULL;
  R->pivot = NULL;
}

trs_status trs_relaxation_put_values(trs_relaxation *R, const trs_block_source *source) {
  put_job job = {.R = R, .source = source};
  trs_status status = R->off ? TRS_SUCCESS : allocate_values(R);
  if (!status) status = put_rows(&job, (R->nrows + TRS_RELAX_PART - 1) / TRS_RELAX_PART);
  TRS_FREE_ALL(job.slot, job.values, job.lengths, job.failed);
  return status;
}

trs_status trs_relaxation_update(trs_relaxation *R, const trs_block_source *source) {
  double start = trs_seconds();
  TRS_TRY(trs_context_check(R->plan->context));
  R->source = source;
  trs_status status = R->backend->method.update(R->plan);
  R->source = NULL;
  R->plan->update_seconds = trs_seconds() - start;
  return status;
}

/* ---- Creation ---- */

/* The number of threads that pays for a sweep: a colour's barrier costs as much as some thousand
 * products. */
static int choose_threads(const trs_relaxation *R) {
  static const int64_t WORTH = 4096;
  int64_t work = (R->noff + R->nrows) * R->block * R->block / (R->ncolours ? R->ncolours : 1);
  int64_t most = 1 + work / WORTH;
  return most < R->plan->context->threads ? (int)most : R->plan->context->threads;
}

static void begin_pace(trs_relaxation *R) {
  const double values = (double)((R->noff + R->nrows) * R->block * R->block);
  const int members[TRS_PACE_WAYS] = {R->threads, R->threads > 3 ? R->threads / 2 : 0,
                                      R->threads > 1};
  trs_pace_begin(&R->pace, members, trs_cpu_generic.entry * values);
}

static void drop(trs_relaxation **R) {
  trs_relaxation_destroy(*R);
  *R = NULL;
}

/* A plan without a pattern. */
static trs_status begin(trs_relaxation **result, trs_context *context, trs_scalar scalar, int block,
                        const trs_relax_options *options) {
  trs_plan *plan;
  trs_relaxation *R;
  *result = NULL;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ZEROS(&plan, 1), TRS_ZEROS(&R, 1)));
  plan->kind = TRS_OF_RELAXATION;
  plan->state = *result = R;
  plan->context = trs_context_retain(context);
  plan->options.store = options->store;
  snprintf(plan->reason, sizeof plan->reason, "the method of this context for relaxation");
  R->plan = plan;
  R->backend = trs_relax_backend_for(context);
  plan->method = &R->backend->method;
  R->scalar = scalar;
  R->store = options->store;
  R->block = block;
  R->domains = 1;
  R->partition = "one domain";
  return TRS_SUCCESS;
}

/* With the pattern. */
static void set_up(trs_relaxation *R, const trs_relax_options *options) {
  const int64_t size = R->block;
  R->plan->system = (trs_system){
      .scalar = R->scalar, .n = R->nrows * size, .nnz = (R->noff + R->nrows) * size * size};
  R->room = options->nrhs > 1 ? options->nrhs : 1;
  if (R->plan->context->backend->gpu && R->room > TRS_RELAX_MOST_ABREAST)
    R->room = TRS_RELAX_MOST_ABREAST;
  R->threads = choose_threads(R);
  begin_pace(R);
}

trs_status trs_relaxation_lay_out_domain(trs_relaxation **result, trs_context *context,
                                         trs_scalar scalar, int block,
                                         const trs_block_system *system, int32_t me,
                                         const trs_relax_options *options) {
  TRS_TRY(begin(result, context, scalar, block, options));
  trs_status status = trs_domain_lay_out(*result, system, me);
  if (!status)
    set_up(*result, options);
  else
    drop(result);
  return status;
}

trs_status trs_relaxation_build(trs_relaxation **result, trs_block_system *system,
                                const trs_relax_options *options) {
  trs_relaxation *R = *result;
  R->system = system;
  R->options = options;
  trs_status status = R->backend->method.analyze(R->plan);
  R->system = NULL;
  R->options = NULL;
  if (status) drop(result);
  return status;
}

trs_status trs_relaxation_create_domain(trs_relaxation **R, trs_context *context, trs_scalar scalar,
                                        int block, trs_block_system *system, int32_t me,
                                        const trs_relax_options *options) {
  TRS_TRY(trs_relaxation_lay_out_domain(R, context, scalar, block, system, me, options));
  return trs_relaxation_build(R, system, options);
}

trs_status trs_relaxation_create(trs_relaxation **result, trs_context *context,
                                 const trs_block_source *source, const trs_relax_options *options) {
  double start = trs_seconds();
  trs_block_pattern pattern;
  trs_block_system system;
  *result = NULL;
  TRS_TRY(trs_block_pattern_build(&pattern, source, context->team));
  TRS_TRY(trs_block_system_create(&system, &pattern, options, context->team));
  trs_status status = trs_relaxation_create_domain(result, context, source->scalar, source->block,
                                                   &system, 0, options);
  trs_block_system_free(&system);
  if (!status) status = trs_relaxation_update(*result, source);
  if (status)
    drop(result);
  else
    (*result)->plan->analysis_seconds = trs_seconds() - start;
  return status;
}

/* ---- Sweeps over block factors ---- */

trs_status trs_relaxation_create_sweep(trs_relaxation **result, trs_context *context,
                                       trs_scalar scalar, const trs_relax_options *options,
                                       const trs_bilu0 *factors, bool lower) {
  const trs_bilu0_sweep *s = &factors->sweep[!lower];
  TRS_TRY(begin(result, context, scalar, factors->block, options));
  trs_relaxation *R = *result;
  R->factors = trs_bilu0_retain(factors);
  R->triangle = R->by_columns = true;
  R->nrows = R->ncols = factors->n;
  R->noff = s->ptr[factors->n];
  R->row = factors->row;
  R->upper = !lower;
  R->ptr = s->ptr;
  R->idx = s->idx;
  for (int64_t p = 0; p < R->nrows; p++)
    if (s->ptr[p + 1] - s->ptr[p] > R->longest) R->longest = s->ptr[p + 1] - s->ptr[p];
  set_up(R, options);
  return trs_relaxation_build(result, NULL, options);
}

static void put_block(const double *from, int64_t block, int64_t size, double *to) {
  memcpy(to + block * size, from, (size_t)size * sizeof *to);
}

/* The blocks of a row of factors, with D, or ones, last. */
static void give(const trs_bilu0 *w, int64_t i, const int32_t *slot, double *values, bool lower) {
  const int64_t size = (int64_t)w->block * w->block;
  const trs_bilu0_sweep *s = &w->sweep[!lower];
  for (int64_t k = s->ptr[i]; k < s->ptr[i + 1]; k++)
    put_block(s->val + k * size, slot[s->idx[k]], size, values);
  if (!lower) put_block(w->own + i * size, slot[i], size, values);
  for (int r = 0; lower && r < w->block; r++) values[slot[i] * size + r * (w->block + 1)] = 1;
}

static void give_lower(const void *user, int64_t i, const int32_t *slot, double *values) {
  give(user, i, slot, values, true);
}

static void give_upper(const void *user, int64_t i, const int32_t *slot, double *values) {
  give(user, i, slot, values, false);
}

/* The inverses that the factors have, so that x has the bits of a sweep in place. */
static void take_inverses(trs_relaxation *R, const trs_bilu0 *w) {
  const bool wide = trs_relax_kernels_of(R->store)->r_size == sizeof(double);
  const int64_t b = w->block, size = b * b;
  for (int64_t p = 0; p < R->nrows; p++) {
    const int64_t at = R->row[p];
    for (int64_t e = 0; e < size; e++)
      if (wide)
        ((double *)R->diagonal)[p * size + e] = w->inverse[at * size + e];
      else
        ((float *)R->diagonal)[p * size + e] = (float)w->inverse[at * size + e];
    memcpy(R->pivot + p * b, w->pivot + at * b, (size_t)b);
  }
}

static void read_in_place(trs_relaxation *R, const trs_bilu0 *w, bool lower) {
  const trs_bilu0_sweep *s = &w->sweep[!lower];
  trs_bilu0_free((trs_bilu0 *)R->factors);
  R->factors = trs_bilu0_retain(w);
  R->in_place = true;
  R->off = s->val;
  R->diagonal = lower ? NULL : w->inverse;
  R->pivot = lower ? NULL : w->pivot;
}

trs_status trs_relaxation_take(trs_relaxation *R, const trs_bilu0 *w, bool lower) {
  const trs_block_source source = {.scalar = TRS_DOUBLE,
                                   .block = w->block,
                                   .nrows = w->n,
                                   .ncols = w->n,
                                   .give = lower ? give_lower : give_upper,
                                   .user = w};
  R->unit = lower && !R->plan->context->backend->gpu;
  if (R->factors && R->store == TRS_STORE_DOUBLE) {
    read_in_place(R, w, lower);
    return TRS_SUCCESS;
  }
  TRS_TRY(trs_relaxation_update(R, &source));
  if (!lower && !R->plan->context->backend->gpu) take_inverses(R, w);
  return TRS_SUCCESS;
}

/* Forgets the arrays that are those of factors. */
static void leave_factors(trs_relaxation *R) {
  if (!R->factors) return;
  R->row = R->idx = NULL;
  R->ptr = NULL;
  if (R->in_place) R->off = R->diagonal = NULL;
  if (R->in_place) R->pivot = NULL;
  trs_bilu0_free((trs_bilu0 *)R->factors);
}

/* ---- A plan's ---- */

/* A clone has the arrays that sweeps write. */
void trs_relaxation_free(trs_plan *plan) {
  trs_relaxation *R = plan->state;
  if (!R) return;
  TRS_FREE_ALL(R->x, R->r, R->squares, R->partial, R->total, (void *)R->most);
  if (!plan->origin) {
    leave_factors(R);
    trs_domain_free(R->domain);
    TRS_FREE_ALL(R->colour_ptr, R->row, R->place, R->ptr, R->idx, R->off, R->scale, R->diagonal,
                 R->pivot);
  }
  trs_free(R);
}

int64_t trs_relaxation_bytes(const trs_plan *plan) {
  const trs_relaxation *R = plan->state;
  int64_t bytes = TRS_HELD(R, R->x, R->r, R->squares, R->partial, R->total, (const void *)R->most);
  if (plan->origin) return bytes;
  bytes += TRS_HELD(R->colour_ptr, R->place, R->scale);
  if (!R->factors) bytes += TRS_HELD(R->row, R->ptr, R->idx);
  return bytes + (R->in_place ? 0 : TRS_HELD(R->off, R->diagonal, R->pivot));
}

trs_store trs_relaxation_store(const trs_plan *plan) { return plan->options.store; }

/* Steps of several threads; a sweep in the order of its rows has none. */
static int32_t count_levels(const trs_relaxation *R) {
  const trs_system blocks = {
      .n = R->nrows, .rows = true, .lower = !R->upper, .ptr = R->ptr, .idx = R->idx};
  int32_t *level;
  if (!R->factors) return R->ncolours;
  if (TRS_ALLOC(&level, R->nrows)) return 0;
  const int32_t count = trs_levels_find(&blocks, level);
  trs_free(level);
  return count;
}

void trs_relaxation_describe(const trs_plan *plan, char *text, size_t size) {
  const trs_relaxation *R = plan->state;
  static const char *const words[] = {[TRS_STORE_MIXED] = "floats",
                                      [TRS_STORE_DOUBLE] = "doubles",
                                      [TRS_STORE_FLOAT] = "floats",
                                      [TRS_STORE_HALF] = "halfs",
                                      [TRS_STORE_BFLOAT] = "bfloats"};
  const int used = snprintf(text, size, "%lld rows of blocks of %d, %lld blocks of %s, %d %s",
                            (long long)R->nrows, R->block, (long long)(R->noff + R->nrows),
                            words[R->store], count_levels(R), R->triangle ? "levels" : "colours");
  if (!R->triangle)
    snprintf(text + used, size - (size_t)used, ", by %s, %s", R->variant, R->partition);
}

void trs_relaxation_info(const trs_plan *plan, trs_relax_info *info) {
  const trs_relaxation *R = plan->state;
  *info =
      (trs_relax_info){.scalar = R->scalar,
                       .store = R->store,
                       .block_size = R->block,
                       .threads = R->threads,
                       .nrows = R->nrows,
                       .nblocks = R->noff,
                       .longest_row = R->longest,
                       .colours = R->ncolours,
                       .smallest_colour = R->ncolours ? R->nrows : 0,
                       .colour_ptr = R->colour_ptr,
                       .row = R->row,
                       .sweep_bytes = trs_relaxation_sweep_bytes(R),
                       .rounding = R->rounding,
                       .create_seconds = plan->analysis_seconds,
                       .update_seconds = plan->update_seconds,
                       .variant = R->variant,
                       .device_bytes = plan->method->backend->gpu ? plan->method->bytes(plan) : 0,
                       .domains = R->domains,
                       .partition = R->partition};
  for (int32_t c = 0; c < R->ncolours; c++) {
    const int64_t rows = R->colour_ptr[c + 1] - R->colour_ptr[c];
    if (rows < info->smallest_colour) info->smallest_colour = rows;
    if (rows > info->largest_colour) info->largest_colour = rows;
  }
}

int64_t trs_relaxation_sweep_bytes(const trs_relaxation *R) {
  const trs_relax_kernels *K = trs_relax_kernels_of(R->store);
  int64_t b = R->block, n = R->nrows,
          factor = !K->scaled                       ? 0
                   : R->plan->context->backend->gpu ? 1
                                                    : 4;
  return R->noff * (b * b * (int64_t)K->off_size + 4 + factor) + 8 * (n + 1) +
         n * (b * b * (int64_t)K->r_size + b) + n * b * (int64_t)(K->r_size + 2 * K->x_size);
}
