/* backend.c - relaxation on one GPU: its arrays there, the choice of a variant, the launches of a
 * sweep.  Colours, pattern and values are made on the host and brought over. */
#include "relax/cuda/backend.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plan/parameters.h"
#include "relax/cuda/args.h"
#include "relax/domains.h"
#include "relax/exact.h"
#include "relax/kernels.h"

typedef enum variant_kind { ROWS, SLICES } variant_kind;

typedef struct gpu_variant {
  const char *name;
  variant_kind kind;
  bool six, l2, async; /* of rows */
} gpu_variant;

static const gpu_variant variants[] = {
    {"warp-row", ROWS, false, false, false},
    {"warp-row-l2", ROWS, false, true, false},
    {"warp-row-l2-async", ROWS, false, true, true},
    {"warp-six-rows", ROWS, true, false, false},
    {"warp-six-rows-l2", ROWS, true, true, false},
    {"warp-six-rows-l2-async", ROWS, true, true, true},
    {"slices", SLICES, false, false, false},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

#define WAIT_LIMIT UINT64_C(10000000000) /* nanoseconds between two colours */

/* Arrays in device memory. */
typedef struct owned {
  void *array[12];
  int count;
  int64_t bytes;
} owned;

struct trs_relax_gpu {
  trs_device *device;
  trs_stream stream;
  const gpu_variant *variant;
  trs_relax_args args; /* nrhs and omega are a sweep's */
  trs_relax_rows_how rows;
  trs_relax_slices slices;
  bool has_values;
  owned shared; /* what all variants have */
  owned blocks; /* off-diagonal blocks as W21's variants read them, and to pack slices from */
  owned own;    /* what depends on the variant: x, slices */
  int64_t staged_bytes;
  bool persisting; /* L2 is set aside for us */
  void *staged[2]; /* x and b of room right-hand sides that lie on the host; NULL until needed */
  double *norms;   /* pinned, TRS_STAGE_BYTES */
  trs_fault *told; /* pinned: slices' fault as of the last wait */
};

/* ---- Memory ---- */

/* Device memory with room behind it that may be read, and whose bytes are zero. */
static trs_status take(trs_relax_gpu *g, owned *o, const void *pointer, int64_t count,
                       size_t size) {
  void *memory;
  int64_t bytes;
  if (__builtin_mul_overflow(count, (int64_t)size, &bytes))
    return trs_fail(TRS_ERROR_MEMORY, -1, "more bytes than a GPU can count");
  TRS_TRY(trs_device_alloc(g->device, &memory, bytes + TRS_RELAX_READ_PAST, 1, g->stream));
  o->array[o->count++] = memory;
  o->bytes += bytes + TRS_RELAX_READ_PAST;
  memcpy((void *)(uintptr_t)pointer, &memory, sizeof memory);
  return trs_device_fill((char *)memory + bytes, 0, TRS_RELAX_READ_PAST, g->stream);
}

static trs_status bring(trs_relax_gpu *g, owned *o, const void *pointer, const void *from,
                        int64_t count, size_t size) {
  TRS_TRY(take(g, o, pointer, count, size));
  return trs_device_copy(o->array[o->count - 1], from, count * (int64_t)size, g->stream);
}

static void drop(trs_relax_gpu *g, owned *o) {
  for (int k = 0; k < o->count; k++) trs_device_free(g->device, o->array[k], g->stream);
  *o = (owned){.count = 0};
}

static trs_status fetch(const void **array, void **copy, int64_t count, size_t size) {
  if (!*array || !trs_device_address(*array)) return TRS_SUCCESS;
  TRS_TRY(trs_alloc(copy, count, size));
  TRS_TRY(trs_device_copy(*copy, *array, count * (int64_t)size, NULL));
  *array = *copy;
  return trs_device_wait(NULL);
}

trs_status trs_relax_gpu_fetch(trs_block_source *source, void *copies[3]) {
  const void *arrays[] = {source->ptr, source->idx, source->val};
  int64_t size = source->matrix ? 1 : (int64_t)source->block * source->block;
  int64_t rows = source->nrows * (source->matrix ? source->span : 1);
  copies[0] = copies[1] = copies[2] = NULL;
  if (rows < 0 || !source->ptr) return TRS_SUCCESS; /* the check will say so */
  TRS_TRY(fetch(&arrays[0], &copies[0], rows + 1, sizeof *source->ptr));
  source->ptr = arrays[0];
  int64_t count = source->ptr[rows];
  if (count < 0) return TRS_SUCCESS;
  TRS_TRY(fetch(&arrays[1], &copies[1], count, sizeof *source->idx));
  TRS_TRY(fetch(&arrays[2], &copies[2], count * size, trs_scalar_size(source->scalar)));
  source->idx = arrays[1];
  source->val = arrays[2];
  return TRS_SUCCESS;
}

/* ---- Variants ---- */

static trs_status no_variant(const char *name) {
  char known[256] = "auto";
  size_t used = 4;
  for (int k = 0; k < VARIANTS && used < sizeof known; k++)
    used += (size_t)snprintf(known + used, sizeof known - used, ", %s", variants[k].name);
  return trs_fail(TRS_ERROR_ARGUMENT, -1, "no variant \"%s\": there are %s", name, known);
}

static void prepare_rows(trs_relaxation *R) {
  trs_relax_gpu *g = R->gpu;
  const trs_device_facts *facts = trs_device_look(g->device);
  int64_t bytes = g->args.x_stride * (int64_t)trs_relax_kernels_of(R->store)->x_size;
  g->rows = (trs_relax_rows_how){.six = g->variant->six, .async = g->variant->async};
  if (!g->variant->l2 || bytes == 0) return;
  int64_t aside = trs_device_persist(g->device);
  g->persisting = true;
  g->rows.window = bytes < facts->window_bytes ? bytes : facts->window_bytes;
  if (aside == 0) g->rows.window = 0;
  g->rows.window_share = g->rows.window > aside ? (double)aside / (double)g->rows.window : 1;
}

/* The variant of that name; *parameters: what stands behind it. */
static trs_status find_variant(const trs_relaxation *R, const char *name, const gpu_variant **found,
                               const char **parameters) {
  bool any = !name || strcmp(name, "auto") == 0;
  if (any) name = R->block <= TRS_RELAX_MOST_SLICED ? "slices" : "warp-six-rows-l2";
  size_t length = strcspn(name, ":");
  *found = NULL;
  for (int k = 0; k < VARIANTS; k++)
    if (strlen(variants[k].name) == length && strncmp(variants[k].name, name, length) == 0)
      *found = &variants[k];
  *parameters = name[length] ? name + length + 1 : NULL;
  return *found ? TRS_SUCCESS : no_variant(name);
}

/* ---- Off-diagonal blocks ---- */

static trs_status bring_powers(trs_relaxation *R) {
  trs_relax_gpu *g = R->gpu;
  int8_t *power;
  TRS_TRY(TRS_ALLOC(&power, R->noff));
  for (int64_t k = 0; k < R->noff; k++) power[k] = (int8_t)ilogbf(R->scale[k]);
  trs_status status = trs_device_copy((void *)(uintptr_t)g->args.power, power, R->noff, g->stream);
  if (!status) status = trs_device_wait(g->stream);
  trs_free(power);
  return status;
}

/* Room for the blocks, and their places. */
static trs_status take_blocks(trs_relaxation *R) {
  trs_relax_gpu *g = R->gpu;
  trs_relax_args *a = &g->args;
  const trs_relax_kernels *K = trs_relax_kernels_of(R->store);
  int64_t block = (int64_t)R->block * R->block;
  if (g->blocks.count) return TRS_SUCCESS;
  TRS_TRY(bring(g, &g->blocks, &a->ptr, R->ptr, R->nrows + 1, sizeof *R->ptr));
  TRS_TRY(bring(g, &g->blocks, &a->idx, R->idx, R->noff, sizeof *R->idx));
  TRS_TRY(take(g, &g->blocks, &a->off, R->noff * block, K->off_size));
  return K->scaled ? take(g, &g->blocks, &a->power, R->noff, 1) : TRS_SUCCESS;
}

static trs_status bring_blocks(trs_relaxation *R) {
  trs_relax_gpu *g = R->gpu;
  const trs_relax_kernels *K = trs_relax_kernels_of(R->store);
  int64_t bytes = R->noff * R->block * R->block * (int64_t)K->off_size;
  TRS_TRY(take_blocks(R));
  TRS_TRY(trs_device_copy((void *)(uintptr_t)g->args.off, R->off, bytes, g->stream));
  return K->scaled ? bring_powers(R) : TRS_SUCCESS;
}

/* Blocks become slices, and slices blocks again: there is room for both only meanwhile. */
static trs_status pack(trs_relax_gpu *g) {
  if (!g->blocks.count) return TRS_SUCCESS; /* no values yet */
  TRS_TRY(trs_relax_slices_pack(&g->args, &g->slices, g->stream));
  drop(g, &g->blocks);
  return TRS_SUCCESS;
}
static trs_status unpack(trs_relaxation *R) {
  trs_relax_gpu *g = R->gpu;
  if (!g->variant || g->variant->kind != SLICES || !g->has_values) return TRS_SUCCESS;
  trs_status status = take_blocks(R);
  if (!status) status = trs_relax_slices_unpack(&g->args, &g->slices, g->stream);
  if (status) drop(g, &g->blocks);
  return status;
}

/* ---- Slices ---- */

static int64_t blocks_of(const trs_relaxation *R, int64_t position) {
  return R->ptr[position + 1] - R->ptr[position];
}

/* Positions [begin, end) by falling numbers of blocks, so that rows of a slice have about as many;
 * in small parts, so that neighbours stay close. */
static void order_part(const trs_relaxation *R, int64_t begin, int64_t end, int32_t *order) {
  for (int64_t p = begin; p < end; p++) {
    int64_t k = p - begin;
    for (; k > 0 && blocks_of(R, order[k - 1]) < blocks_of(R, p); k--) order[k] = order[k - 1];
    order[k] = (int32_t)p;
  }
}

/* The host's side of what makes the slices. */
typedef struct slicing {
  trs_relax_slice *slice;
  trs_relax_slice_row *row;
  int32_t *starts; /* 2 ncolours + 1: first slice of a colour's boundary rows, and of its others */
  int64_t vectors;
  int32_t count;
} slicing;

static void add_slice(const trs_relaxation *R, slicing *s, const int32_t *order, int64_t rows) {
  const int most = TRS_RELAX_SLICE_ROWS(R->block);
  const int32_t width = (int32_t)blocks_of(R, order[0]);
  s->slice[s->count] = (trs_relax_slice){.vector = s->vectors, .width = width};
  for (int64_t r = 0; r < most; r++)
    s->row[s->count * most + r] =
        r < rows ? (trs_relax_slice_row){order[r], (int32_t)blocks_of(R, order[r])}
                 : (trs_relax_slice_row){order[0], -1};
  s->vectors += trs_relax_slice_vectors(&R->gpu->args, width);
  s->count++;
}

static void cut_run(const trs_relaxation *R, slicing *s, int64_t begin, int64_t end) {
  enum { SLICES_A_PART = 24 };
  int32_t order[32 * SLICES_A_PART];
  const int64_t rows = TRS_RELAX_SLICE_ROWS(R->block), part = rows * SLICES_A_PART;
  for (int64_t p = begin; p < end; p += part) {
    int64_t here = end - p < part ? end - p : part;
    order_part(R, p, p + here, order);
    for (int64_t k = 0; k < here; k += rows)
      add_slice(R, s, order + k, here - k < rows ? here - k : rows);
  }
}

/* Where the rows of a colour begin that no other domain reads. */
static int64_t interior_of(const trs_relaxation *R, int32_t c) {
  return R->domain ? R->domain->boundary[c] : R->colour_ptr[c];
}

static void cut_slices(const trs_relaxation *R, slicing *s) {
  for (int32_t c = 0; c < R->ncolours; c++) {
    s->starts[2 * c] = s->count;
    cut_run(R, s, R->colour_ptr[c], interior_of(R, c));
    s->starts[2 * c + 1] = s->count;
    cut_run(R, s, interior_of(R, c), R->colour_ptr[c + 1]);
  }
  s->starts[2 * R->ncolours] = s->count;
}

static trs_status bring_slices(trs_relaxation *R, const slicing *s) {
  trs_relax_gpu *g = R->gpu;
  trs_relax_slices *to = &g->slices;
  to->nslices = s->count;
  to->ncolours = R->ncolours;
  to->blocks = trs_device_look(g->device)->multiprocessors;
  to->zero = (int32_t)(R->nrows + R->nhalo);
  TRS_TRY(bring(g, &g->own, &to->slice, s->slice, s->count, sizeof *s->slice));
  TRS_TRY(bring(g, &g->own, &to->row, s->row, (int64_t)s->count * TRS_RELAX_SLICE_ROWS(R->block),
                sizeof *s->row));
  TRS_TRY(take(g, &g->own, &to->val, s->vectors, 16));
  TRS_TRY(take(g, &g->own, &to->arrived, 1, sizeof *to->arrived));
  TRS_TRY(trs_device_fill(to->arrived, 0, sizeof *to->arrived, g->stream));
  *g->told = (trs_fault){.row = -1, .limit = WAIT_LIMIT};
  TRS_TRY(bring(g, &g->own, &to->fault, g->told, 1, sizeof *g->told));
  TRS_TRY(bring(g, &g->own, &to->starts, s->starts, 2 * R->ncolours + 1, sizeof *s->starts));
  TRS_TRY(trs_relax_slices_prepare(&g->args, to));
  return trs_device_wait(g->stream);
}

static trs_status check_slices(const trs_relaxation *R) {
  if (R->block > TRS_RELAX_MOST_SLICED)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "variant slices takes blocks of 1 to %d, not of %d",
                    TRS_RELAX_MOST_SLICED, R->block);
  if (R->gpu->args.x_stride > UINT32_MAX)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "variant slices takes 2^32 unknowns, not %lld: take warp-six-rows",
                    (long long)R->gpu->args.x_stride);
  return TRS_SUCCESS;
}

