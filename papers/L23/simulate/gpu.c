/* gpu.c - sweeps of a grid of GPUs, one supernode column after the other in ticket order: a column
 * waits only for columns that started earlier, so one pass computes all times. */
#include "simulate/gpu.h"

#include <string.h>

/* h100: fitted to Algorithm 4 on one H100 (docs/experiments/grids-of-gpus.md gives the accuracy);
 * links like NVLink and a network of 12.5 GB/s.  a100: L23's machine, Perlmutter: 40 GB A100s, four
 * per node, 300 GB/s between these and 12.5 GB/s to others, according to L23; the rates of a block
 * of threads are those of h100. */
#define BLOCKS_AND_LINKS                                                                         \
  .task_s = 3e-7, .triangle_s = {3.2e-7, 1.2e-6}, .block_bytes_s = {4.5e9, 2.5e9},               \
  .here_s = 1.1e-6, .near_s = 2e-6, .near_bytes_s = 300e9, .far_s = 5e-6, .far_bytes_s = 12.5e9, \
  .sweep_s = 20e-6

static const trs_gpu_machine machines[] = {
    {.name = "h100", .blocks = 264, .bytes_s = 2.6e12, .gpus = 8, BLOCKS_AND_LINKS},
    {.name = "a100", .blocks = 216, .bytes_s = 1.3e12, .gpus = 4, BLOCKS_AND_LINKS}};

const trs_gpu_machine *trs_gpu_machine_of(const char *name) {
  for (size_t k = 0; k < sizeof machines / sizeof *machines; k++)
    if (!strcmp(machines[k].name, name)) return &machines[k];
  return NULL;
}

typedef struct world {
  const trs_grid_layout *l;
  const trs_gpu_machine *m;
  trs_tree_shape trees;
  trs_grid_shape shape;
  trs_figures *figures;
  double *free;  /* of all ranks: the time at which a rank has no work left */
  double *told;  /* count: arrival of the last product of a row's sum */
  double *block; /* px times blocks: when each block of threads is free, the first first */
  double *bytes; /* px: bytes read in this sweep */
  double *x;     /* px: arrival of a column's x at the members of its tree */
  int *member;   /* px */
} world;

static double larger(double a, double b) { return a > b ? a : b; }

static double wire_s(const world *w, int64_t from, int64_t to, double bytes) {
  const trs_gpu_machine *m = w->m;
  if (from / m->gpus == to / m->gpus) return m->near_s + bytes / m->near_bytes_s;
  return m->far_s + bytes / m->far_bytes_s;
}

/* Seconds of one block for the given numbers of a panel. */
static double numbers_s(const world *w, bool upper, double numbers) {
  return 8 * numbers / w->m->block_bytes_s[upper];
}

/* The block of threads that is free first becomes free again at `then`. */
static void put_back(double *heap, int count, double then) {
  int at = 0;
  for (int next; (next = 2 * at + 1) < count; at = next) {
    if (next + 1 < count && heap[next + 1] < heap[next]) next++;
    if (heap[next] >= then) break;
    heap[at] = heap[next];
  }
  heap[at] = then;
}

/* ---- A column ---- */

typedef struct column {
  bool upper;
  int z;
  int64_t K;
} column;

static int place_of(const world *w, int64_t I) { return (int)(I % w->shape.x); }

/* The root, then the other members with blocks, in cyclic order from the root. */
static int list_members(const world *w, const column *c) {
  const trs_grid_blocks *blocks = &w->l->blocks[c->upper];
  int root = place_of(w, c->K), count = 1;
  for (int p = 0; p < w->shape.x; p++) w->x[p] = -1;
  for (int64_t b = blocks->ptr[c->K]; b < blocks->ptr[c->K + 1]; b++)
    if (trs_on_grid(w->l, blocks->row[b], c->z)) w->x[place_of(w, blocks->row[b])] = 0;
  w->member[0] = root;
  for (int d = 1; d < w->shape.x; d++)
    if (w->x[(root + d) % w->shape.x] == 0) w->member[count++] = (root + d) % w->shape.x;
  return count;
}

/* x has arrived at a member: processes its blocks, row by row.  Returns the time of the last. */
static double multiply(world *w, const column *c, int place, double now) {
  const trs_grid_blocks *blocks = &w->l->blocks[c->upper];
  int64_t first = blocks->ptr[c->K], count = blocks->ptr[c->K + 1] - first;
  for (int64_t k = 0; k < count; k++) {
    int64_t b = first + (c->upper ? count - 1 - k : k), I = blocks->row[b];
    if (!trs_on_grid(w->l, I, c->z) || place_of(w, I) != place) continue;
    double numbers = (double)(blocks->rows[b] * trs_width(w->l, c->upper ? I : c->K));
    now += numbers_s(w, c->upper, numbers);
    w->bytes[place] += 8 * numbers;
    w->told[I] = larger(w->told[I], now);
    w->figures[c->z * w->shape.x + place].value[TRS_FIGURE_FLOPS + c->upper] += 2 * numbers;
  }
  return now;
}

static double solve_diagonal(world *w, const column *c, int place, double now) {
  double width = (double)trs_width(w->l, c->K);
  now = larger(now, w->told[c->K] + w->m->here_s) + w->m->triangle_s[c->upper] +
        numbers_s(w, c->upper, width * width / 2);
  w->bytes[place] += 4 * width * width;
  return now;
}

