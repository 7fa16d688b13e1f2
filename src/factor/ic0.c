/* ic0.c - incomplete Cholesky without fill (Meijerink and van der Vorst 1977) or with levels of it:
 * L L^H agrees with the Hermitian matrix on their pattern.  Row by row,
 *     L_ik = (a_ik - sum_{j < k} L_ij conj(L_kj)) / L_kk,  L_ii = sqrt(a_ii - sum |L_ij|^2),
 * each sum over the entries common to both rows.  O(n + nnz + sum over entries (i, k) below the
 * diagonal of the lesser of the entries behind column i in row k of U = L^H and, times a logarithm,
 * in row i). */
#include <math.h>
#include <string.h>

#include "base/cancel.h"
#include "factor/kinds.h"

/* Units of roundoff by which mirrored entries may differ, relative to the larger one or to the
 * geometric mean of their diagonal entries: sums that cancel leave the rounding errors of their
 * terms, which in a positive definite matrix are as large as that mean at most. */
enum { ROUNDING = 100 };

/* The position and reason of a failed elimination. */
typedef struct ic0_failure {
  int64_t row, column;
  enum { IC0_DONE, IC0_PIVOT, IC0_NOT_FINITE, IC0_OVERFLOW, IC0_CANCELLED } why;
} ic0_failure;

/* x: n values; next_U: of each row of U, the entry behind the diagonal.  compare: entries with
 * their mirrors, of which a wrong one ends the elimination with a pivot that is not finite. */
typedef struct ic0_work {
  const trs_matrix *B;
  const trs_factors *F;
  bool compare;
  void *x;
  int64_t *next_U;
} ic0_work;

/* The mirror of each row, from the transposed matrix. */
typedef struct ic0_mirror {
  int64_t *ptr;
  int32_t *idx;
  void *val;
  double *size; /* n: the root of the diagonal entry's absolute value */
} ic0_mirror;

/* Of an entry (i, column) and its mirror: their positions, or -1 where a pattern lacks it. */
typedef struct ic0_pair {
  int64_t p, q;
  int32_t column;
} ic0_pair;

/* The next pair of row i behind *pair; false behind the last one. */
static bool next_pair(const trs_matrix *B, const ic0_mirror *mirror, int64_t i, int64_t *p,
                      int64_t *q, ic0_pair *pair) {
  const bool own = *p < B->ptr[i + 1], other = *q < mirror->ptr[i + 1];
  if (!own && !other) return false;
  const int32_t last = INT32_MAX, a = own ? B->idx[*p] : last, b = other ? mirror->idx[*q] : last;
  *pair = (ic0_pair){a <= b ? (*p)++ : -1, b <= a ? (*q)++ : -1, a < b ? a : b};
  return true;
}

#define TRS_TEMPLATE "factor/ic0_tmpl.c"
#include "base/instantiate.h"

static bool (*const mirrored_of[])(const trs_matrix *, const ic0_mirror *,
                                   ic0_failure *) = TRS_TABLE(mirrored);
static void (*const join_of[])(const trs_matrix *, const ic0_mirror *, bool, int64_t *, int32_t *,
                               void *) = TRS_TABLE(join);
static bool (*const same_of[])(const trs_matrix *, int64_t *) = TRS_TABLE(same);
static bool (*const eliminate_of[])(const ic0_work *, ic0_failure *) = TRS_TABLE(eliminate);

static trs_status not_symmetric(const ic0_failure *at, trs_scalar scalar, const int32_t *perm,
                                const char *kind) {
  const int64_t row = perm ? perm[at->row] : at->row, column = perm ? perm[at->column] : at->column;
  return trs_fail(TRS_ERROR_STRUCTURE, row,
                  "%s: the matrix is not %s: the entries at row %lld, column %lld (0-based) and "
                  "at its mirror differ; use ILU(0), or say by uplo which triangle is stored",
                  kind, trs_scalar_is_complex(scalar) ? "hermitian" : "symmetric", (long long)row,
                  (long long)column);
}

static trs_status check(const trs_matrix *A, const ic0_mirror *mirror, const int32_t *perm,
                        const char *kind) {
  ic0_failure at;
  if (mirrored_of[A->scalar](A, mirror, &at)) return TRS_SUCCESS;
  return not_symmetric(&at, A->scalar, perm, kind);
}

/* Symmetric, up to rounding, in pattern and values, by one look at each entry. */
static trs_status find_same(bool *same, const trs_matrix *A) {
  int64_t *next;
  *same = false;
  if (A->nlower != A->nupper) return TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC(&next, A->nrows));
  memcpy(next, A->ptr, (size_t)A->nrows * sizeof *next);
  *same = same_of[A->scalar](A, next);
  trs_free(next);
  return TRS_SUCCESS;
}

