/* verdict.h - what programs for mpirun say, on all ranks together. */
#ifndef TRS_TEST_MPI_VERDICT_H
#define TRS_TEST_MPI_VERDICT_H

#include "trireme_mpi.h"

extern int rank, size, failures;
extern const char *said_of; /* said behind every name; NULL: nothing */
/* What analyses pass: at first NULL and TRS_NO_TRANS. */
extern trs_context *place;
extern trs_trans op;

/* MPI_Init, rank and size. */
void begin(int *argc, char ***argv);
/* A verdict of all ranks: good if it is good on each.  Rank 0 prints it. */
void say(const char *name, int good);
/* Replaces place by a context of that name; NULL: by none. */
void place_at(const char *where);
/* Ends the program unless it succeeded. */
void must(trs_status status, const char *what);
/* False if this build cannot factor, by LU on an order by nested dissection.  Rank 0 says why. */
int makes_factors(void);
/* A matrix entry by entry, in CSR; value and its imaginary part, which real types leave out. */
typedef struct entries {
  trs_scalar scalar;
  int64_t count;
  int32_t *row, *col;
  double *value;
} entries;
entries entries_begin(trs_scalar scalar, int64_t room);
void entries_add(entries *e, int row, int col, double value, double imaginary);
trs_matrix *entries_matrix(const entries *e, int64_t n);
void entries_free(entries *e);

/* Is it that failure, with these words in its message? */
int fails(trs_status status, trs_status expected, const char *words);
int plan_refused(const trs_factors *F, trs_mpi_options o, trs_status expected, const char *words);

#endif
