/* order.c - orderings of matrices: valid permutations, fill and separator trees for every graph. */
#include "order/order.h"

#include "order/graph.h"
#include "order/orders.h"
#include "silence.h"
#include "sparse.h"
#include "test.h"

/* The pattern of the factor, n x n, if vertices are eliminated in this order. */
static bool *fill_of(const trs_graph *g, const int32_t *perm) {
  const int64_t n = g->n;
  bool *L = calloc((size_t)(n * n) + 1, sizeof *L);
  int32_t *inverse = malloc((size_t)(n + 1) * sizeof *inverse);
  for (int64_t k = 0; k < n; k++) inverse[perm ? perm[k] : k] = (int32_t)k;
  for (int64_t v = 0; v < n; v++)
    for (int32_t p = g->ptr[v]; p < g->ptr[v + 1]; p++)
      L[inverse[v] * n + inverse[g->adjacent[p]]] = true;
  for (int64_t k = 0; k < n; k++)
    for (int64_t i = k + 1; i < n; i++)
      for (int64_t j = k + 1; j < n && L[i * n + k]; j++)
        if (L[j * n + k]) L[i * n + j] = true;
  free(inverse);
  return L;
}

/* Entries of the factor if vertices are eliminated in this order. */
static int64_t count_fill(const trs_graph *g, const int32_t *perm) {
  bool *L = fill_of(g, perm);
  int64_t fill = 0;
  for (int64_t i = 0; i < g->n; i++)
    for (int64_t j = 0; j <= i; j++) fill += i == j || L[i * g->n + j];
  free(L);
  return fill;
}

/* An edge joins two nodes only if one is above the other. */
static void check_tree(const trs_ordering *o, const trs_graph *g) {
  const trs_tree *tree = &o->tree;
  int32_t *node = malloc((size_t)(g->n + 1) * sizeof *node);
  assert_int_equal(tree->ptr[0], 0);
  assert_int_equal(tree->ptr[tree->nodes], g->n);
  for (int32_t t = 0; t < tree->nodes; t++)
    for (int64_t k = tree->ptr[t]; k < tree->ptr[t + 1]; k++) node[o->perm[k]] = t;
  for (int64_t v = 0; v < g->n; v++)
    for (int32_t p = g->ptr[v]; p < g->ptr[v + 1]; p++) {
      int32_t low = node[v], high = node[g->adjacent[p]];
      if (low > high) continue;
      while (low != -1 && low != high) low = tree->parent[low];
      assert_int_equal(low, high);
    }
  free(node);
}

static void check(const trs_matrix *A, trs_order order, int64_t leaves) {
  trs_ordering o;
  trs_graph g;
  assert_success(trs_graph_build(&g, A));
  assert_success(trs_ordering_compute(&o, A, order, leaves));
  assert_int_equal(o.fill, count_fill(&g, o.perm));
  if (order == TRS_ORDER_NATURAL) {
    assert_null(o.perm);
    assert_int_equal(o.tree.nodes, 0);
  } else {
    assert_success(trs_permutation_check(o.perm, g.n, "perm"));
    assert_int_equal(o.tree.nodes, 2 * (leaves ? leaves : TRS_DEFAULT_LEAVES) - 1);
    check_tree(&o, &g);
  }
  trs_ordering_free(&o);
  trs_graph_free(&g);
}

/* The graph of A^T A: a row of A joins all its columns. */
static trs_matrix *square(const trs_matrix *A) {
  int64_t count = 0, at = 0;
  trs_matrix *S;
  for (int64_t i = 0; i < A->nrows; i++)
    count += (A->ptr[i + 1] - A->ptr[i]) * (A->ptr[i + 1] - A->ptr[i]);
  int32_t *row = malloc((size_t)count * sizeof *row + 1);
  int32_t *col = malloc((size_t)count * sizeof *col + 1);
  double *val = calloc((size_t)count + 1, sizeof *val);
  for (int64_t i = 0; i < A->nrows; i++)
    for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++)
      for (int64_t q = A->ptr[i]; q < A->ptr[i + 1]; q++) {
        row[at] = A->idx[p];
        col[at++] = A->idx[q];
      }
  assert_success(
      trs_matrix_create_coo(&S, TRS_DOUBLE, A->nrows, A->nrows, count, TRS_IDX32, row, col, val));
  free(row);
  free(col);
  free(val);
  return S;
}