/* (B + B^H) / 2 on the union of both patterns; of a triangle B the matrix that has it for one. */
static trs_status join(trs_matrix **S, const trs_matrix *B, const ic0_mirror *mirror,
                       bool triangle) {
  ic0_pair pair;
  int64_t entries = 0;
  for (int64_t i = 0; i < B->nrows; i++)
    for (int64_t p = B->ptr[i], q = mirror->ptr[i]; next_pair(B, mirror, i, &p, &q, &pair);)
      entries++;
  if (!triangle && entries == B->nnz) {
    *S = trs_matrix_retain(B);
    return TRS_SUCCESS;
  }
  int64_t *ptr = NULL;
  int32_t *idx = NULL;
  void *val = NULL;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&ptr, B->nrows + 1), TRS_ROOM(&idx, entries),
                        TRS_ROOM_OF(&val, entries, trs_scalar_size(B->scalar))));
  join_of[B->scalar](B, mirror, triangle, ptr, idx, val);
  return trs_matrix_adopt(S, TRS_CSR, B->scalar, B->nrows, B->nrows, ptr, idx, val);
}

static trs_status symmetric(trs_matrix **S, const trs_matrix *A, const int32_t *perm,
                            const char *kind, ic0_mirror *mirror) {
  TRS_TRY(trs_transpose_arrays(A, &mirror->ptr, &mirror->idx, &mirror->val));
  if (kind) TRS_TRY(TRS_ALLOC(&mirror->size, A->nrows));
  if (kind) TRS_TRY(check(A, mirror, perm, kind));
  return join(S, A, mirror, !kind);
}

/* A NULL kind: A is a triangle. */
static trs_status make_symmetric(trs_matrix **S, const trs_matrix *A, const int32_t *perm,
                                 const char *kind) {
  ic0_mirror mirror = {0};
  *S = NULL;
  trs_status status = symmetric(S, A, perm, kind, &mirror);
  TRS_FREE_ALL(mirror.ptr, mirror.idx, mirror.val, mirror.size);
  return status;
}

trs_status trs_factor_symmetric(trs_matrix **S, const trs_matrix *B, const int32_t *perm,
                                const char *kind) {
  bool same;
  *S = NULL;
  TRS_TRY(find_same(&same, B));
  if (same) {
    *S = trs_matrix_retain(B);
    return TRS_SUCCESS;
  }
  return make_symmetric(S, B, perm, kind);
}

trs_status trs_factor_mirror(trs_matrix **S, const trs_matrix *A, trs_uplo uplo) {
  trs_matrix *T;
  *S = NULL;
  TRS_TRY(trs_matrix_triangle(&T, A, uplo, 0));
  trs_status status = make_symmetric(S, T, NULL, NULL);
  trs_matrix_destroy(T);
  return status;
}

static trs_status eliminate(ic0_failure *at, const trs_factors *F, const trs_matrix *B,
                            bool compare) {
  const int64_t n = F->L->nrows;
  ic0_work work = {.B = B, .F = F, .compare = compare};
  *at = (ic0_failure){.row = -1};
  trs_factor_set_divides(F, false);
  trs_status status = trs_alloc_zero(&work.x, n, trs_scalar_size(B->scalar));
  if (!status) status = TRS_ALLOC(&work.next_U, n);
  if (!status) {
    for (int64_t i = 0; i < n; i++) work.next_U[i] = F->U->ptr[i] + 1;
    (void)eliminate_of[B->scalar](&work, at);
    trs_factor_set_divides(F, at->why == IC0_DONE); /* roots of numbers have reciprocals */
  }
  TRS_FREE_ALL(work.x, work.next_U);
  return !status && at->why == IC0_CANCELLED ? TRS_ERROR_CANCELLED : status;
}

trs_status trs_factor_ic0(trs_factors *parts, const trs_factor_input *input) {
  ic0_failure at;
  parts->diag_L = parts->diag_U = TRS_NONUNIT;
  if (!parts->L) TRS_TRY(trs_factor_patterns(parts, input));
  TRS_TRY(eliminate(&at, parts, input->B, false));
  if (at.why == IC0_DONE) return TRS_SUCCESS;
  if (at.why == IC0_OVERFLOW) return trs_factor_check_values(parts);
  return trs_fail_pivot(input, trs_factor_name(parts->kind, parts->levels), at.row,
                        at.why == IC0_NOT_FINITE, TRS_IC0_ADVICE);
}

trs_status trs_factor_ic0_compare(trs_factors *parts, const trs_factor_input *input, bool *done) {
  const trs_matrix *B = input->B;
  ic0_failure at;
  *done = false;
  if (parts->levels || B->nlower != B->nupper || B->missing_diagonal >= 0) return TRS_SUCCESS;
  parts->diag_L = parts->diag_U = TRS_NONUNIT;
  TRS_TRY(trs_factor_patterns(parts, input));
  TRS_TRY(eliminate(&at, parts, B, true));
  *done = at.why == IC0_DONE;
  if (!*done) trs_factor_forget(parts);
  return TRS_SUCCESS;
}
