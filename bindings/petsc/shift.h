/* shift.h - PETSc's rules of pivots and shifts (MatPivotCheck, MatPivotRefine), for factors that
 * have been made: which pivot counts as zero, and what is added to the diagonal before the next
 * try. */
#ifndef TRIREME_PETSC_SHIFT_H
#define TRIREME_PETSC_SHIFT_H

#include "pattern.h"

/* What the rules depend on. */
typedef struct trs_petsc_rules {
  MatFactorShiftType type;
  PetscReal zero, first; /* -pc_factor_zeropivot, -pc_factor_shift_amount */
  bool complete;         /* pivoting has chosen the pivots: without a shift all of them serve */
  bool symmetric;        /* ICC or Cholesky */
  bool blocks;           /* whole blocks: the rules see no pivot but one that the factors lack */
} trs_petsc_rules;

/* A search. */
typedef struct trs_petsc_shift {
  PetscReal amount; /* added to every diagonal entry */
  PetscInt count;   /* "inblocks": the rows of the pattern, ascending, that get `first` alone */
  PetscInt *row;
  PetscReal top, fraction, low, high; /* "positive definite": amount = fraction * top */
  int tries;
} trs_petsc_shift;

/* *row: the first row of P, of whose values these are the factors, whose pivot counts as zero, or
 * -1. */
PetscErrorCode trs_petsc_shift_check(const trs_petsc_shift *s, const trs_petsc_rules *rules,
                                     const trs_petsc_pattern *P, const trs_factors *factors,
                                     PetscInt *row);

/* After a try in which the pivot of that row failed, or none (-1): *again says whether there is
 * another one, with what is then added. */
PetscErrorCode trs_petsc_shift_next(trs_petsc_shift *s, const trs_petsc_rules *rules,
                                    const trs_petsc_pattern *P, PetscInt row, bool *again);

/* Adds it to the diagonal of the pattern's values. */
PetscErrorCode trs_petsc_shift_apply(const trs_petsc_shift *s, const trs_petsc_rules *rules,
                                     trs_petsc_pattern *P);

PetscErrorCode trs_petsc_shift_free(trs_petsc_shift *s);

#endif
