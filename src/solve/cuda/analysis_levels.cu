/* analysis_levels.cu - levels of blocks, without synchronisation between them: whoever knows the
 * levels of all it depends on knows its own and stores it, one more than it is, where 0 stood.
 *
 * Blocks of threads take tickets in the order of the sweep, so that one waits only for those that
 * run already.  A block of rows (a node here) has one lane or a few, each with a few entries in
 * hand; a lane looks at all of them at first and whenever one has become known, and else waits for
 * the nearest only, which is known last: polling all would fill the second-level cache's queues.
 * Nodes of the same block of threads are looked for in its shared memory.
 *   Grids and bands make chains, each node needing the one just before it.  Those are not waited
 * for within a warp: once what stands before the warp is known, a scan over its lanes gives the
 * levels of the whole chain at once, so that a warp, not a row, is a step along it.
 *   Entries that the chain implies are skipped, and rows far longer than the others are walked by
 * the whole warp.  O(nnz) reads; the time is that of the longest way through the warps. */
#include "solve/cuda/analysis.cuh"

namespace {

using namespace trs;

enum {
  THREADS = 512,
  BLOCKS_A_MULTIPROCESSOR = 3,
  SLOTS = 4,     /* entries that a lane has in hand */
  LONG_ROW = 64, /* entries a lane from which the warp helps, */
  CHUNKS = 8,    /* so many a lane at a time */
  LOOK_UP = 8192 /* turns of a wait between looks at the clock */
};
const uint32_t NOT_YET = 1u << 31; /* above every level, also with a warp's chain added */

/* ---- What nodes depend on. ---- */

struct node_view {
  int64_t origin;
  int32_t count;
  bool chained; /* depends on the node just before */
};

struct rows_graph {
  pattern_view t;

  __device__ node_view node(int32_t k) const {
    row_view row = t.row(k);
    return {row.origin, row.count, row.count > 0 && other(row.origin, row.count - 1) == k - 1};
  }
  __device__ int32_t other(int64_t origin, int64_t e) const { return t.column(origin, e); }
  /* Most entries of one of its rows outside of it; length[] is filled in on the way. */
  __device__ int32_t longest(int32_t k, const node_view &v, int32_t *length) const {
    return length[k] = v.count;
  }
};

struct blocks_graph {
  pattern_view t;
  blocks_view blocks;
  const int32_t *near;
  const uint32_t *near_count;

  __device__ node_view node(int32_t b) const {
    int32_t first = blocks.start[b], end = blocks.start[b + 1];
    uint32_t count = near_count[b];
    return {t.ptr[t.lower ? first : t.n - end], int32_t(count & ~(1u << 31)), (count >> 31) != 0};
  }
  __device__ int32_t other(int64_t origin, int64_t e) const { return __ldg(near + origin + e); }
  __device__ int32_t longest(int32_t b, const node_view &, const int32_t *length) const {
    return length[b];
  }
};

/* ---- Waits of a whole warp: all its lanes go on, or none. ---- */

class warp_wait {
 public:
  __device__ explicit warp_wait(trs_fault *fault) : fault_(fault) {}
  __device__ bool goes_on(long long row) {
    if ((++turns_ & (LOOK_UP - 1)) != 0) return true;
    start_ = look_at_wait(fault_, row, start_);
    return __all_sync(~0u, start_ != 0);
  }

 private:
  trs_fault *fault_;
  unsigned turns_ = 0;
  unsigned long long start_ = 0;
};

/* Levels known so far, plus one: of all nodes, and of those of this block of threads. */
struct board {
  uint32_t *all;
  volatile uint32_t *mine;
  int32_t first; /* of this block's nodes */

  __device__ void tell(int32_t node, uint32_t value) const {
    mine[node - first] = value;
    store_relaxed(all + node, value);
  }
};

template <int LANES, class Graph>
struct walk {
  enum { TEAMS = WARP / LANES };

  const Graph &graph;
  board known;
  int32_t node, count;
  int64_t origin;
  int32_t team, head_team; /* in the warp: mine, and that where my chain begins */
  int32_t head;            /* the node there: what is as near is implied by the chain */
  int32_t next;            /* the first entry not in hand, or not seen by the warp */
  int32_t other[SLOTS];    /* nodes in hand, or -1 */
  uint32_t highest;        /* the least that the level can be, as far as is known */
  bool news;               /* worth looking at all that is in hand */
  bool is_long;            /* some of it is left for the warp to walk */
  bool told;

