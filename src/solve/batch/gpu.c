/* gpu.c - batches on one GPU: the pattern as the two kernels want it, values and right-hand sides
 * from either memory. */
#include "solve/batch/batch.h"

#include <string.h>

#include "analysis/substitute.h"
#include "base/memory.h"
#include "solve/batch/gpu.h"
#include "solve/batch/choice.h"

/* Bytes of values or right-hand sides of the host in device memory at a time, at least a group's.
 */
enum { STAGE_BYTES = 64 << 20 };

/* The systems as one kernel solves them.  Device memory: see trs_batch_sweep, trs_batch_values,
 * trs_batch_joint. */
typedef struct form {
  trs_batch_way way;
  int64_t entries; /* of a system: lanes: a multiple of trs_batch_chunk */
  int64_t rows, packets, pieces, zeros;
  int64_t *source;
  int32_t *pivot_row, *distance, *col, *b_to, *x_from, *zero;
  trs_batch_packet *packet;
  trs_batch_piece *piece;
  void *val, *work;
} form;

struct trs_batch_gpu {
  trs_device *device;
  trs_stream stream;
  int64_t groups;
  form main;
  form rest;      /* without substitution, of the same groups; made when a system needs it */
  bool any_plain; /* some systems are solved by `rest` */
  bool substitutes;
  trs_batch_joint joint; /* without val */

  /* Device memory. */
  int64_t *from_ptr, *from;
  uint64_t *fault;
  void *stage;
  int64_t stage_bytes, bytes;

  uint64_t *fault_here; /* host memory */
  uint8_t *plain_here;
};

/* ---- Device memory ---- */

static trs_status reserve(trs_batch_gpu *g, void *pointer, int64_t count, int64_t size) {
  g->bytes += count * size;
  return trs_device_alloc(g->device, pointer, count, (size_t)size, g->stream);
}

static trs_status upload(trs_batch_gpu *g, void *pointer, const void *from, int64_t count,
                         int64_t size) {
  TRS_TRY(reserve(g, pointer, count, size));
  TRS_TRY(trs_device_copy(*(void **)pointer, from, count * size, g->stream));
  return trs_device_wait(g->stream); /* from may go */
}

#define UPLOAD(g, pointer, from, count) \
  upload((g), (void *)(pointer), (from), (count), (int64_t)sizeof **(pointer))

/* ---- Lanes: rows in the order of the sweep, each with its dependencies, the farthest first, and
 * then its diagonal entry. ---- */

typedef struct lane_tables {
  int64_t *source;
  int32_t *pivot_row, *distance;
} lane_tables;

static void put_entry(const lane_tables *t, int64_t at, int64_t source, int32_t pivot_row,
                      int64_t distance) {
  t->source[at] = source;
  t->pivot_row[at] = pivot_row;
  t->distance[at] = (int32_t)distance;
}

static void fill_lanes(const lane_tables *t, const trs_batch_rows *r, const trs_system *S,
                       int64_t entries) {
  int64_t at = 0;
  for (int64_t k = 0; k < r->count; k++) {
    for (int64_t p = r->ptr[k]; p < r->ptr[k + 1]; p++)
      put_entry(t, at++, r->source[p], -1, k - r->to[p]);
    put_entry(t, at++, r->diagonal[k], S->unit ? -1 : (int32_t)trs_in_sweep(S, k), 0);
  }
  while (at < entries) put_entry(t, at++, TRS_BATCH_ZERO, -1, -1);
}

/* The same with as many entries in each row, and rows of zeros behind the last. */
static void fill_narrow_lanes(const lane_tables *t, const trs_batch_rows *r, const trs_system *S,
                              int64_t entries, const trs_batch_way *way) {
  int64_t at = 0;
  for (int64_t k = 0; k < r->count; k++) {
    for (int u = 0; u < way->narrow; u++) {
      const int64_t p = r->ptr[k] + u;
      const bool there = p < r->ptr[k + 1];
      put_entry(t, at++, there ? r->source[p] : TRS_BATCH_ZERO, -1,
                there ? r->to[p] & (way->window - 1) : way->window);
    }
    put_entry(t, at++, r->diagonal[k], S->unit ? -1 : (int32_t)trs_in_sweep(S, k), 0);
  }
  while (at < entries) put_entry(t, at++, TRS_BATCH_ZERO, -1, way->window);
}