static trs_status make_slices(trs_relaxation *R) {
  const int64_t rows = TRS_RELAX_SLICE_ROWS(R->block);
  const int64_t most = R->nrows / rows + 2 * R->ncolours;
  slicing s = {0};
  TRS_TRY(check_slices(R));
  trs_status status = TRS_ALLOC(&s.starts, 2 * R->ncolours + 1);
  if (!status) status = TRS_ALLOC(&s.slice, most);
  if (!status) status = TRS_ALLOC(&s.row, most * rows);
  if (!status) {
    cut_slices(R, &s);
    status = bring_slices(R, &s);
  }
  trs_free(s.starts);
  trs_free(s.slice);
  trs_free(s.row);
  return status;
}

/* ---- A variant comes and goes ---- */

static void leave_variant(trs_relax_gpu *g) {
  drop(g, &g->own);
  if (g->persisting) trs_device_unpersist(g->device);
  g->persisting = false;
  g->variant = NULL;
}

static trs_status read_parameters(trs_relax_gpu *g, const char *parameters) {
  const trs_parameter table[] = {
      {.key = "warps", .least = 1, .most = 20, .value = &g->slices.warps},
      {.key = "stages", .least = 3, .most = 12, .value = &g->slices.stages}};
  g->slices.warps = g->slices.stages = 0;
  return trs_parameters_parse(g->variant->name, parameters, table,
                              g->variant->kind == SLICES ? 2 : 0);
}

