/* supernodal.c - L23 Algorithm 4 on one GPU.  The triangle is kept as supernodal panels, found on
 * the host (analysis/panels.c).  One block of threads solves each supernode (supernodal.cu).
 *
 * Panels are by columns, or by rows if that makes clearly fewer supernodes: for LU factors, L by
 * columns and U by rows.  O(nnz + stored zeros) per solve, and as much device memory for the
 * values. */
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "analysis/system.h"
#include "analysis/panels.h"
#include "device/arena.h"
#include "plan/parameters.h"
#include "solve/cuda/gpu.h"
#include "L23/supernodal.h"

enum { AUTO, BY_COLUMNS, BY_ROWS };
enum { MOST_AT_ONCE = 256 /* right-hand sides per launch */, ALIGNMENT = 256 };

static const int64_t MOST_SHARED = 47 << 10; /* shared memory of a block without a request, less
                                                the ticket */

typedef struct supernodal {
  trs_gpu gpu;
  int64_t relax, width, threads, kind; /* parameters */
  trs_panels panels;                   /* host */
  int64_t refused;                     /* supernodes that were cut because of their inverses */
  trs_supernodal args;
  trs_arena memory;
  trs_panel *panel; /* device memory, as args has them */
  trs_panel_block *block;
  int32_t *list, *line;
  void *values;
  void *work; /* device memory: ticket, added, lsum */
  int64_t at_once, work_bytes;
} supernodal;

static trs_status read_parameters(supernodal *s, const trs_plan *plan) {
  static const char *const kinds[] = {"auto", "columns", "rows", NULL};
  static const char *const threads[] = {"auto", "32", "64", "128", "256", NULL};
  s->relax = 20;
  s->width = 64;
  const trs_parameter table[] = {{"relax", NULL, 0, 100, &s->relax},
                                 {"width", NULL, 1, TRS_SUPERNODAL_WIDEST, &s->width},
                                 {"threads", threads, 0, 0, &s->threads},
                                 {"panels", kinds, 0, 0, &s->kind}};
  TRS_TRY(trs_parameters_read(plan, table, sizeof table / sizeof table[0]));
  if (s->threads) s->threads = 16 << s->threads;
  return TRS_SUCCESS;
}

/* ---- The host's part: panels and their values. ---- */

static trs_panels_source source_of(const trs_system *S) {
  return (trs_panels_source){S->n, S->ptr, S->idx, S->rows, S->lower};
}

/* Solves with panels by columns are cheaper, so rows have to make clearly fewer supernodes. */
static trs_status find_panels(supernodal *s, const trs_system *S) {
  static const double CLEARLY_FEWER = 0.9;
  trs_panels_source T = source_of(S);
  trs_panels_options options = {
      .by_rows = s->kind == BY_ROWS, .width = s->width, .relax = s->relax};
  TRS_TRY(trs_panels_create(&s->panels, &T, &options));
  if (s->kind != AUTO) return TRS_SUCCESS;
  trs_panels other;
  options.by_rows = true;
  TRS_TRY(trs_panels_create(&other, &T, &options));
  bool better = (double)other.count < CLEARLY_FEWER * (double)s->panels.count;
  trs_panels worse = better ? s->panels : other;
  if (better) s->panels = other;
  trs_panels_destroy(&worse);
  return TRS_SUCCESS;
}

/* *refused: inverses that lose too many digits; cuts (n, or NULL): where smaller ones begin. */
static trs_status fill(const supernodal *s, const trs_system *S, void **values, uint8_t *cuts,
                       int64_t *refused) {
  trs_panels_source T = source_of(S);
  TRS_TRY(trs_alloc(values, s->panels.nvalues, trs_scalar_size(S->scalar)));
  TRS_TRY(trs_panels_fill(&s->panels, *values, S->scalar, &T, S->val, S->unit, S->conj));
  return trs_panels_invert(&s->panels, *values, S->scalar, cuts, refused);
}

/* ---- Device memory. ---- */

static trs_arena memory_of(const trs_gpu *gpu, const trs_plan *plan) {
  return (trs_arena){.device = gpu->device, .stream = &plan->stream};
}

static trs_status put_panels(supernodal *s) {
  const trs_panels *P = &s->panels;
  TRS_TRY(TRS_ARENA_UPLOAD(&s->memory, &s->panel, P->panel, P->count));
  TRS_TRY(TRS_ARENA_UPLOAD(&s->memory, &s->list, P->list, P->nlist));
  TRS_TRY(TRS_ARENA_UPLOAD(&s->memory, &s->line, P->line, P->nlines));
  if (!P->block) return TRS_SUCCESS;
  return TRS_ARENA_UPLOAD(&s->memory, &s->block, P->block, P->nblocks);
}

/* Threads per block: the mean height of a supernode, weighted by its entries, so that the
 * supernodes with most of the work keep a block busy.  More than MOST would leave too few small
 * supernodes in work at once. */