static void do_column(world *w, const column *c) {
  int count = list_members(w, c);
  double bytes = 8 * (double)trs_width(w->l, c->K);
  for (int i = 0; i < count; i++) {
    int place = w->member[i];
    trs_figures *f = &w->figures[c->z * w->shape.x + place];
    double *heap = w->block + (int64_t)place * w->m->blocks, now = heap[0] + w->m->task_s;
    now = i ? larger(now, w->x[place]) : solve_diagonal(w, c, place, now);
    trs_tree_place at = trs_tree_at(w->trees, i, count);
    for (int k = 0; k < at.nchildren; k++) {
      int to = w->member[at.first_child + k];
      w->x[to] = now + wire_s(w, c->z * w->shape.x + place, c->z * w->shape.x + to, bytes);
      f->value[TRS_FIGURE_INTRA_MESSAGES + c->upper]++;
      f->value[TRS_FIGURE_INTRA_BYTES + c->upper] += bytes;
    }
    put_back(heap, w->m->blocks, multiply(w, c, place, now));
  }
}

/* ---- Sweeps, and the exchange between them ---- */

static void begin_sweep(world *w, int z) {
  memset(w->told, 0, (size_t)w->l->count * sizeof *w->told);
  for (int p = 0; p < w->shape.x; p++) {
    w->bytes[p] = 0;
    for (int k = 0; k < w->m->blocks; k++)
      w->block[(int64_t)p * w->m->blocks + k] = w->free[z * w->shape.x + p];
  }
}

static void end_sweep(world *w, bool upper, int z) {
  for (int p = 0; p < w->shape.x; p++) {
    int64_t rank = (int64_t)z * w->shape.x + p;
    double end = w->free[rank] + w->bytes[p] / w->m->bytes_s;
    for (int k = 0; k < w->m->blocks; k++)
      end = larger(end, w->block[(int64_t)p * w->m->blocks + k]);
    end += w->m->sweep_s;
    w->figures[rank].value[TRS_FIGURE_FLOP + upper] += end - w->free[rank];
    w->figures[rank].value[TRS_FIGURE_BYTES] += w->bytes[p];
    w->free[rank] = end;
  }
}

static void sweep(world *w, bool upper, int z) {
  column c = {.upper = upper, .z = z};
  begin_sweep(w, z);
  for (int64_t k = 0; k < w->l->count; k++) {
    c.K = upper ? w->l->count - 1 - k : k;
    if (trs_on_grid(w->l, c.K, z)) do_column(w, &c);
  }
  end_sweep(w, upper, z);
}

static double shared_bytes(const world *w, int z, int place, int height) {
  int64_t columns = 0;
  for (int64_t K = 0; K < w->l->count; K++)
    if (w->l->height[K] >= height && trs_on_grid(w->l, K, z) && place_of(w, K) == place)
      columns += trs_width(w->l, K);
  return 8 * (double)columns;
}

static void exchange(world *w, int64_t a, int64_t b, double bytes) {
  double end = larger(w->free[a], w->free[b]) + wire_s(w, a, b, bytes);
  const int64_t rank[] = {a, b};
  for (int k = 0; k < 2; k++) {
    double *v = w->figures[rank[k]].value;
    v[TRS_FIGURE_INTER] += end - w->free[rank[k]];
    v[TRS_FIGURE_INTER_MESSAGES]++;
    v[TRS_FIGURE_INTER_BYTES] += bytes;
    w->free[rank[k]] = end;
  }
}

static void allreduce(world *w) {
  for (int step = 0; step < w->l->levels; step++)
    for (int z = 0; z < w->shape.z; z++)
      for (int p = 0; p < w->shape.x; p++) {
        int64_t partner = trs_pair_partner(z, step);
        double bytes = partner > z ? shared_bytes(w, z, p, step + 1) : 0;
        if (bytes > 0) exchange(w, z * w->shape.x + p, partner * w->shape.x + p, bytes);
      }
}

static trs_status run(world *w) {
  int64_t ranks = (int64_t)w->shape.x * w->shape.z;
  TRS_TRY(TRS_ALLOC_ZERO(&w->free, ranks));
  TRS_TRY(TRS_ALLOC(&w->told, w->l->count));
  TRS_TRY(TRS_ALLOC(&w->block, (int64_t)w->shape.x * w->m->blocks));
  TRS_TRY(TRS_ALLOC(&w->bytes, w->shape.x));
  TRS_TRY(TRS_ALLOC(&w->x, w->shape.x));
  TRS_TRY(TRS_ALLOC(&w->member, w->shape.x));
  memset(w->figures, 0, (size_t)ranks * sizeof *w->figures);
  for (int z = 0; z < w->shape.z; z++) sweep(w, TRS_L, z);
  allreduce(w);
  for (int z = 0; z < w->shape.z; z++) sweep(w, TRS_U, z);
  for (int64_t r = 0; r < ranks; r++) w->figures[r].value[TRS_FIGURE_SOLVE] = w->free[r];
  return TRS_SUCCESS;
}

trs_status trs_gpu_model(const trs_grid_layout *layout, const trs_gpu_machine *machine,
                         trs_tree_shape trees, trs_grid_shape shape, trs_figures *figures) {
  world w = {.l = layout, .m = machine, .trees = trees, .shape = shape, .figures = figures};
  if (shape.y != 1)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "GPUs are modelled on grids of Px x 1 x Pz, not %d x %d x %d", shape.x, shape.y,
                    shape.z);
  trs_status status = run(&w);
  void *arrays[] = {w.free, w.told, w.block, w.bytes, w.x, w.member};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) trs_free(arrays[k]);
  return status;
}
