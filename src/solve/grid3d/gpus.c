/* gpus.c - the GPU of one rank, and its shared memory with the other GPUs of the grid. */
#include "solve/grid3d/gpus.h"

#include <string.h>

#include "base/counter.h"
#include "comm/mapped.h"
#include "device/arena.h"
#include "device/fault.h"

/* A sweep's tasks in device memory. */
typedef struct side {
  trs_spread_task *task;
  trs_spread_unit *unit;
  int32_t *receiver, *list;
  void *values;
  int64_t ntasks;
} side;

/* Offsets in bytes from the beginning of the shared memory, for L and U.  x and sums exist twice,
 * `half` bytes apart, for solves in turn. */
typedef struct offsets {
  int64_t x_arrived_at[2], x[2], sums[2], halves, half, bytes;
} offsets;

struct trs_grid_gpus {
  trs_grid_gpus_options set;
  trs_spread_numbers numbers;
  side side[2];
  int children;
  int32_t *shared; /* device: rows of x that other grids share, in descending order of the number of
                      grids */
  int64_t nshared;
  trs_arena memory;

  offsets at;
  trs_mapped mapped; /* the members are the grid's ranks */
  void *b, *packed;  /* device: right-hand sides; rows sent to another grid and received from it */
  char *staged;      /* pinned: like b, and like packed */
  uint32_t *ticket;  /* of L, of U */
  trs_fault *fault, *host_fault;
  uint32_t solve;
  bool odd;       /* the half of the shared memory that this solve uses */
  void *state[2]; /* of the ways of L and U */
};

static trs_status launch_rows(void *state, trs_spread_args *args) {
  (void)state;
  return trs_spread_launch(args, NULL);
}

const trs_spread_way trs_spread_by_rows = {
    .name = "spread", .list = trs_spread_list_rows, .launch = launch_rows};

/* ---- Analysis ---- */

static trs_status bring_side(trs_grid_gpus *g, const trs_rank_part *p, const trs_sweep *sweep) {
  const trs_local_side *from = &p->side[sweep->upper];
  side *to = &g->side[sweep->upper];
  trs_arena *memory = &g->memory;
  trs_spread_tasks made;
  trs_status status = trs_spread_tasks_make(&made, p, sweep, &g->numbers, g->set.trees,
                                            g->set.way[sweep->upper]->list);
  to->ntasks = made.ntasks;
  if (!status) status = TRS_ARENA_UPLOAD(memory, &to->task, made.task, made.ntasks);
  if (!status) status = TRS_ARENA_UPLOAD(memory, &to->unit, made.unit, made.nunits);
  if (!status) status = TRS_ARENA_UPLOAD(memory, &to->receiver, made.receiver, made.nreceivers);
  if (!status) status = TRS_ARENA_UPLOAD(memory, &to->list, from->list, from->nblock_list);
  if (!status)
    status = trs_arena_upload(memory, &to->values, from->values, from->nblock_values,
                              trs_scalar_size(p->scalar));
  trs_spread_tasks_free(&made);
  return status;
}

static bool is_shared(const trs_rank_part *p, int64_t slot, int height) {
  int64_t K = p->slot[slot];
  return p->layout->height[K] == height && trs_has_diagonal(p, K) &&
         trs_half(p->layout, K) != TRS_HALF_BELOW;
}

/* Highest first, so that each step of the exchange takes a prefix of the list. */
static trs_status list_shared(trs_grid_gpus *g, const trs_rank_part *p) {
  int32_t *row;
  TRS_TRY(TRS_ALLOC(&row, g->numbers.columns));
  for (int height = p->layout->levels; height > 0; height--)
    for (int64_t s = 0; s < p->nslots; s++)
      for (int64_t i = 0; is_shared(p, s, height) && i < trs_width(p->layout, p->slot[s]); i++)
        row[g->nshared++] = g->numbers.first[g->numbers.number[s]] + (int32_t)i;
  return trs_arena_move(&g->memory, &g->shared, row, g->nshared, sizeof *row);
}

static trs_status arm(trs_grid_gpus *g) {
  TRS_TRY(trs_device_alloc_pinned((void **)&g->host_fault, sizeof *g->host_fault));
  *g->host_fault = (trs_fault){.row = -1, .limit = TRS_WAIT_LIMIT};
  TRS_TRY(trs_arena_alloc(&g->memory, &g->ticket, 2, sizeof *g->ticket));
  return TRS_ARENA_UPLOAD(&g->memory, &g->fault, g->host_fault, 1);
}

