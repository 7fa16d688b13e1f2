/* matrix.h - the compressed matrix inside the opaque trs_matrix. */
#ifndef TRS_MATRIX_MATRIX_H
#define TRS_MATRIX_MATRIX_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/memory.h"
#include "base/scalar.h"
#include "base/single.h"
#include "base/team.h"
#include "device/device.h"
#include "matrix/sides.h"

/* Values that the library requests by parts. */
typedef struct trs_deferred {
  /* Gives the values of vectors vector[0] < vector[1] < ..., one after the other.  Release *val
   * with trs_free.  On failure the function has set the message. */
  trs_status (*give)(void *user, const trs_matrix *A, int64_t count, const int32_t *vector,
                     void **val);
  void (*free)(void *user);
  void *user;
} trs_deferred;

/* Arrays that are written when a function first needs them (trs_matrix_fill): until then ptr, idx
 * and val are NULL. */
typedef struct trs_late {
  /* Sets ptr, idx and val of A.  On failure the function has set the message. */
  trs_status (*write)(trs_matrix *A, const void *user);
  void (*free)(void *user);
  void *user;
} trs_late;

/* The origin of an array's memory, which determines how it is released. */
typedef enum trs_hold {
  TRS_LENT = 0, /* the caller's */
  TRS_OWNED,    /* trs_alloc; device memory for a matrix there */
  TRS_MALLOCED  /* malloc: TRS_TAKE */
} trs_hold;

/* Arrays are in canonical order: indices ascend within a vector, without repeats.  A vector is a
 * row of a CSR matrix or a column of a CSC matrix. */
struct trs_matrix {
  atomic_int references;
  uint64_t number; /* unique in this process, also over time */
  trs_format format;
  trs_scalar scalar;
  int64_t nrows, ncols, nnz;
  int64_t nvectors; /* nrows (CSR) or ncols (CSC) */
  int64_t *ptr;     /* nvectors + 1 */
  int32_t *idx;     /* nnz */
  void *val;        /* nnz; NULL if values are deferred */
  trs_hold hold_ptr, hold_idx, hold_val;
  bool on_device;     /* the arrays, and those of the source below, lie in device memory */
  trs_device *device; /* the device of these arrays, else NULL */
  bool takes_values;  /* TRS_TAKE: arrays passed to trs_matrix_set_values are freed */

  trs_deferred deferred;        /* give is NULL if val has the values */
  _Atomic int64_t largest_part; /* largest number of bytes of deferred values requested at once */

  trs_late late;          /* write is NULL if the arrays were there from the first */
  atomic_bool is_written; /* then: they are there now */

  /* The source of the values if the caller's arrays were not canonical or if the values are another
   * matrix's.  Entry p of the matrix is the sum of the entries source[source_ptr[p] .. source_ptr[p
   * + 1]) there, or source[p] if source_ptr is NULL.  Otherwise both are NULL. */
  int64_t *source_ptr, *source;
  int64_t user_nnz;
  trs_single renewing; /* the thread that reads the values of the source again */
  const void *lent;    /* the caller's values if borrowed and put in order in a copy */
  trs_matrix *parent;  /* the matrix of which this is a triangle that follows its values, or NULL */
  trs_matrix *turned;  /* the same entries in the other format, while values stay; NULL: not made */

  /* Computed from the pattern at creation. */
  int64_t nlower, nupper, ndiagonal; /* entries below, above and on the diagonal */
  int64_t first_lower, first_upper;  /* the first vector with an entry below / above, or -1 */
  int64_t missing_diagonal;          /* the first vector without a diagonal entry, or -1 */
  int64_t longest;                   /* entries in the fullest vector */

  bool divides; /* each diagonal entry is known to have a reciprocal */

  int block; /* rows of each block, if entries are known to fill square blocks; 0: not known */
};

/* The vector that contains entry p. */
int64_t trs_matrix_vector_of(const trs_matrix *A, int64_t p);

uint64_t trs_matrix_next_number(void);

/* Creates a matrix that owns the given trs_alloc'ed arrays, which need not be in order.  On failure
 * they are freed. */
trs_status trs_matrix_adopt(trs_matrix **A, trs_format format, trs_scalar scalar, int64_t nrows,
                            int64_t ncols, int64_t *ptr, int32_t *idx, void *val);

/* The same for arrays in order whose sides are known, or that are written later: then NULL, and the
 * caller sets nnz and late. */
trs_status trs_matrix_adopt_ordered(trs_matrix **A, trs_format format, trs_scalar scalar, int64_t n,
                                    int64_t *ptr, int32_t *idx, void *val, const trs_sides *sides);

/* The same for an ordered pattern with deferred values.  On failure deferred.free is called too. */
trs_status trs_matrix_adopt_pattern(trs_matrix **A, trs_format format, trs_scalar scalar,
                                    int64_t nrows, int64_t ncols, int64_t *ptr, int32_t *idx,
                                    trs_deferred deferred);

static inline bool trs_matrix_is_deferred(const trs_matrix *A) { return A->deferred.give; }

/* Requests deferred values: as trs_deferred.give. */
trs_status trs_matrix_ask(const trs_matrix *A, int64_t count, const int32_t *vector, void **val);

/* Adds a reference; destroy releases one. */
trs_matrix *trs_matrix_retain(const trs_matrix *A);

/* Reads borrowed values that were put in order, or values that follow another matrix's, again: the
 * caller may have changed them.  _on is for matrices in device memory: after the work of the
 * stream. */
void trs_matrix_renew(const trs_matrix *A);
trs_status trs_matrix_renew_on(const trs_matrix *A, trs_stream stream);

/* The triangle uplo of A, which follows A's values: trs_matrix_renew reads them again.  T lies in
 * the same memory as A. */
trs_status trs_matrix_cut(trs_matrix **T, const trs_matrix *A, trs_uplo uplo);

/* The first call of every function that reads the arrays on the host.  Fails for matrices in device
 * memory and those with deferred values, and renews others.  what: the reader's name for the
 * message. */
trs_status trs_matrix_need_host(const trs_matrix *A, const char *what);

/* Writes arrays that are not there yet.  trs_matrix_need_host calls it. */
trs_status trs_matrix_fill(const trs_matrix *A);

/* Checks of creation, for device.c: sizes and enumerations; the first index out of range, in the
 * caller's base. */
trs_status trs_matrix_check_shape(trs_format format, trs_scalar scalar, int64_t nrows,
                                  int64_t ncols);
trs_status trs_matrix_check_indices(const trs_matrix *A, int indexing, const void *idx);
void trs_matrix_take_sides(trs_matrix *A, const trs_sides *s);

/* The arrays of A in the other format, which are those of its transpose in A's format:
 * new_ptr[nother + 1], new_idx, new_val. */
trs_status trs_transpose_arrays(const trs_matrix *A, int64_t **new_ptr, int32_t **new_idx,
                                void **new_val);

/* B[i][j] = A[row_perm[i]][col_perm[j]], in the format of A.  A NULL permutation is the
 * identity. */
trs_status trs_matrix_permute(trs_matrix **B, const trs_matrix *A, const int32_t *row_perm,
                              const int32_t *col_perm);

/* The first vector in which the pattern of the triangle uplo of A differs from T, or -1.  Both have
 * the same number of rows and one format, and lie on the host. */
int64_t trs_matrix_first_difference(const trs_matrix *T, const trs_matrix *A, trs_uplo uplo,
                                    trs_team *team);

/* Fails unless perm[n] is a permutation of 0 .. n-1.  The name goes into the message. */
trs_status trs_permutation_check(const int32_t *perm, int64_t n, const char *name);

#endif
