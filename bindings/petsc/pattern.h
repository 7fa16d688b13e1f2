/* pattern.h - the matrix that is factored: PETSc's, in the order that the caller asked for. */
#ifndef TRIREME_PETSC_PATTERN_H
#define TRIREME_PETSC_PATTERN_H

#include "trireme_petsc.h"

/* A matrix of numbers, or of blocks, whose arrays stand here.  Row i is row `row[i]` of the given
 * matrix, column j its column `col[j]`; both NULL: the identity. */
typedef struct trs_petsc_pattern {
  PetscInt n;             /* rows, or rows of blocks */
  PetscInt size;          /* rows of a block; 1: numbers */
  PetscInt given;         /* entries of PETSc's matrix: numbers, or blocks */
  int64_t *place;         /* given: where each of them stands in val; NULL: in its order */
  int64_t *ptr;           /* n + 1 */
  int32_t *idx;           /* ptr[n] */
  PetscScalar *val;       /* ptr[n] * size^2, blocks by columns; NULL while PETSc's array serves */
  const PetscScalar *now; /* the present values: val, or PETSc's array */
  int64_t *diagonal; /* n: the places of the diagonal's numbers or blocks, -1 where there is none */
  int32_t *row, *col; /* n each, or NULL */
  trs_matrix *matrix; /* of ptr, idx and now, which it borrows; NULL with blocks */
} trs_petsc_pattern;

/* From a SeqAIJ matrix, or from the blocks of a SeqBAIJ one.  row and col are NULL or permutations
 * of its rows and columns, or of its blocks.  levels: of fill, which blocks get here; numbers get
 * it where they are factored.  add_diagonal: entries on the diagonal that are absent become zeros.
 */
PetscErrorCode trs_petsc_pattern_create(trs_petsc_pattern *P, Mat A, IS row, IS col, int levels,
                                        bool add_diagonal);
PetscErrorCode trs_petsc_pattern_destroy(trs_petsc_pattern *P);

/* Rows and columns of numbers, and numbers in val. */
int64_t trs_petsc_pattern_rows(const trs_petsc_pattern *P);
int64_t trs_petsc_pattern_numbers(const trs_petsc_pattern *P);

/* An error if A has another number of entries than the pattern. */
PetscErrorCode trs_petsc_pattern_check(const trs_petsc_pattern *P, Mat A);

/* New values, which stay in A where they are in P's order. */
PetscErrorCode trs_petsc_pattern_fill(trs_petsc_pattern *P, Mat A);
/* The same values in val, where they may be changed. */
PetscErrorCode trs_petsc_pattern_own(trs_petsc_pattern *P);

#endif
