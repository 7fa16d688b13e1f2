/* indexing.c - reads ptr and idx of either width and base, and recognises a ptr of the other width.
 * O(n + nnz). */
#include "matrix/indexing.h"

#include <string.h>

trs_status trs_indexing_check(int indexing) {
  if (indexing >= 0 && indexing <= (TRS_PTR32 | TRS_IDX64 | TRS_BASE1)) return TRS_SUCCESS;
  return trs_fail(
      TRS_ERROR_ARGUMENT, -1,
      "indexing is %d: combine TRS_PTR32 or TRS_PTR64, TRS_IDX32 or TRS_IDX64, TRS_BASE0 "
      "or TRS_BASE1 with |",
      indexing);
}

/* Element k of a ptr that may be aligned for 32 bits alone. */
static int64_t copy_at(int indexing, const void *ptr, int64_t k) {
  int64_t wide;
  if (indexing & TRS_PTR32) return trs_ptr_at(indexing, ptr, k);
  memcpy(&wide, (const char *)ptr + k * (int64_t)sizeof wide, sizeof wide);
  return wide;
}

/* True if the first bytes of ptr, read in the other width, are valid row pointers of either base: a
 * caller who forgot the width may have forgotten the base, too.  Reads only bytes that a 32-bit
 * array has. */
static bool fits_other_width(int indexing, const void *ptr, int64_t nvectors) {
  const int other = indexing ^ TRS_PTR32;
  int64_t count = other & TRS_PTR32 ? nvectors + 1 : (nvectors + 1) / 2;
  if (count < 2 || (copy_at(other, ptr, 0) & ~INT64_C(1))) return false;
  for (int64_t k = 1; k < count; k++)
    if (copy_at(other, ptr, k) < copy_at(other, ptr, k - 1)) return false;
  return copy_at(other, ptr, count - 1) < INT32_MAX;
}

static const char *hint(int indexing, const void *ptr, int64_t nvectors) {
  if (!fits_other_width(indexing, ptr, nvectors)) return "";
  return indexing & TRS_PTR32 ? ": a 64-bit array given as 32-bit (TRS_PTR32)?"
                              : ": a 32-bit array given as 64-bit (TRS_PTR64)?";
}

static trs_status fail_fall(int indexing, const void *ptr, int64_t nvectors, int64_t i) {
  return trs_fail(TRS_ERROR_STRUCTURE, i, "ptr[%lld] = %lld is less than ptr[%lld] = %lld%s",
                  (long long)i + 1, (long long)trs_ptr_at(indexing, ptr, i + 1), (long long)i,
                  (long long)trs_ptr_at(indexing, ptr, i), hint(indexing, ptr, nvectors));
}

/* A vector of 2^32 entries or more: probably two 32-bit elements read as one. */
static trs_status fail_jump(int indexing, const void *ptr, int64_t nvectors, int64_t i) {
  return trs_fail(TRS_ERROR_STRUCTURE, i, "ptr[%lld] = %lld exceeds ptr[%lld] by more than 2^32%s",
                  (long long)i + 1, (long long)trs_ptr_at(indexing, ptr, i + 1), (long long)i,
                  hint(indexing, ptr, nvectors));
}

trs_status trs_indexing_check_ptr(int indexing, const void *ptr, int64_t nvectors) {
  if (!ptr) return trs_fail(TRS_ERROR_ARGUMENT, -1, "ptr is NULL");
  const int64_t base = trs_index_base(indexing), first = trs_ptr_at(indexing, ptr, 0);
  if (first != base)
    return trs_fail(TRS_ERROR_STRUCTURE, 0, "ptr[0] is %lld, not %lld%s", (long long)first,
                    (long long)base,
                    first == 1 - base ? (base ? " (TRS_BASE0?)" : " (TRS_BASE1?)")
                                      : hint(indexing, ptr, nvectors));
  for (int64_t i = 0; i < nvectors; i++) {
    const int64_t here = trs_ptr_at(indexing, ptr, i), next = trs_ptr_at(indexing, ptr, i + 1);
    if (next < here) return fail_fall(indexing, ptr, nvectors, i);
    if (next - here > UINT32_MAX) return fail_jump(indexing, ptr, nvectors, i);
  }
  return TRS_SUCCESS;
}

void trs_indexing_take_ptr(int64_t *own, int indexing, const void *ptr, int64_t nvectors) {
  const int64_t base = trs_index_base(indexing);
  if (indexing & TRS_PTR32)
    for (int64_t i = 0; i <= nvectors; i++) own[i] = ((const int32_t *)ptr)[i] - base;
  else
    for (int64_t i = 0; i <= nvectors; i++) own[i] = ((const int64_t *)ptr)[i] - base;
}

int64_t trs_indexing_take_idx(int32_t *own, int indexing, const void *idx, int64_t count,
                              int64_t other) {
  const int64_t base = trs_index_base(indexing);
  const uint64_t end = (uint64_t)other;
  int64_t p = 0;
  int outside = 0;
  for (int64_t k = 0; k < count; k++) { /* in vectors: none returns */
    const int64_t index = trs_from_base(trs_idx_at(indexing, idx, k), base);
    outside |= (uint64_t)index >= end;
    own[k] = (int32_t)index;
  }
  if (!outside) return count;
  while ((uint64_t)trs_from_base(trs_idx_at(indexing, idx, p), base) < end) p++;
  return p;
}
