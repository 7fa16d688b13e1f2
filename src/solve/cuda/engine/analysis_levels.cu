/* analysis_levels.cu - levels of blocks, without synchronisation between levels.
 *
 * Blocks of threads walk large systems (level_walk.cuh).  They take tickets in the order of the
 * sweep, so one waits only for those that already run.  Nodes of the same block of threads are
 * polled in its shared memory.
 *
 * Small systems are walked by one block of threads, whose warps take turns and hold all levels in
 * shared memory (ordered_walk.cuh).  Its time grows with the number of nodes, about 1 microsecond
 * per turn, and that of the other walk with the number of levels.
 *
 * O(nnz) reads; the time is that of the longest path, counted in warps.
 *
 * If a rival is known to need fewer levels, the first block of threads that exceeds its number
 * sets given_up, and all stop.  The rival may still be at work. */
#include <climits>

#include "solve/cuda/engine/ordered_walk.cuh"

namespace {

using namespace trs;

enum { THREADS = 512, BLOCKS_A_MULTIPROCESSOR = 2 }; /* with three, registers spill */
/* The walk by one block of threads: */
enum {
  ALONE_WARPS = 15, /* each has a barrier of its own; __syncthreads has the sixteenth */
  ALONE_THREADS = ALONE_WARPS * WARP,
  SHORT_ROW = 8,   /* entries that a lane holds where rows have so many in the mean, */
  LONGER_ROW = 24, /* and elsewhere */
  /* The number of nodes is not known yet.  Rows per node where blocks are full (choice.c), at
   * least: */
  ROWS_A_NODE = 2,
  ALONE_NODES = 8192,
  ALONE_ROWS = ALONE_NODES * ROWS_A_NODE,
  ALONE_ENTRIES = 1 << 19
};

/* ---- The dependencies of nodes. ---- */

struct rows_graph {
  static constexpr bool KNOWS_CHAINS = false; /* a look at two arrays more */
  pattern_view t;
  double entries_a_row;

  __device__ double entries_a_node(int32_t) const { return entries_a_row; }

  __device__ node_view node(int32_t k) const {
    row_view row = t.row(k);
    return {row.origin, row.count, row.count > 0 && other(row.origin, row.count - 1) == k - 1};
  }
  __device__ int32_t other(int64_t origin, int64_t e) const { return t.column(origin, e); }
  __device__ bool depends_on_last(int32_t) const { return false; }
  /* The most entries outside the node in one of its rows.  This graph also writes length[k]. */
  __device__ int32_t longest(int32_t k, const node_view &v, int32_t *length) const {
    return length[k] = v.count;
  }
};

struct blocks_graph {
  static constexpr bool KNOWS_CHAINS = true;
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
  __device__ bool depends_on_last(int32_t b) const { return near_count[b] >> 31 != 0; }
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
  walk<LANES, Graph> me = {v.graph, {v.known, m.mine, int32_t(m.ticket * NODES)}, node};
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

/* ---- The walk by one block of threads.  A warp takes every ALONE_WARPS-th group of nodes. ---- */

/* Warps pass the turn on by barriers of two warps: one arrives, and the next one waits. */
__device__ void await_turn(int warp) {
  asm volatile("bar.sync %0, %1;" ::"r"(warp + 1), "n"(2 * WARP) : "memory");
}
__device__ void pass_turn(int warp) {
  fence_block();
  asm volatile("bar.arrive %0, %1;" ::"r"(warp + 1), "n"(2 * WARP) : "memory");
}

/* Levels by their addresses in shared memory. */
class shared_levels {
 public:
  /* levels: of all nodes, and one before. */
  __device__ explicit shared_levels(uint16_t *levels)
      /* From another lane, the address stays in a register; the compiler would form it anew. */
      : first_(__shfl_sync(~0u, unsigned(__cvta_generic_to_shared(levels + 1)), 0)) {}
  __device__ uint32_t get(int32_t node) const {
    uint16_t level;
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(level) : "r"(first_ + 2 * unsigned(node)));
    return level;
  }
  __device__ void set(int32_t node, uint32_t level) const {
    asm volatile("st.shared.u16 [%0], %1;" ::"r"(first_ + 2 * unsigned(node)), "h"(uint16_t(level))
                 : "memory");
  }

