/* verdict.h - what programs for mpirun say, on all ranks together. */
#ifndef TRS_TEST_MPI_VERDICT_H
#define TRS_TEST_MPI_VERDICT_H

#include "trireme_mpi.h"

extern int rank, size, failures;
extern const char *said_of; /* said behind every name; NULL: nothing */

/* MPI_Init, rank and size. */
void begin(int *argc, char ***argv);
/* A verdict of all ranks: good if it is good on each.  Rank 0 prints it. */
void say(const char *name, int good);
/* Ends the program unless it succeeded. */
void must(trs_status status, const char *what);
/* Is it that failure, with these words in its message? */
int fails(trs_status status, trs_status expected, const char *words);
int plan_refused(const trs_factors *F, trs_mpi_options o, trs_status expected, const char *words);

#endif
