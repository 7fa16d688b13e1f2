/* analysis_levels.cu - levels of blocks, without synchronisation between levels.  A level is known
 * once the levels of all dependencies are.  It is stored plus one; 0 means unknown.
 *
 * A node is a block of rows.  Blocks of threads take tickets in the order of the sweep, so one
 * waits only for those that already run.  A node has one lane or a few, and each lane holds a few
 * entries.  A lane polls all its entries at first and after each that became known, else only the
 * nearest one, which becomes known last: polls of all entries would fill the queues of the
 * second-level cache.  Nodes of the same block of threads are polled in its shared memory.
 *
 * Small systems are walked by one block of threads, which holds all levels in its shared memory: a
 * step along the longest path costs a store and a load there instead of in the second-level cache.
 * One block of threads is too slow for larger systems.
 *
 * Grids and bands make chains, in which each node depends on the node just before it.  Lanes do
 * not wait for a chain within their warp: once the dependencies before the warp are known, a scan
 * over its lanes gives the levels of the whole chain.  The step along a chain is then a warp, not
 * a row.
 *
 * Entries that the chain implies are skipped.  The whole warp walks rows that are far longer than
 * the others.  O(nnz) reads; the time is that of the longest path, counted in warps.
 *
 * If a rival is known to need fewer levels, the first block of threads that exceeds its number
 * sets given_up, and all stop. */
#include <climits>

#include "solve/cuda/engine/analysis.cuh"

namespace {

using namespace trs;

enum {
  THREADS = 512,
  BLOCKS_A_MULTIPROCESSOR = 3,
  SLOTS = 4,       /* entries that a lane holds */
  LONG_ROW = 64,   /* entries per lane from which on the warp helps */
  CHUNKS = 8,      /* entries per lane at a time, in that case */
  LOOK_ROUND = 64, /* steps of a wait between reads of given_up */
  LOOK_UP = 8192   /* and between reads of the clock */
};
/* The walk by one block of threads: */
enum {
  ALONE_THREADS = 1024,
  ALONE_WARPS = ALONE_THREADS / WARP,
  ALONE_ROWS = 20480,      /* systems of at most that many rows */
  ALONE_ENTRIES = 1 << 19, /* and that many entries */
  FRONT = 8,               /* warps less than that many groups ahead of the hindmost spin */
  FRONT_ROUND = 8,         /* steps of a wait between searches for these */
  NAP = 60                 /* nanoseconds of sleep between the steps of the other warps */
};
const uint32_t NOT_YET = 1u << 31; /* above every level, also after a warp's chain is added */

/* ---- The dependencies of nodes. ---- */

struct node_view {
  int64_t origin;
  int32_t count;
  bool chained; /* depends on the node just before it */
};

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

/* ---- Waits of a whole warp: either all lanes continue or none. ---- */

class warp_wait {
 public:
  __device__ explicit warp_wait(analysis_state *state) : state_(state) {}
  __device__ bool goes_on(long long row) {
    if ((++steps_ & (LOOK_ROUND - 1)) != 0) return true;
    if (__any_sync(~0u, load_relaxed(&state_->given_up) != 0)) return false;
    if ((steps_ & (LOOK_UP - 1)) != 0) return true;
    start_ = look_at_wait(&state_->fault, row, start_);
    return __all_sync(~0u, start_ != 0);
  }

 private:
  analysis_state *state_;
  unsigned steps_ = 0;
  unsigned long long start_ = 0;
};

/* ---- Boards of levels, plus one.  look polls one node: it sets far or near, depending on the
 * memory that holds the node, or leaves both 0.  With two results many polls are in flight. ---- */

/* All nodes in device memory; the nodes of this block of threads in its shared memory. */
struct device_board {
  static constexpr bool IN_SHARED = false;
  uint32_t *all;
  volatile uint32_t *mine;
  int32_t first; /* of the nodes of this block of threads */

  __device__ void look(int32_t node, bool wanted, uint32_t &far, uint32_t &near) const {
    const bool is_mine = node >= first;
    load_relaxed_if(wanted && !is_mine, all + node, far);
    if (wanted && is_mine) near = mine[node - first];
  }
  __device__ void publish(int32_t node, uint32_t value) const {
    mine[node - first] = value;
    store_relaxed(all + node, value);
  }
  __device__ void rest(unsigned) const {}
};

/* All nodes in shared memory. */
struct shared_board {
  static constexpr bool IN_SHARED = true;
  volatile uint16_t *all;
  const volatile int32_t *at; /* the group of each warp */
  int32_t mine;               /* the group of this warp */