static int64_t lane_entries(const trs_batch_rows *r, int narrow) {
  const int64_t entries = narrow ? r->count * (narrow + 1) : r->entries + r->count;
  const int64_t chunk = trs_batch_chunk(narrow);
  return (entries + chunk - 1) / chunk * chunk;
}

static trs_status upload_lanes(trs_batch_gpu *g, form *f, const trs_batch_rows *r,
                               const trs_system *S) {
  lane_tables t = {0};
  f->entries = lane_entries(r, f->way.narrow);
  trs_status status = TRS_ALLOC(&t.source, f->entries);
  if (!status) status = TRS_ALLOC(&t.pivot_row, f->entries);
  if (!status) status = TRS_ALLOC(&t.distance, f->entries);
  if (!status && f->way.narrow) fill_narrow_lanes(&t, r, S, f->entries, &f->way);
  if (!status && !f->way.narrow) fill_lanes(&t, r, S, f->entries);
  if (!status) status = UPLOAD(g, &f->source, t.source, f->entries);
  if (!status) status = UPLOAD(g, &f->pivot_row, t.pivot_row, f->entries);
  if (!status) status = UPLOAD(g, &f->distance, t.distance, f->entries);
  TRS_FREE_ALL(t.source, t.pivot_row, t.distance);
  return status;
}

/* ---- Levels ---- */

static trs_status upload_program(trs_batch_gpu *g, form *f, const trs_batch_program *p, int64_t n) {
  f->entries = p->entries;
  f->rows = p->rows;
  f->packets = p->packets;
  f->pieces = p->pieces;
  f->zeros = p->zeros;
  TRS_TRY(UPLOAD(g, &f->source, p->source, p->entries));
  TRS_TRY(UPLOAD(g, &f->pivot_row, p->pivot_row, p->entries));
  TRS_TRY(UPLOAD(g, &f->col, p->col, p->entries));
  TRS_TRY(UPLOAD(g, &f->packet, p->packet, p->packets + TRS_BATCH_STAGES));
  TRS_TRY(UPLOAD(g, &f->piece, p->piece, p->pieces + 1));
  TRS_TRY(UPLOAD(g, &f->b_to, p->b, n));
  TRS_TRY(UPLOAD(g, &f->x_from, p->x, n));
  return UPLOAD(g, &f->zero, p->zero, p->zeros);
}

static trs_status upload_joint(trs_batch_gpu *g, const trs_batch_substitution *s, int64_t count) {
  trs_batch_joint *j = &g->joint;
  const int64_t l = s->l_ptr[s->n], m = s->m_ptr[s->n],
                systems = g->groups << g->main.way.log_systems;
  *j = (trs_batch_joint){.count = count,
                         .entries = g->main.entries,
                         .n = s->n,
                         .log_systems = g->main.way.log_systems,
                         .steps = s->steps,
                         .most_growth = TRS_SUBSTITUTION_GROWTH};
  TRS_TRY(UPLOAD(g, &j->step_entry, s->step_entry, s->steps + 1));
  TRS_TRY(UPLOAD(g, &j->step_row, s->step_row, s->steps + 1));
  TRS_TRY(UPLOAD(g, &j->row, s->row, s->n));
  TRS_TRY(UPLOAD(g, &j->to, s->to, s->entries));
  TRS_TRY(UPLOAD(g, &j->ptr, s->ptr, s->entries + 1));
  TRS_TRY(UPLOAD(g, &j->a, s->a, s->products));
  TRS_TRY(UPLOAD(g, &j->inverse, s->inverse, s->products));
  TRS_TRY(UPLOAD(g, &j->m, s->m, s->products));
  TRS_TRY(UPLOAD(g, &j->l_ptr, s->l_ptr, s->n + 1));
  TRS_TRY(UPLOAD(g, &j->l_at, s->l_at, l));
  TRS_TRY(UPLOAD(g, &j->l_col, s->l_col, l));
  TRS_TRY(UPLOAD(g, &j->column_ptr, s->column_ptr, s->n + 1));
  TRS_TRY(UPLOAD(g, &j->column_at, s->column_at, l));
  TRS_TRY(UPLOAD(g, &j->column_row, s->column_row, l));
  TRS_TRY(UPLOAD(g, &j->m_ptr, s->m_ptr, s->n + 1));
  TRS_TRY(UPLOAD(g, &j->m_at, s->m_at, m));
  TRS_TRY(UPLOAD(g, &j->m_col, s->m_col, m));
  TRS_TRY(UPLOAD(g, &j->diagonal, s->diagonal, s->n));
  TRS_TRY(reserve(g, &j->room, 3 * s->n * systems, sizeof *j->room));
  TRS_TRY(reserve(g, &j->plain, systems, sizeof *j->plain));
  return TRS_ALLOC_ZERO(&g->plain_here, count);
}

