/* launch.c - the engine's launches, for one right-hand side and for several.
 *
 * Several right-hand sides pass through the levels in one of two ways.  Batched: the kernels for
 * one right-hand side, with that many times the blocks of threads.  Each right-hand side is as
 * fast as alone while dependencies limit the time, but the matrix is read once per right-hand
 * side.  Many-rhs: the kernels of many_rhs.cu and row_groups.cu, which read the matrix once for
 * all.
 *
 * Columns of b and x are transposed before and after these kernels if the rows of a level lie far
 * apart in memory, since a row is then one line of memory and not one line per value; or if row
 * groups, which take rows, are faster by more than that. */
#include <math.h>
#include <stdlib.h>

#include "solve/cuda/engine/state.h"
#include "solve/cuda/move.h"

enum {
  MOST_TOGETHER = 128, /* right-hand sides solved together, at most */
  MEMORY_SHARE = 8,    /* their workspace takes at most 1 / MEMORY_SHARE of the device */
  WORTH_TRANSPOSING = 8,
  STRETCHES = 4, /* samples of the rows in level order */
  STRETCH = 512, /* rows per sample */
  NEAR = 2       /* rows at most that far apart are about in the same sector */
};
/* Shares of rows beside the row before: below the first, batched right-hand sides touch a sector of
 * b and x per row; below the second, runs of such rows are shorter than the eight whose values of a
 * column fill 64 bytes. */
static const double MOSTLY_APART = 0.5, SHORT_RUNS = 7.0 / 8;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t work_bytes(const trs_engine_args *a, trs_scalar scalar) {
  int64_t parts = (int64_t)a->slices.nparts * a->lanes;
  return (a->slices.n + parts) * (int64_t)trs_scalar_size(scalar);
}

/* Rounds up to whole packs of 16 bytes, the unit of many_rhs.cu. */
static int32_t whole_packs(int64_t width, trs_scalar scalar) {
  int64_t size = (int64_t)trs_scalar_size(scalar), pack = size < 16 ? 16 / size : 1;
  return (int32_t)((width + pack - 1) / pack * pack);
}

/* All but the number of right-hand sides, and with rows near to each other. */
static trs_rhs_rules rhs_rules(const trs_engine *e, const trs_engine_candidate *c,
                               trs_scalar scalar) {
  const trs_device_facts *facts = trs_device_look(e->gpu.device);
  return (trs_rhs_rules){.gpu = &facts->costs,
                         .scalar_bytes = (int32_t)trs_scalar_size(scalar),
                         .most_block = c->rules.most_block,
                         .longest = c->slices.longest,
                         .clusters = e->clusters,
                         .multiprocessors = facts->multiprocessors};
}

double trs_engine_expect_several(const trs_engine *e, const trs_engine_candidate *c,
                                 trs_scalar scalar, int64_t nrhs) {
  trs_rhs_rules rules = rhs_rules(e, c, scalar);
  rules.width = (int32_t)least(nrhs, MOST_TOGETHER);
  return fmin(trs_batched_seconds(c->ranges, c->nranges, c->level, &rules),
              trs_together_seconds(c->level, c->slices.nlevels, c->slices.nparts, &rules));
}

/* The number of right-hand sides up to which batched is faster. */
static int32_t most_batched(const trs_engine *e, const trs_engine_sweep *w, trs_scalar scalar,
                            bool scattered) {
  trs_rhs_rules rules = rhs_rules(e, &w->c, scalar);
  const trs_slices *s = &w->c.slices;
  rules.rows_scattered = scattered;
  if (e->asked.rhs != TRS_RHS_AUTO) return e->asked.rhs == TRS_RHS_BATCHED ? MOST_TOGETHER : 0;
  int32_t good = 1, bad = MOST_TOGETHER + 1;
  while (bad - good > 1) {
    rules.width = (good + bad) / 2;
    double batched = trs_batched_seconds(w->c.ranges, w->c.nranges, w->c.level, &rules);
    double many = trs_together_seconds(w->c.level, s->nlevels, s->nparts, &rules);
    *(batched < many ? &good : &bad) = rules.width;
  }
  return good;
}

