/* level_walk.cpp - runs level_walk.cuh on emulated warps, which go on in a random order, and
 * ordered_walk.cuh on warps one behind the other. */
#include "level_walk.h"

#include <memory>

#include "emulated_warp.h"
#include "solve/cuda/engine/ordered_walk.cuh"

namespace {

using namespace trs;

enum { WARPS_A_BLOCK = 4, MOST_TURNS = 2000000 };

struct graph {
  static constexpr bool KNOWS_CHAINS = true;
  const emulated_walk &of;
  node_view node(int32_t k) const {
    const int64_t begin = of.ptr[k], end = of.ptr[k + 1];
    return {begin, int32_t(end - begin), begin < end && of.idx[end - 1] == k - 1};
  }
  int32_t other(int64_t origin, int64_t e) const { return of.idx[origin + e]; }
  bool depends_on_last(int32_t k) const { return node(k).chained; }
};

/* What all warps share. */
struct memory {
  std::vector<uint32_t> all;               /* device memory */
  std::vector<std::vector<uint32_t>> mine; /* of blocks of threads */
  std::vector<uint16_t> all_shared;
  uint32_t highest = 0; /* of the levels found by lanes */
  analysis_state state = {};
};

template <int LANES>
void walk_lane(const graph &g, memory &m, int warp) {
  constexpr int NODES = WARP / LANES, IN_BLOCK = NODES * WARPS_A_BLOCK;
  const int block = warp / WARPS_A_BLOCK;
  const int32_t at = warp * NODES + this_lane() / LANES, n = g.of.n;
  const bool exists = at < n;
  walk<LANES, graph> me = {
      g, {m.all.data(), m.mine[block].data(), block * IN_BLOCK}, exists ? at : n};
  warp_wait w(&m.state);
  me.start(exists ? g.node(at) : node_view{0, 0, false}, exists);
  me.run(w);
  m.highest = max(m.highest, me.highest);
}

uint64_t draw(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return *seed >> 33;
}

struct levels {
  uint16_t *all;
  uint32_t get(int32_t node) const { return node < 0 ? 1 : all[node]; }
  void set(int32_t node, uint32_t level) const { all[node] = uint16_t(level); }
};

/* In its turn if there is one, else before it. */
template <int HELD>
bool walk_group(const graph &g, memory &m, int32_t first) {
  const int32_t at = first + this_lane();
  const bool exists = at < g.of.n;
  ordered_walk<HELD, graph, levels> me(g, {m.all_shared.data()}, first,
                                       exists ? g.node(at) : node_view{0, 0, false}, exists);
  const bool complete = me.try_all();
  if (complete) m.highest = max(m.highest, me.level());
  return complete;
}

/* Groups that are tried before their turn, when some groups before them have no levels yet, succeed
 * or leave everything as it is. */
void walk_in_turn(const graph &g, memory &m, uint64_t *seed) {
  const int32_t groups = (g.of.n + WARP - 1) / WARP;
  std::vector<bool> complete(static_cast<size_t>(groups));
  for (int32_t turn = 0; turn < groups;) {
    const int32_t ahead = turn + int32_t(draw(seed) % 3), group = min(ahead, groups - 1);
    bool ended = complete[size_t(group)];
    emulated_warp warp([&] {
      ended =
          g.of.lanes == 1 ? walk_group<8>(g, m, group * WARP) : walk_group<24>(g, m, group * WARP);
    });
    while (!complete[size_t(group)] && warp.turn()) {
    }
    complete[size_t(group)] = ended;
    if (group == turn && !ended) abort();
    while (turn < groups && complete[size_t(turn)]) turn++;
  }
}

void walk_any(const graph &g, memory &m, int warp) {
  switch (g.of.lanes) {
    case 1:
      return walk_lane<1>(g, m, warp);
    case 4:
      return walk_lane<4>(g, m, warp);
    case 8:
      return walk_lane<8>(g, m, warp);
    default:
      return walk_lane<WARP>(g, m, warp);
  }
}

}  // namespace

int32_t emulate_walk(const emulated_walk *given, uint32_t *level) {
  const graph g = {*given};
  const int nodes = WARP / given->lanes, warps = (given->n + nodes - 1) / nodes;
  uint64_t seed = given->seed;
  int begun = given->in_shared ? warps : 0, turns = 0;
  memory m;
  m.all.resize(size_t(given->n));
  m.all_shared.resize(size_t(given->n));
  if (given->in_shared) walk_in_turn(g, m, &seed);
  m.mine.assign(size_t(warps / WARPS_A_BLOCK + 1),
                std::vector<uint32_t>(size_t(nodes * WARPS_A_BLOCK)));
  std::vector<std::unique_ptr<emulated_warp>> at_work;
  while (begun < warps || !at_work.empty()) {
    while (begun < warps && int(at_work.size()) < given->warps) {
      const int warp = begun++;
      at_work.push_back(std::make_unique<emulated_warp>([&g, &m, warp] { walk_any(g, m, warp); }));
    }
    const size_t k = draw(&seed) % at_work.size();
    bool works = true;
    for (uint64_t t = draw(&seed) % 8; works && t < 8; t++) works = at_work[k]->turn();
    if (!works) at_work.erase(at_work.begin() + long(k));
    if (++turns == MOST_TURNS) return 0;
  }
  for (int32_t i = 0; i < given->n; i++)
    level[i] = given->in_shared ? m.all_shared[i] - 1u : m.all[i];
  return int32_t(m.highest) + 1;
}
