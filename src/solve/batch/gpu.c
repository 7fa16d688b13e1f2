/* gpu.c - batches on one GPU: the patterns as the two kernels want them, values and right-hand
 * sides from either memory.  Of factors the sweeps follow each other in the stream.  The first one
 * reads b in its order of rows, the second one writes x in its own; between them the vectors lie in
 * x, or in a workspace where a warp of `lanes` would read rows of x that it has written. */
#include "solve/batch/batch.h"

#include <stdio.h>
#include <string.h>

#include "analysis/substitute.h"
#include "base/memory.h"
#include "device/arena.h"
#include "matrix/stage.h"
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
  int32_t *b_at, *x_at;
  trs_batch_packet *packet;
  trs_batch_piece *piece;
  void *val, *work;
} form;

/* A triangle of all systems. */
typedef struct part {
  int64_t groups;
  form main;
  form rest;      /* without substitution, of the same groups; made when a system needs it */
  bool any_plain; /* some systems are solved by `rest` */
  bool substitutes;
  trs_batch_joint joint; /* without val */

  /* Device memory. */
  int64_t *from_ptr, *from;
  uint64_t *fault;

  uint64_t *fault_here; /* host memory */
  uint8_t *plain_here;
} part;

struct trs_batch_gpu {
  trs_device *device;
  part part[2];

  trs_arena memory; /* in the plan's stream */
  double *b_scale, *x_scale;
  void *room; /* systems x width x n numbers, or NULL */
  trs_stage stage;
};

static trs_stream stream_of(const trs_batch_gpu *g) { return *g->memory.stream; }

/* Triangle t of a batch. */
typedef struct side {
  const trs_batch *B;
  const trs_batch_triangle *own;
  part *part;
  const trs_system *system;
  const int32_t *b_place, *x_place;
  const char *name; /* of its values, for messages */
} side;

static side side_of(const trs_batch *B, int t) {
  const bool first = t == 0, last = t == B->triangles - 1;
  return (side){.B = B,
                .own = &B->triangle[t],
                .part = &B->gpu->part[t],
                .system = &B->triangle[t].system,
                .b_place = first ? B->b_place : NULL,
                .x_place = last ? B->x_place : NULL,
                .name = B->triangles == 1              ? "val"
                        : t == B->of_L || B->hermitian ? "L_val"
                                                       : "U_val"};
}

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

/* The caller's row of each row of the sweep; nothing without a permutation. */
static trs_status upload_rows(trs_batch_gpu *g, int32_t **at, const int32_t *place,
                              const trs_system *S) {
  int32_t *rows;
  if (!place) return TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC(&rows, S->n));
  for (int64_t i = 0; i < S->n; i++) rows[trs_in_sweep(S, place[i])] = (int32_t)i;
  return trs_arena_move(&g->memory, at, rows, S->n, sizeof *rows);
}

static trs_status upload_lanes(trs_batch_gpu *g, form *f, const trs_batch_rows *r, const side *T) {
  const trs_system *S = T->system;
  lane_tables t = {0};
  f->entries = lane_entries(r, f->way.narrow);
  trs_status status = TRS_ALLOC(&t.source, f->entries);
  if (!status) status = TRS_ALLOC(&t.pivot_row, f->entries);
  if (!status) status = TRS_ALLOC(&t.distance, f->entries);
  if (!status && f->way.narrow) fill_narrow_lanes(&t, r, S, f->entries, &f->way);
  if (!status && !f->way.narrow) fill_lanes(&t, r, S, f->entries);
  if (!status) status = TRS_ARENA_UPLOAD(&g->memory, &f->source, t.source, f->entries);
  if (!status) status = TRS_ARENA_UPLOAD(&g->memory, &f->pivot_row, t.pivot_row, f->entries);
  if (!status) status = TRS_ARENA_UPLOAD(&g->memory, &f->distance, t.distance, f->entries);
  TRS_FREE_ALL(t.source, t.pivot_row, t.distance);
  if (!status) status = upload_rows(g, &f->b_at, T->b_place, S);
  return status ? status : upload_rows(g, &f->x_at, T->x_place, S);
}

