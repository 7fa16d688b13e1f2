/* level_walk.cpp - runs level_walk.cuh on emulated warps, which take turns in a random order. */
#include "level_walk.h"

#include <memory>

#include "emulated_warp.h"
#include "solve/cuda/engine/level_walk.cuh"

namespace {

using namespace trs;

enum { WARPS_A_BLOCK = 4, MOST_TURNS = 2000000 };

struct graph {
  const emulated_walk &of;
  node_view node(int32_t k) const {
    const int64_t begin = of.ptr[k], end = of.ptr[k + 1];
    return {begin, int32_t(end - begin), begin < end && of.idx[end - 1] == k - 1};
  }
  int32_t other(int64_t origin, int64_t e) const { return of.idx[origin + e]; }
};

/* What all warps share. */
struct memory {
  std::vector<uint32_t> all;               /* device memory */
  std::vector<std::vector<uint32_t>> mine; /* of blocks of threads */
  std::vector<uint16_t> all_shared;
  int32_t at[WARP] = {};
  uint32_t highest = 0; /* of the levels found by lanes */
  analysis_state state = {};
};

template <int LANES, class Board>
void walk_node(const graph &g, memory &m, const Board &board, int32_t first) {
  const int32_t at = first + this_lane() / LANES, n = g.of.n;
  const bool exists = at < n;
  walk<LANES, graph, Board> me = {g, board, exists ? at : n};
  warp_wait w(&m.state);
  me.start(exists ? g.node(at) : node_view{0, 0, false}, exists);
  me.run(w);
  m.highest = max(m.highest, me.highest);
}

template <int LANES>
void walk_lane(const graph &g, memory &m, int warp) {
  constexpr int NODES = WARP / LANES, IN_BLOCK = NODES * WARPS_A_BLOCK;
  const int block = warp / WARPS_A_BLOCK;
  if (g.of.in_shared)
    walk_node<LANES>(g, m, shared_board{m.all_shared.data(), m.at, warp}, warp * NODES);
  else
    walk_node<LANES>(g, m, device_board{m.all.data(), m.mine[block].data(), block * IN_BLOCK},
                     warp * NODES);
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

uint64_t draw(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return *seed >> 33;
}

}  // namespace

int32_t emulate_walk(const emulated_walk *given, uint32_t *level) {
  const graph g = {*given};
  const int nodes = WARP / given->lanes, warps = (given->n + nodes - 1) / nodes;
  uint64_t seed = given->seed;
  int begun = 0, turns = 0;
  memory m;
  m.all.resize(size_t(given->n));
  m.all_shared.resize(size_t(given->n));
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
  for (int32_t i = 0; i < given->n; i++) level[i] = given->in_shared ? m.all_shared[i] : m.all[i];
  return int32_t(m.highest) + 1;
}
