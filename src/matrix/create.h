/* create.h - the steps of making a matrix on the host, which its sources share. */
#ifndef TRS_MATRIX_CREATE_H
#define TRS_MATRIX_CREATE_H

#include "matrix/matrix.h"

/* What the library calls a vector, and the range of its indices. */
static inline const char *trs_vector_word(const trs_matrix *A) {
  return A->format == TRS_CSR ? "row" : "column";
}
static inline int64_t trs_matrix_other(const trs_matrix *A) {
  return A->format == TRS_CSR ? A->ncols : A->nrows;
}

/* Checks that hold for every way of making a matrix; *result becomes NULL. */
trs_status trs_matrix_check_target(trs_matrix **result, trs_ownership ownership, int indexing);

/* A matrix of the head's format, type, size, arrays and holds; the arrays are the caller's, of that
 * indexing.  On failure arrays that the head holds are freed. */
trs_status trs_matrix_make(trs_matrix **result, trs_matrix head, trs_ownership ownership,
                           int indexing);

/* Frees what the head holds; returns status. */
trs_status trs_matrix_refuse(const trs_matrix *head, trs_status status);
void trs_matrix_free_arrays(const trs_matrix *A);

/* Checks the range of the indices, puts the arrays in canonical order and counts their sides. */
trs_status trs_matrix_put_in_order(trs_matrix *A);

#endif
