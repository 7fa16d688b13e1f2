/* match.c - a row for every column, so that the product of the matched entries' absolute values is
 * the largest possible: they become the diagonal, and pivots seldom leave it.
 *
 * A matched entry costs log(largest of its column / itself); matchings of least cost by shortest
 * augmenting paths with dual variables (Duff and Koster, On algorithms for permuting large entries
 * to the diagonal of a sparse matrix, SIAM J. Matrix Anal. Appl. 22, 2001).  Most rows find a free
 * column in the first pass.  Searches that look at more than MOST_WORK entries per row and entry of
 * the matrix end without a matching, since they can take O(n nnz log n): pivoting alone then goes
 * on. */
#include <float.h>
#include <math.h>

#include "factor/kinds.h"
#include "matrix/values.h"

typedef struct matching {
  const trs_matrix *A;
  double *cost;             /* nnz; infinite: a stored zero */
  double *row, *col;        /* dual variables: cost >= row + col, equal for matched entries */
  int32_t *row_of, *col_of; /* -1: free */
  double *distance;         /* of each column in the current search */
  int32_t *from;            /* the row that reached a column */
  int32_t *heap, *place;    /* columns reached but not final, nearest first; their places */
  int64_t heaped;
  int32_t *reached; /* columns of this search */
  int64_t nreached;
  int64_t work; /* entries that searches have looked at */
  int32_t end;  /* the nearest free column so far, -1: none, and its distance */
  double length;
} matching;

enum { NOT_REACHED = -1, FINAL = -2 };

enum { MOST_WORK = 64 };

/* ---- A heap whose items may come nearer. ---- */

static void put(matching *m, int64_t at, int32_t j) {
  m->heap[at] = j;
  m->place[j] = (int32_t)at;
}

static void rise(matching *m, int32_t j) {
  int64_t at = m->place[j];
  for (; at > 0 && m->distance[m->heap[(at - 1) / 2]] > m->distance[j]; at = (at - 1) / 2)
    put(m, at, m->heap[(at - 1) / 2]);
  put(m, at, j);
}

static int32_t take_nearest(matching *m) {
  const int32_t nearest = m->heap[0], moved = m->heap[--m->heaped];
  int64_t at = 0;
  for (int64_t child; (child = 2 * at + 1) < m->heaped; at = child) {
    if (child + 1 < m->heaped && m->distance[m->heap[child + 1]] < m->distance[m->heap[child]])
      child++;
    if (m->distance[m->heap[child]] >= m->distance[moved]) break;
    put(m, at, m->heap[child]);
  }
  if (m->heaped) put(m, at, moved);
  m->place[nearest] = FINAL;
  return nearest;
}

/* ---- Costs and the first pass. ---- */

/* Finite: the modulus of a complex entry can overflow. */
static double size_of(const trs_matrix *A, int64_t p) {
  const double size = trs_value_abs(A->val, p, A->scalar);
  return size < DBL_MAX ? size : DBL_MAX; /* fmin is a call */
}

static void find_largest(double *largest, const trs_matrix *A) {
  for (int64_t j = 0; j < A->nrows; j++) largest[j] = 0;
  for (int64_t p = 0; p < A->nnz; p++) {
    const double size = size_of(A, p);
    if (size > largest[A->idx[p]]) largest[A->idx[p]] = size;
  }
}

static void find_costs(matching *m) {
  const trs_matrix *A = m->A;
  double *largest = m->distance;
  find_largest(largest, A);
  for (int64_t j = 0; j < A->nrows; j++) largest[j] = log(largest[j]);
  for (int64_t p = 0; p < A->nnz; p++) {
    const double size = size_of(A, p);
    m->cost[p] = size > 0 ? largest[A->idx[p]] - log(size) : INFINITY;
  }
}

static double reduced(const matching *m, int64_t i, int64_t p) {
  const double cost = m->cost[p] - m->row[i] - m->col[m->A->idx[p]];
  return cost > 0 ? cost : 0;
}

static void join(matching *m, int64_t i, int32_t j) {
  m->row_of[j] = (int32_t)i;
  m->col_of[i] = j;
}

