/* matrix.h - the compressed matrix inside the opaque trs_matrix. */
#ifndef TRS_MATRIX_MATRIX_H
#define TRS_MATRIX_MATRIX_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/memory.h"
#include "base/scalar.h"
#include "base/team.h"
#include "device/device.h"
#include "matrix/sides.h"

/* Values that stay where they are until they are asked for. */
typedef struct trs_deferred {
  /* Those of vectors vector[0] < vector[1] < ..., one behind the other: *val is released with
     trs_free.  Fails with a message of its own. */
  trs_status (*give)(void *user, const trs_matrix *A, int64_t count, const int32_t *vector,
                     void **val);
  void (*free)(void *user);
  void *user;
} trs_deferred;

/* Where the memory of an array came from, and so how it is released. */
typedef enum trs_hold {
  TRS_LENT = 0, /* the caller's */
  TRS_OWNED,    /* trs_alloc, or the device's memory where the matrix lies there */
  TRS_MALLOCED  /* malloc: TRS_TAKE */
} trs_hold;

/* Arrays are in canonical order: indices ascending within a vector, no repeats.  A vector is a row
 * of a CSR matrix or a column of a CSC one. */
struct trs_matrix {
  atomic_int references;
  uint64_t number; /* no other matrix of this process has or had it */
  trs_format format;
  trs_scalar scalar;
  int64_t nrows, ncols, nnz;
  int64_t nvectors; /* nrows (CSR) or ncols (CSC) */
  int64_t *ptr;     /* nvectors + 1 */
  int32_t *idx;     /* nnz */
  void *val;        /* nnz; NULL where values are deferred */
  trs_hold hold_ptr, hold_idx, hold_val;
  bool on_device;     /* the arrays, and those of the source below, are device memory */
  trs_device *device; /* that of their GPU, else NULL */
  bool takes_values;  /* TRS_TAKE: those of trs_matrix_set_values are freed */

  trs_deferred deferred;        /* give is NULL where val has the values */
  _Atomic int64_t largest_part; /* bytes of deferred values, the most asked for at once */

  /* Where the caller's arrays were not canonical, or where the values are another matrix's: entry p
   * of the matrix is the sum of the entries source[source_ptr[p] .. source_ptr[p + 1]) there, or
   * just source[p] where source_ptr is NULL; else both are NULL. */
  int64_t *source_ptr, *source;
  int64_t user_nnz;
  const void *lent;   /* the caller's values where they were borrowed but put in order in a copy */
  trs_matrix *parent; /* the matrix of which this is a triangle that follows its values, or NULL */

  /* Read off the pattern at creation. */
  int64_t nlower, nupper, ndiagonal; /* entries below, above and on the diagonal */
  int64_t first_lower, first_upper;  /* the first vector with an entry below / above, or -1 */
  int64_t missing_diagonal;          /* the first vector without a diagonal entry, or -1 */
  int64_t longest;                   /* entries in the fullest vector */
};

uint64_t trs_matrix_next_number(void);

/* A matrix that owns the given trs_alloc'ed arrays, which need not be in order; on failure they
 * are freed.  TRS_API: libtrireme_mpi calls it too. */
TRS_API trs_status trs_matrix_adopt(trs_matrix **A, trs_format format, trs_scalar scalar,
                                    int64_t nrows, int64_t ncols, int64_t *ptr, int32_t *idx,
                                    void *val);

/* The same of a pattern in order, the values deferred; on failure deferred.free is called too. */
trs_status trs_matrix_adopt_pattern(trs_matrix **A, trs_format format, trs_scalar scalar,
                                    int64_t nrows, int64_t ncols, int64_t *ptr, int32_t *idx,
                                    trs_deferred deferred);

static inline bool trs_matrix_is_deferred(const trs_matrix *A) { return A->deferred.give; }

/* Asks for deferred values: as trs_deferred.give. */
trs_status trs_matrix_ask(const trs_matrix *A, int64_t count, const int32_t *vector, void **val);

/* A reference more: destroy releases one. */
trs_matrix *trs_matrix_retain(const trs_matrix *A);

/* Values that were lent out of order, or that follow another matrix's, are taken anew: the caller
 * may have changed them.  The second for matrices in device memory: behind the work of the stream.
 */
TRS_API void trs_matrix_renew(const trs_matrix *A);
TRS_API trs_status trs_matrix_renew_on(const trs_matrix *A, trs_stream stream);

/* The triangle uplo of A, of which it keeps following the values: trs_matrix_renew takes them anew.
 * Lies where A lies. */
trs_status trs_matrix_cut(trs_matrix **T, const trs_matrix *A, trs_uplo uplo);

/* Functions that read the arrays on the host begin with this: it fails for matrices in device
 * memory and those with deferred values, and renews others.  what: who reads, for the message. */
TRS_API trs_status trs_matrix_need_host(const trs_matrix *A, const char *what);

/* The checks of creation, for device.c: sizes and enumerations; the first index out of range, as
 * the caller counts. */
trs_status trs_matrix_check_shape(trs_format format, trs_scalar scalar, int64_t nrows,
                                  int64_t ncols);
trs_status trs_matrix_check_indices(const trs_matrix *A, int indexing, const void *idx);
void trs_matrix_take_sides(trs_matrix *A, const trs_sides *s);

/* The other format's arrays of A (its transpose's own): new_ptr[nother + 1], new_idx, new_val. */
trs_status trs_transpose_arrays(const trs_matrix *A, int64_t **new_ptr, int32_t **new_idx,
                                void **new_val);

/* B[i][j] = A[row_perm[i]][col_perm[j]], CSR or CSC as A is; a NULL permutation is the identity. */
trs_status trs_matrix_permute(trs_matrix **B, const trs_matrix *A, const int32_t *row_perm,
                              const int32_t *col_perm);

/* The first vector in which the triangle uplo of A has another pattern than T, which has as many
 * rows, or -1; both lie on the host, in one format. */
int64_t trs_matrix_first_difference(const trs_matrix *T, const trs_matrix *A, trs_uplo uplo,
                                    trs_team *team);

/* Is perm[n] a permutation of 0 .. n-1?  The name goes into the message. */
trs_status trs_permutation_check(const int32_t *perm, int64_t n, const char *name);

#endif
