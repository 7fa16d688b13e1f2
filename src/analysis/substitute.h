/* substitute.h - fewer levels by substitution.  L = D M: D has the entries that are substituted,
 * and the diagonal; M = D^-1 L has a unit diagonal and the other entries, and some fill.  D y = b,
 * then M x = y.  Each has a fraction of L's levels.
 *
 * The levels of L are cut in bands, runs of levels.  A row substitutes entries of its own band:
 * it puts the other row's formula in place of its x.  A row whose entries of the band are all
 * substituted has none left there, so the band becomes one level of M.  D has no entry between two
 * bands, so it has no more levels than the longest band.
 *
 * A row keeps its entries if it would have too many entries in M, or lose too many digits
 * (TRS_SUBSTITUTION_GROWTH).  Such rows cut their band in layers, each a level of M.  The rows that
 * depend on them substitute the entries of the last layer, and keep those of the layers before.
 *
 * The product of inverses with few levels is the partitioned inverse (Alvarado and Schreiber 1993,
 * SIAM J. Sci. Comput. 14, 446-460).  C and CUDA C++. */
#ifndef TRS_ANALYSIS_SUBSTITUTE_H
#define TRS_ANALYSIS_SUBSTITUTE_H

#include "analysis/slices.h"
#include "analysis/triangle.h"

/* Entries that a row of M substitutes, at most: FEW where no row may have more than FEW entries. */
#define TRS_SUBSTITUTED_ENTRIES 128
#define TRS_SUBSTITUTED_FEW 40
#define TRS_SUBSTITUTION_DEPTH 64 /* levels of a band, at most */

/* The growth of a row, the factor by which its backward error exceeds that of substitution in L, is
 * at most this, and a few roundings.  Row i of the computed solution satisfies its equation but for
 * some roundings of (|D| |M| |x|)_i, where L leaves some of (|L| |x|)_i.  The growth is the
 * quotient of the two for a solution of sizes x = 1 / (largest entry of each column of L, after
 * division of each row by its largest entry), as in growth.h.  (Higham and Pothen 1994, SIAM J.
 * Sci. Comput. 15, 139-148, bound the error of partitioned inverses by such products.)  The sizes
 * of M's rows alone would not do: a row with a small diagonal entry has a large row of M and no
 * large error.
 *
 * A product that underflows, or that is not finite, counts as an infinite growth. */
#define TRS_SUBSTITUTION_GROWTH 16

/* What the rows of a level of L may do. */
typedef struct trs_band_level {
  int32_t begin;    /* first level of its band */
  int32_t most;     /* entries of a row of M that substitutes, at most */
  int32_t position; /* of its first row in the order of levels */
  int32_t turn;     /* of its first row in the order of steps */
} trs_band_level;

/* The rows of a step are those at the same distance from the first level of their band.  No row of
 * a step needs another one, so a step is one sweep over rows in any order. */
typedef struct trs_bands {
  int32_t nlevels, nsteps;
  int32_t most; /* of all levels */
  int64_t n;
  int64_t most_entries;  /* of M, by these limits */
  trs_band_level *level; /* nlevels */
  int64_t *step;         /* nsteps + 1: first row of each in the order of steps */
} trs_bands;

#ifdef __cplusplus
extern "C" {
#endif

/* Bands of `depth` levels, from level[nlevels + 1] of slices of single rows.  Narrow levels may
 * have longer rows in M than wide ones: the entries that substitution adds to a level take at most
 * half of the time that a dependency takes. */
trs_status trs_bands_create(trs_bands *bands, const trs_slice_level *level, int32_t nlevels,
                            int32_t depth);
void trs_bands_destroy(trs_bands *bands);
int64_t trs_band_rows(const trs_bands *bands, int32_t level); /* rows of a level */

/* True if most levels are so wide that this limits the rows of M. */
bool trs_bands_are_wide(const trs_slice_level *level, int32_t nlevels);

/* The depth for a system of so many levels, by the cost model: D and M both have few levels. */
int32_t trs_substitution_depth(int32_t nlevels);

/* D and M on the host, their arrays from trs_alloc. */
typedef struct trs_substitution {
  trs_system D, M;
  int64_t guarded; /* rows that keep their entries because of their growth */
} trs_substitution;

/* The plain version of solve/cuda/engine/substitute.cu.  S is stored by rows, in host memory.
 * O(nnz of M, times the entries of a row that are substituted). */
trs_status trs_substitute(trs_substitution *result, const trs_system *S, const trs_bands *bands);
void trs_substitution_destroy(trs_substitution *result);

#ifdef __cplusplus
}
#endif
#endif