static trs_status enter_variant(trs_relaxation *R, const gpu_variant *v, const char *parameters) {
  trs_relax_gpu *g = R->gpu;
  trs_relax_args *a = &g->args;
  int64_t x_size = (int64_t)trs_relax_kernels_of(R->store)->x_size;
  g->variant = v;
  a->pitch = R->block;
  a->x_stride = (R->nrows + R->nhalo + 1) * a->pitch; /* and a row of zeros */
  TRS_TRY(read_parameters(g, parameters));
  TRS_TRY(take(g, &g->own, &a->x, a->x_stride * R->room, (size_t)x_size));
  TRS_TRY(trs_device_fill(a->x, 0, a->x_stride * R->room * x_size, g->stream));
  if (v->kind == SLICES) TRS_TRY(make_slices(R));
  if (v->kind == ROWS) prepare_rows(R);
  if (v->kind == SLICES) TRS_TRY(pack(g));
  return trs_device_wait(g->stream);
}

trs_status trs_relax_gpu_set_variant(trs_relaxation *R, const char *name) {
  trs_relax_gpu *g = R->gpu;
  const gpu_variant *found;
  const char *parameters;
  TRS_TRY(find_variant(R, name, &found, &parameters));
  int before = trs_device_enter(g->device);
  trs_status status = trs_device_wait(g->stream);
  if (!status) status = unpack(R);
  if (!status) {
    leave_variant(g);
    status = enter_variant(R, found, parameters);
    if (status) leave_variant(g);
  }
  trs_device_leave(before);
  return status;
}