/* ---- Levels ---- */

/* Where the rows of b and x are: by the caller's rows, through a permutation. */
static trs_status upload_places(trs_batch_gpu *g, int32_t **to, const int32_t *number,
                                const int32_t *place, int64_t n) {
  int32_t *of_caller;
  if (!place) return TRS_ARENA_UPLOAD(&g->memory, to, number, n);
  TRS_TRY(TRS_ALLOC(&of_caller, n));
  for (int64_t i = 0; i < n; i++) of_caller[i] = number[place[i]];
  return trs_arena_move(&g->memory, to, of_caller, n, sizeof *of_caller);
}

static trs_status upload_program(trs_batch_gpu *g, form *f, const trs_batch_program *p,
                                 const side *T) {
  trs_arena *to = &g->memory;
  f->entries = p->entries;
  f->rows = p->rows;
  f->packets = p->packets;
  f->pieces = p->pieces;
  f->zeros = p->zeros;
  TRS_TRY(TRS_ARENA_UPLOAD(to, &f->source, p->source, p->entries));
  TRS_TRY(TRS_ARENA_UPLOAD(to, &f->pivot_row, p->pivot_row, p->entries));
  TRS_TRY(TRS_ARENA_UPLOAD(to, &f->col, p->col, p->entries));
  TRS_TRY(TRS_ARENA_UPLOAD(to, &f->packet, p->packet, p->packets + TRS_BATCH_STAGES));
  TRS_TRY(TRS_ARENA_UPLOAD(to, &f->piece, p->piece, p->pieces + 1));
  TRS_TRY(upload_places(g, &f->b_to, p->b, T->b_place, T->system->n));
  TRS_TRY(upload_places(g, &f->x_from, p->x, T->x_place, T->system->n));
  return TRS_ARENA_UPLOAD(to, &f->zero, p->zero, p->zeros);
}

static trs_status upload_joint(trs_batch_gpu *g, part *p, const trs_batch_substitution *s,
                               int64_t count) {
  trs_batch_joint *j = &p->joint;
  trs_arena *to = &g->memory;
  const int64_t l = s->l_ptr[s->n], m = s->m_ptr[s->n],
                systems = p->groups << p->main.way.log_systems;
  *j = (trs_batch_joint){.count = count,
                         .entries = p->main.entries,
                         .n = s->n,
                         .log_systems = p->main.way.log_systems,
                         .steps = s->steps,
                         .most_growth = TRS_SUBSTITUTION_GROWTH};
  TRS_TRY(TRS_ARENA_UPLOAD(to, &j->step_entry, s->step_entry, s->steps + 1));
  TRS_TRY(TRS_ARENA_UPLOAD(to, &j->step_row, s->step_row, s->steps + 1));
  TRS_TRY(TRS_ARENA_UPLOAD(to, &j->row, s->row, s->n));
  TRS_TRY(TRS_ARENA_UPLOAD(to, &j->to, s->to, s->entries));
  TRS_TRY(TRS_ARENA_UPLOAD(to, &j->ptr, s->ptr, s->entries + 1));
  TRS_TRY(TRS_ARENA_UPLOAD(to, &j->a, s->a, s->products));
  TRS_TRY(TRS_ARENA_UPLOAD(to, &j->inverse, s->inverse, s->products));
  TRS_TRY(TRS_ARENA_UPLOAD(to, &j->m, s->m, s->products));
  TRS_TRY(TRS_ARENA_UPLOAD(to, &j->l_ptr, s->l_ptr, s->n + 1));
  TRS_TRY(TRS_ARENA_UPLOAD(to, &j->l_at, s->l_at, l));
  TRS_TRY(TRS_ARENA_UPLOAD(to, &j->l_col, s->l_col, l));
  TRS_TRY(TRS_ARENA_UPLOAD(to, &j->column_ptr, s->column_ptr, s->n + 1));
  TRS_TRY(TRS_ARENA_UPLOAD(to, &j->column_at, s->column_at, l));
  TRS_TRY(TRS_ARENA_UPLOAD(to, &j->column_row, s->column_row, l));
  TRS_TRY(TRS_ARENA_UPLOAD(to, &j->m_ptr, s->m_ptr, s->n + 1));
  TRS_TRY(TRS_ARENA_UPLOAD(to, &j->m_at, s->m_at, m));
  TRS_TRY(TRS_ARENA_UPLOAD(to, &j->m_col, s->m_col, m));
  TRS_TRY(TRS_ARENA_UPLOAD(to, &j->diagonal, s->diagonal, s->n));
  TRS_TRY(trs_arena_alloc(to, &j->room, 3 * s->n * systems, sizeof *j->room));
  TRS_TRY(trs_arena_alloc(to, &j->plain, systems, sizeof *j->plain));
  return TRS_ALLOC_ZERO(&p->plain_here, count);
}

