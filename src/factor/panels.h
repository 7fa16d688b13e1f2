/* panels.h - a triangle as supernodes: runs of consecutive columns or rows kept as dense blocks.
 *
 * The unknowns are cut into supernodes.  Each has a diagonal block, a dense triangle, and a panel
 * of what its columns (or rows) have outside that block, zeros filled in:
 *   - by columns, as L23 and SuperLU_DIST keep L: the rows in which any of its columns has an
 * entry;
 *   - by rows, as they keep U: the columns in which any of its rows has one.  The columns of such a
 *     U seldom have rows in common, but its rows are the columns of an L.
 * A panel falls into blocks T(I,K), of rows of supernode I and columns of supernode K.
 *
 * Everything is counted in the order of the sweep: place k is row and column k of op(T) in a
 * forward sweep and n - 1 - k in a backward one.  In places every triangle is lower, and supernode
 * K adds to later supernodes only.
 *
 * The pattern (trs_panels_create) and the values (trs_panels_fill, trs_panels_invert) are apart, so
 * that new values need no new analysis.  C and CUDA C++. */
#ifndef TRS_FACTOR_PANELS_H
#define TRS_FACTOR_PANELS_H

#include <stdbool.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* op(T) as it is stored; the diagonal may be stored or not. */
typedef struct trs_panels_source {
  int64_t n;
  const int64_t *ptr; /* n + 1 */
  const int32_t *idx; /* ascending within a vector */
  bool rows;          /* stored vectors are rows of op(T), else its columns */
  bool lower;         /* op(T) is lower triangular: a forward sweep */
} trs_panels_source;

/* One supernode.  Its values, all by columns: the diagonal block, width x width, then the panel:
 * length rows x width columns, or width rows x length columns. */
typedef struct trs_panel {
  int64_t values; /* where they begin */
  int64_t list;   /* where the list of its panel's rows (columns) begins */
  int64_t lines;  /* where the rows it adds to begin: its list, or those of its blocks */
  int32_t first;  /* it has the places first .. first + width - 1 */
  int32_t width, length;
  int32_t height;  /* rows it adds to */
  int32_t sources; /* supernodes that add to its rows: L23's fmod before the solve */
  int32_t reserved;
} trs_panel;

/* Block T(I,K) of a panel by rows, by columns: width(I) x count. */
typedef struct trs_panel_block {
  int64_t values;       /* where it begins */
  int64_t list;         /* where its columns begin in the list */
  int64_t lines;        /* the place of its first row among the rows that K adds to */
  int32_t count;        /* columns */
  int32_t target;       /* I */
  int32_t first, width; /* of I */
} trs_panel_block;

typedef struct trs_panels {
  int64_t n, count;
  bool backward; /* place k is n - 1 - k */
  bool by_rows;
  trs_panel *panel; /* count, in the order of the sweep */
  int32_t *owner;   /* n: the supernode of each place */
  int64_t nlist;    /* of all panels together */
  int32_t *list;    /* nlist: places, ascending within a panel */
  int64_t nvalues;  /* of all diagonal blocks (squares) and panels */
  int64_t entries;  /* of the triangle, a full diagonal counted */
  int64_t zeros;    /* kept beside them: in panels and in the triangles on the diagonal */
  int32_t widest;
  int32_t levels; /* of the supernodes */

  /* The rows each supernode adds to, those of the next supernode first.  By columns they are its
   * list, and line[r] is I where row r is the last of a block T(I,K), else -1; by rows, line[r] is
   * the block that row r belongs to. */
  int64_t nlines;
  int32_t *line;
  int64_t nblocks;
  trs_panel_block *block; /* nblocks, by K, then I; NULL by columns */
} trs_panels;

/* Which supernodes to make.  With a partition of the columns of op(T) (nparts + 1 first columns,
 * ascending) those; else they are found: first runs of columns (rows) with nested patterns, as
 * elimination makes them, then neighbours joined while the zeros this brings stay few. */
typedef struct trs_panels_options {
  bool by_rows;
  const int64_t *partition;
  int64_t nparts;
  int64_t width; /* most columns in a supernode that is found */
  int64_t relax; /* percent of zeros that joining may bring a supernode to; 0: none */
  int64_t few;   /* zeros a column that are always let in, for short columns */
} trs_panels_options;

/* O(n + nnz + nvalues), the last only as far as zeros are let in. */
TRS_API trs_status trs_panels_create(trs_panels *panels, const trs_panels_source *T,
                                     const trs_panels_options *options);
TRS_API void trs_panels_destroy(trs_panels *panels);

/* values[nvalues] from val, the values that belong to T's pattern.  unit: the diagonal is one
 * whatever is stored; conjugate: values enter so.  TRS_ERROR_ARGUMENT where T has an entry for
 * which the panels have no place. */
TRS_API trs_status trs_panels_fill(const trs_panels *panels, void *values, trs_scalar scalar,
                                   const trs_panels_source *T, const void *val, bool unit,
                                   bool conjugate);

/* Every diagonal block becomes its inverse, so that a solve multiplies by it (DiagInv of
 * SuperLU_DIST, L23 section 2).  O(sum of width^3).
 *   What it costs: substitution makes a componentwise backward error of some width roundings
 * whatever the block; the product with the inverse multiplies that by the condition of the block,
 * | |D| |D^-1| |.  Blocks of a stable factorisation are well conditioned; blocks of an arbitrary
 * triangle need not be. */
TRS_API void trs_panels_invert(const trs_panels *panels, void *values, trs_scalar scalar);

#ifdef __cplusplus
}
#endif
#endif