static trs_status check(const trs_grid_gpus *g, const trs_rank_part *p) {
  if (g->mapped.members > TRS_MOST_MEMBERS)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "a grid of %d x %d ranks with a GPU each: a grid has at most %d GPUs, take "
                    "more grids (Pz)",
                    p->shape.x, p->shape.y, TRS_MOST_MEMBERS);
  if (p->layout->widest > TRS_SPREAD_WIDEST)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "supernodes of %lld columns on a grid of several GPUs: at most %d (the option "
                    "width, --width)",
                    (long long)p->layout->widest, TRS_SPREAD_WIDEST);
  return TRS_SUCCESS;
}

static trs_status make(trs_grid_gpus *g, const trs_rank_part *p, const trs_sweep *const sweep[2]) {
  TRS_TRY(check(g, p));
  TRS_TRY(trs_spread_number(&g->numbers, p));
  for (int upper = 0; upper < 2; upper++) TRS_TRY(bring_side(g, p, sweep[upper]));
  TRS_TRY(list_shared(g, p));
  for (int upper = 0; upper < 2; upper++)
    if (g->set.way[upper]->open) TRS_TRY(g->set.way[upper]->open(&g->state[upper], g->set.device));
  return arm(g);
}

trs_status trs_grid_gpus_create(trs_grid_gpus **made, const trs_rank_part *p,
                                const trs_sweep *const sweep[2],
                                const trs_grid_gpus_options *options) {
  trs_grid_gpus *g;
  TRS_TRY(TRS_ALLOC_ZERO(made, 1));
  g = *made;
  g->set = *options;
  g->memory.device = options->device;
  g->mapped.device = options->device;
  g->mapped.members = p->shape.x * p->shape.y;
  g->mapped.me = trs_place(p);
  g->children = trs_spread_children(options->trees, g->mapped.members);
  TRS_ON_DEVICE(options->device);
  return make(g, p, sweep);
}

/* ---- Memory ---- */

static int64_t take_bytes(int64_t *end, int64_t bytes) {
  enum { LINE = 256 };
  int64_t at = *end;
  *end += (bytes + LINE - 1) / LINE * LINE;
  return at;
}

static int32_t chunks_of(int64_t nrhs) {
  return nrhs == 1 ? 1 : (int32_t)((nrhs + TRS_SPREAD_TILE - 1) / TRS_SPREAD_TILE);
}

/* Offsets are the same on all members. */
static offsets offsets_for(const trs_grid_gpus *g, int64_t row_bytes, int64_t nrhs) {
  int64_t words = chunks_of(nrhs) * (int64_t)sizeof(uint32_t);
  offsets at = {.bytes = 0};
  for (int upper = 0; upper < 2; upper++)
    at.x_arrived_at[upper] =
        take_bytes(&at.bytes, g->set.way[upper]->words ? g->numbers.count * words : 0);
  at.halves = at.bytes;
  for (int upper = 0; upper < 2; upper++) {
    at.x[upper] = take_bytes(&at.bytes, g->numbers.columns * row_bytes);
    at.sums[upper] = take_bytes(&at.bytes, g->children * g->numbers.columns * row_bytes);
  }
  at.half = at.bytes - at.halves;
  at.bytes += at.half;
  return at;
}

static char *own_memory(const trs_grid_gpus *g) { return g->mapped.base[g->mapped.me]; }

/* An offset of x or of sums in this solve. */
static int64_t in_half(const trs_grid_gpus *g, int64_t offset) {
  return offset + (g->odd ? g->at.half : 0);
}

/* Values are pending, so that others see whether one has been stored. */
static trs_status empty_half(const trs_grid_gpus *g, bool odd) {
  char *from = own_memory(g) + g->at.halves + (odd ? g->at.half : 0);
  return trs_device_fill(from, 0xff, g->at.half, NULL);
}

static void give_up_room(trs_grid_gpus *g) {
  trs_mapped_free(&g->mapped);
  trs_device_free(g->set.device, g->b, NULL);
  trs_device_free(g->set.device, g->packed, NULL);
  trs_device_free_pinned(g->staged);
  g->b = g->packed = NULL;
  g->staged = NULL;
}

static trs_spread_args args_of(const trs_grid_gpus *g, const trs_rank_part *p, bool upper,
                               void *rows) {
  const side *of = &g->side[upper];
  trs_spread_args a = {.scalar = p->scalar,
                       .upper = upper,
                       .member = g->mapped.me,
                       .tile = p->nrhs == 1 ? 1 : TRS_SPREAD_TILE,
                       .chunks = chunks_of(p->nrhs),
                       .ntasks = (int32_t)of->ntasks,
                       .widest = (int32_t)p->layout->widest,
                       .nrhs = p->nrhs,
                       .columns = g->numbers.columns,
                       .count = g->numbers.count,
                       .task = of->task,
                       .unit = of->unit,
                       .list = of->list,
                       .receiver = of->receiver,
                       .values = of->values,
                       .b = upper ? own_memory(g) + in_half(g, g->at.x[0]) : g->b,
                       .rows = rows,
                       .x = in_half(g, g->at.x[upper]),
                       .sums = in_half(g, g->at.sums[upper]),
                       .ticket = g->ticket + upper,
                       .fault = g->fault,
                       .x_arrived_at = g->at.x_arrived_at[upper],
                       .solve = g->solve};
  memcpy(a.base, g->mapped.base, sizeof a.base);
  return a;
}