/* s: NULL, or the substitution of these rows. */
static trs_status upload_levels(trs_batch_gpu *g, form *f, const trs_batch_rows *r, const side *T,
                                trs_batch_substitution *s) {
  trs_batch_program p;
  trs_status status =
      trs_batch_program_make(&p, r, T->system, f->way.room, f->way.threads >> f->way.log_systems);
  if (!status) status = upload_program(g, f, &p, T);
  if (!status && s) {
    trs_batch_substitution_place(s, &p);
    status = upload_joint(g, T->part, s, T->B->count);
  }
  trs_batch_program_drop(&p);
  return status;
}

static trs_status reserve_numbers(trs_batch_gpu *g, form *f, const side *T) {
  const int64_t size = (int64_t)trs_scalar_size(T->B->scalar);
  const int64_t systems = T->part->groups << f->way.log_systems;
  int64_t values, rows;
  if (__builtin_mul_overflow(systems, f->entries, &values) ||
      __builtin_mul_overflow(systems * f->way.width, f->rows + 1, &rows))
    return trs_fail(TRS_ERROR_MEMORY, -1, "%lld systems of %lld entries exceed the address space",
                    (long long)T->B->count, (long long)T->system->nnz);
  TRS_TRY(trs_arena_alloc(&g->memory, &f->val, values, size));
  if (!f->way.lanes && !f->way.shared) return trs_arena_alloc(&g->memory, &f->work, rows, size);
  return TRS_SUCCESS;
}

static trs_status bring(trs_batch_gpu *g, const side *T, trs_batch_pattern *pattern) {
  part *p = T->part;
  form *f = &p->main;
  const trs_batch_triangle *own = T->own;
  p->groups = (T->B->count + (1 << f->way.log_systems) - 1) >> f->way.log_systems;
  p->substitutes = f->way.depth > 0;
  TRS_TRY(trs_batch_prepare(T->B->scalar, trs_device_look(g->device)->shared_bytes));
  TRS_TRY(f->way.lanes ? upload_lanes(g, f, &pattern->rows, T)
                       : upload_levels(g, f, &pattern->rows, T,
                                       p->substitutes ? &pattern->substitution : NULL));
  if (own->from) {
    TRS_TRY(TRS_ARENA_UPLOAD(&g->memory, &p->from_ptr, own->from_ptr, T->system->nnz + 1));
    TRS_TRY(TRS_ARENA_UPLOAD(&g->memory, &p->from, own->from, own->from_ptr[T->system->nnz]));
  }
  TRS_TRY(
      trs_arena_alloc(&g->memory, &p->fault, p->groups << f->way.log_systems, sizeof *p->fault));
  TRS_TRY(reserve_numbers(g, f, T));
  return TRS_ALLOC(&p->fault_here, T->B->count);
}

static trs_batch_case case_of(const trs_batch_gpu *g, const side *T, int64_t nrhs) {
  return (trs_batch_case){.system = T->system,
                          .facts = trs_device_look(g->device),
                          .count = T->B->count,
                          .nrhs = nrhs > 1 ? nrhs : 1};
}

static trs_status build_part(trs_batch_gpu *g, const side *T, int64_t nrhs) {
  const trs_batch_case about = case_of(g, T, nrhs);
  trs_batch_pattern pattern = {0};
  trs_status status = trs_batch_choose(&T->part->main.way, &pattern, &about);
  if (!status) status = bring(g, T, &pattern);
  trs_batch_pattern_drop(&pattern);
  return status;
}

