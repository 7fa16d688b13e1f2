/* system.h - the triangular systems that an entry of a suite names. */
#ifndef TRIREME_BENCH_SYSTEM_H
#define TRIREME_BENCH_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

#include "row.h"
#include "trireme.h"

typedef struct bench_source {
  trs_matrix *A;
  trs_factors *F;
  bool drawn; /* a pattern of factors whose values are random */
} bench_source;

typedef struct bench_system {
  const char *name; /* the entry */
  trs_uplo uplo;
  trs_diag diag;
  trs_matrix *cut;      /* what was made for this system, or NULL */
  const trs_matrix *T;  /* by rows, double */
  trs_matrix_info info; /* of T */
  int64_t nrhs;
  bool drawn;
} bench_system;

/* Makes or reads what an entry names.  A file that is not there, or a feature that this build does
 * not have, gives *skipped, its reason, and success. */
trs_status bench_source_open(bench_source *source, const char *entry, char *skipped, size_t size);
void bench_source_close(bench_source *source);
trs_status bench_system_take(bench_system *system, const bench_source *source, trs_uplo uplo);
void bench_system_free(bench_system *system);

/* Levels and bytes of the system, from a plan on the host; T: its matrix, of any type of values.
 * Returns -1, or how to leave. */
int bench_system_survey(const bench_system *system, const trs_matrix *T, trs_plan_info *info);

/* What a row says of its system. */
void bench_describe(bench_row *row, const bench_system *system, const trs_plan_info *info,
                    trs_scalar scalar, int64_t nrhs);

#endif