trs_status trs_grid_gpus_reserve(trs_grid_gpus *g, const trs_rank_part *p) {
  TRS_ON_DEVICE(g->set.device);
  int64_t row = trs_row_bytes(p);
  give_up_room(g);
  g->at = offsets_for(g, row, p->nrhs);
  TRS_TRY(trs_mapped_alloc(&g->mapped, g->at.bytes));
  TRS_TRY(trs_device_fill(own_memory(g), 0, g->at.halves, NULL));
  for (int odd = 0; odd < 2; odd++) TRS_TRY(empty_half(g, odd));
  for (int upper = 0; upper < 2; upper++) {
    const trs_spread_args a = args_of(g, p, upper, NULL);
    if (g->set.way[upper]->reserve) TRS_TRY(g->set.way[upper]->reserve(g->state[upper], &a));
  }
  TRS_TRY(trs_device_alloc(g->set.device, &g->b, g->numbers.columns, (size_t)row, NULL));
  TRS_TRY(trs_device_alloc(g->set.device, &g->packed, 2 * g->nshared, (size_t)row, NULL));
  int64_t staged = g->numbers.columns > 2 * g->nshared ? g->numbers.columns : 2 * g->nshared;
  TRS_TRY(trs_device_alloc_pinned((void **)&g->staged, staged * row));
  g->solve = (uint32_t)trs_counters_begin;
  return trs_device_wait(NULL);
}

/* ---- Shared memory of other ranks ---- */

typedef struct card {
  int64_t machine;
  trs_device_handle handle;
} card;

static trs_status open_all(trs_grid_gpus *g, const trs_rank_part *p, const card *all) {
  const card *grid = all + (int64_t)p->z * g->mapped.members;
  for (int m = 0; m < g->mapped.members; m++) {
    if (m == g->mapped.me) continue;
    if (grid[m].machine != g->set.machine)
      return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                      "ranks %d and %d of one grid are on different machines: GPUs of a grid reach "
                      "each other inside one machine alone; start a grid's Px Py ranks together on "
                      "one, or take Px = Py = 1",
                      p->z * g->mapped.members + g->mapped.me, p->z * g->mapped.members + m);
    TRS_TRY(trs_mapped_open(&g->mapped, m, &grid[m].handle));
  }
  return TRS_SUCCESS;
}

trs_status trs_grid_gpus_meet(trs_grid_gpus *g, const trs_rank_part *p, trs_ranks *ranks) {
  card own = {.machine = g->set.machine, .handle = g->mapped.handle}, *all = NULL;
  trs_status status = trs_ranks_agree(ranks, TRS_ALLOC(&all, ranks->size));
  if (!status) status = trs_ranks_records(ranks, &own, all, sizeof own);
  if (!status) status = trs_ranks_agree(ranks, open_all(g, p, all));
  trs_free(all);
  return status;
}

/* A grid of more members has been refused. */
static bool has_members(const trs_grid_gpus *g) { return g->mapped.members <= TRS_MOST_MEMBERS; }

static void close_all(trs_grid_gpus *g) {
  if (has_members(g)) trs_mapped_close(&g->mapped);
}

/* Other processes must close the memory before it is freed. */
void trs_grid_gpus_leave(trs_grid_gpus *g, trs_ranks *ranks) {
  close_all(g);
  (void)trs_ranks_barrier(ranks);
}

/* ---- A solve ---- */

/* Copies between the part's slots whose diagonal blocks are on this rank and the stage. */
static void move_slots(const trs_grid_gpus *g, const trs_rank_part *p, bool take) {
  for (int64_t s = 0; s < p->nslots; s++) {
    if (!trs_has_diagonal(p, p->slot[s])) continue;
    char *there = g->staged + g->numbers.first[g->numbers.number[s]] * trs_row_bytes(p);
    size_t bytes = (size_t)trs_slot_bytes(p, p->slot[s]);
    if (take)
      memcpy(there, trs_slot_sum(p, s), bytes);
    else
      memcpy(trs_slot_x(p, s), there, bytes);
  }
}

