/* report.h - one simulated solve as a line of JSON, the same from SMPI and from the model. */
#ifndef TRS_SIMULATE_REPORT_H
#define TRS_SIMULATE_REPORT_H

#include <stdio.h>

#include "solve/grid3d/grid3d.h"

/* For one rank; pairs are for L and U. */
#define VALUE(name, key) TRS_FIGURE_##name,
enum {
#include "ranks.def"
  TRS_FIGURES
};
#undef VALUE

typedef struct trs_figures {
  double value[TRS_FIGURES];
} trs_figures;

typedef struct trs_simulated {
  const char *kind, *matrix;
  char method[32];
  trs_grid_algorithm algorithm;
  trs_grid_shape shape;
  trs_tree_shape trees;
  bool scattered; /* no homes */
  int64_t n, supernodes, nrhs;
  double stored, flops; /* numbers in L and U, and operations, on one rank */
  double host_s;        /* duration of the simulation */
  double leaf[3];       /* numbers in a grid's leaf: minimum, mean, maximum */
} trs_simulated;

/* METHOD:PXxPYxPZ:NRHS[:flat][:scattered] */
trs_status trs_report_parse(trs_simulated *run, const char *text);
void trs_report_leaves(trs_simulated *run, const trs_grid_layout *layout);

/* figures: of all ranks. */
void trs_report(FILE *stream, const trs_simulated *run, const trs_figures *figures);

#endif