/* The share of rows that lie beside the row before them in the order of levels, from samples. */
static trs_status find_rows_near(const trs_engine_sweep *w, trs_stream stream, double *share) {
  const int64_t n = w->args.slices.n, length = least(STRETCH, n);
  int32_t row[STRETCH];
  int64_t near = 0, seen = 0;
  for (int64_t k = 0; k < STRETCHES; k++) {
    const int32_t *from = w->args.slices.row + k * (n - length) / (STRETCHES - 1);
    TRS_TRY(trs_device_copy(row, from, length * (int64_t)sizeof *row, stream));
    TRS_TRY(trs_device_wait(stream));
    for (int64_t p = 1; p < length; p++)
      near += llabs((int64_t)trs_row_number(row[p]) - trs_row_number(row[p - 1])) <= NEAR;
    seen += length - 1;
  }
  *share = seen > 0 ? (double)near / (double)seen : 1;
  return TRS_SUCCESS;
}

/* True if the row-groups kernel is faster in the range than many_rhs.cu, if b and x suit it. */
static bool row_groups_suit(const trs_engine *e, const trs_engine_sweep *w, trs_scalar scalar,
                            const trs_launch_range *range, int32_t width) {
  if (range->heavy || w->c.rules.most_block > TRS_EXACT_BLOCK || e->asked.rhs == TRS_RHS_MANY)
    return false;
  return e->asked.rhs == TRS_RHS_ROW_GROUPS ||
         trs_row_groups_pay(width * (int64_t)trs_scalar_size(scalar), w->c.slices.longest);
}

static bool row_groups_suit_all(const trs_engine *e, const trs_engine_sweep *w, trs_scalar scalar,
                                int32_t width) {
  for (int32_t k = 0; k < w->many_nranges; k++)
    if (!row_groups_suit(e, w, scalar, &w->many_ranges[k], width)) return false;
  return true;
}

/* Makes system_idx, for solves in place. */
static trs_status map_idx(const trs_engine *e, trs_engine_sweep *w, trs_stream stream) {
  const int64_t entries = w->args.slices.entries;
  w->bytes += entries * (int64_t)sizeof(int32_t);
  TRS_TRY(trs_device_alloc(e->gpu.device, (void **)&w->args.system_idx, entries,
                           sizeof *w->args.system_idx, stream));
  return trs_engine_map_idx(w->args.system_idx, &w->args.slices, stream);
}

/* The least number of columns that are transposed for the row-groups kernel, of a plan for `width`;
 * more than that if many-rhs is faster. */
static int32_t least_for_groups(const trs_engine *e, const trs_engine_sweep *w, trs_scalar scalar,
                                int32_t width) {
  const trs_slices *s = &w->c.slices;
  trs_rhs_rules rules = rhs_rules(e, &w->c, scalar);
  if (!row_groups_suit_all(e, w, scalar, width)) return width + 1;
  if (e->asked.rhs == TRS_RHS_ROW_GROUPS) return 2;
  int32_t many = w->most_batched, groups = width + 1;
  while (groups - many > 1) {
    rules.width = (many + groups) / 2;
    *(trs_transposing_pays(w->c.level, s->nlevels, s->nparts, &rules) ? &groups : &many) =
        rules.width;
  }
  return groups;
}

static trs_status allocate_transposed(const trs_engine *e, trs_engine_sweep *w,
                                      const trs_plan *plan) {
  const int64_t bytes =
      w->args.many_rhs * w->args.n * (int64_t)trs_scalar_size(plan->system.scalar);
  w->bytes += bytes;
  return trs_device_alloc(e->gpu.device, &w->transposed, bytes, 1, plan->stream);
}