/* s: NULL, or the substitution of these rows. */
static trs_status upload_levels(trs_batch_gpu *g, form *f, const trs_batch_rows *r,
                                const trs_batch *B, trs_batch_substitution *s) {
  trs_batch_program p;
  trs_status status =
      trs_batch_program_make(&p, r, &B->system, f->way.room, f->way.threads >> f->way.log_systems);
  if (!status) status = upload_program(g, f, &p, B->system.n);
  if (!status && s) {
    trs_batch_substitution_place(s, &p);
    status = upload_joint(g, s, B->count);
  }
  trs_batch_program_drop(&p);
  return status;
}

static trs_status reserve_numbers(trs_batch_gpu *g, form *f, const trs_batch *B) {
  const int64_t size = (int64_t)trs_scalar_size(B->system.scalar);
  const int64_t systems = g->groups << f->way.log_systems;
  int64_t values, rows;
  if (__builtin_mul_overflow(systems, f->entries, &values) ||
      __builtin_mul_overflow(systems * f->way.width, f->rows + 1, &rows))
    return trs_fail(TRS_ERROR_MEMORY, -1, "%lld systems of %lld entries exceed the address space",
                    (long long)B->count, (long long)B->system.nnz);
  TRS_TRY(reserve(g, &f->val, values, size));
  if (!f->way.lanes && !f->way.shared) return reserve(g, &f->work, rows, size);
  return TRS_SUCCESS;
}

static trs_status bring(trs_batch_gpu *g, const trs_batch *B, trs_batch_pattern *pattern) {
  form *f = &g->main;
  g->groups = (B->count + (1 << f->way.log_systems) - 1) >> f->way.log_systems;
  g->substitutes = f->way.depth > 0;
  TRS_TRY(trs_batch_prepare(B->system.scalar, trs_device_look(g->device)->shared_bytes));
  TRS_TRY(f->way.lanes ? upload_lanes(g, f, &pattern->rows, &B->system)
                       : upload_levels(g, f, &pattern->rows, B,
                                       g->substitutes ? &pattern->substitution : NULL));
  if (B->from) {
    TRS_TRY(UPLOAD(g, &g->from_ptr, B->from_ptr, B->system.nnz + 1));
    TRS_TRY(UPLOAD(g, &g->from, B->from, B->from_ptr[B->system.nnz]));
  }
  TRS_TRY(reserve(g, &g->fault, g->groups << f->way.log_systems, sizeof *g->fault));
  TRS_TRY(reserve_numbers(g, f, B));
  return TRS_ALLOC(&g->fault_here, B->count);
}

static trs_batch_case case_of(const trs_batch_gpu *g, const trs_batch *B, int64_t nrhs) {
  return (trs_batch_case){.system = &B->system,
                          .facts = trs_device_look(g->device),
                          .count = B->count,
                          .nrhs = nrhs > 1 ? nrhs : 1};
}

