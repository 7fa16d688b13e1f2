/* programs.h - PETSc matrices and factors for tests. */
#ifndef TRS_TEST_PETSC_PROGRAMS_H
#define TRS_TEST_PETSC_PROGRAMS_H

#include <petscpc.h>
#include <stdbool.h>

/* How a matrix is factored. */
typedef struct task {
  MatFactorType type;
  int levels;
  const char *order; /* NULL: natural */
  MatFactorShiftType shift;
  double amount;
  double column_pivot;
  bool diagonal_fill;
  bool no_transpose; /* PETSc's own factors have no transposed solve */
} task;

/* PETSc with the library and with logging, for a test program. */
int start_petsc(void **state);
int stop_petsc(void **state);

/* The call must succeed; PETSc has printed why it did not. */
void must(PetscErrorCode code);
/* The code must be this one, and PETSc's message contain the words. */
void assert_error(PetscErrorCode expected, const char *words, PetscErrorCode code);

/* A nine-point grid of side x side points, each a block of `size` numbers, with reproducible values
 * and a dominant diagonal. */
Mat grid(MatType type, int side, int size, bool symmetric);
void fill_vector(Vec b);

Mat factor(Mat A, MatSolverType solver, const task *t);
void factor_again(Mat F, Mat A, const task *t);
/* The same, for calls that may fail; their message is not printed. */
PetscErrorCode try_factor(Mat A, MatSolverType solver, const task *t, Mat *F);
PetscErrorCode try_again(Mat F, Mat A, const task *t);
PetscErrorCode try_columns(Mat F, Mat B, Mat X);
PetscErrorCode try_forward(Mat F);
PetscErrorCode try_inertia(Mat F);
PetscErrorCode try_apply(PC pc, Vec b, Vec x);

/* |b - A x| / |b| for x = F^-1 b. */
double residual(Mat A, Mat F);

#endif