/* ---- Creation and values ---- */

static trs_status take_arrays(trs_relaxation *R) {
  trs_relax_gpu *g = R->gpu;
  trs_relax_args *a = &g->args;
  const trs_relax_kernels *K = trs_relax_kernels_of(R->store);
  int64_t block = (int64_t)R->block * R->block;
  TRS_TRY(bring(g, &g->shared, &a->row, R->row, R->nrows + R->nhalo, sizeof *R->row));
  TRS_TRY(take(g, &g->shared, &a->diagonal, R->nrows * block, K->r_size));
  TRS_TRY(take(g, &g->shared, &a->pivot, R->nrows * R->block, 1));
  TRS_TRY(take(g, &g->shared, &a->r, a->r_stride * R->room, K->r_size));
  return take(g, &g->shared, &a->words, R->room * TRS_EXACT_WORDS, sizeof *a->words);
}

static trs_status build(trs_relaxation *R) {
  trs_relax_gpu *g = R->gpu;
  g->args = (trs_relax_args){.nrows = R->nrows,
                             .block = R->block,
                             .store = R->store,
                             .r_stride = (R->nrows + R->nhalo) * R->block};
  TRS_TRY(trs_device_alloc_stage(g->device, (void **)&g->norms));
  TRS_TRY(trs_device_alloc_host(g->device, (void **)&g->told));
  TRS_TRY(take_arrays(R));
  return trs_device_wait(g->stream);
}

