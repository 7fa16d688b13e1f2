/* system.h - the triangular system of a matrix (triangle.h), its entries in the order of the sweep.
 */
#ifndef TRS_ANALYSIS_SYSTEM_H
#define TRS_ANALYSIS_SYSTEM_H

#include "analysis/triangle.h"
#include "matrix/device.h"

/* T is square and has no entry on the other side of the diagonal. */
trs_system trs_system_of(const trs_matrix *T, trs_uplo uplo, trs_trans trans, trs_diag diag);

/* True if the off-diagonal entries of a vector stand before its diagonal one. */
static inline bool trs_system_prefix(const trs_system *S) { return S->rows == S->lower; }

/* Row k of the sweep, or the place of row k in the sweep. */
static inline int64_t trs_in_sweep(const trs_system *S, int64_t k) {
  return S->lower ? k : S->n - 1 - k;
}

/* Off-diagonal entries [*begin, *end) of vector i.  prefix and full (= has_diagonal) are
 * parameters, so that the compiler can specialise loops for constants. */
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

/* Checks that the pattern is a triangle that can be solved.  Errors name the row, 0-based. */
trs_status trs_system_check_pattern(const trs_matrix *A, trs_uplo uplo, trs_diag diag);

/* Checks that every diagonal value has a reciprocal.  A unit diagonal needs no check.  Deferred
 * values are checked when they are read (share.h).  The team looks at arrays in host memory.  For
 * arrays in device memory begin only launches on the stream, and end waits and reports.  Call end
 * only after begin succeeded. */
trs_status trs_system_begin_diagonal(trs_diagonal_look *look, const trs_system *S, trs_team *team,
                                     trs_stream stream);
trs_status trs_system_end_diagonal(trs_diagonal_look *look);

/* The same for one row, on the host. */
trs_status trs_system_check_pivot(const trs_system *S, int64_t row);

/* The error of a row with such a diagonal entry; none for a good one. */
trs_status trs_system_tell_pivot(int64_t row, trs_pivot pivot);

/* True if every entry beside the diagonal can be divided by the diagonal entry of its row before it
 * is multiplied (pivot_tmpl.c).  By rows, with a diagonal that is not unit. */
bool trs_system_scales(const trs_system *S, trs_team *team);

/* True if nearly every row depends on the row solved just before it, and rows are so short that its
 * x decides the time of the next one.  Looks at a sample of rows. */
bool trs_system_chained(const trs_system *S);

/* True if many rows are short and have fewer or more entries than the row before: a processor
 * guesses their ends wrong.  Looks at a sample of rows. */
bool trs_system_ragged(const trs_system *S);

/* True if most rows have the pattern of the row `shift` before them, moved to the right as far as
 * the row itself.  Looks at a sample of rows (columns, if op(T) is stored by them). */
bool trs_system_moved(const trs_system *S, int64_t shift);

/* The same for one of a few shifts: grids have it, which is the number of unknowns per node. */
bool trs_system_regular(const trs_system *S);

/* True if most off-diagonal entries of a sample of rows lie near the diagonal: rows that follow
 * each other then need nearly the same x. */
bool trs_system_local(const trs_system *S);

/* ---- A system in host memory, by rows or by columns as the caller needs it ---- */

typedef struct trs_host_system {
  trs_system S;     /* arrays of the matrix, or those below */
  trs_matrix *copy; /* from device memory, or NULL */
  int64_t *ptr;     /* of the other storage order, or NULL */
  int32_t *idx;
  void *val;
} trs_host_system;

/* The system S of matrix A.  values: S.val is valid too, except deferred values; from device memory
 * they are read after the work of the stream.  The caller destroys h, also after a failure; a
 * zeroed h may be destroyed. */
trs_status trs_host_system_create(trs_host_system *h, const trs_system *S, const trs_matrix *A,
                                  bool rows, bool values, trs_stream stream);
void trs_host_system_destroy(trs_host_system *h);

#endif
