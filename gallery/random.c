/* random.c - a symmetric matrix with K random entries per row in its lower triangle (all entries in
 * the first K rows), values in [-1, 1), strictly diagonally dominant and therefore positive
 * definite.
 *
 * The columns of row i come from the counter-based generator: K draws from 0 .. i - K are sorted,
 * and s is added to the s-th, which gives K distinct columns below i.  The upper triangle mirrors
 * the lower one: rows are counted and filled with atomic increments and sorted afterwards, so the
 * result does not depend on the order of the threads.  O(N K log K). */
#include <math.h>
#include <stdatomic.h>

#include "base/cancel.h"
#include "base/random.h"
#include "gallery/rows.h"
#include "matrix/matrix.h"

typedef struct mirror {
  const trs_request *request;
  int64_t n, k;
  uint64_t column_seed, value_seed;
  int64_t *ptr;
  int32_t *idx;
  double *val;
  _Atomic int32_t *above; /* entries right of the diagonal of each row so far */
  int32_t *work;          /* k columns per thread */
} mirror;

static int64_t below(const mirror *m, int64_t i) { return i < m->k ? i : m->k; }

/* The columns of row i below the diagonal, ascending; returns their number. */
static int64_t make_columns(const mirror *m, int64_t i, int32_t *col) {
  int64_t count = below(m, i);
  for (int64_t q = 0; q < count; q++)
    col[q] = (int32_t)trs_random_below(m->column_seed, (uint64_t)(i * m->k + q),
                                       (uint64_t)(i - count + 1));
  trs_columns_sort(col, count);
  for (int64_t q = 0; q < count; q++) col[q] += (int32_t)q;
  return count;
}

static void count_share(void *argument, int rank, int size) {
  mirror *m = argument;
  int32_t *col = m->work + rank * m->k;
  int64_t begin, end;
  trs_share(m->n, rank, size, &begin, &end);
  for (int64_t i = begin; i < end; i++) {
    if ((i & 0xffff) == 0 && trs_cancel_asked(trs_cancel_flag())) return;
    int64_t count = make_columns(m, i, col);
    for (int64_t q = 0; q < count; q++)
      atomic_fetch_add_explicit(&m->above[col[q]], 1, memory_order_relaxed);
    if (rank == 0 && (i & 0xffff) == 0)
      trs_request_progress(m->request, "generating", 0.3 * (double)i / (double)(end - begin));
  }
}

/* Resets `above` to zero for the next pass. */
static void sum_up(mirror *m) {
  m->ptr[0] = 0;
  for (int64_t i = 0; i < m->n; i++) {
    int32_t above = atomic_load_explicit(&m->above[i], memory_order_relaxed);
    m->ptr[i + 1] = m->ptr[i] + below(m, i) + 1 + above;
    atomic_store_explicit(&m->above[i], 0, memory_order_relaxed);
  }
}

/* Fills row i's own columns, its diagonal, and row i as a column of the rows above. */
static void fill_share(void *argument, int rank, int size) {
  mirror *m = argument;
  int64_t begin, end;
  trs_share(m->n, rank, size, &begin, &end);
  for (int64_t i = begin; i < end; i++) {
    if ((i & 0xffff) == 0 && trs_cancel_asked(trs_cancel_flag())) return;
    int32_t *col = m->idx + m->ptr[i];
    int64_t count = make_columns(m, i, col);
    col[count] = (int32_t)i;
    for (int64_t q = 0; q < count; q++) {
      int64_t j = col[q];
      int32_t at = atomic_fetch_add_explicit(&m->above[j], 1, memory_order_relaxed);
      m->idx[m->ptr[j] + below(m, j) + 1 + at] = (int32_t)i;
    }
    if (rank == 0 && (i & 0xffff) == 0)
      trs_request_progress(m->request, "generating", 0.3 + 0.4 * (double)i / (double)(end - begin));
  }
}

static void finish_share(void *argument, int rank, int size) {
  mirror *m = argument;
  int64_t begin, end;
  trs_share(m->n, rank, size, &begin, &end);
  for (int64_t i = begin; i < end; i++) {
    if ((i & 0xffff) == 0 && trs_cancel_asked(trs_cancel_flag())) return;
    int64_t diagonal = m->ptr[i] + below(m, i);
    double sum = 0;
    trs_columns_sort(m->idx + diagonal + 1, m->ptr[i + 1] - diagonal - 1);
    for (int64_t p = m->ptr[i]; p < m->ptr[i + 1]; p++) {
      int64_t j = m->idx[p], low = i < j ? i : j, high = i < j ? j : i;
      m->val[p] = trs_random_signed(m->value_seed, (uint64_t)(high * m->n + low));
      if (j != i) sum += fabs(m->val[p]);
    }
    m->val[diagonal] = 1 + sum;
  }
}

static trs_status fill(mirror *m) {
  trs_team *team = m->request->team;
  int size = trs_team_size(team);
  int64_t lower = m->k * (m->k - 1) / 2 + (m->n - m->k) * m->k;
  TRS_TRY(TRS_ALLOC(&m->ptr, m->n + 1));
  TRS_TRY(TRS_ALLOC(&m->val, m->n + 2 * lower));
  TRS_TRY(TRS_ALLOC(&m->idx, m->n + 2 * lower));
  TRS_TRY(TRS_ALLOC(&m->work, size * m->k));
  TRS_TRY(TRS_ALLOC_ZERO(&m->above, m->n));
  trs_team_run(team, size, count_share, m);
  TRS_TRY(trs_cancelled());
  sum_up(m);
  trs_team_run(team, size, fill_share, m);
  TRS_TRY(trs_cancelled());
  trs_team_run(team, size, finish_share, m);
  return trs_cancelled();
}

static trs_status make(trs_matrix **A, const trs_request *request) {
  int64_t n = request->value[0], k = request->value[1];
  mirror m = {.request = request,
              .n = n,
              .k = k < n ? k : n,
              .column_seed = trs_random(request->seed, 0),
              .value_seed = trs_random(request->seed, 1)};
  trs_status status = fill(&m);
  trs_free(m.work);
  trs_free(m.above);
  return trs_rows_adopt(A, request, n, m.ptr, m.idx, m.val, status);
}

const trs_generator trs_generator_random = {
    "random", "N,K[,seed=S]", "symmetric, K random entries per row below the diagonal", make};
