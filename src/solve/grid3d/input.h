/* input.h - the sources of a distributed solve's factors: a layout, and entries for a filler.
 *   input_factors.c   factors that every rank has whole
 *   input_file.c      a factor file, of which every rank reads a part of the entries
 *   input_blocks.c    blocks distributed over ranks by SuperLU_DIST
 *   input_rows.c      rows that each rank brings
 * input_lists.c makes the layout where rank 0 alone has the pattern. */
#ifndef TRS_SOLVE_GRID3D_INPUT_H
#define TRS_SOLVE_GRID3D_INPUT_H

#include "comm/mpi_structs.h"
#include "comm/ranks.h"
#include "solve/grid3d/fill.h"

/* Origin of the rows of L and U: L U = P_r D_r A D_c P_c^T, arrays of n or NULL. */
typedef struct trs_grid_maps {
  const int32_t *row_perm, *col_perm;
  const double *row_scale, *col_scale;
} trs_grid_maps;

typedef struct trs_delivery trs_delivery;
/* Passes every entry of this rank to trs_deliver; runs twice, with the same entries in the same
 * order. */
typedef void (*trs_producer)(const void *state, trs_delivery *d);

typedef struct trs_grid_input trs_grid_input;
struct trs_grid_input {
  trs_scalar scalar;
  int64_t n;
  bool unit[2]; /* L, U: ones on the diagonal */
  int64_t
      leaves; /* leaves of the separator tree, or the number of supernodes; for choosing a shape */
  trs_grid_maps maps;      /* valid until close */
  bool first_maps;         /* rank 0's maps count; else every rank has all of them */
  bool distributed;        /* b and x lie at first on all ranks; else on rank 0 */
  int64_t first_row, rows; /* if distributed: this rank's rows of them */
  /* Solve with A^T, or A^H: L' = U^T, U' = L^T. */
  bool transposed, conjugated;
  /* Collective, but the status may differ between ranks. */
  trs_status (*layout)(const trs_grid_input *in, trs_ranks *ranks, trs_grid_layout *layout, int pz,
                       const trs_layout_options *options);
  /* Passes this rank's entries to trs_deliver.  NULL: state is trs_factors, which every rank has
   * whole. */
  trs_producer produce;
  void (*close)(trs_grid_input *in); /* or NULL */
  const void *state;
};

/* Transposes the input: L, U, permutations and scalings then describe A^T or A^H. */
void trs_input_transpose(trs_grid_input *in, bool conjugate);

/* The kinds of sources. */
typedef enum trs_input_kind {
  TRS_INPUT_FACTORS, /* trs_factors * */
  TRS_INPUT_FILE,    /* the path of a file */
  TRS_INPUT_BLOCKS,  /* trs_mpi_blocks * */
  TRS_INPUT_ROWS     /* trs_mpi_rows * */
} trs_input_kind;

/* Opens a source, by one of the functions below, and transposes it as trans says.  Collective; all
 * ranks have the same status.  The caller must close the input, also after a failure. */
TRS_API trs_status trs_input_open(trs_grid_input *in, trs_input_kind kind, const void *source,
                                  trs_scalar scalar, trs_trans trans, trs_ranks *ranks);

/* The caller keeps F until the solver is created. */
trs_status trs_input_factors(trs_grid_input *in, const trs_factors *F);

/* Collective; the caller must close the input, also after a failure. */
trs_status trs_input_file(trs_grid_input *in, const char *path, trs_scalar scalar,
                          trs_ranks *ranks);
trs_status trs_input_blocks(trs_grid_input *in, const trs_mpi_blocks *blocks, trs_ranks *ranks);
trs_status trs_input_rows(trs_grid_input *in, const trs_mpi_rows *rows, trs_ranks *ranks);

/* Sets everything except the functions for entries; does not read F's matrices. */
void trs_input_describe(trs_grid_input *in, const trs_factors *F);

/* The patterns of the factors, transposed if the input is; F may be NULL. */
trs_grid_pattern trs_input_pattern(const trs_grid_input *in, const trs_factors *F);

/* Transposes a pattern if the input is transposed. */
void trs_input_turn(const trs_grid_input *in, trs_grid_pattern *pattern);

/* A layout of the pattern of rank 0.  Other ranks pass n and the tree.  Collective, but the status
 * may differ between ranks. */
trs_status trs_input_share_layout(trs_ranks *ranks, trs_grid_layout *layout,
                                  const trs_grid_pattern *pattern, int pz,
                                  const trs_layout_options *options);

/* Collective: adds the entries of all ranks. */
trs_status trs_input_fill(const trs_grid_input *in, trs_filler *f, trs_ranks *ranks);

/* Adds entries (i, j) of L or U, given for A, to the filler's panels; all of them are in the
 * pattern. */
trs_status trs_input_put(const trs_grid_input *in, trs_filler *f, bool upper, int64_t count,
                         const int32_t *i, const int32_t *j, const void *values);

/* ---- deliver.c: entries of L and U to the ranks that own their blocks, replicas included ---- */

/* Entry (i, j) of L, or of U if upper. */
void trs_deliver(trs_delivery *d, bool upper, int64_t i, int64_t j, const void *value);

/* Collective.  Counts, packs and sends entries, in rounds of one message per rank; 8 bytes and a
 * number per entry. */
trs_status trs_deliver_all(const trs_grid_input *in, trs_filler *f, trs_ranks *ranks);

#endif
