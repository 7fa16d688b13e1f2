/* report.h - one simulated solve as a line of JSON, the same from SMPI and from the model. */
#ifndef TRS_SIMULATE_REPORT_H
#define TRS_SIMULATE_REPORT_H

#include <stdio.h>

#include "solve/grid3d/grid3d.h"

/* Of one rank. */
enum {
  TRS_FIGURE_TOTAL,
  TRS_FIGURE_BYTES, /* of its blocks */
  /* Pairs: L (between grids: before U), U. */
  TRS_FIGURE_INTER,
  TRS_FIGURE_INTER_MESSAGES = TRS_FIGURE_INTER + 2,
  TRS_FIGURE_INTER_BYTES = TRS_FIGURE_INTER_MESSAGES + 2,
  TRS_FIGURE_INTRA = TRS_FIGURE_INTER_BYTES + 2,
  TRS_FIGURE_INTRA_MESSAGES = TRS_FIGURE_INTRA + 2,
  TRS_FIGURE_INTRA_BYTES = TRS_FIGURE_INTRA_MESSAGES + 2,
  TRS_FIGURE_FLOP = TRS_FIGURE_INTRA_BYTES + 2,
  TRS_FIGURE_FLOPS = TRS_FIGURE_FLOP + 2,
  TRS_FIGURES = TRS_FIGURE_FLOPS + 2
};

typedef struct trs_figures {
  double value[TRS_FIGURES];
} trs_figures;

typedef struct trs_simulated {
  const char *kind, *matrix;
  char method[16];
  trs_grid_algorithm algorithm;
  trs_grid_shape shape;
  trs_tree_shape trees;
  bool scattered; /* no homes */
  int64_t n, supernodes, nrhs;
  double stored, flops; /* numbers in L and U, and operations, on one rank */
  double host_s;        /* that the simulation took */
  double leaf[3];       /* numbers in a grid's leaf: least, mean, most */
} trs_simulated;

/* METHOD:PXxPYxPZ:NRHS[:flat][:scattered] */
trs_status trs_report_parse(trs_simulated *run, const char *text);
void trs_report_leaves(trs_simulated *run, const trs_grid_layout *layout);

/* figures: of all ranks. */
void trs_report(FILE *stream, const trs_simulated *run, const trs_figures *figures);

#endif
