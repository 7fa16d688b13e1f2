/* substitute.h - fewer levels by substitution.  L = D M: D has the diagonal and the entries that
 * are substituted; M = D^-1 L has a unit diagonal and the other entries, and some fill.  D y = b,
 * then M x = y.  Each has a fraction of L's levels.
 *
 * The levels of L are cut in bands, runs of levels.  A row substitutes entries of its own band:
 * it puts the other row's formula in place of its x.  A row whose entries of the band are all
 * substituted has none left there, so the band becomes one level of x.  D has no entry between two
 * bands, so y of a band has no more levels than the band.
 *
 * Both are solved together, as one joint system.  The x of a band wait for the band before it; its
 * y wait for no x, so they can be known by then, whatever their number of levels up to the number
 * of bands before.  Therefore bands grow: the first has one level, the next two, up to the depth.
 * L of m (m + 1) / 2 levels becomes a joint system of m.
 *
 * A row keeps its entries if it would have too many entries in M, or lose too many digits
 * (TRS_SUBSTITUTION_GROWTH).  Such rows cut their band in layers, each a level of x.  The rows that
 * depend on them substitute the entries of the last layer, and keep those of the layers before.
 *
 * The product of inverses with few levels is the partitioned inverse (Alvarado and Schreiber 1993,
 * SIAM J. Sci. Comput. 14, 446-460).  C and CUDA C++. */
#ifndef TRS_ANALYSIS_SUBSTITUTE_H
#define TRS_ANALYSIS_SUBSTITUTE_H

#include "analysis/slices.h"
#include "analysis/triangle.h"
#include "base/machine_model.h"

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
#define TRS_SUBSTITUTION_GROWTH 8

/* What the rows of a level of L may do. */
typedef struct trs_band_level {
  int32_t band, begin; /* its band, and the first level of that */
  int32_t ahead;       /* levels by which its y are ahead of its x */
  int32_t most;        /* entries of a row of M that substitutes, at most */
  int32_t position;    /* of its first row in the order of levels */
  int32_t turn;        /* of its first row in the order of steps */
} trs_band_level;

/* The rows of a step are those at the same distance from the first level of their band.  No row of
 * a step needs another one, so a step is one sweep over rows in any order. */
typedef struct trs_bands {
  int32_t nlevels, nbands, nsteps;
  int32_t most; /* of all levels */
  int64_t n;
  int64_t most_entries;  /* of M, by these limits */
  trs_band_level *level; /* nlevels */
  int64_t *step;         /* nsteps + 1: first row of each in the order of steps */
} trs_bands;

#ifdef __cplusplus
extern "C" {
#endif

/* Bands of up to `depth` levels, from level[nlevels + 1] of slices of single rows.  Narrow levels
 * may have longer rows in M than wide ones: the entries that substitution adds to a level take at
 * most half of the time that a dependency takes. */
trs_status trs_bands_create(trs_bands *bands, const trs_slice_level *level, int32_t nlevels,
                            int32_t depth, const trs_gpu_costs *gpu);
void trs_bands_destroy(trs_bands *bands);
int64_t trs_band_rows(const trs_bands *bands, int32_t level); /* rows of a level */

/* True if most levels are so wide that this limits the rows of M. */
bool trs_bands_are_wide(const trs_slice_level *level, int32_t nlevels, const trs_gpu_costs *gpu);

/* The number of bands of up to `depth` levels. */
int32_t trs_band_count(int32_t nlevels, int32_t depth);

/* The depth for a system of so many levels, by the cost model. */
int32_t trs_substitution_depth(int32_t nlevels);

/* The joint system: lower, with rows in the order of the sweep.  First the y that some row
 * substitutes, in the order of L's rows; then all x.  Its rows of M are multiplied by the row's
 * diagonal entry d, so that rows without substitution are those of L:
 *   y_i:                d y_i + sum D_ij y_j = b_i
 *   x_i if y_i is there: d x_i - d y_i + sum d M_ij x_j = 0
 *   x_i otherwise:       d x_i + sum D_ij y_j + sum d M_ij x_j = b_i
 * The latter two never write over a b that is still to be read if b and x are the same array. */
typedef struct trs_joint {
  trs_system system;
  int32_t ny;      /* rows of y */
  int32_t *of;     /* row in b and x of each row of the joint system, as trs_slices.row */
  uint32_t *known; /* level of each, plus one: that of y is as late as x allows, so that the work is
                      spread over all levels */
  int32_t nlevels;
  int64_t guarded; /* rows of L that keep their entries because of their growth */
} trs_joint;

/* The joint system on the host, its arrays from trs_alloc: the plain version of
 * solve/cuda/engine/substitute.cu.  S is stored by rows, in host memory, of at most
 * TRS_MOST_JOINT_ROWS rows.  O(nnz of M, times the entries of a row that are substituted). */
trs_status trs_substitute(trs_joint *result, const trs_system *S, const trs_bands *bands);
void trs_joint_destroy(trs_joint *result);

/* Puts the y of each row just before its x, so that each part of the sweep has both.  Entries of a
 * row stay as they are: y first.  By the team (NULL: one thread). */
struct trs_team;
trs_status trs_joint_pair(trs_joint *joint, struct trs_team *team);

#ifdef __cplusplus
}
#endif
#endif
