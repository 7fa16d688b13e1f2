/* graph.c - the graph of A + A^T against its definition. */
#include "order/graph.h"

#include "sparse.h"
#include "test.h"

static void check(const trs_matrix *A) {
  trs_graph g;
  int64_t n = A->nrows;
  bool *there = dense_pattern(A);
  assert_success(trs_graph_build(&g, A));
  assert_int_equal(g.n, n);
  assert_int_equal(g.ptr[0], 0);
  for (int64_t i = 0; i < n; i++) {
    int32_t at = g.ptr[i];
    for (int32_t j = 0; j < n; j++)
      if (i != j && (there[i * n + j] || there[j * n + i])) {
        assert_true(at < g.ptr[i + 1]);
        assert_int_equal(g.adjacent[at++], j);
      }
    assert_int_equal(at, g.ptr[i + 1]);
  }
  trs_graph_free(&g);
  free(there);
}

TEST(both_formats_give_the_graph_of_the_definition) {
  for (int64_t n = 0; n < 40; n = 2 * n + 1)
    for (int c = 0; c < 8; c++) {
      sparse_kind kind = {.scalar = TRS_DOUBLE,
                          .format = c & 1 ? TRS_CSC : TRS_CSR,
                          .symmetric = c & 2,
                          .no_diagonal = c & 4};
      trs_matrix *A = sparse_random(n, 0.1 * c, kind, (uint64_t)c);
      check(A);
      trs_matrix_destroy(A);
    }
}

TEST(rectangular_matrices_are_refused) {
  int64_t ptr[] = {0, 0, 0};
  trs_matrix *A;
  trs_graph g;
  assert_success(
      trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, 2, 3, TRS_PTR64, ptr, NULL, NULL, TRS_COPY));
  assert_failure(TRS_ERROR_STRUCTURE, "not square", trs_graph_build(&g, A));
  trs_matrix_destroy(A);
}

static trs_status build(void *A) {
  trs_graph g;
  trs_status status = trs_graph_build(&g, A);
  trs_graph_free(&g);
  return status;
}

TEST(failing_allocations_are_reported) {
  assert_survives_with_matrix(build, 20, (sparse_kind){.scalar = TRS_FLOAT});
}
