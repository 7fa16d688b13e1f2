/* powerlaw.c - a matrix with the statistics of a web graph: row lengths k with probability
 * proportional to k^-2.2, cut off at 4 sqrt(N), and columns that prefer low numbers, N u^3 for
 * uniform u, so that the columns' lengths have a long tail too (k^-2.5).  Values in [-1, 1), each
 * row strictly diagonally dominant. */
#include <math.h>

#include "base/random.h"
#include "gallery/rows.h"

typedef struct web {
  int64_t n, longest;
  uint64_t length_seed, column_seed, value_seed;
} web;

static int64_t row_length(const web *w, int64_t i) {
  double u = 1 - trs_random_unit(w->length_seed, (uint64_t)i); /* in (0, 1] */
  double length = floor(pow(u, -1 / (2.2 - 1)));
  return length < (double)w->longest ? (int64_t)length : w->longest;
}

static int64_t drop_repeats(int32_t *col, int64_t count) {
  int64_t kept = 0;
  for (int64_t q = 0; q < count; q++)
    if (q == 0 || col[q] != col[q - 1]) col[kept++] = col[q];
  return kept;
}

static int64_t make_row(const void *shape, int64_t i, int32_t *col, double *val) {
  const web *w = shape;
  int64_t length = row_length(w, i);
  uint64_t first = (uint64_t)i * (uint64_t)(w->longest + 1);
  for (int64_t q = 0; q < length; q++) {
    double u = trs_random_unit(w->column_seed, first + (uint64_t)q);
    col[q] = (int32_t)((double)w->n * (u * u * u));
  }
  col[length] = (int32_t)i;
  trs_columns_sort(col, length + 1);
  int64_t count = drop_repeats(col, length + 1), diagonal = 0;
  double sum = 0;
  for (int64_t q = 0; q < count; q++) {
    val[q] = trs_random_signed(w->value_seed, first + (uint64_t)q);
    if (col[q] == i)
      diagonal = q;
    else
      sum += fabs(val[q]);
  }
  val[diagonal] = 1 + sum;
  return count;
}

static trs_status make(trs_matrix **A, const trs_request *request) {
  int64_t n = request->value[0], longest = (int64_t)ceil(4 * sqrt((double)n));
  web shape = {.n = n,
               .longest = longest < n ? longest : n,
               .length_seed = trs_random(request->seed, 0),
               .column_seed = trs_random(request->seed, 1),
               .value_seed = trs_random(request->seed, 2)};
  trs_rows rows = {n, shape.longest + 1, &shape, make_row};
  return trs_rows_build(A, &rows, request);
}

const trs_generator trs_generator_powerlaw = {
    "powerlaw", "N[,seed=S]", "rows as in a web graph: lengths k with probability ~ k^-2.2", make};