static trs_status build(trs_batch_gpu *g, const trs_batch *B, int64_t nrhs) {
  const trs_batch_case about = case_of(g, B, nrhs);
  trs_batch_pattern pattern = {0};
  if (B->system.n == 0) return TRS_SUCCESS;
  trs_status status = trs_batch_choose(&g->main.way, &pattern, &about);
  if (!status) status = bring(g, B, &pattern);
  trs_batch_pattern_drop(&pattern);
  return status;
}

static void drop_form(trs_batch_gpu *g, form *f) {
  void *arrays[] = {f->source, f->pivot_row, f->distance, f->col, f->b_to, f->x_from,
                    f->zero,   f->packet,    f->piece,    f->val, f->work};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
    trs_device_free(g->device, arrays[k], g->stream);
  *f = (form){0};
}

/* The form without substitution. */
static trs_status build_rest(trs_batch_gpu *g, const trs_batch *B) {
  const trs_batch_case about = case_of(g, B, g->main.way.width);
  trs_batch_pattern pattern = {0};
  if (g->rest.val) return TRS_SUCCESS;
  trs_status status = trs_batch_choose_rest(&g->rest.way, &pattern, &about, &g->main.way);
  if (!status) status = upload_levels(g, &g->rest, &pattern.rows, B, NULL);
  if (!status) status = reserve_numbers(g, &g->rest, B);
  if (status) drop_form(g, &g->rest);
  trs_batch_pattern_drop(&pattern);
  return status;
}

trs_status trs_batch_gpu_make(trs_batch *B, int64_t nrhs) {
  TRS_TRY(TRS_ALLOC_ZERO(&B->gpu, 1));
  trs_batch_gpu *g = B->gpu;
  g->device = B->context->device;
  trs_context_limit_gpus(B->context);
  const int before = trs_device_enter(g->device);
  trs_status status = B->count > 0 ? build(g, B, nrhs) : TRS_SUCCESS;
  trs_device_leave(before);
  return status;
}

bool trs_batch_gpu_keeps_pattern(const trs_batch *B) { return B->gpu->substitutes; }

static void drop_joint(trs_batch_gpu *g) {
  const trs_batch_joint *j = &g->joint;
  const void *arrays[] = {j->step_entry, j->step_row,   j->row,   j->to,        j->ptr,
                          j->a,          j->inverse,    j->m,     j->l_ptr,     j->l_at,
                          j->l_col,      j->column_ptr, j->m_ptr, j->column_at, j->column_row,
                          j->m_at,       j->m_col,      j->room,  j->plain,     j->diagonal};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
    trs_device_free(g->device, (void *)arrays[k], g->stream);
}

/* In a forked process CUDA is lost, and the memory with it. */
void trs_batch_gpu_drop(trs_batch *B) {
  trs_batch_gpu *g = B->gpu;
  if (!g) return;
  if (!trs_context_is_inherited(B->context)) {
    void *arrays[] = {g->from_ptr, g->from, g->fault, g->stage};
    const int before = trs_device_enter(g->device);
    drop_form(g, &g->main);
    drop_form(g, &g->rest);
    drop_joint(g);
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
      trs_device_free(g->device, arrays[k], g->stream);
    trs_device_leave(before);
  }
  TRS_FREE_ALL(g->fault_here, g->plain_here, g);
  B->gpu = NULL;
}

/* ---- Arrays of the caller: those in device memory as they lie, others through a stage. ---- */

static trs_status check_alignment(const trs_batch *B, const char *name, const void *array) {
  const size_t size = trs_scalar_size(B->system.scalar);
  if ((uintptr_t)array % size == 0) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1,
                  "%s in device memory is not aligned to its elements of %zu bytes: copy it into "
                  "an array that is",
                  name, size);
}