  __device__ void start(const node_view &v, bool exists) {
    const int lane = this_lane();
    origin = v.origin;
    count = exists ? v.count : 0;
    team = lane / LANES;
    unsigned chains = __ballot_sync(~0u, exists && v.chained && team > 0);
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
    told = !exists;
  }

  __device__ int32_t nearest() const {
    int32_t found = other[0];
#pragma unroll
    for (int u = 1; u < SLOTS; u++) found = max(found, other[u]);
    return found;
  }

  /* got[u] is what is known of other[u], or 0. */
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

  /* Looks at everything in hand where there is news, else at the nearest. */
  __device__ void look(int32_t near) {
    uint32_t far_got[SLOTS], near_got[SLOTS];
#pragma unroll
    for (int u = 0; u < SLOTS; u++) {
      bool implied = other[u] >= head, mine = other[u] >= known.first;
      bool wanted = !implied && other[u] >= 0 && (news || other[u] == near);
      far_got[u] = implied ? 1 : 0;
      near_got[u] = 0;
      load_relaxed_if(wanted && !mine, known.all + other[u], far_got[u]);
      if (wanted && mine) near_got[u] = known.mine[other[u] - known.first];
    }
#pragma unroll
    for (int u = 0; u < SLOTS; u++) far_got[u] |= near_got[u];
    take(far_got);
  }

  /* Looks at the nearest until a lane's is known.  As short as can be: warps that wait take issue
   * slots from the one that they wait for. */
  __device__ bool await(int32_t near, warp_wait &w) {
    bool far = near >= 0 && near < known.first, mine = near >= known.first;
    const uint32_t *far_place = known.all + near;
    const volatile uint32_t *my_place = known.mine + (mine ? near - known.first : 0);
    uint32_t far_got = 0, my_got = 0;
    bool goes_on = true;
    do {
      load_relaxed_if(far, far_place, far_got);
      if (mine) my_got = *my_place;
    } while (!__any_sync(~0u, (far_got | my_got) != 0) && (goes_on = w.goes_on(node)));
    uint32_t got[SLOTS];
#pragma unroll
    for (int u = 0; u < SLOTS; u++) got[u] = near >= 0 && other[u] == near ? far_got | my_got : 0;
    take(got);
    return goes_on;
  }

  /* The whole warp walks on along the long rows, as far as they are known. */
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
        bool implied = it[u] >= its_head, mine = it[u] >= known.first;
        got[u] = implied ? 1 : 0;
        load_relaxed_if(!implied && !mine, known.all + it[u], got[u]);
        if (!implied && mine) got[u] = known.mine[it[u] - known.first];
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

  /* Levels along the chains, as far as they are known; true when all of the warp's are.
   * ready: lanes that know all they depend on outside of their chain. */
  __device__ bool settle(unsigned ready) {
    const unsigned team_mask = ~0u >> (WARP - LANES);
    bool known_all = (ready >> (team * LANES) & team_mask) == team_mask;
    uint32_t level = known_all ? highest : NOT_YET;
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2)
      level = max(level, __shfl_xor_sync(~0u, level, step));
#pragma unroll
    for (int d = 1; d < TEAMS; d *= 2) {
      uint32_t before = __shfl_up_sync(~0u, level, d * LANES);
      if (team - d >= head_team) level = max(level, before + d);
    }
    if (level < NOT_YET) {
      if (!told && this_lane() % LANES == 0) known.tell(node, level + 1);
      told = true;
      highest = level;
    }
    return __all_sync(~0u, told);
  }

  /* Until all of the warp's levels are known, or a wait has lasted too long. */
  __device__ void run(warp_wait &w) {
    unsigned ready = 0;
    look(nearest());
    for (bool goes_on = true; goes_on;) {
      int32_t near = nearest();
      unsigned now = __ballot_sync(~0u, near < 0 && !is_long);
      if (now != ready && settle(now)) return;
      ready = now;
      bool any_long = LANES < WARP && __any_sync(~0u, is_long);
      if (any_long || __any_sync(~0u, news)) {
        look(near);
        if (any_long) help();
        goes_on = w.goes_on(node);
      } else {
        goes_on = await(near, w);
      }
    }
  }
};

