/* etree.c - elimination tree, postorder and column counts against dense elimination. */
#include "order/etree.h"

#include "base/random.h"
#include "sparse.h"
#include "test.h"

typedef struct problem {
  trs_graph g;
  int32_t *perm, *inverse, *parent, *post, *count;
} problem;

static void shuffle(int32_t *perm, int64_t n, uint64_t seed) {
  for (int64_t k = 0; k < n; k++) perm[k] = (int32_t)k;
  for (int64_t k = n - 1; k > 0; k--) {
    int64_t other = (int64_t)trs_random_below(seed, (uint64_t)k, (uint64_t)k + 1);
    int32_t held = perm[k];
    perm[k] = perm[other];
    perm[other] = held;
  }
}

static problem make(int64_t n, double density, int64_t components, uint64_t seed) {
  problem q;
  size_t bytes = (size_t)(n + 1) * sizeof(int32_t);
  trs_matrix *A = sparse_random(
      n, density, (sparse_kind){.scalar = TRS_DOUBLE, .components = components}, seed);
  assert_success(trs_graph_build(&q.g, A));
  trs_matrix_destroy(A);
  q.perm = malloc(bytes);
  q.inverse = malloc(bytes);
  q.parent = malloc(bytes);
  q.post = malloc(bytes);
  q.count = malloc(bytes);
  shuffle(q.perm, n, seed + 9);
  for (int64_t k = 0; k < n; k++) q.inverse[q.perm[k]] = (int32_t)k;
  return q;
}

static void discard(problem *q) {
  trs_graph_free(&q->g);
  free(q->perm);
  free(q->inverse);
  free(q->parent);
  free(q->post);
  free(q->count);
}

/* The pattern of the factor's lower triangle, by eliminating one column after the other. */
static bool *eliminate(const problem *q) {
  int64_t n = q->g.n;
  bool *L = calloc((size_t)(n * n) + 1, sizeof *L);
  for (int64_t v = 0; v < n; v++)
    for (int32_t p = q->g.ptr[v]; p < q->g.ptr[v + 1]; p++)
      L[q->inverse[v] * n + q->inverse[q->g.adjacent[p]]] = true;
  for (int64_t k = 0; k < n; k++)
    for (int64_t i = k + 1; i < n; i++)
      for (int64_t j = k + 1; j < n && L[i * n + k]; j++)
        if (L[j * n + k]) L[i * n + j] = true;
  return L;
}

static void check_tree(const problem *q, const bool *L) {
  int64_t n = q->g.n;
  for (int64_t j = 0; j < n; j++) {
    int64_t i = j + 1;
    while (i < n && !L[i * n + j]) i++;
    assert_int_equal(q->parent[j], i < n ? i : -1);
  }
}

static void check_counts(const problem *q, const bool *L) {
  int64_t n = q->g.n;
  for (int64_t j = 0; j < n; j++) {
    int32_t count = 1;
    for (int64_t i = j + 1; i < n; i++) count += L[i * n + j];
    assert_int_equal(q->count[j], count);
  }
}

/* Children precede parents, and every subtree is contiguous. */
static void check_postorder(const problem *q) {
  int64_t n = q->g.n;
  int32_t *place = malloc((size_t)(n + 1) * sizeof *place);
  int64_t *first = malloc((size_t)(n + 1) * sizeof *first), *size = malloc(((size_t)n + 1) * 8);
  for (int64_t j = 0; j < n; j++) place[j] = -1;
  for (int64_t k = 0; k < n; k++) place[q->post[k]] = (int32_t)k;
  for (int64_t j = 0; j < n; j++) {
    assert_true(place[j] >= 0);
    first[j] = place[j];
    size[j] = 1;
  }
  for (int64_t j = 0; j < n; j++) {
    assert_int_equal(place[j] - first[j] + 1, size[j]);
    if (q->parent[j] == -1) continue;
    assert_true(place[q->parent[j]] > place[j]);
    size[q->parent[j]] += size[j];
    if (first[j] < first[q->parent[j]]) first[q->parent[j]] = first[j];
  }
  free(place);
  free(first);
  free(size);
}

/* Renumbers by the postorder, as trs_column_counts requires. */
static void apply_postorder(problem *q) {
  int64_t n = q->g.n;
  int32_t *perm = malloc((size_t)(n + 1) * sizeof *perm);
  for (int64_t k = 0; k < n; k++) perm[k] = q->perm[q->post[k]];
  for (int64_t k = 0; k < n; k++) q->inverse[q->perm[k] = perm[k]] = (int32_t)k;
  free(perm);
  assert_success(trs_etree(q->parent, &q->g, q->perm, q->inverse));
}

static void check(int64_t n, double density, int64_t components, uint64_t seed) {
  problem q = make(n, density, components, seed);
  bool *L = eliminate(&q);
  assert_success(trs_etree(q.parent, &q.g, q.perm, q.inverse));
  check_tree(&q, L);
  assert_success(trs_postorder(q.post, q.parent, n));
  check_postorder(&q);
  free(L);
  apply_postorder(&q);
  L = eliminate(&q);
  check_tree(&q, L);
  assert_success(trs_column_counts(q.count, &q.g, q.perm, q.inverse, q.parent));
  check_counts(&q, L);
  free(L);
  discard(&q);
}

TEST(trees_and_counts_are_those_of_elimination) {
  for (uint64_t seed = 0; seed < 60; seed++) {
    check((int64_t)seed, 0.06, 1, seed);
    check((int64_t)seed, 3.0 / 60, 3, seed);
    check(12, 0.02 * (double)seed, 1, seed);
  }
  check(40, 0, 1, 1);
  check(40, 1, 1, 1);
}

static trs_status all(void *argument) {
  problem *q = argument;
  TRS_TRY(trs_etree(q->parent, &q->g, q->perm, q->inverse));
  TRS_TRY(trs_postorder(q->post, q->parent, q->g.n));
  return trs_column_counts(q->count, &q->g, q->perm, q->inverse, q->parent);
}

TEST(failing_allocations_are_reported) {
  problem q = make(30, 0.1, 1, 5);
  assert_survives_failing_allocations(all, &q);
  discard(&q);
}
