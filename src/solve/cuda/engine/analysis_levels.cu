/* analysis_levels.cu - levels of blocks, without synchronisation between levels (level_walk.cuh).
 *
 * Blocks of threads take tickets in the order of the sweep, so one waits only for those that
 * already run.  Nodes of the same block of threads are polled in its shared memory.
 *
 * Small systems are walked by one block of threads, which holds all levels in its shared memory: a
 * step along the longest path costs a store and a load there instead of in the second-level cache.
 * One block of threads is too slow for larger systems.
 *
 * O(nnz) reads; the time is that of the longest path, counted in warps.
 *
 * If a rival is known to need fewer levels, the first block of threads that exceeds its number
 * sets given_up, and all stop.  The rival may still be at work. */
#include <climits>

#include "solve/cuda/engine/level_walk.cuh"

namespace {

using namespace trs;

enum { THREADS = 512, BLOCKS_A_MULTIPROCESSOR = 2 }; /* with three, registers spill */
/* The walk by one block of threads: */
enum {
  ALONE_THREADS = 1024,
  ALONE_WARPS = ALONE_THREADS / WARP,
  ALONE_ROWS = 20480,     /* systems of at most that many rows */
  ALONE_ENTRIES = 1 << 19 /* and that many entries */
};

/* ---- The dependencies of nodes. ---- */

struct rows_graph {
  pattern_view t;
  double entries_a_row;

  __device__ double entries_a_node(int32_t) const { return entries_a_row; }

  __device__ node_view node(int32_t k) const {
    row_view row = t.row(k);
    return {row.origin, row.count, row.count > 0 && other(row.origin, row.count - 1) == k - 1};
  }
  __device__ int32_t other(int64_t origin, int64_t e) const { return t.column(origin, e); }
  /* The most entries outside the node in one of its rows.  This graph also writes length[k]. */
  __device__ int32_t longest(int32_t k, const node_view &v, int32_t *length) const {
    return length[k] = v.count;
  }
};

struct blocks_graph {
  pattern_view t;
  double entries_a_row;
  const int32_t *start, *near;
  const uint32_t *near_count;

  /* Entries of a row, where entries in one block count once. */
  __device__ double entries_a_node(int32_t nodes) const {
    return entries_a_row * double(nodes) / double(t.n);
  }
  __device__ node_view node(int32_t b) const {
    int32_t first = start[b], end = start[b + 1];
    uint32_t count = near_count[b];
    return {t.ptr[t.lower ? first : t.n - end], int32_t(count & ~(1u << 31)), (count >> 31) != 0};
  }
  __device__ int32_t other(int64_t origin, int64_t e) const { return __ldg(near + origin + e); }
  __device__ int32_t longest(int32_t b, const node_view &, const int32_t *length) const {
    return length[b];
  }
};

template <class Graph>
struct walk_view {
  Graph graph;
  uint32_t *known;
  int32_t *length;
  analysis_state *state;
  const int32_t *most;         /* all_levels of the rival, or NULL */
  int least_lanes, most_lanes; /* bounds of the kernels that are launched */
  bool begins;                 /* this is the first step, so nothing is initialised */
  volatile int32_t *told;      /* host memory: a walk by one block tells its number of levels */

