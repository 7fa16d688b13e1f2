/* bilu0.h - incomplete factors of a block matrix in place, row by row. */
#ifndef TRS_FACTOR_BILU0_H
#define TRS_FACTOR_BILU0_H

#include "factor/factors.h"
#include "matrix/blocks.h"

/* Blocks are column-major.  Before row i is eliminated it holds A; afterwards its blocks below the
 * diagonal hold L, before the exchanges of the row, those above it U, and the diagonal block both
 * of its own factors. */
typedef struct trs_bilu0 {
  trs_factor_kind kind; /* BILU0, BIC0 or DILU */
  int block;
  double threshold;  /* of the diagonal as pivot */
  int64_t n;         /* block rows */
  int64_t *ptr;      /* n + 1 */
  int32_t *idx;      /* ascending in a row, the diagonal block included */
  int64_t *diagonal; /* n: places of the diagonal blocks */
  double *val;
  uint8_t *pivot; /* n x block: row pivot[r] of the block row became row r */
} trs_bilu0;

/* Takes a block pattern: the neighbours of each row.  Frees nothing on failure: trs_bilu0_free
 * does.
 */
trs_status trs_bilu0_take_pattern(trs_bilu0 *w, const trs_block_pattern *pattern);
void trs_bilu0_free(trs_bilu0 *w);

/* Reads the values of row i, which is row own[i] of the source; NULL: row i.  slot: n places,
 * negative before and after. */
trs_status trs_bilu0_read(const trs_bilu0 *w, const trs_block_source *source, const int32_t *own,
                          int64_t i, int32_t *slot);

/* Eliminates row i, after the rows of its blocks below the diagonal.  position: n places, negative
 * before the first call; what earlier rows of any order leave there does not matter.  False: no
 * pivot in column *column, or, if *column is negative, a value that is not finite. */
bool trs_bilu0_eliminate(const trs_bilu0 *w, int64_t i, int64_t *position, int *column);

#endif