static void check_columns(const trs_matrix *A, int64_t leaves) {
  trs_matrix *S = square(A);
  trs_ordering o;
  trs_graph g;
  assert_success(trs_graph_build(&g, S));
  assert_success(trs_ordering_compute(&o, A, TRS_ORDER_COLAMD, leaves));
  assert_int_equal(o.fill, count_fill(&g, o.perm));
  assert_success(trs_permutation_check(o.perm, g.n, "perm"));
  assert_int_equal(o.tree.nodes, 2 * leaves - 1);
  check_tree(&o, &g);
  trs_ordering_free(&o);
  trs_graph_free(&g);
  trs_matrix_destroy(S);
}

/* The fill and the tree are those of A^T A, which is never formed. */
TEST(columns_are_ordered) {
  if (!TRS_HAVE_COLAMD) skip_test("this build has no COLAMD");
  for (int c = 0; c < 60; c++) {
    static const int64_t sizes[] = {0, 1, 2, 3, 7, 50, 90};
    sparse_kind kind = {
        .scalar = TRS_FLOAT, .no_diagonal = c & 2, .components = c % 3 ? 1 : 1 + c % 11};
    trs_matrix *A = sparse_random(sizes[c % 7], c % 5 * 0.02, kind, (uint64_t)c);
    check_columns(A, 1 << c % 6);
    trs_matrix_destroy(A);
  }
}

TEST(random_graphs_are_ordered) {
  for (int r = 0; r < NORDERS; r++)
    for (int c = 0; c < 60; c++) {
      static const int64_t sizes[] = {0, 1, 2, 3, 7, 50, 150};
      sparse_kind kind = {.scalar = TRS_DOUBLE,
                          .symmetric = c & 1,
                          .no_diagonal = c & 2,
                          .components = c % 3 ? 1 : 1 + c % 11};
      trs_matrix *A = sparse_random(sizes[c % 7], c % 5 * 0.02, kind, (uint64_t)c);
      check(A, orders[r], (int64_t)(c % 4 ? 1 << c % 6 : 0));
      trs_matrix_destroy(A);
    }
}

TEST(special_graphs_are_ordered) {
  for (int r = 0; r < NORDERS; r++) {
    trs_matrix *A = sparse_grid(200, 1, 1, 0, TRS_DOUBLE); /* a path */
    check(A, orders[r], 4);
    trs_matrix_destroy(A);
    A = sparse_grid(12, 12, 1, 0.25, TRS_FLOAT);
    check(A, orders[r], 1);
    check(A, orders[r], 1024);
    trs_matrix_destroy(A);
    A = sparse_random(120, 1, (sparse_kind){.scalar = TRS_DOUBLE}, 1); /* complete */
    check(A, orders[r], 8);
    trs_matrix_destroy(A);
  }
}

/* A star: METIS gets a graph without edges after the centre is removed. */
TEST(a_star_is_ordered) {
  enum { N = 300 };
  int32_t row[N], col[N];
  double val[N];
  trs_matrix *A;
  for (int i = 0; i < N; i++) {
    row[i] = i;
    col[i] = 0;
    val[i] = 1;
  }
  assert_success(trs_matrix_create_coo(&A, TRS_DOUBLE, N, N, N, TRS_IDX32, row, col, val));
  for (int r = 0; r < NORDERS; r++) check(A, orders[r], 8);
  trs_matrix_destroy(A);
}

/* Sweeps over the short rows of light factors take as long as the branches at their ends. */
TEST(light_columns_come_by_height_and_length) {
  enum { N = 400 };
  if (!TRS_HAVE_AMD) skip_test("this build has no AMD");
  const sparse_kind kind = {.scalar = TRS_DOUBLE, .symmetric = true};
  trs_matrix *A = sparse_random(N, 0.004, kind, 3);
  trs_ordering o;
  trs_graph g;
  int height[N] = {0}, length[N] = {0}, equal = 0;
  assert_success(trs_graph_build(&g, A));
  assert_success(trs_ordering_compute(&o, A, TRS_ORDER_AMD, 4));
  bool *L = fill_of(&g, o.perm);
  for (int32_t t = 0; t < o.tree.nodes; t++)
    for (int64_t k = o.tree.ptr[t], first = k; k < o.tree.ptr[t + 1]; k++) {
      for (int64_t j = first; j < k; j++)
        if (L[k * N + j] && height[k] <= height[j]) height[k] = height[j] + 1;
      for (int64_t i = k + 1; i < N; i++) length[k] += L[i * N + k];
      if (k == first) continue;
      assert_true(height[k] >= height[k - 1]);
      if (height[k] > height[k - 1]) continue;
      assert_true(length[k] >= length[k - 1]);
      equal++;
    }
  assert_in_range(equal, N / 2, N);
  free(L);
  trs_ordering_free(&o);
  trs_graph_free(&g);
  trs_matrix_destroy(A);
}

