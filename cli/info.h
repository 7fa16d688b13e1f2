/* info.h - the facts that trireme info collects. */
#ifndef TRIREME_CLI_INFO_H
#define TRIREME_CLI_INFO_H

#include "files.h"
#include "symmetry.h"
#include "trireme.h"

/* Columns by their number of entries: count[0] have none, count[k] have 2^(k-1) to 2^k - 1. */
enum { INFO_LENGTHS = 33 };
typedef struct info_columns {
  int64_t shortest, longest, count[INFO_LENGTHS];
  int kinds; /* of count, up to the last that is not 0 */
} info_columns;

/* One triangle and its levels. */
typedef struct info_sweep {
  bool present;
  trs_matrix *taken; /* the triangle, if it was cut from a general matrix */
  trs_plan *plan;
  trs_plan_info info;
  int64_t *rows, levels;
  info_columns columns;
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