/* Lanes write rows of x before they have read all rows of b: in another order of rows x is not b.
 */
static trs_status reserve_room(trs_batch_gpu *g, const trs_batch *B) {
  const bool reads = g->part[0].main.way.lanes && B->b_place,
             writes = g->part[B->triangles - 1].main.way.lanes && B->x_place;
  int64_t rows;
  if (!reads && !writes) return TRS_SUCCESS;
  if (__builtin_mul_overflow(B->count * B->width, B->n, &rows))
    return trs_fail(TRS_ERROR_MEMORY, -1, "%lld systems of %lld rows exceed the address space",
                    (long long)B->count, (long long)B->n);
  return trs_arena_alloc(&g->memory, &g->room, rows, (int64_t)trs_scalar_size(B->scalar));
}

static trs_status build(trs_batch_gpu *g, const trs_batch *B, int64_t nrhs) {
  for (int t = 0; t < B->triangles; t++) {
    const side T = side_of(B, t);
    TRS_TRY(build_part(g, &T, nrhs));
  }
  if (B->b_scale) TRS_TRY(TRS_ARENA_UPLOAD(&g->memory, &g->b_scale, B->b_scale, B->n));
  if (B->x_scale) TRS_TRY(TRS_ARENA_UPLOAD(&g->memory, &g->x_scale, B->x_scale, B->n));
  return reserve_room(g, B);
}

/* The form without substitution. */
static trs_status build_rest(trs_batch_gpu *g, const side *T) {
  part *p = T->part;
  const trs_batch_case about = case_of(g, T, p->main.way.width);
  trs_batch_pattern pattern = {0};
  const int before = g->memory.count;
  if (p->rest.val) return TRS_SUCCESS;
  trs_status status = trs_batch_choose_rest(&p->rest.way, &pattern, &about, &p->main.way);
  if (!status) status = upload_levels(g, &p->rest, &pattern.rows, T, NULL);
  if (!status) status = reserve_numbers(g, &p->rest, T);
  if (status) {
    trs_arena_shrink(&g->memory, before);
    p->rest = (form){0};
  }
  trs_batch_pattern_drop(&pattern);
  return status;
}

static const char *name_of(const part *p) {
  const trs_batch_way *way = &p->main.way;
  if (way->lanes) return "lanes";
  if (p->substitutes)
    return way->shared ? "levels with substitution, x in shared memory"
                       : "levels with substitution";
  return way->shared ? "levels, x in shared memory" : "levels";
}

static void name_method(trs_batch *B) {
  const trs_batch_gpu *g = B->gpu;
  if (B->triangles == 1)
    snprintf(B->method, sizeof B->method, "%s", name_of(&g->part[0]));
  else
    snprintf(B->method, sizeof B->method, "L by %s, U by %s", name_of(&g->part[B->of_L]),
             name_of(&g->part[B->of_U]));
}

/* Systems in parts of whole groups of all kernels. */
static int log_of(const trs_batch *B) {
  int log = 0;
  for (int t = 0; t < B->triangles; t++)
    if (B->gpu->part[t].main.way.log_systems > log) log = B->gpu->part[t].main.way.log_systems;
  return log;
}

/* The GPU has the patterns in its own orders, and may need one once more. */
static void drop_pattern(trs_batch_triangle *own, bool keeps) {
  TRS_FREE_ALL(own->from_ptr, own->from);
  own->from_ptr = own->from = NULL;
  if (keeps) return;
  TRS_FREE_ALL(own->ptr, own->idx);
  own->system.ptr = own->ptr = NULL;
  own->system.idx = own->idx = NULL;
}

