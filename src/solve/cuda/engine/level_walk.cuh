/* level_walk.cuh - how a warp finds the levels of its nodes, once those of all dependencies are
 * known.  A level is stored plus one; 0 means unknown.
 *
 * A node is a block of rows.  It has one lane or a few, and each lane holds a few entries.  A lane
 * polls all its entries at first and after each that became known, else only the nearest one,
 * which becomes known last: polls of all entries would fill the queues of the second-level cache.
 *
 * Grids and bands make chains, in which each node depends on the node just before it.  Lanes do
 * not wait for a chain within their warp: once the dependencies before the warp are known, a scan
 * over its lanes gives the levels of the whole chain.  The step along a chain is then a warp, not
 * a row.
 *
 * Entries that the chain implies are skipped.  Other entries in the warp are not polled either: a
 * lane notes them, and levels that become known pass to it by shuffles.  The whole warp walks rows
 * that are far longer than the others, and waits for the nearest of their unknown entries.
 *
 * Nothing here needs a GPU but the functions of a warp: tests/solve/cuda/engine/level_walk.cpp runs
 * the walk on emulated ones. */
#ifndef TRS_SOLVE_CUDA_ENGINE_LEVEL_WALK_CUH
#define TRS_SOLVE_CUDA_ENGINE_LEVEL_WALK_CUH

#ifndef TRS_EMULATED_WARP
#include "solve/cuda/engine/analysis.cuh"
#endif

namespace trs {

enum {
  SLOTS = 4,       /* entries that a lane holds */
  LONG_ROW = 64,   /* entries per lane from which on the warp helps */
  CHUNKS = 8,      /* entries per lane at a time, in that case */
  LOOK_ROUND = 64, /* steps of a wait between reads of given_up */
  LOOK_UP = 8192   /* and between reads of the clock */
};
const uint32_t NOT_YET = 1u << 31; /* above every level, also after a warp's chain is added */

/* The highest word of those lanes of the warp that this lane wants.  Several shuffles are in flight
 * at once.  `lanes` is the same in all lanes. */
__device__ inline uint32_t highest_of_lanes(uint32_t mine, unsigned lanes, unsigned wanted) {
  enum { AT_ONCE = 4 };
  uint32_t most = 0;
  while (lanes) {
    unsigned bit[AT_ONCE];
    uint32_t its[AT_ONCE];
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++) {
      bit[u] = lanes & (0u - lanes); /* 0 behind the last lane: any lane's word, not wanted */
      lanes ^= bit[u];
      its[u] = __shfl_sync(~0u, mine, __ffs(int(bit[u])) - 1);
    }
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++) most = max(most, wanted & bit[u] ? its[u] : 0);
  }
  return most;
}

struct node_view {
  int64_t origin;
  int32_t count;
  bool chained; /* depends on the node just before it */
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

/* The levels of all nodes in device memory; those of the nodes of this block of threads in its
 * shared memory too. */
struct level_board {
  uint32_t *all;
  volatile uint32_t *mine;
  int32_t first; /* of the nodes of this block of threads */

  /* Polls one node: sets far or near, depending on the memory that holds the node, or leaves both
   * 0.  With two results many polls are in flight. */
  __device__ void look(int32_t node, bool wanted, uint32_t &far, uint32_t &near) const {
    const bool is_mine = node >= first;
    load_relaxed_if(wanted && !is_mine, all + node, far);
    if (wanted && is_mine) near = mine[node - first];
  }
  __device__ void publish(int32_t node, uint32_t value) const {
    mine[node - first] = value;
    store_relaxed(all + node, value);
  }
};

template <int LANES, class Graph>
struct walk {
  enum { TEAMS = WARP / LANES };

