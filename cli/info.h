/* info.h - the facts that trireme info collects. */
#ifndef TRIREME_CLI_INFO_H
#define TRIREME_CLI_INFO_H

#include "files.h"
#include "symmetry.h"
#include "trireme.h"

/* One triangle and its levels. */
typedef struct info_sweep {
  bool present;
  trs_matrix *taken; /* the triangle, if it was cut from a general matrix */
  trs_plan *plan;
  trs_plan_info info;
  int64_t *rows, levels;
  double bound;
} info_sweep;

typedef struct info_facts {
  input in;
  trs_matrix_info matrix;
  trs_factors_info factors;
  symmetry symmetry;
  info_sweep sweep[2]; /* lower, upper */
} info_facts;

const char *info_kind(const info_facts *f);

void info_print(const info_facts *f);
void info_report(const info_facts *f);

#endif