/* Each row takes its cheapest column if that is free, its diagonal first. */
static void match_cheapest(matching *m) {
  const trs_matrix *A = m->A;
  for (int64_t i = 0; i < A->nrows; i++) {
    double least = INFINITY;
    for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++)
      if (m->cost[p] < least) least = m->cost[p];
    m->row[i] = least < INFINITY ? least : 0;
    int32_t taken = -1;
    for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++)
      if (m->cost[p] == least && least < INFINITY && m->row_of[A->idx[p]] < 0 &&
          (taken < 0 || A->idx[p] == i))
        taken = A->idx[p];
    if (taken >= 0) join(m, i, taken);
  }
}

/* ---- Searches. ---- */

static void reach(matching *m, int64_t i, double before) {
  const trs_matrix *A = m->A;
  m->work += 1 + A->ptr[i + 1] - A->ptr[i];
  for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) {
    const int32_t j = A->idx[p];
    if (m->place[j] == FINAL || m->cost[p] == INFINITY) continue;
    const double distance = before + reduced(m, i, p);
    if (distance >= m->length) continue;
    if (m->row_of[j] < 0) {
      m->end = j;
      m->length = distance;
      m->from[j] = (int32_t)i;
      continue;
    }
    if (m->place[j] == NOT_REACHED) {
      m->reached[m->nreached++] = j;
      m->place[j] = (int32_t)m->heaped++;
    } else if (distance >= m->distance[j]) {
      continue;
    }
    m->distance[j] = distance;
    m->from[j] = (int32_t)i;
    rise(m, j);
  }
}

static bool works_too_long(const matching *m) {
  return m->work > MOST_WORK * (m->A->nrows + m->A->nnz);
}

/* Finds the free column nearest to row i. */
static void search(matching *m, int64_t i) {
  m->heaped = m->nreached = 0;
  m->end = -1;
  m->length = INFINITY;
  reach(m, i, 0);
  while (m->heaped && m->distance[m->heap[0]] < m->length && !works_too_long(m)) {
    const int32_t j = take_nearest(m);
    reach(m, m->row_of[j], m->distance[j]);
  }
}

/* Final columns are nearer than the end; their duals fall so that the path's entries become tight.
 */
static void change_duals(matching *m, int64_t start) {
  m->row[start] += m->length;
  for (int64_t k = 0; k < m->nreached; k++) {
    const int32_t j = m->reached[k];
    if (m->place[j] != FINAL) continue;
    m->col[j] -= m->length - m->distance[j];
    m->row[m->row_of[j]] += m->length - m->distance[j];
  }
}

static void augment(matching *m, int64_t start) {
  int32_t j = m->end;
  for (int64_t i = -1; i != start;) {
    i = m->from[j];
    const int32_t before = m->col_of[i];
    join(m, i, j);
    j = before;
  }
}

static void forget(matching *m) {
  for (int64_t k = 0; k < m->nreached; k++) m->place[m->reached[k]] = NOT_REACHED;
}

/* What no search needs to find: it would name a row that has no column left. */
static trs_status check_empty(const matching *m) {
  const trs_matrix *A = m->A;
  find_largest(m->distance, A);
  for (int64_t i = 0; i < A->nrows; i++) {
    bool zeros = true;
    for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) zeros &= size_of(A, p) == 0;
    if (!zeros && m->distance[i] > 0) continue;
    return trs_fail(TRS_ERROR_ZERO_PIVOT, i,
                    "LU: %s %lld (0-based) has only zero entries: the matrix is singular",
                    zeros ? "row" : "column", (long long)i);
  }
  return TRS_SUCCESS;
}

static trs_status match(matching *m) {
  const int64_t n = m->A->nrows;
  TRS_TRY(check_empty(m));
  find_costs(m);
  for (int64_t k = 0; k < n; k++) {
    m->col[k] = 0;
    m->row_of[k] = m->col_of[k] = -1;
    m->place[k] = NOT_REACHED;
  }
  match_cheapest(m);
  for (int64_t i = 0; i < n; i++) {
    if (m->col_of[i] >= 0) continue;
    search(m, i);
    if (works_too_long(m)) return TRS_SUCCESS;
    if (m->end < 0)
      return trs_fail(TRS_ERROR_ZERO_PIVOT, i,
                      "LU: row %lld (0-based) has no column left for its pivot: it and other rows "
                      "have nonzero entries in fewer columns than they are, so that the matrix is "
                      "singular whatever their values",
                      (long long)i);
    change_duals(m, i);
    augment(m, i);
    forget(m);
  }
  return TRS_SUCCESS;
}