static trs_status analyze(trs_plan *plan) {
  trs_batch *B = trs_batch_of(plan);
  const int64_t nrhs = plan->options.nrhs;
  B->width = nrhs >= TRS_BATCH_WIDTH ? TRS_BATCH_WIDTH : 1;
  for (int t = 0; t < B->triangles; t++) {
    TRS_TRY(TRS_ALLOC(&B->triangle[t].row, B->count));
    TRS_TRY(TRS_ALLOC(&B->triangle[t].pivot, B->count));
    for (int64_t s = 0; s < B->count; s++) B->triangle[t].row[s] = -1;
  }
  TRS_TRY(TRS_ALLOC_ZERO(&B->gpu, 1));
  trs_batch_gpu *g = B->gpu;
  g->device = g->memory.device = g->stage.device = plan->context->device;
  g->memory.stream = &plan->stream;
  if (B->count > 0 && B->n > 0) TRS_TRY(build(g, B, nrhs));
  name_method(B);
  B->at_once = 1 << log_of(B);
  B->threads = 0;
  for (int t = 0; t < B->triangles; t++) {
    const part *p = &g->part[t];
    if (p->main.way.threads > B->threads) B->threads = p->main.way.threads;
    drop_pattern(&B->triangle[t], p->substitutes);
  }
  return TRS_SUCCESS;
}

static void free_state(trs_plan *plan) {
  trs_batch_gpu *g = trs_batch_of(plan)->gpu;
  if (g) {
    trs_arena_free(&g->memory);
    trs_stage_close(&g->stage, plan->stream);
    for (int t = 0; t < 2; t++) TRS_FREE_ALL(g->part[t].fault_here, g->part[t].plain_here);
    trs_free(g);
  }
  trs_batch_free(plan);
}

/* ---- Arrays of the caller: those in device memory as they lie, others through a stage. ---- */

static trs_status check_alignment(const trs_batch *B, const char *name, const void *array) {
  const size_t size = trs_scalar_size(B->scalar);
  if ((uintptr_t)array % size == 0) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1,
                  "%s in device memory is not aligned to its elements of %zu bytes: copy it into "
                  "an array that is",
                  name, size);
}

/* Room for some whole groups of 2^log systems of `own` bytes each; *systems: how many. */
static trs_status need_stage(trs_batch_gpu *g, int64_t own, int log, int64_t count,
                             int64_t *systems) {
  const int64_t group = own << log, all = (count + (1 << log) - 1) >> log;
  int64_t groups = group < STAGE_BYTES ? STAGE_BYTES / group : 1;
  if (groups > all) groups = all;
  *systems = groups << log;
  return trs_stage_need(&g->stage, groups * group, stream_of(g));
}

/* Some of the systems. */
typedef struct range {
  int64_t first, count; /* first: at the beginning of a group */
} range;

static int64_t groups_in(range r, int log) { return (r.count + (1 << log) - 1) >> log; }

static trs_passage passage_of(const trs_batch *B, const trs_rhs *rhs, int64_t n) {
  trs_passage p = {.all = trs_span_of(rhs, n, B->scalar, 0, rhs->nrhs),
                   .by_systems = true,
                   .end = B->count,
                   .stage = &B->gpu->stage,
                   .stream = B->plan->stream};
  p.all.systems = B->count;
  return p;
}

static trs_status take_part(const side *T, const form *f, const void *val, int64_t stride,
                            range r) {
  const part *p = T->part;
  const int log = f->way.log_systems;
  const trs_batch_values v = {.count = T->B->count,
                              .first = r.first >> log,
                              .groups = groups_in(r, log),
                              .entries = f->entries,
                              .log_systems = log,
                              .conj = T->system->conj,
                              .source = f->source,
                              .pivot_row = f->pivot_row,
                              .from_ptr = p->from_ptr,
                              .from = p->from,
                              .val = val,
                              .stride = stride,
                              .to = f->val,
                              .fault = p->fault};
  return trs_batch_take_values(&v, T->B->scalar, T->B->plan->stream);
}

static trs_status take_from_host(const side *T, const form *f, const trs_batch_given *given) {
  const trs_batch *B = T->B;
  const trs_rhs values = {.x = (void *)(uintptr_t)given->val,
                          .b = given->val,
                          .nrhs = 1,
                          .x_row = 1,
                          .b_row = 1,
                          .x_next = given->stride,
                          .b_next = given->stride};
  trs_passage p = passage_of(B, &values, T->own->given);
  p.only_b = true;
  TRS_TRY(need_stage(B->gpu, trs_span_bytes(&p.all), f->way.log_systems, B->count, &p.width));
  while (!trs_passage_is_over(&p)) {
    TRS_TRY(trs_passage_bring(&p));
    TRS_TRY(take_part(T, f, p.here.rhs.b, p.here.rhs.b_next, (range){p.at, p.here.systems}));
    TRS_TRY(trs_passage_take(&p));
  }
  return TRS_SUCCESS;
}

