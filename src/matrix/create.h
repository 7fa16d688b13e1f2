/* create.h - the steps of creating a matrix on the host, common to all its sources. */
#ifndef TRS_MATRIX_CREATE_H
#define TRS_MATRIX_CREATE_H

#include "matrix/matrix.h"

/* The word for a vector in messages, and the range of its indices. */
static inline const char *trs_vector_word(const trs_matrix *A) {
  return A->format == TRS_CSR ? "row" : "column";
}
static inline int64_t trs_matrix_other(const trs_matrix *A) {
  return A->format == TRS_CSR ? A->ncols : A->nrows;
}

/* Checks common to all ways of creating a matrix; *result becomes NULL. */
trs_status trs_matrix_check_target(trs_matrix **result, trs_ownership ownership, int indexing);

/* Creates a matrix with the head's format, type, size, arrays and holds.  The arrays are the
 * caller's, of the given indexing.  On failure, arrays owned by the head are freed. */
trs_status trs_matrix_make(trs_matrix **result, trs_matrix head, trs_ownership ownership,
                           int indexing);

/* Frees the arrays owned by the head; returns status. */
trs_status trs_matrix_refuse(const trs_matrix *head, trs_status status);
void trs_matrix_free_arrays(const trs_matrix *A);

/* Checks the range of the indices, puts the arrays in canonical order and counts the entries on
 * each side of the diagonal. */
trs_status trs_matrix_put_in_order(trs_matrix *A);

#endif
