/* colour.c - colourings of random graphs, stars, complete graphs and graphs without edges: valid,
 * with as few colours as possible, the same for any number of threads, and balanced on request. */
#include "order/colour.h"

#include "test.h"

static trs_team *team;

static int start(void **state) { return trs_team_create(&team, 3) != TRS_SUCCESS; }

static int stop(void **state) {
  trs_team_destroy(team);
  return 0;
}

typedef struct graph {
  trs_block_pattern reads, read_by;
} graph;

/* there(u, v): true if u reads v. */
static graph graph_make(int64_t n, bool (*there)(int64_t n, int64_t u, int64_t v)) {
  graph g = {.reads = {.n = n}};
  assert_success(TRS_ALLOC(&g.reads.ptr, n + 1));
  assert_success(TRS_ALLOC(&g.reads.idx, n * n));
  g.reads.ptr[0] = 0;
  for (int64_t u = 0; u < n; u++) {
    int64_t at = g.reads.ptr[u];
    for (int64_t v = 0; v < n; v++)
      if (u != v && there(n, u, v)) g.reads.idx[at++] = (int32_t)v;
    g.reads.ptr[u + 1] = at;
  }
  assert_success(trs_block_pattern_transpose(&g.read_by, &g.reads));
  return g;
}

static void graph_free(graph *g) {
  trs_block_pattern_free(&g->reads);
  trs_block_pattern_free(&g->read_by);
}

static int64_t seed, percent;
static bool random_edge(int64_t n, int64_t u, int64_t v) {
  uint64_t h = (uint64_t)(u * n + v + seed * 1000003) * 0x9E3779B97F4A7C15u;
  return (int64_t)((h >> 33) % 100) < percent;
}
static bool star(int64_t n, int64_t u, int64_t v) { return u == n / 2 && v >= 0; }
static bool complete(int64_t n, int64_t u, int64_t v) { return n > 0 && u != v; }
static bool nothing(int64_t n, int64_t u, int64_t v) { return n < 0 && u == v; }
static bool path(int64_t n, int64_t u, int64_t v) { return v == u + 1 && n > 0; }

/* Returns the number of colours. */
static int32_t check(int64_t n, bool (*there)(int64_t, int64_t, int64_t), bool balanced) {
  graph g = graph_make(n, there);
  trs_block_graph G = {&g.reads, &g.read_by};
  int32_t count, again, alone[600], together[600];
  assert_success(trs_colour_find(alone, &count, &G, balanced, NULL));
  assert_success(trs_colour_find(together, &again, &G, balanced, team));
  assert_int_equal(count, again);
  assert_memory_equal(alone, together, (size_t)n * sizeof *alone);
  int64_t rows[600] = {0}, most_edges = 0, largest = 0;
  for (int64_t u = 0; u < n; u++) {
    int64_t edges = g.reads.ptr[u + 1] - g.reads.ptr[u] + g.read_by.ptr[u + 1] - g.read_by.ptr[u];
    most_edges = edges > most_edges ? edges : most_edges;
    assert_true(alone[u] >= 0 && alone[u] < count);
    if (++rows[alone[u]] > largest) largest = rows[alone[u]];
    for (int64_t p = g.reads.ptr[u]; p < g.reads.ptr[u + 1]; p++)
      assert_int_not_equal(alone[u], alone[g.reads.idx[p]]);
  }
  for (int32_t c = 0; c < count; c++) assert_true(rows[c] > 0);
  assert_true(count <= most_edges + 1);
  assert_success(trs_colour_check(alone, &again, &G));
  assert_int_equal(count, again);
  graph_free(&g);
  return balanced ? (int32_t)largest : count;
}

TEST(random_graphs) {
  for (seed = 0; seed < 12; seed++)
    for (percent = 1; percent < 60; percent += percent)
      check(20 + 40 * seed, random_edge, seed & 1);
}

TEST(graphs_whose_colours_are_known) {
  for (int64_t n = 1; n < 600; n = 2 * n + 1) {
    assert_int_equal(check(n, nothing, false), 1);
    assert_int_equal(check(n, complete, false), n);
    if (n > 1) assert_int_equal(check(n, star, false), 2);
    assert_true(check(n, path, false) <= 3);
  }
  assert_int_equal(check(0, nothing, false), 0);
}

TEST(colours_are_evened_out) {
  percent = 1;
  seed = 3;
  graph g = graph_make(500, random_edge);
  trs_block_graph G = {&g.reads, &g.read_by};
  int32_t colour[600], count;
  assert_success(trs_colour_find(colour, &count, &G, false, team));
  graph_free(&g);
  assert_true(check(500, random_edge, true) <= 500 / count + 500 / count / 5 + 2);
  assert_true(check(500, path, true) <= 260);
}

TEST(a_colouring_that_is_none_is_refused) {
  graph g = graph_make(6, path);
  trs_block_graph G = {&g.reads, &g.read_by};
  int32_t count, colour[6] = {0, 1, 0, 0, 1, 0};
  assert_failure(TRS_ERROR_ARGUMENT, "block rows 2 and 3 (0-based) both have colour 0",
                 trs_colour_check(colour, &count, &G));
  assert_int_equal(trs_last_error()->row, 2);
  colour[3] = -4;
  assert_failure(TRS_ERROR_ARGUMENT, "block row 3 (0-based) has colour -4",
                 trs_colour_check(colour, &count, &G));
  colour[3] = 5;
  assert_success(trs_colour_check(colour, &count, &G));
  assert_int_equal(count, 6);
  graph_free(&g);
}

const test_program program = {.begin = start, .end = stop};