/* An entry a of row i and column j of cost c has |a| = largest_j exp(-c), and c >= row_i + col_j.
 */
static trs_status find_scales(trs_matching *to, const matching *m) {
  const trs_matrix *A = m->A;
  double *largest = m->distance;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&to->row_scale, A->nrows), TRS_ROOM(&to->col_scale, A->nrows)));
  find_largest(largest, A);
  for (int64_t j = 0; j < A->nrows; j++) {
    to->row_scale[j] = trs_power_of_two(m->row[m->row_of[j]] / log(2), A->scalar);
    to->col_scale[j] = trs_power_of_two((m->col[j] - log(largest[j])) / log(2), A->scalar);
  }
  return TRS_SUCCESS;
}

static double share_of_rivals(const matching *m) {
  int64_t rivals = 0, others = 0;
  for (int64_t i = 0; i < m->A->nrows; i++)
    for (int64_t p = m->A->ptr[i]; p < m->A->ptr[i + 1]; p++) {
      if (m->A->idx[p] == m->col_of[i]) continue;
      others++;
      rivals += reduced(m, i, p) <= log(2);
    }
  return others ? (double)rivals / (double)others : 0;
}

static trs_status allocate(matching *m) {
  const int64_t n = m->A->nrows;
  return TRS_ALLOC_ALL(TRS_ROOM(&m->cost, m->A->nnz), TRS_ROOM(&m->row, n), TRS_ROOM(&m->col, n),
                       TRS_ROOM(&m->row_of, n), TRS_ROOM(&m->col_of, n), TRS_ROOM(&m->distance, n),
                       TRS_ROOM(&m->from, n), TRS_ROOM(&m->heap, n), TRS_ROOM(&m->place, n),
                       TRS_ROOM(&m->reached, n));
}

trs_status trs_match_rows(trs_matching *matched, const trs_matrix *A) {
  matching m = {.A = A};
  *matched = (trs_matching){0};
  trs_status status = allocate(&m);
  if (!status) status = match(&m);
  const bool complete = !status && !works_too_long(&m);
  if (complete) status = find_scales(matched, &m);
  if (complete && !status) {
    matched->rivals = share_of_rivals(&m);
    matched->row = m.row_of;
    m.row_of = NULL;
  } else {
    trs_matching_free(matched);
  }
  TRS_FREE_ALL(m.cost, m.row, m.col, m.row_of, m.col_of, m.distance, m.from, m.heap, m.place,
               m.reached);
  return status;
}

/* Diagonal entries count as their own rivals, and are taken off in the end. */
static double share_beside(const trs_matrix *A, const double *row_scale, double *diagonal) {
  int64_t found = 0;
  for (int64_t i = 0; i < A->nrows; i++)
    diagonal[i] = size_of(A, trs_factor_diagonal(A, i)) * (row_scale ? row_scale[i] : 1);
  for (int64_t i = 0; i < A->nrows; i++) {
    const double row = 2 * (row_scale ? row_scale[i] : 1);
    for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++)
      found += size_of(A, p) * row >= diagonal[A->idx[p]];
  }
  const int64_t others = A->nnz - A->nrows;
  return others ? (double)(found - A->nrows) / (double)others : 0;
}

trs_status trs_match_diagonal(trs_matching *to, const trs_matrix *A, bool equilibrate) {
  const trs_factor_input input = {.B = A};
  double *diagonal;
  *to = (trs_matching){0};
  TRS_TRY(TRS_ALLOC(&diagonal, A->nrows));
  const trs_status status =
      equilibrate ? trs_equilibrate(&to->row_scale, &to->col_scale, &input) : TRS_SUCCESS;
  if (!status) to->rivals = share_beside(A, to->row_scale, diagonal);
  trs_free(diagonal);
  return status;
}

void trs_matching_free(trs_matching *matched) {
  TRS_FREE_ALL(matched->row, matched->row_scale, matched->col_scale);
  *matched = (trs_matching){0};
}
