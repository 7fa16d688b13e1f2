/* factor.h - the state of a factored PETSc matrix of solver type "trireme". */
#ifndef TRIREME_PETSC_FACTOR_H
#define TRIREME_PETSC_FACTOR_H

#include <petsc/private/matimpl.h>

#include "pattern.h"

/* A plan over the factors, made when it is needed first. */
typedef struct trs_petsc_sweeps {
  trs_plan *plan;
  bool on_gpu;
  void *stream; /* of a plan on a GPU */
} trs_petsc_sweeps;

/* MatForwardSolve and MatBackwardSolve: symmetric.c. */
typedef struct trs_petsc_halves {
  trs_plan *plan[2];   /* over L and over U; NULL until they are needed */
  PetscReal *scale[2]; /* n each */
  PetscScalar *room;   /* n */
} trs_petsc_halves;

typedef struct trs_petsc_factor {
  char backend[TRS_PETSC_NAME], method[TRS_PETSC_NAME]; /* method "": auto */
  char ignored[TRS_PETSC_NAME];                         /* an order of PETSc's, or "" */
  PetscInt nrhs, order, store; /* trs_options, trs_order, a position in stores */
  PetscBool block;             /* the option: blocks stay whole */
  trs_context *context;
  bool whole;            /* blocks stay whole: SeqBAIJ is factored, else SeqAIJ */
  const char *why;       /* why blocks are factored as rows of numbers, or NULL */
  Mat converted;         /* the matrix in that form if it came in another one, else NULL */
  trs_petsc_pattern P;   /* what is factored */
  int levels;            /* of fill, of numbers */
  PetscReal shift;       /* added to its diagonal */
  PetscInt shifted_rows; /* of it, which alone were shifted */
  bool indefinite;       /* ICC as ILU(0), for pivots of any sign */
  bool reused;           /* P has the order of the factors before, not PETSc's */
  bool rigid;            /* complete factors lack places of fill: they take no new values */
  trs_factors *made;     /* factors of P.matrix, which take new values; of blocks NULL */
  trs_factors *factors;  /* of the plans: made, or its L and U with PETSc's permutations */
  trs_matrix *there;     /* P's pattern with PETSc's values in the memory of a GPU, or NULL */
  bool made_there;       /* the last numeric phase ran on a GPU */
  bool failed;           /* the last numeric phase: there is nothing to solve with */
  bool not_finite;       /* because the matrix, or a pivot, is NaN or infinite */
  bool behind; /* the plan has newer values than the factors: of blocks, after an update */
  trs_petsc_sweeps plain, transposed; /* for A x = b and A^T x = b */
  trs_petsc_halves half;
} trs_petsc_factor;

/* LU or Cholesky, not incomplete. */
bool trs_petsc_is_complete(Mat F);

/* Makes the plan where there is none. */
PetscErrorCode trs_petsc_need_plan(Mat F, bool transposed);
/* An error if there is nothing to solve with. */
PetscErrorCode trs_petsc_check_made(Mat F);
/* What a solve gives after a failed pivot: x is NaN if values were not finite, else infinite.
 * *filled: whether there was such a failure. */
PetscErrorCode trs_petsc_fill_failed(Mat F, Vec x, bool *filled);
/* As trs_petsc_check_made, and f->factors with the present values. */
PetscErrorCode trs_petsc_need_factors(Mat F);
/* Frees the plans and the factors, not the pattern. */
void trs_petsc_drop_factors(trs_petsc_factor *f);

/* The numeric phase, for every kind of factors. */
PetscErrorCode trs_petsc_numeric(Mat F, Mat A, const MatFactorInfo *info);
/* A itself, or a copy with A's present values in the form that is factored; f keeps it. */
PetscErrorCode trs_petsc_convert(trs_petsc_factor *f, Mat A, Mat *converted);

/* MatForwardSolve, MatBackwardSolve, MatGetInertia and MatGetDiagonal. */
PetscErrorCode trs_petsc_forward(Mat F, Vec b, Vec y);
PetscErrorCode trs_petsc_backward(Mat F, Vec y, Vec x);
PetscErrorCode trs_petsc_inertia(Mat F, PetscInt *negative, PetscInt *zero, PetscInt *positive);
PetscErrorCode trs_petsc_diagonal(Mat F, Vec d);
void trs_petsc_drop_halves(trs_petsc_factor *f);

/* Sets the functions of F that solve. */
void trs_petsc_set_solves(Mat F);

#endif
