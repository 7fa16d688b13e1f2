/* level_walk.c - the walks along the levels of the GPU analysis, on emulated warps: all graphs of
 * four nodes, and random graphs with and without chains, bands and long rows. */
#include "level_walk.h"

#include "test.h"

enum { MOST_NODES = 400 };

static int64_t ptr[MOST_NODES + 1];
static int32_t idx[MOST_NODES * MOST_NODES];
static uint32_t expected[MOST_NODES], level[MOST_NODES];

static uint64_t draw(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return *seed >> 33;
}

static void add_entry(int64_t row, int64_t *at, int32_t column) {
  idx[(*at)++] = column;
  if (expected[row] <= expected[column]) expected[row] = expected[column] + 1;
}

static void check(const emulated_walk *walk) {
  const int32_t levels = emulate_walk(walk, level);
  uint32_t most = 0;
  if (!levels) fail_msg("warps wait for ever, seed %llu", (unsigned long long)walk->seed);
  for (int32_t i = 0; i < walk->n; i++) {
    if (expected[i] > most) most = expected[i];
    if (level[i] != expected[i])
      fail_msg("n %d, lanes %d, in shared %d, seed %llu: level %u of node %d, expected %u", walk->n,
               walk->lanes, walk->in_shared, (unsigned long long)walk->seed, level[i], i,
               expected[i]);
  }
  assert_int_equal(levels, most);
}

TEST(all_graphs_of_four_nodes) {
  static const int lanes[] = {1, 4, 8, 32};
  enum { NODES = 4, PAIRS = NODES * (NODES - 1) / 2 };
  for (unsigned graph = 0; graph < 1u << PAIRS; graph++) {
    unsigned bits = graph;
    int64_t at = 0;
    for (int32_t i = 0; i < NODES; i++) {
      ptr[i] = at;
      expected[i] = 1;
      for (int32_t j = 0; j < i; j++, bits >>= 1)
        if (bits & 1) add_entry(i, &at, j);
    }
    ptr[NODES] = at;
    for (int k = 0; k < 8; k++)
      check(&(emulated_walk){NODES, ptr, idx, lanes[k / 2], k % 2, 3, graph});
  }
}

/* Rows of up to `entries` entries within `band` of the diagonal; some rows have the whole band, and
 * most rows the entry just before the diagonal if there are chains. */
static int32_t random_graph(uint64_t *seed) {
  static const int32_t bands[] = {3, 8, 40, MOST_NODES};
  const int32_t n = 1 + (int32_t)(draw(seed) % MOST_NODES), band = bands[draw(seed) % COUNT(bands)];
  const uint64_t entries = 1 + draw(seed) % 12;
  const bool chains = draw(seed) % 2, whole = draw(seed) % 3 == 0;
  int64_t at = 0;
  for (int32_t i = 0; i < n; i++) {
    const int32_t first = i > band ? i - band : 0;
    const bool all = whole && draw(seed) % 20 == 0;
    ptr[i] = at;
    expected[i] = 1;
    for (int32_t j = first; j < i; j++) {
      const bool chained = chains && j == i - 1 && draw(seed) % 4 > 0;
      if (all || chained || draw(seed) % (uint64_t)(i - first) < entries) add_entry(i, &at, j);
    }
  }
  ptr[n] = at;
  return n;
}

TEST(random_graphs) {
  static const int lanes[] = {1, 4, 8, 32};
  uint64_t seed = 5 + test_seed();
  for (int k = 0; k < 120; k++) {
    const int32_t n = random_graph(&seed);
    check(&(emulated_walk){n, ptr, idx, lanes[draw(&seed) % 4], draw(&seed) % 2,
                           1 + (int)(draw(&seed) % 8), draw(&seed)});
  }
}

/* Some rows with nearly all entries; most others have none, so they are known early. */
TEST(long_rows_among_short_ones) {
  enum { PERIOD = 23 };
  static const int lanes[] = {1, 4, 8, 32};
  uint64_t seed = 7 + test_seed();
  for (int k = 0; k < 32; k++) {
    const int32_t n = MOST_NODES - (int32_t)(draw(&seed) % 40);
    int64_t at = 0;
    for (int32_t i = 0; i < n; i++) {
      ptr[i] = at;
      expected[i] = 1;
      for (int32_t j = 0; j < i; j++)
        if (i % PERIOD ? draw(&seed) % (4 * (uint64_t)i) == 0 : draw(&seed) % 16 > 0)
          add_entry(i, &at, j);
    }
    ptr[n] = at;
    check(&(emulated_walk){n, ptr, idx, lanes[k / 2 % 4], k % 2, 4, draw(&seed)});
  }
}

const test_program program;