trs_status trs_grid_gpus_take(trs_grid_gpus *g, const trs_rank_part *p) {
  TRS_ON_DEVICE(g->set.device);
  move_slots(g, p, true);
  if (++g->solve == 0) g->solve = 1; /* a value of the words that no solve uses */
  g->odd = !g->odd;
  trs_status status = trs_device_copy(g->b, g->staged, g->numbers.columns * trs_row_bytes(p), NULL);
  if (!status) status = empty_half(g, !g->odd); /* all ranks have ended the solve that used it */
  if (!status) status = trs_device_fill(g->ticket, 0, 2 * sizeof *g->ticket, NULL);
  if (!status) status = trs_device_wait(NULL);
  return status;
}

trs_status trs_grid_gpus_give(trs_grid_gpus *g, trs_rank_part *p) {
  int before = trs_device_enter(g->set.device);
  trs_status status = trs_device_copy(g->staged, own_memory(g) + in_half(g, g->at.x[1]),
                                      g->numbers.columns * trs_row_bytes(p), NULL);
  if (!status) status = trs_device_wait(NULL);
  trs_device_leave(before);
  if (!status) move_slots(g, p, false);
  return status;
}

trs_status trs_grid_gpus_sweep(trs_grid_gpus *g, const trs_rank_part *p, bool upper, void *rows) {
  trs_spread_args a = args_of(g, p, upper, rows);
  TRS_ON_DEVICE(g->set.device);
  return g->set.way[upper]->launch(g->state[upper], &a);
}

trs_status trs_grid_gpus_wait(trs_grid_gpus *g) {
  int before = trs_device_enter(g->set.device);
  trs_status status = trs_device_copy(g->host_fault, g->fault, sizeof *g->host_fault, NULL);
  if (!status) status = trs_device_wait(NULL);
  trs_device_leave(before);
  if (status || !g->host_fault->stalled) return status;
  return trs_fail(TRS_ERROR_STALLED, g->host_fault->row,
                  "GPU %d: row %lld of the factors waited more than %.3g s for rows of its grid's "
                  "GPUs (0-based); x is not complete, analyse anew",
                  trs_device_look(g->set.device)->ordinal, (long long)g->host_fault->row,
                  1e-9 * (double)g->host_fault->limit);
}

/* ---- Between grids ---- */

static trs_status move_shared(const trs_grid_gpus *g, const trs_rank_part *p, int64_t rows,
                              bool add, void *packed) {
  const trs_spread_rows m = {.scalar = p->scalar,
                             .add = add,
                             .rows = rows,
                             .nrhs = p->nrhs,
                             .row = g->shared,
                             .x = own_memory(g) + in_half(g, g->at.x[0]),
                             .packed = packed};
  return trs_spread_move(&m, NULL);
}

static char *arrived(const trs_grid_gpus *g, const trs_rank_part *p) {
  return (char *)g->packed + g->nshared * trs_row_bytes(p);
}

trs_status trs_grid_gpus_share(trs_grid_gpus *g, const trs_rank_part *p, int64_t rows,
                               const void **out, void **in) {
  TRS_ON_DEVICE(g->set.device);
  int64_t bytes = rows * trs_row_bytes(p);
  *out = g->packed;
  *in = arrived(g, p);
  TRS_TRY(move_shared(g, p, rows, false, g->packed));
  if (!g->set.mpi_reads_device) {
    TRS_TRY(trs_device_copy(g->staged, g->packed, bytes, NULL));
    *out = g->staged;
    *in = g->staged + bytes;
  }
  return trs_device_wait(NULL);
}

trs_status trs_grid_gpus_add(trs_grid_gpus *g, const trs_rank_part *p, int64_t rows) {
  int64_t bytes = rows * trs_row_bytes(p);
  TRS_ON_DEVICE(g->set.device);
  trs_status status = TRS_SUCCESS;
  if (!g->set.mpi_reads_device)
    status = trs_device_copy(arrived(g, p), g->staged + bytes, bytes, NULL);
  if (!status) status = move_shared(g, p, rows, true, arrived(g, p));
  return status;
}

/* ---- Life ---- */

int64_t trs_grid_gpus_bytes(const trs_grid_gpus *g) { return g->memory.bytes; }

void trs_grid_gpus_destroy(trs_grid_gpus *g) {
  if (!g) return;
  int before = trs_device_enter(g->set.device);
  close_all(g);
  if (has_members(g)) give_up_room(g);
  for (int upper = 0; upper < 2; upper++)
    if (g->set.way[upper]->close) g->set.way[upper]->close(g->state[upper]);
  trs_arena_free(&g->memory);
  trs_device_free_pinned(g->host_fault);
  trs_device_leave(before);
  trs_spread_numbers_free(&g->numbers);
  trs_free(g);
}
