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
  bool drawn; /* a pattern of factors with random values */
} bench_source;

typedef struct bench_system {
  const char *name; /* the entry */
  trs_uplo uplo;
  trs_diag diag;
  trs_matrix *cut;      /* the matrix created for this system, or NULL */
  const trs_matrix *T;  /* by rows, double */
  trs_matrix_info info; /* of T */
  int64_t nrhs;
  bool by_rows; /* CPU: right-hand sides are row-major */
  bool drawn;
} bench_system;

/* Generates or reads the matrices of an entry.  If a file is missing, or this build lacks a
 * feature, sets *skipped to the reason and succeeds. */
trs_status bench_source_open(bench_source *source, const char *entry, char *skipped, size_t size);
void bench_source_close(bench_source *source);
trs_status bench_system_take(bench_system *system, const bench_source *source, trs_uplo uplo);
void bench_system_free(bench_system *system);

/* Levels and bytes of the system, from a plan on the host; T: its matrix, of any type of values.
 * Returns -1, or the exit code. */
int bench_system_survey(const bench_system *system, const trs_matrix *T, trs_plan_info *info);

/* A row's members that describe its system. */
void bench_describe(bench_row *row, const bench_system *system, const trs_plan_info *info,
                    trs_scalar scalar, int64_t nrhs);

#endif
