/* input.h - where a distributed solve gets its factors from: a layout, and entries for a filler.
 *   input_factors.c   factors that every rank has whole
 *   input_file.c      a factor file, of which every rank reads a part of the entries
 *   input_blocks.c    blocks spread over ranks by SuperLU_DIST */
#ifndef TRS_SOLVE_GRID3D_INPUT_H
#define TRS_SOLVE_GRID3D_INPUT_H

#include "comm/ranks.h"
#include "solve/grid3d/fill.h"
#include "trireme_mpi.h"

typedef struct trs_grid_input trs_grid_input;
struct trs_grid_input {
  trs_scalar scalar;
  int64_t n;
  bool unit[2]; /* L, U: ones on the diagonal */
  int64_t
      leaves; /* of the separator tree, or as many as there are supernodes; for choosing a shape */
  /* As in trs_factors; kept until close. */
  const int32_t *row_perm, *col_perm;
  const double *row_scale, *col_scale;
  /* Solve with A^T, or A^H: L' = U^T, U' = L^T. */
  bool transposed, conjugated;
  /* Collective: a failure may still be one rank's alone. */
  trs_status (*layout)(const trs_grid_input *in, trs_ranks *ranks, trs_grid_layout *layout, int pz,
                       const trs_layout_options *options);
  /* Collective: puts in all entries of this rank. */
  trs_status (*fill)(const trs_grid_input *in, trs_filler *f, trs_ranks *ranks);
  void (*close)(trs_grid_input *in); /* or NULL */
  const void *state;
};

/* Turns the input round: what stands in it for A is for A^T or A^H from now on. */
void trs_input_transpose(trs_grid_input *in, bool conjugate);

/* F is kept until the solver is made. */
trs_status trs_input_factors(trs_grid_input *in, const trs_factors *F);

/* Collective; whatever comes of it, close it. */
trs_status trs_input_file(trs_grid_input *in, const char *path, trs_scalar scalar,
                          trs_ranks *ranks);
trs_status trs_input_blocks(trs_grid_input *in, const trs_mpi_blocks *blocks, trs_ranks *ranks);

/* All but how to get at entries: F's matrices are not looked at. */
void trs_input_describe(trs_grid_input *in, const trs_factors *F);

/* Factors' patterns, turned round as the input is; F may be NULL. */
trs_grid_pattern trs_input_pattern(const trs_grid_input *in, const trs_factors *F);

/* Entries (i, j) of L or U, given for A, into the filler's panels; all of them belong to the
 * pattern. */
trs_status trs_input_put(const trs_grid_input *in, trs_filler *f, int which, int64_t count,
                         const int32_t *i, const int32_t *j, const void *values);

#endif