static trs_status allocate_many(const trs_engine *e, trs_engine_sweep *w, const trs_plan *plan) {
  const int64_t one = work_bytes(&w->args, plan->system.scalar);
  w->bytes += w->args.many_rhs * one;
  return trs_device_alloc(e->gpu.device, &w->args.many_rhs_work, w->args.many_rhs, (size_t)one,
                          plan->stream);
}

trs_status trs_engine_prepare_rhs_again(const trs_engine *e, trs_engine_sweep *w,
                                        const trs_engine_sweep *origin, const trs_plan *clone) {
  if (origin->args.many_rhs_work) TRS_TRY(allocate_many(e, w, clone));
  return origin->transposed ? allocate_transposed(e, w, clone) : TRS_SUCCESS;
}

/* For as many right-hand sides together as the plan expects, as far as memory allows. */
trs_status trs_engine_prepare_rhs(const trs_engine *e, trs_engine_sweep *w, const trs_plan *plan) {
  const trs_scalar scalar = plan->system.scalar;
  int64_t width = least(plan->options.nrhs, MOST_TOGETHER), one = work_bytes(&w->args, scalar);
  int64_t most = trs_device_look(e->gpu.device)->memory_bytes / MEMORY_SHARE;
  while (width > 2 && width * one > most) width = (width + 1) / 2;
  double near = 1;
  if (width >= WORTH_TRANSPOSING) TRS_TRY(find_rows_near(w, plan->stream, &near));
  w->most_batched = most_batched(e, w, scalar, near < MOSTLY_APART);
  w->args.many_rhs = whole_packs(width, scalar);
  TRS_TRY(allocate_many(e, w, plan));
  TRS_TRY(trs_many_rhs_ranges(&w->many_ranges, &w->many_nranges, w->c.level, w->args.slices.nlevels,
                              width * (int64_t)trs_scalar_size(scalar)));
  if (width <= w->most_batched) return TRS_SUCCESS;
  if (!w->row && row_groups_suit_all(e, w, scalar, (int32_t)width))
    TRS_TRY(map_idx(e, w, plan->stream));
  w->rows_scattered = near < SHORT_RUNS;
  w->least_transposed =
      w->rows_scattered ? WORTH_TRANSPOSING : least_for_groups(e, w, scalar, (int32_t)width);
  if (w->least_transposed > width) return TRS_SUCCESS;
  return allocate_transposed(e, w, plan);
}

/* Positions begin .. end - 1 whose x may be waited for: all of launches of several levels but the
 * last level of the last of them.  Earlier launches have solved what stands before. */
static void find_waited(const trs_slice_level *level, const trs_launch_range *ranges,
                        int32_t nranges, int64_t *begin, int64_t *end) {
  *begin = *end = 0;
  for (int32_t k = 0; k < nranges; k++) {
    if (ranges[k].level_end - ranges[k].level < 2) continue;
    if (*end == 0) *begin = level[ranges[k].level].position;
    *end = level[ranges[k].level_end - 1].position;
  }
}

static trs_status clear_work(const trs_engine_sweep *w, const trs_engine_args *a, trs_scalar scalar,
                             trs_stream stream) {
  int64_t size = (int64_t)trs_scalar_size(scalar), begin, end;
  find_waited(w->c.level, w->c.ranges, w->c.nranges, &begin, &end);
  if (begin < end) {
    end += (a->columns - 1) * a->slices.n;
    const int64_t pitch = size << a->work_shift;
    TRS_TRY(trs_device_fill((char *)a->work + begin * pitch, 0xff, (end - begin) * pitch, stream));
  }
  if (a->slices.nparts == 0) return TRS_SUCCESS;
  return trs_device_fill(a->parts, 0xff, a->columns * (int64_t)a->slices.nparts * a->lanes * size,
                         stream);
}