  __device__ int lanes(int32_t nodes) const {
    return max(least_lanes, min(most_lanes, lanes_for(graph.entries_a_node(nodes))));
  }
};

/* ---- The walk by all blocks of threads. ---- */

/* Shared memory of a block of threads. */
struct walk_memory {
  uint32_t mine[THREADS], ticket, tickets, highest, longest;
};

/* Walks the nodes of one ticket.  False if some levels stay unknown. */
template <int LANES, class Graph>
__device__ bool walk_nodes(const walk_view<Graph> &v, walk_memory &m, int32_t nodes) {
  enum { NODES = THREADS / LANES };
  int64_t at = int64_t(m.ticket) * NODES + threadIdx.x / LANES;
  bool exists = at < nodes;
  int32_t node = int32_t(exists ? at : nodes);
  node_view its = exists ? v.graph.node(node) : node_view{0, 0, false};
  uint32_t longest = exists ? uint32_t(v.graph.longest(node, its, v.length)) : 0;
  longest = __reduce_max_sync(~0u, longest);
  if (this_lane() == 0) atomicMax(&m.longest, longest);
  walk<LANES, Graph, device_board> me = {
      v.graph, {v.known, m.mine, int32_t(m.ticket * NODES)}, node};
  warp_wait w(v.state);
  me.start(its, exists);
  bool complete = me.run(w);
  uint32_t highest = __reduce_max_sync(~0u, me.highest);
  if (this_lane() == 0) atomicMax(&m.highest, highest);
  return complete;
}

/* True if the rival is known to need at most that many levels. */
__device__ bool exceeds(const int32_t *rivals, int32_t levels) {
  const int32_t most = rivals ? load_relaxed(rivals) : 0;
  return most > 0 && levels >= most;
}

/* A block of threads holds one ticket at a time, so it waits only for blocks that run. */
template <int LANES, class Graph>
__device__ void walk_tickets(const walk_view<Graph> &v, walk_memory &m) {
  enum { NODES = THREADS / LANES };
  bool goes_on = true;
  do {
    if (threadIdx.x == 0) {
      m.ticket = atomicAdd(&v.state->node_ticket, 1u);
      m.tickets = uint32_t((int64_t(v.state->nblocks) + NODES - 1) / NODES);
    }
    if (threadIdx.x < NODES) m.mine[threadIdx.x] = 0;
    __syncthreads();
    if (m.ticket >= m.tickets) return;
    goes_on = walk_nodes<LANES>(v, m, v.state->nblocks);
    goes_on = __syncthreads_and(goes_on) != 0;
    if (threadIdx.x == 0 && exceeds(v.most, int32_t(m.highest)))
      store_relaxed(&v.state->given_up, 1u);
  } while (goes_on);
}

/* Adds what this block of threads found.  The last one to end knows that it is all. */
__device__ void end_walk(analysis_state *state, const walk_memory &m) {
  atomicMax(&state->nlevels, int32_t(m.highest + 1));
  atomicMax(&state->longest, int32_t(m.longest));
  __threadfence();
  if (atomicAdd(&state->walkers, 1u) + 1 == gridDim.x)
    store_relaxed(&state->all_levels, load_relaxed(&state->nlevels));
}

/* Works only if LANES fits the number of nodes, which only the device knows. */
template <int LANES, class Graph>
__global__ void __launch_bounds__(THREADS, BLOCKS_A_MULTIPROCESSOR)
    walk_levels(const __grid_constant__ walk_view<Graph> v) {
  __shared__ walk_memory m;
  if (v.lanes(v.state->nblocks) != LANES) return;
  if (threadIdx.x == 0) m.highest = m.longest = 0;
  walk_tickets<LANES>(v, m);
  if (threadIdx.x == 0) end_walk(v.state, m);
}

/* The blocks of threads that run at once, or fewer if the nodes need fewer. */
template <int LANES, class Graph>
void launch(const cut &c, const walk_view<Graph> &v) {
  const int64_t most =
      int64_t(BLOCKS_A_MULTIPROCESSOR) * trs_device_look(c.device)->multiprocessors;
  const int64_t all = (c.system.n * LANES + THREADS - 1) / THREADS;
  walk_levels<LANES><<<unsigned(all < most ? all : most), THREADS, 0, c.side>>>(v);
}

/* All LANES that may fit, for blocks of one row up to the largest. */
template <class Graph>
void launch_all(const cut &c, const walk_view<Graph> &v) {
  if (v.least_lanes <= 1) launch<1>(c, v);
  if (v.least_lanes <= 4 && v.most_lanes >= 4) launch<4>(c, v);
  if (v.least_lanes <= 8 && v.most_lanes >= 8) launch<8>(c, v);
  if (v.most_lanes == WARP) launch<WARP>(c, v);
}

/* ---- The walk by one block of threads.  A warp takes every ALONE_WARPS-th group of nodes, so it
 * waits only for groups that are finished or in work. ---- */

struct alone_memory {
  int32_t at[ALONE_WARPS]; /* current group of each warp */
  uint32_t highest, longest;
};

template <int LANES, class Graph>
__device__ void walk_groups(const walk_view<Graph> &v, alone_memory &m, volatile uint16_t *known,
                            int32_t nodes) {
  enum { NODES = WARP / LANES };
  const int32_t groups = int32_t((int64_t(nodes) + NODES - 1) / NODES);
  uint32_t highest = 0, longest = 0;
  bool goes_on = true;
  for (int32_t g = int32_t(threadIdx.x) / WARP; g < groups && goes_on; g += ALONE_WARPS) {
    if (this_lane() == 0) const_cast<volatile int32_t &>(m.at[g % ALONE_WARPS]) = g;
    const int32_t node = min(g * NODES + this_lane() / LANES, nodes);
    const bool exists = node < nodes;
    node_view its = {0, 0, false};
    if (exists) {
      its = v.graph.node(node);
      longest = max(longest, uint32_t(v.graph.longest(node, its, v.length)));
    }
    walk<LANES, Graph, shared_board> me = {v.graph, {known, m.at, g}, node};
    warp_wait w(v.state); /* its limit is for one group, not for the walk */
    me.start(its, exists);
    goes_on = me.run(w);
    highest = max(highest, me.highest + 1);
  }
  if (this_lane() == 0) const_cast<volatile int32_t &>(m.at[threadIdx.x / WARP]) = INT_MAX;
  highest = __reduce_max_sync(~0u, highest);
  longest = __reduce_max_sync(~0u, longest);
  if (this_lane() > 0) return;
  atomicMax(&m.highest, highest);
  atomicMax(&m.longest, longest);
}

template <class Graph>
__device__ void store_levels(const walk_view<Graph> &v, const alone_memory &m,
                             const volatile uint16_t *known, int32_t nodes) {
  static_assert(ALONE_ROWS < UINT16_MAX, "levels, and one more, fit");
  for (int32_t k = int32_t(threadIdx.x); k < nodes; k += ALONE_THREADS) v.known[k] = known[k];
  if (threadIdx.x > 0) return;
  v.state->nlevels = *v.told = int32_t(m.highest);
  v.state->longest = max(v.state->longest, int32_t(m.longest));
}

template <class Graph>
__global__ void __launch_bounds__(ALONE_THREADS, 1)
    walk_alone(const __grid_constant__ walk_view<Graph> v,
               const __grid_constant__ analysis_state fresh) {
  extern __shared__ uint16_t known[];
  __shared__ alone_memory m;
  const int32_t t = int32_t(threadIdx.x);
  await_kernel_before();
  if (v.begins && t == 0) *v.state = fresh;
  const int32_t nodes = v.begins ? fresh.nblocks : v.state->nblocks;
  for (int32_t k = t; k < nodes; k += ALONE_THREADS) known[k] = 0;
  if (t < ALONE_WARPS) m.at[t] = t;
  if (t == 0) m.highest = m.longest = 0;
  __syncthreads();
  switch (v.lanes(nodes)) {
    case 1:
      walk_groups<1>(v, m, known, nodes);
      break;
    case 4:
      walk_groups<4>(v, m, known, nodes);
      break;
    case 8:
      walk_groups<8>(v, m, known, nodes);
      break;
    default:
      walk_groups<WARP>(v, m, known, nodes);
  }
  __syncthreads();
  store_levels(v, m, known, nodes);
}

template <class Graph>
trs_status launch_alone(const cut &c, const walk_view<Graph> &v) {
  static_assert(ALONE_ROWS * sizeof(uint16_t) <= SHARED_ALWAYS, "nothing to ask for");
  const cudaError_t error =
      launch_behind(overlaps(c), walk_alone<Graph>, 1, ALONE_THREADS,
                    size_t(c.system.n) * sizeof(uint16_t), c.side, v, fresh_state(c));
  return trs_device_check(error, "finding levels");
}

/* ---- Launches. ---- */

template <class Graph>
trs_status launch_right(const cut &c, const Graph &graph) {
  const int most = lanes_for(graph.entries_a_row);
  const int least = lanes_for(graph.entries_a_row / c.rules.most_block);
  const bool alone = walks_alone(c);
  const int32_t *most_levels = !alone && c.rival ? &c.rival->state->all_levels : nullptr;
  const walk_view<Graph> v = {graph,
                              c.known,
                              c.length,
                              c.state,
                              most_levels,
                              least,
                              most,
                              begins_with_walk(c),
                              &c.stage->numbers.nlevels};
  if (alone) return launch_alone(c, v);
  launch_all(c, v);
  return trs_device_check(cudaGetLastError(), "finding levels");
}

}  // namespace

bool trs::walks_alone(const cut &c) {
  return c.system.n <= ALONE_ROWS && c.system.nnz <= ALONE_ENTRIES;
}

bool trs::begins_with_walk(const cut &c) { return !c.start && walks_alone(c); }

trs_status trs::find_levels(const cut &c) {
  const pattern_view t(c.system);
  const double entries = entries_a_row(c.system);
  if (!c.start) return launch_right(c, rows_graph{t, entries});
  return launch_right(c, blocks_graph{t, entries, c.start, c.near, c.near_count});
}
