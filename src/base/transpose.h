/* transpose.h - a compressed pattern by its columns, and a stable sort by keys: counts, sums, then
 * fills.  O(rows + columns + entries). */
#ifndef TRS_BASE_TRANSPOSE_H
#define TRS_BASE_TRANSPOSE_H

#include "base/memory.h"

/* The rows of each column, ascending, in arrays that the caller frees; NULL after a failure.
 * column_ptr: columns + 2 places, the last of which repeats the one before.
 * from: the position in idx of each entry; NULL: not wanted.
 * ptr: rows + 1 begins; NULL: row i has the one entry idx[i], its key. */
trs_status trs_transpose_pattern(int64_t **column_ptr, int32_t **row, int64_t **from,
                                 int64_t columns, int64_t rows, const int64_t *ptr,
                                 const int32_t *idx);

#endif