  const Graph &graph;
  level_board known;
  int32_t node, count;
  int64_t origin;
  int32_t head;         /* first node of the chain: it and all behind it are implied */
  int32_t next;         /* first entry that the lane does not hold yet; of a long row, that the
                           warp has not walked */
  int32_t other[SLOTS]; /* nodes held, or -1 */
  unsigned inside;      /* first lanes of the teams in the warp that this lane waits for */
  uint32_t highest;     /* lower bound of the level from what is known */
  bool has_chains;      /* of the warp; without chains a scan would be most of a step */
  bool news;            /* an entry became known, so all held entries are polled */
  bool is_long;         /* the warp has to walk the rest of the row */
  bool published;

  /* The team's place in the warp. */
  __device__ static int team() { return this_lane() / LANES; }

  __device__ void start(const node_view &v, bool exists) {
    const int lane = this_lane();
    origin = v.origin;
    count = exists ? v.count : 0;
    unsigned chains = __ballot_sync(~0u, exists && v.chained && team() > 0);
    has_chains = chains != 0;
    const int head_team = (WARP - 1 - __clz(~chains & (~0u >> (WARP - 1 - lane)))) / LANES;
    head = node - (team() - head_team);
    is_long = LANES < WARP && count > LONG_ROW * LANES;
    next = is_long ? 0 : lane % LANES;
    for (int u = 0; u < SLOTS; u++) {
      other[u] = !is_long && next < count ? graph.other(origin, next) : -1;
      next += is_long ? 0 : LANES;
    }
    if (Graph::KNOWS_CHAINS) drop_implied();
    inside = 0;
    highest = 0;
    news = true;
    published = !exists;
  }

  /* An entry is implied if the entry behind it is the node just behind and depends on it. */
  __device__ void drop_implied() {
    const int lane = this_lane() % LANES;
#pragma unroll
    for (int u = 0; u < SLOTS; u++) {
      const int32_t ahead = u + 1 < SLOTS ? __shfl_sync(~0u, other[u + 1], 0, LANES) : -1;
      const int32_t beside = __shfl_down_sync(~0u, other[u], 1, LANES);
      const int32_t behind = lane + 1 < LANES ? beside : ahead;
      if (other[u] >= 0 && behind == other[u] + 1 && graph.depends_on_last(behind)) other[u] = node;
    }
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
      if (taken) other[u] = !is_long && next < count ? graph.other(origin, next) : -1;
      next += taken && !is_long ? LANES : 0;
    }
  }

