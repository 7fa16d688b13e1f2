/* refactor_stand_in.c - plain loops in place of the kernel that factors new values, for doubles by
 * W21's variants: the steps of each row as listed, its diagonal block as on the host
 * (factor/bilu0.c). */
#include <string.h>

#include "factor/bilu0.h"
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

/* Factors the diagonal block and changes those behind it: the elimination of a row without blocks
 * before its diagonal. */
static bool factor_diagonal(const trs_refactor_args *a, double *behind, int64_t count,
                            uint8_t *pivot, int *column) {
  int64_t ptr[] = {0, count}, diagonal = 0, *position;
  int32_t *idx;
  if (TRS_ALLOC(&position, count) || TRS_ALLOC(&idx, count)) return false;
  for (int64_t p = 0; p < count; p++) idx[p] = (int32_t)p;
  const trs_bilu0 w = {.kind = a->cholesky ? TRS_FACTOR_BIC0 : TRS_FACTOR_BILU0,
                       .block = a->block,
                       .threshold = a->threshold,
                       .n = 1,
                       .ptr = ptr,
                       .idx = idx,
                       .diagonal = &diagonal,
                       .val = behind,
                       .pivot = pivot};
  const bool good = trs_bilu0_eliminate(&w, 0, position, column);
  TRS_FREE_ALL(position, idx);
  return good;
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