  __device__ void look(int32_t node, bool wanted, uint32_t &, uint32_t &near) const {
    if (wanted) near = all[node];
  }
  __device__ void publish(int32_t node, uint32_t value) const {
    all[node] = uint16_t(min(value, uint32_t(UINT16_MAX)));
  }
  /* Waiting warps take issue slots from the warp they wait for, which is mostly among those
   * furthest back in the sweep.  All others sleep. */
  __device__ void rest(unsigned step) {
    if (step % FRONT_ROUND == 0)
      naps = mine - int32_t(__reduce_min_sync(~0u, unsigned(at[this_lane()]))) >= FRONT;
    if (naps) __nanosleep(NAP);
  }

  bool naps = false;
};

template <int LANES, class Graph, class Board>
struct walk {
  enum { TEAMS = WARP / LANES };

  const Graph &graph;
  Board known;
  int32_t node, count;
  int64_t origin;
  int32_t team, head_team; /* places in the warp: of this team, and of the team where its chain
                              begins */
  int32_t head;            /* first node of the chain: it and all behind it are implied */
  int32_t next;            /* first entry that the lane does not hold yet; of a long row, that the
                              warp has not walked */
  int32_t other[SLOTS];    /* nodes held, or -1 */
  uint32_t highest;        /* lower bound of the level from what is known */
  bool has_chains;         /* of the warp; without chains a scan would be most of a step */
  bool news;               /* an entry became known, so all held entries are polled */
  bool is_long;            /* the warp has to walk the rest of the row */
  bool published;

  __device__ void start(const node_view &v, bool exists) {
    const int lane = this_lane();
    origin = v.origin;
    count = exists ? v.count : 0;
    team = lane / LANES;
    unsigned chains = __ballot_sync(~0u, exists && v.chained && team > 0);
    if (Board::IN_SHARED) has_chains = chains != 0;
    head_team = (WARP - 1 - __clz(~chains & (~0u >> (WARP - 1 - lane)))) / LANES;
    head = node - (team - head_team);
    is_long = LANES < WARP && count > LONG_ROW * LANES;
    next = is_long ? 0 : lane % LANES;
    for (int u = 0; u < SLOTS; u++) {
      other[u] = !is_long && next < count ? graph.other(origin, next) : -1;
      next += is_long ? 0 : LANES;
    }
    highest = 0;
    news = true;
    published = !exists;
  }

  __device__ int32_t nearest() const {
    int32_t found = other[0];
#pragma unroll
    for (int u = 1; u < SLOTS; u++) found = max(found, other[u]);
    return found;
  }

  /* got[u]: what is known of other[u], or 0. */
  __device__ void take(const uint32_t *got) {
    news = false;
#pragma unroll
    for (int u = 0; u < SLOTS; u++) {
      bool taken = got[u] != 0;
      highest = max(highest, got[u]);
      news = news || taken;
      if (taken) other[u] = next < count ? graph.other(origin, next) : -1;
      next += taken ? LANES : 0;
    }
  }

  /* Polls all held entries if there is news, else the nearest. */
  __device__ void look(int32_t near) {
    uint32_t far_got[SLOTS], near_got[SLOTS];
#pragma unroll
    for (int u = 0; u < SLOTS; u++) {
      bool implied = other[u] >= head;
      far_got[u] = implied ? 1 : 0;
      near_got[u] = 0;
      known.look(other[u], !implied && other[u] >= 0 && (news || other[u] == near), far_got[u],
                 near_got[u]);
    }
#pragma unroll
    for (int u = 0; u < SLOTS; u++) far_got[u] |= near_got[u];
    take(far_got);
  }

  /* Polls the nearest entry until one lane has its value.  Few instructions, since waiting warps
   * take issue slots from the warp they wait for. */
  __device__ bool await(int32_t near, warp_wait &w) {
    uint32_t far_got = 0, near_got = 0;
    bool goes_on = true;
    for (unsigned step = 0;; step++) {
      known.look(near, near >= 0, far_got, near_got);
      if (__any_sync(~0u, (far_got | near_got) != 0)) break;
      goes_on = w.goes_on(node);
      if (!goes_on) break;
      known.rest(step);
    }
    uint32_t got[SLOTS];
#pragma unroll
    for (int u = 0; u < SLOTS; u++) got[u] = near >= 0 && other[u] == near ? far_got | near_got : 0;
    take(got);
    return goes_on;
  }