  /* Polls all held entries if there is news, else the nearest.  Entries in the warp count as known
   * here: settle brings their levels, unless they have been published before. */
  __device__ void look(int32_t near) {
    uint32_t far_got[SLOTS], near_got[SLOTS];
    const unsigned unknown = ~__ballot_sync(~0u, published);
#pragma unroll
    for (int u = 0; u < SLOTS; u++) {
      const int32_t before = other[u] - (node - team()); /* teams of the warp before it */
      const bool is_inside = other[u] >= 0 && before >= 0 && other[u] < head;
      const unsigned its = is_inside ? unknown & 1u << before * LANES : 0;
      const bool counts = other[u] >= head || its != 0;
      inside |= its;
      far_got[u] = counts ? 1 : 0;
      near_got[u] = 0;
      known.look(other[u], !counts && other[u] >= 0 && (news || other[u] == near), far_got[u],
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
    for (;;) {
      known.look(near, near >= 0, far_got, near_got);
      if (__any_sync(~0u, (far_got | near_got) != 0)) break;
      goes_on = w.goes_on(node);
      if (!goes_on) break;
    }
    uint32_t got[SLOTS];
#pragma unroll
    for (int u = 0; u < SLOTS; u++) got[u] = near >= 0 && other[u] == near ? far_got | near_got : 0;
    take(got);
    return goes_on;
  }

  /* True in the first lane of a long row that waits for no entry. */
  __device__ bool wants_help() const {
    return is_long && this_lane() % LANES == 0 && nearest() < 0 && inside == 0;
  }

  /* The whole warp walks the long rows that wait for no entry, up to a chunk with unknown levels.
   * The row's first lane then waits for the nearest of these. */
  __device__ void help() {
    unsigned rows = __ballot_sync(~0u, wants_help());
    for (; rows; rows &= rows - 1) {
      int leader = __ffs(int(rows)) - 1;
      int64_t its_origin = __shfl_sync(~0u, origin, leader);
      int32_t its_count = __shfl_sync(~0u, count, leader), at = __shfl_sync(~0u, next, leader);
      int32_t unknown = -1;
      uint32_t most = walk_on(its_origin, its_count, __shfl_sync(~0u, head, leader), at, unknown);
      if (team() != leader / LANES) continue;
      highest = max(highest, most);
      next = at;
      is_long = at < its_count;
      news = true;
      if (this_lane() == leader) other[0] = unknown;
    }
  }

  /* at: the first entry to walk; after it, the first of the chunk that has unknown, the nearest
   * node without a level. */
  __device__ uint32_t walk_on(int64_t its_origin, int32_t its_count, int32_t its_head, int32_t &at,
                              int32_t &unknown) {
    uint32_t most = 0;
    while (at < its_count) {
      int32_t it[CHUNKS];
      uint32_t got[CHUNKS], highest_got = 0;
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
        unknown = got[u] == 0 ? max(unknown, it[u]) : unknown;
        highest_got = max(highest_got, got[u]);
      }
      unknown = __reduce_max_sync(~0u, unknown);
      if (unknown >= 0) break;
      most = max(most, highest_got);
      at = its_count - at > CHUNKS * WARP ? at + CHUNKS * WARP : its_count;
    }
    return __reduce_max_sync(~0u, most);
  }

  /* The level of the team's node, or NOT_YET or more.  fit: lanes that wait for nothing but the
   * node before theirs in the chain. */
  __device__ uint32_t level(unsigned fit) const {
    const unsigned team_mask = ~0u >> (WARP - LANES);
    uint32_t level = (fit >> (team() * LANES) & team_mask) == team_mask ? highest : NOT_YET;
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2)
      level = max(level, __shfl_xor_sync(~0u, level, step));
#pragma unroll
    for (int d = 1; d < TEAMS && has_chains; d *= 2) {
      uint32_t before = __shfl_up_sync(~0u, level, d * LANES);
      if (node - head >= d) level = max(level, before + d);
    }
    return level;
  }

  /* Publishes the levels of the warp, as far as they are known.  True if all of them are.  ready:
   * lanes that know all their entries outside the warp. */
  __device__ bool settle(unsigned ready) {
    for (;;) {
      const bool fit = (ready >> this_lane() & 1) && inside == 0;
      const uint32_t found = level(__ballot_sync(~0u, fit));
      const bool fresh = found < NOT_YET && !published;
      if (fresh) {
        if (this_lane() % LANES == 0) known.publish(node, found + 1);
        published = true;
        highest = found;
      }
      const unsigned waiting = __reduce_or_sync(~0u, inside);
      if (waiting == 0) return __all_sync(~0u, published);
      const unsigned now = __ballot_sync(~0u, fresh && this_lane() % LANES == 0);
      if (now == 0) return false;
      highest = max(highest, highest_of_lanes(highest + 1, now & waiting, inside));
      inside &= ~now;
    }
  }

  /* True once all levels of the warp are known; false if a wait passed its limit or all stop. */
  __device__ bool run(warp_wait &w) {
    unsigned ready = 0;
    look(nearest());
    for (bool goes_on = true; goes_on;) {
      if (LANES < WARP && __any_sync(~0u, wants_help())) help();
      int32_t near = nearest();
      unsigned now = __ballot_sync(~0u, near < 0 && !is_long);
      if (now != ready && settle(now)) return true;
      ready = now;
      if (__any_sync(~0u, news)) {
        look(near);
        goes_on = w.goes_on(node);
      } else if (LANES == WARP || !__any_sync(~0u, wants_help())) {
        goes_on = await(near, w);
      }
    }
    return false;
  }
};

}  // namespace trs

#endif