trs_status trs_relax_gpu_create(trs_relaxation *R, trs_device *device, trs_stream stream,
                                const char *name) {
  TRS_TRY(TRS_ALLOC_ZERO(&R->gpu, 1));
  R->gpu->device = device;
  R->gpu->stream = stream;
  int before = trs_device_enter(R->gpu->device);
  trs_status status = build(R);
  trs_device_leave(before);
  return status ? status : trs_relax_gpu_set_variant(R, name);
}

static trs_status bring_values(trs_relaxation *R) {
  trs_relax_gpu *g = R->gpu;
  const trs_relax_args *a = &g->args;
  const trs_relax_kernels *K = trs_relax_kernels_of(R->store);
  int64_t block = (int64_t)R->block * R->block;
  TRS_TRY(trs_device_copy((void *)(uintptr_t)a->diagonal, R->diagonal,
                          R->nrows * block * (int64_t)K->r_size, g->stream));
  TRS_TRY(trs_device_copy((void *)(uintptr_t)a->pivot, R->pivot, R->nrows * R->block, g->stream));
  g->has_values = true;
  TRS_TRY(bring_blocks(R));
  if (g->variant && g->variant->kind == SLICES) TRS_TRY(pack(g));
  return trs_device_wait(g->stream);
}

trs_status trs_relax_gpu_update(trs_relaxation *R) {
  int before = trs_device_enter(R->gpu->device);
  trs_status status = bring_values(R);
  trs_device_leave(before);
  return status;
}

void trs_relax_gpu_free(trs_relaxation *R) {
  trs_relax_gpu *g = R->gpu;
  if (!g) return;
  int before = trs_device_enter(g->device);
  leave_variant(g);
  drop(g, &g->shared);
  drop(g, &g->blocks);
  for (int k = 0; k < 2; k++) trs_device_free(g->device, g->staged[k], g->stream);
  (void)trs_device_wait(g->stream); /* kernels may still write norms */
  trs_device_free_stage(g->device, g->norms);
  trs_device_free_host(g->device, g->told);
  trs_device_leave(before);
  trs_free(g);
  R->gpu = NULL;
}