/* Room for some whole groups of systems of `own` bytes each; *groups: how many. */
static trs_status need_stage(trs_batch_gpu *g, int64_t own, int64_t *groups) {
  const int64_t group = own << g->main.way.log_systems;
  *groups = group < STAGE_BYTES ? STAGE_BYTES / group : 1;
  if (*groups > g->groups) *groups = g->groups;
  if (*groups * group <= g->stage_bytes) return TRS_SUCCESS;
  trs_device_free(g->device, g->stage, g->stream);
  g->bytes -= g->stage_bytes;
  g->stage = NULL;
  g->stage_bytes = 0;
  TRS_TRY(reserve(g, &g->stage, *groups * group, 1));
  g->stage_bytes = *groups * group;
  return TRS_SUCCESS;
}

/* A part of the groups; how many systems it has. */
static int64_t systems_in(const trs_batch *B, int64_t first, int64_t groups) {
  const int log = B->gpu->main.way.log_systems;
  const int64_t left = B->count - (first << log), all = groups << log;
  return left < all ? left : all;
}

static trs_status take_part(trs_batch *B, const form *f, const void *val, int64_t stride,
                            int64_t first, int64_t groups) {
  const trs_batch_gpu *g = B->gpu;
  const trs_batch_values v = {.count = B->count,
                              .first = first,
                              .groups = groups,
                              .entries = f->entries,
                              .log_systems = f->way.log_systems,
                              .conj = B->system.conj,
                              .source = f->source,
                              .pivot_row = f->pivot_row,
                              .from_ptr = g->from_ptr,
                              .from = g->from,
                              .val = val,
                              .stride = stride,
                              .to = f->val,
                              .fault = g->fault};
  return trs_batch_take_values(&v, B->system.scalar, g->stream);
}

static trs_status take_from_host(trs_batch *B, const form *f, const char *val, int64_t stride) {
  trs_batch_gpu *g = B->gpu;
  const int64_t size = (int64_t)trs_scalar_size(B->system.scalar), own = B->given * size;
  int64_t most_groups;
  TRS_TRY(need_stage(g, own, &most_groups));
  for (int64_t first = 0; first < g->groups; first += most_groups) {
    const int64_t groups = g->groups - first < most_groups ? g->groups - first : most_groups;
    TRS_TRY(trs_device_copy_rows(g->stage, own, val + (first << f->way.log_systems) * stride * size,
                                 stride * size, own, systems_in(B, first, groups), g->stream));
    TRS_TRY(take_part(B, f, g->stage, B->given, first, groups));
  }
  return TRS_SUCCESS;
}

static trs_status take_form(trs_batch *B, const form *f, const void *val, int64_t stride) {
  if (B->given == 0 || trs_device_address(val)) {
    TRS_TRY(check_alignment(B, "val", val));
    return take_part(B, f, val, stride, 0, B->gpu->groups);
  }
  return take_from_host(B, f, val, stride);
}

static trs_status substitute(trs_batch *B) {
  trs_batch_gpu *g = B->gpu;
  trs_batch_joint v = g->joint;
  v.groups = g->groups;
  v.val = g->main.val;
  TRS_TRY(trs_device_fill(v.plain, 0, g->groups << v.log_systems, g->stream));
  TRS_TRY(trs_batch_take_joint(&v, B->system.scalar, g->stream));
  return trs_device_copy(g->plain_here, v.plain, B->count, g->stream);
}

static trs_status take_values(trs_batch *B, const void *val, int64_t stride) {
  trs_batch_gpu *g = B->gpu;
  const int64_t bytes = (g->groups << g->main.way.log_systems) * (int64_t)sizeof *g->fault;
  TRS_TRY(trs_device_fill(g->fault, 0xff, bytes, g->stream));
  TRS_TRY(take_form(B, &g->main, val, stride));
  if (g->substitutes) TRS_TRY(substitute(B));
  TRS_TRY(
      trs_device_copy(g->fault_here, g->fault, B->count * (int64_t)sizeof *g->fault, g->stream));
  TRS_TRY(trs_device_wait(g->stream));
  g->any_plain = false;
  for (int64_t s = 0; s < B->count; s++) {
    const bool none = g->fault_here[s] == UINT64_MAX;
    B->row[s] = none ? -1 : (int64_t)(g->fault_here[s] / 4);
    B->pivot[s] = none ? TRS_PIVOT_GOOD : (trs_pivot)(g->fault_here[s] % 4);
    g->any_plain |= g->substitutes && none && g->plain_here[s];
  }
  if (!g->any_plain) return TRS_SUCCESS;
  TRS_TRY(build_rest(g, B));
  TRS_TRY(take_form(B, &g->rest, val, stride));
  return trs_device_wait(g->stream);
}

