/* system.h - the triangular system op(T) x = b as every method sees it: the caller's uplo, trans,
 * diag and storage format folded into four facts.  Arrays are the matrix's own. */
#ifndef TRS_ANALYSIS_SYSTEM_H
#define TRS_ANALYSIS_SYSTEM_H

#include "matrix/device.h"

typedef struct trs_system {
  int64_t n, nnz;
  trs_scalar scalar;
  const int64_t *ptr; /* n + 1 */
  const int32_t *idx; /* nnz, ascending within a vector */
  const void *val;    /* nnz; NULL where the matrix's values are deferred */
  trs_device *device; /* whose memory the arrays are; NULL: the host's */
  bool rows;          /* stored vectors are rows of op(T), else its columns */
  bool lower;         /* op(T) is lower triangular: a forward sweep */
  bool unit;          /* the diagonal is one; stored diagonal entries are to be ignored */
  bool conj;          /* values enter conjugated */
  bool has_diagonal;  /* every vector stores its diagonal entry (always so unless unit) */
} trs_system;

/* A triangle of a square matrix that has no entry on the other side. */
trs_system trs_system_of(const trs_matrix *T, trs_uplo uplo, trs_trans trans, trs_diag diag);

/* Do the off-diagonal entries of a vector stand before its diagonal one? */
static inline bool trs_system_prefix(const trs_system *S) { return S->rows == S->lower; }

/* Off-diagonal entries [*begin, *end) of vector i; prefix and full (= has_diagonal) are
 * parameters so that loops can be compiled for constants. */
static inline void trs_off_diagonal(const trs_system *S, int64_t i, bool prefix, bool full,
                                    int64_t *begin, int64_t *end) {
  *begin = S->ptr[i];
  *end = S->ptr[i + 1];
  if (full || (*begin < *end && S->idx[prefix ? *end - 1 : *begin] == i)) {
    if (prefix)
      --*end;
    else
      ++*begin;
  }
}

/* Is the pattern a solvable triangle?  Errors name the row, 0-based. */
trs_status trs_system_check_pattern(const trs_matrix *A, trs_uplo uplo, trs_diag diag);

/* Can every diagonal value be divided by?  Nothing to check for a unit diagonal, nor for
 * deferred values, which are checked where they are asked for (share.h).  Arrays in
 * device memory are looked at there: begin only launches on the stream, end waits for it and tells.
 * end is called where begin has succeeded. */
trs_status trs_system_begin_diagonal(trs_diagonal_look *look, const trs_system *S,
                                     trs_stream stream);
trs_status trs_system_end_diagonal(trs_diagonal_look *look);

/* The same of one row, on the host. */
trs_status trs_system_check_pivot(const trs_system *S, int64_t row);

/* The error of a row with such a diagonal entry; none for a good one. */
trs_status trs_system_tell_pivot(int64_t row, trs_pivot pivot);

/* Does nearly every row depend on the one solved just before it, in natural order?  Looks at rows
 * spread over the matrix, not at all. */
bool trs_system_chained(const trs_system *S);

#endif