void trs_relax_gpu_set_stream(trs_relaxation *R, void *stream) { R->gpu->stream = stream; }
const char *trs_relax_gpu_variant(const trs_relaxation *R) {
  return !R->gpu ? "threads" : R->gpu->variant ? R->gpu->variant->name : "none";
}
int64_t trs_relax_gpu_bytes(const trs_relaxation *R) {
  const trs_relax_gpu *g = R->gpu;
  return g ? g->shared.bytes + g->blocks.bytes + g->own.bytes + g->staged_bytes : 0;
}

/* ---- Sweeps ---- */

static trs_status check_variant(const trs_relax_gpu *g) {
  if (g->variant) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1, "no variant is set: the last one could not be");
}

static trs_status finish(trs_relax_gpu *g) {
  const bool slices = g->variant && g->variant->kind == SLICES;
  if (slices) TRS_TRY(trs_device_copy(g->told, g->slices.fault, sizeof *g->told, g->stream));
  TRS_TRY(trs_device_wait(g->stream));
  if (slices && g->told->stalled)
    return trs_fail(TRS_ERROR_STALLED, -1,
                    "blocks of threads waited for each other for %.3g s behind turn %lld of a "
                    "sweep: x is not complete, create the relaxation anew",
                    1e-9 * (double)WAIT_LIMIT, (long long)g->told->row);
  return check_variant(g);
}

trs_status trs_relax_gpu_wait(trs_relaxation *R) {
  int before = trs_device_enter(R->gpu->device);
  trs_status status = finish(R->gpu);
  trs_device_leave(before);
  return status;
}

trs_status trs_relax_gpu_run_turns(trs_relaxation *R, trs_sweep_direction direction, int64_t turns,
                                   trs_relax_meeting *meeting) {
  trs_relax_gpu *g = R->gpu;
  return trs_relax_slices_sweep(&g->args, &g->slices, (int)direction, turns, meeting, g->stream);
}

static trs_status run_sweeps(trs_relaxation *R, int64_t sweeps, trs_sweep_direction direction) {
  trs_relax_gpu *g = R->gpu;
  const int64_t passes = direction == TRS_SWEEP_SYMMETRIC ? 2 : 1;
  if (g->variant->kind == SLICES)
    return trs_relax_gpu_run_turns(R, direction, passes * sweeps * R->ncolours, NULL);
  for (int64_t pass = 0; pass < passes * sweeps; pass++) {
    bool back = direction == TRS_SWEEP_BACKWARD || pass % passes == 1;
    for (int32_t k = 0; k < R->ncolours; k++) {
      int32_t c = back ? R->ncolours - 1 - k : k;
      TRS_TRY(trs_relax_rows_run(&g->args, &g->rows, R->colour_ptr[c], R->colour_ptr[c + 1],
                                 g->stream));
    }
  }
  return TRS_SUCCESS;
}

static trs_status add_squares(const trs_relax_gpu *g) {
  TRS_TRY(trs_device_fill(g->args.words, 0, g->args.nrhs * TRS_EXACT_WORDS * 8, g->stream));
  return g->variant->kind == ROWS ? trs_relax_squares(&g->args, g->stream)
                                  : trs_relax_slices_squares(&g->args, &g->slices, g->stream);
}

static trs_status find_norms(const trs_relax_gpu *g, double *norms) {
  const trs_relax_words words = {1, {g->args.words}};
  TRS_TRY(add_squares(g));
  return trs_relax_roots(&words, g->args.nrhs, norms, g->stream);
}

/* Where norms go: straight to the caller's device memory, or by way of pinned memory to the host,
 * as many checks as that holds before the host waits for them. */
typedef struct norms {
  double *to; /* of this group's first right-hand side, or NULL */
  int64_t stride, width;
  bool there;          /* in device memory */
  int64_t check, held; /* checks made, and of them in pinned memory */
} norms;

static trs_status hand_over(trs_relax_gpu *g, norms *m) {
  if (!m->held) return TRS_SUCCESS;
  TRS_TRY(trs_device_wait(g->stream));
  for (int64_t k = 0; k < m->held; k++)
    memcpy(m->to + (m->check - m->held + k) * m->stride, g->norms + k * m->width,
           (size_t)m->width * sizeof *g->norms);
  m->held = 0;
  return TRS_SUCCESS;
}

