/* refactor_stand_in.c - plain loops in place of the kernel that factors new values, for doubles by
 * the variant rows: the steps of each row as listed, its diagonal block as on the host
 * (factor/bilu0.c). */
#include <string.h>

#include "base/memory.h"
#include "factor/bilu0_block.h"
#include "relax/cuda/refactor.h"

/* Row i's blocks, from the caller's. */
static void read_row(const trs_refactor_args *a, int64_t i, double *row) {
  const int b = a->block, size = b * b;
  for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++)
    for (int e = 0; e < size; e++) {
      const double *given = (const double *)a->given + (int64_t)a->source[p] * size;
      const int r = a->from[i * b + e % b], c = e / b;
      row[(p - a->ptr[i]) * size + e] =
          a->source[p] < 0 ? 0 : given[a->by_rows ? r * b + c : c * b + r];
    }
}

static void divide(double *l, const double *d, int b) {
  for (int c = 0; c < b; c++)
    for (int r = 0; r < b; r++) {
      for (int m = 0; m < c; m++) l[c * b + r] -= l[m * b + r] * d[c * b + m];
      l[c * b + r] *= d[c * b + c];
    }
}

static void take_steps(const trs_refactor_args *a, int64_t i, double *row) {
  const int b = a->block, size = b * b;
  const double *l = NULL;
  for (int64_t n = a->step_ptr[i]; n < a->step_ptr[i + 1]; n++) {
    const trs_refactor_step s = a->step[n];
    const double *u = a->val + (int64_t)s.block * size;
    double *own = row + (int64_t)(s.at < 0 ? ~s.at : s.at) * size;
    if (s.at < 0) {
      divide(own, u, b);
      l = own;
      continue;
    }
    for (int c = 0; c < b; c++)
      for (int r = 0; r < b; r++)
        for (int m = 0; m < b; m++) own[c * b + r] -= l[m * b + r] * u[c * b + m];
  }
}

/* Factors the diagonal block, and multiplies those behind it by the inverse of its l. */
static bool factor_diagonal(const trs_refactor_args *a, double *d, int64_t count, uint8_t *pivot,
                            int *column) {
  const int b = a->block, size = b * b;
  double x[TRS_RELAX_MOST_BLOCK];
  *column = -1;
  for (int e = 0; e < size; e++)
    if (!isfinite(d[e])) return false;
  for (int r = 0; r < b; r++) pivot[r] = (uint8_t)r;
  *column = a->cholesky ? trs_block_cholesky(d, b) : trs_block_lu(d, pivot, a->threshold, b);
  if (*column < b) return false;
  for (double *u = d + size; u < d + count * size; u += b) {
    memcpy(x, u, (size_t)b * sizeof *x);
    for (int r = 0; r < b; r++) {
      u[r] = x[pivot[r]];
      for (int m = 0; m < r; m++) u[r] -= d[m * b + r] * u[m];
      if (a->cholesky) u[r] /= d[r * b + r];
    }
  }
  return true;
}

static void store_row(const trs_refactor_args *a, int64_t i, const double *row,
                      const uint8_t *pivot) {
  const int b = a->block, size = b * b;
  const int64_t first = a->ptr[i], diagonal = a->diagonal[i];
  const double *d = row + (diagonal - first) * size;
  for (int64_t p = first; p < a->ptr[i + 1]; p++)
    if (p != diagonal)
      memcpy((double *)(uintptr_t)a->side[p > diagonal].relax.off + (int64_t)a->target[p] * size,
             row + (p - first) * size, (size_t)size * sizeof *row);
  for (int k = 0; k < 2; k++) {
    const trs_refactor_side *s = &a->side[k];
    double *to = (double *)(uintptr_t)s->relax.diagonal + (int64_t)s->position[i] * size;
    for (int c = 0; c < b; c++)
      for (int r = 0; r < b; r++)
        to[c * b + r] = k == 0 ? (r > c ? d[c * b + r] : r == c) : r <= c ? d[c * b + r] : 0;
    for (int r = 0; r < b; r++)
      ((uint8_t *)(uintptr_t)s->relax.pivot)[(int64_t)s->position[i] * b + r] =
          k == 0 ? pivot[r] : (uint8_t)r;
  }
}

static void eliminate(const trs_refactor_args *a, int64_t i, double *row) {
  const int b = a->block, size = b * b;
  const int64_t behind = a->diagonal[i] - a->ptr[i], count = a->ptr[i + 1] - a->ptr[i] - behind;
  double *d = row + behind * size;
  uint8_t pivot[TRS_RELAX_MOST_BLOCK];
  int column;
  read_row(a, i, row);
  take_steps(a, i, row);
  if (!factor_diagonal(a, d, count, pivot, &column)) {
    const unsigned long long word = (unsigned long long)i * TRS_REFACTOR_KINDS +
                                    (column < 0 ? TRS_REFACTOR_NOT_FINITE : TRS_REFACTOR_NO_PIVOT);
    if (word < *a->failed) *a->failed = word;
    return;
  }
  for (int r = 0; r < b; r++) d[r * b + r] = 1 / d[r * b + r];
  memcpy(a->val + a->diagonal[i] * size, d, (size_t)(count * size) * sizeof *d);
  store_row(a, i, row, pivot);
}

trs_status trs_refactor_eliminate(const trs_refactor_args *a, const trs_refactor_level *level,
                                  trs_stream stream) {
  double *row;
  (void)stream;
  TRS_TRY(TRS_ALLOC(&row, level->longest * a->block * a->block));
  for (int64_t k = 0; k < level->count; k++) eliminate(a, level->row[k], row);
  trs_free(row);
  return TRS_SUCCESS;
}