/* The right-hand side in a. */
static trs_status launch_one(const trs_engine *e, const trs_engine_sweep *w,
                             const trs_engine_args *a, trs_scalar scalar, trs_stream stream) {
  if (a->buffers == 1) TRS_TRY(clear_work(w, a, scalar, stream));
  for (int32_t k = 0; k < w->c.nranges; k++) {
    int32_t last = k + 1 == w->c.nranges && a->buffers == 2;
    if (trs_batched_kind(&w->c.ranges[k], a->columns, e->clusters) == TRS_LAUNCH_WARP_SLICE)
      TRS_TRY(trs_engine_warp_slice(a, scalar, &w->c.ranges[k], k, last, stream));
    else
      TRS_TRY(trs_engine_shared_x(a, scalar, &w->c.ranges[k], last, stream));
  }
  return TRS_SUCCESS;
}

/* The same for several right-hand sides: each has its own part of work, with one buffer. */
static trs_status launch_batched(const trs_engine *e, const trs_engine_sweep *w,
                                 const trs_engine_args *a, trs_scalar scalar, int32_t columns,
                                 trs_stream stream) {
  trs_engine_args own = *a;
  own.columns = columns;
  own.buffers = 1;
  own.work_shift = 0;
  own.work = a->many_rhs_work;
  own.parts = (char *)a->many_rhs_work + columns * a->slices.n * (int64_t)trs_scalar_size(scalar);
  return launch_one(e, w, &own, scalar, stream);
}

static trs_status clear_many_rhs(const trs_engine_sweep *w, const trs_engine_args *a,
                                 trs_scalar scalar, trs_stream stream) {
  int64_t begin, end, row = a->many_rhs * (int64_t)trs_scalar_size(scalar);
  find_waited(w->c.level, w->many_ranges, w->many_nranges, &begin, &end);
  if (begin >= end) return TRS_SUCCESS;
  if (a->in_place) return trs_device_fill(a->x, 0xff, a->n * row, stream);
  return trs_device_fill((char *)a->many_rhs_work + begin * row, 0xff, (end - begin) * row, stream);
}

bool trs_engine_whole_packs(const void *first, int64_t row, int64_t column, int32_t width,
                            trs_scalar scalar) {
  const int64_t size = (int64_t)trs_scalar_size(scalar);
  return column == 1 && (uintptr_t)first % 16 == 0 && row * size % 16 == 0 &&
         width * size % 16 == 0;
}

/* By the layout and the width alone: the order of sums must not depend on leading dimensions or on
 * the alignment of b and x. */
static bool takes_row_groups(const trs_engine *e, const trs_engine_sweep *w,
                             const trs_engine_args *a, trs_scalar scalar,
                             const trs_launch_range *range, int32_t width) {
  return row_groups_suit(e, w, scalar, range, width) && a->b_col == 1 && a->x_col == 1 &&
         width * (int64_t)trs_scalar_size(scalar) % 16 == 0;
}

/* Without in_place every x is written twice, and read from many_rhs_work.  The rows of x must be
 * adjacent and apart from b, and all ranges be solved by row groups. */
static bool solves_in_place(const trs_engine *e, const trs_engine_sweep *w,
                            const trs_engine_args *a, trs_scalar scalar, int32_t width) {
  const int64_t size = (int64_t)trs_scalar_size(scalar);
  const char *x = a->x, *b = a->b;
  const bool separate = x >= b + a->n * a->b_row * size || b >= x + a->n * a->x_row * size;
  return a->system_idx && a->x_row == width && separate &&
         row_groups_suit_all(e, w, scalar, width) &&
         trs_engine_whole_packs(b, a->b_row, a->b_col, width, scalar) &&
         trs_engine_whole_packs(x, a->x_row, a->x_col, width, scalar) &&
         trs_device_owns(e->gpu.device, x);
}

