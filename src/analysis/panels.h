/* panels.h - a triangle as supernodes: runs of consecutive columns or rows stored as dense blocks.
 *
 * The unknowns are partitioned into supernodes.  Each has a diagonal block, a dense triangle, and a
 * panel with the entries of its columns (or rows) outside that block, with zeros filled in:
 *   - by columns, as L23 and SuperLU_DIST store L: the rows in which any of its columns has an
 * entry;
 *   - by rows, as they store U: the columns in which any of its rows has an entry.  Columns of such
 *     a U seldom have common rows, but its rows are the columns of an L.
 * A panel consists of blocks T(I,K), with rows of supernode I and columns of supernode K.
 *
 * All numbers follow the order of the sweep: place k is row and column k of op(T) in a forward
 * sweep and n - 1 - k in a backward one.  In places every triangle is lower, and supernode K adds
 * to later supernodes only.
 *
 * The pattern (trs_panels_create) and the values (trs_panels_fill, trs_panels_invert) are separate,
 * so that new values need no new analysis.  C and CUDA C++. */
#ifndef TRS_ANALYSIS_PANELS_H
#define TRS_ANALYSIS_PANELS_H

#include <stdbool.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* op(T) as stored; the diagonal may be stored or absent. */
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
  int64_t values; /* start of its values */
  int64_t list;   /* start of the list of its panel's rows (columns) */
  int64_t lines;  /* start of the rows that it adds to: its list, or the rows of its blocks */
  int32_t first;  /* its places are first .. first + width - 1 */
  int32_t width, length;
  int32_t height;  /* number of rows that it adds to */
  int32_t sources; /* number of supernodes that add to its rows: L23's fmod before the solve */
  int32_t reserved;
} trs_panel;

/* Block T(I,K) of a panel by rows, stored by columns: width(I) x count. */
typedef struct trs_panel_block {
  int64_t values;       /* start of its values */
  int64_t list;         /* start of its columns in the list */
  int64_t lines;        /* the position of its first row among the rows that K adds to */
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
  int64_t nlist;    /* of all panels */
  int32_t *list;    /* nlist: places, ascending within a panel */
  int64_t nvalues;  /* of all diagonal blocks (squares) and panels */
  int64_t entries;  /* of the triangle, with a full diagonal */
  int64_t zeros;    /* stored in addition: in panels and in the diagonal triangles */
  int32_t widest;
  int32_t levels; /* of the supernodes */

  /* The rows that each supernode adds to, those of the next supernode first.  By columns they are
   * its list, and line[r] is I if row r is the last of a block T(I,K), else -1.  By rows, line[r]
   * is the block that contains row r. */
  int64_t nlines;
  int32_t *line;
  int64_t nblocks;
  trs_panel_block *block; /* nblocks, by K, then I; NULL by columns */
} trs_panels;

/* The choice of supernodes.  With a partition of the columns of op(T) (nparts + 1 first columns,
 * ascending) these are used.  Otherwise they are found: first runs of columns (rows) with nested
 * patterns, as elimination makes them; then neighbours are joined while the added zeros are few. */
typedef struct trs_panels_options {
  bool by_rows;
  const int64_t *partition;
  int64_t nparts;
  int64_t width; /* most columns of a supernode that is found */
  int64_t relax; /* percent of zeros that joining may lead to; 0: none */
  int64_t few;   /* zeros per column that are always allowed, for short columns */
} trs_panels_options;

/* O(n + nnz + nvalues); nvalues only counts if zeros are allowed. */
trs_status trs_panels_create(trs_panels *panels, const trs_panels_source *T,
                             const trs_panels_options *options);
void trs_panels_destroy(trs_panels *panels);

/* values[nvalues] from val, the values of T's pattern.  unit: the diagonal is one, whatever is
 * stored; conjugate: values are conjugated.  TRS_ERROR_ARGUMENT: T has an entry without a place in
 * the panels. */
trs_status trs_panels_fill(const trs_panels *panels, void *values, trs_scalar scalar,
                           const trs_panels_source *T, const void *val, bool unit, bool conjugate);

/* Replaces every diagonal block by its inverse, so that a solve multiplies by it (DiagInv of
 * SuperLU_DIST, L23 section 2).  *refused: the number of inverses that lose too many digits
 * (growth.h); cuts[k] (n, or NULL) becomes 1 where one of the smaller supernodes that serve better
 * begins at place k.  O(sum of width^3). */
trs_status trs_panels_invert(const trs_panels *panels, void *values, trs_scalar scalar,
                             uint8_t *cuts, int64_t *refused);

/* The panels of the same system, cut there. */
trs_status trs_panels_cut(trs_panels *cut, const trs_panels *panels, const trs_panels_source *T,
                          const uint8_t *cuts);

#ifdef __cplusplus
}
#endif
#endif
