/* refactor_stand_in.c - plain loops in place of the kernels that factor new values, for doubles by
 * W21's variants; rows are eliminated as on the host (factor/bilu0.c). */
#include "factor/bilu0.h"
#include "relax/cuda/refactor.h"

trs_status trs_refactor_gather(const trs_refactor_args *a, trs_stream stream) {
  const int b = a->block;
  (void)stream;
  for (int64_t i = 0; i < a->n; i++)
    for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++)
      for (int e = 0; e < b * b; e++) {
        const double *given = (const double *)a->given + (int64_t)a->source[p] * b * b;
        const int r = a->from[i * b + e % b], c = e / b;
        a->val[p * b * b + e] = a->source[p] < 0 ? 0 : given[a->by_rows ? r * b + c : c * b + r];
      }
  return TRS_SUCCESS;
}

trs_status trs_refactor_eliminate(const trs_refactor_args *a, const int32_t *rows, int64_t count,
                                  trs_stream stream) {
  const trs_bilu0 w = {.kind = a->dilu       ? TRS_FACTOR_DILU
                               : a->cholesky ? TRS_FACTOR_BIC0
                                             : TRS_FACTOR_BILU0,
                       .block = a->block,
                       .threshold = a->threshold,
                       .n = a->n,
                       .ptr = (int64_t *)(uintptr_t)a->ptr,
                       .idx = (int32_t *)(uintptr_t)a->idx,
                       .diagonal = (int64_t *)(uintptr_t)a->diagonal,
                       .val = a->val,
                       .pivot = a->pivot};
  int64_t *position;
  (void)stream;
  TRS_TRY(TRS_ALLOC(&position, a->n));
  for (int64_t i = 0; i < a->n; i++) position[i] = -1;
  for (int64_t k = 0; k < count; k++) {
    int column;
    if (trs_bilu0_eliminate(&w, rows[k], position, &column)) continue;
    const unsigned long long word = (unsigned long long)rows[k] * TRS_REFACTOR_KINDS +
                                    (column < 0 ? TRS_REFACTOR_NOT_FINITE : TRS_REFACTOR_NO_PIVOT);
    if (word < *a->failed) *a->failed = word;
  }
  trs_free(position);
  return TRS_SUCCESS;
}

trs_status trs_refactor_store(const trs_refactor_args *a, const trs_relax_args *r,
                              const int32_t *place, int lower, trs_stream stream) {
  const int b = a->block, size = b * b;
  (void)stream;
  for (int64_t p = 0; p < a->n; p++) {
    const int64_t i = r->row[p];
    const double *d = a->val + a->diagonal[i] * size;
    double *to = (double *)(uintptr_t)r->diagonal + p * size;
    for (int64_t k = r->ptr[p]; k < r->ptr[p + 1]; k++)
      for (int e = 0; e < size; e++)
        ((double *)(uintptr_t)r->off)[k * size + e] = a->val[(int64_t)place[k] * size + e];
    for (int c = 0; c < b; c++)
      for (int row = 0; row < b; row++)
        to[c * b + row] = lower ? (row > c ? d[c * b + row] : row == c)
                                : (row < c    ? d[c * b + row]
                                   : row == c ? 1 / d[c * b + c]
                                              : 0);
    for (int k = 0; k < b; k++)
      ((uint8_t *)(uintptr_t)r->pivot)[p * b + k] = lower ? a->pivot[i * b + k] : (uint8_t)k;
  }
  return TRS_SUCCESS;
}
