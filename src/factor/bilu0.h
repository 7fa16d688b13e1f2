/* bilu0.h - incomplete factors of a block matrix, as both sweeps over them read them: blocks of L
 * below the diagonal, blocks of U above it, and inverses of the diagonal blocks D, so that
 *
 *     x_i = b_i - sum L_ik x_k for ascending i,    x_i = D_i^-1 (x_i - sum U_ij x_j) for descending
 *
 * The scalar triangles of trs_factors are written when they are first needed. */
#ifndef TRS_FACTOR_BILU0_H
#define TRS_FACTOR_BILU0_H

#include "base/cpu.h"
#include "factor/factors.h"
#include "matrix/blocks.h"

/* The blocks of L, or of U, beside the diagonal by rows, in ascending columns.  TRS_BLOCKS_PAST
 * zeros lie before and behind idx, and some readable bytes behind val. */
typedef struct trs_bilu0_sweep {
  int64_t *ptr;
  int32_t *idx;
  double *val;
} trs_bilu0_sweep;

/* Blocks are column-major. */
typedef struct trs_bilu0 {
  atomic_int references;
  const struct trs_bilu0 *origin; /* whose pattern this has, and keeps alive; or NULL */
  trs_factor_kind kind;           /* BILU0, BIC0 or DILU */
  int block;
  double threshold;         /* of the diagonal as pivot */
  bool narrow;              /* values must be floats' */
  int64_t n;                /* block rows */
  int64_t *ptr;             /* n + 1 */
  int32_t *idx;             /* ascending in a row, the diagonal block included */
  int64_t *diagonal;        /* n: places of the diagonal blocks */
  int32_t *row;             /* n: 0, 1, ..., as a sweep wants it */
  trs_bilu0_sweep sweep[2]; /* of L and of U */
  /* D; its inverse, or if pivot[0] of the row lacks
   * TRS_BLOCK_INVERTED its factors, with inverses of U's diagonal; and the row of D that became row
   * r of these factors. */
  double *own, *inverse;
  uint8_t *pivot;
} trs_bilu0;

/* Takes the pattern of A's blocks, or that of other factors.  The caller frees *w. */
trs_status trs_bilu0_create(trs_bilu0 **w, const trs_bilu0 *head, const trs_block_pattern *pattern);
trs_status trs_bilu0_create_like(trs_bilu0 **w, const trs_bilu0 *origin);
trs_bilu0 *trs_bilu0_retain(const trs_bilu0 *w);
void trs_bilu0_free(trs_bilu0 *w);          /* releases a reference; NULL is allowed */
int64_t trs_bilu0_held(const trs_bilu0 *w); /* bytes, without those of origin */

/* Why a row has no factors.  A diagonal block that is not finite; a column of it without a pivot; a
 * pivot without a reciprocal; scalar row `column` of the block row with a value that is not finite;
 * or an error of the values that were read. */
typedef enum trs_bilu0_fault {
  TRS_BILU0_FINE,
  TRS_BILU0_NOT_FINITE,
  TRS_BILU0_SINGULAR,
  TRS_BILU0_SMALL,
  TRS_BILU0_OVERFLOW,
  TRS_BILU0_READ
} trs_bilu0_fault;

typedef struct trs_bilu0_outcome {
  trs_bilu0_fault fault;
  int64_t row; /* the first one with a fault */
  int column;
  double pivot;
  trs_failure read;
} trs_bilu0_outcome;

/* The values of A that are factored: row i of the factors is row own[i] of the source; NULL: row i.
 * from: NULL, or n x block: row r of a block of the factors is row from[r] of that of A. */
typedef struct trs_bilu0_input {
  const trs_block_source *source;
  const int32_t *own;
  const uint8_t *from;
} trs_bilu0_input;

/* Reads and eliminates all rows.  Fails for lack of memory or by cancellation alone. */
trs_status trs_bilu0_run(trs_bilu0 *w, const trs_bilu0_input *input, trs_team *team,
                         trs_bilu0_outcome *outcome);

/* A team for factors with so many entries; NULL: one thread is enough. */
trs_status trs_bilu0_start_team(trs_team **team, int64_t entries);

/* L or U, whose arrays are not written yet. */
trs_status trs_bilu0_matrix(trs_matrix **T, trs_bilu0 *w, trs_scalar scalar, bool lower);
/* The factors that such a matrix was made of, or NULL. */
const trs_bilu0 *trs_bilu0_of(const trs_matrix *T);

/* A row in work. */
typedef struct trs_bilu0_row {
  int32_t *slot;      /* n: of the row's columns their numbers among its blocks, else -1 */
  const double *from; /* its blocks of A */
  bool by_rows;       /* the order of their elements, or by columns */
  double *values;     /* workspace for its blocks, with up to block + 3 numbers a column */
  double *left;       /* and for those of L */
  double *read;       /* workspace for blocks of A that lie elsewhere in another form */
} trs_bilu0_row;

typedef struct trs_bilu0_kernels {
  /* Row i, after the rows of its blocks below the diagonal. */
  trs_bilu0_fault (*eliminate)(const trs_bilu0 *w, int64_t i, const trs_bilu0_row *row,
                               trs_bilu0_outcome *outcome);
} trs_bilu0_kernels;

extern const trs_bilu0_kernels trs_bilu0_kernels_baseline, trs_bilu0_kernels_avx2,
    trs_bilu0_kernels_avx512;

#endif