trs_status trs_batch_gpu_fill(trs_batch *B, const void *val, int64_t stride) {
  if (B->count == 0) return TRS_SUCCESS;
  if (B->system.n == 0) return TRS_SUCCESS;
  trs_context_limit_gpus(B->context);
  const int before = trs_device_enter(B->gpu->device);
  trs_status status = take_values(B, val, stride);
  trs_device_leave(before);
  return status;
}

/* ---- Solving ---- */

static trs_status launch_form(const trs_batch *B, const form *f, const trs_rhs *rhs, int64_t b_next,
                              int64_t x_next, int64_t first, int64_t groups) {
  const trs_batch_gpu *g = B->gpu;
  const trs_batch_way *way = &f->way;
  const int width = rhs->nrhs > 1 ? way->width : 1;
  const int64_t size = (int64_t)trs_scalar_size(B->system.scalar);
  const trs_batch_sweep a = {.n = B->system.n,
                             .entries = f->entries,
                             .count = B->count,
                             .first = first,
                             .groups = groups,
                             .log_systems = way->log_systems,
                             .lower = B->system.lower,
                             .unit = B->system.unit,
                             .val = f->val,
                             .fault = g->fault,
                             .plain = g->substitutes ? g->joint.plain : NULL,
                             .takes_plain = f == &g->rest,
                             .has_rest = g->any_plain,
                             .distance = f->distance,
                             .window = way->window,
                             .narrow = way->narrow,
                             .packet = f->packet,
                             .piece = f->piece,
                             .col = f->col,
                             .b_to = f->b_to,
                             .x_from = f->x_from,
                             .zero = f->zero,
                             .rows = f->rows,
                             .packets = f->packets,
                             .pieces = f->pieces,
                             .zeros = f->zeros,
                             .threads = way->threads,
                             .room = way->room,
                             .stage_bytes = trs_batch_stage_bytes(size, way),
                             .pitch = trs_batch_pitch(way->log_systems, width, way->shared),
                             .work = f->work,
                             .x = rhs->x,
                             .b = rhs->b,
                             .nrhs = rhs->nrhs,
                             .x_next = x_next,
                             .x_row = rhs->x_row,
                             .x_col = rhs->x_col,
                             .b_next = b_next,
                             .b_row = rhs->b_row,
                             .b_col = rhs->b_col};
  if (way->lanes) return trs_batch_lanes_sweep(&a, B->system.scalar, g->stream);
  return trs_batch_levels_sweep(&a, width, trs_batch_levels_bytes(size, f->rows, way, width),
                                B->system.scalar, g->stream);
}

/* rhs: of the first system of the part. */
static trs_status launch(const trs_batch *B, const trs_rhs *rhs, int64_t b_next, int64_t x_next,
                         int64_t first, int64_t groups) {
  const trs_batch_gpu *g = B->gpu;
  TRS_TRY(launch_form(B, &g->main, rhs, b_next, x_next, first, groups));
  if (!g->any_plain) return TRS_SUCCESS;
  return launch_form(B, &g->rest, rhs, b_next, x_next, first, groups);
}

/* Dense arrays of some systems, n x nrhs each. */
typedef struct dense {
  char *at;
  int64_t next, ld; /* in bytes: from system to system, from run to run */
} dense;

static trs_status copy_systems(const dense *to, const dense *from, int64_t runs, int64_t run,
                               int64_t systems, trs_stream stream) {
  if (systems > 1 && (runs == 1 || (to->ld == run && from->ld == run)))
    return trs_device_copy_rows(to->at, to->next, from->at, from->next, runs * run, systems,
                                stream);
  for (int64_t s = 0; s < systems; s++)
    TRS_TRY(trs_device_copy_rows(to->at + s * to->next, to->ld, from->at + s * from->next, from->ld,
                                 run, runs, stream));
  return TRS_SUCCESS;
}