template <int LANES, class Graph>
__global__ void __launch_bounds__(THREADS, BLOCKS_A_MULTIPROCESSOR)
    walk_levels(Graph graph, int32_t nodes, uint32_t *known, int32_t *length,
                analysis_state *state) {
  enum { NODES = THREADS / LANES };
  __shared__ uint32_t mine[NODES], ticket, highest, longest;
  if (threadIdx.x == 0) {
    ticket = atomicAdd(&state->ticket, 1u);
    highest = longest = 0;
  }
  if (threadIdx.x < NODES) mine[threadIdx.x] = 0;
  __syncthreads();
  int64_t at = int64_t(ticket) * NODES + threadIdx.x / LANES;
  bool exists = at < nodes;
  int32_t node = int32_t(exists ? at : nodes);
  node_view v = exists ? graph.node(node) : node_view{0, 0, false};
  uint32_t my_length = exists ? uint32_t(graph.longest(node, v, length)) : 0;
  walk<LANES, Graph> me = {graph, {known, mine, int32_t(ticket * NODES)}, node};
  warp_wait w(&state->fault);
  me.start(v, exists);
  me.run(w);
  my_length = __reduce_max_sync(~0u, my_length);
  uint32_t my_highest = __reduce_max_sync(~0u, me.highest);
  if (this_lane() == 0) {
    atomicMax(&highest, my_highest);
    atomicMax(&longest, my_length);
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  atomicMax(&state->nlevels, int32_t(highest + 1));
  atomicMax(&state->longest, int32_t(longest));
}

template <int LANES, class Graph>
void launch(analysis &a, const Graph &graph) {
  const int64_t threads = int64_t(a.blocks.count) * LANES;
  walk_levels<LANES><<<unsigned((threads + THREADS - 1) / THREADS), THREADS, 0, a.stream>>>(
      graph, a.blocks.count, a.known, a.length, a.state);
}

/* As many lanes as have most nodes' entries in hand at once; but lanes that find no entry narrow
 * the stretch of the sweep that is under way. */
template <class Graph>
void launch_for(analysis &a, const Graph &graph, double entries_a_node) {
  if (entries_a_node <= 8)
    launch<1>(a, graph);
  else if (entries_a_node <= 24)
    launch<4>(a, graph);
  else if (entries_a_node <= 64)
    launch<8>(a, graph);
  else
    launch<32>(a, graph);
}

trs_status stalled(const analysis &a, const trs_fault &fault) {
  return trs_fail(TRS_ERROR_STALLED, -1,
                  "GPU %d: the analysis waited more than %.3g s for the levels of what block %lld "
                  "depends on",
                  trs_device_look(a.device)->ordinal, 1e-9 * double(fault.limit),
                  (long long)(fault.row));
}

}  // namespace

trs_status trs::find_levels(analysis &a) {
  const int64_t count = a.blocks.count;
  const double off_diagonal = double(a.nnz - (a.t.full ? a.t.n : 0));
  TRS_TRY(a.space.get(&a.known, count));
  TRS_TRY(trs_device_fill(a.known, 0, count * int64_t(sizeof *a.known), a.stream));
  if (a.blocks.start) {
    /* A row's entries, of which those in one block are one entry. */
    launch_for(a, blocks_graph{a.t, a.blocks, a.near, a.near_count},
               off_diagonal / double(a.t.n) * double(count) / double(a.t.n));
  } else {
    TRS_TRY(a.space.get(&a.length, count));
    launch_for(a, rows_graph{a.t}, off_diagonal / double(a.t.n));
  }
  TRS_TRY(trs_device_check(cudaGetLastError(), "finding levels"));
  analysis_state found;
  TRS_TRY(fetch(a, &found, a.state));
  if (found.fault.stalled) return stalled(a, found.fault);
  a.slices->nblocks = a.blocks.count;
  a.slices->nlevels = found.nlevels;
  a.longest = found.longest;
  return TRS_SUCCESS;
}