static trs_status check(trs_relax_gpu *g, norms *m) {
  if (m->there) return find_norms(g, m->to + m->check++ * m->stride);
  TRS_TRY(find_norms(g, g->norms + m->held * m->width));
  m->check++;
  m->held++;
  int64_t room = TRS_STAGE_BYTES / (int64_t)sizeof *g->norms;
  return (m->held + 1) * m->width > room ? hand_over(g, m) : TRS_SUCCESS;
}

/* All sweeps of one group, whose x and b lie in device memory. */
static trs_status sweep_group(trs_relaxation *R, const trs_relax_vectors *v,
                              const trs_sweep_options *o, norms *m) {
  trs_relax_gpu *g = R->gpu;
  TRS_TRY(trs_relax_load(&g->args, v, g->stream));
  if (m->to) TRS_TRY(check(g, m));
  for (int64_t done = 0; done < o->sweeps;) {
    int64_t left = o->sweeps - done,
            now = m->to && o->residual_every < left ? o->residual_every : left;
    TRS_TRY(run_sweeps(R, now, o->direction));
    done += now;
    if (m->to && done % o->residual_every == 0) TRS_TRY(check(g, m));
  }
  TRS_TRY(trs_relax_unload(&g->args, v, g->stream));
  return hand_over(g, m);
}

trs_status trs_relax_stage_columns(const trs_relaxation *R, const trs_relax_columns *k, bool out,
                                   trs_stream stream) {
  int64_t size = (int64_t)trs_scalar_size(R->scalar), n = R->nrows * R->block;
  bool by_rows = k->col == 1 && k->row != 1;
  int64_t pitch = (by_rows ? k->row : k->col) * size, own = (by_rows ? k->width : n) * size;
  int64_t lines = by_rows ? n : k->width;
  void *caller = (void *)(uintptr_t)k->array, *stage = (void *)(uintptr_t)k->stage;
  if (lines == 1) pitch = own;
  return out ? trs_device_copy_rows(caller, pitch, stage, own, own, lines, stream)
             : trs_device_copy_rows(stage, own, caller, pitch, own, lines, stream);
}

static trs_status need_stages(trs_relaxation *R) {
  trs_relax_gpu *g = R->gpu;
  int64_t bytes = R->nrows * R->block * R->room * (int64_t)trs_scalar_size(R->scalar);
  for (int k = 0; k < 2; k++)
    if (!g->staged[k]) {
      TRS_TRY(trs_device_alloc(g->device, &g->staged[k], bytes, 1, g->stream));
      g->staged_bytes += bytes;
    }
  return TRS_SUCCESS;
}

/* x or b on the host: through device memory. */
static trs_status sweep_staged(trs_relaxation *R, const trs_rhs *rhs,
                               const trs_relax_vectors *there, const trs_sweep_options *o,
                               norms *m) {
  trs_relax_gpu *g = R->gpu;
  trs_relax_vectors v = *there;
  int64_t n = R->nrows * R->block;
  bool x_by_rows = rhs->x_col == 1 && rhs->x_row != 1;
  bool b_by_rows = rhs->b_col == 1 && rhs->b_row != 1;
  TRS_TRY(need_stages(R));
  v.x = g->staged[0];
  v.b = g->staged[1];
  v.x_row = x_by_rows ? rhs->nrhs : 1;
  v.x_col = x_by_rows ? 1 : n;
  v.b_row = b_by_rows ? rhs->nrhs : 1;
  v.b_col = b_by_rows ? 1 : n;
  trs_relax_columns b = {v.b, rhs->b, rhs->b_row, rhs->b_col, rhs->nrhs};
  trs_relax_columns x = {v.x, rhs->x, rhs->x_row, rhs->x_col, rhs->nrhs};
  TRS_TRY(trs_relax_stage_columns(R, &b, false, g->stream));
  if (v.keep) TRS_TRY(trs_relax_stage_columns(R, &x, false, g->stream));
  TRS_TRY(sweep_group(R, &v, o, m));
  return trs_relax_stage_columns(R, &x, true, g->stream);
}