static trs_status take_form(const side *T, const form *f, const trs_batch_given *given) {
  if (T->own->given == 0 || trs_device_address(given->val)) {
    TRS_TRY(check_alignment(T->B, T->name, given->val));
    return take_part(T, f, given->val, given->stride, (range){0, T->B->count});
  }
  return take_from_host(T, f, given);
}

static trs_status substitute(const side *T) {
  const trs_batch_gpu *g = T->B->gpu;
  const part *p = T->part;
  trs_batch_joint v = p->joint;
  v.groups = p->groups;
  v.val = p->main.val;
  TRS_TRY(trs_device_fill(v.plain, 0, p->groups << v.log_systems, stream_of(g)));
  TRS_TRY(trs_batch_take_joint(&v, T->B->scalar, stream_of(g)));
  return trs_device_copy(p->plain_here, v.plain, T->B->count, stream_of(g));
}

static trs_status take_values(const side *T, const trs_batch_given *given) {
  trs_batch_gpu *g = T->B->gpu;
  part *p = T->part;
  const int64_t bytes = (p->groups << p->main.way.log_systems) * (int64_t)sizeof *p->fault;
  TRS_TRY(trs_device_fill(p->fault, 0xff, bytes, stream_of(g)));
  TRS_TRY(take_form(T, &p->main, given));
  if (p->substitutes) TRS_TRY(substitute(T));
  TRS_TRY(trs_device_copy(p->fault_here, p->fault, T->B->count * (int64_t)sizeof *p->fault,
                          stream_of(g)));
  TRS_TRY(trs_device_wait(stream_of(g)));
  p->any_plain = false;
  for (int64_t s = 0; s < T->B->count; s++) {
    const bool none = p->fault_here[s] == UINT64_MAX;
    T->own->row[s] = none ? -1 : (int64_t)(p->fault_here[s] / 4);
    T->own->pivot[s] = none ? TRS_PIVOT_GOOD : (trs_pivot)(p->fault_here[s] % 4);
    p->any_plain |= p->substitutes && none && p->plain_here[s];
  }
  if (!p->any_plain) return TRS_SUCCESS;
  TRS_TRY(build_rest(g, T));
  TRS_TRY(take_form(T, &p->rest, given));
  return trs_device_wait(stream_of(g));
}

static trs_status update(trs_plan *plan) {
  const trs_batch *B = trs_batch_of(plan);
  for (int t = 0; t < B->triangles && B->count > 0 && B->n > 0; t++) {
    const side T = side_of(B, t);
    TRS_TRY(take_values(&T, &B->given[t]));
  }
  return TRS_SUCCESS;
}

/* ---- Solving ---- */

/* Of the systems of a range, in device memory. */
static trs_status launch_form(const side *T, const form *f, const trs_rhs *v, range r) {
  const trs_batch *B = T->B;
  const trs_batch_gpu *g = B->gpu;
  const part *p = T->part;
  const trs_batch_way *way = &f->way;
  const int width = v->nrhs > 1 ? way->width : 1;
  const int64_t size = (int64_t)trs_scalar_size(B->scalar);
  const trs_batch_sweep a = {
      .n = B->n,
      .entries = f->entries,
      .count = B->count,
      .first = r.first >> way->log_systems,
      .groups = groups_in(r, way->log_systems),
      .log_systems = way->log_systems,
      .lower = T->system->lower,
      .unit = T->system->unit,
      .val = f->val,
      .fault = p->fault,
      .plain = p->substitutes ? p->joint.plain : NULL,
      .takes_plain = f == &p->rest,
      .has_rest = p->any_plain,
      .distance = f->distance,
      .window = way->window,
      .narrow = way->narrow,
      .b_at = f->b_at,
      .x_at = f->x_at,
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
      .b_scale = T->own == &B->triangle[0] ? g->b_scale : NULL,
      .x_scale = T->own == &B->triangle[B->triangles - 1] ? g->x_scale : NULL,
      .x = v->x,
      .b = v->b,
      .nrhs = v->nrhs,
      .x_next = v->x_next,
      .x_row = v->x_row,
      .x_col = v->x_col,
      .b_next = v->b_next,
      .b_row = v->b_row,
      .b_col = v->b_col};
  if (way->lanes) return trs_batch_lanes_sweep(&a, B->scalar, stream_of(g));
  return trs_batch_levels_sweep(&a, width, trs_batch_levels_bytes(size, f->rows, way, width),
                                B->scalar, stream_of(g));
}