static trs_status launch_many_rhs(const trs_engine *e, const trs_engine_sweep *w,
                                  const trs_engine_args *a, trs_scalar scalar, int32_t width,
                                  trs_stream stream) {
  const int64_t shared = trs_device_look(e->gpu.device)->shared_bytes;
  trs_engine_args own = *a;
  own.many_rhs = whole_packs(width, scalar);
  own.in_place = solves_in_place(e, w, a, scalar, width);
  TRS_TRY(clear_many_rhs(w, &own, scalar, stream));
  for (int32_t k = 0; k < w->many_nranges; k++) {
    const trs_launch_range *range = &w->many_ranges[k];
    if (takes_row_groups(e, w, &own, scalar, range, width))
      TRS_TRY(trs_engine_row_groups(&own, scalar, range, width, shared, stream));
    else
      TRS_TRY(trs_engine_many_rhs(&own, scalar, range, width, stream));
  }
  return TRS_SUCCESS;
}

/* Transposes columns of b and x for launch_many_rhs.  x by rows replaces b by rows, or lies where
 * rows wait for it. */
static trs_status launch_transposed(const trs_engine *e, const trs_engine_sweep *w,
                                    const trs_engine_args *a, trs_scalar scalar, int32_t width,
                                    trs_stream stream) {
  trs_row_map in = {.n = a->n, .width = width, .row = a->b_row, .col = a->b_col}, out = in;
  trs_engine_args own = *a;
  out.row = a->x_row, out.col = a->x_col;
  own.x_row = own.b_row = width;
  own.x_col = own.b_col = 1;
  own.b = w->transposed;
  own.x = a->many_rhs_work;
  if (!solves_in_place(e, w, &own, scalar, width)) own.x = w->transposed;
  TRS_TRY(trs_launch_gather(w->transposed, a->b, &in, scalar, stream));
  TRS_TRY(launch_many_rhs(e, w, &own, scalar, width, stream));
  return trs_launch_scatter(a->x, own.x, &out, scalar, stream);
}

static bool transposes(const trs_engine_sweep *w, const trs_engine_args *a, trs_scalar scalar,
                       int32_t width) {
  const bool columns = a->b_col > a->b_row && a->x_col > a->x_row;
  return w->transposed && columns && width >= w->least_transposed &&
         (w->rows_scattered || trs_engine_whole_packs(w->transposed, width, 1, width, scalar));
}

static trs_status launch_some(const trs_engine *e, const trs_engine_sweep *w,
                              const trs_engine_args *a, trs_scalar scalar, int32_t width,
                              trs_stream stream) {
  if (width == 1) return launch_one(e, w, a, scalar, stream);
  if (width <= w->most_batched) return launch_batched(e, w, a, scalar, width, stream);
  if (transposes(w, a, scalar, width)) return launch_transposed(e, w, a, scalar, width, stream);
  return launch_many_rhs(e, w, a, scalar, width, stream);
}

static trs_status launch_together(const trs_engine *e, const trs_rhs *rhs, trs_scalar scalar,
                                  trs_stream stream) {
  trs_engine_args a = e->sweep.args;
  a.x = rhs->x;
  a.b = rhs->b;
  a.x_row = rhs->x_row, a.x_col = rhs->x_col, a.b_row = rhs->b_row, a.b_col = rhs->b_col;
  return launch_some(e, &e->sweep, &a, scalar, (int32_t)rhs->nrhs, stream);
}

trs_status trs_engine_launch(trs_plan *plan, const trs_rhs *rhs, trs_stream stream) {
  const trs_engine *e = plan->state;
  const trs_scalar scalar = plan->system.scalar;
  const int64_t size = (int64_t)trs_scalar_size(scalar), most = e->sweep.args.many_rhs,
                width = most > 0 ? most : 1;
  for (int64_t column = 0; column < rhs->nrhs; column += width) {
    trs_rhs some = *rhs;
    some.nrhs = least(rhs->nrhs - column, width);
    some.x = (char *)rhs->x + column * rhs->x_col * size;
    some.b = (const char *)rhs->b + column * rhs->b_col * size;
    TRS_TRY(launch_together(e, &some, scalar, stream));
  }
  return TRS_SUCCESS;
}
