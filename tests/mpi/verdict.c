/* verdict.c - verdicts of all ranks. */
#include "mpi/verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rank, size, failures;
const char *said_of;
trs_context *place;
trs_trans op;

void begin(int *argc, char ***argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
}

void say(const char *name, int good) {
  int all;
  MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  failures += !all;
  if (rank == 0)
    printf("%s %s%s%s (%d ranks)\n", all ? "ok" : "not ok", name, said_of ? ", " : "",
           said_of ? said_of : "", size);
}

void must(trs_status status, const char *what) {
  if (!status) return;
  fprintf(stderr, "rank %d: %s: %s\n", rank, what, trs_last_error()->message);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int makes_factors(void) {
  trs_matrix *A;
  trs_factors *F = NULL;
  trs_factor_options options = {.struct_size = sizeof options, .tree_leaves = 8};
  must(trs_matrix_read(&A, "gen:poisson2d5:9", NULL), "a grid");
  trs_status status = trs_factor(&F, A, &options);
  if (status == TRS_ERROR_UNSUPPORTED && rank == 0)
    printf("skip all of it: %s\n", trs_last_error()->message);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
  return status != TRS_ERROR_UNSUPPORTED;
}

entries entries_begin(trs_scalar scalar, int64_t room) {
  const size_t most = (size_t)room + 1;
  return (entries){.scalar = scalar,
                   .row = malloc(most * sizeof(int32_t)),
                   .col = malloc(most * sizeof(int32_t)),
                   .value = malloc(2 * most * sizeof(double))};
}

void entries_add(entries *e, int row, int col, double value, double imaginary) {
  const int parts = e->scalar >= TRS_SCOMPLEX ? 2 : 1;
  e->row[e->count] = row;
  e->col[e->count] = col;
  e->value[parts * e->count] = value;
  if (parts == 2) e->value[2 * e->count + 1] = imaginary;
  e->count++;
}

trs_matrix *entries_matrix(const entries *e, int64_t n) {
  const trs_scalar given = e->scalar >= TRS_SCOMPLEX ? TRS_DCOMPLEX : TRS_DOUBLE;
  trs_matrix *D, *A;
  must(trs_matrix_create_coo(&D, given, n, n, e->count, TRS_IDX32, e->row, e->col, e->value),
       "entries");
  must(trs_matrix_convert(&A, D, TRS_CSR, e->scalar), "entries");
  trs_matrix_destroy(D);
  return A;
}

void entries_free(entries *e) {
  free(e->row);
  free(e->col);
  free(e->value);
}

void place_at(const char *where) {
  trs_context_destroy(place);
  place = NULL;
  if (where) must(trs_mpi_context_create(&place, MPI_COMM_WORLD, where), where);
}

int fails(trs_status status, trs_status expected, const char *words) {
  const char *message = trs_last_error()->message;
  int good = status == expected && strstr(message, words);
  if (!good)
    fprintf(stderr, "rank %d: %s, \"%s\" lacks \"%s\"\n", rank, trs_status_name(status), message,
            words);
  return good;
}

int plan_refused(const trs_factors *F, trs_mpi_options o, trs_status expected, const char *words) {
  trs_mpi_plan *plan;
  int good =
      fails(trs_mpi_analyze(&plan, MPI_COMM_WORLD, place, F, op, &o), expected, words) && !plan;
  trs_mpi_plan_destroy(plan);
  return good;
}