static trs_status launch_sweep(const trs_batch *B, int t, const trs_rhs *v, range r) {
  const side T = side_of(B, t);
  TRS_TRY(launch_form(&T, &T.part->main, v, r));
  return T.part->any_plain ? launch_form(&T, &T.part->rest, v, r) : TRS_SUCCESS;
}

static trs_status launch_two(const trs_batch *B, const trs_rhs *first, const trs_rhs *second,
                             range r) {
  TRS_TRY(launch_sweep(B, 0, first, r));
  return launch_sweep(B, 1, second, r);
}

/* As many right-hand sides at a time as the workspace has room for. */
static trs_status launch_in_room(const trs_batch *B, const trs_rhs *v, range r) {
  void *room = B->gpu->room;
  for (int64_t k = 0; k < v->nrhs; k += B->width) {
    trs_rhs first = trs_rhs_columns(v, B->scalar, k, B->width), second = first;
    first.x = room;
    second.b = room;
    first.x_row = second.b_row = 1;
    first.x_col = second.b_col = B->n;
    first.x_next = second.b_next = B->n * B->width;
    TRS_TRY(launch_two(B, &first, &second, r));
  }
  return TRS_SUCCESS;
}

static trs_status launch(const trs_batch *B, const trs_rhs *v, range r) {
  if (B->triangles == 1) return launch_sweep(B, 0, v, r);
  if (B->gpu->room) return launch_in_room(B, v, r);
  trs_rhs second = *v;
  second.b = v->x;
  second.b_row = v->x_row;
  second.b_col = v->x_col;
  second.b_next = v->x_next;
  return launch_two(B, v, &second, r);
}

static trs_status solve_staged(trs_batch *B, const trs_rhs *v) {
  trs_passage p = passage_of(B, v, B->n);
  TRS_TRY(need_stage(B->gpu, trs_span_bytes(&p.all), log_of(B), B->count, &p.width));
  while (!trs_passage_is_over(&p)) {
    TRS_TRY(trs_passage_bring(&p));
    TRS_TRY(launch(B, &p.here.rhs, (range){p.at, p.here.systems}));
    TRS_TRY(trs_passage_take(&p));
  }
  return trs_device_wait(B->plan->stream);
}

static trs_status solve(trs_plan *plan, const trs_rhs *rhs) {
  trs_batch *B = trs_batch_of(plan);
  if (!rhs->there) return solve_staged(B, rhs);
  TRS_TRY(check_alignment(B, "x", rhs->x));
  TRS_TRY(check_alignment(B, "b", rhs->b));
  return launch(B, rhs, (range){0, B->count});
}

static trs_status wait(trs_plan *plan) { return trs_device_wait(plan->stream); }

static int64_t bytes(const trs_plan *plan) {
  const trs_batch_gpu *g = trs_batch_of(plan)->gpu;
  int64_t total = trs_batch_bytes(plan) + g->memory.bytes + g->stage.bytes;
  for (int t = 0; t < 2; t++) total += TRS_HELD(g->part[t].fault_here, g->part[t].plain_here);
  return total;
}

const trs_method trs_method_batch_gpu = {.name = "batch",
                                         .backend = &trs_backend_cuda,
                                         .analyze = analyze,
                                         .update = update,
                                         .solve = solve,
                                         .wait = wait,
                                         .bytes = bytes,
                                         .describe = trs_batch_describe,
                                         .free = free_state};
