/* indexing.h - converts the caller's ptr and idx, of 32 or 64 bits and base 0 or 1, to the
 * library's: ptr of 64 bits, idx of 32, both of base 0. */
#ifndef TRS_MATRIX_INDEXING_H
#define TRS_MATRIX_INDEXING_H

#include "matrix/matrix.h"

enum { TRS_NATIVE = TRS_PTR64 | TRS_IDX32 | TRS_BASE0 };

/* Bytes of an element, and the base. */
static inline int64_t trs_ptr_bytes(int indexing) { return indexing & TRS_PTR32 ? 4 : 8; }
static inline int64_t trs_idx_bytes(int indexing) { return indexing & TRS_IDX64 ? 8 : 4; }
static inline int64_t trs_index_base(int indexing) { return indexing & TRS_BASE1 ? 1 : 0; }

trs_status trs_indexing_check(int indexing);

/* Fails unless ptr[nvectors + 1] begins at the base and never decreases. */
trs_status trs_indexing_check_ptr(int indexing, const void *ptr, int64_t nvectors);

/* *own = the elements in base 0; own has space for them.  ptr was checked. */
void trs_indexing_take_ptr(int64_t *own, int indexing, const void *ptr, int64_t nvectors);

/* Returns the first position whose index is outside 0 .. other - 1, or count. */
int64_t trs_indexing_take_idx(int32_t *own, int indexing, const void *idx, int64_t count,
                              int64_t other);

/* Element k of ptr or idx, in the caller's base. */
static inline int64_t trs_ptr_at(int indexing, const void *ptr, int64_t k) {
  return indexing & TRS_PTR32 ? ((const int32_t *)ptr)[k] : ((const int64_t *)ptr)[k];
}
static inline int64_t trs_idx_at(int indexing, const void *idx, int64_t p) {
  return indexing & TRS_IDX64 ? ((const int64_t *)idx)[p] : ((const int32_t *)idx)[p];
}

/* An element in base 0.  The least number wraps to the largest one, which is outside as well. */
static inline int64_t trs_from_base(int64_t element, int64_t base) {
  return (int64_t)((uint64_t)element - (uint64_t)base);
}

#endif