static trs_status solve_staged(trs_batch *B, const trs_rhs *rhs, int64_t b_next, int64_t x_next) {
  trs_batch_gpu *g = B->gpu;
  const int64_t size = (int64_t)trs_scalar_size(B->system.scalar), n = B->system.n;
  const bool columns = rhs->x_row == 1 && rhs->b_row == 1;
  const int64_t runs = columns ? rhs->nrhs : n, run = (columns ? n : rhs->nrhs) * size;
  const int64_t own = n * rhs->nrhs;
  int64_t most_groups;
  TRS_TRY(need_stage(g, own * size, &most_groups));
  const dense stage = {.at = g->stage, .next = own * size, .ld = run};
  const trs_rhs there = {.x = g->stage,
                         .b = g->stage,
                         .nrhs = rhs->nrhs,
                         .x_row = columns ? 1 : rhs->nrhs,
                         .b_row = columns ? 1 : rhs->nrhs,
                         .x_col = columns ? n : 1,
                         .b_col = columns ? n : 1};
  for (int64_t first = 0; first < g->groups; first += most_groups) {
    const int64_t groups = g->groups - first < most_groups ? g->groups - first : most_groups;
    const int64_t systems = systems_in(B, first, groups), from = first << g->main.way.log_systems;
    const dense b = {.at = (char *)rhs->b + from * b_next * size,
                     .next = b_next * size,
                     .ld = (columns ? rhs->b_col : rhs->b_row) * size};
    const dense x = {.at = (char *)rhs->x + from * x_next * size,
                     .next = x_next * size,
                     .ld = (columns ? rhs->x_col : rhs->x_row) * size};
    TRS_TRY(copy_systems(&stage, &b, runs, run, systems, g->stream));
    TRS_TRY(launch(B, &there, own, own, first, groups));
    TRS_TRY(copy_systems(&x, &stage, runs, run, systems, g->stream));
  }
  return trs_device_wait(g->stream);
}

static trs_status solve_where_they_lie(trs_batch *B, const trs_rhs *rhs, int64_t b_next,
                                       int64_t x_next) {
  if (!trs_device_address(rhs->x) || !trs_device_address(rhs->b))
    return solve_staged(B, rhs, b_next, x_next);
  TRS_TRY(check_alignment(B, "x", rhs->x));
  TRS_TRY(check_alignment(B, "b", rhs->b));
  return launch(B, rhs, b_next, x_next, 0, B->gpu->groups);
}

trs_status trs_batch_gpu_run(trs_batch *B, const trs_rhs *rhs, int64_t b_next, int64_t x_next) {
  const int before = trs_device_enter(B->gpu->device);
  trs_status status = solve_where_they_lie(B, rhs, b_next, x_next);
  trs_device_leave(before);
  return status;
}

trs_status trs_batch_gpu_use_stream(trs_batch *B, trs_stream stream) {
  trs_batch_gpu *g = B->gpu;
  const int before = trs_device_enter(g->device);
  trs_status status = trs_device_wait(g->stream);
  trs_device_leave(before);
  if (!status) g->stream = stream;
  return status;
}

void trs_batch_gpu_info(const trs_batch *B, trs_batch_info *info) {
  const trs_batch_gpu *g = B->gpu;
  info->systems_at_once = 1 << g->main.way.log_systems;
  info->threads = g->main.way.threads;
  info->bytes += g->bytes + TRS_HELD(g->fault_here) + TRS_HELD(g->plain_here);
  info->method = g->main.way.lanes    ? "lanes"
                 : g->substitutes     ? g->main.way.shared
                                            ? "levels with substitution, x in shared memory"
                                            : "levels with substitution"
                 : g->main.way.shared ? "levels, x in shared memory"
                                      : "levels";
}