/* Columns from the first on, as many as there is room for. */
static trs_rhs group_of(const trs_relaxation *R, const trs_rhs *rhs, int64_t first) {
  int64_t size = (int64_t)trs_scalar_size(R->scalar);
  trs_rhs group = *rhs;
  group.nrhs = rhs->nrhs - first < R->room ? rhs->nrhs - first : R->room;
  group.x = (char *)rhs->x + first * rhs->x_col * size;
  group.b = (const char *)rhs->b + first * rhs->b_col * size;
  return group;
}

static trs_status sweep_all(trs_relaxation *R, const trs_rhs *rhs, const trs_sweep_options *o,
                            bool there) {
  trs_relax_gpu *g = R->gpu;
  for (int64_t first = 0; first < rhs->nrhs; first += R->room) {
    trs_rhs group = group_of(R, rhs, first);
    trs_relax_vectors v = {.x = group.x,
                           .b = group.b,
                           .x_row = group.x_row,
                           .x_col = group.x_col,
                           .b_row = group.b_row,
                           .b_col = group.b_col,
                           .wide = R->scalar == TRS_DOUBLE,
                           .keep = o->keep_x};
    norms m = {.to = o->residuals ? o->residuals + first : NULL,
               .stride = rhs->nrhs,
               .width = group.nrhs,
               .there = o->residuals && trs_device_address(o->residuals)};
    g->args.nrhs = (int)group.nrhs;
    g->args.omega = o->omega;
    TRS_TRY(there ? sweep_group(R, &v, o, &m) : sweep_staged(R, &group, &v, o, &m));
  }
  return TRS_SUCCESS;
}

trs_status trs_relax_gpu_sweep(trs_relaxation *R, const trs_rhs *rhs,
                               const trs_sweep_options *options) {
  trs_relax_gpu *g = R->gpu;
  TRS_TRY(check_variant(g));
  int before = trs_device_enter(g->device);
  bool there = trs_device_address(rhs->x) && trs_device_address(rhs->b);
  bool waits = !there || (options->residuals && !trs_device_address(options->residuals));
  trs_status status = TRS_SUCCESS;
  if (waits && trs_device_capturing(g->stream))
    status = trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                      "a stream that is being captured takes x, b and residuals in device memory "
                      "only");
  if (!status && rhs->nrhs > 0 && R->nrows > 0) status = sweep_all(R, rhs, options, there);
  if (!status && waits) status = finish(g);
  trs_device_leave(before);
  return status;
}

/* ---- A domain's part in a sweep of several GPUs (group.c): each call launches, no more ---- */

trs_relax_place trs_relax_gpu_place(const trs_relaxation *R) {
  const trs_relax_args *a = &R->gpu->args;
  return (trs_relax_place){a->x, a->x_stride, a->pitch};
}

trs_status trs_relax_gpu_load(trs_relaxation *R, const trs_relax_vectors *v, int64_t nrhs,
                              double omega) {
  trs_relax_gpu *g = R->gpu;
  TRS_TRY(check_variant(g));
  g->args.nrhs = (int)nrhs;
  g->args.omega = omega;
  trs_relax_args with_halo = g->args;
  with_halo.nrows = R->nrows + R->nhalo;
  return trs_relax_load(&with_halo, v, g->stream);
}

bool trs_relax_gpu_meets(const trs_relaxation *R) {
  return R->gpu->variant && R->gpu->variant->kind == SLICES;
}

trs_status trs_relax_gpu_run(trs_relaxation *R, int32_t c, bool boundary) {
  trs_relax_gpu *g = R->gpu;
  if (g->variant->kind == SLICES)
    return trs_relax_slices_run(&g->args, &g->slices, c, !boundary, g->stream);
  int64_t edge = interior_of(R, c);
  return trs_relax_rows_run(&g->args, &g->rows, boundary ? R->colour_ptr[c] : edge,
                            boundary ? edge : R->colour_ptr[c + 1], g->stream);
}

trs_status trs_relax_gpu_squares(trs_relaxation *R, const uint64_t **words) {
  *words = R->gpu->args.words;
  return add_squares(R->gpu);
}

double *trs_relax_gpu_stage(const trs_relaxation *R) { return R->gpu->norms; }

trs_status trs_relax_gpu_unload(trs_relaxation *R, const trs_relax_vectors *v) {
  return trs_relax_unload(&R->gpu->args, v, R->gpu->stream);
}
