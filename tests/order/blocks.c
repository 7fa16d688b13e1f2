/* blocks.c - diagonal blocks of a block triangular form: of every small pattern, against the
 * definition, and of large random ones. */
#include <string.h>

#include "base/config.h"
#include "base/random.h"
#include "order/methods.h"
#include "order/order.h"
#include "silence.h"
#include "sparse.h"
#include "test.h"

enum { MOST = 40 };

/* entry[i][j] with i = j is true. */
static trs_matrix *make(bool (*entry)[MOST], int n) {
  int32_t row[MOST * MOST], col[MOST * MOST];
  double val[MOST * MOST];
  int count = 0;
  trs_matrix *A;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (entry[i][j]) {
        row[count] = i;
        col[count] = j;
        val[count++] = 1;
      }
  assert_success(trs_matrix_create_coo(&A, TRS_DOUBLE, n, n, count, TRS_IDX32, row, col, val));
  return A;
}

/* Blocks are rows that reach each other; no step of the elimination, in the order of the blocks,
 * fills an entry between two blocks that are both not the pivot's; the last block is the largest.
 */
static void check(bool (*entry)[MOST], int n) {
  static bool reach[MOST][MOST], fill[MOST][MOST];
  int32_t block[MOST], count, order[MOST];
  int64_t between, outside = 0, size[MOST] = {0}, at = 0;
  trs_matrix *A = make(entry, n);
  assert_success(trs_order_blocks(block, &count, &between, A));
  trs_matrix_destroy(A);
  memcpy(reach, entry, sizeof reach);
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) reach[i][j] |= reach[i][k] && reach[k][j];
  for (int i = 0; i < n; i++) {
    assert_in_range(block[i], 0, count - 1);
    size[block[i]]++;
    for (int j = 0; j < n; j++) assert_int_equal(block[i] == block[j], reach[i][j] && reach[j][i]);
  }
  for (int b = 0; b < count; b++) {
    assert_in_range(size[b], 1, size[count - 1]);
    for (int i = 0; i < n; i++)
      if (block[i] == b) order[at++] = i;
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) outside += entry[i][j] && block[i] != block[j];
  assert_int_equal(between, outside);
  memcpy(fill, entry, sizeof fill);
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j < n; j++) {
        const int p = order[k], r = order[i], c = order[j];
        if (!fill[r][p] || !fill[p][c]) continue;
        assert_true(block[r] == block[p] || block[c] == block[p]);
        fill[r][c] = true;
      }
}

TEST(every_pattern_of_three_and_four_rows) {
  for (int n = 1; n <= 4; n++)
    for (int pattern = 0; pattern < 1 << (n * (n - 1)); pattern++) {
      bool entry[MOST][MOST] = {{false}};
      for (int i = 0, bit = 0; i < n; i++)
        for (int j = 0; j < n; j++) entry[i][j] = i == j || pattern >> bit++ & 1;
      check(entry, n);
    }
}

TEST(random_patterns) {
  for (uint64_t c = 0; c < 400; c++) {
    bool entry[MOST][MOST] = {{false}};
    const int n = 5 + (int)(c % (MOST - 5));
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        entry[i][j] = i == j || trs_random(c, (uint64_t)(i * n + j)) % 40 < c % 5;
    check(entry, n);
  }
}

/* A path as long as no stack of calls would hold. */
TEST(one_block_of_many_rows) {
  enum { N = 300000 };
  for (int closed = 0; closed < 2; closed++) {
    trs_matrix *A;
    int64_t *ptr = malloc((N + 1) * sizeof *ptr), between;
    int32_t *idx = malloc(2 * N * sizeof *idx), *block = malloc(N * sizeof *block), count;
    double *val = calloc(2 * N, sizeof *val);
    for (int i = 0; i < N; i++) {
      const bool last = i == N - 1;
      ptr[i] = 2 * i;
      idx[2 * i] = last && closed ? 0 : last ? i - 1 : i;
      idx[2 * i + 1] = last ? i : i + 1;
    }
    ptr[N] = 2 * N;
    assert_success(
        trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, N, N, TRS_PTR64, ptr, idx, val, TRS_BORROW));
    assert_success(trs_order_blocks(block, &count, &between, A));
    assert_int_equal(count, closed ? 1 : N - 1);
    assert_int_equal(between, closed ? 0 : N - 2);
    trs_matrix_destroy(A);
    free(ptr);
    free(idx);
    free(val);
    free(block);
  }
}

static trs_status by_blocks(void *A) {
  trs_ordering o;
  trs_status status = trs_ordering_by_blocks(&o, A);
  trs_ordering_free(&o);
  return status;
}

TEST(failing_allocations_are_reported) {
  if (!TRS_HAVE_AMD) return;
  bool entry[MOST][MOST] = {{false}};
  for (int i = 0; i < 20; i++) entry[i][i] = entry[i][i / 3] = entry[i / 2][i] = i % 3 != 1;
  for (int i = 0; i < 20; i++) entry[i][i] = true;
  trs_matrix *A = make(entry, 20);
  assert_survives_failing_allocations(by_blocks, A);
  trs_matrix_destroy(A);
}