static int32_t threads_for(const trs_panels *P) {
  enum { LEAST = 32, MOST = 128 };
  double entries = 0, rows = 0;
  int32_t threads = LEAST;
  for (int64_t k = 0; k < P->count; k++) {
    double mine = (double)P->panel[k].width * P->panel[k].height;
    entries += mine;
    rows += mine * P->panel[k].height;
  }
  while (threads < MOST && threads * entries < rows) threads *= 2;
  return threads;
}

/* Right-hand sides per block: at most nrhs, as far as shared memory allows. */
static int32_t tile_for(const trs_supernodal *a, int64_t nrhs) {
  int32_t tile = TRS_SUPERNODAL_MOST_TILE;
  int64_t size = (int64_t)trs_scalar_size(a->scalar);
  if (nrhs == 1) return 1;
  while (
      tile > TRS_SUPERNODAL_LANES &&
      (tile / 2 >= nrhs || trs_supernodal_shared(a->widest, a->threads, tile, size) > MOST_SHARED))
    tile /= 2;
  return tile;
}

static int64_t aligned(int64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

/* Places the counters and sums of a launch in s->work.  Returns their bytes. */
static int64_t share_work(const supernodal *s, trs_supernodal_job *job, int64_t nrhs) {
  const trs_supernodal *a = &s->args;
  char *work = s->work;
  job->nrhs = nrhs;
  job->tile = tile_for(a, nrhs);
  job->tiles = (nrhs + job->tile - 1) / job->tile;
  int64_t added = aligned(sizeof *job->ticket);
  int64_t lsum = added + aligned(a->count * job->tiles * (int64_t)sizeof *job->added);
  if (work) {
    job->ticket = (void *)work;
    job->added = (void *)(work + added);
    job->lsum = work + lsum;
  }
  return lsum + a->n * nrhs * (int64_t)trs_scalar_size(a->scalar);
}

/* Room for any number of right-hand sides up to at_once, since the tile depends on the number. */
static trs_status make_work(supernodal *s, const trs_plan *plan) {
  trs_supernodal_job job;
  int64_t hint = plan->options.nrhs;
  s->at_once = hint < 1 ? 1 : hint < MOST_AT_ONCE ? hint : MOST_AT_ONCE;
  for (int64_t nrhs = 1; nrhs <= s->at_once; nrhs++) {
    int64_t bytes = share_work(s, &job, nrhs);
    s->work_bytes = bytes > s->work_bytes ? bytes : s->work_bytes;
  }
  return trs_arena_alloc(&s->memory, &s->work, s->work_bytes, 1);
}

static void describe_launch(supernodal *s, const trs_plan *plan) {
  const trs_panels *P = &s->panels;
  const trs_device_facts *facts = trs_device_look(s->gpu.device);
  int32_t threads = s->threads ? (int32_t)s->threads : threads_for(P);
  s->args = (trs_supernodal){
      .scalar = plan->system.scalar,
      .by_rows = P->by_rows,
      .backward = P->backward,
      .widest = P->widest,
      .threads = threads,
      .most_blocks = facts->multiprocessors * (facts->threads_per_multiprocessor / threads),
      .n = P->n,
      .count = P->count,
      .panel = s->panel,
      .block = s->block,
      .list = s->list,
      .line = s->line,
      .values = s->values,
      .fault = s->gpu.fault};
}

static trs_status load_values(supernodal *s, const trs_plan *plan, const void *values) {
  const int64_t size = (int64_t)trs_scalar_size(plan->system.scalar);
  TRS_TRY(trs_device_copy(s->values, values, s->panels.nvalues * size, plan->stream));
  return trs_device_wait(plan->stream);
}

static trs_status bring(supernodal *s, const trs_plan *plan, const void *values) {
  TRS_TRY(put_panels(s));
  TRS_TRY(trs_arena_alloc(&s->memory, &s->values, s->panels.nvalues,
                          trs_scalar_size(plan->system.scalar)));
  describe_launch(s, plan);
  TRS_TRY(make_work(s, plan));
  return load_values(s, plan, values);
}

static void drop(supernodal *s) {
  trs_arena_free(&s->memory);
  trs_panels_destroy(&s->panels);
}

/* The same with other panels; after a failure s is as before. */
static trs_status replace(supernodal *s, const trs_plan *plan, const trs_system *S,
                          const trs_panels *panels) {
  supernodal fresh = *s;
  void *values = NULL;
  int64_t none;
  fresh.panels = *panels;
  fresh.memory = memory_of(&s->gpu, plan);
  fresh.block = NULL;
  fresh.work = NULL;
  fresh.work_bytes = 0;
  trs_status status = fill(&fresh, S, &values, NULL, &none);
  if (!status) status = bring(&fresh, plan, values);
  trs_free(values);
  drop(status ? &fresh : s);
  if (!status) *s = fresh;
  return status;
}

/* Fills, brings and, if inverses lose too many digits (analysis/growth.h), cuts their supernodes.
 * first: nothing is on the device yet. */
static trs_status fill_well(supernodal *s, const trs_plan *plan, const trs_system *S, bool first) {
  trs_panels_source T = source_of(S);
  trs_panels cut;
  void *values = NULL;
  uint8_t *cuts;
  int64_t refused = 0;
  TRS_TRY(TRS_ALLOC_ZERO(&cuts, S->n));
  trs_status status = fill(s, S, &values, cuts, &refused);
  if (!status && refused == 0)
    status = first ? bring(s, plan, values) : load_values(s, plan, values);
  trs_free(values);
  if (!status && refused) status = trs_panels_cut(&cut, &s->panels, &T, cuts);
  if (!status && refused) status = replace(s, plan, S, &cut);
  if (!status) s->refused += refused;
  trs_free(cuts);
  return status;
}

/* ---- The method. ---- */

/* A backward sweep runs through x and b from their ends. */
static void aim(trs_supernodal_job *job, const supernodal *s, const trs_rhs *rhs) {
  int64_t size = (int64_t)trs_scalar_size(s->args.scalar), sign = s->args.backward ? -1 : 1;
  int64_t from = s->args.backward ? s->args.n - 1 : 0;
  job->x = (char *)rhs->x + from * rhs->x_row * size;
  job->b = (const char *)rhs->b + from * rhs->b_row * size;
  job->x_row = sign * rhs->x_row;
  job->b_row = sign * rhs->b_row;
  job->x_col = rhs->x_col;
  job->b_col = rhs->b_col;
}

static trs_status launch(trs_plan *plan, const trs_rhs *rhs, trs_stream stream) {
  const supernodal *s = plan->state;
  for (int64_t first = 0; first < rhs->nrhs; first += s->at_once) {
    const trs_rhs part = trs_rhs_columns(rhs, s->args.scalar, first, s->at_once);
    trs_supernodal_job job;
    int64_t bytes = share_work(s, &job, part.nrhs);
    aim(&job, s, &part);
    TRS_TRY(trs_device_fill(s->work, 0, bytes, stream));
    TRS_TRY(trs_supernodal_launch(&s->args, &job, stream));
  }
  return TRS_SUCCESS;
}

static trs_status analyze(trs_plan *plan) {
  supernodal *s;
  trs_host_system h;
  TRS_TRY(TRS_ALLOC_ZERO(&s, 1));
  plan->state = s;
  TRS_TRY(read_parameters(s, plan));
  TRS_TRY(trs_gpu_open(&s->gpu, plan, launch));
  s->memory = memory_of(&s->gpu, plan);
  s->gpu.system.n = plan->system.n; /* for trs_gpu_bytes; nothing is loaded */
  s->gpu.system.scalar = plan->system.scalar;
  trs_status status = trs_host_system_create(&h, &plan->system, plan->matrix, plan->system.rows,
                                             true, plan->stream);
  if (!status) status = find_panels(s, &h.S);
  if (!status) status = fill_well(s, plan, &h.S, true);
  trs_host_system_destroy(&h);
  return status;
}

static trs_status update(trs_plan *plan) {
  supernodal *s = plan->state;
  trs_host_system h;
  trs_status status = trs_host_system_create(&h, &plan->system, plan->matrix, plan->system.rows,
                                             true, plan->stream);
  if (!status) status = fill_well(s, plan, &h.S, false);
  trs_host_system_destroy(&h);
  return status;
}

static int64_t bytes(const trs_plan *plan) {
  const supernodal *s = plan->state;
  return trs_gpu_bytes(&s->gpu) + s->memory.bytes;
}

static void describe(const trs_plan *plan, char *text, size_t size) {
  const supernodal *s = plan->state;
  const trs_panels *P = &s->panels;
  int64_t kept = P->entries + P->zeros;
  char cut[96] = "";
  if (s->refused)
    snprintf(cut, sizeof cut, "; %lld cut, whose inverses would lose digits",
             (long long)s->refused);
  trs_print(text, size,
            "%lld supernodes by %s in %d levels, the widest of %d, %.3g %% explicit zeros, %d "
            "threads each%s",
            (long long)P->count, P->by_rows ? "rows" : "columns", P->levels, P->widest,
            kept ? 100 * (double)P->zeros / (double)kept : 0, s->args.threads, cut);
}

static void free_state(trs_plan *plan) {
  supernodal *s = plan->state;
  if (s && s->gpu.device) {
    drop(s);
    trs_gpu_free(&s->gpu, plan);
  }
  trs_free(s);
}

const trs_method trs_method_supernodal = {
    .name = "supernodal",
    TRS_GPU_METHOD,
    .analysis_solves = 100,
    TRS_METHOD_STEPS,
};