 private:
  unsigned first_;
};

struct alone_memory {
  uint32_t levels, longest;
};

template <int HELD, class Graph>
__device__ void walk_groups(const walk_view<Graph> &v, alone_memory &m, const shared_levels &known,
                            int32_t nodes) {
  const int32_t groups = int32_t((int64_t(nodes) + WARP - 1) / WARP);
  const int warp = int(threadIdx.x) / WARP;
  uint32_t levels = 0, longest = 0;
  for (int32_t g = warp; g < groups; g += ALONE_WARPS) {
    const int32_t node = g * WARP + this_lane();
    const bool exists = node < nodes;
    node_view its = {0, 0, false};
    if (exists) {
      its = v.graph.node(node);
      longest = max(longest, uint32_t(v.graph.longest(node, its, v.length)));
    }
    ordered_walk<HELD, Graph, shared_levels> me(v.graph, known, g * WARP, its, exists);
    bool complete = false;
    for (int in_turn = g == 0; in_turn < 2; in_turn++) {
      if (!complete) complete = me.try_all();
      if (in_turn == 0) await_turn(warp);
    }
    if (g + 1 < groups) pass_turn((warp + 1) % ALONE_WARPS);
    if (exists) {
      v.known[node] = me.level() + 1;
      levels = max(levels, me.level() + 1);
    }
  }
  levels = __reduce_max_sync(~0u, levels);
  longest = __reduce_max_sync(~0u, longest);
  if (this_lane() > 0) return;
  atomicMax(&m.levels, levels);
  atomicMax(&m.longest, longest);
}

template <int HELD, class Graph>
__global__ void __launch_bounds__(ALONE_THREADS, 1)
    walk_alone(const __grid_constant__ walk_view<Graph> v,
               const __grid_constant__ analysis_state fresh) {
  static_assert(ALONE_ROWS + 1 <= UINT16_MAX, "levels plus two fit");
  extern __shared__ uint16_t levels[];
  __shared__ alone_memory m;
  const shared_levels known(levels);
  await_kernel_before();
  const int32_t t = int32_t(threadIdx.x), nodes = v.begins ? fresh.nblocks : v.state->nblocks;
  if (t == 0) {
    known.set(-1, 1);
    m.levels = m.longest = 0;
    if (v.begins) *v.state = fresh;
  }
  for (int32_t k = t; k < nodes; k += ALONE_THREADS) known.set(k, 0);
  __syncthreads();
  walk_groups<HELD>(v, m, known, nodes);
  __syncthreads();
  if (threadIdx.x > 0) return;
  v.state->nlevels = int32_t(m.levels);
  v.state->longest = max(v.state->longest, int32_t(m.longest));
}

template <class Graph>
trs_status launch_alone(const cut &c, const walk_view<Graph> &v) {
  static_assert((ALONE_ROWS + 1) * sizeof(uint16_t) + sizeof(alone_memory) <= SHARED_ALWAYS,
                "nothing to ask for");
  const bool few = v.graph.entries_a_row <= SHORT_ROW;
  const cudaError_t error = launch_behind(
      overlaps(c), few ? walk_alone<SHORT_ROW, Graph> : walk_alone<LONGER_ROW, Graph>, 1,
      ALONE_THREADS, size_t(c.system.n + 1) * sizeof(uint16_t), c.side, v, fresh_state(c));
  return trs_device_check(error, "finding levels");
}

/* ---- Levels that the caller knows. ---- */

__global__ void __launch_bounds__(ANALYSIS_THREADS)
    find_lengths(pattern_view t, int32_t *length, analysis_state *state) {
  const int64_t k = this_thread();
  const int32_t own = k < t.n ? length[k] = t.row(k).count : 0;
  const int32_t longest = __reduce_max_sync(~0u, own);
  if (this_lane() == 0 && longest > load_relaxed(&state->longest))
    atomicMax(&state->longest, longest);
}

/* ---- Launches. ---- */

template <class Graph>
trs_status launch_right(const cut &c, const Graph &graph) {
  /* Rows of a loose block share few entries. */
  const int most = lanes_for(graph.entries_a_row * (c.rules.loose ? 4 : 1));
  const int least = c.rules.loose ? most : lanes_for(graph.entries_a_row / c.rules.most_block);
  const bool alone = walks_alone(c);
  const int32_t *most_levels = !alone && c.rival ? &c.rival->state->all_levels : nullptr;
  const walk_view<Graph> v = {graph,       c.known, c.length, c.state,
                              most_levels, least,   most,     begins_with_walk(c)};
  if (alone) return launch_alone(c, v);
  launch_all(c, v);
  return trs_device_check(cudaGetLastError(), "finding levels");
}

}  // namespace

bool trs::walks_alone(const cut &c) {
  const bool full_blocks = c.rules.most_block > 1 && c.rules.dense;
  const int64_t rows = full_blocks ? ALONE_ROWS : ALONE_NODES;
  return !c.known_levels && c.system.n <= rows && c.system.nnz <= ALONE_ENTRIES;
}

bool trs::begins_with_walk(const cut &c) { return !c.start && walks_alone(c); }

trs_status trs::find_levels(const cut &c) {
  const pattern_view t(c.system);
  const double entries = entries_a_row(c.system);
  if (c.known_levels) {
    find_lengths<<<blocks_for(c.system.n), ANALYSIS_THREADS, 0, c.side>>>(t, c.length, c.state);
    return trs_device_check(cudaGetLastError(), "finding levels");
  }
  if (!c.start) return launch_right(c, rows_graph{t, entries});
  return launch_right(c, blocks_graph{t, entries, c.start, c.near, c.near_count});
}