  /* The whole warp walks the long rows, as far as levels are known. */
  __device__ void help() {
    unsigned rows = __ballot_sync(~0u, is_long && this_lane() % LANES == 0);
    for (; rows; rows &= rows - 1) {
      int leader = __ffs(int(rows)) - 1;
      int64_t its_origin = __shfl_sync(~0u, origin, leader);
      int32_t its_count = __shfl_sync(~0u, count, leader), at = __shfl_sync(~0u, next, leader);
      uint32_t most = walk_on(its_origin, its_count, __shfl_sync(~0u, head, leader), at);
      if (team != leader / LANES) continue;
      highest = max(highest, most);
      next = at;
      is_long = at < its_count;
    }
  }

  __device__ uint32_t walk_on(int64_t its_origin, int32_t its_count, int32_t its_head,
                              int32_t &at) {
    uint32_t most = 0;
    while (at < its_count) {
      int32_t it[CHUNKS];
      uint32_t got[CHUNKS], all = 1, highest_got = 0;
#pragma unroll
      for (int u = 0; u < CHUNKS; u++) {
        int64_t e = int64_t(at) + u * WARP + this_lane();
        it[u] = e < its_count ? graph.other(its_origin, e) : its_head;
      }
#pragma unroll
      for (int u = 0; u < CHUNKS; u++) {
        bool implied = it[u] >= its_head;
        got[u] = implied ? 1 : 0;
        known.look(it[u], !implied, got[u], got[u]);
      }
#pragma unroll
      for (int u = 0; u < CHUNKS; u++) {
        all = got[u] == 0 ? 0 : all;
        highest_got = max(highest_got, got[u]);
      }
      if (!__all_sync(~0u, all != 0)) break;
      most = max(most, highest_got);
      at = its_count - at > CHUNKS * WARP ? at + CHUNKS * WARP : its_count;
    }
    return __reduce_max_sync(~0u, most);
  }

  /* Publishes the levels of the chains, as far as they are known.  True if all levels of the warp
   * are.  ready: lanes whose dependencies outside their chain are known. */
  __device__ bool settle(unsigned ready) {
    const unsigned team_mask = ~0u >> (WARP - LANES);
    bool known_all = (ready >> (team * LANES) & team_mask) == team_mask;
    uint32_t level = known_all ? highest : NOT_YET;
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2)
      level = max(level, __shfl_xor_sync(~0u, level, step));
#pragma unroll
    for (int d = 1; d < TEAMS && (!Board::IN_SHARED || has_chains); d *= 2) {
      uint32_t before = __shfl_up_sync(~0u, level, d * LANES);
      if (team - d >= head_team) level = max(level, before + d);
    }
    if (level < NOT_YET) {
      if (!published && this_lane() % LANES == 0) known.publish(node, level + 1);
      published = true;
      highest = level;
    }
    return __all_sync(~0u, published);
  }

  /* True once all levels of the warp are known; false if a wait passed its limit or all stop. */
  __device__ bool run(warp_wait &w) {
    unsigned ready = 0, step = 0;
    look(nearest());
    for (bool goes_on = true; goes_on;) {
      int32_t near = nearest();
      unsigned now = __ballot_sync(~0u, near < 0 && !is_long);
      if (now != ready && settle(now)) return true;
      ready = now;
      bool any_long = LANES < WARP && __any_sync(~0u, is_long);
      if (any_long || __any_sync(~0u, news)) {
        look(near);
        if (any_long) {
          help();
          known.rest(step++);
        }
        goes_on = w.goes_on(node);
      } else {
        goes_on = await(near, w);
      }
    }
    return false;
  }
};

template <class Graph>
struct walk_view {
  Graph graph;
  uint32_t *known;
  int32_t *length;
  analysis_state *state;
  const int32_t *most;         /* levels of the rival, or NULL */
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
    if (threadIdx.x == 0 && v.most && int32_t(m.highest) >= *v.most)
      store_relaxed(&v.state->given_up, 1u);
  } while (goes_on);
}

/* Works only if LANES fits the number of nodes, which only the device knows. */
template <int LANES, class Graph>
__global__ void __launch_bounds__(THREADS, BLOCKS_A_MULTIPROCESSOR)
    walk_levels(const __grid_constant__ walk_view<Graph> v) {
  __shared__ walk_memory m;
  if (v.lanes(v.state->nblocks) != LANES) return;
  if (threadIdx.x == 0) m.highest = m.longest = 0;
  walk_tickets<LANES>(v, m);
  if (threadIdx.x > 0) return;
  atomicMax(&v.state->nlevels, int32_t(m.highest + 1));
  atomicMax(&v.state->longest, int32_t(m.longest));
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
  const int32_t *most_levels = !alone && c.rival ? &c.rival->state->nlevels : nullptr;
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
