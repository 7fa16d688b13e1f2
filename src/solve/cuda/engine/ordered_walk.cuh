/* ordered_walk.cuh - the levels of a small system, found by one block of threads.
 *
 * Warps take turns at groups of 32 nodes, a node per lane.  A warp loads the entries of its nodes
 * before its turn.  In its turn the levels of all nodes before the group are known and lie in
 * shared memory, so no lane waits.  Each lane takes the highest level among its entries before the
 * group.  Then the warp settles the group: a scan over the lanes gives the levels of chains, in
 * which each node depends on the node just before it, and shuffles pass other levels on.
 *
 * A warp tries once before its turn, which succeeds in systems of few levels.  Their turns then
 * take only the time to pass them on.
 *
 * Entries that a chain implies are skipped.  The whole warp reads the entries of long rows.
 *
 * A level is stored plus two.  0 means unknown; 1 is the level of no node.
 *
 * Nothing here needs a GPU but the functions of a warp: tests/solve/cuda/engine/level_walk.cpp runs
 * the walk on emulated ones. */
#ifndef TRS_SOLVE_CUDA_ENGINE_ORDERED_WALK_CUH
#define TRS_SOLVE_CUDA_ENGINE_ORDERED_WALK_CUH

#include "solve/cuda/engine/level_walk.cuh"

namespace trs {

/* HELD: entries that a lane loads before its turn.  Levels, in shared memory: get(node), which is 1
 * for node -1, and set(node, level). */
template <int HELD, class Graph, class Levels>
class ordered_walk {
 public:
  __device__ ordered_walk(const Graph &graph, const Levels &known, int32_t first,
                          const node_view &v, bool exists)
      : graph_(graph),
        known_(known),
        first_(first),
        count_(exists ? v.count : 0),
        origin_(v.origin),
        exists_(exists),
        is_long_(exists && v.count > LONG_ROW) {
    const int lane = this_lane();
    const unsigned chains = __ballot_sync(~0u, exists && v.chained && lane > 0);
    has_chains_ = chains != 0;
    head_ = WARP - 1 - __clz(~chains & (~0u >> (WARP - 1 - lane)));
    load(held_, is_long_ ? 0 : count_, origin_, 0, 1, inside_);
  }

  /* Stores the levels of the group, unless entries before it are unknown. */
  __device__ bool try_all() {
    found f = {1, true};
    take_row(f);
    take_long_rows(f);
    if (!__all_sync(~0u, f.all_known)) return false;
    highest_ = f.highest;
    settle();
    if (exists_) known_.set(first_ + this_lane(), stored());
    return true;
  }

  /* Of the lane's node, after try_all. */
  __device__ uint32_t level() const { return highest_ - 1; }

 private:
  enum { LONG_ROW = 64 /* entries from which on the warp reads the row */ };

  struct found {
    uint32_t highest; /* of the entries before the group, as stored */
    bool all_known;
  };

  const Graph &graph_;
  const Levels known_;
  int32_t first_; /* node of the group */
  int32_t count_; /* entries; 0 without a node */
  int64_t origin_;
  int32_t held_[HELD]; /* nodes before the group, or -1 */
  int head_;           /* lane of the first node of the chain: it and all behind it are implied */
  bool exists_, is_long_, has_chains_ /* of the warp */;
  unsigned inside_ = 0; /* lanes of the group that this lane waits for */
  uint32_t highest_;    /* of the entries, as far as they are settled */

  __device__ uint32_t stored() const { return highest_ + 1; }

  /* Nodes in the group go to lanes.  All loads are made at once. */
  __device__ void load(int32_t *to, int32_t end, int64_t from, int32_t e, int step,
                       unsigned &lanes) const {
    int32_t it[HELD];
#pragma unroll
    for (int u = 0; u < HELD; u++)
      it[u] = end > 0 ? graph_.other(from, min(e + u * step, end - 1)) : -1;
#pragma unroll
    for (int u = 0; u < HELD; u++) {
      const bool is_entry = e + u * step < end, in_group = is_entry && it[u] >= first_;
      lanes |= in_group ? 1u << (it[u] - first_) : 0;
      to[u] = is_entry && !in_group ? it[u] : -1;
    }
  }

  __device__ void take(const int32_t *nodes, found &f) const {
    uint32_t level[HELD];
#pragma unroll
    for (int u = 0; u < HELD; u++) level[u] = known_.get(nodes[u]);
#pragma unroll
    for (int u = 0; u < HELD; u++) {
      f.highest = max(f.highest, level[u]);
      f.all_known = f.all_known && level[u] != 0;
    }
  }

  __device__ void take_row(found &f) {
    take(held_, f);
    for (int32_t e = HELD; e < count_ && !is_long_; e += HELD) {
      int32_t more[HELD];
      load(more, count_, origin_, e, 1, inside_);
      take(more, f);
    }
  }

  __device__ void take_long_rows(found &f) {
    for (unsigned rows = __ballot_sync(~0u, is_long_); rows; rows &= rows - 1) {
      const int leader = __ffs(int(rows)) - 1;
      const int32_t its_count = __shfl_sync(~0u, count_, leader);
      const int64_t its_origin = __shfl_sync(~0u, origin_, leader);
      found its = {1, true};
      unsigned lanes = 0;
      for (int32_t e = 0; e < its_count; e += HELD * WARP) {
        int32_t nodes[HELD];
        load(nodes, its_count, its_origin, e + this_lane(), WARP, lanes);
        take(nodes, its);
      }
      its.highest = __reduce_max_sync(~0u, its.highest);
      lanes = __reduce_or_sync(~0u, lanes);
      f.all_known = f.all_known && its.all_known;
      if (this_lane() == leader) f.highest = its.highest, inside_ = lanes;
    }
  }

  /* The lane's highest_, or NOT_YET or more while it waits for other lanes. */
  __device__ uint32_t settled() const {
    uint32_t level = inside_ == 0 ? highest_ : NOT_YET;
#pragma unroll
    for (int d = 1; d < WARP && has_chains_; d *= 2) {
      const uint32_t before = __shfl_up_sync(~0u, level, d);
      if (this_lane() - head_ >= d) level = max(level, before + d);
    }
    return level;
  }

  /* Nodes depend on nodes before them, so each step settles the first lane that is not settled. */
  __device__ void settle() {
    inside_ &= (1u << head_) - 1;
    const unsigned waited_for = __reduce_or_sync(~0u, inside_);
    unsigned done = 0;
    for (;;) {
      const uint32_t its = settled();
      const unsigned now = __ballot_sync(~0u, its < NOT_YET) & ~done;
      if (now >> this_lane() & 1) highest_ = its;
      done |= now;
      if (done == ~0u) return;
      highest_ = max(highest_, highest_of_lanes(stored(), now & waited_for, inside_));
      inside_ &= ~now;
    }
  }
};

}  // namespace trs

#endif