TEST(dissection_balances_a_grid) {
  if (!TRS_HAVE_METIS) skip_test("this build has no METIS");
  trs_matrix *A = sparse_grid(60, 60, 1, 0, TRS_DOUBLE);
  trs_ordering o;
  assert_success(trs_ordering_compute(&o, A, TRS_ORDER_ND, 4));
  const int64_t *ptr = o.tree.ptr;
  assert_in_range(ptr[7] - ptr[6], 1, 80);
  for (int leaf = 0; leaf < 6; leaf++)
    if (leaf != 2 && leaf != 5) assert_in_range(ptr[leaf + 1] - ptr[leaf], 700, 1100);
  trs_ordering_free(&o);
  trs_matrix_destroy(A);
}

TEST(the_same_matrix_gets_the_same_order) {
  trs_matrix *A = sparse_grid(30, 20, 2, 0, TRS_DOUBLE);
  for (int r = 0; r < NORDERS; r++) {
    trs_ordering o, again;
    if (orders[r] == TRS_ORDER_NATURAL) continue;
    assert_success(trs_ordering_compute(&o, A, orders[r], 8));
    srand(7);
    (void)rand();
    assert_success(trs_ordering_compute(&again, A, orders[r], 8));
    assert_memory_equal(o.perm, again.perm, 1200 * sizeof *o.perm);
    trs_ordering_free(&o);
    trs_ordering_free(&again);
  }
  trs_matrix_destroy(A);
}

TEST(nothing_is_printed) {
  const silence s = silence_begin();
  special_graphs_are_ordered(state);
  a_star_is_ordered(state);
  silence_end(s);
}

TEST(bad_requests_are_refused) {
  trs_ordering o;
  trs_matrix *A = sparse_grid(3, 3, 1, 0, TRS_DOUBLE);
  assert_failure(TRS_ERROR_ARGUMENT, "power of two", trs_ordering_compute(&o, A, TRS_ORDER_AMD, 3));
  assert_failure(TRS_ERROR_ARGUMENT, "power of two",
                 trs_ordering_compute(&o, A, TRS_ORDER_AMD, -1));
  assert_failure(TRS_ERROR_ARGUMENT, "power of two",
                 trs_ordering_compute(&o, A, TRS_ORDER_AMD, 2 * TRS_MAX_LEAVES));
  assert_failure(TRS_ERROR_ARGUMENT, "order 7", trs_ordering_compute(&o, A, (trs_order)7, 2));
  if (!TRS_HAVE_METIS)
    assert_failure(TRS_ERROR_UNSUPPORTED, "libmetis-dev",
                   trs_ordering_compute(&o, A, TRS_ORDER_ND, 2));
  if (!TRS_HAVE_AMD)
    assert_failure(TRS_ERROR_UNSUPPORTED, "libsuitesparse-dev",
                   trs_ordering_compute(&o, A, TRS_ORDER_AMD, 2));
  if (!TRS_HAVE_COLAMD)
    assert_failure(TRS_ERROR_UNSUPPORTED, "libsuitesparse-dev",
                   trs_ordering_compute(&o, A, TRS_ORDER_COLAMD, 2));
  trs_matrix_destroy(A);
}

typedef struct request {
  const trs_matrix *A;
  trs_order order;
} request;

static trs_status compute(void *argument) {
  const request *q = argument;
  trs_ordering o;
  trs_status status = trs_ordering_compute(&o, q->A, q->order, 4);
  trs_ordering_free(&o);
  return status;
}

TEST(failing_allocations_are_reported) {
  trs_matrix *A = sparse_grid(6, 6, 1, 0, TRS_DOUBLE);
  for (int r = 0; r < NORDERS; r++)
    assert_survives_failing_allocations(compute, &(request){A, orders[r]});
  if (TRS_HAVE_COLAMD)
    assert_survives_failing_allocations(compute, &(request){A, TRS_ORDER_COLAMD});
  trs_matrix_destroy(A);
}
